"""The command line."""

from __future__ import annotations

import gc
import io
import os
import signal
import sys
import warnings
from functools import partial
from typing import Any

INTERRUPTED = 130  # the exit code after Ctrl-C, by custom


def main() -> None:
    """Run ``bayesbias``: exit code 0, 1 (could not) or 2 (usage)."""
    from bayesbias.cli.app import app, state
    from bayesbias.errors import InputError

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without some letter shows ? for it
    gc.set_threshold(100_000)  # libraries and figures make very many objects that stay, and few cycles
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that temporary files are removed
    try:
        with warnings.catch_warnings():
            warnings.showwarning = partial(_note, set[str]())
            app()
    except BrokenPipeError:  # the reader of the output, such as head, has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except (KeyboardInterrupt, SystemExit) as stop:  # at Ctrl-C the library of commands ends without a word
        if getattr(stop, "code", INTERRUPTED) != INTERRUPTED:
            raise
        _fail("interrupted", INTERRUPTED)
    except Exception as error:  # whatever goes wrong is said in one sentence; --debug shows the traceback
        if state["debug"]:
            raise
        reason, file = getattr(error, "strerror", None), getattr(error, "filename", None)
        if isinstance(error, InputError | OSError):
            _fail(f"{file}: {reason}" if reason and file else str(reason or error), 1)
        _fail(f"unexpected {type(error).__name__}: {error} (bayesbias --debug shows where)", 1)


def _fail(message: str, code: int) -> None:
    print(f"Error: {message}", file=sys.stderr)
    sys.exit(code)


def _note(said: set[str], message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    """Print a warning, unless it is among those that are said already."""
    text = str(message).partition("; see bb.")[0]  # functions of Python are no commands
    if issubclass(category, UserWarning) and text not in said:
        said.add(text)
        print(f"Note: {text}", file=sys.stderr)
