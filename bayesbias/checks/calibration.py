"""Null distributions of statistics over random words, and WEAT of noise."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pandas as pd

from bayesbias._support.arguments import one_of, text, whole_number
from bayesbias.checks.summaries import PROB
from bayesbias.checks.topics import TopicNull, as_far
from bayesbias.distances import distance_table
from bayesbias.distances.dataframe import once
from bayesbias.distances.distances import Distances
from bayesbias.errors import InputError, listed
from bayesbias.numerics.arrays import FloatArray, IntArray
from bayesbias.numerics.random_lists import draw_in_ranges
from bayesbias.numerics.statistics import (
    PermutationTest,
    effect_size,
    ends,
    known_mean,
    partition_sums,
    permutation_test,
    sum_statistic,
)
from bayesbias.results import Note, Result
from bayesbias.vectors import Embedding
from bayesbias.words import STEREOTYPES, WordLists, controls_of

__all__ = ["NullDistribution", "NullWeat", "TopicNull", "null_distribution", "simulate_null_weat"]

BLOCK = 2**21  # numbers that are looked at together
WORDS, PUBLISHED = 8, 1.27  # of each set of the simulated WEAT, and the effect size that its sample is near
SPLITS = 5_000  # random partitions among which that of the sample is chosen


@dataclass(frozen=True, repr=False)
class NullDistribution(Result):
    """Place of a statistic among its values without bias.

    ``observed`` is that of the lists as they are, ``values`` those of the draws, (draws,), ``n_candidates`` the number
    of words that could be drawn.
    """

    notes: ClassVar[tuple[Note, ...]] = ()
    prob: ClassVar[float] = PROB

    statistic: str
    observed: float
    values: FloatArray
    n_candidates: int

    @property
    def p_value(self) -> float:
        """Two-sided: (draws at least as far from their median as the observed + 1) / (draws + 1)."""
        far = as_far(self.values, self.observed, float(np.median(self.values)))
        return float((far.sum() + 1) / (len(self.values) + 1))

    def caption(self) -> str:
        return f"{self.statistic}: observed, without bias"

    def header(self) -> dict[str, object]:
        return {"candidates": self.n_candidates, "draws": len(self.values)}

    def summary(self) -> pd.DataFrame:
        return self.table().drop(columns=["statistic", "draws", "n_candidates"])

    def table(self) -> pd.DataFrame:
        """One row: the fields, with ``mean``, ``sd`` and the central 89% (``low``, ``high``) of the draws.

        ``quantile`` is the share of the draws below the observed value, ``p_value_se`` the Monte Carlo standard error
        of ``p_value``.
        """
        p, draws, (low, high) = self.p_value, len(self.values), ends(self.values, PROB)
        row = {"statistic": self.statistic, "observed": self.observed, "mean": self.values.mean()}
        row |= {"sd": self.values.std(ddof=1), "low": low, "high": high}
        row |= {"quantile": (self.values < self.observed).mean(), "p_value": p}
        row |= {"p_value_se": np.sqrt(p * (1 - p) / draws), "draws": draws, "n_candidates": self.n_candidates}
        return pd.DataFrame([row])


def null_distribution(
    kv: Embedding | None,
    words: WordLists | str | Path | pd.DataFrame,
    statistic: str = "associated - human",
    draws: int = 1000,
    seed: int = 0,
) -> NullDistribution:
    """A statistic on real vectors when random control words stand in for the stereotypes, and the observed value.

    Control words that are drawn leave their list, and none is drawn twice. Protected words and vectors stay as they
    are. The p-value is on the safe side where control words are fewer than some three times all stereotype words.

    Parameters
    ----------
    kv
        The embedding, or what :func:`load_embedding` takes; None where ``words`` is a distance table.
    words
        Word lists, or what :func:`load_words` takes, or a distance table.
    statistic
        ``"a - b"``: mean over protected words of the difference of mean distances under two connections, one of them at
        least associated or different; words are drawn from the control list that it names, else from all. ``"weat"``:
        the effect size for two groups (population sd; positive if own stereotypes are closer). ``"mac"``.
    draws, seed
        How many times the words are drawn, and the seed.

    References
    ----------
    Caliskan, A., Bryson, J. J. and Narayanan, A. (2017). Semantics derived automatically from language corpora contain
    human-like biases. Science 356(6334). https://doi.org/10.1126/science.aal4230
    Manzini, T. et al. (2019). Black is to Criminal as Caucasian is to Police. NAACL. https://doi.org/10.18653/v1/N19-1062

    Examples
    --------
    >>> found = bb.calibration.null_distribution("google-news-slice", "weat7", "associated - human", draws=50)
    >>> type(found).__name__
    'NullDistribution'
    """
    draws = whole_number(draws, "draws")
    rng = np.random.default_rng(whole_number(seed, "seed", least=0, most=None))
    if kv is None and isinstance(words, pd.DataFrame):
        table = words
    elif kv is not None and not isinstance(words, pd.DataFrame):
        table = distance_table(kv, words, relatedness=False)
    else:
        raise InputError("give an embedding with word lists, or kv=None with a distance table")
    Distances.read(table, check=False)
    data = Distances.read(once(table, "the table", "each pair is taken once"), check=False)
    statistic = text(statistic, "statistic")
    named = _connections_of(statistic, data)
    slots, listed = np.flatnonzero(data.class_of_attribute == 0), np.array(data.attribute_classes)[data.class_index]
    pools = controls_of(named) or controls_of(data.connections.tolist())
    members = np.flatnonzero(np.isin(listed, pools))
    if not 0 < len(slots) < len(members):
        raise InputError(f"{len(slots)} stereotype words and {len(members)} control words are too few to draw from")
    low = np.zeros(len(slots), dtype=np.intp)
    drawn = members[draw_in_ranges(low, low + len(members), draws, rng)]
    blocks = np.array_split(drawn, -(-drawn.size * len(data.protected_words) // BLOCK))
    values = np.concatenate([_values(statistic, named, data, slots, listed, block) for block in blocks])
    observed = float(_values(statistic, named, data, slots, listed, slots[None])[0])
    if odd := int((~np.isfinite(np.r_[observed, values])).sum()):
        raise InputError(f"{statistic} is no finite number for {odd:,} of {draws + 1:,} lists: choose another")
    return NullDistribution(statistic, observed, values, len(members))


def _connections_of(statistic: str, data: Distances) -> list[str]:
    """The connections that a statistic rests on, once it is known that the table has what it needs."""
    if statistic == "mac":
        if "" in data.attribute_class[np.isin(data.connections, STEREOTYPES)[data.connection]]:
            raise InputError("mac is a mean over stereotype lists: give the table the column attribute_class")
        return []
    named = list(STEREOTYPES) if statistic == "weat" else [part.strip() for part in statistic.split(" - ")]
    if len(set(named)) != 2 or not set(named) & set(STEREOTYPES):
        raise InputError(f"statistic is {statistic!r}: give 'weat', 'mac', or 'a - b' with associated or different")
    for name in named:
        one_of(name, data.connections.tolist(), "the connection")
    if statistic == "weat" and (len(data.group_names) != 2 or "" in data.group_names):
        raise InputError(f"weat compares two groups, not {listed(data.group_names)}: take 'mac' or 'a - b'")
    return named


def _values(
    statistic: str, named: list[str], data: Distances, slots: IntArray, listed: np.ndarray, drawn: IntArray
) -> FloatArray:
    """A statistic (B,) with the words ``drawn`` (B, S) in place of those at the places ``slots`` (S,)."""
    shape = len(data.protected_words), len(data.attribute_words)
    distances, connection, group = np.full(shape, np.nan), np.full(shape, -1), data.group_index
    distances[data.word, data.attribute] = data.y
    stands, rows = data.connection, np.isin(data.connections, STEREOTYPES)[data.connection]
    connection[data.word[rows], data.attribute[rows]] = stands[rows]
    near = distances[:, drawn]  # (J, B, S)
    known = ~np.isnan(near)
    filled = np.where(known, near, 0)

    def mean(members: np.ndarray) -> FloatArray:
        """Mean distances (J, B) to the words (J, S) that stand in for some."""
        weight = members.astype(float)[:, :, None]
        with np.errstate(invalid="ignore"):
            value: FloatArray = (filled @ weight)[:, :, 0] / (known @ weight)[:, :, 0]
        return value

    if statistic == "mac":
        lists = np.full(shape, -1)
        lists[data.word[rows], data.attribute[rows]] = np.unique(data.attribute_class[rows], return_inverse=True)[1]
        means = [mean(lists[:, slots] == place) for place in range(lists.max() + 1)]
        return known_mean(np.concatenate(means), axis=0)
    cells = []
    for name in named:
        place = data.connections.tolist().index(name)
        if name in STEREOTYPES:
            cells.append(mean(connection[:, slots] == place))
            continue
        # a control list without the words that have left it
        count, whole = data.cells.n[:, [place]], data.cells.mean[:, [place]]
        gone = (listed[drawn] == name) & known
        with np.errstate(invalid="ignore", divide="ignore"):
            cells.append((count * whole - np.where(gone, near, 0).sum(axis=2)) / (count - gone.sum(axis=2)))
    if statistic == "weat":
        closer = cells[1] - cells[0]  # to the own stereotypes
        return effect_size(closer[group == 0], -closer[group == 1], axis=0)
    return known_mean(cells[0] - cells[1], axis=0)


@dataclass(frozen=True, repr=False)
class NullWeat(Result):
    """WEAT where every cosine is noise.

    ``s`` and ``effect_size``, (draws,), are WEAT's sum and effect size of samples of noise, ``observed_`` those of one
    sample, ``partition_`` (partitions,) when its words are dealt out anew; ``test`` is its two-sided permutation test:
    ``p_value``, ``partitions`` and whether these are all (``exact``).
    """

    notes: ClassVar[tuple[Note, ...]] = ()
    prob: ClassVar[float] = 0.95

    s: FloatArray
    effect_size: FloatArray
    observed_s: float
    observed_effect_size: float
    partition_s: FloatArray
    partition_effect_size: FloatArray
    test: PermutationTest

    def caption(self) -> str:
        return "WEAT of noise (0: unbiased)"

    def header(self) -> dict[str, object]:
        drawn = "all" if self.test.exact else "random"
        return {"samples of noise": len(self.s), f"{drawn} partitions": self.test.partitions, "intervals": "95%"}

    def table(self) -> pd.DataFrame:
        """Rows ``s`` and ``effect_size``, with equal-tailed 95% intervals.

        ``statistic``, ``observed``, ``null_low`` and ``null_high`` of samples of noise, ``as_extreme`` (share of them
        at least as far from 0), ``partition_low``, ``partition_high`` and ``p_value`` of the sample's partitions.
        """
        rows = []
        for name, observed, noise, dealt in (
            ("s", self.observed_s, self.s, self.partition_s),
            ("effect_size", self.observed_effect_size, self.effect_size, self.partition_effect_size),
        ):
            as_extreme = float((np.abs(noise) >= abs(observed)).mean())
            rows.append((name, observed, *ends(noise, 0.95), as_extreme, *ends(dealt, 0.95), self.test.p_value))
        columns = ["statistic", "observed", "null_low", "null_high", "as_extreme"]
        return pd.DataFrame(rows, columns=[*columns, "partition_low", "partition_high", "p_value"])

    def summary(self) -> pd.DataFrame:
        ends = {"null_low": "low", "null_high": "high", "partition_low": "partitions from", "partition_high": "to"}
        return self.table().rename(columns=ends)


def simulate_null_weat(draws: int = 10_000, seed: int = 0) -> NullWeat:
    """WEAT when every cosine is drawn from N(0, .08^2), and one sample of such noise looked at closely.

    The simulation of section 3.2 of Dobrzeniecka and Urbaniak (2024, Figures 8 to 10), of eight words a set. Some 0.9%
    of ``draws`` samples have an effect size as far from 0 as 1.27 by WEAT's definition, where the text says 38%: so
    many are above 1.27 if the groups' sums stand in the numerator in place of means. The words of the sample are dealt
    out so that its effect size comes near 1.27: a pattern that chance made and that somebody picked.

    References
    ----------
    Dobrzeniecka, A. and Urbaniak, R. (2024). A Bayesian approach to uncertainty in word embedding bias estimation.
    Computational Linguistics 50(2). https://doi.org/10.1162/coli_a_00507

    Examples
    --------
    >>> found = bb.calibration.simulate_null_weat(draws=200)
    >>> type(found).__name__
    'NullWeat'
    """
    draws = whole_number(draws, "draws")
    seeds = np.random.SeedSequence(whole_number(seed, "seed", least=0, most=None)).spawn(3)
    of_noise, of_sample, of_partitions, of_test = (np.random.default_rng(seeds[i]) for i in (0, 1, 2, 2))
    blocks = np.array_split(np.arange(draws), -(-draws * 4 * WORDS**2 // BLOCK))
    s = np.concatenate([_noise(of_noise, len(block)) for block in blocks])
    total, effect = _weat(s)
    sample = _noise(of_sample, 1)[0]
    orders = of_sample.permuted(np.tile(np.arange(2 * WORDS), (SPLITS, 1)), axis=1)
    own = sample[orders[np.abs(_weat(sample[orders])[1] - PUBLISHED).argmin()]]
    (observed_s,), (observed_effect,) = _weat(own[None])
    dealt = 2 * np.concatenate(list(partition_sums(own, WORDS, draws, of_partitions))) - own.sum()
    test = permutation_test(own[:WORDS], own[WORDS:], "two-sided", draws, of_test)
    of_dealt = dealt / WORDS / own.std()
    return NullWeat(total, effect, float(observed_s), float(observed_effect), dealt, of_dealt, test)


def _noise(rng: np.random.Generator, size: int) -> FloatArray:
    """S (size, words of both sets) of samples: mean cosine with the first attribute set less that with the second."""
    cosines = rng.normal(0, 0.08, (size, 2 * WORDS, 2 * WORDS))
    return cosines[..., :WORDS].mean(axis=-1) - cosines[..., WORDS:].mean(axis=-1)


def _weat(s: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Sum statistic and effect size (draws,) from s (draws, words of both sets)."""
    first, second = s[:, :WORDS], s[:, WORDS:]
    return sum_statistic(first, second), effect_size(first, second)
