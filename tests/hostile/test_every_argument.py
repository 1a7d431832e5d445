"""Every argument of every public function of a robot, found by its signature, refuses what it cannot use, by its name; so do
calls that signatures do not tell how to make (calls_by_hand.py). Batch axes that do not broadcast: an InputError that shows
the shapes, where they meet outside of compiled code."""

import freeflyer as ff
import inspect
import numpy as np
import pytest
import traceback
from bad_values import bad_calls, kind_of
from calls_by_hand import bad_calls as bad_calls_by_hand, calls
from closeness import refused
from collections.abc import Callable, Iterable
from freeflyer.model.public import public
from functools import partial
from public_names import public_functions
from state_functions import FUNCTIONS as OF_STATES, QUATERNIONS, good as good_states, others, robot_of
from test_every_function import FUNCTIONS, REASONS, arguments, first_argument, modelled, reason
from typing import Any

CALLS = {f"{k}-{call.function.__name__}": call for k, call in enumerate(calls())}
BY_HAND = {call.function.__name__ for call in CALLS.values()}
OWN_TESTS = {  # besides those that `REASONS` names
    "frame_set": "hostile/test_good_arrays.py", "to_mjcf": "model/test_writers_files.py", "to_urdf": "model/test_writers_files.py",
}  # fmt: skip
TRIED = [name for name in FUNCTIONS if "all" not in REASONS.get(name, {}) and name not in OWN_TESTS]
OTHER_WORDS = {  # that name the argument as well
    "values": ("positions of", "stroke"), "constraints": ("A must hold", "ConstraintSet"),
    "inequalities": ("A cannot be", "A must hold"), "configuration": ("q ",),
    "external": ("no frame is named", "the wrench on 'tip'"), "tau": ("the state and of the wrenches",),
}  # fmt: skip
TAKE_BATCHES = {  # in a way of their own
    "estimation.passive_state", "estimation.update_passive_state", "linkages.assemble", "sim.simulate",
}
MEANT = {  # what it makes right; complex numbers, for steps; the base; lists of constraint sets
    ("normalize_configuration", "q"), ("symbolic.parameters", "gravity"), ("decoupling.external_velocity", "frame"),
    ("formulations.constrained.accelerations", "constraints"),
    ("formulations.constrained.unilateral_accelerations", "inequalities"),
}  # fmt: skip
MODEL, Q = ff.robots.chain(3), np.zeros(3)
MODELLED = public_functions("model")
NOT_MODELS = ((None, "freeflyer.load"), ("robot.urdf", "'robot.urdf': load it first with freeflyer.load"),
              (ff.robots.kangaroo_like().description, "build it first with freeflyer.build"), (Q, "the model comes first"),
              (ff.Model, "type: load it first"), (7, "got int 7"), (ff.all_terms(MODEL, Q, Q), "AllTerms"))  # fmt: skip


def leaks_of(attempts: Iterable[tuple[str, Callable[[], Any], tuple[str, ...]]]) -> list[str]:
    """Of (what, call, words): calls that end otherwise than in an error of ours whose sentence holds one of the words."""
    leaks = []
    for what, call, words in attempts:
        try:
            call()
        except ff.FreeflyerError as error:
            if len(str(error)) < 20 or not any(x in str(error) for x in words):
                leaks.append(f"{what}: the sentence does not name it: {error}")
        except Exception as error:
            leaks.append(f"{what}: {type(error).__name__}: {error}")
        else:
            leaks.append(f"{what}: accepted")
    return leaks


@pytest.mark.parametrize("name", TRIED)
def test_bad_arguments_are_refused(name: str) -> None:
    """Of a robot with loops, closed if the function takes it; of the functions of one state, batches as well."""
    closed = "tree" if reason(name, "closed, one state") else "closed"
    model, function = modelled(closed), FUNCTIONS[name]
    batches = not reason(name, f"{closed}, batch") or name in TAKE_BATCHES
    check_refused(name, function, first_argument(name, model), arguments(name, model, ()), batches)


@pytest.mark.parametrize("name", OF_STATES)
def test_bad_arguments_are_refused_of_quaternions(name: str) -> None:
    """The same of a floating robot with joints of every kind, whose functions have run once: that is the short way."""
    model = robot_of(name)
    check_refused(name, getattr(ff, name), model, {**good_states(model, name), **others(name)}, True, QUATERNIONS)


