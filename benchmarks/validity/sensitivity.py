"""False positives under topical controls with small samples of the vocabulary, others for every few replicates."""

from dataclasses import replace

import numpy as np

from benchmarks.inside import related_core, unit_rows
from benchmarks.study import Design, crossed, main
from benchmarks.validity.lists import FIVE, TWO, draw_lists, related_answer, replicate_data
from benchmarks.validity.random_lists import of_answers, subjects_for

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


if __name__ == "__main__":
    main(Design("related/small_samples", crossed(embedding=TWO, words=FIVE), small_samples, 300))
