"""Names of functions in error messages, docstrings and the pages of docs/: each exists."""

from __future__ import annotations

import ast
import re
from importlib import import_module
from pathlib import Path

import pytest

import freeflyer as ff

SOURCE = Path(ff.__file__).parent
DOCS = SOURCE.parents[1] / "docs"
NAME = re.compile(r"\b(?:freeflyer|ff)(?:\.[A-Za-z_]\w*)+")
ROOM = re.compile(r"\b(?:mechanisms|sim|control|studies|estimation|optimization|loops)\.[a-z_]\w*(?=\()")
OTHERS = {"freeflyer.debug"}  # the state of the command line, no function


def exists(name: str) -> bool:
    parts = ["freeflyer", *name.split(".")[1:]]
    for k in range(len(parts), 0, -1):
        try:
            found = import_module(".".join(parts[:k]))
        except ImportError:
            continue
        for part in parts[k:]:
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return True
    return False


def test_names_in_the_source_exist():
    absent = []
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                absent += [(path.name, node.lineno, n) for n in NAME.findall(node.value) if n not in OTHERS and not exists(n)]
    assert not absent


@pytest.mark.skipif(not DOCS.is_dir(), reason="the pages are beside the source only")
def test_names_on_the_pages_exist():
    absent = []
    for path in sorted(DOCS.rglob("*.md")):
        text = path.read_text()
        names = NAME.findall(text) + [f"freeflyer.{name}" for name in ROOM.findall(text)]
        absent += [(path.name, name) for name in names if not exists(name)]
    assert not absent
