"""A picture could alter matplotlib for its reader, hide words, or draw other numbers than its table has."""

import inspect
from itertools import combinations

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.figure import Figure
from matplotlib.text import Text

import bayesbias as bb
from bayesbias import plots

FOUR = ("associated", "different", "human", "neutral")
ODD = "$x_{{{}}}$ <b>&"
"""A form of words that look like formulas and like marks of a page."""
OUTER, INNER, MEDIAN, QUARTILES = 1.1, 3.0, 1.6, 4
"""Widths of lines: of intervals, of their halves, of medians of strips, and of their quartiles."""


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


def rows_of(axes):
    """Labels of rows from the top."""
    return [label.get_text() for label in axes.get_yticklabels()]


def texts(figure):
    return {text for axes in figure.axes for text in [*(each.get_text() for each in axes.texts), *rows_of(axes)]}


def titles(axes):
    return [each.get_title(loc="left") for each in axes]


def points(axes, column=0):
    """One coordinate of all that is scattered."""
    held = [each.get_offsets()[:, column] for each in axes.collections if isinstance(each, PathCollection)]
    return np.ma.concatenate([np.empty(0), *held]).compressed()


def bars(axes, width):
    """The ends (low, high) of all horizontal bars of a width of line."""
    held = [each for each in axes.collections if isinstance(each, LineCollection) and each.get_linewidth()[0] == width]
    return np.array([line[:, 0] for each in held for line in each.get_segments() if len(line)])


def same(drawn, expected):
    """Test that numbers are those of a table, in any order."""
    drawn, expected = (np.sort(np.ravel(np.asarray(each, dtype=float))) for each in (drawn, expected))
    np.testing.assert_allclose(drawn, expected, rtol=1e-7, atol=1e-12)


def has(axes, *columns):
    """Test that numbers are among those that are scattered."""
    assert np.isin(np.concatenate(columns).astype(float).round(9), points(axes).round(9)).all()


PICTURES = {
    "plot_contrasts": "related", "plot_decomposition": "related", "plot_coefficients": "post", "plot_axis": "axis",
    "plot_distances": "table", "plot_change": "comparison", "plot_topic_null": "topic_null", "plot_pool": "pool",
    "plot_relatedness": "relatedness", "plot_silhouette": "silhouette", "plot_reliability": "retest",
    "plot_ranking": "ranking", "plot_covariates": "covariate_contrast", "plot_side_effects": "side_effects",
    "forest": "axis", "matrix": "axis", "strip": "table", "curve": "silhouette",
}  # fmt: skip
"""Pictures to what they are of."""


def draws(made, name, **options):
    given = getattr(made, PICTURES[name])
    if name in ("forest", "matrix", "curve"):
        given = given.table()
    columns = dict.fromkeys(("value", "low", "high"), "value") | {"at": "words"}
    options |= {"strip": {"value": "distance", "rows": "connection"}, "curve": columns}.get(name, {})
    return getattr(plots, name)(given.set_index("word")[["mean", "sd"]] if name == "matrix" else given, **options)


def inside_and_apart(figure):
    """Test that titles, labels and numbers of panels lie within a figure, and no two of them on one another."""
    figure.draw_without_rendering()
    boxes = {}
    for panel in figure.axes:
        ticks = [*panel.get_xticklabels(), *panel.get_yticklabels()]
        for text in [panel.xaxis.label, panel.yaxis.label, *panel.findobj(Text)]:
            if text.get_text().strip() and text.get_visible() and text not in ticks:
                boxes[text] = text.get_window_extent()
        labels = [label.get_window_extent() for label in panel.get_yticklabels() if label.get_text()]
        assert all(not one.padded(-1).overlaps(other.padded(-1)) for one, other in combinations(labels, 2))
    for text, box in boxes.items():
        assert min(box.x0, box.y0) >= -1, text
        assert max(box.x1 - figure.bbox.x1, box.y1 - figure.bbox.y1) <= 1, text
    for one, other in combinations(boxes, 2):
        assert not boxes[one].padded(-1).overlaps(boxes[other].padded(-1)), (one, other)


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_a_figure_of_a_page_with_the_title_that_is_asked_for(made, name):
    before, known = dict(mpl.rcParams), plt.get_fignums()
    assert set(PICTURES) == set(plots.__all__) - {"plot_spread"}  # the one that docs/extending.md adds
    figure = draws(made, name, title="A title $x$")
    assert isinstance(figure, Figure)
    assert len(plt.get_fignums()) == len(known) + 1
    assert dict(mpl.rcParams) == before
    assert figure.get_suptitle() == "A title $x$"
    width, height = figure.get_size_inches()
    assert 5 < width < 13
    assert 1.5 < height < 25
    inside_and_apart(figure)


