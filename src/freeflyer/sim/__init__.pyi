"""Public names of the room and where they are defined; each is imported when it is first used."""

from .changes import Change as Change
from .events import Event as Event, Occurrence as Occurrence
from .floor_contacts import unilateral_events as unilateral_events
from .mujoco_run import simulate_in_mujoco as simulate_in_mujoco
from .mujoco_scene import Plant as Plant, mujoco_plant as mujoco_plant
from .mujoco_spec import Servos as Servos
from .replaying import replay as replay
from .run import Run as Run, load as load
from .sensing import Sensing as Sensing
from .simulating import simulate as simulate
from .state import EventState as EventState
