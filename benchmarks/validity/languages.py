"""Gender and careers in 34 languages: published effect sizes, and their relation to implicit attitudes.

The vectors are those of Lewis and Lupyan (2020, https://doi.org/10.1038/s41562-020-0918-6;
``--files languages=FOLDER``).
"""

from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

import bayesbias as bb
from benchmarks.study import SHARED, Design, crossed, main

MEN = ("male", "man", "boy", "brother", "he", "him", "his", "son")
WOMEN = ("female", "woman", "girl", "sister", "she", "her", "hers", "daughter")
CAREER = ("executive", "management", "professional", "corporation", "salary", "office", "business", "career")
FAMILY = ("home", "parents", "children", "family", "cousins", "marriage", "wedding", "relatives")
GROUPS = {"men": (MEN, CAREER, "M"), "women": (WOMEN, FAMILY, "F")}
MANY = 20_000
CORPORA = {"wikipedia": "lang_es_wiki", "wikipedia_commoncrawl": "lang_es_wiki_cc"}
IAT_SD = 0.37
"""Standard deviation of a single participant's D score, for the standard error of a language's mean."""
GENERA = {
    "Germanic": ("da", "de", "en", "nl", "no", "sv"),
    "Romance": ("es", "fr", "it", "pt", "ro"),
    "Slavic": ("hr", "pl"),
    "Iranian": ("fa",),
    "Indic": ("hi",),
    "Semitic": ("ar", "he"),
    "Malayo-Sumbawan": ("id", "ms"),
    "Greater Central Philippine": ("tl",),
    "Finnic": ("fi",),
    "Japanese": ("ja",),
    "Korean": ("ko",),
    "Turkic": ("tr",),
    "Chinese": ("zh",),
}
"""Languages of each genus: Dryer and Haspelmath (2013), WALS Online, https://doi.org/10.5281/zenodo.7385533"""
SDS = ("between_sd", "group_sd", "within_sd")


def vectors_of(rows):
    """Concept and form (N: one form, M and F: masculine and feminine) to unit vector."""
    values = rows.filter(regex="^v").to_numpy(dtype=float)
    values = values / np.linalg.norm(values, axis=1, keepdims=True)
    return dict(zip(zip(rows["concept"], rows["form"], strict=True), values, strict=True))


def form_of(vectors, concept, form):
    """The vector of a concept in a gender, or its only one; None where there is none."""
    return vectors.get((concept, "N"), vectors.get((concept, form)))


def effect_size(vectors):
    """The published effect size: positive where men are with careers.

    Men's words are compared with masculine forms and women's words with feminine ones. The difference of the means is
    divided by the mean of two standard deviations (ddof 1) over all words: once with all words beside masculine forms,
    once beside feminine ones. Where no attribute word has two forms this is WEAT's effect size with ddof 1.
    """

    def scores(words, own, form):
        found = []
        for word in words:
            vector = form_of(vectors, word, own)
            if vector is None:
                continue
            career, family = (
                np.mean([vector @ other for other in (form_of(vectors, a, form) for a in listed) if other is not None])
                for listed in (CAREER, FAMILY)
            )
            found.append(career - family)
        return np.array(found)

    apart = scores(MEN, "M", "M").mean() - scores(WOMEN, "F", "F").mean()
    spread = [np.concatenate([scores(MEN, "M", f), scores(WOMEN, "F", f)]).std(ddof=1) for f in ("M", "F")]
    return apart / np.mean(spread)


def table_of(vectors):
    """Distances of men's and women's words to careers and families, in the forms of their own gender."""
    rows = []
    for group, (words, own, form) in GROUPS.items():
        for word in words:
            vector = form_of(vectors, word, form)
            for attribute in (*CAREER, *FAMILY):
                other = form_of(vectors, attribute, form)
                if vector is not None and other is not None:
                    connection = "associated" if attribute in own else "different"
                    rows.append((word, group, attribute, "stereotype", connection, 1 - vector @ other))
    columns = ["protected_word", "group", "attribute_word", "attribute_class", "connection", "distance"]
    return pd.DataFrame(rows, columns=columns)


def languages(folder, corpus):
    """Language to its vectors."""
    rows = pd.read_parquet(folder / f"{corpus}.parquet")
    return {str(name): vectors_of(part) for name, part in rows.groupby("language")}


def attitudes(folder):
    """Implicit attitudes by language, with standard errors."""
    iat = pd.read_csv(folder / "iat_by_language.csv").set_index("language_code")
    values = iat["es_iat_sex_age_order_implicit_resid"]
    return pd.DataFrame({"attitude": values, "attitude_se": IAT_SD / np.sqrt(iat["n_participants"])})


def genera(names):
    """Language to its genus."""
    every = {name: genus for genus, members in GENERA.items() for name in members}
    return {name: every[name] for name in names}


def families(folder, names):
    """Language to its family, as in the study."""
    every = pd.read_csv(folder / "iat_by_language.csv").set_index("language_code")["family"]
    return {name: every[name] for name in names}


@cache
def studied(folder, corpus):
    """Attitudes, published effect sizes, and the distances of the languages that have both vectors and attitudes."""
    outside, published = attitudes(folder), pd.read_csv(folder / "published_effect_sizes.csv")
    tables = {name: table_of(vectors) for name, vectors in languages(folder, corpus).items() if name in outside.index}
    return outside, published.set_index("language_code")[CORPORA[corpus]], tables


def relations(cell):
    folder, corpus = Path(cell.options.files.get("languages", SHARED / "languages")), cell["corpus"]
    outside, published, tables = studied(folder, corpus)
    groups = {"none": None, "genus": genera(tables), "family": families(folder, tables)}[cell["groups"]]
    # the files hold the words of the test alone, and no vocabulary whose distances would be the unit
    units = cell["standardised"] and {name: table["distance"].std() for name, table in tables.items()}
    pool = bb.pool(tables, ("associated", "different"), outside, groups, standardise=units, draws=MANY)
    yield {
        **pool.relation().iloc[0].drop(["variable", "errors"]).to_dict(),
        "mean": pool.draws("mean").mean(),
        "mean_sd": pool.draws("mean").std(),
        "population_mean_sd": pool.draws("population_mean").std(),
        **{sd: pool.draws(sd).mean() for sd in SDS if sd in pool.tree["posterior"]},
        "published_plain": published.reindex(list(tables)).corr(outside["attitude"].reindex(list(tables))),
    }


CELLS = crossed(corpus=CORPORA, groups=("none", "genus", "family"), standardised=(False, True))

if __name__ == "__main__":
    main(Design("second_stage/languages_relations", CELLS, relations, 1, 17))
