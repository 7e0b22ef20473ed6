"""Convergence and predictive checks of a fit, and the verdict on both."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import xarray as xr
from scipy.special import stdtr

from bayesbias._support.arguments import probability, several
from bayesbias.checks.confounds import Balance, balance
from bayesbias.checks.summaries import contrasted, flat_draws, interval_ends
from bayesbias.distances.dataframe import FEWEST_PROTECTED, coverage_of
from bayesbias.errors import InputError
from bayesbias.models.families import family_notes, family_of
from bayesbias.models.fits import predictive_generator
from bayesbias.models.related import kernels_of
from bayesbias.models.spec import log_priors
from bayesbias.models.template_variation import template_notes
from bayesbias.models.tree import INDEPENDENT, Draws, Fit, read_distances
from bayesbias.numerics.arrays import FloatArray
from bayesbias.numerics.related import MIDDLES
from bayesbias.posteriors import PROB
from bayesbias.results import Note, Result
from bayesbias.words import controls_of


def check_predictions(
    post: xr.DataTree, probs: float | Sequence[float] = (0.5, 0.89), seed: int | None = None
) -> pd.DataFrame:
    """The share of distances inside their predictive equal-tailed intervals.

    A model that describes the spread has shares near ``probs``. Where attribute words have effects or are related, the
    intervals are for a further word of the list.

    Parameters
    ----------
    post, probs
        A result of :func:`fit`; the mass of the predictive intervals.
    seed
        Seed of the predictive draws; None takes one that follows from the seed of the fit.

    Returns
    -------
    DataFrame
        ``connection`` (pd.NA for all distances, first), ``n``, and a share for each of ``probs``, as ``inside_89``.

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> post = bb.fit(table, seed=0)
    >>> bb.check_predictions(post, seed=0)[["n", "inside_50", "inside_89"]].round(1).head(1)
          n  inside_50  inside_89
    0  2256        0.5        0.9
    """
    result = Fit.read(post)
    draws = flat_draws(family_of(result.spec).predicted_cells(result, predictive_generator(result, seed)))
    data = result.data
    word, connection, y = data.word, data.connection, data.y
    labels = result.posterior["connection"].to_numpy()
    table = pd.DataFrame({"connection": pd.array([pd.NA, *labels], dtype="string")})
    table["n"] = [len(y), *np.bincount(connection, minlength=len(labels))]
    for prob in several(probs):
        low, high = interval_ends(draws, probability(prob, "probs"))
        inside = (y >= low[word, connection]) & (y <= high[word, connection])
        shares = [inside.mean(), *(inside[connection == k].mean() for k in range(len(labels)))]
        table[f"inside_{100 * prob:g}"] = shares
    return table


ENDS = (0.1, 0.3)  # centred cosine similarities that part dissimilar, similar and close words
LABELS = ("dissimilar", "similar", "close")
FEWEST = 20
LOOKED_AT = 1500  # attribute words that are looked at, drawn at random, where there are more
LEAST, MOST, MOST_Z = 1 / 1.5, 3.0, 3.0
"""Relative ratios outside of the first two, as far from 1 as the third in standard errors, are faults. Too little
scatter of close words makes intervals too narrow, too much makes them too wide."""


def check_relatedness(data: pd.DataFrame | xr.DataTree) -> pd.DataFrame:
    """Observed against predicted scatter of control words, by the similarity of the words.

    The variogram predicts the squared difference of two words' distances to the protected words. Where close words
    scatter less than predicted, relative to all pairs, the intervals of lists of one topic are too narrow.

    ``data`` is a distance table that carries relatedness, or a fit of one.

    Returns
    -------
    DataFrame
        One row for all pairs of words of one control list (of any list without controls), and for ``dissimilar``
        (similarity below .1), ``similar`` (to .3) and ``close`` pairs: ``similarity``, ``words``, ``pairs``,
        ``observed`` and ``predicted`` (squared cosine distance, summed over protected words), ``ratio``, ``relative``
        (to the ratio of all pairs), ``z`` (of its log, by the jackknife; of ``ratio`` for all pairs) and ``fault``:
        ``relative`` below 1 / 1.5 or above 3, with z beyond 3. NaN with fewer than 20 pairs.

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> bb.checks.check_relatedness(table)["similarity"].tolist()
    ['all', 'dissimilar', 'similar', 'close']
    """
    table = read_distances(data, check=False)
    if table.relatedness is None:
        raise InputError("the table carries no relatedness: make it with distance_table(kv, words)")
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
    """Mean observed and predicted squared difference, ratio, ratio to that of all pairs, and jackknife z of its log."""
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
"""Beyond these a fit should not be read: thresholds of Vehtari et al. (2021, 2024), and of quadrature's grids, where
.001 outside moves an end of an 89% interval by up to .3% of its width, a fourth of what 4,000 draws do."""
LIMITS = {
    "draws": np.nan,
    "r_hat": MAX_R_HAT,
    "ess": MIN_ESS,
    "divergences": 0,
    "pareto_k": MAX_PARETO_K,
    "importance_ess": MIN_ESS,
    "grid_mass_outside": MAX_GRID_MASS_OUTSIDE,
    "prior_width": np.nan,
}
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
    engine, chains, draws, independent
        What made the fit, how many draws it kept in all, and whether they are independent.
    r_hat
        The largest rank-normalised R-hat of NUTS; None with a single chain, and where draws are independent.
    ess
        The smallest effective sample size, bulk or tail, over all parameters; of independent draws their number, or the
        effective number of importance points if that is smaller.
    divergences, pareto_k, importance_ess, grid_mass_outside
        Divergent transitions, Pareto k of importance weights and their effective number of points, posterior mass
        outside the grid; None where the engine has no such thing.
    prior_width, balance
        Relative change of an interval's width if the priors of the scales counted twice, and the :class:`Balance` of
        frequencies; None where they are not known.
    notes
        Why the fit should not be read, ``unreliable``, and what about the data limits what it can say.
    """

    prob: ClassVar[float] = PROB

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
    prior_width: float | None
    notes: tuple[Note, ...]
    balance: Balance | None = None

    @property
    def faults(self) -> tuple[Note, ...]:
        """Why the fit should not be read; empty if it can be."""
        return tuple(note for note in self.notes if note.code == "unreliable")

    @property
    def ok(self) -> bool:
        return not self.faults

    def caption(self) -> str:
        return f"Checks of the draws: {'passed' if self.ok else 'failed'}"

    def header(self) -> dict[str, object]:
        return {"engine": self.engine, "draws": "independent" if self.independent else f"in {self.chains} chains"}

    def table(self) -> pd.DataFrame:
        """Two rows, of the fit and of the ``limit`` beyond which it should not be read, of known figures."""
        figures = {name: getattr(self, name) for name in LIMITS}
        known = {name: (value, LIMITS[name]) for name, value in figures.items() if value is not None}
        return pd.DataFrame({"of": ["fit", "limit"]} | known)

    def tables(self) -> dict[str, pd.DataFrame]:
        return {"Draws": self.table()} | ({} if self.balance is None else self.balance.tables())


