"""The sample program of appendix A.2.1, line by line: everything that the simulation of the revolute hopper needs, in symbols."""

from __future__ import annotations

from collections import namedtuple

import sympy as sp

from freeflyer.symbolic import coefficient_matrix, is_zero, jacobian, reduce_products, time_derivative
from freeflyer_papers import planar
from freeflyer_papers.planar import Pose, adjoint, frame_pose, link_inertia, twist_adjoint, twist_jacobian


class SampleProgram(namedtuple("SampleProgram",
    "robot outputs tests locked_rate printed_rate printed_angle printed_momentum printed_radial")):  # fmt: skip
    """Results of the program: the matrices that it prints (lines 326-350) by the thesis's names, its tests, and the CoM frame.

    `tests`: whether each statement is proved. `locked_rate`: w_bc / qdot (line 218); `printed_rate`, `printed_angle`: its form in
    lines 224-229 and the angle in line 228. `printed_momentum`, `printed_radial`: h_inertc by line 287 and the radial Jacobian by
    (4.24), as they are printed."""


def sample_program() -> SampleProgram:
    """The program, its sections in the thesis's order."""
    # lines 11-75, user input and setup: state, gravity; the tables of the hopper
    robot = planar.revolute_hopper()
    state, g = robot.variables, robot.gravity
    v, q = sp.Matrix(state.velocity), state.position[3]
    m01, m02, m11 = (mass.mass for mass in robot.masses)
    l = robot.frames[0].x
    # lines 84-92 and 116-122: poses
    H_ib, H_i1, H_if = (frame_pose(robot, frame, reference="world") for frame in ("base", "1", "foot"))
    H_b1, H_bf = (frame_pose(robot, frame) for frame in ("1", "foot"))
    # lines 95-113: inertias of the links
    base, shank = link_inertia([(0, 0), (l / 2, 0)], [m01, m02], [0, 0]), link_inertia([(l / 2, 0)], [m11], [0])
    # lines 124-149: centre of mass in the base and in the world
    m = base.mass + shank.mass
    o_bc = reduce_products((base.mass * base.center + shank.mass * (H_b1 @ Pose(sp.S.Zero, shank.center)).origin) / m)
    moment = base.mass * (H_ib @ Pose(sp.S.Zero, base.center)).origin + shank.mass * (H_i1 @ Pose(sp.S.Zero, shank.center)).origin
    o_ic = reduce_products(moment / m)
    # lines 151-175: Jacobians, their rates, adjoints of the links' twists
    J_b, J_1, J_f = (twist_jacobian(H, state) for H in (H_ib, H_i1, H_if))
    links = [(J, inertia.matrix, twist_adjoint(J * v)) for J, inertia in ((J_b, base), (J_1, shank))]
    a_ib = links[0][2]
    # lines 178-180: mass matrix
    M = reduce_products(sum((J.T * L * J for J, L, _ in links), sp.zeros(4)))
    M_rate = time_derivative(M, state)
    # lines 183-190: Coriolis matrix, Euler-Newton
    C_psi = reduce_products(sum((J.T * (L * a - a.T * L) * J for J, L, a in links), sp.zeros(4)))
    C = reduce_products(C_psi + sum((J.T * L * time_derivative(J, state) for J, L, _ in links), sp.zeros(4)))
    # lines 193-204: Coriolis matrix by the Lagrangian
    kinetic = (v.T * M * v)[0] / 2
    C_lagrange = sp.Matrix(M_rate)
    C_lagrange[:3, :] -= a_ib.T * M[:3, :]
    C_lagrange[3:, :] -= coefficient_matrix([kinetic.diff(q)], state.velocity)[0]
    # lines 207-212: potential energy and its forces
    potential = reduce_products(sp.expand(g * m * o_ic[1]))
    G = sp.Matrix([potential]).jacobian(state.position).T
    G[:2, :] = H_ib.rotation.T * G[:2, :]
    # lines 215-235: the frame that turns with the locked velocity
    T = planar.locked_velocity_map(robot)
    A, B = m01 * m11 + m02 * m11, 2 * m01 * m11 + m02 * m11
    a, b = m01 * m02 + 5 * m01 * m11 + 2 * m02 * m11, 2 * B
    root = sp.sqrt(a**2 - b**2)
    printed_angle = B * q / b + 2 * sp.atan(sp.tan(q / 2) * root / (a + b)) * (A * b - B * a) / (b * root)
    theta_bc = planar.com_frame_angle(robot)
    H_bc = Pose(theta_bc, o_bc)
    # lines 237-247 and 257-267: from the centre of mass to the foot
    b_o_cf = H_bf.origin - o_bc
    i_o_cf = reduce_products(H_ib.rotation * b_o_cf)
    R_cf = (H_bc.inverse @ H_bf).rotation
    o_cf = H_bc.rotation.T * b_o_cf
    # lines 269-280 and 294-306: radial and polar Jacobians, that of the internal velocity, those of the controllers
    P_int = sp.Matrix.vstack(-T, sp.eye(1))
    P_int = sp.zeros(4, 3).row_join(P_int)
    # rows by which the rate of a line gives that of its length, and of its angle
    J_r, as_in_4_24 = (o.T / sp.sqrt(o[0] ** 2 + o[1] ** 2) * R_cf * J_f[:2, :] * P_int for o in (o_cf, i_o_cf))
    J_alpha = sp.Matrix([[-i_o_cf[1], i_o_cf[0]]]) / (i_o_cf[0] ** 2 + i_o_cf[1] ** 2) * jacobian(i_o_cf, state)
    alpha_c = state.position[2] + theta_bc + sp.pi / 2
    # lines 283-287: momentum about the centre of mass, in the axes of its frame and of the world
    h_b = reduce_products(M[:3, :] * v)
    H_cb = Pose(sp.S.Zero, o_ic).inverse @ H_ib  # of a frame there that does not turn
    outputs = {
        "Mb": M, "MbI": planar.inverse_mass_matrix(robot), "Cbp": C, "Gb": reduce_products(G), "E_pot": potential,
        "o_i1": H_i1.origin, "o_if": H_if.origin, "o_ic": o_ic, "o_cf": o_cf,
        "Jodot_i1": jacobian(H_i1.origin, state), "Jodot_if": jacobian(H_if.origin, state), "Jodot_ic": jacobian(o_ic, state),
        "Jodot_cf": jacobian(o_cf, state), "Jalpha_iodot_cf": J_alpha, "Jrdot_cf": J_r, "alpha_c": alpha_c,
        "Jalphadot_c": jacobian(alpha_c, state), "h_c": adjoint(H_bc).T * h_b, "h_inertc": adjoint(H_cb.inverse).T * h_b}
    # lines 309-324: consistency tests
    tests = {
        "CbPsi + CbPsi^T must be zero": is_zero(C_psi + C_psi.T),
        "Cbp must be passive: Mbdot - Cbp - Cbp^T = 0": is_zero(M_rate - C - C.T),
        "Coriolis vectors of Euler-Newton and Lagrange must be the same": is_zero((C - C_lagrange) * v)}
    as_printed = adjoint(Pose(sp.S.Zero, o_ic).inverse).T * h_b
    printed_rate = (A + B * sp.cos(q)) / (a + b * sp.cos(q))
    return SampleProgram(robot, outputs, tests, T[2, 0], printed_rate, printed_angle, as_printed, as_in_4_24)
