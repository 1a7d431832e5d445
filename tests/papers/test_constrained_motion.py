"""Udwadia and Kalaba's equations, and Gauss's principle with inequalities."""

import freeflyer as ff
import numpy as np
import pytest
from closed_robots import robot
from closeness import close, close_to_rate, fresh, refused, rounding
from constrained_samples import BASES, moving_robot, random_set
from freeflyer_papers import constrained
from tangent import state

WHEELS = [ff.contacts.rolling(f"{side}_wheel_link", 0.1) for side in ("left", "right")]


def doubt(M: np.ndarray, A: np.ndarray) -> float:
    """The error that rounding leaves in a solve with M and with the rows A in its metric."""
    D = np.linalg.solve(np.linalg.cholesky(M), A.T).T
    D = D / np.linalg.norm(D, axis=1, keepdims=True)
    s = np.linalg.svd(D, compute_uv=False)
    s = s[s > 1e-9 * s[0]]
    return rounding(450, np.linalg.cond(M) * (s[0] / s[-1]) ** 2)


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("mimics", [0.0, 0.3])
def test_beside_compiled_constrained_dynamics(base, mimics):
    """Another algorithm for the same motion: elimination without pivoting, in compiled code."""
    rng = fresh()
    for _ in range(3):
        model = moving_robot(rng, int(rng.integers(4, 12)), base=base, mimics=mimics)
        q, v, tau = state(model, rng)
        held = random_set(rng, model, q, model.nv - 1)
        found = constrained.accelerations(model, q, v, tau, constraints=held)
        beside = ff.constrained_dynamics(model, q, v, tau, constraints=held)
        J, M = held.jacobian(q), ff.mass_matrix(model, q)
        tolerance = doubt(M, J) if len(J) else rounding(450, np.linalg.cond(M))
        close(found.a, beside.a, tolerance)
        close(found.forces, J.T @ beside.multipliers, tolerance)
        close(found.multipliers, beside.multipliers, tolerance)
        assert (found.names, found.rank) == (held.row_names, len(J))


def test_a_prescribed_joint_takes_the_force_of_inverse_dynamics():
    """(64): A v = 0 is held by A a = -Adot v."""
    rng = fresh()
    model = ff.robots.differential_drive_manipulator()
    q, v, _ = state(model, rng)
    rows = constrained.differential_drive(model, q, v)
    close(rows.A @ v, rows.rate, rounding(20))

    def sideways(t: float) -> np.ndarray:
        return constrained.differential_drive(model, ff.integrate(model, q, t * v), v).rate

    close_to_rate(-rows.b, sideways)
    assert np.isnan(rows.gap).all()
    heading = np.array([np.cos(q[2]), np.sin(q[2])])
    a = constrained.accelerations(model, q, v, np.zeros(9), constraints=rows).a
    across = np.array([-heading[1], heading[0]])
    assert across @ a[:2] == pytest.approx(v[2] * (heading @ v[:2]), abs=1e-9)  # v omega, as of a circle
    batch = constrained.differential_drive(model, np.stack([q, model.neutral]), v)
    close(batch.A[0], rows.A, rounding(1))
    close(batch.b[0], rows.b, rounding(1))
    model = ff.robots.quadruped()
    q, v, tau = state(model, rng)
    info = model.joint("front_left_knee")
    rows = constrained.prescribed_motion(model, q, v, info.name, q[info.iq] - 0.2, v[info.iv] - 0.3, 1.5)
    close(rows.gap, np.array([0.2]), rounding(20))
    close(rows.rate, np.array([0.3]), rounding(20))
    found = constrained.accelerations(model, q, v, tau, constraints=rows)
    assert found.a[info.iv] == pytest.approx(1.5, rel=1e-9)
    force = ff.inverse_dynamics(model, q, v, found.a) - tau
    close(found.forces, force, rounding(450, np.linalg.cond(ff.mass_matrix(model, q))))
    target = np.concatenate([ff.random_configuration(model, rng)[:7], q[7:]])
    base = constrained.prescribed_motion(model, q, v, "root_joint", target[:7], v[:6], np.zeros(6))
    assert base.names == tuple(f"root_joint.{k}" for k in range(6))
    close(base.gap, ff.difference(model, target, q)[:6], rounding(450))


