"""What the public functions become for coordinates="independent"."""

from freeflyer.dynamics.closed.derivatives import forward_dynamics_derivatives, inverse_dynamics_derivatives
from freeflyer.dynamics.closed.equations import (
    bias_forces,
    coriolis_matrix,
    forward_dynamics,
    gravity_forces,
    inverse_dynamics,
    inverse_mass_matrix,
    kinetic_energy,
    mass_matrix,
)
from freeflyer.dynamics.closed.linearization import linearize
from freeflyer.dynamics.closed.motion import (
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
from freeflyer.dynamics.closed.running import projected

__all__ = [
    "bias_forces", "center_of_mass_jacobian", "centroidal_bias", "centroidal_momentum", "centroidal_momentum_matrix",
    "coriolis_matrix", "difference", "forward_dynamics", "forward_dynamics_derivatives", "frame_bias_acceleration",
    "frame_jacobian", "frame_velocity", "gravity_forces", "integrate", "inverse_dynamics", "inverse_dynamics_derivatives",
    "inverse_mass_matrix", "kinetic_energy", "linearize", "mass_matrix", "projected",
]  # fmt: skip
