"""Word embeddings as gensim KeyedVectors, read from files, mappings or the bundled slice."""

from bayesbias.embeddings.loading import Embedding, list_embeddings, load_embedding, opened, zero_words
from bayesbias.embeddings.looking import Case, FoundWords, about, find_words, spellings
from bayesbias.embeddings.saving import save_embedding

__all__ = [
    "Case",
    "Embedding",
    "FoundWords",
    "about",
    "find_words",
    "list_embeddings",
    "load_embedding",
    "opened",
    "save_embedding",
    "spellings",
    "zero_words",
]
