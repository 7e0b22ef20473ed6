"""Effect sizes in 34 languages would differ from those that Lewis and Lupyan (2020) published."""

import importlib.util
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "validity" / "languages.py"


@pytest.fixture(scope="module")
def study():
    """The script that reads the vectors."""
    spec = importlib.util.spec_from_file_location("languages", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def published(shared):
    return pd.read_csv(shared / "languages" / "published_effect_sizes.csv").set_index("language_code")


@pytest.mark.parametrize("corpus", ["wikipedia", "wikipedia_commoncrawl"])
def test_every_published_effect_size_with_and_without_gendered_forms(study, published, shared, corpus):
    column = published[study.CORPORA[corpus]].dropna()
    found = {name: study.effect_size(each) for name, each in study.languages(shared / "languages", corpus).items()}
    assert len(column) == {"wikipedia": 32, "wikipedia_commoncrawl": 29}[corpus]
    assert {name: found[name] for name in column.index} == pytest.approx(column.to_dict(), abs=1e-6)


def test_the_metric_gives_them_where_no_word_has_two_forms(study, published, shared):
    tried = 0
    query = bb.Query({"men": study.MEN, "women": study.WOMEN}, {"career": study.CAREER, "family": study.FAMILY})
    for name, vectors in study.languages(shared / "languages", "wikipedia").items():
        if any(form != "N" for _, form in vectors) or name not in published.index:
            continue
        kv = bb.load_embedding({concept: vector for (concept, _), vector in vectors.items()})
        result = bb.metric("weat_effect_size", kv, query, max_missing=0.9, twins="keep")  # he and she may be one
        words = sum(word in kv for word in (*study.MEN, *study.WOMEN))
        # the published standard deviation divides by n - 1
        value = result.value * np.sqrt((words - 1) / words)
        assert value == pytest.approx(published["lang_es_wiki"][name], abs=1e-6), name
        tried += 1
    assert tried == 14


def test_the_relation_to_attitudes_is_less_certain_than_its_point_estimates(study, published, shared):
    outside = study.attitudes(shared / "languages")
    names = [name for name in outside.index if name in published.index]
    plain = published.loc[names, "lang_es_wiki"].corr(outside.loc[names, "attitude"])
    assert plain == pytest.approx(0.43, abs=0.005)
    every = study.languages(shared / "languages", "wikipedia")
    tables = {name: study.table_of(every[name]) for name in names}
    units = {name: table["distance"].std() for name, table in tables.items()}
    pool = bb.pool(tables, ("associated", "different"), outside, standardise=units)
    row = pool.relation().iloc[0]
    assert row["n"] == 25
    assert row["correlation"] == pytest.approx(-0.47, abs=0.03)  # negative: associated words are closer
    assert row["correlation_high"] - row["correlation_low"] > 0.5
    # languages share the concepts, so that their errors are correlated
    sd = pool.estimates.sd
    correlation = (pool.estimates.covariance.to_numpy() / np.outer(sd, sd))[np.triu_indices(25, 1)]
    assert 0.15 < correlation.mean() < 0.35
