"""Sweeps: the same bits however they are made, nothing lost when something dies, and faults by name."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from gensim.models import KeyedVectors

import bayesbias as bb
from bayesbias.second_stage import sweeps

DRAW = {"draws": 200, "chains": 2}


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """A folder of two simulated tables."""
    folder = tmp_path_factory.mktemp("tables")
    rng = np.random.default_rng(0)
    base = bb.distance_table("google-news-slice", "weat7", relatedness=False)
    for number in range(2):
        moved = base.assign(distance=np.clip(base["distance"] + 0.02 * rng.standard_normal(len(base)), 0, 2))
        moved.attrs = dict(base.attrs)
        bb.write_distance_table(moved, folder / f"table{number}.parquet")
    return folder


@pytest.fixture(scope="module")
def plan(tables, sized):
    seeds = sized([0, 1], [0])
    return {"tables": [str(tables / "*.parquet")], "models": ["crossed", "published"], "seeds": seeds, **DRAW}


@pytest.fixture(scope="module")
def made(plan, tmp_path_factory):
    """The plan's sweep, one fit after the other."""
    return bb.sweep(plan, tmp_path_factory.mktemp("sweep") / "out", "serial")


@pytest.fixture
def written(plan, tmp_path):
    """The plan as a TOML file."""
    lines = [f"{key} = {json.dumps(value)}" for key, value in plan.items()]
    (tmp_path / "plan.toml").write_text("\n".join(lines), encoding="utf-8")
    return tmp_path / "plan.toml"


def no_half_files(folder):
    """Everything that is in a folder can be read, and is what its record says."""
    for file in (folder / "records").glob("[!.]*.json"):
        assert json.loads(file.read_text(encoding="utf-8"))["status"] in ("done", "failed")
    for file in (folder / "fits").glob("[!.]*.nc"):
        assert bb.load_fit(file).attrs["model"] in ("crossed", "published")


def test_every_combination_is_fitted_once(made, plan):
    count = 2 * 2 * len(plan["seeds"])
    assert len(made.fits) == count
    assert made.fits["status"].eq("done").all()
    assert made.fits["fit"].is_unique
    assert not made.fits.duplicated(["table", "model", "seed"]).any()
    stored = pd.read_parquet(made.folder / "contrasts.parquet")
    pd.testing.assert_frame_equal(stored, made.contrasts)
    row = made.fits.iloc[3]
    again = bb.fit(bb.read_distance_table(row["table"]), row["model"], seed=int(row["seed"]), **DRAW)
    expected = bb.contrasts(again, "associated", "human")
    own = made.contrasts[made.contrasts["fit"].eq(row["fit"]) & made.contrasts["contrast"].eq("associated - human")]
    np.testing.assert_array_equal(own["mean"], expected["mean"])
    np.testing.assert_array_equal(own["high"], expected["high"])
    kept = made.load(row["fit"])
    assert isinstance(kept, xr.DataTree)
    assert kept.attrs["seed"] == row["seed"]
    assert f"{count} done, 0 failed" in made.text()
    assert len(made.table()) == count * 3
    no_half_files(made.folder)


@pytest.mark.parametrize("workers", [pytest.param(1, marks=pytest.mark.full), 2])
def test_the_bits_do_not_depend_on_the_workers(made, plan, tmp_path, workers):
    found = bb.sweep(plan, tmp_path / "out", workers=workers)
    assert found.hash == made.hash
    pd.testing.assert_frame_equal(found.contrasts, made.contrasts)


@pytest.mark.reproducible
def test_the_bits_do_not_depend_on_threads_of_linear_algebra(made, plan, tmp_path, threads):
    assert bb.sweep(plan, tmp_path / "out", "serial").hash == made.hash


def test_the_bits_do_not_depend_on_their_order(made, plan, tmp_path):
    with ThreadPoolExecutor(2) as pool:
        assert bb.sweep(plan, tmp_path / "out", pool).hash == made.hash


