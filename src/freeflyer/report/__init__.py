"""The report of one robot: everything computed once, then written as one self-contained page."""

from freeflyer.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
