"""External and internal motion: decoupling thesis, section 3.3.4."""

import numpy as np
import pytest
from cases import Case, cases, few
from closeness import close, rounding
from hypothesis import given
from seeds import fresh

import freeflyer as ff
from freeflyer import decoupling

floating = cases(bases=("free",))


def condition(model: ff.Model, q: np.ndarray) -> float:
    return float(np.linalg.cond(ff.mass_matrix(model, q)[:6, :6]))


@few
@given(floating)
def test_velocities_add_up(c: Case) -> None:
    tol = rounding(4500, condition(c.model, c.q))
    for frame in ("site_0", c.links[-1]):
        external = decoupling.external_velocity(c.model, c.q, c.v, frame)
        internal = decoupling.internal_velocity(c.model, c.q, c.v, frame)
        size = float(np.abs(external).max() + np.abs(internal).max() + 1.0)
        close(external + internal, ff.frame_velocity(c.model, c.q, c.v, frame), tol, least=size)
        close(decoupling.external_jacobian(c.model, c.q, frame) @ c.v, external, tol, least=size)
        close(decoupling.internal_jacobian(c.model, c.q, frame) @ c.v[6:], internal, tol, least=size)


@few
@given(floating)
def test_forces_move_what_they_should(c: Case) -> None:
    """Torques of the joints do not accelerate the locked velocity in the world; a force through the base alone, along the rows of
    T, does not accelerate the joints: conditions 2 and 3."""
    model, zero = ff.with_gravity(c.model, (0.0, 0.0, 0.0)), np.zeros(c.model.nv)
    d = decoupling.decouple(model, c.q, zero)
    F = d.T.T @ np.concatenate([c.tau[:6], np.zeros(model.nv - 6)])
    M = ff.mass_matrix(model, c.q)
    size = np.sqrt(np.diag(M))
    tol = rounding(4500, condition(model, c.q) * float(np.linalg.cond(M / np.outer(size, size))))
    a = ff.forward_dynamics(model, c.q, zero, F)
    close(a[6:], np.zeros(model.nv - 6), tol, least=float(np.abs(a).max()))
    a = ff.forward_dynamics(model, c.q, zero, np.concatenate([np.zeros(6), c.tau[6:]]))
    close(d.base_map @ a, np.zeros(6), tol, least=float((np.abs(d.base_map) @ np.abs(a)).max()))


@pytest.mark.parametrize("rows", [(0, 1, 2), (3, 4, 5), (5, 0), range(6)])
def test_consistent_inverse(rows: tuple[int, ...]) -> None:
    """(3.92), (3.93): I I^# = 1, I^#T M I^# = diag(M_e, M_i), and forces along I^T leave accelerations of the rest unchanged."""
    model = ff.robots.space_manipulator()
    rng = fresh(str(rows))
    q = ff.integrate(model, model.neutral, rng.uniform(0.3, 1.2, model.nv))
    found = decoupling.external_internal(model, q, "end_effector", rows=rows)
    m = 6 + len(rows)
    J = decoupling.internal_jacobian(model, q, "end_effector")[list(rows)]
    tol = rounding(4500, condition(model, q) * float(np.linalg.cond(J)) ** 2)
    close(found.transform @ found.inverse, np.eye(m), tol)
    M = ff.mass_matrix(model, q)
    expected = np.zeros((m, m))
    expected[:6, :6], expected[6:, 6:] = found.M_e, found.M_i
    close(found.inverse.T @ M @ found.inverse, expected, tol)
    close(np.linalg.inv(found.transform @ np.linalg.solve(M, found.transform.T)), expected, tol)
    v = rng.standard_normal(model.nv)
    both = found.transform @ v
    close(both[:6], decoupling.external_velocity(model, q, v), tol)
    close(both[6:], decoupling.internal_velocity(model, q, v, "end_effector")[list(rows)], tol)
    close(found.M_e[:3, :3], model.mass * np.eye(3), tol, least=model.mass)


@few
@given(floating)
def test_energies_add_up(c: Case) -> None:
    external = np.concatenate([decoupling.locked_velocity(c.model, c.q, c.v), np.zeros(c.model.nv - 6)])
    parts = [ff.kinetic_energy(c.model, c.q, x) for x in (external, c.v - external)]
    whole = np.array(ff.kinetic_energy(c.model, c.q, c.v))
    close(np.array(sum(parts)), whole, rounding(4500, condition(c.model, c.q)), least=float(sum(parts)))
