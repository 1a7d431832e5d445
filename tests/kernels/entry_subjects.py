"""For every entry: robots that it takes, with a state: trees of all joint kinds, closed linkages, measured and standing ones."""

import ctypes
import freeflyer as ff
import linkage_samples
import numpy as np
from closed_robots import robot, state
from closeness import fresh
from collections.abc import Sequence
from dataclasses import replace
from freeflyer.contacts import contact_from_points as sole
from freeflyer.contacts.sets.systems import system_sizes
from freeflyer.contacts.steps import set_samples
from freeflyer.estimation.contact import make_standing
from freeflyer.kernels.compiler.calls import python_calls
from freeflyer.kernels.compiler.calls.running import FUNCTION, table_handle
from freeflyer.kernels.entries import ENTRIES as LIBRARY
from freeflyer.kernels.entry import SCRATCH, STATES, WHERE
from freeflyer.kernels.model.layout import FRAMES, MEASURED, PLAN, SETS, STANDING
from freeflyer.kernels.sim.layout import SAMPLES
from freeflyer.linkages.closure import plan_for
from freeflyer.sim.ground import make_problem, touching_points
from freeflyer_papers.hopping.settings import EXPERIMENTS, make_records, table_of
from freeflyer_papers.kernels.entries import HOP_STEPS
from freeflyer_papers.kernels.layout import HOPPERS
from kernel_samples import Subject, subject, takes, tree
from random_robots import BASES, random_robot
from typing import Any

CLOSED = ("point", "hinge", "nested", "coupled", "cylinder")
POINTS = np.array([[0.1, 0.0, 0.0], [-0.1, 0.05, 0.0], [0.0, -0.1, 0.02]])

ENTRIES = {**LIBRARY, HOP_STEPS.name: HOP_STEPS}


def subjects(random_robots: int = 2) -> list[Subject]:
    """Each entry on each robot that it takes."""
    rng = fresh()
    models: list[tuple[ff.Model, np.ndarray | None]] = [(tree(), None), (tree(mimic=True), None)]
    for k in range(random_robots):
        model = random_robot(rng, int(rng.integers(1, 12)), base=BASES[k % len(BASES)])
        models += [(model, None)] if model.nv else []
    for name in CLOSED:
        models.append((ff.close_loops(robot(name)), state(robot(name), rng, 0.02).q))
    stewart = linkage_samples.stewart(rng)[0]
    models.append((ff.close_loops(stewart), np.array(ff.linkages.partition(stewart).q)))
    labels = {id(models[1][0]): "zoo with mimics"}
    found = [subject(entry, model, rng, q=q, label=labels.get(id(model), "")) for model,
             q in models for entry in ENTRIES.values() if takes(entry, model)]  # fmt: skip
    return found + tables(rng)


def set_steps(constraints: ff.ConstraintSet, q: np.ndarray, rng: np.random.Generator, label: str) -> list[Subject]:
    """Entries that read where a set is held, a little beside it."""
    model, held, found = constraints.model, constraints.anchored(q), []
    for entry in (e for e in ENTRIES.values() if e.table == SETS and "s" in e.inputs and e.closed == bool(model.reduction)):
        handle = set_samples(held, 2, None).handle
        made = subject(entry, model, rng, handle, ff.integrate(model, q, 1e-4 * rng.standard_normal(model.nv)), label=label)
        made.inputs[-1][:] = held.on_tree.anchors
        made.inputs[-1][0] = 1e-3
        found.append(made)
    return found


