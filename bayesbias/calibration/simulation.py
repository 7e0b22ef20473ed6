"""Simulated distance tables, and metrics of noise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from bayesbias._checks import finite_number, probability, whole_number
from bayesbias._core.resampling import PermutationTest, effect_size, partition_sums, permutation_test, sum_statistic
from bayesbias._core.vectors import FloatArray
from bayesbias._phrases import percent
from bayesbias._results import Result
from bayesbias.calibration.null_models import BLOCK
from bayesbias.distances.distances import Distances
from bayesbias.errors import InputError, shown
from bayesbias.models.families import Truth, family_of
from bayesbias.models.results import read_distances
from bayesbias.models.spec import ModelSpec, load_model
from bayesbias.words import CONTROLS, STEREOTYPES, can_be_control

Shape = pd.DataFrame | Mapping[str, Any]


def simulate(
    table_or_shape: Shape,
    model: str | Path | ModelSpec = "crossed",
    truth: Mapping[str, Any] | None = None,
    seed: int | None = None,
) -> pd.DataFrame:
    """A distance table of a given shape, simulated from a model.

    Parameters
    ----------
    table_or_shape
        A distance table whose rows are kept and whose distances are replaced, or a mapping with ``groups`` (name to
        number of protected words), ``stereotypes`` (name of a group to number of attribute words), numbers of
        ``human`` and ``neutral`` words, and ``controls`` (name of another control list to number of words); each
        protected word then meets each attribute word.
    model
        A name that :func:`list_models` shows, a path or a loaded model, without a common intercept.
    truth
        Parameter to a number, a mapping by label or an array: ``connection_mean``, ``connection_sd``, ``sigma`` and,
        for crossed models, ``attribute_sd`` and ``interaction_sd`` (and ``nu`` for robust); ``sd_factor`` for related
        words, whose table carries relatedness and whose ``word_mean`` is that of the table unless it is given.
        Elsewhere ``word_mean``, ``attribute_effect`` and ``interaction_effect`` are drawn unless they are given. None
        draws every parameter that has a prior.
    seed
        Seed of the draws; None takes a fresh one.

    Returns
    -------
    DataFrame
        A distance table; ``attrs["truth"]`` holds the parameters as arrays. Distances are not confined to [0, 2].

    Examples
    --------
    >>> shape = {"groups": {"g": 3, "h": 3}, "stereotypes": {"g": 3, "h": 3}, "human": 6}
    >>> truth = {"connection_mean": 0.9, "connection_sd": 0.05, "sigma": 0.1, "attribute_sd": 0.05, "interaction_sd": 0}
    >>> table = bb.calibration.simulate(shape, "crossed", truth, seed=0)
    >>> len(table)
    72
    """
    spec = known_model(model)
    shape = table_of_shape(table_or_shape)
    data = read_distances(shape, check=False)
    rng = np.random.default_rng(None if seed is None else whole_number(seed, "seed", least=0, most=None))
    family = family_of(spec)
    drawn = family.drawn_truth(spec, data, rng) if truth is None else complete_truth(spec, data, truth, rng)
    table = shape.assign(distance=family.drawn_distances(spec, drawn, data, rng))
    table.attrs = {"truth": drawn, **{key: shape.attrs[key] for key in family.reads if key in shape.attrs}}
    return table


def known_model(model: str | Path | ModelSpec) -> ModelSpec:
    """A model that can be simulated from."""
    spec = load_model(model)
    if spec.terms.intercept:
        raise InputError(f"the model {spec.name!r} has an intercept: simulation covers models without one")
    return spec


def table_of_shape(shape: Shape) -> pd.DataFrame:
    """A distance table as it is, or one made of a mapping's numbers, every distance 1."""
    if isinstance(shape, pd.DataFrame):
        return shape
    known = ("groups", "stereotypes", "controls", *CONTROLS[::-1])
    if not isinstance(shape, Mapping) or not shape.get("groups") or set(shape) - set(known):
        raise InputError(f"a shape is a distance table or a mapping with {', '.join(known)}; given is {shape!r}")
    for part in known[:3]:
        if not isinstance(shape.get(part, {}), Mapping):
            raise InputError(f"{part} of the shape is {shape[part]!r}: give a mapping of names to numbers of words")
    controls = {**{name: shape[name] for name in known[3:] if shape.get(name)}, **shape.get("controls", {})}
    if bad := [name for name in controls if not can_be_control(name) or name in shape.get("stereotypes", {})]:
        raise InputError(f"a control list of the shape cannot be named {bad[0]!r}: give another name")
    lists = [(name, size) for name, size in shape.get("stereotypes", {}).items()]
    lists += controls.items()
    if not lists:
        raise InputError("the shape has no attribute words: give numbers of stereotypes, human, neutral or controls")
    rows = [
        (f"{group} {word}", group, f"{name} word {i}", name, name if name in controls else STEREOTYPES[name != group])
        for group, words in shape["groups"].items()
        for word in range(whole_number(words, f"groups, {group}"))
        for name, size in lists
        for i in range(whole_number(size, str(name)))
    ]
    columns = ["protected_word", "group", "attribute_word", "attribute_class", "connection"]
    return pd.DataFrame(rows, columns=columns).assign(distance=1.0)


