"""Sentences of reports would be missing, never shown, or computed where no test looks."""

import ast
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from jinja2 import Environment, UndefinedError, nodes
from jinja2.runtime import Macro

import bayesbias as bb
from bayesbias._support.prose import FOLDER, Prose
from bayesbias._support.results import FORMATS
from bayesbias.models.tree import Fit
from bayesbias.reporting.fit_report import FitReport
from bayesbias.reporting.methods import methods_section
from bayesbias.reporting.metric_table import MetricTable

PAGES = ("fit", "change", "metrics", "methods", "axis")
READERS = {
    "fit": ("reporting/fit_report.py", "reporting/verdicts.py"),
    "change": ("comparison/change_report.py",),
    "metrics": ("reporting/metric_table.py",),
    "methods": ("reporting/methods.py",),
    "axis": ("axes/places.py",),
}
ARITHMETIC = (nodes.Add, nodes.Sub, nodes.Mul, nodes.Div, nodes.FloorDiv, nodes.Mod, nodes.Pow, nodes.Neg)


def parsed(page):
    return Environment().parse((FOLDER / f"{page}.jinja").read_text(encoding="utf-8"))  # noqa: S701  # plain text


def macros(page):
    return {macro.name for macro in parsed(page).find_all(nodes.Macro)}


def test_every_file_of_templates_is_known():
    assert {path.stem for path in FOLDER.iterdir()} == set(PAGES)


@pytest.mark.parametrize("page", PAGES)
def test_templates_hold_words_and_no_arithmetic(page):
    tree = parsed(page)
    assert not list(tree.find_all((*ARITHMETIC, nodes.Import, nodes.FromImport, nodes.Include, nodes.Extends)))
    assert len(macros(page)) == len(list(tree.find_all(nodes.Macro)))


def asked(page):
    """Macros that the code of a page asks for, and those of them whose tables it asks for."""
    trees = [ast.parse((Path(bb.__file__).parent / name).read_text(encoding="utf-8")) for name in READERS[page]]
    calls = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call)]
    of_words = [
        call for call in calls if isinstance(call.func, ast.Attribute) and getattr(call.func.value, "id", "") == "WORDS"
    ]
    tables = {call.args[0].value for call in of_words if call.func.attr == "table"}
    return {call.func.attr for call in of_words} - {"table"} | tables, tables


@pytest.mark.parametrize("page", PAGES)
def test_every_macro_is_asked_for_by_the_code_or_by_others_of_its_file(page):
    called = {call.node.name for call in parsed(page).find_all(nodes.Call) if isinstance(call.node, nodes.Name)}
    assert asked(page)[0] | called - {"caller"} == macros(page)


@pytest.mark.parametrize("page", PAGES[:2])
def test_every_heading_belongs_to_a_table(page):
    tables = Prose(page).columns
    assert asked(page)[1] == set(tables) <= macros(page)
    assert {kind for columns in tables.values() for _, kind in columns.values()} <= set(FORMATS)


@pytest.fixture
def rendered(monkeypatch):
    """Macros that are rendered, by page."""
    found, render = {page: set() for page in PAGES}, Macro.__call__

    def noted(macro, *given, **named):
        found[Path(macro._func.__code__.co_filename).stem].add(macro.name)
        return render(macro, *given, **named)

    monkeypatch.setattr(Macro, "__call__", noted)
    return found


def fits():
    """Tables whose fits have, between them, every sentence; options of the fit, and what its page is given."""
    religion = bb.distance_table("glove-50d-slice", "religion")
    lists = religion.drop_duplicates(["attribute_class", "attribute_word"]).groupby("attribute_class")
    few = religion[religion["attribute_word"].isin(lists.head(5)["attribute_word"])]
    topics = bb.topic_null("glove-50d-slice", "religion", replicates=20, seed=0)
    plain, torah = pd.DataFrame(few), few["protected_word"] == "torah"
    yield few, {}, {"sensitivity": True}
    yield religion, {}, {"topics": topics}
    yield bb.distance_table("google-news-slice", "gender"), {}, {}
    topics = bb.topic_null("google-news-slice", "weat7", replicates=19, seed=0)
    yield bb.distance_table("google-news-slice", "weat7"), {"adjust": "length"}, {"topics": topics}
    yield plain[~torah | (few["connection"] != "different")], {}, {}
    yield plain[torah], {}, {}
    pairs = bb.load_list("gender_pairs").pairs
    equal = bb.debias("google-news-slice", "hard", definitional=pairs, equalize=pairs)
    yield bb.distance_table(equal, "gender"), {}, {}
    yield plain[few["connection"] == "neutral"], {}, {}


