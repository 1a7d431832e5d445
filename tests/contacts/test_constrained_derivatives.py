"""Derivatives and linearisation of constrained dynamics, against differences."""

import freeflyer as ff
import numpy as np
import pytest
from closed_robots import robot, robots, state
from closeness import close, close_to_rate, close_to_slopes, fresh, refused, slopes
from collections.abc import Callable
from constrained_samples import BASES, moving_robot, random_set
from freeflyer import contacts, control
from freeflyer.contacts.sets.forces import turning_locks

def stacked(x, names) -> np.ndarray:
    return np.concatenate([x.a, x.multipliers, *(x.forces[name] for name in names)])


def check(model: ff.Model, s: ff.ConstraintSet, q: np.ndarray, v: np.ndarray, tau: np.ndarray, tolerance: float, forces=True,
          **loads) -> None:  # fmt: skip
    names = tuple(ff.constrained_dynamics(model, q, v, tau, constraints=s, **loads).forces)

    def parts(x) -> np.ndarray:
        return stacked(x, names) if forces else x.a

    def at(q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        return parts(ff.constrained_dynamics(model, q, v, tau, constraints=s, **loads))

    dq, dv, dtau = map(parts, ff.constrained_dynamics_derivatives(model, q, v, tau, constraints=s, **loads))
    h = 2e-4 if model.reduction or s.rolling else 4e-4
    close_to_slopes(dq, lambda e: at(ff.integrate(model, q, e), v, tau), h, tolerance)
    close_to_slopes(dv, lambda e: at(q, v + e, tau), 2e-3, tolerance)
    close_to_slopes(dtau, lambda e: at(q, v, tau + e), 2e-3, tolerance)


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("mimics", [0.0, 0.3])
def test_random_trees(base, mimics):
    rng = fresh()
    model = moving_robot(rng, 7, base=base, mimics=mimics)
    q, v, tau = ff.random_configuration(model, rng), rng.standard_normal(model.nv), rng.standard_normal(model.nv)
    s = random_set(rng, model, q, model.nv - 1, rolling=False)
    check(model, s, q, v, tau, 3e-8)
    # The general way is taken where gravity is given
    for _ in range(4):
        model = moving_robot(rng, int(rng.integers(3, 10)), base=base, mimics=mimics)
        q = np.stack([ff.random_configuration(model, rng) for _ in range(11)])
        v, tau = rng.standard_normal((2, *q.shape[:-1], model.nv))
        s = random_set(rng, model, q[0], model.nv - 1, rolling=False)
        one = ff.constrained_dynamics_derivatives(model, q[0], v[0], tau[0], constraints=s)
        by_matrices = ff.constrained_dynamics_derivatives(model, q[0], v[0], tau[0], constraints=s, gravity=model.gravity)
        batch = ff.constrained_dynamics_derivatives(model, np.stack([q[0]] * 11), v[0], tau, constraints=s)
        for x, y, z in zip(one, by_matrices, batch):
            assert (x.changing is None) != turning_locks(s)
            size = max(1.0, np.abs(y.a).max(), np.abs(y.multipliers).max(initial=0.0))
            assert (list(x.forces), len(x.forces)) == (list(y.forces), len(s.names))
            assert np.abs(stacked(x, s.names) - stacked(y, s.names)).max() < 1e-9 * size
            assert np.abs(z.a[0] - x.a).max() < 1e-9 * size
            for name in s.names:
                assert np.abs(z.forces[name][0] - x.forces[name]).max() < 1e-9 * size


def test_forces_wrenches_and_what_is_refused():
    rng = fresh()
    model = ff.robots.quadruped()
    q, v, tau = ff.random_configuration(model, rng), rng.standard_normal(model.nv), rng.standard_normal(model.nv)
    name = model.joints[-1].name
    s = ff.ConstraintSet(model, [contacts.point(model.frame_names[3], name="foot")], [name])
    d, same = (ff.constrained_dynamics_derivatives(model, q, v, tau, constraints=s).dq for _ in range(2))
    before = d.forces[name].copy()
    q[:] = ff.random_configuration(model, rng)
    assert (same.forces[name] == before).all()
    assert "foot" in same.forces
    assert "hand" not in same.forces
    refused(ff.UnknownNameError, "hand", lambda: same.forces["hand"])
    q, v, tau = ff.random_configuration(model, rng), rng.standard_normal(model.nv), rng.standard_normal(model.nv)
    s = ff.ConstraintSet(model, [contacts.point(model.frame_names[k], name=str(k)) for k in (3, 6)])
    loads = {"external": {model.frame_names[8]: rng.standard_normal(6)}, "expressed": "mixed", "gravity": rng.standard_normal(3)}
    check(model, s, q, v, tau, 3e-8, **loads)
    q, v, frame = ff.neutral(model), np.zeros(model.nv), model.frame_names[5]
    twice = ff.ConstraintSet(model, [contacts.point(frame, name="a"), contacts.point(frame, name="b")])
    with pytest.raises(ff.InputError, match="'b' depend"):
        ff.constrained_dynamics_derivatives(model, q, v, v, constraints=twice).dq.forces["b"]
    with pytest.raises(ff.UnknownNameError):
        ff.constrained_dynamics_derivatives(model, q, v, v, constraints=twice - "b").dq.forces["c"]
    with pytest.raises(ff.InputError, match="ConstraintSet"):
        ff.constrained_dynamics_derivatives(model, q, v, v, constraints=(np.eye(model.nv), v))


@pytest.mark.parametrize(("name", "closed"), [(x, k) for x in robots() for k in (True, False)])
def test_closed_robots_and_loops_as_rows(name, closed):
    rng = fresh()
    for _ in range(20):  # until no posture near a singular one is drawn, where differences lose their digits
        st = state(robot(name), rng, 0.02)
        model = ff.close_loops(robot(name))
        s = random_set(rng, model, st.q, 4, rolling=False)
        v = st.u
        if not closed:
            v, model = ff.velocity_map(model, st.q) @ st.u, robot(name)
            s = ff.ConstraintSet(model, s.contacts, s.locks)
        tau = rng.standard_normal(model.nv)
        d = ff.constrained_dynamics_derivatives(model, st.q, v, tau, constraints=s)
        if np.abs(d.dq.a).max() < 1e4:
            break
    check(model, s, st.q, v, tau, 3e-7)


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


@pytest.mark.parametrize("axis", [(0.0, 1.0, 0.0), None])
def test_wheels_and_balls_of_a_free_base(axis: tuple[float, float, float] | None) -> None:
    model, rng = cart("free"), fresh()
    q = ff.integrate(model, ff.neutral(model), 0.2 * rng.standard_normal(model.nv))
    toe, wheel = contacts.point("right", (0.0, 0.0, -0.1)), contacts.rolling("left", 0.1, axis)
    held = ff.ConstraintSet(model, contacts=[toe], rolling=[wheel])
    v = ff.project_velocity(model, q, rng.standard_normal(model.nv), constraints=held)
    check(model, held, q, v, rng.standard_normal(model.nv), 1e-7)


def test_a_cart_whose_normal_rows_are_redundant() -> None:
    """On a planar base they depend on nothing in any posture: accelerations have derivatives, forces have none."""
    model, rng = cart("planar"), fresh()
    held = ff.ConstraintSet(model, rolling=[contacts.rolling(name, 0.1) for name in ("left", "right")])
    q = ff.random_configuration(model, rng)
    v = ff.project_velocity(model, q, rng.standard_normal(model.nv), constraints=held)
    d = ff.constrained_dynamics_derivatives(model, q, v, np.zeros(5), constraints=held)
    assert np.isnan(d.dq.multipliers).all()
    refused(ff.InputError, "forces have no derivative", lambda: d.dq.forces["left"])
    J = held.jacobian(q)
    free = np.linalg.svd(J)[2][np.linalg.matrix_rank(J) :]
    tau = fresh(1).standard_normal(5)
    d = ff.constrained_dynamics_derivatives(model, q, v, tau, constraints=held)
    for e in free:  # along motions that roll, where the rows stay consistent
        close_to_rate(d.dv.a @ e, lambda x, e=e: ff.constrained_dynamics(model, q, v + x * e, tau, constraints=held).a, 2e-4, 1e-7)
    # Five coordinates of a planar cart on two wheels: all five postures, two velocities
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
        a, forces, multipliers = y  # each of the three unpacks, too
        assert (a is y.a, multipliers is y.multipliers, list(forces)) == (True, True, ["left_sole"])
    model = robot("coupled")
    rng = fresh()
    s = state(model, rng, 0.02)
    v = ff.velocity_map(ff.close_loops(model), s.q) @ s.u
    check(model, ff.ConstraintSet(model), s.q, v, rng.standard_normal(model.nv), 1e-7, forces=False)


def standing() -> tuple[ff.Model, np.ndarray, ff.ConstraintSet]:
    """The quadruped on two diagonal feet, knees bent."""
    model = ff.robots.quadruped()
    q = ff.neutral(model)
    q[7:] += 0.2 * fresh().uniform(-1.0, 1.0, model.nq - 7)
    return model, q, ff.ConstraintSet(model, contacts=[ff.contacts.point("front_left_foot"), ff.contacts.point("rear_right_foot")])


def closed_stance() -> tuple[ff.Model, np.ndarray, ff.ConstraintSet]:
    model = ff.close_loops(ff.robots.kangaroo_like())
    q = ff.integrate(model, ff.neutral(model), 0.003 * fresh().standard_normal(model.nv))
    return model, q, ff.ConstraintSet(model, contacts=[ff.contacts.surface("left_sole")])


@pytest.mark.parametrize("made", [standing, closed_stance])
def test_rates_and_basis(made: Callable[[], tuple[ff.Model, np.ndarray, ff.ConstraintSet]]) -> None:
    model, q, stance = made()
    rng, n = fresh(), model.nv
    v, tau = ff.project_velocity(model, q, rng.standard_normal(n), constraints=stance), 5.0 * rng.standard_normal(n)
    v *= 0.5 / np.abs(ff.velocity_map(model, q) @ v).max()  # passive joints outrun motors
    line = ff.linearize(model, q, v, tau, constraints=stance, frames=(model.link_names[-1],))

    def rate(x: np.ndarray) -> np.ndarray:
        return ff.constrained_dynamics(model, ff.integrate(model, q, x[:n]), v + x[n:], tau, constraints=stance).a

    h, tolerance = (1e-5, 1e-6) if model.reduction else (1e-4, 1e-7)  # motors move by millimetres there
    close_to_slopes(line.A[n:], rate, h, tolerance)
    close_to_slopes(line.B[n:], lambda t: ff.constrained_dynamics(model, q, v, tau + t, constraints=stance).a, 1.0, 1e-9)
    assert line.C.shape == (12, 2 * n)
    rows = len(stance.row_names)
    assert line.basis is not None
    assert line.basis.shape == (2 * n, 2 * (n - rows))
    assert np.abs(line.basis.T @ line.basis - np.eye(2 * (n - rows))).max() < 1e-12

    def velocity_of_rows(x: np.ndarray) -> np.ndarray:
        at = ff.integrate(model, q, x[:n])
        return np.concatenate([stance.jacobian(q) @ x[:n], stance.jacobian(at) @ (v + x[n:])])

    numeric = slopes(velocity_of_rows, 2 * n, h)
    assert np.abs(numeric @ line.basis).max() < 1e-7 * max(1.0, np.abs(numeric).max())


@pytest.mark.parametrize("integrator", ["semi-implicit", "rk4"])
def test_steps_against_the_simulated_flow(integrator: str) -> None:
    """Geometric linearisation paper, and beyond it: the exact derivative of a step in contact, of which the flow is differenced."""
    model, q, stance = standing()
    rng, n, h = fresh(), model.nv, 2e-3
    v, tau = ff.project_velocity(model, q, 0.3 * rng.standard_normal(n), constraints=stance), 5.0 * rng.standard_normal(n)
    line = ff.linearize(model, q, v, tau, constraints=stance, dt=h, integrator=integrator)
    from freeflyer.dynamics.integrators import scheme_of

    def flow(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return scheme_of(integrator)(lambda q, v, _: ff.constrained_dynamics(model, q, v, tau, constraints=stance).a,
            lambda q, dv: ff.integrate(model, q, dv), ff.integrate(model, q, x[:n]), v + x[n:], h)  # fmt: skip

    q1, v1 = flow(np.zeros(2 * n))

    def moved(x: np.ndarray) -> np.ndarray:
        a, b = flow(x)
        return np.concatenate([ff.difference(model, q1, a), b - v1])

    close_to_slopes(line.A, moved, 1e-4, 1e-8)


def test_batches_and_loops_as_rows() -> None:
    model, q, stance = standing()
    n = model.nv
    v = ff.project_velocity(model, q, fresh().standard_normal((3, n)), constraints=stance)
    many = ff.linearize(model, q, v, np.zeros(n), constraints=stance)
    one = ff.linearize(model, q, v[1], np.zeros(n), constraints=stance)
    assert np.abs(many.A[1] - one.A).max() < 1e-9 * np.abs(one.A).max()
    assert many.basis.shape == (3, *one.basis.shape)
    refused(ff.InputError, "ConstraintSet", ff.linearize, model, q, v[0], np.zeros(n), constraints=(np.eye(n), np.zeros(n)))
    with pytest.raises(ff.InputError, match="another model"):
        ff.linearize(ff.robots.humanoid(), ff.neutral(ff.robots.humanoid()), np.zeros(39), np.zeros(39), constraints=stance)
    # A cut tree whose loops are rows of the set is held as its closed model is
    tree = ff.robots.kangaroo_like()
    closed = ff.close_loops(tree)
    q = ff.neutral(closed)
    soles = [ff.contacts.surface("left_sole"), ff.contacts.surface("right_sole")]
    model = closed
    found = control.equilibrium(model, q, constraints=ff.ConstraintSet(model, contacts=soles))
    assert found.balanced
    assert control.equilibrium(tree, q, constraints=ff.ConstraintSet(tree, contacts=soles)).balanced
    with pytest.raises(ff.InputError, match="close_loops"):
        control.equilibrium(tree, q, constraints=ff.ConstraintSet(tree, contacts=soles, loops=False))


def test_one_posture_of_open_loops_under_many_forces() -> None:
    """Each as alone: forces of loops have leading axes that the posture does not have."""
    model, rng = robot("hinge"), fresh()
    q, tau = np.array(ff.linkages.partition(model).q), rng.standard_normal((3, model.nv))
    held, g, rest = ff.ConstraintSet(model), rng.standard_normal((3, 3)), np.zeros(model.nv)
    found = ff.constrained_dynamics_derivatives(model, q, rest, tau, constraints=held, gravity=g)
    for k in range(3):
        alone = ff.constrained_dynamics_derivatives(model, q, rest, tau[k], constraints=held, gravity=g[k])
        close(found.dq.a[k], alone.dq.a, 1e-9)
