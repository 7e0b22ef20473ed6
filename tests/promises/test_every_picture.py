"""Every picture through one mould: a Figure back, no global state, stable, readable with few and many words."""

import inspect
import io
from dataclasses import replace
from functools import cache
from itertools import pairwise

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

import bayesbias as bb
from bayesbias.plots import style

OF_A_FIT = {
    "overview": bb.plots.plot_overview,
    "coefficients": bb.plot_coefficients,
    "predictions": bb.plots.plot_predictions,
    "contrasts": lambda post: bb.plot_contrasts(post, second="neutral"),
    "contrasts with a rope": lambda post: bb.plot_contrasts(post, second="neutral", rope=0.05),
}


def table_of(words, connections=("associated", "different", "human", "neutral"), size=4, name="word{}"):
    rng = np.random.default_rng(0)
    rows = [
        (name.format(word), "g", f"{connection}{at}", connection, connection, rng.normal(0.9, 0.1))
        for word in range(words)
        for connection in connections
        for at in range(size)
    ]
    names = ["protected_word", "group", "attribute_word", "attribute_class", "connection", "distance"]
    return pd.DataFrame(rows, columns=names)


def svg(figure, laid_out=True):
    """What savefig writes, as test_report has it, but laid out once, or not at all."""
    buffer = io.StringIO()
    if not laid_out:
        figure.set_layout_engine("none")
    with mpl.rc_context({"svg.hashsalt": "fixed", "svg.fonttype": "none"}):
        style.write_svg(figure, buffer)
    return buffer.getvalue()


def texts(figure):
    return {text.get_text() for axes in figure.axes for text in [*axes.texts, *axes.get_yticklabels()]}


def points(axes, column=0):
    """One coordinate of all that is scattered."""
    held = [each.get_offsets()[:, column] for each in axes.collections if isinstance(each, PathCollection)]
    return np.concatenate([np.empty(0), *held])


DRAWN_AGAIN = set()
"""The functions whose picture was drawn twice."""


