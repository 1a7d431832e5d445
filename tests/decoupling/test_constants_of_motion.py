"""Locked velocity, momenta and constants of motion: decoupling thesis, eqs. (3.60)-(3.69), Proposition 3.2.1."""

import freeflyer as ff
import numpy as np
from cases import Case, cases, few
from closeness import EXACT, close, close_to_rate, fresh, rounding, slope_error
from freeflyer import decoupling
from freeflyer.spatial import se3
from hypothesis import given

BOUND = 1e-10
floating = cases(bases=("free",))
plain = cases(bases=("free",)).filter(lambda c: not c.model.armature[:6].any())


def momentum_size(c: Case) -> float:
    """Of the sums of which a momentum consists, in any frame of a robot of some metres."""
    return float((np.abs(ff.mass_matrix(c.model, c.q)[:6]) @ np.abs(c.v)).max() * 10.0 + c.model.mass)


@few
@given(plain)
def test_momenta_are_those_of_the_library(c: Case) -> None:
    """(3.67)-(3.69): about the centre of mass, and about the world's origin."""
    h = ff.centroidal_momentum(c.model, c.q, c.v)
    close(decoupling.total_momentum(c.model, c.q, c.v, frame="center_of_mass"), h, EXACT, least=momentum_size(c))
    l = np.concatenate([h[:3], h[3:] + np.cross(ff.center_of_mass(c.model, c.q), h[:3])])
    close(decoupling.total_momentum(c.model, c.q, c.v, frame="world"), l, EXACT, least=momentum_size(c))
    locked = decoupling.locked_velocity(c.model, c.q, c.v, frame="center_of_mass")
    condition = float(np.linalg.cond(ff.mass_matrix(c.model, c.q)[:6, :6]))
    close(locked[:3], ff.center_of_mass_velocity(c.model, c.q, c.v), rounding(4500, condition), least=10.0)


@few
@given(floating)
def test_where_the_momentum_is_conserved(c: Case) -> None:
    """(3.66), what its name says; a robot that moves as one body has the velocity of its base."""
    locked = np.concatenate([decoupling.locked_velocity(c.model, c.q, c.v), np.zeros(c.model.nv - 6)])
    condition = float(np.linalg.cond(ff.mass_matrix(c.model, c.q)[:6, :6]))
    for frame in (None, "world", "center_of_mass", "site_1"):
        expected = decoupling.total_momentum(c.model, c.q, c.v, frame=frame)
        found = decoupling.total_momentum(c.model, c.q, locked, frame=frame)
        close(found, expected, rounding(4500, condition), least=momentum_size(c))
    rigid = np.concatenate([c.v[:6], np.zeros(c.model.nv - 6)])
    close(decoupling.locked_velocity(c.model, c.q, rigid), c.v[:6], rounding(4500, condition))
    A = se3.adjoint(se3.inverse(ff.frame_pose(c.model, c.q, "site_0")) @ ff.frame_pose(c.model, c.q, c.model.joints[0].child))
    close(decoupling.locked_velocity(c.model, c.q, c.v, frame="site_0"), A @ locked[:6], EXACT, least=float(np.abs(locked).max()))
    # Proposition 3.2.1 both ways: the condition's residual is the rate of h_c in a motion without external forces
    model = ff.with_gravity(c.model, (0.0, 0.0, 0.0))
    a = ff.forward_dynamics(model, c.q, c.v, np.concatenate([np.zeros(6), c.tau[6:]]))
    frames = ("world", "center_of_mass", "center_of_mass_along_base", "site_0", c.model.joints[0].child)
    found = decoupling.constants_of_motion(model, c.q, c.v, frames=frames)
    assert found.conserved[0]
    assert found.conserved[1] or model.armature[:6].any()
    speed = float(np.abs(a).max() + np.abs(c.v).max() + 1.0)
    for k, frame in enumerate(frames):

        def at(h: float, frame: str = frame) -> np.ndarray:
            q = ff.integrate(model, c.q, h * c.v + 0.5 * h * h * a)
            return decoupling.total_momentum(model, q, c.v + h * a, frame=frame)

        close_to_rate(found.drifts[k], at, 1e-4, tolerance=slope_error(), least=momentum_size(c) * speed, what=frame)
        close(found.momenta[k], at(0.0), EXACT, least=momentum_size(c))
        if found.conserved[k]:
            close(found.drifts[k], np.zeros(6), BOUND, least=momentum_size(c) * speed)
    # a_cb^T h_b - a_ib^T h_b, (3.60), and a_ci^T h_i, (3.62), are the drift in other axes
    frames = ("center_of_mass_along_base", "site_1")
    found = decoupling.constants_of_motion(c.model, c.q, c.v, frames=frames)
    h_b = decoupling.total_momentum(c.model, c.q, c.v)
    for drift, frame in zip(found.drifts, frames):
        m = decoupling.frame_map(c.model, c.q, c.v, frame=frame)
        a_cb = np.linalg.solve(m.matrix, m.rate)
        expected = np.linalg.solve(m.matrix.T, (se3.ad(c.v[:6]) - a_cb).T @ h_b)
        close(drift, expected, rounding(4500, 100.0), least=momentum_size(c) * 10.0, what=frame)


def test_frames_that_turn_may_conserve_it() -> None:
    """Not turning is not necessary, as the decoupling thesis says below (3.62): not where the momentum is zero, nor about its own
    axis."""
    model = ff.robots.space_manipulator()
    rng = fresh()
    q, v = ff.random_configuration(model, rng), rng.standard_normal(model.nv)
    v[:6] -= decoupling.locked_velocity(model, q, v)
    found = decoupling.constants_of_motion(model, q, v)
    close(found.momenta, np.zeros((4, 6)), 1e-10, least=model.mass)
    assert found.conserved.all()
    one = ff.lock_joints(model, model.actuated)  # a rigid body that turns about an axis of its own
    A = decoupling.frame_map(one, one.neutral, np.zeros(6), frame="center_of_mass").matrix
    _, axes = np.linalg.eigh(decoupling.decouple(one, one.neutral, np.zeros(6), T_x=A).M_x[3:, 3:])
    for turn, conserved in ((axes[:, 1], True), (axes.sum(1), False)):
        v = np.linalg.solve(A, np.concatenate([np.zeros(3), turn]))
        assert decoupling.constants_of_motion(one, one.neutral, v).conserved.tolist() == [True, True, conserved, conserved]
