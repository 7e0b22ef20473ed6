"""Processor time of ``encode`` over that of the bare encoder, which gets the same texts in batches of the same size."""

import bayesbias as bb
from benchmarks.builders.minilm import MiniLM
from benchmarks.speed.large import cpu_seconds
from benchmarks.study import Design, crossed, main

WORDS, BATCH = "religion", 64


def share(cell):
    encoder, kind = MiniLM(), cell["representation"]
    bare = encoder.tokens if kind == "word" else encoder

    def encoded():
        return bb.encode(encoder, WORDS, "mention", BATCH, representation=kind, vocabulary=0)

    texts = list(dict.fromkeys(encoded().texts))

    def plain():
        for begin in range(0, len(texts), BATCH):
            bare(texts[begin : begin + BATCH])

    seconds, plain_seconds = (min(cpu_seconds(work) for _ in range(cell.replicates)) for work in (encoded, plain))
    yield {
        "sentences": len(texts),
        "seconds": seconds,
        "plain_seconds": plain_seconds,
        "ratio": seconds / plain_seconds,
    }


if __name__ == "__main__":
    main(Design("sentences/share", crossed(representation=("sentence", "word")), share, 1, 3))
