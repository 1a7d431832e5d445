"""States from and to MuJoCo: its own mass matrix, bias, accelerations and Jacobians, brought here by the converters, are ours."""

import freeflyer as ff
import mujoco
import numpy as np
import pickle
import pytest
from closeness import EXACT, central, close, distance, fresh, refused, slope_error
from freeflyer.model.description import JOINT_SIZES
from freeflyer.model.load import read, with_base
from pathlib import Path
from random_robots import random_description
from robots_on_disk import EXAMPLES, MODELS, example
from tangent import state

pytestmark = pytest.mark.peers

STATES = 3
KINDS = ("revolute", "continuous", "prismatic", "spherical", "cylindrical", "planar", "universal", "fixed")
FILES = ("kangaroo/kangaroo.xml", "cassie/cassie.xml")
EXAMPLE_URDFS = ("talos_reduced.urdf", "g1_29dof_rev_1_0.urdf", "solo12.urdf", "human.urdf", "baxter.urdf", "so101.urdf",
                 "panda.urdf", "talos_full_v2.urdf", "centauro.urdf", "double_pendulum_continuous.urdf")  # fmt: skip
BUILT_IN = ("humanoid", "quadruped", "space_manipulator", "aerial_manipulator", "holonomic_manipulator")
SAMPLES = (*FILES, *EXAMPLE_URDFS, *BUILT_IN, *range(8))  # 25; numbers: random trees of every kind that MuJoCo can hold

SCENE = """<mujoco><worldbody>
  <body name="crate" pos="3 0 0"><freejoint name="crate_joint"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body>
  <body name="trunk" pos="0 0 1"><freejoint/><inertial pos="0.1 0 0" mass="3" diaginertia="1 2 2"/>
    <body name="arm" pos="0.2 0 0"><joint name="shoulder" type="ball"/><inertial pos="0 0 0.3" mass="1" diaginertia="1 1 1"/>
      <body name="hand" pos="0 0 0.6"><joint name="wrist"/><inertial pos="0 0 0.1" mass="1" diaginertia="1 1 1"/></body>
    </body></body></worldbody></mujoco>"""
ROBOT = SCENE.replace(SCENE[SCENE.index("  <body name=\"crate\"") : SCENE.index("  <body name=\"trunk\"")], "")
BOLTED = ROBOT.replace("<freejoint/>", "")


def robot(sample: str | int) -> tuple[ff.Model, mujoco.MjModel, str]:
    """(ours, MuJoCo's, the MJCF text or path that both have read)."""
    if sample in FILES:
        if not MODELS.is_dir():
            pytest.skip(f"no robot models at {MODELS}: set FREEFLYER_MODELS")
        path = MODELS / str(sample)
        return ff.load(path), mujoco.MjModel.from_xml_path(str(path)), str(path)
    if isinstance(sample, int):
        rng = fresh(sample)
        d = random_description(rng, 8, KINDS, "free" if sample % 3 else "fixed", mimics=0.3, armature=False)
        joints = [ff.Joint(**{**vars(j), "placement": np.eye(4)}) if j.kind == "free" else j for j in d.joints]
        joints = [ff.Joint(**{**vars(j), "armature": (0.03,) * JOINT_SIZES[j.kind][1]}) for j in joints]
        text = ff.to_mjcf(ff.build(ff.Description("random", d.links, tuple(joints), d.sites)))
    elif sample in BUILT_IN:
        text = ff.to_mjcf(ff.robots.make(str(sample)))
    else:
        if not EXAMPLES.is_dir():
            pytest.skip("example-robot-data is not installed")
        text = ff.to_mjcf(ff.load(example(str(sample))))
    return ff.load(text), mujoco.MjModel.from_xml_string(text), text


