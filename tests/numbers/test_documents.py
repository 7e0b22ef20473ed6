"""Who says it would be answered with other vectors, other units or other errors than those of the documents."""

import json

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.errors import InputError
from bayesbias.vectors import keyed_vectors

LABELS = ["party[T.R]", "gender[T.M]"]


@pytest.fixture(scope="module")
def speeches(shared):
    """Speeches, vectors and the transform of the R program conText."""
    arrays = np.load(shared / "documents" / "vectors.npz")
    kv = keyed_vectors(list(map(str, arrays["words"])), arrays["vectors"].astype(np.float32))
    return pd.read_parquet(shared / "documents" / "speeches.parquet"), kv, arrays["transform"]


def test_norms_are_those_that_context_prints(speeches):
    """Rodriguez, Spirling and Stewart (2023), https://doi.org/10.1017/S0003055422001228; HC1."""
    table, kv, transform = speeches
    sample = bb.instances(table, ["immigration"], kv, transform=transform)
    by = bb.covariates(sample, "party + gender")
    design = by.design()
    assert int(design.vectors.n.sum()) == 924
    shares = design.vectors.n @ design.x / design.vectors.n.sum()
    np.testing.assert_allclose(shares[1:], [0.4740260, 0.6709957], atol=5e-8)
    norms = by.norms().set_index("term")
    assert norms.index.tolist() == LABELS
    np.testing.assert_allclose(norms["squared_norm"], [10.139940, 6.908761], atol=5e-7)
    np.testing.assert_allclose(norms["debiased"], [8.668252, 5.154713], atol=5e-7)
    np.testing.assert_allclose(norms["squared_norm"] - norms["debiased"], [1.471687, 1.754048], atol=1.1e-6)
    assert (norms["p"] < 0.02).all()


def test_norms_do_not_depend_on_how_units_are_cut(speeches):
    table, kv, transform = speeches
    how = {"transform": transform, "clusters": "nominate_dim1"}
    one = bb.instances(table, "immigration", kv, covariates=["party", "gender"], **how)
    other = bb.instances(table, "immigration", kv, **how)
    assert len(other.units) > len(one.units)
    columns = ["squared_norm", "debiased"]
    norms = [bb.covariates(each, "party + gender").norms(permutations=0)[columns] for each in (one, other)]
    pd.testing.assert_frame_equal(*norms, rtol=1e-9)
    assert one.cluster.max() == other.cluster.max()


@pytest.fixture(scope="module")
def kv():
    return bb.load_embedding("glove-50d-slice")


WORDS = ["tax", "income", "money", "school", "children", "teacher", "bank", "market"]


@pytest.fixture(scope="module")
def corpus():
    """Documents of twelve speakers of two parties."""
    rng = np.random.default_rng(0)
    rows = []
    for number in range(120):
        speaker = number % 12
        words = rng.choice(WORDS, 30)
        rows.append(
            {"text": " ".join(words), "speaker": f"s{speaker}", "party": "L" if speaker < 6 else "R", "year": number}
        )
    return pd.DataFrame(rows)


def numbers(result, code):
    """The numbers of the notes with a code."""
    return [note.numbers for note in result.notes if note.code == code]


def of(corpus, kv, **how):
    options = {"transform": np.eye(50), "clusters": "speaker", "covariates": ["party"]} | how
    return bb.instances(corpus, ["tax"], kv, **options)


def equal(one, other):
    """The same sums, to the last bit."""
    assert one.units.astype(str).equals(other.units.astype(str))
    for name in ("n", "total", "squares", "within"):
        np.testing.assert_array_equal(getattr(one.vectors["tax"], name), getattr(other.vectors["tax"], name))
    return True