def check_refused(name: str, function: Callable[..., Any], first: Any, good: dict[str, Any], *more: Any) -> None:
    function(first, **good)
    attempts = []
    for what, given, word in bad_calls(function, first, good, *more):
        of_names = kind_of(inspect.signature(function).parameters[word]).startswith("name")
        attempts.append((what, partial(function, first, **given), (word, *OTHER_WORDS.get(word, ()), *["named"] * of_names)))
    leaks = leaks_of(attempts)
    assert not [x for x in leaks if not (x.endswith(": accepted") and (name, x.partition(" = ")[0]) in MEANT)], "\n".join(leaks)


def test_what_is_no_model_is_refused(tmp_path) -> None:
    """By every function that takes one, though its other arguments are wrong, too."""
    for name, function in MODELLED.items():
        parameters = inspect.signature(function).parameters.values()
        if function.__annotations__["model"] == "Model | Sensors":  # test_no_model_where_others_are_taken_too
            continue
        required = [p for p in parameters if p.default is p.empty and p.kind is not p.VAR_POSITIONAL]
        others = {p.name: tmp_path / "robot.xml" if p.name == "path" else Q for p in required if p.name != "model"}
        for bad, word in NOT_MODELS:
            if bad is None and inspect.signature(function).parameters["model"].default is None:
                continue
            with pytest.raises(ff.InputError) as caught:
                function(bad, **others)
            assert f"the first argument of {name.rpartition('.')[2]} must be a freeflyer Model" in str(caught.value), (name, bad)
            assert word in str(caught.value), (name, bad)
            assert caught.value.__suppress_context__, name


@pytest.mark.parametrize("name", CALLS)
def test_arguments_by_hand(name: str) -> None:
    call = CALLS[name]
    if call.function is ff.estimation.contact_wrenches:
        refused(ff.linkages.LinkageError, "do not determine the wrenches", call.function, **call.good)
    else:
        call.function(**call.good)
    leaks = leaks_of((what, partial(call.function, **given), words) for what, given, words in bad_calls_by_hand(call))
    assert not leaks, "\n".join(leaks)


def test_no_function_of_a_model_and_a_state_is_left_out() -> None:
    """A new function is tried here, or has a reason why not."""
    of_states = {
        name for name, f in MODELLED.items()
        if any(kind_of(p) in ("posture", "rates") for p in inspect.signature(f).parameters.values())
    }  # fmt: skip
    short = {name for name in of_states if name.rpartition(".")[2] in BY_HAND}
    assert of_states - short <= {*TRIED, *(name for name, why in REASONS.items() if "all" in why)}
    assert len(of_states) > 90


@pytest.mark.parametrize("bad", [None, "robot.urdf", Q, ff.Model], ids=str)
def test_no_model_where_others_are_taken_too(bad, tmp_path):
    """Descriptions by writers, sensors by estimators."""
    calls = [lambda: ff.to_urdf(bad, tmp_path / "robot.urdf"), lambda: ff.to_mjcf(bad, tmp_path / "robot.xml"),
             lambda: ff.estimation.passive_state(bad), lambda: ff.estimation.closed_torques(bad, Q, Q, Q),
             lambda: ff.estimation.select_encoders(bad), lambda: ff.estimation.constraint_error(bad, Q)]  # fmt: skip
    for call in calls:
        refused(ff.InputError, "expected a Model or ", call)


@pytest.mark.parametrize("function", [ff.mass_matrix, ff.center_of_mass, ff.normalize_configuration, ff.frame_pose])
def test_swapped_arguments(function):
    last = ("tip",) if function is ff.frame_pose else ()
    refused(ff.InputError, "the model comes first", function, Q, MODEL, *last)


@public
def sample(model: ff.Model, x: float = 1.0, *, fails: bool = False) -> float:
    """What is decorated."""
    y = x + model.nv
    if fails:
        raise AttributeError("ours")
    return y


