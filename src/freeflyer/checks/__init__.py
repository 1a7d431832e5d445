"""Checks of a robot: is its description sound, and do its dynamics obey the laws of mechanics?"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
