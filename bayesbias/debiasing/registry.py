"""Debiasing methods by name, and ``debias``."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayesbias.debiasing.methods import (
    Changed,
    Debiasing,
    as_words,
    half_sibling,
    hard,
    hard_multiclass,
    leace,
    null_space,
    project,
    soft,
    vocabulary_of,
)
from bayesbias.embeddings import Embedding, about, keyed_vectors, opened
from bayesbias.embeddings.lookup import VocabularySample, sample_of
from bayesbias.errors import InputError, listed, near

if TYPE_CHECKING:
    from gensim.models import KeyedVectors


CHANGED = ("neutralize", "ignore")  # options of every method: which words it changes


@dataclass(frozen=True)
class Method:
    """A debiasing method: its function, and where it is defined."""

    run: Callable[..., Changed]
    source: str
    doi: str

    @property
    def options(self) -> dict[str, bool]:
        """Whether an option is required, by its name."""
        own = list(inspect.signature(self.run).parameters.values())[1:]
        return {option.name: option.default is option.empty for option in own} | dict.fromkeys(CHANGED, False)


BOLUKBASI = ("Bolukbasi, Chang, Zou, Saligrama and Kalai (2016)", "10.48550/arXiv.1607.06520")
MANZINI = ("Manzini, Lim, Tsvetkov and Black (2019)", "10.18653/v1/N19-1062")
METHODS = {
    "project": Method(project, *BOLUKBASI),
    "hard": Method(hard, *BOLUKBASI),
    "hard_multiclass": Method(hard_multiclass, *MANZINI),
    "soft": Method(soft, *MANZINI),
    "half_sibling": Method(half_sibling, "Yang and Feng (2020)", "10.1609/aaai.v34i05.6486"),
    "null_space": Method(
        null_space, "Ravfogel, Elazar, Gonen, Twiton and Goldberg (2020)", "10.18653/v1/2020.acl-main.647"
    ),
    "leace": Method(
        leace,
        "Belrose, Schneider-Joseph, Ravfogel, Cotterell, Raff and Biderman (2023)",
        "10.48550/arXiv.2306.03819",
    ),
}


def debias(kv: Embedding, method: str = "hard", **options: Any) -> KeyedVectors:
    """A debiased copy of an embedding, its vectors at length 1 under the same words.

    A :class:`Debiasing` in its attribute ``bayesbias_debiasing`` says what was done. The sample of the vocabulary that
    stands beside the words of an embedding loaded in part is debiased with them; to ``"soft"``, which keeps the inner
    products of all words, and to ``"leace"`` it stands for the rest of the vocabulary.

    Parameters
    ----------
    kv
        The embedding, or what :func:`load_embedding` takes; it stays as it is.
    method
        ``"project"``: the directions of defining sets are taken off all words. ``"hard"``: the first direction of
        defining pairs is taken off all words, then pairs are equalised. ``"hard_multiclass"``: the same for sets of any
        size and several directions. ``"soft"``: a linear map that keeps inner products and lowers the part along the
        directions. ``"half_sibling"``: what defining words predict is subtracted. ``"null_space"``: all directions by
        which a linear classifier finds the group. ``"leace"``: what gives groups different means, at the smallest mean
        squared change of the vocabulary.
    **options
        ``definitional`` (``project``, ``hard``, ``soft``, ``half_sibling``) or ``sets`` (``hard_multiclass``): the
        defining pairs or sets of words, or the name of a list of pairs such as ``"gender_pairs"``; a set that lacks a
        word is dropped with a note. ``groups`` (``null_space``, ``leace``): name of a group to its words. ``equalize``
        (``hard``: none by default; ``hard_multiclass``: by default the defining sets). ``neutralize``: the words to
        change, by default all, and ``ignore``: words to leave alone. ``components``: how many directions. ``subspace``
        (``project``): directions (k, dimensions) in place of sets. ``order`` (``hard_multiclass``): ``"simultaneous"``
        or ``"sequential"``. ``strength`` (``soft``), ``penalty`` (``half_sibling``), ``iterations`` and ``seed``
        (``null_space``).

    Examples
    --------
    >>> kv = bb.load_embedding("google-news-slice")
    >>> after = bb.debias(kv, "project", definitional=[("he", "she"), ("man", "woman")])
    >>> round(float(kv.similarity("he", "nurse") - kv.similarity("she", "nurse")), 2)
    -0.25
    >>> round(float(after.similarity("he", "nurse") - after.similarity("she", "nurse")), 2)
    -0.01
    """
    chosen = checked_method(method, options)
    before: Any = opened(kv)
    # what can be read once only would be used up by the first look at it
    options = {name: list(value) if isinstance(value, Iterator) else value for name, value in options.items()}
    changed, sample, record = _changed(before, sample_of(before), chosen, options)
    gone = np.flatnonzero(~changed.any(axis=1) & np.asarray(before.vectors).any(axis=1))
    if len(gone) == len(changed) > 0:
        raise InputError(
            f"{record.method} left nothing of any word: {len(record.subspace)} directions were taken off vectors of "
            f"{changed.shape[1]} dimensions; give fewer"
        )
    if len(gone):
        named = listed([before.index_to_key[row] for row in gone])
        note = f"nothing was left of {len(gone)} words, which lay within what was removed: {named}"
        record = replace(record, notes=(*record.notes, note))
    after = keyed_vectors(list(before.index_to_key), changed)
    after.bayesbias_sample = sample
    after.norms = np.sqrt(np.vecdot(changed, changed))
    after.bayesbias_name = f"{about(before)['name']} ({method})"
    after.bayesbias_debiasing = replace(record, options=dict(options), source=chosen.source, doi=chosen.doi)
    return after


HIDDEN = "\0"  # what the words of a sample begin with while a method runs: no set of words names them by chance


def _changed(
    before: KeyedVectors, sample: VocabularySample | None, method: Method, options: Mapping[str, Any]
) -> tuple[NDArray[np.float32], VocabularySample | None, Debiasing]:
    """The changed vectors of words and of the sample of the vocabulary beside them, and the record for the words."""
    size, both = len(before.index_to_key), before
    hidden = {} if sample is None else {word: HIDDEN + word for word in sample.words}
    overall = [] if sample is None else [f"{HIDDEN}{HIDDEN}{row}" for row in range(len(sample.overall))]
    if sample is not None:
        every = np.vstack([before.vectors, sample.vectors, *([sample.overall] if overall else [])])
        both = keyed_vectors([*before.index_to_key, *hidden.values(), *overall], every)
    lists: dict[str, Any] = {
        name: None if words is None else [*as_words(words, name), *(hidden[w] for w in words if w in hidden)]
        for name, words in options.items()
        if name in CHANGED
    }
    vocabulary, lost = vocabulary_of(both, **lists, sampled=len(hidden) + len(overall))
    changed, record = method.run(vocabulary, **{name: value for name, value in options.items() if name not in CHANGED})
    record = replace(record, notes=(*record.notes, *lost))
    if sample is None:
        return changed, None, record
    own, vectors, others = np.split(changed, [size, size + len(hidden)])
    return own.copy(), replace(sample, vectors=vectors.copy(), overall=others.copy()), record


def checked_method(name: object, options: Mapping[str, Any]) -> Method:
    """A debiasing method by name that takes the options, and needs no others."""
    chosen = find_method(name)
    missing = [option for option, required in chosen.options.items() if required and options.get(option) is None]
    unknown = [option for option in options if option not in chosen.options]
    if unknown or missing:
        what = f"has no option {unknown[0]!r}" if unknown else f"needs the option {missing[0]!r}"
        raise InputError(f"{name} {what}: it takes {', '.join(chosen.options)}")
    return chosen


def find_method(name: object) -> Method:
    """A debiasing method by name."""
    if isinstance(name, str) and name in METHODS:
        return METHODS[name]
    raise InputError(f"there is no method {name!r}{near(name, METHODS)}: valid are {', '.join(METHODS)}")
