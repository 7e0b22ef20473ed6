"""A methods text would leave out what was done, or say what was not."""

import re
from dataclasses import replace

import numpy as np
import pytest

import bayesbias as bb
from bayesbias._support.phrases import signed
from bayesbias._support.prose import Prose

SENTENCE = re.compile(r"(?<=\.)\s+(?=[A-Z])")


def sentences(result, **options):
    return SENTENCE.split(bb.methods_text(result, **options))


def differing(one, other):
    """Sentences of the first that the second has not, and the other way round."""
    return [line for line in one if line not in other], [line for line in other if line not in one]


@pytest.fixture(scope="module")
def lists():
    return bb.load_words("weat7")


@pytest.fixture(scope="module")
def weat7():
    return bb.distance_table("google-news-slice", "weat7")


@pytest.fixture(scope="module")
def plain(weat7):
    return bb.fit(weat7, seed=0)


def test_an_adjustment_is_one_sentence_more(weat7, plain):
    by_length = bb.fit(weat7, seed=0, adjust="length")
    gone, more = differing(sentences(plain), sentences(by_length))
    (adjusted,) = [line for line in more if line.startswith("Distances were adjusted for length")]
    # the numbers of the answer move with the distances, and nothing else does
    assert [line[:30] for line in gone] == [line[:30] for line in more if line != adjusted]
    assert all(line.startswith(("For these protected", "Sources", "Software")) for line in gone)


def test_rows_of_words_that_are_pooled_are_a_sentence(plain, lists):
    alone = bb.fit(
        bb.distance_table("google-news-slice", replace(lists, stereotypes={"math": lists.stereotypes["math"]}))
    )
    for post, pooled in ((plain, True), (alone, False)):
        assert (bb.contrasts(post).attrs["rows"] == "pooled") == pooled
        said = "Associations are partially pooled around the whole list, with a half-Cauchy prior (scale 0.35 standard"
        assert (said in bb.methods_text(post)) == pooled


@pytest.mark.parametrize(
    ("source", "slope", "start", "end"),
    [
        (
            "wordfreq (English)",
            None,
            ", whose source is wordfreq (English): from",
            "word over 2,727 words of the vocabulary.",
        ),
        ("the words", None, ": from", "by a smooth curve for each protected word over 2,727 words of the vocabulary."),
        (
            "what was given",
            [-0.0013, 0.0012, 122.0],
            ": from",
            "slope of −0.0013 per zipf (standard error 0.0012), estimated from 2,727 control words.",
        ),
    ],
)
def test_an_adjustment_names_its_source_and_its_curve(source, slope, start, end):
    facts = {"source": source, "slope": slope, "unit": "zipf", "words": 2727}
    said = Prose("methods").adjusted(by="frequency", facts=facts)
    assert said.startswith(f"Distances were adjusted for frequency{start} each we subtracted the distance")
    assert said.endswith(end)


def test_a_list_of_stereotypes_alone_is_called_so(lists):
    table = bb.distance_table("google-news-slice", replace(lists, controls={}))
    assert " to 16 stereotype words, in google-news-slice" in bb.methods_text(bb.fit(table, seed=0))


def test_a_word_that_is_missing_is_named(plain, lists):
    more_words = {**lists.protected, "math": (*lists.protected["math"], "zzyzx")}
    table = bb.distance_table("google-news-slice", replace(lists, protected=more_words))
    (gone,), (more,) = differing(sentences(plain), sentences(bb.fit(table, seed=0)))
    start = "Words that google-news-slice does not hold were left out:"
    assert gone.startswith(f"{start} ballpark")
    assert more == gone.replace(start, f"{start} zzyzx (protected list math, 8 of 9 found);")


