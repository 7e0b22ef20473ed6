"""Headlines would say more, or less, than intervals and counts support."""

from textwrap import wrap

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias._support.phrases import barely, ends_of, excludes_zero, figure, order_said, signed, untold
from bayesbias._support.prose import Prose
from bayesbias.cli.example import answer
from bayesbias.models.tree import Fit
from bayesbias.reporting.fit_report import FitReport
from bayesbias.reporting.verdicts import by_group_sentence, opposed_groups, rows_of_groups

SLICE = "glove-50d-slice"
AGE = [("old", "young"), ("elderly", "youthful"), ("senior", "junior"), ("adult", "child")]
CHANCE = {"count": 8, "replicates": 100, "often": False, "closer": 2, "farther": 6}
JOBS = ["nurse", "teacher", "secretary", "doctor", "lawyer", "engineer", "carpenter", "mechanic"]


@pytest.mark.parametrize("pairs", [AGE, "gender"], ids=["nothing", "much"])
def test_an_axis_names_the_words_whose_interval_excludes_0_and_counts_the_others(pairs):
    found = bb.axis(SLICE, pairs, words=["nurse", "captain", "actress", "banker", "phone", "radio", "colonel"])
    table = found.table()
    away = (table["low"] > 0) | (table["high"] < 0)
    named = {
        end: found.front().answer.partition(f"Further towards {end} than that mean: ")[2].partition(".")[0]
        for end in found.ends
    }
    said = {word for words in named.values() if words for word in words.split(", ")}
    # of pairs without a common direction no word is named
    assert said == (set(table["word"][away]) if pairs == "gender" else set())
    assert (found.doubt != "") == (pairs == AGE)
    assert (f"{found.doubt} No word is named." in found.front().answer) == (pairs == AGE)
    assert ("The mean place of these 7 words is " in found.front().answer) == (pairs == "gender")
    assert " ".join(untold(int((~away).sum()), len(table))) in found.front().answer


def test_words_that_an_axis_without_a_meaning_would_name_as_often_may_be_chance():
    """Places of similar words vary together, so that several intervals exclude 0 at once."""
    drinks = ["champagne", "wine", "beer", "cocktail", "whiskey", "rum", "vodka", "milk", "juice", "tea", "coffee"]
    found = bb.axis(SLICE, "affluence", words=drinks)
    table, rng = found.table(order=False), np.random.default_rng(1)
    count = int(((table["low"] > 0) | (table["high"] < 0)).sum())
    places = rng.multivariate_normal(np.zeros(len(drinks)), found.covariance(), 20_000)
    share = ((np.abs(places) > 1.5982 * table["sd"].to_numpy()).sum(axis=1) >= count).mean()
    assert (count, share) == (4, pytest.approx(0.13, abs=0.015))
    assert found.chance() == (4, pytest.approx(share, abs=0.01))
    answer, certainty = found.findings()[:2]
    chance = f"{found.chance()[1]:.0%}"
    assert (
        "Further towards rich than that mean: champagne, wine, beer, cocktail. As many may be chance: on an axis "
        "without a meaning intervals exclude 0 for 4 or more of these 11 words with a probability of "
        f"{chance}. 7 of 11 "
    ) in answer
    assert "the 89% interval excludes 0 for 11% of words on average. On this axis it excludes 0 for" in certainty
    every = bb.axis(SLICE, "affluence").table()
    usual = ((every["low"] > 0) | (every["high"] < 0)).mean()
    assert found.usual_share() == pytest.approx(usual, abs=1e-9)
    assert f" excludes 0 for {usual:.0%} of the vocabulary of {SLICE}; the agreement of its pairs" in certainty
    mean, sd = found.places.mean(), np.sqrt(found.covariance().mean())
    row = {"low": mean - 1.5982 * sd, "high": mean + 1.5982 * sd}
    assert answer.endswith(f"The mean place of these 11 words is {signed(mean)} (89% interval {ends_of(row)}).")
    known = bb.axis(SLICE, "gender", words=["actress", "mother", "sister", "captain", "phone"]).findings()
    assert "may be chance" not in known[0]
    assert "of words on average, and for 4 or more of these 5 words with a probability of 1%." in known[1]
    one = found.with_words(["champagne"]).findings()[0]
    assert one.endswith("intervals exclude 0 for the word with a probability of 11%.")


