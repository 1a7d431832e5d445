"""A whole-body controller as a C library: one function (q, v, targets) -> torques, forces, status."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.control.problem import Formulation, WholeBodyProblem, asked_of
from freeflyer.errors import InputError, format_value
from freeflyer.export.exporting import Export, refuse_to_replace, whole_folder
from freeflyer.export.header import STATUS, Identifiers, array, comment, enum, prefix_of, word
from freeflyer.export.library import NATIVE, build, cmake, code_of, target_of
from freeflyer.files import check_path
from freeflyer.kernels.compiler.entry_code import row_need, scratch_need
from freeflyer.kernels.control import layout as K
from freeflyer.kernels.entries import CONTROL_CYCLE
from freeflyer.model.inputs import finite_row, one_row
from freeflyer.model.public import public
from freeflyer.progress import Progress, no_progress

FRAME_PARTS = (("STIFFNESS", K.STIFFNESS), ("DAMPING", K.DAMPING), ("PLACE", K.PLACE), ("AXES", K.AXES), ("VELOCITY", K.VELOCITY),
               ("ACCELERATION", K.ACCELERATION))  # fmt: skip


@public
def export_controller(
    problem: WholeBodyProblem, folder: str | os.PathLike[str], q: ArrayLike, *, formulation: Formulation = "full",
        weighted: bool = False,
    cpu: str = NATIVE, prefix: str | None = None, overwrite: bool = False, progress: Progress = no_progress,
) -> Export:  # fmt: skip
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
    need = scratch_need(topology, 1, CONTROL_CYCLE.square)  # type: ignore[no-untyped-call]
    need += sum(row_need(1, n) for n in CONTROL_CYCLE.sizes(topology))  # type: ignore[no-untyped-call]
    P, rows, names = begin.upper(), len(program.weights), Identifiers()
    places = [entry for piece, at in program.places() for entry in _places(names, P, piece.name, piece.kind, piece.rows, at)]
    values = {
        "NAME": comment(model.name), "PREFIX": begin, "UPPER": P, "KERNEL": symbol, "CPU": machine.cpu if cpu == NATIVE else cpu,
        "NQ": model.nq, "NV": model.nv, "MOTORS": len(problem.driven), "CONTACTS": len(problem.constraints.item_names),
        "FORCES": len(problem.force_metric), "UNKNOWNS": program.unknowns, "ROWS": rows, "TARGETS": max(len(numbers), 1),
        "SCRATCH": int(need) + 8, "TASKS": "\n".join(enum(f"{begin}_target", "Where the numbers of each task begin.", places)),
        "ACTUATED": comment(", ".join(model.actuated)), "HELD": comment(", ".join(problem.constraints.item_names) or "none"),
        "STATUS": "\n".join(enum(f"{begin}_status", "", [
            *((f"{P}_{name}", k, text) for name, k, text in STATUS),
            (f"{P}_RELAXED", 20, "dynamics, contacts and limits contradict each other and are violated as little as possible"),
            (f"{P}_STOPPED", 21, "the rounds of the solver ran out: tasks may be met less well than they could be"),
        ])),
        "TOPOLOGY": array("int64_t", "topology", map(int, topology)),
        "PARAMETERS": array("double", "parameters", map(float, parameters)),
        "WEIGHTS": array("double", "weights", map(float, program.weights)),
        "NUMBERS_SIZE": len(numbers), "NUMBERS": ", ".join(map(repr, map(float, numbers))) or "0.0",
        "Q": array("double", "example_q", map(float, state)), "TAU": array("double", "example_tau", map(float, solution.tau)),
    }  # fmt: skip

    def filled(text: str) -> str:
        for key, value in values.items():
            text = text.replace(f"@{key}@", str(value))
        return text

    kernels = {"objects/control_cycle.o": symbol}
    progress(0.9, "writing")
    with whole_folder(target, overwrite) as new:
        (new / "objects").mkdir()
        (new / "objects/control_cycle.o").write_bytes(code)
        for name, text in {f"{begin}.h": HEADER, f"{begin}.c": SOURCE, "main.c": EXAMPLE}.items():
            (new / name).write_text(filled(text), encoding="ascii")
        (new / "CMakeLists.txt").write_text(cmake(begin, list(kernels)), encoding="ascii")
        functions = (f"{begin}_control", f"{begin}_targets")
        notes = build(new, begin, functions, kernels, machine.triple)
        files = tuple(sorted(str(p.relative_to(new)) for p in new.rglob("*") if p.is_file()))
    return Export(target, begin, str(values["CPU"]), functions[:1], files, tuple(notes))


def _places(names: Identifiers, upper: str, name: str, kind: int, rows: int, at: int) -> list[tuple[str, int, str]]:
    """Enumerators of the numbers of a task."""
    if kind == K.POSTURE:
        parts = [("STIFFNESS", 0), ("DAMPING", 1), ("VELOCITY", 2), ("ACCELERATION", 2 + rows), ("TARGET", 2 + 2 * rows)]
    else:
        parts = list(FRAME_PARTS)
    return [(names.new(f"{upper}_{word(name)}", part), at + k, name) for part, k in parts]


HEADER = """\
/* Whole-body controller of @NAME@, by freeflyer, for the CPU @CPU@.
 *
 * Units: m, kg, s, rad, N. q: configuration, of a free joint position, then quaternion x, y, z, w; v: velocity, of a free joint the
 * body twist [linear; angular]. tau: of the motors, in the order @ACTUATED@.
 * forces: of each contact the wrench [force; torque] on the robot, in its frame's axes at its origin: @HELD@.
 * targets: gains, target and its motion of each task, as @PREFIX@_targets holds those of the problem. STIFFNESS 1/s^2, DAMPING 1/s;
 * PLACE (3): position, m; AXES (3 x 3): rotation, row by row; VELOCITY, ACCELERATION (6, or one for each row of a posture): of the
 * target; of a momentum, VELOCITY is the target; TARGET: a configuration.
 * memory: what a cycle begins with, from the one before; zeros at first. scratch: its contents before and after mean nothing.
 * A function returns a status. It allocates nothing, locks nothing and keeps nothing. Pointers must not be null; outputs must not
 * overlap inputs, scratch or each other. */