def dynamics_of(mj: mujoco.MjModel, qpos: np.ndarray, qvel: np.ndarray) -> tuple[mujoco.MjData, np.ndarray]:
    """MuJoCo's data and mass matrix at a state."""
    data = mujoco.MjData(mj)
    data.qpos[:], data.qvel[:] = qpos, qvel
    mujoco.mj_fwdPosition(mj, data)
    mujoco.mj_fwdVelocity(mj, data)
    M, column = np.zeros((mj.nv, mj.nv)), np.zeros(mj.nv)
    for k in range(mj.nv):
        mujoco.mj_mulM(mj, data, column, np.eye(mj.nv)[k])
        M[:, k] = column
    return data, M


@pytest.mark.parametrize("sample", SAMPLES)
def test_mujoco_itself(sample: str | int) -> None:
    """M, bias, forward dynamics and Jacobians of MuJoCo through the converters."""
    model, mj, text = robot(sample)
    q, v, tau = state(model, fresh(), (STATES,))
    there = ff.to_mujoco(model, q, v, tau=tau)
    T = ff.mujoco_velocity_map(model, q)
    for k in range(STATES):
        data, M = dynamics_of(mj, there.qpos[k], there.qvel[k])
        found = ff.from_mujoco(model, data.qpos, data.qvel, bias_forces=data.qfrc_bias)
        assert np.array_equal(data.qvel, there.qvel[k])
        close(T[k] @ v[k], data.qvel)
        close(T[k].T @ M @ T[k], ff.mass_matrix(model, q[k]))
        close(found.bias_forces, ff.bias_forces(model, q[k], v[k]))
        for body in range(1, mj.nbody, 3):
            J = np.zeros((6, mj.nv))
            mujoco.mj_jacBody(mj, data, J[:3], J[3:], body)
            ours = ff.frame_jacobian(model, q[k], mj.body(body).name, "mixed")
            close(J @ T[k], ours)
        if model.shared_coordinates:  # equalities of mimic joints are soft there: no accelerations to compare
            continue
        qacc = np.linalg.solve(M, there.qfrc[k] - data.qfrc_bias)
        a = ff.from_mujoco(model, data.qpos, data.qvel, qacc).a
        residual = ff.mass_matrix(model, q[k]) @ a + ff.bias_forces(model, q[k], v[k]) - tau[k]
        assert np.abs(residual).max() < EXACT * max(1.0, float(np.abs(M).max() * np.abs(qacc).max()))
    # To the bit where nothing is rotated; a batch is its states one by one
    q, v, a, tau = state(model, fresh(), (2, 2), 3)
    bias = ff.bias_forces(model, q, v)
    there = ff.to_mujoco(model, q, v, a, tau, bias_forces=bias)
    here = ff.from_mujoco(model, *there[:4], bias_forces=there.bias)
    assert np.array_equal(here.q, q)
    rotated = [k for j in model.joints if j.kind == "free" for k in range(j.iv, j.iv + 3)]
    plain = np.setdiff1d(np.arange(model.nv), rotated)
    for ours, given in zip(here[1:4], (v, a, tau)):
        assert np.array_equal(ours[..., plain], given[..., plain])
        close(ours, given, 1e-14)
    close(here.bias_forces, bias, 1e-13)
    alone = ff.from_mujoco(model, *(x[1, 0] for x in there[:4]), bias_forces=there.bias[1, 0])
    for batch, own in zip(here, alone):
        close(batch[1, 0], own, 1e-14)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(ff.from_mujoco(again, there.qpos).q, q)
    written = ff.load(text, base=None)
    assert np.array_equal(ff.to_mujoco(written, q).qpos, there.qpos)


