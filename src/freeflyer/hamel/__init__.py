"""Hamel equations of floating robots on SE(3) x R^n: constants of motion, decoupling, the CoM frame (papers/004)."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
