"""Derivatives of inverse and forward dynamics: identities, attitudes, and differences along `integrate`."""

import freeflyer as ff
import numpy as np
import pytest
from answers import times
from cases import Case, case, cases, few
from closeness import STEP, central, close, close_to_rate, fresh, rounding, slope_error
from collections.abc import Callable
from hypothesis import given
from random_robots import BASES, KINDS

EXACT = rounding(4500, 10.0)  # relative; two ways that differ by rounding, of masses and lengths a factor of ten apart
DIFFERENCE = slope_error(rate=15.0)  # relative; a solve multiplies rates


@few
@given(cases())
def test_identities(c: Case) -> None:
    """da = M, dtau = Minv; the bias is quadratic in v: d(tau)/dv v = 2 C v; a step of tau, v or q moves a as M da = -d(tau)."""
    D, F = ff.inverse_dynamics_derivatives(c.model, c.q, c.v, c.a), ff.forward_dynamics_derivatives(c.model, c.q, c.v, c.tau)
    M, C = ff.mass_matrix(c.model, c.q), ff.coriolis_matrix(c.model, c.q, c.v)
    close(D.da, M, EXACT, 2, least=0.0)
    close(F.dtau, ff.inverse_mass_matrix(c.model, c.q), EXACT, 2, least=0.0)
    close(times(D.dv, c.v), 2.0 * times(C, c.v), EXACT, 1, least=float(np.abs(M).max()))
    a = ff.forward_dynamics(c.model, c.q, c.v, c.tau)
    at = ff.inverse_dynamics_derivatives(c.model, c.q, c.v, a)
    close(M @ F.dq, -at.dq, 1e-9, 2)
    close(M @ F.dv, -at.dv, 1e-9, 2)
    # d(tau)/dq of M a + bias is linear in a; d(tau)/dv does not see it
    zero, unit, twice = (ff.inverse_dynamics_derivatives(c.model, c.q, c.v, k * c.a) for k in (0.0, 1.0, 2.0))
    close(twice.dq - unit.dq, unit.dq - zero.dq, EXACT, 2, least=float(np.abs(twice.dq).max()))
    close(twice.dv, zero.dv, EXACT, 2)


def check_columns(found: np.ndarray, c: Case, f: Callable[[np.ndarray], np.ndarray]) -> None:
    """d f / dq by differences, column by column along `integrate`."""

    def moved(h: float) -> np.ndarray:
        return np.moveaxis(f(ff.integrate(c.model, c.q, h * np.eye(c.model.nv))), 0, -1)

    close_to_rate(found, moved, STEP, DIFFERENCE, 2, least=0.0)


@pytest.mark.parametrize("seed", range(16))
def test_differences(seed: int) -> None:
    """Every joint kind, mimic joints and wrenches on frames, along `integrate`."""
    c = case(seed, 8, KINDS, BASES[seed % 4])
    m, rng, n = c.model, fresh(seed), c.model.nv
    frames = [str(rng.choice(c.links)), "site_0", "site_1"]
    wrenches = {name: 10.0 * rng.standard_normal(6) for name in frames}
    D = ff.inverse_dynamics_derivatives(m, c.q, c.v, c.a, external=wrenches)
    check_columns(D.dq, c, lambda q: ff.inverse_dynamics(m, q, c.v, c.a, external=wrenches))
    by_v = central(lambda h: ff.inverse_dynamics(m, c.q, c.v + h * np.eye(n), c.a, external=wrenches).T)
    close(D.dv, by_v, DIFFERENCE, 2)
    F = ff.forward_dynamics_derivatives(m, c.q, c.v, c.tau, external=wrenches)
    check_columns(F.dq, c, lambda q: ff.forward_dynamics(m, q, c.v, c.tau, external=wrenches))
    by_v = central(lambda h: ff.forward_dynamics(m, c.q, c.v + h * np.eye(n), c.tau, external=wrenches).T)
    close(F.dv, by_v, DIFFERENCE, 2)
