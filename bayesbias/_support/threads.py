"""Numeric libraries limited to one thread."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from bayesbias.errors import InputError

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
