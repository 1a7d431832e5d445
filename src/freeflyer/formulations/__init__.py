"""Other ways to the same equations of motion: algorithms of the papers, written to be read, each beside its source."""

from freeflyer.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
