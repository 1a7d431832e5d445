"""The thesis on Hamel equations: propositions 3.1.1, 3.3.1, 3.3.2, appendix A.1, on random and on closed robots."""

import closed_robots
import freeflyer as ff
import numpy as np
import pytest
from closeness import EXACT, central, close, close_to_rate, fresh, refused, rounding, slope_error
from dataclasses import replace
from freeflyer import decoupling
from freeflyer.decoupling.base import FORMS
from hypothesis import given
from random_robots import Case, cases, few, random_robot

PASSIVE = ("passive", "newton-euler")
floating = cases(bases=("free",))
DIFFERENCED = slope_error()
BOUND = 1e-10  # asked of the propositions


def tolerance(c: Case, *matrices: np.ndarray) -> float:
    """Rounding, made worse by solves with M_bb and the maps, and with the loops of closed robots."""
    M = ff.mass_matrix(c.model, c.q)
    M = M if c.model.reduction else M[:6, :6]
    size = np.sqrt(np.diag(M))  # units in which the diagonal of M is one
    condition = float(np.prod([np.linalg.cond(A) for A in (M / np.outer(size, size), *matrices)]))
    return max(EXACT, rounding(2e5 if c.model.reduction else 2000, condition))


def inertia(c: Case) -> float:
    """The largest entry of M: velocities are of order 1, and so is what it becomes in forces."""
    return float(np.abs(ff.mass_matrix(c.model, c.q)).max(initial=0.0))


def maps(c: Case) -> tuple[decoupling.Map, decoupling.Map]:
    """Random regular T_x, T_y with rates."""
    n = c.model.nv - 6
    X, Y = (np.linalg.qr(c.rng.standard_normal((k, k)))[0] * c.rng.uniform(0.5, 2.0, k) for k in (6, n))
    return decoupling.Map(X, c.rng.standard_normal((6, 6))), decoupling.Map(Y, c.rng.standard_normal((n, n)))


@few
@given(cases())
def test_forms(c: Case) -> None:
    """Proposition 3.1.1, on any base."""
    check_forms(c, EXACT)


def check_forms(c: Case, error: float) -> None:
    forces = ff.bias_forces(c.model, c.q, c.v) - ff.gravity_forces(c.model, c.q)
    for form in FORMS:
        C = decoupling.coriolis_matrix(c.model, c.q, c.v, form)
        close(C @ c.v, forces, error, least=float((np.abs(C) @ np.abs(c.v)).max(initial=0.0)) + inertia(c), what=form)
    # (1.6), (3.82): Mdot - 2 C is skew, by the exact rate of M and by differences
    rates = [C + C.T for C in (decoupling.coriolis_matrix(c.model, c.q, c.v, form) for form in PASSIVE)]
    size = inertia(c) + float(np.abs(decoupling.coriolis_matrix(c.model, c.q, c.v, "newton-euler")).max(initial=0.0))
    close(rates[1], rates[0], error, least=size)
    close_to_rate(rates[1], lambda h: ff.mass_matrix(c.model, ff.integrate(c.model, c.q, h * c.v)), tolerance=DIFFERENCED,
        least=size)  # fmt: skip


@few
@given(floating)
def test_transformed_equations(c: Case) -> None:
    """(3.77), (A.2)-(A.5) by the whole matrices T, T^-1 and Tdot, for all forms; C_xy = 0 in the Hamel form."""
    check_transformed(c)


