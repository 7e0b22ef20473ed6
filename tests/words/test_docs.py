"""A reader would copy code that fails, follow links to nowhere, and miss public names."""

import ast
import inspect
import re
import shutil
import sys
import types
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.results import register

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
README = "../README.md"
PAGES = {path.relative_to(DOCS).as_posix(): path.read_text(encoding="utf-8") for path in sorted(DOCS.rglob("*.md"))}
PAGES[README] = (ROOT / "README.md").read_text(encoding="utf-8")
GENERATED = re.compile(
    r"^(reference/(api|command-line|models|metrics|data)\.rst|gallery/\w+\.(rst|png|html)|notebooks/\w+\.ipynb)$"
)
BLOCK = re.compile(r"^```(?:python|\{code-cell\})\n(?!:tags: \[remove-cell\])(?:---\n.*?^---\n)?(.*?)^```", re.S | re.M)
RUN = sorted(page for page in PAGES if BLOCK.search(PAGES[page]) and page != "extending.md")  # which has its own tests
FAST = (README, "tutorial/index.md")
VECTORS = {
    "languages.md": {"cc.de.300.vec": "weathub/de/weat7"},
    "second-stage.md": {f"cc.{language}.300.vec": f"weathub/{language}/weat7" for language in ("de", "es", "fr", "it")}
    | {f"coha-{year}.vec": "gender" for year in (1900, 1930, 1960, 1990)},
}
"""Files of vectors that a page names, and the word list that they hold."""
FENCE = re.compile(r"^(`{3,})(?![^\n]*`)(.*?)^\1`*$", re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def made(site):
    """The module that makes pages from the package."""
    return site("_pages")


def anchors(text):
    """The names of a page's headings, as MyST and GitHub make them."""
    titles = re.findall(r"^#{1,4} +(.+?)\s*$", FENCE.sub("", text), re.MULTILINE)
    plain = (re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", title) for title in titles)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in plain}


@pytest.fixture
def given(tmp_path, monkeypatch, text_encoder, random_embedding):
    """Give a page what a reader has: files of vectors, two tables, an encoder."""

    def give(page):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "vectors").mkdir()
        for seed, (name, words) in enumerate(VECTORS.get(page, {}).items()):
            kv = random_embedding(bb.load_words(words), seed)
            kv.save_word2vec_format(tmp_path / name, binary=name.endswith(".bin"))
        (tmp_path / "attitudes.csv").write_text(
            "language,attitude,attitude_se\nde,.1,.01\nes,.2,.01\nfr,0,.01\nit,.1,.01"
        )
        shutil.copy(ROOT / "notebooks" / "occupations.csv", tmp_path)
        if page == "pymc.md":
            as_r_writes(bb.fit(bb.distance_table("google-news-slice", "weat7"), "published", seed=3), "draws.csv")
        if page == "sentences.md":  # sentence-transformers is large: a function of texts stands in for its model
            library = types.ModuleType("sentence_transformers")
            library.SentenceTransformer = lambda name: types.SimpleNamespace(encode=text_encoder)
            monkeypatch.setitem(sys.modules, "sentence_transformers", library)

    return give


def as_r_writes(post, path):
    """Write draws of word_mean as R's posterior package does, words and connections in the order of the table."""
    places = [post[f"constant_data/{name}_index"].to_numpy() for name in ("word", "connection")]
    first = [list(dict.fromkeys(place.tolist())) for place in places]
    means = post["posterior/word_mean"].to_numpy()[:, :, first[0]][:, :, :, first[1]]
    chains, draws, words, connections = means.shape
    columns = {
        f"word_mean[{j + 1},{k + 1}]": means[:, :, j, k].ravel() for k in range(connections) for j in range(words)
    }
    chain, iteration = (place.ravel() + 1 for place in np.indices((chains, draws)))
    drawn = pd.DataFrame({**columns, ".chain": chain, ".iteration": iteration, ".draw": np.arange(chains * draws) + 1})
    drawn.to_csv(path, index=False)


def python_of(page):
    """The Python blocks of a page."""
    return BLOCK.findall(PAGES[page])


def test_what_pages_call_is_public_and_takes_the_arguments_that_they_name():
    nodes = [node for page in PAGES for block in python_of(page) for node in ast.walk(ast.parse(block))]
    assert len(nodes) > 1000
    for node in nodes:
        if isinstance(node, ast.Attribute) and (path := public_path(node)):
            assert resolved(path) is not None, f"bb.{'.'.join(path)}"
        if isinstance(node, ast.Call) and (path := public_path(node.func)):
            keywords = {keyword.arg: None for keyword in node.keywords if keyword.arg}
            inspect.signature(resolved(path)).bind_partial(**keywords)


def public_path(node):
    """The names below ``bb`` of ``bb.a.b``, or none."""
    path = []
    while isinstance(node, ast.Attribute):
        path.insert(0, node.attr)
        node = node.value
    return path if isinstance(node, ast.Name) and node.id == "bb" else []


def resolved(path):
    thing = bb
    for name in path:
        thing = getattr(thing, name)
    return thing


@pytest.mark.filterwarnings("ignore::UserWarning")  # what a reader is told of these files
@pytest.mark.parametrize("page", [pytest.param(page, marks=[] if page in FAST else pytest.mark.slow) for page in RUN])
def test_the_code_of(page, given):
    given(page)
    names = {"__name__": "__main__"}
    for block in python_of(page):
        exec(compile(block, page, "exec"), names)
    plt.close("all")
    if page == README:
        assert Path("report.html").is_file()
        assert f"```text\n{names['answer']}\n```" in PAGES[page]
    if page == "tutorial/index.md":
        assert {path.name for path in Path().iterdir()} >= {"gender.parquet", "gender.nc", "gender.html"}
    if page == "judging.md":
        assert names["contrast"].coverage[-1] == 1
    if page == "pymc.md":
        assert bb.diagnose(names["own"]).ok
        ends = names["own"]["posterior/by_length"].quantile([0.055, 0.945]).to_numpy()
        assert ends == pytest.approx([-0.001, 0.007], abs=0.001)
        assert names["compared"]["elpd_diff"]["published"] == pytest.approx(-30, abs=3)
        assert f"{names['outside']:.0%} of the distances" in PAGES[page]
        theirs, ours = (bb.contrasts(names[name])["mean"] for name in ("again", "post"))
        assert theirs.to_numpy() == pytest.approx(ours.to_numpy(), abs=0.003)
    if page == "explanation/contrived.md":
        row = r"^\| .*? \| (.*?) \| .*? \| (.*?) \((.*?) to (.*?)\) \| (\d+) \|$"
        printed = re.findall(row, PAGES[page].replace("\N{MINUS SIGN}", "-"), re.MULTILINE)
        measured = [(one[1], *one[3:]) for one in names["rows"]]
        printed, measured = np.array(printed, dtype=float), np.array(measured)
        assert (np.abs(printed - measured)[:, :4] <= [0.005, 0.0005, 0.0005, 0.0005]).all()
        # a rounding of the processor changes the topics of few replicates
        assert (np.abs(printed - measured)[:, 4] <= 10).all()


def test_links_lead_somewhere():
    inside = re.compile(r"\]\(((?!https?:|mailto:)[^)\s]+)\)")
    targets = [(page, target) for page, text in PAGES.items() for target in inside.findall(FENCE.sub("", text))]
    assert [(page, target) for page, target in targets if not leads_somewhere(page, target)] == []


def leads_somewhere(page, target):
    """Whether a link of a page names a file of the site and one of its headings."""
    path, _, anchor = target.partition("#")
    place = ((DOCS / page).parent / path if path else DOCS / page).resolve()
    if not place.is_relative_to(DOCS):
        return False
    name = place.relative_to(DOCS).as_posix()
    if name in PAGES:
        return not anchor or anchor in anchors(PAGES[name])
    return place.exists() or bool(GENERATED.match(name))


def test_every_page_is_in_a_table_of_contents():
    listed = {"index.md", README}
    for page, text in PAGES.items():
        for toc in re.findall(r"```\{toctree\}\n(.*?)```", text, re.DOTALL):
            entries = [line.strip() for line in toc.splitlines() if line.strip() and not line.startswith(":")]
            listed |= {
                ((DOCS / page).parent / f"{entry}.md").resolve().relative_to(DOCS).as_posix() for entry in entries
            }
    assert sorted(set(PAGES) - listed) == []


def test_every_public_name_is_written_to_one_page(made):
    listed = [address for names in made.public_names().values() for address in names]
    assert len(listed) == len(set(listed))
    ids, text = {id(made.resolve(address)) for address in listed}, "\n".join(made.api().values())
    assert set(listed) == set(re.findall(r"^\.\. auto(?:function|class|data):: (\S+)$", text, re.MULTILINE))
    for module in (bb, *(getattr(bb, name) for name in made.MODULES)):
        for name in module.__all__:
            thing = getattr(module, name)
            assert inspect.ismodule(thing) or id(thing) in ids, name


def test_the_page_of_notes_is_that_of_the_register(made):
    assert PAGES["notes.md"] == made.notes()["notes.md"]
    assert {code.replace(" ", "-") for code in register()} <= anchors(PAGES["notes.md"])


def test_the_graph_of_the_published_model_is_that_of_its_pymc_model(site):
    assert (DOCS / "pymc.svg").read_text(encoding="utf-8") == site("_graph").published()


@pytest.mark.parametrize("model", ["published", "crossed"])
def test_models_say_what_a_table_looks_like_before_data(made, model):
    study = pytest.importorskip("benchmarks.validity.published_tables", reason="the benchmarks are not here")
    stored = pd.read_csv(ROOT / "benchmarks" / "results" / "prior_predictive.csv").set_index(["model", "figure"])
    for row in study.prior_predictive({"model": model}):
        kept = stored.loc[(model, row.pop("figure"))]
        assert kept.to_dict() == pytest.approx(row, rel=1e-3, abs=1e-4)
    page = made.models()["reference/models.rst"]
    share = 100 * stored.loc[(model, "outside"), "middle"]
    assert f"{share:.0f} (" in page.partition(f"\n{model}\n---")[2].partition("outside [0, 2]")[2][:40]
    assert "there is no prior predictive distribution." in page
