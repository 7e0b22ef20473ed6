"""A stored fit that lacks a part would end in a stray error, or be answered with numbers that mean nothing."""

import numpy as np
import pytest
import xarray as xr

import bayesbias as bb


def without(post, path):
    """A copy of a fit without one variable."""
    group, name = path.split("/")
    tree = post.copy(deep=True)
    tree[group] = xr.DataTree(tree[group].to_dataset().drop_vars(name))
    return tree


def with_attributes(post, **values):
    tree = post.copy()
    tree.attrs = {name: value for name, value in {**post.attrs, **values}.items() if value is not None}
    return tree


DAMAGED = {
    "a variable": (lambda post: without(post, "posterior/word_mean"), "damaged fit: posterior/word_mean"),
    "another version": (lambda post: with_attributes(post, schema_version=0), "its schema_version is 0"),
}


@pytest.mark.parametrize("kind", DAMAGED)
def test_a_file_that_lacks_a_part_is_named(made, kind, tmp_path):
    change, said = DAMAGED[kind]
    bb.save_fit(change(made.post), tmp_path / "fit.nc")
    with pytest.raises(bb.InputError, match=rf"fit\.nc is .*{said}"):
        bb.load_fit(tmp_path / "fit.nc")


def test_what_is_no_fit_is_refused(made):
    with pytest.raises(bb.InputError, match="no fit: give the DataTree that fit returns"):
        bb.contrasts(made.post.filter(lambda node: node.name != "constant_data"))


@pytest.mark.parametrize("name", ["adjusted", "framed"])
def test_whole_fits_are_taken_from_memory_and_from_files(made, name, tmp_path):
    post = getattr(made, name)
    bb.save_fit(post, tmp_path / "fit.nc")
    again = bb.contrasts(bb.load_fit(tmp_path / "fit.nc"))
    np.testing.assert_allclose(again["mean"], bb.contrasts(post)["mean"], rtol=1e-6)
