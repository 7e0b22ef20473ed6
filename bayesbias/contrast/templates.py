"""``template_effects``: how a contrast of words in sentences depends on the template."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import xarray as xr

from bayesbias._support.arguments import probability
from bayesbias._support.phrases import MINUS, excludes_zero, negatives, order_said, order_unknown, percent, signed
from bayesbias._support.results import Result
from bayesbias.checks.summaries import PROB, contrasted, describe, flat_draws
from bayesbias.contrast.contrast import connections_of, contrast_draws
from bayesbias.distances.dataframe import ATTRIBUTE_TEMPLATE, TEMPLATE
from bayesbias.errors import InputError, many
from bayesbias.models.layout import TEMPLATES
from bayesbias.models.template_variation import template_notes
from bayesbias.models.tree import Fit
from bayesbias.models.weights import whole_weights
from bayesbias.numerics.arrays import FloatArray

TEMPLATE_COLUMNS = ["template", "side", "contrast", "se"]
ENOUGH = 0.1  # share of an interval's variance below which templates are enough
MOST = 1000
ORDERS = 20_000  # draws of errors, among which it is counted how often each template is the lowest


@dataclass(frozen=True, repr=False, eq=False)
class TemplateEffects(Result):
    """Dependence of one contrast on the templates.

    Attributes
    ----------
    contrast
        The two connections.
    by_template
        One row a template: ``template``, ``side`` (``both`` words, or the ``protected`` or ``attribute`` word where
        templates are crossed), ``contrast`` (in that template, for these words) and ``se`` (what single attribute
        words add to differences between templates; NaN where it is not known).
    whole
        Draws (D,) of the contrast for templates like these.
    sd
        Draws (D,) of the standard deviation of the contrast over templates like these; empty for sentences of a corpus.
    share
        Share of the variance of the whole list's interval that is due to the choice of templates, or of sentences.
    templates
        How many templates there are.
    post
        The fit.
    notes
        What limits the result.
    """

    picture: ClassVar[str] = "plot_templates"

    contrast: tuple[str, str]
    by_template: pd.DataFrame
    whole: FloatArray
    sd: FloatArray
    share: float
    templates: int
    post: xr.DataTree
    notes: tuple[str, ...]

    def table(self) -> pd.DataFrame:
        """The contrast in each template: ``by_template``."""
        return self.by_template

    def needed(self, share: float = ENOUGH) -> int | None:
        """Number of templates that bring their share of the variance under ``share``; None for more than 1,000."""
        share = probability(share, "share")
        if not len(self.sd):
            raise InputError("sentences of a corpus are no templates: draw more of them with contexts(per_word=...)")
        words = float(self.whole.var()) * (1 - self.share)
        most = self.share * float(self.whole.var()) * self.templates
        count = int(np.ceil(most * (1 - share) / (share * words))) if words > 0 else MOST + 1
        return max(count, 1) if count <= MOST else None

    @property
    def kind(self) -> str:
        """Name of that over which contrasts vary: templates, or sentences of a corpus."""
        return "templates" if len(self.sd) else "sentences"

    def _question(self) -> str:
        first, second = self.contrast
        return f"Does the contrast {first}{MINUS}{second} depend on the {self.kind}?"

    def sources(self) -> tuple[Any, ...]:
        """Those of the fit."""
        return (self.post,)

    def findings(self, prob: float = PROB) -> list[str]:
        first, second = self.contrast
        row = describe(self.whole[:, None], probability(prob, "prob"))
        interval = f"{percent(prob)} interval {signed(row['low'][0])} to {signed(row['high'][0])}"
        what = self.kind
        contrast = f"the contrast {first}{MINUS}{second} for {what} like these"
        told = {name: value[0] for name, value in row.items()}
        closer = "closer" if told["mean"] < 0 else "less close"
        sentences = [
            f"{first.capitalize()} words are {closer} than {second} words by {signed(abs(told['mean']))}: {contrast} "
            f"is {signed(told['mean'])} ({interval})."
            if excludes_zero(told)
            else f"Whether {first} or {second} words are closer is not known: {contrast} is {signed(told['mean'])} "
            f"({interval}, which includes 0; negative: {first} words are closer).",
            f"The choice of {what} is the source of {100 * self.share:.0f}% of the variance of that interval.",
        ]
        for side, part in self.by_template.groupby("side", sort=False):
            if len(part) < 2:
                continue
            names = [repr(str(name)) for name in part["template"]]
            values, se = part["contrast"].to_numpy(float), part["se"].to_numpy(float)
            kind = f"{len(part):,} templates{'' if side == 'both' else f' of the {side} word'}"
            draws = values + se * np.random.default_rng(0).standard_normal((ORDERS, len(part)))
            sentences.append(
                order_unknown("contrast", names, values, kind)
                if np.isnan(se).any()  # errors that are not known tell no order
                else order_said("contrast", names, draws, kind, (1 + prob) / 2)
            )
        if len(self.sd):
            summary = describe(self.sd[:, None], prob)
            count = self.needed()
            sentences.append(
                f"Its standard deviation over templates like these is {signed(summary['mean'][0])} ({percent(prob)} "
                f"interval {signed(summary['low'][0])} to {signed(summary['high'][0])})."
            )
            if self.share > ENOUGH:
                number = f"More than {MOST:,} templates" if count is None else many(count, "template")
                sentences.append(
                    f"{number} like these would be needed to bring their share of the variance below {ENOUGH:.0%}."
                )
        return [negatives(sentence) for sentence in sentences]

    def text(self, prob: float = PROB) -> str:
        return " ".join([*self.findings(prob), *self.notes])


def template_effects(post: xr.DataTree, first: str = "associated", second: str | None = None) -> TemplateEffects:
    """Dependence of a contrast on the template, and the share of its interval that the choice of templates causes.

    Parameters
    ----------
    post
        A fit of a table of words in sentences.
    first, second
        Connections, as in :func:`contrasts`.

    Returns
    -------
    TemplateEffects
        ``table()``, ``text()``, ``share``, ``sd``, ``needed()``; :func:`plot_templates` draws it.

    Examples
    --------
    >>> def letters(texts):  # a stand-in for a model: how often each letter stands in a text
    ...     return [[text.count(letter) + 0.1 for letter in "abcdefghijklmnopqrstuvwxyz"] for text in texts]
    >>> vectors = bb.encode(letters, "religion", "mention", vocabulary=60)
    >>> post = bb.fit(bb.distance_table(vectors, "religion", relatedness=False), seed=0)
    >>> bb.template_effects(post).table()["template"].tolist()[:2]
    ['the word is', 'people talk about']
    """
    result = Fit.read(post)
    if TEMPLATES not in result.tree.children:
        raise InputError("the fit knows no templates: fit a table that distance_table made of what encode returns")
    names, filled = connections_of(result)
    first, second = contrasted(first, second, names, filled)
    group = result.tree[TEMPLATES].to_dataset()
    a, b = names.index(first), names.index(second)
    whole, templates = contrast_draws(result, first, second), int(group.attrs["templates"])
    weights = whole_weights(result.data, filled[:, [a, b]].all(axis=1))
    shifts = np.nan_to_num(flat_draws(group["word_shift"].to_numpy()))
    shift = (shifts[:, :, a] - shifts[:, :, b]) @ weights
    parts = []
    crossed = ATTRIBUTE_TEMPLATE in group.coords
    for label, side in ((TEMPLATE, "protected" if crossed else "both"), (ATTRIBUTE_TEMPLATE, "attribute")):
        if f"contrast_{label}" not in group:
            continue
        # contrasts with the first connection
        effects = np.column_stack([np.zeros(group.sizes[label]), group[f"contrast_{label}"].to_numpy()])
        noise = np.append(0.0, group[f"noise_{label}"].to_numpy())
        variance = noise[a] + noise[b] if 0 in (a, b) else np.nan
        parts.append(
            pd.DataFrame(
                {
                    "template": pd.array(group[label].to_numpy().astype(str), dtype="string"),
                    "side": side,
                    "contrast": effects[:, b] - effects[:, a],
                    "se": np.sqrt(variance),
                }
            )
        )
    sd = np.empty(0)
    if "sd" in group:
        every = np.column_stack([np.zeros(len(whole)), flat_draws(group["sd"].to_numpy())])
        # of two other connections: their errors are drawn together
        sd = every[:, [a, b]].max(axis=1) if 0 in (a, b) else np.full(len(whole), shift.std() * np.sqrt(templates))
    by_template = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=TEMPLATE_COLUMNS)
    by_template.attrs = {"first": first, "second": second, "measured": result.measured, "labels": result.labels}
    return TemplateEffects(
        contrast=(first, second),
        by_template=by_template,
        whole=whole,
        sd=sd,
        share=float(min(shift.var() / whole.var(), 1.0)),
        templates=templates,
        post=post,
        notes=tuple(template_notes(result)),
    )
