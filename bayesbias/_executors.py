"""Where work runs: in this process, in others, on a Dask cluster, or on an executor that is given."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait as wait_for
from typing import TYPE_CHECKING, Any

from bayesbias._checks import whole_number
from bayesbias.errors import InputError, shown

if TYPE_CHECKING:
    from distributed import Client

PATIENCE = 15
"""Seconds that a scheduler has to answer."""
SINGLE = (*(f"{library}_NUM_THREADS" for library in ("OPENBLAS", "OMP", "MKL")), "PYTHON_CPU_COUNT")
"""Variables that are 1 in processes of their own."""
ADDRESSES = ("tcp://", "tls://", "ucx://", "inproc://", "ws://", "wss://")
Pools = Callable[[], Any]
"""A function to a context that gives an executor."""


class _Limit:
    """A limit that the threads of this process share: the first to enter sets it, the last to leave lifts it."""

    def __init__(self) -> None:
        self.lock, self.users, self.limits = threading.Lock(), 0, ExitStack()

    def __enter__(self) -> None:
        import scipy.linalg  # noqa: F401  # it brings a BLAS of its own, and only loaded libraries are limited
        from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

        with self.lock:
            if not self.users:
                self.limits.enter_context(threadpool_limits(1))
            self.users += 1

    def __exit__(self, *_: object) -> None:
        with self.lock:
            self.users -= 1
            if not self.users:
                self.limits.close()


ONE_THREAD = _Limit()
"""A context in which numeric libraries use one thread, for results whose bits do not depend on the machine's threads.

With several threads a matrix product is cut into pieces by their number, and its sums are added in another order.
"""


def workers_asked(workers: int | None) -> int:
    """How many workers; all processors unless a number is given."""
    cores = getattr(os, "process_cpu_count", os.cpu_count)() or 1
    return cores if workers is None else whole_number(workers, "workers", most=10_000)


def executors(executor: str | Executor | Client, workers: int, stack: ExitStack) -> Pools:
    """Where executors come from; a pool of processes is made anew when one of them dies.

    Raises
    ------
    InputError
        Another name, a scheduler that does not answer, or Dask is not installed.
    """
    named = executor if isinstance(executor, str) else ""
    if named == "processes":
        return lambda: _processes(workers)
    if named == "serial":
        return lambda: _given(_Serial())
    if named.startswith(ADDRESSES):
        client = stack.enter_context(_client(named))
        return lambda: _given(client.get_executor(pure=False))
    if isinstance(executor, Executor):
        return lambda: _given(executor)
    if not isinstance(executor, str) and hasattr(executor, "get_executor"):
        return lambda: _given(executor.get_executor(pure=False))  # type: ignore[no-untyped-call]  # distributed has no types
    raise InputError(
        f"executor is {shown(executor)}: valid are 'processes', 'serial', the address of a Dask scheduler such as "
        "'tcp://host:8786', a distributed.Client, or an executor of concurrent.futures"
    )


@contextmanager
def _given(executor: Executor) -> Iterator[Executor]:
    """An executor that stays open."""
    yield executor


def _client(address: str) -> Client:
    try:
        from distributed import Client
    except ImportError as error:
        raise InputError("a Dask scheduler needs the extra: pip install 'bayesbias[distributed]'") from error
    try:
        return Client(address, timeout=PATIENCE)  # type: ignore[no-untyped-call]  # it has no types
    except Exception as error:  # time-outs and refusals of several libraries
        raise InputError(f"no Dask scheduler answers at {address} within {PATIENCE} s: {error}") from error


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
    """Processes with one thread each, which end when this one does.

    Raises
    ------
    InputError
        None of them starts.
    """
    before = {name: os.environ.get(name) for name in SINGLE}
    os.environ.update(dict.fromkeys(SINGLE, "1"))
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
    finally:
        pool.shutdown(cancel_futures=True)
        for name, value in before.items():
            os.environ.pop(name, None) if value is None else os.environ.update({name: value})


def _end_with_parent() -> None:
    """Let a worker end when the process that started it is killed."""
    parent = parent_process()
    if parent is not None:

        def watch() -> None:
            wait_for([parent.sentinel])
            os._exit(1)

        threading.Thread(target=watch, daemon=True).start()
