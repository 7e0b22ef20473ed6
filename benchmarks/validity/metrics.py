"""Classic metrics: silhouettes beside the Bayesian contrast, intervals of reliability, and figures of earlier studies.

- ``silhouettes_of_contrasts``: robustness, accuracy, separation and coverage on real vectors and the same with their
  gender direction projected out, the lists of the recorded silhouettes: 100 runs of growing targets and attributes;
- ``reliability_intervals``: coverage of the intervals of intraclass correlations: F against the bootstrap, normal and
  heavy-tailed objects;
- ``measures``: correlations of bias measures over occupations (Du, Fang and Nguyen 2021);
- ``dimensions``: direct bias (Mirzaev et al. 2019) on unit and on raw vectors, and in spaces of fewer dimensions:
  principal components of the vocabulary, or random ones (the replicates).
"""

import json
import time
from functools import cache

import numpy as np
import pandas as pd
from gensim.models import KeyedVectors

import bayesbias as bb
from benchmarks.inside import bootstrap_icc, icc
from benchmarks.study import PROB, SHARED, Design, crossed, main
from benchmarks.validity.lists import SLICE

METRICS = {
    **{name: (name, {}) for name in ("weat_effect_size", "rnsb", "ect", "mac", "crossed")},
    "published": ("crossed", {"model": "published"}),
}
RATERS, FORMS, KINDS = 4, ("ICC(1,1)", "ICC(2,1)", "ICC(3,1)", "ICC(3,k)"), ("normal", "t4")
DIMS = (10, 25, 50, 100, 200, 300)
PUBLISHED = {("db_wa", "ripa"): 0.923, ("db_wa", "nbm"): 0.897, ("ripa", "nbm"): 0.836}


def made(words, vectors):
    kv = KeyedVectors(vectors.shape[1], count=0)
    kv.add_vectors(words, vectors.astype(np.float32))
    return kv


@cache
def recorded():
    """The recorded lists, the combined attributes, and the vectors with and without their gender direction."""
    record = json.loads((SHARED / "oracles" / "bsa_oracles_public.json").read_text())
    biased = bb.load_embedding(SLICE)
    direction = np.array(record["models"]["unbiased_gender_projected"]["direction"])
    unbiased = made(biased.index_to_key, biased.vectors - (biased.vectors @ direction)[:, None] * direction)
    joined = record["modes"]["trimmed"]["orders"]["attribute_combined_ECT"][0]
    return record["lists"], joined, {"biased": biased, "unbiased": unbiased}


@cache
def silhouettes(label, vary, runs):
    """The silhouettes of a metric by model, and seconds."""
    lists, joined, models = recorded()
    name, options = METRICS[label]
    targets, attributes = ({f"{part}_{at}": lists[f"{part}_{at}"] for at in (1, 2)} for part in ("target", "attribute"))
    query, begin = bb.Query(targets, {"both": joined} if name == "ect" else attributes), time.perf_counter()
    how = {"vary": vary, "runs": runs}
    found = {model: bb.silhouettes.silhouette(kv, query, (name, options), **how) for model, kv in models.items()}
    return found, time.perf_counter() - begin


def silhouettes_of_contrasts(cell):
    found, seconds = silhouettes(cell["metric"], cell["vary"], cell.replicates)
    scores = bb.silhouettes.silhouette_uncertainty(*found.values(), resamples=200).set_index("score")
    both = {
        f"{score}{end}": scores.loc[score, column]
        for score in ("accuracy", "separation")
        for end, column in (("", "value"), ("_sd", "sd"))
    }
    for model, one in found.items():
        row = {"model": model, "full": one.values[:, -1].mean(), "robustness": one.robustness, **both}  # noqa: PD011
        row |= {"coverage": np.mean(one.coverage[:-1]), "least_coverage": np.min(one.coverage[:-1])}
        values = cell.replicates * len(one.sizes)
        yield row | {"ms_per_value": 1e3 * seconds / (2 * values), "values": values}


def reliability(cell):
    """Coverage and median width of both intervals on the same tables of ratings."""
    kind, n, truth, form = cell.levels.values()
    rng = np.random.default_rng([n, int(100 * truth), FORMS.index(form), KINDS.index(kind)])
    shape = (cell.replicates, n, 1)
    effects = rng.standard_normal(shape) if kind == "normal" else rng.standard_t(4, shape) / np.sqrt(2)
    noise = rng.standard_normal((cell.replicates, n, RATERS))
    ratings = np.sqrt(truth) * effects + np.sqrt(1 - truth) * noise
    target = RATERS * truth / (1 + (RATERS - 1) * truth) if form[6] == "k" else truth
    by_f, drawn = icc(ratings, form, PROB), bootstrap_icc(ratings, form, PROB, 400, rng)
    covered_f, covered = (np.mean((low <= target) & (target <= high)) for _, low, high in (by_f, drawn))
    yield {
        "tables": cell.replicates,
        "covered_f": covered_f,
        "covered_bootstrap": covered,
        "width_f": np.median(by_f[2] - by_f[1]),
        "width_bootstrap": np.nanmedian(drawn[2] - drawn[1]),
    }


def measures(cell):
    found = bb.reliability.measure_correlations(bb.reliability.bias_scores([bb.load_embedding(SLICE)], "occ16"))
    pairs = [PUBLISHED[pair] for pair in found[["first", "second"]].itertuples(index=False, name=None)]
    return found.assign(published=pairs).to_dict("records")


def dimensions(cell):
    kv, rng = bb.load_embedding(SLICE), np.random.default_rng(0)
    vectors = kv.vectors.astype(float)
    centred = vectors - kv.vectors.mean(axis=0, dtype=float)
    components = np.linalg.eigh(centred.T @ centred)[1][:, ::-1]
    spaces = {("components", dims, 0): components[:, :dims] for dims in DIMS}
    for repeat in range(cell.replicates):
        rotation = np.linalg.qr(rng.normal(size=components.shape))[0]
        spaces |= {("random", dims, repeat): rotation[:, :dims] for dims in DIMS[:-1]}
    rows = []
    for (kind, dims, repeat), axes in spaces.items():
        space = {("google news", kind, dims, repeat): made(kv.index_to_key, vectors @ axes)}
        rows.append(bb.stability.direct_bias_study(space, draws=200).table())
    table = pd.concat(rows).rename(columns={"algorithm": "axes", "seed": "repeat"})
    figures = ["direct_bias", "raw_direct_bias", "baseline", "standardised"]
    return table.groupby(["axes", "dims"], sort=False)[figures].mean().reset_index().to_dict("records")


VARY = ("targets", "attributes")
DESIGNS = (
    Design("silhouettes_of_contrasts", crossed(metric=METRICS, vary=VARY), silhouettes_of_contrasts),
    Design(
        "reliability_intervals",
        crossed(objects=KINDS, n=(10, 20, 50, 150), icc=(0.4, 0.8), form=FORMS),
        reliability,
        400,
    ),
    Design("baselines/measures", [{}], measures, 1, 3),
    Design("baselines/dimensions", [{}], dimensions, 10),
)

if __name__ == "__main__":
    main(*DESIGNS)
