"""The statements of docs/conventions.md about Pinocchio and MuJoCo, each tried on the library it speaks of."""

from pathlib import Path

import closeness
import mujoco
import numpy as np
import pinocchio as pin
import pytest
from closeness import central, rounding
from spatial_samples import random_pose, random_twist

from freeflyer.model.description import JOINT_KINDS
from freeflyer.spatial import inertia, quaternion, se3, twist, wrench

pytestmark = pytest.mark.peers

PAGE = Path(__file__).parents[2] / "docs" / "conventions.md"
COM, MASS = np.array([0.1, -0.2, 0.3]), 2.5
TURN, DIAGONAL = np.array([0.2, -0.3, 0.1, 0.9]), np.array([0.05, 0.06, 0.08])
GRAVITY = np.array([0.0, 0.0, -9.81])
ROUNDING = rounding(4500)  # of another library's poses and inertias


def close(found, expected, tolerance=ROUNDING):
    closeness.close(found, expected, tolerance, most=1.0)


@pytest.fixture
def body():
    """Mass, com and rotational inertia in the link's axes, from diaginertia in axes of its own."""
    R = quaternion.to_matrix(quaternion.normalize(TURN))
    I = R @ np.diag(DIAGONAL) @ R.T
    return MASS, COM, 0.5 * (I + I.T)


@pytest.fixture
def state():
    return random_pose(), random_twist(seed=1), random_twist(seed=2)


def newton_euler(body, X, v, a):
    """tau of a free body in our coordinates: I a + v x (I v) - weight."""
    S, R = inertia.matrix(*body), X[:3, :3]
    weight = wrench.at_point(R.T @ (MASS * GRAVITY), COM)
    return S @ a + wrench.cross(v, S @ v) - weight


def mujoco_model():
    x, y, z, w = quaternion.normalize(TURN)
    return mujoco.MjModel.from_xml_string(f"""<mujoco><option gravity="0 0 -9.81"/><worldbody><body><freejoint/>
      <inertial pos="{COM[0]} {COM[1]} {COM[2]}" quat="{w:.17g} {x:.17g} {y:.17g} {z:.17g}" mass="{MASS}"
      diaginertia="{DIAGONAL[0]} {DIAGONAL[1]} {DIAGONAL[2]}"/></body></worldbody></mujoco>""")


def mujoco_state(X, v):
    """The body at that pose, with that body twist."""
    model = mujoco_model()
    data = mujoco.MjData(model)
    p, q = se3.to_position_quaternion(X)
    data.qpos[:] = np.append(p, quaternion.to_wxyz(q))
    data.qvel[:] = np.append(X[:3, :3] @ v[:3], v[3:])
    return model, data


def test_mujoco_free_joint(body, state):
    X, v, a = state
    R = X[:3, :3]
    model, data = mujoco_state(X, v)
    data.qacc[:] = np.append(R @ (a[:3] + np.cross(v[3:], v[:3])), a[3:])
    mujoco.mj_inverse(model, data)
    tau = np.append(R.T @ data.qfrc_inverse[:3], data.qfrc_inverse[3:])
    close(tau, newton_euler(body, X, v, a))
    M, T = np.zeros((6, 6)), np.eye(6)
    T[:3, :3] = R
    for column, unit in zip(M, np.eye(6)):
        mujoco.mj_mulM(model, data, column, unit)
    close(T.T @ M @ T, inertia.matrix(*body))
    jacp, jacr = np.zeros((3, 6)), np.zeros((3, 6))
    mujoco.mj_jac(model, data, jacp, jacr, data.xpos[1], 1)
    close(np.vstack([jacp, jacr]) @ T, twist.expression_matrix(X, "body", "mixed"))


def test_mujoco_com_velocity_and_applied_force(body, state):
    """cvel is [angular; linear] at the com of the tree, along the world's axes; xfrc_applied [force; torque] there."""
    X, v, _ = state
    R = X[:3, :3]
    model, data = mujoco_state(X, v)
    mujoco.mj_forward(model, data)
    at_com = twist.change_frame(se3.inverse(se3.from_position_rotation(R @ COM, np.eye(3))),
                                twist.change_expression(v, X, "body", "mixed"))  # fmt: skip
    close(data.cvel[1], np.roll(at_com, 3))
    F = random_twist(seed=7)
    qfrc, before = np.zeros(6), data.qacc.copy()
    mujoco.mj_applyFT(model, data, F[:3], F[3:], data.xipos[1], 1, qfrc)
    ours = wrench.change_frame(se3.from_position_rotation(COM, np.eye(3)), np.append(R.T @ F[:3], R.T @ F[3:]))
    close(np.append(R.T @ qfrc[:3], qfrc[3:]), ours)
    data.xfrc_applied[1] = F
    mujoco.mj_forward(model, data)
    gained = data.qacc - before
    close(inertia.matrix(*body) @ np.append(R.T @ gained[:3], gained[3:]), ours, 1e-10)


def test_mujoco_ball_joint_turns_by_the_childs_axes():
    model = mujoco.MjModel.from_xml_string("""<mujoco><worldbody><body><joint type="ball"/>
      <geom size="0.1"/></body></worldbody></mujoco>""")
    q, w, h = quaternion.normalize(TURN), np.array([0.3, -0.2, 0.5]), 1e-3
    moved = quaternion.to_wxyz(q).copy()
    mujoco.mj_integratePos(model, moved, w, h)
    close(quaternion.from_wxyz(moved), quaternion.multiply(q, quaternion.exp(h * w)))


