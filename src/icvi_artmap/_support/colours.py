"""The colour, mark and line of a cluster: the same in all pictures and in the report."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

#: The rule of the palette (tests/test_colours.py computes it again). Candidates are the colours
#: whose red, green and blue are multiples of 15, whose chroma in OKLab is 0.05 to 0.24, and whose
#: contrast (WCAG) with white and with DARK is at least 2. After the first, each colour is the
#: candidate that is farthest from all colours before it. The distance of two colours is the least
#: of four in OKLab: as most people see them, and, times 1.75, as people without red, green or blue
#: cones see them.
# fmt: off
COLOURS = (
    "#0078B4", "#FF9600", "#A50000", "#C3A5FF", "#5AC3A5", "#96783C", "#690FC3", "#D20087",
    "#005A4B", "#965AFF", "#C37896", "#6996E1", "#960087", "#FF6969", "#4B4BE1", "#F02D00",
    "#96B4D2", "#B44BC3", "#875A69", "#F05AE1", "#5A4B1E", "#5A4BA5", "#D2B469", "#69A55A",
    "#873CC3", "#5A6987", "#D28700", "#FF96B4", "#A578C3", "#783C69", "#D278FF", "#C35A69",
    "#C39687", "#A54B2D", "#965AA5", "#4B9687", "#B40F4B", "#69C31E", "#A596C3", "#7869E1",
)
# fmt: on
#: The dark background of the report (``--panel`` in report.css).
DARK = "#171B20"
#: The first ten colours can be told apart at a glance. Every ten clusters have another mark for
#: their samples and another line for their boxes; the marks have the names that matplotlib uses.
PER_MARK = 10
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
LINES = ("-", "--", ":", "-.")
#: The colour of samples without a cluster, and of everything that should not attract the eye.
GREY = "#8C8C8C"
#: Luminance above which black is read more easily than white (WCAG: equal contrast with both).
EVEN = 0.179


class Style(NamedTuple):
    """How a cluster looks."""

    colour: str
    marker: str
    line: str


def style(number: int) -> Style:
    """The style of the cluster with that number; a negative number stands for no cluster."""
    if number < 0:
        return Style(GREY, MARKERS[0], LINES[0])
    turn = int(number) // PER_MARK
    return Style(
        COLOURS[int(number) % len(COLOURS)],
        MARKERS[turn % len(MARKERS)],
        LINES[turn % len(LINES)],
    )


def numbers(clusters: NDArray[Any]) -> NDArray[np.int64]:
    """The numbers of clusters with these labels: integers stand for themselves, others for ranks.

    So a cluster keeps its colour where others are missing.
    """
    if clusters.dtype.kind in "iu":
        return clusters.astype(np.int64)
    return np.unique(clusters, return_inverse=True)[1].astype(np.int64)


def luminance(rgb: NDArray[np.float64]) -> NDArray[np.float64]:
    """Relative luminance (WCAG) of colours (RGB, 0 to 1, in the last axis)."""
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return linear @ np.array([0.2126, 0.7152, 0.0722])


def ink(colours: NDArray[np.float64]) -> NDArray[np.str_]:
    """Black or white, for text on each of these colours (RGB, 0 to 1, in the last axis)."""
    return np.where(luminance(colours[..., :3]) > EVEN, "black", "white")
