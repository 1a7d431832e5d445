"""Inverse kinematics: poses are found, levels are strict and end at an optimum, limits hold, closed robots stay closed; pink and
mink reach the same targets for TALOS, by the same first step."""

import freeflyer as ff
import numpy as np
import pytest
from benchmarks.peers import SOLVERS
from benchmarks.pinocchio_peer import peer_for
from benchmarks.standing import TOLERANCE as REACHED, Reach, own_solver, reach, reach_error
from closeness import close, fresh, refused, slopes
from freeflyer import control
from freeflyer.control.kinematic_levels import CONTRACTION, LinearizedTasks
from freeflyer.control.limits import PositionBounds
from freeflyer.optimization import Level, solve_hierarchy
from problems import POINT_FEET, Own, humanoid, kangaroo, quadruped
from robots_on_disk import MODELS, example, needs_examples, needs_models
from scipy.optimize import least_squares, lsq_linear, minimize

TOLERANCE = 1e-9


def test_rows_of_weight_0_do_not_count_and_weights_of_one_task_do_not_matter():
    model, z = ff.robots.chain(6), 0.3 * np.ones(6)
    p = ff.frame_pose(model, 0.2 * np.ones(6), "tip")[:3, 3]
    assert control.inverse_kinematics(model, [control.FramePositionTask("tip", p + [0, 0, 9], weight=(1, 1, 0))], z).converged
    for weight in (1e-12, 1.0, 1e12):
        assert control.inverse_kinematics(model, [control.FramePositionTask("tip", p, weight=weight)], z).converged


def test_limits_hold_and_are_named():
    model, q = quadruped()
    feet = [control.FramePositionTask(x.frame, ff.frame_pose(model, q, x.frame)[:3, 3], level=0) for x in POINT_FEET]
    X = ff.frame_pose(model, q, model.joints[0].child)
    X[2, 3] -= 0.6  # the floor is nearer
    found = control.inverse_kinematics(model, [*feet, control.FramePoseTask(model.joints[0].child, X)], q)
    assert not found.converged
    at = [j for j in model.joints if j.nv == 1]
    for j in at:
        assert model.position_lower[j.iv] - 1e-9 <= found.q[j.iq] <= model.position_upper[j.iv] + 1e-9
    for name in found.active_limits:
        j = model.joint(name)
        x, ends = found.q[j.iq], (model.position_lower[j.iv], model.position_upper[j.iv])
        assert min(abs(x - e) for e in ends) <= 1e-9
    assert found.active_limits


def test_closed_robots_end_at_the_border_of_their_workspace():
    """Without limits legs go on until loops would not close: no error, and targets near the border are not refused."""
    rng, model = fresh(), kangaroo()
    q = ff.analysis.middle_posture(model)
    stay = control.FramePoseTask("right_sole", ff.frame_pose(model, q, "right_sole"), level=1)
    place = ff.frame_pose(model, q, "left_sole")[:3, 3]
    for _ in range(4):
        step = control.FramePositionTask("left_sole", place + rng.uniform(0.5, 1.0, 3), level=2)
        found = control.inverse_kinematics(model, [stay, step], q, limits=False)
        assert found.levels[0].outcome == "met"
        assert np.abs(ff.linkages.constraint_residual(model.tree, found.q)).max() < 1e-6


def own(task):
    """The same task, whose rows come from functions."""
    return Own(level=task.level, weight=task.weight, value=task.error, rows=task.jacobian)


