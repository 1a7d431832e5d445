"""Public names of the room and where they are defined; each is imported when it is first used."""

from .base import blocks as blocks, coriolis_matrix as coriolis_matrix, link_jacobian as link_jacobian
from .decoupled_forms import decouple as decouple, invariance as invariance
from .momenta import (
    external_internal as external_internal, external_jacobian as external_jacobian,
    external_velocity as external_velocity, internal_jacobian as internal_jacobian,
    internal_velocity as internal_velocity)
from .momenta import (
    Map as Map, constants_of_motion as constants_of_motion, frame_map as frame_map, locked_velocity as locked_velocity,
    momentum_map as momentum_map, total_momentum as total_momentum)
from .orientation import center_of_mass_angle as center_of_mass_angle, integrability as integrability
