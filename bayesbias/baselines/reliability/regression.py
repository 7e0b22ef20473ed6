"""``reliability_regression``: what the reliability of bias scores depends on, as a multilevel regression."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import xarray as xr

from bayesbias._support.arguments import probability, several, text
from bayesbias._support.files import to_json
from bayesbias.checks.summaries import PROB, describe, flat_draws
from bayesbias.checks.variance_components import MARGINAL, draw_sds
from bayesbias.errors import InputError
from bayesbias.models.fits import checked_draws, used_seed
from bayesbias.models.tree import versions_of
from bayesbias.numerics.arrays import FloatArray, IntArray
from bayesbias.numerics.statistics import draw_effects, log_density_of_sds, mixed_sums
from bayesbias.results import Note, Result
from bayesbias.vectors.lookup import left_out

FEATURES = (
    "measure", "log_frequency", "log_frequency_squared", "log_senses", "part_of_speech",
    "nn_similarity", "l2_norm", "stability",
)  # fmt: skip
"""The study's."""
SQUARES = {"log_frequency_squared": "log_frequency"}
FIXED_SD = 2.5
"""Prior sd of intercept and coefficients, in sds of the outcome."""
GUESS = 0.5
"""Sd, in sds of the outcome, from which the search for the mode begins."""
TIED = 1e-9
"""Singular value of unit columns below which one follows from the others."""
STEP = ("chain", "draw")
INTERCEPT, FIXED, RESIDUAL, TOTAL = "intercept", "fixed effects", "residual", "total"
"""Names of rows that stand for no feature and no grouping."""
FEW_LEVELS = 5
"""Levels of a grouping below which they cannot tell how much levels differ."""


@dataclass(frozen=True, repr=False, eq=False)
class ReliabilityRegression(Result):
    """Regression of reliability on features of words, by :func:`reliability_regression`.

    Shares of the variance, draw by draw, are of V: the variance over the rows (ddof 1) of the fixed effects' sum, plus
    the squared sds of groupings and residuals. ``fixed effects`` is the first of these (marginal R²), ``total`` all but
    the residual (conditional R²). A feature's own share is b'Cb / V, with b its coefficients and C the covariance of
    what its columns hold beyond the other features': the squared semi-partial correlation.

    Attributes
    ----------
    rows
        One row a term, as in the study's Table 2: ``term`` and ``part``; ``mean``, ``sd``, ``low``, ``high``
        (equal-tailed interval) of a coefficient, or of the sd of residuals or of a grouping's effects, in units of
        the outcome; ``r2``, ``r2_low``, ``r2_high``, the share of the variance, where the row stands for a whole part.
    posterior
        ArviZ groups. ``posterior``: ``coefficient`` (term), ``group_sd`` (factor), ``residual_sd``, ``r2`` (part), and
        the effects of each grouping, such as ``algorithm_effect`` (algorithm_level).
    references, levels
        Text column to its reference level, and grouping to its number of levels.

    References
    ----------
    Nakagawa, S. and Schielzeth, H. (2013). A general and simple method for obtaining R² from generalized linear
    mixed-effects models. Methods in Ecology and Evolution 4(2). https://doi.org/10.1111/j.2041-210x.2012.00261.x
    """

    picture: ClassVar[str] = "forest"

    outcome: str
    rows: pd.DataFrame
    posterior: xr.DataTree
    references: Mapping[str, str]
    levels: Mapping[str, int]
    prob: float
    notes: tuple[Note, ...]

    def caption(self) -> str:
        """Subject and unit of the numbers."""
        return f"Regression of {self.outcome}: coefficients and sds; r2: share of the variance"

    def header(self) -> dict[str, object]:
        """Facts of what was measured."""
        return {
            "rows": self.posterior["observed_data"].sizes["row"],
            "levels": [f"{name} {count}" for name, count in self.levels.items()],
            "compared with": [f"{name} {level}" for name, level in self.references.items()],
            "intervals": f"{self.prob:.0%}",
        }

    def table(self) -> pd.DataFrame:
        """One row a term: ``rows``."""
        return self.rows

    def summary(self) -> pd.DataFrame:
        """The same without parts."""
        return self.rows.drop(columns="part")

    def drawn_from(self) -> tuple[Any, dict[str, Any]]:
        """The shares of the variance."""
        columns = {"rows": "term", "value": "r2", "low": "r2_low", "high": "r2_high"}
        return self.rows.dropna(subset="r2"), {**columns, "label": f"share of the variance of {self.outcome}"}


