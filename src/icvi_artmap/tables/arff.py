"""ARFF, the text format of Weka: dense rows of numeric, nominal, text and date attributes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._support.wording import counted, shown
from icvi_artmap.tables.content import BOOLEAN, Content, Kind, Request, gather
from icvi_artmap.tables.lines import Lines, open_lines
from icvi_artmap.tables.source import Source
from icvi_artmap.tables.text import numbers_of, refuse_wide, text_file

NUMERIC = ("numeric", "real", "integer")

# Repetitions are possessive (*+): what does not match is known in linear time.
_QUOTED = r"'(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\""
_ATTRIBUTE = re.compile(rf"@attribute\s+({_QUOTED}|[^\s{{]+)\s*(.*)", re.IGNORECASE)
_CELL = re.compile(rf"\s*+({_QUOTED}|[^,'\"]*+)\s*+(,|$)")
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t"}
_PLAIN_NAME = re.compile(r"[A-Za-z_][\w.-]*", re.ASCII)


class Attribute(NamedTuple):
    name: str
    kind: Kind
    numeric: bool


def read_arff(source: Source, request: Request) -> Content:
    """Read a dense ARFF file."""
    with open_lines(source) as lines:
        attributes = _read_header(lines, source)
        n_lines = lines.number
        names = [attribute.name for attribute in attributes]
        choice = request.among(names, source.name)
        if not choice.as_given and all(attribute.numeric for attribute in attributes):
            values = _numbers_only(lines)
            if values is not None and values.shape[1] == len(names):
                kinds = [Kind.NUMBER] * len(names)
                return Content(names, choice, values, kinds)
    with open_lines(source) as lines:
        lines.skip(n_lines)
        content = gather(_rows(lines, len(names), source), names, choice)
    for j, attribute in enumerate(attributes):
        if attribute.numeric:
            if content.kinds[j] not in (Kind.NUMBER, Kind.MISSING):
                stray = content.strays[j]
                raise ValueError(
                    f"Attribute {shown(attribute.name)} of {source.name} is declared as numeric, "
                    f"but its value in row {stray.row + 1} is {shown(stray.cell)}."
                )
        elif content.kinds[j] == Kind.NUMBER and choice.features is None:
            # Values that are declared as names stay names even if they are digits.
            content.kinds[j] = attribute.kind
    return content


def arff_names(source: Source, request: Request) -> list[str]:
    """Read the names of the attributes only."""
    with open_lines(source) as lines:
        return [attribute.name for attribute in _read_header(lines, source)]


def write_arff(file: IO[bytes], arrays: dict[str, NDArray[Any]]) -> None:
    """Write a dense ARFF file."""
    with text_file(file) as text:
        text.write("@relation table\n\n")
        columns = []
        for name, array in arrays.items():
            kind = array.dtype.kind
            declared = {"b": "{False,True}", "U": "string"}.get(kind, "numeric")
            text.write(f"@attribute {_written_name(name)} {declared}\n")
            if kind == "U":
                columns.append([_quoted(cell) for cell in array.tolist()])
            elif kind == "f":
                columns.append(["?" if cell != cell else repr(cell) for cell in array.tolist()])
            else:
                columns.append([str(cell) for cell in array.tolist()])
        text.write("\n@data\n")
        text.writelines(",".join(row) + "\n" for row in zip(*columns, strict=True))


def _written_name(name: str) -> str:
    return name if _PLAIN_NAME.fullmatch(name) else _quoted(name)


def _quoted(text: str) -> str:
    for plain, escaped in (("\\", r"\\"), ("'", r"\'"), ("\n", r"\n"), ("\r", r"\r")):
        text = text.replace(plain, escaped)
    return f"'{text}'"


def _read_header(lines: Lines, source: Source) -> list[Attribute]:
    """The attributes; the lines up to @data are taken."""
    attributes: list[Attribute] = []
    for line in lines:
        refuse_wide(line, ",", source)
        line = line.strip()
        word = line.split(None, 1)[0].lower() if line else ""
        if not word or word.startswith("%") or word == "@relation":
            continue
        if word == "@data":
            break
        found = _ATTRIBUTE.fullmatch(line)
        if found is None:
            raise ValueError(
                f"Line {lines.number} of {source.name} is no ARFF: expected @attribute with a name "
                f"and a type, or @data, got {shown(line, 60)}."
            )
        attributes.append(_attribute(found, lines.number, source))
    else:
        raise ValueError(
            f"{source.name} is {'no ARFF: it has no line @data' if lines.number else 'empty'}."
        )
    if not attributes:
        raise ValueError(f"{source.name} has no attributes before @data.")
    return attributes


def _attribute(found: re.Match[str], number: int, source: Source) -> Attribute:
    name, declared = _unquoted(found[1]).strip(), found[2].strip()
    if declared.startswith("{"):
        values = {_unquoted(value).strip().lower() for value in declared.strip("{} \t").split(",")}
        kind = Kind.BOOLEAN if values <= set(BOOLEAN) else Kind.TEXT
        return Attribute(name, kind, False)
    word = declared.split(None, 1)[0].lower() if declared else ""
    if word in NUMERIC:
        return Attribute(name, Kind.NUMBER, True)
    if word in ("string", "date"):
        return Attribute(name, Kind.DATE if word == "date" else Kind.TEXT, False)
    raise ValueError(
        f"Line {number} of {source.name}: attribute {shown(name)} has the type {shown(declared)}. "
        "Known: numeric, real, integer, string, date and {names of values}."
    )


def _unquoted(text: str) -> str:
    text = text.strip()
    if len(text) >= 2 and text[0] in "'\"" and text[-1] == text[0]:
        return _ESCAPE.sub(_unescaped, text[1:-1])
    return text


def _unescaped(found: re.Match[str]) -> str:
    code = found[1]
    return chr(int(code[1:], 16)) if len(code) == 5 else _ESCAPED.get(code, code)


def _rows(lines: Lines, width: int, source: Source) -> Iterator[list[str]]:
    for line in lines:
        refuse_wide(line, ",", source)
        line = line.strip()
        if not line or line.startswith("%"):
            continue
        if line.startswith("{"):
            raise ValueError(
                f"Line {lines.number} of {source.name} is sparse ARFF ({{position value, …}}), "
                "which is not read. Save the data as dense ARFF or CSV."
            )
        row = _cells(line)
        if row is None:
            raise ValueError(
                f"Line {lines.number} of {source.name} cannot be split into values. Are its "
                "quotes closed?"
            )
        if len(row) != width:
            raise ValueError(
                f"Line {lines.number} of {source.name} has {counted(len(row), 'value')}, but there "
                f"are {counted(width, 'attribute')}."
            )
        yield row


def _cells(line: str) -> list[str] | None:
    if "'" not in line and '"' not in line:
        return [cell.strip() for cell in line.split(",")]
    cells, at = [], 0
    while True:
        found = _CELL.match(line, at)
        if found is None:
            return None
        cells.append(_unquoted(found[1]))
        at = found.end()
        if not found[2]:
            return cells


def _numbers_only(lines: Lines) -> NDArray[np.float64] | None:
    rows = (line for line in lines if line.strip() and not line.startswith("%"))
    return numbers_of(rows, ",", "%")
