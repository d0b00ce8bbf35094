"""Judges decide whether a fact was stored, kept faithfully, retrieved and used.

Judges that ask a model load on first use, because the offline judge needs no SDK.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
