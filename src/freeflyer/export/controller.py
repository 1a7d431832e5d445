"""A whole-body controller as a C library: one function (q, v, targets) -> torques, forces, status."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.control.problem import Formulation, WholeBodyProblem, asked_of
from freeflyer.errors import InputError, format_value
from freeflyer.export.exporting import Export, refuse_to_replace, write_library
from freeflyer.export.header import STATUS, array, comment, enum, identifier, prefix_of, word
from freeflyer.export.library import NATIVE, code_of, filled, target_of
from freeflyer.files import check_path
from freeflyer.kernels.compiler.entry_code import entry_need
from freeflyer.kernels.control import layout as K
from freeflyer.kernels.entries import CONTROL_CYCLE
from freeflyer.model import finite_row, one_row, public
from freeflyer.progress import Progress, no_progress

FRAME_PARTS = (("STIFFNESS", K.STIFFNESS), ("DAMPING", K.DAMPING), ("PLACE", K.PLACE), ("AXES", K.AXES), ("VELOCITY", K.VELOCITY),
               ("ACCELERATION", K.ACCELERATION))  # fmt: skip


@public
def export_controller(problem: WholeBodyProblem, folder: str | os.PathLike[str], q: ArrayLike, *, formulation: Formulation = "full",
                      weighted: bool = False, cpu: str = NATIVE, prefix: str | None = None, overwrite: bool = False,
                      progress: Progress = no_progress) -> Export:  # fmt: skip
    """C library of a whole-body controller that needs no Python and allocates nothing, written to a folder.

    Targets are inputs, in a table that the header describes. It holds gains, target, velocity and acceleration of each task, at
    first the problem's own. A cycle keeps the start values of the next one in `memory`, which belongs to the caller.

    Args:
        problem: Of tasks and limits of this library: methods of your own stay in Python.
        folder: See export.
        q: (nq,) array, a posture at which the example calls the controller, at rest.
        formulation, weighted: As in WholeBodyProblem.solve.
        cpu, prefix, overwrite, progress: See export.
    Raises: InputError for tasks and limits of one's own, and as export; UnknownNameError, FileError as export.

    Examples:
        >>> model = ff.robots.humanoid(20)
        >>> q, feet = ff.robots.standing_posture(model), [ff.contacts.surface("left_sole"), ff.contacts.surface("right_sole")]
        >>> problem = ff.control.WholeBodyProblem(model, [ff.control.CenterOfMassTask(ff.center_of_mass(model, q))], feet)
        >>> ff.export.export_controller(problem, "stance_c", q, prefix="stance").functions
        ('stance_control',)
    """
    if not isinstance(problem, WholeBodyProblem):
        raise InputError(f"a controller is exported from a freeflyer.control.WholeBodyProblem, got {format_value(problem)}")
    model = problem.model
    own = [*(limit.name for limit in problem.limits_of_users), *(task.name for task in problem.tasks_of_users)]
    if own:
        raise InputError(f"{', '.join(own)}: methods of your own cannot be exported; leave them out")
    state = finite_row(model, "q", one_row(model, "q", q, "q"), "q")
    begin = prefix_of(f"{model.name}_stance", prefix)
    check_path(folder)
    target = Path(folder)
    refuse_to_replace(target, overwrite)
    machine = target_of(cpu)
    progress(0.0, f"compiling {CONTROL_CYCLE.name}")
    symbol, code = code_of(CONTROL_CYCLE, 1, cpu)
    solution = problem.solve(state, np.zeros(model.nv), formulation=formulation, weighted=weighted)
    program, numbers = asked_of(problem, state, np.zeros(model.nv), formulation, weighted=weighted)
    topology, parameters = program.sizes.topology, program.parameters
    need = entry_need(CONTROL_CYCLE, 1)(topology, CONTROL_CYCLE.sizes(topology))
    P, rows, taken = begin.upper(), len(program.weights), set[str]()
    places = [entry for piece, at in program.places() for entry in _places(taken, P, piece.name, piece.kind, piece.rows, at)]
    values = {
        "NAME": comment(model.name), "PREFIX": begin, "UPPER": P, "KERNEL": symbol, "CPU": machine.cpu if cpu == NATIVE else cpu,
        "NQ": model.nq, "NV": model.nv, "MOTORS": len(problem.driven), "CONTACTS": len(problem.constraints.item_names),
        "FORCES": len(problem.force_metric), "UNKNOWNS": program.unknowns, "ROWS": rows, "TARGETS": max(len(numbers), 1),
        "SCRATCH": int(need) + 8, "TASKS": "\n".join(enum(f"{begin}_target", "Where the numbers of each task begin.", places)),
        "ACTUATED": comment(", ".join(model.actuated)), "HELD": comment(", ".join(problem.constraints.item_names) or "none"),
        "STATUS": "\n".join(enum(f"{begin}_status", "", [
            *((f"{P}_{name}", k, text) for name, k, text in STATUS),
            (f"{P}_RELAXED", 20, "dynamics, contacts and limits contradict each other and are violated as little as possible"),
            (f"{P}_STOPPED", 21, "the rounds of the solver ran out: tasks may be met less well than they could be")])),
        "TOPOLOGY": array("int64_t", "topology", map(int, topology)),
        "PARAMETERS": array("double", "parameters", map(float, parameters)),
        "WEIGHTS": array("double", "weights", map(float, program.weights)),
        "NUMBERS_SIZE": len(numbers), "NUMBERS": ", ".join(map(repr, map(float, numbers))) or "0.0",
        "Q": array("double", "example_q", map(float, state)), "TAU": array("double", "example_tau", map(float, solution.tau))}
    progress(0.9, "writing")
    forms = {f"{begin}.h": "controller.h.txt", f"{begin}.c": "controller.c.txt", "main.c": "controller_main.c.txt"}
    texts = {name: filled(form, values) for name, form in forms.items()}
    files, notes = write_library(target, overwrite, begin, {"control_cycle": code}, texts, machine.triple)
    return Export(target, begin, str(values["CPU"]), (f"{begin}_control",), files, tuple(notes))


def _places(taken: set[str], upper: str, name: str, kind: int, rows: int, at: int) -> list[tuple[str, int, str]]:
    """Enumerators of the numbers of a task."""
    if kind == K.POSTURE:
        parts = [("STIFFNESS", 0), ("DAMPING", 1), ("VELOCITY", 2), ("ACCELERATION", 2 + rows), ("TARGET", 2 + 2 * rows)]
    else:
        parts = list(FRAME_PARTS)
    return [(identifier(taken, f"{upper}_{word(name)}", part), at + k, name) for part, k in parts]
