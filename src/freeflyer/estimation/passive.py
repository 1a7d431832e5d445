"""Sensors of a closed robot; from them its passive joints, step by step (Kangaroo paper, section VI-A), and motor forces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics import leading_axes, reduction_of
from freeflyer.errors import FreeflyerError, InputError, LinkageError
from freeflyer.kernels.compiler.calls.running import batch, state as state_of, table_handle
from freeflyer.kernels.entries import CLOSED_TORQUES, PASSIVE_STEP
from freeflyer.kernels.entry import OK, STATE
from freeflyer.kernels.model.layout import MEASURED
from freeflyer.linkages import (
    assemble, close_loops, constraint_residual, list_names, motion_map, partition, q_of_v, singular_posture, structure)
from freeflyer.model import (
    Model, Partition, check_configuration, check_shape, frozen_array as frozen, name_list, number, one_row, positive,
    public, real_array, remembered, row)
from freeflyer.text import short_repr
from freeflyer.tolerances import ENCODER_MARGIN, MAX_CORRECTION_PER_STEP, MIN_COUPLING


@dataclass(frozen=True)
class Sensors:
    """The measured joints of a closed robot, and the joints that follow from them through the loops. Made by `sensors`.

    Attributes:
        model: The robot as a tree.
        partition: The split of its velocities.
        names: (n,) tuple of str, measured joints, in the order of their measurements.
        coordinates, positions: (n,) array, their entries of v and of q.
        lower, upper: (n,) array, their limits, m or rad.
        stationary: Joints taken as fixed: declared rigid, or turning about themselves only.
        passive: (m,) array, entries of v that follow through the loops.
        encoder_limits: (2 n,) array, the lower, then the upper ends of the accepted readings, m or rad: the limits with a margin
            of 2 % of the stroke.
        closed: The model, loops closed."""

    __repr__ = short_repr

    model: Model
    partition: Partition
    names: tuple[str, ...]
    coordinates: np.ndarray
    positions: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    stationary: tuple[str, ...]
    passive: np.ndarray
    encoder_limits: np.ndarray
    closed: Model

    @cached_property
    def handle(self) -> Any:
        """Handle of the closed model with the table of its encoders, for compiled code."""
        joints, positions = np.asarray(self.coordinates), np.asarray(self.positions)
        fit = joints.shape == positions.shape == (len(self.names),) and len(self.encoder_limits) == 2 * len(joints)
        if not fit or not _are_valid_indices(joints, self.model.nv) or not _are_valid_indices(positions, self.model.nq):
            raise InputError("these sensors were not made by freeflyer.estimation.sensors: their coordinates are not the model's")
        table = np.array([len(joints), *joints, *positions], np.int64)
        return table_handle(self.closed.topology, self.closed.parameters, MEASURED, table)

    def __getstate__(self) -> dict[str, Any]:
        return {name: x for name, x in vars(self).items() if name != "handle"}


def _are_valid_indices(indices: np.ndarray, n: int) -> bool:
    return indices.dtype.kind == "i" and bool(((indices >= 0) & (indices < n)).all())


@public
def sensors(model: Model, also: Sequence[str] = (), rigid: Sequence[str] = ()) -> Sensors:
    """The encoders of a closed robot: those of its motors, and of other joints named. They are remembered for each model.

    Args:
        also: Further measured joints.
        rigid: Joints without motor or encoder that are taken as fixed (stiff springs).
    Raises: InputError for robots without loops or motors, joints with several coordinates, and joints that are measured and
    rigid. LinkageError for joints that move others and are neither measured nor determined, and for measured ones that follow the
    motors."""
    return _sensors(model.tree, name_list("also", also), name_list("rigid", rigid))


@remembered
def _sensors(model: Model, also: tuple[str, ...], rigid: tuple[str, ...]) -> Sensors:
    if not model.constraint_rows[0]:
        raise InputError(f"{model.name!r} has no loops: its joints do not follow each other, there is no passive state to estimate",
            robot=model.name)
    if not model.description.actuated:
        raise InputError(
            f"{model.name!r} names no motors: name them (`actuated` of a loop file, `name_mot`, or <actuator> in MJCF)",
            robot=model.name)
    split, s, place = partition(model), structure(model), q_of_v(model)
    for name in (*also, *rigid):
        model.joint(name)
    both = [n for n in rigid if n in also or n in model.actuated]
    if both:
        raise InputError(f"{list_names(both)}: a joint is measured or rigid, not both", joints=tuple(both))
    names = tuple(dict.fromkeys((*model.actuated, *also)))
    coordinates = np.array([encoded(model, n) for n in names], dtype=np.int64)
    for name, j in zip(names, coordinates):
        if j in split.dependent:
            raise LinkageError(
                f"joint {name!r} follows the motors through its loops: measuring it as well leaves the estimator no freedom. "
                "Encoders on passive joints serve to calibrate (freeflyer.estimation.calibrate)", joint=name)
    left = [j for j in split.independent if j not in set(coordinates.tolist()) and s.owner[j] not in rigid]
    moving = _moving(model, split, left, s.owner)
    if moving:
        raise LinkageError(
            f"the positions of {list_names(moving)} are neither measured nor determined, and the loops of {model.name!r} "
            "depend on them: measure these joints (also=) or take them as fixed (rigid=)", joints=tuple(moving))
    stationary = tuple(dict.fromkeys(s.owner[j] for j in split.independent if j not in coordinates and j not in split.base))
    lower, upper = model.position_lower[coordinates], model.position_upper[coordinates]
    return Sensors(model, split, names, frozen(coordinates), frozen(place[coordinates]), frozen(lower), frozen(upper), stationary,
        split.dependent, frozen(_encoder_ranges(lower, upper)), close_loops(model))


def encoded(model: Model, name: str) -> int:
    """The coordinate of a joint that an encoder measures. Errors: InputError, UnknownNameError."""
    joint = model.joint(name)
    if joint.nv != 1 or joint.nq != 1:
        raise InputError(f"joint {name!r} is {joint.kind}: an encoder measures a joint with one coordinate", joint=name)
    return joint.iv


def _encoder_ranges(lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    bounded = np.isfinite(lower) & np.isfinite(upper)
    margin = ENCODER_MARGIN * np.subtract(upper, lower, out=np.zeros(len(lower)), where=bounded)
    return np.concatenate([lower - margin, upper + margin])


def _moving(model: Model, split: Partition, left: list[int], owner: tuple[str, ...]) -> list[str]:
    """Of the coordinates `left`, the joints that move joints other than themselves."""
    place = {j: k for k, j in enumerate(split.independent.tolist())}
    moves = np.abs(motion_map(model, split, split.q[None])[0]) > MIN_COUPLING
    return list(dict.fromkeys(owner[j] for j in left if {owner[d] for d in np.flatnonzero(moves[:, place[j]])} - {owner[j]}))


def refuse_state(model: Model, quality: float, *given: tuple[str, np.ndarray, str]) -> LinkageError:
    """The error of a state at which compiled code found sub-mechanism k singular, which it tells by the quality -1 - k; InputError
    for arrays (name, x, letter) that are not finite or hold quaternions of another length."""
    for name, x, letter in given:
        check_configuration(model, name, x, letter)
    rows, _ = reduction_of(close_loops(model)).blocks[max(round(-1.0 - quality), 0)]
    loops = next(b.loops for b in partition(model).blocks if rows[0] in b.rows)
    return singular_posture(model, loops, np.empty(0, np.int64))


ALPHA, BETA = 1.0, 1000.0  # 1/s, Kangaroo paper


@dataclass(frozen=True, slots=True)
class PassiveState:
    """The estimated state of a closed robot.

    Attributes:
        q: (..., nq) array, configuration of the tree.
        v: (..., nv) array, velocity of the tree, which keeps closed loops closed, Kangaroo paper, eqs. (35), (36).
        pivots: float or (...) array, ratio of smallest to largest pivot of the worst sub-mechanism: near 0 it is nearly singular.
            1 at the start."""

    q: np.ndarray
    v: np.ndarray
    pivots: Any


@public
def passive_state(model: Model | Sensors, q: ArrayLike | None = None) -> PassiveState:
    """The state at rest from which to estimate, with loops closed by the joints without encoder.

    Args:
        q: (..., nq) array, configuration of the tree, quaternions of unit length; that of the file if not given.
    Returns: PassiveState.
    Raises: AssemblyError if the loops do not close."""
    s = sensors_of(model)
    x = s.partition.q if q is None else row(s.model, "q", q, "q")
    closed = assemble(s.model, x, hold=s.names, limits=False)
    return PassiveState(closed.q, np.zeros((*closed.q.shape[:-1], s.model.nv)), np.ones(closed.q.shape[:-1])[()])


@public
def update_passive_state(model: Model | Sensors, state: PassiveState, positions: ArrayLike, rates: ArrayLike, dt: float = 0.001, *,
                         alpha: float = ALPHA, beta: float = BETA) -> PassiveState:
    """The state a time dt later, from the positions and rates that the encoders show, Kangaroo paper, section VI-A, (35)-(40).

        theta_a* = rate + beta (position - theta_a)         measured joints follow their encoders
        J_l theta_u* = alpha e_l - J_la theta_a*            passive ones follow them, and close the loops

    e_l is minus the residual of `constraint_residual`. The base and joints that nothing measures stay where they are.

    Args:
        positions, rates: (..., n) array of the encoders, m or rad, m/s or rad/s, in the order of `Sensors.names`.
        alpha, beta: Gains of closure and encoders, 1/s, by default the paper's. Loops close with the time constant 1 / alpha. At
            beta dt = 1 a step takes the measured joints where their encoders will be a step later.
    Raises: InputError for positions out of their stroke, and gains above 2 / dt; LinkageError for a singular sub-mechanism."""
    s = sensors_of(model)
    gains, lead = _gains(alpha, beta, dt), tuple[int, ...]()
    n, nq, nv = len(s.names), s.model.nq, s.model.nv
    q, count = state.q, 1
    if (
        type(positions) is np.ndarray and type(rates) is np.ndarray and positions.shape == rates.shape == (n,)
        and q.shape == (nq,) and positions.dtype == rates.dtype == np.float64 == q.dtype and q.flags.c_contiguous
        and positions.flags.c_contiguous and rates.flags.c_contiguous):
        x, dx = positions, rates
    else:
        q, x, dx, lead = _broadcast(s, q, positions, rates)
        count = int(np.prod(lead))
    if not lead:
        q_next, v, quality = np.empty(nq), np.empty(nv), np.empty(1)
        status, where = state_of(PASSIVE_STEP, s.handle, q, x, dx, s.encoder_limits, gains, q_next, v, quality)
        if status == OK:
            return PassiveState(q_next, v, float(quality[0]))
        raise _refusal(s, q, x, dx, quality[0])
    flat = q.reshape(count, nq), x.reshape(count, n), dx.reshape(count, n), s.encoder_limits, gains
    q_next, v, quality = np.empty((count, nq)), np.empty((count, nv)), np.empty((count, 1))
    status, where = batch(PASSIVE_STEP, s.handle, flat, (), (q_next, v, quality), 0, count)
    if status != OK:
        raise _refusal(s, q, x, dx, quality[where[STATE], 0])
    return PassiveState(q_next.reshape(*lead, nq), v.reshape(*lead, nv), quality.reshape(lead))


@public
def constraint_error(model: Model | Sensors, q: ArrayLike) -> Any:
    """The norm of the residual of the independent constraint rows: by how much the loops are open; (...), m and rad.

    It is the error that (38) of the Kangaroo paper closes and its Fig 19, bottom, shows."""
    s = sensors_of(model)
    return np.linalg.norm(constraint_residual(s.model, q)[..., s.partition.rows], axis=-1)[()]


def sensors_of(model: Model | Sensors) -> Sensors:
    if isinstance(model, Sensors):
        return model
    if isinstance(model, Model):
        return sensors(model)
    raise InputError(f"expected a Model or Sensors (freeflyer.estimation.sensors), got {type(model).__name__}")


@lru_cache(maxsize=64, typed=True)  # True is no 1.0
def _gains(alpha: float, beta: float, dt: float) -> np.ndarray:
    alpha, beta, dt = number("alpha", alpha, 0.0), number("beta", beta, 0.0), positive("dt", dt)
    if max(alpha, beta) * dt > MAX_CORRECTION_PER_STEP:
        raise InputError(
            f"alpha = {alpha:g} and beta = {beta:g} per second are more than {MAX_CORRECTION_PER_STEP:g} per step of {dt:g} s: "
            f"errors would grow. Take at most {MAX_CORRECTION_PER_STEP / dt:g}, or a shorter step", alpha=alpha, beta=beta, dt=dt)
    return np.array((alpha, beta, dt), np.float64)


def _broadcast(s: Sensors, q: Any, positions: Any, rates: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, tuple[int, ...]]:
    arrays = [row(s.model, "state.q", q, "q")]
    for name, given in (("positions", positions), ("rates", rates)):
        why = f": a number for each of {list_names(s.names)}"
        arrays.append(check_shape(name, real_array(name, given), ("...", len(s.names)), why))
    lead = leading_axes(arrays, (1, 1, 1), ("state.q", "positions", "rates"))
    full = (np.array(np.broadcast_to(a, (*lead, a.shape[-1])), order="C") for a in arrays)
    return (*full, lead)  # type: ignore[return-value]


def check_strokes(s: Sensors, x: np.ndarray) -> None:
    lowest, highest = s.encoder_limits.reshape(2, -1)
    wrong = np.argwhere((x < lowest) | (x > highest))
    if len(wrong):
        at = tuple(int(k) for k in wrong[0])
        k = at[-1]
        raise InputError(
            f"positions{list(at)} of joint {s.names[k]!r} is {x[at]:.6g}, beyond its stroke {s.lower[k]:g} to {s.upper[k]:g}: "
            "is the encoder calibrated (freeflyer.estimation.calibrate), and the unit m or rad?",
            joint=s.names[k], value=float(x[at]))


def _refusal(s: Sensors, q: np.ndarray, x: np.ndarray, dx: np.ndarray, worst: float) -> FreeflyerError:
    for name, a in (("positions", x), ("rates", dx)):
        bad = np.argwhere(~np.isfinite(a))
        if len(bad):
            at = tuple(int(k) for k in bad[0])
            return InputError(f"{name}{list(at)} (joint {s.names[at[-1]]!r}) is {a[at]}: every entry must be finite")
    check_configuration(s.model, "state.q", q, "q")
    check_strokes(s, x)
    if worst <= -1.0:
        return refuse_state(s.model, worst)
    return LinkageError(f"the passive state of {s.model.name!r} cannot be estimated there: the estimate is not finite")


@public
def closed_torques(model: Model | Sensors, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> np.ndarray:
    """The generalised forces at the independent coordinates that give them their accelerations, (nv,), N, N m.

    At motors these are the actuators' forces, at the base the contacts' total. Passive joints carry none. Loops may be slightly
    open. Accelerations of passive joints follow through the loops, whatever is given. Kangaroo paper, eqs. (28), (29).

    Raises: InputError for more than one state; LinkageError for singular postures."""
    s = sensors_of(model)
    x, u, w = row_of(s.model, "q", q, "q"), row_of(s.model, "v", v, "v"), row_of(s.model, "a", a, "v")
    tau, quality = np.empty(s.model.nv), np.empty(1)
    status, _ = state_of(CLOSED_TORQUES, s.closed.handle, x, u, w, tau, quality)
    if status != OK:
        raise refuse_state(s.model, quality[0], ("q", x, "q"), ("v", u, "v"), ("a", w, "v"))
    return tau


def row_of(model: Model, name: str, x: ArrayLike, letter: str) -> np.ndarray:
    """x of one state as a contiguous array of float64, itself where it is one."""
    shape = (model.nq if letter == "q" else model.nv,)
    if type(x) is np.ndarray and x.dtype == np.float64 and x.shape == shape and x.flags.c_contiguous:
        return x
    return np.ascontiguousarray(one_row(model, name, x, letter))