@pytest.fixture(scope="module", autouse=True)
def every_picture_again(request):
    """Under --full every picture is drawn twice, not only the first of each function."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(globals(), "EVERY", request.config.getoption("--full"))
        yield


EVERY = False


def is_first(draw):
    """Whether no picture was made before by the code of ``draw`` and the functions it closes over."""
    inside = tuple(cell.cell_contents for cell in draw.__closure__ or () if inspect.isfunction(cell.cell_contents))
    first = (draw.__code__, inside) not in DRAWN_AGAIN
    DRAWN_AGAIN.add((draw.__code__, inside))
    return first


def through_the_mould(draw, tallest=25.0):
    """A Figure back, no global state, of a size that fits a page; the first of each function is the same again.

    Under --full all are, and all are written as a notebook shows them; by default the others are laid out.
    """
    import matplotlib.pyplot as plt

    before, known = dict(mpl.rcParams), plt.get_fignums()
    figure = draw()
    assert isinstance(figure, Figure)
    assert plt.get_fignums() == known
    assert dict(mpl.rcParams) == before
    first = is_first(draw)
    if EVERY or first:
        assert svg(figure) == svg(draw())
    else:
        figure.draw_without_rendering()
    if EVERY:  # last, since a layout at another resolution differs by a rounding
        assert figure._repr_png_().startswith(b"\x89PNG")
    width, height = figure.get_size_inches()
    assert 5 < width < 13
    assert 1.5 < height < tallest
    return figure


@pytest.fixture(scope="module")
def fits():
    return {
        "four words": bb.fit(table_of(4), seed=0),
        "fifty words": bb.fit(table_of(50), seed=0),
        "two connections": bb.fit(table_of(5, ("associated", "neutral")), seed=0),
        "one distance in each cell": bb.fit(table_of(6, size=1), seed=0),
        "words that look like formulas": bb.fit(table_of(3, name="$x_{{1}}$ <b>&{0}"), seed=0),
    }


@pytest.mark.parametrize("plot", OF_A_FIT.values(), ids=OF_A_FIT.keys())
@pytest.mark.parametrize("kind", ["four words", "fifty words", "two connections", "one distance in each cell"])
def test_a_picture_of_a_fit(fits, plot, kind):
    through_the_mould(lambda: plot(fits[kind]))


@pytest.mark.parametrize(
    ("kind", "second"),
    [
        ("four words", "human"),
        ("fifty words", "neutral"),
        ("one distance in each cell", "human"),
        ("words that look like formulas", "human"),
    ],
)
def test_a_picture_of_a_decomposition(fits, kind, second):
    figure = through_the_mould(lambda: bb.plot_decomposition(fits[kind], second))
    words = fits[kind]["posterior"]["protected_word"].to_numpy().tolist()
    assert {"whole list", *words} <= texts(figure)


@pytest.mark.parametrize("plot", OF_A_FIT.values(), ids=OF_A_FIT.keys())
def test_words_are_text_and_never_formulas(fits, plot):
    figure = plot(fits["words that look like formulas"])
    assert "<svg" in svg(figure)
    if plot in (bb.plot_coefficients, OF_A_FIT["contrasts"], OF_A_FIT["contrasts with a rope"]):
        assert {f"$x_{{1}}$ <b>&{word}" for word in range(3)} <= texts(figure)


@pytest.mark.parametrize("frames", [1, 4, 40])
def test_a_picture_of_sentence_frames(frames):
    table = table_of(4)
    moves = np.random.default_rng(0).normal(0, 0.01, (frames, 4))
    parts = [
        table.assign(
            template=f"$x_{{{at}}}$ <b>", distance=table["distance"] + move[table["connection"].factorize()[0]]
        )
        for at, move in enumerate(moves)
    ]
    post = bb.fit(pd.concat(parts, ignore_index=True), "crossed", seed=0)
    figure = through_the_mould(lambda: bb.plots.plot_templates(post))
    assert {f"$x_{{{at}}}$ <b>" for at in range(frames)} <= {text.strip() for text in texts(figure)}


def with_axes():
    """The public pictures that take axes."""
    every = {name: getattr(bb.plots, name) for name in bb.plots.__all__}
    return {name: plot for name, plot in every.items() if "ax" in inspect.signature(plot).parameters}


def test_pictures_of_one_panel_take_axes():
    of_one_panel = {name for name in bb.plots.__all__ if "one_panel(" in inspect.getsource(getattr(bb.plots, name))}
    assert len(of_one_panel) > 8
    assert of_one_panel <= set(with_axes())
    for plot in with_axes().values():
        assert "\nax\n    Axes to draw on" in inspect.cleandoc(plot.__doc__)


def test_axes_that_are_given_are_drawn_on(fits):
    import matplotlib.pyplot as plt

    table = table_of(4)
    draws = (
        lambda ax: bb.plot_contrasts(fits["four words"], second="human", ax=ax),
        lambda ax: bb.plot_contrasts(fits["four words"], second="neutral", ax=ax),
        lambda ax: bb.plot_distances(table, ax=ax),
        lambda ax: bb.plot_distances(table, "word1", ax=ax),
    )
    figure, panels = plt.subplots(2, 2, figsize=(12, 10), layout="constrained")
    for draw, axes in zip(draws, panels.ravel(), strict=True):
        assert draw(axes) is figure
        alone = draw(None).axes[0]
        assert axes.get_title(loc="left") == alone.get_title(loc="left")
        assert [t.get_text() for t in axes.get_yticklabels()] == [t.get_text() for t in alone.get_yticklabels()]
        with pytest.raises(bb.InputError, match="ax is str: give the Axes of a matplotlib figure"):
            draw("here")
    assert len(figure.axes) == 4
    plt.close(figure)


def test_coefficients_show_every_word_and_every_count(fits):
    shown = texts(bb.plot_coefficients(fits["fifty words"]))
    assert {f"word{word}" for word in range(50)} <= shown
    assert {"n = 200", "4", "associated", "neutral"} <= shown


def test_coefficients_sort_words_by_their_contrast():
    table = table_of(3)
    table.loc[(table["protected_word"] == "word1") & (table["connection"] == "associated"), "distance"] -= 0.5
    figure = bb.plot_coefficients(bb.fit(table, seed=0))
    assert figure.axes[1].get_yticklabels()[0].get_text() == "word1"


def test_contrasts_show_the_whole_list_first(fits):
    figure = bb.plot_contrasts(fits["four words"], second="human")
    assert figure._repr_png_().startswith(b"\x89PNG")
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert labels[0] == "whole list"
    assert set(labels[1:]) == {f"word{word}" for word in range(4)}


def test_raw_distances_show_every_pair():
    table = table_of(4)
    figure = bb.plot_distances(table)
    points = sum(len(collection.get_offsets()) for collection in figure.axes[0].collections)
    assert points >= len(table)
    one = bb.plot_distances(table, "word2")
    assert {"associated0", "different3", "human, n = 4"} <= texts(one)


def test_a_word_that_is_not_there_is_refused():
    with pytest.raises(bb.InputError, match=r"no protected word 'jedi'; it holds word0, word1"):
        bb.plot_distances(table_of(2), "jedi")


def test_a_plan_is_drawn_with_the_present_lists_marked():
    plan = bb.plan(table_of(6), effect=0.1)
    figure = bb.plots.plot_plan(plan)
    left, right = figure.axes
    assert len(left.get_lines()) >= plan.curve["varied"].nunique()
    assert left.collections[-1].get_offsets()[0].tolist() == pytest.approx([1.0, plan.present.width])
    assert right.collections[-1].get_offsets()[0].tolist() == pytest.approx([1.0, plan.present.power])
    with pytest.raises(bb.InputError, match="plot_plan takes what plan returns"):
        bb.plots.plot_plan(table_of(2))


def test_noise_is_drawn_with_the_sample_marked():
    null = bb.calibration.simulate_null_weat(words=4, attributes=5, draws=300)
    axes = bb.plots.plot_null_weat(null).axes
    for (left, right), values in ((axes[:2], null.s), (axes[2:], null.partition_s)):
        assert left.get_lines()[0].get_xdata()[0] == null.observed_s
        assert right.get_lines()[0].get_xdata()[0] == null.observed_effect_size
        assert sum(bar.get_height() for bar in left.patches[1:]) == len(values)
    with pytest.raises(bb.InputError, match="takes what simulate_null_weat returns"):
        bb.plots.plot_null_weat(table_of(2))


@pytest.mark.parametrize("replicates", [1, 60, 300])
def test_topics_are_drawn_with_the_observed_value_marked(replicates):
    rng = np.random.default_rng(0)
    kv = {f"$x_{{{at}}}$": rng.normal(size=8) for at in range(60)}
    words = list(kv)
    query = bb.Query({"x": words[:3], "y": words[3:6]}, {"a": words[6:10], "b": words[10:14]}, name="$q$ <b>")
    null = bb.topic_null(kv, query, "mac", replicates=replicates)
    figure = through_the_mould(lambda: bb.plots.plot_topic_null(null))
    axes, values = figure.axes[0], null.of("mac")
    assert [line.get_xdata()[0] for line in axes.get_lines()] == [1.0, null.observed["mac"]]
    assert sum(bar.get_height() for bar in axes.patches) == replicates
    far = {to_hex(bar.get_facecolor()): 0 for bar in axes.patches}
    for bar in axes.patches:
        far[to_hex(bar.get_facecolor())] += bar.get_height()
    assert far["#e69f00"] == sum(abs(values - 1) >= abs(null.observed["mac"] - 1))
    said = null.table()["count"].item()
    assert titles(figure)[0].startswith(f"{null.words}, mac: {said} of {replicates} ({said / replicates:.1%})")
    assert f"{replicates} random lists as coherent as these" in noted(figure)
    assert "$q$ <b>" in noted(figure)


def test_topics_of_each_contrast_are_drawn():
    rng = np.random.default_rng(0)
    kv = {f"word{at}": rng.normal(size=8) for at in range(60)}
    words = list(kv)
    lists = bb.WordLists("made", {"g": words[:3]}, {"g": words[3:6]}, {"human": words[6:9], "neutral": words[9:12]})
    null = bb.topic_null(kv, lists, replicates=30, kind="random")
    for figure, name in (
        (bb.plots.plot_topic_null(null), "associated - human"),
        (bb.plots.plot_topic_null(null, "associated - neutral"), "associated - neutral"),
    ):
        assert figure.axes[0].get_lines()[-1].get_xdata()[0] == null.observed[name]
        assert titles(figure)[0].startswith(f"{null.words}, {name.replace('-', '−')}: ")
        assert "30 lists of unrelated random words" in noted(figure)
    with pytest.raises(bb.InputError, match="statistic is 'weat': valid are associated - human, associated - neutral"):
        bb.plots.plot_topic_null(null, "weat")
    with pytest.raises(bb.InputError, match="plot_topic_null takes what topic_null returns"):
        bb.plots.plot_topic_null(table_of(2))


@cache
def related(groups, stereotypes, controls=0, name="word{}"):
    """Relatedness of so many words in each list, in a vocabulary of 60 words more."""
    rng = np.random.default_rng(0)
    sizes = [*groups, *stereotypes, controls]
    kv = {name.format(at): rng.normal(size=8) for at in range(sum(sizes) + 60)}
    parts = [part.tolist() for part in np.split(np.array(list(kv)), np.cumsum(sizes))]
    protected = {f"group{at}": words for at, words in enumerate(parts[: len(groups)])}
    own = {f"group{at}": words for at, words in enumerate(parts[len(groups) : len(groups) + len(stereotypes)])}
    lists = bb.WordLists("made", protected, own, {"human": parts[len(sizes) - 1]} if controls else {})
    with pytest.warns(UserWarning, match="only 60 words"):
        return bb.relatedness(kv, lists)


LISTS = {
    "three words": ((1,), (2,)),
    "single words": ((1,) * 12, (1,) * 3),
    "two lists": ((4, 5), (6, 8), 10),
    "many lists": ((2,) * 30, (3,) * 30),
    "more lists than labels": ((1,) * 60, (1,) * 60),
    "many words": ((60, 40), (150, 50), 100),
    "words that look like formulas": ((3, 3), (4, 4), 0, "$x_{{{}}}$ <b>&"),
}


@pytest.mark.parametrize("lists", LISTS.values(), ids=LISTS.keys())
@pytest.mark.parametrize("plot", [bb.plots.plot_variogram, bb.plots.plot_relatedness])
def test_relatedness_of_few_and_many_words(plot, lists):
    found = related(*lists)
    through_the_mould(lambda: plot(found))


def boxes_of(figure):
    """Label to its place on the screen, for all labels of words and lists that are drawn."""
    figure.draw_without_rendering()
    for axes in figure.axes:
        for labels in (axes.get_yticklabels(), axes.texts):
            yield {text.get_text(): text.get_window_extent() for text in labels if text.get_text()}


@pytest.mark.parametrize("lists", [LISTS[name] for name in ("single words", "two lists", "many lists")])
def test_labels_of_words_and_lists_do_not_overlap(lists):
    figure = bb.plots.plot_relatedness(related(*lists))
    width, height = figure.bbox.size
    for boxes in map(dict.values, boxes_of(figure)):
        boxes = sorted(boxes, key=lambda box: box.y0)
        assert all(low.y1 <= high.y0 + 2 for low, high in pairwise(boxes))
        assert all(box.x0 >= 0 and box.x1 <= width and box.y0 >= 0 and box.y1 <= height for box in boxes)


def test_relatedness_shows_similarities_by_list_with_alike_words_side_by_side():
    rng = np.random.default_rng(0)
    kv = {f"word{at}": rng.normal(size=8) for at in range(500)}
    kv |= {f"near{at}": kv["word1"] + 0.1 * rng.normal(size=8) for at in range(2)}
    words = ["word1", "word2", "word3", "near0", "word4", "near1"]
    lists = bb.WordLists("made", {"g": ["word10", "word11"]}, {"g": words}, {"human": ["word1", "word5"]})
    found = bb.relatedness(kv, lists)
    figure = bb.plots.plot_relatedness(found)
    above, below = (axes for axes in figure.axes if axes.get_title(loc="left"))
    shown = [label.get_text() for label in above.get_yticklabels()]
    assert sorted(shown[:6]) == sorted(words)
    assert shown[6:] == ["word1", "word5"]
    first = min(shown.index(word) for word in ("word1", "near0", "near1"))
    assert set(shown[first : first + 3]) == {"word1", "near0", "near1"}
    units = dict(zip(found.attribute_words, found.units.astype(float), strict=True))
    expected = np.array([[units[one] @ units[other] for other in shown] for one in shown])
    np.testing.assert_allclose(above.images[0].get_array(), expected)
    protected = [label.get_text() for label in below.get_yticklabels()]
    np.testing.assert_allclose(below.images[0].get_array(), found.families(protected))
    low, high = above.images[0].get_clim()
    assert low == -high < 0
    worth = found.effective_words().set_index("kind")["effective"]
    assert texts(figure) >= {
        f"g (stereotype)\n6 words; effective {worth['stereotype']:.1f}",
        f"human (control)\n2 words; effective {worth['control']:.1f}",
        f"g\n2 words; effective {worth['protected']:.1f}",
    }


def test_a_variogram_has_its_largest_components_and_the_pairs_within_lists():
    found = related((4, 5), (6, 8), 10)
    figure = bb.plots.plot_variogram(found)
    curves, sampled, lists = figure.axes
    table = found.variogram()
    labels = [text.get_text() for text in curves.get_legend().get_texts()]
    shares = table.groupby("component")["share"].first()
    assert labels[:-1] == [f"component {at + 1}: {shares[at]:.0%} of the variance" for at in range(5)]
    assert labels[-1] == "correlation = similarity"
    first = table[(table["component"] == 0)]
    met = first.loc[first["pairs"] > 0, "similarity"]
    line = next(line for line in curves.get_lines() if line.get_label() == labels[0])
    inside = first[first["similarity"].between(met.min(), met.max())]
    np.testing.assert_allclose(line.get_xydata(), inside[["similarity", "correlation"]])
    assert [bar.get_height() for bar in sampled.patches] == first["pairs"].tolist()
    assert sampled.get_yscale() == "log"
    said = [text.get_text() for text in lists.get_legend().get_texts()]
    assert said == ["random pairs", "within stereotype lists (43 pairs)", "within control lists (45 pairs)"]
    units = dict(zip(found.attribute_words, found.units.astype(float), strict=True))
    _, _, words = next(each for each in found.lists if each[1] == "control")
    alike = [units[one] @ units[other] for at, one in enumerate(words) for other in words[:at]]
    assert f"Within a control list two words have a similarity of {np.mean(alike):.2f} on average" in noted(
        figure
    ).replace("\N{MINUS SIGN}", "-")


@pytest.mark.parametrize("plot", [bb.plots.plot_variogram, bb.plots.plot_relatedness])
def test_relatedness_of_a_table_and_of_a_fit_is_drawn(plot, religion, religion_fit, slice_vectors):
    given = svg(plot(bb.relatedness(slice_vectors, "religion")), laid_out=False)
    assert svg(plot(religion), laid_out=False) == given
    assert svg(plot(religion_fit), laid_out=False) == given
    with pytest.raises(bb.InputError, match="this carries no relatedness"):
        plot(table_of(3))
    with pytest.raises(bb.InputError, match=f"given is str: {plot.__name__} takes what relatedness returns, or a"):
        plot("religion")


def test_a_ranking_is_drawn_with_ranks_and_their_probabilities():
    rng = np.random.default_rng(0)
    words = [f"{name}{at}" for name in "xyab" for at in range(6)]
    kvs = {name: dict(zip(words, rng.normal(size=(24, 8)), strict=True)) for name in ("one", "two $x$", "three")}
    query = bb.Query({key: words[6 * at : 6 * at + 6] for at, key in enumerate("xy")},
                     {key: words[12 + 6 * at : 18 + 6 * at] for at, key in enumerate("ab")})  # fmt: skip
    ranking = bb.rank(kvs, query, ["weat", "rnsb"], draws=20)
    figure = bb.plots.plot_ranking(ranking)
    above, *below = figure.axes
    assert [axes.get_title(loc="left") for axes in below] == ["weat", "rnsb"]
    lengths = sorted(sum(bar.get_width() for bar in bars) for bars in zip(*above.containers, strict=True))
    assert lengths == sorted(ranking.ranks[["weat", "rnsb"]].sum(axis=1))
    assert "two $x$" in texts(figure)
    shares = ranking.rank_distribution.query("metric == 'weat'")["probability"]
    assert sorted(below[0].images[0].get_array().ravel()) == pytest.approx(sorted(shares))
    assert len(bb.plots.plot_ranking(bb.rank(kvs, query, "weat", draws=0)).axes) == 1
    assert svg(figure) == svg(bb.plots.plot_ranking(ranking))
    with pytest.raises(bb.InputError, match="plot_ranking takes what rank returns"):
        bb.plots.plot_ranking(table_of(2))


def points_of(axes):
    """Places on the x axis of what is scattered on axes."""
    return [each.get_offsets()[:, 0] for each in axes.collections if isinstance(each, PathCollection)]


def change_of(words, connections=("associated", "different", "human", "neutral"), **options):
    before, after = table_of(words, connections, **options), table_of(words, connections, **options)
    rng = np.random.default_rng(1)
    own = np.where(after["connection"] == "associated", 0.1, 0.0)
    return bb.compare(
        before=before, after=after.assign(distance=after["distance"] + own + rng.normal(0, 0.02, len(after))), seed=0
    )


@pytest.mark.parametrize("words", [3, 50])
def test_a_picture_of_a_comparison(words):
    result = change_of(words)
    through_the_mould(lambda: bb.plot_change(result), tallest=40)
    with pytest.raises(bb.InputError, match="takes what compare returns"):
        bb.plot_change(table_of(2))


def test_a_change_shows_every_word_before_and_after_with_intervals():
    result = change_of(4, ("associated", "neutral"), name="$x_{{1}}$ <b>&{0}")
    figure = bb.plot_change(result)
    above, change, below, moved = figure.axes
    assert {f"$x_{{1}}$ <b>&{word}" for word in range(4)} <= texts(figure)
    assert above.get_title(loc="left") == "Whole list, before and after"
    mean = result.posterior["posterior/connection_mean"].mean(("chain", "draw")).sel(connection="associated")
    drawn = [each[0] for each in points_of(above)]
    for name in ("before", "after"):
        assert np.isclose(drawn, float(mean.sel(embedding=name))).any()
    assert np.isclose(np.concatenate(points_of(change)), result.changes("associated")["mean"].iloc[0]).any()
    table = result.outcomes()
    rows = [label.get_text() for label in below.get_yticklabels()]
    assert rows[0] == "whole list"
    values = table.set_index("protected_word").loc[rows]
    start, end = points_of(below)
    np.testing.assert_allclose(start, values["before"])
    np.testing.assert_allclose(end, values["after"])
    outer = [each for each in moved.collections if isinstance(each, LineCollection) and each.get_linewidth()[0] < 2]
    ends = np.array([segment[:, 0] for segment in outer[0].get_segments()])
    np.testing.assert_allclose(ends, values[["low", "high"]])
    assert len(bb.plot_change(result, words=False).axes[2].get_yticklabels()) == 1


def test_the_associations_of_a_change_are_drawn(slice_vectors, hard_debiased):
    tables = [bb.distance_table(kv, "gender") for kv in (slice_vectors, hard_debiased)]
    result = bb.compare(before=tables[0], after=tables[1], seed=0, draws=400)
    below, moved = bb.plot_change(result).axes[2:]
    assert below.get_xlabel() == "association (negative: closer to own stereotypes)"
    assert moved.get_xlabel() == "change of the association"
    rows = [label.get_text().split(" (")[0] for label in below.get_yticklabels()]
    table = result.outcomes().set_index("protected_word")
    assert rows == ["whole list", *table.iloc[1:].sort_values(["group", "change"], ascending=[True, False]).index]
    start = below.collections[1].get_offsets()[:, 0]
    np.testing.assert_allclose(start, table.loc[rows, "before"])
    assert not any(
        len(each.get_offsets()) == 15 and (each.get_offsets()[:, 0] == 0).all() for each in moved.collections
    )


def test_what_did_not_change_has_one_place():
    table = table_of(3)
    figure = bb.plot_change(bb.compare(before=table, after=table, seed=0))
    for axes in (figure.axes[0], figure.axes[2]):
        points = points_of(axes)
        for start, end in zip(points[::2], points[1::2], strict=True):
            np.testing.assert_array_equal(start, end)


def test_words_are_sorted_by_the_size_of_their_change():
    before = table_of(4)
    moved = (before["protected_word"] == "word2") & (before["connection"] == "associated")
    noise = np.random.default_rng(0).normal(0, 0.01, len(before))
    after = before.assign(distance=before["distance"] + noise - 0.4 * moved)
    figure = bb.plot_change(bb.compare(before=before, after=after, seed=0))
    assert figure.axes[2].get_yticklabels()[1].get_text() == "word2"


def test_of_three_embeddings_one_change_is_named():
    first = table_of(3)
    noise = np.random.default_rng(1).normal(0, 0.02, (3, len(first)))
    tables = {name: first.assign(distance=first["distance"] + noise[at]) for at, name in enumerate("abc")}
    result = bb.compare(tables, seed=0, draws=400)
    figure = bb.plot_change(result, before="a", after="c")
    assert figure.axes[0].get_title(loc="left") == "Whole list, from a to c"
    for wrong in ({}, {"before": "c", "after": "a"}):
        with pytest.raises(bb.InputError, match="the changes are a to b, a to c, b to c"):
            bb.plot_change(result, **wrong)


def test_side_effects_are_drawn_with_their_intervals(slice_vectors):
    pairs = list(bb.load_list("gender_pairs").pairs)
    debiased = bb.debias(slice_vectors, "project", definitional=pairs)
    tables = [bb.distance_table(kv, "gender") for kv in (slice_vectors, debiased)]
    names = slice_vectors.index_to_key
    similar = [(names[at], names[at + 1], float(at)) for at in range(30)]
    found = bb.side_effects(*tables, slice_vectors, debiased, similarity=similar, words=50)
    figure = bb.plots.plot_side_effects(found)
    assert len(figure.axes) == 4
    assert svg(figure) == svg(bb.plots.plot_side_effects(found))
    points = [each.get_offsets() for each in figure.axes[0].collections]
    drawn = np.concatenate([each[:, 0] for each in points if len(each)])
    assert np.isin(found.neighbours["kept"], drawn).all()
    with pytest.raises(bb.InputError, match="takes what side_effects returns"):
        bb.plots.plot_side_effects(table_of(2))


def test_silhouettes_are_drawn_with_their_scores():
    rng = np.random.default_rng(0)
    words = [f"{kind}{at}" for kind in "xyab" for at in range(8)]
    kvs = {name: bb.load_embedding({word: rng.normal(size=10) for word in words}) for name in ("one", "two $x$")}
    sets = {kind: [f"{kind}{at}" for at in range(8)] for kind in "xyab"}
    query = bb.Query({key: sets[key] for key in "xy"}, {key: sets[key] for key in "ab"})
    both = {name: bb.silhouettes.silhouette(kv, query, "weat", runs=6) for name, kv in kvs.items()}
    figure = bb.plots.plot_silhouette([both, both["one"]], runs=True)
    first, second = figure.axes
    assert f"accuracy {bb.silhouettes.silhouette_accuracy(*both.values()):.2f}" in first.get_title(loc="left")
    labels = [text.get_text() for text in first.get_legend().get_texts()]
    assert labels == [f"{name} (robustness {one.robustness:.2f})" for name, one in both.items()]
    means = [line.get_ydata() for line in second.get_lines() if line.get_linewidth() == 1.8]
    np.testing.assert_array_equal(means[0], both["one"].mean)
    assert svg(figure) == svg(bb.plots.plot_silhouette([both, both["one"]], runs=True))
    for wrong, message in (([], "no silhouette to draw"), ([{}], "takes what silhouette returns"),
                           ({"a": both["one"], "b": bb.silhouettes.silhouette(kvs["one"], query, "rnsb", runs=2)},
                            "one metric and one kind of list")):  # fmt: skip
        with pytest.raises(bb.InputError, match=message):
            bb.plots.plot_silhouette(wrong)


def test_silhouettes_that_fill_little_of_the_range_have_the_axis_for_themselves():
    rng = np.random.default_rng(0)
    sizes, values = np.arange(2, 12, 2), 0.4 + rng.uniform(0, 0.1, (6, 5))
    flat = bb.silhouettes.Silhouette("contrast $x$", "targets", sizes, values, (-2.0, 2.0), 0.0)
    axes = bb.plots.plot_silhouette(flat).axes[0]
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
        assert bb.plots.plot_silhouette(silhouette, zoom=zoom).axes[0].get_ylabel() == label
    whole = bb.plots.plot_silhouette(flat, zoom=False).axes[0].get_ylim()
    assert whole == pytest.approx((-2.12, 2.12))
    with pytest.raises(bb.InputError, match="zoom is 'yes': give True or False"):
        bb.plots.plot_silhouette(flat, zoom="yes")


def test_intervals_of_silhouettes_are_dashed_and_their_coverage_is_said():
    rng = np.random.default_rng(0)
    sizes, values = np.arange(2, 12, 2), rng.normal(0, 0.1, (6, 5))
    one = bb.silhouettes.Silhouette(
        "m", "targets", sizes, values, (-2.0, 2.0), 0.0, low=values - 0.1, high=values + 0.2
    )
    axes = bb.plots.plot_silhouette({"a": one}, zoom=True).axes[0]
    dashed = [
        line.get_ydata() for line in axes.get_lines() if line.get_linewidth() == 0.8 and len(line.get_ydata()) == 5
    ]
    np.testing.assert_array_equal(dashed, [one.low.mean(axis=0), one.high.mean(axis=0)])
    low, high = axes.get_ylim()
    assert low < one.low.mean(axis=0).min() < one.high.mean(axis=0).max() < high
    said = axes.get_legend().get_texts()[0].get_text()
    assert said == f"a (robustness {one.robustness:.2f}, coverage {one.coverage[:-1].mean():.2f})"
    alone = replace(one, sizes=sizes[:1], values=values[:, :1], low=one.low[:, :1], high=one.high[:, :1])
    assert "coverage" not in bb.plots.plot_silhouette(alone).axes[0].get_legend().get_texts()[0].get_text()


WORDS = ("fishing", "golf", "$x_1$", "a target word with a label that is far too long", "sewing", "table")


@pytest.fixture(scope="module")
def trained():
    """Two corpora, two algorithms, two numbers of dimensions, two seeds."""
    toys = {name: bb.stability.toy_corpus(bias, seed=1, sentences=300) for name, bias in (("none", 0.0), ("all", 1.0))}
    kvs = bb.stability.train_embeddings(toys, ("sgns", "cbow"), seeds=2, dims=(4, 8), epochs=1, min_count=1)
    return {setting._replace(corpus=f"{setting.corpus} $x$"): kv for setting, kv in kvs.items()}


@pytest.fixture(scope="module")
def study(trained):
    toy = bb.stability.toy_corpus(sentences=1)
    lists = {
        "stereotypes": [*toy.words.stereotypes["female"], *toy.words.stereotypes["male"]],
        "others": toy.targets[24:],
    }
    return bb.stability.direct_bias_study(trained, lists, toy.base_pairs, draws=60)


@pytest.fixture(scope="module")
def one_list(trained):
    toy = bb.stability.toy_corpus(sentences=1)
    return bb.stability.direct_bias_study(trained, toy.targets, toy.base_pairs, draws=60)


@pytest.fixture(scope="module")
def scores():
    """Three measures, six targets, four pairs, two seeds; the third measure of the first target does not vary."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(1, 6, 4, 1)) + 0.4 * rng.normal(size=(3, 6, 4, 2))
    values[2, 0] = 0.25
    coords = {
        "measure": ["db_wa", "ripa", "nbm"],
        "target": list(WORDS),
        "base_pair": ["he/she", "man/woman", "king/queen", "boy/girl"],
        "seed": [0, 1],
    }
    return xr.DataArray(values, dims=tuple(coords), coords=coords)


