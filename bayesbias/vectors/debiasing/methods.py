"""The debiasing methods."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigh
from scipy.sparse.linalg import LinearOperator, cg

from bayesbias._support.arguments import finite_number, is_list, one_of, plain, whole_number
from bayesbias.errors import InputError, listed, many, shown
from bayesbias.numerics.arrays import (
    NOTHING,
    FloatArray,
    IntArray,
    beyond_rounding,
    equal_rows,
    principal_directions,
    spanned,
    unit_rows,
    unit_single,
    without,
)
from bayesbias.results import Cited, Note, Result, restored, stored
from bayesbias.vectors.lookup import find_keys, find_words, first_keys, left_out, lost_of, rows_of
from bayesbias.vectors.poles import pairs_of

if TYPE_CHECKING:
    import pandas as pd
    from gensim.models import KeyedVectors

BLOCK = 20_000  # vectors that are changed together

Words = tuple[str, ...]


@dataclass(frozen=True)
class Vocabulary:
    """An embedding's words, its vectors scaled to length 1, and which of them a method is to change.

    ``kv`` stays as it is; ``chosen`` are rows of the words to change (None: all); the last ``sampled`` rows stand for
    the rest of the vocabulary: they are changed, and not counted.
    """

    kv: KeyedVectors
    chosen: IntArray | None = None
    sampled: int = 0

    def __len__(self) -> int:
        return len(self.kv.index_to_key)

    @property
    def count(self) -> int:
        """Number of words to be changed."""
        size = len(self) - self.sampled
        return size if self.chosen is None else int((self.chosen < size).sum())

    def unit(self, rows: slice | IntArray) -> NDArray[np.float32]:
        """Unit vectors (words, dimensions) of some rows in single precision; vectors of zeros stay zeros."""
        return unit_single(np.asarray(self.kv.vectors[rows]))

    def blocks(self, rows: IntArray | None = None) -> Iterator[tuple[slice | IntArray, NDArray[np.float32]]]:
        """Rows and their unit vectors, some at a time; None: all rows."""
        for begin in range(0, len(self) if rows is None else len(rows), BLOCK):
            part = slice(begin, begin + BLOCK)
            places = part if rows is None else rows[part]
            yield places, self.unit(places)

    def gram(self, rows: IntArray | None) -> FloatArray:
        """Sum of x x' (dimensions, dimensions) over unit vectors, in double precision."""
        total = np.zeros((self.kv.vector_size, self.kv.vector_size))
        for _, unit in self.blocks(rows):
            block = unit.astype(np.float64)
            total += block.T @ block
        return total

    def rows(self, words: Iterable[str]) -> IntArray:
        """Rows of words that the embedding holds."""
        return rows_of(self.kv, words)

    def keys(self, words: Iterable[str]) -> dict[str, str]:
        """Word to the key under which the embedding holds it, of those that it holds."""
        return find_keys(words, self.kv.key_to_index)

    def vectors(self, words: Iterable[str]) -> FloatArray:
        """Unit vectors of words in double precision."""
        return unit_rows(self.kv.vectors[self.rows(words)])

    def without(self, directions: FloatArray) -> NDArray[np.float32]:
        """All unit vectors, with orthonormal directions taken off those to change."""
        return self.mapped(np.eye(directions.shape[1]) - directions.T @ directions)

    def mapped(self, matrix: FloatArray, centre: FloatArray | None = None) -> NDArray[np.float32]:
        """All unit vectors at length 1, those to change times a (dimensions, dimensions) matrix about a centre or 0."""
        changed = np.empty(self.kv.vectors.shape, dtype=np.float32)
        if self.chosen is not None:
            for places, block in self.blocks():
                changed[places] = block
        narrow = matrix.astype(np.float32)
        fixed = None if centre is None else (centre - centre @ matrix).astype(np.float32)
        for places, unit in self.blocks(self.chosen):
            block = unit @ narrow if fixed is None else unit @ narrow + fixed
            lengths = np.sqrt(np.vecdot(block, block, dtype=np.float64))[:, None].astype(np.float32)
            changed[places] = np.divide(block, lengths, out=np.zeros_like(block), where=lengths > NOTHING)
        return changed


