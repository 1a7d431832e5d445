"""Postures of a closed robot on its feet, and those that its motors can reach: soles where they are, loops closed.

Closure and the soles' poses are as many equations as there are joint coordinates if each foot has six motors: Newton's steps in
all of them at once, base held.

    [J_loops; J_soles] dq = [-residual; log(X_sole^-1 X_wanted)]"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from freeflyer.contacts.description import Contact
from freeflyer.contacts.feet import contact_points
from freeflyer.dynamics.centroidal import center_of_mass
from freeflyer.dynamics.frames import frame_jacobian, frame_pose
from freeflyer.dynamics.manifold import integrate
from freeflyer.errors import AssemblyError, InputError, LinkageError
from freeflyer.estimation.passive import Sensors
from freeflyer.linkages.closure import position_limits
from freeflyer.linkages.motion import keep_closed
from freeflyer.linkages.rows import constraints
from freeflyer.model.inputs import one_row, shaped
from freeflyer.model.model import Model
from freeflyer.model.placements import quaternion
from freeflyer.model.public import public
from freeflyer.sim.floor_contacts import foot_points, put_on_floor
from freeflyer.spatial import se3
from freeflyer.tolerances import BASE_STEP, DEFAULT_STROKE, LEVEL_TOLERANCE, STANCE_POSE_TOLERANCE

STEPS = 12  # a stroke is gone in so many steps


def place_on_ground(model: Model, q: np.ndarray, feet: Sequence[Contact]) -> np.ndarray:
    """q with the base lifted so that the soles lie at height 0 on average. Errors: InputError for feet not on one level."""
    heights = foot_points(model, q, feet)[:, 2]
    middle = float(heights.mean())
    off = np.abs(heights - middle)
    if off.max() > LEVEL_TOLERANCE:
        names = np.repeat([f.frame for f in feet], [len(contact_points(f)) for f in feet])
        raise InputError(
            f"foot {str(names[np.argmax(off)])!r} of {model.name!r} is not on the floor: one of its points lies {off.max():.3f} m "
            "off the level of all soles where the linkage is closed. Give feet that stand on one level floor",
            foot=str(names[np.argmax(off)]), height=float(heights[np.argmax(off)] - middle))
    return put_on_floor(model, q, feet, np.mean)


def check_stands(s: Sensors, feet: Sequence[Contact]) -> None:
    """Errors: InputError for a base that does not float, LinkageError where motors and feet don't match."""
    first = s.model.joints[0]
    if first.kind != "free" or len(s.partition.base) != 6:
        raise InputError(f"the base of {s.model.name!r} is {first.kind}: a robot that stands on its feet has a free base")
    joints, equations = s.model.nv - 6, len(s.partition.rows) + 6 * len(feet)
    if joints != equations:
        raise LinkageError(
            f"{s.model.name!r} has {joints - len(s.partition.rows)} independent joint coordinates for {len(feet)} feet: its base "
            "moves over fixed soles in one way only with six a foot",
            motors=joints - len(s.partition.rows), feet=len(feet))


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
            f"{s.upper[k]:g}: sway less, or crouch differently",
            joint=s.names[k])
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
        "posture. Sway less, or crouch deeper",
        base=q[:3].tolist())


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


@public
def base_over_soles(model: Model, q: np.ndarray, feet: Sequence[Contact], ground: np.ndarray) -> tuple[np.ndarray, float]:
    """The configuration with its free base put where the soles best lie on the ground.

    The soles' points are fitted to their places as one body, in least squares.

    Args:
        q: (nq,) array, configuration of the tree; its joints stay.
        feet: Feet with c points in all.
        ground: (c, 3) array, the points' places in the world, m, in the order of the feet.
    Returns:
        q: (nq,) array.
        misfit: Largest distance of a point from its place, m."""
    model = model.tree
    q = one_row(model, "q", q, "q")
    if model.joints[0].kind != "free":
        raise InputError(f"the base of {model.name!r} does not move: a robot with a free base is expected")
    here = foot_points(model, q, feet)
    ground = shaped("ground", ground, here.shape, ": a place for each point of the feet")
    a, b = here.mean(axis=0), ground.mean(axis=0)
    U, sizes, V = np.linalg.svd((here - a).T @ (ground - b))
    if not sizes[1] > 1e-12:
        raise InputError("the points of the feet lie on one line: they do not determine the base's orientation")
    R = (U * [1.0, 1.0, np.sign(np.linalg.det(U @ V))] @ V).T
    X = frame_pose(model, q, model.joints[0].child)
    x = q.copy()
    x[:3] = R @ (X[:3, 3] - a) + b
    x[3:7] = quaternion(R @ X[:3, :3])[[1, 2, 3, 0]]
    return x, float(np.linalg.norm((here - a) @ R.T + b - ground, axis=1).max())


def strokes(s: Sensors) -> tuple[np.ndarray, np.ndarray]:
    """(lower, upper) (n,): limits of the measured joints, a finite range about the drawn posture where there are none."""
    here = s.partition.q[s.positions]
    lower = np.where(np.isfinite(s.lower), s.lower, here - 0.5 * DEFAULT_STROKE)
    return lower, np.where(np.isfinite(s.upper), s.upper, here + 0.5 * DEFAULT_STROKE)


def reach(s: Sensors, target: np.ndarray) -> np.ndarray | None:
    """q (nq,) with the measured joints at target (n,), led there from the drawn posture; None if the linkage does not follow."""
    q = s.partition.q.copy()
    first = q[s.positions]
    inside = _is_inside(s, q)
    for k in range(1, STEPS + 1):
        q[s.positions] = first + (target - first) * k / STEPS
        try:
            q = keep_closed(s.model, q)[0]
        except (AssemblyError, LinkageError):
            return None
        if inside and not _is_inside(s, q):
            return None
    return q


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
        f"their limits ({count} wanted): draw them from a smaller share of their ranges",
        found=len(found))


def _is_inside(s: Sensors, q: np.ndarray) -> bool:
    lower, upper = position_limits(s.model)
    return bool((q >= lower - 1e-6).all() and (q <= upper + 1e-6).all())
