"""Parquet, through pyarrow."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._support.wording import message, shown
from icvi_artmap.tables.content import Content, Kind, Request
from icvi_artmap.tables.source import Source, TooLargeError, text_array


def read_parquet(source: Source, request: Request) -> Content:
    """Read a Parquet file; nested columns are left out as text is."""
    import pyarrow.parquet

    names = parquet_names(source, request)
    choice = request.among(names, source.name)
    with _refusals(source), source.open() as file:
        parquet = pyarrow.parquet.ParquetFile(file)
        _check_size(parquet.metadata, source)
        types = [field.type for field in parquet.schema_arrow]
    flat = [j for j, type in enumerate(types) if not pyarrow.types.is_nested(type)]
    for j in choice.as_given.difference(flat):
        raise ValueError(
            f"Column {shown(names[j])} of {source.name} is nested ({shown(str(types[j]))}); "
            "numbers or text are wanted."
        )
    # Text is read as words and their places, so that one long word takes memory once.
    words = [names[j] for j in flat if _is_text(pyarrow.types, types[j])]
    with _refusals(source), source.open() as file:
        parquet = pyarrow.parquet.ParquetFile(file, read_dictionary=words)
        table = parquet.read([names[j] for j in flat] if len(flat) < len(names) else None)
        values = np.full((table.num_rows, len(names)), np.nan)
        kinds = [Kind.TEXT] * len(names)
        for j in flat:
            column = table.column(names[j])
            present = column.null_count < len(column)
            kinds[j] = _kind(pyarrow.types, column.type) if present else Kind.MISSING
            if kinds[j] in (Kind.NUMBER, Kind.BOOLEAN):
                values[:, j] = _numbers(pyarrow, column)
        as_given = {j: _as_given(table.column(names[j]), source) for j in choice.as_given}
    return Content(names, choice, values, kinds, as_given=as_given)


def parquet_names(source: Source, request: Request) -> list[str]:
    """Read the names of the columns only."""
    import pyarrow.parquet

    with _refusals(source), source.open() as file:
        return list(pyarrow.parquet.read_schema(file).names)


@contextmanager
def _refusals(source: Source) -> Iterator[None]:
    """Say in a sentence why pyarrow refuses a file: damage makes it raise nearly anything."""
    try:
        yield
    except TooLargeError:
        raise
    except Exception as error:
        raise ValueError(
            message(f"{source.name} is damaged, or no Parquet file (", error, ").")
        ) from error


def _check_size(metadata: Any, source: Source) -> None:
    """Refuse what would take more memory than the file can account for."""
    source.check_array(8 * metadata.num_rows * metadata.num_columns)
    groups = range(metadata.num_row_groups)
    source.check_array(sum(metadata.row_group(i).total_byte_size for i in groups))


def write_parquet(file: IO[bytes], arrays: dict[str, NDArray[Any]]) -> None:
    """Write a Parquet file."""
    import pyarrow
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.table(arrays), file)


def _is_text(types: Any, given: Any) -> bool:
    tests = (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary)
    return any(test(given) for test in tests)


def _kind(types: Any, given: Any) -> Kind:
    if types.is_boolean(given):
        return Kind.BOOLEAN
    if types.is_integer(given) or types.is_floating(given) or types.is_decimal(given):
        return Kind.NUMBER
    if types.is_temporal(given):
        return Kind.DATE
    return Kind.TEXT


def _numbers(pyarrow: Any, column: Any) -> NDArray[np.float64]:
    if pyarrow.types.is_boolean(column.type):
        column = column.cast(pyarrow.uint8())
    numbers = column.cast(pyarrow.float64(), safe=False).to_numpy(zero_copy_only=False)
    return np.asarray(numbers, np.float64)  # a missing value becomes NaN


def _as_given(column: Any, source: Source) -> NDArray[Any]:
    values: list[Any] = []
    for part in column.chunks:
        if hasattr(part, "dictionary"):
            words = part.dictionary.to_pylist()
            values += [None if i is None else words[i] for i in part.indices.to_pylist()]
        else:
            values += part.to_pylist()
    if any(value is None for value in values):
        values = ["" if value is None else str(value) for value in values]
    if all(isinstance(value, (str, bytes)) for value in values):
        return text_array(values, source)
    return np.asarray(values)
