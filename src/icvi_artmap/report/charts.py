"""Line charts and trees as numbers for a template: coordinates, ticks, labels."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._support.wording import MINUS, counted, fixed
from icvi_artmap.inspection.tree_layout import MOST_NUMBERED, lay_out

if TYPE_CHECKING:
    from icvi_artmap.estimators.components import Joins

WIDTH, HEIGHT = 480, 250
LEFT, RIGHT, TOP, BOTTOM = 66, 14, 12, 40
#: A long line is cut into this number of stretches, and only the extremes of each are drawn.
STRETCHES = 250
#: A line of no more points than this has dots as well.
DOTS = 60
#: Width of a letter of a label on a phone.
LETTER = 9
#: Height of the strip of colours below a tree.
STRIP = 7


@dataclass(frozen=True, kw_only=True)
class Frame:
    """A box of WIDTH × HEIGHT, and where in it something is drawn."""

    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = WIDTH - RIGHT
    top: int = TOP
    bottom: int = HEIGHT - BOTTOM


@dataclass(frozen=True, kw_only=True)
class Chart(Frame):
    """A line chart."""

    line: str
    dots: list[tuple[float, float]]
    marked: tuple[float, float] | None
    borders: list[float]
    x_ticks: list[tuple[float, str]]
    y_ticks: list[tuple[float, str]]
    x_label: str
    y_label: str
    text: str  #: describes the chart in words


def line_chart(
    x: NDArray[Any],
    y: NDArray[Any],
    *,
    x_label: str,
    y_label: str,
    text: str,
    marked: float | None = None,
    borders: NDArray[Any] | None = None,
) -> Chart | None:
    """A chart of the finite values; None if there are fewer than two.

    ``marked`` is the x of a point to stress, ``borders`` has the x of vertical lines.
    """
    finite = np.isfinite(y)
    x, y = np.asarray(x, float)[finite], np.asarray(y, float)[finite]
    if len(x) < 2:
        return None
    kept = _thinned(y)
    low, high = float(y.min()), float(y.max())
    if low == high:
        low, high = low - 0.5 * max(1.0, abs(low)), high + 0.5 * max(1.0, abs(high))
    pad = 0.05 * (high - low)
    low, high = low - pad, high + pad
    first, last = float(x[0]), float(x[-1])
    up = ticks(low, high)
    left = _left(up)

    def across(value: float) -> float:
        return round(left + (value - first) / (last - first) * (WIDTH - left - RIGHT), 1)

    def down(value: float) -> float:
        return round(TOP + (high - value) / (high - low) * (HEIGHT - TOP - BOTTOM), 1)

    points = [(across(a), down(b)) for a, b in zip(x[kept], y[kept], strict=True)]
    at = None if marked is None else np.flatnonzero(x == marked)
    return Chart(
        left=left,
        line=" ".join(f"{a:g},{b:g}" for a, b in points),
        dots=points if len(points) <= DOTS else [],
        marked=None if at is None or len(at) == 0 else (across(x[at[0]]), down(y[at[0]])),
        borders=[] if borders is None else [across(b) for b in borders if first <= b <= last],
        x_ticks=[(across(t), label) for t, label in ticks(first, last, whole=True)],
        y_ticks=[(down(t), label) for t, label in up],
        x_label=x_label,
        y_label=y_label,
        text=text,
    )


@dataclass(frozen=True, kw_only=True)
class TreeChart(Frame):
    """A tree of joins."""

    joins: list[tuple[str, int | None]]  #: corners, and the cluster if the join was made
    leaves: list[tuple[float, int]]  #: where the colour of each begins, and its cluster
    leaf_width: float
    names: list[tuple[float, int]]
    y_ticks: list[tuple[float, str]]
    text: str  #: describes the chart in words
    strip: int = STRIP


def tree_chart(joins: Joins) -> TreeChart:
    """The tree in which components were joined to clusters, by prominence."""
    branches = lay_out(joins.first, joins.second, joins.prominence)
    count = len(branches.leaves)
    highest = 1.05 * float(branches.height.max(initial=0.0)) or 1.0
    each = (WIDTH - LEFT - RIGHT) / count

    def across(value: float) -> float:
        return round(LEFT + (value + 0.5) * each, 1)

    def down(value: float) -> float:
        return round(TOP + (highest - value) / highest * (HEIGHT - TOP - BOTTOM), 1)

    lines = [" ".join(f"{across(x):g},{down(y):g}" for x, y in line) for line in branches.lines()]
    own = [
        int(joins.clusters[a]) if made else None
        for a, made in zip(joins.first, joins.made, strict=True)
    ]
    numbered = count <= MOST_NUMBERED
    clusters = counted(len(np.unique(joins.clusters)), "cluster")
    return TreeChart(
        joins=list(zip(lines, own, strict=True)),
        leaves=[(across(i - 0.5), int(joins.clusters[c])) for i, c in enumerate(branches.leaves)],
        leaf_width=round(each, 2),
        names=[(across(i), int(c)) for i, c in enumerate(branches.leaves)] if numbered else [],
        y_ticks=[(down(t), label) for t, label in ticks(0.0, highest)],
        text=f"Tree of {counted(count, 'component')} joined to {clusters}.",
    )


def ticks(low: float, high: float, *, whole: bool = False) -> list[tuple[float, str]]:
    """About six round numbers between low and high, with labels that tell them apart."""
    raw = (high - low) / 6.0
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(m * power for m in (1.0, 2.0, 2.5, 5.0, 10.0) if m * power >= raw * (1.0 - 1e-9))
    if whole:
        step = max(1.0, round(step))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    places = max(0, -math.floor(math.log10(step) + 1e-9))
    if step < 1.0 and round(step * 10**places) * 10**-places != round(step, places + 1):
        places += 1  # 0.25
    largest = max(abs(low), abs(high))
    found = []
    for i in range(first, last + 1):
        value = i * step
        if largest >= 1e7 or largest < 1e-4:
            label = f"{value:.3g}".replace("-", MINUS)  # number() would write out all zeros
        else:
            label = fixed(value, places)
        found.append((value, label))
    return found


def _left(up: list[tuple[float, str]]) -> int:
    """Room for the labels of the upward axis, also as large as they are on a phone."""
    return max(LEFT, 30 + LETTER * max(len(label) for _, label in up))


def _thinned(y: NDArray[np.float64]) -> NDArray[np.int64]:
    """The positions to draw: all, or the first, the last and the extremes of every stretch."""
    if len(y) <= 2 * STRETCHES:
        return np.arange(len(y))
    edges = np.linspace(0, len(y), STRETCHES + 1).astype(int)
    kept = {0, len(y) - 1}
    for a, b in pairwise(edges):
        kept |= {int(a + y[a:b].argmin()), int(a + y[a:b].argmax())}
    return np.array(sorted(kept))
