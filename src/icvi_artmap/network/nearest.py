"""The box of largest choice, whatever its match: for first partitions and for new samples."""

from __future__ import annotations

from icvi_artmap._compile.jit import jit
from icvi_artmap.network.boxes import CHOICE, choices, first_best
from icvi_artmap.samples.scaling import coded_row


@jit
def nearest_boxes(data, boxes, alpha, x_a, out):
    """out[s] = the box of largest choice for sample s. ``x_a``: scratch (2d,)."""
    for s in range(out.shape[0]):
        coded_row(data, s, x_a)
        choices(boxes, x_a, alpha)
        out[s] = first_best(boxes)


@jit
def cluster_choices(data, boxes, alpha, labels, x_a, out):
    """out[s, i] = the largest choice among the boxes that predict cluster i."""
    for s in range(out.shape[0]):
        coded_row(data, s, x_a)
        choices(boxes, x_a, alpha)
        for c in range(boxes.used[0]):
            out[s, labels[c]] = max(out[s, labels[c]], boxes.value[CHOICE, c])
