"""Split halves: the difference of what two halves of a table say, over the sd or interval that is given for it.

Two random halves are two samples of one population, so that the difference of their statements has mean 0.

- ``calibration/halves``: contrasts of the published tables, whose attribute words, protected words, or both are split;
  each half is fitted with ``crossed``. Where attribute words alone are split, the contrast is that of the given
  protected words, otherwise that of similar ones. A ratio above 1 is an interval that is too wide;
- ``calibration/row_halves``: rows of single words: published tables with ``crossed``, bundled lists in two embeddings
  (``--files 'glove 50d'=FILE``) with the default, whose rows are as observed or pooled, and how far rows of one half
  lie from the observed associations of the other;
- ``related/halves``: mean distances of a list to its own protected words, and these less those of the other groups
  (controls: to all), for halves at random and by topic: two clusters of its vectors. Lists are the bundled ones and
  random topics for the same protected words. Beside it the interval that takes words for independent (Welch);
- ``related/shuffled``: the stereotypes of all groups, shuffled between them. Such lists are not random words: each has
  words that differ between the groups more than random ones do, in both directions;
- ``sentences/halves``: whether templates predict other templates: random halves of 8 or 16, and those of SEAT against
  those that mention a word (``--files sentences=FOLDER``). Words are the same on both sides.
"""

import warnings
from dataclasses import replace
from itertools import islice, product
from zlib import crc32

import numpy as np
import pandas as pd
from scipy.cluster.vq import kmeans2
from scipy.special import ndtri
from scipy.stats import t

import bayesbias as bb
from benchmarks.builders.sentence_vectors import KINDS as VECTORS
from benchmarks.builders.sentence_vectors import LISTS as SENTENCES
from benchmarks.builders.sentence_vectors import encoded
from benchmarks.inside import (
    Distances,
    Fit,
    measured_relatedness,
    related_model,
    template_variation,
    unit_rows,
    weights_of,
)
from benchmarks.study import PROB, TABLES, TAIL, Design, crossed, main, published_table
from benchmarks.validity.lists import (
    SLICE,
    SPEC,
    TWO,
    bundled_subjects,
    draw_lists,
    given_rows,
    replicate_data,
    vocabulary_of,
)

WORDS = {
    "attribute words": (("attribute_word", "attribute_class"),),
    "protected words": (("protected_word", "group"),),
    "both": (("attribute_word", "attribute_class"), ("protected_word", "group")),
}
BESIDE = ("human", "neutral", "different")
BUNDLED = ("gender", "race", "religion", "weat1", "weat3", "weat6", "weat7", "weat8")
PARTED = ("gender", "religion", "race", "weat1", "weat6", "weat7", "weat8")
SOURCES = {"google news": SLICE}
RANDOM_SPLITS, STARTS, FEWEST = 20, 10, 4
"""Random splits of each bundled list, runs of k-means, and words of the shortest list that is split."""
LIMIT = ndtri(1 - TAIL)


