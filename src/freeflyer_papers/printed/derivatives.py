"""Derivatives of EIDAmb, and IMMAmb, the inverse mass matrix algorithm for moving bases, line by line: "Efficient geometric
linearization of moving-base rigid robot dynamics", Tables 5 to 9.

Arrays carry all columns of s at once: where table 6 loops over k (lines 15, 24, 30, 37, 43), the k-th matrix of a stack (n_J, 6, 6)
is meant."""

from __future__ import annotations

from typing import Literal

import numpy as np

import freeflyer as ff
from freeflyer.formulations.geometric import Pass, Tree, cross, cross_star, cross_star_of, jcalc, scalars, zeros
from freeflyer.tolerances import MIN_PIVOT_RATIO

Array = np.ndarray
Twist = Literal["inertial", "body"]


def subtree(tree: Tree, i: int) -> slice:
    """The columns of r in the subtree of i, its own included; depth-first numbering makes them a run."""
    return slice(tree.columns[i].start, tree.columns[tree.last[i]].stop)


def jcalcderiv(tree: Tree, i: int, X: np.ndarray) -> np.ndarray:
    """d ^i X_{lambda(i)|i} / d s_i (k, 6, 6), where X is ^i X_{lambda(i)|i}.

    The child moves by exp(Gamma d), so X becomes exp(-(Gamma d) x) X: minus Gamma x X in each direction."""
    gamma = tree.gamma[i]
    return np.array([-cross(gamma[:, k]) @ X for k in range(gamma.shape[1])])


def derivative_by_pose(e: Pass, held: Twist = "inertial") -> np.ndarray:
    """The left-trivialised derivative D_1 ID of the extended inverse dynamics with respect to the base pose H.

    H moves to H exp(hat(eta)); columns are the six directions of eta.

    Table 5. If the inertial twist is held, it is the table unchanged, with d v_0 / dH = v_0 x. If the body twist is held,
    line 1 is zero (pose_derivative_with_inertial_twist relates the two results).

    Where the print differs: line 1 shows three blocks; its second row begins with a zero block, as in line 2. Lines 1 and 2 are the
    cross products v_0 x and a_0^r x, written out there in inertial quantities (the form is checked in the tests). Line 11 belongs
    to line 24 of Table 4, not 25.

    Args:
        held: "inertial" or "body". Base twist that stays fixed. "inertial" is the one in the *inertial* frame, the
            algorithm's own input. "body" is the one in the *body* frame, the variable of Tables 7 and 8 and of the library,
            for which only gravity depends on H.
    Returns: (6 + n_J, 6) array, rows base wrench, joint forces, N, N m; per m and rad."""
    M = e.tree.inertia[0]
    dv = cross(e.v[0]) if held == "inertial" else zeros((6, 6), e.tau_base.dtype)  # line 1
    da = cross(e.a_r[0])  # line 2
    dm = M @ dv  # line 3
    return _from_the_base(e, dv, da, M @ da + cross_star_of(e.m[0]) @ dv + cross_star(e.v[0]) @ dm)  # line 4


def _from_the_base(e: Pass, dv_0: Array, da_0: Array, db_0: Array) -> Array:
    """Lines 5 to 17 of Table 5, which are lines 4 to 16 of Table 7: from derivatives of the base's motion (6, 6) to those of the
    wrench and the joint forces (6 + n_J, 6)."""
    X, lam, n, M = e.X, e.tree.parent, e.tree.n_bodies, e.tree.inertia
    dv, da, db = ([first, *[zeros((6, 6), e.tau_base.dtype)] * n] for first in (dv_0, da_0, db_0))
    for i in range(1, n + 1):  # line 5
        dv[i] = X[i] @ dv[lam[i]]  # line 6
        da[i] = X[i] @ da[lam[i]] - cross(e.v_joint[i]) @ dv[i]  # line 7
        dm = M[i] @ dv[i]  # line 8
        db[i] = M[i] @ da[i] + cross_star_of(e.m[i]) @ dv[i] + cross_star(e.v[i]) @ dm  # line 9
    return _to_the_base(e, db)  # lines 11 to 17


