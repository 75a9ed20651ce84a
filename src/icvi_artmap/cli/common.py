"""What the commands share: their options, how they read tables, and where they may write."""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import typer

from icvi_artmap._support.wording import LONGEST_PATH, shortened
from icvi_artmap.indices.registry import NAMES
from icvi_artmap.preparation.used_columns import FILLED_WITH as FILLED_WITH
from icvi_artmap.preparation.used_columns import binary_columns as binary_columns
from icvi_artmap.preparation.used_columns import with_note_on_gaps as with_note_on_gaps
from icvi_artmap.preparation.used_columns import without_binary_columns, without_constant
from icvi_artmap.tables.formats import STREAM, names_of_formats, suffixes_of, written_formats

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from icvi_artmap.tables import Table
    from icvi_artmap.tables.source import Source

STANDARD_STREAM = "-"
SEEDS = 2**32 - 1
MODEL_SUFFIXES = (".icvi",)
REPORT_SUFFIXES = (".html", ".htm")
PICTURE_SUFFIXES = (".png", ".svg", ".pdf", ".jpg", ".jpeg")


if TYPE_CHECKING:

    class IndexName(StrEnum):
        """The built-in indices, by name; which there are, the registry knows."""

        NI = "NI"

else:
    IndexName = StrEnum("IndexName", {name: name for name in NAMES})


class Missing(StrEnum):
    refuse = "refuse"
    drop = "drop"
    mean = "mean"
    median = "median"
    neighbours = "neighbours"


class NewMissing(StrEnum):
    model = "model"
    refuse = "refuse"
    drop = "drop"
    mean = "mean"


class Categories(StrEnum):
    leave = "leave"
    use = "use"


class Transform(StrEnum):
    none = "none"
    clip = "clip"
    power = "power"


DataArgument = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help=f"A table: {names_of_formats()}; - is {STREAM.name} on standard input.",
        show_default=False,
    ),
]
ModelArgument = Annotated[
    str,
    typer.Argument(
        metavar="MODEL", help="A model that fit --model has written.", show_default=False
    ),
]
IndexOption = Annotated[
    IndexName,
    typer.Option(
        "--index",
        "-i",
        case_sensitive=False,
        help="The validity index that decides. NI: clusters of any size and direction; "
        "CH: round ones of similar width; what each looks at, score tells.",
    ),
]
ClustersOption = Annotated[
    str,
    typer.Option(
        "-k",
        "--clusters",
        metavar="N|auto|2:20",
        help="The number of clusters, auto to choose it, or a range to choose from.",
    ),
]
NumberOption = Annotated[
    int,
    typer.Option(
        "-k", "--clusters", min=2, metavar="N", help="The number of clusters.", show_default=False
    ),
]
ColumnsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--columns",
        "-c",
        metavar="NAMES",
        help="Columns to use, with commas between; x* is every column that begins with x. "
        "Default: all of numbers, but not row numbers, identifiers and known groups.",
        show_default=False,
    ),
]
ExcludeOption = Annotated[
    list[str] | None,
    typer.Option(
        "--exclude",
        "-x",
        metavar="NAMES",
        help="Columns to leave out, named as in --columns.",
        show_default=False,
    ),
]
LabelColumnOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="A column of known groups, only to compare with.", show_default=False
    ),
]
IdColumnOption = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="A column that names the rows.", show_default=False),
]
MissingOption = Annotated[
    Missing,
    typer.Option(
        help="Rows with missing values: an error, left out, or filled with the column's mean, its "
        "median or the mean of the nearest rows, which is best."
    ),
]
NewMissingOption = Annotated[
    NewMissing,
    typer.Option(
        "--missing",
        help="Rows with missing values: as the model was fitted, an error, left out, or filled "
        "with what the model has learned to fill them with, or else with the mean.",
    ),
]
TransformOption = Annotated[
    Transform,
    typer.Option(
        help="Long tails. clip: values beyond 3 robust deviations are drawn in; power: columns are "
        "raised to a power that makes them less skewed.",
    ),
]
SeedOption = Annotated[
    int, typer.Option(min=0, max=SEEDS, metavar="N", help="The same seed gives the same result.")
]
RefineOption = Annotated[
    bool | None,
    typer.Option(
        "--refine/--no-refine",
        help="Improve the partition by splits and merges at the end. Default: where it helps.",
        show_default=False,
    ),
]
JobsOption = Annotated[
    int,
    typer.Option(
        "--jobs", "-j", min=-1, metavar="N", help="Runs at a time; -1: one for every processor."
    ),
]
LabelsOption = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help=f"Write the cluster of every row: {suffixes_of(written_formats())}; "
        f"- is {STREAM.name} on standard output.",
        show_default=False,
    ),
]
SaveOption = Annotated[
    str | None,
    typer.Option(
        "--model", "-m", metavar="FILE", help="Keep the model (.icvi).", show_default=False
    ),
]
QuietOption = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print nothing but errors (and data asked for).")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object, for scripts.")]


