"""A damaged or hostile file would be read as something else, or end in a traceback without its name."""

import io
import random
from dataclasses import replace

import numpy as np
import pytest
from gensim.models import Word2Vec

import bayesbias as bb
from bayesbias import models
from bayesbias._support import files

MARK = b"\xef\xbb\xbf"
WORDS = 'name = "two"\n[protected]\na = ["he"]\n[stereotypes]\na = ["she"]\n'
QUERY = 'name = "q"\n[targets]\na = ["he"]\nb = ["she"]\n[attributes]\nc = ["nurse"]\nd = ["table"]\n'


@pytest.fixture(scope="module")
def table():
    return bb.distance_table("google-news-slice", "weat7", relatedness=False)


def test_a_byte_order_mark_before_word_lists_queries_and_corpora_is_passed_over(tmp_path):
    (tmp_path / "w.toml").write_bytes(MARK + WORDS.encode())
    (tmp_path / "q.toml").write_bytes(MARK + QUERY.encode())
    (tmp_path / "c.txt").write_bytes(MARK + b"he said\nhe said\n")
    assert bb.load_words(tmp_path / "w.toml").every_word() == ("he", "she")
    assert list(bb.load_query(tmp_path / "q.toml").targets) == ["a", "b"]
    (kv,) = bb.stability.train_embeddings(tmp_path / "c.txt", seeds=1, dims=2, min_count=1).values()
    assert sorted(kv.index_to_key) == ["he", "said"]


def test_a_model_with_a_byte_order_mark_is_read_from_its_fit_too(tmp_path, table):
    plain = bb.load_model("crossed")
    path = tmp_path / "mine.toml"
    path.write_bytes(MARK + plain.text.encode())
    assert bb.load_model(path) == plain
    post = bb.fit(table, path, draws=400, seed=0)
    assert post.attrs["model_text"] == plain.text
    assert models.tree.Fit(post).spec.priors == plain.priors


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "[" * 5_000 + "]" * 5_000,
        "x = " + "{a = " * 5_000 + "1" + "}" * 5_000,
        "x = " + "9" * 5_000,
        ".".join("a" * 20_000) + " = 1",
        "[" + " . ".join(['"a"'] * 20_000) + "]",
        "x = { " + ".".join("a" * 20_000) + " = 1 }",
    ],
    ids=["arrays", "tables", "digits", "key", "header", "inline key"],
)
@pytest.mark.parametrize("read", [bb.load_words, bb.load_query, bb.load_model, bb.load_list])
def test_deep_or_long_toml_is_refused(tmp_path, text, read):
    path = tmp_path / "deep.toml"
    path.write_text(text + "\n" + WORDS)
    with pytest.raises(bb.InputError, match=r"deep\.toml is not a TOML file"):
        read(path)


