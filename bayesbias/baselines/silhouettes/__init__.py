"""Bias silhouettes: the behaviour of a metric when words are missing."""

from bayesbias.baselines.silhouettes.results import (
    Silhouette,
    silhouette_accuracy,
    silhouette_separation,
    silhouette_uncertainty,
)
from bayesbias.baselines.silhouettes.studies import silhouette, silhouette_study

__all__ = [
    "Silhouette",
    "silhouette",
    "silhouette_accuracy",
    "silhouette_separation",
    "silhouette_study",
    "silhouette_uncertainty",
]
