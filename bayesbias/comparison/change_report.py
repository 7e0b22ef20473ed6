"""The page of a comparison: what changed, for whom, how certain that is, and what broke."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from bayesbias._support.arguments import probability
from bayesbias._support.figures import drawing
from bayesbias._support.phrases import (
    FINE,
    IN_SDS,
    MINUS,
    barely,
    difference,
    excludes_zero,
    figure,
    hardly_changed,
    percent,
)
from bayesbias._support.prose import Prose
from bayesbias._support.results import Block, Code, Items, Page, Picture, Result, Section, filled, unsaid
from bayesbias.contrast.associations import (
    ONE_GROUP,
    POPULATIONS,
    SIGN_RATE,
    decomposition_sentence,
    equal_groups,
)
from bayesbias.distances.list_coverage import lists_named
from bayesbias.errors import InputError, shown
from bayesbias.models.tree import Fit
from bayesbias.models.weights import RAW, group_means
from bayesbias.words import OTHER, OWN, PHRASES, STEREOTYPES, WHOLE, controls_of, labelled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from bayesbias.comparison.comparison import Comparison
    from bayesbias.comparison.effects import SideEffects
    from bayesbias.comparison.sides import BeforeAfter

WORDS = Prose("change")
SLIGHT = 0.005  # size of an observed difference below which its sign says nothing
UNNAMED = ("before", "after")  # names of two tables that were given without names
EQUAL_MEANS = ("leace",)  # debiasing methods after which the means of the groups given are nearly equal
COLUMNS = ("from", "to", "before", "after", "mean", "change", "low", "high")  # of changes that are printed
MOST_ROWS = 15  # of these
LITTLE = 10  # percent of the size before, below which a change is little
NIL = 1  # percent of the size before, below which a change is next to none
RESCALED = 1.1  # ratio of the units of two embeddings from which on all distances changed in scale
NARROWER = 0.9  # of the width without the pairing, up to which a sentence says that pairing made an interval narrower
EXCLUDED = {"hard_multiclass": 0.22}
"""Debiasing method to the share of random topics whose interval excludes 0, where that lies above 11% by more than two
standard errors (docs/validation.md)."""
SAME = 1e-4  # difference of control words' changes up to which two embeddings of other names are the same


class _Change(NamedTuple):
    """A change as sentences name it."""

    number: int
    before: str
    after: str
    named: bool  # whether the two embeddings were given names
    debiased: str  # the debiasing method of the second one
    several: bool  # whether the comparison has more changes
    unrelated: bool  # whether words are treated as unrelated
    prob: float
    mass: str  # of the intervals, in percent

    @classmethod
    def of(cls, result: Comparison, number: int, prob: float) -> _Change:
        """A change by its place in a comparison."""
        names, several, prob = result.pair(number), len(result.pairs) > 1, probability(prob, "prob")
        method = result.debiasing(names[1]).partition(":")[0]
        return cls(number, *names, names != UNNAMED, method, several, result.unrelated, prob, percent(prob))


def verdict_of(result: Comparison, prob: float) -> dict[str, list[str]]:
    """Sentences by part: what changed, for whom, how certain that is, what broke (or controls), and notes."""
    broke = "What broke" if len(result.embeddings) == 2 else "Controls"
    parts: dict[str, list[str]] = {"What changed": [], "For whom": [], "How certain": [], broke: [], "Notes": []}
    if result.faults:
        parts["What changed"].append(WORDS.faults(faults=result.faults))
    for number in range(len(result.pairs)):
        for name, sentences in _of_one(result, _Change.of(result, number, prob)).items():
            parts[broke if name == "Controls" else name] += sentences
    if result.headline is None and not parts[broke]:
        parts["What changed"].append(WORDS.one_kind())
    parts["Notes"] += result.notes
    return {name: sentences for name, sentences in parts.items() if sentences}


def _of_one(result: Comparison, change: _Change) -> dict[str, list[str]]:
    """Sentences on one change, by part."""
    parts = {"Controls": _controls(result, change)}
    if result.headline is None:
        return parts
    table = result.outcomes(*result.headline, change.prob, change=change.number)
    parts["What changed"] = _headline(result, change, table)
    # the change beside the stereotypes of other groups, and that of these beside control words; nothing without such
    if OTHER not in result.connections:
        parts["What changed"].append(ONE_GROUP)
    elif controls := result.decomposable:
        sums = result.decomposition(controls[0], change.prob, change=change.number)
        sentence = decomposition_sentence(sums, "the change of ", figure)
        parts["What changed"].append(WORDS.sum_of_parts(change=change, parts=sentence))
    parts["For whom"] = [_words(result, change, table), *_groups(result, change)]
    parts["How certain"] = [_widths(result, change, table)]
    return parts


def whole_lists_of(result: Comparison) -> str:
    """A headline on all changes of the whole list, and a table of as many as fit on a screen."""
    if result.headline is None:
        table, of = result.changes(result.connections[0]), f"{result.connections[0]} (mean distance)"
    else:
        table, of = result.outcomes(), MINUS.join(labelled(name, result.labels) for name in result.headline)
    rows = table[table["protected_word"] == WHOLE]
    away = int(((rows["low"] > 0) | (rows["high"] < 0)).sum())
    shown_rows = rows[[name for name in COLUMNS if name in rows]].head(MOST_ROWS).round(3)
    return "\n".join(
        [
            f"Changes of {of}, whole list (negative: towards closer): {away} of {len(rows)} intervals exclude 0.",
            shown_rows.to_string(index=False),
            *([f"{len(rows) - MOST_ROWS} more are in table()."] if len(rows) > MOST_ROWS else []),
            "Sentences are in verdict, words in changes().",
        ]
    )


def _whole(table: pd.DataFrame) -> dict[Any, Any]:
    """The whole list's row of a change."""
    return table.iloc[0].to_dict()


