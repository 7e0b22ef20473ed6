"""``bundled``: what is known by name, as one table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from bayesbias._support.arguments import one_of
from bayesbias.words import WordLists, bundled_lists

if TYPE_CHECKING:
    import pandas as pd


def bundled(kind: str | None = None) -> pd.DataFrame:
    """What is known by name: what comes with the package, and what others registered.

    Parameters
    ----------
    kind
        ``"words"``, ``"embeddings"``, ``"models"``, ``"metrics"``, ``"axes"``, ``"queries"``, ``"methods"`` (of
        debiasing), ``"templates"`` or ``"datasets"`` (to be fetched, or here); by default all of them.

    Returns
    -------
    DataFrame
        ``kind``, ``name``, ``description``, ``source`` and ``doi``; for one kind also what is known of its kind alone,
        such as the ``language`` of words, the ``engines`` of models and the ``licence`` of embeddings.

    Examples
    --------
    >>> bb.bundled("embeddings")[["name", "vectors", "dimensions"]]
                    name  vectors  dimensions
    0  google-news-slice     2949         300
    1    glove-50d-slice    20518          50
    >>> bb.bundled()["kind"].unique()[:3].tolist()
    ['words', 'embeddings', 'models']
    """
    import pandas as pd

    names = list(KINDS) if kind is None else [one_of(kind, KINDS, "kind")]
    rows = [{"kind": name} | row for name in names for row in KINDS[name]()]
    table, last = pd.DataFrame(rows), ["description", "source", "doi"]
    own = [] if kind is None else [name for name in table if name not in ("kind", "name", *last)]
    return table[["kind", "name", *own, *last]].astype({"protected": "Int64"} if "protected" in own else {})


def _of(one: Any, **own: object) -> dict[str, Any]:
    return {"name": one.name, **own, "description": one.description, "source": one.source, "doi": one.doi or None}


def _words() -> Iterable[dict[str, Any]]:
    for name, (form, lists) in bundled_lists().items():
        if isinstance(lists, WordLists):
            protected, attributes = (sum(map(len, part.values())) for part in (lists.protected, lists.stereotypes))
            sizes: dict[str, int | None] = {"protected": protected, "attributes": attributes}
        else:
            sizes = {"protected": None, "attributes": len(lists)}
        yield _of(lists, form=form, language=lists.language, **sizes) | {"name": name}


def _embeddings() -> Iterable[dict[str, Any]]:
    from bayesbias.vectors.formats import manifest

    columns = ("vectors", "dimensions", "licence", "description", "source", "doi")
    return ({"name": name} | {column: about[column] for column in columns} for name, about in manifest().items())


def _models() -> Iterable[dict[str, Any]]:
    from bayesbias.models.fits import engines_for
    from bayesbias.models.spec import bundled_models, load_model

    return (_of(spec, engines=", ".join(engines_for(spec))) for spec in map(load_model, bundled_models()))


def _metrics() -> Iterable[dict[str, Any]]:
    from bayesbias.metrics.catalogue import METRICS
    from bayesbias.metrics.definition import count_of

    for one in METRICS.values():
        sets = {"targets": count_of(one.targets), "attributes": count_of(one.attributes)}
        yield _of(one, **sets, optimum=one.optimum, options=", ".join(one.options))


def _axes() -> Iterable[dict[str, Any]]:
    from bayesbias.vectors.poles import bundled_axes, poles_of

    axes = bundled_axes()["axes"]
    for name in sorted([*axes, "gender_pairs"]):
        known = poles_of(name)
        own = {"negative": known.ends[0], "positive": known.ends[1], "pairs": len(known.pairs)}
        domain = axes[name]["domain"] if name in axes else "Demographic"
        yield {"name": name, **own, "description": domain, "source": known.source, "doi": known.doi}


def _queries() -> Iterable[dict[str, Any]]:
    from bayesbias.metrics.queries import bundled_queries, load_query

    for query in map(load_query, bundled_queries()):
        targets, attributes = (
            ", ".join(f"{name} ({len(words)})" for name, words in sets.items())
            for sets in (query.targets, query.attributes)
        )
        yield _of(query, targets=targets, attributes=attributes)


def _methods() -> Iterable[dict[str, Any]]:
    from bayesbias.vectors.debiasing import METHODS

    return (_of(one, options=", ".join(one.options)) for one in METHODS.values())


def _templates() -> Iterable[dict[str, Any]]:
    from bayesbias.vectors.contextual import bundled_templates, load_templates

    return (_of(one, templates=len(one)) for one in map(load_templates, bundled_templates()))


def _datasets() -> Iterable[dict[str, Any]]:
    from bayesbias.distances.datasets import registry

    columns = ("licence", "bytes", "url", "description", "source", "doi")
    for name, one in registry().items():
        yield {"name": name, "form": one.kind} | {column: getattr(one, column) for column in columns}


KINDS: Mapping[str, Callable[[], Iterable[dict[str, Any]]]] = {
    "words": _words,
    "embeddings": _embeddings,
    "models": _models,
    "metrics": _metrics,
    "axes": _axes,
    "queries": _queries,
    "methods": _methods,
    "templates": _templates,
    "datasets": _datasets,
}
