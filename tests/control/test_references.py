"""References: rates are those of targets, nothing jumps, waypoints are met with the least jerk, rotations follow the geodesic."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from closeness import EXACT, central, close, rounding, slope_error
from scipy.spatial.transform import Rotation, Slerp
from seeds import fresh

import freeflyer as ff
from freeflyer import control
from freeflyer.control.references import AHEAD, SampledReference
from freeflyer.spatial import se3

RNG = fresh("references")
KNOTS = np.cumsum(RNG.uniform(0.5, 1.5, 6))
POINTS = RNG.standard_normal((6, 4))
SPANS = {"begin": KNOTS[0], "duration": KNOTS[-1] - KNOTS[0]}


def random_rotation() -> np.ndarray:
    return ff.spatial.quaternion.to_matrix(ff.spatial.quaternion.random(RNG))


def random_pose() -> np.ndarray:
    return se3.from_position_rotation(RNG.standard_normal(3), random_rotation())


POSITIONS = {
    "minimum jerk": control.MinimumJerkReference(POINTS[0], POINTS[1], **SPANS),
    "waypoints": control.WaypointReference(KNOTS, POINTS),
    "sinusoid": control.SinusoidReference(
        POINTS[0], POINTS[1], 0.7, ramp=KNOTS[1] - KNOTS[0], begin=KNOTS[0], phase=[0.0, 1.0, 2.0, 3.0],
        end=max(KNOTS[-1], KNOTS[0] + 2.0 * (KNOTS[1] - KNOTS[0])),
    ),
}  # fmt: skip
POSES = {"pose": control.move_pose(random_pose(), random_pose(), **SPANS)}
ALL = POSITIONS | POSES | {"rotation": control.RotationReference(random_rotation(), random_rotation(), **SPANS)}
# Each derivative of these is at most RATE times the one before it, pi / the shortest time of a change, with room
RATE = 30.0
STEP = 1e-3


def between_knots(count: int) -> np.ndarray:
    """Times of which no difference reaches over a time at which a third derivative jumps."""
    ends = np.concatenate([KNOTS, [POSITIONS["sinusoid"].end, POSITIONS["sinusoid"].end - POSITIONS["sinusoid"].ramp]])
    t = RNG.uniform(KNOTS[0] - 1.0, KNOTS[-1] + 1.0, 4 * count)
    return t[np.abs(t[:, None] - ends).min(axis=1) > 3.0 * STEP][:count]


@pytest.mark.parametrize("name", POSITIONS)
def test_rates_of_positions(name: str) -> None:
    reference, t = POSITIONS[name], between_knots(200)
    found = reference(t)
    bound = slope_error(STEP, RATE)
    assert bound < 1e-6
    close(found.velocity, central(lambda h: reference(t + h).target, STEP), RATE * bound, what="velocity")
    close(found.acceleration, central(lambda h: reference(t + h).velocity, STEP), RATE**2 * bound, what="acceleration")


@pytest.mark.parametrize("name", ["rotation", "pose"])
def test_rates_of_rotations(name: str) -> None:
    """In world axes: R' = skew(w) R."""
    reference, t = ALL[name], between_knots(200)
    found = reference(t)
    R, w = found.target[..., :3, :3], found.velocity[..., -3:]
    slope = central(lambda h: reference(t + h).target[..., :3, :3], STEP)
    close(slope @ np.swapaxes(R, -1, -2), se3.skew(w), RATE * slope_error(STEP, RATE))
    close(found.acceleration, central(lambda h: reference(t + h).velocity, STEP), RATE**2 * slope_error(STEP, RATE))


@pytest.mark.parametrize("name", ALL)
def test_nothing_jumps(name: str) -> None:
    """Over a vanishing time around each knot, target, velocity and acceleration change in proportion to that time."""
    reference = ALL[name]
    knots = KNOTS if name == "waypoints" else np.array([KNOTS[0], KNOTS[1], POSITIONS["sinusoid"].end, KNOTS[-1]])
    for d in (1e-6, 1e-9):
        before, after = reference(knots - d), reference(knots + d)
        for x, y, power in zip(before, after, (1, 2, 3)):
            close(x, y, 2.0 * d * RATE**power + EXACT * RATE**2)


