"""Hills of a density and the order in which they are joined: everything anew at every step."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Pair = tuple[int, int]


def distances(X: Array) -> Array:
    """Between all rows."""
    return np.array([[math.sqrt(((a - b) ** 2).sum()) for b in X] for a in X])


def nearest(X: Array, many: int) -> list[list[float]]:
    """For every row the distances to the ``many`` nearest of the other distinct rows."""
    distinct = np.unique(X, axis=0)
    out = []
    for row in X:
        apart = sorted(math.sqrt(((row - b) ** 2).sum()) for b in distinct if not (row == b).all())
        out.append(apart[:many])
    return out


def gap(X: Array, i: int, j: int, around: list[list[float]]) -> float:
    """min(d, 3) × ln(step / the usual step), where the step is longer than usual."""
    if (X[i] == X[j]).all():
        return 0.0
    usual = max(around[i][:3][-1], around[j][:3][-1])
    step = math.sqrt(((X[i] - X[j]) ** 2).sum())
    return min(X.shape[1], 3) * max(math.log(step / usual), 0.0)


def saddles(pairs: list[Pair], gaps: Array, density: Array, between: Array) -> Array:
    """The least density at both samples and half-way, lowered by the gap."""
    least = [
        min(density[i], density[j], middle) for (i, j), middle in zip(pairs, between, strict=True)
    ]
    return np.array(least) - gaps


def hills(pairs: list[Pair], saddle: Array, density: Array) -> list[set[int]]:
    """Samples, each a hill at first; hills without a valley of more than 0.1 become one.

    From the highest saddle down; of equals the first pair.
    """
    found = [{s} for s in range(len(density))]
    for at in sorted(range(len(pairs)), key=lambda at: (-saddle[at], at)):
        one, other = (next(hill for hill in found if s in hill) for s in pairs[at])
        lower = min(max(density[s] for s in hill) for hill in (one, other))
        if one is not other and lower - saddle[at] <= 0.1:
            found.remove(other)
            one |= other
    return found


@dataclass(frozen=True)
class Join:
    """Two groups of hills that become one; each has the number of its first hill."""

    first: int
    second: int
    prominence: float
    evidence: float


def join(n: Array, peak: Array, saddle: Array, cluster: list[int] | None = None) -> list[Join]:
    """Join what is parted least, groups of one cluster first; of equals the lowest numbers."""
    groups = [[i] for i in range(len(n))]
    kind = [0] * len(n) if cluster is None else list(cluster)
    joins = []
    while len(groups) > 1:
        trials = []
        for b in groups:
            for a in groups:
                if a[0] < b[0]:
                    lower = min(max(peak[i] for i in a), max(peak[i] for i in b))
                    prominence = lower - max(saddle[i, j] for i in a for j in b)
                    smaller = min(sum(n[i] for i in a), sum(n[i] for i in b))
                    evidence = prominence * math.sqrt(smaller) if prominence > 0 else prominence
                    apart = kind[a[0]] != kind[b[0]]
                    trials.append((apart, evidence, b[0], a[0], prominence))
        if all(trial[0] for trial in trials):
            kind = [0] * len(n)
        _, evidence, second, first, prominence = min(trials)
        joins.append(Join(first, second, prominence, evidence))
        taken = next(group for group in groups if group[0] == second)
        groups.remove(taken)
        next(group for group in groups if group[0] == first).extend(taken)
    return joins
