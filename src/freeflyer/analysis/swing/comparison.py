"""A swing's contact wrenches by source: the simulator's, and what the estimators make of encoders and motor forces."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from freeflyer.analysis.swing.motion import Sway
from freeflyer.sim.mujoco_spec import Servos


@dataclass(frozen=True)
class Swing:
    """What is compared, at the times t (n,), s; everything below the low-pass of `sway.cutoff`.

    offset (n,): the pelvis's wanted offset; pelvis (n, 3): its position, m. wrenches: by source, "simulator", "motors", "balanced",
    "moving" (balanced with the estimated motion), (n, f, 6), [force; torque about the origin], world axes, N, N m. soles: (c, 2)
    corners of each foot on the floor, m. extremes (3, nq): simulated postures furthest left, in the middle, furthest right, at the
    samples extreme_samples. passive_error (n,): largest error of a passive joint, rad or m; base_error (n,): of the base, m; gap
    (n,): largest distance by which MuJoCo's loops are open, m or rad. weight: N. settled: first sample that counts."""

    robot: str
    feet: tuple[str, ...]
    sway: Sway
    servos: Servos
    weight: float
    t: np.ndarray
    offset: np.ndarray
    pelvis: np.ndarray
    wrenches: dict[str, np.ndarray]
    soles: tuple[np.ndarray, ...]
    extremes: np.ndarray
    extreme_samples: tuple[int, ...]
    passive_error: np.ndarray
    base_error: np.ndarray
    gap: np.ndarray
    settled: int

    def subsample(self, every: int) -> Swing:
        """One in `every` samples."""
        keep = slice(None, None, every)
        arrays = {n: getattr(self, n)[keep] for n in ("t", "offset", "pelvis", "passive_error", "base_error", "gap")}
        wrenches = {name: w[keep] for name, w in self.wrenches.items()}
        extremes = tuple(k // every for k in self.extreme_samples)
        return replace(self, wrenches=wrenches, settled=-(-self.settled // every), extreme_samples=extremes, **arrays)

    def vertical(self, source: str) -> np.ndarray:
        """(n, f): vertical force on each foot, N."""
        return self.wrenches[source][:, :, 2]

    def centers(self, source: str) -> np.ndarray:
        """(n, f, 2): centre of pressure of each foot, m."""
        return _centers(self.wrenches[source])

    def zmp(self, source: str) -> np.ndarray:
        """(n, 2): zero-moment point, m."""
        return _centers(self.wrenches[source].sum(axis=1))

    def weight_error(self, source: str) -> float:
        """Largest error of the sum of vertical forces, as a share of the weight."""
        total = self.vertical(source)[self.settled :].sum(axis=1)
        return float(np.abs(total / self.weight - 1.0).max())

    def inside(self, source: str) -> float:
        """Smallest distance of a foot's centre of pressure from the edge of its sole, m; below 0 it lies outside."""
        return min(
            float(_depth(self.centers(source)[self.settled :, k], corners).min()) for k, corners in enumerate(self.soles)
        )

    def force_error(self, source: str) -> np.ndarray:
        """(2, 3): root mean square and largest error of a foot's force in x, y, z against the simulator, N."""
        d = (self.wrenches[source] - self.wrenches["simulator"])[self.settled :, :, :3]
        return np.array([np.sqrt((d**2).mean(axis=(0, 1))), np.abs(d).max(axis=(0, 1))])

    def center_error(self, source: str) -> np.ndarray:
        """(2, 2): root mean square and largest error of the feet's centres of pressure in x and y, m."""
        d = (self.centers(source) - self.centers("simulator"))[self.settled :]
        return np.array([np.sqrt((d**2).mean(axis=(0, 1))), np.abs(d).max(axis=(0, 1))])

    def zmp_error(self, source: str) -> np.ndarray:
        """(2, 2): likewise of the zero-moment point, m."""
        d = (self.zmp(source) - self.zmp("simulator"))[self.settled :]
        return np.array([np.sqrt((d**2).mean(axis=0)), np.abs(d).max(axis=0)])


def _centers(w: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(w[..., 2:3] > 0.0, np.stack([-w[..., 4], w[..., 3]], axis=-1) / w[..., 2:3], np.nan)


def _depth(points: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """(n,): distance to the nearest edge of a convex polygon (c, 2), counter-clockwise; negative outside."""
    edges = np.roll(corners, -1, axis=0) - corners
    normals = np.stack([-edges[:, 1], edges[:, 0]], axis=-1) / np.linalg.norm(edges, axis=1, keepdims=True)
    return np.einsum("nci,ci->nc", points[:, None] - corners, normals).min(axis=1)
