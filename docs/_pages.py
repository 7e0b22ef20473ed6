"""Pages that are made from the package: names, command line, models, metrics, bundled data, gallery."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from types import ModuleType

import pandas as pd

import bayesbias as bb

HERE = Path(__file__).parent
MODULES = [name for name in bb.__all__ if inspect.ismodule(getattr(bb, name))]
TITLES = {
    "words": "Word lists",
    "embeddings": "Embeddings",
    "distances": "Distance tables",
    "models": "Models and fits",
    "comparison": "Contrasts and comparisons",
    "checks": "Checks and results",
    "calibration": "Calibration",
    "metrics": "Classic metrics",
    "debiasing": "Debiasing",
    "axes": "Axes and audits",
    "second_stage": "Many embeddings: pool, trend, criterion",
    "contextual": "Words in sentences",
    "sweeps": "Sweeps",
    "silhouettes": "Silhouettes",
    "reliability": "Reliability",
    "stability": "Stability",
    "plots": "Pictures",
    "reporting": "Reports",
    "errors": "Errors",
}


def public_names() -> dict[str, list[str]]:
    """Page to the addresses that it documents; each public object once, at its shortest address."""
    pages: dict[str, list[str]] = {page: [] for page in TITLES}
    for name in bb.__all__:
        if name not in MODULES:
            home = getattr(bb, name).__module__.split(".")[1]
            pages.setdefault(home, []).append(f"bayesbias.{name}")
    for module in MODULES:
        room = pages.setdefault(module, [])
        room += [f"bayesbias.{module}.{name}" for name in all_names(getattr(bb, module)) if name not in bb.__all__]
    return {page: names for page, names in pages.items() if names}


def all_names(module: ModuleType) -> list[str]:
    """The public names of a module, in alphabetical order."""
    return sorted(module.__all__)


def resolve(address: str) -> object:
    """The object at an address."""
    found: object = bb
    for part in address.split(".")[1:]:
        found = getattr(found, part)
    return found


def sources() -> dict[str, str]:
    """Page (as a document name) to its text, for every written page and gallery script."""
    pages = {
        path.relative_to(HERE).with_suffix("").as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(HERE.rglob("*.md"))
        if "_build" not in path.parts and path.stem not in {"changelog", "index"}
    }
    return pages | {"gallery/index": "\n".join(path.read_text(encoding="utf-8") for path in scripts())}


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
        lines += ["   :members:", "   :inherited-members: dict, BaseModel, Protocol, Exception, ValueError, tuple"]
    if kind == "data":
        lines += ["   :no-value:"]
    short, last = f"bb.{address.rpartition('.')[2]}", address.rpartition(".")[2]
    twins = [f"``bb.{module}.{last}``" for module in MODULES if last in getattr(bb, module).__all__]
    if short == f"bb.{address.removeprefix('bayesbias.')}" and twins:
        lines += ["", f"   Also {', '.join(twins)}."]
    used = used_in(address, pages)
    return "\n".join([*lines, *(["", f"   {used}"] if used else []), ""])


def api() -> dict[str, str]:
    """A page for each room of the package, and their list."""
    pages, written = public_names(), sources()
    files = {}
    for page, names in pages.items():
        title = TITLES.get(page, page)
        module = getattr(bb, page, None) if page in MODULES else None
        intro = [f"``bb.{page}``: {module.__doc__.splitlines()[0]}", ""] if module else []
        body = [entry(address, written) for address in names]
        files[f"reference/api/{page}.rst"] = "\n".join([*heading(title, "="), *intro, *body])
    rows = [
        [f":doc:`{TITLES.get(page, page)} <api/{page}>`", ", ".join(f":obj:`~{one}`" for one in names)]
        for page, names in pages.items()
    ]
    toc = [".. toctree::", "   :hidden:", "", *(f"   api/{page}" for page in pages), ""]
    text = (
        "In code, ``import bayesbias as bb``. Every public name is on one of these pages, with the pages that use it."
    )
    files["reference/api.rst"] = "\n".join(
        [*heading("Names in Python", "="), text, "", *table(["page", "names"], rows, "20 80"), *toc]
    )
    return files


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
    """A value as text without marks of reStructuredText."""
    text = "" if value is None or (isinstance(value, float) and pd.isna(value)) or value is pd.NA else str(value)
    return re.sub(r"([*_`|\\])", r"\\\1", re.sub(r"\s+", " ", text)).strip()


def doi(value: object) -> str:
    """A link to a DOI."""
    return f"`{value} <https://doi.org/{value}>`__" if isinstance(value, str) and value else ""


def command_line() -> dict[str, str]:
    """The commands with their arguments and options."""
    from typer.main import get_command

    from bayesbias.cli.app import app

    group = get_command(app)
    lines = [
        *heading("Command line", "="),
        plain(group.help)
        + " Every command shows this with ``--help``; ``bayesbias --debug COMMAND`` shows tracebacks.",
        "The exit code is 0, 1 (the command could not do it, and says why) or 2 (wrong usage).",
        "",
    ]
    for name, command in group.commands.items():
        if command.hidden:
            continue
        lines += [*heading(name, "-"), plain(command.help), ""]
        arguments = [one for one in command.params if one.param_type_name == "argument"]
        options = [one for one in command.params if one.param_type_name == "option" and one.name != "help"]
        usage = " ".join([f"bayesbias {name}", *(one.name.upper() for one in arguments), "[OPTIONS]"])
        lines += [".. code-block:: console", "", f"   {usage}", ""]
        rows = [[f"``{one.name.upper()}``", plain(getattr(one, "help", "")), ""] for one in arguments]
        rows += [[_flags(one), plain(one.help), _default(one)] for one in options]
        if rows:
            lines += table(["argument or option", "meaning", "default"], rows, "32 53 15")
    return {"reference/command-line.rst": "\n".join(lines)}


def _flags(option) -> str:
    return ", ".join(f"``{flag}``" for flag in [*option.opts, *option.secondary_opts])


def _default(option) -> str:
    value = option.default
    if value is None or callable(value) or value == () or repr(value).startswith("Sentinel"):
        return "required" if option.required else ""
    return f"``{', '.join(value) if isinstance(value, list) else value}``"


def model_formula(spec) -> str:
    """The likelihood of a model as its file describes it."""
    terms, likelihood = spec.terms, spec.likelihood
    if likelihood.sigma == "vectors":
        fitted = r"\bar y = c + F e, \quad e \sim \mathcal{N}(0, G)"
        return fitted + r" \\ G_{(jk)(j'k')} = \mathrm{Cov}(\bar d_{jk}, \bar d_{j'k'})"
    mean = "o" if terms.intercept else r"\mu"
    parts = ["m + " if terms.intercept else "", rf"{mean}_{{jk}}"]
    parts += [r" + a_w" if terms.attribute_sd != "none" else "", r" + g_{wh}" if terms.word_x_group else ""]
    scale = r"\sigma_k^2" if likelihood.sigma == "connection" else r"\sigma^2"
    width = r"\alpha^2" if terms.attribute_sd == "shared" else r"\alpha_{c(w)}^2"
    law = r"\mathcal{N}" if terms.protected_words == "normal" else r"t_\nu"
    noise = rf"\mathcal{{N}}(0, {scale})" if likelihood.family == "normal" else rf"t_\nu(0, {scale})"
    lines = [rf"y_{{jw}} = {''.join(parts)} + \varepsilon_{{jw}}, \quad \varepsilon_{{jw}} \sim {noise}"]
    lines += [rf"{mean}_{{jk}} \sim {law}({mean}_k, \tau_k^2)"]
    lines += [rf"a_w \sim \mathcal{{N}}(0, {width})"] if terms.attribute_sd != "none" else []
    lines += [r"g_{wh} \sim \mathcal{N}(0, \gamma^2)"] if terms.word_x_group else []
    return r" \\ ".join(lines)


SYMBOLS = (
    "y is the distance of protected word j of group h and attribute word w under connection k. In the models' "
    "parameters: μ_jk is ``word_mean``, μ_k ``connection_mean``, τ_k ``connection_sd``, a_w ``attribute_effect``, "
    "α_c ``attribute_sd`` of the class c of w, g_wh ``interaction_effect``, γ ``interaction_sd``, σ ``sigma``. "
    "With an intercept m, o_jk and o_k are the offsets of words and connections."
)


def models() -> dict[str, str]:
    """The bundled models: formula, priors, engines and file."""
    lines = [
        *heading("Models", "="),
        "A model is a TOML file; copy one, change a prior, and give its path to :func:`bayesbias.fit`. "
        ":doc:`/model` explains the default and its calibration.",
        "",
        SYMBOLS,
        "",
    ]
    for row in bb.list_models().itertuples():
        spec = bb.load_model(row.name)
        lines += [*heading(row.name, "-"), f"{plain(row.description)}.", ""]
        lines += [".. math::", "", f"   {model_formula(spec)}", ""]
        priors = [[f"``{name}``", f"``{prior}``"] for name, prior in _priors(Path(row.path)).items()]
        lines += table(["parameter", "prior"], priors, "30 70")
        lines += [f"Engines: {row.engines}. Source: {plain(row.source)}. {doi(row.doi)}", ""]
        text = Path(row.path).read_text(encoding="utf-8").replace("\n", "\n   ")
        lines += [f".. code-block:: toml\n   :caption: {row.name}.toml\n\n   {text}", ""]
    return {"reference/models.rst": "\n".join(lines)}


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
    for row in bb.list_metrics().itertuples():
        sets, source = f"{row.targets}; {row.attributes}", f"{plain(row.source)} {doi(row.doi)}"
        rows.append([f"``{row.name}``", plain(row.title), sets, f"{row.optimum:g}", plain(row.options), source])
    lines = [
        *heading("Metrics", "="),
        "What ``bb.list_metrics()`` knows. *Sets* are the numbers of target sets and of attribute sets. "
        ":doc:`/metrics` has the formulas and what each metric misses.",
        "",
        *table(
            ["name", "title", "target and attribute sets", "no bias", "options", "source"], rows, "12 12 14 8 24 30"
        ),
    ]
    return {"reference/metrics.rst": "\n".join(lines)}


def data() -> dict[str, str]:
    """Bundled embeddings, word lists, queries and templates, with their sources."""
    lists = bb.list_words()
    english = lists[~lists["name"].str.startswith("weathub/")]
    other = lists[lists["name"].str.startswith("weathub/")]
    lines = [
        *heading("Bundled data", "="),
        "Word lists name harmful stereotypes in order to measure them. That they are bundled endorses none of them.",
        "",
        *heading("Embeddings", "-"),
        *_rows(bb.list_embeddings(), ["name", "vectors", "dimensions", "description", "licence", "doi"]),
        *heading("Word lists", "-"),
        *_rows(english, ["name", "groups", "protected", "attributes", "description", "doi"]),
        f"There are {len(other)} lists of {other['language'].nunique()} other languages; see :doc:`/languages`.",
        "",
        *heading("Queries", "-"),
        *_rows(bb.list_queries(), ["name", "targets", "attributes", "description", "doi"]),
        *heading("Templates", "-"),
        *_rows(bb.contextual.list_templates(), None),
    ]
    return {"reference/data.rst": "\n".join(lines)}


def _rows(frame: pd.DataFrame, columns: list[str] | None) -> list[str]:
    columns = columns or [name for name in frame.columns if name != "path"]
    rows = [
        [doi(value) if name == "doi" else plain(value) for name, value in zip(columns, row, strict=True)]
        for row in frame[columns].itertuples(index=False)
    ]
    return table(columns, rows)


def scripts() -> list[Path]:
    """The scripts of the gallery."""
    return sorted((HERE / "gallery").glob("*.py"))


def gallery(folder: Path) -> dict[str, str]:
    """Run the scripts of the gallery, save their figures, and write their page."""
    import matplotlib.pyplot as plt

    lines = [
        *heading("Gallery", "="),
        "Each figure is made by the script below it, on the bundled vectors and lists. "
        'Functions return a matplotlib ``Figure``, which ``figure.savefig("name.pdf")`` saves.',
        "",
        ".. contents::\n   :local:\n   :backlinks: none\n",
    ]
    for path in scripts():
        code = path.read_text(encoding="utf-8")
        said, _, body = code.removeprefix('"""').partition('"""\n')
        title, _, alt = said.partition("\n\n")
        made = folder / f"gallery/{path.stem}.png"
        if not made.exists() or made.stat().st_mtime < path.stat().st_mtime:
            names: dict[str, object] = {}
            exec(compile(body, path.name, "exec"), names)
            names["figure"].savefig(made, dpi=110, bbox_inches="tight")
            plt.close("all")
        lines += [
            *heading(title.rstrip("."), "-"),
            f".. figure:: {path.stem}.png",
            f"   :alt: {' '.join(alt.split())}",
            "",
        ]
        lines += [f"   {' '.join(alt.split())}", "", ".. code-block:: python", ""]
        lines += [f"   {line}".rstrip() for line in body.strip().splitlines()] + [""]
    return {"gallery/index.rst": "\n".join(lines)}


def write(folder: Path) -> None:
    """Write what has changed."""
    files = api() | command_line() | models() | metrics() | data() | gallery(folder)
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
