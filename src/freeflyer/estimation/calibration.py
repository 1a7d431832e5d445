"""Calibration of the motors of a closed robot by absolute encoders on other joints, and selection of these. Kangaroo paper,
VI-A."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from freeflyer import tolerances as tol
from freeflyer.dynamics import integrate
from freeflyer.errors import CalibrationError as CalibrationError, InputError, check_name
from freeflyer.estimation.passive import Sensors, encoded, sensors_of
from freeflyer.estimation.stance import reach, strokes
from freeflyer.linkages import constraints, list_names, motion_map, partition, position_limits, q_of_v, structure
from freeflyer.model import Model, name_list, number, one_row, positive, public, shaped, whole_number


@dataclass(frozen=True)
class Calibration:
    """Offsets of motors' relative encoders, and the posture that agrees with the absolute encoders.

    Attributes:
        motors, offsets, q: (n,) names; (n,) array, what to add to their readings, m or rad; (nq,) array, the posture found.
        errors: (iterations + 1,) array, norm of [e_l; e_m] before the first step and after each one, m and rad; Kangaroo paper,
            Fig 18.
        closure, misread: Norms of e_l and e_m at the end."""

    motors: tuple[str, ...]
    offsets: np.ndarray
    q: np.ndarray
    errors: np.ndarray
    closure: float
    misread: float
    tolerance: float

    @property
    def iterations(self) -> int:
        """Steps taken."""
        return len(self.errors) - 1


@public
def calibrate(model: Model, encoders: Mapping[str, float], readings: ArrayLike | None = None, q: ArrayLike | None = None, *,
              motors: Sequence[str] | None = None, rigid: Sequence[str] = (), tolerance: float = tol.CALIBRATION_TOLERANCE,
              limit: int = 50) -> Calibration:
    """The offsets of a closed robot's motors from absolute encoders on other joints, Kangaroo paper, section VI-A, (41), (42).

    Newton's steps on closure and encoders together find the posture, and so each motor's offset:

        [J_l; E] theta* = [e_l; theta_measured - theta]

    Steps are damped where a full one would not lessen the error, and joints stay within their limits. If there are more
    encoders than motors, steps lead on to the least squares of their errors.

    Args:
        encoders, readings: Joint name -> position of its absolute encoder; (n,) array of motors' relative ones, default 0; m or
            rad.
        q: (nq,) array, configuration to start from; the file's posture if not given.
        motors, rigid: Motors to calibrate, default all; joints that keep their positions in q, such as stiff springs.
        tolerance, limit: Norm of the errors of closure and encoders, m and rad; greatest number of steps.
    Raises: CalibrationError if the encoders do not determine some offsets, with the joints, or if no posture near the start
    agrees with them. InputError for robots without loops or motors.

    Examples:
        >>> model = ff.robots.kangaroo_like()
        >>> found = ff.estimation.calibrate(model, {"left_knee": 0.2426}, [0.012], motors=["left_length_motor"])
        >>> position = float(found.q[model.joint("left_length_motor").iq])
        >>> f"{1e3 * position:.2f} mm = 12 mm {1e3 * float(found.offsets[0]):+.2f} mm"
        '10.00 mm = 12 mm -2.00 mm'
    """
    model = model.tree
    positive("tolerance", tolerance)
    whole_number("limit", limit, 1)
    for name in name_list("rigid", rigid):
        model.joint(name)
    names = _motors(model, motors)
    enc, angles = _encoders(model, encoders)
    zeros = np.zeros(len(names))
    raw = shaped("readings", zeros if readings is None else readings, zeros.shape, f": a number for each of {list_names(names)}")
    split, place = partition(model), q_of_v(model)
    x = np.array(one_row(model, "q", split.q if q is None else q, "q"))
    s = structure(model)
    unknown = [j for j in split.independent if j not in split.base and s.owner[j] not in rigid]
    unknown = [j for j in unknown if s.owner[j] in names or s.owner[j] not in model.actuated]
    check_observable(model, names, encoders, rigid, np.array(unknown, dtype=np.int64), enc)
    columns = np.sort(np.concatenate([split.dependent, unknown])).astype(np.int64)
    lower, upper = position_limits(model)

    def look(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        r, J = constraints(model, x)
        E = np.zeros((len(enc), model.nv))
        E[np.arange(len(enc)), enc] = 1.0
        e = np.concatenate([-r[split.rows], angles - x[place[enc]]])
        return e, np.vstack([J[split.rows], E])[:, columns]

    found, errors = _newton(model, x, columns, look, lower, upper, tolerance, limit, len(split.rows))
    e, _ = look(found)
    m = len(split.rows)
    here = np.array([place[model.joint(n).iv] for n in names])
    return Calibration(
        names, found[here] - raw, found, np.array(errors), float(np.linalg.norm(e[:m])), float(np.linalg.norm(e[m:])), tolerance)


def check_observable(model: Model, motors: Sequence[str], encoders: Mapping[str, float] | Sequence[str], rigid: Sequence[str],
                     unknown: np.ndarray, enc: np.ndarray) -> None:
    """CalibrationError where the encoders do not determine the positions of the independent coordinates `unknown`."""
    split, s = partition(model), structure(model)
    G = motion_map(model, split, split.q[None])[0][:, np.searchsorted(split.independent, unknown)]
    moved = [{s.owner[i] for i in np.flatnonzero(np.abs(column) > 1e-9)} for column in G.T]
    idle = [k for k, j in enumerate(unknown) if s.owner[j] not in model.actuated and moved[k] <= {s.owner[j]}]
    keep = np.setdiff1d(np.arange(len(unknown)), idle)
    view = G[enc][:, keep]
    view = view / np.maximum(np.linalg.norm(G[:, keep], axis=0), 1e-12)
    _, values, rows = np.linalg.svd(view, full_matrices=True)
    values = np.concatenate([values, np.zeros(len(keep) - len(values))]) if len(values) < len(keep) else values
    hidden = rows[values <= tol.MIN_CALIBRATION_SENSITIVITY * max(values.max(initial=0.0), 1e-12)]
    if len(hidden):
        at = np.flatnonzero(np.abs(hidden).max(axis=0) > 1e-6)
        names = [s.owner[unknown[keep[k]]] for k in at]
        raise CalibrationError(
            f"the encoders on {list_names(encoders) or 'no joint'} do not determine the positions of {list_names(names)} of "
            f"{model.name!r} ({len(hidden)} of {len(keep)} unknowns stay open): put encoders on joints that these move, or leave "
            "them out (motors=, rigid=)", joints=tuple(dict.fromkeys(names)), open=len(hidden))


def _motors(model: Model, motors: Sequence[str] | None) -> tuple[str, ...]:
    if not model.constraint_rows[0]:
        raise InputError(f"{model.name!r} has no loops: no joint's position follows from another's", robot=model.name)
    known = tuple(model.actuated) if model.description.actuated else ()
    if not known:
        raise InputError(f"{model.name!r} names no motors: there is nothing to calibrate", robot=model.name)
    chosen = known if motors is None else name_list("motors", motors)
    for n in chosen:
        check_name("motor", n, known)
    if not chosen:
        raise InputError(f"motors is empty: name at least one of {list_names(known)}, or leave it out for all")
    return chosen


def _encoders(model: Model, encoders: Mapping[str, float]) -> tuple[np.ndarray, np.ndarray]:
    if not isinstance(encoders, Mapping):
        raise InputError(f"encoders must map joint names to positions, got {type(encoders).__name__}")
    at = np.array([encoded(model, name) for name in encoders], dtype=np.int64)
    return at, np.array([number(f"the encoder of {name!r}", angle) for name, angle in encoders.items()])


def _newton(model: Model, x: np.ndarray, columns: np.ndarray, look: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]],
            lower: np.ndarray, upper: np.ndarray, tolerance: float, limit: int, rows: int) -> tuple[np.ndarray, list[float]]:
    """(posture, errors) by damped Newton steps, clipped to the limits; the first `rows` errors are those of closure.

    Least squares begin with light loops: heavy ones bend apart along a long step, which is then refused."""
    e, J = look(x)
    square, errors = J.shape[0] <= J.shape[1], [float(np.linalg.norm(e))]
    for weight in (1.0,) if square else (1.0, tol.LOOP_WEIGHT):
        w, last = np.where(np.arange(len(e)) < rows, weight, 1.0), square or weight > 1.0
        merits, damping = [float(np.linalg.norm(w * e))], 0.0
        while (last and errors[-1] > tolerance) or not (
            square or (len(merits) > 1 and merits[-2] - merits[-1] < tol.LEAST_GAIN * max(merits[-2], tolerance))
        ):
            if len(errors) > limit:
                raise _disagree(errors, limit)
            for _ in range(40):
                tried = np.clip(integrate(model, x, _step(model, w[:, None] * J, w * e, columns, damping)), lower, upper)
                e_new, J_new = look(tried)
                merit = float(np.linalg.norm(w * e_new))
                if merit < merits[-1]:
                    break
                damping = max(8.0 * damping, 1e-6)
            else:
                if errors[-1] <= tolerance or not last:
                    break
                raise _disagree(errors, limit)
            x, e, J, damping = tried, e_new, J_new, 0.0 if damping < 1e-5 else damping / 10.0
            errors.append(float(np.linalg.norm(e)))
            merits.append(merit)
    return x, errors


def _step(model: Model, J: np.ndarray, e: np.ndarray, columns: np.ndarray, damping: float) -> np.ndarray:
    """dv (nv,): Newton's step where J is square and regular and the last one was good, else Levenberg's."""
    dv = np.zeros(model.nv)
    H = J.T @ J
    if damping == 0.0 and J.shape[0] == J.shape[1]:
        try:
            dv[columns] = np.linalg.solve(J, e)
            return dv
        except np.linalg.LinAlgError:
            pass
    D = np.diag(H)
    dv[columns] = np.linalg.solve(H + max(damping, 1e-12) * np.diag(np.maximum(D, 1e-6 * D.max())), J.T @ e)
    return dv


def _disagree(errors: list[float], limit: int) -> CalibrationError:
    return CalibrationError(
        f"no posture near the start agrees with the encoders: after {len(errors) - 1} steps closure and encoders are still off by "
        f"{errors[-1]:.3g} (m and rad). Check the encoders' zeros, signs and units, or start nearer (q=)",
        error=errors[-1], limit=limit)


@dataclass(frozen=True)
class EncoderSelection:
    """Passive joints that determine the positions of the motors.

    Attributes:
        joints: (k,) tuple of str, the selected passive joints.
        motors: (k,) tuple of str, motors that passive joints follow.
        unobservable: Motors that no passive joint follows."""

    joints: tuple[str, ...]
    motors: tuple[str, ...]
    unobservable: tuple[str, ...]


@public
def select_encoders(model: Model | Sensors) -> EncoderSelection:
    """Passive joints selected for absolute encoders, as many as motors, by their gain of rank one after the other.

    Pivoted QR of the sensitivity matrix, the joints' motions over a stroke of each motor (1 rad or m without limits). It is taken
    in the middle of the strokes, or in the file's posture if the linkage does not reach the middle.

    Raises: InputError if all passive joints do not determine the motors that move them; as sensors."""
    from scipy.linalg import qr

    s = sensors_of(model)
    lower, upper = strokes(s)
    q = reach(s, 0.5 * (lower + upper))
    q = s.partition.q if q is None else q
    G = motion_map(s.model, s.partition, q[None])[0]
    motors = [name for name in s.names if name in s.model.actuated]
    columns = [int(np.flatnonzero(s.partition.independent == s.model.joint(n).iv)[0]) for n in motors]
    joints = [j for j in s.model.joints if j.nq == j.nv == 1 and j.iv in set(s.passive.tolist())]
    moved = G[[j.iv for j in joints]][:, columns] * (upper - lower)[[s.names.index(n) for n in motors]]
    followed = np.abs(moved).max(axis=0, initial=0.0) > tol.MIN_ENCODER_SENSITIVITY
    observable = tuple(n for n, is_followed in zip(motors, followed) if is_followed)
    _, R, order = qr(moved[:, followed].T, mode="economic", pivoting=True)
    size = np.abs(np.diag(R))
    if len(size) < len(observable) or not len(observable) or size[-1] <= tol.MIN_ENCODER_SENSITIVITY * size[0]:
        raise InputError(f"the passive joints of {s.model.name!r} do not determine the positions of the motors that move them")
    chosen = tuple(joints[k].name for k in sorted(order[: len(observable)]))
    return EncoderSelection(chosen, observable, tuple(n for n in motors if n not in observable))
