"""Constraint rows against MuJoCo's equality rows, on MJCF linkages, and the split of real robots."""

import freeflyer as ff
import mujoco
import numpy as np
import pytest
from freeflyer.linkages.rows import constraint_residual, constraints

pytestmark = pytest.mark.peers

CLOSED_CHAIN = """
<mujoco><option gravity="0 0 -9.81"/>
 <worldbody>
  <body name="trunk" pos="0.1 0.2 0.9" quat="0.9 0.1 -0.3 0.2"><freejoint name="float"/>
   <inertial pos="0 0 0" mass="2" diaginertia="0.1 0.2 0.15"/>
   <body name="a" pos="0.2 0 0" quat="0.8 0.2 0.4 0.1"><joint name="qa" axis="0 1 0.3"/>
    <inertial pos="0.1 0 0" mass="1" diaginertia="0.01 0.02 0.02"/>
    <body name="b" pos="0.3 0 0.05"><joint name="qb" type="slide" axis="1 0 0"/>
     <inertial pos="0.1 0 0" mass="1" diaginertia="0.01 0.02 0.02"/></body></body>
   <body name="c" pos="-0.1 0.2 0"><joint name="qc" type="ball"/>
    <inertial pos="0.1 0 0" mass="1" diaginertia="0.01 0.02 0.02"/>
    <body name="d" pos="0.3 0 -0.05" quat="0.7 0 0.7 0.1"><joint name="qd" axis="0 0 1"/>
     <inertial pos="0.1 0 0" mass="1" diaginertia="0.01 0.02 0.02"/></body></body>
  </body>
 </worldbody>
 <equality>
  <connect name="pin" body1="b" body2="d" anchor="0.1 0.05 -0.02"/>
  <weld name="glue" body1="a" body2="d"/>
  <connect name="ground" body1="c" anchor="0.1 0 0.1"/>
  <joint name="bend" joint1="qa" joint2="qd" polycoef="0.1 0.5 -0.3 0.2 0.05"/>
  <joint name="hold" joint1="qb" polycoef="0.05 0 0 0 0"/>
 </equality>
</mujoco>
"""


def theirs_of(model: ff.Model, m: mujoco.MjModel, q: np.ndarray) -> tuple[mujoco.MjData, np.ndarray]:
    """(data at q, T) with v_mj = T v; rows of all equalities are active."""
    d = mujoco.MjData(m)
    T = np.zeros((m.nv, model.nv))
    for k in range(m.njnt):
        kind, at, av = m.jnt_type[k], m.jnt_qposadr[k], m.jnt_dofadr[k]
        name = m.joint(k).name
        joint = model.joint(name if name in model.joint_names else model.joint_names[0])
        nq, nv = {0: (7, 6), 1: (4, 3), 2: (1, 1), 3: (1, 1)}[int(kind)]
        T[av : av + nv, joint.iv : joint.iv + nv] = np.eye(nv)
        x = q[joint.iq : joint.iq + joint.nq]
        d.qpos[at : at + nq] = x
        if kind < 2:
            d.qpos[at + nq - 4 : at + nq] = x[[nq - 1, nq - 4, nq - 3, nq - 2]]
        if kind == 0:
            R = np.empty(9)
            mujoco.mju_quat2Mat(R, d.qpos[at + 3 : at + 7])
            T[av : av + 3, joint.iv : joint.iv + 3] = R.reshape(3, 3)
    m.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    m.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_LIMIT
    m.dof_frictionloss[:] = 0.0
    mujoco.mj_fwdPosition(m, d)
    return d, T


def equality_rows(m: mujoco.MjModel, d: mujoco.MjData, k: int) -> tuple[np.ndarray, np.ndarray]:
    """(J, residual) of equality k."""
    rows = (d.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY) & (d.efc_id == k)
    J = d.efc_J.reshape(-1, m.nv) if d.efc_J.ndim == 1 else d.efc_J
    return J[: d.nefc][rows[: d.nefc]], d.efc_pos[: d.nefc][rows[: d.nefc]]


def compare(model: ff.Model, m: mujoco.MjModel, q: np.ndarray, tolerance: float) -> int:
    """How many rows agreed. MuJoCo's connect is p_1 - p_2 in world axes, its weld also turns otherwise: spans are compared."""
    d, T = theirs_of(model, m, q)
    residual, J = constraints(model, q)
    names = [loop.name for loop in model.loops]
    row = agreed = 0
    equalities = {m.equality(k).name or f"connect_{k}": k for k in range(m.neq)}
    for name, loop in zip(names, model.loops):
        n = sum(loop.mask)
        J_mj, open_by = equality_rows(m, d, equalities[name])
        ours, here = J[row : row + n], residual[row : row + n]
        R = ff.frame_pose(model, q, loop.frame_a)[:3, :3]
        np.testing.assert_allclose(-R @ here[:3], open_by[:3], atol=tolerance)
        np.testing.assert_allclose(-R @ ours[:3], (J_mj @ T)[:3], atol=tolerance)
        if n == 6:
            a, b = (np.linalg.qr(x.T)[0] for x in (ours[3:], (J_mj @ T)[3:]))
            np.testing.assert_allclose(a @ a.T, b @ b.T, atol=1e-9)
        row, agreed = row + n, agreed + n
    for c in model.description.couplings:
        J_mj, open_by = equality_rows(m, d, equalities[c.name])
        np.testing.assert_allclose(residual[row], open_by[0], atol=1e-12)
        np.testing.assert_allclose(J[row], (J_mj @ T)[0], atol=1e-12)
        row, agreed = row + 1, agreed + 1
    return agreed


def test_connect_weld_and_joint_equalities_are_mujoco_s():
    model = ff.load(CLOSED_CHAIN)
    m = mujoco.MjModel.from_xml_string(CLOSED_CHAIN)
    from freeflyer.linkages.closure import file_posture

    q = file_posture(model)
    assert np.abs(constraint_residual(model, q)[:12]).max() < 1e-14, "MuJoCo closes loops at its reference posture"
    assert compare(model, m, q, 1e-9) == len(constraint_residual(model, q)) == 14