def test_what_rests_on_an_axis_without_a_direction_says_so():
    unclear, gender = (bb.axis(SLICE, pairs, words=["nurse", "captain", "banker"]) for pairs in (AGE, "gender"))
    said = "The pairs of the axis old to young show no credible common direction, so that it may have no meaning. "
    assert (unclear.doubt, gender.doubt) == (said.strip(), "")
    words = ["nurse", "captain", "banker", "phone", "radio", "colonel"]
    values = pd.Series(np.arange(6.0), index=words)
    for on in (unclear, gender):
        assert bb.criterion(on, values, seed=0).front().answer.startswith(said) == (on is unclear)
        caption = on.contrast(["nurse"], ["captain"]).attrs["sign"]
        assert caption.endswith("it may have no meaning") == (on is unclear)


def test_places_are_said_beside_what_they_are_centred_on():
    drinks = ["champagne", "wine", "beer", "cocktail", "whiskey", "rum", "vodka", "milk", "juice", "tea", "coffee"]
    answer, sign, frequent = {}, {}, "the mean of the 20,000 most frequent words"
    for centre in ("vocabulary", "words", None):
        found = bb.axis(SLICE, "affluence", words=drinks, centre=centre)
        answer[centre], sign[centre] = found.front().answer, found.table().attrs["sign"]
    assert (
        "in glove-50d-slice, relative to the mean of the 20,000 most frequent words. Further towards rich than that "
        "mean: champagne" in answer["vocabulary"]
    )
    assert "Further towards rich than their mean: champagne" in answer["words"]
    assert "Further towards poor than their mean: milk" in answer["words"]
    assert "in glove-50d-slice. Nearer to rich than to poor: champagne" in answer[None]
    adjusted = bb.axis(SLICE, "affluence", words=drinks, adjust="frequency")
    assert (
        "in glove-50d-slice, relative to what frequency predicts. Further towards rich than frequency predicts: "
        in adjusted.front().answer
    )
    assert (
        adjusted.front()
        .lines["What is a place?"]
        .endswith(": above 0 words lie further towards rich than frequency predicts.")
    )
    assert adjusted.table().attrs["sign"].startswith("positive: further towards rich than frequency predicts; ")
    assert (
        "less what the frequency of a word predicts of this difference over the 20,000 most frequent words"
        in bb.methods_text(adjusted)
    )
    assert "mean of the vocabulary" not in f"{adjusted.front()}{bb.methods_text(adjusted)}"
    words = bb.axis(SLICE, "affluence", words=drinks, centre="words").with_words(["wine"])
    assert "relative to the mean of the words champagne, wine, beer, cocktail and 7 more." in words.front().answer
    assert sign["vocabulary"].startswith(f"positive: further towards rich than {frequent}; p positive")
    assert sign["words"].startswith("positive: further towards rich than the mean of these 11 words; p positive")
    assert sign[None].startswith("positive: nearer to rich than to poor; p positive")


def test_words_whose_intervals_include_0_are_counted():
    assert untold(7, 10) == ["7 of 10 words have intervals that include 0."]
    assert untold(1, 10) == ["1 of 10 words has an interval that includes 0."]
    assert untold(9, 9) == ["The intervals of all 9 words include 0."]
    assert untold(1, 1) == ["The interval of the word includes 0."]
    assert untold(0, 4) == []


def test_an_audit_without_calls_says_that_no_word_is_known_to_lean_and_shows_the_largest_places():
    found = bb.audit(SLICE, AGE)
    assert not found.words["called"].any()
    answer, largest, more, *_ = found.findings()
    count = found.words["word"].nunique()
    assert answer.startswith(f"With these 4 pairs, none of {count:,} words of {SLICE} is known to lean to old or to ")
    first = found.words.loc[found.words["mean"].abs().nlargest(10).index, "word"]
    assert [part.split(" (")[0] for part in largest.partition("those of ")[2].split("), ")][:10] == first.tolist()
    assert "table(called=False)" in largest
    assert "four times as many pairs like these would halve that" in more
    assert "errors" not in answer
    assert [row[0] for row in found.sections()[0].blocks[0].rows] == first.tolist()


