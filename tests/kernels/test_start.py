"""Starting: what is imported, what is compiled, and by which process."""

import json
import pytest
import subprocess
import sys
from freeflyer.kernels.compiler import ahead
from processes import python

pytestmark = pytest.mark.slow

COMMON = """
import os, subprocess, sys, warnings
import numpy as np
import freeflyer as ff
from freeflyer.kernels.compiler import ahead, build

model = ff.robots.chain(2, base="free")
q, v = ff.neutral(model), np.ones(model.nv)

def integrated():
    return ff.integrate(model, q, v).tolist()
"""


def run(program: str, **environment: str) -> subprocess.CompletedProcess:
    return python(COMMON + program, **environment)


@pytest.fixture(scope="module")
def expected() -> str:
    """Fills the cache."""
    return run("print(integrated())").stdout


def test_warm_and_cold_starts(expected, tmp_path):
    unwanted = "{'numba', 'sympy', 'matplotlib', 'mujoco', 'scipy'}"
    done = run(f"print(integrated())\nprint(sorted({{m.split('.')[0] for m in sys.modules}} & {unwanted}))")
    result, loaded = done.stdout.splitlines()
    assert (result, loaded, done.stderr) == (expected.strip(), "[]", "")
    program = "subprocess.Popen = ahead.subprocess.Popen = None\nprint(integrated())"
    assert run(program, FREEFLYER_CACHE_DIR=str(tmp_path)).stdout == expected
    assert list(tmp_path.rglob("ff_integrate_*.o"))
    lines = run(LAYOUT.replace("ff.kernels", "__import__('freeflyer.kernels.entries').kernels")).stdout.splitlines()
    assert lines == [expected.strip(), "function"]


AHEAD = """
from freeflyer.kernels.entries import COM, GRAVITY
functions = [(COM, 1), (GRAVITY, 1), (COM, 4)]
found = []
PLANT
print(ahead.compile_ahead(functions, 2, lambda fraction, what: found.append(what)))
print(all(build.is_cached(*f) for f in functions), ahead.compile_ahead(functions), sorted(found))
"""
PLANTS = {
    "as it is": "",
    "no process can be started": "def refused(*_, **__): raise OSError(11, 'Resource temporarily unavailable')\n"
                                 "ahead.subprocess.Popen = refused",
    "processes end at once": "ahead.MAIN = 'raise SystemExit(1)'",
    "processes are killed": "ahead.MAIN = 'import os; os.kill(os.getpid(), 9)'",
    "processes print": "ahead.MAIN = 'print(\"hello from a start-up file\", flush=True);' + ahead.MAIN",
}  # fmt: skip


@pytest.mark.parametrize("plant", PLANTS)
def test_compiling_ahead(tmp_path, plant):
    """Side by side in processes, or, if these fail, in this one."""
    made, cached = run(AHEAD.replace("PLANT", PLANTS[plant]), FREEFLYER_CACHE_DIR=str(tmp_path)).stdout.splitlines()
    assert made == "3"
    assert cached.startswith("True 0 ['com', 'com_batch', 'gravity'")


LAYOUT = """
from freeflyer.kernels.compiler.calls import python_calls
python_calls.layouts_are_known = lambda: False
print(integrated())
print(type(ff.kernels.entries.INTEGRATE.call).__name__)
"""


def test_a_compiling_process_whose_caller_is_gone_says_nothing():
    """Its pipe takes no answer: it was ended."""
    command = [sys.executable, "-c", ahead.MAIN, json.dumps(sys.path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        process.stdin.write(b"no_such_entry 1\n")
        process.stdin.close()
        assert (process.stderr.read(), process.wait(60)) == (b"", 0)
