"""How much of associated - human is special to a word's own stereotypes, in the published tables.

associated - human = (associated - different) + (different - human), with 89% intervals, by the crossed model for the
given protected words and by the published model as the study reports it (connection means).
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pandas as pd
from common import keep, published_tables

import bayesbias as bb

SEED = 0
MODELS = {"crossed": "given", "published": "similar"}


def main():
    rows = []
    for name, table in published_tables().items():
        for model, population in MODELS.items():
            post = bb.fit(table, model, draws=20_000, seed=SEED)
            parts = bb.decomposition(post, "human", population=population).head(3)
            for row in parts.to_dict("records"):
                called = row["low"] > 0 or row["high"] < 0
                figures = {key: round(row[key], 4) for key in ("mean", "sd", "low", "high")}
                rows.append({"table": name, "model": model, "contrast": row["contrast"], **figures, "called": called})
    found = pd.DataFrame(rows)
    keep(found, "headline")
    called = found.pivot_table(index=["model", "table"], columns="contrast", values="called", aggfunc="all")
    only = called["associated - human"] & ~called["associated - different"]
    print(called.groupby("model").sum().assign(only_human=only.groupby("model").sum()).to_string())


if __name__ == "__main__":
    main()
