"""From finished jobs to the paper's tables, ours beside the printed values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from icvi_artmap.indices.registry import get_index
from icvi_artmap.reproduction import latents, paper, protocol
from icvi_artmap.reproduction.ledger import Ledger
from icvi_artmap.reproduction.ranks import DECIMALS, average_ranks

#: Nearer than this to the printed value is as near as another start or order of samples may be.
NEAR = 0.01
#: Columns of our own. They take no part in the ranks.
MORE_STARTS = {index: f"i{index}, {n} starts" for index, n in protocol.STARTS.items()}
REFINED = "iNI refined"
ANY_SHAPE = "iNI any shape"
OWN = (REFINED, ANY_SHAPE, *MORE_STARTS.values())


#: The marks between our value and the printed one.
MARKS = {
    "=": "equal to four decimals",
    "≈": f"at most {NEAR} apart",
    "⇄": "the printed value comes out when VAT begins at its other end",
    "▲": "ours is greater",
    "▼": "ours is smaller",
}


def _equal(ours: float, printed: float) -> bool:
    return round(ours, DECIMALS) == round(printed, DECIMALS)


class Cell(NamedTuple):
    """A value of ours, and the printed one where there is one."""

    ours: float | None
    printed: float | None = None
    other_end: float | None = None  #: of VAT

    @property
    def mark(self) -> str:
        """How the two compare, see :data:`MARKS`; nothing to compare: an empty string."""
        if self.ours is None or self.printed is None:
            return ""
        if _equal(self.ours, self.printed):
            return "="
        if self.other_end is not None and _equal(self.other_end, self.printed):
            return "⇄"
        difference = self.ours - self.printed
        if abs(difference) <= NEAR:
            return "≈"
        return "▲" if difference > 0 else "▼"


class ResultTable(NamedTuple):
    """A table of ARI values."""

    name: str
    label: str  #: of the paper's table
    columns: tuple[str, ...]
    cells: dict[str, dict[str, Cell]]  #: data set, then column
    ranks: dict[str, Cell]  #: average rank by column
    seconds: dict[str, float]  #: by column, all sets together
    kind: str = latents.PCA  #: of the space of the sets of images

    def values(self, column: str) -> list[Cell]:
        """The cells of a column that have a value."""
        cells = (row.get(column, Cell(None)) for row in self.cells.values())
        return [cell for cell in cells if cell.ours is not None]

    def mean(self, column: str) -> Cell:
        """The average of a column over the sets that have it, ours and printed."""
        cells = self.values(column)
        printed = [cell.printed for cell in cells if cell.printed is not None]
        return Cell(
            float(np.mean([cell.ours for cell in cells])) if cells else None,
            float(np.mean(printed)) if printed and len(printed) == len(cells) else None,
        )


def result_table(
    name: str, ledger: Ledger, sets: Iterable[str], kind: str = latents.PCA
) -> ResultTable:
    """One of "synthetic", "real", "tuned-synthetic", "tuned-real", from what has been run."""
    tuned, real = name.startswith("tuned"), name.endswith("real")
    printed = _printed(tuned, real)
    # The paper's PCA of Olivetti can be made again, and its latent spaces can be trained again.
    comparable = {"olivetti"} if real and kind != latents.DYNAE else set(printed.values)
    variants = ("iNI", "iCH") if real else paper.VARIANTS
    shown = variants if tuned else variants + paper.BASELINES
    cells: dict[str, dict[str, Cell]] = {}
    ours: dict[str, dict[str, float]] = {}
    seconds: dict[str, float] = {}
    for one in sets:
        found = _values(ledger, one, "tuned" if tuned else "best", variants)
        if not found:
            continue
        theirs = printed.values[one] if one in comparable else {}
        ends = ledger.outcomes.get((one, "ART"), {}).get("other end", {})
        ours[one] = {
            column: found[column] for column in variants + paper.BASELINES if column in found
        }
        cells[one] = {
            column: Cell(found.get(column), theirs.get(column), ends.get(column))
            for column in (*shown, *OWN)
        }
        for column, spent in _seconds(ledger, one).items():
            seconds[column] = seconds.get(column, 0.0) + spent
    whole = not real and set(cells) == set(printed.values)
    ranks = {
        column: Cell(rank, printed.average_rank[column] if whole else None)
        for column, rank in average_ranks(ours).items()
        if column in shown
    }
    columns = shown + tuple(
        column for column in OWN if any(row[column].ours is not None for row in cells.values())
    )
    return ResultTable(name, printed.label, columns, cells, ranks, seconds, kind)


def _printed(tuned: bool, real: bool) -> paper.Printed:
    if tuned:
        return paper.TUNED_REAL if real else paper.TUNED_SYNTHETIC
    return paper.REAL if real else paper.SYNTHETIC


def _values(ledger: Ledger, one: str, which: str, variants: tuple[str, ...]) -> dict[str, float]:
    """ARI by column of all jobs on a set that are done."""
    values: dict[str, float] = {}
    starts: dict[str, list[tuple[float, dict[str, float]]]] = {}
    for (name, job), outcome in ledger.outcomes.items():
        if name != one:
            continue
        index, *start = job.split()
        if index not in paper.INDICES:
            values |= outcome["values"]
            continue
        if start == ["0"] and f"i{index}" in variants:
            values[f"i{index}"] = outcome["values"][which]
        score = get_index(index).direction * outcome["index_value"]
        starts.setdefault(index, []).append((score, outcome["values"]))
    for index, found in starts.items():
        if len(found) == protocol.STARTS[index]:
            by_index = max(found, key=lambda pair: pair[0])[1]["tuned"]
            by_ari = max(own["best"] for _, own in found)
            values[MORE_STARTS[index]] = by_index if which == "tuned" else by_ari
    return values


def _seconds(ledger: Ledger, one: str) -> dict[str, float]:
    """Time by column; of jobs with several columns each has its share."""
    seconds: dict[str, float] = {}
    for (name, job), outcome in ledger.outcomes.items():
        if name != one:
            continue
        index, *start = job.split()
        columns = [f"i{index}"] if index in paper.INDICES else list(outcome["values"])
        if index in paper.INDICES and start != ["0"]:
            columns = [MORE_STARTS[index]]
        for column in columns:
            seconds[column] = seconds.get(column, 0.0) + outcome["seconds"] / len(columns)
    return seconds