@pytest.fixture(scope="module")
def components(scores):
    return bb.reliability.variance_components(scores, draws=400, seed=0)


OF_RELIABILITY = {
    "boxes": lambda made: bb.plots.plot_reliability(bb.reliability.retest_reliability(made["scores"]), labels=False),
    "names": lambda made: bb.plots.plot_reliability(bb.reliability.retest_reliability(made["scores"])),
    "panels": lambda made: bb.plots.plot_reliability(
        {
            "words": bb.reliability.retest_reliability(made["scores"]),
            "raters": bb.reliability.inter_rater_consistency(made["scores"]),
        },
        labels=False,
    ),
    "components": lambda made: bb.plots.plot_components(made["components"]),
    "decision": lambda made: bb.plots.forest(made["components"].decision((1, 4), (1, 3)), "base_pairs", by="seeds"),
    "agreement": lambda made: bb.plots.matrix(made["one_list"].rank_agreement(), centre=None),
    "study": lambda made: made["study"].figure(),
}


@pytest.fixture(scope="module")
def made(scores, components, study, one_list):
    return {"scores": scores, "components": components, "study": study, "one_list": one_list}


@pytest.mark.parametrize("plot", OF_RELIABILITY.values(), ids=OF_RELIABILITY.keys())
def test_a_picture_of_reliability_or_stability(made, plot):
    through_the_mould(lambda: plot(made))


