"""Engines by model, ``fit``, and predictive draws and log likelihoods of a fit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from bayesbias._support.arguments import one_of, text, whole_number
from bayesbias._support.files import to_json
from bayesbias.distances.adjustment import Adjustment, check_used
from bayesbias.distances.dataframe import DistanceTable
from bayesbias.distances.distances import Distances
from bayesbias.distances.tables import adjust as adjusted_for
from bayesbias.distances.tables import as_measured
from bayesbias.errors import InputError, shown
from bayesbias.models import exact, marginal, nuts
from bayesbias.models.families import family_of
from bayesbias.models.layout import ADJUSTMENT, STEPS, UNADJUSTED
from bayesbias.models.own import WORD_MEAN, OwnModel, is_own
from bayesbias.models.own import sampled as sampled_own
from bayesbias.models.spec import ModelSpec, bundled_models, load_model, with_priors
from bayesbias.models.template_variation import template_data, with_template_effects
from bayesbias.models.tree import EXACT, Draws, Fit, assemble, made_by, read_distances, with_slope_moved
from bayesbias.results import Note, restored, stored

if TYPE_CHECKING:
    import pymc
    from gensim.models import KeyedVectors


@dataclass(frozen=True)
class Engine:
    """A way to draw from a posterior."""

    name: str  # what fit(engine=...) takes
    obstacle: Callable[[ModelSpec], str | None]  # why it cannot fit a model, or None
    sample: Callable[..., Draws]  # from specification, data, chains, draws in each chain and a generator
    independent: bool = False  # draws are, but where the sampler tells of divergent transitions: NUTS took over


ENGINES = (
    Engine(EXACT, exact.obstacle, exact.sample, independent=True),
    Engine("marginal", marginal.obstacle, marginal.sample, independent=True),
    Engine("nuts", nuts.obstacle, nuts.sample),
)
"""The fastest first: ``auto`` takes the first that can fit the model."""


def _engines_for(spec: ModelSpec) -> list[str]:
    """Names of the engines that can fit a model, the fastest first."""
    return [engine.name for engine in ENGINES if engine.obstacle(spec) is None]


def choose_engine(spec: ModelSpec, name: str) -> Engine:
    """The engine of that name, or for ``"auto"`` the fastest that can fit the model."""
    able, every = _engines_for(spec), {engine.name: engine for engine in ENGINES}
    one_of(name, ["auto", *every], "engine")
    engine = every[able[0] if name == "auto" else name]
    if (reason := engine.obstacle(spec)) is not None:
        raise InputError(
            f"the engine {name!r} cannot fit the model {spec.name!r}: {reason}; use {' or '.join(['auto', *able])}"
        )
    return engine


def integrating_engine(spec: ModelSpec) -> str:
    """The engine of a comparison: the fastest for the model that does not sample."""
    reasons = {each.name: each.obstacle(spec) for each in ENGINES if each.independent}
    able = [engine for engine, reason in reasons.items() if reason is None]
    if not able:
        why = "; ".join(f"not {engine}, since {reason}" for engine, reason in reasons.items())
        raise InputError(
            f"the model {spec.name!r} needs NUTS, with which compare fits no changes ({why}): take one like 'change'"
        )
    return able[0]


def engine_of(result: Fit) -> Engine | None:
    """The engine that made a fit; None of one that is not known here."""
    return next((engine for engine in ENGINES if engine.name == result.engine), None)


def made_independently(result: Fit) -> bool:
    """True where the engine of a fit makes independent draws."""
    engine = engine_of(result)
    return engine is not None and engine.independent


FEWEST_DRAWS = 500  # draws that a fit of a large table has at least
AUTO, RELATED, FALLBACK = "auto", "related", "crossed"
CHOICES = (RELATED, FALLBACK)  # what "auto" takes the first of whose family can take the table


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
        A name that :func:`list_models` shows, the path of a TOML file, a loaded model, or a model of one's own: a
        PyMC model, or a function that makes one from the distances
        (:class:`bayesbias.models.Distances`). ``"auto"`` is ``"related"``
        where the table carries relatedness (:func:`distance_table` adds it), else ``"crossed"``, which takes different
        words for unrelated and says so.
    engine
        ``"auto"`` takes the fastest that is exact for the model; ``"exact"`` (independent draws by quadrature),
        ``"marginal"`` (crossed models: importance sampling of the scales, all else exact) or ``"nuts"`` (PyMC).
    draws
        Draws in all, split evenly over ``chains``. Fewer are made, but at least 500, where these times the parameters
        of single words are more than 2**26 numbers (half a gigabyte; of the model ``related`` 2**24); notes say so.
    seed
        Seed of the draws; None takes a fresh one. Either way it is recorded in the result.
    adjust
        An attribute of words that distances are adjusted for, as in :func:`balance`. From each distance its expectation
        at the word's value is subtracted: with vectors a smooth curve for each protected word over the vocabulary's
        sample, without them a common slope estimated from the control words, whose uncertainty is in the posterior.
        :func:`adjustment` shows contrasts before and after. Attribute words without a value are left out.
    frequencies
        Where frequencies come from, as in :func:`balance`.
    priors
        Priors in place of the model's: parameter name to what a model file gives for it, such as
        ``{"sigma": {"distribution": "half_normal", "sd": 0.2}}``, or ``{"sigma": {"rate": 5}}`` to change a field. The
        fit records the model with these priors, and its notes name them.
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
    if not isinstance(model, str | Path | ModelSpec):
        if not is_own(model):
            raise InputError(
                f"a model is a name, a path, a PyMC model or a function that makes one, not {shown(model)}"
            )
        if priors is not None or engine not in ("auto", "nuts") or adjust is not None:
            raise InputError(
                "a model of one's own has its own priors and covariates and is sampled by NUTS: leave priors, adjust "
                "and engine out"
            )
        return sampled_own(table, model, checked_draws(draws, chains), used_seed(seed), sampler, word_mean)
    if text(word_mean, "word_mean") != WORD_MEAN:
        raise InputError(f"word_mean is {shown(word_mean)}, a variable of a model of one's own: leave it out")
    if adjust is not None:
        table = adjusted_for(table, adjust, frequencies)
    options = _FitOptions(model, engine, *checked_draws(draws, chains), used_seed(seed), priors, sampler)
    post = _posterior(table, options)
    if not isinstance(table, DistanceTable) or (adjustment := table.adjustment) is None:
        return post
    return _recorded(_with_slope(post, adjustment, options.seed), adjustment, _posterior(as_measured(table), options))


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
    from bayesbias.models.builder import build

    data = read_distances(table)
    of_fit = is_auto(model) and not isinstance(table, pd.DataFrame)
    spec, _ = _chosen_model(Fit.read(table).spec if of_fit else model, data, priors)
    return build(*family_of(spec).prepared(spec, data))


class _FitOptions(NamedTuple):
    """The model to fit, its priors, the engine, the draws and the seed, and options of the sampler."""

    model: str | Path | ModelSpec
    engine: str
    draws: int
    chains: int
    seed: int
    priors: Mapping[str, Mapping[str, Any]] | None
    sampler: Mapping[str, Any] | None = None


def _posterior(table: pd.DataFrame, options: _FitOptions) -> xr.DataTree:
    """The posterior of the distances as they stand in a table."""
    data = read_distances(table)
    spec, notes = _chosen_model(options.model, data, options.priors)
    fitted = run(spec, data, options.engine, options.draws, options.chains, options.seed, options.sampler)
    how = {
        **made_by(fitted.spec, fitted.engine, options.seed),
        "attribute_words": family_of(fitted.spec).attribute_words,
    }
    post = assemble(fitted.spec, replace(fitted.data, notes=(*notes, *fitted.data.notes)), fitted.drawn, how)
    templates = template_data(table, data)
    return post if templates is None else with_template_effects(post, templates, options.seed)


def _chosen_model(
    model: str | Path | ModelSpec, data: Distances, priors: Mapping[str, Mapping[str, Any]] | None = None
) -> tuple[ModelSpec, tuple[Note, ...]]:
    """The model that was asked for, with its priors, and notes on how it came about.

    For ``"auto"`` it is the first whose family can take the distances.
    """
    spec, notes = _first_able(data) if is_auto(model) else (load_model(model), [])
    if priors is not None:
        spec = with_priors(spec, priors)
        notes.append(Note("priors", model=spec.name, names=list(priors)))
    return spec, tuple(notes)


def _first_able(data: Distances) -> tuple[ModelSpec, list[Note]]:
    """The first of the models whose family can take the distances, or the last, and why it is none before."""
    reasons: list[str] = []
    *others, spec = map(load_model, CHOICES)
    for other in others:
        if not (reason := family_of(other).lacking(data)):
            spec = other
            break
        reasons.append(reason)
    return spec, [Note("model", model=spec.name, reason=each) for each in reasons]


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
    chosen = choose_engine(spec, engine)
    if sampler is not None and chosen.sample is not nuts.sample:
        raise InputError(f"sampler is for engine='nuts', and the engine is {chosen.name!r}: leave one of them out")
    how = () if sampler is None else (nuts.checked_options(sampler),)
    spec, data = family_of(spec).prepared(spec, data)
    draws, why = fewer_draws(spec, data, draws, chains)
    drawn = chosen.sample(spec, data, chains, draws // chains, np.random.default_rng(seed), *how)
    return Run(spec, replace(data, notes=(*data.notes, *why)), drawn, chosen.name)


def fewer_draws(spec: ModelSpec, data: Distances, draws: int, chains: int) -> tuple[int, tuple[Note, ...]]:
    """Draws of a fit, with a note where they are fewer than was asked for because the table has many words."""
    family = family_of(spec)
    size, numbers = family.numbers_of_words(spec, data), family.most_numbers
    least = -(-FEWEST_DRAWS // chains) * chains
    most = max(numbers // size // chains * chains, least)
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


def list_models() -> pd.DataFrame:
    """The bundled models: ``name``, ``description``, ``engines`` that can fit it, ``source``, ``doi``, ``path``.

    Examples
    --------
    >>> bb.list_models().set_index("name").loc["crossed", "engines"]
    'marginal, nuts'
    """
    specs = {path: load_model(path) for path in bundled_models().values()}
    rows = [(s.name, s.description, ", ".join(_engines_for(s)), s.source, s.doi, str(p)) for p, s in specs.items()]
    return pd.DataFrame(rows, columns=["name", "description", "engines", "source", "doi", "path"])


def _with_slope(post: xr.DataTree, adjustment: Adjustment, seed: int) -> xr.DataTree:
    """The fit with the uncertainty of the common slope in its means: the posterior variable ``slope`` has its draws."""
    if adjustment.slope is None:
        return post
    slope, posterior = adjustment.slope, post["posterior"].dataset
    sizes = [posterior.sizes[name] for name in STEPS]
    moved = xr.DataArray(slope.se * np.random.default_rng([seed, 2]).standard_t(slope.df, sizes), dims=STEPS)
    changed = with_slope_moved(posterior, Fit(post).data, adjustment, moved).assign(slope=slope.value + moved)
    tree = post.copy()
    tree["posterior"] = xr.DataTree(changed)
    return tree


def _recorded(post: xr.DataTree, adjustment: Adjustment, raw: xr.DataTree) -> xr.DataTree:
    """The fit with a group ``adjustment``, of words' values, and the fit of the distances as they were measured."""
    result = Fit(post)
    words = result.data.attribute_words
    group = xr.Dataset(
        {"value": ("attribute_word", adjustment.attribute.of(words))},
        coords={"attribute_word": words},
        attrs={"facts": to_json(adjustment.facts())},
    )
    tree = post.copy()
    tree[ADJUSTMENT], tree[UNADJUSTED] = xr.DataTree(group), raw
    notes = [*restored(result.fact("notes")), *adjustment.notes]
    tree.attrs = {**post.attrs, "adjust": adjustment.attribute.name, "notes": to_json(stored(notes))}
    return tree
