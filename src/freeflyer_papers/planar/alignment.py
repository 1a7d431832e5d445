"""A centre-of-mass frame that turns with the locked velocity: when its angle is a function of the posture (decoupling thesis,
3.2.4)."""

from __future__ import annotations

from itertools import combinations

import sympy as sp

from freeflyer.errors import InputError
from freeflyer.model.public import public
from freeflyer.symbolic.trigonometry import cancel_factors, is_zero, reduce_products
from freeflyer_papers.planar.chain import PlanarRobot, check_robot
from freeflyer_papers.planar.equations import center_of_mass, mass_matrix
from freeflyer_papers.planar.poses import S


@public
def locked_velocity_map(robot: PlanarRobot) -> sp.ImmutableMatrix:
    """Map T = M_bb^-1 M_bq: the locked velocity of a planar robot is the base's twist plus T times the joint rates.

    Returns: matrix, (3, n), rows [vx, vy, omega] in the base's axes.
    Raises: InputError for other than planar robots, and robots of one point mass, whose rotation has no inertia.
    Source: Papers/004, (3.66) and (3.70). With the centre of mass c(q), the angular momentum about it h and the inertia about
    it I, the columns are T_omega = h / I and T_v = dc/dq - T_omega S c. No 3 x 3 matrix is inverted.

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
        raise InputError("all mass is in one point: the robot's rotation has no inertia, and no locked velocity")
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
    Raises: InputError as `locked_velocity_map`.
    Source: Papers/004, (3.73).

    Examples:
        >>> freeflyer_papers.planar.integrability_residuals(freeflyer_papers.planar.revolute_hopper())
        {}
    """
    return {pair: reduce_products(residual) for pair, residual in _residuals(robot).items()}


@public
def is_integrable(robot: PlanarRobot) -> bool:
    """Whether a centre-of-mass frame aligned with the locked velocity is a function of the posture.

    Returns: bool, always True for one joint; for more, generally False.
    Raises: InputError as `locked_velocity_map`.
    Source: Papers/004, lemma 3.4.

    Examples:
        >>> freeflyer_papers.planar.is_integrable(freeflyer_papers.planar.revolute_hopper())
        True
    """
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
        raise InputError(
            f"the angle is a function of the posture for one joint; {len(robot.joints)} joints: integrate T_omega along the path"
        )
    q, rate = robot.joints[0], locked_velocity_map(robot)[2, 0]
    c = sp.cos(q)
    top, bottom = (sp.expand(e) for e in sp.fraction(rate))
    A, B, a, b = top.coeff(c, 0), top.coeff(c, 1), bottom.coeff(c, 0), bottom.coeff(c, 1)
    if any(e.has(q) for e in (A, B, a, b)) or top != sp.expand(A + B * c) or bottom != sp.expand(a + b * c):
        raise InputError(f"the integral of {rate} over {q} has no closed form here: integrate it numerically")
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
