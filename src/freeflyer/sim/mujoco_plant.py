"""A robot on a level floor in MuJoCo, its motors as position servos: an experiment with an independent simulator.

The robot is the user's own MJCF file where there is one, else what `to_mjcf` writes. What is added: a floor, a servo for
each motor (force = stiffness (wanted - position) - damping rate), spheres for feet that have no shape, and soft servos for
pieces that MuJoCo's loops leave turning idly. What the reader of robot files leaves out (tendons, flexes, plugins) is not
simulated either.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from freeflyer.contacts.description import Contact
from freeflyer.dynamics.frames import frame_pose
from freeflyer.errors import InputError
from freeflyer.model.model import Model
from freeflyer.model.readers.mjcf_gate import collected_warnings, compiled, spec_with_shapes
from freeflyer.model.readers.mjcf_shapes import collides
from freeflyer.model.states.mujoco_places import mujoco_places
from freeflyer.model.writers import to_mjcf
from freeflyer.sim.mujoco_loops import for_simulator

BALL = 0.005  # m: radius of the spheres under feet without shapes
SOFT, SOFT_DAMPING = 2.0, 0.02  # N m/rad, N m s/rad: what keeps idle pieces from turning
HARD = (0.002, 1.0)  # MuJoCo's solref of floor and spheres: they give way by tenths of a millimetre
SAME = 1e-6  # m: how well the simulator's bodies stand where the model's links stand


@dataclass(frozen=True)
class Servos:
    """stiffness (N/m, N m/rad), damping (N s/m, N m s/rad) of the motors' servos. step: s of simulated time. loop_time (s),
    loop_impedance: how stiffly MuJoCo ties loops (solref[0], solimp[0] = solimp[1]): soft ones give way under load, as
    linkages that flex do. friction: keep the joints' damping and friction of the file."""

    stiffness: float = 1e6
    damping: float = 3e3
    step: float = 0.0005
    loop_time: float = 0.001
    loop_impedance: float = 0.999
    friction: bool = True


@dataclass(frozen=True, eq=False)
class Plant:
    """mj, data: MuJoCo's. source (nq,): entries of qpos that make q. motors (m,): actuators in the order of the measured
    joints; idle (k,): those of the joints at idle_positions (k,) of q. bodies: MuJoCo's numbers of the feet's bodies."""

    mujoco: Any
    mj: Any
    data: Any
    source: np.ndarray
    motors: np.ndarray
    idle: np.ndarray
    idle_positions: np.ndarray
    bodies: dict[int, int]

    @property
    def q(self) -> np.ndarray:
        """(nq,): where the simulated robot is."""
        return np.asarray(self.data.qpos[self.source])

    def contacts(self) -> np.ndarray:
        """(f, 6): [force; torque about the world's origin] of the floor on each foot, world axes, summed over MuJoCo's contacts."""
        total, n = np.zeros((len(self.bodies), 6)), self.data.ncon
        if not n:
            return total
        local, contact = np.empty((n, 6)), self.data.contact
        for c in range(n):
            self.mujoco.mj_contactForce(self.mj, self.data, c, local[c])
        ends = self.mj.geom_bodyid[contact.geom]
        second = np.isin(ends[:, 1], list(self.bodies))  # forces act on the second geom
        axes = np.where(second, 1.0, -1.0)[:, None, None] * contact.frame.reshape(n, 3, 3)
        force, torque = np.einsum("cij,ci->cj", axes, local[:, :3]), np.einsum("cij,ci->cj", axes, local[:, 3:])
        feet = [self.bodies[int(b)] for b in np.where(second, ends[:, 1], ends[:, 0])]
        np.add.at(total, feet, np.hstack([force, torque + np.cross(contact.pos, force)]))
        return total


def plant(
    model: Model, path: str | os.PathLike[str] | None, feet: Sequence[Contact], motors: Sequence[str], q: np.ndarray, servos: Servos
) -> Plant:  # fmt: skip
    """The simulator with the robot at the first of the postures q (n, nq), where it will be sent. Errors: FileError for what
    MuJoCo refuses, InputError for another robot and for loops that MuJoCo cannot hold."""
    _check(servos)
    import mujoco

    idle: tuple[str, ...] = ()
    if path is None:
        wide = for_simulator(model, q)
        spec, robot = spec_with_shapes(to_mjcf(wide.model))
        idle = wide.idle
    else:
        spec, robot = spec_with_shapes(path)
    where = "the robot" if path is None else Path(path).name
    _floor(mujoco, spec, feet, path is None)
    _drive(mujoco, spec, motors, idle, servos)
    mj = compiled(spec, robot)
    source = _source(model, mj, where)
    data = mujoco.MjData(mj)
    data.qpos[source] = q[0]
    with collected_warnings():
        mujoco.mj_forward(mj, data)
    _agree(model, mj, data, q[0], where)
    idle_positions = np.array([model.joint(name).iq for name in idle], dtype=np.int64)
    bodies = {_body(model, mj, f): k for k, f in enumerate(feet)}
    return Plant(mujoco, mj, data, source, _servos(mj, motors), _servos(mj, idle), idle_positions, bodies)


