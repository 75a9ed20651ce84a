"""Small charts of every column, cluster by cluster: a histogram in a lane for each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._support.wording import number
from icvi_artmap.inspection.profiles import sizes

if TYPE_CHECKING:
    from icvi_artmap.estimators.icvi_artmap import ICVIARTMAP

#: The largest numbers of columns, of clusters in each chart, and of lanes in all.
MOST_PANELS, MOST_LANES, ALL_LANES = 60, 20, 600
#: Bars of a histogram: so many for every root of the rows of the middle cluster.
PER_ROOT, FEWEST_BINS, MOST_BINS = 2.0, 8, 24
#: A chart shows all but this part of the rows at either end, which are counted in the last bars.
TAIL = 0.005
#: Size of a chart: its width, the room for numbers of clusters and for labels, and lanes.
WIDTH, LEFT, BOTTOM, TOP = 240, 26, 18, 4
LANE, BAR, NARROW_LANE, NARROW_BAR = 22, 18, 14, 11
#: Up to so many clusters have wide lanes, and their medians are told in words.
FEW = 10


@dataclass(frozen=True)
class Lane:
    """The rows of a cluster: the outline of a histogram, and where the median is."""

    cluster: int
    base: int  #: how far down it stands
    outline: str  #: a path
    median: float


@dataclass(frozen=True)
class Panel:
    """A column."""

    name: str
    width: int
    height: int
    left: int
    bar: int  #: the height of the highest bar
    lanes: list[Lane]
    low: str
    high: str
    text: str  #: describes the chart in words


@dataclass(frozen=True)
class Distributions:
    """The charts, and what they leave out."""

    panels: list[Panel]
    n_clusters: int  #: that have a lane, the largest ones


def distributions(
    model: ICVIARTMAP, X: NDArray[np.floating], names: list[str], order: NDArray[np.int64]
) -> Distributions:
    """Charts of the columns, in their order; of too many columns, of those first in ``order``.

    ``X``: rows as they are described, with ``names`` for their columns.
    """
    n = sizes(model)
    clusters = np.sort(np.argsort(-n, kind="stable")[:MOST_LANES])
    most = max(1, min(MOST_PANELS, ALL_LANES // len(clusters)))
    features = np.arange(len(names)) if len(names) <= most else order[:most]
    wanted = PER_ROOT * np.sqrt(np.median(n))
    bins = int(np.clip(wanted, FEWEST_BINS, MOST_BINS))
    panels = [_panel(X[:, f], model.labels_, clusters, names[f], bins) for f in features]
    return Distributions(panels, len(clusters))


def _panel(
    column: NDArray[np.floating],
    labels: NDArray[np.int64],
    clusters: NDArray[np.int64],
    name: str,
    bins: int,
) -> Panel:
    edges = _edges(column[labels >= 0], bins)
    lane, bar = (LANE, BAR) if len(clusters) <= FEW else (NARROW_LANE, NARROW_BAR)
    lanes, medians = [], []
    for i, cluster in enumerate(clusters):
        own = column[labels == cluster]
        place = np.searchsorted(edges, own, side="right") - 1
        counts = np.bincount(np.clip(place, 0, len(edges) - 2), minlength=len(edges) - 1)
        middle = float(np.median(own)) if len(own) else np.nan
        at = np.clip((middle - edges[0]) / (edges[-1] - edges[0]), 0.0, 1.0)
        base = TOP + (i + 1) * lane - 2
        across = round(LEFT + float(at) * (WIDTH - LEFT - 2), 1) if len(own) else float(LEFT)
        lanes.append(Lane(int(cluster), base, _outline(counts, base, bar), across))
        medians.append(f"{cluster}: {number(middle)}")
    return Panel(
        name=name,
        width=WIDTH,
        height=TOP + lane * len(clusters) + BOTTOM,
        left=LEFT,
        bar=bar,
        lanes=lanes,
        low=number(float(edges[0])),
        high=number(float(edges[-1])),
        text=f"{name} by cluster"
        + (f"; medians {', '.join(medians)}." if len(clusters) <= FEW else "."),
    )


def _edges(column: NDArray[np.floating], bins: int) -> NDArray[np.float64]:
    """Where the bars of a column begin and end; whole numbers that are few get a bar each."""
    low, high = (float(q) for q in np.quantile(column, [TAIL, 1.0 - TAIL]))
    if low == high:
        low, high = float(column.min()), float(column.max())
    if low == high:
        around = 0.5 * max(1.0, abs(low))
        return np.linspace(low - around, high + around, bins + 1)
    if high - low < MOST_BINS and (column == np.rint(column)).all():
        low, high = np.floor(low), np.ceil(high)
        return np.arange(low - 0.5, high + 1.0)
    return np.linspace(low, high, bins + 1)


def _outline(counts: NDArray[np.int64], base: int, bar: int) -> str:
    """The histogram as a path; the highest bar is as high as ``bar``."""
    each = (WIDTH - LEFT - 2) / len(counts)
    tops = np.round(base - bar * counts / max(1, int(counts.max())), 1)
    steps = [f"V{top:g}H{LEFT + (i + 1) * each:.4g}" for i, top in enumerate(tops)]
    return f"M{LEFT} {base}{''.join(steps)}V{base}Z"
