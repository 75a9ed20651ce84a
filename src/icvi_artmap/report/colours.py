"""Colours of clusters, on light and on dark paper."""

from __future__ import annotations

#: Six of Okabe and Ito's colours; then always the colour farthest from all before it, where the
#: distance of two colours is the least of those seen with normal, protanopic and deuteranopic
#: vision (OKLab). All have a contrast of at least 2 with white and with the dark background.
# fmt: off
COLOURS = (
    "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#872D1E", "#0000FF",
    "#5A87FF", "#005A69", "#C3B496", "#1E7869", "#004BA5", "#A54B2D", "#0F69F0", "#FF78D2",
    "#E100C3", "#5A0FD2", "#2D6987", "#F0694B", "#0087D2", "#783C4B", "#1EA5FF", "#5A7896",
    "#00D25A", "#B4A5A5", "#2D5A96", "#00A54B", "#00960F", "#E16978", "#B44B5A", "#963C00",
    "#F03CD2", "#B4A578", "#3C4BE1", "#2D4B87", "#96A5C3", "#961E69", "#699696", "#2D784B",
)
# fmt: on


def cluster_colours(k: int) -> list[str]:
    """A colour for each of k clusters, "#RRGGBB"; beyond forty they come again.

    Forty colours cannot all be told apart at a glance: the report draws another shape for every
    eight clusters, and the number of each at its centre.
    """
    return [COLOURS[i % len(COLOURS)] for i in range(k)]
