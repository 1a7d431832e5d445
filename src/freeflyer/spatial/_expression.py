"""The three ways to write the twist or wrench of a frame B in the world: body, mixed, world.

Each is a frame E: its origin is the point of reference, its axes are those of the components. X_EB is the identity for body, B's
rotation for mixed and B's pose for world, so a change of expression is a change of frame."""

from __future__ import annotations

import numpy as np

from freeflyer.errors import InputError
from freeflyer.spatial import se3

EXPRESSIONS = ("body", "mixed", "world")


def relative_transform(X_WB: np.ndarray, source: str, target: str) -> np.ndarray:
    """X_TS (..., 4, 4) from the frame of the expression `source` to that of `target`."""
    return se3.compose(_frame(X_WB, target, "target"), se3.inverse(_frame(X_WB, source, "source")))


def _frame(X_WB: np.ndarray, expression: str, role: str) -> np.ndarray:
    if expression not in EXPRESSIONS:
        text = f"{role} is {expression!r}; expected one of {', '.join(map(repr, EXPRESSIONS))}"
        raise InputError(f"{text} (body axes; body origin, world axes; world origin and axes).", **{role: expression})
    X = X_WB.copy()
    if expression != "world":
        X[..., :3, 3] = 0.0
    if expression == "body":
        X[..., :3, :3] = np.eye(3)
    return X
