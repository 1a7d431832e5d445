"""Configuration space: exponential and logarithm across every switch, robots far away; random and named configurations."""

import freeflyer as ff
import numpy as np
import pytest
from closeness import EPS, central, close, fresh, refused, rounding
from dataclasses import replace
from freeflyer.model.description import WORLD, Description, Inertia, Joint, Link
from hypothesis import given
from random_robots import KINDS, ONE_DOF, Case, cases, few, random_robot, random_rotation
from scipy.linalg import expm
from tangent import rates

EXACT = 2e-15  # relative to steps of size 1: a few roundings
SMALL = (0.0, 1e-300, 1e-160, 1e-12, 1e-9, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 0.5)
SWITCH = tuple(s + d for s in (1.0, 2.0) for d in (-1e-3, -1e-9, -2e-16, 0.0, 4e-16, 1e-9, 1e-3))  # of the power series
LOGARITHM = tuple(2.0 * np.arcsin(1e-3) + d for d in (-1e-6, -1e-12, 0.0, 1e-12, 1e-6))  # where difference takes atan2
NEAR_PI = tuple(np.pi - d for d in (1.0, 0.1, 1e-3, 1e-5, 1e-7))
ANGLES = SMALL + SWITCH + LOGARITHM + NEAR_PI
FLOATING = ff.robots.chain(1, "fixed", base="free")


def twists(angles: tuple[float, ...]) -> np.ndarray:
    """(n, 6): about random axes, the coordinate axes first, with linear parts of order 1."""
    rng = fresh(5)
    axes = np.vstack([np.eye(3), rng.standard_normal((3, 3))])
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    w = np.array([angle * axis for angle in angles for axis in axes])
    return np.hstack([rng.standard_normal(w.shape), w])


def starts(n: int) -> np.ndarray:
    return ff.random_configuration(FLOATING, fresh(6), n)


def pose(q: np.ndarray) -> np.ndarray:
    return ff.spatial.se3.from_position_quaternion(q[..., :3], q[..., 3:])


def test_integrate_is_the_exponential() -> None:
    """Of a body twist, by the matrix series: X(q (+) dv) = X(q) exp(dv^)."""
    dv = twists(ANGLES)
    q = starts(len(dv))
    expected = pose(q) @ np.stack([expm(ff.spatial.se3.hat(x)) for x in dv])
    np.testing.assert_allclose(pose(ff.integrate(FLOATING, q, dv)), expected, atol=1e-14)  # expm is right to about 5e-15
    one = np.stack([ff.integrate(FLOATING, *x) for x in zip(q, dv)])
    np.testing.assert_allclose(pose(one), expected, atol=1e-14)
    # From the neutral posture: the displacement and the vector part are dv and half of it, to the last digits
    dv = twists(tuple(a for a in SMALL if a < 1e-7))
    out = ff.integrate(FLOATING, ff.neutral(FLOATING), dv)
    np.testing.assert_allclose(out[:, 3:6], 0.5 * dv[:, 3:], rtol=1e-14, atol=0.0)
    close(out[:, :3], dv[:, :3], 1e-7, 1, least=0.0)  # turned by half the angle
    back = ff.difference(FLOATING, ff.neutral(FLOATING), out)
    np.testing.assert_allclose(back[:, 3:], dv[:, 3:], rtol=1e-14, atol=0.0)
    model = random_robot(fresh(1), 8, ONE_DOF, "fixed", mimics=0.8)
    rng = fresh(2)
    q, dv = rng.standard_normal((2, model.nq))
    assert model.nq == model.nv < 8
    assert np.array_equal(ff.integrate(model, q, dv), q + dv)
    assert np.array_equal(ff.difference(model, q, q + dv), (q + dv) - q)


@pytest.mark.parametrize("angles", [SMALL, SWITCH, LOGARITHM, NEAR_PI])
def test_difference_undoes_integrate(angles: tuple[float, ...]) -> None:
    """Near pi by d, rounding of the quaternion costs no digit of the rotation vector, but 1 / d of those of the twist."""
    dv = twists(angles)
    q = starts(len(dv))
    ahead = ff.integrate(FLOATING, q, dv)
    np.testing.assert_allclose(np.linalg.norm(ahead[:, 3:], axis=1), 1.0, atol=4e-16)
    back = ff.difference(FLOATING, q, ahead)
    close(back, dv, 2e-14, 1)
    close(np.stack([ff.difference(FLOATING, *x) for x in zip(q, ahead)]), dv, 2e-14, 1)
    close(ff.difference(FLOATING, q, ahead * [1, 1, 1, -1, -1, -1, -1]), dv, 2e-14, 1)


