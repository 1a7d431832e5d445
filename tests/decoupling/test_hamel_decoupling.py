"""The thesis on Hamel equations, Propositions 3.1.1, 3.3.1, 3.3.2 and appendix A.1, on random floating robots: all joint kinds,
mimic joints, armature."""

from __future__ import annotations

import numpy as np
import pytest
from cases import Case, cases, few
from closeness import EXACT, central, close, close_to_rate, rounding, slope_error
from hypothesis import given
from random_robots import random_robot
from seeds import fresh

import freeflyer as ff
from freeflyer import decoupling
from freeflyer.decoupling.base import FORMS
from freeflyer.decoupling.decoupled_forms import _by_blocks
from freeflyer.spatial import se3

COMPILED = ("hamel", "passive")
PASSIVE = ("passive", "newton-euler")
floating = cases(bases=("free",))
DIFFERENCED = slope_error()
BOUND = 1e-10  # asked of the propositions


def tolerance(c: Case, *matrices: np.ndarray) -> float:
    """Rounding, made worse by solves with M_bb and the maps; never beyond the bound asked."""
    M = ff.mass_matrix(c.model, c.q)[:6, :6]
    condition = float(np.prod([np.linalg.cond(A) for A in (scaled(M), *matrices)]))
    return max(EXACT, rounding(2000, condition))


def inertia(c: Case) -> float:
    """The largest entry of M: velocities are of order 1, and so is what it becomes in forces."""
    return float(np.abs(ff.mass_matrix(c.model, c.q)).max(initial=0.0))


def scaled(M: np.ndarray) -> np.ndarray:
    """M in units in which its diagonal is one."""
    size = np.sqrt(np.diag(M))
    return M / np.outer(size, size)


def maps(c: Case) -> tuple[decoupling.Map, decoupling.Map]:
    """Random regular T_x, T_y with rates."""
    n = c.model.nv - 6
    X, Y = (np.linalg.qr(c.rng.standard_normal((k, k)))[0] * c.rng.uniform(0.5, 2.0, k) for k in (6, n))
    return decoupling.Map(X, c.rng.standard_normal((6, 6))), decoupling.Map(Y, c.rng.standard_normal((n, n)))


@few
@given(cases())
def test_all_forms_make_the_same_forces(c: Case) -> None:
    """Proposition 3.1.1, on any base."""
    forces = ff.bias_forces(c.model, c.q, c.v) - ff.gravity_forces(c.model, c.q)
    for form in FORMS:
        C = decoupling.coriolis_matrix(c.model, c.q, c.v, form)
        close(C @ c.v, forces, EXACT, least=float((np.abs(C) @ np.abs(c.v)).max(initial=0.0)) + inertia(c), what=form)


@few
@given(cases())
def test_passive_forms_make_the_rate_of_M(c: Case) -> None:
    """(1.6), (3.82): Mdot - 2 C is skew, by the exact rate of M and by differences."""
    rates = [C + C.T for C in (decoupling.coriolis_matrix(c.model, c.q, c.v, form) for form in PASSIVE)]
    size = inertia(c) + float(np.abs(decoupling.coriolis_matrix(c.model, c.q, c.v, "newton-euler")).max(initial=0.0))
    close(rates[1], rates[0], EXACT, least=size)
    close_to_rate(
        rates[1], lambda h: ff.mass_matrix(c.model, ff.integrate(c.model, c.q, h * c.v)), tolerance=DIFFERENCED, least=size
    )


