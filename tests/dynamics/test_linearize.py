"""A and B against differences of what really moves, and derivatives of integrate and difference, across all switches."""

import freeflyer as ff
import numpy as np
import pytest
from closeness import close, fresh, refused, slopes_at_once
from collections.abc import Callable
from hypothesis import given, settings, strategies as st
from random_robots import Case, case
from typing import Any

INTEGRATORS = ("semi-implicit", "explicit", "rk4")
STEP = 0.01  # s


def differenced(model: ff.Model, q: np.ndarray, v: np.ndarray, tau: np.ndarray, move: Callable):
    """(A, B) of the map (q, v, tau) -> (q, v) that `move` makes, in the coordinates of the group."""
    n = model.nv
    q1, v1 = move(q, v, tau)

    def f(x: np.ndarray) -> np.ndarray:
        q2, v2 = move(ff.integrate(model, q, x[:, :n]), v + x[:, n : 2 * n], tau + x[:, 2 * n :])
        return np.concatenate([ff.difference(model, q1, q2), v2 - v1], axis=-1)

    J = slopes_at_once(f, 3 * n, order=6)
    return J[:, : 2 * n], J[:, 2 * n :]


def check_step(c: Case, v: np.ndarray, tau: np.ndarray, step: float, integrator: str, **loads: Any) -> None:
    found = ff.linearize(c.model, c.q, v, tau, dt=step, integrator=integrator, **loads)
    A, B = differenced(c.model, c.q, v, tau, lambda q, v, tau: ff.step(c.model, q, v, tau, step, integrator, **loads))
    close(found.A, A, 1e-8)
    close(found.B, B, 1e-8)
    assert (found.dt, found.integrator) == (step, integrator)


@pytest.mark.parametrize("integrator", INTEGRATORS)
@settings(max_examples=8)
@given(seed=st.integers(0, 2**31), n=st.integers(0, 5), base=st.sampled_from(("free", "fixed", "planar", "two free")))
def test_a_step_is_linearised_exactly(integrator: str, seed: int, n: int, base: str) -> None:
    c = case(seed, max(n, 1), base=base)
    loads = {"external": {"site_0": c.rng.standard_normal(6), c.links[-1]: c.rng.standard_normal(6)}, "gravity": (1.0, 2.0, -3.0)}
    for more in ({}, loads):
        check_step(c, c.v, c.tau, STEP, integrator, **more)


@pytest.mark.parametrize("step", [0.3, 1.0])
def test_long_steps_too(step: float) -> None:
    """Turns of radians within a step, across the switches of the series."""
    c = case(3, 2, kinds=("spherical",), base="free")
    for integrator in INTEGRATORS:
        check_step(c, 2.0 * c.v, 0.0 * c.tau, step, integrator)


def test_outputs_are_how_frames_move() -> None:
    c = case(4, 5, base="free")
    frames = ("site_0", "link_0")
    found = ff.linearize(c.model, c.q, c.v, c.tau, frames=frames)
    from freeflyer.spatial import se3

    n = c.model.nv
    for k, frame in enumerate(frames):
        X = se3.inverse(ff.frame_pose(c.model, c.q, frame))

        def y(x: np.ndarray, X: np.ndarray = X, frame: str = frame) -> np.ndarray:
            q, v = ff.integrate(c.model, c.q, x[:, :n]), c.v + x[:, n:]
            return np.hstack([se3.log(X @ ff.frame_pose(c.model, q, frame)), ff.frame_velocity(c.model, q, v, frame)])

        close(found.C[12 * k : 12 * k + 12], slopes_at_once(y, 2 * n, order=6), 1e-9)
    assert ff.linearize(c.model, c.q, c.v, c.tau).C.shape == (0, 2 * n)


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


def test_across_all_switches() -> None:
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
    # dv = difference(q, integrate(q, dv)), by the chain rule
    dv = steps(ANGLES)
    q = ff.random_configuration(MIXED, fresh(6), len(dv))
    there = ff.integrate_derivatives(MIXED, q, dv)
    back = ff.difference_derivatives(MIXED, q, ff.integrate(MIXED, q, dv))
    eye = np.broadcast_to(np.eye(MIXED.nv), there.ddv.shape)
    np.testing.assert_allclose(back.dq1 @ there.ddv, eye, atol=1e-11)  # near half a turn the inverse loses digits
    np.testing.assert_allclose(back.dq1 @ there.dq + back.dq0, 0.0 * eye, atol=1e-11)
    # No digit is lost on the way to zero
    d = ff.integrate_derivatives(MIXED, ff.neutral(MIXED), steps((1e-9, 1e-160, 0.0)) * 0.0)
    np.testing.assert_array_equal(d.dq, np.broadcast_to(np.eye(MIXED.nv), d.dq.shape))
    np.testing.assert_array_equal(d.ddv, d.dq)
    q = ff.random_configuration(MIXED, fresh(7))
    dv = np.zeros(MIXED.nv)
    dv[3] = np.pi
    refused(ff.InputError, "root_joint", lambda: ff.difference_derivatives(MIXED, q, ff.integrate(MIXED, q, dv)))
    c = case(23, 3, base="free")
    refused(ff.InputError, "smaller dt", ff.step, c.model, c.q, 1e100 * c.v, c.tau, 1.0, "rk4")


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
