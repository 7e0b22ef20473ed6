"""Sentence templates as a random effect: what a fit of mean distances does not know about other templates."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
import xarray as xr

from bayesbias.distances.dataframe import TEMPLATES as COLUMNS
from bayesbias.distances.dataframe import coverage_of, like, template_columns
from bayesbias.distances.distances import Distances
from bayesbias.models.tree import STEPS, TEMPLATES, Fit
from bayesbias.numerics.arrays import NOTHING, FloatArray, IntArray
from bayesbias.results import Note
from bayesbias.words import STEREOTYPES

UNIT = ["protected_word", "attribute_word", "connection"]
PRIOR = 0.25
"""Mean of the exponential prior of a template's standard deviation, in standard deviations of control distances."""
NODES = 400
REACH = (1e-3, 200.0)  # smallest and largest standard deviation that is looked at, in prior means
FEW = 5  # templates below which the size of their effect rests on the prior


@dataclass(frozen=True)
class Variation:
    """Variation of a contrast over templates."""

    by_template: FloatArray  # the contrast in each template, (T,)
    noise: float  # variance over templates that single attribute words cause: it averages out over words
    squares: float  # sum of squares around the mean over templates
    freedom: int  # and its degrees of freedom

    def draw_sd(self, scale: float, draws: int, rng: np.random.Generator) -> FloatArray:
        """Draws (D,) of the standard deviation of the template effect.

        ``squares ~ (tau^2 + noise) chi^2(freedom)``, tau exponential with mean ``scale``.
        """
        tau = scale * np.geomspace(*REACH, NODES)
        total = tau**2 + self.noise
        log = -tau / scale + np.log(tau)  # the grid is even in the logarithm
        if self.freedom > 0:
            log += -self.freedom / 2 * np.log(total) - self.squares / (2 * total)
        mass = np.exp(log - log.max())
        nodes = rng.choice(tau, size=draws, p=mass / mass.sum())
        step = np.log(tau[1] / tau[0])
        drawn: FloatArray = nodes * np.exp(step * (rng.random(draws) - 0.5))
        return drawn


@dataclass(frozen=True)
class _TemplateData:
    """Distances of pairs by template."""

    data: Distances  # the mean distances
    # for each side whose templates vary their names (T,), and distances (pairs, T), NaN where a pair lacks it
    axes: tuple[tuple[tuple[str, ...], FloatArray], ...]
    nested: bool  # whether the templates are sentences of the protected words, each word's own

    @cached_property
    def variations(self) -> tuple[list[tuple[Variation, Variation]], ...]:
        """For each side the variation of every contrast with the first connection: whole list, and words."""
        others = range(1, len(self.data.connections))
        return tuple([variation(self, axis, other) for other in others] for axis in range(len(self.axes)))

    @property
    def control_sd(self) -> float:
        """Standard deviation of control distances, or of all where there are no control words."""
        control = ~np.isin(self.data.connections, STEREOTYPES)[self.data.connection]
        distances = self.data.y[control] if control.sum() > 2 else self.data.y
        return float(distances.std()) or 1e-6


def template_data(table: pd.DataFrame, data: Distances) -> _TemplateData | None:
    """The distances of a table with these means by template; None for a table without templates."""
    columns = template_columns(table)
    if not columns:
        return None
    plain = pd.DataFrame(table)[[*UNIT, "distance", *columns]]
    record = coverage_of(table)
    keys = pd.MultiIndex.from_arrays(
        [data.protected_words[data.word], data.attribute_words[data.attribute], data.connections[data.connection]]
    )
    axes = []
    for column in columns:
        matrix = plain.pivot_table("distance", UNIT, column, aggfunc="mean", sort=False, observed=True)
        matrix = matrix[list(dict.fromkeys(plain[column].tolist()))]
        axes.append((tuple(map(str, matrix.columns)), matrix.reindex(keys).to_numpy(dtype=float)))
    return _TemplateData(data, tuple(axes), record is not None and record.contexts.get("pairing") == "sentences")


