"""Algebra of articulated inertias [A B; B^T C], which map (linear, angular) acceleration to (force, moment).

A and C are symmetric (6 entries), B is full (9, row by row).
"""

from __future__ import annotations

from freeflyer.kernels.marks import inlined
from freeflyer.kernels.math.algebra import add, cross, rotate, sym_apply


@inlined
def articulated_apply(A, B, C, l, w):
    """[A B; B^T C] (l, w)"""
    force = add(sym_apply(A, l), rotate(B, w))
    moment = add(sym_apply(C, w), (
        B[0] * l[0] + B[3] * l[1] + B[6] * l[2], B[1] * l[0] + B[4] * l[1] + B[7] * l[2], B[2] * l[0] + B[5] * l[1] + B[8] * l[2],
    ))  # fmt: skip
    return force, moment


@inlined
def sym_outer(S, s, a):
    """S - s a a^T"""
    x, y, z = s * a[0], s * a[1], s * a[2]
    return (
        S[0] - x * a[0], S[1] - x * a[1], S[2] - x * a[2], S[3] - y * a[1], S[4] - y * a[2], S[5] - z * a[2],
    )  # fmt: skip


@inlined
def outer(B, s, a, b):
    """B - s a b^T"""
    x, y, z = s * a[0], s * a[1], s * a[2]
    return (
        B[0] - x * b[0], B[1] - x * b[1], B[2] - x * b[2], B[3] - y * b[0], B[4] - y * b[1], B[5] - y * b[2],
        B[6] - z * b[0], B[7] - z * b[1], B[8] - z * b[2],
    )  # fmt: skip


@inlined
def shift_articulated(A, B, C, r):
    """B and C of an articulated inertia at the parent's origin, from which its own origin is at r (A stays)."""
    x = cross((A[0], A[1], A[2]), r)
    y = cross((A[1], A[3], A[4]), r)
    z = cross((A[2], A[4], A[5]), r)
    D = (
        B[0] - x[0],
        B[1] - x[1],
        B[2] - x[2],
        B[3] - y[0],
        B[4] - y[1],
        B[5] - y[2],
        B[6] - z[0],
        B[7] - z[1],
        B[8] - z[2],
    )
    # C + [r]x B + ([r]x D)^T
    return D, (
        C[0] + (r[1] * B[6] - r[2] * B[3]) + (r[1] * D[6] - r[2] * D[3]),
        C[1] + (r[1] * B[7] - r[2] * B[4]) + (r[2] * D[0] - r[0] * D[6]),
        C[2] + (r[1] * B[8] - r[2] * B[5]) + (r[0] * D[3] - r[1] * D[0]),
        C[3] + (r[2] * B[1] - r[0] * B[7]) + (r[2] * D[1] - r[0] * D[7]),
        C[4] + (r[2] * B[2] - r[0] * B[8]) + (r[0] * D[4] - r[1] * D[1]),
        C[5] + (r[0] * B[5] - r[1] * B[2]) + (r[0] * D[5] - r[1] * D[2]),
    )
