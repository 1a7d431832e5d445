"""Limits of controllers: torques, accelerations, joints, rows of one's own; cones and forces about normals."""

import freeflyer as ff
import numpy as np
import pytest
from closeness import close, fresh, refused
from dataclasses import replace
from freeflyer import contacts, control
from freeflyer.kernels.control.joint_limits import viable_acceleration
from problems import POINT_FEET, humanoid, kangaroo, program_of, quadruped

viable_accelerations = np.vectorize(viable_acceleration, otypes=(float, float))


@pytest.mark.parametrize("wish", ["up", "down", "random"])
def test_joints_never_leave_their_limits(wish):
    """Whatever a controller wishes: 3000 cycles of exact motion at constant accelerations within the bounds."""
    rng = fresh(wish)
    n, dt, brake = 20, 2e-3, 50.0
    low, high, fastest = -rng.uniform(0.1, 2.0, n), rng.uniform(0.1, 2.0, n), rng.uniform(0.5, 8.0, n)
    q, v = np.zeros(n), np.zeros(n)
    for _ in range(3000):
        least, most = viable_accelerations(q, v, low, high, fastest, brake, dt)
        assert (least <= most).all()
        assert (np.abs([least, most]) <= brake).all()
        a = {"up": most, "down": least, "random": rng.uniform(least, most)}[wish]
        q, v = q + v * dt + 0.5 * a * dt**2, v + a * dt
        assert (q <= high + 1e-9).all()
        assert (q >= low - 1e-9).all()
        assert (np.abs(v) <= fastest + 1e-9).all()
    if wish == "up":
        assert (high - q < 1e-3).all()  # the whole range is used


def test_the_largest_acceleration_just_reaches_the_limit():
    """Braking behind the cycle, or turning within it: no larger acceleration would do."""
    rng, dt, brake = fresh(), 2e-3, 50.0
    room, v = 10.0 ** rng.uniform(-7.0, -2.0, 4000), 10.0 ** rng.uniform(-3.0, 0.0, 4000)
    _, a = viable_accelerations(-room, v, np.full(4000, -9.0), np.zeros(4000), np.full(4000, 1e9), brake, dt)
    after = v + a * dt
    reached = np.where(after > 0.0, 0.5 * (v + after) * dt + after**2 / (2.0 * brake), v**2 / (-2.0 * np.minimum(a, -1e-9)))
    free = np.abs(a) < brake * (1.0 - 1e-9)  # neither bound by the brake
    assert (free & (after > 0.0)).sum() > 100 < (free & (after <= 0.0)).sum()
    np.testing.assert_allclose(reached[free], room[free], rtol=1e-9)


@pytest.mark.parametrize(("q", "v"), [(1.2, 0.0), (1.2, 1.0), (0.9999, 5.0), (-1.5, -3.0)])
def test_beyond_its_limits_a_joint_brakes_and_returns(q, v):
    q, v, ends = np.array([q]), np.array([v]), (np.array([-1.0]), np.array([1.0]), np.array([np.inf]))
    for _ in range(4000):
        least, most = viable_accelerations(q, v, *ends, 50.0, 2e-3)
        a = np.clip(0.0, least, most)
        q, v = q + v * 2e-3 + 0.5 * a * 4e-6, v + a * 2e-3
    assert abs(q[0]) <= 1.0 + 1e-6


def test_the_default_torque_limits_are_those_of_the_model():
    model, q = humanoid()
    p = program_of(control.WholeBodyProblem(model, limits=[control.TorqueLimits()]), q, np.zeros(model.nv))
    rows = next(rows for piece, rows in p.rows if piece.name == "TorqueLimits")
    close(p.upper[rows] + p.h, model.effort_limit[6:])
    close(p.lower[rows] + p.h, -model.effort_limit[6:])