def route(before: str, after: str) -> str:
    """Two embeddings as a title names them."""
    return WORDS.route(before=before, after=after, named=(before, after) != UNNAMED)


def _headline(result: Comparison, change: _Change, table: pd.DataFrame) -> list[str]:
    """The whole list's contrast, in either unit."""
    first, second = table.attrs["first"], table.attrs["second"]
    row, sides = _whole(table), result.sides(first, second, change.number)
    equal = _equal(result, change, row)
    sentence = WORDS.contrast(
        change=change,
        row=row,
        first=first,
        second=labelled(second, result.labels),
        population=POPULATIONS[result.population],
        part=_part(row),
        size=_size(row),
        reversed=bool(sides.tells_of_sign(change.prob)[0]),
        most=_most(row, sides, change.prob),
        follows=_follows(result, change, row),
        equal=equal,
    )
    if row["outcome"] == "unchanged":
        return [sentence]
    if reason := result.without_units(change.number):
        return [sentence, WORDS.no_units(reason=reason)]
    scaled = _whole(result.outcomes(first, second, change.prob, standardise=True, change=change.number))
    units = {name: result.units()[name] for name in (change.before, change.after)}
    disagrees = excludes_zero(scaled) != excludes_zero(row)
    facts = {"unit": IN_SDS, "units": units, "disagrees": disagrees, "equal": equal, "size": _size(scaled)}
    in_units = WORDS.contrast_in_units(change=change, row=scaled, **facts)
    return [sentence, in_units]


def _size(row: Mapping[str, Any]) -> dict[str, Any]:
    """The more probable change of the size of a value, and its probability."""
    shrank = row["p_shrank"]
    way, chance = ("increased", 1 - shrank) if shrank < 0.5 else ("decreased", shrank)
    return {"way": way, "p": chance, "reversed": row["p_reversed"] > 0.5}


def _follows(result: Comparison, change: _Change, row: Mapping[str, Any]) -> bool:
    """True where a method made the means of the compared groups nearly equal, so that their difference is near 0."""
    record = result.coverage.get(change.after, {}).get("embedding") or {}
    equal = [{*words} for words in (record.get("groups") or {}).values()]
    data = result.data
    own = [{*data.protected_words[data.groups == name].tolist()} for name in dict.fromkeys(data.groups.tolist())]
    small = abs(row["after"]) < LITTLE / 100 * abs(row["before"])
    known = change.debiased in EQUAL_MEANS and result.headline == (OWN, OTHER)
    return known and small and len(own) > 1 and all(words in equal for words in own)


def _equal(result: Comparison, change: _Change, row: Mapping[str, Any]) -> list[str]:
    """Sides on which all groups have the same mean distance to each attribute word, as groups of equalised words."""
    if result.headline != (OWN, OTHER):
        return []
    return [
        side
        for side, name in (("before", change.before), ("after", change.after))
        if abs(row[side]) < FINE
        and equal_groups(replace(result.data, y=result.distances[:, result.embeddings.index(name)]))
    ]


