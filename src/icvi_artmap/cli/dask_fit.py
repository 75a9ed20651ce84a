"""``icvi-artmap fit --dask``: Parquet files that one machine need not hold, on a Dask cluster."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from icvi_artmap._support.wording import arrow, better, counted, number, short_percent
from icvi_artmap.cli.common import (
    MODEL_SUFFIXES,
    REPORT_SUFFIXES,
    Input,
    Target,
    check_targets,
    read_whole,
    without_categories,
    wrong,
)

if TYPE_CHECKING:
    from rich.console import Console

    from icvi_artmap.cli.kept import Kept
    from icvi_artmap.cli.output import Bar, Output
    from icvi_artmap.distributed import DistributedICVIARTMAP
    from icvi_artmap.tables import Table

OPTION = "--dask"
#: What the option is without an address: a cluster of this machine's processors.
LOCAL = "local"
#: A host and a port, with or without a protocol; or the file that a scheduler has written.
ADDRESS = re.compile(r"([a-z]+://.+|[\w.\-]+:\d+|\[[\da-f:]+\]:\d+|.+\.json)", re.IGNORECASE)
#: How every Parquet file begins.
MAGIC = b"PAR1"
#: Rows that tell which columns are used.
LOOKED_AT = 5_000
#: The longest that a scheduler may take to answer.
PATIENCE = "30s"


def with_address(arguments: Sequence[str]) -> list[str]:
    """The arguments of the command line with a word behind ``--dask``, if there is no address."""
    found: list[str] = []
    for at, argument in enumerate(arguments):
        following = arguments[at + 1] if at + 1 < len(arguments) else ""
        bare = argument == OPTION and following != LOCAL and not ADDRESS.fullmatch(following)
        found.append(f"{OPTION}={LOCAL}" if bare else argument)
    return found


class Fitted(NamedTuple):
    """What was found, and the rows that told which columns are used."""

    model: DistributedICVIARTMAP
    table: Table
    frame: Any  #: the Dask dataframe, all columns
    notes: list[str]


def check_options(kept: Kept, unused: dict[str, bool]) -> None:
    """Refuse options that need all rows in memory, and files that could not be written.

    ``unused``: whether options were given that have no meaning here.
    """
    for option, was_given in unused.items():
        if was_given:
            raise wrong(option, f"it needs all rows in memory and does not go with {OPTION}.")
    check_targets(
        [
            Target("--model", kept.model, MODEL_SUFFIXES),
            Target("--report", kept.report, REPORT_SUFFIXES),
        ],
        [None],
    )
    if kept.labels is not None:
        check_folder(Path(kept.labels))
    if kept.report is not None:
        from icvi_artmap.report.page import environment

        environment()  # says so if jinja2 is not installed


def check_folder(folder: Path) -> None:
    """Refuse a folder for a dataset that is there already: nothing is overwritten."""
    if folder.exists():
        raise wrong(
            "-o", f"{str(folder)!r} exists. With {OPTION} a new folder is made: give another name."
        )
    if not folder.parent.is_dir():
        raise wrong("-o", f"there is no folder {str(folder.parent)!r}: make it first.")
    if not os.access(folder.parent, os.W_OK):
        raise wrong("-o", f"nothing can be written to the folder {str(folder.parent)!r}.")


def fit_on_dask(
    address: str,
    given: Input,
    settings: dict[str, Any],
    kept: Kept,
    out: Output,
    arguments: tuple[str, ...],
) -> None:
    """Find the clusters of Parquet files, keep what is asked for, and print the result."""
    paths = parquet_files(given.data)
    with out.progress("starting Dask") as bar, connected(address):
        found = fit_files(paths, given, settings, bar)
        keep(found, kept, given, arguments, bar)
    out.notes(found.notes)
    written = [path for path in (kept.labels, kept.model, kept.report) if path is not None]
    facts = {**describe(found), "data": given.data, "written": written, "notes": found.notes}
    out.result(facts, lambda console: show(console, found, given, written))


def parquet_files(data: str) -> list[str]:
    """The files of a table, found as for a table in memory; all of them Parquet."""
    from icvi_artmap.tables.source import find_source

    source = find_source(data)
    files = source.parts or (source,)
    if files[0].path is None or files[0].path.suffix.lower() != ".parquet":
        raise wrong(OPTION, f"it reads Parquet files, and {source.name} is none.")
    paths = [str(part.path) for part in files]
    for path in paths:
        with open(path, "rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                raise ValueError(f"{path!r} is not a Parquet file, or a damaged one. Leave it out.")
    return paths


@contextmanager
def connected(address: str) -> Iterator[None]:
    """A client of the scheduler at an address, or of a cluster of this machine's processors."""
    from icvi_artmap.distributed.computing import imported_dask

    imported_dask()
    import logging

    from distributed import Client, LocalCluster

    if address == LOCAL:
        with (
            LocalCluster(
                threads_per_worker=1,
                processes=True,
                dashboard_address=":0",
                silence_logs=logging.CRITICAL,
            ) as cluster,
            Client(cluster),
        ):
            yield
        return
    where = {"scheduler_file": address} if address.endswith(".json") else {"address": address}
    try:
        client = Client(**where, timeout=PATIENCE)
    except (OSError, ValueError) as error:
        raise ConnectionError(
            f"No Dask scheduler answers at {address} ({error}). Start one with: dask scheduler; "
            f"or give {OPTION} no address, for a cluster on this machine."
        ) from None
    with client:
        yield


