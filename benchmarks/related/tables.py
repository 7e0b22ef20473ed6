"""Tables of the results of the other scripts, by embedding, size and half.

python benchmarks/related/tables.py
"""

import pandas as pd
from nulls import OTHERS, RESULTS

EMBEDDINGS = {"google news": "Google News", "minilm": "MiniLM"}
METHODS = {
    "related": "**related**",
    "crossed, these words": "crossed, these words",
    "published": "published",
    "cluster interval": "cluster interval",
    "Welch": "Welch's test of rows",
    "WEAT permutation test": "WEAT's test",
}
VARIED = {
    "attributes": ("attribute words a list", (3, 8, 10, 20, 50)),
    "protected": ("protected words", (2, 8, 10, 20, 50)),
    "controls": ("control words a list", (10, 50, 200)),
    "pool": ("words are drawn from the nearest", (0, 1, 3, 10, 30)),
}
ALL_WORDS = "all words (random)"


def spread(rates):
    """Mean and range in percent."""
    return "" if rates.empty else f"{100 * rates.mean():.0f} ({100 * rates.min():.0f}–{100 * rates.max():.0f})"


def markdown(header, rows):
    lines = [header, ["---"] * len(header), *rows]
    print("\n".join(f"| {' | '.join(map(str, line))} |" for line in lines), end="\n\n")


def false_positives():
    table = pd.read_csv(RESULTS / "false_positives.csv")
    rows = []
    for embedding, shown in EMBEDDINGS.items():
        for lists in ("random", "topical", "topical controls"):
            here = table[(table["embedding"] == embedding) & (table["lists"] == lists)]
            for other in OTHERS:
                own = here[here["contrast"] == f"associated - {other}"]
                cells = [spread(own.loc[own["method"] == name, "rate"]) for name in METHODS]
                weat = here.loc[here["method"] == "WEAT permutation test", "rate"]
                cells[-1] = spread(weat) if other == "different" else ""
                rows.append([shown, lists, other, f"**{cells[0]}**", *cells[1:]])
    markdown(["embedding", "lists", "associated −", *METHODS.values()], rows)
    related = table[table["method"] == "related"]
    outside = related[~related["rate"].between(0.08, 0.14)]
    print(
        f"{len(related)} rates: mean {100 * related['rate'].mean():.1f}, sd {100 * related['rate'].std():.1f},", end=" "
    )
    print(f"{100 * related['rate'].min():.1f} to {100 * related['rate'].max():.1f}, {len(outside)} outside of 8 to 14,")
    print(f"z_sd {related['z_sd'].min():.2f} to {related['z_sd'].max():.2f}")
    print(outside[["embedding", "words", "lists", "contrast", "rate", "z_sd"]].to_string(), end="\n\n")
    by_kind = related.groupby(["lists", "contrast"])[["rate", "z_sd"]].mean()
    print(by_kind.round(3).to_string(), end="\n\n")
    print(
        (100 * table.groupby(["method", "lists"])["rate"].agg(["mean", "min", "max"])).round(0).to_string(), end="\n\n"
    )


def sizes():
    table = pd.read_csv(RESULTS / "sizes.csv")
    table = table[table["lists"] == "topical"]
    rows = []
    for name, (label, values) in VARIED.items():
        for value in values:
            own = table[table["varied"].isin([name, "base"]) & (table[name] == value)]
            shown = (ALL_WORDS if value == 0 else f"{10 * value} words") if name == "pool" else value
            cells = [spread(own.loc[own["embedding"] == embedding, "rate"]) for embedding in EMBEDDINGS]
            rows.append([label, shown, *cells])
    markdown(["varied", "value", *EMBEDDINGS.values()], rows)


def halves():
    table = pd.read_csv(RESULTS / "halves.csv")
    for column in ("rate", "rate_independent"):
        table[column] *= table["replicates"]
    total = table.groupby(["lists", "split", "list"])[["rate", "rate_independent", "replicates"]].sum()
    shares = total.div(total["replicates"], axis=0)
    rows = [
        [
            *place,
            f"{100 * row['rate']:.0f}%",
            f"{100 * row['rate_independent']:.0f}%",
            int(total.loc[place, "replicates"]),
        ]
        for place, row in shares.iterrows()
    ]
    markdown(["lists", "halves", "words", "related", "taken for independent", "splits"], rows)
    by_list = table[table["lists"] == "bundled"].groupby(["embedding", "words", "list"])[["rate", "replicates"]].sum()
    print((by_list["rate"] / by_list["replicates"]).round(2).to_string(), end="\n\n")


def small_samples():
    table = pd.read_csv(RESULTS / "small_samples.csv")
    print((100 * table.pivot_table(index="sample", columns="contrast", values="rate")).round(1).to_string())
    print((100 * table.groupby("sample")["rate"].mean()).round(1).to_string(), end="\n\n")


def planted():
    table = pd.read_csv(RESULTS / "planted_coverage.csv")
    print(table.groupby(["planted"])["rate"].agg(["mean", "min", "max"]).round(3).to_string())


if __name__ == "__main__":
    false_positives()
    sizes()
    halves()
    small_samples()
    planted()
