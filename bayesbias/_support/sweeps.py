"""``sweep``: one function for many settings, whose results stay in a folder."""

from __future__ import annotations

import inspect
import os
import pickle
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, as_completed
from functools import lru_cache, partial
from hashlib import file_digest
from importlib.metadata import version
from pathlib import Path
from types import CodeType
from typing import Any

from bayesbias._support.files import home_folder, whole_file
from bayesbias._support.progress import one_thread, progress
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
    import joblib  # type: ignore[import-untyped]

    named: Any = dict(enumerate(settings)) if isinstance(settings, Sequence) else settings
    if not isinstance(named, Mapping) or not all(isinstance(one, Mapping) for one in named.values()):
        raise InputError(f"settings is {shown(settings)}: give a mapping of names to keyword arguments, or a list")
    place = home_folder(folder)
    place.mkdir(parents=True, exist_ok=True)
    parts = [version("bayesbias"), _content(function)]
    files = {name: place / f"{joblib.hash([*parts, _content(dict(one))])}.pickle" for name, one in named.items()}
    # equal settings are one call
    calls = {file: partial(_called, function, named[name]) for name, file in files.items() if not file.is_file()}
    failed: dict[Path, Exception] = {}
    with progress("sweeping", len(calls)) as done:
        for number, (file, future) in enumerate(_made(calls, executor)):
            try:
                content = future.result()
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
    results: dict[Hashable, Any] = {}
    for name, file in files.items():
        try:
            results[name] = pickle.loads(file.read_bytes())  # noqa: S301  # which a sweep wrote
        except Exception as error:  # whatever the objects in it raise
            raise InputError(f"{file} cannot be read, remove it to compute it again: {error}") from error
    return results


def _content(value: Any) -> Any:
    """The parts that a value counts by: files by name and content, functions by code and the values that they hold."""
    if isinstance(value, dict):
        return {key: _content(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_content(each) for each in value]
    if inspect.isfunction(value):
        cells = [cell.cell_contents for cell in value.__closure__ or ()]
        held = _content([value.__code__, value.__defaults__, value.__kwdefaults__, *cells])
        return [value.__qualname__, held]
    if isinstance(value, CodeType):  # wherever it stands
        return [value.co_code, value.co_names, _content(value.co_consts)]
    if isinstance(value, str | Path) and os.path.isfile(value):  # noqa: PTH113  # a text may be too long for a path
        path = Path(value)
        return [str(value), _digest(path, path.stat().st_size, path.stat().st_mtime_ns)]
    return value


@lru_cache
def _digest(path: Path, size: int, changed: int) -> str:
    """The hash of a file of a size and a time of change."""
    with path.open("rb") as stream:
        return file_digest(stream, "sha256").hexdigest()


def _called(function: Callable[..., Any], setting: Mapping[str, Any]) -> bytes:
    try:
        with one_thread():
            return pickle.dumps(function(**setting))
    except (Exception, SystemExit) as error:  # those of some libraries do not reach another process whole
        raise InputError(f"{type(error).__name__}: {error}") from error


def _made(calls: Mapping[Path, Callable[[], bytes]], executor: Executor | None) -> Iterator[tuple[Path, Future[bytes]]]:
    """Each file with the future of its call, as these are done."""
    if executor is None:
        for file, call in calls.items():
            future: Future[bytes] = Future()
            try:
                future.set_result(call())
            except InputError as error:
                future.set_exception(error)
            yield file, future
        return
    futures = {executor.submit(call): file for file, call in calls.items()}
    try:
        for future in as_completed(futures):
            yield futures[future], future
    finally:
        for future in futures:
            future.cancel()