def test_difference_goes_the_short_way() -> None:
    dv = twists((np.pi + 1e-3, 4.0, 6.0, 2.0 * np.pi + 0.1))
    q = starts(len(dv))
    ahead = ff.integrate(FLOATING, q, dv)
    back = ff.difference(FLOATING, q, ahead)
    assert np.linalg.norm(back[:, 3:], axis=1).max() <= np.pi
    np.testing.assert_allclose(pose(ff.integrate(FLOATING, q, back)), pose(ahead), atol=1e-13)
    for axis in np.vstack([np.eye(3), random_rotation(fresh(0))]):
        q = ff.neutral(FLOATING)
        q[:3], q[3:6], q[6] = (1.0, 2.0, 3.0), axis, 0.0
        back = ff.difference(FLOATING, ff.neutral(FLOATING), q)
        assert np.linalg.norm(back[3:]) == pytest.approx(np.pi, abs=1e-15)
        np.testing.assert_allclose(pose(ff.integrate(FLOATING, ff.neutral(FLOATING), back)), pose(q), atol=1e-14)


@few
@given(cases())
def test_any_robot(c: Case) -> None:
    model, q = c.model, c.q
    step = 0.5 * c.v / max(1.0, float(np.abs(c.v).max()))
    ahead = ff.integrate(model, q, step)
    close(ff.difference(model, q, ahead), step, 1e-14, 1)
    close(ff.difference(model, ahead, q), -step, 1e-14, 1)
    close(ff.difference(model, q, q), np.zeros(model.nv), EPS)
    close(ff.integrate(model, q, np.zeros(model.nv)), q, EXACT, 1)
    halfway = ff.integrate(model, ff.integrate(model, q, 0.3 * step), 0.7 * step)  # one line: steps add up
    assert np.abs(ff.difference(model, ahead, halfway)).max() < 1e-14
    # Its rate at the beginning is qdot by the definition of the joints' velocities
    along = central(lambda h: ff.integrate(c.model, c.q, h * c.v), 1e-3)
    close(along, rates(c.model, c.q, c.v), 1e-10, 1)


FAR = 2.0**27  # m, some 1e8: positions near it are rounded to 3e-8 m
TOLERANCE = rounding(450)  # relative: no digit is lost to the distance


QUANTITIES = {  # how many of q, v and a each takes
    "centroidal_momentum": 2, "centroidal_momentum_matrix": 1, "centroidal_bias": 2, "centroidal_momentum_rate": 3,
    "centroidal_momentum_derivatives": 2, "centroidal_momentum_rate_derivatives": 3,
}  # fmt: skip


@pytest.mark.parametrize("name", QUANTITIES)
@pytest.mark.parametrize("base", ["free", "planar", "two free"])
def test_momentum_of_robots_far_out(base: str, name: str) -> None:
    """Of one tree, and of two together, at positions that are exact there as here."""
    for seed in range(3):
        rng = fresh(seed)
        model = random_robot(rng, 7, KINDS, base)
        d = model.description
        for joint in ("base", "other_base") if base == "two free" else ():
            d = d.with_joint(replace(d.joint(joint), placement=np.eye(4)))
        model = ff.build(d)
        q, (v, a) = ff.random_configuration(model, rng), rng.standard_normal((2, model.nv))
        away = q.copy()
        for joint, place in (("base", 0.0), ("other_base", (0.5, -0.25, 1.0)))[: 1 + (base == "two free")]:
            at = model.joint(joint).iq
            q[at : at + 2 + (base != "planar")] = place
            away[at : at + 2 + (base != "planar")] = np.add(place, FAR)
        here, there = (np.vstack(getattr(ff, name)(model, *(x, v, a)[: QUANTITIES[name]])) for x in (q, away))
        close(there, here, TOLERANCE, here.ndim)


UNIT = Inertia(1.0, np.zeros(3), np.eye(3))


def drawn(kind: str, low: float, high: float) -> np.ndarray:
    joint = Joint("joint", kind, WORLD, "link", lower=(low,), upper=(high,))
    model = ff.build(Description("one", (Link("link", UNIT),), (joint,)))
    return ff.random_configuration(model, fresh(0), 1000)[:, 0]


@pytest.mark.parametrize("wide", [np.inf, 1e16, 1e10, 1e5])
@pytest.mark.parametrize(("kind", "span"), [("revolute", np.pi), ("prismatic", 1.0)])
def test_wide_limits_count_as_none(kind: str, span: float, wide: float) -> None:
    q = drawn(kind, -wide, wide)
    assert -span <= q.min() < -0.9 * span
    assert 0.9 * span < q.max() <= span
    assert (q + 1e-3 != q).all()
    one_side = drawn(kind, -0.5, wide)
    assert -0.5 <= one_side.min() < 0.5 * span < one_side.max() <= span


