"""The robot on driven wheels in MuJoCo: a floating base, carried by wheels and two balls without friction that touch the floor.

MuJoCo has no rolling constraint: the wheels hold the floor by friction, which is soft. How soft follows from two settings of a
contact, a time constant in which slip decays and an impedance below 1; `softness` scales the first and the distance of the second
from 1, so that contacts become rigid as it goes to zero. At 1 they are MuJoCo's own, 0.02 s and 0.9."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from freeflyer import contacts
from freeflyer.dynamics.frames import frame_pose
from freeflyer.model.build import build
from freeflyer.model.description import ROOT_JOINT
from freeflyer.model.load import load
from freeflyer.model.model import Model
from freeflyer.model.writers import to_mjcf
from freeflyer.robots.mobile import WHEEL_RADIUS, differential_drive_manipulator_description
from freeflyer.sim import Plant, Run, Servos, mujoco_plant, simulate_in_mujoco
from freeflyer.sim.events import StepError
from freeflyer_papers.dual_quaternion.validation_robots import WHEELS, arm_joints, drive_forces, drive_start

BALLS, BALL_RADIUS = (0.3, -0.3), 0.05  # m: where the balls are along the base
FRICTION, TIME, DISTANCE = 2.0, 0.02, 0.1  # of wheels; s, and 1 - impedance, at softness 1
STEP = 5e-4  # s, MuJoCo's
PLATFORM = "platform"


class Drive(NamedTuple):
    """Samples of the drive: t (n,); q (n, nq), v, tau (n, nv) of the model on the plane; sideways (n,): the floor's force on the
    robot along the wheels' axle, N."""

    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray
    sideways: np.ndarray


def drive_in_mujoco(model: Model, softness: float, dt: float, duration: float) -> Drive:
    """The motion of the drive under its forces, as the model on the plane has it."""
    plant = _plant(softness)
    there = plant.model
    run = simulate_in_mujoco(plant, drive_start(there), np.zeros(there.nv), drive_forces(there), dt=dt, duration=duration)
    return _on_the_plane(model, there, whole(run))


def whole(run: Run) -> Run:
    """The run. Errors: StepError where it ended early."""
    if run.failure is not None:
        raise StepError(run.failure)
    return run


def _plant(softness: float) -> Plant:
    """The scene: the robot's file with a free base and colliding shapes, on a floor."""
    import mujoco

    planar = differential_drive_manipulator_description(rolling_wheels=True)
    joints = tuple(replace(j, kind="free", velocity=(), effort=()) if j.name == ROOT_JOINT else j for j in planar.joints)
    spec = mujoco.MjSpec.from_string(to_mjcf(build(replace(planar, joints=joints))))
    shapes = [(f"{name}_link", WHEEL_RADIUS, 0.0, 0.0, FRICTION, 3) for name in WHEELS]
    shapes += [(PLATFORM, BALL_RADIUS, x, BALL_RADIUS, 0.0, 1) for x in BALLS]
    impedance = 1.0 - DISTANCE * softness
    for body, radius, x, z, friction, directions in shapes:
        spec.body(body).add_geom(
            type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[radius, 0, 0], pos=[x, 0, z], mass=0.0, contype=1, conaffinity=0,
            condim=directions, friction=[friction, 0, 0], priority=1, solref=[TIME * softness, 1.0],
            solimp=[impedance, impedance, 0.001, 0.5, 2.0],
        )  # fmt: skip
    feet = [contacts.point(name) for name in (*(f"{name}_link" for name in WHEELS), PLATFORM)]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "drive.xml"
        path.write_text(spec.to_xml())
        return mujoco_plant(load(path, base=None), path=path, feet=feet, servos=Servos(dt=STEP))


def _on_the_plane(model: Model, there: Model, run: Run) -> Drive:
    """A run with a floating base in the coordinates of the base on the plane."""
    X = frame_pose(there, run.q, PLATFORM)
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
        world = np.einsum("tij,tj->ti", frame_pose(there, run.q, name)[:, :3, :3], wrench[:, :3])
        sideways += (world * axle).sum(axis=1)
    return Drive(run.t, q, v, tau, sideways)
