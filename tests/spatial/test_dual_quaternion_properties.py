"""Dual quaternions by hypothesis: the group's axioms, exp and log from zero past pi, Ad, lemma (9), screws; all to 1e-12."""

import numpy as np
import pytest
from closeness import EPS, close, close_to_rate, refused
from freeflyer.errors import InputError
from freeflyer.spatial import dual_quaternion as D, quaternion, se3, wrench
from hypothesis import given, settings, strategies as st
from spatial_samples import ALL_ANGLES, exact_sum, twists_at

WITHIN = 1e-12
ONE = np.eye(8)[3]
fast = settings(max_examples=30, deadline=None)
entries = st.floats(-2.0, 2.0)
vectors = st.tuples(entries, entries, entries).map(np.array)
# angles next to every place where formulas change: zero, where series begin, half a turn, a whole one
angles = st.one_of(st.floats(0.0, 2.0 * np.pi), st.sampled_from([0.0, 1e-300, 1e-160, 1e-16, 1e-8, 1e-4, 1.99, 2.0, 2.01, np.pi]),
    st.tuples(st.sampled_from([-1.0, 1.0]), st.floats(-15.0, -3.0)).map(lambda x: np.pi + x[0] * 10.0 ** x[1]))  # fmt: skip


@st.composite
def directions(draw: st.DrawFn) -> np.ndarray:
    v = draw(vectors)
    n = np.linalg.norm(v)
    return v / n if n > 1e-3 else np.eye(3)[draw(st.integers(0, 2))]


@st.composite
def poses(draw: st.DrawFn) -> np.ndarray:
    return D.from_position_quaternion(draw(vectors), quaternion.exp(draw(angles) * draw(directions())))


@st.composite
def pure(draw: st.DrawFn) -> np.ndarray:
    return D.from_vec6(np.concatenate([draw(vectors), draw(vectors)]))


@fast
@given(poses(), poses(), poses())
def test_group_axioms(x, y, z):
    m = D.multiply
    close(m(m(x, y), z), m(x, m(y, z)), WITHIN)
    close(m(x, ONE), x, 0.0)
    close(m(ONE, x), x, 0.0)
    close(m(x, D.conjugate(x)), ONE, WITHIN)
    close(m(D.conjugate(x), x), ONE, WITHIN)
    close(D.norm(m(x, y)), np.array([1.0, 0.0]), WITHIN)
    close(D.to_pose(m(x, y)), D.to_pose(x) @ D.to_pose(y), WITHIN)


@fast
@given(poses(), poses(), pure(), pure())
def test_adjoint_is_a_homomorphism(x, y, a, b):
    close(D.adjoint(D.multiply(x, y), a), D.adjoint(x, D.adjoint(y, a)), WITHIN)
    close(D.adjoint(x, D.cross(a, b)), D.cross(D.adjoint(x, a), D.adjoint(x, b)), WITHIN)
    close(D.adjoint(D.conjugate(x), D.adjoint(x, a)), a, WITHIN)
    close(D.inner(D.adjoint(x, a), D.adjoint(x, b)), D.inner(a, b), WITHIN)
    close(D.power(D.adjoint(x, a), D.adjoint(x, b)), D.power(a, b), WITHIN)
    full = D.multiply(D.hamilton_left(x) @ a, D.conjugate(x))
    close(D.adjoint(x, a), full, WITHIN)
    close(D.hamilton_right(D.conjugate(x)) @ D.hamilton_left(x) @ a, full, WITHIN)


@fast
@given(pure(), pure(), pure())
def test_cross_product_is_a_lie_bracket(a, b, c):
    close(D.cross(a, b), -D.cross(b, a), 0.0)
    jacobi = D.cross(a, D.cross(b, c)) + D.cross(b, D.cross(c, a)) + D.cross(c, D.cross(a, b))
    close(jacobi, np.zeros(8), WITHIN, least=10.0)
    ab, ba = D.multiply(a, b), D.multiply(b, a)
    close(D.cross(a, b), 0.5 * (ab - ba), WITHIN)
    close(D.inner(a, b), -0.5 * (ab + ba)[[3, 7]], WITHIN)
    close(ab, D.cross(a, b) - np.insert(np.zeros(6), [3, 6], D.inner(a, b)), WITHIN)
    close(D.inner(a, b)[1], D.power(a, b), WITHIN)


