"""The command line would hide commands, options and errors from those who do not write Python."""

import inspect
import os
import re
import signal
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pandas as pd
import pytest
from rich.console import Console
from typer.main import get_command

import bayesbias as bb
from bayesbias.cli import app, measures, screen
from bayesbias.cli.options import bundled
from bayesbias.metrics.catalogue import find_metric

BAYESBIAS = Path(sys.executable).with_name("bayesbias")
GROUP = get_command(app.app)


@pytest.mark.parametrize(
    ("line", "part"),
    [("--help", "bayesbias"), ("fit --help", "bayesbias"), ("run --help", "1000"), ("--version", bb.__version__)],
)
def test_help_and_version(prints, line, part):
    assert part in prints(line)


def test_alone_it_shows_four_things_to_do(here):
    code, out, errors = here()
    assert (code, errors) == (0, "")
    for command in (
        "demo", "run EMBEDDING WORDS -o DIR", "new-words NAME", "check-words", "compare", "--help"
    ):  # fmt: skip
        assert f"bayesbias {command}" in out
    assert max(map(len, out.splitlines())) <= 80
    assert {line.split()[1] for line in out.splitlines() if line.startswith("    bayesbias ")} <= set(GROUP.commands)


def test_no_number_is_cut_and_headings_break_at_blanks(monkeypatch):
    texts = ["metric", "query", "embedding", "direction"]
    numbers = ["value", "unit_value", "zero", "p_value", "low", "high"]
    rows = {name: ["google-news-slice", "glove-50d-slice"] for name in texts}
    values = {name: [-0.9674 - i / 100, 10.0316 + i / 100] for i, name in enumerate(numbers)}
    terminal = Console(width=80, file=StringIO())
    monkeypatch.setattr(screen, "console", lambda: terminal)
    screen.show(pd.DataFrame(rows | values), "Title", whole=texts[0])
    said = terminal.file.getvalue()
    assert max(map(len, said.splitlines())) <= 80
    found = re.findall(r"-?\d+\.\d*", said)
    assert sorted(found) == sorted(f"{value:.3f}" for column in values.values() for value in column)
    words = set(re.findall(r"[a-z]+", said))
    assert {word for name in (*texts, *numbers) for word in name.split("_")} <= words


def test_every_command_stands_below_its_heading(here):
    out = here("--help")[1]
    places = {heading: out.index(f"\n{heading}:\n") for heading in app.COMMANDS}
    assert list(places) == sorted(places, key=places.get)
    for name, command in GROUP.commands.items():
        at = out.index(f"\n  {name} ")
        assert max((place, heading) for heading, place in places.items() if place < at)[1] == command.rich_help_panel


def test_every_option_is_explained():
    for name, command in GROUP.commands.items():
        for one in command.params:
            assert one.help.endswith("."), f"{name} --{one.name}: {one.help}"
            assert not re.search(r"``|:\w+:`", one.help)


def test_options_name_what_is_registered():
    (text,) = (one.help for one in GROUP.commands["metrics"].params if one.name == "metric")
    assert all(re.search(rf"\b{known}\b", text) for known in bundled("metrics")(""))


@pytest.mark.parametrize("line", ["fits", "fit", "fit t.csv --draw 3 -o f.nc", "fit t -o f.nc --seed x"])
def test_wrong_usage_exits_with_2(here, line):
    code, _, errors = here(*line.split())
    assert code == 2
    assert "Traceback" not in errors


