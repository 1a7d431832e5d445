"""Articulated inertias: what moves with a body whose descendants' joints are free (RBDA 2008, section 7.2).

An articulated inertia is [A B; B^T C], mapping (linear, angular) acceleration to (force, moment). A joint of several
degrees of freedom is eliminated column by column, like a chain of one-DoF joints without bodies between them: so no
joint kind needs a matrix inverse of its own.
"""

from __future__ import annotations

from freeflyer.kernels.backend.buffers import load
from freeflyer.kernels.backend.pack import select_less
from freeflyer.kernels.compiler._jit import inlined
from freeflyer.kernels.math.algebra import (
    accumulate6,
    accumulate9,
    add,
    cross,
    dot,
    load6,
    load9,
    rotate,
    store6,
    store9,
    sym_apply,
)
from freeflyer.kernels.math.dense import NAN
from freeflyer.kernels.model.joints import body_floats
from freeflyer.kernels.model.layout import MASS, SUBTREE_MASS, SUBTREE_SPREAD
from freeflyer.kernels.tree.columns import inertia_of

ARTICULATED, LINEAR, MIXED, ANGULAR = 21, 0, 6, 15  # a record: A (6), B (9), C (6)
SINGULAR = 1e-14  # an inertia beside the largest that the column could move: less is rounding


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
def shifted(A, B, C, r):
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


@inlined
def inverse_inertia(parameters, at, slide, turn, d):
    """1 / d, of a column of these squared lengths that meets the inertia d, its body's record being at `at`.

    Beyond a massless link, d is the difference of inertias that may cancel: what is left must stand out from their rounding.
    """
    largest = slide * load(parameters, at + SUBTREE_MASS) + turn * load(parameters, at + SUBTREE_SPREAD)
    return select_less(SINGULAR * largest, d, 1.0 / d, NAN)


@inlined
def eliminated(parameters, at, A, B, C, l, w, armature):
    """(U, V, 1 / d, A, B, C): an articulated inertia once it may move freely along the column (l, w).

    1 / d is NaN where the column moves no inertia.
    """
    U, V = articulated_apply(A, B, C, l, w)
    inverse = inverse_inertia(parameters, at, dot(l, l), dot(w, w), dot(l, U) + dot(w, V) + armature)
    return U, V, inverse, sym_outer(A, inverse, U), outer(B, inverse, U, V), sym_outer(C, inverse, V)


@inlined
def load_articulated(work, at):
    """(A, B, C) from `at` on."""
    return load6(work, at + LINEAR), load9(work, at + MIXED), load6(work, at + ANGULAR)


@inlined
def add_to_parent(work, there, A, B, C, r):
    """Adds an articulated inertia, its origin at r from the parent's, to the parent's, which begins at `there`."""
    B, C = shifted(A, B, C, r)
    accumulate6(work, there + LINEAR, A)
    accumulate9(work, there + MIXED, B)
    accumulate6(work, there + ANGULAR, C)


@inlined
def store_rigid(parameters, work, i, inertias, here):
    """Writes body i's inertia as an articulated one."""
    h, I = inertia_of(work, inertias, i)
    m, z = load(parameters, body_floats(i) + MASS), 0.0 * h[0]
    store6(work, here + LINEAR, (z + m, z, z, z + m, z, z + m))
    store9(work, here + MIXED, (z, h[2], -h[1], -h[2], z, h[0], h[1], -h[0], z))
    store6(work, here + ANGULAR, I)
