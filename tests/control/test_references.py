"""References: rates are those of targets, nothing jumps, waypoints are met with the least jerk, rotations follow the geodesic."""

import freeflyer as ff
import numpy as np
import pytest
from closeness import EXACT, central, close, fresh, refused, rounding, slope_error
from freeflyer import control
from freeflyer.control.references import AHEAD, SampledReference
from itertools import pairwise
from scipy.spatial.transform import Rotation, Slerp
from random_robots import random_placement, random_rotation

RNG = fresh("references")
KNOTS = np.cumsum(RNG.uniform(0.5, 1.5, 6))
POINTS = RNG.standard_normal((6, 4))
SPANS = {"begin": KNOTS[0], "duration": KNOTS[-1] - KNOTS[0]}


POSITIONS = {
    "minimum jerk": control.MinimumJerkReference(POINTS[0], POINTS[1], **SPANS),
    "waypoints": control.WaypointReference(KNOTS, POINTS),
    "sinusoid": control.SinusoidReference(
        POINTS[0], POINTS[1], 0.7, ramp=KNOTS[1] - KNOTS[0], begin=KNOTS[0], phase=[0.0, 1.0, 2.0, 3.0],
        end=max(KNOTS[-1], KNOTS[0] + 2.0 * (KNOTS[1] - KNOTS[0])),
    ),
}  # fmt: skip
POSES = {"pose": control.move_pose(random_placement(RNG), random_placement(RNG), **SPANS)}
ALL = POSITIONS | POSES | {"rotation": control.RotationReference(random_rotation(RNG), random_rotation(RNG), **SPANS)}
# Each derivative of these is at most RATE times the one before it, pi / the shortest time of a change, with room
RATE = 30.0
STEP = 1e-3


def between_knots(count: int) -> np.ndarray:
    """Times of which no difference reaches over a time at which a third derivative jumps."""
    ends = np.concatenate([KNOTS, [POSITIONS["sinusoid"].end, POSITIONS["sinusoid"].end - POSITIONS["sinusoid"].ramp]])
    t = RNG.uniform(KNOTS[0] - 1.0, KNOTS[-1] + 1.0, 4 * count)
    return t[np.abs(t[:, None] - ends).min(axis=1) > 3.0 * STEP][:count]


@pytest.mark.parametrize("name", ALL)
def test_rates(name: str) -> None:
    """In world axes; of rotations R' = skew(w) R."""
    reference, t = ALL[name], between_knots(200)
    found, bound = reference(t), slope_error(STEP, RATE)
    slope = central(lambda h: reference(t + h).target, STEP)
    assert bound < 1e-6
    if name in POSITIONS:
        close(found.velocity, slope, RATE * bound, what="velocity")
    else:
        R, turn = found.target[:, :3, :3], slope[:, :3, :3]
        close(turn @ np.swapaxes(R, -1, -2), ff.spatial.se3.skew(found.velocity[:, -3:]), RATE * bound, what="turn")
    if name == "pose":
        close(found.velocity[:, :3], slope[:, :3, 3], RATE * bound, what="velocity")
    close(found.acceleration, central(lambda h: reference(t + h).velocity, STEP), RATE**2 * bound, what="acceleration")


@pytest.mark.parametrize("name", ALL)
def test_it_rests_before_and_after_and_nothing_jumps(name: str) -> None:
    """Over a vanishing time around each knot, target, velocity and acceleration change in proportion to that time."""
    reference = ALL[name]
    knots = KNOTS if name == "waypoints" else np.array([KNOTS[0], KNOTS[1], POSITIONS["sinusoid"].end, KNOTS[-1]])
    for d in (1e-6, 1e-9):
        before, after = reference(knots - d), reference(knots + d)
        for x, y, power in zip(before, after, (1, 2, 3)):
            close(x, y, 2.0 * d * RATE**power + EXACT * RATE**2)
    reference, end = ALL[name], max(KNOTS[-1], POSITIONS["sinusoid"].end)
    for times in (KNOTS[0] - np.array([0.0, 1e-3, 5.0]), end + np.array([0.0, 1e-3, 5.0])):
        found = reference(times)
        assert np.abs(found.velocity).max() < 1e-9
        assert np.abs(found.acceleration).max() < 1e-9
        close(found.target, np.broadcast_to(found.target[0], found.target.shape))
    t = RNG.uniform(KNOTS[0] - 0.5, KNOTS[-1] + 0.5, (2, 3))
    whole = ALL[name](t)
    for k in np.ndindex(t.shape):
        for x, y in zip(whole, ALL[name](float(t[k]))):
            close(x[k], y, what=k)


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


@pytest.mark.parametrize(("make", "word"), [
    (lambda: control.WaypointReference([1.0, 0.0], [[0.0], [1.0]]), "increasing"),
    (lambda: control.WaypointReference([0.0, 1.0], [[0.0]]), "waypoints"),
    (lambda: control.SinusoidReference([0.0], [1.0], 1.0, ramp=1.0, end=1.0), "end"),
    (lambda: control.SinusoidReference([0.0], [1.0], 1.0, ramp=1.0, phase=[0.0, 1.0]), "phase"),
    (lambda: control.RotationReference(2.0 * np.eye(3), np.eye(3), 1.0), "start"),
    (lambda: control.PoseReference(ALL["minimum jerk"], ALL["rotation"]), "position"),
    (lambda: control.PoseReference(control.MinimumJerkReference(np.zeros(3), np.ones(3), 1.0), np.eye(3)), "rotation"),
])  # fmt: skip
def test_bad_references(make, word) -> None:
    refused(ff.InputError, word, make)


@pytest.mark.parametrize("name", ALL)
def test_samples_are_the_reference(name: str) -> None:
    """Cycle after cycle, over the ends of blocks, backwards, and at times between cycles."""
    dt = 0.03
    found = SampledReference(ALL[name], dt)
    k = np.concatenate([np.arange(3 * AHEAD), [70.0, 69.0, 69.5, 2.0 * AHEAD + 6.5, 1e4]])
    for t in KNOTS[0] - 1.0 + dt * k:
        for order, (sampled, expected) in enumerate(zip(found(t), ALL[name](t))):  # times differ by rounding
            close(sampled, expected, rounding(4, 1.0 + abs(t)) * RATE ** (order + 1))


def test_samples_are_found_in_blocks() -> None:
    """One evaluation of a reference for AHEAD cycles: of footsteps, one of a single time costs a control cycle."""
    calls = []
    found = SampledReference(lambda t: calls.append(len(t)) or ALL["waypoints"](t), 1e-3)
    for k in range(3 * AHEAD):
        found(1e-3 * k)
    assert calls == [AHEAD] * 3
