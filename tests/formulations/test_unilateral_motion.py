"""Gauss's principle with inequalities: conditions of contact, every choice of closed contacts tried, and MuJoCo's joint stops."""

import freeflyer as ff
import numpy as np
import pytest
from closeness import close, close_to_rate, fresh, refused, rounding
from constrained_samples import moving_robot
from freeflyer import contacts
from freeflyer.formulations import constrained

QP = 1e-7  # what a solver of quadratic programs is asked for, 1e-8, with room for the size of its terms


def sample(rng: np.random.Generator, equations: int, inequalities: int):
    """A robot, a state, and random rows, at most as many as it has freedoms."""
    model = moving_robot(rng, 6, least=equations + inequalities)
    q, v, tau = ff.random_configuration(model, rng), rng.standard_normal(model.nv), rng.standard_normal(model.nv)
    A, b = rng.standard_normal((equations, model.nv)), rng.standard_normal(equations)
    a = ff.constrained_dynamics(model, q, v, tau, constraints=(A, b)).a
    C = rng.standard_normal((inequalities, model.nv))
    return model, q, v, tau, (A, b), (C, C @ a + np.abs(a).max() * rng.standard_normal(inequalities))


@pytest.mark.parametrize(("equations", "inequalities"), [(0, 1), (0, 4), (2, 3)])
def test_conditions_of_contact(equations, inequalities):
    """Equations of motion, slack and pressure not negative, and one of both zero."""
    rng = fresh(equations, inequalities)
    for _ in range(5):
        model, q, v, tau, (A, b), (C, d) = sample(rng, equations, inequalities)
        found = constrained.unilateral_accelerations(model, q, v, tau, inequalities=(C, d), constraints=(A, b))
        M, h = ff.mass_matrix(model, q), ff.bias_forces(model, q, v)
        push = max(1.0, np.abs(found.forces).max(), np.abs(tau).max(), np.abs(h).max())
        speed = max(1.0, np.abs(found.a).max(), np.abs(d).max())
        close(M @ found.a + h, tau + found.forces, QP + rounding(450, np.linalg.cond(M)), least=push)
        tolerance = QP + rounding(450, np.linalg.cond(M))
        close(A.T @ found.multipliers + C.T @ found.pressures, found.forces, tolerance, least=push)
        close(A @ found.a, b, tolerance, least=speed)
        close(C @ found.a - d, found.slack, tolerance, least=speed)
        assert (found.pressures >= 0.0).all()
        assert (found.slack >= -tolerance * speed).all()
        close(found.pressures * found.slack, np.zeros(inequalities), tolerance, least=push * speed)
        assert found.active == tuple(f"inequality {k}" for k in np.flatnonzero(found.pressures))


def test_redundant_rows():
    """Rows that repeat others share their pressures."""
    rng = fresh()
    model, q, v, tau, (A, b), (C, d) = sample(rng, 2, 2)
    once = constrained.unilateral_accelerations(model, q, v, tau, inequalities=(C, d), constraints=(A, b))
    both = (np.vstack([A, A[0] + A[1]]), np.append(b, b[0] + b[1]))
    twice = constrained.unilateral_accelerations(
        model, q, v, tau, inequalities=(np.vstack([C, 2.0 * C]), np.concatenate([d, 2.0 * d])), constraints=both
    )
    tolerance = QP + rounding(4500, np.linalg.cond(ff.mass_matrix(model, q)))
    close(twice.a, once.a, tolerance)
    close(twice.pressures[:2] + 2.0 * twice.pressures[2:], once.pressures, tolerance)


def along(model: ff.Model, q: np.ndarray, v: np.ndarray, a: np.ndarray, t: float) -> tuple[np.ndarray, np.ndarray]:
    """A motion whose acceleration is a at t = 0, to third order."""
    return ff.integrate(model, q, t * v + 0.5 * t * t * a), v + t * a


@pytest.mark.parametrize("closed", [False, True])
def test_rows_are_derivatives_of_their_gaps(closed):
    """gap' = rate, rate' = A a - b, of points on a tilted plane and of stops."""
    rng = fresh(int(closed))
    model = ff.close_loops(ff.robots.kangaroo_like()) if closed else ff.robots.quadruped()
    q = model.neutral if closed else ff.random_configuration(model, rng)
    v, a = 0.1 * rng.standard_normal((2, model.nv))
    frame = model.frame_names[-1]
    n = (0.3, -0.2, 2.0)
    sole = contacts.surface(frame, rng.standard_normal((3, 3)), name="sole", normal=n)
    feet = [contacts.point(frame, (0.1, -0.2, 0.3), normal=n), sole]

    def rows(x: np.ndarray, u: np.ndarray) -> constrained.Rows:
        floor = constrained.unilateral_contacts(model, x, u, feet, height=0.4)
        return constrained.rows.join(model, [floor, constrained.joint_stops(model, x, u)])

    here = rows(q, v)
    close(here.A @ v, here.rate, rounding(450))
    close_to_rate(here.rate, lambda t: rows(*along(model, q, v, a, t)).gap, tolerance=rounding(450, 1e3))  # eps over the step
    close_to_rate(here.A @ a - here.b, lambda t: rows(*along(model, q, v, a, t)).rate, tolerance=rounding(450, 1e3))
    assert here.names[:4] == (frame, "sole.0", "sole.1", "sole.2")


