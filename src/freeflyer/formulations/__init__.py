"""Other ways to the same equations of motion: algorithms of the papers, written to be read, each beside its source."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
