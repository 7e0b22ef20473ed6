"""Many fits into one folder: embeddings, word lists, models, debiasing methods and seeds, on processes or Dask."""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import file_digest, sha256
from itertools import product
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd
import xarray as xr
from pydantic import Field

from bayesbias._checks import flag, whole_number
from bayesbias._executors import Pools, executors, one_thread, workers_asked
from bayesbias._files import (
    Document,
    check,
    from_json,
    home_folder,
    read_text,
    read_toml,
    to_json,
    whole_file,
    write_text,
)
from bayesbias._progress import progress
from bayesbias._results import Result
from bayesbias.checks.convergence import diagnose
from bayesbias.comparison import contrasts
from bayesbias.comparison.contrast import beside_associated
from bayesbias.debiasing import debias
from bayesbias.debiasing.registry import find_method
from bayesbias.distances import distance_table, read_distance_table
from bayesbias.embeddings import list_embeddings, load_embedding
from bayesbias.errors import InputError, listed, many
from bayesbias.models import fit, list_models, load_fit, save_fit
from bayesbias.models.fits import checked_draws
from bayesbias.models.results import Fit
from bayesbias.words import WHOLE, list_words

if TYPE_CHECKING:
    from distributed import Client
    from gensim.models import KeyedVectors

MANIFEST, CONTRASTS, FITS, RECORDS = "manifest.json", "contrasts.parquet", "fits", "records"
"""Files and folders of a sweep."""
NONE = "none"
"""A debiasing method that leaves an embedding as it is."""
MOST_DEATHS = 3
"""How often a fit's worker process may die, while it makes no other fit, before the fit is recorded as failed."""
TURNS = Lock()
"""Threads of one process make fits in turn: warnings, which become notes, are caught for a whole process."""
SEED = "seed"
SETTINGS = ["embedding", "words", "table", "debiasing", "model", SEED]
"""What distinguishes one fit of a sweep from the others."""
HASHED = ("fit", "status", "reason", "content", "faults", "contrasts")
"""What of a record counts as its result. Bytes of a file do not: where HDF5 puts its headers depends on the process."""
LABELS, FIGURES = ["contrast", "protected_word"], ["mean", "sd", "low", "high", "p_closer"]
"""Columns of a contrast: what it is of, and its numbers."""


class SweepPlan(Document):
    """What a sweep fits: every embedding with every word list and debiasing method, and every table of distances.

    Attributes
    ----------
    embeddings, words
        Bundled names, or paths; ``*`` stands for any characters of a file's name.
    tables
        Files of distance tables, in place of or beside embeddings.
    models, seeds
        Each is fitted to each table.
    debiasing
        ``"none"``, the name of a method of :func:`debias`, or a mapping with ``method`` and its options.
    engine, draws, chains, adjust
        As :func:`fit` takes them.
    case
        As :func:`distance_table` takes it.
    population
        As :func:`contrasts` takes it.
    save
        Whether each fit is written as NetCDF; contrasts always are.
    """

    embeddings: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    models: tuple[str, ...] = Field(default=("auto",), min_length=1)
    debiasing: tuple[str | dict[str, Any], ...] = Field(default=(NONE,), min_length=1)
    seeds: tuple[int, ...] = Field(default=(0,), min_length=1)
    engine: str = "auto"
    draws: int = 4000
    chains: int = 4
    adjust: str | None = None
    case: str = "as-is"
    population: str = "given"
    save: bool = True


@dataclass(frozen=True)
class Task:
    """One fit.

    Attributes
    ----------
    name
        The hash of its settings and of the content of its files.
    settings
        What distinguishes it from the others (:data:`SETTINGS`); nothing for what does not apply.
    options
        What it shares with the others.
    files
        Path to size, time of change in nanoseconds and hash of each file that it reads.
    """

    name: str
    settings: Mapping[str, Any]
    options: Mapping[str, Any]
    files: Mapping[str, tuple[int, int, str]]


