"""Programs condensed to contact forces: accelerations follow from the forces where all other rows are equations."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from freeflyer.control.compiled import Sizes, call, sizes_table
from freeflyer.kernels.control.layout import ANSWERS
from freeflyer.kernels.entries import ANSWER_OF_FORCES, CONDENSE, CONDENSE_TO_FORCES
from freeflyer.kernels.optimization.layout import CONDENSATIONS


class Condensed(NamedTuple):
    """Accelerations a + A w of least energy under K a = k + [0; w]; the least energy is 1/2 sum inverses (beta + [0; theta w])^2.

    a (n,), A (n, d), theta (d, d), beta (rows,), inverses (rows,): zero for rows that depend on rows before them, and whose
    beta + theta w must vanish."""

    a: np.ndarray
    A: np.ndarray
    theta: np.ndarray
    beta: np.ndarray
    inverses: np.ndarray


class ForceProgram(NamedTuple):
    """As Condensed for w = B F: A (n, r), theta (d, r); beside a constant, the energy is 1/2 F^T H F + slope^T F."""

    a: np.ndarray
    A: np.ndarray
    theta: np.ndarray
    beta: np.ndarray
    inverses: np.ndarray
    H: np.ndarray
    slope: np.ndarray


class ForceAnswer(NamedTuple):
    """Accelerations (n,) that follow from contact forces, forces (p,) of the motors in the equations of motion, and the largest
    part of an equation that is left, beside the size of its terms and 1."""

    alpha: np.ndarray
    forces: np.ndarray
    missed: float


def condense(M: np.ndarray, g: np.ndarray, K: np.ndarray, k: np.ndarray, free: int) -> Condensed | None:
    """Of M (n, n), g (n,), K (rows, n), k (rows,), the last `free` rows with a right side that is chosen later; None where M is
    singular to working precision."""
    found = call(CONDENSE, _program_sizes(len(g), len(k), free, 0), g, M.ravel(), K.ravel(), k)
    return None if found is None else Condensed._make(found)


def condense_to_forces(M: np.ndarray, g: np.ndarray, K: np.ndarray, k: np.ndarray, B: np.ndarray,
                       metric: np.ndarray) -> ForceProgram | None:  # fmt: skip
    """Likewise for right sides B F, B (d, r), and 1/2 F^T metric F beside the energy."""
    d, r = B.shape
    found = call(
        CONDENSE_TO_FORCES, _program_sizes(len(g), len(k), d, r), g, M.ravel(), K.ravel(), k, B.ravel(), metric.ravel()
    )  # fmt: skip
    return None if found is None else ForceProgram._make(found)


def answer_of_forces(a: np.ndarray, A: np.ndarray, F: np.ndarray, M: np.ndarray, h: np.ndarray, J: np.ndarray, K: np.ndarray,
                     k: np.ndarray, undriven: tuple[int, ...]) -> ForceAnswer | None:  # fmt: skip
    """alpha = a + A F, M alpha + h - J^T F, and what is left of K alpha = k + [0; J_u^T F]: M (p, n), J (r, p), u the rows of M
    without motors; None where a number is not finite."""
    found = call(
        ANSWER_OF_FORCES, _answer_sizes(len(a), len(F), len(h), len(k), undriven), a, A.ravel(), F, M.ravel(), h, J.ravel(),
        K.ravel(), k,
    )  # fmt: skip
    return None if found is None else ForceAnswer(found[0], found[1], float(found[2][0]))


@lru_cache(maxsize=256)
def _program_sizes(n: int, rows: int, free: int, forces: int) -> Sizes:
    table = [n, n * n, rows * n, rows, free, forces, forces * forces, free * forces]
    return sizes_table(CONDENSATIONS, table, max(n, rows + 1 + free, forces))


@lru_cache(maxsize=256)
def _answer_sizes(n: int, r: int, p: int, rows: int, undriven: tuple[int, ...]) -> Sizes:
    table = [n, r, n * r, p, p * n, r * p, rows, rows * n, len(undriven), *undriven]
    return sizes_table(ANSWERS, table, max(n, p, rows))