#ifndef @UPPER@_H
#define @UPPER@_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define @UPPER@_NQ @NQ@
#define @UPPER@_NV @NV@
#define @UPPER@_MOTORS @MOTORS@
#define @UPPER@_CONTACTS @CONTACTS@
#define @UPPER@_TARGETS @TARGETS@
#define @UPPER@_MEMORY (@ROWS@ + @UNKNOWNS@ + 1)
#define @UPPER@_SCRATCH @SCRATCH@

@STATUS@

@TASKS@

extern const double @PREFIX@_targets[@UPPER@_TARGETS];

int64_t @PREFIX@_control(const double q[@UPPER@_NQ], const double v[@UPPER@_NV], const double targets[@UPPER@_TARGETS],
    double tau[@UPPER@_MOTORS], double forces[6 * @UPPER@_CONTACTS + 1], double memory[@UPPER@_MEMORY],
    double scratch[@UPPER@_SCRATCH]);

#ifdef __cplusplus
}
#endif

#endif
"""

SOURCE = """\
/* @NAME@: the controller's constants, and the call of its compiled kernel. See @PREFIX@.h. */
#include "@PREFIX@.h"

#include <math.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif
int64_t @KERNEL@(const int64_t *topology, const double *parameters, const int64_t *inputs, const int64_t *options,
    const int64_t *outputs, const int64_t *sizes, double *scratch, int64_t *where);
#ifdef __cplusplus
}
#endif

#define ROWS @ROWS@
#define UNKNOWNS @UNKNOWNS@
#define FORCES @FORCES@

@TOPOLOGY@

@PARAMETERS@

@WEIGHTS@

const double @PREFIX@_targets[@UPPER@_TARGETS] = {@NUMBERS@};

#define AT(x) (int64_t)(intptr_t)(x)

