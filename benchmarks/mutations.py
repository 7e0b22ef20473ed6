"""One wrong element in each input of each public function: refused, used, or a stray error?

``python -m benchmarks.mutations`` takes the calls that tests of arguments make, and puts one wrong element of each kind
into each fit, table, embedding, mapping, list and text that they are given. ``--inputs fit text`` tries these alone,
``--functions contrasts`` these, ``--share 0.1`` a tenth, the same in each run. Counts by input and change are written
to ``results/mutations.csv`` (``impossible`` are inputs that their library does not make), and what is not clean is
printed:

- ``raw``: an error other than ``InputError``, or ``OSError`` where files are written;
- ``warned``: a warning that is none of the package;
- ``NaN``: an answer with more NaN than the right input has;
- ``late``: no answer within the seconds of ``--limit``.
"""

import argparse
import signal
import sys
import tempfile
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from copy import deepcopy
from dataclasses import fields, is_dataclass
from functools import cache, partial
from inspect import signature
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import xarray as xr
from gensim.models import KeyedVectors

import bayesbias as bb
from benchmarks.study import RESULTS
from tests.conftest import random_text_vectors, random_vectors
from tests.promises.conftest import Made
from tests.promises.test_every_argument import FULL, NAMES, WRONG, valid_call

INPUTS = ("fit", "table", "embedding", "mapping", "list", "text")
CLEAN = ("refused", "taken", "impossible")
OUTCOMES = (*CLEAN, "raw", "warned", "NaN", "late")
ELEMENTS = {
    label: WRONG[label]
    for label in (
        *("None", "True", "a negative number", "an enormous fraction", "NaN", "infinity", "an empty text"),
        *("a lone surrogate", "an empty list", "bytes", "an object", "a complex number"),
    )
}
"""Elements that are wrong in most places."""
TEXTS = {"a lone surrogate": "a\ud800", "an escape": "a\x1b[31m", "a NUL": "a\0"}


class Change(NamedTuple):
    """A wrong input: its kind, what is wrong in it, and what makes it."""

    input: str
    name: str
    make: Callable[[], Any]


def changes_of(value: Any) -> Iterator[Change]:
    """The wrong inputs that one right one gives."""
    match value:
        case xr.DataTree():
            yield from fit_changes(value)
        case pd.DataFrame():
            yield from table_changes(value)
        case KeyedVectors():
            yield from embedding_changes(value)
        case dict() if value:
            yield from mapping_changes(value)
        case list() | tuple() if value and not hasattr(value, "_fields"):
            for label, element in ELEMENTS.items():
                yield Change("list", label, lambda element=element: type(value)([element, *value[1:]]))
        case str():
            for label, text in TEXTS.items():
                yield Change("text", label, lambda text=text: text)


def fit_changes(fit: xr.DataTree) -> Iterator[Change]:
    """Attributes, groups, variables and labels that are missing or wrong."""
    for name in fit.attrs:
        yield Change("fit", "attribute missing", partial(with_attributes, fit, {name: ...}))
        for label in ("None", "an empty text", "a negative number", "bytes"):
            yield Change("fit", f"attribute: {label}", partial(with_attributes, fit, {name: ELEMENTS[label]}))
    for group, node in fit.children.items():
        part = node.to_dataset()
        yield Change("fit", "group missing", lambda group=group: fit.filter(lambda each: each.name != group))
        wrong: list[tuple[str, Callable[[xr.Dataset], xr.Dataset]]] = [
            ("a variable more", lambda part: part.assign(other=next(iter(part.data_vars.values()))))
        ]
        for name in part.data_vars:
            wrong.append(("variable missing", lambda part, name=name: part.drop_vars(name)))
            wrong += [(f"variable: {label}", partial(with_variable, name, change)) for label, change in VALUES.items()]
        for name in set(part.coords) & set(part.dims):
            wrong.append(("labels missing", lambda part, name=name: part.drop_vars(name)))
            wrong.append(("labels reversed", partial(with_labels, name, lambda labels: labels[::-1])))
            wrong.append(("another label", partial(with_labels, name, lambda labels: [ELEMENTS["None"], *labels[1:]])))
        for label, change in wrong:
            yield Change("fit", label, partial(with_group, fit, group, change))


def set_first(element: object) -> Callable[[xr.DataArray], xr.DataArray]:
    """A change of the first number of a variable."""

    def change(values: xr.DataArray) -> xr.DataArray:
        wrong = np.array(values, dtype=np.result_type(values.dtype, type(element)))
        wrong[(0,) * wrong.ndim] = element
        return values.copy(data=wrong)

    return change


