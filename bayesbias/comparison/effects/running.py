"""``side_effects``: what debiasing changed that no bias asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from bayesbias._checks import one_of, probability, several, whole_number
from bayesbias._core.cosine import cosine_distances
from bayesbias._progress import progress
from bayesbias.comparison.effects import recovery as recovering
from bayesbias.comparison.effects.neighbours import mean_kept, neighbours_kept
from bayesbias.comparison.effects.results import SideEffects
from bayesbias.comparison.effects.similarity import COLUMNS as SIMILARITY
from bayesbias.comparison.effects.similarity import agreement, checked_pairs
from bayesbias.comparison.effects.vocabularies import Shared, shared_vocabulary
from bayesbias.comparison.paired import Comparison, compare
from bayesbias.diagnostics.intervals import PROB
from bayesbias.embeddings import Case, Embedding, find_words, opened
from bayesbias.embeddings.looking import CASES
from bayesbias.errors import InputError
from bayesbias.words import CONTROLS

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

MOST = 50_000
CHECKED, APART = 20, 1e-3
"""Pairs whose distances are measured again, and how far they may lie from the table's."""
CONTROL_COLUMNS = ["connection", "mean", "sd", "hdi_low", "hdi_high", "p_below_zero"]


def side_effects(
    before: pd.DataFrame,
    after: pd.DataFrame,
    kv_a: Embedding,
    kv_b: Embedding,
    similarity: pd.DataFrame | Iterable[tuple[str, str, float]] | None = None,
    k: int | Sequence[int] = (10, 100),
    words: int = 500,
    vocabulary: int | None = MOST,
    prob: float = PROB,
    draws: int = 2000,
    seed: int = 0,
    case: Case = "as-is",
    comparison: Comparison | None = None,
) -> SideEffects:
    """What changed beside the bias: neighbours, control distances, similarities, and whether the bias can be found.

    Parameters
    ----------
    before, after
        Distance tables of the two embeddings.
    kv_a, kv_b
        The embeddings, before and after, or what :func:`load_embedding` takes.
    similarity
        Pairs of words with a score of similarity by people: triples, or a DataFrame of three columns.
    k
        Numbers of nearest neighbours.
    words
        How many of the words most biased towards each group before are to be told apart afterwards (Gonen and Goldberg
        took 500): at most, since all together are no more than a quarter of the vocabulary.
    vocabulary
        How many words of ``kv_a``, from its first on, count as neighbours and as biased words (Gonen and Goldberg took
        50,000); None takes all.
    prob
        Mass of the intervals.
    draws, seed
        Bootstrap draws, and the seed of these, of clusters and of folds.
    case
        As in :func:`distance_table`.
    comparison
        What :func:`compare` returned for the two tables, if it is at hand; otherwise they are compared here.

    Raises
    ------
    InputError
        Tables that share no pair, embeddings that share no word or that the tables were not made from, a k that is not
        below the number of shared words, or similarities that are none.

    References
    ----------
    Gonen, H. and Goldberg, Y. (2019). Lipstick on a pig: debiasing methods cover up systematic gender biases in word
    embeddings but do not remove them. NAACL-HLT. https://doi.org/10.18653/v1/N19-1061
    """
    prob = probability(prob, "prob")
    one_of(case, CASES, "case")
    ks = sorted({whole_number(one, "k") for one in several(k)})
    if not ks:
        raise InputError("k is empty: give numbers of nearest neighbours, such as (10, 100)")
    words, draws = whole_number(words, "words"), whole_number(draws, "draws")
    if (seed := whole_number(seed, "seed", least=0)) >= 2**32:
        raise InputError(f"seed is {seed}: give a whole number below 2**32")
    most = None if vocabulary is None else whole_number(vocabulary, "vocabulary", least=2)
    pairs = None if similarity is None else checked_pairs(similarity)
    with progress("looking for side effects", 4) as done:
        compared = compare(before=before, after=after, seed=seed) if comparison is None else _of_two(comparison)
        done(1)
        kinds, groups = _words_of(compared)
        wanted = [word for listed in kinds.values() for word in listed]
        wanted += [word for one, other, _ in pairs or [] for word in (one, other)]
        kvs = [opened(kv) for kv in (kv_a, kv_b)]
        _check_belonging(compared, kvs, case)
        shared = shared_vocabulary(kvs[0], kvs[1], wanted, most, case)
        notes = [*compared.notes, *_missing(shared, kinds)]
        done(2)
        by_word = neighbours_kept(shared, kinds, ks)
        rng = np.random.default_rng(seed)
        done(3)
        similar, reason = pd.DataFrame(columns=SIMILARITY), ""
        if pairs is not None:
            similar, reason = agreement(shared, pairs, prob, draws, rng)
        found, why = _recovery(shared, groups, words, prob, seed)
        done(4)
    return SideEffects(
        neighbours=mean_kept(by_word, prob),
        neighbours_by_word=by_word,
        controls=_controls(compared, prob),
        similarity=similar,
        recovery=found,
        prob=prob,
        notes=(*notes, *(f"{each}." for each in (reason, *why) if each)),
    )


