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


def test_calibration_is_drawn_with_its_errors():
    shape = {"groups": {"g": 3, "h": 3}, "stereotypes": {"g": 3, "h": 3}, "neutral": 6}
    truth = {"connection_mean": 0.9, "connection_sd": 0.02, "sigma": 0.05, "attribute_sd": 0.05, "interaction_sd": 0.01}
    rates = bb.calibration.false_positive_rate(shape, truth, ["published"], replicates=10)
    figure = bb.plots.plot_calibration(rates)
    assert len(figure.axes) == rates["contrast"].nunique()
    drawn = {x for axes in figure.axes for points in axes.collections for x, _ in points.get_offsets()}
    assert set(rates["rate"]) <= drawn
    ranks = bb.plots.plot_calibration(bb.calibration.sbc("published", shape, 10))
    assert len([axes for axes in ranks.axes if axes.get_visible()]) == 4
    with pytest.raises(bb.InputError, match="false_positive_rate, null_false_positive_rate or coverage_study"):
        bb.plots.plot_calibration(table_of(2))


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


@pytest.mark.parametrize("plot", [bb.plot_change, bb.plots.plot_similarity_shift], ids=["change", "shift"])
@pytest.mark.parametrize("words", [3, 50])
def test_a_picture_of_a_comparison(plot, words):
    result = change_of(words)
    through_the_mould(lambda: plot(result), tallest=40)
    with pytest.raises(bb.InputError, match="takes what compare returns"):
        plot(table_of(2))


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
    assert bb.plots.plot_similarity_shift(result, before="b", after="c")
    for wrong in ({}, {"before": "c", "after": "a"}):
        with pytest.raises(bb.InputError, match="the changes are a to b, a to c, b to c"):
            bb.plot_change(result, **wrong)


def test_the_shift_shows_the_shares_within_the_lines():
    result = change_of(4)
    shares = bb.checks.similarity_shift(result)
    figure = bb.plots.plot_similarity_shift(result)
    assert len(figure.axes) == 4
    row = shares.iloc[0]
    assert f"before {100 * row['before']:.0f}%" in "".join(texts(figure))
    lines = sorted(line.get_xdata()[0] for line in figure.axes[0].get_lines())
    assert lines == pytest.approx([-shares.attrs["limit"], shares.attrs["limit"]])
    with pytest.raises(bb.InputError, match="mac is 3"):
        bb.plots.plot_similarity_shift(result, mac=3)
    with pytest.raises(bb.InputError, match="no stereotype words to take MAC of"):
        bb.plots.plot_similarity_shift(change_of(3, ("human", "neutral")))


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


@pytest.fixture(scope="module")
def regression():
    """A regression with draws around known numbers."""
    rng = np.random.default_rng(0)
    terms = ["intercept", "measure[nbm]", "measure[$x$]", "l2_norm"]
    parts = ["measure", "l2_norm", "fixed effects", "algorithm", "residual", "total"]

    def drawn(means, sd):
        return np.array(means) + sd * rng.standard_normal((2, 100, len(means)))

    step = ("chain", "draw")
    posterior = xr.Dataset(
        {
            "coefficient": ((*step, "term"), drawn([0.8, -0.2, 0.1, 0.3], 0.02)),
            "group_sd": ((*step, "group"), drawn([0.4], 0.05)),
            "residual_sd": (step, drawn([0.2], 0.01)[:, :, 0]),
            "r2": ((*step, "part"), drawn([0.1, 0.2, 0.3, 0.4, 0.3, 0.7], 0.01)),
        },
        {"term": terms, "group": ["algorithm"], "part": parts},
    )
    order = ["intercept", "measure", *terms[1:3], *parts[1:]]
    return bb.reliability.ReliabilityRegression(
        outcome="value",
        rows=pd.DataFrame({"term": order}),
        posterior=xr.DataTree.from_dict({"/posterior": posterior}),
        references={"measure": "db_wa"},
        levels={"algorithm": 3},
        prob=0.89,
        notes=("95 of 1,728 rows lack a value and are left out.",),
    )


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
    "decision": lambda made: bb.plots.plot_decision(made["components"], (1, 4), (1, 3)),
    "components": lambda made: bb.plots.plot_components(made["components"]),
    "factors": lambda made: bb.plots.plot_factors(made["regression"]),
    "agreement": lambda made: bb.plots.plot_rank_agreement(made["one_list"]),
    "decay": lambda made: bb.plots.plot_bias_decay(made["study"]),
    "bootstrap": lambda made: bb.plots.plot_bias_bootstrap(made["one_list"], algorithm="sgns"),
}


@pytest.fixture(scope="module")
def made(scores, components, regression, study, one_list):
    return {
        "scores": scores, "components": components, "regression": regression, "study": study, "one_list": one_list
    }  # fmt: skip


