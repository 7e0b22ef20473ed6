"""What the sample of the vocabulary, the smoothing and the bins change.

    python benchmarks/related/sensitivity.py sds --cache minilm.npz      # sds of the contrasts of bundled lists
    python benchmarks/related/sensitivity.py small --cache minilm.npz    # false positives for small samples

Ratios are to the sds of the default: 3,000 words, smoothing of .05, bins of .01, 1,000 pairs a bin.
"""

from collections import Counter
from dataclasses import replace

import numpy as np
import pandas as pd
from nulls import (
    OTHERS,
    SHARED,
    Parts,
    arguments,
    contrast_weights,
    draw_lists,
    parsed,
    rate_row,
    related_answer,
    related_core,
    related_model,
    replicate_data,
    rng_for,
    subjects_of,
    unit_rows,
    vocabularies,
)

import bayesbias as bb

SAMPLES = (200, 400, 1000, 2000, 3000, 4000)
SAMPLE_SEEDS = 5
WIDTHS = (0.02, 0.03, 0.05, 0.07, 0.1)
BIN_WIDTHS = (1, 2, 5, 10)
"""Bins of .01 that are put together."""
PAIR_LIMITS = (100, 1000, 10_000)
SMALL = (60, 100, 200, 400, 3000)
PER_SAMPLE = 15
"""Replicates for one small sample."""


def measured_again(subjects, rows, seed, most=None):
    """Relatedness with other sampled words, or with another number of pairs."""
    units = subjects.vocabulary.units[rows].astype(float)
    centre = units.mean(axis=0)
    limit = {} if most is None else {"most": most}
    pairs = related_core.sample_pairs(unit_rows(units - centre), np.random.default_rng([seed, 1]), **limit)
    scatter = -(unit_rows(subjects.base.protected) @ units.T)
    scatter -= scatter.mean(axis=1, keepdims=True)
    words = tuple(subjects.vocabulary.words[row] for row in rows)
    same = {"sample": None, "near": None, "everywhere": None}  # of the words of the other sample
    return replace(subjects.base, sample_words=words, centre=centre, scatter=scatter, pairs=pairs, seed=seed, **same)


def with_components(base, parts):
    """Relatedness with other components."""
    found = replace(base)
    found.__dict__["components"] = replace(parts, variances=parts.variances * base.inflation)
    return found


def coarser(pairs, together):
    """Pairs as if bins were wider."""
    middle = lambda bins: bins // together * together + together // 2  # noqa: E731
    counts = np.bincount(middle(np.arange(related_core.BINS)), pairs.counts, related_core.BINS).round().astype(np.intp)
    return replace(pairs, bins=middle(pairs.bins), counts=counts)


def free_rows(subjects, drawn):
    """Rows of the vocabulary outside of all lists."""
    used = np.concatenate([subjects.rows, *drawn])
    return np.setdiff1d(np.arange(len(subjects.vocabulary.units)), used)


def frequent(vocabulary, rows, count):
    """The rows of the most frequent words by the counts of film subtitles."""
    lines = (SHARED / "frequencies" / "opensubtitles2018_en_50k.txt").read_text(encoding="utf-8").splitlines()
    counts = Counter({word: int(number) for word, number in (line.split() for line in lines)})
    order = sorted(rows, key=lambda row: -counts[vocabulary.words[row]])
    return np.sort(np.array(order[:count]))


def settings(subjects, drawn):
    """Each setting with its value, and the relatedness that it gives."""
    rows = free_rows(subjects, drawn)
    for size in SAMPLES:
        for seed in range(SAMPLE_SEEDS):
            rng = np.random.default_rng([seed, size])
            chosen = np.sort(rng.choice(rows, size, replace=False))
            yield "sample", size, seed, measured_again(subjects, chosen, seed)
    yield "frequent words", 3000, 0, measured_again(subjects, frequent(subjects.vocabulary, rows, 3000), 0)
    yield "rare words", 3000, 0, measured_again(subjects, rest_of(subjects.vocabulary, rows, 3000), 0)
    base = subjects.base
    scatter = base.scatter.astype(float)
    for width in WIDTHS:
        yield "smoothing", width, 0, with_components(base, related_core.components_of(scatter, base.pairs, width))
    for together in BIN_WIDTHS:
        parts = related_core.components_of(scatter, coarser(base.pairs, together))
        yield "bin width", together / 100, 0, with_components(base, parts)
    sampled = subjects.vocabulary.rows(base.sample_words)
    for most in PAIR_LIMITS:
        yield "pairs a bin", most, 0, measured_again(subjects, sampled, base.seed, most)


