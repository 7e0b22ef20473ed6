"""The package would no longer give the posteriors of the published study."""

import json

import numpy as np
import pytest

import bayesbias as bb

FITS = (
    "debiased_religion_reddit",
    "weat_1_reddit",
    "weat_7_reddit",
    "weat_7_glove",
    "gender_group_glove_dataset",
    "gender_group_reddit_dataset",
    "race_group_reddit_dataset",
    "religion_group_glove_dataset",
    "religion_group_reddit_dataset",
)
LOOSER = "religion_group_reddit_dataset"
"""The fit whose own sampling error is larger."""


def distances_to_published(post, published):
    """Differences of posterior means and of the 5.5% and 94.5% quantiles, which the bars are."""
    means, ends = [], []
    posterior = post["posterior"]
    for level in ("global", "words"):
        for bar in published[level]:
            connection = "neutral" if bar["connection"] == "none" else bar["connection"]
            if level == "global":
                draws = posterior["connection_mean"].sel(connection=connection)
            else:
                draws = posterior["word_mean"].sel(connection=connection, protected_word=bar["name"])
            low, high = np.quantile(draws, [0.055, 0.945])
            means.append(abs(float(draws.mean()) - bar["mean"]))
            ends += [abs(low - bar["low"]), abs(high - bar["high"])]
    return np.array(means), np.array(ends)


@pytest.mark.parametrize("name", FITS)
def test_fit_equals_the_published_one(shared, name, sized):
    published = json.loads((shared / "paper_results" / "published_fits.json").read_text())[name]
    table = bb.read_distance_table(shared / "paper_tables" / f"{name}.csv", keep_duplicates=True)
    means, ends = distances_to_published(bb.fit(table, "published", draws=sized(100_000, 40_000), seed=0), published)
    assert means.max() < (0.012 if name == LOOSER else 0.003)
    assert ends.max() < (0.018 if name == LOOSER else 0.006)


def test_all_published_fits_are_here(shared):
    assert set(FITS) == set(json.loads((shared / "paper_results" / "published_fits.json").read_text()))


def test_predictive_shares_of_religion_reddit(shared):
    """The study prints 90% and 55%; 55% is the share inside 55% intervals, as the text (not the caption) says."""
    table = bb.read_distance_table(shared / "paper_tables" / "religion_group_reddit_dataset.csv")
    shares = bb.check_predictions(bb.fit(table, "published", draws=40_000, seed=0), probs=(0.5, 0.55, 0.89)).iloc[0]
    assert shares["inside_89"] == pytest.approx(0.90, abs=0.01)
    assert shares["inside_55"] == pytest.approx(0.55, abs=0.01)
    assert shares["inside_50"] == pytest.approx(0.50, abs=0.01)
