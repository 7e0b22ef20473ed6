"""The fast engines would drift from the posteriors that NUTS samples, and nobody would notice.

``benchmarks/builders/nuts_posteriors.py`` makes the tables and samples the posteriors.
"""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

import bayesbias as bb
from bayesbias import models

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "builders" / "nuts_posteriors.py"
FITS = ("published", "pooled", "crossed", "related")


@pytest.fixture(scope="module")
def script():
    """The benchmark that writes the stored posteriors."""
    spec = importlib.util.spec_from_file_location("_nuts_posteriors", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, spec.name, module)
        patch.setenv("OPENBLAS_NUM_THREADS", "1")  # the script sets it for its own process
        spec.loader.exec_module(module)
    return module


@pytest.fixture
def stored(script):
    """A function from a case's name to its stored moments, if they are those of today's models and tables."""

    def moments(name):
        header, table = script.stored(name)
        assert header == script.CASES[name].header(), (
            f"{script.path_of(name).name} was sampled from another model or another table than today's: "
            f"if the change is meant, run python benchmarks/builders/nuts_posteriors.py {name}"
        )
        return table

    return moments


def in_order_of(nuts, fast):
    """The moments of the same parameters, each there once, in the order of the stored ones."""
    labels = [tuple(row) for row in nuts[["variable", "index"]].to_numpy()]
    found = fast.set_index(["variable", "index"])
    assert sorted(found.index) == sorted(set(labels))
    return found.loc[labels].reset_index()


@pytest.mark.parametrize("name", FITS)
def test_means_and_sds_are_those_of_nuts(name, script, stored):
    nuts = stored(name)
    case = script.CASES[name]
    fast = in_order_of(nuts, case.moments(case.tables()))
    apart = (nuts["mean"] - fast["mean"]).abs() / np.hypot(nuts["mcse"], fast["mcse"])
    ess = (nuts["sd"] / nuts["mcse"]) ** 2
    spread = (nuts["sd"] - fast["sd"]).abs() / nuts["sd"]
    assert ess.min() > 400
    worst = f"{name}: {apart.max():.2f} errors of the means, sds {spread.max():.3f}"
    assert apart.max() < 4, worst
    assert (spread < np.maximum(4 / np.sqrt(ess / 2), 0.05)).all(), worst


def test_changes_are_those_of_nuts_for_both_tables(script, stored):
    """The model of differences against the joint model of both tables, which knows a little more."""
    nuts = stored("changes")
    case = script.CASES["changes"]
    fast = in_order_of(nuts, case.moments(case.tables(), draws=4000))
    shrank = nuts["variable"] == "shrank"
    np.testing.assert_allclose(fast["mean"][shrank], nuts["mean"][shrank], atol=0.1)
    assert (nuts["mcse"] < 0.05 * nuts["sd"])[~shrank].all()
    for name, theirs in nuts[~shrank].groupby("variable"):
        own = fast.loc[theirs.index]
        np.testing.assert_allclose(own["mean"], theirs["mean"], atol=0.35 * theirs["sd"].max(), err_msg=name)
        np.testing.assert_allclose(own["sd"], theirs["sd"], rtol=0.2, err_msg=name)
        whole = theirs["index"] == "whole list"
        assert whole.sum() == 1
        assert (own["mean"] - theirs["mean"]).abs()[whole].item() < 0.15 * theirs["sd"][whole].item(), name


@pytest.mark.slow
def test_the_model_of_related_words_samples(script, monkeypatch):
    """One short run: the builder, the sampler, and the variables' names, dimensions and rough places."""
    monkeypatch.setattr(models.nuts, "TUNE", 200)
    (table,) = script.CASES["related"].tables()
    few = table[table["protected_word"].isin(table["protected_word"].unique()[[0, 1, 8, 9]])]
    few.attrs = table.attrs
    exact = bb.fit(few, "related", draws=400, chains=2, seed=1)["posterior"]
    post = bb.fit(few, "related", engine="nuts", draws=200, chains=2, seed=1)
    assert post.attrs["engine"] == "nuts"
    assert {name: values.dims for name, values in post["posterior"].data_vars.items()} == {
        name: values.dims for name, values in exact.data_vars.items()
    }
    apart = (post["posterior/word_mean"] - exact["word_mean"].mean(("chain", "draw"))).mean(("chain", "draw"))
    assert float(np.abs(apart / exact["word_mean"].std(("chain", "draw"))).max()) < 0.5
