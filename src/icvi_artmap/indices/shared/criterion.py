"""What is compared when the number of clusters is chosen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

#: A margin is relied on from this part of the best criterion on.
CLEAR_PART = 0.01


@dataclass(frozen=True)
class Criterion:
    """How the number of clusters is chosen with an index.

    Attributes
    ----------
    of : callable
        ``of(state, score)``: the criterion of the partition that the state of the index describes
        and that has this score; the least wins.
    rule : str
        What the criterion is, in a few words; None: the index itself, turned if greater is better.
    clear : callable
        ``clear(least)``: the margin from which the choice is relied on, where ``least`` is the
        criterion of the winner.
    """

    of: Callable[[Any, float], float]
    rule: str | None
    clear: Callable[[float], float]

    def rule_of(self, name: str, direction: int) -> str:
        """The rule for an index of this name and direction."""
        if self.rule is not None:
            return self.rule
        return f"-{name}" if direction > 0 else name


def _turned(state: Any, score: float) -> float:
    return -score


def _part_of(least: float) -> float:
    return CLEAR_PART * abs(least)


#: The index compares numbers of clusters by its own value.
OWN_VALUE = Criterion(_turned, None, _part_of)
