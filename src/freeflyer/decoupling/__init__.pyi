"""Public names of the room and where they are defined; each is imported when it is first used."""

from .base import Blocks as Blocks, LinkJacobian as LinkJacobian, blocks as blocks, link_jacobian as link_jacobian
from .coriolis import coriolis_matrix as coriolis_matrix
from .decoupled_forms import (
    Decoupled as Decoupled,
    Invariance as Invariance,
    decouple as decouple,
    invariance as invariance,
)
from .external import (
    ExternalInternal as ExternalInternal,
    external_internal as external_internal,
    external_jacobian as external_jacobian,
    external_velocity as external_velocity,
    internal_jacobian as internal_jacobian,
    internal_velocity as internal_velocity,
)
from .integrability import Integrability as Integrability, integrability as integrability
from .maps import Map as Map, frame_map as frame_map, momentum_map as momentum_map
from .momenta import (
    ConstantsOfMotion as ConstantsOfMotion,
    constants_of_motion as constants_of_motion,
    locked_velocity as locked_velocity,
    total_momentum as total_momentum,
)
from .orientation import CenterOfMassAngle as CenterOfMassAngle, center_of_mass_angle as center_of_mass_angle
