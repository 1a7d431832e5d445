"""Equations of motion of planar robots in closed form (decoupling thesis, eqs. (2.50), (3.39), (3.41), (4.9)-(4.12))."""

from __future__ import annotations

from itertools import combinations
from typing import Literal

import sympy as sp

import freeflyer as ff
from freeflyer.model import choice, public
from freeflyer.symbolic.trigonometry import is_zero, reduce_products
from freeflyer_papers.planar.chain import BASE, PlanarRobot, check_robot, frame_pose
from freeflyer_papers.planar.poses import LinkInertia, Pose, S, adjoint, link_inertia, twist_adjoint, twist_jacobian

FORMS = ("passive", "hamel")


@public
def mass_matrix(robot: PlanarRobot) -> sp.ImmutableMatrix:
    """Mass matrix of a planar robot: sum of J^T Lambda J over its links.

    Returns: matrix, (nv, nv), of the base's twist in its own axes and joint rates: it does not depend on the base's pose.
    Source: decoupling thesis, (2.50) and (4.10).

    Examples:
        >>> freeflyer_papers.planar.mass_matrix(freeflyer_papers.planar.prismatic_hopper())[0, :]
        Matrix([[m_01 + m_11, 0, 0, m_11]])
    """
    links = _links(robot)
    total = sp.zeros(len(robot.variables.velocity))
    for J, inertia, _ in links:
        total += J.T * inertia.matrix * J
    return reduce_products(total)


@public
def coriolis_matrix(robot: PlanarRobot, *, form: Literal["passive", "hamel"] = "passive") -> sp.ImmutableMatrix:
    """Coriolis matrix C of a planar robot, C v the forces of velocity; matrix, (nv, nv).

    Args:
        form: "passive" or "hamel". That of Newton and Euler, Mdot = C + C^T; or that of the Hamel equations, by which the dynamics
            decouple.
    Source: decoupling thesis, (3.41) and (3.39).

    Examples:
        >>> import sympy
        >>> robot = freeflyer_papers.planar.prismatic_hopper()
        >>> v = sympy.Matrix(robot.variables.velocity)
        >>> forms = [freeflyer_papers.planar.coriolis_matrix(robot, form=form) * v for form in ("passive", "hamel")]
        >>> ff.symbolic.is_zero(forms[0] - forms[1])
        True
    """
    check_robot(robot)
    return _hamel(robot) if choice("form", form, FORMS) == "hamel" else _passive(robot)


@public
def gravity_forces(robot: PlanarRobot) -> sp.ImmutableMatrix:
    """Forces that hold a planar robot at rest, matrix, (nv, 1): base wrench in its own axes and joint forces, N and N m.

    Source: decoupling thesis, (4.12)."""
    U = sp.Matrix([potential_energy(robot)])
    return reduce_products((U.jacobian(robot.variables.position) * robot.variables.rates).T)


@public
def kinetic_energy(robot: PlanarRobot) -> sp.Expr:
    """Kinetic energy of a planar robot.

    Returns: expression, J."""
    M = mass_matrix(robot)
    v = sp.Matrix(robot.variables.velocity)
    return sp.expand((v.T * M * v)[0] / 2)


@public
def potential_energy(robot: PlanarRobot) -> sp.Expr:
    """Potential energy of a planar robot, zero at the world's origin.

    Returns: expression, J.
    Source: decoupling thesis, (4.11)."""
    height = robot.variables.position[1]
    above = (frame_pose(robot, BASE, reference="world").rotation * _moments(robot))[1]
    return robot.gravity * robot.mass * height + reduce_products(robot.gravity * above)


@public
def center_of_mass(robot: PlanarRobot, *, reference: Literal["base", "world"] = "world") -> sp.ImmutableMatrix:
    """Centre of mass of a planar robot, matrix, (2, 1), m.

    Args:
        reference: "base" or "world". Frame of expression, o_bc or o_ic of the decoupling thesis."""
    base = frame_pose(robot, BASE, reference=reference)
    return sp.ImmutableMatrix(base.origin + reduce_products(base.rotation * _moments(robot)) / robot.mass)


@public
def momentum(robot: PlanarRobot) -> sp.ImmutableMatrix:
    """Momentum h_b of a planar robot about the base's origin, in the base's axes.

    Returns: matrix, (3, 1): [linear; angular], kg m/s and kg m^2/s.
    Source: decoupling thesis, (3.65). In a frame c it is adjoint(H_cb)^-T times this (3.69)."""
    return reduce_products(mass_matrix(robot)[:3, :] * sp.Matrix(robot.variables.velocity))