def _complete_sets(
    vocabulary: Vocabulary, sets: object, name: str, least: int = 2
) -> tuple[tuple[Words, ...], list[Note]]:
    """Sets of which the embedding holds every word, and notes on the others."""
    every = _as_sets(sets, name, least)
    asked = list(dict.fromkeys(chain.from_iterable(every)))
    present = find_words(vocabulary.kv, asked).keys
    whole = tuple(words for words in every if present.keys() >= {*words})
    lacking = {words: "/".join(word for word in words if word not in present) for words in every if words not in whole}
    gone = [f"{'/'.join(words)} (no {lost})" for words, lost in lacking.items()]
    if not whole:
        raise InputError(
            f"{name}: the embedding holds no set with all its words: {listed(gone, 5)}; "
            f"{first_keys(vocabulary.kv, asked)}"
        )
    lost = left_out(len(every) - len(whole), len(every), f"{name} sets", "words missing", gone)
    return whole, [*lost_of(name, {"": asked}, present), *lost]


def _as_sets(sets: object, name: str, least: int) -> list[Words]:
    """Sets of words as tuples, of groups word by word; the name of an axis or a list of pairs stands for its pairs."""
    if isinstance(sets, str):
        return list(pairs_of(sets, name))
    values: Any = zip(*sets.values(), strict=True) if isinstance(sets, Mapping) else sets
    made = [tuple(dict.fromkeys(as_words(words, f"a set of {name}"))) for words in values]
    if not made or min(map(len, made)) < least:
        raise InputError(f"{name} is {shown(sets)}: give sets of {least} words at least, such as [('he', 'she'), ...]")
    return made


def as_words(words: object, name: str) -> list[str]:
    """Words as a list."""
    every: list[Any] = list(words) if is_list(words) else [None]
    if not all(isinstance(word, str) for word in every):
        raise InputError(f"{name} is {shown(words)}: give a list of words")
    return every


def vocabulary_of(
    kv: KeyedVectors, neutralize: Iterable[str] | None = None, ignore: Iterable[str] = (), sampled: int = 0
) -> tuple[Vocabulary, list[Note]]:
    """An embedding with the words to change (None: all) but for those to ignore, and notes on words not found."""
    notes: list[Note] = []
    whole, rows = Vocabulary(kv, sampled=sampled), {"neutralize": np.arange(len(kv.index_to_key))}
    for name, words in (("neutralize", neutralize), ("ignore", ignore)):
        if words is not None:
            known = whole.keys(asked := as_words(words, name))
            lost = [word for word in asked if word not in known]
            notes += left_out(len(lost), len(asked), f"words to {name}", "not in the embedding", lost)
            rows[name] = whole.rows(known.values())
    chosen = np.setdiff1d(rows["neutralize"], rows["ignore"])
    return whole if len(chosen) == len(whole) else replace(whole, chosen=chosen), notes


PAIRED = ("definitional", "equalize")  # options that may be pairs
CHANGED = ("neutralize", "ignore")  # options of every method: which words it changes
NAMING = (*PAIRED, *CHANGED)  # options that name words


