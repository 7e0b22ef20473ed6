"""Which model predicts the distances of an attribute word that it has not seen, on all published tables."""

import time

import pandas as pd
from common import keep, published_tables

import bayesbias as bb

COLUMNS = ["elpd_word", "se_word", "diff_word", "diff_se_word", "elpd_pair", "se_pair", "log_evidence"]
COLUMNS += ["above_published"]


def judged(name, table):
    begin = time.perf_counter()
    found = bb.checks.compare_models(table)
    seconds = time.perf_counter() - begin
    published = found.set_index("model").loc["published", "elpd_word"]
    found["above_published"] = found["elpd_word"] - published
    found[COLUMNS] = found[COLUMNS].round(1)
    found.insert(0, "table", name)
    return found.assign(seconds_for_all=round(seconds, 1))


def main():
    keep(pd.concat([judged(*entry) for entry in published_tables().items()]), "model_choice")


if __name__ == "__main__":
    main()
