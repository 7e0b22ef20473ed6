"""Word embeddings as gensim KeyedVectors, read from files, mappings or the bundled slice, or trained."""

from bayesbias.embeddings.formats import (
    Embedding,
    keyed_vectors,
    list_embeddings,
    load_embedding,
    opened,
    save_embedding,
    zero_words,
)
from bayesbias.embeddings.lookup import (
    TWINS,
    Case,
    FoundWords,
    Twins,
    about,
    find_concepts,
    find_words,
    spellings,
    twin_sentence,
    twins_of,
    twins_within,
)
from bayesbias.embeddings.trainer import Setting, ToyCorpus, resample_corpus, toy_corpus, train_embeddings

__all__ = [
    "TWINS",
    "Case",
    "Embedding",
    "FoundWords",
    "Setting",
    "ToyCorpus",
    "Twins",
    "about",
    "find_concepts",
    "find_words",
    "keyed_vectors",
    "list_embeddings",
    "load_embedding",
    "opened",
    "resample_corpus",
    "save_embedding",
    "spellings",
    "toy_corpus",
    "train_embeddings",
    "twin_sentence",
    "twins_of",
    "twins_within",
    "zero_words",
]
