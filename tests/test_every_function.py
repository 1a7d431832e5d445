"""Every public function that takes a robot, on a tree and with its loops closed, for one state and for a batch.

    python tests/test_every_function.py        writes docs/functions.md, the table of what works, and why where something does not

Functions are found by their signatures: a new one fails here until it works for all four, or has a reason why it does not.
"""

import freeflyer as ff
import inspect
import numpy as np
import pytest
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from freeflyer import control, estimation, linkages
from linkage_samples import four_bar
from pathlib import Path
from public_names import public_functions
from seeds import fresh
from typing import Any

TABLE = Path(__file__).parents[1] / "docs" / "functions.md"
STATES = 3
COLUMNS = ("tree, one state", "tree, batch", "closed, one state", "closed, batch")

# arguments other than states: of the function, or of any that has an argument of that name
COMMON: dict[str, Any] = {"frame": "tip", "dt": 1e-3, "link": "rocker", "mass": 0.5, "gravity": (0.0, 0.0, -5.0),
                          "joints": ("d",), "driver": "c", "motors": ("c",), "positions": (0.1,), "direction": {"c": 1.0},
                          "axes": {"c": np.linspace(0.0, 0.1, 3)}, "count": 2, "seed": 1, "by": "gauss"}  # fmt: skip
WHOLE = {  # functions of mechanisms whose v, a and tau are those of all joints, of closed models, too
    "constraint_bias", "constraint_multipliers", "reduce_forces", "keep_closed",
    "complete_velocity", "contact_model", "closed_torques",
}  # fmt: skip
ONE = "takes one posture a call"
SET = "its result does not depend on the state"
CUT = "makes no sense on a tree whose loops are open, so it is refused there with the way to close them"
FEET, TESTED = "takes a robot that stands on its feet, and is tested in tests/control/test_{}.py", ", and is tested in tests/{}"
REASONS: dict[str, dict[str, str]] = {}  # by name: of all columns, of batches or of columns
for column, why, room, short in (
    ("batch", ONE, "linkages.", "assemble extract_limb first_singularity follow force_curve manipulability mechanisms partition "
     "reachable_set selected_posture sweep transmission_curve"),
    ("tree", CUT, "control.", "energy_costs equilibrium inverse_kinematics lqr track"),
    ("batch", ONE, "control.", "energy_costs equilibrium inverse_kinematics lqr track"),
    ("batch", SET, "control.", "controllability kinematic_chains joint_inputs rotor_inputs thruster_inputs wrench_inputs"),
    ("batch", ONE, "estimation.", "calibrate closed_torques contact_history contact_model passive_state update_passive_state "
     "select_encoders"),
    ("all", FEET.format("capture"), "control.", "capture_margin capture_point max_push_impulse stand_on_feet"),
    ("all", FEET.format("pushes"), "control.", "survives_push push_boundary random_pushes"),
    ("batch", SET, "", "estimation.sensors contacts.feet_by_name symbolic.variables"),
    ("batch", "takes one path (k, nq)", "decoupling.", "center_of_mass_angle"),
    ("batch", ONE, "", "contacts.anchored_feet formulations.constrained.unilateral_accelerations sim.mujoco_plant"),
    ("all", "takes a base on a planar joint" + TESTED.format("formulations/test_constrained_motion.py"), "",
     "formulations.constrained.differential_drive"),
    ("closed", "takes the tree, its loops among the constraints", "formulations.constrained.", "prescribed_motion"),
    ("batch", SET, "analysis.", "check conditioning free_fall identities linkages matrices middle_posture overview"),
    ("batch", SET, "", "attach_payload close_loops frame_set lock_joints merge_fixed neutral specialize"),
    ("batch", SET, "", "to_mjcf to_urdf with_gravity"),
    ("batch", ONE, "analysis.", "free_flight"),
    ("all", "runs for minutes" + TESTED.format("report/test_report.py"), "report.", "report"),
    ("all", "reads a file beside the model" + TESTED.format("estimation"), "contacts.", "feet_from_file"),
    ("all", "runs for minutes" + TESTED.format("estimation"), "estimation.", "contact_history"),
    ("all", "takes readings made for its robot" + TESTED.format("estimation"), "estimation.", "calibrate"),
    ("all", "compiles a library" + TESTED.format("export"), "export.", "export"),
    ("all", "takes three motors at least" + TESTED.format("linkages"), "linkages.", "manipulability"),
    ("all", "takes two motors and two joints" + TESTED.format("linkages"), "linkages.", "reachable_set"),
    ("closed", "its symbols are those of a tree", "symbolic.", "variables"),
    ("all", "takes a robot of Pinocchio's" + TESTED.format("dynamics/test_pinocchio_states.py"), "", "from_pinocchio to_pinocchio"),
    ("batch", "samples come first, (T, ..., nq)" + TESTED.format("sim"), "sim.", "simulate"),
    ("all", "takes a leg that hops" + TESTED.format("papers/test_hopping.py"), "freeflyer_papers.hopping.", "hop_start"),
    ("all", "takes a run of its robot" + TESTED.format("sim"), "sim.", "replay"),
    ("all", "takes feet whose points are on no line" + TESTED.format("estimation"), "estimation.", "base_over_soles"),
):  # fmt: skip
    for name in short.split():
        REASONS.setdefault(room + name, {})[column] = why


