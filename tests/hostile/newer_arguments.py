"""Arguments that no function of integration, linearisation, control, mechanisms and estimation can use, by kind of argument."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from bad_values import KINDS
from linkage_samples import four_bar
from seeds import fresh

import freeflyer as ff
from freeflyer import contacts, control, estimation, mechanisms
from freeflyer.papers.kangaroo import tracking_accuracy


@cache
def arm() -> ff.Model:
    """A floating arm with a ball joint: quaternions at 3 and 7."""
    return ff.robots.chain(3, ["spherical", "revolute", "prismatic"], base="free")


@dataclass(frozen=True, eq=False)
class Call:
    """A function, arguments with which it works, and the kinds of those that are replaced by bad ones."""

    function: Callable[..., Any]
    good: dict[str, Any]
    kinds: dict[str, str]


OTHER_WORDS = {"robot": ("Model",), "values": ("positions of", "stroke"), "policy": ("tau",)}


def calls() -> list[Call]:
    return [*tree_calls(), *closed_calls(), *control_calls(), *estimation_calls()]


def bad_calls(call: Call) -> Iterator[tuple[str, dict[str, Any], tuple[str, ...]]]:
    """(what, arguments, words of which the sentence must hold one) for each bad value of each argument."""
    parameters = inspect.signature(call.function).parameters
    for argument, kind in call.kinds.items():
        words = (argument, *("named" for _ in "n" if kind.startswith("name")), *OTHER_WORDS.get(argument, ()))
        for what, bad in KINDS[kind](call.good.get(argument)):
            if bad is None and (parameters[argument].default is None or argument == "u_dot"):
                continue
            yield f"{argument} = {what}", {**call.good, argument: bad}, words


def tree_calls() -> Iterator[Call]:
    model = arm()
    rng = fresh(0)
    q = ff.random_configuration(model, rng)
    v, a = rng.standard_normal((2, model.nv))
    state, kinds = {"model": model, "q": q, "v": v, "tau": a}, {"q": "posture", "v": "rates", "tau": "rates"}
    more = {"external": "wrenches", "gravity": "gravity", "integrator": "word"}
    yield Call(
        ff.step, {**state, "dt": 0.01, "integrator": "rk4"}, {**kinds, **more, "dt": "positive"}
    )
    yield Call(
        ff.linearize, {**state, "integrator": "explicit"}, {**kinds, **more, "frames": "names"}
    )
    yield Call(ff.linearize, {**state, "dt": 0.01, "frames": ("tip",)}, {"dt": "positive", "frames": "names"})
    yield Call(ff.integrate_derivatives, {"model": model, "q": q, "dv": v}, {"q": "posture", "dv": "rates"})
    yield Call(ff.difference_derivatives, {"model": model, "q0": q, "q1": q}, {"q0": "posture", "q1": "posture"})
    yield from state_calls(model, q, v, a)


def state_calls(model: ff.Model, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> Iterator[Call]:
    rates = {"v": "rates", "a": "rates", "tau": "rates"}
    yield Call(ff.passive_forces, {"model": model, "q": q, "v": v}, {"q": "posture", "v": "rates"})
    yield Call(ff.mujoco_velocity_map, {"model": model, "q": q}, {"q": "posture", "mj_model": "thing"})
    yield Call(ff.configuration, {"model": model, "start": q}, {"start": "posture", "positions": "thing"})
    state = {"model": model, "q": q, "v": v, "a": a, "tau": a, "bias_forces": a}
    yield Call(ff.to_mujoco, state, {"q": "posture", **rates, "bias_forces": "rates", "mj_model": "thing"})
    there = ff.to_mujoco(model, q, v, a, a)._asdict() | {"bias": a}
    kinds = {"qpos": "rates", "qvel": "rates", "qacc": "rates", "qfrc": "rates", "bias": "rates", "mj_model": "thing"}
    yield Call(ff.from_mujoco, {"model": model, **there}, kinds)


def closed_calls() -> Iterator[Call]:
    tree = four_bar()
    model = ff.close_loops(tree)
    split = mechanisms.partition(tree)
    q = np.array(split.q)
    u, w = fresh(0).standard_normal((2, len(split.independent)))
    v, a = mechanisms.whole_motion(model, q, u, w)
    for name in (
        "mass_matrix",
        "inverse_mass_matrix",
        "gravity_forces",
        "center_of_mass_jacobian",
        "centroidal_momentum_matrix",
    ):
        yield Call(
            getattr(ff, name),
            {"model": model, "q": q},
            {"q": "posture"},
        )
    for name in ("bias_forces", "coriolis_matrix", "kinetic_energy", "centroidal_momentum", "centroidal_bias"):
        yield Call(
            getattr(ff, name),
            {"model": model, "q": q, "v": u},
            {"q": "posture", "v": "rates"},
        )
    three = {"model": model, "q": q, "v": u}
    for name, last in (
        ("inverse_dynamics", "a"),
        ("forward_dynamics", "tau"),
        ("inverse_dynamics_derivatives", "a"),
        ("forward_dynamics_derivatives", "tau"),
        ("linearize", "tau"),
    ):
        yield Call(
            getattr(ff, name), {**three, last: w}, {"q": "posture", "v": "rates", last: "rates", "external": "wrenches"}
        )
    yield Call(
        ff.step, {**three, "tau": w, "dt": 0.01}, {"q": "posture", "v": "rates", "tau": "rates", "dt": "positive"}
    )
    yield Call(
        ff.integrate,
        {"model": model, "q": q, "dv": 0.01 * u},
        {"q": "posture", "dv": "rates"},
    )
    yield Call(
        ff.difference,
        {"model": model, "q0": q, "q1": q},
        {"q0": "posture", "q1": "posture"},
    )
    frame = {"model": model, "q": q, "frame": "tip"}
    yield Call(ff.frame_jacobian, frame, {"q": "posture", "frame": "name", "expressed": "word"})
    for name in ("frame_velocity", "frame_bias_acceleration"):
        yield Call(getattr(ff, name), {**frame, "v": u}, {"q": "posture", "v": "rates", "frame": "name"})
    model = tree
    one, two = {"model": model, "q": q}, {"model": model, "q": q, "v": v}
    for function in (
        mechanisms.constraint_residual,
        mechanisms.constraint_jacobian,
        mechanisms.mapping_jacobian,
        mechanisms.assemble,
        mechanisms.keep_closed,
    ):
        yield Call(function, one, {"q": "posture"})
    yield Call(
        mechanisms.assemble,
        {**one, "hold": ("c",)},
        {
            "hold": "names",
            "tolerance": "positive",
            "redundant": "positive",
            "attempts": "count",
            "branches": "count",
            "rng": "thing",
        },
    )
    for function in (mechanisms.constraint_bias, mechanisms.project_velocity, mechanisms.keep_closed):
        yield Call(function, two, {"q": "posture", "v": "rates"})
    yield Call(mechanisms.passive_velocities, {**one, "u": u}, {"q": "posture", "u": "rates"})
    for function in (mechanisms.passive_accelerations, mechanisms.whole_motion):
        yield Call(function, {**one, "u": u, "u_dot": w}, {"q": "posture", "u": "rates", "u_dot": "rates"})
    yield Call(mechanisms.independent_forces, {**one, "tau": v}, {"q": "posture", "tau": "rates"})
    yield Call(mechanisms.constraint_multipliers, {**two, "tau": a}, {"q": "posture", "v": "rates", "tau": "rates"})
    yield Call(mechanisms.constraint_multipliers, {**two, "a": a}, {"a": "rates"})
    yield Call(mechanisms.constrained_forward_dynamics, {**two, "tau": a}, {"q": "posture", "v": "rates", "tau": "rates"})
    yield Call(mechanisms.partition, one, {"q": "posture"})
    yield Call(mechanisms.mechanisms, one, {"q": "posture"})
    yield Call(mechanisms.motion_map, {"model": model, "split": split, "q": q[None]}, {"split": "thing", "q": "numbers"})
    yield Call(mechanisms.inside_limits, {"model": model, "q": q[None]}, {"q": "numbers", "slack": "scalar"})
    yield Call(mechanisms.extract_limb, {"model": model, "frame": "tip"}, {"frame": "name", "q": "numbers"})
    yield Call(
        mechanisms.first_singularity,
        {"model": model, "direction": {"c": 1.0}, "furthest": 1.0},
        {"direction": "thing", "furthest": "positive", "q": "numbers"},
    )
    yield Call(
        mechanisms.sweep, {"model": model, "axes": {"c": np.linspace(0.0, 0.1, 3)}}, {"axes": "thing", "q": "numbers"}
    )
    values = q[model.joint("c").iq] + np.linspace(0.0, 0.1, 4)
    yield Call(
        mechanisms.follow,
        {"model": model, "driver": "c", "values": values},
        {"driver": "name", "values": "numbers", "keep": "names", "hold": "names", "release": "names", "q": "numbers"},
    )
    path = mechanisms.follow(model, "c", values)
    yield Call(
        mechanisms.transmission_curve, {"model": model, "path": path, "joint": "r"}, {"path": "thing", "joint": "name"}
    )
    yield Call(
        mechanisms.force_curve,
        {"model": model, "path": path, "frame": "tip", "force": 10.0},
        {"path": "thing", "frame": "name", "force": "scalar", "direction": "numbers"},
    )


def control_calls() -> Iterator[Call]:
    model = ff.robots.space_manipulator()
    inputs = control.joint_inputs(model) + control.wrench_inputs(model, "satellite")
    q, n, m = ff.neutral(model), model.nv, inputs.count
    q[7:] = 0.3
    robot = {"model": model, "q": q, "inputs": inputs}
    costs = {"state_cost": np.ones(2 * n), "input_cost": np.ones(m)}
    yield Call(control.equilibrium, robot, {"q": "posture", "inputs": "thing", "gravity": "gravity"})
    yield Call(control.energy_costs, robot, {"q": "posture", "inputs": "thing", "bandwidth": "positive"})
    yield Call(
        control.lqr,
        {**robot, **costs, "dt": 0.01, "integrator": "explicit"},
        {
            "q": "posture",
            "inputs": "thing",
            "state_cost": "semiweight",
            "input_cost": "weight",
            "dt": "positive",
            "integrator": "word",
            "gravity": "gravity",
        },
    )
    yield Call(control.lqr, robot, {"bandwidth": "positive"})
    A, B, M = np.eye(2 * n), np.ones((2 * n, m)), np.eye(n)
    yield Call(
        control.controllability, {"model": model, "M": M, "A": A, "B": B}, {"M": "rates", "A": "rates", "B": "numbers"}
    )
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
            "model": model,
            "q": np.tile(q, (3, 1)),
            "v": np.zeros((3, n)),
            "u": u,
            "dt": 0.01,
            "inputs": inputs,
            **costs,
            "final_cost": np.ones(2 * n),
        },
        {
            "q": "posture",
            "v": "rates",
            "u": "rates",
            "dt": "positive",
            "inputs": "thing",
            "state_cost": "semiweight",
            "input_cost": "weight",
            "final_cost": "semiweight",
            "integrator": "word",
        },
    )
    yield Call(control.joint_inputs, {"model": model, "joints": (model.actuated[0],)}, {"joints": "names"})
    yield Call(control.wrench_inputs, {"model": model, "frame": "satellite"}, {"frame": "name"})
    yield Call(control.rotor_inputs, {"model": ff.robots.aerial_manipulator()}, {"drag": "scalar"})
    yield Call(
        control.thruster_inputs, {"model": model, "thrusters": {"satellite": np.eye(6)[0]}}, {"thrusters": "thing"}
    )
    held = control.lqr(**robot)
    for method in (held.error, held.command, held.tau):
        yield Call(method, {"q": q, "v": v}, {"q": "posture", "v": "rates"})


def estimation_calls() -> Iterator[Call]:
    model = four_bar()
    q = np.array(mechanisms.partition(model).q)
    robot = estimation.sensors(model)
    state = estimation.start(robot)
    x = q[robot.positions]
    yield Call(estimation.sensors, {"model": model}, {"also": "names", "rigid": "names"})
    yield Call(estimation.start, {"robot": model, "q": q}, {"robot": "thing", "q": "posture"})
    yield Call(
        estimation.step,
        {"robot": robot, "state": state, "positions": x, "rates": 0.1 * np.ones(1)},
        {
            "state": "thing",
            "positions": "rates",
            "rates": "rates",
            "dt": "positive",
            "alpha": "numbers",
            "beta": "numbers",
        },
    )
    yield Call(estimation.constraint_error, {"robot": robot, "q": q}, {"q": "posture"})
    zero = np.zeros(model.nv)
    yield Call(
        estimation.closed_torques,
        {"robot": robot, "q": q, "v": zero, "a": zero},
        {"q": "posture", "v": "rates"},
    )
    yield Call(tracking_accuracy.sinusoids, {"robot": robot}, {"seed": "seed", "share": "positive"})
    yield Call(
        tracking_accuracy.track,
        {"robot": robot, "duration": 1.5, "rate": 1000.0},
        {"encoder": "thing", "duration": "positive", "rate": "positive", "path": "thing", "seed": "seed"},
    )
    yield Call(
        estimation.calibrate,
        {"model": model, "encoders": {"r": q[model.joint("r").iq]}, "readings": np.zeros(1), "q": q},
        {
            "encoders": "thing",
            "readings": "rates",
            "q": "posture",
            "motors": "names",
            "rigid": "names",
            "tolerance": "positive",
            "limit": "count",
        },
    )
    yield Call(contacts.feet_of, {"model": model}, {})
    feet = contacts.feet_of(model)
    standing = estimation.contact_model(model, q)
    yield Call(estimation.contact_model, {"model": model, "q": q, "feet": feet}, {"q": "posture", "feet": "names"})
    found = estimation.ContactEstimate(np.ones((1, 6)), np.ones((2, 3)))
    for function in (estimation.world_wrenches, estimation.pressure_centers, estimation.zero_moment_point):
        yield Call(function, {"contacts": standing, "estimate": found}, {"contacts": "thing", "estimate": "thing"})
    for function in (estimation.pressure_centers, estimation.zero_moment_point):
        yield Call(function, {"contacts": standing, "estimate": found}, {"height": "scalar"})
    yield Call(
        estimation.contact_wrenches,
        {"contacts": standing, "tau": np.zeros(1)},
        {"contacts": "thing", "tau": "rates", "method": "word"},
    )
    yield Call(
        estimation.screw_force,
        {"torque": np.ones(2), "lead": 0.005},
        {"torque": "numbers", "lead": "numbers", "efficiency": "positive"},
    )
    yield Call(
        estimation.low_pass,
        {"x": np.ones((30, 2)), "rate": 100.0},
        {"x": "numbers", "rate": "positive", "cutoff": "positive"},
    )
