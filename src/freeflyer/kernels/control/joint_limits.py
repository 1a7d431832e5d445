"""Accelerations of one control cycle after which joints can still stop within their limits (Del Prete, RA-L 3(1), 2018)."""

from __future__ import annotations

from freeflyer.kernels.backend.buffers import load, store
from freeflyer.kernels.backend.pack import select_less, sqrt
from freeflyer.kernels.constrained.rows import table_int
from freeflyer.kernels.control.layout import N_JOINTS
from freeflyer.kernels.marks import inlined, kernel


@inlined
def smaller(a, b):
    return select_less(b, a, b, a)


@inlined
def largest_acceleration(room, v, fastest, brake, dt):
    """Largest acceleration of one cycle after which a joint with so much room can stop by `brake`, no faster than `fastest`.

    With w = v + a dt behind the cycle: (v + w) dt / 2 + w^2 / (2 brake) <= room where w > 0. Where w <= 0 the joint turns within
    the cycle, and its farthest point v^2 / (-2 a) <= room.
    """
    half = 0.5 * brake * dt
    inside = half * half + 2.0 * brake * (room - 0.5 * v * dt)
    w = sqrt(select_less(inside, 0.0, 0.0, inside)) - half
    turning = select_less(0.0, room, -0.5 * v * v / select_less(0.0, room, room, 1.0), -1.0 * brake)
    returning = 2.0 * (room - v * dt) / (dt * dt)  # already moving back: the end of the cycle is all that counts
    late = select_less(0.0, v, smaller(turning, -1.0 * v / dt), returning)
    found = smaller(select_less(w, 0.0, late, (w - v) / dt), (fastest - v) / dt)
    return select_less(found, -1.0 * brake, -1.0 * brake, smaller(found, brake))


@kernel
def viable_accelerations(topology, parameters, positions, v, lower, upper, fastest, least, most):
    """least, most (n,) for joints at `positions` with velocities v, limits lower, upper and fastest (n,), maybe
    infinite. A limit on the other side is the same one seen in a mirror; where no acceleration keeps both, the one between them.

    The first two parameters are the braking acceleration and the cycle's length, s.
    """
    brake, dt = load(parameters, 0), load(parameters, 1)
    for i in range(table_int(topology, N_JOINTS)):
        x, rate, top = load(positions, i), load(v, i), load(fastest, i)
        high = largest_acceleration(load(upper, i) - x, rate, top, brake, dt)
        low = -1.0 * largest_acceleration(x - load(lower, i), -1.0 * rate, top, brake, dt)
        middle = 0.5 * (low + high)
        store(least, i, select_less(high, low, middle, low))
        store(most, i, select_less(high, low, middle, high))
