"""Distance tables of an embedding under a multiverse's decisions, measured by workers and kept in a folder."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from bayesbias._core.vectors import principal_directions, unit_rows, without
from bayesbias._executors import one_thread
from bayesbias._files import from_json, read_arrays, read_text, to_json, whole_file, write_text
from bayesbias._runs import Task, new_record, plain_json, record_of, refuse_changed, state_of, write_record
from bayesbias.axes.poles import find_poles, poles_of
from bayesbias.debiasing import debias
from bayesbias.distances import distance_table
from bayesbias.distances.covariances import KEY, Relatedness, packed, relatedness_of
from bayesbias.distances.vocabularies import SAMPLE, Drawn, draws_for, measured_relatedness
from bayesbias.embeddings import keyed_vectors, load_embedding
from bayesbias.embeddings.samples import ordered_by_frequency
from bayesbias.errors import InputError, listed
from bayesbias.multiverses.plans import NONE, OF_TABLES, SAMPLE_FILE, VARIANTS, axes_of
from bayesbias.words import WordLists, load_words

if TYPE_CHECKING:
    from gensim.models import KeyedVectors


def file_of(folder: Path, task: Task) -> Path:
    """The file that holds what an embedding gave."""
    return folder / VARIANTS / f"{task.name}.npz"


def write_sample(folder: Path, decisions: Mapping[str, tuple[Any, ...]]) -> dict[str, KeyedVectors]:
    """Write the words at which all embeddings are sampled into the folder; the embeddings, which were loaded for it."""
    embeddings = {name: load_embedding(name) for name in decisions["embedding"]}
    lists = []
    for name, axis in product(decisions["words"], axes_of(decisions["contrast"])):
        with suppress(InputError):  # a group that a list lacks makes combinations impossible
            lists.append(_lists_of(name, axis))
    drawn = draws_for(list(embeddings.values()), [lists] * len(embeddings), "fallback")
    content = {"reason": drawn} if isinstance(drawn, str) else {"words": list(drawn[0].words), "kind": drawn[0].kind}
    write_text(folder / SAMPLE_FILE, to_json(content))
    return embeddings


def measure(task: Task, folder: str, loaded: Mapping[str, KeyedVectors]) -> str:
    """Measure the distances of an embedding, which may be loaded, and write them, the record last; the task's name."""
    record = new_record(task, "done")
    content: bytes | None = None
    with one_thread():
        try:
            refuse_changed(task)
            sample = from_json(read_text(Path(folder) / SAMPLE_FILE))
            content = _content_of(_vectors(task.settings, loaded), task.options, sample)
            refuse_changed(task)
        except Exception as error:  # a record holds whatever went wrong
            message = str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
            record |= {"status": "failed", "reason": message}
    if content is not None:
        file = file_of(Path(folder), task)
        with whole_file(file) as temporary:
            temporary.write_bytes(content)
        record["sha256"] = state_of(file)[2]
    write_record(Path(folder), record)
    return task.name


def _vectors(settings: Mapping[str, Any], loaded: Mapping[str, KeyedVectors]) -> KeyedVectors:
    """An embedding as a combination of decisions takes it."""
    name = settings["embedding"]
    kv = loaded[name] if name in loaded else load_embedding(name)
    if settings["debiasing"] != NONE:
        method = settings["debiasing"]
        kv = debias(kv, **({"method": method} if isinstance(method, str) else method))
    if settings["centre"] == NONE and not settings["all_but_top"]:
        return kv
    vectors = unit_rows(kv.vectors.astype(float))
    vectors -= vectors.mean(axis=0)
    if settings["all_but_top"]:
        # Mu, Bhat and Viswanath (2018), https://doi.org/10.48550/arXiv.1702.01417
        vectors = without(vectors, principal_directions([vectors], settings["all_but_top"])[0])
    moved = keyed_vectors(list(kv.index_to_key), vectors.astype(np.float32))
    moved.bayesbias_name = getattr(kv, "bayesbias_name", "the embedding")
    return moved


def _lists_of(name: str, axis: Any) -> WordLists:
    """Word lists, or their groups with the words at the poles of an axis in place of stereotypes."""
    lists = load_words(name)
    if axis == NONE:
        return lists
    if lost := [group for group in axis["groups"] if group not in lists.protected]:
        raise InputError(f"{lists.name} has no group {lost[0]!r}: its groups are {listed(list(lists.protected))}")
    protected = {group: lists.protected[group] for group in axis["groups"]}
    words = {word for part in protected.values() for word in part}
    return WordLists(
        lists.name,
        protected,
        dict(zip(protected, zip(*poles_of(axis["axis"]).pairs, strict=True), strict=True)),
        forms={word: forms for word, forms in lists.forms.items() if word in words},
        language=lists.language,
    )


