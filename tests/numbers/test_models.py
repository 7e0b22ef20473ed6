"""A model file would fit another model than it says, or a fit would lose what it was made from."""

import json
import tomllib

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import bayesbias as bb
from bayesbias.distances import Coverage

COLUMNS = ["protected_word", "group", "attribute_word", "attribute_class", "connection", "distance"]


def small(**changes):
    rng = np.random.default_rng(0)
    rows = [
        (word, group, f"{connection}{at}", group, connection, rng.normal(0.9, 0.1))
        for word, group in (("a", "x"), ("b", "x"), ("c", "y"))
        for connection, size in (("neutral", 5), ("associated", 3))
        for at in range(size)
    ]
    return pd.DataFrame(rows, columns=COLUMNS).assign(**changes)


def test_bundled_models_their_engines_and_the_priors_of_the_study():
    engines = {
        **dict.fromkeys(("crossed_t",), "nuts"),
        **dict.fromkeys(("change", "crossed"), "marginal, nuts"),
        **dict.fromkeys(("pooled", "published", "related"), "exact, nuts"),
    }
    assert engines.items() <= bb.bundled("models").set_index("name")["engines"].to_dict().items()
    with pytest.raises(bb.InputError, match=f"one of {', '.join(sorted(engines))}"):
        bb.load_model("crosed")
    priors = bb.load_model("published").priors
    assert (priors["connection_mean"].mean, priors["connection_mean"].sd) == (1.0, 0.3)
    assert priors["connection_sd"].rate == priors["sigma"].rate == 2.0
    priors["sigma"] = None  # those of a loaded model are nobody else's
    assert bb.load_model("published").priors["sigma"].rate == 2


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "sigma = {",
            "tau = {",
            r"unknown key 'priors.tau'; valid keys here are connection_mean, connection_sd, sigma",
        ),
        ("rate = 2.0", "rate = -2.0", "greater than 0"),
        ("[likelihood]", "[likelihood", "not a TOML file"),
    ],
)
def test_a_faulty_model_file_is_refused(edited, old, new, message):
    with pytest.raises(bb.InputError, match=message):
        bb.load_model(edited("published", (old, new)))


def expected_scale(y, scale_density, upper):
    """Posterior mean of connection_sd behind a single distance, by direct integration: both scales have one prior."""
    s = np.linspace(0, upper, 1500)
    joint = np.multiply.outer(scale_density(s), scale_density(s))
    joint *= stats.norm(1.0, np.sqrt(0.3**2 + np.add.outer(s**2, s**2))).pdf(y)
    return (joint.sum(axis=1) @ s) / joint.sum()


def test_groups_dims_and_attributes_of_a_fit():
    table = bb.DistanceTable(small(), coverage=Coverage("mine", []))
    post = bb.fit(table, "published", draws=200, chains=2, seed=7)
    assert set(post.children) == {"posterior", "observed_data", "constant_data"}
    dims = {name: values.dims[2:] for name, values in post["posterior"].data_vars.items()}
    assert dims == {
        "connection_mean": ("connection",),
        "connection_sd": ("connection",),
        "word_mean": ("protected_word", "connection"),
        "sigma": ("connection",),
    }
    assert bb.fit(small(), "pooled", draws=200, seed=0)["posterior/sigma"].dims == ("chain", "draw")
    assert post["posterior"]["connection"].to_numpy().tolist() == ["associated", "neutral"]
    assert dict(post["posterior"].sizes) == {"chain": 2, "draw": 100, "connection": 2, "protected_word": 3}
    assert tomllib.loads(post.attrs["model_text"])["name"] == "published" == post.attrs["model"]
    assert (post.attrs["engine"], post.attrs["seed"]) == ("exact", 7)
    assert (post.attrs["attribute_words"], post.attrs["notes"]) == ("independent", "[]")
    assert json.loads(post.attrs["coverage"])["word_list"] == "mine"
    assert json.loads(post.attrs["versions"])["numpy"] == np.__version__
    assert post["constant_data/n"].to_numpy().tolist() == [[3, 5]] * 3
    assert post["constant_data/group"].to_numpy().tolist() == ["x", "x", "y"]
    attributes = post["constant_data/attribute_word"].to_numpy()
    assert attributes[post["constant_data/attribute_index"]].tolist() == table["attribute_word"].tolist()
    assert post["constant_data/class"].to_numpy().tolist() == ["neutral"] * 5 + ["stereotype"] * 3
    assert post["observed_data/distance"].to_numpy().tolist() == table["distance"].tolist()
    bare = bb.fit(small().drop(columns=["group", "attribute_class"]), draws=40, seed=0)
    assert bare["constant_data/group"].to_numpy().tolist() == ["", "", ""]


def test_a_seed_fixes_the_draws_and_none_takes_a_fresh_one():
    first, again, other, fresh = (bb.fit(small(), draws=40, seed=seed) for seed in (1, 1, 2, None))
    assert first["posterior"].identical(again["posterior"])
    assert not first["posterior"].equals(other["posterior"])
    repeated = bb.fit(small(), draws=40, seed=fresh.attrs["seed"])
    assert fresh["posterior"].identical(repeated["posterior"])


