"""The fast engines would drift from the posteriors that NUTS samples, and nobody would notice.

``benchmarks/builders/nuts_posteriors.py`` makes the tables and samples the posteriors.
"""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import multivariate_normal

import bayesbias as bb
from bayesbias import models

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "builders" / "nuts_posteriors.py"
FITS = ("published", "pooled", "crossed", "related")


@pytest.fixture(scope="module")
def script():
    """The benchmark that writes the stored posteriors."""
    spec = importlib.util.spec_from_file_location("_nuts_posteriors", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, spec.name, module)
        patch.setenv("OPENBLAS_NUM_THREADS", "1")  # the script sets it for its own process
        spec.loader.exec_module(module)
    return module


@pytest.fixture
def stored(script):
    """A function from a case's name to its stored moments, if they are those of today's models and tables."""

    def moments(name):
        header, table = script.stored(name)
        assert header == script.CASES[name].header(), (
            f"{script.path_of(name).name} was sampled from another model or another table than today's: "
            f"if the change is meant, run python benchmarks/builders/nuts_posteriors.py {name}"
        )
        return table

    return moments


def in_order_of(nuts, fast):
    """The moments of the same parameters, each there once, in the order of the stored ones."""
    labels = [tuple(row) for row in nuts[["variable", "index"]].to_numpy()]
    found = fast.set_index(["variable", "index"])
    assert sorted(found.index) == sorted(set(labels))
    return found.loc[labels].reset_index()


@pytest.mark.parametrize("name", FITS)
def test_means_and_sds_are_those_of_nuts(name, script, stored):
    nuts = stored(name)
    case = script.CASES[name]
    fast = in_order_of(nuts, case.moments(case.tables()))
    apart = (nuts["mean"] - fast["mean"]).abs() / np.hypot(nuts["mcse"], fast["mcse"])
    ess = (nuts["sd"] / nuts["mcse"]) ** 2
    spread = (nuts["sd"] - fast["sd"]).abs() / nuts["sd"]
    assert ess.min() > 400
    worst = f"{name}: {apart.max():.2f} errors of the means, sds {spread.max():.3f}"
    assert apart.max() < 4, worst
    assert (spread < np.maximum(4 / np.sqrt(ess / 2), 0.05)).all(), worst


def test_changes_are_those_of_nuts_for_both_tables(script, stored):
    """The model of differences against the joint model of both tables, which knows a little more."""
    nuts = stored("changes")
    case = script.CASES["changes"]
    fast = in_order_of(nuts, case.moments(case.tables(), draws=4000))
    shrank = nuts["variable"] == "shrank"
    np.testing.assert_allclose(fast["mean"][shrank], nuts["mean"][shrank], atol=0.1)
    assert (nuts["mcse"] < 0.05 * nuts["sd"])[~shrank].all()
    for name, theirs in nuts[~shrank].groupby("variable"):
        own = fast.loc[theirs.index]
        np.testing.assert_allclose(own["mean"], theirs["mean"], atol=0.35 * theirs["sd"].max(), err_msg=name)
        np.testing.assert_allclose(own["sd"], theirs["sd"], rtol=0.2, err_msg=name)
        whole = theirs["index"] == "whole list"
        assert whole.sum() == 1
        assert (own["mean"] - theirs["mean"]).abs()[whole].item() < 0.15 * theirs["sd"][whole].item(), name


def test_a_posterior_of_another_model_is_refused(script, stored, monkeypatch):
    case = script.CASES["published"]
    monkeypatch.setitem(script.CASES, "published", script.Case(("pooled",), case.tables, case.moments))
    with pytest.raises(AssertionError, match=r"nuts_published.csv was sampled from another model .* published"):
        stored("published")


