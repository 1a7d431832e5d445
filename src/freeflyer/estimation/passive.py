"""The passive state of a closed robot from its motors' encoders, step by step. papers/000, section VI-A, (35)-(40).

    theta_a* = rate + beta (position - theta_a)              measured joints follow their encoders
    J_l theta_u* = alpha e_l - J_la theta_a*                 passive ones follow them, and close the loops
    theta   <-  theta (+) dt theta*

e_l is the desired closure minus the actual one: minus the residual of `constraint_residual`. At beta dt = 1 a step takes the
measured joints where their encoders will be a step later; alpha closes the loops with the time constant 1 / alpha.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.constraints import refusals
from freeflyer.constraints.errors import LinkageError
from freeflyer.constraints.rows import constraint_residual
from freeflyer.errors import FreeflyerError, InputError
from freeflyer.estimation.sensing import Sensors, loops_of_block, sensors
from freeflyer.kernels.calls.running import batch, state as state_of
from freeflyer.kernels.entries import PASSIVE_STEP
from freeflyer.kernels.entry import OK, STATE
from freeflyer.mechanisms.assembly import assemble
from freeflyer.model.inputs import check_configuration, real_array, row
from freeflyer.model.model import Model
from freeflyer.model.public import public
from freeflyer.tolerances import MAX_CORRECTION_PER_STEP

ALPHA, BETA = 1.0, 1000.0  # 1/s, papers/000


@dataclass(frozen=True, slots=True)
class PassiveState:
    """q (..., nq): the estimated configuration. v (..., nv): velocities that keep closed loops closed, (35), (36).

    pivots (...): the ratio of smallest to largest pivot of the worst sub-mechanism: near 0 it is nearly singular.
    """

    q: np.ndarray
    v: np.ndarray
    pivots: Any


@public
def start(robot: Model | Sensors, q: ArrayLike | None = None) -> PassiveState:
    """At rest at the configuration q (..., nq), loops closed first by the joints without encoder; without q, that of the file.

    Quaternions at unit length. Errors: InputError for no such configuration; AssemblyError where it does not close.
    """
    s = sensors_of(robot)
    x = s.partition.q if q is None else row(s.model, "q", q, "q")
    closed = assemble(s.model, x, hold=s.names, limits=False)
    return PassiveState(closed.q, np.zeros((*closed.q.shape[:-1], s.model.nv)), np.ones(closed.q.shape[:-1])[()])


@public
def step(
    robot: Model | Sensors, state: PassiveState, positions: ArrayLike, rates: ArrayLike, dt: float = 0.001, *,
    alpha: float = ALPHA, beta: float = BETA,
) -> PassiveState:  # fmt: skip
    """The state dt (s) later, from the encoders' positions (..., n) and rates (..., n), in the order of `Sensors.names`.

    A model stands for the encoders of its motors, in the order of `model.actuated`. The base and joints that nothing
    measures stay where they are. Errors: InputError for wrong shapes, NaN and strokes out of range; LinkageError for a
    singular sub-mechanism.
    """
    s = sensors_of(robot)
    gains = _gains(alpha, beta, dt)
    n, nq, nv = len(s.names), s.model.nq, s.model.nv
    lead: tuple[int, ...] = ()
    q, count = state.q, 1
    if (
        type(positions) is np.ndarray and type(rates) is np.ndarray and positions.shape == rates.shape == (n,)
        and q.shape == (nq,) and positions.dtype == rates.dtype == np.float64 == q.dtype and q.flags.c_contiguous
        and positions.flags.c_contiguous and rates.flags.c_contiguous
    ):  # fmt: skip
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
def constraint_error(robot: Model | Sensors, q: ArrayLike) -> Any:
    """Norm of the residual of the independent constraint rows (...), m and rad: what (38) closes; Fig 19, bottom.

    q (..., nq). Errors: as constraint_residual.
    """
    s = sensors_of(robot)
    return np.linalg.norm(constraint_residual(s.model, q)[..., s.partition.rows], axis=-1)[()]


def sensors_of(robot: Model | Sensors) -> Sensors:
    """The sensors of a model: its motors' encoders."""
    if isinstance(robot, Sensors):
        return robot
    if isinstance(robot, Model):
        return sensors(robot)
    raise InputError(f"expected a Model or Sensors (freeflyer.estimation.sensors), got {type(robot).__name__}")


