"""Tests would run slowly, repeat each other's set-up, or pass where the reference data are missing."""

import ctypes
import gc
import os
import pickle
import platform
import shlex
import sys
from collections import Counter
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from importlib import import_module
from importlib.metadata import entry_points
from io import StringIO
from pathlib import Path
from zlib import crc32

import numpy as np
import pandas as pd
import pytest
from threadpoolctl import threadpool_limits

import bayesbias as bb
from bayesbias._support import shipped
from bayesbias._support.files import whole_file

if workers := os.environ.get("PYTEST_XDIST_WORKER_COUNT"):
    # workers share the processors: with all threads in each, they wait for each other; tests marked reproducible run
    # once more in one process with other numbers of threads
    import scipy.linalg  # noqa: F401  (loads the linear algebra of SciPy, which has threads of its own)

    threadpool_limits(max(1, (os.cpu_count() or 1) // int(workers)), user_api="blas")

    if platform.libc_ver()[0] == "glibc":
        # arrays of many sizes come and go: what is freed is kept, where the system would clear each page anew
        trim_threshold, mmap_threshold = -1, -3
        for option, size in ((trim_threshold, 2**30), (mmap_threshold, 2**25)):
            ctypes.CDLL(None).mallopt(option, size)


@pytest.fixture(params=[1, 2, 4] if "OPENBLAS_CORETYPE" in os.environ else [2])
def threads(request, monkeypatch):
    """Threads of linear algebra, here and in processes that start: every number of them where a kernel is named."""
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", str(request.param))
    with threadpool_limits(request.param, user_api="blas"):
        yield request.param


def pytest_addoption(parser):
    parser.addoption("--full", action="store_true", help="the tests marked slow too")


def pytest_configure(config):
    if not config.getoption("--full"):
        chosen = config.option.markexpr
        config.option.markexpr = f"({chosen}) and not slow" if chosen else "not slow"


def pytest_collection_finish(session):
    """What was imported and collected stays: the garbage collector need not look through it again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 10, 10)


def pytest_terminal_summary(terminalreporter, config):
    causes = Counter(report.longrepr[2].removeprefix("Skipped: ") for report in terminalreporter.getreports("skipped"))
    for cause, count in causes.most_common():
        terminalreporter.write_line(f"{count} skipped: {cause}")
    if not config.getoption("--full"):
        terminalreporter.write_line("tests marked slow were left out: they run with --full")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of reference data; tests that need it skip where it is absent, unless it is required."""
    folder = Path(os.environ.get("BAYESBIAS_SHARED", Path(__file__).parents[2] / "shared"))
    if (folder / "paper_tables").is_dir():
        return folder
    if os.environ.get("BAYESBIAS_REQUIRE_SHARED"):
        pytest.fail(f"the reference data are required, and {folder} does not hold them")
    pytest.skip(f"the reference data are not at {folder}; set BAYESBIAS_SHARED to where they are")


@pytest.fixture(autouse=True)
def closed_figures():
    """Close the figures of a test in pyplot."""
    yield
    if (plt := sys.modules.get("matplotlib.pyplot")) is not None:
        plt.close("all")


@pytest.fixture
def limited_files():
    """A context in which writing a file past a size fails, as on a full disk."""
    resource = pytest.importorskip("resource", reason="only POSIX can limit the size of files")

    @contextmanager
    def limited(size):
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    return limited


@pytest.fixture(scope="session")
def blank_pictures():
    """A context in which reports have no pictures, where only words and tables are looked at."""

    @contextmanager
    def blank():
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("bayesbias.results._drawn", lambda *given: "")
            yield

    return blank


@pytest.fixture
def without_pictures(blank_pictures):
    """Reports with blank pictures throughout a test."""
    with blank_pictures():
        yield


@pytest.fixture
def edited(tmp_path):
    """A function from a bundled model's name and changes (old, new) of its file to the path of the changed file."""

    def edit(model, *changes):
        text = (shipped("models") / f"{model}.toml").read_text(encoding="utf-8")
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        path = tmp_path / "mine.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return edit


@pytest.fixture(scope="session")
def listed_words():
    """Every word of the bundled lists in English, but for the long lists of opinions."""
    table = bb.bundled("words")
    table = table[~table["name"].str.startswith(("weathub/", "opinion_"))].set_index("name")["form"]
    words = {word for name in table.index[table == "words"] for word in bb.load_words(name).every_word()}
    words.update(word for name in table.index[table == "list"] for word in bb.load_list(name))
    return words | {word for name in table.index[table == "pairs"] for pair in bb.load_list(name) for word in pair}


@pytest.fixture(scope="session")
def slice_vectors():
    return bb.load_embedding("google-news-slice")


KEPT = {
    "hard_debiased": lambda kept: bb.debias(
        kept("slice_vectors"), "hard", definitional=kept("gender_pairs"), equalize=kept("gender_pairs")
    ),
    "weat7": lambda kept: bb.distance_table(kept("slice_vectors"), "weat7"),
    "plain_weat7": lambda kept: kept("weat7").without_relatedness(),
    "weat7_fit": lambda kept: bb.fit(kept("weat7"), seed=0),
    "weat7_crossed": lambda kept: bb.fit(kept("plain_weat7"), "crossed", seed=0),
    "religion": lambda kept: bb.distance_table(kept("slice_vectors"), "religion"),
    "religion_fit": lambda kept: bb.fit(kept("religion"), seed=1),
    "gender_table": lambda kept: bb.distance_table(kept("slice_vectors"), "gender"),
    "plain_gender": lambda kept: bb.distance_table(kept("slice_vectors"), "gender", relatedness=False),
    "gender_fit": lambda kept: bb.fit(kept("gender_table"), seed=0),
    "gender_after": lambda kept: bb.distance_table(kept("hard_debiased"), "gender"),
    "gender_change": lambda kept: bb.compare(before=kept("gender_table"), after=kept("gender_after"), seed=0),
}
"""Results that many tests read, by name: each is a fixture, made once in a run."""


class Kept:
    """Results of ``KEPT`` by name: made by the process that asks first, and read from its file by the others."""

    def __init__(self, folder, **known):
        self.folder, self.known = folder, known
        folder.mkdir(exist_ok=True)

    def __call__(self, name):
        if name not in self.known:
            path = self.folder / name
            if not path.exists():
                with whole_file(path) as unfinished:
                    unfinished.write_bytes(pickle.dumps(self.fresh(name)))
            self.known[name] = pickle.loads(path.read_bytes())
        return self.known[name]

    def fresh(self, name):
        return KEPT[name](self)

    def __iter__(self):
        return iter(KEPT)


@pytest.fixture(scope="session")
def kept(tmp_path_factory, slice_vectors):
    """The kept results of this run."""
    base = tmp_path_factory.getbasetemp()
    run = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    pairs = list(bb.load_list("gender_pairs").pairs)
    return Kept(run / "kept", slice_vectors=slice_vectors, gender_pairs=pairs)


def fixture_of(name):
    """The fixture of a kept result."""
    return pytest.fixture(scope="session", name=name)(lambda kept: kept(name))


globals().update({f"fixture_{name}": fixture_of(name) for name in KEPT})


def random_vectors(lists, seed):
    """An embedding of 12 random dimensions of the words of lists and 420 others."""
    from gensim.models import KeyedVectors

    names = sorted({*lists.every_word(), *(f"z{number}" for number in range(420))})
    kv = KeyedVectors(vector_size=12, dtype=np.float32)
    kv.add_vectors(names, np.random.default_rng(seed).normal(size=(len(names), 12)).astype(np.float32))
    return kv


@pytest.fixture(scope="session")
def random_embedding():
    """A function from word lists and a seed to random vectors of their words and others."""
    return random_vectors


@pytest.fixture(scope="session")
def program():
    """A function that runs the command in this process, in the present folder: (exit code, output, errors)."""
    (entry,) = entry_points(group="console_scripts", name="bayesbias")
    main = entry.load()

    def run(*arguments):
        with (
            pytest.MonkeyPatch.context() as patch,
            redirect_stdout(StringIO()) as out,
            redirect_stderr(StringIO()) as errors,
        ):
            patch.setattr(sys, "argv", ["bayesbias", *map(str, arguments)])
            with pytest.raises(SystemExit) as stop:
                main()
        return stop.value.code, out.getvalue(), errors.getvalue()

    return run


@pytest.fixture
def here(program, monkeypatch, tmp_path):
    """Run the command in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return program


def random_text_vectors(texts):
    """A random vector of its own for each text."""
    return [np.random.default_rng(crc32(text.encode())).standard_normal(12) for text in texts]


@pytest.fixture(scope="session")
def text_encoder():
    """An encoder of texts: each has a random vector of its own."""
    return random_text_vectors


@pytest.fixture
def prints(here):
    """A function from a command line to what it prints, blanks made one: it must succeed and complain of nothing."""

    def run(line):
        code, out, errors = here(*shlex.split(line))
        assert (code, errors) == (0, "")
        return " ".join(out.split())

    return run


@pytest.fixture(scope="session")
def observed_associations():
    """A function from a table to its words' distances to lists, double-centred with groups of the same weight."""

    def associations(table):
        lists = table[table["connection"].isin(["associated", "different"])]
        means = lists.pivot_table("distance", "protected_word", "attribute_class", sort=False)
        group = table.drop_duplicates("protected_word").set_index("protected_word")["group"][means.index]
        by_list = means.groupby(group).mean().mean()
        centred = means.sub(means.mean(axis=1), axis=0) - (by_list - by_list.mean())
        size = len(means.columns)
        return pd.Series({word: centred.loc[word, group[word]] * size / (size - 1) for word in means.index})

    return associations


@pytest.fixture(scope="session")
def news(shared):
    """The vectors of Google News that other programs were recorded with."""
    return bb.load_embedding(shared / "embeddings" / "google_news_slice.bin")


@pytest.fixture(scope="session")
def site():
    """A function from a name to that script of the site, as a module."""

    def load(name):
        with pytest.MonkeyPatch.context() as patch:
            patch.syspath_prepend(Path(__file__).parents[1] / "docs")
            return import_module(name)

    return load
