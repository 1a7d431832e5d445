"""What the public functions become for coordinates="independent"."""

from freeflyer.constraints.reduced_derivatives import forward_dynamics_derivatives, inverse_dynamics_derivatives
from freeflyer.constraints.reduced_dynamics import (
    bias_forces,
    coriolis_matrix,
    forward_dynamics,
    gravity_forces,
    inverse_dynamics,
    inverse_mass_matrix,
    kinetic_energy,
    mass_matrix,
)
from freeflyer.constraints.reduced_linearization import linearize
from freeflyer.constraints.reduced_motion import (
    center_of_mass_jacobian,
    centroidal_bias,
    centroidal_momentum,
    centroidal_momentum_matrix,
    difference,
    frame_bias_acceleration,
    frame_jacobian,
    frame_velocity,
    integrate,
)
from freeflyer.constraints.running import projected

__all__ = [
    "bias_forces", "center_of_mass_jacobian", "centroidal_bias", "centroidal_momentum", "centroidal_momentum_matrix",
    "coriolis_matrix", "difference", "forward_dynamics", "forward_dynamics_derivatives", "frame_bias_acceleration",
    "frame_jacobian", "frame_velocity", "gravity_forces", "integrate", "inverse_dynamics", "inverse_dynamics_derivatives",
    "inverse_mass_matrix", "kinetic_energy", "linearize", "mass_matrix", "projected",
]  # fmt: skip
