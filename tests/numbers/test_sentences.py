"""Intervals for words in sentences would take a few templates for all there are, and be too narrow."""

import json
import zipfile

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesbias as bb
from bayesbias import contextual, metrics, models
from bayesbias.distances.dataframe import averaged
from bayesbias.distances.distances import Distances
from bayesbias.errors import InputError

DIMS = 40
TEMPLATES = (
    "This is {a}.",
    "I saw the {}.",
    "People talk about {}.",
    "The word is {}.",
    "They like {}.",
    "Where is {}?",
)


class Letters:
    """An encoder whose vectors are fixed by the words of a text: each word its own, added up."""

    name = "letters"

    def __init__(self, template=0.6, seed=0):
        self.seed, self.template, self.calls = seed, template, 0

    def word(self, text):
        """The vector of a word of a text."""
        return np.random.default_rng([self.seed, *text.encode()]).standard_normal(DIMS)

    def __call__(self, texts):
        self.calls += 1
        found = []
        for text in texts:
            words = text.lower().strip(".?").split()
            found.append(self.template * self.word(" ".join(words[:2])) + sum(self.word(one) for one in words))
        return np.array(found, dtype=np.float32)


class Pieces(Letters):
    """The same with tokens: pieces of four letters."""

    name = "pieces"

    def __init__(self, limit=1000, **others):
        super().__init__(**others)
        self.limit = limit

    def tokens(self, texts):
        """Pieces of four letters with their places, after a token that stands for none."""
        found = []
        for text in texts:
            places, at = [(0, 0)], 0
            for word in text.split(" "):
                places += [(at + begin, at + min(begin + 4, len(word))) for begin in range(0, len(word), 4)]
                at += len(word) + 1
            places = places[: self.limit]
            vectors = np.stack([self.word(text[begin:end].lower() + "#") for begin, end in places])
            found.append(contextual.TokenVectors(vectors, np.array(places)))
        return found


@pytest.fixture(scope="module")
def lists():
    words = [f"{a}{b}" for a in "bdfgklmnprst" for b in ("abo", "edu", "ilo", "omi", "uta", "ane", "ery", "ifa")]
    return bb.WordLists(
        "made up",
        {"g": words[:4], "h": words[4:8]},
        {"g": words[8:16], "h": words[16:24]},
        {"human": words[24:44], "neutral": words[44:64]},
    )


@pytest.fixture(scope="module")
def vectors(lists):
    return bb.encode(Letters(), lists, TEMPLATES, vocabulary=450)


class TestTemplates:
    def test_templates_are_filled_by_part_of_speech(self):
        template = bb.contextual.load_templates("seat").templates[0]
        assert template.filled("nurse", "noun") == ("This is a nurse.", 10, 15)
        assert template.filled("equations", "plural")[0] == "These are equations."
        assert template.filled("he", "subject")[0] == "This is what he said."
        assert template.filled("yesterday", None) is None
        here = bb.contextual.load_templates("seat").templates[5]
        text, begin, end = here.filled("engineer", "noun")
        assert (text, text[begin:end]) == ("An engineer is here.", "engineer")
        assert here.filled("he", "subject")[0] == "He is here."

    def test_articles(self):
        template = contextual.Template("own", {"any": "It is {a}."})
        expected = {"nurse": "a", "apple": "an", "hour": "an", "university": "a", "european": "a", "umbrella": "an"}
        assert {word: template.filled(word, None).text for word in expected} == {
            word: f"It is {article} {word}." for word, article in expected.items()
        }

    def test_lists_and_users_declare_parts_of_speech(self, tmp_path):
        file = tmp_path / "own.toml"
        file.write_text(
            'name = "own"\n[protected]\na = ["blorg"]\nb = ["zib"]\n[stereotypes]\na = ["fep"]\nb = ["wug"]\n'
            '[grammar]\nnoun = ["blorg", "zib"]\nadjective = ["fep"]\n',
            encoding="utf-8",
        )
        lists = bb.load_words(file)
        assert lists.grammar == {"noun": ("blorg", "zib"), "adjective": ("fep",)}
        found = bb.encode(Letters(), lists, "seat", vocabulary=0, grammar={"verb": ["wug"]})
        assert found.texts[0] == "This is a blorg."
        assert "This is fep." in found.texts
        assert "This is how to wug." in found.texts

    def test_sets_and_sentences_go_together(self):
        found = bb.contextual.load_templates(["bare", "seat", "I like {}."])
        assert [template.name for template in found.templates][::9] == ["bare", "I like {}."]

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            (["no place"], "the template 'no place' lacks its place: write {} once"),
            ("I like {}.", r"there are no templates 'I like {}.': .*, or a list of sentences"),
            (["bare", "bare"], "need names of their own"),
        ],
    )
    def test_wrong_templates_are_named(self, given, message):
        with pytest.raises(InputError, match=message):
            bb.contextual.load_templates(given)


