"""Models of distances: specification, engines, and the fit."""

from bayesbias.distances.distances import Distances as Distances
from bayesbias.models.fits import add_log_likelihood as add_log_likelihood
from bayesbias.models.fits import add_predictive as add_predictive
from bayesbias.models.fits import add_prior as add_prior
from bayesbias.models.fits import fit as fit
from bayesbias.models.fits import pymc_model as pymc_model
from bayesbias.models.own import from_draws as from_draws
from bayesbias.models.spec import ModelSpec as ModelSpec
from bayesbias.models.spec import load_model as load_model
from bayesbias.models.tree import load_fit as load_fit
from bayesbias.models.tree import save_fit as save_fit
