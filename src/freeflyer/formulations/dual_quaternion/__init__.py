"""Newton-Euler dynamics in dual quaternion algebra (dual quaternion paper, section 3): dqNE.

    from freeflyer.formulations import dual_quaternion

    tau = dual_quaternion.inverse_dynamics(model, q, v, a)

`equations`: the compiled algorithm over pure dual quaternions, for trees and closed robots, in batches. `printed`: the recursion as
the paper prints it, for any joint whose pose, twist and twist rate are given."""

from freeflyer.formulations.dual_quaternion.equations import (
    coriolis_matrix,
    forward_dynamics,
    gravity_forces,
    inverse_dynamics,
    mass_matrix,
)
from freeflyer.formulations.dual_quaternion.printed import (
    Body,
    bodies_of,
    inverse_dynamics_as_printed,
    joint_force,
    joint_wrenches,
)

__all__ = [
    "Body", "bodies_of", "coriolis_matrix", "forward_dynamics", "gravity_forces", "inverse_dynamics",
    "inverse_dynamics_as_printed", "joint_force", "joint_wrenches", "mass_matrix",
]  # fmt: skip
