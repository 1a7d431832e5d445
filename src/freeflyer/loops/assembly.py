"""Assembling a linkage: the nearest posture in which every loop is closed, from any guess."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics.closed.closing import CLOSED, close, file_posture
from freeflyer.dynamics.closed.constraints import constraint_loops
from freeflyer.dynamics.closed.errors import AssemblyError
from freeflyer.dynamics.closed.structure import structure
from freeflyer.model.inputs import row
from freeflyer.model.model import Model


@dataclass(frozen=True)
class Assembly:
    """Closed postures: q (..., nq), residual (..., r) in m and rad, worst_loop (the most open loop's name), iterations (...).

    closed (...): whether every row is within `tolerance`.
    """

    q: np.ndarray
    residual: np.ndarray
    worst_loop: str
    iterations: Any
    closed: Any
    tolerance: float


def assemble(
    model: Model, q: ArrayLike | None = None, *, hold: str | Sequence[str] | None = None, limits: bool = True,
    tolerance: float = CLOSED,
) -> Assembly:  # fmt: skip
    """The closed posture that the guess q (..., nq) leads to; without q: the file's posture.

    hold: names of joints that stay where they are, or "actuated": all motors. The base stays always.
    """
    s = structure(model)
    x = file_posture(model) if q is None else row(model, "q", q, "q")
    held = set(model.actuated) if hold == "actuated" else set(hold or ())
    movable = np.array([i for i in np.concatenate([s.passive, s.actuated]) if s.owner[i] not in held], dtype=np.int64)
    lead = x.shape[:-1]
    found = [close(model, one, np.sort(movable)) for one in x.reshape(-1, model.nq)]
    residual = np.array([f[1] for f in found]).reshape(*lead, -1)
    gap = np.abs(residual)
    worst = constraint_loops(model)[int(np.argmax(gap.reshape(-1, gap.shape[-1]).max(axis=0)))] if gap.size else ""
    closed = gap.max(axis=-1, initial=0.0) <= tolerance
    if not closed.all():
        raise AssemblyError(
            f"loop {worst!r} of {model.name!r} stays open by {gap.max():.3g} (m or rad): no posture near the guess closes it",
            loop=worst, gap=float(gap.max()),
        )  # fmt: skip
    q = np.array([f[0] for f in found]).reshape(*lead, model.nq)
    return Assembly(q, residual, worst, np.array([f[2] for f in found]).reshape(lead)[()], closed[()], tolerance)
