"""Templates that several tables share, and what further templates like these would change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from bayesbias.comparison.change_draws import ChangeDraws
from bayesbias.comparison.sides import Matched
from bayesbias.distances.columns import averaged
from bayesbias.distances.dataframe import TEMPLATES, DistanceTable, template_columns
from bayesbias.distances.distances import Distances
from bayesbias.errors import InputError, listed, within
from bayesbias.models.template_variation import change_of_templates, template_errors
from bayesbias.numerics.arrays import FloatArray


def common_templates(
    tables: Mapping[str, pd.DataFrame],
) -> tuple[dict[str, pd.DataFrame], dict[str, pd.DataFrame], tuple[str, ...]]:
    """Mean distances over the templates that all tables with templates have, the tables by template, and notes."""
    if not any(map(template_columns, tables.values())):
        return dict(tables), {}, ()
    by_template = {name: table for name, table in tables.items() if template_columns(table)}
    for name, table in by_template.items():
        with within(name):
            Distances.read(table, check=False)
    notes, restricted = [], False
    for column in TEMPLATES:
        holders = [name for name, table in by_template.items() if column in table]
        names = [set(by_template[name][column].astype(str)) for name in holders]
        shared = set.intersection(*names) if names else set()
        if names and not shared:
            raise InputError(f"the tables of {', '.join(holders)} have no template in common")
        for name, own in zip(holders, names, strict=True):
            if own > shared:
                gone = sorted(own - shared)
                notes.append(f"The templates {listed(gone)} of {name} are not in every table and are left out.")
                restricted = True
                by_template[name] = by_template[name][by_template[name][column].isin(shared)]
    alone = [name for name in tables if name not in by_template]
    if alone:
        notes.append(f"{listed(alone)}: words without sentences, so that templates are those of the other tables only.")
    means = {name: averaged(by_template.get(name, table)) for name, table in tables.items()}
    if restricted:
        # vectors of all templates are not those of some
        means |= {name: DistanceTable(means[name]).without_relatedness() for name in by_template}
    return means, by_template, tuple(notes)


def over_templates(
    changes: list[ChangeDraws], by_template: Mapping[str, pd.DataFrame], matched: Matched, seed: int
) -> list[ChangeDraws]:
    """Changes with what other templates like these would change, integrated over."""
    if not by_template:
        return changes
    data, rng = matched.data, np.random.default_rng([seed, 6])
    widened = []
    for change in changes:
        chains, draws = change.connection_change.shape[:2]
        before, after = (by_template.get(matched.embeddings[i]) for i in (change.before, change.after))
        errors: dict[str, FloatArray] = {}
        size, kinds = chains * draws, len(data.connections)
        for kind, pair in (("before", (before, None)), ("change", (before, after))):
            shift, words = np.zeros((size, kinds)), np.zeros((size, len(data.protected_words), kinds))
            for change_of_template in change_of_templates(*pair, data):
                whole, own = template_errors(change_of_template, size, rng)
                shift, words = shift + whole, words + own
            errors[f"connection_{kind}"] = shift.reshape(chains, draws, kinds)
            errors[f"word_{kind}"] = (shift[:, None, :] + words).reshape(chains, draws, -1, kinds)
        widened.append(replace(change, **{name: getattr(change, name) + each for name, each in errors.items()}))
    return widened
