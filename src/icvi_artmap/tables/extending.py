"""A table written again, with more columns: what was found of its rows stands beside them.

Rows of text go from file to file one after the other, so that a table of any size needs little
memory, and keep their delimiter and their decimal mark.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi_artmap.tables.content import Kind, Request
from icvi_artmap.tables.formats import Format
from icvi_artmap.tables.source import Source, find_source
from icvi_artmap.tables.text import TAB, TextRows, text_file, write_text_rows
from icvi_artmap.tables.writing import (
    STANDARD_OUTPUT,
    check_target,
    open_target,
    target_format,
    write_table,
    written_to_stream,
)

#: What a fit adds to a table.
ADDED = ("cluster", "membership", "runner_up")
#: Integers from here on are not all floats.
EXACT = 2.0**53


def has_added(names: Iterable[str]) -> bool:
    """Whether a table has the columns that an earlier fit has added."""
    return set(ADDED) <= set(names)


def names_to_add(names: Iterable[str], added: Iterable[str] = ADDED) -> list[str]:
    """Names for more columns: those wished for, or with a number where they are taken."""
    taken = set(names)
    if has_added(taken):
        taken -= set(ADDED)
    number, wished = 1, list(added)
    while taken & {_numbered(name, number) for name in wished}:
        number += 1
    return [_numbered(name, number) for name in wished]


def _numbered(name: str, number: int) -> str:
    return name if number == 1 else f"{name}_{number}"


def write_extended(
    path: str | os.PathLike[str],
    source: str | os.PathLike[str] | Source,
    added: Mapping[str, NDArray[Any]],
    *,
    rows: NDArray[np.int64] | None = None,
    delimiter: str | None = None,
) -> list[str]:
    """Write the table of a source with columns added at its end.

    Columns that an earlier fit has added are replaced. If other columns have these names, the new
    ones get a number.

    Parameters
    ----------
    path : str or path
        The file, as for `write_table`.
    source : str, path or Source
        The table, as for `read_table`.
    added : mapping of str to ndarray
        The columns to add, with a value for every row that is written.
    rows : ndarray of int, optional
        Positions of the rows to write, in their order; by default all.
    delimiter : str, optional
        What separates the cells of the source, if it is text.

    Returns
    -------
    list of str
        The names that the added columns have got.
    """
    found, request = find_source(source), Request(delimiter=delimiter)
    format, _ = target_format(path)
    text = found.format.all_rows(found, request) if format.spreadsheet else None
    if text is not None:
        return _write_text(path, text, format, added, rows)
    columns = found.format.all_columns(found, request)
    if rows is not None:
        columns = {name: _taken(column, rows) for name, column in columns.items()}
    names = names_to_add(columns, added)
    if has_added(columns):
        columns = {name: column for name, column in columns.items() if name not in ADDED}
    columns |= dict(zip(names, added.values(), strict=True))
    if not found.format.needs == format.needs == "pyarrow":
        write_table(path, _plain(columns))
        return names
    with open_target(path) as file:
        format.write(file, columns)
    return names


def check_extended(
    path: str | os.PathLike[str],
    source: str | os.PathLike[str] | Source,
    *,
    delimiter: str | None = None,
) -> None:
    """Refuse a file that could not hold the table, before anything else is done."""
    format, _ = target_format(path)
    if format.checker is not None:
        found = find_source(source)
        columns = found.format.all_columns(found, Request(delimiter=delimiter))
        check_target(path, _plain(columns))


def _plain(columns: dict[str, Any]) -> dict[str, NDArray[Any]]:
    """Columns that every format can write."""
    if all(isinstance(column, np.ndarray) for column in columns.values()):
        return columns
    from icvi_artmap.tables.arrow import plain_columns

    return plain_columns(columns)


def _taken(column: Any, rows: NDArray[np.int64]) -> Any:
    return column[rows] if isinstance(column, np.ndarray) else column.take(rows)


def columns_as_read(source: Source, request: Request) -> dict[str, Any]:
    """All columns: numbers as numbers, anything else as the text that stands there.

    Integers that no float holds, as long identifiers, stay text too.
    """
    plain = Request(delimiter=request.delimiter)
    content = source.format.read(source, plain)
    text = [
        name
        for j, name in enumerate(content.names)
        if content.kinds[j] not in (Kind.NUMBER, Kind.MISSING)
        or (np.abs(content.values[:, j]) >= EXACT).any()
    ]
    numbers = content.values
    if text:
        content = source.format.read(source, replace(plain, words=text))
    columns: dict[str, Any] = {}
    for j, name in enumerate(content.names):
        if j in content.as_given:
            cells = content.as_given[j]
            columns[name] = cells if isinstance(cells, np.ndarray) else np.array(cells, object)
        else:
            columns[name] = _whole_numbers(numbers[:, j])
    if content.labels is not None:
        columns["y"] = content.labels
    return columns


def _whole_numbers(column: NDArray[np.float64]) -> NDArray[Any]:
    """Integers if all are; a missing value is none."""
    with np.errstate(invalid="ignore"):
        whole = np.isfinite(column).all() and (column == np.rint(column)).all()
    return column.astype(np.int64) if whole else column


def _write_text(
    path: str | os.PathLike[str],
    text: TextRows,
    format: Format,
    added: Mapping[str, NDArray[Any]],
    rows: NDArray[np.int64] | None,
) -> list[str]:
    """Copy rows of text one after the other."""
    names = names_to_add(text.names, added)
    old = set(ADDED) if has_added(text.names) else set()
    kept = [j for j, name in enumerate(text.names) if name not in old]
    head = [*(text.names[j] for j in kept), *names]
    cells = zip(*(_cells(column, text.decimal) for column in added.values()), strict=True)
    copied = (
        [*(row[j] for j in kept), *more]
        for row, more in zip(_some(text.rows(), rows), cells, strict=True)
    )
    mark = format.delimiter or _mark(text)
    if path == STANDARD_OUTPUT:
        with written_to_stream() as stream:
            write_text_rows(stream, head, copied, mark)
        return names
    with open_target(path) as file, text_file(file) as stream:
        write_text_rows(stream, head, copied, mark)
    return names


def _mark(text: TextRows) -> str:
    """What separates cells in CSV: as in the input, if that was one character between cells."""
    if text.delimiter in (" ", TAB):
        return ";" if text.decimal == "," else ","
    return text.delimiter


def _some(rows: Iterator[list[str]], wanted: NDArray[np.int64] | None) -> Iterator[list[str]]:
    if wanted is None:
        yield from rows
        return
    left = iter(wanted.tolist())
    next_wanted = next(left, None)
    for position, row in enumerate(rows):
        if position == next_wanted:
            yield row
            next_wanted = next(left, None)
            if next_wanted is None:
                return


def _cells(column: NDArray[Any], decimal: str) -> Iterator[str]:
    """Values as text; a missing one is empty."""
    for value in column:
        plain = value.item() if hasattr(value, "item") else value
        yield "" if plain != plain else str(plain).replace(".", decimal)
