"""``methods_text``: the study in the words of a paper, a sentence for each thing that was done."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.metadata import version
from itertools import chain
from typing import Any

import xarray as xr

from bayesbias._support.arguments import one_of, probability
from bayesbias._support.phrases import IN_SDS, percent
from bayesbias._support.prose import Prose
from bayesbias._support.results import Result, Section, title_of
from bayesbias.axes import Axis
from bayesbias.axes.audits import Audit
from bayesbias.checks.calibration.topics import LISTS, TopicNull
from bayesbias.checks.summaries import PROB
from bayesbias.comparison import Comparison
from bayesbias.contrast import GIVEN, POPULATIONS, beside_associated, contrasts
from bayesbias.distances.list_coverage import COSINE, Coverage, known_coverage
from bayesbias.documents.regression import CovariateContrast
from bayesbias.errors import InputError, many
from bayesbias.models.families import family_of
from bayesbias.models.fits import sampling_text
from bayesbias.models.own import ELSEWHERE
from bayesbias.models.tree import Fit
from bayesbias.reporting.fit_report import FitReport
from bayesbias.second_stage.criteria import Criterion
from bayesbias.second_stage.pools import Pool
from bayesbias.second_stage.specifications import Multiverse, declared
from bayesbias.second_stage.trends import Trend
from bayesbias.words import labelled

WORDS = Prose("methods")


def methods_text(
    result: xr.DataTree | Result, prob: float = PROB, topics: TopicNull | None = None, population: str = GIVEN
) -> str:
    """The methods section of a paper on a result, to start from.

    Parameters
    ----------
    result
        A fit, or a result of :func:`compare`, :func:`pool`, :func:`trend`, :func:`multiverse`, :func:`axis`,
        :func:`audit`, :func:`criterion` or :func:`covariates`.
    prob
        Posterior mass of the intervals.
    topics, population
        Of a fit: the chance check of its lists (:func:`topic_null`), and what the whole list speaks about, as in
        :func:`contrasts`.

    Examples
    --------
    >>> post = bb.fit(bb.distance_table("google-news-slice", "weat7"), seed=0)
    >>> bb.methods_text(post).split(":")[0]
    'We measured the cosine distances of 16 protected words of the list weat7 to 141 attribute words, 16 of them \
stereotypes in google-news-slice (2,949 vectors)'
    """
    prob, population = probability(prob, "prob"), one_of(population, tuple(POPULATIONS), "population")
    if topics is not None and not isinstance(topics, TopicNull):
        raise InputError(f"topics is a {type(topics).__name__}: give what topic_null returns")
    given = FitReport(Fit.read(result), topics) if isinstance(result, xr.DataTree) else result
    if isinstance(given, FitReport):
        return " ".join(_fit(given, prob, population))
    if topics is not None or population != GIVEN:
        raise InputError(f"topics and population belong to a fit; given is {type(result).__name__}")
    for kind, sentences in KINDS.items():
        if isinstance(given, kind):
            versions = {"bayesbias": version("bayesbias")}
            return " ".join([*sentences(given, prob), WORDS.software(versions=versions)])
    name = title_of(given).lower() if isinstance(given, Result) else type(given).__name__
    raise InputError(
        f"there is no methods text for {name}: give a fit, or a result of compare, pool, trend, multiverse, axis, "
        "audit, criterion or covariates"
    )


def methods_section(result: Result, prob: float = PROB) -> Section:
    """The part of a report with the text; an empty one for a result that is no study by itself."""
    if isinstance(result, (FitReport, *KINDS)):
        return Section(WORDS.title(), [methods_text(result, prob)], shut=True)
    return Section(WORDS.title(), [])


def _words_of(record: Coverage | None) -> Iterator[str]:
    """Words that were not found, debiasing, and sentences: what a table records of its embedding."""
    if record is None or record.unknown:
        yield WORDS.unknown()
        return
    embedding = record.embedding.get("name", "the embedding")
    lacking = [each for each in record.lists if each["missing"]]
    yield WORDS.missing(embedding=embedding, lists=lacking) if lacking else WORDS.complete(embedding=embedding)
    if debiasing := record.embedding.get("debiasing"):
        yield WORDS.debiased(embedding=embedding, method=debiasing.removesuffix("."))
    if record.contexts:
        yield WORDS.sentences(contexts=record.contexts)


def _fit(report: FitReport, prob: float, population: str) -> Iterator[str]:
    result, topics = report.result, report.topics
    data = result.data
    table = data.to_frame()
    stereotypes = table[table["attribute_class"].isin(table["group"].unique())]["attribute_word"].nunique()
    counts = {name: table[f"{name}_word"].nunique() for name in ("protected", "attribute")}
    yield WORDS.measured(record=data.coverage, distances=len(table), stereotypes=stereotypes, **counts)
    yield from _words_of(data.coverage)
    if by := result.tree.attrs.get("adjust") or data.adjusted:
        yield WORDS.adjusted(by=by)
    yield from _model(result)
    yield WORDS.intervals(mass=percent(prob))
    others = beside_associated(result) if len(data.protected_words) > 1 else []
    if others:
        row = contrasts(result.tree, "associated", others[0], prob, population=population).iloc[0].to_dict()
        label, whom = labelled(others[0], result.labels), POPULATIONS[population]
        yield WORDS.whole_list(population=whom, label=label, row=row, mass=percent(prob))
    if topics is not None:
        rows = topics.table(prob).set_index("statistic").to_dict("index")
        wanted = f"associated - {others[0]}" if others else ""
        row = rows.get(wanted) or next(iter(rows.values()))
        numbers = {"replicates": topics.replicates, "count": row["count"], "p": row["p_value"]}
        yield WORDS.chance(lists=LISTS[topics.kind], seed=topics.seed, **numbers)
    yield WORDS.software(versions=result.versions)


def _model(result: Fit) -> Iterator[str]:
    yield WORDS.model(model=result.model, family=family_of(result.spec).method_text(result.spec))
    if not result.spec.own:
        yield WORDS.priors(priors={name: prior.model_dump() for name, prior in result.priors().items()})
    sampling = sampling_text(result)
    if result.engine == ELSEWHERE:
        yield WORDS.elsewhere(sampling=sampling)
    else:
        yield WORDS.computed(sampling=sampling, seed=result.seed)


def _comparison(result: Comparison, prob: float) -> Iterator[str]:
    attrs = result.tree.attrs
    protected, pairs = len(result.data.protected_words), len(result.data.y)
    yield WORDS.several(embeddings=list(result.embeddings), pairs=pairs, protected=protected)
    records = map(known_coverage, result.coverage.values())
    yield from dict.fromkeys(chain.from_iterable(map(_words_of, records)))
    fitted = Fit(result.tree)
    yield WORDS.model(model=fitted.model, family=family_of(fitted.spec).method_text(fitted.spec))
    yield WORDS.computed(sampling=f"by the engine {result.engine}", seed=attrs["seed"])
    yield WORDS.change(population=POPULATIONS[result.population], mass=percent(prob))


def _drawn(tree: xr.DataTree, prob: float, notes: Iterable[str]) -> Iterator[str]:
    """The end of the text of a second stage: draws and seed, intervals, and what its notes say was done."""
    sizes = tree["posterior"].sizes
    draws = many(sizes["chain"] * sizes["draw"], "independent draw")
    yield WORDS.computed(sampling=f"by quadrature, with {draws}", seed=tree.attrs["seed"])
    yield WORDS.intervals(mass=percent(prob))
    yield from notes


def _pool(result: Pool, prob: float) -> Iterator[str]:
    names = result.estimates.index["embedding"].tolist()
    contrast = " - ".join(result.contrast)
    yield WORDS.pool(contrast=contrast, embeddings=names, unit=result.unit, weights=result.weights)
    yield from _drawn(result.tree, prob, result.notes)


def _trend(result: Trend, prob: float) -> Iterator[str]:
    index = result.estimates.index
    times = zip(index["embedding"], (f"{time:g}" for time in index["time"]), strict=True)
    named = [name if name == time else f"{name} ({time})" for name, time in times]
    options = {"unit": result.unit, "kind": result.kind, "weights": result.weights}
    yield WORDS.trend(contrast=" - ".join(result.contrast), embeddings=named, **options)
    yield from _drawn(result.tree, prob, result.notes)


def _multiverse(result: Multiverse, prob: float) -> Iterator[str]:
    table = result.specifications
    yield WORDS.multiverse(
        decisions=declared(result.decisions).to_dict("records"),
        every=len(table),
        computed=int((table["status"] == "done").sum()),
        distinct=len(result.distinct),
        unit=IN_SDS if result.standardised else COSINE,
    )
    if len(result.null):
        yield WORDS.null(replicates=len(result.null))
    yield from _drawn(result.tree, prob, result.notes)


def _axis(result: Axis, prob: float) -> Iterator[str]:
    negative, positive = (len(words) for _, words in result.poles.lists) if result.poles.lists else (0, 0)
    counts = {"words": len(result.words), "pairs": len(result.poles.pairs), "negative": negative, "positive": positive}
    facts = {"embedding": result.embedding["name"], "vectors": result.embedding["vectors"]}
    yield WORDS.axis(name=result.name, ends=result.ends, **counts, **facts)
    if result.centre:
        yield WORDS.centred(centre=result.centre)
    if result.adjusted:
        yield WORDS.places_adjusted(by=result.adjusted)
    yield WORDS.oppositions(mass=percent(prob))
    yield from result.notes


def _audit(result: Audit, _: float) -> Iterator[str]:
    yield WORDS.audit(
        words=result.words["word"].nunique(),
        embedding=result.embedding,
        groups=list(result.groups),
        paired=bool(result.pairs),
        level=result.level,
        ropes=result.ropes,
        mass=percent(result.prob),
    )
    yield from result.notes


def _criterion(result: Criterion, prob: float) -> Iterator[str]:
    yield WORDS.criterion(contrast=" - ".join(result.contrast), words=len(result.words), errors=result.errors)
    if result.unadjusted is not None:
        yield WORDS.values_adjusted()
    yield from _drawn(result.tree, prob, result.notes)


def _covariates(result: CovariateContrast, prob: float) -> Iterator[str]:
    facts = {"target": result.target, "formula": result.by.formula, "ends": result.ends}
    units = many(result.design.clusters, result.by.sample.unit)
    yield WORDS.covariates(vectors=int(result.design.vectors.n.sum()), units=units, **facts)
    yield WORDS.intervals(mass=percent(prob))
    yield from result.notes


KINDS: Mapping[type[Result], Callable[[Any, float], Iterator[str]]] = {
    Comparison: _comparison,
    Pool: _pool,
    Trend: _trend,
    Multiverse: _multiverse,
    Axis: _axis,
    Audit: _audit,
    Criterion: _criterion,
    CovariateContrast: _covariates,
}
"""Kinds of results beside fits, and the function to the sentences of each."""
