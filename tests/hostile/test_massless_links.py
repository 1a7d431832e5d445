"""Mass matrices that massless links make singular are refused by name; those that are nearly so are inverted."""

import freeflyer as ff
import numpy as np
import pytest
from closeness import fresh, refused

NOTHING = ff.Inertia(0.0, np.zeros(3), np.zeros((3, 3)))
TOGETHER = r"is singular .*'j[01]', moving together with 'j[01]', moves no inertia"


def point_arm(lengths, slide=False):
    """Massless links in a row, turning about z (the first one sliding along x if `slide`), with a unit mass at the tip."""
    links, joints, parent = [], [], "world"
    for k, length in enumerate(lengths):
        tip = ff.Inertia(1.0, np.array([length, 0.0, 0.0]), np.zeros((3, 3)))
        links.append(ff.Link(f"l{k}", tip if k == len(lengths) - 1 else NOTHING))
        placement = np.eye(4)
        placement[0, 3] = lengths[k - 1] if k else 0.0
        kind, axis = ("prismatic", (1, 0, 0)) if slide and not k else ("revolute", (0, 0, 1))
        joints.append(ff.Joint(f"j{k}", kind, parent, f"l{k}", axis=axis, placement=placement))
        parent = f"l{k}"
    return ff.build(ff.Description("point arm", tuple(links), tuple(joints)))


CALLS = {"inverse_mass_matrix": lambda arm, q: ff.inverse_mass_matrix(arm, q),
         "forward_dynamics": lambda arm, q: ff.forward_dynamics(arm, q, q - 1.0, q + 2.0),
         "forward_dynamics_derivatives": lambda arm, q: ff.forward_dynamics_derivatives(arm, q, q - 1.0, q + 2.0)}  # fmt: skip


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("turn", [0.0, 0.3, 2.0, np.pi / 2])
@pytest.mark.parametrize("elbow", [0.0, np.pi])
@pytest.mark.parametrize("call", CALLS)
def test_straight_arms_are_singular(call, scale, turn, elbow):
    """A point in the plane has two directions to move in: a straight arm gives it one, whatever the first joint does."""
    arm, q = point_arm((0.3 * scale, 0.7 * scale)), np.array([turn, elbow])
    for state in (q, np.stack([[turn, 1.0], q])):
        refused(ff.InputError, TOGETHER, CALLS[call], arm, state)


@pytest.mark.parametrize("elbow", [1e-4, 1e-3, 0.1, 1.5, np.pi - 1e-3])
def test_nearly_straight_arms_are_not(elbow):
    """The mass matrix of two columns of a point's Jacobian is small, not zero."""
    arm, q = point_arm((0.3, 0.7)), np.array([0.4, elbow])
    M = ff.mass_matrix(arm, q)
    assert np.abs(ff.inverse_mass_matrix(arm, q) @ M - np.eye(2)).max() < 1e-14 * np.linalg.cond(M)


@pytest.mark.parametrize("slide", [False, True])
@pytest.mark.parametrize("call", CALLS)
def test_a_point_with_three_joints_in_the_plane_is_singular_everywhere(call, slide):
    arm = point_arm((0.3, 0.7, 0.2), slide)
    for q in fresh(1).uniform(0.1, 2.0, (20, 3)) * fresh(2).choice([-1.0, 1.0], (20, 3)):
        refused(ff.InputError, "is singular", CALLS[call], arm, q)
