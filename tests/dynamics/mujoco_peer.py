"""MuJoCo's answers in our coordinates.

Its free joint moves with [world velocity of the origin; angular velocity in body axes], its quaternions are w, x, y, z
and its joints stand in another order: v_mj = T v, M = T^T M_mj T, tau = T^T tau_mj, J = J_mj T, with T(q) a permutation and
the base's rotation. Only the tree is compared: no equality, tendon, spring, damping or contact.
"""

import freeflyer as ff
import mujoco
import numpy as np
from collections.abc import Mapping
from dataclasses import dataclass, replace
from freeflyer.model.description import joint_sizes
from freeflyer.model.model import Model
from freeflyer.model.readers.mjcf.names import CHAINS, group_name
from typing import Any

Result = dict[str, np.ndarray]
WIDTH = {0: (7, 6), 1: (4, 3), 2: (1, 1), 3: (1, 1)}  # mjtJoint: (nq, nv)


@dataclass(frozen=True)
class Peer:
    """`joints`: (MuJoCo's type, its first q and v, our first q and v) of each of its joints."""

    model: Any
    data: Any
    nv: int
    joints: tuple[tuple[int, int, int, int, int], ...]
    bodies: Mapping[str, int]

    def set_state(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Puts MuJoCo into this state; T (nv, nv), and Tdot v (nv,)."""
        m, d = self.model, self.data
        T, rate = np.zeros((m.nv, self.nv)), np.zeros(m.nv)
        d.qpos[:], d.qvel[:] = np.nan, np.nan
        for kind, aq, av, iq, iv in self.joints:
            nq, nv = WIDTH[kind]
            T[av : av + nv, iv : iv + nv] = np.eye(nv)
            d.qpos[aq : aq + nq] = q[iq : iq + nq]
            if kind < 2:
                d.qpos[aq + nq - 4 : aq + nq] = q[[iq + nq - 1, iq + nq - 4, iq + nq - 3, iq + nq - 2]]
            if kind == 0:
                R = np.empty(9)
                mujoco.mju_quat2Mat(R, d.qpos[aq + 3 : aq + 7])
                R = R.reshape(3, 3)
                T[av : av + 3, iv : iv + 3] = R
                rate[av : av + 3] = R @ np.cross(v[iv + 3 : iv + 6], v[iv : iv + 3])
        d.qvel[:] = T @ v
        mujoco.mj_kinematics(m, d)
        mujoco.mj_comPos(m, d)
        mujoco.mj_makeM(m, d) if hasattr(mujoco, "mj_makeM") else mujoco.mj_crb(m, d)
        mujoco.mj_comVel(m, d)
        mujoco.mj_subtreeVel(m, d)
        return T, rate


def peer(model: Model, theirs: Any, names: Mapping[str, tuple[int, int]]) -> Peer:
    """`names`: MuJoCo's names of joints, and our first q and v of each; bodies are matched by name, all of them."""
    theirs.jnt_stiffness[:] = 0.0  # would count as potential energy
    joints = []
    for k in range(theirs.njnt):
        iq, iv = names[theirs.joint(k).name]
        joints.append((int(theirs.jnt_type[k]), int(theirs.jnt_qposadr[k]), int(theirs.jnt_dofadr[k]), iq, iv))
    assert theirs.nv == model.nv
    bodies = {theirs.body(k).name: k for k in range(1, theirs.nbody)}
    assert set(bodies) <= set(model.frame_names)
    return Peer(theirs, mujoco.MjData(theirs), model.nv, tuple(joints), bodies)


def with_armature(model: ff.Model, value: float, but: tuple[str, ...] = ()) -> ff.Model:
    """The same armature in all coordinates of every joint, for which MuJoCo has one number."""
    joints = (replace(j, armature=(0.0 if j.kind in but else value,) * joint_sizes(j.kind)[1]) for j in model.description.joints)
    return ff.build(replace(model.description, joints=tuple(joints)))


def named(model: ff.Model) -> dict[str, tuple[int, int]]:
    """MuJoCo's names of our joints, and where their q and v begin; its free joints have no name."""
    out = {}
    for j in model.joints:
        for k in range(len(CHAINS.get(j.kind, "."))):
            name = group_name(j.name, j.kind, k) if j.kind in CHAINS else j.name
            out["" if j.kind == "free" else name] = (j.iq + k, j.iv + k)
            out[name] = (j.iq + k, j.iv + k)
    return out


def reference(p: Peer, q: np.ndarray, v: np.ndarray, a: np.ndarray, tau: np.ndarray) -> Result:
    """Equations of motion by MuJoCo, at one state."""
    m, d, nv = p.model, p.data, p.nv
    T, rate = p.set_state(q, v)
    full, column = np.full((nv, nv), np.nan), np.full(nv, np.nan)
    for k in range(nv):
        mujoco.mj_mulM(m, d, column, np.eye(nv)[k])
        full[:, k] = column
    bias, weight, torque = (np.full(nv, np.nan) for _ in range(3))
    mujoco.mj_rne(m, d, 0, bias)
    d.qacc[:] = T @ a + rate
    mujoco.mj_rne(m, d, 1, torque)  # without armature
    M, rest = T.T @ full @ T, T.T @ (full @ rate + bias)
    d.qvel[:] = 0.0
    mujoco.mj_comVel(m, d)
    mujoco.mj_rne(m, d, 0, weight)
    p.set_state(q, v)
    return {"mass matrix": M, "inverse mass matrix": np.linalg.inv(M), "bias": rest, "C v": rest - T.T @ weight,
            "inverse dynamics": T.T @ (torque + m.dof_armature * d.qacc), "forward dynamics": np.linalg.solve(M, tau - rest),
            "kinetic energy": np.array([0.5 * v @ M @ v])}  # fmt: skip
