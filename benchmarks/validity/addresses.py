"""Differences of words in the State of the Union addresses between parties and eras."""

import pandas as pd

import bayesbias as bb
from bayesbias.distances import datasets
from bayesbias.documents.regression import CovariateContrast
from benchmarks.study import RESULTS

WORDS = ("women", "immigrants", "labor")
LISTS = ("family", "career")
ERAS = ("1829 to 1899", "1900 to 1959", "1960 to 2021")


def answers() -> dict[str, CovariateContrast]:
    """Word to its contrast by party and era, with presidents as speakers."""
    addresses = datasets.load_dataset("sotu-addresses")
    addresses = addresses[addresses["party"].isin(["Democratic", "Republican"])]
    era = pd.cut(addresses["year"], [1828, 1899, 1959, 2021], labels=list(ERAS)).astype(str)
    sample = bb.instances(addresses.assign(era=era), WORDS, "glove-50d-slice", clusters="president")
    by = bb.covariates(sample, "party + era")
    return {word: by.contrast(*LISTS, target=word) for word in WORDS}


def differences(found: dict[str, CovariateContrast]) -> pd.DataFrame:
    """A row for each word and difference, for words like these and for these words."""
    rows = []
    for word, result in found.items():
        given = result.table(words="given")
        table = result.table().assign(target=word, these_low=given["low"], these_high=given["high"])
        rows.append(table[table["quantity"] == "difference"])
    columns = ["target", "name", "mean", "low", "high", "these_low", "these_high", "equal"]
    return pd.concat(rows)[[*columns, "share_instances", "share_speakers", "share_words"]]


if __name__ == "__main__":
    differences(answers()).round(4).to_csv(RESULTS / "addresses.csv", index=False)
