"""Excel workbooks: the first sheet with cells is read, by openpyxl; one sheet is written.

openpyxl writes numbers with 16 digits, which do not give every float back. The few lines of XML
that a sheet is made of are therefore written here.
"""

from __future__ import annotations

import datetime
import re
import zipfile
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any
from xml.sax.saxutils import escape

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._support.wording import LONGEST_PATH, message, shown
from icvi_artmap.tables.content import Content, Request, gather
from icvi_artmap.tables.source import Source, TooLargeError
from icvi_artmap.tables.text import is_header, name_columns

#: What a sheet can hold.
MOST_ROWS, MOST_COLUMNS, LONGEST_CELL = 2**20, 2**14, 32_767
#: Rows from which it is found out whether there is a header.
FIRST_ROWS = 200
#: Bytes of a number in the array that is made of the cells.
NUMBER_SIZE = 8
#: A character as XML of Office writes what XML cannot hold, and what looks like it.
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
_UNWRITABLE = re.compile("[\x00-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")

_DECLARED = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_OFFICE = "http://schemas.openxmlformats.org"
_PARTS = {
    "[Content_Types].xml": f'<Types xmlns="{_OFFICE}/package/2006/content-types">'
    '<Default Extension="rels" '
    'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/>'
    '<Override PartName="/xl/workbook.xml" ContentType='
    '"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>'
    '<Override PartName="/xl/worksheets/sheet1.xml" ContentType='
    '"application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>',
    "_rels/.rels": f'<Relationships xmlns="{_OFFICE}/package/2006/relationships">'
    f'<Relationship Id="rId1" Type="{_OFFICE}/officeDocument/2006/relationships/officeDocument" '
    'Target="xl/workbook.xml"/></Relationships>',
    "xl/workbook.xml": f'<workbook xmlns="{_OFFICE}/spreadsheetml/2006/main" '
    f'xmlns:r="{_OFFICE}/officeDocument/2006/relationships">'
    '<sheets><sheet name="table" sheetId="1" r:id="rId1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_OFFICE}/package/2006/relationships">'
    f'<Relationship Id="rId1" Type="{_OFFICE}/officeDocument/2006/relationships/worksheet" '
    'Target="worksheets/sheet1.xml"/></Relationships>',
}
_SHEET = "xl/worksheets/sheet1.xml"


def read_excel(source: Source, request: Request) -> Content:
    """Read the first sheet that has cells."""
    try:
        with source.open() as file:
            _check_archive(file, source)
            rows, others = _rows_of_workbook(file, source)
    except (TooLargeError, ValueError) as error:
        if isinstance(error, TooLargeError) or str(error).startswith(source.name):
            raise
        raise _refusal(source, error) from error
    except Exception as error:  # damage makes openpyxl and expat raise nearly anything
        raise _refusal(source, error) from error
    if not rows:
        raise ValueError(f"{source.name} has no cells.")
    return _content(rows, others, source, request)


def _refusal(source: Source, error: Exception) -> ValueError:
    return ValueError(
        message(f"{source.name} is damaged, or no Excel workbook of the kind .xlsx (", error, ").")
    )


def _check_archive(file: IO[bytes], source: Source) -> None:
    """Refuse what would unpack to more than the file can account for."""
    if file.read(4) == b"\xd0\xcf\x11\xe0":
        raise ValueError(
            f"{source.name} is an old Excel file (.xls) or has a password. Save it as .xlsx "
            "without one."
        )
    file.seek(0)
    with zipfile.ZipFile(file) as archive:
        source.check_array(sum(member.file_size for member in archive.infolist()))
    file.seek(0)


def _rows_of_workbook(file: IO[bytes], source: Source) -> tuple[list[list[str]], list[str]]:
    """The rows of the first sheet with cells, and the names of the sheets behind it."""
    import openpyxl

    workbook = openpyxl.load_workbook(file, read_only=True, data_only=True, keep_links=False)
    try:
        sheets = list(workbook.worksheets)
        for i, sheet in enumerate(sheets):
            sheet.reset_dimensions()  # what a file says of them need not be true
            rows = list(_rows_of_sheet(sheet, source))
            if rows:
                return rows, [other.title for other in sheets[i + 1 :]]
        return [], []
    finally:
        workbook.close()


