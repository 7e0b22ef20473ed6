"""The first contact: five things to do, word lists of one's own, data sets, what is installed, completion."""

import ast
import importlib
import inspect
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import bayesbias as bb
from bayesbias.cli.app import HEADINGS
from bayesbias.cli.options import COMMANDS, bundled, documented_parameters, source_of

BAYESBIAS = Path(sys.executable).with_name("bayesbias")


def flat(text):
    return " ".join(text.split())


def test_alone_it_shows_five_things_to_do(here):
    code, out, errors = here()
    assert (code, errors) == (0, "")
    for command in (
        "demo",
        "run EMBEDDING WORDS -o DIR",
        "new-words NAME",
        "check-words",
        "compare",
        "audit",
        "--help",
    ):
        assert f"bayesbias {command}" in out
    assert max(map(len, out.splitlines())) <= 80
    known = {name for commands in HEADINGS.values() for name in commands}
    assert {line.split()[1] for line in out.splitlines() if line.startswith("    bayesbias ")} <= known


def test_every_command_stands_below_one_heading(here):
    listed = [name for commands in HEADINGS.values() for name in commands]
    assert len(listed) == len(set(listed))
    assert set(listed) == set(COMMANDS)
    out = here("--help")[1]
    assert all(f"\n{heading}:\n" in out for heading in HEADINGS)
    assert all(f"\n  {name} " in out for name in listed)


@pytest.mark.parametrize("name", ["mine", 'a "list" of/ours', "Ähnlich", "back\\slash"])
def test_a_new_word_list_loads(here, name):
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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("",), "the name of the list is ''"),
        (("a\x1b[31m",), r"'a\x1b[31m': give a printable text"),
        (("///",), "no file can be named after '///': give one with --out FILE.toml"),
        (("a", "-o", "a.txt"), "a word list ends in .toml"),
        (("a", "-o", "no/a.toml"), "there is no folder no"),
        (("a" * 300,), "names have up to 240 bytes"),
    ],
)
def test_a_name_that_cannot_be_is_refused(here, arguments, message):
    code, out, errors = here("new-words", *arguments)
    assert (code, out) == (1, "")
    assert message in errors
    assert "\x1b" not in errors
    assert list(Path().iterdir()) == []


def test_check_words_says_what_the_function_says(here):
    here("new-words", "mine")
    code, out, errors = here("check-words", "mine.toml", "google-news-slice")
    assert (code, errors) == (0, "")
    found = bb.checks.check_words("mine.toml", "google-news-slice")
    assert all(flat(sentence) in flat(out) for sentence in found.sentences())
    assert "Word list mine in google-news-slice" in out
    for arguments, message in (
        (("none.toml", "google-news-slice"), "there is no word list 'none.toml'"),
        (("mine.toml", "none.bin"), "there is no embedding 'none.bin'"),
    ):
        code, _, errors = here("check-words", *arguments)
        assert code == 1
        assert message in errors


def test_datasets_are_listed_and_found(here, monkeypatch, tmp_path):
    code, out, errors = here("datasets")
    assert (code, errors) == (0, "")
    listed = bb.datasets.list_datasets()
    assert all(name in out for name in listed.loc[listed["kind"] != "word lists", "name"])
    assert all(source in flat(out) for source in listed["source"].unique())
    assert "No address is known of: debiased_gender_reddit" in flat(out)
    monkeypatch.setenv("BAYESBIAS_DATA", str(tmp_path))
    code, _, errors = here("datasets", "debiased_race_reddit")
    assert code == 1
    assert f"put it into the folder {tmp_path}" in errors


def test_doctor_names_versions_engines_caches_threads_and_extras(here):
    code, out, errors = here("doctor")
    assert (code, errors) == (0, "")
    for part in (
        "Python 3.",
        "Engine exact: ready",
        "Engine nuts",
        "Cache of data sets",
        "OPENBLAS",
        "Extra contextual",
    ):
        assert part in out
    found = json.loads(here("doctor", "--json")[1])
    assert set(found["engines"]) == {"exact", "marginal", "nuts"}
    assert found["versions"]["bayesbias"] == here("--version")[1].split()[1] == bb.__version__


