"""Constraint rows, drift, constrained accelerations and their derivatives against Pinocchio and MuJoCo, on real linkages.

Where redundant rows are exact (Cassie, rank 10 of 12) or absent (Battobot), accelerations agree to rounding. Kangaroo's file
has rounded digits: its 84 rows have rank 60 and eight directions more with singular values of 1e-7, in which peers yield by as
much as their regularisation lets them; there the bound is that of the file.
"""

import freeflyer as ff
import numpy as np
import pytest
from closed_robots import shared
from closeness import fresh, slopes
from dataclasses import replace
from freeflyer import linkages
from pathlib import Path

pytest.importorskip("pinocchio")
pytest.importorskip("mujoco")

from benchmarks.closed import SOFTNESSES, MujocoPeer, distance, mujoco_peer
from benchmarks.closed_pinocchio import PinocchioPeer, pinocchio_peer
from freeflyer.analysis.timing.control_cycles import ClosedState, closed_state

pytestmark = pytest.mark.peers

NAMES = ("kangaroo", "cassie", "battobot")


def read(folder: Path, name: str, written: Path) -> tuple[ff.Model, Path]:
    """The robot and an MJCF file of it: its own, or one of ours."""
    model, own = shared(folder, name), folder / name / f"{name}.xml"
    if own.exists():
        return model, own
    path = written / f"{name}.xml"
    ff.to_mjcf(model, path)
    return model, path


def pinocchio(folder: Path, name: str, written: Path) -> tuple[ff.Model, PinocchioPeer]:
    model, path = read(folder, name, written)
    return model, pinocchio_peer(model, path)


def mujoco(folder: Path, name: str, written: Path) -> tuple[ff.Model, MujocoPeer]:
    model, path = read(folder, name, written)
    return model, mujoco_peer(model, path)


def accelerations(model: ff.Model, s: ClosedState) -> np.ndarray:
    return ff.constrained_dynamics(model, s.q, s.v, s.tau, constraints=ff.ConstraintSet(model)).a


@pytest.mark.parametrize("name", NAMES)
def test_rows_drift_and_projected_equations_by_pinocchio(name, models_folder, tmp_path):
    """Its Jacobian leaves out how the gap turns with frame a, so it is ours at closure only; its drift is ours anywhere."""
    model, p = pinocchio(models_folder, name, tmp_path)
    split = linkages.partition(model)
    for amplitude in (0.0, 2e-3):
        s = closed_state(model, 1, amplitude)
        opened = np.abs(linkages.constraint_residual(model, s.q)).max()
        tolerance = 1e-12 + 30.0 * opened
        assert distance(linkages.constraint_jacobian(model, s.q), -p.in_our_order(np.array(p.jacobian_call(s)()))) < tolerance
        assert distance(linkages.constraint_bias(model, s.q, s.v), -p.drifts(s)) < 5e-12
        inconsistent = replace(s, v=fresh(9).standard_normal(model.nv))  # violates the loops
        assert distance(linkages.constraint_bias(model, s.q, inconsistent.v), -p.drifts(inconsistent)) < 5e-12
        M, h = p.equations(s, split.rows, split.dependent, split.independent)
        assert distance(ff.mass_matrix(ff.close_loops(model), s.q), M) < tolerance
        assert distance(ff.bias_forces(ff.close_loops(model), s.q, s.u), h) < tolerance
        rigid = np.linalg.solve(M, s.tau_u - h)  # of its terms on our rows: no regularisation, no redundant rows
        assert distance(ff.forward_dynamics(ff.close_loops(model), s.q, s.u, s.tau_u), rigid) < 1e3 * tolerance


@pytest.mark.parametrize(("name", "tolerance"), [("kangaroo", 3e-8), ("cassie", 1e-10), ("battobot", 1e-11)])
def test_constrained_accelerations_by_pinocchio(name, tolerance, models_folder, tmp_path):
    model, p = pinocchio(models_folder, name, tmp_path)
    s = closed_state(model, 2)
    a = p.in_our_order(p.dynamics_call(s)())
    assert distance(accelerations(model, s), a) < tolerance
    kept = linkages.partition(model).independent
    assert distance(ff.forward_dynamics(ff.close_loops(model), s.q, s.u, s.tau_u), a[kept]) < 3.0 * tolerance


@pytest.mark.parametrize("name", NAMES)
def test_derivatives_by_pinocchio(name, models_folder, tmp_path):
    """Its derivatives hold v while q moves; ours hold u, so that v = G u moves along. Its regularisation enters in proportion;
    on Battobot its derivatives by q miss differences of its own accelerations by 1e-6, ours by 3e-9."""
    model, p = pinocchio(models_folder, name, tmp_path)
    split = linkages.partition(model)
    kept, s = split.independent, closed_state(model, 4)
    tau = np.zeros(model.nv)
    tau[kept] = s.tau_u
    mu, tolerance = {"kangaroo": (1e-6, 1e-4), "cassie": (1e-8, 1e-6), "battobot": (1e-8, 3e-6)}[name]
    by_q, by_v, by_tau = (p.square(x) for x in p.derivatives_call(replace(s, tau=tau), mu)()[:3])
    G = p.map_of(linkages.mapping_jacobian(model, s.q), split.dependent, kept)

    def whole(e: np.ndarray) -> np.ndarray:
        return linkages.expand_motion(model, ff.integrate(ff.close_loops(model), s.q, e), s.u, s.u_dot)[0]

    moving = slopes(whole, len(kept), 2e-5 if name == "kangaroo" else 2e-4)
    d = ff.forward_dynamics_derivatives(ff.close_loops(model), s.q, s.u, s.tau_u)
    assert distance(d.dq, (by_q @ G + by_v @ moving)[kept]) < tolerance
    assert distance(d.dv, (by_v @ G)[kept]) < tolerance
    assert distance(d.dtau, by_tau[np.ix_(kept, kept)]) < tolerance