def pinocchio_model(joint, body):
    model = pin.Model()
    i = model.addJoint(0, joint, pin.SE3.Identity(), "joint")
    model.appendBodyToJoint(i, pin.Inertia(*body), pin.SE3.Identity())
    return model, model.createData()


def test_pinocchio_free_joint(body, state):
    X, v, a = state
    model, data = pinocchio_model(pin.JointModelFreeFlyer(), body)
    q = np.concatenate(se3.to_position_quaternion(X))
    close(pin.rnea(model, data, q, v, a), newton_euler(body, X, v, a))
    close(pin.crba(model, data, q), inertia.matrix(*body))
    pin.forwardKinematics(model, data, q, v, a)
    pin.updateFramePlacements(model, data)
    frames = {"body": pin.LOCAL, "mixed": pin.LOCAL_WORLD_ALIGNED, "world": pin.WORLD}
    for name, frame in frames.items():
        ours = twist.change_expression(v, X, "body", name)
        close(ours, pin.getVelocity(model, data, 1, frame).vector)
    classical = pin.getClassicalAcceleration(model, data, 1, pin.LOCAL).vector
    close(twist.classical_acceleration(a, v), classical)
    mixed = pin.getClassicalAcceleration(model, data, 1, pin.LOCAL_WORLD_ALIGNED).vector
    close(twist.change_rate_expression(a, v, X, "body", "mixed"), mixed)
    close(pin.integrate(model, q, v)[:3], (X @ se3.exp(v))[:3, 3])


def test_pinocchio_sorts_siblings_by_joint_name():
    links = "".join(f"<link name='{n}'/>" for n in "wab")
    joints = "".join(f"<joint name='{n}' type='revolute'><parent link='w'/><child link='{n}'/><axis xyz='0 0 1'/>"
                     "<limit lower='-1' upper='1' effort='1' velocity='1'/></joint>" for n in "ba")  # fmt: skip
    assert list(pin.buildModelFromXML(f"<robot name='r'>{links}{joints}</robot>").names)[1:] == ["a", "b"]


def test_pinocchio_planar_joint_moves_by_its_body_twist(body):
    """x, y rates are the rotation by the angle times its velocity; forces turn alike."""
    model, data = pinocchio_model(pin.JointModelPlanar(), body)
    t, theirs = 0.7, np.array([0.3, -0.4, 0.5])
    q = np.array([1.0, 2.0, np.cos(t), np.sin(t)])
    R = np.array([[np.cos(t), -np.sin(t)], [np.sin(t), np.cos(t)]])
    rate = central(lambda h: pin.integrate(model, q, h * theirs)[:2])
    close(rate, R @ theirs[:2], 1e-9)
    pin.forwardKinematics(model, data, q, theirs)
    close(data.v[1].vector[[0, 1, 5]], theirs)
    tau, X = pin.rnea(model, data, q, theirs, np.zeros(3)), data.oMi[1].homogeneous
    world = wrench.change_expression(data.f[1].vector, X, "body", "mixed")  # along x and y, about the joint's normal
    close(np.append(R @ tau[:2], tau[2]), world[[0, 1, 5]])


def test_pinocchio_continuous_and_spherical_joints(body):
    t, h = 0.7, 1e-3
    model, data = pinocchio_model(pin.JointModelRUBZ(), body)
    pin.forwardKinematics(model, data, np.array([np.cos(t), np.sin(t)]))
    assert (model.nq, model.nv) == (2, 1)
    close(data.oMi[1].rotation, quaternion.to_matrix(quaternion.from_axis_angle([0, 0, 1], t)))
    model, data = pinocchio_model(pin.JointModelSpherical(), body)
    q, w = quaternion.normalize(TURN), np.array([0.3, -0.2, 0.5])
    pin.forwardKinematics(model, data, q)
    close(data.oMi[1].rotation, quaternion.to_matrix(q))
    close(pin.integrate(model, q, h * w), quaternion.multiply(q, quaternion.exp(h * w)))


def test_pinocchio_universal_and_helical_joints_are_ours(body):
    x, y = np.eye(3)[:2]
    model, data = pinocchio_model(pin.JointModelUniversal(x, y), body)
    pin.forwardKinematics(model, data, np.array([0.4, 0.9]))
    about = quaternion.from_axis_angle
    close(data.oMi[1].rotation, quaternion.to_matrix(quaternion.multiply(about(x, 0.4), about(y, 0.9))))
    model, data = pinocchio_model(pin.JointModelHelicalUnaligned(y, 0.25), body)
    pin.forwardKinematics(model, data, np.array([2.0]))
    close(data.oMi[1].homogeneous, se3.exp(2.0 * np.append(0.25 * y, y)))


def test_the_page_names_every_joint_kind_and_only_functions_that_exist():
    text = PAGE.read_text()
    for kind in JOINT_KINDS:
        assert kind in text, kind
    from freeflyer import spatial

    words = (w for w in text.replace("`", " ").replace(",", " ").split() if w.startswith("spatial."))
    for name in (w for w in words if w.strip(".();").count(".") > 1):
        module, function = name.strip(".();").split(".")[1:3]
        assert function in getattr(spatial, module).__all__, name