def rest_of(vocabulary, rows, count):
    """Rows of words that are not among the 6,000 most frequent ones."""
    return np.sort(np.random.default_rng(0).choice(np.setdiff1d(rows, frequent(vocabulary, rows, 6000)), count, False))


def contrast_sds(data):
    """Standard deviations (3,) of the contrasts for a factor of 1."""
    weights = contrast_weights(data)
    return np.sqrt(np.diag(weights @ related_model.related_sums(data).covariance @ weights.T))


def sd_rows(subjects, lists, cell):
    """The sds of the contrasts of bundled lists, and their ratios to the default's."""
    kv = subjects.vocabulary.kv
    listed = [*(lists.stereotypes[name] for name in subjects.names), lists.controls["human"], lists.controls["neutral"]]
    drawn = [subjects.vocabulary.rows([word for word in words if word in kv]) for words in listed]
    default = contrast_sds(replicate_data(subjects, drawn))
    rows = []
    for setting, value, seed, base in settings(subjects, drawn):
        sds = contrast_sds(replicate_data(subjects, drawn, base=base)) / np.sqrt(base.inflation)
        rows += [
            {**cell, "contrast": f"associated - {other}", "setting": setting, "value": value, "seed": seed, "sd": sd}
            | {"ratio": sd / usual}
            for other, sd, usual in zip(OTHERS, sds, default, strict=True)
        ]
    return rows


def small_rows(subjects, cell, replicates, rng):
    """False positives under topical controls with small samples, other ones for every few replicates."""
    drawn = [draw_lists(subjects, "topical controls", rng) for _ in range(replicates)]
    pool = np.setdiff1d(np.arange(len(subjects.vocabulary.units)), subjects.rows)
    rows = []
    for size in SMALL:
        found = []
        for at, lists in enumerate(drawn):
            if at % PER_SAMPLE == 0:
                chosen = np.sort(rng.choice(pool, size, replace=False))
                base = measured_again(subjects, chosen, at)
            found.append(related_answer(replicate_data(subjects, lists, base=base)))
        missed = np.array([one.missed for one in found])
        z = np.array([one.mean / one.sd for one in found])
        by_sample = pd.DataFrame(missed.astype(float)).groupby(np.arange(len(missed)) // PER_SAMPLE).mean()
        for at, other in enumerate(OTHERS):
            row = {**cell, "sample": size, "contrast": f"associated - {other}", **rate_row(missed[:, at])}
            row |= {"se_by_sample": by_sample[at].std(ddof=1) / np.sqrt(len(by_sample)), "z_sd": z[:, at].std(ddof=1)}
            rows.append(row | {"widening": np.sqrt(base.inflation)})
    return rows


def main():
    parser = arguments(__doc__, 300)
    parser.add_argument("part", choices=["sds", "small"])
    given = parsed(parser)
    parts = Parts("sensitivity" if given.part == "sds" else "small_samples", given)
    for vocabulary in vocabularies(given.embeddings, given.cache):
        for name in given.lists:
            lists = bb.load_words(name)
            subjects = subjects_of(vocabulary, lists)
            cell = {"embedding": vocabulary.name, "words": name}
            parts.once(tuple(cell.values()), lambda s=subjects, w=lists, c=cell: rows_of(given, s, w, c))
    report(given, parts.collect())


def rows_of(given, subjects, lists, cell):
    if given.part == "sds":
        return sd_rows(subjects, lists, cell)
    return small_rows(subjects, cell, given.replicates, rng_for(given.seed, *cell.values()))


def report(given, table):
    with pd.option_context("display.width", 200):
        if given.part == "sds":
            print(table.groupby(["setting", "value", "contrast"])["ratio"].describe().round(3).to_string())
        else:
            shown = table.pivot_table(index=["embedding", "words"], columns=["contrast", "sample"], values="rate")
            print((100 * shown).round(0).to_string())


if __name__ == "__main__":
    main()
