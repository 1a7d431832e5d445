"""Values of wrong kinds, shapes and absurd sizes are refused by name, before work begins."""

import freeflyer as ff
import numpy as np
import pytest
from closeness import refused
from collections.abc import Callable
from concurrent.futures import Executor, Future
from freeflyer import control, decoupling, estimation, optimization, robots, sim
from freeflyer.model.inputs import output_array
from freeflyer_papers import hopping
from freeflyer_papers.printed import geometric
from linkage_samples import four_bar
from samples import OF_STATES, model_call
from typing import Any


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

    def hierarchy(levels=(level,), **given):
        return optimization.solve_hierarchy(levels, **given)

    def hop_ends(**given):
        return hopping.hop_ends("revolute-V", **{"q": start, "v": np.zeros(4), "duration": 0.1, **given})

    def replayed(**given):
        return sim.replay(arm, sim.Run(**{**vars(run), **given}))

    return {
        r"bilateral must be a list such as .*, got \['": lambda: control.WholeBodyProblem(model, contacts=feet,
            bilateral=[["left_sole"]]),
        "external holds wrenches of .* states": lambda: problem.solve(q, v, external={"left_sole": np.ones((4, 6))}),
        "target of CenterOfMassTask holds 1e\\+308": lambda: control.CenterOfMassTask([1e308] * 3),
        "solve_qp cannot be computed with a number of about 1e\\+308 in H": lambda: optimization.solve_qp(
            1e308 * np.ones((2, 2)), [1.0, 1.0], solver="daqp"
        ),
        "weights of level 0 must hold real numbers": lambda: hierarchy([(*level, "x")]),
        "frames is empty": lambda: decoupling.constants_of_motion(satellite, satellite.neutral, np.zeros(13), frames=[]),
        "motors is empty": lambda: estimation.calibrate(linkage, {"r": 0.1}, np.zeros(0), motors=[]),
        r"the shapes of angle \(2,\), height \(3,\), speed \(\) do not": lambda: hopping.hop_start(
            hopper, angle=np.zeros(2), height=np.ones(3), speed=0.0
        ),
        "angle is nan": lambda: hopping.hop_start(hopper, angle=np.nan, height=0.3, speed=0.0),
        "executor must be an Executor or None, got int 5": lambda: hop_ends(executor=5),
        "executor must be .*, got type": lambda: hop_ends(executor=Executor),
        "v holds 1e\\+300": lambda: hop_ends(v=np.full(4, 1e300)),
        "beyond floating-point numbers: start nearer": lambda: hop_ends(v=np.full(4, 1e49)),
        "must be an Executor": lambda: hopping.hop_basins("revolute-V", angle=[0.1], height=[0.3], speed=[0.0], executor=5),
        "speed holds 1e\\+300": lambda: hopping.hop_basins("revolute-V", angle=[0.1], height=[0.3], speed=[1e300]),
        "sensing must be a freeflyer Sensing": lambda: control.run_scenario("squat", model, sensing=5),
        "dt must be a positive number, got 'x'": lambda: control.run_scenario("squat", model, dt="x"),
        "seed must be a whole number": lambda: control.run_scenario("squat", model, seed="x"),
        r"no scenario is named \[\]": lambda: control.run_scenario([], model),
        "'squat' has no option 'depht': it takes depth": lambda: control.run_scenario("squat", model, depht=0.1),
        "v holds 1e\\+200": lambda: estimation.contact_model(linkage, linkage.neutral, v=np.full(linkage.nv, 1e200)),
        "cutoff must lie between 0.0001 Hz": lambda: estimation.low_pass(np.ones((30, 2)), 100.0, cutoff=5e-9),
        "state_cost holds 1e\\+300": lambda: control.lqr(arm, rest, state_cost=1e300, input_cost=1e-300),
        "share must be a number": lambda: control.random_pushes(control.Standing(model, q, tuple(feet)), 3, share=1e308),
        "overwrite must be True or False, got str": lambda: ff.export.export(arm, "folder", overwrite="x"),
        "batch must be True or False, got str": lambda: ff.export.export(arm, "folder", batch="x"),
        "path is '', which is empty": lambda: ff.export.export(arm, ""),
        r"path is '\\x00', which holds a null": lambda: ff.export.export(arm, "\0"),
        "t of the run is no array": lambda: replayed(t=None), "q of the run is no array": lambda: replayed(q=run.q[:, :2]),
        "settings or events of the run": lambda: replayed(settings=5),
        "settings are not those": lambda: replayed(settings={**run.settings, "sensing": 5}),
        r"'w+'\.\.\. \(1000 characters\)": lambda: ff.frame_jacobian(arm, rest, "tip", "w" * 1000),
        "expressed must be 'body', 'mixed' or 'world', got 'wrld'$": lambda: ff.frame_jacobian(arm, rest, "tip", np.str_("wrld")),
        "no frame is named 'tipp'": lambda: ff.frame_pose(arm, rest, np.str_("tipp")),
    }  # fmt: skip


