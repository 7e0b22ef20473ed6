"""Word embeddings as gensim KeyedVectors, read from files, mappings or the bundled slice, or trained."""

from bayesbias.embeddings.loading import Embedding, list_embeddings, load_embedding, opened, zero_words
from bayesbias.embeddings.looking import Case, FoundWords, about, find_words, spellings
from bayesbias.embeddings.saving import save_embedding
from bayesbias.embeddings.settings import Setting
from bayesbias.embeddings.toy import ToyCorpus, toy_corpus
from bayesbias.embeddings.training import train_embeddings

__all__ = [
    "Case",
    "Embedding",
    "FoundWords",
    "Setting",
    "ToyCorpus",
    "about",
    "find_words",
    "list_embeddings",
    "load_embedding",
    "opened",
    "save_embedding",
    "spellings",
    "toy_corpus",
    "train_embeddings",
    "zero_words",
]
