"""The lines of a text, one after another: in linear time, and never one that has no end."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

import numpy as np

from icvi_artmap.tables.source import Source, TooLargeError

#: A longer line (16 MiB), or a row of several lines, is not taken for a row.
LONGEST_LINE = 2**24
#: Bytes that are read at a time: more than the csv module takes for one cell, and less than the
#: longest line, so that only a line that goes on in the next chunk can be too long.
CHUNK = 2**18
#: Lines that are handed out at a time: what is made of them stays in the processor's cache.
BLOCK_LINES = 2**12

UTF_16 = "utf-16"

#: Files that are not text, by their first bytes, and the suffix they should have.
SIGNATURES = {
    b"PAR1": ("a Parquet", ".parquet"),
    b"PK\x03\x04": ("a zipped (perhaps an Excel or NPZ)", ".xlsx or .npz"),
    b"\x93NUMPY": ("a NumPy", ".npy"),
    b"\x1f\x8b": ("a gzip", ".csv.gz or the like"),
    b"\xd0\xcf\x11\xe0": ("an old Excel", ".xlsx after saving it so"),
}


class Lines:
    """Hands out the lines of a text with their ends, as the csv module wants them, and counts them.

    Empty lines that fill a whole chunk come as one, for there may be very many. It counts as many.
    """

    def __init__(self, file: IO[bytes], encoding: str, source: Source) -> None:
        self.number = 0  # of the line that was handed out last, from 1
        self._file = file
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._source = source
        self._blocks = self._whole_lines()
        self._left: Iterator[str] = iter(())  # lines of a block that are not handed out
        self._lines = self._one_by_one()

    def __iter__(self) -> Iterator[str]:
        return self._lines

    def block(self) -> list[str]:
        """Hand out many lines at once, as they come; none at the end."""
        block = list(self._left) or self._next_block()
        self.number += len(block)
        return block

    def give_back(self, block: list[str]) -> None:
        """Take back the block that was handed out last: its lines come again."""
        self.number -= len(block)
        self._left = iter(block)

    def skip(self, number: int) -> None:
        """Pass over the lines up to this one."""
        while self.number < number:
            next(self._lines)

    def check_length(self, length: int) -> None:
        """Refuse a line, or several that make up a row, that is too long for a table."""
        if length > LONGEST_LINE:
            raise TooLargeError(
                f"Line {self.number + 1} of {self._source.name} has more than {LONGEST_LINE} "
                "characters: this is no table."
            )

    def _one_by_one(self) -> Iterator[str]:
        while left := list(self._left) or self._next_block():
            self._left = iter(left)
            for line in self._left:
                self.number += 1
                yield line

    def _next_block(self) -> list[str]:
        block = next(self._blocks, [])
        if len(block) == 1:
            self.number += max(1, _empty_lines(block[0])) - 1
        return block

    def _whole_lines(self) -> Iterator[list[str]]:
        """The lines of the text, as many at a time as end in a chunk."""
        begun: list[str] = []  # parts of a line that goes on in the next chunk
        length = 0
        for chunk in self._chunks():
            if not begun and _empty_lines(chunk):
                yield [chunk]
                continue
            lines = io.StringIO(chunk, newline="").readlines()
            rest = "" if lines[-1][-1] in "\r\n" else lines.pop()
            if lines and begun:
                self.check_length(length + len(lines[0]))
                lines[0] = "".join([*begun, lines[0]])
                begun, length = [], 0
            for at in range(0, len(lines), BLOCK_LINES):
                yield lines[at : at + BLOCK_LINES]
            if rest:
                begun.append(rest)
                length += len(rest)
                self.check_length(length)
        if begun:
            yield ["".join(begun)]

    def _chunks(self) -> Iterator[str]:
        """Pieces of the text; the two characters of one end of line are not torn apart."""
        held = ""
        part = b"more"
        while part:
            part = self._file.read(CHUNK)
            chunk = held + self._decoder.decode(part, final=not part)
            held = "\r" if part and chunk.endswith("\r") else ""
            if len(chunk) > len(held):
                yield chunk[: len(chunk) - len(held)]


def _empty_lines(chunk: str) -> int:
    """The number of lines of a text that has nothing but ends of lines; 0 for any other."""
    if not chunk.isspace():
        return 0
    codes = np.frombuffer(chunk.encode(), np.uint8)
    line_feeds, returns = codes == ord("\n"), codes == ord("\r")
    ends = np.count_nonzero(line_feeds) + np.count_nonzero(returns)
    if ends < len(codes):
        return 0
    return int(ends - np.count_nonzero(returns[:-1] & line_feeds[1:]))


@contextmanager
def open_lines(source: Source) -> Iterator[Lines]:
    """Open a source as lines of text, and refuse with a message what is not text."""
    with source.whole() as file:
        start = file.read(4096)
    for signature, (what, suffix) in SIGNATURES.items():
        if start.startswith(signature):
            raise ValueError(
                f"{source.name} is {what} file, not text. Give it the suffix {suffix}."
            )
    encoding = UTF_16 if start[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    if b"\0" in start and encoding != UTF_16:
        raise ValueError(f"{source.name} is not text: it has bytes of value 0.")
    try:
        with source.whole() as file:
            yield Lines(file, encoding, source)
    except UnicodeDecodeError as error:
        raise ValueError(_undecodable(source, encoding, error)) from error


def _undecodable(source: Source, encoding: str, error: UnicodeDecodeError) -> str:
    where = source.name
    if encoding != UTF_16:
        number, error = _first_undecodable(source, error)
        where = f"Line {number} of {source.name}"
    return (
        f"{where} is not {encoding.removesuffix('-sig').upper()} text (byte "
        f"0x{error.object[error.start]:02x}). If it is text in another encoding, save it as UTF-8."
    )


def _first_undecodable(source: Source, error: UnicodeDecodeError) -> tuple[int, UnicodeDecodeError]:
    """The line with the first byte that is not UTF-8, and the error that says so."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    number = 1
    with source.whole() as file:
        part = b"more"
        while part:
            part = file.read(CHUNK)
            try:
                decoder.decode(part, final=not part)
            except UnicodeDecodeError as first:
                return number + first.object[: first.start].count(b"\n"), first
            number += part.count(b"\n")
    return number, error