def test_drift():
    """Errors of position as a critically damped oscillator, of velocity exponentially, in closed form."""
    rng = fresh()
    model, T = ff.robots.chain(3), 0.05
    control = constrained.DriftControl(T)
    q0, v0 = rng.uniform(-0.5, 0.5, 3), rng.uniform(-0.5, 0.5, 3)

    def field(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        rows = constrained.prescribed_motion(model, q, v, "joint_2", 0.1, 0.0, 0.0)
        speed = constrained.Rows(np.eye(3)[:1], np.zeros(1), v[:1], np.array([np.nan]), ("speed",))
        return constrained.accelerations(model, q, v, np.zeros(3), constraints=[rows, speed], drift=control).forces

    end = 0.2
    run = ff.sim.simulate(model, q0, v0, field, dt=0.02, duration=end, integrator="dop853", rtol=1e-11, atol=1e-12)
    gap, rate = q0[1] - 0.1, v0[1]
    left = (gap + (rate + gap / T) * end) * np.exp(-end / T)
    assert run.q[-1, 1] - 0.1 == pytest.approx(left, abs=1e-8)
    assert run.v[-1, 0] == pytest.approx(v0[0] * np.exp(-end / T), abs=1e-8)
    # Contacts and locks take their residual, what rolls its velocity alone
    model = ff.robots.quadruped()
    q, v, tau = state(model, rng)
    held = ff.ConstraintSet(model, contacts=[ff.contacts.point("front_left_foot")], locks=["rear_left_knee"]).anchored(q)
    moved = ff.integrate(model, q, 1e-2 * rng.standard_normal(model.nv))
    T, z = 0.1, 0.7
    found = constrained.accelerations(model, moved, v, tau, constraints=held, drift=constrained.DriftControl(T, z))
    J = held.jacobian(moved)
    wanted = -held.bias(moved, v) - 2.0 * z / T * (J @ v) - held.residual(moved) / T**2
    close(J @ found.a, wanted, doubt(ff.mass_matrix(model, moved), J) * max(1.0, np.abs(found.a).max()))
    drive = ff.robots.differential_drive_manipulator(rolling_wheels=True)
    q, v, tau = state(drive, rng)
    wheels = ff.ConstraintSet(drive, rolling=WHEELS)
    J = wheels.jacobian(q)
    v[:] = v - np.linalg.pinv(J, rcond=1e-9) @ (J @ v) + 1e-3 * np.eye(11)[1]
    found = constrained.accelerations(drive, q, v, tau, constraints=wheels, drift=constrained.DriftControl(T))
    close(J @ found.a, -wheels.bias(q, v) - J @ v / T, 1e-9 * max(1.0, np.abs(found.a).max()))


def test_rank():
    """A slider-crank at its dead point: two rows that agree there, and differ everywhere else."""
    model = ff.robots.chain(2)
    turned = np.array([-1e-2, -1e-6, 0.0, 1e-6, 1e-2])
    A = np.stack([np.stack([[1.0, 1.0], [np.cos(x), 1.0 + np.sin(x)]]) for x in turned])
    found = constrained.accelerations(model, np.zeros(2), np.zeros(2), np.zeros(2), constraints=(A, np.zeros((5, 2))))
    assert found.rank.tolist() == [2, 2, 1, 2, 2]
    assert found.redundant["row 1"].tolist() == [False, False, True, False, False]
    assert not found.redundant["row 0"].any()
    alone = constrained.accelerations(model, np.zeros(2), np.zeros(2), np.zeros(2), constraints=(A[2, :1], [0.0]))
    close(found.a[2], alone.a, rounding(450))
    close(found.a[[0, 1, 3, 4]], np.zeros((4, 2)), rounding(450, 1e6), least=100.0)  # two rows leave nothing free
    rng = fresh()
    model = ff.robots.quadruped()
    q, v, tau = state(model, rng)
    A = rng.standard_normal((4, model.nv))
    A[3] = A[0] - 2.0 * A[1]
    scale = np.array([1.0, 1e-4, 1e4, 1e3])
    b = np.array([0.3, -0.1, 0.2, 0.5])
    one = constrained.accelerations(model, q, v, tau, constraints=(A, b))
    other = constrained.accelerations(model, q, v, tau, constraints=(scale[:, None] * A, scale * b))
    assert one.rank == other.rank == 3
    assert [name for name, x in one.redundant.items() if x] == [name for name, x in other.redundant.items() if x] == ["row 3"]
    tolerance = doubt(ff.mass_matrix(model, q), A)
    close(other.a, one.a, tolerance)
    close(other.forces, one.forces, tolerance)
    model, rest = ff.robots.chain(3), np.zeros(3)
    A = np.vstack([np.eye(3), np.ones((1, 3))])
    with pytest.raises(ff.InputError, match=r"4 rows for 3 freedoms.*'row 3' contradicts these by 1\b"):
        constrained.accelerations(model, rest, rest, rest, constraints=(A, [1.0, 2.0, 3.0, 7.0]))
    full = constrained.accelerations(model, rest, rest, rest, constraints=(A, [1.0, 2.0, 3.0, 6.0]))
    close(full.a, np.array([1.0, 2.0, 3.0]), rounding(450, np.linalg.cond(ff.mass_matrix(model, rest))))
    assert full.rank == 3
    twice = np.ones((2, 3))
    for A, b, words in ((twice, [1.0, 1.5], r"'row 1' depends on rows before it and contradicts them by 0.5\b"),
                        (twice, [[1.0, 1.0], [2.0, 2.0], [1.0, 1.5]], r"'row 1' at state \[2\]"),
                        (np.zeros((1, 3)), [1.0], "'row 0' depends")):  # fmt: skip
        refused(ff.InputError, words, constrained.accelerations, model, rest, rest, rest, constraints=(A, b))


def test_bad_arguments():
    model, rest = ff.robots.chain(3), np.zeros(3)
    good, held = (np.eye(3)[:1], [0.0]), ff.ConstraintSet(model, contacts=[ff.contacts.point("tip")])
    cases = [
        ({"constraints": (np.eye(2), [0.0, 0.0])}, "shapes"),
        ({"constraints": (np.eye(3)[:1], [np.nan])}, "finite"), ({"constraints": good, "drift": 0.1}, "DriftControl"),
        ({"constraints": good, "drift": constrained.DriftControl(0.1)}, "rate of 'row 0' is unknown"),
        ({"constraints": held, "drift": constrained.DriftControl(0.1)}, "held nowhere"),
        ({"constraints": constrained.Rows(np.eye(3)[:1], np.zeros(1), np.zeros(2), np.zeros(1), ("x",))}, "rate of shape"),
    ]  # fmt: skip
    for arguments, text in cases:
        refused(ff.InputError, text, constrained.accelerations, model, rest, rest, rest, **arguments)
    refused(ff.UnknownNameError, "root_joint", constrained.differential_drive, model, rest, rest)
    refused(ff.InputError, "planar", constrained.differential_drive, model, rest, rest, "joint_1")
    body = ff.robots.quadruped()
    with pytest.raises(ff.InputError, match=r"position has shape .* expected .*7"):
        constrained.prescribed_motion(body, body.neutral, np.zeros(18), "root_joint", np.zeros(6), np.zeros(6), np.zeros(6))
    closed = ff.close_loops(robot("point"))
    still = np.zeros(closed.nv)
    refused(ff.InputError, r"model\.tree", constrained.prescribed_motion, closed, closed.neutral, still, "j00", 0.0, 0.0, 0.0)


QP = 1e-7  # what a solver of quadratic programs is asked for, 1e-8, with room for the size of its terms


def sample(rng: np.random.Generator, equations: int, inequalities: int):
    """A robot, a state, and random rows, at most as many as it has freedoms."""
    model = moving_robot(rng, 6, least=equations + inequalities)
    q, v, tau = state(model, rng)
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
    sole = ff.contacts.surface(frame, rng.standard_normal((3, 3)), name="sole", normal=n)
    feet = [ff.contacts.point(frame, (0.1, -0.2, 0.3), normal=n), sole]

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
    feet = [ff.contacts.point(x) for x in model.frame_names if x.endswith("_foot")]
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
    first, both = np.eye(2)[:1], np.array([[1.0, 0.0], [-1.0, 0.0]])
    drift = constrained.DriftControl(0.1)
    cases = [
        (q, [0.3, 0.0], {"inequalities": rows}, r"'joint_1 upper' is closed and approaches further by 0.3 .*freeflyer.impact"),
        (q, rest, {"inequalities": (both, [1.0, 1.0])}, "no acceleration keeps 'inequality 0', 'inequality 1' together"),
        (q, rest, {"inequalities": (first, [1.0]), "constraints": (first, [0.0])}, "keeps 'row 0', 'inequality 0' together"),
        (np.stack([q, q]), rest, {"inequalities": rows}, "one state"),
        (q, rest, {"inequalities": (np.zeros((3, 1, 2)), np.zeros((3, 1)))}, "leading axes"),
        (q, rest, {"inequalities": (np.eye(2), rest), "drift": drift}, "rate of 'inequality 0' is unknown"),
    ]  # fmt: skip
    for at, v, arguments, words in cases:
        refused(ff.InputError, words, constrained.unilateral_accelerations, model, at, v, rest, **arguments)
    refused(ff.InputError, "normal", ff.contacts.point, "tip", normal=(0.0, 0.0, 0.0))
    refused(ff.InputError, "contacts must list", constrained.unilateral_contacts, model, q, rest, ["tip"])
    refused(ff.UnknownNameError, "tip", lambda: constrained.unilateral_contacts(model, q, rest, [ff.contacts.point("tipp")]))
