"""What the distances of one attribute word say together: their density given the cells, the word's effects left out.

Distances that share an attribute word hang together: if one of them is left out, the others give it away. To leave
out the whole word is to ask what the model says about a new one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bayesbias._core.blocks import in_blocks
from bayesbias._core.cosine import FloatArray
from bayesbias._core.marginal import LOG_2PI
from bayesbias._core.patterns import Pattern, Scales, strata

BLOCK = 2**18
"""Numbers in a block of residual sums, few enough to stay in the processor's cache."""


def word_log_likelihood(
    patterns: Sequence[Pattern], blocks: Sequence[FloatArray], scales: Scales, cells: FloatArray
) -> FloatArray:
    """Log density of all distances of each attribute word, its effects u and v integrated out.

    Given cells and scales, words are independent, and the distances of one are normal with covariance
    diag(sigma^2) + t_u 11' + t_v Z Z', where Z holds the group of each distance. Determinant and quadratic form need
    only sums by connection and group. With t_u = t_v = 0 this is a product of normals.

    Parameters
    ----------
    patterns, blocks
        A table's patterns and their distances (words, slots), as :func:`find_patterns` gives them.
    scales
        Variances at B draws; ``s2`` is not read.
    cells
        (B, protected words, K): cell means at the draws, minus what was taken from the distances. Cells without a
        distance are not read.

    Returns
    -------
    ndarray
        (B, attribute words), in the order of the indices in ``patterns``.
    """
    value = np.empty((len(cells), sum(len(p.words) for p in patterns)))
    widest = max(len(p.words) * len(p.groups) for p in patterns)

    def evaluate(part: slice) -> None:
        here = scales.at(part)
        for p, y in zip(patterns, blocks, strict=True):
            value[part, p.words] = _log_density(p, y, here, cells[part])

    in_blocks(evaluate, len(value), max(16, BLOCK // widest))
    return value


def _log_density(p: Pattern, y: FloatArray, scales: Scales, cells: FloatArray) -> FloatArray:
    """The density (B, words) of a pattern's words.

    With z = (y - slot mean) - (cell - slot mean), the sum of z^2 over sigma^2 and the residual sums r of a group are
    matrix products of what depends on the word and what depends on the draw.
    """
    k, inverse = p.cells[:, 1], 1 / scales.sigma2
    place = strata(k, p.group, (inverse.shape[1], len(p.groups)))
    apart = y - p.mean
    shift = cells[:, p.cells[:, 0], k] - p.mean
    precise = shift * inverse[:, k]
    squares = inverse @ (apart**2 @ place.sum(axis=2)).T
    squares -= 2 * precise @ apart.T
    squares += (shift * precise).sum(axis=1)[:, None]
    # residual sums of a word by group, (B, H, words)
    r = np.tensordot(inverse, np.tensordot(place, apart, (0, 1)), 1)
    r -= np.stack([precise[:, p.group == h].sum(axis=1) for h in range(len(p.groups))], axis=1)[:, :, None]
    weight = inverse @ place.sum(axis=0)
    t_u = scales.attribute[:, p.attribute_class]
    t_v = np.zeros(len(cells)) if scales.interaction is None else scales.interaction
    d = 1 + t_v[:, None] * weight
    shared = 1 + t_u * (weight / d).sum(axis=1)
    log_det = np.log(scales.sigma2) @ place.sum(axis=(0, 2)) + np.log(d).sum(axis=1) + np.log(shared)
    squares -= np.einsum("bhw,bh->bw", r**2, t_v[:, None] / d)
    squares -= np.einsum("bhw,bh->bw", r, 1 / d) ** 2 * (t_u / shared)[:, None]
    value: FloatArray = -0.5 * (squares + (log_det + len(k) * LOG_2PI)[:, None])
    return value