def complete_truth(spec: ModelSpec, data: Distances, truth: Mapping[str, Any], rng: np.random.Generator) -> Truth:
    """Given parameters as arrays, with what is not given of the effects drawn."""
    if not isinstance(truth, Mapping):
        raise InputError(f"truth is {shown(truth)}: give a mapping of parameters to numbers")
    return family_of(spec).completed_truth(spec, data, truth, rng)


SPLITS = 5_000  # random partitions among which that of the example is chosen


@dataclass(frozen=True, repr=False)
class NullWeat(Result):
    """WEAT where every cosine is noise.

    Attributes
    ----------
    words, attributes
        Words of each of the two target sets X and Y, and of each of the two attribute sets A and B.
    sd
        Of the cosines.
    s, effect_size
        (draws,): WEAT's sum statistic and effect size of samples of noise.
    sample
        (2 words, 2 attributes): the sample that is looked at, with X above Y and A left of B.
    observed_s, observed_effect_size
        Both of the sample.
    partition_s, partition_effect_size
        (partitions,): both when the sample's words are dealt out anew to X and Y.
    test
        The two-sided permutation test of the sample: ``p_value``, ``partitions`` and whether these are all (``exact``).
    prob
        Probability of the intervals.
    """

    picture: ClassVar[str] = "plot_null_weat"

    notes: ClassVar[tuple[str, ...]] = ()

    words: int
    attributes: int
    sd: float
    s: FloatArray
    effect_size: FloatArray
    sample: FloatArray
    observed_s: float
    observed_effect_size: float
    partition_s: FloatArray
    partition_effect_size: FloatArray
    test: PermutationTest
    prob: float

    @property
    def raw(self) -> pd.DataFrame:
        """The sample's raw cosines, X against Y.

        Columns ``compared``, ``difference`` (of means, X - Y), ``low``, ``high``, ``t``, ``df``, ``p_value`` (Welch's t
        test). The rows ``A`` and ``B`` compare all cosines with an attribute set, as if they were independent, which
        they are here and are not in a real embedding; ``s of words`` compares the words' own values, one each, which is
        what WEAT is about.
        """
        s = _s(self.sample, self.attributes)
        sides = {"A": self.sample[:, : self.attributes], "B": self.sample[:, self.attributes :], "s of words": s}
        rows = []
        for name, values in sides.items():
            first, second = values[: self.words].ravel(), values[self.words :].ravel()
            from scipy.stats import ttest_ind  # loads slowly

            test = ttest_ind(first, second, equal_var=False)
            low, high = test.confidence_interval(self.prob)
            rows.append((name, first.mean() - second.mean(), low, high, test.statistic, test.df, test.pvalue))
        return pd.DataFrame(rows, columns=["compared", "difference", "low", "high", "t", "df", "p_value"])

    def summary(self) -> pd.DataFrame:
        """One row each for ``s`` and ``effect_size``.

        Columns ``statistic``, ``observed``, ``null_low`` and ``null_high`` (equal-tailed interval of samples of noise),
        ``as_extreme`` (share of them at least as far from 0 as the observed value), ``partition_low``,
        ``partition_high`` and ``p_value`` (the same of the sample's partitions).
        """
        tails = [(1 - self.prob) / 2, (1 + self.prob) / 2]
        rows = []
        for name, observed, noise, dealt in (
            ("s", self.observed_s, self.s, self.partition_s),
            ("effect_size", self.observed_effect_size, self.effect_size, self.partition_effect_size),
        ):
            as_extreme = float((np.abs(noise) >= abs(observed)).mean())
            rows.append(
                (name, observed, *np.quantile(noise, tails), as_extreme, *np.quantile(dealt, tails), self.test.p_value)
            )
        columns = ["statistic", "observed", "null_low", "null_high", "as_extreme"]
        return pd.DataFrame(rows, columns=[*columns, "partition_low", "partition_high", "p_value"])

    def findings(self) -> list[str]:
        """The result in sentences, without its notes."""
        s, effect = self.summary().itertuples(index=False)
        return [
            f"WEAT of noise (sd {self.sd:g}, {self.words} + {self.words} words, {self.attributes} + {self.attributes} "
            f"attributes; {len(self.s):,} samples): {percent(self.prob)} of effect sizes lie between "
            f"{effect.null_low:.2f} and {effect.null_high:.2f}, of s between {s.null_low:.2f} and {s.null_high:.2f}. "
            f"The sample has s {self.observed_s:.2f} and effect size {self.observed_effect_size:.2f}; "
            f"{effect.as_extreme:.1%} of samples are as extreme, and its permutation test gives "
            f"p = {self.test.p_value:.3g}."
        ]

    def table(self) -> pd.DataFrame:
        """One row a statistic: :meth:`summary`."""
        return self.summary()


