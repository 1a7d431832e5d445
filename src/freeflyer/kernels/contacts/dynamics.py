"""Accelerations, and velocities after impacts, of trees whose motion a constraint set restricts.

    M a + bias = tau + J^T y,   J a + bias_J = 0          RBDA (2008), 8.2, with M = L^T D L and its sparsity (6.5)

With X = L^-T J^T only the coordinates between contacts and the world are touched: J M^-1 J^T = X^T D^-1 X."""

from freeflyer.kernels.backend import (
    add_scaled_row, copy_entries, from_entry, kernel, load, load_int, put_sum, row_width, sqrt, store, workspace, zero_entries,
    zero_workspace,
)
from freeflyer.kernels.contacts.rows import axes_place, first_item_row, held_wrenches, item_int, put_set_rows, table_int
from freeflyer.kernels.contacts.solve import solve_whitened
from freeflyer.kernels.math.algebra import dot, load3
from freeflyer.kernels.math.spatial import load_spatial, spatial_add_scaled, store_spatial
from freeflyer.kernels.model.layout import (
    COLUMN_ROW, FIRST_FREE, FREE_AT, HELD, ITEM_FIRST_ROW, ITEM_KIND, ITEM_ROWS, NORMAL, N_ITEMS, N_PATH, N_SET_ROWS, N_V,
    PATH_AT, TABLE_AT, VERDICT_SIZE,
)
from freeflyer.kernels.tree.all_terms import areas_workspace
from freeflyer.kernels.tree.factor import coordinate_before, factored_mass, inward, line_start, outward
from freeflyer.kernels.tree.frames import body_motions
from freeflyer.kernels.tree.rnea import rnea


def path_of(topology):
    """(where topology lists the coordinates that move any row, descending; how many)."""
    return load_int(topology, TABLE_AT) + table_int(topology, PATH_AT), table_int(topology, N_PATH)


def whiten(topology, L, X, width):
    """Columns X (nv, width) become L^-T X."""
    stride = load_int(topology, COLUMN_ROW)
    path, count = path_of(topology)
    for n in range(count):
        j = load_int(topology, path + n)
        end = coordinate_before(topology, j)
        while end >= 0:
            start = line_start(topology, end)
            for i in range(start, end + 1):
                add_scaled_row(X, width * i, -1.0 * load(L, stride * j + i), X, width * j, 0, width)
            end = coordinate_before(topology, start)


@kernel
def put_forces(topology, parameters, wrenches, y, forces, multipliers, normal_forces):
    """Wrenches [force; torque] on the items' frames (items, 6), the multipliers (r,) of the public rows, and the forces along the
    items' normals (items,)."""
    start = first_item_row(topology)
    copy_entries(y, start, multipliers)
    for n in range(table_int(topology, N_ITEMS)):
        row, count = item_int(topology, n, ITEM_FIRST_ROW), item_int(topology, n, ITEM_ROWS)
        zero = 0.0 * load(y, row)
        f = (zero, zero, zero), (zero, zero, zero)
        for i in range(count):
            f = spatial_add_scaled(f, load(y, row + i), load_spatial(wrenches, 6 * (row - start + i)))
        store_spatial(forces, 6 * n, f)
        store(normal_forces, n, dot(f[0], load3(wrenches, axes_place(topology, n) + NORMAL)))
        if item_int(topology, n, ITEM_KIND) == HELD:
            at = held_wrenches(topology, n, True) + 6 * count
            for i in range(count):
                total = 0.0 * load(y, row)
                for j in range(count):
                    total = total + load(parameters, at + count * i + j) * load(y, row + j)
                store(multipliers, row + i, total)
        else:
            copy_entries(from_entry(y, row), count, from_entry(multipliers, row))


def size_of(a):
    return sqrt(a * a)


def put_answer(topology, parameters, L, X, width, x, b, energy, wrenches, forces, multipliers, normal_forces, verdict):
    """x (nv,) becomes M^-1 (L^T x + J^T y) with J M^-1 J^T y = -b - J M^-1 L^T x. Columns X are whitened. Writes what follows from
    y. energy: the size of the forces. Returns what `eliminate_rows` makes of J M^-1 J^T."""
    rows, stride = table_int(topology, N_SET_ROWS), load_int(topology, COLUMN_ROW)
    path, count = path_of(topology)
    sizes, found = workspace(x, rows + 1), workspace(x, table_int(topology, VERDICT_SIZE))
    for i in range(rows):
        store(sizes, i, size_of(load(b, i)))
        store(b, i, -1.0 * load(b, i))
    whiten(topology, L, X, width)
    first = table_int(topology, FIRST_FREE)
    y, G = solve_whitened(topology, path, count, L, stride + 1, X, width, x, b, sizes, energy, rows, first, found)
    outward(topology, L, x, L, stride + 1)
    copy_entries(found, table_int(topology, VERDICT_SIZE), verdict)
    put_forces(topology, parameters, wrenches, y, forces, multipliers, normal_forces)
    return G