@fast
@given(poses())
def test_any_pose(x):
    back = D.exp(D.log(x))
    assert min(np.abs(back - x).max(), np.abs(back + x).max()) < WITHIN
    assert np.linalg.norm(D.log(x)[:3]) <= np.pi / 2 * (1.0 + 1e-15)
    s = D.screw_parameters(x)
    close(D.to_pose(D.from_screw_parameters(*s)), D.to_pose(x), WITHIN, least=float(1.0 + np.abs(s.moment * s.angle).max()))
    close(np.linalg.norm(s.direction), np.array(1.0), WITHIN)
    assert 0.0 <= s.angle <= np.pi * (1.0 + 1e-15)
    line = D.from_vec6(np.concatenate([s.direction, s.moment]))
    close(D.inner(line, line), np.array([1.0, 0.0]), WITHIN, least=float(1.0 + np.abs(s.moment).max()))
    if s.angle > 1e-3:  # points of the line shift along it
        point = np.cross(s.direction, s.moment)
        moved, least = (D.to_pose(x) @ [*point, 1.0])[:3], 10.0 + float(np.abs(point).max())
        close(moved, point + s.translation * s.direction, WITHIN, least=least)
    # w / 2 + eps p / 2, by its definition: angle 2 acos(w) about the imaginary part, and the position
    h, p = D.decomposed_log(x), D.to_position_quaternion(x)[0]
    close(h[4:7], 0.5 * p, WITHIN)
    close(D.decomposed_exp(h), x, WITHIN)
    close(np.cos(np.linalg.norm(h[:3])), x[3], WITHIN)
    if abs(x[3]) < 0.99:
        axis = x[:3] / np.sin(np.arccos(x[3]))
        close(h[:3], np.arccos(x[3]) * axis, WITHIN)


@fast
@given(poses(), pure(), pure(), pure())
def test_lemma_9(x, a, h, rate):
    """By the product rule, exactly: d/dt (x h x*) with x' = a x / 2."""
    dx = D.rate_from_twist(x, a, "world")
    m, bar = D.multiply, D.conjugate
    slope = m(m(dx, h), bar(x)) + m(m(x, rate), bar(x)) + m(m(x, h), bar(dx))
    close(D.adjoint_rate(x, a, h, rate), slope, WITHIN, least=10.0)


@fast
@given(poses(), poses(), st.tuples(*[entries] * 6), st.tuples(*[entries] * 6), vectors, st.floats(-0.2, 1.2))
def test_poses_twists_wrenches_and_screws_are_those_of_se3(x, y, V, F, p, t):
    """Points move as by the matrix; a twist of the body and the same in the world change a pose alike, by x' = x xi / 2."""
    V, F, X, m = np.array(V), np.array(F), D.to_pose(x), D.multiply
    close(D.from_pose(X) * np.sign(D.from_pose(X) @ x), x, WITHIN)
    close(D.to_pose(-x), X, 0.0)
    close(D.from_position_quaternion(*D.to_position_quaternion(x)), x, WITHIN)
    moved = m(m(x, np.array([0.0, 0, 0, 1, *p, 0])), D.conjugate(D.dual_conjugate(x)))
    close(moved[4:7], X[:3, :3] @ p + X[:3, 3], WITHIN, least=10.0)
    close(D.to_twist(D.adjoint(x, D.from_twist(V))), se3.adjoint(X) @ V, WITHIN, least=10.0)
    close(D.to_vec6(D.adjoint(x, D.from_wrench(F))), se3.coadjoint(X) @ F, WITHIN, least=10.0)
    close(D.power(D.from_wrench(F), D.from_twist(V)), wrench.power(F, V), WITHIN, least=10.0)
    close(D.to_pose(D.sclerp(x, y, t)), se3.interpolate(X, D.to_pose(y), t), 1e-10, least=10.0)
    body = D.from_twist(V)
    close_to_rate(D.rate_from_twist(x, body, "body"), lambda h: m(x, D.exp(0.5 * h * body)), tolerance=1e-9, least=10.0)
    close(D.rate_from_twist(x, body, "body"), D.rate_from_twist(x, D.adjoint(x, body), "world"), WITHIN, least=10.0)


@pytest.mark.parametrize("angle", ALL_ANGLES)
def test_exp_is_its_own_series(angle):
    for xi in twists_at((angle,), 2):
        h = 0.5 * D.from_twist(xi)
        close(D.exp(h), exact_sum(D.hamilton_left(h), 0) @ ONE, 8 * EPS)


def test_conventions_and_bad_screws():
    """vec8 has each w first, vec6 the imaginary parts; twists are angular + eps linear with x' = xi x / 2."""
    x = D.from_position_quaternion([1.0, 2.0, 3.0], quaternion.exp([0.3, -0.4, 0.5]))
    v = D.to_vec8(x)
    close(v[[0, 4]], x[[3, 7]], 0.0)
    close(D.from_vec8(v), x, 0.0)
    xi = D.from_twist([1, 2, 3, 4, 5, 6])
    assert D.to_vec6(xi).tolist() == [4, 5, 6, 1, 2, 3]
    close(D.rate_from_twist(x, xi, "world"), 0.5 * D.multiply(xi, x), 0.0)
    close(D.decomposed_log(-ONE), np.array([0, 0, np.pi, 0, 0, 0, 0, 0]), 0.0)
    close(D.decomposed_log(ONE), np.zeros(8), 0.0)
    refused(InputError, "direction has norm 2", D.from_screw_parameters, 1.0, 0.0, [0, 0, 2], [0, 0, 0])
    refused(InputError, r"moment \. direction", D.from_screw_parameters, 1.0, 0.0, [0, 0, 1], [0, 0, 1])
    refused(InputError, "real part of b", D.inner, np.eye(8)[0], ONE)
    refused(InputError, "zero primary part", D.normalize, np.zeros(8))
