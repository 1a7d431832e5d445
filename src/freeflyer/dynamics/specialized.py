"""Models with code of their own: a robot's numbers and tree folded into its functions, for one state and for batches."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from freeflyer.errors import check_name
from freeflyer.kernels import entries as E
from freeflyer.kernels.backend import LANES
from freeflyer.kernels.compiler import build
from freeflyer.kernels.compiler.calls.python_calls import code_table, number_of
from freeflyer.kernels.compiler.calls.running import batch_lanes, call_seconds, handle
from freeflyer.kernels.compiler.one_robot.entries import Refused, Robot, RobotEntry, robot_entry
from freeflyer.kernels.compiler.one_robot.tracing import formulas
from freeflyer.kernels.entry import Entry
from freeflyer.kernels.model import layout as L
from freeflyer.kernels.model.access import numbers_at
from freeflyer.model.model import Model, Specialization
from freeflyer.model.public import public
from freeflyer.progress import Progress, no_progress

ENTRIES: dict[str, tuple[Entry, ...]] = {  # by public function, of trees
    "inverse_dynamics": (E.RNEA, E.LOADED_RNEA), "bias_forces": (E.RNEA, E.LOADED_RNEA), "forward_dynamics": (E.ABA, E.LOADED_ABA),
    "mass_matrix": (E.CRBA,), "inverse_mass_matrix": (E.MINV,), "gravity_forces": (E.GRAVITY, E.GIVEN_GRAVITY),
    "coriolis_matrix": (E.CORIOLIS,), "center_of_mass": (E.COM,), "centroidal_momentum_matrix": (E.MOMENTUM_MATRIX,),
    "centroidal_momentum": (E.MOMENTUM,), "centroidal_bias": (E.MOMENTUM_BIAS,), "all_terms": (E.ALL_TERMS,),
    "frame_pose": (E.FRAME_POSE,), "frame_jacobian": (E.FRAME_JACOBIAN,), "frame_velocity": (E.FRAME_VELOCITY,),
    "frame_bias_acceleration": (E.FRAME_BIAS,)}  # fmt: skip
CLOSED: dict[str, tuple[Entry, ...]] = {
    "inverse_dynamics": (E.PROJECTED_INVERSE_DYNAMICS,), "bias_forces": (E.PROJECTED_INVERSE_DYNAMICS,),
    "gravity_forces": (E.PROJECTED_INVERSE_DYNAMICS,), "forward_dynamics": (E.PROJECTED_FORWARD_DYNAMICS,),
    "mass_matrix": (E.PROJECTED_MASS,), "inverse_mass_matrix": (E.PROJECTED_INVERSE_MASS,),
    **{name: ENTRIES[name] for name in ("center_of_mass", "frame_pose", "all_terms")}}  # fmt: skip
SPECIALISED, COMPILING = "specialised", "general until it is compiled"
Free = tuple[tuple[int, int], ...]
INERTIAL = (*range(L.MASS, L.INERTIA + 6), *range(L.MOMENT, L.SECOND + 6))  # numbers of a body
OF_SUBTREE = (L.SUBTREE_MASS, L.SUBTREE_SPREAD)  # of each body that carries it
OF_FRAMES = ("frame_pose", "frame_jacobian", "frame_velocity", "frame_bias_acceleration")


@public
def specialize(model: Model, functions: Sequence[str] | None = None, *, frames: Sequence[str] = (),
               free: Sequence[str] = (), wait: bool = True, progress: Progress = no_progress) -> Model:  # fmt: skip
    """The same model with compiled code of its own for some functions; the others are computed as before.

    Code is kept in the cache by a hash of the model's numbers. A pickle holds the model alone. `print` tells which functions are
    specialised, and why others are not.

    Args:
        functions: Names of functions; all that can be specialised if None.
        frames: Frames whose poses, Jacobians and motions get code of their own, one by one and in this order in `all_terms`.
        free: Links whose masses, centres of mass and inertias stay inputs, and joints whose positions in their parent do. Models
            that differ in these alone share one code, which is compiled once.
        wait: False: a thread compiles, and each function is as before until its code is there.

    Examples:
        >>> arm = ff.robots.chain(2)
        >>> fast = ff.specialize(arm, ["inverse_dynamics"])
        >>> q, v, a = np.array([0.1, 0.2]), np.zeros(2), np.ones(2)
        >>> bool(np.allclose(ff.inverse_dynamics(fast, q, v, a), ff.inverse_dynamics(arm, q, v, a), rtol=1e-13))
        True
    """
    known = specializable(model)
    for name in functions if functions is not None else ():
        check_name("specialised function", name, known)
    numbers = tuple(model.frame(name) for name in dict.fromkeys(frames))
    late = [name for name, note in model.specialization.notes.items() if note == COMPILING] if model.specialization else []
    wanted, inputs = list(dict.fromkeys([*(known if functions is None else functions), *late])), free_entries(model, free)
    code, of_tree, reduction = _begun(model, wanted), _begun(model.tree, wanted), model.reduction
    if reduction:
        reduction = replace(reduction, tree=model.tree.with_code(of_tree, None))
    made = model.with_code(code, reduction)

    def compile_all() -> None:
        own = CLOSED if model.reduction else ENTRIES
        for k, name in enumerate(wanted):
            progress(k / len(wanted), f"{model.name}: compiling {name}")
            if name in own:
                code.notes[name] = _compiled(code, model, name, own[name], numbers, inputs)
            if model.reduction and name in ENTRIES:  # what closed models compute by their tree
                note = _compiled(of_tree, model.tree, name, ENTRIES[name], numbers, inputs)
                code.notes[name] = code.notes[name] if name in own else note

    if wait:
        compile_all()
    else:
        threading.Thread(target=compile_all, name="freeflyer specialize", daemon=True).start()
    return made


def specializable(model: Model) -> tuple[str, ...]:
    """Names of the functions that `specialize` takes."""
    return tuple(dict.fromkeys([*(CLOSED if model.reduction else ()), *ENTRIES]))


def _begun(model: Model, functions: Iterable[str]) -> Specialization:
    """A model's code so far, to which these functions come."""
    code = model.specialization or Specialization(code_table(), {}, {})
    return Specialization(code.table.copy(), code.notes | dict.fromkeys(functions, COMPILING), code.entries.copy())


