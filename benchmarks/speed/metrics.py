"""Our metrics against WEFE 1.0.1 on the same queries: seconds, fastest of 20 (the replicates), and both values.

WEFE cannot be imported beside NumPy 2: ``wefe_seconds.py`` runs it in an environment of its own (uv makes it). Its
p-value is timed with 200 permutations and scaled to 10,000, of which each costs the same.
"""

import json
import os
import subprocess
import time
from pathlib import Path

import bayesbias as bb
from benchmarks.study import SHARED, Design, main
from benchmarks.validity.lists import SLICE

PERMUTATIONS, TIMED = 10_000, 200
BIG = {"weat": "sentiment", "rnsb": "sentiment", "mac": "negative", "rnd": "negative", "ect": "negative"}
BIG |= {"ripa": "negative", "rnd cos": "negative"}
TEST = {"calculate_p_value": True, "p_value_iterations": TIMED, "p_value_test_type": "two-sided"}
OPTIONS = {"rnd cos": {"distance": "cos"}}


def queries():
    gender = bb.load_query("weat7_wefe")
    lists = json.loads((SHARED / "oracles" / "bing_liu_in_slice.json").read_text())
    return {
        "weat7_wefe": gender,
        "sentiment": bb.Query(gender.targets, {"positive": lists["positive"], "negative": lists["negative"]}),
        "negative": bb.Query(gender.targets, {"negative": lists["negative"]}),
    }


def theirs(asked, repeats):
    """Label to seconds and value of WEFE."""
    runs = [
        {"label": label, "metric": label.split()[0], "query": query, "options": OPTIONS.get(label, {})}
        for label, query in BIG.items()
    ]
    runs.append({"label": "weat p-value", "metric": "weat", "query": "weat7_wefe", "options": TEST, "repeats": 2})
    named = {
        name: {"targets": list(one.targets.values()), "attributes": list(one.attributes.values())}
        for name, one in asked.items()
    }
    job = json.dumps({"queries": named, "runs": runs, "repeats": repeats})
    environment = {key: value for key, value in os.environ.items() if key not in ("VIRTUAL_ENV", "PYTHONPATH")}
    script = Path(__file__).with_name("wefe_seconds.py")
    command = ["uv", "run", "--quiet", "--no-project", str(script), str(SLICE)]
    done = subprocess.run(command, input=job, stdout=subprocess.PIPE, text=True, check=True, env=environment)
    return json.loads(done.stdout.splitlines()[-1])


def against_wefe(cell):
    asked, kv = queries(), bb.load_embedding(SLICE)
    their = theirs(asked, cell.replicates)
    test = {"p_value": True, "permutations": PERMUTATIONS, "seed": 0}
    for label, query in {**BIG, "weat p-value": "weat7_wefe"}.items():
        options = test if label == "weat p-value" else OPTIONS.get(label, {})
        taken = []
        for _ in range(cell.replicates):
            begin = time.perf_counter()
            found = bb.metric(label.split()[0], kv, asked[query], max_missing=1.0, **options)
            taken.append(time.perf_counter() - begin)
        seconds, other = min(taken), their[label]
        wefe = other["seconds"] * (PERMUTATIONS / TIMED if label == "weat p-value" else 1)
        row = {"metric": label, "query": query, "seconds": seconds, "wefe_seconds": wefe}
        yield row | {"times_faster": wefe / seconds, "value": found.value, "wefe_value": other["value"]}


if __name__ == "__main__":
    main(Design("metrics_against_wefe", [{}], against_wefe, 20, 6))
