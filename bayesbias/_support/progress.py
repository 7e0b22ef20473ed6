"""What long work has around it: a progress bar, silent where nobody looks; loggers held back; one thread."""

import logging
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

from bayesbias.errors import InputError

PATIENCE = 2.0  # seconds
# threads of one process limit numeric libraries in turn: only the thread that sets a limit can lift it
LIMIT = threading.RLock()


def in_notebook() -> bool:
    """True in a notebook that can show a bar: without ipywidgets it would show a warning for every one."""
    return "ipykernel" in sys.modules and find_spec("ipywidgets") is not None


@contextmanager
def quiet(name: str | logging.Logger) -> Iterator[None]:
    """Hold back what another library's logger says below an error: what matters is said in our words."""
    log = name if isinstance(name, logging.Logger) else logging.getLogger(name)
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(level)


@contextmanager
def progress(what: str, total: float) -> Iterator[Callable[[float], None]]:
    """Yield a function to call with the amount done so far.

    The bar appears on the error stream once ``PATIENCE`` seconds have passed, and only on a terminal or in a
    notebook with ipywidgets; elsewhere one line goes to the log, with an estimate of the time that is left.
    """
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    bar = Progress(console=console, transient=True, disable=not (console.is_terminal or in_notebook()))
    task = bar.add_task(what, total=total)
    begin = time.monotonic()
    started = False

    def done(amount: float) -> None:
        nonlocal started
        if not started and time.monotonic() - begin > PATIENCE:
            started = True
            left = (time.monotonic() - begin) * (total - amount) / amount if amount else float("nan")
            logging.getLogger("bayesbias").info("%s ... (about %.0f s left)", what, left)
            bar.start()
        if started:
            bar.update(task, completed=amount)

    try:
        yield done
    finally:
        if started:
            bar.stop()


def counted[T](function: Callable[[Any], T], done: Callable[[float], None]) -> Callable[[Any], T]:
    """A function of points that tells of how many it has been asked so far."""
    asked = 0

    def count(points: Any) -> T:
        nonlocal asked
        asked += len(points)
        done(asked)
        return function(points)

    return count


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
