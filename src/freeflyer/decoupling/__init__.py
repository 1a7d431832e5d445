"""Hamel equations of floating robots on SE(3) x R^n: constants of motion, decoupling, the CoM frame (decoupling thesis)."""

from freeflyer.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
