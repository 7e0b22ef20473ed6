"""Embeddings that were trained alike but for their seed."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bayesbias.embeddings import Embedding, about, opened
from bayesbias.embeddings.settings import Setting
from bayesbias.errors import InputError
from bayesbias.metrics.running import is_embedding

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

type Seeds = Mapping[Any, Embedding] | Sequence[Embedding] | Embedding
"""One embedding, several, or names to embeddings; a mapping of words to vectors is one embedding."""


def seeds_of(kvs: Seeds) -> dict[Hashable, KeyedVectors]:
    """Label to embedding: the seed of a :class:`Setting`, a name, or the place in a sequence.

    Raises
    ------
    InputError
        No embedding, settings that differ in more than the seed, or vectors of other dimensions.
    """
    given: Any = kvs
    if isinstance(given, Mapping) and given and all(map(is_embedding, given.values())):
        labelled: dict[Hashable, KeyedVectors] = {
            label: opened(kv) for label, kv in zip(_labels(list(given)), given.values(), strict=True)
        }
    elif isinstance(given, Sequence) and not isinstance(given, str):
        labelled = {at: opened(kv) for at, kv in enumerate(given)}
    else:
        single = opened(given)
        labelled = {str(about(single)["name"]): single}
    if not labelled:
        raise InputError("no embedding was given: give one, or several that were trained with other seeds")
    _check_alike(labelled)
    return labelled


def called(label: Hashable) -> str:
    """An embedding in a sentence: its name, or such as ``embedding 1`` after its seed or place."""
    return label if isinstance(label, str) else f"embedding {label}"


def _check_alike(labelled: Mapping[Hashable, KeyedVectors]) -> None:
    """Refuse embeddings of other dimensions, which do not differ in their seed only."""
    sizes = {label: int(kv.vector_size) for label, kv in labelled.items()}
    if len(set(sizes.values())) > 1:
        said = ", ".join(f"{size} in {called(label)}" for label, size in sizes.items())
        raise InputError(f"the embeddings have different numbers of dimensions ({said}): take them one by one")


def _labels(keys: list[Hashable]) -> list[Hashable]:
    """Seeds of settings that differ in nothing else; other keys as they are."""
    settings = [Setting(*key) for key in keys if isinstance(key, tuple) and len(key) == len(Setting._fields)]
    if len(settings) < len(keys):
        return [key if isinstance(key, int) else str(key) for key in keys]
    alike = {setting[:-1] for setting in settings}
    if len(alike) > 1:
        other = next(one for one in settings if one[:-1] != settings[0][:-1])
        raise InputError(
            f"the embeddings were trained with {len(alike)} different settings, such as {settings[0]} and {other}: "
            "give those that differ in their seed only"
        )
    return [setting.seed for setting in settings]
