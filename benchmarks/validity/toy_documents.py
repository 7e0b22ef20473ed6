"""Contrasts of a word in documents whose bias is known, and their errors beside those of embeddings trained again.

- ``toy``: speakers of two groups say one word for the hobbies of men; those of one group say it nearer to words for
  men. Estimates and intervals of these words for the difference between the groups, for each group and for a label at
  random, by numbers of speakers and documents: how often they leave out the value without a bias, and the true one;
- ``retrained``: errors of contrasts by instances, in one embedding, against their spread over embeddings that are
  trained on speakers who are drawn again.
"""

from functools import cache

import numpy as np

import bayesbias as bb
from benchmarks.inside import unit_rows
from benchmarks.study import TAIL, Design, crossed, main

BIAS, SPREAD = 0.4, 0.2
"""Bias of the speakers of the biased group on average, and its standard deviation among the speakers of a group."""
SENTENCES = 5
"""Sentences of a document."""
LONG = 40_000
"""Sentences of the text that says what is true."""
HOBBY = "hobby"
TOY = bb.stability.toy_corpus(sentences=1)
LISTS = tuple(list(TOY.words.protected[group]) for group in ("female", "male"))
HOBBIES = {group: TOY.words.stereotypes[group] for group in ("female", "male")}
TARGETS = [*HOBBIES["female"], *HOBBIES["male"]]
TALKERS, TALK = 32, 200
"""Speakers of whom some are drawn again, and their sentences."""
RESAMPLES, SEEDS = 12, 2
"""Corpora of speakers drawn again, and trainings on each."""
TRAINING = {"algorithm": "cbow", "dims": 25, "epochs": 15, "window": 5, "jobs": 1}


def toy(bias, rng, sentences):
    """Sentences of a speaker whose bias differs from that of the group."""
    own = float(np.clip(bias + SPREAD * rng.standard_normal(), -1, 1))
    return bb.stability.toy_corpus(own, int(rng.integers(10**9)), sentences)


def with_one_hobby(sentences):
    return [HOBBY if word in HOBBIES["male"] else word for sentence in sentences for word in sentence]


def instances(rows, kv):
    """Contexts without a transform: small texts have too few words to estimate one."""
    return bb.instances(rows, HOBBY, kv, transform=np.eye(kv.vector_size), clusters="speaker")


