"""Contrasts of a word for each value of covariates, with the errors of documents, of speakers and of words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from scipy.linalg import helmert
from scipy.special import ndtri

from bayesbias._support.arguments import one_of
from bayesbias._support.progress import one_thread
from bayesbias.axes.poles import find_poles, sample_beside, vocabulary_of
from bayesbias.documents.alacarte import METHOD
from bayesbias.documents.design import AttributeWords, AxisWords, Design, ListWords, designed, total_variance
from bayesbias.documents.samples import VectorSample
from bayesbias.errors import InputError, agreed, listed, many
from bayesbias.numerics.arrays import FloatArray
from bayesbias.numerics.clusters import (
    Regression,
    UnitMeans,
    Weighting,
    bias_reduced,
    regression,
    weighted_least_squares,
)
from bayesbias.numerics.mixtures import NormalNodes
from bayesbias.numerics.offsets import field_of, mean_offset
from bayesbias.numerics.related import root_of
from bayesbias.posteriors import PROB, Estimates
from bayesbias.results import Cited, Note, Result
from bayesbias.vectors import about, find_keys, find_words
from bayesbias.vectors.lookup import first_keys, left_out, missing_words, warn_lost
from bayesbias.vectors.poles import poles_of
from bayesbias.words import WordLists, load_words, words_given

WORDS = ("similar", "given")
SPEAKERS = ("weighted", "equal")  # weights of speakers, the estimate's own first
SEE = "the notes of the result"
DISCOUNT = 1.5  # what is taken off the words' part of an error, in its expectation where vectors do not differ
PERMUTATIONS = 499
POINTS = 61  # of a line along a number
TINY = 1e-12  # differences of two products that are rounding
REGRESSION = "10.1017/S0003055422001228"


def covariates(sample: VectorSample, formula: str) -> Covariates:
    """Regression of the vectors of words on covariates of their documents.

    Parameters
    ----------
    sample
        Vectors with covariates: :func:`instances`, :func:`vector_sample`.
    formula
        Terms as formulaic reads them, such as ``"party + year"``, ``"party * era"`` or ``"bs(year, df=4)"``.

    Returns
    -------
    Covariates
        ``contrast``, ``association``, ``axis`` and ``norms`` answer.

    Raises
    ------
    InputError
        A name is no covariate, a covariate has one value, or terms cannot be told apart.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> rows = [{"word": "tax", "party": party, "vector": 1 + rng.normal(size=50)} for party in "LR" * 20]
    >>> by = bb.covariates(bb.vector_sample(pd.DataFrame(rows), "glove-50d-slice"), "party")
    >>> by.contrast(["poor", "cheap"], ["rich", "luxury"]).summary()["name"].tolist()
    ['party: R - L', 'L', 'R']
    """
    designs: dict[str, Design | InputError] = {}
    for target in sample.targets:
        try:
            designs[target] = designed(sample, {target: (target,)}, formula)
        except InputError as error:
            designs[target] = error
    reasons = [each for each in designs.values() if isinstance(each, InputError)]
    if len(reasons) == len(designs):
        raise reasons[0]
    return Covariates(sample, formula, designs)


@dataclass(frozen=True, repr=False)
class Covariates(Result):
    """Words in documents, by covariates.

    Attributes
    ----------
    sample, formula
        The vectors, and the terms.
    designs
        Target to the rows of its regression, or to the reason why it has none, such as too few clusters.
    """

    prob: ClassVar[float] = PROB

    sample: VectorSample
    formula: str
    designs: Mapping[str, Design | InputError]

    @property
    def notes(self) -> tuple[Note, ...]:
        """Limits of the vectors."""
        return self.sample.notes

    def caption(self) -> str:
        return f"vectors of words by {self.formula}, {many(int(self.sample.cluster.max()) + 1, self.sample.noun)}"

    def header(self) -> dict[str, object]:
        return self.sample.header()

    def table(self) -> pd.DataFrame:
        """That of the sample, and the ``reason`` why a target has no regression; empty where it has one."""
        reasons = [str(each) if isinstance(each, InputError) else "" for each in self.designs.values()]
        return self.sample.table().assign(reason=pd.array(reasons, dtype="string"))

    def sources(self) -> tuple[Any, ...]:
        made, name = self.sample.about, about(self.sample.kv)["name"]
        works = [Cited("regression of embeddings on covariates", "", REGRESSION), Cited(f"embedding {name}")]
        if made["vectors"] == "à la carte":
            works.insert(0, Cited("embeddings à la carte", "", METHOD))
        if corpus := made.get("corpus"):
            works.append(Cited(f"documents {corpus['name']}", corpus["source"]))
        return tuple(works)

    @cached_property
    def _attributes(self) -> dict[object, AttributeWords]:
        """Attribute words by what was asked for: all targets share a sample of the vocabulary."""
        return {}

    def design(self, target: str | None = None) -> Design:
        """The rows of the regression of one target."""
        design = self.designs[self.sample.target(target)]
        if isinstance(design, InputError):
            raise design
        return design

    def contrast(
        self,
        a: Iterable[str] | str | Path,
        b: Iterable[str] | str | Path,
        target: str | None = None,
        names: tuple[str, str] | None = None,
    ) -> CovariateContrast:
        """Distance of a target to the words ``a`` less that to ``b``, by covariates: negative is closer to ``a``.

        Parameters
        ----------
        a, b
            Words, or lists that :func:`load_list` takes.
        target
            The word; the only one of the sample by default.
        names
            What the two lists are called.
        """
        entries = list[dict[str, Any]]()
        given = {name: words_given(words, name) for words, name in ((a, "a"), (b, "b"))}
        lists = [self._keys(words, name, entries) for name, words in given.items()]
        if both := [key for key in lists[0] if key in lists[1]]:
            raise InputError(f"{listed(both)} is in both lists: give each word to one")
        called = [
            each if isinstance(each, str) else cut(words) for each, words in zip((a, b), given.values(), strict=True)
        ]
        first, second = map(str, names or called)
        word, attributes = self.sample.target(target), self._of_lists(lists, np.array([[-1.0, 1.0]]))
        warn_lost(missing_words(entries), SEE)
        notes, own = missing_words(entries, lost=False), dict(zip((first, second), lists, strict=True))
        return self.answered(attributes, word, self.design(word), (first, second), notes, lists=own)

    def association(self, lists: WordLists | str | Path) -> CovariateContrast:
        """Association of the words of groups with the stereotypes of their own, by covariates: negative is closer.

        It is the distance of a group's words to their own list less that to the others' lists, the mean over groups, in
        which words of a group weigh the same. A list that is near to the words of every group does not count.

        Parameters
        ----------
        lists
            As in :func:`distance_table`, with stereotypes of two groups or more. Their protected words are targets of
            the sample.
        """
        words = lists if isinstance(lists, WordLists) else load_words(lists)
        words.single_forms("association by covariates")
        if len(words.stereotypes) < 2:
            raise InputError(
                f"{words.name!r} has stereotypes of {many(len(words.stereotypes), 'group')}: an association needs two"
            )
        groups, keys, notes = dict[str, tuple[str, ...]](), list[list[str]](), list[Note]()
        entries = list[dict[str, Any]]()
        for name, stereotypes in words.stereotypes.items():
            targets = find_keys(words.protected[name], self.sample.targets)
            groups[name] = tuple(dict.fromkeys(targets.values()))
            lost = [word for word in words.protected[name] if word not in targets]
            notes += left_out(len(lost), len(words.protected[name]), f"words of {name}", "not in the sample", lost)
            stereotyped = self._keys(list(stereotypes), name, entries)
            if any(set(stereotyped) == set(each) for each in keys):
                raise InputError(f"the stereotypes of {name} are those of another group: an association needs others")
            keys.append(stereotyped)
        design, own = designed(self.sample, groups, self.formula), dict(zip(groups, keys, strict=True))
        attributes, ends = self._of_lists(keys, -helmert(len(groups))), ("own stereotypes", "other stereotypes")
        warn_lost(missing_words(entries), SEE)
        notes += missing_words(entries, lost=False)
        return self.answered(attributes, words.name, design, ends, notes, lists=own)

    def _keys(self, words: list[str], name: str, entries: list[dict[str, Any]]) -> list[str]:
        """Keys of attribute words in the embedding; the words that it lacks go to the entries."""
        looked = find_words(self.sample.kv, words).keys
        if not looked:
            raise InputError(
                f"{name}: none of the words is in the embedding: {listed(words)}; {first_keys(self.sample.kv, words)}"
            )
        lost = [word for word in words if word not in looked]
        entries.append({"list": name, "kind": "attribute", "asked": len(words), "missing": lost})
        return list(dict.fromkeys(looked.values()))

    def _of_lists(self, lists: list[list[str]], signs: FloatArray) -> AttributeWords:
        """Lists by their keys, with their signs."""
        held = (tuple(map(tuple, lists)), signs.tobytes())
        if held not in self._attributes:
            self._attributes[held] = ListWords.of(self.sample.kv, lists, signs)
        return self._attributes[held]

    def axis(self, pairs: Any, target: str | None = None) -> CovariateContrast:
        """Place of a target on an axis, by covariates, as :func:`axis` has it: 0 is the mean of the vocabulary.

        Parameters
        ----------
        pairs
            As in :func:`axis`: a bundled axis, pairs of words (negative, positive), or two lists by name.
        target
            The word; the only one of the sample by default.
        """
        kv = self.sample.kv
        poles = find_poles(kv, poles_of(pairs))
        if poles.poles not in self._attributes:
            sampled, strata = field_of(sample_beside(kv, poles.keys_at_poles)), poles.strata
            variances = mean_offset(sampled, strata).opposition
            self._attributes[poles.poles] = AxisWords(strata.weights @ strata.vectors, sampled, variances)
        attributes, word = self._attributes[poles.poles], self.sample.target(target)
        ends, of = poles.ends, zip(*poles.pairs, strict=True) if poles.pairs else dict(poles.lists).values()
        own = dict(zip(ends, (list(dict.fromkeys(each)) for each in of), strict=True))
        warn_lost(poles.notes, SEE)
        centre: FloatArray = vocabulary_of(kv)[1].mean(axis=0)
        return self.answered(attributes, word, self.design(word), ends, poles.notes, centre, own)

    def answered(
        self,
        attributes: AttributeWords,
        target: str,
        design: Design,
        ends: tuple[str, str],
        notes: Sequence[Note],
        centre: FloatArray | None = None,
        lists: Mapping[str, Sequence[str]] = MappingProxyType({}),
    ) -> CovariateContrast:
        """A contrast of a target with words that were looked up; places are 0 at ``centre`` where it is given."""
        length = design.vectors.length(design.cluster)
        if not np.isfinite(length):
            raise InputError(
                f"the vectors of {target!r} have no common direction: {many(design.clusters, design.noun)} with "
                f"{many(int(design.vectors.n.sum()), 'vector')} are too few, or the vectors are noise"
            )
        with one_thread():
            if centre is not None:
                design = replace(design, vectors=design.vectors.less(length * centre))
            fitted, beside = _fitted(design, attributes, length)
        index, weights, rests = design.questions
        return CovariateContrast(
            target=target,
            by=self,
            ends=ends,
            design=design,
            index=index,
            weights=weights,
            rests=rests,
            fitted=fitted,
            of_words=beside,
            attributes=attributes,
            length=length,
            centre=centre,
            notes=(*self.sample.notes, *design.notes, *notes),
            lists=lists,
        )

    def norms(self, target: str | None = None, permutations: int = PERMUTATIONS, seed: int = 0) -> pd.DataFrame:
        """Squared norms of a target's coefficients, as conText reports them, and what noise adds to them.

        Returns
        -------
        DataFrame
            ``term``; ``squared_norm`` of its coefficient, by least squares over all vectors; ``debiased``, less the
            trace of its HC1 covariance; ``p``, of as large a norm where documents are shuffled among the values; and
            ``between_clusters``, the squared norm by the means of clusters, each counting equally, less what their
            scatter adds.

        References
        ----------
        Green, B. et al. (2025). Political Analysis. https://doi.org/10.1017/pan.2024.22
        """
        design = self.design(target)
        x, sums = design.x, design.vectors
        n, total = sums.n.astype(float), sums.total
        size, p = n.sum(), x.shape[1]
        inverse = np.linalg.inv((x * n[:, None]).T @ x)
        coefficients = inverse @ (x.T @ total)
        fitted = x @ coefficients
        # sums of squared residuals of the instances of each unit
        left = sums.squares - 2 * np.vecdot(fitted, total) + n * np.vecdot(fitted, fitted)
        scores = inverse @ x.T
        bias = size / (size - p) * (scores**2 @ left)
        squared = np.vecdot(coefficients, coefficients)
        # by clusters: means, each counting equally, with residuals corrected for leverage (HC2)
        equal = np.linalg.pinv(x)
        of_means = equal @ sums.mean
        residual = ((sums.mean - x @ of_means) ** 2).sum(axis=1) / np.maximum(1 - np.diag(x @ equal), 1e-9)
        between = np.vecdot(of_means, of_means) - equal**2 @ residual
        rng = np.random.default_rng(seed)
        larger = np.zeros(p)
        for _ in range(permutations):
            own = x[rng.permutation(len(x))]
            drawn = np.linalg.solve((own * n[:, None]).T @ own, own.T @ total)
            larger += np.vecdot(drawn, drawn) >= squared
        table = pd.DataFrame(
            {
                "term": pd.array(design.terms, dtype="string"),
                "squared_norm": squared,
                "debiased": squared - bias,
                "p": (1 + larger) / (1 + permutations),
                "between_clusters": between,
            }
        )
        return table[np.ptp(x, axis=0) > 0].reset_index(drop=True)


def _fitted(design: Design, attributes: AttributeWords, length: float) -> tuple[Regression, FloatArray]:
    """The regression on the contrast, and what other attribute words add to the covariance of its terms (p, p)."""
    b = attributes.direction / length
    x, y = design.x, design.products(attributes) / length
    v = design.vectors.variances(b)
    if len(x) == 1:  # a vector whose covariance is known: no scale is to be estimated
        law = NormalNodes(np.ones(1), y[None], v.reshape(1, 1, 1))
        root = root_of(design.vectors.errors[0])  # type: ignore[index]
        chance = total_variance(attributes, root.T) / length**2
        of_words = attributes.covariance(design.vectors.mean) / length**2
        weighting = Weighting(v, v, 0.0, design.cluster)
        return Regression(law, law, weighting), np.maximum(of_words - DISCOUNT * chance, 0.0)
    fitted = regression(y, UnitMeans(v, x, design.cluster), design.uneven)
    return fitted, _beyond_chance(design, fitted.weighting, attributes, length)


def _beyond_chance(design: Design, weighting: Weighting, attributes: AttributeWords, length: float) -> FloatArray:
    """Covariance (p, p) that other attribute words add to the terms.

    Errors of words and of speakers do not add up: noise in the vectors alone makes lists differ by ``chance``.
    """
    # of numbers less their means, so that nothing depends on where a number is 0
    mean, x = design.vectors.mean, design.centred[1]
    weights, inverse = weighting.coefficients(x)
    vectors = weights @ mean
    # in units in which the errors of the coefficients are independent and equal
    root = np.linalg.cholesky(inverse)
    of_words = attributes.covariance(np.linalg.solve(root, vectors)) / length**2
    left = weighting.whitened(mean - x @ vectors) / np.sqrt(len(x) - x.shape[1])
    chance = total_variance(attributes, left) / length**2
    values, axes = np.linalg.eigh(of_words)
    beyond = axes * np.maximum(values - DISCOUNT * chance, 0.0)
    root = np.linalg.lstsq(design.x, x)[0] @ root if design.numbers else root
    value: FloatArray = root @ (beyond @ axes.T) @ root.T
    return value


@dataclass(frozen=True, repr=False, eq=False)
class CovariateContrast(Result):
    """A contrast, an association, or a place on an axis, by covariates.

    Attributes
    ----------
    target, by, ends
        The word, or the name of word lists, the regression, and the names of the two lists.
    design, index, weights, rests
        Its rows; what is asked, the weights of the terms in it, and what it rests on.
    fitted, of_words
        The posterior of the terms for these words, and the covariance that other words add.
    attributes, length, centre
        The attribute words; the length of the mean vector, by which products are divided; and the mean unit vector of
        the vocabulary where places are taken from there.
    lists
        Names of the lists, or of the groups of an association, to their words.
    """

    picture: ClassVar[str] = "plot_covariates"
    prob: ClassVar[float] = PROB

    target: str
    by: Covariates
    ends: tuple[str, str]
    design: Design
    index: pd.DataFrame
    weights: FloatArray
    rests: pd.DataFrame
    fitted: Regression
    of_words: FloatArray
    attributes: AttributeWords
    length: float
    centre: FloatArray | None
    notes: tuple[Note, ...]
    lists: Mapping[str, Sequence[str]] = MappingProxyType({})

    def caption(self) -> str:
        by = " by " * bool(len(self.design.frame.columns)) + ", ".join(map(str, self.design.frame))
        return f"{self.target}: {' - '.join(self.ends)}{by}, cosine distance (< 0: nearer to {self.ends[0]})"

    def header(self) -> dict[str, object]:
        lists = {f"{name} =": list(words) for name, words in self.lists.items() if name != cut(words)}
        design = self.design
        return {
            "embedding": about(self.by.sample.kv)["name"],
            "vectors": int(design.vectors.n.sum()),
            f"{design.noun}s": design.clusters,
            "0 is": "mean of the vocabulary" if self.centre is not None else None,
            "intervals": f"{self.prob:.0%}, attribute words like these",
            **lists,
        }

    def estimates(self, words: str = "similar", speakers: str = "weighted") -> Estimates:
        """Coefficients, values and differences with their joint posterior, in cosine distance.

        ``words`` are ``"similar"``, for attribute words like these, or ``"given"``, for these; ``speakers`` count as
        ``"weighted"`` by how well each is known, or ``"equal"``.
        """
        return self._terms(words, one_of(speakers, SPEAKERS, "speakers")).combine(self.weights, self.index)

    def _terms(self, words: str, speakers: str = "weighted") -> Estimates:
        """The coefficients, of which everything else is a sum."""
        one_of(words, WORDS, "words")
        law = self.fitted.law if speakers == "weighted" else self.fitted.equal
        if words == "similar":
            law = NormalNodes(law.mass, law.mean, law.errors + self.of_words)
        return Estimates.of(law, self.weights.shape[1])

    def along(self, name: str, prob: float = PROB, words: str = "similar") -> pd.DataFrame:
        """The contrast along a covariate of the formula that is a number; ``prob`` and ``words`` as in :meth:`table`.

        Returns
        -------
        DataFrame
            ``at``, from the least to the largest number that occurs; ``mean``, ``sd``, ``low``, ``high``, ``p_closer``.
        """
        numbers = self.design.frame[one_of(name, self.design.numbers, "the number of the formula")]
        points = np.linspace(numbers.min(), numbers.max(), POINTS)
        return self._terms(words).combine(self.design.along(name, points), pd.DataFrame({"at": points})).summary(prob)

    def table(self, prob: float = PROB, words: str = "similar") -> pd.DataFrame:
        """The figures.

        Returns
        -------
        DataFrame
            ``quantity``, ``name``, the covariates of values, ``mean``, ``sd``, ``low``, ``high``, ``p_closer``;
            ``equal``, the mean where every speaker counts equally; ``share_instances``, ``share_speakers`` and
            ``share_words`` of the error variance; ``these_low`` and ``these_high``, the interval for the attribute
            words as they are, and ``equal_low``, ``equal_high``; ``equal_apart``, whether equal weights move the mean
            by more than chance, as where who talks more talks in another way; ``clusters``, of the value that fewest
            have (``rarest``); ``at``, numbers at their means, on which a difference depends; and ``overlap``, the
            squared multiple correlation of a coefficient's term with the others.

        References
        ----------
        Hausman, J. A. (1978). Specification tests in econometrics. Econometrica 46(6). https://doi.org/10.2307/1913827
        """
        summary = self.estimates(words).summary(prob)
        given, even = self.estimates("given"), self.estimates("given", "equal")
        rows = self.weights @ self.fitted.weighting.coefficients(self.design.x)[0]
        instances = self.fitted.weighting.share_of_instances(rows)
        of_words = np.einsum("mp,pq,mq->m", self.weights, self.of_words, self.weights) if words == "similar" else 0.0
        whole = given.sd**2 + of_words
        summary["equal"] = even.mean
        summary["share_instances"] = instances * given.sd**2 / whole
        summary["share_speakers"] = (1 - instances) * given.sd**2 / whole
        summary["share_words"] = of_words / whole
        for name, one in (("these", given), ("equal", self.estimates(words, "equal"))):
            summary[[f"{name}_low", f"{name}_high"]] = one.summary(prob)[["low", "high"]]
        # weights are those of least variance, so that the variance of the move is the difference of both
        chance = ndtri((1 + prob) / 2) * np.sqrt(np.maximum(even.sd**2 - given.sd**2, 0.0))
        summary["equal_apart"] = np.abs(even.mean - summary["mean"]) > np.maximum(chance, given.sd)
        return summary.join(self.rests)

    def summary(self) -> pd.DataFrame:
        table = self.table(self.prob)
        rows = [table[table["quantity"] == quantity] for quantity in ("difference", "value")]
        columns = ["name", "mean", "sd", "low", "high", "p_closer", "equal", "clusters"]
        return pd.concat(rows, ignore_index=True)[columns].astype({"clusters": int})

    def tables(self) -> dict[str, pd.DataFrame]:
        lines = {f"Along {name}": self.along(name, self.prob) for name in self.design.numbers}
        made = pd.DataFrame(self.by.header().items(), columns=["fact", "value"])
        return {"All numbers": self.table(self.prob), **lines, "Vectors": made}

    def pictures(self) -> dict[str, Callable[[], Any]]:
        lines = {f"Along {name}": partial(self.figure, along=name) for name in self.design.numbers}
        return super().pictures() | lines

    def sources(self) -> tuple[Any, ...]:
        return self.by.sources()

    def checks(self, permutations: int = PERMUTATIONS, seed: int = 0) -> pd.DataFrame:
        """The differences, for these words, by methods that assume less, with so many shuffles between clusters.

        Returns
        -------
        DataFrame
            ``name``; ``mean`` and ``p`` (two-sided) of the posterior; ``mean_cr2`` and ``p_cr2``, weighted least
            squares with bias-reduced clustered errors and Satterthwaite's degrees of freedom; ``p_permutation``; and
            ``reason`` why these three are missing, empty where they are not.

        References
        ----------
        Pustejovsky, J. E. and Tipton, E. (2018). Small-sample methods for cluster-robust variance estimation and
        hypothesis testing in fixed effects models. Journal of Business and Economic Statistics 36(4).
        https://doi.org/10.1080/07350015.2016.1247004
        """
        rng, design = np.random.default_rng(seed), self.design
        kinds = self.index["quantity"]
        rows = kinds.eq("difference" if kinds.eq("difference").any() else "value").to_numpy(bool)
        asked, x, given = self.weights[rows], design.x, self.estimates("given")[rows]
        below = given.below(0.0)
        table = self.index.loc[rows, ["name"]].reset_index(drop=True)
        table["mean"], table["p"] = given.mean, 2 * np.minimum(below, 1 - below)
        table[["mean_cr2", "p_cr2", "p_permutation"]] = np.nan
        repeated, reason = np.flatnonzero(np.bincount(design.cluster) > 1), ""
        if len(x) == 1:
            reason = "there is one vector, whose errors are known"
        elif len(repeated):
            most = {str(name): column.groupby(design.cluster).nunique().max() for name, column in design.frame.items()}
            varying = [name for name, values in most.items() if values > 1]
            have = f"{many(len(repeated), design.noun)} {agreed(len(repeated), 'has', 'have')}"
            reason = f"{have} several values of {listed(varying)}, and these methods need one each"
        table["reason"] = pd.array([reason] * len(table), dtype="string")
        if reason:
            return table
        y = design.products(self.attributes) / self.length
        precise = 1 / self.fitted.weighting.spread
        table[["mean_cr2", "p_cr2"]] = [bias_reduced(y, precise, x, combine) for combine in asked]
        observed = np.abs(asked @ weighted_least_squares(precise, x) @ y)
        larger = np.zeros(len(asked))
        for _ in range(permutations):
            drawn = weighted_least_squares(precise, x[rng.permutation(len(x))])
            larger += np.abs(asked @ drawn @ y) >= observed - TINY
        table["p_permutation"] = (1 + larger) / (1 + permutations)
        return table


def cut(words: Sequence[str]) -> str:
    """The first two words as the name of a list."""
    return ", ".join([*words[:2], *(["…"] if len(words) > 2 else [])])
