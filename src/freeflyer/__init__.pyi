"""Public names and where they are defined. `__init__.py` imports each when it is first used; type checkers read this file."""

from . import analysis as analysis
from . import control as control
from . import estimation as estimation
from . import loops as loops
from . import robots as robots
from . import spatial as spatial
from .dynamics.centroidal import (
    center_of_mass as center_of_mass,
)
from .dynamics.centroidal import (
    center_of_mass_jacobian as center_of_mass_jacobian,
)
from .dynamics.centroidal import (
    centroidal_bias as centroidal_bias,
)
from .dynamics.centroidal import (
    centroidal_momentum as centroidal_momentum,
)
from .dynamics.centroidal import (
    centroidal_momentum_matrix as centroidal_momentum_matrix,
)
from .dynamics.derivatives import (
    ForwardDynamicsDerivatives as ForwardDynamicsDerivatives,
)
from .dynamics.derivatives import (
    InverseDynamicsDerivatives as InverseDynamicsDerivatives,
)
from .dynamics.derivatives import (
    forward_dynamics_derivatives as forward_dynamics_derivatives,
)
from .dynamics.derivatives import (
    inverse_dynamics_derivatives as inverse_dynamics_derivatives,
)
from .dynamics.equations import (
    bias_forces as bias_forces,
)
from .dynamics.equations import (
    coriolis_matrix as coriolis_matrix,
)
from .dynamics.equations import (
    forward_dynamics as forward_dynamics,
)
from .dynamics.equations import (
    gravity_forces as gravity_forces,
)
from .dynamics.equations import (
    inverse_dynamics as inverse_dynamics,
)
from .dynamics.equations import (
    inverse_mass_matrix as inverse_mass_matrix,
)
from .dynamics.equations import (
    kinetic_energy as kinetic_energy,
)
from .dynamics.equations import (
    mass_matrix as mass_matrix,
)
from .dynamics.equations import (
    potential_energy as potential_energy,
)
from .dynamics.evaluate import get_threads as get_threads
from .dynamics.evaluate import set_threads as set_threads
from .dynamics.frames import (
    frame_bias_acceleration as frame_bias_acceleration,
)
from .dynamics.frames import (
    frame_jacobian as frame_jacobian,
)
from .dynamics.frames import (
    frame_pose as frame_pose,
)
from .dynamics.frames import (
    frame_velocity as frame_velocity,
)
from .dynamics.integrators import step as step
from .dynamics.kinematics import Kinematics as Kinematics
from .dynamics.kinematics import kinematics as kinematics
from .dynamics.linearization import Linearization as Linearization
from .dynamics.linearization import linearize as linearize
from .dynamics.manifold import difference as difference
from .dynamics.manifold import integrate as integrate
from .dynamics.manifold_derivatives import (
    DifferenceDerivatives as DifferenceDerivatives,
)
from .dynamics.manifold_derivatives import (
    IntegrateDerivatives as IntegrateDerivatives,
)
from .dynamics.manifold_derivatives import (
    difference_derivatives as difference_derivatives,
)
from .dynamics.manifold_derivatives import (
    integrate_derivatives as integrate_derivatives,
)
from .dynamics.momentum_derivatives import (
    CenterOfMassAccelerationDerivatives as CenterOfMassAccelerationDerivatives,
)
from .dynamics.momentum_derivatives import (
    CenterOfMassVelocityDerivatives as CenterOfMassVelocityDerivatives,
)
from .dynamics.momentum_derivatives import (
    CentroidalMomentumDerivatives as CentroidalMomentumDerivatives,
)
from .dynamics.momentum_derivatives import (
    CentroidalMomentumRateDerivatives as CentroidalMomentumRateDerivatives,
)
from .dynamics.momentum_derivatives import (
    center_of_mass_acceleration as center_of_mass_acceleration,
)
from .dynamics.momentum_derivatives import (
    center_of_mass_acceleration_derivatives as center_of_mass_acceleration_derivatives,
)
from .dynamics.momentum_derivatives import (
    center_of_mass_velocity as center_of_mass_velocity,
)
from .dynamics.momentum_derivatives import (
    center_of_mass_velocity_derivatives as center_of_mass_velocity_derivatives,
)
from .dynamics.momentum_derivatives import (
    centroidal_momentum_derivatives as centroidal_momentum_derivatives,
)
from .dynamics.momentum_derivatives import (
    centroidal_momentum_rate as centroidal_momentum_rate,
)
from .dynamics.momentum_derivatives import (
    centroidal_momentum_rate_derivatives as centroidal_momentum_rate_derivatives,
)
from .dynamics.motion_derivatives import (
    FrameAccelerationDerivatives as FrameAccelerationDerivatives,
)
from .dynamics.motion_derivatives import (
    FrameVelocityDerivatives as FrameVelocityDerivatives,
)
from .dynamics.motion_derivatives import (
    frame_acceleration as frame_acceleration,
)
from .dynamics.motion_derivatives import (
    frame_acceleration_derivatives as frame_acceleration_derivatives,
)
from .dynamics.motion_derivatives import (
    frame_velocity_derivatives as frame_velocity_derivatives,
)
from .dynamics.second_order import (
    InverseDynamicsHessianProduct as InverseDynamicsHessianProduct,
)
from .dynamics.second_order import (
    InverseDynamicsSecondDerivatives as InverseDynamicsSecondDerivatives,
)
from .dynamics.second_order import (
    inverse_dynamics_hessian_product as inverse_dynamics_hessian_product,
)
from .dynamics.second_order import (
    inverse_dynamics_second_derivatives as inverse_dynamics_second_derivatives,
)
from .errors import (
    DescriptionError as DescriptionError,
)
from .errors import (
    FileError as FileError,
)
from .errors import (
    FreeflyerError as FreeflyerError,
)
from .errors import (
    InputError as InputError,
)
from .errors import (
    UnknownNameError as UnknownNameError,
)
from .model.build import build as build
from .model.configuration import (
    neutral as neutral,
)
from .model.configuration import (
    normalize_configuration as normalize_configuration,
)
from .model.configuration import (
    random_configuration as random_configuration,
)
from .model.description import (
    Coupling as Coupling,
)
from .model.description import (
    Description as Description,
)
from .model.description import (
    Inertia as Inertia,
)
from .model.description import (
    Joint as Joint,
)
from .model.description import (
    Link as Link,
)
from .model.description import (
    Loop as Loop,
)
from .model.description import (
    Mimic as Mimic,
)
from .model.description import (
    Site as Site,
)
from .model.edits import (
    attach_payload as attach_payload,
)
from .model.edits import (
    lock_joints as lock_joints,
)
from .model.edits import (
    merge_fixed as merge_fixed,
)
from .model.edits import (
    with_gravity as with_gravity,
)
from .model.load import load as load
from .model.model import JointInfo as JointInfo
from .model.model import Model as Model
from .model.writers import to_mjcf as to_mjcf
from .model.writers import to_urdf as to_urdf

__version__: str
