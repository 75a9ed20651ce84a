"""Text that a spreadsheet would run as a formula: made harmless when written, and read back.

A leading apostrophe tells a spreadsheet that a cell is text. It is put before text that begins as
a formula does, and one more before text that looks as if that had been done, so that every text
comes back as it was.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi_artmap.tables.content import MISSING, read_number

MARK = "'"
_FORMULA = re.compile(r"'*[=+\-@\t\r\n]")
_MARKED = re.compile(r"'+[=+\-@\t\r\n]")


def harmless_text(cell: str) -> str:
    """The text of a cell as it is written."""
    if not _FORMULA.match(cell) or cell.strip().lower() in MISSING:
        return cell
    # A number is a number to a spreadsheet, too.
    number = read_number(cell) is not None or read_number(cell, ",") is not None
    return cell if number else MARK + cell


def plain_text(cell: str) -> str:
    """The text of a cell that was written so."""
    return cell[len(MARK) :] if _MARKED.match(cell) else cell


def harmless(arrays: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Columns whose names and texts a spreadsheet does not run; numbers stay as they are."""
    return {
        harmless_text(name): np.array(list(map(harmless_text, array.tolist())), dtype=str)
        if array.dtype.kind == "U"
        else array
        for name, array in arrays.items()
    }
