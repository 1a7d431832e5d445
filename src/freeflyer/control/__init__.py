"""Feedback on the group: what inputs a robot has, what they can hold and steer, and linear-quadratic regulators."""

from freeflyer.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
