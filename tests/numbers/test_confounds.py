"""Differences that are frequency would be told as bias, and the adjustment would take out something else."""

from collections import namedtuple
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from gensim.models import KeyedVectors

import bayesbias as bb
from bayesbias import distances, models
from bayesbias.distances import adjust

WORDFREQ = "needs the extra frequencies: uv sync --extra frequencies"
REVIEWED = {
    "gender_group_glove_dataset": (-0.099, 0.68),
    "weat_7_glove": (-0.049, 0.39),
}
"""Slope of distance per zipf of wordfreq among control words, and R2, as an independent review found them."""


def frequency_embedding(slope=0.08, gap=1.0, sampled=1500, seed=0):
    """Vectors ordered by frequency whose cosines with two protected words depend on frequency and nothing else.

    Stereotype words are ``gap`` zipf more frequent than control words.
    """
    rng = np.random.default_rng(seed)
    zipf = np.sort(rng.uniform(2.5, 6.5, sampled))[::-1]
    order = rng.permutation(np.arange(200, sampled - 200))
    middle = zipf[order]
    stereotype = order[np.argsort(np.abs(middle - 4.5 - gap / 2))[:12]]
    left = np.setdiff1d(order, stereotype)
    control = left[np.argsort(np.abs(zipf[left] - 4.5 + gap / 2))[:80]]
    control = np.concatenate([control[::2], rng.choice(np.setdiff1d(left, control), 40, replace=False)])
    wanted = 0.1 + slope * (zipf - 4.5)
    dims = 30
    protected = np.linalg.qr(rng.normal(size=(dims, 4)))[0].T  # orthogonal protected words
    along = wanted[:, None] + 0.05 * rng.normal(size=(sampled, 4))
    rest = rng.normal(size=(sampled, dims))
    rest -= rest @ protected.T @ protected
    rest *= (np.sqrt(1 - (along**2).sum(axis=1)) / np.linalg.norm(rest, axis=1))[:, None]
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    names = ["".join(rng.choice(letters, 2 + int(9 * at / sampled))) + f"q{at}" for at in range(sampled)]
    names = [name.replace("q", "").translate(str.maketrans("0123456789", "klmnoprstu")) for name in names]
    assert len(set(names)) == sampled
    kv = KeyedVectors(dims, dtype=np.float32)
    kv.add_vectors(names, (along @ protected + rest).astype(np.float32))
    kv.add_vectors([f"p{j}" for j in range(4)], protected.astype(np.float32))
    lists = bb.WordLists(
        "frequencies",
        {"g": ["p0", "p1"], "h": ["p2", "p3"]},
        {"g": [names[at] for at in stereotype[:6]], "h": [names[at] for at in stereotype[6:]]},
        {"neutral": [names[at] for at in control]},
    )
    return kv, lists, dict(zip(names, 10**zipf, strict=True)), stereotype, zipf


@pytest.fixture(scope="module")
def frequent():
    """A table whose distances are frequency alone, the counts, the vectors, the lists, the stereotypes' mean zipf."""
    kv, lists, counts, stereotype, zipf = frequency_embedding(seed=2)
    return Frequent(bb.distance_table(kv, lists), counts, kv, lists, zipf[stereotype].mean())


Frequent = namedtuple("Frequent", ["table", "counts", "kv", "lists", "mean"])


@pytest.fixture(scope="module")
def raw(frequent):
    return bb.fit(frequent.table, seed=0)


@pytest.fixture(scope="module")
def adjusted(frequent):
    return bb.fit(frequent.table, adjust="frequency", frequencies=frequent.counts, seed=0)