def test_every_kind_of_corpus_gives_the_same_vectors(corpus, kv, tmp_path):
    import polars as pl

    sample = of(corpus, kv)
    rows = corpus.to_dict("records")
    assert equal(sample, of(rows, kv))
    assert equal(sample, of([row | {"text": row["text"].split()} for row in rows], kv))
    assert equal(sample, of(pl.from_pandas(corpus), kv))
    corpus.to_parquet(tmp_path / "a.parquet")
    corpus.to_csv(tmp_path / "a.csv", index=False)
    corpus.to_csv(tmp_path / "a.tsv", index=False, sep="\t")
    corpus.to_csv(tmp_path / "semicolons.csv", index=False, sep=";", decimal=",")
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    for name in ("a.parquet", "a.csv", "a.tsv", "semicolons.csv", "a.jsonl"):
        assert equal(sample, of(tmp_path / name, kv)), name


def test_an_instance_is_the_mean_of_the_words_around_it(kv):
    text = "bank the tax zzz market income school money teacher"
    sample = bb.instances([text], ["tax"], kv, transform=2 * np.eye(50), window=3, min_count=1)
    around = kv.vectors[[kv.key_to_index[word] for word in ("bank", "the", "market", "income")]].astype(float)
    np.testing.assert_allclose(sample.vectors["tax"].total[0], 2 * around.mean(axis=0), rtol=1e-6)


def test_rare_words_are_left_out_and_keep_their_places(kv):
    texts = ["bank tax market"] * 4 + ["income tax market"]
    whole = bb.instances(texts, ["tax"], kv, transform=np.eye(50), window=1, min_count=1)
    some = bb.instances(texts, ["tax"], kv, transform=np.eye(50), window=1, min_count=2)
    np.testing.assert_array_equal(whole.vectors["tax"].total[:4], some.vectors["tax"].total[:4])
    np.testing.assert_allclose(some.vectors["tax"].total[4], kv["market"], rtol=1e-6)
    none = bb.instances(["zzz tax qqq"] * 3 + ["bank tax"], ["tax"], kv, transform=np.eye(50), min_count=1)
    assert int(none.vectors["tax"].n.sum()) == 1
    assert [(each["count"], each["total"]) for each in numbers(none, "left-out")] == [(3, 4)]


def test_of_two_targets_the_longer_one_takes_the_instance(kv):
    texts = ["money for income tax school", "money tax school"] * 3
    sample = bb.instances(texts, ["tax", "income tax"], kv, transform=np.eye(50), min_count=1)
    assert [int(sample.vectors[word].n.sum()) for word in sample.targets] == [3, 3]
    (inside,) = numbers(sample, "left-out")
    assert (inside["count"], inside["total"], inside["words"]) == (3, 6, ["income tax"])
    around = kv.vectors[[kv.key_to_index[word] for word in ("money", "for", "school")]].astype(float)
    np.testing.assert_allclose(sample.vectors["income tax"].total[0], around.mean(axis=0), rtol=1e-6)


def test_the_transform_is_the_weighted_least_squares_of_vectors_on_contexts():
    """On a corpus in which contexts are a linear map of vectors it is the inverse of that map."""
    rng = np.random.default_rng(1)
    words = [f"w{i}" for i in range(60)]
    kv = keyed_vectors(words, rng.normal(size=(60, 5)).astype(np.float32))
    texts = [" ".join(rng.choice(words, 40)) for _ in range(400)]
    sample = bb.instances(texts, ["w0"], kv, window=2)
    assert sample.about["transform"] == "estimated"
    assert sample.about["transform words"] == 60
    sums, counts = np.zeros((60, 5)), np.zeros(60)
    for text in texts:
        tokens = [int(word[1:]) for word in text.split()]
        for place, token in enumerate(tokens):
            beside = tokens[max(0, place - 2) : place] + tokens[place + 1 : place + 3]
            sums[token] += kv.vectors[beside].mean(axis=0)
            counts[token] += 1
    x, y, weights = sums / counts[:, None], kv.vectors.astype(float), np.sqrt(np.log(counts))
    matrix = np.linalg.lstsq(x * weights[:, None], y * weights[:, None], rcond=None)[0].T
    np.testing.assert_allclose(sample.vectors["w0"].total.sum(axis=0), matrix @ sums[0], rtol=1e-4)