class TestEncode:
    def test_vectors_are_those_of_the_encoder(self, vectors):
        assert vectors.texts[0] == "This is a babo."
        assert np.allclose(vectors.vectors[:3], Letters()(list(vectors.texts[:3])), atol=1e-6)
        assert len(vectors.texts) == len(vectors.words) * len(TEMPLATES)

    def test_a_word_is_the_mean_of_its_pieces(self):
        found = bb.encode(Pieces(), ["nightingale"], ["I saw {}."])
        encoder = Pieces()
        expected = np.mean([encoder.word(part + "#") for part in ("nigh", "ting", "ale.")], axis=0)
        assert np.allclose(found.vectors[0], expected, atol=1e-6)
        assert found.pieces.tolist() == [3]
        assert len(bb.encode(Letters(), "weat7", ["{}."]).vocabulary) == 420
        assert found.representation == "word"
        assert {"count": 1, "total": 1, "words": ["nightingale"]} in [note.numbers for note in found.notes]

    def test_the_cache_resumes(self, tmp_path, lists):
        encoder = Letters()
        first = bb.encode(encoder, lists, TEMPLATES, vocabulary=0, cache=tmp_path, batch=16)
        calls = encoder.calls
        again = bb.encode(encoder, lists, TEMPLATES, vocabulary=0, cache=tmp_path)
        assert encoder.calls == calls + 1  # the sentence that tells encoders apart
        assert np.array_equal(first.vectors, again.vectors)
        # another encoder does not find them
        bb.encode(encoder, lists, TEMPLATES[:1], vocabulary=0, cache=tmp_path, name="another")
        assert encoder.calls > calls + 1

    def test_another_encoder_of_the_same_name_is_refused(self, tmp_path):
        bb.encode(Letters(), ["nurse"], TEMPLATES, vocabulary=0, cache=tmp_path)
        for words in (["nurse"], ["soldier"]):
            with pytest.raises(InputError, match=r"holds vectors of another encoder of this name.*name of its own"):
                bb.encode(Letters(seed=1), words, TEMPLATES, vocabulary=0, cache=tmp_path)
        other = bb.encode(Letters(seed=1), ["nurse"], TEMPLATES, vocabulary=0, cache=tmp_path, name="another")
        assert np.array_equal(other.vectors, bb.encode(Letters(seed=1), ["nurse"], TEMPLATES, vocabulary=0).vectors)

    def test_what_is_done_stays_when_the_encoder_fails(self, tmp_path, lists):
        class Failing(Letters):
            def __call__(self, texts):
                if self.calls == 5:
                    raise RuntimeError("out of memory")
                return super().__call__(texts)

        with pytest.raises(RuntimeError, match="out of memory"):
            bb.encode(Failing(), lists, TEMPLATES, vocabulary=0, cache=tmp_path, batch=8, name="letters")
        encoder = Letters()
        bb.encode(encoder, lists, TEMPLATES, vocabulary=0, cache=tmp_path, batch=8)
        total = len(lists.every_word()) * len(TEMPLATES)
        # the batches that were not kept, the sentence of the cache, and four that are held against each other
        assert encoder.calls == -(-(total - 32) // 8) + 5

    @pytest.mark.parametrize(
        ("encoder", "message"),
        [
            (lambda texts: np.ones((1, 3)), r"shape \(1, 3\) for 2 texts: real numbers \(texts, dimensions\)"),
            (lambda texts: np.full((len(texts), 3), np.nan), "NaN"),
            (lambda texts: np.random.default_rng().random((len(texts), 3)), "two vectors"),
            (Pieces(limit=3), "cut off by the tokenizer's limit"),
        ],
    )
    def test_wrong_encoders_are_named(self, encoder, message):
        with pytest.raises(InputError, match=message):
            bb.encode(encoder, ["nurse", "soldier", "farmer"], ["I saw a big old {}."], vocabulary=0, batch=2)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"representation": "word"}, "method tokens"),
            ({"templates": "seat"}, "'seat': declare the part of speech of "),
        ],
    )
    def test_wrong_options_are_named(self, options, message):
        with pytest.raises(InputError, match=message):
            bb.encode(Letters().__call__, ["blorg"], vocabulary=0, **{"templates": ["{}"], **options})

    def test_vectors_are_written_and_read(self, vectors, tmp_path):
        vectors.save(tmp_path / "v.npz")
        vectors.save(tmp_path / "small.npz", bits=8)
        for name, error in (("v.npz", 2e-3), ("small.npz", 5e-3)):
            back = bb.contextual.load_context_vectors(tmp_path / name)
            assert (back.words, back.templates, back.texts) == (vectors.words, vectors.templates, vectors.texts)
            assert np.allclose(back.cosines(), vectors.cosines(), atol=error)
        assert (tmp_path / "small.npz").stat().st_size < 0.6 * (tmp_path / "v.npz").stat().st_size


