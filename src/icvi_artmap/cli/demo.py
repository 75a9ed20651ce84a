"""``icvi-artmap demo``: a hard data set, clustered in three ways."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from icvi_artmap._support.wording import counted, fixed, number
from icvi_artmap.cli.common import (
    PICTURE_SUFFIXES,
    JsonOption,
    QuietOption,
    SeedOption,
    Target,
    check_targets,
)
from icvi_artmap.indices.shared.ridge import ridge

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from rich.console import Console

    from icvi_artmap.cli.output import Bar
    from icvi_artmap.estimators.icvi_artmap import ICVIARTMAP

N_CLUSTERS = 10
N_FEATURES = 50
#: The other methods keep the best of this many starts, by their own objective.
N_STARTS = 10
PICTURE = "icvi-artmap-demo.png"


class Clustered(NamedTuple):
    """The standardised data, our model of them, and a row of results for every method."""

    Z: NDArray[np.float64]
    model: ICVIARTMAP
    rows: list[dict[str, Any]]


def demo(
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Where the picture goes.")
    ] = PICTURE,
    seed: SeedOption = 0,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Cluster a built-in data set: a table and a picture.

    Ten long clusters in 50 dimensions meet near one centre. Distances to centres say little about
    them; an index that looks at covariances tells them apart.
    """
    from icvi_artmap.cli.output import Output

    out = Output(quiet, as_json)
    check_targets([Target("-o", output, PICTURE_SUFFIXES)], [])
    picture = output if _matplotlib() else None
    with out.progress("loading", 4) as bar:
        found = _cluster(seed, bar)
        if picture is not None:
            bar.say("drawing")
            draw(found.Z, found.model, picture)
    notes = [] if picture is not None else ["No picture: matplotlib is not installed."]
    out.notes(notes)
    facts = {
        "rows": len(found.Z),
        "features": N_FEATURES,
        "clusters": N_CLUSTERS,
        "methods": found.rows,
        "written": [] if picture is None else [picture],
        "notes": notes,
    }
    out.result(facts, lambda console: _show(console, found, picture))


def _cluster(seed: int, bar: Bar) -> Clustered:
    """Generate the data and cluster them by all methods."""
    from sklearn.metrics import adjusted_rand_score
    from sklearn.preprocessing import StandardScaler

    from icvi_artmap.datasets import make_ellipsoid_clusters
    from icvi_artmap.estimators.icvi_artmap import ICVIARTMAP
    from icvi_artmap.prediction.index_value import index_value

    X, y = make_ellipsoid_clusters(N_CLUSTERS, N_FEATURES, random_state=seed)
    Z = StandardScaler().fit_transform(X)
    bar.say("compiling, the first time")
    ours = ICVIARTMAP(N_CLUSTERS, random_state=seed)
    ours.fit(Z[::10], trace=True)  # so that the table does not count compiling
    bar.step()
    rows: list[dict[str, Any]] = []
    for name, model in {"iNI-ARTMAP": ours, **_peers(seed)}.items():
        bar.say(name)
        labels, took = _timed(model, Z, trace=model is ours)
        rows.append(
            {
                "method": name,
                "ari": float(adjusted_rand_score(y, labels)),
                "NI": index_value(Z, labels, "NI"),
                "seconds": took,
            }
        )
        bar.step()
    return Clustered(Z, ours, rows)


def _peers(seed: int) -> dict[str, Any]:
    """The other methods, not yet fitted."""
    from sklearn.cluster import KMeans
    from sklearn.mixture import GaussianMixture

    return {
        "k-means": KMeans(N_CLUSTERS, n_init=N_STARTS, random_state=seed),
        "Gaussian mixture": GaussianMixture(
            N_CLUSTERS, reg_covar=ridge(N_FEATURES), n_init=N_STARTS, random_state=seed
        ),
    }


def _timed(model: Any, Z: NDArray[np.float64], trace: bool) -> tuple[NDArray[np.int64], float]:
    """Fit a model; its labels, and the seconds that fitting took."""
    import time

    from threadpoolctl import threadpool_limits

    from icvi_artmap.cli.output import seconds

    began = time.perf_counter()
    # Small matrix products on many threads can take far longer than on one.
    with threadpool_limits(1):
        model.fit(Z, **({"trace": True} if trace else {}))
    took = seconds(began)
    return model.labels_ if hasattr(model, "labels_") else model.predict(Z), took


def _show(console: Console, found: Clustered, picture: str | None) -> None:
    """Print the table, and where the picture is."""
    from icvi_artmap.cli.output import columns

    rows, features = counted(len(found.Z), "row"), counted(N_FEATURES, "column")
    console.print(f"{rows}, {features}, {N_CLUSTERS} ellipsoidal clusters\n", style="bold")
    shown = columns(("left", "method"), "ARI ↑", "NI ↓", "seconds")
    for row in found.rows:
        shown.add_row(
            row["method"], fixed(row["ari"], 3), number(row["NI"]), fixed(row["seconds"], 2)
        )
    console.print(shown)
    console.print(
        f"\nARI: agreement with the true clusters (1: the same, 0: chance). One start for "
        f"iNI-ARTMAP, the best of {N_STARTS} for the others; one thread for each."
    )
    if picture is not None:
        console.print(f"\nPicture: {picture}")
    console.print("Your own data: icvi-artmap fit DATA.csv --report report.html", style="dim")


def _matplotlib() -> bool:
    from importlib.util import find_spec

    return find_spec("matplotlib") is not None


def draw(X: NDArray[np.float64], model: ICVIARTMAP, path: str) -> None:
    """Draw the partition that was found, and the index on the way to it."""
    from pathlib import Path

    from matplotlib.figure import Figure

    from icvi_artmap._support.files import replaced
    from icvi_artmap.plotting.index_trace import IndexTraceDisplay
    from icvi_artmap.plotting.partition import PartitionDisplay

    figure = Figure(figsize=(13, 5), layout="constrained")
    left, right = figure.subplots(1, 2)
    PartitionDisplay.from_estimator(model, X).plot(left)
    IndexTraceDisplay.from_estimator(model).plot(right)
    with replaced(path) as temporary:
        figure.savefig(temporary, format=Path(path).suffix.lower().lstrip("."), dpi=120)
