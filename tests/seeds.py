"""Random numbers that change from run to run; FREEFLYER_TEST_SEED, printed at the end of a run, repeats one."""

import numpy as np
import os

# kept in the environment, so that processes of this run (workers, scripts that tests start) have the same
SEED = int(os.environ.setdefault("FREEFLYER_TEST_SEED", str(np.random.SeedSequence().entropy % 2**31)))


def fresh(*place: int | str) -> np.random.Generator:
    """A generator for this run; another for each `place`, words or numbers that tell samples apart."""
    words = (x.encode() if isinstance(x, str) else (x,) for x in place)
    return np.random.default_rng([SEED, *(k for word in words for k in word)])
