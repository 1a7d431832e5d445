"""Bad problems and solvers that fail: a clear report and finite torques; closed linkages in three steps or projected."""

from types import SimpleNamespace

import freeflyer as ff
import numpy as np
import pytest
from closeness import close, fresh, refused
from freeflyer import control
from freeflyer.control import problem as solving
from freeflyer.errors import NotConvergedError
from freeflyer.optimization.compiled import call
from problems import FEET, check_physics, humanoid, kangaroo, standing_problem, standing_state


def finite(solution):
    return all(np.isfinite(x).all() for x in (solution.tau, solution.a, *solution.forces.values()))


def test_contacts_that_contradict_each_other_are_relaxed_and_named():
    """Hips, knees and ankles cannot keep both soles while a third contact asks the shank to stay that moves."""
    rng = fresh()
    model, q, _ = standing_state(rng)
    v = 0.3 * rng.standard_normal(model.nv)
    held = [*FEET, *(ff.contacts.surface(name, name=name) for name in ("left_shank", "left_thigh", "pelvis"))]
    solution = control.WholeBodyProblem(model, contacts=held, bilateral=[c.name for c in held]).solve(q, v)
    assert solution.status == "relaxed"
    assert "contacts" in solution.reason
    assert finite(solution)
    assert not solution.levels[1].met


def test_soles_without_friction_push_only_along_their_normal():
    """They cannot carry a push to the side."""
    model, q = humanoid()
    feet = [ff.contacts.surface(name, friction=0.0) for name in ("left_sole", "right_sole")]
    problem = standing_problem(model, q, contacts=feet, drop=0.0)
    solution = problem.solve(q, np.zeros(model.nv), external={"pelvis": [0.0, 20.0, 0.0, 0.0, 0.0, 0.0]})
    assert solution.status == "solved"
    for wrench in solution.forces.values():
        assert np.abs(wrench[[0, 1, 5]]).max() <= 1e-6 * wrench[2]


@pytest.mark.parametrize("warm", [False, True])
def test_a_solver_that_stops_early_is_reported(monkeypatch, warm):
    rng = fresh(warm)
    model, q, v = standing_state(rng)
    problem = standing_problem(model, q, drop=0.3)
    last = problem.solve(q, v) if warm else None

    def stopped(*_, **__):
        raise NotConvergedError("stopped after 1 iteration")

    refusing = SimpleNamespace(call=lambda *given: None)
    monkeypatch.setattr(solving, "CONTROL_CYCLE", refusing)
    monkeypatch.setattr(solving, "call", lambda entry, *given: None if entry is refusing else call(entry, *given))
    monkeypatch.setattr(solving, "solve_hierarchy", stopped)
    solution = problem.solve(q, v, warm=last)
    assert finite(solution)
    assert "stopped after 1 iteration" in solution.reason
    if warm:
        assert solution.status == "last solution"
        np.testing.assert_array_equal(solution.tau, last.tau)
    else:
        assert solution.status == "damping"
        assert (solution.tau * v[6:] <= 0.0).all()
        assert (np.abs(solution.tau) <= model.effort_limit[6:]).all()


@pytest.mark.parametrize(("make", "words"), [
    (lambda m, q: control.WholeBodyProblem(m, tasks=[control.FramePositionTask("no_such_frame", np.zeros(3))]), "no_such_frame"),
    (lambda m, q: control.WholeBodyProblem(m, contacts=[ff.contacts.surface("no_such_sole")]), "no_such_sole"),
    (lambda m, q: control.WholeBodyProblem(m, force_weight=0.0), "force_weight must be"),
    (lambda m, q: control.AccelerationLimits(0.0), "positive"),
    (lambda m, q: control.WholeBodyProblem(ff.robots.kangaroo_like()), "loops"),
    (lambda m, q: control.WholeBodyProblem(m, contacts=ff.ConstraintSet(ff.robots.humanoid(20))), "another model"),
    (lambda m, q: control.WholeBodyProblem(m, limits=[control.TorqueLimits(-1.0, 1.0)]).solve(q, np.zeros(m.nv)),
        "above the upper"),
    (lambda m, q: control.WholeBodyProblem(m, limits=[control.TorqueLimits([1.0, 2.0])]).solve(q, np.zeros(m.nv)), "one for each"),
    (lambda m, q: control.WholeBodyProblem(m, limits=[control.NormalForceLimits("left_sole", 3.0)]).solve(q, np.zeros(m.nv)),
        "left_sole"),
    (lambda m, q: control.WholeBodyProblem(m).solve(q, np.full(m.nv, np.nan)), "v"),
    (lambda m, q: control.WholeBodyProblem(m).solve(q[:-1], np.zeros(m.nv)), "q"),
    (lambda m, q: control.WholeBodyProblem(m).solve(q, np.zeros(m.nv), formulation="fast"), "formulation must be one of"),
    (lambda m, q: control.WholeBodyProblem(m).solve(q, np.zeros(m.nv), warm=3), "warm"),
    (lambda m, q: control.WholeBodyProblem(m).solve(q, np.zeros(m.nv), solver="no_solver"), "no_solver"),
    (lambda m, q: control.CentroidalMomentumTask(velocity=np.zeros(6)), "no velocity"),
])  # fmt: skip
def test_bad_input_is_refused_with_words(make, words):
    model, q = humanoid()
    refused(ff.FreeflyerError, words, make, model, q)


