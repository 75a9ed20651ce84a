"""JSON and JSON Lines: records (an object for every row), or an object of columns."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import IO, Any

from numpy.typing import NDArray

from icvi_artmap._support.wording import counted, message, shown
from icvi_artmap.tables.content import MOST_COLUMNS, Content, Request, gather
from icvi_artmap.tables.lines import open_lines
from icvi_artmap.tables.source import Source, TooLargeError
from icvi_artmap.tables.text import name_columns, text_file

#: Bytes of a number in the array that is made of the cells.
NUMBER_SIZE = 8
#: The shapes of JSON that hold a table.
FORMS = (
    "a list of objects (one for every row), a list of lists, or an object of lists (one for every "
    "column)"
)


def read_json(source: Source, request: Request) -> Content:
    """Read a table that is one JSON value."""
    with source.whole() as file:
        value = _parsed(lambda: json.load(file), source, "")
    records: list[Any]
    if isinstance(value, dict):
        records = _records_of_columns(value, source)
    elif isinstance(value, list):
        records = value
    else:
        raise ValueError(f"{source.name} holds {_what(value)}; wanted is {FORMS}.")
    return _content(records, source, request, "Row {}")


def read_json_lines(source: Source, request: Request) -> Content:
    """Read a table with an object in every line."""
    with open_lines(source) as lines:
        records = [
            _parsed(partial(json.loads, line), source, f"Line {lines.number} of ")
            for line in lines
            if line.strip()
        ]
    return _content(records, source, request, "Line {}")


def write_json(file: IO[bytes], arrays: dict[str, NDArray[Any]]) -> None:
    """Write a list of objects, one in a line."""
    with text_file(file) as text:
        text.write("[")
        for i, record in enumerate(_records(arrays)):
            text.write(f"{',' if i else ''}\n{record}")
        text.write("\n]\n")


def write_json_lines(file: IO[bytes], arrays: dict[str, NDArray[Any]]) -> None:
    """Write an object in every line."""
    with text_file(file) as text:
        text.writelines(f"{record}\n" for record in _records(arrays))


def _records(arrays: dict[str, NDArray[Any]]) -> Iterator[str]:
    names = list(arrays)
    for cells in zip(*(array.tolist() for array in arrays.values()), strict=True):
        plain = [None if cell != cell else cell for cell in cells]
        yield json.dumps(dict(zip(names, plain, strict=True)), ensure_ascii=False)


def _parsed(parse: Callable[[], Any], source: Source, where: str) -> Any:
    """What JSON says; all that can be wrong with it in a sentence."""
    try:
        return parse()
    except TooLargeError:
        raise
    except RecursionError:
        raise ValueError(f"{where}{source.name} is nested too deeply to be a table.") from None
    except (ValueError, EOFError) as error:
        raise ValueError(message(f"{where}{source.name} is no JSON: ", error, ".")) from error


def _records_of_columns(columns: dict[str, Any], source: Source) -> list[dict[str, Any]]:
    """Rows of an object of columns, each a list or an object with a key for every row."""
    lists: dict[str, list[Any]] = {}
    for name, column in columns.items():
        if isinstance(column, dict):
            column = list(column.values())
        if not isinstance(column, list):
            raise ValueError(
                f"{source.name} holds an object whose {shown(name)} is {_what(column)}; wanted is "
                f"{FORMS}."
            )
        lists[name] = column
    lengths = {name: len(column) for name, column in lists.items()}
    if len(set(lengths.values())) > 1:
        first, *others = lengths
        odd = next(name for name in others if lengths[name] != lengths[first])
        raise ValueError(
            f"In {source.name} column {shown(first)} has {counted(lengths[first], 'value')}, but "
            f"{shown(odd)} has {lengths[odd]:,}: all columns must have one length."
        )
    source.check_array(NUMBER_SIZE * len(lists) * max(lengths.values(), default=0))
    rows = zip(*lists.values(), strict=True)
    return [dict(zip(lists, row, strict=True)) for row in rows]


def _content(records: list[Any], source: Source, request: Request, where: str) -> Content:
    """The content of rows that are objects, or lists of one length."""
    if not records:
        raise ValueError(f"{source.name} has no rows.")
    kind = type(records[0])
    for i, record in enumerate(records):
        if not isinstance(record, (dict, list)) or type(record) is not kind:
            wanted = f"{_what(records[0])} like the first" if i else FORMS
            raise ValueError(
                f"{where.format(i + 1)} of {source.name} is {_what(record)}; wanted is {wanted}."
            )
    names = _names_of_lists(records, source) if kind is list else _names_of_objects(records, source)
    choice = request.among(names, source.name)
    rows: Iterable[list[str]]
    if kind is list:
        rows = ([_text(cell) for cell in record] for record in records)
    else:
        rows = ([_text(record.get(name)) for name in names] for record in records)
    content = gather(rows, names, choice)
    if kind is list:
        content.notes.append("There is no header; the columns are called x1, x2 and so on.")
    return content


def _names_of_objects(records: list[dict[str, Any]], source: Source) -> list[str]:
    """All keys in the order in which they come."""
    keys: dict[str, None] = {}
    for record in records:
        keys.update(dict.fromkeys(record))
        if len(keys) > MOST_COLUMNS:
            raise TooLargeError(f"{source.name} has more than {MOST_COLUMNS:,} different keys.")
    if not keys:
        raise ValueError(f"{source.name} has objects without keys: there are no columns.")
    source.check_array(NUMBER_SIZE * len(keys) * len(records))
    return list(keys)


def _names_of_lists(records: list[list[Any]], source: Source) -> list[str]:
    width = len(records[0])
    for i, record in enumerate(records):
        if len(record) != width:
            raise ValueError(
                f"Row {i + 1} of {source.name} has {counted(len(record), 'value')}, but the first "
                f"has {width}."
            )
    if not width:
        raise ValueError(f"{source.name} has empty rows: there are no columns.")
    return name_columns([], width)


def _text(cell: Any) -> str:
    """A cell as it would stand in CSV."""
    if cell is None:
        return ""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, (bool, list, dict)):
        return json.dumps(cell, ensure_ascii=False)
    return repr(cell)


def _what(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "a truth value"}
    return "null" if value is None else names.get(type(value), "a number")
