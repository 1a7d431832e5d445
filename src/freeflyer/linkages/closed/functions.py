"""What the public functions are for a closed model (see `closed`): the table by which they find these."""

from freeflyer.linkages.closed.calls import velocity_map
from freeflyer.linkages.closed.derivatives import forward_dynamics_derivatives, inverse_dynamics_derivatives
from freeflyer.linkages.closed.dynamics import (
    bias_forces,
    coriolis_matrix,
    forward_dynamics,
    gravity_forces,
    inverse_dynamics,
    inverse_mass_matrix,
    kinetic_energy,
    mass_matrix,
)
from freeflyer.linkages.closed.linearization import rates
from freeflyer.linkages.closed.motion import (
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
from freeflyer.linkages.closed.motion_derivatives import (
    centroidal_momentum_derivatives,
    centroidal_momentum_rate,
    centroidal_momentum_rate_derivatives,
    frame_acceleration,
    frame_acceleration_derivatives,
    frame_velocity_derivatives,
)
from freeflyer.linkages.closed.moves import difference_derivatives, move_derivatives, random_configuration
from freeflyer.linkages.closed.second_order import complex_gradient
from freeflyer.linkages.closed.states import independent_state, passive_forces, whole_state
from freeflyer.linkages.closed.terms import all_terms

__all__ = [
    "all_terms", "bias_forces", "center_of_mass_jacobian", "centroidal_bias", "centroidal_momentum",
    "centroidal_momentum_derivatives", "centroidal_momentum_matrix", "centroidal_momentum_rate",
    "centroidal_momentum_rate_derivatives", "complex_gradient", "coriolis_matrix", "difference",
    "difference_derivatives", "forward_dynamics", "forward_dynamics_derivatives", "frame_acceleration",
    "frame_acceleration_derivatives", "frame_bias_acceleration", "frame_jacobian", "frame_velocity",
    "frame_velocity_derivatives", "gravity_forces", "independent_state", "integrate", "inverse_dynamics",
    "inverse_dynamics_derivatives", "inverse_mass_matrix", "kinetic_energy", "mass_matrix", "move_derivatives",
    "passive_forces", "random_configuration", "rates", "velocity_map", "whole_state",
]  # fmt: skip