@pytest.mark.nuts
@pytest.mark.full
def test_the_bits_of_a_sampler_do_not_depend_on_what_was_compiled_before(tables, tmp_path):
    plan = {"tables": [str(tables / "table0.parquet")], "models": ["published"], "engine": "nuts", "draws": 40}
    program = "import json, sys, bayesbias as bb; print(bb.sweep(json.loads(sys.argv[1]), sys.argv[2], 'serial').hash)"
    machine = os.environ | {"PYTENSOR_FLAGS": f"base_compiledir={tmp_path / 'compiled'}"}
    fresh, used = (
        subprocess.run(
            [sys.executable, "-c", program, json.dumps(plan), tmp_path / folder],
            env=machine,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for folder in ("fresh", "used")
    )
    assert len(fresh.strip()) == 64
    assert fresh == used


def test_the_hash_does_not_depend_on_where_hdf5_puts_headers(plan, made, tmp_path):
    """A sampling profiler, as every Dask worker runs one, keeps HDF5 objects open for longer; values are the same."""
    ended = threading.Event()

    def sample():
        while not ended.wait(0.001):
            held = [frame.f_locals for frame in sys._current_frames().values()]
            del held

    profiler = threading.Thread(target=sample)
    profiler.start()
    try:
        found = bb.sweep(plan, tmp_path / "out", "serial")
    finally:
        ended.set()
        profiler.join()
    records = [json.loads(file.read_text()) for sweep in (made, found) for file in (sweep.folder / "records").iterdir()]
    assert len({record["content"] for record in records}) == len(made.fits)
    assert found.hash == made.hash


def test_what_is_finished_is_not_made_again(made, plan):
    files = [file for part in ("fits", "records") for file in (made.folder / part).iterdir()]
    before = {file: file.stat().st_mtime_ns for file in files}
    assert bb.sweep(plan, made.folder, "serial").hash == made.hash
    assert {file: file.stat().st_mtime_ns for file in files} == before
    damaged = made.folder / "fits" / f"{made.fits['fit'][0]}.nc"
    damaged.write_bytes(damaged.read_bytes()[:1000])
    (made.folder / "records" / f"{made.fits['fit'][1]}.json").write_text('{"status": "do')
    assert bb.sweep(plan, made.folder, "serial").hash == made.hash
    changed = {file for file in files if file.stat().st_mtime_ns != before[file]}
    assert {file.stem for file in changed} == set(made.fits["fit"][:2])


def started(plan, out):
    """The command line's sweep, in a process group of its own."""
    program = "from bayesbias.cli import main; main()"
    command = [sys.executable, "-c", program, "sweep", str(plan), "-o", str(out), "--workers", "2"]
    return subprocess.Popen(command, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def children(process):
    """Processes that a process has started, by their ids."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            after = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(after[1]) == process.pid:
            found.append(int(stat.parent.name))
    return found


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks for processes in /proc")
@pytest.mark.study
@pytest.mark.full
def test_killed_coordinators_and_workers_lose_nothing(made, written, tmp_path, sized):
    """kill -9 at random moments, of the coordinator and of workers in turn; then the sweep is finished."""
    rng, out = np.random.default_rng(5), tmp_path / "out"
    for number in range(sized(20, 3)):
        process = started(written, out)
        time.sleep(rng.uniform(2, 7))
        if number % 2:
            for pid in children(process)[-1:]:
                os.kill(pid, signal.SIGKILL)
            time.sleep(rng.uniform(0, 3))
        workers = children(process)
        process.kill()
        process.communicate()
        deadline = time.monotonic() + 20
        while any(Path(f"/proc/{pid}").exists() for pid in workers) and time.monotonic() < deadline:
            time.sleep(0.1)
        assert not any(Path(f"/proc/{pid}").exists() for pid in workers), "a worker outlives its coordinator"
        if (out / "manifest.json").is_file():
            no_half_files(out)
    before = {file: file.stat().st_mtime_ns for file in (out / "records").glob("[!.]*.json")}
    found = bb.sweep(written, out, workers=2)
    assert found.hash == made.hash
    assert {file: file.stat().st_mtime_ns for file in before} == before
    assert not list(out.rglob(".*"))


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks for processes in /proc")
@pytest.mark.full
def test_a_sweep_goes_on_when_a_worker_dies(made, written, tmp_path):
    process = started(written, tmp_path / "out")
    deadline = time.monotonic() + 60
    records = tmp_path / "out" / "records"
    while not (records.is_dir() and list(records.glob("[!.]*.json"))) and time.monotonic() < deadline:
        time.sleep(0.05)
    for pid in children(process)[-1:]:
        os.kill(pid, signal.SIGKILL)
    _, errors = process.communicate(timeout=200)
    assert process.returncode == 0, errors.decode()
    assert bb.sweep(written, tmp_path / "out", "serial").hash == made.hash


@pytest.mark.full
def test_dask_finishes_when_a_worker_is_killed(made, plan, tmp_path):
    distributed = pytest.importorskip("distributed", reason="needs the extra distributed: uv sync --extra distributed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        ThreadPoolExecutor(1) as beside,
    ):
        running = beside.submit(bb.sweep, plan, tmp_path / "out", cluster.scheduler_address)
        records = tmp_path / "out" / "records"
        deadline = time.monotonic() + 90
        while not (records.is_dir() and list(records.glob("[!.]*.json"))) and time.monotonic() < deadline:
            time.sleep(0.05)
        os.kill(next(iter(cluster.workers.values())).pid, signal.SIGKILL)
        found = running.result(timeout=200)
    assert found.fits["status"].eq("done").all()
    assert found.hash == made.hash


DYING = """
import os
from bayesbias.second_stage import sweeps
fitted = sweeps._fitted
sweeps._fitted = lambda task: os._exit(1) if task.settings["seed"] == {seed} else fitted(task)
"""


def pool_of_processes(seed):
    """Two processes, which end when they make the fit of a seed."""
    return ProcessPoolExecutor(
        2, mp_context=get_context("spawn"), initializer=exec, initargs=(DYING.format(seed=seed), {})
    )


@pytest.mark.full
def test_a_fit_that_ends_its_worker_is_recorded_and_the_others_are_made(tables, tmp_path, monkeypatch):
    plan = {"tables": [str(tables / "table0.parquet")], "models": ["published"], "seeds": [0, 1, 2, 3], **DRAW}
    monkeypatch.setattr("bayesbias._support.runs._executors", lambda *_: lambda: pool_of_processes(1))
    found = bb.sweep(plan, tmp_path / "out", workers=2)
    assert found.fits["status"].tolist() == ["done", "failed", "done", "done"], found.fits["reason"].tolist()
    assert "its worker process died 3 times" in found.fits["reason"][1]
    # with retry, the failure on record is not taken for the result of this run
    monkeypatch.setattr("bayesbias._support.runs._executors", lambda *_: lambda: pool_of_processes(9))
    assert bb.sweep(plan, tmp_path / "out", workers=2, retry=True).fits["status"].eq("done").all()


def test_files_in_the_options_of_a_method_count_by_their_content(tmp_path):
    pairs = tmp_path / "mine.toml"
    pairs.write_text('kind = "pairs"\nname = "mine"\npairs = [["he", "she"], ["man", "woman"]]\n')
    plan = tmp_path / "plan.toml"
    plan.write_text(
        'embeddings = ["google-news-slice"]\nwords = ["weat7"]\nmodels = ["published"]\ndraws = 200\nchains = 1\n'
        '[[debiasing]]\nmethod = "hard"\ndefinitional = "mine.toml"\n'
    )
    found = bb.sweep(plan, tmp_path / "out", "serial")
    assert found.fits["status"].tolist() == ["done"], found.fits["reason"][0]
    assert str(pairs.resolve()) in found.fits["debiasing"][0]
    named = tmp_path / "named.toml"  # a file does not stand in for the bundled list of its name
    named.write_text(plan.read_text().replace("mine.toml", "gender_pairs"))
    (tmp_path / "gender_pairs").write_text("no list")
    settings = bb.sweep(named, tmp_path / "named", "serial").fits["debiasing"][0]
    assert settings == '{"definitional": "gender_pairs", "method": "hard"}'
    pairs.write_text('kind = "pairs"\nname = "mine"\npairs = [["he", "she"]]\n')
    with pytest.raises(bb.InputError, match="the files of the plan have changed"):
        bb.sweep(plan, tmp_path / "out", "serial")


@pytest.mark.full
def test_an_executor_that_takes_no_more_work_is_an_error(tables, tmp_path):
    plan = {"tables": [str(tables / "table0.parquet")], "models": ["published"], "seeds": [0, 1, 2, 3], **DRAW}
    with pool_of_processes(2) as pool, pytest.raises(bb.InputError, match="the executor takes no work any more"):
        bb.sweep(plan, tmp_path / "out", pool)
    assert bb.sweep(plan, tmp_path / "out", "serial").fits["status"].eq("done").all()


@pytest.mark.filterwarnings("ignore:Nouns of the language")
def test_threads_keep_the_notes_of_each_fit_apart(tmp_path):
    names = ["weathub/de/weat7", "weat7", "weathub/de/weat8", "weat8"]
    words = {key for name in names for key in bb.load_words(name).every_word()}
    kv = KeyedVectors(vector_size=8, dtype=np.float32)
    kv.add_vectors(sorted(words), np.random.default_rng(0).normal(size=(len(words), 8)).astype(np.float32))
    kv.save_word2vec_format(str(tmp_path / "v.bin"), binary=True)
    plan = {"embeddings": [str(tmp_path / "v.bin")], "words": names, "models": ["published"], **DRAW}
    serial = bb.sweep(plan, tmp_path / "serial", "serial")
    with ThreadPoolExecutor(4) as pool:
        threads = bb.sweep(plan, tmp_path / "threads", pool)
    assert serial.fits["notes"].str.contains("grammatical gender").sum() == 2
    assert threads.fits["notes"].tolist() == serial.fits["notes"].tolist()


def test_a_failing_fit_is_recorded_and_the_others_go_on(tables, tmp_path):
    short = tmp_path / "short.csv"
    short.write_text("protected_word,attribute_word,connection,distance\na,q,nothing,0.5\n")
    control = tmp_path / "control.toml"
    control.write_text('kind = "words"\nname = "c"\n[protected]\na = ["xqzzy"]\n[stereotypes]\na = ["boss"]\n')
    plan = {
        "tables": [str(short), str(tables / "table0.parquet")],
        "embeddings": ["google-news-slice"],
        "words": [str(control)],
        "models": ["published"],
        **DRAW,
    }
    found = bb.sweep(plan, tmp_path / "out", "serial")
    assert found.fits["status"].tolist() == ["failed", "failed", "done"]
    assert "xqzzy" in found.fits["reason"][0]
    assert "'nothing'" in found.fits["reason"][1]
    assert set(found.contrasts["fit"]) == {found.fits["fit"][2]}
    assert "2 failed" in found.text()
    assert bb.sweep(plan, tmp_path / "out", "serial").hash == found.hash
    with pytest.raises(bb.InputError, match="no fit of that name is done"):
        found.load(found.fits["fit"][0])
    assert bb.sweep(plan, tmp_path / "out", "serial", retry=True).hash == found.hash


def test_places_on_an_axis_in_each_embedding(tmp_path):
    plan = {"embeddings": ["glove-50d-slice"], "words": ["gender"], "axes": ["affluence"], **DRAW}
    found = bb.sweep(plan, tmp_path / "out", "serial")
    assert found.fits["status"].tolist() == ["done", "done"]
    assert found.fits["axis"].isna().tolist() == [True, False]
    rows = found.contrasts[found.contrasts["axis"] == "affluence"]
    words = [word for listed in bb.load_words("gender").protected.values() for word in listed]
    axis = bb.axis("glove-50d-slice", "affluence", words)
    table = axis.table(population="pairs", order=False)
    np.testing.assert_allclose(rows["mean"].iloc[1:], table["mean"])
    np.testing.assert_allclose(rows["low"].iloc[1:], table["low"])
    np.testing.assert_allclose(rows["p_closer"].iloc[1:], 1 - table["p_positive"], atol=1e-12)
    assert rows["mean"].iloc[0] == pytest.approx(axis.places.mean())
    assert bb.sweep(plan, tmp_path / "out", "serial").hash == found.hash
    with pytest.raises(bb.InputError, match="no fit of that name"):
        found.load(found.fits["fit"][1])


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"debiasing": ["none", "hard"]}, "'hard'|hard needs the option 'definitional'"),
        ({"debiasing": [{"method": "none", "order": 1}]}, "takes no options"),
        ({"debiasing": [{"method": "hard", "definitional": "gender_pairs", "how": 1}]}, "hard has no option 'how'"),
        ({"engine": "marginal", "models": ["published"]}, "marginal"),
        ({"words": ["broken.toml"]}, "printable"),
        ({"axes": ["nothing"]}, "'nothing' in axes is no file"),
    ],
)
def test_what_cannot_run_is_refused_before_the_first_fit(changed, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lists = 'kind = "words"\nname = "c"\n[protected]\na = ["he\\u0007"]\n[stereotypes]\na = ["boss"]\n'
    (tmp_path / "broken.toml").write_text(lists)
    plan = {"embeddings": ["google-news-slice"], "words": ["weat7"], **DRAW} | changed
    with pytest.raises(bb.InputError, match=message):
        bb.sweep(plan, tmp_path / "out", "serial")
    assert not (tmp_path / "out").exists()


def test_a_full_disk_stops_the_sweep_and_loses_nothing(made, plan, tmp_path, limited_files):
    size = max(file.stat().st_size for file in (made.folder / "fits").glob("*.nc"))
    with limited_files(size - 1), pytest.raises(OSError, match="cannot write"):
        bb.sweep(plan, tmp_path / "out", "serial")
    no_half_files(tmp_path / "out")
    assert not list((tmp_path / "out").rglob(".*"))
    assert bb.sweep(plan, tmp_path / "out", "serial").hash == made.hash


def test_a_file_that_changes_is_noticed(tables, tmp_path, monkeypatch):
    file = tmp_path / "table.parquet"
    file.write_bytes((tables / "table0.parquet").read_bytes())
    plan = {"tables": [str(file)], "models": ["published"], **DRAW}
    read = sweeps.read_distance_table

    def changing(path):
        table = read(path)
        file.write_bytes((tables / "table1.parquet").read_bytes())
        return table

    monkeypatch.setattr("bayesbias.second_stage.sweeps.read_distance_table", changing)
    found = bb.sweep(plan, tmp_path / "out", "serial")
    assert "changed while the sweep ran" in found.fits["reason"][0]
    with pytest.raises(bb.InputError, match="files of the plan have changed"):
        bb.sweep(plan, tmp_path / "out", "serial")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seeds": [5]}, "differs in seeds"),
        ({"draws": 400}, "differs in draws"),
        ({"colour": "red"}, "unknown key 'colour'"),
        ({"tables": []}, "give embeddings and words, or tables"),
        ({"embeddings": ["google-news-slice"]}, "give embeddings and words"),
        ({"tables": ["nowhere.parquet"]}, "'nowhere.parquet' in tables is no file"),
        ({"tables": ["nowhere/*.parquet"]}, "no file fits"),
        ({"models": ["nonsense"]}, "'nonsense' in models"),
        ({"models": []}, "models"),
        ({"seeds": [0, 0]}, "asked for twice"),
        ({"debiasing": [{"definitional": "gender_pairs"}]}, "'method'"),
    ],
)
def test_wrong_plans_are_refused_by_name(made, plan, changes, message):
    with pytest.raises(bb.InputError, match=message):
        bb.sweep(plan | changes, made.folder, "serial")


def test_other_folders_executors_and_schedulers_are_refused(plan, tmp_path, monkeypatch):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").write_text("mine")
    with pytest.raises(bb.InputError, match="holds no sweep"):
        bb.sweep(plan, tmp_path / "full")
    assert [file.name for file in (tmp_path / "full").iterdir()] == ["thesis.tex"]
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "manifest.json").write_text("[]")
    with pytest.raises(bb.InputError, match="no manifest of a sweep"):
        bb.sweep(plan, tmp_path / "other")
    with pytest.raises(bb.InputError, match="executor is 'threads'"):
        bb.sweep(plan, tmp_path / "out", "threads")
    monkeypatch.setattr("bayesbias._support.runs.PATIENCE", 1)
    if find_spec("distributed") is None:
        with pytest.raises(
            bb.InputError, match=r"needs the package distributed: pip install 'bayesbias\[distributed\]'"
        ):
            bb.sweep(plan, tmp_path / "out", "tcp://127.0.0.1:9")
        return
    with pytest.raises(bb.InputError, match="no Dask scheduler answers"):
        bb.sweep(plan, tmp_path / "out", "tcp://127.0.0.1:9")


def test_embeddings_lists_and_debiasing_are_crossed(tmp_path):
    plan = {
        "embeddings": ["google-news-slice"],
        "words": ["weat7"],
        "models": ["related"],
        "debiasing": ["none", {"method": "hard", "definitional": "gender_pairs"}],
        "save": False,
        **DRAW,
    }
    found = bb.sweep(plan, tmp_path / "out", "serial")
    assert found.fits["debiasing"].tolist() == ["none", '{"definitional": "gender_pairs", "method": "hard"}']
    assert found.fits["status"].eq("done").all()
    assert not list((tmp_path / "out" / "fits").iterdir())
    with pytest.raises(bb.InputError, match="the plan does not save fits"):
        found.load(found.fits["fit"][0])


def test_the_command(made, written, program):
    """All is there: the command finds it done, says so, and writes the contrasts again."""
    (made.folder / "contrasts.parquet").unlink()
    code, said, _ = program("sweep", written, "-o", made.folder, "--workers", "2")
    assert code == 0
    assert f"{len(made.fits)} done, 0 failed" in " ".join(said.split())
    assert (made.folder / "contrasts.parquet").is_file()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"draws": 4001}, "draws=4001 do not split evenly over 2 chains"),
        ({"draws": -4}, "draws is -4"),
        ({"seeds": [-1]}, "a seed is -1"),
        ({"seeds": [2**63]}, "a seed is 9223372036854775808"),
        ({"debiasing": ["hrd"]}, "hrd"),
    ],
)
def test_what_no_fit_can_take_is_refused_before_any(plan, tmp_path, changes, message):
    with pytest.raises(bb.InputError, match=message):
        bb.sweep({**plan, **changes}, tmp_path / "out", "serial")
    assert not (tmp_path / "out").exists()


def test_the_command_fails_when_every_fit_does(tmp_path, program):
    (tmp_path / "short.csv").write_text("protected_word,attribute_word,connection,distance\na,q,nothing,0.5\n")
    (tmp_path / "plan.toml").write_text('tables = ["short.csv"]\nmodels = ["published"]\n')
    code, said, _ = program("sweep", tmp_path / "plan.toml", "-o", tmp_path / "out", "--workers", "1")
    assert code == 1
    assert "1 fit in" in " ".join(said.split())
    assert "0 done, 1 failed" in " ".join(said.split())


def test_a_single_value_in_place_of_a_list_is_named(plan, tmp_path):
    with pytest.raises(bb.InputError, match=r"embeddings is 'x.vec': it should be a list"):
        bb.sweep({**plan, "embeddings": "x.vec"}, tmp_path / "out", "serial")