def test_debug_shows_the_traceback(tmp_path):
    command = [BAYESBIAS, "--debug", "fit", tmp_path / "absent.csv", "-o", "f.nc"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "Traceback" in done.stderr


def test_a_reader_that_goes_away_is_no_error():
    done = subprocess.run(f"{BAYESBIAS} lists | head -1", shell=True, capture_output=True, text=True)
    assert "Word lists" in done.stdout
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


def test_a_command_that_is_ended_leaves_no_temporary_file(tmp_path):
    code = (
        "import os, signal, sys\n"
        "import bayesbias.cli, bayesbias.cli.app\n"
        "from bayesbias._support.files import whole_file\n"
        "def work():\n"
        "    with whole_file(sys.argv[1]) as temporary:\n"
        "        temporary.write_text('half')\n"
        "        os.kill(os.getpid(), signal.SIGTERM)\n"
        "bayesbias.cli.app.app = work\n"
        "bayesbias.cli.main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "a.txt")], capture_output=True, text=True)
    assert done.returncode == 143
    assert list(tmp_path.iterdir()) == []


def test_what_is_bundled_is_shown(prints):
    lists = prints("lists")
    assert "gender_pairs" in lists
    assert lists.count("weat1, weat2, weat6") == 24
    turkish = prints("lists --language tr")
    assert "weathub/tr/weat9" in turkish
    assert "gender_pairs" not in turkish
    assert "no bundled list is in the language" in prints("lists --language xx")
    for kind, name in (("models", "published"), ("axes", "affluence"), ("queries", "weat10")):
        assert name in prints(f"lists {kind}")


@pytest.mark.parametrize("name", ["mine", 'a "list" of/ours', "Ähnlich", "back\\slash"])
def test_a_new_word_list_loads_and_is_not_replaced(here, name):
    code, out, errors = here("new-words", name)
    assert (code, errors) == (0, "")
    (file,) = Path().glob("*.toml")
    words = bb.load_words(file)
    assert words.name == name
    assert sum(map(len, words.protected.values())) >= 3
    assert set(words.stereotypes) == set(words.protected)
    assert file.name in out
    before = file.read_text(encoding="utf-8")
    code, _, errors = here("new-words", name)
    assert code == 1
    assert "is there already: give another name, or another file with --out" in errors
    assert file.read_text(encoding="utf-8") == before


def test_check_words_says_what_the_function_says(prints):
    prints("new-words mine")
    out = prints("check-words mine.toml google-news-slice")
    found = bb.check_words("mine.toml", "google-news-slice")
    assert " ".join(repr(found).split()) in " ".join(out.split())


@pytest.mark.parametrize(
    ("line", "position", "offered"),
    [
        ("bayesbias check", 1, ["check-words"]),
        ("bayesbias run goo", 2, ["google-news-slice"]),
    ],
)
def test_bash_completes_commands_and_bundled_names(line, position, offered):
    asked = {"_BAYESBIAS_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(position)}
    done = subprocess.run([BAYESBIAS], capture_output=True, text=True, env=os.environ | asked)
    assert done.stdout.split() == offered


def test_completion_offers_every_bundled_name():
    for kind, listed in (
        ("word lists", bb.list_words), ("queries", bb.list_queries),
        ("embeddings", bb.list_embeddings), ("metrics", bb.list_metrics),
    ):  # fmt: skip
        assert set(bundled(kind)("")) == set(listed()["name"])
    assert set(bundled("models")("")) == {"auto", *bb.list_models()["name"]}
    assert bundled("word lists")("weathub/de/weat7") == ["weathub/de/weat7"]
    assert bundled("metrics")("zz") == []


# command to the public functions that it passes its options on to, those that only show a mass beside contrasts
PASSED = {
    app.demo: (),
    app.run: (bb.fit, bb.distance_table, bb.topic_null, bb.load_embedding),
    app.new_words: (),
    app.check_words: (bb.check_words, bb.load_embedding),
    app.lists: (bb.list_words,),
    measures.distances: (bb.distance_table, bb.load_embedding),
    measures.fit: (bb.fit,),
    measures.diagnose: (bb.diagnose,),
    measures.report: (bb.summary,),
    measures.metrics: (bb.run_metrics, bb.load_embedding),
    measures.compare: (bb.compare, bb.side_effects, bb.load_embedding),
}
RENAMED = {"metric": "metrics", "topics": "replicates"}
WRITTEN = {"out", "picture", "report"}
OWN = {  # what a command does with an option itself, or what no function has a default for
    app.demo: {"words", "seed", "debias"},
    app.lists: {"kind"},
    measures.fit: {"keep_duplicates", "verbose"},  # as the table was written, since a file says it
    measures.metrics: {"query", "words", "p_value", "alternative", "permutations", "seed"},
    measures.compare: {"words", "side_effects"},
}


def defaults(function):
    """Parameter to its default, of those that have one."""
    parameters = inspect.signature(function).parameters.values()
    return {one.name: one.default for one in parameters if one.default is not one.empty}


def test_every_command_says_what_it_passes_on():
    assert {each for commands in app.COMMANDS.values() for each in commands} == set(PASSED)


@pytest.mark.parametrize("command", PASSED, ids=lambda command: command.__name__)
def test_defaults_are_those_of_the_functions(command):
    public = {}
    for function in reversed(PASSED[command]):
        public |= defaults(function)
    options = defaults(command)
    own = OWN.get(command, set())
    for name in options.keys() - own:
        default = public.get(name, public.get(RENAMED.get(name), "no such parameter"))
        if default == "no such parameter":
            assert name in WRITTEN, f"--{name} is passed on to no function and is not the command's own"
        else:
            assert options[name] == (list(default) if isinstance(default, tuple) else default), name
    assert own <= options.keys()


def test_the_test_of_metrics_has_the_defaults_of_the_metrics():
    options = defaults(measures.metrics)
    for name in measures.TESTED:
        assert {key: option.default for key, option in find_metric(name).options.items()} == {
            key: options[key] for key in ("p_value", "alternative", "permutations", "seed")
        }