def noted(figure):
    return figure._supxlabel.get_text().replace("\n", " ") if figure._supxlabel else ""


def titles(figure):
    return [axes.get_title(loc="left") for axes in figure.axes]


def intervals_of(axes):
    """The thin bars of a forest, (low, high) each."""
    bars = [each for each in axes.collections if isinstance(each, LineCollection) and each.get_linewidth()[0] == 1.1]
    return np.array([line[:, 0] for bar in bars for line in bar.get_segments() if len(line)])


def medians_of(axes):
    """The long marks of strips."""
    bars = [each for each in axes.collections if isinstance(each, LineCollection) and each.get_linewidth()[0] == 1.6]
    return [bar.get_segments()[0][0, 0] for bar in bars]


def test_reliability_in_strips_shows_every_value_and_counts_what_is_missing(scores):
    table = bb.reliability.retest_reliability(scores)
    table.loc[3, "value"] = -2.5
    figure = bb.plots.plot_reliability(table, labels=False)
    axes = figure.axes[0]
    value = table["value"].dropna()
    np.testing.assert_allclose(sorted(points(axes)), sorted(value.clip(lower=-0.5)))
    assert [label.get_text() for label in axes.get_yticklabels()] == ["db_wa", "ripa", "nbm"]
    found = table.assign(value=table["value"].clip(lower=-0.5)).groupby("measure", sort=False)["value"]
    np.testing.assert_allclose(medians_of(axes), found.median())
    assert "n = 5" in " ".join(texts(figure))
    assert {"poor", "moderate", "good", "excellent"} <= texts(figure)
    edges = {round(band.get_x(), 2) for band in axes.patches if band.get_x() > 0}
    assert edges == {0.5, 0.75, 0.9}
    assert "1 of 18 values are missing: the scores do not vary" in noted(figure)
    assert "Values below −0.5 stand at the left edge: 2, the smallest is −2.50." in noted(figure)


