"""``methods_text``: the study in the words of a paper, a sentence for each thing that was done."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from typing import Any

import pandas as pd
import xarray as xr

from bayesbias._support.arguments import one_of, probability
from bayesbias._support.files import from_json
from bayesbias._support.phrases import percent
from bayesbias._support.prose import Prose
from bayesbias._support.results import Result, Section, title_of
from bayesbias.axes import Axis
from bayesbias.axes.audits import Audit
from bayesbias.axes.poles import vocabulary_said
from bayesbias.baselines.ranking import Ranking
from bayesbias.checks.calibration.topics import TopicNull
from bayesbias.checks.summaries import PROB
from bayesbias.comparison import Comparison, SideEffects, effects
from bayesbias.comparison.change_report import UNNAMED
from bayesbias.contrast import GIVEN, POPULATIONS, beside_associated, contrasts
from bayesbias.contrast.associations import POOL_SD
from bayesbias.distances.list_coverage import COSINE, Coverage, known_coverage
from bayesbias.documents.findings import sides_of
from bayesbias.documents.regression import CovariateContrast
from bayesbias.errors import InputError, many, mark_between
from bayesbias.metrics.batch import MetricResult
from bayesbias.metrics.query_words import REMEDY
from bayesbias.models.families import family_of
from bayesbias.models.fits import engine_of, sampling_text
from bayesbias.models.own import ELSEWHERE
from bayesbias.models.template_variation import PRIOR
from bayesbias.models.tree import EXACT, Fit, versions_of
from bayesbias.models.weights import POOLED, RAW
from bayesbias.numerics.clusters import SPREAD
from bayesbias.numerics.offsets import RARE
from bayesbias.reporting.fit_report import FitReport
from bayesbias.reporting.metric_table import MetricTable, is_metric_table
from bayesbias.reporting.papers import cite, references
from bayesbias.second_stage import criteria, pools
from bayesbias.second_stage.criteria import Criterion
from bayesbias.second_stage.estimates import PAIRS
from bayesbias.second_stage.pools import Pool
from bayesbias.vectors import about
from bayesbias.words import OTHER, OWN, controls_of, labelled

WORDS = Prose("methods")


def methods_text(
    result: xr.DataTree | Result | pd.DataFrame,
    prob: float = PROB,
    topics: TopicNull | None = None,
    population: str = GIVEN,
) -> str:
    """The methods section of a paper on a result, to start from.

    Parameters
    ----------
    result
        A fit, the table of :func:`run_metrics`, or a result of :func:`compare`, :func:`pool`, :func:`axis`,
        :func:`audit`, :func:`criterion`, :func:`covariates`, :func:`metric`, :func:`rank` or :func:`side_effects`.
    prob
        Posterior mass of the intervals.
    topics, population
        Of a fit: the chance check of its lists in its embedding (:func:`topic_null`), and what the whole list speaks
        about, as in :func:`contrasts`.

    Examples
    --------
    >>> post = bb.fit(bb.distance_table("google-news-slice", "weat7"), seed=0)
    >>> bb.methods_text(post).split(",")[0]
    'We measured the cosine distances of 16 protected words of the word list weat7 to 141 attribute words'
    """
    prob, population = probability(prob, "prob"), one_of(population, tuple(POPULATIONS), "population")
    given: Any = MetricTable(result) if is_metric_table(result) else result
    if isinstance(result, xr.DataTree):
        given = FitReport(Fit.read(result), topics)
    if isinstance(given, FitReport):
        return _text(given, _fit(given, prob, population), given.result.versions)
    if topics is not None or population != GIVEN:
        raise InputError(f"topics and population belong to a fit; given is {type(result).__name__}")
    for kind, sentences in KINDS.items():
        if isinstance(given, kind):
            fitted = given.tree if isinstance(given, Comparison) else getattr(given, "post", None)
            versions = versions_of(EXACT) if fitted is None else Fit(fitted).versions
            return _text(given, sentences(given, prob), versions)
    name = title_of(given).lower() if isinstance(given, Result) else type(given).__name__
    raise InputError(
        f"there is no methods text for {name}: give a fit, the table of run_metrics, or a result of compare, pool, "
        "axis, audit, criterion, covariates, metric, rank or side_effects"
    )


def methods_section(*results: Result, prob: float = PROB) -> Section:
    """The part of a report with the text of each; an empty one for results that are no study by themselves."""
    texts = [methods_text(result, prob) for result in results if isinstance(result, (FitReport, *KINDS))]
    return Section(WORDS.title(), texts, shut=True)


def _text(result: Result, sentences: Iterable[str], versions: Mapping[str, str]) -> str:
    """Sentences, then the sources of what was used, and the software."""
    works: list[dict[str, str]] = []
    with suppress(InputError):  # a result that does not know its sources
        for cited in cite(result).used:
            if (cited.doi or not cited.source.startswith("bayesbias")) and not _is_part(cited.what, works):
                work = references().get(cited.doi)
                works.append({**cited._asdict(), "source": work.short if work else cited.source})
    sources = [WORDS.sources(works=works)] if works else []
    return " ".join([*sentences, *sources, WORDS.software(versions=versions)])


def _is_part(name: str, of: Iterable[Mapping[str, str]]) -> bool:
    """True for a sub-query of a query that is there."""
    return any(name.startswith(f"{each['what']}: ") for each in of)


def _words_of(records: Iterable[Coverage | None]) -> Iterator[str]:
    """Words that were not found, debiasing, and sentences: what tables record of their embeddings."""
    known = [record for record in records if record is not None and not record.unknown]
    if not known:
        yield WORDS.unknown()
    for names, lists in _by_value(known, lambda record: [each for each in record.lists if each["missing"]]):
        yield WORDS.missing(embeddings=names, lists=lists) if lists else WORDS.complete(embeddings=names)
    yield from _read_otherwise(known)
    for record in known:
        yield from _debiased(record.embedding)
        if record.contexts:
            words = record.embedding.get("vectors", 0)
            yield WORDS.sentences(contexts=record.contexts, words=words, distances=record.pairs, prior=PRIOR)


def _by_value[T](records: Iterable[Coverage], of: Callable[[Coverage], T]) -> Iterator[tuple[list[str], T]]:
    """Names of embeddings whose records have the same value, and the value."""
    same: dict[str, tuple[dict[str, None], T]] = {}
    for record in records:
        value = of(record)
        same.setdefault(repr(value), ({}, value))[0][record.embedding.get("name", "the embedding")] = None
    return (([*names], value) for names, value in same.values())


def _debiased(embedding: Mapping[str, Any]) -> Iterator[str]:
    """Sentence on the debiasing that an embedding's record has."""
    if debiasing := embedding.get("debiasing"):
        method, _, details = debiasing.removesuffix(".").partition(": ")
        yield WORDS.debiased(embedding=embedding["name"], method=method, details=details)


