"""Which settings of training move a bias."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import pandas as pd

from bayesbias._checks import flag, printable, probability, text, whole_number
from bayesbias._core.vectors import FloatArray, unit_rows
from bayesbias._phrases import share
from bayesbias._results import Result
from bayesbias.checks.summaries import PROB, describe, flat_draws
from bayesbias.checks.variance_components import Components, Layout, component_table, draw_components
from bayesbias.embeddings import Embedding, Setting, opened
from bayesbias.embeddings.lookup import in_all
from bayesbias.errors import InputError

if TYPE_CHECKING:
    import xarray as xr
    from gensim.models import KeyedVectors


FACETS = Setting._fields
RANDOM_PAIRS = 1000


def by_setting(kvs: Mapping[Any, Embedding]) -> dict[Setting, KeyedVectors]:
    """Setting to embedding, by corpus, algorithm, dimensions and seed."""
    if not isinstance(kvs, Mapping) or not kvs:
        shown = "empty" if isinstance(kvs, Mapping) else type(kvs).__name__
        raise InputError(
            f"kvs is {shown}: give a mapping of settings (corpus, algorithm, dims, seed) to "
            "embeddings, such as train_embeddings returns"
        )
    embeddings = {}
    for key, source in kvs.items():
        if not isinstance(key, tuple) or len(key) != len(FACETS):
            raise InputError(
                f"{key!r} is no setting: give (corpus, algorithm, dims, seed), such as ('wiki', 'sgns', 100, 0)"
            )
        corpus, algorithm, dims, seed = key
        names = printable(str(corpus), "corpus"), printable(str(algorithm), "algorithm")
        setting = Setting(*names, whole_number(dims, "dims"), whole_number(seed, "seed", least=0, most=None))
        kv = opened(source)
        if kv.vector_size != setting.dims:
            raise InputError(f"{setting.label} says {setting.dims} dimensions, and its vectors have {kv.vector_size}")
        if setting in embeddings:
            raise InputError(f"{setting.label} is given twice: give each setting once")
        embeddings[setting] = kv
    return dict(sorted(embeddings.items(), key=lambda item: (item[0].corpus, item[0].algorithm, item[0][2:])))


def baselines(named: Mapping[Setting, KeyedVectors], pairs: int, rng: np.random.Generator) -> tuple[FloatArray, int]:
    """Mean |cosine| (settings,) of random pairs of words that all embeddings hold, the same for all, and words."""
    common, _ = in_all(next(iter(named.values())).index_to_key, named.values(), "words")
    if len(common) < 2:
        raise InputError(f"the embeddings share {len(common)} words: give embeddings with words in common")
    first = rng.integers(len(common), size=pairs)
    second = (first + rng.integers(1, len(common), size=pairs)) % len(common)
    means = []
    for kv in named.values():
        rows = np.array([kv.key_to_index[word] for word in common])
        left, right = (unit_rows(kv.vectors[rows[places]]) for places in (first, second))
        means.append(np.abs(np.vecdot(left, right)).mean())
    return np.array(means), len(common)


SETTINGS = ("algorithm", "dims", "seed")
FACET_NAMES = ("corpus", *SETTINGS, "word_list")
FEW = 5


@dataclass(frozen=True, repr=False, eq=False)
class SettingComponents(Result):
    """Posterior of what a measure varies with over settings: what :func:`setting_components` returns.

    Attributes
    ----------
    posterior
        DataTree with ``component_sd`` and ``finite_population_sd`` (chain, draw, component), in the measure's unit
        (of its logarithm, if that was taken).
    components
        Facets of each component, in the order of the posterior's.
    sizes
        Levels of each facet that varies.
    notes
        What the table leaves open, and faults of the draws.
    """

    picture: ClassVar[str] = "plot_components"

    posterior: xr.DataTree
    components: Components
    sizes: dict[str, int]
    notes: tuple[str, ...] = ()

    def table(self, prob: float = PROB) -> pd.DataFrame:
        """Each component's standard deviation and its share of the variance.

        Columns ``component``, ``sd``, ``low``, ``high``, ``share``, ``share_low``, ``share_high`` (of the levels at
        hand, with intervals) and ``population_sd``, ``population_low``, ``population_high`` (of levels like these).
        """
        return component_table(self.posterior, probability(prob, "prob"), finite_population=True)

    def claims(self, prob: float = PROB) -> pd.DataFrame:
        """Whether settings outweigh corpora, as posterior statements about the observed levels.

        Returns
        -------
        DataFrame
            A row a statement: ``statement``, ``probability`` that it is true, and ``ratio`` with ``low`` and ``high``,
            that side's standard deviation over that of the corpora, both over the numbers at hand (the sums of squares
            of :meth:`table`), with what they add from list to list of words. *Settings* are algorithm and dimensions;
            what they add from corpus to corpus changes how corpora compare, and is left out where a single seed cannot
            tell it from the chance of training. Seeds are single trainings.
        """
        prob = probability(prob, "prob")
        if "corpus" not in self.sizes or not set(SETTINGS) & self.sizes.keys():
            raise InputError(f"the table varies by {', '.join(self.sizes)}: several corpora and settings are needed")
        corpus = self._variance(partial(_is_alone, "corpus"))
        rows = []
        for statement, belongs in _statements([name for name in SETTINGS if name in self.sizes]).items():
            variance = self._variance(belongs)
            if not variance.any():
                continue
            ratios = np.sqrt(variance / corpus)
            ends = describe(ratios[:, None], prob)
            low, high = (float(ends[name][0]) for name in ("low", "high"))
            rows.append((statement, float((variance > corpus).mean()), float(np.median(ratios)), low, high))
        return pd.DataFrame(rows, columns=["statement", "probability", "ratio", "low", "high"])

    def _variance(self, belongs: Callable[[set[str]], bool]) -> FloatArray:
        """Draws of the variance that components add to the numbers at hand, up to a common factor: sums of squares."""
        constant = self.posterior["constant_data"]
        weight = (constant["freedom"] * constant["shared_by"]).to_numpy()
        parts = flat_draws(self.posterior["posterior/finite_population_sd"].to_numpy()) ** 2 * weight
        # without seeds the last component is the chance of training as much as anything else
        known = self.components if "seed" in self.sizes else self.components[:-1]
        total: FloatArray = parts[:, [i for i, facets in enumerate(known) if belongs(set(facets))]].sum(axis=1)
        return total

    def findings(self) -> list[str]:
        """The result in sentences, without its notes."""
        table = self.table().sort_values("share", ascending=False).head(3)
        shown = ", ".join(f"{row.component} {row.share:.0%}" for row in table.itertuples())
        parts = [f"Largest shares of the variance between the observed levels: {shown}."]
        if "corpus" in self.sizes and set(SETTINGS) & self.sizes.keys():
            first = self.claims().iloc[0]
            parts.append(f"That {first['statement']} has probability {share(first['probability'])}.")
        return parts


def _statements(varied: list[str]) -> dict[str, Callable[[set[str]], bool]]:
    """Statement to the components whose variance is set beside that of the corpora, for a list of words."""
    statements: dict[str, Callable[[set[str]], bool]] = {}
    others = [name for name in varied if name != "seed"]
    if others:
        statements["settings outweigh corpora"] = lambda facets: _is_of_settings(facets) and "corpus" not in facets
        changed = "settings change how corpora compare by more than corpora differ"
        statements[changed] = lambda facets: _is_of_settings(facets) and "corpus" in facets
    if "seed" in varied:
        statements["seeds outweigh corpora"] = lambda facets: "seed" in facets
    single = others if len(others) > 1 else []
    return statements | {f"{name} alone outweighs corpora": partial(_is_alone, name) for name in single}


def _is_of_settings(facets: set[str]) -> bool:
    """Whether a component is of algorithms or dimensions and of no seeds."""
    return bool(facets & {"algorithm", "dims"}) and "seed" not in facets


def _is_alone(name: str, facets: set[str]) -> bool:
    return facets - {"word_list"} == {name}


def setting_components(
    table: pd.DataFrame,
    value: str = "direct_bias",
    log: bool = False,
    engine: Literal["auto", "marginal", "nuts"] = "auto",
    draws: int = 4000,
    chains: int = 4,
    seed: int | None = None,
) -> SettingComponents:
    """What a measure varies with: corpus, algorithm, dimensions, word list and all their combinations, and the seed.

    The effect of a seed is that of one training, within a corpus, algorithm and dimension.

    Parameters
    ----------
    table
        One row a setting: columns of ``corpus``, ``algorithm``, ``dims``, ``seed``, ``word_list`` (those that are there
        and have several values are facets) and ``value``; such as the table of :func:`direct_bias_study`.
    value
        The column of numbers.
    log
        Whether their logarithm is taken: direct bias decays by a factor with the dimensions.
    engine, draws, chains, seed
        As in :func:`variance_components`; a grid with gaps needs NUTS.

    Returns
    -------
    SettingComponents
        Posteriors of the components, and of the claim that settings outweigh corpora.

    Examples
    --------
    >>> toy = bb.stability.toy_corpus(bias=0.5, sentences=400)
    >>> kvs = bb.stability.train_embeddings(toy, algorithm=["sgns", "cbow"], seeds=2, dims=10, epochs=1)
    >>> study = bb.stability.direct_bias_study(kvs, toy.targets, toy.base_pairs, draws=50, random_pairs=50)
    >>> found = bb.stability.setting_components(study.table(), draws=400, seed=0)
    >>> type(found).__name__
    'SettingComponents'
    """
    facets, y, notes = _grid(table, text(value, "value"), flag(log, "log"))
    spread = float(np.nanstd(y))
    if not spread > 1e-12 * max(float(np.nanmax(np.abs(y))), 1e-300):
        raise InputError(f"{value} does not vary, so that it has no components")
    scaled = (y - np.nanmean(y)) / spread
    # seeds stand within what else an embedding was trained with: seed 0 of two corpora have nothing in common
    within = [name for name in facets if name in ("corpus", "algorithm", "dims")]
    layout = Layout(tuple(facets), nested=("seed", *within) if "seed" in facets and within else ())
    tree, faults = draw_components(scaled, layout, engine, draws, chains, seed)
    for name in ("component_sd", "finite_population_sd"):
        tree["posterior"][name] = tree["posterior"][name] * spread
    sizes = dict(zip(facets, y.shape, strict=True))
    return SettingComponents(tree, layout.components, sizes, (*notes, *faults))


def _grid(table: pd.DataFrame, value: str, log: bool) -> tuple[list[str], FloatArray, list[str]]:
    """Facets that vary, the numbers as an array with one axis a facet, and sentences on what they leave open."""
    if not isinstance(table, pd.DataFrame) or value not in table.columns:
        shown = ", ".join(map(str, table.columns)) if isinstance(table, pd.DataFrame) else type(table).__name__
        raise InputError(f"there is no column {value!r}, given is {shown}: give a table of settings and its column")
    known = {name: sorted(table[name].unique().tolist()) for name in FACET_NAMES if name in table.columns}
    facets = [name for name, levels in known.items() if len(levels) > 1]
    if len(facets) < 2:
        raise InputError(
            f"the table varies by {' and '.join(facets) or 'no facet'} only: give several values of two of "
            f"{', '.join(FACET_NAMES)}"
        )
    numbers = pd.to_numeric(table[value], errors="coerce").to_numpy(dtype=float)
    if not np.isfinite(numbers).all() or (log and not (numbers > 0).all()):
        kind = "positive" if log else "finite"
        bad = table.index[~np.isfinite(numbers) | (log & (numbers <= 0))][0]
        raise InputError(f"row {bad}, column {value!r} holds {table.loc[bad, value]}: every number must be {kind}")
    levels = [known[name] for name in facets]
    codes = tuple(pd.Index(known[name]).get_indexer(table[name]) for name in facets)
    if table.duplicated(facets).any():
        twice = table.loc[table.duplicated(facets), facets].iloc[0].to_dict()
        raise InputError(f"two rows have one setting, {twice}: give one row a setting")
    y = np.full([len(level) for level in levels], np.nan)
    y[codes] = np.log(numbers) if log else numbers
    few = [f"{len(known[name])} of {name}" for name in facets if len(known[name]) < FEW and name != "word_list"]
    notes = [f"There are {', '.join(few)}: what further ones would do rests on the prior too."] if few else []
    if "seed" not in facets and "corpus" in facets:
        notes.append("There is one seed: what settings add from corpus to corpus cannot be told from chance.")
    if gaps := int(np.isnan(y).sum()):
        notes.append(f"{gaps} of {y.size} settings are missing.")
    return facets, y, notes
