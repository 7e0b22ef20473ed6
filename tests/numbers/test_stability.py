"""What a setting adds to a bias, beside its corpus, would be told wrongly, and so would its intervals."""

import numpy as np
import pandas as pd
import pytest
from gensim.models import KeyedVectors
from scipy.stats import kendalltau

import bayesbias as bb
from bayesbias.baselines.stability import direct_bias_study, metric_stability, setting_components

PAIRS = [(f"he{at}", f"she{at}") for at in range(6)]
WORDS = [f"w{at}" for at in range(40)]
EVERY = [*WORDS, *(word for pair in PAIRS for word in pair)]
DIMS = (20, 80)


QUERY = bb.Query(dict(zip(("he", "she"), zip(*PAIRS, strict=True), strict=True)), {"words": WORDS[:20]})
SIDES = np.array([word.startswith("he") - 1.0 * word.startswith("she") for word in EVERY])


def embedding(x, words=EVERY):
    kv = KeyedVectors(x.shape[1], count=0)
    kv.add_vectors(words, x.astype(np.float32))
    return kv


def unit_of(kv, word):
    return kv[word].astype(float) / np.linalg.norm(kv[word].astype(float))


def vectors(dims, seed, strength=0.0):
    """Normal vectors; the pairs differ along one axis, and the words lie along it by ``strength``."""
    x = np.random.default_rng(seed).normal(size=(len(EVERY), dims))
    own = x[:, 0] + strength * dims**0.5 * (-1.0) ** np.arange(len(EVERY))
    x[:, 0] = np.where(SIDES, 6 * SIDES, own)
    return embedding(x)


def row_of(table, corpus, dims, seed=0):
    """The first row of a setting."""
    return table[(table[["corpus", "dims", "seed"]] == [corpus, dims, seed]).all(axis=1)].iloc[0]


@pytest.fixture(scope="module")
def embeddings():
    return {
        (corpus, "sgns", dims, seed): vectors(dims, 100 * at + 10 * seed + dims, strength)
        for at, (corpus, strength) in enumerate((("plain", 0.0), ("biased", 0.7), ("very", 1.5)))
        for dims in DIMS
        for seed in (0, 1)
    }


@pytest.fixture(scope="module")
def study(embeddings):
    return direct_bias_study(embeddings, {"first": WORDS[:20], "second": WORDS[20:]}, PAIRS, draws=400)


def test_direct_bias_is_the_metric(embeddings, study):
    rows = study.table()[study.table()["word_list"] == "first"].set_index(["corpus", "algorithm", "dims", "seed"])
    for key, kv in embeddings.items():
        assert rows.loc[key, "direct_bias"] == pytest.approx(bb.metric("direct_bias", kv, QUERY).value, abs=1e-9)
    signed = study.bias.loc[("very", "sgns", 80, 0)]
    assert (np.sign(signed[WORDS]) == np.where(np.arange(40) % 2, -1, 1)).all()
    assert len(study.table()) == 24
    assert study.bias.index[0][0] == "biased"


def test_bootstrap_resamples_pairs_and_words(embeddings, study):
    """Against a plain loop: the same distribution of the direct bias of pairs and words drawn with replacement."""
    rng, kv = np.random.default_rng(0), embeddings["biased", "sgns", 20, 0]
    unit = {word: unit_of(kv, word) for word in EVERY}
    plain = []
    for _ in range(400):
        chosen = [PAIRS[at] for at in rng.integers(6, size=6)]
        apart = np.stack([unit[first] - unit[second] for first, second in chosen])
        direction = np.linalg.svd(apart)[2][0]
        plain.append(np.mean([abs(unit[WORDS[at]] @ direction) for at in rng.integers(20, size=20)]))
    row = row_of(study.table(), "biased", 20)
    draws = study.draws[row.name]
    reflected = 2 * row["direct_bias"] - draws
    assert reflected.mean() == pytest.approx(np.mean(plain), abs=4 * np.std(plain) / 400**0.5)
    assert draws.std() == pytest.approx(np.std(plain), rel=0.15)
    assert row["low"] == pytest.approx(np.quantile(draws, 0.055))


MANY = [*(f"w{at}" for at in range(3000)), *(word for pair in PAIRS for word in pair)]