@pytest.mark.parametrize(("name", "limits"), [
    ("humanoid", True), ("humanoid", False), ("kangaroo", True), pytest.param("kangaroo", False, marks=pytest.mark.slow),
])  # fmt: skip
def test_own_tasks_take_the_steps_of_the_librarys(name, limits):
    """The first, the last and all tasks by methods of their own, at targets in reach, at limits and out of reach."""
    rng = fresh(name, limits)
    model, q = humanoid() if name == "humanoid" else (kangaroo(), ff.analysis.middle_posture(kangaroo()))
    hand = "left_palm" if name == "humanoid" else "left_sole"
    for far in (0.02, 0.3, 2.0) if name == "humanoid" else (0.01, 1.0):
        place = ff.frame_pose(model, q, hand)[:3, 3] + far * rng.uniform(0.5, 1.0, 3)
        tasks = [control.FramePoseTask("right_sole", ff.frame_pose(model, q, "right_sole"), weight=(1, 2, 3, 4, 5, 6), level=1),
                 control.FramePositionTask(hand, place, level=2),
                 control.CenterOfMassTask(ff.center_of_mass(model, q), level=2, weight=(1.0, 0.5, 0.0))]  # fmt: skip
        plain = control.inverse_kinematics(model, tasks, q, limits=limits)
        mixtures = [own(tasks[0]), *tasks[1:]], [*tasks[:2], own(tasks[2])], list(map(own, tasks))
        for mixed in mixtures if far < 1.0 else mixtures[2:]:
            found = control.inverse_kinematics(model, mixed, q, limits=limits)
            if "stopped" in (found.levels[1].outcome, plain.levels[1].outcome):  # rounding decides about the way
                assert far >= 1.0
                continue
            other = {*found.active_limits} ^ {*plain.active_limits} if far < 1.0 else ()  # at limits up to rounding
            for joint in map(model.joint, other):
                low, high = model.position_lower[joint.iv], model.position_upper[joint.iv]
                for x in (found.q[joint.iq], plain.q[joint.iq]):
                    assert min(x - low, high - x) < 1e-6
            for a, b in zip(found.levels, plain.levels):
                assert a.outcome == b.outcome
                assert far > 0.1 or a.iterations == b.iterations
                assert a.residual == pytest.approx(b.residual, abs=1e-6)


def test_rows_that_come_and_go_and_starts_beyond_limits_are_refused():
    model = ff.robots.chain(3)
    fickle = Own(value=lambda m, q: np.ones(1 + (not q.any())), rows=lambda m, q: np.eye(3)[: 1 + (not q.any())])
    refused(ff.InputError, "has 1 rows here and had 2", control.inverse_kinematics, model, [fickle], np.zeros(3), limits=False)
    model = ff.robots.quadruped()
    q = ff.configuration(model, {"front_left_knee": 3.0})
    refused(ff.InputError, "beyond the limits of 'front_left_knee'", control.inverse_kinematics, model, [], q)


def problem(rng, limits):
    """(model, q, linearised tasks of two levels) of an arm whose target is far, with weights that differ a lot."""
    model = ff.robots.chain(8, base="free")
    q = ff.integrate(model, model.neutral, 0.3 * rng.standard_normal(model.nv))
    X = ff.frame_pose(model, ff.random_configuration(model, rng), "tip")
    tasks = [control.FramePoseTask("tip", X, level=1, weight=10.0 ** rng.uniform(-3.0, 0.0, 6)),
             control.CenterOfMassTask(rng.uniform(-0.3, 0.3, 3), level=2)]  # fmt: skip
    return model, q, LinearizedTasks.of(model, tasks, PositionBounds.of(model, limits), q)