def functions() -> dict[str, Callable[..., Any]]:
    """All public functions whose first argument is a robot, by room and name."""
    found = public_functions("model") | public_functions("robot")
    first: dict[int, str] = {}
    for name in found:
        first.setdefault(id(found[name]), name)
    other = ("robots.", "freeflyer_papers.planar.")  # the first make the robot that they describe, the others take one in formulas
    kept = [name for name in first.values() if not name.startswith(other)]
    return {name: found[name] for name in sorted(kept, key=lambda x: x.rpartition(".")[::2])}


FUNCTIONS = functions()


def arguments(name: str, model: ff.Model, lead: tuple[int, ...]) -> dict[str, Any]:
    """Arguments with which the function works."""
    rng, closed, short = fresh(), ff.close_loops(model), name.rsplit(".", 1)[-1]
    q = np.broadcast_to(closed.neutral, (*lead, model.nq)) + 0.0
    q = ff.integrate(closed, q, 0.05 * rng.uniform(-1.0, 1.0, (*lead, closed.nv)))
    u, u_dot = rng.standard_normal((2, *lead, closed.nv))
    v, a = ff.linkages.expand_motion(model.tree, q, u, u_dot)
    of_tree = (short in WHOLE and short != name) or not model.reduction
    state = {"q": q, "q0": q, "q1": q, "v": v if of_tree else u, "a": a if of_tree else u_dot,
             "tau": rng.standard_normal((*lead, model.tree.nv if of_tree else model.nv)), "u": u, "u_dot": u_dot,
             "weights": rng.standard_normal((*lead, model.nv)), "along_q": rng.standard_normal((*lead, model.nv)),
             "dv": 0.01 * (v if of_tree else u)}  # fmt: skip
    special: dict[str, dict[str, Any]] = {
        "velocity_map": {"q": q}, "velocity_map_bias": {"q": q, "u": u if model.reduction else v},
        "random_configuration": {"rng": rng, "size": lead}, "frame_set": {"names": ("tip",)}, "lock_joints": {"joints": ()},
        "to_mjcf": {"path": None}, "to_urdf": {"path": None}, "constraint_multipliers": {"a": a},
        "manipulability": {"axes": {"c": np.linspace(0.0, 0.1, 3)}},
        "reachable_set": {"joints": ("r", "d")}, "check": {"seed": 1}, "specialize": {"functions": ["center_of_mass"]},
        "kinematic_chains": {"contacts": ff.ConstraintSet(model)},
        "controllability": {"M": np.eye(model.nv), "A": np.eye(2 * model.nv), "B": np.ones((2 * model.nv, 1))},
        "unilateral_accelerations": {"inequalities": (np.eye(model.nv)[:1], [0.0])},
        "unilateral_contacts": {"contacts": [ff.contacts.point("tip")]},
        "express_wrenches": {"contacts": [ff.contacts.point("tip")], "wrenches": {"tip": np.ones((*lead, 6))}},
        "prescribed_motion": {"joint": "c", "position": 0.1, "velocity": 0.2, "acceleration": 0.3},
        "simulate": {"dt": 1e-3, "duration": 2e-3}, "thruster_inputs": {"thrusters": {"tip": np.eye(6)[0]}},
        "free_flight": {"duration": 2e-3, "q": None}, "free_fall": {}, "first_singularity": {"furthest": 1.0},
        "close_loops": {}, "blocks": {"matrix": rng.standard_normal((*lead, model.nv, model.nv))},
        "external_internal": {"rows": (0,)},
        "center_of_mass_angle": {"path": np.stack([q, ff.integrate(closed, q, np.full(closed.nv, 0.02))])},
        "selected_posture": {"positions": (closed.neutral[model.joint("d").iq] + 0.05,)},
    }  # fmt: skip
    if short == "from_mujoco":
        there = ff.to_mujoco(model, *(state[k] for k in ("q", "v", "a", "tau")))
        special[short] = {k: getattr(there, k) for k in ("qpos", "qvel", "qacc", "qfrc")}
    special |= {"to_mujoco": {k: state[k] for k in ("v", "a", "tau")}}
    special |= {"configuration": {"positions": {"c": closed.neutral[model.joint("c").iq] + 0.02}, "start": q}}
    needed = inspect.signature(FUNCTIONS[name]).parameters.get("constraints")
    if needed is not None and needed.default is needed.empty:
        held = ff.contacts.surface("bar_sole", at=np.eye(4))
        special.setdefault(short, {})["constraints"] = ff.ConstraintSet(model, contacts=[held])
    if name == "constrained_inverse_dynamics":  # at rest: what moves must move along the constraints
        special[short] |= {"v": 0.0 * state["v"], "a": 0.0 * state["a"]}
    if name.startswith("control."):
        special["inverse_kinematics"] = {"tasks": [control.CenterOfMassTask(ff.center_of_mass(model, closed.neutral))]}
        inputs = control.joint_inputs(model, ("c",)) + control.wrench_inputs(model, "ground")
        special |= {n: {"inputs": inputs} for n in ("energy_costs", "equilibrium", "lqr")}
        held = np.tile(closed.neutral, (3, 1))
        special["track"] = {"q": held, "v": np.zeros((3, model.nv)), "u": np.zeros((2, inputs.count)), "dt": 0.01,
                            "inputs": inputs, "gravity": np.zeros(3)}  # fmt: skip
        special |= {"joint_inputs": {"joints": ("c",)}, "rotor_inputs": {}}
    if name == "estimation.update_passive_state":
        robot = estimation.sensors(model)
        special["update_passive_state"] = {"state": estimation.passive_state(robot),
                                           "positions": closed.neutral[robot.positions], "rates": np.zeros(1)}  # fmt: skip
    if name.startswith("linkages.") and short in ("transmission_curve", "force_curve", "follow"):
        values = closed.neutral[model.joint("c").iq] + np.linspace(0.0, 0.1, 4)
        path = linkages.follow(model, "c", values)
        special |= {"follow": {"values": values}, "transmission_curve": {"path": path, "joint": "r"},
                    "force_curve": {"path": path, "force": 10.0, "direction": (0.0, 0.0, 1.0)}}  # fmt: skip
    given = {**COMMON, **state, **special.get(short, {})}
    parameters = inspect.signature(FUNCTIONS[name]).parameters
    needed = {p for p, x in parameters.items() if x.default is x.empty or p in special.get(short, {})}
    starts_itself = ("first_singularity", "sweep", "reachable_set", "follow", "extract_limb")
    needed |= {"q"} & set(parameters) if short not in starts_itself else set()
    needed |= {"along_q"} & set(parameters)
    return {p: given[p] for p in list(parameters)[1:] if p in needed and given.get(p) is not None}


