"""An embedding read in part would give other intervals than the whole file, without a word about it."""

from itertools import chain

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.checks import topics
from bayesbias.distances.covariances import relatedness_content
from bayesbias.numerics.constants import SAMPLE
from bayesbias.vectors.formats import keyed_vectors, load_part
from bayesbias.vectors.lookup import _rates_of_places, ordered_by_frequency, sample_of, waiting_words

SIZE = 12_000


def test_the_order_of_an_unordered_file_changes_nothing(slice_vectors):
    """It moved ends of pooled rows by up to .0034, since pairs of sampled words were others."""
    order = np.random.default_rng(0).permutation(len(slice_vectors))
    moved = keyed_vectors([slice_vectors.index_to_key[row] for row in order], slice_vectors.vectors[order])
    posts = [bb.fit(bb.distance_table(kv, "gender"), draws=400) for kv in (slice_vectors, moved)]
    for answer in (bb.contrasts, bb.association):
        tables = [answer(post)[["mean", "sd", "low", "high"]] for post in posts]
        np.testing.assert_allclose(*tables, rtol=1e-9, atol=1e-12)


def content(table):
    """The relatedness of a table, as a file holds it."""
    return relatedness_content(table.relatedness)


def ordered_words(size):
    """Words that become longer, in no alphabetical order."""
    rng, letters = np.random.default_rng(0), np.array(list("bcdfghjklmnpqrstvwxz"))
    drawn = rng.choice(letters, (2 * size, 16))
    words = dict.fromkeys("".join(row[: 4 + int(np.log(1 + at))]) for at, row in enumerate(drawn))
    return list(words)[:size]


@pytest.fixture(scope="module")
def ordered():
    """An embedding ordered by frequency with lists of words of ranks 1,000 to 6,000, and lists of words that lack."""
    words = ordered_words(SIZE)
    vectors = np.random.default_rng(1).normal(size=(SIZE, 10)).astype(np.float32)
    rows = np.random.default_rng(2).choice(np.arange(1000, 6000), 60, replace=False)
    named = [words[at] for at in rows]
    lists = bb.WordLists(
        "made up",
        {"a": named[:4], "b": [*named[4:8], "lacking"]},
        {"a": named[8:20], "b": named[20:32]},
        {"human": named[32:]},
    )
    kv = keyed_vectors(words, vectors)
    kv.bayesbias_name = "ordered"
    return kv, lists


@pytest.fixture(scope="module")
def part(ordered):
    """The words of the lists alone, with the sample of the vocabulary."""
    return bb.load_embedding(ordered[0], words=ordered[1])


class TestRanks:
    def test_the_sample_follows_the_ranks_of_the_lists(self):
        words = ordered_words(60_000)
        assert ordered_by_frequency(words)
        rng = np.random.default_rng(0)
        followed = [np.exp(rng.uniform(np.log(2000), np.log(40_000), 200)).astype(np.intp) for _ in range(3)]
        waiting = waiting_words(words, set(), 1500, 0, followed)
        rows = waiting.rows
        assert waiting.kind == "ranks"
        found = np.quantile(np.log(rows[:1500] + 1.0), [0.1, 0.25, 0.5, 0.75, 0.9])
        expected = np.quantile(np.log(np.concatenate(followed) + 1.0), [0.1, 0.25, 0.5, 0.75, 0.9])
        # the kernels make the ends a little wider, and frequent words are few
        np.testing.assert_allclose(found, expected, atol=0.3)
        assert len(set(rows.tolist())) == len(rows)

    def test_rates_are_densities_over_places(self):
        places = np.arange(1, 100_001)
        rates = _rates_of_places(100_000, [np.full(40, 999)])  # one place: the narrowest kernel
        density = rates * places
        assert places[np.argmax(density)] == pytest.approx(1000, rel=0.02)
        steps = np.diff(np.log(np.arange(0.5, 100_001)))
        assert (density * steps).sum() == pytest.approx(1, abs=0.01)
        assert density[np.searchsorted(places, 1000 * np.exp(0.25)) - 1] / density.max() == pytest.approx(
            np.exp(-0.5), abs=0.02
        )
        assert (rates > 0).all()


