"""Values missing at random: what fills do to the clusters and to their number."""

from __future__ import annotations

from statistics import fmean
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.metrics import adjusted_rand_score

from benchmarks.common import table
from benchmarks.quality.sets import Sizes
from icvi_artmap import ICVIARTMAP
from icvi_artmap.datasets import make_gaussian_clusters

Fill = Literal["drop", "mean", "median", "neighbours"]
FILLS: tuple[Fill, ...] = ("drop", "mean", "median", "neighbours")
#: Clusters, rows of a set, parts of the cells that are missing, and features.
CLUSTERS, ROWS, PARTS, FEATURES = 5, 1_000, (0.03, 0.1, 0.3), (2, 5, 10)

TEXT = """## Missing values

{clusters} Gaussian clusters, {rows:,} rows, a part of the cells missing at random; means over
{states} sets. "Before": filled by scikit-learn's imputers, and then fitted as if the values were
measured. The others are `missing` of the model, which finds clusters on rows without gaps where
these are enough. ARI over all rows with k given ("drop": over those that are left), and how often
`"auto"` chose {clusters} clusters, with the numbers that it chose.
"""


class Way(NamedTuple):
    """How gaps are treated: by the model, or before."""

    name: str
    missing: Fill | None
    imputer: Any = None


WAYS = [
    Way("mean, before", None, SimpleImputer()),
    Way("neighbours, before", None, KNNImputer()),
    *(Way(fill, fill) for fill in FILLS),
]


def run_gaps(sizes: Sizes) -> str:
    rows = []
    for d in FEATURES[: sizes.states]:
        for part in PARTS[: sizes.states]:
            for way in WAYS[: sizes.fills]:
                found = [_outcome(d, part, way, state) for state in range(sizes.states)]
                aris, numbers = zip(*found, strict=True)
                right = sum(number == CLUSTERS for number in numbers)
                rows.append(
                    [
                        f"d = {d}, {part:.0%} missing: {way.name}",
                        f"{fmean(aris):.3f}",
                        f"{right} of {len(found)}",
                        ", ".join(map(str, numbers)),
                    ]
                )
    text = TEXT.format(clusters=CLUSTERS, rows=ROWS, states=sizes.states)
    return f"{text}\n{table(['', 'ARI', 'k right', 'k'], rows)}\n"


def _outcome(d: int, part: float, way: Way, state: int) -> tuple[float, int]:
    """ARI with k given, and the k that is chosen."""
    X, y = make_gaussian_clusters(CLUSTERS, d, n_samples=ROWS, random_state=state)
    X = with_gaps(X, part, state)
    missing: Any = way.missing or "error"
    if way.imputer is not None:
        deviation = np.nanstd(X, axis=0)  # neighbours are near in standardised columns
        X = way.imputer.fit_transform(X / deviation) * deviation
    labels = ICVIARTMAP(CLUSTERS, missing=missing, random_state=0).fit(X).labels_
    kept = labels >= 0
    chosen = ICVIARTMAP("auto", missing=missing, random_state=0).fit(X).n_clusters_
    return float(adjusted_rand_score(y[kept], labels[kept])), chosen


def with_gaps(X: NDArray[np.float64], part: float, state: int) -> NDArray[np.float64]:
    """The same with a random part of the cells missing, and a value left in every row."""
    gaps = np.random.RandomState(state).random_sample(X.shape) < part
    gaps[gaps.all(axis=1), 0] = False
    return np.where(gaps, np.nan, X)