@pytest.mark.parametrize("formulation", ["full", "three-step"])
def test_limits_of_dependent_joints_are_rows_of_the_independent_ones(formulation):
    """On a closed robot in motion: G udot + gamma of each joint with limits is bounded as that joint alone would be."""
    rng, model = fresh(formulation), kangaroo()
    q, tree = model.neutral, model.tree
    v, u_dot = 0.3 * rng.standard_normal(model.nv), rng.standard_normal(model.nv)
    limit = control.JointLimits(dt=2e-3, acceleration=50.0)
    p = program_of(control.WholeBodyProblem(model, limits=[limit]), q, v, formulation)
    piece, rows = next((piece, rows) for piece, rows in p.rows if piece.name == "JointLimits")
    joints = [tree.joint(name) for name in piece.labels]
    iq, iv = [j.iq for j in joints], [j.iv for j in joints]
    whole, gamma = ff.velocity_map(model, q) @ v, ff.velocity_map_bias(model, q, v)
    fastest = tree.velocity_limit[iv]
    least, most = viable_accelerations(q[iq], whole[iv], tree.position_lower[iv], tree.position_upper[iv], fastest, 50.0, 2e-3)
    accelerations = ff.velocity_map(model, q) @ u_dot + gamma
    alpha = u_dot if p.alpha == model.nv else accelerations
    assert np.abs(gamma[iv]).max() > 1e-3
    close(p.A[rows] @ alpha - p.upper[rows], accelerations[iv] - most, 1e-9, least=50.0)
    close(p.A[rows] @ alpha - p.lower[rows], accelerations[iv] - least, 1e-9, least=50.0)


@pytest.mark.parametrize("formulation", ["full", "three-step"])
def test_rows_of_ones_own_over_torques_and_forces(formulation):
    """On a moving closed robot: rows are those sums of torques and forces, and hold the solution back."""
    rng, model = fresh(formulation), kangaroo()
    q, feet = model.neutral, ff.contacts.feet_by_name(model)
    v = ff.project_velocity(model, q, 0.05 * rng.standard_normal(model.nv), constraints=ff.ConstraintSet(model, contacts=feet))
    tasks = [control.CenterOfMassTask(ff.center_of_mass(model, q)), control.PostureTask(q, level=2)]
    free = control.WholeBodyProblem(model, tasks, feet).solve(q, v)
    n, name = len(free.tau), max(free.forces, key=lambda foot: free.forces[foot][2])  # one foot may carry nothing
    A = rng.uniform(0.5, 1.0, (1, n)) * np.sign(free.tau)
    most, press = 0.98 * A @ free.tau, np.array([0.95 * free.forces[name][2]])

    class Sum(control.Limit):
        def rows(self, at):
            return control.LimitRows("torque", ("sum",), A, np.full(1, -np.inf), most)

    class Pressing(control.Limit):
        def rows(self, at):
            return control.LimitRows("force", ("pressing",), np.eye(6)[2:3], np.zeros(1), press, name)

    problem = control.WholeBodyProblem(model, tasks, feet, [Pressing(), Sum()])
    p = program_of(problem, q, v, formulation)
    x = rng.standard_normal(len(p.g))
    rows = {piece.name: rows for piece, rows in p.rows}
    close(p.A[rows["Sum"]] @ x - p.upper[rows["Sum"]], A @ (p.motors @ x + p.h) - most, 1e-9, least=np.abs(most).max())
    push = p.alpha + 6 * [foot.name for foot in feet].index(name) + 2
    close(p.A[rows["Pressing"]] @ x, x[push : push + 1], 1e-12)
    solution = problem.solve(q, v, formulation=formulation)
    assert solution.status == "solved"
    assert (A @ solution.tau <= most + 1e-6 * np.abs(most)).all()
    assert solution.forces[name][2] <= press[0] * (1.0 + 1e-6)
    active = {*solution.levels[0].active, *solution.levels[1].active}
    assert active & {"Sum: sum", "Pressing: pressing"}
    assert not active & {"Sum", "Pressing"}