@dataclass(frozen=True, repr=False)
class Sweep(Result):
    """A finished sweep.

    Attributes
    ----------
    folder
        Where it is.
    fits
        One row a fit: ``fit``, the settings, ``status`` (done, failed), ``reason``, ``faults`` (of :func:`diagnose`),
        ``notes``, ``seconds``.
    contrasts
        One row for each contrast of each fit's whole list (``protected_word`` is missing) and of each protected word.
    hash
        Of all results: two sweeps of one plan agree in it to the last bit, however many workers made them.
    """

    notes: ClassVar[tuple[str, ...]] = ()

    folder: Path
    fits: pd.DataFrame
    contrasts: pd.DataFrame
    hash: str
    _kept: bool = field(default=True, repr=False)

    def findings(self) -> list[str]:
        """The result in sentences, without its notes."""
        failed = self.fits[self.fits["status"] == "failed"]
        doubted = self.fits[self.fits["faults"] != ""]
        done = len(self.fits) - len(failed)
        sentence = f"{many(len(self.fits), 'fit')} in {self.folder}: {done:,} done, {len(failed):,} failed."
        if len(doubted):
            sentence += f" {len(doubted):,} of them have faults, such as: {doubted['faults'].iloc[0]}."
        for reason, count in failed["reason"].value_counts().head(3).items():
            sentence += f" {count:,} failed because: {reason}."
        return [f"{sentence} Hash of all results: {self.hash[:16]}."]

    def table(self) -> pd.DataFrame:
        """The contrasts of whole lists."""
        return self.contrasts[self.contrasts["protected_word"] == WHOLE].reset_index(drop=True)

    def load(self, name: str) -> xr.DataTree:
        """A fit, by its name in the column ``fit``."""
        done = set(self.fits.loc[self.fits["status"] == "done", "fit"])
        if not isinstance(name, str) or name not in done or not self._kept:
            reason = "no fit of that name is done" if self._kept else "the plan does not save fits"
            raise InputError(f"{name!r} cannot be loaded: {reason}; names are in the column 'fit' of .fits")
        return load_fit(self.folder / FITS / f"{name}.nc")


def sweep(
    plan: Mapping[str, Any] | str | Path,
    out: str | Path,
    executor: str | Executor | Client = "processes",
    workers: int | None = None,
    retry: bool = False,
) -> Sweep:
    """Fit every combination of a plan, into one folder; a sweep that was stopped goes on where it was.

    Parameters
    ----------
    plan
        A TOML file, or a mapping, with the fields of :class:`SweepPlan`. Paths are relative to the TOML file.
    out
        A folder: ``fits/<name>.nc`` and ``records/<name>.json`` for each fit, ``contrasts.parquet`` of all, and
        ``manifest.json`` with the plan, the hashes of its files, and the hash of all results. Every file is there whole
        or not at all. A fit that is finished is not made again.
    executor
        ``"processes"`` (of this machine, each with one thread; a script needs the usual
        ``if __name__ == "__main__":``), ``"serial"``, the address of a Dask scheduler (``"tcp://host:8786"``, which
        needs the extra ``distributed`` and a folder that all machines see), a ``distributed.Client``, or an executor of
        ``concurrent.futures`` (threads make fits in turn).
    workers
        Processes; by default one for each processor.
    retry
        Make fits again that failed. By default their reason stays on record.

    Returns
    -------
    Sweep
        ``fits``, ``contrasts``, ``hash``; ``load(name)`` gives a fit.

    Raises
    ------
    InputError
        A plan with unknown fields, names or files; a folder that holds another plan or other content; a scheduler that
        does not answer. What goes wrong in a single fit is recorded as its reason, and the sweep goes on.
    OSError
        The disk is full or the folder cannot be written; what is finished stays.

    Examples
    --------
    >>> plan = {"embeddings": ["google-news-slice"], "words": ["weat7"], "models": ["related"], "draws": 400}
    >>> found = bb.sweep(plan, "sweep", executor="serial")
    >>> found.fits["status"].tolist()
    ['done']
    >>> found.table()[["contrast", "mean"]].round(2).head(2)
                     contrast  mean
    0  associated - different -0.01
    1      associated - human -0.02
    """
    flag(retry, "retry")
    workers = workers_asked(workers)
    checked, base, where = _read_plan(plan)
    tasks = _tasks(checked, base, where)
    folder = home_folder(out)
    _prepare(folder, checked, tasks)
    with ExitStack() as stack:
        pools = executors(executor, workers, stack)
        pending = [task for task in tasks if not _finished(folder, task, checked.save, retry)]
        for task in pending:  # a record that is there from now on is of this run
            (folder / RECORDS / f"{task.name}.json").unlink(missing_ok=True)
        if pending:
            at_once = {"processes": 2 * workers, "serial": 1} if isinstance(executor, str) else {}
            _run(pending, folder, pools, at_once.get(str(executor), len(pending)))
    return _collected(folder, checked, tasks)


