"""The domain model: what is stored, asked and decided. Uses only the standard library.

Names load on first use, because every pytest run loads the plugin and few runs use it.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
