"""Tables of the pages: each is the value of the expression in the comment above it; ``--check`` only compares.

An expression says which results file, which rows, and what stands down and across; it sees the names of this module.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

import bayesbias as bb

HERE = Path(__file__).parent
RESULTS = HERE.parent / "benchmarks" / "results"
MARKED = re.compile(r"(<!-- table: (.*?) -->\n)(?:(?!<!-- ).)*(?=<!-- end -->)", re.DOTALL)
LABELS = {
    r"google[ _-]news[ _-]slice(\.bin)?": "Google News slice",
    "google news": "Google News",
    "glove-50d-slice": "GloVe slice",
    r"glove(\.txt|[ _](6b_)?50d)?": "GloVe",
    "minilm": "MiniLM",
    "reddit": "Reddit",
    "^google$|(?<=/)google": "Google",
    r"weat_(\d)": r"WEAT \1",
    "^(weat|WEAT permutation test)$": "WEAT",
    "crossed, these words": "crossed",
    "t_test": "Welch",
    "frame": "template",
    "^raw$": "as they are",
    " - ": " \N{MINUS SIGN} ",
    "_": " ",
    "(european|african) american": lambda found: found[0].title(),
}
"""What stands in names of results files, and what pages write in its place."""


def read(name: str, query: str = "") -> pd.DataFrame:
    """A results file, or its rows that a query keeps."""
    table = pd.read_csv(RESULTS / f"{name}.csv")
    return table.query(query) if query else table


def number(value: float, digits: int = 2) -> str:
    """A number as pages write it: no 0 before the point, a minus sign."""
    text = f"{value:,.{digits}f}"
    text = text if text.strip("-0.") else text.lstrip("-")
    return re.sub(r"(?<!\d)0\.", ".", text).replace("-", "\N{MINUS SIGN}")


def percent(share: float) -> str:
    return "" if pd.isna(share) else f"{100 * share:.0f}"


def average(shares: pd.Series) -> str:
    return percent(shares.mean())


def span(values: pd.Series, form: Callable[[float], str] = percent) -> str:
    """The smallest and the largest value."""
    return "\N{EN DASH}".join(dict.fromkeys(form(end) for end in (values.min(), values.max())))


def about(shares: pd.Series) -> str:
    """The mean and the range."""
    return f"{average(shares)} ({span(shares)})"


def interval(row: pd.Series, digits: int = 3, mean: str = "mean", bold: bool = False) -> str:
    """A mean and the ends of its interval."""
    text = "{} ({} to {})".format(*(number(row[name], digits) for name in (mean, "low", "high")))
    return f"**{text}**" if bold else text


def joined(table: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """The table with a column that joins several shares."""
    return table.assign(cell=table[columns].map(percent).agg(", ".join, axis=1))


def cross(table: pd.DataFrame, value: str, rows: list[str], columns: list[str], form=average) -> pd.DataFrame:
    """Levels of ``rows`` down and of ``columns`` across, in the order of the results."""
    return table.pivot_table(value, rows, columns, form, sort=False)


def listed(table: pd.DataFrame, rows: list[str], forms: dict[str, Callable[[float], str]]) -> pd.DataFrame:
    """The columns of ``forms``, written by them."""
    indexed = table.set_index(rows)
    return pd.concat({name: indexed[name].map(form) for name, form in forms.items()}, axis=1)


def weighted(table: pd.DataFrame, value: str, rows: list[str], columns: list[str]) -> pd.DataFrame:
    """Shares over cells, which weigh as much as they have replicates."""
    sums = table.assign(total=table[value] * table["replicates"]).groupby([*rows, *columns], sort=False).sum()
    return cross(sums.assign(share=sums["total"] / sums["replicates"]).reset_index(), "share", rows, columns)


one, two, three = (partial(number, digits=digits) for digits in (1, 2, 3))


def random_topics():
    table = read("related/false_positives")
    table = table.replace({"contrast": {"WEAT": "associated - different"}})
    rates, related = (cross(table, "rate", ["lists", "contrast"], ["method"], form) for form in (average, about))
    rates["related"] = related["related"]
    return rates[["related", "crossed, these words", "published", "cluster interval", "Welch", "WEAT permutation test"]]


def halves():
    table, parts = read("related/halves"), []
    for kind, value in {"interval": "rate", "treated as independent": "rate_independent"}.items():
        parts.append(weighted(table, value, ["lists", "split"], ["list"]).add_suffix(f", {kind}"))
    return pd.concat(parts, axis=1)


def signs():
    table = read("related/signs", "mean == -.03").assign(words=lambda table: table["wrong"].fillna(0) * table["named"])
    table["kind"] = np.where(-table["mean"] >= 2 * table["error"], "wrong", "wrong, smaller mean")
    by = ["sd", "rule"]
    wrong = table.groupby([*by, "kind"])[["words", "named"]].sum().eval("words / named").map(percent)
    named = table.groupby(by)["named"].mean().map(one)
    cells = pd.concat([wrong.reset_index(name="cell"), named.reset_index(name="cell").assign(kind="named")])
    return cross(cells, "cell", ["sd"], ["rule", "kind"], "first").sort_index(axis=1)


def uncorrelated_words():
    table = read("calibration/real_null")
    groups = np.where(table["table"].str.startswith("weat"), ", two topics", ", parallel groups")
    table["contrast"] += np.where(table["contrast"] == "associated - different", groups, "")
    return cross(table, "rate", ["contrast"], ["method"], span)


def changes():
    table = read("calibration/changes_related", "side == 'change' and quantity != 'difference'")
    table = table.query("rows == 'words' or quantity == 'association'").sort_values("model", ascending=False)
    return cross(table, "rate", ["model"], ["rows", "quantity"], about)


def headline():
    table = read("headline", "contrast != 'different - human'")
    table["table"] = table["table"].str.replace("_(?:group_)?(glove|google|reddit)(?:_dataset)?$", r"/\1", regex=True)
    table["cell"] = [interval(row, bold=row["called"]) for _, row in table.iterrows()]
    human = table["contrast"] == "associated - human"
    table["cell"] = table["cell"].mask(human, table["cell"].str.replace(r" \(.*\)", "", regex=True))
    published, crossed = (
        table[table["model"] == model].set_index(["table", "contrast"]) for model in ("published", "crossed")
    )
    crossed["cell"] += np.where(published["called"].reindex(crossed.index), " †", "")
    crossed = crossed.sort_index(level="table", key=lambda names: names.str.startswith("debiased"), kind="stable")
    return cross(crossed.reset_index(), "cell", ["table"], ["contrast"], "first")[
        ["associated - human", "associated - different"]
    ]


def debiasing_parts():
    table = read("published_debiasing_parts")
    table["change"] = [interval(row, bold=row["low"] * row["high"] > 0) for _, row in table.iterrows()]
    return cross(table, "change", ["topic"], ["contrast"], "first")


def rows_of_gender():
    post = bb.fit(bb.distance_table("google-news-slice", "gender"), seed=0)
    cells, own = bb.estimates(post), bb.association(post).query("own")
    difference = cells.select(connection="associated") - cells.select(connection="different")
    tables = {
        name: each.set_index("protected_word")
        for name, each in (("difference", difference.table()), ("association", own))
    }
    shown = {rows: table.loc[["he", "male", "she"], ["mean", "sd"]].map(three) for rows, table in tables.items()}
    return pd.concat({rows: table.agg(" ± ".join, axis=1) for rows, table in shown.items()}, axis=1)


def constants():
    from bayesbias.numerics import constants as tuned

    rows = [(f"`{name}`", f"{getattr(tuned, name):,g}", *facts) for name, facts in tuned.TABLE.items()]
    columns = ["constant", "value", "what it is", "unit", "study"]
    return pd.DataFrame(rows, columns=columns)


def languages():
    table = read("second_stage/languages_relations", "standardised and groups != 'family'")
    ends = {"mean": "correlation", "low": "correlation_high", "high": "correlation_low"}
    table = table.assign(**{end: -table[column] for end, column in ends.items()})
    table["ours"] = [interval(row, digits=2) for _, row in table.iterrows()]
    table["corpus"] = table["corpus"].map({"wikipedia": "Wikipedia", "wikipedia_commoncrawl": "and Common Crawl"})
    return listed(table, ["corpus", "groups"], {"published_plain": two, "ours": str})


def shares_of_women():
    table = read("second_stage/criteria", "source in ['40 occupations', 'census 1950']")
    table["cell"] = [interval(row, digits=2, mean="correlation") for _, row in table.iterrows()]
    shown = cross(table, "cell", ["source"], ["poles"], "first")
    return listed(table.drop_duplicates("source"), ["source"], {"words": str, "plain": two}).join(shown)


def addresses():
    table = read("addresses")
    table["difference"] = [interval(row) for _, row in table.iterrows()]
    forms = {"difference": str, "equal": three, "share_words": percent}
    return listed(table, ["target", "name"], forms)


def ten_tests():
    table = read("caliskan", "embedding == 'Google News 300d'")
    sets = [[words.removesuffix("_names") for words in bb.load_query(f"weat{test}").targets] for test in table["test"]]
    table["test"] = [f"{test} {' / '.join(pair)}" for test, pair in zip(table["test"], sets, strict=True)]
    table["p"] = ["< .001" if p < 0.001 else three(p) for p in table["p_permutation"]]
    table["nearer"] = [interval(row, mean="nearer") for _, row in table.iterrows()]
    forms = {"d": two, "p": str, "nearer": str, "random_topics": str}
    return listed(table, ["test"], forms)


def ten_tests_counted():
    table = read("caliskan")
    calls = {
        "p < .05": table["p_permutation"] < 0.05,
        "the interval excludes 0": table["low"] * table["high"] > 0,
        "the same, for further target words too": table["similar_low"] * table["similar_high"] > 0,
        "at most 50 of 1,000 topics": table["random_topics"] <= 50,
    }
    return pd.DataFrame(calls).groupby(table["embedding"], sort=False).sum().T.rename_axis("of ten tests")


def registered(table, **columns):
    """Columns of a register, after patterns of its own."""
    rows = table.replace(r"([|*<])", r"\\\1", regex=True).to_dict("records")
    return pd.DataFrame([{name: text.format(**row) for name, text in columns.items()} for row in rows])


def label(name: object) -> str:
    """A name as pages write it; numbers as numbers."""
    if isinstance(name, float):
        return number(name, 3).rstrip("0").rstrip(".") or "0"
    text = f"{name:,}" if isinstance(name, int) else str(name)
    for pattern, shown in LABELS.items():
        text = re.sub(pattern, shown, text)
    return text


def markdown(table: pd.DataFrame) -> str:
    """A table in Markdown: names of rows and columns as pages write them, cells as they are."""
    if not isinstance(table.index, pd.RangeIndex):
        names = table.index.to_frame(index=False).map(label)
        table = pd.concat([names, table.reset_index(drop=True)], axis=1)
    heads = [", ".join(map(label, name)) if isinstance(name, tuple) else label(name) for name in table.columns]
    lines = [heads, ["---"] * len(heads), *table.fillna("").astype(str).to_numpy().tolist()]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def filled(page: str) -> str:
    """A page with its tables as they are made now."""
    return MARKED.sub(lambda part: f"{part[1]}\n{markdown(eval(part[2]))}\n", page)  # noqa: S307  # our own pages


def main(check: bool) -> int:
    """Write the tables into all pages, or print the pages that are out of step; the number of these."""
    pages = {
        path: path.read_text(encoding="utf-8") for path in sorted(HERE.rglob("*.md")) if "_build" not in path.parts
    }
    behind = {path: text for path, page in pages.items() if (text := filled(page)) != page}
    for path, text in behind.items():
        if check:
            print(f"{path}: a table is not what docs/_tables.py makes; run it without --check")
        else:
            path.write_text(text, encoding="utf-8")
    return len(behind) if check else 0


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