def test_every_macro_of_a_fit_is_rendered(rendered):
    made = [(bb.fit(table, seed=0, **options), given) for table, options, given in fits()]
    groups = {"a": ("priest", "church", "bible"), "b": ("imam", "mosque", "koran"), "c": ("table", "chair", "lamp")}
    stereotypes = {"a": ("greedy", "rich", "old"), "b": ("violent", "dirty", "poor")}
    lists = bb.WordLists("one without", groups, stereotypes, {})
    FitReport(Fit.read(bb.fit(bb.distance_table("glove-50d-slice", lists), seed=0))).answer()
    means = made[3][0]["posterior"].to_dataset()[["word_mean"]]
    elsewhere = bb.from_draws(means, bb.distance_table("google-news-slice", "weat7"))
    unread = made[0][0].copy()
    unread.attrs = {**unread.attrs, "grid_mass_outside": 0.5}
    FitReport(Fit.read(unread)).answer()
    for post, given in (*made, (elsewhere, {})):
        report = FitReport(Fit.read(post), **{"sensitivity": False, **given})
        report.front()
        report.sections()
    assert macros("fit") - rendered["fit"] == set()


def test_every_macro_of_a_comparison_is_rendered(rendered, religion, slice_vectors, hard_debiased):
    moved = religion["group"].map({"jew": 0.35, "christian": -0.25, "muslim": 0.1})
    own = religion["connection"] == "associated"
    apart = religion.assign(distance=religion["distance"] + np.where(own, moved, 0.0))
    plain = pd.DataFrame(religion[religion["connection"] != "neutral"])
    noise = np.random.default_rng(0).normal(0.01, 0.01, len(plain))
    noisy = plain.assign(distance=plain["distance"] + noise)
    first = plain["connection"] == "associated"
    vectors = (slice_vectors, hard_debiased)
    pair = [bb.distance_table(kv, "weat7") for kv in vectors]
    effects = bb.side_effects(*vectors, "weat7", k=10, biased=50)
    for tables, options, given in (
        ((religion, bb.DistanceTable(apart, truth={})), {}, {}),
        ((religion, religion), {}, {}),
        ((religion, bb.DistanceTable(religion.assign(distance=religion["distance"] * 1.0001), truth={})), {}, {}),
        ((plain, noisy), {"draws": 40}, {}),
        ((plain[first], noisy[first]), {"draws": 400}, {}),
        (pair, {}, {"effects": effects}),
    ):
        result = bb.compare(before=tables[0], after=tables[1], seed=0, **options)
        result.front(**given)
        result.sections(**given)
    bb.compare({"a": pair[0], "b": pair[1], "c": pair[0]}, seed=0).front()
    assert macros("change") - rendered["change"] == set()


def test_every_macro_of_metrics_is_rendered(rendered, slice_vectors):
    for queries in (["weat6", "weat7"], ["weat6", "weat7", "weat8"]):  # values one by one, and counted
        result = MetricTable(bb.run_metrics(slice_vectors, queries, ["weat", "weat_effect_size", "mac"]))
        page = result.front()
        result.sections()
    assert page.answer == (
        "6 of 6 values of weat, weat_effect_size are above 0: there the first target set is nearer to the first "
        "attribute set than the second target set is."
    )
    assert page.lines["In detail"] == "9 values of 3 metrics for 3 queries and 1 embedding."
    assert macros("metrics") == rendered["metrics"]


def test_every_macro_of_an_axis_is_rendered(rendered):
    bb.axis("glove-50d-slice", "gender", words=["actress", "captain", "nurse"]).front()
    bb.axis("glove-50d-slice", [("lamp", "tuesday"), ("carpet", "senator")], words=["captain", "nurse"]).front()
    assert macros("axis") == rendered["axis"]


