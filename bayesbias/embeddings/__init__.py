"""Word embeddings as gensim KeyedVectors, read from files, mappings or the bundled slice."""

from bayesbias.embeddings.loading import Embedding, list_embeddings, load_embedding, zero_words
from bayesbias.embeddings.looking import Case, about, find_words, vectors_of

__all__ = [
    "Case",
    "Embedding",
    "about",
    "find_words",
    "list_embeddings",
    "load_embedding",
    "vectors_of",
    "zero_words",
]
