"""Whole-body control: physics, cones, levels; weighted tasks share by weights alone; cycles begin with the last answer."""

import copy
import freeflyer as ff
import itertools
import numpy as np
import pickle
import pytest
import qpsolvers
from closeness import close, fresh
from dataclasses import replace
from freeflyer import control
from freeflyer.analysis.timing.control_cycles import LIMITED, humanoid_problem, limited_contestants
from freeflyer.contacts.wrenches import NORMAL, cone_of_generators
from freeflyer.control import TorqueLimits
from freeflyer.kernels.control.layout import AT_ONCE, WAY
from freeflyer.kernels.entries import CONTROL_CYCLE
from freeflyer.optimization.compiled import call, solve_levels
from problems import (FEET, POINT_FEET, STANCES, Own, check_physics, humanoid, kangaroo, on_disk, program_of, quadruped,
    standing_problem, standing_state)  # fmt: skip
from robots_on_disk import MODELS, example, needs_examples, needs_models
from scipy.optimize import linprog, nnls

FORMULATIONS = ["full", "three-step", "reduced"]


def point_forces_exist(points, wrench, friction, slack):
    """Whether forces in the points, each in a pyramid of four edges on its cone, make a wrench: a linear program of its own."""
    side = friction / np.sqrt(2.0)
    columns = []
    for p, x, y in itertools.product(points, (-1, 1), (-1, 1)):
        f = np.array([x * side, y * side, 1.0])
        columns.append(np.concatenate([f, np.cross(p, f)]))
    A = np.array(columns).T
    limits = np.concatenate([wrench + slack, slack - wrench])
    found = linprog(np.zeros(A.shape[1]), A_ub=np.vstack([A, -A]), b_ub=limits, bounds=(0, None))
    return found.status == 0


@pytest.mark.parametrize(("formulation", "stance"), [(x, "double") for x in FORMULATIONS] + [("reduced", x) for x in STANCES])
@pytest.mark.parametrize("strict", [True, False])
def test_the_answer_obeys_mechanics(formulation, stance, strict):
    rng = fresh(formulation, stance, strict)
    contacts = [ff.contacts.surface(name, friction=0.7) for name in STANCES[stance]]
    model, q, v = standing_state(rng, 0.01, contacts=contacts)
    problem = standing_problem(model, q, contacts=contacts, drop=0.01)
    solution = problem.solve(q, v, formulation=formulation, weighted=not strict)
    assert stance != "double" or solution.status == "solved", solution.reason
    check_physics(problem, q, v, solution)
    if stance == "double":  # and slow enough for soles of this size
        for task in problem.tasks:
            close(task.jacobian(model, q) @ solution.a + task.bias(model, q, v), task.command(model, q, v), 1e-9)
        assert all(level.met for level in solution.levels)
        points = ff.contacts.feet_by_name(model)[0].points
        for foot in FEET:
            assert point_forces_exist(points, solution.forces[foot.name], 0.7, 1e-6 * 9.81 * model.mass)
    assert (np.abs(solution.tau) <= 1.000001 * model.effort_limit[6:]).all()
    assert np.abs(solution.levels[0].residuals["dynamics"]).max() <= 1e-9 * 9.81 * model.mass


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))], ids=["copy", "pickle"])
@pytest.mark.parametrize("name", ["humanoid", "kangaroo_like"])
def test_solved_problems_and_solutions_are_copied_and_pickled(name, copied):
    """Bit for bit, of trees and closed robots, with what solving has kept in the problem."""
    rng = fresh(name)
    if name == "humanoid":
        model, q, v = standing_state(rng)
        problem = standing_problem(model, q)
    else:
        model, q, v = kangaroo(), kangaroo().neutral, np.zeros(kangaroo().nv)
        com = control.CenterOfMassTask(ff.center_of_mass(model, q), level=1)
        problem = control.WholeBodyProblem(model, [com], ff.contacts.feet_by_name(model), [control.TorqueLimits()])
    solution = problem.solve(q, v)
    again, other = copied((problem, solution))
    assert str(again) == str(problem)
    for x in (again.solve(q, v), other):
        assert [x.tau.tobytes(), x.a.tobytes(), x.status] == [solution.tau.tobytes(), solution.a.tobytes(), solution.status]
        assert {k: f.tobytes() for k, f in x.forces.items()} == {k: f.tobytes() for k, f in solution.forces.items()}
        assert [(y.name, y.met, y.active) for y in x.levels] == [(y.name, y.met, y.active) for y in solution.levels]
    assert again.solve(q, v, warm=other).status == solution.status
    moved = problem.with_tasks(problem.tasks[:1])
    close(copied(moved).solve(q, v).tau, moved.solve(q, v).tau, 0.0)
    assert max(len(repr(x)) for x in (problem, solution)) < 1000


