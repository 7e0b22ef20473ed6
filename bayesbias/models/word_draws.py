"""What a fit keeps of single words: their draws, or moments and intervals of these."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesbias._core.resampling import sorted_interval
from bayesbias._core.vectors import FloatArray, IntArray
from bayesbias.distances.distances import Distances
from bayesbias.models.draws import EFFECTS, Draws

GROUP = "words"
"""Name of the group of a fit that keeps summaries of its words."""
DRAWS, SUMMARY = "draws", "summary"
KEEPS = ("auto", DRAWS, SUMMARY)
MOST_NUMBERS = 2**26
"""Draws times parameters of single words up to which ``keep="auto"`` keeps their draws: half a gigabyte."""
PROB = 0.89
"""The share of posterior mass in an interval unless another is asked for, as in the published study."""
PROBS = {0.95: ("q2.5", "q97.5"), PROB: ("q5.5", "q94.5"), 0.5: ("q25", "q75")}
"""Equal-tailed intervals that a summary has, by the quantiles that are their ends."""
MEDIAN = "q50"
STATISTICS = ("mean", "sd", *(end for ends in PROBS.values() for end in ends), MEDIAN, "p_below_zero")
BLOCK = 2**20


class Keep(NamedTuple):
    """What is kept: draws or summaries; and of which protected and attribute words (indices), None for all."""

    what: str
    protected: IntArray | None = None
    attributes: IntArray | None = None


ALL = Keep(DRAWS)


def statistics(draws: FloatArray) -> FloatArray:
    """The numbers of :data:`STATISTICS` (statistics, ...) of draws (..., B), which are sorted in place."""
    found = np.empty((len(STATISTICS), *draws.shape[:-1]))
    size = draws.shape[-1]
    found[0] = draws.mean(axis=-1)
    found[1] = draws.std(axis=-1, ddof=1)
    draws.sort(axis=-1)
    at = 2
    for prob in PROBS:
        found[at], found[at + 1] = sorted_interval(draws, prob)
        at += 2
    found[at] = sorted_interval(draws, 0.0)[0]
    found[at + 1] = np.count_nonzero(draws < 0, axis=-1) / size
    return found


def contrast_names(connections: NDArray[np.str_]) -> dict[str, tuple[int, int]]:
    """Contrasts that have summaries, and their places: of the first connection with all, of the second with the next.

    With associated, different and control words these are all contrasts of associated, and the parts of the first with
    control words.
    """
    names = connections.tolist()
    pairs = [(0, other) for other in range(1, len(names))] + ([(1, 2)] if len(names) > 2 else [])
    return {f"{names[a]} - {names[b]}": (a, b) for a, b in pairs}


def _beyond_words(name: str, data: Distances) -> tuple[int, ...]:
    """The shape of an effect of attribute words beyond these."""
    return (len(data.group_names),) if name == "interaction_effect" else ()


class DrawsOfWords:
    """A taker that keeps the draws of all words or some.

    Parameters
    ----------
    data
        The table.
    points
        Number of draws.
    effects
        Which of ``attribute_effect`` and ``interaction_effect`` the model has.
    shift
        What is added to the cells.
    keep
        Which words.
    """

    def __init__(self, data: Distances, points: int, effects: tuple[str, ...], shift: float, keep: Keep) -> None:
        words, attributes = len(data.protected_words), len(data.attribute_words)
        self.protected = np.arange(words) if keep.protected is None else keep.protected
        self.attributes = np.arange(attributes) if keep.attributes is None else keep.attributes
        self.shift = shift
        self.place = np.full(attributes, -1)
        self.place[self.attributes] = np.arange(len(self.attributes))
        self.values = {"word_mean": np.empty((points, len(self.protected), len(data.connections)))}
        for name in effects:
            self.values[name] = np.empty((points, len(self.attributes), *_beyond_words(name, data)))

    def cells(self, words: slice, drawn: FloatArray, part: int = 0) -> None:
        """Take draws (words, K, B) of the cells of some protected words."""
        own = np.flatnonzero((self.protected >= words.start) & (self.protected < words.stop))
        if len(own):
            taken = drawn if len(own) == len(drawn) else drawn[self.protected[own] - words.start]
            into = self.values["word_mean"][:, own[0] : own[-1] + 1]  # the words ascend
            np.add(taken.transpose(2, 0, 1), self.shift, out=into)

    def effects(self, words: IntArray, attribute: FloatArray, interaction: FloatArray | None) -> None:
        """Take draws (words, B) and (words, groups, B) of the effects of some attribute words."""
        place = self.place[words]
        kept = place >= 0
        self.values["attribute_effect"][:, place[kept]] = attribute[kept].T
        if interaction is not None:
            self.values["interaction_effect"][:, place[kept]] = interaction[kept].transpose(2, 0, 1)

    def into(self, drawn: Draws, chains: int) -> Draws:
        """The draws of a fit with those of the words."""
        own = {
            name: values.reshape(chains, len(values) // chains, *values.shape[1:])
            for name, values in self.values.items()
        }
        return replace(drawn, posterior={**drawn.posterior, **own})


class SummariesOfWords:
    """A taker that keeps statistics of each word, of its contrasts, and draws of the sums over words.

    Words with the same group and the same connections are summed. Parameters are those of :class:`DrawsOfWords`.
    """

    def __init__(self, data: Distances, points: int, effects: tuple[str, ...], shift: float) -> None:
        self.data, self.shift = data, shift
        self.contrasts = contrast_names(data.connections)
        keys = np.column_stack([data.group_index, data.filled])
        self.kinds, self.kind = np.unique(keys, axis=0, return_inverse=True)
        size = (len(STATISTICS), len(data.protected_words))
        self.word_mean = np.full((*size, len(data.connections)), np.nan)
        self.contrast = np.full((*size, len(self.contrasts)), np.nan)
        attributes = (len(STATISTICS), len(data.attribute_words))
        self.values = {name: np.full((*attributes, *_beyond_words(name, data)), np.nan) for name in effects}
        self.sums: dict[int, FloatArray] = {}

    def cells(self, words: slice, drawn: FloatArray, part: int = 0) -> None:
        """Take draws (words, K, B) of the cells of some protected words."""
        filled = self.data.filled[words]
        member = (self.kind[words] == np.arange(len(self.kinds))[:, None]).astype(float)
        moved = np.add(drawn, self.shift, out=drawn)
        held = moved if filled.all() else np.where(filled[:, :, None], moved, 0.0)
        sums = (member @ held.reshape(len(moved), -1)).reshape(len(self.kinds), *moved.shape[1:])
        self.sums[part] = self.sums[part] + sums if part in self.sums else sums
        for at, (a, b) in enumerate(self.contrasts.values()):
            both = filled[:, a] & filled[:, b]
            if both.any():
                self.contrast[:, words.start + np.flatnonzero(both), at] = statistics(moved[both, a] - moved[both, b])
        rows, columns = np.nonzero(filled)
        self.word_mean[:, words.start + rows, columns] = statistics(moved[rows, columns])

    def effects(self, words: IntArray, attribute: FloatArray, interaction: FloatArray | None) -> None:
        """Take draws (words, B) and (words, groups, B) of the effects of some attribute words."""
        self.values["attribute_effect"][:, words] = statistics(attribute)
        if interaction is not None:
            rows, groups = np.nonzero(~np.isnan(interaction[:, :, 0]))
            self.values["interaction_effect"][:, words[rows], groups] = statistics(interaction[rows, groups])

    def into(self, drawn: Draws, chains: int) -> Draws:
        """The draws of a fit with the summaries of its words."""
        data = self.data
        sums: FloatArray = sum(self.sums[at] for at in sorted(self.sums))  # type: ignore[assignment]
        by_chain = sums.reshape(*sums.shape[:2], chains, -1).transpose(2, 3, 0, 1)
        dims = {"attribute_effect": ("attribute_word",), "interaction_effect": ("attribute_word", "group")}
        words = xr.Dataset(
            {
                "word_mean": (("statistic", "protected_word", "connection"), self.word_mean),
                "word_contrast": (("statistic", "protected_word", "contrast"), self.contrast),
                **{name: (("statistic", *dims[name]), values) for name, values in self.values.items()},
                "sum": (("chain", "draw", "kind", "connection"), by_chain),
                "kind_words": ("kind", np.bincount(self.kind)),
                "kind_group": ("kind", np.array(data.group_names)[self.kinds[:, 0]]),
                "kind_filled": (("kind", "connection"), self.kinds[:, 1:].astype(bool)),
            },
            coords={
                "statistic": list(STATISTICS),
                "protected_word": data.protected_words,
                "connection": data.connections,
                "contrast": list(self.contrasts),
                **({"attribute_word": data.attribute_words} if self.values else {}),
                **({"group": data.group_names} if "interaction_effect" in self.values else {}),
                "chain": np.arange(chains),
                "draw": np.arange(by_chain.shape[1]),
            },
        )
        return replace(drawn, words=words)


def taker_for(
    keep: Keep, data: Distances, points: int, effects: tuple[str, ...] = (), shift: float = 0.0
) -> DrawsOfWords | SummariesOfWords:
    """What takes the draws of words."""
    if keep.what == SUMMARY:
        return SummariesOfWords(data, points, effects, shift)
    return DrawsOfWords(data, points, effects, shift, keep)


def kept_words(drawn: Draws, data: Distances, keep: Keep) -> Draws:
    """Draws of an engine that gives those of all words, with what is to be kept of them."""
    if keep.what == DRAWS and keep.protected is None:
        return drawn
    posterior = dict(drawn.posterior)
    cells = posterior.pop("word_mean")
    chains, draws = cells.shape[:2]
    effects = {name: posterior.pop(name) for name in EFFECTS if name in posterior}
    taker = taker_for(keep, data, chains * draws, tuple(effects))
    step = max(1, BLOCK // (chains * draws * len(data.connections)))
    for begin in range(0, len(data.protected_words), step):
        part = slice(begin, min(begin + step, len(data.protected_words)))
        taker.cells(part, _last(cells[:, :, part]))
    if effects:
        for begin in range(0, len(data.attribute_words), step):
            part = slice(begin, min(begin + step, len(data.attribute_words)))
            values = [_last(effects[name][:, :, part]) if name in effects else None for name in EFFECTS]
            if values[0] is not None:
                taker.effects(np.arange(len(data.attribute_words))[part], values[0], values[1])
    return taker.into(replace(drawn, posterior=posterior), chains)


def _last(values: FloatArray) -> FloatArray:
    """Draws (chain, draw, ...) as (..., draws)."""
    flat = values.reshape(-1, *values.shape[2:])
    return np.ascontiguousarray(np.moveaxis(flat, 0, -1))


def keeps_summaries(post: xr.DataTree) -> bool:
    """Whether a fit keeps summaries of its words in place of their draws."""
    return GROUP in post.children


def statistics_of(words: xr.Dataset, name: str, prob: float) -> Mapping[str, FloatArray] | None:
    """``mean``, ``sd`` and an interval of a variable of the group ``words``; None for one of another probability."""
    if prob not in PROBS:
        return None
    low, high = PROBS[prob]
    wanted = {"mean": "mean", "sd": "sd", "low": low, "high": high}
    return {key: words[name].sel(statistic=which).to_numpy() for key, which in wanted.items()}
