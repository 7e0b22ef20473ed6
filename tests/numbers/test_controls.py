"""Control lists of one's own would give other numbers than the bundled ones, or lose their labels."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias import words

WORDS = bb.load_words("weat7")
KV = "google-news-slice"
LABELS = {"animals": "words for animals"}


def own(controls, labels=None, **changes):
    lists = bb.WordLists("mine", WORDS.protected, WORDS.stereotypes, controls, labels=labels or {})
    return dataclasses.replace(lists, **changes)


@pytest.fixture(scope="module")
def bundled():
    return bb.distance_table(KV, own({"neutral": WORDS.controls["neutral"]}))


@pytest.fixture(scope="module")
def animals():
    return bb.distance_table(KV, own({"animals": WORDS.controls["neutral"]}, LABELS))


@pytest.fixture(scope="module")
def two():
    """The bundled lists under other names, human first as in fits."""
    controls = {"furniture": WORDS.controls["human"], "animals": WORDS.controls["neutral"]}
    return bb.distance_table(KV, own(controls, LABELS))


@pytest.fixture(scope="module")
def fitted(two):
    return bb.fit(two, seed=3)


def same(first, second):
    pd.testing.assert_frame_equal(first, second, check_exact=True)


@pytest.mark.parametrize("model", ["related", "crossed"])
def test_another_name_gives_the_same_numbers(bundled, animals, model):
    posts = [bb.fit(table, model, seed=3) for table in (bundled, animals)]
    for target in ("sample", "population"):
        found = [
            bb.contrasts(post, "associated", name, target=target)
            for post, name in zip(posts, ("neutral", "animals"), strict=True)
        ]
        same(*found)
    parts = [bb.decomposition(post) for post in posts]
    assert [table["contrast"].iloc[-1] for table in parts] == ["associated - neutral", "associated - animals"]
    same(*(table.drop(columns="contrast") for table in parts))


def test_two_lists_under_other_names_are_the_bundled_lists(fitted):
    post = bb.fit(bb.distance_table(KV, "weat7"), seed=3)
    assert fitted["posterior"]["connection"].to_numpy().tolist() == ["associated", "different", "furniture", "animals"]
    for name, known in (("different", "different"), ("furniture", "human"), ("animals", "neutral")):
        same(bb.contrasts(fitted, second=name), bb.contrasts(post, second=known))
    same(bb.contrasts(fitted), bb.contrasts(fitted, second="different"))
    assert bb.decomposition(fitted)["contrast"].iloc[-1] == "associated - furniture"
    np.testing.assert_array_equal(fitted["posterior/sd_factor"], post["posterior/sd_factor"])


def test_the_order_and_the_counterparts_are_said_once():
    given = ["zebras", "neutral", "associated", "ants", "human", "different", "ants"]
    assert words.in_order(given) == ["associated", "different", "human", "neutral", "zebras", "ants"]
    assert words.controls_of(given) == ["human", "neutral", "zebras", "ants"]
    assert words.counterparts("associated", given) == ["different", "human", "neutral", "zebras", "ants"]
    assert words.counterparts("different", given) == ["human", "neutral", "zebras", "ants", "associated"]
    assert words.labelled("associated - ants", {"ants": "small animals"}) == "associated - small animals"


def test_without_other_groups_the_first_control_list_is_the_counterpart():
    controls = {"animals": WORDS.controls["neutral"], "furniture": WORDS.controls["human"]}
    lists = own(controls, stereotypes={"math": WORDS.stereotypes["math"]}, protected={"math": WORDS.protected["math"]})
    post = bb.fit(bb.distance_table(KV, lists), seed=1)
    same(bb.contrasts(post), bb.contrasts(post, second="animals"))


def test_no_control_list():
    post = bb.fit(bb.distance_table(KV, own({})), seed=1)
    same(bb.contrasts(post), bb.contrasts(post, second="different"))
    with pytest.raises(bb.InputError, match="only associated, different"):
        bb.decomposition(post)


def test_labels_stay_with_files_and_fits(two, fitted, tmp_path):
    bb.write_distance_table(two, tmp_path / "distances.parquet")
    read = bb.read_distance_table(tmp_path / "distances.parquet")
    assert read.coverage.labels == LABELS
    same(read, two)
    bb.save_fit(fitted, tmp_path / "fit.nc")
    two.to_csv(tmp_path / "distances.csv", index=False)
    bare = bb.read_distance_table(tmp_path / "distances.csv")
    assert bb.coverage(bare)["kind"].tolist()[-2:] == ["control", "control"]


def test_a_table_of_another_name_needs_it_as_its_class(animals):
    message = "'animals'.*associated, different, human, neutral, and each control list, which is the attribute_class"
    wrong = animals.assign(attribute_class="words")
    with pytest.raises(bb.InputError, match=message):
        bb.fit(wrong)
    with pytest.raises(bb.InputError, match="'stereotype'"):
        bb.fit(animals.assign(connection="stereotype", attribute_class="stereotype"))