class TestBalance:
    @pytest.mark.parametrize("name", sorted(REVIEWED))
    def test_slopes_among_controls_are_those_of_the_review(self, shared, name):
        found = bb.balance(bb.read_distance_table(shared / "paper_tables" / f"{name}.csv"), "wordfreq")
        slope, r2 = REVIEWED[name]
        row = found.slopes.iloc[0]
        assert row["slope"] == pytest.approx(slope, abs=0.001)
        assert row["r2"] == pytest.approx(r2, abs=0.006)
        assert row["words"] > 300
        warned = found.contrasts.set_index("contrast")["warning"]
        assert warned["associated - neutral"]
        assert not warned["associated - different"]

    def test_lists_differ_and_the_slope_matters(self, frequent):
        found = bb.balance(frequent.table, frequent.counts)
        rows = found.lists[found.lists["kind"] == "stereotype"]
        shift = 9 - np.log10(sum(frequent.counts.values()))
        assert rows["mean"].mean() == pytest.approx(frequent.mean + shift, abs=1e-9)
        by_where = found.slopes.set_index("where")
        assert by_where.loc["vocabulary", "slope"] == pytest.approx(-0.08, abs=0.004)
        controls = by_where.loc["controls"]
        assert controls["slope"] == pytest.approx(-0.08, abs=3 * controls["se"])
        row = found.contrasts.set_index("contrast").loc["associated - neutral"]
        assert row["warning"]
        assert row["expected"] == pytest.approx(row["difference"] * -0.08, rel=0.2)
        rows = found.rows[found.rows["contrast"] == "associated - neutral"]
        assert rows["expected"].mean() == pytest.approx(row["expected"])
        assert rows["warning"].all()
        # the slope that is shown is that which predicts, not that of control words
        shown = found.header()
        assert (shown["slope per zipf"], shown["R2"]) == tuple(by_where.loc["vocabulary", ["slope", "r2"]])
        assert row["difference"] * shown["slope per zipf"] == pytest.approx(row["expected"], abs=0.01)
        words = replace(found, contrasts=found.contrasts.assign(warning=False)).warnings[0]
        assert (words.code, words.numbers["count"], words.numbers["words"]) == ("frequency-words", 4, 4)
        assert words.numbers["named"] == rows["protected_word"].tolist()

    def test_the_order_of_the_file_is_known_to_the_table(self, frequent, raw):
        found, given = bb.balance(frequent.table), bb.balance(frequent.table, frequent.kv)
        assert "order of the file" in found.source
        pd.testing.assert_frame_equal(found.lists[["list", "mean"]], given.lists[["list", "mean"]])
        assert bb.relatedness(raw).ranks_by_word == bb.relatedness(frequent.table).ranks_by_word

    def test_opposite_differences_of_two_lists_do_not_cancel(self):
        kv, lists, counts, _, zipf = frequency_embedding(slope=0.08, seed=2)
        names = kv.index_to_key
        order = np.argsort(zipf)[::-1]
        frequent, rare = (
            [names[at] for at in order[begin : begin + 8] if names[at] not in lists.controls["neutral"]]
            for begin in (300, 1150)
        )
        apart = bb.WordLists("apart", lists.protected, {"g": frequent, "h": rare}, lists.controls)
        table = bb.distance_table(kv, apart)
        found = bb.balance(table, counts)
        # the whole list: both groups have both lists, and their differences cancel
        whole = found.contrasts.set_index("contrast").loc["associated - different"]
        assert not whole["warning"]
        assert abs(whole["expected"]) < 0.01
        pair = found.pairs.set_index(["first", "second"]).loc["g", "h"]
        assert pair["difference"] > 1.5
        assert pair["expected"] == pytest.approx(-0.08 * pair["difference"], rel=0.1)
        rows = found.rows[found.rows["contrast"] == "associated - different"].set_index("protected_word")
        assert rows["warning"].all()
        assert rows.loc[["p0", "p1"], "expected"].max() < -0.1
        assert rows.loc[["p2", "p3"], "expected"].min() > 0.1
        cells = table.pivot_table("distance", "protected_word", "connection")
        np.testing.assert_allclose(
            rows["distance"], (cells["associated"] - cells["different"]).loc[rows.index], atol=1e-12
        )
        # rows of fits are associations, which are not affected: no limit of a fit
        assert not {"associated - different", "association"} & {note.numbers["contrast"] for note in found.warnings}
        # frequency moves whole lists, which the associations do not see
        association = found.rows[found.rows["contrast"] == "association"]
        assert association["expected"].abs().max() < 0.02
        assert association["distance"].mean() == pytest.approx(rows["distance"].mean())

    def test_errors_of_rows_are_those_of_the_covariance(self, frequent):
        related, rows = bb.relatedness(frequent.table), bb.balance(frequent.table, frequent.counts).rows
        listed = {name: words for name, kind, words in related.lists if kind != "protected"}
        member = {name: np.isin(related.attribute_words, words) / len(words) for name, words in listed.items()}
        weights = np.zeros((2, 4, len(related.attribute_words)))
        weights[0, 0] = member["g"] - member["h"]
        for at in range(4):  # the association of the first word, of two groups of two words
            weights[1, at] = ((at == 0) - 0.25) * (member["g"] - member["h"])
        expected = np.sqrt(np.diag(related.covariance(weights)))
        first = rows[rows["protected_word"] == related.protected_words[0]].set_index("contrast")["se"]
        assert first["associated - different"] == pytest.approx(expected[0], rel=1e-4)
        assert first["association"] == pytest.approx(expected[1], rel=1e-4)

    def test_associations_see_neither_a_list_nor_a_word_that_is_near_to_all(self):
        rng = np.random.default_rng(0)
        means, own = rng.normal(size=(7, 3)), np.array([0, 0, 0, 1, 1, 2, 2])
        weights = np.array([1 / 9] * 3 + [1 / 6] * 4)
        rows = models.weights.association_rows(own, weights, 3)
        found = np.einsum("jil,il->j", rows, means)
        moved = means + rng.normal(size=(7, 1)) + rng.normal(size=3)
        np.testing.assert_allclose(np.einsum("jil,il->j", rows, moved), found, atol=1e-13)
        centred = means - means.mean(axis=1, keepdims=True)
        centred -= weights @ centred
        for at, place in enumerate(own):
            others = [other for other in range(3) if other != place]
            assert found[at] == pytest.approx(centred[at, place] - centred[at, others].mean())

    def test_diagnose_tells_it_where_the_table_knows(self):
        kv, lists, *_ = frequency_embedding(slope=0.02, gap=2.5, sampled=20_000, seed=2)
        table = bb.distance_table(kv, lists)
        post = bb.fit(table, seed=0)
        verdict = bb.diagnose(post)
        (note,) = [note for note in verdict.notes if note.code == "frequency"]
        row = verdict.balance.contrasts.set_index("contrast").loc[note.numbers["contrast"]]
        assert (note.numbers["expected"], note.numbers["distance"]) == (row["expected"], row["distance"])
        adjusted = bb.fit(table, adjust="frequency", seed=0)
        assert "frequency" not in {note.code for note in bb.diagnose(adjusted).notes}