def first_argument(name: str, model: ff.Model) -> Any:
    """The robot as the function takes it."""
    parameter = next(iter(inspect.signature(FUNCTIONS[name]).parameters))
    if name == "control.rotor_inputs":
        return rotorcraft(model)
    if parameter == "robot" and name.startswith("estimation.") and not name.endswith(".start"):
        return estimation.sensors(model)
    return model


def rotorcraft(model: ff.Model) -> ff.Model:
    from dataclasses import replace

    d = model.tree.description
    made = ff.build(replace(d, sites=(*d.sites, ff.Site("rotor_1", "ground"))))
    return ff.close_loops(made) if model.reduction else made


def call(name: str, model: ff.Model, lead: tuple[int, ...], one: int | None = None) -> Any:
    """The result; of state `one` of the batch alone, if that is given."""
    given = arguments(name, model, lead)
    if one is not None:
        given = {k: x[one] if isinstance(x, np.ndarray) and x.shape[:1] == lead else x for k, x in given.items()}
    if name == "frame_set":
        return ff.frame_set(model, "tip")
    if name in ("to_mjcf", "to_urdf"):
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            return FUNCTIONS[name](model, Path(folder) / "robot.xml")
    return FUNCTIONS[name](first_argument(name, model), **given)


def arrays(x: Any) -> Iterator[np.ndarray]:
    """The arrays of numbers in a result."""
    if isinstance(x, np.ndarray | float | np.floating):
        yield np.asarray(x)
    elif isinstance(x, tuple | list):
        for y in x:
            yield from arrays(y)
    elif is_dataclass(x) and not isinstance(x, ff.Model):
        for f in fields(x):
            yield from arrays(getattr(x, f.name))


