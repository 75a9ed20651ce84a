"""Average ranks, as the paper computes them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.stats import rankdata

#: The tables have this number of decimals; values that are equal there share a rank.
DECIMALS = 4


def average_ranks(values: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Rank of every column, 1 for the largest value of a row, averaged over the rows that have it.

    Examples
    --------
    >>> average_ranks({"one": {"a": 0.9, "b": 0.5}, "two": {"a": 0.7, "b": 0.7}})
    {'a': 1.25, 'b': 1.75}
    """
    ranks: dict[str, list[float]] = {}
    for row in values.values():
        rounded = np.round(list(row.values()), DECIMALS)
        for column, rank in zip(row, rankdata(-rounded), strict=True):
            ranks.setdefault(column, []).append(float(rank))
    return {column: float(np.mean(own)) for column, own in ranks.items()}
