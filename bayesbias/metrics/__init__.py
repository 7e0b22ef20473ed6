"""Classic bias metrics: queries, one function a metric, one register of all."""

from bayesbias.metrics.batch import MetricResult, metric, run_metrics
from bayesbias.metrics.catalogue import register
from bayesbias.metrics.definition import Linear, Measured, Metric, Option
from bayesbias.metrics.queries import Query, load_query

__all__ = [
    "Linear",
    "Measured",
    "Metric",
    "MetricResult",
    "Option",
    "Query",
    "load_query",
    "metric",
    "register",
    "run_metrics",
]
