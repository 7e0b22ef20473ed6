"""The model of related words: cells, their covariance from the vectors, and draws of their means."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import solve_triangular

from bayesbias.distances.covariances import Relatedness
from bayesbias.distances.distances import Distances
from bayesbias.errors import InputError
from bayesbias.models.spec import ModelSpec
from bayesbias.models.tree import Draws
from bayesbias.numerics.arrays import NOTHING, FloatArray, IntArray
from bayesbias.numerics.marginal import cell_numbers, scatter_cells
from bayesbias.numerics.related import (
    BINS,
    Components,
    FactorGrid,
    ListScatter,
    Population,
    RelatedSums,
    draw_cell_errors,
    factor_grid,
    factor_quantiles,
    freedom_of,
    list_correlations,
    population_of,
    root_of,
    scatter_from_fields,
    similarity_bins,
)
from bayesbias.results import Note
from bayesbias.words import OTHER, OWN, STEREOTYPES

MOST_NUMBERS_OF_LISTS = 2**28
"""Numbers of the similarities and correlations of lists, for each two of them, beyond which a fit is refused."""
MOST_NUMBERS_OF_ROOTS = 2**26  # numbers of the roots of all components that are kept between draws
NUMBERS_AT_ONCE = 2**22  # numbers of draws of distances that are looked at at once
LEAST_SCATTER = NOTHING**2  # expected sum of squares within cells up to which a class has no scatter
JITTER = 1e-9  # share of the mean variance that is added to that of every cell where a density is asked for


def factors_of(spec: ModelSpec, sums: RelatedSums) -> FactorGrid:
    """The posteriors of the factors given the scatter of a table's lists."""
    prior = spec.priors["sd_factor"]
    return factor_grid(sums.freedom, sums.scatter, prior.median, prior.spread)


def sample(spec: ModelSpec, data: Distances, chains: int, draws: int, rng: np.random.Generator) -> Draws:
    """Independent draws from the posterior."""
    sums = related_sums(data)
    facts, population, grid = independent_words(sums, data), further_words(spec, sums, data), factors_of(spec, sums)
    factors = factor_quantiles(grid, rng.random((chains * draws, len(grid.mass))))
    cells = scatter_cells(sums.y - draw_cell_errors(sums, factors, rng), data.filled)
    used, every = len(sums.sampled), len(data.protected_words)
    note = Note("sampled", rule="variation between words from some of the protected words", used=used, total=every)
    return Draws(
        posterior=completed(population, cells, factors, data, chains, rng),
        attrs={"grid_mass_outside": float(grid.mass[:, [0, -1]].sum(axis=1).max())} | facts,
        notes=(note,) if used < every else (),
    )


def completed(
    population: Population,
    cells: FloatArray,
    factors: FloatArray,
    data: Distances,
    chains: int,
    rng: np.random.Generator,
) -> dict[str, FloatArray]:
    """Posterior variables (chain, draw, ...) from draws of the cells' means (B, J, K) and of the factors (B, A)."""
    inverse, by_connection = population.draw(len(factors), rng), factors[:, data.connection_class]
    covariance = population.covariance(inverse, by_connection)
    root = root_of(covariance * population.families)  # of the deviations that the means over the words have
    mean = np.einsum("bjk->bk", np.where(data.filled, cells, 0.0)) / data.filled.sum(axis=0)
    posterior = {
        "connection_mean": mean - np.einsum("bkl,bl->bk", root, rng.standard_normal(mean.shape)),
        "word_mean": cells,
        "connection_sd": np.sqrt(np.diagonal(covariance, axis1=1, axis2=2)),
        "connection_covariance": covariance,
        "sd_factor": factors,
    }
    return {name: values.reshape(chains, -1, *values.shape[1:]) for name, values in posterior.items()}


def further_words(spec: ModelSpec, sums: RelatedSums, data: Distances) -> Population:
    """The law of further protected words like those of a table."""
    observed, errors = scatter_cells(sums.y, data.filled), scatter_from_fields(sums, data.filled)
    scale = spec.priors["connection_covariance"].scale * prior_scale(data)
    return population_of(observed, errors, sums.families, scale, sums.sampled)


