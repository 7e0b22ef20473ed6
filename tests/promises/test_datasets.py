"""A data set would be another file than the published one, or nothing would say where to get it."""

import hashlib
import threading
from functools import partial
from http.server import HTTPServer, SimpleHTTPRequestHandler

import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.distances import datasets

TABLE = (
    b",protected_word,word_to_compare,word_class,cosine_distance,cosine_similarity,connection\n"
    b"0,he,boss,man_stereotype,0.5,0.5,associated\n"
    b"1,he,nurse,woman_stereotype,0.75,0.25,different\n"
    b"2,he,ball,neutral,1.0,0.0,none\n"
)
NOWHERE = "http://127.0.0.1:9/"


def entry(file="mine.csv", content=TABLE, kind="distance table", url="", hash_of="sha256"):
    known = f"{hash_of}:{hashlib.new(hash_of, content).hexdigest()}"
    return datasets._Dataset(
        file=file, description="d", bytes=len(content), hash=known, licence="MIT", source="Somebody (2024)", kind=kind,
        url=url + file if url else "", doi="10.1/x",
    )  # fmt: skip


@pytest.fixture
def known(monkeypatch, tmp_path):
    """A function that sets the registry; the cache is an empty folder, and no folder is named."""
    monkeypatch.delenv("BAYESBIAS_DATA", raising=False)
    monkeypatch.setenv("GENSIM_DATA_DIR", str(tmp_path / "gensim"))
    monkeypatch.setattr(datasets._pooch(), "os_cache", lambda _: tmp_path / "cache")
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    return lambda **entries: monkeypatch.setattr(datasets, "registry", lambda: entries)


@pytest.fixture
def served(known, tmp_path):
    """The file of the data set mine on a server of this computer, yet to be written."""
    folder = tmp_path / "served"
    folder.mkdir()

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    known(mine=entry(url=f"http://127.0.0.1:{server.server_port}/"))
    yield folder / "mine.csv"
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_table_of_a_folder(known, monkeypatch, tmp_path):
    known(mine=entry())
    monkeypatch.setenv("BAYESBIAS_DATA", str(tmp_path))
    (tmp_path / "mine.csv").write_bytes(TABLE)
    table = datasets.load_dataset("mine")
    assert table["distance"].tolist() == [0.5, 0.75, 1.0]
    assert table["connection"].tolist() == ["associated", "different", "neutral"]
    assert table.coverage.doi == "10.1/x"
    assert datasets.dataset_path("mine") == tmp_path / "mine.csv"
    (tmp_path / "mine.csv").write_bytes(TABLE + b"3,he,x,neutral,1.0,0.0,none\n")
    with pytest.raises(
        bb.InputError, match=r"not the file that was published: its hash is sha256:\w{64}, that of .* sha256:\w{64}; "
    ):
        datasets.load_dataset("mine")


def test_a_table_is_fetched_once(served, tmp_path, capsys):
    served.write_bytes(TABLE)
    assert len(datasets.load_dataset("mine")) == 3
    served.unlink()
    assert datasets.dataset_path("mine") == tmp_path / "cache" / "mine.csv"
    assert capsys.readouterr() == ("", "")
    (tmp_path / "cache" / "mine.csv").write_text("damaged")
    with pytest.raises(bb.InputError, match="404"):
        datasets.dataset_path("mine")
    served.write_bytes(TABLE)
    assert datasets.dataset_path("mine").read_bytes() == TABLE


def test_without_a_network_the_file_its_source_and_the_folder_are_named(known, tmp_path):
    known(mine=entry(url=NOWHERE), other=entry("other.csv"))
    where = f"put it into the folder {tmp_path / 'cache'}"
    for name, said in (
        ("mine", f"the data set mine could not be fetched: .*; take mine.csv from {NOWHERE}mine.csv and {where}"),
        ("other", rf"no address of it is known; take other.csv from Somebody \(2024\) and {where}"),
        ("nonsense", "there is no data set 'nonsense'"),
    ):
        with pytest.raises(bb.InputError, match=said):
            datasets.dataset_path(name)


def test_embeddings_word_lists_and_frequencies(known, slice_vectors, tmp_path):
    part = bb.load_embedding({word: slice_vectors[word] for word in ("he", "she", "nurse")})
    (tmp_path / "gensim" / "tiny").mkdir(parents=True)
    made = tmp_path / "gensim" / "tiny" / "tiny.gz"
    bb.save_embedding(part, tmp_path / "tiny.txt.gz")
    made.write_bytes((tmp_path / "tiny.txt.gz").read_bytes())
    lists = b'{"targ1": {"category": "Math", "examples": ["Algebra", "Zahl"]}}'
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "de.json").write_bytes(lists)
    (tmp_path / "cache" / "counts.txt").write_bytes(b"you 5\ni 4\n")
    known(
        tiny=entry("tiny.gz", made.read_bytes(), "embedding", hash_of="md5"),
        de=entry("de.json", lists, "word lists"),
        counts=entry("counts.txt", b"you 5\ni 4\n", "frequencies"),
    )
    assert datasets.load_dataset("tiny").index_to_key == ["he", "she", "nurse"]
    for name, columns in (
        ("de", {"list": ["targ1"] * 2, "category": ["Math"] * 2, "word": ["Algebra", "Zahl"]}),
        ("counts", {"word": ["you", "i"], "count": [5, 4]}),
    ):
        pd.testing.assert_frame_equal(datasets.load_dataset(name), pd.DataFrame(columns))


def test_the_registry_names_what_it_holds():
    listed = bb.bundled("datasets")
    assert (listed["form"] == "distance table").sum() == 18
    assert listed[["description", "licence", "source"]].map(bool).all(axis=None)
    assert listed["url"].map(lambda url: url == "" or url.startswith("https://")).all()


def test_published_tables_have_their_hash(shared, monkeypatch):
    monkeypatch.setenv("BAYESBIAS_DATA", str(shared / "paper_tables"))
    listed = bb.bundled("datasets")
    for name in listed.loc[listed["form"] == "distance table", "name"]:
        assert datasets.dataset_path(name) == shared / "paper_tables" / f"{name}.csv"
    table = datasets.load_dataset("weat_7_google")
    pd.testing.assert_frame_equal(table, bb.read_distance_table(shared / "paper_tables" / "weat_7_google.csv"))
