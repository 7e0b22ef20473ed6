"""Long work in a folder: its tasks, their records, and workers that run and resume them.

Processes are those of ``concurrent.futures``. Those of joblib 1.6 (loky 3.6) need no ``if __name__ == "__main__":``,
and kills and interrupts end as well with them; but one that grows by more than 300 MB, as by a larger embedding, is
ended with a warning and another one started, and where warnings are errors the run hangs. Each took 1.0 s of processor
time to start, in place of .35 s. ``joblib.Parallel`` takes no executor of ``concurrent.futures``.
"""

from __future__ import annotations

import json
import os
import pickle
import signal
import sys
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, ProcessPoolExecutor, wait
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from hashlib import file_digest, sha256
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait as wait_for
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesbias._support.arguments import whole_number
from bayesbias._support.files import Document, check, from_json, home_folder, read_text, read_toml, to_json, write_text
from bayesbias._support.progress import progress
from bayesbias.errors import InputError, install, listed, shown

if TYPE_CHECKING:
    from distributed import Client

type Pools = Callable[[], Any]  # a function to a context that gives an executor
type Work = Callable[[Task, str], None]  # it does a task and writes its record in a folder

MANIFEST, RECORDS = "manifest.json", "records"  # file and folder of a run
# what of a record counts as its result; bytes of a file do not: where HDF5 puts its headers depends on the process
HASHED = ("fit", "status", "reason", "content", "faults", "contrasts")
MOST_DEATHS = 3  # of a task's worker process, while it makes no other task, before it is recorded as failed


@dataclass(frozen=True)
class Task:
    """One piece of work, such as a fit."""

    name: str  # the hash of its settings and of the content of its files
    settings: Mapping[str, Any]  # what distinguishes it from the others; nothing for what does not apply
    options: Mapping[str, Any]  # what it shares with the others
    files: Mapping[str, tuple[int, int, str]]  # path to size, time of change in nanoseconds and hash of what it reads


def read_plan[D: Document](kind: type[D], plan: Mapping[str, Any] | str | Path) -> tuple[D, Path, str]:
    """A plan, the folder that its paths are relative to, and what messages call it."""
    if isinstance(plan, Mapping):
        return check(kind, dict(plan), "the plan"), Path.cwd(), "the plan"
    if not isinstance(plan, str | Path):
        raise InputError(f"plan is {type(plan).__name__}: give a TOML file or a mapping")
    file = home_folder(plan)
    return check(kind, read_toml(file), str(file)), file.resolve().parent, str(file)


