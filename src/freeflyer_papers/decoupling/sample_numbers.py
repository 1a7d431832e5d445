"""Numbers of the sample program's outputs by the compiled kernels, for a batch of states of the revolute hopper."""

from __future__ import annotations

import numpy as np
from scipy.integrate import quad

from freeflyer.dynamics.centroidal import center_of_mass, center_of_mass_jacobian, centroidal_momentum
from freeflyer.dynamics.equations import gravity_forces, inverse_dynamics, mass_matrix, potential_energy
from freeflyer.dynamics.frames import frame_jacobian, frame_pose
from freeflyer.model.model import Model

PLANE = [0, 2]  # entries of vectors in space that are those of the plane
S = np.array([[0.0, -1.0], [1.0, 0.0]])


def rates(q: np.ndarray) -> np.ndarray:
    """T (..., 4, 4) with rates of the coordinates = T v, v the base's twist in its axes and the joint's rate."""
    T = np.zeros((*q.shape, 4)) + np.eye(4)
    T[..., :2, :2] = rotation(q[..., 2])
    return T


def rotation(angle: np.ndarray) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return np.stack([np.stack([c, -s], -1), np.stack([s, c], -1)], -2)


def kernel_numbers(model: Model, q: np.ndarray, v: np.ndarray) -> dict[str, np.ndarray]:
    """Each output for q, v (n, 4); "Cbp v" in place of Cbp, whose matrix is one of many."""
    T = rates(q)
    M = mass_matrix(model, q)
    w = _times(T, v)
    spin = np.concatenate([v[:, 2:3] * _times(S, w[:, :2]), np.zeros((len(q), 2))], axis=1)  # rate of w at constant v
    G = gravity_forces(model, q)
    coriolis = inverse_dynamics(model, q, w, spin) - G
    turned = np.swapaxes(T, -1, -2)
    knee, foot = (frame_pose(model, q, name)[:, PLANE, 3] for name in ("shank", "foot_point"))
    J_knee, J_foot = (frame_jacobian(model, q, name, expressed="mixed")[:, PLANE] @ T for name in ("shank", "foot_point"))
    com, J_com = center_of_mass(model, q)[:, PLANE], center_of_mass_jacobian(model, q)[:, PLANE] @ T
    locked = locked_turn(model, q)
    angle = np.array([com_angle(model, float(x)) for x in q[:, 3]])
    R_ic = rotation(q[:, 2] + angle)
    arm, J_arm = foot - com, J_foot - J_com
    r = np.linalg.norm(arm, axis=1)
    J_alpha = np.zeros((len(q), 4)) + [0.0, 0.0, 1.0, 0.0]
    J_alpha[:, 3] = locked
    momentum = centroidal_momentum(model, q, w)
    h = np.stack([momentum[:, 0], momentum[:, 2], -momentum[:, 4]], axis=1)
    R_ci = np.swapaxes(R_ic, -1, -2)
    spun = (_times(S, arm))[:, :, None] * J_alpha[:, None, :]
    return {
        "Mb": turned @ M @ T, "MbI": np.linalg.inv(turned @ M @ T), "Cbp v": _times(turned, coriolis), "Gb": _times(turned, G),
        "E_pot": potential_energy(model, q), "o_i1": knee, "o_if": foot, "o_ic": com, "o_cf": _times(R_ci, arm),
        "Jodot_i1": J_knee, "Jodot_if": J_foot, "Jodot_ic": J_com, "Jodot_cf": R_ci @ (J_arm - spun),
        "Jalpha_iodot_cf": np.einsum("ni,nij->nj", _times(S, arm), J_arm)[:, None] / (r**2)[:, None, None],
        "Jrdot_cf": np.einsum("ni,nij->nj", arm, J_arm)[:, None] / r[:, None, None], "alpha_c": q[:, 2] + angle + np.pi / 2.0,
        "Jalphadot_c": J_alpha[:, None], "h_c": np.concatenate([_times(R_ci, h[:, :2]), h[:, 2:]], axis=1), "h_inertc": h,
    }  # fmt: skip


def locked_turn(model: Model, q: np.ndarray) -> np.ndarray:
    """T_omega (...): the third row of M_bb^-1 M_bq."""
    M = np.swapaxes(rates(q), -1, -2) @ mass_matrix(model, q) @ rates(q)
    return np.linalg.solve(M[..., :3, :3], M[..., :3, 3:])[..., 2, 0]


def com_angle(model: Model, q: float) -> float:
    """Angle of the frame that turns with the locked velocity, by quadrature (3.75)."""
    return float(quad(lambda x: float(locked_turn(model, np.array([0.0, 0.0, 0.0, x]))), 0.0, q, epsabs=1e-13, epsrel=1e-13)[0])


def _times(A: np.ndarray, x: np.ndarray) -> np.ndarray:
    return np.einsum("...ij,...j->...i", A, x)
