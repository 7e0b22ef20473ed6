"""Figures of earlier studies on one larger embedding, beside the published ones, and a question that one left open.

Measures of bias (Du, Fang and Nguyen 2021) are correlated over occupations. Direct bias (Mirzaev et al. 2019) is taken
on unit and on raw vectors, and in spaces of fewer dimensions: principal components of the vocabulary, or random ones.
Embeddings are ranked by the queries of Badilla, Bravo-Marquez and Pérez (2020).
"""

import numpy as np
import pandas as pd
from common import SHARED, keep
from gensim.models import KeyedVectors

import bayesbias as bb

DIMS = (10, 25, 50, 100, 200, 300)
REPEATS = 10  # random projections
PUBLISHED = {("db_wa", "ripa"): 0.923, ("db_wa", "nbm"): 0.897, ("ripa", "nbm"): 0.836}
STUDY = [name for name in bb.list_queries()["name"] if name.startswith("wefe_")]
STUDY = [name for name in STUDY if name not in {"wefe_gender_pleasant", "wefe_ethnicity_pleasant"}]
STUDY.remove("wefe_ethnicity_intelligence_appearance")
METRICS = ["weat", "weat_effect_size", "rnd", "rnsb"]


def projected(kv, axes):
    """The vectors on some axes (dims, kept)."""
    made = KeyedVectors(axes.shape[1], count=0)
    made.add_vectors(kv.index_to_key, (kv.vectors.astype(float) @ axes).astype(np.float32))
    return made


def measures(kv):
    scores = bb.reliability.bias_scores([kv], "occ16")
    found = bb.reliability.measure_correlations(scores)
    pairs = [PUBLISHED[pair] for pair in found[["first", "second"]].itertuples(index=False, name=None)]
    return found.assign(published=pairs)


def dimensions(kv):
    rng = np.random.default_rng(0)
    centred = kv.vectors.astype(float) - kv.vectors.mean(axis=0, dtype=float)
    components = np.linalg.eigh(centred.T @ centred)[1][:, ::-1]
    spaces = {("components", dims, 0): components[:, :dims] for dims in DIMS}
    for repeat in range(REPEATS):
        rotation = np.linalg.qr(rng.normal(size=components.shape))[0]
        spaces |= {("random", dims, repeat): rotation[:, :dims] for dims in DIMS[:-1]}
    rows = []
    for (kind, dims, repeat), axes in spaces.items():
        found = bb.stability.direct_bias_study({("google news", kind, dims, repeat): projected(kv, axes)}, draws=200)
        rows.append(found.table())
    table = pd.concat(rows).rename(columns={"algorithm": "axes", "seed": "repeat"})
    figures = ["direct_bias", "raw_direct_bias", "baseline", "standardised"]
    return table.groupby(["axes", "dims"], sort=False)[figures].mean().reset_index()


def ranks(kv):
    """Ranks by every metric, added up as in the study's figure 2, and the queries that have a value."""
    methods = {name: bb.debias(kv, name, definitional="gender_pairs") for name in ("hard", "soft", "project")}
    ranking = bb.rank({"before": kv, **methods}, STUDY, METRICS, draws=0)
    measured = ranking.by_query.dropna(subset="value").groupby(["metric"])["query"].nunique()
    print(f"queries with a value: {measured.to_dict()}", *ranking.notes, sep="\n")
    return ranking.ranks.assign(added=ranking.ranks.sum(axis=1)).rename_axis("embedding").reset_index()


def main():
    kv = bb.load_embedding(SHARED / "embeddings" / "google_news_slice.bin")
    keep(measures(kv).round(3), "baselines/measures")
    keep(dimensions(kv).round(4), "baselines/dimensions")
    keep(ranks(kv), "baselines/ranks")


if __name__ == "__main__":
    main()
