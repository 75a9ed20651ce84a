"""Parquet, through pyarrow."""

from __future__ import annotations

from typing import IO, Any

from numpy.typing import NDArray

from icvi_artmap.tables.arrow import content_of, flat_columns, is_text, refusals
from icvi_artmap.tables.content import Content, Request
from icvi_artmap.tables.source import Source


def read_parquet(source: Source, request: Request) -> Content:
    """Read a Parquet file; nested columns are left out as text is."""
    import pyarrow.parquet

    names = parquet_names(source, request)
    choice = request.among(names, source.name)
    with refusals(source), source.open() as file:
        parquet = pyarrow.parquet.ParquetFile(file)
        _check_size(parquet.metadata, source)
        types = [field.type for field in parquet.schema_arrow]
    flat = flat_columns(types, choice, names, source)
    # Text is read as words and their places, so that one long word takes memory once.
    words = [names[j] for j in flat if is_text(types[j])]
    with refusals(source), source.open() as file:
        parquet = pyarrow.parquet.ParquetFile(file, read_dictionary=words)
        table = parquet.read([names[j] for j in flat] if len(flat) < len(names) else None)
        return content_of(table, flat, names, choice, source)


def parquet_names(source: Source, request: Request) -> list[str]:
    """Read the names of the columns only."""
    import pyarrow.parquet

    with refusals(source), source.open() as file:
        return list(pyarrow.parquet.read_schema(file).names)


def parquet_columns(source: Source, request: Request) -> dict[str, Any]:
    """All columns as pyarrow has them."""
    import pyarrow
    import pyarrow.parquet

    tables = []
    for part in source.parts or (source,):
        with refusals(part), part.open() as file:
            parquet = pyarrow.parquet.ParquetFile(file)
            _check_size(parquet.metadata, part)
            tables.append(parquet.read())
    with refusals(source):
        table = pyarrow.concat_tables(tables, promote_options="permissive")
    return {name: table.column(name) for name in table.column_names}


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