def reliability_regression(
    table: pd.DataFrame,
    outcome: str = "value",
    features: Sequence[str] | None = None,
    groups: Sequence[str] = ("algorithm", "corpus"),
    draws: int = 4000,
    chains: int = 4,
    seed: int | None = 0,
    prob: float = PROB,
) -> ReliabilityRegression:
    """Reliability scores explained by features, with an effect of each level of crossed groupings.

    score = intercept + coefficients x features + effects of its levels + residual, the last two normal. Numbers are
    z-scored (ddof 1); ``log_frequency_squared`` is the square of the z-scored ``log_frequency`` of these rows; levels
    of text are compared with the first in alphabetical order. Priors in sds of the outcome: coefficients
    normal(0, 2.5), intercept normal(mean, 2.5), sds exponential with mean 1. The sds are drawn by
    importance sampling with all else integrated out, which then follows exactly. Bambi, which samples
    all effects by NUTS, takes hundreds of times as long, and diverges where a grouping has two levels.

    Parameters
    ----------
    table
        One row a score. Rows that lack a value are left out, and the notes say so.
    outcome
        Column of the scores.
    features
        Columns of numbers or text; None takes those of the study (``measure``, those of :func:`word_features`,
        ``log_senses``, ``part_of_speech``), where they hold values.
    groups
        Columns of groupings; ``()`` for none.
    draws, chains, seed
        As in :func:`fit`.
    prob
        Mass of the intervals.

    References
    ----------
    Du, Y., Fang, Q. and Nguyen, D. (2021). Assessing the reliability of word embedding gender bias measures. EMNLP.
    https://doi.org/10.18653/v1/2021.emnlp-main.785

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> table = pd.DataFrame({"frequency": rng.normal(size=60), "algorithm": ["sgns", "cbow"] * 30})
    >>> table["corpus"] = ["a", "b", "c"] * 20
    >>> table["value"] = 0.5 * table["frequency"] + rng.normal(size=60)
    >>> found = bb.reliability.reliability_regression(table, features=["frequency"], draws=400)
    >>> type(found).__name__
    'ReliabilityRegression'
    """
    draws, chains = checked_draws(draws, chains)
    seed_used, prob = used_seed(seed), probability(prob, "prob")
    group_names = list(dict.fromkeys(text(name, "groups") for name in several(groups)))
    chosen, absent = _chosen(table, text(outcome, "outcome"), features, group_names)
    missing = table[list(dict.fromkeys([outcome, *(SQUARES.get(name, name) for name in chosen), *group_names]))].isna()
    lost = missing.any(axis=1)
    named = [f"{name} ({n:,})" for name, n in missing.sum().items() if n]
    if lost.all():
        raise InputError(f"each of the {len(table):,} rows lacks a value ({', '.join(named)}): name other columns")
    rows, left = table[~lost], left_out(int(lost.sum()), len(table), "rows", "no value", named)
    y = _numbers(rows[outcome], outcome)
    columns, parts, references = _design(rows, chosen)
    groupings = {name: _levels(rows[name], name) for name in group_names}
    names = {name: labels for name, (_, labels) in groupings.items()}
    if like_residuals := [name for name, labels in names.items() if len(labels) == len(rows)]:
        raise InputError(
            f"{like_residuals[0]} differs in every row, like the residuals: name the other groupings in groups="
        )
    centre, spread = float(y.mean()), float(y.std(ddof=1))
    sums = mixed_sums(columns.to_numpy(), (y - centre) / spread, [codes for codes, _ in groupings.values()])
    rng = np.random.default_rng(seed_used)
    sds, stats, faults = draw_sds(
        lambda sds: log_density_of_sds(sums, sds, FIXED_SD),
        np.ones(1 + len(names)),
        np.full(1 + len(names), GUESS),
        chains,
        draws // chains,
        rng,
    )
    drawn, effects = draw_effects(sums, flat_draws(sds), FIXED_SD, rng)
    coefficient, *others = (spread * part.reshape(*sds.shape[:2], -1) for part in [drawn, *effects])
    values = {"coefficient": coefficient, "group_sd": spread * sds[:, :, 1:], "residual_sd": spread * sds[:, :, 0]}
    values |= {f"{name}_effect": effect for name, effect in zip(names, others, strict=True)}
    values["coefficient"][:, :, 0] += centre
    shares = _variance_shares(columns.to_numpy(), parts, values, list(names))
    tree = _tree(values, shares, stats, columns.columns.tolist(), names, rows[outcome])
    tree.attrs = {"outcome": outcome, "seed": seed_used, "versions": to_json(versions_of(MARGINAL))}
    notes = [*faults, *absent, *left]
    if "word" in rows and "word" not in group_names and rows["word"].duplicated().any():
        notes.append(Note("independent", what="rows of one word", reason="'word' is no grouping"))
    few = {name: len(labels) for name, labels in names.items() if len(labels) < FEW_LEVELS}
    notes += [Note("few-levels", count=count, factor=f"levels of {name}") for name, count in few.items()]
    return ReliabilityRegression(
        outcome=outcome,
        rows=_table_of_terms(columns.columns.tolist(), parts, values, shares, list(names), prob),
        posterior=tree,
        references=references,
        levels={name: len(labels) for name, labels in names.items()},
        prob=prob,
        notes=tuple(notes),
    )


