"""The command line: how it ends."""

from __future__ import annotations

import json

import pytest

from icvi_artmap import __version__
from icvi_artmap.cli.app import run


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"icvi-artmap {__version__}\n"


def test_no_arguments_shows_the_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([]) == 0
    assert "info" in capsys.readouterr().out


def test_info_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["info", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["icvi-artmap"] == __version__


@pytest.mark.parametrize("arguments", [["nonsense"], ["info", "--nonsense"], ["info", "surplus"]])
def test_wrong_use_is_one_line_and_exit_code_2(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("icvi-artmap: ")
    assert printed.err.count("\n") == 1
