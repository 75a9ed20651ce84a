"""How well the number of clusters is chosen, and what the margin of the choice tells."""

from __future__ import annotations

from itertools import pairwise
from statistics import fmean
from typing import NamedTuple

from sklearn.metrics import adjusted_rand_score

from benchmarks.common import Problem, table
from benchmarks.quality import sets
from benchmarks.quality.sets import Sizes
from icvi_artmap import ICVIARTMAP
from icvi_artmap.indices.ni import CLEAR

TEXT = """## The number of clusters

`ICVIARTMAP("auto", random_state=0)` on the generated sets. Margin: `selection_.margin`, by how much
the criterion of the runner-up is larger. The criterion has two constants that were chosen on sets
with `random_state` 0 to 2; "fresh" are those with other seeds.
"""

MARGINS = """How often the choice is right, by its margin. `selection_.clear` is a margin of at
least {clear:g}, and the same number on both halves of the rows; else a warning is given.
"""

#: The first so many seeds were used to choose the constants of the criterion.
CHOSEN_ON = 3
BOUNDS = (0.0, 5.0, 10.0, 20.0, 50.0, 100.0, float("inf"))


class Choice(NamedTuple):
    """A fit with the number of clusters left open."""

    true: int
    chosen: int
    ari: float
    margin: float
    clear: bool

    @property
    def exact(self) -> bool:
        return self.chosen == self.true

    @property
    def near(self) -> bool:
        """Within 5 %."""
        return abs(self.chosen - self.true) <= 0.05 * self.true


def choose(problem: Problem) -> Choice:
    model = ICVIARTMAP("auto", random_state=0).fit(problem.X)
    ari = float(adjusted_rand_score(problem.y, model.labels_))
    found = model.selection_
    return Choice(problem.k, model.n_clusters_, ari, found.margin, found.clear)


def share(flags: list[bool]) -> str:
    return f"{sum(flags)} of {len(flags)} ({fmean(flags):.0%})" if flags else "none"


def run_number(sizes: Sizes) -> str:
    choices: dict[str, list[Choice]] = {}
    rows, fresh = [], []
    for kind in sets.kinds(sizes):
        of_kind = [choose(sets.generated(kind, state)) for state in range(sizes.choices)]
        fresh += of_kind[CHOSEN_ON:]
        choices.setdefault(kind.family, []).extend(of_kind)
        rows.append(
            [
                str(kind),
                ", ".join(str(one.chosen) for one in of_kind),
                ", ".join(f"{one.margin:.3g}" for one in of_kind),
                f"{fmean(one.ari for one in of_kind):.4f}",
            ]
        )
    everything = [one for of_family in choices.values() for one in of_family]
    groups = {
        **choices,
        **{f"k = {k}": [one for one in everything if one.true == k] for k in sizes.clusters},
        "fresh": fresh,
        "all": everything,
    }
    header = ["sets", "chosen k", "margin", "mean ARI"]
    return "\n".join(
        [
            TEXT,
            table(header, rows),
            "",
            table(
                ["sets", "exact", "within 5 %", "mean ARI"],
                [_summary(*item) for item in groups.items()],
            ),
            "",
            MARGINS.format(clear=CLEAR),
            table(["margin", "exact", "within 5 %", "mean ARI"], _by_margin(everything)),
            "",
        ]
    )


def _summary(name: str, choices: list[Choice]) -> list[str]:
    exact, near = share([one.exact for one in choices]), share([one.near for one in choices])
    ari = f"{fmean(one.ari for one in choices):.4f}" if choices else ""
    return [name, exact, near, ari]


def _between(low: float, high: float) -> str:
    return f"{low:g} to {high:g}" if high < float("inf") else f"{low:g} and more"


def _by_margin(choices: list[Choice]) -> list[list[str]]:
    rows = [
        _summary(_between(low, high), [one for one in choices if low <= one.margin < high])
        for low, high in pairwise(BOUNDS)
    ]
    rows.append(_summary("clear", [one for one in choices if one.clear]))
    rows.append(_summary("not clear", [one for one in choices if not one.clear]))
    return rows
