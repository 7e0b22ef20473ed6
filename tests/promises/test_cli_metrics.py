"""The commands silhouette and reliability: what the functions give, files, pictures, errors."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb

PNG = b"\x89PNG"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with small trained embeddings, a query, words and pairs."""
    folder = tmp_path_factory.mktemp("made")
    corpora = {
        f"bias {bias:g}": bb.stability.toy_corpus(bias, seed=at, sentences=1_500) for at, bias in enumerate((0, 1))
    }
    kvs = bb.stability.train_embeddings(corpora, seeds=2, dims=16, epochs=3, folder=folder)
    toy = corpora["bias 1"]
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
    ],
)  # fmt: skip
def test_wrong_arguments_are_refused_with_a_sentence(here, tmp_path, arguments, message):
    before = set(tmp_path.iterdir())
    code, _, errors = here(*arguments)
    assert code == 1
    assert message in errors
    assert "Traceback" not in errors
    assert set(tmp_path.iterdir()) == before
