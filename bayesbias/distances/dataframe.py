"""``DistanceTable``: distances in long format, a pandas DataFrame that carries what is known of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import pandas as pd

from bayesbias._support.arguments import is_printable
from bayesbias.distances.covariances import Relatedness
from bayesbias.distances.list_coverage import Coverage
from bayesbias.errors import InputError, RelatednessWarning, shown, warn
from bayesbias.numerics.arrays import FloatArray

if TYPE_CHECKING:
    from bayesbias.distances.adjustment import Adjustment

COLUMNS = ["protected_word", "group", "attribute_word", "attribute_class", "connection", "distance"]
PAIR = ["protected_word", "attribute_word"]
NEEDED = (*PAIR, "connection", "distance")
TEMPLATE, ATTRIBUTE_TEMPLATE = TEMPLATES = "template", "attribute_template"
SIMULATED, ADJUSTED_FOR = "simulated", "adjusted for "  # how distances came about that no vectors have
LOST = (
    "the table was put together from others (pandas.concat, merge), and pandas does not hand on what they carried: "
    "different words are treated as unrelated, and intervals may be too narrow by a factor of 2 and more; make one "
    "table with distance_table, or let it carry what another does: bb.DistanceTable(rows, like=table)"
)


@dataclass(frozen=True, eq=False)
class Provenance:
    """Facts on the distances of a table, beyond its rows."""

    coverage: Coverage | None = None  # how word lists met the embedding
    relatedness: Relatedness | None = None  # how the distances are correlated
    adjustment: Adjustment | None = None  # what was subtracted from each distance
    truth: Mapping[str, FloatArray] = field(default_factory=dict)  # parameters that distances were simulated with
    # why the distances are not those of the vectors: "simulated", "adjusted for length"; empty where they are
    moved: str = ""


class DistanceTable(pd.DataFrame):
    """Distances of word pairs in long format: a pandas DataFrame that carries what is known of them.

    Rows can be selected, sorted, copied, pickled and given further columns, and what the table carries stays with them.
    A result without the columns of pairs and distances is a plain DataFrame, and so is what pandas builds anew (``T``,
    ``apply``, ``stack``). ``pandas.concat`` and ``merge`` hand nothing on: functions that read such a table warn
    (``RelatednessWarning``). ``pd.DataFrame(table)`` is the rows alone.

    Parameters
    ----------
    rows
        A DataFrame with ``protected_word``, ``attribute_word``, ``connection`` and ``distance`` (cosine distance), and
        where they are known ``group`` and ``attribute_class``.
    like
        Another table, all of what it carries.
    coverage, relatedness
        What the table is to carry, such as ``table.coverage`` of another; None keeps what ``rows`` or ``like`` carry.
    truth
        Parameters that the distances were simulated with, name to array; ``{}`` where they are not known. Simulated
        distances are not held against vectors.
    options
        Of pandas.DataFrame: ``index``, ``columns``, ``dtype``, ``copy``.

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> table[table["group"] == "math"].relatedness is table.relatedness
    True
    >>> type(table.groupby("connection")["distance"].mean().reset_index()).__name__
    'DataFrame'
    """

    _metadata: ClassVar[list[str]] = ["_provenance"]  # pandas hands it on from a table to its rows
    _provenance: Provenance | None = None  # None where pandas did not

    def __init__(
        self,
        rows: Any = None,
        *,
        like: DistanceTable | None = None,
        coverage: Coverage | None = None,
        relatedness: Relatedness | None = None,
        truth: Mapping[str, FloatArray] | None = None,
        **options: Any,
    ) -> None:
        frame = rows if isinstance(rows, pd.DataFrame) and not options else pd.DataFrame(rows, **options)
        refuse_lacking(frame.columns)
        if like is not None and not isinstance(like, DistanceTable):
            raise InputError(f"like is a {type(like).__name__}: give a distance table whose coverage rows are to carry")
        for name, value, kind in (("coverage", coverage, Coverage), ("relatedness", relatedness, Relatedness)):
            if value is not None and not isinstance(value, kind):
                given = shown(value) if isinstance(value, str) else f"a {type(value).__name__}"
                raise InputError(f"{name} is {given}: give the {name} of a distance table, table.{name}, or None")
        super().__init__(frame)  # type: ignore[call-arg]  # the stubs know no constructor
        source = rows if like is None else like
        own = source._provenance if isinstance(source, DistanceTable) else Provenance()
        if (coverage, relatedness, truth) != (None, None, None):
            own = own or Provenance()
            own = replace(own, coverage=coverage or own.coverage, relatedness=relatedness or own.relatedness)
        self._provenance = own if truth is None or own is None else _simulated(own, truth)

    @property
    def _constructor(self) -> Callable[..., pd.DataFrame]:
        return _constructed

    def _constructor_from_mgr(self, mgr: Any, axes: Any) -> pd.DataFrame:
        return _of_manager(mgr, axes)

    def astype(self, *args: Any, **options: Any) -> pd.DataFrame:  # type: ignore[misc, override]  # final in the stubs
        """As in pandas, which puts columns of several types together anew."""
        return like(pd.DataFrame(self).astype(*args, **options), self)

    @classmethod
    def carrying(cls, rows: pd.DataFrame, provenance: Provenance) -> Self:
        """Rows with what is known of them."""
        table = cls(rows)
        table._provenance = provenance
        return table

    @property
    def coverage(self) -> Coverage | None:
        """Coverage of the word lists in the embedding; None where it is not known."""
        return None if self._provenance is None else self._provenance.coverage

    @property
    def relatedness(self) -> Relatedness | None:
        """Correlation of the distances of similar words; None where it is not known."""
        return None if self._provenance is None else self._provenance.relatedness

    @property
    def adjustment(self) -> Adjustment | None:
        """Amounts subtracted from the distances (:func:`adjust`); None where they are as measured."""
        return None if self._provenance is None else self._provenance.adjustment

    @property
    def truth(self) -> Mapping[str, FloatArray]:
        """Parameters that the distances were simulated with, as arrays; empty where they were measured."""
        return {} if self._provenance is None else self._provenance.truth

    def without_relatedness(self) -> DistanceTable:
        """The same table, whose words models take for unrelated."""
        carried = provenance_of(self)
        adjustment = None if carried.adjustment is None else replace(carried.adjustment, before=None)
        return DistanceTable.carrying(self, replace(carried, relatedness=None, adjustment=adjustment))

    def to_parquet(self, *args: Any, **options: Any) -> Any:
        """As in pandas: the rows alone, which a warning says; :func:`write_distance_table` keeps all of a table."""
        if self.relatedness is not None or (self._provenance is not None and self._provenance.moved):
            warn(
                "to_parquet writes the rows alone: bb.write_distance_table(table, path) keeps what the table carries",
                RelatednessWarning,
            )
        return pd.DataFrame(self).to_parquet(*args, **options)


def _constructed(*args: Any, **options: Any) -> pd.DataFrame:
    """The result of pandas for parts of a table: a table where pairs and distances are all there."""
    frame = pd.DataFrame(*args, **options)
    return _of_manager(frame._mgr, frame._mgr.axes)


def _of_manager(manager: Any, axes: Any) -> pd.DataFrame:
    kind = DistanceTable if _is_whole(*axes) else pd.DataFrame
    build: Any = kind  # pandas asks its subclasses for this, and its stubs do not know it
    made: pd.DataFrame = build._from_mgr(manager, axes=axes)
    return made


def _is_whole(columns: pd.Index, index: pd.Index) -> bool:
    """True where pairs and distances are all there, as columns or levels of the index."""
    return all(name in columns or name in index.names for name in NEEDED)


def _simulated(carried: Provenance, truth: object) -> Provenance:
    """The provenance of simulated distances."""
    if not isinstance(truth, Mapping) or carried.adjustment is not None:
        what = "a table that is adjusted" if isinstance(truth, Mapping) else shown(truth)
        raise InputError(f"truth is of {what}: give a mapping of parameters to arrays, {{}} where they are not known")
    try:
        arrays = {str(name): np.asarray(values, dtype=float) for name, values in truth.items()}
    except (TypeError, ValueError) as error:
        raise InputError(f"truth holds no numbers: give a mapping of parameters to arrays ({error})") from error
    return replace(carried, truth=arrays, moved=SIMULATED)


def provenance_of(table: pd.DataFrame) -> Provenance:
    """The provenance of a table; empty for a plain DataFrame and, with a warning, for a table that lost it."""
    if not isinstance(table, DistanceTable):
        return Provenance()
    if table._provenance is None:
        warn(LOST, RelatednessWarning)
        return Provenance()
    return table._provenance


def coverage_of(table: object) -> Coverage | None:
    """The coverage that a table carries, or None."""
    return table.coverage if isinstance(table, DistanceTable) else None


def relatedness_of(table: object) -> Relatedness | None:
    """The relatedness that a table carries, or None."""
    return table.relatedness if isinstance(table, DistanceTable) else None


def labels_of(table: pd.DataFrame) -> dict[str, str]:
    """Labels of the control lists of a table; lists without one are left out."""
    record = coverage_of(table)
    return {} if record is None else record.labels


def like(rows: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """Rows that were made from those of a table, with what it carries."""
    if not isinstance(table, DistanceTable):
        return rows
    made: pd.DataFrame = _constructed(rows)
    if isinstance(made, DistanceTable):
        made._provenance = table._provenance
    return made


def template_columns(table: object) -> list[str]:
    """Columns of a table that name the templates of its distances; none of what is no table."""
    return [name for name in TEMPLATES if name in getattr(table, "columns", ())]


def refuse_lacking(columns: pd.Index) -> None:
    """Refuse a table that lacks a column."""
    if missing := [column for column in NEEDED if column not in columns]:
        given = ", ".join(str(each) if is_printable(each) else shown(each) for each in columns)
        raise InputError(
            f"the table lacks the column {', '.join(missing)}: a distance table has {', '.join(COLUMNS)} (group and "
            f"attribute_class may be absent); given are {given or 'none'}"
        )