def test_many_values_of_reliability_are_all_points():
    rng = np.random.default_rng(0)
    value = np.append(1 - rng.beta(2, 30, size=500), 0.1)
    labels = [f"word{at}" for at in range(len(value))]
    table = pd.DataFrame({"label": labels, "value": value, "low": value - 0.1, "high": 1.0, "reason": None})
    axes = bb.plots.plot_reliability(table).axes[0]
    np.testing.assert_allclose(np.sort(points(axes)), np.sort(value))
    assert f"median {np.median(value):.2f}, n = 501" in texts(axes.figure)


def test_reliability_by_name_has_the_best_on_top_with_intervals(scores):
    table = bb.reliability.retest_reliability(scores)
    axes = bb.plots.plot_reliability(table).axes[0]
    order = table.groupby("label")["value"].mean().sort_values(ascending=False).index
    labels = [label.get_text() for label in axes.get_yticklabels()]
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
    flat = bb.plots.plot_reliability(bb.reliability.inter_rater_consistency(0 * scores))
    assert "no value" in texts(flat)


def test_reliability_of_several_tables(scores):
    retest, raters = bb.reliability.retest_reliability(scores), bb.reliability.inter_rater_consistency(scores)
    panels = bb.plots.plot_reliability({"one $x$": retest, "two": raters})
    assert titles(panels) == ["one $x$", "two"]
    assert [len(axes.get_yticklabels()) for axes in panels.axes] == [6, 6]
    rows = bb.plots.plot_reliability({"wiki": raters, "reddit": raters}, labels=False)
    assert [label.get_text() for label in rows.axes[0].get_yticklabels()] == ["wiki", "reddit"]
    assert len(bb.plots.plot_reliability({"a": retest.assign(label=retest["label"] + "a")} | {
        str(at): retest for at in range(7)}).axes[0].get_yticklabels()) == 3  # fmt: skip
    twice = pd.concat([raters, raters])
    assert len(points(bb.plots.plot_reliability(twice).axes[0])) == 12
    for wrong, options, message in (
        (table_of(2), {}, "given is a table without label, value, low, high, reason: give what retest_reliability"),
        ({"a": raters, "b": 3}, {}, "'b' holds int"),
        ({"a": raters[:0]}, {}, "'a' holds no row"),
        ({}, {}, "given is dict without tables"),
        (raters, {"labels": "yes"}, "labels is 'yes'"),
        (twice, {"labels": True}, "a label occurs twice under one measure"),
    ):
        with pytest.raises(bb.InputError, match=message):
            bb.plots.plot_reliability(wrong, **options)