def _read_otherwise(records: Sequence[Coverage]) -> Iterator[str]:
    """Words that were read under another spelling, and those of several lists; once for embeddings with the same."""
    for names, pairs in _by_value(records, lambda record: record.substituted):
        if pairs:
            yield WORDS.respelled(embeddings=names, pairs=pairs)
    said: dict[str, None] = {}
    for record in records:
        own = {entry["list"] for entry in record.lists if entry["kind"] == "stereotype"}
        by_list = {word: own.intersection(lists) for word, lists in record.in_several_lists.items()}
        mixed = [word for word, lists in by_list.items() if len(lists) == 1]
        several = [word for word, lists in by_list.items() if len(lists) > 1]
        for words in (mixed, several):
            if words:
                sentence = WORDS.in_several_lists(words=words, several=words is several, kept=record.kept_duplicates)
                said[sentence] = None
    yield from said
    for names, sentences in _by_value(records, lambda record: record.of_fewer_words):
        for sentence in sentences:
            yield WORDS.in_part(embeddings=names, sentence=sentence)


def _connections(present: Sequence[str], labels: Mapping[str, str]) -> str:
    """A sentence on the kinds of distances."""
    controls = [labels.get(name, name) for name in controls_of(present)]
    return WORDS.connections(associated=OWN in present, different=OTHER in present, controls=controls)


