"""The page of a reproduction, as Markdown and as HTML."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import NamedTuple

from icvi_artmap._support.wording import fixed
from icvi_artmap.deep.training import PRETRAINING
from icvi_artmap.reproduction import latents, paper, protocol
from icvi_artmap.reproduction.latents import Point
from icvi_artmap.reproduction.ranks import DECIMALS
from icvi_artmap.reproduction.tables import ANY_SHAPE, MARKS, OWN, REFINED, Cell, ResultTable

TITLES = {
    "datasets": "The data sets",
    "synthetic": "Synthetic data: the best of each method",
    "tuned-synthetic": "Synthetic data: vigilances chosen by the index",
    "real": "Real data: the best of each method",
    "tuned-real": "Real data: vigilances chosen by the index",
    "speed": "Incremental against batch",
    "partition": "Partitions",
    "trace": "The index during training",
    "elapsed": "Seconds an epoch",
    "latents": "The latents",
    "curves": "While the latents were trained",
}


class Grid(NamedTuple):
    """A table as text."""

    header: list[str]
    rows: list[list[str]]


class Section(NamedTuple):
    """A part of the page."""

    name: str
    paragraphs: list[str]
    grid: Grid | None = None
    picture: str | None = None  #: file name


def _text(cell: Cell) -> str:
    """Ours, a mark, the printed value; ours alone if there is none."""
    ours, printed = fixed(cell.ours, DECIMALS), fixed(cell.printed, DECIMALS)
    if cell.printed is None or cell.mark == "=":
        return f"{ours} {cell.mark}".strip()
    return f"{ours} ({printed})" if cell.ours is None else f"{ours} {cell.mark} {printed}"


def _rank(cell: Cell | None) -> str:
    if cell is None or cell.ours is None:
        return ""
    return fixed(cell.ours, 2) + ("" if cell.printed is None else f" ({fixed(cell.printed, 2)})")


def result_section(table: ResultTable) -> Section:
    """A table of ARI values with its ranks, means and seconds, and what can be read from it."""
    rows = [
        [_row_name(table, name), *(_text(row[column]) for column in table.columns)]
        for name, row in table.cells.items()
    ]
    rows.append(["average", *(_text(table.mean(column)) for column in table.columns)])
    rows.append(["average rank", *(_rank(table.ranks.get(column)) for column in table.columns)])
    rows.append(
        ["seconds", *(fixed(table.seconds.get(column, 0.0), 0) for column in table.columns)]
    )
    marks = "; ".join(f"`{mark}` {meaning}" for mark, meaning in MARKS.items())
    legend = f"Ours, a mark, the printed value where it is another one. {marks}."
    grid = Grid(["data set", *table.columns], rows)
    return Section(table.name, [legend, *_reading(table)], grid)


def _row_name(table: ResultTable, name: str) -> str:
    reduced = protocol.projection(name, table.kind)
    if not reduced:
        return name
    alike = name == "olivetti" or table.kind == latents.DYNAE
    own = "" if alike else ", not the paper's latent space"
    return f"{name}, {reduced}{own}"


def _reading(table: ResultTable) -> list[str]:
    """Sentences about the numbers of the table."""
    if not table.cells:
        return ["Nothing has been run yet."]
    lines = []
    compared = {
        column: [cell for cell in table.values(column) if cell.printed is not None]
        for column in table.columns
    }
    counts = []
    for column, cells in compared.items():
        if cells:
            equal = sum(cell.mark == "=" for cell in cells)
            least = sum(_difference(cell) >= -0.01 for cell in cells)
            near = sum(abs(_difference(cell)) <= 0.02 for cell in cells)
            counts.append(
                f"{column}: {equal} of {len(cells)} equal, {near} within 0.02, "
                f"{least} at least the printed value less 0.01"
            )
    if counts:
        lines.append("Agreement. " + "; ".join(counts) + ".")
    ends = [
        abs(cell.ours - cell.other_end)
        for column in ("VAT+FA", "VAT+DVFA")
        for cell in table.values(column)
        if cell.ours is not None and cell.other_end is not None
    ]
    if ends:
        lines.append(
            "VAT begins at one of the two samples that are farthest apart, here at the one that "
            f"comes later in the shuffled order. The other one changes the ARI by up to "
            f"{fixed(max(ends), DECIMALS)}: the printed values of VAT+FA and VAT+DVFA belong to "
            "one order of the samples."
        )
    if table.ranks:
        best = min(table.ranks, key=lambda column: table.ranks[column].ours or 0.0)
        lines.append(
            f"The best average rank has {best}."
            + (
                " Ranks are among all methods, the baselines with their values of the other table."
                if table.name.startswith("tuned")
                else ""
            )
        )
    means = [
        f"{column} {fixed(table.mean(column).ours, DECIMALS)} "
        f"(least {fixed(min(c.ours or 0.0 for c in cells), DECIMALS)})"
        for column in OWN
        if (cells := table.values(column))
    ]
    if means:
        lines.append(
            f"Columns of our own, which take no part in the ranks. {REFINED}: the defaults of this "
            "library without a grid, the best of several starts by the index alone. "
            + (f'{ANY_SHAPE}: the same with `shape="any"`. ' if ANY_SHAPE in table.columns else "")
            + "The others: "
            "the same grid from several k-means starts in place of one. Means: "
            + "; ".join(means)
            + "."
        )
    return lines


def _difference(cell: Cell) -> float:
    assert cell.ours is not None
    assert cell.printed is not None
    return round(cell.ours, 4) - cell.printed


def latents_section(made: dict[str, list[latents.Latents]], kind: str) -> Section:
    """All seeds of all sets, and which of them the tables have."""
    rows = []
    for name, found in made.items():
        best = max(found, key=lambda one: one.ch)
        for one in found:
            before = [point for point in one.curve if point.stage == PRETRAINING][-1:]
            after = [point for point in one.curve if point.stage != PRETRAINING][-1:]
            rows.append(
                [
                    name,
                    str(one.seed),
                    *(f"{point.iteration:,}" for point in before or [Point("", 0, 0.0)]),
                    fixed(before[0].ari if before else None, DECIMALS),
                    f"{after[0].iteration if after else 0:,}",
                    fixed(one.ari, DECIMALS),
                    fixed(one.ch, 0),
                    "chosen" if one is best else "",
                ]
            )
    text = (
        f"{latents.NAMES[kind]}: every seed that was tried. ARI is that of k-means (10 starts) on "
        "the latents as they are. The tables have the seed whose k-means partition has the largest "
        "CH index, which knows no labels."
    )
    header = ["data set", "seed", "pretraining", "ARI", "clustering", "ARI", "CH", ""]
    return Section("latents", [text], Grid(header, rows))


def data_section(
    rows: Sequence[tuple[str, tuple[int, int, int], tuple[int, int, int] | None]],
) -> Section:
    """The sets as the paper describes them, and as they were found."""
    grid = Grid(
        ["data set", "kind", "samples", "features", "clusters", "found"],
        [
            [
                name,
                "synthetic" if name in paper.SYNTHETIC.values else "real world",
                *map(str, printed),
                "not found" if found is None else "the same" if found == printed else str(found),
            ]
            for name, printed, found in rows
        ],
    )
    return Section("datasets", [], grid)


def markdown(title: str, introduction: list[str], sections: Sequence[Section]) -> str:
    """The page as Markdown."""
    parts = [f"# {title}", *introduction]
    for section in sections:
        parts.append(f"## {TITLES[section.name]}")
        if section.grid is not None:
            header, rows = section.grid
            lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
            lines += ["| " + " | ".join(row) + " |" for row in rows]
            parts.append("\n".join(lines))
        if section.picture is not None:
            parts.append(f"![{TITLES[section.name]}]({section.picture})")
        parts += section.paragraphs
    return "\n\n".join(parts) + "\n"


STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 110rem; padding: 0 1rem;
  color: #1c1c1c; background: #fff }
div.wide { overflow-x: auto }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 13px }
th, td { padding: .25rem .6rem; text-align: right; white-space: nowrap;
  border-bottom: 1px solid #ccc }
th:first-child, td:first-child { text-align: left; position: sticky; left: 0; background: #fff }
.above { background: #d7ecff } .below { background: #ffe3c2 } .same { color: #1b6e3c }
img { max-width: 100% }
@media (prefers-color-scheme: dark) {
  body, th:first-child, td:first-child { color: #e6e6e6; background: #161616 }
  .above { background: #0d3a5c } .below { background: #5a3a0c } .same { color: #7ed6a0 }
}
"""
_CLASSES = {"▲": "above", "▼": "below", "=": "same"}