def halved(table, column, within, rng):
    """True for the rows whose word is in the first half; the words of each list are split, odd ones at random."""
    words = table.drop_duplicates(column)
    lists = words[within].astype("string").fillna("")
    first = set()
    for name in lists.unique():
        listed = rng.permutation(words.loc[lists == name, column].to_numpy())
        first.update(listed[: (len(listed) + rng.integers(2)) // 2])
    return table[column].isin(first).to_numpy()


def halves_of(table, kind, rng):
    """The two halves of a table."""
    sides = [halved(table, *names, rng) for names in WORDS[kind]]
    return table[np.all(sides, axis=0)], table[~np.any(sides, axis=0)]


def quietly(half, model, **how):
    with warnings.catch_warnings(action="ignore"):
        return bb.fit(half, model, **how)


def spread(apart, combined):
    """Combined sd, true sd of the difference, their ratio, and the share of differences within the interval."""
    width, true = (np.sqrt(np.mean(np.square(values))) for values in (combined, apart))
    covered = np.mean(np.abs(apart) <= LIMIT * combined)
    return {"combined_sd": width, "true_sd": true, "ratio": width / true, "covered": covered}


def contrast_draws(result, second, population):
    """The fit's own draws (D,) of the contrast of associated words with others."""
    connections = result.posterior["connection"].to_numpy().tolist()
    places = [connections.index(name) for name in ("associated", second)]
    kept = result.data.filled[:, places].all(axis=1)
    if population == "similar" or not kept.any():
        means = result.draws("connection_mean")[:, places]
    else:
        words = result.draws("word_mean")[:, kept][:, :, places]
        means = np.einsum("djk,j->dk", words, weights_of.whole_weights(result.data, kept)[kept])
    return means[:, 0] - means[:, 1]


def contrasts_of(half, population, seed):
    """Contrast to the mean and sd of its draws."""
    post, found = quietly(half, "crossed", draws=400, seed=seed), {}
    held = post["posterior"]["connection"].to_numpy().tolist()
    for name in (each for each in BESIDE if {each, "associated"} <= set(held)):
        whole = contrast_draws(Fit(post), name, population)
        found[name] = whole.mean(), whole.std(ddof=1)
    return found


def table_halves(cell):
    kind, table = cell["halved"], published_table(cell["table"])
    rng = np.random.default_rng([0, crc32(f"{cell['table']} {kind}".encode())])
    population = "given" if kind == "attribute words" else "similar"
    seen = {each: [] for each in BESIDE}
    for number in range(cell.replicates):
        halves = enumerate(halves_of(table, kind, rng))
        one, two = (contrasts_of(half, population, 2 * number + at) for at, half in halves)
        for each in one.keys() & two.keys():
            (first, sd), (second, other) = one[each], two[each]
            seen[each].append((first - second, np.hypot(sd, other)))
    for each, values in seen.items():
        if values:
            labels = {"contrast": f"associated - {each}", "population": population, "splits": len(values)}
            yield labels | spread(*np.array(values).T)


def observed(half):
    """Double-centred mean distances of the words to their own lists, from the rows of a table."""
    stereotypes = half[half["connection"].isin(["associated", "different"])].astype(
        {"attribute_class": "string", "group": "string"}
    )
    means = stereotypes.pivot_table("distance", ["protected_word", "group"], "attribute_class", observed=True)
    group = means.index.get_level_values("group")
    lists = stereotypes[stereotypes["connection"] == "associated"].drop_duplicates("group").set_index("group")
    own = means.columns.get_indexer(lists["attribute_class"].reindex(group))
    apart = means.sub(means.mean(axis=1), axis=0)
    apart = apart - apart.groupby(group.to_numpy()).mean().mean()
    size = means.shape[1]
    return pd.Series(apart.to_numpy()[np.arange(len(apart)), own] * size / (size - 1), apart.droplevel("group").index)


def row_halves(cell):
    name, _, embedding = cell["table"].partition(", ")
    if embedding:
        vectors = vocabulary_of(replace(cell, levels={"embedding": embedding}), SOURCES)
        table = bb.distance_table(vectors.kv, name, case="fallback")
    else:
        table = published_table(name)
    rng = np.random.default_rng([1, crc32(cell["table"].encode())])
    seen = {kind: [] for kind in (("association", "pooled") if embedding else ("association",))}
    for _ in range(cell.replicates):
        halves = halves_of(table, "attribute words", rng)
        raw = [observed(half) for half in halves]
        for kind, frames in seen.items():
            posts = (quietly(half, cell["model"], draws=1000, seed=0) for half in halves)
            both = [bb.contrasts(post, rows=kind).iloc[1:].set_index("protected_word") for post in posts]
            words = both[0].index.intersection(both[1].index)
            one, two = (each.loc[words] for each in both)
            frame = {"apart": one["mean"] - two["mean"], "combined": np.hypot(one["sd"], two["sd"])}
            frame |= {"error": one["mean"] - raw[1].loc[words], "error_raw": raw[0].loc[words] - raw[1].loc[words]}
            frames.append(pd.DataFrame(frame))
    for kind, frames in seen.items():
        every = pd.concat(frames)
        row = {"rows": kind, "words": len(frames[0]), "splits": cell.replicates}
        errors = {f"rmse{end}": np.sqrt((every[f"error{end}"] ** 2).mean()) for end in ("", "_raw")}
        yield row | spread(every["apart"], every["combined"]) | errors


def split_by_topic(units, rng):
    """Halves (words,) of +1 and -1: the best of several runs of k-means with two clusters."""
    best, labels = np.inf, None
    for _ in range(STARTS):
        centres, found = kmeans2(units, 2, minit="++", rng=rng)
        inertia = ((units - centres[found]) ** 2).sum()
        if inertia < best and 0 < found.sum() < len(found):
            best, labels = inertia, found
    return split_at_random(len(units), rng) if labels is None else np.where(labels == 1, 1, -1)


def split_at_random(size, rng):
    return rng.permutation(np.where(np.arange(size) < size // 2, 1, -1))


def quantities(subjects, at):
    """Weights (J,) of protected words whose distances to list number ``at`` are compared between halves."""
    size = len(subjects.groups)
    if at >= len(subjects.names):
        return {"all protected words": np.full(size, 1 / size)}
    own = subjects.groups == at
    others = np.where(own, 0.0, 1 / (~own).sum())
    return {"own group": own / own.sum(), "own less other groups": own / own.sum() - others}


def comparisons(subjects, drawn, rng, splits):
    """Rows of differences between halves of each list, which is split once by topic, with both methods."""
    data = replicate_data(subjects, drawn)
    factors = np.sqrt(np.diag(related_model.related_posterior(SPEC, data).grid.products))
    related, groups = data.relatedness, len(subjects.names)
    begins = np.cumsum((0, *subjects.sizes))
    distances = 1 - unit_rows(related.protected) @ unit_rows(related.attributes).T
    rows, weights, scale = [], [], []
    for at, size in enumerate(subjects.sizes):
        if size < FEWEST:
            continue
        place = np.arange(begins[at], begins[at + 1])
        halves = [("by topic", split_by_topic(related.units[place], rng))]
        halves += [("at random", split_at_random(size, rng)) for _ in range(splits)]
        for how, half in halves:
            for name, protected in quantities(subjects, at).items():
                along = np.zeros(distances.shape[1])
                along[place] = np.where(half > 0, 1 / (half > 0).sum(), -1 / (half < 0).sum())
                weights.append(np.outer(protected, along))
                scale.append(factors[max(0, at - groups + 1)])
                values, kind = protected @ distances[:, place], "control" if at >= groups else "own"
                labels = {"split": how, "list": kind, "quantity": name}
                rows.append(labels | independent(values[half > 0], values[half < 0]))
    blocks = np.split(np.array(weights), range(200, len(weights), 200))
    variances = np.concatenate([np.diag(related.covariance(block)) for block in blocks])
    sd = np.array(scale) * np.sqrt(np.maximum(variances, 0))
    difference = np.array([(one * distances).sum() for one in weights])
    return pd.DataFrame(rows).assign(sd=sd, rate=np.abs(difference) <= LIMIT * sd)


def independent(first, second):
    """Standard error of a difference of means of independent words, and whether its interval holds 0."""
    if min(len(first), len(second)) < 2:
        return {"se_independent": np.nan, "rate_independent": np.nan}
    parts = [values.var(ddof=1) / len(values) for values in (first, second)]
    se = np.sqrt(sum(parts))
    df = se**4 / max(sum(part**2 / (len(v) - 1) for part, v in zip(parts, (first, second), strict=True)), 1e-30)
    covered = abs(first.mean() - second.mean()) <= t.ppf(1 - TAIL, max(df, 1)) * se
    return {"se_independent": se, "rate_independent": float(covered)}


def halves(cell):
    subjects, rng = bundled_subjects(vocabulary_of(cell, TWO), cell["words"]), cell.generator()
    if cell["lists"] == "bundled":
        lists, kv = bb.load_words(cell["words"]), subjects.vocabulary.kv
        subjects = replace(subjects, base=measured_relatedness(kv, lists, 3000, 0, "as-is"))
        rows = comparisons(subjects, given_rows(subjects, lists), rng, RANDOM_SPLITS)
    else:
        drawn = (draw_lists(subjects, "topical controls", rng) for _ in range(cell.replicates))
        rows = pd.concat([comparisons(subjects, lists, rng, 1) for lists in drawn])
    return rows.to_dict("records")


def shuffled_lists(lists, kv, rng):
    """Word lists whose stereotypes are shuffled between the groups; sizes are those of the words that are found."""
    listed = {group: [word for word in words if word in kv] for group, words in lists.stereotypes.items()}
    order = iter(rng.permutation(np.concatenate(list(listed.values()))).tolist())
    return replace(lists, stereotypes={group: tuple(islice(order, len(words))) for group, words in listed.items()})


def shuffled(cell):
    kv, lists, rng = vocabulary_of(cell, SOURCES).kv, bb.load_words(cell["words"]), cell.generator()
    rows = []
    for _ in range(cell.replicates):
        table = bb.distance_table(kv, shuffled_lists(lists, kv, rng))
        whole = bb.contrasts(quietly(table, "related", seed=0)).iloc[0]
        rows.append((whole["mean"], whole["sd"]))
    mean, sd = np.array(rows).T
    sds = {"sd_of_means": mean.std(ddof=1), "posterior_sd": np.sqrt((sd**2).mean())}
    yield sds | {"rate": np.mean(np.abs(mean) > LIMIT * sd)}


def predicted(found, first, second, scale, rng):
    """Whether the interval that the first templates give holds the mean over the second ones.

    The difference of two means over templates has the variance (tau^2 + noise) (1 / T + 1 / T'), with tau from the
    first ones.
    """
    values = found.by_template
    around = values[first] - values[first].mean()
    half = template_variation.Variation(values[first], found.noise, float(around @ around), len(first) - 1)
    sd = np.sqrt((half.draw_sd(scale, 2000, rng) ** 2 + found.noise) * (1 / len(first) + 1 / len(second)))
    draws = values[first].mean() + sd * rng.standard_normal(2000)
    low, high = np.quantile(draws, [(1 - PROB) / 2, (1 + PROB) / 2])
    return low <= values[second].mean() <= high


def template_halves(cell):
    for name in SENTENCES:
        vectors = encoded(name, cell["vectors"], cell.options.file("sentences"))
        table = bb.distance_table(vectors, name, relatedness=False)
        data = Distances.read(table, check=False)
        found = template_variation.template_data(table, data)
        rng, count, scale = np.random.default_rng(0), len(found.axes[0][0]), template_variation.PRIOR * found.control_sd
        for at, other in enumerate(data.connections.tolist()[1:], start=1):
            one = template_variation.variation(found, 0, 0, at)[0]
            for size, _ in product((4, 8), range(cell.replicates)):
                order = rng.permutation(count)
                held = predicted(one, order[:size], order[size : 2 * size], scale, rng)
                yield {"frames": size, "contrast with associated": other, "coverage": held}
            seat, mention = np.arange(8), np.arange(8, 16)
            for label, pair in (("SEAT to mention", (seat, mention)), ("mention to SEAT", (mention, seat))):
                held = predicted(one, *pair, scale, rng)
                yield {"frames": label, "contrast with associated": other, "coverage": held}


ROWS = crossed(table=TABLES, model=["crossed"])
ROWS += crossed(
    table=[f"{name}, {each}" for each in ("google news", "glove 50d") for name in PARTED], model=["related"]
)
LISTED = crossed(embedding=TWO, words=BUNDLED, lists=("bundled", "random topics"))
SHUFFLED = crossed(
    embedding=("google news", "glove 50d"), words=("gender", "religion", "race", "weat1", "weat7", "weat8")
)
TEMPLATES = ("frames", "contrast with associated")
DESIGNS = (
    Design("calibration/halves", crossed(table=TABLES, halved=WORDS), table_halves, 40, 5),
    Design("calibration/row_halves", ROWS, row_halves, 20, 5),
    Design("related/halves", LISTED, halves, by=("split", "list", "quantity"), how={"se": "rate"}),
    Design("related/shuffled", SHUFFLED, shuffled, 50),
    Design("sentences/halves", crossed(vectors=VECTORS), template_halves, 400, 3, TEMPLATES, {"count": "intervals"}),
)

if __name__ == "__main__":
    main(*DESIGNS)
