"""How often statements on axes hold: places, audits and criteria.

``--files glove.txt=FILE`` takes GloVe 6B in 50 dimensions; the larger slice of Google News is the other embedding.

- ``null``: places on axes of random pairs of near neighbours, which exclude 0;
- ``halves``: differences of places by two halves of the pairs of bundled axes within their interval;
- ``planted``: intervals and calls of audits of few pairs that a planted offset moves apart;
- ``audit``: what audits of groups and pairs without a meaning call;
- ``confirmed``: signs called with half of the pairs of real axes that the other half confirms;
- ``criterion``: coverage and power of the relation of outside values to places; ``shuffled``: real outside values, and
  how often shuffled ones exclude 0.
"""

import time
from dataclasses import dataclass, replace
from functools import cache
from itertools import product

import numpy as np
import pandas as pd
from gensim.models import KeyedVectors
from scipy.special import stdtr, stdtrit
from scipy.stats import zscore

import bayesbias as bb
from benchmarks.inside import axes, find_poles, offsets, poles_of, s_values, unit_rows
from benchmarks.study import SHARED, Design, crossed, excludes, main, root_mean_square
from benchmarks.validity.lists import SLICE
from benchmarks.validity.priors import drawn_signal

POOL = 13_000
"""Words that random pairs are made of."""
COSINES = (0.35, 0.85)
"""Cosines of near neighbours."""
REACH = 1.5982
"""Standard errors of an 89% interval on either side."""
TRIES = 10
"""First pairs from which parallel ones are looked for."""
SETTINGS = ("dimensions", "words", "ratio", "correlation", "residuals")
"""What outside values are drawn by."""


@dataclass(frozen=True)
class Space:
    """An embedding: its vocabulary (units centred on their mean), and its field.

    ``axis`` is an axis over the whole vocabulary, whose offset is exchanged for others.
    """

    kv: KeyedVectors
    axis: axes.Axis

    @property
    def field(self):
        """What the vocabulary tells of vectors."""
        return self.axis.field

    def units(self, words):
        """Unit vectors of words."""
        return unit_rows(np.asarray(self.kv.vectors[[self.kv.key_to_index[word] for word in words]], dtype=float))

    def pool(self):
        """Words that random pairs are made of, and their unit vectors less the mean of the vocabulary."""
        words = np.array(self.axis.words[:POOL])
        return words, unit_rows(self.units(words) - self.field.centre).astype(np.float32)

    def on(self, strata):
        """The vocabulary on the axis of other strata."""
        return replace(self.axis, offset=offsets.mean_offset(self.field, strata))


def strata_of(units, pairs):
    """Strata of pairs of rows (K, 2) of unit vectors, the negative one first."""
    rows, place = np.unique(pairs, return_inverse=True)
    member = np.zeros((len(pairs), len(rows)))
    place = place.reshape(len(pairs), 2)
    member[np.arange(len(pairs)), place[:, 0]], member[np.arange(len(pairs)), place[:, 1]] = -1.0, 1.0
    return offsets.Strata(units[rows], (member,))


def parallel_pairs(found, directions, count, target, rng):
    """Rows of as many pairs without a common word whose offsets have about that mean cosine, and their signs.

    Each pair after the first is drawn from those whose mean cosine with the pairs before it is within .05 of the
    target.
    """
    first = int(rng.integers(len(found)))
    rows, signs, used = [first], [1.0], set(found[first])
    for _ in range(count - 1):
        cosines = directions @ (np.array(signs, dtype=np.float32) @ directions[rows]) / len(rows)
        near = rng.permutation(np.flatnonzero(np.abs(np.abs(cosines) - target) < 0.05))
        row = next((row for row in near if not used & set(found[row])), None)
        if row is None:
            return None
        rows.append(int(row))
        signs.append(float(np.sign(cosines[row])) if target else float(rng.choice([-1, 1])))
        used |= set(found[row])
    return np.array(rows), np.array(signs)


