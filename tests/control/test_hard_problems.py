"""Bad problems and solvers that fail: a clear report, and torques that are finite."""

import numpy as np
import pytest
from problems import FEET, humanoid, standing_problem, standing_state
from seeds import fresh

import freeflyer as ff
from freeflyer import control
from freeflyer.control import solving
from freeflyer.errors import NotConvergedError
from freeflyer.kernels.entries import CONTROL_CYCLE
from freeflyer.optimization.compiled import call


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


def test_upside_down_no_floor_carries():
    model, q = humanoid()
    q = q.copy()
    q[3:7] = [1.0, 0.0, 0.0, 0.0]
    solution = standing_problem(model, q).solve(q, np.zeros(model.nv))
    assert finite(solution)
    assert solution.status == "relaxed" or solution.forces["left_sole"][2] >= -1e-6


def test_soles_without_friction_push_only_along_their_normal():
    model, q = humanoid()
    feet = [ff.contacts.surface(name, friction=0.0) for name in ("left_sole", "right_sole")]
    solution = standing_problem(model, q, contacts=feet, drop=0.0).solve(q, np.zeros(model.nv))
    assert solution.status == "solved"
    for wrench in solution.forces.values():
        assert np.abs(wrench[[0, 1, 5]]).max() <= 1e-6 * wrench[2]
        assert wrench[2] > 0.0


def test_limits_crossed_at_the_start_lead_back():
    model, q = humanoid()
    q = q.copy()
    knee = model.joint("left_knee")
    q[knee.iq] = model.position_lower[knee.iv] - 0.1
    limit = control.JointLimits(dt=2e-3, acceleration=100.0)
    solution = control.WholeBodyProblem(model, [control.PostureTask(q)], limits=[limit]).solve(q, np.zeros(model.nv))
    assert finite(solution)
    assert solution.a[knee.iv] > 0.0


@pytest.mark.parametrize("warm", [False, True])
def test_a_solver_that_stops_early_is_reported(monkeypatch, warm):
    rng = fresh(warm)
    model, q, v = standing_state(rng)
    problem = standing_problem(model, q, drop=0.3)
    last = problem.solve(q, v) if warm else None

    def stopped(*_, **__):
        raise NotConvergedError("stopped after 1 iteration")

    monkeypatch.setattr(solving, "call", lambda entry, *given: None if entry is CONTROL_CYCLE else call(entry, *given))
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
    (lambda m, q: control.WholeBodyProblem("robot"), "takes a Model"),
    (lambda m, q: control.WholeBodyProblem(m, tasks=[control.FramePositionTask("no_such_frame", np.zeros(3))]), "no_such_frame"),
    (lambda m, q: control.WholeBodyProblem(m, contacts=[ff.contacts.surface("no_such_sole")]), "no_such_sole"),
    (lambda m, q: control.WholeBodyProblem(m, contacts=["left_sole"]), "contacts must be a list"),
    (lambda m, q: control.WholeBodyProblem(m, contacts=FEET, bilateral=["left"]), "left"),
    (lambda m, q: control.WholeBodyProblem(m, limits=["torque"]), "limits must be a list"),
    (lambda m, q: control.WholeBodyProblem(m, friction=-1.0), "friction must be"),
    (lambda m, q: control.WholeBodyProblem(m, force_weight=0.0), "force_weight must be"),
    (lambda m, q: control.WholeBodyProblem(m, acceleration_weight=float("nan")), "acceleration_weight"),
    (lambda m, q: control.WholeBodyProblem(ff.robots.kangaroo_like()), "loops"),
    (lambda m, q: control.WholeBodyProblem(m, contacts=ff.ConstraintSet(ff.robots.humanoid(20))), "another model"),
    (lambda m, q: control.WholeBodyProblem(m, limits=[control.TorqueLimits(-1.0, 1.0)]).solve(q, np.zeros(m.nv)),
        "above the upper"),
    (lambda m, q: control.WholeBodyProblem(m, limits=[control.TorqueLimits([1.0, 2.0])]).solve(q, np.zeros(m.nv)), "one for each"),
    (lambda m, q: control.AccelerationLimits(0.0), "positive"),
    (lambda m, q: control.JointLimits(dt=0.0), "dt"),
    (lambda m, q: control.NormalForceLimits("left_sole", -3.0), "normal force"),
    (lambda m, q: control.WholeBodyProblem(m, limits=[control.NormalForceLimits("left_sole", 3.0)]).solve(q, np.zeros(m.nv)),
        "left_sole"),
    (lambda m, q: control.WholeBodyProblem(m).solve(q, np.full(m.nv, np.nan)), "v"),
    (lambda m, q: control.WholeBodyProblem(m).solve(q[:-1], np.zeros(m.nv)), "q"),
    (lambda m, q: control.WholeBodyProblem(m).solve(q, np.zeros(m.nv), formulation="fast"), "formulation must be one of"),
    (lambda m, q: control.WholeBodyProblem(m).solve(q, np.zeros(m.nv), weighted=1), "weighted"),
    (lambda m, q: control.WholeBodyProblem(m).solve(q, np.zeros(m.nv), warm=3), "warm"),
    (lambda m, q: control.CentroidalMomentumTask(velocity=np.zeros(6)), "no velocity"),
])  # fmt: skip
def test_bad_input_is_refused_with_words(make, words):
    model, q = humanoid()
    with pytest.raises(ff.FreeflyerError, match=words):
        make(model, q)


def test_a_solver_that_is_not_installed():
    model, q = humanoid()
    problem = standing_problem(model, q, drop=0.3, limits=[control.AccelerationLimits(1.0)])
    with pytest.raises(ff.FreeflyerError, match="no_solver"):
        problem.solve(q, np.zeros(model.nv), solver="no_solver")
