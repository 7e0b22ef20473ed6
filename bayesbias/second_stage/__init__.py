"""A second stage over estimates: many embeddings, and outside criteria."""

from bayesbias.second_stage.criteria import Criterion, criterion
from bayesbias.second_stage.pools import Pool, pool

__all__ = ["Criterion", "Pool", "criterion", "pool"]
