"""What the first use costs: importing, and each algorithm's first call, in fresh processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from tempfile import TemporaryDirectory

from freeflyer.analysis.timing.results import FirstCall, Start
from freeflyer.errors import FreeflyerError
from freeflyer.progress import Progress

IMPORT = """
from time import perf_counter
start = perf_counter()
import freeflyer
print(perf_counter() - start)
"""

FIRST_CALL = """
import json, sys
from time import perf_counter
import freeflyer as ff
from freeflyer import robots
from freeflyer.analysis.timing.algorithms import BY_NAME, outermost_frame, single_call
from freeflyer.analysis.checks.states import States
import numpy as np
model = robots.make("humanoid")
q, zero = model.neutral[None], np.zeros((1, model.nv))
call = single_call(model, BY_NAME[sys.argv[1]], States(q, zero, zero, zero), outermost_frame(model))
start = perf_counter()
call()
print(perf_counter() - start)
"""

REPEATS = 5  # of an import


def start_times(algorithms: tuple[str, ...], progress: Progress) -> Start:
    """Measure imports and the first calls on the built-in humanoid, one process each."""
    progress(0.0, "import, without bytecode")
    with TemporaryDirectory() as folder:
        bytecode = {"PYTHONPYCACHEPREFIX": folder, "PYTHONDONTWRITEBYTECODE": ""}  # written, but to a fresh folder
        cold = _run(IMPORT, **bytecode)
        progress(0.0, "import, with bytecode")
        warm = sorted(_run(IMPORT, **bytecode) for _ in range(REPEATS))[REPEATS // 2]
    return Start(cold, warm, tuple(_first_call(name, progress) for name in algorithms))


def _first_call(name: str, progress: Progress) -> FirstCall:
    progress(0.0, f"first call of {name}")
    with TemporaryDirectory() as folder:
        cold = _run(FIRST_CALL, name, FREEFLYER_CACHE_DIR=folder)
        return FirstCall(name, cold, _run(FIRST_CALL, name, FREEFLYER_CACHE_DIR=folder))


def _run(script: str, *arguments: str, **environment: str) -> float:
    command = [sys.executable, "-c", script, *arguments]
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise FreeflyerError(f"a fresh Python process for timing ended with code {done.returncode}: {last}")
    return float(json.loads(done.stdout.strip().splitlines()[-1]))