def step(tasks, at, count, held):
    """The step of the first levels within limits, at most 1 rad or m. A solver of quadratic programs misses each level as much; its
    step may be another one, as levels can be all but flat."""
    low, high = np.minimum(at.low, 0.0), np.maximum(at.high, 0.0)
    low, high = np.where(held > 0.0, high, low), np.where(held < 0.0, low, high)
    rows = [Level(at.J[x], -at.e[x], -at.e[x], tasks.weights[x]) for x in tasks.levels[:count]]
    n = at.J.shape[1]
    least = Level(np.eye(n), np.zeros(n), np.zeros(n))
    levels = [Level(at.G, low, high), *rows, least]
    d, other = (solve_hierarchy(levels, solver=s, tolerance=1e-11).x for s in ("active-set", "daqp"))
    missed = [[tasks.weights[r] @ (at.J[r] @ x + at.e[r]) ** 2 for r in tasks.levels[:count]] for x in (d, other)]
    close(*missed, 1e-6)
    return d * min(1.0, 1.0 / np.abs(d).max())


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("limits", [True, False])
def test_a_step_is_that_of_the_rows_that_count(limits, count):
    rng, kept, apart = fresh(limits, count), [], 0
    for k in range(400):
        if k >= 40 and (apart or not limits):
            break
        model, q, tasks = problem(rng, limits)
        at = tasks.at(q)
        held = rng.choice([-1.0, 0.0, 0.0, 0.0, 1.0], len(at.low)) * (np.minimum(-at.low, at.high) < 0.3)
        upto = tasks.levels[count - 1].stop
        new, tried = tasks.walk(q, upto, 1e-9, 1, upto, held)
        there = ff.integrate(model, q, step(tasks, at, count, held))
        squares = [tasks.square(x, slice(0, upto)) for x in (at, tasks.at(there))]
        plain = [float(np.sum(x.e[:upto] ** 2)) for x in (at, tasks.at(there))]
        kept.append(squares[1] <= CONTRACTION * squares[0])
        apart += kept[-1] != (plain[1] <= CONTRACTION * plain[0])
        assert tried == 1
        close(new.q, there if kept[-1] else q, 1e-6)
    assert any(kept)
    assert apart or not limits  # weights decide


NEAR = 0.1  # rad or m
LEGS = {f"{s}LEG_{j}": a for s in "RL" for j, a in (("HIP_P", -0.35), ("KNEE", 0.7), ("ANKLE_P", -0.35))}


def stand(name):
    """(model, q, feet, hand) of a robot on its feet."""
    hand = {"talos_reduced": "gripper_left_base_link", "icub": "l_hand", "g1_29dof_rev_1_0": "left_rubber_hand", "19 joints":
            "left_rubber_hand", "romeo_small": "l_wrist", "simple_humanoid": "l_wrist",
            "tocabi": "L_Wrist2_Link"}[name]  # fmt: skip
    if name == "simple_humanoid":  # its file draws no soles
        model = ff.load(example("simple_humanoid.urdf"))
        low, high = (np.delete(x, range(6)) for x in (model.position_lower, model.position_upper))
        q = ff.configuration(model, LEGS)
        q[7:] = np.clip(q[7:], low + 0.02, high - 0.02)
        return model, q, ("l_ankle", "r_ankle"), hand
    path = MODELS / "tocabi/tocabi.urdf" if name == "tocabi" else example(f"{'g1_29dof_rev_1_0' if name[0] == '1' else name}.urdf")
    model, q, feet = control.stand_on_feet(ff.load(path), path=path)
    if name == "19 joints":  # ankles that do not roll: the centre of mass cannot go everywhere
        stiff = [j.name for j in model.joints if j.nv == 1 and ("wrist" in j.name or "ankle_roll" in j.name or "waist" in j.name)]
        angles = {j: q[model.joint(j).iq] for j in [x for x in stiff if x != "waist_yaw_joint"]}
        kept = {j.name: q[j.iq] for j in model.joints if j.nv == 1 and j.name not in angles}
        base = q[:7]
        model = ff.lock_joints(model, angles)
        q = ff.configuration(model, kept)
        q[:7] = base
    return model, q, tuple(foot.frame for foot in feet), hand


def targets(model, q, feet, hand, rng, spread):
    """Feet stay, the centre of mass goes so far (m), the hand up to 30 cm along each axis."""
    tasks = [control.FramePoseTask(foot, ff.frame_pose(model, q, foot), level=1) for foot in feet]
    tasks.append(control.CenterOfMassTask(ff.center_of_mass(model, q) + rng.uniform(-spread, spread, 3), level=2))
    return [*tasks, control.FramePositionTask(hand, ff.frame_pose(model, q, hand)[:3, 3] + rng.uniform(-0.3, 0.3, 3), level=3)]


