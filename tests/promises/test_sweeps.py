"""A long run would be lost when it is stopped, or its results would depend on where they were computed."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

import bayesbias as bb

STUDY = """
import os, sys, time
import numpy as np
import bayesbias as bb

FITS = {kv: {"kv": kv, "seed": 1} for kv in ("google-news-slice", "glove-50d-slice")}
CALLS = []

def fitted(kv, seed):
    return bb.fit(bb.distance_table(kv, "weat7"), draws=400, seed=seed)

def squared(number, dies=False):
    if dies:
        os._exit(1)
    if number < 0:
        raise ValueError(f"{number} is negative")
    return number**2

def called(kv, text="a"):
    CALLS.append(kv)
    return kv

def slow(number):
    time.sleep(0.1)
    return np.random.default_rng(number).normal(size=1000)

NUMBERS = [{"number": number} for number in range(16)]
if __name__ == "__main__":
    bb.sweep(slow, NUMBERS, sys.argv[1])
"""
MANY = [{"number": number} for number in (1, -2, 3)]


@pytest.fixture
def study(tmp_path, monkeypatch):
    """A module that other processes can import."""
    (tmp_path / "study_of_sweeps.py").write_text(STUDY)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    sys.modules.pop("study_of_sweeps", None)
    import study_of_sweeps

    return study_of_sweeps


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if not path.name.startswith(".")}


def processes():
    return ProcessPoolExecutor(2, mp_context=get_context("spawn"))


def test_what_is_there_is_not_computed_again_and_what_changes_is(study, tmp_path):
    settings = {"one": {"kv": 1}, "two": {"kv": 2, "text": "long " * 2000}, "again": {"kv": 1}}
    for _ in range(2):
        assert bb.sweep(study.called, settings, tmp_path / "of") == {"one": 1, "two": 2, "again": 1}
        assert study.CALLS == [1, 2]
    assert len(contents(tmp_path / "of")) == 2
    for text, count in (("she", 3), ("she", 3), ("he", 4)):
        (tmp_path / "words.txt").write_text(text)
        assert bb.sweep(study.called, [{"kv": 1, "text": "words.txt"}], tmp_path / "of") == {0: 1}
        assert len(study.CALLS) == count
    of_power = [lambda number, power=power: number**power for power in (2, 3)]
    of_power += [lambda number: number + 1, lambda number: number + 2]
    assert [bb.sweep(each, [{"number": 2}], tmp_path / "of")[0] for each in of_power] == [4, 8, 3, 4]


def test_results_of_processes_are_those_of_one_process(study, tmp_path):
    with processes() as pool:
        fits = bb.sweep(study.fitted, study.FITS, tmp_path / "two", pool)
    again = bb.sweep(study.fitted, study.FITS, tmp_path / "one")
    assert contents(tmp_path / "one").keys() == contents(tmp_path / "two").keys()
    assert all(fits[name].identical(again[name]) for name in study.FITS)  # bytes of pickles tell what was shared


def test_a_failure_loses_no_other_result(study, tmp_path):
    with pytest.raises(bb.InputError, match=r"1 of 3 calls failed, 2 results .*: 1: ValueError: -2 is negative"):
        bb.sweep(study.squared, MANY, tmp_path / "of")
    assert len(contents(tmp_path / "of")) == 2
    with processes() as pool, pytest.raises(bb.InputError, match=r"failed, 0 results .*: dies: A process in the"):
        bb.sweep(study.squared, {"dies": {"number": 1, "dies": True}}, tmp_path / "of", pool)
    assert bb.sweep(study.squared, MANY[::2], tmp_path / "of") == {0: 1, 1: 9}


@pytest.mark.skipif(os.name != "posix", reason="kills as POSIX does")
def test_a_sweep_that_is_killed_goes_on(study, tmp_path):
    killed = subprocess.Popen([sys.executable, study.__file__, "stopped"])
    while not (tmp_path / "stopped").is_dir() or len(contents(tmp_path / "stopped")) < 4:
        time.sleep(0.05)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    before = contents(tmp_path / "stopped")
    assert len(before) < 16
    for folder in ("stopped", "whole"):
        bb.sweep(study.slow, study.NUMBERS, tmp_path / folder)
    assert contents(tmp_path / "stopped") == contents(tmp_path / "whole")
    assert before.items() <= contents(tmp_path / "stopped").items()


@pytest.mark.slow
def test_a_cluster_of_dask(study, tmp_path):
    distributed = pytest.importorskip("distributed", reason="needs the extra distributed")
    cluster = distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=None)
    with cluster, distributed.Client(cluster) as client:
        fits = bb.sweep(study.fitted, study.FITS, tmp_path / "cluster", client.get_executor())
        with pytest.raises(bb.InputError, match="1 of 3 calls"):
            bb.sweep(study.squared, MANY, tmp_path / "failed", client.get_executor())
    again = bb.sweep(study.fitted, study.FITS, tmp_path / "one")
    assert all(fits[name].identical(again[name]) for name in study.FITS)


def test_a_damaged_result_is_named(study, tmp_path):
    bb.sweep(study.squared, MANY[:1], tmp_path / "out")
    (file,) = (tmp_path / "out").iterdir()
    file.write_bytes(b"half")
    with pytest.raises(bb.InputError, match=f"{file.name} cannot be read, remove it to compute it again"):
        bb.sweep(study.squared, MANY[:1], tmp_path / "out")
