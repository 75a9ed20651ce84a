"""The colour, mark and line of a cluster: the same in all pictures."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

#: After the first, each is the colour of middle lightness and chroma that is farthest in OKLab from
#: all before it. The least of four distances counts: as most people see them, and, times 1.5, as
#: those without red, green or blue cones do (tests/test_colours.py computes them again).
COLOURS = (
    "#0078B4",
    "#FFB400",
    "#B40000",
    "#69D2FF",
    "#690087",
    "#F06969",
    "#A587FF",
    "#4BA5A5",
    "#965A78",
    "#A5D296",
)
#: Beyond ten clusters colours come again, with another mark for samples and line for boxes.
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
LINES = ("-", "--", ":", "-.")
#: Samples that are in no cluster, and whatever is not to attract the eye.
GREY = "#8C8C8C"
#: Luminance above which black is read more easily than white (WCAG: equal contrast with both).
EVEN = 0.179


class Style(NamedTuple):
    """How a cluster looks."""

    colour: str
    marker: str
    line: str


def style(number: int) -> Style:
    """How the cluster of that number looks; a negative number stands for no cluster."""
    if number < 0:
        return Style(GREY, "o", LINES[0])
    turn, colour = divmod(int(number), len(COLOURS))
    return Style(COLOURS[colour], MARKERS[turn % len(MARKERS)], LINES[turn % len(LINES)])


def numbers(clusters: NDArray[Any]) -> NDArray[np.int64]:
    """Numbers of clusters with these labels: integers are their own, others their rank.

    So a cluster keeps its colour where others are missing.
    """
    if clusters.dtype.kind in "iu":
        return clusters.astype(np.int64)
    return np.unique(clusters, return_inverse=True)[1].astype(np.int64)


def ink(colours: NDArray[np.float64]) -> NDArray[np.str_]:
    """Black or white, for text on each of these colours (RGB, 0 to 1, in the last axis)."""
    rgb = colours[..., :3]
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return np.where(linear @ np.array([0.2126, 0.7152, 0.0722]) > EVEN, "black", "white")
