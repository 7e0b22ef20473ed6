"""A fit that was changed or cut would end in a stray error, or be answered with numbers that mean nothing."""

import numpy as np
import pytest
import xarray as xr

import bayesbias as bb
from bayesbias.models.layout import RECORDS, WRITTEN


def with_variable(post, path, change):
    """A copy of a fit with one variable changed."""
    group, name = path.split("/")
    tree = post.copy(deep=True)
    part = tree[group].to_dataset()
    tree[group] = xr.DataTree(part.assign({name: change(part[name])}))
    return tree


def set_first(value):
    """A change of the first number."""

    def change(values):
        copy = values.copy(deep=True).astype(np.result_type(values.dtype, type(value)))
        copy[(0,) * copy.ndim] = value
        return copy

    return change


def with_group(post, group, change):
    tree = post.copy(deep=True)
    tree[group] = xr.DataTree(change(tree[group].to_dataset()))
    return tree


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("coverage", "", "the attribute coverage is '', not the JSON that fit writes"),
        ("coverage", '{"lists": 5}', "coverage.word_list: "),
        ("coverage", None, "the attribute coverage is None"),
        ("notes", "{}", "the attribute notes is '{}'"),
        ("versions", 7, "the attribute versions is 7"),
        ("seed", "one", "the attribute seed is 'one': give a whole number of at least 0"),
        ("seed", -1, "the attribute seed is -1"),
        ("model", 3, "the attributes model and model_hash are not those of its model_text, 'crossed'"),
        ("model_hash", "", "the attributes model and model_hash are not those"),
        ("engine", "\x1b", "the attribute engine is"),
        ("model_text", "name = ", "the attribute model_text is not a TOML file"),
        ("log_evidence", "much", "the attribute log_evidence is 'much': give a finite number"),
    ],
)
def test_attributes_are_those_that_fit_writes(made, name, value, said):
    post = made.post.copy()
    post.attrs = {**post.attrs, name: value}
    with pytest.raises(bb.InputError, match=r"what was given is a damaged fit: .*give the tree as fit returns") as told:
        bb.contrasts(post)
    assert said in str(told.value)


@pytest.mark.parametrize("name", [*WRITTEN, *RECORDS, "seed"])
def test_every_attribute_is_needed(made, name):
    post = made.post.copy()
    post.attrs = {key: value for key, value in post.attrs.items() if key != name}
    for use in (bb.contrasts, bb.diagnose, bb.estimates, bb.cite):
        if use is bb.cite and name in ("model_text", "coverage"):
            continue  # any tree without these is no fit to it, and has no sources
        with pytest.raises(bb.InputError, match=f"the attribute {name} is missing"):
            use(post)


VARIABLES = {
    "enormous": ("posterior/sigma", set_first(1e30), "posterior/sigma holds 1 number of .* beyond all sense"),
    "NaN": (
        "posterior/sigma",
        set_first(np.nan),
        "posterior/sigma holds 1 number of .* that are NaN or beyond all sense",
    ),
    "infinite": ("posterior/word_mean", set_first(np.inf), "posterior/word_mean holds 1 number"),
    "an effect": ("posterior/interaction_effect", set_first(np.nan), "posterior/interaction_effect holds 1 number"),
    "negative": ("posterior/connection_sd", set_first(-1.0), "posterior/connection_sd holds -1: no scale is below 0"),
    "text": ("posterior/connection_mean", lambda values: values.astype(str), "posterior/connection_mean holds <U"),
    "complex": ("posterior/sigma", lambda values: values + 0j, "posterior/sigma holds complex128, not numbers"),
    "dims": (
        "posterior/sigma",
        lambda values: values.isel(connection=0, drop=True),
        "posterior/sigma has the dimensions chain, draw, not chain, draw, connection",
    ),
    "order": (
        "posterior/word_mean",
        lambda values: values.transpose("draw", "chain", ...),
        "posterior/word_mean has the dimensions draw, chain, protected_word, connection, not chain, draw",
    ),
    "fewer draws": ("posterior/sigma", lambda values: values[:, :-1], "posterior/sigma holds .* beyond all sense"),
    "distance": ("observed_data/distance", set_first(np.nan), "observed_data/distance holds 1 number"),
    "another distance": ("observed_data/distance", set_first(1.9), "constant_data/mean does not go with"),
    "index": ("constant_data/word_index", set_first(99), "constant_data/word_index holds places beyond the labels"),
    "group": ("constant_data/group", lambda values: values.astype(object).where(False, 3), "constant_data/group holds"),
    "count": ("constant_data/n", set_first(7), "constant_data/n does not go with observed_data/distance"),
}


@pytest.mark.parametrize("kind", VARIABLES)
def test_variables_are_those_of_the_model_and_finite(made, kind):
    path, change, said = VARIABLES[kind]
    with pytest.raises(bb.InputError, match=said):
        bb.contrasts(with_variable(made.post, path, change))


