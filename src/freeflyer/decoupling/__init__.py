"""Hamel equations of floating robots on SE(3) x R^n: constants of motion, decoupling, the CoM frame (decoupling thesis).

InputError, with the way to a free base, for robots that do not float on one free joint."""

from freeflyer.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
