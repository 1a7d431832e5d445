"""Robots as data: descriptions, readers and writers, edits, and the compiled Model with its configuration space."""

from freeflyer.lazy import attach_stub
from freeflyer.model.public import public as public  # before its module can take the name

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