def _read_plan(plan: Mapping[str, Any] | str | Path) -> tuple[SweepPlan, Path, str]:
    """The plan, the folder that its paths are relative to, and what messages call it."""
    if isinstance(plan, Mapping):
        return check(SweepPlan, dict(plan), "the plan"), Path.cwd(), "the plan"
    if not isinstance(plan, str | Path):
        raise InputError(f"plan is {type(plan).__name__}: give a TOML file or a mapping")
    file = home_folder(plan)
    return check(SweepPlan, read_toml(file), str(file)), file.resolve().parent, str(file)


def _tasks(plan: SweepPlan, base: Path, where: str) -> list[Task]:
    """Every fit of a plan, those of one embedding together."""
    if bool(plan.embeddings) != bool(plan.words) or not (plan.embeddings or plan.tables):
        raise InputError(f"{where}: give embeddings and words, or tables, or both")
    checked_draws(plan.draws, plan.chains)
    for seed in plan.seeds:
        whole_number(seed, "a seed", least=0, most=None)
    bundled = {
        "embeddings": set(list_embeddings()["name"]),
        "words": set(list_words()["name"]),
        "models": {"auto", *list_models()["name"]},
        "tables": set[str](),
    }
    resolved = {kind: _resolved(getattr(plan, kind), base, names, kind, where) for kind, names in bundled.items()}
    methods = [_method(each, base, bundled["words"]) for each in plan.debiasing]
    options = plan.model_dump(include={"engine", "draws", "chains", "adjust", "case", "population", "save"})
    chosen: list[dict[str, Any]] = [
        {"embedding": embedding, "words": words, "debiasing": method}
        for embedding, method, words in product(resolved["embeddings"], methods, resolved["words"])
    ]
    chosen += [{"table": table} for table in resolved["tables"]]
    known: dict[str, tuple[int, int, str]] = {}
    tasks = []
    for settings, model, seed in product(chosen, resolved["models"], plan.seeds):
        full = settings | {"model": model, "seed": seed}
        method = full.get("debiasing")
        values = [*full.values(), *(method.values() if isinstance(method, dict) else ())]
        files = [value for value in values if isinstance(value, str) and Path(value).is_absolute()]
        for file in files:
            if file not in known:
                known[file] = _state(Path(file))
        named = _by_content(full, {file: known[file][2] for file in files})
        name = sha256(_json({**named, **options}).encode()).hexdigest()[:20]
        tasks.append(Task(name, {**dict.fromkeys(SETTINGS), **full}, options, {file: known[file] for file in files}))
    twice = [name for name, count in Counter(task.name for task in tasks).items() if count > 1]
    if twice:
        repeated = next(task for task in tasks if task.name == twice[0])
        raise InputError(
            f"{where}: one fit is asked for twice (files of the same content count as one): {_settings_text(repeated)}"
        )
    return tasks


def _resolved(entries: Sequence[str], base: Path, names: set[str], kind: str, where: str) -> list[str]:
    """Bundled names as they are, files as absolute paths."""
    resolved: list[str] = []
    for each in entries:
        path = base / home_folder(each)
        if each in names:
            resolved.append(each)
        elif "*" in path.name:
            files = sorted(str(file.resolve()) for file in path.parent.glob(path.name) if file.is_file())
            if not files:
                raise InputError(f"{where}: no file fits {each!r} in {kind}")
            resolved += files
        elif path.is_file():
            resolved.append(str(path.resolve()))
        else:
            valid = f", nor one of {listed(sorted(names), 6)}" if names else ""
            raise InputError(f"{where}: {each!r} in {kind} is no file{valid}")
    return resolved


