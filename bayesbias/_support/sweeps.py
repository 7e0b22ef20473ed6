"""``sweep``: one function for many settings, whose results stay in a folder."""

from __future__ import annotations

import inspect
import pickle
import sys
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, as_completed
from contextlib import suppress
from functools import lru_cache, partial
from hashlib import file_digest
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from types import CodeType
from typing import Any

from bayesbias._support.files import made_folder, whole_file
from bayesbias._support.progress import progress
from bayesbias._support.threads import one_thread
from bayesbias.errors import InputError, listed, many, shown


def sweep(
    function: Callable[..., Any],
    settings: Mapping[Any, Mapping[str, Any]] | Sequence[Mapping[str, Any]],
    folder: str | Path,
    executor: Executor | None = None,
) -> dict[Hashable, Any]:
    """Call a function once for each setting; a sweep that was stopped goes on where it was.

    Each result is a file of the folder, there whole or not at all: a pickle, so give a folder that nobody else writes
    to. Its name is a hash of the function (its code and the values that it holds), of the setting (a file that it names
    counts by its name and content) and of the version of this package. What is there is not computed again.

    Parameters
    ----------
    function
        What is called. Other processes must be able to import it: put it in a file of its own, not in a notebook.
        Functions and constants of your own modules that it uses are not part of the hash.
    settings
        Name to keyword arguments; or a list of keyword arguments, whose names are then 0, 1, ... Names and files serve
        best: an object that was used meanwhile may count as another one.
    folder
        Where results are kept; it is made where it is absent.
    executor
        Of ``concurrent.futures``, such as a ``ProcessPoolExecutor``, or Dask's ``client.get_executor()``. By default
        calls are made one after another. Each call has one thread of numeric libraries, so that its bits do not depend
        on where it is made.

    Returns
    -------
    dict
        Name to result, in the order of the settings.

    Raises
    ------
    InputError
        Calls failed, which are listed; results of the others are in the folder.

    Examples
    --------
    >>> settings = {name: {"kv": name, "words": "weat7"} for name in ("google-news-slice", "glove-50d-slice")}
    >>> tables = bb.sweep(bb.distance_table, settings, "tables")
    >>> bb.pool(tables).table()["name"].head(2).tolist()
    ['google-news-slice', 'glove-50d-slice']
    """
    if not isinstance(executor, Executor | None):
        raise InputError(f"executor is {shown(executor)}: give one of concurrent.futures, or Dask's get_executor()")
    named, place = _named(function, settings), made_folder(folder)
    files = {name: place / f"{_hash(function, one)}.pickle" for name, one in named.items()}
    # equal settings are one call
    calls = {file: partial(_called, function, named[name]) for name, file in files.items() if not file.is_file()}
    stems = {file.stem for file in calls}
    for left in place.glob(".*-*"):
        if left.name[1:].partition("-")[0] in stems:
            left.unlink(missing_ok=True)  # of a process that was killed while it wrote
    failed: dict[Path, Exception] = {}
    with progress("sweeping", len(calls)) as done:
        for number, (file, result) in enumerate(_made(calls, executor)):
            try:
                content = result()
                with whole_file(file) as temporary:
                    temporary.write_bytes(content)
            except Exception as error:  # of whatever kind: it is listed, and the other calls go on
                failed[file] = error
            done(number + 1)
    if failed:
        reasons = [f"{name}: {failed[file]}" for name, file in files.items() if file in failed]
        raise InputError(
            f"{len(failed)} of {many(len(calls), 'call')} failed, {len(calls) - len(failed)} results were kept in "
            f"{place}, and the same sweep makes the rest: {listed(reasons, 5)}"
        ) from next(iter(failed.values()))
    return {name: _read(file) for name, file in files.items()}


