"""EIDAmb (geometric linearisation paper, Table 4) beside the compiled inverse dynamics, which is another algorithm in other
axes."""

import freeflyer as ff
import numpy as np
import pytest
from closeness import close, fresh
from freeflyer_papers.printed import geometric
from geometric_cases import robot_and_state, state


@pytest.mark.parametrize("base", ["free", "fixed"])
def test_both_readings_of_the_base_wrench(base):
    """Line 40 through F and b^vp, and through b^c."""
    model, q, v, a = robot_and_state(base, 0.0, 3)
    e = geometric.motion_pass(geometric.tree_of(model), q, v, a)
    close(e.tau_base, e.base_wrench_short, 1e-13)
    assert np.abs(e.tau_base).max() > 1.0


def test_bodies_and_fixed_robots():
    """At rest, the wrench at a base that does not move carries the weight."""
    drawn = (robot_and_state("fixed", 0.0, seed) for seed in range(4, 100))
    model, q, v, _ = next(x for x in drawn if x[0].joints[0].kind != "free")  # a free first joint makes its child the base
    e = geometric.motion_pass(geometric.tree_of(model), q, 0.0 * v, 0.0 * v)
    carried = ff.mass_matrix(model, q)  # what moves; link_0 is bolted to the world and no part of the Model
    assert len(carried) == model.nv
    close(e.tau_base[:3], -model.mass * model.gravity, 1e-13)
    com = ff.center_of_mass(model, q)
    close(e.tau_base[3:], np.cross(com, -model.mass * model.gravity), 1e-12)
    # No joints: Newton and Euler
    c, I, m = np.array([0.1, -0.2, 0.3]), np.diag([0.3, 0.4, 0.5]), 2.0
    links = (ff.Link("stone", ff.Inertia(m, c, I)),)
    model = ff.build(ff.Description("stone", links, (ff.Joint("root", "free", "world", "stone"),)))
    q, v, a = state(model, fresh(0))
    R = ff.spatial.se3.from_position_quaternion(q[:3], q[3:])[:3, :3]
    w, dw = v[3:], a[3:]
    point = a[:3] + np.cross(w, v[:3]) + np.cross(dw, c) + np.cross(w, np.cross(w, c)) - R.T @ model.gravity
    force = m * point
    torque = I @ dw + np.cross(w, I @ w) + np.cross(c, force)
    close(ff.formulations.inverse_dynamics(model, q, v, a, by="geometric"), np.concatenate([force, torque]), 1e-13)
    links = (ff.Link("rock", ff.Inertia(1.0, np.zeros(3), np.eye(3))),)
    model = ff.build(ff.Description("rock", links, (ff.Joint("bolt", "fixed", "world", "rock"),)))
    none = np.empty(0)
    assert ff.formulations.inverse_dynamics(model, none, none, none, by="geometric").shape == (0,)
    assert geometric.inverse_dynamics_derivatives(model, none, none, none).dq.shape == (0, 0)
    assert geometric.forward_dynamics_derivatives(model, none, none, none).dtau.shape == (0, 0)
