"""Public names of the room and where they are defined; each is imported when it is first used."""

from .events import Change as Change, Event as Event, Occurrence as Occurrence
from .files import load as load
from .floor_contacts import unilateral_events as unilateral_events
from .ground import Ground as Ground
from .inputs import Sensing as Sensing
from .mujoco_run import simulate_in_mujoco as simulate_in_mujoco
from .mujoco_scene import Plant as Plant, mujoco_plant as mujoco_plant
from .mujoco_spec import Servos as Servos
from .run import Run as Run
from .simulating import replay as replay, simulate as simulate
from .state import EventState as EventState
