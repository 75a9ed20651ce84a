"""What ``icvi-artmap fit`` keeps in files: the table with its clusters, a summary, pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from icvi_artmap.cli.common import (
    MODEL_SUFFIXES,
    PICTURE_SUFFIXES,
    REPORT_SUFFIXES,
    Input,
    Target,
    check_targets,
    expected_columns,
    label_columns,
    sample_names,
    wrong,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from icvi_artmap.cli.fit import Fitted
    from icvi_artmap.cli.output import Bar
    from icvi_artmap.tables import Table

#: Digits of memberships in a file, and of means and spreads in a summary.
PLACES, DIGITS = 6, 6


class Kept(NamedTuple):
    """The files that the result goes to."""

    labels: str | None
    model: str | None
    report: str | None
    summary: str | None
    picture: str | None
    labels_only: bool

    @property
    def paths(self) -> tuple[str | None, ...]:
        """All of them."""
        return self.labels, self.model, self.report, self.summary, self.picture


def check_kept(kept: Kept, data: str, id_column: str | None) -> None:
    """Refuse files that could not be written."""
    if kept.labels_only and kept.labels is None:
        raise wrong("--labels-only", "it is about the file of -o, which is not given.")
    targets = [
        Target("-o", kept.labels, None),
        Target("--model", kept.model, MODEL_SUFFIXES),
        Target("--report", kept.report, REPORT_SUFFIXES),
        Target("--summary", kept.summary, None, {"what sets it apart": ["a"]}),
        Target("--plot", kept.picture, PICTURE_SUFFIXES),
    ]
    if kept.summary == "-":
        raise wrong("--summary", "the name of a file is wanted.")
    check_targets(targets, [data], expected_columns(id_column))
    if kept.report is not None:
        from icvi_artmap.report.page import environment

        environment()  # says so if jinja2 is not installed
    if kept.picture is not None:
        require_matplotlib()


def require_matplotlib() -> None:
    """Say how to install it, if it is not there."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ImportError("--plot needs matplotlib: pip install 'icvi-artmap[plot]'.") from error


def check_table(kept: Kept, given: Input) -> None:
    """Refuse a format that cannot hold the table, when it is known and before the fit."""
    if kept.labels is not None and not kept.labels_only:
        from icvi_artmap.tables.extending import check_extended

        check_extended(kept.labels, given.source or given.data, delimiter=given.delimiter)


def keep(found: Fitted, kept: Kept, given: Input, arguments: tuple[str, ...], bar: Bar) -> None:
    """Write all files that are asked for but the table, which may go to standard output."""
    from icvi_artmap.persistence.save_load import save

    if kept.model is not None:
        save(found.model, kept.model)
    if kept.summary is not None:
        from icvi_artmap.tables import write_table

        write_table(kept.summary, summary(found))
    if kept.picture is not None:
        bar.say("drawing")
        draw(found, kept.picture)
    if kept.report is not None:
        bar.say("writing the report")
        write_the_report(found, kept.report, given, arguments)


def keep_table(found: Fitted, kept: Kept, given: Input) -> list[str]:
    """Write the table with its clusters; returns what there is to say about it."""
    table, model = found.table, found.model
    assert kept.labels is not None
    if kept.labels_only:
        from icvi_artmap.tables import write_table

        write_table(kept.labels, label_columns(table, given.id_column, model.labels_))
        return []
    from icvi_artmap.tables.extending import ADDED, write_extended

    names = write_extended(
        kept.labels,
        given.source or given.data,
        added_columns(found, given),
        rows=None if given.sample is None else table.rows,
        delimiter=given.delimiter,
    )
    if names == list(ADDED):
        return []
    return [f"The table has columns of these names; the new ones are called {', '.join(names)}."]


