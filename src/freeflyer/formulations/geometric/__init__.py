"""Geometric linearisation of moving-base robots (geometric linearisation paper): EIDAmb, its derivatives, IMMAmb.

    from freeflyer.formulations import geometric

    d = geometric.inverse_dynamics_derivatives(model, q, v, a)    # d.dq, d.dv, d.da in the tangent space

Each table of the paper is one file, in plain NumPy, commented with the table's lines: `eidamb` (4), `by_pose` (5), `by_shape` (6),
`by_base_velocity` (7), `by_joint_velocity` (8), `immamb` (9). All joint kinds, mimic joints, floating and fixed bases."""

from freeflyer.formulations.geometric.base_velocity import (
    derivative_by_inertial_twist,
    pose_derivative_with_body_twist,
    pose_derivative_with_inertial_twist,
)
from freeflyer.formulations.geometric.by_base_velocity import derivative_by_base_velocity
from freeflyer.formulations.geometric.by_joint_velocity import derivative_by_joint_velocity
from freeflyer.formulations.geometric.by_pose import derivative_by_pose
from freeflyer.formulations.geometric.by_shape import derivative_by_shape
from freeflyer.formulations.geometric.eidamb import Pass, eidamb
from freeflyer.formulations.geometric.immamb import immamb
from freeflyer.formulations.geometric.joints import base_pose
from freeflyer.formulations.geometric.library import (
    forces_of,
    forward_dynamics_derivatives,
    inverse_dynamics,
    inverse_dynamics_derivatives,
    inverse_mass_matrix,
    linearize,
    mass_matrix_of,
    motion_pass,
)
from freeflyer.formulations.geometric.tree import Tree, tree_of

__all__ = [
    "Pass", "Tree", "base_pose",
    "derivative_by_base_velocity", "derivative_by_inertial_twist", "derivative_by_joint_velocity", "derivative_by_pose",
    "derivative_by_shape", "eidamb", "forces_of", "forward_dynamics_derivatives", "immamb", "inverse_dynamics",
    "inverse_dynamics_derivatives", "inverse_mass_matrix", "linearize", "mass_matrix_of", "motion_pass",
    "pose_derivative_with_body_twist", "pose_derivative_with_inertial_twist", "tree_of",
]  # fmt: skip