def finished(folder: Path, task: Task, file: Path | None, retry: bool) -> bool:
    """True where a task is on record, and the file that it writes, if any, is there as it was written."""
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
    if isinstance(value, Mapping):
        return {key: by_content(each, hashes) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [by_content(each, hashes) for each in value]
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


def task_name(content: Mapping[str, Any]) -> str:
    """The name of a task, which is the hash of all that its result depends on."""
    return sha256(plain_json(content).encode()).hexdigest()[:20]


def prepare(folder: Path, plan: Mapping[str, Any], tasks: Sequence[Task], results: str, what: str = "sweep") -> None:
    """The folder with its manifest; that of another plan is refused. ``results`` is the folder that tasks write to."""
    wanted = from_json(plain_json({"plan": plan, "fits": {task.name: task.settings for task in tasks}}))
    manifest = folder / MANIFEST
    if manifest.is_file():
        try:
            held = from_json(read_text(manifest))
            before, fits = held["plan"], held["fits"]
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


def _record_file(folder: Path, name: str) -> Path:
    return folder / RECORDS / f"{name}.json"


def record_of(folder: Path, name: str) -> dict[str, Any] | None:
    """The record of a fit; None where there is none, or it is not whole."""
    try:
        record = from_json(_record_file(folder, name).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    whole = isinstance(record, dict) and record.get("status") in ("done", "failed") and record.keys() >= set(HASHED)
    return record if whole else None


@contextmanager
def recorded(task: Task) -> Iterator[dict[str, Any]]:
    """The record of a task while it is worked on in one thread: whatever goes wrong is the reason why it failed."""
    record = new_record(task, "done")
    with one_thread():
        try:
            _refuse_changed(task)
            yield record
            _refuse_changed(task)  # nor while the work read them
        except Exception as error:  # of whatever kind: it is recorded, and the other tasks go on
            reason = str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
            record |= {"status": "failed", "reason": reason}


def _refuse_changed(task: Task) -> None:
    """Refuse files that are not as they were when the sweep began."""
    for file, (size, changed, _) in task.files.items():
        try:
            now = Path(file).stat()
        except OSError as error:
            raise InputError(f"{file} cannot be read: {error.strerror or error}") from error
        if (now.st_size, now.st_mtime_ns) != (size, changed):
            raise InputError(f"{file} changed while the sweep ran")


class _Job:
    """Work on a task, which other processes take with the functions of a notebook or a script that it needs."""

    def __init__(self, work: Work) -> None:
        self._work = work

    def __call__(self, task: Task, folder: str) -> None:
        self._work(task, folder)

    def __reduce__(self) -> tuple[type[partial[None]], tuple[Callable[..., None], bytes]]:
        return partial, (_work_as_sent, self._content)

    @cached_property
    def _content(self) -> bytes:
        import cloudpickle  # type: ignore[import-untyped]

        try:
            content: bytes = cloudpickle.dumps(self._work)
        except Exception as error:  # whatever the objects that a function refers to raise
            raise InputError(
                f"a function of the plan refers to what no other process can have ({error}): make that in the "
                "function, or work in this process with executor='serial'"
            ) from error
        return content


def _work_as_sent(content: bytes, task: Task, folder: str) -> None:
    _read(content)(task, folder)


@lru_cache(maxsize=1)
def _read(content: bytes) -> Work:
    """Read work once in each process, which keeps what it made with a function, such as a debiased embedding."""
    work: Work = pickle.loads(content)  # noqa: S301  # which the main process wrote
    return work


def run(
    tasks: Sequence[Task], work: Work, folder: Path, executor: str | Executor | Client, workers: int, what: str
) -> None:
    """Do tasks, whose records the work writes.

    When a worker dies, it is not known which of the tasks given out it was: they are done again one at a time, and one
    that ends its worker :data:`MOST_DEATHS` times by itself is recorded as failed.
    """
    waiting, suspects, deaths, finished = deque(tasks), deque[Task](), Counter[str](), 0
    job, at_once = _Job(work), {"processes": 2 * workers, "serial": 1}.get(str(executor), len(tasks))
    idle = 0  # pools in a row that broke before any fit was given out
    with ExitStack() as stack, progress(what, len(tasks)) as done:
        pools = _executors(executor, workers, stack)
        while waiting or suspects:
            running: dict[Future[None], Task] = {}
            try:
                with pools() as pool:
                    while waiting or suspects or running:
                        queue, most = (suspects, 1) if suspects else (waiting, at_once)
                        while queue and len(running) < most:
                            # a record that is there from now on is of this run
                            _record_file(folder, queue[0].name).unlink(missing_ok=True)
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
                        reason = f"its worker process died {MOST_DEATHS} times, perhaps for memory: {error}"
                        write_record(folder, new_record(task, "failed", reason))
                        finished += 1
                    done(finished)


def _result(future: Future[None], task: Task, folder: Path) -> None:
    """Wait for a fit; one that Dask gave up, since its workers died, is recorded as failed."""
    try:
        future.result()
    except Exception as error:  # the class is Dask's, which need not be installed
        if type(error).__name__ != "KilledWorker":
            raise
        write_record(folder, new_record(task, "failed", f"its workers died: {error}"))


def new_record(task: Task, status: str, reason: str = "") -> dict[str, Any]:
    """The record of a fit without results."""
    facts: dict[str, Any] = {"fit": task.name, "status": status, "reason": reason, "sha256": "", "content": ""}
    return facts | {"faults": [], "notes": [], "contrasts": [], "seconds": 0.0}


def write_record(folder: Path, record: Mapping[str, Any]) -> None:
    write_text(_record_file(folder, record["fit"]), to_json(record))


PATIENCE = 15  # seconds that a scheduler has to answer
# variables that are 1 in processes of their own
ONE_THREAD = (*(f"{library}_NUM_THREADS" for library in ("OPENBLAS", "OMP", "MKL")), "PYTHON_CPU_COUNT")
ADDRESSES = ("tcp://", "tls://", "ucx://", "inproc://", "ws://", "wss://")
# threads of one process limit numeric libraries in turn: only the thread that sets a limit can lift it
LIMIT = threading.RLock()


@contextmanager
def one_thread() -> Iterator[None]:
    """Numeric libraries use one thread, so that bits do not depend on how many threads a machine or a worker has.

    With several threads a matrix product is cut into pieces by their number, and its sums are added in another order.
    """
    import scipy.linalg  # noqa: F401  # it brings a BLAS of its own, and only loaded libraries are limited

    with LIMIT:
        libraries = _libraries(len(sys.modules))
        with libraries.limit(limits=1):
            if any(library["num_threads"] != 1 for library in libraries.info()):
                raise InputError(
                    "another thread of this process limits the threads of numeric libraries (threadpoolctl), so that "
                    "they cannot be limited to 1 here: end that limit, or set it to 1"
                )
            yield


@lru_cache(maxsize=1)
def _libraries(modules: int) -> Any:
    """The numeric libraries of this process; a further one comes with further modules, whose number is given."""
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    return ThreadpoolController()


def workers_asked(workers: int | None) -> int:
    """Number of workers: that of the processors unless one is given."""
    cores = getattr(os, "process_cpu_count", os.cpu_count)() or 1
    return cores if workers is None else whole_number(workers, "workers", most=10_000)


def _executors(executor: str | Executor | Client, workers: int, stack: ExitStack) -> Pools:
    """Source of executors; a pool of processes is made anew when one of them dies."""
    named = executor if isinstance(executor, str) else ""
    if named == "processes":
        return lambda: _processes(workers)
    if named == "serial":
        return lambda: nullcontext(_Serial())
    if named.startswith(ADDRESSES):
        try:
            from distributed import Client
        except ImportError as error:
            raise InputError(f"a Dask scheduler needs the package distributed: {install('distributed')}") from error
        try:
            client = stack.enter_context(Client(named, timeout=PATIENCE))
        except Exception as error:  # time-outs and refusals of several libraries
            raise InputError(f"no Dask scheduler answers at {named} within {PATIENCE} s: {error}") from error
        return lambda: nullcontext(client.get_executor(pure=False))
    if isinstance(executor, Executor):
        return lambda: nullcontext(executor)
    if not isinstance(executor, str) and hasattr(executor, "get_executor"):
        return lambda: nullcontext(executor.get_executor(pure=False))
    raise InputError(
        f"executor is {shown(executor)}: valid are 'processes', 'serial', the address of a Dask scheduler such as "
        "'tcp://host:8786', a distributed.Client, or an executor of concurrent.futures"
    )


class _Serial(Executor):
    """Runs at once, in this process."""

    def submit[T](self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        future: Future[T] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # the future raises it, as those of other executors do
            future.set_exception(error)
        return future


@contextmanager
def _processes(workers: int) -> Iterator[Executor]:
    """Processes with one thread each, which end when this one does."""
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(dict.fromkeys(ONE_THREAD, "1"))
    pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_end_with_parent)
    try:
        try:
            pool.submit(os.getpid).result()
        except BrokenExecutor as error:
            raise InputError(
                "no worker process could be started: in a script, make the call below 'if __name__ == \"__main__\":', "
                "since every worker reads the script; else there may be too little memory (give fewer workers): "
                f"{error}"
            ) from error
        yield pool
    except BaseException:
        # on an interrupt nobody waits for what the workers have begun: records are written whole or not at all
        for process in list((getattr(pool, "_processes", None) or {}).values()):
            process.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)
        for name, value in before.items():
            os.environ.pop(name, None) if value is None else os.environ.update({name: value})


def _end_with_parent() -> None:
    """Let a worker end when the process that started it is killed; an interrupt is for that process alone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if (parent := parent_process()) is not None:

        def watch() -> None:
            wait_for([parent.sentinel])
            os._exit(1)

        threading.Thread(target=watch, daemon=True).start()