GROUPS = {
    "missing": ("posterior", lambda part: part.drop_vars("attribute_sd"), "there is no posterior/attribute_sd"),
    "unknown": (
        "posterior",
        lambda part: part.assign(other=part["sigma"]),
        "posterior/other is no variable of the model 'crossed'",
    ),
    "no draws": ("posterior", lambda part: part.isel(draw=slice(0)), "posterior/.* is empty"),
    "labels": (
        "posterior",
        lambda part: part.assign_coords(protected_word=part["protected_word"].to_numpy()[::-1]),
        "the labels of protected_word in posterior are",
    ),
    "no labels": ("posterior", lambda part: part.drop_vars("connection"), "the labels of connection in posterior are"),
    "groups": (
        "posterior",
        lambda part: part.assign_coords(word_group=["a", "z"]),
        "the labels of word_group in posterior are not a, b",
    ),
    "words": (
        "constant_data",
        lambda part: part.assign_coords(attribute_word=["k"] * part.sizes["attribute_word"]),
        "the labels of attribute_word in constant_data are",
    ),
    "fewer pairs": (
        "observed_data",
        lambda part: part.isel(pair=slice(3)),
        "observed_data has 3 of pair",
    ),
    "statistics": ("sample_stats", lambda part: part.assign(pareto_k=("x", ["a"])), "sample_stats/pareto_k is not"),
}


@pytest.mark.parametrize("kind", GROUPS)
def test_groups_are_whole_and_in_step(made, kind):
    group, change, said = GROUPS[kind]
    with pytest.raises(bb.InputError, match=said):
        bb.diagnose(with_group(made.post, group, change))


@pytest.mark.parametrize(
    ("group", "change", "said"),
    [
        ("adjustment", lambda part: part.drop_vars("value"), "there is no adjustment/value"),
        (
            "unadjusted/observed_data",
            lambda part: part.isel(pair=slice(3)),
            "the group unadjusted of what was given is a damaged fit: observed_data has 3 of pair",
        ),
    ],
)
def test_what_an_adjustment_records_is_held_to_the_same(made, group, change, said):
    with pytest.raises(bb.InputError, match=said):
        bb.checks.adjustment(with_group(made.adjusted, group, change))


def test_what_templates_record_is_held_to_the_same(made):
    for said, change in {
        "there is no templates/contrast_template": lambda part: part.drop_vars("contrast_template"),
        "templates/word_shift holds <U": lambda part: part.assign(word_shift=part["word_shift"].astype(str)),
        "the attribute templates of the group templates is 'x'": lambda part: part.assign_attrs(templates="x"),
    }.items():
        with pytest.raises(bb.InputError, match=said):
            bb.contrasts(with_group(made.framed, "templates", change))


def test_relatedness_of_other_words_is_refused(made):
    def renamed(part):
        words = part["protected_word"].to_numpy().astype(object)
        return part.assign_coords(protected_word=["another", *words[1:]])

    with pytest.raises(bb.InputError, match="the relatedness of the table does not know the word"):
        bb.contrasts(with_group(made.related, "relatedness", renamed))
    for said, change in {
        "attributes holds vectors that are longer than 1": lambda part: part.assign(attributes=part["attributes"] * 9),
        "scatter holds values that are no numbers": lambda part: part.assign(scatter=part["scatter"] + 0j),
    }.items():
        with pytest.raises(bb.InputError, match=f"this is no relatedness as distance_table makes it: {said}"):
            bb.contrasts(with_group(made.related, "relatedness", change))
    with pytest.raises(bb.InputError, match="damaged fit: this is no relatedness as distance_table makes it"):
        bb.contrasts(with_group(made.related, "relatedness", lambda part: part.drop_vars("scatter")))


def test_a_file_is_named(made, tmp_path):
    bb.save_fit(with_variable(made.post, "posterior/sigma", set_first(np.nan)), tmp_path / "fit.nc")
    with pytest.raises(bb.InputError, match=r"fit\.nc is a damaged fit: posterior/sigma holds 1 number"):
        bb.load_fit(tmp_path / "fit.nc")
    with pytest.raises(bb.InputError, match="what was given is no fit, since it has no constant_data"):
        bb.contrasts(made.post.filter(lambda node: node.name != "constant_data"))


@pytest.mark.parametrize("dims", [("chain", "draw"), ("protected_word", "connection")])
def test_stacked_coordinates_are_refused_and_nothing_is_written(made, dims, tmp_path):
    stacked = made.post.copy()
    stacked["posterior"] = xr.DataTree(made.post["posterior"].dataset.stack(cell=dims))
    with pytest.raises(bb.InputError, match=r"cannot hold this fit: variable 'cell' is a MultiIndex.*; unstack it"):
        bb.save_fit(stacked, tmp_path / "fit.nc")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["post", "related", "published", "adjusted", "framed"])
def test_whole_fits_are_taken_from_memory_and_from_files(made, name, tmp_path):
    post = getattr(made, name)
    bb.save_fit(post, tmp_path / "fit.nc")
    again = bb.contrasts(bb.load_fit(tmp_path / "fit.nc"))
    np.testing.assert_allclose(again["mean"], bb.contrasts(post)["mean"], rtol=1e-6)
