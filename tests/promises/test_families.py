"""A family of models would predict other distances than it has, or a table would lose what its family reads."""

import numpy as np
import pandas as pd

import bayesbias as bb
from bayesbias.models import families
from bayesbias.models.tree import Fit
from benchmarks.simulation import simulate


def test_a_simulated_table_keeps_what_its_family_reads(weat7):
    for model, truth in {
        "related": {"sd_factor": 1.0},
        "published": {"connection_mean": 0.9, "connection_sd": 0.05, "sigma": 0.1},
    }.items():
        simulated = simulate(weat7, model, truth, 0)
        needed = families.family_of(bb.load_model(model)).needs_relatedness
        assert (simulated.relatedness is weat7.relatedness) == needed == (model == "related")
        assert simulated.truth["word_mean"].shape == (16, 4)


def test_predictive_draws_of_rows_and_cells_have_the_same_spread(plain_weat7):
    """Two ways to the same residuals: of each row given its word's effect, and of a cell with that effect drawn."""
    table = plain_weat7[plain_weat7["attribute_word"].isin(plain_weat7["attribute_word"].drop_duplicates()[::2])]
    post, rng = bb.fit(table, "crossed", draws=400, seed=0), np.random.default_rng(0)
    assert "unrelated" in {note.code for note in bb.diagnose(post).notes}
    result = Fit(post)
    family = families.family_of(result.spec)
    rows = family.predicted(result, result.posterior, rng)
    means = result.posterior["word_mean"].to_numpy()
    cells = family.predicted_cells(result, rng)
    scales = {name: result.posterior[name].to_numpy() ** 2 for name in ("sigma", "interaction_sd")}
    residual = np.sqrt(scales["sigma"].mean(axis=(0, 1)))
    effects = result.posterior["attribute_effect"].to_numpy()[:, :, result.places["attribute_word"]]
    groups = result.posterior["interaction_effect"].to_numpy()
    effects = effects + groups[:, :, result.places["attribute_word"], result.data.group_index[result.data.word]]
    places = result.places["protected_word"], result.places["connection"]
    apart = pd.DataFrame({"connection": places[1], "sd": (rows - means[:, :, *places] - effects).std(axis=(0, 1))})
    np.testing.assert_allclose(apart.groupby("connection")["sd"].mean(), residual, rtol=0.03)
    words = scales["interaction_sd"][:, :, None] + result.by_connection("attribute_sd") ** 2
    whole = np.sqrt((scales["sigma"] + words).mean(axis=(0, 1)))
    np.testing.assert_allclose(np.nanstd(cells - means, axis=(0, 1)).mean(axis=0), whole, rtol=0.05)
