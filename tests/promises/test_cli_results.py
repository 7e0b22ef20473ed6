"""Commands would give other numbers than the functions of their names, or leave out files and pictures."""

from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb

PNG = b"\x89PNG"


@pytest.mark.usefixtures("without_pictures")
def test_run_and_check_give_what_the_functions_give(here, slice_vectors):
    bb.save_embedding(slice_vectors, "mine.npz")
    line = "run mine.npz weat7 --out made/here --model pooled --draws 2000 --seed 5 --topics 0 --adjust length"
    code, out, errors = here(*line.split())
    assert code == 0, errors
    table = bb.distance_table(bb.load_embedding("mine.npz", bb.load_words("weat7")), "weat7")
    post = bb.fit(table, "pooled", draws=2000, seed=5, adjust="length")
    answer = bb.summary(post)
    assert set(repr(answer).splitlines()) <= set(out.splitlines())
    pd.testing.assert_frame_equal(bb.read_distance_table("made/here/distances.parquet"), table, check_dtype=False)
    # the command runs with one thread of linear algebra, which rounds in another order than several
    fitted = bb.load_fit("made/here/fit.nc")
    np.testing.assert_allclose(bb.contrasts(fitted)["mean"], bb.contrasts(post)["mean"], atol=1e-9)
    written = {file.name for file in Path("made/here").iterdir()}
    assert written >= {"distances.csv", "summary.csv", "report.html"}
    assert [file.name for file in Path("made").iterdir()] == ["here"]
    code, out, errors = here("check", "made/here/fit.nc")
    assert code == 0, errors
    assert out.strip() == repr(bb.diagnose(post))
    code, out, errors = here("check", "mine.npz", "weat7")
    assert code == 0, errors
    assert out.strip() == repr(bb.check_words("weat7", "mine.npz"))


@pytest.mark.usefixtures("without_pictures")
def test_a_full_disk_is_one_sentence_and_leaves_nothing(here, tmp_path, limited_files):
    with limited_files(20_000):
        code, _, errors = here("run", "google-news-slice", "weat7", "-o", tmp_path / "made", "--topics", "0")
    assert code == 1
    assert "File too large" in errors.splitlines()[-1]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("part", ["stereotypes", "controls"])
def test_demo_shows_what_a_list_allows(prints, part):
    text = {"stereotypes": "[stereotypes]\nman = ['doctor', 'lawyer']\n", "controls": "[stereotypes]\n"}[part]
    controls = "controls = ['neutral']\n" if part == "controls" else ""
    Path("mine.toml").write_text(f"name = 'mine'\n{controls}[protected]\nman = ['he', 'his']\n{text}")
    assert "mean distances (cosine distance)" in prints("demo --words mine.toml --out out")
    assert Path("out/report.html").is_file()
    assert not Path("out/contrasts.png").exists()


@pytest.fixture
def two_embeddings(here, slice_vectors):
    """The vectors of some words in the text format, and the same with noise."""
    rng = np.random.default_rng(0)
    words = [word for name in ("weat6", "weat7") for listed in bb.load_query(name).sets.values() for word in listed]
    kvs = {}
    for name, noise in (("plain.txt", 0.0), ("noisy.txt", 0.2)):
        kvs[name] = bb.load_embedding({word: slice_vectors[word] + rng.normal(0, noise, 300) for word in words})
        bb.save_embedding(kvs[name], name)
    return kvs


def test_metrics_gives_what_run_metrics_gives(prints, two_embeddings):
    out = prints("metrics plain.txt noisy.txt --query weat6 --query weat7 --p-value -o m")
    test = {"p_value": True, "seed": 0}
    metrics = {name: (name, test) for name in ("weat", "weat_effect_size")}
    expected = bb.run_metrics(two_embeddings, ["weat6", "weat7"], metrics)
    expected["notes"] = expected["notes"].map("; ".join)
    written = pd.read_csv("m/metrics.csv")
    pd.testing.assert_frame_equal(written, pd.read_csv(StringIO(expected.to_csv(index=False))), rtol=1e-9)
    assert "noisy.txt" in out
    assert f"{expected['p_value'].iloc[0]:.2g}" in out
    out = prints("metrics plain.txt --query weat6")
    assert all(name in out for name in bb.run_metrics(two_embeddings["plain.txt"], "weat6")["metric"])


@pytest.mark.slow
def test_compare_gives_what_the_functions_give(here, slice_vectors, hard_debiased):
    bb.save_embedding(hard_debiased, "after.bin")
    line = "compare google-news-slice after.bin --words gender --seed 3 -o c --side-effects"
    code, out, errors = here(*line.split())
    assert code == 0, errors
    after = bb.load_embedding("after.bin")
    kvs = {"google-news-slice": slice_vectors, "after.bin": after}
    expected = bb.compare(bb.distance_tables(kvs, "gender"), seed=3)
    written = pd.read_csv("c/changes.csv")
    own = written[written["of"] == "associated - different"]
    assert own["change"].to_numpy() == pytest.approx(expected.changes()["mean"].to_numpy(), abs=1e-9)
    assert set(repr(expected).splitlines()) <= set(out.splitlines())
    assert "nearest 10 kept" in out
    assert Path("c/change.png").read_bytes().startswith(PNG)
    assert "Side effects" in Path("c/report.html").read_text(encoding="utf-8")


@pytest.mark.usefixtures("without_pictures")
def test_compare_takes_tables_and_names_a_debiasing(prints, slice_vectors, hard_debiased):
    for name, kv in (("before.parquet", slice_vectors), ("after.parquet", hard_debiased)):
        bb.write_distance_table(bb.distance_table(kv, "gender"), name)
    out = prints("compare before.parquet after.parquet before.parquet --seed 1 --draws 400")
    assert "to neutral words" in out
    bb.save_embedding(bb.debias("google-news-slice", "soft", definitional="gender_pairs"), "soft.npz")
    prints("compare google-news-slice soft.npz --words gender --draws 400 -o made")
    assert "debiased by soft" in Path("made/report.html").read_text(encoding="utf-8")
