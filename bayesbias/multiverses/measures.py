"""Distance tables of an embedding under a multiverse's decisions, measured by workers and kept in a folder."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from bayesbias._core.vectors import principal_directions, unit_rows, without
from bayesbias._executors import one_thread
from bayesbias._files import from_json, read_arrays, read_text, to_json, whole_file, write_text
from bayesbias._runs import Task, new_record, plain_json, record_of, refuse_changed, state_of, write_record
from bayesbias.debiasing import debias
from bayesbias.distances import distance_table
from bayesbias.distances.covariances import KEY, Relatedness, packed, relatedness_of
from bayesbias.distances.joint import draws_for
from bayesbias.distances.vocabularies import SAMPLE, Drawn, measured_relatedness
from bayesbias.embeddings import keyed_vectors, load_embedding
from bayesbias.embeddings.samples import ordered_by_frequency
from bayesbias.errors import InputError
from bayesbias.multiverses.plans import NONE, OF_TABLES, SAMPLE_FILE, VARIANTS
from bayesbias.words import WordLists, load_words

if TYPE_CHECKING:
    from gensim.models import KeyedVectors


def file_of(folder: Path, task: Task) -> Path:
    """The file that holds what an embedding gave."""
    return folder / VARIANTS / f"{task.name}.npz"


def write_sample(folder: Path, decisions: Mapping[str, tuple[Any, ...]]) -> None:
    """The words at which all embeddings are sampled, into the folder."""
    embeddings = [load_embedding(name) for name in decisions["embedding"]]
    lists = [load_words(name) for name in decisions["words"]]
    drawn = draws_for(embeddings, [lists] * len(embeddings), "fallback")
    content = {"reason": drawn} if isinstance(drawn, str) else {"words": list(drawn[0].words), "kind": drawn[0].kind}
    write_text(folder / SAMPLE_FILE, to_json(content))


def measure(task: Task, folder: str) -> str:
    """Measure the distances of an embedding, write them, and the record last; the name of the task."""
    record = new_record(task, "done")
    content: bytes | None = None
    with one_thread():
        try:
            refuse_changed(task)
            sample = from_json(read_text(Path(folder) / SAMPLE_FILE))
            content = _content_of(_vectors(task.settings), task.options, sample)
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


def _vectors(settings: Mapping[str, Any]) -> KeyedVectors:
    """An embedding as a combination of decisions takes it."""
    kv = load_embedding(settings["embedding"])
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


def _content_of(kv: KeyedVectors, options: Mapping[str, Any], sample: Mapping[str, Any]) -> bytes:
    """The distance tables of an embedding and the relatedness of all their words, as an .npz file."""
    arrays: dict[str, Any] = {}
    every: list[WordLists] = []
    for place, (name, case, twins) in enumerate(product(*(options[key] for key in OF_TABLES))):
        lists = load_words(name)
        try:
            table = distance_table(kv, lists, case=case, twins=twins, relatedness=False)
        except InputError as error:
            arrays[f"reason {place}"] = np.array(str(error))
            continue
        entries = table.attrs.pop("coverage")["lists"]
        asked, found = (sum(entry[name] for entry in entries) for name in ("asked", "found"))
        buffer = io.BytesIO()
        table.to_parquet(buffer, index=False)
        arrays[f"found {place}"] = np.array(found / asked)
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
    related
        The relatedness of all words; None where the embedding could not be measured.
    failed
        Why it could not.
    """

    tables: Mapping[str, pd.DataFrame | str]
    found: Mapping[str, float]
    related: Relatedness | None
    failed: str


def read_measured(folder: Path, task: Task) -> Measured:
    """What a task has written."""
    record = record_of(folder, task.name)
    if record is None:
        raise InputError(f"the record of {task.name} is gone from {folder}: run the multiverse again")
    if record["status"] == "failed":
        return Measured({}, {}, None, str(record["reason"]))
    with file_of(folder, task).open("rb") as content:
        arrays = read_arrays(content, str(folder / VARIANTS))
    carrier = pd.DataFrame()
    carrier.attrs[KEY] = str(arrays[KEY])
    tables: dict[str, pd.DataFrame | str] = {}
    found: dict[str, float] = {}
    for place, values in enumerate(product(*(task.options[name] for name in OF_TABLES))):
        key = plain_json(dict(zip(OF_TABLES, values, strict=True)))
        if f"table {place}" in arrays:
            tables[key] = pd.read_parquet(io.BytesIO(arrays[f"table {place}"].tobytes()))
            found[key] = float(arrays[f"found {place}"])
        else:
            tables[key] = str(arrays[f"reason {place}"])
    return Measured(tables, found, relatedness_of(carrier), "")
