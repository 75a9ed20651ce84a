"""``icvi-artmap reproduce``: the paper's tables and figures."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer


class Latent(StrEnum):
    dynae = "dynae"
    umap = "umap"


def reproduce(
    table: Annotated[
        list[str] | None,
        typer.Option(
            help="datasets, synthetic, tuned-synthetic, real, tuned-real or speed; may be repeated."
        ),
    ] = None,
    figure: Annotated[
        list[str] | None, typer.Option(help="partition, trace or elapsed; may be repeated.")
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(help="Folder with the paper's data sets. [default: $ICVI_ARTMAP_DATA]"),
    ] = None,
    sets: Annotated[
        list[str] | None, typer.Option(help="Only this data set; may be repeated.")
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for results and pages.")
    ] = Path("reproduction"),
    real: Annotated[
        bool,
        typer.Option(
            "--real", help="The tables of real data only, in latent spaces that are trained first."
        ),
    ] = False,
    latent: Annotated[
        Latent,
        typer.Option(help="With --real: DynAE as in the paper, or UMAP in place of it."),
    ] = Latent.dynae,
    seeds: Annotated[
        int, typer.Option(min=1, help="With --real: trainings, of which CH chooses one.")
    ] = 1,
    quick: Annotated[bool, typer.Option(help="Few sets and thinned grids.")] = False,
    jobs: Annotated[int, typer.Option(help="Processes; -1: as many as there are cores.")] = -1,
    seed: Annotated[int, typer.Option(help="Seed of the shuffle and of all starts.")] = 0,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
) -> None:
    """Make the paper's tables and figures again, ours beside the printed values.

    Everything by default; --table and --figure choose. What is done is kept in the output folder:
    a run that is stopped goes on where it was. Writes reproduction.md and reproduction.html.
    --real trains latents first, for hours, and keeps them in the folder latents there.
    """
    from icvi_artmap.datasets import PAPER_SETS
    from icvi_artmap.reproduction import reproduction

    if jobs == 0 or jobs < -1:
        raise ValueError(f"--jobs {jobs}: give a number of processes, or -1 for all cores.")
    if not 0 <= seed < 2**32:
        raise ValueError(f"--seed {seed}: give a number from 0 to {2**32 - 1}.")
    tables: tuple[str, ...] = reproduction.TABLES
    figures: tuple[str, ...] = reproduction.FIGURES
    if real:
        if table or figure:
            raise ValueError("--real chooses tables and figures; leave out --table and --figure.")
        tables, figures = ("real", "tuned-real"), (reproduction.CURVES,)
        if latent == Latent.umap:
            figures = ()
    elif table or figure:
        tables = _chosen(table, tables, "--table")
        figures = _chosen(figure, figures, "--figure")
    request = reproduction.Request(
        tables=tables,
        figures=figures,
        sets=_chosen(sets, tuple(PAPER_SETS), "--sets"),
        folder=data,
        output=output,
        quick=quick,
        n_jobs=jobs,
        seed=seed,
        kind=latent.value if real else "pca",
        seeds=seeds,
    )
    output.mkdir(parents=True, exist_ok=True)
    console = _console(quiet)
    written = reproduction.reproduce(request, lambda keys: _bar(console, keys), console.print)
    for path in written:
        console.print(f"wrote {path}")


def _chosen(given: list[str] | None, known: tuple[str, ...], option: str) -> tuple[str, ...]:
    """The names that were given, in the order of those that are known."""
    for name in given or ():
        if name not in known:
            raise ValueError(f"{option} {name}: unknown. Known are {', '.join(known)}.")
    return tuple(name for name in known if name in (given or ()))


def _console(quiet: bool) -> Any:
    from rich.console import Console

    return Console(stderr=True, quiet=quiet, highlight=False, markup=False)


@contextmanager
def _bar(console: Any, keys: list[tuple[str, str]]) -> Iterator[Any]:
    """Show a progress bar, if this is a terminal."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.description}"),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        task = progress.add_task("", total=len(keys))

        def done(key: tuple[str, str]) -> None:
            progress.update(task, advance=1, description=" ".join(key))

        yield done
