"""Convergence and predictive checks of a fit, and the verdict on both."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from scipy.special import stdtr

from bayesbias._support.arguments import probability, several
from bayesbias._support.results import Result
from bayesbias.checks.confounds import Balance, known_balance
from bayesbias.checks.summaries import contrasted, flat_draws, interval_ends
from bayesbias.distances.dataframe import coverage_of
from bayesbias.distances.list_coverage import FEWEST_PROTECTED
from bayesbias.errors import InputError, agreed, listed, many
from bayesbias.models.families import family_of
from bayesbias.models.fits import MORE_DRAWS, engine_of, made_independently
from bayesbias.models.groups import predictive_generator
from bayesbias.models.related import kernels_of
from bayesbias.models.spec import log_priors
from bayesbias.models.template_variation import template_notes
from bayesbias.models.tree import Draws, Fit, read_distances
from bayesbias.numerics.arrays import FloatArray
from bayesbias.numerics.related import MIDDLES
from bayesbias.words import controls_of


def check_predictions(
    post: xr.DataTree, probs: float | Sequence[float] = (0.5, 0.89), seed: int | None = None
) -> pd.DataFrame:
    """The share of distances inside their predictive equal-tailed intervals.

    A model that describes the spread of the data has shares near ``probs``. Where attribute words have effects or are
    related, the intervals are for a further word of the list; :func:`add_predictive` repeats the observed ones, or
    draws other lists as similar as these.

    Parameters
    ----------
    post
        A result of :func:`fit`.
    probs
        Mass of the predictive intervals.
    seed
        Seed of the predictive draws; None takes one that follows from the seed of the fit.

    Returns
    -------
    DataFrame
        Columns ``connection`` (pd.NA for all distances together, first), ``n``, and for each of ``probs`` a share:
        ``inside_50``, ``inside_89``.

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> post = bb.fit(table, seed=0)
    >>> bb.check_predictions(post, seed=0)[["n", "inside_50", "inside_89"]].round(1).head(1)
          n  inside_50  inside_89
    0  2256        0.5        0.9
    """
    result = Fit.read(post)
    probs = several(probs)
    if not probs:
        raise InputError("probs is empty: give at least one probability, such as 0.89")
    draws = predictive_cells(result, seed)
    data = result.data
    word, connection, y = data.word, data.connection, data.y
    labels = result.posterior["connection"].to_numpy()
    table = pd.DataFrame({"connection": pd.array([pd.NA, *labels], dtype="string")})
    table["n"] = [len(y), *np.bincount(connection, minlength=len(labels))]
    for prob in probs:
        low, high = interval_ends(draws, probability(prob, "probs"))
        inside = (y >= low[word, connection]) & (y <= high[word, connection])
        shares = [inside.mean(), *(inside[connection == k].mean() for k in range(len(labels)))]
        table[f"inside_{100 * prob:g}"] = shares
    return table


def predictive_cells(result: Fit, seed: int | None = None) -> FloatArray:
    """Predictive draws of a distance in each cell, (draws, protected_word, connection); NaN in empty cells."""
    return flat_draws(family_of(result.spec).predicted_cells(result, predictive_generator(result, seed)))


ENDS = (0.1, 0.3)  # centred cosine similarities that part dissimilar, similar and close words
LABELS = ("dissimilar", "similar", "close")
FEWEST = 20
LOOKED_AT = 1500  # attribute words that are looked at, drawn at random, where there are more
LEAST, MOST, MOST_Z = 1 / 1.5, 3.0, 3.0
"""Relative ratios outside of the first two, as far from 1 as the third in standard errors, are faults. Too little
scatter of close words makes intervals too narrow, too much makes them too wide."""


def check_relatedness(data: pd.DataFrame | xr.DataTree) -> pd.DataFrame:
    """Observed against predicted scatter of control words, by the similarity of the words.

    The variogram predicts the squared difference of two words' distances to the protected words. One of the wrong shape
    gives ratios that differ between dissimilar and close words; a ratio other than 1 of all pairs is a matter of scale,
    which ``sd_factor`` follows. Where close words scatter less than predicted, the intervals of lists of one topic are
    too narrow.

    Parameters
    ----------
    data
        A distance table that carries relatedness, or a fit of one.

    Returns
    -------
    DataFrame
        One row for all pairs of words of one control list (of any list where there is no control), and for
        ``dissimilar`` (similarity below .1), ``similar`` (to .3) and ``close`` pairs. Columns ``similarity``,
        ``words``, ``pairs``, ``observed`` and ``predicted`` (squared cosine distance, summed over protected words),
        ``ratio``, ``relative`` (to the ratio of all pairs), ``z`` (log of ``relative`` in jackknife standard errors;
        of ``ratio`` for all pairs) and ``fault``: ``relative`` below 1 / 1.5 or above 3, with z beyond 3. NaN with
        fewer than 20 pairs.

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> bb.checks.check_relatedness(table)["similarity"].tolist()
    ['all', 'dissimilar', 'similar', 'close']
    """
    table = read_distances(data, check=False)
    if table.relatedness is None:
        raise InputError("the table carries no relatedness: make it with distance_table(kv, words)")
    if not np.ptp(table.y):
        raise InputError("all distances of the table are equal: there is nothing to hold relatedness against")
    if len(table.attribute_words) > LOOKED_AT:
        chosen = np.random.default_rng(0).permutation(len(table.attribute_words))[:LOOKED_AT]
        table = table.part(np.isin(table.attribute, chosen))
    kernels = kernels_of(table)
    weight = (kernels.components.loadings**2).sum(axis=0) * kernels.components.variances
    predicted = kernels.mean(2 * weight @ (1 - kernels.correlations))
    predicted -= (np.diag(predicted)[:, None] + np.diag(predicted)) / 2
    distances = np.full((len(table.protected_words), len(table.attribute_words)), np.nan)
    distances[table.word, table.attribute] = table.y
    level = np.searchsorted(ENDS, kernels.mean(np.append(MIDDLES, MIDDLES[-1])))
    pairs = np.zeros((len(LABELS), 2, len(table.attribute_words)))  # by word: observed, predicted
    counts = np.zeros(len(LABELS), dtype=int)
    names, whole = table.connections.tolist(), ~np.isnan(distances).any(axis=0)
    for k in [names.index(name) for name in reversed(controls_of(names))] or range(len(names)):
        words = np.unique(table.attribute[table.connection == k])
        words = words[whole[words]]  # those that meet all protected words
        apart = ((distances[:, words, None] - distances[:, None, words]) ** 2).sum(axis=0)
        expected, own = predicted[np.ix_(words, words)], level[np.ix_(words, words)]
        for i in range(len(LABELS)):
            here = (own == i) & ~np.eye(len(words), dtype=bool)
            counts[i] += int(here.sum()) // 2
            pairs[i, 0, words] += (apart * here).sum(axis=1)
            pairs[i, 1, words] += (expected * here).sum(axis=1)
    every = pairs.sum(axis=0)
    parts = [("all", every, None, counts.sum()), *zip(LABELS, pairs, [every] * len(LABELS), counts, strict=True)]
    rows = [(name, int((own[1] > 0).sum()), int(n), *_ratio(own, of, int(n))) for name, own, of, n in parts]
    columns = ["similarity", "words", "pairs", "observed", "predicted", "ratio", "relative", "z"]
    ratios = pd.DataFrame(rows, columns=columns)
    far = (ratios["relative"] < LEAST) | (ratios["relative"] > MOST)
    return ratios.assign(fault=far & (ratios["z"].abs() > MOST_Z))


def _ratio(sums: FloatArray, every: FloatArray | None, count: int) -> tuple[float, ...]:
    """Mean observed and predicted squared difference, ratio, ratio to that of all pairs, and z of its log.

    Standard errors are those of the jackknife over words.
    """
    nonzero = sums[1] > 0
    words = int(nonzero.sum())
    if count < FEWEST or words < 3:
        return (float("nan"),) * 5
    observed, predicted = sums.sum(axis=1) / 2
    ratio, relative = float(observed / predicted), 1.0
    without = np.log((observed - sums[0, nonzero]) / (predicted - sums[1, nonzero]))
    if every is not None:
        total = every.sum(axis=1) / 2
        relative = ratio / float(total[0] / total[1])
        without -= np.log((total[0] - every[0, nonzero]) / (total[1] - every[1, nonzero]))
    # pairs that share a word are not independent: each word is left out with all its pairs
    error = np.sqrt((words - 1) / words * ((without - without.mean()) ** 2).sum())
    far = np.log(ratio if every is None else relative)
    return float(observed / count), float(predicted / count), ratio, relative, float(far / error) if error > 0 else 0.0


MAX_R_HAT, MIN_ESS, MAX_PARETO_K, MAX_GRID_MASS_OUTSIDE = 1.01, 400, 0.7, 1e-3
"""Beyond these a fit should not be read: thresholds of Vehtari et al. (2021, 2024), and of the quadrature's grids.

