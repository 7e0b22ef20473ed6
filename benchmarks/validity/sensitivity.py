"""The sample of the vocabulary behind relatedness.

- ``sensitivity``: sds of the contrasts of bundled lists, by number of words and with the most frequent words, over
  those of the default: 3,000 words;
- ``small_samples``: false positives under topical controls with small samples, others for every few replicates.
"""

from collections import Counter
from dataclasses import replace

import numpy as np

import bayesbias as bb
from benchmarks.inside import related_core, related_model, unit_rows
from benchmarks.study import SHARED, Design, crossed, main
from benchmarks.validity.lists import (
    FIVE,
    OTHERS,
    TWO,
    contrast_weights,
    draw_lists,
    given_rows,
    related_answer,
    replicate_data,
)
from benchmarks.validity.random_lists import of_answers, subjects_for

SAMPLES, SAMPLE_SEEDS = (200, 400, 1000, 2000, 3000, 4000), 5
SMALL, PER_SAMPLE = (60, 100, 200, 400, 3000), 15
"""Words of small samples, and replicates for one of them."""


def measured_again(subjects, rows, seed):
    """Relatedness with other sampled words."""
    units = subjects.vocabulary.units[rows].astype(float)
    centre = units.mean(axis=0)
    pairs = related_core.sample_pairs(unit_rows(units - centre), np.random.default_rng([seed, 1]))
    scatter = -(unit_rows(subjects.base.protected) @ units.T)
    scatter -= scatter.mean(axis=1, keepdims=True)
    words = tuple(subjects.vocabulary.words[row] for row in rows)
    same = {"sample": None, "near": None, "everywhere": None}  # of the words of the other sample
    return replace(subjects.base, sample_words=words, centre=centre, scatter=scatter, pairs=pairs, seed=seed, **same)


def frequent(vocabulary, rows, count):
    """The rows of the most frequent words by the counts of film subtitles."""
    lines = (SHARED / "frequencies" / "opensubtitles2018_en_50k.txt").read_text(encoding="utf-8").splitlines()
    counts = Counter({word: int(number) for word, number in (line.split() for line in lines)})
    return np.sort(np.array(sorted(rows, key=lambda row: -counts[vocabulary.words[row]])[:count]))


def settings(subjects, drawn):
    """Each setting with its value and seed, and the relatedness that it gives."""
    vectors = subjects.vocabulary
    rows = np.setdiff1d(np.arange(len(vectors.units)), np.concatenate([subjects.rows, *drawn]))
    for size in SAMPLES:
        for seed in range(SAMPLE_SEEDS):
            chosen = np.random.default_rng([seed, size]).choice(rows, size, replace=False)
            yield "sample", size, seed, measured_again(subjects, np.sort(chosen), seed)
    yield "frequent words", 3000, 0, measured_again(subjects, frequent(vectors, rows, 3000), 0)


def contrast_sds(data):
    """Standard deviations (3,) of the contrasts for a factor of 1."""
    weights = contrast_weights(data)
    return np.sqrt(np.diag(weights @ related_model.related_sums(data).covariance @ weights.T))


def sensitivity(cell):
    subjects = subjects_for(cell)
    drawn = given_rows(subjects, bb.load_words(cell["words"]))
    default = contrast_sds(replicate_data(subjects, drawn))
    for setting, value, seed, base in settings(subjects, drawn):
        sds = contrast_sds(replicate_data(subjects, drawn, base=base)) / np.sqrt(base.inflation)
        labels = {"setting": setting, "value": value, "seed": seed}
        for other, sd, usual in zip(OTHERS, sds, default, strict=True):
            yield {"contrast": f"associated - {other}", **labels, "sd": sd, "ratio": sd / usual}


def small_samples(cell):
    subjects, rng = subjects_for(cell), cell.generator()
    drawn = [draw_lists(subjects, "topical controls", rng) for _ in range(cell.replicates)]
    pool = np.setdiff1d(np.arange(len(subjects.vocabulary.units)), subjects.rows)
    choice = np.arange(cell.replicates) // PER_SAMPLE
    for size in SMALL:
        found = []
        for at, lists in enumerate(drawn):
            if at % PER_SAMPLE == 0:
                base = measured_again(subjects, np.sort(rng.choice(pool, size, replace=False)), at)
            found.append(related_answer(replicate_data(subjects, lists, base=base)))
        for row in of_answers(found, se_by_sample=choice):
            del row["sd"]
            yield {"sample": size, **row, "widening": np.sqrt(base.inflation)}


CELLS = crossed(embedding=TWO, words=FIVE)
DESIGNS = (
    Design("related/sensitivity", CELLS, sensitivity, 1),
    Design("related/small_samples", CELLS, small_samples, 300),
)

if __name__ == "__main__":
    main(*DESIGNS)
