"""Documents with covariates: vectors of words with the errors of documents and speakers, and their regression."""

from bayesbias.documents.alacarte import instances as instances
from bayesbias.documents.regression import covariates as covariates
from bayesbias.documents.samples import VectorSample as VectorSample
from bayesbias.documents.samples import vector_sample as vector_sample