@few
@given(floating)
def test_decoupled_equations_are_the_transformed_ones(c: Case) -> None:
    """(3.77), (A.2)-(A.5): by the whole matrices T, T^-1 and Tdot, for all forms; C_xy = 0 in the Hamel form, computed, not
    set."""
    M = ff.mass_matrix(c.model, c.q)
    x, y = maps(c)
    for given_maps in ({}, {"T_x": x}, {"T_y": y}, {"T_x": x, "T_y": y}):
        conditions = [m.matrix for m in given_maps.values() if m.matrix.size]
        for form in FORMS:
            C = decoupling.coriolis_matrix(c.model, c.q, c.v, form)
            d = decoupling.decouple(c.model, c.q, c.v, form=form, **given_maps)
            T, inverse = d.T, np.linalg.inv(d.T)
            tol = tolerance(c, *conditions, T)
            expected = inverse.T @ M @ inverse
            close(d.mass_matrix, expected, tol, least=0.0, what=form)
            if np.array_equal(M, M.T):  # not to the last bit where mimic joints share a coordinate
                assert np.array_equal(d.mass_matrix, d.mass_matrix.T)
            assert not d.mass_matrix[:6, 6:].any()
            size = np.abs(inverse.T) @ np.abs(C) @ np.abs(inverse) + np.abs(expected) @ np.abs(d.T_rate) @ np.abs(inverse)
            direct = inverse.T @ C @ inverse - expected @ d.T_rate @ inverse
            close(d.coriolis_matrix, direct, tol, least=float(size.max()), what=form)
            if form == "hamel":
                assert not d.C_xy.any()
                close(direct[:6, 6:], np.zeros_like(d.C_xy), min(tol, BOUND), least=float(size.max()), what="Proposition 3.3.1")
            else:
                close(d.C_xy, -d.C_yx.T, min(tol, BOUND), least=float(size.max()), what="Proposition 3.3.2")


@few
@given(floating)
def test_blocks_of_appendix_a1(c: Case) -> None:
    """(A.4), (A.5) block by block."""
    x, y = maps(c)
    B = decoupling.blocks(c.model, ff.mass_matrix(c.model, c.q))
    N, rate = np.linalg.solve(B.b, B.bq), ff.coriolis_matrix(c.model, c.q, c.v)
    D = decoupling.blocks(c.model, rate + rate.T)
    X, Y = np.linalg.inv(x.matrix), np.linalg.inv(y.matrix)
    for form in FORMS:
        C = decoupling.blocks(c.model, decoupling.coriolis_matrix(c.model, c.q, c.v, form))
        d = decoupling.decouple(c.model, c.q, c.v, T_x=x, T_y=y, form=form)
        tol = tolerance(c, x.matrix, *([y.matrix] if y.matrix.size else []))
        M_y = Y.T @ (B.q - B.bq.T @ N) @ Y
        size = float(sum(np.abs(A).max(initial=0.0) for A in (d.coriolis_matrix, C.b, C.q, M_y)))
        close(d.M_x, X.T @ B.b @ X, tol)
        close(d.M_y, M_y, tol, least=float(np.abs(B.q).max(initial=1.0)))
        close(d.C_x, X.T @ (C.b - B.b @ X @ x.rate) @ X, tol, least=size)
        close(d.C_yx, Y.T @ (C.qb - N.T @ C.b) @ X, tol, least=size)
        slope = np.linalg.solve(B.b, D.bq - D.b @ N)
        close(d.C_xy, X.T @ (C.bq - C.b @ N - B.b @ slope) @ Y, tol, least=size)
        inner = C.q - C.qb @ N + N.T @ (C.b @ N - C.bq)
        close(d.C_y, Y.T @ inner @ Y - M_y @ y.rate @ Y, tol, least=size)


@few
@given(floating)
def test_rate_of_the_transform(c: Case) -> None:
    """(A.3), by differences along v."""
    d = decoupling.decouple(c.model, c.q, c.v)
    close_to_rate(
        d.T_rate, lambda h: decoupling.decouple(c.model, ff.integrate(c.model, c.q, h * c.v), c.v).T,
        tolerance=max(DIFFERENCED, tolerance(c)), least=float(np.abs(d.T).max()),
    )  # fmt: skip


@few
@given(floating)
def test_decoupled_motion_is_the_robots(c: Case) -> None:
    """M_T d(T v)/dt + C_T T v + T^-T g = T^-T tau for the acceleration of forward dynamics, under any maps; forces add up."""
    a = ff.forward_dynamics(c.model, c.q, c.v, c.tau)
    x, y = maps(c)
    for form in FORMS:
        d = decoupling.decouple(c.model, c.q, c.v, T_x=x, T_y=y, form=form)
        y_v = d.T @ c.v
        left = d.T.T @ (d.mass_matrix @ (d.T @ a + d.T_rate @ c.v) + d.coriolis_matrix @ y_v)
        M = ff.mass_matrix(c.model, c.q)
        size = float((np.abs(M) @ np.abs(a)).max() + (np.abs(d.T.T) @ np.abs(d.mass_matrix) @ np.abs(d.T_rate) @ np.abs(c.v)).max())
        tol = tolerance(c, d.T) * float(np.linalg.cond(scaled(M)))
        close(left + ff.gravity_forces(c.model, c.q), c.tau, tol, least=size, what=form)


