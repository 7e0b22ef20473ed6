"""A second stage over estimates: many embeddings, trends, and outside criteria."""

from bayesbias.second_stage.criteria import Criterion, criterion
from bayesbias.second_stage.pools import Pool, pool
from bayesbias.second_stage.specifications import Multiverse
from bayesbias.second_stage.trends import Trend, trend
from bayesbias.second_stage.two_stage import TwoStage

__all__ = ["Criterion", "Multiverse", "Pool", "Trend", "TwoStage", "criterion", "pool", "trend"]
