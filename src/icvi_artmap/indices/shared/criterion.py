"""What is compared when the number of clusters is chosen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi_artmap.samples.scaling import Data

Rater = Callable[[Any, float], float]

#: A margin is relied on from this part of the best criterion on.
CLEAR_PART = 0.01


@dataclass(frozen=True)
class Criterion:
    """How the number of clusters is chosen with an index.

    Attributes
    ----------
    rater : callable
        ``rater()(state, score)``: the criterion of the partition that the state of the index
        describes and that has this score; the least wins. A rater may remember clusters that it
        has seen, and serves one search.
    rule : str
        What the criterion is, in a few words; None: the index itself, turned if greater is better.
    at_least : callable
        ``at_least(state, data, labels)``: the criterion of these labels is no less than this,
        which takes longer to compute; None: there is no such bound.
    clear : callable
        ``clear(least)``: the margin from which the choice is relied on, where ``least`` is the
        criterion of the winner.
    """

    rater: Callable[[], Rater]
    rule: str | None
    clear: Callable[[float], float]
    at_least: Callable[[Any, Data, NDArray[np.int64]], float] | None = None

    def rule_of(self, name: str, direction: int) -> str:
        """The rule for an index of this name and direction."""
        if self.rule is not None:
            return self.rule
        return f"-{name}" if direction > 0 else name


def _turned() -> Rater:
    return lambda state, score: -score


def _part_of(least: float) -> float:
    return CLEAR_PART * abs(least)


#: The index compares numbers of clusters by its own value.
OWN_VALUE = Criterion(_turned, None, _part_of)
