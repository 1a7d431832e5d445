"""Arguments with which every public function works, by the names of its parameters: calls that tests spoil and batch."""

import freeflyer as ff
import inspect
import numpy as np
from closeness import fresh
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from freeflyer import contacts, control, estimation, linkages, optimization, sim
from freeflyer.spatial import dual_quaternion, inertia, quaternion, se2, se3
from freeflyer_papers import constrained
from freeflyer_papers.estimation import estimators
from linkage_samples import four_bar
from public_names import public_functions
from typing import Any


@dataclass(frozen=True, eq=False)
class Call:
    """A function, and arguments with which it works; `quaternions` stand there in q."""

    function: Callable[..., Any]
    given: dict[str, Any]
    batches: bool = False
    quaternions: tuple[int, ...] = ()

    def result(self, **others: Any) -> list[np.ndarray]:
        """The arrays of its result, with some arguments replaced."""
        return list(arrays(self.run(**others)))

    def run(self, **others: Any) -> Any:
        given = {**self.given, **others}
        if self.function is ff.frame_set:
            return ff.frame_set(given["model"], *given["names"])
        return self.function(**given)

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        return {k: x for k, x in self.given.items() if isinstance(x, np.ndarray)}

    def of_state(self, lead: tuple[int, ...], k: tuple[int, ...]) -> "Call":
        """The same of one state of a batch."""
        return replace(self, given={name: x[k] if isinstance(x, np.ndarray) and x.shape[: len(lead)] == lead else x
                                    for name, x in self.given.items()})  # fmt: skip


def arrays(x: Any) -> Iterator[np.ndarray]:
    """The arrays of numbers in a result."""
    if isinstance(x, ff.AllTerms):
        x = tuple(getattr(x, name) for name, kind in vars(ff.AllTerms).items() if isinstance(kind, property))
    if isinstance(x, np.ndarray | np.generic | float | int) and np.asarray(x).dtype.kind in "biufc":
        yield np.asarray(x) + 0.0
    elif isinstance(x, tuple | list):
        for y in x:
            yield from arrays(y)
    elif is_dataclass(x) and not isinstance(x, ff.Model):
        for f in fields(x):
            yield from arrays(getattr(x, f.name))


# Functions of a robot: found by their signatures, called on a linkage that is open or closed, or on trees with quaternions.

ROBOT = ff.robots.chain(3, ["spherical", "helical", "planar"], base="free")  # nq 18, nv 16
TURNED = ff.robots.chain(
    3, ["spherical", "revolute", "planar"], base="free"
)  # for MuJoCo, which has no helical joint; same sizes
FIXED = ff.robots.chain(4)  # nq = nv: sizes alone do not distinguish q from v
STATES = {"q", "q0", "q1", "v", "a", "tau", "dv", "u", "u_dot", "weights", "along_q", "along_v", "along_a"}
COMMON: dict[str, Any] = {"frame": "tip", "dt": 1e-3, "link": "rocker", "mass": 0.5, "gravity": (0.0, 0.0, -5.0),
                          "joints": ("d",), "driver": "c", "motors": ("c",), "positions": (0.1,), "direction": {"c": 1.0},
                          "axes": {"c": np.linspace(0.0, 0.1, 3)}, "count": 2, "seed": 1, "by": "gauss"}  # fmt: skip
WHOLE = {  # functions of linkages whose v, a and tau are those of all joints, of closed models, too
    "linkages.constraint_bias", "linkages.constraint_multipliers", "linkages.reduce_forces", "linkages.keep_closed",
    "linkages.complete_velocity", "estimation.contact_model", "estimation.closed_torques",
}  # fmt: skip
STARTS_ITSELF = {"first_singularity", "sweep", "reachable_set", "follow", "extract_limb"}


