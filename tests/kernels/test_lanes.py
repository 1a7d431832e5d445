"""Other CPUs: with four numbers to a register instead of eight, and without fused multiplication, results agree to rounding."""

import json
import numpy as np
import os
import platform
import pytest
import sys
from freeflyer.kernels.compiler.object_code import Target, pack_lanes
from llvmlite import binding as llvm
from processes import python

pytestmark = pytest.mark.slow

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


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="names of x86 CPUs")
@pytest.mark.parametrize("cpu", ["haswell", "x86-64-v2"])
def test_other_instructions(cpu, here):
    """haswell: AVX2 and fused multiplication; x86-64-v2: SSE 4.2, neither."""
    if cpu == "haswell" and "avx2" not in [name for name, has in llvm.get_host_cpu_features().items() if has]:
        pytest.skip("this CPU has no AVX2")
    lanes, found = results(cpu)
    assert lanes == 4
    for name, expected in here[1].items():
        error = np.abs(found[name] - expected).max() / np.abs(expected).max()
        assert error < 1e-12, f"{name} differs by {error:.1e} of its largest number"


def test_lanes_are_those_of_registers():
    assert (pack_lanes(Target("haswell")), pack_lanes(Target("x86-64-v2"))) == (4, 4)
    assert (pack_lanes(Target("skylake-avx512")), pack_lanes(Target("generic", "+avx512f,+avx2"))) == (8, 8)
    assert pack_lanes(Target("generic", "-avx512f,+avx2")) == 4
