"""The examples in docstrings would fail, or print other numbers than they say."""

import doctest
import inspect
import warnings

import pytest

import bayesbias as bb

MODULES = [name for name in bb.__all__ if inspect.ismodule(getattr(bb, name))]
FULL = {"reliability.reliability_regression", "plots.plot_side_effects"}
"""They sample with NUTS, whose first compilation takes twenty seconds, or train classifiers to draw a picture."""
HOW = doctest.NORMALIZE_WHITESPACE


def functions():
    """Every public function by its name below ``bb``, once."""
    found = {name: getattr(bb, name) for name in bb.__all__ if inspect.isfunction(getattr(bb, name))}
    for module in MODULES:
        held = {name: getattr(getattr(bb, module), name) for name in getattr(bb, module).__all__}
        found |= {
            f"{module}.{name}": one
            for name, one in held.items()
            if inspect.isfunction(one) and one not in found.values()
        }
    return found


FUNCTIONS = functions()


def cases():
    """The names of all functions; those in FULL run only with --full."""
    return [pytest.param(name, marks=[pytest.mark.full] if name in FULL else []) for name in sorted(FUNCTIONS)]


@pytest.mark.usefixtures("remembered", "without_pictures")
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