def _of_two(comparison: Comparison) -> Comparison:
    if not isinstance(comparison, Comparison) or len(comparison.embeddings) != 2:
        raise InputError("comparison is none of two embeddings: give what compare returned for the two tables")
    return comparison


def _check_belonging(compared: Comparison, kvs: Sequence[KeyedVectors], case: Case) -> None:
    """Refuse embeddings that do not have the distances of the tables."""
    constant = compared.posterior["constant_data"].to_dataset()
    chosen = np.linspace(0, constant.sizes["pair"] - 1, CHECKED).astype(int)
    left = constant["protected_word"].to_numpy()[constant["word_index"].to_numpy()[chosen]].tolist()
    right = constant["attribute_word"].to_numpy()[constant["attribute_index"].to_numpy()[chosen]].tolist()
    distances = compared.posterior["observed_data/distance"].to_numpy()[chosen]
    for at, (name, kv) in enumerate(zip(("kv_a", "kv_b"), kvs, strict=True)):
        found = find_words(kv, dict.fromkeys([*left, *right]), case)
        for one, other, distance in zip(left, right, distances[:, at], strict=True):
            if one not in found.keys or other not in found.keys:
                continue
            own = float(cosine_distances(found.of([one]), found.of([other]))[0, 0])
            if abs(own - distance) > APART:
                raise InputError(
                    f"{name} does not belong to its table: {one} and {other} are {own:.3f} apart in it and "
                    f"{distance:.3f} in the table; give the embeddings in the order of the tables"
                )


def _words_of(compared: Comparison) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Kind to words, and group to protected words, of the pairs that are compared."""
    constant = compared.posterior["constant_data"].to_dataset()
    connection = constant["connection"].to_numpy()[constant["connection_index"].to_numpy()]
    attribute = constant["attribute_word"].to_numpy()[constant["attribute_index"].to_numpy()]
    control = np.isin(connection, CONTROLS)
    protected = constant["protected_word"].to_numpy().tolist()
    own = list(dict.fromkeys(attribute[~control].tolist()))
    kinds = {
        "protected": protected,
        "attribute": own,
        "control": [word for word in dict.fromkeys(attribute[control].tolist()) if word not in set(own)],
    }
    groups: dict[str, list[str]] = {}
    for word, group in zip(protected, constant["group"].to_numpy().tolist(), strict=True):
        groups.setdefault(group, []).append(word)
    return {kind: words for kind, words in kinds.items() if words}, groups


def _missing(shared: Shared, kinds: Mapping[str, Sequence[str]]) -> list[str]:
    held = set(shared.words)
    notes = []
    for kind, words in kinds.items():
        lost = [word for word in words if word not in held]
        if len(lost) == len(words):
            raise InputError(
                f"the embeddings hold none of the {len(words)} {kind} words of the tables ({', '.join(lost[:5])}): "
                "give the embeddings that the tables were made from"
            )
        if lost:
            notes.append(f"{len(lost)} {kind} words of the tables are not in both embeddings: {', '.join(lost[:8])}.")
    return notes


def _controls(compared: Comparison, prob: float) -> pd.DataFrame:
    rows = []
    for name in CONTROLS:
        if name in compared.connections:
            row = compared.changes(name, prob=prob).iloc[0]
            rows.append((name, *(row[column] for column in CONTROL_COLUMNS[1:])))
    return pd.DataFrame(rows, columns=CONTROL_COLUMNS)


def _recovery(
    shared: Shared, groups: Mapping[str, Sequence[str]], words: int, prob: float, seed: int
) -> tuple[pd.DataFrame, list[str]]:
    """The test of Gonen and Goldberg, and what there is to say about it."""
    nothing = pd.DataFrame(columns=recovering.COLUMNS)
    known = {name: listed for name, listed in groups.items() if name and len(shared.rows(listed))}
    if len(known) < 2:
        return nothing, ["Whether the old bias can be found was not tested: that needs two groups of protected words"]
    rows, _ = recovering.most_biased(shared, known, words)
    each = len(rows) // len(known)
    if each < recovering.FEWEST:
        return nothing, [
            f"Whether the old bias can be found was not tested: {each} words of each group could be told apart, "
            f"{recovering.FEWEST} are needed"
        ]
    notes = []
    if each < words:
        notes.append(
            f"{each} words of each group were told apart in place of {words}: of the {len(shared.words):,} words "
            "of the vocabulary a quarter at most counts as biased"
        )
    return recovering.recovery(shared, known, words, prob, seed), notes
