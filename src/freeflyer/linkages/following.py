"""Path following: one motor moves a closed robot while others rest or are released, so that chosen poses or joints are kept; and
the motion and force ratios along the path (Kangaroo paper, IV-A)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics import frame_jacobian, frame_pose
from freeflyer.errors import InputError, LinkageError
from freeflyer.linkages.closure import check_range
from freeflyer.linkages.partition import motor_column, partition
from freeflyer.linkages.submechanisms import embed_configuration
from freeflyer.linkages.sweeping import motion_map, sweep
from freeflyer.model import WELD, Loop, Model, Site, compile_description, lock_joints, number, public, unit_vector
from freeflyer.tolerances import DEAD_POINT_RATIO


@dataclass(frozen=True)
class Keep:
    """Task of follow: a frame keeps its pose relative to another frame, in some directions.

    Args:
        frame: The frame that is kept.
        relative_to: The frame that carries the pose of `frame` at the start.
        mask: (6,) tuple of 0 and 1; directions that are kept, x y z rx ry rz along the axes that `frame` has at the start,
            carried along by `relative_to`; by default all."""

    frame: str
    relative_to: str
    mask: tuple[int, ...] = WELD


@dataclass(frozen=True)
class Path:
    """Closed postures along the positions of one motor.

    Attributes:
        driver, values: The motor's joint, and its positions (n,) array, m or rad.
        q, reached, gap: (n, nq), (n,) bool and (n,) array; postures, NaN where a singularity was in the way; the gap of the worst
            row.
        released, outside: Motors that follow; for those that left their stroke, the driver's first and last position then."""

    driver: str
    values: np.ndarray
    q: np.ndarray
    reached: np.ndarray
    gap: np.ndarray
    released: tuple[str, ...]
    outside: dict[str, tuple[float, float]]

    def joint(self, model: Model, name: str) -> np.ndarray:
        """Position (n,) of a one-coordinate joint along the path."""
        return self.q[:, model.joint(name).iq]


@public
def follow(model: Model, driver: str, values: ArrayLike, *, keep: Sequence[Keep] = (), hold: Sequence[str] = (),
           release: Sequence[str] = (), q: ArrayLike | None = None) -> Path:
    """Closed postures while one motor goes through given positions and all other motors rest or are released.

    The constant frame or joint is one more loop, or a joint that is locked, and released motors are passive joints. So path
    following is the sweep of a linkage with a single motor (Kangaroo paper, Figs 12 to 15).

    Args:
        driver: Joint of the motor, of one coordinate.
        values: (n,) array, its positions, m or rad, within its stroke.
        keep, hold: Frames that keep their pose relative to others; passive joints that keep their positions.
        release: Motors that follow instead of resting, as many as `keep` and `hold` determine.
    Returns: Path, in the order of `values`; the base stays where it is at the start.
    Raises: InputError for positions outside the driver's stroke, released joints that are no motors, and tasks that leave
    more or less freedom than the driver uses. LinkageError for a start that is open or singular."""
    model = model.tree
    start = partition(model, q)
    motor_column(model, start, driver)  # refuses what cannot be driven
    posture = start.q
    wanted = np.asarray(values, float)[..., None]
    check_range(model, [model.joint(driver).iv], wanted, "motor {!r} would stand", "stay within its stroke")
    for name in (*hold, *release):
        model.joint(name)
    strange = [name for name in release if name not in model.actuated]
    if strange:
        raise InputError(f"{strange[0]!r} is no motor that can be released; motors: {', '.join(model.actuated)}", joint=strange[0])
    narrowed = _one_motor(model, driver, posture, keep, hold, release)
    try:
        split = partition(narrowed)
    except LinkageError as error:
        raise InputError(
            f"with {driver!r} driven, the tasks cannot all be kept: {error}. Release as many motors as there are tasks.",
            driver=driver, release=tuple(release)) from error
    if len(split.free):
        loose = [j.name for j in narrowed.joints if j.iv in split.free]
        raise InputError(
            f"nothing determines {', '.join(loose)}: {len(release)} motors are released and the tasks determine fewer; keep or "
            "hold a frame or joint for each", loose=loose)
    swept = sweep(narrowed, {driver: values})
    whole = embed_configuration(narrowed, model, swept.q, posture)
    whole[~swept.reached] = np.nan
    return Path(driver, swept.values[0], whole, swept.reached, swept.gap, tuple(release),
                _outside_ranges(model, release, swept.values[0], whole))


