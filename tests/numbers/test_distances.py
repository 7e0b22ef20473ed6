"""Distances, coverage and files of tables would differ from the published ones, and nobody would be told."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from gensim.models import KeyedVectors
from pandas.testing import assert_frame_equal

import bayesbias as bb
from bayesbias import models
from bayesbias.distances.covariances import relatedness_content

COLUMNS = ["protected_word", "group", "attribute_word", "attribute_class", "connection", "distance"]
PUBLISHED = {
    "gender": ("gender_group_google_dataset", 4704, 2100, 350),
    "race": ("race_group_google_dataset", 3260, 1400, 150),
    "religion": ("religion_group_google_dataset", 4830, 2040, 165),
    "weat1": ("weat_1_google", 17689, 8575, 2450),
    "weat7": ("weat_7_google", 5232, 2256, 256),
}
PLANE = {"he": [1, 0], "she": [0, 2], "boss": [3, 4], "nurse": [1, 1], "table": [-2, 0], "walk": [5, 0]}
LISTS = bb.WordLists(
    "plane",
    {"man": ["he"], "woman": ["she"]},
    {"man": ["boss"], "woman": ["nurse"]},
    {"neutral": ["table"], "human": ["walk"]},
)
HALF = 1 - 0.5**0.5
PAIR = ("x", "g", "y", "neutral", "neutral", 0.5)


def keyed(vectors):
    kv = KeyedVectors(2)
    kv.add_vectors(list(vectors), np.array(list(vectors.values()), dtype=np.float32))
    return kv


def measured(words=LISTS, vectors=PLANE, **options):
    return bb.distance_table(keyed(vectors), words, relatedness=False, **options)


def made(*rows):
    return pd.DataFrame(rows, columns=COLUMNS)


def pairs(table):
    """(protected, attribute) to (attribute class, connection)."""
    return {(row[0], row[2]): (row[3], row[4]) for row in table.itertuples(index=False)}


def notes(table):
    return table.coverage.notes(table)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def written(tmp_path):
    """Writes a CSV file line by line and gives its path."""

    def write(*lines):
        path = tmp_path / "table.csv"
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return path

    return write


def test_distances_by_hand():
    rows = [
        ("he", "man", "boss", "man", "associated", 0.4),
        ("he", "man", "nurse", "woman", "different", HALF),
        ("he", "man", "walk", "human", "human", 0.0),
        ("he", "man", "table", "neutral", "neutral", 2.0),
        ("she", "woman", "nurse", "woman", "associated", HALF),
        ("she", "woman", "boss", "man", "different", 0.2),
        ("she", "woman", "walk", "human", "human", 1.0),
        ("she", "woman", "table", "neutral", "neutral", 1.0),
    ]
    assert_frame_equal(measured(), made(*rows), rtol=0, atol=1e-15)


def test_own_pair_is_left_out_and_reported():
    table = measured(bb.WordLists("mine", {"man": ["he", "boss"]}, {"man": ["boss", "nurse"]}))
    assert list(pairs(table)) == [("he", "boss"), ("he", "nurse"), ("boss", "nurse")]
    assert table["distance"][0] == pytest.approx(0.4, abs=1e-15)
    assert table.coverage.own_pairs == ["boss"]
    assert [note.code for note in notes(table)] == ["both-sides"]


SEVERAL = bb.WordLists(
    "several",
    {"man": ["he"], "woman": ["she"]},
    {"man": ["boss", "nurse"], "woman": ["nurse"]},
    {"neutral": ["table", "boss", "walk"], "human": ["walk", "nurse"]},
)


def test_word_in_several_lists_counts_once_for_the_first_connection():
    table = measured(SEVERAL)
    assert len(table) == 8
    assert pairs(table) == {
        ("he", "boss"): ("man", "associated"),
        ("he", "nurse"): ("man", "associated"),
        ("he", "walk"): ("human", "human"),
        ("he", "table"): ("neutral", "neutral"),
        ("she", "nurse"): ("woman", "associated"),
        ("she", "boss"): ("man", "different"),
        ("she", "walk"): ("human", "human"),
        ("she", "table"): ("neutral", "neutral"),
    }
    known = table.coverage
    assert known.in_several_lists == {
        "boss": ["man", "neutral"],
        "nurse": ["man", "woman", "human"],
        "walk": ["neutral", "human"],
    }
    assert (known.repeated_rows, known.kept_duplicates) == (0, False)
    assert table.groupby("attribute_class")["attribute_word"].nunique()[["neutral", "human"]].tolist() == [1, 1]
    several, copies = notes(table)
    words = ["boss (man/neutral)", "nurse (man/woman/human)", "walk (neutral/human)"]
    assert (several.code, several.numbers) == ("several-lists", {"rule": "count once", "words": words})
    assert copies.code == "copies-between"
    assert copies.numbers == {"count": 2, "words": ["he (man) = walk (neutral/human)"]}
    assert bb.coverage(table)["used"].tolist() == [1, 1, 2, 1, 1, 1]


def test_kept_duplicates_count_as_often_as_they_are_listed():
    table = measured(SEVERAL, keep_duplicates=True)
    counts = table.groupby(["protected_word", "attribute_word"]).size()
    assert counts.to_dict() == {
        (protected, word): count
        for protected in ("he", "she")
        for word, count in {"boss": 2, "nurse": 3, "walk": 2, "table": 1}.items()
    }
    assert table["connection"].value_counts().to_dict() == {"neutral": 6, "human": 4, "associated": 3, "different": 3}
    assert (table.coverage.repeated_rows, table.coverage.kept_duplicates) == (8, True)
    assert (notes(table)[1].code, notes(table)[1].numbers) == ("repeated", {"rows": 8, "total": 16, "rule": "kept"})


CASES = bb.WordLists("cases", {"man": ["he"], "woman": ["SHE"]}, {"man": ["Boss", "HE"], "woman": ["paris"]})
CASE_VECTORS = {"he": [1, 0], "she": [0, 2], "BOSS": [3, 4], "Paris": [1, 1]}


def test_fallback_tries_other_capitals_and_reports_them():
    table = measured(CASES, CASE_VECTORS, case="fallback")
    assert pairs(table) == {
        ("he", "Boss"): ("man", "associated"),
        ("he", "paris"): ("woman", "different"),
        ("SHE", "paris"): ("woman", "associated"),
        ("SHE", "Boss"): ("man", "different"),
        ("SHE", "HE"): ("man", "different"),
    }
    assert table.set_index(["protected_word", "attribute_word"])["distance"][("he", "Boss")] == pytest.approx(0.4)
    assert table.coverage.substituted == {"SHE": "she", "Boss": "BOSS", "HE": "he", "paris": "Paris"}
    assert table.coverage.own_pairs == ["he"]
    assert notes(table)[0].code == "spelling"
    assert notes(table)[0].numbers["words"] == ["SHE as she", "Boss as BOSS", "HE as he", "paris as Paris"]
    assert bb.coverage(table)["missing"].tolist() == [[], [], [], []]


@pytest.mark.parametrize(
    ("lists", "vectors", "message"),
    [
        ((CASES.protected, CASES.stereotypes), CASE_VECTORS, r"none of the 1 words of the .* list 'woman' \(SHE\)"),
        (({"a": ["he"]}, {"a": ["boss"]}), {"boss": [1, float("nan")]}, "the vectors of 'boss' hold NaN"),
    ],
)
def test_lists_that_leave_no_distance_are_refused(lists, vectors, message):
    with pytest.raises(bb.InputError, match=message):
        measured(bb.WordLists("mine", *lists), PLANE | vectors)


def test_vector_of_zeros_counts_as_missing_and_nan_in_an_unused_one_does_not_matter():
    lists = bb.WordLists("mine", {"man": ["he", "nil"]}, {"man": ["boss", "null"]})
    vectors = {**PLANE, "nil": [0, 0], "null": [0, 0], "unused": [0, 0], "unread": [1, float("nan")]}
    with pytest.warns(UserWarning, match="these words count as missing: nil, null$"):
        table = measured(lists, vectors)
    assert list(pairs(table)) == [("he", "boss")]
    assert bb.coverage(table)["missing"].tolist() == [["nil"], ["null"]]


def test_coverage_tells_each_list():
    controls = {"human": ["y", "walk", "z"]}
    table = measured(bb.WordLists("mine", {"man": ["he", "x"], "woman": ["she"]}, {"man": ["boss"]}, controls))
    known = bb.coverage(table)
    assert list(known.columns) == ["list", "kind", "asked", "found", "used", "missing"]
    assert known.to_numpy().tolist() == [
        ["man", "protected", 2, 1, 1, ["x"]],
        ["woman", "protected", 1, 1, 1, []],
        ["man", "stereotype", 1, 1, 1, []],
        ["human", "control", 3, 1, 1, ["y", "z"]],
    ]
    protected, control, copies = notes(table)
    assert protected.numbers == {"found": 2, "asked": 3, "kind": "protected", "words": ["x"]}
    assert control.numbers == {"found": 1, "asked": 3, "kind": "control", "words": ["y", "z"]}
    assert copies.code == "copies-between"


@pytest.mark.parametrize("name", PUBLISHED)
def test_covered_pairs_equal_the_published_ones(shared, slice_vectors, name):
    file, rows, covered, stereotypes = PUBLISHED[name]
    published = bb.read_distance_table(shared / "paper_tables" / f"{file}.csv")
    table = bb.distance_table(slice_vectors, name, relatedness=False)
    assert (len(published), len(table)) == (rows, covered)
    assert 0.42 <= len(table) / len(published) <= 0.485

    both = table.merge(published, on=["protected_word", "attribute_word"], suffixes=("", "_published"), validate="1:1")
    assert len(both) == covered
    assert (both["distance"] - both["distance_published"]).abs().max() < 1e-6
    for column in ("group", "attribute_class", "connection"):
        assert both[column].tolist() == both[f"{column}_published"].tolist()

    known = published[published["protected_word"].isin(table["protected_word"])]
    listed = known[known["connection"].isin(["associated", "different"])]
    assert len(listed) == stereotypes
    assert set(zip(listed["protected_word"], listed["attribute_word"], strict=True)) <= set(pairs(table))
    assert table["connection"].isin(["associated", "different"]).sum() == stereotypes


PUBLISHED_HEADER = ",protected_word,word_to_compare,word_class,cosine_distance,cosine_similarity,connection"
HEADER = ",".join(COLUMNS)
GOOD = "a,g,p,neutral,neutral,.5"
GONE = "0,a,p,neutral,-10,11,none"


def test_group_of_a_published_word_is_unknown_without_an_association_or_with_two(written):
    table = bb.read_distance_table(
        written(
            PUBLISHED_HEADER,
            "0,a,p,x_stereotype,.3,.7,associated",
            "1,a,q,neutral,.5,.5,none",
            "2,b,q,neutral,.6,.4,none",
            "3,c,p,x_stereotype,.7,.3,associated",
            "4,c,q,y_stereotype,.8,.2,associated",
            "5,c,r,y_stereotype,-10,11,different",
        )
    )
    assert table["group"].isna().tolist() == [False, False, True, True, True]
    assert table["group"].tolist()[:2] == ["x", "x"]
    assert table["connection"].tolist()[1] == "neutral"
    assert table.coverage.missing_pairs == 1


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([PUBLISHED_HEADER, GONE], "holds no distance"),
        (
            [HEADER, GOOD, *(f"a,g,{word},neutral,neutral,3" for word in "qrstu")],
            r"row 1, column 'distance' holds 3\.0 \(4 more rows of 6 too\): give a cosine distance in \[0, 2\]",
        ),
        ([HEADER, GOOD, "a,g,q,neutral,none,.5"], "row 1, column 'connection' holds 'none': the connections are"),
        ([HEADER, GOOD, "a,g,p,neutral,neutral,.6"], "the pair 'a', 'p' has more than one distance"),
    ],
)
def test_a_file_with_a_fault_is_refused_in_plain_words(written, lines, message):
    with pytest.raises(bb.InputError, match=message):
        bb.read_distance_table(written(*lines))


HOSTILE = [
    ("null", "nan", "NA", "neutral", "neutral", 0.1 + 0.2),
    ("nan", "NA", "null", "nan", "associated", 1 / 3),
    ("a,b", "x", 'say "so"', "x", "associated", 0.0),
    ("Ähre", "x", "東京", "x", "associated", 2.0),
    ("None", "x", "#N/A", "human", "human", 1e-17),
    ("007", "01", "1.50", "neutral", "neutral", 0.5),
    ("ice cream", "x", "it's", "neutral", "neutral", 1.2345678901234567),
]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_file_keeps_any_word(tmp_path, suffix):
    bb.write_distance_table(made(*HOSTILE), tmp_path / f"table.{suffix}")
    assert_frame_equal(bb.read_distance_table(tmp_path / f"table.{suffix}"), made(*HOSTILE), check_exact=True)


def assert_the_same(again, table):
    """The same rows to the bit, with the same coverage and relatedness."""
    assert_frame_equal(again, table, check_exact=True)
    assert again.coverage == table.coverage
    assert_frame_equal(bb.coverage(again), bb.coverage(table))
    assert (again.relatedness is None) == (table.relatedness is None)
    if table.relatedness is not None:
        assert relatedness_content(again.relatedness) == relatedness_content(table.relatedness)


ODD = bb.WordLists(
    "größe", {"a": ["he", "boss"], "b": ["東京", "gone"]}, {"a": ["boss", "Walk"]}, {"human": ["table", "boss"]}
)
FORMS = bb.WordLists(
    "forms",
    {"man": [["he", "walk", "gone"]], "woman": ["she"]},
    {"man": [["boss", "nurse"]], "woman": ["table"]},
)
WHOLE = {
    "kept duplicates": lambda vectors: bb.distance_table(vectors, "race", keep_duplicates=True),
    "relatedness": lambda vectors: bb.distance_table(vectors, "weat7"),
    "every note": lambda _: measured(ODD, {**PLANE, "東京": [1, 2]}, case="fallback"),
}


@pytest.mark.parametrize("name", WHOLE)
def test_a_parquet_file_keeps_all_that_a_table_carries(tmp_path, slice_vectors, name):
    table, path = WHOLE[name](slice_vectors), tmp_path / "table.parquet"
    bb.write_distance_table(table, path)
    assert_the_same(bb.read_distance_table(path, keep_duplicates=table.coverage.kept_duplicates), table)
    assert names(tmp_path) == [path.name]


def test_csv_tells_what_it_holds_and_leaves_out(tmp_path):
    with pytest.warns(bb.errors.CoverageWarning, match="^b.csv holds the rows alone, not coverage: write"):
        bb.write_distance_table(measured(), tmp_path / "b.csv")
    table = bb.read_distance_table(tmp_path / "b.csv")
    assert table.coverage.word_list == "b"
    found = bb.coverage(table)
    assert found["asked"].isna().all()
    assert found["list"].tolist() == ["man", "woman", "man", "woman", "human", "neutral"]
    assert found["kind"].tolist() == ["protected", "protected", "stereotype", "stereotype", "control", "control"]
    assert found["found"].tolist() == [1] * 6
    assert notes(table)[0].code == "coverage-unknown"


def test_repeated_pair_counts_for_the_first_connection(written):
    lines = [f"a,g,p,{connection},{connection},.5" for connection in ("neutral", "different", "associated", "human")]
    table = bb.read_distance_table(written(HEADER, *lines, "a,g,q,human,human,1"))
    assert table["connection"].tolist() == ["associated", "human"]
    assert list(table.index) == [0, 1]
    assert table.coverage.repeated_rows == 3


def test_a_restricted_table_says_so(religion):
    part = religion[religion["protected_word"].isin(["jew", "muslim"])]
    note = notes(part)[0]
    assert (note.code, note.numbers) == ("table-changed", {"rows": 272, "measured": 2040, "words": 2})
    assert "table-changed" not in {note.code for note in notes(religion)}


def test_the_distance_of_a_concept_is_the_mean_over_its_forms():
    kv, table = keyed(PLANE), measured(FORMS)
    single = {(a, b): 1 - kv.similarity(a, b) for a in ("he", "walk", "she") for b in ("boss", "nurse", "table")}
    expected = {
        ("he", "boss"): np.mean([single[a, b] for a in ("he", "walk") for b in ("boss", "nurse")]),
        ("he", "table"): np.mean([single[a, "table"] for a in ("he", "walk")]),
        ("she", "boss"): np.mean([single["she", b] for b in ("boss", "nurse")]),
        ("she", "table"): single["she", "table"],
    }
    found = table.set_index(["protected_word", "attribute_word"])["distance"].to_dict()
    assert found == pytest.approx(expected, abs=1e-6)
    assert found["he", "boss"] == pytest.approx(1 - (0.6 + 0.5**0.5) / 2, abs=1e-7)


def test_relatedness_of_a_concept_is_that_of_the_mean_of_its_forms(slice_vectors):
    attributes = {"a": ["nurse", "doctor"], "b": ["math", ["poetry", "art"]]}
    both = bb.WordLists("both", {"a": [["he", "him"], "boy"], "b": ["she"]}, attributes)
    apart = bb.WordLists(
        "apart", {"a": ["he", "him", "boy"], "b": ["she"]}, {**attributes, "b": ["math", "poetry", "art"]}
    )
    table = bb.distance_table(slice_vectors, both)
    one, several = bb.relatedness(table), bb.relatedness(slice_vectors, apart)
    assert one.protected_words == ("he", "boy", "she")
    assert one.attribute_words == ("nurse", "doctor", "math", "poetry")
    assert one.sample_words == several.sample_words
    np.testing.assert_allclose(one.scatter[0], several.scatter[:2].mean(axis=0), atol=1e-3)
    np.testing.assert_allclose(one.attributes[3], several.attributes[3:].mean(axis=0), atol=1e-3)
    # a contrast of the concept has the variance that the same contrast of its forms has
    weights = pd.DataFrame([[1.0, 0, -1.0, 0]], index=["he"], columns=list(one.attribute_words))
    spread = pd.DataFrame([[0.5, 0, -0.5], [0.5, 0, -0.5]], index=["he", "him"], columns=["nurse", "doctor", "math"])
    # how near the stereotypes are is measured from the protected words, of which a concept is one
    plain, other = (replace(each, near=None) for each in (one, several))
    assert plain.covariance(weights) == pytest.approx(other.covariance(spread), rel=0.05)


FAMILY = [["mother", "mothers"], ["son", "sons"], ["sister", "sisters"], ["father", "fathers"], ["brother", "brothers"]]


def family(forms):
    """Word lists of the family, the words of each concept as one or apart."""
    own = {"a": FAMILY[:3], "b": FAMILY[3:]}
    attributes = own if forms else {name: [w for concept in listed for w in concept] for name, listed in own.items()}
    return bb.WordLists("family", {"a": ["he", "him", "boy"], "b": ["she", "girl"]}, attributes)


def test_attribute_concepts_are_correlated_as_the_means_over_forms_that_they_are(tmp_path, slice_vectors):
    table = bb.distance_table(slice_vectors, family(True))
    bb.write_distance_table(table, tmp_path / "t.parquet")
    one, several = (
        bb.relatedness(bb.read_distance_table(tmp_path / "t.parquet")),
        bb.relatedness(slice_vectors, family(False)),
    )
    weights = np.random.default_rng(0).normal(size=(3, 5, 5))
    expected = several.covariance(np.repeat(weights, 2, axis=2) / 2)
    np.testing.assert_allclose(one.covariance(weights), expected, rtol=1e-9)
    # a list of concepts has the mean of all forms, and its cell their covariance
    cells, apart = (
        models.related.related_sums(models.tree.read_distances(bb.distance_table(slice_vectors, family(forms))))
        for forms in (True, False)
    )
    np.testing.assert_allclose(cells.y, apart.y, atol=1e-9)
    np.testing.assert_allclose(cells.covariance, apart.covariance, rtol=1e-9)
    own = one.own_correlations(one.attribute_words)
    assert own.max() <= 1
    assert (own.mean(axis=0) < 0.95).all()


def test_the_kernel_of_concepts_predicts_the_scatter_of_their_distances(slice_vectors):
    table = bb.distance_table(slice_vectors, family(True))
    data = models.tree.read_distances(table)
    kernels, sums = models.related.kernels_of(data), models.related.related_sums(data)
    parts, words = kernels.components, data.attribute_words.tolist()
    np.testing.assert_allclose(
        [np.diag(kernels.mean(each)) for each in kernels.correlations],
        data.relatedness.own_correlations(words),
    )
    # expected scatter within the cells of a class, from the kernel: variances less the variance of the mean
    variance = parts.loadings**2 * parts.variances / data.relatedness.factors_of(parts)
    lists = models.related.cell_lists(data)
    stereotype = 0.0
    for word, connection, at in zip(lists.word, lists.connection, lists.listed, strict=True):
        if data.connections[connection] in ("associated", "different"):
            own = lists.member[at]
            each = [kernels.mean(kernels.correlations[q])[np.ix_(own, own)] for q in range(len(parts.variances))]
            stereotype += sum(
                v * (np.trace(k) - k.mean() * own.sum()) for v, k in zip(variance[word], each, strict=True)
            )
    # differences between groups count as much as single words
    np.testing.assert_allclose(sums.expected[0], 2 * stereotype, rtol=1e-6)
    assert bb.checks.check_relatedness(table)["predicted"].gt(0).any()
    post = bb.fit(table, seed=0)
    assert post.attrs["attribute_words"] == "related"
    assert np.isfinite(bb.contrasts(post, "associated", "different")["mean"]).all()


@pytest.mark.parametrize(
    ("language", "protected", "said"),
    [
        ("de-AT", [["he", "gone"]], "not all forms of he"),
        ("de", [["he", "walk"]], ""),
    ],
)
def test_grammatical_gender_is_said_once(language, protected, said):
    lists = bb.WordLists("l", {"a": protected, "b": ["she"]}, {"a": ["boss"], "b": ["nurse"]}, language=language)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", bb.errors.CoverageWarning)  # of forms that are lost
        table = measured(lists)
    assert len(caught) == bool(said)
    found = [note.numbers for note in notes(table) if note.code == "gender"]
    assert [(each["language"], each["forms"]) for each in found] == ([(language, said)] if said else [])
