"""How often statements on axes hold: places, audits, criteria and angles.

``--files glove.txt=FILE`` takes GloVe 6B in 50 dimensions; the larger slice of Google News is the other embedding.

- ``null``: places on axes of random pairs of near neighbours, which exclude 0;
- ``halves``: differences of places by two halves of the pairs of bundled axes within their interval;
- ``planted``: intervals and calls of audits of few pairs that a planted offset moves apart;
- ``audit``: what audits of groups and pairs without a meaning call; ``noise``: the same in vectors that are noise;
- ``confirmed``: signs called with half of the pairs of real axes that the other half confirms;
- ``criterion``: coverage and power of the relation of outside values to places; ``shuffled``: real outside values, and
  how often shuffled ones exclude 0;
- ``angle``: coverage of the interval of a planted cosine, seen with the errors of the pairs.
"""

import time
from dataclasses import dataclass, replace
from functools import cache
from unittest.mock import patch

import numpy as np
import pandas as pd
from gensim.models import KeyedVectors
from scipy.special import stdtr, stdtrit

import bayesbias as bb
from benchmarks.inside import axes, find_poles, offsets, poles_of, s_values, unit_rows
from benchmarks.study import SHARED, Design, crossed, excludes, main
from benchmarks.validity.lists import SLICE

POOL = 13_000
"""Words that random pairs are made of."""
COSINES = (0.35, 0.85)
"""Cosines of near neighbours."""
REACH = 1.5982
"""Standard errors of an 89% interval on either side."""
TRIES = 10
"""First pairs from which parallel ones are looked for."""


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
    for count in (6, 12, 40):
        for target in (0.0, 0.15, 0.3):
            shares, cosines = [], []
            for _ in range(replicates):
                tries = (parallel_pairs(found, directions, count, target, rng) for _ in range(TRIES))
                drawn = next((drawn for drawn in tries if drawn is not None), None)
                if drawn is None:
                    continue
                rows, signs = drawn
                pairs = np.where(signs[:, None] > 0, found[rows], found[rows][:, ::-1])
                table = space.on(strata_of(units, pairs)).table(order=False)
                own = np.isin(table["word"], words[pairs])
                shares.append(excludes(table)[~own].mean())
                between = (own_directions := directions[rows] * signs[:, None]) @ own_directions.T
                cosines.append((between.sum() - count) / (count * (count - 1)))
            if not shares:
                continue
            yield {
                "pairs": count,
                "wanted_cosine": target,
                "cosine": np.mean(cosines),
                "excludes_0": np.mean(shares),
                "se": np.std(shares) / np.sqrt(len(shares)),
                "replicates": len(shares),
            }


def real_axes(space, least):
    """Name to the pairs of bundled axes that the embedding holds, of those with enough pairs."""
    for name in bb.list_axes()["name"]:
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
        for kind, times in (("topic", 1), ("direction", replicates), ("random", replicates)):
            inside, z = [], []
            for _ in range(times):
                first = halves_of(found, kind, space.field.centre, rng)
                both = offsets.Strata(found.strata.vectors, (member[first], -member[~first]))
                difference = offsets.mean_offset(space.field, both)
                scores = words @ difference.mean / np.sqrt(words**2 @ difference.opposition)
                inside.append((np.abs(scores) < REACH).mean())
                z.append((scores**2).mean())
            yield {
                "axis": name,
                "pairs": len(member),
                "halves": kind,
                "inside": np.mean(inside),
                "sd_of_z": np.sqrt(np.mean(z)),
                "replicates": times,
            }


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
    for kind in ("drawn from the prior", "real axes"):
        for count in (2, 3, 6, 12):
            missed, called, wrong = [], 0, 0
            for _ in range(replicates):
                if kind == "real axes":
                    strata = real[rng.integers(len(real))]
                    moved = strata.weights @ strata.vectors
                else:
                    drawn = offsets.drawn_signal(len(field.variances), rng)
                    moved = field.basis @ (np.sqrt(field.variances) * drawn)

                def ends(pairs, moved=moved):
                    return [unit_rows(units[pairs[:, side]] + sign * moved / 2) for side, sign in ((0, -1), (1, 1))]

                low, high = ends(every)
                truth = words @ field.offsets((high - low).mean(axis=0)[None])[0]
                some = rng.permuted(found[rng.choice(len(found), count, replace=False)], axis=1)
                rows = np.arange(2 * count).reshape(2, count).T
                offset = offsets.mean_offset(field, strata_of(np.vstack(ends(some)), rows))
                behind = offsets.signal(offset)
                mean, sd = behind.places(words)
                missed.append((np.abs(mean - truth) > stdtrit(behind.freedom, 0.945) * sd).mean())
                rope = axes.audits.HALF * field.spread(offset.mean**2)
                beyond = stdtr(behind.freedom, (np.abs(mean) - rope) / sd)
                chosen = s_values(1 - beyond) <= 0.05
                called += chosen.sum()
                wrong += (chosen & (np.sign(mean) * truth < rope)).sum()
            yield {
                "kind": kind,
                "pairs": count,
                "missed": np.mean(missed),
                "se": np.std(missed) / np.sqrt(replicates),
                "called": called / replicates / len(words),
                "wrong_of_called": wrong / max(called, 1),
                "replicates": replicates,
            }


