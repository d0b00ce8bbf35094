"""What failures have in common: each clue is tested against chance over the facts lost and held."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
