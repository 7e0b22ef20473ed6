"""Word embeddings as gensim KeyedVectors, read from files, mappings or the bundled slice, or trained."""

from bayesbias.embeddings.loading import Embedding, list_embeddings, load_embedding, opened, zero_words
from bayesbias.embeddings.looking import Case, FoundWords, about, find_words, spellings
from bayesbias.embeddings.saving import save_embedding
from bayesbias.embeddings.settings import Setting
from bayesbias.embeddings.toy import ToyCorpus, toy_corpus
from bayesbias.embeddings.training import train_embeddings
from bayesbias.embeddings.twins import TWINS, Twins, twin_sentence, twins_of, twins_within

__all__ = [
    "TWINS",
    "Case",
    "Embedding",
    "FoundWords",
    "Setting",
    "ToyCorpus",
    "Twins",
    "about",
    "find_words",
    "list_embeddings",
    "load_embedding",
    "opened",
    "save_embedding",
    "spellings",
    "toy_corpus",
    "train_embeddings",
    "twin_sentence",
    "twins_of",
    "twins_within",
    "zero_words",
]
