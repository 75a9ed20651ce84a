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

from icvi_artmap.tables.formats import FORMATS, STREAM, Format, find_format, unknown_suffix

STANDARD_INPUT = "-"


@dataclass(frozen=True)
class Source:
    """A table in a file or in memory, which can be opened more than once."""

    name: str  # as messages call it
    format: Format
    path: Path | None
    packed: bool = False  # by gzip
    content: bytes = b""  # used without a path: standard input and pipes can be read only once

    def open(self) -> IO[bytes]:
        if self.path is None:
            return io.BytesIO(self.content)
        if self.packed:
            return cast(IO[bytes], gzip.open(self.path))
        return open(self.path, "rb")

    @contextmanager
    def whole(self) -> Iterator[IO[bytes]]:
        """Open the source, and refuse a damaged gzip file with a message."""
        try:
            with self.open() as file:
                yield file
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise ValueError(
                f"{self.name} cannot be unpacked: it is no gzip file, or not a whole one ({error})."
            ) from error


def find_source(source: str | os.PathLike[str]) -> Source:
    """Find a file without reading it, or read standard input or a pipe."""
    if not isinstance(source, (str, os.PathLike)):
        raise TypeError(
            f"source must be a path, or '-' for standard input, got {type(source).__name__}. "
            "Arrays and data frames need not be read: pass them to the estimator."
        )
    if source == STANDARD_INPUT:
        return Source("Standard input", STREAM, None, content=sys.stdin.buffer.read())
    path = Path(source)
    name = repr(str(path))
    if path.is_dir():
        raise IsADirectoryError(f"{name} is a folder; a file is wanted.")
    if not path.exists():
        raise FileNotFoundError(f"There is no file {name}.")
    format, packed = find_format(path)
    if not path.is_file():
        return Source(name, format or STREAM, None, content=path.read_bytes())
    if format is None or (packed and not format.packed):
        raise ValueError(
            f"{unknown_suffix(name, FORMATS)} Tables of other programs can be saved as CSV there."
        )
    return Source(name, format, path, packed)
