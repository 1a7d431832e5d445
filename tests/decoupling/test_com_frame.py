"""The frame that is aligned with the locked velocity; locked velocity, momenta and constants of motion."""

import closed_robots
import freeflyer as ff
import numpy as np
import pytest
from closeness import EXACT, close, close_to_rate, close_to_slopes, fresh, refused, rounding, slope_error
from dataclasses import replace
from freeflyer import decoupling
from freeflyer.decoupling.orientation import _steps
from freeflyer.spatial import se3
from hypothesis import given
from random_robots import Case, cases, few, random_robot

ONE_COORDINATE = ("revolute", "continuous", "prismatic", "helical", "universal", "cylindrical", "planar")
WITH_BALLS = (*ONE_COORDINATE, "spherical", "free")


def condition(model: ff.Model, q: np.ndarray) -> float:
    return float(np.linalg.cond(ff.mass_matrix(model, q)[:6, :6]))


def slopes(model: ff.Model, q: np.ndarray) -> np.ndarray:
    """T (6, n) and its slopes (6, n, n), the last axis the direction."""
    n = model.nv - 6
    d = decoupling.decouple(model, q, np.zeros(model.nv))
    slope = np.zeros((6, n, n))
    for k, e in enumerate(np.eye(n)):
        slope[..., k] = decoupling.decouple(model, q, np.concatenate([np.zeros(6), e])).base_map_rate[:, 6:]
    return d.base_map[:, 6:], slope


@few
@given(cases(bases=("free",), kinds=WITH_BALLS, most=5))
def test_the_tensor_by_slopes(c: Case) -> None:
    """(3.72), the slopes of T by differences; velocities of balls do not commute."""
    model, n = c.model, c.model.nv - 6
    T, slope = slopes(model, c.q)

    def at(e: np.ndarray) -> np.ndarray:
        return decoupling.decouple(model, ff.integrate(model, c.q, np.concatenate([np.zeros(6), e])), model._zero).base_map[:, 6:]

    size = float(np.abs(T).max(initial=0.0)) + float(np.abs(slope).max(initial=0.0)) + 1.0
    tol = rounding(4500, condition(model, c.q))
    if n:
        close_to_slopes(slope, at, tolerance=max(slope_error(), tol), least=size)
    found = decoupling.integrability(model, c.q)
    bracket = np.einsum("iab,bj->aij", ff.spatial.se3.ad(T.T), T)
    commutators = np.zeros((n, n, n))
    for joint in model.joints[1:]:
        if joint.kind in ("spherical", "free") and joint.nv:
            at_joint, unit = slice(joint.iv - 6, joint.iv - 6 + joint.nv), np.eye(6)[:, -joint.nv :]
            commutators[at_joint, at_joint, at_joint] = np.einsum("jab,bi->aij", ff.spatial.se3.ad(unit.T), unit)[-joint.nv :]
    expected = slope - np.swapaxes(slope, 1, 2) + bracket - np.einsum("ak,kij->aij", T, commutators)
    close(found.tensor, expected, tol, least=size**2)
    close(found.tensor, -np.swapaxes(found.tensor, 1, 2), tol, least=size**2)


@pytest.mark.parametrize("kind", ["revolute", "prismatic", "helical"])
def test_one_joint_always_is_integrable(kind: str) -> None:
    """What the decoupling thesis says below (3.73); two joints in space are not, but by symmetry."""
    rng = fresh(kind)
    one, two = (random_robot(rng, n, (kind,), mimics=0.0) for n in (1, 2))
    assert decoupling.integrability(one, ff.random_configuration(one, rng, 10)).integrable.all()
    found = decoupling.integrability(two, ff.random_configuration(two, rng, 10))
    assert kind == "prismatic" or not found.integrable.any()
    if not found.integrable.all():
        assert set(found.failing[0][:2]) == {"joint_1", "joint_2"}