@pytest.mark.parametrize(
    "name", [name for name in PICTURES if "ax" in inspect.signature(getattr(plots, name)).parameters]
)
def test_a_picture_of_one_panel_draws_on_axes_and_returns_them(made, name):
    figure, panels = plt.subplots(1, 3, figsize=(13, 6), layout="constrained")
    panels[0].set_title("of the reader", loc="left")
    for axes, given in zip(panels, ({}, {}, {"title": "b"}), strict=True):
        assert draws(made, name, ax=axes, **given) is axes
    assert titles(panels) == ["of the reader", "", "b"]
    assert not figure.get_suptitle()
    inside_and_apart(figure)


def test_what_no_picture_is_of_is_refused(made):
    with pytest.raises(bb.InputError, match="given is DistanceTable: plot_axis draws Axis"):
        plots.plot_axis(made.table)
    with pytest.raises(bb.InputError, match="ax is one panel, and 2 are to be drawn"):
        plots.plot_silhouette([made.silhouette] * 2, ax=Figure().add_subplot())
    with pytest.raises(bb.InputError, match="plot_silhouette takes what silhouette returns"):
        plots.plot_silhouette([])
    with pytest.raises(bb.InputError, match="no protected word 'jedi'; it holds word0, word1"):
        plots.plot_distances(table_of(2), "jedi")
    with pytest.raises(bb.InputError, match="the table has no row"):
        plots.forest(made.table[:0], value="distance")


def test_a_notebook_shows_a_figure_once_and_a_report_none(made, monkeypatch, tmp_path):
    shown, known = [], plt.get_fignums()
    figure = draws(made, "plot_contrasts")
    monkeypatch.setattr("IPython.display.display", shown.append)
    figure._ipython_display_()
    assert [image.data[:4] for image in shown] == [b"\x89PNG"]
    page = bb.report(bb.summary(made.related), tmp_path / "page.html").read_text(encoding="utf-8")
    assert f'<img alt="{bb.summary(made.related).caption().replace("<", "&lt;")}: Contrasts"' in page
    assert len(page) < 300_000
    assert plt.get_fignums() == known


def test_lost_words_stand_below_a_figure(slice_vectors):
    table = bb.distance_table(slice_vectors, "gender")
    post = bb.fit(table, seed=0)
    for figure in (
        plots.plot_contrasts(post),
        plots.plot_decomposition(post),
        plots.plot_distances(table),
        bb.topic_null(slice_vectors, "gender", replicates=20).figure(),
    ):
        assert figure.get_supxlabel().count("coverage: 125 of 311 control words found (missing: ballpark, ") == 1


def test_contrasts_have_shrunken_means_with_unshrunken_ones_as_hollow_marks(religion_fit):
    table, inner = (bb.contrasts(religion_fit, prob=prob) for prob in (0.7, 0.5))
    axes = plots.plot_contrasts(religion_fit, prob=0.7, rope=0.01).axes[0]
    hollow = [each for each in axes.collections if isinstance(each, PathCollection) and each.get_facecolor().min() == 1]
    drawn = np.ma.concatenate([each.get_offsets()[:, 0] for each in hollow]).compressed()
    same(drawn, table["unshrunk"][1:])
    has(axes, table["mean"])
    same(bars(axes, OUTER), table[["low", "high"]])
    same(bars(axes, INNER), inner[["low", "high"]])
    order = table[1:].sort_values("mean")
    assert [row.split(" (")[0] for row in rows_of(axes)] == ["whole list", *order["protected_word"]]
    assert [label.get_fontweight() for label in axes.get_yticklabels()[:2]] == ["bold", "normal"]
    assert axes.get_xlabel().startswith("associated − different (cosine distance, 50% and 70% intervals)\n← closer to")
    assert "P(<0)" in texts(axes.figure)
    assert texts(plots.plot_contrasts(religion_fit, beside=False)) == {*rows_of(axes)}