def palm(model, q, shift, **given):
    return control.FramePositionTask("left_palm", ff.frame_pose(model, q, "left_palm")[:3, 3] + shift, **given)


def tasks_of(model, q):
    return [control.CenterOfMassTask(ff.center_of_mass(model, q)), control.FrameOrientationTask("pelvis", np.eye(3))]


@pytest.mark.parametrize("feet", [FEET, FEET[:1]], ids=["two feet", "one foot"])
@pytest.mark.parametrize("level", [1, 2])
@pytest.mark.parametrize("posture", [True, False])
def test_conflicts_within_a_branch_do_not_reach_the_legs(feet, level, posture):
    """Two places asked of one hand: in both formulations torques stay those of standing, and the first place wins."""
    rng = fresh(len(feet), level, posture)
    model, q = humanoid()
    a, b = 0.02 * rng.standard_normal((2, 3))
    tasks = [*tasks_of(model, q), palm(model, q, a), palm(model, q, b, level=level)]
    tasks += [control.PostureTask(q, level=3)] if posture else []
    problem = control.WholeBodyProblem(model, tasks, feet)
    full, reduced = (problem.solve(q, np.zeros(model.nv), formulation=name) for name in ("full", "reduced"))
    assert full.status == reduced.status == "solved"
    for found in (full, reduced):
        assert np.abs(found.tau).max() < 400.0
        check_physics(problem, q, np.zeros(model.nv), found)
    for x, y in zip(full.levels, reduced.levels, strict=True):
        assert x.met == y.met, x.name
    if posture:
        close(reduced.tau, full.tau, 1e-6, least=np.abs(full.tau).max())


@pytest.mark.parametrize("scale", [0.1, 0.3, 1.0])
def test_the_reduced_form_keeps_dynamics_and_limits_or_says_so(scale):
    """Arms that move fast, weak motors: what the two parts cannot keep is solved as one, by the full formulation."""
    rng = fresh(str(scale))
    model, q = humanoid()
    v = np.zeros(model.nv)
    limits = [control.TorqueLimits(scale=scale), control.JointLimits(dt=2e-3, acceleration=50.0)]
    tasks = [*tasks_of(model, q), palm(model, q, 0.0, level=2), control.PostureTask(q, level=3)]
    problem, seen = control.WholeBodyProblem(model, tasks, FEET, limits=limits), []
    for _ in range(12):
        v[18:] = rng.uniform(0.5, 2.0) * rng.standard_normal(21)
        found = problem.solve(q, v, formulation="reduced")
        seen.append(found.formulation)
        if found.status == "solved":
            check_physics(problem, q, v, found)
            assert all(level.met for level in found.levels[:2]), found.levels
        assert np.isfinite(found.tau).all()
    assert set(seen) <= {"reduced", "full"}


SAME = 1e-9


def squat(model, q, **more):
    feet = ff.contacts.feet_by_name(model)
    base = model.joints[0].child
    tasks = [control.FramePoseTask(base, ff.frame_pose(model, q, base), level=1), control.PostureTask(q, level=2, weight=0.1)]
    return control.WholeBodyProblem(model, tasks, feet, **more)


@pytest.mark.parametrize("strict", [True, False])
def test_three_steps_and_projection_agree(strict):
    rng, model, q = fresh(strict), kangaroo(), kangaroo().neutral
    problem = squat(model, q, limits=[control.TorqueLimits(scale=2.0)])
    v = ff.project_velocity(model, q, 0.01 * rng.standard_normal(model.nv), constraints=problem.constraints)  # balance can be kept
    first = problem.solve(q, v, formulation="three-step", weighted=not strict)
    second = problem.solve(q, v, formulation="full", weighted=not strict)
    assert first.status == second.status == "solved", first.reason
    close(first.a, second.a, SAME, least=np.abs(second.a).max())
    for name in second.forces:
        close(first.forces[name], second.forces[name], SAME, least=9.81 * model.mass)
    close(first.tau, second.tau, SAME, least=np.abs(second.tau).max())
    check_physics(problem, q, v, second, tolerance=1e-8)
