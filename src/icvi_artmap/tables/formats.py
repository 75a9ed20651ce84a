"""The registry of formats: the suffixes of each, and the functions that read and write it.

To add a format, write its functions in a file of this folder and add a line to ``FORMATS``.
Reading, writing, the checks, their messages and the help of the command line go by that table.
This module imports nothing large, and imports the file of a format when it is first used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from icvi_artmap.tables.content import Content, Request
    from icvi_artmap.tables.source import Source

PACKED = ".gz"


@dataclass(frozen=True)
class Format:
    """A way to keep a table in a file.

    The functions are named by module and name, as in "text.read_csv".

    Attributes
    ----------
    name : str
        What messages and help call it.
    suffixes : tuple of str
        The files that hold it, in small letters.
    reader : str
        A function of a `Source` and a `Request` that returns a `Content`.
    namer : str, optional
        A function of the same that returns the names of all columns, if reading all is slower.
    vector : str, optional
        A function of a `Source` that returns labels that stand apart from the columns, or None.
    writer : str, optional
        A function of a binary file and arrays by name; without one the format is not written.
    checker : str, optional
        A function of a path and arrays by name that refuses what cannot be written.
    packed : bool
        Whether the file may be compressed, with ``.gz`` after the suffix.
    streamed : bool
        Whether it is the text that comes from standard input and goes to standard output.
    named : bool
        Whether columns that are written keep their names.
    spreadsheet : bool
        Whether spreadsheets open it and run text that looks like a formula.
    needs : str, optional
        A package that is not always installed.
    extra : str
        The extra of this package that installs it.
    in_parts : bool
        Whether a table may lie in several files, in a folder.
    cells : str, optional
        A function of a `Source` and a `Request` that returns all columns as they stand in the
        input, arrays by name; without one, what the reader makes of them.
    delimiter : str, optional
        What separates cells, if the format says so.
    rows : str, optional
        A function of the same that hands out rows of text one by one, for tables of any size.
    """

    name: str
    suffixes: tuple[str, ...]
    reader: str
    namer: str | None = None
    vector: str | None = None
    writer: str | None = None
    checker: str | None = None
    packed: bool = False
    streamed: bool = False
    named: bool = True
    spreadsheet: bool = False
    needs: str | None = None
    extra: str = "tables"
    in_parts: bool = False
    cells: str | None = None
    rows: str | None = None
    delimiter: str | None = None

    def read(self, source: Source, request: Request) -> Content:
        """Read the columns that were asked for."""
        self.require()
        reader = "parts.read_parts" if source.parts else self.reader
        content: Content = _function(reader)(source, request)
        if request.sample is not None:
            content = _function("sampling.drawn_content")(content, request.sample)
        return content

    def all_columns(self, source: Source, request: Request) -> dict[str, Any]:
        """All columns as they stand in the input, by name."""
        self.require()
        reader = self.cells or "extending.columns_as_read"
        columns: dict[str, Any] = _function(reader)(source, request)
        return columns

    def all_rows(self, source: Source, request: Request) -> Any:
        """All rows as text, if the format has them; see `TextRows`."""
        return None if self.rows is None else _function(self.rows)(source, request)

    def column_names(self, source: Source, request: Request) -> list[str]:
        """Read the names of all columns, and the rows only if there is no other way."""
        if source.parts:
            return self.column_names(source.parts[0], request)
        if self.namer is None:
            return self.read(source, request).names
        self.require()
        names: list[str] = _function(self.namer)(source, request)
        return names

    def read_vector(self, source: Source) -> NDArray[Any] | None:
        """Read labels that stand apart from the columns; None if there are none."""
        return None if self.vector is None else _function(self.vector)(source)

    def check(self, path: Path, arrays: dict[str, NDArray[Any]]) -> None:
        """Refuse columns that this format cannot hold."""
        if self.checker is not None:
            _function(self.checker)(path, arrays)

    def write(self, file: IO[bytes], arrays: dict[str, NDArray[Any]]) -> None:
        """Write columns of one length."""
        assert self.writer is not None
        self.require()
        _function(self.writer)(file, arrays)

    def require(self) -> None:
        """Say how to install the package that this format needs, if it is not there."""
        if self.needs is None:
            return
        try:
            import_module(self.needs)
        except ImportError as error:
            raise ImportError(
                f"{self.name} needs {self.needs}: pip install 'icvi-artmap[{self.extra}]', or use "
                "CSV."
            ) from error


FORMATS = (
    Format(
        "CSV",
        (".csv",),
        reader="text.read_csv",
        namer="text.csv_names",
        rows="text.csv_rows",
        writer="text.write_csv",
        packed=True,
        streamed=True,
        spreadsheet=True,
    ),
    Format(
        "TSV",
        (".tsv",),
        reader="text.read_tsv",
        namer="text.tsv_names",
        rows="text.tsv_rows",
        delimiter="\t",
        writer="text.write_tsv",
        packed=True,
        spreadsheet=True,
    ),
    # CSV with another suffix, which may have any delimiter.
    Format(
        "CSV",
        (".txt", ".dat", ".data"),
        reader="text.read_csv",
        namer="text.csv_names",
        rows="text.csv_rows",
        packed=True,
    ),
    Format(
        "ARFF",
        (".arff",),
        reader="arff.read_arff",
        namer="arff.arff_names",
        writer="arff.write_arff",
        packed=True,
    ),
    Format(
        "Parquet",
        (".parquet",),
        reader="parquet.read_parquet",
        namer="parquet.parquet_names",
        writer="parquet.write_parquet",
        needs="pyarrow",
        in_parts=True,
        cells="parquet.parquet_columns",
    ),
    Format(
        "Feather",
        (".feather",),
        reader="feather.read_feather",
        namer="feather.feather_names",
        writer="feather.write_feather",
        needs="pyarrow",
        in_parts=True,
        cells="feather.feather_columns",
    ),
    Format(
        "Excel",
        (".xlsx",),
        reader="excel.read_excel",
        writer="excel.write_excel",
        checker="excel.refuse_wide_tables",
        needs="openpyxl",
        extra="excel",
    ),
    Format(
        "JSON",
        (".json",),
        reader="records.read_json",
        writer="records.write_json",
        packed=True,
    ),
    Format(
        "JSON Lines",
        (".jsonl", ".ndjson"),
        reader="records.read_json_lines",
        writer="records.write_json_lines",
        packed=True,
    ),
    Format(
        "NPY",
        (".npy",),
        reader="arrays.read_npy",
        vector="arrays.npy_vector",
        writer="arrays.write_npy",
        checker="arrays.refuse_text",
        named=False,
    ),
    Format(
        "NPZ",
        (".npz",),
        reader="arrays.read_npz",
        vector="arrays.npz_vector",
        writer="arrays.write_npz",
    ),
)

#: What standard input and standard output hold.
STREAM = next(format for format in FORMATS if format.streamed)


def find_format(path: Path) -> tuple[Format | None, bool]:
    """The format that the suffix of a path says, if it is known, and whether .gz follows."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    packed = suffixes[-1:] == [PACKED]
    if packed:
        suffixes.pop()
    last = suffixes[-1] if suffixes else ""
    return next((format for format in FORMATS if last in format.suffixes), None), packed