class TestCurve:
    def test_it_reaches_to_the_ends_of_the_data(self):
        rng = np.random.default_rng(0)
        x = np.concatenate([rng.uniform(3, 5, 2000), rng.uniform(1, 7, 20)])
        curve = distances.adjustment._fitted_curve(x, (0.3 * x + rng.normal(0, 0.01, x.size))[None], np.ones(x.size))
        points = np.linspace(x.min(), x.max(), 50)
        np.testing.assert_allclose(curve.at(points)[0], 0.3 * points, atol=0.02)
        outside = curve.at(np.array([-5.0, 20.0]))[0]
        np.testing.assert_allclose(outside, curve.at(np.array([x.min(), x.max()]))[0])

    def test_it_has_no_kink_where_the_lines_begin(self):
        x = np.random.default_rng(1).normal(4, 1, 3000)
        curve = distances.adjustment._fitted_curve(x, np.sin(x)[None], np.ones(x.size))
        for end in (curve.low, curve.high):
            left, middle, right = curve.at(end + np.array([-1e-5, 0, 1e-5]))[0]
            assert (middle - left) == pytest.approx(right - middle, abs=1e-9)


class TestSimilarity:
    def test_what_frequency_makes_alike_is_taken_out_of_the_similarity(self):
        """Vectors with a part that goes with frequency: what is left is the similarity of the other part."""
        rng = np.random.default_rng(0)
        size, dims = 2500, 20
        x = np.sort(rng.uniform(1, 7, size))[::-1]
        along = 0.75 * np.tanh(x - 4)
        rest = rng.normal(size=(size, dims))
        rest[:, 0] = 0
        rest /= np.linalg.norm(rest, axis=1, keepdims=True)
        vectors = np.sqrt(1 - along**2)[:, None] * rest
        vectors[:, 0] = along
        names = [f"w{at}" for at in range(size)]
        kv = KeyedVectors(dims, dtype=np.float32)
        kv.add_vectors(names, vectors.astype(np.float32))
        own = rng.choice(size, 24, replace=False)
        listed = [names[at] for at in own]
        lists = bb.WordLists(
            "levels", {"g": listed[:2], "h": listed[2:4]}, {"g": listed[4:14], "h": listed[14:]}, {"neutral": names[:2]}
        )
        table = bb.distance_table(kv, lists)
        counts = dict(zip(names, 10**x, strict=True))
        before, after = (bb.relatedness(one) for one in (table, adjust(table, "frequency", counts)))
        words = listed[4:]
        places = [names.index(word) for word in words]
        true = rest[places] @ rest[places].T
        apart = np.triu_indices(len(words), 1)
        units = [one.units[one._places(words)] for one in (before, after)]
        errors = [(own @ own.T - true)[apart] for own in units]
        assert np.sqrt(np.mean(errors[0] ** 2)) > 0.3
        assert np.sqrt(np.mean(errors[1] ** 2)) < 0.08
        # similarities of sampled pairs too, whose number stays
        sample = rest[[names.index(word) for word in after.sample_words]]
        found = -1 + 0.01 * (after.pairs.bins + 0.5)
        known = (sample[after.pairs.first] * sample[after.pairs.second]).sum(axis=1)
        assert np.sqrt(np.mean((found - known) ** 2)) < 0.08
        assert after.pairs.counts.sum() == pytest.approx(after.sampled * (after.sampled - 1) / 2, rel=1e-3)


