"""What single words do to a contrast: each of them left out in turn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import xarray as xr

from bayesbias._checks import one_of, whole_number
from bayesbias._core.vectors import IntArray
from bayesbias._progress import progress
from bayesbias.comparison.associations import GIVEN, SIMILAR
from bayesbias.comparison.contrast import beside_associated, connections_of
from bayesbias.distances.distances import Distances
from bayesbias.errors import InputError
from bayesbias.models.families import LeaveOut, family_of
from bayesbias.models.moments import Moments
from bayesbias.models.results import Fit
from bayesbias.models.spec import ModelSpec

ALL = "all"
KINDS_OF_WORDS = (ALL, "attribute", "protected", "stereotype")
"""Words that can be left out."""
COLUMNS = ["kind", "word", "list", "n", "mean", "sd", "shift", "shift_sd"]


@dataclass(frozen=True)
class _Word:
    """A word with its list, and its place among the words of its kind."""

    kind: str
    name: str
    list: str
    place: int


def influence(
    post: xr.DataTree, first: str = "associated", second: str | None = None, words: str = "all", seed: int = 0
) -> pd.DataFrame:
    """What leaving out each attribute word and each protected word does to a whole-list contrast.

    The model is fitted again to the distances without the word. Nothing is drawn: given the scales the contrast is
    normal, and its conditional moments are averaged over the scales, for all words at the same points. What noise is
    left does not hide the influence of a single control word.

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
        minus with it, cosine distance) and ``shift_sd`` (in posterior sds of the contrast with all words). ``attrs``
        holds ``first``, ``second``, ``mean``, ``sd`` (with all words), ``population`` (``"given"`` where words are
        related, else ``"similar"``, as in :func:`contrasts`) and ``left_out``: kind, word and reason for each word
        without which there is no contrast.

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
    spec, data = _model_and_data(result)
    moments, moments_without = family_of(spec).moments(spec, data, rng)
    labels = data.connections.tolist()
    mean, sd = _contrast(moments, labels, first, second)
    rows, left_out = [], []
    chosen, counts = _asked(data, words), _counts(data)
    with progress("leaving out words", len(chosen)) as done:
        for i, word in enumerate(chosen):
            counted = counts[word.kind][word.place]
            gone = [name for name in (first, second) if counted[labels.index(name)] == counts[ALL][labels.index(name)]]
            figures = _without(word, gone, first, second, moments_without)
            if isinstance(figures, str):
                left_out.append((word.kind, word.name, figures))
            else:
                shift = figures[0] - mean
                rows.append((word.kind, word.name, word.list, int(counted.sum()), *figures, shift, shift / sd))
            done(i + 1)
    table = pd.DataFrame(rows, columns=COLUMNS).astype(dict.fromkeys(COLUMNS[:3], "string"))
    table = table.sort_values("shift", key=np.abs, ascending=False, kind="stable", ignore_index=True)
    table.attrs = {"first": first, "second": second, "mean": mean, "sd": sd, "left_out": left_out}
    table.attrs["population"] = GIVEN if family_of(spec).given else SIMILAR
    return table


def _connections(result: Fit, first: str, second: str | None) -> tuple[str, str]:
    valid = connections_of(result)[0]
    one_of(first, valid, "the connection")
    if second is None:
        beside = [name for name in beside_associated(result) if name != first]
        if not beside:
            raise InputError(f"give second: the fit holds {', '.join(valid)}, and no headline with {first!r}")
        second = beside[0]
    one_of(second, valid, "the connection")
    if first == second:
        raise InputError(f"a contrast needs two connections, given {first!r} twice; the fit holds {', '.join(valid)}")
    return first, second


def _model_and_data(result: Fit) -> tuple[ModelSpec, Distances]:
    """The model of a fit and its distances, if an engine without chains can fit it."""
    spec = result.spec
    family = family_of(spec)
    if (reason := family.obstacle(spec)) is not None:
        raise InputError(
            f"the model {spec.name!r} needs NUTS for every word left out: {reason}; fit these distances with "
            "'crossed' or 'published' and ask for the influence there"
        )
    return family.prepared(spec, result.data)


def _asked(data: Distances, words: str) -> list[_Word]:
    """The words to leave out in turn."""
    of_lists = [word for word in _words(data, "attribute") if data.class_of_attribute[word.place] == 0]
    attribute = {"all": _words(data, "attribute"), "attribute": _words(data, "attribute"), "stereotype": of_lists}
    protected = [] if words == "attribute" else _words(data, "protected")
    return [*attribute.get(words, []), *protected]


def _words(data: Distances, kind: str) -> list[_Word]:
    """The words of a kind with their lists: the group, or the attribute class of the first row."""
    if kind == "protected":
        names, lists = data.protected_words, data.groups
    else:
        names = data.attribute_words
        lists = data.attribute_class[np.unique(data.attribute, return_index=True)[1]]
    return [_Word(kind, *labels, i) for i, labels in enumerate(zip(names.tolist(), lists.tolist(), strict=True))]


def _counts(data: Distances) -> dict[str, IntArray]:
    """Distances under each connection: of each word of a kind, (words, K), and of all, (K,)."""
    size = len(data.connections)
    of_kind = {"attribute": (data.attribute, data.attribute_words), "protected": (data.word, data.protected_words)}
    counts = {
        kind: np.bincount(place * size + data.connection, minlength=len(names) * size).reshape(-1, size)
        for kind, (place, names) in of_kind.items()
    }
    return counts | {ALL: np.bincount(data.connection, minlength=size)}


def _without(word: _Word, gone: list[str], first: str, second: str, moments: LeaveOut) -> tuple[float, float] | str:
    """Mean and sd of the contrast without a word that has all distances of some connections, or why there is none."""
    if gone:
        return f"it has all distances of {' and '.join(gone)}"
    try:
        labels, numbers = moments(word.kind, word.place)
    except InputError as error:
        return str(error)
    return _contrast(numbers, labels, first, second)


def _contrast(moments: Moments, labels: list[str], first: str, second: str) -> tuple[float, float]:
    """Mean and sd of the contrast of two connections."""
    mean, covariance = moments
    names = np.array(labels)
    sign = (names == first).astype(float) - (names == second)
    return float(sign @ mean), float(np.sqrt(sign @ covariance @ sign))