@pytest.mark.parametrize(("rows", "words"), [
    (("torque", ("a",), np.eye(2)[:1], np.zeros(1), np.ones(1)), r"rows of Own over torques have A \(1, 2\)"),
    (("acceleration", ("a",), np.eye(3)[:1], np.zeros(2), np.ones(1)), r"lower \(2,\)"),
    (("acceleration", ("a",), np.full((1, 3), np.nan), np.zeros(1), np.ones(1)), "hold NaN"),
    (("acceleration", ("a",), np.eye(3)[:1], np.full(1, np.nan), np.ones(1)), "hold NaN"),
    (("force", ("a",), np.eye(6)[:1], np.zeros(1), np.ones(1), "foot"), "contact 'foot', which the problem does not have"),
    (("speed", ("a",), np.eye(3)[:1], np.zeros(1), np.ones(1)), "space of rows of Own"),
])  # fmt: skip
def test_rows_of_ones_own_that_do_not_fit_are_refused(rows, words):
    class Own(control.Limit):
        def rows(self, at):
            return control.LimitRows(*rows)

    model = ff.robots.chain(3)
    with pytest.raises(ff.InputError, match=words):
        control.WholeBodyProblem(model, [control.PostureTask(np.zeros(3))], limits=[Own()]).solve(model.neutral, np.zeros(3))


FOUR = [foot.frame for foot in POINT_FEET]


def sole_in_other_axes(R: np.ndarray) -> ff.Model:
    """A humanoid whose site "sole" has the axes R (3, 3) in those of its left sole."""
    d = ff.robots.humanoid().description
    old = next(site for site in d.sites if site.name == "left_sole")
    X = old.placement.copy()
    X[:3, :3] = X[:3, :3] @ R
    return ff.build(replace(d, sites=(*d.sites, ff.Site("sole", old.link, X))))


@pytest.mark.parametrize("kind", ["point", "line", "surface", "x up", "y up", "z down"])
def test_cones_are_those_of_point_forces_about_the_normal(kind):
    """Forces in the points within the pyramids about the normal are inside; where one pulls along it, outside."""
    rng = fresh()
    flat = kind not in ("point", "line")
    n = np.array([0.0, 0.0, 1.0]) if flat else rng.standard_normal(3) / 3.0 + [0.0, 0.0, 1.0]
    n /= np.linalg.norm(n)
    up = {"x up": [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]],
        "y up": [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]],
        "z down": np.diag([1.0, -1.0, -1.0])}.get(kind, np.eye(3))  # fmt: skip
    model = sole_in_other_axes(np.transpose(up))
    q = ff.robots.standing_posture(model)
    if not flat:  # its frame leans; the line lies in the plane
        q = ff.integrate(model, q, np.concatenate([np.zeros(3), 0.6 * rng.standard_normal(3), np.zeros(model.nv - 6)]))
    X = ff.frame_pose(model, q, "sole")
    d = np.cross(n, rng.standard_normal(3))
    in_world = {"point": np.zeros((1, 3)), "line": np.outer([-0.1, 0.12], d / np.linalg.norm(d))}.get(kind)
    corners = np.array([[0.1, 0.05, 0.0], [0.12, -0.03, 0.0], [-0.1, -0.01, 0.0], [-0.05, 0.06, 0.0]])
    points = corners if in_world is None else in_world + 0.02
    points = points @ X[:3, :3]
    at = X if kind == "z down" else None
    make = {1: lambda p: contacts.point("sole", p[0], normal=n), 2: lambda p: contacts.line("sole", p, normal=n)}
    contact = make.get(len(points), lambda p: contacts.surface("sole", p, normal=n, at=at))(points)
    p = program_of(control.WholeBodyProblem(model, contacts=[contact], friction=0.5), q, np.zeros(model.nv))
    C, W = next(p.A[rows, p.alpha :] for piece, rows in p.rows if piece.name == "sole cone"), p.unit
    axes = contacts.wrenches.contact_axes(n)
    for _ in range(30):
        normal, angle = rng.uniform(1.0, 300.0, len(points)), rng.uniform(0.0, 2.0 * np.pi, len(points))
        tangent = rng.uniform(0.0, 0.5 / 2.0**0.5 * 0.99, len(points)) * normal * (0.7 if flat or kind == "line" else 1.0)
        for pulls in (False, True):
            pressing = np.where(pulls, -normal, normal)
            f = np.column_stack([tangent * np.cos(angle), tangent * np.sin(angle), pressing]) @ axes @ X[:3, :3]
            wrench = np.concatenate([f.sum(axis=0), np.cross(points, f).sum(axis=0)])
            y = np.linalg.lstsq(W.T, wrench, rcond=None)[0]
            close(W.T @ y, wrench, 1e-9)
            worst = (C @ y).max()
            assert worst > 1e-3 if pulls else worst <= 1e-9 * np.linalg.norm(wrench)


