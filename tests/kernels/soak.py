"""A million evaluations of random states: four threads give the bits of one, and memory stays flat.

    python tests/kernels/soak.py [evaluations]

Takes about half a minute; not part of the test run. Evaluations are spread over inverse and forward dynamics, the mass
matrix and integration, on a robot with every joint kind and on the built-in humanoid.
"""

from __future__ import annotations

import sys
import time

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


if __name__ == "__main__":
    sys.exit(soak(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000) > 0)