def tables(rng: np.random.Generator) -> list[Subject]:
    """Entries that read a table behind the model's topology."""
    found = []
    for name in ("point", "nested", "coupled"):
        model = robot(name)
        q, nv = state(model, rng, 0.02).q, model.nv
        standing = make_standing(model,
            [sole("l03", POINTS)] if name == "point" else [sole("l03", POINTS), sole("l12", POINTS[:2])])  # fmt: skip
        update = ENTRIES["contact_update"]
        contact = subject(update, model, rng, standing.handle, q, label=f"standing {name}")
        found.append(contact)
        for entry in (e for e in ENTRIES.values() if e.table == STANDING and e is not update):
            more = rng.standard_normal(contact.shapes[0]), np.array(standing.spread), np.array(standing.resultant)
            found.append(subject(entry, model, rng, standing.handle, q, shared=more, label=f"standing {name}"))
        bounds = np.full(nv, -4.0), np.full(nv, 4.0), np.array([30.0, 0.2])
        for rows in (None, np.arange(2)):
            handle = plan_for(model, np.asarray(ff.linkages.partition(model).dependent), rows)
            found += [subject(e, model, rng, handle, q, shared=bounds,
                label=f"planned {name}") for e in ENTRIES.values() if e.table == PLAN]  # fmt: skip
    for model in (tree(), tree(mimic=True)):
        for count in (0, 1, 3):
            frames = ff.frame_set(model, *model.frame_names[-count:] if count else ())
            found += [
                subject(e, model, rng, frames.handle, label=f"{count} frames of {model.name}")
                for e in ENTRIES.values() if e.table == FRAMES and not (model.shared_coordinates and e.name == "loaded_aba")
            ]  # fmt: skip
    for model in (tree(), tree(mimic=True), robot("point")):
        q = state(model, rng, 0.02).q if model.name == "point" else ff.random_configuration(model, rng)
        held = [ff.contacts.surface(model.link_names[-1]), ff.contacts.point(model.link_names[2], name="point")]
        wheel = ff.contacts.rolling(model.link_names[-2], 0.3, None if model.name == "point" else (0.0, 0.6, 0.8), name="wheel")
        for chosen in ((), held, [*held, wheel]):
            s = ff.ConstraintSet(model, [c for c in chosen if c is not wheel], rolling=[c for c in chosen if c is wheel],
                                 loops=model.name == "point")  # fmt: skip
            label = f"{len(chosen)} contacts of {model.name}"
            entries = [e for e in ENTRIES.values() if e.table == SETS and "s" not in e.inputs]
            found += [subject(e, model, rng, s.handle, q, label=label) for e in entries]
            found += set_steps(s, q, rng, label)
            if model.name == "point":
                found += set_steps(replace(s, model=ff.close_loops(model)), q, rng, f"{label}, closed")
    for unknowns, rows in ((1, 0), (3, 2), (12, 20)):
        A, J = rng.standard_normal((unknowns, unknowns)), rng.standard_normal((rows, unknowns))
        numbers = np.concatenate([(A @ A.T + np.eye(unknowns)).ravel(), np.ones(unknowns), J.ravel(), np.ones(2 * rows + 1)])
        x = subject(ENTRIES["solve_system"], tree(), rng, system_sizes(unknowns, rows, 0).handle, label=f"{rows} rows")
        x.inputs[0][:] = numbers
        found.append(x)
    for model in (tree(), tree(mimic=True), ff.close_loops(robot("nested"))):
        for count in (1, 3):
            handle = table_handle(model.topology, model.parameters, SAMPLES, np.array([count, 0, 0, 0, 1]))
            closed = model.reduction is not None
            q = ff.random_configuration(model, rng) if not closed else state(robot("nested"), rng, 0.02).q
            for entry in (e for e in ENTRIES.values() if e.table == SAMPLES and e.closed == closed):
                if entry.name == "shared_steps" or not model.shared_coordinates:
                    made = subject(entry, model, rng, handle, q, label=f"{count} steps of {model.name}")
                    made.inputs[-1][:] = 1e-3
                    found.append(made)
    for loops, model, contacts, q in (
        (False, tree(), [ff.contacts.point(tree().link_names[-1])], ff.random_configuration(tree(), rng)),
        (True, robot("point"), [sole("l03", POINTS)], state(robot("point"), rng, 0.02).q),
    ):
        for ground in (ff.sim.Ground(), ff.sim.Ground(height=([0.0, 1.0], [0.0, 1.0], np.ones((2, 2))))):
            problem = make_problem(ff.ConstraintSet(model, loops=loops), touching_points(model, contacts), ground)
            made = subject(ENTRIES["ground_step"], model, rng, problem.handle, q, label=f"ground below {model.name}")
            made.inputs[-1][:] = np.r_[1e-3, 0.0, 0.0, -9.81, 1.0, np.zeros(problem.settings - 5)]
            found.append(made)
    model = ff.robots.revolute_hopper()
    for tries, traced in ((3, True), (2, False)):
        settings = EXPERIMENTS["revolute-V"].settings
        hopper = table_handle(model.topology, model.parameters, HOPPERS, table_of(model, settings, tries, traced))
        made = subject(HOP_STEPS, model, rng, hopper, label=f"{tries} tries")
        made.inputs[0][:] = make_records(model, settings, model.keyframes["start"][None], 0.1 * rng.standard_normal((1, 4)), 1.0)
        found.append(made)
    measured = ff.estimation.sensors(robot("point"))
    q = state(robot("point"), rng, 0.02).q
    for entry in (e for e in ENTRIES.values() if e.table == MEASURED):
        more = np.array(measured.encoder_limits), np.array([0.5, 1e-3, 0.1])
        made = subject(entry, robot("point"), rng, measured.handle, q, shared=more)
        made.inputs[1][:] = q[measured.positions] + 0.001
        found.append(made)
    return found


def raw_call(function: int, handle: Any, inputs: Sequence[int], options: Sequence[int], outputs: Sequence[int],
             sizes: Sequence[int], states: int, scratch: tuple[int, int]) -> tuple[int, list[int]]:  # fmt: skip
    """(status, where) of the C function at an address; arrays are given by their addresses, scratch by its address and size."""
    words = [(ctypes.c_int64 * max(len(x), 1))(*x) for x in (inputs, options, outputs)]
    counts = (ctypes.c_int64 * (2 + len(sizes)))(0, 0, *sizes)
    counts[SCRATCH], counts[STATES] = scratch[1], states
    where = (ctypes.c_int64 * WHERE)(*[-1] * WHERE)
    topology, parameters = python_calls.model_record(handle)
    status = FUNCTION(function)(topology, parameters, *words, counts, scratch[0], where)
    return status, list(where)
