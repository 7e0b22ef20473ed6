"""Debiasing methods by name, and ``debias``: new embeddings, with a record of what was done to them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from inspect import Parameter
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayesbias._support.arguments import printable
from bayesbias._support.registers import Register, description_of, name_of, options_of
from bayesbias.errors import InputError
from bayesbias.numerics.arrays import unit_single
from bayesbias.results import Note
from bayesbias.vectors import Embedding, about, composed_notes, find_keys, keyed_vectors, opened
from bayesbias.vectors.debiasing.methods import (
    CHANGED,
    NAMING,
    PAIRED,
    Changed,
    Debiasing,
    NothingLeftError,
    Vocabulary,
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
from bayesbias.vectors.lookup import (
    DEBIASING,
    ORIGIN,
    SUBWORDS,
    VocabularySample,
    left_out,
    origin_of,
    sample_of,
    subwords_of,
    warn_lost,
)
from bayesbias.vectors.poles import pairs_of
from bayesbias.words import WordLists

__all__ = ["Debiasing", "Method", "Vocabulary", "debias", "register"]

if TYPE_CHECKING:
    from gensim.models import KeyedVectors


@dataclass(frozen=True, eq=False)
class Method:
    """A debiasing method: a function of a :class:`Vocabulary` and of options, and where it is defined.

    The function returns vectors (words, dimensions) of all words in their order, or these and a :class:`Debiasing`. The
    first paragraph of its docstring says what it does.
    """

    name: str
    run: Callable[..., Any]
    source: str = ""
    doi: str = ""

    def __post_init__(self) -> None:
        printable(self.name, "the name of a debiasing method")

    @classmethod
    def of(cls, function: Callable[..., Any]) -> Method:
        """The method of a function."""
        return cls(name_of(function), function)

    @property
    def function(self) -> Callable[..., Any]:
        """The function that changes vectors."""
        return self.run

    @property
    def description(self) -> str:
        """A sentence on the method: the first paragraph of its function's docstring."""
        return description_of(self.run)

    @property
    def options(self) -> dict[str, bool]:
        """Names of the options, and whether each is required."""
        own = options_of(self.run, 1, (), self.name)
        return {name: default is Parameter.empty for name, default in own.items()} | dict.fromkeys(CHANGED, False)

    def changed(self, vocabulary: Vocabulary, **options: Any) -> Changed:
        """Unit vectors and the record that the function makes of a vocabulary, whose vectors it may not write to."""
        kv = vocabulary.kv
        given = keyed_vectors([*kv.index_to_key], kv.vectors.view())
        given.vectors.setflags(write=False)
        result = self.run(replace(vocabulary, kv=given), **options)
        plain = Debiasing(self.name, np.empty((0, kv.vector_size)), neutralized=vocabulary.count)
        vectors, record = result if isinstance(result, tuple) else (result, plain)
        if np.shape(vectors) != kv.vectors.shape or not np.isfinite(vectors).all():
            raise InputError(
                f"the debiasing method {self.name} returned vectors of shape {np.shape(vectors)}: finite ones, one for "
                f"each word in its place, of shape {kv.vectors.shape}, are needed"
            )
        lengths = np.sqrt(np.vecdot(vectors, vectors))
        uneven = ((np.abs(lengths - 1) > UNEVEN) & (lengths > 0)).any()
        vectors = vectors.astype(np.float32, copy=False)
        return unit_single(vectors) if uneven else vectors, record


UNEVEN = 1e-3  # difference of a length from 1 above which vectors are scaled
METHODS = Register(Method, "method", "bayesbias.debiasing")


def register[M: Method | Callable[..., Any]](method: M) -> M:
    """Add a debiasing method, a :class:`Method` or a function of a :class:`Vocabulary`; it is returned.

    Examples
    --------
    >>> bb.debiasing.register("mine")
    Traceback (most recent call last):
    bayesbias.errors.InputError: 'mine' is no method: give the name of one, a Method, or a function
    """
    METHODS.add(method)
    return method


