"""Closed linkages: assembling them, keeping them closed, and what they are made of."""

from freeflyer.constraints.errors import AssemblyError, LinkageError, OpenLoopWarning
from freeflyer.constraints.multipliers import (
    constrained_forward_dynamics,
    constraint_multipliers,
    independent_forces,
    mapping_jacobian,
    passive_accelerations,
    passive_velocities,
    projected_equations,
    whole_motion,
)  # fmt: skip
from freeflyer.constraints.partition import Block, Linkage, linkage
from freeflyer.constraints.rows import (
    constraint_bias,
    constraint_jacobian,
    constraint_names,
    constraint_residual,
)  # fmt: skip
from freeflyer.loops.assembly import Assembly, assemble
from freeflyer.loops.following import Keep, Path, follow
from freeflyer.loops.limits import ReachableSet, reachable
from freeflyer.loops.maps import ManipulabilityMap, inside_limits, manipulability, motion_map
from freeflyer.loops.mechanisms import Mechanism, Mechanisms, mechanisms
from freeflyer.loops.motion import keep_closed, project_velocity
from freeflyer.loops.parts import limb, put_into, taken_from
from freeflyer.loops.selected import (
    motor_accelerations,
    motor_forces,
    motor_velocities,
    selected_forces,
    selected_jacobian,
)  # fmt: skip
from freeflyer.loops.selected_posture import selected_posture
from freeflyer.loops.singularities import Singularity, first_singularity
from freeflyer.loops.sweeping import Sweep, sweep
from freeflyer.loops.transmission import Curve, ForceCurve, force_curve, transmission_curve

__all__ = [
    "Assembly", "AssemblyError", "Block", "Curve", "ForceCurve", "Keep", "Linkage", "LinkageError", "ManipulabilityMap",
    "Mechanism", "Mechanisms", "OpenLoopWarning", "Path", "ReachableSet", "Singularity", "Sweep", "assemble",
    "constrained_forward_dynamics", "constraint_bias", "constraint_jacobian", "constraint_multipliers",
    "constraint_names", "constraint_residual", "first_singularity", "follow", "force_curve", "independent_forces",
    "inside_limits", "keep_closed", "limb", "linkage", "manipulability", "mapping_jacobian", "mechanisms",
    "motion_map", "motor_accelerations", "motor_forces", "motor_velocities", "passive_accelerations",
    "passive_velocities", "project_velocity", "projected_equations", "put_into", "reachable", "selected_forces",
    "selected_jacobian", "selected_posture", "sweep", "taken_from", "transmission_curve", "whole_motion",
]  # fmt: skip
