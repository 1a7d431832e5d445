"""Constrained dynamics of robots in contact against Pinocchio: TALOS on its soles, ANYmal on four points."""

import freeflyer as ff
import numpy as np
import pytest
from closeness import close, fresh
from freeflyer import contacts
from pathlib import Path
from robots_on_disk import example, needs_examples

pytestmark = pytest.mark.peers

SOLES = ("left_sole_link", "right_sole_link")
FEET = ("LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT")


def check(path: Path, model: ff.Model, s: ff.ConstraintSet, rng: np.random.Generator, spread: float | None = None) -> None:
    """Accelerations, forces and derivatives of a by q, v, tau; spread (rad): of joints about zero, None for any configuration.

    Pinocchio's rows of a point are its acceleration, ours the rate of its velocity in the foot's axes: the same while J v = 0, and
    so are their derivatives at rest.
    """
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
