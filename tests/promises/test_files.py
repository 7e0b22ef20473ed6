"""Files are written whole or not at all."""

import os
from contextlib import contextmanager
from pathlib import Path

import pytest

from bayesbias._support.files import home_folder, whole_file, write_text
from bayesbias._support.paths import shipped


@contextmanager
def umask(mask):
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def stop_half_way(path, error):
    with whole_file(path) as temporary:
        temporary.write_text("half")
        raise error


def test_new_file(tmp_path):
    with whole_file(tmp_path / "a.csv") as temporary:
        temporary.write_text("new")
        assert not (tmp_path / "a.csv").exists()
    assert (tmp_path / "a.csv").read_text() == "new"
    assert names(tmp_path) == ["a.csv"]


def test_temporary_stands_in_the_same_folder_with_the_same_suffix(tmp_path):
    with whole_file(str(tmp_path / "a.parquet")) as temporary:
        assert isinstance(temporary, Path)
        assert (temporary.parent, temporary.suffix) == (tmp_path, ".parquet")


def test_earlier_file_is_replaced_at_once(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with path.open() as reader:
        with whole_file(path) as temporary:
            temporary.write_text("half")
            assert path.read_text() == "old"
            temporary.write_text("new")
        assert reader.read() == "old"
    assert path.read_text() == "new"
    assert names(tmp_path) == ["a.txt"]


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_mode_follows_the_umask(tmp_path, mask, mode):
    with umask(mask):
        write_text(tmp_path / "a.txt", "new")
        assert os.umask(mask) == mask
    assert (tmp_path / "a.txt").stat().st_mode & 0o777 == mode


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_failure_leaves_the_earlier_file(tmp_path, error):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(error):
        stop_half_way(path, error)
    assert path.read_text() == "old"
    assert names(tmp_path) == ["a.txt"]


def test_failure_leaves_no_new_file(tmp_path):
    with pytest.raises(ValueError, match="stop"):
        stop_half_way(tmp_path / "a.txt", ValueError("stop"))
    assert names(tmp_path) == []


def test_disk_without_room_leaves_the_earlier_file(limited_files, tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with limited_files(1000), pytest.raises(OSError, match="too large"):
        write_text(path, "x" * 2000)
    assert path.read_text() == "old"
    assert names(tmp_path) == ["a.txt"]


def test_missing_folder(tmp_path):
    with pytest.raises(OSError, match="gone"):
        write_text(tmp_path / "gone" / "a.txt", "new")
    assert names(tmp_path) == []


def test_folder_in_place_of_the_file(tmp_path):
    (tmp_path / "a.txt").mkdir()
    with pytest.raises(OSError, match=r"a\.txt"):
        write_text(tmp_path / "a.txt", "new")
    assert names(tmp_path) == ["a.txt"]
    assert (tmp_path / "a.txt").is_dir()


def test_text_is_utf_8(tmp_path):
    write_text(tmp_path / "a.txt", "größe − 東京\n")
    assert (tmp_path / "a.txt").read_bytes() == "größe − 東京\n".encode()


def test_home_folder_is_expanded(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert home_folder("~/a.txt") == tmp_path / "a.txt"
    write_text("~/a.txt", "new")
    assert names(tmp_path) == ["a.txt"]


def test_shipped_folders_hold_the_files():
    assert (shipped("data") / "manifest.toml").is_file()
    assert (shipped("models") / "published.toml").is_file()


def test_permissions_and_links_are_kept(tmp_path):
    private, link = tmp_path / "private.txt", tmp_path / "link.txt"
    private.write_text("old")
    private.chmod(0o600)
    link.symlink_to(private)
    write_text(link, "new")
    assert link.is_symlink()
    assert private.read_text() == "new"
    assert private.stat().st_mode & 0o777 == 0o600