def test_words_that_were_read_otherwise_are_named():
    lists = bb.WordLists(
        "names",
        {"men": ("John", "Paul", "Mike"), "women": ("Amy", "Joan", "Lisa")},
        {"men": ("executive", "management", "office"), "women": ("home", "parents", "children")},
        {"things": ("home", "music", "science")},
    )
    said = sentences(bb.fit(bb.distance_table("glove-50d-slice", lists, case="fallback"), seed=0))
    asked = "John, Paul, Mike, Amy, Joan, Lisa"
    assert f"In glove-50d-slice, {asked} (6 words) were read as {asked.lower()}." in said
    assert "The word home, in several lists, counts as a stereotype." in said
    assert (
        "In glove-50d-slice, the control list things was used with 2 of its 3 words found, without those that count in "
        "another list: home (women)."
    ) in said


def test_a_word_of_two_control_lists_counts_in_one_and_the_text_says_in_which_and_how_many_are_left():
    protected = {"men": ("john", "paul", "mike"), "women": ("amy", "joan", "lisa")}
    lists = bb.WordLists(
        "two controls",
        protected,
        {"men": ("executive", "management", "office"), "women": ("home", "parents", "children")},
        {"plain": ("music", "science", "zzyzx", "art"), "human": ("music", "people", "person")},
    )
    table = bb.distance_table("glove-50d-slice", lists)
    assert table[table["attribute_class"] == "plain"]["attribute_word"].nunique() == 2
    said = sentences(bb.fit(table, seed=0))
    assert "Words that glove-50d-slice does not hold were left out: zzyzx (control list plain, 3 of 4 found)." in said
    assert (
        "In glove-50d-slice, the control list plain was used with 2 of its 3 words found, without those that count in "
        "another list: music (human)."
    ) in said


def test_a_chance_check_is_one_sentence_more(weat7, plain):
    topics = bb.topic_null("google-news-slice", "weat7", replicates=99, seed=3)
    row = topics.table().set_index("statistic").loc["associated - different"]
    gone, more = differing(sentences(plain), sentences(plain, topics=topics))
    assert gone == []
    said = (
        f"{row['count']:.0f} of 99 sets of random lists as coherent as these and as similar to each other, and as near "
        "to the protected words, gave a value of associated \N{MINUS SIGN} different at least as far from 0 as the "
        f"\N{MINUS SIGN}0.014 of the given lists (p = {row['p_value']:.2f}, which counts the given lists in; seed 3)."
    )
    assert more == [f"In a chance check, {said}"]
    # the check is of distances as they were measured
    by_length = sentences(bb.fit(weat7, seed=0, adjust="length"), topics=topics)
    assert f"In a chance check of the distances before adjustment for length, {said}" in by_length


@pytest.mark.parametrize(("embedding", "words"), [("glove-50d-slice", "weat7"), ("google-news-slice", "weat8")])
def test_a_chance_check_of_another_list_or_embedding_is_refused(plain, tmp_path, embedding, words):
    topics = bb.topic_null(embedding, words, replicates=19)
    says = f"topics is the chance check of {words} in {embedding}, and the fit is of weat7 in google-news-slice"
    for use in (
        lambda: bb.methods_text(plain, topics=topics),
        lambda: bb.report(plain, tmp_path / "fit.html", topics=topics),
        lambda: bb.plots.plot_overview(plain, topics),
    ):
        with pytest.raises(bb.InputError, match=says):
            use()


def test_a_chance_check_of_a_changed_list_is_refused(plain):
    lists = bb.load_words("weat7")
    fewer = {name: words[1:] for name, words in lists.stereotypes.items()}
    other = bb.WordLists(lists.name, lists.protected, fewer, lists.controls)
    topics = bb.topic_null("google-news-slice", other, replicates=19)
    assert topics.words == "weat7"
    with pytest.raises(bb.InputError, match="the list 'math' of weat7 differs from that of the fit by male:"):
        bb.methods_text(plain, topics=topics)


def test_another_model_changes_the_model_its_priors_and_the_answer(weat7, plain):
    gone, more = differing(sentences(plain), sentences(bb.fit(weat7, "crossed", seed=0)))
    assert any(line == "We modelled all distances together (model related)." for line in gone)
    assert any(line == "We modelled all distances together (model crossed)." for line in more)
    assert sum(line.startswith("Priors:") for line in more) == 1
    kept = set(sentences(plain)) - set(gone)
    assert sum(line.startswith(("We measured", "We report", "Words that")) for line in kept) == 3


