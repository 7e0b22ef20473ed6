"""Word embeddings as gensim KeyedVectors, read from files, mappings or the bundled slice."""

import lazy_loader

from bayesbias.vectors.formats import (
    Embedding,
    keyed_vectors,
    load_embedding,
    opened,
    opened_by_name,
    save_embedding,
    with_composed,
)
from bayesbias.vectors.lookup import (
    TWINS,
    Case,
    FoundWords,
    Twins,
    about,
    composed_notes,
    find_keys,
    find_lists,
    find_words,
    rows_of,
    spellings,
    twins_within,
)

__getattr__, _, _ = lazy_loader.attach(__name__, ["contextual", "debiasing"])

__all__ = [
    "TWINS",
    "Case",
    "Embedding",
    "FoundWords",
    "Twins",
    "about",
    "composed_notes",
    "find_keys",
    "find_lists",
    "find_words",
    "keyed_vectors",
    "load_embedding",
    "opened",
    "opened_by_name",
    "rows_of",
    "save_embedding",
    "spellings",
    "twins_within",
    "with_composed",
]
