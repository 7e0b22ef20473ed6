"""Pages that are made from the package: names, command line, models, metrics, bundled data, gallery, notebooks."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from pkgutil import resolve_name
from textwrap import wrap
from types import ModuleType
from typing import Any

import pandas as pd
from _tables import number, read

import bayesbias as bb
from bayesbias._support import shipped
from bayesbias.results import register

HERE = Path(__file__).parent
DOTS = 110
"""Dots of an inch of a figure, on a screen of one dot a pixel."""
THUMBNAIL = 440
"""Dots of the width of a small figure."""
MODULES = [name for name in bb.__all__ if inspect.ismodule(getattr(bb, name))]
AREAS = {
    "words": ("Word lists", "words checks.word_lists"),
    "embeddings": ("Embeddings, data sets, what is bundled", "vectors distances.datasets reporting.shelf"),
    "distances": ("Distance tables", "distances"),
    "relatedness": ("Similar words", "distances.vocabularies distances.covariances"),
    "models": ("Models and fits", "models"),
    "contrasts": ("Contrasts", "contrast posteriors"),
    "fit-checks": ("Checks of a fit", "checks"),
    "confounds": ("Frequency and other confounds", "checks.confounds"),
    "topics": ("Random topics", "checks.topics"),
    "calibration": ("Null distributions", "checks.calibration"),
    "debiasing": ("Debiasing, before and after", "vectors.debiasing comparison.changes comparison.effects"),
    "comparison": ("Results of a comparison", "comparison.comparison"),
    "metrics": ("Classic metrics", "metrics"),
    "ranking": ("Rankings of embeddings", "baselines.ranking"),
    "axes": ("Axes", "axes vectors.poles"),
    "audits": ("Audits", "axes.audits"),
    "second-stage": ("Many embeddings: pool, criterion, sweep", "second_stage _support.sweeps"),
    "documents": ("Words in documents", "documents"),
    "contextual": ("Words in sentences", "vectors.contextual"),
    "silhouettes": ("Silhouettes", "baselines.silhouettes"),
    "reliability": ("Reliability", "baselines.reliability baselines.reliability.regression"),
    "stability": ("Stability", "baselines.stability"),
    "plots": ("Figures of fits and tables", "plots plots.fits"),
    "plots-embeddings": ("Figures of several embeddings", "plots.embeddings"),
    "plots-axes": ("Figures of words, axes and metrics", "plots.words"),
    "reporting": ("Results, reports and citations", "results reporting"),
    "errors": ("Errors and warnings", "errors"),
}
"""Pages of the API reference: title, and the modules whose names they document unless another page names a part."""
ROOMS = {
    "axes": "Audit Axis",
    "checks.confounds": "Balance",
    "checks.convergence": "Verdict",
    "checks.summaries": "ClusterInterval",
    "checks.word_lists": "WordCheck",
    "baselines.ranking": "Ranking",
    "comparison": "Comparison SideEffects",
    "distances": "Relatedness adjust",
    "distances.datasets": "dataset_path load_dataset",
    "documents.regression": "CovariateContrast Covariates",
    "models": "ModelSpec",
    "reporting.fit_summary": "FitSummary",
    "results": "Note Result",
    "second_stage": "Criterion Pool",
    "words": "PairList WordList",
}
"""What is public and not in ``bb``, such as classes of results, by the rooms that it is imported from."""


FOREIGN = "dict, BaseModel, Protocol, BaseException, Exception, ValueError, tuple"
"""Classes of other packages, whose members are not documented."""


def public_names() -> dict[str, list[str]]:
    """Page to the addresses that it documents, functions first; each public object once, at its shortest address."""
    addresses = [f"bayesbias.{name}" for name in bb.__all__ if name not in MODULES]
    for module in MODULES:
        addresses += [f"bayesbias.{module}.{name}" for name in all_names(getattr(bb, module)) if name not in bb.__all__]
    addresses += [f"bayesbias.{room}.{name}" for room, names in ROOMS.items() for name in names.split()]
    pages: dict[str, list[str]] = {page: [] for page in AREAS}
    for address in sorted(addresses, key=lambda address: inspect.isclass(resolve(address))):
        pages[area(address)].append(address)
    return {page: names for page, names in pages.items() if names}


def area(address: str) -> str:
    """The page of a name: the one that names most of the path of its module."""
    home = getattr(resolve(address), "__module__", "")
    if not home.startswith("bayesbias."):  # a constant has no module of its own
        home = f"{resolve(address.rpartition('.')[0]).__name__}.{address.rpartition('.')[2]}"
    parts = home.split(".")[1:]
    homes = {module: page for page, (_, modules) in AREAS.items() for module in modules.split()}
    known = (homes[part] for end in range(len(parts), 0, -1) if (part := ".".join(parts[:end])) in homes)
    page = next(known, None)
    if page is None:
        raise KeyError(f"{address} is defined in {home}, which no page of AREAS names: add it to one")
    return page


def all_names(module: ModuleType) -> list[str]:
    """The public names of a module, in alphabetical order."""
    return sorted(module.__all__)


def resolve(address: str) -> object:
    """The object at an address."""
    return resolve_name(address)


def sources() -> dict[str, str]:
    """Page (as a document name) to its text, for every written page and gallery script."""
    pages = {
        path.relative_to(HERE).with_suffix("").as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(HERE.rglob("*.md"))
        if "_build" not in path.parts and path.stem not in {"changelog", "index"}
    }
    return pages | {f"gallery/{path.stem}": path.read_text(encoding="utf-8") for path in scripts()}


def used_in(address: str, pages: dict[str, str]) -> str:
    """Links to the pages whose code uses a name."""
    called = re.compile(rf"\bbb{re.escape(address.removeprefix('bayesbias'))}\b")
    found = [f":doc:`/{page}`" for page, text in pages.items() if called.search(text)]
    return f"*Used in* {', '.join(found)}." if found else ""


def entry(address: str, pages: dict[str, str]) -> str:
    """The directive that documents a name."""
    thing = resolve(address)
    kind = "class" if inspect.isclass(thing) else "function" if callable(thing) else "data"
    lines = [f".. auto{kind}:: {address}"]
    if kind == "class":
        own = any(base.__module__.startswith("bayesbias") for base in thing.__mro__[1:])
        lines += ["   :members:", *([f"   :inherited-members: {FOREIGN}"] if own else [])]
    if kind == "data":
        lines += ["   :no-value:"]
    room, _, last = address.rpartition(".")
    short = f"bb.{last}"
    twins = [f"``bb.{module}.{last}``" for module in MODULES if last in getattr(bb, module).__all__]
    if short == f"bb.{address.removeprefix('bayesbias.')}" and twins:
        lines += ["", f"   Also {', '.join(twins)}."]
    if room.removeprefix("bayesbias.") in ROOMS:
        lines += ["", f"   ``from {room} import {last}``"]
    used = used_in(address, pages)
    return "\n".join([*lines, *(["", f"   {used}"] if used else []), ""])


def api() -> dict[str, str]:
    """A page for each area of the package, and their list."""
    pages, written = public_names(), sources()
    titles = {page: title for page, (title, _) in AREAS.items()}
    files = {
        f"reference/api/{page}.rst": "\n".join(
            [*heading(titles[page], "="), *(entry(address, written) for address in names)]
        )
        for page, names in pages.items()
    }
    rows = [
        [f":doc:`{titles[page]} <api/{page}>`", ", ".join(f":obj:`~{one}`" for one in names)]
        for page, names in pages.items()
    ]
    text = (
        "In code, ``import bayesbias as bb``. Every public name is on one of these pages, with the pages that use it. "
        ":doc:`/how-to/which-function` goes from questions to functions."
    )
    body = [*table(["page", "names"], rows, "25 75"), *contents([f"api/{page}" for page in pages])]
    files["reference/api.rst"] = "\n".join([*heading("API reference", "="), text, "", *body])
    return files


def contents(pages: list[str]) -> list[str]:
    """A table of contents that is not shown on the page."""
    return [".. toctree::", "   :hidden:", "", *(f"   {page}" for page in pages), ""]


def heading(text: str, mark: str) -> list[str]:
    """A heading of reStructuredText."""
    return [text, mark * max(4, len(text)), ""]


def table(columns: list[str], rows: list[list[str]], widths: str = "") -> list[str]:
    """A table of reStructuredText."""
    lines = [".. list-table::", "   :header-rows: 1", *([f"   :widths: {widths}"] if widths else []), ""]
    for row in [columns, *rows]:
        lines += [f"   {'*' if n == 0 else ' '} - {cell}" for n, cell in enumerate(row)]
    return [*lines, ""]


def plain(value: object) -> str:
    """A value as text without marks of reStructuredText; two hyphens are no dash."""
    text = "" if value is None or (isinstance(value, float) and pd.isna(value)) or value is pd.NA else str(value)
    return re.sub(r"([*_`|\\]|--)", r"\\\1", re.sub(r"\s+", " ", text)).strip()


def doi(value: object) -> str:
    """A link to a DOI."""
    return f"`{value} <https://doi.org/{value}>`__" if isinstance(value, str) and value else ""


def command_line() -> dict[str, str]:
    """The commands with their arguments and options."""
    from typer.main import get_command

    from bayesbias.cli.app import app

    group = get_command(app)
    text = (
        f"{plain(group.help)} Every command shows its arguments with ``--help``; ``bayesbias --debug COMMAND`` shows "
        "tracebacks. The exit code is 0, 1 (the command could not do it, and says why) or 2 (wrong usage). Python has "
        "more: :doc:`/how-to/which-function`."
    )
    lines = [line for name, command in group.commands.items() for line in usage(name, command)]
    return {"reference/command-line.rst": "\n".join([*heading("Command line", "="), text, "", *lines])}


def usage(name: str, command) -> list[str]:
    """A command: its help, how to call it, arguments and options."""
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    options = [one for one in command.params if one.param_type_name == "option" and one.name != "help"]
    call = " ".join([f"bayesbias {name}", *(one.name.upper() for one in arguments), "[OPTIONS]"])
    lines = [f".. _command-{name}:", "", *heading(name, "-"), plain(command.help), ""]
    lines += [".. code-block:: console", "", f"   {call}", ""]
    rows = [[f"``{one.name.upper()}``", plain(getattr(one, "help", "")), ""] for one in arguments]
    rows += [[_flags(one), plain(one.help), _default(one)] for one in options]
    return lines + (table(["argument or option", "meaning", "default"], rows, "32 53 15") if rows else [])


def _flags(option) -> str:
    return ", ".join(f"``{flag}``" for flag in [*option.opts, *option.secondary_opts])


def _default(option) -> str:
    value = option.default
    if value in (None, (), []) or callable(value) or repr(value).startswith("Sentinel"):
        return "required" if option.required else ""
    return f"``{', '.join(value) if isinstance(value, list) else value}``"


def model_formula(spec) -> str:
    """The likelihood of a model as its file describes it."""
    terms, likelihood = spec.terms, spec.likelihood
    if likelihood.sigma == "vectors":
        fitted = r"\bar y = c + F e, \quad e \sim \mathcal{N}(0, G)"
        return fitted + r" \\ G_{(jk)(j'k')} = \mathrm{Cov}(\bar d_{jk}, \bar d_{j'k'})"
    parts = [r"\mu_{jk}"]
    parts += [r" + a_w" if terms.attribute_sd != "none" else "", r" + g_{wh}" if terms.word_x_group else ""]
    scale = r"\sigma_k^2" if likelihood.sigma == "connection" else r"\sigma^2"
    width = r"\alpha^2" if terms.attribute_sd == "shared" else r"\alpha_{c(w)}^2"
    law = r"\mathcal{N}" if terms.protected_words == "normal" else r"t_\nu"
    noise = rf"\mathcal{{N}}(0, {scale})" if likelihood.family == "normal" else rf"t_\nu(0, {scale})"
    lines = [rf"y_{{jw}} = {''.join(parts)} + \varepsilon_{{jw}}, \quad \varepsilon_{{jw}} \sim {noise}"]
    lines += [rf"\mu_{{jk}} \sim {law}(\mu_k, \tau_k^2)"]
    lines += [rf"a_w \sim \mathcal{{N}}(0, {width})"] if terms.attribute_sd != "none" else []
    lines += [r"g_{wh} \sim \mathcal{N}(0, \gamma^2)"] if terms.word_x_group else []
    return r" \\ ".join(lines)


SYMBOLS = (
    r":math:`y_{jw}` is the distance of protected word j of group h and attribute word w under connection k. In the "
    r"models' parameters: :math:`\mu_{jk}` is ``word_mean``, :math:`\mu_k` ``connection_mean``, :math:`\tau_k` "
    r"``connection_sd``, :math:`a_w` ``attribute_effect``, :math:`\alpha_c` ``attribute_sd`` of the class c of w, "
    r":math:`g_{wh}` ``interaction_effect``, :math:`\gamma` ``interaction_sd``, :math:`\sigma` ``sigma``."
)


def models() -> dict[str, str]:
    """The bundled models: formula, priors, engines and file."""
    lines = [
        *heading("Models", "="),
        "A model is a TOML file; copy one, change a prior, and give its path to :func:`bayesbias.fit`. "
        ":doc:`/model` explains the default and its calibration, and :doc:`/pymc` shows a model in PyMC.",
        "",
        "*Before data* is what the priors alone say a table looks like (:func:`bayesbias.checks.add_prior`): the "
        "median and 90% of 1,000 tables that are drawn, with the words of the list ``gender``. Beside it stand the "
        "median and the range of the 18 :doc:`published tables </published>`. No cosine distance lies outside [0, 2].",
        "",
        SYMBOLS,
        "",
    ]
    for row in bb.bundled("models").itertuples():
        spec = bb.load_model(row.name)
        lines += [*heading(row.name, "-"), f"{plain(row.description)}.", ""]
        lines += [".. math::", "", f"   {model_formula(spec)}", ""]
        path = shipped("models") / f"{row.name}.toml"
        priors = [[f"``{name}``", f"``{prior}``"] for name, prior in _priors(path).items()]
        lines += table(["parameter", "prior"], priors, "30 70")
        lines += before_data(spec)
        lines += [f"Engines: {row.engines}. Source: {plain(row.source)}. {doi(row.doi)}", ""]
        text = path.read_text(encoding="utf-8").replace("\n", "\n   ")
        lines += [f".. code-block:: toml\n   :caption: {row.name}.toml\n\n   {text}", ""]
    return {"reference/models.rst": "\n".join(lines)}


LOOKS = {
    "mean": ("mean distance", partial(number, digits=2)),
    "sd": ("standard deviation of distances", partial(number, digits=2)),
    "outside": ("outside [0, 2], in percent", lambda share: number(100 * share, 0)),
    "between": ("standard deviation of the means of connections", partial(number, digits=3)),
}
"""Figures of a table, and how they are called and written."""


def before_data(spec) -> list[str]:
    """What the priors of a model say a table looks like, beside the published tables."""
    if not bb.models.families.family_of(spec).has_prior:
        return ["Before data: there is no prior predictive distribution.", ""]
    looks = read("prior_predictive").set_index(["model", "figure"])
    if spec.name not in looks.index:
        return []
    rows = [
        [name, *(_middle_of(looks.loc[(of, figure)], form) for of in (spec.name, "published tables"))]
        for figure, (name, form) in LOOKS.items()
    ]
    return table(["of a table", "before data", "18 published tables"], rows, "40 30 30")


def _middle_of(row: pd.Series, form: Callable[[float], str]) -> str:
    return f"{form(row['middle'])} ({form(row['low'])} to {form(row['high'])})"


def _priors(path: Path) -> dict[str, str]:
    import tomllib

    priors = tomllib.loads(path.read_text(encoding="utf-8"))["priors"]
    said = {}
    for name, prior in priors.items():
        rest = ", ".join(f"{key}={value}" for key, value in prior.items() if key != "distribution")
        said[name] = f"{prior['distribution']}({rest})"
    return said


def metrics() -> dict[str, str]:
    """The registered metrics."""
    rows = []
    for row in bb.bundled("metrics").itertuples():
        sets, source = f"{row.targets}; {row.attributes}", f"{plain(row.source)} {doi(row.doi)}"
        rows.append([f"``{row.name}``", plain(row.description), sets, f"{row.optimum:g}", plain(row.options), source])
    lines = [
        *heading("Metrics", "="),
        'What ``bb.bundled("metrics")`` knows. X and Y are the target sets, A and B the attribute sets; *sets* are '
        "their numbers. :doc:`/metrics` says which to take.",
        "",
        *table(
            ["name", "value", "target and attribute sets", "no bias", "options", "source"], rows, "12 34 10 6 14 24"
        ),
    ]
    return {"reference/metrics.rst": "\n".join(lines)}


def notes() -> dict[str, str]:
    """The register of notes: a heading a code, its frame, and what it means."""
    lines = [
        "# Notes",
        "",
        "Notes below a result say what limits it. `result.notes` has all of them, each with its `code`, `numbers` and",
        "`about`. Notes that are marked *above* stand above the table.",
        "",
    ]
    for code, entry in register().items():
        about = re.sub(r"docs/(\w+)\.md", r"[\1](\1.md)", " ".join(entry["about"].split()))
        about = re.sub(r"https://[^\s,)]+", r"<\g<0>>", about)
        about = re.sub(r"\b\w+(?:\([^()]*\)|=(?:'\w+'|\w+)?)", r"`\g<0>`", about)
        frame, above = entry["frame"].replace("!r", ""), "*Above.* " if entry.get("above") else ""
        text = wrap(f"{above}{about}", 120, break_on_hyphens=False, break_long_words=False)
        lines += [f"## {code}", "", f"`{code}: {frame}`", "", *text, ""]
    return {"notes.md": "\n".join(lines[:-1]) + "\n"}


WIDTHS = {"name": 16, "description": 40, "doi": 18}
"""Of columns of bundled data, relative to each other."""


def data() -> dict[str, str]:
    """Bundled embeddings, word lists, queries and templates, with their sources."""
    lists, documents = bb.bundled("words"), bb.bundled("datasets")
    english = lists[~lists["name"].str.startswith("weathub/")]
    other = lists[lists["name"].str.startswith("weathub/")]
    lines = [
        *heading("Bundled data", "="),
        "Word lists name harmful stereotypes in order to measure them. That they are bundled endorses none of them.",
        "",
        *heading("Embeddings", "-"),
        *_rows(bb.bundled("embeddings"), ["name", "vectors", "dimensions", "description", "licence", "doi"]),
        *heading("Word lists", "-"),
        *_rows(english, ["name", "protected", "attributes", "description", "doi"]),
        f"There are {len(other)} lists of {other['language'].nunique()} other languages; see :doc:`/languages`.",
        "",
        *heading("Queries", "-"),
        *_rows(bb.bundled("queries"), ["name", "targets", "attributes", "description", "doi"]),
        *heading("Documents", "-"),
        *_rows(documents[documents["form"] == "documents"], ["name", "description", "licence", "source"]),
        *heading("Templates", "-"),
        *_rows(bb.bundled("templates"), None),
    ]
    return {"reference/data.rst": "\n".join(lines)}


def _rows(frame: pd.DataFrame, columns: list[str] | None) -> list[str]:
    columns = columns or [name for name in frame.columns if name != "path"]
    rows = [
        [doi(value) if name == "doi" else plain(value) for name, value in zip(columns, row, strict=True)]
        for row in frame[columns].itertuples(index=False)
    ]
    return table(columns, rows, " ".join(str(WIDTHS.get(name, 10)) for name in columns))


def scripts() -> list[Path]:
    """The scripts of the gallery."""
    return sorted((HERE / "gallery").glob("*.py"))


def gallery(folder: Path) -> dict[str, str]:
    """Run the scripts of the gallery, save their figures, and write a page for each and the page of all."""
    files, cells = {}, []
    for path in scripts():
        code = path.read_text(encoding="utf-8")
        said, _, body = code.removeprefix('"""').partition('"""\n')
        title, _, alt = said.partition("\n\n")
        title, alt = title.rstrip("."), " ".join(alt.split())
        width = drawn(path, body, folder / "gallery")
        figure = [f".. figure:: {path.stem}.png", f"   :target: ../_images/{path.stem}.png", f"   :width: {width}px"]
        figure += [f"   :alt: {alt}", "   :figclass: wide", "", f"   {alt}", "", ".. code-block:: python", ""]
        listing = [f"   {line}".rstrip() for line in body.strip().splitlines()]
        files[f"gallery/{path.stem}.rst"] = "\n".join([*heading(title, "="), *figure, *listing, ""])
        cells += [f"   .. figure:: {path.stem}-small.png", f"      :target: {path.stem}.html"]
        cells += [f"      :alt: {title}", "      :loading: lazy", "", f"      {title}", ""]
    text = (
        "Each figure is made by a short script, on the bundled vectors and lists. Functions return a matplotlib "
        '``Figure``, which ``figure.savefig("name.pdf")`` saves. :doc:`Notebooks </notebooks/index>` show figures '
        "within longer examples."
    )
    lines = [*heading("Gallery", "="), text, "", ".. container:: thumbnails", "", *cells]
    return files | {"gallery/index.rst": "\n".join([*lines, *contents([path.stem for path in scripts()])])}


def drawn(path: Path, body: str, folder: Path) -> int:
    """Draw the figure of a script, for screens of two dots a pixel, and a small one; its width in pixels of a page."""
    import matplotlib.pyplot as plt

    large, small = folder / f"{path.stem}.png", folder / f"{path.stem}-small.png"
    if not small.exists() or small.stat().st_mtime < path.stat().st_mtime:
        names: dict[str, Any] = {}
        exec(compile(body, path.name, "exec"), names)
        figure = names["figure"]
        figure.savefig(large, dpi=2 * DOTS, bbox_inches="tight")
        figure.savefig(small, dpi=THUMBNAIL / figure.get_size_inches()[0], bbox_inches="tight")
        plt.close("all")
    return round(plt.imread(large).shape[1] / 2)


def notebooks() -> dict[str, str]:
    """The notebooks with their stored results; figures are named by the call that drew them."""
    files = {}
    for path in sorted((HERE.parent / "notebooks").glob("*.ipynb")):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                calls = re.findall(r"\w*plot\w*", "".join(cell["source"]))
                alt = f"Figure of {calls[-1]}" if calls else "Figure of the code above"
                cell["metadata"]["mystnb"] = {"image": {"alt": f"{alt}; the text beside it says what it shows"}}
        files[f"notebooks/{path.name}"] = json.dumps(notebook)
    return files


def write(folder: Path) -> None:
    """Write what has changed, and delete pages of names, commands, figures and notebooks that are no more."""
    files = api() | command_line() | models() | metrics() | data() | notes() | gallery(folder) | notebooks()
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    for pattern in ("reference/api/*.rst", "gallery/*.rst", "notebooks/*.ipynb"):
        for path in folder.glob(pattern):
            if path.relative_to(folder).as_posix() not in files:
                path.unlink()


if __name__ == "__main__":  # the page that is in the repository; the others are made when the site is built
    (HERE / "notes.md").write_text(notes()["notes.md"], encoding="utf-8")