class TestCosines:
    def test_crossed_ones_are_means_over_pairs_of_templates(self, vectors):
        units, templates = vectors.units(), range(len(TEMPLATES))
        expected = np.mean([units[3, a] @ units[9, b] for a in templates for b in templates if a != b])
        assert vectors.cosines("crossed")[3, 9] == pytest.approx(expected, abs=1e-6)
        kv, means = vectors.keyed_vectors("crossed"), units[:20].mean(axis=1)
        matrix = means @ means.T
        np.fill_diagonal(matrix, 1)
        words = vectors.words[:20]
        found = np.array([[kv.similarity(a, b) for b in words] for a in words])
        assert np.allclose(found, matrix, atol=1e-5)

    @pytest.mark.reproducible
    def test_those_of_the_same_templates_are_exact(self, vectors):
        raw = vectors.vectors.astype(float)
        units = np.zeros((len(vectors.words), len(TEMPLATES), DIMS))
        units[vectors.word, vectors.template] = raw / np.linalg.norm(raw, axis=1)[:, None]
        expected = sum(np.inner(template, template) for template in units.swapaxes(0, 1)) / len(TEMPLATES)
        assert np.abs(vectors.cosines() - expected).max() < 1e-14
        kv = vectors.keyed_vectors()
        rows = [kv.key_to_index[word] for word in vectors.words]
        own = kv.vectors[rows].astype(float)
        lengths = np.linalg.norm(own, axis=1)
        assert np.abs(own @ own.T / np.outer(lengths, lengths) - expected).max() < 3e-7

    def test_centring_takes_the_mean_of_each_template(self, vectors, lists):
        moved = vectors.centred("vocabulary")
        outside = [vectors.words.index(word) for word in vectors.vocabulary]
        for template in range(len(TEMPLATES)):
            rows = np.isin(moved.word, outside) & (moved.template == template)
            assert np.allclose(moved.vectors[rows].mean(axis=0), 0, atol=1e-6)
        assert moved.notes[0].numbers["removed"] == "mean of the vocabulary in each template"
        base = vectors.centred("controls", lists)
        controls = [base.words.index(word) for word in (*lists.controls["human"], *lists.controls["neutral"])]
        assert np.allclose(base.vectors[np.isin(base.word, controls) & (base.template == 2)].mean(axis=0), 0, atol=1e-6)
        own = base.vectors[np.isin(base.word, outside)].astype(float)
        axes = np.linalg.eigh(np.cov(own.T))[1][:, -3:]
        top = vectors.centred("controls", lists, all_but_top=3)
        assert np.allclose(top.vectors, base.vectors - base.vectors @ axes @ axes.T, atol=1e-5)
        with pytest.raises(InputError, match="another origin already"):
            moved.centred("controls", lists)

    def test_templates_can_be_chosen(self, vectors):
        part = vectors.of_templates(TEMPLATES[1:3])
        assert part.cosines()[0, 5] == pytest.approx(
            np.mean([vectors.units()[0, t] @ vectors.units()[5, t] for t in (1, 2)]), abs=1e-6
        )
        with pytest.raises(InputError, match="a template is 'another'"):
            vectors.of_templates(["another"])


