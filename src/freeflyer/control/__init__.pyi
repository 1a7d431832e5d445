"""Public names of the room and where they are defined; each is imported when it is first used."""

from .body_tasks import CenterOfMassTask as CenterOfMassTask, PostureTask as PostureTask
from .controllable import Controllability as Controllability, controllability as controllability
from .costs import energy_costs as energy_costs
from .equilibria import Equilibrium as Equilibrium, equilibrium as equilibrium
from .frame_tasks import (
    FrameOrientationTask as FrameOrientationTask,
    FramePoseTask as FramePoseTask,
    FramePositionTask as FramePositionTask,
)
from .inputs import (
    Inputs as Inputs,
    joint_inputs as joint_inputs,
    rotor_inputs as rotor_inputs,
    thruster_inputs as thruster_inputs,
    wrench_inputs as wrench_inputs,
)
from .kinematics import InverseKinematics as InverseKinematics, inverse_kinematics as inverse_kinematics
from .regulator import Regulator as Regulator, lqr as lqr
from .tasks import Task as Task
from .tracking import Tracker as Tracker, track as track
