"""Distances after debiasing would differ from those of WEFE 1.0.1 and of Manzini's program."""

import json

import numpy as np
import pytest

import bayesbias as bb

TOLERANCE = 2e-6
WEFE_HARD = ("hard_gender_all_words", "hard_gender_ignore_pairs_and_professions")
WEFE_SETS = ("multiclass_religion_n2", "multiclass_ethnicity_n2_overlapping_sets")
MANZINI = {"manzini_hard_religion_n2": WEFE_SETS[0], "manzini_hard_ethnicity_n2": WEFE_SETS[1]}


@pytest.fixture(scope="module")
def runs(shared):
    record = json.loads((shared / "oracles" / "debias_oracles_public.json").read_text())
    return {run["id"]: run for run in record["runs"]}


@pytest.fixture
def check(news, runs):
    """Compare the distances between the words of a run before and after."""

    def distances(kv, words):
        unit = kv[words].astype(float) / np.linalg.norm(kv[words].astype(float), axis=1, keepdims=True)
        return (1 - unit @ unit.T)[np.triu_indices(len(words), 1)]

    def compare(after, name):
        for when, kv in (("before", news), ("after", after)):
            expected = np.concatenate(runs[name][f"cos_dist_{when}"])
            np.testing.assert_allclose(distances(kv, runs[name]["words"]), expected, atol=TOLERANCE)
        lengths = np.linalg.norm(after.vectors.astype(float), axis=1)
        np.testing.assert_allclose(lengths, 1, atol=1e-6)
        np.testing.assert_allclose(after.norms, lengths, atol=1e-6)

    return compare


@pytest.mark.parametrize("name", WEFE_HARD)
def test_hard(news, runs, check, name):
    run, kept = runs[name], news.vectors.copy()
    arguments, ignore = run["fit_args"], run["transform_args"].get("ignore") or ()
    pairs = {"definitional": arguments["definitional_pairs"], "equalize": arguments["equalize_pairs"]}
    after = bb.debias(news, "hard", **pairs, ignore=ignore)
    check(after, name)
    np.testing.assert_array_equal(news.vectors, kept)
    record = after.bayesbias_debiasing
    np.testing.assert_allclose(record.explained[:10], run["explained_variance_ratio"], atol=1e-6)
    assert record.neutralized == len(kept) - len([word for word in set(ignore) if word in news])
    # theirs leaves as many lengths that are not 1
    assert run["n_norm_not_1"] in (154, 54)


@pytest.mark.parametrize("name", WEFE_SETS)
def test_hard_multiclass(news, runs, check, name):
    sets = {
        "definitional": runs[name]["fit_args"]["definitional_sets"],
        "equalize": runs[name]["fit_args"]["equalize_sets"],
    }
    after = bb.debias(news, "hard_multiclass", **sets)
    check(after, name)
    explained = runs[name]["explained_variance_ratio"]
    np.testing.assert_allclose(after.bayesbias_debiasing.explained[:2], explained, atol=1e-6)


@pytest.mark.parametrize("name", MANZINI)
def test_sets_one_after_the_other(news, runs, check, name):
    options = {"definitional": runs[MANZINI[name]]["fit_args"]["definitional_sets"], "components": runs[name]["k"]}
    check(bb.debias(news, "hard_multiclass", **options, order="sequential"), name)
