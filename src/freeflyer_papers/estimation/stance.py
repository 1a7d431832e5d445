"""Postures of a closed robot on its feet: soles where they are, loops closed.

Closure and the soles' poses are as many equations as there are joint coordinates if each foot has six motors: Newton's steps in
all of them at once, base held.

    [J_loops; J_soles] dq = [-residual; log(X_sole^-1 X_wanted)]"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from freeflyer.contacts.description import Contact
from freeflyer.dynamics import center_of_mass, frame_jacobian, frame_pose, integrate
from freeflyer.errors import InputError, LinkageError
from freeflyer.estimation.passive import Sensors
from freeflyer.estimation.stance import place_on_ground, reach, strokes
from freeflyer.linkages.rows import constraints
from freeflyer.model import Model
from freeflyer.sim.floor_contacts import foot_points
from freeflyer.spatial import se3
from freeflyer.tolerances import BASE_STEP, STANCE_POSE_TOLERANCE


def check_stands(s: Sensors, feet: Sequence[Contact]) -> None:
    """Errors: InputError for a base that does not float, LinkageError where motors and feet don't match."""
    first = s.model.joints[0]
    if first.kind != "free" or len(s.partition.base) != 6:
        raise InputError(f"the base of {s.model.name!r} is {first.kind}: a robot that stands on its feet has a free base")
    joints, equations = s.model.nv - 6, len(s.partition.rows) + 6 * len(feet)
    if joints != equations:
        raise LinkageError(
            f"{s.model.name!r} has {joints - len(s.partition.rows)} independent joint coordinates for {len(feet)} feet: its base "
            "moves over fixed soles in one way only with six a foot", motors=joints - len(s.partition.rows), feet=len(feet))


def shift_base(s: Sensors, q: np.ndarray, feet: Sequence[Contact], shift: np.ndarray) -> np.ndarray:
    """q (nq,) with the base moved by `shift` (3,), m, over soles that stay. Errors: LinkageError out of reach."""
    targets = [frame_pose(s.model, q, f.frame) for f in feet]
    end, x = q[:3] + shift, q.copy()
    for k in range(count := max(1, int(np.ceil(np.linalg.norm(shift) / BASE_STEP)))):
        x[:3] += (end - x[:3]) / (count - k)
        x = _solve_posture(s, x, feet, targets)
    beyond = np.maximum(s.lower - x[s.positions], x[s.positions] - s.upper)
    if beyond.max() > 1e-6:
        k = int(beyond.argmax())
        raise LinkageError(
            f"motor {s.names[k]!r} of {s.model.name!r} would stand at {x[s.positions][k]:.4g}, beyond its stroke {s.lower[k]:g} to "
            f"{s.upper[k]:g}: sway less, or crouch differently", joint=s.names[k])
    return x


def _solve_posture(s: Sensors, q: np.ndarray, feet: Sequence[Contact], targets: Sequence[np.ndarray]) -> np.ndarray:
    m, rows, columns = s.model, s.partition.rows, np.setdiff1d(np.arange(s.model.nv), s.partition.base)
    for _ in range(20):
        r, J = constraints(m, q)
        errors = [-r[rows]] + [se3.log(np.linalg.inv(frame_pose(m, q, f.frame)) @ X) for f, X in zip(feet, targets)]
        e = np.concatenate(errors)
        if np.abs(e).max() < STANCE_POSE_TOLERANCE:
            return q
        A = np.vstack([J[rows], *(frame_jacobian(m, q, f.frame) for f in feet)])[:, columns]
        step = np.zeros(m.nv)
        try:
            step[columns] = np.linalg.solve(A, e)
        except np.linalg.LinAlgError:
            break
        if not np.abs(step).max() < 1.0:
            break
        q = integrate(m, q, step)
    raise LinkageError(
        f"{m.name!r} cannot take its base to {np.round(q[:3], 3).tolist()} m over its soles: a leg is too short or in a singular "
        "posture. Sway less, or crouch deeper", base=q[:3].tolist())


def standing_posture(s: Sensors, feet: Sequence[Contact], crouch: float) -> np.ndarray:
    """q (nq,): `crouch` (m) below the drawn posture, the centre of mass above the middle of the soles in x."""
    check_stands(s, feet)
    q = shift_base(s, place_on_ground(s.model, s.partition.q, feet), feet, np.array([0.0, 0.0, -crouch]))
    middle = foot_points(s.model, q, feet)[:, 0].mean()
    for _ in range(20):
        off = middle - center_of_mass(s.model, q)[0]
        if abs(off) < 1e-6:
            break
        q = shift_base(s, q, feet, np.array([off, 0.0, 0.0]))
    return q


def shared_weight(model: Model, q: np.ndarray, feet: Sequence[Contact]) -> np.ndarray:
    """(f, 6): wrenches in the feet's frames that carry the weight straight up: below the centre of mass in x, at each sole's middle
    in y, shared so that nothing tips."""
    if len(feet) != 2:
        raise InputError(f"the weight is shared between two feet, got {len(feet)}", feet=len(feet))
    c, weight = center_of_mass(model, q), model.mass * float(np.linalg.norm(model.gravity))
    middles = [foot_points(model, q, [f]).mean(axis=0) for f in feet]
    left = (c[1] - middles[1][1]) / (middles[0][1] - middles[1][1])
    found = []
    for foot, middle, share in zip(feet, middles, (left, 1.0 - left)):
        X = frame_pose(model, q, foot.frame)
        force = np.array([0.0, 0.0, share * weight])
        torque = np.cross(np.array([c[0], middle[1], middle[2]]) - X[:3, 3], force)
        found.append(np.concatenate([X[:3, :3].T @ force, X[:3, :3].T @ torque]))
    return np.array(found)


def random_postures(s: Sensors, count: int, rng: np.random.Generator, share: float = 1.0) -> np.ndarray:
    """q (count, nq): strokes drawn at random from a share of their ranges, joints within their limits, loops closed."""
    lower, upper = strokes(s)
    middle, half = 0.5 * (lower + upper), 0.5 * share * (upper - lower)
    found: list[np.ndarray] = []
    for _ in range(60 * count):
        q = reach(s, rng.uniform(middle - half, middle + half))
        if q is not None:
            found.append(q)
        if len(found) == count:
            return np.array(found)
    raise InputError(
        f"of {60 * count} random strokes of {s.model.name!r} only {len(found)} can be reached with loops closed and joints within "
        f"their limits ({count} wanted): draw them from a smaller share of their ranges", found=len(found))
