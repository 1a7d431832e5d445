"""Random hostile calls (see random_calls.py) end in errors that name the argument, or in results.

FREEFLYER_HOSTILE_CALLS=5000 makes so many of them; `python tests/hostile/random_calls.py 5000` does it with counts.
"""

from __future__ import annotations

import os

import numpy as np
from calls_by_hand import Call
from random_calls import attack, failure
from seeds import fresh

COUNT = int(os.environ.get("FREEFLYER_HOSTILE_CALLS", "400"))


def test_each_call_ends_in_an_error_of_ours_or_in_a_result():
    ends, leaks = attack(COUNT, fresh("hostile calls"))
    assert not leaks, "\n".join(leaks)
    assert ends["refused"] > 0.5 * COUNT  # values are hostile indeed


def test_planted_errors_are_seen():
    def raw(x: float) -> float:
        return x / 0

    def silent(x: float) -> float:
        return float(np.float64(1e308) * x)

    assert "ZeroDivisionError" in (failure(Call(raw, {}, {}), {"x": 1.0}, ["x"]) or "")
    assert "RuntimeWarning" in (failure(Call(silent, {}, {}), {"x": 1e308}, ["x"]) or "")
