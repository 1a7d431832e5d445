"""A robot on a level floor in MuJoCo: an independent simulator, with contacts that slide, as the plant of controllers.

The robot is the user's own MJCF file if there is one, else what `to_mjcf` writes of it, links that fixed joints join as one body:
MuJoCo refuses links without mass or with moments of inertia of no body. What is added: a floor; servos at the given joints; spheres
for feet that have no shape; light and the meshes of the robot's file, which touch nothing; soft servos for pieces that MuJoCo's
loops leave turning idly. What the reader of robot files leaves out (tendons, flexes, plugins) is not simulated either."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.contacts import Contact, feet_by_name, surface_points
from freeflyer.dynamics.frames import frame_pose
from freeflyer.errors import InputError
from freeflyer.model import (
    Model, Places, collected_warnings, compile_description, compile_model, configuration_to_mujoco, instance, merge_fixed,
    mujoco_places, number, one_row, public, refuse_repeated, remembered, rigid_groups, spec_with_shapes, to_mjcf, with_base)
from freeflyer.sim.mujoco_spec import Servos, add_floor, add_servos, add_shapes, add_spheres, for_simulator, only_feet_touch
from freeflyer.spatial import se3
from freeflyer.spatial._series import cross
from freeflyer.tolerances import PLANT_POSE_TOLERANCE

MOST_NAMED = 6  # frames in a sentence
TOUCHES = 1024  # contacts for which there is room at first


@dataclass(frozen=True, eq=False)
class Plant:
    """Plant in MuJoCo: a robot on a level floor, made by mujoco_plant.

    Attributes:
        model: The robot, a tree or a closed one.
        feet: Contacts whose forces are recorded.
        mujoco: The package mujoco.
        mj_model, data: MuJoCo's model and state, for its viewers, too.
        places: Where q and v are in qpos and qvel.
        motors, idle: (m,) and (k,) array, numbers of the actuators of the servos, and of those that hold pieces which MuJoCo's
            loops leave turning idly.
        motor_positions, motor_coordinates: (m,) array, indices of the servos' joints in q and in v of the tree.
        idle_positions: (k,) array, indices of the idle joints in q.
        bodies: Numbers of the feet on each of MuJoCo's bodies, by the body's number.
        points: tuple of (c, 3) array, points of each foot at the origin of the first link of its rigid body, in that link's axes,
            m.

    Examples:
        The feet of a standing robot carry its weight:

        >>> model = ff.robots.quadruped()
        >>> q, feet = ff.robots.standing_posture(model), [ff.contacts.point(x) for x in model.frame_names if x.endswith("_foot")]
        >>> plant = ff.sim.mujoco_plant(model, q, feet=feet, motors=model.actuated)
        >>> run = ff.sim.simulate_in_mujoco(plant, q, np.zeros(model.nv), dt=5e-3, duration=0.5)
        >>> print(f"{plant.contacts()[:, 2].sum() / (9.81 * model.mass):.3f}")
        1.000
    """

    model: Model
    feet: tuple[Contact, ...]
    mujoco: Any
    mj_model: Any
    data: Any
    places: Places
    motors: np.ndarray
    motor_positions: np.ndarray
    motor_coordinates: np.ndarray
    idle: np.ndarray
    idle_positions: np.ndarray
    bodies: dict[int, list[int]]
    points: tuple[np.ndarray, ...]

    @property
    def q(self) -> np.ndarray:
        """(nq,): where the simulated robot is."""
        return np.asarray(self.data.qpos[self.places.q_from])

    def contacts(self) -> np.ndarray:
        """(f, 6): [force; torque about the world's origin] on each foot, world axes, summed over MuJoCo's contacts."""
        touches = Touches(self)
        touches.add()
        return touches.wrenches()[0]

    def _foot(self, body: int, place: np.ndarray) -> int:
        """The foot of a body whose points are nearest to a place in the world (3,)."""
        first = self.mj_model.body_weldid[body]
        local = self.data.xmat[first].reshape(3, 3).T @ (place - self.data.xpos[first])
        return min(self.bodies[body], key=lambda k: float(np.linalg.norm(self.points[k] - local, axis=1).min()))


class Touches:
    """MuJoCo's contacts at one time after the other. `sides`: the geoms of each, or beyond the last geom feet. `forces`: [force;
    torque] in the contact's own axes. `places`: these axes in the rows of (3, 3), then where it is, m."""

    def __init__(self, plant: Plant) -> None:
        self.plant, self.counts, self.used = plant, list[int](), 0
        self.sides, self.forces, self.places = np.empty((TOUCHES, 2), np.int64), np.empty((TOUCHES, 6)), np.empty((TOUCHES, 12))

    def add(self) -> None:
        """The contacts of now."""
        plant, begin = self.plant, self.used
        model, data, force = plant.mj_model, plant.data, plant.mujoco.mj_contactForce
        self.used = end = begin + data.ncon
        if end > len(self.sides):
            self.sides = np.concatenate([self.sides, np.empty((end, 2), np.int64)])
            self.forces, self.places = (np.concatenate([x, np.empty((end, x.shape[1]))]) for x in (self.forces, self.places))
        contact, sides, places = data.contact, self.sides[begin:end], self.places[begin:end]
        self.counts.append(end - begin)
        for c, row in enumerate(self.forces[begin:end]):
            force(model, data, c, row)
        sides[:], places[:, :9], places[:, 9:] = contact.geom, contact.frame, contact.pos
        for body, feet in plant.bodies.items():
            if len(feet) > 1:
                for c, side in zip(*np.nonzero(model.geom_bodyid[sides] == body)):
                    sides[c, side] = model.ngeom + plant._foot(body, places[c, 9:])

    def wrenches(self) -> np.ndarray:
        """(T, feet, 6): [force; torque about the world's origin] on each foot at each time, world axes."""
        bodies, count, places = self.plant.bodies, len(self.plant.feet), self.places[: self.used]
        of_geom = [bodies.get(body, [-1])[0] for body in self.plant.mj_model.geom_bodyid.tolist()]
        wrench = self.forces[: self.used].reshape(-1, 2, 3) @ places[:, :9].reshape(-1, 3, 3)
        wrench[:, 1] += cross(places[:, 9:], wrench[:, 0])
        found = np.zeros((len(self.counts), count, 6))
        sample = np.repeat(np.arange(len(self.counts)), self.counts)
        for foot, sign in zip(np.take([*of_geom, *range(count)], self.sides[: self.used]).T, (-1.0, 1.0)):  # on the second geom
            on = foot >= 0
            np.add.at(found, (sample[on], foot[on]), sign * wrench[on].reshape(-1, 6))
        return found