def test_a_planted_difference_is_found_and_no_other(kv):
    """One group's instances are moved from one list to the other; the other covariate does nothing."""
    rng = np.random.default_rng(7)
    a, b = ["bank", "market", "money"], ["school", "teacher", "children"]
    unit = {word: kv[word] / np.linalg.norm(kv[word]) for word in (*a, *b)}
    apart = np.mean([unit[w] for w in a], axis=0) - np.mean([unit[w] for w in b], axis=0)
    rows = []
    for speaker in range(40):
        own = rng.normal(size=50) * 0.3
        for _ in range(10):
            vector = kv["tax"] + own + rng.normal(size=50) + (2.0 * apart if speaker < 20 else 0)
            rows.append(
                {"word": "tax", "s": speaker, "p": "LR"[speaker >= 20], "h": "xy"[speaker % 2], "vector": vector}
            )
    sample = bb.vector_sample(pd.DataFrame(rows), kv, clusters="s")
    result = bb.covariates(sample, "p + h").contrast(a, b)
    table = result.table(words="given").set_index("name")
    length = sample.vectors["tax"].length(sample.cluster)
    expected = 2.0 * (apart @ apart) / length
    row = table.loc["p: R - L"]
    assert 0 < row["low"] < expected < row["high"]
    assert table.loc["h: y - x", "low"] < 0 < table.loc["h: y - x", "high"]
    shares = table[["share_instances", "share_speakers", "share_words"]].sum(axis=1)
    np.testing.assert_allclose(shares, 1.0)
    assert (result.estimates().sd >= result.estimates("given").sd - 1e-12).all()
    checks = result.checks(permutations=199).set_index("name")
    assert (checks.loc["p: R - L", ["p", "p_cr2", "p_permutation"]] < 0.02).all()
    assert (checks.loc["h: y - x", ["p", "p_cr2", "p_permutation"]] > 0.05).all()


def test_an_axis_of_known_errors_is_that_of_the_embedding(kv):
    variances = np.full(50, 0.02)
    sample = bb.VectorSample.from_covariances(kv, {"nurse": variances})
    result = bb.covariates(sample, "1").axis("gender")
    given = result.table(words="given").iloc[-1]
    direction = result.attributes.direction
    assert given["sd"] == pytest.approx(np.sqrt(variances @ direction**2) / result.length)
    known = bb.axis(kv, "gender", words=["nurse"]).table().iloc[0]
    tiny = bb.VectorSample.from_covariances(kv, {"nurse": np.full(50, 1e-12)})
    row = bb.covariates(tiny, "1").axis("gender").table().iloc[-1]
    np.testing.assert_allclose(row[["mean", "sd"]].astype(float), known[["mean", "sd"]].astype(float), rtol=1e-4)


def test_wrong_formulas_are_refused(corpus, kv):
    frame = corpus.assign(one="x", same=corpus["party"].str.lower())
    sample = of(frame, kv, covariates=["party", "one", "same"])
    for formula, message in (
        ("partys", r"names 'partys' \(did you mean 'party'\?\)"),
        ("one", "has one value"),
        ("party + same", "cannot be told apart by 12 speakers: leave one out"),
    ):
        with pytest.raises(InputError, match=message):
            bb.covariates(sample, formula)


def test_wrong_input_and_damaged_files_are_told(corpus, kv, tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "tax bank"}\n["tax"]\n', encoding="utf-8")
    (tmp_path / "a.csv").write_text("text,party\ntax bank\n", encoding="utf-8")
    for given, target, transform, message in (
        (corpus, "zzz", np.eye(50), "zzz: no instance in 120 documents"),
        (iter([]), "tax", np.eye(50), "it is read several times"),
        (corpus, "tax", None, "needs 100"),
        (tmp_path / "a.jsonl", "tax", np.eye(50), "line 2 cannot be read as an object"),
        (tmp_path / "a.csv", "tax", np.eye(50), "Expected 2 columns, got 1"),
    ):
        with pytest.raises(InputError, match=message):
            bb.instances(given, target, kv, transform=transform)


