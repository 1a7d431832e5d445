"""Values of wrong kinds and absurd sizes, given to constructors, solvers and plans: refused by name, before work begins."""

from __future__ import annotations

import warnings
from concurrent.futures import Executor, Future

import numpy as np
import pytest
from linkage_samples import four_bar

import freeflyer as ff
from freeflyer import control, decoupling, estimation, linkages, optimization, sim
from freeflyer_papers import hopping


def bad_calls():
    """By the words of the sentence."""
    model, arm, hopper, linkage = ff.robots.humanoid(20), ff.robots.chain(3), ff.robots.revolute_hopper(), four_bar()
    satellite = ff.robots.space_manipulator()
    q, v, rest = ff.robots.standing_posture(model), np.zeros(model.nv), np.zeros(3)
    feet = [ff.contacts.surface("left_sole"), ff.contacts.surface("right_sole")]
    posture, start = control.PostureTask(q), hopper.keyframes["start"]
    problem = control.WholeBodyProblem(model, [posture], feet)
    level = (np.eye(2), np.ones(2), np.ones(2))
    run = sim.simulate(arm, rest, rest, dt=0.01, duration=0.02)

    def qp(**given):
        return optimization.solve_qp(np.eye(2), np.ones(2), **given)

    def hierarchy(levels=(level,), **given):
        return optimization.solve_hierarchy(levels, **given)

    def hop_ends(**given):
        return hopping.hop_ends("revolute-V", **{"q": start, "v": np.zeros(4), "duration": 0.1, **given})

    def replayed(**given):
        return sim.replay(arm, sim.Run(**{**vars(run), **given}))

    return {
        "limits must be a list such as .*, got 5": lambda: control.WholeBodyProblem(model, [posture], feet, 5),
        "contacts must be a list such as .*, got 5": lambda: control.WholeBodyProblem(model, [posture], 5),
        "bilateral must be a list such as .*, got 5": lambda: control.WholeBodyProblem(model, [posture], feet, bilateral=5),
        r"bilateral must be a list such as .*, got \['": lambda: control.WholeBodyProblem(model, contacts=feet,
            bilateral=[["left_sole"]]),
        "external holds wrenches of .* states": lambda: problem.solve(q, v, external={"left_sole": np.ones((4, 6))}),
        "weight of PostureTask holds 1e\\+300": lambda: control.PostureTask(q, weight=1e300),
        "target of CenterOfMassTask holds 1e\\+308": lambda: control.CenterOfMassTask([1e308] * 3),
        "stiffness of PostureTask must be a number from 0 to": lambda: control.PostureTask(q, stiffness=1e300),
        "friction must be a number from": lambda: control.WholeBodyProblem(model, [posture], feet, friction=1e300),
        "tolerance must be a number from 1e-14 to 0.1, got 'x'": lambda: qp(tolerance="x"),
        "iterations must be a whole number or None, got str": lambda: qp(iterations="x"),
        "iterations must be a whole number or None, got float 100.5": lambda: qp(iterations=100.5),
        "seconds must be a positive number, got 'x'": lambda: qp(seconds="x"),
        "warm must be a Solution or None, got int 5": lambda: qp(warm=5),
        "solver must be the name of a solver": lambda: qp(solver=5),
        "solve_qp cannot be computed with a number of about 1e\\+308 in H": lambda: optimization.solve_qp(
            1e308 * np.ones((2, 2)), [1.0, 1.0], solver="daqp"
        ),
        "levels must be a list of at least one level": lambda: hierarchy(5),
        "warm must be a HierarchySolution or None, got int 5": lambda: hierarchy(warm=5),
        "solver must be the name": lambda: hierarchy(solver=5),
        "weights of level 0 must hold real numbers": lambda: hierarchy([(*level, "x")]),
        "frames is empty": lambda: decoupling.constants_of_motion(satellite, satellite.neutral, np.zeros(13), frames=[]),
        "motors is empty": lambda: estimation.calibrate(linkage, {"r": 0.1}, np.zeros(0), motors=[]),
        r"the shapes of angle \(2,\), height \(3,\), speed \(\) do not": lambda: hopping.hop_start(
            hopper, angle=np.zeros(2), height=np.ones(3), speed=0.0
        ),
        "angle is nan": lambda: hopping.hop_start(hopper, angle=np.nan, height=0.3, speed=0.0),
        "executor must be a Executor or None, got int 5": lambda: hop_ends(executor=5),
        "executor must be .*, got type": lambda: hop_ends(executor=Executor),
        "v holds 1e\\+300": lambda: hop_ends(v=np.full(4, 1e300)),
        "beyond floating-point numbers: start nearer": lambda: hop_ends(v=np.full(4, 1e49)),
        "executor must be a Executor": lambda: hopping.hop_basins("revolute-V", angle=[0.1], height=[0.3], speed=[0.0], executor=5),
        "speed holds 1e\\+300": lambda: hopping.hop_basins("revolute-V", angle=[0.1], height=[0.3], speed=[1e300]),
        "sensing must be a freeflyer Sensing": lambda: control.run_scenario("squat", model, sensing=5),
        "dt must be a positive number, got 'x'": lambda: control.run_scenario("squat", model, dt="x"),
        "seed must be a whole number": lambda: control.run_scenario("squat", model, seed="x"),
        r"no scenario is named \[\]": lambda: control.run_scenario([], model),
        "'squat' has no option 'depht': it takes depth": lambda: control.run_scenario("squat", model, depht=0.1),
        "v holds 1e\\+200": lambda: estimation.contact_model(linkage, linkage.neutral, v=np.full(linkage.nv, 1e200)),
        "loops must be True or False": lambda: ff.ConstraintSet(linkage, loops=np.zeros(3)),
        "height must be a number from 1e-50": lambda: control.dcm_plan([0.0, 1.0], np.zeros((2, 3)), 1e300),
        "duration must be a number from 1e-50": lambda: control.MinimumJerkReference(rest, rest, 1e300),
        "duration must be a number from 1e-50 .*, got 5e-324": lambda: control.MinimumJerkReference(rest, rest, 5e-324),
        "cutoff must lie between 0.0001 Hz": lambda: estimation.low_pass(np.ones((30, 2)), 100.0, cutoff=5e-9),
        "rate must be a number from": lambda: estimation.low_pass(np.ones((30, 2)), 1e300),
        "bandwidth must be a number from": lambda: control.lqr(arm, rest, bandwidth=1e300),
        "state_cost holds 1e\\+300": lambda: control.lqr(arm, rest, state_cost=1e300, input_cost=1e-300),
        "share must be a number": lambda: control.random_pushes(control.Standing(model, q, tuple(feet)), 3, share=1e308),
        "motors must be a list, .*, got str 'motor_l'": lambda: linkages.reachable_set(linkage, "motor_l", ["c", "d"]),
        "limits must be True or False, got str": lambda: linkages.assemble(linkage, limits="x"),
        "overwrite must be True or False, got str": lambda: ff.export.export(arm, "folder", overwrite="x"),
        "batch must be True or False, got str": lambda: ff.export.export(arm, "folder", batch="x"),
        "path is '', which is empty": lambda: ff.export.export(arm, ""),
        r"path is '\\x00', which holds a null": lambda: ff.export.export(arm, "\0"),
        "t of the run is no array": lambda: replayed(t=None),
        "q of the run is no array": lambda: replayed(q=run.q[:, :2]),
        "settings or events of the run": lambda: replayed(settings=5),
        "settings are not those": lambda: replayed(settings={**run.settings, "sensing": 5}),
        r"'w+'\.\.\. \(1000 characters\)": lambda: ff.frame_jacobian(arm, rest, "tip", "w" * 1000),
        "expressed must be 'body', 'mixed' or 'world', got 'wrld'$": lambda: ff.frame_jacobian(arm, rest, "tip", np.str_("wrld")),
        "no frame is named 'tipp'": lambda: ff.frame_pose(arm, rest, np.str_("tipp")),
    }  # fmt: skip


@pytest.mark.parametrize("words", bad_calls())
def test_it_is_refused_by_name(words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    call = bad_calls()[words]
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        with pytest.raises(ff.FreeflyerError, match=words) as caught:
            call()
    assert len(str(caught.value)) < 1000
    assert not list(tmp_path.iterdir())


class Broken(Executor):
    """An executor whose workers are dead."""

    def submit(self, function, /, *arguments, **options):
        future: Future = Future()
        future.set_exception(OSError("the worker was killed"))
        return future


def test_errors_of_an_executor_pass_as_they_are():
    start = ff.robots.revolute_hopper().keyframes["start"]
    with pytest.raises(OSError, match="the worker was killed"):
        hopping.hop_ends("revolute-V", start, np.zeros(4), duration=0.1, executor=Broken())


def test_no_runs_end_nowhere():
    ends = hopping.hop_ends("revolute-V", np.zeros((0, 4)), np.zeros(4), duration=0.1)
    assert ends.q.shape == (0, 4)
    assert ends.outcome.shape == (0,)