@public
def mujoco_plant(model: Model, q: ArrayLike | None = None, *,
                 path: str | os.PathLike[str] | None = None, feet: Sequence[Contact] | None = None,
                 motors: Sequence[str] = (), servos: Servos | None = None, friction: float | None = None,
                 shapes: bool = True) -> Plant:  # fmt: skip
    """Plant in MuJoCo, the robot on a level floor of height 0, to be moved by freeflyer.sim.simulate_in_mujoco.

    Args:
        q: (nq,) array, where it stands, m and rad; None: the neutral configuration.
        path: The robot's own MJCF file, from which the model was read, with its shapes. None simulates the output of
            `to_mjcf`.
        feet: Contacts whose links alone touch the floor, and whose forces are recorded; without a file they get spheres at
            their points. None, with a file: all colliding shapes touch as they do there. None, without one:
            contacts.feet_by_name if the model has frames named ..._sole. No feet if it has none and gravity moves no floating
            body. (): none.
        motors: Joints of one coordinate that get position servos, in place of the file's actuators.
        servos: Gains, MuJoCo's step, how stiffly it ties loops, and whether the file's joint damping and friction stay.
        friction: Coefficient of the floor; None: 1, MuJoCo's own.
        shapes: Whether MuJoCo's viewers show the robot's meshes and light; without them a plant is made faster.

    Raises:
        FileError: For models that MuJoCo refuses.
        InputError: For the file of another robot, for loops that MuJoCo lacks, for feet that have no colliding shape in the file,
            and for bad arguments. Also for a robot that would fall through the floor because no feet are given or found.
        UnknownNameError: For feet and motors that the model does not have.

    Examples:
        >>> plant = ff.sim.mujoco_plant(ff.robots.chain(2), [0.3, 0.0], motors=["joint_1"])
        >>> plant.mj_model.nu, plant.mj_model.opt.timestep, plant.q.tolist()
        (1, 0.0005, [0.3, 0.0])
    """
    if feet is None and path is None:
        feet = _default_feet(model)
    for foot in feet or ():
        model.frame(instance("each of feet", foot, Contact, "freeflyer.contacts").frame)
    refuse_repeated("feet", [foot.name for foot in feet or ()])
    for name in motors:
        joint = model.tree.joint(name)
        if joint.nq != 1 or joint.nv != 1 or joint.mimic is not None:
            raise InputError(f"a servo drives a joint of one coordinate, {name!r} is {joint.kind}", joint=name)
    refuse_repeated("motors", list(motors))
    if friction is not None:
        number("friction", friction, 0.0)
    start = one_row(model, "q", model.neutral if q is None else q, "q")
    servos = instance("servos", Servos() if servos is None else servos, Servos)
    return plant(model.tree, path, feet, motors, start[None], servos, friction, model, shapes)


def _default_feet(model: Model) -> tuple[Contact, ...]:
    """The feet named ..._sole, or none; InputError where a body that floats would fall through the floor without them."""
    if any(name.endswith("_sole") for name in model.frame_names):
        return feet_by_name(model)
    if model.gravity.any() and any(joint.kind == "free" for joint in model.tree.joints):
        names = [name for name in model.frame_names if name.lower().endswith(("foot", "toe"))] or ["frame"]
        listed = ", ".join(f"freeflyer.contacts.point({name!r})" for name in names[:MOST_NAMED])
        raise InputError(
            f"{model.name!r} floats and has no frames named '..._sole', so nothing would carry it: name what touches the floor, "
            f"feet=[{listed}{', ...' if len(names) > MOST_NAMED or names == ['frame'] else ''}], or give feet=() for a robot that "
            "flies or falls", robot=model.name, frames=model.frame_names)  # fmt: skip
    return ()


