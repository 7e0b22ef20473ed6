"""The commands silhouette, reliability and stability: what the functions give, files, pictures, errors."""

from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb

PNG = b"\x89PNG"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with small trained embeddings, their settings, a query, words and pairs."""
    folder = tmp_path_factory.mktemp("made")
    corpora = {
        f"bias {bias:g}": bb.stability.toy_corpus(bias, seed=at, sentences=1_500) for at, bias in enumerate((0, 1))
    }
    kvs = bb.stability.train_embeddings(corpora, seeds=2, dims=(8, 16), epochs=3, folder=folder)
    toy = corpora["bias 1"]
    rows = [(*setting, f"{setting.label}.npz") for setting in kvs]
    pd.DataFrame(rows, columns=["corpus", "algorithm", "dims", "seed", "path"]).to_csv(folder / "all.csv", index=False)
    listed = ", ".join(f'"{word}"' for word in toy.targets)
    (folder / "words.toml").write_text(f'kind = "list"\nname = "words"\nwords = [{listed}]\n')
    pairs = ", ".join(f'["{one}", "{other}"]' for one, other in toy.base_pairs)
    (folder / "pairs.toml").write_text(f'kind = "pairs"\nname = "pairs"\npairs = [{pairs}]\n')
    query = bb.Query.from_words(toy.words)
    for kind in ("targets", "attributes"):
        assert getattr(query, kind)
    parts = [
        f"[{kind}]\n" + "".join(f'"{name}" = {list(words)}\n' for name, words in getattr(query, kind).items())
        for kind in ("targets", "attributes")
    ]
    (folder / "query.toml").write_text('name = "toy"\n' + "".join(parts))
    toy.save(folder / "text.txt")
    return folder, kvs, toy


@pytest.fixture
def here(program, monkeypatch, tmp_path, made):
    """Run the command in a folder that holds the made files."""
    for file in made[0].iterdir():
        (tmp_path / file.name).symlink_to(file)
    monkeypatch.chdir(tmp_path)
    return program


SEEDS = [f"bias 1 sgns 16 seed {seed}.npz" for seed in (0, 1)]


def test_silhouette_gives_what_the_functions_give(here, made):
    _, kvs, _ = made
    embeddings = ["bias 1 sgns 16 seed 0.npz", "bias 0 sgns 16 seed 0.npz"]
    code, out, errors = here(
        "silhouette", *embeddings, "--query", "query.toml", "--metric", "weat", "--metric", "ect", "--runs", 5,
        "--step", 6, "-o", "s.csv", "--picture", "s.png",
    )  # fmt: skip
    assert (code, errors) == (0, "")
    query = bb.load_query("query.toml")
    models = dict(zip(embeddings, (kvs["bias 1", "sgns", 16, 0], kvs["bias 0", "sgns", 16, 0]), strict=True))
    one = bb.silhouettes.silhouette(models[embeddings[0]], query, "weat", vary="attributes", runs=5, step=6)
    written = pd.read_csv("s.csv")
    chosen = written[(written[["metric", "vary", "embedding"]] == ["weat", "attributes", embeddings[0]]).all(axis=1)]
    np.testing.assert_allclose(
        chosen["value"].to_numpy().reshape(5, -1), one.table()["value"].to_numpy().reshape(5, -1)
    )
    assert list(written.columns) == ["query", "metric", "vary", "embedding", "run", "words", "value"]
    both = [bb.silhouettes.silhouette(kv, query, "weat", runs=5, step=6) for kv in models.values()]
    assert f"{bb.silhouettes.silhouette_accuracy(*both):.3f}" in out
    assert f"{bb.silhouettes.silhouette_separation(*both):.3f}" in out
    assert Path("s.png").read_bytes().startswith(PNG)


def test_silhouette_of_a_fit_says_its_coverage(here):
    code, out, _ = here(
        "silhouette", SEEDS[0], "--query", "query.toml", "--metric", "crossed", "--vary", "attributes", "--runs", 2,
        "--step", 8, "-o", "s.csv",
    )  # fmt: skip
    assert code == 0
    assert "coverage" in out
    assert {"low", "high"} <= set(pd.read_csv("s.csv").columns)


def test_reliability_gives_what_the_functions_give(here, made):
    _, kvs, toy = made
    code, out, errors = here(
        "reliability", *SEEDS, "--targets", "words.toml", "--pairs", "pairs.toml", "--neighbours", 20, "--draws", 400,
        "-o", "r.csv", "--picture", "r.png",
    )  # fmt: skip
    assert (code, errors) == (0, "")
    scores = bb.reliability.bias_scores(
        [kvs["bias 1", "sgns", 16, seed] for seed in (0, 1)], toy.targets, toy.base_pairs, neighbours=20
    )
    written = pd.read_csv("r.csv")
    expected = bb.reliability.retest_reliability(scores)
    own = written[written["kind"] == "test-retest of words"]
    np.testing.assert_allclose(own["value"], expected["value"], rtol=1e-6)
    assert list(written.columns) == ["kind", "measure", "label", "value", "low", "high", "reason"]
    needed = bb.reliability.variance_components(scores, draws=400, seed=0).needed()
    assert needed["p_never"] > 0.5
    assert "With one seed no number of base pairs tells words apart with reliability 0.75" in " ".join(out.split())
    assert Path("r.png").read_bytes().startswith(PNG)


def test_one_seed_says_what_it_cannot(here):
    code, out, errors = here(
        "reliability",
        SEEDS[0],
        "--targets",
        "words.toml",
        "--pairs",
        "pairs.toml",
        "--measure",
        "db_wa",
        "--draws",
        400,
    )
    said = " ".join(out.split())
    assert (code, errors) == (0, "")
    assert "no test-retest of words: there is one seed only" in said
    assert "no inter-rater of words: there is one measure only" in said
    assert "internal" in said
    assert "In this one embedding the mean over" in said


def test_stability_gives_what_the_functions_give(here, made):
    _, kvs, toy = made
    code, out, errors = here(
        "stability", "all.csv", "--words", "words.toml", "--pairs", "pairs.toml", "--draws", 50, "--query",
        "query.toml", "-o", "st.csv", "--measures", "m.csv", "--picture", "st.png",
    )  # fmt: skip
    assert (code, errors) == (0, "")
    expected = bb.stability.direct_bias_study(kvs, {"words.toml": toy.targets}, toy.base_pairs, draws=50).table()
    written = pd.read_csv("st.csv")
    pd.testing.assert_frame_equal(written, pd.read_csv(StringIO(expected.to_csv(index=False))), rtol=1e-6)
    assert "settings outweigh corpora" in out
    measures = pd.read_csv("m.csv")
    assert {"crossed", "weat", "mac"} <= set(measures["metric"])
    assert Path("st.png").read_bytes().startswith(PNG)


def test_stability_trains_on_texts_and_goes_on(here, tmp_path):
    (tmp_path / "models").mkdir()
    given = (
        "stability", "--corpus", "text.txt", "--algorithm", "sgns", "--algorithm", "cbow", "--dims", 8, "--seeds", 1,
        "--models", "models", "--words", "words.toml", "--pairs", "pairs.toml", "--draws", 20, "-o", "st.csv",
    )  # fmt: skip
    assert here(*given)[0] == 0
    first = Path("st.csv").read_text()
    trained = {file.name: file.stat().st_mtime_ns for file in (tmp_path / "models").iterdir()}
    assert set(trained) == {"text sgns 8 seed 0.npz", "text cbow 8 seed 0.npz"}
    code, out, _ = here(*given)
    assert code == 0
    assert "no variance components: the table varies by algorithm only" in " ".join(out.split())
    assert Path("st.csv").read_text() == first
    assert {file.name: file.stat().st_mtime_ns for file in (tmp_path / "models").iterdir()} == trained


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("silhouette", SEEDS[0]), "nothing is asked: give --query"),
        (("silhouette", SEEDS[0], SEEDS[0], "--query", "query.toml"), "is given twice"),
        (("silhouette", SEEDS[0], "--query", "query.toml", "--metric", "ripa"), "ripa has no smallest and largest"),
        (("silhouette", SEEDS[0], "--query", "query.toml", "--step", "90"), "a list has 12 words, fewer than"),
        (("silhouette", SEEDS[0], "--query", "query.toml", "--vary", "words"), "vary is 'words'"),
        (("silhouette", SEEDS[0], "--query", "query.toml", "-o", "s.txt"), "a table ends in .csv"),
        (("silhouette", SEEDS[0], "--query", "query.toml", "--picture", "s.svg"), "a figure ends in .png"),
        (("reliability", SEEDS[0], "--targets", "words.toml", "--pairs", "pairs.toml", "--neighbours", "9999"), "9999"),
        (("reliability", SEEDS[0], "--targets", "pairs.toml"), "give words, or the name of a list of words"),
        (("reliability", SEEDS[0], "--targets", "words.toml", "--measure", "weat"), "measures is 'weat'"),
        (("stability",), "nothing is given: give a .csv of embeddings, or --corpus"),
        (("stability", "absent.csv"), "absent.csv"),
        (("stability", "twice.csv"), "gives bias 1 sgns 16 seed 0 twice"),
        (("stability", "--corpus", "text.txt", "--corpus", "text.txt"), "text.txt is given twice"),
        (("stability", "none.csv"), "has no row"),
        (("stability", "other.csv"), "lacks the column corpus, algorithm"),
        (("stability", "all.csv", "--words", "words.toml", "--measures", "m.csv"), "give --query too"),
        (("stability", "--corpus", "empty.txt"), "sentence"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_refused_with_a_sentence(here, tmp_path, arguments, message):
    (tmp_path / "empty.txt").write_text("\n\n")
    row = "bias 1,sgns,16,0,bias 1 sgns 16 seed 0.npz\n"
    (tmp_path / "twice.csv").write_text(f"corpus,algorithm,dims,seed,path\n{row}{row}")
    (tmp_path / "none.csv").write_text("corpus,algorithm,dims,seed,path\n")
    (tmp_path / "other.csv").write_text("dims,seed,path\n8,0,x.npz\n")
    before = set(tmp_path.iterdir())
    code, _, errors = here(*arguments)
    assert code == 1
    assert message in errors
    assert "Traceback" not in errors
    assert set(tmp_path.iterdir()) == before