@pytest.mark.parametrize("kind", [list, tuple])  # a list of other targets keeps the rows of the program
def test_problems_that_were_solved_pass_nothing_of_their_tasks_on(kind):
    model, q, v = standing_state(fresh(kind.__name__))
    problem = standing_problem(model, q)
    com, *others = problem.tasks
    shift = np.zeros(3)
    own = Own(value=lambda m, q: com.error(m, q) - shift, rows=com.jacobian, level=1)
    for tasks in (problem.tasks, [com.with_target(com.target + 0.03), *others], [com], [own, *others], problem.tasks):
        problem = problem.with_tasks(kind(tasks))
        for shift[2] in (0.0, 0.03):  # of the user's task
            new = control.WholeBodyProblem(model, tasks, problem.contacts, problem.limits)
            close(problem.solve(q, v).tau, new.solve(q, v).tau)


@pytest.mark.parametrize(("seed", "slippery"), [*itertools.product(range(3), (False, True)), (3, False)])
def test_cones_are_those_of_point_forces(seed, slippery):
    """Wrenches of forces in the points lie inside of the cone; a wrench on its surface, moved out, is no longer made by any."""
    rng = fresh(seed, slippery) if seed < 3 else np.random.default_rng([229, 2, 0])  # a hull of wide facets
    model, _ = humanoid()
    count, friction = 5, 0.0 if slippery else rng.uniform(0.1, 1.2)
    corners = 0.1 * np.array([[1, 1], [1, -1], [-1, -1], [-1, 1], [0, 0]])  # wide, so that their plane is not steep
    points = np.column_stack([corners + rng.uniform(-0.08, 0.08, (count, 2)), rng.uniform(-0.02, 0.02, count)])
    foot = ff.contacts.surface("left_sole", points, friction=friction)
    ((_, _, cone, _),) = control.WholeBodyProblem(model, contacts=[foot]).cones
    assert (cone.lower == 0.0).sum() == 3 * slippery  # no forces along the ground, no torque about the normal

    def drawn(least):
        normal, angle = rng.uniform(least, 300.0, count), rng.uniform(0.0, 2.0 * np.pi, count)
        tangent = rng.uniform(0.0, friction / 2.0, count) * normal  # within the pyramid, whatever the direction
        f = np.column_stack([tangent * np.cos(angle), tangent * np.sin(angle), normal])
        return np.concatenate([f.sum(axis=0), np.cross(points, f).sum(axis=0)])

    for k in range(20):
        inside = drawn(0.0)
        assert (cone.C @ inside <= 1e-9 * np.linalg.norm(inside)).all()
        out = drawn(-300.0) if k % 2 else inside + 10.0 * rng.standard_normal(6) * [1, 1, 1, 0.1, 0.1, 0.1]
        value = cone.C @ out
        beyond = max(value.max(), np.abs(value[cone.lower == 0.0]).max(initial=0.0) - 1e-9 * np.linalg.norm(out))
        if abs(beyond) > 1e-3 or (value[cone.lower < 0.0] < -1e-3).all():
            assert point_forces_exist(points, out, friction, 1e-7) == (beyond < 1e-6)