def test_coefficients_sort_words_by_their_contrast_and_show_every_count():
    table = table_of(50)
    table.loc[(table["protected_word"] == "word1") & (table["connection"] == "associated"), "distance"] -= 0.5
    figure = plots.plot_coefficients(bb.fit(table, seed=0))
    assert rows_of(figure.axes[0])[:2] == ["whole list", "word1"]
    assert {"200 / 200 / 200 / 200", "4 / 4 / 4 / 4"} <= texts(figure)
    assert len(points(figure.axes[0])) == 4 * 51
    looks = {line.get_label().split()[0]: line for line in figure.legends[0].get_lines()}
    assert len({line.get_marker() for line in looks.values()}) == len(looks) == 4
    one, other = (np.dot(mpl.colors.to_rgb(looks[name].get_color()), (0.299, 0.587, 0.114)) for name in FOUR[:2])
    assert abs(one - other) > 0.08  # grey print


def test_raw_distances_show_every_pair():
    table = table_of(4)
    same(points(plots.plot_distances(table).axes[0]), table["distance"])
    assert {"associated0", "different3", "human\nn = 4"} <= texts(plots.plot_distances(table, "word2"))


def test_topics_are_drawn_with_observed_values_and_how_many_are_as_far(made):
    null = bb.topic_null(made.kv, made.lists, replicates=30, kind="random")
    axes = plots.plot_topic_null(null).axes[0]
    assert rows_of(axes) == [name.replace("-", "−") for name in null.observed]
    same(points(axes), null.values["value"])  # noqa: PD011
    diamonds = next(line for line in axes.get_lines() if line.get_marker() == "D")
    np.testing.assert_array_equal(diamonds.get_xdata(), list(null.observed.values()))
    assert {f"{count} of 30" for count in null.table()["count"]} <= texts(axes.figure)
    one = bb.topic_null(made.kv, made.query, "mac", replicates=30)
    (axes,) = plots.plot_topic_null(one).axes
    assert axes.get_lines()[-1].get_xdata()[0] == 1.0


@pytest.mark.parametrize("sizes", [(4, 5, 6), (1, 2, 0), (60, 150, 100)])
def test_relatedness_shows_similarities_list_by_list(sizes):
    words = [f"word{at}" for at in range(sum(sizes) + 60)]
    kv = dict(zip(words, np.random.default_rng(0).normal(size=(len(words), 8)), strict=True))
    own, near, human = (part.tolist() for part in np.split(np.array(words), np.cumsum(sizes))[:3])
    lists = bb.WordLists("made", {"g": own}, {"g": near}, {"human": human} if human else {})
    with pytest.warns(UserWarning, match="only"):
        held = bb.relatedness(kv, lists)
    figure = plots.plot_relatedness(held)
    above, below = figure.axes[:2]
    count = len(near) + len(human)
    assert above.images[0].get_array().shape == (count, count)
    shown = [row.split(" (")[0] for row in rows_of(above)]
    if count <= 150:
        assert sorted(shown) == sorted(near + human)
        units = dict(zip(held.attribute_words, held.units.astype(float), strict=True))
        expected = np.array([[units[one] @ units[other] for other in shown] for one in shown])
        np.testing.assert_allclose(above.images[0].get_array(), expected)
        np.testing.assert_allclose(below.images[0].get_array(), held.families(rows_of(below)))
    else:
        assert shown == ["g", "human"]
    assert figure.get_size_inches()[1] < 25
    with pytest.raises(bb.InputError, match="has its own relatedness"):
        plots.plot_relatedness(table_of(3))


def test_a_ranking_is_drawn_with_ranks_and_their_probabilities(made):
    above, *below = draws(made, "plot_ranking").axes
    ranks, chances = made.ranking.ranks, made.ranking.rank_distribution
    same([sum(bar.get_width() for bar in each) for each in zip(*above.containers, strict=True)], ranks.sum(axis=1))
    assert titles(below) == list(made.ranking.scores)
    same(below[0].images[0].get_array(), chances.loc[chances["metric"] == titles(below)[0], "probability"])