def reason(name: str, column: str) -> str:
    """Why the function is not tested for this; empty if it is."""
    said = REASONS.get(name, {})
    robot, states = column.split(", ")
    return said.get("all") or said.get(robot) or said.get("batch" if states == "batch" else "one") or ""


def modelled(column: str) -> ff.Model:
    return ff.close_loops(four_bar()) if column.startswith("closed") else four_bar()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_takes_every_robot(name: str) -> None:
    for column in COLUMNS:
        model, why = modelled(column), reason(name, column)
        if why == CUT:
            with pytest.raises(ff.InputError, match="close_loops" if why == CUT else None):
                call(name, model, ())
        elif why:
            assert len(why.split()) > 3
        elif column.endswith("one state"):
            found = call(name, model, ())
            assert found is not None, column
            assert all(x.dtype == object or x.dtype.kind not in "fc" or not np.isnan(x).any() for x in arrays(found)), column
        elif name == "random_configuration":
            assert call(name, model, (STATES,)).shape == (STATES, model.nq)
        else:
            batch = call(name, model, (STATES,))
            for k in range(STATES):
                for whole, alone in zip(arrays(batch), arrays(call(name, model, (STATES,), one=k))):
                    part = whole if whole.shape == alone.shape else whole[k]
                    assert np.allclose(part, alone, rtol=1e-9, atol=1e-9 * max(1.0, np.abs(alone).max(initial=0.0))), column


def test_the_table_is_up_to_date() -> None:
    assert TABLE.read_text(encoding="utf-8") == table(), "run: python tests/test_every_function.py"
    assert set(REASONS) <= set(FUNCTIONS)


def table() -> str:
    """docs/functions.md"""
    notes: dict[str, int] = {}
    lines = []
    for name in FUNCTIONS:
        cells = []
        for column in COLUMNS:
            why = reason(name, column)
            cells.append(f"[{notes.setdefault(why, len(notes) + 1)}]" if why else "yes")
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    head = (
        "# Which function takes which robot\n\n`python tests/test_every_function.py` writes this table, and the test run repeats "
        "it. Each `yes` is a call, and each batch\nis compared with its states one by one. `tree` is a robot with open loops. "
        "Functions that refuse open loops take every tree\nwithout loops. `closed` is a model of `freeflyer.close_loops`.\n\n"
    )
    columns = f"| function | {' | '.join(COLUMNS)} |\n|---|{'---|' * len(COLUMNS)}\n"
    return head + columns + "\n".join(lines) + "\n\n" + "\n".join(f"[{k}] {why}.  " for why, k in notes.items()) + "\n"


if __name__ == "__main__":
    TABLE.write_text(table(), encoding="utf-8")
