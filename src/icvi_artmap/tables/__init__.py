"""Tables of numbers in files: reading and writing them.

The names are imported when first asked for, so that the registry of formats stays cheap to import.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from icvi_artmap.tables.reading import (
        Labels,
        Table,
        column_names,
        read_columns,
        read_labels,
        read_table,
    )
    from icvi_artmap.tables.writing import check_target, write_table

_HOMES = {
    "Labels": "icvi_artmap.tables.reading",
    "Table": "icvi_artmap.tables.reading",
    "check_target": "icvi_artmap.tables.writing",
    "column_names": "icvi_artmap.tables.reading",
    "read_columns": "icvi_artmap.tables.reading",
    "read_labels": "icvi_artmap.tables.reading",
    "read_table": "icvi_artmap.tables.reading",
    "write_table": "icvi_artmap.tables.writing",
}

__all__ = [
    "Labels",
    "Table",
    "check_target",
    "column_names",
    "read_columns",
    "read_labels",
    "read_table",
    "write_table",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
