"""Multiverses: coverage of planted effects, random topics as the given lists, seconds, a study of gender and career.

``python -m benchmarks.second_stage.multiverse WHAT [REPLICATES]``, where WHAT is ``planted``, ``signs``, ``null``,
``oppositions`` or ``seconds``; ``study FILE`` takes a text file of GloVe 6B (50 dimensions,
https://nlp.stanford.edu/projects/glove/).
"""

import json
import sys
import time
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

import bayesbias as bb
from bayesbias.second_stage.specifications import STANDARD_WIDTH, multiverse_of
from benchmarks.common import keep
from benchmarks.second_stage.pools import inside, topics
from benchmarks.second_stage.trends import REACH

SLICES = ("google-news-slice", "glove-50d-slice")
LISTS = ("gender", "weat6", "weat7", "weat8")
CONTRASTS = ("associated - different", "associated - human", "associated - neutral")
NAMES = ["embedding", "words", "contrast"]
SCALED = "all, and copies whose contrasts and errors are 0.9 times as large"
FIFTH = "words decide, errors a fifth as large"
PLANTED = {
    # standard deviations of the effects of embedding, words and contrast, and of the residual
    "none": (0.0, 0.0, 0.0, 0.0),
    "words decide": (0.0, 0.5, 0.0, 0.05),
    "embedding and words": (0.3, 0.3, 0.0, 0.1),
    "all": (0.3, 0.3, 0.3, 0.3),
    FIFTH: (0.0, 0.5, 0.0, 0.05),
    "drawn from the priors": None,
    SCALED: (0.3, 0.3, 0.3, 0.3),
}


def unit_rows(values):
    return values / np.linalg.norm(values, axis=1, keepdims=True)


def real():
    """Specifications of a real plan and their covariance."""
    decisions = {"embedding": SLICES, "words": LISTS, "case": ["fallback"], "contrast": CONTRASTS}
    found = bb.multiverse({"decisions": decisions, "replicates": 0})
    return found.distinct[[*NAMES, "status", "reason"]].reset_index(drop=True), found.covariance


def drawn_theta(mean, scales, designs, rng):
    """What lies behind specifications: effects with these scales, or with scales drawn from their priors."""
    tau = STANDARD_WIDTH * np.abs(rng.standard_cauchy(4)) if scales is None else scales
    theta = mean + tau[-1] * rng.standard_normal(len(designs[0]))
    for sd, design in zip(tau, designs, strict=False):
        theta += design.to_numpy() @ (sd * rng.standard_normal(design.shape[1]))
    return theta


def signs(replicates=200):
    """Write how often all specifications have one sign, and the probability of that."""
    specifications, covariance = real()
    designs = [pd.get_dummies(specifications[name], dtype=float) for name in NAMES]
    rng, rows = np.random.default_rng(0), []
    for (case, scales), factor in product(PLANTED.items(), (1.0, 0.2)):
        if case in (SCALED, FIFTH):
            continue
        values, basis = np.linalg.eigh(factor**2 * covariance)
        root = basis * np.sqrt(np.maximum(values, 0))
        for replicate in range(replicates):
            theta = drawn_theta(rng.uniform(-2, 2), scales, designs, rng)
            y = theta + root @ rng.standard_normal(len(theta))
            statuses, none = dict.fromkeys(NAMES, "unsure"), np.empty((0, len(y)))
            found = multiverse_of(specifications, statuses, y, factor**2 * covariance, none, True, replicate)
            one = (theta < 0).all() or (theta > 0).all()
            rows.append(
                {"planted": case, "errors": factor, "probability": found.signs()["p_all_one_sign"], "true": one}
            )
    table = pd.DataFrame(rows).groupby(["planted", "errors"], sort=False).mean().reset_index()
    keep(table.assign(replicates=replicates).round(3), "second_stage/multiverse_signs")


