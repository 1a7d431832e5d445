"""Kangaroo paper, section III-B and Appendix B: the equations written out agree with closed models, solvers and each other."""

import freeflyer as ff
import numpy as np
import pytest
from closeness import close, fresh
from freeflyer_papers.kangaroo import inverse_dynamics as part, robots
from freeflyer_papers.kangaroo.inverse_dynamics import equations
from robots_on_disk import MODELS, needs_models

REAL = MODELS / "kangaroo" / "kangaroo.xml"
EITHER = [pytest.param(None, id="like"), pytest.param(REAL, id="real", marks=needs_models)]
EXACT = 1e-11  # of the largest term: 60 loop rows are solved with, of condition 1e3


@pytest.mark.parametrize("path", EITHER)
def test_projected_equations_are_those_of_the_closed_model(path):
    """(62) and (71) stacked are M, h and J of ff.close_loops, which are computed by another way."""
    rng = fresh()
    robot = robots.kangaroo(path)
    closed = ff.close_loops(robot.model)
    q = robots.home_posture(robot, rng.uniform(0.01, 0.09), ankle=0.0)
    u = 0.3 * rng.standard_normal(closed.nv)
    v = ff.velocity_map(closed, q) @ u
    e = equations(closed, q, v, robot.feet)
    M_b, h_b = e.projected_rows(e.b)
    M_a, h_a = e.projected_rows(e.a)
    M_u, h_u = e.projected_rows(e.u)
    order = np.concatenate([closed.reduction.split.base, np.searchsorted(closed.reduction.split.independent, e.a)])
    M, h = np.vstack([M_b, M_a + e.J_m.T @ M_u]), np.concatenate([h_b, h_a + e.J_m.T @ h_u])
    close(M, ff.mass_matrix(closed, q)[np.ix_(order, order)], EXACT)
    close(h, ff.bias_forces(closed, q, u)[order], EXACT, least=float(np.abs(e.h).max()))
    a = rng.standard_normal(len(order))
    F, tau = rng.standard_normal(12) * 100.0, M[6:] @ a + h[6:]
    J = np.vstack([ff.frame_jacobian(closed, q, foot.frame, expressed="body") for foot in robot.feet])[:, order]
    close(e.joint_space_torques(a, F), tau - J[:, 6:].T @ F, EXACT, least=float(np.abs(tau).max() + 1000.0))
    close(e.base_residual(a, F), M[:6] @ a + h[:6] - J[:, :6].T @ F, EXACT, least=1000.0)


def test_motors_carry_the_weight_by_the_ratio_of_the_leg():
    """At rest the three steps' forces are those that virtual work gives: motor forces times rates equal weights times rates."""
    robot = robots.kangaroo()
    closed = ff.close_loops(robot.model)
    q = robots.home_posture(robot, 0.04, ankle=0.0)
    rest = np.zeros(closed.nv)
    problem = part.base_problem(robot, q)
    solution = problem.solve(q, rest, formulation="three-step")
    v = ff.project_velocity(closed, q, fresh().standard_normal(closed.nv), constraints=problem.constraints)
    motors = [closed.tree.joint(n).iv for n in closed.actuated]
    power = solution.tau @ (ff.velocity_map(closed, q) @ v)[motors]
    lifted = 9.81 * closed.mass * (ff.center_of_mass_jacobian(closed, q) @ v)[2]
    close(power, lifted, 1e-9, least=float(np.abs(solution.tau).max() * np.abs(v).max()))
    found = (part.inverse_dynamics(robots.kangaroo()),)
    programs, agreement, base, forces = part.tables(found)
    assert [row[0] for row in programs.rows] == ["paper", "", found[0].robot, ""]
    assert {row[-1] for row in agreement.rows} == {"yes"}
    assert base.columns[2:4] == ("asked", "realised")
    assert len(forces.columns) == 1 + len(part.LENGTHS)
