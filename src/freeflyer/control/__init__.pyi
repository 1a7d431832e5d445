"""Public names of the room and where they are defined; each is imported when it is first used."""

from .body_tasks import (
    CenterOfMassTask as CenterOfMassTask,
    CentroidalMomentumTask as CentroidalMomentumTask,
    FrameOrientationTask as FrameOrientationTask,
    FramePoseTask as FramePoseTask,
    FramePositionTask as FramePositionTask,
    PostureTask as PostureTask,
)
from .chains import Chains as Chains, kinematic_chains as kinematic_chains
from .dcm import (
    DCMPlan as DCMPlan,
    dcm_plan as dcm_plan,
    track_dcm as track_dcm,
    walking_dcm as walking_dcm,
)
from .equilibria import (
    Equilibrium as Equilibrium,
    controllability as controllability,
    equilibrium as equilibrium,
)
from .footsteps import (
    FootstepPlan as FootstepPlan,
    Gait as Gait,
    gait_footsteps as gait_footsteps,
    walk_forward as walk_forward,
)
from .inputs import (
    Inputs as Inputs,
    joint_inputs as joint_inputs,
    rotor_inputs as rotor_inputs,
    thruster_inputs as thruster_inputs,
    wrench_inputs as wrench_inputs,
)
from .kinematics import (
    InverseKinematics as InverseKinematics,
    inverse_kinematics as inverse_kinematics,
)
from .limits import (
    AccelerationLimits as AccelerationLimits,
    JointLimits as JointLimits,
    Limit as Limit,
    LimitRows as LimitRows,
    NormalForceLimits as NormalForceLimits,
    TorqueLimits as TorqueLimits,
)
from .problem import (
    Controller as Controller,
    ControlSolution as ControlSolution,
    WholeBodyProblem as WholeBodyProblem,
)
from .pushes import (
    PushBoundary as PushBoundary,
    push_boundary as push_boundary,
    random_pushes as random_pushes,
    survives_push as survives_push,
)
from .references import (
    MinimumJerkReference as MinimumJerkReference,
    PoseReference as PoseReference,
    Reference as Reference,
    RotationReference as RotationReference,
    SinusoidReference as SinusoidReference,
    TargetMotion as TargetMotion,
    WaypointReference as WaypointReference,
    move_pose as move_pose,
)
from .regulator import (
    Regulator as Regulator,
    Tracker as Tracker,
    energy_costs as energy_costs,
    lqr as lqr,
    track as track,
)
from .running import ControlRun as ControlRun, run_scenario as run_scenario
from .scenario import Scenario as Scenario, Stance as Stance
from .stance_file import read_problem as read_problem
from .standing import Standing as Standing, stand_on_feet as stand_on_feet
from .support import (
    capture_margin as capture_margin,
    capture_point as capture_point,
    max_push_impulse as max_push_impulse,
    support_polygon as support_polygon,
)
from .tasks import StateTerms as StateTerms, Task as Task
