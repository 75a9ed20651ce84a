"""Tables of numbers in files: what is read from them and written to them."""

from icvi_artmap.tables.reading import Labels, Table, column_names, read_labels, read_table
from icvi_artmap.tables.writing import check_target, write_table

__all__ = [
    "Labels",
    "Table",
    "check_target",
    "column_names",
    "read_labels",
    "read_table",
    "write_table",
]
