"""Words in sentences: templates, sentences of a corpus, encoders and the vectors they give."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, NamedTuple, Self
from unicodedata import normalize
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator, BeforeValidator, model_validator

from bayesbias._support import shipped
from bayesbias._support.arguments import one_of, printable, whole_number
from bayesbias._support.files import (
    check,
    checked,
    file_at,
    frozen,
    home_folder,
    read_arrays,
    read_as,
    read_toml,
    whole_file,
)
from bayesbias._support.progress import progress
from bayesbias.errors import InputError, listed, shown
from bayesbias.vectors.contextual.context_vectors import (
    CENTRES,
    CLOSE,
    PAIRINGS,
    POOLED,
    REPRESENTATIONS,
    SAME,
    WORD,
    ContextVectors,
    contexts_from,
    load_context_vectors,
)
from bayesbias.vectors.readers import text_lines
from bayesbias.words import (
    PARTS_OF_SPEECH,
    Grammar,
    Name,
    Text,
    WordLists,
    lists_and_words,
    subtag,
    written_words,
)

__all__ = [
    "CENTRES",
    "PAIRINGS",
    "SAME",
    "ContextVectors",
    "Contexts",
    "HFTokenEncoder",
    "Sentence",
    "Template",
    "Templates",
    "TokenVectors",
    "contexts",
    "contexts_from",
    "encode",
    "english_words",
    "hf_token_encoder",
    "load_context_vectors",
    "load_templates",
]

ANY = "any"  # the text of a template for words of every part of speech
PLACE = re.compile(r"(\{a?\})")
ENGLISH = "english.toml"
AN = re.compile(r"(?:hour|honest|honou?r|heir)", re.IGNORECASE)
# words whose first sound is not that of their first letter
A = re.compile(r"(?:uni(?!n|m)|use|usu|eu|one|once|ufo|uk)", re.IGNORECASE)
LONGEST = 1000  # letters of a sentence of a corpus from which on it is passed over
USUAL = 420  # words of the vocabulary beside English lists
TRIED = 4  # sentences that are encoded twice
PROBE = "This is a table."  # the sentence whose vector a cache holds, to tell encoders of one name apart


class Sentence(NamedTuple):
    """A sentence, and where in it the word stands."""

    text: str
    begin: int
    end: int


def _template_text(wording: str) -> str:
    if len(PLACE.findall(wording)) != 1 or {"{", "}"} & set(PLACE.sub("", wording)):
        raise InputError(
            f"the template {shown(wording)} lacks its place: write {{}} once, or {{a}} for the word with its article, "
            "and no other braces"
        )
    return normalize("NFC", wording)


type TemplateText = Annotated[Name, AfterValidator(_template_text)]
type Kind = Annotated[Text, AfterValidator(lambda name: one_of(name, (*PARTS_OF_SPEECH, ANY), "a part of speech"))]


@frozen
class Template:
    """One template: its name, and a part of speech, or ``"any"``, to a text.

    ``{}`` stands for the word in a text, ``{a}`` for the word with *a* or *an*.
    """

    name: Annotated[Name, AfterValidator(partial(normalize, "NFC"))]
    texts: Mapping[Kind, TemplateText]

    def filled(self, word: str, kind: str | None) -> Sentence | None:
        """The sentence with a word of a part of speech; None where the word does not suit.

        A sentence, which ends in a full stop, begins with a capital.
        """
        wording = self.texts.get(kind or ANY, self.texts.get(ANY))
        if wording is None:
            return None
        before, place, rest = PLACE.split(wording)
        if place == "{a}":  # by the first sound of the word as its letters tell it
            vowel = word[:1].lower() in tuple("aeiou") and not A.match(word)
            before += "an " if vowel or AN.match(word) else "a "
        sentence = before + word + rest
        if wording.endswith("."):
            sentence = sentence[0].upper() + sentence[1:]
        return Sentence(sentence, len(before), len(before) + len(word))


def _template_of_file(template: object) -> object:
    """The name and the texts of a template, which stand side by side in a file."""
    if not isinstance(template, Mapping) or "name" not in template:
        return template
    return {"name": template["name"], "texts": {kind: text for kind, text in template.items() if kind != "name"}}


@frozen
class Templates:
    """A set of templates, each with a name of its own; what the set is and where it comes from."""

    name: Name
    templates: tuple[Annotated[Template, BeforeValidator(_template_of_file)], ...]
    description: Text = ""
    source: Text = ""
    doi: Text | None = None

    @model_validator(mode="after")
    def _check_templates(self) -> Self:
        names = [template.name for template in self.templates]
        if len(set(names)) < len(names) or not names:
            raise InputError(f"the templates {self.name!r} need names of their own, one at least: {listed(names)}")
        return self

    def __len__(self) -> int:
        return len(self.templates)


def load_templates(given: str | Path | Templates | Iterable[str]) -> Templates:
    """Sentence templates, by bundled name, from a TOML file, or as sentences.

    Parameters
    ----------
    given
        ``"bare"`` (the word alone), ``"seat"``, ``"mention"``; the path of a TOML file with ``name`` and tables
        ``[[templates]]``, each with ``name`` and a text for ``any`` or for parts of speech; or several of these names
        and sentences with ``{}``, such as ``["seat", "mention", "I like {}."]``.

    Examples
    --------
    >>> templates = bb.contextual.load_templates(["bare", "I like {}."])
    >>> [template.name for template in templates.templates]
    ['bare', 'I like {}.']
    """
    if isinstance(given, Templates):
        return given
    if isinstance(given, str | Path):
        return _read_templates(given)
    parts, templates = list(given), list[Template]()
    for part in parts:
        single = isinstance(part, str) and part not in bundled_templates() and not part.endswith(".toml")
        templates += [Template(str(part), {ANY: str(part)})] if single else _read_templates(part).templates
    name = " and ".join(map(str, parts)) if len(parts) < 4 else f"{len(templates)} templates"
    return Templates(name, tuple(templates))


def _read_templates(name_or_path: str | Path) -> Templates:
    path = bundled_templates().get(str(name_or_path)) or home_folder(name_or_path)
    if not path.is_file():
        raise InputError(
            f"there are no templates {str(name_or_path)!r}: valid are {', '.join(bundled_templates())}, a TOML file, "
            "or a list of sentences, such as ['{}']"
        )
    return check(Templates, read_toml(path), str(path))


@cache
def bundled_templates() -> dict[str, Path]:
    """Name of each bundled set of templates to its file."""
    folder = shipped("data") / "templates"
    return {path.stem: path for path in sorted(folder.glob("*.toml")) if path.name != ENGLISH}


@cache
def _english() -> dict[str, dict[str, list[str]]]:
    """Parts of speech to words of the bundled lists (``kinds``), and to words outside of these (``vocabulary``)."""
    return read_toml(shipped("data") / "templates" / ENGLISH)


def english_words() -> dict[str, str]:
    """Some 640 common English words with their parts of speech, which :func:`encode` takes as vocabulary.

    Examples
    --------
    >>> words = bb.contextual.english_words()
    >>> words["table"]
    'noun'
    """
    return {word: kind for kind, words in _english()["vocabulary"].items() for word in words}


class TokenVectors(NamedTuple):
    """One text as its tokenizer cuts it: vectors (tokens, d), and offsets (tokens, 2) of each token in the text."""

    vectors: NDArray[np.floating]
    offsets: NDArray[np.integer]


def encode(
    encoder: Any,
    words: WordLists | str | Path | Iterable[str] | Contexts,
    templates: str | Path | Templates | Iterable[str] = "seat",
    batch: int = 64,
    name: str | None = None,
    representation: str | None = None,
    grammar: Mapping[str, Sequence[str]] | None = None,
    vocabulary: int | Iterable[str] | None = None,
    cache: str | Path | None = None,
) -> ContextVectors:
    """Vectors of words in sentences, which :func:`distance_table` takes (May et al. 2019).

    Parameters
    ----------
    encoder
        Maps a list of n texts to an array (n, d), as ``SentenceTransformer(...).encode`` does; or has a method
        ``tokens``, which maps them to :class:`TokenVectors`, such as :func:`hf_token_encoder` makes, and gives the
        vector of the word itself: the mean over its pieces.
    words
        Word lists, what :func:`load_words` takes, words, or sentences from a corpus (:func:`contexts`).
    templates
        What :func:`load_templates` takes; not for sentences from a corpus.
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
    by_token = hasattr(encoder, "tokens")
    kind = one_of(representation or (WORD if by_token else POOLED), tuple(REPRESENTATIONS), "representation")
    if not (by_token if kind == WORD else callable(encoder)):
        raise InputError(
            f"encoder is {shown(encoder)}: give a function from a list of texts to an array, such as "
            "SentenceTransformer(...).encode, or for representation='word' an object with a method tokens, such as "
            "hf_token_encoder makes"
        )
    called = printable(name if name is not None else getattr(encoder, "name", type(encoder).__name__), "name")
    names: tuple[str, ...] = ()
    skipped: list[tuple[str, str]] = []
    if isinstance(words, Contexts):
        every, outside, origin = words.words, words.vocabulary, words.source
        cells = [(i, number, each) for i, word in enumerate(every) for number, each in enumerate(words.sentences[word])]
    else:
        lists, own = lists_and_words(words)
        sample = _sample(vocabulary, own, lists)
        every, outside = (*own, *sample), tuple(sample)
        kinds = dict(sample)
        english = lists is None or subtag(lists.language) in ("", "en")
        for known in (_english()["kinds"] if english else {}, {} if lists is None else lists.grammar, grammar or {}):
            for part, of_part in checked(Grammar, known, "grammar").items():
                kinds |= dict.fromkeys(of_part, part)
        chosen = load_templates(templates)
        names, origin = tuple(template.name for template in chosen.templates), f"templates {chosen.name}"
        tried = [
            (i, place, template.filled(word, kinds.get(word) or None))
            for i, word in enumerate(every)
            for place, template in enumerate(chosen.templates)
        ]
        cells = [(i, place, sentence) for i, place, sentence in tried if sentence is not None]
        skipped = [(every[i], names[place]) for i, place, sentence in tried if sentence is None]
        if not cells:
            unknown = [word for word in every if not kinds.get(word)]
            which = f"declare the part of speech of {listed(unknown)} in grammar" if unknown else "change the templates"
            raise InputError(f"no word suits a template of {chosen.name!r}: {which}, or take 'mention'")
    if cache is not None and name is None and not hasattr(encoder, "name"):
        raise InputError("a cache needs the encoder's name, since a function has none of its own: give name=...")
    encoding = _Encoding(encoder, called, kind, None if cache is None else home_folder(cache))
    found, pieces = zip(*encoding.of([sentence for *_, sentence in cells], size), strict=True)
    return ContextVectors(
        words=every,
        vocabulary=outside,
        templates=names,
        word=np.array([i for i, *_ in cells]),
        template=np.array([place for _, place, _ in cells]),
        vectors=np.stack(found),
        texts=tuple(sentence.text for *_, sentence in cells),
        pieces=np.array(pieces) if kind == WORD else None,
        encoder=called,
        representation=kind,
        source=origin,
        skipped=tuple(skipped),
    )


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