def fit_files(paths: list[str], given: Input, settings: dict[str, Any], bar: Bar) -> Fitted:
    """Choose the columns by some rows, and fit all of them."""
    import dask.dataframe as dd

    from icvi_artmap._support.progress import warnings_as_notes
    from icvi_artmap.distributed import DistributedICVIARTMAP

    bar.say("reading")
    frame = dd.read_parquet(paths)
    table = looked_at(frame, given)
    notes = list(table.notes)
    model = DistributedICVIARTMAP(**settings)
    with warnings_as_notes(notes):
        model.fit(frame[list(table.columns)], report=bar.say)
    notes = [note for note in notes if note not in model.model_.cautions_]
    return Fitted(model, table, frame, notes)


def looked_at(frame: Any, given: Input) -> Table:
    """Some rows as a table, with the columns that a table in memory would be clustered by."""
    import io

    import numpy as np

    from icvi_artmap.distributed.row_blocks import lengths_of, table_of, taken
    from icvi_artmap.tables.formats import find_format
    from icvi_artmap.tables.source import Source

    whole = table_of(frame)
    lengths = lengths_of(whole)
    n = int(lengths.sum())
    if n == 0:
        raise ValueError(f"{given.name} has no rows.")
    rows = np.unique(np.linspace(0, n - 1, min(n, LOOKED_AT)).astype(np.int64))
    content = io.BytesIO()
    taken(whole, lengths, rows).to_parquet(content, index=False)
    parquet = find_format(Path("rows.parquet"))[0]
    assert parquet is not None
    source = Source(given.name, parquet, None, content=content.getvalue())
    return without_categories(read_whole(given._replace(source=source)), given)


def keep(found: Fitted, kept: Kept, given: Input, arguments: tuple[str, ...], bar: Bar) -> None:
    """Write all that is asked for."""
    from icvi_artmap.persistence.save_load import save

    if kept.model is not None:
        save(found.model.model_, kept.model)
    if kept.report is not None:
        bar.say("writing the report")
        _write_report(found, kept.report, given, arguments)
    if kept.labels is not None:
        bar.say("writing the clusters of all rows")
        write_dataset(found, Path(kept.labels), kept.labels_only, given.id_column)