def _fit(report: FitReport, prob: float, population: str) -> Iterator[str]:
    result, topics = report.result, report.topics
    data = result.data
    table = data.to_frame()
    stereotypes = table[table["attribute_class"].isin(table["group"].unique())]["attribute_word"].nunique()
    counts = {name: table[f"{name}_word"].nunique() for name in ("protected", "attribute")}
    yield WORDS.measured(record=data.coverage, distances=len(table), stereotypes=stereotypes, **counts)
    yield _connections(data.connections.tolist(), result.labels)
    yield from _words_of([data.coverage])
    if by := result.adjusted_for:
        moved = result.adjustment  # none of a table that was adjusted elsewhere
        yield WORDS.adjusted(by=by, facts=None if moved is None else from_json(moved.attrs["facts"]))
    yield WORDS.model(model=result.model, family=family_of(result.spec).method_text(result.spec))
    if not result.spec.own:
        yield _priors(result, further=population != GIVEN)
    if result.engine == ELSEWHERE:
        yield WORDS.elsewhere(sampling=sampling_text(result))
    else:
        yield WORDS.computed(sampling=sampling_text(result), seed=result.seed)
    yield WORDS.intervals(mass=percent(prob))
    others = beside_associated(result) if len(data.protected_words) > 1 else []
    if others:
        found = contrasts(result.tree, OWN, others[0], prob, population=population)
        row = found.iloc[0].to_dict()
        label, whom = labelled(others[0], result.labels), POPULATIONS[population]
        lists = table.loc[table["connection"] == OWN, "group"].nunique()
        facts = {"groups": population == GIVEN and lists > 1, "lists": lists, "mass": percent(prob)}
        yield WORDS.whole_list(population=whom, label=label, row=row, **facts)
        if found.attrs["rows"] == POOLED:
            yield WORDS.rows_of_words(scale=POOL_SD)
    if topics is not None:
        rows = topics.table(prob).to_dict("records")
        wanted = f"{OWN} - {others[0]}" if others else ""
        row = next((each for each in rows if each["statistic"] == wanted), rows[0])
        numbers = {name: row[name] for name in ("count", "observed", "centre")} | {"p": row["p_value"]}
        numbers |= {"replicates": topics.replicates, "seed": topics.seed}
        statistic = labelled(row["statistic"], result.labels)
        near = topics.kind == "topical" and row["statistic"] == f"{OWN} - {OTHER}"
        yield WORDS.chance(
            lists=topics.called(row["statistic"]), statistic=statistic, by=result.adjusted_for, near=near, **numbers
        )


def _priors(result: Fit, further: bool = False) -> str:
    """The priors of a fit, or of the changes of a comparison; ``further`` for statements on further protected words."""
    priors = result.priors() if "posterior" in result.tree.children else result.spec.priors
    flat = family_of(result.spec).needs_relatedness  # the means have none of their own
    used = {name: prior.model_dump() for name, prior in priors.items()}
    if flat and not further:
        used.pop("connection_covariance", None)  # it enters these statements only
    return WORDS.priors(priors=used, flat=flat)


def _comparison(result: Comparison, prob: float) -> Iterator[str]:
    attrs, data, fitted = result.tree.attrs, result.data, Fit(result.tree)
    family = family_of(fitted.spec).method_text(fitted.spec, len(result.embeddings))
    known = {name: known_coverage(record) for name, record in result.coverage.items()}
    named = {name: one for name, one in known.items() if one is not None and one.embedding.get("name")}
    if tuple(known) != UNNAMED and len({one.embedding["name"] for one in named.values()}) < len(named):
        # two of one method: the names that were given tell them apart
        known |= {name: replace(one, embedding=one.embedding | {"name": name}) for name, one in named.items()}
    records = list(known.values())
    sides = [
        {"name": name, "embedding": record.embedding if (record := known.get(name)) is not None else {}}
        for name in result.embeddings
    ]
    yield WORDS.several(
        sides=sides,
        pairs=len(data.y),
        protected=len(data.protected_words),
        attribute=len(data.attribute_words),
        word_list=next((record.word_list for record in records if record is not None), ""),
    )
    yield _connections(list(result.connections), result.labels)
    yield from _words_of(records)
    if result.unrelated:
        yield WORDS.model_of_changes(model=fitted.model, family=family, levels=attrs["levels_model"])
    else:
        yield WORDS.model(model=fitted.model, family=family)
    yield _priors(fitted)
    engine = engine_of(fitted)
    drawn = "posterior" in result.tree.children
    yield WORDS.computed(sampling=sampling_text(fitted) if drawn else engine and engine.method, seed=attrs["seed"])
    yield WORDS.changes(pairs=result.pairs)
    yield WORDS.change(population=POPULATIONS[result.population], mass=percent(prob), joint=not result.unrelated)
    # the model's sentence has what the caution says
    yield from (note for note in result.notes if note != family_of(fitted.spec).caution_of_changes)


