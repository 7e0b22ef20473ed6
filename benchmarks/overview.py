"""The headline figures of speed in one table: ``python -m benchmarks``, some five minutes.

Each part is measured in a process of its own, beside something that runs in the same process; ``--only part=commands``
measures one again and keeps the rows of the others. Seconds of commands and reports are those of the processor. Large
embeddings are measured by ``speed/large.py``.
"""

import os
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import bayesbias as bb
from benchmarks import study
from benchmarks.speed.large import memory, simulated, timed, vectors_and_lists, word2vec_file

COMMAND, DRAWS = str(Path(sys.executable).with_name("bayesbias")), 4000
LIBRARY_IMPORTS = "import numpy, pandas, xarray, scipy.special"
MADE, DIMENSIONS = 400_000, 50
"""Words and dimensions of the text file that commands read."""


def cost_of(command):
    """Processor seconds of a command in a new process, the median of three, and its largest memory in megabytes."""
    seconds = []
    for _ in range(3):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        if status:
            raise RuntimeError(f"{' '.join(command)} ended with {os.waitstatus_to_exitcode(status)}")
        seconds.append(usage.ru_utime + usage.ru_stime)
    return statistics.median(seconds), usage.ru_maxrss / 1024


def cpu_of(command):
    """Processor seconds of a command."""
    return cost_of(command)[0]


def report(protected, attributes, file=None):
    """Fit a large table, and report it if a file is given."""
    kv, lists = vectors_and_lists(protected, attributes, groups=3, others=4000, dimensions=50)
    post = bb.fit(bb.distance_table(kv, lists), seed=1)
    if file:
        bb.report(bb.summary(post), file)


def commands():
    """Processor seconds of commands on a large text file, and of reports on large fits, beside their libraries."""
    python = [sys.executable, "-c"]
    needed = cpu_of([*python, LIBRARY_IMPORTS])
    rows = []
    with tempfile.TemporaryDirectory() as name:
        first, second = (f"{name}/{which}.txt" for which in ("first", "second"))
        listed = list(dict.fromkeys(bb.load_words("gender").every_word()))
        for file, noise in ((first, 0.0), (second, 0.1)):
            word2vec_file(Path(file), MADE, DIMENSIONS, listed=listed, noise=noise)
        size = f"{MADE:,} x {DIMENSIONS}, text"
        asked = {
            "run": ["run", first, "gender", "--out", name, "--seed", "1"],
            "check": ["check", first, "gender"],
            "compare of two": f"compare {first} {second} --words gender --out {name}/change --seed 1".split(),
        }
        for work, arguments in asked.items():
            seconds, held = cost_of([COMMAND, *arguments])
            rows.append((f"bayesbias {work}, {size} (processor)", seconds, LIBRARY_IMPORTS, needed))
            if work == "check":
                file_size = Path(first).stat().st_size / 2**20
                rows.append((f"bayesbias {work}, {size}: megabytes", held, "megabytes of the file", file_size))
        for protected, attributes in ((60, 600), (198, 1000)):
            call = f"from benchmarks.overview import report; report({protected}, {attributes}"
            whole, less = (cpu_of([*python, f"{call}{more})"]) for more in (f", {name + '/report.html'!r}", ""))
            work = f"bb.report of {protected} x {attributes:,} words (processor)"
            rows.append((work, whole - less, "the table and its fit", less))
    return rows


def start():
    """Processor seconds of commands, beside Python and the libraries that they cannot do without."""
    python, libraries = [sys.executable, "-c"], LIBRARY_IMPORTS
    empty, needed = cpu_of([*python, "pass"]), cpu_of([*python, libraries])
    with tempfile.TemporaryDirectory() as room:
        demo = cpu_of([COMMAND, "demo", "--out", room])
        check = cpu_of([COMMAND, "check", f"{room}/fit.nc"])
    return [
        ("import bayesbias", cpu_of([*python, "import bayesbias"]), "python -c pass", empty),
        ("bayesbias --help", cpu_of([COMMAND, "--help"]), "python -c pass", empty),
        ("bayesbias check of a fit of 2,100 distances (processor)", check, libraries, needed),
        ("bayesbias demo: fit, 1,000 random topics, figures, report (processor)", demo, libraries, needed),
    ]


def of_nutpie(table, model):
    """Seconds of nutpie for as many draws, without compilation."""
    import nutpie  # loads much, which would be in the memory of the other parts

    from benchmarks.inside import TARGET_ACCEPT, TUNE

    compiled = nutpie.compile_pymc_model(bb.pymc_model(table, model))
    options = {"chains": 4, "cores": 2, "progress_bar": False, "target_accept": TARGET_ACCEPT}
    nutpie.sample(compiled, draws=20, tune=20, seed=1, **options)
    return timed(lambda: nutpie.sample(compiled, draws=DRAWS // 4, tune=TUNE, seed=2, **options))[0]


def fits():
    """Seconds of 4,000 draws of the bundled list, beside NUTS with as many on the same model."""
    table, rows = bb.distance_table("google-news-slice", "gender"), []
    for model in ("published", "crossed"):
        bb.fit(table, model, draws=DRAWS, seed=0)
        exact = statistics.median(timed(lambda m=model: bb.fit(table, m, draws=DRAWS, seed=1))[0] for _ in range(3))
        walked = of_nutpie(table, model)
        rows.append((f"fit(model={model!r}), {DRAWS:,} independent draws", exact, "nutpie, as many draws", walked))
    bb.fit(table, seed=0)
    related = statistics.median(timed(lambda: bb.fit(table, draws=DRAWS, seed=1))[0] for _ in range(3))
    return [*rows, ("fit() of related words", related, rows[-1][2] + ", model 'crossed'", rows[-1][3])]


def size():
    """Seconds of a large fit and memory of a large table, beside the arithmetic and the process."""
    bb.fit(simulated(20, 20), "crossed", seed=0)
    table = simulated(10_000, 100)
    grouping = timed(lambda: table.groupby(["protected_word", "connection"], observed=True)["distance"].mean())[0]
    crossed = timed(lambda: bb.fit(table, "crossed", seed=0))[0]
    rows = [("fit of 10,000 x 100, crossed", crossed, "pandas groupby mean", grouping)]
    table = bb.distance_table(*vectors_and_lists(10_000, 1000), relatedness=False)
    held = table.memory_usage(deep=True).sum() / 1e6
    return [*rows, ("table of 10^7 pairs: megabytes", held, "megabytes of the process", memory("VmHWM"))]


PARTS = {part.__name__: part for part in (start, commands, fits, size)}


def measured(cell):
    """A row for each piece of work, measured in a process of its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        for work, own, beside, other in pool.submit(PARTS[cell["part"]]).result():
            yield {"work": work, "seconds": own, "beside": beside, "beside_seconds": other, "ratio": other / own}


def main():
    """Measure the parts that the command line names, or all."""
    study.main(study.Design("overview", study.crossed(part=PARTS), measured, 1, 3))
