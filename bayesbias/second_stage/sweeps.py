"""Many fits into one folder: embeddings, word lists, models, debiasing methods and seeds, on processes or Dask."""

from __future__ import annotations

import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import lru_cache, partial
from hashlib import sha256
from itertools import product
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np
import pandas as pd
import xarray as xr
from pydantic import BeforeValidator, Field
from scipy.special import stdtr, stdtrit

from bayesbias._support.arguments import flag, whole_number
from bayesbias._support.files import Document, from_json, home_folder, read_text, to_json, whole_file, write_text
from bayesbias._support.results import Result
from bayesbias._support.runs import (
    HASHED,
    MANIFEST,
    Task,
    by_content,
    finished,
    plain_json,
    prepare,
    read_plan,
    record_of,
    recorded,
    resolved,
    run,
    state_of,
    task_name,
    workers_asked,
    write_record,
)
from bayesbias.axes import axis, list_axes
from bayesbias.checks.convergence import diagnose
from bayesbias.checks.summaries import PROB
from bayesbias.contrast import contrasts
from bayesbias.contrast.contrast import beside_associated
from bayesbias.distances import distance_table, read_distance_table
from bayesbias.errors import InputError, many
from bayesbias.models import fit, list_models, load_fit, load_model, save_fit
from bayesbias.models.fits import AUTO, RELATED, checked_draws, choose_engine
from bayesbias.models.tree import Fit
from bayesbias.vectors import list_embeddings, load_embedding
from bayesbias.vectors.debiasing.registry import (
    METHODS,
    NONE,
    Method,
    checked_method,
    debiased,
    method_and_options,
    method_by_name,
    methods_from_outside,
)
from bayesbias.words import WHOLE, bundled_names, load_words

if TYPE_CHECKING:
    from distributed import Client
    from gensim.models import KeyedVectors

CONTRASTS, FITS = "contrasts.parquet", "fits"  # files and folders of a sweep
TURNS = Lock()  # threads of one process make fits in turn: warnings, which become notes, are caught for a whole process
SETTINGS = ["embedding", "words", "table", "axis", "debiasing", "model", "seed"]  # what distinguishes fits of a sweep
# columns of a contrast: what it is of, and its numbers
LABELS, FIGURES = ["contrast", "protected_word"], ["mean", "sd", "low", "high", "p_closer"]


MethodOption = Annotated[str | dict[str, Any], BeforeValidator(method_by_name)]


class SweepPlan(Document):
    """Plan of a sweep: every embedding with every word list and debiasing method, and every table of distances.

    Attributes
    ----------
    embeddings, words
        Bundled names, or paths; ``*`` stands for any characters of a file's name.
    tables
        Files of distance tables, in place of or beside embeddings.
    axes
        Bundled axes, or files of pairs: the protected words of each list are placed on each axis. Their rows in
        ``contrasts`` are places (of the whole list the mean), with the errors of further pairs; no fit is saved.
    models, seeds
        Each is fitted to each table.
    debiasing
        ``"none"``, a method as :func:`debias` takes it, or a mapping with ``method`` and its options. A function is
        registered under its name (:func:`bayesbias.vectors.debiasing.register`), which is what the folder records.
    engine, draws, chains, adjust, case, population
        As :func:`fit`, :func:`distance_table` and :func:`contrasts` take them.
    save
        Whether each fit is written as NetCDF; contrasts always are.
    """

    embeddings: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    axes: tuple[str, ...] = ()
    models: tuple[str, ...] = Field(default=("auto",), min_length=1)
    debiasing: tuple[MethodOption, ...] = Field(default=(NONE,), min_length=1)
    seeds: tuple[int, ...] = Field(default=(0,), min_length=1)
    engine: str = "auto"
    draws: int = 4000
    chains: int = 4
    adjust: str | None = None
    case: str = "as-is"
    population: str = "given"
    save: bool = True