def test_every_macro_of_methods_is_rendered(rendered, slice_vectors, text_encoder):
    lists = bb.load_words("weat7")
    table = bb.distance_table(slice_vectors, lists)
    projected = bb.debias(slice_vectors, "project", definitional=[("he", "she")])
    debiased = bb.distance_table(projected, lists)
    scores = [("he", "she", 9.0), ("man", "woman", 8.0), ("poetry", "math", 2.0), ("art", "dance", 6.0)]
    scores += [("math", "algebra", 8.5), ("poetry", "dance", 4.0), ("he", "man", 7.0), ("she", "woman", 7.5)]
    complete = bb.distance_table(slice_vectors, replace(lists, controls={}))
    encoded = bb.distance_table(bb.encode(text_encoder, lists, ["{}", "a {}", "the {}"], vocabulary=450), lists)
    controls = {"things": ("male", "Sky", "tree", "stone")}
    otherwise = bb.distance_table("glove-50d-slice", replace(lists, controls=controls), case="fallback")
    post = bb.fit(complete, seed=0, draws=400)
    elsewhere = bb.from_draws(post["posterior"].to_dataset()[["word_mean"]], complete)
    plain = bb.fit(pd.DataFrame(complete), "crossed", seed=0, draws=400)
    words = ["nurse", "banker", "maid", "lawyer", "janitor", "designer", "manager", "soldier"]
    places = bb.axis("glove-50d-slice", "gender", words=words, adjust="frequency")
    values = dict(zip(words, range(8), strict=True))
    texts = ["the bank lends money", "a bank of money", "the bank of a river", "money in the bank"] * 3
    speeches = pd.DataFrame({"text": texts, "side": ["a", "b"] * 6})
    sample = bb.instances(speeches, "bank", "glove-50d-slice", transform=np.eye(50))
    bb.methods_text(post, topics=bb.topic_null(slice_vectors, lists, replicates=19, seed=0))
    three = {"a": table, "b": debiased, "c": bb.distance_table("glove-50d-slice", lists)}
    outside = pd.DataFrame({"x": [1.0, 2.0, 4.0]}, index=list(three))
    one_group = table[(table["group"] == "math") & (table["connection"] != "different")]
    from_table = bb.fit(pd.DataFrame(one_group), "crossed", seed=0, draws=400)
    few_metrics = ["weat", "weat_effect_size"]
    for result in (
        *(bb.fit(each, seed=0, draws=400, adjust="length") for each in (table, debiased, encoded, otherwise)),
        bb.fit(encoded, seed=0, draws=400),
        plain,
        elsewhere,
        bb.compare(before=table, after=debiased, seed=0, draws=400),
        bb.side_effects(slice_vectors, projected, lists, similarity=scores),
        bb.compare(before=pd.DataFrame(complete), after=pd.DataFrame(complete), seed=0, draws=400),
        bb.pool(three, on=outside, draws=400),
        bb.criterion(from_table, dict(zip(lists.protected["math"], range(8), strict=True)), draws=400),
        bb.run_metrics(slice_vectors, ["weat7"], few_metrics),
        bb.metric("weat", slice_vectors, "weat7", p_value=True),
        bb.rank({"a": slice_vectors, "b": "glove-50d-slice"}, "weat7", few_metrics, draws=5, replicates=0),
        places,
        bb.audit("glove-50d-slice", "gender", most_frequent=2000),
        bb.criterion(places, values, draws=400, adjust="length"),
        bb.covariates(sample, "side").contrast(["loan", "cash"], ["water", "lake"]),
    ):
        bb.methods_text(result)
    assert methods_section(places).title == "Methods text for a paper"
    assert macros("methods") == rendered["methods"]


def test_a_number_that_was_not_given_is_an_error():
    assert Prose("change").coverage(name="a") == "a: words asked for and found, by list"
    with pytest.raises(UndefinedError, match="name"):
        Prose("change").coverage()
    with pytest.raises(TypeError, match="nome"):
        Prose("change").coverage(nome="a")
    with pytest.raises(AttributeError):
        Prose("change").sentence_of_nobody()


def test_texts_are_plain_and_stand_on_one_line():
    text = Prose("fit").nothing_associated(present=["<b>", "a & b"])
    assert text == "The table holds <b>, a & b distances only: there is no contrast of associated words to report."