def _compiled(code: Specialization, model: Model, name: str, entries: tuple[Entry, ...], frames: tuple[int, ...],
              free: Free) -> str:  # fmt: skip
    """Compiles a public function's entries and enters their addresses; returns a sentence about the result."""
    if name in OF_FRAMES and not frames:
        return "general, as no frames are named (frames=)"
    robot = Robot(tuple(model.topology.tolist()), tuple(model.parameters.tolist()), free, frames)
    refused: dict[int, str] = {}
    table, topology = code_table(), np.array(robot.with_frames())
    trial = handle(topology, model.parameters, table)

    def seconds(entry: Entry, lanes: int, address: int) -> float:
        table[number_of(entry), int(lanes > 1)] = address
        options = tuple(frames[0] if name == "frame" else 0 for name in entry.options)
        return call_seconds(entry, trial, topology, model.neutral, options, 2 * lanes if lanes > 1 else 1)

    for entry in entries:
        shared = E.SHARED.get(entry, entry) if model.shared_coordinates else entry
        own = robot_entry(shared, robot)
        for lanes in (1, batch_lanes(shared)):
            before = code.entries.get((shared.name, lanes > 1))
            try:
                if not isinstance(before, RobotEntry) or before.of != robot:
                    address = build.separate_address(own, lanes, partial(seconds, shared, lanes))
                    code.table[number_of(shared), int(lanes > 1)] = address
                    code.entries[shared.name, lanes > 1] = own
            except Refused as error:
                refused[lanes] = str(error)
    formulas.cache_clear()
    one, many = refused.pop(1, ""), "".join(refused.values())
    if many:
        return f"general, as {many}"
    return f"{SPECIALISED} for batches; one state is general, as {one}" if one else SPECIALISED


def free_entries(model: Model, names: Iterable[str]) -> Free:
    """Entries of a model's parameters that belong to links' inertias and joints' positions, each with the entry that holds the same
    number first: tiles repeat records. Errors: UnknownNameError."""
    topology, joints = model.topology, model.description.joint_by_name

    def body_of(link: str) -> int:
        return int(topology[int(topology[L.FRAMES_AT]) + L.FRAME_INTS * model.frame(link)])

    def parent_of(body: int) -> int:
        return int(topology[L.HEADER + L.BODY_INTS * body + L.PARENT])

    numbers: set[tuple[int, int]] = set()  # (body, number of its record)
    for name in names:
        check_name("link or joint", name, (*model.link_names, *joints))
        if name in model.link_names:
            body = body_of(name)
            numbers |= {(body, k) for k in INERTIAL}
        else:
            body, end = body_of(joints[name].child), body_of(joints[name].parent)
            while body != end:
                numbers |= {(body, L.TRANSLATION + k) for k in range(3)}
                body = parent_of(body)
        while body > 0:
            numbers |= {(body, k) for k in OF_SUBTREE}
            body = parent_of(body)
        numbers |= {(0, k) for k in OF_SUBTREE}
    found = {}
    for body, k in numbers:
        at = L.BODIES + L.BODY_FLOATS * body + k
        found[at] = at
        if body > 0 and k < L.TILE:
            found[int(numbers_at(topology, body)) + LANES * k] = at  # type: ignore[no-untyped-call]
    return tuple(sorted(found.items()))
