"""Small algebra on tuples of abstract scalars: 3-vectors, rotations (9, row by row), symmetric matrices.

A symmetric 3 x 3 matrix is (xx, xy, xz, yy, yz, zz). Tuples stay in registers: nothing here touches memory."""

from freeflyer.kernels.backend import load, load_row, store, store_row

ZERO = (0.0, 0.0, 0.0)


def add(a, b):
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


def add_entries(a, b):
    """The sum of tuples of any length."""
    return tuple(x + y for x, y in zip(a, b))


def subtract(a, b):
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def scale(s, a):
    return s * a[0], s * a[1], s * a[2]


def add_scaled(a, s, b):
    return a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]


def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def rotate(R, a):
    """R a"""
    return dot(R[:3], a), dot(R[3:6], a), dot(R[6:], a)


def rotate_back(R, a):
    """R^T a"""
    return dot((R[0], R[3], R[6]), a), dot((R[1], R[4], R[7]), a), dot((R[2], R[5], R[8]), a)


def column(R, k):
    """Column k of R; k must be a literal for speed."""
    return R[k], R[k + 3], R[k + 6]


def compose(R, S):
    x = rotate(R, (S[0], S[3], S[6]))
    y = rotate(R, (S[1], S[4], S[7]))
    z = rotate(R, (S[2], S[5], S[8]))
    return x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]


def transpose(R):
    return R[0], R[3], R[6], R[1], R[4], R[7], R[2], R[5], R[8]


def spin_z(R, s, c):
    """R Rz(angle), given the angle's sine and cosine."""
    return (
        c * R[0] + s * R[1], c * R[1] - s * R[0], R[2],
        c * R[3] + s * R[4], c * R[4] - s * R[3], R[5],
        c * R[6] + s * R[7], c * R[7] - s * R[6], R[8])  # fmt: skip


def quaternion_rotation(x, y, z, w):
    """Rotation of the quaternion (x, y, z, w), scaled so that its norm does not matter."""
    s = 2.0 / (x * x + y * y + z * z + w * w)
    xs, ys, zs = s * x, s * y, s * z
    return (
        1.0 - (y * ys + z * zs), x * ys - w * zs, x * zs + w * ys,
        x * ys + w * zs, 1.0 - (x * xs + z * zs), y * zs - w * xs,
        x * zs - w * ys, y * zs + w * xs, 1.0 - (x * xs + y * ys))  # fmt: skip


def sym_apply(I, a):
    """I a for a symmetric I."""
    return dot(I[:3], a), dot((I[1], I[3], I[4]), a), dot((I[2], I[4], I[5]), a)


def sym_rotate(R, I):
    """R I R^T for a symmetric I."""
    a, b, c = R[:3], R[3:6], R[6:]
    x, y, z = sym_apply(I, a), sym_apply(I, b), sym_apply(I, c)
    return dot(a, x), dot(a, y), dot(a, z), dot(b, y), dot(b, z), dot(c, z)


def point_inertia(a, b):
    """(a . b) 1 - (a b^T + b a^T) / 2: for a = b and unit mass, the inertia of a point at a."""
    xx, yy, zz = a[0] * b[0], a[1] * b[1], a[2] * b[2]
    return (
        yy + zz, -0.5 * (a[0] * b[1] + a[1] * b[0]), -0.5 * (a[0] * b[2] + a[2] * b[0]),
        xx + zz, -0.5 * (a[1] * b[2] + a[2] * b[1]), xx + yy)  # fmt: skip


def turning(w, dw):
    """[dw]x + [w]x [w]x: leads from a point of a turning body to the acceleration of that point."""
    xx, yy, zz = w[0] * w[0], w[1] * w[1], w[2] * w[2]
    xy, xz, yz = w[0] * w[1], w[0] * w[2], w[1] * w[2]
    return -(yy + zz), xy - dw[2], xz + dw[1], xy + dw[2], -(xx + zz), yz - dw[0], xz - dw[1], yz + dw[0], -(xx + yy)


def load3(buffer, i):
    return load(buffer, i), load(buffer, i + 1), load(buffer, i + 2)


def load6(buffer, i):
    """A symmetric matrix."""
    return tuple(load(buffer, i + k) for k in range(6))


def load9(buffer, i):
    """A rotation."""
    return tuple(load(buffer, i + k) for k in range(9))


def strided3(buffer, i, step):
    return load(buffer, i), load(buffer, i + step), load(buffer, i + 2 * step)


def strided6(buffer, i, step):
    return tuple(load(buffer, i + k * step) for k in range(6))


def rows3(buffer, i, step):
    return load_row(buffer, i), load_row(buffer, i + step), load_row(buffer, i + 2 * step)


def rows6(buffer, i, step):
    return tuple(load_row(buffer, i + k * step) for k in range(6))


def store3(buffer, i, a):
    store_entries(buffer, i, a)


def store_entries(buffer, i, a):
    """The entries of a tuple of any length."""
    for k, x in enumerate(a):
        store(buffer, i + k, x)


def accumulate(buffer, i, a):
    for k, x in enumerate(a):
        store(buffer, i + k, load(buffer, i + k) + x)


def store_strided(buffer, i, step, a):
    for k, x in enumerate(a):
        store(buffer, i + k * step, x)


def accumulate_strided(buffer, i, step, a):
    for k, x in enumerate(a):
        store(buffer, i + k * step, load(buffer, i + k * step) + x)


def store_rows(buffer, i, step, a):
    for k, x in enumerate(a):
        store_row(buffer, i + k * step, x)
