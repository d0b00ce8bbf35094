"""Run store plans: fill stores, ask their questions ahead, and judge the answers. Independent of any test runner."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
