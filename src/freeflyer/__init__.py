"""freeflyer: dynamics, analysis, estimation and control of floating-base robots.

    import freeflyer as ff

    model = ff.load("robot.urdf")
    M = ff.mass_matrix(model, ff.neutral(model))
"""

from freeflyer.dynamics.centroidal import (
    center_of_mass,
    center_of_mass_jacobian,
    centroidal_bias,
    centroidal_momentum,
    centroidal_momentum_matrix,
)  # fmt: skip
from freeflyer.dynamics.derivatives import (
    ForwardDynamicsDerivatives,
    InverseDynamicsDerivatives,
    forward_dynamics_derivatives,
    inverse_dynamics_derivatives,
)
from freeflyer.dynamics.equations import (
    bias_forces,
    coriolis_matrix,
    forward_dynamics,
    gravity_forces,
    inverse_dynamics,
    inverse_mass_matrix,
    kinetic_energy,
    mass_matrix,
    potential_energy,
)  # fmt: skip
from freeflyer.dynamics.evaluate import get_threads, set_threads
from freeflyer.dynamics.frames import frame_bias_acceleration, frame_jacobian, frame_pose, frame_velocity
from freeflyer.dynamics.integrators import step
from freeflyer.dynamics.kinematics import Kinematics, kinematics
from freeflyer.dynamics.linearization import Linearization, linearize
from freeflyer.dynamics.manifold import difference, integrate
from freeflyer.dynamics.manifold_derivatives import (
    DifferenceDerivatives,
    IntegrateDerivatives,
    difference_derivatives,
    integrate_derivatives,
)  # fmt: skip
from freeflyer.dynamics.momentum_derivatives import (
    CenterOfMassAccelerationDerivatives,
    CenterOfMassVelocityDerivatives,
    CentroidalMomentumDerivatives,
    CentroidalMomentumRateDerivatives,
    center_of_mass_acceleration,
    center_of_mass_acceleration_derivatives,
    center_of_mass_velocity,
    center_of_mass_velocity_derivatives,
    centroidal_momentum_derivatives,
    centroidal_momentum_rate,
    centroidal_momentum_rate_derivatives,
)  # fmt: skip
from freeflyer.dynamics.motion_derivatives import (
    FrameAccelerationDerivatives,
    FrameVelocityDerivatives,
    frame_acceleration,
    frame_acceleration_derivatives,
    frame_velocity_derivatives,
)  # fmt: skip
from freeflyer.dynamics.second_order import (
    InverseDynamicsHessianProduct,
    InverseDynamicsSecondDerivatives,
    inverse_dynamics_hessian_product,
    inverse_dynamics_second_derivatives,
)  # fmt: skip
from freeflyer.errors import DescriptionError, FileError, FreeflyerError, InputError, UnknownNameError
from freeflyer.model.build import build
from freeflyer.model.configuration import neutral, normalize_configuration, random_configuration
from freeflyer.model.description import (
    Coupling,
    Description,
    Inertia,
    Joint,
    Link,
    Loop,
    Mimic,
    Site,
)  # fmt: skip
from freeflyer.model.edits import attach_payload, lock_joints, merge_fixed, with_gravity
from freeflyer.model.load import load
from freeflyer.model.model import JointInfo, Model
from freeflyer.model.writers import to_mjcf, to_urdf

__version__ = "0.1.0"

__all__ = [
    "CenterOfMassAccelerationDerivatives", "CenterOfMassVelocityDerivatives", "CentroidalMomentumDerivatives",
    "CentroidalMomentumRateDerivatives", "Coupling", "Description", "DescriptionError", "DifferenceDerivatives",
    "FileError", "ForwardDynamicsDerivatives", "FrameAccelerationDerivatives", "FrameVelocityDerivatives",
    "FreeflyerError", "Inertia", "InputError", "IntegrateDerivatives", "InverseDynamicsDerivatives",
    "InverseDynamicsHessianProduct", "InverseDynamicsSecondDerivatives", "Joint", "JointInfo", "Kinematics",
    "Linearization", "Link", "Loop", "Mimic", "Model", "Site", "UnknownNameError", "attach_payload", "bias_forces",
    "build", "center_of_mass", "center_of_mass_acceleration", "center_of_mass_acceleration_derivatives",
    "center_of_mass_jacobian", "center_of_mass_velocity", "center_of_mass_velocity_derivatives", "centroidal_bias",
    "centroidal_momentum", "centroidal_momentum_derivatives", "centroidal_momentum_matrix", "centroidal_momentum_rate",
    "centroidal_momentum_rate_derivatives", "control", "coriolis_matrix", "difference", "difference_derivatives", "estimation",
    "forward_dynamics", "forward_dynamics_derivatives", "frame_acceleration", "frame_acceleration_derivatives",
    "frame_bias_acceleration", "frame_jacobian", "frame_pose", "frame_velocity", "frame_velocity_derivatives",
    "get_threads", "gravity_forces", "integrate", "integrate_derivatives", "inverse_dynamics",
    "inverse_dynamics_derivatives", "inverse_dynamics_hessian_product", "inverse_dynamics_second_derivatives",
    "inverse_mass_matrix", "kinematics", "kinetic_energy", "linearize", "load", "lock_joints", "mass_matrix",
    "merge_fixed", "neutral", "normalize_configuration", "potential_energy", "random_configuration", "robots",
    "set_threads", "spatial", "step", "to_mjcf", "to_urdf", "with_gravity",
]  # fmt: skip


def __getattr__(name: str) -> object:
    """Sub-packages come when they are asked for."""
    if name in ("analysis", "control", "estimation", "loops", "robots", "spatial"):
        import importlib

        return importlib.import_module(f"freeflyer.{name}")
    raise AttributeError(f"module 'freeflyer' has no attribute {name!r}")