def write_dataset(
    found: Fitted, folder: Path, labels_only: bool = False, id_column: str | None = None
) -> None:
    """Write the table with its clusters as a folder of Parquet files.

    Workers write into a folder of another name; it gets its own when all files are complete.
    """
    from icvi_artmap.distributed import with_labels
    from icvi_artmap.distributed.computing import computed
    from icvi_artmap.tables.extending import names_to_add

    name = names_to_add(found.frame.columns, ["cluster"])[0]
    frame = with_labels(found.frame, found.model.labels_, name)
    if labels_only:
        frame = frame[[*([] if id_column is None else [id_column]), name]]
    temporary = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", suffix=".part", dir=folder.parent))
    try:
        temporary.chmod(0o777 & ~_mask())
        computed(frame.to_parquet(str(temporary), write_index=False, compute=False))
        check_folder(folder)
        temporary.rename(folder)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def _mask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _write_report(found: Fitted, path: str, given: Input, arguments: tuple[str, ...]) -> None:
    """Write the report on the rows of the sample."""
    import shlex

    from icvi_artmap.distributed import take_rows
    from icvi_artmap.report import write_report

    model, columns = found.model, list(found.table.columns)
    rows = take_rows(found.frame[columns], model.sample_rows_)
    note = (
        f"Fitted on {counted(model.n_samples_, 'row')} on Dask; what is shown here are the "
        f"{counted(len(rows), 'row')} of its sample."
    )
    write_report(
        path,
        model.model_,
        rows,
        feature_names=columns,
        title=f"Clusters of {given.name}",
        notes=[*found.notes, note],
        command=shlex.join(["icvi-artmap", *arguments]),
        random_state=model.random_state,
    )


def describe(found: Fitted) -> dict[str, Any]:
    """What was found as JSON has it."""
    from icvi_artmap.cli.fit import describe_clusters

    model, columns = found.model, list(found.table.columns)
    index, n = model.model_.fitted_.index, model.model_.fitted_.moments.n
    clusters = describe_clusters(model.model_, columns)
    for i, facts in enumerate(clusters):
        facts["rows"], facts["share"] = n[i], n[i] / n.sum()
    return {
        "rows": model.n_samples_,
        "columns": columns,
        "n_clusters": model.n_clusters_,
        "index": index.name,
        "index_value": model.index_value_,
        "better": better(index.direction),
        "sample_rows": len(model.sample_rows_),
        "passes": model.n_passes_,
        "converged": model.converged_,
        "clusters": clusters,
        "cautions": model.model_.cautions_,
    }


def show(console: Console, found: Fitted, given: Input, written: Sequence[str]) -> None:
    """Print what was found."""
    from icvi_artmap.cli.output import columns as heads
    from icvi_artmap.inspection.profiles import profiles as profiles_of
    from icvi_artmap.report.reading import telling

    model = found.model
    inside, names = model.model_, list(found.table.columns)
    rows, used = counted(model.n_samples_, "row"), counted(len(names), "column")
    console.print(f"{given.name}: {rows}, {used} used\n", style="bold")
    console.print(
        f"{counted(model.n_clusters_, 'cluster')}, found on {len(model.sample_rows_):,} rows "
        f"and improved by {counted(model.n_passes_, 'pass')} over all."
    )
    for caution in inside.cautions_:
        console.print(caution, style="yellow")
    index = inside.fitted_.index
    console.print(
        f"{index.name} {arrow(index.direction)} {number(model.index_value_)} of all rows "
        f"({better(index.direction)} is better).\n"
    )
    profiles, n = profiles_of(inside), inside.fitted_.moments.n
    described = inside.fitted_.profiled_names(names)
    table = heads("cluster", "rows", "share", ("left", "what sets it apart"))
    for i in range(model.n_clusters_):
        words = telling(profiles, i, described).rstrip(".").split("; ")[:3]
        table.add_row(str(i), f"{n[i]:,}", short_percent(n[i] / n.sum()), "\n".join(words))
    console.print(table)
    if written:
        console.print(f"\nWritten: {', '.join(written)}")
