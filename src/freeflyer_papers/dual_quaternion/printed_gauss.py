"""dqGP as the paper prints it, section 4: Jacobians of dual quaternions of eight entries, (31)-(50) with full matrices.

For serial arms with one screw a link, of any scalar. The paper takes the Jacobian of a pose from its reference [12]; with the pose
x_i of c_i and the screw s_k of joint k, both in the world, column k of J_x is s_k x_i / 2, by (4)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from freeflyer_papers.printed.newton_euler import adjoint, conjugate, cross, product

Array = np.ndarray
IMAGINARY = [0, 1, 2, 4, 5, 6]  # the rows that I-bar keeps


class Terms(NamedTuple):
    """Of one body: J and its rate (6, n), Psi and S-bar (6, 6), the conjugate of its pose (8,)."""

    J: Array
    J_rate: Array
    Psi: Array
    S: Array
    back: Array


def gauss_as_printed(x_parent: Sequence[Array], x_joint: Sequence[Array], screws: Sequence[Array], v: Array, masses: Sequence[Any],
                     inertias: Sequence[Array], gravity: Array) -> tuple[Array, Array, Array]:  # fmt: skip
    """M, C (n, n) and g (n,) of an arm whose body i has those poses (8,), unit screw (8,) in its joint's frame, mass and inertia
    (3, 3); v (n,); gravity (3,)."""
    n = len(v)
    M, C, g = (np.full(shape, 0 * v[0], dtype=v.dtype) for shape in ((n, n), (n, n), (n,)))
    for (J, J_rate, Psi, S, back), mass in zip(body_terms(x_parent, x_joint, screws, v, masses, inertias), masses):
        M = M + J.T.dot(Psi.dot(J))  # (46)
        C = C + J.T.dot(S.dot(J) + Psi.dot(J_rate))  # (47)
        weight = np.concatenate([gravity, [0 * gravity[0]]]) * mass
        g = g - J[3:].T.dot(_rotated(back[:4], weight)[:3])  # minus (50)
    return M, C, g


def skew_part_as_printed(terms: Sequence[Terms]) -> tuple[Array, Array]:
    """A (n, n) of Remark 4.1 as printed, and what it lacks of Mdot / 2 - C, itself skew."""
    printed = -sum(J.T @ S @ J for J, _, _, S, _ in terms)
    lacking = sum(0.5 * (J_rate.T @ Psi @ J - J.T @ Psi @ J_rate) for J, J_rate, Psi, _, _ in terms)
    return np.asarray(printed), np.asarray(lacking)


def body_terms(x_parent: Sequence[Array], x_joint: Sequence[Array], screws: Sequence[Array], v: Array, masses: Sequence[Any],
               inertias: Sequence[Array]) -> Iterator[Terms]:  # fmt: skip
    """Terms of every body; the arguments are those of gauss_as_printed."""
    n = len(v)
    poses, world_screws = _kinematics(x_parent, x_joint, screws)
    twists = _twists(world_screws, v)
    for i in range(n):
        back = conjugate(poses[i])
        rate = 0.5 * product(twists[i], poses[i])  # (4)
        J_x, J_x_rate = [], []
        for k in range(i + 1):
            J_x.append(0.5 * product(world_screws[k], poses[i]))
            moved = cross(twists[k], world_screws[k])
            J_x_rate.append(0.5 * product(moved, poses[i]) + 0.5 * product(world_screws[k], rate))
        H, H_rate = _hamilton(back), _hamilton(conjugate(rate))
        A, B = np.array(J_x).T, np.array(J_x_rate).T
        J = _padded(2 * H.dot(A)[IMAGINARY], n)  # (33)
        J_rate = _padded(2 * (H_rate.dot(A) + H.dot(B))[IMAGINARY], n)
        omega = J[:3].dot(v)
        yield Terms(J, J_rate, _metric(masses[i], inertias[i]), _skew_bar(masses[i], inertias[i], omega), back)


def _kinematics(x_parent: Sequence[Array], x_joint: Sequence[Array], screws: Sequence[Array]) -> tuple[list[Array], list[Array]]:
    """Poses of the centres of mass, and screws, in the world."""
    poses: list[Array] = []
    found: list[Array] = []
    for placed, moved, screw in zip(x_parent, x_joint, screws):
        frame = product(poses[-1], placed) if poses else placed
        poses.append(product(frame, moved))
        found.append(adjoint(frame, screw))
    return poses, found


def _twists(screws: Sequence[Array], v: Array) -> list[Array]:
    """Of the bodies, in the world."""
    twists: list[Array] = []
    for screw, rate in zip(screws, v):
        twists.append(twists[-1] + screw * rate if twists else screw * rate)
    return twists


def _hamilton(x: Array) -> Array:
    """H (8, 8) with H vec(h) = vec(x h)."""
    zero = np.full((4, 4), 0 * x[0], dtype=x.dtype)
    return np.block([[_hamilton4(x[:4]), zero], [_hamilton4(x[4:]), _hamilton4(x[:4])]])


def _hamilton4(a: Array) -> Array:
    return np.array([
        [a[3], -a[2], a[1], a[0]], [a[2], a[3], -a[0], a[1]], [-a[1], a[0], a[3], a[2]], [-a[0], -a[1], -a[2], a[3]],
    ])  # fmt: skip


def _rotated(r: Array, p: Array) -> Array:
    return _hamilton4(_hamilton4(r).dot(p)).dot(conjugate(r))


def _padded(J: Array, n: int) -> Array:
    """With the columns of zeros of joints behind the body."""
    return np.concatenate([J, np.full((6, n - J.shape[1]), 0 * J[0, 0], dtype=J.dtype)], axis=1)


def _metric(mass: Any, I: Array) -> Array:
    Psi = np.full((6, 6), 0 * mass, dtype=I.dtype)
    Psi[:3, :3] = I
    Psi[3, 3] = Psi[4, 4] = Psi[5, 5] = mass
    return Psi


def _skew_bar(mass: Any, I: Array, omega: Array) -> Array:
    """(44)"""
    S = np.full((6, 6), 0 * mass, dtype=I.dtype)
    S[:3, :3], S[3:, 3:] = -_skew(I.dot(omega)), _skew(omega) * mass
    return S


def _skew(a: Array) -> Array:
    zero = 0 * a[0]
    return np.array([[zero, -a[2], a[1]], [a[2], zero, -a[0]], [-a[1], a[0], zero]])
