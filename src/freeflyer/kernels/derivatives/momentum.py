"""How the centroidal momentum and its rate change with q, v and a.

A change of the coordinate of column S moves everything beyond rigidly, but for what the carrying body p keeps on giving:
with H, F the momentum and its rate d/dt sum I V, and I, B those of what S moves, at one fixed point,

    dH/dq = S x* H + I (V_p x S),        dH/dv = dF/da = I S,
    dF/dq = S x* F + I S" + 2 B S',      dF/dv = I (S' + V_i x S) + 2 B S,        S' = V_p x S, S" = A_p x S + V_p x S',

where i is the body that S moves (after S. Singh, R. Russell, P. Wensing, Efficient Analytical Derivatives of Rigid-Body
Dynamics using Spatial Vector Algebra (2022); B as in coriolis.py: it acts on angular parts only). Seen from the centre
of mass, which moves by dc, moments about it lose dc x force. Until that last step all is seen from root bodies' origins.
"""

from __future__ import annotations

from freeflyer.kernels.backend.buffers import load, load_int, row_step, store, tile_at
from freeflyer.kernels.compiler._jit import inlined, kernel
from freeflyer.kernels.math.algebra import (
    ZERO,
    accumulate3,
    add,
    add_scaled,
    cross,
    load3,
    load9,
    rotate,
    scale,
    store3,
    store9,
    subtract,
)  # fmt: skip
from freeflyer.kernels.model.access import body_floats
from freeflyer.kernels.model.joints.columns import add_column
from freeflyer.kernels.model.layout import FREE_AT, MASS, N_BODIES, N_V, SUBTREE_MASS
from freeflyer.kernels.tree.centroidal import com_of, total_mass
from freeflyer.kernels.tree.columns import inertia_of, inertia_tiles, root_direction, root_inertias
from freeflyer.kernels.tree.composite import (
    COMPOSITE,
    MOTION,
    column_range,
    coordinate,
    direction_at,
    momentum,
    parent_of,
    zeros,
)
from freeflyer.kernels.tree.coriolis import motion_cross, particle_rates
from freeflyer.kernels.tree.kinematics import kinematics_workspace
from freeflyer.kernels.tree.poses import add_spaced3, position, root_position, spaced3

MOVED = 12  # a body's velocity and spatial acceleration at the root body's origin
RATES = 18  # of a subtree: rate of its momentum (6), linear momentum (3), matrix K (9) of coriolis.py


@inlined
def force_cross(l, w, f, t):
    """(l, w) x* (f, t)"""
    return cross(w, f), add(cross(w, t), cross(l, f))


@inlined
def clear(work, at, n):
    """n zeros, three by three."""
    for k in range(0, n, 3):
        store3(work, at + k, ZERO)


@inlined
def root_slip(topology, work, i, rates):
    """The motion of body i in its parent, at the root body's origin, of which `rates` holds the coordinates' part."""
    l = w = zeros(load(work, direction_at(topology, 0)))
    first, end = column_range(topology, i)
    for c in range(first, end):
        s, t = root_direction(topology, work, i, c)
        rate = load(rates, coordinate(topology, c))
        l, w = add_scaled(l, rate, s), add_scaled(w, rate, t)
    return l, w


@kernel
def gather(topology, work, to, size):
    """Records of bodies (`size` numbers, a multiple of three, body 0 first) become those of subtrees."""
    for i in range(load_int(topology, N_BODIES), 0, -1):
        here, there = to + size * i, to + size * parent_of(topology, i)
        for k in range(0, size, 3):
            accumulate3(work, there + k, load3(work, here + k))


@kernel
def gather_inertias(topology, work, to):
    """Inertias of bodies in tiles become those of subtrees."""
    step = row_step(work)
    for i in range(load_int(topology, N_BODIES), 0, -1):
        here, there = to + tile_at(work, COMPOSITE, i), to + tile_at(work, COMPOSITE, parent_of(topology, i))
        for k in range(0, COMPOSITE, 3):
            add_spaced3(work, there + k * step, spaced3(work, here + k * step))


