"""The examples in the docstrings of the main road run, and print what they say."""

import doctest
import inspect
import warnings

import pytest

import bayesbias as bb

FUNCTIONS = sorted(name for name in bb.__all__ if inspect.isfunction(getattr(bb, name)))
HOW = doctest.NORMALIZE_WHITESPACE


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_examples_of(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = doctest.DocTestFinder(recurse=False).find(getattr(bb, name), name, globs={"bb": bb})
    examples = [one for one in found if one.examples]
    assert examples, f"{name} has no Examples section"
    assert "\nExamples\n--------\n" in inspect.cleandoc(getattr(bb, name).__doc__)
    said = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for one in examples:
            doctest.DocTestRunner(optionflags=HOW).run(one, out=said.append)
    assert not said, "".join(said)