@pytest.mark.parametrize("name", ALL)
def test_rests_before_and_after(name: str) -> None:
    reference, end = ALL[name], max(KNOTS[-1], POSITIONS["sinusoid"].end)
    for times in (KNOTS[0] - np.array([0.0, 1e-3, 5.0]), end + np.array([0.0, 1e-3, 5.0])):
        found = reference(times)
        assert np.abs(found.velocity).max() < 1e-9
        assert np.abs(found.acceleration).max() < 1e-9
        close(found.target, np.broadcast_to(found.target[0], found.target.shape))


@pytest.mark.parametrize("name", ALL)
def test_times_of_any_shape(name: str) -> None:
    t = RNG.uniform(KNOTS[0] - 0.5, KNOTS[-1] + 0.5, (2, 3))
    whole = ALL[name](t)
    for k in np.ndindex(t.shape):
        for x, y in zip(whole, ALL[name](float(t[k]))):
            close(x[k], y, what=k)


def test_starts_and_ends() -> None:
    found = POSITIONS["minimum jerk"]([KNOTS[0], KNOTS[-1]]).target
    close(found, POINTS[:2])
    sides = ALL["rotation"]([KNOTS[0], KNOTS[-1]]).target
    close(sides, np.array([ALL["rotation"].start, ALL["rotation"].end]), 1e-13)


def test_least_jerk() -> None:
    """Fastest in the middle, 15/8 of the mean speed; waypoints two in number give the same curve."""
    reference = POSITIONS["minimum jerk"]
    middle = reference(KNOTS[0] + 0.5 * SPANS["duration"])
    close(middle.velocity, 1.875 * (POINTS[1] - POINTS[0]) / SPANS["duration"])
    close(middle.acceleration, np.zeros(4))
    other = control.WaypointReference([KNOTS[0], KNOTS[-1]], POINTS[:2])
    t = np.linspace(KNOTS[0] - 1.0, KNOTS[-1] + 1.0, 101)
    for x, y, power in zip(reference(t), other(t), range(3)):
        close(x, y, 1e-11 * RATE**power)


def test_waypoints_have_the_least_jerk() -> None:
    """The jerk of the spline is orthogonal to that of every change that keeps the waypoints and the rest at both ends."""
    reference = POSITIONS["waypoints"]
    close(reference(KNOTS).target, POINTS, 1e-11)
    nodes, weights = np.polynomial.legendre.leggauss(12)  # exact for polynomials of degree 23
    bump = np.polynomial.Polynomial.fromroots(np.concatenate([KNOTS, KNOTS[[0, 0, -1, -1]]]))
    total, size = np.zeros(4), 0.0
    for a, b in pairwise(KNOTS):
        t, w = 0.5 * (b - a) * nodes + 0.5 * (a + b), 0.5 * (b - a) * weights
        jerk = central(lambda h, t=t: reference(t + h).acceleration, STEP)  # exact: the acceleration is a cubic
        change = bump.deriv(3)(t)
        total += (w * change) @ jerk
        size += float(np.abs(w * change) @ np.abs(jerk).max(axis=1))
    assert np.abs(total).max() < 1e-8 * size


def test_rotations_follow_the_geodesic() -> None:
    reference = ALL["rotation"]
    t = np.linspace(KNOTS[0], KNOTS[-1], 50)
    share = control.MinimumJerkReference([0.0], [1.0], **SPANS)(t).target[:, 0]
    slerp = Slerp([0.0, 1.0], Rotation.from_matrix([reference.start, reference.end]))
    close(reference(t).target, slerp(np.clip(share, 0.0, 1.0)).as_matrix(), 1e-12)


def test_sinusoid_swings() -> None:
    """Between the ramps it is a sinusoid, with its frequency's accelerations."""
    reference = control.SinusoidReference([1.0], [0.5], 2.0, ramp=1.0, begin=3.0, end=10.0)
    found = reference(np.linspace(4.0, 9.0, 40))
    close(found.acceleration, -((4.0 * np.pi) ** 2) * (found.target - 1.0))
    assert np.ptp(reference(np.linspace(4.0, 9.0, 1001)).target) == pytest.approx(1.0, abs=1e-3)


def test_tasks_take_them() -> None:
    model = ff.robots.quadruped()
    q = ff.robots.standing_posture(model)
    X = ff.frame_pose(model, q, "trunk")
    lowered = X @ se3.from_position_rotation([0.0, 0.0, -0.1], np.eye(3))
    reference = control.move_pose(X, lowered, duration=1.0)
    task = replace(control.FramePoseTask("trunk", X), **reference(0.3)._asdict())
    close(task.error(model, q)[2], X[2, 3] - reference(0.3).target[2, 3])
    close(task.command(model, q, np.zeros(model.nv)), reference(0.3).acceleration + 20.0 * reference(0.3).velocity
          - 100.0 * task.error(model, q))  # fmt: skip


