"""Sensitivity of a contrast to the priors and to single words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from bayesbias._support.arguments import finite_number, one_of, whole_number
from bayesbias._support.phrases import MINUS
from bayesbias._support.progress import progress
from bayesbias._support.results import Result
from bayesbias.checks.summaries import PROB, contrasted, describe
from bayesbias.contrast.associations import GIVEN, POPULATIONS, SIMILAR
from bayesbias.contrast.contrast import beside_associated, connections_of, contrast_draws
from bayesbias.distances.distances import Distances
from bayesbias.errors import InputError, shown
from bayesbias.models.families import family_of
from bayesbias.models.fits import fit
from bayesbias.models.groups import log_likelihood_of, log_prior_of
from bayesbias.models.layout import STEPS
from bayesbias.models.moments import Moments
from bayesbias.models.spec import Gamma
from bayesbias.models.tree import Fit
from bayesbias.numerics.arrays import FloatArray

DRAWS = 4000  # draws of each fit under changed priors
ALL = "all"  # all priors at once
WIDEST = 1000  # times that a prior is made wider and narrower, at most
MOST_SHIFT, MOST_SD_CHANGE = 0.5, 0.2
"""A prior matters if it moves the mean by more posterior sds than the former, or the sd by more than the latter."""
LEAST_STEP = 0.25
"""In posterior sds: an end of an interval that moves by less than this may have crossed 0 by the noise of draws."""
WORDS = ("word_mean", "attribute_effect", "interaction_effect", "connection_covariance")
"""Variables of single words; power-scaling is for those that stand above them."""
MOST_POWER = 0.05  # above this, scaling prior or likelihood moves a posterior noticeably


@dataclass(frozen=True, repr=False, eq=False)
class PriorSensitivity(Result):
    """Changes of a contrast with the priors.

    Attributes
    ----------
    first, second
        The contrast: the mean of ``first`` minus that of ``second``.
    refits
        One row a refit, the fit as given first: ``prior`` (pd.NA for the fit as given, ``"all"`` for all together),
        ``change`` (``as given``, ``wider``, ``narrower``), ``mean``, ``sd``, ``low``, ``high`` (cosine
        distance), ``shift`` of the mean in posterior sds of the fit as given, ``sd_ratio``, and whether the prior
        ``matters`` by it.
    power
        Power-scaling sensitivity, one row a quantity: ``parameter``, ``label`` (pd.NA where there is one of it),
        ``prior``, ``likelihood`` (above 0.05: scaling it moves the posterior), ``diagnosis``.
    verdict
        Whether the prior matters, in a sentence.

    References
    ----------
    Kallioinen, N. et al. (2024). Detecting and diagnosing prior and likelihood sensitivity with power-scaling.
    Statistics and Computing 34. https://doi.org/10.1007/s11222-023-10366-5
    """

    notes: ClassVar[tuple[str, ...]] = ()

    first: str
    second: str
    refits: pd.DataFrame
    power: pd.DataFrame
    verdict: str

    @property
    def matters(self) -> bool:
        """True if a refit shows that the prior matters."""
        return bool(self.refits["matters"].any())

    def findings(self) -> list[str]:
        return [self.verdict]

    def table(self) -> pd.DataFrame:
        """The contrast under each prior: ``refits``."""
        return self.refits


def prior_sensitivity(
    post: xr.DataTree,
    first: str = "associated",
    second: str | None = None,
    factor: float = 2.0,
    seed: int = 0,
    population: str = GIVEN,
) -> PriorSensitivity:
    """Sensitivity of a whole-list contrast to the priors.

    The model is fitted again to the same distances with each prior in turn, and with all of them, ``factor`` times
    wider and narrower; that of a Student t's degrees of freedom stays. The prior matters where a refit moves the
    contrast by more than half a posterior sd, changes its sd by more than 20%, or decides whether its 89% interval
    excludes 0 (by an end that moves at least a quarter of a posterior sd: less may be the noise of draws). The errors
    of templates and of an estimated slope, which no prior of the model touches, are left out. A model of one's own is
    not fitted again: its priors are scaled alone.

    Parameters
    ----------
    post
        A result of :func:`fit`.
    first, second
        Connections; the contrast is the mean of ``first`` minus that of ``second``, by default as in :func:`contrasts`.
    factor
        How much wider and narrower, above 1.
    seed
        Seed of the refits, which take 4,000 draws by the fastest engine of the model.
    population
        What the contrast speaks about, as in :func:`contrasts`.

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> post = bb.fit(table, seed=0)
    >>> found = bb.checks.prior_sensitivity(post)
    >>> type(found).__name__
    'PriorSensitivity'
    """
    result = Fit.read(post).model_alone
    seed = whole_number(seed, "seed", least=0, most=None)
    if not 1 < (wider := finite_number(factor, "factor")) <= WIDEST:
        raise InputError(f"factor is {shown(factor)}: give a number above 1, such as 2, and at most {WIDEST:,}")
    one_of(population, tuple(POPULATIONS), "population")
    first, second = contrasted(first, second, *connections_of(result))
    drawn = contrast_draws(result, first, second, population)
    refits = _refits(result, (first, second, population), wider, seed, drawn)
    power = _power(result, f"{first} - {second}", drawn)
    name = f"{first}{MINUS}{second}"
    verdict = _verdict(refits, name) if len(refits) > 1 else _verdict_by_power(power, name)
    return PriorSensitivity(first, second, refits, power, verdict)


def _refits(result: Fit, contrast: tuple[str, str, str], factor: float, seed: int, drawn: FloatArray) -> pd.DataFrame:
    """The contrast (two connections and a population) by the fit as given and by each refit."""
    spec, priors = result.spec, result.priors()
    movable = [name for name, prior in priors.items() if not isinstance(prior, Gamma)]
    changes = [] if not movable else [(name, change) for name in [*movable, ALL] for change in ("wider", "narrower")]
    table = result.data.to_frame()
    rows = [(pd.NA, "as given", *describe(drawn, PROB).values())]
    with progress("fitting with other priors", len(changes)) as done:
        for i, (name, change) in enumerate(changes):
            by = factor if change == "wider" else 1 / factor
            others = {prior: priors[prior].widened(by) for prior in (movable if name == ALL else [name])}
            again = fit(table, replace(spec, priors={**spec.priors, **others}), draws=DRAWS, seed=seed)
            rows.append((name, change, *describe(contrast_draws(Fit(again), *contrast), PROB).values()))
            done(i + 1)
    refits = pd.DataFrame(rows, columns=["prior", "change", "mean", "sd", "low", "high"])
    refits = refits.astype({"prior": "string", "change": "string", "low": float, "high": float})
    refits["shift"] = (refits["mean"] - refits["mean"][0]) / refits["sd"][0]
    refits["sd_ratio"] = refits["sd"] / refits["sd"][0]
    return refits.assign(matters=(_strength(refits) > 1) | _decides(refits))


def _strength(refits: pd.DataFrame) -> pd.Series:
    """Movement of mean and sd, the larger of the two in units of what is tolerated; above 1 is too far."""
    by_mean, by_sd = refits["shift"].abs() / MOST_SHIFT, (refits["sd_ratio"] - 1).abs() / MOST_SD_CHANGE
    return by_mean.where(by_mean > by_sd, by_sd)


def _decides(refits: pd.DataFrame) -> pd.Series:
    """True where the interval of a refit excludes 0 and that of the fit as given does not, or the other way round."""
    low, high, step = refits["low"], refits["high"], LEAST_STEP * refits["sd"][0]
    by_low = (low > 0).ne(low[0] > 0) & ((low - low[0]).abs() > step)
    by_high = (high < 0).ne(high[0] < 0) & ((high - high[0]).abs() > step)
    decided: pd.Series = by_low | by_high
    return decided


def _verdict(refits: pd.DataFrame, contrast: str) -> str:
    others = refits[1:]
    moved = others[others["matters"]]
    if moved.empty:
        return (
            f"The prior does not matter for {contrast}: over {len(others)} refits it moves by at most "
            f"{others['shift'].abs().max():.2f} posterior sds, its sd changes by at most "
            f"{(others['sd_ratio'] - 1).abs().max():.0%}, and none decides whether its interval excludes 0."
        )
    single = moved[moved["prior"] != ALL]
    rows = moved if single.empty else single
    strongest = rows.index[int(_strength(rows).argmax())]
    worst = refits.loc[strongest]
    named = "all priors" if worst["prior"] == ALL else f"the prior of {worst['prior']}"
    verdict = (
        f"The prior matters for {contrast}: with {named} {worst['change']} it moves by {worst['shift']:+.2f} posterior "
        f"sds and its sd changes by {worst['sd_ratio'] - 1:+.0%}"
    )
    if _decides(refits)[strongest]:
        excludes = worst["low"] > 0 or worst["high"] < 0
        verdict += f", and its interval {'comes to exclude' if excludes else 'no longer excludes'} 0"
    more = list(dict.fromkeys(single.loc[single["prior"] != worst["prior"], "prior"]))
    return f"{verdict}; {' and '.join(more)} matter{'s' * (len(more) == 1)} too." if more else f"{verdict}."


def _verdict_by_power(power: pd.DataFrame, contrast: str) -> str:
    whole = power.iloc[0]
    return (
        f"A model of one's own is not fitted again with other priors. By power-scaling {whole['diagnosis']} for "
        f"{contrast}: sensitivity {whole['prior']:.2f} to the prior and {whole['likelihood']:.2f} to the likelihood."
    )


def _power(result: Fit, contrast: str, drawn: FloatArray) -> pd.DataFrame:
    """Power-scaling sensitivity of the contrast, the means and the scales."""
    from arviz_stats import psense

    posterior = result.posterior
    names = [str(name) for name, each in posterior.data_vars.items() if name not in WORDS and each.ndim <= 3]
    dataset = posterior[names].assign({contrast: (STEPS, drawn.reshape(result.steps))})
    groups = {"posterior": dataset, "log_prior": log_prior_of(result), "log_likelihood": log_likelihood_of(result)}
    tree = xr.DataTree.from_dict(groups)
    by_prior, by_likelihood = psense(tree, group="prior"), psense(tree, group="likelihood")
    pieces = []
    for name in [contrast, *names]:
        values = dataset[name]
        labels = [pd.NA] if values.ndim == 2 else values[values.dims[2]].to_numpy()
        both = {"prior": np.ravel(by_prior[name]), "likelihood": np.ravel(by_likelihood[name])}
        pieces.append(pd.DataFrame({"parameter": name, "label": labels, **both}))
    table = pd.concat(pieces, ignore_index=True)
    agree = np.where(table["likelihood"] > MOST_POWER, "prior and data may disagree", "strong prior, weak likelihood")
    table["diagnosis"] = np.where(table["prior"] > MOST_POWER, agree, "the prior hardly counts")
    return table.astype(dict.fromkeys(("parameter", "label", "diagnosis"), "string"))


KINDS_OF_WORDS = (ALL, "attribute", "protected", "stereotype")  # words that can be left out
COLUMNS = ["kind", "word", "list", "n", "mean", "sd", "shift", "shift_sd"]


class _Word(NamedTuple):
    """A word with its list, and its place among the words of its kind."""

    kind: str
    name: str
    list: str
    place: int


def influence(
    post: xr.DataTree, first: str = "associated", second: str | None = None, words: str = "all", seed: int = 0
) -> pd.DataFrame:
    """Changes of a whole-list contrast when each attribute word and each protected word is left out.

    The model is fitted again to the distances without the word. Nothing is drawn: the contrast's moments given the
    scales are averaged over these, for all words at the same points, so that no noise hides the influence of a word.

    Parameters
    ----------
    post
        A result of :func:`fit` with a model that the exact or the marginal engine fits.
    first, second
        Connections; the contrast is the mean of ``first`` minus that of ``second``. By default ``second`` is the
        headline: different where the fit holds it, or else the first control list.
    words
        ``"all"``, ``"attribute"``, ``"protected"``, or ``"stereotype"``: protected words and those of stereotypes.
    seed
        Seed of the points of the scales.

    Returns
    -------
    DataFrame
        One row a word, the most influential first: ``kind`` (attribute or protected), ``word``, ``list`` (attribute
        class or group), ``n`` (its distances), ``mean`` and ``sd`` of the contrast without it, ``shift`` (without it
        minus with it, cosine distance) and ``shift_sd`` (in posterior sds with all words). ``attrs`` holds ``first``,
        ``second``, ``mean``, ``sd`` (with all words), ``population`` (as in :func:`contrasts`) and ``left_out``: kind,
        word and reason for each word without which there is no contrast.

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> post = bb.fit(table, seed=0)
    >>> bb.checks.influence(post, words="protected")["word"].head(2).tolist()
    ['dance', 'algebra']
    """
    result = Fit.read(post)
    one_of(words, KINDS_OF_WORDS, "words")
    first, second = _connections(result, first, second)
    rng = np.random.default_rng(whole_number(seed, "seed", least=0, most=None))
    spec = result.spec
    family = family_of(spec)
    if (reason := family.obstacle(spec)) is not None:
        raise InputError(
            f"the influence of words under the model {spec.name!r} needs a fit without each of them: {reason}; fit "
            "these distances with 'crossed' or 'published' and ask for the influence there"
        )
    spec, data = family.prepared(spec, result.data)
    moments, moments_without = family_of(spec).moments(spec, data, rng)
    labels = data.connections.tolist()
    mean, sd = _contrast(moments, labels, first, second)
    rows, left_out = [], []
    chosen, total = _asked(data, words), np.bincount(data.connection)
    places = {"attribute": data.attribute, "protected": data.word}
    with progress("leaving out words", len(chosen)) as done:
        for i, word in enumerate(chosen):
            counted = np.bincount(data.connection[places[word.kind] == word.place], minlength=len(labels))
            gone = [name for name in (first, second) if counted[labels.index(name)] == total[labels.index(name)]]
            try:
                if gone:
                    raise InputError(f"it has all distances of {' and '.join(gone)}")
                names, without = moments_without(word.kind, word.place)
            except InputError as error:
                left_out.append((word.kind, word.name, str(error)))
            else:
                figures = _contrast(without, names, first, second)
                shift = figures[0] - mean
                rows.append((*word[:3], int(counted.sum()), *figures, shift, shift / sd))
            done(i + 1)
    table = pd.DataFrame(rows, columns=COLUMNS).astype(dict.fromkeys(COLUMNS[:3], "string"))
    table = table.sort_values("shift", key=np.abs, ascending=False, kind="stable", ignore_index=True)
    table.attrs = {"first": first, "second": second, "mean": mean, "sd": sd, "left_out": left_out}
    table.attrs["population"] = GIVEN if family_of(spec).about_given_words else SIMILAR
    return table


def _connections(result: Fit, first: str, second: str | None) -> tuple[str, str]:
    """The two connections of a contrast; the second is by default the headline's."""
    valid = connections_of(result)[0]
    one_of(first, valid, "the connection")
    if second is None:
        second = next((name for name in beside_associated(result) if name != first), None)
        if second is None:
            raise InputError(f"give second: the fit holds {', '.join(valid)}, and no headline with {first!r}")
    one_of(second, valid, "the connection")
    if first == second:
        raise InputError(f"a contrast needs two connections, given {first!r} twice; the fit holds {', '.join(valid)}")
    return first, second


def _asked(data: Distances, words: str) -> list[_Word]:
    """The words to leave out in turn."""
    # the list of an attribute word is the class of its first row, that of a protected word its group
    classes = data.attribute_class[np.unique(data.attribute, return_index=True)[1]].tolist()
    attribute = [_Word("attribute", name, classes[i], i) for i, name in enumerate(data.attribute_words.tolist())]
    protected = [_Word("protected", name, data.groups[i], i) for i, name in enumerate(data.protected_words.tolist())]
    if words == "stereotype":
        attribute = [word for word in attribute if data.class_of_attribute[word.place] == 0]
    return [*(attribute if words != "protected" else []), *(protected if words != "attribute" else [])]


def _contrast(moments: Moments, labels: list[str], first: str, second: str) -> tuple[float, float]:
    """Mean and sd of the contrast of two connections."""
    mean, covariance = moments
    names = np.array(labels)
    sign = (names == first).astype(float) - (names == second)
    return float(sign @ mean), float(np.sqrt(sign @ covariance @ sign))
