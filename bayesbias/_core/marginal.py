"""The marginal likelihood of the crossed model: every Gaussian integrated out, the scales left.

    y = mu_k + (c_jk - mu_k) + u_w + v_{w,h} + N(0, sigma_k^2),   c_jk ~ N(mu_k, s_k^2),   mu_k ~ N(m0, v0),
    u_w ~ N(0, t_u),   v_{w,h} ~ N(0, t_v),

for protected word j of group h, connection k and attribute word w. Attribute words that are compared with the same
cells form a *pattern*. The contrasts between the words of a pattern are free of cells and of mu (the within part); what
is left are the pattern's mean distances (the mean part), a Gaussian in mu and the mean effects of patterns and groups.
The density costs the same whatever the number of rows, and many points are evaluated at once.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bayesbias._core.cells import IntArray
from bayesbias._core.cosine import FloatArray

LOG_2PI = float(np.log(2 * np.pi))


@dataclass(frozen=True)
class Pattern:
    """Attribute words that are compared with the same cells.

    Attributes
    ----------
    words
        Indices of the attribute words.
    attribute_class
        Which attribute_sd they have.
    cells
        (slots, 2): protected word and connection of each slot.
    groups
        The distinct groups of its protected words.
    slots
        (K, H): how many slots each connection has in each of ``groups``.
    squares
        (K,): sum of squared deviations of the words' distances from the slot means.
    products
        (K, H, K, H): sum over words of the products of their summed deviations.
    mean
        (slots,): mean over words.
    """

    words: IntArray
    attribute_class: int
    cells: IntArray
    groups: IntArray
    slots: FloatArray
    squares: FloatArray
    products: FloatArray
    mean: FloatArray


@dataclass(frozen=True)
class Signature:
    """Cells with the same connection, group and patterns: their number, mean vector and scatter over patterns."""

    connection: int
    group: int
    patterns: tuple[int, ...]
    cells: int
    mean: FloatArray
    scatter: FloatArray


@dataclass(frozen=True)
class CrossedSums:
    """What the density needs of a table.

    Attributes
    ----------
    patterns, signatures
        The table, reduced.
    connections, groups, classes, rows
        Numbers of each.
    """

    patterns: tuple[Pattern, ...]
    signatures: tuple[Signature, ...]
    connections: int
    groups: int
    classes: int
    rows: int


@dataclass(frozen=True)
class Scales:
    """Variances at B points: sigma^2 and s^2 (B, K), t_u by class (B, G), t_v (B,); t_v is None without the term."""

    sigma2: FloatArray
    s2: FloatArray
    attribute: FloatArray
    interaction: FloatArray | None


@dataclass(frozen=True)
class MeanPart:
    """The Gaussian of beta = (mu - m0, mean effects) at B points, in the coordinates of its prior root.

    Attributes
    ----------
    log_likelihood
        (B,): the mean part of the log likelihood.
    root
        (B, n, n): a root R of the prior covariance.
    chol
        (B, n, n): L with L L' = I + R' H R.
    x
        (B, n): L^-1 R' h; a draw of beta is R L'^-1 (x + z).
    """

    log_likelihood: FloatArray
    root: FloatArray
    chol: FloatArray
    x: FloatArray


def crossed_sums(
    word: IntArray,
    connection: IntArray,
    attribute: IntArray,
    group_of_word: IntArray,
    class_of_attribute: IntArray,
    y: FloatArray,
    connections: int,
) -> CrossedSums:
    """Reduce rows to patterns and signatures.

    Parameters
    ----------
    word, connection, attribute
        Arrays (rows): protected word, connection and attribute word; no pair of word and attribute repeats.
    group_of_word, class_of_attribute
        Group of each protected word and class of each attribute word.
    y
        Array (rows): distances minus the prior mean of mu.
    connections
        K.
    """
    order = np.lexsort((connection, word, attribute))
    word, connection, attribute, y = word[order], connection[order], attribute[order], y[order]
    starts = np.flatnonzero(np.r_[True, attribute[1:] != attribute[:-1]])
    ends = np.r_[starts[1:], len(attribute)]
    members: dict[tuple[int, bytes], list[int]] = {}
    cell = word * connections + connection
    for at, (begin, end) in enumerate(zip(starts, ends, strict=True)):
        key = (int(class_of_attribute[attribute[begin]]), cell[begin:end].tobytes())
        members.setdefault(key, []).append(at)
    patterns = tuple(
        _pattern(
            np.stack([y[starts[at] : ends[at]] for at in rows]),
            attribute[starts[rows]],
            key[0],
            np.column_stack([word, connection])[starts[rows[0]] : ends[rows[0]]],
            group_of_word,
            connections,
        )
        for key, rows in members.items()
    )
    return CrossedSums(
        patterns=patterns,
        signatures=_signatures(patterns, group_of_word, connections),
        connections=connections,
        groups=int(group_of_word.max()) + 1,
        classes=int(class_of_attribute.max()) + 1,
        rows=len(y),
    )


def log_likelihood(sums: CrossedSums, scales: Scales, prior_sd: float) -> FloatArray:
    """Log marginal likelihood (B,) of the distances, constants included."""
    return within_part(sums, scales) + mean_part(sums, scales, prior_sd).log_likelihood


def within_part(sums: CrossedSums, scales: Scales) -> FloatArray:
    """The part (B,) of the log likelihood that the contrasts between words of a pattern carry."""
    inverse = 1 / scales.sigma2
    log_sigma2 = np.log(scales.sigma2)
    total = np.zeros(len(inverse))
    for p in sums.patterns:
        t_u = scales.attribute[:, p.attribute_class]
        t_v = np.zeros_like(t_u) if scales.interaction is None else scales.interaction
        weight = inverse @ p.slots
        d = 1 + t_v[:, None] * weight
        shared = 1 + t_u * (weight / d).sum(axis=1)
        log_det = log_sigma2 @ p.slots.sum(axis=1) + np.log(d).sum(axis=1) + np.log(shared)
        r = np.einsum("bk,khlg,bl->bhg", inverse, p.products, inverse, optimize=True)
        quadratic = inverse @ p.squares - np.einsum("b,bh,bhh->b", t_v, 1 / d, r)
        quadratic -= t_u / shared * np.einsum("bh,bhg,bg->b", 1 / d, r, 1 / d)
        contrasts = len(p.words) - 1
        total -= 0.5 * (contrasts * (log_det + LOG_2PI * len(p.mean)) + quadratic)
    return total


def mean_part(sums: CrossedSums, scales: Scales, prior_sd: float) -> MeanPart:
    """The Gaussian of mu and of the patterns' mean effects, and its share of the log likelihood."""
    size = len(scales.sigma2)
    place = effect_places(sums, scales.interaction is not None)
    n = sums.connections + len(set(place.values()))
    information = np.zeros((size, n, n))
    weighted = np.zeros((size, n))
    constant = np.zeros(size)
    for g in sums.signatures:
        words = np.array([len(sums.patterns[p].words) for p in g.patterns], dtype=float)
        at = [place[p, g.group] for p in g.patterns]
        k = g.connection
        w = words / scales.sigma2[:, [k]]
        s2 = scales.s2[:, k]
        grown = 1 + s2 * w.sum(axis=1)
        f = s2 / grown
        share = w / grown[:, None]
        m = -f[:, None, None] * w[:, :, None] * w[:, None, :]
        diagonal = np.arange(len(at))
        m[:, diagonal, diagonal] += w
        my = np.einsum("bij,j->bi", m, g.mean)
        information[:, k, k] += g.cells * share.sum(axis=1)
        weighted[:, k] += g.cells * my.sum(axis=1)
        for i, row in enumerate(at):
            information[:, k, row] += g.cells * share[:, i]
            information[:, row, k] += g.cells * share[:, i]
            weighted[:, row] += g.cells * my[:, i]
            for j, column in enumerate(at):
                information[:, row, column] += g.cells * m[:, i, j]
        constant += 0.5 * g.cells * (np.log(w).sum(axis=1) - np.log(grown) - LOG_2PI * len(at))
        constant -= 0.5 * (np.einsum("bij,ij->b", m, g.scatter) + g.cells * my @ g.mean)
        constant -= 0.5 * g.cells * np.log(words).sum()
    root = _prior_root(sums, scales, prior_sd, n, place)
    precision = np.eye(n) + np.swapaxes(root, 1, 2) @ information @ root
    chol = np.linalg.cholesky(precision)
    x = np.linalg.solve(chol, (np.swapaxes(root, 1, 2) @ weighted[..., None]))[..., 0]
    log_det = np.log(np.diagonal(chol, axis1=1, axis2=2)).sum(axis=1)
    return MeanPart(constant + 0.5 * (x**2).sum(axis=1) - log_det, root, chol, x)