def test_an_embedding_in_place_of_a_word_list_is_refused_unread(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MOST_TOML", 30)
    (tmp_path / "v.txt").write_bytes(b"he 1 0 .5\nshe 0 1 .5\nnurse .5 1 0\n")
    with pytest.raises(bb.InputError, match=r"v\.txt is not a TOML file: it has 34 bytes, and 30 are read at most"):
        bb.load_words(tmp_path / "v.txt")


class TestTraining:
    CORPUS = (["a", "b"],) * 5

    def test_vectors_of_other_shapes_are_refused(self, tmp_path):
        how = {"seeds": 1, "dims": 2, "min_count": 1, "folder": tmp_path}
        bb.stability.train_embeddings(self.CORPUS, **how)
        (path,) = tmp_path.iterdir()
        held = files.read_arrays(io.BytesIO(path.read_bytes()), path.name)
        for changed in (
            {"vectors": held["vectors"][:, :1]},
            {"words": np.array([1.0, 2.0])},
            {"counts": np.array("x")},
            {"record": np.array("[" * 5_000)},
        ):
            np.savez(path, **{**held, **changed})
            with pytest.raises(bb.InputError, match=r"seed 0\.npz is damaged"):
                bb.stability.train_embeddings(self.CORPUS, **how)

    def test_a_window_wider_than_a_sentence_can_be_is_refused(self):
        with pytest.raises(bb.InputError, match="window is 2147483648: give a whole number of at most 10,000"):
            bb.stability.train_embeddings(self.CORPUS, window=2**31)

    def test_an_error_in_the_worker_ends_it(self, monkeypatch):
        monkeypatch.setattr(Word2Vec, "_do_train_job", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            bb.stability.train_embeddings(self.CORPUS, seeds=2, dims=2, min_count=1)


HEAD = "protected_word,group,attribute_word,attribute_class,connection,distance"


@pytest.mark.parametrize(
    ("head", "rows", "said"),
    [
        (HEAD, ["a,g,b,g,associated,True"] * 2, "row 0, column 'distance' holds True"),
        (HEAD, ["a,g,b,g,associated,1_0", "a,g,c,g,associated,.5"], "row 0, column 'distance' holds '1_0'"),
        (HEAD + ",distance", ["a,g,b,g,associated,.4,.5"], "two columns 'distance'"),
        (HEAD, ["a\x1b[31m,g,b,g,associated,.4"], "row 0, column 'protected_word' holds .*printable texts"),
        (HEAD, ["a,g\ufffe,b,g,associated,.4"], "row 0, column 'group' holds .*printable texts"),
        (
            HEAD,
            ["a,g,b, g,associated,.4"],
            "row 0, column 'attribute_class' holds ' g': .*printable texts",
        ),
    ],
)
def test_odd_tables_are_refused(tmp_path, head, rows, said):
    (tmp_path / "t.csv").write_text("\n".join([head, *rows]) + "\n")
    with pytest.raises(bb.InputError, match=rf"t\.csv.*{said}"):
        bb.read_distance_table(tmp_path / "t.csv")


@pytest.mark.parametrize("name", ["", " a", "\x1b[31m", "a\0", "\ufffe", "\ud800"])
def test_names_are_held_to_what_words_are_held_to(table, name):
    groups = {"a": ["he"], "b": ["she"]}
    for message, call in {
        "name is": lambda: bb.WordLists(name, groups, groups),
        "a name in protected is": lambda: bb.WordLists("n", {name: ["he"]}, {name: ["she"]}),
        "a name in attributes is": lambda: bb.Query(groups, {name: ["x"]}),
        "a name in kvs is": lambda: bb.run_metrics({name: "google-news-slice"}, ["weat7"], ["weat"]),
        "a name in tables is": lambda: bb.compare({"a": table, name: table}),
    }.items():
        with pytest.raises(bb.InputError, match=message):
            call()
    if name not in ("", "\ud800"):  # an empty group is not known; pandas refuses half a letter itself
        with pytest.raises(bb.InputError, match="column 'group' holds"):
            bb.fit(table.assign(group=table["group"].replace("math", name)), "published")


@pytest.mark.usefixtures("without_pictures")
def test_a_report_on_a_table_without_coverage_says_that_it_is_unknown(tmp_path):
    table = bb.distance_table("google-news-slice", "weat7")
    table.to_csv(tmp_path / "plain.csv", index=False)
    post = bb.fit(bb.read_distance_table(tmp_path / "plain.csv"), draws=400, seed=0)
    page = bb.report(post, tmp_path / "report.html", sensitivity=False).read_text(encoding="utf-8")
    assert page.count('<td class="text">unknown</td>') == 6
    assert "coverage unknown, because no coverage goes with the file" in page


@pytest.mark.parametrize(
    "changed", [{"lists": 5}, {"lists": [{"list": "a"}]}, {"twins": ["x"]}, {"embedding": {"vectors": "many"}}]
)
def test_coverage_of_another_inner_kind_is_refused(tmp_path, table, changed):
    new = bb.DistanceTable(table, coverage=replace(table.coverage, **changed))
    bb.write_distance_table(new, tmp_path / "t.parquet")
    with pytest.raises(bb.InputError, match=r"what goes with .*t\.parquet is not as write_distance_table writes it"):
        bb.read_distance_table(tmp_path / "t.parquet")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # h5netcdf's, of a file half opened
def test_damaged_fits_are_refused_by_name(tmp_path, table):
    bb.save_fit(bb.fit(table, "published", seed=0, draws=40), tmp_path / "fit.nc")
    whole = (tmp_path / "fit.nc").read_bytes()
    rng = random.Random(0)  # noqa: S311
    path = tmp_path / "cut.nc"
    errors = []
    for _ in range(150):
        damaged = bytearray(whole)
        for _ in range(40):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        path.write_bytes(damaged)
        try:
            bb.load_fit(path)
        except bb.InputError as error:
            errors.append(str(error))
    assert len(errors) > 30
    assert all("cut.nc" in error for error in errors)


def test_letters_without_a_glyph_are_drawn_without_a_warning(tmp_path, table):
    word = table["protected_word"].iloc[0]
    renamed = table.assign(protected_word=table["protected_word"].replace(word, "\U00012000"))  # cuneiform
    bb.plot_distances(renamed, "\U00012000").savefig(tmp_path / "picture.png")