def test_an_audit_with_calls_says_how_many_are_errors():
    found = bb.audit(SLICE, "gender")
    count = int(found.words["called"].sum())
    assert f"{count:,} lean to woman or to man" in found.findings()[0]
    assert found.findings()[0].endswith("at most 5% of these are expected to be errors.")


@pytest.mark.parametrize(
    ("low", "high", "chance", "begins"),
    [
        (-0.082, -0.037, None, "Yes. In X"),
        (-0.071, -0.002, None, "Yes, barely: the interval ends next to 0. In X"),
        (
            -0.09,
            -0.03,
            CHANCE,
            "Yes, barely: 8 of 100 sets of random lists are as far from 0 (2 closer, 6 farther). In X",
        ),
        (0.002, 0.071, None, "No, barely: the interval ends next to 0. In X"),
        (-0.071, 0.002, CHANCE, "Inconclusive. In X"),
        (
            -0.09,
            -0.03,
            CHANCE | {"count": 12, "often": True},
            "Inconclusive. In X, these protected words are on average 0.060 closer to their own stereotypes than to "
            "others, and the 89% interval excludes 0; but 12 of 100 sets of random lists are as far from 0 (2 closer,",
        ),
    ],
)
def test_the_verdict_of_a_fit_and_its_chance_check_are_one_answer(low, high, chance, begins):
    row = {"low": low, "high": high, "mean": (low + high) / 2}
    given = {"short": "", "embedding": "X", "groups": [], "other": "others", "mass": "89%"}
    given |= {"caution": "", "opposed": [], "slight": False, "equal": ""}
    assert Prose("fit").answer(row=row, edge=barely(row), chance=chance, **given).startswith(begins)


PEOPLE = {
    "older": ["elderly", "retiree", "retirees", "grandfather", "grandmother", "seniors", "elder", "widow"],
    "younger": ["teenager", "teenagers", "youth", "youths", "adolescent", "youngster", "teen", "kid"],
}
OLD = ["frail", "ill", "sick", "illness", "disease", "tired", "dying", "weakness"]
FRAILTY = {
    "older": ["ill", "lonely", "tired", "dying", "sick", "poor"],
    "younger": ["lively", "energetic", "rude", "careless", "noisy", "rebellious"],
}


@pytest.fixture(scope="module")
def frailty():
    table = bb.distance_table(SLICE, bb.WordLists("frailty", PEOPLE, FRAILTY, {}))
    return table, FitReport(Fit.read(bb.fit(table, seed=0)))


def group_sentence(post, names, controls=True, prob=0.89):
    """The sentence on groups by themselves, from their two kinds of rows."""
    said = []
    for rows in ("difference", "groups"):
        table = bb.contrasts(post, by="group", rows=rows, prob=prob).set_index("group").loc[names]
        said.append(", ".join(f"{name} {signed(row['mean'])} ({ends_of(row)})" for name, row in table.iterrows()))
    beyond = (
        ", beyond the mean of the control lists"
        if controls
        else ("; without control words this also depends on how near the groups are to all words")
    )
    return (
        f"Words of a group less those of the other groups, in their distance to its stereotypes{beyond}: {said[1]}. "
        f"Own list less other lists, which also depends on how near each list is to all words: {said[0]}."
    )


def test_groups_by_themselves_are_given_in_numbers_in_both_ways(frailty):
    table, report = frailty
    post = report.result.tree
    means = table.pivot_table("distance", "group", "attribute_class", observed=True)
    beside = bb.contrasts(post, by="group").set_index("group").loc[["older", "younger"]]
    for group, other in (("older", "younger"), ("younger", "older")):
        assert beside.loc[group, "mean"] == pytest.approx(means.loc[group, group] - means.loc[other, group], abs=0.01)
    said = group_sentence(post, ["older", "younger"], controls=False)
    assert report.answer().startswith(
        f"Yes. In {SLICE}, words for older and younger, taken together, are on average closer to their own"
    )
    assert report.front().lines["By group?"] == said
    assert said in report.findings()[0]
    first_screen = [line for paragraph in answer(report.result, None) for line in wrap(paragraph, 79)]
    assert len(first_screen) <= 8  # ten with what is written where


