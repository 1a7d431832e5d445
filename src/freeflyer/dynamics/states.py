"""States from and to MuJoCo and Pinocchio: velocities, accelerations, forces and bias forces by the map of `model.states`.

docs/conventions.md lists the differences, joint kind by joint kind."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics.closed import DRIFT, motion, multiply, project_forces, velocity_map
from freeflyer.dynamics.equations import mass_matrix
from freeflyer.dynamics.evaluate import leading_axes
from freeflyer.errors import InputError
from freeflyer.model import (
    Model, MujocoState, PinocchioState, Places, State, check_size, configuration_from_mujoco,
    configuration_from_pinocchio, configuration_to_mujoco, finite_row, mujoco_places, pinocchio_places, public,
    refuse_absent_base, velocities as V, velocity_matrix,
)

Arrays = dict[str, np.ndarray | None]


def to_ours(model: Model, c: V.Coordinates, q: np.ndarray, theirs: Arrays, names: dict[str, str]) -> State:
    """The state of a closed model or a tree from q (..., nq) and theirs {v, a, tau, bias}; `names`: what they are called there."""
    lead = _leading_axes(q, theirs, names)
    tree, q = model.tree, _broadcast(q, lead)
    x = {name: None if value is None else _broadcast(value, lead) for name, value in theirs.items()}
    turning = any(b.rate is not None for b in c.blocks)
    for name, needed in (("a", turning), ("bias", turning or model.reduction)):
        if x[name] is not None and x["v"] is None and needed:
            raise InputError(f"{names[name]} is converted with the velocity: give {names['v']} too", name=names[name])
    v, a = (None if y is None else V.motion_to_ours(c, q, y) for y in (x["v"], x["a"]))
    tau, bias = (None if y is None else V.forces_to_ours(c, q, y) for y in (x["tau"], x["bias"]))
    if v is not None and turning and (a is not None or bias is not None):
        s = V.rates(c, v)
        a = None if a is None else a - s
        bias = None if bias is None else bias + multiply(mass_matrix(tree, q), s)
    state = State(q, v, a, tau, bias)
    return _independent_state(model, model.reduction.split.independent, state) if model.reduction else state


def to_theirs(model: Model, c: V.Coordinates, q: np.ndarray, ours: Arrays) -> Arrays:
    """{v, a, tau, bias} there, of a tree's {v, a, tau, bias} (..., nv), checked and of the same batch axes as q."""
    v, a, tau, bias = (ours[k] for k in ("v", "a", "tau", "bias"))
    turning = any(b.rate is not None for b in c.blocks)
    if turning and v is None and (a is not None or bias is not None):
        raise InputError(f"{'a' if a is not None else 'bias_forces'} is converted with the velocity: give v too")
    s = V.rates(c, v) if turning and v is not None and (a is not None or bias is not None) else model._zero
    found: Arrays = {
        "v": None if v is None else V.motion_to_theirs(c, q, v), "a": None if a is None else V.motion_to_theirs(c, q, a + s),
        "tau": None if tau is None else V.forces_to_theirs(c, q, tau), "bias": None}
    if bias is not None:
        found["bias"] = V.forces_to_theirs(c, q, bias - multiply(mass_matrix(model, q), s) if turning else bias)
    return found


def check_state(model: Model, q: Any, v: Any, a: Any, tau: Any, bias: Any = None) -> tuple[np.ndarray, Arrays]:
    """(q, {v, a, tau, bias}) of the tree, finite, all of the same batch axes. A closed model's are those of its independent
    velocities; forces act there, and on the joints that follow from the loops none."""
    rows = {"v": v, "a": a, "tau": tau, "bias_forces": bias}
    q = finite_row(model, "q", q, "q")
    x = {name: None if value is None else finite_row(model, name, value, "u") for name, value in rows.items()}
    lead = _leading_axes(q, x, {})
    q, x = _broadcast(q, lead), {name: None if y is None else _broadcast(y, lead) for name, y in x.items()}
    if model.reduction:
        if bias is not None:
            raise InputError(f"the bias forces of {model.name!r} are along independent velocities: convert those of model.tree")
        if a is not None and v is None:
            raise InputError("a is converted with the velocity: give v too")
        u, u_dot = x["v"], x["a"]
        if u is not None:
            v, moved = motion(model, q, u, DRIFT if u_dot is None else u_dot)
            x |= {"v": v, "a": None if u_dot is None else moved}
        if x["tau"] is not None:
            forces = np.zeros((*lead, model.tree.nv))
            forces[..., model.reduction.split.independent] = x["tau"]
            x["tau"] = forces
    return q, {"v": x["v"], "a": x["a"], "tau": x["tau"], "bias": x["bias_forces"]}


