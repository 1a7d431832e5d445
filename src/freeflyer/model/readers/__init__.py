"""Readers: robot files to `Description`. Each parser library is imported when its first file is read."""

from freeflyer.model.readers.loops_yaml import read_loops
from freeflyer.model.readers.mjcf.reading import read_mjcf
from freeflyer.model.readers.urdf import read_urdf

__all__ = ["read_loops", "read_mjcf", "read_urdf"]