@pytest.mark.parametrize("bilateral", [False, True])
@pytest.mark.parametrize("more", [[], [control.TorqueLimits(scale=1e6)]])
def test_normal_forces_are_limited_along_the_normal(bilateral, more):
    """Of a foot on a slope, whose bent shank turns its frame, and of a grasp; solutions give wrenches in the contact's axes."""
    rng, (model, q), n = fresh(bilateral), quadruped(), np.array([0.2, -0.1, 1.0])
    feet = [contacts.point(name, normal=n if name == FOUR[0] else (0.0, 0.0, 1.0)) for name in FOUR]
    tasks = [control.CenterOfMassTask(ff.center_of_mass(model, q)), control.PostureTask(q, level=2)]
    most = rng.uniform(5.0, 12.0)
    options = {"contacts": feet, "bilateral": FOUR[:1] if bilateral else ()}
    limited = control.WholeBodyProblem(model, tasks, limits=[control.NormalForceLimits(FOUR[0], most), *more], **options)
    found, free = (p.solve(q, np.zeros(model.nv)) for p in (limited, control.WholeBodyProblem(model, tasks, **options)))
    assert any(FOUR[0] in name for name in found.levels[1].active)
    for solution, above in ((found, False), (free, True)):
        force = n / np.linalg.norm(n) @ ff.frame_pose(model, q, FOUR[0])[:3, :3] @ solution.forces[FOUR[0]][:3]
        assert (force > most + 1e-6) == above
        close(solution.wrenches("contact")[FOUR[0]][2], force, 1e-9)
    total = sum(free.wrenches("world").values())
    close(total[:3], np.array([0.0, 0.0, 9.81 * model.mass]), 1e-9)
    refused(ff.InputError, "'contact', got", free.wrenches, "floor")


def test_active_limits_name_their_joints() -> None:
    """Of a robot with a floating base, whose velocities come before those of its motors."""
    model = ff.robots.humanoid(20)
    q, v, rest = ff.robots.standing_posture(model), np.zeros(model.nv), np.full(20, 1e6)
    feet, tasks = [ff.contacts.surface(f"{side}_sole") for side in ("left", "right")], [control.PostureTask(model.neutral)]
    free = control.WholeBodyProblem(model, tasks, feet).solve(q, v)
    k = int(fresh("names").choice(np.flatnonzero(np.abs(free.tau) > 1.0)))
    rest[k] = 0.5 * abs(free.tau[k])
    held = control.WholeBodyProblem(model, tasks, feet, [control.TorqueLimits(2.0 * rest, scale=0.5)]).solve(q, v)
    assert held.levels[0].active == (f"TorqueLimits: {model.actuated[k]}",)
    assert (held.status, (np.abs(held.tau) <= rest * (1.0 + 1e-9)).all()) == ("solved", True)
    low = control.WholeBodyProblem(model, tasks, feet, [control.AccelerationLimits(1e-3)]).solve(q, v)
    assert {f"AccelerationLimits: {name}" for name in model.actuated} & set(low.levels[1].active)
    assert not any("base" in name for name in low.levels[1].active)
    assert np.abs(low.a[6:]).max() <= 1e-3 * (1.0 + 1e-6)
