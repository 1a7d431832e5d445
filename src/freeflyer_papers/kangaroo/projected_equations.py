"""The equations of motion of a floating robot with closed linkages, part by part: Kangaroo paper, eqs. (25)-(29), and projected,
(60)-(73).

Velocities are split into those of the base (b), of the motors (a), and passive ones (u), which the loops determine. Everything here
is NumPy over the tree's own M, h and Jacobians, as the paper writes it; no controller's code is used."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from freeflyer.contacts.description import Contact
from freeflyer.dynamics.equations import bias_forces, mass_matrix
from freeflyer.dynamics.frames import frame_jacobian
from freeflyer.linkages.rows import constraint_bias, constraint_jacobian
from freeflyer.model.model import Model


class Equations(NamedTuple):
    """M a + h = S tau + J_c^T F + J_l^T lambda (25a), J_l a + rate = 0 (25c), at one state of all joints.

    J_l (m, n): independent rows of the loops; rate (m,): Jdot_l v. J_c (k, n): of the contacts, each in its frame's axes. b, a, u:
    coordinates of the base, the motors and the passive joints."""

    M: np.ndarray
    h: np.ndarray
    J_l: np.ndarray
    rate: np.ndarray
    J_c: np.ndarray
    b: np.ndarray
    a: np.ndarray
    u: np.ndarray

    @property
    def J_m(self) -> np.ndarray:
        """Passive from motor velocities (m, a): -J_lu^-1 J_la."""
        return -np.linalg.solve(self.J_l[:, self.u], self.J_l[:, self.a])

    @property
    def passive_rate(self) -> np.ndarray:
        """J_lu^-1 Jdot_l v (m,): what passive accelerations are short of J_m a_a."""
        return np.linalg.solve(self.J_l[:, self.u], self.rate)

    def multipliers(self, acceleration: np.ndarray, F: np.ndarray) -> np.ndarray:
        """The second step (28): lambda (m,) from the rows of the passive joints."""
        left = self.M[self.u] @ acceleration + self.h[self.u] - self.J_c[:, self.u].T @ F
        return np.linalg.solve(self.J_l[:, self.u].T, left)

    def torques(self, acceleration: np.ndarray, F: np.ndarray, multipliers: np.ndarray) -> np.ndarray:
        """The third step (29): motor forces from the rows of the motors."""
        rows = self.M[self.a] @ acceleration + self.h[self.a] - self.J_c[:, self.a].T @ F
        return np.asarray(rows - self.J_l[:, self.a].T @ multipliers)

    def projected_rows(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(M_m, h_m) of some rows, (63), (68), (70): M over base and motor accelerations only, and what the passive ones leave."""
        by_u = self.M[np.ix_(rows, self.u)]
        M = np.hstack([self.M[np.ix_(rows, self.b)], by_u @ self.J_m + self.M[np.ix_(rows, self.a)]])
        return M, self.h[rows] - by_u @ self.passive_rate

    def base_residual(self, reduced: np.ndarray, F: np.ndarray) -> np.ndarray:
        """The floating base's part (62), which must vanish: M_bm a + h_bm - J_cb^T F (6,); reduced: [base; motor] accelerations."""
        M, h = self.projected_rows(self.b)
        return np.asarray(M @ reduced + h - self.J_c[:, self.b].T @ F)

    def projected_multipliers(self, reduced: np.ndarray, F: np.ndarray) -> np.ndarray:
        """lambda (m,) from base and motor accelerations (67)."""
        M, h = self.projected_rows(self.u)
        return np.linalg.solve(self.J_l[:, self.u].T, M @ reduced + h - self.J_c[:, self.u].T @ F)

    def projected_torques(self, reduced: np.ndarray, F: np.ndarray, multipliers: np.ndarray) -> np.ndarray:
        """Motor forces from base and motor accelerations, and multipliers (69)."""
        M, h = self.projected_rows(self.a)
        return np.asarray(M @ reduced + h - self.J_c[:, self.a].T @ F - self.J_l[:, self.a].T @ multipliers)

    def joint_space_torques(self, reduced: np.ndarray, F: np.ndarray) -> np.ndarray:
        """Motor forces without multipliers (71)-(73)."""
        M_a, h_a = self.projected_rows(self.a)
        M_u, h_u = self.projected_rows(self.u)
        J_m = self.J_m
        J_cmj = self.J_c[:, self.a] + self.J_c[:, self.u] @ J_m
        return np.asarray((M_a + J_m.T @ M_u) @ reduced + h_a + J_m.T @ h_u - J_cmj.T @ F)


def equations(closed: Model, q: np.ndarray, v: np.ndarray, feet: tuple[Contact, ...]) -> Equations:
    """Of a closed model at a posture q (nq,) and the velocities v (nv,) of all its joints."""
    tree, split = closed.tree, closed.reduction.split
    J_c = np.vstack([frame_jacobian(tree, q, foot.frame, expressed="body") for foot in feet])
    motors = np.setdiff1d(split.independent, split.base)
    return Equations(
        mass_matrix(tree, q), bias_forces(tree, q, v), constraint_jacobian(tree, q)[split.rows],
        constraint_bias(tree, q, v)[split.rows], J_c, split.base, motors, split.dependent,
    )  # fmt: skip
