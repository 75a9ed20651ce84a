"""``icvi-artmap demo``: a hard data set, clustered in three ways."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from icvi_artmap.cli.common import (
    PICTURE_SUFFIXES,
    JsonOption,
    QuietOption,
    SeedOption,
    Target,
    check_targets,
)

if TYPE_CHECKING:
    from rich.console import Console

N_CLUSTERS = 10
N_FEATURES = 50
#: For the peers: the best of ten starts, by the method's own objective.
N_STARTS = 10
PICTURE = "icvi-artmap-demo.png"


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
    import time

    from icvi_artmap.cli.output import Output, columns, seconds

    out = Output(quiet, as_json)
    check_targets([Target("-o", output, PICTURE_SUFFIXES)], [])
    plotting = _matplotlib()
    with out.progress("loading", 4) as bar:
        from sklearn.cluster import KMeans
        from sklearn.metrics import adjusted_rand_score
        from sklearn.mixture import GaussianMixture
        from sklearn.preprocessing import StandardScaler
        from threadpoolctl import threadpool_limits

        from icvi_artmap._support.wording import number
        from icvi_artmap.datasets import make_ellipsoid_clusters
        from icvi_artmap.estimators.icvi_artmap import ICVIARTMAP
        from icvi_artmap.prediction.index_value import index_value

        X, y = make_ellipsoid_clusters(N_CLUSTERS, N_FEATURES, random_state=seed)
        Z = StandardScaler().fit_transform(X)
        bar.say("compiling, the first time")
        ours = ICVIARTMAP(N_CLUSTERS, random_state=seed)
        ours.fit(Z[::10], trace=True)  # so that the table does not count compiling
        bar.step()
        # The ridge that the index NI has, too.
        ridge = 10 ** (-12 / N_FEATURES)
        models: dict[str, Any] = {
            "iNI-ARTMAP": ours,
            "k-means": KMeans(N_CLUSTERS, n_init=N_STARTS, random_state=seed),
            "Gaussian mixture": GaussianMixture(
                N_CLUSTERS, reg_covar=ridge, n_init=N_STARTS, random_state=seed
            ),
        }
        rows: list[dict[str, Any]] = []
        for name, model in models.items():
            bar.say(name)
            began = time.perf_counter()
            # Small matrix products on many threads can take far longer than on one.
            with threadpool_limits(1):
                model.fit(Z, **({"trace": True} if model is ours else {}))
            took = seconds(began)
            labels = model.predict(Z) if isinstance(model, GaussianMixture) else model.labels_
            rows.append(
                {
                    "method": name,
                    "ari": float(adjusted_rand_score(y, labels)),
                    "NI": index_value(Z, labels, "NI"),
                    "seconds": took,
                }
            )
            bar.step()
        if plotting:
            bar.say("drawing")
            draw(Z, ours, output)
    notes = [] if plotting else ["No picture: matplotlib is not installed."]
    out.notes(notes)
    facts = {
        "rows": len(X),
        "features": N_FEATURES,
        "clusters": N_CLUSTERS,
        "methods": rows,
        "written": [output] if plotting else [],
        "notes": notes,
    }

    def show(console: Console) -> None:
        console.print(
            f"{len(X):,} rows, {N_FEATURES} columns, {N_CLUSTERS} ellipsoidal clusters\n",
            style="bold",
        )
        shown = columns(("left", "method"), "ARI ↑", "NI ↓", "seconds")
        for row in rows:
            cells = (f"{row['ari']:.3f}", number(row["NI"]), f"{row['seconds']:.2f}")
            shown.add_row(row["method"], *cells)
        console.print(shown)
        console.print(
            f"\nARI: agreement with the true clusters (1: the same, 0: chance). One start for "
            f"iNI-ARTMAP, the best of {N_STARTS} for the others; one thread for each."
        )
        if plotting:
            console.print(f"\nPicture: {output}")
        console.print("Your own data: icvi-artmap fit DATA.csv --report report.html", style="dim")

    out.result(facts, show)


def _matplotlib() -> bool:
    from importlib.util import find_spec

    return find_spec("matplotlib") is not None


def draw(X: Any, model: Any, path: str) -> None:
    """The partition that was found, and the index on the way to it."""
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
