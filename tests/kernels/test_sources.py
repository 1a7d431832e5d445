"""Object code is named by the LLVM code that it comes from: an edit changes what reaches it, and nothing else."""

import freeflyer
import os
import pytest
import shutil
from freeflyer.kernels.compiler import build
from freeflyer.kernels.entries import COM, CRBA, ENTRIES, POTENTIAL_ENERGY, RNEA
from pathlib import Path
from processes import python

PACKAGE = Path(freeflyer.__file__).parent


def symbols(entry: object, lanes: int = 1) -> list[str]:
    return [f.symbol for f in build.closure(entry, lanes)]


def test_functions_are_shared_and_come_first(monkeypatch):
    """The same function of a kernel has one name, whichever entry it is written for, and in whichever order."""
    first = symbols(COM)
    build._made.clear()
    other = symbols(POTENTIAL_ENERGY)
    assert symbols(COM) == first
    assert set(first[:-1]) & set(other)
    assert first[-1] != other[-1]
    for entry in (RNEA, CRBA):
        for lanes in (1, 4, 8):
            seen: set[str] = set()
            for f in build.closure(entry, lanes):
                assert {g.symbol for g in f.callees} <= seen
                seen.add(f.symbol)
    monkeypatch.setattr(build, "stamp", lambda: "of the sources")
    assert all(entry.in_library for entry in ENTRIES.values())
    assert build.list_of(RNEA, 1, "a CPU") != build.list_of(RNEA, 4, "a CPU")


@pytest.mark.slow
def test_names_do_not_depend_on_the_process():
    """Hashes of Python's strings do: the code must not."""
    program = "from freeflyer.kernels.compiler import build; from freeflyer.kernels.entries import ALL_TERMS as e; "
    program += "print(*(f.symbol for lanes in (1, 4) for f in build.closure(e, lanes)))"
    found = {python(program, PYTHONHASHSEED=seed).stdout for seed in ("1", "2")}
    assert len(found) == 1


VALUE = """
import numpy as np
import freeflyer as ff
print(ff.center_of_mass(ff.robots.chain(2), np.array([0.3, 0.4])).tolist())
"""


@pytest.mark.slow
def test_an_edited_kernel_is_compiled_again(tmp_path):
    """The package is copied, a kernel of it edited: other files, another result; a comment and the way back make none."""
    package, cache = tmp_path / "src" / "freeflyer", tmp_path / "cache"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))

    def centre() -> list[float]:
        return eval(python(VALUE, PYTHONPATH=str(package.parent), FREEFLYER_CACHE_DIR=str(cache)).stdout)

    def made() -> set[str]:
        return {p.name for p in (cache / "objects").glob("*.o")}

    before, first = centre(), made()
    kernel = package / "kernels" / "tree" / "energies.py"
    source = kernel.read_text()
    edited = source.replace("scale(1.0 / total_mass", "scale(2.0 / total_mass")
    assert edited != source
    kernel.write_text(edited)
    after, second = centre(), made()
    assert (len(second - first), after) == (1, pytest.approx([2.0 * x for x in before], rel=1e-14))
    kernel.write_text(source + "# a comment\n")
    assert (centre(), made()) == (before, second)


def test_a_start_reads_no_kernels(tmp_path):
    """Once what an entry needs is remembered, neither its kernels nor the compiler are imported."""
    words = "kernels.tree", "kernels.derivatives", "frontend"
    program = VALUE + f"import sys; print([m for m in sys.modules if any(word in m for word in {words})])"
    for path in (PACKAGE / "kernels").rglob("*.py"):  # files that were written just now are not relied on
        os.utime(path, (1e9, 1e9)) if path.stat().st_mtime > 2e9 else None
    python(program)
    assert python(program).stdout.splitlines()[-1] == "[]"