def added_columns(found: Fitted, given: Input) -> dict[str, NDArray[Any]]:
    """Cluster, membership and runner-up of every row that is written."""
    import numpy as np

    from icvi_artmap.estimators.preparing import DROPPED
    from icvi_artmap.inspection.certainty import certainty
    from icvi_artmap.tables.extending import ADDED

    table, labels = found.table, found.model.labels_
    sure = certainty(found.model, found.rows, labels)
    columns = (labels, sure.membership.round(PLACES), sure.runner_up)
    if given.sample is not None or len(table) == table.n_input:
        return dict(zip(ADDED, columns, strict=True))
    added = {}
    for name, column in zip(ADDED, columns, strict=True):
        empty = DROPPED if column.dtype.kind == "i" else np.nan
        whole = np.full(table.n_input, empty, column.dtype)
        whole[table.rows] = column
        added[name] = whole
    return added


def summary(found: Fitted) -> dict[str, Any]:
    """A row for every cluster: rows, share, mean and spread of every column, what is special."""
    import numpy as np

    from icvi_artmap.inspection.profiles import profiles as profiles_of
    from icvi_artmap.report.reading import telling

    table, model = found.table, found.model
    names = model.fitted_.profiled_names(list(table.columns))
    noise = [-1] if (model.labels_ == -1).any() else []
    clusters = [*range(model.n_clusters_), *noise]
    members = [model.labels_ == i for i in clusters]
    n = np.array([np.count_nonzero(mine) for mine in members])
    columns: dict[str, Any] = {"cluster": clusters, "rows": n, "share": (n / n.sum()).round(4)}
    for name, column in zip(table.columns, table.X.T, strict=True):
        if name in table.words:
            columns[f"{name}: most"] = [_commonest(column[mine], table, name) for mine in members]
            continue
        columns[f"{name}: mean"] = [_rounded(np.mean, column[mine]) for mine in members]
        columns[f"{name}: spread"] = [_rounded(np.std, column[mine]) for mine in members]
    profiles = profiles_of(model)
    columns["what sets it apart"] = [
        telling(profiles, i, names) if i >= 0 else "Far from all clusters: noise." for i in clusters
    ]
    return columns


def _rounded(function: Any, values: NDArray[Any]) -> float:
    """The mean or the spread of the values that are there."""
    import numpy as np

    there = values[~np.isnan(values)]
    return float(f"{function(there):.{DIGITS}g}") if len(there) else float("nan")


def _commonest(codes: NDArray[Any], table: Table, name: str) -> str:
    """The commonest value of a column of text."""
    import numpy as np

    there = codes[~np.isnan(codes)].astype(int)
    return table.words[name][int(np.bincount(there).argmax())] if len(there) else ""


def draw(found: Fitted, path: str) -> None:
    """Draw the clusters in a plane."""
    from pathlib import Path

    from matplotlib.figure import Figure

    from icvi_artmap._support.files import replaced
    from icvi_artmap.plotting.partition import PartitionDisplay

    figure = Figure(figsize=(8.0, 6.0), layout="constrained")
    fitted, names = found.model.fitted_, found.table.columns
    flat = len(names) == 2
    seen = fitted.filled(found.rows) if flat else fitted.prepared(found.rows)
    display = PartitionDisplay.from_labels(seen, found.model.labels_)
    if flat:
        display.names = (names[0], names[1])
    display.plot(figure.subplots())
    with replaced(path) as temporary:
        figure.savefig(temporary, format=Path(path).suffix.lower().lstrip("."), dpi=150)


def write_the_report(found: Fitted, path: str, given: Input, arguments: tuple[str, ...]) -> None:
    """Write the report, with the command that makes it again."""
    import shlex
    import warnings

    from icvi_artmap.report import write_report

    with warnings.catch_warnings():
        # The names are given beside the rows.
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        write_report(
            path,
            found.model,
            found.table.cells(),
            feature_names=found.table.columns,
            ids=sample_names(found.table),
            truth=found.groups,
            title=f"Clusters of {given.name}",
            notes=found.notes,
            command=shlex.join(["icvi-artmap", *arguments]),
            random_state=found.model.random_state,
        )