def test_a_difference_next_to_nothing_is_called_so_however_small_its_error():
    """After a method that makes the means of these groups equal, the interval is as small as the difference."""
    lists = bb.WordLists("frailty", PEOPLE, FRAILTY, bb.load_words("gender").controls)
    raw, equal = bb.load_embedding(SLICE), bb.debias(SLICE, "leace", definitional=PEOPLE)
    answers = {}
    for name, kv in (("raw", raw), ("equal", equal)):
        post = bb.fit(bb.distance_table(kv, lists), seed=0)
        table = bb.contrasts(post)
        row, spread = table.iloc[0], table["mean"].iloc[0] / table.attrs["standardised"]
        within = max(abs(row["low"]), abs(row["high"])) < 0.1 * spread
        report = FitReport(Fit.read(post))
        answers[name] = within, excludes_zero(row), report.answer(), report.findings()[0]
    assert [answers[name][0] for name in answers] == [False, True]
    assert answers["raw"][2].startswith("Yes")
    _, away, answer_, verdict = answers["equal"]
    assert all(said.startswith("Hardly any difference" if away else "Inconclusive") for said in (answer_, verdict))


def test_examples_are_beyond_what_control_words_show():
    """Words for one group may be nearer to everything."""
    lists = bb.WordLists("frailty", PEOPLE, FRAILTY, bb.load_words("gender").controls)
    table = bb.distance_table(SLICE, lists)
    report = FitReport(Fit.read(bb.fit(table, seed=0)))
    means = table.pivot_table("distance", "attribute_word", "group", observed=True)
    nearer = means["older"] - means["younger"]  # to words for the younger
    controls = table[~table["connection"].isin(["associated", "different"])].groupby("group")["distance"].mean()
    beyond = nearer - (controls["older"] - controls["younger"])
    by_word = pd.concat([-beyond[list(FRAILTY["older"])], beyond[list(FRAILTY["younger"])]])
    largest = by_word.abs().sort_values(ascending=False).index[:4]
    said = report.front().lines["For example?"]
    assert "in either direction, beyond that of the control words: " in said
    for word in largest:
        group = "older" if word in FRAILTY["older"] else "younger"
        way = "nearer to" if by_word[word] > 0 else "farther from"
        assert f"{word} (a stereotype of {group}), {figure(abs(by_word[word]))} {way} words for {group}" in said


def test_a_group_without_stereotypes_is_not_said_to_be_near_to_its_own(frailty):
    table, _ = frailty
    both = bb.WordLists("frailty", {**PEOPLE, "tools": ("hammer", "saw", "drill", "knife")}, FRAILTY, {})
    report = FitReport(Fit.read(bb.fit(bb.distance_table(SLICE, both), seed=0)))
    assert f"In {SLICE}, words for older and younger, taken together, are on average" in report.answer()
    left = "Left out are words for tools, which have no row: no stereotypes of their own are measured."
    assert left in report.answer()
    assert left in report.findings()[0]
    assert left not in FitReport(Fit.read(bb.fit(table, seed=0))).answer()


def shifted(own, noise=0.02):
    """A fit of groups of five words whose distances to their own six words are moved."""
    rng, rows = np.random.default_rng(0), []
    for group, moved in own.items():
        for word in range(5):
            for other in own:
                mean = 0.5 + moved * (group == other)
                connection = "associated" if group == other else "different"
                rows += [
                    (f"{group}{word}", group, f"{other} {i}", other, connection, mean + noise * rng.standard_normal())
                    for i in range(6)
                ]
    columns = ["protected_word", "group", "attribute_word", "attribute_class", "connection", "distance"]
    return Fit.read(bb.fit(pd.DataFrame(rows, columns=columns), "crossed", seed=0))


