"""What a robot cannot measure, from what it can: passive joints, encoder offsets, contact wrenches, ZMP. papers/000, VI."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
