"""Rows of numbers from a file that grows, or from standard input: as they come.

The first line says how cells are separated, and whether it has the names of the columns. A line is
read when its end has come. A line that does not have a number in every column wanted is left out.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._support.wording import quoted
from icvi_artmap.tables.content import read_number, unknown_column
from icvi_artmap.tables.text import best_delimiter, name_columns, split_rows

#: Bytes read at a time.
BLOCK = 1 << 16
#: A line has no more bytes than this.
LONGEST_LINE = 1 << 24
#: Seconds to wait for a file to grow.
PATIENCE = 0.2
#: What stands for standard input.
STANDARD_INPUT = "-"


class FollowedRows:
    """Iterate over the rows that have come, some at a time.

    Parameters
    ----------
    path : str
        A file of text, or "-" for standard input.
    columns : sequence of str, optional
        Names of the columns to use, in this order; all by default.
    follow : bool, default=True
        Whether to wait for more rows at the end of a file.
    most : int, default=1000
        Rows at a time.

    Attributes
    ----------
    names : list of str
        The columns, known when the first rows have come.
    left_out : int
        Lines that were left out.
    """

    def __init__(
        self,
        path: str,
        columns: Sequence[str] | None = None,
        follow: bool = True,
        most: int = 1000,
    ) -> None:
        self.names: list[str] = []
        self.left_out = 0
        self._path, self._columns, self._follow, self._most = path, columns, follow, most
        self._delimiter, self._decimal = ",", "."
        self._width = 0
        self._chosen: list[int] = []

    def __iter__(self) -> Iterator[NDArray[np.float64]]:
        """Arrays of rows; an empty one when there is nothing to read for the moment."""
        rows: list[list[float]] = []
        for lines in self._lines():
            for line in lines:
                self._take(line, rows)
                if len(rows) == self._most:
                    yield np.array(rows)
                    rows = []
            if rows or not lines:
                yield np.array(rows).reshape(len(rows), len(self.names))
                rows = []

    # --- lines -----------------------------------------------------------------------------------

    def _lines(self) -> Iterator[list[str]]:
        """Whole lines as they come; none where a file has not grown."""
        rest, first = b"", b""
        for block in self._blocks():
            *lines, rest = (rest + block).split(b"\n")
            if len(rest) > LONGEST_LINE:
                raise ValueError(f"A line of {self._name} has more than {LONGEST_LINE:,} bytes.")
            whole = [line for line in lines if self._has_cells(line)]
            if not self._width:  # names are told from numbers by the line below
                whole = [first, *whole] if first else whole
                if len(whole) < 2:
                    first = whole[0] if whole else first
                    yield []
                    continue
                whole = self._begin(whole)
            yield [_text(line, self._name) for line in whole]
        last = [line for line in (b"" if self._width else first, rest) if self._has_cells(line)]
        if last and not self._width:
            last = self._begin(last)
        if last:
            yield [_text(line, self._name) for line in last]

    def _blocks(self) -> Iterator[bytes]:
        if self._path == STANDARD_INPUT:
            while block := os.read(sys.stdin.fileno(), BLOCK):
                yield block
            return
        with Path(self._path).open("rb", buffering=0) as file:
            while True:
                block = file.read(BLOCK)
                if not block and not self._follow:
                    return
                if not block:
                    if os.fstat(file.fileno()).st_size < file.tell():
                        raise ValueError(f"{self._name} has become shorter while it was read.")
                    time.sleep(PATIENCE)
                yield block

    @staticmethod
    def _has_cells(line: bytes) -> bool:
        return bool(line.strip()) and line.lstrip()[:1] not in (b"#", b"%")

    @property
    def _name(self) -> str:
        return "Standard input" if self._path == STANDARD_INPUT else repr(self._path)

    # --- cells -----------------------------------------------------------------------------------

    def _begin(self, lines: list[bytes]) -> list[bytes]:
        """Find out how the lines are made from the first ones. Returns those that are rows."""
        head = [_text(line, self._name) for line in lines[:20]]
        self._delimiter, self._decimal, rows = best_delimiter(head, None)
        first = rows[0]
        self._width = len(first)
        has_names = not all(self._is_value(cell) for cell in first)
        names = name_columns(first if has_names else [], self._width)
        wanted = self._columns
        if wanted is None:
            below = rows[1] if has_names and len(rows) > 1 else first
            self._chosen = [
                j for j, cell in enumerate(below[: self._width]) if self._is_value(cell)
            ]
            if not self._chosen:
                raise ValueError(f"{self._name} has no columns of numbers: {quoted(names, 4)}.")
        else:
            for name in wanted:
                if name not in names:
                    raise unknown_column(name, "column", names, self._name)
            self._chosen = [names.index(name) for name in wanted]
        self.names = [names[j] for j in self._chosen]
        return lines[1:] if has_names else lines

    def _is_value(self, cell: str) -> bool:
        return read_number(cell, self._decimal) is not None

    def _take(self, line: str, rows: list[list[float]]) -> None:
        cells = next(iter(split_rows([line], self._delimiter, strict=False)), [])
        numbers = [read_number(cells[j], self._decimal) for j in self._chosen if j < len(cells)]
        usable = len(cells) == self._width and all(
            number is not None and abs(number) < np.inf for number in numbers
        )
        if usable:
            rows.append([number for number in numbers if number is not None])
        else:
            self.left_out += 1


def _text(line: bytes, name: str) -> str:
    try:
        return line.decode("utf-8-sig").rstrip("\r")
    except UnicodeDecodeError as error:
        raise ValueError(f"{name} is not UTF-8 text: {error}.") from None