VALUES: dict[str, Callable[[xr.DataArray], xr.DataArray]] = {
    "NaN": set_first(np.nan),
    "infinity": set_first(np.inf),
    "an enormous fraction": set_first(1e30),
    "text": lambda values: values.astype(str),
    "complex": lambda values: values.astype(complex),
    "a dimension less": lambda values: values.isel({values.dims[-1]: 0}, drop=True) if values.dims else values * [1, 2],
    "its end missing": lambda values: values.isel({values.dims[-1]: slice(-1)}) if values.dims else values + np.nan,
}


def with_attributes(fit: xr.DataTree, wrong: Mapping[str, object]) -> xr.DataTree:
    """A fit with other attributes; ``...`` leaves one out."""
    tree = fit.copy()
    tree.attrs = {name: value for name, value in (fit.attrs | wrong).items() if value is not ...}
    return tree


def with_group(fit: xr.DataTree, group: str, change: Callable[[xr.Dataset], xr.Dataset]) -> xr.DataTree:
    """A fit with another group of a name."""
    return fit.assign({group: xr.DataTree(change(fit[group].to_dataset()))})


def with_variable(name: str, change: Callable[[xr.DataArray], xr.DataArray], part: xr.Dataset) -> xr.Dataset:
    """A group with another variable of a name."""
    return part.assign({name: change(part[name])})


def with_labels(name: str, change: Callable[[list[Any]], list[Any]], part: xr.Dataset) -> xr.Dataset:
    """A group with other labels of a dimension."""
    return part.assign_coords({name: np.array(change(part[name].to_numpy().tolist()), dtype=object)})


def table_changes(table: pd.DataFrame) -> Iterator[Change]:
    """Columns that are missing or there twice, and cells that are wrong."""
    for column in table.columns:
        yield Change("table", "column missing", lambda column=column: table.drop(columns=column))
        twice = [*table.columns, column]
        yield Change("table", "column twice", lambda twice=twice: table[twice])
        for label, element in ELEMENTS.items():
            yield Change("table", f"cell: {label}", partial(with_cell, table, column, element))
    yield Change("table", "no row", lambda: table[:0])


def with_cell(table: pd.DataFrame, column: Any, element: object) -> pd.DataFrame:
    """A table with another first cell of a column."""
    values = table[column].astype(object).tolist()
    return table.assign(**{column: pd.Series([element, *values[1:]], index=table.index, dtype=object)})


def embedding_changes(kv: KeyedVectors) -> Iterator[Change]:
    """Vectors that are wrong, or out of step with the words."""
    wrong: dict[str, Callable[[KeyedVectors], object]] = {
        "no vectors": lambda kv: None,
        "fewer vectors": lambda kv: kv.vectors[:-1],
        "one number in two": lambda kv: kv.vectors[:, :1],
        "NaN": lambda kv: np.full_like(kv.vectors, np.nan),
        "infinity": lambda kv: np.full_like(kv.vectors, np.inf),
        "all equal": lambda kv: np.ones_like(kv.vectors),
        "complex": lambda kv: kv.vectors.astype(complex),
        "objects": lambda kv: kv.vectors.astype(object),
        "text": lambda kv: kv.vectors.astype(str),
    }
    for label, change in wrong.items():
        yield Change("embedding", label, partial(with_vectors, kv, change))
    for label in ("None", "a negative number", "an empty text", "a lone surrogate"):
        yield Change("embedding", f"word: {label}", partial(with_word, kv, ELEMENTS[label]))


def with_vectors(kv: KeyedVectors, change: Callable[[KeyedVectors], object]) -> KeyedVectors:
    """An embedding with other vectors."""
    wrong = deepcopy(kv)
    wrong.vectors = change(kv)
    return wrong


def with_word(kv: KeyedVectors, word: object) -> KeyedVectors:
    """An embedding with another first word."""
    wrong = deepcopy(kv)
    wrong.index_to_key[0] = word
    wrong.key_to_index = {each: place for place, each in enumerate(wrong.index_to_key)}
    return wrong


def mapping_changes(given: Mapping[Any, Any]) -> Iterator[Change]:
    """Keys and values that are wrong, and values with a wrong element."""
    (key, value), *others = given.items()
    for label, element in ELEMENTS.items():
        if label != "an empty list":
            yield Change("mapping", f"key: {label}", lambda element=element: {element: value, **dict(others)})
        yield Change("mapping", f"value: {label}", lambda element=element: {key: element, **dict(others)})
    for change in changes_of(value):
        yield change._replace(input="mapping", make=lambda change=change: {key: change.make(), **dict(others)})


