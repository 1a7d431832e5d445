"""Derivatives of forward dynamics: those of inverse dynamics at the acceleration that tau gives, times -M^-1.

From M(q) a + bias(q, v) = tau, with tau held: M da = -(d ID / dq) dq - (d ID / dv) dv, and M da = dtau.
"""

from __future__ import annotations

from freeflyer.kernels._jit import inlined, kernel
from freeflyer.kernels.derivatives import gradients
from freeflyer.kernels.factor import shared_minv
from freeflyer.kernels.layout import N_V
from freeflyer.kernels.memory import load, load_int, store, workspace
from freeflyer.kernels.minv import minv
from freeflyer.kernels.rnea import rnea


@inlined
def apply(M, x, n, y, sign):
    """y = sign M x."""
    for i in range(n):
        total = load(M, n * i) * load(x, 0)
        for k in range(1, n):
            total = total + load(M, n * i + k) * load(x, k)
        store(y, i, sign * total)


@kernel
def minus_product(A, B, n, C):
    """C = -A B, of n x n matrices, A symmetric."""
    for i in range(n):
        for j in range(n):
            total = load(A, n * i) * load(B, j)
            for k in range(1, n):
                total = total + load(A, n * i + k) * load(B, n * k + j)
            store(C, n * i + j, -1.0 * total)


@inlined
def solved(topology, parameters, q, v, tau, dq, dv, Minv):
    """dq and dv from Minv."""
    nv = load_int(topology, N_V)
    a, force = workspace(q, nv), workspace(q, nv)
    inverse_q, inverse_v = workspace(q, nv * nv), workspace(q, nv * nv)
    for j in range(nv):
        store(a, j, 0.0)
    rnea(topology, parameters, q, v, a, force)
    for j in range(nv):
        store(force, j, load(tau, j) - load(force, j))
    apply(Minv, force, nv, a, 1.0)
    gradients(topology, parameters, q, v, a, inverse_q, inverse_v, inverse_q, 0)
    minus_product(Minv, inverse_q, nv, dq)
    minus_product(Minv, inverse_v, nv, dv)


@kernel
def forward_dynamics_gradient(topology, parameters, q, v, tau, dq, dv, Minv):
    """Derivatives (nv, nv) of forward dynamics by q, v and tau, rows a; coordinates must not be shared by mimic joints."""
    minv(topology, parameters, q, Minv)
    solved(topology, parameters, q, v, tau, dq, dv, Minv)


@kernel
def shared_forward_dynamics_gradient(topology, parameters, q, v, tau, dq, dv, Minv):
    """The same for robots with mimic joints."""
    shared_minv(topology, parameters, q, Minv)
    solved(topology, parameters, q, v, tau, dq, dv, Minv)