def _content_of(kv: KeyedVectors, options: Mapping[str, Any], sample: Mapping[str, Any]) -> bytes:
    """The distance tables of an embedding and the relatedness of all their words, as an .npz file."""
    arrays: dict[str, Any] = {}
    every: list[WordLists] = []
    for place, (name, case, twins, axis) in enumerate(product(*(options[key] for key in OF_TABLES))):
        try:
            lists = _lists_of(name, axis)
            pairs = () if axis == NONE else find_poles(kv, poles_of(axis["axis"]), case).pairs
            # words of one vector may stand in different pairs
            table = distance_table(kv, lists, case=case, twins=twins if axis == NONE else "keep", relatedness=False)
        except InputError as error:
            arrays[f"reason {place}"] = np.array(str(error))
            continue
        entries = table.attrs.pop("coverage")["lists"]
        asked, found = (sum(entry[name] for entry in entries) for name in ("asked", "found"))
        buffer = io.BytesIO()
        table.to_parquet(buffer, index=False)
        arrays[f"found {place}"], arrays[f"pairs {place}"] = np.array(found / asked), np.array(pairs, dtype=str)
        arrays[f"table {place}"] = np.frombuffer(buffer.getvalue(), dtype=np.uint8)
        every.append(lists)
    if not every:
        raise InputError(str(next(iter(arrays.values()))))
    if "reason" in sample:
        raise InputError(f"the covariance of the specifications is not known, since {sample['reason']}")
    places = dict(kv.key_to_index) if ordered_by_frequency(kv.index_to_key) else {}
    drawn = Drawn(tuple(sample["words"]), kv[sample["words"]], sample["kind"], places)
    related = measured_relatedness(
        kv, _union(every), SAMPLE, 0, "fallback" if "fallback" in options["case"] else "as-is", drawn
    )
    if isinstance(related, str):
        raise InputError(related)
    arrays[KEY] = np.array(packed(related))
    content = io.BytesIO()
    np.savez(content, **arrays)
    return content.getvalue()


def _union(lists: Sequence[WordLists]) -> WordLists:
    """Lists of all protected words and of all attribute words: only which words there are matters."""
    first = lists[0]
    protected = dict.fromkeys(word for each in lists for words in each.protected.values() for word in words)
    attributes = dict.fromkeys(
        word
        for each in lists
        for part in (each.stereotypes, each.controls)
        for words in part.values()
        for word in words
    )
    forms = {name: own for each in lists for name, own in each.forms.items()}
    return WordLists("all", {"all": list(protected)}, {"all": list(attributes)}, forms=forms, language=first.language)


class Measured(NamedTuple):
    """What an embedding gave, by the settings of its tables.

    Attributes
    ----------
    tables
        Each a distance table, or why there is none.
    found
        Share of the words of the lists that the embedding holds.
    pairs
        The pairs of an axis whose two words it holds.
    related
        The relatedness of all words; None where the embedding could not be measured.
    failed
        Why it could not.
    """

    tables: Mapping[str, pd.DataFrame | str]
    found: Mapping[str, float]
    pairs: Mapping[str, tuple[tuple[str, str], ...]]
    related: Relatedness | None
    failed: str


def read_measured(folder: Path, task: Task) -> Measured:
    """What a task has written."""
    record = record_of(folder, task.name)
    if record is None:
        raise InputError(f"the record of {task.name} is gone from {folder}: run the multiverse again")
    if record["status"] == "failed":
        return Measured({}, {}, {}, None, str(record["reason"]))
    with file_of(folder, task).open("rb") as content:
        arrays = read_arrays(content, str(folder / VARIANTS))
    carrier = pd.DataFrame()
    carrier.attrs[KEY] = str(arrays[KEY])
    tables: dict[str, pd.DataFrame | str] = {}
    found: dict[str, float] = {}
    pairs: dict[str, tuple[tuple[str, str], ...]] = {}
    for place, values in enumerate(product(*(task.options[name] for name in OF_TABLES))):
        key = plain_json(dict(zip(OF_TABLES, values, strict=True)))
        if f"table {place}" in arrays:
            tables[key] = pd.read_parquet(io.BytesIO(arrays[f"table {place}"].tobytes()))
            found[key] = float(arrays[f"found {place}"])
            pairs[key] = tuple((first, second) for first, second in arrays[f"pairs {place}"].tolist())
        else:
            tables[key] = str(arrays[f"reason {place}"])
    return Measured(tables, found, pairs, relatedness_of(carrier), "")