class TestTables:
    def test_each_row_is_a_pair_in_a_template(self, vectors, lists):
        table = bb.distance_table(vectors, lists)
        row = table.iloc[1234]
        units, place = vectors.units(), vectors.words.index
        template = vectors.templates.index(row["template"])
        expected = 1 - units[place(row["protected_word"]), template] @ units[place(row["attribute_word"]), template]
        assert row["distance"] == pytest.approx(expected, abs=1e-6)
        assert len(table) == len(averaged(table)) * len(TEMPLATES)
        means = averaged(table).set_index(["protected_word", "attribute_word"])["distance"]
        pair = row["protected_word"], row["attribute_word"]
        assert means[pair] == pytest.approx(1 - vectors.cosines()[place(pair[0]), place(pair[1])], abs=1e-6)

    def test_crossed_templates_name_both(self, vectors, lists):
        table = bb.distance_table(vectors, lists, pairing="crossed")
        assert (table["template"] != table["attribute_template"]).all()
        assert len(table) == len(averaged(table)) * len(TEMPLATES) * (len(TEMPLATES) - 1)

    def test_they_are_written_read_and_fitted(self, vectors, lists, tmp_path):
        table = bb.distance_table(vectors, lists)
        bb.write_distance_table(table, tmp_path / "t.parquet")
        back = bb.read_distance_table(tmp_path / "t.parquet")
        pd.testing.assert_frame_equal(back, table, check_dtype=False)
        assert back.coverage.contexts["encoder"] == "letters"
        first, second = (bb.fit(one, seed=0) for one in (table, back))
        pd.testing.assert_frame_equal(bb.contrasts(first), bb.contrasts(second))
        # repeats are not counted as data
        pairs, header = len(averaged(table)), bb.summary(first).header()
        assert first["observed_data"].sizes["pair"] == pairs
        assert (header["distances"], header["templates"], table.coverage.pairs) == (pairs, 6, 6 * pairs)

    def test_words_that_do_not_suit_all_templates_are_left_out_and_named(self, lists):
        grammar = {"noun": [word for word in lists.every_word() if not word.endswith("utan")][:-3]}
        found = bb.encode(Letters(), lists, ["seat", "mention"], grammar=grammar, vocabulary=0)
        table = bb.distance_table(found, lists, relatedness=False)
        gone = lists.every_word()[-3:]
        assert not set(gone) & set(table["attribute_word"])
        left = next(note for note in table.coverage.notes() if note.code == "left-out").numbers
        assert (left["count"], left["total"], left["words"]) == (3, 64, list(gone))

    def test_a_template_in_which_no_word_is_seen_is_refused(self, lists):
        class Blind(Letters):
            def __call__(self, texts):
                return super().__call__(["works here" if text.endswith("works here.") else text for text in texts])

        found = bb.encode(Blind(), lists, [*TEMPLATES, "{} works here."], vocabulary=0)
        with pytest.raises(InputError, match=r"in '\{\} works here\.' all words have one vector: .*; leave it out"):
            bb.distance_table(found, lists, relatedness=False)
        assert len(bb.distance_table(found.of_templates(TEMPLATES), lists, relatedness=False))

    def test_pairings_are_for_words_in_several_templates(self, vectors, lists, slice_vectors):
        with pytest.raises(InputError, match="for words in sentences"):
            bb.distance_table(slice_vectors, "weat7", pairing="crossed")
        with pytest.raises(InputError, match="needs two templates"):
            bb.distance_table(vectors.of_templates(vectors.templates[0]), lists, pairing="crossed")


