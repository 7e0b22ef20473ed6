"""Permutation tests of metrics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtr

from bayesbias._checks import flag, one_of, whole_number
from bayesbias._core.resampling import ALTERNATIVES, permutation_test
from bayesbias._core.vectors import FloatArray
from bayesbias.distances.covariances import ENOUGH, Relatedness
from bayesbias.distances.vocabularies import SAMPLE, measured_relatedness
from bayesbias.errors import InputError
from bayesbias.metrics.base import NOTHING, Linear, Measured, Option
from bayesbias.metrics.queries import FoundSets
from bayesbias.words import WordLists

if TYPE_CHECKING:
    from gensim.models import KeyedVectors


RELATED = "related"
"""The value of ``p_value`` that asks for random lists."""


def options_of_test(permutation: bool = False, related: bool = False) -> dict[str, Option]:
    """The options of a metric's tests, of which there is at least one."""
    valid = "True or False" if not related else "True, False or 'related'" if permutation else "False or 'related'"

    def checked(value: object, name: str) -> bool | str:
        if related and isinstance(value, str) and value == RELATED:
            return RELATED
        if not isinstance(value, bool | np.bool_) or (value and not permutation):
            why = ", and the metric has no permutation test" if value is True else ""
            raise InputError(f"{name} is {value!r}{why}: give {valid}")
        return flag(value, name)

    options = {
        "p_value": Option(False, checked),
        "alternative": Option("two-sided", lambda value, name: one_of(value, ALTERNATIVES, name)),
        "permutations": Option(10_000, whole_number),
        "seed": Option(0, lambda value, name: whole_number(value, name, least=0, most=None)),
    }
    return options if permutation else {name: option for name, option in options.items() if name != "permutations"}


def permuted(measured: Measured, size: int, options: Mapping[str, Any]) -> Measured:
    """A value with its permutation test; ``size`` words are in the first target set."""
    rng = np.random.default_rng(options["seed"])
    first, second = measured.by_word[:size], measured.by_word[size:]
    test = permutation_test(first, second, options["alternative"], options["permutations"], rng)
    return replace(measured, p_value=test.p_value, partitions=test.partitions, exact=test.exact)


def against_random_lists(
    measured: Measured, linear: Linear, kv: KeyedVectors, sets: FoundSets, options: Mapping[str, Any]
) -> Measured:
    """A value with its test against random attribute lists of the vocabulary, as many and as alike as these.

    The value is a weighted sum of distances. Over random lists its mean is what the same weights give for the mean word
    of the vocabulary, its variance follows from the covariance of the distances; it is taken for normal.
    """
    related, weights = _weighted_cosines(linear, kv, sets, options["seed"])
    totals = weights.sum(axis=1)
    totals[np.abs(totals) < NOTHING * np.abs(weights).max()] = 0
    mean = linear.constant + float(related.protected.astype(float) @ related.centre @ totals)
    sd = float(np.sqrt(related.covariance(weights)))
    z = (measured.value - mean) / sd if sd > NOTHING else 0.0  # without spread no list gives another value
    tails = {"greater": ndtr(-z), "less": ndtr(z), "two-sided": 2 * ndtr(-abs(z))}
    return replace(
        measured,
        p_value=float(tails[options["alternative"]]),
        null_mean=mean,
        null_sd=sd,
        notes=(*measured.notes, _sampled(related)),
    )


def _weighted_cosines(linear: Linear, kv: KeyedVectors, sets: FoundSets, seed: int) -> tuple[Relatedness, FloatArray]:
    """The relatedness of the words of some sets, and the weights (J, W) of their cosines in a metric.

    Words that are in several sets, or several times in one, have the sum of their weights.
    """
    keys = {name: [sets.keys[word] for word in words] for name, words in sets.words.items()}
    kinds = {entry["set"]: entry["kind"] for entry in sets.entries}
    targets, attributes = (
        [key for name, words in keys.items() if kinds[name] == kind for key in words]
        for kind in ("target", "attribute")
    )
    # covariances do not depend on which words are listed together
    lists = WordLists("query", {"targets": targets}, {"targets": attributes})
    related = measured_relatedness(kv, lists, SAMPLE, seed, "as-is")
    if isinstance(related, str):
        raise InputError(f"p_value={RELATED!r} needs a vocabulary: {related}")
    sides = linear.sides(sets.targets, sets.attributes)
    rows = {word: i for i, word in enumerate(related.protected_words)}
    columns = {word: i for i, word in enumerate(related.attribute_words)}
    weights = np.zeros((len(rows), len(columns)))
    places = np.ix_([rows[key] for key in targets], [columns[key] for key in attributes])
    np.add.at(weights, places, np.outer(sides.targets, sides.attributes))
    return related, weights


def _sampled(related: Relatedness) -> str:
    """What the mean and the covariance of random lists were read off."""
    text = f"the random lists are described by {related.drawn}"
    if related.sampled >= ENOUGH:
        return text
    return f"{text}, fewer than {ENOUGH}, so that their sd is made {np.sqrt(related.inflation):.2f} times as large"
