"""Table 1: the twists of joints, ours beside the rates of the poses that the joints give."""

from __future__ import annotations

import numpy as np

from freeflyer.dynamics.manifold import integrate
from freeflyer.model.configuration import random_configuration
from freeflyer.spatial import dual_quaternion as D
from freeflyer_papers.dual_quaternion.arms import KINDS, serial_arm
from freeflyer_papers.dual_quaternion.results import Twist
from freeflyer_papers.printed.newton_euler import Body, bodies_of

FORMULAS = {
    "6-DoF": "wx i + wy j + wz k + eps (vx i + vy j + vz k)", "revolute": "w l", "spherical": "wx i + wy j + wz k",
    "cylindrical": "(w + eps v) l", "planar": "w l + eps (vx i + vy j)", "prismatic": "eps v l", "helical": "(w + eps h w) l",
}  # fmt: skip
STEP = 1e-3  # s, of a central difference of sixth order
WEIGHTS = (3 / 4, -3 / 20, 1 / 60)


def twists() -> tuple[Twist, ...]:
    """Every joint of Table 1 by itself, at a random position and velocity."""
    return tuple(_twist(kind) for kind in KINDS)


def _twist(kind: str) -> Twist:
    model, rng = serial_arm(1, kind), np.random.default_rng(3)
    q, v = random_configuration(model, rng), rng.standard_normal(model.nv)
    rest = np.zeros(model.nv)

    def moved(t: float) -> tuple[Body, ...]:
        return bodies_of(model, integrate(model, q, t * v), v, rest)

    def pose(bodies: tuple[Body, ...]) -> np.ndarray:
        """Of the link's centre of mass in the joint's frame, through the massless links of joints that are chains."""
        x = bodies[0].x_joint
        for b in bodies[1:]:
            x = D.multiply(D.multiply(x, b.x_parent), b.x_joint)
        return x

    rate = sum(w * (pose(moved(k * STEP)) - pose(moved(-k * STEP))) for k, w in enumerate(WEIGHTS, 1)) / STEP
    bodies, xi, x = moved(0.0), np.zeros(8), np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0])
    for k, b in enumerate(bodies):
        x = D.multiply(x, b.x_parent) if k else x
        xi = xi + D.adjoint(x, b.twist)  # all in the axes of the first joint's frame
        x = D.multiply(x, b.x_joint)
    error = np.abs(rate - D.rate_from_twist(pose(bodies), xi, "world")).max()
    return Twist(kind, FORMULAS[kind], model.nv, float(error))