def _independent_state(model: Model, independent: np.ndarray, state: State) -> State:
    """The state of all joints as that of the independent velocities: u, u_dot, G^T tau, G^T (bias + M gamma)."""
    q, v, a, tau, bias = state
    if bias is not None:
        gamma = motion(model, q, v[..., independent])[1]
        bias = project_forces(model, q, bias + multiply(mass_matrix(model.tree, q), gamma))
    u, u_dot = (None if x is None else x[..., independent] for x in (v, a))
    return State(q, u, u_dot, None if tau is None else project_forces(model, q, tau), bias)


def _leading_axes(q: np.ndarray, others: Arrays, names: dict[str, str]) -> tuple[int, ...]:
    """The batch axes of q and of the other rows that are given; `names`: what these are called in an error."""
    given = {"q": q} | {name: x for name, x in others.items() if x is not None}
    return leading_axes(list(given.values()), [1] * len(given), [names.get(name, name) for name in given])


def _broadcast(x: np.ndarray, lead: tuple[int, ...]) -> np.ndarray:
    return x if x.shape[:-1] == lead else np.broadcast_to(x, (*lead, x.shape[-1]))


MUJOCO_NAMES = {"q": "qpos", "v": "qvel", "a": "qacc", "tau": "qfrc", "bias": "bias_forces"}
PINOCCHIO_NAMES = {"q": "q", "v": "v", "a": "a", "tau": "tau", "bias": "bias_forces"}


@public
def from_mujoco(model: Model, qpos: ArrayLike, qvel: ArrayLike | None = None, qacc: ArrayLike | None = None,
                qfrc: ArrayLike | None = None, *, bias_forces: ArrayLike | None = None, mj_model: Any = None) -> State:
    """State (q, v, a, tau, bias_forces) of a state of MuJoCo's; None for values not given.

    Joints are matched by name with `mj_model`, or else with the MJCF file of the model, or the output of `to_mjcf`. Joints that
    are fixed in the model, or belong to other objects, are left out. A mimic joint follows its leader. A base that only the model
    has is at rest, at its pose in the file. For a closed model v and a are the independent ones and tau the force along them. Its
    q is as closed as MuJoCo's. Exact but for free joints' linear parts and bias, which are rotated: 1e-15 relative.

    Args:
        qpos, qvel, qacc, qfrc: (..., nq) and (..., nv) array of MuJoCo's sizes; qfrc is any of its generalised forces.
    Raises: InputError for sizes and joints of another robot. A free joint requires qvel for qacc and bias_forces, and closed
    loops require it for bias_forces. MuJoCo must have the base."""
    places, tree = mujoco_places(model.tree, mj_model), model.tree
    whose = "the sizes of the compiled mj_model" if mj_model is not None else "as in the MJCF file of the model (or give mj_model=)"
    x, theirs = _check_sizes(places, MUJOCO_NAMES, (qpos, qvel, qacc, qfrc, bias_forces), whose)
    if bias_forces is not None and places.absent_base:
        raise InputError(f"the bias forces of base {places.absent_base[0]!r} of {model.name!r} are not in MuJoCo's: the MJCF "
            "file fixes it", joint=places.absent_base[0])
    return to_ours(model, places.velocities, configuration_from_mujoco(tree, places, x), theirs, MUJOCO_NAMES)


