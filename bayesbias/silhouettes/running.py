"""``silhouette``: a metric on random parts of its word lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from bayesbias._checks import one_of, whole_number
from bayesbias.embeddings import Case, Embedding, about, opened
from bayesbias.errors import InputError, listed
from bayesbias.metrics import Query, load_query
from bayesbias.metrics.lookup import FoundSets, Lookup, look_up
from bayesbias.silhouettes.curves import CURVES, Curves, Sets
from bayesbias.silhouettes.orders import SIZES, Growth, lengths_of, recorded, shuffled
from bayesbias.silhouettes.results import Silhouette

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

Varied = Literal["targets", "attributes"]
VARIED: tuple[Varied, Varied] = ("targets", "attributes")
STEPS = {"targets": 2, "attributes": 6}
"""Words over all lists by which they grow, as in the published study."""


def silhouette(
    kv: Embedding,
    query: Query | str | Path,
    metric: str,
    vary: Varied = "targets",
    runs: int = 100,
    step: int | None = None,
    sizes: Literal["trimmed", "saturate", "proportional"] = "trimmed",
    seed: int = 0,
    orders: Mapping[str, Sequence[Sequence[str]]] | None = None,
    compat: Literal["published"] | None = None,
    case: Case = "as-is",
) -> Silhouette:
    """The values of a metric while its word lists grow in random order: how much hangs on which words are there.

    Parameters
    ----------
    kv
        The embedding, or what :func:`load_embedding` takes.
    query
        Target and attribute sets, or what :func:`load_query` takes.
    metric
        ``"weat_effect_size"`` (or ``"weat"``, as the study calls it), ``"ect"`` or ``"rnsb"``. RNSB is that of the
        study: the divergence from the uniform of the probabilities of the groups' mean vectors, in [0, ln 2].
    vary
        Which lists grow; the others stay full.
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
    name = "weat_effect_size" if metric == "weat" else metric
    curves = CURVES[one_of(name, tuple(CURVES), "metric")]
    asked = query if isinstance(query, Query) else load_query(query)
    vectors = opened(kv)
    found, notes = _found(vectors, asked, curves, name, case)
    kept = {set_: words for set_, words in found.words.items() if set_ in getattr(asked, vary)}
    sides = {"targets": found.targets, "attributes": found.attributes}
    if sizes == "trimmed":
        sides = {kind: _trimmed(lists) for kind, lists in sides.items()}
    grown = {set_: words[: len(side)] for (set_, words), side in zip(kept.items(), sides[vary], strict=True)}
    places = (
        shuffled([len(words) for words in grown.values()], runs, seed, compat == "published")
        if orders is None
        else recorded(grown, orders)
    )
    growth = Growth(places, lengths_of([len(words) for words in grown.values()], step, sizes))
    follow = curves.targets if vary == "targets" else curves.attributes
    values = follow(sides["targets"], sides["attributes"], growth)
    if missing := int(np.isnan(values).sum()):
        notes.append(f"{missing:,} of {values.size:,} values are missing: there the metric does not vary.")
    return Silhouette(
        metric=name,
        vary=vary,
        sizes=growth.totals,
        values=values,
        bounds=curves.published if compat == "published" and curves.published else curves.bounds,
        zero=curves.zero,
        embedding=str(about(vectors)["name"]),
        notes=tuple(notes),
    )


def _found(kv: KeyedVectors, query: Query, curves: Curves, metric: str, case: Case) -> tuple[FoundSets, list[str]]:
    """The sets with the words that the embedding holds, and sentences on the others."""
    shape = (len(query.targets), len(query.attributes))
    if shape != curves.sets:
        raise InputError(
            f"{metric} takes {curves.sets[0]} target and {curves.sets[1]} attribute sets; the query {query.name!r} has "
            f"{shape[0]} and {shape[1]}"
        )
    found = look_up(kv, query, Lookup(max_missing=1.0, case=case), paired=False)
    notes = []
    for entry in found.entries:
        if not entry["found"]:
            raise InputError(
                f"the embedding holds none of the {entry['asked']} words of {entry['set']!r}: choose other words"
            )
        if lost := entry["missing"]:
            notes.append(f"{len(lost)} of {entry['asked']} words of {entry['set']} are missing: {listed(lost)}.")
    return found, notes


def _trimmed(sets: Sets) -> Sets:
    shortest = min(map(len, sets))
    return tuple(vectors[:shortest] for vectors in sets)
