"""Debiasing methods: new embeddings, with a record of what was done to them."""

from bayesbias.vectors.debiasing.methods import Debiasing, Vocabulary
from bayesbias.vectors.debiasing.registry import Method, debias, register

__all__ = ["Debiasing", "Method", "Vocabulary", "debias", "register"]