@public
def to_mujoco(model: Model, q: ArrayLike, v: ArrayLike | None = None, a: ArrayLike | None = None,
              tau: ArrayLike | None = None, *, bias_forces: ArrayLike | None = None,
              mj_model: Any = None) -> MujocoState:
    """State (qpos, qvel, qacc, qfrc, bias) of MuJoCo's for a state of freeflyer; None for values not given.

    The reverse of from_mujoco. Joints that the model lacks are at rest, where they are locked or the file has them. Forces on
    mimic joints are zero, because tau acts on their leaders. Of a closed model v and a give the motion of all joints; tau acts on
    the independent ones.

    Raises: InputError as from_mujoco. A free joint requires v for a and bias_forces, and closed loops require it for a. Also
    for bias_forces of a closed model (convert those of model.tree). A base that MuJoCo lacks must be at rest, without forces."""
    places = mujoco_places(model.tree, mj_model)
    x, given = check_state(model, q, v, a, tau, bias_forces)
    qpos = configuration_to_mujoco(model.tree, places, x)
    for name, value in given.items():
        if value is not None:
            refuse_absent_base(model.tree, places, PINOCCHIO_NAMES[name], value)
    return MujocoState(qpos, *to_theirs(model.tree, places.velocities, x, given).values())


@public
def mujoco_velocity_map(model: Model, q: ArrayLike, *, mj_model: Any = None) -> np.ndarray:
    """Matrix T(q) of qvel = T v, (..., nv of MuJoCo, nv); hence M = T^T M_mujoco T, J = J_mujoco T and tau = T^T qfrc."""
    places = mujoco_places(model.tree, mj_model)
    q = finite_row(model, "q", q, "q")
    T = velocity_matrix(places.velocities, q)
    return T @ velocity_map(model, q) if model.reduction else T


def _check_sizes(places: Places, names: dict[str, str], given: tuple[Any, ...], whose: str) -> tuple[Any, Arrays]:
    """(their configuration, their {v, a, tau, bias}), of their sizes; `names`: of the five, `whose`: where the sizes come from."""
    sizes = {"q": len(places.theirs_from)}
    x = {name: None if value is None else check_size(names[name], value, sizes.get(name, len(places.velocities.leaders)),
         f"{'nq' if name == 'q' else 'nv'} {whose}") for name, value in zip(names, given)}
    return x.pop("q"), x


@public
def from_pinocchio(model: Model, pin_model: Any, q: ArrayLike, v: ArrayLike | None = None, a: ArrayLike | None = None,
                   tau: ArrayLike | None = None, *, bias_forces: ArrayLike | None = None) -> State:
    """State (q, v, a, tau, bias_forces) of a state of Pinocchio's; None for values not given.

    A continuous joint's angle comes out in (-pi, pi], by atan2: within 5e-16 rad. A mimic joint follows its leader. Of a closed
    model v and a are the independent ones, tau the force along them. Exact but for continuous and planar joints, and a base that
    floats by another link there. Armature on free and spherical joints adds a term to the bias forces here, which is not
    converted.

    Args:
        q: (..., nq) array, Pinocchio's configuration; nq and nv are those of Pinocchio here, also of v, a and tau.
    Raises: InputError for sizes, joints of another robot, joints without counterpart (translation, Euler angles), and norms.
    A planar joint requires v for a and bias_forces, and closed loops require it for bias_forces."""
    places = pinocchio_places(pin_model, model.tree)
    x, theirs = _check_sizes(places, PINOCCHIO_NAMES, (q, v, a, tau, bias_forces), "of the Pinocchio model")
    return to_ours(model, places.velocities, configuration_from_pinocchio(model.tree, places, x), theirs, PINOCCHIO_NAMES)


@public
def to_pinocchio(model: Model, pin_model: Any, q: ArrayLike, v: ArrayLike | None = None, a: ArrayLike | None = None,
                 tau: ArrayLike | None = None, *, bias_forces: ArrayLike | None = None) -> PinocchioState:
    """State (q, v, a, tau, bias) in Pinocchio's coordinates for a state of freeflyer; None for values not given.

    The reverse of from_pinocchio. Forces on mimic joints are zero, because tau acts on their leaders.

    Raises: InputError as from_pinocchio; a planar joint requires v for a and bias_forces, closed loops require it for a. Also for
    bias_forces of a closed model (convert those of model.tree)."""
    places = pinocchio_places(pin_model, model.tree)
    x, given = check_state(model, q, v, a, tau, bias_forces)
    return PinocchioState(places.to_theirs(x), **to_theirs(model.tree, places.velocities, x, given))