def planted(replicates=200):
    """Write how often 89% intervals hold effects and shares that were planted, with the covariance of a real plan."""
    single, covariance_of_single = real()
    rng, rows = np.random.default_rng(0), []
    for case, scales in PLANTED.items():
        specifications, covariance, names = single, covariance_of_single, NAMES
        if case == FIFTH:
            covariance = covariance / 25
        if case == SCALED:
            names, factor = [*names, "scale"], np.repeat([1.0, 0.9], len(single))
            specifications = pd.concat([single.assign(scale=name) for name in ("one", "0.9")], ignore_index=True)
            covariance = np.tile(covariance, (2, 2)) * np.outer(factor, factor)
        designs = [pd.get_dummies(specifications[name], dtype=float) for name in names]
        values, basis = np.linalg.eigh(covariance)
        root = basis * np.sqrt(np.maximum(values, 0))
        for replicate in range(replicates):
            theta = drawn_theta(-0.5, scales, designs[:3], rng)
            if case == SCALED:
                theta = factor * np.tile(theta[: len(single)], 2)
            # what an option adds to the mean of these specifications; the design is balanced
            effects = [design.T.to_numpy() @ theta / design.sum().to_numpy() - theta.mean() for design in designs]
            parts = [design.to_numpy() @ own for design, own in zip(designs, effects, strict=True)]
            residual = theta - theta.mean() - sum(parts)
            y = theta + root @ rng.standard_normal(len(theta))
            found = multiverse_of(
                specifications,
                dict.fromkeys(names, "unsure"),
                y,
                covariance,
                np.empty((0, len(y))),
                True,
                replicate,
            )
            row = {
                "planted": case,
                "distinct": len(theta),
                "mean of the model": inside(found.draws("theta").mean(axis=1), theta.mean()),
            }
            whole = found.means().iloc[0]
            row["mean, equal weights"] = whole["low"] <= theta.mean() <= whole["high"]
            row["specifications"] = inside(found.draws("theta"), theta).mean()
            variances = np.array([part.var() for part in (*parts, residual)])
            own = found.effects().set_index(["decision", "option"])
            for name, part, design in zip(names, effects, designs, strict=True):
                bounds = own.loc[name].loc[design.columns]
                row[f"effects: {name}"] = np.mean((bounds["low"] <= part) & (part <= bounds["high"]))
                row[f"width of effects: {name}"] = (bounds["high"] - bounds["low"]).mean()
            if variances.sum() > 0:
                row |= dict(
                    zip(
                        [f"sd of effects: {name}" for name in [*names, "residual"]],
                        np.where(variances > 0, inside(found.draws("spread"), np.sqrt(variances)), np.nan),
                        strict=True,
                    )
                )
                truth, drawn = variances / variances.sum(), found.draws("share")
                # an interval of a share has no room for a truth of exactly 0
                held = np.where(truth > 0, inside(drawn, truth), np.nan)
                for name, *values in zip([*names, "residual"], held, truth, drawn.mean(axis=0), strict=True):
                    row |= {
                        f"{what}: {name}": value
                        for what, value in zip(("share", "truth", "mean share"), values, strict=True)
                    }
            rows.append(row)
    table = pd.DataFrame(rows).groupby("planted", sort=False).mean().reset_index()
    table = table.assign(replicates=replicates)
    keep(table.round(3), "second_stage/multiverse_planted")


def written(folder, name, protected, drawn):
    """A word list as a file; the last list is the control."""
    groups = list(protected)
    lists = {
        "protected": protected,
        "stereotypes": dict(zip(groups, drawn, strict=False)),
        "controls": {"human": drawn[-1]},
    }
    lines = ['kind = "words"', f'name = "{name}"', 'language = "en"']
    for part, own in lists.items():
        lines += [f"[{part}]", *(f"{json.dumps(group)} = {json.dumps(list(words))}" for group, words in own.items())]
    file = folder / f"{name}.toml"
    file.write_text("\n".join(lines), encoding="utf-8")
    return str(file)


def plain_words(kv):
    """Words in small letters, and their vectors of length 1."""
    names = [name for name in kv.index_to_key if name.islower() and name.isalpha()]
    return names, unit_rows(kv[names])