def test_cosines_of_random_vectors_decay_as_theory_says():
    """mean |cos| ~ sqrt(2 / (pi d)) of vectors without structure, and direct bias along with it."""
    rng = np.random.default_rng(1)
    kvs = {("plain", "normal", dims, 0): embedding(rng.normal(size=(len(MANY), dims)), MANY) for dims in (16, 64, 256)}
    table = direct_bias_study(kvs, MANY[:3000], PAIRS, draws=20, random_pairs=20_000).table()
    theory = table["isotropic"]
    np.testing.assert_allclose(theory, np.sqrt(2 / np.pi / table["dims"]))
    np.testing.assert_allclose(table["baseline"] / theory, 1, atol=0.03)
    np.testing.assert_allclose(table["direct_bias"] / theory, 1, atol=0.05)
    np.testing.assert_allclose(table["standardised"], 1, atol=0.06)
    slope = np.polyfit(np.log(table["dims"]), np.log(table["direct_bias"]), 1)[0]
    assert slope == pytest.approx(-0.5, abs=0.02)


def test_rank_agreement_is_kendalls_tau(study):
    tau = study.rank_agreement()
    assert tau.shape == (12, 12)
    assert (np.diag(tau) == 1).all()
    one, other = study.bias.to_numpy()[2], study.bias.to_numpy()[7]
    assert tau.iloc[2, 7] == tau.iloc[7, 2] == pytest.approx(kendalltau(one, other).statistic)
    very, plain = (tau.loc[f"{name} sgns 80 seed 0", f"{name} sgns 80 seed 1"] for name in ("very", "plain"))
    assert very > plain


def test_the_interval_takes_out_the_bias_of_resampling():
    """A weak direction: resampled pairs make direct bias smaller, and the basic interval goes the other way."""
    x = np.random.default_rng(3).normal(size=(len(EVERY), 100))
    x[:, 0] += 2.0 * SIDES
    study = direct_bias_study({("one", "sgns", 100, 0): embedding(x)}, WORDS, PAIRS, draws=2000)
    row = study.table().iloc[0]
    assert study.draws[0].mean() > row["direct_bias"]
    weak = bool(row["direct_bias"] < row["low"] or row["direct_bias"] > row["high"])
    assert [note.numbers["count"] for note in study.notes if note.code == "weak-basis"] == [1] * weak
    assert row["low"] == pytest.approx(np.quantile(study.draws[0], 0.055))


def test_wrong_input():
    kv = vectors(20, 0)
    for kvs, pairs, message in (
        ({"wiki": kv}, PAIRS, "'wiki' is no setting: give"),
        ({("wiki", "sgns", 21, 0): kv}, PAIRS, "says 21 dimensions, and its vectors have 20"),
        ({("wiki", "sgns", 20, 0): kv}, PAIRS[:1], "share {'pairs': 1}"),
    ):
        with pytest.raises(bb.InputError, match=message):
            direct_bias_study(kvs, WORDS, pairs)


def grid(corpus, dims, seed, noise, seeds=3, lists=2):
    """A table of settings with normal effects of given standard deviations."""
    rng = np.random.default_rng(seed)
    effects = corpus * rng.normal(size=4), dims * rng.normal(size=5)
    rows = [
        (f"c{c}", "sgns", 10 * (d + 1), s, f"l{w}", 3 + effects[0][c] + effects[1][d] + noise * rng.normal())
        for c in range(4)
        for d in range(5)
        for s in range(seeds)
        for w in range(lists)
    ]
    return pd.DataFrame(rows, columns=["corpus", "algorithm", "dims", "seed", "word_list", "value"]), effects


@pytest.mark.parametrize(("corpus", "dims"), [(1.0, 0.2), (0.2, 1.0)])
def test_components_say_what_was_planted(corpus, dims):
    table, effects = grid(corpus, dims, 3, 0.05)
    found = setting_components(table, "value", seed=0)
    rows = found.table().set_index("component")
    for name, effect in zip(("corpus", "dims"), effects, strict=True):
        truth = effect.std(ddof=1)
        assert rows.loc[name, "low"] - 0.01 < truth < rows.loc[name, "high"] + 0.01
        assert rows.loc[name, "population_high"] > truth
    assert (found.p_settings_outweigh > 0.99) if dims > corpus else (found.p_settings_outweigh < 0.01)
    assert rows["share"].sum() == pytest.approx(1, abs=0.01)
    assert "corpus x dims x seed" in rows.index
    assert not any(component in rows.index for component in ("seed", "corpus x seed", "seed x word_list"))


def planted(corpora, dims, interaction, lists=(1.0,), seeds=3, noise=1e-3):
    """Two corpora and two dimensions of planted size; ``lists`` multiplies all effects of a list of words."""
    rng = np.random.default_rng(0)
    rows = [
        (f"c{c}", 10 + d, s, f"l{at}", scale * (corpora * sign(c) + dims * sign(d) + interaction * sign(c) * sign(d)))
        for c in (0, 1) for d in (0, 1) for s in range(seeds) for at, scale in enumerate(lists)
    ]  # fmt: skip
    table = pd.DataFrame(rows, columns=["corpus", "dims", "seed", "word_list", "value"])
    return table.assign(value=table["value"] + noise * rng.normal(size=len(table)))


