"""Eigenvalues in words: what moves, and whether it decays, grows, swings or drifts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from freeflyer.control.inputs import coordinate_names, describe_direction
from freeflyer.model.model import Model
from freeflyer.tolerances import IMAGINARY_AXIS_RATIO, ZERO_RATE


@dataclass(frozen=True)
class Mode:
    """`count` eigenvalues real +- i imaginary (1/s): `behaviour` in a word, and the `motion` that they are of."""

    real: float
    imaginary: float
    count: int
    behaviour: str
    motion: str

    @property
    def period(self) -> float:
        """Of a swing (s); infinite where nothing swings."""
        return 2.0 * np.pi / self.imaginary if self.imaginary else float("inf")

    @property
    def time(self) -> float:
        """In which it grows or decays by e (s); infinite where it does neither."""
        return 1.0 / abs(self.real) if self.real else float("inf")


def modes_of(model: Model, A: np.ndarray, values: NDArray[np.complex128], vectors: np.ndarray) -> tuple[Mode, ...]:
    """Modes of A (2 nv, 2 nv), states scaled alike, from its eigenvalues and vectors: fastest growing first, drifts last."""
    names, n = coordinate_names(model), model.nv
    fastest = max(float(np.sqrt(np.linalg.norm(A[n:, :n], 2))), 1e-6)
    edge, still = IMAGINARY_AXIS_RATIO * fastest, np.abs(values) <= ZERO_RATE * fastest
    found = []
    for k in np.argsort(-values.real):
        s = values[k]
        if still[k] or s.imag < -edge:
            continue
        swings = bool(s.imag > edge)
        real = 0.0 if abs(s.real) <= edge else float(s.real)
        size = np.abs(vectors[:n, k]) if np.any(np.abs(vectors[:n, k]) > 1e-12) else np.abs(vectors[n:, k])
        words = describe_direction(names, size)
        found.append(Mode(real, float(s.imag) if swings else 0.0, 2 if swings else 1, _behaviour(real, swings), words))
    if np.any(still):
        found.append(Mode(0.0, 0.0, int(np.sum(still)), "drifts", _drifting(names, A)))
    return tuple(found)


def _behaviour(real: float, swings: bool) -> str:
    verb = "swings" if swings else ""
    change = "grows" if real > 0.0 else "decays" if real < 0.0 else ""
    return " and ".join(x for x in (verb, change) if x) or "stays"


def _drifting(names: tuple[str, ...], A: np.ndarray) -> str:
    """The postures that nothing leads back: those that accelerate nothing."""
    n = len(names)
    _, s, Vt = np.linalg.svd(A[n:, :n])
    free = Vt[s <= 1e-6 * max(float(s.max(initial=0.0)), 1e-9)].T if s.size else np.eye(n)
    if not free.shape[1]:
        return "none of its own"
    from freeflyer.control.controllable import echelon

    return ", ".join(dict.fromkeys(describe_direction(names, d) for _, d in sorted(echelon(free), key=lambda x: x[0])))