def functions() -> dict[str, Callable[..., Any]]:
    """All public functions whose first argument is a robot, by room and name."""
    found = public_functions("model") | public_functions("robot")
    first: dict[int, str] = {}
    for name in found:
        first.setdefault(id(found[name]), name)
    other = (
        "robots.",
        "freeflyer_papers.planar.",
    )  # the first make the robot that they describe, the others take one in formulas
    kept = [name for name in first.values() if not name.startswith(other)]
    return {name: found[name] for name in sorted(kept, key=lambda x: x.rpartition(".")[::2])}


FUNCTIONS = functions()
OF_STATES = [  # top-level functions that take any tree, a state and nothing that belongs to one robot
    name for name, f in FUNCTIONS.items() if "." not in name and name != "normalize_configuration"
    and (needed := {p.name for p in list(inspect.signature(f).parameters.values())[1:]
                    if p.default is p.empty and p.kind is not p.VAR_POSITIONAL}) and needed <= STATES | {"frame", "dt"}
]  # fmt: skip


def model_call(name: str, model: ff.Model, lead: tuple[int, ...] = ()) -> Call:
    """A call that works, of a batch of states if `lead` says so."""
    rng, closed, short = fresh(), ff.close_loops(model), name.rsplit(".", 1)[-1]
    q = np.broadcast_to(closed.neutral, (*lead, model.nq)) + 0.0
    q = ff.integrate(closed, q, (0.05 if model.loops else 0.5) * rng.uniform(-1.0, 1.0, (*lead, closed.nv)))
    u, u_dot = rng.standard_normal((2, *lead, closed.nv))
    v, a = linkages.expand_motion(model.tree, q, u, u_dot) if model.loops else (u, u_dot)
    of_tree = name in WHOLE or not model.reduction
    state = {"q": q, "q0": q, "v": v if of_tree else u, "a": a if of_tree else u_dot, "dv": 0.01 * (v if of_tree else u),
             "tau": rng.standard_normal((*lead, model.tree.nv if of_tree else model.nv)), "u": u, "u_dot": u_dot,
             "q1": ff.integrate(closed, q, 0.3 * u)}  # fmt: skip
    state |= {k: rng.standard_normal((*lead, model.nv)) for k in ("weights", "along_q", "along_v", "along_a")}
    special = {k: x() for k, x in specials(model, closed, state, lead, rng).items() if k in (name, short)}
    own = special.get(name, special.get(short, {}))
    parameters = inspect.signature(FUNCTIONS[name]).parameters
    if "constraints" in parameters and parameters["constraints"].default is inspect.Parameter.empty:
        own = {"constraints": ff.ConstraintSet(model, contacts=[contacts.surface("bar_sole", at=np.eye(4))])} | own
    first = next(iter(parameters))
    wanted = {p for p, x in parameters.items() if x.default is x.empty} | {*own} | ({"along_q"} & {*parameters})
    wanted |= {"q"} & {*parameters} if short not in STARTS_ITSELF else set()
    given = {**COMMON, **state, **own}
    turned = tuple(j.iq + j.nq - 4 for j in model.joints if j.kind in ("free", "spherical"))
    chosen = {p: given[p] for p in parameters if p in wanted and given.get(p) is not None}
    return Call(FUNCTIONS[name], {first: own.get(first, model)} | chosen, True, turned)


