"""Lie brackets of a joint's velocity: ad(v) x, coordinates of the twist v x x. Zero for joints of one column."""

from __future__ import annotations

from freeflyer.kernels.backend.buffers import load_int, load_row, row_step, store_row
from freeflyer.kernels.marks import inlined
from freeflyer.kernels.math.algebra import add, add_scaled, cross, dot
from freeflyer.kernels.model.access import body_ints
from freeflyer.kernels.model.joints.columns import body_column
from freeflyer.kernels.model.joints.kinds import add_twist, is_screw, joint_twist, kind_of
from freeflyer.kernels.model.layout import COLUMN_COUNT, FIRST_V


@inlined
def twist_cross(l, w, L, W):
    """(l, w) x (L, W)"""
    return add(cross(w, L), cross(l, W)), cross(w, W)


@inlined
def subtract_bracket_matrix(topology, i, v, at, A, to, width):
    """Takes the matrix of ad(v_i) of body i's joint from A, whose rows are `width` long and where it begins at entry `to`.

    All velocity coordinates v begin at entry `at` of their buffer.
    """
    kind = kind_of(topology, i)
    if is_screw(kind):
        return
    j, count = load_int(topology, body_ints(i) + FIRST_V), load_int(topology, body_ints(i) + COLUMN_COUNT)
    l, w = joint_twist(kind, v, at + j, 1)
    for k in range(count):  # -(v x column k) = column k x v
        L, W = body_column(kind, k)
        x, y = twist_cross(L, W, l, w)
        add_twist(kind, A, to + k, width, x, y)


@inlined
def add_bracket_forces(topology, i, v, M, nv, C):
    """Rows of C (nv, nv) grow by -ad(v_i)^T times those of M (nv, nv), for body i's joint: columns are wrenches, v x* f."""
    kind = kind_of(topology, i)
    if is_screw(kind):
        return
    j = load_int(topology, body_ints(i) + FIRST_V)
    l, w = joint_twist(kind, v, j, 1)
    for k in range(nv):
        f, t = joint_twist(kind, M, nv * j + k, nv)
        add_twist(kind, C, nv * j + k, nv, cross(w, f), add(cross(w, t), cross(l, f)))


@inlined
def bracket_rows(topology, i, v, x, to):
    """Writes ad(v_i) x_i of body i's joint from row `to` of x on; x holds a row scalar for each velocity coordinate.

    Returns the joint's first coordinate and how many rows were written: none for joints of one column.
    """
    kind, j = kind_of(topology, i), load_int(topology, body_ints(i) + FIRST_V)
    if is_screw(kind):
        return j, 0
    step, count = row_step(x), load_int(topology, body_ints(i) + COLUMN_COUNT)
    zero = 0.0 * load_row(x, step * j)
    L, W = (zero, zero, zero), (zero, zero, zero)
    for k in range(count):
        (l, w), rate = body_column(kind, k), load_row(x, step * (j + k))
        L, W = add_scaled(L, rate, l), add_scaled(W, rate, w)
    l, w = joint_twist(kind, v, j, 1)
    L, W = twist_cross(l, w, L, W)
    for k in range(count):
        l, w = body_column(kind, k)
        store_row(x, step * (to + k), dot(l, L) + dot(w, W))
    return j, count
