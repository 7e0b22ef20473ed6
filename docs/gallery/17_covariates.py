"""A word by who says it.

Women between family and career in addresses of American presidents since 1901, by party and year. Thick bars are
intervals for these attribute words, thin ones for words like these; rings are estimates where presidents count equally.
"""

import bayesbias as bb
from bayesbias.distances import datasets

addresses = datasets.load_dataset("sotu-addresses").query("party in ['Democratic', 'Republican'] and year > 1900")
sample = bb.instances(addresses, "women", "glove-50d-slice", clusters="president")
figure = bb.plots.plot_covariates(bb.covariates(sample, "party + year").contrast("family", "career"))
