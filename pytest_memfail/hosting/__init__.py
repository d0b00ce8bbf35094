"""Host a memory system: call its code within limits, open it, fill it, list it, retrieve from it, and keep its store."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
