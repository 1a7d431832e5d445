"""What `from_mujoco` and `from_pinocchio` share: velocities, accelerations, forces and bias forces by the map of `model.states`."""

from __future__ import annotations

from typing import Any

import numpy as np

from freeflyer.dynamics.closed import motion, project_forces
from freeflyer.dynamics.equations import mass_matrix
from freeflyer.dynamics.evaluate import leading_axes
from freeflyer.errors import InputError
from freeflyer.model.inputs import finite_row
from freeflyer.model.model import Model
from freeflyer.model.states import velocities as V
from freeflyer.model.states.records import State

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
    v = None if x["v"] is None else V.motion_to_ours(c, q, x["v"])
    s = V.rates(c, v) if v is not None and turning and (x["a"] is not None or x["bias"] is not None) else None
    a = None if x["a"] is None else V.motion_to_ours(c, q, x["a"])
    if a is not None and s is not None:
        a = a - s
    tau = None if x["tau"] is None else V.forces_to_ours(c, q, x["tau"])
    bias = None if x["bias"] is None else V.forces_to_ours(c, q, x["bias"])
    if bias is not None and s is not None:
        bias = bias + _multiply(mass_matrix(tree, q), s)
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
        "v": None if v is None else V.motion_to_theirs(c, q, v),
        "a": None if a is None else V.motion_to_theirs(c, q, a + s),
        "tau": None if tau is None else V.forces_to_theirs(c, q, tau),
        "bias": None,
    }
    if bias is not None:
        found["bias"] = V.forces_to_theirs(c, q, bias - _multiply(mass_matrix(model, q), s) if turning else bias)
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
        if x["v"] is not None:
            v, moved = motion(model, q, x["v"]) if x["a"] is None else motion(model, q, x["v"], x["a"])
            x |= {"v": v, "a": None if x["a"] is None else moved}
        if x["tau"] is not None:
            forces = np.zeros((*lead, model.tree.nv))
            forces[..., model.reduction.split.independent] = x["tau"]
            x["tau"] = forces
    return q, {"v": x["v"], "a": x["a"], "tau": x["tau"], "bias": x["bias_forces"]}


def _independent_state(model: Model, independent: np.ndarray, state: State) -> State:
    """The state of all joints as that of the independent velocities: u, u_dot, G^T tau, G^T (bias + M gamma)."""
    q, v, a, tau, bias = state
    u, u_dot = (None if x is None else x[..., independent] for x in (v, a))
    if bias is not None:
        gamma = motion(model, q, u)[1]
        bias = project_forces(model, q, bias + _multiply(mass_matrix(model.tree, q), gamma))
    return State(q, u, u_dot, None if tau is None else project_forces(model, q, tau), bias)


def _leading_axes(q: np.ndarray, others: Arrays, names: dict[str, str]) -> tuple[int, ...]:
    """The batch axes of q and of the other rows that are given; `names`: what these are called in an error."""
    given = {"q": q} | {name: x for name, x in others.items() if x is not None}
    return leading_axes(list(given.values()), [1] * len(given), [names.get(name, name) for name in given])


def _broadcast(x: np.ndarray, lead: tuple[int, ...]) -> np.ndarray:
    return x if x.shape[:-1] == lead else np.broadcast_to(x, (*lead, x.shape[-1]))


def _multiply(M: np.ndarray, x: np.ndarray) -> np.ndarray:
    return np.einsum("...ij,...j->...i", M, x)
