"""The laws of closed linkages on random ones: trees of all joint kinds, tied where they are by loops of any mask and couplings."""

import freeflyer as ff
import numpy as np
import pytest
from closed_robots import State, reference, state
from closeness import STEP, close, close_to_rate, close_to_slopes, fresh, rounding
from freeflyer import linkages
from functools import cache
from linkage_samples import driven_linkage

BASES = ("free", "fixed", "planar", "free")
COUNT = 12


@cache
def linkage(k: int) -> tuple[ff.Model, State, float, float]:
    """(tree, closed state, condition number, step of differences).

    The step is that of a tree over the condition number: so much do passive joints outrun independent ones, and their rates change.
    """
    rng = fresh("linkage", k)
    tree, condition = driven_linkage(rng, loops=1 + k % 3, base=BASES[k % 4], coupled=bool(k % 2))
    return tree, state(tree, rng, 0.03 / condition), condition, STEP / condition


each = pytest.mark.parametrize("k", range(COUNT))


@each
def test_motions_keep_all_loops_closed(k: int) -> None:
    """J G = 0, also of the rows that repeat others, and J a + bias = 0 of every acceleration."""
    tree, s, condition, h = linkage(k)
    model, J = ff.close_loops(tree), linkages.constraint_jacobian(tree, s.q)
    G, r, error = ff.velocity_map(model, s.q), reference(tree, s), rounding(450, condition)
    assert np.abs(linkages.constraint_residual(tree, s.q)).max() < 1e-9
    close(G, r.G, error)
    close(J @ G, np.zeros((len(J), model.nv)), 1e-8 * condition)  # loops that repeat others are closed to 1e-9, not their rows
    a = G @ s.u_dot + ff.velocity_map_bias(model, s.q, s.u)
    close(a, r.a, 10.0 * error)
    bias = ff.velocity_map_bias(model, s.q, s.u)
    close_to_rate(bias, lambda t: ff.velocity_map(model, ff.integrate(model, s.q, t * s.u)) @ s.u, h, 1e-7)
    tree, s, condition, _ = linkage(k)
    model = ff.close_loops(tree)
    step = 1e-3 * s.u / np.abs(s.u).max()
    ahead = ff.integrate(model, s.q, step)
    assert np.abs(linkages.constraint_residual(tree, ahead)).max() < 1e-9
    whole = all(j.nv in (0, tree.joint(j.name).nv) for j in model.joints)  # else, of a ball joint, to third order in the step
    close(ff.difference(model, s.q, ahead), step, 1e-12 * condition if whole else 1e-9 * condition**2)


@each
def test_equations_are_those_of_the_tree_projected(k: int) -> None:
    tree, s, condition, _ = linkage(k)
    model, r, error = ff.close_loops(tree), reference(tree, s), rounding(450, condition**2)
    M = ff.mass_matrix(model, s.q)
    close(M, r.G.T @ ff.mass_matrix(tree, s.q) @ r.G, error)
    assert np.linalg.eigvalsh(M)[0] > 0.0
    assert ff.kinetic_energy(model, s.q, s.u) == pytest.approx(float(ff.kinetic_energy(tree, s.q, r.v)), rel=error)
    tau = ff.inverse_dynamics(model, s.q, s.u, s.u_dot)
    close(tau, r.G.T @ ff.inverse_dynamics(tree, s.q, r.v, r.a), error)
    close(ff.forward_dynamics(model, s.q, s.u, tau), s.u_dot, rounding(4500, condition * np.linalg.cond(M)))
    tree, s, _, h = linkage(k)
    model = ff.close_loops(tree)
    tau = ff.inverse_dynamics(model, s.q, s.u, s.u_dot)

    def energy(t: float) -> np.ndarray:
        q, u = ff.integrate(model, s.q, t * s.u + 0.5 * t * t * s.u_dot), s.u + t * s.u_dot
        return ff.kinetic_energy(model, q, u) + ff.potential_energy(model, q)

    close_to_rate(tau @ s.u, energy, h, 1e-7, least=float(np.abs(tau) @ np.abs(s.u)))


@each
def test_derivatives_are_slopes_along_the_linkage(k: int) -> None:
    tree, s, _, h = linkage(k)
    model = ff.close_loops(tree)
    d = ff.inverse_dynamics_derivatives(model, s.q, s.u, s.u_dot)
    close_to_slopes(d.dq, lambda e: ff.inverse_dynamics(model, ff.integrate(model, s.q, e), s.u, s.u_dot), h, 1e-7)
    close_to_slopes(d.dv, lambda e: ff.inverse_dynamics(model, s.q, s.u + e, s.u_dot), STEP, 1e-9)
    close(d.da, ff.mass_matrix(model, s.q))
