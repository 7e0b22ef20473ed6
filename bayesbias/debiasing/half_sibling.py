"""Half-sibling regression: what group words predict of other words is taken off them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from bayesbias._checks import finite_number
from bayesbias.debiasing.hard import Changed
from bayesbias.debiasing.records import Debiasing
from bayesbias.debiasing.vocabulary import Vocabulary, complete_sets, rows_to_change


def half_sibling(
    vocabulary: Vocabulary,
    definitional: Sequence[Sequence[str]],
    penalty: float = 60.0,
    neutralize: Iterable[str] | None = None,
    ignore: Iterable[str] = (),
) -> Changed:
    """Subtract from each word its ridge regression on the vectors of the defining words, which stay as they are.

    A word's vector is the response and its dimensions are the observations; the defining words are the predictors.
    """
    penalty = finite_number(penalty, "penalty", positive=True)
    sets, notes = complete_sets(vocabulary, definitional, "definitional", least=1)
    words = tuple(dict.fromkeys(word for words in sets for word in words))
    rows, lost = rows_to_change(vocabulary, neutralize, (*ignore, *words))
    group = vocabulary.vectors(words)
    hat = group.T @ np.linalg.solve(group @ group.T + penalty * np.eye(len(words)), group)
    count = len(vocabulary.unit) if rows is None else len(rows)
    record = Debiasing(
        "half_sibling", np.empty((0, group.shape[1])), sets=sets, neutralized=count, notes=(*notes, *lost)
    )
    return vocabulary.mapped(np.eye(group.shape[1]) - hat, rows), record
