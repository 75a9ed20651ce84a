"""Parquet, through pyarrow."""

from __future__ import annotations

from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from icvi_artmap.tables.content import Content, Kind, Request
from icvi_artmap.tables.source import Source


def read_parquet(source: Source, request: Request) -> Content:
    """Read a Parquet file; nested columns are left out as text is."""
    import pyarrow
    import pyarrow.parquet

    with source.open() as file:
        try:
            parquet = pyarrow.parquet.ParquetFile(file)
            names = list(parquet.schema_arrow.names)
            choice = request.among(names, source.name)
            table = parquet.read()
        except (pyarrow.ArrowException, OSError) as error:
            raise ValueError(f"{source.name} is damaged, or no Parquet file ({error}).") from error
    values = np.full((table.num_rows, len(names)), np.nan)
    kinds = []
    for j, column in enumerate(table.columns):
        kinds.append(
            _kind(pyarrow.types, column.type) if column.null_count < len(column) else Kind.MISSING
        )
        if kinds[-1] in (Kind.NUMBER, Kind.BOOLEAN):
            values[:, j] = _numbers(pyarrow, column)
    as_given = {j: _as_given(table.column(j)) for j in choice.as_given}
    return Content(names, choice, values, kinds, as_given=as_given)


def parquet_names(source: Source, request: Request) -> list[str]:
    """Read the names of the columns only."""
    import pyarrow.parquet

    with source.open() as file:
        return list(pyarrow.parquet.read_schema(file).names)


def write_parquet(file: IO[bytes], arrays: dict[str, NDArray[Any]]) -> None:
    """Write a Parquet file."""
    import pyarrow
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.table(arrays), file)


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


def _as_given(column: Any) -> NDArray[Any]:
    values = column.to_pylist()
    if any(value is None for value in values):
        values = ["" if value is None else str(value) for value in values]
    return np.asarray(values)