def _to_the_base(e: Pass, db: list[Array]) -> Array:
    """The last lines of Tables 5, 7 and 8: from derivatives (6, k) of the bodies' forces to those of the wrench and the joint
    forces (6 + n_J, k)."""
    tree, bodies = e.tree, range(1, e.tree.n_bodies + 1)
    for i in reversed(bodies):
        db[tree.parent[i]] = db[tree.parent[i]] + e.X[i].T @ db[i]
    out = zeros((6 + tree.n_joint_columns, db[0].shape[1]), e.tau_base.dtype)
    for i in bodies:
        out[6:][tree.columns[i]] = tree.gamma[i].T @ db[i]
    out[:6] = db[0]  # in Tables 7 and 8 of b^c for line 40's b^vp, which differ by F rdot, free of velocities
    return out


def derivative_by_shape(e: Pass, through_wrenches: bool = True) -> Array:
    """The derivative D_2 ID of the extended inverse dynamics with respect to the joint positions s.

    Table 6. For spherical and free joints, s_i moves along q (+) dv, Gamma being (6, k).

    Where the print differs: line 34 belongs to line 31 of Table 4, not 32; line 47 multiplies by rdot_i, joint i's own
    acceleration, not by the vector rdot.

    Lines 32 and 35 to 48 serve only the base's rows, through the derivatives of all F. Their cost grows as n_J^2 times the
    depth of the tree. Since tau_b = M^c a + b^c (see eidamb), the base's rows are also d(M^c a) + d b^c, at no further cost;
    `through_wrenches` chooses. Both are exact.

    Args:
        e: Pass with wrenches, if through_wrenches.
        through_wrenches: Whether the base's rows are computed from the derivatives of all F, as in the table.
    Returns: (6 + n_J, n_J) array, rows base wrench, joint forces, N, N m; per m or rad."""
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
        below = subtree(tree, i)  # the only k of line 15 for which M^c_i depends on s_k
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


def derivative_by_base_velocity(e: Pass) -> np.ndarray:
    """The derivative D_3 ID of the extended inverse dynamics with respect to the base's body twist ^0 v_{A,0}.

    Returns: (6 + n_J, 6) array, rows base wrench, joint forces, N, N m; per m/s and rad/s.
    Source: Table 7."""
    dtype = e.tau_base.dtype
    dv = np.eye(6).astype(dtype)  # line 1
    dm = e.tree.inertia[0]  # line 2
    db = cross_star_of(e.m[0]) @ dv + cross_star(e.v[0]) @ dm  # line 3
    return _from_the_base(e, dv, zeros((6, 6), dtype), db)


def derivative_by_joint_velocity(e: Pass) -> np.ndarray:
    """The derivative D_4 ID of the extended inverse dynamics with respect to the joint velocities r.

    Returns: (6 + n_J, n_J) array, rows base wrench, joint forces, N, N m; per m/s or rad/s.
    Source: Table 8."""
    tree, X, gamma, lam = e.tree, e.X, e.tree.gamma, e.tree.parent
    n, M = tree.n_bodies, e.tree.inertia
    dv, da, db = ([zeros((6, tree.n_joint_columns), e.tau_base.dtype)] * (n + 1) for _ in range(3))
    for i in range(1, n + 1):  # line 1
        at = tree.columns[i]
        dv_joint = gamma[i]  # line 2
        dv[i] = X[i] @ dv[lam[i]]  # line 3
        dv[i][:, at] += dv_joint  # line 4
        da[i] = X[i] @ da[lam[i]] - cross(e.v_joint[i]) @ dv[i]  # line 5
        da[i][:, at] += cross(e.v[i]) @ dv_joint  # line 6
        dm = M[i] @ dv[i]  # line 7
        db[i] = M[i] @ da[i] + cross_star_of(e.m[i]) @ dv[i] + cross_star(e.v[i]) @ dm  # line 8
    return _to_the_base(e, db)  # lines 10 to 16


def pose_derivative_with_inertial_twist(by_pose: np.ndarray, by_velocity: np.ndarray, v_body: np.ndarray) -> np.ndarray:
    """The derivative df/dH at fixed ^A v, from that at fixed ^0 v; (m, 6), by_pose + by_velocity (^0 v x).
    With minus by_velocity the way back, from that at fixed ^A v (Table 5).

    Args:
        by_pose: (m, 6) array, df/dH at fixed ^0 v.
        by_velocity: (m, 6) array, df/d(^0 v), Table 7.
        v_body: (6,) array, ^0 v."""
    return by_pose + by_velocity @ cross(v_body)


