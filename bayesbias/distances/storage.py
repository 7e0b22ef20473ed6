"""What a table carries beside its rows: coverage and relatedness, and how files keep it."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import ConfigDict, TypeAdapter, ValidationError

from bayesbias._core.related import PairSample
from bayesbias._files import from_json, read_arrays, to_json
from bayesbias.distances.covariances import Relatedness
from bayesbias.embeddings.lookup import SHOWN, About, twin_sentence
from bayesbias.errors import InputError, listed

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


COLUMNS = ["list", "kind", "asked", "found", "missing"]

ListEntry = TypedDict(  # noqa: UP013  # in a class the field list would hide the type
    "ListEntry", {"list": str, "kind": str, "asked": int | None, "found": int, "missing": list[str]}
)


@dataclass(frozen=True)
class Coverage:
    """The record of how lists met an embedding (or a file of distances)."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    word_list: str  # name of the word list, or of the file
    lists: list[ListEntry]  # `asked` is None where it is not known
    substituted: dict[str, str] = field(default_factory=dict)  # words read under another spelling, with that one
    own_pairs: list[str] = field(default_factory=list)  # both protected and attribute: without the pair with itself
    in_several_lists: dict[str, list[str]] = field(default_factory=dict)  # attribute words; a pair has the first list
    repeated_rows: int = 0  # rows that repeat a pair: dropped, unless duplicates are kept
    kept_duplicates: bool = False
    missing_pairs: int = 0  # rows of a file that hold no distance
    source: str = ""  # of the word list, as its doi
    doi: str | None = None
    embedding: About = field(default_factory=About)
    pairs: int = 0  # rows of the table when it was made; fewer are left if it was restricted later
    relatedness: str = ""  # what the covariance of distances was read off, or why there is none
    twins: list[dict[str, str]] = field(default_factory=list)  # words with the vector of an earlier one of their list
    kept_twins: bool = False  # else the first word stands for all
    one_vector: list[dict[str, list[str]]] = field(default_factory=list)  # sets of words of different lists, all kept
    labels: dict[str, str] = field(default_factory=dict)  # control list to what it is called in sentences
    unknown: str = ""  # why it is not known which words were asked for; empty where it is
    forms: dict[str, list[str]] = field(default_factory=dict)  # concept with several forms to those that are found
    gender: str = ""  # what grammatical gender may do to the distances, or nothing
    contexts: dict[str, Any] = field(default_factory=dict)  # of words in sentences: encoder, frames, their pairing, ...
    language: str | None = None  # BCP 47 tag of the lists; None where they do not tell

    def as_dict(self) -> dict[str, Any]:
        """Plain values, as they stand in ``attrs`` and on disk."""
        return asdict(self)

    def notes(self, table: pd.DataFrame | None = None, missing: bool = True) -> list[str]:
        """One sentence for each thing that was left out, replaced or counted more than once.

        ``table`` is the table as it is now, to say whether it was restricted since it was made; ``missing=False``
        leaves out missing words, which a table of the lists shows too.
        """
        notes = self._doubts(table)
        for entry in self.lists:
            if missing and entry["missing"]:
                found = f"{entry['found']} of {entry['asked']} words found"
                notes.append(f"{entry['kind']} list {entry['list']}: {found}; missing {listed(entry['missing'])}")
        notes += self._form_notes()
        if self.own_pairs:
            notes.append(f"both protected and attribute, so without the pair with itself: {', '.join(self.own_pairs)}")
        if self.in_several_lists:
            named = ", ".join(f"{word} ({', '.join(lists)})" for word, lists in self.in_several_lists.items())
            rule = "each list counted" if self.kept_duplicates else "counted once for a protected word"
            notes.append(f"in several attribute lists, {rule}: {named}")
        if self.repeated_rows:
            notes.append(f"{self.repeated_rows} rows repeat a pair: {'kept' if self.kept_duplicates else 'dropped'}")
        if self.missing_pairs:
            notes.append(f"{self.missing_pairs} pairs have no distance")
        if self.relatedness.startswith("none"):
            notes.append(f"relatedness of words: {self.relatedness}")
        return notes + self._twin_notes() + list(self.contexts.get("notes", ()))

    def _doubts(self, table: pd.DataFrame | None) -> list[str]:
        """Whether what was asked for is not known, or a table is not what was measured."""
        notes = []
        if self.unknown:
            notes.append(
                f"coverage unknown, because {self.unknown}: the lists are those of the words that are here, and words "
                "that were asked for and not found are not known"
            )
        if table is None or not self.pairs or len(table) == self.pairs:
            return notes
        measured = sum(entry["found"] for entry in self.lists if entry["kind"] == "protected")
        measured -= 0 if self.kept_twins else sum(entry["kind"] == "protected" for entry in self.twins)
        left = sum(len(self.forms.get(word, (word,))) for word in table["protected_word"].unique())
        return [
            *notes,
            f"changed after it was measured: {len(table):,} of {self.pairs:,} distances and {left} of {measured} "
            "protected words are here; the lists are those of the whole table",
        ]

    def _form_notes(self) -> list[str]:
        """Words read under another spelling, concepts with several forms, and grammatical gender."""
        notes = []
        if self.substituted:
            pairs = ", ".join(f"{asked} as {used}" for asked, used in self.substituted.items())
            notes.append(f"read under another spelling: {pairs}")
        if several := [f"{name} ({', '.join(form)})" for name, form in self.forms.items() if len(form) > 1]:
            notes.append(f"the mean over several forms: {listed(several, SHOWN)}")
        return notes + ([self.gender] if self.gender else [])

    def _twin_notes(self) -> list[str]:
        """Words that have the vector of another: of the same list, and of another one."""
        by_list: dict[tuple[str, str], list[tuple[str, str]]] = {}
        for entry in self.twins:
            by_list.setdefault((entry["kind"], entry["list"]), []).append((entry["word"], entry["first"]))
        rule = "kept" if self.kept_twins else "counted once"
        notes = [f"{kind} list {name}: {twin_sentence(pairs)}: {rule}" for (kind, name), pairs in by_list.items()]
        if self.one_vector:
            sets = [
                ", ".join(f"{word} ({' and '.join(lists)})" for word, lists in words.items())
                for words in self.one_vector
            ]
            more = f"; and {len(sets) - SHOWN} more" if len(sets) > SHOWN else ""
            notes.append(f"one vector in different lists, where all stay: {'; '.join(sets[:SHOWN])}{more}")
        return notes


