"""The command line on real tables: columns that are left out, gaps, transforms, categories."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cli_tools import blobs
from icvi_artmap import write_table
from icvi_artmap.cli.app import run as run_command


@pytest.fixture
def parsed(capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """What a command prints as JSON."""

    def run(*arguments: str) -> Any:
        assert run_command([*map(str, arguments), "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    return run


@pytest.mark.parametrize("command", ["fit", "compare", "tune", "score"])
def test_columns_that_should_not_be_there(command: str, tmp_path: Path, parsed: Any) -> None:
    X, labels = blobs()
    rng = np.random.default_rng(0)
    numbers = np.append(rng.permutation(len(X) - 2), [3, 4])
    columns = {"no": numbers, "a": X[:, 0], "b": X[:, 1], "junk": rng.random(len(X))}
    write_table(tmp_path / "t.csv", {**columns, "target": labels})
    more = {"score": ["target"], "compare": ["-k", "3", "--methods", "k-means"]}
    options = more.get(command, ["-k", "3"])
    if command == "tune":
        options += ["--rho-a", "0", "--rho-ab", "1"]
    found = parsed(command, tmp_path / "t.csv", *options, "--exclude", "junk")
    assert found["columns"] == ["a", "b"]
    left_out = [note for note in found["notes"] if "left out" in note]
    assert "'no'" in left_out[0]
    assert command == "score" or "'target'" in left_out[1]
