"""A million evaluations of random states: four threads give the bits of one, and memory stays flat.

    python tests/kernels/soak.py [evaluations]

Takes about a minute; not part of the test run. Evaluations are spread over inverse and forward dynamics, the mass
matrix and integration, on a robot with every joint kind and on the built-in humanoid. Then as many single calls of inverse
dynamics with `out=`: how long they take at the median and at worst, and what they allocate.
"""

from __future__ import annotations

import gc
import sys
import time
import tracemalloc

import numpy as np
from kernel_samples import states, tree
from test_threads import CALLS, resident

import freeflyer as ff

BATCH = 5_000
NAMES = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "integrate")


def soak(evaluations: int) -> int:
    """Prints what was found; the number of differing results."""
    robots = {"zoo": tree(), "humanoid": ff.robots.humanoid()}
    rounds = -(-evaluations // (BATCH * len(NAMES) * len(robots)))
    different = done = 0
    before = peak = 0
    start = time.perf_counter()
    for k in range(rounds):
        for model in robots.values():
            sample = states(model, BATCH, seed=k)
            for name in NAMES:
                ff.set_threads(1)
                one = CALLS[name](model, *sample)
                ff.set_threads(4)
                four = CALLS[name](model, *sample)
                different += int(np.count_nonzero(np.any((one != four).reshape(BATCH, -1), axis=1)))
                done += BATCH
                assert np.all(np.isfinite(four))
        peak = max(peak, resident())
        before = before or resident()  # after one round: everything is compiled, every pool has its threads
    print(
        f"{done} states in {time.perf_counter() - start:.1f} s, each from one thread and from four: {different} differ"
    )
    print(f"resident memory: {before / 2**20:.1f} MiB after the first of {rounds} rounds, ", end="")
    print(f"{resident() / 2**20:.1f} MiB at the end, {peak / 2**20:.1f} MiB at most")
    return different


def single_calls(calls: int) -> None:
    """Prints the times of single calls with reused output, and what they leave and take in memory."""
    model = ff.robots.humanoid()
    q, v, a = (x[0] for x in states(model, 1, seed=0))
    out = np.empty(model.nv)
    clock, times, function = time.perf_counter_ns, np.ones(calls, np.int64), ff.inverse_dynamics
    for what in ("work of the same length in plain Python", "inverse dynamics"):
        for _ in range(1000):
            function(model, q, v, a, out=out)
        before = resident()
        gc.disable()
        for k in range(calls):
            start = clock()
            if what == "inverse dynamics":
                function(model, q, v, a, out=out)
            else:
                sum(range(60))
            times[k] = clock() - start
        gc.enable()
        grown = resident() - before
        median, late, latest = np.percentile(times, [50, 99.9, 100])
        print(f"{calls} calls of {what}: median {median:.0f} ns, 99.9th percentile {late:.0f} ns ({late / median:.2f} of it),")
        print(f"    longest {latest / 1000:.0f} us; resident memory grew by {grown / 2**10:.0f} KiB")
    blocks = sys.getallocatedblocks()
    tracemalloc.start()
    for _ in range(1000):
        function(model, q, v, a, out=out)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    print(f"1000 calls: {sys.getallocatedblocks() - blocks} blocks of Python's memory more than before, {peak} bytes at the peak")


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    differing = soak(count)
    single_calls(count)
    sys.exit(differing > 0)
