"""A robot like that of the geometric linearisation paper, Fig 4: branched, on a moving base, with revolute, prismatic and helical
joints.

The figure shows the topology, not the numbers, so masses, lengths and axes are ours; (b) of the figure, all joints at 0.3, and a
base that moves, is the state of all checks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from freeflyer.model.build import build
from freeflyer.model.description import WORLD, Description, Inertia, Joint, Link
from freeflyer.model.model import Model

POSITION = 0.3  # of every joint, m or rad
PITCH = 0.1  # m/rad, of helical joints
SHAPE = (  # joint i carries body i: kind, parent body, where on it (m), axis, and the body's far end (m)
    ("revolute", 0, (0.2, 0.0, 0.0), (0.0, 1.0, 0.0), (0.3, 0.0, 0.0)),
    ("prismatic", 1, (0.3, 0.0, 0.0), (1.0, 0.0, 0.0), (0.3, 0.0, 0.0)),
    ("helical", 2, (0.3, 0.0, 0.0), (1.0, 0.0, 0.2), (0.1, 0.0, 0.0)),
    ("revolute", 3, (0.1, 0.12, 0.0), (0.0, 0.3, 1.0), (0.2, 0.25, 0.0)),
    ("prismatic", 3, (0.1, -0.12, 0.0), (0.2, -1.0, 0.0), (0.1, -0.25, 0.0)),
    ("helical", 0, (-0.2, 0.0, 0.0), (0.0, 0.0, 1.0), (-0.3, 0.0, 0.0)),
    ("revolute", 6, (-0.3, 0.0, 0.0), (0.0, 1.0, 0.0), (-0.3, 0.0, 0.0)),
    ("prismatic", 7, (-0.3, -0.12, 0.0), (-0.3, 0.0, 1.0), (0.0, 0.0, 0.3)),
    ("helical", 7, (-0.3, 0.12, 0.0), (0.0, 1.0, 0.0), (-0.1, 0.3, 0.0)),
    ("revolute", 0, (0.0, 0.2, 0.0), (1.0, 0.0, 0.0), (0.0, 0.35, 0.0)),
)
BASE_SIZE, BASE_MASS, BODY_MASS, RADIUS = (0.4, 0.4, 0.2), 5.0, 0.8, 0.04
BASE_POSITION, BASE_TURN = (0.1, -0.2, 0.5), (0.4, -0.7, 1.1)  # m; rotation vector, rad


@dataclass(frozen=True)
class State:
    """q (nq,), v, a, tau (nv,) with tau the forces that give a."""

    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    tau: np.ndarray


def branched_robot() -> Model:
    """Ten bodies on a floating base: nv = 16."""
    links, joints = [Link("base", _box())], [Joint("root_joint", "free", WORLD, "base")]
    for i, (kind, parent, at, axis, end) in enumerate(SHAPE, start=1):
        placement = np.eye(4)
        placement[:3, 3] = at
        links.append(Link(f"body_{i}", _rod(np.array(end))))
        joints.append(Joint(
            f"{kind}_{i}", kind, "base" if parent == 0 else f"body_{parent}", f"body_{i}", placement,
            np.array(axis) / np.linalg.norm(axis), pitch=PITCH if kind == "helical" else 0.0,
        ))  # fmt: skip
    return build(Description("branched", tuple(links), tuple(joints)))


def perturbed_state(model: Model) -> State:
    """All joints at 0.3, a turned and moving base; velocities and accelerations random, but always the same."""
    from freeflyer.dynamics.equations import inverse_dynamics
    from freeflyer.spatial import quaternion

    rng = np.random.default_rng(2)
    q = np.full(model.nq, POSITION)
    q[:3], q[3:7] = BASE_POSITION, quaternion.exp(np.array(BASE_TURN))
    v, a = rng.uniform(-1.0, 1.0, (2, model.nv))
    return State(q, v, a, inverse_dynamics(model, q, v, a))


def _box() -> Inertia:
    xx, yy, zz = np.square(BASE_SIZE)
    return Inertia(BASE_MASS, np.zeros(3), BASE_MASS / 12.0 * np.diag([yy + zz, xx + zz, xx + yy]))


def _rod(end: np.ndarray) -> Inertia:
    """A cylinder from the joint to `end`."""
    length = float(np.linalg.norm(end))
    along = np.outer(end, end) / length**2
    across = BODY_MASS * (3.0 * RADIUS**2 + length**2) / 12.0
    return Inertia(BODY_MASS, 0.5 * end, across * (np.eye(3) - along) + 0.5 * BODY_MASS * RADIUS**2 * along)


def skeleton(model: Model, q: np.ndarray) -> np.ndarray:
    """(bodies + 1, 2, 3): where each body's joint and far end are in the world; the base first, as a point."""
    from freeflyer.dynamics.frames import frame_pose

    ends = [(0.0, 0.0, 0.0), *(end for *_, end in SHAPE)]
    poses = [frame_pose(model, q, name) for name in ("base", *(f"body_{i}" for i in range(1, len(ends))))]
    return np.array([(X[:3, 3], X[:3, :3] @ end + X[:3, 3]) for X, end in zip(poses, ends, strict=True)])
