"""TSID's inverse dynamics of TALOS on two feet against the same quadratic program by freeflyer: entry by entry, and solved."""

import freeflyer as ff
import numpy as np
import pytest
from benchmarks.standing import Standing, control_problem, motion, motion_tasks, talos
from benchmarks.tsid_peer import SOLVERS, TsidPeer, tsid_peer
from closeness import EXACT, close
from dataclasses import replace
from freeflyer.analysis.timing.results import NoPeerError
from freeflyer.optimization import solve_qp
from robots_on_disk import needs_examples
from seeds import fresh
from tsid_problem import equations, generator, program

pytestmark = [pytest.mark.peers, needs_examples]
SAMPLES = 5
# both solvers meet constraints to some 1e-12 of the terms; the point forces beside the six that count are held by 1e-8 only
SOLVED = 1e-8


def loose() -> Standing:
    """No limit of a joint, a motor or friction is reached."""
    return replace(talos(), torque=np.full(32, 1e4), velocity=np.full(32, 1e3), acceleration=np.full(32, 1e4), friction=5.0)


def tight() -> Standing:
    """Slippery ground, weak motors, joints that hardly accelerate: limits of each kind are reached."""
    p = talos()
    return replace(p, friction=0.03, torque=0.4 * p.torque, velocity=0.5 * np.ones(32), acceleration=np.full(32, 6.0), most=560.0)


PROBLEMS = {"usual": talos, "loose": loose, "tight": tight}


def peer_or_skip(p: Standing, solver: str = "eiquadprog-fast") -> TsidPeer:
    try:
        return tsid_peer(p, solver)
    except NoPeerError as error:
        pytest.skip(str(error))


def states(p: Standing, rng: np.random.Generator, count: int = SAMPLES, size: float = 1.0) -> list[tuple[np.ndarray, np.ndarray]]:
    """Near the motion, feet and all a little off."""
    q, v = motion(p, count)
    dq, dv = rng.standard_normal((2, count, p.model.nv))
    return list(zip(ff.integrate(p.model, q, size * 0.02 * dq), v + size * 0.05 * dv, strict=True))


@pytest.mark.parametrize("kind", PROBLEMS)
def test_the_quadratic_program_is_the_same_entry_by_entry(kind):
    p = PROBLEMS[kind]()
    peer = peer_or_skip(p)
    n, forces = p.model.nv, 12 * len(p.feet)
    for q, v in states(p, fresh(kind)):
        theirs = peer.solver.retrieveQPData(peer.formulation.computeProblemData(0.0, *peer.state(q, v)))
        order = np.rint(peer.state(q, np.arange(float(n)))[1]).astype(int)  # our coordinate behind each of theirs
        x, joints = np.append(order, np.arange(n, n + forces)), order[6:] - 6
        ours = program(p, q, v)
        close(np.array(theirs.H), ours.H[np.ix_(x, x)], EXACT, what="H")
        close(np.array(theirs.g), ours.g[x], EXACT, what="g")
        close(np.array(theirs.CE), ours.E[:, x], EXACT, what="E")
        close(-np.array(theirs.ce0), ours.e, EXACT, what="e")
        C, lower, upper = _one_sided(p, np.array(theirs.CI), np.array(theirs.ci0))
        rows = np.concatenate([np.arange(34), 34 + joints, 34 + len(joints) + joints])
        close(C, ours.C[np.ix_(rows, x)], EXACT, what="C")
        close(lower, ours.lower[rows], EXACT, what="lower")
        close(upper, ours.upper[rows], EXACT, what="upper")


def _one_sided(p: Standing, CI: np.ndarray, ci0: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """C, lower, upper of CI x + ci0 >= 0, which has C and -C of each constraint; rows of the base, without limits, left out."""
    kept, lower, upper, at = [], [], [], 0
    n = p.model.nv
    for size, free in ((17, 0), (17, 0), (n - 6, 0), (n, 6)):
        first, second = slice(at + free, at + size), slice(at + size + free, at + 2 * size)
        np.testing.assert_array_equal(CI[first], -CI[second])
        np.testing.assert_array_equal(ci0[at : at + free], 1e10)
        kept.append(CI[first]); lower.append(-ci0[first]); upper.append(ci0[second])
        at += 2 * size
    assert at == len(CI)
    return np.vstack(kept), np.concatenate(lower), np.concatenate(upper)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("kind", PROBLEMS)
def test_accelerations_torques_and_wrenches_agree(kind, solver):
    p = PROBLEMS[kind]()
    peer = peer_or_skip(p, solver)
    n, reached = p.model.nv, 0
    for q, v in states(p, fresh(kind, solver)):
        theirs = peer.answer(q, v)
        s = program(p, q, v)
        found = solve_qp(s.H, s.g, np.vstack([s.E, s.C]), np.concatenate([s.e, s.lower]), np.concatenate([s.e, s.upper]))
        a, f = found.x[:n], found.x[n:].reshape(len(p.feet), 12)
        A, h = equations(p, q, v)
        close(a, theirs.a, SOLVED, what="accelerations")
        close((A @ found.x + h)[6:], theirs.torque, SOLVED, what="torques")
        close(f @ generator(p).T, theirs.wrenches, SOLVED, what="wrenches")
        tau = ff.inverse_dynamics(p.model, q, v, theirs.a, external=dict(zip(p.feet, theirs.wrenches, strict=True)))
        close(tau, np.append(np.zeros(6), theirs.torque), SOLVED, what="equations of motion")
        values = s.C @ found.x
        near = np.minimum(values - s.lower, s.upper - values) < 1e-6
        reached = reached | near
    limits = {"friction": [*range(16), *range(17, 33)], "normal": [16, 33], "torque": range(34, 66), "joints": range(66, 98)}
    met = {name for name, at in limits.items() if reached[list(at)].any()}
    if kind == "tight":
        assert met == set(limits)
    if kind == "loose":  # a corner that no force is needed in stays at friction's limit
        assert not met & {"torque", "joints"}


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