@pytest.mark.parametrize(
    ("own", "alone", "begins", "ends"),
    [
        (
            {"a": -0.3, "b": 0.1},
            {"b": 0.1},
            "Yes. ",
            "Words for b are credibly farther from their",
        ),
        ({"a": 0.3, "b": -0.1}, {"b": -0.1}, "No. ", "Words for b are credibly closer to their own."),
        ({"a": -0.3, "b": -0.1}, {}, "Yes. ", ""),
        (
            {"a": -0.3, "b": -0.3, "c": 0.3},
            {"c": 0.3},
            "Yes. ",
            "Words for c are credibly farther",
        ),
        ({"a": -0.3, "b": -0.3, "c": -0.1}, {}, "Yes. ", ""),
    ],
)
def test_a_group_on_the_other_side_is_named(own, alone, begins, ends):
    result = shifted(own)
    table = bb.contrasts(result.tree)
    for rows in ("groups", "difference"):
        means = bb.contrasts(result.tree, by="group", rows=rows).set_index("group")["mean"][list(own)]
        assert means.to_dict() == pytest.approx(own, abs=0.02)
    answer = FitReport(result).answer()
    assert answer.startswith(begins)
    assert ends in answer
    assert ("are credibly" in answer) == bool(alone)
    assert opposed_groups(table, rows_of_groups(result, table)) == list(alone)


def test_what_decides_for_further_words_is_more_words_or_lists_equally_near(frailty):
    report = frailty[1]
    lines = report.front().lines
    rows = [bb.contrasts(report.result.tree, rows=rows)["mean"] for rows in ("difference", "association")]
    near = signed((rows[0] - rows[1]).abs().max())
    said = f"up to {near} nearer or farther than the others, by the same amount for every word of the group."
    assert said in lines["About which words?"]
    assert lines["What would decide it for further words?"] == (
        "More protected words, as unlike each other as possible, would narrow the interval for further words like "
        "these, and so would lists of stereotypes that lie equally near to all words."
    )


def test_the_random_lists_of_an_answer_are_counted_on_either_side():
    lists = bb.WordLists("old", {"older": PEOPLE["older"]}, {"older": OLD}, {"human": list(bb.load_list("human"))})
    null = bb.topic_null(SLICE, lists, replicates=300, seed=0)
    name = "associated - human"
    values, far = null.of(name), abs(null.observed[name])
    closer, farther = int((values <= -far).sum()), int((values >= far).sum())
    answer = FitReport(Fit.read(bb.fit(bb.distance_table(SLICE, lists), seed=0)), null).answer()
    assert closer + farther > 15  # 5% of them
    counted = f"{closer + farther} of 300 sets of random lists are as far from 0 ({closer} closer, {farther} farther)"
    assert answer.startswith(f"Yes, barely: {counted}. In {SLICE}, ")


def short_lists(women, men):
    stereotypes = {"women": women, "men": men}
    return bb.WordLists("short", {"women": ["she", "her"], "men": ["he", "him"]}, stereotypes, {})


@pytest.mark.parametrize(
    ("lists", "said"),
    [
        (
            bb.WordLists("two", {"a": ["she"], "b": ["he"]}, {"a": ["nurse", "maid"], "b": ["boss", "soldier"]}),
            "An answer on the whole list needs at least 3 protected words, and 2 were found.",
        ),
        (short_lists(["nurse"], ["boss", "soldier"]), "at least 2 words in each stereotype list, and women has 1."),
        (short_lists(["nurse", "maid"], ["boss", "soldier"]), ""),
    ],
    ids=["two protected words", "one stereotype word", "enough"],
)
def test_lists_that_are_too_short_have_one_answer_in_checks_and_fits(slice_vectors, lists, said):
    post = bb.fit(bb.distance_table(slice_vectors, lists), seed=0)
    verdict, front = bb.checks.verdict_sentences(post)[0], FitReport(Fit.read(post)).front()
    checked = bb.checks.check_words(lists, slice_vectors).text()
    for text in (verdict, front.answer, checked):
        assert ("An answer" in text) == bool(said)
        assert said in text
    if said:
        assert verdict.startswith("Inconclusive: ")
        assert front.answer.startswith("Inconclusive. An answer")
        assert "is clear for" not in verdict + " ".join(front.lines.values())


