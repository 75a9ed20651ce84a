"""Tables of numbers in files: what is read from them and written to them."""

from icvi_artmap.tables.reading import Table, column_names, read_table
from icvi_artmap.tables.writing import write_table

__all__ = ["Table", "column_names", "read_table", "write_table"]
