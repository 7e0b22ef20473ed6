"""Where work runs: in this process, in others, on a Dask cluster, or on an executor that is given."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait as wait_for
from typing import TYPE_CHECKING, Any

from bayesbias._checks import whole_number
from bayesbias.errors import InputError, shown

if TYPE_CHECKING:
    from distributed import Client

PATIENCE = 15  # seconds that a scheduler has to answer
ONE_THREAD = (*(f"{library}_NUM_THREADS" for library in ("OPENBLAS", "OMP", "MKL")), "PYTHON_CPU_COUNT")
"""Variables that are 1 in processes of their own."""
ADDRESSES = ("tcp://", "tls://", "ucx://", "inproc://", "ws://", "wss://")
Pools = Callable[[], Any]  # a function to a context that gives an executor


LIMIT = threading.RLock()
"""Threads of one process limit numeric libraries in turn: only the thread that sets a limit can lift it."""


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
    """How many workers; all processors unless a number is given."""
    cores = getattr(os, "process_cpu_count", os.cpu_count)() or 1
    return cores if workers is None else whole_number(workers, "workers", most=10_000)


def executors(executor: str | Executor | Client, workers: int, stack: ExitStack) -> Pools:
    """Where executors come from; a pool of processes is made anew when one of them dies."""
    named = executor if isinstance(executor, str) else ""
    if named == "processes":
        return lambda: _processes(workers)
    if named == "serial":
        return lambda: _given(_Serial())
    if named.startswith(ADDRESSES):
        try:
            from distributed import Client
        except ImportError as error:
            raise InputError("a Dask scheduler needs the extra: pip install 'bayesbias[distributed]'") from error
        try:
            client = stack.enter_context(Client(named, timeout=PATIENCE))
        except Exception as error:  # time-outs and refusals of several libraries
            raise InputError(f"no Dask scheduler answers at {named} within {PATIENCE} s: {error}") from error
        return lambda: _given(client.get_executor(pure=False))
    if isinstance(executor, Executor):
        return lambda: _given(executor)
    if not isinstance(executor, str) and hasattr(executor, "get_executor"):
        return lambda: _given(executor.get_executor(pure=False))
    raise InputError(
        f"executor is {shown(executor)}: valid are 'processes', 'serial', the address of a Dask scheduler such as "
        "'tcp://host:8786', a distributed.Client, or an executor of concurrent.futures"
    )


@contextmanager
def _given(executor: Executor) -> Iterator[Executor]:
    """An executor that stays open."""
    yield executor


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