def test_states_of_a_robot_without_names() -> None:
    """By finite differences along a trajectory, without MuJoCo."""
    model = ff.load(ROBOT)
    q, v, a = state(model, fresh())
    rate = central(lambda t: ff.to_mujoco(model, ff.integrate(model, q, t * (v + 0.5 * t * a)), v + t * a).qvel)
    close(rate, ff.to_mujoco(model, q, v, a).qacc, slope_error())
    # MuJoCo's [1, 0, 0, 0] is no half turn: gravity pulls down
    model, mj = ff.load(ROBOT), mujoco.MjModel.from_xml_string(ROBOT)
    q = ff.from_mujoco(model, mj.qpos0).q
    assert np.array_equal(q[3:7], [0.0, 0.0, 0.0, 1.0])
    assert ff.gravity_forces(model, q)[2] > 0.0
    # A bolted robot beside a crate without names: the crate is not taken for the base that only the model has
    crate = '<worldbody><body><freejoint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body>'
    scene = mujoco.MjModel.from_xml_string(BOLTED.replace("<worldbody>", crate))
    model = ff.load(BOLTED, base="free")
    q = ff.from_mujoco(model, scene.qpos0 + np.eye(scene.nq)[0], mj_model=scene).q
    assert np.array_equal(q[:7], [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0])


def test_a_scene_with_other_things() -> None:
    """mj_model=: the robot among other bodies, in another order, its free joint without a name."""
    model, scene = ff.load(ROBOT), mujoco.MjModel.from_xml_string(SCENE)
    q, v, a, tau = state(model, fresh(), (STATES,), 3)
    there = ff.to_mujoco(model, q, v, a, tau, mj_model=scene)
    assert there.qpos.shape == (STATES, scene.nq)
    assert np.array_equal(there.qpos[:, :7], np.tile(scene.qpos0[:7], (STATES, 1)))
    assert not there.qvel[:, :6].any()
    here = ff.from_mujoco(model, *there[:4], mj_model=scene)
    assert np.array_equal(here.q, q)
    assert max(distance(x, y) for x, y in zip(here[1:4], (v, a, tau))) < 1e-14
    data, M = dynamics_of(scene, there.qpos[0], there.qvel[0])
    T = ff.mujoco_velocity_map(model, q[0], mj_model=scene)
    close(T.T @ M @ T, ff.mass_matrix(model, q[0]))
    here = ff.from_mujoco(model, data.qpos, data.qvel, bias_forces=data.qfrc_bias, mj_model=scene)
    close(here.bias_forces, ff.bias_forces(model, q[0], v[0]))
    # As `to_mjcf` writes them
    d = random_description(fresh(), 6, ("revolute", "universal", "spherical"), "fixed", mimics=0.0)
    joints = tuple(ff.Joint(**{**vars(j), "armature": ()}) for j in d.joints)
    model = ff.build(with_base(ff.Description("made", d.links, joints), "free"))
    text = ff.to_mjcf(model)
    q, v = state(model, fresh(), (STATES,), 1)
    assert model.description.mujoco == ()
    mj = mujoco.MjModel.from_xml_string(text)
    assert np.array_equal(ff.to_mujoco(model, q, v).qpos, ff.to_mujoco(model, q, v, mj_model=mj).qpos)
    assert [j.name for j in read(text).mujoco] == [mj.joint(k).name for k in range(mj.njnt)]


def test_edited_robots() -> None:
    """Locked joints keep their places in qpos; another base, as said in the docstrings."""
    model = ff.load(ROBOT)
    locked = ff.lock_joints(model, {"wrist": 0.4})
    q = ff.random_configuration(locked, fresh())
    there = ff.to_mujoco(locked, q, np.ones(locked.nv))
    assert (there.qpos.shape, (there.qpos[11], there.qvel[9])) == ((12,), (0.4, 0.0))
    assert np.array_equal(ff.from_mujoco(locked, there.qpos).q, q)
    fixed = ff.load(ROBOT, base="fixed")
    assert ff.from_mujoco(fixed, there.qpos).q.shape == (fixed.nq,)
    assert np.array_equal(ff.to_mujoco(fixed, fixed.neutral).qpos[:7], [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0])
    free = ff.load(BOLTED, base="free")
    here = ff.from_mujoco(free, np.array([1.0, 0.0, 0.0, 0.0, 0.3]), np.ones(4))
    assert np.array_equal(here.q[:7], [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0])
    assert not here.v[:6].any()
    assert np.array_equal(ff.to_mujoco(free, here.q, here.v).qpos, [1.0, 0.0, 0.0, 0.0, 0.3])
    refused(ff.InputError, "fixes it", lambda: ff.to_mujoco(free, ff.integrate(free, here.q, np.ones(free.nv))))
    refused(ff.InputError, "not zero", ff.to_mujoco, free, here.q, np.ones(free.nv))
    with pytest.raises(ff.InputError, match="bias forces of base"):
        ff.from_mujoco(free, here.q[7:][[3, 0, 1, 2, 4]], np.ones(4), bias_forces=np.ones(4))
    with pytest.raises(ff.InputError, match="free joint in the MJCF file and planar in the model"):
        ff.from_mujoco(ff.load(ROBOT, base="planar"), there.qpos)