def test_texts_of_any_type_are_covariates_and_negative_numbers_have_brackets(corpus, kv):
    sample = of(corpus, kv, covariates=["party", "year"])
    sample.units["party"], sample.units["since"] = sample.units["party"].astype("string"), sample.units["year"] - 60.0
    names = bb.covariates(sample, "party + since").axis("gender").table()["name"].tolist()
    assert {"party: R - L", "since: 47 - (-48)"} <= set(names)


def test_missing_covariates_are_counted_and_few_clusters_are_said(corpus, kv):
    frame = corpus.assign(party=corpus["party"].where(corpus["year"] > 9))
    result = bb.covariates(of(frame, kv, covariates=["party"]), "party").contrast(["bank"], ["school"])
    number = frame.loc[frame["party"].isna(), "text"].str.split().map(lambda words: words.count("tax")).sum()
    (lost,) = numbers(result, "left-out")
    assert (lost["count"], lost["reason"]) == (number, "a covariate is missing")
    alone = corpus.assign(party=np.where(corpus["speaker"] == "s0", "L", "R"))
    result = bb.covariates(of(alone, kv), "party").contrast(["bank"], ["school"])
    assert numbers(result, "few-levels") == [{"count": 1, "factor": "speaker with party L"}]
    few = corpus[corpus["speaker"].isin(["s0", "s1", "s6", "s7"])]
    with pytest.raises(InputError, match="there are vectors of 4 speakers for 'tax', and intervals need 8"):
        bb.covariates(of(few, kv), "party")


def test_a_column_that_looks_like_speakers_is_named(corpus, kv):
    sample = bb.instances(corpus, "tax", kv, transform=np.eye(50))
    reason = "speaker has 12 values: see clusters='speaker'"
    assert numbers(sample, "independent") == [{"what": "118 documents", "reason": reason}]
    assert not of(corpus, kv).notes


@pytest.fixture(scope="module")
def levelled(corpus):
    """A function from names of levels to documents of twelve speakers with two factors and a number."""

    def named(parties, places):
        speaker = corpus["speaker"].str[1:].astype(int)
        place, age = speaker.map(lambda number: places[number * 7 % 3]), speaker * 5 % 11
        return corpus.assign(party=(speaker >= 6).astype(int).map(dict(enumerate(parties))), place=place, age=age)

    return named


def test_order_of_terms_and_names_of_levels_change_nothing(levelled, kv):
    """The order moved sds by .3%, and names by .1%."""
    tables = []
    for parties, places, asked in (
        ("LR", "xyz", "age * party + place"),
        ("LR", "xyz", "place + party * age"),
        ("ba", "nom", "age * party + place"),
    ):
        sample = of(levelled(parties, places), kv, covariates=["party", "place", "age"])
        values = bb.covariates(sample, asked).contrast(["bank"], ["school"]).estimates().select(quantity="value")
        former = dict(zip([*parties, *places], "LRxyz", strict=True))
        names = [" ".join(sorted(former[level] for level in name.split(", "))) for name in values.index["name"]]
        tables.append(pd.DataFrame({"mean": values.mean, "sd": values.sd}, names).sort_index())
    for other in tables[1:]:
        pd.testing.assert_frame_equal(other, tables[0], rtol=1e-9, atol=0)


def test_order_of_rows_of_the_embedding_changes_nothing(levelled, kv):
    """It moved sds by .5%."""
    tables = []
    for seed in (0, 1):
        order = np.random.default_rng(seed).permutation(len(kv))
        moved = keyed_vectors([kv.index_to_key[row] for row in order], kv.vectors[order])
        by = bb.covariates(of(levelled("LR", "xyz"), moved, covariates=["party", "age"]), "party + age")
        found = by.contrast(["bank"], ["school"]).estimates()
        tables.append(found.index.assign(mean=found.mean, sd=found.sd))
    pd.testing.assert_frame_equal(*tables, rtol=1e-9, atol=1e-12)


def test_texts_that_a_speaker_gives_again_count_once(corpus, kv):
    twice = of(pd.concat([corpus, corpus], ignore_index=True), kv)
    assert equal(twice, of(corpus, kv))
    assert twice.about["documents"] == 120
    assert [(each["count"], each["total"]) for each in numbers(twice, "left-out")] == [(120, 240)]
    others = corpus.assign(speaker=corpus["speaker"] + "b")
    assert of(pd.concat([corpus, others], ignore_index=True), kv).about["documents"] == 240


