"""Turn rows into tasks: what to store, what to ask, and in which order. Each benchmark is one folder with one `Suite`."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