class Late(BaseException):
    """The time of a call is over; no ``except Exception`` of a library stops it."""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """End what takes more seconds of the processor."""

    def stop(*_: object) -> None:
        raise Late

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def number_of_nan(value: Any) -> int:
    """How many numbers of an answer are NaN."""
    match value:
        case float() | np.floating():
            return int(np.isnan(value))
        case np.ndarray():
            return int(np.isnan(value).sum()) if value.dtype.kind == "f" else 0
        case xr.DataTree():
            return sum(number_of_nan(each.to_numpy()) for node in value.subtree for each in node.data_vars.values())
        case pd.DataFrame():
            return int(value.select_dtypes("number").isna().to_numpy().sum())
        case dict() | list() | tuple():
            return sum(map(number_of_nan, value.values() if isinstance(value, dict) else value))
    return sum(number_of_nan(getattr(value, each.name)) for each in fields(value)) if is_dataclass(value) else 0


def outcome_of(call: Callable[[], Any], expected: Callable[[], int], limit: float) -> tuple[str, str]:
    """How a call with a wrong input ends, and what it says."""
    try:
        with at_most(limit), warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            result = call()
    except (bb.InputError, OSError) as error:
        return "refused", str(error)
    except Late:
        return "late", ""
    except Exception as error:  # what the count is of
        return "raw", f"{type(error).__name__}: {error}"
    if odd := [each for each in told if not issubclass(each.category, bb.errors.BayesbiasWarning)]:
        return "warned", f"{odd[0].category.__name__}: {odd[0].message}"
    return ("NaN", "") if number_of_nan(result) > expected() else ("taken", "")


class Trial(NamedTuple):
    """One call with one wrong input, and how it ended."""

    function: str
    argument: str
    input: str
    change: str
    outcome: str
    said: str


def trials(
    made: Made, names: list[str], inputs: Collection[str], share: float = 1.0, limit: float = 20.0
) -> Iterator[Trial]:
    """Each wrong input of each argument of the functions, or a share of them."""
    for name in names:
        function, given = valid_call(made, name)

        @cache
        def expected(function: Callable[..., Any] = function, given: Mapping[str, Any] = given) -> int:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return number_of_nan(function(**given))

        texts = {each.name: "" for each in signature(function).parameters.values() if str(each.annotation) == "str"}
        for argument, value in (texts | given).items():
            for number, change in enumerate(changes_of(value)):
                if change.input not in inputs or crc32(f"{name} {argument} {number}".encode()) >= share * 2**32:
                    continue
                wrong, ended = None, ("impossible", "")
                with suppress(Exception):
                    wrong = change.make()
                if wrong is not None:
                    ended = outcome_of(partial(function, **given | {argument: wrong}), expected, limit)
                yield Trial(name, argument, change.input, change.name, *ended)


def counts(tried: list[Trial]) -> pd.DataFrame:
    """Outcomes by input and change, with a function of each outcome that is not clean."""
    table = pd.DataFrame(
        [each._replace(said=ascii(each.said)) for each in tried]
    )  # half a letter is no text of a table
    by = ["input", "change"]
    outcomes = pd.crosstab([table[name] for name in by], table["outcome"]).reindex(columns=OUTCOMES, fill_value=0)
    unclean = table[~table["outcome"].isin(CLEAN)].drop_duplicates(by).set_index(by)
    return outcomes.assign(such_as=unclean["function"] + "(" + unclean["argument"] + "): " + unclean["said"].str[:80])


def main() -> None:
    """Try what the command line asks for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--inputs", nargs="+", choices=INPUTS, default=INPUTS)
    parser.add_argument("--functions", nargs="+", choices=NAMES, default=[name for name in NAMES if name not in FULL])
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--limit", type=float, default=20.0, help="seconds of the processor for a call")
    parser.add_argument("--out", type=Path, default=RESULTS / "mutations.csv")
    asked = parser.parse_args()
    tried = []
    with tempfile.TemporaryDirectory() as folder:
        made = Made(folder=Path(folder), random_embedding=random_vectors, encoder=random_text_vectors)
        for trial in trials(made, asked.functions, tuple(asked.inputs), asked.share, asked.limit):
            tried.append(trial)
            plt.close("all")
            if trial.outcome not in CLEAN:
                print(*trial, sep=" | ", flush=True)
    table = counts(tried)
    table.to_csv(asked.out)
    print(table[list(OUTCOMES)].sum().to_string(), file=sys.stderr)


if __name__ == "__main__":
    main()