def _rows_of_sheet(sheet: Any, source: Source) -> Iterator[list[str]]:
    """Rows that have cells, as text, without what is empty at their ends."""
    n_cells = 0
    for row in sheet.iter_rows(values_only=True):
        n_cells += len(row) + 1
        source.check_array(NUMBER_SIZE * n_cells)
        cells = [_text(cell) for cell in row]
        while cells and not cells[-1]:
            cells.pop()
        if cells:
            yield cells


def _content(rows: list[list[str]], others: list[str], source: Source, request: Request) -> Content:
    """The content of rows that may be shorter than the longest."""
    width = max(map(len, rows))
    source.check_array(NUMBER_SIZE * width * len(rows))
    filled = [[*row, *[""] * (width - len(row))] for row in rows]
    header = is_header(filled[0], filled[1:FIRST_ROWS], ".")
    if header and len(filled) == 1:
        raise ValueError(f"{source.name} has a header but no rows.")
    names = name_columns(filled[0] if header else [], width)
    choice = request.among(names, source.name)
    content = gather(filled[1:] if header else filled, names, choice)
    if not header:
        content.notes.append("There is no header; the columns are called x1, x2 and so on.")
    if others:
        content.notes.append("Only the first sheet with cells was read; the workbook has others.")
    return content


def _text(cell: Any) -> str:
    """A cell as it would stand in CSV."""
    if cell is None:
        return ""
    if isinstance(cell, str):
        return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), cell)
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, datetime.datetime):
        return cell.isoformat(" ") if cell.time() != datetime.time() else cell.date().isoformat()
    return repr(cell) if isinstance(cell, (int, float)) else str(cell)


# --- writing -------------------------------------------------------------------------------------


def refuse_wide_tables(path: Path, arrays: dict[str, NDArray[Any]]) -> None:
    """Refuse what a sheet cannot hold."""
    n_rows = max(map(len, arrays.values()))
    longest = max(
        (max(map(len, array.tolist()), default=0) for array in arrays.values() if _is_text(array)),
        default=0,
    )
    wrong = None
    if n_rows >= MOST_ROWS or len(arrays) > MOST_COLUMNS:
        wrong = f"at most {MOST_ROWS - 1:,} rows and {MOST_COLUMNS:,} columns"
    elif longest > LONGEST_CELL:
        wrong = f"at most {LONGEST_CELL:,} letters in a cell"
    if wrong is not None:
        raise ValueError(
            f"{shown(str(path), LONGEST_PATH)}: an Excel sheet has {wrong}. Choose another suffix, "
            "for example .csv."
        )


def write_excel(file: IO[bytes], arrays: dict[str, NDArray[Any]]) -> None:
    """Write a workbook with one sheet; text stays text, also if it looks like a formula."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in _PARTS.items():
            archive.writestr(_member(name), _DECLARED + text)
        with archive.open(_member(_SHEET), "w") as sheet:
            for piece in _sheet(arrays):
                sheet.write(piece.encode("utf-8"))


def _member(name: str) -> zipfile.ZipInfo:
    """A member without the time, so that the same table gives the same bytes."""
    member = zipfile.ZipInfo(name)
    member.compress_type = zipfile.ZIP_DEFLATED
    return member


def _sheet(arrays: dict[str, NDArray[Any]]) -> Iterator[str]:
    yield f'{_DECLARED}<worksheet xmlns="{_OFFICE}/spreadsheetml/2006/main"><sheetData>'
    rows = zip(*(array.tolist() for array in arrays.values()), strict=True)
    written = ("".join(["<row>", *map(_cell, row), "</row>"]) for row in chain([arrays], rows))
    while pieces := list(islice(written, 1000)):
        yield "".join(pieces)
    yield "</sheetData></worksheet>"


def _cell(value: Any) -> str:
    if isinstance(value, str):
        return f'<c t="inlineStr"><is><t xml:space="preserve">{_writable(value)}</t></is></c>'
    if isinstance(value, bool):
        return f'<c t="b"><v>{int(value)}</v></c>'
    if value != value:
        return "<c/>"
    if value in (np.inf, -np.inf):
        return _cell(repr(value))
    return f"<c><v>{value!r}</v></c>"


def _writable(text: str) -> str:
    return escape(_UNWRITABLE.sub(lambda found: f"_x{ord(found[0]):04X}_", text))


def _is_text(array: NDArray[Any]) -> bool:
    return array.dtype.kind in "UO"
