"""Arguments that optional costs, controllers, contacts and estimators cannot use: calls that signatures do not tell how to make."""

import freeflyer as ff
import inspect
import numpy as np
from bad_values import KINDS
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from freeflyer import control, estimation, linkages
from freeflyer_papers.estimation import estimators
from linkage_samples import four_bar
from typing import Any


@dataclass(frozen=True, eq=False)
class Call:
    """A function, arguments with which it works, and the kinds of those that are replaced by bad ones."""

    function: Callable[..., Any]
    good: dict[str, Any]
    kinds: dict[str, str]


OTHER_WORDS = {"robot": ("Model",), "policy": ("tau",)}


def calls() -> list[Call]:
    return [*control_calls(), *walking_calls(), *estimation_calls()]


def bad_calls(call: Call) -> Iterator[tuple[str, dict[str, Any], tuple[str, ...]]]:
    """(what, arguments, words of which the sentence must hold one) for each bad value of each argument."""
    parameters = inspect.signature(call.function).parameters
    for argument, kind in call.kinds.items():
        words = (argument, *("named" for _ in "n" if kind.startswith("name")), *OTHER_WORDS.get(argument, ()))
        for what, bad in KINDS[kind](call.good.get(argument)):
            if bad is None and parameters[argument].default is None:
                continue
            yield f"{argument} = {what}", {**call.good, argument: bad}, words


def control_calls() -> Iterator[Call]:
    model = ff.robots.space_manipulator()
    inputs = control.joint_inputs(model) + control.wrench_inputs(model, "satellite")
    q, n, m = ff.neutral(model), model.nv, inputs.count
    q[7:] = 0.3
    robot = {"model": model, "q": q, "inputs": inputs}
    costs = {"state_cost": np.ones(2 * n), "input_cost": np.ones(m)}
    yield Call(
        control.lqr, {**robot, **costs, "dt": 0.01, "integrator": "explicit"},
        {
            "q": "posture", "inputs": "thing", "state_cost": "semiweight", "input_cost": "weight", "dt": "positive",
            "integrator": "word", "gravity": "gravity",
        },
    )  # fmt: skip
    yield Call(control.lqr, robot, {"bandwidth": "positive"})
    v, tau = np.zeros(n), np.zeros(n)
    yield Call(
        ff.sim.simulate,
        {"model": model, "q": q, "v": v, "inputs": lambda t, q, v: tau, "dt": 0.01, "duration": 0.02},
        {"q": "posture", "v": "rates", "inputs": "policy", "dt": "positive", "duration": "positive", "integrator": "word"},
    )
    u = np.zeros((2, m))
    yield Call(
        control.track,
        {
            "model": model, "q": np.tile(q, (3, 1)), "v": np.zeros((3, n)), "u": u, "dt": 0.01, "inputs": inputs,
            **costs, "final_cost": np.ones(2 * n),
        },
        {
            "q": "posture", "v": "rates", "u": "rates", "dt": "positive", "inputs": "thing", "state_cost": "semiweight",
            "input_cost": "weight", "final_cost": "semiweight", "integrator": "word",
        },
    )  # fmt: skip
    held = control.lqr(**robot)
    for method in (held.error, held.command, held.tau):
        yield Call(method, {"q": q, "v": v}, {"q": "posture", "v": "rates"})


