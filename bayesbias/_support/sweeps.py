"""``sweep``: one function for many settings, whose results stay in a folder."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, as_completed
from contextlib import suppress
from functools import partial
from hashlib import file_digest
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from typing import Any

from bayesbias._support.files import home_folder, whole_file
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
    to. Its name is a hash of the function (its text and the values that it holds), of the setting (a file that an
    argument names counts by its content) and of the version of this package. What is there is not computed again.

    Parameters
    ----------
    function
        What is called. Other processes must be able to import it: put it in a file of its own, not in a notebook. What
        it calls in turn, in modules of your own, is not part of the hash.
    settings
        Name to keyword arguments; or a list of keyword arguments, whose names are then 0, 1, ...
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
        Calls failed, which are listed; the results of the others are in the folder.

    Examples
    --------
    >>> settings = {name: {"kv": name, "words": "weat7"} for name in ("google-news-slice", "glove-50d-slice")}
    >>> tables = bb.sweep(bb.distance_table, settings, "tables")
    >>> bb.pool(tables).table()["name"].tolist()
    ['google-news-slice', 'glove-50d-slice']
    """
    if not isinstance(executor, Executor | None):
        raise InputError(f"executor is {shown(executor)}: give one of concurrent.futures, or Dask's get_executor()")
    named, place = _named(function, settings), home_folder(folder)
    place.mkdir(parents=True, exist_ok=True)
    files = {name: place / f"{_hash(function, one)}.pickle" for name, one in named.items()}
    wanted = {file: name for name, file in files.items() if not file.is_file()}  # equal settings are one call
    calls = {file: partial(_called, function, named[name]) for file, name in wanted.items()}
    failed: dict[Hashable, Exception] = {}
    with progress("sweeping", len(calls)) as done:
        for number, (file, result) in enumerate(_made(calls, executor)):
            try:
                content = result()
            except Exception as error:  # of whatever kind: it is listed, and the other calls go on
                failed[wanted[file]] = error
            else:
                for left in place.glob(f".{file.stem}-*"):  # by a process that was killed while it wrote
                    left.unlink(missing_ok=True)
                with whole_file(file) as temporary:
                    temporary.write_bytes(content)
            done(number + 1)
    if failed:
        reasons = [f"{name}: {type(error).__name__}: {error}" for name, error in failed.items()]
        raise InputError(
            f"{len(failed)} of {many(len(calls), 'call')} failed, the others are kept in {place}: {listed(reasons, 5)}"
        ) from next(iter(failed.values()))
    return {name: _read(file) for name, file in files.items()}


def _named(function: Callable[..., Any], settings: Any) -> dict[Hashable, Mapping[str, Any]]:
    """Settings by name, which the function takes."""
    given = dict(enumerate(settings)) if isinstance(settings, list | tuple) else settings
    if not isinstance(given, Mapping) or not given or not all(isinstance(one, Mapping) for one in given.values()):
        raise InputError(
            f"settings is {shown(settings)}: give a mapping of names to keyword arguments, such as "
            "{'google': {'kv': 'google-news-slice', 'words': 'weat7'}}, or a list of keyword arguments"
        )
    for name, one in given.items():
        try:
            inspect.signature(function).bind(**one)
        except TypeError as error:
            raise InputError(f"the setting {name} does not fit the function: {error}") from error
    return dict(given)


def _hash(function: Any, setting: Mapping[str, Any]) -> str:
    """The hash of a call, by the content of what it is made of."""
    import joblib  # type: ignore[import-untyped]

    held: list[Any] = []
    while isinstance(function, partial):
        held += [function.args, function.keywords]
        function = function.func
    try:
        text: Any = inspect.getsource(function)
    except (OSError, TypeError):  # typed in at a prompt, or not in Python
        text = getattr(getattr(function, "__code__", None), "co_code", b"")
    held += [cell.cell_contents for cell in getattr(function, "__closure__", None) or ()]
    names = [getattr(function, name, None) for name in ("__qualname__", "__defaults__", "__kwdefaults__")]
    try:
        return str(joblib.hash([version("bayesbias"), names, text, held, {k: _content(v) for k, v in setting.items()}]))
    except Exception as error:  # whatever the objects of the caller raise
        raise InputError(f"the setting {shown(setting)} cannot be written to a file: {error}") from error


def _content(value: Any) -> Any:
    """The hash of a file, the arrays of a tree, or the value itself."""
    import xarray as xr

    if isinstance(value, xr.DataTree):
        return {node.path: node.to_dataset(inherit=False).to_dict(data="array") for node in value.subtree}
    with suppress(OSError, ValueError):
        if isinstance(value, str | Path) and Path(value).is_file():
            with Path(value).open("rb") as stream:
                return file_digest(stream, "sha256").hexdigest()
    return value


def _called(function: Callable[..., Any], setting: Mapping[str, Any]) -> bytes:
    content = BytesIO()
    with one_thread():
        _ByValue(content).dump(function(**setting))
    return content.getvalue()


class _ByValue(pickle._Pickler):
    """Writes equal strings as one: which of them are one object depends on what a process did before."""

    def save(self, obj: Any, save_persistent_id: bool = True) -> None:
        if type(obj) is str:
            obj = self.__dict__.setdefault("strings", {}).setdefault(obj, obj)
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