def framed(rng, tau, templates, words=40, sd=0.05, step=0.0):
    """A table whose contrast associated - human varies over templates with a standard deviation."""
    protected = [f"p{at}" for at in range(6)]
    rows = []
    delta = tau * rng.standard_normal(templates)
    for connection, sign in (("associated", 0.5), ("human", -0.5)):
        own = sd * rng.standard_normal(words)
        noise = 0.3 * sd * rng.standard_normal((words, templates))
        pair = sd * rng.standard_normal((len(protected), words))
        distance = 0.7 + step * np.linspace(0, 1, templates) + own[:, None] + noise + sign * delta
        every = distance[None] + pair[:, :, None]
        index = pd.MultiIndex.from_product(
            [protected, [f"{connection}{at}" for at in range(words)], [f"f{at}" for at in range(templates)]],
            names=["protected_word", "attribute_word", "template"],
        )
        part = pd.Series(every.ravel(), index=index, name="distance").reset_index()
        kind = "g" if connection == "associated" else "human"
        rows.append(part.assign(group="g", attribute_class=kind, connection=connection))
    return pd.concat(rows, ignore_index=True)


def same_densities(post, plain):
    """Assert that a fit with the errors of templates has the densities of one without."""
    both = [bb.checks.add_prior(each, draws=1, log_likelihood=True) for each in (post, plain)]
    for group in ("log_prior", "log_likelihood"):
        xr.testing.assert_allclose(*(each[group].to_dataset() for each in both))