class TestPriorsOfOnesOwn:
    def test_they_are_said_and_change_the_posterior(self, religion):
        narrow = {"sigma": {"distribution": "half_normal", "sd": 0.02}}
        given, plain = (bb.fit(religion, "published", draws=400, seed=1, priors=each) for each in (narrow, None))
        assert given.attrs["model"] == "published"
        assert given.attrs["model_hash"] != bb.load_model("published").hash == plain.attrs["model_hash"]
        assert float(given["posterior/sigma"].mean()) < float(plain["posterior/sigma"].mean())
        assert {"model": "published", "names": ["sigma"]} in [note.numbers for note in bb.diagnose(given).notes]
        length = {"length": {word: float(len(word)) for word in religion["attribute_word"]}}
        post = bb.fit(religion, "crossed", draws=400, seed=1, adjust=length, priors={"sigma": {"rate": 9}})
        assert '"rate" = 9' in post.attrs["model_text"]

    def test_a_field_is_changed_alone_and_the_fit_remembers_it(self, religion, tmp_path):
        post = bb.fit(religion, "crossed", draws=400, seed=1, priors={"interaction_sd": {"rate": 5}})
        bb.save_fit(post, tmp_path / "fit.nc")
        text = bb.load_fit(tmp_path / "fit.nc").attrs["model_text"]
        (tmp_path / "mine.toml").write_text(text)
        again = bb.fit(religion, tmp_path / "mine.toml", draws=400, seed=1)
        assert again["posterior"].equals(post["posterior"])
        assert bb.load_model(tmp_path / "mine.toml").priors["interaction_sd"].rate == 5
        sections = [line for line in text.splitlines() if line.startswith("[")]
        assert sections == ["[likelihood]", "[terms]", "[priors]"]  # always in this order: the text has a hash

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            ({"x": {}}, "the model 'crossed' has no prior of 'x': valid are connection_mean, connection_sd0"),
            ({"sigma": {"rate": float("nan")}}, "should be a finite number"),
        ],
    )
    def test_others_are_refused(self, religion, given, message):
        with pytest.raises(bb.InputError, match=message):
            bb.fit(religion, "crossed", draws=400, seed=1, priors=given)


@pytest.mark.parametrize(
    ("change", "prior", "upper", "error", "least"),
    [
        ((), stats.expon(scale=0.5), 8.0, 6e-3, 0.2),
        ((('"exponential", rate = 2.0', '"half_normal", sd = 0.2'),), stats.halfnorm(scale=0.2), 1.5, 2e-3, 0.15),
    ],
    ids=["exponential", "half-normal"],
)
def test_one_row_leaves_little_more_than_the_prior(edited, change, prior, upper, error, least):
    one = small().head(1)
    post = bb.fit(one, edited("published", *change), draws=100_000, seed=0)
    expected = expected_scale(one["distance"][0], prior.pdf, upper)
    assert float(post["posterior/connection_sd"].mean()) == pytest.approx(expected, abs=error)
    assert least < float(post["posterior/connection_mean"].std()) < 0.3
    assert post.attrs["grid_mass_outside"] < 1e-6


@pytest.mark.parametrize(
    ("table", "model", "options", "message"),
    [
        (small().head(0), "published", {}, "no row"),
        (small(distance=np.nan), "crossed", {}, r"row 0, column 'distance' is empty \(23 more rows of 24 too\)"),
        (small(group=lambda t: t["connection"]), "published", {}, "is in two groups"),
        (small(distance=0.5), "published", {}, "do not vary"),
        (small(), "crossed", {"engine": "exat"}, "valid are auto, exact, marginal, nuts"),
        (small(), "crossed", {"draws": 4001}, "do not split evenly"),
    ],
)
def test_faulty_tables_and_options_are_refused(table, model, options, message):
    with pytest.raises(bb.InputError, match=message):
        bb.fit(table, model, **options)


def test_predictive_draws_have_the_moments_of_the_model():
    post = bb.fit(small(), "published", draws=40_000, seed=0)
    predicted = bb.checks.add_predictive(post)["posterior_predictive/distance"]
    mean, sigma = post["posterior/word_mean"].isel(protected_word=0, connection=1), post["posterior/sigma"][..., 1]
    variance = float(mean.var() + (sigma**2).mean())
    assert float(predicted.isel(pair=0).mean()) == pytest.approx(float(mean.mean()), abs=4 * (variance / 40_000) ** 0.5)
    assert float(predicted.isel(pair=0).var()) == pytest.approx(variance, rel=0.05)
    assert "posterior_predictive" not in post.children


def test_a_fit_is_saved_whole_or_not_at_all(tmp_path, religion_fit, limited_files):
    path = tmp_path / "fit.nc"
    bb.save_fit(religion_fit, path)
    assert bb.load_fit(path).identical(religion_fit)
    before = path.read_bytes()
    with limited_files(20_000), pytest.raises(OSError, match=r"cannot write fit\.nc"):
        bb.save_fit(religion_fit, path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_is_no_fit_is_refused(tmp_path):
    (tmp_path / "fit.nc").write_bytes(b"\x89HDF\r\n\x1a\n")
    with pytest.raises(bb.InputError, match="cannot be read"):
        bb.load_fit(tmp_path / "fit.nc")
