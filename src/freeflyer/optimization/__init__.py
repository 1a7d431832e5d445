"""Quadratic programs and strict hierarchies by several solvers; every answer is checked, and failures have errors of their own."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