@dataclass(frozen=True, repr=False)
class Debiasing(Result):
    """The record of a debiasing: its method, the directions and sets that it used, and its notes.

    Attributes
    ----------
    subspace, explained
        Orthonormal directions (k, dimensions) that were removed or lowered, and the share of the variance of the
        defining sets along each of their principal directions, the strongest first.
    sets, groups
        The defining sets that were used, with all their words; of methods that take groups, group to the words held.
    neutralized, equalized
        How many words lost their part along the subspace, and the sets that were made to differ along it only; of sets
        that share a word the last one does.
    trace
        A number a step: objective (``soft``) or cross-validated accuracy of finding the group (``null_space``).
    """

    prob: ClassVar[float] = 0.89

    method: str
    subspace: FloatArray
    explained: FloatArray = field(default_factory=lambda: np.empty(0))
    sets: tuple[tuple[str, ...], ...] = ()
    neutralized: int = 0
    equalized: tuple[tuple[str, ...], ...] = ()
    trace: FloatArray = field(default_factory=lambda: np.empty(0))
    options: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    source: str = ""
    doi: str = ""
    groups: Mapping[str, Words] = field(default_factory=dict)

    def caption(self) -> str:
        """The method, and how many words it changed: what the facts on an embedding have of it."""
        return f"{self.method}: {many(self.neutralized, 'word')} changed"

    def header(self) -> dict[str, object]:
        """Facts of what was done."""
        every = len(self.equalized)
        return {
            "directions": len(self.subspace),
            "sets": len(self.sets),
            "equalised": f"{every - _shared(self.equalized)} of {every}" if every else None,
            "groups": [f"{name} {len(words)}" for name, words in self.groups.items()],
            "steps": max(len(self.trace) - 1, 0) or None,
            "options": [f"{n} {value}" for n, value in self.options.items() if n not in (*NAMING, "subspace")],
        }

    def sources(self) -> tuple[Any, ...]:
        """The method."""
        return (Cited(f"debiasing method {self.method}", self.source, self.doi),)

    def table(self) -> pd.DataFrame:
        """One row a direction: its share of the variance of the defining sets, where that is known."""
        import pandas as pd

        shares = pd.Series(self.explained).reindex(range(len(self.subspace)))
        return pd.DataFrame({"direction": np.arange(1, len(shares) + 1), "explained": shares.astype(float)})

    def summary(self) -> pd.DataFrame:
        """The directions; without shares of variance the groups, or the sets."""
        return self.tables()["Groups" if self.groups else "Directions" if len(self.subspace) else "Sets"]

    def tables(self) -> dict[str, pd.DataFrame]:
        """Directions, ``step`` and ``value`` of the trace, words of sets by their ``use``, and words of groups."""
        import pandas as pd

        used = {"defining": self.sets, "equalised": self.equalized}
        uses = [("/".join(words), use) for use, sets in used.items() for words in sets]
        groups = [(name, len(words), ", ".join(words)) for name, words in self.groups.items()]
        return {
            "Directions": self.table(),
            "Steps": pd.DataFrame({"step": np.arange(len(self.trace)), "value": self.trace}),
            "Sets": pd.DataFrame(uses, columns=["set", "use"]),
            "Groups": pd.DataFrame(groups, columns=["group", "count", "words"]),
        }


def recorded(debiasing: Debiasing) -> dict[str, Any]:
    """A debiasing as plain values, as a file keeps it."""
    values: dict[str, Any] = plain(vars(debiasing) | {"notes": stored(debiasing.notes)})
    return values


def debiasing_from(known: Mapping[str, Any], dimensions: int) -> Debiasing:
    """The record of a debiasing of vectors with so many dimensions from its plain values in a file."""
    made: dict[str, Any] = {name: np.array(known[name], dtype=float) for name in ("explained", "trace")}
    made |= {name: tuple(map(tuple, known[name])) for name in ("sets", "equalized")}
    made["subspace"] = np.array(known["subspace"], dtype=float).reshape(-1, dimensions)
    made["groups"] = {group: tuple(words) for group, words in known["groups"].items()}
    return Debiasing(**{**known, **made, "notes": restored(known["notes"])})


Changed = tuple[NDArray[np.float32], Debiasing]


def project(
    vocabulary: Vocabulary,
    definitional: Sequence[Sequence[str]] | None = None,
    subspace: ArrayLike | None = None,
    components: int = 1,
) -> Changed:
    """Take the directions of defining sets, or given ones, off all words."""
    if (definitional is None) == (subspace is None):
        raise InputError("project takes definitional sets of words or a subspace: give one of the two")
    if definitional is not None:
        sets, directions, shares, notes = defined(vocabulary, definitional, components)
    else:
        matrix = np.atleast_2d(np.asarray(subspace, dtype=np.float64))
        directions, _ = spanned(matrix, float(np.linalg.norm(matrix, axis=1).max()))
        sets, shares, notes = (), np.empty(0), []
    record = Debiasing("project", directions, shares, sets, vocabulary.count, notes=tuple(notes))
    return vocabulary.without(directions), record