def specials(model: ff.Model, closed: ff.Model, state: dict[str, Any], lead: tuple[int, ...], rng: np.random.Generator
             ) -> dict[str, Callable[[], dict[str, Any]]]:  # fmt: skip
    """Arguments that a function takes in its own way, by its name; that of a robot is None where others need it."""
    q, v, n = state["q"], state["v"], model.nv
    point = [contacts.point("tip")]
    at = lambda joint: closed.neutral[model.joint(joint).iq]
    inputs = lambda: control.joint_inputs(model, ("c",)) + control.wrench_inputs(model, "ground")
    path = lambda: linkages.follow(model, "c", at("c") + np.linspace(0.0, 0.1, 4))
    mujoco = lambda: ff.to_mujoco(model, *(state[k] for k in ("q", "v", "a", "tau")))._asdict()
    sensors = lambda: estimation.sensors(model)
    return {
        "velocity_map_bias": lambda: {"u": state["u"] if model.reduction else v},
        "random_configuration": lambda: {"rng": np.random.default_rng(0), "size": lead}, "frame_set": lambda: {"names": ("tip",)},
        "specialize": lambda: {"functions": ("center_of_mass",)},
        "lock_joints": lambda: {"joints": ()}, "constraint_multipliers": lambda: {"a": state["a"]}, "check": lambda: {"seed": 1},
        "manipulability": lambda: {"axes": {"c": np.linspace(0.0, 0.1, 3)}},
        "kinematic_chains": lambda: {"contacts": ff.ConstraintSet(model)},
        "controllability": lambda: {"M": np.eye(n), "A": np.eye(2 * n), "B": np.ones((2 * n, 1))},
        "unilateral_accelerations": lambda: {"inequalities": (np.eye(n)[:1], [0.0])},
        "unilateral_contacts": lambda: {"contacts": point},
        "express_wrenches": lambda: {"contacts": point, "wrenches": {"tip": np.ones((*lead, 6))}},
        "prescribed_motion": lambda: {"joint": "c", "position": 0.1, "velocity": 0.2, "acceleration": 0.3},
        "simulate": lambda: {"dt": 1e-3, "duration": 2e-3}, "thruster_inputs": lambda: {"thrusters": {"tip": np.eye(6)[0]}},
        "free_flight": lambda: {"duration": 2e-3, "q": None}, "first_singularity": lambda: {"furthest": 1.0},
        "blocks": lambda: {"matrix": rng.standard_normal((*lead, n, n))}, "external_internal": lambda: {"rows": (0,)},
        "center_of_mass_angle": lambda: {"path": np.stack([q, ff.integrate(closed, q, np.full(closed.nv, 0.02))])},
        "selected_posture": lambda: {"positions": (at("d") + 0.05,)}, "to_mujoco": lambda: {k: state[k] for k in ("v", "a", "tau")},
        "from_mujoco": lambda: {k: mujoco()[k] for k in ("qpos", "qvel", "qacc", "qfrc")},
        "configuration": lambda: {"positions": {"c": at("c") + 0.02}, "start": q},
        "constrained_inverse_dynamics": lambda: {"v": 0.0 * v, "a": 0.0 * state["a"]},  # what moves must move along them
        "inverse_kinematics": lambda: {"tasks": [control.CenterOfMassTask(ff.center_of_mass(model, closed.neutral))]},
        **{k: lambda: {"inputs": inputs()} for k in ("energy_costs", "equilibrium", "lqr")},
        "track": lambda: {"q": np.tile(closed.neutral, (3, 1)), "v": np.zeros((3, n)), "u": np.zeros((2, inputs().count)),
                          "dt": 0.01, "inputs": inputs(), "gravity": np.zeros(3)},
        "joint_inputs": lambda: {"joints": ("c",)}, "rotor_inputs": lambda: {"model": rotorcraft(model)},
        "update_passive_state": lambda: {
            "state": estimation.passive_state(sensors()),
            "positions": closed.neutral[sensors().positions], "rates": np.zeros(1),
        },
        "follow": lambda: {"values": at("c") + np.linspace(0.0, 0.1, 4)},
        "transmission_curve": lambda: {"path": path(), "joint": "r"},
        "force_curve": lambda: {"path": path(), "force": 10.0, "direction": (0.0, 0.0, 1.0)},
    }  # fmt: skip


def rotorcraft(model: ff.Model) -> ff.Model:
    d = model.tree.description
    made = ff.build(replace(d, sites=(*d.sites, ff.Site("rotor_1", "ground"))))
    return ff.close_loops(made) if model.reduction else made


