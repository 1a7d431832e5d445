"""Closed linkages: assembling them, keeping them closed, and their parts."""

from freeflyer.errors import AssemblyError, LinkageError, OpenLoopWarning
from freeflyer.linkages.assembly import assemble
from freeflyer.linkages.closing import close_loops as close_loops, has_loops as has_loops
from freeflyer.linkages.closure import closed_posture as closed_posture, position_limits as position_limits, q_of_v as q_of_v
from freeflyer.linkages.following import Keep, follow, force_curve, transmission_curve
from freeflyer.linkages.limits import first_singularity, reachable_set
from freeflyer.linkages.motion import (
    complete_velocity, constraint_multipliers, dependent_accelerations, dependent_velocities, expand_motion, keep_closed,
    mapping_jacobian, projected_equations, reduce_forces)
from freeflyer.linkages.partition import partition
from freeflyer.linkages.refusals import list_names as list_names, singular_posture as singular_posture
from freeflyer.linkages.rows import (
    constraint_bias, constraint_jacobian, constraint_names, constraint_residual, constraints as constraints,
    structure as structure, support as support)
from freeflyer.linkages.submechanisms import embed_configuration, extract_configuration, extract_limb, mechanisms
from freeflyer.linkages.sweeping import inside_limits, manipulability, motion_map as motion_map, sweep
from freeflyer.linkages.transmission import selected_posture, transmission

__all__ = [
    "AssemblyError", "Keep", "LinkageError", "OpenLoopWarning", "assemble", "complete_velocity", "constraint_bias",
    "constraint_jacobian", "constraint_multipliers", "constraint_names", "constraint_residual", "dependent_accelerations",
    "dependent_velocities", "embed_configuration", "expand_motion", "extract_configuration", "extract_limb",
    "first_singularity", "follow", "force_curve", "inside_limits", "keep_closed", "manipulability", "mapping_jacobian",
    "mechanisms", "partition", "projected_equations", "reachable_set", "reduce_forces", "selected_posture", "sweep",
    "transmission", "transmission_curve"]