for run, source, doi in (
    (project, "Bolukbasi, Chang, Zou, Saligrama and Kalai (2016)", "10.48550/arXiv.1607.06520"),
    (hard, "Bolukbasi, Chang, Zou, Saligrama and Kalai (2016)", "10.48550/arXiv.1607.06520"),
    (hard_multiclass, "Manzini, Lim, Tsvetkov and Black (2019)", "10.18653/v1/N19-1062"),
    (soft, "Manzini, Lim, Tsvetkov and Black (2019)", "10.18653/v1/N19-1062"),
    (half_sibling, "Yang and Feng (2020)", "10.1609/aaai.v34i05.6486"),
    (null_space, "Ravfogel, Elazar, Gonen, Twiton and Goldberg (2020)", "10.18653/v1/2020.acl-main.647"),
    (leace, "Belrose, Schneider-Joseph, Ravfogel, Cotterell, Raff and Biderman (2023)", "10.48550/arXiv.2306.03819"),
):
    register(Method(name_of(run), run, source, doi))


def debias(kv: Embedding, method: str | Method | Callable[..., Any] = "hard", **options: Any) -> KeyedVectors:
    """A debiased copy of an embedding, its vectors at length 1 under the same words.

    A :class:`Debiasing` in its attribute ``bayesbias_debiasing`` says what was done. The sample of the vocabulary that
    stands beside the words of an embedding loaded in part is debiased with them; to ``"soft"``, which keeps the inner
    products of all words, and to ``"leace"`` it stands for the rest of the vocabulary.

    Parameters
    ----------
    kv
        The embedding, or what :func:`load_embedding` takes; it stays as it is.
    method
        The name of one that ``bundled("methods")`` shows, such as ``"hard"``, ``"project"``,
        ``"soft"`` or ``"leace"``, a :class:`Method`, or a function of a :class:`Vocabulary`.
    **options
        ``definitional``: the defining pairs or sets of words, the name of a list of pairs such as ``"gender_pairs"``
        or of an axis such as ``"affluence"``, an :class:`Axis` of pairs, or groups (a mapping of names to words, or
        word lists, whose protected words they are). Methods of sets take groups word by word and drop a set that lacks
        a word with a note; methods of groups (``null_space``, ``leace``) take the first words of all pairs for one
        group and the second for another. ``equalize`` (``hard``: none by default; ``hard_multiclass``: by default the
        defining sets). ``neutralize``: the words to change, by default all, and ``ignore``: words to leave alone.
        ``components``: how many directions. ``subspace`` (``project``): directions (k, dimensions) in place of sets.
        ``order`` (``hard_multiclass``): ``"simultaneous"`` or ``"sequential"``. ``strength`` (``soft``), ``penalty``
        (``half_sibling``), ``iterations`` and ``seed`` (``null_space``).

    Examples
    --------
    >>> kv = bb.load_embedding("google-news-slice")
    >>> after = bb.debias(kv, "project", definitional=[("he", "she"), ("man", "woman")])
    >>> round(float(kv.similarity("he", "nurse") - kv.similarity("she", "nurse")), 2)
    -0.25
    >>> round(float(after.similarity("he", "nurse") - after.similarity("she", "nurse")), 2)
    -0.01
    """
    chosen = METHODS.find(method)
    missing = [option for option, required in chosen.options.items() if required and options.get(option) is None]
    unknown = [option for option in options if option not in chosen.options]
    if unknown or missing:
        what = f"has no option {unknown[0]!r}" if unknown else f"needs the option {missing[0]!r}"
        raise InputError(f"{chosen.name} {what}: it takes {', '.join(chosen.options)}")
    options = {name: _kept(value, name) for name, value in options.items()}
    before: Any = opened(kv, [word for name in NAMING if name in options for word in _words_in(options[name], name)])
    changed, sample, record = _changed(before, sample_of(before), chosen, options)
    gone = np.flatnonzero(~changed.any(axis=1) & np.asarray(before.vectors).any(axis=1))
    if len(gone) == len(changed) > 0:
        raise InputError(
            f"{record.method} left nothing of any word: {len(record.subspace)} directions were taken off vectors of "
            f"{changed.shape[1]} dimensions; give fewer"
        )
    named = [before.index_to_key[row] for row in gone]
    lost = left_out(len(gone), len(changed), "words", "within what was removed", named)
    composed = composed_notes(before, {word: word for word in sorted(subwords_of(before))})
    record = replace(record, notes=(*record.notes, *lost, *composed))
    warn_lost(record.notes, "the notes of bayesbias_debiasing")
    after = keyed_vectors(list(before.index_to_key), changed)
    after.bayesbias_sample = sample
    after.norms = np.sqrt(np.vecdot(changed, changed))
    after.bayesbias_name = f"{about(before)['name']} ({chosen.name})"
    # the file of the embedding holds other vectors
    setattr(after, ORIGIN, {name: value for name, value in origin_of(before).items() if name != "path"})
    setattr(after, SUBWORDS, subwords_of(before))
    after.bayesbias_debiasing = replace(record, options=dict(options), source=chosen.source, doi=chosen.doi)
    return after


