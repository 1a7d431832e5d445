"""Every public function that takes a robot, on a tree and with its loops closed, for one state and for a batch.

    python tests/test_every_function.py        writes docs/functions.md, the table of what works, and why where something does not

Functions are found by their signatures: a new one fails here until it works for all four, or has a reason why it does not.
"""

import freeflyer as ff
import numpy as np
import pytest
from closeness import refused
from linkage_samples import four_bar
from pathlib import Path
from samples import FUNCTIONS, close_to_states, model_call

TABLE = Path(__file__).parents[1] / "docs" / "functions.md"
STATES = 9  # a whole pack, and one more
COLUMNS = ("tree, one state", "tree, batch", "closed, one state", "closed, batch")

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
    ("batch", ONE, "", "contacts.anchored_feet freeflyer_papers.constrained.unilateral_accelerations sim.mujoco_plant"),
    ("all", "takes a base on a planar joint" + TESTED.format("papers/test_constrained_motion.py"), "",
     "freeflyer_papers.constrained.differential_drive"),
    ("closed", "takes the tree, its loops among the constraints", "freeflyer_papers.constrained.", "prescribed_motion"),
    ("batch", SET, "analysis.", "check conditioning free_fall identities linkages matrices middle_posture overview"),
    ("batch", SET, "", "attach_payload close_loops frame_set lock_joints merge_fixed neutral specialize"),
    ("batch", SET, "", "to_mjcf to_urdf with_gravity"),
    ("batch", ONE, "analysis.", "free_flight"),
    ("all", "runs for minutes" + TESTED.format("report/test_report.py"), "report.", "report"),
    ("all", "draws one posture, or opens a page" + TESTED.format("viewer"), "viewer.", "picture save_picture show"),
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
            refused(ff.InputError, "close_loops", model_call(name, model).run)
        elif why:
            assert len(why.split()) > 3
        elif column.endswith("one state"):
            call = model_call(name, model)
            assert call.run() is not None, column
            assert not any(np.isnan(x).any() for x in call.result()), column
        elif name == "random_configuration":
            assert model_call(name, model, (STATES,)).run().shape == (STATES, model.nq)
        else:
            close_to_states(model_call(name, model, (STATES,)), (STATES,))
            empty = model_call(name, model, (0, 3)).result()
            assert all(b.shape == (0, 3, *a.shape[1:]) for a, b in zip(model_call(name, model, (STATES,)).result(), empty)
                       if a.shape[:1] == (STATES,)), column  # fmt: skip


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
