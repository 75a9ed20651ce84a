"""The benchmark suites run, at sizes that measure nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


def test_suites_write_their_page(tmp_path: Path) -> None:
    checkout = Path(__file__).resolve().parents[1]
    command = [sys.executable, "-m", "benchmarks", "--smoke", "--out", str(tmp_path)]
    done = subprocess.run(command, cwd=checkout, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "benchmarks.md").read_text(encoding="utf-8")
    headings = (
        "Whole fits",
        "Incremental",
        "Growth",
        "Many clusters",
        "Memory",
        "artlib",
        "Streams",
        "VAT",
        "Compiling",
    )
    for heading in headings:
        assert f"## {heading}" in page
    assert (tmp_path / "images" / "incremental.png").stat().st_size > 10_000
    assert (tmp_path / "images" / "growth.png").stat().st_size > 10_000


def test_sections_that_are_renewed_name_another_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmarks import __main__, common

    page = "# Benchmarks\n\nOne processor, 2 cores.\n\n## A\n\n1\n\n## B\n\n2\n"
    monkeypatch.setattr(common, "processor", lambda: "One processor")
    same = __main__.renewed(page, ["## B\n\n3\n"], "command")
    assert same.endswith("## A\n\n1\n\n## B\n\nMade later than the rest, by `command`.\n\n3\n")
    monkeypatch.setattr(common, "processor", lambda: "Another")
    other = __main__.renewed(page, ["## B\n\n3\n"], "command")
    assert "by `command`, on another machine (Another).\n\n3\n" in other


def test_sections_of_the_quality_page_are_renewed() -> None:
    from benchmarks.quality.__main__ import renewed

    page = "\n".join(["# Quality\n\nHead\n", "## One\n\n1\n", "## Two\n\n2\n", "## All\n\n3\n"])
    assert renewed(page, ["## Two\n\nnew\n", "## Other\n"]) == [
        "## One\n\n1\n",
        "## Two\n\nnew\n",
        "## Other\n",
        "## All\n\n3\n",
    ]


def test_quality_writes_its_page(tmp_path: Path) -> None:
    checkout = Path(__file__).resolve().parents[1]
    command = [sys.executable, "-m", "benchmarks.quality", "--smoke", "--out", str(tmp_path)]
    done = subprocess.run(command, cwd=checkout, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "quality.md").read_text(encoding="utf-8")
    for heading in (
        "The paper's sets",
        "Generated sets",
        "The number of clusters",
        "scikit-learn's real data",
        "Real tables",
        "Missing values",
        "Olivetti faces",
        "Which indices are refined",
        "Scale",
        "Any shape",
        "Where we lose, and why",
    ):
        assert f"## {heading}\n" in page
    assert sorted(path.name for path in tmp_path.iterdir()) == ["quality.md"]


def test_the_table_of_indices_is_put_into_its_page(tmp_path: Path) -> None:
    checkout, page = Path(__file__).resolve().parents[1], tmp_path / "indices.md"
    begin, end = "<!-- made by benchmarks.quality.indices -->", "<!-- end of what is made -->"
    assert {begin, end} <= set((checkout / "docs" / "indices.md").read_text("utf-8").splitlines())
    page.write_text(f"before\n{begin}\nold\n{end}\nafter\n", encoding="utf-8")
    command = [sys.executable, "-m", "benchmarks.quality.indices", "--smoke"]
    command += ["--out", str(tmp_path)]
    done = subprocess.run(command, cwd=checkout, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = page.read_text(encoding="utf-8").splitlines()
    assert lines[:2] == ["before", begin]
    assert lines[-2:] == [end, "after"]
    assert "old" not in lines
    judged, driven = 2 + 15, 2 + 12  # lines of the two tables
    assert len([line for line in lines if line.startswith("| ")]) == judged + driven
