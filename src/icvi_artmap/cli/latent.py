"""``icvi-artmap latent``: a few features of images or rows, learned by an autoencoder."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from icvi_artmap._support.wording import counted, number
from icvi_artmap.cli.common import (
    MODEL_SUFFIXES,
    ColumnsOption,
    DataArgument,
    ExcludeOption,
    IdColumnOption,
    JsonOption,
    LabelColumnOption,
    QuietOption,
    SeedOption,
    Target,
    check_targets,
    name_of,
    parse_names,
    written_files,
    wrong,
)
from icvi_artmap.tables.formats import STREAM, suffixes_of, written_formats

if TYPE_CHECKING:
    from rich.console import Console

    from icvi_artmap.cli.output import Bar
    from icvi_artmap.tables import Table

CHECKPOINT_SUFFIXES = (".npz",)

ClustersOption = Annotated[
    int,
    typer.Option("-k", "--clusters", min=1, metavar="N", help="Centres that rows are drawn to."),
]
ImageOption = Annotated[
    str | None,
    typer.Option(
        metavar="HxW",
        help="Height and width of the images that the rows are, as 28x28, or 28x28x3 with "
        "channels. They are turned and shifted a little while the network learns.",
        show_default=False,
    ),
]
SizeOption = Annotated[int, typer.Option(min=1, metavar="N", help="The number of latents.")]
LayersOption = Annotated[
    str, typer.Option(metavar="N,N,...", help="Widths of the layers before the latents.")
]
PretrainingOption = Annotated[
    int, typer.Option(min=1, metavar="N", help="Batches that the autoencoder is trained with.")
]
ClusteringOption = Annotated[
    int, typer.Option(min=0, metavar="N", help="Batches at most that draw rows to centres.")
]


class FirstCentres(StrEnum):
    by_index = "index"
    by_kmeans = "kmeans"
    by_neighbours = "neighbours"


FirstCentresOption = Annotated[
    FirstCentres,
    typer.Option(
        "--first",
        help="What finds the centres at first: the index NI, k-means, or a network that gives rows "
        "and their nearest neighbours the same label (slower, for a few thousand images).",
    ),
]
BatchOption = Annotated[int, typer.Option(min=1, metavar="N", help="Rows of a batch.")]
CheckpointOption = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Write the training to this file (.npz) from time to time, and go on with it if it "
        "is there.",
        show_default=False,
    ),
]
ThreadsOption = Annotated[
    int | None,
    typer.Option(
        "--jobs", "-j", min=1, metavar="N", help="Threads of the training.", show_default=False
    ),
]
OutputOption = Annotated[
    str,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help=f"Write the latents of every row: {suffixes_of(written_formats())}; "
        f"- is {STREAM.name} on standard output.",
    ),
]
ModelOption = Annotated[
    str | None,
    typer.Option(
        "--model",
        "-m",
        metavar="FILE",
        help="Keep the network (.icvi). If the file is there, nothing is trained, and the latents "
        "are made by what is in it.",
        show_default=False,
    ),
]


def latent(
    data: DataArgument,
    output: OutputOption,
    clusters: ClustersOption = 10,
    image: ImageOption = None,
    model: ModelOption = None,
    columns: ColumnsOption = None,
    exclude: ExcludeOption = None,
    label_column: LabelColumnOption = None,
    id_column: IdColumnOption = None,
    size: SizeOption = 10,
    layers: LayersOption = "500,500,2000",
    pretraining: PretrainingOption = 10_000,
    clustering: ClusteringOption = 3_500,
    first: FirstCentresOption = FirstCentres.by_index,
    batch: BatchOption = 64,
    checkpoint: CheckpointOption = None,
    jobs: ThreadsOption = None,
    seed: SeedOption = 0,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Turn images, or rows of many columns, into a few features in which clusters show.

    An autoencoder is trained (needs PyTorch: the extra "deep"). What is written can be clustered
    with fit.
    """
    from icvi_artmap.cli.output import Output

    out = Output(quiet, as_json, output)
    settings = {
        "n_clusters": clusters,
        "image_shape": None if image is None else _numbers("--image", image.lower(), "x"),
        "n_components": size,
        "hidden": _numbers("--layers", layers, ","),
        "pretraining_iterations": pretraining,
        "clustering_iterations": clustering,
        "first_centres": first.value,
        "batch_size": batch,
        "checkpoint": checkpoint,
        "n_jobs": jobs,
        "random_state": seed,
    }
    targets = [
        Target("-o", output, None),
        Target("--model", model, MODEL_SUFFIXES),
        Target("--checkpoint", checkpoint, CHECKPOINT_SUFFIXES),
    ]
    check_targets(targets, [data], {"row": [1], "latent1": [0.5]})
    with out.progress("reading") as bar:
        from icvi_artmap.tables import read_table, write_table

        table = read_table(
            data,
            columns=parse_names(columns),
            label_column=label_column,
            id_column=id_column,
            exclude=parse_names(exclude, "--exclude") or (),
        )
        made_before = model is not None and Path(model).exists()
        network = _loaded(str(model)) if made_before else _trained(table, settings, bar)
        bar.say("writing")
        latents = network.transform(table.X)
        write_table(output, _columns(table, id_column, latents))
        if model is not None and not made_before:
            from icvi_artmap.persistence.save_load import save

            save(network, model)
    notes = list(table.notes)
    if made_before:
        notes.append(f"The latents were made by {model}; nothing was trained.")
    out.notes(notes)
    written = written_files(output, None if made_before else model)
    facts = {
        "data": data,
        "rows": len(table),
        "columns": len(table.columns),
        "latents": latents.shape[1],
        "iterations": network.n_iter_,
        "converged": network.converged_,
        "loss": network.history_["loss"][-1],
        "written": written,
        "notes": notes,
    }
    out.result(facts, lambda console: _show(console, facts))


