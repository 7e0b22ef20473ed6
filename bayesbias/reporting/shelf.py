"""``bundled``: what is known by name, as one table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from bayesbias._support.arguments import one_of
from bayesbias.words import WordLists, bundled_lists

if TYPE_CHECKING:
    import pandas as pd

KINDS = ("words", "embeddings", "models", "metrics", "axes", "queries", "methods", "templates", "datasets")


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
    rows = [{"kind": name} | row for name in names for row in _rows(name)]
    table, last = pd.DataFrame(rows), ["description", "source", "doi"]
    own = [] if kind is None else [name for name in table if name not in ("kind", "name", *last)]
    return table[["kind", "name", *own, *last]].astype({"protected": "Int64"} if "protected" in own else {})


def _of(one: Any, **own: object) -> dict[str, Any]:
    return {"name": one.name, **own, "description": one.description, "source": one.source, "doi": one.doi or None}


def _rows(kind: str) -> Iterable[dict[str, Any]]:
    """The rows of a kind; what knows them is imported when it is asked for."""
    match kind:
        case "words":
            return (
                _of(
                    one,
                    form=form,
                    language=one.language,
                    protected=sum(map(len, one.protected.values())) if isinstance(one, WordLists) else None,
                    attributes=sum(map(len, one.stereotypes.values())) if isinstance(one, WordLists) else len(one),
                )
                | {"name": name}
                for name, (form, one) in bundled_lists().items()
            )
        case "embeddings":
            from bayesbias.vectors.formats import manifest

            columns = ("vectors", "dimensions", "licence", "description", "source", "doi")
            return (
                {"name": name} | {column: about[column] for column in columns} for name, about in manifest().items()
            )
        case "models":
            from bayesbias.models.fits import engines_for
            from bayesbias.models.spec import bundled_models, load_model

            return (_of(spec, engines=", ".join(engines_for(spec))) for spec in map(load_model, bundled_models()))
        case "metrics":
            from bayesbias.metrics.catalogue import METRICS
            from bayesbias.metrics.definition import count_of

            return (
                _of(
                    one,
                    targets=count_of(one.targets),
                    attributes=count_of(one.attributes),
                    optimum=one.optimum,
                    options=", ".join(one.options),
                )
                for one in METRICS.values()
            )
        case "axes":
            from bayesbias.vectors.poles import bundled_axes, poles_of

            domains = {name: axis["domain"] for name, axis in bundled_axes()["axes"].items()} | {
                "gender_pairs": "Demographic"
            }
            named = ((poles_of(name), domains[name]) for name in sorted(domains))
            return (
                {"name": one.name, "negative": one.ends[0], "positive": one.ends[1], "pairs": len(one.pairs)}
                | {"description": domain, "source": one.source, "doi": one.doi}
                for one, domain in named
            )
        case "queries":
            from bayesbias.metrics.queries import bundled_queries, load_query

            return (
                _of(
                    one,
                    targets=", ".join(f"{name} ({len(words)})" for name, words in one.targets.items()),
                    attributes=", ".join(f"{name} ({len(words)})" for name, words in one.attributes.items()),
                )
                for one in map(load_query, bundled_queries())
            )
        case "methods":
            from bayesbias.vectors.debiasing import METHODS

            return (_of(one, options=", ".join(one.options)) for one in METHODS.values())
        case "templates":
            from bayesbias.vectors.contextual import bundled_templates, load_templates

            return (_of(one, templates=len(one)) for one in map(load_templates, bundled_templates()))
        case _:
            from bayesbias.distances.datasets import registry

            last = ("licence", "bytes", "url", "description", "source", "doi")
            return (
                {"name": name, "form": one.kind} | {column: getattr(one, column) for column in last}
                for name, one in registry().items()
            )
