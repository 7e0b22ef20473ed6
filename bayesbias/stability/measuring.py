"""``metric_stability``: which bias measure hangs least on choices of training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from bayesbias._checks import probability, whole_number
from bayesbias._core.cosine import FloatArray
from bayesbias._progress import progress
from bayesbias.comparison import SIMILAR, contrasts
from bayesbias.comparison.uncertainty import word_lists_of
from bayesbias.diagnostics.convergence import diagnose
from bayesbias.diagnostics.intervals import PROB
from bayesbias.distances import distance_table
from bayesbias.embeddings import Case, Embedding, Setting
from bayesbias.errors import InputError
from bayesbias.metrics import run_metrics
from bayesbias.metrics.preparing import AnyQuery, as_query, parts_for
from bayesbias.metrics.registry import METRICS
from bayesbias.metrics.running import AnyMetric, named_metrics
from bayesbias.models import fit
from bayesbias.stability.components import setting_components
from bayesbias.stability.settings import FACETS, RANDOM_PAIRS, by_setting, yardsticks

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

COSINES = frozenset({"mac", "direct_bias", "db_wa", "same", "semaxis", "weat"})
"""Metrics that are sums or means of cosines, so that the mean |cosine| of random pairs is their unit."""
RAW, STANDARDISED = "raw", "standardised"
CONTRAST = "crossed"
COLUMNS = [*FACETS, "metric", "subquery", "form", "value", "low", "high", "reason"]


@dataclass(frozen=True, eq=False)
class MetricStability:
    """Bias measures of one query in many embeddings: what :func:`metric_stability` returns.

    Attributes
    ----------
    table
        One row a setting, metric and form: ``corpus``, ``algorithm``, ``dims``, ``seed``, ``metric``, ``subquery``
        (for a metric that takes fewer sets than the query has; missing otherwise), ``form`` (``raw``, or
        ``standardised``, for measures that are sums or means of cosines: over the mean |cosine| of random pairs),
        ``value`` less the metric's value of no bias, ``low``
        and ``high`` (HDI of the contrast; NaN for others) and ``reason`` of a missing value.
    notes
        What was left out.
    """

    table: pd.DataFrame
    notes: tuple[str, ...] = field(default=())

    def summary(self, seed: int = 0) -> pd.DataFrame:
        """How much of each measure's variance corpora make up, and whether settings agree on the order of corpora.

        Returns
        -------
        DataFrame
            A row a metric, sub-query and form, the most stable first: these, and ``corpus_share``, the corpora's share
            of the sum of squares with the HDI ``low`` to ``high``, and ``p_settings_outweigh``, the probability that
            settings outweigh corpora (:func:`setting_components`), NaN where values are missing or a single facet
            varies; and ``tau``, the mean of Kendall's tau between the orders of corpora in every two settings.
        """
        rows = []
        groups = self.table.groupby(["metric", "subquery", "form"], sort=False, dropna=False)
        with progress("comparing measures", len(groups)) as done:
            for at, (key, part) in enumerate(groups):
                rows.append((*key, *_shares(part, seed), _mean_tau(part)))
                done(at + 1)
        columns = ["metric", "subquery", "form", "corpus_share", "low", "high", "p_settings_outweigh", "tau"]
        table = pd.DataFrame(rows, columns=columns)
        return table.sort_values("corpus_share", ascending=False, ignore_index=True, na_position="last")

    def __str__(self) -> str:
        table = self.table
        settings = len(table[list(FACETS)].drop_duplicates())
        return " ".join([f"{table['metric'].nunique()} measures in {settings} embeddings.", *self.notes])

    __repr__ = __str__


def metric_stability(
    embeddings: Mapping[Any, Embedding],
    query: AnyQuery,
    metrics: Sequence[AnyMetric] | Mapping[str, AnyMetric] | str | None = None,
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
    embeddings
        As in :func:`direct_bias_study`.
    query
        Target and attribute sets; for metrics of pairs the words of the target sets are pairs, in order.
    metrics
        As in :func:`run_metrics`; ``"all"`` takes every metric that the query has sets for, those of pairs too where
        the target sets have as many words. A metric that takes fewer sets than the query has is measured on its
        sub-queries.
    contrast
        Whether the crossed model's contrast is fitted too, with ``draws`` draws: associated - different, or - human
        (or neutral) where only one target set has an attribute set.
    random_pairs
        Pairs of words for the yardstick.
    prob, seed
        Mass of the contrast's intervals; seed of its draws and of the random pairs.
    case
        As in :func:`distance_table`.

    Raises
    ------
    InputError
        No settings, a query that a metric does not take, or sets that the crossed model does not take.
    """
    prob, draws = probability(prob, "prob"), whole_number(draws, "draws", least=100)
    seed = whole_number(seed, "seed", least=0)
    named, asked = by_setting(embeddings), as_query(query)
    unit, _ = yardsticks(named, whole_number(random_pairs, "random_pairs"), np.random.default_rng(seed))
    chosen = _all(asked) if isinstance(metrics, str) and metrics == "all" else metrics
    lists = word_lists_of(asked) if contrast else None
    if isinstance(lists, str):
        raise InputError(f"{lists} Give contrast=False to leave it out.")
    rows: list[tuple[object, ...]] = []
    notes: dict[str, None] = {}
    with progress("measuring", len(named)) as done:
        for at, (setting, kv) in enumerate(named.items()):
            measured, said = _metrics(kv, asked, chosen, case)
            if lists is not None:
                post = fit(distance_table(kv, lists, case=case, relatedness=False), "crossed", draws=draws, seed=seed)
                row = contrasts(post, prob=prob, population=SIMILAR).iloc[0]
                measured.append((CONTRAST, None, True, row["mean"], row["hdi_low"], row["hdi_high"], None))
                said += [f"{setting.label}: {fault}." for fault in diagnose(post).faults]
            notes |= dict.fromkeys(said)
            rows += _forms(setting, measured, float(unit[at]))
            done(at + 1)
    return MetricStability(pd.DataFrame(rows, columns=COLUMNS), tuple(notes))


