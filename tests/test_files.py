"""Files appear whole or not at all, and nothing but plain files is replaced."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import pytest

from icvi_artmap import FuzzyART, save, write_table
from icvi_artmap._support.files import replaced


def test_the_old_file_stays_until_the_new_one_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    with replaced(path) as temporary:
        temporary.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    with suppress(RuntimeError), replaced(path) as temporary:
        temporary.write_text("broken")
        raise RuntimeError
    assert path.read_text() == "new"
    assert os.listdir(tmp_path) == ["file"]


def test_the_target_of_a_link_is_written(tmp_path: Path) -> None:
    target, link = tmp_path / "folder" / "target", tmp_path / "link"
    target.parent.mkdir()
    target.write_text("old")
    link.symlink_to(target)
    with pytest.warns(UserWarning, match="link' is a link: its target"), replaced(link) as name:
        name.write_text("new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert os.listdir(target.parent) == ["target"]


def test_a_link_to_a_new_file(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "new")
    with pytest.warns(UserWarning, match="is a link"), replaced(link) as name:
        name.write_text("new")
    assert (tmp_path / "new").read_text() == "new"


def test_a_circle_of_links(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(OSError, match="link"), replaced(tmp_path / "a"):
        pass


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_left_as_it_is(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.icvi"
    os.mkfifo(pipe)
    model = FuzzyART().fit([[0.0], [1.0]])
    with pytest.raises(OSError, match="not a plain file, and is left as it is"):
        save(model, pipe)
    table = tmp_path / "pipe.csv"
    os.mkfifo(table)
    with pytest.raises(OSError, match="not a plain file"):
        write_table(table, {"a": [1]})
    assert pipe.is_fifo()
    assert table.is_fifo()
    assert sorted(os.listdir(tmp_path)) == ["pipe.csv", "pipe.icvi"]


@pytest.mark.skipif(not Path("/dev/null").is_char_device(), reason="this system has no /dev/null")
def test_a_device_is_left_as_it_is() -> None:
    with pytest.raises(OSError, match="not a plain file"), replaced("/dev/null"):
        pass
    assert Path("/dev/null").is_char_device()
