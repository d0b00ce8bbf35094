"""Measure how reliable a judge is: labelled cases, the judge's verdicts on them, and measures of agreement."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