DelimiterOption = Annotated[
    str | None,
    typer.Option(
        metavar="CHAR",
        help="What separates cells of text: a character, tab or whitespace. Default: found out.",
        show_default=False,
    ),
]
SampleOption = Annotated[
    int | None,
    typer.Option(
        min=2,
        metavar="N",
        help="A first look at a large file: N rows, drawn at random.",
        show_default=False,
    ),
]
PcaOption = Annotated[
    int | None,
    typer.Option(
        "--pca",
        min=1,
        metavar="D",
        help="For many columns: use the first D principal axes of the standardised columns.",
        show_default=False,
    ),
]


def parse_clusters(text: str) -> int | range | Literal["auto"]:
    """The number of clusters as typed: "3", "auto" or "2:20", both ends included."""
    plain = text.strip().lower()
    if plain == "auto":
        return "auto"
    ends = plain.split(":")
    if len(ends) > 2 or not all(end.isdecimal() for end in ends):
        raise wrong("-k", f"{text!r} is neither a number, nor auto, nor a range like 2:20.")
    numbers = [int(end) for end in ends]
    if numbers[0] < 2:
        raise wrong("-k", f"{text!r}: there must be at least 2 clusters.")
    if len(numbers) == 1:
        return numbers[0]
    if numbers[1] <= numbers[0]:
        raise wrong("-k", f"{text!r}: a range rises, as 2:20 does.")
    return range(numbers[0], numbers[1] + 1)


def parse_names(given: Sequence[str] | None, option: str = "--columns") -> list[str] | None:
    """Names separated by commas; one that has a comma in it stands in double quotes."""
    if not given:
        return None
    names = [
        name.strip() for row in csv.reader(given, skipinitialspace=True) for name in row if name
    ]
    if not all(names) or not names:
        raise wrong(option, "there is an empty name.")
    return names


def parse_input(
    data: str,
    columns: Sequence[str] | None,
    exclude: Sequence[str] | None,
    label_column: str | None,
    id_column: str | None,
    missing: Missing,
) -> Input:
    """The table to read, as typed."""
    named, left_out = parse_names(columns), parse_names(exclude, "--exclude")
    return Input(data, named, label_column, id_column, missing, left_out)


def wrong(option: str, text: str) -> typer.BadParameter:
    """The error for a value that an option cannot take."""
    return typer.BadParameter(text, param_hint=option)


def check_jobs(jobs: int) -> None:
    """Refuse zero runs at a time."""
    if jobs == 0:
        raise wrong("--jobs", "0 runs at a time is none; use 1 or more, or -1.")


class Target(NamedTuple):
    """A file to be written."""

    option: str
    path: str | None
    suffixes: tuple[str, ...] | None  #: None: a table, whose suffixes the registry of formats has
    columns: Mapping[str, Sequence[Any]] | None = None  #: of the table, if they are known


def check_targets(
    targets: Sequence[Target],
    sources: Sequence[str | None],
    columns: Mapping[str, Sequence[Any]] | None = None,
) -> None:
    """Refuse paths that could not be written, or would replace an input or each other.

    ``columns`` are those that a table will hold which has none of its own.
    """
    if sum(source == STANDARD_STREAM for source in sources) > 1:
        raise ValueError("Standard input (-) can be read only once. Give one of them as a file.")
    taken: dict[str, str] = {}
    for source in sources:
        if source is not None and source != STANDARD_STREAM:
            taken[os.path.realpath(source)] = "the input"
    for option, given, suffixes, own in targets:
        if given is None:
            continue
        if not given:
            raise wrong(option, "the name of a file is wanted, got nothing.")
        if suffixes is None:
            from icvi_artmap.tables import check_target

            check_target(given, own or columns or {})
            if given == STANDARD_STREAM:
                continue
        _check_path(option, given, suffixes)
        real = os.path.realpath(given)
        for other, what in taken.items():
            if real == other or _same_file(real, other):
                raise wrong(option, f"{given!r} is {what}, which would be overwritten.")
        taken[real] = f"also the file of {option}"


def _check_path(option: str, given: str, suffixes: tuple[str, ...] | None) -> None:
    """Refuse a path that is a folder, has the wrong suffix or cannot be written to."""
    path = Path(given)
    if path.is_dir():
        raise wrong(option, f"{given!r} is a folder; the name of a file is wanted.")
    if suffixes is not None and path.suffix.lower() not in suffixes:
        raise wrong(option, f"{given!r} must end in {' or '.join(suffixes)}.")
    if not path.parent.is_dir():
        raise wrong(option, f"there is no folder {str(path.parent)!r}: make it first.")
    if not os.access(path.parent, os.W_OK):
        raise wrong(option, f"nothing can be written to the folder {str(path.parent)!r}.")


def _same_file(a: str, b: str) -> bool:
    return os.path.exists(a) and os.path.exists(b) and os.path.samefile(a, b)


def check_model_file(path: str) -> None:
    """Say that there is no such file before anything large is imported."""
    if path == STANDARD_STREAM:
        raise ValueError("A model cannot be read from standard input. Give the path of its file.")
    if Path(path).is_dir():
        raise IsADirectoryError(f"{path!r} is a folder; the file of a model is wanted.")
    if not Path(path).exists():
        raise FileNotFoundError(f"There is no file {path!r}.")


