"""``influence``: what each single word does to a contrast."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from bayesbias._checks import one_of, whole_number
from bayesbias._progress import progress
from bayesbias.comparison.contrasting import GIVEN, SIMILAR, beside_associated, connections_of
from bayesbias.errors import InputError
from bayesbias.models import exact, marginal
from bayesbias.models.crossed import fit_for_crossed
from bayesbias.models.data import ModelData, data_of_rows
from bayesbias.models.fitting import related_data
from bayesbias.models.moments import Moments, mean_moments, moved_points, scale_points
from bayesbias.models.results import check_fit, distances_of, model_of
from bayesbias.models.spec import ModelSpec

WORDS = ("all", "attribute", "protected", "stereotype")
COLUMNS = ["kind", "word", "list", "n", "mean", "sd", "shift", "shift_sd"]

MomentsWithout = Callable[[ModelSpec, ModelData], Moments]


@dataclass(frozen=True)
class _Word:
    """A word with its list, and its place among the words of its kind."""

    kind: str
    name: str
    list: str
    place: int

    def rows(self, data: ModelData) -> NDArray[np.bool_]:
        """Which rows hold the word."""
        held: NDArray[np.bool_] = (data.word if self.kind == "protected" else data.attribute) == self.place
        return held


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
        headline: different where the fit holds it, or else human, or neutral.
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

    Raises
    ------
    InputError
        A model that needs NUTS, a connection that the fit does not hold, the same one twice, or an unknown kind of
        words.
    """
    check_fit(post)
    one_of(words, WORDS, "words")
    first, second = _connections(post, first, second)
    rng = np.random.default_rng(whole_number(seed, "seed", least=0))
    spec, data = _model_and_data(post)
    moments, moments_without = _moments_with_points(spec, data, rng)
    mean, sd = _contrast(moments, data, first, second)
    rows, left_out = [], []
    asked = _asked(data, words)
    with progress("leaving out words", len(asked)) as done:
        for at, word in enumerate(asked):
            held = word.rows(data)
            found = _without(held, spec, data, first, second, moments_without)
            if isinstance(found, str):
                left_out.append((word.kind, word.name, found))
            else:
                shift = found[0] - mean
                rows.append((word.kind, word.name, word.list, int(held.sum()), *found, shift, shift / sd))
            done(at + 1)
    table = pd.DataFrame(rows, columns=COLUMNS).astype(dict.fromkeys(COLUMNS[:3], "string"))
    table = table.sort_values("shift", key=np.abs, ascending=False, kind="stable", ignore_index=True)
    table.attrs = {"first": first, "second": second, "mean": mean, "sd": sd, "left_out": left_out}
    table.attrs["population"] = GIVEN if spec.related else SIMILAR
    return table


def _connections(post: xr.DataTree, first: str, second: str | None) -> tuple[str, str]:
    valid = connections_of(post)[0]
    one_of(first, valid, "the connection")
    if second is None:
        beside = [name for name in beside_associated(post) if name != first]
        if not beside:
            raise InputError(f"give second: the fit holds {', '.join(valid)}, and no headline with {first!r}")
        second = beside[0]
    one_of(second, valid, "the connection")
    if first == second:
        raise InputError(f"a contrast needs two connections, given {first!r} twice; the fit holds {', '.join(valid)}")
    return first, second


def _model_and_data(post: xr.DataTree) -> tuple[ModelSpec, ModelData]:
    """The model of a fit and its distances, if an engine without chains can fit it."""
    spec = model_of(post)
    if exact.obstacle(spec) is not None and (reason := marginal.obstacle(spec)) is not None:
        raise InputError(
            f"the model {spec.name!r} needs NUTS for every word left out: {reason}; fit these distances with "
            "'crossed' or 'published' and ask for the influence there"
        )
    table = distances_of(post)
    data = related_data(table, check=False)
    return fit_for_crossed(spec, data, table) if spec.crossed or spec.related else (spec, data)


def _moments_with_points(spec: ModelSpec, data: ModelData, rng: np.random.Generator) -> tuple[Moments, MomentsWithout]:
    """The moments of the connection means, and a function to those of other data near by."""
    if not spec.crossed:
        return mean_moments(spec, data, rng), lambda spec, data: mean_moments(spec, data, rng)
    points = scale_points(spec, data, rng)

    def moments(spec: ModelSpec, data: ModelData) -> Moments:
        found = moved_points(points, spec, data)
        return mean_moments(spec, data, rng) if found is None else found.moments

    return points.moments, moments


def _asked(data: ModelData, words: str) -> list[_Word]:
    """The words to leave out in turn."""
    of_lists = [word for word in _words(data, "attribute") if data.class_of_attribute[word.place] == 0]
    attribute = {"all": _words(data, "attribute"), "attribute": _words(data, "attribute"), "stereotype": of_lists}
    protected = [] if words == "attribute" else _words(data, "protected")
    return [*attribute.get(words, []), *protected]


def _words(data: ModelData, kind: str) -> list[_Word]:
    """The words of a kind with their lists: the group, or the attribute class of the first row."""
    if kind == "protected":
        names, lists = data.protected_words, data.groups
    else:
        names = data.attribute_words
        lists = data.attribute_class[np.unique(data.attribute, return_index=True)[1]]
    return [_Word(kind, *labels, at) for at, labels in enumerate(zip(names.tolist(), lists.tolist(), strict=True))]


def _without(
    held: NDArray[np.bool_], spec: ModelSpec, data: ModelData, first: str, second: str, moments: MomentsWithout
) -> tuple[float, float] | str:
    """Mean and sd of the contrast without the rows of a word, or why there is none."""
    left = set(data.connections[np.unique(data.connection[~held])].tolist())
    gone = [name for name in (first, second) if name not in left]
    if gone:
        return f"it has all distances of {' and '.join(gone)}"
    kept = data_of_rows(data, ~held)
    if spec.crossed:  # no pair repeats in what a crossed model was fitted to: the table is not asked for
        spec, kept = fit_for_crossed(spec, kept, pd.DataFrame())
    try:
        return _contrast(moments(spec, kept), kept, first, second)
    except InputError as error:
        return str(error)


def _contrast(moments: Moments, data: ModelData, first: str, second: str) -> tuple[float, float]:
    """Mean and sd of the contrast of two connections."""
    mean, covariance = moments
    sign = (data.connections == first).astype(float) - (data.connections == second)
    return float(sign @ mean), float(np.sqrt(sign @ covariance @ sign))
