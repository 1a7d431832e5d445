"""Processes and signals: fork, forkserver, spawn, threads that compile at once, Ctrl-C, memory; how the library starts."""

import json
import os
import pytest
import signal
import subprocess
import sys
import time
from freeflyer.kernels.compiler import ahead
from processes import python

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not hasattr(os, "fork"), reason="fork and signals are POSIX")]
SECONDS = 400  # to wait for any of these programs
COMMON = """
import multiprocessing, os, signal, sys, threading, time
import numpy as np
import freeflyer as ff
from freeflyer.kernels.compiler.calls import python_calls
from freeflyer.kernels.compiler import call_layout
from freeflyer.kernels.compiler import build

python_calls.known()[call_layout.SHORT_WORK] = 0  # batches are spread over threads whatever their size
model = ff.robots.chain(2, base="free")
q, v = np.tile(ff.neutral(model), (3000, 1)), np.random.default_rng(0).standard_normal((3000, model.nv))
ff.set_threads(2)

def moved(k=0):
    return ff.integrate(model, q, v + k)

def ended(child):
    end = time.monotonic() + 60
    while time.monotonic() < end:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    return "hangs"

if __name__ == "__main__":
    expected = moved()
"""


def run(program: str, **environment: str) -> str:
    return python(COMMON + program, seconds=SECONDS, PYTHONFAULTHANDLER="1", **environment).stdout


FORK = """
child = os.fork()
if child == 0:
    same = np.array_equal(moved(), expected)
    ff.set_threads(3)
    os._exit(0 if same and np.array_equal(moved(), expected) else 1)
print(ended(child), np.array_equal(moved(), expected))
"""


def test_forks():
    assert run(FORK).split() == ["0", "True"]
    # The child neither waits for a lock that is never released nor finds LLVM in the middle of its work
    assert run(FORK_WHILE_COMPILING).split() == ["0", "True", "True"]
    # A hundred thousand calls, refused ones and models that come and go among them
    assert int(run(MEMORY)) < 4 * 1024  # kB


FORK_WHILE_COMPILING = """
from freeflyer.kernels.compiler import object_code
from freeflyer.kernels.entries import ALL_TERMS

compiling, compile = threading.Event(), object_code.object_code

def slowly(*arguments):
    compiling.set()
    return compile(*arguments)

object_code.object_code = slowly
build.disk.read = lambda name: None  # as if nothing were there
thread = threading.Thread(target=build.address, args=(ALL_TERMS, 1))
thread.start()
compiling.wait()
child = os.fork()
if child == 0:
    same = np.array_equal(moved(), expected)
    os._exit(0 if same and build.address(ALL_TERMS, 4) else 1)
print(ended(child), np.array_equal(moved(), expected))
thread.join()
print(build.address(ALL_TERMS, 1) > 0)
"""

POOL = """
    with multiprocessing.get_context("METHOD").Pool(2) as pool:
        results = pool.map(moved, [0, 1, 2])
    print(all(np.array_equal(r, moved(k)) for k, r in enumerate(results)))
"""


@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_pools_of_processes(method, tmp_path):
    path = tmp_path / "program.py"  # children import the program by its file
    path.write_text(COMMON + POOL.replace("METHOD", method))
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=SECONDS)
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr[-3000:]


THREADS = """
from freeflyer.kernels.compiler import object_code
from freeflyer.kernels.entries import COM

found, compile = [], object_code.object_code
def counted(code, target):
    found.append(code)
    return compile(code, target)
object_code.object_code = counted
start = threading.Barrier(4)
addresses = []
def load():
    start.wait()
    addresses.append(build.address(COM, 1))
threads = [threading.Thread(target=load) for _ in range(4)]
build.disk.cache_folder.cache_clear()
os.environ["FREEFLYER_CACHE_DIR"] = os.environ["EMPTY"]
for t in threads: t.start()
for t in threads: t.join()
print(len(set(addresses)), len(addresses), len(found) == len(set(found)) == len(build.closure(COM, 1)))
"""


def test_threads_that_compile_the_same_function_compile_it_once(tmp_path):
    assert run(THREADS, EMPTY=str(tmp_path)).split() == ["1", "4", "True"]


LONG_BATCH = """
signal.signal(signal.SIGINT, signal.default_int_handler)  # a run in the background ignores it, and its children inherit that
ff.set_threads(THREADS)
many = np.tile(ff.neutral(model), (1_000_000, 1))
moves = np.zeros((1_000_000, model.nv))
out = np.empty_like(moves)
print("begins", flush=True)
try:
    while True:
        ff.inverse_dynamics(model, many, moves, moves, out=out)
except KeyboardInterrupt:
    print("heard", flush=True)
print(np.array_equal(moved(), expected))
"""


@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_in_a_long_batch_is_heard_soon(threads):
    process = subprocess.Popen([sys.executable, "-c", COMMON + LONG_BATCH.replace("THREADS", str(threads))],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)  # fmt: skip
    try:
        assert process.stdout.readline() == "begins\n", process.stderr.read()
        time.sleep(0.5)
        start = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "heard\n"
        assert time.monotonic() - start < 2.0
        assert process.stdout.readline() == "True\n", process.stderr.read()
        assert process.wait(SECONDS) == 0
    finally:
        process.kill()
        process.communicate()


MEMORY = """
import resource
x, w, out = q[0].copy(), v[0].copy(), np.empty(model.nv)
small_q, small_v = q[:9].copy(), v[:9].copy()
bad = np.full(model.nv, np.nan)
def many(n):
    for _ in range(n):
        ff.integrate(model, x, w)
        ff.inverse_dynamics(model, x, w, w, out=out)
    for _ in range(n // 20):
        ff.integrate(model, small_q, small_v)
        try: ff.integrate(model, x, bad)
        except ff.InputError: pass
    for _ in range(n // 200):
        ff.integrate(ff.robots.chain(1), np.zeros(1), np.zeros(1))
ff.set_threads(1)
many(5_000)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
many(50_000)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


START = """
import os, subprocess, sys, warnings
import numpy as np
import freeflyer as ff
from freeflyer.kernels.compiler import ahead, build

model = ff.robots.chain(2, base="free")
q, v = ff.neutral(model), np.ones(model.nv)

def integrated():
    return ff.integrate(model, q, v).tolist()
"""


def start(program: str, **environment: str) -> subprocess.CompletedProcess:
    return python(START + program, **environment)


@pytest.fixture(scope="module")
def expected() -> str:
    """Fills the cache."""
    return start("print(integrated())").stdout


def test_warm_and_cold_starts(expected, tmp_path):
    unwanted = "{'numba', 'sympy', 'matplotlib', 'mujoco', 'scipy'}"
    done = start(f"print(integrated())\nprint(sorted({{m.split('.')[0] for m in sys.modules}} & {unwanted}))")
    result, loaded = done.stdout.splitlines()
    assert (result, loaded, done.stderr) == (expected.strip(), "[]", "")
    program = "subprocess.Popen = ahead.subprocess.Popen = None\nprint(integrated())"
    assert start(program, FREEFLYER_CACHE_DIR=str(tmp_path)).stdout == expected
    assert list(tmp_path.rglob("ff_integrate_*.o"))
    lines = start(LAYOUT.replace("ff.kernels", "__import__('freeflyer.kernels.entries').kernels")).stdout.splitlines()
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
    made, cached = start(AHEAD.replace("PLANT", PLANTS[plant]), FREEFLYER_CACHE_DIR=str(tmp_path)).stdout.splitlines()
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