def null(replicates=100, drawn_topics=200):
    """Write how often the mean of random topics, which are no bias, excludes 0, and their p-values."""
    protected = {group: list(words)[:7] for group, words in bb.load_words("gender").protected.items()}
    held, tables, rows = [word for words in protected.values() for word in words], [], []
    decisions = {"centre": ["none", "vocabulary"], "contrast": CONTRASTS[:2], "metric": ["contrast", "weat"]}
    with TemporaryDirectory() as folder:
        for embedding in SLICES:
            rng, kv = np.random.default_rng(0), bb.load_embedding(embedding)
            names, units = plain_words(kv)
            for number in range(replicates):
                file = written(Path(folder), f"{embedding} {number}", protected, topics(units, names, 3, 10, held, rng))
                own = {"embedding": [embedding], "words": [file], **decisions}
                found = bb.multiverse({"decisions": own, "replicates": drawn_topics, "seed": number})
                whole, p = found.means().iloc[0], found.against_topics().set_index("statistic")["p_value"]
                of_effects = found.spreads().set_index("decision")["p_value"].dropna()
                rows.append(
                    {
                        "embedding": embedding,
                        "z": whole["mean"] / whole["sd"],
                        "mean excludes 0": whole["low"] > 0 or whole["high"] < 0,
                        **{f"{name} below {limit}": p[name] <= limit for name in p.index for limit in (0.05, 0.11)},
                        **{
                            f"effects of {name} below {limit}": value <= limit
                            for name, value in of_effects.items()
                            for limit in (0.05, 0.11)
                        },
                        "mean p of median": p["median"],
                        "all intervals exclude 0": found.signs()["excludes_zero"],
                    }
                )
                if number % 10 == 9:
                    print(pd.DataFrame(rows).groupby("embedding").mean(), flush=True)
    every = pd.DataFrame(rows)
    table = every.groupby("embedding", sort=False).mean().drop(columns="z")
    table.insert(0, "sd of z", every.groupby("embedding")["z"].std())
    tables.append(table.reset_index().assign(replicates=replicates, topics=drawn_topics))
    keep(pd.concat(tables).round(3), "second_stage/multiverse_null")


def oppositions(replicates=200):
    """Write how often the contrast of protected words on an axis of random words excludes 0."""
    protected = {group: list(words)[:7] for group, words in bb.load_words("gender").protected.items()}
    protected = dict(list(protected.items())[:2])
    held, rows = [word for words in protected.values() for word in words], []
    with TemporaryDirectory() as folder:
        for embedding in SLICES:
            rng, kv = np.random.default_rng(0), bb.load_embedding(embedding)
            names, units = plain_words(kv)
            for number in range(replicates):
                *apart, control = topics(units, names, 3, 10, held, rng)
                (one,) = topics(units, names, 1, 20, held, rng)
                halves = rng.permutation(one).reshape(2, 10).tolist()
                words = written(Path(folder), f"{embedding} {number}", protected, [*apart, control])
                contrasts = []
                for kind, poles in (("two topics", apart), ("halves of a topic", halves)):
                    file = Path(folder) / f"{embedding} {number} {kind}.toml"
                    pairs = json.dumps(list(zip(*poles, strict=True)))
                    file.write_text(f'kind = "pairs"\nname = "{kind}"\npairs = {pairs}', encoding="utf-8")
                    contrasts.append({"axis": str(file), "groups": list(protected)})
                own = {"embedding": [embedding], "words": [words], "contrast": contrasts}
                table = bb.multiverse({"decisions": own, "replicates": 0}).specifications
                rows += [
                    {"embedding": embedding, "poles": kind, "z": row["estimate"] / row["se"]}
                    for kind, (_, row) in zip(("two topics", "halves of a topic"), table.iterrows(), strict=True)
                ]
    grouped = pd.DataFrame(rows).groupby(["embedding", "poles"], sort=False)["z"]
    table = grouped.agg(sd_of_z="std", excludes_zero=lambda z: (z.abs() > REACH).mean(), replicates="size")
    keep(table.reset_index().round(3), "second_stage/multiverse_oppositions")


