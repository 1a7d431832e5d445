"""The inverse of Newton's matrix of contacts: of unknowns at some places, the other rows those of a unit matrix."""

import numpy as np
from compiled_parts import compiled, numbers
from freeflyer.kernels.backend import LANES
from freeflyer.kernels.sim import newton
from seeds import fresh

invert_rows = compiled(lambda A, width, n, places, count: newton.invert_rows(A, width, n, places, count))


def test_rows_become_the_inverse():
    rng = fresh("inverse of rows")
    for n in range(1, 40):
        width, count = -(-n // LANES) * LANES, int(rng.integers(1, n + 1))
        places = np.sort(rng.permutation(n)[:count])
        A, M = np.zeros((n + 1, width)), np.eye(n)
        M[np.ix_(places, places)] = rng.standard_normal((count, count)) + 3.0 * np.eye(count)
        A[:n, :n] = M
        where = np.r_[places.astype(float), np.zeros(8)]
        invert_rows(numbers(A), width, n, numbers(where), count)
        np.testing.assert_allclose(A[:n, :n], np.linalg.inv(M), rtol=1e-8, atol=1e-8)
