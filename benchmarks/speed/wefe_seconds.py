# /// script
# requires-python = "==3.11.*"
# dependencies = [
#     "wefe==1.0.1",
#     "numpy==1.26.4",
#     "scipy==1.12.0",
#     "gensim==4.3.3",
#     "scikit-learn==1.5.2",
#     "pandas==2.2.3",
# ]
# ///
"""Seconds of WEFE 1.0.1's metrics on given queries, in its own environment: JSON in, JSON out.

    uv run benchmarks/speed/wefe_seconds.py VECTORS.bin < job.json

The job holds ``queries`` (name to ``targets`` and ``attributes``, lists of lists), ``runs`` (label, metric, query,
options) and ``repeats``; ``metrics.py`` makes it.
"""

import json
import sys
import time

from gensim.models import KeyedVectors
from wefe.metrics import ECT, MAC, RIPA, RND, RNSB, WEAT
from wefe.query import Query
from wefe.word_embedding_model import WordEmbeddingModel

METRICS = {"weat": WEAT, "mac": MAC, "rnd": RND, "ect": ECT, "ripa": RIPA, "rnsb": RNSB}


def main():
    job = json.load(sys.stdin)
    kv = KeyedVectors.load_word2vec_format(sys.argv[1], binary=True)
    model = WordEmbeddingModel(kv, "vectors")
    queries = {name: Query(one["targets"], one["attributes"]) for name, one in job["queries"].items()}
    seconds = {}
    for run in job["runs"]:
        metric = METRICS[run["metric"]]()
        taken = []
        for _ in range(run.get("repeats", job["repeats"])):
            begin = time.perf_counter()
            found = metric.run_query(queries[run["query"]], model, lost_vocabulary_threshold=1.0, **run["options"])
            taken.append(time.perf_counter() - begin)
        seconds[run["label"]] = {"seconds": min(taken), "value": float(found["result"])}
    json.dump(seconds, sys.stdout)


if __name__ == "__main__":
    main()
