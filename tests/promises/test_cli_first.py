"""The first contact: five things to do, word lists of one's own, data sets, what is installed, options, completion."""

import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command

import bayesbias as bb
from bayesbias.cli import app, many, measures
from bayesbias.cli.options import bundled
from bayesbias.metrics.catalogue import find_metric

BAYESBIAS = Path(sys.executable).with_name("bayesbias")
GROUP = get_command(app.app)


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
    assert {line.split()[1] for line in out.splitlines() if line.startswith("    bayesbias ")} <= set(GROUP.commands)


def test_every_command_stands_below_its_heading(here):
    out = here("--help")[1]
    places = {heading: out.index(f"\n{heading}:\n") for heading in app.COMMANDS}
    assert list(places) == sorted(places, key=places.get)
    for name, command in GROUP.commands.items():
        at = out.index(f"\n  {name} ")
        assert max((place, heading) for heading, place in places.items() if place < at)[1] == command.rich_help_panel


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
    assert set(app.engines()) == {"exact", "marginal", "nuts"}
    assert f"bayesbias {bb.__version__}," in out
    assert here("--version")[1] == f"bayesbias {bb.__version__}\n"


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


# command to the public functions that it passes its options on to, those that only show a mass beside contrasts
PASSED = {
    app.demo: (),
    app.run: (bb.fit, bb.distance_table, bb.topic_null, bb.load_embedding),
    app.new_words: (),
    app.check_words: (bb.checks.check_words, bb.load_embedding),
    app.doctor: (),
    app.lists: (bb.list_words,),
    app.datasets: (),
    measures.distances: (bb.distance_table, bb.load_embedding),
    measures.fit: (bb.fit,),
    measures.contrasts: (bb.contrasts,),
    measures.report: (bb.report,),
    measures.plan: (bb.plan,),
    measures.topics: (bb.topic_null, bb.load_embedding),
    measures.metrics: (bb.run_metrics, bb.load_embedding),
    measures.rank: (bb.rank, bb.load_embedding),
    measures.silhouette: (bb.silhouettes.silhouette, bb.load_embedding),
    measures.reliability: (bb.reliability.bias_scores, bb.reliability.variance_components, bb.load_embedding),
    many.axis: (bb.axis, bb.contrasts, bb.load_embedding),
    many.audit: (bb.audit, bb.load_embedding),
    many.criterion: (bb.criterion, bb.checks.TwoStage, bb.axis, bb.contrasts, bb.load_embedding),
    many.pool: (bb.pool, bb.checks.TwoStage, bb.distance_tables, bb.contrasts, bb.load_embedding),
    many.trend: (bb.trend, bb.checks.TwoStage, bb.distance_tables, bb.contrasts, bb.load_embedding),
    many.sweep: (bb.sweep,),
    many.multiverse: (bb.multiverse, bb.contrasts),
    many.compare: (bb.compare, bb.side_effects, bb.load_embedding),
    many.debias: (bb.debias, bb.load_embedding),
}
RENAMED = {"group": "groups", "replicate": "replicates", "measure": "measures", "metric": "metrics"}
RENAMED |= {"topics": "replicates", "folder": "out"}
WRITTEN = {"out", "picture", "report"}
OWN = {  # what a command does with an option itself, or what no function has a default for
    app.demo: {"words", "seed", "debias"},
    app.lists: {"kind"},
    app.datasets: {"name"},
    measures.fit: {"keep_duplicates"},  # as the table was written, since a file says it
    measures.metrics: {"query", "words", "p_value", "alternative", "permutations", "seed"},
    measures.rank: {"query", "words"},
    measures.silhouette: {"query", "words", "metric", "vary"},  # the study's metrics, and both kinds of lists
    measures.reliability: {"targets", "query"},
    many.criterion: {"pairs"},
    many.pool: {"words"},
    many.trend: {"words"},
    many.sweep: {"scheduler"},
    many.multiverse: {"scheduler"},
    many.compare: {"words", "side_effects"},
    many.debias: {"pairs", "words", "equalize", "ignore"},
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


def test_every_option_is_explained():
    for name, command in GROUP.commands.items():
        for one in command.params:
            assert one.help.endswith("."), f"{name} --{one.name}: {one.help}"
            assert not re.search(r"``|:\w+:`", one.help)


@pytest.mark.parametrize("name", ["metrics", "methods"])
def test_options_name_what_is_registered(name):
    command, option = {"metrics": ("metrics", "metric"), "methods": ("debias", "method")}[name]
    (text,) = (one.help for one in GROUP.commands[command].params if one.name == option)
    assert all(re.search(rf"\b{known}\b", text) for known in bundled(name)(""))
