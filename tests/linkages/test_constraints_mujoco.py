"""Constraint rows against MuJoCo's equality rows, on MJCF linkages, and the split of real robots."""

import freeflyer as ff
import mujoco
import numpy as np
import pytest
from freeflyer.linkages.closure import file_posture
from freeflyer.linkages.rows import constraints

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


def test_connect_weld_and_joint_equalities_are_mujoco_s():
    """MuJoCo's connect is p_1 - p_2 in world axes, its weld also turns otherwise: spans are compared."""
    model, m = ff.load(CLOSED_CHAIN), mujoco.MjModel.from_xml_string(CLOSED_CHAIN)
    q, d = file_posture(model), mujoco.MjData(m)
    m.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    m.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_LIMIT
    T, (residual, J) = ff.mujoco_velocity_map(model, q), constraints(model, q)
    d.qpos[:] = ff.to_mujoco(model, q).qpos
    mujoco.mj_fwdPosition(m, d)
    assert np.abs(residual[:12]).max() < 1e-14, "MuJoCo closes loops at its reference posture"
    row, all_rows = 0, d.efc_J.reshape(-1, m.nv)
    for x in (*model.loops, *model.description.couplings):
        theirs = np.flatnonzero((d.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY) & (d.efc_id == m.equality(x.name).id))
        J_mj, open_by, n = all_rows[theirs] @ T, d.efc_pos[theirs], len(theirs)
        ours, here = J[row : row + n], residual[row : row + n]
        R = -ff.frame_pose(model, q, x.frame_a)[:3, :3] if isinstance(x, ff.Loop) else np.eye(1)
        np.testing.assert_allclose(R @ here[:3], open_by[:3], atol=1e-9)
        np.testing.assert_allclose(R @ ours[:3], J_mj[:3], atol=1e-9)
        if n == 6:
            a, b = (np.linalg.qr(x.T)[0] for x in (ours[3:], J_mj[3:]))
            np.testing.assert_allclose(a @ a.T, b @ b.T, atol=1e-9)
        row += n
    assert row == len(residual) == 14
