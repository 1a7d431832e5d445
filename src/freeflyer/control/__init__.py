"""Feedback on the group: what inputs a robot has, what they can hold and steer, and linear-quadratic regulators."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