def test_the_angle_depends_on_the_path_where_it_is_not_integrable() -> None:
    rng = fresh()
    d = ff.robots.chain(2, base="free", length=rng.uniform(0.1, 0.4)).description
    model = ff.build(d.with_joint(replace(d.joint("joint_2"), axis=d.joint("joint_1").axis)))  # both turn about y

    def at(*angles: float) -> np.ndarray:
        return ff.integrate(model, model.neutral, np.concatenate([np.zeros(6), angles]))

    ways = [[at(0, 0), at(*by), at(1, 1.5)] for by in ((1, 0), (0, 1.5))]
    found = [decoupling.center_of_mass_angle(model, way) for way in ways]
    assert not any(f.integrable for f in found)
    apart = found[0].angle[-1] - found[1].angle[-1]
    nodes, weights = np.polynomial.legendre.leggauss(16)
    x, y = 0.5 * (nodes + 1.0), 0.75 * (nodes + 1.0)
    area = sum(0.5 * u * 0.75 * w * decoupling.integrability(model, at(a, b)).tensor[4, 1, 0] for a,
               u in zip(x, weights) for b, w in zip(y, weights))  # fmt: skip
    # Stokes: the integral of the torsion over what lies between the ways
    close(np.array(apart), np.array(area), 1e-10)
    one = ff.lock_joints(model, ["joint_2"])
    path = [ff.integrate(one, one.neutral, [0, 0, 0, 0, 0, 0, a]) for a in (0.0, 1.5, -0.7, 1.0)]
    ends = [decoupling.center_of_mass_angle(one, p).angle[-1] for p in (path, path[::3])]
    close(np.array(ends[0]), np.array(ends[1]), 1e-11)


def test_the_frame_turns_with_the_locked_velocity() -> None:
    """(3.70) in space: R_ib R_bc of a robot at zero momentum does not turn; by simulation."""
    model = ff.robots.space_manipulator()
    rng = fresh()
    torques = np.concatenate([np.zeros(6), rng.uniform(-3.0, 3.0, 7)])
    start = ff.integrate(model, model.neutral, np.concatenate([np.zeros(6), rng.uniform(-0.5, 0.5, 7)]))
    run = ff.sim.simulate(model, start, np.zeros(13), lambda t, q, v: torques * np.cos(3.0 * t), dt=0.02, duration=1.0,
                          integrator="dop853", rtol=1e-11, atol=1e-12)  # fmt: skip
    found = decoupling.center_of_mass_angle(model, run.q)
    R = ff.frame_pose(model, run.q, "satellite")[:, :3, :3]
    turned = R @ found.rotations
    # straight pieces between samples miss the path by the square of the time step; a quarter with half of it
    coarse = decoupling.center_of_mass_angle(model, run.q[::2])
    error = np.abs(turned - turned[0]).max()
    wide = np.abs(R[::2] @ coarse.rotations - turned[0]).max()
    moved = np.abs(R - R[0]).max()
    assert moved > 1e-3
    assert error < 1e-3 * moved
    assert error < 0.35 * wide
    assert not found.integrable
    assert found.axis is None


def test_steps_and_pieces() -> None:
    """Half the step, a 64th of the error, as Magnus' series of this order has it."""
    model = ff.robots.space_manipulator()
    q = model.neutral[None]
    move = np.concatenate([np.zeros(6), [2.0, 1.5, -2.0, 2.5, 1.0, -2.0, 1.0]])[None]

    def turned(steps: int) -> np.ndarray:
        R = np.eye(3)
        for exponent in _steps(model, q, move, steps)[1][0]:
            R = ff.spatial.se3.exp(np.concatenate([np.zeros(3), exponent]))[:3, :3] @ R
        return R

    exact = turned(64)
    errors = [float(np.abs(turned(k) - exact).max()) for k in (2, 4, 8)]
    assert errors[2] < errors[0] / 1000.0  # 256 were order 4, 4096 is order 6
    # More postures on the same straight way change nothing; balls and batches of pieces, too
    rng = fresh()
    model = random_robot(rng, 5, ("revolute", "spherical", "prismatic"), mimics=0.0)
    q = ff.random_configuration(model, rng)
    d = np.concatenate([np.zeros(6), rng.uniform(-1.0, 1.0, model.nv - 6)])
    end = ff.integrate(model, q, d)
    coarse = decoupling.center_of_mass_angle(model, [q, end])
    fine = decoupling.center_of_mass_angle(model, ff.integrate(model, q, np.linspace(0.0, 1.0, 8)[:, None] * d))
    close(fine.rotations[-1], coarse.rotations[-1], 1e-10)
    close(fine.angle[-1], coarse.angle[-1], 1e-9)


