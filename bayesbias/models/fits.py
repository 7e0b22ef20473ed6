"""Engines by model, ``fit``, and groups that ArviZ knows: prior, predictive draws, log likelihood."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from bayesbias._support.arguments import one_of, whole_number
from bayesbias._support.files import to_json
from bayesbias.distances.adjustment import Adjustment, check_used
from bayesbias.distances.dataframe import DistanceTable
from bayesbias.distances.distances import Distances
from bayesbias.distances.tables import adjust as adjusted_for
from bayesbias.distances.tables import as_measured
from bayesbias.errors import BayesbiasWarning, InputError, warn
from bayesbias.models import marginal, nuts
from bayesbias.models.families import MOST_NUMBERS, check_draws_of_pairs, family_of, parts_of
from bayesbias.models.own import WORD_MEAN, OwnModel
from bayesbias.models.own import sampled as sampled_own
from bayesbias.models.related import related_sums, too_many_lists
from bayesbias.models.spec import ModelSpec, load_model, with_priors
from bayesbias.models.template_variation import template_data, with_template_effects
from bayesbias.models.tree import (
    ADJUSTMENT,
    DIMS,
    EXACT,
    STEPS,
    UNADJUSTED,
    Draws,
    Fit,
    assemble,
    made_by,
    read_distances,
    with_slope_moved,
)
from bayesbias.numerics.arrays import FloatArray
from bayesbias.results import Note, restored, stored

if TYPE_CHECKING:
    import pymc
    from gensim.models import KeyedVectors


ENGINES: dict[str, tuple[Callable[[ModelSpec], bool], Callable[..., Draws]]] = {
    EXACT: (marginal.exact_supports, marginal.exact_sample),
    "marginal": (marginal.supports, marginal.sample),
    "nuts": (lambda _: True, nuts.sample),
}
"""Name, which ``fit(engine=...)`` takes, to what says whether a model can be fitted, and to what makes draws from
specification, data, chains, draws in each chain and a generator. The fastest first: ``auto`` takes the first that can.
"""


def engines_for(spec: ModelSpec) -> list[str]:
    """Names of the engines that can fit a model, the fastest first."""
    return [name for name, (supports, _) in ENGINES.items() if supports(spec)]


FEWEST_DRAWS = 500  # draws that a fit of a large table has at least
AUTO, RELATED, FALLBACK = "auto", "related", "crossed"  # what "auto" takes, and where its family cannot


def fit(
    table: pd.DataFrame,
    model: str | Path | ModelSpec | OwnModel = AUTO,
    engine: str = "auto",
    draws: int = 4000,
    chains: int = 4,
    seed: int | None = 0,
    adjust: str | Mapping[str, Mapping[str, float]] | None = None,
    frequencies: Mapping[str, float] | str | Path | KeyedVectors | None = None,
    priors: Mapping[str, Mapping[str, Any]] | None = None,
    sampler: Mapping[str, Any] | None = None,
    word_mean: str = WORD_MEAN,
) -> xr.DataTree:
    """The posterior of a model of distances.

    Parameters
    ----------
    table
        A distance table (:func:`distance_table`, :func:`read_distance_table`). Distances lie in [0, 2], unless they
        are simulated or adjusted. Of words in sentences the means over templates are fitted; the templates are a random
        effect, which is integrated over, so that intervals are for templates like these.
    model
        A name that ``bundled("models")`` shows, the path of a TOML file, a loaded model, or a model of one's own: a
        PyMC model, or a function that makes one from :class:`bayesbias.models.Distances`. ``"auto"`` is ``"related"``
        where the table carries relatedness, else ``"crossed"``, which takes different words for unrelated.
    engine
        ``"auto"`` takes the fastest that is exact for the model; ``"exact"`` (independent draws by quadrature),
        ``"marginal"`` (crossed models: importance sampling of the scales, all else exact) or ``"nuts"`` (PyMC).
    draws
        Draws in all, split evenly over ``chains``. Fewer are made, but at least 500, where these times the parameters
        of single words are more than 2**26 numbers (half a gigabyte; of the model ``related`` 2**24); notes say so.
    seed
        Seed of the draws; None takes a fresh one. Either way it is recorded in the result.
    adjust
        An attribute of words whose expectation is subtracted from each distance: with vectors a smooth curve for each
        protected word over the vocabulary's sample, without them a common slope of the control words, whose uncertainty
        is in the posterior. :func:`adjustment` shows contrasts before and after. Words without a value are left out.
    frequencies
        Where frequencies come from, as in :func:`balance`.
    priors
        Priors in place of the model's: parameter name to what a model file gives for it, such as
        ``{"sigma": {"distribution": "half_normal", "sd": 0.2}}``, or ``{"sigma": {"rate": 5}}`` to change a field.
    sampler
        Options of ``pymc.sample`` for ``engine="nuts"``, such as ``{"target_accept": 0.99, "tune": 2000}`` or
        ``{"nuts_sampler": "numpyro"}``.
    word_mean
        In a model of one's own, the variable (protected_word, connection) of the words' mean distances.

    Returns
    -------
    DataTree
        ArviZ groups ``posterior``, ``observed_data``, ``constant_data``; and ``sample_stats`` from NUTS
        and the marginal engine (``pareto_k`` and ``importance_ess``). Posterior variables: ``connection_mean``,
        ``connection_sd`` (connection), ``word_mean`` (protected_word, connection), ``sigma`` (connection, or none
        where it is shared); crossed models add ``attribute_effect`` (attribute_word), ``attribute_sd``
        (attribute_class, or none), ``attribute_sd0``, ``interaction_effect`` (attribute_word, word_group) and
        ``interaction_sd``; ``"related"`` has ``sd_factor`` and ``connection_covariance`` instead of ``sigma``. All but
        that factor are in cosine distance (the covariance in its square). A connection without data is absent; a cell
        without data is NaN. The attributes record model, engine, seed, versions and coverage.

        Crossed models take each pair once, so that repeated rows are dropped, and leave out word x group where there
        are not two known groups; :func:`diagnose` says either. Other models count every row, and refuse repeated pairs
        unless the table was made or read with ``keep_duplicates=True``.

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> post = bb.fit(table, "crossed", seed=0)
    >>> post.attrs["engine"]
    'marginal'
    >>> post["posterior/connection_mean"].mean(("chain", "draw")).round(2).to_series().to_dict()
    {'associated': 0.93, 'different': 0.94, 'human': 0.94, 'neutral': 0.94}
    """
    check_used(adjust, frequencies)
    draws, chains = checked_draws(draws, chains)
    seed_used = used_seed(seed)
    if not isinstance(model, str | Path | ModelSpec):
        if priors is not None or engine not in ("auto", "nuts") or adjust is not None:
            raise InputError(
                "a model of one's own has its own priors and covariates and is sampled by NUTS: leave priors, adjust "
                "and engine out"
            )
        return sampled_own(table, model, (draws, chains), seed_used, sampler, word_mean)
    if adjust is not None:
        table = adjusted_for(table, adjust, frequencies)

    how = (model, engine, draws, chains, seed_used, priors, sampler)
    post = _posterior(table, *how)
    if not isinstance(table, DistanceTable) or table.adjustment is None:
        return post
    return _recorded(post, table.adjustment, _posterior(as_measured(table), *how), seed_used)


def _posterior(
    table: pd.DataFrame,
    model: str | Path | ModelSpec,
    engine: str,
    draws: int,
    chains: int,
    seed: int,
    priors: Mapping[str, Mapping[str, Any]] | None,
    sampler: Mapping[str, Any] | None,
) -> xr.DataTree:
    """The posterior of the distances as they stand in a table."""
    data = read_distances(table)
    spec, notes = _chosen_model(model, data, priors)
    made = run(spec, data, engine, draws, chains, seed, sampler)
    how = made_by(made.spec, made.engine, seed) | {"attribute_words": made.spec.attribute_words}
    post = assemble(made.spec, replace(made.data, notes=(*notes, *made.data.notes)), made.drawn, how)
    templates = template_data(table, data)
    return post if templates is None else with_template_effects(post, templates, seed)


def pymc_model(
    table: pd.DataFrame | xr.DataTree,
    model: str | Path | ModelSpec = AUTO,
    priors: Mapping[str, Mapping[str, Any]] | None = None,
) -> pymc.Model:
    """The model of a distance table in PyMC, to be read, changed and sampled; ``engine="nuts"`` samples exactly this.

    Its free variables are the posterior variables of :func:`fit`, with names and dimensions, so that PyMC takes the
    draws of any engine: ``pm.sample_posterior_predictive``, ``pm.stats.compute_log_likelihood``,
    ``pm.stats.compute_log_prior``. Means of words and pooled scales are moved as standardised deviations by the
    sampler, in transforms. The observed variable is ``distance`` (pair).

    Parameters
    ----------
    table
        A distance table, or a fit, whose distances and model are taken.
    model, priors
        As in :func:`fit`. ``"auto"`` is the model of a fit.

    Returns
    -------
    pymc.Model
        Coordinates ``protected_word``, ``connection``, ``attribute_word``, ``attribute_class``, ``word_group`` (groups
        of protected words) and ``pair`` (rows). Places without a distance have draws from their prior; fits hold NaN
        there. ``"related"`` has means of words with a flat prior and no prior predictive distribution; the covariance
        of further words follows from its draws in :func:`fit`, and is no part of it. Of adjusted distances the error of
        an estimated slope is none either.

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> model = bb.pymc_model(table, "published")
    >>> [variable.name for variable in model.free_RVs]
    ['connection_mean', 'connection_sd', 'word_mean', 'sigma']
    """
    from bayesbias.models.builder import of_cells, of_rows

    data = read_distances(table)
    of_fit = is_auto(model) and not isinstance(table, pd.DataFrame)
    spec, _ = _chosen_model(Fit.read(table).spec if of_fit else model, data, priors)
    spec, data = family_of(spec).prepared(spec, data)
    return of_cells(spec, data, related_sums(data)) if spec.related else of_rows(spec, data)[0]


def _chosen_model(
    model: str | Path | ModelSpec, data: Distances, priors: Mapping[str, Mapping[str, Any]] | None = None
) -> tuple[ModelSpec, tuple[Note, ...]]:
    """The model that was asked for, with its priors, and notes on how it came about."""
    notes: list[Note] = []
    spec = load_model(RELATED if is_auto(model) else model)
    if is_auto(model) and not family_of(spec).supports(data):
        spec = load_model(FALLBACK)
        reason = "no relatedness" if data.relatedness is None else too_many_lists(data)
        notes.append(Note("model", model=spec.name, reason=reason))
    if priors is not None:
        spec = with_priors(spec, priors)
        notes.append(Note("priors", model=spec.name, names=list(priors)))
    return spec, tuple(notes)


class Run(NamedTuple):
    """Draws of an engine, with the model and the distances as its family prepared them."""

    spec: ModelSpec
    data: Distances
    drawn: Draws
    engine: str


def run(
    spec: ModelSpec,
    data: Distances,
    engine: str,
    draws: int,
    chains: int,
    seed: int,
    sampler: Mapping[str, Any] | None = None,
) -> Run:
    """The draws of an engine, or for ``"auto"`` of the fastest that can fit the model; ``draws`` are those in all."""
    able = engines_for(spec)
    one_of(engine, [AUTO, *ENGINES], "engine")
    chosen = able[0] if engine == AUTO else engine
    if chosen not in able:
        raise InputError(f"the engine {engine!r} cannot fit the model {spec.name!r}: use {' or '.join([AUTO, *able])}")
    if sampler is not None and chosen != "nuts":
        raise InputError(f"sampler is for engine='nuts', and the engine is {chosen!r}: leave one of them out")
    how = () if sampler is None else (dict(sampler),)
    spec, data = family_of(spec).prepared(spec, data)
    draws, why = fewer_draws(spec, data, draws, chains)
    drawn = ENGINES[chosen][1](spec, data, chains, draws // chains, np.random.default_rng(seed), *how)
    return Run(spec, replace(data, notes=(*data.notes, *why)), drawn, chosen)


def fewer_draws(spec: ModelSpec, data: Distances, draws: int, chains: int) -> tuple[int, tuple[Note, ...]]:
    """Draws of a fit, with a note where they are fewer than was asked for because the table has many words."""
    # parameters of single words: cells and, where attribute words have effects, one each, and one on each group
    effects = spec.crossed * (1 + spec.terms.word_x_group * len(data.group_names))
    size = int(data.filled.sum()) + len(data.attribute_words) * effects
    least = -(-FEWEST_DRAWS // chains) * chains
    most = max(family_of(spec).most_numbers // size // chains * chains, least)
    if draws <= most:
        return draws, ()
    note = Note("sampled", rule="fewer draws for many words", used=most, total=draws)
    return most, (note,)


def is_auto(model: object) -> bool:
    """True where the table is to choose the model."""
    return isinstance(model, str) and model == AUTO


def checked_draws(draws: int, chains: int) -> tuple[int, int]:
    """Draws in all and chains."""
    draws, chains = whole_number(draws, "draws"), whole_number(chains, "chains")
    if draws % chains:
        raise InputError(f"draws={draws} do not split evenly over {chains} chains: give a multiple of {chains}")
    return draws, chains


def used_seed(seed: int | None) -> int:
    """The seed that was given, or one from the system's entropy that fits into 63 bits, so that a file can hold it."""
    if seed is None:
        return int(np.random.SeedSequence().generate_state(1, np.uint64)[0] >> 1)
    return whole_number(seed, "seed", least=0, most=None)