def hard(
    vocabulary: Vocabulary, definitional: Sequence[Sequence[str]], equalize: Sequence[Sequence[str]] | None = None
) -> Changed:
    """Neutralise words along the first principal direction of defining pairs, then equalise pairs.

    Pairs are equalised as given, in lower case, with capital first letters and in capitals, where the embedding holds
    both words.
    """
    sets, directions, shares, notes = defined(vocabulary, definitional, 1)
    pairs: tuple[Words, ...] = ()
    if equalize is not None:
        whole = dict[Words, list[Words]]()  # pairs to those of their spellings that the embedding holds
        kept = dict[Words, Words]()  # pairs of keys to the first pair that stands for them
        for pair in _as_sets(equalize, "equalize", 2):
            forms = [pair, *(tuple(map(form, pair)) for form in (str.lower, str.title, str.upper))]
            keys = vocabulary.keys(chain.from_iterable(forms))
            whole[pair] = [form for form in forms if keys.keys() >= {*form}]
            for form in whole[pair]:
                kept.setdefault(tuple(keys[word] for word in form), form)
        pairs = tuple(kept.values())
        gone = [pair for pair, forms in whole.items() if not forms]
        notes += left_out(len(gone), len(whole), "pairs to equalise", "words missing", map("/".join, gone))
    changed = vocabulary.without(directions)
    notes += _equalise(vocabulary, changed, pairs, directions, "simultaneous")
    return changed, Debiasing("hard", directions, shares, sets, vocabulary.count, pairs, notes=tuple(notes))


def hard_multiclass(
    vocabulary: Vocabulary,
    definitional: Sequence[Sequence[str]] | Mapping[str, Sequence[str]],
    equalize: Sequence[Sequence[str]] | None = None,
    components: int = 2,
    order: Literal["simultaneous", "sequential"] = "simultaneous",
) -> Changed:
    """Neutralise words along principal directions of defining sets, then equalise sets.

    ``order="simultaneous"`` equalises every set from the vectors as they were, the last set of a word deciding (WEFE);
    ``"sequential"`` from vectors that earlier sets have changed already (Manzini's program).
    """
    one_of(order, ("simultaneous", "sequential"), "order")
    used, directions, shares, notes = defined(vocabulary, definitional, components)
    also, more = (used, []) if equalize is None else _complete_sets(vocabulary, equalize, "equalize")
    changed = vocabulary.without(directions)
    notes += [*more, *_equalise(vocabulary, changed, also, directions, order)]
    return changed, Debiasing("hard_multiclass", directions, shares, used, vocabulary.count, also, notes=tuple(notes))


def defined(
    vocabulary: Vocabulary, sets: object, components: int
) -> tuple[tuple[Words, ...], FloatArray, FloatArray, list[Note]]:
    """Whole defining sets whose words differ, their principal directions, shares of variance, and notes."""
    whole, notes = _complete_sets(vocabulary, sets, "definitional")
    vectors = {words: vocabulary.vectors(words) for words in whole}
    differing = tuple(words for words, rows in vectors.items() if beyond_rounding(rows - rows.mean(axis=0)).any())
    equal = ["/".join(words) for words in whole if words not in differing]
    if not differing:
        raise NothingLeftError(f"the words of {listed(equal)} have one vector, so that nothing sets them apart")
    notes += left_out(len(equal), len(whole), "definitional sets", "words of one vector", equal)
    directions, shares = principal_directions([vectors[words] for words in differing])
    if whole_number(components, "components") > len(directions):
        raise InputError(f"components is {components}: these sets differ in at most {len(directions)} directions")
    return differing, directions[:components], shares[: len(directions)], notes


class NothingLeftError(InputError):
    """Defining words are equal but for rounding, as they are where they were debiased before."""


def equalised(vectors: FloatArray, directions: FloatArray) -> FloatArray:
    """Members of a set with one part outside the directions and parts inside of one length, as unit vectors.

    What they share outside is their mean there; inside, each keeps the direction in which it departs from their mean.
    A member that does not depart from it stays at the mean.
    """
    mean = vectors.mean(axis=0)
    shared = without(mean[None], directions)[0]
    inside = ((vectors - mean) @ directions.T) @ directions
    lengths = np.linalg.norm(inside, axis=1, keepdims=True)
    towards = np.divide(inside, lengths, out=np.zeros_like(inside), where=lengths > NOTHING)
    return unit_rows(shared + np.sqrt(max(1 - shared @ shared, 0.0)) * towards)


def _equalise(
    vocabulary: Vocabulary, changed: NDArray[np.float32], sets: tuple[Words, ...], directions: FloatArray, order: str
) -> list[Note]:
    """Write equalised vectors of sets into ``changed``; a note on those whose words stand in a later set too."""
    keys = vocabulary.keys(chain.from_iterable(sets))
    held = [[keys[word] for word in words] for words in sets]
    moved = {key: vector for words in held for key, vector in zip(words, vocabulary.vectors(words), strict=True)}
    for words in held:
        before = np.stack([moved[word] for word in words]) if order == "sequential" else vocabulary.vectors(words)
        after = equalised(before, directions)
        moved |= dict(zip(words, after, strict=True))
        changed[vocabulary.rows(words)] = after
    shared = [word for word, count in Counter(chain.from_iterable(sets)).items() if count > 1]
    return left_out(_shared(sets), len(sets), "equalised sets", "words of later sets", shared)


