"""Table 6 of the geometric linearisation paper: derivative of the extended inverse dynamics with respect to the joint positions s.

Arrays carry all columns of s at once: where the table loops over k (lines 15, 24, 30, 37, 43), the k-th matrix of a stack (n_J, 6,
6) is meant."""

from __future__ import annotations

import numpy as np

from freeflyer.formulations.geometric.algebra import cross, cross_star, cross_star_of, zeros
from freeflyer.formulations.geometric.eidamb import Pass
from freeflyer.formulations.geometric.joints import jcalcderiv

Array = np.ndarray


def derivative_by_shape(e: Pass, through_wrenches: bool = True) -> Array:
    """The derivative D_2 ID of the extended inverse dynamics with respect to the joint positions s.

    Geometric linearisation paper, Table 6. For spherical and free joints, s_i moves along q (+) dv, Gamma being (6, k).

    Where the print differs: line 34 belongs to line 31 of Table 4, not 32; line 47 multiplies by rdot_i, joint i's own
    acceleration, not by the vector rdot.

    Lines 32 and 35 to 48 serve only the base's rows, through the derivatives of all F. Their cost grows as n_J^2 times the
    depth of the tree. Since tau_b = M^c a + b^c (see eidamb), the base's rows are also d(M^c a) + d b^c, at no further cost;
    `through_wrenches` chooses. Both are exact.

    Args:
        e: Pass with wrenches, if through_wrenches.
        through_wrenches: Whether the base's rows are computed from the derivatives of all F, as in the table.
    Returns: (6 + n_J, n_J) array, rows base wrench, joint forces, N, N m; per m or rad.

    Examples:
        >>> model, geometric, rng = ff.robots.space_manipulator(), ff.formulations.geometric, np.random.default_rng(0)
        >>> q, v, a = ff.random_configuration(model, rng), rng.normal(size=13), rng.normal(size=13)
        >>> e = geometric.motion_pass(geometric.tree_of(model), q, v, a)
        >>> compiled = ff.inverse_dynamics_derivatives(model, q, v, a).dq[:, 6:]
        >>> bool(np.allclose(ff.formulations.geometric.derivative_by_shape(e), compiled))
        True
    """
    if through_wrenches:
        e.require_wrenches()
    tree, X, gamma, lam = e.tree, e.X, e.tree.gamma, e.tree.parent
    n, M, dtype, nJ = tree.n_bodies, e.tree.inertia, e.tau_base.dtype, e.tree.n_joint_columns
    bodies = range(1, n + 1)
    dX = [zeros((0, 6, 6), dtype)] * (n + 1)  # of X[i] by s_i, (k, 6, 6)
    dv, da, da_vp, db, db_vp, da_base = ([zeros((6, nJ), dtype)] * (n + 1) for _ in range(6))
    dM_c = [zeros((nJ, 6, 6), dtype) for _ in range(n + 1)]
    for i in bodies:  # line 1
        at, p = tree.columns[i], lam[i]
        dX[i] = jcalcderiv(tree, i, e.X_joint[i]) @ tree.placement[i]  # lines 2 and 3
        dv[i] = X[i] @ dv[p]  # line 4
        dv[i][:, at] += (dX[i] @ e.v[p]).T  # line 5
        da[i] = X[i] @ da[p] - cross(e.v_joint[i]) @ dv[i]  # line 6
        da[i][:, at] += (dX[i] @ e.a_r[p]).T  # line 7
        da_vp[i] = X[i] @ da_vp[p] - cross(e.v_joint[i]) @ dv[i]  # line 8
        da_vp[i][:, at] += (dX[i] @ e.a_vp[p]).T  # line 9
        dm = M[i] @ dv[i]  # line 10
        db[i] = M[i] @ da[i] + cross_star_of(e.m[i]) @ dv[i] + cross_star(e.v[i]) @ dm  # line 11
        db_vp[i] = M[i] @ da_vp[i] + cross_star_of(e.m[i]) @ dv[i] + cross_star(e.v[i]) @ dm  # line 12
    for i in reversed(bodies):  # line 14
        at, p = tree.columns[i], lam[i]
        below = tree.subtree(i)  # the only k of line 15 for which M^c_i depends on s_k
        dM_c[p][below] += X[i].T @ dM_c[i][below] @ X[i]  # line 16
        MX = e.M_c[i] @ X[i]
        dM_c[p][at] += dX[i].transpose(0, 2, 1) @ MX + MX.T @ dX[i]  # line 18
        db[p] = db[p] + X[i].T @ db[i]  # line 19
        db[p][:, at] += (dX[i].transpose(0, 2, 1) @ e.b_c[i]).T  # line 20
        db_vp[p] = db_vp[p] + X[i].T @ db_vp[i]  # line 21
        db_vp[p][:, at] += (dX[i].transpose(0, 2, 1) @ e.b_vp[i]).T  # line 22
    out = zeros((6 + nJ, nJ), dtype)
    dF_rdot = zeros((6, nJ), dtype)
    for i in bodies:  # line 27
        at, p = tree.columns[i], lam[i]
        da_base[i] = X[i] @ da_base[p]  # line 28
        da_base[i][:, at] += (dX[i] @ e.a_base[p]).T  # line 29
        dMa = (dM_c[i] @ e.a_base[i]).T  # line 31
        out[6:][at] = gamma[i].T @ (dMa + e.M_c[i] @ da_base[i] + db[i])  # line 34
        if through_wrenches:
            dF_rdot += _wrench_derivative(e, dX, dM_c, i) @ e.rdot[at]  # line 47
    dMa = (dM_c[0] @ e.a_base[0]).T  # line 25
    out[:6] = dMa + dF_rdot + db_vp[0] if through_wrenches else dMa + db[0]  # line 49
    return out


def _wrench_derivative(e: Pass, dX: list[Array], dM_c: list[Array], i: int) -> Array:
    """d _0 F_Bi / ds, as (6, n_J, k): lines 32 to 46."""
    tree, lam = e.tree, e.tree.parent
    dF = dM_c[i] @ tree.gamma[i]  # (n_J, 6, k), line 32
    j = i  # line 35
    while j > 0:  # lines 36 to 42, and 43 to 46 for the last step, to the base
        dF = e.X[j].T @ dF  # lines 38 and 44
        dF[tree.columns[j]] += dX[j].transpose(0, 2, 1) @ e.F[j, i]  # lines 40 and 46
        j = lam[j]  # line 41
    return dF.transpose(1, 0, 2)