def diagnose(post: xr.DataTree) -> Verdict:
    """Judge the convergence of a result of :func:`fit`.

    Returns
    -------
    Verdict
        ``ok``, the figures, and notes. Faults are an R-hat above 1.01, an effective sample size below 400, divergences,
        a Pareto k above 0.7, posterior mass above .001 outside the grid, and parameters with NaN or without variation.

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
    >>> verdict.table().columns.tolist()
    ['of', 'draws', 'ess', 'grid_mass_outside']
    """
    result = Fit.read(post)
    chains, draws = result.steps
    stats, attrs = result.stats, result.tree.attrs
    divergences = int(stats["diverging"].sum()) if "diverging" in stats else None
    values, broken = _columns(result)
    if independent := divergences is None and result.engine in INDEPENDENT:
        r_hat, ess = None, float(chains * draws)
    else:
        r_hat, ess = _mixing(values) if values.size else (None, float("nan"))
    pareto_k, importance_ess = (
        float(stats[name]) if name in stats else None for name in ("pareto_k", "importance_ess")
    )
    ess = ess if importance_ess is None else min(ess, importance_ess)
    outside = float(attrs["grid_mass_outside"]) if "grid_mass_outside" in attrs else None
    related, distances = result.data.relatedness, result.tree["observed_data/distance"].to_numpy()
    frequent = related is not None and related.ranks_by_word and result.adjustment is None
    balanced = balance(result.tree) if frequent else None
    faults = list(judged(r_hat, None if np.isnan(ess) else ess, divergences, pareto_k, outside))
    if broken:
        faults.append(Note("unreliable", figure="draws missing or constant:", value=broken, limit=0))
    if np.isnan(ess):
        faults.append(Note("unreliable", figure="draws to judge by:", value=chains * draws, limit=MIN_ESS))
    if (beyond := int((np.abs(distances) > LARGEST).sum())) > (most := MOST_BEYOND * len(distances)):
        faults.append(Note("unreliable", figure=f"values beyond {LARGEST}:", value=beyond, limit=int(most)))
    width = _prior_width(result)
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
        prior_width=width,
        notes=tuple(dict.fromkeys([*faults, *_notes(result, balanced, width)])),
        balance=balanced,
    )


