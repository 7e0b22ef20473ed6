"""docs/extending.md, followed to the letter on a copy of the package."""

import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NEW_FILE = re.compile(r"^`([\w/.]+)`\n\n```(?:python|toml)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CHANGE = re.compile(r"in\s`([\w/.]+)`(?:[^`]|`[^`\n]*`)*```diff\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def changed(text, diff):
    """A file after the groups of a diff, which blank lines separate; each group's old lines stand there once."""
    for group in diff.strip("\n").split("\n\n"):
        lines = group.split("\n")
        old = "\n".join(line[1:] for line in lines if line[0] != "+")
        new = "\n".join(line[1:] for line in lines if line[0] != "-")
        assert text.count(f"\n{old}\n") == 1, old
        text = text.replace(f"\n{old}\n", f"\n{new}\n")
    return text


@pytest.fixture(scope="module")
def extended(tmp_path_factory):
    """A folder with the package, its models and data, and all that the page adds."""
    folder = tmp_path_factory.mktemp("extended")
    for part in ("bayesbias", "models", "data"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    page = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
    files, changes = NEW_FILE.findall(page), CHANGE.findall(page)
    assert len(files) == 6
    assert len(changes) == 5
    assert len(BLOCK.findall(page)) == len(files) + len(changes)
    for name, content in files:
        assert not (folder / name).exists()
        (folder / name).write_text(content, encoding="utf-8")
    for name, diff in changes:
        text = (folder / name).read_text(encoding="utf-8")
        (folder / name).write_text(changed(text, diff), encoding="utf-8")
    return folder


def run(folder, code):
    """What a program prints that imports the extended package."""
    head = "import numpy as np, bayesbias as bb\nkv = bb.load_embedding('google-news-slice')\n"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", head + textwrap.dedent(code)],
        capture_output=True,
        text=True,
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(folder), "OPENBLAS_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_metric(extended):
    out = run(
        extended,
        """
        query = bb.Query(
            {"x": ["he", "man"], "y": ["she", "woman"]}, {"a": ["engineer", "captain"]}
        )
        unit = lambda v: v / np.linalg.norm(v)
        mean = lambda words: np.mean([unit(kv[word]) for word in words], axis=0)
        apart = mean(query.targets["x"]) - mean(query.targets["y"])
        wanted = np.mean([unit(kv[word]) for word in query.attributes["a"]], axis=0)
        raw = np.mean([kv[word] for word in query.attributes["a"]], axis=0)
        print(bb.metric("centroid", kv, query).value, unit(apart) @ unit(raw))
        print("centroid" in bb.list_metrics()["name"].tolist())
        """,
    )
    value, expected = map(float, out.splitlines()[0].split())
    assert value == pytest.approx(expected, abs=1e-6)
    assert out.splitlines()[1] == "True"


def test_the_debiasing_method_and_its_option_on_the_command_line(extended):
    out = run(
        extended,
        """
        after = bb.debias(kv, "centre")
        unit = kv.vectors / np.linalg.norm(kv.vectors, axis=1, keepdims=True)
        print(np.abs(after.vectors @ unit.mean(axis=0)).max())
        """,
    )
    assert float(out) < 1e-6
    program = "from bayesbias.cli import main; main()"
    arguments = ["debias", "google-news-slice", "-o", "c.npz", "--method", "centre", "--share", "0.5"]
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        capture_output=True,
        text=True,
        cwd=extended,
        env=os.environ | {"PYTHONPATH": str(extended)},
    )
    assert done.returncode == 0, done.stderr
    assert "centre" in done.stdout


def test_the_engine_the_prior_the_model_the_list_and_the_picture(extended):
    out = run(
        extended,
        """
        table = bb.distance_table(kv, "trades", relatedness=False)
        prior = {"sigma": {"distribution": "half_t", "scale": 0.1}}
        exact = bb.fit(table, "narrow", draws=4000, seed=1, priors=prior)
        slow = bb.fit(table, "narrow", engine="thinned", draws=400, seed=1, priors=prior)
        print(exact.attrs["engine"], slow.attrs["engine"])
        for post in (exact, slow):
            print(float(post["posterior/sigma"].mean()), float(post["posterior/sigma"].std()))
        print(len(bb.list_models()), "narrow" in bb.list_models()["name"].tolist())
        print(bb.plots.plot_spread(table).axes[0].get_xlabel())
        """,
    )
    engines, exact, slow, models, label = out.splitlines()
    assert engines == "exact thinned"
    (mean, sd), (other, _) = (map(float, line.split()) for line in (exact, slow))
    assert other == pytest.approx(mean, abs=0.25 * sd)
    assert models.endswith("True")
    assert label == "standard deviation of cosine distance"
