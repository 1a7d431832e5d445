"""Compile the usual functions before they are needed, in two processes, so that a first demo waits less.

Compiled code goes to the cache on disk, from where the other process takes it in a few milliseconds.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterable

import numpy as np

import freeflyer as ff
from freeflyer.analysis.bench.algorithms import BY_NAME, batch_call, single_call
from freeflyer.analysis.bench.machine import usable_cores
from freeflyer.analysis.states import States
from freeflyer.kernels import entries as E
from freeflyer.kernels.calls.running import is_cached

HERE = (
    "mass_matrix", "coriolis_matrix", "centroidal_momentum", "integrate", "kinematics", "kinetic_energy", "frame_pose",
    "gravity_forces",
)  # fmt: skip
THERE = (
    "inverse_dynamics", "forward_dynamics", "inverse_mass_matrix", "centroidal_momentum_matrix", "centroidal_bias",
    "frame_jacobian", "center_of_mass", "potential_energy",
)  # fmt: skip
LONGEST = 300.0  # s to wait for the other process; what it did not get done is compiled when needed


def warm(names: Iterable[str], progress: Callable[[str], None] = lambda _: None) -> None:
    """Call each function once for one state and once for a batch, on a small robot."""
    from freeflyer import robots

    model = robots.chain(2, base="free")
    q = np.tile(ff.neutral(model), (8, 1))
    zero = np.zeros((8, model.nv))
    x, frame = States(q, zero, zero, zero), model.link_names[-1]
    for name in names:
        progress(f"compiling {name}")
        if name in BY_NAME:
            single_call(model, BY_NAME[name], x, frame)()
            batch_call(model, BY_NAME[name], x, frame)()
            continue
        function = getattr(ff, name)
        second = frame if name == "frame_pose" else zero
        function(model, q[0], second if name == "frame_pose" else zero[0])
        function(model, q, second)


def warm_all(progress: Callable[[str], None]) -> None:
    """Make sure that the usual functions are compiled; a second process shares the work where there are two cores."""
    if is_cached(E.CRBA) and is_cached(E.ABA):
        return
    helper = None
    if usable_cores() > 1:
        command = [sys.executable, "-m", "freeflyer.analysis.warming", *THERE]
        helper = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
    try:
        warm(HERE, progress)
        if helper is not None:
            progress(f"compiling {', '.join(THERE)}")
            helper.wait(LONGEST)
    except subprocess.TimeoutExpired:
        pass
    finally:
        if helper is not None and helper.poll() is None:
            helper.kill()


if __name__ == "__main__":
    warm(sys.argv[1:])
