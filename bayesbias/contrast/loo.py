"""``compare_models``: leave-one-word-out predictive comparison."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from scipy.special import logsumexp

from bayesbias._support.arguments import flag, one_of, whole_number
from bayesbias._support.progress import progress
from bayesbias.checks.convergence import MAX_PARETO_K, diagnose
from bayesbias.checks.summaries import flat_draws
from bayesbias.distances.columns import averaged
from bayesbias.distances.dataframe import PAIR, relatedness_of, template_columns
from bayesbias.distances.distances import Distances, once
from bayesbias.errors import InputError, listed
from bayesbias.models.families import family_of, parts_of
from bayesbias.models.fits import fit
from bayesbias.models.marginal import drawn_scales, variances_of
from bayesbias.models.spec import ModelSpec, load_model
from bayesbias.models.tree import Fit, read_distances
from bayesbias.numerics.arrays import FloatArray, IntArray
from bayesbias.numerics.conditionals import word_log_likelihood
from bayesbias.numerics.marginal import LOG_2PI, find_patterns

MODELS = ("published", "crossed_plain", "crossed_shared", "crossed")
"""Models that are compared where nothing is asked for, besides ``related`` where the table knows how words are."""
PAIR_DRAWS = 1000  # draws of which the densities of single pairs are made
Unit = Literal["attribute", "protected", "pair"]
UNITS = {"attribute": "word", "protected": "protected", "pair": "pair"}
"""Units that can be left out, and the names of their columns."""
OF_UNITS = {"attribute": "an attribute word", "protected": "a protected word", "pair": "single pairs"}

Model = str | Path | ModelSpec | xr.DataTree
Done = Callable[[float], None]


class _Score(NamedTuple):
    """Pointwise log predictive densities of what was left out, how many Pareto k were high, how many stayed so."""

    elpd: FloatArray
    bad: int
    unresolved: int = 0


class _Judged(NamedTuple):
    """A model with its scores by the unit that is left out and by pair; None where there is none."""

    name: str
    engine: str
    by_unit: _Score | None
    by_pair: _Score | None
    log_evidence: float
    notes: tuple[str, ...]


def compare_models(
    table: pd.DataFrame,
    models: Sequence[Model] | None = None,
    draws: int = 4000,
    seed: int = 0,
    pairs: bool = True,
    unit: Unit = "attribute",
) -> pd.DataFrame:
    """Compare models by how well they predict the distances of a word that they have not seen.

    The headline is the sum over attribute words of log p(all distances of the word | all others): the effects of a word
    (of a protected word its cell means) are integrated out in each draw, and the draws are reweighted to the posterior
    without the word. For related words it is known in closed form, with scales that the whole table gives. Words whose
    weights cannot be trusted (Pareto k above 0.7) are left out in truth, by a refit. Leaving out single pairs flatters
    a model with effects of attribute words: the same word's other distances stay.

    Parameters
    ----------
    table
        A distance table. Repeated pairs are dropped for every model, so that all are judged by the same rows.
    models
        Names that :func:`list_models` shows, paths of TOML files, or loaded models; with ``unit="pair"`` also fits of
        models of one's own to these distances. By default the published and the crossed models, and ``related`` where
        the table carries relatedness.
    draws
        Posterior draws of each fit, a multiple of 4.
    seed
        Seed of every fit.
    pairs
        Whether single pairs are left out too, given the effects of their words (1,000 of the draws).
    unit
        What is left out for the headline: ``"attribute"`` words, ``"protected"`` words or ``"pair"``, single pairs
        alone.

    Returns
    -------
    DataFrame
        One row a model, the best first: ``model``, ``engine``; ``elpd_word``, ``se_word``, ``diff_word`` to the best
        and its standard error ``diff_se_word`` (natural log units); ``bad_k_word`` (words that called for a refit),
        ``unresolved_k_word`` (those that kept their weights, since no refit could do without them); ``elpd_pair``,
        ``se_pair``, ``bad_k_pair``; ``log_evidence`` (NaN where the engine gives none). With ``unit="protected"``
        the names end in ``_protected`` in place of ``_word``; with ``unit="pair"`` there are ``diff_pair`` and
        ``diff_se_pair`` in their place. ``attrs`` holds ``notes``, ``seed``, ``rows`` and ``unit``.

    References
    ----------
    Vehtari, A., Gelman, A. and Gabry, J. (2017). Practical Bayesian model evaluation using leave-one-out
    cross-validation and WAIC. Statistics and Computing 27. https://doi.org/10.1007/s11222-016-9696-4

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7", relatedness=False)
    >>> found = bb.checks.compare_models(table, ["published", "crossed_plain"], draws=400)
    >>> found["model"].tolist()
    ['crossed_plain', 'published']
    """
    one_of(unit, tuple(UNITS), "unit")
    pairs = flag(pairs, "pairs")
    related = relatedness_of(table) is not None and unit != "protected"
    candidates = _candidates([*MODELS, *(["related"] if related else [])] if models is None else models)
    for spec, _ in candidates:
        if (reason := family_of(spec).unpredicted(unit)) is not None:
            able = [repr(other) for other in UNITS if family_of(spec).unpredicted(other) is None]
            raise InputError(
                f"the model {spec.name!r} cannot predict the distances of {OF_UNITS[unit]}: {reason}; leave the model "
                f"out, or take unit={' or '.join(able)}"
            )
    draws, seed = whole_number(draws, "draws"), whole_number(seed, "seed", least=0, most=None)
    Distances.read(table, check=False)
    notes: list[str] = []
    if templates := template_columns(table):
        table = averaged(table)
        notes.append(f"Models are compared on means over templates ({', '.join(templates)}), as they are fitted.")
    rows = table
    if repeated := int(table.duplicated(PAIR).sum()):
        rows = once(table, "the table", "models are compared on pairs that count once")
        notes.append(f"{repeated:,} of {len(table):,} rows repeat a pair and were dropped for every model.")
    data = read_distances(rows)
    for spec, own in candidates:
        if own is not None and not _same_distances(own.data, data):
            raise InputError(
                f"the fit of the model {spec.name!r} was made of other distances than the rows compared here: fit "
                "these, each pair once"
            )
    judged = []
    with progress("comparing models", len(candidates)) as done:
        for i, (spec, own) in enumerate(candidates):
            fitted = own or Fit(fit(rows, spec, draws=draws, seed=seed)).model_alone
            judged.append(_judge(fitted, rows, data, pairs, unit, _part(done, i, 1)))
    result = _ranking(judged, unit)
    notes += [f"{entry.name}: {note}" for entry in judged for note in entry.notes]
    result.attrs = {"notes": notes, "seed": seed, "rows": len(rows), "unit": unit}
    return result


def _same_distances(one: Distances, other: Distances) -> bool:
    """True where both hold the same pairs of words and distances, row by row."""
    frames = [each.to_frame()[[*PAIR, "distance"]] for each in (one, other)]
    return len(frames[0]) == len(frames[1]) and frames[0].astype(str).equals(frames[1].astype(str))


def _candidates(models: Sequence[Model]) -> list[tuple[ModelSpec, Fit | None]]:
    """Models, with the fit of one that is the user's own."""
    if isinstance(models, Model | bytes) or not isinstance(models, Sequence) or not models:
        raise InputError(f"models is {models!r}: give a list of at least one model, such as {list(MODELS)}")
    entries = [Fit.read(model) if isinstance(model, xr.DataTree) else load_model(model) for model in models]
    specs = [each.spec if isinstance(each, Fit) else each for each in entries]
    names = [spec.name for spec in specs]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"two models are named {twice!r}: give each file a name of its own")
    # a model of the package is fitted to the rows that are compared, whatever its fit was made of
    return [
        (spec, each if isinstance(each, Fit) and spec.own else None) for spec, each in zip(specs, entries, strict=True)
    ]


