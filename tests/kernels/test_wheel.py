"""Wheels with object code: nothing is compiled where they are installed, and no function of another CPU is mixed in; other
CPUs: with four numbers to a register instead of eight, and without fused multiplication, results agree to rounding."""

import freeflyer
import json
import numpy as np
import os
import platform
import pytest
import subprocess
import sys
from closeness import refused
from freeflyer.kernels.compiler import ahead as wheel, build
from freeflyer.kernels.compiler.object_code import levels_here
from freeflyer.kernels.entries import COM, ENTRIES
from pathlib import Path
from processes import python

ROOT = Path(__file__).parents[2]
pytestmark = [pytest.mark.slow, pytest.mark.skipif(platform.machine() != "x86_64" or not levels_here(),
                                                   reason="wheels hold object code for x86-64-v2 and later alone")]  # fmt: skip
UNREACHABLE = """
from llvmlite import binding as llvm

def refused(*_, **__):
    raise AssertionError("something was compiled")

llvm.create_pass_builder = llvm.targets.TargetMachine.emit_object = refused
import numpy as np
import freeflyer as ff
"""


def run(program: str, **environment: str) -> str:
    return python(UNREACHABLE + program, **environment).stdout


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """Object code of one entry and of what every call needs, for the best level that this CPU has."""
    monkeypatch.setattr(wheel, "ENTRIES", {"com": COM})
    wheel.write_objects(tmp_path / "objects", levels_here()[0])
    return tmp_path / "objects"


POSITION = """
from pathlib import Path
from freeflyer.kernels.compiler import build
build.WHEEL = Path(r"{folder}")
model = ff.robots.chain(2)
q = np.array([0.3, 0.4])
print(ff.center_of_mass(model, q).tolist(), ff.center_of_mass(model, np.tile(q, (9, 1)))[8].tolist())
"""


def test_nothing_is_compiled(folder, tmp_path):
    model, q = freeflyer.robots.chain(2), [0.3, 0.4]
    first, last = run(POSITION.format(folder=folder), FREEFLYER_CACHE_DIR=str(tmp_path / "cache")).replace("] [", "]|[").split("|")
    assert eval(first) == pytest.approx(freeflyer.center_of_mass(model, q).tolist(), rel=1e-14)
    assert eval(last) == pytest.approx(eval(first), rel=1e-14)
    assert not list((tmp_path / "cache").rglob("*.o"))


def test_functions_of_a_wheel_are_taken_all_or_not_at_all(folder, monkeypatch):
    """Those of another CPU pass vectors otherwise; nor are those of a level that this CPU lacks."""
    monkeypatch.setattr(build, "WHEEL", folder)
    symbols = [f.symbol for f in build.closure(COM, 1)]
    with monkeypatch.context() as old:
        old.setattr("freeflyer.kernels.compiler.object_code.levels_here", list)
        assert build.from_wheel(symbols) is None
    assert len(build.from_wheel(symbols)) == len(symbols) > 1
    (folder / levels_here()[0].cpu / f"{symbols[0]}.o").unlink()
    assert build.from_wheel(symbols) is None


def test_levels_have_names():
    assert [level.cpu for level in wheel.levels_of("all")] == ["x86-64-v4", "x86-64-v3", "x86-64-v2"]
    assert [level.cpu for level in wheel.levels_of("x86-64-v2, x86-64-v3")] == ["x86-64-v2", "x86-64-v3"]
    for wrong in ("x86-64-v5", "", "v3", "x86-64-v3,"):
        refused(ValueError, "x86-64-v4, x86-64-v3, x86-64-v2", wheel.levels_of, wrong)


DYNAMICS = """
model = ff.robots.humanoid()
q, v = ff.neutral(model), np.linspace(-1.0, 1.0, model.nv)
print(ff.__file__)
tau = ff.inverse_dynamics(model, q, v, v)
many = ff.inverse_dynamics(model, np.tile(q, (20, 1)), v, v)
print(np.abs(many - tau).max() < 1e-9, ff.forward_dynamics_derivatives(model, q, v, tau)[0].shape == (model.nv, model.nv))
"""


def test_a_wheel_is_built_installed_and_used(tmp_path):
    """As a user would, but with this environment's NumPy and llvmlite."""
    environment = {**os.environ, "FREEFLYER_WHEEL_OBJECTS": levels_here()[0].cpu}
    pip = [sys.executable, "-m", "pip", "-q", "--disable-pip-version-check"]
    subprocess.run([*pip, "wheel", str(ROOT), "--no-deps", "-w", str(tmp_path)], env=environment, check=True, timeout=900)
    (made,) = tmp_path.glob("freeflyer-*-py3-none-linux_x86_64.whl")
    installed = tmp_path / "installed"
    subprocess.run([*pip, "install", "--no-deps", "--target", str(installed), str(made)], check=True, timeout=100)
    objects = list((installed / "freeflyer" / "kernels" / "objects").rglob("*.o"))
    assert len(objects) > len(ENTRIES)
    file, results = run(DYNAMICS, PYTHONPATH=str(installed), FREEFLYER_CACHE_DIR=str(tmp_path / "cache")).splitlines()
    assert file.startswith(str(installed))
    assert results == "True True"


PROGRAM = """
import json
import numpy as np
import freeflyer as ff
from kernel_samples import states, tree
from freeflyer.kernels.compiler.calls.running import batch_lanes
from freeflyer.kernels.entries import RNEA

model = tree()
q, v, a = states(model, 21)
d = ff.inverse_dynamics_derivatives(model, q, v, a)
found = {
    "inverse dynamics": ff.inverse_dynamics(model, q, v, a), "forward dynamics": ff.forward_dynamics(model, q, v, a),
    "mass matrix": ff.mass_matrix(model, q), "dtau/dq": d.dq, "dtau/dv": d.dv, "dtau/da": d.da,
}
print(json.dumps([batch_lanes(RNEA), {name: x.tolist() for name, x in found.items()}]))
"""


def results(cpu: str = "") -> tuple[int, dict[str, np.ndarray]]:
    """(lanes, results) of a process that compiles for a CPU, by default this one."""
    environment = {"FREEFLYER_CPU": cpu} if cpu else {}
    lanes, found = json.loads(python(PROGRAM, PYTHONPATH=os.pathsep.join(sys.path), **environment).stdout)
    return lanes, {name: np.array(x) for name, x in found.items()}


@pytest.fixture(scope="module")
def here() -> tuple[int, dict[str, np.ndarray]]:
    return results()


@pytest.mark.parametrize("cpu", ["haswell", "x86-64-v2"])
def test_other_instructions(cpu, here):
    """haswell: AVX2 and fused multiplication; x86-64-v2: SSE 4.2, neither."""
    if cpu == "haswell" and "x86-64-v3" not in [level.cpu for level in levels_here()]:
        pytest.skip("this CPU has no AVX2")
    lanes, found = results(cpu)
    assert lanes == 4
    for name, expected in here[1].items():
        error = np.abs(found[name] - expected).max() / np.abs(expected).max()
        assert error < 1e-12, f"{name} differs by {error:.1e} of its largest number"


def test_a_name_of_no_cpu_is_refused():
    """LLVM would end the process."""
    program = "from freeflyer.kernels.compiler.object_code import host\ntry: host()\nexcept ValueError as error: print(error)"
    assert "FREEFLYER_CPU is 'fast', expected the name of a CPU" in python(program, FREEFLYER_CPU="fast").stdout
