"""Robots as data: descriptions, readers and writers, edits, and the compiled Model with its configuration space."""

from freeflyer.lazy import attach_stub
from freeflyer.model.build import build as build  # before their modules can take the names
from freeflyer.model.public import public as public

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