class TestAdjust:
    def test_a_difference_that_is_frequency_goes(self, raw, adjusted):
        before, after = (bb.contrasts(one, "associated", "neutral").iloc[0] for one in (raw, adjusted))
        assert before["high"] < -0.02
        assert after["low"] < 0 < after["high"]
        assert abs(after["mean"]) < 0.02
        assert "adjusted" in {note.code for note in bb.diagnose(adjusted).notes}

    def test_the_intervals_before_are_those_of_the_unadjusted_fit(self, frequent, raw, adjusted):
        """One number for one interval, by exact models and by draws."""
        pairs = [(raw, adjusted)]
        options, given = {"model": "crossed", "seed": 3, "draws": 400}, {"adjust": "frequency"}
        given |= {"frequencies": frequent.counts}
        pairs.append((bb.fit(frequent.table, **options), bb.fit(frequent.table, **options, **given)))
        for before, after in pairs:
            both = bb.checks.adjustment(after, 0.5).set_index("contrast")
            for control in ("different", "neutral"):
                for told, fit in (("raw", before), ("adjusted", after)):
                    row = bb.contrasts(fit, "associated", control, 0.5).iloc[0]
                    kept = both.loc[f"associated - {control}", [told, f"{told}_low", f"{told}_high"]].tolist()
                    assert kept == pytest.approx(row[["mean", "low", "high"]].tolist(), abs=1e-9)

    def test_the_curve_is_that_of_the_sample(self, frequent):
        adjusted = adjust(frequent.table, "frequency", frequent.counts)
        made, related = adjusted.adjustment, bb.relatedness(frequent.table)
        zipf = made.attribute.of(related.sample_words)
        slopes = [np.polyfit(zipf, row, 1)[0] for row in related.scatter.astype(float)]
        expected = made.expected.to_numpy()
        words = made.attribute.of(made.expected.columns)
        inside = (words > np.quantile(zipf, 0.05)) & (words < np.quantile(zipf, 0.95))
        for row, slope in zip(expected, slopes, strict=True):
            np.testing.assert_allclose(row[inside], slope * (words[inside] - made.reference), atol=0.025)
        left = bb.relatedness(adjusted)
        assert abs(np.corrcoef(made.attribute.of(left.sample_words), left.scatter.mean(axis=0))[0, 1]) < 0.05
        assert left.components.variances.sum() < related.components.variances.sum()

    def test_without_vectors_the_slope_of_the_controls_is_taken_with_its_uncertainty(self, frequent):
        counts, plain = frequent.counts, bb.distance_table(frequent.kv, frequent.lists, relatedness=False)
        post = bb.fit(plain, adjust="frequency", frequencies=counts, seed=0, draws=8000)
        slope = bb.balance(plain, counts).slopes.iloc[0]
        drawn = post["posterior/slope"].to_numpy()
        assert drawn.mean() == pytest.approx(slope["slope"], abs=4 * slope["se"] / np.sqrt(8000))
        assert drawn.std() == pytest.approx(slope["se"], rel=0.06)
        row = bb.contrasts(post, "associated", "neutral").iloc[0]
        raw = bb.contrasts(bb.fit(plain, seed=0, draws=8000), "associated", "neutral").iloc[0]
        rows = plain.assign(zipf=np.log10(plain["attribute_word"].map(counts)))
        cells = rows.groupby(["protected_word", "connection"])["zipf"].mean().unstack()  # noqa: PD010
        difference = (cells["associated"] - cells["neutral"]).mean()
        assert row["mean"] == pytest.approx(raw["mean"] - slope["slope"] * difference, abs=0.003)

    def test_published_contrasts_move_as_the_review_says(self, shared):
        table = bb.read_distance_table(shared / "paper_tables" / "weat_7_glove.csv")
        post = bb.fit(table, adjust="frequency", frequencies="wordfreq", seed=0)
        both = bb.checks.adjustment(post).set_index("contrast")
        assert both.loc["associated - neutral", "raw"] == pytest.approx(-0.094, abs=0.003)
        assert both.loc["associated - neutral", "adjusted"] == pytest.approx(0.004, abs=0.005)
        different = both.loc["associated - different"]
        assert different["adjusted"] == pytest.approx(different["raw"], abs=0.001)


