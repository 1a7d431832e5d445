"""Public names of the room and where they are defined; each is imported when it is first used."""

from .batch import hop_basins as hop_basins, hop_ends as hop_ends, hop_start as hop_start
from .gaits import hop_gait as hop_gait
from .hopping import hop as hop
from .pictures import (
    basin_figure as basin_figure, hop_animation as hop_animation, hop_figure as hop_figure, hop_strip as hop_strip)
from .settings import HopSettings as HopSettings
