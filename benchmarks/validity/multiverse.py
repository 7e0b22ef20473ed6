"""Multiverses: coverage of planted effects, random topics as the given lists, and a study of gender and career.

- ``multiverse_planted``: how often 89% intervals hold effects and shares that were planted, with the covariance of a
  real plan; ``multiverse_signs``: how often all specifications have one sign, and the probability of that;
- ``multiverse_null``: how often the mean of random topics, which are no bias, excludes 0, and their p-values;
- ``multiverse_oppositions``: the same of the contrast of protected words on an axis of random words;
- ``multiverse_study_*``: what decides about gender and career in three embeddings (``--files glove=FILE``: a text file
  of GloVe 6B, 50 dimensions, https://nlp.stanford.edu/projects/glove/).
"""

import json
from functools import cache
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

import bayesbias as bb
from benchmarks.builders.minilm import minilm
from benchmarks.inside import STANDARD_WIDTH, multiverse_of, related_core, unit_rows
from benchmarks.study import Design, crossed, excludes, holds, main
from benchmarks.validity.pools import topics
from benchmarks.validity.trends import REACH

SLICES = ("google-news-slice", "glove-50d-slice")
LISTS = ("gender", "weat6", "weat7", "weat8")
TOPICS = 200
"""Random topics that a multiverse is held against."""
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
GENDERED = {
    # name: query of the groups, query of the attributes; male first
    "names career": ("weat6", "weat6"),
    "terms career": ("wefe_gender_math_arts", "weat6"),
    "terms math": ("wefe_gender_math_arts", "wefe_gender_math_arts"),
    "terms intelligence, appearance": ("wefe_gender_math_arts", "wefe_gender_intelligence_appearance"),
    "terms intelligence, sensitive": ("wefe_gender_math_arts", "wefe_gender_intelligence_sensitive"),
}


@cache
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


def found_of(specifications, names, y, covariance, seed):
    """The multiverse of some estimates, all decisions unsure, without random topics."""
    statuses, none = dict.fromkeys(names, "unsure"), np.empty((0, len(y)))
    return multiverse_of(specifications, statuses, y, covariance, none, True, seed)


def signs(cell):
    specifications, covariance = real()
    designs = [pd.get_dummies(specifications[name], dtype=float) for name in NAMES]
    rng = np.random.default_rng(0)
    for (case, scales), factor in product(PLANTED.items(), (1.0, 0.2)):
        if case in (SCALED, FIFTH):
            continue
        root = related_core.root_of(factor**2 * covariance)
        for replicate in range(cell.replicates):
            theta = drawn_theta(rng.uniform(-2, 2), scales, designs, rng)
            y = theta + root @ rng.standard_normal(len(theta))
            found = found_of(specifications, NAMES, y, factor**2 * covariance, replicate)
            row = {"planted": case, "errors": factor, "probability": found.signs()["p_all_one_sign"]}
            yield row | {"true": (theta < 0).all() or (theta > 0).all()}


def planted(cell):
    single, covariance_of_single = real()
    rng = np.random.default_rng(0)
    for case, scales in PLANTED.items():
        specifications, covariance, names = single, covariance_of_single, NAMES
        if case == FIFTH:
            covariance = covariance / 25
        if case == SCALED:
            names, factor = [*names, "scale"], np.repeat([1.0, 0.9], len(single))
            specifications = pd.concat([single.assign(scale=name) for name in ("one", "0.9")], ignore_index=True)
            covariance = np.tile(covariance, (2, 2)) * np.outer(factor, factor)
        designs, root = (
            [pd.get_dummies(specifications[name], dtype=float) for name in names],
            related_core.root_of(covariance),
        )
        for replicate in range(cell.replicates):
            theta = drawn_theta(-0.5, scales, designs[:3], rng)
            if case == SCALED:
                theta = factor * np.tile(theta[: len(single)], 2)
            y = theta + root @ rng.standard_normal(len(theta))
            found = found_of(specifications, names, y, covariance, replicate)
            yield {"planted": case, **held(found, theta, dict(zip(names, designs, strict=True)))}


def held(found, theta, designs):
    """What the intervals of a multiverse hold of the truth of its specifications."""
    # what an option adds to the mean of these specifications; the design is balanced
    effects = {
        name: design.T.to_numpy() @ theta / design.sum().to_numpy() - theta.mean() for name, design in designs.items()
    }
    parts = [design.to_numpy() @ effects[name] for name, design in designs.items()]
    residual = theta - theta.mean() - sum(parts)
    whole, own = found.means().iloc[0], found.effects().set_index(["decision", "option"])
    row = {
        "distinct": len(theta),
        "mean of the model": holds(found.draws("theta").mean(axis=1), theta.mean()),
        "mean, equal weights": whole["low"] <= theta.mean() <= whole["high"],
        "specifications": holds(found.draws("theta"), theta).mean(),
    }
    for name, design in designs.items():
        bounds = own.loc[name].loc[design.columns]
        row[f"effects: {name}"] = np.mean((bounds["low"] <= effects[name]) & (effects[name] <= bounds["high"]))
        row[f"width of effects: {name}"] = (bounds["high"] - bounds["low"]).mean()
    variances = np.array([part.var() for part in (*parts, residual)])
    if variances.sum() > 0:
        spread = np.where(variances > 0, holds(found.draws("spread"), np.sqrt(variances)), np.nan)
        truth, drawn = variances / variances.sum(), found.draws("share")
        # an interval of a share has no room for a truth of exactly 0
        share = np.where(truth > 0, holds(drawn, truth), np.nan)
        figures = {"sd of effects": spread, "share": share, "truth": truth, "mean share": drawn.mean(axis=0)}
        for what, values in figures.items():
            row |= {f"{what}: {name}": value for name, value in zip([*designs, "residual"], values, strict=True)}
    return row


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


