"""Constraint rows, drift, constrained dynamics and derivatives against Pinocchio and MuJoCo, on real linkages and in contact."""

import freeflyer as ff
import numpy as np
import pytest
from closed_robots import shared
from closeness import close, fresh
from freeflyer import contacts, linkages
from pathlib import Path
from robots_on_disk import example, needs_examples

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
        inconsistent = s._replace(v=fresh(9).standard_normal(model.nv))  # violates the loops
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


@pytest.mark.parametrize(("name", "limit", "stiffest"),
    [("kangaroo", 3e-8, 1e-3), ("cassie", 1e-11, 1e-4), ("battobot", 1e-9, 0.1)])  # fmt: skip
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


SOLES = ("left_sole_link", "right_sole_link")
FEET = ("LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT")


def check(path: Path, model: ff.Model, s: ff.ConstraintSet, rng: np.random.Generator, spread: float | None = None) -> None:
    """Accelerations, forces and derivatives of a by q, v, tau; spread (rad): of joints about zero, None for any configuration."""
    pin = pytest.importorskip("pinocchio")
    q, v, tau = ff.random_configuration(model, rng), rng.standard_normal(model.nv), rng.standard_normal(model.nv)
    if spread is not None:
        q[7:] = spread * rng.standard_normal(model.nq - 7)
    points = any(c.kind == "point" for c in s.contacts)
    if points:
        v = ff.project_velocity(model, q, v, constraints=s)
    peer = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
    data = peer.createData()
    order_q, order_v = np.arange(model.nq), np.arange(model.nv)
    for joint in model.joints[1:]:
        other = peer.joints[peer.getJointId(joint.name)]
        order_q[other.idx_q], order_v[other.idx_v] = joint.iq, joint.iv
    models, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    for contact in s.contacts:
        frame = peer.frames[peer.getFrameId(contact.frame)]
        kind = pin.ContactType.CONTACT_6D if contact.kind == "surface" else pin.ContactType.CONTACT_3D
        models.append(pin.RigidConstraintModel(kind, peer, frame.parentJoint, frame.placement, pin.LOCAL))
        datas.append(models[len(models) - 1].createData())
    pin.initConstraintDynamics(peer, data, models, datas)
    settings = pin.ProximalSettings(1e-14, 1e-14, 1e-10, 50)
    theirs = pin.constraintDynamics(peer, data, q[order_q], v[order_v], tau[order_v], models, datas, settings)
    ours = ff.constrained_dynamics(model, q, v, tau, constraints=s)
    close(ours.a[order_v], theirs, 1e-9)
    for contact, d in zip(s.contacts, datas):
        close(ours.forces[contact.name], d.contact_force.vector, 1e-9)
    if points:
        v = np.zeros(model.nv)
        pin.constraintDynamics(peer, data, q[order_q], v, tau[order_v], models, datas, settings)
    slopes = ff.constrained_dynamics_derivatives(model, q, v, tau, constraints=s)
    pin.computeConstraintDynamicsDerivatives(peer, data, models, datas, settings)
    for found, expected in ((slopes.dq, data.ddq_dq), (slopes.dv, data.ddq_dv), (slopes.dtau, data.ddq_dtau)):
        close(found.a[np.ix_(order_v, order_v)], expected, 1e-9)


@needs_examples
@pytest.mark.parametrize("held", [SOLES[:1], SOLES])
@pytest.mark.parametrize("spread", [None, 1e-3])  # straight legs, feet side by side: the second foot's rows are still independent
def test_talos_on_its_soles(held, spread):
    path, rng = example("talos_reduced.urdf"), fresh()
    model = ff.load(path, base="free")
    check(path, model, ff.ConstraintSet(model, [contacts.surface(name) for name in held]), rng, spread)


@needs_examples
@pytest.mark.parametrize("count", [2, 4])
def test_anymal_on_points(count):
    path, rng = example("anymal.urdf"), fresh()
    model = ff.load(path, base="free")
    check(path, model, ff.ConstraintSet(model, [contacts.point(name) for name in FEET[:count]]), rng)