def test_other_priors_change_the_priors(weat7):
    one = bb.fit(weat7, "crossed", seed=0)
    other = bb.fit(weat7, "crossed", seed=0, priors={"sigma": {"distribution": "half_normal", "sd": 0.2}})
    _, more = differing(sentences(one), sentences(other))
    assert [
        line
        for line in more
        if line.startswith("Priors:") and "residual standard deviation: half-normal (sd 0.2)" in line
    ]


def test_another_population_changes_the_answer_alone(plain):
    gone, more = differing(sentences(plain), sentences(plain, population="similar"))
    assert len(gone) == len(more) == 3
    assert "inverse-Wishart" not in gone[0]
    assert "covariance between protected words, for statements on further ones: inverse-Wishart" in more[0]
    assert gone[1].endswith("averaged over protected words so that groups weigh the same, and words within a group.")
    assert more[1].endswith("averaged over protected words, which weigh the same.")
    assert gone[2].startswith("For these protected words and attribute lists like these it was")
    assert more[2].startswith("For further protected words and attribute lists like these it was")


def test_another_seed_changes_the_seed_alone(weat7, plain):
    gone, more = differing(sentences(plain), sentences(bb.fit(weat7, seed=1)))
    assert ["(seed 0)" in line for line in gone] == ["(seed 1)" in line for line in more] == [True]


def test_each_kind_of_result_has_a_text(weat7):
    tables = bb.distance_tables({"google": "google-news-slice", "glove": "glove-50d-slice"}, "weat7")
    pool = sentences(bb.pool(tables))
    assert pool[0] == (
        "We estimated associated \N{MINUS SIGN} different, the mean distance of protected words to the stereotypes of "
        "their own group less that to the stereotypes of other groups (unit: cosine distance; negative: associated is "
        "closer), in 2 embeddings (google, glove) over 16 protected words each; groups of words "
        "and lists of stereotypes weigh the same."
    )
    assert "The standard deviations between embeddings have half-Cauchy priors of scale 0.05." in pool
    assert (
        "We report posterior means (standard deviations between embeddings: posterior medians) and 89% equal-tailed "
        "credible intervals."
    ) in pool
    assert "(seed 0)" in " ".join(pool)
    changed = bb.compare(before=weat7, after=weat7, seed=2, draws=400)
    text = sentences(changed)
    assert text[0] == (
        "We compared before (google-news-slice: 2,949 vectors of 300 dimensions) and after (google-news-slice: 2,949 "
        "vectors of 300 dimensions) on 2,256 pairs of 16 protected words of the word list weat7 and 141 attribute "
        "words, the same in each."
    )
    assert "Levels and changes have one joint posterior." in text
    assert text[-1].startswith("Software: Python ")
    axis = bb.axis("glove-50d-slice", "gender", words=["nurse", "colonel"])
    assert "We placed 2 words on the axis gender from woman to man of" in bb.methods_text(axis)
    assert "less the mean of this difference over the 20,000 most frequent words: positive where a word lies" in (
        bb.methods_text(axis)
    )
    count, chance = axis.chance()
    assert f"The intervals of {count} of 2 words exclude 0; on an axis without a meaning" in bb.methods_text(axis)
    assert f"with a probability of {chance:.0%}." in bb.methods_text(axis)
    pairs = [("lamp", "tuesday"), ("carpet", "senator"), ("fish", "engine")]
    unrelated = bb.axis("glove-50d-slice", pairs, words=["nurse", "colonel"])
    assert unrelated.doubt
    said = bb.methods_text(unrelated)
    assert "of 3 pairs of words (lamp and tuesday; carpet and senator; fish and engine) in glove-50d-slice" in said
    assert unrelated.doubt in said
    assert "exclude 0;" not in said
    lists = bb.axis("glove-50d-slice", {"old": ["old", "elderly"], "young": ["young"]}, words=["nurse", "colonel"])
    assert "of 2 and 1 words (old: old, elderly; young: young) in glove" in bb.methods_text(lists)
    values, usual = axis.pairs()["agreement"], axis.random_agreement
    said = " to ".join(signed(value, digits=2) for value in (values.min(), values.max()))
    said = (
        f"{signed(values.mean(), digits=2)} on average ({said}; of as many pairs of random words the average is below "
        f"{signed(usual, digits=2)} with a probability of 95%)."
    )
    assert said in bb.methods_text(axis)
    assert (
        "intervals are normal and equal-tailed; their standard deviation is that of a word's place over axes without a "
        "meaning, whose words at the poles are as similar to each other, and whose pairs are as parallel, as these."
    ) in bb.methods_text(axis)
    assert "axis gender, Stoltz and Taylor (2022), doi 10.21105/joss.03741" in bb.methods_text(axis)
    audit = bb.audit("glove-50d-slice", "gender", most_frequent=2000)
    text = bb.methods_text(audit)
    assert "at most 5% of the calls are expected to be wrong" in text
    assert (
        "positive where a word lies further towards man than this mean, negative where further towards woman." in text
    )
    assert " ".join(audit.agreement) in text
    assert f"no interest ({audit.ropes['woman']:.3f} on either side of 0, in cosine distance);" in text
    assert "axis gender, Stoltz and Taylor (2022)" in text
    assert "word list" not in text
    largest = audit.findings()[1]
    row = audit.words.set_index("word").loc[largest.partition("are those of ")[2].partition(" (")[0]]
    assert "the largest means of places, shrunken towards 0, are those of" in largest
    assert f"({signed(row['mean'])})" in largest
    pairs = [("weak", "strong"), ("gentle", "tough")]
    assert "on the axis weak to strong of 2 pairs of words (weak and strong; gentle and tough) in" in bb.methods_text(
        bb.axis("glove-50d-slice", pairs, ["nurse"])
    )
    with pytest.raises(bb.InputError, match="there is no methods text for"):
        bb.methods_text(bb.cite(weat7))


