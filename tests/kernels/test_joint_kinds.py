"""Only kernels/model/joints looks at the kind of a joint; every other kernel file calls it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import freeflyer.kernels
from freeflyer.kernels.model import layout

FOLDER = Path(freeflyer.kernels.__file__).parent
JOINTS, LAYOUT = FOLDER / "model" / "joints", FOLDER / "model" / "layout.py"  # the one place; the numbers of the kinds
KINDS = {"KIND", "SCREW", "BALL", "FLOATING", "QUATERNION", "TRANSLATED"}
SWITCHES = {"is_screw", "kind_of"}
NO_KERNELS = (LAYOUT, FOLDER / "compiler/frontend")
FILES = [path for path in sorted(FOLDER.rglob("*.py")) if not {JOINTS, *NO_KERNELS} & {path, *path.parents}]


def names(source: str) -> set[str]:
    """Names that a source imports, reads or takes as attributes."""
    nodes = list(ast.walk(ast.parse(source)))
    imported = {alias.name for n in nodes if isinstance(n, ast.ImportFrom | ast.Import) for alias in n.names}
    read = {n.id for n in nodes if isinstance(n, ast.Name)} | {n.attr for n in nodes if isinstance(n, ast.Attribute)}
    return imported | read


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(FOLDER)))
def test_no_other_kernel_looks_at_a_kind(path):
    assert not names(path.read_text()) & (KINDS | SWITCHES)


@pytest.mark.parametrize("source", [
    "from freeflyer.kernels.model.layout import KIND",
    "def f(topology, i):\n    return load_int(topology, body_ints(i) + KIND)",
    "from freeflyer.kernels.model import layout\nx = layout.BALL",
    "from freeflyer.kernels.model.joints.kinds import is_screw",
])  # fmt: skip
def test_a_planted_look_is_found(source):
    assert names(source) & (KINDS | SWITCHES)


def test_layout_has_those_names_and_kinds_looks_at_them():
    assert set(vars(layout)) >= KINDS
    assert {"KIND", "SCREW", "BALL"} <= names((JOINTS / "kinds.py").read_text())