@kernel
def root_momenta(topology, parameters, work, v, inertias, motions, momenta):
    """Writes velocities of bodies at the root body's origin (MOTION) and momenta of subtrees about it (6)."""
    clear(work, motions, MOTION)
    clear(work, momenta, 6)
    for i in range(1, load_int(topology, N_BODIES) + 1):
        there, here = motions + MOTION * parent_of(topology, i), motions + MOTION * i
        l, w = root_slip(topology, work, i, v)
        l, w = add(l, load3(work, there)), add(w, load3(work, there + 3))
        h, I = inertia_of(work, inertias, i)
        f, t = momentum(load(parameters, body_floats(i) + MASS), h, I, l, w)
        store3(work, here, l)
        store3(work, here + 3, w)
        store3(work, momenta + 6 * i, f)
        store3(work, momenta + 6 * i + 3, t)
    gather(topology, work, momenta, 6)


@kernel
def root_rates(topology, parameters, work, v, a, inertias, motions, rates):
    """Writes motions of bodies at the root body's origin (MOVED) and RATES of subtrees about it."""
    clear(work, motions, MOVED)
    clear(work, rates, RATES)
    for i in range(1, load_int(topology, N_BODIES) + 1):
        there, here, to = motions + MOVED * parent_of(topology, i), motions + MOVED * i, rates + RATES * i
        L, W = load3(work, there), load3(work, there + 3)
        l, w = root_slip(topology, work, i, v)
        x, y = root_slip(topology, work, i, a)
        dx, dy = motion_cross(L, W, l, w)
        x, y = add(add(x, dx), load3(work, there + 6)), add(add(y, dy), load3(work, there + 9))
        l, w = add(L, l), add(W, w)
        h, I = inertia_of(work, inertias, i)
        m = load(parameters, body_floats(i) + MASS)
        _, k = momentum(m, h, I, l, w)
        p, K = particle_rates(m, h, I, l, w)
        f, t = momentum(m, h, I, x, y)
        df, dt = force_cross(l, w, p, k)
        store3(work, here, l)
        store3(work, here + 3, w)
        store3(work, here + 6, x)
        store3(work, here + 9, y)
        store3(work, to, add(f, df))
        store3(work, to + 3, add(t, dt))
        store3(work, to + 6, p)
        store9(work, to + 9, K)
    gather(topology, work, rates, RATES)


@inlined
def from_center(topology, work, i, c):
    """The origin of body i's root body from the centre of mass."""
    return subtract(subtract(position(topology, work, i), root_position(topology, work, i)), c)


@inlined
def put(out, nv, j, x, f, t):
    """Column j of a row-major matrix with rows of nv grows by (f, t), moved by x."""
    add_column(out, nv, j, f, add(t, cross(x, f)))


@kernel
def momentum_derivatives(topology, parameters, q, v, out):
    """out (12, nv): derivatives of the centroidal momentum with q, then with v."""
    n, nv, inertias = load_int(topology, N_BODIES), load_int(topology, N_V), load_int(topology, FREE_AT)
    motions = inertias + inertia_tiles(topology)
    momenta = motions + MOTION * (n + 1)
    work = kinematics_workspace(topology, parameters, q, inertia_tiles(topology) + (MOTION + 6) * (n + 1))
    root_inertias(topology, parameters, work, inertias)
    root_momenta(topology, parameters, work, v, inertias, motions, momenta)
    gather_inertias(topology, work, inertias)
    center, total = com_of(topology, parameters, work), load3(work, momenta)
    for k in range(12 * nv):
        store(out, k, 0.0)
    for i in range(1, n + 1):
        m, here = load(parameters, body_floats(i) + SUBTREE_MASS), momenta + 6 * i
        there, x = motions + MOTION * parent_of(topology, i), from_center(topology, work, i, center)
        h, I = inertia_of(work, inertias, i)
        L, W, P, Q = load3(work, there), load3(work, there + 3), load3(work, here), load3(work, here + 3)
        first, end = column_range(topology, i)
        for c in range(first, end):
            j = coordinate(topology, c)
            l, w = root_direction(topology, work, i, c)
            F, T = momentum(m, h, I, l, w)
            dl, dw = motion_cross(L, W, l, w)
            f, t = momentum(m, h, I, dl, dw)
            df, dt = force_cross(l, w, P, Q)
            moment = cross(scale(1.0 / total_mass(parameters), F), total)  # dc x p
            put(out, nv, j, x, add(f, df), subtract(add(t, dt), moment))
            put(out, nv, 6 * nv + j, x, F, T)