@pytest.mark.parametrize("name", NAMES)
def test_rows_and_drift_by_mujoco(name, models_folder, tmp_path):
    """Rows of points are R_WA ours with the other sign, their drift too, but for R's own turning; a weld's turns span the same."""
    model, p = mujoco(models_folder, name, tmp_path)
    for amplitude in (0.0, 2e-3):
        s = closed_state(model, 5, amplitude)
        J, gap, drift, equality = p.rows(s)
        residual, bias = linkages.constraint_residual(model, s.q), linkages.constraint_bias(model, s.q, s.v)
        ours, first = linkages.constraint_jacobian(model, s.q), 0
        tolerance = 1e-12 + 30.0 * np.abs(residual).max()
        seen = 0
        for loop in model.loops:
            rows = np.arange(first, first + sum(loop.mask))
            first = rows[-1] + 1
            theirs = np.flatnonzero(equality == p.equality(loop.name))
            point, linear = theirs[:3], rows[:3]
            R = ff.frame_pose(model, s.q, loop.frame_a)[:3, :3]
            w = ff.frame_velocity(model, s.q, s.v, loop.frame_a)[3:]
            np.testing.assert_allclose(gap[point], -R @ residual[linear], atol=1e-14)
            np.testing.assert_allclose(J[point], -R @ ours[linear], atol=tolerance)
            turned = bias[linear] + 2.0 * np.cross(w, ours[linear] @ s.v)
            np.testing.assert_allclose(drift[point], -R @ turned, atol=tolerance * max(1.0, np.abs(bias).max()))
            if len(rows) == 6:
                a, b = (np.linalg.qr(x[3:].T)[0] for x in (J[theirs], ours[rows]))
                np.testing.assert_allclose(a @ a.T, b @ b.T, atol=1e-10)
            seen += len(theirs)
        assert seen == len(equality) == model.constraint_rows[0]


@pytest.mark.parametrize(
    ("name", "limit", "stiffest"), [("kangaroo", 3e-8, 1e-3), ("cassie", 1e-11, 1e-4), ("battobot", 1e-9, 0.1)]
)
def test_mujoco_s_accelerations_tend_to_ours_as_its_equalities_stiffen(name, limit, stiffest, models_folder, tmp_path):
    """In proportion to softness; how fast, depends on how ill-conditioned J M^-1 J^T is. In the limit they are the same."""
    model, p = mujoco(models_folder, name, tmp_path)
    s = closed_state(model, 6)
    ours = accelerations(model, s)
    rigid, soft = p.rigid_limit(s)
    gaps = np.array([distance(ours, a) for a in soft])
    assert gaps[0] < stiffest
    np.testing.assert_allclose(gaps[:2] / gaps[0], np.array(SOFTNESSES[:2]) / SOFTNESSES[0], rtol=0.05)
    assert distance(ours, rigid) < limit


def test_cassie_s_springs_are_forces_on_free_joints(models_folder, tmp_path):
    """The file's springs are no part of a Model: they are torques of the user's, on joints that the loops leave independent."""
    import mujoco

    model, p = read(models_folder, "cassie", tmp_path)[0], mujoco_peer(*read(models_folder, "cassie", tmp_path))
    sprung = [j.name for j in model.description.joints if j.sprung]
    assert sorted(sprung) == ["left-heel-spring", "left-shin", "right-heel-spring", "right-shin"]
    independent = linkages.partition(model).independent
    assert all(model.joint(name).iv in independent for name in sprung)
    s = closed_state(model, 8, 0.02)
    p.model.opt.disableflags &= ~int(mujoco.mjtDisableBit.mjDSBL_SPRING)
    pushed = p.rigid_limit(s)[0]
    tau, force = s.tau.copy(), 0.0
    for name in sprung:
        joint, theirs = model.joint(name), p.model.joint(name)
        spring = p.model.qpos_spring[theirs.qposadr[0]]
        tau[joint.iv] -= theirs.stiffness[0] * (s.q[joint.iq] - spring)
        force = max(force, abs(theirs.stiffness[0] * (s.q[joint.iq] - spring)))
    assert force > 1.0
    assert distance(ff.constrained_dynamics(model, s.q, s.v, tau, constraints=ff.ConstraintSet(model)).a, pushed) < 1e-10
    assert distance(accelerations(model, s), pushed) > 1e-3