def test_lists_that_share_a_word_are_refused(corpus, kv):
    by = bb.covariates(of(corpus, kv), "party")
    with pytest.raises(InputError, match="is in both lists"):
        by.contrast(["bank", "school"], ["bank"])


def test_a_further_term_moves_the_answer_by_what_it_explains(kv):
    """The party does nothing; the year does, and parties have other years."""
    rng = np.random.default_rng(5)
    unit = kv["bank"] / np.linalg.norm(kv["bank"]) - kv["school"] / np.linalg.norm(kv["school"])
    rows = []
    for speaker in range(40):
        party, year = "LR"[speaker % 2], 1900 + 2 * speaker + 30 * (speaker % 2)
        for _ in range(8):
            vector = kv["tax"] + 0.04 * (year - 1950) * unit + rng.normal(size=50) * 0.5
            rows.append({"word": "tax", "s": speaker, "party": party, "year": year, "vector": vector})
    sample = bb.vector_sample(pd.DataFrame(rows), kv, clusters="s")
    party, years = np.arange(40) % 2, 2 * np.arange(40) + 30 * (np.arange(40) % 2)
    alone, year = (
        bb.covariates(sample, formula).contrast(["bank"], ["school"]).table().set_index("name")
        for formula in ("party", "party + year")
    )
    assert alone.loc["party: R - L", "high"] < 0
    assert year.loc["party: R - L", "low"] < 0 < year.loc["party: R - L", "high"]
    assert year.loc["year", "overlap"] == pytest.approx(np.corrcoef(party, years)[0, 1] ** 2)


LISTS = {"he": ["bank", "market", "tax"], "she": ["school", "teacher"], "it": ["river", "tree", "lake"]}
PROTECTED = {"he": ["he", "his", "son"], "she": ["she", "mother"], "it": ["it"]}


def lists_of(*groups):
    own = {name: LISTS[name] for name in groups}
    return bb.WordLists(name="some", protected={name: PROTECTED[name] for name in groups}, stereotypes=own)


def directions(kv, groups):
    """Mean unit vectors (lists, d) of the stereotypes of groups."""
    return np.array([np.mean([kv[w] / np.linalg.norm(kv[w]) for w in LISTS[name]], axis=0) for name in groups])


def association_of(distances):
    """Mean over groups of the double-centred distances (units, groups, lists) to the own list less the others."""
    size = distances.shape[-1]
    level = distances.mean(axis=(1, 2), keepdims=True)
    left = distances - distances.mean(axis=1, keepdims=True) - distances.mean(axis=2, keepdims=True) + level
    return size / (size - 1) * np.einsum("ugg->ug", left).mean(axis=1)


def length_of(means):
    """Root of the mean product of the means (speakers, d) of two different speakers."""
    products = means @ means.T
    return np.sqrt((products.sum() - np.trace(products)) / (len(means) * (len(means) - 1)))


def means_of(table):
    """Mean vector of each word of each speaker: columns ``s``, ``word`` and ``mean``."""
    rows = [(*names, np.mean(own.to_list(), axis=0)) for names, own in table.groupby(["s", "word"])["vector"]]
    return pd.DataFrame(rows, columns=["s", "word", "mean"])


def spoken(kv, groups, missing=(), instances=1, speakers=12):
    """A table of what speakers of two parties say, without some (speaker, word)."""
    rng = np.random.default_rng(0)
    words, rows = [word for name in groups for word in PROTECTED[name]], []
    for speaker in range(speakers):
        own = rng.normal(size=kv.vector_size) * 0.5
        for word in words:
            lean = rng.normal(size=kv.vector_size) * 0.5
            for _ in range(0 if (speaker, word) in missing else rng.integers(1, instances + 1)):
                vector = kv[word] + own + lean + rng.normal(size=kv.vector_size)
                rows.append({"word": word, "s": f"s{speaker}", "p": "LR"[speaker % 2], "vector": vector})
    return pd.DataFrame(rows)


