"""What the README shows works as it stands."""

import re
from pathlib import Path

import bayesbias as bb

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def block(language):
    return re.search(rf"```{language}\n(.*?)```", README, re.DOTALL).group(1)


def test_the_example_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    exec(compile(block("python"), "README.md", "exec"), {})
    assert (tmp_path / "report.html").is_file()
    assert "This fit can be read" in capsys.readouterr().out


def test_the_word_list_loads(tmp_path):
    (tmp_path / "mine.toml").write_text(block("toml"), encoding="utf-8")
    lists = bb.load_words(tmp_path / "mine.toml")
    assert lists.protected == {"nurses": ("nurse", "midwife"), "engineers": ("engineer", "mechanic")}
    assert set(lists.controls) == {"neutral", "human"}


def test_the_two_commands_are_there():
    assert "pip install uv && uv run bayesbias demo" in README
    assert "uv run pytest" in README


def test_links_to_files_of_the_project_lead_somewhere():
    root = Path(__file__).parents[1]
    named = re.findall(r"\]\(((?!http)[^)]+)\)", README) + re.findall(
        r"`((?:notebooks|data|models|docs)/[^`]*)`", README
    )
    assert named
    assert [name for name in named if not (root / name).exists()] == []
