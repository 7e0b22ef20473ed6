"""``ContextVectors``: vectors of words in sentences, and the embeddings that they average to."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayesbias._support.arguments import one_of, printable, several, whole_number
from bayesbias._support.files import check_target, file_at, from_json, read_arrays, read_as, whole_file
from bayesbias.errors import InputError, listed, many
from bayesbias.numerics.arrays import FloatArray, unit_rows
from bayesbias.results import Note
from bayesbias.vectors import find_keys, keyed_vectors
from bayesbias.vectors.lookup import left_out
from bayesbias.vectors.tables import arrow_of, rows_of
from bayesbias.words import WordLists, lists_and_words

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

POOLED, WORD = "sentence", "word"
REPRESENTATIONS = {POOLED: "of whole sentences", WORD: "of the word in its sentence"}
SAME, CROSSED = "same", "crossed"
PAIRINGS = (SAME, CROSSED)  # both words in one template, or in different ones
CENTRES = ("none", "vocabulary", "controls")
FACTS = ("words", "templates", "texts", "encoder", "representation", "source", "skipped", "centre", "all_but_top")
# distance, beside the length, of two vectors of one text in batches of other texts, from which on they are two
CLOSE = 1e-3


@dataclass(frozen=True, eq=False)
class ContextVectors:
    """Vectors of words in sentences, one row a sentence.

    Attributes
    ----------
    words, vocabulary, templates
        The words, last those outside of the lists, which show how the distances of similar words are correlated; names
        of the templates, none of sentences from a corpus, which every word has for itself.
    word, template
        Places (N,) of each sentence's word and template; of sentences from a corpus, their number within the word.
    vectors, texts, pieces
        (N, d), in the encoder's own scale, the N sentences, and into how many pieces the tokenizer cuts each word.
    encoder, representation, source
        The encoder; ``"sentence"`` or ``"word"``: whose vector it is; where templates or sentences come from.
    skipped
        Words and the templates that they do not suit.
    centre, all_but_top
        Whose mean was subtracted from the vectors, and how many principal components were taken out.
    """

    words: tuple[str, ...]
    vocabulary: tuple[str, ...]
    templates: tuple[str, ...]
    word: NDArray[np.intp]
    template: NDArray[np.intp]
    vectors: NDArray[np.float32]
    texts: tuple[str, ...]
    pieces: NDArray[np.intp] | None
    encoder: str
    representation: str
    source: str
    skipped: tuple[tuple[str, str], ...] = ()
    centre: str = "none"
    all_but_top: int = 0

    @property
    def nested(self) -> bool:
        """True where each word has sentences of its own."""
        return not self.templates

    @property
    def notes(self) -> tuple[Note, ...]:
        """Notes to read with distances between these vectors."""
        outside = frozenset(self.vocabulary)
        own = [word for word in self.words if word not in outside]
        pieces = np.ones(len(self.word)) if self.pieces is None else self.pieces
        split = [self.words[i] for i in np.unique(self.word[(pieces > 1) & (self.word < len(own))])]
        odd = list(dict.fromkeys(word for word, _ in self.skipped if word not in outside))
        removed = [f"mean of the {self.centre} in each template"] * (self.centre != "none")
        removed += [f"{self.all_but_top} principal components"] * bool(self.all_but_top)
        where, encoder = REPRESENTATIONS[self.representation], f"{self.encoder}, {self.source}"
        return (
            Note("encoded", representation=where, encoder=encoder, removed=", ".join(removed) or "nothing"),
            *([Note("pieces", count=len(split), total=len(own), words=split)] if split else []),
            *left_out(len(odd), len({*own, *odd}), "words", "they do not suit each template", odd),
        )

    def __len__(self) -> int:
        return len(self.templates)

    def __repr__(self) -> str:
        kind = "sentences of a corpus" if self.nested else many(len(self.templates), "template")
        return (
            f"ContextVectors({many(len(self.words) - len(self.vocabulary), 'word')} and {len(self.vocabulary)} of the "
            f"vocabulary, {kind}, {many(len(self.texts), 'sentence')}, {self.vectors.shape[1]} dimensions; "
            f"{self.encoder})"
        )

    def units(self) -> NDArray[np.float32]:
        """Vectors (words, templates, d) of length 1, 0 where a word has none.

        Of sentences from a corpus the second axis is their number within the word.
        """
        values = np.zeros((len(self.words), int(self.template.max()) + 1, self.vectors.shape[1]), dtype=np.float32)
        values[self.word, self.template] = unit_rows(self.vectors.astype(float))
        return values

    @property
    def filled(self) -> NDArray[np.bool_]:
        """True (words, templates) where a word has a template."""
        values = np.zeros((len(self.words), int(self.template.max()) + 1), dtype=bool)
        values[self.word, self.template] = True
        return values

    def whole(self) -> ContextVectors:
        """The same without the words that do not suit all templates; a template that shows no word is refused."""
        units = unit_rows(self.vectors.astype(float))
        for i, name in enumerate(self.templates):
            part = units[self.template == i]
            if len(part) > 1 and np.linalg.norm(part - part[0], axis=1).max() < CLOSE:
                raise InputError(
                    f"in {name!r} all words have one vector: the encoder does not see the word there; leave it out, "
                    "as with of_templates"
                )
        places = np.flatnonzero(self.filled.all(axis=1)) if self.templates else np.arange(len(self.words))
        if len(places) == len(self.words):
            return self
        if not len(places):
            raise InputError("no word suits all templates: take templates that suit any word, such as 'mention'")
        words, rows = tuple(self.words[i] for i in places), np.isin(self.word, places)
        return replace(
            self._rows(rows),
            words=words,
            vocabulary=tuple(word for word in self.vocabulary if word in words),
            word=np.searchsorted(places, self.word[rows]),
        )

    def _rows(self, rows: NDArray[np.bool_]) -> ContextVectors:
        """Some of the sentences."""
        return replace(
            self,
            word=self.word[rows],
            template=self.template[rows],
            vectors=self.vectors[rows],
            texts=tuple(compress(self.texts, rows.tolist())),
            pieces=None if self.pieces is None else self.pieces[rows],
        )

    def _rows_of(self, words: Iterable[str]) -> NDArray[np.bool_]:
        """True for the sentences of some words."""
        wanted = frozenset(find_keys(words, frozenset(self.words)).values())
        return np.isin(self.word, [i for i, word in enumerate(self.words) if word in wanted])

    def of_templates(self, names: Iterable[str]) -> ContextVectors:
        """The same with some of the templates only."""
        chosen = [one_of(name, self.templates, "a template") for name in several(names)]
        number = np.full(len(self.templates), -1)
        number[[self.templates.index(name) for name in chosen]] = np.arange(len(chosen))
        rows = number[self.template] >= 0
        return replace(
            self._rows(rows),
            templates=tuple(chosen),
            template=number[self.template[rows]],
            skipped=tuple(entry for entry in self.skipped if entry[1] in chosen),
        )

    def centred(
        self, centre: str = "vocabulary", words: WordLists | None = None, all_but_top: int = 0
    ) -> ContextVectors:
        """The vectors with an origin of their own in each template, and without their largest components.

        ``centre`` is ``"vocabulary"``, ``"controls"`` (of the lists ``words``) or ``"none"``: whose mean vector of
        length 1 is subtracted in each template. ``all_but_top`` principal components of the vocabulary are taken out
        after that (Mu and Viswanath 2018, https://doi.org/10.48550/arXiv.1702.01417).
        """
        one_of(centre, CENTRES, "centre")
        top = whole_number(all_but_top, "all_but_top", least=0, most=self.vectors.shape[1] - 1)
        if centre == "none" and not top:
            return self
        if self.centre != "none" or self.all_but_top:
            raise InputError("the vectors have another origin already: centre those that encode returned")
        units = unit_rows(self.vectors.astype(float))
        within = outside = self._rows_of(self.vocabulary)
        if centre == "controls":
            within = self._rows_of([word for part in (words.controls if words else {}).values() for word in part])
        if not within.any() or (top and not outside.any()):
            raise InputError(f"centre={centre!r} needs vectors of such words: encode them with some, or take another")
        place = np.zeros_like(self.template) if self.nested else self.template
        if centre != "none":
            for number in np.unique(place):
                origin = within & (place == number)
                units[place == number] -= units[origin if origin.any() else within].mean(axis=0)
        if top:
            centred = units[outside] - units[outside].mean(axis=0)
            axes = np.linalg.svd(centred, full_matrices=False)[2][:top]
            units -= units @ axes.T @ axes
        return replace(self, vectors=units.astype(np.float32), centre=centre, all_but_top=top)

    def cosines(self, pairing: str = SAME) -> FloatArray:
        """Mean cosine (words, words) of two words over their templates; 1 with itself, NaN without a common template.

        ``pairing`` is ``"same"``: both words in one template, or ``"crossed"``: in different ones, as all sentences of
        a corpus are.
        """
        self._check_pairing(pairing)
        if self.nested:
            cosines = self._means() @ self._means().T
        else:
            # in double precision: rounding is then far below that of the vectors, in whatever order sums are added
            size, filled = len(self.words), self.filled.astype(float)
            cosines, count, total = np.zeros((size, size)), filled @ filled.T, np.zeros((size, self.vectors.shape[1]))
            for i in range(len(self.templates)):
                rows = np.flatnonzero(self.template == i)
                words, units = self.word[rows], unit_rows(self.vectors[rows].astype(float))
                cosines[np.ix_(words, words)] += units @ units.T
                total[words] += units
            if pairing == CROSSED:
                cosines, count = total @ total.T - cosines, np.outer(filled.sum(axis=1), filled.sum(axis=1)) - count
            cosines = np.divide(cosines, count, out=np.full_like(cosines, np.nan), where=count > 0)
        np.fill_diagonal(cosines, 1.0)
        return cosines

    def _check_pairing(self, pairing: str) -> None:
        if one_of(pairing, PAIRINGS, "pairing") == CROSSED and len(self.templates) == 1:
            raise InputError("pairing='crossed' needs two templates: give more templates, or pairing='same'")

    def _means(self) -> FloatArray:
        """Mean unit vectors (words, d) over all sentences of a word."""
        means: FloatArray = self.units().sum(axis=1, dtype=float) / self.filled.sum(axis=1)[:, None]
        return means

    def keyed_vectors(self, pairing: str = SAME) -> KeyedVectors:
        """One vector for each word, such that its cosines with others are the mean cosines over templates.

        The vectors have as many dimensions as there are words: none in the encoder's space has these cosines. With
        ``pairing="crossed"`` means are over all templates of either word, equal ones among them.
        """
        self._check_pairing(pairing)
        matrix = self.cosines() if pairing == SAME else self._means() @ self._means().T
        np.fill_diagonal(matrix, 1.0)
        apart = np.argwhere(np.isnan(matrix))
        if len(apart):
            first, second = (self.words[i] for i in apart[0])
            raise InputError(f"{first!r} and {second!r} have no template in common: add a template that suits any word")
        order = self._order()
        values, axes = np.linalg.eigh(matrix[np.ix_(order, order)])
        kept = values > len(values) * np.finfo(float).eps * values[-1]  # the rest are 0 but for rounding
        return self._embedding(axes[:, kept] * np.sqrt(values[kept]))

    def mean_vectors(self) -> KeyedVectors:
        """One vector for each word, in the encoder's space: the mean over its sentences of its vectors of length 1."""
        return self._embedding(self._means()[self._order()])

    def _embedding(self, vectors: FloatArray) -> KeyedVectors:
        """Vectors of the words in :meth:`_order`, with the encoder's name."""
        kv = keyed_vectors([self.words[i] for i in self._order()], vectors.astype(np.float32))
        kv.bayesbias_name = self.encoder
        return kv

    def _order(self) -> list[int]:
        """Vocabulary first, in alphabetical order: nothing is said about how frequent words are."""
        outside = set(self.vocabulary)
        return sorted(range(len(self.words)), key=lambda i: (self.words[i] not in outside, self.words[i]))

    def save(self, path: str | Path, bits: int = 16) -> None:
        """Write the vectors, scaled to length 1, as ``.npz``, whole or not at all.

        ``bits`` is 16 for half precision; 8 for half the size, with cosines to about .003.
        """
        file = check_target(path, (".npz",), "a file of context vectors")
        facts = {"vocabulary": len(self.vocabulary)} | {name: getattr(self, name) for name in FACTS}
        text = np.frombuffer(json.dumps(facts, ensure_ascii=False).encode(), dtype=np.uint8)
        rows: dict[str, Any] = {"word": self.word.astype(np.int32), "template": self.template.astype(np.int32)}
        pieces: dict[str, Any] = {} if self.pieces is None else {"pieces": self.pieces.astype(np.int16)}
        units = unit_rows(self.vectors.astype(float))
        stored: dict[str, Any] = {"vectors": units.astype(np.float16)}
        if one_of(str(bits), ("8", "16"), "bits") == "8":
            scales = np.abs(units).max(axis=1, keepdims=True) / 127
            stored = {"vectors": np.round(units / scales).astype(np.int8), "scales": scales.astype(np.float32)}
        with whole_file(file) as temporary:
            np.savez_compressed(temporary, facts=text, **rows, **stored, **pieces)


def contexts_from(
    table: Any,
    words: WordLists | str | Path | Iterable[str],
    template: str = "template",
    text: str = "text",
    encoder: str = "unnamed",
    representation: str = WORD,
) -> ContextVectors:
    """Vectors of words in sentences that were encoded elsewhere, as :func:`encode` returns them.

    Parameters
    ----------
    table
        A DataFrame of pandas, Polars, Arrow or another library, one row a sentence: a column ``word``, and one of
        vectors or one for each dimension.
    words
        Word lists, what :func:`load_words` takes, or words. All other words of the table are the vocabulary.
    template, text
        Columns, if the table has them, of sentences and of each row's template: words are compared in the same
        templates. Without these each word has sentences of its own.
    encoder, representation
        Name of the encoder; whose vectors these are: ``"word"``, that of the word in its sentence, or ``"sentence"``.

    Examples
    --------
    >>> import pandas as pd
    >>> vectors = [[1.0, 0.1], [0.9, 0.3], [0.2, 1.0], [0.4, 1.0]]
    >>> rows = {"word": ["he", "he", "nurse", "nurse"], "template": ["a", "b", "a", "b"], "vector": vectors}
    >>> table = pd.DataFrame(rows)
    >>> bb.contexts_from(table, ["he", "nurse"])
    ContextVectors(2 words and 0 of the vocabulary, 2 templates, 4 sentences, 2 dimensions; unnamed)
    """
    one_of(representation, tuple(REPRESENTATIONS), "representation")
    whole = arrow_of(table, "the table")
    for name, column in (("template", template), ("text", text)):
        if column not in {name, *whole.column_names}:
            raise InputError(f"{name} is {column!r}: the columns of the table are {listed(whole.column_names)}")
    extra = {name: whole[name].to_pylist() for name in (template, text) if name in whole.column_names}
    blocks = list(rows_of(whole.drop_columns(list(extra)), "the table"))
    of_rows = [word for names, _ in blocks for word in names]
    held = dict.fromkeys(of_rows)
    asked = frozenset(find_keys(lists_and_words(words)[1], held).values())
    every = sorted(held, key=lambda word: word not in asked)
    if not asked:
        raise InputError(f"the table holds no word that was asked for: its first words are {listed(every[:5])}")
    number = {word: place for place, word in enumerate(every)}
    places = np.array([number[word] for word in of_rows])
    names = [str(name) for name in extra.get(template, ())]
    templates, filled = tuple(dict.fromkeys(names)), set(zip(of_rows, names, strict=False))
    if names and len(filled) < len(names):
        raise InputError("a word has a template twice: give each word one row a template, or no column of templates")
    place = {name: i for i, name in enumerate(templates)}
    within = [place[name] for name in names] or pd.Series(places).groupby(places).cumcount()
    return ContextVectors(
        words=tuple(every),
        vocabulary=tuple(word for word in every if word not in asked),
        templates=templates,
        word=places,
        template=np.array(within),
        vectors=np.concatenate([vectors for _, vectors in blocks]).astype(np.float32),
        texts=tuple(map(str, extra.get(text, of_rows))),
        pieces=None,
        encoder=printable(encoder, "encoder"),
        representation=representation,
        source=many(len(templates), "template") if templates else "sentences encoded elsewhere",
        skipped=tuple((word, name) for word in every for name in templates if (word, name) not in filled),
    )


def load_context_vectors(path: str | Path) -> ContextVectors:
    """Read what :meth:`ContextVectors.save` wrote.

    Examples
    --------
    >>> def encoder(texts):  # in place of a sentence encoder
    ...     letters = "abcdefghijklmnopqrstuvwxyz"
    ...     return [[text.count(letter) + 0.1 for letter in letters] for text in texts]
    >>> bb.encode(encoder, ["nurse", "nurses"], ["{}."], vocabulary=0).save("vectors.npz")
    >>> vectors = bb.contextual.load_context_vectors("vectors.npz")
    """
    file = file_at(path)
    with read_as("context vectors", str(file)):
        with file.open("rb") as content:
            arrays = read_arrays(content, str(file))
        facts = from_json(arrays.pop("facts").tobytes())
        known: dict[str, Any] = {
            name: tuple(facts[name]) if isinstance(facts[name], list) else facts[name] for name in FACTS
        }
        known["skipped"] = tuple(map(tuple, known["skipped"]))
        for name in ("word", "template", "pieces"):
            known[name] = arrays[name].astype(np.intp) if name in arrays else None
        return ContextVectors(
            **known,
            vocabulary=known["words"][len(known["words"]) - facts["vocabulary"] :],
            vectors=(arrays["vectors"] * arrays.get("scales", 1)).astype(np.float32),
        )