def simulate_null_weat(
    words: int = 8,
    attributes: int = 8,
    sd: float = 0.08,
    draws: int = 10_000,
    seed: int = 0,
    sample: ArrayLike | None = None,
    effect_size: float = 1.27,
    prob: float = 0.95,
) -> NullWeat:
    """WEAT when every cosine is drawn from N(0, sd^2), and one sample of such noise looked at closely.

    The simulation of section 3.2 of Dobrzeniecka and Urbaniak (2024, Figures 8 to 10), with their sizes and sd. By
    WEAT's definition some 0.9% of such samples have an effect size as far from 0 as 1.27, where the text says 38%:
    that many are above 1.27 if the groups' sums stand in the numerator in place of means.

    Parameters
    ----------
    words, attributes
        Words of each of the two target sets, and of each of the two attribute sets.
    sd
        Of the cosines.
    draws, seed
        Number and seed of the samples of noise.
    sample
        Cosines (2 words, 2 attributes) to look at: the first target set above the second, the first attribute set left
        of the second. By default one sample of noise, its words dealt out so that the effect size comes near
        ``effect_size``, as in the article: a pattern that chance made and that somebody picked.
    effect_size
        Of the default sample.
    prob
        Probability of all intervals.

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
    words, attributes = whole_number(words, "words", least=2), whole_number(attributes, "attributes")
    sd, near = finite_number(sd, "sd", positive=True), finite_number(effect_size, "effect_size")
    draws, prob = whole_number(draws, "draws"), probability(prob, "prob")
    seeds = np.random.SeedSequence(whole_number(seed, "seed", least=0, most=None)).spawn(3)
    of_noise, of_sample, of_partitions, of_test = (np.random.default_rng(seeds[i]) for i in (0, 1, 2, 2))
    shape = (2 * words, 2 * attributes)
    blocks = np.array_split(np.arange(draws), -(-draws * shape[0] * shape[1] // BLOCK))
    s = np.concatenate([_s(of_noise.normal(0, sd, (len(block), *shape)), attributes) for block in blocks])
    total, effect = _weat(s, words)
    chosen = _split_near(of_sample, shape, sd, near) if sample is None else _checked(sample, shape)
    own = _s(chosen, attributes)
    (observed_s,), (observed_effect,) = _weat(own[None], words)
    sums = np.concatenate(list(partition_sums(own, words, draws, of_partitions)))
    dealt = 2 * sums - own.sum()
    test = permutation_test(own[:words], own[words:], "two-sided", draws, of_test)
    return NullWeat(
        words,
        attributes,
        sd,
        total,
        effect,
        chosen,
        float(observed_s),
        float(observed_effect),
        dealt,
        dealt / words / own.std(),
        test,
        prob,
    )


def _s(cosines: FloatArray, attributes: int) -> FloatArray:
    """s(w): mean cosine with the first attribute set less that with the second, over the last axis."""
    return cosines[..., :attributes].mean(axis=-1) - cosines[..., attributes:].mean(axis=-1)


def _weat(s: FloatArray, words: int) -> tuple[FloatArray, FloatArray]:
    """Sum statistic and effect size (draws,) from s (draws, 2 words)."""
    first, second = s[:, :words], s[:, words:]
    return sum_statistic(first, second), effect_size(first, second)


def _split_near(rng: np.random.Generator, shape: tuple[int, int], sd: float, effect_size: float) -> FloatArray:
    """A sample of noise whose words are dealt out so that its effect size comes near a given one."""
    words, attributes = shape[0] // 2, shape[1] // 2
    sample = rng.normal(0, sd, shape)
    orders = rng.permuted(np.tile(np.arange(shape[0]), (SPLITS, 1)), axis=1)
    _, effects = _weat(_s(sample, attributes)[orders], words)
    nearest: FloatArray = sample[orders[np.abs(effects - effect_size).argmin()]]
    return nearest


def _checked(sample: ArrayLike, shape: tuple[int, int]) -> FloatArray:
    try:
        array = np.array(sample, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"the sample does not hold numbers: {error}") from error
    if array.shape != shape or not np.isfinite(array).all():
        raise InputError(
            f"the sample has shape {array.shape}: give finite cosines of shape {shape}, two target sets' words by two "
            "attribute sets' words, or set words and attributes to its halves"
        )
    if not _s(array, shape[1] // 2).std() > 0:
        raise InputError("s is the same for all words of the sample, so that it has no effect size: give another")
    return array
