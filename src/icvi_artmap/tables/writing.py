"""Writing columns to a file, in the format its suffix says."""

from __future__ import annotations

import csv
import gzip
import io
import os
import re
import sys
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from icvi_artmap._support.files import replaced
from icvi_artmap.tables.source import split_suffix

STANDARD_OUTPUT = "-"
TEXT = (".csv", ".tsv", ".arff")
SUFFIXES = (*TEXT, ".parquet", ".npz", ".npy")

_PLAIN_NAME = re.compile(r"[A-Za-z_][\w.-]*", re.ASCII)


def write_table(path: str | os.PathLike[str], columns: Mapping[str, ArrayLike]) -> None:
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
    if path == STANDARD_OUTPUT:
        _write_csv(sys.stdout, arrays, ",")
        return
    check_target(path, arrays)
    path = Path(path)
    suffix, compressed = split_suffix(path)
    with replaced(path) as temporary:
        if suffix == ".parquet":
            _write_parquet(temporary, arrays)
        elif suffix == ".npz":
            _write_npz(temporary, arrays)
        elif suffix == ".npy":
            with open(temporary, "wb") as file:
                np.save(file, np.column_stack(list(arrays.values())))
        else:
            with _text_file(temporary, compressed) as text:
                if suffix == ".arff":
                    _write_arff(text, arrays)
                else:
                    _write_csv(text, arrays, "\t" if suffix == ".tsv" else ",")


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
    suffix, compressed = split_suffix(path)
    if suffix not in SUFFIXES or (compressed and suffix not in TEXT):
        raise ValueError(
            f"{str(path)!r} has no suffix of a known format. Known: {', '.join(SUFFIXES)}, and "
            f"{', '.join(TEXT)} followed by .gz."
        )
    if path.is_dir():
        raise IsADirectoryError(f"{str(path)!r} is a folder; the name of a file is wanted.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {str(path.parent)!r}: make it first.")
    if suffix == ".npy":
        _refuse_text(_arrays(columns), path)
    if suffix == ".parquet":
        from icvi_artmap.tables.parquet import import_pyarrow

        import_pyarrow()


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
            raise ValueError(f"Names of columns must be text, got {name!r}.")
        array = np.asarray(column)
        if array.ndim != 1:
            raise ValueError(f"Column {name!r} must be 1-D, got an array of shape {array.shape}.")
        if array.dtype.kind not in "biuf":
            array = np.array(["" if cell is None else str(cell) for cell in array], dtype=str)
        arrays[name] = array
    lengths = {name: len(array) for name, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{name!r} {length}" for name, length in lengths.items())
        raise ValueError(f"All columns must have one length, got: {listed}.")
    return arrays


def _refuse_text(arrays: dict[str, NDArray[Any]], path: Path) -> None:
    text = [name for name, array in arrays.items() if array.dtype.kind == "U"]
    if text:
        raise ValueError(
            f"{str(path)!r}: a NPY file holds numbers only, but column {text[0]!r} is text. Choose "
            "another suffix, for example .npz."
        )


@contextmanager
def _text_file(path: Path, compressed: bool) -> Iterator[IO[str]]:
    with open(path, "wb") as file:
        # Without a time and a name in it, the same table gives the same file.
        packed = gzip.GzipFile("", "wb", fileobj=file, mtime=0) if compressed else file
        with io.TextIOWrapper(packed, "utf-8", newline="") as text:
            yield text


def _write_csv(file: IO[str], arrays: dict[str, NDArray[Any]], delimiter: str) -> None:
    # Blanks at the ends of a cell count only in quotes, and csv does not know that.
    blanks = any(
        bool(np.any(np.char.str_len(np.char.strip(array)) < np.char.str_len(array)))
        for array in arrays.values()
        if array.dtype.kind == "U"
    )
    quoting: Literal[0, 2] = csv.QUOTE_NONNUMERIC if blanks else csv.QUOTE_MINIMAL
    csv.writer(file, delimiter=delimiter, lineterminator="\n").writerow(arrays)
    # The csv module writes a float as repr does: the shortest text that gives the same float.
    csv.writer(file, delimiter=delimiter, lineterminator="\n", quoting=quoting).writerows(
        zip(*(array.tolist() for array in arrays.values()), strict=True)
    )


def _write_arff(file: IO[str], arrays: dict[str, NDArray[Any]]) -> None:
    file.write("@relation table\n\n")
    columns = []
    for name, array in arrays.items():
        kind = array.dtype.kind
        declared = {"b": "{False,True}", "U": "string"}.get(kind, "numeric")
        file.write(f"@attribute {_arff_name(name)} {declared}\n")
        if kind == "U":
            columns.append([_arff_quoted(cell) for cell in array.tolist()])
        elif kind == "f":
            columns.append(["?" if cell != cell else repr(cell) for cell in array.tolist()])
        else:
            columns.append([str(cell) for cell in array.tolist()])
    file.write("\n@data\n")
    file.writelines(",".join(row) + "\n" for row in zip(*columns, strict=True))


def _arff_name(name: str) -> str:
    return name if _PLAIN_NAME.fullmatch(name) else _arff_quoted(name)


def _arff_quoted(text: str) -> str:
    for plain, escaped in (("\\", r"\\"), ("'", r"\'"), ("\n", r"\n"), ("\r", r"\r")):
        text = text.replace(plain, escaped)
    return f"'{text}'"


def _write_parquet(path: Path, arrays: dict[str, NDArray[Any]]) -> None:
    from icvi_artmap.tables.parquet import import_pyarrow

    pyarrow = import_pyarrow()
    pyarrow.parquet.write_table(pyarrow.table(arrays), path)


def _write_npz(path: Path, arrays: dict[str, NDArray[Any]]) -> None:
    # np.savez takes names as keywords and so cannot write a column called "file".
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, array, allow_pickle=False)