@dataclass(frozen=True, repr=False)
class Sweep(Result):
    """A finished sweep.

    Attributes
    ----------
    folder
        Where it is.
    fits
        One row a fit: ``fit``, the settings, ``status`` (done, failed), ``reason``, ``faults`` (of :func:`diagnose`),
        ``notes``, ``seconds``.
    contrasts
        One row for each contrast of each fit's whole list (``protected_word`` is missing) and of each protected word.
    hash
        Of all results: two sweeps of one plan agree in it to the last bit, however many workers made them.
    """

    notes: ClassVar[tuple[str, ...]] = ()

    folder: Path
    fits: pd.DataFrame
    contrasts: pd.DataFrame
    hash: str
    _kept: bool = field(default=True, repr=False)

    def findings(self) -> list[str]:
        """The result in sentences, without its notes."""
        failed = self.fits[self.fits["status"] == "failed"]
        doubted = self.fits[self.fits["faults"] != ""]
        done = len(self.fits) - len(failed)
        sentence = f"{many(len(self.fits), 'fit')} in {self.folder}: {done:,} done, {len(failed):,} failed."
        if len(doubted):
            sentence += f" {len(doubted):,} of them have faults, such as: {doubted['faults'].iloc[0]}."
        for reason, count in failed["reason"].value_counts().head(3).items():
            sentence += f" {count:,} failed because: {reason}."
        return [f"{sentence} Hash of all results: {self.hash[:16]}."]

    def table(self) -> pd.DataFrame:
        """The contrasts of whole lists."""
        return self.contrasts[self.contrasts["protected_word"] == WHOLE].reset_index(drop=True)

    def load(self, name: str) -> xr.DataTree:
        """A fit, by its name in the column ``fit``."""
        done = set(self.fits.loc[(self.fits["status"] == "done") & self.fits["axis"].isna(), "fit"])
        if not isinstance(name, str) or name not in done or not self._kept:
            reason = "no fit of that name is done" if self._kept else "the plan does not save fits"
            raise InputError(f"{name!r} cannot be loaded: {reason}; names are in the column 'fit' of .fits")
        return load_fit(self.folder / FITS / f"{name}.nc")


def sweep(
    plan: Mapping[str, Any] | str | Path,
    out: str | Path,
    executor: str | Executor | Client = "processes",
    workers: int | None = None,
    retry: bool = False,
) -> Sweep:
    """Fit every combination of a plan, into one folder; a sweep that was stopped goes on where it was.

    What goes wrong in a single fit is recorded as its reason, and the sweep goes on.

    Parameters
    ----------
    plan
        A TOML file, or a mapping, with the fields of :class:`SweepPlan`. Paths are relative to the TOML file.
    out
        A folder: ``fits/<name>.nc`` and ``records/<name>.json`` for each fit, ``contrasts.parquet`` of all, and
        ``manifest.json`` with the plan, the hashes of its files, and the hash of all results. Every file is there whole
        or not at all. A fit that is finished is not made again.
    executor
        ``"processes"`` (of this machine, each with one thread; a script needs the usual
        ``if __name__ == "__main__":``), ``"serial"``, the address of a Dask scheduler (``"tcp://host:8786"``, which
        needs the extra ``distributed`` and a folder that all machines see), a ``distributed.Client``, or an executor of
        ``concurrent.futures`` (threads make fits in turn).
    workers
        Processes; by default one for each processor.
    retry
        Make fits again that failed. By default their reason stays on record.

    Raises
    ------
    OSError
        The disk is full or the folder cannot be written; what is finished stays.

    Examples
    --------
    >>> plan = {"embeddings": ["google-news-slice"], "words": ["weat7"], "models": ["related"], "draws": 400}
    >>> found = bb.sweep(plan, "sweep", executor="serial")
    >>> found.fits["status"].tolist()
    ['done']
    >>> found.table()[["contrast", "mean"]].round(2).head(2)
                     contrast  mean
    0  associated - different -0.01
    1      associated - human -0.02
    """
    flag(retry, "retry")
    workers = workers_asked(workers)
    checked, base, where = read_plan(SweepPlan, plan)
    tasks = _tasks(checked, base, where)
    folder = home_folder(out)
    prepare(folder, checked.model_dump(), tasks, FITS)
    saved = {task.name for task in tasks if checked.save and task.settings["axis"] is None}
    files = {name: folder / FITS / f"{name}.nc" for name in saved}
    pending = [task for task in tasks if not finished(folder, task, files.get(task.name), retry)]
    work = partial(_run_fit, methods=methods_from_outside(checked.debiasing))
    run(pending, work, folder, executor, workers, "fitting")
    return _collected(folder, checked, tasks)


