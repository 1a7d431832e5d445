"""The classic recursive Lagrangian formulation with 3 x 3 matrices, reference [66] of the paper: J. M. Hollerbach (1980), A
Recursive Lagrangian Formulation of Manipulator Dynamics. To be counted; serial arms of revolute joints, of any scalar.

Frame i turns about its z axis by q_i; W_i is its rotation in the world, dW_i/dt = dW_i-1/dt A_i + W_i Z dq_i/dt, with Z = [z]x.
Points of body i are p_i + W_i y. Gravity is an acceleration of the world."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Link:
    """rotation (3, 3) and origin (3,) of the frame in its parent at q = 0; mass, first (3,) and second moment (3, 3), sum m y y^T,
    about the origin."""

    rotation: Array
    origin: Array
    mass: Any
    first: Array
    second: Array


def times_z(W: Array, zero: Any) -> Array:
    """W Z: columns change places."""
    return np.stack([W[:, 1], -W[:, 0], np.full(3, zero)], axis=1)


def recursive_lagrange(links: Sequence[Link], sines: Array, cosines: Array, v: Array, a: Array, gravity: Array,
                       times: Callable[[Array, Any], Array] = times_z) -> Array:  # fmt: skip
    """tau (n,), from sines and cosines of q and its rates."""
    zero = 0 * v[0]
    W, dW, ddW, acceleration = np.full((3, 3), zero), np.full((3, 3), zero), np.full((3, 3), zero), -gravity
    A, rotations, matrices, accelerations = [], [], [], []
    for k, link in enumerate(links):
        A.append(_turned(link.rotation, sines[k], cosines[k]))
        if k:
            acceleration, moved = acceleration + ddW.dot(link.origin), dW.dot(A[k])
            W = W.dot(A[k])
            WZ = times(W, zero)
            twice = times(moved, zero) * (2 * v[k]) + times(WZ, zero) * (v[k] * v[k])
            dW, ddW = moved + WZ * v[k], ddW.dot(A[k]) + twice + WZ * a[k]
        else:
            W = A[k]
            WZ = times(W, zero)
            dW, ddW = WZ * v[k], times(WZ, zero) * (v[k] * v[k]) + WZ * a[k]
        rotations.append(WZ)
        matrices.append(ddW)
        accelerations.append(acceleration)
    tau: list[Any] = []
    e, D = np.full(3, zero), np.full((3, 3), zero)
    for k in reversed(range(len(links))):
        link, ddW, acceleration, WZ = links[k], matrices[k], accelerations[k], rotations[k]
        own = np.outer(link.first, acceleration) + link.second.dot(ddW.T)
        force = acceleration * link.mass + ddW.dot(link.first)
        last = k + 1 == len(links)
        D = own if last else own + A[k + 1].dot(D) + np.outer(links[k + 1].origin, e)
        e = force if last else e + force
        tau.append(WZ[:, 0].dot(D[0]) + WZ[:, 1].dot(D[1]))  # tr(W Z D): column 2 of W Z is zero
    return np.array(tau[::-1])


def _turned(P: Array, s: Any, c: Any) -> Array:
    """P Rz"""
    return np.stack([P[:, 0] * c + P[:, 1] * s, P[:, 1] * c - P[:, 0] * s, P[:, 2]], axis=1)
