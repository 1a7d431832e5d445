"""Motions in time: one loop for trees, closed robots and constraint sets, with events, and MuJoCo as an independent plant."""

from freeflyer.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