def web(title: str, introduction: list[str], sections: Sequence[Section]) -> str:
    """The page as HTML, which loads nothing but the pictures beside it."""
    parts = [f"<h1>{html.escape(title)}</h1>", *map(_paragraph, introduction)]
    for section in sections:
        parts.append(f"<h2>{html.escape(TITLES[section.name])}</h2>")
        if section.grid is not None:
            header = "".join(f"<th>{html.escape(name)}</th>" for name in section.grid.header)
            body = "".join(f"<tr>{''.join(map(_data, row))}</tr>\n" for row in section.grid.rows)
            parts.append(
                f'<div class="wide"><table><thead><tr>{header}</tr></thead>'
                f"<tbody>\n{body}</tbody></table></div>"
            )
        if section.picture is not None:
            name = html.escape(section.picture, quote=True)
            parts.append(f'<img src="{name}" alt="{html.escape(TITLES[section.name])}">')
        parts += map(_paragraph, section.paragraphs)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(title)}</title><style>{STYLE}</style></head>\n<body>\n"
        + "\n".join(parts)
        + "\n</body></html>\n"
    )


def _paragraph(text: str) -> str:
    # Backquotes are the only mark-up of the paragraphs.
    pieces = html.escape(text).split("`")
    return (
        "<p>"
        + "".join(f"<code>{piece}</code>" if i % 2 else piece for i, piece in enumerate(pieces))
        + "</p>"
    )


def _data(text: str) -> str:
    kind = next((name for mark, name in _CLASSES.items() if mark in text), "")
    return (
        f'<td class="{kind}">{html.escape(text)}</td>' if kind else f"<td>{html.escape(text)}</td>"
    )
