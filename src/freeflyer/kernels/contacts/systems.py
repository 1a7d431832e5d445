"""M a + h = tau + J^T y, J a + bias = 0 with matrices that are given: closed linkages, and rows of the user's own."""

from freeflyer.kernels.backend.buffers import load, load_int, row_width, store, workspace
from freeflyer.kernels.contacts.rows import table_int
from freeflyer.kernels.contacts.solve import add_scaled_row, put_gram, solve_rows
from freeflyer.kernels.marks import kernel
from freeflyer.kernels.math.dense import factor_symmetric
from freeflyer.kernels.model.layout import TABLE_AT
from freeflyer.kernels.model.set_layout import N_SYSTEM_ROWS, N_UNKNOWNS, SYSTEM_FREE, SYSTEM_VERDICT


@kernel
def solve_system(topology, parameters, system, a, y, verdict):
    """a (n,) and y (r,) with M a = f + J^T y, J a = b, and the verdict (set_layout).

    system: M (n, n), f (n,), J (r, n), b (r,), sizes (r,) of the terms of b, and the size of the terms of f as energy: the root of
    the sum of their squares by M's diagonal.
    """
    n, rows, found = table_int(topology, N_UNKNOWNS), table_int(topology, N_SYSTEM_ROWS), table_int(topology, SYSTEM_VERDICT)
    width = row_width(system, rows)
    L, x, X = workspace(system, n * n + 8), workspace(system, n + 1), workspace(system, n * width + 8)
    b, sizes, G = workspace(system, rows + 1), workspace(system, rows + 1), workspace(system, rows * width + 8)
    z, facts = workspace(system, rows + 1), workspace(system, found)
    f_at, J_at = n * n, n * n + n
    b_at = J_at + rows * n
    for k in range(n * n):
        store(L, k, load(system, k))
    factor_symmetric(L, n)
    for j in range(n):
        store(x, j, load(system, f_at + j))
        for i in range(width):
            store(X, width * j + i, 0.0)
        for i in range(rows):
            store(X, width * j + i, load(system, J_at + n * i + j))
        for k in range(j):
            store(x, j, load(x, j) - load(L, n * j + k) * load(x, k))
            add_scaled_row(X, width * j, -1.0 * load(L, n * j + k), X, width * k, 0, width)
    put_gram(topology, load_int(topology, TABLE_AT) + SYSTEM_FREE + 1, n, X, L, n + 1, rows, width, G)
    for i in range(rows):
        store(sizes, i, load(system, b_at + rows + i))
        total = load(system, b_at + i)
        for j in range(n):
            total = total - load(X, width * j + i) * load(L, (n + 1) * j) * load(x, j)
        store(b, i, total)
    solve_rows(G, rows, table_int(topology, SYSTEM_FREE), width, b, sizes, load(system, b_at + 2 * rows), z, facts)
    for j in range(n - 1, -1, -1):
        total = load(x, j)
        for i in range(rows):
            total = total + load(X, width * j + i) * load(z, i)
        total = total * load(L, (n + 1) * j)
        for k in range(j + 1, n):
            total = total - load(L, n * k + j) * load(x, k)
        store(x, j, total)
    for j in range(n):
        store(a, j, load(x, j))
    for i in range(rows):
        store(y, i, load(z, i))
    for i in range(found):
        store(verdict, i, load(facts, i))