def test_a_criterion_has_the_errors_that_were_given():
    words = ["nurse", "banker", "maid", "lawyer", "janitor", "designer", "manager", "soldier"]
    axis = bb.axis("glove-50d-slice", "gender", words=words)
    values = dict(zip(words, range(8), strict=True))
    exact, uncertain = (sentences(bb.criterion(axis, values, se, draws=400)) for se in (None, 0.5))
    assert exact[0] == (
        "We related outside values of 8 words to the places of the words, woman \N{MINUS SIGN} man: the mean cosine "
        "distance to the woman words less that to the man words, less the mean of this over the vocabulary (negative: "
        "on the side of woman)."
    )
    assert any(
        "what lies behind the places, whose errors are those of further pairs; what is left" in line for line in exact
    )
    differ = "The values were taken as exact.", "The values have standard errors, which were given."
    assert differing(exact, uncertain) == ([differ[0]], [differ[1]])
    assert any(
        "beta (0.4, 1) for the share of the residual variance that similar words share" in line for line in exact
    )


def test_documents_have_their_formula_their_vectors_and_their_units():
    recent = bb.datasets.load_dataset("sotu-addresses").query("year > 1945")
    recent = recent.assign(text=recent["text"].str[:3000])
    sample = bb.instances(recent, "people", "glove-50d-slice", clusters="president", transform=np.eye(50))
    by = bb.covariates(sample, "party + year")
    vectors = int(by.design().vectors.n.sum())
    presidents = recent.loc[recent["text"].str.contains(r"(?i)\bpeople\b"), "president"].nunique()
    text = sentences(by.contrast(["family", "home"], ["career", "office"]))
    assert text[0] == (
        "We measured the distance of people to family, home less that to career, office (cosine distance; negative: "
        f"nearer to family, home), with 4 attribute words of glove-50d-slice, from {vectors} vectors of {presidents} "
        "presidents."
    )
    assert text[1].endswith("(window of 6 words), times a matrix that was given.")
    assert text[2] == (
        "The mean vectors of each president under each value of the covariates were regressed on the covariates "
        "(formula party + year), with flat priors of the coefficients."
    )
    assert "one standard deviation within each president and one between" in text[3]
    assert text[4].startswith("Intervals are for attribute words like these: ")