def _shared(sets: Iterable[Words]) -> int:
    """Number of sets of which a word stands in a later set too, which counts for it."""
    last = {word: words for words in sets for word in words}
    return sum(any(last[word] != words for word in words) for words in sets)


def half_sibling(vocabulary: Vocabulary, definitional: Sequence[Sequence[str]], penalty: float = 60.0) -> Changed:
    """Subtract from each word its ridge regression on the vectors of the defining words, which stay as they are.

    A word's vector is the response and its dimensions are the observations; the defining words are the predictors.
    """
    penalty = finite_number(penalty, "penalty", positive=True)
    sets, notes = _complete_sets(vocabulary, definitional, "definitional", least=1)
    words = tuple(dict.fromkeys(vocabulary.keys(chain.from_iterable(sets)).values()))
    every = np.arange(len(vocabulary)) if vocabulary.chosen is None else vocabulary.chosen
    others = replace(vocabulary, chosen=every[~np.isin(every, vocabulary.rows(words))])
    group = vocabulary.vectors(words)
    hat = group.T @ np.linalg.solve(group @ group.T + penalty * np.eye(len(words)), group)
    nothing = np.empty((0, group.shape[1]))
    record = Debiasing("half_sibling", nothing, sets=sets, neutralized=others.count, notes=tuple(notes))
    return others.mapped(np.eye(group.shape[1]) - hat), record