def test_components_are_sorted_by_their_shares(components):
    axes = bb.plots.plot_components(components, prob=0.7).axes[0]
    table = components.table(0.7).sort_values("share", ascending=False)
    assert [label.get_text() for label in axes.get_yticklabels()] == table["component"].str.replace("_", " ").tolist()
    np.testing.assert_array_equal(points(axes), table["share"])
    np.testing.assert_array_equal(intervals_of(axes), table[["share_low", "share_high"]])
    assert f"{table['share'].iloc[0]:.0%}" in texts(axes.figure)
    with pytest.raises(bb.InputError, match="takes what variance_components or setting_components returns"):
        bb.plots.plot_components(table)


def test_components_of_settings_are_sorted_by_their_shares(one_list):
    found = bb.stability.setting_components(one_list.table(), draws=400, seed=0)
    figure = through_the_mould(lambda: bb.plots.plot_components(found))
    np.testing.assert_array_equal(points(figure.axes[0]), found.table()["share"].sort_values(ascending=False))


def test_a_forest_draws_the_rows_of_a_table_in_their_order(religion_fit):
    table = bb.contrasts(religion_fit, prob=0.7)
    figure = through_the_mould(lambda: bb.plots.forest(table, closer="own stereotypes closer"))
    axes = figure.axes[0]
    np.testing.assert_array_equal(points(axes), table["mean"])
    np.testing.assert_array_equal(points(axes, 1), -np.arange(len(table)))
    np.testing.assert_array_equal(intervals_of(axes), table[["low", "high"]])
    labels = axes.get_yticklabels()
    first = table.loc[1]
    assert [label.get_text() for label in labels[:2]] == ["whole list", f"{first['protected_word']}, {first['group']}"]
    assert [label.get_fontweight() for label in labels[:2]] == ["bold", "normal"]
    assert {"P(closer)", "← own stereotypes closer", "farther →"} <= texts(figure)
    assert sum("%" in text.get_text() for text in axes.texts) == len(table)


