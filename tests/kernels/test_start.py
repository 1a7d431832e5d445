"""Starting: without Numba where code is compiled already, without a process where none can be had, or after one was killed."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

COMMON = """
import os, subprocess, sys, warnings
import numpy as np
import freeflyer as ff
from freeflyer.kernels.compiler import build, worker

model = ff.robots.chain(2, base="free")
q, v = ff.neutral(model), np.ones(model.nv)

def integrated():
    return ff.integrate(model, q, v).tolist()

def made_anew():  # the smallest function, compiled in this process or another
    return len(build.make("adapter", ("entry_code.adapter",), 1))
"""


def run(program: str, **environment: str) -> subprocess.CompletedProcess:
    done = subprocess.run([sys.executable, "-c", COMMON + program], env={**os.environ, **environment}, capture_output=True,
                          text=True, timeout=600)  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return done


@pytest.fixture(scope="module")
def expected() -> str:
    """Fills the cache."""
    return run("print(integrated())").stdout


def test_a_warm_start_leaves_numba_alone(expected):
    unwanted = "{'numba', 'sympy', 'matplotlib', 'mujoco'}"
    done = run(f"print(integrated())\nprint(sorted({{m.split('.')[0] for m in sys.modules}} & {unwanted}))")
    result, loaded = done.stdout.splitlines()
    assert result == expected.strip()
    assert loaded == "[]"
    assert done.stderr == ""


def test_importing_compiles_and_loads_nothing():
    done = run("print(build._address.cache_info().currsize, worker._worker, 'numba' in sys.modules)")
    assert done.stdout.split() == ["0", "None", "False"]


def test_a_cold_call_leaves_numba_to_the_worker(tmp_path):
    done = run("print(made_anew() > 1000, 'numba' in sys.modules, worker._worker is not None)", FREEFLYER_CACHE_DIR=str(tmp_path))
    assert done.stdout.split() == ["True", "False", "True"]


def test_numba_s_switches_are_for_other_code(tmp_path, expected):
    """With NUMBA_DISABLE_JIT there is one sentence, and kernels are compiled all the same."""
    done = run("made_anew()\nprint(integrated())", NUMBA_DISABLE_JIT="1", FREEFLYER_CACHE_DIR=str(tmp_path), PYTHONWARNINGS="once")
    assert done.stdout == expected
    assert done.stderr.count("NUMBA_DISABLE_JIT is set") == 1, done.stderr


NO_PROCESS = """
def refused(*_, **__):
    raise OSError(11, "Resource temporarily unavailable")

subprocess.Popen = worker.subprocess.Popen = refused
print(made_anew() > 1000, "numba" in sys.modules, worker._worker)
"""


def test_where_no_process_can_be_started_this_one_compiles(tmp_path):
    assert run(NO_PROCESS, FREEFLYER_CACHE_DIR=str(tmp_path)).stdout.split() == ["True", "True", "None"]


KILLED = """
import signal, threading, time
made_anew()
first = worker._worker
os.kill(first._process.pid, signal.SIGKILL)
first._process.wait()
build.disk.read = lambda name: None  # as if nothing were there
print(made_anew() > 1000, "numba" in sys.modules)
worker._worker = second = worker.Worker()
threading.Timer(0.3, lambda: os.kill(second._process.pid, signal.SIGKILL)).start()
print(made_anew() > 1000, worker._worker)
print(made_anew() > 1000, worker._worker is not None)
"""


def test_a_killed_worker_is_replaced(tmp_path):
    """One that is gone before a request, and one in the middle of it: the call still succeeds, and so does the next."""
    lines = run(KILLED, FREEFLYER_CACHE_DIR=str(tmp_path)).stdout.splitlines()
    assert lines[0] == "True False"
    assert lines[1].startswith("True")
    assert lines[2].startswith("True")


FAILING = """
try:
    worker.compile("no such entry", 1, "symbol")
except RuntimeError as error:
    print(error)
print(made_anew() > 1000)
"""


def test_what_cannot_be_compiled_is_one_error(tmp_path):
    lines = run(FAILING, FREEFLYER_CACHE_DIR=str(tmp_path)).stdout.splitlines()
    assert lines[0].startswith("no such entry could not be compiled: KeyError")
    assert lines[1] == "True"


LAYOUT = """
from freeflyer.kernels.calls import python_calls
python_calls.layouts_are_known = lambda: False
print(integrated())
print(type(ff.kernels.entries.INTEGRATE.call).__name__)
"""


def test_where_layouts_are_not_known_ctypes_serves(expected):
    lines = run(LAYOUT.replace("ff.kernels", "__import__('freeflyer.kernels.entries').kernels")).stdout.splitlines()
    assert lines == [expected.strip(), "function"]


def test_what_a_program_prints_is_no_answer_of_the_worker(tmp_path):
    """sitecustomize modules and start-up files may print."""
    (tmp_path / "sitecustomize.py").write_text("print('hello from sitecustomize')\n")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    done = run("print(made_anew() > 1000, 'numba' in sys.modules)", FREEFLYER_CACHE_DIR=str(tmp_path / "cache"), PYTHONPATH=path)
    assert done.stdout.splitlines()[-1] == "True False", done.stderr
