"""Residual, Jacobian and bias of the constraint rows of loops and couplings.

    residual(q (+) v dt) = residual(q) + J v dt + O(dt^2)      d/dt (J v) = J vdot + bias

The second holds everywhere. The first holds at closure for all rows, and everywhere for linear rows, couplings and a single tied
turn. With two or three tied turns the angular rows are the relative angular velocity in frame_a's axes; away from closure J^T
residual still is the gradient of |residual|^2 / 2 everywhere. Source: Kangaroo paper, eqs. (1)-(10), (48)-(57)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics.evaluate import evaluate
from freeflyer.kernels import entries as E
from freeflyer.kernels.model import layout as L
from freeflyer.model import WORLD, Model, Record, explain, frozen_array as frozen, public, remembered

DIRECTIONS = ("x", "y", "z", "rx", "ry", "rz")


@public
def constraint_names(model: Model) -> tuple[str, ...]:
    """Names of the constraint rows: of each loop's tied directions ("knee_rod.x"), then of couplings; tuple of r str."""
    loops = [f"{loop.name}.{d}" for loop in model.loops for d, m in zip(DIRECTIONS, loop.mask) if m]
    return tuple(loops + [c.name for c in model.description.couplings])


def row_directions(model: Model) -> tuple[int, ...]:
    """The tied direction of each loop's row, as its place in DIRECTIONS; couplings have none."""
    return tuple(k for loop in model.loops for k, m in enumerate(loop.mask) if m)


def constraint_loops(model: Model) -> tuple[str, ...]:
    """The loop (or coupling) of each row."""
    loops = [loop.name for loop in model.loops for m in loop.mask if m]
    return tuple(loops + [c.name for c in model.description.couplings])


def constraint_residual(model: Model, q: ArrayLike) -> np.ndarray:
    """Residual of the constraint rows: by how much each tied direction is open; zero where the linkage is closed.

    Linear rows: the vector from frame_a's origin to frame_b's. Three tied turns: the rotation vector from frame_a to frame_b.
    Two: that of the shortest turn that takes the free axis of frame_a to that of frame_b. One: its entry of the rotation vector.
    Coupling rows: position1 - polynomial(position2).

    Returns: (..., r) array, m or rad, along frame_a's axes, in the order of constraint_names."""
    try:
        residual = E.CONSTRAINT_RESIDUAL.call(model.handle, q, None)
        return residual if residual is not None else evaluate(E.CONSTRAINT_RESIDUAL, model, (q,), ("q",))
    except Exception as error:
        explain(error, constraint_residual, locals())
        raise