def variation(source: _TemplateData, axis: int, second: int) -> tuple[Variation, Variation]:
    """Variation of the first connection less another one (by number) over templates of one side: whole list, and words.

    Of the words it is the deviation from the whole list, all words together.
    """
    data, (names, distances) = source.data, source.axes[axis]
    templates = len(names)
    whole = ~np.isnan(distances).any(axis=1)
    rows = np.flatnonzero(whole & np.isin(data.connection, [0, second]))
    count = np.zeros((len(data.protected_words), 2))
    side = (data.connection[rows] == second).astype(int)
    np.add.at(count, (data.word[rows], side), 1)
    kept = (count > 0).all(axis=1)
    rows, side = rows[kept[data.word[rows]]], side[kept[data.word[rows]]]
    words = np.flatnonzero(kept)
    none = Variation(np.full(templates, np.nan), 0.0, 0.0, 0)
    if not len(words):
        return none, none
    place = np.searchsorted(words, data.word[rows])
    weight = np.where(side == 0, 1.0, -1.0) / count[data.word[rows], side]
    parts = weight[:, None] * distances[rows]
    by_word = np.zeros((len(words), templates))
    np.add.at(by_word, place, parts)
    by_template = by_word.mean(axis=0)
    # stereotypes of a group are one list under either connection
    control = np.where(np.isin(data.connections, STEREOTYPES), "", data.connections)[data.connection[rows]]
    lists = np.unique(np.char.add(data.attribute_class[rows] + "\t", control), return_inverse=True)[1]
    noise = _noise(parts / len(words), np.zeros(len(rows), dtype=int), lists, data.attribute[rows])
    single = _noise(parts, place, lists * (side.max() + 1) + side, data.attribute[rows]) / len(words)
    apart = by_word - by_template
    apart -= apart.mean(axis=1, keepdims=True)
    around = by_template - by_template.mean()
    return (
        Variation(by_template, noise, float(around @ around), templates - 1),
        Variation(by_template, max(single - noise, 0.0), float((apart**2).sum()), (templates - 1) * (len(words) - 1)),
    )


def _noise(parts: FloatArray, unit: IntArray, lists: IntArray, attribute: IntArray) -> float:
    """Variance over templates, summed over units, of sums over lists whose words vary independently."""
    templates = parts.shape[1]
    if templates < 2:
        return 0.0
    blocks = unit * (lists.max() + 1) + lists
    keys, code = np.unique(np.column_stack([blocks, attribute]), axis=0, return_inverse=True)
    words = np.zeros((len(keys), templates))
    np.add.at(words, code.ravel(), parts)
    owner = np.unique(keys[:, 0], return_inverse=True)[1]
    sizes = np.bincount(owner)
    means = np.zeros((len(sizes), templates))
    np.add.at(means, owner, words)
    words -= (means / sizes[:, None])[owner]
    words -= words.mean(axis=1, keepdims=True)
    squares = (words**2).sum(axis=1) / (templates - 1)
    large = sizes[owner] > 1
    # deviations from the mean of n words vary by (n - 1) / n of what the words do
    scaled = squares[large] * (sizes / np.maximum(sizes - 1, 1))[owner[large]]
    return float(scaled.sum())


def with_template_effects(post: xr.DataTree, data: _TemplateData, seed: int) -> xr.DataTree:
    """A fit of mean distances with what other templates of this kind would change, integrated over.

    Each connection's mean, and each protected word's, gets the error of the mean over these templates: contrasts with
    the first connection have an effect for the whole list and deviations of words, all connections one that they share.
    """
    posterior = post["posterior"].to_dataset()
    sizes = [posterior.sizes[name] for name in STEPS]
    shift, words = template_errors(data, int(np.prod(sizes)), np.random.default_rng([seed, 5]))
    whole, total = (each.reshape(*sizes, *each.shape[1:]) for each in (shift, shift[:, None] + words))
    group = posterior["word_mean"].copy(data=total).to_dataset(name="word_shift")
    others = posterior["connection"].to_numpy()[1:]
    for label, (templates, _), contrasts in zip(COLUMNS, data.axes, data.variations, strict=False):
        if contrasts and not data.nested:
            by_template = np.column_stack([part.by_template for part, _ in contrasts])
            coords = {label: list(templates), "other_connection": others}
            group[f"contrast_{label}"] = xr.DataArray(by_template, coords, (label, "other_connection"))
    group.attrs = {"nested": int(data.nested), "templates": len(data.axes[0][0]), "control_sd": data.control_sd}
    means = {"connection_mean": posterior["connection_mean"] + whole, "word_mean": posterior["word_mean"] + total}
    result = post.copy()
    result["posterior"], result[TEMPLATES] = xr.DataTree(posterior.assign(means)), xr.DataTree(group)
    return result


