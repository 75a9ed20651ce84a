"""How sure the clusters of rows are, as two columns beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from icvi_artmap.estimators.icvi_artmap import ICVIARTMAP

#: Rows whose memberships are held at a time.
BLOCK = 10_000


class Certainty(NamedTuple):
    """How probable the cluster of every row is, and which comes next."""

    membership: NDArray[np.float64]  #: of the row's cluster; NaN for rows that are in none
    runner_up: NDArray[np.int64]  #: the most probable other cluster; of noise the most probable


def certainty(
    model: ICVIARTMAP, rows: NDArray[np.floating], labels: NDArray[np.int64]
) -> Certainty:
    """The membership of every row in its cluster, and its runner-up.

    ``rows``: as :func:`rows_of` returns them. ``labels``: negative for rows that are in no cluster.
    A single cluster is its own runner-up.
    """
    membership, runner_up = np.full(len(labels), np.nan), np.zeros(len(labels), np.int64)
    for start in range(0, len(labels), BLOCK):
        some = slice(start, start + BLOCK)
        parts, own = model.fitted_.memberships(rows[some]), labels[some]
        placed = np.flatnonzero(own >= 0)
        membership[some][placed] = parts[placed, own[placed]]
        if parts.shape[1] > 1:
            parts[placed, own[placed]] = -1.0
        runner_up[some] = parts.argmax(axis=1)
    return Certainty(membership, runner_up)
