"""Engines by model, ``fit``, and predictive draws and log likelihoods of a fit."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr

from bayesbias._checks import one_of, whole_number
from bayesbias._core.vectors import FloatArray
from bayesbias.distances.distances import Distances, refuse_repeats
from bayesbias.distances.frames import averaged
from bayesbias.errors import InputError, shortened
from bayesbias.models import exact, marginal, nuts
from bayesbias.models.adjust import adjusted_table, recorded, with_slope
from bayesbias.models.draws import EFFECTS, Draws, dims_of
from bayesbias.models.families import family_of, parts_of
from bayesbias.models.frames import frame_data, with_frame_effects
from bayesbias.models.marginal import PACKAGE
from bayesbias.models.related import too_many_lists
from bayesbias.models.results import Fit, assemble, read_distances
from bayesbias.models.spec import ModelSpec, bundled_models, load_model, with_priors
from bayesbias.models.word_draws import ALL, DRAWS, KEEPS, MOST_NUMBERS, SUMMARY, Keep, kept_words
from bayesbias.words import words_given

if TYPE_CHECKING:
    from gensim.models import KeyedVectors


@dataclass(frozen=True)
class Engine:
    """A way to draw from a posterior.

    Attributes
    ----------
    name
        What ``fit(engine=...)`` takes.
    obstacle
        Specification to the reason why this engine cannot fit it, or None.
    sample
        Specification, data, chains, draws in each chain and a generator to draws.
    streams
        Whether ``sample`` takes ``keep`` too, what is kept of words, so that their draws need not all be held.
    independent
        Whether draws are independent, but where statistics of the sampler tell of divergent transitions: NUTS took
        over.
    """

    name: str
    obstacle: Callable[[ModelSpec], str | None]
    sample: Callable[..., Draws]
    streams: bool = False
    independent: bool = False

    def draw(
        self, spec: ModelSpec, data: Distances, chains: int, draws: int, rng: np.random.Generator, keep: Keep
    ) -> Draws:
        """Draws, with what is to be kept of single words."""
        if self.streams:
            return self.sample(spec, data, chains, draws, rng, keep)
        return kept_words(self.sample(spec, data, chains, draws, rng), data, keep)


ENGINES = (
    Engine("exact", exact.obstacle, exact.sample, streams=True, independent=True),
    Engine("marginal", marginal.obstacle, marginal.sample, streams=True, independent=True),
    Engine("nuts", nuts.obstacle, nuts.sample),
)
"""The fastest first: ``auto`` takes the first that can fit the model."""


def engines_for(spec: ModelSpec) -> list[str]:
    """Names of the engines that can fit a model, the fastest first."""
    return [engine.name for engine in ENGINES if engine.obstacle(spec) is None]


def choose_engine(spec: ModelSpec, name: str) -> Engine:
    """The engine of that name, or for ``"auto"`` the fastest that can fit the model.

    Raises
    ------
    InputError
        No such engine, or one that cannot fit the model.
    """
    able, every = engines_for(spec), {engine.name: engine for engine in ENGINES}
    one_of(name, ["auto", *every], "engine")
    engine = every[able[0] if name == "auto" else name]
    if (reason := engine.obstacle(spec)) is not None:
        raise InputError(
            f"the engine {name!r} cannot fit the model {spec.name!r}: {reason}; use {' or '.join(['auto', *able])}"
        )
    return engine


RELATED_NUMBERS = 2**24
"""Draws times cells up to which ``keep="auto"`` keeps all draws of the model of related words: 128 megabytes."""
FEWEST_DRAWS = 500
"""Draws that such a fit has at least."""
AUTO, RELATED, FALLBACK = "auto", "related", "crossed"
UNRELATED = (
    "The model 'crossed' takes different words for unrelated: for lists of one topic without bias its 89% intervals "
    "exclude 0 in about a quarter (protected words like these) to half (these protected words) of trials, not in 11%."
)
NO_RELATEDNESS = "The table does not tell how words are related, so that the model 'crossed' was fitted."


def fit(
    table: pd.DataFrame,
    model: str | Path | ModelSpec = AUTO,
    engine: str = "auto",
    draws: int = 4000,
    chains: int = 4,
    seed: int | None = None,
    adjust: str | Mapping[str, Mapping[str, float]] | None = None,
    frequencies: Mapping[str, float] | str | Path | KeyedVectors | None = None,
    priors: Mapping[str, Mapping[str, Any]] | None = None,
    keep: str = AUTO,
) -> xr.DataTree:
    """The posterior of a model of distances.

    Parameters
    ----------
    table
        A distance table (:func:`distance_table`, :func:`read_distance_table`). The values need only be finite. Of words
        in sentences the means over frames are fitted; the frames are a random effect of each connection's mean, which
        is integrated over, so that intervals are for frames like these. Repeats are not counted as data.
    model
        A name that :func:`list_models` shows, the path of a TOML file, or a loaded model. ``"auto"`` is ``"related"``
        where the table carries relatedness (:func:`distance_table` adds it), else ``"crossed"``, which takes different
        words for unrelated and says so.
    engine
        ``"auto"`` takes the fastest engine that is exact for the model; ``"exact"`` (independent draws by
        quadrature), ``"marginal"`` (crossed models: importance sampling of the scales, everything else exact) or
        ``"nuts"`` (PyMC).
    draws
        Draws kept in all, split evenly over ``chains``.
    seed
        Seed of the draws; None takes a fresh one. Either way it is recorded in the result.

    adjust
        An attribute of words that distances are adjusted for: ``"frequency"``, ``"length"`` (letters), or a mapping
        with one entry, the name of an attribute of your own and the number of each word. From each distance its
        expectation at the word's value is subtracted: with vectors a smooth curve for each protected word over the
        vocabulary's sample, without them a common slope estimated from the control words, whose uncertainty is in the
        posterior. :func:`adjustment` shows contrasts before and after. Attribute words without a value are left out.
    frequencies
        Where frequencies come from, as in :func:`balance`.
    priors
        Priors in place of the model's: parameter name to what a model file gives for it, such as
        ``{"sigma": {"distribution": "half_normal", "sd": 0.2}}``, or ``{"sigma": {"rate": 5}}`` to change a field. The
        fit records the model with these priors, and its notes name them.
    keep
        Of single words, ``"draws"`` or a ``"summary"``: moments, median and equal-tailed intervals (50%, 89%, 95%) of
        each protected word, of its contrasts and of the effects of each attribute word, and the draws of means over
        words. ``"auto"`` keeps draws where these are at most 2**26 numbers (draws x parameters of single words, half a
        gigabyte), else a summary, and notes say so; of the model ``related``, whose contrasts do not depend on draws,
        it keeps fewer draws where there are more than 2**24 numbers, but at least 500. Summaries are for tables of many
        words: :func:`summary` and :func:`diagnose` take them, and :func:`contrasts` with ``rows="difference"``;
        what needs draws says so, and :func:`checks.word_draws <bayesbias.checks.word_draws>` gives those of some words.

    Returns
    -------
    DataTree
        ArviZ groups ``posterior``, ``observed_data``, ``constant_data``; ``words`` where summaries are kept; and
        ``sample_stats`` from NUTS and the marginal engine (``pareto_k`` and ``importance_ess``). Posterior variables:
        ``connection_mean``,
        ``connection_sd`` (connection), ``word_mean`` (protected_word, connection), ``sigma`` (connection, or none
        where it is shared); crossed models add ``attribute_effect`` (attribute_word), ``attribute_sd``
        (attribute_class, or none), ``attribute_sd0``, ``interaction_effect`` (attribute_word, group) and
        ``interaction_sd``; ``"related"`` has ``sd_factor`` and ``connection_covariance`` instead of ``sigma``. All but
        that factor are in cosine distance (the covariance in its square). A connection without data is absent; a cell
        without data is NaN. The attributes record model, engine, seed, versions and coverage.

        Crossed models take each pair once, so that repeated rows are dropped, and leave out word x group where there
        are not two known groups; :func:`diagnose` says either. Other models count every row, and refuse repeated pairs
        unless the table was made or read with ``keep_duplicates=True``.

    Raises
    ------
    InputError
        A table that lacks a column, has no row or holds values that are not finite; an unknown model or engine; an
        engine that cannot fit the model; draws that do not split evenly; a prior that the model does not have.

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> post = bb.fit(table, "crossed", seed=0)
    >>> post.attrs["engine"]
    'marginal'
    >>> post["posterior/connection_mean"].mean(("chain", "draw")).round(2).to_series().to_dict()
    {'associated': 0.93, 'different': 0.94, 'human': 0.94, 'neutral': 0.94}
    """
    if adjust is not None:
        if keep == SUMMARY:
            raise InputError("keep='summary' is for distances as they are: adjusted ones need the draws of words")
        how = {"model": model, "engine": engine, "draws": draws, "chains": chains, "priors": priors, "keep": DRAWS}
        return _adjusted_fit(table, adjust, frequencies, how | {"seed": used_seed(seed)})
    if frequencies is not None:
        raise InputError("frequencies are given, but nothing is adjusted for: give adjust='frequency' too")
    one_of(keep, KEEPS, "keep")
    by_frame, table = table, averaged(table)
    data = read_distances(table)
    frames = frame_data(by_frame, data)
    spec, note = chosen_model(model, data)
    if priors is not None:
        spec = with_priors(spec, priors)
        note = (*note, f"Priors other than those of the model {spec.name!r}: {', '.join(map(repr, priors))}.")
    chosen = choose_engine(spec, engine)
    draws, chains = checked_draws(draws, chains)
    spec, data = family_of(spec).prepared(spec, data)
    if not (spec.crossed or spec.related):
        refuse_repeats(table, spec.name)
    draws, fewer = _fewer_draws(keep, spec, data, draws, chains)
    kept, why = _kept(keep, spec, data, draws, frames is not None)
    why = (*fewer, *why)
    data = replace(data, notes=(*note, *data.notes, *why))
    used = used_seed(seed)
    drawn = chosen.draw(spec, data, chains, draws // chains, np.random.default_rng(used), kept)
    post = assemble(spec, data, drawn, chosen.name, used, table.attrs.get("coverage"))
    return post if frames is None else with_frame_effects(post, frames, used)


def _fewer_draws(keep: str, spec: ModelSpec, data: Distances, draws: int, chains: int) -> tuple[int, tuple[str, ...]]:
    """Draws of a fit of related words, with a note where they are fewer than was asked for.

    Weighted sums of cells are exact, so that draws are for pictures and for further protected words.
    """
    cells = int(data.filled.sum())
    least = -(-FEWEST_DRAWS // chains) * chains
    most = max(RELATED_NUMBERS // cells // chains * chains, least)
    if not spec.related or keep != AUTO or draws <= most:
        return draws, ()
    note = (
        f"{most:,} draws are kept, not {draws:,}: the table has {cells:,} cells (protected words x connections). "
        "Contrasts, associations and decompositions do not depend on draws (keep='draws' keeps all)."
    )
    return most, (note,)


def _kept(keep: str, spec: ModelSpec, data: Distances, draws: int, frames: bool) -> tuple[Keep, tuple[str, ...]]:
    """What is kept of single words, with a note where that was not asked for.

    Raises
    ------
    InputError
        A summary of a fit whose sentence frames change the draws of words.
    """
    if frames and keep == SUMMARY:
        raise InputError("keep='summary' is for words without sentence frames: these need the draws of words")
    size = int(data.filled.sum())
    if spec.crossed:
        size += len(data.attribute_words) * (1 + spec.terms.word_x_group * len(data.group_names))
    if keep != AUTO or frames or size * draws <= MOST_NUMBERS:
        return (Keep(SUMMARY) if keep == SUMMARY else ALL), ()
    note = (
        f"Of single words a summary is kept, not their draws: {size:,} parameters of words times {draws:,} draws are "
        f"more than {MOST_NUMBERS:,} numbers (keep='draws' keeps them)."
    )
    return Keep(SUMMARY), (note,)


def word_draws(post: xr.DataTree, words: Iterable[str] | str | Path) -> xr.Dataset:
    """Draws of single words, also of a fit that keeps summaries.

    The fit is made again with its seed, so that the draws are those behind its summaries.

    Parameters
    ----------
    post
        A result of :func:`fit`.
    words
        Protected words, attribute words or both, or what :func:`load_list` takes.

    Returns
    -------
    Dataset
        ``word_mean`` (chain, draw, protected_word, connection) of the protected words among them; ``attribute_effect``
        (chain, draw, attribute_word) and ``interaction_effect`` (chain, draw, attribute_word, group) of the attribute
        words, where the model has them.

    Raises
    ------
    InputError
        No word, or one that is not in the fit.

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> post = bb.fit(table, "crossed", seed=0, keep="summary")
    >>> dict(bb.checks.word_draws(post, ["math"])["word_mean"].sizes)
    {'chain': 4, 'draw': 1000, 'protected_word': 1, 'connection': 4}
    """
    result = Fit.read(post, summaries=True)
    data = result.data
    asked = list(dict.fromkeys(words_given(words, "words")))
    known = (data.protected_words, data.attribute_words)
    places = [np.flatnonzero(np.isin(names, asked)) for names in known]
    if unknown := [word for word in asked if not any(word in names for names in known)]:
        raise InputError(f"the fit has no word {shortened(unknown, 5)}: give protected or attribute words of it")
    labels = {"protected_word": places[0], "attribute_word": places[1]}
    own = ["word_mean"] if len(places[0]) else []
    own += [name for name in EFFECTS if len(places[1])]
    if not result.summarised:
        posterior = result.posterior
        kept = posterior[[name for name in own if name in posterior]]
        return kept.isel({dim: at for dim, at in labels.items() if dim in kept.dims})
    spec = result.spec
    spec, data = family_of(spec).prepared(spec, data)
    steps, rng = result.posterior.sizes, np.random.default_rng(result.seed)
    engine = choose_engine(spec, result.engine)
    drawn = engine.draw(spec, data, steps["chain"], steps["draw"], rng, Keep(DRAWS, *places))
    held = {name: drawn.posterior[name] for name in own if name in drawn.posterior}
    every = {"connection": data.connections, "group": data.group_names}
    every |= {dim: names[at] for (dim, at), names in zip(labels.items(), known, strict=True)}
    dims = {name: ("chain", "draw", *dims_of(name, values)) for name, values in held.items()}
    used = {dim for names in dims.values() for dim in names}
    return xr.Dataset(
        {name: (dims[name], values) for name, values in held.items()},
        coords={dim: names for dim, names in every.items() if dim in used},
    )


def _adjusted_fit(
    table: pd.DataFrame,
    adjust: str | Mapping[str, Mapping[str, float]],
    frequencies: Mapping[str, float] | str | Path | KeyedVectors | None,
    how: dict[str, Any],
) -> xr.DataTree:
    """The fit of adjusted distances, with the contrasts of the same words before."""
    adjusted, adjustment = adjusted_table(table, adjust, frequencies)
    kept = table[~table["attribute_word"].astype(str).isin(adjustment.left_out)]
    raw = fit(kept, **how)
    return recorded(with_slope(fit(adjusted, **how), adjustment, how["seed"]), adjustment, raw)


def chosen_model(model: str | Path | ModelSpec, data: Distances) -> tuple[ModelSpec, tuple[str, ...]]:
    """The model that was asked for, or for ``"auto"`` the one that the table allows with the reason for another."""
    if not is_auto(model):
        return load_model(model), ()
    if data.relatedness is None:
        return load_model(FALLBACK), (NO_RELATEDNESS,)
    if reason := too_many_lists(data):
        return load_model(FALLBACK), (f"{reason[0].upper()}{reason[1:]}, so that 'crossed' was fitted.",)
    return load_model(RELATED), ()


def is_auto(model: object) -> bool:
    """Whether the table is to choose the model."""
    return isinstance(model, str) and model == AUTO


def checked_draws(draws: int, chains: int) -> tuple[int, int]:
    """Draws in all and chains.

    Raises
    ------
    InputError
        Either is no whole number of at least 1, or draws do not split evenly.
    """
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
    rows = [(s.name, s.description, ", ".join(engines_for(s)), s.source, s.doi, str(p)) for p, s in specs.items()]
    return pd.DataFrame(rows, columns=["name", "description", "engines", "source", "doi", "path"])


LOG_2PI = float(np.log(2 * np.pi))
PAIRS_AT_ONCE = 1024

PairDensity = Callable[[slice], FloatArray]


def add_predictive(post: xr.DataTree, seed: int | None = None, draws: int | None = None) -> xr.DataTree:
    """The fit with a group ``posterior_predictive``: ``distance`` (chain, draw, pair) of the same words again.

    Where words are related, distances are known once the words are: the draws are those of other lists, as alike as
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
        A new tree; ``post`` is untouched. The group takes 8 bytes for each draw and pair.

    Warns
    -----
    UserWarning
        The group is made of fewer draws than the fit has.

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
    """The posterior at even steps: so many draws in all, or as many as the memory of a group allows.

    Raises
    ------
    InputError
        More draws than the fit has, or a number of them that is none.
    """
    posterior, pairs = result.posterior, result.tree["observed_data"].sizes["pair"]
    chains, each = posterior.sizes["chain"], posterior.sizes["draw"]
    if draws is not None:
        step = -(-each * chains // whole_number(draws, "draws", least=chains, most=each * chains))
    else:
        step = -(-chains * each * pairs // MOST_NUMBERS)
    kept = posterior.isel(draw=slice(None, None, step))
    if draws is None and step > 1:
        warnings.warn(
            f"the group is made of {chains * kept.sizes['draw']:,} of {chains * each:,} draws: all would be "
            f"{chains * each * pairs:,} numbers, more than {MOST_NUMBERS:,} (draws={chains * each} takes all)",
            UserWarning,
            skip_file_prefixes=(PACKAGE,),
        )
    return kept


def add_log_likelihood(post: xr.DataTree, draws: int | None = None) -> xr.DataTree:
    """The fit with a group ``log_likelihood``: ``distance`` (chain, draw, pair), for ``az.loo`` and ``az.compare``.

    Where words are related, the density is that of one distance alone, given the mean of its cell; it does not know
    of the correlation with other distances (:func:`compare_models` leaves out words with it).

    Parameters
    ----------
    post
        A result of :func:`fit`.
    draws
        Of how many of the fit's draws the group is made, as in :func:`add_predictive`.

    Returns
    -------
    DataTree
        A new tree; ``post`` is untouched. The group takes 8 bytes for each draw and pair.

    Warns
    -----
    UserWarning
        The group is made of fewer draws than the fit has.

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
    density = family_of(result.spec).density(Fit(thinned))
    value = np.empty((posterior.sizes["chain"] * posterior.sizes["draw"], result.tree["observed_data"].sizes["pair"]))
    for part in parts_of(value.shape[1]):
        value[:, part] = density(part)
    return _with_group(result, "log_likelihood", value.reshape(posterior.sizes["chain"], -1, value.shape[1]), posterior)


def predictive_generator(result: Fit, seed: int | None = None) -> np.random.Generator:
    """A generator for predictive draws, apart from the one that made the fit."""
    return np.random.default_rng([result.seed, 1] if seed is None else whole_number(seed, "seed", least=0, most=None))


def _with_group(result: Fit, group: str, values: FloatArray, posterior: xr.Dataset) -> xr.DataTree:
    coords = {name: posterior[name].to_numpy() for name in ("chain", "draw")}
    coords["pair"] = result.tree["observed_data"]["pair"].to_numpy()
    tree = result.tree.copy()
    tree[group] = xr.DataTree(xr.Dataset({"distance": (("chain", "draw", "pair"), values)}, coords=coords))
    return tree
