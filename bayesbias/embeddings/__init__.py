"""Word embeddings as gensim KeyedVectors, read from files, mappings or the bundled slice."""

from bayesbias.embeddings.loading import Embedding, list_embeddings, load_embedding, zero_words

__all__ = ["Embedding", "list_embeddings", "load_embedding", "zero_words"]