def test_a_forest_of_estimates_has_both_intervals(religion_fit):
    cells = bb.cell_estimates(religion_fit).select(group="jew")
    figure = bb.plots.forest(cells, "protected_word", by="connection", mark=1.0, prob=0.7)
    axes, table = figure.axes[0], cells.summary(0.7)
    np.testing.assert_allclose(np.sort(points(axes)), np.sort(table["mean"]))
    np.testing.assert_allclose(np.sort(intervals_of(axes)[:, 0]), np.sort(table["low"]))
    thick = [each for each in axes.collections if isinstance(each, LineCollection) and each.get_linewidth()[0] == 3.0]
    low = np.concatenate([[line[0, 0] for line in bar.get_segments()] for bar in thick])
    np.testing.assert_allclose(np.sort(low), np.sort(cells.quantile(0.25)))
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "associated (own stereotype)", "different (another group's)", "human (control)", "neutral (control)",
    ]  # fmt: skip
    assert len(axes.get_yticklabels()) == 5
    assert noted(figure) == "Bars: 50% (thick) and 70% intervals."


def test_a_forest_of_a_study_has_a_panel_for_each_list(study):
    figure = study.figure(title="$x$")
    assert titles(figure) == ["stereotypes", "others"]
    assert figure._suptitle.get_text() == "$x$"
    for axes, (_, table) in zip(figure.axes, study.table().groupby("word_list", sort=False), strict=True):
        np.testing.assert_allclose(np.sort(points(axes)), np.sort(table["direct_bias"]))
        np.testing.assert_allclose(np.sort(intervals_of(axes)[:, 1]), np.sort(table["high"]))
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert labels[:3] == ["cbow, 4, 0", "cbow, 4, 1", "cbow, 8, 0"]
    assert figure.axes[0].get_ylabel() == "algorithm, dims, seed"


def test_a_forest_without_an_end_has_no_bar():
    table = pd.DataFrame({"name": ["$a$", "b", "b"], "kind": [1, 1, 2], "x": [0.1, 0.2, np.nan]})
    table = table.assign(low=[np.nan, 0.0, 0.0], high=1.0)
    axes = bb.plots.forest(table, value="x", by="kind", mark=(0.5, 0.6)).axes[0]
    np.testing.assert_array_equal(points(axes), [0.1, 0.2])
    np.testing.assert_array_equal(intervals_of(axes), [[0.0, 1.0]])
    assert [line.get_xdata()[0] for line in axes.get_lines()[-2:]] == [0.5, 0.6]
    assert [text.get_text() for text in axes.figure.legends[0].get_texts()] == ["kind = 1", "kind = 2"]
    for options, message in (
        ({"value": "y"}, "the table has no column 'y': name one as value=; it has name, kind, x"),
        ({"rows": "y", "value": "x"}, "rows is 'y'"),
        ({"value": "x", "low": "x", "panels": "kind", "ax": axes}, "ax is one panel, and 2 are to be drawn"),
    ):
        with pytest.raises(bb.InputError, match=message):
            bb.plots.forest(table, **options)
    with pytest.raises(bb.InputError, match="the table has no row"):
        bb.plots.forest(table[:0], value="x")
    with pytest.raises(bb.InputError, match="given is list: forest takes what"):
        bb.plots.forest([1.0])


@pytest.mark.parametrize(("side", "centre"), [(3, 0.0), (16, None), (40, 0.5)])
def test_a_matrix_holds_its_numbers_up_to_thirty_columns(side, centre):
    frame = pd.DataFrame(np.random.default_rng(0).normal(0, 0.2, (side, side)), [f"$x_{{{at}}}$" for at in range(side)])
    frame.iloc[0, 1] = np.nan
    framed = frame > 0.3
    figure = through_the_mould(lambda: bb.plots.matrix(frame, "unit", "title", centre, framed))
    axes = figure.axes[0]
    np.testing.assert_array_equal(axes.images[0].get_array(), frame)
    written = [text.get_text() for text in axes.texts]
    assert len(written) == (side**2 if side <= 30 else 0)
    if side <= 30:
        first = f"{frame.iloc[0, 0]:.3f}" if centre is not None else f"{frame.iloc[0, 0]:.2f}".replace("0.", ".")
        assert written[:2] == [first.replace("-", "−"), "–"]
    assert len(axes.patches) == 2 * framed.to_numpy().sum()
    assert [label.get_text() for label in axes.get_yticklabels()][:2] == ["$x_{0}$", "$x_{1}$"]
    low, high = axes.images[0].get_clim()
    assert centre is None or (low + high) / 2 == pytest.approx(centre)
    assert figure.axes[1].get_ylabel() == "unit"


def test_lines_part_the_rows_of_a_matrix_by_their_first_level():
    index = pd.MultiIndex.from_tuples([("a", "x"), ("a", "y"), ("b", "z")])
    axes = bb.plots.matrix(pd.DataFrame(np.eye(3), index)).axes[0]
    assert [line.get_ydata()[0] for line in axes.get_lines()] == [1.5]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["x (a)", "y (a)", "z (b)"]
    for frame, framed, message in (
        (pd.DataFrame({"a": ["x"]}), None, "frame has 1 rows and 1 columns: give a table of numbers"),
        (pd.DataFrame(np.eye(2)), pd.DataFrame([True]), r"framed has the shape \(1, 1\)"),
    ):
        with pytest.raises(bb.InputError, match=message):
            bb.plots.matrix(frame, framed=framed)