MISSING = {(0, "his"), (1, "he"), (1, "son"), (4, "mother"), (5, "he"), (7, "she"), (8, "son")}


def associated(table, kv, groups):
    return bb.covariates(bb.vector_sample(table, kv, clusters="s"), "p").association(lists_of(*groups))


def test_an_association_is_that_of_double_centred_distances(kv):
    """One vector of each word of each of twelve speakers, over the debiased length of the word: arithmetic."""
    groups = ("he", "she", "it")
    table = spoken(kv, groups)
    result = associated(table, kv, groups)
    means, lists = [], directions(kv, groups)
    for name in groups:
        by_word = [np.stack(table.loc[table["word"] == word, "vector"].to_list()) for word in PROTECTED[name]]
        means.append(np.mean([1 - vectors @ lists.T / length_of(vectors) for vectors in by_word], axis=0))
    expected = association_of(np.stack(means, axis=1))
    np.testing.assert_allclose(result.design.products(result.attributes), expected, atol=1e-6)
    party = np.arange(12) % 2
    row = result.estimates("given", "equal").select(quantity="difference")
    assert row.mean[0] == pytest.approx(expected[party == 1].mean() - expected[party == 0].mean(), abs=1e-6)
    apart = result.checks(permutations=0).iloc[0]
    assert apart["mean_cr2"] == pytest.approx(row.mean[0], abs=1e-6)


def test_words_that_speakers_do_not_say_are_taken_off_by_least_squares(kv):
    """Dummies of words and speakers in plain least squares, of distances one by one; pooled variances of instances."""
    groups = ("he", "she")
    table = spoken(kv, groups, MISSING, instances=5)
    result = associated(table, kv, groups)
    assert numbers(result, "model") == [{"model": "additive: words, clusters", "reason": "some lack a word"}]
    lists = directions(kv, groups)
    cells = means_of(table)
    lengths = {word: length_of(np.stack(own["mean"].to_list())) for word, own in cells.groupby("word")}
    who = [f"s{number}" for number in range(12)]
    distances, variances = np.empty((12, 2, 2)), np.zeros(12)
    for place, name in enumerate(groups):
        own = cells[cells["word"].isin(PROTECTED[name])]
        dummies = pd.concat([pd.get_dummies(own[column]) for column in ("s", "word")], axis=1).astype(float)
        y = [1 - lists @ mean / lengths[word] for mean, word in zip(own["mean"], own["word"], strict=True)]
        effects = pd.DataFrame(np.linalg.lstsq(dummies.to_numpy(), np.array(y), rcond=None)[0], index=dummies.columns)
        distances[:, place] = effects.loc[who] + effects.loc[PROTECTED[name]].mean()
        for word in PROTECTED[name]:
            said = table[table["word"] == word]
            way = (lists[0] - lists[1]) / 2 / lengths[word]
            scores = said["vector"].map(lambda vector, way=way: vector @ way)
            left = scores - scores.groupby(said["s"]).transform("mean")
            pooled = (left**2).sum() / (len(said) - said["s"].nunique())
            for speaker, number in said.groupby("s").size().items():
                words = (own["s"] == speaker).sum()
                variances[int(speaker[1:])] += pooled / number / words**2
    expected = association_of(distances)
    np.testing.assert_allclose(result.design.products(result.attributes), expected, atol=1e-6)
    np.testing.assert_allclose(result.design.vectors.variances(result.attributes.direction), variances, rtol=1e-5)
    party = np.arange(12) % 2
    row = result.estimates("given", "equal").select(quantity="difference")
    assert row.mean[0] == pytest.approx(expected[party == 1].mean() - expected[party == 0].mean(), abs=1e-6)


