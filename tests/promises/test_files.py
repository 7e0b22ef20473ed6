"""A stopped program or a full disk would leave half a file, or take away the file that was there."""

import os

import pytest

from bayesbias._support.files import home_folder, whole_file, write_text


def stop_half_way(path):
    with whole_file(path) as temporary:
        temporary.write_text("half")
        raise KeyboardInterrupt


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def path(tmp_path):
    """A file alone in its folder, with the text "old"."""
    path = tmp_path / "a.txt"
    path.write_text("old")
    return path


def test_earlier_file_is_replaced_at_once(path):
    with path.open() as reader:
        with whole_file(path) as temporary:
            temporary.write_text("half")
            assert path.read_text() == "old"
            temporary.write_text("new")
        assert reader.read() == "old"
    assert path.read_text() == "new"
    assert names(path.parent) == ["a.txt"]


def test_mode_follows_the_umask(tmp_path):
    before = os.umask(0o077)
    try:
        write_text(tmp_path / "a.txt", "new")
    finally:
        os.umask(before)
    assert (tmp_path / "a.txt").stat().st_mode & 0o777 == 0o600


def test_permissions_and_links_are_kept(path):
    path.chmod(0o600)
    link = path.with_name("link.txt")
    link.symlink_to(path)
    write_text(link, "new")
    assert link.is_symlink()
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o600


def test_failure_leaves_the_earlier_file_and_no_new_one(path):
    for name in ("a.txt", "b.txt"):
        with pytest.raises(KeyboardInterrupt):
            stop_half_way(path.with_name(name))
    assert path.read_text() == "old"
    assert names(path.parent) == ["a.txt"]


def test_disk_without_room_leaves_the_earlier_file(limited_files, path):
    with limited_files(1000), pytest.raises(OSError, match="too large"):
        write_text(path, "x" * 2000)
    assert path.read_text() == "old"
    assert names(path.parent) == ["a.txt"]


def test_a_read_only_file_stays(path):
    path.chmod(0o444)
    with pytest.raises(OSError, match=r"cannot write a\.txt .*read-only"):
        write_text(path, "new")
    assert path.read_text() == "old"
    assert names(path.parent) == ["a.txt"]


def test_text_is_utf_8_and_the_home_folder_is_expanded(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert home_folder("~/a.txt") == tmp_path / "a.txt"
    write_text("~/a.txt", "größe − 東京\n")
    assert (tmp_path / "a.txt").read_bytes() == "größe − 東京\n".encode()
    assert names(tmp_path) == ["a.txt"]