BOUND = 1e-10
floating = cases(bases=("free",))
plain = cases(bases=("free",)).filter(lambda c: not c.model.armature[:6].any())


def momentum_size(c: Case) -> float:
    """Of the sums of which a momentum consists, in any frame of a robot of some metres."""
    return float((np.abs(ff.mass_matrix(c.model, c.q)[:6]) @ np.abs(c.v)).max() * 10.0 + c.model.mass)


@few
@given(plain)
def test_momenta_are_those_of_the_library(c: Case) -> None:
    """(3.67)-(3.69): about the centre of mass, and about the world's origin."""
    h = ff.centroidal_momentum(c.model, c.q, c.v)
    close(decoupling.total_momentum(c.model, c.q, c.v, frame="center_of_mass"), h, EXACT, least=momentum_size(c))
    l = np.concatenate([h[:3], h[3:] + np.cross(ff.center_of_mass(c.model, c.q), h[:3])])
    close(decoupling.total_momentum(c.model, c.q, c.v, frame="world"), l, EXACT, least=momentum_size(c))
    locked = decoupling.locked_velocity(c.model, c.q, c.v, frame="center_of_mass")
    close(locked[:3], ff.center_of_mass_velocity(c.model, c.q, c.v), rounding(4500, condition(c.model, c.q)), least=10.0)


@few
@given(floating)
def test_where_the_momentum_is_conserved(c: Case) -> None:
    """(3.66), what its name says; a robot that moves as one body has the velocity of its base."""
    locked = np.concatenate([decoupling.locked_velocity(c.model, c.q, c.v), np.zeros(c.model.nv - 6)])
    tol = rounding(4500, condition(c.model, c.q))
    for frame in (None, "world", "center_of_mass", "site_1"):
        expected = decoupling.total_momentum(c.model, c.q, c.v, frame=frame)
        close(decoupling.total_momentum(c.model, c.q, locked, frame=frame), expected, tol, least=momentum_size(c))
    rigid = np.concatenate([c.v[:6], np.zeros(c.model.nv - 6)])
    close(decoupling.locked_velocity(c.model, c.q, rigid), c.v[:6], tol)
    A = se3.adjoint(se3.inverse(ff.frame_pose(c.model, c.q, "site_0")) @ ff.frame_pose(c.model, c.q, c.model.joints[0].child))
    close(decoupling.locked_velocity(c.model, c.q, c.v, frame="site_0"), A @ locked[:6], EXACT, least=float(np.abs(locked).max()))
    # Proposition 3.2.1 both ways: the condition's residual is the rate of h_c in a motion without external forces
    model = ff.with_gravity(c.model, (0.0, 0.0, 0.0))
    a = ff.forward_dynamics(model, c.q, c.v, np.concatenate([np.zeros(6), c.tau[6:]]))
    frames = ("world", "center_of_mass", "center_of_mass_along_base", "site_0", c.model.joints[0].child)
    found = decoupling.constants_of_motion(model, c.q, c.v, frames=frames)
    assert found.conserved[0]
    assert found.conserved[1] or model.armature[:6].any()
    speed = float(np.abs(a).max() + np.abs(c.v).max() + 1.0)
    for k, frame in enumerate(frames):

        def at(h: float, frame: str = frame) -> np.ndarray:
            q = ff.integrate(model, c.q, h * c.v + 0.5 * h * h * a)
            return decoupling.total_momentum(model, q, c.v + h * a, frame=frame)

        close_to_rate(found.drifts[k], at, 1e-4, tolerance=slope_error(), least=momentum_size(c) * speed, what=frame)
        close(found.momenta[k], at(0.0), EXACT, least=momentum_size(c))
        if found.conserved[k]:
            close(found.drifts[k], np.zeros(6), BOUND, least=momentum_size(c) * speed)
    # a_cb^T h_b - a_ib^T h_b, (3.60), and a_ci^T h_i, (3.62), are the drift in other axes
    frames = ("center_of_mass_along_base", "site_1")
    found = decoupling.constants_of_motion(c.model, c.q, c.v, frames=frames)
    h_b = decoupling.total_momentum(c.model, c.q, c.v)
    for drift, frame in zip(found.drifts, frames):
        m = decoupling.frame_map(c.model, c.q, c.v, frame=frame)
        a_cb = np.linalg.solve(m.matrix, m.rate)
        expected = np.linalg.solve(m.matrix.T, (se3.ad(c.v[:6]) - a_cb).T @ h_b)
        close(drift, expected, rounding(4500, 100.0), least=momentum_size(c) * 10.0, what=frame)