class TestSources:
    @pytest.mark.parametrize(
        ("content", "counts", "passed_over"),
        [
            (b"the 900\nhe, 3\nhe 97\n", {"the": 900, "he": 97, "he,": 3}, None),
            (b"the 1000\n</s> 0\n", {"the": 1000}, "1 line without a word and a count .* line 2: '</s> 0'"),
            (b"the 1000\ncaf\xe9 100\n", {"the": 1000}, "1 line without .*line 2: 'caf.udce9 100'"),
            (b"the;900\nNew York;100\n", {"the": 900, "New York": 100}, None),
            (b'"\t500\n""""\t400\n"he"\t100\n', {'"': 500, '""""': 400, '"he"': 100}, None),
        ],
    )  # fmt: skip
    def test_a_comma_is_part_of_a_word_and_odd_lines_are_told(self, tmp_path, content, counts, passed_over):
        (tmp_path / "counts.txt").write_bytes(content)
        with pytest.warns(bb.errors.CoverageWarning, match=passed_over) if passed_over else nullcontext():
            values = distances.adjustment.word_values([*counts, "absent"], "frequency", tmp_path / "counts.txt")
        assert values.numbers == pytest.approx({word: 6 + np.log10(count) for word, count in counts.items()})

    def test_a_file_of_something_else_is_refused(self, tmp_path):
        (tmp_path / "bad.txt").write_text("the many\nof few\nand none\n", encoding="utf-8")
        with pytest.raises(bb.InputError, match=r"bad\.txt, line 2: 'of.*' is not a word and its count"):
            distances.adjustment.word_values(["the"], "frequency", tmp_path / "bad.txt")

    @pytest.mark.parametrize(("tag", "word"), [("tl", "bahay"), ("pt-BR", "casa")])
    def test_the_language_of_the_lists_decides(self, tag, word):
        wordfreq = pytest.importorskip("wordfreq", reason=WORDFREQ)
        found = distances.adjustment.word_values([word], "frequency", "wordfreq", language=tag)
        own = {"tl": "fil"}.get(tag, tag[:2])
        assert found.source == f"wordfreq ({own})"
        assert found.numbers[word] == wordfreq.zipf_frequency(word, own)
        assert found.numbers[word] != wordfreq.zipf_frequency(word, "en")
        assert distances.adjustment.word_values(["house"], "frequency", "wordfreq").source == "wordfreq (English)"

    def test_a_language_without_frequencies_is_said_to_have_none(self, random_embedding):
        pytest.importorskip("wordfreq", reason=WORDFREQ)
        lists = bb.load_words("weathub/te/weat7")
        kv = random_embedding(lists, 0)
        with pytest.warns(UserWarning, match="grammatical gender"):
            table = bb.distance_table(kv, lists)
        with pytest.raises(bb.InputError, match="wordfreq has no frequencies of the language 'te'"):
            bb.balance(table)
