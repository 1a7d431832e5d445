"""A robot's scene for MuJoCo: a floor, shapes under feet, servos, stiff loops, each tied by a point or a pose.

A pin of a planar linkage, two rows, becomes a point if the linkage keeps the third row closed anyway; that is checked. A universal
joint that was cut, a point and one angle, becomes a point: a soft servo holds the angle, about which a piece only turns idly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from freeflyer.contacts import Contact, surface_points
from freeflyer.dynamics.frames import frame_pose
from freeflyer.errors import InputError
from freeflyer.linkages import constraint_jacobian, constraint_residual, partition
from freeflyer.model import (
    POINT, SMALLEST, Loop, Model, compile_description, number, placement, positive, rigid_groups, true_or_false)
from freeflyer.model.readers.mjcf.meshes import collides, delete
from freeflyer.model.visuals.reading import visuals
from freeflyer.tolerances import IDLE_RATIO, PLANT_LOOP_GAP

RADIUS = 0.005  # m: radius of the spheres under feet without shapes
IDLE_STIFFNESS, IDLE_DAMPING = 2.0, 0.02  # N m/rad, N m s/rad: of the servos of idle pieces
STIFF = (0.002, 1.0)  # MuJoCo's solref of floor and spheres: penetrations stay below a millimetre
LARGEST_GAIN = 1e15  # of gains and times
FLOOR = "floor"
FLAT = 1e-5  # m: meshes of less depth are left out
SHOWN_GROUP, HIDDEN = 2, 3  # of geoms: MuJoCo's viewer shows groups 0 to 2
LIGHT_AT = (1.0, -1.5, 4.0)  # m


@dataclass(frozen=True)
class Servos:
    """Servos of a plant's motors, force = stiffness (target - position) - damping rate, and MuJoCo's settings.

    Args:
        stiffness: float, N/m, N m/rad.
        damping: N s/m, N m s/rad.
        dt: MuJoCo's step, s.
        loop_time, loop_impedance: How stiffly MuJoCo ties loops: solref[0], s, at least 2 dt; solimp[0] = solimp[1], below 1. Soft
            loops deform under load, as linkages that flex do.
        friction: Whether the joints keep the damping and friction of the file.
    Raises: InputError for values that are not positive numbers, for a loop_time below 2 dt, and for a loop_impedance of 1 or more.

    Examples:
        At rest the servos' forces, stiffness times error, are those that hold the robot against gravity (N m):

        >>> model, targets = ff.robots.chain(2), np.array([0.3, 0.0])
        >>> plant = ff.sim.mujoco_plant(model, motors=model.actuated, servos=ff.sim.Servos(stiffness=50.0, damping=1.0))
        >>> run = ff.sim.simulate_in_mujoco(plant, model.neutral, np.zeros(2), dt=0.01, duration=2.0, targets=targets)
        >>> print(f"{50.0 * (targets - run.q[-1])[0]:.3f}, {ff.gravity_forces(model, run.q[-1])[0]:.3f}")
        0.285, 0.285
    """

    stiffness: float = 1e6
    damping: float = 3e3
    dt: float = 0.0005
    loop_time: float = 0.001
    loop_impedance: float = 0.999
    friction: bool = True

    def __post_init__(self) -> None:
        for name in ("stiffness", "damping", "dt", "loop_time", "loop_impedance"):
            number(name, positive(name, getattr(self, name)), SMALLEST, LARGEST_GAIN)
        true_or_false("friction of Servos", self.friction)
        if self.loop_time < 2.0 * self.dt or not self.loop_impedance < 1.0:
            raise InputError(
                f"loops with loop_time = {self.loop_time:g} s and loop_impedance = {self.loop_impedance:g} do not hold in MuJoCo: "
                f"take loop_time of at least two steps ({2 * self.dt:g} s) and an impedance below 1")


def only_feet_touch(spec: Any, feet: Sequence[Sequence[str]], bare: bool) -> set[str]:
    """Of the shapes those on the links of feet alone touch the floor, none if feet get spheres (bare); the links that do."""
    links, touching = {link for foot in feet for link in foot}, set[str]()
    for geom in spec.geoms:
        touches = geom.parent.name in links and not bare and collides(geom)
        geom.contype, geom.conaffinity = int(touches), 0
        touching |= {geom.parent.name} if touches else set()
    return touching


def add_spheres(mujoco: Any, spec: Any, model: Model, feet: Sequence[Contact], q: np.ndarray) -> None:
    """Spheres at the points of feet, their lowest points there while the robot stands at q (nq,)."""
    for foot in feet:
        site = next((s for s in spec.sites if s.name == foot.frame), None)
        body = spec.body(foot.frame) if site is None else site.parent
        X = np.eye(4) if site is None else placement(np.array(site.pos), np.array(site.quat))
        up = X[:3, :3] @ frame_pose(model, q, foot.frame)[2, :3]
        for p in surface_points(model.tree, foot):
            at = X[:3, :3] @ p + X[:3, 3] + RADIUS * up
            ball = body.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[RADIUS, 0, 0], pos=at, mass=0.0, contype=1, conaffinity=0,
                                 solref=STIFF)  # fmt: skip
            if foot.friction is not None:
                ball.friction[0] = foot.friction


def add_shapes(mujoco: Any, spec: Any, model: Model) -> None:
    """The shapes in which the robot is seen, without mass and contacts, and light. MuJoCo's viewer hides those of the file."""
    bodies, groups = {body.name: body for body in spec.bodies}, rigid_groups(model.description)
    for geom in spec.geoms:
        geom.group = HIDDEN
    for k, shape in enumerate(visuals(model).shapes):
        top, X = (shape.link, np.eye(4)) if shape.link in bodies else groups[shape.link]
        mesh = shape.mesh.moved(X)
        if top not in bodies or np.linalg.matrix_rank(mesh.vertices - mesh.vertices[0], tol=FLAT) < 3:
            continue
        made = spec.add_mesh(name=f"shape {k} of {shape.link}", inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL)
        made.uservert, made.userface = mesh.vertices.ravel().tolist(), mesh.faces.ravel().tolist()
        bodies[top].add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname=made.name, rgba=shape.colour, mass=0.0, contype=0,
                             conaffinity=0, group=SHOWN_GROUP)  # fmt: skip
    light = spec.worldbody.add_light(pos=LIGHT_AT, dir=[-x for x in LIGHT_AT], diffuse=[0.7] * 3)
    light.castshadow, light.type = True, mujoco.mjtLightType.mjLIGHT_DIRECTIONAL