def constraints(model: Model, q: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """(residual (..., r), J (..., r, nv)) from one pass."""
    residual, J = E.CONSTRAINTS.call(model.handle, q, None) or evaluate(E.CONSTRAINTS, model, (q,), ("q",))
    return residual, J


@public
def constraint_jacobian(model: Model, q: ArrayLike) -> np.ndarray:
    """Jacobian J of the constraint rows: the twist of frame_b relative to frame_a, in frame_a's axes, for each velocity coordinate.

    Returns: (..., r, nv) array, m/s and rad/s, for each velocity of all joints (nv of model.tree) of one; rows in the order of
    constraint_names."""
    return constraints(model, q)[1]


def constraint_bias(model: Model, q: ArrayLike, v: ArrayLike) -> np.ndarray:
    """Bias Jdot v (..., r) of the constraint rows, m/s^2 and rad/s^2: the rate of J v while no coordinate accelerates."""
    try:
        bias = E.CONSTRAINT_BIAS.call(model.handle, q, v, None)
        return bias if bias is not None else evaluate(E.CONSTRAINT_BIAS, model, (q, v), ("q", "v"))
    except Exception as error:
        explain(error, constraint_bias, locals())
        raise


BASES = ("free", "planar")


@dataclass(frozen=True)
class Structure(Record):
    """A model's loops and couplings ("ties") and the kinds of its velocity coordinates.

    names: of the ties, loops first. rows: for each tie its constraint rows. coordinates: for each tie the velocity coordinates of
    the joints in its loop. base, actuated, passive (n,): the coordinates of the floating (or planar) base, of the motors, and of
    all other joints; sprung: those of passive joints with springs. owner: the joint's name of each coordinate (nv)."""

    names: tuple[str, ...]
    rows: tuple[np.ndarray, ...]
    coordinates: tuple[np.ndarray, ...]
    base: np.ndarray
    actuated: np.ndarray
    passive: np.ndarray
    sprung: np.ndarray
    owner: tuple[str, ...]


@remembered
def structure(model: Model) -> Structure:
    owner = [""] * model.nv
    kinds: dict[str, list[int]] = {"base": [], "actuated": [], "passive": [], "sprung": []}
    springs = {j.name for j in model.description.joints if j.sprung}
    motors = set(model.actuated)
    for joint in model.joints:
        here = range(joint.iv, joint.iv + joint.nv)
        if joint.name in motors:
            kind = "actuated"
        else:
            kind = "base" if joint.kind in BASES and joint.parent == WORLD else "passive"
        kinds[kind] += here
        kinds["sprung"] += here if kind == "passive" and joint.name in springs else ()
        for i in here:
            owner[i] = joint.name
    rows, coordinates, first = [], [], 0
    for k, loop in enumerate(model.loops):
        rows.append(frozen(np.arange(first, first + sum(loop.mask))))
        coordinates.append(_loop_coordinates(model, k))
        first += sum(loop.mask)
    for k in range(len(model.description.couplings)):
        at = int(model.topology[L.COUPLINGS_AT]) + L.COUPLING_INTS * k
        ends = {int(model.topology[at + L.FIRST_VELOCITY]), int(model.topology[at + L.SECOND_VELOCITY])} - {-1}
        rows.append(frozen(np.array([first + k])))
        coordinates.append(frozen(np.array(sorted(ends))))
    names = [loop.name for loop in model.loops] + [c.name for c in model.description.couplings]
    base, actuated, passive, sprung = (frozen(np.array(sorted(kinds[k]), dtype=np.int64)) for k in kinds)
    return Structure(tuple(names), tuple(rows), tuple(coordinates), base, actuated, passive, sprung, tuple(owner))


def _loop_coordinates(model: Model, k: int) -> np.ndarray:
    """Coordinates of the joints on the two branches of loop k, below their common ancestor."""
    t = model.topology
    at = int(t[L.LOOPS_AT]) + L.LOOP_INTS * k
    i, j = (int(t[t[L.FRAMES_AT] + t[at + end]]) for end in (L.FRAME_A, L.FRAME_B))
    found: set[int] = set()
    while i != j:
        coordinates, parent = _joint_of(t, max(i, j))  # a parent has the smaller number
        found |= coordinates
        i, j = (parent, j) if i > j else (i, parent)
    return frozen(np.array(sorted(found), dtype=np.int64))


def support(model: Model, frame: str) -> set[int]:
    t, found = model.topology, set[int]()
    body = int(t[int(t[L.FRAMES_AT]) + model.frame(frame)])
    while body > 0:
        coordinates, body = _joint_of(t, body)
        found |= coordinates
    return found


def _joint_of(t: np.ndarray, body: int) -> tuple[set[int], int]:
    """(velocity coordinates of the joint that carries a body, its parent)."""
    here = L.HEADER + L.BODY_INTS * body
    first, count = int(t[here + L.FIRST_COLUMN]), int(t[here + L.COLUMN_COUNT])
    at = [int(t[L.COLUMNS_AT]) + L.COLUMN_INTS * c + L.COORDINATE for c in range(first, first + count)]
    return {int(t[i]) for i in at}, int(t[here + L.PARENT])


def groups(ties: list[set[int]]) -> list[list[int]]:
    """Numbers of ties that share coordinates, directly or through others; each group in order, by its first tie."""
    found: list[tuple[set[int], list[int]]] = []
    for k, coordinates in enumerate(ties):
        touching = [g for g in found if g[0] & coordinates]
        merged = set(coordinates).union(*(g[0] for g in touching))
        members = sorted([k, *(i for g in touching for i in g[1])])
        found = [g for g in found if all(g is not t for t in touching)] + [(merged, members)]
    return sorted((members for _, members in found), key=lambda m: m[0])