@pytest.mark.full
@pytest.mark.nuts
def test_the_model_of_related_words_samples(script, monkeypatch):
    """One short run: the builder, the sampler, and the variables' names, dimensions and rough places."""
    monkeypatch.setattr(models.nuts, "TUNE", 200)
    (table,) = script.CASES["related"].tables()
    few = table[table["protected_word"].isin(table["protected_word"].unique()[[0, 1, 8, 9]])]
    few.attrs = table.attrs
    exact = bb.fit(few, "related", draws=400, chains=2, seed=1)["posterior"]
    post = bb.fit(few, "related", engine="nuts", draws=200, chains=2, seed=1)
    assert post.attrs["engine"] == "nuts"
    assert {name: values.dims for name, values in post["posterior"].data_vars.items()} == {
        name: values.dims for name, values in exact.data_vars.items()
    }
    apart = (post["posterior/word_mean"] - exact["word_mean"].mean(("chain", "draw"))).mean(("chain", "draw"))
    assert float(np.abs(apart / exact["word_mean"].std(("chain", "draw"))).max()) < 0.5


def evaluated(model, chains, draws, rng):
    """In place of NUTS: variables and potentials of a model near its starting point, without compilation."""
    import pytensor

    outputs = [*model.free_RVs, *model.deterministics, *model.potentials]
    plain = pytensor.compile.mode.Mode("py", None)
    at = pytensor.function(model.value_vars, model.replace_rvs_by_values(outputs), mode=plain)
    start = model.initial_point(0)
    points = [
        at(*(start[each.name] + rng.normal(0, 0.1, np.shape(start[each.name])) for each in model.value_vars))
        for _ in range(chains * draws)
    ]
    values = {
        each.name: np.stack(drawn).reshape(chains, draws, *np.shape(drawn[0]))
        for each, drawn in zip(outputs, zip(*points, strict=True), strict=True)
    }
    return values, {"diverging": np.zeros((chains, draws), dtype=bool)}, "points"


def factor_of(values, name):
    """The Cholesky factor of two components."""
    first, cross, second = values[name]
    return np.array([[first, 0.0], [cross, second]])


def effects_of(values, name, chol):
    """Vectors (units, 2) around 0: what is drawn directly, and what is drawn as standard normals."""
    first = values[f"{name}_0"] if f"{name}_0" in values else chol[0, 0] * values[f"{name}_0_raw"]
    if f"{name}_1" in values:
        return np.stack([first, values[f"{name}_1"]], axis=1)
    return np.stack([first, chol[1, 0] / chol[0, 0] * first + chol[1, 1] * values[f"{name}_1_raw"]], axis=1)


def log_density(values, name, vectors, chol):
    """What the model adds for a level's vectors, and the normal density of these where they are what is drawn."""
    added, expected = (
        0.0,
        multivariate_normal(cov=chol @ chol.T).logpdf(vectors).sum() + len(vectors) * np.log(2 * np.pi),
    )
    for component in range(2):
        if f"{name}_{component}_raw" in values:
            added -= 0.5 * (values[f"{name}_{component}_raw"] ** 2).sum()
            expected += len(vectors) * np.log(chol[component, component])
        else:
            added += values[f"{name}_{component}_prior"]
    return added, expected


