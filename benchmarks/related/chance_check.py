"""The sd of a contrast over random lists that are as coherent and as similar to each other as the given ones.

python benchmarks/related/chance_check.py
"""

import pandas as pd
from nulls import RESULTS

import bayesbias as bb

LISTS = ("gender", "weat1", "weat6", "weat7", "weat8")


def row(kv, words):
    """A list's two means and their cosine, those of random lists, and the sd over them beside the posterior's."""
    post = bb.fit(bb.distance_table(kv, words), seed=0)
    null = bb.topic_null(kv, words, replicates=1_000, seed=0)
    alike, contrast = null.similarity.iloc[0], null.table().iloc[0]
    sd = bb.contrasts(post)["sd"].iloc[0]
    return {
        "words": words,
        "cosine": alike["cosine_target"],
        "cosine_of_random": alike["cosine_reached"],
        "null_sd": contrast["sd"],
        "posterior_sd": sd,
        "ratio": contrast["sd"] / sd,
        "p": contrast["p_value"],
    }


def main():
    kv = bb.load_embedding("google-news-slice")
    table = pd.DataFrame([row(kv, words) for words in LISTS]).round(4)
    table.to_csv(RESULTS / "chance_check.csv", index=False)
    print(table.to_string(index=False))


if __name__ == "__main__":
    main()
