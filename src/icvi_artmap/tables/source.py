"""Where a table comes from: a file, perhaps compressed, or standard input."""

from __future__ import annotations

import glob
import gzip
import io
import os
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._support.wording import LONGEST_PATH, shown
from icvi_artmap.tables.formats import (
    FORMATS,
    STREAM,
    Format,
    find_format,
    suffixes_of,
    unknown_suffix,
)

STANDARD_INPUT = "-"

MIB = 2**20
#: Packed text may unpack to so many bytes, or to so many times the size of its file.
UNPACKED_BYTES, UNPACKED_TIMES = 16 * MIB, 32
#: The same for the arrays that are made of a file, each as numbers of 8 bytes.
ARRAY_BYTES, ARRAY_TIMES = 64 * MIB, 100
#: Standard input and pipes are kept in memory, so no more bytes of them are read.
PIPED_BYTES = 512 * MIB
#: Files that make one table, at most.
MOST_PARTS = 10_000


class TooLargeError(ValueError):
    """A table that would take more memory than its file can account for."""


@dataclass(frozen=True)
class Source:
    """A table in a file or in memory, which can be opened more than once."""

    name: str  # as messages call it
    format: Format
    path: Path | None
    packed: bool = False  # by gzip
    content: bytes = b""  # used without a path: standard input and pipes can be read only once
    parts: tuple[Source, ...] = ()  # files that make one table

    def open(self) -> IO[bytes]:
        if self.path is None:
            return io.BytesIO(self.content)
        if self.packed:
            return cast(IO[bytes], io.BufferedReader(_Unpacked(self, self.path), 2**16))
        return open(self.path, "rb")

    @property
    def size(self) -> int:
        """The bytes of the file as it is, packed or not."""
        if self.parts:
            return sum(part.size for part in self.parts)
        return len(self.content) if self.path is None else self.path.stat().st_size

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

    def check_array(self, n_bytes: int) -> None:
        """Refuse an array that such a file cannot be the origin of, before it takes memory."""
        most = max(ARRAY_BYTES, ARRAY_TIMES * self.size)
        if n_bytes > most:
            raise TooLargeError(
                f"{self.name} has {self.size:,} bytes, but what is in it would take "
                f"{n_bytes:,}; at most {most:,} are allowed for a file of this size. Save the "
                "table without compression, as numbers and short names."
            )


class _Unpacked(io.RawIOBase):
    """The bytes that a gzip file unpacks to, as long as they are not too many."""

    def __init__(self, source: Source, path: Path) -> None:
        self._source = source
        self._most = max(UNPACKED_BYTES, UNPACKED_TIMES * source.size)
        self._count = 0
        self._file = gzip.GzipFile(path)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count = self._file.readinto(buffer)
        self._count += count
        if self._count > self._most:
            raise TooLargeError(
                f"{self._source.name} has {self._source.size:,} bytes and unpacks to more than "
                f"{self._most:,}, which is allowed for a file of this size. If you trust it, "
                "unpack it with gunzip first."
            )
        return count

    def close(self) -> None:
        self._file.close()
        super().close()


def find_source(source: str | os.PathLike[str] | Source) -> Source:
    """Find a file without reading it, or read standard input or a pipe.

    A folder, or a pattern as ``"part-*.parquet"``, stands for all files of a table that lies in
    several.
    """
    if isinstance(source, Source):
        return source
    if not isinstance(source, (str, os.PathLike)):
        raise TypeError(
            f"source must be a path, or '-' for standard input, got {type(source).__name__}. "
            "Arrays and data frames need not be read: pass them to the estimator."
        )
    if source == STANDARD_INPUT:
        name = "Standard input"
        return Source(name, STREAM, None, content=_piped(sys.stdin.buffer, name))
    path = Path(source)
    name = shown(str(path), LONGEST_PATH)
    if path.is_dir():
        return _parts_of(name, _files_in(path), "a folder")
    if not path.exists() and glob.has_magic(str(path)):
        return _parts_of(name, sorted(map(Path, glob.glob(str(path), recursive=True))), "a pattern")
    if not path.exists():
        raise FileNotFoundError(f"There is no file {name}.")
    format, packed = find_format(path)
    if not path.is_file():
        with open(path, "rb") as pipe:
            return Source(name, format or STREAM, None, content=_piped(pipe, name))
    if format is None or (packed and not format.packed):
        raise ValueError(
            f"{unknown_suffix(name, FORMATS)} Tables of other programs can be saved as CSV there."
        )
    return Source(name, format, path, packed)


def _files_in(folder: Path) -> list[Path]:
    """The files of a folder and of folders in it, but no hidden ones and no marks of success."""
    return sorted(
        path
        for path in folder.rglob("*")
        if path.is_file()
        and not any(part.startswith((".", "_")) for part in path.relative_to(folder).parts)
    )


def _parts_of(name: str, paths: list[Path], what: str) -> Source:
    """One table of the files that can be parts; all must be of one format."""
    suffixes = suffixes_of(format for format in FORMATS if format.in_parts)
    found = [(path, find_format(path)[0]) for path in paths]
    parts = [(path, format) for path, format in found if format is not None and format.in_parts]
    if not parts:
        raise IsADirectoryError(
            f"{name} is {what} without any file {suffixes}; such a file, or a file of another "
            "format, is wanted."
        )
    formats = {format.name for _, format in parts}
    if len(formats) > 1:
        raise ValueError(
            f"{name} has files of several formats ({', '.join(sorted(formats))}). Name those of "
            "one, as in 'folder/*.parquet'."
        )
    if len(parts) > MOST_PARTS:
        raise TooLargeError(f"{name} has {len(parts):,} files, and a table at most {MOST_PARTS:,}.")
    sources = tuple(Source(shown(str(path), LONGEST_PATH), format, path) for path, format in parts)
    return sources[0] if len(sources) == 1 else Source(name, parts[0][1], None, parts=sources)


def text_array(cells: Sequence[str | bytes], source: Source) -> NDArray[Any]:
    """The cells as an array, in which each takes as much memory as the longest."""
    source.check_array(4 * len(cells) * max(map(len, cells), default=0))
    return np.array(cells)


def _piped(stream: IO[bytes], name: str) -> bytes:
    """All that comes from a stream that has no size."""
    content = io.BytesIO()
    while part := stream.read(MIB):
        content.write(part)
        if content.tell() > PIPED_BYTES:
            raise TooLargeError(
                f"{name} has more than {PIPED_BYTES:,} bytes, which are kept in memory. Write them "
                "to a file first, and read that."
            )
    return content.getvalue()
