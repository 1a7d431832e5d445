"""The files that a call of inverse dynamics enters, in order: few, from at most four rooms (docs/architecture.md shows them)."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import freeflyer as ff

ROOT = Path(ff.__file__).parent
MODEL = ff.robots.quadruped()
Q, V = MODEL.neutral, np.zeros(MODEL.nv)
FEET = ff.frame_set(MODEL, "front_left_foot", "rear_right_foot")
W = np.ones((2, 6))
START = "dynamics/equations.py"
CALLS: dict[str, tuple[Callable[[], object], list[str]]] = {
    "one state": (lambda: ff.inverse_dynamics(MODEL, Q, V, V), [START]),
    "prepared wrenches": (lambda: ff.inverse_dynamics(MODEL, Q, V, V, (FEET, W)), [START, "dynamics/loads.py"]),
    "a mapping of wrenches": (
        lambda: ff.inverse_dynamics(MODEL, Q, V, V, {"front_left_foot": W[0]}),
        [START, "dynamics/loads.py", "dynamics/frame_sets.py"]),
    "gravity": (lambda: ff.inverse_dynamics(MODEL, Q, V, V, gravity=[0.0, 0.0, -1.6]), [START, "dynamics/loads.py"]),
    "a short batch": (lambda: ff.inverse_dynamics(MODEL, np.tile(Q, (8, 1)), V, V), [START]),
    "lists": (
        lambda: ff.inverse_dynamics(MODEL, Q.tolist(), V, V),
        [START, "dynamics/evaluate.py", "model/inputs.py", "model/frozen.py"]),
}  # fmt: skip


def entered(call: Callable[[], object]) -> list[str]:
    """Files of freeflyer whose functions run, by their first use."""
    files: list[str] = []

    def note(frame, event, _):
        path = Path(frame.f_code.co_filename)
        if event == "call" and ROOT in path.parents:
            files.append(path.relative_to(ROOT).as_posix())

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return list(dict.fromkeys(files))


@pytest.mark.parametrize("name", CALLS)
def test_files_in_order(name):
    call, expected = CALLS[name]
    call()
    assert entered(call) == expected


def test_a_long_batch_stays_within_four_rooms():
    q = np.tile(Q, (4000, 1))
    ff.inverse_dynamics(MODEL, q, V, V)
    rooms = {Path(file).parts[0] for file in entered(lambda: ff.inverse_dynamics(MODEL, q, V, V))}
    assert rooms == {"dynamics", "model", "kernels"}