int64_t @PREFIX@_control(const double q[@UPPER@_NQ], const double v[@UPPER@_NV], const double targets[@UPPER@_TARGETS],
    double tau[@UPPER@_MOTORS], double forces[6 * @UPPER@_CONTACTS + 1], double memory[@UPPER@_MEMORY],
    double scratch[@UPPER@_SCRATCH])
{
    static const double loads[@UPPER@_NV] = {0.0};
    double a[@UPPER@_NV], F[FORCES + 1], x[UNKNOWNS], held[ROWS + 1], facts[4], start[UNKNOWNS];
    const int64_t inputs[] = {AT(q), AT(v), AT(loads), AT(targets), AT(weights), AT(memory), AT(start)};
    const int64_t outputs[] = {AT(tau), AT(a), AT(F), AT(x), AT(held), AT(facts), AT(forces)};
    const int64_t sizes[] = {@UPPER@_SCRATCH, 1, @UPPER@_NQ, @UPPER@_NV, @UPPER@_NV, @NUMBERS_SIZE@, ROWS, ROWS, UNKNOWNS,
        @UPPER@_MOTORS, @UPPER@_NV, FORCES, UNKNOWNS, ROWS, 4, 6 * @UPPER@_CONTACTS};
    int64_t where[3] = {-1, -1, -1}, status;
    int active = 0, i;
    for (i = 0; i < UNKNOWNS; ++i) {
        start[i] = memory[ROWS + UNKNOWNS] > 0.0 ? memory[ROWS + i] : INFINITY;
    }
    status = @KERNEL@(topology, parameters, inputs, NULL, outputs, sizes, scratch, where);
    if (status != @UPPER@_OK) {
        return status;
    }
    for (i = 0; i < ROWS; ++i) {
        active |= held[i] == 1.0 || held[i] == -1.0;
    }
    for (i = 0; i < ROWS; ++i) {
        memory[i] = active ? held[i] : 0.0;
    }
    for (i = 0; i < UNKNOWNS; ++i) {
        memory[ROWS + i] = x[i];
    }
    memory[ROWS + UNKNOWNS] = 1.0;
    return facts[3] != 0.0 ? @UPPER@_RELAXED : facts[2] != 0.0 ? @UPPER@_STOPPED : @UPPER@_OK;
}
"""

EXAMPLE = """\
/* Runs the controller of @PREFIX@.h at 1 kHz for a second at a posture, compares its torques with Python's, and prints times of
 * CYCLES cycles without a pause. Ends with status 1 if results differ. */
#define _POSIX_C_SOURCE 200809L
#include "@PREFIX@.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

@Q@

@TAU@

static double v[@UPPER@_NV], targets[@UPPER@_TARGETS], tau[@UPPER@_MOTORS], forces[6 * @UPPER@_CONTACTS + 1];
static double memory[@UPPER@_MEMORY], scratch[@UPPER@_SCRATCH], times[1000000];

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int smaller(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int count, char **arguments)
{
    const long cycles = count > 1 ? atol(arguments[1]) : 10000;
    struct timespec next;
    double worst = 0.0, most = 1.0;
    int64_t status = 0;
    long k;
    int i;
    if (cycles < 1 || cycles > 1000000) {
        fprintf(stderr, "cycles: 1 to 1000000\\n");
        return 2;
    }
    memcpy(targets, @PREFIX@_targets, sizeof targets);
    clock_gettime(CLOCK_MONOTONIC, &next);
    for (k = 0; k < 1000; ++k) { /* a robot's loop: measure q and v, move the targets, send tau */
        status = @PREFIX@_control(example_q, v, targets, tau, forces, memory, scratch);
        next.tv_nsec += 1000000;
        next.tv_sec += next.tv_nsec / 1000000000;
        next.tv_nsec %= 1000000000;
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
    }
    for (i = 0; i < @UPPER@_MOTORS; ++i) {
        worst = fmax(worst, fabs(tau[i] - example_tau[i]));
        most = fmax(most, fabs(example_tau[i]));
    }
    for (k = 0; k < cycles; ++k) {
        const double begin = now();
        (void)@PREFIX@_control(example_q, v, targets, tau, forces, memory, scratch);
        times[k] = now() - begin;
    }
    qsort(times, (size_t)cycles, sizeof times[0], smaller);
    printf("status %d, torques off by %.1e of the largest\\n", (int)status, worst / most);
    printf("us a cycle: median %.1f, 99.99 %% %.1f, largest %.1f\\n", 1e6 * times[cycles / 2],
           1e6 * times[(long)(0.9999 * (double)(cycles - 1))], 1e6 * times[cycles - 1]);
    return !(worst <= 1e-9 * most);
}
"""