def null_space(
    vocabulary: Vocabulary,
    definitional: Mapping[str, Sequence[str]] | Sequence[Sequence[str]],
    iterations: int = 35,
    seed: int = 0,
) -> Changed:
    """Take off all words what a logistic regression tells the groups' words apart by, again and again.

    It stops when five-fold cross-validation finds the group no better than always naming the largest one, give or take
    a standard error, or after so many iterations.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_score

    most, seed = whole_number(iterations, "iterations"), whole_number(seed, "seed", least=0, most=None)
    groups, labels, notes = labelled(vocabulary, definitional)
    vectors = vocabulary.vectors(chain.from_iterable(groups.values()))
    chance = np.bincount(labels).max() / len(labels)
    # one binomial standard error above the share of the largest group
    enough = chance + np.sqrt(chance * (1 - chance) / len(labels))
    directions, trace = np.empty((0, vectors.shape[1])), list[float]()
    classifier = LogisticRegression(C=10.0, max_iter=1_000)
    folds = StratifiedKFold(min(5, int(np.bincount(labels).min())), shuffle=True, random_state=seed)
    while True:
        vectors = without(vectors, directions)
        # no classifier tells words apart that are equal but for rounding
        vectors = vectors[equal_rows(vectors, vectors).argmax(axis=1)]
        trace.append(float(cross_val_score(classifier, vectors, labels, cv=folds).mean()))
        if trace[-1] <= enough or len(trace) > most:
            break
        coefficients = classifier.fit(vectors, labels).coef_
        # the penalty keeps coefficients out of directions that are gone but for rounding, which would become new ones
        length = float(np.linalg.norm(coefficients, axis=1).max())
        directions = np.vstack([directions, spanned(without(coefficients, directions), length)[0]])
    if trace[-1] > enough:
        notes.append(Note("not-converged", what="share found", value=trace[-1], steps=most, aim=chance))
    if not len(directions):
        notes.append(Note("nothing-removed", reason=f"groups found: {trace[0]:.0%}, chance {chance:.0%}"))
    count = vocabulary.count if len(directions) else 0
    record = Debiasing("null_space", directions, np.empty(0), tuple(groups.values()), count, trace=np.array(trace))
    return vocabulary.without(directions), replace(record, groups=groups, notes=tuple(notes))


PLACES = ("first words", "second words")  # groups of pairs


def labelled(vocabulary: Vocabulary, definitional: object) -> tuple[dict[str, Words], np.ndarray, list[Note]]:
    """Groups with the words that the embedding holds, the groups of all words by number, and notes."""
    groups = definitional
    if not isinstance(groups, Mapping):
        # the first words of all pairs are one group, the second ones another
        sets = list(zip(*_as_sets(definitional, "definitional", 2), strict=True))
        names = PLACES if len(sets) == len(PLACES) else [f"place {at}" for at in range(1, len(sets) + 1)]
        groups = dict(zip(names, sets, strict=True))
    held, labels, notes, taken = dict[str, Words](), list[int](), list[Note](), set[str]()
    asked = {str(name): list(dict.fromkeys(as_words(group, f"the group {name!r}"))) for name, group in groups.items()}
    found = find_words(vocabulary.kv, chain.from_iterable(asked.values())).keys
    for number, (name, wanted) in enumerate(asked.items()):
        lost = [word for word in wanted if word not in found]
        notes += left_out(len(lost), len(wanted), f"words of {name}", "not in the embedding", lost)
        present = dict[str, str]()  # key to the first word that stands for it
        for word in wanted:
            if word in found:
                present.setdefault(found[word], word)
        if len(present) < 2 or present.keys() & taken:
            raise InputError(
                f"the embedding holds {many(len(present), 'word')} of the group {name!r}: two at least are needed that "
                f"are in no other group; {first_keys(vocabulary.kv, lost)}"
            )
        taken |= present.keys()
        held[name] = tuple(present.values())
        labels += [number] * len(present)
    return held, np.array(labels), [*lost_of("definitional", asked, found), *notes]


GRADIENT = 1e-6  # norm of the gradient by T, the objective scaled by its value at first, at which it has converged
RANK = NOTHING**2  # share of the largest eigenvalue below which a direction holds no vector


def soft(
    vocabulary: Vocabulary, definitional: Sequence[Sequence[str]], strength: float = 0.2, components: int = 1
) -> Changed:
    """Map all vectors so that inner products stay, and what lies along the directions of defining sets is lowered.

    The map T minimises ||W' (T'T - I) W||^2 + strength ||N' T'T B||^2. W are all unit vectors, N those to neutralise, B
    the directions. The objective is convex and quadratic in T'T.
    """
    strength = finite_number(strength, "strength", positive=True)
    sets, directions, shares, notes = defined(vocabulary, definitional, components)
    gram, neutral = vocabulary.gram(None), vocabulary.chosen
    matrix, trace, slope = softened(gram, gram if neutral is None else vocabulary.gram(neutral), directions, strength)
    if slope > GRADIENT:
        notes.append(Note("not-converged", what="gradient", value=slope, steps=len(trace) - 1, aim=GRADIENT))
    every = replace(vocabulary, chosen=None)
    record = Debiasing("soft", directions, shares, sets, every.count, trace=trace, notes=tuple(notes))
    return every.mapped(matrix.T), record


def softened(
    gram: FloatArray, neutral: FloatArray, directions: FloatArray, strength: float
) -> tuple[FloatArray, FloatArray, float]:
    """The symmetric T that minimises the objective of :func:`soft`, the objective after each step as a
    share of the first, and the norm of the gradient.

    With M the sum of x x' over all vectors and A = T'T, the objective is quadratic in A~ = M^1/2 A M^1/2, and its
    minimum solves A~ + strength/2 (R A~ Q + Q A~ R) = M, with R and Q what M^-1/2 makes of the neutral words and of the
    subspace. If all words are neutral R is I and the equation falls apart in the eigenvectors of Q, where A~ is M times
    a positive kernel, so that A has a root. Else conjugate gradients solve it, with that solution as preconditioner.
    ``gram`` and ``neutral`` (d, d) are sums of x x' over all unit vectors, and over those to neutralise; ``directions``
    (k, d) are orthonormal.
    """
    values, axes = eigh(gram)
    spanned = values > RANK * values[-1]
    root, basis = np.sqrt(values[spanned]), axes[:, spanned]
    inside = basis / root  # from A~ to A: M^-1/2 on both sides
    q = inside.T @ directions.T @ directions @ inside
    r = inside.T @ neutral @ inside
    weights, turn = eigh(q)
    weights[: -len(directions)] = 0.0  # q has the rank of the subspace; rounding would be multiplied by the strength
    kernel = 1 / (1 + strength / 2 * (weights[:, None] + weights))
    target = np.diag(root**2)

    def plain(flat: FloatArray) -> FloatArray:
        """The solution if all words were neutral."""
        matrix: FloatArray = turn @ ((turn.T @ flat.reshape(target.shape) @ turn) * kernel) @ turn.T
        return matrix.ravel()

    def apply(flat: FloatArray) -> FloatArray:
        matrix = flat.reshape(target.shape)
        seen = r @ matrix @ q
        result: FloatArray = matrix + strength / 2 * (seen + seen.T)
        return result.ravel()

    def objective(flat: FloatArray) -> float:
        matrix = flat.reshape(target.shape)
        return float(np.sum((matrix - target) ** 2) + strength * np.sum((r @ matrix @ q) * matrix))

    trace = [objective(target.ravel())]
    solution = plain(target.ravel())
    trace.append(objective(solution))
    if np.abs(neutral - gram).max() > RANK * values[-1]:  # some words are not neutral
        operator, helper = (LinearOperator((target.size, target.size), matvec=product) for product in (apply, plain))
        how: Any = {"rtol": 1e-13, "maxiter": 1000, "callback": lambda flat: trace.append(objective(flat))}
        solution, _ = cg(operator, target.ravel(), x0=solution, M=helper, **how)
    inner = inside @ solution.reshape(target.shape) @ inside.T
    inner += axes[:, ~spanned] @ axes[:, ~spanned].T  # directions without vectors stay as they are
    sizes, turned = eigh((inner + inner.T) / 2)
    matrix = (turned * np.sqrt(np.maximum(sizes, 0))) @ turned.T
    # the derivative of the objective by T is 2 T times that by T'T
    inner = matrix.T @ matrix
    seen = neutral @ inner @ directions.T @ directions
    slope = 2 * gram @ (inner - np.eye(len(inner))) @ gram + strength * (seen + seen.T)
    return matrix, np.array(trace) / trace[0], float(np.linalg.norm(2 * matrix @ slope)) / trace[0]


def leace(vocabulary: Vocabulary, definitional: Mapping[str, Sequence[str]] | Sequence[Sequence[str]]) -> Changed:
    """Take what tells the groups' words apart off all words, at the smallest mean squared change of the vocabulary.

    Vectors are scaled to length 1 afterwards, which leaves the groups' means no more than nearly equal.
    """
    groups, labels, notes = labelled(vocabulary, definitional)
    words = list(chain.from_iterable(groups.values()))
    count = len(vocabulary)
    mean = np.sum([unit.sum(axis=0, dtype=np.float64) for _, unit in vocabulary.blocks()], axis=0) / count
    covariance = vocabulary.gram(None) / count - np.outer(mean, mean)
    vectors = vocabulary.vectors(words)
    means = np.stack([vectors[labels == number].mean(axis=0) for number in range(labels.max() + 1)])
    centre, left, right = erased(covariance, mean, means)
    if not len(right):
        notes.append(Note("nothing-removed", reason="equal means of groups"))
    # the map is an oblique projection: it reads vectors along ``right``, which is recorded, and moves them along
    # ``left``
    _, _, directions = np.linalg.svd(right, full_matrices=False)
    changed = vocabulary.mapped(np.eye(len(mean)) - right.T @ left, centre)
    count = vocabulary.count if len(right) else 0
    record = Debiasing("leace", directions, np.empty(0), tuple(groups.values()), count, notes=tuple(notes))
    return changed, replace(record, groups=groups)


def erased(covariance: FloatArray, centre: FloatArray, means: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The map that gives all groups one mean at the smallest mean squared change of vectors.

    It is x -> x - (x - centre) right' left'; given are the centre, left and right, (k, d) each with right left' = I.
    With W the inverse root of the covariance, the differences of the means become W D, an orthonormal basis U of which
    is taken off whitened vectors: x -> x - W^+ U U' W (x - centre). ``covariance`` (d, d) and ``centre`` (d,) are those
    of the vectors whose change is to be small; ``means`` (groups, d) lie in the span of these.
    """
    values, axes = eigh(covariance)
    spanned = values > RANK * values[-1]
    root, basis = np.sqrt(values[spanned]), axes[:, spanned]
    whitened = beyond_rounding(means - means.mean(axis=0)) @ basis / root
    _, sizes, directions = np.linalg.svd(whitened, full_matrices=False)
    # the differences of G means span G - 1 directions at most; rounding leaves more
    directions = directions[: len(means) - 1][sizes[: len(means) - 1] > NOTHING * max(sizes[0], 1)]
    return centre, directions * root @ basis.T, directions / root @ basis.T
