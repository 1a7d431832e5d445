"""Checks and studies of one robot: each function computes a frozen result, which plots draw and reports print."""

from freeflyer.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
