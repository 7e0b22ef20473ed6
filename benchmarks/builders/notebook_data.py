"""The files in notebooks/ that notebooks start from.

``python -m benchmarks.builders.notebook_data sentences FOLDER``: words of gender, race and religion in six templates,
by MiniLM, whose encodings the folder keeps; ``occupations FOLDER``: women's share by occupation and year, from the
census figures.
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


if __name__ == "__main__":
    {"sentences": sentences, "occupations": occupations}[sys.argv[1]](Path(sys.argv[2]))