def plant(model: Model, path: str | os.PathLike[str] | None, feet: Sequence[Contact] | None, motors: Sequence[str], q: np.ndarray,
          servos: Servos, friction: float | None = None, driven: Model | None = None, shapes: bool = False) -> Plant:  # fmt: skip
    """The simulator with the tree `model` at the first of the postures q (n, nq), of the simulation; driven: the closed model whose
    inputs it takes, if not the tree. Errors: as mujoco_plant."""
    import mujoco

    idle: tuple[str, ...] = ()
    if path is None:
        wide, idle = for_simulator(model, q)
        spec, robot = spec_with_shapes(_written(wide))
    else:
        spec, robot = spec_with_shapes(path)
    where = "the robot" if path is None else Path(path).name
    carrying = [_rigid_links(model, foot) for foot in feet or ()]
    touching = set() if feet is None else only_feet_touch(spec, carrying, path is None)
    if path is None:
        add_spheres(mujoco, spec, model, feet or (), q[0])
    if shapes:
        add_shapes(mujoco, spec, model)
    add_floor(mujoco, spec, friction)
    add_servos(mujoco, spec, motors, idle, servos)
    mj = compile_model(spec, robot)
    places = _places(model, mj, where)
    data = mujoco.MjData(mj)
    data.qpos[:] = configuration_to_mujoco(model, places, q[0])
    with collected_warnings():
        mujoco.mj_forward(mj, data)
    _agree(model, mj, data, q[0], where)
    for foot, links in zip(feet or (), carrying):
        if path is not None and not touching.intersection(links):
            raise InputError(
                f"foot {foot.name!r} has no colliding shape in the file: nothing would carry it. Give its link shapes, or leave "
                "path= out, which puts spheres at the points of feet")
    idle_positions = np.array([model.joint(name).iq for name in idle], dtype=np.int64)
    bodies: dict[int, list[int]] = {}
    for k, links in enumerate(carrying):
        for b in (b for b in range(mj.nbody) if mj.body(b).name in links):
            bodies.setdefault(b, []).append(k)
    points = tuple(_points(model, q[0], foot, links[0]) for foot, links in zip(feet or (), carrying))
    driven_positions, coordinates = (np.array([getattr(model.joint(n), k) for n in motors], np.int64) for k in ("iq", "iv"))
    return Plant(driven or model, tuple(feet or ()), mujoco, mj, data, places, _servos(mj, motors), driven_positions, coordinates,
        _servos(mj, idle), idle_positions, bodies, points)  # fmt: skip


def _servos(mj: Any, joints: Sequence[str]) -> np.ndarray:
    return np.array([mj.actuator(f"servo of {name}").id for name in joints], dtype=np.int64)


@remembered
def _written(model: Model) -> str:
    """The robot as an MJCF file, its root fixed to the world where the description ties it to nothing."""
    merged = merge_fixed(model)
    return to_mjcf(compile_description(with_base(merged.description, "fixed")) if merged.description.roots else merged)


def _places(model: Model, mj: Any, where: str) -> Places:
    """Where q and v are in qpos and qvel; InputError unless all of both are there."""
    places: Places | None
    try:
        places = mujoco_places(model, mj)
    except InputError:
        places = None
    if places is None or (places.q_from < 0).any() or (places.theirs_from < 0).any():
        raise InputError(f"{where} has other joints than the model of {model.name!r}: give the file that the model was read from")
    return places


def _agree(model: Model, mj: Any, data: Any, q: np.ndarray, where: str) -> None:
    """InputError where bodies stand elsewhere than the model's links."""
    moving = float(mj.body_mass[mj.body_weldid > 0].sum())
    off = abs(moving - model.mass) / max(model.mass, 1e-300)
    for b in range(1, mj.nbody):
        name = mj.body(b).name
        if name in model.link_names:
            off = max(off, float(np.abs(frame_pose(model, q, name)[:3, 3] - data.xpos[b]).max()))
    if off > PLANT_POSE_TOLERANCE:
        raise InputError(
            f"{where} is another robot than the model of {model.name!r}: masses or links differ by {off:.2g} (m, or of the mass). "
            "Give the file that the model was read from, unedited", difference=off)  # fmt: skip


def _rigid_links(model: Model, foot: Contact) -> list[str]:
    """The links that fixed joints join with that of a foot, the first of them first."""
    link = {s.name: s.link for s in model.description.sites}.get(foot.frame, foot.frame)
    groups = rigid_groups(model.description, with_world=False)
    return [name for name, (first, _) in groups.items() if first == groups[link][0]]


def _points(model: Model, q: np.ndarray, foot: Contact, link: str) -> np.ndarray:
    """(c, 3): of a foot, in the axes of a link, at the link's origin."""
    X = se3.inverse(frame_pose(model, q, link)) @ frame_pose(model, q, foot.frame)
    return np.asarray(X[:3, 3] + surface_points(model, foot) @ X[:3, :3].T)