def _recorded(post: xr.DataTree, adjustment: Adjustment, raw: xr.DataTree, seed: int) -> xr.DataTree:
    """The fit with its adjustment: a group of words' values, and the fit of the distances as they were measured."""
    tree, data, slope = post.copy(), Fit(post).data, adjustment.slope
    if slope is not None:
        posterior = post["posterior"].dataset
        sizes = [posterior.sizes[name] for name in STEPS]
        moved = xr.DataArray(slope.se * np.random.default_rng([seed, 2]).standard_t(slope.df, sizes), dims=STEPS)
        changed = with_slope_moved(posterior, data, adjustment, moved).assign(slope=slope.value + moved)
        tree["posterior"] = xr.DataTree(changed)
    group = xr.Dataset(
        {"value": ("attribute_word", adjustment.attribute.of(data.attribute_words))},
        coords={"attribute_word": data.attribute_words},
        attrs={"facts": to_json(adjustment.facts())},
    )
    tree[ADJUSTMENT], tree[UNADJUSTED] = xr.DataTree(group), raw
    notes = [*restored(Fit(post).fact("notes")), *adjustment.notes]
    tree.attrs = {**post.attrs, "adjust": adjustment.attribute.name, "notes": to_json(stored(notes))}
    return tree


POINTWISE = "pointwise_log_likelihood"  # beside the density of all distances together, where that is no sum of it