def independent_words(sums: RelatedSums, data: Distances) -> dict[str, float]:
    """The effective number of protected words for statements about further words, as a fact of a fit.

    As many independent words would say as much about how bias varies between words; words with an empty cell are left
    out.
    """
    whole = data.filled.all(axis=1)
    kept = whole[sums.sampled]
    freedom, _ = freedom_of(sums.families[np.ix_(kept, kept)], int(whole.sum()))
    return {"independent_protected_words": freedom + 1}


class CellLists(NamedTuple):
    """The attribute words of cells."""

    word: IntArray  # protected word and connection of each cell, (cells,)
    connection: IntArray
    listed: IntArray  # list of each cell, (cells,): cells with the same attribute words share one
    member: NDArray[np.bool_]  # which attribute word is in which list, (lists, attribute words of the table)


def attribute_sets(
    word: IntArray, column: IntArray, attribute: IntArray, filled: NDArray[np.bool_], words: int
) -> tuple[IntArray, NDArray[np.bool_]]:
    """The distinct sets of attribute words behind cells, from the cell and the attribute word of each distance (rows,).

    The set of each cell, (J, C), -1 where it is empty; and which attribute word is in which set, (sets, words).
    """
    cell = cell_numbers(filled)[word, column]
    by_cell = sparse.csr_array((np.ones(len(cell), dtype=bool), (cell, attribute)), shape=(int(filled.sum()), words))
    # cells of one set have equal codes, sums of random whole numbers, which are exact; two different sets share both
    # codes with probability 2**-72
    codes = by_cell @ np.random.default_rng(0).integers(2**36, size=(words, 2)).astype(float)
    number = np.full(filled.shape, -1)
    first, same = np.unique(codes @ [1, 1j], return_index=True, return_inverse=True)[1:]
    order = np.argsort(first)  # sets are numbered in the order in which they are met
    number[filled] = np.argsort(order)[same]
    return number, by_cell[first[order]].toarray()


def cell_lists(data: Distances) -> CellLists:
    """The distinct lists of attribute words behind the cells of a table."""
    word, connection = np.nonzero(data.filled)
    number, member = attribute_sets(data.word, data.connection, data.attribute, data.filled, len(data.attribute_words))
    return CellLists(word, connection, number[data.filled], member)


def relatedness_for(data: Distances) -> Relatedness:
    """The relatedness that a table's data carry."""
    if data.relatedness is None:
        raise InputError(
            "the model 'related' needs to know how words are related: make the table with distance_table(kv, words), "
            "or fit the model 'crossed', which takes different words for unrelated"
        )
    return data.relatedness


def too_many_lists(data: Distances, lists: CellLists | None = None) -> str:
    """The number of lists of a table where it is too large for the model of related words; else empty.

    Cells share a list unless pairs are missing here and there. Of each two lists the similarities and correlations of
    their words are needed.
    """
    each = BINS + min(relatedness_for(data).protected.shape)
    if int(data.filled.sum()) ** 2 * each <= MOST_NUMBERS_OF_LISTS:
        return ""
    size = len((lists or cell_lists(data)).member)
    most = int(np.sqrt(MOST_NUMBERS_OF_LISTS / each))
    if size <= most:
        return ""
    return f"{size:,} lists, more than {most:,}"


def components_for(relatedness: Relatedness, words: NDArray[np.str_]) -> Components:
    """Components with the loadings of some protected words."""
    parts, labels = relatedness.components, words.tolist()
    if labels == list(relatedness.protected_words):
        return parts
    place = {word: i for i, word in enumerate(relatedness.protected_words)}
    rows = [place[word] for word in labels]
    return Components(parts.variances, parts.loadings[rows], parts.correlations)


def prior_scale(data: Distances) -> float:
    """Standard deviation of a protected word's distances to the words of the vocabulary, on average.

    The scale of priors inside one model. It depends on the protected words of the table, and is not the unit of
    standardised contrasts, which :meth:`Distances.distance_sd` gives.
    """
    parts = components_for(relatedness_for(data), data.protected_words)
    return float(np.sqrt((parts.loadings**2 @ parts.variances).mean()))


