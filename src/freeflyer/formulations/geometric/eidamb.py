"""EIDAmb, the extended inverse dynamics algorithm for moving bases: papers/002, Table 4, line by line.

What the accelerations mean. The base acceleration ^0 a_{A,0} is the *intrinsic* one: the rate of the inertial twist, taken
to the base's frame, ^0 X_A d/dt(^A v). Because v x v = 0 that is exactly the rate of the body twist, d/dt(^0 v), which the
library calls the base's part of `a`: the two need no conversion. (It is not the classical acceleration of the base's
origin, which is larger by angular x linear.) For the same reason body i's intrinsic acceleration is the rate of its own
body twist, whence the term v_i x v_Ji of line 17. Neither is changed by which base velocity is given.

Gravity. Line 6 *adds* the transformed ^A a_grav, so a_grav is minus gravity, (0, 0, +9.81) by default: the acceleration
that a resting body appears to have.

Two readings. Line 40 sums the base wrench from M^c a, F rdot and b^vp; since b^c = b^vp + F rdot at the base, it equals
M^c a + b^c, which costs less (`base_wrench_short`). Table 4 and Table 5 stack the result as [tau; tau_b], Tables 6 to 8 as
[tau_b; tau], which is the library's order and the one used here throughout.

Generalisations: Gamma is (6, k) (see `tree`); a base that does not move is one with zero twist and acceleration, whose
tau_b is the wrench by which the world holds the robot.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from freeflyer.formulations.geometric.algebra import cross, cross_star, scalars, transform, zeros
from freeflyer.formulations.geometric.joints import jcalc
from freeflyer.formulations.geometric.tree import Tree

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Pass:
    """Outputs and intermediate variables of EIDAmb, as Tables 5 to 8 need them. Entry i of a list is of body i.

    Units SI, vectors [linear; angular] in the body's own frame. `X[i]` is ^i X_{lambda(i)} (X[0]: ^0 X_A), `X_joint[i]`
    its part ^i X_{lambda(i)|i}, `v_joint[i]` the twist across the joint, `v`, `m` twists and momenta, `a_r`, `a_vp` the
    accelerations of lines 17 and 18, `M_c`, `b_c`, `b_vp` composite inertias and bias wrenches, `a_base[i]` the base's
    acceleration in frame i, `F[j, i]` the wrench _j F_Bi (6, k), `F_base` (6, n_J) all _0 F_Bi side by side.
    Results: `tau` (n_J,) at the joints, `tau_base` (6,) at the base, in its frame.
    """

    tree: Tree
    rdot: Array
    X: list[Array]
    X_joint: list[Array]
    v_joint: list[Array]
    v: list[Array]
    m: list[Array]
    a_r: list[Array]
    a_vp: list[Array]
    M_c: list[Array]
    b_c: list[Array]
    b_vp: list[Array]
    a_base: list[Array]
    F: dict[tuple[int, int], Array]
    F_base: Array
    tau: Array
    tau_base: Array

    @property
    def base_wrench_short(self) -> Array:
        """Line 40 without F: M^c a + b^c (6,)."""
        return self.M_c[0] @ self.a_base[0] + self.b_c[0]


def base_transform(H: Array) -> Array:
    """^0 X_A (6, 6) from ^A H_0 (4, 4): lines 1 to 4."""
    R, o = H[:3, :3].T, -(H[:3, :3].T @ H[:3, 3])  # lines 1 to 3
    return transform(R, o)  # line 4


def eidamb(
    tree: Tree, q: Array, r: Array, rdot: Array, H: Array, v_A: Array, a_base: Array, wrenches: bool = True
) -> Pass:
    """The pass at joint positions q (nq,; the base's entries are not read), joint rates r and rdot (n_J,), base pose
    H = ^A H_0 (4, 4), base twist v_A = ^A v_{A,0} (6,) in the *inertial* frame, intrinsic acceleration a_base (6,).

    `wrenches=False` leaves out F (lines 32 to 38) and takes line 40's shorter form: cost linear in the number of bodies.
    """
    n, lam, gamma = tree.n_bodies, tree.parent, tree.gamma
    dtype = scalars(q, r, rdot, H, v_A, a_base)
    bodies = range(1, n + 1)

    def empty() -> list[Array]:
        return [zeros(0, dtype)] * (n + 1)

    X, X_joint, v_joint, v, a_r, a_vp, m, b_c, b_vp, a_0 = (empty() for _ in range(10))
    X[0] = base_transform(H)  # lines 1 to 4
    v[0] = X[0] @ v_A  # line 5
    a_r[0] = X[0] @ tree.gravity  # line 6
    a_vp[0] = a_r[0]  # line 7
    M_c = [M.astype(dtype) for M in tree.inertia]  # lines 8 and 19
    m[0] = tree.inertia[0] @ v[0]  # line 9
    b_c[0] = tree.inertia[0] @ a_r[0] + cross_star(v[0]) @ m[0]  # line 10
    b_vp[0] = b_c[0]  # line 11
    for i in bodies:  # line 12
        X_joint[i], _ = jcalc(tree, i, q)  # line 13
        v_joint[i] = gamma[i] @ r[tree.columns[i]]  # line 14
        X[i] = X_joint[i] @ tree.placement[i]  # line 15
        v[i] = X[i] @ v[lam[i]] + v_joint[i]  # line 16
        a_r[i] = X[i] @ a_r[lam[i]] + gamma[i] @ rdot[tree.columns[i]] + cross(v[i]) @ v_joint[i]  # line 17
        a_vp[i] = X[i] @ a_vp[lam[i]] + cross(v[i]) @ v_joint[i]  # line 18
        m[i] = tree.inertia[i] @ v[i]  # line 20
        b_c[i] = tree.inertia[i] @ a_r[i] + cross_star(v[i]) @ m[i]  # line 21
        b_vp[i] = tree.inertia[i] @ a_vp[i] + cross_star(v[i]) @ m[i]  # line 22
    for i in reversed(bodies):  # line 24
        M_c[lam[i]] = M_c[lam[i]] + X[i].T @ M_c[i] @ X[i]  # line 25
        b_c[lam[i]] = b_c[lam[i]] + X[i].T @ b_c[i]  # line 26
        b_vp[lam[i]] = b_vp[lam[i]] + X[i].T @ b_vp[i]  # line 27
    tau, F, F_base = zeros(tree.n_joint_columns, dtype), {}, zeros((6, tree.n_joint_columns), dtype)
    a_0[0] = a_base
    for i in bodies:  # line 29
        a_0[i] = X[i] @ a_0[lam[i]]  # line 30
        tau[tree.columns[i]] = gamma[i].T @ (M_c[i] @ a_0[i] + b_c[i])  # line 31
        if not wrenches:
            continue
        F[i, i] = M_c[i] @ gamma[i]  # line 32
        j = i  # line 33
        while lam[j] > 0:  # line 34
            F[lam[j], i] = X[j].T @ F[j, i]  # line 35
            j = lam[j]  # line 36
        F_base[:, tree.columns[i]] = X[j].T @ F[j, i]  # line 38
    if wrenches:
        tau_base = M_c[0] @ a_0[0] + F_base @ rdot + b_vp[0]  # line 40
    else:
        tau_base = M_c[0] @ a_0[0] + b_c[0]
    return Pass(tree, rdot, X, X_joint, v_joint, v, m, a_r, a_vp, M_c, b_c, b_vp, a_0, F, F_base, tau, tau_base)
