"""Classic bias metrics: queries, one file a metric, one registry."""

from bayesbias.metrics.batch import metric, run_metrics
from bayesbias.metrics.queries import Query, list_queries, load_query
from bayesbias.metrics.registry import list_metrics
from bayesbias.metrics.results import MetricResult

__all__ = ["MetricResult", "Query", "list_metrics", "list_queries", "load_query", "metric", "run_metrics"]
