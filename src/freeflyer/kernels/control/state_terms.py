"""Terms of one state in the unknown accelerations of a controller.

In the independent velocities u of a closed model v = G u, a = G udot + gamma: rows J a + bias of the tree become J G udot + bias +
J gamma, its equations of motion G^T (M a + h). If the accelerations of all joints are unknown, rows stay those of the tree
("Multibody dynamics ... of the Kangaroo humanoid robot", (25)-(29))."""

from freeflyer.kernels.backend import (
    copy_entries, from_entry, kernel, load, load_int, put_sum, row_width, store, workspace, zero_entries, zero_workspace,
)
from freeflyer.kernels.contacts.rows import set_rows, table_int
from freeflyer.kernels.control.layout import (
    ALL_JOINTS, CLOSED, CONSTANTS_AT, CONTACT_DAMPING, FORM, FRAMES_AT, N_ALPHA, N_CONTACTS, N_FORCES, N_LOOP_ROWS, N_VELOCITIES,
    SET_AT, TREE)
from freeflyer.kernels.linkages.blocks import linkage, velocity_map, whole_acceleration, whole_velocity
from freeflyer.kernels.math.dense import copy_rows, put_rows
from freeflyer.kernels.model.layout import GRAVITY, N_V, TABLE_AT
from freeflyer.kernels.optimization.condensation import put_product
from freeflyer.kernels.optimization.residuals import row_product
from freeflyer.kernels.tree.all_terms import all_terms
from freeflyer.kernels.tree.frames import MIXED


def part_of(topology, k):
    """The table of a part, whose place entry k of the program's table holds."""
    return from_entry(topology, load_int(topology, TABLE_AT) + table_int(topology, k))


@kernel
def closed_motion(topology, parameters, q, u):
    """v (nv,) = G u, gamma (nv,), G (nv, stride)."""
    work, J, inverses = linkage(topology, parameters, q)
    v, rest = whole_velocity(topology, work, J, inverses, u), zero_workspace(q, load_int(topology, N_V))
    gamma = whole_acceleration(topology, parameters, q, work, J, inverses, rest, v)
    return v, gamma, velocity_map(topology, J, inverses)


def put_along(X, rows, nv, G, stride, nu, Y):
    """Y (rows, nu) = X (rows, nv) G."""
    wide = workspace(X, rows * stride + 8)
    put_product(X, rows, nv, G, nu, wide)
    copy_rows(wide, 0, rows, stride, nu, Y, 0, nu)


@kernel
def put_projected(X, columns, nv, G, stride, nu, Y):
    """Y (nu, columns) = G^T X, X (nv, columns)."""
    width = row_width(X, columns)
    turned, wide, found = workspace(X, nu * nv + 8), workspace(X, nv * width + 8), workspace(X, nu * width + 8)
    for i in range(nv):
        for j in range(nu):
            store(turned, nv * j + i, load(G, stride * i + j))
    put_rows(X, nv, columns, wide)
    put_product(turned, nu, nv, wide, columns, found)
    copy_rows(found, 0, nu, width, columns, Y, 0, columns)


