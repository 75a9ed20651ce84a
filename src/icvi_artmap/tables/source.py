"""Where a table comes from: a file, perhaps compressed, or standard input."""

from __future__ import annotations

import gzip
import io
import os
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

STANDARD_INPUT = "-"

#: Suffixes of text in rows and columns; these, and ARFF, may be followed by .gz.
ROWS_OF_TEXT = (".csv", ".tsv", ".txt", ".dat", ".data")
ARFF = ".arff"
SUFFIXES = (*ROWS_OF_TEXT, ARFF, ".parquet", ".npy", ".npz")


@dataclass(frozen=True)
class Source:
    """Something that can be opened more than once."""

    name: str  # as messages call it
    suffix: str  # of the format: without .gz
    path: Path | None
    compressed: bool = False
    content: bytes = b""  # if there is no path: standard input and pipes can be read only once

    def open(self) -> IO[bytes]:
        if self.path is None:
            return io.BytesIO(self.content)
        if self.compressed:
            return cast(IO[bytes], gzip.open(self.path))
        return open(self.path, "rb")

    @contextmanager
    def whole(self) -> Iterator[IO[bytes]]:
        """The same, with a damaged gzip file said to be one."""
        try:
            with self.open() as file:
                yield file
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise ValueError(
                f"{self.name} cannot be unpacked: it is no gzip file, or not a whole one ({error})."
            ) from error


def split_suffix(path: Path) -> tuple[str, bool]:
    """The suffix that says the format, and whether .gz follows it."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    compressed = suffixes[-1:] == [".gz"]
    if compressed:
        suffixes.pop()
    return (suffixes[-1] if suffixes else ""), compressed


def find_source(source: str | os.PathLike[str]) -> Source:
    """Look for a file without reading it; read standard input and pipes."""
    if not isinstance(source, (str, os.PathLike)):
        raise TypeError(
            f"source must be a path, or '-' for standard input, got {type(source).__name__}. "
            "Arrays and data frames need not be read: pass them to the estimator."
        )
    if source == STANDARD_INPUT:
        return Source("Standard input", ".csv", None, content=sys.stdin.buffer.read())
    path = Path(source)
    name = repr(str(path))
    if path.is_dir():
        raise IsADirectoryError(f"{name} is a folder; a file is wanted.")
    if not path.exists():
        raise FileNotFoundError(f"There is no file {name}.")
    suffix, compressed = split_suffix(path)
    if not path.is_file():
        return Source(name, suffix or ".csv", None, content=path.read_bytes())
    text = suffix in (*ROWS_OF_TEXT, ARFF)
    if suffix not in SUFFIXES or (compressed and not text):
        raise ValueError(
            f"{name} has no suffix of a known format. Known: {', '.join(SUFFIXES)}, and "
            f"{', '.join((*ROWS_OF_TEXT, ARFF))} followed by .gz. Tables of other programs can be "
            "saved as CSV there."
        )
    return Source(name, suffix, path, compressed)
