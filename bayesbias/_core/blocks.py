"""Work on many points in blocks that fit into the processor's cache, on every core: NumPy lets go of the lock."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor


def in_blocks[T](work: Callable[[slice], T], size: int, step: int) -> list[T]:
    """The results of ``work`` on consecutive slices of at most ``step``, in order."""
    parts = [slice(begin, min(begin + step, size)) for begin in range(0, size, step)]
    cores = getattr(os, "process_cpu_count", os.cpu_count)() or 1
    if len(parts) == 1 or cores == 1:
        return [work(part) for part in parts]
    with ThreadPoolExecutor(min(cores, len(parts))) as pool:
        return list(pool.map(work, parts))
