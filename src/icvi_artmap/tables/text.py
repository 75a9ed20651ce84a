"""CSV, TSV and other rows of text. Delimiter, decimal mark and header are found out.

A table of nothing but numbers is read by NumPy's parser. Any other goes through the csv module,
cell by cell; what both can read they read alike.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import IO, Any, Literal

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._support.wording import counted, parameter, quoted, shown
from icvi_artmap.tables.content import (
    MISSING,
    MOST_COLUMNS,
    Content,
    Kind,
    Request,
    gather,
    read_number,
)
from icvi_artmap.tables.formulas import harmless_text, plain_text
from icvi_artmap.tables.lines import Lines, open_lines
from icvi_artmap.tables.sampling import drawn_rows
from icvi_artmap.tables.source import Source, TooLargeError

TAB = "\t"
#: Delimiters to try; of equally good ones the first. A blank stands for any white space.
DELIMITERS = (TAB, ";", "|", ",", " ")
DELIMITER_NAMES = {"\\t": TAB, "tab": TAB, "whitespace": " "}

#: Lines from which the form of a table is found out, and how long they may be together.
SAMPLE_LINES = 200
SAMPLE_SIZE = 2**20
#: A number with a decimal comma, or two integers with a comma between.
INTEGERS_OR_DECIMAL = re.compile(r"[+-]?\d+,\d+")
#: The same if it cannot be two integers, which are not written 05 or -0.
DECIMAL = re.compile(r"[+-]?\d+,0\d+|[+-]0,\d+")

#: With at least this many columns a first line 0, 1, 2, ... holds names, even above integers.
COUNTED_NAMES = 4


@dataclass(frozen=True)
class Form:
    """How rows are written."""

    delimiter: str
    decimal: str
    comments: int  # lines to pass over before the header or the first row
    header: int  # lines of the header, 0 if there is none
    names: list[str]
    notes: list[str]


def read_csv(source: Source, request: Request) -> Content:
    """Read rows with any delimiter."""
    form = find_form(source, request.delimiter)
    choice = request.among(form.names, source.name)
    if not choice.as_given and request.sample is None:
        values = _numbers_only(source, form)
        if values is not None:
            kinds = [Kind.NUMBER] * len(form.names)
            return Content(form.names, choice, values, kinds, notes=form.notes)
    with open_lines(source) as lines:
        rows: Iterable[list[str]] = chain.from_iterable(_blocks_of_rows(lines, form, source))
        drawn = None
        if request.sample is not None:
            rows, drawn = drawn_rows(rows, request.sample)
        content = gather(rows, form.names, choice, form.decimal)
    if drawn is not None:
        content.rows, content.total = drawn
    content.as_given = {
        j: [plain_text(cell) for cell in cells] for j, cells in content.as_given.items()
    }
    content.notes.extend(form.notes)
    return content


def read_tsv(source: Source, request: Request) -> Content:
    """Read rows with a tab between cells, unless another delimiter is asked for."""
    return read_csv(source, _with_tabs(request))


def csv_names(source: Source, request: Request) -> list[str]:
    """Read the names of the columns only."""
    return find_form(source, request.delimiter).names


def tsv_names(source: Source, request: Request) -> list[str]:
    """Read the names of the columns only."""
    return csv_names(source, _with_tabs(request))


@dataclass(frozen=True)
class TextRows:
    """All rows of a table as they stand in the input, and how it writes them."""

    names: list[str]
    rows: Callable[[], Iterator[list[str]]]
    delimiter: str
    decimal: str


def csv_rows(source: Source, request: Request) -> TextRows:
    """All rows, which are read when they are asked for."""
    form = find_form(source, request.delimiter)

    def rows() -> Iterator[list[str]]:
        with open_lines(source) as lines:
            for block in _blocks_of_rows(lines, form, source):
                for row in block:
                    yield [plain_text(cell) for cell in row]

    return TextRows(form.names, rows, form.delimiter, form.decimal)


def tsv_rows(source: Source, request: Request) -> TextRows:
    """All rows, which are read when they are asked for."""
    return csv_rows(source, _with_tabs(request))


def write_text_rows(
    file: IO[str], names: list[str], rows: Iterable[list[str]], delimiter: str
) -> None:
    """Write a header and rows of text one after the other; no cell is run as a formula."""
    head = [harmless_text(name) for name in names]
    _writer(file, delimiter, head[0].startswith(("#", "%"))).writerow(head)
    _writer(file, delimiter, False).writerows(map(harmless_text, row) for row in rows)


def _with_tabs(request: Request) -> Request:
    return replace(request, delimiter=TAB) if request.delimiter is None else request


def write_csv(file: IO[bytes], arrays: dict[str, NDArray[Any]]) -> None:
    """Write a header and rows with a comma between cells."""
    with text_file(file) as text:
        write_rows(text, arrays, ",")


def write_tsv(file: IO[bytes], arrays: dict[str, NDArray[Any]]) -> None:
    """Write a header and rows with a tab between cells."""
    with text_file(file) as text:
        write_rows(text, arrays, TAB)


def text_file(file: IO[bytes]) -> io.TextIOWrapper:
    """UTF-8 text on its way to a binary file, which is closed with it."""
    return io.TextIOWrapper(file, "utf-8", newline="")


def write_rows(file: IO[str], arrays: dict[str, NDArray[Any]], delimiter: str) -> None:
    """Write a header and rows."""
    texts = [array for array in arrays.values() if array.dtype.kind == "U"]
    names = np.array(list(arrays))
    commented = names[0].startswith(("#", "%"))
    _writer(file, delimiter, commented or _needs_quotes(names)).writerow(arrays)
    # The csv module writes a float as repr does: the shortest text that gives the same float.
    _writer(file, delimiter, any(map(_needs_quotes, texts))).writerows(
        zip(*(array.tolist() for array in arrays.values()), strict=True)
    )


def _writer(file: IO[str], delimiter: str, quotes: bool) -> Any:
    """A writer that puts all text in quotes, or only where csv knows that it must."""
    quoting: Literal[0, 2] = csv.QUOTE_NONNUMERIC if quotes else csv.QUOTE_MINIMAL
    return csv.writer(file, delimiter=delimiter, lineterminator="\n", quoting=quoting)


def _needs_quotes(cells: NDArray[np.str_]) -> bool:
    """Whether there are carriage returns, or blanks at ends, which count only in quotes."""
    blanks = np.char.str_len(np.char.strip(cells)) < np.char.str_len(cells)
    return bool(np.any(blanks) or np.any(np.char.find(cells, "\r") >= 0))


def find_form(source: Source, delimiter: str | None) -> Form:
    """Find out delimiter, decimal mark and header from the first lines."""
    given = check_delimiter(delimiter)
    comments, last_comment = 0, ""
    lines: list[str] = []
    with open_lines(source) as all_lines:
        size, whole = 0, False
        while len(lines) < SAMPLE_LINES and size < SAMPLE_SIZE:
            line = next(iter(all_lines), None)
            if line is None:
                whole = True
                break
            if not lines and (not line.strip() or line[0] in "#%"):
                comments = all_lines.number
                last_comment = line if line.strip() else last_comment
                continue
            for mark in DELIMITERS if given is None else (given,):
                refuse_wide(line, mark, source)
            lines.append(line)
            size += len(line)
    if not lines and not last_comment:
        raise ValueError(f"{source.name} is empty.")

    try:
        mark, decimal, rows = best_delimiter(lines or [last_comment], given)
    except csv.Error as error:
        raise ValueError(
            f"The first lines of {source.name} cannot be split into cells: {error}. Are quotes "
            "closed?"
        ) from error
    if not whole and len(rows) > 1:
        rows.pop()  # a cell in quotes may go on in the next line
    first = rows[0] if rows else []
    commented = _split_comment(last_comment, mark)
    if lines and is_header(first, rows[1:], decimal):
        names, header = first, _lines_of_first_row(lines, mark)
    elif commented and (not lines or len(commented) == len(first)):
        names, header = commented, 0
    else:
        names, header = [], 0
    if not lines or (header and whole and len(rows) == 1):
        raise ValueError(f"{source.name} has a header but no rows.")
    notes = ["Commas were read as decimal marks."] if decimal == "," else []
    if not names:
        notes.append("There is no header; the columns are called x1, x2 and so on.")
        if mark == "," and given is None and _decimal_lines(lines):
            notes.append(
                "Every row is two integers with a comma between. If that is a decimal mark, give "
                f"{parameter('delimiter', ';')}, or save the table with the suffix .tsv."
            )
    names = name_columns([plain_text(name) for name in names], len(first))
    if header and any(read_number(name) is not None for name in names):
        notes.append(f"The first line was taken as names of the columns: {quoted(names, 4)}.")
    return Form(mark, decimal, comments, header, names, notes)


def refuse_wide(line: str, delimiter: str, source: Source) -> None:
    """Refuse a line with more cells than a table may have columns, before it is split."""
    if len(line) > MOST_COLUMNS and line.count(delimiter) >= MOST_COLUMNS:
        raise TooLargeError(
            f"{source.name} has a line with more than {MOST_COLUMNS:,} cells (delimiter: "
            f"{_named(delimiter)}): this is no table. Are rows and columns interchanged?"
        )


def check_delimiter(delimiter: str | None) -> str | None:
    if delimiter is None:
        return None
    mark = DELIMITER_NAMES.get(delimiter, delimiter) if isinstance(delimiter, str) else ""
    if len(mark) != 1 or mark in "\"'\r\n" or mark.isalnum():
        raise ValueError(
            f"{parameter('delimiter')} must be one character (not a letter, digit or quote), a "
            f"blank for any white space, or left out to find it out; got {shown(delimiter)}."
        )
    return mark


def name_columns(names: list[str], width: int) -> list[str]:
    """Names without white space around; a column without a name gets that of pandas."""
    if not names:
        return [f"x{j + 1}" for j in range(width)]
    return [name.strip() or f"Unnamed: {j}" for j, name in enumerate(names)]


def split_rows(lines: Iterable[str], delimiter: str, *, strict: bool) -> Iterator[list[str]]:
    """Rows as csv.reader splits them; a blank as delimiter stands for any white space."""
    if delimiter == " ":
        lines = (line.strip().replace("\t", " ") for line in lines)
    return csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=strict)


def best_delimiter(lines: list[str], given: str | None) -> tuple[str, str, list[list[str]]]:
    """The delimiter with which most rows have equally many cells, and most cells are numbers."""
    failed = csv.Error()
    best: tuple[tuple[float, float], str, str, list[list[str]]] | None = None
    for mark in DELIMITERS if given is None else (given,):
        try:
            rows = [row for row in split_rows(lines, mark, strict=False) if row]
        except csv.Error as error:
            failed = error
            continue
        lengths = [len(row) for row in rows]
        usual = max(set(lengths), key=lambda n: (lengths.count(n), n), default=0)
        cells = [cell for row in rows[1:] or rows for cell in row]
        decimal = "."
        if mark != ",":
            with_comma = sum(
                "," in cell and read_number(cell, ",") is not None and "_" not in cell
                for cell in cells
            )
            with_point = sum("." in cell and read_number(cell) is not None for cell in cells)
            decimal = "," if with_comma > with_point else "."
        numbers = sum(read_number(cell, decimal) is not None for cell in cells)
        agreeing = lengths.count(usual) / max(1, len(rows)) if usual > 1 else 0.0
        merit = (agreeing * numbers / max(1, len(cells)), agreeing)
        if best is None or merit > best[0]:
            best = merit, mark, decimal, rows
    if best is None:
        raise failed
    (_, agreeing), mark, decimal, rows = best
    if mark == "," and given is None and _is_decimal_column(lines):
        mark, decimal = ";", ","
        rows = [row for row in split_rows(lines, mark, strict=False) if row]
    elif agreeing == 0.0 and given is None:
        mark, decimal = _delimiter_of_numbers(lines[0]), "."
        rows = [row for row in split_rows(lines, mark, strict=False) if row]
    return mark, decimal, rows


def _delimiter_of_numbers(line: str) -> str:
    """The delimiter of what looks like a single column.

    If its first line has several numbers, other rows lack values. Otherwise any delimiter will do.
    """
    for mark in DELIMITERS:
        cells = _cells_of(line, mark)
        if len(cells) > 1 and all(read_number(cell) is not None for cell in cells):
            return mark
    return ","


def _cells_of(line: str, delimiter: str) -> list[str]:
    """The cells of a single line; none if it cannot be split."""
    try:
        return next(iter(split_rows([line], delimiter, strict=False)), [])
    except csv.Error:
        return []


def _decimal_lines(lines: list[str]) -> list[str]:
    """The lines without their ends, if each is a number with a decimal comma or two integers."""
    plain = [line.strip() for line in lines if line.strip()]
    return plain if all(map(INTEGERS_OR_DECIMAL.fullmatch, plain)) else []


def _is_decimal_column(lines: list[str]) -> bool:
    """Whether a comma is the decimal mark of a single column.

    Below a name for one column it can be nothing else; without a name the digits must show it.
    """
    if any(DECIMAL.fullmatch(line) for line in _decimal_lines(lines)):
        return True
    name, *below = [line for line in lines if line.strip()]
    return "," not in name and read_number(name) is None and bool(_decimal_lines(below))


def _lines_of_first_row(lines: list[str], delimiter: str) -> int:
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
    next(reader)
    return reader.line_num


def _split_comment(line: str, delimiter: str) -> list[str]:
    """The cells of a comment that may hold the names of columns; no cells if it has numbers."""
    text = line.lstrip("#% \t").strip()
    cells = _cells_of(text, delimiter) if text else []
    return [] if any(read_number(cell) is not None for cell in cells) else cells


def is_header(first: list[str], below: list[list[str]], decimal: str) -> bool:
    """Whether the first row holds names: no numbers, or numbers that count the columns."""
    numbers = [cell for cell in first if read_number(cell, decimal) is not None]
    text = [cell for cell in first if read_number(cell, decimal) is None]
    if not numbers:
        # A missing value is not a name, but the index that pandas writes has no name either.
        named = any(cell.strip().lower() not in MISSING for cell in text)
        return named and not (below and _recur(first, below, all))
    if not below or not all(cell.strip().isdigit() and len(cell) < 20 for cell in numbers):
        return False
    counted = [int(cell) for cell in numbers]
    if counted != list(range(counted[0], counted[0] + len(counted))):
        return False
    if not text:
        return counted[0] in (0, 1) and (
            len(counted) >= COUNTED_NAMES or _decimals_everywhere(below)
        )
    if [cell.strip() for cell in text] == [""] and first[0] == text[0]:
        return len(counted) > 1 or (counted == [0] and below[0][0].strip() == "0")
    if len(counted) == 1 or any(cell.strip().lower() in MISSING for cell in text):
        return False
    names = [cell if cell in text else "" for cell in first]
    return len(set(first)) == len(first) and not _recur(names, below, any)


def _recur(
    names: list[str], rows: list[list[str]], quantifier: Callable[[Iterable[bool]], bool]
) -> bool:
    """Whether any or all of the names are found again below, each in its own column."""
    return quantifier(
        any(row[j] == name for row in rows if j < len(row)) for j, name in enumerate(names) if name
    )


def _decimals_everywhere(rows: list[list[str]]) -> bool:
    """Whether every column has a number that is not written as an integer."""
    return all(
        any(not cell.strip().lstrip("+-").isdigit() for cell in column)
        for column in zip(*rows, strict=False)
    )


def _blocks_of_rows(lines: Lines, form: Form, source: Source) -> Iterator[list[list[str]]]:
    """The rows of a table, many at a time; one with too few or too many cells is an error."""
    lines.skip(form.comments)
    careful = _complete_rows(lines, form, source)
    if form.header:
        next(careful)
    while block := lines.block():
        rows = _plain_rows(block, form)
        if rows is None:
            end = lines.number
            lines.give_back(block)
            rows = []
            while lines.number < end and (row := next(careful, None)) is not None:
                rows.append(row)
        yield rows


def _plain_rows(block: list[str], form: Form) -> list[list[str]] | None:
    """The rows of a block of lines; None if one is wrong, very long or goes on behind the block."""
    if sum(map(len, block)) > MOST_COLUMNS:
        return None
    try:
        rows = list(split_rows(block, form.delimiter, strict=True))
    except csv.Error:
        return None
    width = len(form.names)
    if set(map(len, rows)) == {width}:
        return rows
    if all(len(row) == width or _is_blank(row) for row in rows):
        return [row for row in rows if len(row) == width]
    return None


def _is_blank(row: list[str]) -> bool:
    return not row or (len(row) == 1 and not row[0].strip())


def _complete_rows(lines: Lines, form: Form, source: Source) -> Iterator[list[str]]:
    """The header, if there is one, and the rows one by one, so that a wrong line is known."""
    taken = _Taken(form.delimiter, source)
    reader = split_rows(taken.lines(lines), form.delimiter, strict=True)
    width = len(form.names)
    header = form.header > 0
    while True:
        taken.length = 0
        try:
            row = next(reader, None)
        except csv.Error as error:
            raise ValueError(
                f"Line {lines.number} of {source.name} cannot be split into cells: {error}. Are "
                "its quotes closed?"
            ) from error
        if row is None:
            return
        if len(row) == width or header:
            header = False
            yield row
        elif not _is_blank(row):
            first = "header" if form.header else "first row"
            raise ValueError(
                f"Line {lines.number} of {source.name} has {counted(len(row), 'value')}, but the "
                f"{first} has {width} (delimiter: {_named(form.delimiter)}). Correct the line, or "
                f"give the delimiter ({parameter('delimiter')})."
            )


class _Taken:
    """Hands on lines and adds up their lengths, for a row may have several lines."""

    def __init__(self, delimiter: str, source: Source) -> None:
        self.length = 0
        self._delimiter = delimiter
        self._source = source

    def lines(self, lines: Lines) -> Iterator[str]:
        for line in lines:
            if self.length:
                lines.check_length(self.length + len(line))
            self.length += len(line)
            refuse_wide(line, self._delimiter, self._source)
            yield line


def _named(delimiter: str) -> str:
    return {"\t": "tab", " ": "white space"}.get(delimiter, repr(delimiter))


def _numbers_only(source: Source, form: Form) -> NDArray[np.float64] | None:
    """The values of a table that holds only numbers; None if it holds anything else."""
    with open_lines(source) as file:
        file.skip(form.comments + form.header)
        lines: Iterator[str] = chain.from_iterable(_lines_with_cells(file))
        if form.decimal != ".":
            # Here a point is not a decimal mark. The careful reader treats such cells.
            lines = (line.replace(".", "?").replace(form.decimal, ".") for line in lines)
        delimiter = None if form.delimiter == " " else form.delimiter
        values = numbers_of(lines, delimiter, None)
    return values if values is not None and values.shape[1] == len(form.names) else None


def _lines_with_cells(file: Lines) -> Iterator[list[str]]:
    while block := file.block():
        yield [line for line in block if line[0] not in "\r\n"]


def numbers_of(
    lines: Iterator[str], delimiter: str | None, comments: str | None
) -> NDArray[np.float64] | None:
    """The numbers in lines, by NumPy's parser; None if there is anything else, or nothing."""
    first = next(lines, None)
    if first is None:
        return None
    try:
        values = np.loadtxt(chain([first], lines), delimiter=delimiter, comments=comments, ndmin=2)
    except TooLargeError:
        raise
    except ValueError:
        return None
    return values if len(values) else None
