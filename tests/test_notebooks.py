"""A notebook and its script hold the same cells, and the notebook holds results without errors."""

from pathlib import Path

import jupytext
import pytest

SCRIPTS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.py"))


def test_there_are_notebooks():
    assert SCRIPTS


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_notebook_and_script_are_in_step(script):
    notebook = jupytext.read(script.with_suffix(".ipynb"))
    written = [(cell.cell_type, cell.source) for cell in jupytext.read(script).cells]
    assert [(cell.cell_type, cell.source) for cell in notebook.cells] == written
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert len(outputs) >= 8
    assert {output.output_type for output in outputs} <= {"execute_result", "display_data", "stream"}
    assert not [output for output in outputs if output.get("name") == "stderr"]
    assert "site-packages" not in script.with_suffix(".ipynb").read_text(encoding="utf-8")  # a warning's path