def related_sums(data: Distances) -> RelatedSums:
    """A table's cells, the covariance of their means, and the scatter within them."""
    relatedness, lists = relatedness_for(data), cell_lists(data)
    if reason := too_many_lists(data, lists):
        raise InputError(
            f"{reason}, of attribute words behind the cells, since pairs are missing: drop the words with missing "
            "pairs, or fit the model 'crossed'"
        )
    parts = components_for(relatedness, data.protected_words)
    same, shares = relatedness.overlaps(lists.member, data.attribute_words.tolist())
    freedom, expected, counted = _scatter_within(data, relatedness, parts, lists, same, shares)
    known = freedom > 0
    scatter = np.divide(counted.squares(data.y[None])[0], expected, out=np.ones(len(known)), where=known)
    sampled, families = relatedness.sampled_families(data.protected_words.tolist())
    return RelatedSums(
        y=data.cells.mean[lists.word, lists.connection],
        word=lists.word,
        connection=lists.connection,
        kind=data.connection_class[lists.connection],
        listed=lists.listed,
        parts=parts,
        correlations=list_correlations(parts.correlations, same, shares),
        sampled=sampled,
        families=families,
        freedom=freedom,
        scatter=scatter,
        expected=expected,
        counted=counted,
    )


def root_of_cells(sums: RelatedSums) -> FloatArray:
    """Lower root (n, n) of the covariance of a table's cells, where a density is asked for."""
    covariance = sums.covariance
    jitter = JITTER * max(float(np.diag(covariance).mean()), 1e-6)
    root: FloatArray = np.linalg.cholesky(covariance + jitter * np.eye(len(covariance)))
    return root


class _Block(NamedTuple):
    """Distances of some protected words to a list."""

    rows: IntArray  # of the table
    listed: IntArray  # list of each protected word, (J,)
    typical: int  # that of most of them
    kind: int  # attribute class
    # of the difference between the list's group and the others: weights (J,), and sums (words, rows) for words that all
    # protected words have
    difference: tuple[FloatArray, sparse.csr_array] | None = None


def _blocks(data: Distances, lists: CellLists) -> Iterator[_Block]:
    """Lists whose scatter counts: that of a group to the words of all groups, any other to the words that it has.

    Exchanging the lists of two groups leaves the scatter as it is.
    """
    names, kinds, group = data.connections.tolist(), data.connection_class, data.group_index
    number, seen = np.full(data.filled.shape, -1), set[int]()
    number[lists.word, lists.connection] = lists.listed
    stereotype = np.isin(data.connections, STEREOTYPES)
    by_group = stereotype & (OWN in names) & bool((data.groups != "").all())
    for place in range(len(data.group_names)) if by_group.any() else ():
        own = number[group == place, names.index(OWN)]
        if not (own >= 0).any():
            continue
        typical = int(np.bincount(own[own >= 0]).argmax())
        rows = np.flatnonzero(by_group[data.connection] & lists.member[typical][data.attribute])
        block = _Block(rows, np.full(len(group), typical), typical, int(kinds[names.index(OWN)]))
        if typical not in seen:  # a list that several groups have counts once
            yield _with_differences(data, block, place)
        seen.add(typical)
    for place in np.flatnonzero(~by_group).tolist():
        if names[place] == OTHER and OWN in names:
            continue  # the lists of associated words
        # stereotypes are as one group meets them
        every = np.flatnonzero(data.connection == place)
        part = group[data.word[every]] if stereotype[place] else np.zeros_like(every)
        for rows in (every[part == one] for one in np.unique(part)):
            met = number[np.unique(data.word[rows]), place]
            yield _Block(rows, number[:, place], int(np.bincount(met).argmax()), int(kinds[place]))


