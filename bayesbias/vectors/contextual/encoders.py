"""Vectors of words in sentences from any encoder, and sentences of a corpus."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable
from unicodedata import normalize
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from bayesbias._support.arguments import one_of, printable, whole_number
from bayesbias._support.files import file_at, home_folder, read_arrays, read_as, whole_file
from bayesbias._support.progress import announce, progress
from bayesbias.errors import InputError, listed, shown
from bayesbias.vectors.contextual.context_vectors import CLOSE, POOLED, REPRESENTATIONS, WORD, ContextVectors
from bayesbias.vectors.contextual.templates import Templates, english_words, kinds_of, load_templates
from bayesbias.vectors.readers import text_lines
from bayesbias.words import WordLists, lists_and_words, subtag, written_words

LONGEST = 1000  # letters of a sentence of a corpus from which on it is passed over
USUAL = 420  # words of the vocabulary beside English lists
SHARD = 1024  # sentences whose vectors are written together
TRIED = 4  # sentences that are encoded twice
PROBE = "This is a table."  # the sentence whose vector a cache holds, to tell encoders of one name apart


class TokenVectors(NamedTuple):
    """One text as its tokenizer cuts it: vectors (tokens, d), and offsets (tokens, 2) of each token in the text."""

    vectors: NDArray[np.floating]
    offsets: NDArray[np.integer]


@runtime_checkable
class TokenEncoder(Protocol):
    """An encoder that gives the vectors of the single tokens of texts."""

    def tokens(self, texts: list[str]) -> Sequence[TokenVectors]:
        """The tokens of each text, in the order of the texts."""
        ...


Encoder = Callable[[list[str]], Any] | TokenEncoder


class _Occurrence(NamedTuple):
    """A word in a sentence: places of word and template, the text, and where in it the word stands."""

    word: int
    template: int
    text: str
    begin: int
    end: int


def encode(
    encoder: Encoder,
    words: WordLists | str | Path | Iterable[str] | Contexts,
    templates: str | Path | Templates | Iterable[str] = "seat",
    batch: int = 64,
    name: str | None = None,
    representation: str | None = None,
    grammar: Mapping[str, Sequence[str]] | None = None,
    vocabulary: int | Iterable[str] | None = None,
    cache: str | Path | None = None,
) -> ContextVectors:
    """Vectors of words in sentences.

    Parameters
    ----------
    encoder
        Maps a list of n texts to an array (n, d), as ``SentenceTransformer(...).encode`` does; or has a method
        ``tokens`` (:class:`TokenEncoder`, such as :func:`hf_token_encoder` makes), which gives the vector of the word
        itself: the mean over its pieces.
    words
        Word lists, what :func:`load_words` takes, words, or sentences from a corpus (:func:`contexts`).
    templates
        Templates, as :func:`load_templates` takes them: ``"seat"``, ``"mention"``, ``"bare"``, a file, or several
        names and sentences. Not for sentences from a corpus.
    batch, name
        Texts that the encoder is given together; its name, by which its vectors are kept and shown (None takes its
        ``name`` or that of its class).
    representation
        ``"word"`` or ``"sentence"``; None takes the word's own vector where the encoder gives it.
    grammar
        Part of speech to words, beyond what is known of English words and what the lists declare.
    vocabulary
        Words outside of the lists, which show how the distances of similar words are correlated: how many of some 640
        common English ones, or your own. None takes 420 of these for English lists, and none for others.
    cache
        Folder where vectors are kept as they are made, by the encoder's name and the text.

    Returns
    -------
    ContextVectors
        What :func:`distance_table` takes.

    References
    ----------
    May, C., Wang, A., Bordia, S., Bowman, S. R. and Rudinger, R. (2019). On measuring social biases in sentence
    encoders. NAACL. https://doi.org/10.18653/v1/N19-1063

    Examples
    --------
    >>> def letters(texts):  # a stand-in for a model: how often each letter stands in a text
    ...     return [[text.count(letter) + 0.1 for letter in "abcdefghijklmnopqrstuvwxyz"] for text in texts]
    >>> vectors = bb.encode(letters, ["nurse", "soldier"], ["This is {a}.", "I know {a}."], vocabulary=0)
    >>> vectors.texts[0]
    'This is a nurse.'
    >>> vectors.vectors.shape
    (4, 26)
    """
    size = whole_number(batch, "batch")
    called, kind = _described(encoder, name, representation)
    names: tuple[str, ...] = ()
    skipped: list[tuple[str, str]] = []
    if isinstance(words, Contexts):
        every, outside, origin = words.words, words.vocabulary, words.source
        numbered = [(i, enumerate(words.sentences[word])) for i, word in enumerate(every)]
        sentences = [_Occurrence(i, number, *sentence) for i, own in numbered for number, sentence in own]
    else:
        lists, own = lists_and_words(words)
        sample = _sample(vocabulary, own, lists)
        every, outside = (*own, *sample), tuple(sample)
        kinds = {**sample, **kinds_of(lists, grammar)}
        chosen = load_templates(templates)
        names, origin = tuple(template.name for template in chosen.templates), f"templates {chosen.name}"
        sentences, skipped = _filled(every, chosen, kinds)
    if cache is not None and name is None and not hasattr(encoder, "name"):
        raise InputError("a cache needs the encoder's name, since a function has none of its own: give name=...")
    parts = _Encoding(encoder, called, kind, None if cache is None else home_folder(cache)).of(sentences, size)
    return ContextVectors(
        words=every,
        vocabulary=outside,
        templates=names,
        word=np.array([sentence.word for sentence in sentences]),
        template=np.array([sentence.template for sentence in sentences]),
        vectors=np.stack([part.vector for part in parts]),
        texts=tuple(sentence.text for sentence in sentences),
        pieces=np.array([part.pieces for part in parts]) if kind == WORD else None,
        encoder=called,
        representation=kind,
        source=origin,
        skipped=tuple(skipped),
    )


def _described(encoder: object, name: str | None, wanted: str | None) -> tuple[str, str]:
    """Name of an encoder, and the representation that is taken of it."""
    by_token = isinstance(encoder, TokenEncoder)
    called = name if name is not None else getattr(encoder, "name", type(encoder).__name__)
    kind = one_of(wanted or (WORD if by_token else POOLED), tuple(REPRESENTATIONS), "representation")
    if not (by_token if kind == WORD else callable(encoder)):
        raise InputError(
            f"encoder is {shown(encoder)}: give a function from a list of texts to an array, such as "
            "SentenceTransformer(...).encode, or for representation='word' an object with a method tokens, such as "
            "hf_token_encoder makes"
        )
    return printable(called, "name"), kind


def _sample(vocabulary: int | Iterable[str] | None, own: Sequence[str], lists: WordLists | None) -> dict[str, str]:
    """Words of the vocabulary that are in no list, with their parts of speech where these are known."""
    english, listed_words = english_words(), set(own)
    free = {word: kind for word, kind in english.items() if word not in listed_words}
    if vocabulary is None:
        vocabulary = USUAL if lists is not None and subtag(lists.language) in ("", "en") else 0
    if isinstance(vocabulary, int | np.integer):
        most = whole_number(vocabulary, "vocabulary", least=0, most=len(free))
        # evenly over the parts of speech, which stand one after the other
        return dict(list(free.items())[place] for place in np.linspace(0, len(free) - 1, most).astype(int).tolist())
    return {word: english.get(word, "") for word in written_words(vocabulary, "vocabulary") if word not in listed_words}


def _filled(
    words: Sequence[str], templates: Templates, kinds: Mapping[str, str]
) -> tuple[list[_Occurrence], list[tuple[str, str]]]:
    """The sentences of all words, and the templates that words do not suit."""
    sentences: list[_Occurrence] = []
    skipped: list[tuple[str, str]] = []
    for i, word in enumerate(words):
        for place, template in enumerate(templates.templates):
            filled = template.filled(word, kinds.get(word) or None)
            if filled is None:
                skipped.append((word, template.name))
            else:
                sentences.append(_Occurrence(i, place, *filled))
    if not sentences:
        unknown = [word for word in words if not kinds.get(word)]
        which = f"declare the part of speech of {listed(unknown)} in grammar" if unknown else "change the templates"
        raise InputError(f"no word suits a template of {templates.name!r}: {which}, or take 'mention'")
    return sentences, skipped


class _Part(NamedTuple):
    """The vector of one item, and into how many pieces its word is cut."""

    vector: NDArray[np.float32]
    pieces: int


class _Encoding:
    """An encoder, and its vectors by the hash of their text, in memory and, with a folder, on disk."""

    def __init__(self, encoder: Any, name: str, kind: str, folder: Path | None) -> None:
        self.encoder, self.kind = encoder, kind
        self.known: dict[str, _Part] = {}
        self.fresh: list[str] = []
        self.folder = folder and folder / sha256(json.dumps([name, kind]).encode()).hexdigest()[:16]
        if self.folder is None:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        for file in sorted(self.folder.glob("*.npz")):
            with read_as("vectors that encode wrote", str(file)), file.open("rb") as content:
                arrays = read_arrays(content, str(file))
                parts = zip(arrays["keys"].tolist(), arrays["vectors"], arrays["pieces"].tolist(), strict=True)
                self.known |= {key: _Part(vector, pieces) for key, vector, pieces in parts}

    def key(self, sentence: _Occurrence) -> str:
        """The hash of a sentence, and of the place of its word where the word's own vector is taken."""
        span = [sentence.begin, sentence.end] if self.kind == WORD else []
        return sha256(json.dumps([sentence.text, *span]).encode()).hexdigest()

    def of(self, sentences: list[_Occurrence], batch: int) -> list[_Part]:
        """The vectors of sentences; what is done is kept whatever happens then."""
        keys = [self.key(sentence) for sentence in sentences]
        todo = [sentence for key, sentence in dict(zip(keys, sentences, strict=True)).items() if key not in self.known]
        # texts of like length stand in one batch: little of it is padding
        todo.sort(key=lambda sentence: len(sentence.text))
        begin = PROBE.index("table")
        probe = _Occurrence(0, 0, PROBE, begin, begin + len("table"))
        if self.key(probe) in self.known and self._differs(probe):
            raise InputError(
                f"{self.folder} holds vectors of another encoder of this name: give this encoder a name of its own, or "
                "delete the folder"
            )
        if len(todo) > batch:
            announce(f"{len(sentences):,} sentences, of which {len(todo):,} are new (vocabulary= sets how many).")
        try:
            if self.folder is not None and self.key(probe) not in self.known:
                self._add([probe])
            with progress("encoding sentences", len(todo)) as done:
                for begin in range(0, len(todo), batch):
                    self._add(todo[begin : begin + batch])
                    done(min(begin + batch, len(todo)))
            for sentence in todo[:TRIED]:
                if self._differs(sentence):
                    raise InputError(
                        f"the encoder returned two vectors for {sentence.text!r}: switch off what is random in it "
                        "(dropout), and delete what the cache holds of it"
                    )
        finally:
            self._write()
        return [self.known[key] for key in keys]

    def _add(self, sentences: list[_Occurrence]) -> None:
        """Encode and keep a batch; a full shard goes to disk."""
        for sentence, part in zip(sentences, self._encoded(sentences), strict=True):
            self.known[key := self.key(sentence)] = part
            self.fresh.append(key)
        if len(self.fresh) >= SHARD:
            self._write()

    def _write(self) -> None:
        """Write what is new, whole or not at all."""
        if self.folder is not None and self.fresh:
            parts = [self.known[key] for key in self.fresh]
            of = sha256("".join(self.fresh).encode()).hexdigest()[:16]
            with whole_file(self.folder / f"{of}.npz") as temporary:
                np.savez(
                    temporary,
                    keys=np.array(self.fresh),
                    vectors=np.stack([part.vector for part in parts]),
                    pieces=np.array([part.pieces for part in parts]),
                )
        self.fresh = []

    def _differs(self, sentence: _Occurrence) -> bool:
        """True where the encoder gives another vector to a sentence than the one that is known."""
        again, first = self._encoded([sentence])[0].vector, self.known[self.key(sentence)].vector
        return len(again) != len(first) or bool(np.linalg.norm(again - first) > CLOSE * np.linalg.norm(first))

    def _encoded(self, sentences: list[_Occurrence]) -> list[_Part]:
        """The vectors of one batch."""
        texts = [sentence.text for sentence in sentences]
        if self.kind == WORD:
            parts = [
                _of_word(sentence, np.asarray(tokens.vectors, dtype=np.float32), np.asarray(tokens.offsets))
                for sentence, tokens in zip(sentences, self.encoder.tokens(list(texts)), strict=True)
            ]
        else:
            matrix = np.asarray(self.encoder(list(texts)))
            if matrix.ndim != 2 or len(matrix) != len(texts) or matrix.dtype.kind not in "fiu":
                raise InputError(
                    f"the encoder returned an array of {matrix.dtype} of shape {matrix.shape} for {len(texts)} texts: "
                    "real numbers (texts, dimensions) are needed"
                )
            parts = [_Part(vector, 0) for vector in matrix.astype(np.float32)]
        for item, part in zip(sentences, parts, strict=True):
            if not np.isfinite(part.vector).all() or not part.vector.any():
                raise InputError(
                    f"the encoder returned a vector of zeros, or NaN or infinite numbers, for {item.text!r}"
                )
        return parts


