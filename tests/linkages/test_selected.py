"""Passive joints in the motors' place (Kangaroo paper, eqs. (21)-(23)): dense algebra, power, closed motions."""

import freeflyer as ff
import functools
import numpy as np
import pytest
from closeness import fresh, refused
from freeflyer.errors import InputError, UnknownNameError
from freeflyer.linkages import (AssemblyError, LinkageError, expand_motion, partition, selected_posture, sweep,
    transmission)  # fmt: skip
from kangaroo_leg import leg, whole
from linkage_samples import MASKS, planar

JOINTS = ("hip_yaw", "hip_roll", "hip_pitch", "knee", "ankle_pitch", "ankle_roll")
LEFT, BOTH = [f"left_{n}" for n in JOINTS], [f"{s}_{n}" for n in JOINTS for s in ("right", "left")]
REAL = [f"leg_{s}_{n}_joint" for s in ("left", "right") for n in ("1", "2", "3", "knee", "4", "5")]
SHARE = 0.37  # of each stroke: a posture without symmetry


@functools.cache
def five_bar() -> ff.Model:
    return planar((0.2, 0.5), (0.35, 0.45), 0.3, MASKS["point"], actuated=("l0", "r0"))


def bent(model: ff.Model) -> np.ndarray:
    """q (nq,): all motors a good part into their strokes."""
    q = partition(model).q
    for k, name in enumerate(model.actuated):
        info = model.joint(name)
        low, high = model.position_lower[info.iv], model.position_upper[info.iv]
        target = (SHARE + 0.02 * (k % 4)) * (high - low) + low if high - low < 1.0 else q[info.iq] + 0.1
        q = sweep(model, {name: [target]}, q=q).q.reshape(-1)
    return q


def dense(model: ff.Model, q: np.ndarray, joints: list[str]) -> np.ndarray:
    """P J_m by one least-squares solution over all rows and all passive coordinates of the tree."""
    split = partition(model)
    J = ff.linkages.constraint_jacobian(model, q)[split.rows]
    J_m = -np.linalg.solve(J[:, split.dependent], J[:, [model.joint(n).iv for n in model.actuated]])
    rows = [int(np.flatnonzero(split.dependent == model.joint(n).iv)[0]) for n in joints]
    return J_m[rows]


CASES = [(leg, LEFT), (whole, BOTH), (five_bar, ["l1", "r1"])]


def check(model: ff.Model, joints: list[str], q: np.ndarray) -> None:
    rng = fresh(3)
    split, n = partition(model), len(joints)
    A = dense(model, q, joints)
    np.testing.assert_allclose(transmission(model, q, joints).jacobian, A, rtol=1e-8, atol=1e-9 * np.abs(A).max())
    rates, forces = rng.standard_normal((2, n))
    motors = transmission(model, q, joints).velocities(rates)
    np.testing.assert_allclose(A @ motors, rates, rtol=1e-6, atol=1e-9)
    back = transmission(model, q, joints).joint_forces(transmission(model, q, joints).forces(forces))
    np.testing.assert_allclose(back, forces, rtol=1e-6, atol=1e-8)
    tau = rng.standard_normal(n)
    at_joints = transmission(model, q, joints).joint_forces(tau)
    assert tau @ motors == pytest.approx(at_joints @ rates, rel=1e-8)
    assert forces @ rates == pytest.approx(transmission(model, q, joints).forces(forces) @ motors, rel=1e-8)
    # along a closed motion the selected joints move as wanted, to second order in time
    wanted = 0.1 * rng.standard_normal(n)
    others = 0.1 * rng.standard_normal(len(split.independent) - n)
    ua = transmission(model, q, joints).velocities(0.1 * rates, others=others)
    ua_dot = transmission(model, q, joints).accelerations(0.1 * rates, wanted, others=others)
    u, u_dot = np.zeros((2, len(split.independent)))
    is_motor = np.isin(split.independent, split.actuated)
    u[is_motor], u[~is_motor], u_dot[is_motor] = ua, others, ua_dot
    iq, h = [model.joint(j).iq for j in joints], 1e-3
    base = len(split.base)
    at = []
    for t in (-h, h):
        way = u * t + 0.5 * u_dot * t * t
        way[:base] = 0.0  # loops inside of the robot do not depend on its base
        at.append(ff.integrate(ff.close_loops(model), q, way)[iq])
    np.testing.assert_allclose((at[1] - at[0]) / (2 * h), 0.1 * rates, atol=2e-4 * max(1.0, np.abs(rates).max()))
    np.testing.assert_allclose((at[1] + at[0] - 2 * q[iq]) / h**2, wanted, atol=3e-3)


