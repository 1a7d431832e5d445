"""Checks of a robot: is its description sound, and do its dynamics obey the laws of mechanics?"""

from freeflyer.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
