"""Debiasing methods: new embeddings, with a record of what was done to them."""

from bayesbias.debiasing.methods import Debiasing
from bayesbias.debiasing.registry import debias

__all__ = ["Debiasing", "debias"]