def list_entry(name: str, kind: str, asked: list[str], missing: list[str]) -> ListEntry:
    """The coverage of one list."""
    return {"list": name, "kind": kind, "asked": len(asked), "found": len(asked) - len(missing), "missing": missing}


def stored_coverage(table: pd.DataFrame) -> Coverage | None:
    """The record in ``table.attrs``, or None where there is none or one that is not ours."""
    return known_coverage(table.attrs.get("coverage"))


def known_coverage(stored: object) -> Coverage | None:
    """The record from its plain values, or None where these are not ours."""
    try:
        return coverage_from(stored)
    except InputError:
        return None


def labels_of(table: pd.DataFrame) -> dict[str, str]:
    """What the control lists of a table are called; those without a label are left out."""
    record = stored_coverage(table)
    return {} if record is None else record.labels


def carried_labels(labels: dict[str, str]) -> dict[Any, Any]:
    """The labels as they stand in the ``attrs`` of results; nothing without labels."""
    return {"labels": labels} if labels else {}


@cache
def _of_coverage() -> TypeAdapter[Coverage]:
    """The check of a record, which takes longer to make than to use."""
    return TypeAdapter(Coverage)


def coverage_from(stored: object) -> Coverage:
    """The record from its plain values."""
    try:
        return _of_coverage().validate_python(stored)
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(f"{'.'.join(map(str, first['loc'])) or 'it'}: {first['msg']}") from error


def coverage(table: pd.DataFrame) -> pd.DataFrame:
    """How much of each word list the embedding holds.

    Parameters
    ----------
    table
        A distance table.

    Returns
    -------
    DataFrame
        One row a list: ``list``, ``kind`` (protected, stereotype, control), ``asked``, ``found`` (numbers of words) and
        ``missing`` (the words); ``asked`` is missing where the table was read from a file without its coverage.
        ``attrs["notes"]`` says in sentences what was left out or replaced.

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> bb.coverage(table)[["list", "asked", "found"]].head(3)
       list  asked  found
    0  math      8      8
    1  arts      8      8
    2  math      8      8
    """
    if not isinstance(table, pd.DataFrame) or (known := stored_coverage(table)) is None:
        raise InputError(
            "this table carries no coverage in table.attrs['coverage']: "
            "make it with distance_table or read it with read_distance_table"
        )
    result = pd.DataFrame(known.lists, columns=COLUMNS).astype({"asked": "Int64"})
    result.attrs["notes"] = known.notes(table)
    return result


