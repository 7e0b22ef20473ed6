"""One wrong element in an input would end in a stray error or in NaN; ``benchmarks/mutations.py`` tries all of them."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesbias as bb
from bayesbias.comparison import Comparison

mutations = pytest.importorskip("benchmarks.mutations", reason="the benchmarks are not here")

FUNCTIONS = ["contrasts", "cell_estimates", "decomposition", "diagnose", "association", "save_fit"]
"""Functions of fits that take a moment."""


@pytest.mark.parametrize(("inputs", "share", "least"), [("fit", 0.05, 80), ("text", 0.1, 5)])
def test_a_sample_of_wrong_inputs_is_refused_or_used(made, tmp_path, monkeypatch, inputs, share, least):
    monkeypatch.chdir(tmp_path)
    names = [name for name in mutations.NAMES if name in FUNCTIONS or (inputs == "text" and name not in mutations.FULL)]
    tried = list(mutations.trials(made, names, (inputs,), share))
    plt.close("all")
    unclean = [trial for trial in tried if trial.outcome not in mutations.CLEAN]
    assert len(tried) > least
    assert not unclean, "\n".join(map(str, unclean))


@pytest.fixture(scope="module")
def trees():
    slice_vectors = bb.load_embedding("google-news-slice")
    after = bb.debias(slice_vectors, "project", definitional=[("he", "she"), ("man", "woman")])
    tables = bb.distance_tables({"a": slice_vectors, "b": after}, "weat7")
    drawn = bb.compare(tables, model="change", draws=200, seed=1)
    return {"exact": bb.compare(tables, seed=1).tree, "drawn": drawn.tree}


class TestComparisons:
    """A damaged comparison ended in errors of other libraries, or gave changes of NaN."""

    @pytest.mark.parametrize("kind", ["exact", pytest.param("drawn", marks=pytest.mark.full)])
    def test_each_damage_is_refused_in_a_sentence_or_changes_no_number(self, trees, kind):
        tree = trees[kind]
        expected, sentences = Comparison(tree).changes(), []
        changes = list(mutations.fit_changes(tree))
        for change in changes:
            try:
                damaged = change.make()
            except (ValueError, TypeError):  # xarray makes no such tree
                continue
            try:
                compared = Comparison(damaged)
                answer = compared.changes()
                assert compared.verdict
            except bb.InputError as error:
                sentences.append(str(error))
            else:
                assert answer.isna().to_numpy().sum() == expected.isna().to_numpy().sum(), change.name
        assert len(sentences) > 0.7 * len(changes)
        assert not any("\n" in sentence for sentence in sentences)

    def test_what_is_no_comparison_is_refused(self, trees):
        with pytest.raises(bb.InputError, match="give that of a comparison, as compare returns it"):
            Comparison(xr.DataTree())
        tree = trees["exact"].copy(deep=True)
        tree["observed_data/distance"][0, 0] = np.nan
        with pytest.raises(
            bb.InputError, match="damaged comparison: observed_data/distance holds numbers that are NaN"
        ):
            Comparison(tree)


def test_tables_of_settings_and_of_reliability_name_the_cell_that_is_wrong():
    settings = pd.DataFrame({"corpus": ["a", "a", "b", "b"], "seed": [0, 1, 0, 1], "x": [1.0, 2.0, 4.0, 3.0]})
    reliability = pd.DataFrame({"label": ["p", "q"], "value": [0.5, 0.6], "low": 0.1, "high": 0.9, "reason": None})
    refused = {
        "duplicate column 'seed'": lambda: bb.stability.setting_components(settings[[*settings, "seed"]], "x"),
        "row 0, column 'seed' holds 1e.30": lambda: bb.stability.setting_components(
            settings.assign(seed=[1e30, 1.0, 0.0, 1.0]), "x"
        ),
        "row 1, column 'corpus' holds 7": lambda: bb.stability.setting_components(
            settings.assign(corpus=["a", 7, "b", "b"]), "x"
        ),
        "^row 0, column 'value' is empty": lambda: bb.plots.plot_reliability(reliability.assign(value=["", 0.6])),
        "some: row 1, column 'low' holds .*x": lambda: bb.plots.plot_reliability(
            {"some": reliability.assign(low=[0.1, "x"])}
        ),
    }
    for message, call in refused.items():
        with pytest.raises(bb.InputError, match=message):
            call()
