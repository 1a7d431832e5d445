"""Hopping robots in the plane, under virtual springs on a viscoelastic floor: experiments of the decoupling thesis, and others."""

from freeflyer.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
