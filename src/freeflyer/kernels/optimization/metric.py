"""Coordinates in which a metric is the identity: y = R (x - c) with H = R^T R and c = -H^-1 g.

Least 1/2 x^T H x + g^T x is least norm of y.
"""

from freeflyer.kernels.backend import kernel, load, load_row, row_step, sqrt, store, store_row, workspace
from freeflyer.kernels.contacts.solve import add_scaled_row
from freeflyer.kernels.optimization.condensation import subtract_products
from freeflyer.kernels.optimization.rows import clear, dot, put_combination, set_row


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


def put_direction(metric, W, y, n, width, x):
    """x (width,) = W y, without a metric y."""
    if metric:
        for j in range(n):
            store(x, j, dot(W, width * j, y, 0, width))
    else:
        set_row(x, 0, y, 0, width)


def put_coordinates(metric, R, x, center, n, width, y):
    """y (width,) = R (x - center), without a metric x - center."""
    for k in range(0, width, row_step(y)):
        store_row(y, k, load_row(x, k) - load_row(center, k))
    if metric:
        for i in range(n):
            store(y, i, dot(R, width * i, y, 0, width))


def move_up(x, place, count):
    """The `count` numbers of x without that at `place`."""
    for i in range(place, count - 1):
        store(x, i, load(x, i + 1))


@kernel
def release_row(place, count, L, stride, Q, wide, used):
    """Row `place` of `count` is taken out of L Q: L (., stride) lower triangular, Q (., wide) orthonormal, of which `used` columns
    are not zero. Columns turn so that L stays triangular (Givens)."""
    for i in range(place, count - 1):
        set_row(L, stride * i, L, stride * i + stride, stride)
    for j in range(place, count - 1):
        at, to = stride * j + j, wide * j
        a, b = load(L, at), load(L, at + 1)
        r = sqrt(a * a + b * b)
        c, s = a / r, b / r
        store(L, at, r)
        store(L, at + 1, 0.0)
        for i in range(j + 1, count - 1):
            at = stride * i + j
            a, b = load(L, at), load(L, at + 1)
            store(L, at, c * a + s * b)
            store(L, at + 1, c * b - s * a)
        for k in range(to, to + used, row_step(Q)):
            x, y = load_row(Q, k), load_row(Q, k + wide)
            store_row(Q, k, c * x + s * y)
            store_row(Q, k + wide, c * y - s * x)


def solve_transposed(L, count, stride, x):
    """x (stride,) = L^-T x of the first `count` numbers."""
    for back in range(count):
        j = count - 1 - back
        value = load(x, j) / load(L, stride * j + j)
        add_scaled_row(x, 0, -value, L, stride * j, 0, j)
        store(x, j, value)
