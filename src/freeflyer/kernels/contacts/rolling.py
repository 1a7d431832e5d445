"""Unit wrenches of wheels and balls that roll on a plane: along, across and normal to it, at the point that touches.

With n the normal, a the axis (unit vectors in the frame's axes): the touching point is p = -radius (n - (a . n) a) / |a x n| of a
wheel and p = -radius n of a ball. A row is the velocity of that point of the body along g: g . (l + w x p), the unit wrench (g, p x
g). A wheel rolls along f = a x n / |a x n|, its other direction is n x f; a ball has any two directions in the plane.
"""

from freeflyer.kernels.backend.buffers import load
from freeflyer.kernels.backend.pack import sqrt
from freeflyer.kernels.marks import inlined, kernel
from freeflyer.kernels.math.algebra import add, cross, dot, load3, rotate_back, scale, subtract
from freeflyer.kernels.math.spatial import store_spatial
from freeflyer.kernels.model.access import like3
from freeflyer.kernels.model.set_layout import (
    AXIS, FIRST_TANGENT, NORMAL, RADIUS, ROLLING_NUMBERS, SECOND_TANGENT, SPHERE,
)


@inlined
def unit_with_rate(u, du):
    """(u / |u|, its rate) of a vector and its rate."""
    inverse = 1.0 / sqrt(dot(u, u))
    e = scale(inverse, u)
    return e, scale(inverse, subtract(du, scale(dot(e, du), e)))


@inlined
def put_unit_wrench(g, dg, p, dp, wrenches, rates, k):
    """Row k: the unit wrench along g at p, and its rate."""
    store_spatial(wrenches, 6 * k, (g, cross(p, g)))
    store_spatial(rates, 6 * k, (dg, add(cross(dp, g), cross(p, dg))))


@kernel
def put_rolling(parameters, at, kind, R, w, wrenches, rates):
    """Writes three unit wrenches (3, 6) and their rates, in the frame's axes, of a frame with rotation R that turns at w (in its
    axes); at: the item's numbers in parameters."""
    zero, axes = 0.0 * w[0], at + ROLLING_NUMBERS
    radius, n = load(parameters, at + RADIUS), rotate_back(R, like3(zero, load3(parameters, axes + NORMAL)))
    dn = cross(n, w)
    if kind == SPHERE:
        p, dp = scale(-radius, n), scale(-radius, dn)
        f = rotate_back(R, like3(zero, load3(parameters, axes + FIRST_TANGENT)))
        s = rotate_back(R, like3(zero, load3(parameters, axes + SECOND_TANGENT)))
        df, ds = cross(f, w), cross(s, w)
    else:
        a = like3(zero, load3(parameters, at + AXIS))
        out, out_rate = unit_with_rate(subtract(n, scale(dot(a, n), a)), subtract(dn, scale(dot(a, dn), a)))
        p, dp = scale(-radius, out), scale(-radius, out_rate)
        f, df = unit_with_rate(cross(a, n), cross(a, dn))
        s, ds = cross(n, f), add(cross(dn, f), cross(n, df))
    put_unit_wrench(f, df, p, dp, wrenches, rates, 0)
    put_unit_wrench(s, ds, p, dp, wrenches, rates, 1)
    put_unit_wrench(n, dn, p, dp, wrenches, rates, 2)
