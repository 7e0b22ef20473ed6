"""Checks of an answer: of its model, its priors and its words.

Names of this room and of those that are built on it are imported where they are first used, by the stub beside.
"""

from bayesbias._support import attached

__getattr__, __dir__, __all__ = attached(__name__, __file__)
