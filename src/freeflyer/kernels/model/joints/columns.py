"""The columns of joints (linear, angular) in body axes and in others; inertias times columns."""

from freeflyer.kernels.backend import load, load_int, load_row, row_step, store, store_row
from freeflyer.kernels.math.algebra import add_scaled, dot
from freeflyer.kernels.math.spatial import articulated_apply, force_cross, motion_cross, spatial_of
from freeflyer.kernels.model.access import body_floats, body_ints
from freeflyer.kernels.model.joints.kinds import add_twist, is_screw, joint_twist, kind_of, twist_column
from freeflyer.kernels.model.layout import COLUMN_COUNT, FIRST_V, SLIDE, TURN
from freeflyer.kernels.model.poses import along, times


def body_column(kind, k):
    """Column k (linear, angular) of a joint, in its body's axes. Not for screws."""
    return spatial_of(tuple(1.0 if twist_column(kind, n) == k else 0.0 for n in range(6)))


def column_products(joint, parameters, k, A, B, C):
    """Of the joint's column S = (l, w) number k and an articulated inertia I: (force, moment) of I S, S . I S, l . l, w . w."""
    kind, at, _, _, _, _, _ = joint
    if is_screw(kind):
        turn, slide = load(parameters, at + TURN), load(parameters, at + SLIDE)
        U = slide * A[2] + turn * B[2], slide * A[4] + turn * B[5], slide * A[5] + turn * B[8]
        V = slide * B[6] + turn * C[2], slide * B[7] + turn * C[4], slide * B[8] + turn * C[5]
        return U, V, slide * U[2] + turn * V[2], slide * slide, turn * turn
    l, w = body_column(kind, k)
    U, V = articulated_apply(A, B, C, l, w)
    return U, V, dot(l, U) + dot(w, V), dot(l, l), dot(w, w)


def joint_columns(topology, parameters, i, X, Y, Z, put, to):
    """put(to, k, l, w) for each column k of body i's joint, at the body's origin, as vectors; X, Y, Z: the body's axes."""
    kind, at = kind_of(topology, i), body_floats(i)
    if is_screw(kind):
        put(to, 0, times(load(parameters, at + SLIDE), Z), times(load(parameters, at + TURN), Z))
        return
    zero = times(0.0, X)
    for n, axis in enumerate((X, Y, Z, X, Y, Z)):
        k = twist_column(kind, n)
        if k >= 0:
            put(to, k, *((axis, zero) if n < 3 else (zero, axis)))


def joint_motion(topology, parameters, i, X, Y, Z, rates):
    """(l, w): the sum of these columns times their rates."""
    kind, at, j = kind_of(topology, i), body_floats(i), load_int(topology, body_ints(i) + FIRST_V)
    if is_screw(kind):
        rate = load(rates, j)
        return times(load(parameters, at + SLIDE) * rate, Z), times(load(parameters, at + TURN) * rate, Z)
    l, w = joint_twist(kind, rates, j, 1)
    return along(X, Y, Z, l), along(X, Y, Z, w)


def add_column(J, nv, j, l, w):
    """Column j of a row-major (6, nv) matrix grows by (l, w): mimic joints share it."""
    for k, x in enumerate((*l, *w)):
        store(J, k * nv + j, load(J, k * nv + j) + x)


def subtract_bracket_matrix(topology, i, v, at, A, to, width):
    """Takes the matrix of ad(v_i) of body i's joint from A, whose rows are `width` long and where it begins at entry `to`. All
    velocity coordinates v begin at entry `at` of their buffer."""
    kind = kind_of(topology, i)
    if is_screw(kind):
        return
    j, count = load_int(topology, body_ints(i) + FIRST_V), load_int(topology, body_ints(i) + COLUMN_COUNT)
    l, w = joint_twist(kind, v, at + j, 1)
    for k in range(count):  # -(v x column k) = column k x v
        L, W = body_column(kind, k)
        x, y = motion_cross((L, W), (l, w))
        add_twist(kind, A, to + k, width, x, y)


def add_bracket_forces(topology, i, v, M, nv, C):
    """Rows of C (nv, nv) grow by -ad(v_i)^T times those of M (nv, nv), for body i's joint: columns are wrenches, v x* f."""
    kind = kind_of(topology, i)
    if is_screw(kind):
        return
    j = load_int(topology, body_ints(i) + FIRST_V)
    l, w = joint_twist(kind, v, j, 1)
    for k in range(nv):
        f, t = force_cross((l, w), joint_twist(kind, M, nv * j + k, nv))
        add_twist(kind, C, nv * j + k, nv, f, t)


def bracket_rows(topology, i, v, x, to):
    """Writes ad(v_i) x_i of body i's joint from row `to` of x on; x holds a row scalar for each velocity coordinate. Returns the
    joint's first coordinate and how many rows were written: none for joints of one column."""
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
    L, W = motion_cross((l, w), (L, W))
    for k in range(count):
        l, w = body_column(kind, k)
        store_row(x, step * (to + k), dot(l, L) + dot(w, W))
    return j, count
