"""Rankings would not be those of Table 1 and Figure 1 of the WEFE article, whose overall scores are means."""

import numpy as np
import pandas as pd
import pytest

from bayesbias.baselines.ranking import ranked

METRICS = ["weat", "weat_effect_size", "rnd", "rnsb"]
NAMES = ["conceptnet", "fasttext", "glove-twitter", "glove-wiki", "lexvec", "w2v-debiased", "w2v"]
QUERIES = {"gender": 7, "ethnicity": 9, "religion": 9}
SCORES = {
    "gender": """.37 .20 .01 .02  .71 .47 .02 .02  .50 .41 .13 .23  .66 .84 .18 .29  .79 .71 .33 .32  .16 .08 .00 .03
        .90 .82 .08 .14""",
    "ethnicity": """.46 .14 .03 .03  .49 .20 .06 .04  .75 .42 .16 .07  1.00 .58 .26 .07  .47 .15 .73 .17
        .52 .19 .03 .05  .53 .19 .15 .12""",
    "religion": """.96 .11 .05 .07  .84 .16 .13 .04  .84 .15 .44 .18  1.18 .27 .33 .10  .94 .21 .89 .22
        1.05 .19 .03 .17  1.04 .19 .20 .31""",
    "overall": """.61 .15 .03 .04  .68 .26 .07 .03  .71 .32 .25 .15  .97 .54 .26 .14  .73 .33 .65 .23
        .61 .16 .02 .09  .82 .37 .15 .19""",
}
RANKS = {
    "overall": "2 1 2 2  3 3 3 1  4 4 5 5  7 7 6 4  5 5 7 7  1 2 1 3  6 6 4 6",
    "gender": "2 2 2 1  5 4 3 2  3 3 5 5  4 7 6 6  6 5 7 7  1 1 1 3  7 6 4 4",
}
WEB = [1, 2, 7, 6, 4, 5, 3]


def table(figures):
    return pd.DataFrame(np.array(figures.split(), dtype=float).reshape(7, 4), index=NAMES, columns=METRICS)


def test_the_overall_scores_are_means_over_all_queries():
    mean = sum(table(SCORES[name]) * number for name, number in QUERIES.items()) / sum(QUERIES.values())
    apart = (mean - table(SCORES["overall"])).abs()
    # all 27 others are within their rounding; this one prints .65 where its parts give .68
    assert apart.loc["lexvec", "rnd"] == pytest.approx(0.0256, abs=1e-9)
    apart.loc["lexvec", "rnd"] = 0
    assert apart.max().max() <= 0.005


@pytest.mark.parametrize("part", RANKS)
def test_ranks_are_the_printed_ones_where_the_printed_scores_differ(part):
    scores, printed = table(SCORES[part]), table(RANKS[part])
    found = ranked(scores, {})
    tied = pd.DataFrame({name: scores[name].duplicated(keep=False) for name in METRICS})
    pd.testing.assert_frame_equal(found[~tied], printed[~tied])
    # embeddings whose printed scores tie share the ranks that the article gives them
    for name in METRICS:
        pd.testing.assert_series_equal(found[name], printed.groupby(scores[name])[name].transform("mean"))


def test_a_benchmark_joins_as_in_the_article():
    printed = table(RANKS["overall"])
    found = ranked(printed, {"WEB": dict(zip(NAMES, [-place for place in WEB], strict=True))})
    assert found["WEB"].tolist() == WEB
