"""Long work in a folder: its tasks, what is on record of each, and how they run on workers and are resumed."""

from __future__ import annotations

import json
import os
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from dataclasses import dataclass
from hashlib import file_digest
from pathlib import Path
from typing import Any

from bayesbias._executors import Pools
from bayesbias._files import Document, check, from_json, home_folder, read_text, read_toml, to_json, write_text
from bayesbias._progress import progress
from bayesbias.errors import InputError, listed

MANIFEST, RECORDS = "manifest.json", "records"  # file and folder of a run
HASHED = ("fit", "status", "reason", "content", "faults", "contrasts")
"""What of a record counts as its result. Bytes of a file do not: where HDF5 puts its headers depends on the process."""
MOST_DEATHS = 3
"""How often a task's worker process may die, while it makes no other task, before it is recorded as failed."""


@dataclass(frozen=True)
class Task:
    """One piece of work, such as a fit.

    Attributes
    ----------
    name
        The hash of its settings and of the content of its files.
    settings
        What distinguishes it from the others; nothing for what does not apply.
    options
        What it shares with the others.
    files
        Path to size, time of change in nanoseconds and hash of each file that it reads.
    """

    name: str
    settings: Mapping[str, Any]
    options: Mapping[str, Any]
    files: Mapping[str, tuple[int, int, str]]


def read_plan[D: Document](kind: type[D], plan: Mapping[str, Any] | str | Path) -> tuple[D, Path, str]:
    """A plan, the folder that its paths are relative to, and what messages call it."""
    if isinstance(plan, Mapping):
        return check(kind, dict(plan), "the plan"), Path.cwd(), "the plan"
    if not isinstance(plan, str | Path):
        raise InputError(f"plan is {type(plan).__name__}: give a TOML file or a mapping")
    file = home_folder(plan)
    return check(kind, read_toml(file), str(file)), file.resolve().parent, str(file)


def finished(folder: Path, task: Task, file: Path | None, retry: bool) -> bool:
    """Whether a task is on record, and the file that it writes, if any, is there as it was written."""
    record = record_of(folder, task.name)
    if record is None or (retry and record["status"] == "failed"):
        return False
    if record["status"] == "failed" or file is None:
        return True
    return file.is_file() and state_of(file)[2] == record["sha256"]


def resolved(entries: Sequence[str], base: Path, names: set[str], kind: str, where: str) -> list[str]:
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
            raise InputError(f"{where}: {each!r} in {kind} is no file in {path.parent}{valid}")
    return resolved


def by_content(value: Any, hashes: Mapping[str, str]) -> Any:
    """Settings with the hash of a file in place of its path."""
    if isinstance(value, dict):
        return {key: by_content(each, hashes) for key, each in value.items()}
    return hashes.get(value, value) if isinstance(value, str) else value


def state_of(file: Path) -> tuple[int, int, str]:
    """Size, time of change and hash of a file."""
    try:
        with file.open("rb") as content:
            known = os.fstat(content.fileno())
            return known.st_size, known.st_mtime_ns, file_digest(content, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror or error}") from error


def plain_json(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)


def prepare(folder: Path, plan: Mapping[str, Any], tasks: Sequence[Task], results: str, what: str = "sweep") -> None:
    """The folder with its manifest; that of another plan is refused. ``results`` is the folder that tasks write to."""
    wanted = from_json(plain_json({"plan": plan, "fits": {task.name: task.settings for task in tasks}}))
    manifest = folder / MANIFEST
    if manifest.is_file():
        try:
            recorded = from_json(read_text(manifest))
            before, fits = recorded["plan"], recorded["fits"]
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"{manifest} is no manifest of a {what}: {error}") from error
        changed = [key for key in wanted["plan"] if before.get(key) != wanted["plan"][key]]
        if changed:
            raise InputError(
                f"{folder} holds the {what} of another plan, which differs in {', '.join(changed)}: give another folder"
            )
        if set(fits) != set(wanted["fits"]):
            raise InputError(
                f"the files of the plan have changed since the {what} in {folder} began, or others are there now: give "
                "another folder, or put the files back"
            )
    elif folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder} is not empty and holds no {what}: give another folder")
    for part in (results, RECORDS):
        (folder / part).mkdir(parents=True, exist_ok=True)
        for left in (folder / part).glob(".*"):  # of a process that was killed
            left.unlink(missing_ok=True)
    if not manifest.is_file():
        write_text(manifest, to_json(wanted, indent=1))


def record_of(folder: Path, name: str) -> dict[str, Any] | None:
    """The record of a fit; None where there is none, or it is not whole."""
    try:
        record = from_json((folder / RECORDS / f"{name}.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    whole = isinstance(record, dict) and record.get("status") in ("done", "failed") and record.keys() >= set(HASHED)
    return record if whole else None


def refuse_changed(task: Task) -> None:
    """Refuse files that are not as they were when the sweep began."""
    for file, (size, changed, _) in task.files.items():
        try:
            now = Path(file).stat()
        except OSError as error:
            raise InputError(f"{file} cannot be read: {error.strerror or error}") from error
        if (now.st_size, now.st_mtime_ns) != (size, changed):
            raise InputError(f"{file} changed while the sweep ran")


def run(
    tasks: Sequence[Task],
    job: Callable[[Task, str], str],
    folder: Path,
    pools: Pools,
    at_once: int,
    what: str = "fitting",
) -> None:
    """Do tasks, so many of them given out at once; ``job`` writes the record of a task in a folder.

    When a worker dies, it is not known which of the tasks given out it was: they are done again one at a time, and one
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
    with progress(what, len(tasks)) as done:
        while waiting or suspects:
            running: dict[Future[str], Task] = {}
            try:
                with pools() as pool:
                    while waiting or suspects or running:
                        queue, most = (suspects, 1) if suspects else (waiting, at_once)
                        while queue and len(running) < most:
                            running[pool.submit(job, queue[0], str(folder.resolve()))] = queue[0]
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
                    if record_of(folder, task.name) is not None:
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
    write_record(folder, new_record(task, "failed", reason))


def new_record(task: Task, status: str, reason: str = "") -> dict[str, Any]:
    """The record of a fit without results."""
    facts: dict[str, Any] = {"fit": task.name, "status": status, "reason": reason, "sha256": "", "content": ""}
    return facts | {"faults": [], "notes": [], "contrasts": [], "seconds": 0.0}


def write_record(folder: Path, record: Mapping[str, Any]) -> None:
    write_text(folder / RECORDS / f"{record['fit']}.json", to_json(record))
