"""The report of one robot: everything computed once, then written as one self-contained page."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