def _with_differences(data: Distances, block: _Block, place: int) -> _Block:
    """A block with the differences between a group and the others in the mean distance to single attribute words.

    Where pairs are missing those words count that all protected words have: levels of words cancel in no others.
    """
    group, word = data.group_index, data.word[block.rows]
    present = np.bincount(word, minlength=len(group)) > 0
    met = np.unique(group[present])
    # groups weigh the same, and words in a group
    share = present / np.maximum(np.bincount(group[present], minlength=len(data.group_names)), 1)[group]
    direction = np.where(group == place, 1.0, -1 / max(len(met) - 1, 1)) * share
    attribute = np.unique(data.attribute[block.rows], return_inverse=True)[1]
    whole = np.bincount(attribute) == present.sum()
    if len(met) < 2 or place not in met or whole.sum() < 2:
        return block
    sums = sparse.csr_array((direction[word], (attribute, block.rows)), shape=(len(whole), len(data.y)))
    return block._replace(difference=(direction, sparse.csr_array(sums[whole])))


def _scatter_within(
    data: Distances,
    relatedness: Relatedness,
    parts: Components,
    lists: CellLists,
    same: FloatArray,
    shares: FloatArray,
) -> tuple[FloatArray, FloatArray, ListScatter]:
    """Degrees of freedom of the scatter within lists of each attribute class, (A,), its expectation (A,), and itself.

    Distances to one list are correlated through its words: Satterthwaite's degrees of freedom take this into account.
    Single words tell the factor best; how stereotypes differ in the bias that they show, which the contrast averages,
    stands in the differences between groups, that count as much in all.
    """
    # what a small sample leaves unknown is how words are correlated, not how much single words scatter
    parts = replace(parts, variances=parts.variances / relatedness.factors_of(parts))
    # mean correlation of a list's words, (lists, Q): that of a list does not depend on which others there are
    own = np.diagonal(shares, axis1=0, axis2=1).T @ parts.correlations.T + np.diag(same)[:, None]
    within = np.maximum(own, 0)
    single: FloatArray | float = 1.0  # mean variance of its single words, less than 1 for means over forms
    if relatedness.forms is not None:
        member = lists.member / lists.member.sum(axis=1, keepdims=True)
        single = member @ relatedness.own_correlations(data.attribute_words.tolist()).T
    left = parts.variances * np.maximum(single - within, 0)  # (lists, Q)
    size, classes = lists.member.sum(axis=1), len(data.connection_classes)
    blocks = list(_blocks(data, lists))
    # n words with the mean correlation c, themselves included, scatter by n (1 - c) times their variance
    of_words, of_differences, found = np.zeros((3, classes))
    for block in blocks:
        words, n = np.unique(data.word[block.rows], return_counts=True)
        listed = block.listed[words]
        missing = (n - 1) / np.maximum(size[listed] - 1, 1)  # where pairs are missing
        each = (parts.loadings[words] ** 2 * left[listed]).sum(axis=1)
        of_words[block.kind] += (each * size[listed] * missing).sum()
        if block.difference is not None:
            direction, differences = block.difference
            apart = direction @ parts.loadings
            expected = size[block.typical] * float(apart**2 @ left[block.typical])
            of_differences[block.kind] += expected
            found[block.kind] += expected * (differences.shape[0] - 1) / (size[block.typical] - 1)
    # groups with the same vectors, which are in half precision, differ by rounding
    differ = of_differences > NOTHING * of_words
    weight = np.divide(of_words, of_differences, out=np.zeros(classes), where=differ)
    total, spread = of_words + weight * found, np.zeros(classes)
    sums, part, kinds = list[sparse.csr_array](), list[IntArray](), list[int]()
    for block in blocks:
        words, word = np.unique(data.word[block.rows], return_inverse=True)
        loadings, rows = parts.loadings[words], len(block.rows)
        entries = np.ones(rows), (np.arange(rows), block.rows)
        sums.append(sparse.csr_array(entries, shape=(rows, len(data.y))))
        part.append(len(kinds) + word)
        kinds += [block.kind] * len(words)
        if block.difference is not None:
            direction, differences = block.difference
            root = np.sqrt(weight[block.kind])
            loadings = np.vstack([loadings, root * direction @ parts.loadings])
            sums.append(root * differences)
            part.append(np.full(differences.shape[0], len(kinds)))
            kinds.append(block.kind)
        most, place = int(np.bincount(word).max()), block.typical
        spread[block.kind] += _scatter_variance(parts, loadings, same[place, place], shares[place, place], most)
    # Satterthwaite: 2 E^2 / Var, as a multiple of chi-squared has; blocks are treated as independent
    known = (total > LEAST_SCATTER) & (spread > 0)
    freedom = np.divide(2 * total**2, spread, out=np.zeros(classes), where=known)
    counted = ListScatter(sparse.csr_array(sparse.vstack(sums)), np.concatenate(part), np.array(kinds), classes)
    return freedom, total, counted


