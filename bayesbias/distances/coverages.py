"""What was asked of an embedding and what was found: it travels in ``table.attrs["coverage"]``."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import pandas as pd

from bayesbias.embeddings.twins import SHOWN, twin_sentence
from bayesbias.errors import InputError

COLUMNS = ["list", "kind", "asked", "found", "missing"]


@dataclass(frozen=True)
class Coverage:
    """The record of how lists met an embedding (or a file of distances).

    Attributes
    ----------
    word_list
        Name of the word list, or of the file.
    source, doi
        Where the word list comes from.
    embedding
        Name, number of vectors and dimensions of the embedding.
    pairs
        Rows of the table when it was made; fewer are left if it was restricted later.
    lists
        One entry a list: ``list``, ``kind`` (protected, stereotype, control), ``asked``, ``found``, ``missing`` words.
    substituted
        Words read under another capitalisation, with the word that was used.
    own_pairs
        Words that are both protected and attribute: their pair with themselves is left out.
    in_several_lists
        Attribute words in more than one list, with the lists; a pair counts once, for the first of associated,
        different, human, neutral.
    repeated_rows
        Rows that repeat a pair: dropped, or kept with ``keep_duplicates``.
    kept_duplicates
        Whether repeated rows were kept.
    missing_pairs
        Rows of a file that hold no distance.
    relatedness
        What the covariance of distances was read off, or why there is none.
    twins
        Words with the vector of an earlier word (``first``) of the same list, with that list and its kind.
    kept_twins
        Whether these were kept; else the first word stands for all.
    one_vector
        Sets of words that have one vector and stand in different lists: each word with its lists. They stay.
    """

    word_list: str
    lists: list[dict[str, Any]]
    substituted: dict[str, str] = field(default_factory=dict)
    own_pairs: list[str] = field(default_factory=list)
    in_several_lists: dict[str, list[str]] = field(default_factory=dict)
    repeated_rows: int = 0
    kept_duplicates: bool = False
    missing_pairs: int = 0
    source: str = ""
    doi: str | None = None
    embedding: dict[str, Any] = field(default_factory=dict)
    pairs: int = 0
    relatedness: str = ""
    twins: list[dict[str, str]] = field(default_factory=list)
    kept_twins: bool = False
    one_vector: list[dict[str, list[str]]] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, as they stand in ``attrs`` and on disk."""
        return asdict(self)

    def notes(self, table: pd.DataFrame | None = None, missing: bool = True) -> list[str]:
        """One sentence for each thing that was left out, replaced or counted more than once.

        Parameters
        ----------
        table
            The table as it is now, to say whether it was restricted since it was made.
        missing
            Whether to name missing words, which a table of the lists shows too.
        """
        notes = []
        if table is not None and self.pairs and len(table) != self.pairs:
            asked = sum(entry["found"] for entry in self.lists if entry["kind"] == "protected")
            asked -= 0 if self.kept_twins else sum(entry["kind"] == "protected" for entry in self.twins)
            left = table["protected_word"].nunique()
            notes.append(
                f"changed after it was measured: {len(table):,} of {self.pairs:,} distances and {left} of {asked} "
                "protected words are here; the lists are those of the whole table"
            )
        for entry in self.lists:
            if missing and entry["missing"]:
                words = ", ".join(entry["missing"][:8]) + (" …" if len(entry["missing"]) > 8 else "")
                notes.append(
                    f"{entry['kind']} list {entry['list']}: {entry['found']} of {entry['asked']} words found; "
                    f"missing {words}"
                )
        if self.substituted:
            pairs = ", ".join(f"{asked} as {used}" for asked, used in self.substituted.items())
            notes.append(f"read under another capitalisation: {pairs}")
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
        return notes + self._twin_notes()

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


def list_entry(name: str, kind: str, asked: list[str], missing: list[str]) -> dict[str, Any]:
    """The coverage of one list."""
    return {"list": name, "kind": kind, "asked": len(asked), "found": len(asked) - len(missing), "missing": missing}


def stored_coverage(table: pd.DataFrame) -> Coverage | None:
    """The record in ``table.attrs``, or None where there is none or one that is not ours."""
    try:
        return Coverage(**(table.attrs.get("coverage") or {}))
    except TypeError:
        return None


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
        ``missing`` (the words). ``attrs["notes"]`` says in sentences what was left out or replaced.

    Raises
    ------
    InputError
        The table carries no coverage, because it was not made by :func:`distance_table` or
        :func:`read_distance_table`.
    """
    if not isinstance(table, pd.DataFrame) or (known := stored_coverage(table)) is None:
        raise InputError(
            "this table carries no coverage in table.attrs['coverage']: "
            "make it with distance_table or read it with read_distance_table"
        )
    result = pd.DataFrame(known.lists, columns=COLUMNS)
    result.attrs["notes"] = known.notes(table)
    return result
