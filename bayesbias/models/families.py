"""The families of models: what each analysis asks of a model, by one object for each.

Distances are independent given the means of cells, or attribute words have effects of their own, or the covariance of
all distances is estimated from the vectors. Analyses ask :func:`family_of` and need not know which it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np
import xarray as xr
from scipy import sparse

from bayesbias.distances.distances import Distances, refuse_repeats
from bayesbias.errors import InputError
from bayesbias.models.functionals import (
    cell_draws,
    cell_fields,
    conditional_functionals,
    has_further_errors,
    related_functionals,
)
from bayesbias.models.marginal import fit_for_crossed
from bayesbias.models.related import (
    errors_of,
    further_word_sd,
    log_likelihood,
    protected_root,
    related_sums,
    too_many_lists,
)
from bayesbias.models.spec import ModelSpec, Pooled, common_of, log_priors
from bayesbias.models.tree import INDEPENDENT, MEANS, Fit, at_rows, row_means
from bayesbias.models.weights import Cells
from bayesbias.numerics.arrays import FloatArray
from bayesbias.numerics.marginal import LOG_2PI
from bayesbias.numerics.mixtures import Empirical
from bayesbias.posteriors import Estimates
from bayesbias.results import Note

Truth = dict[str, FloatArray]
PAIRS_AT_ONCE = 1024  # pairs whose draws are looked at together
MOST_NUMBERS = 2**26
"""Draws times parameters of single words, or draws times pairs, that are held at most: half a gigabyte."""


class Independent:
    """Distances are independent given the means of cells, and the effects of attribute words where a model has some."""

    notes: ClassVar[tuple[str, ...]] = ("unrelated",)
    """Codes of the notes that results of the family have: different words are taken for unrelated."""
    needs_relatedness: ClassVar[bool] = False
    """True where the covariance of the distances comes from the vectors, so that a table must carry relatedness."""
    has_prior: ClassVar[bool] = True
    """True where parameters and distances can be drawn from the prior."""
    most_numbers: ClassVar[int] = MOST_NUMBERS
    """Draws times parameters of single words that a fit holds at most."""

    def supports(self, data: Distances) -> bool:
        """True where models of the family can take these distances."""
        return True

    def prepared(self, spec: ModelSpec, data: Distances) -> tuple[ModelSpec, Distances]:
        """The model and the distances as the model takes them: every row counts where words have no effects, else each
        pair once, and word x group only between known groups.
        """
        if spec.crossed or spec.related:
            return fit_for_crossed(spec, data)
        refuse_repeats(data, spec.name)
        return spec, data

    def functionals(self, result: Fit, cells: Cells, weights: sparse.csr_array) -> Estimates:
        """Posterior of weighted sums (m, J * C) of cells: normal given the scales where an engine knows these."""
        if not has_further_errors(result) and result.engine in INDEPENDENT:
            functionals = conditional_functionals(result, cells, weights)
            if functionals is not None:
                return functionals
        return Estimates.of(Empirical(cell_draws(result.draws("word_mean"), cells, weights)), weights.shape[0])

    def cells(self, result: Fit, cells: Cells, weights: sparse.csr_array) -> Estimates:
        """The same, to be combined to sums of any kind."""
        return self.functionals(result, cells, weights)

    def log_priors(self, result: Fit) -> dict[str, FloatArray]:
        """Log priors (chain, draw) by name, as of :func:`bayesbias.models.spec.log_priors`."""
        values = {str(name): each.to_numpy() for name, each in result.posterior.data_vars.items()}
        return log_priors(values, result.priors())

    def log_likelihood(self, result: Fit) -> FloatArray:
        """Log likelihood (chain, draw) of all distances given everything."""
        total = sum(self.density(result, part).sum(axis=1) for part in parts_of(len(result.data.y)))
        return np.reshape(total, result.steps)

    def density(self, result: Fit, part: slice) -> FloatArray:
        """Log densities (draws, pairs) of a slice of the pairs given everything."""
        rows = {dim: place[part] for dim, place in result.places.items()}
        drawn = {name: result.draws(name) for name in (*MEANS, "sigma") if name in result.posterior}
        sigma = at_rows("sigma", drawn["sigma"], rows, leading=1)
        squares = ((result.data.y[part] - row_means(drawn, rows, leading=1)) / sigma) ** 2
        value: FloatArray = -0.5 * (squares + LOG_2PI) - np.log(sigma)
        return value

    def predicted(self, result: Fit, posterior: xr.Dataset, rng: np.random.Generator) -> FloatArray:
        """Predictive draws (chain, draw, pair) of the distances, for some draws of the posterior."""
        places, drawn = result.places, {str(name): each.to_numpy() for name, each in posterior.data_vars.items()}
        value = np.empty((posterior.sizes["chain"], posterior.sizes["draw"], len(places["connection"])))
        for part in parts_of(value.shape[2]):
            rows = {dim: place[part] for dim, place in places.items()}
            mean = row_means(drawn, rows)
            value[:, :, part] = mean + at_rows("sigma", drawn["sigma"], rows) * rng.standard_normal(mean.shape)
        return value

    def predicted_cells(self, result: Fit, rng: np.random.Generator) -> FloatArray:
        """Predictive draws (chain, draw, J, K) of one distance in each cell; NaN in empty cells.

        Where attribute words have effects, the distance is one to a new attribute word.
        """
        posterior = result.posterior
        mean, sigma = posterior["word_mean"].to_numpy(), posterior["sigma"].to_numpy()
        spread = sigma[:, :, None, :] if sigma.ndim == 3 else sigma[:, :, None, None]
        drawn: FloatArray = mean + spread * rng.standard_normal(mean.shape)
        if "attribute_sd" in posterior:
            scale = posterior["attribute_sd"].to_numpy()
            variance = (scale[:, :, None] if scale.ndim == 2 else result.by_connection("attribute_sd")) ** 2
            if "interaction_sd" in posterior:
                variance = variance + posterior["interaction_sd"].to_numpy()[:, :, None] ** 2
            drawn += np.sqrt(variance)[:, :, None, :] * rng.standard_normal(mean.shape)
        return drawn

    def drawn_truth(self, spec: ModelSpec, data: Distances, rng: np.random.Generator) -> Truth:
        """Parameters from the prior, scales without truncation: arrays of the posterior's shapes, without draws."""
        scales: Truth = {}
        for name, size in scale_sizes(spec, data).items():
            prior = spec.priors[name]
            if isinstance(prior, Pooled):
                common = spec.priors[common_of(name)].draw(rng, 1)
                scales[common_of(name)] = common[0]
                scales[name] = common * np.exp(prior.spread * rng.standard_normal(size))
            else:
                drawn = prior.draw(rng, max(size, 1))
                scales[name] = drawn if size else drawn[0]
        return with_effects(spec, data, scales, rng)

    def drawn_distances(self, spec: ModelSpec, truth: Truth, data: Distances, rng: np.random.Generator) -> FloatArray:
        """A distance for each row given the parameters; not confined to [0, 2]."""
        mean = row_means(truth, data.places, leading=0)
        sigma = at_rows("sigma", truth["sigma"], data.places, leading=0)
        value: FloatArray = mean + sigma * rng.standard_normal(len(data.y))
        return value


