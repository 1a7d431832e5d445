"""The texts of a controller's C library, with places between @ signs."""

from __future__ import annotations

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
