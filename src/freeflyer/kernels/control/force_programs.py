"""One control cycle where no limit is active: accelerations of least energy, as a function of the contact forces, and the forces of
least cost, which hold where they lie in their cones.
"""

from __future__ import annotations

from freeflyer.kernels.backend.buffers import from_entry, load, row_width, store, workspace
from freeflyer.kernels.backend.pack import all_below, select_less
from freeflyer.kernels.constrained.rows import table_int
from freeflyer.kernels.constrained.solve import add_scaled_row
from freeflyer.kernels.control.answers import largest_miss, put_accelerations, put_motor_forces
from freeflyer.kernels.control.layout import (
    BEYOND,
    CYCLE_TABLE,
    MISSED,
    N_CONES,
    N_FIXED,
    N_MET,
    N_MOTIONS,
    N_MOTORS,
    N_SQUARES,
    OUTSIDE,
)
from freeflyer.kernels.marks import inlined, kernel
from freeflyer.kernels.math.dense import ZERO
from freeflyer.kernels.optimization.condensation import condense_rows, condense_to_forces
from freeflyer.kernels.optimization.layout import N_FORCES, N_FREE, N_ROWS, N_UNKNOWNS


@inlined
def copy(x, count, y, at):
    for i in range(count):
        store(y, at + i, load(x, i))


@kernel
def add_squares(linear, metric, J, b, weights, n, rows, slope, total):
    """total (n, n) = metric + J^T W J and slope (n,) = linear - J^T W b, for J (rows, n), b (rows,) and weights W (rows,)."""
    width = row_width(linear, n)
    wide, own = workspace(linear, n * width + 8), workspace(linear, width + 8)
    for j in range(n):
        store(slope, j, load(linear, j))
        for c in range(n):
            store(wide, width * j + c, load(metric, n * j + c))
        for c in range(n, width):
            store(wide, width * j + c, 0.0)
    for c in range(n, width):
        store(own, c, 0.0)
    for i in range(rows):
        weight, aim = load(weights, i), load(b, i)
        for j in range(n):
            store(own, j, load(J, n * i + j))
        for j in range(n):
            s = weight * load(own, j)
            if not all_below(s, ZERO):
                store(slope, j, load(slope, j) - s * aim)
                add_scaled_row(wide, width * j, s, own, 0, 0, width)
    for j in range(n):
        for c in range(n):
            store(total, n * j + c, load(wide, width * j + c))


@kernel
def put_equations(topology, inertia, h, force_map, fixed, drift, tasks, aims, n, r, K, k, B):
    """K (rows, n) and k (rows,): rows that hold, tasks that are met, and -h in the rows without motors, whose forces are B (d,
    r)."""
    p, c, t, d = (table_int(topology, N_MOTIONS), table_int(topology, N_FIXED), table_int(topology, N_MET),
                  table_int(topology, N_FREE))  # fmt: skip
    copy(fixed, c * n, K, 0)
    copy(drift, c, k, 0)
    copy(tasks, t * n, K, c * n)
    copy(aims, t, k, c)
    for i in range(d):
        u = table_int(topology, CYCLE_TABLE + i)
        for j in range(n):
            store(K, n * (c + t + i) + j, load(inertia, n * u + j))
        store(k, c + t + i, -1.0 * load(h, u))
        for j in range(r):
            store(B, r * i + j, load(force_map, p * j + u))


@kernel
def put_least(H, slope, theta, beta, inverses, d, r, F):
    """F (r,) of least 1/2 F^T H F + slope^T F with theta F = -beta in those of d rows whose inverse is zero."""
    E, e = workspace(H, d * r + 8), workspace(H, d + 8)
    for i in range(d):
        kept = select_less(load(inverses, i), ZERO, 1.0, 0.0)
        store(e, i, -1.0 * kept * load(beta, i))
        for j in range(r):
            store(E, r * i + j, kept * load(theta, r * i + j))
    none, sides, own, pivots = workspace(H, 8), workspace(H, d + 8), workspace(H, d + 8), workspace(H, r + 8)
    condense_rows(slope, H, E, e, r, d, 0, F, none, none, sides, own, pivots)