@pytest.mark.parametrize("words", [2, 200])
def test_a_strip_shows_every_number_with_its_quartiles(words):
    table = table_of(words, name="$x_{{{}}}$")
    figure = through_the_mould(lambda: bb.plots.strip(table, "distance", "connection", by="group", mark=(1.0, 2.0)))
    axes = figure.axes[0]
    by = table.groupby("connection", sort=False)["distance"]
    np.testing.assert_allclose(np.sort(points(axes)), np.sort(table["distance"]))
    np.testing.assert_allclose(medians_of(axes), by.median())
    quartiles = [each for each in axes.collections if isinstance(each, LineCollection) and each.get_linewidth()[0] == 4]
    ends = np.array([bar.get_segments()[0][:, 0] for bar in quartiles])
    np.testing.assert_allclose(ends, np.column_stack([by.quantile(0.25), by.quantile(0.75)]))
    assert {f"n = {4 * words:,}"} == {text for text in texts(figure) if text.startswith("n = ")}
    assert [line.get_xdata()[0] for line in axes.get_lines() if line.get_xdata()[0] in (1.0, 2.0)] == [1.0, 2.0]
    with pytest.raises(bb.InputError, match="the column 'group' holds no numbers"):
        bb.plots.strip(table, "group")


def test_a_page_of_a_change_shows_similarities_before_and_after():
    result = change_of(4)
    blocks = [block for section in result.sections() for block in section.blocks]
    drawn = next(block for block in blocks if getattr(block, "name", "") == "shift-0").figure.axes[0]
    pairs = result.paired_distances()
    np.testing.assert_allclose(np.sort(points(drawn)), np.sort(1 - pairs[["before", "after"]].to_numpy().ravel()))
    limit = result.similarity_shift().attrs["limit"]
    marks = [line.get_xdata()[0] for line in drawn.get_lines()]
    assert [-limit, limit] == pytest.approx([mark for mark in marks if mark != 0][:2])
    with pytest.raises(bb.InputError, match="mac is 3"):
        result.similarity_shift(mac=3)
    with pytest.raises(bb.InputError, match="no stereotype words to take MAC of"):
        change_of(3, ("human", "neutral")).similarity_shift()


@pytest.mark.parametrize("plot", OF_A_FIT.values(), ids=OF_A_FIT.keys())
def test_what_is_no_fit_is_refused(plot):
    with pytest.raises(bb.InputError, match="give the DataTree that fit returns"):
        plot(table_of(2))


def test_connections_differ_in_marker_and_in_lightness():
    """Grey print and colour blindness: markers all differ, and so does the lightness of the two stereotypes."""
    (legend,) = bb.plot_coefficients(bb.fit(table_of(3), "published", draws=400, seed=0)).legends
    looks = {
        text.get_text().split()[0]: line for text, line in zip(legend.get_texts(), legend.get_lines(), strict=True)
    }
    assert len({line.get_marker() for line in looks.values()}) == len(looks) == 4
    lightness = [
        np.dot(mpl.colors.to_rgb(looks[name].get_color()), (0.299, 0.587, 0.114))
        for name in ("associated", "different")
    ]
    assert abs(lightness[0] - lightness[1]) > 0.08


@pytest.fixture(scope="module")
def gender():
    return bb.axis("glove-50d-slice", "gender")


def placed(axes):
    """Labels of rows from the top."""
    return [label.get_text() for label in axes.get_yticklabels()]


JOBS = [
    "nurse",
    "guard",
    "engineer",
    "dancer",
    "janitor",
    "soldier",
    "artist",
    "plumber",
    "lawyer",
    "doctor",
    "cook",
    "manager",
]


@pytest.mark.parametrize("words", [["nurse"], JOBS, JOBS[:3]])
@pytest.mark.parametrize("population", ["oppositions", "pairs"])
def test_words_of_an_axis_stand_in_order_between_the_poles(gender, words, population):
    few = gender.with_words(words)
    figure = through_the_mould(lambda: bb.plots.plot_axis(few, population=population))
    (axes,) = figure.axes
    table = few.table(population=population)
    assert placed(axes) == table["word"].tolist()
    assert {"woman", "man"} <= {text.get_text() for text in axes.texts}
    drawn = np.sort(points(axes))
    assert np.allclose(drawn, np.sort(table["mean"]))


def test_of_many_words_the_ends_and_those_chosen_are_shown(gender):
    figure = through_the_mould(lambda: bb.plots.plot_axis(gender))
    order = gender.table()["word"].tolist()
    assert placed(figure.axes[0]) == order[:20] + order[-20:]
    assert "two ends of 20,000 words" in noted(figure)
    few = bb.plots.plot_axis(gender, words=["nurse", "engineer"], labels=7)
    assert placed(few.axes[0]) == [*order[:3], "engineer", "nurse", *order[-2:]]
    assert [label.get_fontweight() for label in few.axes[0].get_yticklabels()] == [*["normal"] * 3, *["bold"] * 2,
                                                                                  *["normal"] * 2]  # fmt: skip
    assert placed(bb.plots.plot_axis(gender, words=["nurse"], labels=0).axes[0]) == ["nurse"]
    with pytest.raises(bb.InputError, match="give words and labels for 1 to 100"):
        bb.plots.plot_axis(gender, labels=101)
    with pytest.raises(bb.InputError, match="plot_axis takes what axis returns"):
        bb.plots.plot_axis(table_of(2))


def apart(figure):
    """Whether no two texts inside the panel overlap."""
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in figure.axes[0].texts if text.get_text()]
    return all(not box.overlaps(other) for place, box in enumerate(boxes) for other in boxes[:place])


@pytest.mark.parametrize("traits", [["nurse", "guard", "maid"], JOBS])
def test_traits_lie_in_their_quadrants(gender, traits):
    found = bb.quadrants(gender, bb.axis("glove-50d-slice", "affluence", words=traits), traits, draws=400)
    figure = through_the_mould(lambda: bb.plots.plot_quadrants(found))
    (axes,) = figure.axes
    assert np.allclose(np.sort(points(axes)), np.sort(found.axes[0].places))
    assert np.allclose(np.sort(points(axes, 1)), np.sort(found.axes[1].places))
    shown = {text.get_text().split("\n")[0] for text in axes.texts}
    assert set(found.names) <= shown
    assert apart(figure)
    assert not {text.get_text() for text in bb.plots.plot_quadrants(found, labels=0).axes[0].texts} & set(traits)
    with pytest.raises(bb.InputError, match="plot_quadrants takes what quadrants returns"):
        bb.plots.plot_quadrants(gender)


@pytest.mark.parametrize(("embedding", "groups"), [("glove-50d-slice", "gender"), ("google-news-slice", "religion")])
def test_names_of_an_audit_do_not_overlap(embedding, groups):
    found = bb.audit(embedding, groups)
    figure = through_the_mould(lambda: bb.plots.plot_audit(found))
    named = {text.get_text() for text in figure.axes[0].texts}
    poles = {"↑ to man", "↓ to woman"} if groups == "gender" else {"↑ away from jew", "↓ to jew"}
    assert poles <= named
    assert 5 < len(named - poles) <= 24
    assert named - poles <= set(found.table()["word"])
    assert apart(figure)
