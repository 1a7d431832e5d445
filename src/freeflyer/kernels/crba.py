"""Mass matrix: the composite rigid body algorithm (RBDA 2008, table 6.2), in world axes at body origins."""

from __future__ import annotations

from freeflyer.kernels._jit import inlined, kernel
from freeflyer.kernels.algebra import add, add_scaled, cross, dot, load3, load6, sym_apply
from freeflyer.kernels.composite import (
    COMPOSITE, column_range, composite_inertias, coordinate, direction_at, parent_of, pose_at,
)  # fmt: skip
from freeflyer.kernels.joints import body_floats
from freeflyer.kernels.kinematics import kinematics_workspace
from freeflyer.kernels.layout import ARMATURE_AT, FREE_AT, N_BODIES, N_V, SUBTREE_MASS
from freeflyer.kernels.memory import load, load_int, store


@inlined
def momentum(m, h, I, linear, angular):
    """Force-like vector (linear, angular) of an inertia at a point, times a motion of that point."""
    return add_scaled(cross(angular, h), m, linear), add(sym_apply(I, angular), cross(h, linear))


@inlined
def add_pair(M, nv, i, j, x):
    """x onto both entries of a symmetric pair; on a diagonal that two bodies share, twice."""
    store(M, nv * i + j, load(M, nv * i + j) + x)
    store(M, nv * j + i, load(M, nv * j + i) + x)


@kernel
def crba(topology, parameters, q, M):
    """M (nv, nv), symmetric, armature included."""
    n, nv, composites = load_int(topology, N_BODIES), load_int(topology, N_V), load_int(topology, FREE_AT)
    work = kinematics_workspace(topology, parameters, q, COMPOSITE * (n + 1))
    composite_inertias(topology, parameters, work, composites)
    for k in range(nv * nv):
        store(M, k, 0.0)
    for j in range(nv):
        store(M, nv * j + j, load(parameters, load_int(topology, ARMATURE_AT) + j))
    for i in range(n, 0, -1):
        m = load(parameters, body_floats(i) + SUBTREE_MASS)
        h, I = load3(work, composites + COMPOSITE * i), load6(work, composites + COMPOSITE * i + 3)
        first, end = column_range(topology, i)
        for c in range(first, end):
            at, row = direction_at(topology, c), coordinate(topology, c)
            f, t = momentum(m, h, I, load3(work, at), load3(work, at + 3))
            for d in range(first, c):
                to = direction_at(topology, d)
                add_pair(M, nv, row, coordinate(topology, d), dot(f, load3(work, to)) + dot(t, load3(work, to + 3)))
            diagonal = dot(f, load3(work, at)) + dot(t, load3(work, at + 3))
            store(M, nv * row + row, load(M, nv * row + row) + diagonal)
            b = i
            while parent_of(topology, b) > 0:
                t = add(t, cross(load3(work, pose_at(topology, b) + 9), f))
                b = parent_of(topology, b)
                above, below = column_range(topology, b)
                for d in range(above, below):
                    to = direction_at(topology, d)
                    add_pair(M, nv, row, coordinate(topology, d), dot(f, load3(work, to)) + dot(t, load3(work, to + 3)))

