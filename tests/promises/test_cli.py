"""The command line would hide commands, options and errors from those who do not write Python."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command

import bayesbias as bb
from bayesbias.cli import app

BAYESBIAS = Path(sys.executable).with_name("bayesbias")


@pytest.mark.parametrize(
    ("line", "part"),
    [("--help", "bayesbias"), ("metrics --help", "--metric"), ("--version", bb.__version__)],
)
def test_help_and_version(prints, line, part):
    assert part in prints(line)


def test_commands_are_six():
    assert list(get_command(app.app).commands) == ["demo", "run", "check", "compare", "metrics", "list"]


@pytest.mark.parametrize(
    "line",
    ["fits", "run google-news-slice weat7 -o d --draw 3", "list lists", "demo --seed -1"],
)
def test_wrong_usage_exits_with_2(here, line):
    code, _, errors = here(*line.split())
    assert code == 2
    assert "Traceback" not in errors


def test_debug_raises_what_went_wrong(here):
    with pytest.raises(bb.InputError, match="there is no file"):
        here("--debug", "check", "absent.nc")


def test_a_reader_that_goes_away_is_no_error():
    done = subprocess.run(f"{BAYESBIAS} --version | true", shell=True, capture_output=True, text=True)
    assert done.stderr == ""


@pytest.mark.skipif(not hasattr(signal, "SIGINT") or os.name != "posix", reason="sends Ctrl-C as POSIX does")
def test_ctrl_c_is_said(tmp_path):
    program = (
        "import os, signal, time; import bayesbias.cli, bayesbias.cli.app\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # shells start what runs behind without it
        "def work(): os.kill(os.getpid(), signal.SIGINT); time.sleep(60)\n"
        "bayesbias.cli.app.app = work; bayesbias.cli.main()"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 130
    assert done.stderr == "Error: interrupted\n"


def test_a_command_that_is_ended_leaves_no_temporary_folder(tmp_path):
    code = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "import bayesbias.cli, bayesbias.cli.app\n"
        "def work():\n"
        "    with bayesbias.cli.app._whole_folder(Path(sys.argv[1])) as folder:\n"
        "        (folder / 'a.csv').write_text('half')\n"
        "        os.kill(os.getpid(), signal.SIGTERM)\n"
        "bayesbias.cli.app.app = work\n"
        "bayesbias.cli.main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "out")], capture_output=True, text=True)
    assert done.returncode == 143
    assert list(tmp_path.iterdir()) == []


def test_what_is_bundled_is_listed(prints):
    turkish = prints("list words --language tr")
    assert "weathub/tr/weat9" in turkish
    assert "gender_pairs" not in turkish
    names = {"words": "gender_pairs", "models": "published", "queries": "weat10", "metrics": "rnsb"}
    for kind, name in names.items():
        assert name in prints(f"list {kind}").split()
