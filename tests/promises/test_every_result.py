"""Results share one shape: frozen, a table, notes, text, and the same in a notebook."""

import dataclasses

import pandas as pd
import pytest

import bayesbias as bb
from bayesbias._support.results import Result

ELSEWHERE = {"Coefficients", "Criterion", "FitReport", "MetricTable", "Pool", "Trend"}
"""Results that other tests make: of commands, of reports and of several embeddings."""
LISTS = bb.WordLists(
    "mine",
    {"a": ["p", "q", "<b>r"], "b": ["s", "t", "u"]},
    {"a": ["k", "l", "c"], "b": ["m", "n", "d"]},
    {"human": ["h", "i", "j", "x"], "neutral": [f"n{number}" for number in range(14)]},
)
QUERY = bb.Query({"x": ["p", "q"], "y": ["s", "t"]}, {"a": ["k", "l", "c"], "b": ["m", "n", "d"]})
COUNTS = {word: 1.0 + place for place, word in enumerate(LISTS.every_word())}
PAIRS = [("k", "m"), ("l", "n"), ("c", "d")]


def classes():
    """Every result by the name of its class."""
    for name in bb.__all__:
        getattr(bb, name)  # the rooms are loaded when they are first used
    known = {one.__name__: one for one in leaves(Result) if one.__module__.startswith("bayesbias.")}
    return {name: one for name, one in known.items() if name not in ELSEWHERE}


def leaves(one):
    """The classes below one that have none below them."""
    return {leaf for below in one.__subclasses__() for leaf in leaves(below)} or {one}


MULTIVERSE = {
    "decisions": {"embedding": ["google-news-slice"], "words": ["weat7"], "metric": ["contrast", "weat"]},
    "replicates": 5,
}
SWEEP = {"embeddings": ["google-news-slice"], "words": ["weat7"], "models": ["related"], "draws": 400}


@pytest.fixture(scope="module")
def results(random_embedding, text_encoder, tmp_path_factory):
    """One result of each class."""
    kv, other = (random_embedding(LISTS, seed) for seed in (1, 2))
    related = bb.distance_table(kv, LISTS)
    table, after = (bb.distance_table(one, LISTS, relatedness=False) for one in (kv, other))
    post = bb.fit(table, "published", draws=400, seed=1)
    result = bb.compare(before=table, after=after, draws=400, seed=1)
    silhouette = bb.silhouettes.silhouette(kv, QUERY, "weat_effect_size", runs=3)
    scores = bb.reliability.bias_scores(
        [kv, other, random_embedding(LISTS, 3)], list("pqstu"), PAIRS, ["db_wa", "ripa"]
    )
    settings = {
        bb.stability.Setting(name, "sgns", 12, seed): random_embedding(LISTS, 10 * place + seed)
        for place, name in enumerate("abc")
        for seed in range(2)
    }
    study = bb.stability.direct_bias_study(settings, list("pqstu"), PAIRS, draws=20, random_pairs=20)
    debiased = bb.debias(kv, "project", definitional=PAIRS)
    shape = {"groups": {"g": 3, "h": 3}, "stereotypes": {"g": 3, "h": 3}, "human": 6}
    vectors = bb.encode(text_encoder, LISTS, ["{}", "a {}", "the {}"], vocabulary=450)
    framed = bb.fit(bb.distance_table(vectors, LISTS, relatedness=False), "crossed", draws=400, seed=1)
    family = bb.WordLists(
        "family",
        {"fw": ["queen", "princess"], "fm": ["king", "prince"], "gw": ["girl", "woman"], "gm": ["boy", "man"]},
        {},
        {"human": ["people"]},
        factors={"gender": {"w": ["fw", "gw"], "m": ["fm", "gm"]}, "rank": {"f": ["fw", "fm"], "g": ["gw", "gm"]}},
    )
    gender, affluence = (bb.axis("glove-50d-slice", name, words=["nurse", "guard"]) for name in ("gender", "affluence"))
    found = [
        bb.frame_effects(framed),
        bb.audit("glove-50d-slice", "gender"),
        gender,
        bb.angle(gender, affluence),
        bb.quadrants(gender, affluence, ["nurse", "banker", "maid"]),
        bb.intersections(affluence, family),
        bb.balance(table, COUNTS),
        bb.checks.cluster_interval(table),
        bb.checks.check_words(LISTS, kv),
        bb.cite(table),
        result,
        bb.checks.bootstrap_metric("weat", kv, QUERY, draws=20, posterior=False),
        bb.plan(table, seed=1),
        bb.checks.prior_sensitivity(post),
        bb.rank({"one": kv, "two": other}, QUERY, "weat", draws=5),
        bb.relatedness(related),
        bb.side_effects(table, after, kv, other, k=5, words=20, draws=50, comparison=result),
        bb.topic_null(kv, LISTS, replicates=5),
        bb.diagnose(post),
        bb.multiverse(MULTIVERSE),
        bb.sweep(SWEEP, tmp_path_factory.mktemp("sweep") / "out", "serial"),
        bb.calibration.null_distribution(None, table, "associated - neutral", draws=5),
        bb.calibration.simulate_null_weat(draws=20),
        bb.calibration.sbc("published", shape, replicates=3, draws=19),
        bb.calibration.prior_check("audit", replicates=3),
        bb.metric("weat", kv, QUERY),
        debiased.bayesbias_debiasing,
        silhouette,
        bb.reliability.variance_components(scores, draws=400, seed=1),
        study,
        bb.stability.metric_stability(settings, QUERY, ["weat"], contrast=False, draws=400, random_pairs=20),
        bb.stability.setting_components(study.table(), draws=400, seed=1),
    ]
    several = {"Balance of several": bb.balance({"a": table, "b": table}, COUNTS)}
    return {type(one).__name__: one for one in found} | several


