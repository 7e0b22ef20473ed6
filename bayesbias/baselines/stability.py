"""Stability of bias measures over choices of training: corpora, algorithms, dimensions, seeds."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from bayesbias._support.arguments import flag, probability, text, whole_number
from bayesbias._support.numbers import probability_text
from bayesbias._support.progress import progress
from bayesbias.baselines.reliability.consistency import ComponentResult
from bayesbias.checks.convergence import diagnose
from bayesbias.checks.summaries import PROB, flat_draws
from bayesbias.checks.variance_components import Layout, draw_components
from bayesbias.contrast import POPULATION, contrasts
from bayesbias.distances import distance_table
from bayesbias.errors import InputError, listed, within
from bayesbias.metrics import run_metrics
from bayesbias.metrics.batch import AnyMetric, AnyQuery, as_query, named_metrics
from bayesbias.metrics.queries import every_word
from bayesbias.models import fit
from bayesbias.numerics.arrays import FloatArray, row_differences, unit_rows
from bayesbias.results import Note, Result
from bayesbias.vectors import Case, Embedding, opened, rows_of
from bayesbias.vectors.lookup import in_all
from bayesbias.words import pairs_given, words_given

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

__all__ = [
    "DirectBiasStudy",
    "MetricStability",
    "Setting",
    "SettingComponents",
    "direct_bias_study",
    "metric_stability",
    "setting_components",
]


class Setting(NamedTuple):
    """Corpus, algorithm (such as ``"sgns"``), dimensions and seed of an embedding; a tuple of the four equals it."""

    corpus: str
    algorithm: str
    dims: int
    seed: int

    @property
    def label(self) -> str:
        """One line for tables and messages, such as ``wiki sgns 100 seed 0``."""
        return f"{self.corpus} {self.algorithm} {self.dims} seed {self.seed}"


FACETS = Setting._fields
FACET_NAMES = ("corpus", "algorithm", "dims", "seed", "word_list")
FEW, FEWEST = 5, 2
RANDOM_PAIRS = 1000
COSINES = frozenset({"mac", "direct_bias", "db_wa", "same", "semaxis", "weat"})
"""Metrics that are sums or means of cosines, so that the mean |cosine| of random pairs is their unit."""
COLUMNS = [*FACETS, "metric", "subquery", "form", "value", "low", "high", "reason"]
MEASURED = ["direct_bias", "low", "high", "raw_direct_bias", "baseline", "standardised", "isotropic"]


def _by_setting(
    kvs: Mapping[Any, Embedding], words: Collection[str], case: Case = "as-is"
) -> dict[Setting, KeyedVectors]:
    """Setting to embedding, with those of some words that it composes, by corpus, algorithm, dimensions and seed."""
    embeddings = {}
    for key, source in kvs.items():
        if not isinstance(key, tuple) or len(key) != len(FACETS):
            raise InputError(
                f"{key!r} is no setting: give (corpus, algorithm, dims, seed), such as ('wiki', 'sgns', 100, 0)"
            )
        setting = Setting(str(key[0]), str(key[1]), whole_number(key[2], "dims"), whole_number(key[3], "seed", 0, None))
        with within(setting.label):
            kv = opened(source, words, case)
        if kv.vector_size != setting.dims:
            raise InputError(f"{setting.label} says {setting.dims} dimensions, and its vectors have {kv.vector_size}")
        embeddings[setting] = kv
    return dict(sorted(embeddings.items(), key=lambda item: (item[0].corpus, item[0].algorithm, item[0][2:])))


def _baselines(named: Mapping[Setting, KeyedVectors], pairs: int, rng: np.random.Generator) -> FloatArray:
    """Mean |cosine| (settings,) of random pairs of words that all embeddings hold, the same for all."""
    common, _ = in_all(next(iter(named.values())).index_to_key, named.values(), "words")
    first = rng.integers(len(common), size=pairs)
    second = (first + rng.integers(1, len(common), size=pairs)) % len(common)
    means = []
    for kv in named.values():
        rows = rows_of(kv, common)
        left, right = (unit_rows(kv.vectors[rows[places]]) for places in (first, second))
        means.append(np.abs(np.vecdot(left, right)).mean())
    return np.array(means)


@dataclass(frozen=True, repr=False, eq=False)
class MetricStability(Result):
    """Bias measures of one query in many embeddings: what :func:`metric_stability` returns.

    ``rows`` has one row a setting, metric and form: ``corpus``, ``algorithm``, ``dims``, ``seed``, ``metric``,
    ``subquery`` (for a metric that takes fewer sets than the query has; missing otherwise), ``form`` (``raw``, or
    ``standardised``, for measures that are sums or means of cosines: over the mean ``|cosine|`` of random pairs),
    ``value`` less the metric's value of no bias, ``low`` and ``high`` (of the contrast; NaN for others) and ``reason``
    of a missing value.
    """

    rows: pd.DataFrame
    notes: tuple[Note, ...] = ()
    prob: float = PROB

    def caption(self) -> str:
        """Subject and unit of the numbers."""
        return "Bias measures less their value without bias (standardised: over random pairs)"

    def header(self) -> dict[str, object]:
        """Facts of what was measured."""
        settings = self.rows[list(FACETS)].drop_duplicates()
        return {"measures": self.rows["metric"].nunique(), "embeddings": len(settings), **_levels_of(settings)}

    def shares(self, seed: int = 0) -> pd.DataFrame:
        """Share of each measure's variance that corpora make up, and agreement of settings on the order of corpora.

        A row a metric, sub-query and form, the most stable first: these, and ``corpus_share``, the corpora's share of
        the sum of squares with its interval, ``low`` to ``high``, and ``p_settings_outweigh``
        (:class:`SettingComponents`), NaN where values are missing or a single facet varies; and ``tau``, the mean of
        Kendall's tau between the orders of corpora in every two settings.
        """
        groups = self.rows.groupby(["metric", "subquery", "form"], sort=False, dropna=False)
        seed = whole_number(seed, "seed", least=0, most=None)
        rows = [(*key, *_shares(part, seed)) for key, part in groups]
        columns = ["metric", "subquery", "form", "corpus_share", "low", "high", "p_settings_outweigh", "tau"]
        table = pd.DataFrame(rows, columns=columns)
        return table.sort_values("corpus_share", ascending=False, ignore_index=True, na_position="last")

    def table(self) -> pd.DataFrame:
        """One row a measure and setting: ``rows``."""
        return self.rows

    def summary(self) -> pd.DataFrame:
        """The same in one column for settings."""
        return _labelled(self.rows, ["metric", "subquery", "form", "value", "low", "high"])


def _labelled(rows: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """Columns that hold a value, after one for settings."""
    settings = rows[list(FACETS)].itertuples(index=False, name=None)
    labelled = rows[columns].assign(setting=[Setting(*key).label for key in settings])
    return labelled[["setting", *columns]].dropna(axis=1, how="all")


def _levels_of(settings: pd.DataFrame) -> dict[str, object]:
    """Corpora, and the number of values of what else embeddings were trained with."""
    numbers = {_levels(name): settings[name].nunique() for name in FACETS}
    return numbers | {"corpora": list(dict.fromkeys(settings["corpus"]))}


def _levels(name: str, count: int = 2) -> str:
    """Values of a facet, as they are called after so many."""
    return name if count == 1 else {"corpus": "corpora", "dims": "dims"}.get(name, f"{name}s")


def metric_stability(
    kvs: Mapping[Any, Embedding],
    query: AnyQuery,
    metrics: Sequence[AnyMetric] | Mapping[str, AnyMetric] | AnyMetric | None = None,
    contrast: bool = True,
    draws: int = 4000,
    random_pairs: int = RANDOM_PAIRS,
    prob: float = PROB,
    seed: int = 0,
    case: Case = "as-is",
) -> MetricStability:
    """Every bias measure of a query over corpora, algorithms, dimensions and seeds, raw and standardised.

    Parameters
    ----------
    kvs, random_pairs, seed, case
        As in :func:`direct_bias_study` and :func:`distance_table`.
    query, metrics
        As in :func:`run_metrics`. A metric that takes fewer sets than the query has is measured on its sub-queries.
    contrast, draws, prob
        Whether the crossed model's contrast is fitted too, with so many draws and intervals of that mass: associated -
        different, or - human (or neutral) where only one target set has an attribute set.

    Examples
    --------
    >>> kvs = {("news", "sgns", 300, 0): "google-news-slice", ("wiki", "glove", 50, 0): "glove-50d-slice"}
    >>> found = bb.stability.metric_stability(kvs, "weat7", "weat", contrast=False, random_pairs=50)
    """
    prob, draws = probability(prob, "prob"), whole_number(draws, "draws", least=100)
    contrast = flag(contrast, "contrast")
    seed = whole_number(seed, "seed", least=0, most=None)
    parsed = as_query(query)
    named = _by_setting(kvs, every_word([parsed]), case)
    unit = _baselines(named, whole_number(random_pairs, "random_pairs"), np.random.default_rng(seed))
    lists = parsed.words() if contrast else None
    rows: list[tuple[object, ...]] = []
    notes: dict[Note, None] = {}
    with progress("measuring", len(named)) as done:
        for i, (setting, kv) in enumerate(named.items()):
            table = run_metrics(kv, parsed, metrics, max_missing=1.0, case=case)
            notes |= dict.fromkeys(chain.from_iterable(table["notes"]))
            names = {label: name for label, name, _ in named_metrics(metrics or list(table["metric"].unique()))}
            table = table.assign(value=table["value"] - table["optimum"], low=np.nan, high=np.nan)
            cosines = [names[label] in COSINES for label in table["metric"]]
            measured = table[["metric", "subquery", "value", "low", "high", "reason"]].to_numpy(dtype=object).tolist()
            if lists is not None:
                post = fit(distance_table(kv, lists, case=case, relatedness=False), "crossed", draws=draws, seed=seed)
                row = contrasts(post, prob=prob, target=POPULATION).iloc[0]
                measured.append(["crossed", None, row["mean"], row["low"], row["high"], None])
                cosines.append(True)
                where = f" in {setting.label}"
                for fault in diagnose(post).faults:
                    notes[Note(fault.code, **{**fault.numbers, "figure": f"{fault.numbers['figure']}{where}"})] = None
            for in_cosines, (metric, part, *figures, reason) in zip(cosines, measured, strict=True):
                rows.append((*setting, metric, part, "raw", *figures, reason))
                if in_cosines:
                    scaled = (figure / float(unit[i]) for figure in figures)
                    rows.append((*setting, metric, part, "standardised", *scaled, reason))
            done(i + 1)
    return MetricStability(pd.DataFrame(rows, columns=COLUMNS), tuple(notes), prob)


def _shares(part: pd.DataFrame, seed: int) -> tuple[float, ...]:
    """The corpora's share of the sum of squares with its interval, P(settings outweigh them), and tau.

    Tau is the mean of Kendall's between the orders of corpora in every two settings that hold them all.
    """
    mean_tau = np.nan
    wide = part.pivot_table(index=list(FACETS[1:]), columns="corpus", values="value").dropna()
    if len(wide) > 1 and wide.shape[1] > 1:
        tau = wide.T.corr(method="kendall").to_numpy()
        mean_tau = float(np.nanmean(tau[np.triu_indices(len(tau), 1)]))
    varied = [name for name in FACETS if len(part[name].unique()) > 1]
    if "corpus" not in varied or len(varied) < 2 or part["value"].isna().any():
        return *[np.nan] * 4, mean_tau
    try:
        components = setting_components(part, "value", seed=seed)
    except InputError:  # a measure that does not vary, or a grid with gaps, has no components
        return *[np.nan] * 4, mean_tau
    row = components.table().set_index("component").loc["corpus", ["share", "share_low", "share_high"]]
    return *map(float, row), components.p_settings_outweigh, mean_tau


@dataclass(frozen=True, repr=False, eq=False)
class DirectBiasStudy(Result):
    """Direct bias of the same words in many embeddings: what :func:`direct_bias_study` returns.

    Attributes
    ----------
    rows
        One row a setting and list of words: ``corpus``, ``algorithm``, ``dims``, ``seed``, ``word_list``,
        ``direct_bias`` (mean absolute cosine of the words with the direction of the pairs) with the basic bootstrap
        interval ``low`` to ``high``, ``raw_direct_bias`` (with the direction of differences of raw vectors, as Mirzaev
        et al. write it; Bolukbasi et al. scale all vectors to length 1 before), ``baseline`` (mean absolute cosine of
        random pairs of words), ``standardised`` (``direct_bias`` over the baseline) and ``isotropic``, the baseline of
        vectors without any structure, sqrt(2 / (pi dims)).
    bias
        Signed cosine of each word (columns) with the direction, a row a setting.
    draws
        (rows, draws): direct bias of pairs and words drawn with replacement, the same in every setting, reflected about
        the estimate: fewer different pairs make a weak direction noisier and direct bias smaller, and so was the
        estimate.
    pairs
        The pairs that were used.
    """

    picture: ClassVar[str] = "forest"

    rows: pd.DataFrame
    bias: pd.DataFrame
    draws: FloatArray
    pairs: tuple[tuple[str, str], ...]
    prob: float
    notes: tuple[Note, ...] = ()

    def caption(self) -> str:
        """Subject and unit of the numbers."""
        return "Direct bias: mean |cosine| of words with the direction of pairs (baseline: random pairs)"

    def header(self) -> dict[str, object]:
        """Facts of what was measured."""
        return {"embeddings": len(self.bias), **_levels_of(self.rows), "pairs": len(self.pairs)}

    def rank_agreement(self) -> pd.DataFrame:
        """Kendall's tau-b of the words' bias between every two settings, a square table (the study's Figure 2)."""
        labels = [Setting(*key).label for key in self.bias.index]
        return self.bias.set_axis(labels).rename_axis(columns=None).T.corr(method="kendall")

    def table(self) -> pd.DataFrame:
        """One row a setting and word list: ``rows``."""
        return self.rows

    def summary(self) -> pd.DataFrame:
        """The same in one column for settings, without baselines of other vectors."""
        return _labelled(self.rows, ["word_list", "direct_bias", "low", "high", "baseline", "standardised"])

    def tables(self) -> dict[str, pd.DataFrame]:
        """The same, and how far settings agree on words."""
        agreed = self.rank_agreement().rename_axis("setting").reset_index()
        return {"Direct bias by setting": self.rows, "Kendall's tau of settings": agreed}

    def drawn_from(self) -> tuple[Any, dict[str, Any]]:
        """Direct bias with its intervals by what settings vary in, a panel for each list of words."""
        varied = [name for name in FACETS[1:] if len(self.rows[name].unique()) > 1] or ["algorithm"]
        options = {"rows": varied, "by": "corpus", "panels": "word_list", "value": "direct_bias", "mark": None}
        return self.rows, {**options, "label": "direct bias"}


def direct_bias_study(
    kvs: Mapping[Any, Embedding],
    words: Mapping[str, Iterable[str]] | Iterable[str] | str | Path = "occ16",
    pairs: Iterable[tuple[str, str]] | str | Path = "gender_pairs",
    draws: int = 1000,
    random_pairs: int = RANDOM_PAIRS,
    prob: float = PROB,
    seed: int = 0,
) -> DirectBiasStudy:
    """Direct bias of words that should be neutral, over corpora, algorithms, dimensions and seeds.

    Parameters
    ----------
    kvs
        Settings (corpus, algorithm, dims, seed) to embeddings, such as ``("wiki", "sgns", 100, 0)`` to vectors that
        gensim trained. Words and pairs that some of them lack are left out of all.
    words
        Words that should be neutral, or what :func:`load_list` takes; a mapping of names to such for several lists.
    pairs
        Pairs whose first principal direction is the direction of bias, or what :func:`load_list` takes.
    draws, prob
        How often pairs and words are drawn with replacement; mass of the bootstrap intervals.
    random_pairs, seed
        Pairs of words for the baseline; seed of these and of the draws.

    References
    ----------
    Bolukbasi, T. et al. (2016). Man is to computer programmer as woman is to homemaker? Debiasing word embeddings.
    NeurIPS. https://doi.org/10.48550/arXiv.1607.06520 Mirzaev, I., Schulte, A., Conover, M. and Shah, S. (2019).
    Considerations for the interpretation of bias measures of word embeddings. https://doi.org/10.48550/arXiv.1906.08379

    Examples
    --------
    >>> kvs = {("news", "sgns", 300, 0): "google-news-slice", ("wiki", "glove", 50, 0): "glove-50d-slice"}
    >>> bb.stability.direct_bias_study(kvs, draws=50, random_pairs=50).bias.shape[0]
    2
    """
    draws, prob = whole_number(draws, "draws"), probability(prob, "prob")
    rng = np.random.default_rng(whole_number(seed, "seed", least=0, most=None))
    source: Any = words
    if not isinstance(source, Mapping):
        source = {Path(source).stem if isinstance(source, str | Path) else "words": source}
    named_lists = {str(name): words_given(listed_words, "words") for name, listed_words in source.items()}
    asked_pairs = pairs_given(pairs, "pairs")
    named = _by_setting(kvs, list(chain(*named_lists.values(), *asked_pairs)))
    baseline = _baselines(named, whole_number(random_pairs, "random_pairs"), rng)
    kept_pairs, notes = in_all(asked_pairs, named.values(), "pairs")
    lists = {}
    for name, asked in named_lists.items():
        lists[name], lacking = in_all(asked, named.values(), f"words of {name}")
        notes += lacking
    shared = {"pairs": len(kept_pairs), **{name: len(held) for name, held in lists.items()}}
    if few := {name: count for name, count in shared.items() if count < FEWEST}:
        raise InputError(f"the embeddings share {few} of words and pairs, and need {FEWEST} of each: choose others")
    every = list(dict.fromkeys(chain(*lists.values())))
    pair_counts = rng.multinomial(len(kept_pairs), np.full(len(kept_pairs), 1 / len(kept_pairs)), size=draws)
    places = [[every.index(word) for word in listed_words] for listed_words in lists.values()]
    # how often each word of a list is drawn, as a share
    shares = [rng.multinomial(size, np.full(size, 1 / size), size=draws) / size for size in map(len, places)]
    bias, rows, drawn = [], [], []
    with progress("measuring direct bias", len(named)) as done:
        for i, (setting, kv) in enumerate(named.items()):
            scaled, raw, once = *_products(kv, every, kept_pairs), np.ones((1, len(kept_pairs)))
            on_raw = np.abs(_along(*raw, once)[0])
            bias.append(_along(*scaled, once)[0])
            moved = np.abs(_along(*scaled, pair_counts))
            for name, own, drawn_share in zip(lists, places, shares, strict=True):
                value = np.abs(bias[-1])[own].mean()
                sample = 2 * value - np.vecdot(moved[:, own], drawn_share)
                low, high = np.maximum(np.quantile(sample, [(1 - prob) / 2, (1 + prob) / 2]), 0)
                isotropic = np.sqrt(2 / (np.pi * setting.dims))
                own_raw = on_raw[own].mean()
                rows.append((*setting, name, value, low, high, own_raw, baseline[i], value / baseline[i], isotropic))
                drawn.append(sample)
            done(i + 1)
    table = pd.DataFrame(rows, columns=[*FACETS, "word_list", *MEASURED])
    outside = (table["direct_bias"] < table["low"]) | (table["direct_bias"] > table["high"])
    if outside.any():
        known = {"count": int(outside.sum()), "what": "rows outside intervals", "total": len(table), "of": "in all"}
        notes.append(Note("weak-basis", measure="direct bias", basis="direction", **known))
    if len({setting.corpus for setting in named}) > 1 and len({setting.seed for setting in named}) == 1:
        notes.append(Note("few-levels", count=1, factor="seed"))
    index = pd.MultiIndex.from_tuples(named, names=list(FACETS))
    return DirectBiasStudy(
        rows=table,
        bias=pd.DataFrame(np.stack(bias), index=index, columns=pd.Index(every, name="word")),
        draws=np.stack(drawn),
        pairs=tuple(kept_pairs),
        prob=prob,
        notes=tuple(notes),
    )


def _products(kv: KeyedVectors, words: list[str], pairs: list[tuple[str, str]]) -> list[tuple[FloatArray, FloatArray]]:
    """Inner products of unit vectors with the pairs' differences (words, pairs), and of those with each other.

    The differences are those of the pairs' unit vectors, and those of raw ones.
    """
    first, second = (kv.vectors[rows_of(kv, side)].astype(np.float64) for side in zip(*pairs, strict=True))
    units = unit_rows(kv.vectors[rows_of(kv, words)])
    every = row_differences(unit_rows(first), unit_rows(second)), row_differences(first, second)
    return [(units @ apart.T, apart @ apart.T) for apart in every]


def _along(products: FloatArray, gram: FloatArray, counts: NDArray[np.number]) -> FloatArray:
    """Cosines (draws, words) with the principal direction of pairs that count so often, (draws, pairs).

    The direction is a sum of the differences: its weights are the leading eigenvector of their inner products. It
    points to the first words of the pairs.
    """
    root = np.sqrt(counts.astype(np.float64))
    values, vectors = np.linalg.eigh(gram * root[:, :, None] * root[:, None, :])
    weights = root * vectors[:, :, -1]
    weights *= np.where(np.vecdot(counts @ gram, weights) >= 0, 1.0, -1.0)[:, None]
    return weights @ products.T / np.sqrt(values[:, -1:])


@dataclass(frozen=True, repr=False, eq=False)
class SettingComponents(ComponentResult):
    """Posterior of what a measure, or its logarithm, varies with over settings.

    It is what :func:`setting_components` returns.
    """

    at_hand: ClassVar[bool] = True

    @property
    def p_settings_outweigh(self) -> float:
        """Posterior probability that settings outweigh corpora; NaN where not both vary.

        Settings are algorithm and dimensions. Either side is a sum of squares over the observed levels, with what it
        adds from list to list of words; what settings add from corpus to corpus is on neither.
        """
        # the seed's component, or without seeds what is left over, is the chance of training
        known = [set(facets) for facets in (self.components if "seed" in self.sizes else self.components[:-1])]
        settings = [bool(facets & {"algorithm", "dims"}) and not facets & {"corpus", "seed"} for facets in known]
        corpora = [facets - {"word_list"} == {"corpus"} for facets in known]
        if not any(settings) or not any(corpora):
            return float("nan")
        # the variance that components add to the given numbers, up to a common factor
        constant = self.posterior["constant_data"]
        weight = (constant["freedom"] * constant["shared_by"]).to_numpy()
        squares = flat_draws(self.posterior["posterior/finite_population_sd"].to_numpy()) ** 2 * weight
        of_settings, of_corpora = np.array([settings, corpora], dtype=float) @ squares[:, : len(known)].T
        return float((of_settings > of_corpora).mean())

    def caption(self) -> str:
        """Subject and unit of the numbers."""
        return "Components of a measure over settings: share of the variance between these levels, sd"

    def header(self) -> dict[str, object]:
        """Facts of what was measured."""
        share = self.p_settings_outweigh
        outweigh = None if np.isnan(share) else probability_text(share)
        return {**self.sizes, "intervals": f"{self.prob:.0%}", "P(settings outweigh corpora)": outweigh}


def setting_components(
    table: pd.DataFrame,
    value: str = "direct_bias",
    log: bool = False,
    draws: int = 4000,
    chains: int = 4,
    seed: int | None = 0,
) -> SettingComponents:
    """Variance of a measure by corpus, algorithm, dimensions, word list and all their combinations, and the seed.

    The effect of a seed is that of one training, within a corpus, algorithm and dimension.

    Parameters
    ----------
    table, value
        One row a setting: columns of ``corpus``, ``algorithm``, ``dims``, ``seed``, ``word_list`` (those that are there
        and have several values are facets) and ``value``; such as the table of :func:`direct_bias_study`.
    log
        Whether the logarithm of the numbers is taken: direct bias decays by a factor with the dimensions.
    draws, chains, seed
        As in :func:`variance_components`.

    Examples
    --------
    >>> other = bb.debias("glove-50d-slice", "project", definitional=[("poor", "rich")])
    >>> kvs = {("wiki", "glove", 50, 0): "glove-50d-slice", ("other", "glove", 50, 0): other}
    >>> study = bb.stability.direct_bias_study(kvs, {"jobs": "occ16", "adjectives": "adj"}, draws=50)
    >>> found = bb.stability.setting_components(study.table(), draws=400, seed=0)
    """
    grid, notes = _grid(table, text(value, "value"), flag(log, "log"))
    facets, y = tuple(map(str, grid.dims)), grid.to_numpy()
    spread = float(y.std())
    if not spread > 1e-12 * max(float(np.abs(y).max()), 1e-300):
        raise InputError(f"{value} does not vary, so that it has no components")
    scaled = (y - y.mean()) / spread
    # seeds stand within what else an embedding was trained with: seed 0 of two corpora have nothing in common
    within = [name for name in facets if name in ("corpus", "algorithm", "dims")]
    layout = Layout(facets, nested=("seed", *within) if "seed" in facets and within else ())
    tree, faults = draw_components(scaled, layout, draws, chains, seed, spread)
    sizes = dict(zip(facets, y.shape, strict=True))
    return SettingComponents(tree, layout.components, sizes, (*notes, *faults))


def _grid(table: pd.DataFrame, value: str, log: bool) -> tuple[xr.DataArray, list[Note]]:
    """The numbers with a dimension for each facet that varies, and notes on facets of few levels."""
    facets = [name for name in FACET_NAMES if name in table and len(table[name].unique()) > 1]
    if len(facets) < 2:
        raise InputError(
            f"the table varies by {' and '.join(facets) or 'no facet'} only: give several values of two of "
            f"{', '.join(FACET_NAMES)}"
        )
    numbers = table.set_index(facets)[value].astype(float)
    if not np.isfinite(numbers).all() or (log and not (numbers > 0).all()):
        raise InputError(f"every number of the column {value!r} must be {'positive' if log else 'finite'}")
    if (twice := numbers.index.duplicated()).any():
        raise InputError(f"two rows have one setting, {numbers.index[twice][0]}: give one row a setting")
    grid = (numbers.transform(np.log) if log else numbers).to_xarray()
    gaps = pd.MultiIndex.from_product([grid.indexes[name] for name in facets]).difference(numbers.index)
    if len(gaps):
        named = listed([" ".join(map(str, setting)) for setting in gaps])
        raise InputError(f"{len(gaps)} of {grid.size} settings have no value ({named}): leave out some of their levels")
    few = {name: grid.sizes[name] for name in facets if grid.sizes[name] < FEW and name != "word_list"}
    if "seed" not in facets and "corpus" in facets:
        few["seed"] = 1
    notes = [Note("few-levels", count=count, factor=_levels(name, count)) for name, count in few.items()]
    return grid, notes