def add_floor(mujoco: Any, spec: Any, friction: float | None = None) -> None:
    """A chequered plane at height 0 that touches all that may touch something; friction: its coefficient, MuJoCo's of 1 if None."""
    spec.add_texture(name=FLOOR, type=mujoco.mjtTexture.mjTEXTURE_2D, builtin=mujoco.mjtBuiltin.mjBUILTIN_CHECKER, width=64,
                     height=64, rgb1=[0.86] * 3, rgb2=[0.8] * 3)  # fmt: skip
    tiles = spec.add_material(name=FLOOR, texrepeat=[2, 2], texuniform=True)
    tiles.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = FLOOR
    floor = spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1], contype=0, conaffinity=1, solref=STIFF)
    floor.name = floor.material = FLOOR
    if friction is not None:
        floor.friction[0] = friction


def add_servos(mujoco: Any, spec: Any, motors: Sequence[str], idle: Sequence[str], servos: Servos) -> None:
    """Position servos in place of the file's actuators, soft ones on idle pieces; loops, step and friction as in `servos`."""
    for old in (*spec.actuators, *spec.keys):  # keyframes hold controls of the file's own actuators
        delete(spec, old)
    gains = [(name, servos.stiffness, servos.damping) for name in motors]
    gains += [(name, IDLE_STIFFNESS, IDLE_DAMPING * bool(motors)) for name in idle]
    for name, stiffness, damping in gains:
        servo = spec.add_actuator()
        servo.name, servo.target, servo.trntype = f"servo of {name}", name, mujoco.mjtTrn.mjTRN_JOINT
        servo.gaintype, servo.biastype = mujoco.mjtGain.mjGAIN_FIXED, mujoco.mjtBias.mjBIAS_AFFINE
        servo.gainprm[0] = stiffness
        servo.biasprm[:3] = [0.0, -stiffness, -damping]
    spec.option.timestep = servos.dt
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    for equality in spec.equalities:
        equality.solref[0] = servos.loop_time
        equality.solimp[:2] = servos.loop_impedance
    if not servos.friction:
        for joint in spec.joints:
            joint.damping[:], joint.frictionloss = 0.0, 0.0
    integrators = mujoco.mjtIntegrator
    spec.option.integrator = integrators.mjINT_IMPLICITFAST if motors else integrators.mjINT_EULER
    if not motors:  # MuJoCo makes damping implicit after it has found the forces of loops and contacts; as armature they know of it
        spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_EULERDAMP
        for joint in spec.joints:
            joint.damping[0] += IDLE_DAMPING * (joint.name in idle)
            joint.armature += servos.dt * joint.damping[0]


def for_simulator(model: Model, q: np.ndarray) -> tuple[Model, tuple[str, ...]]:
    """The robot with the loops that MuJoCo holds, checked at the closed postures q (n, nq), and joints whose rotation no row
    determines any more. Errors: InputError for loops that MuJoCo cannot tie."""
    loops = tuple(_widen(model, loop) for loop in model.description.loops)
    if loops == model.description.loops:
        return model, ()
    wide = compile_description(replace(model.description, loops=loops))
    gap = float(np.abs(constraint_residual(wide, q)).max())
    if gap > PLANT_LOOP_GAP:
        raise InputError(
            f"MuJoCo ties points and poses only, and with these the loops of {model.name!r} stay open in the given postures (by "
            f"{gap:.2g} m or rad)",
            gap=gap)  # fmt: skip
    return wide, _idle(model, wide, q[0])


def _widen(model: Model, loop: Loop) -> Loop:
    turns = sum(loop.mask[3:])
    if turns in (0, 1) and any(loop.mask[:3]):
        return replace(loop, mask=POINT)
    if turns == 3:
        return loop
    raise InputError(f"loop {loop.name!r} of {model.name!r} ties {loop.mask}: MuJoCo ties points and poses only", loop=loop.name)


def _idle(model: Model, wide: Model, q: np.ndarray) -> tuple[str, ...]:
    """The joints that move while motors and base rest; each of them moves no other joint."""
    split = partition(model, q)
    J = constraint_jacobian(wide, q)[:, split.dependent]
    _, values, rows = np.linalg.svd(J)
    rank = int((values > PLANT_LOOP_GAP * values[0]).sum())
    null = rows[rank:]
    moving = np.flatnonzero(np.abs(null).max(axis=0, initial=0.0) > IDLE_RATIO ** 0.5)
    owner = [next(j.name for j in model.joints if j.iv <= split.dependent[k] < j.iv + j.nv) for k in moving]
    if len(owner) != len(null):
        raise InputError(f"the loops of {model.name!r} that tie an angle move other joints ({', '.join(owner[:6])}): MuJoCo ties "
            "points and poses only", joints=tuple(owner))  # fmt: skip
    return tuple(owner)
