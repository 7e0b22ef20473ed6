"""The examples in docstrings would fail, or print other numbers than they say."""

import doctest
import inspect
import warnings

import pytest

import bayesbias as bb

MODULES = [bb, *(getattr(bb, name) for name in bb.__all__ if inspect.ismodule(getattr(bb, name)))]
SLOW = {"reliability_regression", "plot_side_effects", "side_effects", "sweep"}
"""They sample with NUTS, whose first compilation takes twenty seconds, train classifiers, or hash what is given."""
HOW = doctest.NORMALIZE_WHITESPACE
FUNCTIONS = {
    one.__name__: one
    for module in MODULES
    for one in (getattr(module, name) for name in module.__all__)
    if inspect.isfunction(one)
}
"""Every public function by its name."""


def cases():
    """The names of all functions: beyond the first of a module they run only with --full."""
    first = {one.__module__: name for name, one in sorted(FUNCTIONS.items(), reverse=True) if name not in SLOW}
    return [pytest.param(name, marks=[] if name in first.values() else pytest.mark.slow) for name in sorted(FUNCTIONS)]


@pytest.mark.usefixtures("without_pictures")
@pytest.mark.parametrize("name", cases())
def test_the_examples_of(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = doctest.DocTestFinder(recurse=False).find(FUNCTIONS[name], name, globs={"bb": bb})
    examples = [one for one in found if one.examples]
    assert examples, f"{name} has no Examples section"
    assert "\nExamples\n--------\n" in inspect.cleandoc(FUNCTIONS[name].__doc__)
    said = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for one in examples:
            doctest.DocTestRunner(optionflags=HOW).run(one, out=said.append)
    assert not said, "".join(said)
