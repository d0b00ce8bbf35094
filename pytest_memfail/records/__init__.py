"""The durable format of a run: records, baselines and kept runs, with their JSON."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