def neighbour_pairs(space, rng, words=4000, each=15):
    """Pairs (M, 2) of near neighbours in the pool, by row."""
    _, units = space.pool()
    found = []
    for row in rng.choice(len(units), min(words, len(units)), replace=False):
        cosines = units @ units[row]
        near = np.flatnonzero((cosines > COSINES[0]) & (cosines < COSINES[1]))
        found += [(row, other) for other in rng.choice(near, min(each, len(near)), replace=False)]
    return np.array(found)


def null(space, replicates, rng):
    """Share of places whose 89% interval excludes 0 on axes of random pairs of near neighbours."""
    words, _ = space.pool()
    units = space.units(words)
    found = neighbour_pairs(space, rng)
    directions = unit_rows(units[found[:, 1]] - units[found[:, 0]]).astype(np.float32)
    for count, target, _ in product((6, 12, 40), (0.0, 0.15, 0.3), range(replicates)):
        tries = (parallel_pairs(found, directions, count, target, rng) for _ in range(TRIES))
        rows, signs = next((drawn for drawn in tries if drawn is not None), (None, None))
        if rows is None:
            continue
        pairs = np.where(signs[:, None] > 0, found[rows], found[rows][:, ::-1])
        table = space.on(strata_of(units, pairs)).table(order=False)
        apart = excludes(table)[~np.isin(table["word"], words[pairs])].mean()
        between = (own := directions[rows] * signs[:, None]) @ own.T
        cosine = (between.sum() - count) / (count * (count - 1))
        yield {"pairs": count, "wanted_cosine": target, "cosine": cosine, "excludes_0": apart}


def real_axes(space, least):
    """Name to the pairs of bundled axes that the embedding holds, of those with enough pairs."""
    for name in bb.bundled("axes")["name"]:
        try:
            found = find_poles(space.kv, poles_of(name))
        except bb.InputError:
            continue
        if len(found.pairs) >= least:
            yield name, found


