"""Table 5 of the geometric linearisation paper: left-trivialised derivative of the extended inverse dynamics with respect to the
base pose H."""

from __future__ import annotations

from typing import Literal

import numpy as np

from freeflyer.formulations.geometric.algebra import cross, cross_star, cross_star_of, zeros
from freeflyer.formulations.geometric.eidamb import Pass

Twist = Literal["inertial", "body"]


def derivative_by_pose(e: Pass, held: Twist = "inertial") -> np.ndarray:
    """The left-trivialised derivative D_1 ID of the extended inverse dynamics with respect to the base pose H.

    H moves to H exp(hat(eta)); columns are the six directions of eta.

    Geometric linearisation paper, Table 5. If the inertial twist is held, it is the table unchanged, with d v_0 / dH = v_0 x.
    If the body twist is held, line 1 is zero (pose_derivative_with_body_twist relates the two results).

    Where the print differs: line 1 shows three blocks; its second row begins with a zero block, as in line 2. Lines 1 and 2 are the
    cross products v_0 x and a_0^r x, written out there in inertial quantities (the form is checked in the tests). Line 11 belongs
    to line 24 of Table 4, not 25.

    Args:
        held: "inertial" or "body". Base twist that stays fixed. "inertial" is the one in the *inertial* frame, the
            algorithm's own input. "body" is the one in the *body* frame, the variable of Tables 7 and 8 and of the library,
            for which only gravity depends on H.
    Returns: (6 + n_J, 6) array, rows base wrench, joint forces, N, N m; per m and rad.

    Examples:
        >>> model, geometric, rng = ff.robots.space_manipulator(), ff.formulations.geometric, np.random.default_rng(0)
        >>> q, v, a = ff.random_configuration(model, rng), rng.normal(size=13), rng.normal(size=13)
        >>> e = geometric.motion_pass(geometric.tree_of(model), q, v, a)
        >>> float(np.abs(ff.formulations.geometric.derivative_by_pose(e, held="body")).max())  # no gravity: no pose matters
        0.0
        >>> bool(np.abs(ff.formulations.geometric.derivative_by_pose(e, held="inertial")).max() > 1.0)
        True
    """
    tree, X, gamma, lam = e.tree, e.X, e.tree.gamma, e.tree.parent
    n, M, dtype = tree.n_bodies, e.tree.inertia, e.tau_base.dtype
    bodies = range(1, n + 1)
    dv, da, dm, db = ([zeros((6, 6), dtype)] * (n + 1) for _ in range(4))
    dv[0] = cross(e.v[0]) if held == "inertial" else zeros((6, 6), dtype)  # line 1
    da[0] = cross(e.a_r[0])  # line 2
    dm[0] = M[0] @ dv[0]  # line 3
    db[0] = M[0] @ da[0] + cross_star_of(e.m[0]) @ dv[0] + cross_star(e.v[0]) @ dm[0]  # line 4
    for i in bodies:  # line 5
        dv[i] = X[i] @ dv[lam[i]]  # line 6
        da[i] = X[i] @ da[lam[i]] - cross(e.v_joint[i]) @ dv[i]  # line 7
        dm[i] = M[i] @ dv[i]  # line 8
        db[i] = M[i] @ da[i] + cross_star_of(e.m[i]) @ dv[i] + cross_star(e.v[i]) @ dm[i]  # line 9
    for i in reversed(bodies):  # line 11
        db[lam[i]] = db[lam[i]] + X[i].T @ db[i]  # line 12
    out = zeros((6 + tree.n_joint_columns, 6), dtype)
    for i in bodies:  # line 14
        out[6:][tree.columns[i]] = gamma[i].T @ db[i]  # line 15
    out[:6] = db[0]  # line 17
    return out