def written_formats() -> list[Format]:
    """The formats that can be written, first those that keep the names of columns."""
    written = [format for format in FORMATS if format.writer is not None]
    return sorted(written, key=lambda format: not format.named)


def suffixes_of(formats: Iterable[Format]) -> str:
    """Suffixes for a message or a help text: ".csv, .tsv"."""
    return ", ".join(suffix for format in formats for suffix in format.suffixes)


def unknown_suffix(name: str, formats: Iterable[Format]) -> str:
    """The message for a file whose suffix is not one of these formats."""
    formats = list(formats)
    packed = [format for format in formats if format.packed]
    return (
        f"{name} has no suffix of a known format. Known: {suffixes_of(formats)}, and "
        f"{suffixes_of(packed)} followed by {PACKED}."
    )


def names_of_formats() -> str:
    """All formats for a help text: "CSV, TSV (also .gz), NPY"."""
    packed = dict.fromkeys(format.name for format in FORMATS if format.packed)
    others = dict.fromkeys(format.name for format in FORMATS if format.name not in packed)
    return f"{', '.join(packed)} (also {PACKED}), {', '.join(others)}"


def _function(name: str) -> Callable[..., Any]:
    module, function = name.split(".")
    found: Callable[..., Any] = getattr(import_module(f"icvi_artmap.tables.{module}"), function)
    return found