@inlined
def beyond(x, low, high, found):
    """1 where x lies beyond its limits, else what was found before."""
    return select_less(x, low, 1.0, select_less(high, x, 1.0, found))


@kernel
def judge(topology, inertia, h, force_map, numbers, K, k, alpha, F, forces, verdicts):
    """forces (p,) of the motors in the equations of motion, and verdicts on them and on alpha and F, as in `cycle_by_forces`."""
    n, rows, d, r = (table_int(topology, N_UNKNOWNS), table_int(topology, N_ROWS), table_int(topology, N_FREE),
                     table_int(topology, N_FORCES))  # fmt: skip
    p, m, motors = table_int(topology, N_MOTIONS), table_int(topology, N_CONES), table_int(topology, N_MOTORS)
    C, lower, upper = from_entry(numbers, r * r), from_entry(numbers, r * (r + m)), from_entry(numbers, r * (r + m) + m)
    limits = r * r + (r + 2) * m + table_int(topology, N_SQUARES)
    slowest, fastest = from_entry(numbers, limits), from_entry(numbers, limits + n)
    weakest, strongest = from_entry(numbers, limits + 2 * n), from_entry(numbers, limits + 2 * n + motors)
    put_motor_forces(inertia, h, force_map, p, n, r, alpha, F, forces)
    store(verdicts, MISSED, largest_miss(topology, CYCLE_TABLE, K, k, rows, n, d, force_map, p, r, alpha, F))
    found = 0.0
    for i in range(m):
        x = 0.0
        for j in range(r):
            x = x + load(C, r * i + j) * load(F, j)
        found = beyond(x, load(lower, i), load(upper, i), found)
    store(verdicts, OUTSIDE, found)
    found = 0.0
    for i in range(n):
        found = beyond(load(alpha, i), load(slowest, i), load(fastest, i), found)
    for i in range(motors):
        x = load(forces, table_int(topology, CYCLE_TABLE + d + i))
        found = beyond(x, load(weakest, i), load(strongest, i), found)
    store(verdicts, BEYOND, found)


@kernel
def cycle_by_forces(
    topology, parameters, linear, h, metric, inertia, force_map, fixed, tasks, numbers, alpha, F, forces, verdicts
):
    """alpha (n,), F (r,) and forces (p,) of the motors in the equations of motion inertia alpha + h = forces + force_map^T F.

    Least is 1/2 alpha^T metric alpha + linear^T alpha + 1/2 F^T force_metric F, subject to fixed alpha = drift, tasks alpha = aims,
    and forces = 0 in the rows without motors. Drift and aims follow behind h (p,). numbers: force_metric (r, r), cones lower <=
    C F <= upper, weights of squares (`cycle_of_least_level` alone has them), limits of accelerations and of the motors' forces.

    verdicts: by how much an equation is missed (see `largest_miss`); 1 where the cones do not hold, where a limit does not.
    """
    n, rows, d, r = (table_int(topology, N_UNKNOWNS), table_int(topology, N_ROWS), table_int(topology, N_FREE),
                     table_int(topology, N_FORCES))  # fmt: skip
    p, c = table_int(topology, N_MOTIONS), table_int(topology, N_FIXED)
    drift, aims = from_entry(h, p), from_entry(h, p + c)
    K, k, B = workspace(linear, rows * n + 8), workspace(linear, rows + 8), workspace(linear, d * r + 8)
    a, A, theta = workspace(linear, n + 8), workspace(linear, n * r + 8), workspace(linear, d * r + 8)
    beta, inverses = workspace(linear, rows + 8), workspace(linear, rows + 8)
    H, slope = workspace(linear, r * r + 8), workspace(linear, r + 8)
    put_equations(topology, inertia, h, force_map, fixed, drift, tasks, aims, n, r, K, k, B)
    condense_to_forces(linear, metric, K, k, B, numbers, n, rows, d, r, a, A, theta, beta, inverses, H, slope)
    first = rows - d
    put_least(H, slope, theta, from_entry(beta, first), from_entry(inverses, first), d, r, F)
    put_accelerations(a, A, n, r, F, alpha)
    judge(topology, inertia, h, force_map, numbers, K, k, alpha, F, forces, verdicts)
