"""Distances after debiasing that WEFE 1.0.1 and Manzini's program gave on the reference vectors."""

import json

import numpy as np
import pytest

import bayesbias as bb

TOLERANCE = 2e-6
WEFE_HARD = ("hard_gender_all_words", "hard_gender_ignore_pairs_and_professions")
WEFE_SETS = ("multiclass_religion_n2", "multiclass_ethnicity_n2_overlapping_sets")
MANZINI = {"manzini_hard_religion_n2": WEFE_SETS[0], "manzini_hard_ethnicity_n2": WEFE_SETS[1]}


@pytest.fixture(scope="module")
def vectors(shared):
    return bb.load_embedding(shared / "embeddings" / "google_news_slice.bin")


@pytest.fixture(scope="module")
def runs(shared):
    record = json.loads((shared / "oracles" / "debias_oracles_public.json").read_text())
    return {run["id"]: run for run in record["runs"]}


def distances(kv, words):
    found = kv.vectors[[kv.key_to_index[word] for word in words]].astype(float)
    unit = found / np.linalg.norm(found, axis=1, keepdims=True)
    return (1 - unit @ unit.T)[np.triu_indices(len(words), 1)]


def recorded(run, when="after"):
    return np.concatenate(run[f"cos_dist_{when}"])


def check(after, before, run):
    np.testing.assert_allclose(distances(before, run["words"]), recorded(run, "before"), atol=TOLERANCE)
    np.testing.assert_allclose(distances(after, run["words"]), recorded(run), atol=TOLERANCE)
    lengths = np.linalg.norm(after.vectors.astype(float), axis=1)
    np.testing.assert_allclose(lengths, 1, atol=1e-6)
    np.testing.assert_allclose(after.norms, lengths, atol=1e-6)


@pytest.mark.parametrize("name", WEFE_HARD)
def test_hard(vectors, runs, name):
    run = runs[name]
    arguments, ignore = run["fit_args"], run["transform_args"].get("ignore") or ()
    kept = vectors.vectors.copy()
    after = bb.debias(
        vectors,
        "hard",
        definitional=arguments["definitional_pairs"],
        equalize=arguments["equalize_pairs"],
        ignore=ignore,
    )
    check(after, vectors, run)
    np.testing.assert_array_equal(vectors.vectors, kept)
    record = after.bayesbias_debiasing
    np.testing.assert_allclose(record.explained[:10], run["explained_variance_ratio"], atol=1e-6)
    assert record.neutralized == len(vectors) - len([word for word in set(ignore) if word in vectors])
    # theirs leaves as many lengths that are not 1
    assert run["n_norm_not_1"] in (154, 54)


@pytest.mark.parametrize("name", WEFE_SETS)
def test_hard_multiclass(vectors, runs, name):
    run = runs[name]
    arguments = run["fit_args"]
    after = bb.debias(
        vectors, "hard_multiclass", sets=arguments["definitional_sets"], equalize=arguments["equalize_sets"]
    )
    check(after, vectors, run)
    np.testing.assert_allclose(after.bayesbias_debiasing.explained[:2], run["explained_variance_ratio"], atol=1e-6)


@pytest.mark.parametrize("name", MANZINI)
def test_sets_one_after_the_other(vectors, runs, name):
    sets = runs[MANZINI[name]]["fit_args"]["definitional_sets"]
    run = runs[name]
    after = bb.debias(vectors, "hard_multiclass", sets=sets, components=run["k"], order="sequential")
    check(after, vectors, run)
