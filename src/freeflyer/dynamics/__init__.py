"""Dynamics of a model: pure functions, each with leading batch axes."""

from freeflyer.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
