"""Spatial vectors: operations on motions and forces, both of a formula's vectors about one point and in one set of axes.

A motion (velocity, acceleration, column of a joint) is a pair (linear, angular), a force (also a momentum) a pair (force, moment),
each of two 3-vectors: RBDA (2008), chapter 2, with the linear part first. Entries are numbers, row scalars or both."""

from freeflyer.kernels.math.algebra import (
    accumulate, add, add_scaled, cross, dot, load3, rotate, rotate_back, scale, store3, store_rows, strided6, subtract,
    sym_apply,
)


def motion_cross(V, S):
    """V x S: the rate of the motion S where all is carried along by the motion V."""
    return add(cross(V[1], S[0]), cross(V[0], S[1])), cross(V[1], S[1])


def force_cross(V, F):
    """V x* F: the rate of the force F where all is carried along by the motion V."""
    return cross(V[1], F[0]), add(cross(V[1], F[1]), cross(V[0], F[0]))


def spatial_add(a, b):
    return add(a[0], b[0]), add(a[1], b[1])


def spatial_subtract(a, b):
    return subtract(a[0], b[0]), subtract(a[1], b[1])


def spatial_scale(s, a):
    return scale(s, a[0]), scale(s, a[1])


def spatial_add_scaled(a, s, b):
    return add_scaled(a[0], s, b[0]), add_scaled(a[1], s, b[1])


def spatial_dot(S, F):
    """The power of the force F along the motion S."""
    return dot(S[0], F[0]) + dot(S[1], F[1])


def point_velocity(V, r):
    """The linear part of the motion V at the point r: l + w x r."""
    return add(V[0], cross(V[1], r))


def shift_motion(V, r):
    """The motion V, given at the origin, at the point r."""
    return point_velocity(V, r), V[1]


def shift_motion_back(V, r):
    """The motion V, given at the point r, at the origin."""
    return add(V[0], cross(r, V[1])), V[1]


def shift_force_back(F, r):
    """The force F, given at the point r, at the origin."""
    return F[0], add(F[1], cross(r, F[0]))


def inertia_times(m, h, I, V):
    """The momentum of mass m, first moment h and inertia I about a point, at the motion V of that point."""
    return add_scaled(cross(V[1], h), m, V[0]), add(sym_apply(I, V[1]), cross(h, V[0]))


def load_spatial(buffer, i):
    return load3(buffer, i), load3(buffer, i + 3)


def store_spatial(buffer, i, a):
    store3(buffer, i, a[0])
    store3(buffer, i + 3, a[1])


def accumulate_spatial(buffer, i, a):
    accumulate(buffer, i, a[0])
    accumulate(buffer, i + 3, a[1])


def spatial_of(entries):
    """(linear, angular) of six entries."""
    return (entries[0], entries[1], entries[2]), (entries[3], entries[4], entries[5])


def strided_spatial(buffer, i, step):
    """(linear, angular) of a column of six rows, `step` apart, whose first entry is i."""
    return spatial_of(strided6(buffer, i, step))


def store_spatial_rows(buffer, i, step, a):
    """Six rows, `step` apart, become those of a motion or force."""
    store_rows(buffer, i, step, (*a[0], *a[1]))


def articulated_apply(A, B, C, l, w):
    """[A B; B^T C] (l, w)"""
    return add(sym_apply(A, l), rotate(B, w)), add(sym_apply(C, w), rotate_back(B, l))


def sym_outer(S, s, a):
    """S - s a a^T"""
    x, y, z = s * a[0], s * a[1], s * a[2]
    return (S[0] - x * a[0], S[1] - x * a[1], S[2] - x * a[2], S[3] - y * a[1], S[4] - y * a[2], S[5] - z * a[2])


def outer(B, s, a, b):
    """B - s a b^T"""
    x = scale(s, a)
    return tuple(B[k] - x[k // 3] * b[k % 3] for k in range(9))


def shift_articulated(A, B, C, r):
    """B and C of an articulated inertia at the parent's origin, from which its own origin is at r (A stays)."""
    x = (*cross((A[0], A[1], A[2]), r), *cross((A[1], A[3], A[4]), r), *cross((A[2], A[4], A[5]), r))
    D = tuple(B[k] - x[k] for k in range(9))
    # C + [r]x B + ([r]x D)^T
    return D, (
        C[0] + (r[1] * B[6] - r[2] * B[3]) + (r[1] * D[6] - r[2] * D[3]),
        C[1] + (r[1] * B[7] - r[2] * B[4]) + (r[2] * D[0] - r[0] * D[6]),
        C[2] + (r[1] * B[8] - r[2] * B[5]) + (r[0] * D[3] - r[1] * D[0]),
        C[3] + (r[2] * B[1] - r[0] * B[7]) + (r[2] * D[1] - r[0] * D[7]),
        C[4] + (r[2] * B[2] - r[0] * B[8]) + (r[0] * D[4] - r[1] * D[1]),
        C[5] + (r[0] * B[5] - r[1] * B[2]) + (r[0] * D[5] - r[1] * D[2]))
