"""Closed robots for the tests of estimation: made by code, and the shared files."""

import freeflyer as ff
import numpy as np
from closeness import fresh
from functools import cache
from linkage_samples import driven_linkage
from pathlib import Path
from typing import Any

NAMES = ("kangaroo_like", "kangaroo", "cassie", "battobot", "five_bar")
PAPER_ENCODERS = ("1_joint", "2_joint", "3_joint", "knee_joint", "4_joint", "5_joint")
LIKE_ENCODERS = ("hip_yaw", "hip_roll", "hip_pitch", "knee", "ankle_pitch", "ankle_roll")
KINDS = ("revolute", "prismatic", "helical", "continuous")  # joints that one motor drives
FIRST_FLOATING = 6
SPRINGS = ("left-shin", "left-heel-spring", "right-shin", "right-heel-spring")


@cache
def sensed(name: str, folder: Path | None = None) -> Any:
    """The sensors of a robot."""
    if name == "kangaroo_like":
        return ff.estimation.sensors(ff.robots.kangaroo_like())
    assert folder is not None
    if name in ("kangaroo", "cassie"):
        return ff.estimation.sensors(ff.load(folder / name / f"{name}.xml"), rigid=SPRINGS if name == "cassie" else ())
    return ff.estimation.sensors(ff.load(folder / name / "robot.urdf", base="fixed", loops=folder / name / "robot.yaml"))


def encoders_of(model: Any) -> list[str]:
    """Six absolute encoders a leg."""
    if model.name == "kangaroo":
        return [f"leg_{side}_{joint}" for side in ("left", "right") for joint in PAPER_ENCODERS]
    return [f"{side}_{joint}" for side in ("left", "right") for joint in LIKE_ENCODERS]


def moving(s: Any, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(q, positions, rates): a posture with loops slightly open, and what encoders near by show."""
    rng = fresh(seed)
    dv = 1e-3 * rng.standard_normal(s.model.nv)
    q = ff.integrate(s.model, s.partition.q, dv)
    inside = np.clip(q[s.positions], s.lower, s.upper)
    return q, inside, 0.1 * rng.standard_normal(len(s.names))


def resting_forces(s, c, wrenches):
    """Motor forces at rest from the tree's equations with multipliers: g - J_c^T W = S^T tau + J_l^T lambda."""
    m, L = s.model, s.partition
    g = ff.gravity_forces(m, c.q)
    for foot, w in zip(c.feet, wrenches):
        g = g - ff.frame_jacobian(m, c.q, foot.frame).T @ w
    J = ff.linkages.constraint_jacobian(m, c.q)[L.rows]
    multipliers = np.linalg.solve(J[:, L.dependent].T, g[L.dependent])
    rest = g - J.T @ multipliers
    return rest[s.coordinates], rest[L.base]


@cache
def sensed_linkage(k: int, draw: int = 0) -> tuple[ff.estimation.Sensors, np.ndarray, float]:
    """(sensors, a closed posture, condition number) of a random linkage that motors drive."""
    rng = fresh("estimation", k, draw)
    tree, condition = driven_linkage(rng, loops=1 + k % 2, kinds=KINDS, base=("free", "fixed")[k % 2], to_world=bool(k % 2))
    s, closed = ff.estimation.sensors(tree), ff.close_loops(tree)
    step = 0.05 / condition * rng.uniform(-1.0, 1.0, closed.nv)
    step[: FIRST_FLOATING * (tree.joints[0].kind == "free")] = 0.0  # encoders do not see where the base is
    return s, ff.integrate(closed, s.partition.q, step), condition