def _kept(option: Any, name: str) -> Any:
    """An option as it is recorded: axes as pairs, word lists as groups, paths as text, what is read once as a list."""
    if isinstance(option, WordLists) and name in PAIRED:
        return dict(option.protected)
    if isinstance(option, Iterator | Path):
        return str(option) if isinstance(option, Path) else list(option)
    return pairs_of(option, name) if name in PAIRED and hasattr(option, "poles") else option


def _words_in(option: object, name: str) -> Iterator[str]:
    """The words of an option: those of lists and sets, or of an axis or a list of pairs that is named."""
    if isinstance(option, str) and name not in CHANGED:
        yield from chain(*pairs_of(option, name))
    elif isinstance(option, Mapping | list | tuple):
        for part in option.values() if isinstance(option, Mapping) else option:
            yield from [part] if isinstance(part, str) else _words_in(part, name)


HIDDEN = "\0"  # what the words of a sample begin with while a method runs: no set of words names them by chance


def _changed(
    before: KeyedVectors, sample: VocabularySample | None, method: Method, options: Mapping[str, Any]
) -> tuple[NDArray[np.float32], VocabularySample | None, Debiasing]:
    """The changed vectors of words and of the sample of the vocabulary beside them, and the record for the words."""
    size, both, hidden, overall = len(before.index_to_key), before, dict[str, str](), list[str]()
    if sample is not None:
        hidden = {word: HIDDEN + word for word in sample.words}
        overall = [f"{HIDDEN}{HIDDEN}{row}" for row in range(len(sample.overall))]
        every = np.vstack([before.vectors, sample.vectors, *([sample.overall] if overall else [])])
        both = keyed_vectors([*before.index_to_key, *hidden.values(), *overall], every)
    lists: dict[str, Any] = {}
    for name in CHANGED:
        if options.get(name) is not None:
            words = as_words(options[name], name)
            sampled = find_keys(words, before.key_to_index.keys() | hidden) if hidden else {}
            lists[name] = [*words, *(hidden[key] for key in sampled.values() if key in hidden)]
    vocabulary, lost = vocabulary_of(both, **lists, sampled=len(hidden) + len(overall))
    passed = {name: value for name, value in options.items() if name not in CHANGED}
    try:
        changed, record = method.changed(vocabulary, **passed)
    except NothingLeftError:
        if not hasattr(before, DEBIASING):
            raise
        notes = (Note("nothing-removed", reason="sets of one vector"),)
        record = Debiasing(method.name, np.empty((0, both.vector_size)), notes=notes)
        changed = np.array(both.vectors, dtype=np.float32)
    record = replace(record, notes=(*record.notes, *lost))
    if sample is None:
        return changed, None, record
    own, vectors, others = np.split(changed, [size, size + len(hidden)])
    return own.copy(), replace(sample, vectors=vectors.copy(), overall=others.copy()), record
