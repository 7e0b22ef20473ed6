"""A package index would refuse the distributions, or what is installed would lack a file that the tutorial needs."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
UV = os.environ.get("UV") or shutil.which("uv")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(UV is None, reason="needs uv: pip install uv")]


def ran(*command, cwd=ROOT):
    """What a command prints; it must succeed."""
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    environment["MPLBACKEND"] = "agg"
    done = subprocess.run(list(map(str, command)), cwd=cwd, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def distributions(tmp_path_factory):
    """A wheel and a source distribution, built from this checkout."""
    folder = tmp_path_factory.mktemp("dist")
    ran(UV, "build", "--quiet", "--out-dir", folder)
    return folder


def test_both_distributions_pass_twines_strict_check(distributions):
    files = [path for path in distributions.iterdir() if path.suffix in (".whl", ".gz")]
    assert len(files) == 2
    assert ran(sys.executable, "-m", "twine", "check", "--strict", *files).count("PASSED") == 2


def test_the_wheel_holds_data_models_and_a_description(distributions):
    (wheel,) = distributions.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (meta,) = (name for name in names if name.endswith("METADATA"))
        known = Parser().parsestr(archive.read(meta).decode())
    for file in ("_data/datasets.toml", "_data/references.bib", "_data/words/gender.toml", "_models/related.toml"):
        assert f"bayesbias/{file}" in names
    assert known["Description-Content-Type"] == "text/markdown"
    (sdist,) = distributions.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        assert any(name.endswith("/CITATION.cff") for name in archive.getnames())


def test_the_wheel_and_the_libraries_that_it_names_run_the_tutorial(distributions, tmp_path):
    ran(UV, "venv", "--quiet", "--python", sys.executable, tmp_path / "venv")
    pins = ("--frozen", "--quiet", "--no-dev", "--no-emit-project")
    ran(UV, "export", *pins, "--output-file", tmp_path / "pins.txt")
    python = next(path for path in (tmp_path / "venv/bin", tmp_path / "venv/Scripts") if path.is_dir()) / "python"
    (wheel,) = distributions.glob("*.whl")
    ran(UV, "pip", "install", "--quiet", "--python", python, "--requirement", tmp_path / "pins.txt", wheel)
    text = (ROOT / "docs/tutorial/index.md").read_text(encoding="utf-8")
    cells = re.findall(r"^```\{code-cell\}\n(?!:tags: \[remove-cell\])(?:---\n.*?^---\n)?(.*?)^```", text, re.S | re.M)
    (tmp_path / "tutorial.py").write_text("\n".join(cells), encoding="utf-8")
    out = ran(python, "-W", "error", "-W", "ignore:coverage", "tutorial.py", cwd=tmp_path)
    assert "WEAT effect size" in out