def _most(row: Mapping[str, Any], sides: BeforeAfter, prob: float) -> int | None:
    """Percent of the size before that a change does not exceed with probability ``prob``, where it is little; or None.

    A change that is credible is little within 1% of the size before, another one within 10%.
    """
    if row["outcome"] == "unchanged":
        return None
    before, change = sides.before[:1], sides.change[:1]
    for most in range(NIL, NIL + 1 if excludes_zero(row) else LITTLE + 1):
        # |change| < |share of before| where the difference and the sum of the two have opposite signs
        share = before * (most / 100)
        if (change - share).p_opposite(change + share)[0] >= prob:
            return most
    return None


def _part(row: Mapping[str, Any]) -> int | None:
    """The size of a change in percent of the size before; None where that is next to nothing."""
    return round(100 * abs(row["change"] / row["before"])) if abs(row["before"]) > FINE else None


def _words(result: Comparison, change: _Change, table: pd.DataFrame) -> str:
    """For how many words the association, or the difference, became smaller or larger."""
    part = table.iloc[1:]
    moved = {name: part.loc[part["outcome"] == name, "protected_word"].tolist() for name in ("shrank", "grew")}
    same, unclear = (part[part["outcome"] == name] for name in ("unchanged", "inconclusive"))
    return WORDS.words(
        change=change,
        associations=table.attrs["rows"] == RAW,
        words=len(part),
        **moved,
        unclear=len(unclear),
        unchanged=len(same),
        wrong=SIGN_RATE,
        moved=bool(((unclear["low"] > 0) | (unclear["high"] < 0)).all()),
        whole=_whole(table),
        towards=int((part["high"] < 0).sum()),
        away=int((part["low"] > 0).sum()),
        scaled=_scaled(result, change, _whole(table)),
    )


def _groups(result: Comparison, change: _Change) -> list[str]:
    """Groups whose mean associations have opposite signs afterwards, so that the whole list hides both.

    With two groups the mean association of each is the whole list.
    """
    if result.headline is None:
        return []
    sides = result.sides(*result.headline, change.number)
    names, weights = group_means(sides.after.index["group"].iloc[1:].fillna("").to_numpy(dtype=str))
    if sides.kind != RAW or len(names) < 3:
        return []
    matrix = np.column_stack([np.zeros(len(names)), weights])
    numbers = sides.after.combine(matrix).summary(change.prob)
    whole = max(abs(float(sides.after.mean[0])), SLIGHT)
    if not numbers["mean"].min() < -whole < whole < numbers["mean"].max():
        return []
    return [WORDS.groups(change=change, groups=numbers.assign(name=names).to_dict("records"))]


def _controls(result: Comparison, change: _Change, clear: bool = False) -> list[str]:
    """Changes of the mean distances to control words, or those alone whose interval is clearly away from 0."""
    sentences = []
    for name in controls_of(result.connections):
        row = _whole(result.changes(name, prob=change.prob, change=change.number))
        if clear and (hardly_changed(row) or not excludes_zero(row)):
            continue
        sentences.append(WORDS.control(change=change, phrase=labelled(name, result.labels, PHRASES), row=row))
    return sentences


def _widths(result: Comparison, change: _Change, table: pd.DataFrame) -> str:
    """The width of the interval, that without the pairing, and a caution where it is known to be too narrow."""
    separate = result.changes(prob=change.prob, paired=False, change=change.number)
    together, apart = (row["high"] - row["low"] for row in map(_whole, (table, separate)))
    if together == 0:
        return WORDS.exact(change=change)
    # where one of the two is 0 by construction, the change has the errors of the other, paired or not
    alone = bool(_equal(result, change, _whole(table)))
    narrower, wrong = together <= NARROWER * apart and not alone, EXCLUDED.get(change.debiased)
    return WORDS.widths(change=change, together=together, apart=apart, narrower=narrower, wrong=wrong)


