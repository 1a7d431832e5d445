"""Quantities without a sensor, from measured ones: passive joints, encoder offsets, contact wrenches, ZMP. Kangaroo paper, VI."""

from freeflyer.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
