"""Motions in time: one loop for trees, closed robots and constraint sets, with events, and MuJoCo as an independent plant."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
