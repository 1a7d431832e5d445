"""Exported functions touch nothing beyond their arguments: every array ends, or begins, at a page that must not be touched."""

import subprocess
import sys

import pytest
from c_program import call_of, needs_cc, with_mimic
from seeds import fresh

import freeflyer as ff
from freeflyer.export import export
from freeflyer.export.functions import FUNCTIONS

GUARDED = """
import ctypes, json, mmap, sys
import numpy as np
folder, at_end, calls = sys.argv[1], sys.argv[2] == "end", json.loads(sys.argv[3])
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype, PAGE = ctypes.c_void_p, mmap.PAGESIZE
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
def guarded(n):
    size = -(-8 * n // PAGE) * PAGE
    start = libc.mmap(None, size + 2 * PAGE, 3, 0x22, -1, 0)
    assert libc.mprotect(start, PAGE, 0) == 0 and libc.mprotect(start + PAGE + size, PAGE, 0) == 0
    first = start + PAGE + (size - 8 * n if at_end else 0)
    return np.ctypeslib.as_array((ctypes.c_double * n).from_address(first))
library = ctypes.CDLL(folder)
for name, inputs, options, outputs, scratch in calls:
    arrays = []
    for x in inputs:
        arrays.append(guarded(len(x)))
        arrays[-1][:] = x
    results = [guarded(n) for n in outputs]
    pointers = [ctypes.c_void_p(x.ctypes.data) for x in (*arrays, *results, guarded(scratch))]
    k = len(arrays)
    print(name, library[name](*pointers[:k], *map(ctypes.c_int64, options), *pointers[k:]), flush=True)
"""


@needs_cc
@pytest.mark.skipif(sys.platform != "linux", reason="pages are protected as on Linux")
@pytest.mark.parametrize("way", ["start", "end"])
@pytest.mark.parametrize("robot", ["quadruped", "mimic"])
def test_nothing_beyond_arguments_is_touched(tmp_path, robot, way):
    import json

    model = with_mimic() if robot == "mimic" else ff.robots.make(robot)
    made = export(model, tmp_path / "c", "all")
    rng, calls = fresh(3), []
    for name in FUNCTIONS:
        call = call_of(model, name)
        inputs = [
            (ff.random_configuration(model, rng) if x.name[0] == "q" else rng.standard_normal(x.size)).tolist()
            for x in call.parameters
        ]
        calls.append((call.name, inputs, [1] * len(call.options), [x.size for x in call.outputs], call.scratch))
    command = [sys.executable, "-c", GUARDED, str(tmp_path / "c" / f"lib{made.prefix}.so"), way, json.dumps(calls)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.split("\n")[:-1] == [f"{call[0]} 0" for call in calls]
