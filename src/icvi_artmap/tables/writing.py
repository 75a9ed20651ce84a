"""Writing columns to a file, in the format that its suffix stands for."""

from __future__ import annotations

import gzip
import io
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from icvi_artmap._support.files import replaced
from icvi_artmap._support.wording import LONGEST_PATH, message, shown, visible
from icvi_artmap.tables.formats import (
    STREAM,
    Format,
    find_format,
    unknown_suffix,
    written_formats,
)
from icvi_artmap.tables.formulas import harmless
from icvi_artmap.tables.text import write_rows

STANDARD_OUTPUT = "-"


def write_table(
    path: str | os.PathLike[str],
    columns: Mapping[str, ArrayLike],
    *,
    escape_formulas: bool = True,
) -> None:
    """Write columns of one length to a file.

    The suffix says the format: ``.csv``, ``.tsv``, ``.arff`` (each also with ``.gz``), ``.parquet``
    (needs pyarrow), ``.npz`` (an array for every column) or ``.npy`` (numbers only, without names).
    Floats are written with all their digits. The file appears when it is complete; until then one
    that was there before stays as it is.

    Parameters
    ----------
    path : str or path
        The file; ``"-"`` writes CSV to standard output.
    columns : mapping of str to array-like of shape (n,)
        Numbers, truth values or text.
    escape_formulas : bool, default=True
        In CSV and TSV, put an apostrophe before names and cells of text that a spreadsheet would
        run as formulas (``=``, ``+``, ``-``, ``@`` or white space at the beginning), but not before
        numbers. `read_table` takes it away. If False, text is written as it is.

    See Also
    --------
    read_table : Reads a table.

    Examples
    --------
    >>> from icvi_artmap import write_table
    >>> write_table("-", {"x": [0.1, 2.0], "cluster": [0, 1], "note": ["a, b", "c"]})
    x,cluster,note
    0.1,0,"a, b"
    2.0,1,c
    """
    arrays = _arrays(columns)
    check_target(path, arrays)
    format, _ = target_format(path)
    if format.spreadsheet and escape_formulas:
        arrays = harmless(arrays)
    if path == STANDARD_OUTPUT:
        with written_to_stream() as stream:
            write_rows(stream, arrays, ",")
        return
    with open_target(path) as file:
        format.write(file, arrays)


@contextmanager
def open_target(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A binary file to write to, which appears when it is complete; compressed if it is to be."""
    _, packed = target_format(path)
    with replaced(path) as temporary, _binary_file(temporary, packed) as file:
        yield file


@contextmanager
def written_to_stream() -> Iterator[IO[str]]:
    """Standard output for CSV; on a screen, text does not command the terminal."""
    if not sys.stdout.isatty():
        yield sys.stdout
        return
    text = io.StringIO()
    yield text
    sys.stdout.write(visible(text.getvalue()))


def check_target(path: str | os.PathLike[str], columns: Mapping[str, ArrayLike]) -> None:
    """Refuse a path to which `write_table` could not write such columns, before anything is done.

    Parameters
    ----------
    path : str or path
        As for `write_table`.
    columns : mapping of str to array-like
        Columns of the same names and types; their length does not matter.

    Examples
    --------
    >>> from icvi_artmap.tables import check_target
    >>> check_target("clusters.xyz", {"cluster": [0]})
    Traceback (most recent call last):
        ...
    ValueError: 'clusters.xyz' has no suffix of a known format. Known: .csv, ...
    """
    if path == STANDARD_OUTPUT:
        return
    path = Path(path)
    format, _ = target_format(path)
    if path.is_dir():
        raise IsADirectoryError(f"{_shown(path)} is a folder; the name of a file is wanted.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {_shown(path.parent)}: make it first.")
    format.require()
    if format.checker is not None:
        format.check(path, _arrays(columns))


def target_format(given: str | os.PathLike[str]) -> tuple[Format, bool]:
    """The format that the suffix says, and whether the file is to be compressed."""
    if given == STANDARD_OUTPUT:
        return STREAM, False
    path = Path(given)
    format, packed = find_format(path)
    if format is None or format.writer is None or (packed and not format.packed):
        raise ValueError(unknown_suffix(_shown(path), written_formats()))
    return format, packed


def _shown(path: Path) -> str:
    return shown(str(path), LONGEST_PATH)


@contextmanager
def _binary_file(path: Path, packed: bool) -> Iterator[IO[bytes]]:
    with open(path, "wb") as file:
        if not packed:
            yield file
            return
        # The file holds neither time nor name, so that the same table gives the same bytes.
        with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as compressed:
            yield cast(IO[bytes], compressed)


def _arrays(columns: Mapping[str, ArrayLike]) -> dict[str, NDArray[Any]]:
    if not isinstance(columns, Mapping):
        raise TypeError(
            "columns must be a mapping of names to arrays, for example a dict, got "
            f"{type(columns).__name__}."
        )
    if not columns:
        raise ValueError("columns is empty: there is nothing to write.")
    arrays: dict[str, NDArray[Any]] = {}
    for name, column in columns.items():
        if not isinstance(name, str) or not name.strip():
            raise ValueError(f"Names of columns must be text, got {shown(name)}.")
        array = np.asarray(column)
        if array.ndim != 1:
            raise ValueError(
                f"Column {shown(name)} must be 1-D, got an array of shape {array.shape}."
            )
        if array.dtype.kind not in "biuf":
            array = np.array(["" if cell is None else str(cell) for cell in array], dtype=str)
        arrays[name] = array
    lengths = {name: len(array) for name, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{shown(name)} {length}" for name, length in lengths.items())
        raise ValueError(message("All columns must have one length, got: ", listed, "."))
    return arrays