def _tasks(plan: SweepPlan, base: Path, where: str) -> list[Task]:
    """Every fit of a plan, those of one embedding together."""
    if bool(plan.embeddings) != bool(plan.words) or not (plan.embeddings or plan.tables):
        raise InputError(f"{where}: give embeddings and words, or tables, or both")
    checked_draws(plan.draws, plan.chains)
    for seed in plan.seeds:
        whole_number(seed, "a seed", least=0, most=None)
    bundled = {
        "embeddings": set(list_embeddings()["name"]),
        "words": bundled_names(),
        "models": {"auto", *list_models()["name"]},
        "tables": set[str](),
        "axes": {*list_axes()["name"], "gender_pairs"},
    }
    entries = {kind: resolved(getattr(plan, kind), base, names, kind, where) for kind, names in bundled.items()}
    methods = [_method(each, base, bundled["words"] | bundled["axes"]) for each in plan.debiasing]
    for words in entries["words"]:
        load_words(words)
    for name in entries["models"]:
        choose_engine(load_model(RELATED if name == AUTO else name), plan.engine)
    options = plan.model_dump(include={"engine", "draws", "chains", "adjust", "case", "population", "save"})
    chosen: list[dict[str, Any]] = [
        {"embedding": embedding, "words": words, "debiasing": method}
        for embedding, method, words in product(entries["embeddings"], methods, entries["words"])
    ]
    chosen += [{"table": table} for table in entries["tables"]]
    if entries["axes"] and not entries["words"]:
        raise InputError(f"{where}: axes need words, whose protected words are placed on them")
    fitted = [
        each | {"model": model, "seed": seed} for each, model, seed in product(chosen, entries["models"], plan.seeds)
    ]
    placed = [each | {"axis": name} for each in chosen if "table" not in each for name in entries["axes"]]
    known: dict[str, tuple[int, int, str]] = {}
    tasks = []
    for full in (*fitted, *placed):
        method = full.get("debiasing")
        values = [*full.values(), *(method.values() if isinstance(method, dict) else ())]
        files = [value for value in values if isinstance(value, str) and Path(value).is_absolute()]
        for file in files:
            if file not in known:
                known[file] = state_of(Path(file))
        named = by_content(full, {file: known[file][2] for file in files})
        name = task_name({**named, **options})
        tasks.append(Task(name, {**dict.fromkeys(SETTINGS), **full}, options, {file: known[file] for file in files}))
    twice = [name for name, count in Counter(task.name for task in tasks).items() if count > 1]
    if twice:
        repeated = next(task for task in tasks if task.name == twice[0])
        settings = ", ".join(f"{key} {value}" for key, value in repeated.settings.items() if value is not None)
        raise InputError(f"{where}: one fit is asked for twice (files of the same content count as one): {settings}")
    return tasks


def _method(method: str | dict[str, Any], base: Path, names: set[str]) -> str | dict[str, Any]:
    """A method as it is given; files that its options name, no bundled lists or axes, as absolute paths."""
    name, options = method_and_options(method)
    if not isinstance(name, str):
        raise InputError(f"debiasing holds {method}: give a name, or a table with 'method' and its options")
    if name != NONE:
        try:
            checked_method(name, options)
        except InputError as error:
            raise InputError(f"debiasing = {plain_json(method)}: {error}") from error
    elif options:
        raise InputError(f"debiasing = {plain_json(method)}: 'none' takes no options")
    if isinstance(method, str):
        return method
    words = {key: each for key, each in options.items() if isinstance(each, str) and each not in names}
    files = {key: base / home_folder(each) for key, each in words.items()}
    return method | {key: str(file.resolve()) for key, file in files.items() if file.is_file()}


def _run_fit(task: Task, folder: str, methods: Sequence[Method] = ()) -> None:
    """Make a fit and write it, and its record last.

    ``methods`` are those of debiasing that this process may have to be given.
    What goes wrong in the fit is its record; what goes wrong in writing is raised.
    """
    begin = time.perf_counter()
    post, rows = None, pd.DataFrame(columns=LABELS + FIGURES)
    with TURNS, warnings.catch_warnings(record=True, action="always") as caught, recorded(task) as record:
        for method in methods:
            METHODS.add(method)
        if task.settings["axis"] is None:
            post = _fitted(task)
            rows = _contrast_rows(post, str(task.options["population"]))
            record["faults"] = list(diagnose(post).faults)
        else:
            rows = _place_rows(task)
    record["notes"] = sorted({str(each.message) for each in caught if issubclass(each.category, UserWarning)})
    if post is not None and record["status"] == "done" and task.options["save"]:
        file = Path(folder) / FITS / f"{task.name}.nc"
        with ExitStack() as stack:
            if "dask" in sys.modules:  # each file is written by one worker, which needs no lock over all of them
                import dask

                stack.enter_context(dask.config.set(scheduler="synchronous"))
            save_fit(post, file)
        record |= {"sha256": state_of(file)[2], "content": _content(post)}
    # plain values, which JSON keeps to the last bit
    values = rows.astype(object).to_numpy().tolist()
    record["contrasts"] = [[None if value is pd.NA else value for value in row] for row in values]
    record["seconds"] = round(time.perf_counter() - begin, 3)
    write_record(Path(folder), record)


def _content(post: xr.DataTree) -> str:
    """The hash of names, dimensions, attributes and values of a fit, in their order."""
    digest = sha256()
    for node in post.subtree:
        digest.update(plain_json([node.path, node.attrs]).encode())
        for name, variable in node.variables.items():
            values = np.ascontiguousarray(variable.values)
            plain = values.dtype.kind in "biuf"
            digest.update(plain_json([name, variable.dims, values.shape, str(values.dtype), variable.attrs]).encode())
            digest.update(values.tobytes() if plain else plain_json(values.tolist()).encode())
    return digest.hexdigest()


