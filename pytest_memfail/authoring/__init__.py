"""Generate more rows with any model: draw the subject of each row first, and check everything the model writes.

A suite says what it can generate: a `Recipe` for each kind of rows (`Suite.recipes`).
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