class TestPart:
    @pytest.mark.parametrize("name", ["a.bin", "a.txt.gz", "a.parquet"])
    def test_a_part_gives_the_relatedness_of_the_whole(self, ordered, tmp_path, name):
        kv, lists = ordered
        bb.save_embedding(kv, tmp_path / name)
        whole, part = bb.load_embedding(tmp_path / name), bb.load_embedding(tmp_path / name, words=lists)
        assert len(part) == 60
        assert not set(sample_of(part).words) & {*lists.group_of, *chain(*lists.stereotypes.values())}
        assert len(sample_of(part).words) == SAMPLE
        expected, found = (bb.distance_table(one, lists) for one in (whole, part))
        assert content(found) == content(expected)
        assert found.coverage == expected.coverage
        assert bb.relatedness(found).ranks_by_word == bb.relatedness(expected).ranks_by_word

    def test_other_words_beside_the_lists_change_nothing(self, ordered, tmp_path):
        kv, lists = ordered
        bb.save_embedding(kv, tmp_path / "a.txt")
        others = [*kv.index_to_key[:900:3], lists.protected["a"][0].upper()]
        part = load_part(str(tmp_path / "a.txt"), lists, others)[0]
        assert len(part) == 60 + len({*others[:-1]} - {*lists.every_word()})
        whole = bb.load_embedding(tmp_path / "a.txt")
        assert sample_of(part).words == sample_of(bb.load_embedding(tmp_path / "a.txt", words=lists)).words
        assert str(bb.check_words(lists, part)) == str(bb.check_words(lists, whole))

    def test_a_part_of_vectors_in_memory(self, part, ordered):
        kv, lists = ordered
        assert content(bb.distance_table(part, lists)) == content(bb.distance_table(kv, lists))
        mapped = bb.load_embedding(dict(zip(kv.index_to_key, kv.vectors, strict=True)), words=lists)
        found = bb.relatedness(bb.distance_table(mapped, lists))
        np.testing.assert_array_equal(found.scatter, bb.relatedness(kv, lists).scatter)

    def test_words_with_blanks_repeated_words_and_zeros(self, tmp_path):
        rng = np.random.default_rng(0)
        lines = [f"w{at} {' '.join(f'{one:.4f}' for one in rng.normal(size=4))}" for at in range(300)]
        lines[7] = "New York 1.0 2.0 3.0 4.5"
        lines[8] = "w3 9.0 9.0 9.0 9.0"
        lines[9] = "w9 0.0 0.0 0.0 0.0"
        (tmp_path / "a.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
        part = bb.load_embedding(tmp_path / "a.txt", words=["w1", "w2", "New York"])
        sample = sample_of(part)
        assert part.index_to_key == ["w1", "w2", "New York"]
        assert len(sample.words) == 300 - 3 - 1 - 1
        assert "w9" not in sample.words
        with pytest.warns(UserWarning, match="seen before|left out"):
            whole = bb.load_embedding(tmp_path / "a.txt")
        np.testing.assert_array_equal(sample.vectors, whole[list(sample.words)])

    def test_the_sample_is_debiased_with_the_words(self, part, ordered):
        kv, lists = ordered
        pairs = list(zip(lists.protected["a"], lists.protected["b"], strict=False))
        unknown = [("nothing", "never"), sample_of(part).words[:2]]
        after = bb.debias(part, "hard", definitional=[*pairs, *map(tuple, unknown)])
        record = after.bayesbias_debiasing
        assert record.neutralized == 60
        assert len(record.sets) == len(pairs)  # words of the sample are not found by chance
        before, changed = (bb.distance_table(one, lists) for one in (part, after))
        assert bb.compare(before=before, after=changed, seed=0).posterior.attrs["model"] == "related"
        whole = bb.debias(kv, "hard", definitional=pairs)
        np.testing.assert_allclose(sample_of(after).vectors, whole[list(sample_of(after).words)], atol=1e-6)

    def test_it_is_kept_in_npz_files_and_pickles(self, part, ordered, tmp_path):
        lists = ordered[1]
        expected = content(bb.distance_table(part, lists))
        bb.save_embedding(part, tmp_path / "part.npz")
        part.save(str(tmp_path / "part.kv"))
        for name in ("part.npz", "part.kv"):
            back = bb.load_embedding(tmp_path / name, trust_pickle=True)
            assert back.index_to_key == part.index_to_key
            back.bayesbias_name = "ordered"
            del back.bayesbias_origin  # the path
            assert content(bb.distance_table(back, lists)) == expected

    def test_frequencies_are_those_of_the_whole_file(self, part, ordered):
        kv, lists = ordered
        whole, found = (bb.balance(bb.distance_table(one, lists)).lists["mean"].tolist() for one in (kv, part))
        assert found == pytest.approx(whole)


def test_topics_of_a_part_are_those_of_the_whole(ordered, tmp_path, monkeypatch):
    monkeypatch.setattr(topics, "MOST", 2_000)
    kv, lists = ordered
    path = tmp_path / "ordered.txt"
    bb.save_embedding(kv, path)
    whole = bb.topic_null(bb.load_embedding(path), lists, replicates=20, seed=3)
    part = topics.load_for_topics(str(path), lists)
    assert len(part.index_to_key) <= 2_000 + 60
    found = bb.topic_null(part, lists, replicates=20, seed=3)
    np.testing.assert_array_equal(found.drawn, whole.drawn)
    assert found.values.equals(whole.values)
    assert (found.observed, found.notes, found.embedding) == (whole.observed, whole.notes, whole.embedding)
