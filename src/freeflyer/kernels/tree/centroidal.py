"""Centre of mass, centroidal momentum and its matrix, in world axes at the centre of mass [linear; angular]."""

from __future__ import annotations

from freeflyer.kernels.backend.buffers import load, load_int, load_row, row_step, row_total, store
from freeflyer.kernels.compiler._jit import inlined, kernel
from freeflyer.kernels.math.algebra import (
    add,
    add_scaled,
    cross,
    load3,
    load6,
    rotate,
    rotate_back,
    scale,
    store3,
    subtract,
    sym_apply,
)  # fmt: skip
from freeflyer.kernels.model.access import body_floats, body_ints
from freeflyer.kernels.model.joints.columns import add_column
from freeflyer.kernels.model.layout import (
    COM,
    FREE_AT,
    INERTIA,
    LAST_BODY,
    MASS,
    N_BODIES,
    N_COLUMNS,
    N_V,
    SUBTREE_MASS,
)  # fmt: skip
from freeflyer.kernels.tree.columns import (
    inertia_of,
    inertia_tiles,
    put_column,
    root_direction,
    subtree_inertias,
    tile_mass,
)
from freeflyer.kernels.tree.composite import column_range, coordinate, momentum, zeros
from freeflyer.kernels.tree.kinematics import kinematics_workspace
from freeflyer.kernels.tree.motions import ACCELERATION, ANGULAR, LINEAR, MOVING, TURNING, moving
from freeflyer.kernels.tree.poses import pose_at, position, root_position, rotation, row3, row_rotation


@inlined
def total_mass(parameters):
    return load(parameters, body_floats(0) + SUBTREE_MASS)


@inlined
def moment_of(topology, parameters, work):
    """First moment of mass (3) about the world's origin, from the poses in work."""
    n, step = load_int(topology, N_BODIES), row_step(work)
    zero = 0.0 * load_row(work, pose_at(topology, work, 0))
    total = (zero, zero, zero)
    for i in range(0, n + 1, step):
        m, c = tile_mass(topology, parameters, work, i)
        at = pose_at(topology, work, i)
        total = add(total, scale(m, add(row3(work, at + 9 * step), rotate(row_rotation(work, at), c))))
    h = row_total(work, total[0]), row_total(work, total[1]), row_total(work, total[2])
    i = 1
    while i <= n:  # from the reference bodies to the world
        m = load(parameters, body_floats(i) + SUBTREE_MASS)
        h = add_scaled(h, m, subtract(position(topology, work, i), root_position(topology, work, i)))
        i = load_int(topology, body_ints(i) + LAST_BODY) + 1
    return h


@inlined
def com_of(topology, parameters, work):
    """Centre of mass (3) from the poses in work."""
    return scale(1.0 / total_mass(parameters), moment_of(topology, parameters, work))


@kernel
def momentum_matrix(topology, parameters, q, A):
    """A (6, nv): A v is the momentum about the centre of mass."""
    n, nv, composites = load_int(topology, N_BODIES), load_int(topology, N_V), load_int(topology, FREE_AT)
    work = kinematics_workspace(topology, parameters, q, inertia_tiles(topology))
    subtree_inertias(topology, parameters, work, composites)
    c = com_of(topology, parameters, work)
    shared = load_int(topology, N_COLUMNS) != nv
    if shared:
        for k in range(6 * nv):
            store(A, k, 0.0)
    for i in range(1, n + 1):
        m = load(parameters, body_floats(i) + SUBTREE_MASS)
        x = subtract(
            subtract(position(topology, work, i), root_position(topology, work, i)), c
        )  # the root body's origin from the CoM
        h, I = inertia_of(work, composites, i)
        first, end = column_range(topology, i)
        for k in range(first, end):
            l, w = root_direction(topology, work, i, k)
            f, t = momentum(m, h, I, l, w)
            if shared:
                add_column(A, nv, coordinate(topology, k), f, add(t, cross(x, f)))
            else:
                put_column(A, 0, nv, k, f, add(t, cross(x, f)))


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
        at, here = body_floats(i), to + MOVING * i
        R, w = rotation(topology, work, i), load3(work, here + ANGULAR)
        c = rotate(R, load3(parameters, at + COM))
        l = scale(load(parameters, at + MASS), add(load3(work, here + LINEAR), cross(w, c)))
        x = subtract(add(position(topology, work, i), c), centre)
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
        at, here = body_floats(i), to + MOVING * i
        R, w, dw = rotation(topology, work, i), load3(work, here + ANGULAR), load3(work, here + TURNING)
        c, I = rotate(R, load3(parameters, at + COM)), load6(parameters, at + INERTIA)
        f = add(load3(work, here + ACCELERATION), add(cross(dw, c), cross(w, cross(w, c))))
        f = scale(load(parameters, at + MASS), f)
        x = subtract(add(position(topology, work, i), c), centre)
        p, k = add(p, f), add(k, add(cross(x, f), add(spun(R, I, dw), cross(w, spun(R, I, w)))))
    store3(b, 0, p)
    store3(b, 3, k)
