"""The symbolic toolbox of the decoupling thesis (appendix A.2): planar robots with floating bases, SE(2) x R^n, in closed form.

    robot = freeflyer_papers.planar.revolute_hopper()
    M = freeflyer_papers.planar.mass_matrix(robot)

A robot is its tables: where each joint's frame stands in the one before (4.1), and the masses on each frame (4.3). Velocities are
those of the base in its own axes, then those of the joints."""

from freeflyer_papers.planar.chain import frame_pose, prismatic_hopper, revolute_hopper, robot, variables
from freeflyer_papers.planar.equations import (
    center_of_mass, com_frame_angle, coriolis_matrix, gravity_forces, integrability_residuals, inverse_mass_matrix, is_integrable,
    kinetic_energy, locked_velocity_map, mass_matrix, momentum, potential_energy)
from freeflyer_papers.planar.poses import Pose, adjoint, link_inertia, pose_of, rotation_matrix, twist_adjoint, twist_jacobian

__all__ = [
    "Pose", "adjoint", "center_of_mass", "com_frame_angle", "coriolis_matrix", "frame_pose", "gravity_forces",
    "integrability_residuals", "inverse_mass_matrix", "is_integrable", "kinetic_energy", "link_inertia", "locked_velocity_map",
    "mass_matrix", "momentum", "pose_of", "potential_energy", "prismatic_hopper", "revolute_hopper", "robot", "rotation_matrix",
    "twist_adjoint", "twist_jacobian", "variables"]  # fmt: skip
