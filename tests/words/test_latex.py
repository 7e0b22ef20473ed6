"""A table in a paper would show broken LaTeX, hyphens for minus signs, NaN, or a wrong caption."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb


def test_a_table_by_hand():
    table = pd.DataFrame(
        {
            "protected_word": [pd.NA, "a_b & 50%"],
            "mean": [-0.0594, np.nan],
            "n": [2, -3],
            "p_in_rope": [np.nan, np.nan],
            "words": [["x", "y#"], []],
            "infinite": [np.inf, -np.inf],
            "of": ["associated - human", "~^\\{}$<\x1b"],
        }
    )
    assert bb.to_latex(table, caption="A & B", label="tab:one", digits=2) == "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            r"\caption{A \& B}",
            r"\label{tab:one}",
            r"\begin{tabular}{lrrlrl}",
            r"\toprule",
            r"protected word & mean & n & words & infinite & of \\",
            r"\midrule",
            r"whole list & $-0.06$ & 2 & x, y\# & $\infty$ & associated $-$ human \\",
            r"a\_b \& 50\% &  & $-3$ &  & $-\infty$ & "
            r"\textasciitilde{}\textasciicircum{}\textbackslash{}\{\}\$\textless{}? \\",
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
        ]
    )


def test_contrasts_of_a_fit_have_a_caption(religion_fit, tmp_path):
    table = bb.contrasts(religion_fit, "associated", "human", prob=0.5, population="similar")
    said = bb.to_latex(table, tmp_path / "t.tex")
    assert (tmp_path / "t.tex").read_text(encoding="utf-8") == said + "\n"
    assert (
        r"\caption{Associated $-$ human of the word list religion in google-news-slice; 50\% equal-tailed intervals; "
        "the whole list speaks about further protected words and attribute lists like these; negative: closer.}"
    ) in said
    assert said.count(r" \\") == len(table) + 1
    assert f"whole list &  & ${table['mean'][0]:.3f}$ &" in said
    assert "nan" not in said.lower()
    title = "\\caption{Associated $-$ different of the word list religion in google-news-slice; 89"
    assert bb.to_latex(religion_fit).startswith(f"\\begin{{table}}\n\\centering\n{title}")
    table = bb.distance_table("google-news-slice", "weat7")
    assert "weat7 in google-news-slice adjusted for length; 89" in bb.to_latex(bb.fit(table, seed=0, adjust="length"))


def test_other_tables_and_results(religion, religion_fit, slice_vectors):
    for table in (
        bb.summary(religion_fit),
        bb.decomposition(religion_fit),
        bb.coverage(religion),
        bb.run_metrics(slice_vectors, ["weat7"], ["weat", "mac"]),
        bb.diagnose(religion_fit),
    ):
        said = bb.to_latex(table)
        assert said.startswith("\\begin{table}")
        assert "nan" not in said.replace("Caliskan", "").lower().replace("finance", "")
        assert "<NA>" not in said
    assert (
        r"\caption{Change of associated $-$ different of the word list religion in google-news-slice, before and "
        r"after; 89\% equal-tailed intervals; rows of words are changes of associations; the whole list speaks about "
        "these protected words"
    ) in bb.to_latex(bb.compare(before=religion, after=religion, seed=0, draws=400))


def test_levels_and_changes_fit_a_line_and_side_effects_have_a_caption(slice_vectors, hard_debiased):
    pair = [bb.distance_table(kv, "weat7") for kv in (slice_vectors, hard_debiased)]
    result = bb.compare(before=pair[0], after=pair[1], seed=0)
    said, named = bb.to_latex(result.outcomes()), "google-news-slice and google-news-slice (hard), before and after"
    assert (
        rf"\caption{{Associated $-$ different of the word list weat7 in {named}, and the change; 89\% equal-tailed"
        in said
    )
    assert "intervals of the change; the whole list speaks about these protected words and attribute lists like" in said
    assert (
        "rows of words are associations; negative change: closer to own stereotypes, compared with the others; "
        "p shrank and p reversed: "
        "probabilities that" in said
    )
    assert "observed" not in said
    assert "inconclusive" not in said
    assert "\\scriptsize\\setlength{\\tabcolsep}{2pt}\n\\begin{tabular}" in said
    effects = bb.to_latex(bb.side_effects(slice_vectors, hard_debiased, result, k=10, biased=50))
    assert (
        r"\caption{Side effects of the change from google-news-slice to google-news-slice (hard); 89\% equal-tailed "
        "intervals; for random topics the smallest and the largest of ten.}"
    ) in effects
    assert r"& 89\% interval \\" in effects


def test_p_values_are_no_shares_of_draws():
    table = pd.DataFrame({"metric": ["weat"], "p_value": [1.0], "p_closer": [1.0]})
    assert "1.00 & $> 0.999$" in bb.to_latex(table)


def test_ends_of_intervals_stand_together_and_no_probability_is_0():
    table = pd.DataFrame(
        {"mean": [-0.06, 0.0], "low": [-0.082, np.nan], "high": [0.037, np.nan], "p_closer": [0.0, 0.9956]}
    )
    table["p_value"] = [0.00034, 0.0679]
    table.attrs["prob"] = 0.89
    said = bb.to_latex(table)
    assert r"\caption{89\% equal-tailed intervals; negative: closer.}" in said
    assert r"mean & 89\% interval & p closer & p value \\" in said
    assert r"$-0.060$ & [$-0.082$, 0.037] & $< 0.001$ & 0.00034 \\" in said
    assert r"0.000 &  & 0.9956 & 0.068 \\" in said


def test_rows_have_names_for_readers():
    found = bb.to_latex(pd.DataFrame({"quantity": ["residual_sd", "slope"], "mean": [0.1, 0.2]}))
    assert "residual standard deviation & 0.100" in found
    assert "slope & 0.200" in found


def test_places_on_an_axis_say_which_end_is_positive():
    axis = bb.axis("glove-50d-slice", "gender", words=["nurse", "colonel"])
    said = bb.to_latex(axis)
    assert (
        r"\caption{Places on the axis gender from woman to man in glove-50d-slice; 89\% equal-tailed intervals over "
        "axes without a meaning; positive: further towards man than the mean of the 20,000 most frequent words; p "
        "positive: probability that on an axis without a meaning a word lies less far towards man; p above next: the "
        "same of the difference from the next row; pairs sd: standard deviation over further pairs.}"
    ) in said
    assert r"& 89\% interval &" in said
    assert bb.to_latex(axis.table()) == said
    half = bb.to_latex(axis.table(prob=0.5, scale="cosine"))
    assert r"\caption{Cosines with the axis gender from woman to man in glove-50d-slice; 50\% equal-tailed" in half
    assert "\\scriptsize\\setlength{\\tabcolsep}{2pt}\n\\begin{tabular}" in said  # seven columns


def test_a_criterion_and_its_words_have_captions():
    values = dict(
        zip(["nurse", "colonel", "teacher", "doctor", "lawyer", "singer"], [90, 10, 74, 41, 38, 60], strict=True)
    )
    axis = bb.axis("glove-50d-slice", "gender", words=list(values))
    found = bb.criterion(axis, pd.Series(values, name="share of women"), seed=0)
    said = "Relation of “share of women” to the places of 6 words between woman and man; slope, intercept and"
    line = "residual standard deviation: the line of places (cosine distance) on “share of women”"
    assert rf"\caption{{{said} {line}; 89\% equal-tailed intervals.}}" in bb.to_latex(found)
    words = bb.to_latex(found.words, label="tab:words")
    assert r"\caption{Places of words and outside values with their standard errors, places on the line, and" in words
    assert " & group & " not in words  # no word has one
    assert " & 90 & 0 & " in words
    assert r"\caption{a, b}" in bb.to_latex(pd.DataFrame({"a": [1], "b": [0.5]}), label="tab:plain")


def test_a_ranking_has_whole_ranks_and_scores_of_two_digits(slice_vectors):
    kvs = {"google": slice_vectors, "glove": "glove-50d-slice"}
    found = bb.rank(kvs, "weat7", ["weat", "rnsb"], draws=20, replicates=0)
    said = bb.to_latex(found, label="tab:rank")
    assert (
        r"\caption{Distances of metrics from their values without bias, mean over weat7; rank 1: least biased;" in said
    )
    score = found.scores.loc["google", "rnsb"]
    assert 0.0001 < score < 0.01
    assert f"google & rnsb & {score:.2g} & {found.ranks.loc['google', 'rnsb']:g} &" in said


def test_a_pool_fits_a_page_and_says_its_contrast_and_unit():
    found = bb.pool(bb.distance_tables({"google": "google-news-slice", "glove": "glove-50d-slice"}, "weat7"))
    said = bb.to_latex(found)
    assert (
        r"\caption{Associated $-$ different of weat7 in 2 embeddings, in cosine distance; 89\% equal-tailed intervals; "
        "negative: closer to associated than to different words; estimate and se are of each alone, the other columns "
        "partially pooled, rank 1 the smallest.}"
    ) in said
    assert r"name & estimate & se & mean & 89\% interval & rank & rank interval & p closer \\" in said
    assert "in 2 embeddings, in standard deviations of the embedding's distances; 50" in bb.to_latex(
        replace(found, unit="standard deviations of the embedding's distances").table(0.5)
    )


def test_a_chance_check_fits_a_line_and_its_intervals_are_those_of_random_lists():
    """The interval beside an observed value would be read as its own."""
    found = bb.topic_null("google-news-slice", "weat7", replicates=20)
    said = bb.to_latex(found)
    unlike = {name: "smaller" if "but less" in found.called(name) else "larger" for name in found.observed}
    named = [f"{unlike[name]} for {name}" for name in found.observed if ", but " in found.called(name)]
    assert named  # of these lists the vocabulary allows no random lists that are as similar to a control list
    assert (
        r"\caption{Observed values of the word list weat7 in google-news-slice, and those of 20 sets of random lists "
        f"as coherent as these, whose similarity to each other is {', '.join(named)}; 89\\% equal-tailed intervals of "
        "random lists; mean: that of random lists; count: those at least as far from 0 as the observed value.}"
    ) in said.replace(r"$-$", "-")
    assert r"statistic & observed & mean & 89\% interval & count & p value \\" in said
    assert "scriptsize" not in said
    low, high = np.quantile(found.of("associated - different"), [0.055, 0.945])
    assert [*found.brief().loc[0, ["low", "high"]]] == pytest.approx([low, high])
    assert r"50\% equal-tailed intervals of random lists" in bb.to_latex(found.table(0.5))
    effect = bb.to_latex(bb.topic_null("google-news-slice", "weat7", "mac", replicates=20))
    assert "Observed values of the query weat7" in effect
    assert "at least as far from its centre" in effect
    assert "& centre &" in effect


def test_a_balance_says_the_units_of_its_columns(plain_gender):
    """Nothing would say that one difference is of frequencies and another of distances."""
    found = bb.balance(plain_gender, {word: len(word) for word in {*plain_gender["attribute_word"]}})
    said = bb.to_latex(found)
    assert (
        r"\caption{Frequency of the words of contrasts of the word list gender in google-news-slice; difference: of "
        "the lists' mean frequency, in zipf; overlap: common share of their distributions of frequency; expected: "
        "difference in distance that frequency alone predicts, in cosine distance; distance: the contrast itself, in "
        "cosine distance.}"
    ) in said
    assert not {"True", "False"} & {*said.split()}
    assert {*found.brief()["warning"]} <= {"yes", "no"}
    lengths = bb.to_latex(bb.balance({"a": plain_gender, "b": plain_gender}, attribute="length"))
    assert "Length of the words of contrasts in 2 embeddings of the word list gender in google-news-slice" in lengths
    assert "smallest difference & largest difference" in lengths


def test_a_text_is_escaped(tmp_path):
    text = bb.to_latex("89% of sd_factor", tmp_path / "methods.tex")
    assert text == r"89\% of sd\_factor"
    assert (tmp_path / "methods.tex").read_text(encoding="utf-8") == f"{text}\n"
    with pytest.raises(bb.InputError, match="a text has no caption"):
        bb.to_latex("89%", label="tab:a")


def test_works_in_a_text_have_their_key():
    text = bb.to_latex(
        "approach, Dobrzeniecka and Urbaniak (2024), doi 10.1162/coli_a_00507; one, Unknown (1900), doi x"
    )
    key = r"\cite{dobrzeniecka2024bayesian}"
    assert text == f"approach, {key}; one, Unknown (1900), doi x"
    software = bb.to_latex("Software: bayesbias 0.1.0, numpy 2.0; or bayesbias 0.2.0.dev1+g2.")
    cited = r"\cite{bayesbias}"
    assert software == f"Software: bayesbias 0.1.0 {cited}, numpy 2.0; or bayesbias 0.2.0.dev1+g2 {cited}."


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"path": "x.txt"}, "a LaTeX table ends in .tex"),
        ({"label": "a}b"}, "label is"),
        ({"digits": -1}, "digits is -1"),
    ],
)
def test_wrong_arguments_are_refused(given, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(bb.InputError, match=message):
        bb.to_latex(pd.DataFrame({"a": [1]}), **given)
    assert list(tmp_path.iterdir()) == []