class Related(Independent):
    """The covariance of all distances is estimated from the vectors, up to a factor for each kind of list."""

    notes, needs_relatedness, has_prior = (), True, False
    most_numbers = 2**24  # several arrays of this size are held at once

    def supports(self, data: Distances) -> bool:
        """Where they carry relatedness, and lists are few enough."""
        return data.relatedness is not None and not too_many_lists(data)

    def cells(self, result: Fit, cells: Cells, weights: sparse.csr_array) -> Estimates:
        """Posterior of weighted sums (m, J * C) of cells: exact."""
        if has_further_errors(result):
            return self.functionals(result, cells, weights)
        law = cell_fields(result.spec, result.data, cells)
        return Estimates.of(law, len(law.mean)).combine(weights)

    def functionals(self, result: Fit, cells: Cells, weights: sparse.csr_array) -> Estimates:
        """Posterior of weighted sums (m, J * C) of cells: exact."""
        if has_further_errors(result):
            return super().functionals(result, cells, weights)
        return related_functionals(result.spec, result.data, cells, weights)

    def log_priors(self, result: Fit) -> dict[str, FloatArray]:
        """That of the factors; nothing flows back from the covariance between protected words."""
        factors = result.posterior["sd_factor"].to_numpy()
        return {"sd_factor": result.spec.priors["sd_factor"].log_density(factors).sum(axis=2)}

    def log_likelihood(self, result: Fit) -> FloatArray:
        """Log likelihood (chain, draw) of the means of cells, which are correlated, and of the scatter within them."""
        data = result.data
        cells = result.draws("word_mean")[:, data.filled]
        return log_likelihood(related_sums(data), cells, result.draws("sd_factor")).reshape(result.steps)

    def density(self, result: Fit, part: slice) -> FloatArray:
        """Log density of single distances to random words given the means of their cells: the sd is the vectors'."""
        word, connection = result.places["protected_word"][part], result.places["connection"][part]
        sd = np.sqrt((protected_root(result.data) ** 2).sum(axis=1))
        sigma = result.by_connection("sd_factor").reshape(-1, len(result.data.connections))[:, connection] * sd[word]
        squares = ((result.data.y[part] - result.draws("word_mean")[:, word, connection]) / sigma) ** 2
        value: FloatArray = -0.5 * (squares + LOG_2PI) - np.log(sigma)
        return value

    def predicted(self, result: Fit, posterior: xr.Dataset, rng: np.random.Generator) -> FloatArray:
        """Predictive draws (chain, draw, pair) of the distances to the same words, with correlated errors."""
        places, steps = result.places, (posterior.sizes["chain"], posterior.sizes["draw"])
        factors, means = posterior["sd_factor"].to_numpy(), posterior["word_mean"].to_numpy()
        draw = errors_of(result.data, related_sums(result.data))
        value = draw(factors.reshape(-1, factors.shape[-1]), rng).reshape(*steps, -1)
        for part in parts_of(value.shape[2]):
            rows = {dim: place[part] for dim, place in places.items()}
            value[:, :, part] += at_rows("word_mean", means, rows)
        return value

    def predicted_cells(self, result: Fit, rng: np.random.Generator) -> FloatArray:
        """A distance to a further word of the same list, around the mean of those that are there."""
        data, factor = result.data, result.by_connection("sd_factor")[:, :, None]
        return data.cells.mean + factor * further_word_sd(data) * rng.standard_normal(
            result.posterior["word_mean"].shape
        )

    def drawn_truth(self, spec: ModelSpec, data: Distances, rng: np.random.Generator) -> Truth:
        """Factors from their prior; the means of cells are the observed ones."""
        factors = spec.priors["sd_factor"].draw(rng, len(data.connection_classes))
        return {"sd_factor": factors, "word_mean": np.where(data.filled, data.cells.mean, np.nan)}

    def drawn_distances(self, spec: ModelSpec, truth: Truth, data: Distances, rng: np.random.Generator) -> FloatArray:
        """A distance for each row given the parameters, with correlated errors."""
        errors = errors_of(data, related_sums(data))(truth["sd_factor"][None], rng)[0]
        value: FloatArray = row_means(truth, data.places, leading=0) + errors
        return value


