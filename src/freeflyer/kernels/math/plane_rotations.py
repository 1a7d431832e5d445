"""Rotations about the z and the x axis, given their sine and cosine: of vectors, symmetric and full matrices."""

from __future__ import annotations

from freeflyer.kernels.marks import inlined


@inlined
def about_z(s, c, a):
    return c * a[0] - s * a[1], s * a[0] + c * a[1], a[2]


@inlined
def about_x(s, c, a):
    return a[0], c * a[1] - s * a[2], s * a[1] + c * a[2]


@inlined
def sym_about_z(s, c, I):
    """R I R^T of a symmetric I."""
    w = s * (I[0] - I[3]) + 2.0 * c * I[1]
    return I[0] - s * w, c * w - I[1], c * I[2] - s * I[4], I[3] + s * w, s * I[2] + c * I[4], I[5]


@inlined
def sym_about_x(s, c, I):
    w = s * (I[3] - I[5]) + 2.0 * c * I[4]
    return I[0], c * I[1] - s * I[2], s * I[1] + c * I[2], I[3] - s * w, c * w - I[4], I[5] + s * w


@inlined
def full_about_z(s, c, B):
    """R B R^T"""
    w = s * (B[0] - B[4]) + c * (B[1] + B[3])
    return (
        B[0] - s * w, c * w - B[3], c * B[2] - s * B[5], c * w - B[1], B[4] + s * w, s * B[2] + c * B[5],
        c * B[6] - s * B[7], s * B[6] + c * B[7], B[8],
    )  # fmt: skip


@inlined
def full_about_x(s, c, B):
    w = s * (B[4] - B[8]) + c * (B[5] + B[7])
    return (
        B[0], c * B[1] - s * B[2], s * B[1] + c * B[2], c * B[3] - s * B[6], B[4] - s * w, c * w - B[7],
        s * B[3] + c * B[6], c * w - B[5], B[8] + s * w,
    )  # fmt: skip


@inlined
def azimuth(s, c, a):
    """About z, if there is an angle: there is none but at branches."""
    return a if s == 0.0 else about_z(s, c, a)


@inlined
def inertia_azimuth(s, c, A, B, C):
    return (A, B, C) if s == 0.0 else (sym_about_z(s, c, A), full_about_z(s, c, B), sym_about_z(s, c, C))
