"""What the demo compiles beforehand is what it uses, and covers every benchmarked function."""

from __future__ import annotations

import freeflyer as ff
from freeflyer.analysis import warming
from freeflyer.analysis.bench.algorithms import USUAL
from freeflyer.kernels.compiler import cache


def test_every_timed_function_is_warmed_once():
    names = (*warming.HERE, *warming.THERE)
    assert len(set(names)) == len(names)
    shared = {"bias_forces"}  # the same kernel as inverse_dynamics
    assert set(USUAL) - shared <= set(names)
    assert all(callable(getattr(ff, name)) for name in names)


def test_warming_says_what_it_does():
    said = []
    warming.warm(["potential_energy", "integrate", "frame_pose"], said.append)
    assert said == ["compiling potential_energy", "compiling integrate", "compiling frame_pose"]


def test_what_is_compiled_is_known(monkeypatch, tmp_path):
    """Nothing is compiled twice; in an empty cache everything is."""
    ff.mass_matrix(ff.robots.chain(2), [0.0, 0.0])
    ff.forward_dynamics(ff.robots.chain(2), [0.0, 0.0], [0.0, 0.0], [0.0, 0.0])
    assert warming.is_cached(warming.E.CRBA)
    said: list[str] = []
    warming.warm_all(said.append)
    assert said == []
    monkeypatch.setattr(cache, "cache_folder", lambda: tmp_path)
    assert not warming.is_cached(warming.E.CRBA)
