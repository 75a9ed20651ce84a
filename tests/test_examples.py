"""The examples of the gallery run as scripts, without a display, and print what their text says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def printed_by(name: str) -> str:
    """Run an example in a process of its own; warnings count as failures."""
    headless = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "MPLBACKEND")}
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name)],
        env=headless,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Warning" not in done.stderr
    return done.stdout


def values(pattern: str, text: str) -> list[float]:
    return [float(value) for value in re.findall(pattern, text)]


def test_quick_start() -> None:
    out = printed_by("plot_quick_start.py")
    assert "3859 samples, 2 features" in out
    assert re.search(r"^10 clusters, NI = -2\.58", out, re.M)
    assert len(rand := values(r"adjusted Rand index.*: (\S+)", out)) == 2
    assert min(rand) > 0.99
    (margin,) = values(r"margin (\S+), clear: True", out)
    assert margin >= 10
    assert re.search(r"^Sample \d+ fits cluster \d best\.$", out, re.M)
    *_, last = out.splitlines()
    assert re.fullmatch(r"\[\d \d \d\]", last)
    assert len(set(last[1:-1].split())) == 3  # the text has taken them from three clusters


def test_choosing_k() -> None:
    out = printed_by("plot_choosing_k.py")
    assert "178 samples, 13 features, 3 cultivars" in out
    assert "RuntimeWarning: n_clusters=4 is not a clear choice" in out
    assert "chosen: 4 clusters" in out
    four, three = (
        np.array([[int(count) for count in re.findall(r"\d+", row)] for row in table.splitlines()])
        for table in re.findall(r"^\[\[.*?\]\]$", out, re.M | re.S)
    )
    # What the text says of the cultivars; the order of the clusters means nothing.
    assert sorted(map(sorted, four.tolist())) == [[0, 0, 0, 48], [0, 0, 0, 59], [0, 4, 10, 57]]
    assert len(set(four.argmax(axis=1))) == 3
    assert sorted(map(sorted, three.tolist())) == [[0, 0, 48], [0, 0, 59], [0, 1, 70]]
    rand = values(r"\nadjusted Rand index: (\S+)", out)
    assert rand == pytest.approx([0.8494, 0.9832], abs=1e-4)
    rest = re.findall(r"from \d on: (\d+) clusters, margin \S+, clear: (\w+)", out)
    assert len({k for k, _ in rest}) > 1
    assert {clear for _, clear in rest} == {"False"}
    classes, found, chosen = values(r"NI of .*: +(\S+)", out)
    assert classes > found > chosen  # smaller is better


def test_any_shape() -> None:
    out = printed_by("plot_any_shape.py")
    rows = re.findall(r"^ARI, (\w+) +(\S+) +(\S+) +(\S+)$", out, re.M)
    assert len(rows) == 8  # all but the set without structure
    ours, hdbscan, mixture = ({name: float(row[i]) for name, *row in rows} for i in range(3))
    assert min(ours.values()) > 0.9
    for name in ("circles", "moons", "spirals", "rings", "squares"):
        assert ours[name] == 1.0
    # What the text and the page "Clusters of any shape" say of the others.
    assert max(mixture[name] for name in ("circles", "moons", "spirals", "rings")) < 0.6
    assert hdbscan["spirals"] < 0.8
    assert re.search(r"^3 clusters, clear: True$", out, re.M)


def test_drifting_stream() -> None:
    out = printed_by("plot_drifting_stream.py")
    told = re.findall(
        r"^forgetting: clusters changed after row (\S+), told after row (\S+)$", out, re.M
    )
    ((where, when),) = [[int(row.replace(",", "")) for row in pair] for pair in told]
    assert 19_900 <= where <= 20_100
    assert 20_000 < when < 22_000
    means = {
        name: (float(a), float(b))
        for name, a, b in re.findall(r"^(\S.*?) +(\S+) before, (\S+) after$", out, re.M)
    }
    assert min(before for before, _ in means.values()) > 0.95
    assert means["ICVIARTMAP"][1] > 0.9 * means["ICVIARTMAP"][0]
    assert max(means[name][1] for name in means if name != "ICVIARTMAP") < 0.9
    assert "steady: clusters changed after row" in out


def test_own_index() -> None:
    out = printed_by("plot_own_index.py")
    (error,) = values(r"largest relative difference: (\S+)", out)
    assert error < 1e-12
    after, all_samples = values(r"(-\d+\.\d{6})", out)
    assert after == pytest.approx(all_samples, rel=1e-9)
    found, truth = re.search(r"BR = (\S+), of the true classes (\S+)", out).groups()  # type: ignore[union-attr]
    assert float(found) < float(truth)
    table = {row[0]: [float(cell) for cell in row[1:]] for row in _rows(out)}
    assert list(table) == ["NI", "BR", "CH"]
    # What docs/custom_index.md says of them: the table there is this one.
    page = (EXAMPLES.parent / "docs" / "custom_index.md").read_text(encoding="utf-8")
    for name, cells in table.items():
        assert re.search(rf"\| {name} . \| " + r" \| ".join(f"{c:.3f}" for c in cells), page), name


def test_deep_digits() -> None:
    pytest.importorskip("torch", reason="there is no PyTorch: make test-deep")
    out = printed_by("plot_deep_digits.py")
    assert "1,797 images of 64 pixels" in out
    (pixels,) = values(r"clusters of the pixels: ARI (\S+)", out)
    (latents,) = values(r"clusters of the latents: ARI (\S+)", out)
    assert latents > pixels + 0.05


def _rows(out: str) -> list[list[str]]:
    return [line.split() for line in out.splitlines() if re.match(r"(NI|BR|CH) +\d", line)]


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("plot_*.py")), ids=lambda path: path.stem)
def test_gallery_format(path: Path) -> None:
    """A title and what it is about, then cells of prose and code: also a notebook's."""
    text = path.read_text(encoding="utf-8")
    title, underline = re.match(r'"""\n(.+)\n(=+)\n\n\w', text).groups()  # type: ignore[union-attr]
    assert len(title) == len(underline)
    assert text.count("\n# %%\n") >= 2
    assert "plt.show()" in text
    assert "__main__" not in text


def test_rows_that_belong_nowhere() -> None:
    out = printed_by("plot_noise.py")
    (noise, scattered) = map(int, re.findall(r"^(\d+) rows are noise, (\d+) of", out, re.M)[0])
    assert 6 <= scattered <= noise <= 14
    memberships = [values(r"(\d\.\d*)", row) for row in re.findall(r"\] \[(.*)\]$", out, re.M)]
    assert max(memberships[0]) > 0.99
    assert 0.5 <= max(memberships[1]) < 0.9  # between two clusters


def test_a_table_as_it_comes() -> None:
    out = printed_by("plot_real_table.py")
    (agreement,) = values(r"agreement with the three kinds: (\S+)", out)
    assert agreement > 0.95
    assert re.search(r"^cluster 0: age 2[6-9], visits 9", out, re.M)  # half of all: the largest


def test_clusters_at_all() -> None:
    assert "rows in clusters, 400 rows without" in printed_by("plot_before_clustering.py")


def test_a_row_explained() -> None:
    out = printed_by("plot_explained.py")
    sizes = [int(n) for n in re.findall(r"\d+", out.splitlines()[0])]
    assert sum(sizes) == 150
    assert sizes == sorted(sizes, reverse=True)
    assert re.search(r"^Sample \d+ fits cluster \d best\.$", out, re.M)
    assert "petal" in out