def effect_places(sums: CrossedSums, by_group: bool) -> dict[tuple[int, int], int]:
    """Pattern and group to the place of their mean effect in beta; without word x group a pattern has one place."""
    place: dict[tuple[int, int], int] = {}
    last = sums.connections
    for at, pattern in enumerate(sums.patterns):
        for group in pattern.groups:
            place[at, int(group)] = last
            last += by_group
        last += not by_group
    return place


def _prior_root(
    sums: CrossedSums, scales: Scales, prior_sd: float, n: int, place: dict[tuple[int, int], int]
) -> FloatArray:
    root = np.zeros((len(scales.sigma2), n, n))
    k = np.arange(sums.connections)
    root[:, k, k] = prior_sd
    for at, p in enumerate(sums.patterns):
        t_u = scales.attribute[:, p.attribute_class] / len(p.words)
        places = [place[at, int(group)] for group in p.groups]
        if scales.interaction is None:
            root[:, places[0], places[0]] = np.sqrt(t_u)
            continue
        t_v = scales.interaction / len(p.words)
        # the symmetric root of t_u 11' + t_v I, which stays finite as t_v goes to 0
        common = (np.sqrt(t_v + len(places) * t_u) - np.sqrt(t_v)) / len(places)
        rows = np.array(places)
        root[:, rows[:, None], rows] = common[:, None, None]
        root[:, rows, rows] += np.sqrt(t_v)[:, None]
    return root


