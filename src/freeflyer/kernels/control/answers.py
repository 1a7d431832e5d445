"""What contact forces mean: accelerations, forces of motors, and by how much equations are missed."""

from __future__ import annotations

from freeflyer.kernels.backend.buffers import load, store
from freeflyer.kernels.backend.pack import select_less
from freeflyer.kernels.constrained.rows import table_int
from freeflyer.kernels.marks import inlined


@inlined
def magnitude(x):
    return select_less(x, 0.0, -1.0 * x, x)


@inlined
def put_accelerations(a, A, n, r, F, alpha):
    """alpha (n,) = a + A F, A (n, r)."""
    for i in range(n):
        x = load(a, i)
        for j in range(r):
            x = x + load(A, r * i + j) * load(F, j)
        store(alpha, i, x)


@inlined
def put_motor_forces(M, h, J, p, n, r, alpha, F, forces):
    """forces (p,) = M alpha + h - J^T F, M (p, n), J (r, p)."""
    for i in range(p):
        store(forces, i, load(h, i))
    for j in range(r):
        for i in range(p):
            store(forces, i, load(forces, i) - load(J, p * j + i) * load(F, j))
    for i in range(p):
        x = load(forces, i)
        for j in range(n):
            x = x + load(M, n * i + j) * load(alpha, j)
        store(forces, i, x)


@inlined
def largest_miss(topology, undriven_at, K, k, rows, n, d, J, p, r, alpha, F):
    """The largest part that is left of an equation of K alpha = k + [0; J_u^T F], beside the size of its terms and 1; u: the d rows
    without motors that topology lists."""
    worst = 0.0
    for i in range(rows):
        left, size = -1.0 * load(k, i), 1.0 + magnitude(load(k, i))
        for j in range(n):
            x = load(K, n * i + j) * load(alpha, j)
            left, size = left + x, size + magnitude(x)
        if i >= rows - d:
            c = table_int(topology, undriven_at + i - rows + d)
            for j in range(r):
                x = load(J, p * j + c) * load(F, j)
                left, size = left - x, size + magnitude(x)
        share = magnitude(left) / size
        worst = select_less(worst, share, share, worst)
    return worst