def test_the_decorator_changes_nothing_else():
    assert sample(MODEL) == 4.0
    assert sample(MODEL, x=2.0) == 5.0
    assert sample.__doc__ == "What is decorated."
    assert list(inspect.signature(sample).parameters) == ["model", "x", "fails"]
    assert inspect.getsource(sample).startswith("@public")
    assert inspect.unwrap(sample).__code__.co_firstlineno == inspect.getsourcelines(sample)[1]
    for call in (lambda: sample(), lambda: sample(MODEL, 1.0, 2.0), lambda: sample(MODEL, y=1.0)):
        refused(TypeError, r"sample\(\)", call)
    with pytest.raises(AttributeError, match="ours") as caught:
        sample(MODEL, fails=True)
    lines = [frame.line for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert lines[-1] == 'raise AttributeError("ours")'


CHAIN, QUADRUPED = ff.robots.chain(3), ff.robots.quadruped()
CLOSED = ff.close_loops(ff.robots.kangaroo_like())
HELD = ff.ConstraintSet(CLOSED, contacts=[ff.contacts.point("left_sole", at=np.eye(4))])
TWO, THREE = np.zeros((2, 3)), np.zeros((3, 3))
ROW = np.eye(3)[:1]


def pinocchio(call):
    pin = pytest.importorskip("pinocchio")
    return call(pin.buildModelFromXML(ff.to_urdf(CHAIN)))


@pytest.mark.parametrize(("call", "words"), [
    (lambda: ff.configuration(CHAIN, joint_1=[1.0, 2.0], joint_2=[1.0, 2.0, 3.0]), r"joint_1 \(2,\), joint_2 \(3,\)$"),
    (lambda: ff.configuration(CHAIN, start=TWO, joint_2=np.ones(3)), r"start \(2, 3\), joint_2 \(3,\)$"),
    (lambda: ff.configuration(QUADRUPED, root_joint=np.tile(np.eye(7)[6], (2, 1)), front_left_knee=np.ones(3)),
     r"root_joint \(2, 7\), front_left_knee \(3,\)$"),
    (lambda: ff.passive_forces(CHAIN, TWO, THREE), r"q \(2, 3\), v \(3, 3\)$"),
    (lambda: ff.to_mujoco(CHAIN, TWO, TWO, tau=THREE), r"q \(2, 3\), v \(2, 3\), tau \(3, 3\)$"),
    (lambda: ff.from_mujoco(CHAIN, TWO, TWO, qfrc=THREE), r"qpos \(2, 3\), qvel \(2, 3\), qfrc \(3, 3\)$"),
    (lambda: pinocchio(lambda pin: ff.to_pinocchio(CHAIN, pin, TWO, THREE)), r"q \(2, 3\), v \(3, 3\)$"),
    (lambda: pinocchio(lambda pin: ff.from_pinocchio(CHAIN, pin, TWO, THREE)), r"q \(2, 3\), v \(3, 3\)$"),
    (lambda: ff.velocity_map_bias(CHAIN, TWO, THREE), r"q \(2, 3\), u \(3, 3\)$"),
    (lambda: ff.constrained_dynamics(CHAIN, TWO, TWO, THREE, constraints=(ROW, [0.0])), r"v \(2, 3\), tau \(3, 3\)$"),
    (lambda: ff.constrained_dynamics(CHAIN, TWO, TWO, TWO, constraints=(np.ones((3, 1, 3)), [0.0])), r"A \(3, 1, 3\)"),
    (lambda: ff.constrained_dynamics(CLOSED, np.tile(CLOSED.neutral, (2, 1)), np.zeros(18), np.zeros((3, 18)), constraints=HELD),
     r"q \(2, 83\), v \(18,\), tau \(3, 18\)$"),
])  # fmt: skip
def test_axes_that_do_not_broadcast_are_shown(call, words):
    refused(ff.InputError, f"do not broadcast together: .*{words}", call)


def test_positions_by_name_broadcast():
    assert ff.configuration(CHAIN).shape == (3,)
    assert ff.configuration(CHAIN, start=TWO).shape == (2, 3)
    assert ff.configuration(CHAIN, start=TWO, joint_1=1.0, joint_2=np.ones((4, 1))).shape == (4, 2, 3)
    assert ff.configuration(QUADRUPED, root_joint=np.tile(np.eye(7)[6], (2, 1, 1)), front_left_knee=np.ones(3)).shape == (2, 3, 19)