def front_of(result: Comparison, prob: float, effects: SideEffects | None) -> Page:
    """The first screen: what changed, for whom, how certain that is, and what broke."""
    change, parts = _Change.of(result, 0, prob), _parts(result, prob, effects)
    last = result.embeddings[-1]
    debiased = result.debiasing(last).partition(":")[0] if result.embeddings == UNNAMED else ""
    lines = {f"{name}?": sentences[0] for name, sentences in parts.items() if name != "Notes"}
    if change.several:
        of_each = [_of_one(result, _Change.of(result, number, prob)) for number in _from_first(result)]
        lines |= {f"{name}?": " ".join(part[name][0] for part in of_each if part[name]) for name in of_each[0]}
    if effects is not None:
        clear = _controls(result, change, clear=True)
        broken = " ".join([*effects.broken[:1], *clear])
        lines |= {name: broken for name in ("What broke?", "Controls?") if name in lines}
        lines |= {name: effects.left[-1] for name in ("What is left?",) if name in lines}
        order = [name for name in ("What changed?", "What is left?", "What broke?", "Controls?") if name in lines]
        lines = {name: lines[name] for name in dict.fromkeys([*order, *lines])}
    lines |= unsaid(WORDS.not_looked_at() if effects is None else WORDS.limit_of_means())
    drawn = partial(drawing, "plot_change", result, prob, change.before, change.after, words=False)
    return Page(
        title=WORDS.title(names=result.embeddings, debiased=debiased),
        lead=WORDS.lead(
            topic=next((record["word_list"] for record in result.coverage.values()), WORDS.tables()),
            pairs=len(result.data.y),
            words=len(result.data.protected_words),
            model=result.tree.attrs["model"],
            engine=result.engine,
            mass=change.mass,
        ),
        answer=(_several if change.several else _moved)(result, prob) or next(iter(parts.values()))[0],
        lines=lines,
        picture=Picture("whole", WORDS.whole(change=change), drawn),
        fault=WORDS.faults(faults=result.faults) if result.faults else "",
    )


def sections_of(result: Comparison, prob: float, effects: SideEffects | None) -> tuple[Section, ...]:
    """The details: all sentences, each change, side effects, what was measured, and the model."""
    attrs, parts, fitted = result.tree.attrs, _parts(result, prob, effects), Fit(result.tree)
    full = [f"{name}. {' '.join(sentences)}" for name, sentences in parts.items() if name != "Notes"]
    versions = fitted.versions
    model: list[Block] = [
        WORDS.model(differences=attrs["model"], levels=attrs["levels_model"]),
        Code(attrs["model_text"]),
        WORDS.record(hash=attrs["model_hash"][:16], engine=attrs["engine"], seed=attrs["seed"], versions=versions),
    ]
    broke: list[Block] = []
    if effects is not None:
        model.append(WORDS.test_of_remaining_bias())
        drawn = partial(drawing, "plot_side_effects", effects)
        broke = [Picture("effects", WORDS.effects_title(), drawn), WORDS.table("effects", effects.table())]
    checks: list[Block] = [Items(parts.get("Notes", []))]
    stats = {name: fitted.stats[name].to_numpy() for name in ("pareto_k", "importance_ess") if name in fitted.stats}
    if stats:
        values = [", ".join(f"{value:.3g}" for value in numbers.ravel()) for numbers in stats.values()]
        named = [name.replace("_", " ") for name in stats]
        checks.append(WORDS.table("figures_of_fit", pd.DataFrame({"figure": named, "value": values})))
    return filled(
        (
            Section(WORDS.sentences_title(), [Items(full)]),
            *(_of_change(result, _Change.of(result, number, prob)) for number in range(len(result.pairs))),
            Section(WORDS.effects_title(), broke),
            Section(WORDS.measured_title(), list(_asked(result.coverage)), shut=True),
            Section(WORDS.checks_title(), checks, shut=True),
            Section(WORDS.model_title(), model, shut=True),
        )
    )


def _parts(result: Comparison, prob: float, effects: SideEffects | None) -> dict[str, list[str]]:
    """The verdict by parts, with side effects where they are known."""
    if effects is None:
        return result.parts(prob)
    if not isinstance(effects, Result) or not hasattr(effects, "added_to"):
        raise InputError(f"effects is {shown(effects)}: give what side_effects returns")
    _refuse_other(result, effects)
    return effects.added_to(result.parts(prob))