@kernel
def state_terms(topology, parameters, q, u, loads, unit):
    """Everything of a state that rows are made of; unit (rows of contacts, 6): as `set_rows`. Tuples are returned:

    v, gamma (nv,), G (nv, stride): see `closed_motion`, of a tree v = u alone. M (n, n) and linear (n,): the acceleration energy.
    inertia (nu, n), h (nu,), mapped (k, nu): inertia alpha + h = forces of motors + mapped^T F. J (r, n), drift (r,), axes
    (contacts, 9): J alpha = drift of loops, then contacts, and `set_rows`. Last, what `all_terms` gives, in alpha."""
    nv, nu, n = load_int(topology, N_V), table_int(topology, N_VELOCITIES), table_int(topology, N_ALPHA)
    form, loops, k = table_int(topology, FORM), table_int(topology, N_LOOP_ROWS), table_int(topology, N_FORCES)
    held, frames, stride, rows = part_of(topology, SET_AT), part_of(topology, FRAMES_AT), row_width(q, nu), loops + k
    damping = load(parameters, table_int(topology, CONSTANTS_AT) + CONTACT_DAMPING)
    f, forces, bias = table_int(frames, 0), workspace(q, 2 * nv + 8), workspace(q, rows + 8)
    M, linear, h = workspace(q, n * n + 8), workspace(q, n + 8), workspace(q, nu + 8)
    J, drift, axes = workspace(q, rows * n + 8), workspace(q, rows + 8), workspace(q, 9 * table_int(topology, N_CONTACTS) + 8)
    A, Jc, jacobians = workspace(q, 6 * n + 8), workspace(q, 3 * n + 8), workspace(q, 6 * f * n + 8)
    centroidal, poses, motions = workspace(q, 16), workspace(q, 16 * f + 8), workspace(q, 12 * f + 8)
    v, gamma, G = (u, u, u) if form == TREE else closed_motion(topology, parameters, q, u)
    whole, wide_J, wide_A, wide_Jc, wide_jacobians = (M, J, A, Jc, jacobians) if form != CLOSED else (
        workspace(q, nv * nv + 8), workspace(q, rows * nv + 8), workspace(q, 6 * nv + 8), workspace(q, 3 * nv + 8),
        workspace(q, 6 * f * nv + 8))  # fmt: skip
    all_terms(frames, parameters, q, v, from_entry(parameters, GRAVITY), MIXED, whole, forces, wide_A, wide_Jc, centroidal, poses,
              motions, wide_jacobians)  # fmt: skip
    set_rows(held, parameters, q, v, wide_J, bias, unit, axes)
    for i in range(rows):
        rate = damping * row_product(wide_J, nv * i, v, nv) if i >= loops else 0.0
        store(drift, i, -1.0 * load(bias, i) - rate)
    zero_entries(linear, n)
    if form == CLOSED:
        pushed = workspace(q, nv + 8)
        for i in range(nv):
            store(pushed, i, row_product(whole, nv * i, gamma, nv))
            store(forces, i, load(forces, i) + load(pushed, i))
        for i in range(rows):
            store(drift, i, load(drift, i) - row_product(wide_J, nv * i, gamma, nv))
        for i in range(6):
            store(centroidal, 9 + i, load(centroidal, 9 + i) + row_product(wide_A, nv * i, gamma, nv))
        for i in range(f):
            for c in range(6):
                at = 12 * i + 6 + c
                store(motions, at, load(motions, at) + row_product(wide_jacobians, nv * (6 * i + c), gamma, nv))
        put_projected(pushed, 1, nv, G, stride, nu, linear)
        half = workspace(q, nv * nu + 8)
        put_along(whole, nv, nv, G, stride, nu, half)
        put_projected(half, nu, nv, G, stride, nu, M)
        put_along(wide_J, rows, nv, G, stride, nu, J)
        put_along(wide_A, 6, nv, G, stride, nu, A)
        put_along(wide_Jc, 3, nv, G, stride, nu, Jc)
        put_along(wide_jacobians, 6 * f, nv, G, stride, nu, jacobians)
    if form == TREE:
        copy_entries(forces, nv, h)
    else:
        put_projected(forces, 1, nv, G, stride, nu, h)
    inertia, mapped = (M, J) if form != ALL_JOINTS else (workspace(q, nu * n + 8), workspace(q, k * nu + 8))
    if form == ALL_JOINTS:
        put_projected(whole, nv, nv, G, stride, nu, inertia)
        put_along(from_entry(wide_J, nv * loops), k, nv, G, stride, nu, mapped)
    put_sum(h, 1.0, loads, nu, h)
    body = A, Jc, centroidal, poses, motions, jacobians
    return (v, gamma, G), (M, linear), (inertia, h, mapped), (J, drift, axes), body
