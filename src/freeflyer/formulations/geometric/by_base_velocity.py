"""Table 7 of the geometric linearisation paper: derivative of the extended inverse dynamics with respect to the base's body twist
^0 v_{A,0}."""

from __future__ import annotations

import numpy as np

from freeflyer.formulations.geometric.algebra import cross, cross_star, cross_star_of, zeros
from freeflyer.formulations.geometric.eidamb import Pass


def derivative_by_base_velocity(e: Pass) -> np.ndarray:
    """The derivative D_3 ID of the extended inverse dynamics with respect to the base's body twist ^0 v_{A,0}.

    Returns: (6 + n_J, 6) array, rows base wrench, joint forces, N, N m; per m/s and rad/s.
    Source: geometric linearisation paper, Table 7.

    Examples:
        >>> model, geometric, rng = ff.robots.space_manipulator(), ff.formulations.geometric, np.random.default_rng(0)
        >>> q, v, a = ff.random_configuration(model, rng), rng.normal(size=13), rng.normal(size=13)
        >>> e = geometric.motion_pass(geometric.tree_of(model), q, v, a)
        >>> compiled = ff.inverse_dynamics_derivatives(model, q, v, a).dv[:, :6]
        >>> bool(np.allclose(ff.formulations.geometric.derivative_by_base_velocity(e), compiled))
        True
    """
    tree, X, gamma, lam = e.tree, e.X, e.tree.gamma, e.tree.parent
    n, M, dtype = tree.n_bodies, e.tree.inertia, e.tau_base.dtype
    bodies = range(1, n + 1)
    dv, da, dm, db = ([zeros((6, 6), dtype)] * (n + 1) for _ in range(4))
    dv[0] = np.eye(6).astype(dtype)  # line 1
    dm[0] = M[0]  # line 2
    db[0] = cross_star_of(e.m[0]) @ dv[0] + cross_star(e.v[0]) @ dm[0]  # line 3
    for i in bodies:  # line 4
        dv[i] = X[i] @ dv[lam[i]]  # line 5
        da[i] = X[i] @ da[lam[i]] - cross(e.v_joint[i]) @ dv[i]  # line 6
        dm[i] = M[i] @ dv[i]  # line 7
        db[i] = M[i] @ da[i] + cross_star_of(e.m[i]) @ dv[i] + cross_star(e.v[i]) @ dm[i]  # line 8
    for i in reversed(bodies):  # line 10
        db[lam[i]] = db[lam[i]] + X[i].T @ db[i]  # line 11
    out = zeros((6 + tree.n_joint_columns, 6), dtype)
    for i in bodies:  # line 13
        out[6:][tree.columns[i]] = gamma[i].T @ db[i]  # line 14
    out[:6] = db[0]  # line 16: of b^c for line 40's b^vp, which differ by F rdot, free of velocities
    return out
