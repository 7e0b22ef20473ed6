"""Debiasing methods: new embeddings, with a record of what was done to them."""

from bayesbias.debiasing.records import Debiasing
from bayesbias.debiasing.running import debias

__all__ = ["Debiasing", "debias"]