def errors(model, tasks, level, q, d):
    """Errors of a level after a step d (nv,)."""
    there = ff.integrate(model, q, d)
    return np.concatenate([task.error(model, there) for task in tasks if task.level == level])


def slope(model, tasks, level, q, above):
    """|g + J_above^T lambda + mu| / (|J| |e|) of the best multipliers, by differences; mu of joints at limits push inwards."""
    n = model.nv
    e, J = errors(model, tasks, level, q, np.zeros(n)), slopes(lambda d: errors(model, tasks, level, q, d), n)
    rows = [slopes(lambda d, k=k: errors(model, tasks, k, q, d), n) for k in above]
    at = [(j.iv, side) for j in model.joints if j.nv == 1 for side, end in ((-1, model.position_lower), (1, model.position_upper))
          if abs(q[j.iq] - end[j.iv]) < 1e-6]  # fmt: skip
    sides = np.array([side * np.eye(n)[k] for k, side in at]).reshape(-1, n)
    C = np.vstack([*rows, sides])
    free = [-np.inf] * (len(C) - len(sides)) + [0.0] * len(sides)
    g = slopes(lambda d: [0.5 * np.sum(errors(model, tasks, level, q, d) ** 2)], n)[0]
    left = lsq_linear(C.T, -g, (free, np.inf), method="bvls")
    return np.linalg.norm(left.fun) / (np.linalg.norm(J) * np.linalg.norm(e))


@pytest.mark.slow
@needs_examples
@needs_models
@pytest.mark.parametrize("spread", [0.03, 0.2])  # at 20 cm the centre of mass is often out of reach
@pytest.mark.parametrize("name",
    ["talos_reduced", "icub", "g1_29dof_rev_1_0", "romeo_small", "simple_humanoid", "tocabi", "19 joints"])  # fmt: skip
def test_every_level_ends_at_an_optimum(name, spread):
    rng = fresh(name, int(100 * spread))
    model, q, feet, hand = stand(name)
    stopped = 0
    for _ in range(2):
        tasks = targets(model, q, feet, hand, rng, spread)
        found = control.inverse_kinematics(model, tasks, q)
        assert [level.level for level in found.levels] == [1, 2, 3]
        stopped += any(level.outcome == "stopped" for level in found.levels)
        for k, level in enumerate(found.levels):
            e = errors(model, tasks, level.level, found.q, np.zeros(model.nv))
            assert level.residual == pytest.approx(np.abs(e).max())
            above = [x.level for x in found.levels[:k]]
            if level.outcome == "met":
                assert np.abs(e).max() <= 1e-9
            elif level.outcome == "stationary" and all(x.outcome == "met" for x in found.levels[:k]):
                assert slope(model, tasks, level.level, found.q, above) < 1e-6
    assert stopped <= (spread > 0.1)  # 5 of 840 problems, as a level above ends at a saddle


