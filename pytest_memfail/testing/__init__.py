"""Tools for the tests of adapter authors: a local model endpoint, and checks of a memory system."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
