"""Keep secrets out of outputs, and write files so that nothing is lost or half written."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
