"""How the centroidal momentum and its rate change with q, v and a.

A change of the coordinate of column S moves everything beyond rigidly, but for the motion of the carrying body p: with H, F the
momentum and its rate d/dt sum I V, and I, B those of what S moves, at one fixed point,

    dH/dq = S x* H + I (V_p x S),        dH/dv = dF/da = I S,
    dF/dq = S x* F + I S" + 2 B S',      dF/dv = I (S' + V_i x S) + 2 B S,        S' = V_p x S, S" = A_p x S + V_p x S',

where i is the body that S moves (after S. Singh, R. Russell, P. Wensing, Efficient Analytical Derivatives of Rigid-Body Dynamics
using Spatial Vector Algebra (2022); B as in coriolis.py: it acts on angular parts only). About the centre of mass, which moves by
dc, moments are less by dc x force. Until that last step all is about root bodies' origins."""

from freeflyer.kernels.backend import kernel, load, load_int, zero_entries
from freeflyer.kernels.math.algebra import cross, load3, load9, rotate, scale, store_entries, subtract
from freeflyer.kernels.math.spatial import (
    force_cross, inertia_times, load_spatial, motion_cross, shift_force_back, spatial_add, spatial_add_scaled, store_spatial,
)
from freeflyer.kernels.model.access import body_floats
from freeflyer.kernels.model.joints.columns import add_column
from freeflyer.kernels.model.layout import FREE_AT, MASS, N_BODIES, N_V, SUBTREE_MASS
from freeflyer.kernels.tree.centroidal import com_of, total_mass, tree_offset
from freeflyer.kernels.tree.columns import gather_inertias, inertia_of, inertia_tiles, root_direction, root_inertias
from freeflyer.kernels.tree.coriolis import particle_rates
from freeflyer.kernels.tree.kinematics import (
    MOTION, column_range, coordinate, direction_at, gather_records, kinematics_workspace, parent_of, zeros,
)

MOTION_SIZE, ACCELERATION = 12, 6  # a body's velocity, then its spatial acceleration, at the root body's origin
# of a subtree: rate of its momentum (6), then linear momentum (3) and matrix K (9), see coriolis.py
RATES, LINEAR, SPREAD = 18, 6, 9


def joint_motion(topology, work, i, rates):
    """The motion of body i in its parent, at the root body's origin, of which `rates` holds the coordinates' part."""
    zero = zeros(load(work, direction_at(topology, 0)))
    V = zero, zero
    for c in range(*column_range(topology, i)):
        V = spatial_add_scaled(V, load(rates, coordinate(topology, c)), root_direction(topology, work, i, c))
    return V


@kernel
def root_momenta(topology, parameters, work, v, inertias, motions, momenta):
    """Writes velocities of bodies at the root body's origin (MOTION) and momenta of subtrees about it (6)."""
    store_entries(work, motions, (0.0,) * MOTION)
    store_entries(work, momenta, (0.0,) * 6)
    for i in range(1, load_int(topology, N_BODIES) + 1):
        there, here = motions + MOTION * parent_of(topology, i), motions + MOTION * i
        V = spatial_add(joint_motion(topology, work, i, v), load_spatial(work, there))
        h, I = inertia_of(work, inertias, i)
        store_spatial(work, here, V)
        store_spatial(work, momenta + 6 * i, inertia_times(load(parameters, body_floats(i) + MASS), h, I, V))
    gather_records(topology, work, momenta, 6)


@kernel
def root_rates(topology, parameters, work, v, a, inertias, motions, rates):
    """Writes motions of bodies at the root body's origin (MOTION_SIZE) and RATES of subtrees about it."""
    store_entries(work, motions, (0.0,) * MOTION_SIZE)
    store_entries(work, rates, (0.0,) * RATES)
    for i in range(1, load_int(topology, N_BODIES) + 1):
        there, here, to = motions + MOTION_SIZE * parent_of(topology, i), motions + MOTION_SIZE * i, rates + RATES * i
        V, rate = load_spatial(work, there), joint_motion(topology, work, i, v)
        A = spatial_add(joint_motion(topology, work, i, a), motion_cross(V, rate))
        A, V = spatial_add(A, load_spatial(work, there + ACCELERATION)), spatial_add(V, rate)
        h, I = inertia_of(work, inertias, i)
        m = load(parameters, body_floats(i) + MASS)
        _, k = inertia_times(m, h, I, V)
        p, K = particle_rates(m, h, I, V)
        f, t = spatial_add(inertia_times(m, h, I, A), force_cross(V, (p, k)))
        store_entries(work, here, (*V[0], *V[1], *A[0], *A[1]))
        store_entries(work, to, (*f, *t, *p, *K))
    gather_records(topology, work, rates, RATES)


