"""IMMAmb (geometric linearisation paper, Table 9) beside the compiled inverse and the definition M M^-1 = 1."""

import freeflyer as ff
import numpy as np
import pytest
from closeness import close, fresh, refused
from freeflyer_papers.printed import geometric
from geometric_cases import CASES, robot_and_state, solved, state


@pytest.mark.parametrize(("base", "mimics", "seed"), CASES)
def test_is_the_inverse(base, mimics, seed):
    model, q, _, _ = robot_and_state(base, mimics, seed)
    ours = geometric.inverse_mass_matrix(model, q)
    close(ours, ff.inverse_mass_matrix(model, q), solved(model, q))
    close(ours @ ff.mass_matrix(model, q), np.eye(model.nv), solved(model, q))
    close(ours, ours.T, solved(model, q))


def test_joints_that_move_nothing_are_named():
    links = (ff.Link("body", ff.Inertia(1.0, np.zeros(3), np.eye(3))), ff.Link("flag"))
    joints = (ff.Joint("root", "free", "world", "body"), ff.Joint("pole", "revolute", "body", "flag"))
    model = ff.build(ff.Description("flagship", links, joints))
    q = ff.neutral(model)
    refused(ff.InputError, "'pole'", geometric.inverse_mass_matrix, model, q)
    refused(ff.InputError, "'pole'", geometric.forward_dynamics_derivatives, model, q, np.zeros(7), np.zeros(7))
    rotor = ff.Joint("pole", "revolute", "body", "flag", armature=(0.01,))
    model = ff.build(ff.Description("flagship", links, (joints[0], rotor)))
    assert geometric.inverse_mass_matrix(model, q)[6, 6] == pytest.approx(ff.inverse_mass_matrix(model, q)[6, 6], rel=1e-12)
    # Finger tips without mass, turning with the knuckle: the tree's mass matrix has no inverse, the robot's has
    solid = ff.Inertia(1.0, np.array([0.1, 0.2, 0.0]), 0.1 * np.eye(3))
    links = (ff.Link("hand", solid), ff.Link("knuckle", solid), ff.Link("tip"), ff.Link("nail"))
    joints = (ff.Joint("root", "free", "world", "hand"), ff.Joint("lead", "revolute", "hand", "knuckle"),
              ff.Joint("follow", "prismatic", "knuckle", "tip", mimic=ff.Mimic("lead", -0.5, 0.1)),
              ff.Joint("follow_too", "revolute", "tip", "nail", mimic=ff.Mimic("lead", 2.0)))  # fmt: skip
    model = ff.build(ff.Description("finger", links, joints))
    q, v, tau = state(model, fresh(3))
    close(geometric.inverse_mass_matrix(model, q), np.linalg.inv(ff.mass_matrix(model, q)), solved(model, q))
    ours, compiled = (geometric.forward_dynamics_derivatives(model, q, v, tau),
                      ff.forward_dynamics_derivatives(model, q, v, tau))  # fmt: skip
    close(ours.dq, compiled.dq, solved(model, q))
    close(ours.dv, compiled.dv, solved(model, q))
    model = ff.build(ff.Description("ghost", (ff.Link("ghost"),), (ff.Joint("root", "free", "world", "ghost"),)))
    refused(ff.InputError, "'root'", lambda: geometric.inverse_mass_matrix(model, ff.neutral(model)))
    # Base first, then the joints' columns; the columns below the base, which the print leaves empty, are filled
    model, q, _, _ = robot_and_state("free", 0.0, 1)
    tree = geometric.tree_of(model)
    ours = geometric.immamb(tree, q)
    close(ours, np.linalg.inv(ff.mass_matrix(model, q)), solved(model, q))
    assert np.abs(ours[6:, :6]).max() > 1e-3