def _fitted(task: Task) -> xr.DataTree:
    """The fit of a table that is read, or measured on an embedding."""
    settings, options = task.settings, task.options
    if settings["table"] is None:
        table = distance_table(_embedding(task), settings["words"], case=options["case"])
    else:
        table = read_distance_table(settings["table"])
    how = {name: options[name] for name in ("engine", "draws", "chains", "adjust")}
    return fit(table, settings["model"], seed=settings["seed"], **how)


def _place_rows(task: Task) -> pd.DataFrame:
    """The places of the protected words of a list on an axis, and their mean."""
    settings, options = task.settings, task.options
    words = list(load_words(settings["words"]).group_of)
    placed = axis(_embedding(task), settings["axis"], words, adjust=options["adjust"], case=options["case"])
    weights = np.vstack([np.full(len(placed.words), 1 / len(placed.words)), np.eye(len(placed.words))])
    mean, population = weights @ placed.places, "pairs" if placed.paired else "oppositions"
    sd = np.sqrt(np.einsum("mj,jk,mk->m", weights, placed.covariance(population), weights))
    freedom = placed.offset.freedom if placed.paired else np.inf
    reach = sd * stdtrit(min(freedom, 1e6), (1 + PROB) / 2)
    return pd.DataFrame(
        {
            "contrast": f"place: {' - '.join(placed.poles.poles.ends)}",
            "protected_word": [WHOLE, *placed.words],
            "mean": mean,
            "sd": sd,
            "low": mean - reach,
            "high": mean + reach,
            "p_closer": stdtr(min(freedom, 1e6), -np.divide(mean, sd, out=np.sign(mean) * np.inf, where=sd > 0)),
        }
    )[LABELS + FIGURES]


def _embedding(task: Task) -> KeyedVectors:
    """The embedding of a task, debiased."""
    name, debiasing = task.settings["embedding"], plain_json(task.settings["debiasing"])
    functions = tuple(method.run for method in methods_from_outside([task.settings["debiasing"]]))
    return _loaded(name, debiasing, functions, task.files.get(name))


@lru_cache(1)
def _loaded(
    name: str, debiasing: str, functions: tuple[Callable[..., Any], ...], state: tuple[int, int, str] | None
) -> KeyedVectors:
    """An embedding, debiased; the last one stays loaded, until its file or a method from outside is another."""
    return debiased(load_embedding(name), from_json(debiasing))


def _contrast_rows(post: xr.DataTree, population: str) -> pd.DataFrame:
    """Every contrast of a fit with associated words or, where it has none, with its first connection."""
    names = post["constant_data"]["connection"].to_numpy().tolist()
    pairs = [("associated", other) for other in beside_associated(Fit(post))]
    pairs = pairs or [(names[0], name) for name in names[1:]]
    columns = LABELS + FIGURES
    pieces = [
        contrasts(post, *pair, population=population).assign(contrast=" - ".join(pair))[columns] for pair in pairs
    ]
    return pd.concat(pieces, ignore_index=True) if pieces else pd.DataFrame(columns=columns)


def _collected(folder: Path, plan: SweepPlan, tasks: Sequence[Task]) -> Sweep:
    """All records as tables, in the order of the plan, written beside them."""
    digest, fits, rows = sha256(), [], []
    for task in tasks:
        record = record_of(folder, task.name)
        if record is None:
            raise InputError(f"the record of the fit {task.name} is gone from {folder}: run the sweep again")
        digest.update(plain_json({key: record[key] for key in HASHED}).encode())
        settings = {
            key: plain_json(value) if isinstance(value, dict) else value for key, value in task.settings.items()
        }
        said = {name: "; ".join(record[name]) for name in ("faults", "notes")}
        details = {"status": record["status"], "reason": record["reason"], **said, "seconds": record["seconds"]}
        fits.append({"fit": task.name, **settings, **details})
        rows += [[task.name, *settings.values(), *row] for row in record["contrasts"]]
    table = pd.DataFrame(rows, columns=["fit", *SETTINGS, *LABELS, *FIGURES])
    text = [name for name in table if name not in {"seed", *FIGURES}]
    table = table.astype(dict.fromkeys(text, "string") | dict.fromkeys(FIGURES, "float64"))
    with whole_file(folder / CONTRASTS) as temporary:
        table.to_parquet(temporary, index=False)
    manifest = from_json(read_text(folder / MANIFEST)) | {"hash": digest.hexdigest(), "finished": len(tasks)}
    write_text(folder / MANIFEST, to_json(manifest, indent=1))
    return Sweep(folder, pd.DataFrame(fits), table, digest.hexdigest(), plan.save)