def _numbers(option: str, text: str, between: str) -> tuple[int, ...]:
    parts = [part.strip() for part in text.split(between)]
    if not all(part.isdecimal() for part in parts):
        raise wrong(option, f"{text!r} is not made of numbers with {between!r} between them.")
    return tuple(int(part) for part in parts)


def _loaded(path: str) -> Any:
    from icvi_artmap.deep import DynamicAutoencoder
    from icvi_artmap.persistence.save_load import load

    model = load(path)
    if not isinstance(model, DynamicAutoencoder):
        raise ValueError(
            f"{name_of(path)!r} holds a {type(model).__name__}. A file of a network is wanted, "
            "which latent --model has written; fit and predict use other models."
        )
    return model


def _trained(table: Table, settings: dict[str, Any], bar: Bar) -> Any:
    from icvi_artmap._support.callbacks import watching
    from icvi_artmap.deep import DynamicAutoencoder

    bar.say("loading")
    model = DynamicAutoencoder(**settings)
    with watching(_shown(bar)):
        return model.fit(table.X)


def _shown(bar: Bar) -> Any:
    """A watch that shows on the bar how far a training is."""
    from icvi_artmap._support.callbacks import Watch

    class Shown(Watch):
        def begin(self, task: str, n_subtasks: int | None = 0) -> None:
            if task in ("grouping", "pretraining", "clustering"):
                bar.say(task)
                bar.reach(0, n_subtasks)

        def end(self, subject: Any = None) -> bool:
            bar.step()
            return False

    return Shown()


def _columns(table: Table, id_column: str | None, latents: Any) -> dict[str, Any]:
    """What is written: what the rows are called, their latents, and their known groups."""
    named = {"row": table.rows + 1} if table.ids is None else {str(id_column): table.ids}
    columns = named | {f"latent{i}": values for i, values in enumerate(latents.T, start=1)}
    if table.labels is not None:
        columns["label"] = table.labels
    return columns


def _show(console: Console, facts: dict[str, Any]) -> None:
    console.print(
        f"{name_of(facts['data'])}: {counted(facts['rows'], 'row')}, "
        f"{counted(facts['columns'], 'column')}\n",
        style="bold",
    )
    ended = "" if facts["converged"] else ", which was the most allowed"
    console.print(
        f"{counted(facts['latents'], 'latent')} after "
        f"{counted(facts['iterations'], 'iteration')}{ended}; loss {number(facts['loss'])}"
    )
    if facts["written"]:
        console.print(f"\nWritten: {', '.join(facts['written'])}")