@pytest.mark.parametrize("base", ["fixed", "free"])
def test_scipy_finds_nothing_better_for_one_level(base):
    """Bounded least squares of scipy, from where ours ends: targets in reach and out of reach of an arm with limits."""
    rng, model = fresh(base), ff.robots.chain(7, base=base)
    for _ in range(5):
        q = ff.integrate(model, model.neutral, 0.3 * rng.standard_normal(model.nv))
        task = control.FramePositionTask("tip", rng.uniform(-1.0, 1.0, 3), weight=(1.0, 2.0, 3.0))
        pose = control.FrameOrientationTask("tip", ff.frame_pose(model, ff.random_configuration(model, rng), "tip")[:3, :3])
        found = control.inverse_kinematics(model, [task, pose], q)

        def residuals(d, at=found.q, task=task, pose=pose):
            there = ff.integrate(model, at, d)
            return np.concatenate([np.sqrt([1.0, 2.0, 3.0]) * task.error(model, there), pose.error(model, there)])

        bounds = (-np.full(model.nv, NEAR), np.full(model.nv, NEAR))  # other minima may lie beyond
        for j in (j for j in model.joints if j.nv == 1):
            bounds[0][j.iv] = max(-NEAR, model.position_lower[j.iv] - found.q[j.iq] - 1e-12)
            bounds[1][j.iv] = min(NEAR, model.position_upper[j.iv] - found.q[j.iq] + 1e-12)
        best = least_squares(residuals, np.zeros(model.nv), "3-point", bounds, xtol=1e-14, ftol=1e-14, gtol=1e-14)
        ours = 0.5 * np.sum(residuals(np.zeros(model.nv)) ** 2)
        assert ours <= best.cost + 1e-12 + 1e-9 * ours, found.levels
        assert found.levels[0].outcome in ("met", "stationary")


def test_a_level_below_one_out_of_reach_is_tried_and_optimal():
    """An arm stretches to a target out of reach; below, its tip turns as far as it can (SLSQP, residuals above held)."""
    rng, model = fresh(), ff.robots.chain(6)
    for _ in range(4):
        q = rng.uniform(-0.5, 0.5, 6)
        far = control.FramePositionTask("tip", [*rng.uniform(-0.3, 0.3, 2), -2.0], level=0)
        X = ff.frame_pose(model, rng.uniform(-0.5, 0.5, 6), "tip")
        turned = control.FrameOrientationTask("tip", X[:3, :3], level=1)
        alone = control.inverse_kinematics(model, [far], q, limits=False)
        found = control.inverse_kinematics(model, [far, turned], q, limits=False)
        assert found.levels[0].outcome == "stationary"
        assert found.levels[1].outcome in ("met", "stationary"), found.levels
        assert np.linalg.norm(found.errors[0]) <= np.linalg.norm(alone.errors[0]) * (1.0 + 1e-9)
        assert np.linalg.norm(found.errors[1]) <= np.linalg.norm(turned.error(model, alone.q)) + 1e-9
        kept = {"type": "eq", "fun": lambda x, e=found.errors[0], far=far: far.error(model, x) - e}
        below = lambda x, turned=turned: np.sum(turned.error(model, x) ** 2)
        best = minimize(below, found.q, method="SLSQP", constraints=kept, options={"ftol": 1e-14, "maxiter": 300})
        assert np.abs(kept["fun"](best.x)).max() <= 1e-12
        assert below(found.q) <= best.fun + 1e-6  # the root of what it may leave of errors held, as the stretched arm is singular


@pytest.fixture(scope="module")
def pink():
    return pytest.importorskip("pink")


@needs_examples
@pytest.mark.peers
@pytest.mark.parametrize("target", [(0.02, 0.5, False), (0.1, 0.5, True), (0.4, 1.5, True)])
@pytest.mark.parametrize("peer", SOLVERS)
def test_all_reach_the_targets(peer, target):
    pytest.importorskip(peer.split(",")[0])
    r = reach(*target)
    for run in (own_solver(r), SOLVERS[peer](r)):
        q, steps = run()
        assert reach_error(r, q) <= 2.0 * REACHED  # their errors are in the frame's axes, and their linear part is log6's
        assert steps < 10
        assert not r.limits or PositionBounds.of(r.problem.model, True).gap(q).max(initial=0.0) <= REACHED


def away(rng: np.random.Generator) -> tuple[Reach, np.ndarray]:
    """The problem, and a configuration near its start."""
    r = reach()
    return r, ff.integrate(r.problem.model, r.q, 0.05 * rng.standard_normal(r.problem.model.nv))


@needs_examples
@pytest.mark.peers
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
        close(found.q, ff.from_pinocchio(model, peer.model, at.q).q, 1e-9)  # pink squares its rows, whose condition is some 1e3
