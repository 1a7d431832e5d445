"""Derivatives by complex steps through the compiled library's own kernels, run as plain Python on complex numbers.

Another algorithm, in other axes, than the paper's tables; and exact to rounding, as a step of 1e-30 squares to nothing."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from freeflyer.kernels import plain
from freeflyer.model.model import Model

STEP = 1e-30


def by_complex_steps(kernel: str, model: Model, q: np.ndarray, v: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, ...]:
    """Derivatives (nv, nv) of the entry `kernel` ("rnea": x = a, "aba": x = tau) by q (tangent space), v and x."""

    def run(q: np.ndarray, v: np.ndarray, x: np.ndarray) -> np.ndarray:
        return np.array(plain.run(kernel, model, list(q), list(v), list(x)), complex)

    def moved(u: np.ndarray) -> np.ndarray:
        return np.array(plain.run("integrate", model, list(q), list(u)), complex)

    q, v, x = (np.asarray(y, complex) for y in (q, v, x))
    return (_columns(lambda u: run(moved(u), v, x), model.nv), _columns(lambda u: run(q, v + u, x), model.nv),
            _columns(lambda u: run(q, v, x + u), model.nv))  # fmt: skip


def _columns(f: Callable[[np.ndarray], np.ndarray], n: int) -> np.ndarray:
    return np.stack([np.imag(f(1j * STEP * e)) / STEP for e in np.eye(n)], axis=-1)


def distance(actual: np.ndarray, expected: np.ndarray) -> float:
    """Largest difference, relative to the largest entry of `expected`."""
    return float(np.abs(actual - expected).max() / np.abs(expected).max())