def _pattern(
    y: FloatArray, words: IntArray, attribute_class: int, cells: IntArray, group_of_word: IntArray, connections: int
) -> Pattern:
    """The sums of a block of distances (words, slots)."""
    mean = y.mean(axis=0)
    z = y - mean
    groups, group = np.unique(group_of_word[cells[:, 0]], return_inverse=True)
    k = cells[:, 1]
    strata = np.zeros((y.shape[1], connections, len(groups)))
    strata[np.arange(y.shape[1]), k, group] = 1
    sums = np.einsum("wr,rkh->wkh", z, strata)
    return Pattern(
        words=words,
        attribute_class=attribute_class,
        cells=cells,
        groups=groups,
        slots=strata.sum(axis=0),
        squares=np.bincount(k, weights=(z**2).sum(axis=0), minlength=connections),
        products=np.einsum("wkh,wlg->khlg", sums, sums),
        mean=mean,
    )


def _signatures(patterns: Sequence[Pattern], group_of_word: IntArray, connections: int) -> tuple[Signature, ...]:
    vectors: dict[tuple[int, int], list[tuple[int, float]]] = {}
    for at, pattern in enumerate(patterns):
        for (word, k), value in zip(pattern.cells.tolist(), pattern.mean.tolist(), strict=True):
            vectors.setdefault((word, k), []).append((at, value))
    collected: dict[tuple[int, int, tuple[int, ...]], list[list[float]]] = {}
    for (word, k), entries in vectors.items():
        key = (k, int(group_of_word[word]), tuple(at for at, _ in entries))
        collected.setdefault(key, []).append([value for _, value in entries])
    signatures = []
    for (k, group, members), rows in collected.items():
        values = np.array(rows)
        centred = values - values.mean(axis=0)
        signatures.append(Signature(k, group, members, len(values), values.mean(axis=0), centred.T @ centred))
    return tuple(signatures)
