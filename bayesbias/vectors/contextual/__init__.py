"""Words in sentences: templates, sentences of a corpus, encoders and the vectors they give."""

from bayesbias.vectors.contextual.context_vectors import (
    CENTRES,
    PAIRINGS,
    SAME,
    ContextVectors,
    contexts_from,
    load_context_vectors,
)
from bayesbias.vectors.contextual.encoders import (
    Contexts,
    HFTokenEncoder,
    Sentence,
    TokenEncoder,
    TokenVectors,
    contexts,
    encode,
    hf_token_encoder,
)
from bayesbias.vectors.contextual.templates import Template, Templates, english_words, load_templates

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
    "TokenEncoder",
    "TokenVectors",
    "contexts",
    "contexts_from",
    "encode",
    "english_words",
    "hf_token_encoder",
    "load_context_vectors",
    "load_templates",
]