def walking_calls() -> Iterator[Call]:
    model = ff.robots.humanoid()
    q, v = ff.robots.standing_posture(model), np.zeros(model.nv)
    robot, state = {"model": model, "q": q, "v": v}, {"q": "posture", "v": "rates", "feet": "thing"}
    for function in (control.capture_point, control.capture_margin):
        yield Call(function, robot, state)
    yield Call(control.max_push_impulse, {**robot, "angles": np.zeros(3)}, {**state, "angles": "numbers"})
    ends = {"start": np.zeros(3), "end": np.ones(3), "duration": 1.0}
    yield Call(control.MinimumJerkReference, ends, {"start": "rates", "end": "rates", "duration": "positive", "begin": "scalar"})
    swing = {"center": np.zeros(3), "amplitude": np.ones(3), "frequency": 1.0, "ramp": 1.0}
    times = {"duration": "positive", "begin": "scalar"}
    yield Call(control.SinusoidReference, swing, {"center": "rates", "frequency": "positive", "ramp": "positive"})
    yield Call(control.move_pose, {"start": np.eye(4), "end": np.eye(4), "duration": 1.0}, times)
    feet = ff.contacts.anchored_feet(model, q)
    steps = {"feet": feet, "step_length": 0.2, "steps": 3}
    numbers = {"step_duration": "positive", "rest_duration": "positive", "step_length": "scalar", "begin": "scalar"}
    yield Call(control.walk_forward, steps, {"feet": "thing", "steps": "count", "clearance": "scalar", **numbers})
    gait = {"period": 1.6, "duty": 0.6, "phases": np.array([0.0, 0.5])}
    yield Call(control.Gait, gait, {"period": "positive", "duty": "positive", "phases": "numbers"})
    speeds = {"speed": "scalar", "lateral": "scalar", "turning": "scalar", "cycles": "count", "rest_duration": "positive"}
    yield Call(control.gait_footsteps, {"feet": feet, "gait": control.Gait(**gait)}, {"feet": "thing", "gait": "thing", **speeds})
    yield Call(control.Gait.named, {"name": "trot", "height": 0.3}, {"name": "word", "height": "positive", "feet": "count"})
    walk = control.walk_forward(**steps)
    yield Call(control.walking_dcm, {"footsteps": walk, "height": 0.8}, {"footsteps": "thing", "height": "positive"})
    knots = {"times": np.array([0.0, 1.0]), "zmp": np.zeros((2, 3)), "height": 0.8}
    yield Call(control.dcm_plan, knots, {"times": "rates", "zmp": "rates", "height": "positive"})
    tracked = {"plan": control.dcm_plan(**knots), "t": 0.5, "position": np.zeros(3), "velocity": np.zeros(3)}
    kinds = {"plan": "thing", "t": "scalar", "position": "rates", "velocity": "rates", "gain": "positive"}
    yield Call(control.track_dcm, tracked, kinds)


def estimation_calls() -> Iterator[Call]:
    model = four_bar()
    q = np.array(linkages.partition(model).q)
    robot = estimation.sensors(model)
    yield Call(estimators.sinusoids, {"robot": robot}, {"seed": "seed", "share": "positive"})
    yield Call(estimators.track, {"robot": robot, "duration": 1.5, "rate": 1000.0},
               {"encoder": "thing", "duration": "positive", "rate": "positive", "path": "thing", "seed": "seed"})  # fmt: skip
    yield Call(
        estimation.calibrate,
        {"model": model, "encoders": {"r": q[model.joint("r").iq]}, "readings": np.zeros(1), "q": q},
        {
            "encoders": "thing", "readings": "rates", "q": "posture", "motors": "names", "rigid": "names",
            "tolerance": "positive", "limit": "count",
        },
    )  # fmt: skip
    standing = estimation.contact_model(model, q)
    found = estimation.ContactEstimate(np.ones((1, 6)), np.ones((2, 3)))
    for function in (estimation.world_wrenches, estimation.pressure_centers, estimation.zero_moment_point):
        yield Call(function, {"contacts": standing, "estimate": found}, {"contacts": "thing", "estimate": "thing"})
    for function in (estimation.pressure_centers, estimation.zero_moment_point):
        yield Call(function, {"contacts": standing, "estimate": found}, {"height": "scalar"})
    yield Call(estimation.contact_wrenches, {"contacts": standing, "tau": np.zeros(1)},
               {"contacts": "thing", "tau": "rates", "method": "word"})  # fmt: skip
    yield Call(estimation.screw_force, {"torque": np.ones(2), "lead": 0.005},
               {"torque": "numbers", "lead": "numbers", "efficiency": "positive"})  # fmt: skip
    yield Call(estimation.low_pass, {"x": np.ones((30, 2)), "rate": 100.0},
               {"x": "numbers", "rate": "positive", "cutoff": "positive"})  # fmt: skip
