"""Baselines: rankings of metrics, bias silhouettes, reliability and stability."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(__name__, ["ranking", "reliability", "silhouettes", "stability"])
