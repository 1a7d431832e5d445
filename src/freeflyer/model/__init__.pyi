"""Names of the room for the rooms above it, and where they are defined; each is imported when it is first used."""

from .build import build as build, compile_description as compile_description, recompile as recompile
from .configuration import (
    neutral as neutral, random_configuration as random_configuration, reference_posture as reference_posture, slides as slides,
)
from .description import (
    Description as Description, Inertia as Inertia, JOINT_KINDS as JOINT_KINDS, JOINT_SIZES as JOINT_SIZES, Joint as Joint,
    Keyframe as Keyframe, Link as Link, Loop as Loop, ORIGINS as ORIGINS, POINT as POINT, ROOT_JOINT as ROOT_JOINT, Site as Site,
    WELD as WELD, WORLD as WORLD, base_kind as base_kind,
)
from .edits import lock_joints as lock_joints, merge_fixed as merge_fixed, with_gravity as with_gravity
from .frozen import Record as Record, frozen_array as frozen_array
from .inputs import (
    LARGEST as LARGEST, LARGEST_SEED as LARGEST_SEED, SMALLEST as SMALLEST, check_configuration as check_configuration,
    check_shape as check_shape, check_size as check_size, choice as choice, coordinate_owner as coordinate_owner,
    finite_array as finite_array, finite_copy as finite_copy, finite_row as finite_row, gravity_rows as gravity_rows,
    gravity_vector as gravity_vector, instance as instance, instances as instances, name_list as name_list,
    not_finite as not_finite, not_unit as not_unit, number as number, one_row as one_row, output_array as output_array,
    positive as positive, quaternion_starts as quaternion_starts, real_array as real_array,
    refuse_repeated as refuse_repeated, row as row, set_fields as set_fields, set_numbers as set_numbers, shaped as shaped,
    true_or_false as true_or_false, unit_vector as unit_vector, whole_number as whole_number,
)
from .load import with_base as with_base
from .locking import leader as leader
from .model import (
    Block as Block, JointInfo as JointInfo, Model as Model, Partition as Partition, Reduction as Reduction, file_posture as
    file_posture, remembered as remembered,
)
from .placements import (
    group_inertias as group_inertias, join as join, placement as placement, pose_at as pose_at, possible as possible,
    quaternion as quaternion, rigid_groups as rigid_groups, rotation_of_rpy as rotation_of_rpy, screws as screws,
    transform as transform,
)
from .public import explain as explain, public as public, refuse_no_model as refuse_no_model
from .readers.loops_yaml import (
    parse_yaml as parse_yaml, read_posture as read_posture, yaml_list as yaml_list, yaml_mapping as yaml_mapping)
from .readers.mjcf.gate import (
    collected_warnings as collected_warnings, compile_model as compile_model, spec_with_shapes as spec_with_shapes)
from .readers.safe_file import Element as Element, read_bytes as read_bytes, read_xml as read_xml
from .readers.urdf import named as named
from .states import velocities as velocities
from .states.matching import Places as Places
from .states.mujoco import (
    configuration_from_mujoco as configuration_from_mujoco, configuration_to_mujoco as configuration_to_mujoco, mujoco_places
    as mujoco_places, refuse_absent_base as refuse_absent_base,
)
from .states.pinocchio import (
    configuration_from_pinocchio as configuration_from_pinocchio, pinocchio_places as pinocchio_places,
)
from .states.velocities import (
    MujocoState as MujocoState, PinocchioState as PinocchioState, State as State, velocity_matrix as
    velocity_matrix,
)
from .visuals.mesh_files import mesh_path as mesh_path, read_mesh as read_mesh
from .visuals.triangles import Solid as Solid, geom_solid as geom_solid, urdf_solid as urdf_solid
from .writers.mjcf import to_mjcf as to_mjcf
