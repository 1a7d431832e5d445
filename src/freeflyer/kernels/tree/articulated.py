"""Articulated inertias: what moves with a body whose descendants' joints are free (RBDA 2008, section 7.2).

An articulated inertia is [A B; B^T C], mapping (linear, angular) acceleration to (force, moment). A joint of several degrees of
freedom is eliminated column by column, like a chain of one-DoF joints without bodies between them: so no joint kind needs a matrix
inverse of its own.
"""

from freeflyer.kernels.backend.buffers import load
from freeflyer.kernels.backend.pack import select_less
from freeflyer.kernels.marks import inlined
from freeflyer.kernels.math.algebra import accumulate6, accumulate9, dot, load6, load9, store6, store9
from freeflyer.kernels.math.dense import NAN
from freeflyer.kernels.math.spatial import articulated_apply, outer, shift_articulated, sym_outer
from freeflyer.kernels.model.access import body_floats
from freeflyer.kernels.model.layout import MASS, SUBTREE_MASS, SUBTREE_SPREAD
from freeflyer.kernels.tree.columns import inertia_of

ARTICULATED, LINEAR, MIXED, ANGULAR = 21, 0, 6, 15  # a record: A (6), B (9), C (6)
MIN_INERTIA_RATIO = 1e-14  # an inertia beside the largest that the column could move: less is rounding


@inlined
def inverse_inertia(parameters, at, slide, turn, d):
    """1 / d, of a column of these squared lengths with the inertia d, its body's record being at `at`.

    Beyond a massless link, d is the difference of inertias that may cancel: the rest must exceed their rounding.
    """
    largest = slide * load(parameters, at + SUBTREE_MASS) + turn * load(parameters, at + SUBTREE_SPREAD)
    return select_less(MIN_INERTIA_RATIO * largest, d, 1.0 / d, NAN)


@inlined
def eliminate_column(parameters, at, A, B, C, l, w, armature):
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
    B, C = shift_articulated(A, B, C, r)
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