def test_silhouettes_have_the_range_of_their_metric_unless_they_fill_little_of_it():
    sizes, values = np.arange(2, 12, 2), np.random.default_rng(0).normal(0, 0.5, (6, 5))
    ends = {"low": values - 0.1, "high": values + 0.2}
    one = bb.silhouettes.Silhouette("m $x$", "targets", sizes, values, (-2.0, 2.0), 0.0, **ends)
    flat = bb.silhouettes.Silhouette("m $x$", "targets", sizes, 0.1 * values, (-2.0, 2.0), 0.0)
    figure = plots.plot_silhouette([{"a": one, "b": flat}, flat])
    first, second = figure.axes
    assert first.get_ylim() == pytest.approx((-2.12, 2.12))
    assert np.diff(second.get_ylim()) < 0.5
    assert [text.get_text() for text in first.get_legend().get_texts()] == ["a", "b"]
    drawn = [line.get_ydata() for line in first.get_lines()]
    np.testing.assert_array_equal(drawn[:3], [values.mean(axis=0), one.low.mean(axis=0), one.high.mean(axis=0)])


def test_a_pool_draws_shrunken_and_unshrunken_estimates(made):
    axes, table = draws(made, "plot_pool", prob=0.7).axes[0], made.pool.table(0.7).query("quantity == 'embedding'")
    assert rows_of(axes) == table.sort_values("mean")["name"].tolist()
    same(points(axes), table[["estimate", "mean"]])
    same(bars(axes, OUTER)[:, 0], table[["estimate_low", "low"]])


def test_a_change_draws_all_embeddings():
    first = table_of(3, ("associated", "neutral"), name=ODD)
    noise = np.random.default_rng(1).normal(0, 0.02, (3, len(first)))
    tables = {name: first.assign(distance=first["distance"] + noise[at]) for at, name in enumerate("abc")}
    result = bb.compare(tables, seed=0, draws=400)
    figure = plots.plot_change(result)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["a", "b", "c"]
    table = result.table()
    table = table[(table["of"] == table["of"].iloc[0]) & (table["from"] == "a")]
    below, moved = figure.axes[2:]
    same(points(below), [*table[table["to"] == "b"]["before"], *table["after"]])
    same(points(moved), table["change"])
    same(bars(moved, OUTER), table[["low", "high"]])
    assert {ODD.format(word) for word in range(3)} <= texts(figure)
    assert len(rows_of(plots.plot_change(result, before="b", after="c", words=False).axes[2])) == 1
    with pytest.raises(bb.InputError, match="valid are a → b, a → c, b → c"):
        plots.plot_change(result, before="c", after="a")


def test_side_effects_are_drawn_with_their_intervals(slice_vectors, hard_debiased):
    names = slice_vectors.index_to_key
    similar = [(names[at], names[at + 1], float(at)) for at in range(30)]
    result = bb.side_effects(slice_vectors, hard_debiased, "gender", similarity=similar, biased=50)
    figure = plots.plot_side_effects(result)
    assert len(figure.axes) == 4
    has(figure.axes[0], result.neighbours["kept"])
    has(figure.axes[1], result.controls["mean"])
    has(figure.axes[2], result.recovery["before"], result.recovery["after"], result.recovery["chance"])
    same(bars(figure.axes[1], OUTER), result.controls[["low", "high"]])


def test_reliability_is_drawn_by_name_or_as_strips(made):
    table = made.retest.assign(value=[*made.retest["value"][:-1], -2.5])
    strips, named = (plots.plot_reliability(table, labels=labels).axes[0] for labels in (False, True))
    for axes in (strips, named):
        same(points(axes), table["value"].clip(lower=-0.5).dropna())
        assert {round(band.get_x(), 2) for band in axes.patches if band.get_x() > 0} == {0.5, 0.75, 0.9}
    assert rows_of(strips) == table["measure"].unique().tolist()
    by_label = table.assign(value=table["value"].clip(lower=-0.5)).groupby("label")["value"].mean()
    assert rows_of(named) == by_label.sort_values(ascending=False, kind="stable").index.tolist()
    two = plots.plot_reliability({"wiki": table, "reddit": table}, labels=False).axes[0]
    assert rows_of(two)[0] == f"wiki, {table['measure'].iloc[0]}"