SHOWN = sorted({*classes(), "Balance of several"} - {"ReliabilityRegression"})
"""What of ReliabilityRegression is in test_reliability_factors."""


def test_every_result_is_of_the_shape():
    assert {"table", "text", "figure", "sources", "sections", "__str__", "_repr_html_"} <= set(vars(Result))
    for name, one in classes().items():
        assert issubclass(one, Result), name
        assert dataclasses.is_dataclass(one), name
        assert one.__dataclass_params__.frozen, name
        assert one.__str__ is Result.__str__, name
        assert one.__repr__ is Result.__repr__, name


@pytest.mark.parametrize("name", SHOWN)
def test_a_result_has_table_notes_and_text(results, name):
    result = results[name]
    table = result.table()
    assert isinstance(table, pd.DataFrame)
    assert len(table) > 0
    assert isinstance(result.notes, tuple)
    assert all(isinstance(note, str) for note in result.notes)
    assert str(result) == repr(result) == result.text() != ""
    page = result._repr_html_()
    assert "<table" in page
    assert "<b>r" not in page
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.notes = ()


def test_a_notebook_shows_the_first_rows_of_a_long_table():
    class Long(Result):
        notes = ()

        def __init__(self, rows):
            self.rows = rows

        def table(self):
            return pd.DataFrame({"row": [f"row {number}" for number in range(self.rows)]})

        def findings(self):
            return ["many"]

    page = Long(1_030)._repr_html_()
    assert page.count("<td>") == 20
    assert "row 19<" in page
    assert "1,010 further rows" in page
    assert "further" not in Long(20)._repr_html_()


@pytest.mark.usefixtures("without_pictures")
@pytest.mark.parametrize("name", SHOWN)
def test_a_result_has_a_picture_a_page_and_sources(results, name, tmp_path):
    result = results[name]
    figure = result.figure()
    assert (figure is None) == (result.picture is None)
    with pytest.raises(bb.InputError, match="colour is no option: "):
        result.figure(colour="red")
    titles = [section.title for section in result.sections()]
    assert titles
    assert all(section.blocks for section in result.sections())
    page = bb.report(result, tmp_path / "page.md").read_text(encoding="utf-8")
    assert [line.removeprefix("## ") for line in page.splitlines() if line.startswith("## ")][: len(titles)] == titles
    assert result.findings()[0].split()[0] in page
    assert bb.report(result, tmp_path / "page.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert ("## How to cite" in page) == bool(result.sources())


def test_what_a_result_rests_on_is_cited(results):
    assert {"metric weat", "query unnamed"} & set(bb.cite(results["MetricResult"]).table()["what"])
    assert "embedding glove-50d-slice" in set(bb.cite(results["Audit"]).table()["what"])
    cited = bb.cite(results["Ranking"]).table().set_index("what")["source"]
    assert cited["metric weat"].startswith("Caliskan")
    with pytest.raises(bb.InputError, match="nothing is known of the sources of Plan"):
        bb.cite(results["Plan"])


@pytest.mark.parametrize(
    "name", ["Comparison", "MetricUncertainty", "SettingComponents", "TopicNull", "VarianceComponents"]
)
def test_intervals_are_those_that_are_asked_for(results, name):
    result = results[name]
    low, high = "low", "high"
    if low not in result.table():
        low, high = (column for column in result.table() if str(column).endswith(("_low", "_high")))
    wide, narrow = (result.table(prob=prob) for prob in (0.9, 0.5))
    assert (wide[high] - wide[low] >= narrow[high] - narrow[low]).all()
    with pytest.raises(bb.InputError, match="prob is 2"):
        result.table(prob=2)
