"""The three robots of the dual quaternion paper, section 5, made by code: their references, and the forces that follow these.

The paper shows no numbers of them. 50 joints: robots.chain; 9: a base that moves in the plane and an arm of six; 8: the same on two
driven wheels, whose joints are coordinates too, so that the wheels' torques drive it."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import freeflyer as ff
from freeflyer.model import ROOT_JOINT
from freeflyer.robots.mobile import WHEEL_RADIUS

SERIAL, HOLONOMIC, NONHOLONOMIC = ("50-DoF serial manipulator", "9-DoF holonomic mobile manipulator",
    "8-DoF nonholonomic mobile manipulator")  # fmt: skip
WHEELS = ("left_wheel", "right_wheel")
DECAY = 8.0  # 1/s, of tracking errors
ARM_START = np.array([0.3, 0.6, 0.9, -0.2, 0.5, 0.1])  # rad
ARM_AMPLITUDE = np.array([0.5, 0.3, 0.4, 0.6, 0.4, 0.7])  # rad
ARM_RATE = np.array([1.3, 1.7, 2.1, 1.1, 2.6, 1.9])  # rad/s
ARM_STIFFNESS = np.array([400.0, 400.0, 200.0, 60.0, 40.0, 10.0])  # N m/rad
ARM_DAMPING_TIME = 0.15  # s
WHEEL_GAIN = 6.0  # N m s/rad
Law = Callable[[float, np.ndarray, np.ndarray], np.ndarray]


class Oscillation(namedtuple("Oscillation", "start amplitude rate")):
    """Reference q = start + amplitude (1 - cos(rate t)) of so many coordinates."""

    def at(self, t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Position, velocity, acceleration."""
        A, w = self.amplitude, self.rate
        return self.start + A * (1.0 - np.cos(w * t)), A * w * np.sin(w * t), A * w**2 * np.cos(w * t)


def serial_manipulator() -> tuple[ff.Model, Oscillation]:
    """50 joints about y, x, z in turn, fixed; all swing, each at its own rate."""
    n = np.arange(50)
    amplitude, rate = 0.05 + 0.1 * np.cos(0.7 * n) ** 2, 2.0 + 3.0 * np.sin(0.9 * n) ** 2
    return ff.robots.chain(50), Oscillation(0.2 * np.sin(1.3 * n), amplitude, rate)


def holonomic_manipulator() -> tuple[ff.Model, Oscillation]:
    """x, y and yaw of the base, and the arm."""
    base = (np.zeros(3), np.array([0.6, -0.4, 0.8]), np.array([1.1, 1.6, 0.9]))
    parts = (np.concatenate(pair) for pair in zip(base, (ARM_START, ARM_AMPLITUDE, ARM_RATE), strict=True))
    return ff.robots.holonomic_manipulator(), Oscillation(*parts)


def differential_drive() -> ff.Model:
    """Base, two driven wheels and the arm: 11 velocities, of which the wheels leave 8 free."""
    return ff.robots.differential_drive_manipulator(rolling_wheels=True)


def rolling_wheels(model: ff.Model) -> ff.ConstraintSet:
    """Both wheels roll: six rows, three of which depend on the others."""
    return ff.ConstraintSet(model, rolling=tuple(ff.contacts.rolling(f"{name}_link", WHEEL_RADIUS) for name in WHEELS))


def drive_start(model: ff.Model) -> np.ndarray:
    """(nq,) of a model of the drive, of whatever base: the arm as its reference starts."""
    q = np.array(model.neutral)
    q[[model.joint(name).iq for name in arm_joints(model)]] = ARM_START
    return q


def arm_joints(model: ff.Model) -> tuple[str, ...]:
    """Names of the arm's joints, from the mount on."""
    return tuple(j.name for j in model.joints if j.name.startswith("arm_joint"))