def items_workspace(topology, q):
    """Room for the unit wrenches and axes of the items."""
    return zero_workspace(q, axes_place(topology, table_int(topology, N_ITEMS)))


def set_equations(topology, parameters, q, v, work):
    """(L, the diagonal of M, columns X of all rows, their width, their bias and rates J v, unit wrenches of the items' rows). work:
    the kinematics, and room behind FREE_AT for `areas`."""
    nv, rows = load_int(topology, N_V), table_int(topology, N_SET_ROWS)
    width, diagonal, wrenches = row_width(q, rows), workspace(q, nv + 1), items_workspace(topology, q)
    X, bias, rates = workspace(q, nv * width + 8), workspace(q, rows + 1), workspace(q, rows + 1)
    body_motions(topology, work, v, load_int(topology, FREE_AT))
    put_set_rows(topology, parameters, q, v, work, True, wrenches, X, width, bias, rates)
    return factored_mass(topology, parameters, work, diagonal), diagonal, X, width, bias, rates, wrenches


def solve_set(topology, parameters, q, v, tau, work, x, forces, multipliers, normal_forces, verdict):
    """As `set_dynamics`, with accelerations in x; work: see `set_equations`. Returns (L, whitened columns X, what `eliminate_rows`
    makes of J M^-1 J^T, unit wrenches of the items' rows)."""
    nv = load_int(topology, N_V)
    L, diagonal, X, width, b, _, wrenches = set_equations(topology, parameters, q, v, work)
    rnea(topology, parameters, q, v, zero_workspace(q, nv), x)
    total = 0.0 * load(x, 0)
    for j in range(nv):
        swept = load(diagonal, j) * load(v, j) * load(v, j)  # of which the rows' rates have their rounding
        both = size_of(load(tau, j)) + size_of(load(x, j)) + swept
        total = total + both * both / load(diagonal, j)
        store(x, j, load(tau, j) - load(x, j))
    inward(topology, L, x)
    G = put_answer(topology, parameters, L, X, width, x, b, sqrt(total), wrenches, forces, multipliers, normal_forces, verdict)
    return L, X, G, wrenches


@kernel
def set_dynamics(topology, parameters, q, v, tau, a, forces, multipliers, normal_forces, verdict):
    """a (nv,) under tau (nv,); forces (items, 6) on the items' frames, normal_forces (items,) their parts along the items' normals;
    multipliers (r,) of the rows; verdict: see model/layout.py."""
    nv = load_int(topology, N_V)
    work, x = areas_workspace(topology, parameters, q), workspace(q, nv + 1)
    solve_set(topology, parameters, q, v, tau, work, x, forces, multipliers, normal_forces, verdict)
    copy_entries(x, nv, a)


def drop_rolling(topology, X, width):
    """Columns of rows of what rolls become zero: their positions are not held."""
    for n in range(table_int(topology, N_ITEMS)):
        if item_int(topology, n, ITEM_KIND) != HELD:
            for j in range(load_int(topology, N_V)):
                for k in range(item_int(topology, n, ITEM_ROWS)):
                    store(X, width * j + item_int(topology, n, ITEM_FIRST_ROW) + k, 0.0)


def solve_rates(topology, parameters, q, v, work, given, r, x, impulses, multipliers, normal_impulses, verdict):
    """x (nv,) becomes M^-1 J^T y by which the rates of all rows lose J v, or r (r,) if that is `given`; J in the rows' scaled form.
    work: see `set_equations`."""
    nv, total = load_int(topology, N_V), 0.0 * load(v, 0)
    L, diagonal, X, width, _, b, wrenches = set_equations(topology, parameters, q, v, work)
    if given:
        copy_entries(r, table_int(topology, N_SET_ROWS), b)
        drop_rolling(topology, X, width)
    for j in range(nv):
        total = total + load(diagonal, j) * load(v, j) * load(v, j)
    zero_entries(x, nv)
    put_answer(topology, parameters, L, X, width, x, b, sqrt(total), wrenches, impulses, multipliers, normal_impulses, verdict)


def set_impact(topology, parameters, q, v, after, impulses, multipliers, normal_impulses, verdict):
    """The velocity (nv,) after all rows of J v are brought to zero at once; impulses (items, 6), multipliers (r,), normal impulses
    (items,), verdict."""
    work, x = areas_workspace(topology, parameters, q), workspace(q, load_int(topology, N_V))
    solve_rates(topology, parameters, q, v, work, False, v, x, impulses, multipliers, normal_impulses, verdict)
    put_sum(v, 1.0, x, load_int(topology, N_V), after)
