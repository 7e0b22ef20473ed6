"""Every picture through one mould: a Figure back, no global state, stable, readable with few and many words."""

import io

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import bayesbias as bb

OF_A_FIT = {
    "coefficients": bb.plot_coefficients,
    "predictions": bb.plot_predictions,
    "contrasts": lambda post: bb.plot_contrasts(post, second="neutral"),
    "variance": bb.plot_variance,
    "attribute effects": bb.plot_attribute_effects,
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


def svg(figure):
    buffer = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": "fixed", "svg.fonttype": "none"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    return buffer.getvalue()


def texts(figure):
    return {text.get_text() for axes in figure.axes for text in [*axes.texts, *axes.get_yticklabels()]}


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
    import matplotlib.pyplot as plt

    before, known = dict(mpl.rcParams), plt.get_fignums()
    figure = plot(fits[kind])
    assert isinstance(figure, Figure)
    assert plt.get_fignums() == known
    assert dict(mpl.rcParams) == before
    assert svg(figure) == svg(plot(fits[kind]))
    assert figure._repr_png_().startswith(b"\x89PNG")
    width, height = figure.get_size_inches()
    assert 5 < width < 13
    assert 1.5 < height < 25


@pytest.mark.parametrize("plot", OF_A_FIT.values(), ids=OF_A_FIT.keys())
def test_words_are_text_and_never_formulas(fits, plot):
    figure = plot(fits["words that look like formulas"])
    assert "<svg" in svg(figure)
    if plot in (bb.plot_coefficients, OF_A_FIT["contrasts"], OF_A_FIT["contrasts with a rope"]):
        assert {f"$x_{{1}}$ <b>&{word}" for word in range(3)} <= texts(figure)


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


def test_attribute_effects_show_the_ends_of_long_lists_and_need_a_crossed_model():
    table = table_of(4, ("associated", "neutral"), size=30)
    figure = bb.plot_attribute_effects(bb.fit(table, seed=0), most=5)
    assert [len(axes.get_yticks()) for axes in figure.axes] == [10, 10]
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["stereotype (30 words)", "neutral (30 words)"]
    assert sum("20 more" in text for text in texts(figure)) == 1
    with pytest.raises(bb.InputError, match="fit a crossed model"):
        bb.plot_attribute_effects(bb.fit(table, "published", seed=0))


def test_variance_bars_are_the_shares():
    post = bb.fit(table_of(4), seed=0)
    widths = sorted(bar.get_width() for bar in bb.plot_variance(post).axes[0].patches)
    assert widths == pytest.approx(sorted(bb.variance_shares(post)["mean"]))


def test_calibration_is_drawn_with_its_errors():
    shape = {"groups": {"g": 3, "h": 3}, "stereotypes": {"g": 3, "h": 3}, "neutral": 6}
    truth = {"connection_mean": 0.9, "connection_sd": 0.02, "sigma": 0.05, "attribute_sd": 0.05, "interaction_sd": 0.01}
    rates = bb.false_alarms(shape, truth, ["published"], replicates=10)
    figure = bb.plot_calibration(rates)
    assert len(figure.axes) == rates["contrast"].nunique()
    drawn = {x for axes in figure.axes for points in axes.collections for x, _ in points.get_offsets()}
    assert set(rates["rate"]) <= drawn
    ranks = bb.plot_calibration(bb.sbc("published", shape, 10))
    assert len([axes for axes in ranks.axes if axes.get_visible()]) == 4
    with pytest.raises(bb.InputError, match="false_alarms, real_null or coverage_study"):
        bb.plot_calibration(table_of(2))


def test_a_plan_is_drawn_with_the_present_lists_marked():
    plan = bb.plan(table_of(6), effect=0.1)
    figure = bb.plot_plan(plan)
    left, right = figure.axes
    assert len(left.get_lines()) >= plan.curve["varied"].nunique()
    assert left.collections[-1].get_offsets()[0].tolist() == pytest.approx([1.0, plan.present.width])
    assert right.collections[-1].get_offsets()[0].tolist() == pytest.approx([1.0, plan.present.power])
    with pytest.raises(bb.InputError, match="a result of plan"):
        bb.plot_plan(table_of(2))


def test_noise_is_drawn_with_the_sample_marked():
    null = bb.simulate_null_weat(words=4, attributes=5, draws=300)
    for plot, values in ((bb.plot_null_weat, null.s), (bb.plot_null_partitions, null.partition_s)):
        left, right = plot(null).axes
        assert left.get_lines()[0].get_xdata()[0] == null.observed_s
        assert right.get_lines()[0].get_xdata()[0] == null.observed_effect_size
        assert sum(bar.get_height() for bar in left.patches[1:]) == len(values)
    left, right = bb.plot_null_sample(null).axes
    drawn = np.concatenate([points.get_offsets()[:, 0] for points in left.collections])
    assert np.isin(null.sample.ravel(), drawn).all()
    assert right.collections[-1].get_offsets()[:, 0].tolist() == pytest.approx(null.raw["difference"].tolist())
    for plot in (bb.plot_null_weat, bb.plot_null_partitions, bb.plot_null_sample):
        with pytest.raises(bb.InputError, match="a result of simulate_null_weat"):
            plot(table_of(2))


def test_a_ranking_is_drawn_with_ranks_and_their_probabilities():
    rng = np.random.default_rng(0)
    words = [f"{name}{at}" for name in "xyab" for at in range(6)]
    kvs = {name: dict(zip(words, rng.normal(size=(24, 8)), strict=True)) for name in ("one", "two $x$", "three")}
    query = bb.Query({key: words[6 * at : 6 * at + 6] for at, key in enumerate("xy")},
                     {key: words[12 + 6 * at : 18 + 6 * at] for at, key in enumerate("ab")})  # fmt: skip
    ranking = bb.rank(kvs, query, ["weat", "rnsb"], draws=20)
    figure = bb.plot_ranking(ranking)
    above, *below = figure.axes
    assert [axes.get_title(loc="left") for axes in below] == ["weat", "rnsb"]
    lengths = sorted(sum(bar.get_width() for bar in bars) for bars in zip(*above.containers, strict=True))
    assert lengths == sorted(ranking.ranks[["weat", "rnsb"]].sum(axis=1))
    assert "two $x$" in texts(figure)
    shares = ranking.rank_distribution.query("metric == 'weat'")["probability"]
    assert sorted(below[0].images[0].get_array().ravel()) == pytest.approx(sorted(shares))
    assert len(bb.plot_ranking(bb.rank(kvs, query, "weat", draws=0)).axes) == 1
    assert svg(figure) == svg(bb.plot_ranking(ranking))
    with pytest.raises(bb.InputError, match="a result of rank"):
        bb.plot_ranking(table_of(2))


def change_of(words, connections=("associated", "different", "human", "neutral"), **options):
    before, after = table_of(words, connections, **options), table_of(words, connections, **options)
    rng = np.random.default_rng(1)
    own = np.where(after["connection"] == "associated", 0.1, 0.0)
    return bb.compare(
        before=before, after=after.assign(distance=after["distance"] + own + rng.normal(0, 0.02, len(after))), seed=0
    )


@pytest.mark.parametrize("plot", [bb.plot_change, bb.plot_similarity_shift], ids=["change", "shift"])
@pytest.mark.parametrize("words", [3, 50])
def test_a_picture_of_a_comparison(plot, words):
    result = change_of(words)
    before = dict(mpl.rcParams)
    figure = plot(result)
    assert isinstance(figure, Figure)
    assert dict(mpl.rcParams) == before
    assert svg(figure) == svg(plot(result))
    width, height = figure.get_size_inches()
    assert 5 < width < 13
    assert 1.5 < height < 40
    with pytest.raises(bb.InputError, match="takes what compare returns"):
        plot(table_of(2))


def test_a_change_shows_every_word_with_arrows_and_intervals():
    result = change_of(4, ("associated", "neutral"), name="$x_{{1}}$ <b>&{0}")
    figure = bb.plot_change(result)
    above, change, below, _ = figure.axes
    assert {f"$x_{{1}}$ <b>&{word}" for word in range(4)} <= texts(figure)
    assert above.get_title(loc="left") == "Whole list, from before to after"
    arrows = [text for text in below.texts if text.arrow_patch is not None]
    assert len(arrows) == 8
    mean = result.posterior["posterior/connection_mean"].mean(("chain", "draw"))
    drawn = next(text for text in above.texts if text.arrow_patch is not None)
    assert drawn.xy[0] == pytest.approx(float(mean.sel(embedding="after", connection="associated")))
    assert drawn.xyann[0] == pytest.approx(float(mean.sel(embedding="before", connection="associated")))
    points = np.concatenate([each.get_offsets() for each in change.collections if len(each.get_offsets())])
    assert np.isclose(points[:, 0], result.changes("associated")["mean"].iloc[0]).any()


def test_what_did_not_change_has_no_arrow():
    table = table_of(3)
    figure = bb.plot_change(bb.compare(before=table, after=table, seed=0))
    assert not [text for axes in figure.axes for text in axes.texts if text.arrow_patch is not None]


def test_words_are_sorted_by_the_size_of_their_change():
    before = table_of(4)
    moved = (before["protected_word"] == "word2") & (before["connection"] == "associated")
    noise = np.random.default_rng(0).normal(0, 0.01, len(before))
    after = before.assign(distance=before["distance"] + noise - 0.4 * moved)
    figure = bb.plot_change(bb.compare(before=before, after=after, seed=0))
    assert figure.axes[2].get_yticklabels()[0].get_text() == "word2"


def test_of_three_embeddings_one_change_is_named():
    first = table_of(3)
    noise = np.random.default_rng(1).normal(0, 0.02, (3, len(first)))
    tables = {name: first.assign(distance=first["distance"] + noise[at]) for at, name in enumerate("abc")}
    result = bb.compare(tables, seed=0, draws=400)
    figure = bb.plot_change(result, before="a", after="c")
    assert figure.axes[0].get_title(loc="left") == "Whole list, from a to c"
    assert bb.plot_similarity_shift(result, before="b", after="c")
    for wrong in ({}, {"before": "c", "after": "a"}):
        with pytest.raises(bb.InputError, match="the changes at hand are a to b, a to c, b to c"):
            bb.plot_change(result, **wrong)


def test_the_shift_shows_the_shares_within_the_lines():
    result = change_of(4)
    shares = bb.similarity_shift(result)
    figure = bb.plot_similarity_shift(result)
    assert len(figure.axes) == 4
    row = shares.iloc[0]
    assert f"before {100 * row['before']:.0f}%" in "".join(texts(figure))
    lines = sorted(line.get_xdata()[0] for line in figure.axes[0].get_lines())
    assert lines == pytest.approx([-shares.attrs["limit"], shares.attrs["limit"]])
    with pytest.raises(bb.InputError, match="mac is 3"):
        bb.plot_similarity_shift(result, mac=3)
    with pytest.raises(bb.InputError, match="no stereotype words to take MAC of"):
        bb.plot_similarity_shift(change_of(3, ("human", "neutral")))


def test_side_effects_are_drawn_with_their_intervals(slice_vectors):
    pairs = list(bb.load_list("gender_pairs").pairs)
    debiased = bb.debias(slice_vectors, "project", definitional=pairs)
    tables = [bb.distance_table(kv, "gender") for kv in (slice_vectors, debiased)]
    names = slice_vectors.index_to_key
    similar = [(names[at], names[at + 1], float(at)) for at in range(30)]
    found = bb.side_effects(*tables, slice_vectors, debiased, similarity=similar)
    figure = bb.plot_side_effects(found)
    assert len(figure.axes) == 4
    assert svg(figure) == svg(bb.plot_side_effects(found))
    points = [each.get_offsets() for each in figure.axes[0].collections]
    drawn = np.concatenate([each[:, 0] for each in points if len(each)])
    assert np.isin(found.neighbours["kept"], drawn).all()
    with pytest.raises(bb.InputError, match="takes what side_effects returns"):
        bb.plot_side_effects(table_of(2))


def test_silhouettes_are_drawn_with_their_scores():
    rng = np.random.default_rng(0)
    words = [f"{kind}{at}" for kind in "xyab" for at in range(8)]
    kvs = {name: bb.load_embedding({word: rng.normal(size=10) for word in words}) for name in ("one", "two $x$")}
    sets = {kind: [f"{kind}{at}" for at in range(8)] for kind in "xyab"}
    query = bb.Query({key: sets[key] for key in "xy"}, {key: sets[key] for key in "ab"})
    both = {name: bb.silhouette(kv, query, "weat", runs=6) for name, kv in kvs.items()}
    figure = bb.plot_silhouette([both, both["one"]], runs=True)
    first, second = figure.axes
    assert f"accuracy {bb.silhouette_accuracy(*both.values()):.2f}" in first.get_title(loc="left")
    labels = [text.get_text() for text in first.get_legend().get_texts()]
    assert labels == [f"{name} (robustness {one.robustness:.2f})" for name, one in both.items()]
    means = [line.get_ydata() for line in second.get_lines() if line.get_linewidth() == 1.8]
    np.testing.assert_array_equal(means[0], both["one"].mean)
    assert svg(figure) == svg(bb.plot_silhouette([both, both["one"]], runs=True))
    for wrong, message in (([], "no silhouette to draw"), ([{}], "takes what silhouette returns"),
                           ({"a": both["one"], "b": bb.silhouette(kvs["one"], query, "rnsb", runs=2)},
                            "one metric and one kind of list")):  # fmt: skip
        with pytest.raises(bb.InputError, match=message):
            bb.plot_silhouette(wrong)


@pytest.mark.parametrize("plot", OF_A_FIT.values(), ids=OF_A_FIT.keys())
def test_what_is_no_fit_is_refused(plot):
    with pytest.raises(bb.InputError, match="give the DataTree that fit returns"):
        plot(table_of(2))


def test_connections_differ_in_marker_and_in_lightness():
    """Grey print and colour blindness: markers all differ, and so does the lightness of the two stereotypes."""
    from matplotlib.colors import to_rgb

    from bayesbias.plots.style import LOOKS

    assert len({look.marker for look in LOOKS.values()}) == 4
    lightness = [np.dot(to_rgb(LOOKS[name].colour), (0.299, 0.587, 0.114)) for name in ("associated", "different")]
    assert abs(lightness[0] - lightness[1]) > 0.08
