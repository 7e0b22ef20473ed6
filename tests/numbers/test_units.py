"""Standardised contrasts would depend on which word lists a table happens to hold."""

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.vectors import keyed_vectors
from bayesbias.vectors.lookup import SPREAD, spread_of


def embedding(words, vectors):
    return keyed_vectors(list(words), np.asarray(vectors, dtype=np.float32))


def unit(table):
    return table.coverage.embedding["spread"]["sd"]


def without_controls(lists):
    return bb.WordLists(lists.name, lists.protected, lists.stereotypes)


@pytest.fixture(scope="module")
def lists():
    return bb.load_words("gender")


@pytest.fixture(scope="module")
def pair(slice_vectors):
    """Two embeddings of one vocabulary, of which the second has other distances."""
    noise = np.random.default_rng(0).standard_normal(slice_vectors.vectors.shape)
    length = np.linalg.norm(slice_vectors.vectors, axis=1, keepdims=True)
    noisy = slice_vectors.vectors + 0.8 * length * noise / np.sqrt(noise.shape[1])
    return {"google": slice_vectors, "noisy": embedding(slice_vectors.index_to_key, noisy)}


class TestTheUnit:
    def test_it_is_the_standard_deviation_of_all_distances_of_a_small_embedding(self):
        vectors = np.random.default_rng(0).standard_normal((40, 5)) + 1
        distances = [
            1 - a @ b / np.linalg.norm(a) / np.linalg.norm(b) for i, a in enumerate(vectors) for b in vectors[:i]
        ]
        words = [f"w{number}" for number in range(40)]
        found = spread_of(embedding(words, vectors))
        assert found == {"sd": pytest.approx(np.std(distances, ddof=1), rel=1e-5), "words": 40, "kind": "random"}
        order = np.random.default_rng(1).permutation(40)
        moved = spread_of(embedding([words[i] for i in order], 3 * vectors[order]))
        assert moved["sd"] == pytest.approx(found["sd"], rel=1e-6)
        # words that have the vector of another say nothing more
        twice = spread_of(embedding([*words, "again"], np.vstack([vectors, 2 * vectors[:1]])))
        assert twice == {**found, "sd": pytest.approx(found["sd"], rel=1e-6)}

    def test_it_does_not_depend_on_the_lists(self, slice_vectors, lists):
        names = (lists, without_controls(lists), "religion")
        units = {unit(bb.distance_table(slice_vectors, each)) for each in names}
        assert len(units) == 1
        assert bb.axis(slice_vectors, "gender_pairs").embedding["spread"]["sd"] in units
        table = bb.distance_table(slice_vectors, lists, relatedness=False)
        assert unit(table) in units
        assert spread_of(slice_vectors)["words"] == SPREAD

    def test_that_of_a_part_is_that_of_the_whole(self, slice_vectors, tmp_path):
        whole = spread_of(slice_vectors)
        part = bb.load_embedding("google-news-slice", words=bb.load_words("weat7"))
        assert spread_of(part) == {**whole, "sd": pytest.approx(whole["sd"], rel=1e-6)}
        bb.save_embedding(part, tmp_path / "part.npz")
        assert spread_of(bb.load_embedding(tmp_path / "part.npz")) == spread_of(part)
        changed = [bb.debias(kv, "hard", definitional=[("he", "she")]) for kv in (part, slice_vectors)]
        assert spread_of(changed[0])["sd"] == pytest.approx(spread_of(changed[1])["sd"], rel=2e-3)
        assert spread_of(changed[0])["sd"] != spread_of(part)["sd"]


class TestStandardised:
    def test_control_lists_that_the_contrast_does_not_take_change_nothing(self, pair, lists):
        """The same vectors and pairs gave -.261 and -.360 where one table lacked 221 neutral words."""
        contrast = ("associated", "different")
        whole = bb.distance_tables(pair, lists)
        fewer = bb.distance_tables(pair, {"google": lists, "noisy": without_controls(lists)})
        found = [bb.pool(tables, contrast, standardise=True) for tables in (whole, fewer)]
        first, second = (each.estimates.mean for each in found)
        np.testing.assert_allclose(first, second, rtol=1e-12)
        np.testing.assert_allclose(*(each.estimates.sd for each in found), rtol=0.1)
        assert found[0].estimates.index["found"].tolist() == found[1].estimates.index["found"].tolist()
        compared = bb.compare(whole, seed=0)
        assert compared.units().tolist() == [unit(table) for table in whole.values()]
        row = compared.changes(*contrast, standardise=True).iloc[0]
        assert row["mean"] == pytest.approx(first[1] - first[0], rel=1e-6)