KEY = "relatedness"
"""Name in ``table.attrs`` and of the group of a fit."""
TOLERANCE = 2e-3
"""Distances that differ by more do not come from the same vectors (half precision leaves 1e-4)."""
CROSSED_TOLERANCE = 0.1
"""The same for means over different sentence frames, around the median difference."""
DIMS = {
    "protected": ("protected_word", "dimension"),
    "attributes": ("attribute_word", "dimension"),
    "centre": ("dimension",),
    "scatter": ("scatter_row", "sample_word"),
    "first": ("sample_pair",),
    "second": ("sample_pair",),
    "bins": ("sample_pair",),
    "counts": ("similarity_bin",),
    "weights": ("sample_pair",),
    "protected_curve": ("similarity_bin",),
    "ranks": ("ranked_word",),
    "forms": ("form", "dimension"),
    "form_of": ("form",),
}
PAIRS = ("first", "second", "bins", "counts", "weights")
OPTIONAL = ("ranks", "forms", "form_of")
WORDS = ("protected_word", "attribute_word", "sample_word")


def _arrays_of(relatedness: Relatedness) -> dict[str, NDArray[Any]]:
    """The numbers and words of relatedness as arrays; everything else as JSON in the array ``facts``."""
    facts = {
        "embedding": dict(relatedness.embedding),
        "kind": relatedness.kind,
        "seed": relatedness.seed,
        "lists": [[name, kind, list(words)] for name, kind, words in relatedness.lists],
    }
    place = np.uint16 if relatedness.sampled <= np.iinfo(np.uint16).max else np.uint32
    types = {"centre": np.float32, "first": place, "second": place, "bins": np.uint8, "counts": np.int64}
    values = {name: getattr(relatedness.pairs if name in PAIRS else relatedness, name) for name in DIMS}
    arrays = {
        name: value.astype(types.get(name, value.dtype), copy=False)
        for name, value in values.items()
        if value is not None
    }
    words = {name: np.array(getattr(relatedness, f"{name}s"), dtype=str) for name in WORDS}
    return {**arrays, **words, "facts": np.array(to_json(facts))}


def _relatedness_from(arrays: Mapping[str, NDArray[Any]]) -> Relatedness:
    """Relatedness from the arrays of :func:`_arrays_of`."""
    try:
        facts = from_json(str(arrays["facts"]))
        words = {name: tuple(map(str, np.asarray(arrays[name]).tolist())) for name in WORDS}
        values: dict[str, Any] = {
            name: np.asarray(arrays[name]) for name in DIMS if name not in OPTIONAL or name in arrays
        }
        sizes: dict[str, int] = {name: len(listed) for name, listed in words.items()}
        sizes |= {"ranked_word": sum(sizes.values())}
        for name, array in values.items():
            expected = tuple(sizes.setdefault(dim, size) for dim, size in zip(DIMS[name], array.shape, strict=True))
            if array.shape != expected:
                raise ValueError(f"{name} has the shape {array.shape}")
            if array.dtype.kind == "f" and not np.isfinite(array).all():
                raise ValueError(f"{name} holds values that are not finite")
        if sizes["scatter_row"] not in (sizes["protected_word"], min(sizes["protected_word"], sizes["dimension"])):
            raise ValueError(f"scatter has {sizes['scatter_row']} rows")
        values |= {name: values[name].astype(np.intp) for name in ("first", "second", "bins", "counts")}
        values |= {name: values[name].astype(float) for name in ("centre", "protected_curve")}
        values |= {f"{name}s": listed for name, listed in words.items()}
        pairs = PairSample(**{name: values.pop(name) for name in PAIRS})
        if max(pairs.first.max(initial=0), pairs.second.max(initial=0)) >= sizes["sample_word"]:
            raise ValueError("a pair names a word that is not there")
        return Relatedness(
            embedding=dict(facts["embedding"]),
            kind=str(facts["kind"]),
            seed=int(facts["seed"]),
            lists=tuple((str(name), str(kind), tuple(map(str, listed))) for name, kind, listed in facts["lists"]),
            pairs=pairs,
            **values,
        )
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise InputError(f"this is no relatedness as distance_table makes it: {error}") from error


