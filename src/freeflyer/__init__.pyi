"""Public names and where they are defined. `__init__.py` imports each when it is first used; type checkers read this file."""

from . import (
    analysis as analysis, contacts as contacts, control as control, decoupling as decoupling, errors as errors,
    estimation as estimation, export as export, formulations as formulations, linkages as linkages,
    optimization as optimization, report as report, robots as robots, sim as sim, spatial as spatial,
    symbolic as symbolic, viewer as viewer)
from .contacts.constrained_derivatives import constrained_dynamics_derivatives as constrained_dynamics_derivatives
from .contacts.constrained_dynamics import (
    constrained_dynamics as constrained_dynamics, constrained_inverse_dynamics as constrained_inverse_dynamics)
from .contacts.constrained_derivatives import linearize as linearize
from .contacts.constrained_dynamics import (
    impact as impact, project_configuration as project_configuration, project_velocity as project_velocity)
from .contacts.sets.constraint_set import ConstraintSet as ConstraintSet
from .dynamics.all_terms import AllTerms as AllTerms, all_terms as all_terms
from .dynamics.centroidal import (
    center_of_mass as center_of_mass, center_of_mass_acceleration as center_of_mass_acceleration,
    center_of_mass_acceleration_derivatives as center_of_mass_acceleration_derivatives,
    center_of_mass_jacobian as center_of_mass_jacobian, center_of_mass_velocity as center_of_mass_velocity,
    center_of_mass_velocity_derivatives as center_of_mass_velocity_derivatives, centroidal_bias as centroidal_bias,
    centroidal_momentum as centroidal_momentum, centroidal_momentum_derivatives as centroidal_momentum_derivatives,
    centroidal_momentum_matrix as centroidal_momentum_matrix, centroidal_momentum_rate as centroidal_momentum_rate,
    centroidal_momentum_rate_derivatives as centroidal_momentum_rate_derivatives)
from .dynamics.closed import velocity_map as velocity_map, velocity_map_bias as velocity_map_bias
from .dynamics.derivatives import (
    ForwardDynamicsDerivatives as ForwardDynamicsDerivatives, InverseDynamicsDerivatives as InverseDynamicsDerivatives,
    forward_dynamics_derivatives as forward_dynamics_derivatives,
    inverse_dynamics_derivatives as inverse_dynamics_derivatives,
    inverse_dynamics_hessian_product as inverse_dynamics_hessian_product,
    inverse_dynamics_second_derivatives as inverse_dynamics_second_derivatives)
from .dynamics.equations import (
    bias_forces as bias_forces, coriolis_matrix as coriolis_matrix, forward_dynamics as forward_dynamics,
    gravity_forces as gravity_forces, inverse_dynamics as inverse_dynamics, inverse_mass_matrix as inverse_mass_matrix,
    kinetic_energy as kinetic_energy, mass_matrix as mass_matrix, potential_energy as potential_energy)
from .dynamics.evaluate import get_threads as get_threads, set_threads as set_threads
from .dynamics.frame_sets import FrameSet as FrameSet, frame_set as frame_set
from .dynamics.frames import (
    frame_acceleration as frame_acceleration, frame_acceleration_derivatives as frame_acceleration_derivatives,
    frame_bias_acceleration as frame_bias_acceleration, frame_jacobian as frame_jacobian, frame_pose as frame_pose,
    frame_velocity as frame_velocity, frame_velocity_derivatives as frame_velocity_derivatives)
from .contacts.steps import step as step
from .dynamics.manifold import (
    difference as difference, difference_derivatives as difference_derivatives, integrate as integrate,
    integrate_derivatives as integrate_derivatives)
from .dynamics.specialized import specialize as specialize
from .dynamics.manifold import configuration as configuration
from .dynamics.passive import passive_forces as passive_forces
from .dynamics.states import (
    from_mujoco as from_mujoco, from_pinocchio as from_pinocchio, mujoco_velocity_map as mujoco_velocity_map,
    to_mujoco as to_mujoco, to_pinocchio as to_pinocchio)
from .errors import (
    DescriptionError as DescriptionError, FileError as FileError, FreeflyerError as FreeflyerError,
    InputError as InputError, UnknownNameError as UnknownNameError)
from .linkages.closing import close_loops as close_loops
from .model.build import build as build
from .model.configuration import (
    neutral as neutral, normalize_configuration as normalize_configuration, random_configuration as random_configuration)
from .model.description import (
    Coupling as Coupling, Description as Description, Inertia as Inertia, Joint as Joint, Keyframe as Keyframe, Link as Link,
    Loop as Loop, Mimic as Mimic, Site as Site)
from .model.edits import (
    attach_payload as attach_payload, lock_joints as lock_joints, merge_fixed as merge_fixed,
    with_gravity as with_gravity)
from .model.load import load as load
from .model.model import JointInfo as JointInfo, Model as Model
from .model.states.velocities import State as State
from .model.writers.mjcf import to_mjcf as to_mjcf
from .model.writers.urdf import to_urdf as to_urdf

__version__: str