type Part = tuple[NDArray[np.float32], int]
"""The vector of one sentence, and into how many pieces its word is cut."""


class _Encoding:
    """An encoder, and its vectors by the hash of their text, in memory and, with a folder, on disk."""

    def __init__(self, encoder: Any, name: str, kind: str, folder: Path | None) -> None:
        self.encoder, self.kind = encoder, kind
        self.known = dict[str, Part]()
        self.folder = folder and folder / sha256(json.dumps([name, kind]).encode()).hexdigest()[:16]
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)
            for file in sorted(self.folder.glob("*.npz")):
                with read_as("vectors that encode wrote", str(file)), file.open("rb") as content:
                    arrays = read_arrays(content, str(file))
                    parts = zip(arrays["vectors"], arrays["pieces"].tolist(), strict=True)
                    self.known |= dict(zip(arrays["keys"].tolist(), parts, strict=True))

    def key(self, sentence: Sentence) -> str:
        """The hash of a sentence, and of the place of its word where the word's own vector is taken."""
        span = [sentence.begin, sentence.end] if self.kind == WORD else []
        return sha256(json.dumps([sentence.text, *span]).encode()).hexdigest()

    def of(self, sentences: list[Sentence], batch: int) -> list[Part]:
        """The vectors of sentences; what is done is kept whatever happens then."""
        keys = [self.key(sentence) for sentence in sentences]
        todo = [sentence for key, sentence in dict(zip(keys, sentences, strict=True)).items() if key not in self.known]
        # texts of like length stand in one batch: little of it is padding
        todo.sort(key=lambda sentence: len(sentence.text))
        begin = PROBE.index("table")
        probe = Sentence(PROBE, begin, begin + len("table"))
        if self.key(probe) in self.known and self._differs(probe):
            raise InputError(
                f"{self.folder} holds vectors of another encoder of this name: give this encoder a name of its own, or "
                "delete the folder"
            )
        if self.folder is not None and self.key(probe) not in self.known:
            self._add([probe])
        with progress(f"encoding {len(todo):,} of {len(sentences):,} sentences", len(todo)) as done:
            for begin in range(0, len(todo), batch):
                self._add(todo[begin : begin + batch])
                done(min(begin + batch, len(todo)))
        for sentence in todo[:TRIED]:
            if self._differs(sentence):
                raise InputError(
                    f"the encoder returned two vectors for {sentence.text!r}: switch off what is random in it "
                    "(dropout), and delete what the cache holds of it"
                )
        return [self.known[key] for key in keys]

    def _add(self, sentences: list[Sentence]) -> None:
        """Encode a batch, and keep it in a file of its own."""
        keys, parts = [self.key(sentence) for sentence in sentences], self._encoded(sentences)
        self.known |= dict(zip(keys, parts, strict=True))
        if self.folder is not None:
            vectors, pieces = (np.array(values) for values in zip(*parts, strict=True))
            with whole_file(self.folder / f"{sha256(''.join(keys).encode()).hexdigest()[:16]}.npz") as temporary:
                np.savez(temporary, keys=np.array(keys), vectors=vectors, pieces=pieces)

    def _differs(self, sentence: Sentence) -> bool:
        """True where the encoder gives another vector to a sentence than the one that is known."""
        again, first = self._encoded([sentence])[0][0], self.known[self.key(sentence)][0]
        return len(again) != len(first) or bool(np.linalg.norm(again - first) > CLOSE * np.linalg.norm(first))

    def _encoded(self, sentences: list[Sentence]) -> list[Part]:
        """The vectors of one batch."""
        texts = [sentence.text for sentence in sentences]
        if self.kind == WORD:
            parts = list[Part]()
            for (text, begin, end), tokens in zip(sentences, self.encoder.tokens(texts), strict=True):
                vectors, places = np.asarray(tokens.vectors, dtype=np.float32), np.asarray(tokens.offsets)
                inside = (places[:, 0] < end) & (places[:, 1] > begin)
                if not inside.any() or places[inside, 1].max() < end:
                    raise InputError(
                        f"the word {text[begin:end]!r} is cut off by the tokenizer's limit in {shown(text)}: shorten "
                        "the sentence"
                    )
                parts.append((vectors[inside].mean(axis=0, dtype=np.float32), int(inside.sum())))
        else:
            matrix = np.asarray(self.encoder(texts))
            if matrix.ndim != 2 or len(matrix) != len(texts) or matrix.dtype.kind not in "fiu":
                raise InputError(
                    f"the encoder returned an array of {matrix.dtype} of shape {matrix.shape} for {len(texts)} texts: "
                    "real numbers (texts, dimensions) are needed"
                )
            parts = [(vector, 0) for vector in matrix.astype(np.float32)]
        for text, (vector, _) in zip(texts, parts, strict=True):
            if not np.isfinite(vector).all() or not vector.any():
                raise InputError(f"the encoder returned a vector of zeros, or NaN or infinite numbers, for {text!r}")
        return parts


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
        import torch  # an extra

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
    """Sentences of a corpus that hold a word, drawn at random, which :func:`encode` takes (Guo and Caliskan 2021).

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