def add_prior(
    post: xr.DataTree, draws: int = 1000, seed: int | None = None, log_likelihood: bool = False
) -> xr.DataTree:
    """The fit with its priors: groups ``prior``, ``prior_predictive`` and ``log_prior``, as ArviZ takes them.

    Draws are exact and need no PyMC. With ``log_likelihood=True`` ``az.psense_summary`` and
    ``azp.plot_psense_dist`` work too (Kallioinen et al. 2024, https://doi.org/10.1007/s11222-023-10366-5).

    Parameters
    ----------
    post
        A result of :func:`fit`.
    draws
        Draws of the prior.
    seed
        Seed of these draws; None takes one that follows from the seed of the fit.
    log_likelihood
        Whether to add the group ``log_likelihood``, as :func:`add_log_likelihood` does. Where words are related, or the
        table is too large for the densities of all draws, it is that of all distances together, for power scaling, and
        the group ``pointwise_log_likelihood`` has those of single distances, for LOO.

    Returns
    -------
    DataTree
        A new tree; ``post`` is untouched. ``log_prior`` has the parameters that depend on no other, and pooled scales
        by the density of their logarithm. The model ``related`` has ``log_prior`` alone: its means of words have a flat
        prior, and the covariance of the distances comes from the vectors.

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> post = bb.checks.add_prior(bb.fit(table, "published", seed=0), draws=200, seed=0)
    >>> post["prior_predictive/distance"].sizes["draw"]
    200
    """
    result = Fit.read(post)
    rng = np.random.default_rng([result.seed, 4] if seed is None else whole_number(seed, "seed", least=0, most=None))
    family, tree = family_of(result.spec), result.tree.copy()
    tree["log_prior"] = xr.DataTree(_by_step(result, family.log_priors(result.model_alone)))
    if family.has_prior:
        tree.update({name: xr.DataTree(group) for name, group in _drawn_prior(result, draws, rng).items()})
    if log_likelihood:
        single = add_log_likelihood(post)["log_likelihood"]
        tree["log_likelihood"] = single
        if family.needs_relatedness or single.sizes["draw"] < result.posterior.sizes["draw"]:
            whole = {"distance": family.log_likelihood(result.model_alone)}
            tree[POINTWISE], tree["log_likelihood"] = single, xr.DataTree(_by_step(result, whole))
    return tree