def gendered(count=None):
    """The first words of the groups of the gender list, and all of them."""
    protected = {group: list(words)[:7] for group, words in bb.load_words("gender").protected.items()}
    protected = dict(list(protected.items())[:count])
    return protected, [word for words in protected.values() for word in words]


def null(cell):
    (protected, held_out), embedding = gendered(), cell["embedding"]
    decisions = {"centre": ["none", "vocabulary"], "contrast": CONTRASTS[:2], "metric": ["contrast", "weat"]}
    rng, (names, units) = np.random.default_rng(0), plain_words(bb.load_embedding(embedding))
    with TemporaryDirectory() as folder:
        for number in range(cell.replicates):
            drawn = topics(units, names, 3, 10, held_out, rng)
            file = written(Path(folder), f"{embedding} {number}", protected, drawn)
            own = {"embedding": [embedding], "words": [file], **decisions}
            found = bb.multiverse({"decisions": own, "replicates": TOPICS, "seed": number})
            whole, p = found.means().iloc[0], found.against_topics().set_index("statistic")["p_value"]
            of_effects = found.spreads().set_index("decision")["p_value"].dropna().add_prefix("effects of ")
            row = {"topics": TOPICS, "sd of z": whole["mean"] / whole["sd"], "mean excludes 0": bool(excludes(whole))}
            for name, value in [*p.items(), *of_effects.items()]:
                row |= {f"{name} below {limit}": value <= limit for limit in (0.05, 0.11)}
            excluding = found.signs()["excludes_zero"]
            yield row | {"mean p of median": p["median"], "all intervals exclude 0": excluding}


def oppositions(cell):
    (protected, held_out), embedding = gendered(2), cell["embedding"]
    rng, (names, units) = np.random.default_rng(0), plain_words(bb.load_embedding(embedding))
    with TemporaryDirectory() as folder:
        for number in range(cell.replicates):
            *apart, control = topics(units, names, 3, 10, held_out, rng)
            (one,) = topics(units, names, 1, 20, held_out, rng)
            halves = rng.permutation(one).reshape(2, 10).tolist()
            words = written(Path(folder), f"{embedding} {number}", protected, [*apart, control])
            poles, contrasts = {"two topics": apart, "halves of a topic": halves}, []
            for kind, both in poles.items():
                file = Path(folder) / f"{embedding} {number} {kind}.toml"
                pairs = json.dumps(list(zip(*both, strict=True)))
                file.write_text(f'kind = "pairs"\nname = "{kind}"\npairs = {pairs}', encoding="utf-8")
                contrasts.append({"axis": str(file), "groups": list(protected)})
            own = {"embedding": [embedding], "words": [words], "contrast": contrasts}
            table = bb.multiverse({"decisions": own, "replicates": 0}).specifications
            for kind, (_, row) in zip(poles, table.iterrows(), strict=True):
                z = row["estimate"] / row["se"]
                yield {"poles": kind, "sd_of_z": z, "excludes_zero": abs(z) > REACH}


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


@cache
def gender_and_career(glove):
    with TemporaryDirectory() as folder:
        home = Path(folder)
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
        return bb.multiverse({"decisions": decisions}, home / "out")


def study_of(name):
    """One table of the study of gender and career."""

    def rows(cell):
        return getattr(gender_and_career(cell.options.file("glove")), name)().to_dict("records")

    return Design(f"second_stage/multiverse_study_{name}", [{}], rows, 1)


EACH = crossed(embedding=SLICES)
DESIGNS = (
    Design("second_stage/multiverse_planted", [{}], planted, 200, 3, ["planted"]),
    Design("second_stage/multiverse_signs", [{}], signs, 200, 3, ("planted", "errors")),
    Design("second_stage/multiverse_null", EACH, null, 200, 3, ["topics"], {"sd of z": "std"}),
    Design("second_stage/multiverse_oppositions", EACH, oppositions, 200, 3, ["poles"], {"sd_of_z": "std"}),
    *(study_of(name) for name in ("shares", "effects", "means", "against_topics")),
)

if __name__ == "__main__":
    main(*DESIGNS)
