"""``silhouette_study``: robustness and accuracy of several metrics, the study's Tables 1 and 2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd

from bayesbias._progress import progress
from bayesbias.embeddings import Embedding, opened
from bayesbias.errors import InputError, listed
from bayesbias.metrics import Query
from bayesbias.metrics.preparing import AnyQuery, as_query
from bayesbias.metrics.registry import METRICS
from bayesbias.metrics.running import named_metrics
from bayesbias.silhouettes.curves import CURVES
from bayesbias.silhouettes.results import Silhouette, silhouette_accuracy, silhouette_separation
from bayesbias.silhouettes.running import AnyMetric, silhouette
from bayesbias.silhouettes.subjects import VARIED, Varied

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

STUDIED = ("ect", "rnsb", "weat_effect_size")
COLUMNS = ["query", "vary", "metric", "model", "words", "robustness", "accuracy", "separation", "coverage"]


def silhouette_study(
    models: Mapping[str, Embedding],
    queries: Mapping[str, AnyQuery],
    metrics: Sequence[AnyMetric] | Mapping[str, AnyMetric] = STUDIED,
    runs: int = 100,
    sizes: Literal["trimmed", "saturate", "proportional"] = "trimmed",
    seed: int = 0,
    compat: Literal["published"] | None = None,
) -> pd.DataFrame:
    """Robustness of every metric in every model, and accuracy of telling the first model from the second.

    Parameters
    ----------
    models
        Names to embeddings; the first is held to be biased, the second not. Words that one of them lacks are left out
        for all.
    queries
        Names to queries (or what :func:`metric` takes for one) of two target and two attribute sets; a metric of one
        attribute set gets one of words of both in turn.
    metrics, runs, sizes, seed, compat
        As in :func:`silhouette`, and in :func:`silhouette_accuracy`.

    Returns
    -------
    DataFrame
        Columns ``query``, ``vary``, ``metric``, ``model``, ``words`` (over all lists that grow), ``robustness``,
        ``accuracy`` and ``separation`` (:func:`silhouette_separation`) of the pair of models, NaN unless there are two,
        and ``coverage``: for a metric with intervals, the share that hold the value with all words, over all sizes but
        the last. ``attrs["notes"]`` says what was left out.

    Raises
    ------
    InputError
        No model, no query, or what :func:`silhouette` refuses.

    References
    ----------
    Spliethöver, M. and Wachsmuth, H. (2021). Bias silhouette analysis. IJCAI. https://doi.org/10.24963/ijcai.2021/77
    """
    parts, notes = follow_study(models, queries, metrics, runs, None, sizes, seed, compat)
    table = scores_of(parts, compat)
    table.attrs["notes"] = notes
    return table


@dataclass(frozen=True)
class StudyPart:
    """Silhouettes (model to silhouette) of a query and metric with one kind of list growing."""

    query: str
    vary: str
    metric: str
    silhouettes: dict[str, Silhouette]


def follow_study(
    models: Mapping[str, Embedding],
    queries: Mapping[str, AnyQuery],
    metrics: Sequence[AnyMetric] | Mapping[str, AnyMetric],
    runs: int,
    step: int | None,
    sizes: Literal["trimmed", "saturate", "proportional"],
    seed: int,
    compat: Literal["published"] | None,
    varied: Sequence[Varied] = VARIED,
) -> tuple[list[StudyPart], list[str]]:
    """The silhouettes of a study, query by query and metric by metric, and sentences on what was left out."""
    if not isinstance(models, Mapping) or not models or not isinstance(queries, Mapping) or not queries:
        raise InputError("a study needs models and queries: give a mapping of names to each")
    asked_for = {label: as_query(asked) for label, asked in queries.items()}
    kvs = {name: opened(kv) for name, kv in models.items()}
    chosen = named_metrics(metrics)
    parts: list[StudyPart] = []
    notes: list[str] = []
    with progress("following metrics", len(queries) * len(chosen) * len(varied) * len(kvs)) as done:
        for label, asked in asked_for.items():
            kept, left = _in_all(asked, kvs)
            notes += [f"{label}: {note}" for note in left]
            for metric, name, options in chosen:
                fitting = _joined(kept) if _takes_one(name) else kept
                for vary in varied:
                    found: dict[str, Silhouette] = {}
                    for model, kv in kvs.items():
                        one = silhouette(kv, fitting, (name, options), vary, runs, step, sizes, seed, compat=compat)
                        found[model] = one
                        notes += [f"{label}, {metric} in {model}: {note}" for note in one.notes]
                        done(len(parts) * len(kvs) + len(found))
                    parts.append(StudyPart(label, vary, metric, found))
    return parts, notes


def scores_of(parts: Sequence[StudyPart], compat: Literal["published"] | None = None) -> pd.DataFrame:
    """The scores of a study's silhouettes, a row for each and model."""
    rows = [(part.query, part.vary, part.metric, *row) for part in parts for row in _rows(part.silhouettes, compat)]
    return pd.DataFrame(rows, columns=COLUMNS)


def _rows(found: Mapping[str, Silhouette], compat: Literal["published"] | None) -> list[tuple[object, ...]]:
    """Model, words and scores of silhouettes of one metric."""
    pair = list(found.values())
    both = len(pair) == 2
    accuracy = silhouette_accuracy(pair[0], pair[1], compat) if both else np.nan
    separation = silhouette_separation(pair[0], pair[1]) if both else np.nan
    return [
        (model, int(one.sizes[-1]), one.robustness, accuracy, separation, _covered(one)) for model, one in found.items()
    ]


def _covered(one: Silhouette) -> float:
    """Mean coverage over all sizes but the last, which holds its own value."""
    return float(np.mean(one.coverage[:-1])) if len(one.sizes) > 1 else float("nan")


def _takes_one(name: str) -> bool:
    """Whether a metric takes one attribute set only."""
    if name in CURVES:
        return CURVES[name].sets[1] == 1
    return name in METRICS and METRICS[name].attributes[1] == 1


def _in_all(query: Query, models: Mapping[str, KeyedVectors]) -> tuple[Query, list[str]]:
    """The query's words that all models hold, and sentences on the others."""
    notes, sets = [], {}
    for kind in VARIED:
        given = getattr(query, kind)
        sets[kind] = {
            name: [word for word in words if all(word in kv.key_to_index for kv in models.values())]
            for name, words in given.items()
        }
        for name, words in given.items():
            lost = [word for word in dict.fromkeys(words) if word not in sets[kind][name]]
            if lost:
                notes.append(f"{len(lost)} of {len(words)} words of {name} are left out: {listed(lost)}.")
            if not sets[kind][name]:
                raise InputError(f"the models share none of the {len(words)} words of {name!r}: choose other words")
    return Query(sets["targets"], sets["attributes"], name=query.name), notes


def _joined(query: Query) -> Query:
    """The query with one attribute set, of words of each in turn, as many of each as the shortest holds."""
    lists = list(query.attributes.values())
    shortest = min(map(len, lists))
    words = [word for word in chain(*zip_longest(*(words[:shortest] for words in lists))) if word is not None]
    return Query(query.targets, {" and ".join(query.attributes): list(dict.fromkeys(words))}, name=query.name)