@pytest.mark.parametrize("plot", OF_RELIABILITY.values(), ids=OF_RELIABILITY.keys())
def test_a_picture_of_reliability_or_stability(made, plot):
    through_the_mould(lambda: plot(made))


def noted(figure):
    return figure._supxlabel.get_text().replace("\n", " ") if figure._supxlabel else ""


def titles(figure):
    return [axes.get_title(loc="left") for axes in figure.axes]


def test_reliability_in_boxes_shows_every_value_and_counts_what_is_missing(scores):
    table = bb.reliability.retest_reliability(scores)
    table.loc[3, "value"] = -2.5
    figure = bb.plots.plot_reliability(table, labels=False)
    axes = figure.axes[0]
    value = table["value"].dropna()
    np.testing.assert_allclose(sorted(points(axes)), sorted(value.clip(lower=-0.5)))
    assert [label.get_text() for label in axes.get_yticklabels()] == ["db_wa", "ripa", "nbm"]
    medians = [line.get_xdata()[0] for line in axes.get_lines() if line.get_linewidth() == 1.6]
    found = table.assign(value=table["value"].clip(lower=-0.5)).groupby("measure", sort=False)["value"].median()
    np.testing.assert_allclose(medians, found)
    assert "n = 5" in " ".join(texts(figure))
    assert {"poor", "moderate", "good", "excellent"} <= texts(figure)
    edges = {round(band.get_x(), 2) for band in axes.patches if band.get_x() > 0}
    assert edges == {0.5, 0.75, 0.9}
    assert "1 of 18 values are missing: the scores do not vary" in noted(figure)
    assert "Values below −0.5 stand at the left edge: 2, the smallest is −2.50." in noted(figure)


def test_many_values_of_reliability_are_boxes_with_outliers():
    rng = np.random.default_rng(0)
    value = np.append(1 - rng.beta(2, 30, size=500), 0.1)
    labels = [f"word{at}" for at in range(len(value))]
    table = pd.DataFrame({"label": labels, "value": value, "low": value - 0.1, "high": 1.0, "reason": None})
    axes = bb.plots.plot_reliability(table).axes[0]
    assert not len(points(axes))
    outliers = [line for line in axes.get_lines() if line.get_linestyle() == "None"]
    assert 0.1 in np.concatenate([line.get_xdata() for line in outliers])
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
        drawn = axes.collections[2 * at + 1].get_offsets()
        np.testing.assert_allclose(drawn[:, 0], value.xs(name, level="measure").reindex(order).clip(lower=-0.5))
        np.testing.assert_allclose(drawn[:, 1], -np.arange(6) + 0.4 - 0.8 * (at + 0.5) / 3, atol=1e-12)
    lows = axes.collections[0].get_segments()[0][0, 0]
    assert lows == table.set_index(["label", "measure"]).loc[(order[0], "db_wa"), "low"]
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


def test_a_decision_has_a_line_and_a_band_for_each_number_of_seeds(components, scores):
    figure = bb.plots.plot_decision(components, (4, 1, 10), (3, 1), threshold=0.6)
    axes, table = figure.axes[0], components.decision((1, 4, 10), (1, 3), threshold=0.6)
    lines = {line.get_label(): line for line in axes.get_lines() if "seed" in str(line.get_label())}
    assert [name.split(":")[0] for name in lines] == ["1 seed", "3 seeds"]
    for number, line in zip((1, 3), lines.values(), strict=True):
        rows = table[table["seeds"] == number]
        np.testing.assert_array_equal(line.get_xdata(), [1, 4, 10])
        np.testing.assert_array_equal(line.get_ydata(), rows["mean"])
    band = axes.collections[1].get_paths()[0].vertices[:, 1]
    assert {table["low"].iloc[-1], table["high"].iloc[-1]} <= set(band)
    assert 0.6 in [line.get_ydata()[0] for line in axes.get_lines()]
    few = components.needed(3, threshold=0.6)
    assert f"{few['median']:,.0f}".replace("inf", "∞") in list(lines)[1]
    assert "There are 2 seeds only" in noted(figure)
    alone = bb.reliability.variance_components(scores.isel(seed=[0]), draws=400, seed=0)
    assert (
        len([line for line in bb.plots.plot_decision(alone).axes[0].get_lines() if "seed" in str(line.get_label())])
        == 1
    )
    pairs = bb.plots.plot_decision(components, of="base_pair", absolute=True).axes[0]
    assert pairs.get_xlabel().startswith("target words")
    assert "absolute" in pairs.get_ylabel()
    with pytest.raises(bb.InputError, match="plot_decision takes what variance_components returns"):
        bb.plots.plot_decision(table)