def test_a_lean_of_a_speaker_to_one_list_is_no_association(kv):
    """Another dimension, which one list alone has: all words of a speaker move along it, by the length of each."""
    groups = ("he", "she", "it")
    longer = np.column_stack([kv.vectors, np.zeros(len(kv))])
    longer[[kv.key_to_index[word] for word in LISTS["he"]], -1] = 3.0
    longer = keyed_vectors(kv.index_to_key, longer.astype(np.float32))
    table = spoken(kv, groups, MISSING, instances=3)
    lengths = {word: length_of(np.stack(own["mean"].to_list())) for word, own in means_of(table).groupby("word")}

    def leaning(size):
        vectors = [
            np.append(vector, size * lengths[word] * (speaker == "s1"))
            for vector, word, speaker in zip(table["vector"], table["word"], table["s"], strict=True)
        ]
        return bb.covariates(bb.vector_sample(table.assign(vector=vectors), longer, clusters="s"), "p")

    before, after = (leaning(size).association(lists_of(*groups)) for size in (0.0, 5.0))
    np.testing.assert_allclose(after.estimates().mean, before.estimates().mean, atol=1e-9)
    np.testing.assert_allclose(after.estimates().sd, before.estimates().sd, rtol=1e-6)
    near = [leaning(size).contrast(LISTS["he"], LISTS["she"], "his").estimates().mean[-1] for size in (0.0, 5.0)]
    assert abs(near[1] - near[0]) > 0.1


def test_an_association_of_known_errors_has_those_of_each_word(kv):
    errors = {word: np.full(50, 0.01 * (1 + place)) for place, word in enumerate(["he", "his", "she", "mother", "it"])}
    sample = bb.VectorSample.from_covariances(kv, errors)
    for groups in (("he", "she"), ("he", "she", "it")):
        result = bb.covariates(sample, "1").association(lists_of(*groups))
        assert numbers(result, "left-out")[0]["words"] == ["son"]
        lists, variance, distances = directions(kv, groups), 0.0, []
        for place, name in enumerate(groups):
            own = [word for word in PROTECTED[name] if word in errors]
            others = np.delete(lists, place, axis=0).mean(axis=0)
            lengths = [np.sqrt(kv[word] @ kv[word] - errors[word].sum()) for word in own]
            of_words = [1 - lists @ kv[word] / length for word, length in zip(own, lengths, strict=True)]
            distances.append(np.mean(of_words, axis=0))
            for word, length in zip(own, lengths, strict=True):
                way = (lists[place] - others) / (len(groups) * len(own) * length)
                variance += errors[word] @ way**2
        row = result.table(words="given").iloc[-1]
        assert row["mean"] == pytest.approx(association_of(np.array(distances)[None])[0], abs=1e-6)
        assert row["sd"] == pytest.approx(np.sqrt(variance), rel=1e-5)
        assert result.table().iloc[-1]["sd"] > row["sd"]


def test_rare_words_and_speakers_of_one_group_are_left_out_and_named(kv):
    table = spoken(kv, ("he", "she"), speakers=14)
    number = table["s"].str[1:].astype(int)
    rare = (table["word"] == "son") & (number > 3)
    alone = table["word"].isin(PROTECTED["she"]) & (number == 2)
    result = associated(table[~rare & ~alone], kv, ("he", "she"))
    rare, lone = numbers(result, "left-out")
    assert (rare["words"], rare["reason"]) == (["son"], "fewer than 8 clusters")
    assert (lone["count"], lone["reason"]) == (2, "cluster without every group")
    assert result.design.clusters == 13
    without = table[(table["word"] != "son") & (number != 2)]
    assert len(associated(without, kv, ("he", "she")).design.x) == 13


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.assign(s=range(len(t))), "no cluster says words of each group, he, she: name who"),
        (lambda t: t[t["word"].isin(PROTECTED["he"])], "no word of she is left"),
        (
            lambda t: t[~t["word"].isin(PROTECTED["he"]) | ((t["word"] == "he") == (t["p"] == "L"))],
            "the words of he are in two parts, and no cluster says words of both",
        ),
    ],
)
def test_associations_that_cannot_be_told_are_refused(kv, change, message):
    with pytest.raises(InputError, match=message):
        associated(change(spoken(kv, ("he", "she"), speakers=20)), kv, ("he", "she"))
