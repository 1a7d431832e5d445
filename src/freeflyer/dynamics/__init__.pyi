"""Names of the room for the rooms above it, and where they are defined; each is imported when it is first used."""

from .centroidal import (
    center_of_mass as center_of_mass, center_of_mass_jacobian as center_of_mass_jacobian, center_of_mass_velocity as
    center_of_mass_velocity, centroidal_momentum as centroidal_momentum, centroidal_momentum_matrix as
    centroidal_momentum_matrix,
)
from .closed import (
    add_forces as add_forces, chain as chain, chain_forces as chain_forces, load_forces as load_forces, motion as motion,
    multiply as multiply, project_coriolis as project_coriolis, project_forces as project_forces, reduction_of as reduction_of,
    run as run, velocity_map as velocity_map, velocity_map_bias as velocity_map_bias,
)
from .derivatives import (
    ForwardDynamicsDerivatives as ForwardDynamicsDerivatives, InverseDynamicsDerivatives as InverseDynamicsDerivatives,
    forward_dynamics_derivatives as forward_dynamics_derivatives, inverse_dynamics_derivatives as
    inverse_dynamics_derivatives,
)
from .equations import (
    bias_forces as bias_forces, coriolis_matrix as coriolis_matrix, forward_dynamics as forward_dynamics, gravity_forces as
    gravity_forces, inverse_dynamics as inverse_dynamics, inverse_mass_matrix as inverse_mass_matrix, kinetic_energy as
    kinetic_energy, mass_matrix as mass_matrix, potential_energy as potential_energy,
)
from .evaluate import (
    get_threads as get_threads, leading_axes as leading_axes, run_chunks as run_chunks, set_threads as set_threads, singular as
    singular,
)
from .frame_sets import FrameSet as FrameSet, Frames as Frames, frame_set as frame_set, frames_of as frames_of
from .frames import (
    frame_acceleration as frame_acceleration, frame_acceleration_derivatives as frame_acceleration_derivatives,
    frame_bias_acceleration as frame_bias_acceleration, frame_jacobian as frame_jacobian, frame_pose as frame_pose,
    frame_velocity as frame_velocity, frame_velocity_derivatives as frame_velocity_derivatives,
)
from .integrators import Integrator as Integrator, scheme_of as scheme_of
from .linearization import FREE as FREE, Linearization as Linearization, linearized_step as linearized_step
from .loads import (
    EXPRESSED as EXPRESSED, Expressed as Expressed, Wrenches as Wrenches, expression as expression, plain_array as
    plain_array, run_loaded as run_loaded,
)
from .manifold import (
    body_twist as body_twist, difference as difference, integrate as integrate, quaternion_blocks as quaternion_blocks,
)
from .specialized import specializable as specializable, specialize as specialize