def _side_effects(result: SideEffects, _: float) -> Iterator[str]:
    lists = [cited.what.removeprefix("word list ") for cited in result.cited if cited.what.startswith("word list ")]
    yield WORDS.side_effects(embeddings=list(result.embeddings), lists=lists, vocabulary=result.made["vocabulary"])
    yield from chain.from_iterable(map(_debiased, result.embeddings))
    kept = result.neighbours
    counts = {effects.KINDS[str(kind)]: int(part["words"].iloc[0]) for kind, part in kept.groupby("kind", sort=False)}
    yield WORDS.neighbours(ks=[str(k) for k in kept["k"].unique()], words=counts)
    if controls := [labelled(name, result.controls.attrs.get("labels", {})) for name in result.controls["connection"]]:
        yield WORDS.control_distances(controls=controls, model=result.made["model"])
    if len(result.similarity):
        row = result.similarity.iloc[0]
        yield WORDS.agreement(found=int(row["found"]), asked=int(row["asked"]), draws=result.made["draws"])
    if len(result.recovery):
        words = int(result.recovery["words"].iloc[0])
        yield WORDS.old_side(words=words, folds=effects.FOLDS, starts=effects.STARTS)
        if result.recovery["reference"].notna().any():
            yield WORDS.topics_removed(topics=effects.REFERENCES)
    yield WORDS.mass_of_all(mass=percent(result.prob), seed=result.made["seed"])
    yield from result.notes


def _drawn(tree: xr.DataTree, prob: float, notes: Iterable[str], medians: str = "") -> Iterator[str]:
    """The end of the text of a second stage: draws and seed, intervals, and what its notes say was done."""
    sizes = tree["posterior"].sizes
    draws = many(sizes["chain"] * sizes["draw"], "independent draw")
    yield WORDS.computed(sampling=f"by quadrature, with {draws}", seed=tree.attrs["seed"])
    yield WORDS.intervals(mass=percent(prob), medians=medians)
    yield from notes


def _estimated(result: Pool) -> str:
    """The contrast of a pool, and the embeddings that it was estimated in."""
    words = result.estimates.index["protected_words"].astype(int)
    facts = {"fewest": int(words.min()), "most": int(words.max())}
    facts |= {"grouped": result.rows != PAIRS, "lists": result.rows == RAW}
    return WORDS.estimated(
        contrast=list(result.contrast),
        unit=result.unit,
        embeddings=result.estimates.index["embedding"].tolist(),
        **facts,
    )


def _pool(result: Pool, prob: float) -> Iterator[str]:
    index = result.estimates.index
    width = pools.WIDTH if result.unit == COSINE else pools.STANDARD_WIDTH
    groups = [name for name in index["group"].unique().tolist() if name]
    yield _estimated(result)
    replicated = result.training_share is not None
    yield WORDS.pool(groups=groups, replicated=replicated, width=width, weights=result.weights)
    if not result.correlates.empty:
        yield WORDS.outside(relations=result.correlates.to_dict("records"), width=width)
    yield from _drawn(result.tree, prob, result.notes, medians="standard deviations between embeddings")


def _axis(result: Axis, prob: float) -> Iterator[str]:
    negative, positive = (len(words) for _, words in result.poles.lists) if result.poles.lists else (0, 0)
    counts = {"words": len(result.words), "pairs": len(result.poles.pairs), "negative": negative, "positive": positive}
    agreement = None
    if counts["pairs"] > 1:
        values = result.pairs()["agreement"]
        agreement = {"mean": values.mean(), "low": values.min(), "high": values.max(), "usual": result.random_agreement}
    own, vocabulary = result.poles.poles, vocabulary_said(result.kv)
    yield WORDS.axis(
        name=result.name,
        ends=result.ends,
        own=[] if own.source else [f"{low} and {high}" for low, high in result.poles.pairs],
        lists=[] if own.source else [(name, ", ".join(words)) for name, words in result.poles.lists],
        vocabulary=vocabulary,
        centre=result.centred_on.removeprefix("the mean of "),
        adjusted=result.adjusted,
        source=result.base.source,
        agreement=agreement,
        embedding=result.embedding,
        **counts,
    )
    templates = result.templates is not None and len(result.templates.turns) > 1
    yield WORDS.oppositions(mass=percent(prob), pairs=counts["pairs"], templates=templates)
    if result.doubt:
        yield result.doubt
    elif (chance := result.chance(prob))[0]:
        judged = len(result.words) - len(result.at_poles)
        yield WORDS.as_many(count=chance[0], judged=judged, probability=chance[1])
    yield from result.notes