class TestTemplatesAsRandomEffect:
    def test_the_noise_of_words_is_not_taken_for_templates(self):
        rng = np.random.default_rng(1)
        table = framed(rng, 0.0, 12, words=15)
        data = Distances.read(table)
        found = models.template_variation.template_data(table, data)
        whole, _ = models.template_variation.variation(found, 0, 1)
        # two lists of 15 words with noise of sd .015 in each template
        assert whole.noise == pytest.approx(2 * 0.015**2 / 15, rel=0.25)
        assert whole.by_template.mean() == pytest.approx(
            bb.contrasts(bb.fit(averaged(table), "crossed", seed=0), "associated", "human")["mean"].iloc[0], abs=0.01
        )

    def test_a_shift_of_all_distances_leaves_contrasts_alone(self):
        tables = [framed(np.random.default_rng(2), 0.02, 8, step=step) for step in (0.0, 0.5)]
        fits = [bb.fit(table, "crossed", seed=0) for table in tables]
        sds = [bb.contrasts(post, "associated", "human")["sd"].iloc[0] for post in fits]
        assert sds[1] == pytest.approx(sds[0], rel=0.05)
        levels = [post["posterior/connection_mean"].std().item() for post in fits]
        assert levels[1] > 1.5 * levels[0]

    def test_the_template_sd_is_that_by_hand(self):
        rng = np.random.default_rng(1)
        noise, scale, templates = 0.01**2, 0.02, 6
        by_template = -0.03 + 0.03 * rng.standard_normal(templates)
        around = ((by_template - by_template.mean()) ** 2).sum()
        found = models.template_variation.Variation(by_template, noise, float(around), templates - 1)
        drawn = found.draw_sd(scale, 8000, rng)
        # the mean of all templates integrated out
        tau = np.linspace(0, 0.4, 100_001)
        variance = noise + tau**2
        log_density = -tau / scale - (templates - 1) / 2 * np.log(variance) - around / 2 / variance
        weights = np.exp(log_density - log_density.max())
        mean = np.average(tau, weights=weights)
        assert drawn.mean() == pytest.approx(mean, rel=0.02)
        assert drawn.std() == pytest.approx(np.sqrt(np.average((tau - mean) ** 2, weights=weights)), rel=0.05)

    def test_priors_and_densities_are_those_of_the_model_without_templates(self):
        table = framed(np.random.default_rng(3), 0.06, 8)
        post, plain = (bb.fit(given, "published", draws=400, seed=0) for given in (table, averaged(table)))
        same_densities(post, plain)

    def test_pools_and_criteria_know_of_templates(self):
        table = framed(np.random.default_rng(3), 0.06, 8)
        other = averaged(table)
        other["distance"] += 0.001 * (other["connection"] == "human")  # the same distances would be one embedding
        both = {"one": table, "two": other}
        found = bb.pool(both, ("associated", "human")).estimates.summary().set_index("embedding")["sd"]
        post = bb.fit(table, "crossed", draws=400, seed=0)
        shift = post["templates/word_shift"].mean("protected_word")
        extra = (shift.sel(connection="associated") - shift.sel(connection="human")).var().item()
        assert found["one"] ** 2 - found["two"] ** 2 == pytest.approx(extra, rel=0.2)

    def test_templates_with_the_vectors_of_another_are_named(self, lists):
        class Deaf(Letters):
            def __call__(self, texts):
                return super().__call__([text.replace("They see", "They like") for text in texts])

        found = bb.encode(Deaf(), lists, [*TEMPLATES, "They see {}."], vocabulary=0)
        post = bb.fit(bb.distance_table(found, lists, relatedness=False), seed=0)
        same = next(note for note in bb.diagnose(post).notes if note.code == "templates").numbers
        assert (same["count"], same["total"], same["words"]) == (2, 7, ["They like {}.", "They see {}."])

    def test_compare_takes_the_templates_that_tables_share(self, lists, vectors):
        other = bb.encode(Letters(seed=5), lists, [*TEMPLATES[:4], "More {}."], vocabulary=list(vectors.vocabulary))
        first, second = (bb.distance_table(one, lists) for one in (vectors, other))
        found = bb.compare({"a": first, "b": second}, seed=0)
        assert any(note.code == "left-out" and "templates" in note.numbers["kind"] for note in found.notes)
        shared = [table[table["template"].isin(TEMPLATES[:4])] for table in (first, second)]
        means = [one.pivot_table(index="protected_word", columns="connection", values="distance") for one in shared]
        by_hand = [one.mean() for one in means]
        change = (by_hand[1] - by_hand[0])["associated"] - (by_hand[1] - by_hand[0])["different"]
        assert found.changes()["mean"].iloc[0] == pytest.approx(change, abs=0.02)
        apart = second.assign(template="z" + second["template"].astype(str))
        with pytest.raises(InputError, match="no template in common"):
            bb.compare({"a": first, "b": apart}, seed=0)