FAMILIES: dict[str, Independent] = dict.fromkeys(("modelled", "independent"), Independent())
FAMILIES["related"] = Related()
"""Assumption on attribute words to the family that makes it."""


def family_of(spec: ModelSpec) -> Independent:
    """The family of a model."""
    return FAMILIES[spec.attribute_words]


def family_notes(spec: ModelSpec) -> tuple[Note, ...]:
    """Notes on what the family of a model assumes."""
    return tuple(Note(code, reason=f"model {spec.name}") for code in family_of(spec).notes)


def functionals_of(result: Fit, cells: Cells, weights: sparse.csr_array) -> Estimates:
    """Posterior of weighted sums (m, J * C) of a fit's cells."""
    return family_of(result.spec).functionals(result, cells, weights)


def check_draws_of_pairs(draws: int, pairs: int, chains: int = 1) -> None:
    """Refuse a group of so many draws of all distances, a multiple of the chains, that it would fill the memory."""
    if draws * pairs > MOST_NUMBERS:
        raise InputError(
            f"{draws:,} draws of {pairs:,} distances are more than {MOST_NUMBERS:,} numbers: give draws="
            f"{max(MOST_NUMBERS // pairs // chains * chains, chains)} or fewer"
        )


def parts_of(pairs: int) -> Iterator[slice]:
    """Slices of the pairs, few enough at a time for the memory."""
    return (slice(begin, min(begin + PAIRS_AT_ONCE, pairs)) for begin in range(0, pairs, PAIRS_AT_ONCE))


def scale_sizes(spec: ModelSpec, data: Distances) -> dict[str, int]:
    """Parameter above the effects to its number of values, 0 for a single number."""
    k = len(data.connections)
    sizes = {"connection_mean": k, "connection_sd": k, "sigma": k if spec.likelihood.sigma == "connection" else 0}
    if spec.crossed:
        sizes["attribute_sd"] = 0 if spec.terms.attribute_sd == "shared" else len(data.attribute_classes)
    if spec.terms.word_x_group:
        sizes["interaction_sd"] = 0
    if spec.terms.protected_words == "student_t":
        sizes["word_nu"] = 0
    return sizes


def with_effects(spec: ModelSpec, data: Distances, values: Truth, rng: np.random.Generator) -> Truth:
    """Parameters above the effects, with means of cells and effects drawn given these."""
    shape = (len(data.protected_words), len(data.connections))
    heavy = spec.terms.protected_words == "student_t"
    cells = rng.standard_t(float(values["word_nu"]), shape) if heavy else rng.standard_normal(shape)
    word_mean = values["connection_mean"] + values["connection_sd"] * cells
    truth = {**values, "word_mean": np.where(data.filled, word_mean, np.nan)}
    words = len(data.attribute_words)
    if spec.crossed:
        scale = values["attribute_sd"]
        by_word = scale[data.class_index] if np.ndim(scale) else scale
        truth["attribute_effect"] = by_word * rng.standard_normal(words)
    if spec.terms.word_x_group:
        drawn = values["interaction_sd"] * rng.standard_normal((words, len(data.group_names)))
        truth["interaction_effect"] = np.where(data.compared, drawn, np.nan)
    return truth
