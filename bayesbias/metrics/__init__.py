"""Classic bias metrics: queries, one file a metric, one registry."""

from bayesbias.metrics.batch import MetricResult, metric, run_metrics
from bayesbias.metrics.catalogue import list_metrics
from bayesbias.metrics.queries import Query, list_queries, load_query

__all__ = ["MetricResult", "Query", "list_metrics", "list_queries", "load_query", "metric", "run_metrics"]
