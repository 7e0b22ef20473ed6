"""False positives of the model of related words by size of the lists, number of protected words and coherence.

    python benchmarks/related/sizes.py --cache minilm.npz

One size varies at a time around 10 attribute words a list, 10 protected words, nearest neighbours and 50 control words.
The protected words are two random topics of the vocabulary, other ones for every few replicates.
"""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from nulls import (
    OTHERS,
    Parts,
    arguments,
    draw_lists,
    parsed,
    rate_row,
    related_answer,
    replicate_data,
    rng_for,
    subjects_of,
    topic,
    vocabularies,
)

import bayesbias as bb

PER_SUBJECTS = 15
"""Replicates for one choice of protected words."""


@dataclass(frozen=True)
class Design:
    """Sizes of a cell.

    Attributes
    ----------
    attributes, protected, controls
        Words of each stereotype list, of both groups together, and of each control list.
    pool
        A list's words are drawn from so many times as many words nearest to a random one; 0: from all words.
    lists
        Whether controls are random words or topics of eight.
    """

    attributes: int = 10
    protected: int = 10
    controls: int = 50
    pool: int = 1
    lists: str = "topical"


BASE = Design()
VARIED = {
    "attributes": (3, 8, 20, 50),
    "protected": (2, 8, 20, 50),
    "controls": (10, 200),
    "pool": (3, 10, 30, 0),
}


def designs():
    """What varies, and the design: the base twice (controls random, and topics), then one change at a time."""
    topics = replace(BASE, lists="topical controls")
    yield from (("base", BASE), ("base", topics))
    for name, values in VARIED.items():
        yield from ((name, replace(BASE, **{name: value})) for value in values)
    yield from (("controls", replace(topics, controls=value)) for value in VARIED["controls"])


def random_subjects(vocabulary, design, rng):
    """Two random topics of the vocabulary as protected words."""
    free = np.ones(len(vocabulary.units), dtype=bool)
    words = np.array(vocabulary.words, dtype=object)
    protected = {}
    for name in ("first", "second"):
        rows = topic(vocabulary, design.protected // 2, free, rng)
        free[rows] = False
        protected[name] = words[rows].tolist()
    others = words[rng.choice(np.flatnonzero(free), 4, replace=False)].tolist()
    stereotypes = {"first": others[:1], "second": others[1:2]}
    lists = bb.WordLists("random topics", protected, stereotypes, {"human": others[2:3], "neutral": others[3:]})
    sizes = (design.attributes,) * 2 + (design.controls,) * 2
    return subjects_of(vocabulary, lists, sizes, seed=int(rng.integers(1000)))


def cell_rows(vocabulary, design, cell, replicates, rng):
    """Rates of a design, and their standard errors over choices of protected words."""
    answers, choice = [], []
    pool = None if design.pool == 1 else design.pool * design.attributes or len(vocabulary.words)
    for at in range(-(-replicates // PER_SUBJECTS)):
        subjects = random_subjects(vocabulary, design, rng)
        for _ in range(min(PER_SUBJECTS, replicates - at * PER_SUBJECTS)):
            answers.append(related_answer(replicate_data(subjects, draw_lists(subjects, design.lists, rng, pool))))
            choice.append(at)
    missed = np.array([found.missed for found in answers])
    z = np.array([found.mean / found.sd for found in answers])
    by_choice = pd.DataFrame(missed.astype(float)).groupby(np.array(choice)).mean()
    rows = []
    for at, other in enumerate(OTHERS):
        row = {**cell, "contrast": f"associated - {other}", **rate_row(missed[:, at])}
        row |= {"se_by_protected": by_choice[at].std(ddof=1) / np.sqrt(len(by_choice)), "z_sd": z[:, at].std(ddof=1)}
        rows.append(row | {"sd": np.mean([found.sd[at] for found in answers])})
    return rows


def main():
    given = parsed(arguments(__doc__, 300))
    parts = Parts("sizes", given)
    for vocabulary in vocabularies(given.embeddings, given.cache):
        for varied, design in designs():
            cell = {"embedding": vocabulary.name, "varied": varied, **vars(design)}
            rng = rng_for(given.seed, *cell.values())
            parts.once(
                tuple(cell.values()),
                lambda vocabulary=vocabulary, design=design, cell=cell, rng=rng: cell_rows(
                    vocabulary, design, cell, given.replicates, rng
                ),
            )
    print(parts.collect().to_string(index=False))


if __name__ == "__main__":
    main()
