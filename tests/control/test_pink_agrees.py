"""Differential inverse kinematics of TALOS by pink and mink: the same targets, and the same first step."""

import freeflyer as ff
import numpy as np
import pytest
from benchmarks.peers import SOLVERS
from benchmarks.pinocchio_peer import peer_for
from benchmarks.standing import TOLERANCE, Reach, own_solver, reach, reach_error
from closeness import close, fresh
from freeflyer.control.limits import PositionBounds
from robots_on_disk import needs_examples

pytestmark = [pytest.mark.peers, needs_examples]
# pink squares its rows: errors of solved steps are rounding times the squared condition of all rows, some 1e3
STEP = 1e-9


@pytest.fixture(scope="module")
def pink():
    return pytest.importorskip("pink")


@pytest.mark.parametrize("target", [(0.02, 0.5, False), (0.1, 0.5, True), (0.4, 1.5, True)])
@pytest.mark.parametrize("peer", SOLVERS)
def test_all_reach_the_targets(peer, target):
    pytest.importorskip(peer.split(",")[0])
    r = reach(*target)
    for run in (own_solver(r), SOLVERS[peer](r)):
        q, steps = run()
        assert reach_error(r, q) <= 2.0 * TOLERANCE  # their errors are in the frame's axes, and their linear part is log6's
        assert steps < 10
        assert not r.limits or PositionBounds.of(r.problem.model, True).gap(q).max(initial=0.0) <= TOLERANCE


def away(rng: np.random.Generator) -> tuple[Reach, np.ndarray]:
    """The problem, and a configuration near its start."""
    r = reach()
    return r, ff.integrate(r.problem.model, r.q, 0.05 * rng.standard_normal(r.problem.model.nv))


def test_our_first_step_is_pinks_where_the_errors_are_the_same(pink):
    """Centre of mass and posture are far, feet and pelvis where they shall stay: there log6 and its derivative are 0 and 1."""
    rng = fresh()
    for _ in range(5):
        r, q = away(rng)
        model, p = r.problem.model, r.problem
        peer = peer_for(model, p.urdf, p.hand)
        com = ff.center_of_mass(model, q) + 0.03 * rng.standard_normal(3)
        posture = ff.integrate(model, q, 0.1 * rng.standard_normal(model.nv))
        costs = dict(zip((*p.feet, p.pelvis, "com", "posture"), rng.uniform(0.5, 2.0, 5)))
        ours: list[ff.control.Task] = []
        theirs = []
        for frame in (*p.feet, p.pelvis):
            X = ff.frame_pose(model, q, frame)
            ours.append(ff.control.FramePoseTask(frame, X, weight=costs[frame] ** 2))
            theirs.append(pink.tasks.FrameTask(frame, position_cost=costs[frame], orientation_cost=costs[frame]))
            theirs[-1].set_target(peer.pin.SE3(X[:3, :3], X[:3, 3]))
        ours.append(ff.control.CenterOfMassTask(com, weight=costs["com"] ** 2))
        ours.append(ff.control.PostureTask(posture, weight=costs["posture"] ** 2))
        theirs += [pink.tasks.ComTask(cost=float(costs["com"])), pink.tasks.PostureTask(cost=float(costs["posture"]))]
        theirs[-2].set_target(com)
        theirs[-1].set_target(ff.to_pinocchio(model, peer.model, posture).q)
        at = pink.Configuration(peer.model, peer.data, ff.to_pinocchio(model, peer.model, q).q)
        at.integrate_inplace(pink.solve_ik(at, theirs, 1.0, "daqp", limits=[], safety_break=False), 1.0)
        found = ff.control.inverse_kinematics(model, ours, q, limits=False, iterations=1)
        assert np.abs(ff.difference(model, q, found.q)).max() > 1e-3
        close(found.q, ff.from_pinocchio(model, peer.model, at.q).q, STEP)