@cache
def without_and_with():
    """The embedding, and the contrast of the word without the bias and with it, in long texts."""
    kv, contrasts = bb.load_embedding("glove-50d-slice"), []
    for bias in (0.0, BIAS):
        text = list(bb.stability.toy_corpus(bias, 0, LONG))
        rows = [
            {"text": with_one_hobby(text[at : at + SENTENCES]), "speaker": at // SENTENCES % 8}
            for at in range(0, LONG, SENTENCES)
        ]
        by = bb.covariates(instances(rows, kv), "1")
        contrasts.append(float(by.contrast(*LISTS).estimates("given").mean[-1]))
    return kv, *contrasts


def of_groups(cell):
    """Estimates of a corpus with a bias in one group."""
    kv, without, biased = without_and_with()
    rng, documents = cell.generator(), cell["documents"]
    for _ in range(cell.replicates):
        rows = []
        for speaker in range(2 * cell["speakers"]):
            group = "biased" if speaker % 2 else "other"
            sentences = list(toy(BIAS if speaker % 2 else 0.0, rng, documents * SENTENCES))
            who = {"speaker": speaker, "group": group, "coin": str(rng.integers(2))}
            rows += [
                {"text": with_one_hobby(sentences[at : at + SENTENCES]), **who}
                for at in range(0, len(sentences), SENTENCES)
            ]
        yield from told(instances(rows, kv), without, biased)


def told(sample, without, biased):
    """Of a difference, values and a label at random: the estimate, and what the interval leaves out."""
    asked = {
        ("group", "group: other - biased"): (0.0, without - biased),
        ("group", "biased"): (without, biased),
        ("group", "other"): (without, without),
        ("group + coin", "coin: 1 - 0"): (0.0, 0.0),
    }
    for formula in ("group", "group + coin"):
        estimates = bb.covariates(sample, formula).contrast(*LISTS).estimates("given")
        for place, name in enumerate(estimates.index["name"]):
            if (truths := asked.get((formula, name))) and estimates.index["quantity"][place] != "coefficient":
                one = estimates[[place]]
                outside = [bool(abs(one.below(value)[0] - 0.5) > 0.5 - TAIL) for value in truths]
                figures = {"truth": truths[1], "mean": one.mean[0], "sd": one.sd[0]}
                yield {"name": name} | figures | dict(zip(("without_bias_out", "truth_out"), outside, strict=True))


def speech(rng):
    """Speakers, each with sentences."""
    return [list(toy(BIAS, rng, TALK)) for _ in range(TALKERS)]


def answers(speakers, kv):
    """Estimates of the targets' contrasts by instances in an embedding, with a transform that is estimated."""
    rows = [{"text": sentence, "speaker": who} for who, own in enumerate(speakers) for sentence in own]
    by = bb.covariates(bb.instances(rows, TARGETS, kv, window=TRAINING["window"], clusters="speaker"), "1")
    return [by.contrast(*LISTS, target=target).estimates("given")[[-1]] for target in TARGETS]


def contrasts(vectors, attributes):
    """Distances of vectors (T, d) to the first list less those to the second."""
    first, second = (unit_rows(each).mean(axis=0) for each in attributes)
    return unit_rows(vectors) @ (second - first)


def variances(values):
    """Variances of contrasts (corpora, seeds, T): of one training, and without what the seed adds."""
    of_seeds = values.var(axis=1, ddof=1).mean(axis=0)
    between = values.mean(axis=1).var(axis=0, ddof=1) - of_seeds / values.shape[1]
    return between + of_seeds, between


def retrained(cell):
    """Errors of contrasts by several ways over those by instances: roots of mean variances of the targets."""
    rng = cell.generator()
    speakers = speech(rng)
    kv = next(iter(bb.stability.train_embeddings([each for own in speakers for each in own], **TRAINING).values()))
    found = answers(speakers, kv)
    drawn = bb.resample_corpus(speakers, n=RESAMPLES, seed=int(rng.integers(10**9)))
    again = list(bb.stability.train_embeddings(drawn, seeds=SEEDS, **TRAINING).values())
    # all vectors turned to those of the first embedding, whose attribute words are fixed
    turned = bb.VectorSample.from_embeddings(dict(enumerate([kv, *again])), TARGETS)
    vectors = np.stack([turned.vectors[target].total[1:] for target in TARGETS], axis=1)
    shape = (RESAMPLES, SEEDS, len(TARGETS))
    whole, fixed = kv[TARGETS], [kv[words] for words in LISTS]
    own = np.reshape([contrasts(each[TARGETS], [each[words] for words in LISTS]) for each in again], shape)
    others = [[one.mean[0] for one in answers(speech(rng), kv)] for _ in range(RESAMPLES)]
    ways = {"instances of other speakers": np.var(others, axis=0, ddof=1)}
    for name, values in (
        ("trained again", own),
        ("trained again, attribute words fixed", np.reshape([contrasts(each, fixed) for each in vectors], shape)),
    ):
        ways[name], ways[f"{name}, without seeds"] = variances(values)
    by_instances = np.sqrt(np.mean([one.sd[0] ** 2 for one in found]))
    slope = np.polyfit(contrasts(whole, fixed), [one.mean[0] for one in found], 1)[0]
    for name, values in ways.items():
        sd = np.sqrt(max(values.mean(), 0.0))
        yield {"errors": name, "sd": sd, "by_instances": by_instances, "ratio": sd / by_instances, "slope": slope}


if __name__ == "__main__":
    main(
        Design("documents/toy", crossed(speakers=(8, 16, 32), documents=(5, 20, 80)), of_groups, 25, by=["name"]),
        Design("documents/retrained", crossed(corpus=range(1, 4)), retrained, 1, 5),
    )
