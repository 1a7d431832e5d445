"""What the demo compiles beforehand is what it uses, and covers every benchmarked function."""

from __future__ import annotations

import freeflyer as ff
from freeflyer.analysis import warming
from freeflyer.analysis.bench.algorithms import USUAL


def test_every_timed_function_is_warmed_once():
    names = (warming.PROBE, *warming.HERE, *warming.THERE)
    assert len(set(names)) == len(names)
    shared = {"bias_forces"}  # the same kernel as inverse_dynamics
    assert set(USUAL) - shared <= set(names)
    assert all(callable(getattr(ff, name)) for name in names)


def test_warming_says_what_it_does():
    said = []
    warming.warm(["potential_energy", "integrate", "frame_pose"], said.append)
    assert said == ["compiling potential_energy", "compiling integrate", "compiling frame_pose"]