def immamb(tree: Tree, q: np.ndarray) -> np.ndarray:
    """The inverse mass matrix of base and joints by IMMAmb, every joint moving by itself.

    The print differs in two places. Line 18 reads P_lambda[i:i+6:], which is P_lambda[:, i+6:], as in line 17. Lines 21 to 25
    copy only the joints' upper triangle below the diagonal, but the base's columns (7:, 1:6) also need a copy of line 20.

    Generalisations: D is (k, k) for a joint of k degrees of freedom; its diagonal takes the joint's armature (rotor inertia at the
    joint), which the paper has not. A base that does not move has neither lines 15, 20, 26 nor their rows.

    Args:
        q: (nq,) array, configuration; real or complex, not checked.
    Returns: (6 + n_J, 6 + n_J) array, M^-1, base first; (n_J, n_J) where the base does not move.
    Raises: InputError where a joint, or the base, moves no inertia."""
    n, lam, gamma, nJ = tree.n_bodies, tree.parent, tree.gamma, tree.n_joint_columns
    base = 6 * tree.moving
    dtype, bodies = scalars(q), range(1, n + 1)
    M_A = [M.astype(dtype) for M in tree.inertia]  # line 4
    X, U, D_inv = ([zeros((6, 0), dtype)] * (n + 1) for _ in range(3))
    F, P = ([zeros((6, nJ), dtype) for _ in range(n + 1)] for _ in range(2))
    joints = zeros((nJ, nJ), dtype)  # M^-1[7:, 7:]
    for i in bodies:  # line 1
        X[i] = jcalc(tree, i, q)[0] @ tree.placement[i]  # lines 2 and 3
    for i in reversed(bodies):  # line 6
        at, below, p = tree.columns[i], subtree(tree, i), lam[i]
        U[i] = M_A[i] @ gamma[i]  # line 7
        D = gamma[i].T @ U[i] + np.diag(tree.armature[base:][at])  # line 8
        D_inv[i] = _inverse(D, M_A[i], tree.joint[i])
        joints[at, at] = D_inv[i]  # line 9
        joints[at, below] -= D_inv[i] @ gamma[i].T @ F[i][:, below]  # line 10
        F[p][:, below] += X[i].T @ (F[i][:, below] + U[i] @ joints[at, below])  # line 11
        M_a = M_A[i] - U[i] @ D_inv[i] @ U[i].T  # line 12
        M_A[p] = M_A[p] + X[i].T @ M_a @ X[i]  # line 13
    base_block = zeros((base, base), dtype)
    if tree.moving:
        base_block = _inverse(M_A[0] + np.diag(tree.armature[:6]), M_A[0], tree.joint[0])
        P[0] = -base_block @ F[0]  # line 15
    for i in bodies:  # line 16
        at, after, p = tree.columns[i], slice(tree.columns[i].start, nJ), lam[i]
        joints[at, after] -= D_inv[i] @ U[i].T @ X[i] @ P[p][:, after]  # line 17
        P[i][:, after] = gamma[i] @ joints[at, after] + X[i] @ P[p][:, after]  # line 18
        joints[after, at] = joints[at, after].T  # lines 21 to 25
    out = zeros((base + nJ, base + nJ), dtype)
    out[base:, base:] = joints
    if tree.moving:
        out[:6, 6:] = P[0]  # line 20
        out[6:, :6] = P[0].T  # what lines 21 to 25 leave out
        out[:6, :6] = base_block  # line 26
    return out


def _inverse(D: np.ndarray, M: np.ndarray, joint: str) -> np.ndarray:
    """D^-1 of a pivot; InputError where it is singular beside the inertia M of its body."""
    real = np.real(D)
    if D.size and np.abs(np.linalg.eigvalsh(real)).min() <= MIN_PIVOT_RATIO * max(np.abs(np.real(M)).max(),
            np.abs(real).max()):  # fmt: skip
        raise ff.InputError(
            f"joint {joint!r} moves no inertia by itself, so the mass matrix of the tree has no inverse. Give its links mass, "
            "give the joint armature, or lock it (freeflyer.lock_joints)", joint=joint)  # fmt: skip
    return np.linalg.inv(D)
