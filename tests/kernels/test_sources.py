"""Object code is named by the sources that it comes from: what changes with a file is what reaches it, and nothing else."""

from __future__ import annotations

import ast
import dataclasses
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import freeflyer
from freeflyer.kernels.compiler import build, sources
from freeflyer.kernels.entries import COM, CRBA, ENTRIES, POTENTIAL_ENERGY, RNEA

PACKAGE = Path(freeflyer.__file__).parent
NAMES = sorted(
    ".".join(p.relative_to(sources.FOLDER).with_suffix("").parts).removesuffix(".__init__")
    for p in sources.FOLDER.rglob("*.py")
    if p != sources.FOLDER / "__init__.py"
)


def forget() -> None:
    for cached in (sources.source_key, sources.imported, sources.source, sources.files):
        cached.cache_clear()


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """A copy of the kernels' folder, which names of files are then made from."""
    copied = tmp_path / "kernels"
    shutil.copytree(sources.FOLDER, copied, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(sources, "FOLDER", copied)
    forget()
    yield copied
    monkeypatch.undo()
    forget()


def keys() -> dict[str, str]:
    forget()
    return {name: build.file_name(name, entry.modules, 8, entry.facts) for name, entry in ENTRIES.items()}


def test_files_that_an_entry_reaches():
    reached = sources.reached(RNEA.modules)
    assert reached >= {"tree.rnea", "model.joints", "math.algebra", "backend.buffers", "math.trig", "marks"}
    assert not reached & {"tree.crba", "closed.projection", "estimation.contact", "plain", "counting", "entries"}
    behind = sources.reached(build.SHARED_MODULES)
    assert behind >= {"lowering.memory", "lowering.blocks", "lowering.calls", "entry_code.checks", "entry", "lowering"}
    assert not behind & {"tree.rnea", "entries", "calls.running", "compiler.cache", "entry_code.adapter"}


@pytest.mark.parametrize("module", ["math.dense", "tree.factor", "closed.blocks", "model.joints", "tree.crba"])
def test_a_change_counts_where_the_source_is_reached(copy, module):
    original = keys()
    path = Path(sources.files()[module])
    path.write_bytes(path.read_bytes() + b"# changed\n")
    changed = {name for name, key in keys().items() if key != original[name]}
    always = module in sources.reached(build.SHARED_MODULES)
    assert changed == {name for name, entry in ENTRIES.items() if always or module in sources.reached(entry.modules)}
    assert changed
    assert (len(changed) == len(ENTRIES)) == (module == "model.joints")


def test_the_table_counts():
    entry = RNEA
    for other in (dataclasses.replace(entry, square=True), dataclasses.replace(entry, options=("frame",))):
        assert other.modules == entry.modules
        assert build.file_name("rnea", other.modules, 1, other.facts) != build.file_name(
            "rnea", entry.modules, 1, entry.facts
        )


def test_what_is_behind_all_changes_all(copy):
    original = keys()
    for module in ("lowering.vectors", "lowering.blocks", "entry_code.bodies", "compiler.object_code"):
        path = Path(sources.files()[module])
        path.write_bytes(path.read_bytes() + b"# changed\n")
        now = keys()
        assert all(now[name] != key for name, key in original.items()), module
        original = now


def named(path: Path) -> set[str]:
    """Modules of kernels that a file imports at its head, by Python's own grammar."""
    found: set[str] = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} has a relative import"
            found |= {node.module, *(f"{node.module}.{x.name}" for x in node.names)}
        elif isinstance(node, ast.Import):
            assert not any(x.name.startswith("freeflyer") for x in node.names), f"{path} imports by another form"
    room = f"{sources.PACKAGE}."
    return {x.removeprefix(room) for x in found if x.startswith(room)} & set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_import_of_a_kernel_file_is_followed(name):
    """The key finds imports by their text: it must find all that the language finds."""
    assert named(Path(sources.files()[name])) == set(sources.imported(name))


VALUE = """
import numpy as np
import freeflyer as ff
print(ff.center_of_mass(ff.robots.chain(2), np.array([0.3, 0.4])).tolist())
"""


def test_an_edited_kernel_is_compiled_again(tmp_path):
    """The package is copied, a kernel of it edited: another file, another result, and the first file still serves."""
    package, cache = tmp_path / "src" / "freeflyer", tmp_path / "cache"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))

    def centre() -> list[float]:
        environment = {**os.environ, "PYTHONPATH": str(package.parent), "FREEFLYER_CACHE_DIR": str(cache)}
        done = subprocess.run(
            [sys.executable, "-c", VALUE], env=environment, capture_output=True, text=True, timeout=500
        )
        assert done.returncode == 0, done.stderr
        return eval(done.stdout)

    def made() -> set[str]:
        return {p.name for p in (cache / "objects").glob("freeflyer_com.*.o")}

    before, first = centre(), made()
    kernel = package / "kernels" / "tree" / "energies.py"
    source = kernel.read_text()
    edited = source.replace("scale(1.0 / total_mass", "scale(2.0 / total_mass")
    assert edited != source
    kernel.write_text(edited)
    after, second = centre(), made()
    assert len(first) == 1
    assert len(second) == 2
    assert after == pytest.approx([2.0 * x for x in before], rel=1e-14)
    kernel.write_text(source)
    assert centre() == before
    assert made() == second


def test_entries_that_share_a_file_share_its_changes():
    assert COM.modules == POTENTIAL_ENERGY.modules
    assert CRBA.modules != COM.modules
