"""How far a metric can be trusted when words are missing: bias silhouettes."""

from bayesbias.silhouettes.results import Silhouette, silhouette_accuracy, silhouette_separation
from bayesbias.silhouettes.running import silhouette
from bayesbias.silhouettes.studies import silhouette_study
from bayesbias.silhouettes.uncertainty import silhouette_uncertainty

__all__ = [
    "Silhouette",
    "silhouette",
    "silhouette_accuracy",
    "silhouette_separation",
    "silhouette_study",
    "silhouette_uncertainty",
]
