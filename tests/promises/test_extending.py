"""Who follows docs/extending.md to the letter would get code that fails, or that no contract holds."""

import json
import re
import shutil
import tomllib
from pathlib import Path

import pytest

import bayesbias as bb

ROOT = Path(__file__).parents[2]
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
    for part in ("bayesbias", "models", "data", "tests", "docs"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__", "_build"))
    for part in ("pyproject.toml", "uv.lock", "README.md"):
        shutil.copy(ROOT / part, folder / part)
    page = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
    files, changes = NEW_FILE.findall(page), CHANGE.findall(page)
    assert len(BLOCK.findall(page)) == len(files) + len(changes)
    for name, content in files:
        assert not (folder / name).exists()
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(content, encoding="utf-8")
    for name, diff in changes:
        text = (folder / name).read_text(encoding="utf-8")
        (folder / name).write_text(changed(text, diff), encoding="utf-8")
    return folder


PROGRAM = """
import json
import bayesbias as bb

kv = bb.load_embedding("google-news-slice")
said = {}

table = bb.distance_table(kv, "trades", relatedness=False)
prior = {"sigma": {"distribution": "half_t", "scale": 0.1}}
exact = bb.fit(table, "narrow", draws=4000, seed=1, priors=prior)
slow = bb.fit(table, "narrow", engine="thinned", draws=400, seed=1, priors=prior)
said["engines"] = [post.attrs["engine"] for post in (exact, slow)]
sigmas = [post["posterior/sigma"] for post in (exact, slow)]
said["sigma"] = [[float(sigma.mean()), float(sigma.std())] for sigma in sigmas]
said["models"] = bb.bundled("models")["name"].tolist()
said["label"] = bb.plots.plot_spread(table).axes[0].get_xlabel()

from bayesbias.contrast.spreads import spreads

result = spreads(table)
page = bb.report(result, "spreads.html").read_text()
said["result"] = [str(result), page, result.to_latex(), bb.cite(result).text()]
print(json.dumps(said))
"""


def test_what_the_page_adds_fits_the_package(extended):
    """The files are new, the changes apply to what stands there (both by the fixture), and all of it is Python."""
    sources = list((extended / "bayesbias").rglob("*.py"))
    assert len(sources) > len(list((ROOT / "bayesbias").rglob("*.py")))
    for path in sources:
        compile(path.read_text(encoding="utf-8"), path.name, "exec")


@pytest.fixture(scope="module")
def said(extended, python):
    """The words of a program that imports the extended package."""
    code, out, errors = python(extended, "-W", "error", "-W", "ignore:coverage", "-c", PROGRAM, path=[extended])
    assert code == 0, errors
    return json.loads(out)


@pytest.fixture(scope="module")
def mine(extended, install):
    """The folder of what the page puts outside of the package, installed by its entry points."""
    folder = extended / "mine"
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = {group: entries.items() for group, entries in project["entry-points"].items()}
    install(folder, project["name"], groups)
    return folder


@pytest.fixture
def outside(python):
    """A function that runs a program beside the package as it is: the words that it prints."""

    def run(folder, *arguments, path=()):
        code, out, errors = python(folder, "-W", "error", "-W", "ignore:coverage", *arguments, path=path)
        assert code == 0, errors
        return out

    return run


@pytest.mark.slow
def test_the_script_of_the_page_uses_its_metric_and_its_method(mine, outside):
    lines = outside(mine, "study.py").splitlines()
    assert lines[0] == "centroid centre"
    assert [line.split()[1:3] for line in lines[2:6]] == [
        ["before", "rnd"],
        ["before", "centroid"],
        ["after", "rnd"],
        ["after", "centroid"],
    ]


@pytest.mark.slow
def test_the_model_of_the_page_is_fitted_from_a_script(extended, outside, tmp_path):
    ok, _, row, _, sigmas = outside(extended / "mine", "alone.py", str(tmp_path / "r.html")).splitlines()
    assert ok == "True"
    table = bb.distance_table("google-news-slice", "weat7", relatedness=False)
    means = table.pivot_table("distance", "protected_word", "connection")
    observed = (means["associated"] - means["different"]).mean()
    name, mean, sd = row.split(",")
    assert name == "whole list"
    assert float(mean) == pytest.approx(observed, abs=0.2 * float(sd))
    within = table["distance"] - table.groupby(["protected_word", "connection"])["distance"].transform("mean")
    by_word = within.groupby(table["protected_word"], sort=False).std()
    assert json.loads(sigmas) == pytest.approx(by_word.to_list(), rel=0.05)
    assert "model alone (nuts)" in (tmp_path / "r.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_engine_the_prior_the_model_the_list_and_the_picture(said):
    assert said["engines"] == ["exact", "thinned"]
    (mean, sd), (other, _) = said["sigma"]
    assert other == pytest.approx(mean, abs=0.25 * sd)
    assert "narrow" in said["models"]
    assert said["label"] == "standard deviation of cosine distance"


@pytest.mark.slow
def test_the_result_has_a_report_a_table_and_sources(said):
    text, page, table, works = said["result"]
    assert text.startswith("standard deviation of distances (cosine distance)\ndistances ")
    assert "standard deviation of distances" in page
    assert r"connection & sd" in table
    assert "word list trades" in works


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        "ruff check bayesbias",
        "ruff format --check bayesbias",
        "mypy bayesbias",
    ],
    ids=lambda command: command.split()[0],
)
def test_what_the_page_adds_passes_lint_types_and_contracts(extended, python, command):
    code, out, errors = python(extended, "-m", *command.split(), path=[extended])
    assert code == 0, out + errors