class TestMiniLM:
    """A real encoder, all-MiniLM-L6-v2."""

    @pytest.mark.slow  # with PyTorch, of the extra
    def test_transformers_give_the_same_vectors(self, tmp_path):
        reason = "needs the extra contextual: uv sync --extra contextual"
        torch = pytest.importorskip("torch", reason=reason)
        transformers = pytest.importorskip("transformers", reason=reason)
        minilm = pytest.importorskip("benchmarks.builders.minilm", reason="the benchmarks are not here")
        with zipfile.ZipFile(minilm.shipped()) as files:
            facts = json.loads(files.read("config.json"))
            model = transformers.BertModel(transformers.BertConfig(**facts))
            weights = minilm.load(files.read("model.safetensors"))
            model.load_state_dict({name: torch.tensor(value) for name, value in weights.items()}, strict=False)
            (tmp_path / "tokenizer.json").write_bytes(files.read("tokenizer.json"))
        tokenizer = transformers.PreTrainedTokenizerFast(
            tokenizer_file=str(tmp_path / "tokenizer.json"),
            **{f"{name}_token": f"[{name.upper()}]" for name in ("pad", "cls", "sep", "unk", "mask")},
        )
        words, templates = ["nurse", "rattlesnake"], ["This is {a}.", "People talk about {}."]
        for layer in (3, 6):
            theirs = bb.encode(contextual.hf_token_encoder(model, tokenizer, (layer,)), words, templates, vocabulary=0)
            ours = bb.encode(minilm.MiniLM(layer), words, templates, vocabulary=0)
            assert np.abs(theirs.vectors - ours.vectors).max() < 1e-5
            assert np.array_equal(theirs.pieces, ours.pieces)


@pytest.fixture
def query(lists):
    stereotypes = {f"of {group}": words for group, words in lists.stereotypes.items()}
    return bb.Query(dict(lists.protected), stereotypes)


class TestClassicMetrics:
    @pytest.mark.reproducible
    def test_seat_is_weat_with_sentences_as_words(self, vectors, query):
        found = bb.metric("seat", vectors, query)
        units = vectors.units()
        place = vectors.words.index

        def items(words):
            return np.concatenate([units[place(word)] for word in words])

        targets = [items(words) for words in query.targets.values()]
        a, b = (items(words) for words in query.attributes.values())
        s = [one @ a.T.mean(axis=1) - one @ b.T.mean(axis=1) for one in targets]
        assert found.value == pytest.approx((s[0].mean() - s[1].mean()) / np.concatenate(s).std(), abs=1e-5)
        assert len(found.per_word) == 8 * len(TEMPLATES)
        assert "metric" in {note.code for note in found.notes}
        one = bb.metric("seat", vectors.of_templates(TEMPLATES[:1]), query)
        of_words = bb.metric("weat_effect_size", vectors.of_templates(TEMPLATES[:1]), query)
        assert one.value == pytest.approx(of_words.value, rel=1e-7)
        assert not one.notes

    def test_ceat_of_one_sentence_a_word_is_weats_effect_size_of_a_sample(self, vectors, query):
        """The authors' program divides by the standard deviation with ddof 1, WEAT by that with ddof 0."""
        one, words = vectors.of_templates(TEMPLATES[:1]), sum(map(len, query.targets.values()))
        found, of_words = (bb.metric(name, one, query).value for name in ("ceat", "weat_effect_size"))
        assert found == pytest.approx(of_words * np.sqrt((words - 1) / words), rel=1e-7)

    def test_ceat_draws_a_sentence_of_each_word(self, vectors, query):
        units, place = vectors.units(), vectors.words.index
        kinds = {"targets": query.targets, "attributes": query.attributes}
        sets, owners = [], {}
        for kind, every in kinds.items():
            sets.append([np.concatenate([units[place(word)] for word in words]) for words in every.values()])
            owners[kind] = [np.repeat(np.arange(len(words)), len(TEMPLATES)) for words in every.values()]
        found = bb.metric("ceat", vectors, query, samples=50, seed=3)
        expected = metrics.catalogue.ceat(*sets, owners, samples=50, seed=3)
        assert found.value == pytest.approx(expected.value, rel=1e-6)

    def test_metrics_of_words_in_sentences_are_for_these(self, vectors, query, slice_vectors):
        with pytest.raises(InputError, match="metric of words in sentences"):
            bb.metric("seat", slice_vectors, "weat6")
        of_words, mean = (bb.metric("weat", kv, query).value for kv in (vectors, vectors.keyed_vectors()))
        assert of_words == pytest.approx(mean)