def test_metrics_and_ranks_name_queries_and_draws():
    found = bb.metric("weat", "google-news-slice", "weat7", p_value=True)
    text = sentences(found)
    assert text[0] == "We computed WEAT for the query weat7 in google-news-slice."
    assert text[2].startswith(f"The p-value is {found.p_value:.3f} by a permutation test over ")
    assert text[2].endswith("which treats words as independent (two-sided).")
    kvs = {"google": "google-news-slice", "glove": "glove-50d-slice"}
    ranked = sentences(bb.rank(kvs, "weat7", ["weat", "rnd"], draws=20, replicates=0, seed=3))
    assert ranked[0] == "We ranked 2 embeddings (google, glove) by weat, rnd over 1 query (weat7)."
    assert (
        "Probabilities of an order are over 20 bootstrap draws of the words, the same for all embeddings"
        in " ".join(ranked)
    )
    assert "(seed 3)" in " ".join(ranked)
    assert "random topics" not in " ".join(ranked)


def test_side_effects_say_what_was_looked_for():
    kv = bb.load_embedding("google-news-slice")
    after = bb.debias(kv, "hard", definitional="gender_pairs")
    names = kv.index_to_key
    pairs = [(names[place], names[place + 1], float(place % 7)) for place in range(20)]
    effects = bb.side_effects(kv, after, "weat7", pairs, k=[5, 10], biased=20, draws=50, prob=0.9, seed=3)
    text = sentences(effects)
    assert text[0] == (
        "We looked for side effects of the change from google-news-slice (2,949 vectors of 300 dimensions) to "
        "google-news-slice (hard) (2,949 vectors of 300 dimensions), with the protected, stereotype and control words "
        "of the word list weat7, among 2,949 words of the vocabulary that both have."
    )
    assert text[1].startswith("The vectors of google-news-slice (hard) were debiased by the method hard (")
    whole = " ".join(text)
    for part in (
        "Of the 5 and of the 10 nearest neighbours by cosine we counted the share that a word keeps, for 16 protected",
        "to control words (neutral, human) are posterior means with credible intervals (model ",
        "For 20 of 20 pairs of words with a score of similarity we computed Spearman's correlation",
        "are over 50 bootstrap draws of pairs, the same before and after.",
        "we took the 40 words most biased before, as many for each group of protected words.",
        "k-means with as many clusters as groups (10 starts), and a logistic regression with 5-fold cross-validation.",
        "the mean, the smallest and the largest of 10 draws.",
        "All intervals have a mass of 90% (seed 3).",
        "tests for the old bias, Gonen and Goldberg (2019), doi 10.18653/v1/N19-1061;",
        "word list weat7, ",
        "debiasing method hard, ",
    ):
        assert part in whole, part
    assert whole.count("Software: ") == 1
    alone = replace(effects, similarity=effects.similarity.iloc[:0], recovery=effects.recovery.iloc[:0])
    left_out = " ".join(differing(text, sentences(alone))[0])
    assert "Spearman" in left_out
    assert "Gonen" in left_out
    assert "random topics" in left_out


def test_the_report_of_a_fit_has_the_text(plain, tmp_path):
    page = bb.report(plain, tmp_path / "fit.md", sensitivity=False).read_text(encoding="utf-8")
    assert Prose("methods").title() in page
    assert "control list neutral, 61 of 226 found" in page.replace("\\", "")


def test_embeddings_of_one_method_are_told_apart_by_the_names_that_were_given(slice_vectors):
    pairs = {"gender": [("he", "she"), ("man", "woman")], "other": [("art", "math"), ("poetry", "algebra")]}
    debiased = {name: bb.debias(slice_vectors, "hard", definitional=each) for name, each in pairs.items()}
    tables = {name: bb.distance_table(kv, "weat7") for name, kv in {"plain": slice_vectors, **debiased}.items()}
    text = bb.methods_text(bb.compare(tables, seed=0))
    assert "The vectors of gender were debiased by the method hard (" in text
    assert "The vectors of other were debiased by the method hard (" in text
    assert "google-news-slice (hard)" not in text.partition("Sources")[0]