def most_frequent(space):
    """The words that an audit takes of a large file."""
    return len(space.axis.words) if len(space.kv) > len(space.axis.words) else None


def audit(space, replicates, rng):
    """Share of the vocabulary that audits of groups and pairs without a meaning call."""
    words, _ = space.pool()
    for count in (4, 8, 20):
        for kind in ("groups", "pairs"):
            shares = []
            for _ in range(replicates):
                drawn = rng.choice(words, (2, count), replace=False).tolist()
                given = dict(zip("ab", drawn, strict=True)) if kind == "groups" else nearest_pairs(space, count, rng)
                found = bb.audit(space.kv, given, most_frequent=most_frequent(space))
                shares.append(found.words["called"].mean())
            yield {
                "kind": kind,
                "size": count,
                "called": np.mean(shares),
                "se": np.std(shares) / np.sqrt(replicates),
                "largest": np.max(shares),
                "any": np.mean(np.array(shares) > 0),
                "replicates": replicates,
            }


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


def noise(space, replicates, rng):
    """Words called for random groups in vectors that are noise around a common mean."""
    for seed in range(8):
        draws = np.random.default_rng(seed)
        vectors = draws.standard_normal((20_000, 50)) + draws.standard_normal(50)
        kv = KeyedVectors(50)
        words = [f"w{row}" for row in range(len(vectors))]
        kv.add_vectors(words, vectors.astype(np.float32))
        drawn = draws.choice(words, (2, 7), replace=False).tolist()
        found = bb.audit(kv, dict(zip("ab", drawn, strict=True)))
        yield {"seed": seed, "called": int(found.words["called"].sum()), "words": len(found.words)}


def noisy(offset, rng):
    """The mean offset that other pairs of an opposition would show."""
    return replace(offset, mean=offset.mean + np.sqrt(offset.pairs) * rng.standard_normal(len(offset.mean)))


def standard(values):
    """Values with mean 0 and variance 1."""
    return (values - values.mean()) / values.std()


def fisher(first, second):
    """The 89% interval of a plain correlation by Fisher's transformation."""
    reach = REACH / np.sqrt(len(first) - 3)
    return np.tanh(np.arctanh(np.corrcoef(first, second)[0, 1]) + reach * np.array([-1, 1]))


