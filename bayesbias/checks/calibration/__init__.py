"""Null distributions of metrics, and false-positive rates by simulation."""

from bayesbias._support import attached

__getattr__, __dir__, __all__ = attached(__name__, __file__)