def test_doctor_says_how_to_install_what_is_missing(here, monkeypatch):
    monkeypatch.setattr("bayesbias.cli.app.find_spec", lambda _: None)
    out = flat(here("doctor")[1])
    assert "Engine nuts: needs pymc and nutpie: pip install pymc nutpie" in out
    assert "Extra frequencies: not installed: pip install 'bayesbias[frequencies]'" in out


def test_doctor_loads_nothing_heavy():
    code = (
        "import sys; sys.argv = ['bayesbias', 'doctor']\n"
        "from bayesbias.cli import main\n"
        "try: main()\n"
        "except SystemExit as stop: assert not stop.code\n"
        "print('LOADED', *{m.split('.')[0] for m in sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.rpartition("LOADED")[2].split())
    assert not loaded & {"numpy", "pandas", "pymc", "nutpie", "matplotlib", "gensim", "xarray"}


def completed(line, position):
    """What bash is offered."""
    asked = {"_BAYESBIAS_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(position)}
    done = subprocess.run([BAYESBIAS], capture_output=True, text=True, env=os.environ | asked)
    return done.stdout.split()


def test_the_shell_completes_commands_and_bundled_names():
    assert completed("bayesbias check", 1) == ["check-words"]
    assert completed("bayesbias run goo", 2) == ["google-news-slice"]
    assert completed("bayesbias datasets weat_7", 2) == ["weat_7_glove", "weat_7_google", "weat_7_reddit"]


def test_completion_offers_every_bundled_name():
    assert set(bundled("word lists")("")) == set(bb.list_words()["name"])
    assert set(bundled("axes")("")) == set(bb.list_axes()["name"])
    assert set(bundled("queries")("")) == set(bb.list_queries()["name"])
    assert set(bundled("models")("")) == {"auto", *bb.list_models()["name"]}
    assert set(bundled("embeddings")("")) == set(bb.list_embeddings()["name"])
    assert set(bundled("metrics")("")) == set(bb.list_metrics()["name"])
    assert set(bundled("methods")("")) == set(bb.debiasing.list_methods()["name"])
    assert set(bundled("datasets")("")) == set(bb.datasets.list_datasets()["name"])
    assert bundled("word lists")("weathub/de/weat7") == ["weathub/de/weat7"]
    assert bundled("metrics")("zz") == []


SOURCES = [tuple(place.split(":")) for place in sorted({place for one in COMMANDS.values() for place in one.of})]


@pytest.mark.parametrize(("module", "name"), SOURCES)
def test_signatures_read_off_the_source_are_those_of_the_functions(module, name):
    function = getattr(importlib.import_module(module), name)
    found = source_of(module, name)
    assert found.docstring == inspect.getdoc(function)
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is not parameter.VAR_KEYWORD:
            assert found.default(parameter.name) == parameter.default
            assert found.annotation(parameter.name) == ast.unparse(ast.parse(str(parameter.annotation)))
    assert found.default("nothing of it") is inspect.Parameter.empty


def test_every_parameter_is_known_and_explained():
    for one in COMMANDS.values():
        for name, option in one.options().items():
            assert option.help.endswith("."), f"{one.name} --{name}: {option.help}"
            assert not re.search(r"``|:\w+:`|As in ", option.help)


def test_help_is_the_first_sentence_and_the_values_that_only_later_ones_name():
    said = documented_parameters(inspect.getdoc(bb.contrasts))
    assert said["population"] == "What the row of the whole list speaks about: given or similar."
    assert said["prob"] == "Posterior mass of the equal-tailed intervals."
    assert said["post"] == "A result of fit."
    assert "seed" not in documented_parameters(inspect.getdoc(bb.compare))  # as in another function
