"""Gravity as an argument: the three numbers of a vector, never a lone one, whose sign and direction would be a guess."""

from __future__ import annotations

from typing import Any

import numpy as np

from freeflyer.errors import InputError
from freeflyer.model.inputs import real_array

DOWN = "such as (0.0, 0.0, -9.81)"


def gravity_vector(gravity: Any) -> tuple[float, float, float]:
    """Three finite numbers (m/s^2, world axes); InputError for anything else."""
    g = real_array("gravity", gravity)
    if g.shape != (3,):
        raise InputError(f"gravity {explain_mistake(g)}", shape=g.shape, expected=(3,))
    if not np.isfinite(g).all():
        raise InputError(f"gravity must be three finite numbers in m/s^2, {DOWN}; got {g.tolist()}", value=g.tolist())
    x, y, z = g.tolist()
    return x, y, z


def gravity_rows(gravity: Any) -> np.ndarray:
    """Finite numbers (..., 3) (m/s^2, world axes); InputError for anything else."""
    g = real_array("gravity", gravity)
    if g.ndim == 0 or g.shape[-1] != 3:
        raise InputError(f"gravity {explain_mistake(g)}", shape=g.shape, expected=(3,))
    if not np.isfinite(g).all():
        at = [int(k) for k in np.argwhere(~np.isfinite(g))[0]]
        raise InputError(f"gravity{at} is {g[tuple(at)]}: every entry must be finite, {DOWN} (m/s^2)", index=tuple(at))
    return g


def explain_mistake(g: np.ndarray) -> str:
    """What is wrong with numbers of another shape than (3,), and what to write instead."""
    if g.size != 1:
        return f"must be three numbers in m/s^2 along the world's axes, {DOWN}; got shape {g.shape}"
    down = -abs(float(g.item())) + 0.0  # not -0.0
    return f"is the lone number {g.item()!r}: write the vector in world axes (m/s^2), (0.0, 0.0, {down!r}) for downwards"