def _of_word(sentence: _Occurrence, vectors: NDArray[np.float32], places: NDArray[Any]) -> _Part:
    """The mean over the pieces of a word."""
    inside = (places[:, 0] < sentence.end) & (places[:, 1] > sentence.begin)
    if not inside.any() or places[inside, 1].max() < sentence.end:
        raise InputError(
            f"the word {sentence.text[sentence.begin : sentence.end]!r} is cut off by the tokenizer's limit in "
            f"{shown(sentence.text)}: shorten the sentence"
        )
    return _Part(vectors[inside].mean(axis=0), int(inside.sum()))


def hf_token_encoder(
    model: Any, tokenizer: Any, layers: Sequence[int] = (-1,), name: str | None = None
) -> HFTokenEncoder:
    """A model and a tokenizer of the library transformers as an encoder that gives the vectors of words.

    Needs the extra ``contextual``, with PyTorch. The encoder is callable too, for the mean over a sentence's tokens.

    Parameters
    ----------
    model, tokenizer
        A model with hidden states, such as ``AutoModel.from_pretrained(...)``, and its fast tokenizer.
    layers, name
        Layers whose hidden states are averaged (0 are the embeddings, -1 is the last); None takes the model's own name.

    Examples
    --------
    >>> from transformers import AutoModel, AutoTokenizer  # doctest: +SKIP
    >>> name = "bert-base-uncased"
    >>> model = AutoModel.from_pretrained(name)  # doctest: +SKIP
    >>> tokenizer = AutoTokenizer.from_pretrained(name)  # doctest: +SKIP
    >>> encoder = bb.contextual.hf_token_encoder(model, tokenizer, layers=(-2, -1))  # doctest: +SKIP
    >>> vectors = bb.encode(encoder, "religion", ["seat", "mention"], cache="encodings")  # doctest: +SKIP
    """
    own = getattr(model.config, "_name_or_path", "") or type(model).__name__
    called = name or f"{own}, layers {', '.join(map(str, layers))}"
    return HFTokenEncoder(model.eval(), tokenizer, tuple(layers), called)