def halves_of(found, kind, centre, rng):
    """Which pairs are in the first half: at random, or those on one side of a direction of the pairs' middles."""
    count = len(found.pairs)
    if kind == "random":
        scores = rng.random(count)
    else:
        member = found.strata.members[0]
        middles = unit_rows(np.abs(member) @ found.strata.vectors / 2 - centre)
        scores = middles @ rng.standard_normal(middles.shape[1])
        if kind == "topic":
            scores = np.linalg.svd(middles - middles.mean(axis=0))[2][0] @ middles.T
    return scores > np.median(scores) if count % 2 else scores >= np.sort(scores)[count // 2]


def halves(space, replicates, rng):
    """Share of differences of places by two halves of the pairs within their 89% interval, by the joint strata."""
    words = space.axis.coordinates
    for name, found in real_axes(space, 6):
        member = found.strata.members[0]
        for kind in ("topic", *["direction"] * replicates, *["random"] * replicates):
            first = halves_of(found, kind, space.field.centre, rng)
            both = offsets.Strata(found.strata.vectors, (member[first], -member[~first]))
            difference = offsets.mean_offset(space.field, both)
            z = words @ difference.mean / np.sqrt(words**2 @ difference.opposition)
            figures = {"inside": (np.abs(z) < REACH).mean(), "sd_of_z": np.sqrt((z**2).mean())}
            yield {"axis": name, "pairs": len(member), "halves": kind, **figures}


def nearest_pairs(space, count, rng):
    """Pairs of a random word and one of the nine nearest to it, no word twice."""
    words, units = space.pool()
    pairs, used = [], set()
    while len(pairs) < count:
        row = int(rng.integers(len(words)))
        other = int(rng.choice(np.argsort(-(units @ units[row]))[1:10]))
        if not used & {row, other}:
            pairs.append((words[row], words[other]))
            used |= {row, other}
    return pairs


def planted(space, replicates, rng):
    """Intervals and calls of audits of few pairs, near neighbours that a planted offset moves apart.

    The truth is the mean offset of all near neighbours, either way round, that are moved alike. The planted offset is
    drawn from the prior of the model, or is that of a real axis.
    """
    real = [found.strata for _, found in real_axes(space, 6)]
    found = neighbour_pairs(space, rng, 1500, 4)
    every, field = np.vstack([found, found[:, ::-1]]), space.field
    units = space.units(space.pool()[0])
    words = space.axis.coordinates[rng.choice(len(space.axis.words), 1000, replace=False)]
    for kind, count, _ in product(("drawn from the prior", "real axes"), (2, 3, 6, 12), range(replicates)):
        if kind == "real axes":
            strata = real[rng.integers(len(real))]
            moved = strata.weights @ strata.vectors
        else:
            moved = field.basis @ (np.sqrt(field.variances) * drawn_signal(len(field.variances), rng))

        def ends(pairs, moved=moved):
            return [unit_rows(units[pairs[:, side]] + sign * moved / 2) for side, sign in ((0, -1), (1, 1))]

        low, high = ends(every)
        truth = words @ field.offsets((high - low).mean(axis=0)[None])[0]
        some = rng.permuted(found[rng.choice(len(found), count, replace=False)], axis=1)
        offset = offsets.mean_offset(field, strata_of(np.vstack(ends(some)), np.arange(2 * count).reshape(2, count).T))
        behind = offsets.signal(offset)
        mean, sd = words @ behind.mean, behind.place_sds(words)
        rope = axes.audits.HALF * field.spread(offset.mean**2)
        called = s_values(1 - stdtr(behind.freedom, (np.abs(mean) - rope) / sd)) <= 0.05
        missed = (np.abs(mean - truth) > stdtrit(behind.freedom, 0.945) * sd).mean()
        wrong = (called & (np.sign(mean) * truth < rope)).mean()
        yield {"kind": kind, "pairs": count, "missed": missed, "called": called.mean(), "wrong_of_called": wrong}


def most_frequent(space):
    """The words that an audit takes of a large file."""
    return len(space.axis.words) if len(space.kv) > len(space.axis.words) else None


def audit(space, replicates, rng):
    """Share of the vocabulary that audits of groups and pairs without a meaning call."""
    words, _ = space.pool()
    for count, kind, _ in product((4, 8, 20), ("groups", "pairs"), range(replicates)):
        drawn = rng.choice(words, (2, count), replace=False).tolist()
        given = dict(zip("ab", drawn, strict=True)) if kind == "groups" else nearest_pairs(space, count, rng)
        share = bb.audit(space.kv, given, most_frequent=most_frequent(space)).words["called"].mean()
        yield {"kind": kind, "size": count, "called": share, "largest": share, "any": share > 0}


def confirmed(space, replicates, rng):
    """Share of the signs called with half of the pairs of real axes that the other half confirms."""
    every = np.zeros(2)
    for name, found in real_axes(space, 8):
        called = agree = 0
        for _ in range(replicates):
            first = halves_of(found, "random", space.field.centre, rng)
            half, rest = ([p for p, inside in zip(found.pairs, first, strict=True) if inside == own] for own in (1, 0))
            words = bb.audit(space.kv, half, most_frequent=most_frequent(space)).words
            words = words[words["called"]]
            others = bb.axis(space.kv, rest, words=words["word"].tolist()).places if len(words) else np.empty(0)
            called += len(words)
            agree += int((np.sign(others) == np.sign(words["mean"])).sum())
        every += called, agree
        yield {
            "axis": name,
            "pairs": len(found.pairs),
            "called": called / replicates / len(space.axis.words),
            "confirmed": agree / called if called else np.nan,
        }
    yield {"axis": "all", "called": np.nan, "confirmed": every[1] / every[0]}


def noisy(offset, rng):
    """The mean offset that other pairs of an opposition would show."""
    return replace(offset, mean=offset.mean + np.sqrt(offset.pairs) * rng.standard_normal(len(offset.mean)))


def fisher(first, second):
    """The 89% interval of a plain correlation by Fisher's transformation."""
    reach = REACH / np.sqrt(len(first) - 3)
    return np.tanh(np.arctanh(np.corrcoef(first, second)[0, 1]) + reach * np.array([-1, 1]))


def criterion(space, replicates, rng):
    """Coverage and power of the relation of outside values to places, by number of words, relation and residual."""
    behind = [offsets.mean_offset(space.field, found.strata) for _, found in real_axes(space, 5)]
    size = len(space.field.variances)
    settings = product((0.3, 0.7, 0.9, 1, 2, 5), (0.0, -0.8, 0.4), ("independent", "smooth"), range(replicates))
    for ratio, rho, kind, replicate in settings:
        begun, true = time.process_time(), behind[replicate % len(behind)]
        rows = rng.choice(len(space.axis.words), int(ratio * size), replace=False)
        words = space.axis.coordinates[rows]
        residual = rng.standard_normal(len(rows))
        if kind == "smooth":
            residual = 0.8 * zscore(words @ rng.standard_normal(size)) + 0.6 * residual
        values = rho * zscore(words @ true.mean) + np.sqrt(1 - rho**2) * zscore(residual)
        seen = replace(space.axis, offset=noisy(true, rng))
        given = dict(zip([space.axis.words[row] for row in rows], values, strict=True))
        found = bb.criterion(seen, given, seed=replicate)
        low, high = found.table().iloc[0][["low", "high"]].astype(float)
        plain_low, plain_high = fisher(found.words["estimate"], found.words["value"])
        row = dict(zip(SETTINGS, (size, len(rows), ratio, rho, kind), strict=True))
        row |= {"coverage": low <= rho <= high, "excludes_0": not low <= 0 <= high, "width": high - low}
        row |= {"plain_coverage": plain_low <= rho <= plain_high, "plain_excludes_0": not plain_low <= 0 <= plain_high}
        yield row | {"seconds_each": time.process_time() - begun}


def outside_values():
    """Name to outside values of words: three ratings of terms, and women's share in occupations."""
    survey = pd.read_csv(SHARED / "axes" / "kozlowski_survey.csv")
    found = {
        f"survey {name}": dict(zip(survey["term"].str.lower(), survey[f"{name}_mean"], strict=True))
        for name in ("gender", "class", "race")
    }
    work = pd.read_csv(SHARED / "criteria" / "bls2015_professions.tsv", sep="\t").dropna(subset=["label1", "Women"])
    found["BLS 2015"] = {str(word): part["Women"].mean() for word, part in work.groupby("label1")}
    return found


def shuffled(space, replicates, rng):
    """Relations of real outside values to real axes, and how often those of shuffled values exclude 0."""
    for (source, values), name in product(outside_values().items(), ("gender_pairs", "affluence", "whiteness")):
        on = bb.axis(space.kv, name, words=list(values))
        known = {word: value for word, value in values.items() if word in set(on.words)}
        found = bb.criterion(on, known)
        labels = {"values": source, "axis": name, "words": len(found.words), "plain": found.plain}
        labels |= found.table().iloc[0][["mean", "low", "high"]].rename({"mean": "correlation"}).to_dict()
        for replicate in range(replicates):
            mixed = dict(zip(known, rng.permutation(list(known.values())), strict=True))
            other = bb.criterion(on, mixed, seed=replicate).table().iloc[0]
            yield labels | {"shuffled_excludes_0": excludes(other)}


BUNDLED = "glove-50d-slice"


@cache
def space_of(path):
    """The embedding at a path."""
    kv = bb.load_embedding(path)
    return Space(kv, bb.axis(kv, "gender_pairs"))


def design(measure, replicates, by=None, embeddings=("glove.txt", SLICE.name), **how):
    """A measurement in both embeddings, or in those that are named."""

    def rows(cell):
        name = cell["embedding"]
        path = {SLICE.name: SLICE, BUNDLED: BUNDLED}.get(name) or cell.options.file(name)
        return measure(space_of(path), cell.replicates, np.random.default_rng(1))

    return Design(f"axes/{measure.__name__}", crossed(embedding=embeddings), rows, replicates, by=by, how=how)


DESIGNS = (
    design(null, 60, ("pairs", "wanted_cosine"), se="excludes_0"),
    design(halves, 8, ("axis", "pairs", "halves"), sd_of_z=root_mean_square),
    design(planted, 100, ("kind", "pairs"), (BUNDLED,), se="missed", shares={"wrong_of_called": "called"}),
    design(audit, 60, ("kind", "size"), se="called", largest="max"),
    design(confirmed, 10),
    design(criterion, 200, SETTINGS),
    design(shuffled, 200, ("values", "axis", "words", "plain", "correlation", "low", "high")),
)

if __name__ == "__main__":
    main(*DESIGNS)
