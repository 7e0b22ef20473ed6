"""Word embeddings as gensim KeyedVectors, read from files, mappings or the bundled slice."""

from bayesbias.embeddings.loading import list_embeddings, load_embedding, zero_words

__all__ = ["list_embeddings", "load_embedding", "zero_words"]
