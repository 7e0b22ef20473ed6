"""What the README and the pages of docs/ show works as it stands."""

import re
from pathlib import Path

import pytest

import bayesbias as bb

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
METRICS = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")


def blocks(language, page=README):
    return re.findall(rf"```{language}\n(.*?)```", page, re.DOTALL)


@pytest.mark.full
def test_the_example_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in blocks("python"):
        exec(compile(block, "README.md", "exec"), names)
    assert (tmp_path / "report.html").is_file()
    assert "This fit passes its checks" in capsys.readouterr().out


def test_the_figures_of_the_metrics_are_those_that_are_computed():
    query = bb.load_query("weat7")
    found = bb.metric("weat_effect_size", "google-news-slice", query, p_value=True)
    drawn = bb.checks.bootstrap_metric("weat_effect_size", "google-news-slice", query)
    low, high = drawn.interval
    assert f"{found.value:.2f}, p = {found.p_value:.3f}".replace("0.", ".") in METRICS
    assert f"from −{-low:.2f} to {high:.2f}".replace("0.", ".") in METRICS
    row = drawn.posterior.iloc[0]
    assert row["model"] == "related"
    shown = f"from −{-row['low']:.3f} to {row['high']:.3f}".replace("0.", ".")
    assert shown in METRICS


def test_the_two_commands_are_there():
    assert "pip install uv && uv run bayesbias demo" in README
    assert "uv run pytest" in README


def test_links_to_files_of_the_project_lead_somewhere():
    named = re.findall(r"\]\(((?!http)[^)]+)\)", README) + re.findall(
        r"`((?:notebooks|data|models|docs)/[^`]*)`", README
    )
    assert named
    assert [name for name in named if not (ROOT / name).exists()] == []
