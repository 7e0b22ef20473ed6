"""Build the bundled vectors: the words of the bundled lists and a random sample of the other words of a larger slice.

python benchmarks/build_slice.py LARGER_SLICE [FILE]

The larger slice is that of the Google News vectors which WEFE 1.0.1 distributes (13,013 words). Its order and numbers
are kept, the file (data/embeddings/google-news-slice.bin) is written whole or not at all, and the same slice gives the
same bytes; what data/manifest.toml records of them is printed.
"""

import hashlib
import sys
from pathlib import Path

import numpy as np

import bayesbias as bb

FILE = Path(__file__).parents[1] / "data" / "embeddings" / "google-news-slice.bin"
SAMPLE, SEED = 2_000, 0


def bundled_words() -> set[str]:
    """Every word of the bundled lists; those of WEATHub, in other languages too, are left out."""
    found = set()
    table = bb.list_words()
    for row in table[~table["name"].str.startswith("weathub/")].itertuples():
        if row.kind == "words":
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


def main(larger, file=FILE):
    kv = bb.load_embedding(larger)
    kv = bb.load_embedding(kv, words=kept_words(kv.index_to_key))
    bb.save_embedding(kv, file)
    data = Path(file).read_bytes()
    print(f"vectors = {len(kv)}\nsha256 = {hashlib.sha256(data).hexdigest()}\n{len(data):,} bytes")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(*sys.argv[1:])
