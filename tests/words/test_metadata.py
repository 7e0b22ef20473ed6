"""A package index would refuse the distributions, or show a page that is broken or empty."""

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

pytestmark = pytest.mark.full
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def distributions(tmp_path_factory):
    """A wheel and a source distribution, built from this checkout."""
    program = os.environ.get("UV") or shutil.which("uv")
    if program is None:
        pytest.skip("uv, which builds the distributions, is not installed: pip install uv")
    folder = tmp_path_factory.mktemp("dist")
    built = subprocess.run(
        [program, "build", "--quiet", "--out-dir", folder, ROOT], capture_output=True, text=True, check=False
    )
    assert built.returncode == 0, built.stderr
    return folder


def test_both_distributions_pass_twines_strict_check(distributions):
    files = [path for path in distributions.iterdir() if path.suffix in (".whl", ".gz")]
    assert len(files) == 2
    done = subprocess.run(
        [sys.executable, "-m", "twine", "check", "--strict", *files], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("PASSED") == 2


def test_the_wheel_holds_data_models_and_a_description(distributions):
    (wheel,) = distributions.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (meta,) = (name for name in names if name.endswith("METADATA"))
        known = Parser().parsestr(archive.read(meta).decode())
    for file in ("_data/datasets.toml", "_data/references.bib", "_data/words/gender.toml", "_models/related.toml"):
        assert f"bayesbias/{file}" in names
    assert known["Description-Content-Type"] == "text/markdown"
    assert known["License-Expression"] == "MIT"
    assert known["Keywords"]
    assert "Typing :: Typed" in known.get_all("Classifier")
    (sdist,) = distributions.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        assert any(name.endswith("/CITATION.cff") for name in archive.getnames())