def _refuse_other(result: Comparison, effects: SideEffects) -> None:
    """Refuse side effects of other embeddings than the compared ones, as far as both are recorded."""
    compared = [[result.coverage.get(name, {}).get("embedding") or {} for name in pair] for pair in result.pairs]
    if any(all(map(_may_be_same, effects.embeddings, pair)) for pair in compared):
        return
    controls = [name for name in effects.controls["connection"] if name in result.connections]
    changed = effects.controls.set_index("connection")["mean"]
    # the same vectors may have two names, as in memory and in a file
    if controls and any(
        all(abs(_whole(result.changes(name, change=number))["mean"] - changed[name]) < SAME for name in controls)
        for number in range(len(compared))
    ):
        return
    names, others = (
        " and ".join(str(one.get("name", "an unnamed embedding")) for one in pair)
        for pair in (effects.embeddings, compared[0])
    )
    how = ", debiased in another way" if names == others else ""
    raise InputError(
        f"effects is of {names}, and the comparison of {others}{how}: give side_effects(before, after, comparison) of "
        "the embeddings compared"
    )


def _may_be_same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """False where two records of embeddings have different names, or different records of debiasing."""
    names, debiased = ([each.get(key) or "" for each in (one, other)] for key in ("name", "debiasing"))
    named = all(name and not name.startswith("unnamed") for name in names)
    return not (named and names[0] != names[1]) and not (all(debiased) and debiased[0] != debiased[1])


def _from_first(result: Comparison) -> list[int]:
    """Places of the changes from the first embedding to each other one."""
    return [number for number, (before, _) in enumerate(result.pairs) if before == result.embeddings[0]]


def _several(result: Comparison, prob: float) -> str:
    """The changes of the headline contrast from the first of several embeddings; empty where there is none."""
    if result.headline is None:
        return ""
    moves: dict[str, list[dict[Any, Any]]] = {"rose": [], "fell": [], "hardly": [], "unchanged": [], "unclear": []}
    for number in _from_first(result):
        change, row = _Change.of(result, number, prob), _whole(result.outcomes(*result.headline, prob, change=number))
        own = _whole(result.changes(result.headline[0], prob=prob, change=number))
        facts = {"name": change.after, "scaled": _scaled(result, change, row), "own": own}
        moves[_kind(row, _most(row, result.sides(*result.headline, number), prob))].append({**row, **facts})
    return WORDS.several(
        first=result.embeddings[0],
        before=next(row["before"] for rows in moves.values() for row in rows),
        other=labelled(result.headline[1], result.labels, PHRASES),
        moves=moves,
        mass=percent(prob),
        further=len(result.pairs) - len(_from_first(result)),
    )


def _kind(row: Mapping[str, Any], most: int | None) -> str:
    """The kind of a change: rose or fell, hardly any, none, or not known."""
    if row["outcome"] == "unchanged":
        return "unchanged"
    if most is not None:
        return "hardly"
    return ("rose" if row["change"] > 0 else "fell") if excludes_zero(row) else "unclear"


def _moved(result: Comparison, prob: float) -> str:
    """The change of the headline contrast in a sentence that needs no statistics; empty where there is none."""
    if result.headline is None:
        return ""
    change = _Change.of(result, 0, prob)
    row = _whole(result.outcomes(*result.headline, prob, change=0))
    part = _part(row)
    return WORDS.moved(
        change=change,
        row=row,
        edge=barely(row),
        other=labelled(result.headline[1], result.labels, PHRASES),
        part=part,
        size=_size(row),
        little=part is not None and part < LITTLE,
        most=_most(row, result.sides(*result.headline, 0), prob),
        equal=_equal(result, change, row),
        levels=_levels(result, change),
        parts=[_whole(result.changes(name, prob=prob, change=0)) for name in result.headline],
        scaled=_scaled(result, change, row),
    )


def _scaled(result: Comparison, change: _Change, plain: Mapping[str, Any]) -> dict[str, Any]:
    """The headline contrast in the units of both embeddings, where these differ or the change depends on them.

    ``plain`` is its row in cosine distance.
    """
    if result.headline is None or result.without_units(change.number):
        return {}
    units = [float(result.units()[name]) for name in (change.before, change.after)]
    table = result.outcomes(*result.headline, change.prob, standardise=True, change=change.number)
    row, rescaled = _whole(table), max(units) >= RESCALED * min(units)
    if not rescaled and excludes_zero(row) == excludes_zero(plain):
        return {}
    named = int(table["outcome"].iloc[1:].isin(["shrank", "grew"]).sum())
    part = round(100 * abs(row["change"] / row["before"])) if row["before"] else None
    return {"units": units, "row": row, "part": part, "named": named, "rescaled": rescaled}


