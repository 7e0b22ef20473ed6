"""Build the bundled vectors.

python -m benchmarks.builders.slices google LARGER_SLICE [FILE]
python -m benchmarks.builders.slices glove VECTORS [FILE]

The larger slice is that of the Google News vectors which WEFE 1.0.1 distributes (13,013 words): of it the words of the
bundled lists and 2,000 others at random are kept. VECTORS is GloVe 6B in 50 dimensions (400,000 words in the order of
their frequency): of it the 20,000 most frequent words and those of the bundled lists and axes are kept, in half
precision. Order and numbers are kept, a file is written whole or not at all, and the same vectors give the same bytes;
what data/manifest.toml records of them is printed.
"""

import hashlib
import sys
import tomllib
from pathlib import Path

import numpy as np

import bayesbias as bb
from bayesbias._support.files import whole_file

FOLDER = Path(__file__).parents[2] / "data" / "embeddings"
SAMPLE, SEED = 2_000, 0
FREQUENT = 20_000


def bundled_words() -> set[str]:
    """Every word of the bundled lists; those of WEATHub and of the opinion lexicon are left out."""
    found = set()
    table = bb.bundled("words")
    for row in table[~table["name"].str.startswith(("weathub/", "opinion_"))].itertuples():
        if row.form == "words":
            found.update(bb.load_words(row.name).every_word())
        else:
            listed = bb.load_list(row.name)
            found.update(word for entry in listed for word in ([entry] if isinstance(entry, str) else entry))
    return found


def kept_words(words: list[str]) -> set[str]:
    """Those of the bundled lists, and SAMPLE of the others at random, each as likely as any other."""
    listed = bundled_words().intersection(words)
    others = [word for word in words if word not in listed]
    drawn = np.random.default_rng(SEED).choice(len(others), SAMPLE, replace=False)
    return listed.union(others[at] for at in drawn)


def axis_words() -> set[str]:
    """Every word at a pole of the bundled axes."""
    axes = tomllib.loads((FOLDER.parent / "axes.toml").read_text(encoding="utf-8"))["axes"]
    return {word for axis in axes.values() for pair in axis["pairs"] for word in pair}


def google(larger, file=FOLDER / "google-news-slice.bin"):
    kv = bb.load_embedding(larger)
    bb.save_embedding(bb.load_embedding(kv, words=kept_words(kv.index_to_key)), file)
    return file


def glove(vectors, file=FOLDER / "glove-50d-slice.npz"):
    kv = bb.load_embedding(vectors)
    listed = bundled_words() | axis_words()
    rows = [row for row, word in enumerate(kv.index_to_key) if row < FREQUENT or word in listed]
    with whole_file(file) as temporary, temporary.open("wb") as target:
        words = np.array([kv.index_to_key[row] for row in rows])
        np.savez_compressed(target, words=words, vectors=kv.vectors[rows].astype(np.float16))
    return file


def main(which, *paths):
    file = {"google": google, "glove": glove}[which](*paths)
    data = Path(file).read_bytes()
    print(f"vectors = {len(bb.load_embedding(file))}\nsha256 = {hashlib.sha256(data).hexdigest()}\n{len(data):,} bytes")


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4) or sys.argv[1] not in ("google", "glove"):
        sys.exit(__doc__)
    main(*sys.argv[1:])
