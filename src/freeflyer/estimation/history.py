"""Contact wrenches over time from what a robot that stands can measure: motor positions and motor forces. Kangaroo paper, VI-B."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.contacts import Contact, complete_feet, express_at
from freeflyer.dynamics import difference, frame_pose, integrate
from freeflyer.errors import InputError
from freeflyer.estimation.contact import check_cutoff, contact_model, contact_wrenches, low_pass
from freeflyer.estimation.passive import Sensors, passive_state, sensors_of, update_passive_state
from freeflyer.estimation.stance import base_over_soles, place_on_ground, reach
from freeflyer.linkages.refusals import list_names
from freeflyer.model import Model, check_shape, finite_array, one_row, public, real_array, shaped
from freeflyer.progress import Progress, no_progress
from freeflyer.sim.floor_contacts import foot_points
from freeflyer.tolerances import UNEVEN_SAMPLE

METHODS = {"motors": "motors", "balanced": "balanced", "moving": "balanced"}  # names of estimates: how they are solved


@dataclass(frozen=True)
class ContactHistory:
    """Contact wrenches over the n times of a record, and the postures that they were computed in.

    Attributes:
        t, q, misfit: (n,) array, s; (n, nq), of the tree, the base over the soles; (n,), largest distance of a sole's point, m.
        wrenches: Estimate name -> (n, f, 6) array, [force; torque about the world's origin], world axes, N, N m, below the
            cutoff. "motors": from motor forces alone, at rest. "balanced": with the base's equations too, at rest. "moving":
            balanced, with velocities and accelerations from differences of q."""

    t: np.ndarray
    feet: tuple[Contact, ...]
    q: np.ndarray
    misfit: np.ndarray
    wrenches: dict[str, np.ndarray]


@public
def contact_history(model: Model | Sensors, t: ArrayLike, positions: ArrayLike, forces: ArrayLike,
                    feet: Sequence[Contact] | None = None, *, rates: ArrayLike | None = None, start: ArrayLike | None = None,
                    cutoff: float = 5.0, alpha: float | None = None, progress: Progress = no_progress) -> ContactHistory:
    """Contact wrenches over a record of motor positions and motor forces.

    Estimates in a row: passive joints (update_passive_state), the base over soles that stay (base_over_soles), wrenches
    (contact_wrenches), a low-pass filter (low_pass).

    Args:
        t: (n,) array, even times, s.
        positions, forces: (n, k) array of the measured joints, in the order of `Sensors.names`; (n, m) array of the motors, N or
            N m.
        rates: (n, k) array, m/s or rad/s; differences of the positions without it.
        start: (nq,) array, where the robot stood at first; by default with soles on the floor at height 0.
        cutoff, alpha: Hz; gain of update_passive_state, 1/s, by default such that loops close within a sample.
    Raises: InputError for uneven times, a base that is not free, and feet that are not on one floor.
    LinkageError as update_passive_state and contact_wrenches."""
    s = sensors_of(model)
    times, shown, measured = _check_columns(s, t, positions, forces)
    dt = _sample_time(times)
    moved = np.diff(shown, axis=0, prepend=shown[:1]) / dt if rates is None else real_array("rates", rates)
    gain = 1.0 / dt if alpha is None else alpha
    check_cutoff(cutoff, 1.0 / dt)
    check_shape("rates", moved, shown.shape, ", that of positions")
    soles = complete_feet(s.model, feet)
    begin = _initial_posture(s, shown[0], soles, start)
    ground = foot_points(s.model, begin, soles)
    state, n = passive_state(s, begin), len(times)
    q, misfit = np.empty((n, s.model.nq)), np.empty(n)
    for k in range(n):
        state = update_passive_state(s, state, shown[k], moved[k], dt, alpha=gain, beta=1.0 / dt)
        q[k], misfit[k] = base_over_soles(s.model, state.q, soles, ground)
        if k % 100 == 0:
            progress(0.5 * k / n, "estimating")
    v, a = _motion(s.model, q, dt, cutoff)
    wrenches, poses = {name: np.empty((n, len(soles), 6)) for name in METHODS}, np.empty((n, len(soles), 4, 4))
    for k in range(n):
        still, moving = contact_model(s.model, q[k], soles), contact_model(s.model, q[k], soles, v[k], a[k])
        poses[k] = still.poses
        for name, method in METHODS.items():
            wrenches[name][k] = contact_wrenches(moving if name == "moving" else still, measured[k], method).wrenches
        if k % 100 == 0:
            progress(0.5 + 0.5 * k / n, "estimating")
    filtered = {name: low_pass(express_at(poses, w, "world"), 1.0 / dt, cutoff) for name, w in wrenches.items()}
    return ContactHistory(times, soles, q, misfit, filtered)


def _check_columns(s: Sensors, t: ArrayLike, positions: ArrayLike, forces: ArrayLike) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    times = finite_array("t", t)
    if times.ndim != 1 or len(times) < 2:
        raise InputError(f"t has shape {times.shape}, expected (n,): two times or more", shape=times.shape)
    found = [times]
    for name, given_, columns in (("positions", positions, s.names), ("forces", forces, s.model.actuated)):
        why = f": a row for each time, a number for each of {list_names(columns)}"
        found.append(np.ascontiguousarray(shaped(name, given_, (len(times), len(columns)), why)))
    return found[0], found[1], found[2]


def _sample_time(t: np.ndarray) -> float:
    steps = np.diff(t)
    late = np.flatnonzero(steps <= 0.0)
    if len(late):
        k = int(late[0])
        raise InputError(f"times must increase: t[{k + 1}] = {t[k + 1]:g} s follows t[{k}] = {t[k]:g} s", index=k + 1)
    dt = float((t[-1] - t[0]) / len(steps))
    k = int(np.argmax(np.abs(steps - dt)))
    if abs(steps[k] - dt) > UNEVEN_SAMPLE * dt + 1e-12 * abs(t[-1]):
        raise InputError(
            f"times must be even: from t[{k}] to t[{k + 1}] pass {steps[k]:g} s, {dt:g} s on average. Interpolate the record first",
            index=k)
    return dt


def _initial_posture(s: Sensors, positions: np.ndarray, feet: tuple[Contact, ...], start: ArrayLike | None) -> np.ndarray:
    if start is not None:
        return np.array(one_row(s.model, "start", start, "q"))
    if s.model.joints[0].kind != "free":
        kind = s.model.joints[0].kind
        raise InputError(f"the base of {s.model.name!r} is {kind}: a robot that stands on its feet has a free base")
    found = reach(s, positions)
    if found is None:
        raise InputError(f"the linkage of {s.model.name!r} does not follow its motors to their first positions: give start=")
    return _level_soles(s.model, found, feet)


def _level_soles(model: Model, q: np.ndarray, feet: tuple[Contact, ...]) -> np.ndarray:
    """q with all soles in the plane at height 0, as well as they can."""
    points = foot_points(model, q, feet)
    normal = np.linalg.svd(points - points.mean(axis=0))[2][2]
    normal = normal if normal[2] > 0.0 else -normal
    turn = np.zeros(model.nv)
    axis = np.cross(normal, [0.0, 0.0, 1.0])
    size = float(np.linalg.norm(axis))
    if size > 1e-12:
        R = frame_pose(model, q, model.joints[0].child)[:3, :3]
        turn[3:6] = R.T @ (axis / size * np.arctan2(size, normal[2]))
        q = integrate(model, q, turn)
    return place_on_ground(model, q, feet)


def _motion(model: Model, q: np.ndarray, dt: float, cutoff: float) -> tuple[np.ndarray, np.ndarray]:
    """(v, a) (n, nv): differences of q, each below the cutoff."""
    v = np.zeros((len(q), model.nv))
    v[1:] = difference(model, q[:-1], q[1:]) / dt
    v = low_pass(v, 1.0 / dt, cutoff)
    return v, np.diff(v, axis=0, prepend=v[:1]) / dt