class Broken(Executor):
    """An executor whose workers are dead."""

    def submit(self, function, /, *arguments, **options):
        future: Future = Future()
        future.set_exception(OSError("the worker was killed"))
        return future


def test_outputs_and_moments():
    for smallest, word in ((-1.5e-9, "definite"), (-0.5e-9, "flat")):
        found = ff.spatial.consistency.check(1.0, np.zeros(3), np.diag([smallest, 1.0, 1.0]))
        assert (found.reasons[0].name, bool(found)) == (word, word == "flat")
    assert ff.spatial.quaternion.random(np.random.default_rng(0), 3).shape == (3, 4)
    start = ff.robots.revolute_hopper().keyframes["start"]
    with pytest.raises(OSError, match="the worker was killed"):
        hopping.hop_ends("revolute-V", start, np.zeros(4), duration=0.1, executor=Broken())
    ends = hopping.hop_ends("revolute-V", np.zeros((0, 4)), np.zeros(4), duration=0.1)
    assert (ends.q.shape, ends.outcome.shape) == ((0, 4), (0,))
    out = np.zeros((5, 3, 3))
    assert output_array(out, (5, 3, 3)) is out
    for bad, word in ((out.T, "non-contiguous"), (out.astype(int), "int64"), (out[0], r"shape \(3, 3\)"), ([1.0], "list")):
        refused(ff.InputError, rf"out must be .*{word}", output_array, bad, (5, 3, 3))
    out.flags.writeable = False
    refused(ff.InputError, "got a read-only float64 array", output_array, out, (5, 3, 3))


MODEL = ff.robots.chain(3)
Q = np.zeros(3)


class Own(np.ndarray):
    """A class of arrays that someone else wrote."""


OUTPUTS = {"masked": lambda x: np.ma.masked_array(x), "matrix": np.asmatrix, "records": lambda x: x.view(np.recarray),
           "another class": lambda x: x.view(Own)}  # fmt: skip


@pytest.mark.parametrize("kind", OUTPUTS)
def test_outputs_of_other_classes_are_refused(kind):
    out = OUTPUTS[kind](np.zeros((3, 3)))
    words = r"out must be a plain numpy\.ndarray, got .*: give numpy\.asarray\(out\), which shares its memory"
    refused(ff.InputError, words, ff.mass_matrix, MODEL, Q, out=out)
    refused(ff.InputError, words, output_array, out, (3, 3))
    assert np.shares_memory(np.asarray(out), out)
    np.testing.assert_array_equal(ff.mass_matrix(MODEL, Q, out=np.asarray(out)), ff.mass_matrix(MODEL, Q))


CHAIN, SPACE = ff.robots.chain(2), ff.robots.space_manipulator()
TRACKER = control.track(CHAIN, np.zeros((11, 2)), np.zeros((11, 2)), np.zeros((10, 2)), 0.01)
SHORT = geometric.motion_pass(geometric.tree_of(SPACE), SPACE.neutral, np.zeros(13), np.zeros(13), wrenches=False)
EYE = np.eye(4)
MORE = [
    (lambda: control.energy_costs(CHAIN, np.zeros((3, 2)), control.joint_inputs(CHAIN)), "expected that of one state"),
    (lambda: control.controllability(CHAIN, np.eye(2), EYE, EYE[:, :1], basis=np.ones((3, 2))), "basis has shape"),
    (lambda: control.controllability(CHAIN, np.eye(2), EYE, EYE[:, :1], basis=np.full((4, 2), np.nan)), "basis.0, 0. is nan"),
    (lambda: control.controllability(CHAIN, np.diag([1.0, 0.0]), EYE, EYE[:, :1]), "positive on its diagonal"),
    (lambda: TRACKER.error(99, np.zeros(2), np.zeros(2)), "samples 0 ... 10, got k = 99"),
    (lambda: estimation.low_pass(3.0, 100.0, 10.0), "expected samples"),
    (lambda: estimation.low_pass(np.zeros((0, 3)), 100.0, 10.0), "expected samples"),
    (lambda: estimation.base_over_soles(CHAIN, np.zeros(2), [], np.zeros((3, 3))), "the base of 'chain_2' does not move"),
    (lambda: estimation.base_over_soles(CHAIN, np.zeros((4, 2)), [], np.zeros((3, 3))), "expected that of one state"),
    (lambda: geometric.mass_matrix_of(SHORT), "this pass has no wrenches"),
    (lambda: geometric.derivative_by_shape(SHORT), "this pass has no wrenches"),
    (lambda: ff.normalize_configuration(CHAIN, [np.nan, 0.0]), "q.0. is nan"),
    (lambda: ff.spatial.quaternion.random(np.random.default_rng(0), (2, -1)), "whole numbers of 0 or more"),
    (lambda: ff.spatial.consistency.check(1.0, np.zeros(3), np.eye(3), tolerance=np.nan), "tolerance is nan"),
]  # fmt: skip


