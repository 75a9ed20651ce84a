"""Some rows of a table, for a first look: drawn at random, in their order."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._support.wording import counted
from icvi_artmap.tables.content import Content, Sample


def drawn_rows(rows: Iterable[list[str]], sample: Sample) -> tuple[list[list[str]], Drawn]:
    """Rows of a stream whose length is not known; no more than the sample are kept (Vitter, 1985).

    Also returns which rows they are.
    """
    rng, total = random.Random(sample.seed), 0
    kept: list[tuple[int, list[str]]] = []
    for position, row in enumerate(rows):
        total = position + 1
        if position < sample.n:
            kept.append((position, row))
        elif (place := int(rng.random() * total)) < sample.n:
            kept[place] = (position, row)
    kept.sort(key=lambda item: item[0])
    return [row for _, row in kept], (np.array([at for at, _ in kept], np.int64), total)


#: Positions of the rows, and how many there were in all.
Drawn = tuple[NDArray[np.int64], int]


def drawn_content(content: Content, sample: Sample) -> Content:
    """The same for a table that was read whole."""
    total = len(content.values)
    if content.total is not None or total <= sample.n:
        return content
    rows = np.sort(np.random.RandomState(sample.seed).permutation(total)[: sample.n])
    as_given = {
        j: cells[rows] if isinstance(cells, np.ndarray) else [cells[row] for row in rows]
        for j, cells in content.as_given.items()
    }
    labels = None if content.labels is None else content.labels[rows]
    return replace(
        content,
        values=content.values[rows],
        as_given=as_given,
        labels=labels,
        rows=rows,
        total=total,
    )


def note_on_sample(content: Content) -> list[str]:
    """What is told of a sample that leaves out rows."""
    if content.total is None or content.total == len(content.values):
        return []
    drawn = counted(len(content.values), "row")
    return [f"A first look: {drawn} of {content.total:,}, drawn at random, were read."]
