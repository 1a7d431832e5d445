"""Serial arms of n joints of one kind, of any axes, places and inertias, always the same: the paper gives none of its own."""

from __future__ import annotations

import numpy as np

from freeflyer.model.build import build
from freeflyer.model.description import WORLD, Description, Inertia, Joint, Link
from freeflyer.model.model import Model
from freeflyer.spatial import quaternion, se3

PITCH = 0.05  # m/rad, of helical joints
KINDS = ("6-DoF", "revolute", "spherical", "cylindrical", "planar", "prismatic", "helical")  # of Table 1
NAMES = {"6-DoF": "free"}


def serial_arm(n: int, kind: str = "revolute", seed: int = 0) -> Model:
    """n joints of a kind of Table 1, each on the link before."""
    rng = np.random.default_rng([seed, n])
    links, joints = [], []
    for k in range(n):
        com, axis = 0.05 * rng.standard_normal(3), rng.standard_normal(3)
        I = np.diag(rng.uniform(0.01, 0.015, 3))
        turned = quaternion.to_matrix(quaternion.random(rng))
        links.append(Link(f"link_{k + 1}", Inertia(float(rng.uniform(0.2, 0.5)), com, turned @ I @ turned.T)))
        at = se3.from_position_quaternion(0.1 * rng.standard_normal(3), quaternion.random(rng))
        joints.append(Joint(
            f"joint_{k + 1}", NAMES.get(kind, kind), f"link_{k}" if k else WORLD, f"link_{k + 1}", at, axis / np.linalg.norm(axis),
            pitch=PITCH if kind == "helical" else 0.0,
        ))  # fmt: skip
    return build(Description(f"{n} {kind} joints", tuple(links), tuple(joints)))
