"""Models of distances: specification, engines, and the fit."""

from bayesbias.models.fits import add_log_likelihood, add_predictive, fit, list_models
from bayesbias.models.results import load_fit, save_fit
from bayesbias.models.spec import ModelSpec, load_model

__all__ = [
    "ModelSpec",
    "add_log_likelihood",
    "add_predictive",
    "fit",
    "list_models",
    "load_fit",
    "load_model",
    "save_fit",
]
