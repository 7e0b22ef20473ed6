"""``TwoStage``: options that pools, trends and criteria share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bayesbias._support.arguments import one_of
from bayesbias.errors import InputError, shown
from bayesbias.models.fits import checked_draws

WEIGHTS = ("equal", "precision")
"""Weights of the estimates in a mean over embeddings, or in a line through them."""
CHAINS = 4
"""Chains into which draws are divided for ArviZ; all draws are independent."""


def name_of_attribute(adjust: object) -> str:
    """The name of an attribute of words that is adjusted for; empty without any."""
    if adjust is None or isinstance(adjust, str):
        return adjust or ""
    if not isinstance(adjust, Mapping) or len(adjust) != 1:
        raise InputError(
            f"adjust is {shown(adjust)}: give 'frequency', 'length', or a mapping with one entry, the name of an "
            "attribute and the number of each word"
        )
    return str(next(iter(adjust)))


@dataclass(frozen=True)
class TwoStage:
    """Options of a two-stage analysis: estimates first, then a model of these estimates.

    Attributes
    ----------
    adjust, frequencies
        An attribute of words that is adjusted for, and where frequencies come from, as in :func:`fit`. Pools and trends
        adjust the distances of each embedding, and ``frequencies`` may be a mapping of names of tables to what
        :func:`fit` takes. A criterion relates places and values among words with the same value of the attribute, and
        takes words' numbers as the attribute too.
    weights
        ``"equal"``: a pool's mean is the plain one of the estimates, in which groups weigh the same, settings within a
        group and replicates within a setting, and only deviations from it are pooled; a trend is an ordinary line, or
        for a walk the plain mean, around which levels are pooled. ``"precision"``: generalised least squares, which is
        better if the covariance of the errors is exact, and may put a mean or a line outside all estimates.
    draws
        Draws in all, a multiple of 4, which are independent.

    References
    ----------
    Burke, D. L., Ensor, J. and Riley, R. D. (2017). Meta-analysis using individual participant data: one-stage and
    two-stage approaches, and why they may differ. Statistics in Medicine 36. https://doi.org/10.1002/sim.7141

    Examples
    --------
    >>> tables = bb.distance_tables({"google": "google-news-slice", "glove": "glove-50d-slice"}, "weat7")
    >>> pool = bb.pool(tables, stages=bb.checks.TwoStage(weights="precision", draws=1000))
    >>> pool.weights
    'precision'
    """

    adjust: str | Mapping[str, Mapping[str, float]] | None = None
    frequencies: Any = None
    weights: str = "equal"
    draws: int = 4000

    def __post_init__(self) -> None:
        if self.adjust is None and self.frequencies is not None:
            raise InputError("frequencies are given, but nothing is adjusted for: give adjust='frequency' too")
        name_of_attribute(self.adjust)
        one_of(self.weights, WEIGHTS, "weights")
        checked_draws(self.draws, CHAINS)


DEFAULT = TwoStage()


def checked_stages(stages: object) -> TwoStage:
    """The options of a two-stage analysis."""
    if isinstance(stages, TwoStage):
        return stages
    raise InputError(
        f"stages is {shown(stages)}: give options of both stages, such as checks.TwoStage(adjust='frequency')"
    )
