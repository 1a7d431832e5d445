"""The project's own rules, checked: style, types of the public layer, arrows between rooms, sizes of files."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def run(*command: str) -> None:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]


def tool(name: str) -> str:
    return str(Path(sys.executable).parent / name)


def test_style() -> None:
    run(tool("ruff"), "check", "--no-cache", "src", "tests")


@pytest.mark.slow
def test_types() -> None:
    run(tool("mypy"), "--cache-dir", "/dev/null", "--package", "freeflyer")


@pytest.mark.slow
def test_types_as_editors_show_them() -> None:
    run(tool("basedpyright"), "--pythonpath", sys.executable)


def test_arrows_between_rooms_point_down() -> None:
    run(tool("lint-imports"), "--no-cache")


def test_files_are_small() -> None:
    """Without docstrings, which say what each argument of a public function is."""
    for path in sorted((ROOT / "src").rglob("*.py")):
        tree = ast.parse(path.read_text())
        documented = [node for node in ast.walk(tree) if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)]
        texts = [node.body[0] for node in documented if ast.get_docstring(node) is not None]
        assert len(path.read_text().splitlines()) - sum(text.end_lineno - text.lineno for text in texts) <= 400, path
