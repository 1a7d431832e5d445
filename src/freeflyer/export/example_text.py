"""The text of main.c, with places between @ signs."""

from __future__ import annotations

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