@pytest.mark.parametrize("rank", range(5))
def test_cones_of_generators_are_sums_of_them(rank):
    """Of any dimension, as those of lines and points without friction: least squares with signs make a sum, or leave a rest."""
    rng = fresh(rank)
    for _ in range(20):
        others = rng.standard_normal((rank + 4, rank)) @ rng.standard_normal((rank, 5)) + rng.standard_normal(5)
        G = np.insert(others, NORMAL, 1.0, axis=1)
        cone = cone_of_generators(G)
        for shares in (rng.uniform(0.0, 1.0, len(G)), rng.uniform(-1.0, 1.0, len(G)), -rng.uniform(0.0, 1.0, len(G))):
            value = cone.C @ (shares @ G)
            within = (value <= 1e-9).all() and (value[cone.lower == 0.0] >= -1e-9).all()
            assert within == (nnls(G.T, shares @ G)[1] < 1e-9)


def test_solutions_with_other_contacts_are_no_guess():
    model, q, v = standing_state(fresh())
    problems = [standing_problem(model, q, contacts=feet, drop=0.0) for feet in (FEET, FEET[:1])]
    found = [problem.solve(q, v) for problem in problems]
    for problem, own, other in zip(problems, found, found[::-1]):
        np.testing.assert_array_equal(problem.solve(q, v, warm=other).tau, own.tau)


def test_external_wrenches_are_carried():
    rng = fresh()
    model, q, v = standing_state(rng)
    problem = standing_problem(model, q)
    push = {"chest": np.array([20.0, 10.0, -50.0, 1.0, 2.0, 3.0])}
    solution = problem.solve(q, v, external=push, expressed="mixed")
    pushed = ff.inverse_dynamics(model, q, v, solution.a, external=push, expressed="mixed")
    pushes = ff.inverse_dynamics(model, q, v, solution.a) - pushed
    feet = {c.frame: solution.forces[c.name] for c in problem.constraints.contacts}
    left = ff.inverse_dynamics(model, q, v, solution.a, external=feet) - pushes
    assert np.abs(left[:6]).max() <= 1e-8 * 9.81 * model.mass
    close(left[6:], solution.tau, 1e-8)


WEIGHTS = (1e-6, 1.0, 1e3)


def standing(name):
    """(model, q, feet) of a robot on its feet."""
    if name in ("humanoid", "quadruped"):
        return (*humanoid(), FEET) if name == "humanoid" else (*quadruped(), POINT_FEET)
    return on_disk(MODELS / "kangaroo" / "kangaroo.xml" if name == "kangaroo" else example(name))


ROBOTS = ["humanoid", "quadruped", pytest.param("talos_reduced.urdf", marks=needs_examples),
          pytest.param("kangaroo", marks=needs_models)]  # fmt: skip


@pytest.mark.parametrize("form", ["full", "reduced", "three-step"])
@pytest.mark.parametrize("name", ROBOTS)
def test_a_lone_task_is_met_whatever_its_weight(name, form):
    model, q, feet = standing(name)
    v, rng = np.zeros(model.nv), fresh(name, form)
    for weight in WEIGHTS:
        task = control.CenterOfMassTask(ff.center_of_mass(model, q) + rng.uniform(-0.01, 0.01, 3), weight=weight)
        problem = control.WholeBodyProblem(model, [task], feet, bilateral=[c.name for c in feet])
        solution = problem.solve(q, v, weighted=True, formulation=form)
        assert solution.status == "solved"
        asked = task.command(model, q, v)
        reached = task.jacobian(model, q) @ solution.a + task.bias(model, q, v)
        close(reached, asked, 1e-9, least=np.abs(asked).max())


def conflicting(rng, model, q, ends):
    """Tasks of all levels that the robot cannot meet together, with weights over four decades."""
    tasks = [
        control.CenterOfMassTask(ff.center_of_mass(model, q) + rng.uniform(-0.02, 0.02, 3), level=3),
        control.FramePoseTask(ends[0], ff.frame_pose(model, q, ends[0]), acceleration=rng.standard_normal(6), level=2),
        control.FrameOrientationTask(ends[1], np.eye(3), acceleration=rng.standard_normal(3)),
        control.PostureTask(ff.integrate(model, q, 0.1 * rng.standard_normal(model.nv)), level=1),
    ]
    return [replace(task, weight=10.0 ** rng.uniform(-2.0, 2.0)) for task in tasks]


