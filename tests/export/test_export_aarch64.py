"""Libraries exported for AArch64 compute the same numbers as for this machine: their example runs under qemu-user."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from c_program import needs_cc, run

import freeflyer as ff
from freeflyer.errors import InputError, UnknownNameError
from freeflyer.export import export
from freeflyer.export.library import target_of

GCC, QEMU = "aarch64-linux-gnu-gcc", "qemu-aarch64"
needs_qemu = pytest.mark.skipif(
    not (shutil.which(GCC) and shutil.which(QEMU)), reason=f"no {GCC} or {QEMU}: install gcc-aarch64-linux-gnu and qemu-user"
)
CHECKED = "wrong += strncmp"  # in main.c, after each call
PRINT = 'for (i = 0; i < functions[f].states * functions[f].length; ++i) fprintf(stderr, "%.17g\\n", results[i]);\n        '


def results(folder: Path, model: ff.Model, functions: str, cpu: str, compiler: str, *runner: str) -> tuple[str, np.ndarray]:
    """(the example's table, all numbers of all functions)."""
    export(model, folder, functions, cpu=cpu, batch=True, prefix="robot")
    text = (folder / "main.c").read_text()
    assert text.count(CHECKED) == 1
    (folder / "main.c").write_text(text.replace(CHECKED, PRINT + CHECKED))
    run(compiler, "-O2", "main.c", "librobot.a", "-lm", "-o", "example", folder=folder)
    table = run("sh", "-c", " ".join([*runner, "./example", "2>numbers"]), folder=folder)
    return table, np.array((folder / "numbers").read_text().split(), float)


@needs_cc
@needs_qemu
@pytest.mark.skipif(sys.platform != "linux", reason="C programs of these tests are for Linux")
@pytest.mark.parametrize(
    ("name", "functions"),
    [("humanoid", "inverse_dynamics,forward_dynamics,mass_matrix,frame_pose"), ("kangaroo_like", "mass_matrix")],
)
def test_the_same_numbers(tmp_path, name, functions):
    model = ff.close_loops(ff.robots.make(name))
    _, here = results(tmp_path / "native", model, functions, "native", "cc")
    table, there = results(tmp_path / "aarch64", model, functions, "aarch64", GCC, QEMU, "-L", "/usr/aarch64-linux-gnu")
    assert "differs" not in table
    assert here.shape == there.shape
    assert here.size > 1000
    np.testing.assert_allclose(there, here, rtol=1e-13, atol=1e-13 * np.abs(here).max())


def test_names_of_other_machines():
    assert target_of("aarch64").triple == "aarch64-linux-gnu"
    assert target_of("aarch64:cortex-a72").cpu == "cortex-a72"
    for wrong in ("aarch64:haswell", "sparc", "sparc:v9", "cortex-a72:aarch64"):
        with pytest.raises((UnknownNameError, InputError), match="aarch64:cortex-a72"):
            target_of(wrong)


def test_without_a_compiler_for_it_there_is_a_note(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    made = export(ff.robots.make("chain"), tmp_path / "c", "mass_matrix", cpu="aarch64")
    assert any("aarch64-linux-gnu-gcc" in note and "CMakeLists.txt" in note for note in made.notes)
    assert (tmp_path / "c" / "objects" / "crba.o").read_bytes()[18:20] == b"\xb7\x00"  # ELF's number of AArch64