def _by_content(value: Any, hashes: Mapping[str, str]) -> Any:
    """Settings with the hash of a file in place of its path."""
    if isinstance(value, dict):
        return {key: _by_content(each, hashes) for key, each in value.items()}
    return hashes.get(value, value) if isinstance(value, str) else value


def _method(method: str | dict[str, Any], base: Path, names: set[str]) -> str | dict[str, Any]:
    """A method as it is given; files that its options name, and that are no bundled lists, as absolute paths."""
    name = method if isinstance(method, str) else method.get("method")
    if not isinstance(name, str):
        raise InputError(f"debiasing holds {method}: give a name, or a table with 'method' and its options")
    if name != NONE:
        find_method(name)
    if isinstance(method, str):
        return method
    words = {key: each for key, each in method.items() if isinstance(each, str) and each not in names | {name}}
    files = {key: base / home_folder(each) for key, each in words.items()}
    return method | {key: str(file.resolve()) for key, file in files.items() if file.is_file()}


def _state(file: Path) -> tuple[int, int, str]:
    """Size, time of change and hash of a file."""
    try:
        with file.open("rb") as content:
            known = os.fstat(content.fileno())
            return known.st_size, known.st_mtime_ns, file_digest(content, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror or error}") from error


def _json(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)


def _settings_text(task: Task) -> str:
    return ", ".join(f"{key} {value}" for key, value in task.settings.items() if value is not None)


def _prepare(folder: Path, plan: SweepPlan, tasks: Sequence[Task]) -> None:
    """The folder with its manifest; that of another plan is refused."""
    wanted = from_json(_json({"plan": plan.model_dump(), "fits": {task.name: task.settings for task in tasks}}))
    manifest = folder / MANIFEST
    if manifest.is_file():
        try:
            recorded = from_json(read_text(manifest))
            before, fits = recorded["plan"], recorded["fits"]
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"{manifest} is no manifest of a sweep: {error}") from error
        changed = [key for key in wanted["plan"] if before.get(key) != wanted["plan"][key]]
        if changed:
            raise InputError(
                f"{folder} holds the sweep of another plan, which differs in {', '.join(changed)}: give another folder"
            )
        if set(fits) != set(wanted["fits"]):
            raise InputError(
                f"the files of the plan have changed since the sweep in {folder} began, or others are there now: give "
                "another folder, or put the files back"
            )
    elif folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder} is not empty and holds no sweep: give another folder")
    for part in (FITS, RECORDS):
        (folder / part).mkdir(parents=True, exist_ok=True)
        for left in (folder / part).glob(".*"):  # of a process that was killed
            left.unlink(missing_ok=True)
    if not manifest.is_file():
        write_text(manifest, to_json(wanted, indent=1))


def _finished(folder: Path, task: Task, saved: bool, retry: bool) -> bool:
    """Whether a fit is on record, and its file is there as it was written."""
    record = _record(folder, task.name)
    if record is None or (retry and record["status"] == "failed"):
        return False
    if record["status"] == "failed" or not saved:
        return True
    file = folder / FITS / f"{task.name}.nc"
    return file.is_file() and _state(file)[2] == record["sha256"]


