"""A picture could alter matplotlib for its reader, hide words, or draw other numbers than its table has."""

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

OUTER, INNER, MEDIAN, QUARTILES = 1.1, 3.0, 1.6, 4
"""Widths of lines: of intervals, of their halves, of medians of strips, and of their quartiles."""


def rows_of(axes):
    """Labels of rows from the top."""
    return [label.get_text() for label in axes.get_yticklabels()]


def texts(figure):
    return {text for axes in figure.axes for text in [*(each.get_text() for each in axes.texts), *rows_of(axes)]}


def titles(axes):
    return [each.get_title(loc="left") for each in axes]


def points(axes):
    """Values of all that is scattered."""
    held = [each.get_offsets()[:, 0] for each in axes.collections if isinstance(each, PathCollection)]
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


def contrasts(axes, post):
    table, inner = (bb.contrasts(post, prob=prob) for prob in (0.89, 0.5))
    hollow = [each for each in axes.collections if isinstance(each, PathCollection) and each.get_facecolor().min() == 1]
    drawn = np.ma.concatenate([each.get_offsets()[:, 0] for each in hollow]).compressed()
    same(drawn, table["unshrunk"][1:])
    has(axes, table["mean"])
    same(bars(axes, OUTER), table[["low", "high"]])
    same(bars(axes, INNER), inner[["low", "high"]])
    words = table[1:].sort_values("mean")
    assert rows_of(axes) == ["whole list", *(f"{row.protected_word} ({row.group})" for row in words.itertuples())]
    assert [label.get_fontweight() for label in axes.get_yticklabels()[:2]] == ["bold", "normal"]
    assert axes.get_xlabel().startswith("associated − different (cosine distance, 50% and 89% intervals)\n← closer to")
    assert "P(<0)" in texts(axes.figure)


def decomposition(axes, post):
    table = bb.decomposition(post)
    first = table["contrast"].isin(
        ["associated - different", table["contrast"].iloc[-4]]
    )  # of the whole list, of words
    same(points(axes), table.loc[first, "mean"])
    signs = [title[:2] for title in titles(axes.figure.axes)]
    assert signs == ["as", *["+ "] * (len(signs) - 2), "= "]


def coefficients(axes, post):
    assert rows_of(axes)[0] == "whole list"
    assert len(points(axes)) == 4 * 9
    assert {"24 / 24 / 32 / 112", "3 / 3 / 4 / 14"} <= texts(axes.figure)
    assert len({line.get_marker() for line in axes.figure.legends[0].get_lines()}) == 4


def distances(axes, table):
    same(points(axes), table["distance"])
    assert {"k", "c", "human\nn = 4"} <= texts(plots.plot_distances(table, "p"))


def change(axes, result):
    table = result.table()
    table = table[table["of"] == table["of"].iloc[0]]
    below, moved = axes.figure.axes[2:]
    same(points(below), table[["before", "after"]])
    same(points(moved), table["change"])
    same(bars(moved, OUTER), table[["low", "high"]])
    assert [text.get_text() for text in axes.figure.legends[0].get_texts()] == ["before", "after"]


def topic_null(axes, null):
    names = [name for name in null.observed if " - " in name]
    assert rows_of(axes) == [name.replace("-", "−") for name in names]
    same(points(axes), np.concatenate([null.of(name) for name in names]))
    diamonds = next(line for line in axes.get_lines() if line.get_marker() == "D")
    same(diamonds.get_xdata(), [null.observed[name] for name in names])
    assert {text for text in texts(axes.figure) if text.endswith(" of 5")}


def pool(axes, result):
    table = result.table().query("quantity == 'embedding'")
    assert rows_of(axes) == table.sort_values("mean")["name"].tolist()
    same(points(axes), table[["estimate", "mean"]])
    same(bars(axes, OUTER)[:, 0], table[["estimate_low", "low"]])


def relatedness(axes, held):
    units = dict(zip(held.attribute_words, held.units.astype(float), strict=True))
    shown = [row.split(" (")[0] for row in rows_of(axes)]
    expected = np.array([[units[one] @ units[other] for other in shown] for one in shown])
    np.testing.assert_allclose(axes.images[0].get_array(), expected)
    below = axes.figure.axes[1]
    words = [row.split(" (")[0] for row in rows_of(below)]
    np.testing.assert_allclose(below.images[0].get_array(), held.families(words))


def silhouette(axes, one):
    assert axes.get_ylim() == pytest.approx((-2.12, 2.12))
    np.testing.assert_array_equal(axes.get_lines()[0].get_ydata(), one.by_size()["mean_value"])