def criterion(space, replicates, rng):
    """Coverage and power of the relation of outside values to places, by number of words, relation and residual."""
    behind = [offsets.mean_offset(space.field, found.strata) for _, found in real_axes(space, 5)]
    size = len(space.field.variances)
    for ratio in (0.3, 0.7, 0.9, 1, 2, 5):
        for rho in (0.0, -0.8, 0.4):
            for kind in ("independent", "smooth"):
                ours, plain, begun = [], [], time.process_time()
                for replicate in range(replicates):
                    true = behind[replicate % len(behind)]
                    rows = rng.choice(len(space.axis.words), int(ratio * size), replace=False)
                    words = space.axis.coordinates[rows]
                    residual = rng.standard_normal(len(rows))
                    if kind == "smooth":
                        residual = 0.8 * standard(words @ rng.standard_normal(size)) + 0.6 * residual
                    values = rho * standard(words @ true.mean) + np.sqrt(1 - rho**2) * standard(residual)
                    seen = replace(space.axis, offset=noisy(true, rng))
                    given = dict(zip([space.axis.words[row] for row in rows], values, strict=True))
                    found = bb.criterion(seen, given, seed=replicate)
                    ours.append(found.table().iloc[0][["low", "high"]].to_numpy(dtype=float))
                    plain.append(fisher(found.words["estimate"], found.words["value"]))
                ours, plain = np.array(ours), np.array(plain)
                yield {
                    "dimensions": size,
                    "words": int(ratio * size),
                    "ratio": ratio,
                    "correlation": rho,
                    "residuals": kind,
                    "coverage": ((ours[:, 0] <= rho) & (rho <= ours[:, 1])).mean(),
                    "excludes_0": ((ours[:, 0] > 0) | (ours[:, 1] < 0)).mean(),
                    "width": np.diff(ours).mean(),
                    "plain_coverage": ((plain[:, 0] <= rho) & (rho <= plain[:, 1])).mean(),
                    "plain_excludes_0": ((plain[:, 0] > 0) | (plain[:, 1] < 0)).mean(),
                    "replicates": replicates,
                    "seconds_each": (time.process_time() - begun) / replicates,
                }


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
    for source, values in outside_values().items():
        for name in ("gender_pairs", "affluence", "whiteness"):
            on = bb.axis(space.kv, name, words=list(values))
            known = {word: value for word, value in values.items() if word in set(on.words)}
            found = bb.criterion(on, known)
            row, calls = found.table().iloc[0], 0
            for replicate in range(replicates):
                mixed = dict(zip(known, rng.permutation(list(known.values())), strict=True))
                other = bb.criterion(on, mixed, seed=replicate).table().iloc[0]
                calls += excludes(other)
            yield {
                "values": source,
                "axis": name,
                "words": len(found.words),
                "plain": found.plain,
                "correlation": row["mean"],
                "low": row["low"],
                "high": row["high"],
                "shuffled_excludes_0": calls / replicates,
                "replicates": replicates,
            }


def planted_pair(field, first, second, cosine):
    """Two offsets (2, Q) with that cosine: the first, and what the second has at a right angle to it, turned."""
    one, other = (offset / field.lengths(offset) for offset in (first, second))
    other = other - one * ((one * other) @ field.variances)
    turned = cosine * one + np.sqrt(1 - cosine**2) * other / field.lengths(other)
    return np.stack([first, turned * field.lengths(second)])


def angle(space, replicates, rng):
    """Coverage of the interval of a planted cosine, seen with the errors of the pairs."""
    real = [(name, offsets.mean_offset(space.field, found.strata)) for name, found in real_axes(space, 5)]
    for kind in ("real axes", "random axes"):
        for cosine in (0.0, 0.3, 0.7):
            rows = []
            for _ in range(replicates):
                pair = [real[row][1] for row in rng.choice(len(real), 2, replace=False)]
                means = [offset.mean for offset in pair]
                if kind == "random axes":
                    means = [mean.std() * rng.standard_normal(len(mean)) for mean in means]
                planted = planted_pair(space.field, *means, cosine)
                seen = [noisy(replace(o, mean=mean), rng) for o, mean in zip(pair, planted, strict=True)]
                none = np.zeros(len(means[0]))
                both = axes.angles.TwoOffsets(space.field, tuple(seen), {"pairs": none})
                with patch.object(axes.angles, "_together", return_value=both):
                    found = bb.angle(space.axis, space.axis, seed=int(rng.integers(10**6))).table().iloc[0]
                rows.append(found)
            table = pd.DataFrame(rows)
            yield {
                "kind": kind,
                "cosine": cosine,
                "coverage": ((table["low"] <= cosine) & (cosine <= table["high"])).mean(),
                "mean": table["mean"].mean(),
                "sd": table["sd"].mean(),
                "plain": table["plain"].mean(),
                "chance_below_11": (table["chance"] < 0.11).mean(),
                "replicates": replicates,
            }


BUNDLED = "glove-50d-slice"


@cache
def space_of(path):
    """The embedding at a path."""
    kv = bb.load_embedding(path)
    return Space(kv, bb.axis(kv, "gender_pairs"))


def design(measure, replicates):
    """A measurement in both embeddings; that of few pairs in the bundled slice."""

    def rows(cell):
        name = cell["embedding"]
        path = {SLICE.name: SLICE, BUNDLED: BUNDLED}.get(name) or cell.options.file(name)
        return measure(space_of(path), cell.replicates, np.random.default_rng(1))

    cells = crossed(embedding=[BUNDLED] if measure is planted else ("glove.txt", SLICE.name))
    return Design(f"axes/{measure.__name__}", cells, rows, replicates)


REPLICATES = {null: 60, halves: 8, planted: 100, audit: 60, confirmed: 10, noise: 8, criterion: 200, shuffled: 200}
REPLICATES |= {angle: 200}

if __name__ == "__main__":
    main(*(design(measure, replicates) for measure, replicates in REPLICATES.items()))