@lru_cache(maxsize=64)
def _gains(alpha: float, beta: float, dt: float) -> np.ndarray:
    for name, x in (("alpha", alpha), ("beta", beta)):
        if not (isinstance(x, int | float | np.floating) and 0.0 <= x < np.inf):
            raise InputError(f"{name} must be a number of 0 or more (1/s), got {x!r}")
    if not (isinstance(dt, int | float | np.floating) and 0.0 < dt < np.inf):
        raise InputError(f"dt must be a positive number of seconds, got {dt!r}")
    if max(alpha, beta) * dt > MAX_CORRECTION_PER_STEP:
        raise InputError(
            f"alpha = {alpha:g} and beta = {beta:g} per second are more than {MAX_CORRECTION_PER_STEP:g} per step of {dt:g} s: "
            f"errors would grow. Take at most {MAX_CORRECTION_PER_STEP / dt:g}, or a shorter step",
            alpha=alpha, beta=beta, dt=dt,
        )  # fmt: skip
    return np.array((alpha, beta, dt), np.float64)


def _broadcast(s: Sensors, q: Any, positions: Any, rates: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, tuple[int, ...]]:
    arrays = [row(s.model, "state.q", q, "q")]
    for name, given in (("positions", positions), ("rates", rates)):
        a = real_array(name, given)
        if a.ndim == 0 or a.shape[-1] != len(s.names):
            raise InputError(
                f"{name} has shape {a.shape}, expected (..., {len(s.names)}): a number for each of {refusals.list_names(s.names)}",
                shape=a.shape, expected=len(s.names),
            )  # fmt: skip
        arrays.append(a)
    try:
        lead = np.broadcast_shapes(*(a.shape[:-1] for a in arrays))
    except ValueError:
        raise InputError(
            f"the leading (batch) axes of the state {arrays[0].shape}, positions {arrays[1].shape} and rates {arrays[2].shape} do "
            "not broadcast together"
        ) from None
    full = (np.array(np.broadcast_to(a, (*lead, a.shape[-1])), order="C") for a in arrays)
    return (*full, lead)  # type: ignore[return-value]


def check_strokes(s: Sensors, x: np.ndarray) -> None:
    """InputError for the first measured position (..., n) that lies beyond its joint's limits."""
    lowest, highest = s.encoder_limits.reshape(2, -1)
    wrong = np.argwhere((x < lowest) | (x > highest))
    if len(wrong):
        at = tuple(int(k) for k in wrong[0])
        k = at[-1]
        raise InputError(
            f"positions{list(at)} of joint {s.names[k]!r} is {x[at]:.6g}, beyond its stroke {s.lower[k]:g} to {s.upper[k]:g}: "
            "is the encoder calibrated (freeflyer.estimation.calibrate), and the unit m or rad?",
            joint=s.names[k], value=float(x[at]),
        )  # fmt: skip


def _refusal(s: Sensors, q: np.ndarray, x: np.ndarray, dx: np.ndarray, worst: float) -> FreeflyerError:
    for name, a in (("positions", x), ("rates", dx)):
        bad = np.argwhere(~np.isfinite(a))
        if len(bad):
            at = tuple(int(k) for k in bad[0])
            return InputError(f"{name}{list(at)} (joint {s.names[at[-1]]!r}) is {a[at]}: every entry must be finite")
    check_configuration(s.model, "state.q", q, "q")
    check_strokes(s, x)
    if worst <= -1.0:
        return refusals.singular_posture(s.model, loops_of_block(s.model, worst), np.empty(0, np.int64))
    return LinkageError(f"the passive state of {s.model.name!r} cannot be estimated there: the estimate is not finite")