def check_transformed(c: Case) -> None:
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
            if not any(joint.mimic for joint in c.model.joints):  # else not to the last bit, as they share a coordinate
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
    # (A.3), by differences along v
    d = decoupling.decouple(c.model, c.q, c.v)
    close_to_rate(d.T_rate, lambda h: decoupling.decouple(c.model, ff.integrate(c.model, c.q, h * c.v), c.v).T,
                  tolerance=max(DIFFERENCED, tolerance(c)), least=float(np.abs(d.T).max()))  # fmt: skip
    # Mdot_T = C_T + C_T^T, Mdot_T by differences; the maps move along with their rates

    def at(h: float) -> np.ndarray:
        q = ff.integrate(c.model, c.q, h * c.v)
        return decoupling.decouple(c.model, q, c.v, T_x=x.matrix + h * x.rate, T_y=y.matrix + h * y.rate).mass_matrix

    for form in PASSIVE:
        d = decoupling.decouple(c.model, c.q, c.v, T_x=x, T_y=y, form=form)
        close_to_rate(d.coriolis_matrix + d.coriolis_matrix.T, at, 1e-4, tolerance=max(DIFFERENCED, tolerance(c)),
                      least=float(np.abs(d.coriolis_matrix).max()))  # fmt: skip
    # Propositions 3.3.1 and 3.3.2, second part: C_x v_x + C_xy v_y = 0 for a momentum that is conserved; C_x = 0 in the Hamel
    # form
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
        close_to_rate(m.rate, lambda h, q=q, v=v,
                      model=model: map_of(model, ff.integrate(model, q, h * v), v, frame=frame).matrix, tolerance=DIFFERENCED,
                      least=float(np.abs(m.matrix).max()))  # fmt: skip


@few
@given(cases(bases=("free",), kinds=("revolute", "prismatic", "helical"), most=5))
def test_passive_decoupling_of_the_thesis(c: Case) -> None:
    """Proposition 3.3.2 link by link: (3.83) with rates of J_j by differences, (3.84) with the sign of C_yx, (3.86)."""
    d = c.model.description
    model = ff.build(replace(d, joints=tuple(replace(j, armature=()) for j in d.joints)))
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
        a = ff.spatial.se3.ad(J @ v)
        s = ff.spatial.se3.skew(I.com)
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


NAMES = ("point", "hinge", "weld", "slider", "nested")


@pytest.mark.parametrize("name", NAMES)
def test_closed_robots(name: str) -> None:
    """Propositions 3.1.1, 3.3.1 and 3.3.2, (3.77) by whole matrices, and the motion that it says."""
    robot, rng = closed_robots.robot(name), fresh(name)
    model, q = ff.close_loops(robot), closed_robots.state(robot, rng).q
    c = Case(name, model, q, *rng.standard_normal((3, model.nv)), rng)
    check_forms(c, tolerance(c))
    check_transformed(c)
    u, M, error = c.v, ff.mass_matrix(model, q), tolerance(c)
    a = ff.forward_dynamics(model, q, u, c.tau)
    for form in FORMS:
        d = decoupling.decouple(model, q, u, form=form)
        left = d.mass_matrix @ (d.T @ a + d.T_rate @ u) + d.coriolis_matrix @ (d.T @ u)
        right = np.linalg.solve(d.T.T, c.tau - ff.gravity_forces(model, q))
        least = float((np.abs(M) @ np.abs(a)).max() + np.abs(d.coriolis_matrix).max() + np.abs(M).max())
        close(left, right, error * error / rounding(2e5), least=least)  # two solves
    assert decoupling.constants_of_motion(model, q, u).conserved[0]
    # The linear part of the torsion is c x the angular one: of balls in loops as well
    description = closed_robots.robot(name).description
    for joint in description.joints:
        description = description.with_joint(ff.Joint(**{**vars(joint), "armature": ()}))
    robot = ff.build(description)  # armature of the base is no body's mass, and no link's momentum
    model, q = ff.close_loops(robot), closed_robots.state(robot, fresh(name)).q
    h = ff.centroidal_momentum(model, q, u)
    found = decoupling.total_momentum(model, q, u, frame="center_of_mass")
    close(found, h, rounding(4500, 100.0), least=float(np.abs(h).max() + 1.0))
    found = decoupling.integrability(model, q)
    X = ff.frame_pose(model, q, model.joints[0].child)
    center = X[:3, :3].T @ (ff.center_of_mass(model, q) - X[:3, 3])
    expected = np.cross(center, found.tensor[3:], axisa=0, axisb=0, axisc=0)
    N = decoupling.decouple(model, q, np.zeros(model.nv)).base_map
    close(found.tensor[:3], expected, rounding(4500, 1e5), least=float(np.abs(N).max() ** 2 + np.abs(found.tensor).max()))


def test_robots_tied_to_the_world_are_refused() -> None:
    model = ff.close_loops(closed_robots.robot("held"))
    refused(ff.InputError, "tied to the world", decoupling.decouple, model, model.neutral, np.zeros(model.nv))