def seconds():
    """Write processor seconds of 468 specifications whose distances are measured."""
    decisions = {
        "embedding": SLICES,
        "words": ["gender"],
        "without": ["each"],
        "all_but_top": [0, 1, 2],
        "contrast": CONTRASTS,
    }
    rows = []
    for replicates in (0, 1000):
        with TemporaryDirectory() as folder:
            plan = {"decisions": decisions, "replicates": replicates}
            for what in ("measuring and computing", "from measured distances"):
                begin, wall = time.process_time(), time.perf_counter()
                found = bb.multiverse(plan, folder)
                end = time.process_time() - begin, time.perf_counter() - wall
                counts = (len(found.specifications), len(found.distinct))
                rows.append((what, replicates, *counts, *end))
    columns = ["what", "topics", "combinations", "distinct", "processor_seconds", "wall_seconds"]
    keep(pd.DataFrame(rows, columns=columns).round(1), "second_stage/multiverse_seconds")


GENDERED = {
    # name: query of the groups, query of the attributes; male first
    "names career": ("weat6", "weat6"),
    "terms career": ("wefe_gender_math_arts", "weat6"),
    "terms math": ("wefe_gender_math_arts", "wefe_gender_math_arts"),
    "terms intelligence, appearance": ("wefe_gender_math_arts", "wefe_gender_intelligence_appearance"),
    "terms intelligence, sensitive": ("wefe_gender_math_arts", "wefe_gender_intelligence_sensitive"),
}


def lists_of_queries(folder):
    """Files of the queries as word lists, and the bundled list of occupations."""
    files = []
    for name, (groups, attributes) in GENDERED.items():
        protected = dict(zip(("male", "female"), bb.load_query(groups).targets.values(), strict=True))
        drawn = list(bb.load_query(attributes).attributes.values())
        shared = set(drawn[0]) & set(drawn[1])
        drawn = [[word for word in words if word not in shared] for words in drawn]
        files.append(written(folder, name, protected, [*drawn, bb.load_list("human").words]))
    return [*files, "gender"]


def study(glove, folder=None):
    """Write what decides about gender and career in three embeddings."""
    from benchmarks.minilm import minilm

    with TemporaryDirectory() as temporary:
        home = Path(folder or temporary)
        home.mkdir(exist_ok=True)
        encoder = home / "minilm.bin"
        words = bb.load_embedding(SLICES[0]).index_to_key
        minilm(words).save_word2vec_format(encoder, binary=True)
        decisions = {
            "embedding": {"options": [SLICES[0], str(Path(glove).resolve()), str(encoder)], "status": "unsure"},
            "words": {"options": lists_of_queries(home), "status": "unsure"},
            "case": {"options": ["as-is", "fallback"], "status": "arbitrary"},
            "centre": {"options": ["none", "vocabulary"], "status": "arbitrary"},
            "all_but_top": {"options": [0, 2], "status": "unsure"},
            "contrast": {"options": CONTRASTS[:2], "status": "principled"},
            "metric": {"options": ["contrast", "weat"], "status": "arbitrary"},
        }
        found = bb.multiverse({"decisions": decisions}, home / "out")
    print(found.text())
    if folder:
        bb.plots.plot_multiverse(found).savefig(home / "multiverse.png", dpi=150)
    for name in ("shares", "effects", "means", "against_topics"):
        keep(getattr(found, name)().round(4), f"second_stage/multiverse_study_{name}")
    keep(found.table().round(4), "second_stage/multiverse_study")
    return found


if __name__ == "__main__":
    arguments = [int(each) if each.isdigit() else each for each in sys.argv[2:]]
    studies = {each.__name__: each for each in (planted, signs, null, oppositions, seconds, study)}
    studies[sys.argv[1]](*arguments)