def _named(function: Any, settings: Any) -> dict[Hashable, Mapping[str, Any]]:
    """Settings by name, which the function takes."""
    given = dict(enumerate(settings)) if isinstance(settings, list | tuple) else settings
    if not callable(function):
        raise InputError(f"function is {shown(function)}: give a function, such as bb.distance_table")
    if not isinstance(given, Mapping) or not given or not all(isinstance(one, Mapping) for one in given.values()):
        raise InputError(
            f"settings is {shown(settings)}: give a mapping of names to keyword arguments, such as "
            "{'google': {'kv': 'google-news-slice', 'words': 'weat7'}}, or a list of keyword arguments"
        )
    for name, one in given.items():
        try:
            with suppress(ValueError):  # of what is not written in Python no parameters are known
                inspect.signature(function).bind(**one)
        except TypeError as error:
            raise InputError(f"the setting {name} does not fit the function: {error}") from error
    return dict(given)


def _hash(function: Any, setting: Mapping[str, Any]) -> str:
    """The hash of a call, by the content of what it is made of."""
    import joblib  # type: ignore[import-untyped]

    try:
        return str(joblib.hash([version("bayesbias"), _content(function), _content(setting)]))
    except Exception as error:  # whatever the objects of the caller raise
        raise InputError(
            f"a setting of {listed(list(map(str, setting)))} holds what cannot be written to a file: "
            f"{type(error).__name__}"
        ) from error


def _content(value: Any) -> Any:
    """The parts that a value counts by: files by name and content, trees by arrays, functions by code and values."""
    import xarray as xr

    if isinstance(value, xr.DataTree):
        return {node.path: node.to_dataset(inherit=False).to_dict(data="array") for node in value.subtree}
    if isinstance(value, dict):
        return {key: _content(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_content(each) for each in value]
    if isinstance(value, partial):
        return [_content(value.func), _content(value.args), _content(value.keywords)]
    if inspect.ismethod(value):
        return [_content(value.__func__), _content(value.__self__)]
    if inspect.isfunction(value):
        cells = [cell.cell_contents for cell in value.__closure__ or ()]
        held = [value.__defaults__, value.__kwdefaults__, *cells]
        return [value.__qualname__, _code(value.__code__), _content(held)]
    with suppress(OSError, ValueError, RuntimeError):
        if isinstance(value, str | Path) and (path := Path(value).expanduser()).is_file():
            stat = path.stat()
            return [str(value), _digest(path, stat.st_size, stat.st_mtime_ns)]
    return value


def _code(code: CodeType) -> list[Any]:
    """The code of a function, wherever it stands."""
    return [
        code.co_code,
        code.co_names,
        [_code(each) if isinstance(each, CodeType) else each for each in code.co_consts],
    ]


@lru_cache
def _digest(path: Path, size: int, changed: int) -> str:
    """The hash of a file of a size and a time of change."""
    with path.open("rb") as stream:
        return file_digest(stream, "sha256").hexdigest()


def _called(function: Callable[..., Any], setting: Mapping[str, Any]) -> bytes:
    content = BytesIO()
    try:
        with one_thread():
            _ByValue(content).dump(function(**setting))
    except (Exception, SystemExit) as error:  # those of some libraries do not reach another process whole
        raise InputError(f"{type(error).__name__}: {error}") from error
    return content.getvalue()


class _ByValue(pickle._Pickler):
    """Writes equal strings as one: which of them are one object depends on what a process did before."""

    def save(self, obj: Any, save_persistent_id: bool = True) -> None:
        if type(obj) is str:
            obj = sys.intern(obj)
        super().save(obj, save_persistent_id)  # type: ignore[misc]


def _made(
    calls: Mapping[Path, Callable[[], bytes]], executor: Executor | None
) -> Iterator[tuple[Path, Callable[[], bytes]]]:
    """Each file as its call is done, with what gives its content or raises its error."""
    if executor is None:
        yield from calls.items()
        return
    futures: dict[Future[bytes], Path] = {}
    try:
        for file, call in calls.items():
            try:
                future = executor.submit(call)
            except Exception as error:  # such as that of a pool of which a process died
                future = Future()
                future.set_exception(error)
            futures[future] = file
        for future in as_completed(futures):
            yield futures[future], future.result
    finally:
        for future in futures:
            future.cancel()


def _read(file: Path) -> Any:
    try:
        return pickle.loads(file.read_bytes())  # noqa: S301  # which a sweep wrote
    except Exception as error:  # whatever the objects in it raise
        raise InputError(f"{file} cannot be read, remove it to compute it again: {error}") from error
