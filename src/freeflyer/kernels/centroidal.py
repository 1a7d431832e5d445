"""Centre of mass, centroidal momentum and its matrix, in world axes at the centre of mass [linear; angular]."""

from __future__ import annotations

from freeflyer.kernels._jit import inlined, kernel
from freeflyer.kernels.algebra import (
    add,
    add_scaled,
    cross,
    dot,
    load3,
    load6,
    load9,
    rotate,
    rotate_back,
    scale,
    store3,
    subtract,
    sym_apply,
)  # fmt: skip
from freeflyer.kernels.columns import root_direction, root_inertias
from freeflyer.kernels.composite import COMPOSITE, column_range, coordinate, momentum, pose_at, zeros
from freeflyer.kernels.joints import add_column, body_floats
from freeflyer.kernels.kinematics import kinematics_workspace
from freeflyer.kernels.layout import (
    ARMATURE_AT,
    COM,
    FREE_AT,
    GRAVITY,
    INERTIA,
    MASS,
    N_BODIES,
    N_V,
    SUBTREE_MASS,
)  # fmt: skip
from freeflyer.kernels.memory import load, load_int, store
from freeflyer.kernels.motions import MOVING, moving


@inlined
def total_mass(parameters):
    return load(parameters, body_floats(0) + SUBTREE_MASS)


@inlined
def com_of(topology, parameters, work):
    """Centre of mass (3) from the poses in work."""
    c = zeros(load(work, pose_at(topology, 0)))
    for i in range(1, load_int(topology, N_BODIES) + 1):
        pose, at = pose_at(topology, i), body_floats(i)
        x = add(load3(work, pose + 12), rotate(load9(work, pose), load3(parameters, at + COM)))
        c = add_scaled(c, load(parameters, at + MASS), x)
    return scale(1.0 / total_mass(parameters), c)


@kernel
def com(topology, parameters, q, c):
    """c (3,)"""
    store3(c, 0, com_of(topology, parameters, kinematics_workspace(topology, parameters, q, 0)))


@kernel
def momentum_matrix(topology, parameters, q, A):
    """A (6, nv): A v is the momentum about the centre of mass."""
    n, nv, composites = load_int(topology, N_BODIES), load_int(topology, N_V), load_int(topology, FREE_AT)
    work = kinematics_workspace(topology, parameters, q, COMPOSITE * (n + 1))
    root_inertias(topology, parameters, work, composites)
    c = com_of(topology, parameters, work)
    for k in range(6 * nv):
        store(A, k, 0.0)
    for i in range(1, n + 1):
        m, pose = load(parameters, body_floats(i) + SUBTREE_MASS), pose_at(topology, i)
        x = subtract(subtract(load3(work, pose + 12), load3(work, pose + 15)), c)  # the root body's origin from the CoM
        h, I = load3(work, composites + COMPOSITE * i), load6(work, composites + COMPOSITE * i + 3)
        first, end = column_range(topology, i)
        for k in range(first, end):
            l, w = root_direction(topology, work, i, k)
            f, t = momentum(m, h, I, l, w)
            add_column(A, nv, coordinate(topology, k), f, add(t, cross(x, f)))


@inlined
def moving_work(topology, parameters, q, v):
    """Kinematics with the motions of all bodies from FREE_AT on."""
    work = kinematics_workspace(topology, parameters, q, MOVING * (load_int(topology, N_BODIES) + 1))
    moving(topology, work, v, load_int(topology, FREE_AT))
    return work


@inlined
def spun(R, I, w):
    """R I R^T w"""
    return rotate(R, sym_apply(I, rotate_back(R, w)))


@kernel
def momentum_vector(topology, parameters, q, v, h):
    """h (6,): linear momentum and angular momentum about the centre of mass."""
    work, to = moving_work(topology, parameters, q, v), load_int(topology, FREE_AT)
    centre = com_of(topology, parameters, work)
    p = k = zeros(centre[0])
    for i in range(1, load_int(topology, N_BODIES) + 1):
        pose, at, here = pose_at(topology, i), body_floats(i), to + MOVING * i
        R, w = load9(work, pose), load3(work, here + 3)
        c = rotate(R, load3(parameters, at + COM))
        l = scale(load(parameters, at + MASS), add(load3(work, here), cross(w, c)))
        x = subtract(add(load3(work, pose + 12), c), centre)
        p, k = add(p, l), add(k, add(cross(x, l), spun(R, load6(parameters, at + INERTIA), w)))
    store3(h, 0, p)
    store3(h, 3, k)


@kernel
def momentum_bias(topology, parameters, q, v, b):
    """b (6,): rate of the centroidal momentum while no joint accelerates, Adot v."""
    work, to = moving_work(topology, parameters, q, v), load_int(topology, FREE_AT)
    centre = com_of(topology, parameters, work)
    p = k = zeros(centre[0])
    for i in range(1, load_int(topology, N_BODIES) + 1):
        pose, at, here = pose_at(topology, i), body_floats(i), to + MOVING * i
        R, w, dw = load9(work, pose), load3(work, here + 3), load3(work, here + 9)
        c, I = rotate(R, load3(parameters, at + COM)), load6(parameters, at + INERTIA)
        f = add(load3(work, here + 6), add(cross(dw, c), cross(w, cross(w, c))))
        f = scale(load(parameters, at + MASS), f)
        x = subtract(add(load3(work, pose + 12), c), centre)
        p, k = add(p, f), add(k, add(cross(x, f), add(spun(R, I, dw), cross(w, spun(R, I, w)))))
    store3(b, 0, p)
    store3(b, 3, k)


@kernel
def kinetic_energy(topology, parameters, q, v, T):
    """T (1,): 1/2 v^T M v, armature included."""
    work, to = moving_work(topology, parameters, q, v), load_int(topology, FREE_AT)
    total = 0.0 * load(v, 0)
    for i in range(1, load_int(topology, N_BODIES) + 1):
        at, here = body_floats(i), to + MOVING * i
        R, w = load9(work, pose_at(topology, i)), load3(work, here + 3)
        l = add(load3(work, here), cross(w, rotate(R, load3(parameters, at + COM))))
        total = total + load(parameters, at + MASS) * dot(l, l)
        total = total + dot(w, spun(R, load6(parameters, at + INERTIA), w))
    for j in range(load_int(topology, N_V)):
        total = total + load(parameters, load_int(topology, ARMATURE_AT) + j) * load(v, j) * load(v, j)
    store(T, 0, 0.5 * total)


@kernel
def potential_energy(topology, parameters, q, U):
    """U (1,): -m g . c, zero with the centre of mass at the world's origin."""
    c = com_of(topology, parameters, kinematics_workspace(topology, parameters, q, 0))
    store(U, 0, -total_mass(parameters) * dot(load3(parameters, GRAVITY), c))
