"""``silhouette``: a metric on random parts of its word lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayesbias._checks import one_of, whole_number
from bayesbias.embeddings import TWINS, Case, Embedding, Twins, about, opened
from bayesbias.errors import InputError
from bayesbias.metrics import Query
from bayesbias.metrics.lookup import Lookup
from bayesbias.metrics.preparing import AnyQuery, as_query
from bayesbias.silhouettes import crossed
from bayesbias.silhouettes.curves import CURVES
from bayesbias.silhouettes.orders import SIZES, Growth, lengths_of, recorded, shuffled
from bayesbias.silhouettes.results import Silhouette
from bayesbias.silhouettes.subjects import (
    VARIED,
    Lengths,
    Subject,
    Varied,
    registered_subject,
    study_subject,
    with_range,
)

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

STEPS = {"targets": 2, "attributes": 6}
"""Words over all lists by which they grow, as in the published study."""

type AnyMetric = str | tuple[str, Mapping[str, Any]]


def silhouette(
    kv: Embedding,
    query: AnyQuery,
    metric: AnyMetric,
    vary: Varied = "targets",
    runs: int = 100,
    step: int | None = None,
    sizes: Literal["trimmed", "saturate", "proportional"] = "trimmed",
    seed: int = 0,
    orders: Mapping[str, Sequence[Sequence[str]]] | None = None,
    compat: Literal["published"] | None = None,
    case: Case = "as-is",
    twins: Twins = "once",
) -> Silhouette:
    """The values of a metric while its word lists grow in random order: how much hangs on which words are there.

    Parameters
    ----------
    kv
        The embedding, or what :func:`load_embedding` takes.
    query
        Target and attribute sets, or what :func:`metric` takes.
    metric
        ``"weat_effect_size"`` (or ``"weat"``, as the study calls it), ``"ect"`` or ``"rnsb"``: all sizes of a run in
        one pass. RNSB is that of the study: the divergence from the uniform of the probabilities of the groups' mean
        vectors, in [0, ln groups]. Or another metric of :func:`list_metrics` whose smallest and largest value are
        known, as a name or a pair of a name and its options.

        Or ``"crossed"``: the posterior mean of a contrast with its intervals, fitted anew at every size. Target sets
        are groups and attribute sets their stereotypes, in order; sets named ``human`` and ``neutral`` are controls.
        Options: ``model``, ``first`` and ``second`` connection, ``prob``, ``draws`` and ``seed`` of each fit.
    vary
        Which lists grow; the others stay full. Pairs of target words grow as pairs.
    runs
        How many random orders.
    step
        Words over all lists by which they grow: 2 for targets and 6 for attributes, as in the study.
    sizes
        ``"trimmed"`` first cuts all lists of a kind to the shortest of them; ``"saturate"`` grows each by as many words
        until it is used up; ``"proportional"`` grows each by the same share.
    seed
        Seed of the orders; each list has its own permutations.
    orders
        Recorded orders in place of random ones: name of a set to the words of run 0, run 1, ...
    compat
        ``"published"`` shuffles every list with the run's number as seed, and takes [0, 1] for the range of RNSB.
    case
        As in :func:`distance_table`.
    twins
        As in :func:`metric`: words of one set that have one vector count once; with ``"keep"`` and with
        ``compat="published"`` all count.

    Returns
    -------
    Silhouette
        Words that the embedding lacks are left out first; ``notes`` names them.

    Raises
    ------
    InputError
        A metric whose range is not known, a query that does not fit it, a list shorter than a step, orders that are not
        those of the lists.

    References
    ----------
    Spliethöver, M. and Wachsmuth, H. (2021). Bias silhouette analysis. IJCAI. https://doi.org/10.24963/ijcai.2021/77
    """
    one_of(vary, VARIED, "vary")
    one_of(sizes, SIZES, "sizes")
    if compat not in (None, "published"):
        raise InputError(f"compat is {compat!r}: give None or 'published'")
    runs, seed = whole_number(runs, "runs"), whole_number(seed, "seed", least=0)
    step = STEPS[vary] if step is None else whole_number(step, "step")
    one_of(twins, TWINS, "twins")
    how = Lookup(max_missing=1.0, case=case, twins="keep" if compat == "published" else twins)
    vectors = opened(kv)
    subject = _subject(metric, vectors, as_query(query), how)
    lengths = _lengths(subject, sizes)
    lists = getattr(subject, vary)
    grown = {name: words[:most] for (name, words), most in zip(lists.items(), getattr(lengths, vary), strict=True)}
    together = subject.paired and vary == "targets"
    places = (
        shuffled([len(words) for words in grown.values()], runs, seed, compat == "published", together)
        if orders is None
        else recorded(grown, orders, together)
    )
    growth = Growth(places, lengths_of([len(words) for words in grown.values()], step, sizes))
    followed = subject.follow(vary, lengths, growth)
    notes = [*subject.notes, *followed.notes]
    if missing := int(np.isnan(followed.values).sum()):
        notes.append(f"{missing:,} of {followed.values.size:,} values are missing: there the metric does not vary.")
    return Silhouette(
        metric=subject.metric,
        vary=vary,
        sizes=growth.totals,
        values=followed.values,
        bounds=subject.published if compat == "published" and subject.published else subject.bounds,
        zero=subject.zero,
        embedding=str(about(vectors)["name"]),
        notes=tuple(notes),
        optimum=subject.optimum,
        low=followed.low,
        high=followed.high,
    )


def _subject(metric: AnyMetric, kv: KeyedVectors, query: Query, how: Lookup) -> Subject:
    name, options = metric if isinstance(metric, tuple) and len(metric) == 2 else (metric, {})
    name = "weat_effect_size" if name == "weat" else name
    valid = [*CURVES, *(other for other in with_range() if other not in CURVES), crossed.NAME]
    if not isinstance(name, str) or not isinstance(options, Mapping):
        raise InputError(f"metric is {metric!r}: give a name ({', '.join(valid)}), or a pair of a name and its options")
    if name == crossed.NAME:
        return crossed.contrast_subject(options, kv, query, how)
    if name in CURVES and not options:
        return study_subject(name, kv, query, how)
    if name in CURVES:
        raise InputError(f"{name} takes no options here, given are {', '.join(options)}: give its name alone")
    return registered_subject(name, options, kv, query, how)


def _lengths(subject: Subject, sizes: str) -> Lengths:
    """How many words of each list are used at most."""
    every = [tuple(len(words) for words in sets.values()) for sets in (subject.targets, subject.attributes)]
    if sizes == "trimmed":
        every = [(min(lengths),) * len(lengths) for lengths in every]
    return Lengths(*every)
