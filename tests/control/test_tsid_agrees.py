"""TSID's inverse dynamics of TALOS on two feet: our answer meets the weighted tasks as well."""

import freeflyer as ff
import numpy as np
import pytest
from benchmarks.standing import Standing, control_problem, motion, motion_tasks, talos
from benchmarks.tsid_peer import SOLVERS, TsidPeer, tsid_peer
from closeness import close
from dataclasses import replace
from freeflyer.analysis.timing.results import NoPeerError
from robots_on_disk import needs_examples
from seeds import fresh

pytestmark = [pytest.mark.peers, needs_examples]


def loose() -> Standing:
    """No limit of a joint, a motor or friction is reached."""
    return replace(talos(), torque=np.full(32, 1e4), velocity=np.full(32, 1e3), acceleration=np.full(32, 1e4), friction=5.0)


def peer_or_skip(p: Standing, solver: str = "eiquadprog-fast") -> TsidPeer:
    try:
        return tsid_peer(p, solver)
    except NoPeerError as error:
        pytest.skip(str(error))


def states(p: Standing, rng: np.random.Generator, count: int, size: float) -> list[tuple[np.ndarray, np.ndarray]]:
    """Near the motion, feet and all a little off."""
    q, v = motion(p, count)
    dq, dv = rng.standard_normal((2, count, p.model.nv))
    return list(zip(ff.integrate(p.model, q, size * 0.02 * dq), v + size * 0.05 * dv, strict=True))


@pytest.mark.parametrize("solver", SOLVERS)
def test_weighted_tasks_are_met_as_well_as_tsid_meets_them(solver):
    """TSID's sum has squares of the point forces in it, ours puts them below the tasks: the sum over tasks alone is no larger."""
    p = loose()
    peer, problem, compared = peer_or_skip(p, solver), control_problem(p), 0
    feet = problem.constraints.anchored(motion(p, 1)[0][0])
    for q, v in states(p, fresh(solver), 20, 0.2):
        q = ff.project_configuration(p.model, q, constraints=feet)  # TSID's contacts pull feet back to their places
        v = ff.project_velocity(p.model, q, v, constraints=feet)
        solution, theirs = problem.solve(q, v, weighted=True), peer.answer(q, v)
        assert solution.status == "solved"
        if theirs.forces[..., 2].min() > 1.0 and not solution.levels[1].active:  # else the two friction pyramids differ
            ours, best = (_weighted_squares(p, q, v, a) for a in (solution.a, theirs.a))
            assert ours <= best * (1.0 + 1e-9)
            close(ours, best, 1e-4)
            compared += 1
    assert compared >= 2


def _weighted_squares(p: Standing, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> float:
    missed = {
        name: task.jacobian(p.model, q) @ a + task.bias(p.model, q, v) - task.command(p.model, q, v)
        for name, task in motion_tasks(p).items()
    }
    return sum(p.weights[name] * float(x @ x) for name, x in missed.items())
