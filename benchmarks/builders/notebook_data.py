"""The files in notebooks/ that notebooks start from.

``python -m benchmarks.builders.notebook_data sentences FOLDER``: words of gender, race and religion in six templates,
by MiniLM, whose encodings the folder keeps; ``occupations FOLDER``: women's share by occupation and year, from the
census figures; ``languages FOLDER``: distances in 25 languages and attitudes, from the vectors of Lewis and Lupyan
(2020).
"""

import sys
from pathlib import Path

import pandas as pd

import bayesbias as bb
from bayesbias.vectors.contextual import english_words
from benchmarks.builders.sentence_vectors import KINDS, LISTS, TEMPLATES, encoder

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
KEPT = ["this is", "there is", "is here", "the word is", "people talk about", "I think of"]
SAMPLE = 400
"""Words beside those of the lists."""


def sentences(folder):
    """A file for each kind of vector."""
    words = list(dict.fromkeys(word for name in LISTS for word in bb.load_words(name).every_word()))
    common = [word for word in english_words() if word not in set(words)]
    sample = [common[int(at * (len(common) / SAMPLE))] for at in range(SAMPLE)]
    for kind in KINDS:
        vectors = bb.encode(encoder(), words, TEMPLATES, representation=kind, vocabulary=sample, cache=folder)
        vectors.of_templates(KEPT).whole().save(NOTEBOOKS / f"minilm-{kind}.npz", bits=8)


def occupations(folder):
    from benchmarks.validity.criteria import held

    census = {name: values for name, values in held(folder)[1].items() if name.startswith("census")}
    pd.DataFrame(census).rename_axis("occupation").round(2).to_csv(NOTEBOOKS / "occupations.csv")


def languages(folder):
    from benchmarks.validity.languages import CORPORA, attitudes, studied

    tables = {(name, corpus): table for corpus in CORPORA for name, table in studied(folder, corpus)[2].items()}
    every = [table.assign(language=name, corpus=corpus) for (name, corpus), table in tables.items()]
    found = pd.concat(every, ignore_index=True)
    text = [name for name in found.columns if name != "distance"]
    found = found.astype(dict.fromkeys(text, "category")).assign(distance=found["distance"].astype("float32"))
    found.to_parquet(NOTEBOOKS / "languages.parquet", index=False, compression="zstd")
    attitudes(folder).round(6).rename_axis("language").to_csv(NOTEBOOKS / "attitudes.csv")


if __name__ == "__main__":
    {"sentences": sentences, "occupations": occupations, "languages": languages}[sys.argv[1]](Path(sys.argv[2]))