@pytest.mark.parametrize(("low", "high", "reached"), [
    (5.0, np.inf, (5.0, 5.0 + np.pi)), (-1e16, -5.0, (-5.0 - np.pi, -5.0)), (0.0, 1000.0, (0.0, 1000.0)),
])  # fmt: skip
def test_limits_beyond_half_a_turn_are_kept(low: float, high: float, reached: tuple[float, float]) -> None:
    q = drawn("revolute", low, high)
    assert reached[0] <= q.min() < q.max() <= reached[1]
    assert np.ptp(q) > 0.9 * np.subtract(*reached[::-1])


@pytest.mark.parametrize("base", ["free", "planar"])
def test_every_coordinate_is_drawn_within_its_limits(base: str) -> None:
    """Of joints of every kind, those of several coordinates among them."""
    kinds = ("universal", "cylindrical", "spherical", "helical", "planar")
    model = ff.robots.chain(10, kinds) if base == "planar" else ff.robots.chain(5, kinds, base=base)
    q = ff.random_configuration(model, fresh(base), 200)
    assert (np.ptp(q, axis=0) > 0.2).all()
    for joint in (j for j in model.joints if j.nq == j.nv):
        low, high = model.position_lower[joint.iv : joint.iv + joint.nv], model.position_upper[joint.iv : joint.iv + joint.nv]
        assert ((low <= q[:, joint.iq : joint.iq + joint.nq]) & (q[:, joint.iq : joint.iq + joint.nq] <= high)).all()


TURN = [0.6, 0.0, 0.0, 0.8]


def test_named_joints_and_all_others() -> None:
    model = ff.robots.chain(4, ["revolute", "spherical", "universal", "prismatic"], base="free")
    start = ff.random_configuration(model, fresh(1))
    names = [j.name for j in model.joints]
    q = ff.configuration(model, {names[1]: 0.3, names[2]: TURN}, start=start, **{names[3]: [0.1, 0.2]})
    ours = {j.name: q[j.iq : j.iq + j.nq].tolist() for j in model.joints}
    assert (ours[names[1]], ours[names[2]], ours[names[3]]) == ([0.3], TURN, [0.1, 0.2])
    for name in (names[0], names[4]):
        joint = model.joint(name)
        assert np.array_equal(q[joint.iq : joint.iq + joint.nq], start[joint.iq : joint.iq + joint.nq])
    assert np.array_equal(ff.configuration(model), ff.neutral(model))
    pose = [1.0, 2.0, 3.0, *TURN]
    assert np.array_equal(ff.configuration(model, {names[0]: pose})[:7], pose)
    one, ball = model.joints[1].name, model.joints[2].name
    fixed = ff.lock_joints(model, [one])
    joints = (Joint("a", "revolute", WORLD, "a"), Joint("b", "revolute", "a", "b", mimic=ff.Mimic("a")))
    pair = ff.build(Description("pair", (Link("a", UNIT), Link("b", UNIT)), joints))
    for bad, kind, words in (
        (lambda: ff.configuration(model, {one[:-1]: 0.1}), ff.UnknownNameError, "Did you mean 'joint_4'"),
        (lambda: ff.configuration(fixed, {one: 0.1}), ff.UnknownNameError, "That joint is fixed"),
        (lambda: ff.configuration(model, {one: 0.1}, **{one: 0.2}), ff.InputError, "given twice"),
        (lambda: ff.configuration(model, {ball: [0.0, 0.0, 0.0]}), ff.InputError, r"has shape \(3,\), expected \(\.\.\., 4\)"),
        (lambda: ff.configuration(model, {ball: [0.0, 0.0, 0.0, 2.0]}), ff.InputError, "norm 2, expected 1"),
        (lambda: ff.configuration(model, {one: np.nan}), ff.InputError, "every entry must be finite"),
        (lambda: ff.configuration(model, [one]), ff.InputError, "positions map names of joints"),
        (lambda: ff.configuration(model, start=np.zeros(3)), ff.InputError, r"start has shape \(3,\)"),
        (lambda: ff.configuration(pair, b=0.1), ff.InputError, "mimics 'a': give the position of that one"),
    ):
        refused(kind, words, bad)


def test_closed_robots_close(models_folder) -> None:
    closed = ff.close_loops(ff.load(models_folder / "kangaroo" / "kangaroo.xml"))
    motor = "leg_left_length_motor"
    wanted = np.array([0.01, 0.02])
    q = ff.configuration(closed, {motor: wanted})
    assert np.allclose(q[:, closed.joint(motor).iq], wanted, atol=1e-15)
    ff.mass_matrix(closed, q)  # refuses postures that are open
    gap = np.abs(ff.linkages.constraint_residual(closed.tree, q)).max()
    assert gap < 1e-6
    assert np.abs(q - closed.neutral).max() > 0.05
    passive = next(j.name for j in closed.joints if j.nv < closed.tree.joint(j.name).nv)
    refused(ff.InputError, "follows from its loops: name independent joints", ff.configuration, closed, {passive: 0.1})
    refused(ff.FreeflyerError, "", ff.configuration, closed, {motor: 5.0})
