"""Decoupling of robots whose loops are closed, in their independent velocities."""

import closed_robots
import numpy as np
import pytest
from closeness import close, close_to_rate, rounding, slope_error
from seeds import fresh

import freeflyer as ff
from freeflyer import decoupling

NAMES = ("point", "hinge", "weld", "slider", "nested")


def sample(name: str) -> tuple[ff.Model, np.ndarray, np.ndarray]:
    rng = fresh(name)
    robot = closed_robots.robot(name)
    model = ff.close_loops(robot)
    return model, closed_robots.state(robot, rng).q, rng.standard_normal(model.nv)


@pytest.mark.parametrize("name", NAMES)
def test_closed_robots_decouple(name: str) -> None:
    """Propositions 3.1.1, 3.3.1 and 3.3.2, and (3.77) by whole matrices."""
    model, q, u = sample(name)
    M = ff.mass_matrix(model, q)
    size = np.sqrt(np.diag(M))
    condition = float(np.linalg.cond(M / np.outer(size, size)))
    forces = ff.bias_forces(model, q, u) - ff.gravity_forces(model, q)
    for form in ("hamel", "passive", "newton-euler"):
        C = decoupling.coriolis_matrix(model, q, u, form)
        least = float((np.abs(C) @ np.abs(u)).max() + np.abs(M).max())
        close(C @ u, forces, rounding(4500, condition * 100.0), least=least, what=form)
    for form in ("hamel", "passive", "newton-euler"):
        C = decoupling.coriolis_matrix(model, q, u, form)
        d = decoupling.decouple(model, q, u, form=form)
        T, inverse = d.T, np.linalg.inv(d.T)
        direct = inverse.T @ C @ inverse - d.mass_matrix @ d.T_rate @ inverse
        tol, least = rounding(4500, condition * 100.0), float(np.abs(C).max() + np.abs(M).max())
        close(d.mass_matrix, inverse.T @ M @ inverse, tol, least=float(np.abs(M).max()))
        close(d.coriolis_matrix, direct, tol, least=least, what=form)
        a = ff.forward_dynamics(model, q, u, u)
        left = d.mass_matrix @ (T @ a + d.T_rate @ u) + d.coriolis_matrix @ (T @ u)
        right = np.linalg.solve(T.T, u - ff.gravity_forces(model, q))
        close(left, right, rounding(4500, condition**2 * 100.0), least=float((np.abs(M) @ np.abs(a)).max() + least))
    assert not decoupling.decouple(model, q, u).C_xy.any()


@pytest.mark.parametrize("name", NAMES)
def test_momenta_and_rates_of_closed_robots(name: str) -> None:
    model, q, u = sample(name)
    h = ff.centroidal_momentum(model, q, u)
    if not model.armature[:6].any():  # of a base, it is no link's momentum
        found = decoupling.total_momentum(model, q, u, frame="center_of_mass")
        close(found, h, rounding(4500, 100.0), least=float(np.abs(h).max() + 1.0))
    assert decoupling.constants_of_motion(model, q, u).conserved[0]
    d = decoupling.decouple(model, q, u)
    close_to_rate(
        d.base_map_rate, lambda h: decoupling.decouple(model, ff.integrate(model, q, h * u), u).base_map,
        tolerance=100.0 * slope_error(), least=float(np.abs(d.base_map).max() + np.abs(d.base_map_rate).max()),
    )  # fmt: skip
    for form in ("hamel", "passive", "newton-euler"):
        momentum = decoupling.momentum_map(model, q, u, frame="world")
        assert decoupling.invariance(model, q, u, T_x=momentum, form=form).invariant


@pytest.mark.parametrize("name", NAMES)
def test_the_frame_of_closed_robots(name: str) -> None:
    """The linear part of the torsion is c x the angular one: of balls in loops as well."""
    description = closed_robots.robot(name).description
    for joint in description.joints:
        description = description.with_joint(ff.Joint(**{**vars(joint), "armature": ()}))
    robot = ff.build(description)  # armature of the base is no body's mass
    model, q = ff.close_loops(robot), closed_robots.state(robot, fresh(name)).q
    found = decoupling.integrability(model, q)
    X = ff.frame_pose(model, q, model.joints[0].child)
    center = X[:3, :3].T @ (ff.center_of_mass(model, q) - X[:3, 3])
    expected = np.cross(center, found.tensor[3:], axisa=0, axisb=0, axisc=0)
    N = decoupling.decouple(model, q, np.zeros(model.nv)).base_map
    close(found.tensor[:3], expected, rounding(4500, 1e5), least=float(np.abs(N).max() ** 2 + np.abs(found.tensor).max()))


def test_robots_tied_to_the_world_are_refused() -> None:
    model = ff.close_loops(closed_robots.robot("held"))
    with pytest.raises(ff.InputError, match="tied to the world"):
        decoupling.decouple(model, model.neutral, np.zeros(model.nv))