def _servos(mj: Any, joints: Sequence[str]) -> np.ndarray:
    return np.array([mj.actuator(f"servo of {name}").id for name in joints], dtype=np.int64)


def _check(servos: Servos) -> None:
    for name in ("stiffness", "damping", "step", "loop_time", "loop_impedance"):
        value = getattr(servos, name)
        if not (isinstance(value, int | float) and 0.0 < value < np.inf):
            raise InputError(f"{name} must be a positive number, got {value!r}")
    if servos.loop_time < 2.0 * servos.step or not servos.loop_impedance < 1.0:
        raise InputError(
            f"loops with loop_time = {servos.loop_time:g} s and loop_impedance = {servos.loop_impedance:g} do not hold in MuJoCo: "
            f"take loop_time of at least two steps ({2 * servos.step:g} s) and an impedance below 1"
        )


def _floor(mujoco: Any, spec: Any, feet: Sequence[Contact], bare: bool) -> None:
    """A plane at height 0 that only feet touch; spheres at their points where the robot has no shapes."""
    links = {f.frame for f in feet}
    for geom in spec.geoms:
        geom.contype, geom.conaffinity = (1, 0) if geom.parent.name in links and not bare and collides(geom) else (0, 0)
    if bare:
        for foot in feet:
            site = next((s for s in spec.sites if s.name == foot.frame), None)
            body = spec.body(foot.frame) if site is None else site.parent
            X = np.eye(4) if site is None else _site_pose(site)
            for p in np.asarray(foot.points, dtype=float):
                at = X[:3, :3] @ p + X[:3, 3] + BALL * X[:3, 2]
                body.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[BALL, 0, 0], pos=at, mass=0.0, contype=1, conaffinity=0,
                              solref=HARD)
    floor = spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1], contype=0, conaffinity=1, solref=HARD)
    floor.name = "the floor of the experiment"


def _site_pose(site: Any) -> np.ndarray:
    from freeflyer.model.rotations import placement

    return placement(np.array(site.pos), np.array(site.quat))


def _drive(mujoco: Any, spec: Any, motors: Sequence[str], idle: Sequence[str], servos: Servos) -> None:
    for old in (*spec.actuators, *spec.keys):  # keyframes speak of the file's own actuators
        spec.delete(old) if hasattr(spec, "delete") else old.delete()
    gains = [(name, servos.stiffness, servos.damping) for name in motors] + [(name, SOFT, SOFT_DAMPING) for name in idle]
    for name, stiffness, damping in gains:
        servo = spec.add_actuator()
        servo.name, servo.target, servo.trntype = f"servo of {name}", name, mujoco.mjtTrn.mjTRN_JOINT
        servo.gaintype, servo.biastype = mujoco.mjtGain.mjGAIN_FIXED, mujoco.mjtBias.mjBIAS_AFFINE
        servo.gainprm[0] = stiffness
        servo.biasprm[:3] = [0.0, -stiffness, -damping]
    spec.option.timestep = servos.step
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    for equality in spec.equalities:
        equality.solref[0] = servos.loop_time
        equality.solimp[:2] = servos.loop_impedance
    if not servos.friction:
        for joint in spec.joints:
            joint.damping[:], joint.frictionloss = 0.0, 0.0


def _source(model: Model, mj: Any, where: str) -> np.ndarray:
    """Entries of qpos in the order of q; a quaternion's scalar moves last."""
    try:
        source = mujoco_places(model.tree, mj).q_from
    except InputError:
        source = np.full(model.nq, -1)
    if (source < 0).any() or mj.nq != model.nq:
        raise InputError(f"{where} has other joints than the model of {model.name!r}: give the file that the model was read from")
    return source


def _agree(model: Model, mj: Any, data: Any, q: np.ndarray, where: str) -> None:
    """InputError where bodies stand elsewhere than the model's links."""
    off = abs(float(mj.body_mass.sum()) - model.mass) / model.mass
    for b in range(1, mj.nbody):
        name = mj.body(b).name
        if name in model.link_names:
            off = max(off, float(np.abs(frame_pose(model, q, name)[:3, 3] - data.xpos[b]).max()))
    if off > SAME:
        raise InputError(
            f"{where} is another robot than the model of {model.name!r}: masses or links differ by {off:.2g} (m, or of the mass). "
            "Give the file that the model was read from, unedited",
            difference=off,
        )  # fmt: skip


def _body(model: Model, mj: Any, foot: Contact) -> int:
    """MuJoCo's number of the body that carries a foot's frame."""
    link = {s.name: s.link for s in model.description.sites}.get(foot.frame, foot.frame)
    return int(mj.body(link).id)