def sign(at):
    return 1.0 if at else -1.0


@pytest.mark.parametrize(
    ("corpora", "dims", "interaction", "lists"),
    [(1.0, 0.8, 0.5, (1.0,)), (0.5, 0.8, 1.0, (1.0, -1.0)), (1.0, 0.8, 2.0, (1.0, 0.9))],
)
def test_what_settings_add_from_corpus_to_corpus_is_on_neither_side(corpora, dims, interaction, lists):
    found = setting_components(planted(corpora, dims, interaction, lists), "value", seed=0)
    assert (found.p_settings_outweigh > 0.99) if dims > corpora else (found.p_settings_outweigh < 0.01)


TABLE, _ = grid(1.0, 0.5, 4, 0.1)
WRONG_TABLES = [
    (TABLE[["corpus", "value"]].drop_duplicates("corpus"), "varies by corpus only"),
    (pd.concat([TABLE, TABLE.iloc[:1]], ignore_index=True), "two rows have one setting"),
    (TABLE.drop(index=[3, 17]), "2 of 120 settings have no value"),
    (TABLE.assign(value=2.0), "value does not vary"),
]


@pytest.mark.parametrize(("table", "message"), WRONG_TABLES)
def test_wrong_tables(table, message):
    with pytest.raises(bb.InputError, match=message):
        setting_components(table, "value")


@pytest.fixture(scope="module")
def measured(embeddings):
    query = bb.Query(QUERY.targets, {"even": WORDS[0:40:2], "odd": WORDS[1:40:2]})
    return query, metric_stability(embeddings, query, ["weat_effect_size", "mac", "db_wa", "ect"], draws=1000)


def test_values_are_those_of_the_metrics(embeddings, measured):
    query, found = measured
    key = ("very", "sgns", 80, 1)
    rows, kv = found.table().set_index(["corpus", "algorithm", "dims", "seed"]).loc[key], embeddings[key]
    raw = rows[rows["form"] == "raw"].set_index(["metric", "subquery"])["value"]
    assert raw["weat_effect_size"].item() == pytest.approx(bb.metric("weat_effect_size", kv, query).value)
    assert raw["mac"].item() == pytest.approx(bb.metric("mac", kv, query).value - 1)
    for part in query.subqueries(2, 1):
        assert raw["ect"][part.name] == pytest.approx(bb.metric("ect", kv, part).value - 1)
        assert raw["db_wa"][part.name] == pytest.approx(bb.metric("db_wa", kv, part).value)
    words = bb.WordLists("own", query.targets, {"he": query.attributes["even"], "she": query.attributes["odd"]})
    post = bb.fit(bb.distance_table(kv, words, relatedness=False), draws=4000, seed=1)
    expected = bb.contrasts(post, target="population").iloc[0]
    assert raw["crossed"].item() == pytest.approx(expected["mean"], abs=0.1 * expected["sd"])
    scaled = rows[rows["form"] == "standardised"].set_index("metric")["value"]
    assert set(scaled.index) == {"mac", "db_wa", "crossed"}
    unit = direct_bias_study({key: kv}, WORDS, PAIRS, draws=2, seed=0).table()["baseline"].item()
    assert scaled["mac"] == pytest.approx(raw["mac"].item() / unit, rel=0.2)  # the baseline's random pairs differ


def test_shares_rank_measures(measured):
    _, found = measured
    summary = found.shares()
    assert summary["corpus_share"].is_monotonic_decreasing
    row = summary.set_index(["metric", "form"]).loc[("crossed", "raw")].squeeze()
    assert row["corpus_share"] > 0.9
    assert row["tau"] == pytest.approx(1)
    assert row["p_settings_outweigh"] < 0.01
    assert (found.header()["measures"], found.header()["embeddings"]) == (5, 12)


def test_raw_direct_bias_takes_differences_of_raw_vectors(embeddings, study):
    """By hand: the first principal axis of x - y and y - x, as Mirzaev et al. write it."""
    kv = embeddings["biased", "sgns", 20, 0]
    apart = np.stack([kv[first].astype(float) - kv[second] for first, second in PAIRS])
    direction = np.linalg.svd(np.concatenate([apart, -apart]))[2][0]
    unit = [unit_of(kv, word) for word in WORDS[:20]]
    row = row_of(study.table(), "biased", 20)
    assert row["raw_direct_bias"] == pytest.approx(np.abs(unit @ direction).mean(), abs=1e-9)
    scaled = {("scaled", "sgns", 20, 0): embedding(kv.get_normed_vectors())}
    one = direct_bias_study(scaled, WORDS[:20], PAIRS, draws=5, random_pairs=20).table()
    assert one["raw_direct_bias"].item() == pytest.approx(row["direct_bias"], abs=1e-6)
