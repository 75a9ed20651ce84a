"""What every reader returns: named columns of numbers, and what is known about each."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from fnmatch import fnmatchcase
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._support.wording import message, parameter, quoted, shown

#: Cells without a value, in small letters.
MISSING = frozenset(
    ["", "?", "-", ".", "na", "n/a", "#n/a", "<na>", "nan", "-nan", "nat", "none", "null", "nil"]
)
BOOLEAN = {"true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0}
DATE = re.compile(
    r"\d{4}-\d{1,2}-\d{1,2}([T ]\d.*)?|\d{4}/\d{1,2}/\d{1,2}( \d.*)?"
    r"|\d{1,2}[./-]\d{1,2}[./-]\d{4}( \d.*)?|\d{1,2}:\d{2}(:\d{2}.*)?"
)

#: A table with more columns is refused.
MOST_COLUMNS = 2**19

#: The number of cells that are held as text at a time.
BLOCK_CELLS = 20_000


class Kind(IntEnum):
    """What a cell holds, or all cells of a column."""

    NUMBER = 0
    MISSING = 1
    BOOLEAN = 2
    DATE = 3
    TEXT = 4


@dataclass(frozen=True)
class Choice:
    """Positions of the columns that were asked for."""

    features: list[int] | None  # None: all that are usable
    label: int | None
    ident: int | None
    excluded: frozenset[int] = frozenset()
    words: frozenset[int] = frozenset()  # columns of text that are categories

    @property
    def as_given(self) -> set[int]:
        """Columns whose cells are kept as they stand in the input."""
        return {*self.words, *self.apart}

    @property
    def apart(self) -> set[int]:
        """Columns that are no data: labels and names."""
        return {position for position in (self.label, self.ident) if position is not None}


class Sample(NamedTuple):
    """How many rows to draw at random, at most."""

    n: int
    seed: int


@dataclass(frozen=True)
class Request:
    """What the caller asked for: columns by name, and how text is to be split."""

    columns: Sequence[str] | None = None
    label_column: str | None = None
    id_column: str | None = None
    delimiter: str | None = None  # what separates the cells of text; None: to be found out
    exclude: Sequence[str] = ()  # columns that are not to be used, by name or pattern
    words: Sequence[str] = ()  # columns of text that are categories, by name
    sample: Sample | None = None  # None: all rows

    def among(self, names: Sequence[str], source: str) -> Choice:
        """Find the columns; every name must exist, and exist once."""
        if len(names) > MOST_COLUMNS:
            raise ValueError(
                f"{source} has {len(names):,} columns, and a table at most {MOST_COLUMNS:,}. Are "
                "rows and columns interchanged?"
            )
        repeated = [name for name, times in Counter(names).items() if times > 1]
        if repeated:
            raise ValueError(
                f"{source} has more than one column {shown(repeated[0])}"
                + (f" (and of {len(repeated) - 1} other names)" if repeated[1:] else "")
                + ". Give each column a name of its own."
            )
        position = {name: j for j, name in enumerate(names)}

        def find(name: str, role: str) -> int:
            if name not in position:
                raise unknown_column(name, role, names, source)
            return position[name]

        label = None if self.label_column is None else find(self.label_column, "label_column")
        ident = None if self.id_column is None else find(self.id_column, "id_column")
        excluded: set[int] = set()
        for wanted in self.exclude:
            matching = [j for j, name in enumerate(names) if name == wanted]
            matching = matching or [j for j, name in enumerate(names) if fnmatchcase(name, wanted)]
            if not matching:
                raise unknown_column(wanted, "exclude", names, source)
            excluded.update(matching)
        unused = frozenset(excluded)
        words = frozenset(find(name, "categories") for name in self.words) - unused
        words -= {label, ident}
        if self.columns is None:
            return Choice(None, label, ident, unused, words)
        features: dict[int, None] = {}  # in the order asked for, each once
        for wanted in self.columns:
            if wanted in position:
                found = [position[wanted]]
                if found[0] in (label, ident):
                    role = "label_column" if found[0] == label else "id_column"
                    raise ValueError(
                        f"Column {shown(wanted)} is asked for both in {parameter('columns')} and "
                        f"as {parameter(role)}."
                    )
            else:
                found = [
                    j
                    for j, name in enumerate(names)
                    if fnmatchcase(name, wanted) and j not in (label, ident)
                ]
            if not found:
                raise unknown_column(wanted, "columns", names, source)
            features.update(dict.fromkeys(found))
        if not features:
            raise ValueError(
                f"{parameter('columns')} is empty: name at least one column, or leave it out for "
                "all."
            )
        if not features.keys() - unused:
            raise ValueError(
                f"{parameter('exclude')} leaves none of the columns that are asked for in "
                f"{parameter('columns')}."
            )
        used = [j for j in features if j not in unused]
        return Choice(used, label, ident, unused, words)


def unknown_column(name: str, role: str, names: Sequence[str], source: str) -> ValueError:
    near = difflib.get_close_matches(name, names, n=1)
    if not near:  # a name may differ in nothing but capitals
        near = [other for other in names if other.lower() == name.lower()]
    hint = f" Did you mean {shown(near[0])}?" if near else ""
    there = f"{source} has no column {shown(name)} ({parameter(role)}).{hint} It has: "
    return ValueError(message(there, quoted(names), "."))


class Strays(NamedTuple):
    """Counts the cells of a column that do not hold numbers, and keeps the first."""

    strays: int
    numbers: int  # the number of cells that hold numbers
    row: int  # of the first stray, and what it holds
    cell: str


@dataclass
class Content:
    """All columns of an input."""

    names: list[str]
    choice: Choice
    values: NDArray[np.float64]  # (n, d), for columns of numbers or truth values; NaN: missing
    kinds: list[Kind]  # MISSING: the column has no value at all
    strays: dict[int, Strays] = field(default_factory=dict)  # of columns of text, if known
    #: For columns that are kept as they stand in the input, their cells.
    as_given: dict[int, Any] = field(default_factory=dict)
    labels: NDArray[Any] | None = None  # labels that stand apart from the columns
    notes: list[str] = field(default_factory=list)
    #: Whether columns come from a table, where they can be row numbers, or from a matrix.
    tabular: bool = True
    #: If rows were drawn at random: their positions in the input, and how many it has.
    rows: NDArray[np.int64] | None = None
    total: int | None = None


def read_number(cell: str, decimal: str = ".") -> float | None:
    """The number in a cell, or None if there is none; "nan" does not count as a number."""
    if decimal != ".":
        if "." in cell:
            return None
        cell = cell.replace(decimal, ".")
    try:
        number = float(cell)
    except ValueError:
        return None
    # Python reads 1_000 as a number; in tables it is a name.
    return None if "_" in cell or number != number else number


def read_cell(cell: str, decimal: str) -> tuple[Kind, float]:
    number = read_number(cell, decimal)
    if number is not None:
        return Kind.NUMBER, number
    plain = cell.strip().lower()
    if plain in MISSING:
        return Kind.MISSING, np.nan
    if plain in BOOLEAN:
        return Kind.BOOLEAN, BOOLEAN[plain]
    return (Kind.DATE if DATE.fullmatch(cell.strip()) else Kind.TEXT), np.nan


class Gathered:
    """Gathers columns of cells block by block, to keep little text in memory."""

    def __init__(self, names: list[str], choice: Choice, decimal: str = ".") -> None:
        self.names = names
        self.choice = choice
        self._decimal = decimal
        chosen = range(len(names)) if choice.features is None else choice.features
        self._read = [j for j in chosen if j not in choice.as_given | choice.excluded]
        self._blocks: list[NDArray[np.float64]] = []
        self._counts = np.zeros((len(names), len(Kind)), np.int64)
        self._first: dict[int, tuple[int, str]] = {}
        self._as_given: dict[int, list[str]] = {j: [] for j in choice.as_given}
        self._n_rows = 0

    def add(self, rows: Sequence[Sequence[str]]) -> None:
        """Add rows, each with a cell for every column."""
        block = np.full((len(rows), len(self.names)), np.nan)
        for j in self._read:
            block[:, j] = self._numbers(j, [row[j] for row in rows])
        for j, cells in self._as_given.items():
            cells.extend(row[j] for row in rows)
        self._blocks.append(block)
        self._n_rows += len(rows)

    def _numbers(self, j: int, cells: list[str]) -> NDArray[np.float64]:
        if self._decimal == ".":
            try:
                numbers = np.fromiter(map(float, cells), np.float64, len(cells))
            except ValueError:
                pass
            else:
                if not np.isnan(numbers).any() and "_" not in "".join(cells):
                    self._counts[j, Kind.NUMBER] += len(cells)
                    return numbers
        # Most columns of text have few different cells.
        different = {cell: i for i, cell in enumerate(set(cells))}
        which = np.fromiter(map(different.__getitem__, cells), np.int64, len(cells))
        kinds_of, numbers_of = zip(*(read_cell(c, self._decimal) for c in different), strict=True)
        kinds = np.array(kinds_of, np.int8)[which]
        self._counts[j] += np.bincount(kinds, minlength=len(Kind))
        if j not in self._first:
            strays = np.flatnonzero(kinds >= Kind.BOOLEAN)
            if len(strays):
                self._first[j] = (self._n_rows + int(strays[0]), cells[strays[0]])
        return np.array(numbers_of)[which]

    def content(self) -> Content:
        values = np.empty((self._n_rows, len(self.names)))
        end = self._n_rows
        while self._blocks:  # each is given up when it is copied: no two whole tables in memory
            block = self._blocks.pop()
            values[end - len(block) : end] = block
            end -= len(block)
        kinds = [kind_of(counts) for counts in self._counts]
        strays = {
            j: Strays(
                int(self._counts[j, Kind.BOOLEAN :].sum()),
                int(self._counts[j, Kind.NUMBER]),
                *first,
            )
            for j, first in self._first.items()
        }
        return Content(self.names, self.choice, values, kinds, strays, dict(self._as_given))


def kind_of(counts: NDArray[np.int64]) -> Kind:
    """The kind of a column, by its number of cells of each kind."""
    present = {kind for kind in Kind if counts[kind] and kind != Kind.MISSING}
    if not present:
        return Kind.MISSING
    return present.pop() if len(present) == 1 else Kind.TEXT


def gather(
    rows: Iterable[list[str]], names: list[str], choice: Choice, decimal: str = "."
) -> Content:
    """Read all cells of rows, each of which has a cell for every column."""
    gathered = Gathered(names, choice, decimal)
    rows = iter(rows)
    block_size = max(1, BLOCK_CELLS // len(names))
    while block := list(islice(rows, block_size)):
        gathered.add(block)
    return gathered.content()