class Input(NamedTuple):
    """The table to read, and what to take from it."""

    data: str
    columns: Sequence[str] | None
    label_column: str | None
    id_column: str | None
    missing: Missing
    exclude: Sequence[str] | None = None
    transform: Transform = Transform.none  # what is done when it is read; fit does it itself
    categories: Categories = Categories.leave
    delimiter: str | None = None
    sample: int | None = None  # rows to draw at random; None: all
    seed: int = 0
    pca: int | None = None  # principal axes to turn to when it is read; fit does it itself
    source: Source | None = None  # where the data are found; standard input is read once

    @property
    def name(self) -> str:
        """What messages call the table."""
        return name_of(self.data)


def with_source(given: Input) -> Input:
    """With the file found, or standard input read: the table can then be read more than once."""
    from icvi_artmap.tables.source import find_source

    return given._replace(source=find_source(given.data))


def read_data(given: Input) -> Table:
    """A table of numbers, prepared, without columns of one or two values."""
    from dataclasses import replace

    import numpy as np

    from icvi_artmap.preparation import fills, mixed, transforms

    table = without_categories(read_whole(given), given)
    X, none = table.X, np.zeros(len(table.columns), np.bool_)
    if given.missing in FILLED_WITH:
        table = with_note_on_gaps(table, FILLED_WITH[given.missing])
        X = fills.filled(X, fills.learn_fills(X, given.missing.value, none), none)
    if given.transform != Transform.none:
        learned = transforms.learn_transform(X, given.transform.value, none)
        X = transforms.transformed(X, learned)
    if given.pca is not None:
        count = none.astype(np.int64)
        X = mixed.along_axes(X, mixed.learn_mixed(X, count, given.pca), count)
    return replace(table, X=X)


def read_whole(given: Input) -> Table:
    """A table without its constant columns; missing values that are to be filled are NaN."""
    from icvi_artmap.tables import read_table

    fills = given.missing in FILLED_WITH
    table = read_table(
        given.source or given.data,
        columns=given.columns,
        label_column=given.label_column,
        id_column=given.id_column,
        missing="keep" if fills else given.missing.value,  # type: ignore[arg-type]
        exclude=given.exclude or (),
        categories=given.categories.value,
        delimiter=given.delimiter,
        sample=given.sample,
        random_state=given.seed,
    )
    return without_constant(table, given.name)


def without_categories(table: Table, given: Input) -> Table:
    """The table without columns of two values, unless they were asked for."""
    return without_binary_columns(table, asked_for=given.columns is not None)


def written_files(*paths: str | None) -> list[str]:
    """The files among the paths that were given; standard output is none."""
    return [path for path in paths if path not in (None, STANDARD_STREAM)]


def name_of(data: str) -> str:
    """What messages call an input."""
    name = "standard input" if data == STANDARD_STREAM else Path(data).name
    return shortened(name, LONGEST_PATH)


def sample_names(table: Table) -> list[str]:
    """What the rows are called: by their column of names, or by their numbers from 1."""
    return table.ids if table.ids is not None else [str(row + 1) for row in table.rows]


def label_columns(table: Table, id_column: str | None, labels: NDArray[Any]) -> dict[str, Any]:
    """The columns of a file of labels: what the rows are called, and their clusters."""
    if table.ids is None:
        return {"row": table.rows + 1, "cluster": labels}
    assert id_column is not None
    return {named_ids(id_column): table.ids, "cluster": labels}


def named_ids(id_column: str) -> str:
    """The name of the column of names in a file of labels, where "cluster" is taken."""
    return "id" if id_column == "cluster" else id_column


def expected_columns(id_column: str | None) -> dict[str, Sequence[Any]]:
    """Columns with the names and types that `label_columns` will return."""
    names: dict[str, Sequence[Any]] = (
        {"row": [1]} if id_column is None else {named_ids(id_column): ["a"]}
    )
    return {**names, "cluster": [0]}


def cluster_sizes(labels: NDArray[Any]) -> list[dict[str, Any]]:
    """The clusters among the labels and how many rows each has, as JSON has them."""
    import numpy as np

    present, counts = np.unique(labels, return_counts=True)
    return [
        {"cluster": cluster, "rows": count}
        for cluster, count in zip(present.tolist(), counts.tolist(), strict=True)
    ]


def known_groups(table: Table) -> NDArray[Any] | None:
    """The column of known groups, with None where a group is missing."""
    from icvi_artmap.tables.reading import missing_labels

    if table.labels is None:
        return None
    absent = missing_labels(table.labels)
    if absent.all():
        raise ValueError("The column of known groups has no values. Leave out --label-column.")
    groups = table.labels.astype(object)
    groups[absent] = None
    return groups


def agreement(groups: NDArray[Any] | None, labels: NDArray[Any]) -> float | None:
    """The adjusted Rand index over the rows whose group is known."""
    if groups is None:
        return None
    from sklearn.metrics import adjusted_rand_score

    known = [group is not None for group in groups]
    return float(adjusted_rand_score(groups[known].astype(str), labels[known]))