def template_errors(templates: _TemplateData, size: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Errors of means over templates: whole list (D, K) and words' own (D, J, K)."""
    count = len(templates.data.connections)
    whole, words = np.zeros((size, count)), np.zeros((size, len(templates.data.protected_words), count))
    if templates.nested:
        return whole, _sentence_errors(templates, size, rng)
    scale = PRIOR * templates.control_sd
    for axis, (names, distances) in enumerate(templates.axes):
        number, pairs = np.sqrt(len(names)), templates.variations[axis]
        # variation of the mean distance over templates, from the pairs that have all of them
        whole_pairs = distances[~np.isnan(distances).any(axis=1)]
        by_template = whole_pairs.mean(axis=0) if len(whole_pairs) else np.zeros(len(names))
        apart = by_template - by_template.mean()
        level = Variation(by_template, 0.0, float(apart @ apart), (len(names) - 1) * (len(whole_pairs) > 0))
        # all connections have an error in common, contrasts with the first of them one of their own
        whole += (level.draw_sd(scale, size, rng) * rng.standard_normal(size))[:, None] / number
        if not pairs:
            continue
        root = np.linalg.cholesky(_alike(np.column_stack([pair.by_template for pair, _ in pairs])))
        common = rng.standard_normal((size, count - 1)) @ root.T
        sds = np.column_stack([pair.draw_sd(scale, size, rng) for pair, _ in pairs])
        whole[:, 1:] -= sds * common / number
        for i, (_, single) in enumerate(pairs):
            sd = single.draw_sd(scale, size, rng) if single.freedom > 0 else np.zeros(size)
            own = rng.standard_normal((size, words.shape[1])) * sd[:, None] / number
            words[:, :, i + 1] -= own - own.mean(axis=1, keepdims=True)
    return whole, words


def change_of_templates(
    before: pd.DataFrame | None, after: pd.DataFrame | None, data: Distances
) -> list[_TemplateData]:
    """The templates behind a change of distances: those that both tables have, of the differences, else each table's
    own.

    ``data`` are the pairs that both hold, in any unit.
    """
    tables = [table for table in (before, after) if table is not None]
    if len(tables) == 2 and template_columns(tables[0]) == template_columns(tables[1]):
        unit = [*UNIT, *template_columns(tables[0])]
        parts = [pd.DataFrame(table)[[*unit, "distance"]] for table in tables]
        both = parts[0].merge(parts[1], on=unit, suffixes=("_before", "_after"))
        if len(both):
            both["distance"] = both["distance_after"] - both["distance_before"]
            tables = [like(both, tables[0])]
    return [templates for table in tables if (templates := template_data(table, data)) is not None]


def _alike(by_template: FloatArray) -> FloatArray:
    """Correlation of contrasts over templates, shrunken towards none: few templates tell little of it."""
    templates, count = by_template.shape
    spread = by_template.std(axis=0)
    if templates < 3 or np.isnan(by_template).any() or not spread.all():
        return np.eye(count)
    # a correlation matrix of independent contrasts weighs as much as one template for each contrast
    share = count / (count + templates)
    shrunken = (1 - share) * np.corrcoef(by_template, rowvar=False).reshape(count, count) + share * np.eye(count)
    matrix: FloatArray = (shrunken + shrunken.T) / 2
    return matrix


def _sentence_errors(templates: _TemplateData, size: int, rng: np.random.Generator) -> FloatArray:
    """Errors (D, J, K) of protected words' means over sentences of their own, the same in all their sentences."""
    data, (_, distances) = templates.data, templates.axes[0]
    filled = ~np.isnan(distances)
    kinds = len(data.connections)
    scatter, freedom, counts = np.zeros((kinds, kinds)), np.zeros((kinds, kinds)), np.zeros(len(data.protected_words))
    for word in range(len(data.protected_words)):
        rows = np.flatnonzero(data.word == word)
        if not len(rows):
            continue
        # all attribute words meet the same sentences of the protected word
        sentences = np.flatnonzero(filled[rows[0]])
        present = np.unique(data.connection[rows])
        lists = [rows[data.connection[rows] == connection] for connection in present]
        means = np.stack([distances[np.ix_(own, sentences)].mean(axis=0) for own in lists])
        means -= means.mean(axis=1, keepdims=True)
        scatter[np.ix_(present, present)] += means @ means.T
        freedom[np.ix_(present, present)] += len(sentences) - 1
        counts[word] = len(sentences)
    least = float(freedom.diagonal().max())
    if not least:
        return np.zeros((size, len(counts), kinds))
    values, axes = np.linalg.eigh(np.divide(scatter, freedom, out=np.zeros_like(scatter), where=freedom > 0))
    root = axes * np.sqrt(np.maximum(values, 0))
    # the covariance is estimated with so many degrees of freedom: the errors are multivariate t, not normal
    wide = np.sqrt(least / rng.chisquare(least, size))[:, None, None]
    drawn = rng.standard_normal((size, len(counts), kinds)) @ root.T
    errors: FloatArray = wide * drawn / np.sqrt(np.maximum(counts, 1))[:, None]
    return errors


def template_notes(result: Fit) -> list[Note]:
    """Notes on templates without a contrast other than 0, on those with the contrasts of another, and on few."""
    if TEMPLATES not in result.tree.children:
        return []
    group, notes = result.tree[TEMPLATES].to_dataset(), list[Note]()
    for label in (name for name in COLUMNS if f"contrast_{name}" in group):
        values, names = group[f"contrast_{label}"].to_numpy(), group[label].to_numpy().astype(str)
        empty = (np.abs(values) <= NOTHING).all(axis=1)
        first = (np.abs(values[:, None] - values) <= NOTHING).all(axis=2).argmax(axis=1)
        same = ~empty & (np.bincount(first, minlength=len(names))[first] > 1)
        notes += [
            Note("templates", count=int(each.sum()), total=len(names), fault=fault, words=names[each].tolist())
            for each, fault in ((empty, "show no word"), (same, "have equal contrasts"))
            if each.any()
        ]
    if not group.attrs["nested"] and (count := int(group.attrs["templates"])) < FEW:
        notes.append(Note("few-levels", count=count, factor="templates"))
    return notes