@inlined
def rate_work(topology, parameters, q, v, a):
    """(work, inertias of bodies, motions, rates): kinematics, and where the records behind it begin."""
    bodies, inertias = load_int(topology, N_BODIES) + 1, load_int(topology, FREE_AT)
    motions = inertias + inertia_tiles(topology)
    rates = motions + MOVED * bodies
    work = kinematics_workspace(topology, parameters, q, inertia_tiles(topology) + (MOVED + RATES) * bodies)
    root_inertias(topology, parameters, work, inertias)
    root_rates(topology, parameters, work, v, a, inertias, motions, rates)
    return work, inertias, motions, rates


@kernel
def momentum_rate(topology, parameters, q, v, a, b):
    """b (6,): rate of the centroidal momentum."""
    work, _, _, rates = rate_work(topology, parameters, q, v, a)
    center = com_of(topology, parameters, work)
    f = t = zeros(center[0])
    for i in range(1, load_int(topology, N_BODIES) + 1):
        if parent_of(topology, i) == 0:
            F, T = load3(work, rates + RATES * i), load3(work, rates + RATES * i + 3)
            f, t = add(f, F), add(t, add(T, cross(from_center(topology, work, i, center), F)))
    store3(b, 0, f)
    store3(b, 3, t)


@kernel
def momentum_rate_derivatives(topology, parameters, q, v, a, out):
    """out (18, nv): derivatives of the rate of the centroidal momentum with q, then v, then a."""
    nv = load_int(topology, N_V)
    work, inertias, motions, rates = rate_work(topology, parameters, q, v, a)
    gather_inertias(topology, work, inertias)
    center, total = com_of(topology, parameters, work), load3(work, rates)
    for k in range(18 * nv):
        store(out, k, 0.0)
    for i in range(1, load_int(topology, N_BODIES) + 1):
        m, x = load(parameters, body_floats(i) + SUBTREE_MASS), from_center(topology, work, i, center)
        there, here, to = motions + MOVED * parent_of(topology, i), motions + MOVED * i, rates + RATES * i
        h, I = inertia_of(work, inertias, i)
        P, Q, p, K = load3(work, to), load3(work, to + 3), load3(work, to + 6), load9(work, to + 9)
        L, W, X, Y = load3(work, there), load3(work, there + 3), load3(work, there + 6), load3(work, there + 9)
        V, U = load3(work, here), load3(work, here + 3)
        first, end = column_range(topology, i)
        for c in range(first, end):
            j = coordinate(topology, c)
            l, w = root_direction(topology, work, i, c)
            F, T = momentum(m, h, I, l, w)
            dl, dw = motion_cross(L, W, l, w)  # S'
            ax, ay = motion_cross(X, Y, l, w)
            bx, by = motion_cross(L, W, dl, dw)
            f, t = momentum(m, h, I, add(ax, bx), add(ay, by))
            df, dt = force_cross(l, w, P, Q)
            moment = cross(scale(1.0 / total_mass(parameters), F), total)  # dc x force
            f, t = subtract(add(f, df), scale(2.0, cross(p, dw))), add(add(t, dt), scale(2.0, rotate(K, dw)))
            put(out, nv, j, x, f, subtract(t, moment))
            sx, sy = motion_cross(V, U, l, w)
            f, t = momentum(m, h, I, add(dl, sx), add(dw, sy))
            f, t = subtract(f, scale(2.0, cross(p, w))), add(t, scale(2.0, rotate(K, w)))
            put(out, nv, 6 * nv + j, x, f, t)
            put(out, nv, 12 * nv + j, x, F, T)
