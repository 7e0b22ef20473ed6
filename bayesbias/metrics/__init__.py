"""Classic bias metrics: queries, one file a metric, one registry."""

from bayesbias.metrics.base import Query, list_queries, load_query
from bayesbias.metrics.batch import MetricResult, metric, run_metrics
from bayesbias.metrics.catalogue import list_metrics

__all__ = ["MetricResult", "Query", "list_metrics", "list_queries", "load_query", "metric", "run_metrics"]