def tasks_only(problem, q, v, cones):
    """Rows T, b, weights w of the tasks, and a of the least sum w (T a - b)^2 under dynamics, contacts and cones."""
    model, k = problem.model, len(problem.force_metric)
    J, bias = problem.constraints.jacobian(q), problem.constraints.bias(q, v)
    M, h = ff.mass_matrix(model, q), ff.inverse_dynamics(model, q, v, np.zeros(model.nv))
    T = np.vstack([task.jacobian(model, q) for task in problem.tasks])
    b = np.concatenate([task.command(model, q, v) - task.bias(model, q, v) for task in problem.tasks])
    w = np.concatenate([np.broadcast_to(task.weight, len(task.jacobian(model, q))) for task in problem.tasks])
    E = np.block([[J, np.zeros((k, k))], [M[problem.free], -J[:, problem.free].T]])
    e = np.concatenate([-bias, -h[problem.free]])
    N = np.linalg.svd(E)[2][np.linalg.matrix_rank(E) :].T
    x0, root = np.linalg.lstsq(E, e, rcond=None)[0], np.sqrt(w)[:, None]
    A, r = root * np.hstack([T, np.zeros((len(T), k))]), np.sqrt(w) * b
    if not cones:
        z = np.linalg.lstsq(A @ N, r - A @ x0, rcond=1e-10)[0]
    else:
        p = program_of(problem, q, v)
        rows = np.concatenate([np.arange(r.start, r.stop) for piece, r in p.rows if piece.name.endswith("cone")])
        G, low, high = p.A[rows], p.lower[rows], p.upper[rows]
        P = (A @ N).T @ (A @ N) + 1e-11 * np.eye(N.shape[1])
        both = np.vstack([G @ N, -G @ N]), np.concatenate([high - G @ x0, G @ x0 - low])
        kept = np.isfinite(both[1])
        g = (A @ N).T @ (A @ x0 - r)
        z = qpsolvers.solve_qp(P, g, both[0][kept], both[1][kept], solver="piqp", eps_abs=1e-9, max_iter=1000)
    return T, b, w, (x0 + N @ z)[: model.nv]


@pytest.mark.peers
@pytest.mark.parametrize(("name", "cones"), [("humanoid", False), ("humanoid", True), ("quadruped", False)])
def test_conflicting_tasks_share_by_their_weights_alone(name, cones):
    """The size of the energy in the sum below the tasks changes nothing."""
    model, q, feet = standing(name)
    rng, v = fresh(name, int(cones)), np.zeros(model.nv)
    ends = ("left_palm", "pelvis") if name == "humanoid" else ("trunk", "trunk")
    for energy in (1.0, 1e3):
        tasks = conflicting(rng, model, q, ends)
        names = [] if cones else [c.name for c in feet]
        problem = control.WholeBodyProblem(model, tasks, feet, bilateral=names, acceleration_weight=energy)
        solution = problem.solve(q, v, weighted=True)
        check_physics(problem, q, v, solution, tolerance=1e-7)
        T, b, w, oracle = tasks_only(problem, q, v, cones)
        assert solution.status == "solved"
        close(np.sqrt(w) * (T @ solution.a), np.sqrt(w) * (T @ oracle), 1e-4 if cones else 1e-7, least=np.abs(np.sqrt(w) * b).max())
        ours, best = (float(w @ (T @ a - b) ** 2) for a in (solution.a, oracle))
        assert best > 1e-3  # they do conflict
        assert abs(ours - best) <= 1e-6 * best


