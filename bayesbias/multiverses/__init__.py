"""One question under every combination of decisions."""

from bayesbias.multiverses.combinations import multiverse

__all__ = ["multiverse"]