def _one_motor(model: Model, driver: str, q: np.ndarray, keep: Sequence[Keep], hold: Sequence[str],
               release: Sequence[str]) -> Model:
    """The model at q with the tasks as loops, the driver as its only motor, and everything that holds still locked."""
    d = model.description
    sites, loops, start = list(d.sites), list(d.loops), {j.name: j for j in d.joints}
    places = {site.name: (site.link, site.placement) for site in d.sites}  # of frames on their links
    for k, task in enumerate(keep):
        X = np.linalg.inv(frame_pose(model, q, task.relative_to)) @ frame_pose(model, q, task.frame)
        link, placement = places.get(task.relative_to, (task.relative_to, np.eye(4)))
        name = f"kept_{k}_{task.frame}"
        sites.append(Site(name, link, placement @ X))
        loops.append(Loop(name + "_tie", name, task.frame, task.mask))
    for joint in model.joints:
        if joint.nq and joint.mimic is None:
            start[joint.name] = replace(start[joint.name], initial=tuple(q[joint.iq : joint.iq + joint.nq]))
    tied = compile_description(replace(d, sites=tuple(sites), loops=tuple(loops), joints=tuple(start.values()), actuated=(driver,)))
    moving_base = [j.name for j in model.joints if j.parent == "world" and j.kind in ("free", "planar")]
    still = [m for m in model.actuated if m != driver and m not in release] + list(hold) + moving_base
    return lock_joints(tied, still, q) if still else tied


def _outside_ranges(model: Model, motors: Sequence[str], values: np.ndarray, q: np.ndarray) -> dict[str, tuple[float, float]]:
    found = {}
    for name in motors:
        joint = model.joint(name)
        x = q[:, joint.iq]
        beyond = (x < model.position_lower[joint.iv] - 1e-9) | (x > model.position_upper[joint.iv] + 1e-9)
        if beyond.any():
            found[name] = (float(values[beyond][0]), float(values[beyond][-1]))
    return found


@dataclass(frozen=True)
class Curve:
    """Position of a joint over that of a motor, and the straight line y = slope x + offset that fits it best.

    Attributes:
        x, y: (n,) array, positions of the motor and of the joint at the postures that the path reached, m or rad.
        slopes: (n,) array, dy/dx: from the linkage; along paths with released motors from differences of the curve.
        deviation: Largest distance |y - slope x - offset|, m or rad."""

    motor: str
    joint: str
    x: np.ndarray
    y: np.ndarray
    slopes: np.ndarray
    slope: float
    offset: float
    deviation: float


@dataclass(frozen=True)
class ForceCurve:
    """Force at a frame along a path, for one force at a motor.

    Attributes:
        position, height: (n,) array, m or rad of the motor at the postures that the path reached; of the frame along `direction`,
            m.
        ratio, force: (n,) array, force at the frame over force at the motor; N; both infinite at a dead point of the linkage."""

    motor: str
    frame: str
    motor_force: float
    position: np.ndarray
    height: np.ndarray
    ratio: np.ndarray
    force: np.ndarray

    @property
    def largest(self) -> int:
        """Where along the path the force is greatest."""
        return int(np.nanargmax(np.abs(self.force)))

    @property
    def smallest(self) -> int:
        """Where along the path the force is least."""
        return int(np.nanargmin(np.abs(self.force)))


@public
def transmission_curve(model: Model, path: Path, joint: str) -> Curve:
    """Position of a joint of one coordinate over that of the driver along a path, and the straight line that fits best.

    Args:
        path: Made by follow with the same model."""
    model = model.tree
    info = model.joint(joint)
    if info.nv != 1:
        raise InputError(f"joint {joint!r} ({info.kind}) has {info.nv} coordinates; a curve shows one", joint=joint)
    x, y = path.values[path.reached], path.q[path.reached][:, info.iq]
    if len(x) < 2:
        raise InputError(f"a line takes two postures; the path reached {len(x)} of {len(path.values)}", reached=len(x))
    slope, offset = np.polyfit(x, y, 1)
    if path.released:
        slopes = np.gradient(y, x)
    else:
        G = motion_map(model, partition(model), path.q[path.reached])
        slopes = G[:, info.iv, motor_column(model, partition(model), path.driver)]
    return Curve(path.driver, joint, x, y, slopes, float(slope), float(offset), float(np.abs(y - slope * x - offset).max()))


@public
def force_curve(model: Model, path: Path, frame: str, force: float,
                direction: Sequence[float] | ArrayLike = (0.0, 0.0, 1.0)) -> ForceCurve:
    """Force at a frame along a direction while the driver of a path pushes with a given force.

    Without losses and inertia, F = f / (dx/dl), dx/dl that of the closed linkage with all other motors at rest, released ones as
    well. Where |dx/dl| is below 1e-6 the linkage is at a dead point.

    Args:
        path: Made by follow with the same model.
        force: Force of the driver, N or N m.
        direction: (3,) array, world axes, of any length."""
    model = model.tree
    along, force = unit_vector("direction", direction), number("force", force)
    split, q = partition(model), path.q[path.reached]
    G = motion_map(model, split, q)[..., motor_column(model, split, path.driver)]
    rate = np.einsum("i,nij,nj->n", along, frame_jacobian(model, q, frame, expressed="mixed")[:, :3], G)
    ratio = np.where(np.abs(rate) > DEAD_POINT_RATIO, 1.0 / np.where(rate == 0.0, 1.0, rate), np.inf)
    height = frame_pose(model, q, frame)[:, :3, 3] @ along
    return ForceCurve(path.driver, frame, force, path.values[path.reached], height, ratio, ratio * force)
