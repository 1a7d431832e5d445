"""Body frames that suit the recursions: two plane rotations lead from a screw's body to its parent.

The z axis of a screw's body is the joint's axis, but which way its x axis points is free. A resting rotation is a product
Rz(azimuth) Rx(twist) Rz(rest): the rest becomes an offset of the joint's angle, and x axes are chosen so that the azimuth of each
body's first screw is zero (J. Denavit, R. S. Hartenberg 1955). Azimuths then remain at branches only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import atan2, hypot

import numpy as np

from freeflyer.kernels.model import layout as L
from freeflyer.model.flatten import Body
from freeflyer.tolerances import AXIS_ROUNDING


def align(
    bodies: Sequence[Body], frames: Sequence[tuple[str, int, np.ndarray]]
) -> tuple[list[Body], list[tuple[str, int, np.ndarray]]]:
    """The same tree with the x axes of its screws chosen; no result depends on it."""
    first = {}
    for i, b in reversed(list(enumerate(bodies))):
        if i and b.kind == L.SCREW:
            first[b.parent] = b
    spins = [np.eye(3)]
    result = [bodies[0]]
    for i, b in enumerate(bodies[1:], 1):
        X = _spun(spins[b.parent], b.placement)
        spin, screw = np.eye(3), b.screw
        if b.kind == L.SCREW:
            azimuth, tilted = _azimuth(X[:3, :3])
            rest = tilted.T @ azimuth.T @ X[:3, :3]
            if i in first:
                spin = _azimuth(first[i].placement[:3, :3])[0].T
            X[:3, :3] = azimuth @ tilted
            offset = rest @ spin.T
            screw = (*b.screw[:2], b.screw[2] + atan2(_clean(offset[1, 0]), _clean(offset[0, 0])), b.screw[3])
        spins.append(spin)
        result.append(replace(
            b, placement=X, screw=screw, moment=spin @ b.moment, rotational=spin @ b.rotational @ spin.T,
        ))  # fmt: skip
    return result, [(name, body, _spun(spins[body], X)) for name, body, X in frames]


def _spun(R: np.ndarray, X: np.ndarray) -> np.ndarray:
    Y = X.copy()
    Y[:3] = R @ X[:3]
    return Y


def _clean(x: float) -> float:
    return 0.0 if abs(x) < AXIS_ROUNDING else float(x)


def _azimuth(R: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rz(azimuth) and Rx(twist) (3, 3) of a rotation Rz(azimuth) Rx(twist) Rz(rest); the azimuth within a quarter turn."""
    x, y, z = map(_clean, R[:, 2])
    size = hypot(x, y)
    if size == 0.0:
        return np.eye(3), np.diag([1.0, np.copysign(1.0, z), np.copysign(1.0, z)])
    if y > 0.0:
        size = -size
    s, c = x / size, -y / size
    return (np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]),
            np.array([[1.0, 0.0, 0.0], [0.0, z, -size], [0.0, size, z]]))  # fmt: skip
