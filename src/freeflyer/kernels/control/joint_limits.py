"""Accelerations of one control cycle after which joints can still stop within their limits.

A position limit alone bounds the acceleration of one cycle; a joint that arrives fast could not stop in time. The bounds here are
those of Del Prete (IEEE RA-L 3(1), 2018): after one cycle at a constant acceleration within them, the joint can still stop before
its limit with an acceleration of at most `brake`."""

from freeflyer.kernels.backend import select_less, sqrt


def smaller(a, b):
    return select_less(b, a, b, a)


def largest_acceleration(room, v, fastest, brake, dt):
    """Largest acceleration of one cycle after which a joint with so much room can stop by `brake`, no faster than `fastest`.

    With w = v + a dt behind the cycle: (v + w) dt / 2 + w^2 / (2 brake) <= room where w > 0. Where w <= 0 the joint turns within
    the cycle, and its farthest point v^2 / (-2 a) <= room."""
    half = 0.5 * brake * dt
    inside = half * half + 2.0 * brake * (room - 0.5 * v * dt)
    w = sqrt(select_less(inside, 0.0, 0.0, inside)) - half
    turning = select_less(0.0, room, -0.5 * v * v / select_less(0.0, room, room, 1.0), -1.0 * brake)
    returning = 2.0 * (room - v * dt) / (dt * dt)  # already moving back: the end of the cycle is all that counts
    late = select_less(0.0, v, smaller(turning, -1.0 * v / dt), returning)
    found = smaller(select_less(w, 0.0, late, (w - v) / dt), (fastest - v) / dt)
    return select_less(found, -1.0 * brake, -1.0 * brake, smaller(found, brake))


def viable_acceleration(x, v, lower, upper, fastest, brake, dt):
    """Least and largest acceleration of a joint at x with velocity v, whose limits may be infinite. A limit on the other side is
    the same one seen in a mirror; if no acceleration keeps both, the one between them."""
    high = largest_acceleration(upper - x, v, fastest, brake, dt)
    low = -1.0 * largest_acceleration(x - lower, -1.0 * v, fastest, brake, dt)
    middle = 0.5 * (low + high)
    return select_less(high, low, middle, low), select_less(high, low, middle, high)
