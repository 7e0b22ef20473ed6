"""Our metrics against WEFE 1.0.1 on the same queries: seconds, fastest of 20, and both values.

    python benchmarks/metrics_against_wefe.py

WEFE cannot be imported beside NumPy 2: ``wefe_seconds.py`` runs it in an environment of its own (uv makes it). Its
p-value is timed with 200 permutations and scaled to 10,000, of which each costs the same.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import json
import subprocess
import time

import pandas as pd
from common import HERE, SHARED, keep

import bayesbias as bb

VECTORS = SHARED / "embeddings" / "google_news_slice.bin"
PERMUTATIONS, TIMED = 10_000, 200
REPEATS = 20
BIG = {"weat": "sentiment", "rnsb": "sentiment", "mac": "negative", "rnd": "negative", "ect": "negative"}
BIG |= {"ripa": "negative", "rnd cos": "negative"}


def queries():
    gender = bb.load_query("weat7_wefe")
    lists = json.loads((SHARED / "oracles" / "bing_liu_in_slice.json").read_text())
    return {
        "weat7_wefe": gender,
        "sentiment": bb.Query(gender.targets, {"positive": lists["positive"], "negative": lists["negative"]}),
        "negative": bb.Query(gender.targets, {"negative": lists["negative"]}),
    }


def theirs(asked):
    runs = [
        {"label": label, "metric": label.split()[0], "query": query, "options": _options(label)}
        for label, query in BIG.items()
    ]
    test = {"calculate_p_value": True, "p_value_iterations": TIMED, "p_value_test_type": "two-sided"}
    runs.append({"label": "weat p-value", "metric": "weat", "query": "weat7_wefe", "options": test, "repeats": 2})
    named = {
        name: {"targets": list(one.targets.values()), "attributes": list(one.attributes.values())}
        for name, one in asked.items()
    }
    job = json.dumps({"queries": named, "runs": runs, "repeats": REPEATS})
    environment = {key: value for key, value in os.environ.items() if key not in ("VIRTUAL_ENV", "PYTHONPATH")}
    command = ["uv", "run", "--quiet", "--no-project", str(HERE / "wefe_seconds.py"), str(VECTORS)]
    done = subprocess.run(command, input=job, stdout=subprocess.PIPE, text=True, check=True, env=environment)
    return json.loads(done.stdout.splitlines()[-1])


def _options(label):
    return {"distance": "cos"} if label == "rnd cos" else {}


def ours(label, kv, query, **options):
    taken = []
    for _ in range(REPEATS):
        begin = time.perf_counter()
        found = bb.metric(label.split()[0], kv, query, max_missing=1.0, **options)
        taken.append(time.perf_counter() - begin)
    return min(taken), found.value


def main():
    asked = queries()
    kv = bb.load_embedding(VECTORS)
    their = theirs(asked)
    rows = []
    for label, query in BIG.items():
        seconds, value = ours(label, kv, asked[query], **_options(label))
        other = their[label]
        rows.append((label, query, seconds, other["seconds"], other["seconds"] / seconds, value, other["value"]))
    options = {"p_value": True, "permutations": PERMUTATIONS, "seed": 0}
    seconds, value = ours("weat", kv, asked["weat7_wefe"], **options)
    scaled = their["weat p-value"]["seconds"] * PERMUTATIONS / TIMED
    rows.append(
        ("weat p-value", "weat7_wefe", seconds, scaled, scaled / seconds, value, their["weat p-value"]["value"])
    )
    names = ["metric", "query", "seconds", "wefe_seconds", "times_faster", "value", "wefe_value"]
    keep(pd.DataFrame(rows, columns=names).round(6), "metrics_against_wefe")


if __name__ == "__main__":
    main()
