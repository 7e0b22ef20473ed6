"""Random lists of words: a word from each of some ranges, or as coherent and as similar as given lists."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from bayesbias.numerics.arrays import FloatArray, IntArray

Units = NDArray[np.float32]
Places = NDArray[np.int32]
Streams = NDArray[np.object_]  # a random generator for each replicate

TRIES = 10  # sets of lists that are drawn for a replicate before the one nearest to what is wanted is taken
CLOSE = 0.015  # root mean square error in similarity, within and between lists, up to which lists are as wanted
STEPS = 4  # directions in which the words of a list are looked for before another seed word is tried
GROWTH = 1.1  # ratio of the sizes of two successive pools
FIRST = 512  # words nearest to a direction among which a list is looked for; as many are drawn for a seed word
ROOM = 8  # words among which a list is looked for at least, for each of its words
SPREAD = 0.15  # standard deviation of a seed word's similarities to earlier lists around the wanted ones
BLOCK = 2**23  # cosines of a block of replicates
CACHED = 2**19  # cosines that are sorted at once
GRID = 2**11  # steps of a unit vector's coordinates: float32 holds the products of two such vectors exactly
PICKED = 48  # words picked for each direction: so many lists of one word, one list of so many words or more
MOST_DIMENSIONS = 200  # of the vectors of several embeddings together
RIDGE = 1e-6  # added to the squared lengths of list means, which may lie on one line


def by_list(words: IntArray, sizes: Sequence[int]) -> list[IntArray]:
    """Words (..., words) of lists that stand one after the other, list by list."""
    return np.split(words, np.cumsum(sizes)[:-1], axis=-1)


def draw_in_ranges(low: IntArray, high: IntArray, draws: int, rng: np.random.Generator) -> IntArray:
    """For each draw one whole number from each range [low, high), no number twice, (draws, ranges)."""
    drawn = np.empty((draws, len(low)), dtype=np.intp)
    for i in range(len(low)):
        again = np.arange(draws)
        while len(again):
            drawn[again, i] = rng.integers(low[i], high[i], len(again))
            again = again[(drawn[again, :i] == drawn[again, i, None]).any(axis=1)]
    return drawn


class Wanted(NamedTuple):
    """Targets for random lists: weights and numbers of their entries, and inner products of their mean vectors."""

    weights: tuple[FloatArray, ...]  # share of each of a list's words in the list's mean vector, for each list
    entries: tuple[int, ...]  # entries of each list: a word with several forms is one
    products: FloatArray  # inner products (lists, lists) of the mean vectors
    together: tuple[tuple[int, ...], ...]  # lists that are drawn anew together, in the order of drawing
    fixed: FloatArray | None = None  # vectors (f, dimensions) that all lists are to be near to
    towards: FloatArray | None = None  # inner products (f, lists) of the mean vectors with these


class CandidateLists(NamedTuple):
    """Words (rows, n) of lists, the lists' means (rows, lists, dimensions), and sums of squared errors (rows,)."""

    words: IntArray
    means: Units
    misfit: FloatArray

    def of(self, rows: NDArray[np.intp] | NDArray[np.bool_]) -> CandidateLists:
        """Some rows."""
        return CandidateLists(self.words[rows], self.means[rows], self.misfit[rows])


def list_means(unit: Units, words: IntArray, weights: FloatArray) -> Units:
    """Weighted means (rows, dimensions) of the vectors of some words (rows, n)."""
    rows, size = words.shape
    shares = np.tile(weights.astype(np.float32), rows)
    means: Units = csr_array((shares, words.ravel(), np.arange(0, words.size + 1, size)), (rows, len(unit))) @ unit
    return means


def joint_vectors(units: Sequence[FloatArray], means: Sequence[FloatArray]) -> tuple[Units, FloatArray]:
    """Vectors of words and of lists' means in several embeddings as one, whose products are mean cosines over these."""
    unit, mean = (np.concatenate(each, axis=1) / np.sqrt(len(each)) for each in (units, means))
    if unit.shape[1] > MOST_DIMENSIONS:
        axes = np.linalg.eigh(unit.T @ unit)[1][:, -MOST_DIMENSIONS:]
        unit, mean = unit @ axes, mean @ axes
    return np.ascontiguousarray(unit, dtype=np.float32), mean


