"""Studies of one robot: each function computes a frozen result, which plots draw and reports print."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
