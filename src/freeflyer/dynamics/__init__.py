"""Dynamics of a model: pure functions, each with leading batch axes."""

from freeflyer.dynamics.evaluate import evaluate as evaluate  # before its module can take the name
from freeflyer.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
