"""A table in several files of one format: a folder of them, or a pattern of names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from icvi_artmap._support.wording import shown
from icvi_artmap.tables.content import Content, Kind, Request
from icvi_artmap.tables.source import Source


def read_parts(source: Source, request: Request) -> Content:
    """Read all files, one below the other; they must have the same columns."""
    request = replace(request, sample=None)  # of all rows together
    parts = [source.format.read(part, request) for part in source.parts]
    first = parts[0]
    for part, where in zip(parts, source.parts, strict=True):
        if part.names != first.names:
            raise ValueError(_difference(part.names, where, first.names, source.parts[0]))
    return Content(
        names=first.names,
        choice=first.choice,
        values=np.concatenate([part.values for part in parts]),
        kinds=[_common([part.kinds[j] for part in parts]) for j in range(len(first.names))],
        as_given={j: [cell for part in parts for cell in part.as_given[j]] for j in first.as_given},
        notes=list(dict.fromkeys(note for part in parts for note in part.notes)),
    )


def _difference(names: list[str], where: Source, others: list[str], first: Source) -> str:
    odd = [name for name in names if name not in others]
    lacking = [name for name in others if name not in names]
    if odd or lacking:
        what = f"has the column {shown(odd[0])}" if odd else f"lacks the column {shown(lacking[0])}"
    else:
        what = "has the same columns in another order"
    return f"{where.name} {what}, unlike {first.name}: the files must have the same columns."


def _common(kinds: Sequence[Kind]) -> Kind:
    """The kind of a column by its kinds in the files."""
    present = set(kinds) - {Kind.MISSING}
    if not present:
        return Kind.MISSING
    return present.pop() if len(present) == 1 else Kind.TEXT
