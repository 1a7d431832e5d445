"""Levels of inverse kinematics end at an optimum: certificates by differences of errors alone, and scipy finds nothing better."""

import numpy as np
import pytest
from robots_on_disk import MODELS, example, needs_examples, needs_models
from scipy.optimize import least_squares, lsq_linear, minimize
from seeds import fresh

import freeflyer as ff
from freeflyer import control

STEP = 1e-5  # m, rad: of central differences
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


def differences(f, n):
    """Derivative (m, n) of f at 0."""
    return np.array([(np.asarray(f(STEP * e)) - f(-STEP * e)) / (2.0 * STEP) for e in np.eye(n)]).T


def slope(model, tasks, level, q, above):
    """|g + J_above^T lambda + mu| / (|J| |e|) of the best multipliers, by differences; mu of joints at limits push inwards."""
    n = model.nv
    e, J = errors(model, tasks, level, q, np.zeros(n)), differences(lambda d: errors(model, tasks, level, q, d), n)
    rows = [differences(lambda d, k=k: errors(model, tasks, k, q, d), n) for k in above]
    at = [(j.iv, side) for j in model.joints if j.nv == 1 for side, end in ((-1, model.position_lower), (1, model.position_upper))
          if abs(q[j.iq] - end[j.iv]) < 1e-6]  # fmt: skip
    sides = np.array([side * np.eye(n)[k] for k, side in at]).reshape(-1, n)
    C = np.vstack([*rows, sides])
    free = [-np.inf] * (len(C) - len(sides)) + [0.0] * len(sides)
    g = differences(lambda d: [0.5 * np.sum(errors(model, tasks, level, q, d) ** 2)], n)[0]
    left = lsq_linear(C.T, -g, (free, np.inf), tol=1e-14, max_iter=1000)
    return np.linalg.norm(left.fun) / (np.linalg.norm(J) * np.linalg.norm(e))


@pytest.mark.slow
@needs_examples
@needs_models
@pytest.mark.parametrize("spread", [0.03, 0.2])  # at 20 cm the centre of mass is often out of reach
@pytest.mark.parametrize(
    "name", ["talos_reduced", "icub", "g1_29dof_rev_1_0", "romeo_small", "simple_humanoid", "tocabi", "19 joints"]
)
def test_every_level_ends_at_an_optimum(name, spread):
    rng = fresh(name, int(100 * spread))
    model, q, feet, hand = stand(name)
    stopped = 0
    for _ in range(3):
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
                assert slope(model, tasks, level.level, found.q, above) < 3e-6
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

        bounds = (-np.full(model.nv, np.inf), np.full(model.nv, np.inf))
        for j in (j for j in model.joints if j.nv == 1):
            bounds[0][j.iv] = model.position_lower[j.iv] - found.q[j.iq] - 1e-12
            bounds[1][j.iv] = model.position_upper[j.iv] - found.q[j.iq] + 1e-12
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