def _audit(result: Audit, _: float) -> Iterator[str]:
    yield WORDS.audit(
        words=result.words["word"].nunique(),
        embedding=result.embedding,
        groups=list(result.groups),
        pairs=result.pairs,
        level=result.level,
        ropes=result.ropes,
        mass=percent(result.prob),
    )
    yield from result.agreement
    yield from result.notes


def _criterion(result: Criterion, prob: float) -> Iterator[str]:
    facts = {"contrast": list(result.ends), "words": len(result.words), "variable": result.kind}
    yield WORDS.criterion(errors=result.errors, less=result.less, **facts)
    if result.by_vectors:
        yield WORDS.criterion_by_vectors(share=RARE, further=result.further)
    else:
        yield WORDS.criterion_unrelated(width=criteria.WIDTH, errors=result.errors)
    yield WORDS.criterion_line()
    if result.unadjusted is not None:
        yield WORDS.values_adjusted(by=result.words.attrs["attribute"], source=result.words.attrs["source"])
    said = "The values are taken as exact.", criteria.ADJUSTED
    yield from _drawn(result.tree, prob, [note for note in result.notes if not note.startswith(said)])


def _covariates(result: CovariateContrast, prob: float) -> Iterator[str]:
    sample, design = result.by.sample, result.design
    yield WORDS.covariates(
        target=result.target,
        groups=list(design.groups) if len(design.groups) > 1 else [],
        ends=result.ends,
        lists=sides_of(result, len(result.attributes.keys)),
        attribute=len(result.attributes.keys),
        embedding=about(sample.kv)["name"],
        vectors=int(design.vectors.n.sum()),
        units=many(design.clusters, sample.unit),
        made=sample.about,
        centred=result.centre is not None,
    )
    kinds = {"known": len(design.x) == 1, "nested": design.clusters < len(design.x), "uneven": len(design.terms) > 1}
    yield WORDS.regression(formula=result.by.formula, unit=sample.unit, spread=SPREAD, **kinds)
    yield WORDS.of_words()
    yield WORDS.intervals(mass=percent(prob))
    yield from result.notes


def _metrics(result: MetricTable, _: float) -> Iterator[str]:
    table = result.table()
    names = {name: table[name].astype(str).unique().tolist() for name in ("metric", "query", "embedding")}
    yield WORDS.metrics(**names)
    tested = int(table["p_value"].notna().sum()) if "p_value" in table else 0
    values, lacking = int(table["value"].notna().sum()), int((table["missing"] > 0).sum())
    yield WORDS.values_of_metrics(values=values, without=len(table) - values, lacking=lacking, tested=tested)
    yield from result.notes


def _metric(result: MetricResult, _: float) -> Iterator[str]:
    yield WORDS.metrics(metric=[result.title], query=[result.query.name], embedding=[result.embedding])
    sets = [
        {"name": row["set"], "found": row["found"], "asked": row["asked"], "missing": list(row["missing"])}
        for row in result.coverage.to_dict("records")
    ]
    yield WORDS.sets(sets=sets)
    if result.p_value is not None:
        yield WORDS.tested(
            p=result.p_value,
            random_lists=result.null_mean is not None,
            partitions=result.partitions or 0,
            exact=result.exact,
            options=result.options,
        )
    yield from (f"{note[:1].upper()}{note[1:]}." for note in result.notes)


def _ranking(result: Ranking, prob: float) -> Iterator[str]:
    used = result.used
    queries = [name for name in used if not _is_part(name, [{"what": other} for other in used])]
    facts = {"embeddings": list(result.scores.index), "metrics": list(result.scores.columns), "queries": queries}
    yield WORDS.ranking(made=result.made, mark=mark_between(facts["embeddings"]), **facts)
    yield from (REMEDY.sub(".", note) for note in result.notes)  # what to try is not for a paper


KINDS: Mapping[type[Result], Callable[[Any, float], Iterator[str]]] = {
    Comparison: _comparison,
    SideEffects: _side_effects,
    Pool: _pool,
    Axis: _axis,
    Audit: _audit,
    Criterion: _criterion,
    CovariateContrast: _covariates,
    MetricTable: _metrics,
    MetricResult: _metric,
    Ranking: _ranking,
}
"""Kinds of results beside fits, and the function to the sentences of each."""
