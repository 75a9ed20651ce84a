"""Feather, the file format of Arrow, through pyarrow."""

from __future__ import annotations

from typing import IO, Any

from numpy.typing import NDArray

from icvi_artmap.tables.arrow import content_of, flat_columns, refusals
from icvi_artmap.tables.content import Content, Request
from icvi_artmap.tables.source import Source


def read_feather(source: Source, request: Request) -> Content:
    """Read a Feather file; nested columns are left out as text is."""
    names = feather_names(source, request)
    choice = request.among(names, source.name)
    with refusals(source):
        table = _table(source)
        types = [field.type for field in table.schema]
    flat = flat_columns(types, choice, names, source)
    with refusals(source):
        return content_of(table, flat, names, choice, source)


def feather_names(source: Source, request: Request) -> list[str]:
    """Read the names of the columns only."""
    import pyarrow.ipc

    with refusals(source), source.open() as file:
        return list(pyarrow.ipc.open_file(file).schema.names)


def feather_columns(source: Source, request: Request) -> dict[str, Any]:
    """All columns as pyarrow has them."""
    import pyarrow

    tables = []
    for part in source.parts or (source,):
        with refusals(part):
            tables.append(_table(part))
    with refusals(source):
        table = pyarrow.concat_tables(tables, promote_options="permissive")
    return {name: table.column(name) for name in table.column_names}


def _table(source: Source) -> Any:
    """The table, batch by batch, as long as it is no larger than its file can account for."""
    import pyarrow
    import pyarrow.ipc

    with source.open() as file:
        reader, batches, size = pyarrow.ipc.open_file(file), [], 0
        for i in range(reader.num_record_batches):
            batch = reader.get_batch(i)
            size += max(batch.nbytes, 8 * batch.num_rows * batch.num_columns)
            source.check_array(size)
            batches.append(batch)
        table = pyarrow.Table.from_batches(batches, reader.schema)
        table.validate(full=True)
        return table


def write_feather(file: IO[bytes], arrays: dict[str, NDArray[Any]]) -> None:
    """Write a Feather file."""
    import pyarrow
    import pyarrow.feather

    pyarrow.feather.write_feather(pyarrow.table(arrays), file)