@few
@given(floating)
def test_passive_forms_stay_passive(c: Case) -> None:
    """Mdot_T = C_T + C_T^T, Mdot_T by differences; the maps move along with their rates."""
    x, y = maps(c)

    def at(h: float) -> np.ndarray:
        q = ff.integrate(c.model, c.q, h * c.v)
        return decoupling.decouple(c.model, q, c.v, T_x=x.matrix + h * x.rate, T_y=y.matrix + h * y.rate).mass_matrix

    for form in PASSIVE:
        d = decoupling.decouple(c.model, c.q, c.v, T_x=x, T_y=y, form=form)
        close_to_rate(
            d.coriolis_matrix + d.coriolis_matrix.T, at, 1e-4, tolerance=max(DIFFERENCED, tolerance(c)),
            least=float(np.abs(d.coriolis_matrix).max()),
        )  # fmt: skip


@few
@given(floating)
def test_momentum_maps_are_invariant(c: Case) -> None:
    """Propositions 3.3.1 and 3.3.2, second part: C_x v_x + C_xy v_y = 0 for a momentum that is conserved; C_x = 0 in the Hamel
    form."""
    along_base = decoupling.momentum_map(c.model, c.q, c.v, frame="center_of_mass_along_base")
    reference = decoupling.invariance(c.model, c.q, c.v, T_x=along_base)
    for form in FORMS:
        momentum = decoupling.momentum_map(c.model, c.q, c.v, frame="world")
        found = decoupling.invariance(c.model, c.q, c.v, T_x=momentum, form=form)
        d = decoupling.decouple(c.model, c.q, c.v, T_x=momentum, form=form)
        assert bool(found.invariant), form
        assert bool(found.decoupled) or form in PASSIVE
        C = decoupling.coriolis_matrix(c.model, c.q, c.v, form)
        size = np.abs(np.linalg.inv(momentum.matrix).T) @ np.abs(C[:6]) @ np.abs(c.v)
        close(found.residual, np.zeros(6), min(BOUND, tolerance(c, momentum.matrix)), least=float(size.max()))
        close((d.T @ c.v)[:6], decoupling.total_momentum(c.model, c.q, c.v, frame="world"), tolerance(c), least=c.model.mass)
        if form == "hamel":
            close(d.C_x @ d.T[:6, :6], np.zeros((6, 6)), tolerance(c, momentum.matrix), least=float(size.max()))
    assert not bool(reference.invariant)


@pytest.mark.parametrize("map_of", [decoupling.frame_map, decoupling.momentum_map])
@pytest.mark.parametrize("frame", ["world", "center_of_mass", "center_of_mass_along_base", "site_0"])
def test_rates_of_maps(map_of, frame: str) -> None:
    rng = fresh("maps", frame)
    for _ in range(4):
        model = random_robot(rng, 5)
        q, v = ff.random_configuration(model, rng), rng.standard_normal(model.nv)
        m = map_of(model, q, v, frame=frame)
        close_to_rate(
            m.rate, lambda h, q=q, v=v, model=model: map_of(model, ff.integrate(model, q, h * v), v, frame=frame).matrix,
            tolerance=DIFFERENCED, least=float(np.abs(m.matrix).max()),
        )  # fmt: skip


def test_compiled_blocks_are_those_of_numpy() -> None:
    """And of a batch, whose states run several at a time."""
    rng = fresh()
    for n in (0, 1, 3, 9, 12):
        model = random_robot(rng, n)
        q, v = ff.random_configuration(model, rng, 11), rng.standard_normal((11, model.nv))
        M = ff.mass_matrix(model, q)
        worst = max(float(np.linalg.cond(scaled(A[:6, :6]))) for A in M)
        for form in COMPILED:
            d, expected = decoupling.decouple(model, q, v, form=form), _by_blocks(model, q, v, form)
            for k in range(4):
                least = float(np.abs(expected[k]).max()) + (float(np.abs(M).max()) if k < 2 else 1.0)
                close(d[k], expected[k], rounding(2000, worst), least=least, what=(form, k))
            one = decoupling.decouple(model, q[4], v[4], form=form)
            close(one.coriolis_matrix, d.coriolis_matrix[4], rounding(2000, worst), least=float(np.abs(d.coriolis_matrix).max()))


