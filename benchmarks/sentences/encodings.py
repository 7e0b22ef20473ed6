"""The encodings of the notebook: words of gender, race and religion in six frames from all-MiniLM-L6-v2."""

import sys
from pathlib import Path

import bayesbias as bb
from bayesbias.contextual import english_words
from benchmarks.common import HERE
from benchmarks.minilm import MiniLM
from benchmarks.sentences.vectors import FRAMES, KINDS, LISTS

KEPT = ["this is", "there is", "is here", "the word is", "people talk about", "I think of"]
SAMPLE = 400


def main(folder):
    """Write a file for each kind of vector."""
    words = list(dict.fromkeys(word for name in LISTS for word in bb.load_words(name).every_word()))
    common = [word for word in english_words() if word not in set(words)]
    step = len(common) / SAMPLE
    sample = [common[int(at * step)] for at in range(SAMPLE)]
    encoder = MiniLM()
    for kind in KINDS:
        vectors = bb.encode(encoder, words, FRAMES, representation=kind, vocabulary=sample, cache=folder)
        file = HERE.parent / "notebooks" / f"minilm-{kind}.npz"
        vectors.frames_like(KEPT).whole().save(file, bits=8)
        print(file.name, file.stat().st_size)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
