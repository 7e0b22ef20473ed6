"""A progress bar for what takes longer than two seconds, silent where nobody looks; and other loggers held back."""

import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec

PATIENCE = 2.0


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


def announce(sentence: str) -> None:
    """Say before it begins how long a work is: to those who look, and to the log."""
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True)
    if console.is_terminal or in_notebook():
        console.print(Text(sentence))
    logging.getLogger("bayesbias").info(sentence)


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