def test_boxes_and_stops():
    """Locked legs: four points carry the weight while the force acts between them, and fewer beyond."""
    model = ff.robots.quadruped()
    q, v = ff.robots.standing_posture(model), np.zeros(model.nv)
    feet = [contacts.point(x) for x in model.frame_names if x.endswith("_foot")]
    rows = constrained.unilateral_contacts(model, q, v, feet)
    raised = constrained.unilateral_contacts(model, q, v, feet, height=0.1)
    close(raised.gap, np.array([ff.frame_pose(model, q, x.frame)[2, 3] - 0.1 for x in feet]), 1e-12)
    locks = ff.ConstraintSet(model, locks=[j.name for j in model.joints[1:]])
    weight = 9.81 * model.mass
    com, middle = ff.center_of_mass(model, q), np.mean([ff.frame_pose(model, q, x.frame)[:3, 3] for x in feet], axis=0)
    half = ff.frame_pose(model, q, feet[0].frame)[0, 3] - middle[0]
    for share in (0.0, 0.9, 1.1):  # a torque moves the centre of pressure this part of the way to the feet
        tau = np.zeros(model.nv)
        lever = middle[0] + share * abs(half) - com[0]
        tau[4] = weight * lever
        found = constrained.unilateral_accelerations(model, q, v, tau, inequalities=rows, constraints=locks)
        if share < 1.0:
            assert len(found.active) >= 2
            assert found.pressures.sum() == pytest.approx(weight, rel=1e-6)
            close(found.a, np.zeros(model.nv), 1e-6)
        else:
            assert abs(found.a[4]) > 1e-3
            assert all("front" in name for name in found.active)
    # Two joints pushed into their stops; MuJoCo's forces there at rest
    model = ff.robots.chain(2)
    q, push = np.array([np.pi, -np.pi]), np.array([3.0, -2.0])
    rows = constrained.joint_stops(model, q, np.zeros(2))
    found = constrained.unilateral_accelerations(model, q, np.zeros(2), push, inequalities=rows)
    assert found.active == ("joint_1 upper", "joint_2 lower")
    close(found.a, np.zeros(2), 1e-9)
    plant = ff.sim.mujoco_plant(model, q)
    plant.mj_model.dof_damping[:] = 0.05
    run = ff.sim.simulate_in_mujoco(plant, q, np.zeros(2), push, dt=0.01, duration=2.0)
    assert np.abs(run.v[-1]).max() < 1e-6
    close(plant.data.qfrc_constraint, np.array([-found.pressures[1], found.pressures[2]]), 2e-2)


def test_what_approaches_is_slowed_in_the_control_s_time():
    """A pendulum that swings against its stop never passes it, and rests on it under its weight."""
    model = ff.robots.chain(1)
    q0, v0, T = np.array([-2.0]), np.array([-8.0]), 0.02
    control = constrained.DriftControl(T)
    lower = -np.pi + 0.5

    def stop(q: np.ndarray, v: np.ndarray) -> constrained.Rows:
        return constrained.Rows(np.eye(1), np.zeros(1), v, q - lower, ("stop",))

    def law(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        push = np.array([-4.0])
        rows = stop(q, v)
        return push + constrained.unilateral_accelerations(model, q, v, push, inequalities=rows, drift=control).forces

    run = ff.sim.simulate(model, q0, v0, law, dt=2e-3, duration=0.5)
    assert (run.q[:, 0] >= lower - 1e-6).all()
    assert run.q[-1, 0] == pytest.approx(lower, abs=1e-6)
    free = ff.forward_dynamics(model, q0, v0, np.array([-4.0]))
    assert constrained.unilateral_accelerations(model, q0, v0, [-4.0], inequalities=stop(q0, v0)).a == pytest.approx(free)  # open


def test_bad_input():
    model, rest = ff.robots.chain(2), np.zeros(2)
    q = np.array([np.pi, 0.0])
    rows = constrained.joint_stops(model, q, np.array([0.3, 0.0]))
    with pytest.raises(ff.InputError, match=r"'joint_1 upper' is closed and approaches further by 0.3 .*freeflyer.impact"):
        constrained.unilateral_accelerations(model, q, [0.3, 0.0], rest, inequalities=rows)
    with pytest.raises(ff.InputError, match="no acceleration keeps 'inequality 0', 'inequality 1' together"):
        constrained.unilateral_accelerations(model, q, rest, rest, inequalities=(np.array([[1.0, 0.0], [-1.0, 0.0]]), [1.0, 1.0]))
    first = np.eye(2)[:1]
    with pytest.raises(ff.InputError, match="keeps 'row 0', 'inequality 0' together"):
        constrained.unilateral_accelerations(model, q, rest, rest, inequalities=(first, [1.0]), constraints=(first, [0.0]))
    with pytest.raises(ff.InputError, match="one state"):
        constrained.unilateral_accelerations(model, np.stack([q, q]), rest, rest, inequalities=rows)
    with pytest.raises(ff.InputError, match="leading axes"):
        constrained.unilateral_accelerations(model, q, rest, rest, inequalities=(np.zeros((3, 1, 2)), np.zeros((3, 1))))
    refused(ff.InputError, "normal", contacts.point, "tip", normal=(0.0, 0.0, 0.0))
    refused(ff.InputError, "contacts must list", constrained.unilateral_contacts, model, q, rest, ["tip"])
    refused(ff.UnknownNameError, "tip", lambda: constrained.unilateral_contacts(model, q, rest, [contacts.point("tipp")]))
    with pytest.raises(ff.InputError, match="rate of 'inequality 0' is unknown"):
        constrained.unilateral_accelerations(
            model, q, rest, rest, inequalities=(np.eye(2), rest), drift=constrained.DriftControl(0.1)
        )
