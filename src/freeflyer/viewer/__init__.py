"""Robots, linkages and runs in the browser, in notebooks and as pictures."""

from freeflyer.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
