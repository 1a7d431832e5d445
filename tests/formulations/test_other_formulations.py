"""Newton-Euler, Gauss, Gibbs-Appell, Kane (dual quaternion paper) and EIDAmb beside the library's other algorithms."""

import freeflyer as ff
import numpy as np
import pytest
from closed_robots import robot, state as closed_state
from closeness import EXACT, close, close_to_rate, fresh, rounding
from freeflyer import formulations
from freeflyer.formulations.methods import gauss_terms
from freeflyer.kernels import plain
from freeflyer_papers.printed import geometric
from tangent import robot_and_state
from hypothesis import given
from random_robots import Case, cases, few

ALL = ("dual_quaternion", "gauss", "gibbs_appell", "kane", "geometric")
MATRICES = ("dual_quaternion", "gauss")
CLOSED = ("point", "nested", "cylinder")
every = pytest.mark.parametrize("by", ALL)
with_matrices = pytest.mark.parametrize("by", MATRICES)


def check_all(model: ff.Model, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> None:
    """All four, all their terms, beside the library's; forces relative to the largest, 1 N or N m at least."""
    tau, M, g = ff.inverse_dynamics(model, q, v, a), ff.mass_matrix(model, q), ff.gravity_forces(model, q)
    C, size = ff.coriolis_matrix(model, q, v), float(np.abs(M).max())
    for by in ALL:
        close(formulations.inverse_dynamics(model, q, v, a, by=by), tau, EXACT, what=by)
        close(formulations.gravity_forces(model, q, by=by), g, EXACT, what=by)
        close(formulations.mass_matrix(model, q, by=by), M, EXACT, least=size, what=by)
    for by in MATRICES:
        close(formulations.coriolis_matrix(model, q, v, by=by) @ v, C @ v, EXACT, least=size * float(v @ v), what=by)


@few
@given(cases())
def test_all_agree_on_any_tree(c: Case):
    check_all(c.model, c.q, c.v, c.a)


@with_matrices
@few
@given(cases())
def test_rate_of_the_mass_matrix_less_twice_c_is_skew(by, c: Case):
    """(52), as Mdot = C + C^T."""
    C = formulations.coriolis_matrix(c.model, c.q, c.v, by=by)
    size = float(np.abs(ff.mass_matrix(c.model, c.q)).max())

    def mass(t: float) -> np.ndarray:
        return formulations.mass_matrix(c.model, ff.integrate(c.model, c.q, t * c.v), by=by)

    close_to_rate(C + C.T, mass, tolerance=1e-10, axes=2, least=size)


def test_both_matrices_and_the_appell_function():
    """(47) by executions of the recursion and by sums over bodies."""
    model, q, v, _ = robot_and_state("free", 0.3, 4)
    C = formulations.coriolis_matrix(model, q, v, by="gauss")
    size = float(np.abs(ff.mass_matrix(model, q)).max() * np.linalg.norm(v))
    close(formulations.coriolis_matrix(model, q, v, by="dual_quaternion"), C, EXACT, least=size)
    M, D, g = gauss_terms(model, q, v)
    assert np.array_equal(M, formulations.mass_matrix(model, q, by="gauss"))
    assert np.array_equal(M, M.T)
    assert np.array_equal(D, C)
    assert np.array_equal(g, formulations.gravity_forces(model, q, by="gauss"))
    # (54) less what does not depend on a: its slope is M a + C v
    model, q, v, a = robot_and_state("free", 0.3, 11)
    S, rest = formulations.appell_function, np.zeros(model.nv)
    square, cross = a @ ff.mass_matrix(model, q) @ a, a @ ff.coriolis_matrix(model, q, v) @ v
    change = np.array(S(model, q, v, a) - S(model, q, v, rest))
    close(change, np.array(0.5 * square + cross), rounding(20_000), least=float(square))
    # Closed forms of a double pendulum, put in numbers
    sympy = pytest.importorskip("sympy")
    model, rng = ff.robots.chain(2), fresh("symbols")
    symbols = sympy.symbols("q0 q1 v0 v1 a0 a1")
    numbers = rng.standard_normal(6)
    closed = plain.run("dq_newton_euler", model, symbols[:2], symbols[2:4], symbols[4:])
    found = np.array([float(x.subs(dict(zip(symbols, numbers)))) for x in closed])
    q, v, a = numbers.reshape(3, 2)
    close(found, ff.inverse_dynamics(model, q, v, a), EXACT)


@every
@pytest.mark.parametrize("expressed", ["body", "mixed", "world"])
def test_wrenches_and_gravity(by, expressed):
    model, q, v, a = robot_and_state("free", 0.3, 5)
    rng = fresh(6)
    external = {"site_0": rng.standard_normal(6), "link_2": rng.standard_normal(6), "link_0": rng.standard_normal(6)}
    gravity = rng.standard_normal(3)
    loads = {"external": external, "expressed": expressed, "gravity": gravity}
    close(formulations.inverse_dynamics(model, q, v, a, **loads, by=by), ff.inverse_dynamics(model, q, v, a, **loads), EXACT)
    expected = ff.inverse_dynamics(model, q, v, a, external=external)
    close(formulations.inverse_dynamics(model, q, v, a, external=external, by=by), expected, EXACT)


@pytest.mark.parametrize("name", CLOSED)
def test_closed_robots(name):
    model = ff.close_loops(robot(name))
    s = closed_state(robot(name), fresh(name))
    external = {model.description.links[-1].name: np.arange(6.0)}
    within = rounding(10_000, float(np.linalg.cond(ff.velocity_map(model, s.q))))
    bias, size = ff.bias_forces(model, s.q, s.u), float(np.abs(ff.mass_matrix(model, s.q)).max() * (s.u @ s.u))
    for by in ALL:
        for load in (None, external):
            expected = ff.inverse_dynamics(model, s.q, s.u, s.u_dot, external=load)
            close(formulations.inverse_dynamics(model, s.q, s.u, s.u_dot, external=load, by=by), expected, within)
        close(formulations.mass_matrix(model, s.q, by=by), ff.mass_matrix(model, s.q), within)
        close(formulations.gravity_forces(model, s.q, by=by), ff.gravity_forces(model, s.q), within)
    for by in MATRICES:
        found = formulations.coriolis_matrix(model, s.q, s.u, by=by) @ s.u + formulations.gravity_forces(model, s.q, by=by)
        close(found, bias, within, least=size)
        tau = ff.inverse_dynamics(model, s.q, s.u, s.u_dot)
        M = ff.mass_matrix(model, s.q)
        close(formulations.forward_dynamics(model, s.q, s.u, tau, by=by), s.u_dot, within * float(np.linalg.cond(M)), least=10.0)


def test_what_does_not_exist_or_is_singular_is_refused():
    model = ff.robots.chain(2)
    with pytest.raises(ff.InputError, match=r"by must be one of 'dual_quaternion', 'gauss', .*'geometric', got"):
        formulations.mass_matrix(model, model.neutral, by="lagrange")
    with pytest.raises(ff.InputError, match="by='kane' gives no Coriolis matrix: 'dual_quaternion', 'gauss' do"):
        formulations.coriolis_matrix(model, model.neutral, np.zeros(2), by="kane")
    links = (ff.Link("a", ff.Inertia(1.0, np.zeros(3), np.eye(3))), ff.Link("b"))
    joints = (ff.Joint("j", "revolute", "world", "a"), ff.Joint("k", "revolute", "a", "b"))
    model = ff.build(ff.Description("massless", links, joints))
    for by in MATRICES:
        with pytest.raises(ff.InputError, match="mass matrix is singular"):
            formulations.forward_dynamics(model, model.neutral, np.zeros(2), np.zeros(2), by=by)


@pytest.mark.parametrize("base", ["free", "fixed"])
def test_both_readings_of_the_base_wrench(base):
    """Line 40 through F and b^vp, and through b^c."""
    model, q, v, a = robot_and_state(base, 0.0, 3)
    long, short = (geometric.motion_pass(geometric.tree_of(model), q, v, a, wrenches=x).tau_base for x in (True, False))
    close(long, short, 1e-13)
    assert np.abs(long).max() > 1.0


def test_bodies_and_fixed_robots():
    """At rest, the wrench at a base that does not move carries the weight."""
    drawn = (robot_and_state("fixed", 0.0, seed) for seed in range(4, 100))
    model, q, v, _ = next(x for x in drawn if x[0].joints[0].kind != "free")  # a free first joint makes its child the base
    e = geometric.motion_pass(geometric.tree_of(model), q, 0.0 * v, 0.0 * v)
    carried = ff.mass_matrix(model, q)  # what moves; link_0 is bolted to the world and no part of the Model
    assert len(carried) == model.nv
    close(e.tau_base[:3], -model.mass * model.gravity, 1e-13)
    com = ff.center_of_mass(model, q)
    close(e.tau_base[3:], np.cross(com, -model.mass * model.gravity), 1e-12)
    links = (ff.Link("rock", ff.Inertia(1.0, np.zeros(3), np.eye(3))),)
    model = ff.build(ff.Description("rock", links, (ff.Joint("bolt", "fixed", "world", "rock"),)))
    none = np.empty(0)
    assert ff.formulations.inverse_dynamics(model, none, none, none, by="geometric").shape == (0,)
    assert geometric.inverse_dynamics_derivatives(model, none, none, none).dq.shape == (0, 0)
    assert geometric.forward_dynamics_derivatives(model, none, none, none).dtau.shape == (0, 0)