Row = tuple[str, Any, bool, float, float, float, Any]
"""Metric, sub-query, whether it is in cosines, value less that of no bias, ends of its interval, why it is missing."""


def _metrics(kv: KeyedVectors, query: AnyQuery, metrics: Any, case: Case) -> tuple[list[Row], list[str]]:
    table = run_metrics(kv, query, metrics, max_missing=1.0, case=case)
    used = list(table["metric"].unique()) if metrics is None else metrics
    names = {label: name for label, name, _ in named_metrics(used)}
    rows: list[Row] = []
    values = (table["value"] - table["optimum"]).tolist()
    for label, part, value, reason in zip(table["metric"], table["subquery"], values, table["reason"], strict=True):
        rows.append((label, part, names[label] in COSINES, value, np.nan, np.nan, reason))
    return rows, list(table.attrs["notes"])


def _forms(setting: Setting, measured: list[Row], unit: float) -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = []
    for metric, part, cosines, value, low, high, reason in measured:
        rows.append((*setting, metric, part, RAW, value, low, high, reason))
        if cosines:
            rows.append((*setting, metric, part, STANDARDISED, value / unit, low / unit, high / unit, reason))
    return rows


def _all(query: Any) -> list[str]:
    """Every metric that a query has sets for; those of pairs where the target sets have as many words."""
    alike = len({len(words) for words in query.targets.values()}) == 1
    found = []
    for name, metric in METRICS.items():
        if metric.paired and not alike:
            continue
        try:
            parts_for(metric, query)
        except InputError:
            continue
        found.append(name)
    return found


def _shares(part: pd.DataFrame, seed: int) -> tuple[float, float, float, float]:
    """The corpora's share of the sum of squares with its interval, and the probability that settings outweigh them."""
    missing = (float("nan"),) * 4
    varied = [name for name in FACETS if len(part[name].unique()) > 1]
    if "corpus" not in varied or len(varied) < 2 or part["value"].isna().any():
        return missing
    try:
        found = setting_components(part, "value", seed=seed)
    except InputError:  # a measure that does not vary has no components
        return missing
    row = found.table().set_index("component").to_dict("index")["corpus"]
    said = found.claims().set_index("statement")["probability"].to_dict()
    outweigh = said.get("settings outweigh corpora", float("nan"))
    return float(row["share"]), float(row["share_low"]), float(row["share_high"]), float(outweigh)


def _mean_tau(part: pd.DataFrame) -> float:
    """Mean of Kendall's tau between the orders of corpora in every two settings that hold them all."""
    from scipy.stats import kendalltau

    wide = part.pivot_table(index=list(FACETS[1:]), columns="corpus", values="value").dropna()
    if len(wide) < 2 or wide.shape[1] < 2:
        return float("nan")
    orders: FloatArray = wide.to_numpy()
    return float(np.nanmean([kendalltau(one, other).statistic for one, other in combinations(orders, 2)]))