@public
def inverse_mass_matrix(robot: PlanarRobot) -> sp.ImmutableMatrix:
    """Inverse of the mass matrix of a planar robot, matrix, (nv, nv).

    Raises: InputError for mass matrices that are singular in every posture."""
    M = mass_matrix(robot)
    determinant = reduce_products(M.det(method="berkowitz"))
    if determinant == 0:
        raise ff.InputError("the mass matrix is singular in every posture: some coordinate moves nothing with mass")
    return M.adjugate(method="berkowitz").applyfunc(lambda e: cancel_factors(e / determinant))


def _links(robot: PlanarRobot) -> list[tuple[sp.ImmutableMatrix, LinkInertia, Pose]]:
    """Twist Jacobian J_jb (3, nv), inertia, and pose in the base, of each frame with masses."""
    check_robot(robot)
    found, n = [], len(robot.joints)
    for frame in dict.fromkeys(m.frame for m in robot.masses):
        rows = [m for m in robot.masses if m.frame == frame]
        inertia = link_inertia([(m.x, m.y) for m in rows], [m.mass for m in rows], [m.inertia for m in rows])
        pose = frame_pose(robot, frame)
        joints = twist_jacobian(pose, robot.variables)[:, 3:] if n else sp.zeros(3, 0)
        found.append((sp.ImmutableMatrix(adjoint(pose.inverse).row_join(joints)), inertia, pose))
    return found


def _moments(robot: PlanarRobot) -> sp.Matrix:
    """Sum of mass times centre over the links, in the base (2, 1)."""
    centers = ((inertia.mass, pose @ Pose(sp.S.Zero, inertia.center)) for _, inertia, pose in _links(robot))
    return sum((mass * center.origin for mass, center in centers), sp.zeros(2, 1))


def _passive(robot: PlanarRobot) -> sp.ImmutableMatrix:
    """(3.41), as lines 182-189 of the sample program."""
    v, total = sp.Matrix(robot.variables.velocity), sp.zeros(len(robot.variables.velocity))
    for J, inertia, _ in _links(robot):
        a, Lambda = twist_adjoint(J * v), inertia.matrix
        total += J.T * ((Lambda * a - a.T * Lambda) * J + Lambda * ff.symbolic.time_derivative(J, robot.variables))
    return reduce_products(total)


def _hamel(robot: PlanarRobot) -> sp.ImmutableMatrix:
    """(3.39)."""
    M, v, joints = mass_matrix(robot), sp.Matrix(robot.variables.velocity), robot.joints
    rate = ff.symbolic.time_derivative(M, robot.variables)
    C = sp.Matrix(rate)
    C[:3, :] -= twist_adjoint(v[:3]).T * M[:3, :]
    for i, q in enumerate(joints, 3):
        D = M.diff(q)
        base = v[:3, :].T * D[:3, :]
        C[i, :3] -= base[:, :3] / 2
        C[i, 3:] -= base[:, 3:] + v[3:, :].T * D[3:, 3:] / 2
    return reduce_products(C)


@public
def locked_velocity_map(robot: PlanarRobot) -> sp.ImmutableMatrix:
    """Map T = M_bb^-1 M_bq: the locked velocity of a planar robot is the base's twist plus T times the joint rates.

    Returns: matrix, (3, n), rows [vx, vy, omega] in the base's axes.
    Raises: InputError for robots of one point mass, whose rotation has no inertia.
    Source: decoupling thesis, (3.66) and (3.70). With the centre of mass c(q), and h and I the angular momentum and the inertia
    about it, the columns are T_omega = h / I and T_v = dc/dq - T_omega S c. No 3 x 3 matrix is inverted.

    Examples:
        >>> freeflyer_papers.planar.locked_velocity_map(freeflyer_papers.planar.prismatic_hopper())
        Matrix([
        [m_11/(m_01 + m_11)],
        [                 0],
        [                 0]])
    """
    M, c = mass_matrix(robot), center_of_mass(robot, reference="base")
    m, lever = robot.mass, (S * c).T
    inertia = reduce_products(M[2, 2] - m * (c.T * c)[0])
    if inertia == 0:
        raise ff.InputError("all mass is in one point: the robot's rotation has no inertia, and no locked velocity")
    columns = []
    for j in range(3, M.shape[1]):
        slope = M[:2, j] / m  # of the centre of mass, by the joint
        omega = cancel_factors((M[2, j] - m * (lever * slope)[0]) / inertia)
        columns.append(sp.Matrix.vstack((slope - omega * S * c).applyfunc(cancel_factors), sp.Matrix([omega])))
    return sp.ImmutableMatrix(sp.Matrix.hstack(*columns) if columns else sp.zeros(3, 0))