def test_components_are_sorted_by_their_shares(components):
    axes = bb.plots.plot_components(components, prob=0.7).axes[0]
    table = components.table(0.7).sort_values("share", ascending=False)
    assert [label.get_text() for label in axes.get_yticklabels()] == table["component"].str.replace("_", " ").tolist()
    np.testing.assert_array_equal(points(axes), table["share"])
    ends = np.array([line[:, 0] for line in axes.collections[0].get_segments()])
    np.testing.assert_array_equal(ends, table[["share_low", "share_high"]])
    assert f"{table['share'].iloc[0]:.0%}" in texts(axes.figure)
    with pytest.raises(bb.InputError, match="takes what variance_components or setting_components returns"):
        bb.plots.plot_components(table)


def test_components_of_settings_are_sorted_by_their_shares(one_list):
    found = bb.stability.setting_components(one_list.table(), draws=400, seed=0)
    figure = through_the_mould(lambda: bb.plots.plot_components(found))
    np.testing.assert_array_equal(points(figure.axes[0]), found.table()["share"].sort_values(ascending=False))


def test_factors_show_coefficients_and_shares_of_each_part(regression):
    figure = bb.plots.plot_factors(regression)
    above, own, below, whole = figure.axes
    labels = [label.get_text() for label in above.get_yticklabels()]
    assert labels == ["measure (against db_wa)", "    nbm", "    $x$", "l2 norm"]
    means = regression.posterior["posterior"].to_dataset().mean(("chain", "draw"))
    np.testing.assert_allclose(points(above), means["coefficient"].to_numpy()[1:])
    np.testing.assert_allclose(points(above, 1), [-1, -2, -3])
    np.testing.assert_allclose(points(own), means["r2"].sel(part=["measure", "l2_norm"]))
    np.testing.assert_allclose(points(own, 1), [0, -3])
    np.testing.assert_allclose(points(below), [means["group_sd"].item(), means["residual_sd"].item()])
    np.testing.assert_allclose(points(whole), means["r2"].to_numpy()[2:])
    assert [label.get_text() for label in below.get_yticklabels()] == [
        "all features", "algorithm (3 levels)", "residual", "all but the residual",
    ]  # fmt: skip
    assert f"{means['r2'].sel(part='total').item():.1%}" in texts(figure)
    assert "95 of 1,728 rows" in noted(figure)
    tree = regression.posterior["posterior"].to_dataset().drop_vars(["group_sd", "group"])
    bare = replace(regression, levels={}, posterior=xr.DataTree.from_dict({"/posterior": tree}))
    assert len(points(bb.plots.plot_factors(bare).axes[2])) == 1
    with pytest.raises(bb.InputError, match="takes what reliability_regression returns"):
        bb.plots.plot_factors(table_of(2))


def study_of(corpora, dims, seeds, words=12):
    """A study of as many settings, with random numbers in it."""
    rng = np.random.default_rng(0)
    keys = [(corpus, "sgns", size, seed) for corpus in corpora for size in dims for seed in range(seeds)]
    index = pd.MultiIndex.from_tuples(keys, names=["corpus", "algorithm", "dims", "seed"])
    bias = pd.DataFrame(rng.normal(0, 0.1, (len(keys), words)), index, [f"word{at}" for at in range(words)])
    draws = np.abs(rng.normal(0.1, 0.02, (len(keys), 50)))
    table = index.to_frame(index=False).assign(
        word_list="words",
        direct_bias=bias.abs().mean(axis=1).to_numpy(),
        low=0.05,
        high=0.15,
        baseline=0.1,
        isotropic=0.1,
    )
    table["standardised"] = table["direct_bias"] / 0.1
    return bb.stability.DirectBiasStudy(table, bias, draws, (("he", "she"), ("man", "woman")), 0.89)


@pytest.mark.parametrize(
    ("corpora", "dims", "seeds", "numbers"),
    [
        (["wiki"], (10, 20, 40, 80), 1, True),
        (["wiki", "reddit", "a corpus whose name is much too long for a label"], (25, 50, 100, 200), 2, True),
        ([f"corpus {at}" for at in range(6)], (25, 50, 100, 200), 2, False),
    ],
)
def test_agreement_of_few_and_many_settings(corpora, dims, seeds, numbers):
    many = study_of(corpora, dims, seeds)
    figure = bb.plots.plot_rank_agreement(many)
    axes, tau = figure.axes[0], many.rank_agreement().to_numpy()
    np.testing.assert_array_equal(axes.images[0].get_array(), tau)
    inside = [text for text in axes.texts if not hasattr(text, "xyann")]
    assert len(inside) == (tau.size if numbers else 0)
    if numbers:
        assert inside[1].get_text() == f"{tau[0, 1]:.2f}".replace("0.", ".").replace("-", "−")
    names = [text.get_text() for text in axes.texts if hasattr(text, "xyann")]
    assert len(names) == 2 * len(corpora)
    assert f"{corpora[0]} sgns" in names
    assert len(axes.get_yticklabels()) == len(axes.get_xticklabels()) == len(tau)
    assert len(axes.get_lines()) == 2 * (len(corpora) - 1)
    width, height = figure.get_size_inches()
    assert 5 < width < 13
    assert 2 < height < 13