def _variance_shares(
    columns: FloatArray, parts: Sequence[str], values: Mapping[str, FloatArray], groups: Sequence[str]
) -> dict[str, FloatArray]:
    """Part to its share of the variance (chain, draw), given the design (rows, terms) of the fixed effects.

    ``parts`` are the features of the terms, the intercept first; ``values`` has draws (chain, draw, ...) of
    ``coefficient`` (term), ``group_sd`` (factor) and ``residual_sd``.
    """
    covariance = np.atleast_2d(np.cov(columns[:, 1:], rowvar=False, ddof=1))
    coefficient, features = values["coefficient"][:, :, 1:], np.array(parts[1:])

    variances = {}
    for name in (*dict.fromkeys(parts[1:]), FIXED):
        own = (features == name) | (name == FIXED)
        shared = covariance[np.ix_(own, ~own)]
        explained = shared @ np.linalg.solve(covariance[np.ix_(~own, ~own)], shared.T)
        some = coefficient[:, :, own]
        variances[name] = np.vecdot(some @ (covariance[np.ix_(own, own)] - explained), some)
    variances |= {name: values["group_sd"][:, :, i] ** 2 for i, name in enumerate(groups)}
    variances[RESIDUAL] = values["residual_sd"] ** 2
    whole = sum(variances[name] for name in (FIXED, *groups, RESIDUAL))
    shares = {name: variance / whole for name, variance in variances.items()}
    return shares | {TOTAL: 1 - shares[RESIDUAL]}


def _table_of_terms(
    terms: Sequence[str],
    parts: Sequence[str],
    values: Mapping[str, FloatArray],
    shares: Mapping[str, FloatArray],
    groups: Sequence[str],
    prob: float,
) -> pd.DataFrame:
    """Coefficients and sds with the shares of the variance, in the order of the terms."""
    sds = np.concatenate([values["group_sd"], values["residual_sd"][:, :, None]], axis=2)
    drawn = np.concatenate([values["coefficient"], sds], axis=2)
    numbers = pd.DataFrame(describe(flat_draws(drawn), prob), index=[*terms, *groups, RESIDUAL])
    part_of = dict(zip([*terms, *shares], [*parts, *shares], strict=True))
    order = [INTERCEPT]
    for name in shares:
        order += dict.fromkeys([name, *(term for term, part in part_of.items() if part == name)])
    described = describe(flat_draws(np.stack(list(shares.values()), axis=2)), prob)
    r2 = pd.DataFrame({"r2": described["mean"], "r2_low": described["low"], "r2_high": described["high"]})
    table = numbers.reindex(order).join(r2.set_axis(list(shares))).rename_axis("term").reset_index()
    table.insert(1, "part", [part_of[term] for term in order])
    return table