@public
def integrability_residuals(robot: PlanarRobot) -> dict[tuple[int, int], sp.ImmutableMatrix]:
    """Left sides of the condition that a frame aligned with the locked velocity is a function of the posture, by pairs of joints.

    Returns: dict, (i, j) of joints, from 0, to (3, 1), rows [v; omega]: zero everywhere where the frame exists. Empty for one
    joint.
    Source: decoupling thesis, (3.73)."""
    return {pair: reduce_products(residual) for pair, residual in _residuals(robot).items()}


@public
def is_integrable(robot: PlanarRobot) -> bool:
    """Whether a centre-of-mass frame aligned with the locked velocity is a function of the posture.

    Returns: bool, always True for one joint; for more, generally False.
    Source: decoupling thesis, lemma 3.4."""
    return all(is_zero(residual) for residual in _residuals(robot).values())


@public
def com_frame_angle(robot: PlanarRobot) -> sp.Expr:
    """Angle theta_bc of the centre-of-mass frame that turns with the locked velocity, for robots of one joint.

    Integral of T_omega over q1 (decoupling thesis, eq. (3.75)). T_omega = (A + B cos q) / (a + b cos q) and k = sqrt((a - b)
    / (a + b)) give B q / b + (A b - B a) / (b sqrt(a^2 - b^2)) (q - 2 atan((1 - k) sin q / (1 + k + (1 - k) cos q))). The
    thesis writes 2 atan(k tan(q / 2)) for the last bracket, which jumps at q = pi.

    Returns: expression, rad, in the base; zero at q1 = 0, and without jumps.
    Raises: InputError for other than one joint (with more, the angle generally depends on the path), and if the integral
    lacks such a closed form.

    Examples:
        >>> freeflyer_papers.planar.com_frame_angle(freeflyer_papers.planar.prismatic_hopper())
        0
    """
    check_robot(robot)
    if len(robot.joints) != 1:
        raise ff.InputError(f"the angle is a function of the posture for one joint; {len(robot.joints)} joints: integrate "
            "T_omega along the path")
    q, rate = robot.joints[0], locked_velocity_map(robot)[2, 0]
    c = sp.cos(q)
    top, bottom = (sp.expand(e) for e in sp.fraction(rate))
    A, B, a, b = top.coeff(c, 0), top.coeff(c, 1), bottom.coeff(c, 0), bottom.coeff(c, 1)
    if any(e.has(q) for e in (A, B, a, b)) or top != sp.expand(A + B * c) or bottom != sp.expand(a + b * c):
        raise ff.InputError(f"the integral of {rate} over {q} has no closed form here: integrate it numerically")
    if b == 0:
        return sp.expand((A * q + B * sp.sin(q)) / a)
    k = sp.sqrt((a - b) / (a + b))
    turn = q - 2 * sp.atan((1 - k) * sp.sin(q) / (1 + k + (1 - k) * c))
    return sp.cancel(B / b) * q + sp.factor(A * b - B * a) / (b * sp.sqrt(sp.factor(a**2 - b**2))) * turn


def _residuals(robot: PlanarRobot) -> dict[tuple[int, int], sp.Matrix]:
    """(3.73), as it stands."""
    T, q, found = locked_velocity_map(robot), robot.joints, {}
    for i, j in combinations(range(len(q)), 2):
        omega = T[2, i].diff(q[j]) - T[2, j].diff(q[i])
        v = T[:2, i].diff(q[j]) - T[:2, j].diff(q[i]) + T[2, i] * S * T[:2, j] - T[2, j] * S * T[:2, i]
        found[i, j] = sp.Matrix.vstack(v, sp.Matrix([omega]))
    return found


def cancel_factors(x: sp.Expr) -> sp.Expr:
    """A quotient of polynomials in symbols, sines and cosines, without common factors."""
    top, bottom = sp.fraction(reduce_products(x))
    waves = {wave: sp.Dummy() for wave in top.atoms(sp.sin, sp.cos) | bottom.atoms(sp.sin, sp.cos)}
    top, bottom = (e.xreplace({symbol: wave for wave, symbol in waves.items()})
                   for e in sp.fraction(sp.cancel((top / bottom).xreplace(waves))))
    return sp.factor_terms(top) / sp.factor_terms(bottom)