def reliability(axes, table):
    same(points(axes), table["value"].clip(lower=-0.5).dropna())
    assert {round(band.get_x(), 2) for band in axes.patches if band.get_x() > 0} == {0.5, 0.75, 0.9}
    by_label = table.assign(value=table["value"].clip(lower=-0.5)).groupby("label")["value"].mean()
    assert rows_of(axes) == by_label.sort_values(ascending=False, kind="stable").index.tolist()
    strips = plots.plot_reliability({"wiki": pd.concat([table, table])}).axes[0]  # whose names stand twice
    assert rows_of(strips) == [f"wiki, {name}" for name in table["measure"].unique()]


def ranking(axes, result):
    below = axes.figure.axes[1:]
    same(
        [sum(bar.get_width() for bar in each) for each in zip(*axes.containers, strict=True)], result.ranks.sum(axis=1)
    )
    assert titles(below) == list(result.scores)
    same(below[0].images[0].get_array(), result.rank_distribution["probability"])


def covariates(axes, result):
    table = result.table().query("quantity != 'coefficient'")
    same(points(axes), table["mean"])
    same(bars(axes, OUTER), table[["low", "high"]])
    same(bars(axes, INNER), table[["these_low", "these_high"]])
    (rings,) = (line.get_xdata() for line in axes.get_lines() if line.get_marker() == "o")
    assert list(rings) == table["equal"].tolist()


def side_effects(axes, result):
    near, controls, found = axes.figure.axes[:3]
    has(near, result.neighbours["kept"])
    has(controls, result.controls["mean"])
    same(bars(controls, OUTER), result.controls[["low", "high"]])
    has(found, result.recovery["before"], result.recovery["after"], result.recovery["chance"])


def axis(axes, result):
    table = result.table().set_index("word")
    same(points(axes), table["mean"])
    assert rows_of(axes) == table.index.tolist()
    assert axes.get_xlabel() == "place (cosine distance, 89% intervals)\n← he      she →"


def forest(axes, estimates):
    table = estimates.summary(0.7)
    same(points(axes), table["mean"])
    same(bars(axes, OUTER)[:, 0], table["low"])
    same(bars(axes, INNER)[:, 0], estimates.quantile(0.25))
    assert axes.get_xlabel() == "distance (50% and 70% intervals)"


def matrix(axes, table):
    np.testing.assert_array_equal(axes.images[0].get_array(), table)
    assert [text.get_text() for text in axes.texts][:2] == [f"{table.iloc[0, 0]:.3f}".replace("-", "−"), "–"]
    assert axes.figure.axes[1].get_ylabel() == "unit"


def strip(axes, table):
    by = table.groupby("connection", sort=False)["distance"]
    same(points(axes), table["distance"])
    np.testing.assert_allclose(bars(axes, MEDIAN)[:, 0], by.median())
    np.testing.assert_allclose(bars(axes, QUARTILES), np.column_stack([by.quantile(0.25), by.quantile(0.75)]))
    assert "n = 112" in texts(axes.figure)


def curve(axes, table):
    assert [line.get_ydata().tolist() for line in axes.get_lines()[:2]] == [[2.0, 1.0], [3.0]]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("at", "unit")


NUMBERS = pd.DataFrame(np.random.default_rng(0).normal(0, 0.2, (3, 3)), ["$a$", "b", "c"], [*"xyz"])
NUMBERS.iloc[0, 1] = np.nan
LINES = pd.DataFrame({"at": [2, 1, 1], "mean": [1.0, 2.0, 3.0], "low": 0.0, "high": 4.0, "name": ["a", "a", "b"]})
PICTURES = {
    "plot_contrasts": ("related", contrasts, {}),
    "plot_decomposition": ("related", decomposition, {}),
    "plot_coefficients": ("post", coefficients, {}),
    "plot_distances": ("table", distances, {}),
    "plot_change": ("comparison", change, {}),
    "plot_topic_null": ("topic_null", topic_null, {}),
    "plot_pool": ("pool", pool, {}),
    "plot_relatedness": ("relatedness", relatedness, {}),
    "plot_silhouette": ("silhouette", silhouette, {}),
    "plot_reliability": ("retest", reliability, {}),
    "plot_ranking": ("ranking", ranking, {}),
    "plot_covariates": ("covariate_contrast", covariates, {}),
    "plot_side_effects": ("side_effects", side_effects, {}),
    "plot_axis": ("axis", axis, {}),
    "forest": ("estimates", forest, {"by": "list", "prob": 0.7, "label": "distance"}),
    "matrix": (NUMBERS, matrix, {"label": "unit"}),
    "strip": ("table", strip, {"value": "distance", "rows": "connection"}),
    "curve": (LINES, curve, {"at": "at", "by": "name", "mark": 1.0, "label": "unit"}),
}
"""Pictures to what they are of, to what must be drawn, and to their options."""


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
def test_a_picture_has_the_numbers_of_its_table_and_room_for_its_labels(made, name):
    given, check, options = PICTURES[name]
    drawn = getattr(made, given) if isinstance(given, str) else given
    before, known = dict(mpl.rcParams), plt.get_fignums()
    figure = getattr(plots, name)(drawn, title="A title $x$", **options)
    assert isinstance(figure, Figure)
    assert len(plt.get_fignums()) == len(known) + 1
    assert dict(mpl.rcParams) == before
    assert figure.get_suptitle() == "A title $x$"
    inside_and_apart(figure)
    check(figure.axes[0], drawn)