@pytest.mark.parametrize(("make", "joints"), CASES)
def test_against_algebra_power_and_differences(make, joints):
    check(make(), joints, bent(make()))


def test_the_real_kangaroo_and_motors_named(models_folder):
    model = ff.load(models_folder / "kangaroo/kangaroo.xml")
    check(model, REAL, bent(model))
    # Battobot's hips are in series: its knees and ankles are selected by themselves, while the hips move as given
    model = ff.load(models_folder / "battobot/robot.urdf", loops=models_folder / "battobot/robot.yaml")
    split, rng = partition(model), fresh(2)
    joints = ["ankley_left", "anklex_left", "knee_left", "knee_right", "anklex_right", "ankley_right"]
    motors = [n for n in model.actuated if n.startswith("motor")]
    rates, others = rng.standard_normal(6), rng.standard_normal(len(split.independent) - 6)
    found = transmission(model, split.q, joints, motors).velocities(rates, others=others)
    columns = [int(np.flatnonzero(split.independent == model.joint(n).iv)[0]) for n in motors]
    u = np.zeros(len(split.independent))
    u[columns], u[np.setdiff1d(np.arange(len(u)), columns)] = found, others
    v = expand_motion(model, split.q, u, 0 * u)[0]
    np.testing.assert_allclose(v[[model.joint(n).iv for n in joints]], rates, atol=1e-12)
    tau = rng.standard_normal(6)
    at_joints = transmission(model, split.q, joints, motors).joint_forces(tau)
    assert tau @ found == pytest.approx(at_joints @ rates)
    with pytest.raises(InputError, match=r"6 joints selected for the motors, which have 12.*name the motors"):
        transmission(model, split.q, joints).velocities(rates)
    with pytest.raises(InputError, match=r"'left_spherical_foot_1' .spherical. has no position"):
        selected_posture(model, ["left_spherical_foot_1"], np.zeros(3), motors=motors[:3])
    cassie = ff.load(models_folder / "cassie/cassie.xml")
    owner = [j.name for j in cassie.joints if j.iv in partition(cassie).free and j.nv]
    with pytest.raises(InputError, match=f"joint '{owner[0]}' does not follow the motors"):
        transmission(cassie, partition(cassie).q, [owner[0]], cassie.actuated[:1])