def test_a_forest_of_estimates_has_both_intervals(religion_fit):
    cells = bb.estimates(religion_fit).select(group="jew")
    figure = plots.forest(cells, "protected_word", by="connection", mark=1.0, prob=0.7, label="distance")
    axes, table = figure.axes[0], cells.summary(0.7)
    same(points(axes), table["mean"])
    same(bars(axes, OUTER)[:, 0], table["low"])
    same(bars(axes, INNER)[:, 0], cells.quantile(0.25))
    assert axes.get_xlabel() == "distance (50% and 70% intervals)"
    assert len(rows_of(axes)) == 5


def test_a_forest_without_an_end_has_no_bar_and_a_panel_for_each_value():
    few = pd.DataFrame({"name": ["$a$", "b", "b"], "kind": [1, 1, 2], "x": [0.1, 0.2, np.nan]})
    few = few.assign(low=[np.nan, 0.0, 0.0], high=1.0)
    axes = plots.forest(few, value="x", by="kind", mark=(0.5, 0.6)).axes[0]
    np.testing.assert_array_equal(points(axes), [0.1, 0.2])
    np.testing.assert_array_equal(bars(axes, OUTER), [[0.0, 1.0]])
    assert [text.get_text() for text in axes.figure.legends[0].get_texts()] == ["kind = 1", "kind = 2"]
    assert titles(plots.forest(few, value="x", panels="kind").axes) == ["1", "2"]


@pytest.mark.parametrize(("side", "centre"), [(3, 0.0), (16, None), (40, 0.5)])
def test_a_matrix_holds_its_numbers_up_to_thirty_columns(side, centre):
    frame = pd.DataFrame(np.random.default_rng(0).normal(0, 0.2, (side, side)), [f"$x_{{{at}}}$" for at in range(side)])
    frame.iloc[0, 1] = np.nan
    axes, colours = plots.matrix(frame, "unit", "title", centre).axes
    np.testing.assert_array_equal(axes.images[0].get_array(), frame)
    written = [text.get_text() for text in axes.texts]
    assert len(written) == (side**2 if side <= 30 else 0)
    if side <= 30:
        first = f"{frame.iloc[0, 0]:.3f}" if centre is not None else f"{frame.iloc[0, 0]:.2f}".replace("0.", ".")
        assert written[:2] == [first.replace("-", "−"), "–"]
    assert colours.get_ylabel() == "unit"


@pytest.mark.parametrize("words", [2, 200])
def test_a_strip_shows_every_number_with_its_quartiles(words):
    table = table_of(words, name="$x_{{{}}}$")
    axes = plots.strip(table, "distance", "connection", by="group", mark=(1.0, 2.0)).axes[0]
    by = table.groupby("connection", sort=False)["distance"]
    same(points(axes), table["distance"])
    np.testing.assert_allclose(bars(axes, MEDIAN)[:, 0], by.median())
    np.testing.assert_allclose(bars(axes, QUARTILES), np.column_stack([by.quantile(0.25), by.quantile(0.75)]))
    assert {f"n = {4 * words:,}"} == {text for text in texts(axes.figure) if text.startswith("n = ")}


def test_a_curve_is_a_line_with_a_band():
    table = pd.DataFrame({"at": [2, 1, 1], "mean": [1.0, 2.0, 3.0], "low": 0.0, "high": 4.0, "name": ["a", "a", "b"]})
    axes = plots.curve(table, "at", by="name", mark=1.0, label="unit").axes[0]
    assert [line.get_ydata().tolist() for line in axes.get_lines()[:2]] == [[2.0, 1.0], [3.0]]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("at", "unit")


def test_of_many_words_of_an_axis_the_ends_and_those_chosen_are_shown():
    gender = bb.axis("glove-50d-slice", "gender")
    table = gender.table()
    order = table["word"].tolist()
    (axes,) = plots.plot_axis(gender, words=["nurse", "engineer"], labels=7).axes
    assert rows_of(axes) == [*order[:3], "engineer", "nurse", *order[-2:]]
    bold = [label.get_text() for label in axes.get_yticklabels() if label.get_fontweight() == "bold"]
    assert bold == ["engineer", "nurse"]
    assert axes.get_xlabel() == "place (cosine distance, 89% intervals)\n← woman      man →"
    same(points(axes), table.set_index("word")["mean"][rows_of(axes)])
    assert rows_of(plots.plot_axis(gender).axes[0]) == order[:20] + order[-20:]