def robot_of(name: str) -> ff.Model:
    return TURNED if "mujoco" in name else ROBOT


# Functions of `spatial`: by the names of their parameters in each module.


def numbers(*tail: int) -> Callable[[tuple[int, ...]], np.ndarray]:
    return lambda lead: fresh(sum(tail) + 11).standard_normal((*lead, *tail))


def turn(lead: tuple[int, ...]) -> np.ndarray:
    return quaternion.random(fresh(1), lead)


def pose(lead: tuple[int, ...]) -> np.ndarray:
    return se3.from_position_quaternion(numbers(3)(lead), turn(lead))


def body(lead: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mass, com, rotational of bodies that exist."""
    p = numbers(3, 3)(lead)
    return 1.0 + numbers()(lead) ** 2, numbers(3)(lead), np.eye(3) + p @ np.swapaxes(p, -1, -2)


three, six, pure = numbers(3), numbers(6), lambda lead: dual_quaternion.from_twist(numbers(6)(lead))
dual, R = lambda lead: dual_quaternion.from_pose(pose(lead)), lambda lead: quaternion.to_matrix(turn(lead))
word = lambda x: lambda lead: x
EVERYWHERE = {
    **dict.fromkeys(("position", "vector", "rotation_vector", "axis", "rpy"), three), **dict.fromkeys(("angle", "t"), numbers()),
    **dict.fromkeys(("twist", "wrench", "rate"), six), **dict.fromkeys(("X", "X0", "X1", "X_AB", "X_WB"), pose),
    **dict.fromkeys(("q", "q0", "q1"), turn), **dict.fromkeys(("R", "rotation"), R), "source": word("mixed"),
    "target": word("world"), "expressed": word("world"), "matrix": lambda lead: se3.hat(six(lead)),
    **{name: lambda lead, k=k: body(lead)[k] for k, name in enumerate(("mass", "com", "rotational"))},
    "spatial": lambda lead: inertia.matrix(*body(lead)), "ten": lambda lead: inertia.parameters(*body(lead)),
}  # fmt: skip
OF_MODULE = {
    "quaternion": dict.fromkeys("ab", turn), "twist": dict.fromkeys("ab", six),
    "se2": {"position": numbers(2), "twist": three, "X": lambda lead: se2.exp(three(lead))},
    "dual_quaternion": {**dict.fromkeys(("x", "x0", "x1"), dual), **dict.fromkeys(("h", "a", "b", "twist", "wrench", "rate"), pure),
                        "entries": six},
    "from_twist": {"twist": six}, "from_wrench": {"wrench": six}, "from_vec8": {"entries": numbers(8)},
}  # fmt: skip
ELSEWHERE = {  # takes a generator; takes a line, direction and moment at a right angle: tested with their modules
    "spatial.quaternion.random", "spatial.dual_quaternion.from_screw_parameters",
}  # fmt: skip
SPATIAL_FUNCTIONS = {k: f for k, f in public_functions().items() if k.startswith("spatial.") and k not in ELSEWHERE}


def spatial_call(name: str, lead: tuple[int, ...] = ()) -> Call:
    _, module, short = name.split(".")
    known = EVERYWHERE | OF_MODULE.get(module, {}) | OF_MODULE.get(short, {})
    parameters = inspect.signature(SPATIAL_FUNCTIONS[name]).parameters.values()
    return Call(SPATIAL_FUNCTIONS[name], {
        p.name: x if isinstance(x := known[p.name](lead), str) else np.asarray(x) for p in parameters if p.default is p.empty
    }, True)  # fmt: skip


# Whatever else takes arguments: constructors, solvers, references, methods of what they make.


def other_calls() -> Iterator[Call]:
    yield from robot_calls()
    yield from walking_calls()
    yield from estimation_calls()
    yield from contact_calls()
    for robot, given in (("chain", {"n": 3}), ("humanoid", {"dof": 33}), ("aerial_manipulator", {}), ("prismatic_hopper", {}),
                         ("revolute_hopper", {}), ("standing_posture", {"model": ff.robots.humanoid()})):  # fmt: skip
        yield Call(getattr(ff.robots, robot), given)
    yield Call(constrained.DriftControl, {"time": 0.1})


def robot_calls() -> Iterator[Call]:
    model = ff.robots.space_manipulator()
    inputs = control.joint_inputs(model) + control.wrench_inputs(model, "satellite")
    q, n, m = ff.neutral(model), model.nv, inputs.count
    q[7:] = 0.3
    robot, turned = {"model": model, "q": q, "inputs": inputs}, (3,)
    costs = {"state_cost": np.ones(2 * n), "input_cost": np.ones(m)}
    yield Call(control.lqr, {**robot, **costs, "dt": 0.01, "integrator": "explicit"}, quaternions=turned)
    v, tau = np.zeros(n), np.zeros(n)
    law = {"inputs": lambda t, q, v: tau, "dt": 0.01, "duration": 0.02}
    yield Call(sim.simulate, {"model": model, "q": q, "v": v, **law}, True, turned)
    path = {"q": np.tile(q, (3, 1)), "v": np.zeros((3, n)), "u": np.zeros((2, m))}
    yield Call(control.track, {"model": model, **path, "dt": 0.01, "inputs": inputs, **costs, "final_cost": np.ones(2 * n)}, True,
               turned)  # fmt: skip
    held = control.lqr(**robot)
    for method in (held.error, held.command, held.tau):
        yield Call(method, {"q": q, "v": v}, True, turned)
    square = {"H": np.eye(2), "g": np.ones(2), "A": np.ones((1, 2)), "lower": -np.ones(1), "upper": np.ones(1)}
    yield Call(optimization.solve_qp, {**square, "x_lower": -np.ones(2), "x_upper": np.ones(2)})
    yield Call(optimization.nearest, {"point": np.ones(2), **{k: square[k] for k in ("A", "lower", "upper")}})
    yield Call(optimization.solve_hierarchy, {"levels": [(np.eye(2), np.ones(2), np.ones(2))]})


def walking_calls() -> Iterator[Call]:
    model = ff.robots.humanoid()
    q, v = ff.robots.standing_posture(model), np.zeros(model.nv)
    robot = {"model": model, "q": q, "v": v}
    yield Call(control.capture_point, robot, True, (3,))
    yield Call(control.capture_margin, robot, True, (3,))
    yield Call(control.max_push_impulse, {**robot, "angles": np.zeros(3)}, True, (3,))
    ends = {"start": np.zeros(3), "end": np.ones(3), "duration": 1.0}
    yield Call(control.MinimumJerkReference, ends)
    yield Call(control.SinusoidReference, {"center": np.zeros(3), "amplitude": np.ones(3), "frequency": 1.0, "ramp": 1.0})
    yield Call(control.WaypointReference, {"times": np.arange(3.0), "waypoints": np.ones((3, 2))})
    yield Call(control.move_pose, {"start": np.eye(4), "end": np.eye(4), "duration": 1.0})
    feet = contacts.anchored_feet(model, q)
    yield Call(control.support_polygon, {"feet": feet})
    steps = {"feet": feet, "step_length": 0.2, "steps": 3}
    yield Call(control.walk_forward, steps)
    gait = {"period": 1.6, "duty": 0.6, "phases": np.array([0.0, 0.5])}
    yield Call(control.Gait, gait)
    yield Call(control.gait_footsteps, {"feet": feet, "gait": control.Gait(**gait)})
    yield Call(control.Gait.named, {"name": "trot", "height": 0.3})
    yield Call(control.walking_dcm, {"footsteps": control.walk_forward(**steps), "height": 0.8})
    knots = {"times": np.array([0.0, 1.0]), "zmp": np.zeros((2, 3)), "height": 0.8}
    yield Call(control.dcm_plan, knots)
    yield Call(control.track_dcm, {"plan": control.dcm_plan(**knots), "t": 0.5, "position": np.zeros(3), "velocity": np.zeros(3)})
    yield Call(control.CenterOfMassTask, {"target": np.zeros(3)})
    yield Call(control.CentroidalMomentumTask, {"target": np.zeros(6)})
    yield Call(control.PostureTask, {"target": q})
    for task, target in (("Position", np.zeros(3)), ("Orientation", np.eye(3)), ("Pose", np.eye(4))):
        yield Call(getattr(control, f"Frame{task}Task"), {"frame": "left_sole", "target": target})
    yield Call(control.WholeBodyProblem, {"model": model, "tasks": [control.PostureTask(q)], "contacts": feet})
    yield Call(control.JointLimits, {"dt": 0.01})
    yield Call(control.NormalForceLimits, {"contact": "left_sole", "upper": 300.0})
    yield Call(control.AccelerationLimits, {"bound": np.ones(model.nv)})


def estimation_calls() -> Iterator[Call]:
    model = four_bar()
    q = np.array(linkages.partition(model).q)
    robot = estimation.sensors(model)
    yield Call(estimators.sinusoids, {"robot": robot})
    yield Call(estimators.track, {"robot": robot, "duration": 1.5, "rate": 1000.0})
    yield Call(estimation.calibrate, {"model": model, "encoders": {"r": q[model.joint("r").iq]}, "readings": np.zeros(1), "q": q},
               quaternions=(3,))  # fmt: skip
    found = {"contacts": estimation.contact_model(model, q),
        "estimate": estimation.ContactEstimate(np.ones((1, 6)), np.ones((2, 3)))}  # fmt: skip
    for function in (estimation.world_wrenches, estimation.pressure_centers, estimation.zero_moment_point):
        yield Call(function, found)
    chain = ff.robots.chain(6)
    q = np.full(6, 0.3)
    yield Call(estimation.contact_wrenches, {"contacts": estimation.contact_model(chain, q, [contacts.surface("tip")]), "tau": q})
    yield Call(estimation.screw_force, {"torque": np.ones(2), "lead": np.full(2, 0.005)})
    yield Call(estimation.low_pass, {"x": np.ones((30, 2)), "rate": 100.0})


def contact_calls() -> Iterator[Call]:
    points = np.array([[0.1, 0.0, 0.0], [-0.1, 0.05, 0.0], [0.0, -0.1, 0.0]])
    yield Call(contacts.point, {"frame": "tip", "point": np.zeros(3)})
    yield Call(contacts.line, {"frame": "tip", "points": points[:2]})
    yield Call(contacts.surface, {"frame": "tip", "points": points})
    yield Call(contacts.contact_from_points, {"frame": "tip", "points": points})
    yield Call(contacts.rolling, {"frame": "tip", "radius": 0.1})
    yield Call(ff.ConstraintSet, {"model": four_bar(), "contacts": [contacts.surface("bar_sole")]})
    yield Call(sim.unilateral_events, {"stance": ff.ConstraintSet(four_bar(), contacts=[contacts.surface("bar_sole")])})
    yield Call(sim.Ground, {})
    yield Call(sim.Sensing, {})
    yield Call(sim.Servos, {})


def close_to_states(call: Call, lead: tuple[int, ...], tolerance: float = 1e-9, least: float = 1.0) -> None:
    """Asserts that the result of a batch is those of its states."""
    batch = call.result()
    for k in np.ndindex(lead):
        for whole, alone in zip(batch, call.of_state(lead, k).result(), strict=True):
            part = whole if whole.shape == alone.shape else whole[k]
            assert np.allclose(part, alone, rtol=tolerance, atol=tolerance * max(least, np.abs(alone).max(initial=0.0))), k
