"""``icvi-artmap generate``: data with known clusters."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from icvi_artmap._support.wording import counted
from icvi_artmap.cli.common import (
    STANDARD_STREAM,
    JsonOption,
    QuietOption,
    SeedOption,
    Target,
    check_targets,
)
from icvi_artmap.tables.formats import STREAM, suffixes_of, written_formats

if TYPE_CHECKING:
    from rich.console import Console

#: Formats to write to that keep the names of the columns, and so tell which one is the label.
TARGETS = [format for format in written_formats() if format.named]


class Family(StrEnum):
    gaussian = "gaussian"
    ellipsoid = "ellipsoid"


FamilyArgument = Annotated[
    Family,
    typer.Argument(
        help="Gaussian clusters that keep apart, or long ellipsoids that meet near a centre.",
        show_default=False,
    ),
]
ClustersOption = Annotated[
    int, typer.Option("-k", "--clusters", min=1, metavar="N", help="Clusters.")
]
FeaturesOption = Annotated[
    int, typer.Option("-d", "--features", min=1, metavar="N", help="Columns.")
]
RowsOption = Annotated[
    int | None,
    typer.Option(
        "-n",
        "--rows",
        min=1,
        metavar="N",
        help="Rows; by default drawn at random.",
        show_default=False,
    ),
]
OutputOption = Annotated[
    str,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help=f"A table: {suffixes_of(TARGETS)}; - is {STREAM.name} on standard output.",
    ),
]


def generate(
    family: FamilyArgument,
    clusters: ClustersOption = 10,
    features: FeaturesOption = 2,
    rows: RowsOption = None,
    seed: SeedOption = 0,
    output: OutputOption = STANDARD_STREAM,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Make data with known clusters.

    The columns are x1, x2 and so on, and label.
    """
    from icvi_artmap.cli.output import Output

    out = Output(quiet, as_json, output)
    check_targets([Target("-o", output, None)], [], {"x1": [0.0], "label": [0]})
    with out.progress("generating"):
        from icvi_artmap.datasets import make_ellipsoid_clusters, make_gaussian_clusters
        from icvi_artmap.tables import write_table

        make = make_gaussian_clusters if family is Family.gaussian else make_ellipsoid_clusters
        X, labels = make(clusters, features, n_samples=rows, random_state=seed)
        columns = {f"x{j + 1}": column for j, column in enumerate(X.T)}
    write_table(output, {**columns, "label": labels})
    facts = {
        "family": family.value,
        "rows": len(X),
        "features": features,
        "clusters": clusters,
        "seed": seed,
        "written": output,
    }

    def show(console: Console) -> None:
        size = ", ".join(
            counted(n, noun)
            for n, noun in ((len(X), "row"), (features, "feature"), (clusters, "cluster"))
        )
        console.print(f"{output}: {size}.")
        console.print(
            f"Next: icvi-artmap fit {output} --label-column label", style="dim", soft_wrap=True
        )

    if output != STANDARD_STREAM:
        out.result(facts, show)