def packed(relatedness: Relatedness) -> str:
    """Relatedness as text: an .npz file in base 64, which pandas carries along, compares and writes to Parquet."""
    content = io.BytesIO()
    np.savez(content, **_arrays_of(relatedness))  # type: ignore[arg-type]  # the stubs take names for options
    return base64.b64encode(content.getvalue()).decode("ascii")


def _read(content: bytes, where: str) -> Relatedness:
    try:
        return _relatedness_from(read_arrays(io.BytesIO(content), where))
    except InputError as error:
        raise InputError(f"{where} holds no relatedness as distance_table makes it: {error}") from error


def relatedness_of(table: pd.DataFrame) -> Relatedness | None:
    """The relatedness that a table carries in ``attrs["relatedness"]``, or None."""
    text = table.attrs.get(KEY)
    if text is None:
        return None
    if isinstance(text, Relatedness):
        return text
    try:
        content = base64.b64decode(text, validate=True)
    except (TypeError, ValueError) as error:
        raise InputError(f"table.attrs['{KEY}'] holds no relatedness: {error}; delete it to do without") from error
    return _read(content, f"table.attrs['{KEY}']")


def write_relatedness(text: str, path: Path) -> None:
    """Write packed relatedness as an .npz file."""
    path.write_bytes(base64.b64decode(text))


def read_relatedness(path: Path) -> str:
    """Packed relatedness from an .npz file."""
    content = path.read_bytes()
    _read(content, str(path))
    return base64.b64encode(content).decode("ascii")


def relatedness_group(relatedness: Relatedness) -> xr.Dataset:
    """Relatedness as a group of a fit."""
    import xarray as xr

    arrays = _arrays_of(relatedness)
    data = {name: (dims, arrays[name]) for name, dims in DIMS.items() if name in arrays}
    coords = {name: arrays[name] for name in WORDS}
    return xr.Dataset(data, coords=coords, attrs={"facts": str(arrays["facts"])})


def relatedness_in_fit(post: xr.DataTree) -> Relatedness | None:
    """The relatedness of a fit, or None."""
    if KEY not in post.children:
        return None
    group = post[KEY]
    arrays = {str(name): group[name].to_numpy() for name in (*DIMS, *WORDS) if name in group}
    return _relatedness_from({**arrays, "facts": np.array(group.attrs.get("facts", ""))})


def _places(column: pd.Series, words: Sequence[str]) -> NDArray[np.intp]:
    """Place of each row's word among some words; -1 for words that are not there."""
    codes, values = pd.factorize(column)
    places: NDArray[np.intp] = pd.Index(words).get_indexer(pd.Index([str(value) for value in values]))
    return np.where(codes < 0, -1, places[codes])


def check_distances(relatedness: Relatedness, table: pd.DataFrame) -> None:
    """Refuse relatedness of other vectors than those that a table's distances were measured with."""
    known = (relatedness.protected_words, relatedness.attribute_words)
    rows, columns = (_places(table[name], words) for name, words in zip(WORDS[:2], known, strict=True))
    unknown = np.flatnonzero((rows < 0) | (columns < 0))
    if len(unknown):
        row = table.iloc[unknown[0]]
        raise InputError(
            f"the relatedness of the table does not know the pair {row['protected_word']!r}, {row['attribute_word']!r}:"
            f" make the table anew with distance_table, or delete table.attrs['{KEY}'] to take words for unrelated"
        )
    record = stored_coverage(table)
    crossed = record is not None and record.contexts.get("pairing") == "crossed"
    values = table["distance"].to_numpy(dtype=float)
    cosines = relatedness.protected.astype(np.float32) @ relatedness.attributes.astype(np.float32).T
    theirs = np.clip(1 - cosines, 0, 2)[rows, columns]
    apart = values - theirs
    # means over different frames differ from those over all by what equal frames share, which is much the same for all
    apart, allowed = (np.abs(apart - np.median(apart)), CROSSED_TOLERANCE) if crossed else (np.abs(apart), TOLERANCE)
    if not (apart <= allowed).all():
        worst = int(np.argmax(np.where(np.isnan(apart), np.inf, apart)))
        row = table.iloc[worst]
        raise InputError(
            f"the relatedness of the table is of other vectors: they put {row['protected_word']!r} and "
            f"{row['attribute_word']!r} at {theirs[worst]:.4f}, the table at {values[worst]:.4f}; make the table anew "
            f"with distance_table, or delete table.attrs['{KEY}'] to take words for unrelated"
        )