GOOD = {
    control.MinimumJerkReference: {"start": [0.0], "end": [1.0], "duration": 1.0},
    control.WaypointReference: {"times": [0.0, 1.0], "waypoints": [[0.0], [1.0]]},
    control.SinusoidReference: {"center": [0.0], "amplitude": [1.0], "frequency": 1.0, "ramp": 1.0},
    control.RotationReference: {"start": np.eye(3), "end": np.eye(3), "duration": 1.0},
    control.PoseReference: {"position": POSITIONS["minimum jerk"], "rotation": ALL["rotation"]},
}
BAD = [
    (control.MinimumJerkReference, {"start": [0.0, 1.0]}, "shapes"), (control.MinimumJerkReference, {"end": [np.nan]}, "end"),
    (control.MinimumJerkReference, {"duration": 0.0}, "duration"), (control.MinimumJerkReference, {"begin": np.inf}, "begin"),
    (control.MinimumJerkReference, {"start": 1.0, "end": 2.0}, "shapes"), (control.MinimumJerkReference, {"start": "x"}, "start"),
    (control.WaypointReference, {"times": [1.0, 0.0]}, "increasing"), (control.WaypointReference, {"times": [0.0]}, "increasing"),
    (control.WaypointReference, {"waypoints": [[0.0]]}, "waypoints"), (control.WaypointReference, {"waypoints": [0.0, 1.0]}, "way"),
    (control.SinusoidReference, {"end": 1.0}, "end"), (control.SinusoidReference, {"end": None}, "end"),
    (control.SinusoidReference, {"phase": [0.0, 1.0]}, "phase"), (control.SinusoidReference, {"frequency": -1.0}, "frequency"),
    (control.SinusoidReference, {"ramp": 0.0}, "ramp"), (control.SinusoidReference, {"end": np.nan}, "end"),
    (control.RotationReference, {"start": 2.0 * np.eye(3)}, "start"), (control.RotationReference, {"end": np.eye(4)}, "end"),
    (control.PoseReference, {"position": ALL["minimum jerk"]}, "position"),
    (control.PoseReference, {"rotation": np.eye(3)}, "rotation"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "changes", "word"), BAD)
def test_bad_references(kind, changes, word) -> None:
    if kind is control.PoseReference:
        GOOD[kind]["position"] = control.MinimumJerkReference(np.zeros(3), np.ones(3), 1.0)
    kind(**GOOD[kind])
    with pytest.raises(ff.InputError, match=word):
        kind(**{**GOOD[kind], **changes})


def test_bad_times() -> None:
    with pytest.raises(ff.InputError, match="t is nan"):
        POSITIONS["waypoints"](np.nan)
    with pytest.raises(ff.InputError, match="end must be a pose"):
        control.move_pose(np.eye(4), np.eye(3), 1.0)


def test_nobody_changes_them() -> None:
    start = np.zeros(2)
    reference = control.MinimumJerkReference(start, [1.0, 1.0], 1.0)
    start[0] = 5.0
    close(reference(0.0).target, np.zeros(2))
    with pytest.raises(ValueError, match="read-only"):
        reference.start[0] = 1.0


@pytest.mark.parametrize("name", ALL)
def test_samples_are_the_reference(name: str) -> None:
    """Cycle after cycle, over the ends of blocks, backwards, and at times between cycles."""
    dt = 0.03
    found = SampledReference(ALL[name], dt)
    k = np.concatenate([np.arange(3 * AHEAD), [70.0, 69.0, 69.5, 2.0 * AHEAD + 6.5, 1e4]])
    for t in KNOTS[0] - 1.0 + dt * k:
        for sampled, expected in zip(found(t), ALL[name](t)):
            close(sampled, expected, rounding(100, 1.0 + abs(t)))


def test_samples_are_found_in_blocks() -> None:
    """One evaluation of a reference for AHEAD cycles: of footsteps, one of a single time costs a control cycle."""
    calls = []
    found = SampledReference(lambda t: calls.append(len(t)) or ALL["waypoints"](t), 1e-3)
    for k in range(3 * AHEAD):
        found(1e-3 * k)
    assert calls == [AHEAD] * 3
