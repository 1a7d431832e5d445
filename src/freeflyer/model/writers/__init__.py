"""Writers: a robot back to a file. What is written reads back as the same robot, to rounding."""

from freeflyer.model.writers.mjcf import to_mjcf
from freeflyer.model.writers.urdf import to_urdf

__all__ = ["to_mjcf", "to_urdf"]
