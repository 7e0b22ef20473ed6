"""The draws of single words, taken a block of words at a time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bayesbias._core.vectors import FloatArray, IntArray
from bayesbias.distances.distances import Distances
from bayesbias.models.draws import Draws


class DrawsOfWords:
    """A taker that keeps the draws of all words.

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
    """

    def __init__(self, data: Distances, points: int, effects: tuple[str, ...] = (), shift: float = 0.0) -> None:
        words, groups = len(data.attribute_words), len(data.group_names)
        shapes = {"attribute_effect": (words,), "interaction_effect": (words, groups)}
        self.shift = shift
        self.values = {"word_mean": np.empty((points, len(data.protected_words), len(data.connections)))}
        self.values |= {name: np.empty((points, *shapes[name])) for name in effects}

    def cells(self, words: slice, drawn: FloatArray, part: int = 0) -> None:
        """Take draws (words, K, B) of the cells of some protected words."""
        np.add(drawn.transpose(2, 0, 1), self.shift, out=self.values["word_mean"][:, words])

    def effects(self, words: IntArray, attribute: FloatArray, interaction: FloatArray | None) -> None:
        """Take draws (words, B) and (words, groups, B) of the effects of some attribute words."""
        self.values["attribute_effect"][:, words] = attribute.T
        if interaction is not None:
            self.values["interaction_effect"][:, words] = interaction.transpose(2, 0, 1)

    def into(self, drawn: Draws, chains: int) -> Draws:
        """The draws of a fit with those of the words."""
        own = {
            name: values.reshape(chains, len(values) // chains, *values.shape[1:])
            for name, values in self.values.items()
        }
        return replace(drawn, posterior={**drawn.posterior, **own})