@few
@given(cases(bases=("free",), kinds=("revolute", "prismatic", "helical"), most=5))
def test_passive_decoupling_of_the_thesis(c: Case) -> None:
    """Proposition 3.3.2 link by link: (3.83) with rates of J_j by differences, (3.84) with the sign of C_yx, (3.86)."""
    model = ff.build(_without_armature(c.model.description))
    q, v = c.q, c.v
    x, y = maps(c)
    C, product = np.zeros((model.nv, model.nv)), np.zeros((6, model.nv))
    M = decoupling.blocks(model, ff.mass_matrix(model, q))
    N = np.linalg.solve(M.b, M.bq)
    for link in model.description.links:
        I = link.inertia
        if link.name not in c.links or I is None:
            continue

        def jacobian(h: float, name: str = link.name) -> np.ndarray:
            return np.hstack(decoupling.link_jacobian(model, ff.integrate(model, q, h * v), name))

        A_jb, J_jq = decoupling.link_jacobian(model, q, link.name)
        J = np.hstack([A_jb, J_jq])
        a = se3.ad(J @ v)
        s = se3.skew(I.com)
        L = np.block([[I.mass * np.eye(3), -I.mass * s], [I.mass * s, I.rotational - I.mass * s @ s]])
        C += J.T @ (L @ central(jacobian) + (L @ a - a.T @ L) @ J)
        product += A_jb.T @ L @ a @ np.hstack([A_jb, J_jq - A_jb @ N])
    B, X, Y = decoupling.blocks(model, C), np.linalg.inv(x.matrix), np.linalg.inv(y.matrix)
    found = decoupling.decouple(model, q, v, T_x=x, T_y=y, form="newton-euler")
    size = float(np.abs(C).max() + np.abs(M.b).max() + np.abs(found.M_y).max(initial=0.0))
    size *= max(1.0, np.abs(N).max(initial=0.0)) ** 2 * max(1.0, *(np.abs(A).max(initial=0.0) for A in (x.rate, y.rate)))
    tol = max(slope_error(), tolerance(c, x.matrix, *([y.matrix] if y.matrix.size else [])))
    close(found.C_x, X.T @ (B.b - M.b @ X @ x.rate) @ X, tol, least=size)
    coupling = X.T @ product[:, 6:] @ Y
    close(found.C_xy, coupling, tolerance(c, x.matrix, *([y.matrix] if y.matrix.size else [])), least=size)
    close(found.C_yx, -coupling.T, tol, least=size)
    inner = B.q - B.qb @ N - N.T @ B.bq + N.T @ B.b @ N
    close(found.C_y, Y.T @ inner @ Y - found.M_y @ y.rate @ Y, tol, least=size)


def _without_armature(description: ff.Description) -> ff.Description:
    for joint in description.joints:
        description = description.with_joint(ff.Joint(**{**vars(joint), "armature": ()}))
    return description


@few
@given(cases(bases=("free",)))
def test_link_jacobians_make_M_and_gravity(c: Case) -> None:
    """(2.50), (2.51), (2.53): M from A_jb, J_jq and the links' inertias; gravity forces are the slopes of the potential."""
    model = c.model
    M = np.diag(model.armature).astype(float)
    for name in c.links:
        I = model.description.link(name).inertia
        J = np.hstack(decoupling.link_jacobian(model, c.q, name))
        s = se3.skew(I.com)
        M += J.T @ np.block([[I.mass * np.eye(3), -I.mass * s], [I.mass * s, I.rotational - I.mass * s @ s]]) @ J
    close(M, ff.mass_matrix(model, c.q), EXACT)
    slope = np.array([
        central(lambda h, e=e: np.array(ff.potential_energy(model, ff.integrate(model, c.q, h * e)))) for e in np.eye(model.nv)
    ])  # fmt: skip
    close(ff.gravity_forces(model, c.q), slope, slope_error(rate=19.0), least=10.0 * model.mass)
    free = decoupling.decouple(model, c.q, c.v)
    forces = np.linalg.solve(free.T.T, ff.gravity_forces(model, c.q))
    if not np.any(model.armature[:6]):  # gravity acts at the centre of mass: it moves no joint against the others
        close(forces[6:], np.zeros(model.nv - 6), tolerance(c), least=10.0 * model.mass)
