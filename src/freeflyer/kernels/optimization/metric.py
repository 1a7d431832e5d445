"""Coordinates in which a metric is the identity: y = R (x - c) with H = R^T R and c = -H^-1 g.

Least 1/2 x^T H x + g^T x is least norm of y.
"""

from __future__ import annotations

from freeflyer.kernels.backend import inlined, kernel, load, load_row, row_step, sqrt, store, store_row, workspace
from freeflyer.kernels.optimization.condensation import subtract_products
from freeflyer.kernels.optimization.orthogonal_rows import clear, dot, put_combination


@kernel
def put_inverse_factor(H, n, width, W, R, parts):
    """W (n, width) = R^-1 of H = R^T R, R (n, width), both upper triangular; parts (n,): room."""
    clear(R, 0, n * width)
    clear(W, 0, n * width)
    for i in range(n):
        for j in range(i, n):
            store(R, width * i + j, load(H, n * i + j))
        for c in range(i):
            store(parts, c, load(R, width * c + i))
        subtract_products(R, width * i, i, width, parts, 0, i, R, width)
        clear(R, width * i, width * i + i)
        scale_row(R, width * i, 1.0 / sqrt(load(R, width * i + i)), width)
    for back in range(n):
        i = n - 1 - back
        for c in range(i + 1, n):
            store(parts, c, load(R, width * i + c))
        store(W, width * i + i, 1.0)
        subtract_products(W, width * i, i, width, parts, i + 1, n, W, width)
        scale_row(W, width * i, 1.0 / load(R, width * i + i), width)


@inlined
def scale_row(A, at, scale, width):
    for k in range(0, width, row_step(A)):
        store_row(A, at + k, scale * load_row(A, at + k))


@kernel
def put_center(H, linear, n, width, metric, W, center, R, parts):
    """W of the metric, and its center c = -H^-1 g."""
    g, lengths = workspace(linear, width + 8), workspace(linear, width + 8)
    clear(g, 0, width)
    clear(center, 0, width)
    for j in range(n):
        store(g, j, -1.0 * load(linear, j))
    if metric:
        put_inverse_factor(H, n, width, W, R, parts)
        put_combination(g, n, W, width, lengths)
        put_direction(metric, W, lengths, n, width, center)
    else:
        set_row(center, 0, g, 0, width)


@inlined
def put_direction(metric, W, y, n, width, x):
    """x (width,) = W y, without a metric y."""
    if metric:
        for j in range(n):
            store(x, j, dot(W, width * j, y, 0, width))
    else:
        set_row(x, 0, y, 0, width)


@inlined
def put_coordinates(metric, R, x, center, n, width, y):
    """y (width,) = R (x - center), without a metric x - center."""
    for k in range(0, width, row_step(y)):
        store_row(y, k, load_row(x, k) - load_row(center, k))
    if metric:
        for i in range(n):
            store(y, i, dot(R, width * i, y, 0, width))


@inlined
def set_row(A, to, B, at, width):
    """Whole rows of A from `to` on become those of B from `at` on."""
    for k in range(0, width, row_step(A)):
        store_row(A, to + k, load_row(B, at + k))


@kernel
def turn_columns(L, stride, j, rows):
    """Turn columns j and j + 1 of a factor L so that its entry (j, j + 1) vanishes: cosine and sine of the Givens rotation."""
    at = stride * j + j
    a, b = load(L, at), load(L, at + 1)
    r = sqrt(a * a + b * b)
    c, s = a / r, b / r
    store(L, at, r)
    store(L, at + 1, 0.0)
    for i in range(j + 1, rows):
        at = stride * i + j
        a, b = load(L, at), load(L, at + 1)
        store(L, at, c * a + s * b)
        store(L, at + 1, c * b - s * a)
    return c, s