@pytest.mark.parametrize(("limited", "friction"), [(1, 0.6), (2, 0.6), (4, 0.6), (0, 0.02), (0, 0.05), (1, 0.1)])
def test_limits_that_stay_active_need_no_rounds(limited, friction):
    """Cycles that take active limits as equations find what the active set alone finds, begun anew."""
    rng = fresh(limited, round(100 * friction))
    problem, start = humanoid_problem()
    model, problem = problem.model, replace(problem, friction=friction)
    at_once = 0
    for _ in range(6):
        q, speed = start, 10.0 ** rng.uniform(-3.0, -1.0) * rng.standard_normal(model.nv)
        tau = np.abs(problem.solve(q, speed).tau)
        most = np.where(tau >= np.sort(tau)[-limited] if limited else False, rng.uniform(0.9, 0.99) * tau, 1e4)
        motors = replace(problem, limits=[TorqueLimits(most), *problem.limits[1:]])
        last = motors.solve(q, speed)
        for k in range(15):
            v = np.cos(0.3 * k) * speed
            q = ff.integrate(model, q, 1e-3 * v)
            found = motors.solve(q, v, warm=last)
            if last.held is not None and way(found, last) == AT_ONCE:
                p = program_of(motors, q, v)
                cold = solve_levels(p.A, p.lower, p.upper, p.weights, p.program.ends, p.H, p.g)
                assert cold.optimal
                close(found.tau, p.motors @ cold.x + p.h, 1e-8)
                at_once += 1
            last = found
    assert at_once or not limited


def test_limits_that_almost_depend_on_each_other_need_no_rounds():
    """Two torques of each leg: equations of the limits lose seven digits, which a correction gives back."""
    problem, start = humanoid_problem()
    swing, last, at_once = limited_contestants(problem, start, 30)[LIMITED.index(4)], None, 0
    for state in swing.states:
        found = swing.cycle(*state)
        at_once += last is not None and way(found, last) == AT_ONCE
        last = found
    assert at_once >= 20


def test_equations_that_are_missed_are_not_held():
    rng, missed = fresh(), 0
    problem, start = humanoid_problem()
    for _ in range(10):
        v = 10.0 * rng.standard_normal(problem.model.nv)
        found = replace(problem, limits=[TorqueLimits(scale=0.1)]).solve(start, v)
        p = program_of(replace(problem, limits=[TorqueLimits(scale=0.1)]), start, v)
        left = np.abs(p.A @ found.asked[2] - p.upper)[p.lower == p.upper]
        held = np.asarray(found.held)[p.lower == p.upper]
        np.testing.assert_array_equal(held[left > 1e-6 * np.abs(p.upper[np.isfinite(p.upper)]).max()], 0.0)  # of terms of 1e4
        np.testing.assert_array_equal(held[left < 1e-8], 2.0)
        missed += (held == 0.0).any()
    assert missed > 5


def way(found, last):
    """How a cycle that began with the answer of the last one found its own."""
    program, given, _ = found.asked
    return call(CONTROL_CYCLE, program.sizes, *given, program.weights, last.held, last.asked[2])[5][WAY]


def test_a_cold_start_at_many_limits_takes_few_rounds():
    """Twelve torques limited: programs that begin anew took 200 rounds and more, or ran out of them."""
    rng = fresh()
    problem, start = humanoid_problem()
    model = problem.model
    tau = np.abs(problem.solve(start, 0.01 * rng.standard_normal(model.nv)).tau)
    most = np.where(tau >= np.sort(tau)[-12], 0.97 * tau, 1e4)
    problem, rounds = replace(problem, limits=[TorqueLimits(most), *problem.limits[1:]]), []
    for _ in range(12):
        q = ff.integrate(model, start, 10.0 ** rng.uniform(-6.0, -2.0) * rng.standard_normal(model.nv))
        found = problem.solve(q, 10.0 ** rng.uniform(-5.0, -1.5) * rng.standard_normal(model.nv))
        assert np.isfinite(found.tau).all()
        rounds.append(found.iterations if found.status == "solved" else np.inf)
    assert np.isinf(rounds).sum() <= 1, rounds
    assert np.median(rounds) <= 30, rounds
