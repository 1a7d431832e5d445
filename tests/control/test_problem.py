"""Whole-body control: the answer is physics, forces stay in their cones, levels are met, problems say what they are."""

import copy
import freeflyer as ff
import itertools
import numpy as np
import pickle
import pytest
from closeness import close
from freeflyer import control
from freeflyer.contacts.wrenches import NORMAL, cone_of_generators
from problems import FEET, check_physics, humanoid, kangaroo, standing_problem, standing_state
from scipy.optimize import linprog, nnls
from seeds import fresh

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


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("strict", [True, False])
def test_the_answer_obeys_mechanics(formulation, strict):
    rng = fresh(formulation, strict)
    model, q, v = standing_state(rng)
    problem = standing_problem(model, q)
    solution = problem.solve(q, v, formulation=formulation, weighted=not strict)
    assert solution.status == "solved", solution.reason
    check_physics(problem, q, v, solution)
    for foot in FEET:
        points = ff.contacts.feet_by_name(model)[0].points
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


@pytest.mark.parametrize("formulation", ["full", "reduced"])
def test_tasks_that_can_be_met_are_met(formulation):
    rng = fresh(formulation)
    model, q, v = standing_state(rng, 0.01)  # slow enough for soles of this size
    problem = standing_problem(model, q, drop=0.02)
    solution = problem.solve(q, v, formulation=formulation)
    for task in problem.tasks:
        close(task.jacobian(model, q) @ solution.a + task.bias(model, q, v), task.command(model, q, v), 1e-6)
    assert all(level.met for level in solution.levels)


@pytest.mark.parametrize("slippery", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_cones_are_those_of_point_forces(seed, slippery):
    """Wrenches of forces in the points lie inside of the cone; a wrench on its surface, moved out, is no longer made by any."""
    rng = fresh(seed, slippery)
    model, _ = humanoid()
    count, friction = 5, 0.0 if slippery else rng.uniform(0.1, 1.2)
    points = np.column_stack([rng.uniform(-0.2, 0.2, (count, 2)), rng.uniform(-0.02, 0.02, count)])
    foot = ff.contacts.surface("left_sole", points, friction=friction)
    ((_, _, cone, _),) = control.WholeBodyProblem(model, contacts=[foot]).cones
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


def test_contacts_come_and_go():
    rng = fresh()
    model, q, v = standing_state(rng)
    both = standing_problem(model, q, drop=0.0)
    one = standing_problem(model, q, contacts=FEET[:1], drop=0.0)
    first = both.solve(q, v)
    second = one.solve(q, v, warm=first)
    assert (set(second.forces), set(first.forces)) == ({"left_sole"}, {"left_sole", "right_sole"})
    check_physics(one, q, v, second)


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


def test_a_grasp_may_pull():
    """A hand on a rail above: with both feet off the ground it hangs from one bilateral contact; a palm that only pushes cannot."""
    model, q = humanoid()
    v, rail = np.zeros(model.nv), [ff.contacts.surface("left_palm")]
    problem = control.WholeBodyProblem(model, [control.PostureTask(q, damping=10.0)], rail, bilateral=["left_palm"])
    hanging = problem.solve(q, v)
    assert hanging.levels[1].met
    check_physics(problem, q, v, hanging)
