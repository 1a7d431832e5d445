"""Derivatives of q (+) dv, of difference and of the integrators' steps, across every switch of the series."""

import numpy as np
import pytest
from cases import case
from closeness import close, slopes_at_once
from seeds import fresh

import freeflyer as ff

# kernels change their formula at angles 1 and 2e-3, spatial at 2; beside them, and from zero to beyond half a turn
ANGLES = (0.0, 1e-300, 1e-160, 1e-9, 1e-6, 1e-3, 1.999e-3, 2.001e-3, 0.1, 0.999, 1.0, 1.001, 1.999, 2.0, 2.001, 3.0, 3.14)
LONG = (3.2, 5.0, 6.0)  # beyond half a turn: integrate only
MIXED = ff.robots.chain(3, ["spherical", "helical", "planar"], base="free")


def steps(angles: tuple[float, ...]) -> np.ndarray:
    """(n, nv): turns by these angles about random axes, all else random."""
    rng = fresh(3)
    dv = rng.standard_normal((len(angles), MIXED.nv))
    for first in (MIXED.joint("root_joint").iv + 3, next(j.iv for j in MIXED.joints if j.kind == "spherical")):
        w = dv[:, first : first + 3]
        dv[:, first : first + 3] = w / np.linalg.norm(w, axis=1, keepdims=True) * np.array(angles)[:, None]
    return dv


def test_integrate_across_all_switches() -> None:
    dv = steps(ANGLES + LONG)
    q = ff.random_configuration(MIXED, fresh(4), len(dv))
    d = ff.integrate_derivatives(MIXED, q, dv)
    for k, (q0, s) in enumerate(zip(q, dv)):
        end = ff.integrate(MIXED, q0, s)
        moved = lambda x: ff.difference(MIXED, end, ff.integrate(MIXED, ff.integrate(MIXED, q0, x), s))  # noqa: B023
        dq = slopes_at_once(moved, MIXED.nv, order=6)
        ddv = slopes_at_once(lambda x: ff.difference(MIXED, end, ff.integrate(MIXED, q0, s + x)), MIXED.nv, order=6)  # noqa: B023
        close(d.dq[k], dq, 1e-10, what=dv[k])
        close(d.ddv[k], ddv, 1e-10, what=dv[k])


def test_difference_across_all_switches() -> None:
    dv = steps(ANGLES)
    q = ff.random_configuration(MIXED, fresh(5), len(dv))
    ahead = ff.integrate(MIXED, q, dv)
    d = ff.difference_derivatives(MIXED, q, ahead)
    for k, (q0, q1) in enumerate(zip(q, ahead)):
        h = 1e-3 if ANGLES[k] < 3.1 else 1e-4  # 3.14 is 1.6e-3 from where the shortest way jumps
        dq0 = slopes_at_once(lambda x: ff.difference(MIXED, ff.integrate(MIXED, q0, x), q1), MIXED.nv, h, order=6)  # noqa: B023
        dq1 = slopes_at_once(lambda x: ff.difference(MIXED, q0, ff.integrate(MIXED, q1, x)), MIXED.nv, h, order=6)  # noqa: B023
        close(d.dq0[k], dq0, 1e-9, what=dv[k])
        close(d.dq1[k], dq1, 1e-9, what=dv[k])


def test_difference_undoes_integrate_in_derivatives_too() -> None:
    dv = steps(ANGLES)
    q = ff.random_configuration(MIXED, fresh(6), len(dv))
    there = ff.integrate_derivatives(MIXED, q, dv)
    back = ff.difference_derivatives(MIXED, q, ff.integrate(MIXED, q, dv))
    eye = np.broadcast_to(np.eye(MIXED.nv), there.ddv.shape)
    np.testing.assert_allclose(back.dq1 @ there.ddv, eye, atol=1e-11)  # near half a turn the inverse loses digits
    np.testing.assert_allclose(back.dq1 @ there.dq + back.dq0, 0.0 * eye, atol=1e-11)


def test_tiny_turns_are_linear() -> None:
    """No digit is lost on the way to zero."""
    d = ff.integrate_derivatives(MIXED, ff.neutral(MIXED), steps((1e-9, 1e-160, 0.0)) * 0.0)
    np.testing.assert_array_equal(d.dq, np.broadcast_to(np.eye(MIXED.nv), d.dq.shape))
    np.testing.assert_array_equal(d.ddv, d.dq)


def test_half_a_turn_is_refused() -> None:
    q = ff.random_configuration(MIXED, fresh(7))
    dv = np.zeros(MIXED.nv)
    dv[3] = np.pi
    with pytest.raises(ff.InputError, match="root_joint"):
        ff.difference_derivatives(MIXED, q, ff.integrate(MIXED, q, dv))


@pytest.mark.parametrize(("integrator", "order"), [("semi-implicit", 1), ("explicit", 1), ("rk4", 4)])
def test_integrators_have_their_order(integrator: str, order: int) -> None:
    """The error over a fixed time falls by 2^order with half the step; on all kinds of joints."""
    c = case(21, 4, base="free")
    duration, start = 0.2, (c.q, c.v)

    def through(n: int, kind: str) -> np.ndarray:
        q, v = start
        for _ in range(n):
            q, v = ff.step(c.model, q, v, c.tau, duration / n, kind)
        return np.concatenate([ff.difference(c.model, c.q, q), v])

    exact = through(800, "rk4")
    errors = [float(np.linalg.norm(through(n, integrator) - exact)) for n in (20, 40)]
    assert errors[0] / errors[1] == pytest.approx(2.0**order, rel=0.15)


def test_a_step_out_of_the_numbers_is_refused() -> None:
    c = case(23, 3, base="free")
    with pytest.raises(ff.InputError, match="smaller dt"):
        ff.step(c.model, c.q, 1e100 * c.v, c.tau, 1.0, "rk4")