def test_other_motors_are_reckoned_with():
    """An ankle depends on the knee: its motors make up for what the leg's length does, in velocities and accelerations."""
    model, rng = leg(), fresh(4)
    q, split = bent(leg()), partition(leg())
    joints, motors = ["left_ankle_pitch", "left_ankle_roll"], ["left_ankle_outer_motor", "left_ankle_inner_motor"]
    others, others_rates = 0.1 * rng.standard_normal((2, 4))
    u, u_dot = np.zeros((2, 6))
    columns = [int(np.flatnonzero(split.independent == model.joint(n).iv)[0]) for n in motors]
    rest = np.setdiff1d(np.arange(6), columns)
    u[rest], u_dot[rest] = others, others_rates
    u[columns] = transmission(model, q, joints, motors).velocities([0.3, -0.2], others=others)
    u_dot[columns] = transmission(model, q, joints, motors).accelerations([0.3, -0.2], [1.0, 2.0], others=others,
        others_rates=others_rates)  # fmt: skip
    v, a = expand_motion(model, q, u, u_dot)
    at = [model.joint(n).iv for n in joints]
    drift = expand_motion(model, q, u, 0.0 * u)[1][at]
    np.testing.assert_allclose(transmission(model, q, joints, motors).bias(u), drift, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(v[at], [0.3, -0.2], atol=1e-12)
    np.testing.assert_allclose(a[at], [1.0, 2.0], atol=1e-10)
    alone = transmission(model, q, joints, motors).velocities([0.3, -0.2])
    assert np.abs(alone - u[columns]).max() > 1e-6


def test_postures_by_selected_joints():
    model = leg()
    q = bent(model)
    names = ["left_ankle_roll", *LEFT[:5]]
    iq = [model.joint(n).iq for n in names]
    targets = q[iq] * np.array([1.0, 0.5, 0.1])[:, None]
    found = selected_posture(model, names, targets)
    np.testing.assert_allclose(found[:, iq], targets, atol=1e-9)
    assert np.abs(ff.linkages.constraint_residual(model, found)).max() < 1e-8
    np.testing.assert_allclose(found[0], q, atol=1e-7)  # the same assembly mode, by its joints instead of its motors
    again = sweep(model, {n: [found[1, model.joint(n).iq]] for n in model.actuated}).q.reshape(-1)
    np.testing.assert_allclose(found[1], again, atol=1e-7)
    model, q = leg(), partition(leg()).q
    ankle = ["left_ankle_pitch", "left_ankle_roll"]
    motors = ["left_ankle_outer_motor", "left_ankle_inner_motor"]
    far = q[[model.joint(n).iq for n in ankle]] + [-0.75, 0.0]
    with pytest.raises(InputError, match=r"'left_ankle_outer_motor' would have to stand at -?0.02.*outside of its range -0.02"):
        selected_posture(model, ankle, far, motors=motors)
    free = selected_posture(model, ankle, far, motors=motors, limits=False)
    np.testing.assert_allclose(free[[model.joint(n).iq for n in ankle]], far, atol=1e-9)
    with pytest.raises(InputError, match=r"'left_ankle_roll' has .* at 0.6 rad in posture 1 of 2, outside of its range -0.47"):
        selected_posture(model, ankle, [[0.0, 0.0], [0.0, 0.6]], motors=motors)
    with pytest.raises(AssemblyError, match=r"does not reach the target positions.*left_ankle_pitch -?[0-9.]+ of -3"):
        selected_posture(model, ankle, [-3.0, 0.0], motors=motors, limits=False)


@pytest.mark.parametrize(("joints", "error", "words"), [
    (LEFT[:5], InputError, r"5 joints selected for the motors, which have 6: P J_m is 5 x 6"),
    ([*LEFT, "left_thigh"], InputError, "7 joints selected"),
    ([*LEFT[:5], "left_ankle_rol"], UnknownNameError, "no joint is named 'left_ankle_rol'.*'left_ankle_roll'"),
    ([*LEFT[:5], LEFT[0]], InputError, "names 'left_hip_yaw' 2 times"),
    ([*LEFT[:5], "left_yaw_motor"], InputError, "joint 'left_yaw_motor' has a motor: select passive joints"),
])  # fmt: skip
def test_bad_selections(joints, error, words):
    refused(error, words, lambda: transmission(leg(), partition(leg()).q, joints).velocities(np.zeros(len(joints))))


def test_selections_that_do_not_determine_the_motors():
    """Two joints of the knee and one of the ankle: an ankle motor can move while they are at rest."""
    joints = [*LEFT[:4], "left_thigh", "left_ankle_pitch"]
    words = "'left_ankle_outer_motor', 'left_ankle_inner_motor' can move while all of them are at rest.*'left_knee', 'left_thigh'"
    bad = transmission(leg(), bent(leg()), joints)
    for call in (bad.velocities, bad.joint_forces):
        with pytest.raises(LinkageError, match=words) as caught:
            call(np.ones(6))
    assert caught.value.data["joints"] == ("left_knee", "left_thigh")
    q = np.stack([partition(leg()).q, bent(leg())])
    refused(LinkageError, r"at posture [01] of the batch", lambda: transmission(leg(), q, joints).velocities(np.ones(6)))