def _judge(result: Fit, table: pd.DataFrame, data: Distances, pairs: bool, unit: Unit, done: Done) -> _Judged:
    """Score a fit; ``done`` is told which share of that is behind."""
    spec = result.spec
    done(0.1)
    # draws of engines without chains are independent, and their own checks stand in notes
    faults = diagnose(result.tree).faults if "diverging" in result.stats else ()
    notes = [*result.notes, *(f"The fit should not be read: {fault}." for fault in faults)]
    by_unit = None
    if unit == "pair":
        pairs = True
    elif unit == "attribute" and (exact := _left_out_exactly(spec, data)) is not None:
        by_unit = exact
    elif spec.likelihood.family == "normal" and (unit != "protected" or spec.terms.protected_words == "normal"):
        by_unit = _leave_words(result, spec, table, data, unit, _part(done, 0.1, 0.4))
    else:
        notes.append(
            "Its residuals or protected words are not normal, so that no word's effects can be integrated out: no "
            f"elpd_{UNITS[unit]}."
        )
    by_pair = None
    if pairs:  # each pair given all others, and the effects of its words
        size = result.tree["observed_data"].sizes["pair"]
        density = family_of(spec).density(result, max(1, prod(result.steps) // PAIR_DRAWS))
        values, bad = np.empty(size), 0
        for part in parts_of(size):
            values[part], k = _left_out(density(part))
            bad += int((~(k <= MAX_PARETO_K)).sum())
            done(0.5 + 0.5 * part.stop / size)
        by_pair = _Score(values, bad)
    if by_unit and by_unit.unresolved:
        notes.append(f"Words with a high Pareto k that no refit could do without: {by_unit.unresolved}.")
    evidence = float(result.tree.attrs.get("log_evidence", np.nan))
    return _Judged(spec.name, result.engine, by_unit, by_pair, evidence, tuple(notes))


def _part(done: Done, begin: float, width: float) -> Done:
    """Function that a part of the work calls with its own share done."""
    return lambda share: done(begin + width * share)


def _left_out_exactly(spec: ModelSpec, data: Distances) -> _Score | None:
    """Log predictive density of each attribute word's distances given all others, where the model has it."""
    values = family_of(spec).words_left_out(spec, data)
    if values is None:
        return None
    if alone := data.attribute_words[np.isnan(values)].tolist():
        raise InputError(
            f"no model of related words can predict the words that are alone in a list ({listed(alone)}): leave these "
            "lists out, or the model 'related'"
        )
    return _Score(values, 0)


def _leave_words(result: Fit, spec: ModelSpec, table: pd.DataFrame, data: Distances, unit: Unit, done: Done) -> _Score:
    """Log predictive density of each attribute or protected word's distances given all others."""
    if unit == "protected":
        density = _protected_densities(result, data, np.arange(len(data.protected_words)))
    else:
        density = _word_densities(result, data, np.arange(len(data.attribute_words)))
    values, k = _left_out(density)
    bad = np.flatnonzero(~(k <= MAX_PARETO_K))
    unresolved = 0
    for i, word in enumerate(bad.tolist()):
        refitted = _refitted(result, spec, table, data, word, unit)
        unresolved += refitted is None
        values[word] = values[word] if refitted is None else refitted
        done((i + 1) / len(bad))
    return _Score(values, len(bad), unresolved)


def _refitted(
    result: Fit, spec: ModelSpec, table: pd.DataFrame, data: Distances, word: int, unit: Unit
) -> float | None:
    """Log predictive density of a word from a fit without it; None where none can be had.

    It is the difference of two log evidences where the engine gives them, whatever the word leaves empty. Otherwise the
    word's density is averaged over the draws, for which no cell may be empty; for a protected word none can be had.
    """
    rows = (data.word if unit == "protected" else data.attribute) == word
    # whether the fit without the word has no mean for some cell of its distances
    empties = unit == "protected" or bool((data.cells.n[data.word[rows], data.connection[rows]] == 1).any())
    if rows.all() or (empties and "log_evidence" not in result.tree.attrs):
        return None
    size = prod(result.steps)
    try:
        without = Fit(fit(table[~rows], spec, engine=result.engine, draws=size, seed=result.seed)).model_alone
    except InputError:
        return None  # without the word, a connection's distances do not vary
    if set(without.posterior.data_vars) != set(result.posterior.data_vars):
        return None  # another model: without the word there is one group only
    if "log_evidence" in result.tree.attrs and "log_evidence" in without.tree.attrs:
        # log p(y of the word | all others) = log p(y) - log p(all others)
        return float(result.tree.attrs["log_evidence"] - without.tree.attrs["log_evidence"])
    if empties:
        return None
    return float(logsumexp(_word_densities(without, data, np.array([word]))) - np.log(size))


def _word_densities(result: Fit, data: Distances, words: IntArray) -> FloatArray:
    """Log density (draws, words) of the distances of some attribute words, given cells and scales of a fit.

    The fit has normal residuals and the cells of ``data``, which holds the words (indices, ascending).
    """
    posterior = result.posterior
    labels: dict[str, Any] = {"protected_word": data.protected_words, "connection": data.connections}
    labels |= {"attribute_class": data.attribute_classes} if "attribute_class" in posterior.dims else {}
    posterior = posterior.sel(labels)
    cells = flat_draws(posterior["word_mean"].to_numpy())
    rows = np.isin(data.attribute, words)
    patterns, blocks = find_patterns(
        data.word[rows],
        data.connection[rows],
        np.searchsorted(words, data.attribute[rows]),
        data.group_index if "interaction_sd" in posterior else np.zeros(len(data.protected_words), dtype=np.intp),
        data.class_index[words],
        data.y[rows],
        len(data.connections),
    )
    scales = variances_of(drawn_scales(posterior), len(data.connections), len(data.attribute_classes))
    return word_log_likelihood(patterns, blocks, scales, cells)


def _protected_densities(result: Fit, data: Distances, words: IntArray) -> FloatArray:
    """Log density (draws, words) of the distances of some protected words, their cell means integrated out.

    Given the population's means mu and sds s, the effects of attribute words and the residual sds sigma, the distances
    of a word under a connection, less these effects, are normal with mean mu and covariance sigma^2 I + s^2 11'.
    """
    posterior = result.posterior.sel(connection=data.connections)
    mean = flat_draws(posterior["connection_mean"].to_numpy())
    # a scale without a dimension is that of every connection
    flat = (flat_draws(posterior[name].to_numpy()) for name in ("sigma", "connection_sd"))
    sigma2, s2 = (np.broadcast_to(sd.reshape(len(sd), -1) ** 2, mean.shape) for sd in flat)
    values = np.zeros((len(mean), len(words)))
    for i, word in enumerate(words.tolist()):
        for k in range(len(data.connections)):
            rows = np.flatnonzero((data.word == word) & (data.connection == k))
            apart = data.y[rows] - mean[:, k, None] - _effects(posterior, data, rows, str(data.groups[word]))
            n, total = len(rows), apart.sum(axis=1)
            # sigma^2 I + s^2 11' has the eigenvalue sigma^2 + n s^2 = wide for the sum, sigma^2 for all else, and the
            # inverse (I - s^2 / wide 11') / sigma^2
            wide = sigma2[:, k] + n * s2[:, k]
            square = (apart**2).sum(axis=1) / sigma2[:, k] - s2[:, k] * total**2 / (sigma2[:, k] * wide)
            if n:
                values[:, i] -= (square + (n - 1) * np.log(sigma2[:, k]) + np.log(wide) + n * LOG_2PI) / 2
    return values


def _effects(posterior: xr.Dataset, data: Distances, rows: IntArray, group: str) -> FloatArray | float:
    """Effects (draws, rows) of the attribute words of rows, and of these with a group; 0 for a model without."""
    names = data.attribute_words[data.attribute[rows]]
    effects: FloatArray | float = 0.0
    if "attribute_effect" in posterior:
        effects = effects + flat_draws(posterior["attribute_effect"].sel(attribute_word=names).to_numpy())
    if "interaction_effect" in posterior:
        both = posterior["interaction_effect"].sel(attribute_word=names, word_group=group)
        effects = effects + flat_draws(both.to_numpy())
    return effects


def _left_out(log_density: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Log predictive density (N,) of each point when it is left out, and Pareto k, from log densities (D, N)."""
    from arviz_stats.base import array_stats

    by_point = np.ascontiguousarray(log_density.T)
    # a draw weighs 1 / density before smoothing; psislw takes the negative of the logs of these, the log densities
    log_weights, k = array_stats.psislw(by_point)
    # the density of a point averaged over the draws with these weights
    value: FloatArray = logsumexp(log_weights + by_point, axis=1) - logsumexp(log_weights, axis=1)
    return value, np.asarray(k)


def _ranking(judged: Sequence[_Judged], unit: Unit) -> pd.DataFrame:
    """The table of scores, the best first by the unit, models without such a score last."""
    name, alone = UNITS[unit], unit == "pair"
    scores = [entry.by_pair if alone else entry.by_unit for entry in judged]
    order = sorted(range(len(judged)), key=lambda i: -_sum(scores[i])[0] if scores[i] else np.inf)
    best = scores[order[0]]
    columns = ["model", "engine", f"elpd_{name}", f"se_{name}", f"diff_{name}", f"diff_se_{name}", f"bad_k_{name}"]
    columns += [] if alone else [f"unresolved_k_{name}", "elpd_pair", "se_pair", "bad_k_pair"]
    rows = []
    for place in order:
        model, score, pairs = judged[place], scores[place], judged[place].by_pair
        apart = _Score(score.elpd - best.elpd, 0) if score and best else None
        row = [model.name, model.engine, *_sum(score), *_sum(apart), score.bad if score else pd.NA]
        if not alone:
            row += [score.unresolved if score else pd.NA, *_sum(pairs), pairs.bad if pairs else pd.NA]
        rows.append([*row, model.log_evidence])
    table = pd.DataFrame(rows, columns=[*columns, "log_evidence"])
    counts = [column for column in table.columns.astype(str) if "_k_" in column]
    return table.astype({"model": "string", "engine": "string", **dict.fromkeys(counts, "Int64")})


def _sum(score: _Score | None) -> tuple[float, float]:
    """Sum of pointwise values and its standard error; NaN without a score."""
    if score is None:
        return float("nan"), float("nan")
    return float(score.elpd.sum()), float(np.sqrt(len(score.elpd)) * score.elpd.std(ddof=1))