def judged(
    r_hat: float | None = None,
    ess: float | None = None,
    divergences: int | None = None,
    pareto_k: float | None = None,
    outside: float | None = None,
) -> tuple[Note, ...]:
    """Reasons not to read draws with such figures; figures that are None are not judged."""
    above = {"R-hat": (r_hat, MAX_R_HAT), "divergences": (divergences, 0), "Pareto k": (pareto_k, MAX_PARETO_K)}
    above |= {"mass outside": (outside, MAX_GRID_MASS_OUTSIDE)}
    bad = {name: both for name, both in above.items() if both[0] is not None and not both[0] <= both[1]}
    bad |= {"ESS": (ess, MIN_ESS)} if ess is not None and not ess >= MIN_ESS else {}
    return tuple(Note("unreliable", figure=name, value=value, limit=limit) for name, (value, limit) in bad.items())


def mixing_faults(values: np.ndarray, stats: Mapping[str, Any]) -> tuple[Note, ...]:
    """Reasons not to read draws (chain, draw, parameter) by NUTS; empty if there are none."""
    r_hat, ess = _mixing(values)
    return judged(r_hat, ess, int(np.sum(stats.get("diverging", 0))))


def engine_faults(drawn: Draws) -> tuple[Note, ...]:
    """Reasons not to read the draws of an engine, by its weights, its grid or its chains; empty if there are none."""
    facts: dict[str, Any] = {**drawn.sample_stats, **drawn.attrs}
    if "diverging" in facts:
        every = np.concatenate([each.reshape(*each.shape[:2], -1) for each in drawn.posterior.values()], axis=2)
        return mixing_faults(every[:, :, ~np.isnan(every[0, 0])], facts)
    return judged(
        ess=facts.get("importance_ess"), pareto_k=facts.get("pareto_k"), outside=facts.get("grid_mass_outside")
    )


def _notes(result: Fit, balanced: Balance | None, width: float | None) -> list[Note]:
    """Notes on what is unusual about the distances behind a fit; ``width`` is as in :class:`Verdict`."""
    table = result.data.to_frame()
    words, total = table["protected_word"].nunique(), len(table)
    record, related = coverage_of(table), result.data.relatedness
    # whether words are taken for unrelated is the model's to say
    notes = [
        *family_notes(result.spec),
        *(note for note in (record.notes(table) if record else ()) if note.code != "unrelated"),
    ]
    notes += result.notes
    if words < FEWEST_PROTECTED:
        notes.append(Note("no-value", what="whole-list answer", reason=too_few_words(words)))
    if table["protected_word"].value_counts().max() == 1:
        notes.append(Note("few-levels", count=1, factor="distance a protected word"))
    if repeated := int(table.duplicated(["protected_word", "attribute_word"]).sum()):
        notes.append(Note("repeated", rows=repeated, total=total, rule="kept"))
    if outside := int((~table["distance"].between(0, 2)).sum()):
        notes.append(Note("outside", rows=outside, total=total, name="the table"))
    if family_of(result.spec).needs_relatedness and related is not None:
        notes += outlying(related.effective_words()) if len(result.data.group_names) == 1 else []
        scatter = check_relatedness(result.tree)
        rows = scatter[scatter["fault"]].to_dict("records")
        notes += [Note("variogram", similarity=row["similarity"], ratio=row["relative"]) for row in rows]
    notes += template_notes(result)
    # intervals whose width rests on the prior of the scales as much as on the distances
    worth = result.tree.attrs.get("independent_protected_words")
    if worth is not None and worth - 1 < result.posterior.sizes["connection"] and words >= FEWEST_PROTECTED:
        notes.append(Note("few-words", effective=float(worth), words=words))
    if worth is None and width is not None and (words < THIN_LIST or abs(width) > MOST_WIDTH):
        notes.append(Note("few-levels", count=words, factor="protected words"))
    return [*notes, *_extreme_notes(result, table), *(() if balanced is None else balanced.warnings)]