def add_force(out, nv, j, x, F):
    """Column j of a row-major matrix with rows of nv grows by the force F, whose point x leads to."""
    add_column(out, nv, j, *shift_force_back(F, x))


def subtract_moment(F, moment):
    return F[0], subtract(F[1], moment)


def twice_rate(p, K, S):
    """2 B S, B as in coriolis.py."""
    return scale(-2.0, cross(p, S[1])), scale(2.0, rotate(K, S[1]))


@kernel
def momentum_derivatives(topology, parameters, q, v, dq, dv):
    """dq, dv (6, nv): derivatives of the centroidal momentum."""
    n, nv, inertias = load_int(topology, N_BODIES), load_int(topology, N_V), load_int(topology, FREE_AT)
    motions = inertias + inertia_tiles(topology)
    momenta = motions + MOTION * (n + 1)
    work = kinematics_workspace(topology, parameters, q, inertia_tiles(topology) + (MOTION + 6) * (n + 1))
    root_inertias(topology, parameters, work, inertias)
    root_momenta(topology, parameters, work, v, inertias, motions, momenta)
    gather_inertias(topology, work, inertias)
    center, total = com_of(topology, parameters, work), load3(work, momenta)
    apart = zeros(center[0])
    zero_entries(dq, 6 * nv)
    zero_entries(dv, 6 * nv)
    for i in range(1, n + 1):
        m, here = load(parameters, body_floats(i) + SUBTREE_MASS), momenta + 6 * i
        there, apart = motions + MOTION * parent_of(topology, i), tree_offset(topology, work, i, apart)
        x = subtract(apart, center)  # the root body's origin from the centre of mass
        h, I = inertia_of(work, inertias, i)
        V, P = load_spatial(work, there), load_spatial(work, here)
        for c in range(*column_range(topology, i)):
            j = coordinate(topology, c)
            S = root_direction(topology, work, i, c)
            F = inertia_times(m, h, I, S)
            by_q = spatial_add(inertia_times(m, h, I, motion_cross(V, S)), force_cross(S, P))
            moment = cross(scale(1.0 / total_mass(parameters), F[0]), total)  # dc x p
            add_force(dq, nv, j, x, subtract_moment(by_q, moment))
            add_force(dv, nv, j, x, F)


@kernel
def momentum_rate_derivatives(topology, parameters, q, v, a, dq, dv, da):
    """dq, dv, da (6, nv): derivatives of the rate of the centroidal momentum."""
    n, nv, inertias = load_int(topology, N_BODIES), load_int(topology, N_V), load_int(topology, FREE_AT)
    motions = inertias + inertia_tiles(topology)
    rates = motions + MOTION_SIZE * (n + 1)
    work = kinematics_workspace(topology, parameters, q, inertia_tiles(topology) + (MOTION_SIZE + RATES) * (n + 1))
    root_inertias(topology, parameters, work, inertias)
    root_rates(topology, parameters, work, v, a, inertias, motions, rates)
    gather_inertias(topology, work, inertias)
    center, total = com_of(topology, parameters, work), load3(work, rates)
    apart = zeros(center[0])
    for out in (dq, dv, da):
        zero_entries(out, 6 * nv)
    for i in range(1, n + 1):
        m, apart = load(parameters, body_floats(i) + SUBTREE_MASS), tree_offset(topology, work, i, apart)
        x = subtract(apart, center)
        there, here, to = motions + MOTION_SIZE * parent_of(topology, i), motions + MOTION_SIZE * i, rates + RATES * i
        h, I = inertia_of(work, inertias, i)
        force, p, K = load_spatial(work, to), load3(work, to + LINEAR), load9(work, to + SPREAD)
        V, A, V_i = load_spatial(work, there), load_spatial(work, there + ACCELERATION), load_spatial(work, here)
        for c in range(*column_range(topology, i)):
            j = coordinate(topology, c)
            S = root_direction(topology, work, i, c)
            dS = motion_cross(V, S)  # S'
            ddS = spatial_add(motion_cross(A, S), motion_cross(V, dS))  # S"
            F = inertia_times(m, h, I, S)
            by_q = spatial_add(inertia_times(m, h, I, ddS), force_cross(S, force))
            moment = cross(scale(1.0 / total_mass(parameters), F[0]), total)  # dc x force
            add_force(dq, nv, j, x, subtract_moment(spatial_add(by_q, twice_rate(p, K, dS)), moment))
            by_v = inertia_times(m, h, I, spatial_add(dS, motion_cross(V_i, S)))
            add_force(dv, nv, j, x, spatial_add(by_v, twice_rate(p, K, S)))
            add_force(da, nv, j, x, F)