def drive_forces(model: ff.Model) -> Law:
    """Torques of the wheels, which accelerate and turn the base, and of the arm: functions of their own joints alone, and so the
    same for any base that a model of the drive has."""
    arm, hard = Oscillation(ARM_START, ARM_AMPLITUDE, ARM_RATE), differential_drive()
    at, of = ([model.joint(name) for name in names] for names in (arm_joints(model), WHEELS))
    iq, iv, wheels = np.array([j.iq for j in at]), np.array([j.iv for j in at]), np.array([j.iv for j in of])
    places = [hard.joint(j.name) for j in at]
    hard_iq, hard_iv = np.array([j.iq for j in places]), np.array([j.iv for j in places])

    def forces(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        position, velocity, _ = arm.at(t)
        posture, tau = np.array(hard.neutral), np.zeros(model.nv)
        posture[hard_iq] = q[iq]
        error = position - q[iq] + ARM_DAMPING_TIME * (velocity - v[iv])
        tau[iv] = ff.gravity_forces(hard, posture)[hard_iv] + ARM_STIFFNESS * error
        ahead, turn = 8.0 + 2.0 * np.sin(1.5 * t), 4.0 * np.sin(0.9 * t)
        tau[wheels] = WHEEL_GAIN * (np.array([ahead - turn, ahead + turn]) * (1.0 - np.exp(-3.0 * t)) - v[wheels])
        return tau

    return forces


BALLS, BALL_RADIUS = (0.3, -0.3), 0.05  # m: where the balls are along the base
FRICTION, TIME, DISTANCE = 2.0, 0.02, 0.1  # of wheels; s, and 1 - impedance, at softness 1
STEP = 5e-4  # s, MuJoCo's
PLATFORM = "platform"


class Drive(namedtuple("Drive", "t q v tau sideways")):
    """Samples of the drive: t (n,); q (n, nq), v, tau (n, nv) of the model on the plane; sideways (n,): the floor's force on the
    robot along the wheels' axle, N."""


def drive_in_mujoco(model: ff.Model, softness: float, dt: float, duration: float) -> Drive:
    """The motion of the drive under its forces, as the model on the plane has it."""
    plant = _plant(softness)
    there = plant.model
    run = ff.sim.simulate_in_mujoco(plant, drive_start(there), np.zeros(there.nv), drive_forces(there), dt=dt, duration=duration)
    return _on_the_plane(model, there, whole(run))


def whole(run: ff.sim.Run) -> ff.sim.Run:
    """The run. Errors: StepError where it ended early."""
    if run.failure is not None:
        raise ff.errors.StepError(run.failure)
    return run


def _plant(softness: float) -> ff.sim.Plant:
    """The scene: the robot's file with a free base and colliding shapes, on a floor."""
    import mujoco

    planar = differential_drive().description
    joints = tuple(replace(j, kind="free", velocity=(), effort=()) if j.name == ROOT_JOINT else j for j in planar.joints)
    spec = mujoco.MjSpec.from_string(ff.to_mjcf(ff.build(replace(planar, joints=joints))))
    shapes = [(f"{name}_link", WHEEL_RADIUS, 0.0, 0.0, FRICTION, 3) for name in WHEELS]
    shapes += [(PLATFORM, BALL_RADIUS, x, BALL_RADIUS, 0.0, 1) for x in BALLS]
    impedance = 1.0 - DISTANCE * softness
    for body, radius, x, z, friction, directions in shapes:
        spec.body(body).add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[radius, 0, 0], pos=[x, 0, z], mass=0.0, contype=1,
            conaffinity=0, condim=directions, friction=[friction, 0, 0], priority=1, solref=[TIME * softness, 1.0],
            solimp=[impedance, impedance, 0.001, 0.5, 2.0])  # fmt: skip
    feet = [ff.contacts.point(name) for name in (*(f"{name}_link" for name in WHEELS), PLATFORM)]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "drive.xml"
        path.write_text(spec.to_xml())
        return ff.sim.mujoco_plant(ff.load(path, base=None), path=path, feet=feet, servos=ff.sim.Servos(dt=STEP))


def _on_the_plane(model: ff.Model, there: ff.Model, run: ff.sim.Run) -> Drive:
    """A run with a floating base in the coordinates of the base on the plane."""
    X = ff.frame_pose(there, run.q, PLATFORM)
    R, yaw = X[:, :3, :3], np.unwrap(np.arctan2(X[:, 1, 0], X[:, 0, 0]))
    names = (*WHEELS, *arm_joints(model))
    q, v, tau = (np.zeros((len(run.t), n)) for n in (model.nq, model.nv, model.nv))
    q[:, :3] = np.column_stack([X[:, :2, 3], yaw])
    linear, angular = (np.einsum("tij,tj->ti", R, part) for part in (run.v[:, :3], run.v[:, 3:6]))
    v[:, :3] = np.column_stack([linear[:, :2], angular[:, 2]])
    for ours, theirs in ((model.joint(name), there.joint(name)) for name in names):
        q[:, ours.iq], v[:, ours.iv], tau[:, ours.iv] = run.q[:, theirs.iq], run.v[:, theirs.iv], run.tau[:, theirs.iv]
    axle = np.column_stack([-np.sin(yaw), np.cos(yaw), np.zeros(len(yaw))])
    sideways = np.zeros(len(run.t))
    for name, wrench in run.forces.items():
        world = np.einsum("tij,tj->ti", ff.frame_pose(there, run.q, name)[:, :3, :3], wrench[:, :3])
        sideways += (world * axle).sum(axis=1)
    return Drive(run.t, q, v, tau, sideways)
