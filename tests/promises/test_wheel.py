"""What is installed from the wheel would lack a file or a library that the demo and the tutorial need."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
UV = shutil.which("uv")
pytestmark = [pytest.mark.full, pytest.mark.skipif(UV is None, reason="needs uv: pip install uv")]


def ran(*command, cwd=ROOT):
    """What a command prints; it must succeed."""
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=environment | {"MPLBACKEND": "agg"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def scripts(tmp_path_factory):
    """The folder of programs of an environment that holds the wheel and the libraries that it names."""
    room = tmp_path_factory.mktemp("wheel")
    ran(UV, "build", "--quiet", "--wheel", "--out-dir", room / "dist")
    ran(UV, "venv", "--quiet", "--python", sys.executable, room / "venv")
    pins = ("--frozen", "--quiet", "--no-dev", "--no-emit-project")
    ran(UV, "export", *pins, "--output-file", room / "pins.txt")
    programs = next(path for path in (room / "venv/bin", room / "venv/Scripts") if path.is_dir())
    (wheel,) = (room / "dist").glob("*.whl")
    ran(UV, "pip", "install", "--quiet", "--python", programs / "python", "--requirement", room / "pins.txt", wheel)
    return programs


def code_of_the_tutorial():
    """Its cells in order, without their options and without the one that is hidden from readers."""
    text = (ROOT / "docs/tutorial/index.md").read_text(encoding="utf-8")
    cells = re.findall(r"^```(?:\{code-cell\}|python)\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    shown = (cell for cell in cells if "remove-cell" not in cell)
    return "\n".join(re.sub(r"\A---\n.*?^---\n", "", cell, flags=re.DOTALL | re.MULTILINE) for cell in shown)


def test_tutorial(scripts, tmp_path):
    code = code_of_the_tutorial()
    assert code.count("bb.") > 15
    (tmp_path / "tutorial.py").write_text(code, encoding="utf-8")
    out = ran(scripts / "python", "-W", "error", "-W", "ignore:coverage", "tutorial.py", cwd=tmp_path)
    assert "WEAT effect size" in out
    assert {path.name for path in tmp_path.iterdir()} >= {"gender.parquet", "gender.nc", "gender.html"}
