"""Split and compare texts: the only place where words and sentences are told apart; standard library only."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