def _drawn_prior(result: Fit, draws: int, rng: np.random.Generator) -> dict[str, xr.Dataset]:
    """Draws of a fit's parameters from their priors, and of the distances that follow."""
    family, posterior, data = family_of(result.spec), result.posterior, result.data
    check_draws_of_pairs(draws, len(data.y))
    truths = [family.drawn_truth(result.spec, data, rng) for _ in range(draws)]
    distances = np.stack([family.drawn_distances(result.spec, truth, data, rng) for truth in truths])[None]
    at = {"chain": [0], "draw": np.arange(draws)}
    variables = {}
    for name in map(str, posterior.data_vars):
        if name in truths[0]:  # a slope is none of the model's
            values = np.stack([truth[name] for truth in truths])[None]
            variables[name] = ((*STEPS, *DIMS.get(name, ())[: values.ndim - 2]), values)
    used = {dim for dims, _ in variables.values() for dim in dims[2:]}
    pairs = {"pair": result.tree["observed_data/pair"].to_numpy()}
    return {
        "prior": xr.Dataset(variables, coords=at | {dim: posterior[dim].to_numpy() for dim in used}),
        "prior_predictive": xr.Dataset({"distance": ((*STEPS, "pair"), distances)}, coords=at | pairs),
    }


def add_predictive(post: xr.DataTree, seed: int | None = None, draws: int | None = None) -> xr.DataTree:
    """The fit with a group ``posterior_predictive``: ``distance`` (chain, draw, pair) of the same words again.

    Where words are related, distances are known once the words are: the draws are those of other lists, as similar as
    these, on the same protected words.

    Parameters
    ----------
    post
        A result of :func:`fit`.
    seed
        Seed of the predictive draws; None takes one that follows from the seed of the fit.
    draws
        Of how many of the fit's draws the group is made, at even steps; None takes all where these are at most 2**26
        numbers (draws x pairs, half a gigabyte), else as many as that, with a warning.

    Returns
    -------
    DataTree
        A new tree; ``post`` is untouched.

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> post = bb.fit(table, seed=0)
    >>> post = bb.checks.add_predictive(post, seed=0, draws=200)
    >>> "posterior_predictive" in post.children
    True
    """
    result = Fit.read(post)
    rng, posterior = predictive_generator(result, seed), _thinned(result, draws)
    value = family_of(result.spec).predicted(result, posterior, rng)
    return _with_group(result, "posterior_predictive", value, posterior)