def _levels(result: Comparison, change: _Change) -> dict[str, dict[Any, Any]]:
    """The whole list's contrast before and after, with intervals; empty where these are known to be too narrow."""
    if change.unrelated or result.headline is None:
        return {}
    sides = result.sides(*result.headline, change.number)
    numbers = {"before": sides.before, "after": sides.after}
    return {name: one.summary(change.prob).iloc[0].to_dict() for name, one in numbers.items()}


def _of_change(result: Comparison, change: _Change) -> Section:
    """Figures and tables of one change."""
    names = (change.before, change.after)
    drawn = partial(drawing, "plot_change", result, change.prob, *names)
    blocks: list[Block] = [Picture(f"change-{change.number}", WORDS.means(change=change), drawn)]
    if set(result.connections) & set(STEREOTYPES):
        drawn = partial(_similarities, result, *names)
        blocks.append(Picture(f"shift-{change.number}", WORDS.similarities(change=change), drawn))
    return Section(WORDS.change_title(change=change), [*blocks, *_change_tables(result, change)])


def _similarities(result: Comparison, before: str, after: str) -> Figure:
    """Cosine similarities before and after by connection, and the limits of MAC."""
    pairs = result.paired_distances(before, after).rename(columns={"before": before, "after": after})
    table = pairs.melt("connection", [before, after], "embedding", "similarity")
    table["similarity"] = 1 - table["similarity"]
    table["connection"] = [labelled(name, result.labels) for name in table["connection"]]
    limit = result.similarity_shift(None, before, after).attrs["limit"]
    label = f"cosine similarity (lines at \N{PLUS-MINUS SIGN}(1\N{MINUS SIGN}MAC) = \N{PLUS-MINUS SIGN}{limit:.3f})"
    options: dict[str, Any] = {"by": "embedding", "mark": (-limit, limit), "label": label}
    return drawing("strip", table, "similarity", "connection", **options)


def _change_tables(result: Comparison, change: _Change) -> Iterator[Block]:
    others = [name for name in result.connections if name != OWN]
    pairs = [(OWN, name) for name in others] if OWN in result.connections else []
    shared = [(OTHER, name) for name in controls_of(result.connections) if OTHER in result.connections]
    means: list[tuple[str, str | None]] = [(name, None) for name in result.connections]
    rows: list[dict[str, Any]] = []
    for first, second in [*means, *pairs, *shared]:
        sides = result.sides(first, second, change.number)
        moved = sides.change.summary(change.prob).iloc[0]
        ends = {"before": sides.before.mean[0], "after": sides.after.mean[0], "change": moved["mean"]}
        ends |= {"low": moved["low"], "high": moved["high"], "p_closer": moved["p_closer"]}
        rows.append({"quantity": _quantity(result, first, second), **ends})
    yield WORDS.table("whole_list", pd.DataFrame(rows), change=change)
    for first, second in pairs:
        table = result.outcomes(first, second, change.prob, change=change.number)
        told = result.sides(first, second, change.number).tells_of_sign(change.prob)
        table["p_reversed"] = table["p_reversed"].where(told, np.nan)
        table["outcome"] = table["outcome"].replace("inconclusive", "not clear")
        quantity, table = _quantity(result, first, second), table.fillna({"group": ""})
        yield WORDS.table("outcomes", table, quantity=quantity, meaning=table.attrs["meaning"])
    if set(result.connections) & set(STEREOTYPES):
        shift = result.similarity_shift(None, change.before, change.after)
        shift["connection"] = [labelled(name, result.labels) for name in shift["connection"]]
        yield WORDS.table("shift", shift)


def _quantity(result: Comparison, first: str, second: str | None) -> str:
    """A connection or a contrast as the page names it."""
    quantity = first if second is None else f"{first} - {second}"
    return difference(labelled(quantity, result.labels))


def _asked(records: Mapping[str, Any]) -> Iterator[Block]:
    """Words that each embedding was asked for."""
    if not records:
        yield WORDS.no_coverage()
    for name, record in records.items():
        facts = record.get("embedding") or {}
        yield WORDS.embedding(
            name=name,
            source=facts.get("name", record["word_list"]),
            vectors=facts.get("vectors"),
            dimensions=facts.get("dimensions"),
            debiasing=facts.get("debiasing", "").removesuffix("."),
        )
        lists = lists_named(record["lists"], record.get("labels") or {})
        yield WORDS.table("coverage", lists.assign(missing=lists["missing"].map(", ".join)), name=name)
