"""Derivatives of rows that no compiled code differentiates, and of accelerations under rows that depend on others."""

import freeflyer as ff
import numpy as np
import pytest
from closed_robots import robot, state
from closeness import close_to_rate, close_to_slopes, fresh
from freeflyer import contacts
from freeflyer.contacts.constrained_dynamics import ConstrainedDynamics


def cart(base: str) -> ff.Model:
    """A hull on two driven wheels, its base planar or free."""
    wheel = ff.Inertia(1.0, np.zeros(3), np.diag([0.01, 0.02, 0.01]))
    links = [ff.Link("hull", ff.Inertia(5.0, np.array([0.05, 0.0, 0.1]), 0.1 * np.eye(3)))]
    joints = [ff.Joint("base", base, "world", "hull", axis=np.array([0.0, 0.0, 1.0]))]
    for name, y in (("left", 0.3), ("right", -0.3)):
        X = np.eye(4)
        X[1, 3] = y
        links.append(ff.Link(name, wheel))
        joints.append(ff.Joint(f"{name}_axle", "revolute", "hull", name, X, np.array([0.0, 1.0, 0.0])))
    return ff.build(ff.Description("cart", (*links, ff.Link("world")), tuple(joints)))


def check(model: ff.Model, q: np.ndarray, v: np.ndarray, held: ff.ConstraintSet, *, forces: bool, tolerance: float = 1e-7) -> None:
    tau = fresh(1).standard_normal(model.nv)
    d = ff.constrained_dynamics_derivatives(model, q, v, tau, constraints=held)

    def solved(dq: np.ndarray, dv: np.ndarray, dtau: np.ndarray) -> ConstrainedDynamics:
        return ff.constrained_dynamics(model, ff.integrate(model, q, dq), v + dv, tau + dtau, constraints=held)

    zero = np.zeros(model.nv)
    ways = [lambda e: solved(e, zero, zero), lambda e: solved(zero, e, zero), lambda e: solved(zero, zero, e)]
    for found, way in zip(d, ways):
        close_to_slopes(found.a, lambda e, w=way: w(e).a, 2e-4, tolerance)
        for name in held.item_names if forces else ():
            close_to_slopes(found.forces[name], lambda e, w=way, n=name: w(e).forces[n], 2e-4, tolerance, what=name)


@pytest.mark.parametrize("axis", [(0.0, 1.0, 0.0), None])
def test_wheels_and_balls_of_a_free_base(axis: tuple[float, float, float] | None) -> None:
    model, rng = cart("free"), fresh()
    q = ff.integrate(model, ff.neutral(model), 0.2 * rng.standard_normal(model.nv))
    toe, wheel = contacts.point("right", (0.0, 0.0, -0.1)), contacts.rolling("left", 0.1, axis)
    held = ff.ConstraintSet(model, contacts=[toe], rolling=[wheel])
    v = ff.project_velocity(model, q, rng.standard_normal(model.nv), constraints=held)
    check(model, q, v, held, forces=True)


def test_a_cart_whose_normal_rows_are_redundant() -> None:
    """On a planar base they depend on nothing in any posture: accelerations have derivatives, forces have none."""
    model, rng = cart("planar"), fresh()
    held = ff.ConstraintSet(model, rolling=[contacts.rolling(name, 0.1) for name in ("left", "right")])
    q = ff.random_configuration(model, rng)
    v = ff.project_velocity(model, q, rng.standard_normal(model.nv), constraints=held)
    d = ff.constrained_dynamics_derivatives(model, q, v, np.zeros(5), constraints=held)
    assert np.isnan(d.dq.multipliers).all()
    with pytest.raises(ff.InputError, match="forces have no derivative"):
        d.dq.forces["left"]
    J = held.jacobian(q)
    free = np.linalg.svd(J)[2][np.linalg.matrix_rank(J) :]
    tau = fresh(1).standard_normal(5)
    d = ff.constrained_dynamics_derivatives(model, q, v, tau, constraints=held)
    for e in free:  # along motions that roll, where the rows stay consistent
        close_to_rate(d.dv.a @ e, lambda x, e=e: ff.constrained_dynamics(model, q, v + x * e, tau, constraints=held).a, 2e-4, 1e-7)
    # Five coordinates of a planar cart on two wheels: all five postures, two velocities
    model = cart("planar")
    held = ff.ConstraintSet(model, rolling=[contacts.rolling(name, 0.1) for name in ("left", "right")])
    line = ff.linearize(model, ff.neutral(model), np.zeros(5), np.zeros(5), constraints=held)
    assert line.basis is not None
    assert line.basis.shape == (10, 5 + 2)
    kept = line.A @ line.basis  # the motion keeps what it may
    assert np.abs(kept - line.basis @ (line.basis.T @ kept)).max() < 1e-9


def test_rows_that_depend_on_others() -> None:
    """Four points of a sole are a surface: the accelerations' derivatives are those with the surface."""
    model = ff.robots.humanoid()
    q, rng = ff.neutral(model), fresh()
    corners = [f"left_sole_{x}" for x in ("front_left", "front_right", "rear_left", "rear_right")]
    points = ff.ConstraintSet(model, contacts=list(map(contacts.point, corners)))
    surface = ff.ConstraintSet(model, contacts=[contacts.surface("left_sole")])
    v = ff.project_velocity(model, q, rng.standard_normal(model.nv), constraints=surface)
    tau = rng.standard_normal(model.nv)
    one, two = (ff.constrained_dynamics_derivatives(model, q, v, tau, constraints=s) for s in (points, surface))
    for x, y in zip(one, two):
        assert np.abs(x.a - y.a).max() < 1e-6 * np.abs(y.a).max()
    model = robot("coupled")
    rng = fresh()
    s = state(model, rng, 0.02)
    v = ff.velocity_map(ff.close_loops(model), s.q) @ s.u
    check(model, s.q, v, ff.ConstraintSet(model), forces=False)
