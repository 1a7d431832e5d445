"""The equations of motion linearised on the group, in one piece: where the rows of A and B come from, papers/002.

x = [eta; dv] with q (+) eta and v + dv: eta_dot = dv - ad(v) eta for joints that carry a quaternion, dv elsewhere; below
them the derivatives of forward dynamics.
"""

from __future__ import annotations

from freeflyer.kernels._jit import inlined, kernel
from freeflyer.kernels.joints import body_ints
from freeflyer.kernels.layout import BALL, FIRST_V, KIND, N_BODIES, N_V, SCREW
from freeflyer.kernels.memory import load, load_int, store, workspace
from freeflyer.kernels.solved_derivatives import forward_dynamics_gradient, shared_forward_dynamics_gradient


@inlined
def minus_skew(v, i, A, at, width):
    """Minus the cross-product matrix of v[i : i + 3], written into the rows of A (so long as `width`) from entry `at` on."""
    x, y, z = load(v, i), load(v, i + 1), load(v, i + 2)
    store(A, at + 1, z)
    store(A, at + 2, -1.0 * y)
    store(A, at + width, -1.0 * z)
    store(A, at + width + 2, x)
    store(A, at + 2 * width, y)
    store(A, at + 2 * width + 1, -1.0 * x)


@inlined
def place(topology, v, dq, dv, dtau, A, B):
    """A and B from the derivatives."""
    nv = load_int(topology, N_V)
    width = 2 * nv
    for k in range(2 * nv * nv):
        store(A, k, 0.0)
    for k in range(nv * nv):
        store(B, k, 0.0)
    for j in range(nv):
        store(A, width * j + nv + j, 1.0)
    for i in range(1, load_int(topology, N_BODIES) + 1):
        ints = body_ints(i)
        kind, j = load_int(topology, ints + KIND), load_int(topology, ints + FIRST_V)
        at = width * j + j
        if kind == BALL:
            minus_skew(v, j, A, at, width)
        elif kind != SCREW:
            minus_skew(v, j + 3, A, at, width)
            minus_skew(v, j, A, at + 3, width)
            minus_skew(v, j + 3, A, at + 3 * width + 3, width)
    for i in range(nv):
        at = width * (nv + i)
        for j in range(nv):
            store(A, at + j, load(dq, nv * i + j))
        for j in range(nv):
            store(A, at + nv + j, load(dv, nv * i + j))
        for j in range(nv):
            store(B, nv * (nv + i) + j, load(dtau, nv * i + j))


@kernel
def linear(topology, parameters, q, v, tau, A, B):
    """A (2 nv, 2 nv) and B (2 nv, nv) about a state; coordinates must not be shared by mimic joints."""
    nv = load_int(topology, N_V)
    dq, dv, dtau = workspace(q, nv * nv), workspace(q, nv * nv), workspace(q, nv * nv)
    forward_dynamics_gradient(topology, parameters, q, v, tau, dq, dv, dtau)
    place(topology, v, dq, dv, dtau, A, B)


@kernel
def shared_linear(topology, parameters, q, v, tau, A, B):
    """The same for robots with mimic joints."""
    nv = load_int(topology, N_V)
    dq, dv, dtau = workspace(q, nv * nv), workspace(q, nv * nv), workspace(q, nv * nv)
    shared_forward_dynamics_gradient(topology, parameters, q, v, tau, dq, dv, dtau)
    place(topology, v, dq, dv, dtau, A, B)
