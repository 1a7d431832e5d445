"""Constraint rows against differences, for every mask, joint kind and coupling, and against MuJoCo's."""

import freeflyer as ff
import itertools
import mujoco
import numpy as np
import pytest
from closeness import central, fresh
from dataclasses import replace
from freeflyer.model import file_posture
from freeflyer.linkages.rows import (constraint_bias, constraint_jacobian, constraint_loops, constraint_names,
    constraint_residual, constraints)  # fmt: skip
from linkage_samples import MASKS, planar, random_linkage

STEP = 1e-5
EVERY_MASK = [mask for mask in itertools.product((0, 1), repeat=6) if any(mask)]


@pytest.mark.parametrize("seed", range(4))
def test_rows_and_bias_are_rates_for_every_mask(seed):
    rng = fresh(seed)
    model, q = random_linkage(rng, tuple(EVERY_MASK), n=12, base=("free", "fixed", "planar", "free")[seed])
    residual, J = constraints(model, q)
    assert np.abs(residual).max() < 5e-14
    v = rng.standard_normal(model.nv)
    rate = central(lambda h: constraint_residual(model, ff.integrate(model, q, h * v)), STEP)
    np.testing.assert_allclose(J @ v, rate, atol=1e-9 * max(1.0, np.abs(rate).max()))
    model, closed = random_linkage(rng, tuple(EVERY_MASK), n=12)
    for q in (closed, ff.random_configuration(model, rng)):
        v = rng.standard_normal(model.nv)
        rate = central(lambda h, q=q, v=v: constraint_jacobian(model, ff.integrate(model, q, h * v)) @ v, STEP)
        bias = constraint_bias(model, q, v)
        np.testing.assert_allclose(bias, rate, atol=1e-7 * np.abs(rate).max())


@pytest.mark.parametrize("seed", range(3))
def test_away_from_closure_linear_rows_and_single_turns_stay_exact_and_J_T_r_is_the_gradient(seed):
    rng = fresh(seed)
    model, _ = random_linkage(rng, tuple(EVERY_MASK), n=10)
    q, v = ff.random_configuration(model, rng), rng.standard_normal(model.nv)
    residual, J = constraints(model, q)
    rate = central(lambda h: constraint_residual(model, ff.integrate(model, q, h * v)), STEP)
    exact = np.concatenate([[d < 3 or sum(m[3:]) == 1 for d in range(6) if m[d]] for m in EVERY_MASK])
    np.testing.assert_allclose((J @ v)[exact], rate[exact], atol=1e-8 * np.abs(rate).max())
    for loop in model.loops:
        here = [k for k, name in enumerate(constraint_loops(model)) if name == loop.name]
        assert residual[here] @ rate[here] == pytest.approx(residual[here] @ J[here] @ v, rel=1e-7, abs=1e-7)


def test_hinges_turn_without_end():
    """A hinge's rows across half a turn and a whole one."""
    model = planar((0.3,), (0.3,), 0.0, MASKS["hinge"])
    v = np.array([1.0, -0.4])
    for angle in (0.0, 3.1, np.pi, 3.2, 6.28, 9.0):
        q = np.array([0.2, 0.2 + angle])
        rows = constraint_jacobian(model, q)[3:]
        np.testing.assert_allclose(rows, 0.0, atol=1e-12)
        np.testing.assert_allclose(constraint_residual(model, q)[3:], 0.0, atol=1e-12)
        np.testing.assert_allclose(constraint_bias(model, q, v)[3:], 0.0, atol=1e-12)
    model, q = random_linkage(fresh(3), ((0, 0, 0, 1, 1, 0),), n=1, kinds=("spherical",))
    X_WA = ff.frame_pose(model, q, "a0")
    for angle in (1e-9, 1e-5, 1e-3, 1.0, 3.0, np.pi - 1e-5, np.pi - 1e-9):
        c, s = np.cos(angle), np.sin(angle)
        over = np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])  # about A's x
        site = model.description.sites[1]
        X = site.placement.copy()
        link = ff.frame_pose(model, q, site.link)
        X[:3, :3] = link[:3, :3].T @ X_WA[:3, :3] @ over
        other = ff.build(replace(model.description, sites=(model.description.sites[0], replace(site, placement=X))))
        np.testing.assert_allclose(np.linalg.norm(constraint_residual(other, q)), angle, rtol=1e-9, atol=1e-15)


def test_couplings():
    base = planar((0.3, 0.2), (0.3,), 0.4)
    couplings = (ff.Coupling("cubic", "l0", "r0", (0.1, -0.5, 0.3, 0.2)),
                 ff.Coupling("held", "l1", "", (0.4,)),
                 ff.Coupling("line", "r0", "l1", (0.0, 2.0)))  # fmt: skip
    model = ff.build(replace(base.description, couplings=couplings))
    q, v = np.array([0.3, -0.7, 1.1]), np.array([0.5, 2.0, -1.5])
    residual, J = constraints(model, q)
    p = np.polynomial.Polynomial((0.1, -0.5, 0.3, 0.2))
    np.testing.assert_allclose(residual[3:], [q[0] - p(q[2]), q[1] - 0.4, q[2] - 2.0 * q[1]], rtol=1e-14)
    np.testing.assert_allclose(J[3:], [[1.0, 0.0, -p.deriv()(q[2])], [0.0, 1.0, 0.0], [0.0, -2.0, 1.0]], rtol=1e-14)
    np.testing.assert_allclose(constraint_bias(model, q, v)[3:], [-p.deriv(2)(q[2]) * v[2] ** 2, 0.0, 0.0], rtol=1e-14)
    assert constraint_names(model) == ("tips.x", "tips.y", "tips.z", "cubic", "held", "line")
    joints = tuple(replace(j,
        mimic=ff.Mimic("l0", -2.0, 0.3)) if j.name == "l1" else j for j in base.description.joints)  # fmt: skip
    model = ff.build(replace(base.description, joints=joints, couplings=(ff.Coupling("c", "l1", "r0", (0.0, 1.0, 1.0)),)))
    q, v = np.array([0.2, 0.6]), np.array([1.0, -0.5])
    residual, J = constraints(model, q)
    assert residual[3] == pytest.approx(-2.0 * 0.2 + 0.3 - 0.6 - 0.36)
    np.testing.assert_allclose(J[3], [-2.0, -2.2], rtol=1e-14)
    for row in (J @ v, constraint_bias(model, q, v)):
        assert np.all(np.isfinite(row))
    rate = central(lambda h: constraint_residual(model, ff.integrate(model, q, h * v)), STEP)
    np.testing.assert_allclose(J @ v, rate, atol=1e-9)


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


@pytest.mark.peers
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
