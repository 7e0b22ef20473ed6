"""How often intervals for protected words like these miss the mean of a population, under the model of related words.

    python benchmarks/related/populations.py --cache minilm.npz    # some minutes

Attribute lists are random lists of the vocabulary, so that every protected word's contrasts are 0 in expectation; each
protected word is then moved in each connection by a normal shift; shifts of words of one family are correlated as the
vectors say. The population's contrasts are 0. Nominal: 11%.
"""

from functools import partial

import numpy as np
from nulls import (
    OTHERS,
    SPEC,
    TAIL,
    Parts,
    arguments,
    draw_lists,
    parsed,
    rate_row,
    related_core,
    related_model,
    replicate_data,
    rng_for,
    subjects_of,
    vocabularies,
)

import bayesbias as bb

SDS = (0.0, 0.03, 0.1)
"""Standard deviation of the shifts of protected words in one connection."""
COUNTS = ((2, 4), (None, None))
"""Protected words and stereotype words of a group; None for those of the list."""
DRAWS = 1000


def reduced(lists, protected, stereotypes):
    """The first words of each group."""
    if protected is None:
        return lists
    first = dict(list(lists.protected.items())[:2])
    return bb.WordLists(
        lists.name,
        {group: words[:protected] for group, words in first.items()},
        {group: lists.stereotypes[group][:stereotypes] for group in first},
        {name: words[: 2 * stereotypes] for name, words in lists.controls.items()},
    )


def rows_of(subjects, sd, replicates, cell):
    """Rates, mean widths and posterior standard deviations of protected words."""
    missed, width, spread = [], [], []
    template = subjects.template
    root = related_core.root_of(subjects.base.families(template.protected_words.tolist()))
    for at in range(replicates):
        rng = rng_for(*cell.values(), at)
        drawn = draw_lists(subjects, "random", rng)
        data = replicate_data(subjects, drawn, sd * root @ rng.standard_normal(template.filled.shape))
        posterior = related_model.sample(SPEC, data, 1, DRAWS, rng).posterior
        mean, names = posterior["connection_mean"][0], data.connections.tolist()
        apart = mean[:, [names.index("associated")]] - mean[:, [names.index(other) for other in OTHERS]]
        low, high = np.quantile(apart, [TAIL, 1 - TAIL], axis=0)
        missed.append((low > 0) | (high < 0))
        width.append(high - low)
        spread.append(np.median(posterior["connection_sd"][0], axis=0)[names.index("associated")])
    return [
        {**cell, "contrast": f"associated - {other}", **rate_row(np.array(missed)[:, at])}
        | {"width": np.mean(width, axis=0)[at], "connection_sd": np.mean(spread)}
        for at, other in enumerate(OTHERS)
    ]


def main():
    given = parsed(arguments(__doc__, 300))
    parts = Parts("populations", given)
    for vocabulary in vocabularies(given.embeddings, given.cache):
        for name in given.lists:
            for protected, stereotypes in COUNTS:
                lists = reduced(bb.load_words(name), protected, stereotypes)
                subjects = subjects_of(vocabulary, lists)
                for sd in SDS:
                    words = len(subjects.protected)
                    cell = {"embedding": vocabulary.name, "lists": name, "words": words, "sd": sd}
                    parts.once(tuple(cell.values()), partial(rows_of, subjects, sd, given.replicates, cell))
    table = parts.collect()
    print(table.groupby(["words", "sd", "contrast"])[["rate", "width", "connection_sd"]].mean().round(3).to_string())


if __name__ == "__main__":
    main()