def test_decay_draws_means_over_seeds_beside_the_isotropic_line(study):
    figure = bb.plots.plot_bias_decay(study)
    assert len(figure.axes) == 6
    assert titles(figure)[0] == "stereotypes\nDirect bias"
    assert titles(figure)[3] == "others\nDirect bias"
    table = study.table()[study.table()["word_list"] == "others"]
    for axes, column in zip(figure.axes[3:], ("direct_bias", "baseline", "standardised"), strict=True):
        means = table.groupby(["corpus", "algorithm", "dims"], sort=False)[column].mean()
        drawn = [line.get_ydata() for line in axes.get_lines() if line.get_marker() != "None"]
        np.testing.assert_allclose(np.concatenate(drawn), means)
        np.testing.assert_allclose(sorted(points(axes, 1)), sorted(table[column]))
        assert axes.get_xscale() == "log"
        assert [label.get_text() for label in axes.get_xticklabels()] == ["4", "8"]
    dotted = next(line for line in figure.axes[1].get_lines() if line.get_linestyle() == ":")
    np.testing.assert_allclose(dotted.get_ydata(), np.sqrt(2 / (np.pi * dotted.get_xdata())))
    assert 1.0 in [line.get_ydata()[0] for line in figure.axes[2].get_lines()]
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == ["all $x$", "none $x$", "cbow", "sgns"]
    assert len(bb.plots.plot_bias_decay(study_of(["wiki"], (50,), 1)).axes) == 3


def test_the_bootstrap_says_how_sure_each_order_is(one_list):
    figure = bb.plots.plot_bias_bootstrap(one_list, algorithm="sgns", dims=8)
    axes = figure.axes[0]
    assert titles(figure) == ["sgns 8"]
    table = one_list.table().query("algorithm == 'sgns' and dims == 8")
    order = table.groupby("corpus")["direct_bias"].mean().sort_values(ascending=False).index
    assert [label.get_text() for label in axes.get_yticklabels()] == list(order)
    np.testing.assert_allclose(points(axes), table.set_index("corpus")["direct_bias"].loc[order])
    bars = [line for each in axes.collections if hasattr(each, "get_segments") for line in each.get_segments()]
    drawn = {tuple(line[:, 0]) for line in bars}
    assert all((low, high) in drawn for low, high in zip(table["low"], table["high"], strict=True))
    scaled = bb.plots.plot_bias_bootstrap(one_list, "sgns", 8, standardised=True).axes[0]
    np.testing.assert_allclose(sorted(points(scaled)), sorted(table["standardised"]))


def test_the_bootstrap_has_a_panel_for_each_setting(study):
    figure = bb.plots.plot_bias_bootstrap(study)
    assert titles(figure)[:4] == ["cbow 4, others", "cbow 8, others", "sgns 4, others", "sgns 8, others"]
    assert len(figure.axes) == 8
    five = bb.plots.plot_bias_bootstrap(study_of(["wiki"], (10, 20, 40, 80, 160), 2))
    assert len(five.axes) == 8
    assert len([axes for axes in five.axes if axes.get_visible()]) == 5
    assert "At the right" not in noted(five)
    whole = study_of(["wiki", "reddit"], (10, 20), 1)
    gap = ~whole.table()["dims"].eq(20) | whole.table()["corpus"].eq("wiki")
    gaps = replace(whole, rows=whole.table()[gap].reset_index(drop=True), draws=whole.draws[gap])
    assert [len(axes.texts) for axes in bb.plots.plot_bias_bootstrap(gaps).axes] == [1, 0]
    for options, message in (
        ({"algorithm": "glove"}, "algorithm is 'glove': valid are cbow, sgns"),
        ({"dims": (4, 5)}, "dims is 5: valid are 4, 8"),
        ({"word_list": "none"}, "word_list is 'none': valid are stereotypes, others"),
        ({"standardised": 1}, "standardised is 1"),
    ):
        with pytest.raises(bb.InputError, match=message):
            bb.plots.plot_bias_bootstrap(study, **options)


@pytest.mark.parametrize(
    "plot",
    [bb.plots.plot_rank_agreement, bb.plots.plot_bias_decay, bb.plots.plot_bias_bootstrap],
)
def test_what_is_no_study_is_refused(plot):
    with pytest.raises(
        bb.InputError, match=f"given is DataFrame: {plot.__name__} takes what direct_bias_study returns"
    ):
        plot(table_of(2))


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
