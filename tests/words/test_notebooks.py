"""A notebook would show results that its code does not give, or nothing at all."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted((ROOT / "notebooks").glob("*.py"))
LARGEST = 600_000
"""Bytes of a notebook with its pictures."""


def test_the_page_names_every_notebook():
    stems = [script.stem for script in SCRIPTS]
    assert [stem.partition("_")[0] for stem in stems] == [f"{number:02}" for number in range(1, len(stems) + 1)]
    page = (ROOT / "docs" / "notebooks" / "index.md").read_text(encoding="utf-8")
    assert re.findall(r"\]\((\w+)\.ipynb\)", page) == stems


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_notebook_is_in_step_small_and_tells_nothing_of_the_machine(script):
    import jupytext

    file = script.with_suffix(".ipynb")
    notebook = jupytext.read(file)
    written = [(cell.cell_type, cell.source) for cell in jupytext.read(script).cells]
    assert [(cell.cell_type, cell.source) for cell in notebook.cells] == written
    assert file.stat().st_size < LARGEST
    assert notebook.metadata["kernelspec"]["name"] == "python3"
    assert not [cell for cell in notebook.cells if "execution" in cell.metadata]
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert len(outputs) >= 8
    assert {output.output_type for output in outputs} <= {"execute_result", "display_data", "stream"}
    assert not [output for output in outputs if output.get("name") == "stderr"]
    texts = [output.get("text", "") for output in outputs]
    texts += [part for output in outputs for kind, part in output.get("data", {}).items() if kind.startswith("text/")]
    private = r"site-packages|(?<!\w)/(tmp|home|root|Users|work)/|\.\./(?!notes\.html#)"
    assert not [text for text in texts if re.search(private, text)]