class HFTokenEncoder:
    """An encoder of a Hugging Face model and its tokenizer (:func:`hf_token_encoder`)."""

    def __init__(self, model: Any, tokenizer: Any, layers: tuple[int, ...], name: str) -> None:
        self.model, self.tokenizer, self.layers, self.name = model, tokenizer, layers, name

    def tokens(self, texts: list[str]) -> list[TokenVectors]:
        """The tokens of each text."""
        import torch  # type: ignore[import-not-found]  # an extra

        batch = self.tokenizer(texts, padding=True, truncation=True, return_tensors="pt", return_offsets_mapping=True)
        offsets, mask = batch.pop("offset_mapping").numpy(), batch["attention_mask"].numpy().astype(bool)
        with torch.no_grad():
            states = self.model(**batch.to(self.model.device), output_hidden_states=True).hidden_states
        mean = sum(states[layer] for layer in self.layers) / len(self.layers)
        vectors = mean.float().cpu().numpy()
        return [TokenVectors(vectors[row][kept], offsets[row][kept]) for row, kept in enumerate(mask)]

    def __call__(self, texts: list[str]) -> NDArray[np.float32]:
        """Mean over all tokens of each text."""
        return np.stack([tokens.vectors.mean(axis=0) for tokens in self.tokens(texts)])