def _thinned(result: Fit, draws: int | None) -> xr.Dataset:
    """The posterior at even steps: so many draws in all, or as many as the memory of a group allows."""
    posterior, pairs = result.posterior, result.tree["observed_data"].sizes["pair"]
    chains, each = result.steps
    if draws is not None:
        step = -(-each * chains // whole_number(draws, "draws", least=chains, most=each * chains))
    else:
        step = -(-chains * each * pairs // MOST_NUMBERS)
    thinned = posterior.isel(draw=slice(None, None, step))
    if draws is None and step > 1:
        every = chains * each
        warn(
            f"the group is made of {chains * thinned.sizes['draw']:,} of {every:,} draws: all would be "
            f"{every * pairs:,} numbers, more than {MOST_NUMBERS:,} (draws={every} takes all)",
            BayesbiasWarning,
        )
    return thinned


def add_log_likelihood(post: xr.DataTree, draws: int | None = None) -> xr.DataTree:
    """The fit with a group ``log_likelihood``: ``distance`` (chain, draw, pair), for ``az.loo`` and ``az.compare``.

    Where words are related, the density is that of one distance alone, given the mean of its cell; it does not know
    of the correlation with other distances. Densities are those of the model, without the errors of templates and of an
    estimated slope, which a fit adds to its means.

    Parameters
    ----------
    post
        A result of :func:`fit`.
    draws
        Of how many of the fit's draws the group is made, as in :func:`add_predictive`.

    Returns
    -------
    DataTree
        A new tree; ``post`` is untouched.

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> post = bb.fit(table, seed=0)
    >>> post = bb.checks.add_log_likelihood(post, draws=200)
    >>> "log_likelihood" in post.children
    True
    """
    result = Fit.read(post)
    posterior = _thinned(result, draws)
    thinned = post.copy()
    thinned["posterior"] = xr.DataTree(posterior)
    family, alone = family_of(result.spec), Fit(thinned).model_alone
    value = np.empty((posterior.sizes["chain"] * posterior.sizes["draw"], result.tree["observed_data"].sizes["pair"]))
    for part in parts_of(value.shape[1]):
        value[:, part] = family.density(alone, part)
    return _with_group(result, "log_likelihood", value.reshape(posterior.sizes["chain"], -1, value.shape[1]), posterior)


def _by_step(result: Fit, values: Mapping[str, FloatArray]) -> xr.Dataset:
    coords = {name: result.posterior[name] for name in STEPS}
    return xr.Dataset({name: (STEPS, each) for name, each in values.items()}, coords)


def predictive_generator(result: Fit, seed: int | None = None) -> np.random.Generator:
    """A generator for predictive draws, apart from the one that made the fit."""
    return np.random.default_rng([result.seed, 1] if seed is None else whole_number(seed, "seed", least=0, most=None))


def _with_group(result: Fit, group: str, values: FloatArray, posterior: xr.Dataset) -> xr.DataTree:
    """The fit with a group of numbers (chain, draw, pair)."""
    coords = {name: posterior[name].to_numpy() for name in ("chain", "draw")}
    coords["pair"] = result.tree["observed_data"]["pair"].to_numpy()
    tree = result.tree.copy()
    tree[group] = xr.DataTree(xr.Dataset({"distance": ((*STEPS, "pair"), values)}, coords=coords))
    return tree