def _chosen(
    table: pd.DataFrame, outcome: str, features: Sequence[str] | None, groups: Sequence[str]
) -> tuple[list[str], list[Note]]:
    """The features, and a note on those of the study that are not there."""
    named = (text(name, "features") for name in several(FEATURES if features is None else features))
    names, notes = list(dict.fromkeys(named)), list[Note]()
    if features is None:
        lost = [
            name
            for name in names
            if SQUARES.get(name, name) not in table or table[SQUARES.get(name, name)].isna().all()
        ]
        names = [name for name in names if name not in lost]
        notes = left_out(len(lost), len(FEATURES), "features", "no value", lost)
    if not names:
        raise InputError(f"there is no feature: name columns of the table, such as {', '.join(FEATURES)}")
    every = [outcome, *names, *groups]
    if len(set(every)) < len(every) or {INTERCEPT, FIXED, RESIDUAL, TOTAL} & set(every):
        own = f"call none {INTERCEPT!r}, {FIXED!r}, {RESIDUAL!r} or {TOTAL!r}"
        raise InputError(f"outcome, features and groups are {', '.join(every)}: give each column one part, and {own}")
    return names, notes


def _numbers(column: pd.Series, name: str) -> FloatArray:
    """Finite numbers that vary."""
    values = column.to_numpy(dtype=np.float64)
    if not np.isfinite(values).all():
        raise InputError(f"{name} holds an infinite number: leave out such rows")
    return _varied(values, name)


def _varied[Values: np.ndarray](values: Values, name: str) -> Values:
    if (values == values[0]).all():
        raise InputError(f"{name} is {values[0]} in every row: leave it out")
    return values


def _levels(column: pd.Series, name: str) -> tuple[IntArray, list[str]]:
    """Number of each row's level, and the levels in alphabetical order."""
    texts = _varied(column.astype(str).to_numpy(dtype=object), name)
    labels, codes = np.unique(texts, return_inverse=True)
    return codes, labels.tolist()


def _design(rows: pd.DataFrame, features: Sequence[str]) -> tuple[pd.DataFrame, list[str], dict[str, str]]:
    """Fixed effects, a column a term: standardised numbers, and indicators of the levels of text beside the first.

    With them the feature of each term, and of each feature of text the level that the others are compared with.
    """
    columns, parts = {INTERCEPT: np.ones(len(rows))}, [INTERCEPT]
    compared: dict[str, str] = {}
    for name in features:
        column = rows[SQUARES.get(name, name)].infer_objects()
        if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
            values = _numbers(column, name)
            values = (values - values.mean()) / values.std(ddof=1)
            columns[name] = _numbers(pd.Series(values**2), name) if name in SQUARES else values
        else:
            codes, (compared[name], *others) = _levels(column, name)
            for level, other in enumerate(others, 1):
                columns[f"{name}[{other}]"] = (codes == level).astype(np.float64)
        parts += [name] * (len(columns) - len(parts))
    design, (_, *terms) = np.column_stack(list(columns.values())), columns
    root = np.linalg.qr(design / np.linalg.norm(design, axis=0), mode="r")
    if np.linalg.matrix_rank(root, tol=TIED) < len(columns) or len(rows) == len(columns):
        raise InputError(
            f"of the {len(columns)} terms {', '.join(terms)} some follow from others in {len(rows)} rows: leave out "
            "features"
        )
    return pd.DataFrame(columns), parts, compared


def _tree(
    values: Mapping[str, FloatArray],
    shares: Mapping[str, FloatArray],
    stats: Mapping[str, FloatArray | float],
    terms: list[str],
    names: Mapping[str, list[str]],
    outcome: pd.Series,
) -> xr.DataTree:
    """Draws, statistics of the sampler and data with ArviZ's groups."""
    dims = {"coefficient": ("term",), "group_sd": ("factor",)} | {
        f"{name}_effect": (f"{name}_level",) for name in names
    }
    variables = {name: ((*STEP, *dims.get(name, ())), value) for name, value in values.items() if value.size}
    coords = {"term": terms, "part": list(shares), **{f"{name}_level": names[name] for name in names}}
    steps = {name: np.arange(size) for name, size in zip(STEP, values["residual_sd"].shape, strict=True)}
    return xr.DataTree.from_dict(
        {
            "/posterior": xr.Dataset(
                variables | {"r2": ((*STEP, "part"), np.stack(list(shares.values()), axis=2))},
                steps | coords | ({"factor": list(names)} if names else {}),
            ),
            "/sample_stats": xr.Dataset(
                {name: (STEP[: np.ndim(value)], value) for name, value in stats.items()}, steps
            ),
            "/observed_data": xr.Dataset({str(outcome.name): ("row", outcome.to_numpy(dtype=np.float64))}),
        }
    )
