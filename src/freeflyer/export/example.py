"""main.c: calls each function at one state, compares with what Python computed there, and prints times."""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np

from freeflyer.export.calls import Call, Library, example_inputs
from freeflyer.export.header import array
from freeflyer.kernels.compiler.calls.running import state
from freeflyer.kernels.entry import OK

TEMPLATE = """\
/* Calls each function of @PREFIX@.h at one state, compares with the results that Python had there, and prints times of a call:
 * the shortest of several blocks of calls. Ends with status 1 where results differ. */
#define _POSIX_C_SOURCE 200809L
#include "@PREFIX@.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define STATES @STATES@
#define TOLERANCE 1e-9 /* of sums of absolute values; another CPU than Python's rounds differently */

@EXAMPLES@

@ARRAYS@
static double results[@ROOM@];
static double scratch[@UPPER@_SCRATCH];

@FUNCTIONS@

static const struct {
    const char *name;
    int64_t (*call)(void);
    int states;
    int length; /* numbers of all results of one state */
    int64_t status;
    double total;
    uint64_t bits;
} functions[] = {
@ROWS@
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double block(int64_t (*call)(void), long calls)
{
    const double start = now();
    long k;
    for (k = 0; k < calls; ++k) {
        (void)call();
    }
    return (now() - start) / (double)calls;
}

static double time_of(int64_t (*call)(void))
{
    long calls = 1;
    double best = block(call, calls);
    int k;
    while (best * (double)calls < 2e-3) {
        calls *= 2;
        best = block(call, calls);
    }
    for (k = 0; k < 20; ++k) {
        best = fmin(best, block(call, calls));
    }
    return best;
}

int main(void)
{
    int wrong = 0, s, i;
    size_t f;
    for (s = 0; s < STATES; ++s) {
@COPIES@
    }
    printf("%-40s %12s  %s\\n", "function", "ns a state", "beside Python's result");
    for (f = 0; f < sizeof functions / sizeof functions[0]; ++f) {
        const int64_t status = functions[f].call();
        const char *verdict = "differs";
        double total = 0.0;
        uint64_t bits = UINT64_C(14695981039346656037);
        for (i = 0; i < functions[f].states * functions[f].length; ++i) {
            uint64_t word;
            memcpy(&word, results + i, sizeof word);
            bits = (bits ^ word) * UINT64_C(1099511628211);
            total += fabs(results[i]);
        }
        total /= functions[f].states;
        if (status != functions[f].status) {
            verdict = "differs in status";
        } else if (status != @UPPER@_OK) {
            verdict = "refused in both";
        } else if (functions[f].states == 1 && bits == functions[f].bits) {
            verdict = "same bits";
        } else if (fabs(total - functions[f].total) <= TOLERANCE * functions[f].total) {
            verdict = "same to 1e-9";
        }
        wrong += strncmp(verdict, "differs", 7) == 0;
        printf("%-40s %12.1f  %s, status %" PRId64 "\\n", functions[f].name,
               1e9 * time_of(functions[f].call) / functions[f].states, verdict, status);
    }
    return wrong != 0;
}
"""


STATES = 16  # of a batch
HASH_START, HASH_FACTOR = 14695981039346656037, 1099511628211  # FNV-1a, of 64-bit words
EXPRESSED = 1  # mixed


@dataclass(frozen=True)
class Expected:
    """What Python's call gave: status, sum of absolute values of all results, hash of their bits."""

    status: int
    total: float
    bits: int


def expected_results(library: Library, call: Call, given: dict[str, np.ndarray]) -> Expected:
    """The function's results in Python, at the example's state."""
    inputs = [np.zeros(x.size) if x.name in call.function.zero else given[x.name] for x in call.inputs]
    shapes = call.entry.shapes(library.model.topology)[call.entry.input_count :]
    outputs = [np.zeros(shape) for shape in shapes]
    status, _ = state(call.entry, library.model.handle, *inputs, *options(library, call), *outputs)
    if status != OK:
        return Expected(status, 0.0, 0)
    numbers = [float(x) for y in outputs for x in y.ravel()]
    total, bits = 0.0, HASH_START
    for x in numbers:  # one after the other, as in C
        total += abs(x)
        bits = ((bits ^ struct.unpack("<Q", struct.pack("<d", x))[0]) * HASH_FACTOR) % 2**64
    return Expected(status, total, bits)


def options(library: Library, call: Call) -> tuple[int, ...]:
    """The last frame, in mixed expression."""
    chosen = {"frame": len(library.model.frame_names) - 1, "expressed": EXPRESSED}
    return tuple(chosen[x] for x in call.options)


def main_c(library: Library) -> str:
    """The text of the program."""
    given = example_inputs(library)
    states = STATES if any(call.batch for call in library.calls) else 1
    room = max(sum(x.size for x in call.outputs) for call in library.calls)
    results = {call.name: expected_results(library, call, given) for call in library.calls if not call.batch}
    rows, functions = [], []
    for k, call in enumerate(library.calls):
        functions.append(_function(library, call, k))
        r = results[f"{call.prefix}_{call.function.name}"]
        length = sum(x.size for x in call.outputs)
        count = STATES if call.batch else 1
        rows.append(
            f'    {{"{call.short_name}", call_{k}, {count}, {length}, {r.status}, {r.total!r}, UINT64_C({r.bits})}}'
        )
    copies = [
        f"        memcpy({name} + s * {x.size}, example_{name}, sizeof example_{name});" for name, x in given.items()
    ]
    text = TEMPLATE
    for key, value in {
        "PREFIX": library.prefix, "UPPER": library.upper, "STATES": str(states), "ROOM": str(states * room),
        "EXAMPLES": "\n".join(array("double", f"example_{name}", map(float, x)) for name, x in given.items()),
        "ARRAYS": "\n".join(f"static double {name}[STATES * {x.size}];" for name, x in given.items()),
        "COPIES": "\n".join(copies), "FUNCTIONS": "\n".join(functions), "ROWS": ",\n".join(rows),
    }.items():  # fmt: skip
        text = text.replace(f"@{key}@", value)
    return text


def _function(library: Library, call: Call, k: int) -> str:
    arguments = ["STATES"] if call.batch else []
    arguments += [x.name for x in call.parameters] + [str(x) for x in options(library, call)]
    at = 0
    for x in call.outputs:
        arguments.append(f"results + {at}")
        at += x.size * (STATES if call.batch else 1)
    arguments += ["scratch", *(["NULL"] if call.batch else [])]
    return f"static int64_t call_{k}(void) {{ return {call.name}({', '.join(arguments)}); }}"