A mass outside of .001 moves an end of an 89% interval by up to .3% of its width, a fourth of what the noise of 4,000
draws does.
"""
LARGEST, MOST_BEYOND = 2, 0.5
"""Largest cosine distance, and the share of values beyond it from which on these are no cosine distances."""
POWERS = (0.8, 1.25)  # powers of a prior by which draws are weighted
THIN_LIST = 5  # protected words below which the prior always sets part of the width
MOST_WIDTH = 0.1  # relative change of an interval's width from which on the prior is said to set part of it
EXTREME_P = 0.01  # p-value over all connections below which a protected word is said to be too far from the others
SCALES = frozenset(f"{name}_sd{common}" for name in ("connection", "attribute", "interaction") for common in ("", "0"))


@dataclass(frozen=True, repr=False)
class Verdict(Result):
    """Diagnosis of a fit's convergence.

    Attributes
    ----------
    engine, chains, draws
        What made the fit, and how many draws it kept in all.
    independent
        Whether the engine draws independently.
    r_hat
        The largest rank-normalised R-hat of NUTS; None with a single chain, and where draws are independent.
    ess
        The smallest effective sample size of NUTS, bulk or tail, over all parameters. The other engines draw
        independently: the number of draws, or the effective number of importance points if that is smaller.
    divergences, pareto_k, importance_ess, grid_mass_outside
        Divergent transitions, Pareto k of importance weights and their effective number of points, posterior mass
        outside the grid; None where the engine has no such thing.
    faults
        Why the fit should not be read; empty if it can be.
    notes
        What about the data limits what the fit can say.
    caution
        What belongs to every answer of the fit's model, such as that it takes different words for unrelated.
    """

    engine: str
    chains: int
    draws: int
    independent: bool
    r_hat: float | None
    ess: float
    divergences: int | None
    pareto_k: float | None
    importance_ess: float | None
    grid_mass_outside: float | None
    faults: tuple[str, ...]
    notes: tuple[str, ...]
    balance: Balance | None = None
    caution: str = ""

    @property
    def ok(self) -> bool:
        """True if the fit passes its checks."""
        return not self.faults

    def numbers(self) -> dict[str, str]:
        """The figures by name, as they are shown."""
        draws = f"{self.draws}, independent" if self.independent else f"{self.draws} in {self.chains} chains"
        figures = {
            "largest R-hat": (self.r_hat, ".3f"),
            "smallest ESS": (None if self.independent else self.ess, ".0f"),
            "divergences": (self.divergences, "d"),
            "Pareto k": (self.pareto_k, ".2f"),
            "importance ESS": (self.importance_ess, ".0f"),
            "posterior mass outside the grid": (self.grid_mass_outside, ".0e"),
        }
        texts = {name: format(value, form) for name, (value, form) in figures.items() if value is not None}
        return {"engine": self.engine, "draws": draws, **texts}

    def headline(self) -> str:
        """Sentence that says that the fit passes its checks, or why it does not."""
        return headline_of(self)

    def findings(self) -> list[str]:
        return [self.headline()]

    def text(self) -> str:
        figures = ", ".join(f"{name} {value}" for name, value in self.numbers().items())
        return " ".join([f"{self.headline()} ({figures})", *self.notes])

    def table(self) -> pd.DataFrame:
        """The figures: ``figure``, ``value``."""
        return pd.DataFrame(list(self.numbers().items()), columns=["figure", "value"])


def headline_of(verdict: Verdict, see: str = "") -> str:
    """Sentence that says that a fit passes its checks, or why it does not; ``see``: where its limits stand."""
    if verdict.ok:
        limits = f", with limits{f': see {see}' if see else ''}" if verdict.notes else ""
        return f"This fit passes its checks{limits}. {verdict.caution}".rstrip()
    return f"This fit should not be read: {'; '.join(verdict.faults)}."


def diagnose(post: xr.DataTree) -> Verdict:
    """Judge the convergence of a fit.

    Parameters
    ----------
    post
        A result of :func:`fit`.

    Returns
    -------
    Verdict
        A fault is an R-hat above 1.01, an effective sample size below 400, a divergence, a Pareto k above 0.7,
        posterior mass above .001 outside the grid, or a parameter that holds NaN or does not vary.

    References
    ----------
    Vehtari, A. et al. (2021). Rank-normalization, folding, and localization: an improved R-hat for assessing
    convergence of MCMC. Bayesian Analysis 16(2). https://doi.org/10.1214/20-BA1221

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> post = bb.fit(table, seed=0)
    >>> verdict = bb.diagnose(post)
    >>> verdict.ok
    True
    >>> verdict.headline()
    'This fit passes its checks, with limits.'
    """
    result = Fit.read(post)
    if "verdict" not in result.kept:
        result.kept["verdict"] = _verdict(result)
    verdict: Verdict = result.kept["verdict"]
    return verdict


def _verdict(result: Fit) -> Verdict:
    """The verdict on a fit, worked out."""
    chains, draws = result.steps
    stats = result.stats
    divergences = int(stats["diverging"].sum()) if "diverging" in stats else None
    values, broken = _columns(result)
    if independent := divergences is None and made_independently(result):
        r_hat, ess = None, float(chains * draws)
    else:
        r_hat, ess = _mixing(values) if values.size else (None, float("nan"))
    pareto_k = float(stats["pareto_k"]) if "pareto_k" in stats else None
    importance_ess = float(stats["importance_ess"]) if "importance_ess" in stats else None
    ess = ess if importance_ess is None else min(ess, importance_ess)
    figure = None if np.isnan(ess) else ess
    engine = engine_of(result)
    remedy = MORE_DRAWS if engine is None or importance_ess != ess else engine.remedy
    outside = float(result.tree.attrs["grid_mass_outside"]) if "grid_mass_outside" in result.tree.attrs else None
    balance, distances = known_balance(result), result.tree["observed_data/distance"].to_numpy()
    faults = list(judged(r_hat, figure, divergences, pareto_k, outside, remedy))
    if broken:
        faults.append(f"{', '.join(broken)} holds draws that are not finite or do not vary")
    if np.isnan(ess):
        faults.append(
            f"{many(chains * draws, 'draw')} {agreed(chains * draws, 'is', 'are')} too few to judge convergence by"
        )
    if (beyond := int((np.abs(distances) > LARGEST).sum())) > MOST_BEYOND * len(distances):
        faults.append(
            f"{beyond:,} of {many(len(distances), 'value')} {agreed(beyond, 'lies', 'lie')} beyond {LARGEST}, where no "
            "cosine distance lies, and the priors are for cosine distances"
        )
    return Verdict(
        engine=result.engine,
        chains=chains,
        draws=chains * draws,
        independent=independent,
        r_hat=r_hat,
        ess=ess,
        divergences=divergences,
        pareto_k=pareto_k,
        importance_ess=importance_ess,
        grid_mass_outside=outside,
        faults=tuple(faults),
        notes=tuple(_notes(result, balance)),
        balance=balance,
        caution=family_of(result.spec).caution,
    )


def judged(
    r_hat: float | None = None,
    ess: float | None = None,
    divergences: int | None = None,
    pareto_k: float | None = None,
    outside: float | None = None,
    remedy: str = MORE_DRAWS,
) -> tuple[str, ...]:
    """Reasons not to read draws with such figures; figures that are None are not judged."""
    faults = []
    if r_hat is not None and r_hat > MAX_R_HAT:
        faults.append(f"the largest R-hat is {r_hat:.3f}, above {MAX_R_HAT}")
    if ess is not None and not ess >= MIN_ESS:
        faults.append(f"the smallest effective sample size is {ess:.0f}, below {MIN_ESS} ({remedy})")
    if divergences:
        faults.append(f"{many(divergences, 'transition')} diverged")
    if pareto_k is not None and pareto_k > MAX_PARETO_K:
        faults.append(f"Pareto k is {pareto_k:.2f}, above {MAX_PARETO_K}")
    if outside is not None and not outside <= MAX_GRID_MASS_OUTSIDE:
        faults.append(f"posterior mass of about {outside:.1g} lies outside the grid (the engine nuts has none)")
    return tuple(faults)


def mixing_faults(values: np.ndarray, stats: Mapping[str, Any]) -> tuple[str, ...]:
    """Reasons not to read draws (chain, draw, parameter) by NUTS; empty if there are none."""
    r_hat, ess = _mixing(values)
    return judged(r_hat, ess, int(np.sum(stats.get("diverging", 0))))


def engine_faults(drawn: Draws) -> tuple[str, ...]:
    """Reasons not to read the draws of an engine, by its weights, its grid or its chains; empty if there are none."""
    facts: dict[str, Any] = {**drawn.sample_stats, **drawn.attrs}
    if "diverging" in facts:
        every = np.concatenate([each.reshape(*each.shape[:2], -1) for each in drawn.posterior.values()], axis=2)
        return mixing_faults(every[:, :, ~np.isnan(every[0, 0])], facts)
    return judged(
        ess=facts.get("importance_ess"), pareto_k=facts.get("pareto_k"), outside=facts.get("grid_mass_outside")
    )


def unreadable(faults: Sequence[str]) -> list[str]:
    """Faults as a sentence; none without any."""
    return [f"This should not be read: {'; '.join(faults)}."] if faults else []


def draw_faults(values: np.ndarray, stats: Mapping[str, Any]) -> list[str]:
    """The faults of draws (chain, draw, parameter) by NUTS, in a sentence."""
    return unreadable(mixing_faults(values, stats))


def _notes(result: Fit, balance: Balance | None) -> list[str]:
    """Sentences on what is unusual about the distances behind a fit."""
    table = result.data.to_frame()
    words = table["protected_word"].nunique()
    repeated = int(table.duplicated(["protected_word", "attribute_word"]).sum())
    outside = int((~table["distance"].between(0, 2)).sum())
    single = table["protected_word"].value_counts().max() == 1
    checks = (
        (words < FEWEST_PROTECTED, f"Only {many(words, 'protected word')}: too few for an answer on the whole list."),
        (single, "No protected word has more than one distance."),
        (
            repeated > 0,
            f"{repeated:,} of {many(len(table), 'row')} {agreed(repeated, 'repeats', 'repeat')} a pair and "
            f"{agreed(repeated, 'counts as if it was', 'count as if they were')} new.",
        ),
        (
            outside > 0,
            f"{outside:,} of {many(len(table), 'value')} {agreed(outside, 'lies', 'lie')} outside [0, 2], where no "
            "cosine distance lies.",
        ),
    )
    notes = [*result.notes, *(sentence for unusual, sentence in checks if unusual)]
    if family_of(result.spec).needs_relatedness:
        scatter = check_relatedness(result.tree)
        notes += [
            f"The distances of {row['similarity']} control words differ {row['relative']:.2f} times as much, beside "
            "other control words, as the vectors predict (squared differences; checks.check_relatedness): intervals "
            f"may be too {'narrow' if row['relative'] < 1 else 'wide'}."
            for row in scatter[scatter["fault"]].to_dict("records")
        ]
    notes += template_notes(result) + _width_notes(result, words) + _extreme_notes(result, table)
    if balance is not None:
        notes += balance.warnings
    record = coverage_of(table)
    if record is not None and record.one_vector:
        named = [
            " = ".join(f"{word} ({', '.join(lists)})" for word, lists in part.items()) for part in record.one_vector
        ]
        # an encoder gives words the vectors of their sentences: there is no pruned vocabulary
        advice = "" if record.contexts else "; use vectors that are not pruned"
        notes.append(
            f"Words of different lists have one vector: {listed(named, 4)}. The embedding cannot tell them apart, "
            f"so that differences between these lists are too small{advice}."
        )
    return notes


def _width_notes(result: Fit, words: int) -> list[str]:
    """Sentences on intervals whose width rests on the prior of the scales as much as on the distances."""
    connections = result.posterior.sizes["connection"]
    if (worth := result.tree.attrs.get("independent_protected_words")) is not None:
        if worth - 1 >= connections or words < FEWEST_PROTECTED:
            return []
        return [
            f"For statements about further words like these the effective number of protected words is {worth:.1f}, of "
            f"{words}: such statements depend on the prior as much as on the data."
        ]
    if connections < 2 or words < FEWEST_PROTECTED or not SCALES.intersection(result.priors()):
        return []
    change = _prior_width(result)
    if words >= THIN_LIST and not abs(change) > MOST_WIDTH:
        return []
    return [
        f"With {words} protected words, intervals for further words like these depend on the priors of the scales: "
        f"with twice the weight of these priors the intervals would be {abs(change):.0%} "
        f"{'narrower' if change < 0 else 'wider'}."
    ]


def _extreme_notes(result: Fit, table: pd.DataFrame) -> list[str]:
    """A sentence on a protected word too far from the others for a normal distribution."""
    if not family_of(result.spec).shrinks_words(result.spec):
        return []
    means = table.groupby(["connection", "protected_word"])["distance"].mean()
    tests = [(*_extreme_word(cells.droplevel("connection")), name) for name, cells in means.groupby("connection")]
    word, away, p, connection = min(tests, key=lambda each: each[2])
    if not p * len(tests) < EXTREME_P:
        return []
    return [
        f"{word} lies {away:.1f} standard deviations from the other protected words in its mean distance to "
        f"{connection} words (Grubbs' test, p = {p * len(tests):.1g}): its own interval may be drawn too far towards "
        "theirs. The model 'crossed_t' allows for such words."
    ]


def _extreme_word(means: pd.Series) -> tuple[str, float, float]:
    """The word farthest from the mean of the others in their standard deviations, how far, and a p-value.

    Grubbs' two-sided test of a single outlier (1969, https://doi.org/10.1080/00401706.1969.10490657); p is 1 for fewer
    than 4 words.
    """
    size, values = len(means), means.to_numpy()
    place = int(np.argmax(np.abs(values - values.mean())))
    others = np.delete(values, place)
    spread = others.std(ddof=1) if size > 2 else 0.0
    if size < 4 or spread == 0:
        return str(means.index[place]), 0.0, 1.0
    away = abs(values[place] - others.mean()) / spread
    p = 2 * size * float(stdtr(size - 2, -away / np.sqrt(1 + 1 / (size - 1))))
    return str(means.index[place]), float(away), min(p, 1.0)


def _prior_width(result: Fit) -> float:
    """Relative change of the sd of the headline contrast of means if the priors of the scales counted twice.

    The draws are weighted by the prior to a power of 0.8 and of 1.25, and the change is scaled to a power of 2
    (Kallioinen et al. 2024, https://doi.org/10.1007/s11222-023-10366-5).
    """
    values = {str(name): each.to_numpy() for name, each in result.posterior.data_vars.items()}
    priors = {name: prior for name, prior in result.priors().items() if name in SCALES}
    log_prior = flat_draws(np.sum(list(log_priors(values, priors).values()), axis=0))
    means, valid = flat_draws(values["connection_mean"]), result.posterior["connection"].to_numpy().tolist()
    first, second = contrasted("associated" if "associated" in valid else valid[0], None, valid)
    contrast = means[:, valid.index(first)] - means[:, valid.index(second)]
    logs = []
    for power in POWERS:
        weights = np.exp((power - 1) * (log_prior - log_prior.max()))
        weights /= weights.sum()
        logs.append(0.5 * np.log(weights @ (contrast - weights @ contrast) ** 2))
    return float(np.expm1((logs[1] - logs[0]) / np.log2(POWERS[1] / POWERS[0])))


def _columns(result: Fit) -> tuple[np.ndarray, list[str]]:
    """Parameters as (chain, draw, parameter), empty cells left out, and the names of broken ones."""
    columns, broken = [], []
    places = result.places
    for name, values in result.posterior.data_vars.items():
        labels, array = [str(dim) for dim in values.dims[2:]], values.to_numpy()
        mask = np.zeros(array.shape[2:], dtype=bool)
        # along a dimension of one's own, on which rows have no place, all values count
        mask[tuple(places.get(dim, slice(None)) for dim in labels)] = True
        array = array[:, :, mask] if labels else array[:, :, None]
        if not np.isfinite(array).all() or (np.ptp(array, axis=(0, 1)) == 0).any():
            broken.append(str(name))
        else:
            columns.append(array)
    if not columns:
        return np.empty((0, 0, 0)), broken
    return np.concatenate(columns, axis=2), broken


def _mixing(values: np.ndarray) -> tuple[float | None, float]:
    """The largest R-hat, None with a single chain, and the smallest effective sample size."""
    from arviz_stats.base import array_stats

    axes = {"chain_axis": 0, "draw_axis": 1}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # too few draws for a figure give NaN, which is a fault
        bulk = array_stats.ess(values, method="bulk", **axes)
        tail = array_stats.ess(values, method="tail", prob=(0.055, 0.945), **axes)
        r_hat = float(np.max(array_stats.rhat(values, **axes))) if values.shape[0] > 1 else None
    return r_hat, float(np.min([np.min(bulk), np.min(tail)]))