CORPUS = [
    f"the {word} {verb} near a {other} in the {place}"
    for word in ("nurse", "soldier", "farmer", "singer")
    for other in ("house", "river", "engine", "song")
    for verb in ("sat", "ran", "slept")
    for place in ("town", "field", "night")
]


class TestSentencesOfACorpus:
    def test_sentences_hold_their_words(self):
        found = bb.contexts(CORPUS, ["nurse", "river", "dragon"], per_word=10, seed=1)
        assert found.missing == ("dragon",)
        assert found.found["nurse"] == 36
        for word, held in found.sentences.items():
            assert len(held) == 10
            assert len({one.text for one in held}) == 10
            assert all(one.text[one.begin : one.end] == word for one in held)
        again = bb.contexts(iter(CORPUS), ["river", "nurse"], per_word=10, seed=1)
        assert again.sentences["nurse"] == found.sentences["nurse"]
        assert bb.contexts(CORPUS, ["nurse"], per_word=10, seed=2).sentences["nurse"] != found.sentences["nurse"]

    def test_files_and_phrases(self, tmp_path):
        file = tmp_path / "corpus.txt"
        file.write_text("in New York today\nin York\nNew Yorkers\n", encoding="utf-8")
        found = bb.contexts(file, ["York", "New York"])
        assert found.found == {"York": 1, "New York": 1}
        with pytest.raises(InputError, match="holds none of the words"):
            bb.contexts(file, ["york"])
        for forms in (("caf\u00e9", "cafe\u0301"), ("cafe\u0301", "caf\u00e9")):
            assert bb.contexts([f"a {forms[0]} here"], [forms[1]]).found == {"caf\u00e9": 1}

    def test_context_is_nested_in_the_word(self):
        lists = bb.WordLists(
            "jobs",
            {"a": ["nurse", "singer"], "b": ["soldier", "farmer"]},
            {"a": ["house", "song"], "b": ["river", "engine"]},
        )
        held = bb.contexts(CORPUS, lists, per_word=12)
        vectors = bb.encode(Letters(), held)
        assert vectors.nested
        table = bb.distance_table(vectors, lists, relatedness=False)
        units, place = vectors.units(), vectors.words.index
        pair = table.iloc[0]
        first, second = place(pair["protected_word"]), place(pair["attribute_word"])
        assert pair["distance"] == pytest.approx(1 - units[first, 0] @ units[second].mean(axis=0), abs=1e-6)
        post = bb.fit(table, "crossed", seed=0)
        plain = bb.fit(averaged(table), "crossed", seed=0)
        same_densities(post, plain)
        assert bb.contrasts(post)["sd"].iloc[1] > bb.contrasts(plain)["sd"].iloc[1]
        # the error of a word's mean is that of its twelve sentences
        word = averaged(table)["protected_word"].iloc[0]
        part = table[table["protected_word"] == word]
        of_word = part.pivot_table(index="template", columns="connection", values="distance")
        own = (of_word["associated"] - of_word["different"]).std(ddof=1) / np.sqrt(12)
        shift = post["templates/word_shift"].sel(protected_word=word)
        drawn = (shift.sel(connection="associated") - shift.sel(connection="different")).std().item()
        assert own / 2 < drawn < own * 2
        # and of one sentence the root of twelve times as large
        one = part["template"].iloc[0]
        fewer = bb.fit(table[(table["protected_word"] != word) | (table["template"] == one)], "crossed", seed=0)
        sds = fewer["templates/word_shift"].sel(connection="associated").std(("chain", "draw"))
        other = table["protected_word"].iloc[-1]
        assert sds.sel(protected_word=word) / sds.sel(protected_word=other) == pytest.approx(np.sqrt(12), rel=0.05)
