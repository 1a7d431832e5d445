"""Every argument of every public function is refused by its name if it cannot be used, before anything is computed."""

import freeflyer as ff
import inspect
import numpy as np
import pytest
import traceback
from bad_values import bad_calls, kind_of
from closeness import refused
from freeflyer.model.public import public
from public_names import public_functions
from samples import FUNCTIONS, OF_STATES, SPATIAL_FUNCTIONS, Call, model_call, other_calls, robot_of, spatial_call
from test_every_function import REASONS, modelled, reason

OTHERS = {f"{k}-{call.function.__name__}": call for k, call in enumerate(other_calls())}
BY_HAND = {call.function for call in OTHERS.values()}
OWN_TESTS = {  # besides those that `REASONS` names
    "to_mjcf": "model/test_writers_files.py", "to_urdf": "model/test_writers_files.py",
}  # fmt: skip
TRIED = [name for name in FUNCTIONS if "all" not in REASONS.get(name, {}) and name not in OWN_TESTS]
CASES = {**{name: name for name in TRIED}, **{f"{name} of quaternions": name for name in OF_STATES},
         **{name: name for name in SPATIAL_FUNCTIONS}, **{name: name for name in OTHERS}}  # fmt: skip
OTHER_WORDS = {  # that name the argument as well
    "model": ("the first argument of", "Model"), "values": ("positions of", "stroke"),
    "constraints": ("A must hold", "ConstraintSet"), "inequalities": ("A cannot be", "A must hold"), "configuration": ("q ",),
    "external": ("no frame is named", "the wrench on 'tip'"), "tau": ("the state and of the wrenches",),
    "frames": ("no frame is named",), "feet": ("no frame is named",), "robot": ("Model",), "inputs": ("tau",), "X_AB": ("X ",),
    "x_lower": ("lower limit",), "x_upper": ("upper limit",), "levels": ("level 0",), "locks": ("no joint is named",),
}  # fmt: skip
MEANT = {  # what it makes right; complex numbers, for steps; the base; lists of constraint sets; bounds that are none; lists
    ("normalize_configuration", "q"), ("symbolic.parameters", "gravity"), ("decoupling.external_velocity", "frame"),
    ("freeflyer_papers.constrained.accelerations", "constraints"), ("spatial.consistency.check", "tolerance"),
    ("freeflyer_papers.constrained.unilateral_accelerations", "inequalities"), *(("solve_qp", f"{x}{y}") for x in ("", "x_")
    for y in ("lower", "upper")), ("nearest", "lower"), ("nearest", "upper"), ("SinusoidReference", "end"),
    ("AccelerationLimits", "bound"), ("Ground", "height"), ("linkages.force_curve", "force"),
}  # fmt: skip
FOUND_LATER = {
    "frame",
    "contact",
    "weight",
}  # parameters of tasks, limits and contacts: names that a problem knows, and its sizes

MODEL, Q = ff.robots.chain(3), np.zeros(3)


def call_of(case: str) -> Call:
    name = CASES[case]
    if name in OTHERS:
        return OTHERS[name]
    if name in SPATIAL_FUNCTIONS:
        return spatial_call(name)
    if case != name:
        return model_call(name, robot_of(name))
    column = "tree, batch" if reason(name, "closed, one state") else "closed, batch"
    call = model_call(name, modelled(column))
    return Call(call.function, call.given, not reason(name, column) or name in TAKE_BATCHES, call.quaternions)


TAKE_BATCHES = {  # in a way of their own
    "estimation.passive_state", "estimation.update_passive_state", "linkages.assemble", "sim.simulate",
}  # fmt: skip


def leaks_of(call: Call) -> list[str]:
    """Bad arguments that end otherwise than in an error of ours whose sentence names them."""
    leaks = []
    for what, name, bad in bad_calls(call):
        of_names = kind_of(inspect.signature(call.function).parameters[name]).startswith("name")
        words = (name, *OTHER_WORDS.get(name, ()), *["named"] * of_names)
        shapes = ["broadcast", *(str(x.shape[:-1]).rstrip(",)") for x in bad.values())] if "beside" in what else []
        kept = bad.tobytes() if isinstance(bad, np.ndarray) and bad.dtype != object else None
        try:
            call.run(**(bad if "beside" in what else {name: bad}))
        except ff.FreeflyerError as error:
            if len(str(error)) < 20 or not any(x in str(error) for x in words) or not all(x in str(error) for x in shapes):
                leaks.append(f"{name} = {what}: the sentence does not name it: {error}")
        except Exception as error:
            leaks.append(f"{name} = {what}: {type(error).__name__}: {error}")
        else:
            leaks.append(f"{name} = {what}: accepted")
        if kept is not None and bad.tobytes() != kept:
            leaks.append(f"{name} = {what}: written to")
    return leaks


def is_meant(case: str, argument: str) -> bool:
    return (CASES[case].partition("-")[2] or CASES[case], argument) in MEANT or (case in OTHERS and argument in FOUND_LATER)


