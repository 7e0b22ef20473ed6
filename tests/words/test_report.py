"""A report would run what a word holds, fetch something, or say other numbers than the fit."""

import base64
import hashlib
import io
import re
from html.parser import HTMLParser
from urllib.parse import unquote

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.comparison import SideEffects
from bayesbias.distances import Coverage
from bayesbias.models.tree import Fit, kept_open
from bayesbias.plots import style

MARKUP = "<script>alert('x')</script>"


class Page(HTMLParser):
    """Collects tags, attributes, ids, text and styles."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.ids, self.attributes, self.text, self.styles, self.scripts = [], [], [], [], [], []
        self.within = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        self.ids += [value for name, value in attrs if name == "id"]
        self.within = tag if tag in ("style", "script") else ""

    def handle_endtag(self, tag):
        self.within = ""

    def handle_data(self, data):
        {"style": self.styles, "script": self.scripts}.get(self.within, self.text).append(data)


@pytest.fixture(scope="module")
def hostile_table():
    """A table whose protected and attribute words hold markup."""
    rng = np.random.default_rng(0)
    centre = {"associated": 0.80, "human": 0.85}
    rows = [
        (word, "g", f"{MARKUP} {connection}{at}", "g", connection, rng.normal(centre[connection], 0.05))
        for word in (MARKUP, "a & b", 'quote"')
        for connection in centre
        for at in range(6)
    ]
    names = ["protected_word", "group", "attribute_word", "attribute_class", "connection", "distance"]
    lists = [{"list": MARKUP, "kind": "protected", "asked": 4, "found": 3, "missing": [MARKUP]}]
    return bb.DistanceTable(pd.DataFrame(rows, columns=names), coverage=Coverage(MARKUP, lists))


@pytest.fixture(scope="module")
def hostile(hostile_table):
    return bb.fit(hostile_table, seed=0)


@pytest.fixture(scope="module")
def comparison(hostile_table):
    """A comparison of a table with one that has moved, under names that hold markup."""
    noise = np.random.default_rng(1).normal(0.02, 0.02, len(hostile_table))
    after = hostile_table.assign(distance=hostile_table["distance"] + noise)
    return bb.compare({MARKUP: hostile_table, "after & co": after}, seed=0)


@pytest.fixture(scope="module")
def pages(hostile, comparison, religion_fit, tmp_path_factory):
    folder = tmp_path_factory.mktemp("reports")
    results = {"hostile": hostile, "religion": religion_fit, "comparison": comparison}
    return {
        name: bb.report(result, folder / f"{name}.html").read_text(encoding="utf-8") for name, result in results.items()
    }


@pytest.mark.parametrize("name", ["hostile", "religion", "comparison"])
def test_nothing_else_runs_and_nothing_is_fetched(pages, name):
    page = Page(pages[name])
    assert page.tags.count("script") == 1
    assert MARKUP not in "".join(page.scripts)
    assert not {"iframe", "object", "link", "form"} & set(page.tags)
    assert not [a for a in page.attributes if a[1].startswith("on") or a[1] == "style"]
    links = [value for _, attribute, value in page.attributes if attribute in ("href", "src", "xlink:href")]
    assert all(value.startswith(("#", "data:image/svg+xml,")) for value in links)
    assert "http" not in "".join(page.styles)
    assert len(page.ids) == len(set(page.ids))


@pytest.mark.parametrize("name", ["hostile", "religion", "comparison"])
def test_the_policy_allows_the_one_style_sheet_and_script_and_no_more(pages, name):
    page = Page(pages[name])
    policy = next(v for tag, attribute, v in page.attributes if attribute == "content" and "default-src" in v)
    assert policy.startswith("default-src 'none';")
    for what, held in (("style", page.styles), ("script", page.scripts)):
        digest = base64.b64encode(hashlib.sha256("".join(held).encode()).digest()).decode()
        assert f"{what}-src 'sha256-{digest}'" in policy
    assert "unsafe" not in policy


def test_markup_in_words_is_shown(pages):
    assert MARKUP not in pages["hostile"]
    text = "".join(Page(pages["hostile"]).text)
    assert text.count(MARKUP) >= 5
    assert "a & b" in text


def test_pictures_say_what_they_show(pages):
    page = Page(pages["religion"])
    said = [value for tag, name, value in page.attributes if tag == "img" and name == "alt"]
    assert len(said) == len(set(said)) == page.tags.count("img") == 8
    assert "Associated − human as a sum of parts" in said


def test_markup_in_pictures_is_shown(pages):
    page = Page(pages["hostile"])
    drawn = [value for tag, name, value in page.attributes if tag == "img" and name == "src"]
    pictures = [Page(unquote(address.removeprefix("data:image/svg+xml,"))) for address in drawn]
    assert all(picture.tags.count("svg") == 1 and "script" not in picture.tags for picture in pictures)
    words = "".join(text for picture in pictures for text in picture.text)
    assert "a & b" in words
    assert MARKUP in words


def test_the_report_holds_what_was_asked_found_and_concluded(pages, religion, religion_fit):
    text = re.sub(r"\s+", " ", " ".join(Page(pages["religion"]).text)).replace("\N{MINUS SIGN}", "-")
    row = bb.contrasts(religion_fit).iloc[0]
    assert "closer to their own stereotypes than to the stereotypes of other groups" in text
    assert f"On average the difference is {row['mean']:.3f} (negative: closer; 89% interval {row['low']:.3f} to" in text
    for part in bb.decomposition(religion_fit).to_dict("records")[3:6]:
        shown = f"{part['contrast']} {part['mean']:.3f} {part['sd']:.3f} {part['low']:.3f}"
        assert f"{part['protected_word']} {shown}" in text
    assert "estimates from the vectors how the distances of similar words are correlated" in text
    assert "This fit passes its checks, with limits." in text
    cluster = bb.checks.cluster_interval(religion_fit)
    assert f"interval {cluster.low:.3f} to {cluster.high:.3f}" in text
    published = bb.contrasts(bb.fit(religion, "published", seed=1)).iloc[0]
    ends = [f"{row[end]:.3f}" for row in (published, row) for end in ("low", "high")]
    assert f"{ends[0]} to {ends[1]} under published, {ends[2]} to {ends[3]} under related" in text
    assert "What would decide it for further words?" in text
    assert "neutral control 226 61" in text
    assert "Methods text for a paper" in text
    assert "10.1162/coli_a_00507" in text
    assert religion_fit.attrs["model_hash"][:16] in text
    shares = bb.check_predictions(religion_fit)
    assert f"{100 * shares['inside_89'][0]:.0f}%" in text


@pytest.mark.usefixtures("without_pictures")
def test_a_fit_that_did_not_converge_says_so_first(religion, tmp_path):
    path = bb.report(bb.fit(religion, draws=40, seed=0), tmp_path / "r.html", sensitivity=False)
    text = path.read_text(encoding="utf-8")
    assert text.index("This fit should not be read") < text.index("What was measured")
    assert 'class="fault"' in text


def test_a_table_without_associated_words_has_a_report(tmp_path, religion):
    post = bb.fit(religion[religion["connection"] == "neutral"], draws=400, seed=0)
    text = bb.report(post, tmp_path / "r.html", sensitivity=False).read_text(encoding="utf-8")
    assert "there is no contrast of associated words to report" in text


def test_the_same_fit_gives_the_same_report(pages, hostile, tmp_path):
    assert bb.report(hostile, tmp_path / "again.html").read_text(encoding="utf-8") == pages["hostile"]


def test_what_cannot_be_reported_is_refused_and_leaves_nothing(hostile, comparison, tmp_path):
    effects = SideEffects(*[pd.DataFrame()] * 5, 0.89, ())
    for result, name, options, message in (
        (hostile, "r.pdf", {}, r"ends in \.html or \.htm or \.md"),
        (comparison, "r.pdf", {}, "html"),
        (hostile, "absent/r.html", {}, r"there is no folder .*absent"),
        (hostile, "r.html", {"format": "md"}, r"ends in \.md"),
        (hostile, "r.html", {"format": "pdf"}, "format is 'pdf'"),
        (hostile, "r.html", {"pictures": tmp_path / "absent"}, "there is no such folder"),
        (hostile, "r.html", {"effects": effects}, "effects belong to a comparison"),
        (comparison, "r.html", {"effects": 5}, "effects is a int"),
        (pd.DataFrame({"a": [1]}), "r.html", {}, "given is DataFrame"),
    ):
        with pytest.raises(bb.InputError, match=message):
            bb.report(result, tmp_path / name, **options)
    assert list(tmp_path.iterdir()) == []


def test_sentences_follow_the_numbers(religion):
    far, level = (religion.without_relatedness() for _ in range(2))
    far.loc[far["connection"] == "associated", "distance"] += 0.6
    first = bb.checks.verdict_sentences(bb.fit(far, seed=0))[0]
    assert first.startswith("No: on average these protected words are farther from their own stereotypes than from")
    assert "probability of farther > 99.9%, for these protected words" in first
    level["distance"] += 0.9 - level["connection"].map(level.groupby("connection")["distance"].mean())
    first = bb.checks.verdict_sentences(bb.fit(level, seed=0))[0]
    assert first.startswith("Inconclusive: whether these protected words are closer")
    assert "The interval includes 0." in first


def test_a_report_on_a_comparison_begins_with_what_changed(pages, comparison):
    text = pages["comparison"]
    shown = re.sub(r"\s+", " ", "".join(Page(text).text))
    places = [shown.index(f"{part}.") for part in ("What changed", "For whom", "How certain", "What broke")]
    assert places == sorted(places)
    assert re.sub(r"\s+", " ", comparison.sentences()[0]) in shown
    assert text.count("<img") == 3
    assert MARKUP not in text


@pytest.mark.full
def test_the_commands_make_the_same_fit(tmp_path, slice_vectors, hard_debiased):
    """What a command cannot say is said beside it: another prior, a debiased embedding."""
    table = bb.distance_table(slice_vectors, "gender")
    for post, sentences in (
        (
            bb.fit(table, "crossed", draws=800, seed=3, priors={"sigma": {"rate": 5}}),
            [
                "bayesbias fit distances.parquet --model MODEL.toml --seed 3 --draws 800 --out fit.nc",
                "MODEL.toml is the model below",
            ],
        ),
        (
            bb.fit(table, "related", draws=400, seed=3, adjust="frequency"),
            ["bayesbias distances google-news-slice gender", "--model related --seed 3 --draws 400 --adjust frequency"],
        ),
        (
            bb.fit(bb.distance_table(hard_debiased, "gender"), seed=1),
            [
                "bayesbias distances DEBIASED.npz gender",
                "DEBIASED.npz is the embedding debiased in the same way (hard: ",
            ],
        ),
    ):
        page = bb.report(post, tmp_path / "page.md").read_text(encoding="utf-8")
        assert all(sentence in page for sentence in sentences)


@pytest.mark.usefixtures("without_pictures")
def test_a_chance_check_is_reproduced_by_the_page(tmp_path, slice_vectors):
    post = bb.fit(bb.distance_table(slice_vectors, "weat7"), seed=0)
    topics = bb.topic_null(slice_vectors, "weat7", replicates=19, seed=3)
    page = bb.report(post, tmp_path / "page.md", topics=topics, sensitivity=False).read_text(encoding="utf-8")
    call = "bb.topic_null('google-news-slice', 'weat7', replicates=19, seed=3)"
    assert f'bb.report(post, "report.html", topics={call})' in page.replace("\\", "")
    again = bb.topic_null("google-news-slice", "weat7", replicates=19, seed=3)
    assert again.sentence == topics.sentence


@pytest.mark.usefixtures("without_pictures")
def test_distances_of_an_adjusted_fit_are_called_adjusted(tmp_path, slice_vectors):
    table = bb.distance_table(slice_vectors, "weat7")
    for options, unit in (({}, "cosine distance"), ({"adjust": "length"}, "cosine distance, adjusted for length")):
        post = bb.fit(table, seed=0, **options)
        page = bb.report(post, tmp_path / "page.md", sensitivity=False).read_text(encoding="utf-8")
        assert f"nearest to the words of each group, with their means ({unit})" in page


@pytest.mark.parametrize("sought", [True, False], ids=["layout", "no layout"])
def test_pictures_are_written_as_savefig_writes_them(religion, sought):
    def written(write, buffer):
        figure = bb.plot_distances(religion, "muslim")
        if not sought:
            figure.set_layout_engine("none")
        before = figure.dpi
        write(figure, buffer)
        assert figure.dpi == before
        return buffer.getvalue()

    nobody = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    png = written(lambda figure, file: figure.savefig(file, dpi=150, format="png"), io.BytesIO())
    assert written(lambda figure, file: style.write_png(figure, file, 150), io.BytesIO()) == png
    with mpl.rc_context({"svg.hashsalt": "x"}):
        svg = written(lambda figure, file: figure.savefig(file, format="svg", metadata=nobody), io.StringIO())
        assert written(style.write_svg, io.StringIO()) == svg


def test_a_fit_that_is_kept_open_is_read_once(religion_fit):
    apart = bb.contrasts(religion_fit)
    with kept_open(Fit.read(religion_fit)):
        assert Fit.read(religion_fit) is Fit.read(religion_fit)
        assert Fit.read(religion_fit).data is Fit.read(religion_fit).data
        pd.testing.assert_frame_equal(bb.contrasts(religion_fit), apart)
        assert Fit.read(religion_fit.copy()) is not Fit.read(religion_fit)
    assert Fit.read(religion_fit) is not Fit.read(religion_fit)