def test_frames_that_turn_may_conserve_it() -> None:
    """Not turning is not necessary (decoupling thesis, below (3.62)): not at zero momentum, nor about its own axis."""
    model = ff.robots.space_manipulator()
    rng = fresh()
    q, v = ff.random_configuration(model, rng), rng.standard_normal(model.nv)
    v[:6] -= decoupling.locked_velocity(model, q, v)
    found = decoupling.constants_of_motion(model, q, v)
    close(found.momenta, np.zeros((4, 6)), 1e-10, least=model.mass)
    assert found.conserved.all()
    one = ff.lock_joints(model, model.actuated)  # a rigid body that turns about an axis of its own
    A = decoupling.frame_map(one, one.neutral, np.zeros(6), frame="center_of_mass").matrix
    _, axes = np.linalg.eigh(decoupling.decouple(one, one.neutral, np.zeros(6), T_x=A).M_x[3:, 3:])
    for turn, conserved in ((axes[:, 1], True), (axes.sum(1), False)):
        v = np.linalg.solve(A, np.concatenate([np.zeros(3), turn]))
        assert decoupling.constants_of_motion(one, one.neutral, v).conserved.tolist() == [True, True, conserved, conserved]


@few
@given(floating)
def test_velocities_forces_and_energies(c: Case) -> None:
    tol = rounding(4500, condition(c.model, c.q))
    for frame in ("site_0", c.links[-1]):
        external = decoupling.external_velocity(c.model, c.q, c.v, frame)
        internal = decoupling.internal_velocity(c.model, c.q, c.v, frame)
        size = float(np.abs(external).max() + np.abs(internal).max() + 1.0)
        close(external + internal, ff.frame_velocity(c.model, c.q, c.v, frame), tol, least=size)
        close(decoupling.external_jacobian(c.model, c.q, frame) @ c.v, external, tol, least=size)
        close(decoupling.internal_jacobian(c.model, c.q, frame) @ c.v[6:], internal, tol, least=size)
    # Torques of the joints do not accelerate the locked velocity in the world; a force through the base alone, along the rows
    # of T, does not accelerate the joints: conditions 2 and 3
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
    external = np.concatenate([decoupling.locked_velocity(c.model, c.q, c.v), np.zeros(c.model.nv - 6)])
    parts = [ff.kinetic_energy(c.model, c.q, x) for x in (external, c.v - external)]
    whole = np.array(ff.kinetic_energy(c.model, c.q, c.v))
    close(np.array(sum(parts)), whole, rounding(4500, condition(c.model, c.q)), least=float(sum(parts)))


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


ONE_STATE = ("locked_velocity", "total_momentum", "constants_of_motion", "decouple", "invariance", "frame_map",
             "momentum_map", "external_velocity")  # fmt: skip


@pytest.fixture(scope="module")
def model() -> ff.Model:
    return ff.robots.space_manipulator()


def robots_that_do_not_float() -> list[ff.Model]:
    two = random_robot(fresh(), 2, ("revolute",), base="two free", mimics=0.0)
    planar = random_robot(fresh(1), 2, ("revolute",), base="planar", mimics=0.0)
    return [ff.robots.chain(3), two, planar, ff.close_loops(closed_robots.robot("turn")), ff.robots.holonomic_manipulator()]