def test_the_joint_model_of_tables_has_the_density_of_its_levels(script, monkeypatch):
    """Rows, cells, attribute words and word x group against normal densities of pairs of numbers, near the start."""
    given, sampled = [], []
    build = script.joint_nuts.build_joint
    monkeypatch.setattr(script.joint_nuts, "build_joint", lambda *built: given.append(built) or build(*built))
    monkeypatch.setattr(models.nuts, "run_nuts", lambda *asked: sampled.append(evaluated(*asked)) or sampled[0])
    before, after = script.CASES["changes"].tables()
    found = script.joint_nuts.compare({"before": before, "after": after}, seed=1, draws=8, chains=2)
    (_, data, components), drawn = given[0], sampled[0][0]
    cell = np.cumsum(data.filled.ravel()).reshape(data.filled.shape) - 1
    connection_of = np.nonzero(data.filled)[1]
    met = np.cumsum(data.compared.ravel()).reshape(data.compared.shape) - 1
    groups = data.group_index[data.word]
    for chain, draw in ((0, 0), (1, 3)):
        values = {name: each[chain, draw] for name, each in drawn.items()}
        rows = values["cell_mean"][cell[data.word, data.connection]]
        shift = np.zeros_like(rows)
        for i in range(len(data.attribute_classes)):
            chol = factor_of(values, f"attribute_{i}")
            vectors = effects_of(values, f"attribute_effect_{i}", chol)
            assert np.subtract(*log_density(values, f"attribute_effect_{i}", vectors, chol)) == pytest.approx(0)
            own = np.flatnonzero(data.class_index == i)
            mine = np.isin(data.attribute, own)
            shift[mine] += vectors[np.searchsorted(own, data.attribute[mine])]
        chol = factor_of(values, "interaction_0")
        vectors = effects_of(values, "interaction_effect", chol)
        assert np.subtract(*log_density(values, "interaction_effect", vectors, chol)) == pytest.approx(0)
        shift += vectors[met[data.attribute, groups]]
        for i in range(len(data.connections)):
            chol = factor_of(values, f"connection_{i}")
            vectors = values["cell_mean"][connection_of == i] - values["connection_mean"][i]
            assert np.subtract(*log_density(values, f"cell_{i}", vectors, chol)) == pytest.approx(0)
            chol, mine = factor_of(values, f"residual_{i}"), data.connection == i
            expected = multivariate_normal(cov=chol @ chol.T).logpdf((components - rows - shift)[mine]).sum()
            assert values[f"distances_{i}"] == pytest.approx(expected + mine.sum() * np.log(2 * np.pi))
    assert found.engine == "nuts"
    # the components are a level and a change: of a table, of the difference of both
    levels = np.linalg.lstsq(
        components, np.stack([before["distance"], after["distance"]], axis=1)[: len(components)], rcond=None
    )[0]
    means = np.einsum("sdkc,ce->sdke", drawn["connection_mean"], levels)
    for i, name in enumerate(data.connections):
        whole = found.changes(name).iloc[0]
        assert whole["mean"] == pytest.approx(means.mean(axis=(0, 1))[i] @ [-1, 1])
    covariance = found.posterior["posterior/residual_covariance"].to_numpy()
    for i in range(len(data.connections)):
        chol = factor_of({"": drawn[f"residual_{i}"][1, 3]}, "")
        np.testing.assert_allclose(covariance[1, 3, i], levels.T @ chol @ chol.T @ levels)


def test_components_and_back(script):
    matrix = script.joint_nuts.transform(4)
    np.testing.assert_allclose(matrix @ np.linalg.inv(matrix), np.eye(4), atol=1e-12)
    np.testing.assert_allclose(matrix[0], 0.25)
    np.testing.assert_allclose(matrix[2], [-0.5, -0.5, 1, 0])
    np.testing.assert_allclose(script.joint_nuts.transform(2), [[0.5, 0.5], [-1, 1]])


@pytest.mark.nuts
@pytest.mark.full
def test_nuts_agrees_with_the_differences(script, monkeypatch):
    monkeypatch.setattr(models.nuts, "TUNE", 500)
    tables = dict(zip(("before", "after"), script.CASES["changes"].tables(), strict=True))
    fast = bb.compare(tables, model="change", seed=1)
    slow = script.joint_nuts.compare(tables, seed=1, draws=1000, chains=2)
    assert slow.engine == "nuts"
    assert not any("diverged" in fault for fault in slow.faults)
    for name in (*fast.connections, None):
        one, other = fast.changes(name), slow.changes(name)
        np.testing.assert_allclose(one["mean"], other["mean"], atol=0.35 * other["sd"].max())
        assert abs(one["mean"][0] - other["mean"][0]) < 0.15 * other["sd"][0]
        np.testing.assert_allclose(one["sd"], other["sd"], rtol=0.2)
    one, other = (found.table().query("of == 'associated - human'") for found in (fast, slow))
    np.testing.assert_allclose(one["p_shrank"], other["p_shrank"], atol=0.1)
    covariance = slow.posterior["posterior/residual_covariance"].mean(("chain", "draw")).to_numpy()
    np.testing.assert_allclose(covariance, np.swapaxes(covariance, 1, 2))
    np.testing.assert_allclose(np.sqrt(covariance[:, 0, 0]), 0.06, rtol=0.15)
    assert 0.7 < float(slow.posterior["posterior/change_sigma"].mean()) / 0.03 < 1.3