def _scatter_variance(parts: Components, loadings: FloatArray, same: float, shares: FloatArray, n: int) -> float:
    """Variance of the sum of squares of n words' distances to some protected words, for a factor of 1.

    2 sum over q, q' of v_q v_q' (Q'Q)_qq'^2 tr(C_q C_q'), with C_q the correlations of the words less their mean; an
    upper bound, since C_q is centred once.
    """
    # the sum of squares of normal values with covariance C has the variance 2 tr C^2
    mean = parts.correlations @ shares + same
    apart = parts.correlations - mean[:, None]
    trace = n**2 * ((apart * shares) @ apart.T + same * np.outer(1 - mean, 1 - mean))
    together = loadings.T @ loadings
    return float(2 * parts.variances @ (together**2 * trace) @ parts.variances)


@dataclass(frozen=True)
class _Kernels:
    """Correlations of a table's attribute words in each component."""

    components: Components  # of the protected words of the table
    bins: NDArray[np.intp]  # of similarity of each two attribute words, (W, W); the last is a word with itself
    correlations: FloatArray  # (Q, BINS + 1): the variograms, and 1 for a word with itself
    # share (W, R) of each form in a word, where words have several: bins are then those of the forms, (R, R)
    shares: FloatArray | None = None

    def mean(self, values: FloatArray) -> FloatArray:
        """Values (BINS + 1,) at the bins of each two attribute words, (W, W): means over their forms."""
        matrix: FloatArray = values[self.bins]
        return matrix if self.shares is None else self.shares @ matrix @ self.shares.T


def kernels_of(data: Distances) -> _Kernels:
    """The correlations of a table's attribute words, which take the square of their number in memory."""
    relatedness = relatedness_for(data)
    parts = components_for(relatedness, data.protected_words)
    units, shares = relatedness.expanded(data.attribute_words.tolist())
    bins = similarity_bins(units @ units.T)
    bins[np.diag_indices(len(bins))] = BINS
    return _Kernels(parts, bins, np.column_stack([parts.correlations, np.ones(len(parts.variances))]), shares)


def protected_root(data: Distances) -> FloatArray:
    """Root (J, Q) of the covariance of the distances of one random word to the protected words, for a factor of 1."""
    parts = components_for(relatedness_for(data), data.protected_words)
    return parts.loadings * np.sqrt(parts.variances)


def further_word_sd(data: Distances) -> FloatArray:
    """Predicted sd (J, K) of a further word of each cell's list around the mean of those there, for a factor of 1.

    NaN in empty cells. It is smaller than the sd of a random word where the words of the list are similar.
    """
    relatedness = relatedness_for(data)
    parts = components_for(relatedness, data.protected_words)
    lists = cell_lists(data)
    same, shares = relatedness.overlaps(lists.member, data.attribute_words.tolist())
    n = lists.member.sum(axis=1)
    # a further word less the mean of n, any two with the correlation c: (1 - c)(1 + 1 / n)
    total, pairs = np.diagonal(shares, axis1=0, axis2=1).T @ parts.correlations.T, 1 - np.diag(same)[:, None]
    within = np.divide(total, pairs, out=np.zeros_like(total), where=pairs > 0)  # 0 for lists of one word
    variance = np.maximum(1 - within, 0) * (1 + 1 / n[:, None])
    sd = np.full(data.filled.shape, np.nan)
    weight = parts.loadings[lists.word] ** 2 * parts.variances
    sd[lists.word, lists.connection] = np.sqrt((weight * variance[lists.listed]).sum(axis=1))
    return sd


