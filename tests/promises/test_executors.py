"""Programs side by side would each take all processors, or a limit on threads would outlive its work."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from bayesbias._support.progress import one_thread
from bayesbias.errors import InputError

pytestmark = pytest.mark.reproducible


def in_use():
    """Threads of each library of linear algebra."""
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def limited(_=None):
    with one_thread():
        return in_use()


def test_the_libraries_of_numpy_and_scipy_have_one_thread_until_an_error_too():
    def fail():
        with one_thread():
            raise ValueError("no number")

    with threadpool_limits(2):
        with one_thread():
            assert limited() == {1}
            assert in_use() == {1}
        assert in_use() == {2}
        with pytest.raises(ValueError, match="no number"):
            fail()
        assert in_use() == {2}


def test_threads_limit_in_turn_and_lift_what_they_set():
    before = in_use()
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(limited, range(40))) == [{1}] * 40
    assert in_use() == before


def test_a_limit_of_another_thread_is_said_where_it_holds():
    # a limit is that of its thread in some OpenBLAS, and of the process in others
    with threadpool_limits(2), ThreadPoolExecutor(1) as pool:
        work = pool.submit(limited)
        if work.exception() is None:
            assert work.result() == {1}
        else:
            with pytest.raises(InputError, match="another thread of this process limits"):
                work.result()
        assert in_use() == {2}
