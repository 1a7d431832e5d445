"""Spatial vectors: operations on motions and forces, both of a formula's vectors about one point and in one set of axes.

A motion (velocity, acceleration, column of a joint) is a pair (linear, angular), a force (also a momentum) a pair (force, moment),
each of two 3-vectors: RBDA (2008), chapter 2, with the linear part first. Entries are numbers, row scalars or both.
"""

from __future__ import annotations

from freeflyer.kernels.marks import inlined
from freeflyer.kernels.math.algebra import (
    accumulate3,
    add,
    add_scaled,
    cross,
    dot,
    load3,
    scale,
    store3,
    subtract,
    sym_apply,
)


@inlined
def motion_cross(V, S):
    """V x S: the rate of the motion S where all is carried along by the motion V."""
    return add(cross(V[1], S[0]), cross(V[0], S[1])), cross(V[1], S[1])


@inlined
def force_cross(V, F):
    """V x* F: the rate of the force F where all is carried along by the motion V."""
    return cross(V[1], F[0]), add(cross(V[1], F[1]), cross(V[0], F[0]))


@inlined
def spatial_add(a, b):
    """a + b"""
    return add(a[0], b[0]), add(a[1], b[1])


@inlined
def spatial_subtract(a, b):
    """a - b"""
    return subtract(a[0], b[0]), subtract(a[1], b[1])


@inlined
def spatial_scale(s, a):
    """s a"""
    return scale(s, a[0]), scale(s, a[1])


@inlined
def spatial_add_scaled(a, s, b):
    """a + s b"""
    return add_scaled(a[0], s, b[0]), add_scaled(a[1], s, b[1])


@inlined
def spatial_dot(S, F):
    """The power of the force F along the motion S."""
    return dot(S[0], F[0]) + dot(S[1], F[1])


@inlined
def point_velocity(V, r):
    """The linear part of the motion V at the point r: l + w x r."""
    return add(V[0], cross(V[1], r))


@inlined
def shift_motion(V, r):
    """The motion V, given at the origin, at the point r."""
    return point_velocity(V, r), V[1]


@inlined
def shift_motion_back(V, r):
    """The motion V, given at the point r, at the origin."""
    return add(V[0], cross(r, V[1])), V[1]


@inlined
def shift_force_back(F, r):
    """The force F, given at the point r, at the origin."""
    return F[0], add(F[1], cross(r, F[0]))


@inlined
def inertia_times(m, h, I, V):
    """The momentum of mass m, first moment h and inertia I about a point, at the motion V of that point."""
    return add_scaled(cross(V[1], h), m, V[0]), add(sym_apply(I, V[1]), cross(h, V[0]))


@inlined
def load_spatial(buffer, i):
    """The six entries from i on."""
    return load3(buffer, i), load3(buffer, i + 3)


@inlined
def store_spatial(buffer, i, a):
    """The six entries from i on become a."""
    store3(buffer, i, a[0])
    store3(buffer, i + 3, a[1])


@inlined
def accumulate_spatial(buffer, i, a):
    """The six entries from i on grow by a."""
    accumulate3(buffer, i, a[0])
    accumulate3(buffer, i + 3, a[1])


@inlined
def spatial_of(entries):
    """(linear, angular) of six entries."""
    return (entries[0], entries[1], entries[2]), (entries[3], entries[4], entries[5])
