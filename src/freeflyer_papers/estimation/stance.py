"""Postures of a closed robot on its feet: soles where they are, loops closed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import freeflyer as ff
from freeflyer.estimation.stance import place_on_ground, reach, strokes
from freeflyer.sim.floor_contacts import foot_points

CENTERED = 1e-6  # m: by how much the centre of mass may miss the middle of the soles
ACCURACY = 1e-11  # m, rad: of postures, on which the contact forces of stiff servos depend


def standing_posture(s: ff.estimation.Sensors, feet: Sequence[ff.contacts.Contact], crouch: float) -> np.ndarray:
    """q (nq,): `crouch` (m) below the drawn posture, the centre of mass above the middle of the soles in x.

    Errors: InputError for a base that does not float; as `shift_base`."""
    first = s.model.joints[0]
    if first.kind != "free":
        raise ff.InputError(f"the base of {s.model.name!r} is {first.kind}: a robot that stands on its feet has a free base")
    q = shift_base(s, place_on_ground(s.model, s.partition.q, feet), feet, np.array([0.0, 0.0, -crouch]))
    middle = foot_points(s.model, q, feet)[:, 0].mean()
    while abs(off := middle - ff.center_of_mass(s.model, q)[0]) > CENTERED:
        q = shift_base(s, q, feet, np.array([off, 0.0, 0.0]))
    return q


def shift_base(s: ff.estimation.Sensors, q: np.ndarray, feet: Sequence[ff.contacts.Contact], shift: np.ndarray) -> np.ndarray:
    """q (nq,) with the base moved by `shift` (3,), m, over soles that stay. Errors: LinkageError out of reach."""
    base = s.model.joints[0].child
    X = ff.frame_pose(s.model, q, base)
    X[:3, 3] += shift
    poses = [(base, X), *((foot.frame, ff.frame_pose(s.model, q, foot.frame)) for foot in feet)]
    tasks = [ff.control.FramePoseTask(*pose) for pose in poses]
    found = ff.control.inverse_kinematics(s.closed, tasks, q, limits=False, tolerance=ACCURACY)
    if not found.converged:
        raise ff.linkages.LinkageError(
            f"{s.model.name!r} cannot take its base to {np.round(X[:3, 3], 3).tolist()} m over its soles: a leg is too short or in "
            "a singular posture. Sway less, or crouch deeper", base=X[:3, 3].tolist())
    x = found.q[s.positions]
    beyond = np.maximum(s.lower - x, x - s.upper)
    if beyond.max() > 1e-6:
        k = int(beyond.argmax())
        raise ff.linkages.LinkageError(
            f"motor {s.names[k]!r} of {s.model.name!r} would stand at {x[k]:.4g}, beyond its stroke {s.lower[k]:g} to "
            f"{s.upper[k]:g}: sway less, or crouch differently", joint=s.names[k])
    return found.q


def shared_weight(model: ff.Model, q: np.ndarray, feet: Sequence[ff.contacts.Contact]) -> np.ndarray:
    """(f, 6): wrenches in the feet's frames that carry the weight straight up: below the centre of mass in x, at each sole's middle
    in y, shared so that nothing tips."""
    if len(feet) != 2:
        raise ff.InputError(f"the weight is shared between two feet, got {len(feet)}", feet=len(feet))
    c, weight = ff.center_of_mass(model, q), model.mass * float(np.linalg.norm(model.gravity))
    middles = [foot_points(model, q, [f]).mean(axis=0) for f in feet]
    left = (c[1] - middles[1][1]) / (middles[0][1] - middles[1][1])
    found = []
    for foot, middle, share in zip(feet, middles, (left, 1.0 - left)):
        X = ff.frame_pose(model, q, foot.frame)
        force = np.array([0.0, 0.0, share * weight])
        torque = np.cross(np.array([c[0], middle[1], middle[2]]) - X[:3, 3], force)
        found.append(np.concatenate([X[:3, :3].T @ force, X[:3, :3].T @ torque]))
    return np.array(found)


def random_postures(s: ff.estimation.Sensors, count: int, rng: np.random.Generator, share: float = 1.0) -> np.ndarray:
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
    raise ff.InputError(
        f"of {60 * count} random strokes of {s.model.name!r} only {len(found)} can be reached with loops closed and joints within "
        f"their limits ({count} wanted): draw them from a smaller share of their ranges", found=len(found))
