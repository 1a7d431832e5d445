"""Spatial motions and forces of all bodies in world axes, about one point: the input of derivatives along motions.

A motion is (linear, angular), a force (force, moment), both at the origin of body 1, so that they add up along the tree.
Accelerations are spatial ones, rates of these motions at a point at rest; gravity enters as the acceleration of the world.
"""

from freeflyer.kernels.backend import inlined, kernel, load, load_int, store
from freeflyer.kernels.math.algebra import load3, load6, scale, store3, store6, subtract
from freeflyer.kernels.math.spatial import (
    force_cross, inertia_times, load_spatial, motion_cross, shift_motion_back, spatial_add, spatial_add_scaled,
    store_spatial,
)
from freeflyer.kernels.model.access import body_floats
from freeflyer.kernels.model.layout import GRAVITY, MASS, N_BODIES
from freeflyer.kernels.tree.composite import column_range, coordinate, direction_at, inertia_from, parent_of, zeros
from freeflyer.kernels.model.poses import position, rotation

# a body: velocity, acceleration, own joint's velocity, momentum, force (6 each), first moment of mass (3), inertia (6), mass
STATE = 40
VELOCITY, ACCELERATION, RATE, MOMENTUM, FORCE, FIRST_MOMENT, SPIN, WEIGHT = 0, 6, 12, 18, 24, 30, 33, 39


@inlined
def inertia_at(states, at):
    """(mass, first moment, inertia) of the body whose state begins there."""
    return load(states, at + WEIGHT), load3(states, at + FIRST_MOMENT), load6(states, at + SPIN)


@inlined
def from_common_point(topology, work, i):
    """Body i's origin from the common point."""
    return subtract(position(topology, work, i), position(topology, work, 1))


@inlined
def spatial_column(topology, work, i, c):
    """Column c of body i as a motion at the common point."""
    return shift_motion_back(load_spatial(work, direction_at(topology, c)), from_common_point(topology, work, i))


@kernel
def spatial_states(topology, parameters, work, v, a, states):
    """Writes STATE numbers a body from the kinematics of `work`, v (nv,) and a (nv,)."""
    for k in range(STATE):
        store(states, k, 0.0)
    store3(states, ACCELERATION, scale(-1.0, load3(parameters, GRAVITY)))
    for i in range(1, load_int(topology, N_BODIES) + 1):
        here, there = STATE * i, STATE * parent_of(topology, i)
        before, R = load_spatial(states, there + VELOCITY), rotation(topology, work, i)
        zero = zeros(R[0]), zeros(R[0])
        rate, change = zero, zero
        first, end = column_range(topology, i)
        for c in range(first, end):
            S, j = spatial_column(topology, work, i, c), coordinate(topology, c)
            rate, change = spatial_add_scaled(rate, load(v, j), S), spatial_add_scaled(change, load(a, j), S)
        V = spatial_add(before, rate)
        A = spatial_add(load_spatial(states, there + ACCELERATION), spatial_add(change, motion_cross(before, rate)))
        m = load(parameters, body_floats(i) + MASS) + zero[0][0]
        h, I = inertia_from(parameters, i, R, from_common_point(topology, work, i))
        P = inertia_times(m, h, I, V)
        store_spatial(states, here + VELOCITY, V)
        store_spatial(states, here + ACCELERATION, A)
        store_spatial(states, here + RATE, rate)
        store_spatial(states, here + MOMENTUM, P)
        store_spatial(states, here + FORCE, spatial_add(inertia_times(m, h, I, A), force_cross(V, P)))
        store3(states, here + FIRST_MOMENT, h)
        store6(states, here + SPIN, I)
        store(states, here + WEIGHT, m)