def errors_of(data: Distances, sums: RelatedSums) -> Callable[[FloatArray, np.random.Generator], FloatArray]:
    """A function that makes draws (B, rows) of errors from the factors (B, A), for what asks again and again.

    The errors of the cells' means and the scatter within cells have the distributions of the model for given factors.
    Within a cell words deviate as their correlations say; those of many words need not be positive semi-definite, so
    that only their pattern is taken from there, not their size.
    """
    fields = _fields_of(data)
    cell = cell_numbers(data.filled)[data.word, data.connection]
    member = sparse.csr_array((np.ones(len(cell)), (np.arange(len(cell)), cell)))
    known = sums.freedom > 0

    def draw(factors: FloatArray, rng: np.random.Generator) -> FloatArray:
        drawn = fields(len(factors), rng)
        # as in factor_grid: freedom * scatter / factor^2 is chi-squared (wanted is before the factor)
        chi2 = np.where(known, rng.chisquare(np.where(known, sums.freedom, 1.0), factors.shape), 1.0)
        wanted = sums.expected * np.divide(chi2, sums.freedom, out=chi2.copy(), where=known)
        errors = draw_cell_errors(sums, factors, rng)
        for part in _parts_of(drawn):
            deviations = drawn[part]
            deviations -= (deviations @ member / member.sum(axis=0))[:, cell]
            squares = sums.counted.squares(deviations)
            ratio = np.divide(wanted[part], squares, out=np.ones_like(squares), where=known & (squares > 0))
            scale = np.sqrt(ratio) * factors[part]
            deviations *= scale[:, data.connection_class[data.connection]]
            deviations += errors[part][:, cell]
        return drawn

    return draw


def _parts_of(drawn: FloatArray) -> Iterator[slice]:
    """Slices of draws (B, rows), few enough at a time for the memory."""
    step = max(1, NUMBERS_AT_ONCE // drawn.shape[1])
    return (slice(begin, begin + step) for begin in range(0, len(drawn), step))


def _fields_of(data: Distances) -> Callable[[int, np.random.Generator], FloatArray]:
    """A function that makes draws (size, rows) of distances to random words as similar as those of a table."""
    kernels = kernels_of(data)
    parts, words = kernels.components, len(data.attribute_words)
    # the distance of words j and w, less its mean, is the sum over q of loading_jq sqrt(variance_q) field_q(w)
    columns = parts.loadings * np.sqrt(parts.variances)
    place = data.word * words + data.attribute

    def root_at(component: int) -> FloatArray:
        return root_of(kernels.mean(kernels.correlations[component]))

    if columns.shape[1] * words**2 <= MOST_NUMBERS_OF_ROOTS:
        root_at = lru_cache(maxsize=None)(root_at)

    def draw(size: int, rng: np.random.Generator) -> FloatArray:
        total, step = np.zeros((size, len(data.y))), max(1, NUMBERS_AT_ONCE // (size * words))
        for begin in range(0, columns.shape[1], step):
            here = columns[:, begin : begin + step]
            fields = np.empty((size, here.shape[1], words))
            for i in range(here.shape[1]):
                root = root_at(begin + i)
                fields[:, i] = rng.standard_normal((size, len(root))) @ root.T
            for part in _parts_of(total):
                total[part] += (here @ fields[part]).reshape(len(total[part]), -1)[:, place]
        return total

    return draw


def log_likelihood(sums: RelatedSums, cells: FloatArray, factors: FloatArray) -> FloatArray:
    """Log likelihood (B,) at draws of the cells' means (B, n) and the factors (B, A), without constants."""
    log_factors = np.log(factors)
    errors = solve_triangular(root_of_cells(sums), ((cells - sums.y) / factors[:, sums.kind]).T, lower=True)
    normal = -0.5 * (errors**2).sum(axis=0) - log_factors[:, sums.kind].sum(axis=1)
    # the scatter within cells, as in factor_grid
    value: FloatArray = normal - (log_factors + 0.5 * sums.scatter * np.exp(-2 * log_factors)) @ sums.freedom
    return value
