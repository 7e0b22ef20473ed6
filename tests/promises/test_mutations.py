"""One wrong element in an input would end in a stray error or in NaN; ``benchmarks/mutations.py`` tries all of them."""

import matplotlib.pyplot as plt
import pytest

mutations = pytest.importorskip("benchmarks.mutations", reason="the benchmarks are not here")

FUNCTIONS = ["contrasts", "cell_estimates", "decomposition", "diagnose", "association", "mean_distances", "save_fit"]
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
