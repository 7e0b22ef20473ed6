"""The limit on threads of numeric libraries."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from bayesbias._executors import ONE_THREAD

pytestmark = pytest.mark.reproducible


def threads():
    """Threads of each library of linear algebra."""
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


def test_the_libraries_of_numpy_and_scipy_have_one_thread():
    with threadpool_limits(2):
        with ONE_THREAD, ONE_THREAD:
            assert set(threads()) == {1}
        assert set(threads()) == {2}


def test_the_limit_holds_until_the_last_thread_leaves():
    entered, left = Barrier(2), Barrier(2)

    def first():
        with ONE_THREAD:
            entered.wait()
            before = threads()
        left.wait()
        return before

    def second():
        with ONE_THREAD:
            entered.wait()
            left.wait()
            return threads()

    with threadpool_limits(2), ThreadPoolExecutor(2) as pool:
        for order in ((first, second), (second, first)):
            found = [pool.submit(function) for function in order]
            counts = [number for future in found for number in future.result()]
            assert set(counts) == {1}
            assert set(threads()) == {2}


def test_an_error_lifts_the_limit():
    def fail():
        with ONE_THREAD:
            raise ValueError("no number")

    with threadpool_limits(2):
        with pytest.raises(ValueError, match="no number"):
            fail()
        assert set(threads()) == {2}