@pytest.mark.parametrize("name", ONE_STATE)
def test_robots_that_do_not_float(name: str) -> None:
    for robot in robots_that_do_not_float():
        refused(ff.InputError, 'does not float.*base="free"', getattr(decoupling, name), robot, robot.neutral, np.zeros(robot.nv))


def test_units_rows_and_paths(model: ff.Model) -> None:
    """Rows in other units, from micrometres to kilometres, are as regular as before."""
    T = np.linalg.qr(fresh().standard_normal((6, 6)))[0] * np.array([1e-9, 1e-3, 1.0, 1e3, 1e6, 1e9])[:, None]
    d = decoupling.decouple(model, model.neutral, np.ones(13), T_x=T)
    np.testing.assert_allclose(T.T @ d.M_x @ T, ff.mass_matrix(model, model.neutral)[:6, :6], rtol=1e-9, atol=1e-9)
    q, v = model.neutral, np.ones(13)
    refused(ff.InputError, "frames must be a list", decoupling.constants_of_motion, model, q, v, frames="world")
    refused(ff.InputError, r"\(\.\.\., 13, 13\)", decoupling.blocks, model, np.eye(6))
    for rows in ((), (0, 0), (6,), (-1,)):
        refused(ff.InputError, "rows", decoupling.external_internal, model, q, "end_effector", rows=rows)
    arm = ff.robots.aerial_manipulator()
    refused(ff.InputError, r"4 joints of .* cannot move the rows", decoupling.external_internal, arm, arm.neutral, "end_effector")
    one = ff.lock_joints(arm, arm.actuated[1:])  # two rows
    refused(ff.InputError, "cannot move the rows", decoupling.external_internal, one, one.neutral, "end_effector", rows=(0, 1))
    for path in (q, [q], np.zeros((2, 3))):
        refused(ff.InputError, "path", decoupling.center_of_mass_angle, model, path)
    arm = ff.robots.chain(3)
    for call in (lambda: decoupling.integrability(arm, arm.neutral),
                 lambda: decoupling.link_jacobian(arm, arm.neutral, "tip"),
                 lambda: decoupling.center_of_mass_angle(arm, [arm.neutral, arm.neutral]),
                 lambda: decoupling.blocks(arm, np.eye(3)), lambda: decoupling.internal_jacobian(arm, arm.neutral, "tip"),
                 lambda: decoupling.external_jacobian(arm, arm.neutral, "tip"),
                 lambda: decoupling.external_internal(arm, arm.neutral, "tip"),
                 lambda: decoupling.internal_velocity(arm, arm.neutral, np.zeros(3), "tip"),
                 lambda: decoupling.decouple(arm, np.zeros((0, 3)), np.zeros(3))):  # fmt: skip
        refused(ff.InputError, "does not float", call)
    for form in ("passive", "hamel", "newton-euler"):  # which need no base
        assert decoupling.coriolis_matrix(arm, arm.neutral, np.ones(3), form).shape == (3, 3)


@pytest.mark.parametrize("name", ["T_x", "T_y"])
def test_maps(model: ff.Model, name: str) -> None:
    n = {"T_x": 6, "T_y": 7}[name]
    q, v, singular = model.neutral, np.ones(13), np.ones((n, n))
    for bad, words in (
        (singular, f"{name} is singular"), (np.zeros((n, n)), f"{name} is singular"), (np.eye(n + 1), rf"{name} has shape"),
        (np.eye(n)[0], rf"{name} has shape"), ((np.eye(n),) * 3, "tuple"), ((np.eye(n), np.eye(5)), rf"the rate of {name}"),
        (np.full((n, n), np.nan), name), ("unit", name), (np.eye(n) * 1j, name), (np.stack([np.eye(n)] * 4), "broadcast"),
    ):  # fmt: skip
        refused(ff.InputError, words, decoupling.decouple, model, np.tile(q, (3, 1)), v, **{name: bad})
