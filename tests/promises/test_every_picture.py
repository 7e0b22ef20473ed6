"""A picture could alter matplotlib for its reader, hide words, or draw other numbers than its table has."""

import inspect
import io
import re
from dataclasses import replace
from functools import cache, partial
from itertools import combinations, pairwise

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.text import Text

import bayesbias as bb
from bayesbias import plots
from tests.promises.test_every_argument import FUNCTIONS, NAMES, valid_call

FOUR = ("associated", "different", "human", "neutral")
ODD = "$x_{{{}}}$ <b>&"
"""A form of words that look like formulas and like marks of a page."""


def table_of(words, connections=FOUR, size=4, name="word{}"):
    rng = np.random.default_rng(0)
    rows = [
        (name.format(word), "g", f"{connection}{at}", connection, connection, rng.normal(0.9, 0.1))
        for word in range(words)
        for connection in connections
        for at in range(size)
    ]
    names = ["protected_word", "group", "attribute_word", "attribute_class", "connection", "distance"]
    return pd.DataFrame(rows, columns=names)


def vectors_of(words, dimensions=8):
    return dict(zip(words, np.random.default_rng(0).normal(size=(len(words), dimensions)), strict=True))


def svg(figure, laid_out=True):
    """The text that savefig writes, laid out once, or not at all."""
    buffer = io.StringIO()
    if not laid_out:
        figure.set_layout_engine("none")
    with mpl.rc_context({"svg.hashsalt": "fixed", "svg.fonttype": "none"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    return buffer.getvalue()


def rows_of(axes):
    """Labels of rows from the top."""
    return [label.get_text() for label in axes.get_yticklabels()]


def texts(figure):
    return {text for axes in figure.axes for text in [*(each.get_text() for each in axes.texts), *rows_of(axes)]}


def titles(figure):
    return [axes.get_title(loc="left") for axes in figure.axes]


def noted(figure):
    return figure._supxlabel.get_text().replace("\n", " ") if figure._supxlabel else ""


def legend_of(holder):
    """The texts of the legend of axes, or of the first legend of a figure."""
    legend = holder.legends[0] if isinstance(holder, Figure) else holder.get_legend()
    return [text.get_text() for text in legend.get_texts()]


def scattered(axes, column=0):
    """One coordinate of what is scattered, for each collection of points."""
    return [each.get_offsets()[:, column] for each in axes.collections if isinstance(each, PathCollection)]


def points(axes, column=0):
    """One coordinate of all that is scattered."""
    return np.concatenate([np.empty(0), *scattered(axes, column)])


def bars(axes, width):
    """The ends (low, high) of all horizontal bars of a width of line."""
    held = [each for each in axes.collections if isinstance(each, LineCollection) and each.get_linewidth()[0] == width]
    return np.array([line[:, 0] for each in held for line in each.get_segments() if len(line)])


OUTER, INNER, MEDIAN, QUARTILES = 1.1, 3.0, 1.6, 4
"""Widths of lines: of intervals, of their halves, of medians of strips, and of their quartiles."""


def lines(axes):
    """Places of vertical lines."""
    return [line.get_xdata()[0] for line in axes.get_lines()]


def same(drawn, expected):
    """Test that numbers are those of a table, in any order."""
    np.testing.assert_allclose(np.sort(np.ravel(drawn)), np.sort(np.ravel(expected)), rtol=1e-7, atol=1e-12)


DRAWN_AGAIN = set()
"""The functions whose picture was drawn twice."""


@pytest.fixture
def through_the_mould(request):
    """A function that draws: a Figure back, no global state, of a size that fits a page; the first of a function twice.

    Under --full all are drawn twice, and written as a notebook shows them.
    """
    every = request.config.getoption("--full")

    def shown(draw, tallest=25.0):
        before, known = dict(mpl.rcParams), plt.get_fignums()
        figure = draw()
        assert isinstance(figure, Figure)
        assert plt.fignum_exists(figure.number)
        assert len(plt.get_fignums()) == len(known) + 1
        assert dict(mpl.rcParams) == before
        inside = tuple(cell.cell_contents for cell in draw.__closure__ or () if inspect.isfunction(cell.cell_contents))
        if every or (draw.__code__, inside) not in DRAWN_AGAIN:
            DRAWN_AGAIN.add((draw.__code__, inside))
            assert svg(figure) == svg(draw())
        else:
            figure.draw_without_rendering()
        if every:  # last, since a layout at another resolution differs by a rounding
            assert figure._repr_png_().startswith(b"\x89PNG")
        width, height = figure.get_size_inches()
        assert 5 < width < 13
        assert 1.5 < height < tallest
        return figure

    return shown


OF_A_FIT = {
    "overview": plots.plot_overview,
    "coefficients": plots.plot_coefficients,
    "predictions": plots.plot_predictions,
    "contrasts": lambda post: plots.plot_contrasts(post, second="neutral"),
    "contrasts with a rope": lambda post: plots.plot_contrasts(post, second="neutral", rope=0.05),
}
of_a_fit = pytest.mark.parametrize("plot", OF_A_FIT.values(), ids=OF_A_FIT.keys())


@pytest.fixture(scope="module")
def fits():
    tables = {
        "four words": table_of(4),
        "fifty words": table_of(50),
        "two connections": table_of(5, ("associated", "neutral")),
        "one distance in each cell": table_of(6, size=1),
        "words that look like formulas": table_of(3, name=ODD),
    }
    return {name: bb.fit(table, seed=0) for name, table in tables.items()}


@of_a_fit
@pytest.mark.parametrize("kind", ["four words", "fifty words", "two connections", "one distance in each cell"])
def test_a_picture_of_a_fit(fits, plot, kind, through_the_mould):
    through_the_mould(lambda: plot(fits[kind]))


@pytest.mark.parametrize("name", ["covariate_contrast", "ranking", "side_effects", "pool", "criterion"])
def test_a_picture_of_a_result(made, name, through_the_mould):
    through_the_mould(getattr(made, name).figure)


TAKES = {
    "plot_axis": "axis returns",
    "plot_change": "compare returns",
    "plot_covariates": "the contrast or axis of covariates returns",
    "plot_components": "variance_components or setting_components returns",
    "plot_ranking": "rank returns",
    "plot_side_effects": "side_effects returns",
    "plot_topic_null": "topic_null returns",
}


@pytest.mark.parametrize("name", TAKES)
def test_a_picture_says_what_it_takes(name):
    with pytest.raises(bb.InputError, match=f"{name} takes what {TAKES[name]}"):
        getattr(plots, name)(table_of(2))


FEW = pd.DataFrame({"name": ["$a$", "b", "b"], "kind": [1, 1, 2], "x": [0.1, 0.2, np.nan]})
FEW = FEW.assign(low=[np.nan, 0.0, 0.0], high=1.0)
REFUSED = {
    "no protected word 'jedi'; it holds word0, word1": lambda of: plots.plot_distances(table_of(2), "jedi"),
    "'weat': valid are associated - different, associated - h": lambda of: plots.plot_topic_null(of.topic_null, "weat"),
    "no silhouette to draw": lambda of: plots.plot_silhouette([]),
    "takes what silhouette returns": lambda of: plots.plot_silhouette([{}]),
    "one metric and one kind of list": lambda of: plots.plot_silhouette(
        {"a": of.silhouette, "b": replace(of.silhouette, metric="rnsb")}
    ),
    "zoom is 'yes': give True or False": lambda of: plots.plot_silhouette(of.silhouette, zoom="yes"),
    "without label, value, low, high, reason: give what ret": lambda of: plots.plot_reliability(table_of(2)),
    "'b' holds int": lambda of: plots.plot_reliability({"a": of.retest, "b": 3}),
    "'a' holds no row": lambda of: plots.plot_reliability({"a": of.retest[:0]}),
    "given is dict without tables": lambda of: plots.plot_reliability({}),
    "labels is 'yes'": lambda of: plots.plot_reliability(of.retest, labels="yes"),
    "a label occurs twice under one measure": lambda of: plots.plot_reliability(
        pd.concat([of.retest, of.retest]), labels=True
    ),
    "no column 'y': name one as value=; it has name, kind, x": lambda of: plots.forest(FEW, value="y"),
    "rows is 'y'": lambda of: plots.forest(FEW, rows="y", value="x"),
    "ax is one panel, and 2 are to be drawn": lambda of: plots.forest(
        FEW, value="x", low="x", panels="kind", ax=Figure().add_subplot()
    ),
    "the table has no row": lambda of: plots.forest(FEW[:0], value="x"),
    "given is list: forest takes what": lambda of: plots.forest([1.0]),
    "table has 1 rows and 1 columns: give a table of numbers": lambda of: plots.matrix(pd.DataFrame({"a": ["x"]})),
    "framed has the shape (1, 1)": lambda of: plots.matrix(pd.DataFrame(np.eye(2)), framed=pd.DataFrame([True])),
    "the column 'group' holds no numbers": lambda of: plots.strip(table_of(2), "group"),
}


@pytest.mark.parametrize("message", REFUSED)
def test_wrong_input_is_refused(made, message):
    with pytest.raises(bb.InputError, match=re.escape(message)):
        REFUSED[message](made)


@of_a_fit
def test_what_is_no_fit_is_refused(plot):
    with pytest.raises(bb.InputError, match="give the DataTree that fit returns"):
        plot(table_of(2))


@pytest.mark.parametrize(
    ("kind", "second"),
    [
        ("four words", "human"),
        ("fifty words", "neutral"),
        ("one distance in each cell", "human"),
        ("words that look like formulas", "human"),
    ],
)
def test_a_picture_of_a_decomposition(fits, kind, second, through_the_mould):
    figure = through_the_mould(lambda: plots.plot_decomposition(fits[kind], second))
    words = fits[kind]["posterior"]["protected_word"].to_numpy().tolist()
    assert {"whole list", *words} <= texts(figure)


@of_a_fit
def test_words_are_text_and_never_formulas(fits, plot):
    figure = plot(fits["words that look like formulas"])
    assert "<svg" in svg(figure)
    if plot not in (plots.plot_overview, plots.plot_predictions):
        assert {ODD.format(word) for word in range(3)} <= texts(figure)


def drawn_by(made, name):
    """What draws a picture, by its options."""
    plot, given = valid_call(made, name)
    return partial(plot, **given)


def inside_and_apart(figure, axes):
    """Test that titles, labels and numbers of panels lie within a figure, and no two of them on one another."""
    figure.draw_without_rendering()
    boxes = {}
    for panel in axes:
        ticks = [*panel.get_xticklabels(), *panel.get_yticklabels()]
        for text in [panel.xaxis.label, panel.yaxis.label, *panel.texts, *panel.findobj(Text)]:
            if text.get_text().strip() and text.get_visible() and text not in ticks:
                boxes[text] = text.get_window_extent()
    for text, box in boxes.items():
        assert min(box.x0, box.y0) >= -1, text
        assert max(box.x1 - figure.bbox.x1, box.y1 - figure.bbox.y1) <= 1, text
    for one, other in combinations(boxes, 2):
        assert not boxes[one].padded(-1).overlaps(boxes[other].padded(-1)), (one, other)


ALL = [name for name in NAMES if name.startswith("plots.")]
ONE_PANEL = [name for name in ALL if "ax" in inspect.signature(FUNCTIONS[name.split(" of ")[0]]).parameters]


@pytest.mark.parametrize("name", ALL)
def test_a_picture_has_the_title_that_is_asked_for(made, name):
    plot = drawn_by(made, name)
    plain, named, bare = (plot(**given) for given in ({}, {"title": "A title $x$"}, {"title": ""}))
    for figure in (plain, named, bare):
        assert isinstance(figure, Figure)
        assert plt.fignum_exists(figure.number)
    if len([axes for axes in plain.axes if axes.get_label() != "<colorbar>"]) == 1:
        assert titles(named)[0] == "A title $x$"
        assert titles(bare)[0] == ""
    else:
        assert (named.get_suptitle() or named.legends[0].get_title().get_text()) == "A title $x$"
        assert plain.get_suptitle() == bare.get_suptitle() == ""
        assert titles(named) == titles(bare) == titles(plain)
        named.draw_without_rendering()
        above = named._suptitle or named.legends[0]
        below = [axes._left_title.get_window_extent() for axes in named.axes if axes.get_title(loc="left")]
        assert not any(above.get_window_extent().overlaps(box) for box in below)
    with pytest.raises(bb.InputError, match="title is 3: give a text"):
        plot(title=3)


def test_a_long_title_is_broken_to_the_width_of_its_panel(made):
    title = "The stereotypes of mathematics and of the arts in two embeddings of news and of an encyclopaedia"
    figure, panels = plt.subplots(1, 3, figsize=(9, 2.3), layout="constrained")
    for name, axes in zip(("plots.plot_pool", "plots.plot_overview", "plots.plot_axis"), panels, strict=True):
        drawn_by(made, name)(ax=axes, title=title)
    figure.draw_without_rendering()
    boxes = [axes._left_title.get_window_extent() for axes in panels]
    for axes, box, after in zip(panels, boxes, [*(each.x0 for each in boxes[1:]), figure.bbox.x1], strict=True):
        assert axes.get_title(loc="left").replace("\n", " ") == title
        assert box.x1 < after
        assert box.y1 <= figure.bbox.y1 + 1
        assert box.y0 > axes.get_window_extent().y0


@pytest.mark.parametrize("name", ONE_PANEL)
def test_a_picture_of_one_panel_draws_on_axes_and_returns_them(made, name):
    plot = drawn_by(made, name)
    figure, panels = plt.subplots(1, 3, figsize=(13, 6), layout="constrained")
    known = plt.get_fignums()
    panels[0].set_title("of the reader", loc="left")
    for axes, given in zip(panels, ({}, {}, {"title": "b"}), strict=True):
        assert plot(ax=axes, **given) is axes
    assert plt.get_fignums() == known
    assert [axes.get_title(loc="left") for axes in panels] == ["of the reader", "", "b"]
    assert not figure.get_suptitle()
    assert noted(figure) == ""
    assert rows_of(panels[0]) == rows_of(plot().axes[0])
    inside_and_apart(figure, panels)
    with pytest.raises(bb.InputError, match="ax is str: give the Axes of a matplotlib figure"):
        plot(ax="here")


@pytest.mark.parametrize("name", sorted(set(ALL) - set(ONE_PANEL)))
def test_a_picture_of_several_panels_says_which_take_axes(made, name):
    with pytest.raises(bb.InputError, match=r"draws several panels and takes no ax: .*plot_contrasts, .*strip do"):
        drawn_by(made, name)(ax=Figure().add_subplot())


def test_a_report_leaves_no_figure_in_pyplot(fits, tmp_path):
    bb.report(bb.summary(fits["four words"]), tmp_path / "page.html")
    assert plt.get_fignums() == []


def test_a_notebook_shows_a_figure_once(fits, monkeypatch):
    figure = plots.plot_contrasts(fits["four words"], second="human")
    shown = []
    monkeypatch.setattr("IPython.display.display", shown.append)
    figure._ipython_display_()
    assert shown[0].data.startswith(b"\x89PNG")
    assert len(shown) == 1
    assert not plt.fignum_exists(figure.number)


def test_numbers_beside_rows_can_be_left_out(fits):
    for plot in (partial(plots.plot_contrasts, second="human"), plots.plot_overview):
        beside, bare = (texts(plot(fits["four words"], beside=each)) for each in (True, False))
        assert "P(closer)" in beside
        assert not any("%" in text for text in bare)
    assert "P(closer)" not in bare


def test_coefficients_show_every_word_and_every_count(fits):
    shown = texts(plots.plot_coefficients(fits["fifty words"]))
    assert {"n = 200", "4", "associated", "neutral", *(f"word{word}" for word in range(50))} <= shown


def test_coefficients_sort_words_by_their_contrast():
    table = table_of(3)
    table.loc[(table["protected_word"] == "word1") & (table["connection"] == "associated"), "distance"] -= 0.5
    assert rows_of(plots.plot_coefficients(bb.fit(table, seed=0)).axes[1])[0] == "word1"


def test_connections_differ_in_marker_and_in_lightness():
    """Grey print and colour blindness: markers all differ, and so does the lightness of the two stereotypes."""
    (legend,) = plots.plot_coefficients(bb.fit(table_of(3), "published", draws=400, seed=0)).legends
    looks = {
        text.get_text().split()[0]: line for text, line in zip(legend.get_texts(), legend.get_lines(), strict=True)
    }
    assert len({line.get_marker() for line in looks.values()}) == len(looks) == 4
    one, other = (np.dot(mpl.colors.to_rgb(looks[name].get_color()), (0.299, 0.587, 0.114)) for name in FOUR[:2])
    assert abs(one - other) > 0.08


def test_contrasts_show_the_whole_list_first(fits):
    figure = plots.plot_contrasts(fits["four words"], second="human")
    assert figure._repr_png_().startswith(b"\x89PNG")
    first, *others = rows_of(figure.axes[0])
    assert first == "whole list"
    assert set(others) == {f"word{word}" for word in range(4)}


def test_lost_words_stand_below_a_figure(slice_vectors):
    table = bb.distance_table(slice_vectors, "gender")
    post = bb.fit(table, seed=0)
    compared = bb.compare(before=table, after=table.assign(distance=table["distance"] * 0.9).without_relatedness())
    for figure in (
        plots.plot_contrasts(post),
        plots.plot_overview(post),
        plots.plot_decomposition(post),
        plots.plot_distances(table),
        plots.plot_relatedness(table),
        plots.forest(bb.contrasts(post)),
        plots.plot_change(compared),
        bb.topic_null(slice_vectors, "gender", replicates=20).figure(),
    ):
        assert noted(figure).count("coverage: 125 of 311 control words found (missing: ballpark, glitchy, billy, ") == 1


def test_raw_distances_show_every_pair():
    table = table_of(4)
    assert sum(len(each.get_offsets()) for each in plots.plot_distances(table).axes[0].collections) >= len(table)
    assert {"associated0", "different3", "human, n = 4"} <= texts(plots.plot_distances(table, "word2"))


@pytest.mark.parametrize("replicates", [1, 60, 300])
def test_topics_are_drawn_with_the_observed_value_marked(replicates, through_the_mould):
    kv = vectors_of([f"$x_{{{at}}}$" for at in range(60)])
    words = list(kv)
    query = bb.Query({"x": words[:3], "y": words[3:6]}, {"a": words[6:10], "b": words[10:14]}, name="$q$ <b>")
    null = bb.topic_null(kv, query, "mac", replicates=replicates)
    figure = through_the_mould(lambda: plots.plot_topic_null(null))
    axes, values = figure.axes[0], null.of("mac")
    assert lines(axes) == [1.0, null.observed["mac"]]
    assert sum(bar.get_height() for bar in axes.patches) == replicates
    far = sum(bar.get_height() for bar in axes.patches if to_hex(bar.get_facecolor()) == "#e69f00")
    assert far == sum(abs(values - 1) >= abs(null.observed["mac"] - 1))
    assert titles(figure)[0].startswith(f"$q$ <b>, mac: {null.table()['count'].item()} of {replicates} ")


@pytest.mark.parametrize("name", ["associated - different", "associated - human"])
def test_topics_of_each_contrast_are_drawn(made, name):
    null = bb.topic_null(made.kv, made.lists, replicates=30, kind="random")
    figure = plots.plot_topic_null(null, name)
    assert lines(figure.axes[0])[-1] == null.observed[name]
    assert titles(figure)[0].startswith(f"{null.words}, {name.replace('-', '−')}: ")
    if name == "associated - different":
        assert titles(plots.plot_topic_null(null)) == titles(figure)


@cache
def related(groups, stereotypes, controls=0, name="word{}"):
    """Relatedness of so many words in each list, in a vocabulary of 60 words more; a sample holds controls."""
    sizes = [*groups, *stereotypes, controls]
    kv = vectors_of([name.format(at) for at in range(sum(sizes) + 60)])
    parts = [part.tolist() for part in np.split(np.array(list(kv)), np.cumsum(sizes))]
    protected = {f"group{at}": words for at, words in enumerate(parts[: len(groups)])}
    own = {f"group{at}": words for at, words in enumerate(parts[len(groups) : len(groups) + len(stereotypes)])}
    lists = bb.WordLists("made", protected, own, {"human": parts[len(sizes) - 1]} if controls else {})
    with pytest.warns(UserWarning, match=f"only {60 + controls} words"):
        return bb.relatedness(kv, lists)


LISTS = {
    "three words": ((1,), (2,)),
    "single words": ((1,) * 12, (1,) * 3),
    "two lists": ((4, 5), (6, 8), 10),
    "many lists": ((2,) * 30, (3,) * 30),
    "more lists than labels": ((1,) * 60, (1,) * 60),
    "many words": ((60, 40), (150, 50), 100),
    "words that look like formulas": ((3, 3), (4, 4), 0, ODD),
}


@pytest.mark.parametrize("lists", LISTS)
def test_relatedness_of_few_and_many_words(lists, through_the_mould):
    held = related(*LISTS[lists])
    through_the_mould(lambda: plots.plot_relatedness(held))


@pytest.mark.parametrize("lists", ["single words", "two lists", "many lists"])
def test_labels_of_words_and_lists_do_not_overlap(lists):
    figure = plots.plot_relatedness(related(*LISTS[lists]))
    figure.draw_without_rendering()
    width, height = figure.bbox.size
    for labels in (part for axes in figure.axes for part in (axes.get_yticklabels(), axes.texts)):
        boxes = {text.get_text(): text.get_window_extent() for text in labels if text.get_text()}.values()
        assert all(low.y1 <= high.y0 + 2 for low, high in pairwise(sorted(boxes, key=lambda box: box.y0)))
        assert all(box.x0 >= 0 and box.x1 <= width and box.y0 >= 0 and box.y1 <= height for box in boxes)


def test_relatedness_shows_similarities_by_list_with_alike_words_side_by_side():
    kv = vectors_of([f"word{at}" for at in range(500)])
    rng = np.random.default_rng(1)
    kv |= {f"near{at}": kv["word1"] + 0.1 * rng.normal(size=8) for at in range(2)}
    words = ["word1", "word2", "word3", "near0", "word4", "near1"]
    lists = bb.WordLists("made", {"g": ["word10", "word11"]}, {"g": words}, {"human": ["word1", "word5"]})
    held = bb.relatedness(kv, lists)
    figure = plots.plot_relatedness(held)
    above, below = (axes for axes in figure.axes if axes.get_title(loc="left"))
    shown = rows_of(above)
    assert sorted(shown[:6]) == sorted(words)
    assert shown[6:] == ["word1", "word5"]
    first = min(shown.index(word) for word in ("word1", "near0", "near1"))
    assert set(shown[first : first + 3]) == {"word1", "near0", "near1"}
    units = dict(zip(held.attribute_words, held.units.astype(float), strict=True))
    expected = np.array([[units[one] @ units[other] for other in shown] for one in shown])
    np.testing.assert_allclose(above.images[0].get_array(), expected)
    np.testing.assert_allclose(below.images[0].get_array(), held.families(rows_of(below)))
    low, high = above.images[0].get_clim()
    assert low == -high < 0
    worth = held.effective_words().set_index("kind")["effective"]
    assert texts(figure) >= {
        f"g (stereotype)\n6 words; effective {worth['stereotype']:.1f}",
        f"human (control)\n2 words; effective {worth['control']:.1f}",
        f"g\n2 words; effective {worth['protected']:.1f}",
    }


def test_relatedness_of_a_table_and_of_a_fit_is_drawn(made):
    plot = plots.plot_relatedness
    given = svg(plot(bb.relatedness(made.kv, made.lists)), laid_out=False)
    assert svg(plot(made.related_table), laid_out=False) == given
    assert svg(plot(made.related), laid_out=False) == given
    with pytest.raises(bb.InputError, match="this carries no relatedness"):
        plot(table_of(3))
    with pytest.raises(bb.InputError, match="given is str: plot_relatedness takes what relatedness returns, or a"):
        plot("religion")


@pytest.fixture(scope="module")
def sets():
    """Vectors in two embeddings, and a query of four sets of eight words."""
    parts = {kind: [f"{kind}{at}" for at in range(8)] for kind in "xyab"}
    rng = np.random.default_rng(0)
    words = [word for part in parts.values() for word in part]
    kvs = {name: dict(zip(words, rng.normal(size=(32, 10)), strict=True)) for name in ("one", "two $x$", "three")}
    return kvs, bb.Query({key: parts[key] for key in "xy"}, {key: parts[key] for key in "ab"})


def test_a_ranking_is_drawn_with_ranks_and_their_probabilities(sets):
    ranking = bb.rank(*sets, ["weat", "rnsb"], draws=20)
    figure = plots.plot_ranking(ranking)
    above, *below = figure.axes
    assert titles(figure)[1:] == ["weat", "rnsb"]
    lengths = sorted(sum(bar.get_width() for bar in each) for each in zip(*above.containers, strict=True))
    assert lengths == sorted(ranking.ranks[["weat", "rnsb"]].sum(axis=1))
    assert "two $x$" in texts(figure)
    shares = ranking.rank_distribution.query("metric == 'weat'")["probability"]
    same(below[0].images[0].get_array(), shares)
    assert len(plots.plot_ranking(bb.rank(*sets, "weat", draws=0)).axes) == 1


def test_silhouettes_are_drawn_with_their_scores(sets, through_the_mould):
    kvs, query = sets
    both = {name: bb.silhouettes.silhouette(kvs[name], query, "weat", runs=6) for name in ("one", "two $x$")}
    figure = through_the_mould(lambda: plots.plot_silhouette([both, both["one"]], runs=True))
    first, second = figure.axes
    assert f"accuracy {bb.silhouettes.silhouette_accuracy(*both.values()):.2f}" in titles(figure)[0]
    assert legend_of(first) == [f"{name} (robustness {one.robustness:.2f})" for name, one in both.items()]
    means = [line.get_ydata() for line in second.get_lines() if line.get_linewidth() == 1.8]
    np.testing.assert_array_equal(means[0], both["one"].mean)


SIZES = np.arange(2, 12, 2)


def test_silhouettes_that_fill_little_of_the_range_have_the_axis_for_themselves():
    values = 0.4 + np.random.default_rng(0).uniform(0, 0.1, (6, 5))
    flat = bb.silhouettes.Silhouette("contrast $x$", "targets", SIZES, values, (-2.0, 2.0), 0.0)
    axes = plots.plot_silhouette(flat).axes[0]
    low, high = axes.get_ylim()
    assert low < values.min() < values.max() < high
    assert high - low == pytest.approx(1.06 * np.ptp(values))
    assert axes.get_ylabel() == "contrast $x$ (range −2 to 2)"
    for silhouette, zoom, label in (
        (flat, False, "contrast $x$"),
        (replace(flat, values=10 * values - 4), None, "contrast $x$"),
        (replace(flat, values=10 * values - 4), True, "contrast $x$ (range −2 to 2)"),
        (replace(flat, values=np.full((6, 5), np.nan)), True, "contrast $x$"),
    ):
        assert plots.plot_silhouette(silhouette, zoom=zoom).axes[0].get_ylabel() == label
    assert plots.plot_silhouette(flat, zoom=False).axes[0].get_ylim() == pytest.approx((-2.12, 2.12))


def test_intervals_of_silhouettes_are_dashed_and_their_coverage_is_said():
    values = np.random.default_rng(0).normal(0, 0.1, (6, 5))
    ends = {"low": values - 0.1, "high": values + 0.2}
    one = bb.silhouettes.Silhouette("m", "targets", SIZES, values, (-2.0, 2.0), 0.0, **ends)
    axes = plots.plot_silhouette({"a": one}, zoom=True).axes[0]
    dashed = [each.get_ydata() for each in axes.get_lines() if each.get_linewidth() == 0.8]
    expected = [one.low.mean(axis=0), one.high.mean(axis=0)]
    np.testing.assert_array_equal([each for each in dashed if len(each) == 5], expected)
    low, high = axes.get_ylim()
    assert low < expected[0].min() < expected[1].max() < high
    assert legend_of(axes) == [f"a (robustness {one.robustness:.2f}, coverage {one.coverage[:-1].mean():.2f})"]
    alone = replace(one, sizes=SIZES[:1], values=values[:, :1], low=one.low[:, :1], high=one.high[:, :1])
    assert "coverage" not in legend_of(plots.plot_silhouette(alone).axes[0])[0]


def change_of(words, connections=FOUR, moved=0.1, noise=0.02, **options):
    """A change of so many words, whose distances to their own stereotypes grow."""
    before = table_of(words, connections, **options)
    own = np.where(before["connection"] == "associated", moved, 0.0)
    noise = np.random.default_rng(1).normal(0, noise, len(before))
    return bb.compare(before=before, after=before.assign(distance=before["distance"] + own + noise), seed=0)


@pytest.mark.parametrize("words", [3, 50])
def test_a_picture_of_a_comparison(words, through_the_mould):
    result = change_of(words)
    through_the_mould(lambda: plots.plot_change(result), tallest=40)


def test_a_change_shows_every_word_before_and_after_with_intervals():
    result = change_of(4, ("associated", "neutral"), name=ODD)
    figure = plots.plot_change(result)
    above, change, below, moved = figure.axes
    assert {ODD.format(word) for word in range(4)} <= texts(figure)
    mean = result.posterior["posterior/connection_mean"].mean(("chain", "draw")).sel(connection="associated")
    drawn = [each[0] for each in scattered(above)]
    for name in ("before", "after"):
        assert np.isclose(drawn, float(mean.sel(embedding=name))).any()
    assert np.isclose(points(change), result.changes("associated")["mean"].iloc[0]).any()
    rows = rows_of(below)
    assert rows[0] == "whole list"
    values = result.table().query("of == 'associated - neutral'").set_index("protected_word").loc[rows]
    start, end = scattered(below)
    np.testing.assert_allclose(start, values["before"])
    np.testing.assert_allclose(end, values["after"])
    outer = [each for each in moved.collections if isinstance(each, LineCollection) and each.get_linewidth()[0] < 2]
    ends = np.array([segment[:, 0] for segment in outer[0].get_segments()])
    np.testing.assert_allclose(ends, values[["low", "high"]])
    assert len(rows_of(plots.plot_change(result, words=False).axes[2])) == 1


def test_the_associations_of_a_change_are_drawn(slice_vectors, hard_debiased):
    tables = [bb.distance_table(kv, "gender") for kv in (slice_vectors, hard_debiased)]
    result = bb.compare(before=tables[0], after=tables[1], seed=0, draws=400)
    below, moved = plots.plot_change(result).axes[2:]
    assert below.get_xlabel() == "association (negative: closer to own stereotypes)"
    assert moved.get_xlabel() == "change of the association (negative: closer)"
    rows = [label.split(" (")[0] for label in rows_of(below)]
    table = result.table().query("of == 'associated - different'").set_index("protected_word")
    assert rows == ["whole list", *table.iloc[1:].sort_values(["group", "change"], ascending=[True, False]).index]
    np.testing.assert_allclose(below.collections[1].get_offsets()[:, 0], table.loc[rows, "before"])
    places = [each.get_offsets()[:, 0] for each in moved.collections]
    assert not any(len(each) == 15 and (each == 0).all() for each in places)


def test_what_did_not_change_has_one_place():
    figure = plots.plot_change(change_of(3, moved=0, noise=0))
    for axes in (figure.axes[0], figure.axes[2]):
        places = scattered(axes)
        for start, end in zip(places[::2], places[1::2], strict=True):
            np.testing.assert_array_equal(start, end)


def test_words_are_sorted_by_the_size_of_their_change():
    before = table_of(4)
    moved = (before["protected_word"] == "word2") & (before["connection"] == "associated")
    noise = np.random.default_rng(0).normal(0, 0.01, len(before))
    after = before.assign(distance=before["distance"] + noise - 0.4 * moved)
    assert rows_of(plots.plot_change(bb.compare(before=before, after=after, seed=0)).axes[2])[1] == "word2"


def test_of_three_embeddings_one_change_is_named():
    first = table_of(3)
    noise = np.random.default_rng(1).normal(0, 0.02, (3, len(first)))
    tables = {name: first.assign(distance=first["distance"] + noise[at]) for at, name in enumerate("abc")}
    result = bb.compare(tables, seed=0, draws=400)
    assert titles(plots.plot_change(result, before="a", after="c"))[0] == "Whole list, a → c"
    assert titles(plots.plot_change(result))[0] == "Whole list, a → b"
    for wrong in ({"before": "c"}, {"before": "c", "after": "a"}):
        with pytest.raises(bb.InputError, match="the changes are a to b, a to c, b to c"):
            plots.plot_change(result, **wrong)


def test_similarities_before_and_after_take_the_limit_of_mac():
    result = change_of(4)
    assert (result.similarity_shift()["limit"] > 0).all()
    with pytest.raises(bb.InputError, match="no stereotype words to take MAC of"):
        change_of(3, ("human", "neutral")).similarity_shift()


def test_side_effects_are_drawn_with_their_intervals(slice_vectors, hard_debiased):
    names = slice_vectors.index_to_key
    similar = [(names[at], names[at + 1], float(at)) for at in range(30)]
    result = bb.side_effects(slice_vectors, hard_debiased, "gender", similarity=similar, biased=50)
    figure = plots.plot_side_effects(result)
    assert len(figure.axes) == 4
    drawn = np.concatenate([each.get_offsets()[:, 0] for each in figure.axes[0].collections if len(each.get_offsets())])
    assert np.isin(result.neighbours["kept"], drawn).all()


@pytest.fixture(scope="module")
def scores():
    """Three measures, six targets, four pairs, two seeds; the third measure of the first target does not vary."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(1, 6, 4, 1)) + 0.4 * rng.normal(size=(3, 6, 4, 2))
    values[2, 0] = 0.25
    coords = {
        "measure": ["db_wa", "ripa", "nbm"],
        "target": ["fishing", "golf", "$x_1$", "a target word with a label that is far too long", "sewing", "table"],
        "base_pair": ["he/she", "man/woman", "king/queen", "boy/girl"],
        "seed": [0, 1],
    }
    return xr.DataArray(values, dims=tuple(coords), coords=coords)


@pytest.fixture(scope="module")
def reliability(scores, made):
    """Results of scores and of settings of embeddings, by name."""
    runs = [(corpus, *run) for corpus in ("a $x$", "b") for run in (("cbow", 12, 0), ("cbow", 12, 1), ("sgns", 12, 0))]
    settings = {bb.stability.Setting(*run): kv for run, kv in zip(runs, made.settings.values(), strict=True)}
    lists = {"stereotypes": ["k", "l", "m", "n"], "others": ["h", "i", "j", "x"]}
    return {
        "retest": bb.reliability.retest_reliability(scores),
        "raters": bb.reliability.inter_rater_consistency(scores),
        "components": bb.reliability.variance_components(scores, draws=400, seed=0),
        "study": bb.stability.direct_bias_study(settings, lists, made.pairs, draws=60, random_pairs=20),
        "one list": made.direct_bias_study,
        "settings": made.setting_components,
    }


OF_RELIABILITY = {
    "boxes": lambda of: plots.plot_reliability(of["retest"], labels=False),
    "names": lambda of: plots.plot_reliability(of["retest"]),
    "panels": lambda of: plots.plot_reliability({"words": of["retest"], "raters": of["raters"]}, labels=False),
    "components": lambda of: plots.plot_components(of["components"]),
    "components of settings": lambda of: plots.plot_components(of["settings"]),
    "decision": lambda of: plots.forest(of["components"].decision((1, 4), (1, 3)), "base_pairs", by="seeds"),
    "agreement": lambda of: plots.matrix(of["one list"].rank_agreement(), centre=None),
    "study": lambda of: of["study"].figure(),
}


@pytest.mark.parametrize("name", OF_RELIABILITY)
def test_a_picture_of_reliability_or_stability(reliability, name, through_the_mould):
    plot = OF_RELIABILITY[name]
    through_the_mould(lambda: plot(reliability))


def test_reliability_in_strips_shows_every_value_and_counts_what_is_missing(reliability):
    table = reliability["retest"].copy()
    table.loc[3, "value"] = -2.5
    figure = plots.plot_reliability(table, labels=False)
    axes = figure.axes[0]
    drawn = table.assign(value=table["value"].clip(lower=-0.5))
    same(points(axes), drawn["value"].dropna())
    assert rows_of(axes) == ["db_wa", "ripa", "nbm"]
    np.testing.assert_allclose(bars(axes, MEDIAN)[:, 0], drawn.groupby("measure", sort=False)["value"].median())
    assert "n = 5" in " ".join(texts(figure))
    assert {"poor", "moderate", "good", "excellent"} <= texts(figure)
    assert {round(band.get_x(), 2) for band in axes.patches if band.get_x() > 0} == {0.5, 0.75, 0.9}
    assert "1 of 18 values are missing: the scores do not vary" in noted(figure)
    assert "left edge: 2, the smallest is −2.50" in noted(figure)


def test_many_values_of_reliability_are_all_points():
    value = np.append(1 - np.random.default_rng(0).beta(2, 30, size=500), 0.1)
    labels = [f"word{at}" for at in range(len(value))]
    table = pd.DataFrame({"label": labels, "value": value, "low": value - 0.1, "high": 1.0, "reason": None})
    axes = plots.plot_reliability(table).axes[0]
    same(points(axes), value)
    assert f"median {np.median(value):.2f}, n = 501" in texts(axes.figure)


def test_reliability_by_name_has_the_best_on_top_with_intervals(reliability, scores):
    table = reliability["retest"]
    axes = plots.plot_reliability(table).axes[0]
    order = table.groupby("label")["value"].mean().sort_values(ascending=False).index
    labels = rows_of(axes)
    assert len(labels) == 6
    assert labels[order.get_loc("$x_1$")] == "$x_1$"
    assert sum("…" in label for label in labels) == 1
    value = table.set_index(["label", "measure"])["value"]
    for at, name in enumerate(["db_wa", "ripa", "nbm"]):
        drawn = {tuple(point) for point in axes.collections[2 * at + 1].get_offsets().round(9).tolist()}
        heights = pd.Series(-np.arange(6) + 0.4 - 0.8 * (at + 0.5) / 3, order)
        own = value.xs(name, level="measure").dropna().clip(lower=-0.5)
        assert drawn == {(round(each, 9), round(heights[label], 9)) for label, each in own.items()}
    lows = {line[0, 0] for line in axes.collections[0].get_segments()}
    assert lows == set(table.loc[table["measure"] == "db_wa", "low"])
    assert "no value" not in texts(axes.figure)
    assert "no value" in texts(plots.plot_reliability(bb.reliability.inter_rater_consistency(0 * scores)))


def test_reliability_of_several_tables(reliability):
    retest, raters = reliability["retest"], reliability["raters"]
    panels = plots.plot_reliability({"one $x$": retest, "two": raters})
    assert titles(panels) == ["one $x$", "two"]
    assert [len(rows_of(axes)) for axes in panels.axes] == [6, 6]
    rows = plots.plot_reliability({"wiki": raters, "reddit": raters}, labels=False)
    assert rows_of(rows.axes[0]) == ["wiki", "reddit"]
    many = {"a": retest.assign(label=retest["label"] + "a")} | {str(at): retest for at in range(7)}
    assert len(rows_of(plots.plot_reliability(many).axes[0])) == 3
    twice = pd.concat([raters, raters])
    assert len(points(plots.plot_reliability(twice).axes[0])) == 12


def test_components_are_sorted_by_their_shares(reliability):
    components, settings = reliability["components"], reliability["settings"]
    axes = plots.plot_components(components, prob=0.7).axes[0]
    table = components.table(0.7).sort_values("share", ascending=False)
    assert rows_of(axes) == table["component"].str.replace("_", " ").tolist()
    np.testing.assert_array_equal(points(axes), table["share"])
    np.testing.assert_array_equal(bars(axes, OUTER), table[["share_low", "share_high"]])
    assert f"{table['share'].iloc[0]:.0%}" in texts(axes.figure)
    shares = settings.table()["share"].sort_values(ascending=False)
    np.testing.assert_array_equal(points(plots.plot_components(settings).axes[0]), shares)


def test_a_forest_draws_the_rows_of_a_table_in_their_order(religion_fit, through_the_mould):
    table = bb.contrasts(religion_fit, prob=0.7)
    figure = through_the_mould(lambda: plots.forest(table, closer="own stereotypes closer"))
    axes = figure.axes[0]
    np.testing.assert_array_equal(points(axes), table["mean"])
    np.testing.assert_array_equal(points(axes, 1), -np.arange(len(table)))
    np.testing.assert_array_equal(bars(axes, OUTER), table[["low", "high"]])
    first = table.loc[1]
    assert rows_of(axes)[:2] == ["whole list", f"{first['protected_word']}, {first['group']}"]
    assert [label.get_fontweight() for label in axes.get_yticklabels()[:2]] == ["bold", "normal"]
    assert "P(closer)" in texts(figure)
    assert axes.get_xlabel().endswith("\n← own stereotypes closer")
    assert sum("%" in text.get_text() for text in axes.texts) == len(table)


def test_a_forest_of_estimates_has_both_intervals(religion_fit):
    cells = bb.estimates(religion_fit).select(group="jew")
    figure = plots.forest(cells, "protected_word", by="connection", mark=1.0, prob=0.7)
    axes, table = figure.axes[0], cells.summary(0.7)
    same(points(axes), table["mean"])
    same(bars(axes, OUTER)[:, 0], table["low"])
    same(bars(axes, INNER)[:, 0], cells.quantile(0.25))
    assert legend_of(figure) == [
        *("associated (own stereotype)", "different (another group's)", "human (control)", "neutral (control)")
    ]
    assert len(rows_of(axes)) == 5
    assert noted(figure) == "Bars: 50% (thick) and 70% intervals"


def test_a_forest_of_a_study_has_a_panel_for_each_list(reliability):
    study = reliability["study"]
    figure = study.figure(title="$x$")
    assert titles(figure) == ["stereotypes", "others"]
    assert figure.legends[0].get_title().get_text() == "$x$"
    for axes, (_, table) in zip(figure.axes, study.table().groupby("word_list", sort=False), strict=True):
        same(points(axes), table["direct_bias"])
        same(bars(axes, OUTER)[:, 1], table["high"])
    assert rows_of(figure.axes[0])[:3] == ["cbow, 0", "cbow, 1", "sgns, 0"]
    assert figure.axes[0].get_ylabel() == "algorithm, seed"


def test_a_forest_without_an_end_has_no_bar():
    axes = plots.forest(FEW, value="x", by="kind", mark=(0.5, 0.6)).axes[0]
    np.testing.assert_array_equal(points(axes), [0.1, 0.2])
    np.testing.assert_array_equal(bars(axes, OUTER), [[0.0, 1.0]])
    assert lines(axes)[-2:] == [0.5, 0.6]
    assert legend_of(axes.figure) == ["kind = 1", "kind = 2"]


@pytest.mark.parametrize(("side", "centre"), [(3, 0.0), (16, None), (40, 0.5)])
def test_a_matrix_holds_its_numbers_up_to_thirty_columns(side, centre, through_the_mould):
    frame = pd.DataFrame(np.random.default_rng(0).normal(0, 0.2, (side, side)), [f"$x_{{{at}}}$" for at in range(side)])
    frame.iloc[0, 1] = np.nan
    framed = frame > 0.3
    figure = through_the_mould(lambda: plots.matrix(frame, "unit", "title", centre, framed))
    axes = figure.axes[0]
    np.testing.assert_array_equal(axes.images[0].get_array(), frame)
    written = [text.get_text() for text in axes.texts]
    assert len(written) == (side**2 if side <= 30 else 0)
    if side <= 30:
        first = f"{frame.iloc[0, 0]:.3f}" if centre is not None else f"{frame.iloc[0, 0]:.2f}".replace("0.", ".")
        assert written[:2] == [first.replace("-", "−"), "–"]
    assert len(axes.patches) == 2 * framed.to_numpy().sum()
    assert rows_of(axes)[:2] == ["$x_{0}$", "$x_{1}$"]
    low, high = axes.images[0].get_clim()
    assert centre is None or (low + high) / 2 == pytest.approx(centre)
    assert figure.axes[1].get_ylabel() == "unit"


def test_lines_part_the_rows_of_a_matrix_by_their_first_level():
    index = pd.MultiIndex.from_tuples([("a", "x"), ("a", "y"), ("b", "z")])
    axes = plots.matrix(pd.DataFrame(np.eye(3), index)).axes[0]
    assert [line.get_ydata()[0] for line in axes.get_lines()] == [1.5]
    assert rows_of(axes) == ["x (a)", "y (a)", "z (b)"]


@pytest.mark.parametrize("words", [2, 200])
def test_a_strip_shows_every_number_with_its_quartiles(words, through_the_mould):
    table = table_of(words, name="$x_{{{}}}$")
    figure = through_the_mould(lambda: plots.strip(table, "distance", "connection", by="group", mark=(1.0, 2.0)))
    axes = figure.axes[0]
    by = table.groupby("connection", sort=False)["distance"]
    same(points(axes), table["distance"])
    np.testing.assert_allclose(bars(axes, MEDIAN)[:, 0], by.median())
    np.testing.assert_allclose(bars(axes, QUARTILES), np.column_stack([by.quantile(0.25), by.quantile(0.75)]))
    assert {f"n = {4 * words:,}"} == {text for text in texts(figure) if text.startswith("n = ")}
    assert [place for place in lines(axes) if place in (1.0, 2.0)] == [1.0, 2.0]


@pytest.fixture(scope="module")
def gender():
    return bb.axis("glove-50d-slice", "gender")


JOBS = [
    *("nurse", "guard", "engineer", "dancer", "janitor", "soldier", "artist", "plumber", "lawyer", "doctor"),
    "cook",
]


@pytest.mark.parametrize("words", [JOBS[:1], JOBS, JOBS[:3]], ids=len)
@pytest.mark.parametrize("population", ["oppositions", "pairs"])
def test_words_of_an_axis_stand_in_order_between_the_poles(gender, words, population, through_the_mould):
    few = gender.with_words(words)
    figure = through_the_mould(lambda: plots.plot_axis(few, population=population))
    (axes,) = figure.axes
    table = few.table(population=population)
    assert rows_of(axes) == table["word"].tolist()
    assert axes.get_xlabel() == "place (cosine distance)\n← woman      man →"
    same(points(axes), table["mean"])


def test_of_many_words_the_ends_and_those_chosen_are_shown(gender, through_the_mould):
    figure = through_the_mould(lambda: plots.plot_axis(gender))
    order = gender.table()["word"].tolist()
    assert rows_of(figure.axes[0]) == order[:20] + order[-20:]
    assert "two ends of 20,000 words" in noted(figure)
    (axes,) = plots.plot_axis(gender, words=["nurse", "engineer"], labels=7).axes
    assert rows_of(axes) == [*order[:3], "engineer", "nurse", *order[-2:]]
    weights = [label.get_fontweight() for label in axes.get_yticklabels()]
    assert weights == [*["normal"] * 3, *["bold"] * 2, *["normal"] * 2]
    assert rows_of(plots.plot_axis(gender, words=["nurse"], labels=0).axes[0]) == ["nurse"]
    with pytest.raises(bb.InputError, match="give words and labels for 1 to 100"):
        plots.plot_axis(gender, labels=101)


def apart(figure):
    """Test that no two texts inside the panel overlap."""
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in figure.axes[0].texts if text.get_text()]
    return all(not box.overlaps(other) for place, box in enumerate(boxes) for other in boxes[:place])


@pytest.mark.parametrize(
    ("embedding", "groups", "poles"),
    [
        ("glove-50d-slice", "gender", {"↑ to man", "↓ to woman"}),
        ("google-news-slice", "religion", {"↑ away from jew", "↓ to jew"}),
    ],
)
def test_names_of_an_audit_do_not_overlap(embedding, groups, poles, through_the_mould):
    result = bb.audit(embedding, groups)
    figure = through_the_mould(lambda: plots.plot_audit(result))
    named = {text.get_text() for text in figure.axes[0].texts}
    assert poles <= named
    assert 5 < len(named - poles) <= 24
    assert named - poles <= set(result.table()["word"])
    assert apart(figure)