def outlying(table: pd.DataFrame) -> list[Note]:
    """Notes on controls that count as unrelated: with one group, lists far from stereotypes are sampled badly."""
    full = (table["kind"] == "control") & (table["words"] > 1) & (table["effective"] >= table["words"])
    if (table["kind"] == "protected").sum() != 1:
        return []
    reason = "far from the stereotypes"
    return [Note("no-value", what=f"effective number of {name}", reason=reason) for name in table.loc[full, "list"]]


def too_few_words(protected: int) -> str:
    """Why so few protected words have no answer on the whole list."""
    return f"{protected} protected words, fewer than {FEWEST_PROTECTED}"


def _extreme_notes(result: Fit, table: pd.DataFrame) -> list[Note]:
    spec = result.spec
    if spec.own or spec.related or spec.terms.protected_words != "normal":  # nothing draws words to their connection
        return []
    means = table.groupby(["connection", "protected_word"])["distance"].mean()
    tests = [(*_extreme_word(cells.droplevel("connection")), name) for name, cells in means.groupby("connection")]
    word, sds, p, connection = min(tests, key=lambda each: each[2])
    p *= len(tests)
    return [Note("outlier", word=word, sds=sds, connection=connection, p=p)] if p < EXTREME_P else []


def _extreme_word(means: pd.Series) -> tuple[str, float, float]:
    """The word farthest from the mean of the others in their sds, how far, and p (1 for fewer than 4 words).

    Grubbs' two-sided test of a single outlier (1969, https://doi.org/10.1080/00401706.1969.10490657).
    """
    size, values = len(means), means.to_numpy()
    place = int(np.argmax(np.abs(values - values.mean())))
    others = np.delete(values, place)
    if size < 4 or (spread := others.std(ddof=1)) == 0:
        return str(means.index[place]), 0.0, 1.0
    sds = float(abs(values[place] - others.mean()) / spread)
    p = 2 * size * float(stdtr(size - 2, -sds / np.sqrt(1 + 1 / (size - 1))))
    return str(means.index[place]), sds, min(p, 1.0)


def _prior_width(result: Fit) -> float | None:
    """Change of the sd of the headline contrast if the priors of the scales counted twice; None without these.

    By power scaling (Kallioinen et al. 2024, https://doi.org/10.1007/s11222-023-10366-5), scaled to a power of 2.
    """
    few = len(result.data.protected_words) < FEWEST_PROTECTED or result.posterior.sizes["connection"] < 2
    known = result.tree.attrs.get("independent_protected_words") is not None
    if few or known or not SCALES.intersection(result.priors()):
        return None
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
    columns, broken, places = [np.empty((*result.steps, 0))], [], result.places
    for name, values in result.posterior.data_vars.items():
        array = values.to_numpy()
        mask = np.zeros(array.shape[2:], dtype=bool)
        # along a dimension of one's own, on which rows have no place, all values count
        mask[tuple(places.get(str(dim), slice(None)) for dim in values.dims[2:])] = True
        array = array[:, :, mask]
        if not np.isfinite(array).all() or (np.ptp(array, axis=(0, 1)) == 0).any():
            broken.append(str(name))
        else:
            columns.append(array)
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