@pytest.mark.parametrize("name", ["plot_contrasts", "plot_distances", "plot_reliability"])
def test_a_picture_of_one_panel_draws_on_axes_and_returns_them(made, name):
    assert set(PICTURES) == set(plots.__all__) - {"plot_spread"}  # the one that docs/extending.md adds
    figure, panels = plt.subplots(1, 3, figsize=(13, 6), layout="constrained")
    panels[0].set_title("of the reader", loc="left")
    for axes, given in zip(panels, ({}, {}, {"title": "b"}), strict=True):
        assert getattr(plots, name)(getattr(made, PICTURES[name][0]), ax=axes, **given) is axes
    assert titles(panels) == ["of the reader", "", "b"]
    assert not figure.get_suptitle()
    inside_and_apart(figure)


def test_what_no_picture_is_of_is_refused(made):
    with pytest.raises(bb.InputError, match="given is DistanceTable: plot_axis draws Axis"):
        plots.plot_axis(made.table)
    with pytest.raises(bb.InputError, match="ax is one panel, and 2 are to be drawn"):
        plots.plot_silhouette([made.silhouette] * 2, ax=Figure().add_subplot())
    with pytest.raises(bb.InputError, match="no protected word 'jedi'; it holds p, q"):
        plots.plot_distances(made.table, "jedi")


def test_a_notebook_shows_a_figure_once_and_a_report_none(made, monkeypatch, tmp_path):
    shown, known = [], plt.get_fignums()
    figure = plots.plot_contrasts(made.related)
    monkeypatch.setattr("IPython.display.display", shown.append)
    figure._ipython_display_()
    assert [image.data[:4] for image in shown] == [b"\x89PNG"]
    page = bb.report(bb.summary(made.related), tmp_path / "page.html").read_text(encoding="utf-8")
    assert f'<img alt="{bb.summary(made.related).caption().replace("<", "&lt;")}: Contrasts"' in page
    assert plt.get_fignums() == known


def test_lost_words_stand_below_a_figure(plain_gender):
    lost = plots.plot_distances(plain_gender).get_supxlabel()
    assert lost.count("coverage: 125 of 311 control words found (missing: ballpark, ") == 1


def test_long_lists_have_labels_of_their_own():
    words = [f"word{at}" for at in range(370)]
    kv = dict(zip(words, np.random.default_rng(0).normal(size=(370, 8)), strict=True))
    lists = bb.WordLists("made", {"g": words[:60]}, {"g": words[60:210]}, {"human": words[210:310]})
    with pytest.warns(UserWarning, match="only"):
        figure = plots.plot_relatedness(bb.relatedness(kv, lists))
    assert rows_of(figure.axes[0]) == ["g", "human"]
    assert figure.get_size_inches()[1] < 25


def test_a_forest_without_an_end_has_no_bar_and_a_panel_for_each_value():
    few = pd.DataFrame({"name": ["$a$", "b", "b"], "kind": [1, 1, 2], "x": [0.1, 0.2, np.nan]})
    few = few.assign(low=[np.nan, 0.0, 0.0], high=1.0)
    axes = plots.forest(few, value="x", by="kind", mark=(0.5, 0.6)).axes[0]
    np.testing.assert_array_equal(points(axes), [0.1, 0.2])
    np.testing.assert_array_equal(bars(axes, OUTER), [[0.0, 1.0]])
    assert [text.get_text() for text in axes.figure.legends[0].get_texts()] == ["kind = 1", "kind = 2"]
    assert titles(plots.forest(few, value="x", panels="kind").axes) == ["1", "2"]


def test_of_many_words_of_an_axis_the_ends_are_shown():
    gender = bb.axis("glove-50d-slice", "gender")
    order = gender.table()["word"].tolist()
    assert rows_of(plots.plot_axis(gender, labels=7).axes[0]) == [*order[:4], *order[-3:]]