def states(*lead: int) -> np.ndarray:
    """So many states in the memory of one."""
    return np.broadcast_to(Q, (*lead, 3))


LARGE: dict[str, tuple[Callable[[], Any], str]] = {
    "10^15 states": (lambda: ff.mass_matrix(MODEL, states(10**15)), "q has shape|mass_matrix needs more memory"),
    "10^14 positions": (lambda: ff.bias_forces(MODEL, states(10**14), Q), "q has shape|more memory than there is for q"),
    "an outer product": (
        lambda: ff.bias_forces(MODEL, states(10**7, 1), states(10**8)), "bias_forces needs more memory than there is for q"
    ),
    "normalized": (lambda: ff.normalize_configuration(MODEL, states(9 * 10**13)), "normalize_configuration needs more memory"),
    "all terms of many": (lambda: ff.all_terms(MODEL, states(9 * 10**13), Q), "all_terms needs more memory|more memory"),
    "random ones": (lambda: ff.random_configuration(MODEL, np.random.default_rng(0), 10**13), "needs more memory"),
    "more random ones": (lambda: ff.random_configuration(MODEL, np.random.default_rng(0), 10**30), "size must be"),
    "random ones without end": (lambda: ff.random_configuration(MODEL, np.random.default_rng(0), 10**5000), "size must be"),
    "random ones in 80 axes": (lambda: ff.random_configuration(MODEL, np.random.default_rng(0), (2,) * 80), "size must be"),
    "a chain": (lambda: robots.chain(n=10**400), "n must be a whole number from 1 to 100000, got an integer beyond"),
    "a longer chain": (lambda: robots.make("chain", n=10**5000), "n must be a whole number"),
    "a negative one": (lambda: robots.chain(n=-(10**5000)), "n must be a whole number"),
    "long links": (lambda: robots.chain(length=10**400), "length must be a positive number"),
    "longer links": (lambda: robots.chain(length=10**5000), "length must be a positive number"),
    "a long simulation": (lambda: ff.sim.simulate(MODEL, Q, Q, dt=0.1, duration=10**400), "duration must be"),
    "a longer one": (lambda: ff.sim.simulate(MODEL, Q, Q, dt=0.1, duration=10**5000), "duration must be"),
    "a simulation of many samples": (lambda: ff.sim.simulate(MODEL, Q, Q, dt=1e-30, duration=1.0), "longer dt"),
    "long steps": (lambda: ff.step(MODEL, Q, Q, Q, 10**5000), "dt must be a positive number"),
    "a frame's number": (lambda: MODEL.frame(10**5000), "no frame is named an integer beyond"),
    "a name of a million letters": (lambda: MODEL.frame("link_" * 200_000), "no frame is named"),
    "a long name among many": (lambda: ff.robots.chain(1000).frame("link_1" * 16), "no frame is named"),
    "an unknown robot": (lambda: robots.make("z" * 10**6), "no built-in robot is named"),
}  # fmt: skip


@pytest.mark.parametrize(("call", "words"), [*((call, words) for words, call in bad_calls().items()), *MORE, *LARGE.values()])
def test_it_is_refused_by_name(call, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert len(str(refused(ff.FreeflyerError, words, call))) < 1000
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", [*OF_STATES, "normalize_configuration"])
def test_many_axes_are_taken_and_too_many_refused(name):
    call = model_call(name, MODEL)

    def with_axes(count: int) -> dict[str, np.ndarray]:
        return {k: x.reshape((1,) * (count - 1) + x.shape) for k, x in call.arrays.items()}

    call.run(**with_axes(28))
    for axes in (29, 33, 62, 64):
        refused(ff.InputError, rf"\w+ has {axes} axes, expected at most 28: reshape", call.run, **with_axes(axes))