def test_closed_robots(models_folder: Path) -> None:
    """Independent velocities there and back; the bias forces are those of the reduced equations."""
    closed = ff.close_loops(ff.load(models_folder / "cassie" / "cassie.xml"))
    mj = mujoco.MjModel.from_xml_path(str(models_folder / "cassie" / "cassie.xml"))
    rng = fresh()
    q, (u, u_dot, tau) = closed.neutral, rng.standard_normal((3, STATES, closed.nv))
    there = ff.to_mujoco(closed, q, u, u_dot, tau)
    here = ff.from_mujoco(closed, *there[:4])
    assert max(distance(x, y) for x, y in zip(here[1:4], (u, u_dot, tau))) < 1e-13
    data, M = dynamics_of(mj, there.qpos[0], there.qvel[0])
    T = ff.mujoco_velocity_map(closed, q)
    close(T.T @ M @ T, ff.mass_matrix(closed, q))
    found = ff.from_mujoco(closed, data.qpos, data.qvel, bias_forces=data.qfrc_bias)
    close(found.bias_forces, ff.bias_forces(closed, q, u[0]), 1e-11)
    refused(ff.InputError, r"convert those of model\.tree", ff.to_mujoco, closed, q, u, bias_forces=u)


def test_refused_in_words() -> None:
    model = ff.load(ROBOT)
    q = ff.to_mujoco(model, model.neutral).qpos
    for bad, words in (
        (lambda: ff.from_mujoco(model, q[:-1]), r"qpos has shape \(11,\), expected \(\.\.\., 12\), nq as in the MJCF file"),
        (lambda: ff.from_mujoco(model, q, np.zeros(12)), r"qvel has shape \(12,\), expected \(\.\.\., 10\)"),
        (lambda: ff.from_mujoco(model, np.where(np.arange(12) == 4, np.nan, q)), r"qpos\[4\] is nan"),
        (lambda: ff.from_mujoco(model, 2.0 * q), "quaternion of joint 'root_joint'.*norm 2"),
        (lambda: ff.from_mujoco(model, q, qacc=np.zeros(10)), "qacc is converted with the velocity: give qvel too"),
        (lambda: ff.to_mujoco(model, model.neutral, a=np.zeros(10)), "a is converted with the velocity"),
        (lambda: ff.from_mujoco(model, q, mj_model=mujoco.MjModel.from_xml_string(BOLTED)), "qpos has shape"),
        (lambda: ff.from_mujoco(model, q, mj_model=3), "mj_model must be a mujoco.MjModel, got int"),
        (lambda: ff.from_mujoco(q, q), "first argument of from_mujoco must be a freeflyer Model"),
        (lambda: ff.to_mujoco(model, np.zeros((2, 3, 1))), "q has shape"),
        (lambda: ff.from_mujoco(ff.robots.make("humanoid"), q, mj_model=mujoco.MjModel.from_xml_string(ROBOT)),
         "the MjModel lacks joints that the model 'humanoid"),
        (lambda: ff.load(mujoco.MjModel.from_xml_string(ROBOT)), "keeps no robot file"),
    ):  # fmt: skip
        refused(ff.InputError, words, bad)
    helical = ff.robots.chain(2, ["helical"])
    refused(ff.InputError, "is helical: MuJoCo has none", ff.to_mujoco, helical, helical.neutral)