def _record(folder: Path, name: str) -> dict[str, Any] | None:
    """The record of a fit; None where there is none, or it is not whole."""
    try:
        record = from_json((folder / RECORDS / f"{name}.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    whole = isinstance(record, dict) and record.get("status") in ("done", "failed") and record.keys() >= set(HASHED)
    return record if whole else None


def _run_fit(task: Task, folder: str) -> str:
    """Make a fit and write it, and its record last; the name of the fit.

    What goes wrong in the fit is its record; what goes wrong in writing is raised.
    """
    begin = time.perf_counter()
    record = _new_record(task, "done")
    post, rows = None, pd.DataFrame(columns=LABELS + FIGURES)
    with TURNS, warnings.catch_warnings(record=True) as caught, one_thread():
        warnings.simplefilter("always")
        try:
            _refuse_changed(task)
            post = _fitted(task)
            _refuse_changed(task)  # nor while the fit read them
            rows = _contrast_rows(post, str(task.options["population"]))
            record["faults"] = list(diagnose(post).faults)
        except Exception as error:  # a record holds whatever went wrong
            message = str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
            record |= {"status": "failed", "reason": message}
    record["notes"] = sorted({str(each.message) for each in caught if issubclass(each.category, UserWarning)})
    if post is not None and record["status"] == "done" and task.options["save"]:
        file = Path(folder) / FITS / f"{task.name}.nc"
        with _no_dask():
            save_fit(post, file)
        record |= {"sha256": _state(file)[2], "content": _content(post)}
    record["contrasts"] = _plain_values(rows)
    record["seconds"] = round(time.perf_counter() - begin, 3)
    _write_record(Path(folder), record)
    return task.name


def _content(post: xr.DataTree) -> str:
    """The hash of names, dimensions, attributes and values of a fit, in their order."""
    digest = sha256()
    for node in post.subtree:
        digest.update(_json([node.path, node.attrs]).encode())
        for name, variable in node.variables.items():
            values = np.ascontiguousarray(variable.values)
            plain = values.dtype.kind in "biuf"
            digest.update(_json([name, variable.dims, values.shape, str(values.dtype), variable.attrs]).encode())
            digest.update(values.tobytes() if plain else _json(values.tolist()).encode())
    return digest.hexdigest()


@contextmanager
def _no_dask() -> Iterator[None]:
    """Let xarray write within a Dask worker without a lock over all workers: each file is written by one."""
    if "dask" not in sys.modules:
        yield
        return
    import dask

    with dask.config.set(scheduler="synchronous"):
        yield


def _plain_values(rows: pd.DataFrame) -> list[list[Any]]:
    """Rows as plain values that JSON keeps to the last bit."""
    return [[None if value is pd.NA else value for value in row] for row in rows.astype(object).to_numpy().tolist()]


def _refuse_changed(task: Task) -> None:
    """Refuse files that are not as they were when the sweep began."""
    for file, (size, changed, _) in task.files.items():
        try:
            now = Path(file).stat()
        except OSError as error:
            raise InputError(f"{file} cannot be read: {error.strerror or error}") from error
        if (now.st_size, now.st_mtime_ns) != (size, changed):
            raise InputError(f"{file} changed while the sweep ran")


def _fitted(task: Task) -> xr.DataTree:
    """The fit of a table that is read, or measured on an embedding."""
    settings, options = task.settings, task.options
    if settings["table"] is None:
        name = settings["embedding"]
        kv = _embedding(name, _json(settings["debiasing"]), task.files.get(name))
        table = distance_table(kv, settings["words"], case=options["case"])
    else:
        table = read_distance_table(settings["table"])
    how = {name: options[name] for name in ("engine", "draws", "chains", "adjust")}
    return fit(table, settings["model"], seed=settings["seed"], **how)


@lru_cache(1)
def _embedding(name: str, debiasing: str, state: tuple[int, int, str] | None) -> KeyedVectors:
    """An embedding, debiased; the last one stays loaded, until its file has another ``state``."""
    kv = load_embedding(name)
    method = from_json(debiasing)
    if method == NONE:
        return kv
    options = {"method": method} if isinstance(method, str) else method
    return debias(kv, **options)


def _contrast_rows(post: xr.DataTree, population: str) -> pd.DataFrame:
    """Every contrast of a fit with associated words or, where it has none, with its first connection."""
    names = post["constant_data"]["connection"].to_numpy().tolist()
    pairs = [("associated", other) for other in beside_associated(Fit(post))]
    pairs = pairs or [(names[0], name) for name in names[1:]]
    columns = LABELS + FIGURES
    pieces = [
        contrasts(post, *pair, population=population).assign(contrast=" - ".join(pair))[columns] for pair in pairs
    ]
    return pd.concat(pieces, ignore_index=True) if pieces else pd.DataFrame(columns=columns)


def _run(tasks: Sequence[Task], folder: Path, pools: Pools, at_once: int) -> None:
    """Make fits, so many of them given out at once.

    When a worker dies, it is not known which of the fits given out it was: they are made again one at a time, and one
    that ends its worker :data:`MOST_DEATHS` times by itself is recorded as failed.

    Raises
    ------
    OSError
        A result cannot be written.
    InputError
        The executor takes no work any more.
    """
    waiting, suspects, deaths, finished = deque(tasks), deque[Task](), Counter[str](), 0
    idle = 0  # pools in a row that broke before any fit was given out
    with progress("fitting", len(tasks)) as done:
        while waiting or suspects:
            running: dict[Future[str], Task] = {}
            try:
                with pools() as pool:
                    while waiting or suspects or running:
                        queue, most = (suspects, 1) if suspects else (waiting, at_once)
                        while queue and len(running) < most:
                            running[pool.submit(_run_fit, queue[0], str(folder.resolve()))] = queue[0]
                            queue.popleft()
                        for future in wait(running, return_when=FIRST_COMPLETED).done:
                            _result(future, running[future], folder)
                            del running[future]
                            finished, idle = finished + 1, 0
                            done(finished)
            except BrokenExecutor as error:
                idle += not running
                if idle > 1:
                    raise InputError(f"the executor takes no work any more, since a worker died: {error}") from error
                alone = len(running) == 1
                for task in running.values():
                    deaths[task.name] += alone
                    if _record(folder, task.name) is not None:
                        finished += 1
                    elif deaths[task.name] < MOST_DEATHS:
                        suspects.append(task)
                    else:
                        _failed(
                            folder, task, f"its worker process died {MOST_DEATHS} times, perhaps for memory: {error}"
                        )
                        finished += 1
                    done(finished)


def _result(future: Future[str], task: Task, folder: Path) -> None:
    """Wait for a fit; one that Dask gave up, since its workers died, is recorded as failed."""
    try:
        future.result()
    except Exception as error:
        if type(error).__name__ != "KilledWorker":
            raise
        _failed(folder, task, f"its workers died: {error}")


def _failed(folder: Path, task: Task, reason: str) -> None:
    _write_record(folder, _new_record(task, "failed", reason))


def _new_record(task: Task, status: str, reason: str = "") -> dict[str, Any]:
    """The record of a fit without results."""
    facts: dict[str, Any] = {"fit": task.name, "status": status, "reason": reason, "sha256": "", "content": ""}
    return facts | {"faults": [], "notes": [], "contrasts": [], "seconds": 0.0}


def _write_record(folder: Path, record: Mapping[str, Any]) -> None:
    write_text(folder / RECORDS / f"{record['fit']}.json", to_json(record))


def _collected(folder: Path, plan: SweepPlan, tasks: Sequence[Task]) -> Sweep:
    """All records as tables, in the order of the plan, written beside them."""
    digest, fits, rows = sha256(), [], []
    for task in tasks:
        record = _record(folder, task.name)
        if record is None:
            raise InputError(f"the record of the fit {task.name} is gone from {folder}: run the sweep again")
        digest.update(_json({key: record[key] for key in HASHED}).encode())
        settings = {key: _json(value) if isinstance(value, dict) else value for key, value in task.settings.items()}
        details = {"faults": "; ".join(record["faults"]), "notes": "; ".join(record["notes"])}
        details["seconds"] = record["seconds"]
        fits.append({"fit": task.name, **settings, "status": record["status"], "reason": record["reason"], **details})
        rows += [[task.name, *settings.values(), *row] for row in record["contrasts"]]
    table = pd.DataFrame(rows, columns=["fit", *SETTINGS, *LABELS, *FIGURES])
    text = [name for name in table if name not in {SEED, *FIGURES}]
    table = table.astype(dict.fromkeys(text, "string") | dict.fromkeys(FIGURES, "float64"))
    with whole_file(folder / CONTRASTS) as temporary:
        table.to_parquet(temporary, index=False)
    manifest = from_json(read_text(folder / MANIFEST)) | {"hash": digest.hexdigest(), "finished": len(tasks)}
    write_text(folder / MANIFEST, to_json(manifest, indent=1))
    return Sweep(folder, pd.DataFrame(fits), table, digest.hexdigest(), plan.save)
