"""Find a judge, suite, system or task by name: a hook, an entry point, a built-in, or `module:attribute`."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
