"""Language models; the only part that may use a network.

Names load on first use, so importing this package loads no SDK and no tokeniser.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
