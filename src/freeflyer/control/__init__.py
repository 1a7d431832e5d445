"""Feedback on the group: inputs of a robot, equilibria and controllability, and linear-quadratic regulators."""

from freeflyer.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