def draw_alike(
    unit: Units,
    wanted: Wanted,
    replicates: int,
    rng: np.random.Generator,
    done: Callable[[float], None],
    taken: IntArray | None = None,
) -> IntArray:
    """Words of each replicate's lists (replicates, words), one list after the other, no word twice.

    A list begins with a random seed word, about as similar to earlier lists of the replicate as is wanted. Its words
    are a random part of the words nearest to a direction between the seed word and the means of earlier lists. How
    many words that part is taken from decides the length of the list's mean; the direction decides its products with
    earlier means, and with vectors that are fixed. ``done`` is told how many replicates are drawn. Words ``taken``
    (replicates, n) are in no list of their replicate. A replicate draws from its own stream, the same in any block.
    """
    taken = np.empty((replicates, 0), np.intp) if taken is None else taken
    fixed = np.empty((0, unit.shape[1])) if wanted.fixed is None else wanted.fixed
    step = max(1, BLOCK // len(unit))
    unit, streams = _rounded(unit), np.array(rng.spawn(1)[0].spawn(replicates), dtype=object)
    parts = [_part(unit, wanted, place) for place in range(len(wanted.weights))]
    blocks = []
    for begin in range(0, replicates, step):
        rows = min(step, replicates - begin)
        before = np.repeat(fixed[None].astype(np.float32), rows, axis=0)
        drawn = CandidateLists(taken[begin : begin + rows], before, np.zeros(rows))
        for lists in wanted.together:
            drawn = _best(unit, wanted, parts, lists, drawn, streams[begin : begin + rows])
        blocks.append(drawn.words[:, taken.shape[1] :])
        done(begin + rows)
    return np.concatenate(blocks)


def _rounded(vectors: NDArray[np.floating]) -> Units:
    """Vectors no longer than 1 with rounded coordinates: products are the same in whatever order these are added."""
    return (np.rint(GRID * vectors) / GRID).astype(np.float32)


def _part(unit: Units, wanted: Wanted, place: int) -> int:
    """Words among which a list is looked for: all, or a random part where the nearest of all are too coherent."""
    words, size = len(unit), len(wanted.weights[place])
    most = max(FIRST, ROOM * size, 2 * sum(map(len, wanted.weights)))
    if most >= words:
        return words
    some = unit[np.random.default_rng(0).integers(words, size=20)]  # the same for all seeds
    order = np.argsort(-(some @ unit.T), axis=1)
    shortest = (wanted.weights[place] ** 2).sum()
    begin, total = 0, np.zeros_like(some)
    for nearest in np.geomspace(most, words, 20).astype(np.intp).tolist():
        total += list_means(unit, order[:, begin:nearest], np.ones(nearest - begin))
        begin = nearest
        # squared length of the mean of a list from so many of the words nearest to a word
        squared = float(np.median(np.vecdot(total, total))) / nearest**2 * (1 - shortest) + shortest
        if squared <= wanted.products[place, place]:
            break
    if nearest == most:
        return words
    # the nearest of a part lie as far as more of the nearest of all: the part whose nearest 3 n are as coherent
    return min(words, max(most, 3 * size * words // nearest))


def _best(
    unit: Units, wanted: Wanted, parts: list[int], lists: Sequence[int], before: CandidateLists, streams: Streams
) -> CandidateLists:
    """Earlier lists with further ones: of several tries the best for each row."""
    rows, size = len(before.words), sum(len(wanted.weights[place]) for place in lists)
    count = before.means.shape[1]
    # squared errors: of each list's coherence, and of its products with earlier means and fixed vectors
    terms = sum(range(1 + count, 1 + count + len(lists)))
    best = CandidateLists(
        np.hstack([before.words, np.zeros((rows, size), np.intp)]),
        np.concatenate([before.means, np.zeros((rows, len(lists), unit.shape[1]), np.float32)], axis=1),
        np.full(rows, np.inf),
    )
    left = np.arange(rows)
    for _ in range(TRIES):
        drawn = before.of(left)._replace(misfit=np.zeros(len(left)))
        for place in lists:
            drawn = _list(unit, wanted, parts[place], place, drawn, streams[left])
            # errors add up, so that what is worse already need not be completed
            hopeful = drawn.misfit < best.misfit[left]
            left, drawn = left[hopeful], drawn.of(hopeful)
            if not len(left):
                break
        else:
            best.words[left], best.means[left], best.misfit[left] = drawn
        left = np.flatnonzero(best.misfit > CLOSE**2 * terms)
        if not len(left):
            break
    return best


def _list(
    unit: Units, wanted: Wanted, part: int, place: int, before: CandidateLists, streams: Streams
) -> CandidateLists:
    """Earlier lists with a further one: the best of several directions for each row."""
    weights, entries = wanted.weights[place], wanted.entries[place]
    earlier = before.means.astype(np.float64)
    rows, count, _ = earlier.shape
    length, towards = float(wanted.products[place, place]), wanted.towards
    products = wanted.products[place, :count]
    if towards is not None:
        products = np.concatenate([towards[:, place], products[: count - len(towards)]])
    # a short list varies much with the words picked, and a further pick costs less than a further direction
    picks, size = max(1, PICKED // len(weights)), len(weights)
    drawn = np.stack([rng.random(2 * picks * size + FIRST + 1) for rng in streams])
    order, chances = np.moveaxis(drawn[:, : 2 * picks * size].reshape(rows, 2, picks, size), 1, 0)
    strata = order.argsort(axis=2)
    among: Places | None = None
    if part < len(unit):
        among = np.array([rng.choice(len(unit), part, replace=False, shuffle=False) for rng in streams], np.int32)
    seeds = unit[_seeds(unit, before, products, drawn[:, 2 * picks * size :])].astype(np.float64)
    inverse = np.linalg.inv(earlier @ earlier.transpose(0, 2, 1) + RIDGE * np.eye(count))
    # vectors with the wanted length and products, towards the seed words
    solved = inverse @ products
    inside = np.einsum("rk,rkd->rd", solved, earlier)
    share = (inverse @ np.einsum("rkd,rd->rk", earlier, seeds)[..., None])[..., 0]
    apart = seeds - np.einsum("rk,rkd->rd", share, earlier)
    outside = np.sqrt(np.maximum(length - np.vecdot(solved, products), 0.01 * length))
    aim = inside + (outside / np.maximum(np.linalg.norm(apart, axis=1), 1e-3))[:, None] * apart
    most = min(part - before.words.shape[1], max(FIRST, ROOM * size))
    best = CandidateLists(np.zeros((rows, size), np.intp), np.zeros(seeds.shape, np.float32), np.full(rows, np.inf))
    left, gain, missed = np.arange(rows), np.ones(rows), np.zeros((rows, count))
    for step in range(STEPS if count else 1):
        near = _order(unit, aim[left], before.words[left], None if among is None else among[left], most)
        words, means = _nearest(unit, near, strata[left], chances[left], weights, length)
        short = products - means @ earlier[left].transpose(0, 2, 1)
        # of n entries the squared length of the mean is 1 / n + (n - 1) / n times the mean product of two: its error is
        # turned into that of the mean product
        within = (np.vecdot(means, means) - length) * entries / max(entries - 1, 1)
        misfit = within**2 + np.vecdot(short, short)
        # the first that is about as near as the nearest: where none is near, the nearest itself is always the same list
        error = np.sqrt(misfit)
        pick = np.arange(len(left)), (error <= error.min(axis=1, keepdims=True) + CLOSE).argmax(axis=1)
        better = misfit[pick] < best.misfit[left]
        chosen = left[better]
        best.words[chosen], best.means[chosen] = words[pick][better], means[pick][better]
        best.misfit[chosen] = misfit[pick][better]
        far = best.misfit[left] > CLOSE**2 * (1 + count)
        left, short = left[far], short[far].mean(axis=1)
        if not len(left):
            break
        if step:
            # what a correction left of the error tells how much larger it should have been
            old = missed[left]
            rest = np.vecdot(short, old) / np.maximum(np.vecdot(old, old), 1e-12)
            gain[left] = np.clip(gain[left] / np.maximum(1 - rest, 0.2), 0.25, 8)
        missed[left] = short
        correction = gain[left, None] * (inverse[left] @ short[..., None])[..., 0]
        aim[left] += np.einsum("rk,rkd->rd", correction, earlier[left])
    return CandidateLists(
        np.hstack([before.words, best.words]),
        np.concatenate([before.means, best.means[:, None]], axis=1),
        before.misfit + best.misfit,
    )


def _seeds(unit: Units, before: CandidateLists, products: FloatArray, chances: FloatArray) -> IntArray:
    """A random word for each row, about as similar to the means of earlier lists as is wanted."""
    some = (chances[:, :-1] * len(unit)).astype(np.intp)
    if not len(products):
        return some[:, 0]
    cosines = np.stack([mean @ unit[words].T for mean, words in zip(_rounded(before.means), some, strict=True)])
    log_weights = -0.5 * np.square((cosines - products[:, None]) / SPREAD).sum(axis=1)
    # a draw with these weights
    sums = np.exp(log_weights - log_weights.max(axis=1, keepdims=True)).cumsum(axis=1)
    return some[np.arange(len(some)), (sums > chances[:, -1:] * sums[:, -1:]).argmax(axis=1)]


def _nearest(
    unit: Units, near: IntArray, strata: IntArray, chances: FloatArray, weights: FloatArray, length: float
) -> tuple[IntArray, Units]:
    """Lists (rows, picks, n) of words near to a direction, and their means: from pools that give the wanted length.

    A pool is the first of the words ``near`` (rows, most), in n parts of nearly the same size; each gives a word:
    ``strata`` are the numbers of these parts, ``chances`` places within.
    """
    (rows, picks, size), most = strata.shape, near.shape[1]
    steps = int(np.log(most / size) / np.log(GROWTH)) + 2
    sizes = np.unique(np.geomspace(size, most, steps).round().astype(np.intp))
    words, means = np.empty(strata.shape, np.intp), np.empty((rows, picks, unit.shape[1]), np.float32)
    least = np.full((rows, picks), np.inf)
    first, last = np.zeros((rows, picks), np.intp), np.full((rows, picks), len(sizes) - 1)
    for _ in range(len(sizes).bit_length()):
        middle = (first + last) // 2
        pool = sizes[middle][..., None]
        begin, end = strata * pool // size, (strata + 1) * pool // size
        places = begin + (chances * (end - begin)).astype(np.intp)
        tried = np.take_along_axis(near, places.reshape(rows, -1), axis=1)
        tried_means = list_means(unit, tried.reshape(-1, size), weights).reshape(means.shape)
        tried = tried.reshape(strata.shape)
        excess = np.vecdot(tried_means, tried_means) - length
        better = np.abs(excess) < least
        words[better], means[better], least[better] = tried[better], tried_means[better], np.abs(excess[better])
        # larger pools have shorter means
        first, last = np.where(excess > 0, middle + 1, first), np.where(excess > 0, last, middle - 1)
        first = np.minimum(first, len(sizes) - 1)
        last = np.maximum(first, last)
    return words, means


def _order(unit: Units, aim: FloatArray, taken: IntArray, among: Places | None, most: int) -> IntArray:
    """The words (``among`` some) nearest to each direction (rows, most), the nearest first, without those taken."""
    order = np.empty((len(aim), most), np.intp)
    # a whole number holds a word's distance in its upper bits and its place in the lower: to sort values sorts words
    bits = int(len(unit) - 1).bit_length()
    unit_of_distance, place = np.float32(2.0 ** (29 - bits)), np.arange(len(unit), dtype=np.int32)
    aims = unit_of_distance * _rounded(aim / np.maximum(np.linalg.norm(aim, axis=1, keepdims=True), 1e-12))
    step = max(1, CACHED // len(unit))
    for begin in range(0, len(aim), step):
        rows = slice(begin, begin + step)
        distances = aims[rows] @ unit.T
        np.put_along_axis(distances, taken[rows], -2 * unit_of_distance, axis=1)  # farther than any word
        if among is not None:
            place = among[rows]
            distances = np.stack([row[own] for row, own in zip(distances, place, strict=True)])
        np.subtract(unit_of_distance, distances, out=distances)
        keys = distances.astype(np.int32)
        keys <<= bits
        keys |= place
        if 2 * most < keys.shape[1]:  # found below a limit that a sixteenth of the words tells
            limits = np.partition(keys[:, ::16], 3 * most // 32, axis=1)[:, 3 * most // 32]
            below = [row[row <= limit] for row, limit in zip(keys, limits, strict=True)]
            few = [part if len(part) >= most else row for part, row in zip(below, keys, strict=True)]
            smallest = np.stack([np.sort(row)[:most] for row in few])
        else:
            smallest = np.sort(keys, axis=1)[:, :most]
        order[rows] = smallest & ((1 << bits) - 1)
    return order
