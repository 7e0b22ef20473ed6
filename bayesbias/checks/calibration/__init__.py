"""False-positive rates, coverage and ranks by simulation, truths from priors; null distributions of metrics."""

from bayesbias._support.namespaces import attached

__getattr__, __dir__, __all__ = attached(__name__, __file__)