@pytest.fixture(scope="module")
def steps():
    kv = bb.load_embedding("google-news-slice")
    pairs = [("he", "she"), ("man", "woman")]
    return {"1": kv, **{str(n + 1): bb.debias(kv, "project", definitional=pairs[:n]) for n in (1, 2)}}


def test_a_pool_orders_embeddings_where_the_order_is_known(steps):
    pooled = bb.pool(bb.distance_tables({"1": steps["1"], "2": steps["2"]}, "gender"))
    table = pooled.table().sort_values("mean")["name"].tolist()
    # with two embeddings, the probability of the order is that of either end
    assert pooled.probability(table[-1], table[0]) >= 0.945
    assert any(each.startswith(f"The contrast is lowest in {table[0]} (") for each in pooled.findings())
    assert pooled.front().title == "How strong are the stereotypes of gender in these embeddings?"


def test_an_end_is_named_only_where_it_is_credibly_the_first_of_all():
    rng = np.random.default_rng(0)
    draws = np.array([-0.3, 0.0, 0.01]) + 0.02 * rng.standard_normal((4000, 3))
    said = order_said(["a", "b", "c"], draws, "embeddings", 0.945)
    assert said == (
        "The contrast is lowest in a (\N{MINUS SIGN}0.300; probability > 99.9%). Where it is highest is not known."
    )
    assert order_said(["b", "c"], draws[:, 1:], "embeddings", 0.945).startswith(
        "The order of the embeddings is not known: partially pooled estimates of the contrast range from 0.000 (b) to "
        "0.010 (c)."
    )
    level = np.array([-0.3, -0.299, 0.0, 0.001]) + 0.02 * rng.standard_normal((4000, 4))
    assert order_said(["a", "b", "c", "d"], level, "4 settings", 0.945) == (
        "The 4 settings differ: the contrast is lower in a (\N{MINUS SIGN}0.300) than in c (0.000; probability "
        "> 99.9%). Which is the lowest and which the highest of all is not known."
    )
    # the surest pair is not that of the farthest means
    unequal = np.array([-0.2, 0.0, 0.1, -0.21]) + np.array([0.02, 0.02, 0.3, 0.2]) * rng.standard_normal((4000, 4))
    assert order_said(["a", "b", "c", "d"], unequal, "embeddings", 0.945).startswith(
        "The embeddings differ: the contrast is lower in a ("
    )


def test_a_criterion_is_named_like_its_values():
    values = pd.Series(range(len(JOBS)), JOBS, float)
    found = bb.criterion(bb.axis(SLICE, "gender", words=JOBS), values.rename("census 1990"))
    assert found.front().title == "Do words nearer to man than to woman have larger values of “census 1990”?"
    assert found.figure().axes[0].get_xlabel() == "census 1990"
    assert "census 1990" in found.findings()[0]
    unnamed = bb.criterion(bb.axis(SLICE, "gender", words=JOBS), values)
    assert unnamed.front().title == "Do words nearer to man than to woman have larger outside values?"


def test_groups_of_bundled_lists_are_given_in_numbers():
    """The mean of the list may come from one group."""
    fits = {name: bb.fit(bb.distance_table("google-news-slice", name), seed=0) for name in ("religion", "gender")}
    for name, groups in (("religion", ["jew", "christian", "muslim"]), ("gender", ["man", "woman"])):
        said, report = group_sentence(fits[name], groups), FitReport(Fit(fits[name]), None)
        by_group = rows_of_groups(Fit(fits[name]), bb.contrasts(fits[name]))
        assert said == by_group_sentence(Fit(fits[name]), by_group)
        assert said in report.front().lines["By group?"]
        assert said in bb.checks.verdict_sentences(fits[name])[0]
        assert report.answer().startswith("Yes. In google-news-slice, words for ")
        assert report.answer().endswith("(credible at 89%).")
        first_screen = [line for paragraph in answer(Fit(fits[name]), None) for line in wrap(paragraph, 79)]
        assert len(first_screen) <= 8  # ten with what is written where
    assert "stereotypes of other groups, whose lists weigh the same, averaged" in bb.methods_text(fits["religion"])
    assert "whose lists weigh the same" not in bb.methods_text(fits["gender"])