class Sentence(NamedTuple):
    """A sentence, and where in it the word stands."""

    text: str
    begin: int
    end: int


@dataclass(frozen=True, eq=False)
class Contexts:
    """Sentences that hold words: word to its sentences, words in no list, and how many sentences hold each word."""

    sentences: Mapping[str, tuple[Sentence, ...]]
    vocabulary: tuple[str, ...]
    found: Mapping[str, int]
    source: str

    @property
    def words(self) -> tuple[str, ...]:
        """The words that have sentences."""
        return tuple(self.sentences)

    @property
    def missing(self) -> tuple[str, ...]:
        """Words that the corpus does not hold."""
        return tuple(word for word, count in self.found.items() if not count)

    def __repr__(self) -> str:
        many = sum(map(len, self.sentences.values()))
        return f"Contexts({many} sentences of {len(self.sentences)} words; {len(self.missing)} words are missing)"


def contexts(
    corpus: str | Path | Iterable[str],
    words: WordLists | str | Path | Iterable[str],
    per_word: int = 50,
    seed: int = 0,
    vocabulary: Iterable[str] = (),
) -> Contexts:
    """Sentences of a corpus that hold a word, drawn at random for each word.

    Parameters
    ----------
    corpus
        The path of a UTF-8 text file (one sentence a line; packed too), or sentences.
    words
        Word lists, what :func:`load_words` takes, or words; capitals count.
    per_word, seed
        Sentences of a word (words that are in fewer have all of theirs), and the seed of the choice.
    vocabulary
        Words outside of the lists, which show how the distances of similar words are correlated.

    Returns
    -------
    Contexts
        What :func:`encode` takes in place of words.

    References
    ----------
    Guo, W. and Caliskan, A. (2021). Detecting emergent intersectional biases: contextualized word embeddings contain a
    distribution of human-like biases. AIES. https://doi.org/10.1145/3461702.3462536

    Examples
    --------
    >>> found = bb.contexts(["The nurse slept.", "A soldier and a nurse met."], ["nurse", "soldier"])
    >>> found.sentences["soldier"][0].text
    'A soldier and a nurse met.'
    """
    most, start = whole_number(per_word, "per_word"), whole_number(seed, "seed", least=0, most=None)
    _, own = lists_and_words(words)
    outside = () if isinstance(vocabulary, tuple | list) and not vocabulary else written_words(vocabulary, "vocabulary")
    sample = tuple(word for word in outside if word not in set(own))
    every = (*own, *sample)
    # longer words first, so that a phrase is found before its parts
    pattern = re.compile(r"(?<!\w)(?:" + "|".join(map(re.escape, sorted(every, key=len, reverse=True))) + r")(?!\w)")
    # for each word the sentences with the smallest hashes: a random choice in one pass, whatever the order of words
    by_word: dict[str, list[tuple[int, Sentence]]] = {word: [] for word in every}
    counts = dict.fromkeys(every, 0)
    lines: Any = corpus
    source = "sentences of a corpus"
    if isinstance(corpus, str | Path):
        file = file_at(corpus, "give the path of a corpus, or sentences")
        lines, source = text_lines(file), f"sentences of {file.name}"
    with progress("reading the corpus", 1.0):
        for number, line in enumerate(lines):
            text = " ".join(normalize("NFC", line).split())
            if len(text) > LONGEST:
                continue
            for word, place in {match.group(): match for match in reversed(list(pattern.finditer(text)))}.items():
                counts[word] += 1
                code = crc32(f"{start}\t{number}\t{word}".encode())
                entries = by_word[word]
                entries.append((code, Sentence(text, *place.span())))
                if len(entries) >= 2 * most + 100:
                    entries.sort()
                    del entries[most:]
    chosen = {
        word: tuple(sentence for _, sentence in sorted(entries)[:most]) for word, entries in by_word.items() if entries
    }
    if not any(word in chosen for word in own):
        raise InputError(f"the corpus holds none of the words {listed(list(own))}: capitals count")
    return Contexts(chosen, tuple(word for word in sample if word in chosen), counts, source)