@pytest.mark.parametrize("case", CASES)
def test_bad_arguments_are_refused(case: str) -> None:
    call = call_of(case)
    before = {name: x.copy() for name, x in call.arrays.items()}
    call.run()
    leaks = leaks_of(call)
    leaks = [x for x in leaks if not (x.endswith(": accepted") and is_meant(case, x.partition(" = ")[0]))]
    assert not leaks, "\n".join(leaks)
    for name, x in call.arrays.items():
        np.testing.assert_array_equal(x, before[name], f"{name} was written to")


ON_SETS = {"q", "q0", "q1", "R", "rotation", "X", "X0", "X1", "X_AB", "X_WB", "x", "x0", "x1", "rotational"}
OF_ANY_LENGTH = {f"spatial.quaternion.{x}" for x in ("conjugate", "normalize", "from_wxyz", "to_wxyz")}


@pytest.mark.parametrize("name", [x for x in SPATIAL_FUNCTIONS if x not in OF_ANY_LENGTH])
def test_what_is_off_its_set_is_refused(name: str) -> None:
    """Scaled rotations, quaternions off the sphere, unsymmetric inertias: with their index."""
    call = spatial_call(name, (3,))
    for argument in ON_SETS & {*call.arrays}:
        bad = call.given[argument].copy()
        if argument == "rotational":
            bad[1, 0, 1] += 0.1
        else:
            bad[1] *= 1.0 + 1e-5
        refused(ff.InputError, r"index \(1,\)", call.run, **{argument: bad})


def test_no_function_is_left_out() -> None:
    """A new function is tried here, or has a reason why not."""
    mine = ("robots.", "analysis.", "plots.", "report.", "export.", "symbolic.", "freeflyer_papers.", "spatial.")
    tried = {FUNCTIONS[name] for name in TRIED} | BY_HAND
    why = {name for name, x in REASONS.items() if "all" in x} | {*OWN_TESTS, *LEFT}
    assert {name for name, f in public_functions().items() if f not in tried and not name.startswith(mine)} <= why


LEFT = {  # take a file or no argument of their own, or parts of one robot
    "load", "build", "sim.load", "control.read_problem", "control.run_scenario", "sim.simulate_in_mujoco", "get_threads",
    "set_threads", "optimization.solvers", "linkages.extract_configuration", "linkages.embed_configuration",
    "viewer.play", "viewer.record",
}  # fmt: skip


@pytest.mark.parametrize("bad", [None, "robot.urdf", Q, ff.Model], ids=str)
def test_no_model_where_others_are_taken_too(bad, tmp_path):
    """By writers, which take descriptions, and by functions whose other arguments are wrong, too."""
    for call in (lambda: ff.to_urdf(bad, tmp_path / "robot.urdf"), lambda: ff.to_mjcf(bad, tmp_path / "robot.xml")):
        refused(ff.InputError, "expected a Model or ", call)
    error = refused(ff.InputError, "the first argument of mass_matrix must be a freeflyer Model", ff.mass_matrix, bad, "x")
    assert error.__suppress_context__


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
    assert (sample(MODEL), sample(MODEL, x=2.0), sample.__doc__) == (4.0, 5.0, "What is decorated.")
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
    (lambda: ff.from_mujoco(CHAIN, TWO, TWO, qfrc=THREE), r"qpos \(2, 3\), qvel \(2, 3\), qfrc \(3, 3\)$"),
    (lambda: pinocchio(lambda pin: ff.to_pinocchio(CHAIN, pin, TWO, THREE)), r"q \(2, 3\), v \(3, 3\)$"),
    (lambda: pinocchio(lambda pin: ff.from_pinocchio(CHAIN, pin, TWO, THREE)), r"q \(2, 3\), v \(3, 3\)$"),
    (lambda: ff.constrained_dynamics(CHAIN, TWO, TWO, THREE, constraints=(ROW, [0.0])), r"v \(2, 3\), tau \(3, 3\)$"),
    (lambda: ff.constrained_dynamics(CHAIN, TWO, TWO, TWO, constraints=(np.ones((3, 1, 3)), [0.0])), r"A \(3, 1, 3\)"),
    (lambda: ff.gravity_forces(CHAIN, TWO, gravity=THREE), r"q \(2, 3\), gravity \(3, 3\)$"),
])  # fmt: skip
def test_axes_that_do_not_broadcast_are_shown(call, words):
    refused(ff.InputError, f"do not broadcast together: .*{words}", call)


def test_positions_by_name_broadcast():
    assert (ff.configuration(CHAIN).shape, ff.configuration(CHAIN, start=TWO).shape) == ((3,), (2, 3))
    assert ff.configuration(CHAIN, start=TWO, joint_1=1.0, joint_2=np.ones((4, 1))).shape == (4, 2, 3)
    assert ff.configuration(QUADRUPED, root_joint=np.tile(np.eye(7)[6], (2, 1, 1)),
        front_left_knee=np.ones(3)).shape == (2, 3, 19)  # fmt: skip
