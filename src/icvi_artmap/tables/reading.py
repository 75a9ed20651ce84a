"""Reading a table: which columns hold data, and what to do with missing values."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from numbers import Integral
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._support.wording import (
    counted,
    message,
    parameter,
    plural,
    quoted,
    shown,
    speaks_of_options,
)
from icvi_artmap.tables.content import MISSING, Content, Kind, Request, Sample, read_number
from icvi_artmap.tables.extending import ADDED, has_added
from icvi_artmap.tables.sampling import note_on_sample
from icvi_artmap.tables.source import Source, find_source, text_array

#: If at least this share of a column's values are numbers, the others are errors in the table, and
#: the column is not taken for text.
MOSTLY_NUMBERS = 0.9

#: A column that counts up by one in this many rows or more is taken for row numbers.
COUNTING_ROWS = 10

#: Integers that are nearly all distinct and leave out few numbers between the least and the largest
#: are identifiers too: at least so many rows, so large a part distinct, so small a part left out.
NUMBERED_ROWS, DISTINCT, LEFT_OUT = 20, 0.9, 0.1

#: A column of text is a category if it has no more different values, and each twice on average.
MOST_CATEGORIES = 20

#: How the note on columns with a single value begins.
CONSTANT = "Constant:"
#: How the note on columns of truth values begins.
TRUTH_VALUES = "Truth values"
#: What a note calls values that were passed to be put in for missing ones.
GIVEN_VALUES = "the values given"

IDENTIFIERS = frozenset(
    ["id", "index", "key", "uuid", "guid", "row", "rowid", "unnamed: 0", "__index_level_0__"]
)
#: What a column of known groups, or of somebody's clusters, is called.
LABELS = frozenset(
    [
        *("class", "classes", "label", "labels", "target", "targets", "y"),
        *("cluster", "clusters", "truth", "ground_truth", "species"),
    ]
)
#: Columns beside which a column "y" is a coordinate.
COORDINATES = frozenset(["x", "z"])


class Look(StrEnum):
    """What a column seems to hold, in words."""

    NUMBERS = "numbers"
    BOOLEANS = "truth values"
    TEXT = "text"
    DATES = "dates or times"
    NOTHING = "no values"
    IDENTIFIERS = "row numbers or identifiers"
    GROUPS = "known groups"


#: Columns of these are used where none are named.
USABLE = frozenset([Look.NUMBERS, Look.BOOLEANS])


@dataclass(frozen=True, eq=False)
class Column:
    """A column of a file, as it looks.

    Attributes
    ----------
    name : str
    look : Look
    values : ndarray of shape (n_rows,)
        Its numbers, NaN where there is none.
    stray : str
        What keeps a column of numbers from being one: the first cell that is none, and its row.
    """

    name: str
    look: Look
    values: NDArray[np.float64]
    stray: str = ""


def read_columns(source: str | os.PathLike[str]) -> list[Column]:
    """All columns of a table as they look, whether `read_table` would use them or not.

    Parameters
    ----------
    source : str or path
        As for `read_table`.

    Returns
    -------
    list of Column

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from icvi_artmap.tables import read_columns
    >>> path = Path(tempfile.mkdtemp()) / "flowers.csv"
    >>> _ = path.write_text("name,width\\na,1\\nb,2.5\\n")
    >>> [(column.name, str(column.look)) for column in read_columns(path)]
    [('name', 'text'), ('width', 'numbers')]
    """
    found = find_source(source)
    content = found.format.read(found, Request())
    if not len(content.values):
        raise ValueError(f"{found.name} has no rows.")
    return [
        Column(name, _look(content, j), content.values[:, j], _stray(content, j))
        for j, name in enumerate(content.names)
    ]


class MissingValuesError(ValueError):
    """A table with missing values, which were to be refused."""


class WidthError(ValueError):
    """A table with more or fewer columns than there are values to put in."""


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """Samples read from a file.

    Attributes
    ----------
    X : ndarray of float64, shape (n_samples, n_features)
        The values, in C order.
    columns : tuple of str
        The names of the features.
    ids : list of str or None
        The cells of ``id_column``.
    labels : ndarray of shape (n_samples,) or None
        The label column as given: integers, floats or text.
    rows : ndarray of int64, shape (n_samples,)
        For every sample its row in the input, from 0 and without the header.
    notes : tuple of str
        What was left out, filled in or noticed, in sentences.
    words : dict of str to tuple of str
        For columns of text that were asked for as categories, their values; ``X`` has positions
        among these.
    n_input : int
        Number of rows in the input, those that were left out included.

    See Also
    --------
    read_table : Reads a table.
    """

    X: NDArray[np.float64]
    columns: tuple[str, ...]
    ids: list[str] | None
    labels: NDArray[Any] | None
    rows: NDArray[np.int64]
    notes: tuple[str, ...]
    words: dict[str, tuple[str, ...]] = field(default_factory=dict)
    n_input: int = 0

    def __len__(self) -> int:
        return len(self.X)

    def cells(self) -> NDArray[Any]:
        """``X``, with the words themselves in columns of text (an array of objects then)."""
        if not self.words:
            return self.X
        cells = self.X.astype(object)
        for name, words in self.words.items():
            f = self.columns.index(name)
            for s, code in enumerate(self.X[:, f]):
                cells[s, f] = None if np.isnan(code) else words[int(code)]
        return cells

    def __repr__(self) -> str:
        return f"<Table: {self.X.shape[0]} rows, {self.X.shape[1]} columns>"


def read_table(
    source: str | os.PathLike[str] | Source,
    *,
    columns: Sequence[str] | None = None,
    label_column: str | None = None,
    id_column: str | None = None,
    missing: Literal["refuse", "drop", "mean", "keep"] | Sequence[float] = "refuse",
    delimiter: str | None = None,
    exclude: Sequence[str] = (),
    categories: Literal["leave", "use"] | Sequence[str] = "leave",
    sample: int | None = None,
    random_state: int = 0,
) -> Table:
    """Read the numeric columns of a table.

    The suffix says the format: ``.csv``, ``.tsv``, ``.txt``, ``.dat``, ``.data``, ``.arff``,
    ``.json``, ``.jsonl`` (each also with ``.gz``), ``.parquet`` and ``.feather`` (need pyarrow),
    ``.xlsx`` (needs openpyxl), ``.npy`` and ``.npz``. In text the delimiter (comma, semicolon, tab,
    ``|`` or white space), the decimal mark and whether there is a header are found out. Text is
    UTF-8, or UTF-16 with a byte order mark.

    JSON holds a list of objects (one for every row), a list of lists, or an object of columns; JSON
    Lines have an object in every line. Of an Excel workbook the first sheet with cells is read.

    A NPZ file holds an array ``X`` and perhaps labels ``y``, or a single 2-D array, or 1-D arrays,
    one for every column.

    Parameters
    ----------
    source : str or path
        The file; ``"-"`` reads CSV from standard input. A folder, or a pattern as
        ``"part-*.parquet"``, is one table in several files of Parquet or Feather.
    columns : sequence of str, optional
        The columns to use, by name or by pattern, as in ``["width", "x*"]``. By default all of
        numbers and truth values, but not those that look like row numbers or identifiers, nor
        those that look like known groups: called ``class``, ``label``, ``target``, ``y``,
        ``cluster`` and so on, with few different integers.
    label_column : str, optional
        A column of known groups: not part of the data, but kept as ``labels``. In a NPZ file with
        ``X`` and ``y`` it is ``y``.
    id_column : str, optional
        A column of names of the samples, kept as ``ids``.
    missing : {"refuse", "drop", "mean", "keep"} or sequence of float, default="refuse"
        What to do if values are missing in the columns used: an error, leave out the row, put in
        the mean of the column, or leave them as NaN for :class:`ICVIARTMAP` to fill, which keeps
        what it fills them with. Numbers, one for every column used, are put in themselves.
    delimiter : str, optional
        For text, what separates cells; a blank stands for any white space.
    exclude : sequence of str, default=()
        Columns that are not to be used, by name or by pattern.
    categories : {"leave", "use"} or sequence of str, default="leave"
        Whether columns of text with at most 20 different values are left out, or used as
        categories (see ``words``); or the names of those to use, whatever their values are.
    sample : int, optional
        Read no more rows than this, drawn at random; ``rows`` says which.
    random_state : int, default=0
        Seed of that draw.

    Returns
    -------
    Table
        The values, with names, labels, ids, row numbers and notes on what was done.

    Raises
    ------
    ValueError
        If the file holds no table of numbers, with the line if there is one to correct.

    See Also
    --------
    write_table : Writes columns to a file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from icvi_artmap import read_table
    >>> path = Path(tempfile.mkdtemp()) / "flowers.csv"
    >>> _ = path.write_text("name;width;length;kind\\na;1,5;2;x\\nb;1,25;;y\\nc;2;4;x\\n")
    >>> table = read_table(path, label_column="kind", id_column="name", missing="drop")
    >>> table.X
    array([[1.5, 2. ],
           [2. , 4. ]])
    >>> table.columns, table.ids, table.labels.tolist(), table.rows.tolist()
    (('width', 'length'), ['a', 'c'], ['x', 'x'], [0, 2])
    >>> for note in table.notes:
    ...     print(note)
    Commas were read as decimal marks.
    1 of 3 rows with missing values were left out (column 'length').
    """
    treatment = _treatment(missing)
    wanted = [columns] if isinstance(columns, str) else columns
    request = Request(
        None if wanted is None else list(wanted),
        label_column,
        id_column,
        delimiter,
        [exclude] if isinstance(exclude, str) else list(exclude),
        _words_asked_for(categories),
        _sample(sample, random_state),
    )
    found = find_source(source)
    content = found.format.read(found, request)
    if isinstance(categories, str) and categories == "use":
        words = _columns_of_text(content, found)
        if words:  # cells of text are kept only where they are asked for
            content = found.format.read(found, replace(request, words=words))
    return _table(content, found, treatment)


def _sample(n: Any, seed: Any) -> Sample | None:
    if n is None:
        return None
    if isinstance(n, bool) or not isinstance(n, Integral) or n < 1:
        raise ValueError(f"sample must be a number of rows, 1 or more, got {shown(n)}.")
    return Sample(int(n), int(seed))


def _words_asked_for(categories: Any) -> list[str]:
    if isinstance(categories, str):
        if categories in ("leave", "use"):
            return []
    elif isinstance(categories, Sequence) and all(isinstance(name, str) for name in categories):
        return list(categories)
    raise ValueError(
        f'categories must be "leave", "use" or names of columns, got {shown(categories)}.'
    )


def _columns_of_text(content: Content, source: Source) -> list[str]:
    """The columns that may hold categories."""
    choice = content.choice
    asked = range(len(content.names)) if choice.features is None else choice.features
    found = []
    for j in asked:
        if j not in choice.as_given | choice.excluded and _kind(content, j) == Kind.TEXT:
            _refuse_mostly_numbers(content, j, source)
            found.append(content.names[j])
    return found


def column_names(source: str | os.PathLike[str], *, delimiter: str | None = None) -> list[str]:
    """The names of all columns of a table of text or Parquet, without reading its rows.

    Parameters
    ----------
    source : str or path
        As for `read_table`.
    delimiter : str, optional
        As for `read_table`.

    Returns
    -------
    list of str

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from icvi_artmap.tables import column_names
    >>> path = Path(tempfile.mkdtemp()) / "flowers.csv"
    >>> _ = path.write_text("width,length\\n1,2\\n")
    >>> column_names(path)
    ['width', 'length']
    """
    found = find_source(source)
    return found.format.column_names(found, Request(delimiter=delimiter))


@dataclass(frozen=True, eq=False, repr=False)
class Labels:
    """Labels of samples, read from a file.

    Attributes
    ----------
    labels : ndarray of shape (n_samples,)
        Integers, floats or text.
    names : list of str or None
        What the samples are called in the file.
    """

    labels: NDArray[Any]
    names: list[str] | None

    def __repr__(self) -> str:
        return f"<Labels: {len(self.labels)} rows>"


def read_labels(
    source: str | os.PathLike[str],
    *,
    label_columns: Sequence[str] = ("cluster", "label", "labels"),
    name_columns: Sequence[str] = ("row",),
) -> Labels:
    """Read a column of labels, and the column that says which samples they belong to.

    Parameters
    ----------
    source : str or path
        A table as for `read_table`, or a NPY file with a 1-D array.
    label_columns : sequence of str
        Names that the column of labels may have; the first that is found is used. If none is found
        and there is only one column besides that of names, that one is used.
    name_columns : sequence of str
        Names that the column of names may have; the file need not have such a column.

    Returns
    -------
    Labels

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from icvi_artmap.tables import read_labels
    >>> path = Path(tempfile.mkdtemp()) / "clusters.csv"
    >>> _ = path.write_text("row,cluster\\n1,b\\n2,a\\n")
    >>> found = read_labels(path)
    >>> found.labels.tolist(), found.names
    (['b', 'a'], ['1', '2'])
    """
    found = find_source(source)
    vector = found.format.read_vector(found)
    if vector is not None:
        return Labels(_complete(vector, found), None)
    columns = found.format.column_names(found, Request())
    names = next((name for name in name_columns if name in columns), None)
    rest = [name for name in columns if name != names]
    label = next((name for name in label_columns if name in rest), None)
    if label is None and len(rest) == 1:
        label = rest[0]
    if label is None:
        raise ValueError(
            message(
                f"{found.name} has no column {shown(label_columns[0])}, nor is there only one "
                "column that could hold the labels. It has: ",
                quoted(columns),
                ".",
            )
        )
    content = found.format.read(found, Request(None, label, names))
    if not len(content.values):
        raise ValueError(f"{found.name} has no rows.")
    choice = content.choice
    assert choice.label is not None
    labels = _complete(_labels(content.as_given[choice.label], found), found)
    if choice.ident is None:
        return Labels(labels, None)
    return Labels(labels, [str(cell).strip() for cell in content.as_given[choice.ident]])


def missing_labels(labels: NDArray[Any]) -> NDArray[np.bool_]:
    """Which labels are missing: NaN, or a text that stands for no value."""
    if labels.dtype.kind == "f":
        return np.isnan(labels)
    if labels.dtype.kind in "biu":
        return np.zeros(len(labels), np.bool_)
    return np.array([str(cell).strip().lower() in MISSING for cell in labels], np.bool_)


def _complete(labels: NDArray[Any], source: Source) -> NDArray[Any]:
    absent = np.flatnonzero(missing_labels(labels))
    if len(absent):
        raise ValueError(
            f"{source.name} has {counted(len(absent), 'row')} without a label; first is row "
            f"{absent[0] + 1}. Give every row a label."
        )
    return labels


def _treatment(missing: Any) -> str | NDArray[np.float64]:
    """What to do with missing values: a word, or the numbers to put in."""
    if isinstance(missing, str) and missing in ("refuse", "drop", "mean", "keep"):
        return missing
    if not isinstance(missing, str):
        try:
            values = np.array(missing, np.float64)
        except (TypeError, ValueError):
            values = np.empty((0, 0))
        if values.ndim == 1 and np.isfinite(values).all():
            return values
    raise ValueError(
        'missing must be "refuse", "drop", "mean" or "keep", or a number for every column, got '
        f"{shown(missing)}."
    )


def _table(content: Content, source: Source, missing: str | NDArray[np.float64]) -> Table:
    """Choose the columns, treat missing values, and say what was done."""
    choice, names = content.choice, content.names
    notes = [*content.notes, *note_on_sample(content)]
    if not len(content.values):
        raise ValueError(f"{source.name} has no rows.")
    words = {j: _coded_words(content, j) for j in choice.words}
    given = not isinstance(missing, str)
    if choice.features is None:
        features = _usable(content, source, notes, words, keep_empty=given and not content.tabular)
    else:
        features = choice.features
        for j in features:
            if j not in words:
                _check_asked_for(content, j, source, keep_empty=given or missing == "keep")
    X = content.values if features == list(range(len(names))) else content.values[:, features]
    used = [names[j] for j in features]

    given_rows = np.arange(len(X)) if content.rows is None else content.rows
    _refuse_infinite(X, used, given_rows, source)
    rows = np.arange(len(X))
    absent = np.isnan(X)
    if not isinstance(missing, str) and missing.shape != (X.shape[1],):
        raise WidthError(
            f"missing has {counted(len(missing), 'number')}, but {counted(X.shape[1], 'column')} "
            f"of {source.name} are used."
        )
    if absent.any() and (given or missing != "keep"):
        where = _first(absent, used, given_rows)
        X, rows = _without_missing(X, absent, where, source, missing, notes)
    constant = [name for name, column in zip(used, X.T, strict=True) if _is_constant(column)]
    if constant and len(X) > 1:
        notes.append(f"{CONSTANT} {_columns_of(constant)}.")

    labels = content.labels
    if choice.label is not None:
        labels = _labels(content.as_given[choice.label], source)
    ids = None
    if choice.ident is not None:
        cells = content.as_given[choice.ident]
        ids = [str(cells[row]) for row in rows]
    return Table(
        np.ascontiguousarray(X),
        tuple(used),
        ids,
        None if labels is None else labels[rows],
        given_rows[rows],
        tuple(notes),
        {names[j]: words[j] for j in features if j in words},
        len(content.values) if content.total is None else content.total,
    )


def _coded_words(content: Content, j: int) -> tuple[str, ...]:
    """The values of a column of text in their order; it gets their positions."""
    cells = [str(cell).strip() for cell in content.as_given[j]]
    words = sorted({cell for cell in cells if cell.lower() not in MISSING})
    place = {word: float(i) for i, word in enumerate(words)}
    content.values[:, j] = [place.get(cell, np.nan) for cell in cells]
    return tuple(words)


def _is_category(words: tuple[str, ...], n_rows: int) -> bool:
    return 1 < len(words) <= min(MOST_CATEGORIES, n_rows // 2)


def _usable(
    content: Content,
    source: Source,
    notes: list[str],
    words: dict[int, tuple[str, ...]],
    keep_empty: bool,
) -> list[int]:
    """The columns that hold data, as far as one can tell; those without any value if asked for."""
    features, identifiers, groups = [], [], []
    left_out: dict[Look, list[str]] = {Look.TEXT: [], Look.DATES: [], Look.NOTHING: []}
    booleans = []
    added = set(ADDED) if has_added(content.names) else set()
    for j, name in enumerate(content.names):
        if j in content.choice.apart | content.choice.excluded or name in added:
            continue
        if j in words:
            if name.strip().lower() in LABELS:
                groups.append(name)
            elif _is_category(words[j], len(content.values)):
                features.append(j)
            else:
                left_out[Look.TEXT].append(name)
            continue
        look = _look(content, j)
        if look in left_out and not (look == Look.NOTHING and keep_empty):
            _refuse_mostly_numbers(content, j, source)
            left_out[look].append(name)
        elif look == Look.IDENTIFIERS:
            identifiers.append(name)
        elif look == Look.GROUPS:
            groups.append(name)
        else:
            features.append(j)
            if look == Look.BOOLEANS:
                booleans.append(name)
    if left_out[Look.TEXT]:
        notes.append(f"Text, left out: {_columns_of(left_out[Look.TEXT])}.")
    if left_out[Look.DATES]:
        notes.append(f"Dates or times, left out: {_columns_of(left_out[Look.DATES])}.")
    if left_out[Look.NOTHING]:
        notes.append(f"Without any value, left out: {_columns_of(left_out[Look.NOTHING])}.")
    if identifiers:
        notes.append(
            "Row numbers or identifiers by the look of them, left out: "
            f"{_columns_of(identifiers)}. To use them, name them in {parameter('columns')}."
        )
    if groups:
        notes.append(
            f"Known groups by the look of them, left out: {_columns_of(groups)}. To compare with "
            f"them, name them as {parameter('label_column')}; to use them, in "
            f"{parameter('columns')}."
        )
    if added:
        notes.append(f"Added by an earlier fit, left out: {_columns_of(list(ADDED))}.")
    if booleans:
        notes.append(f"{TRUTH_VALUES}, taken as 0 and 1: {_columns_of(booleans)}.")
    if not features:
        raise ValueError(
            message(f"{source.name} has no column of numbers to use. ", " ".join(notes)).rstrip()
        )
    return features


def _look(content: Content, j: int) -> Look:
    """What a column seems to hold."""
    kind, name, values = _kind(content, j), content.names[j], content.values[:, j]
    if kind in (Kind.TEXT, Kind.DATE, Kind.MISSING):
        return {Kind.TEXT: Look.TEXT, Kind.DATE: Look.DATES, Kind.MISSING: Look.NOTHING}[kind]
    if content.tabular and _is_identifier(name, values):
        return Look.IDENTIFIERS
    if content.tabular and _is_groups(name, values, content.names):
        return Look.GROUPS
    return Look.BOOLEANS if kind == Kind.BOOLEAN else Look.NUMBERS


def _stray(content: Content, j: int) -> str:
    """The first cell that is no number, if nearly all others are."""
    if j not in content.strays:
        return ""
    stray = content.strays[j]
    if stray.numbers < MOSTLY_NUMBERS * (stray.numbers + stray.strays):
        return ""
    return f"{shown(stray.cell)} in row {stray.row + 1}"


def _kind(content: Content, j: int) -> Kind:
    """The kind of a column; one that is declared as numeric may have no number at all."""
    values, kind = content.values[:, j], content.kinds[j]
    if kind == Kind.NUMBER and np.isnan(values[0]) and np.isnan(values).all():
        return Kind.MISSING
    return kind


def _columns_of(names: list[str]) -> str:
    return f"{plural(len(names), 'column')} {quoted(names)}"


def _is_identifier(name: str, values: NDArray[np.float64]) -> bool:
    """Whether a column counts the rows, or has integers that are nearly all distinct.

    These must be nearly consecutive too, unless the column is called an identifier.
    """
    plain = name.strip().lower()
    called_so = plain in IDENTIFIERS or plain.endswith(("_id", " id"))
    numbers = values[~np.isnan(values)]
    if len(numbers) < DISTINCT * len(values) or not np.all(numbers == np.rint(numbers)):
        return False
    steps = np.diff(numbers)
    if len(values) >= COUNTING_ROWS and (np.all(steps == 1) or np.all(steps == -1)):
        return True
    if not called_so and len(values) < NUMBERED_ROWS:
        return False
    distinct = len(np.unique(numbers))
    if called_so and len(values) < NUMBERED_ROWS:
        return distinct == len(values)
    range_of_numbers = float(numbers.max() - numbers.min()) + 1.0
    consecutive = distinct >= (1.0 - LEFT_OUT) * range_of_numbers
    return distinct >= DISTINCT * len(numbers) and (called_so or consecutive)


def _is_groups(name: str, values: NDArray[np.float64], names: list[str]) -> bool:
    """Whether a column looks like known groups, which would give the clusters away."""
    plain = name.strip().lower()
    if plain not in LABELS:
        return False
    if plain == "y" and any(other.strip().lower() in COORDINATES for other in names):
        return False
    numbers = values[~np.isnan(values)]
    distinct = len(np.unique(numbers))
    return bool(np.all(numbers == np.rint(numbers)) and 1 < distinct <= len(values) // 2)


def _refuse_mostly_numbers(content: Content, j: int, source: Source) -> None:
    if j not in content.strays:
        return
    stray = content.strays[j]
    present = stray.numbers + stray.strays
    if stray.numbers / present >= MOSTLY_NUMBERS:
        raise ValueError(
            f"Column {shown(content.names[j])} of {source.name} holds numbers, but {stray.strays} "
            f"of {present} values are none: the first is {shown(stray.cell)} in row "
            f"{stray.row + 1}. Correct them, or name the columns to use in {parameter('columns')}."
        )


def _check_asked_for(content: Content, j: int, source: Source, keep_empty: bool) -> None:
    """Refuse a column that holds something else than numbers, or nothing at all."""
    kind, name = _kind(content, j), content.names[j]
    if kind in (Kind.NUMBER, Kind.BOOLEAN) or (kind == Kind.MISSING and keep_empty):
        return
    what = {
        Kind.MISSING: "has no values",
        Kind.DATE: "holds dates or times",
        Kind.TEXT: "holds text",
    }
    where = ""
    if j in content.strays:
        stray = content.strays[j]
        where = f" ({shown(stray.cell)} in row {stray.row + 1})"
    raise ValueError(
        f"Column {shown(name)} of {source.name} {what[kind]}{where}; columns of numbers are wanted."
    )


def _first(cells: NDArray[np.bool_], names: list[str], rows: NDArray[np.int64]) -> str:
    """Where the marked cells are: their columns, and the first row."""
    columns = [names[j] for j in np.flatnonzero(cells.any(axis=0))]
    return f"{_columns_of(columns)}; first in row {rows[np.argmax(cells.any(axis=1))] + 1}"


def _refuse_infinite(
    X: NDArray[np.float64], names: list[str], rows: NDArray[np.int64], source: Source
) -> None:
    # A sum is finite only if all terms are: most tables need no more than that.
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(X.sum()):
            return
    infinite = np.isinf(X)
    if infinite.any():
        raise ValueError(
            message(
                f"{source.name} has infinite values, or values too large for a float (",
                _first(infinite, names, rows),
                "). Correct them or delete these rows.",
            )
        )


def _without_missing(
    X: NDArray[np.float64],
    absent: NDArray[np.bool_],
    where: str,
    source: Source,
    missing: str | NDArray[np.float64],
    notes: list[str],
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    count = int(np.count_nonzero(absent))
    in_columns = where.split(";")[0]
    better = " (neighbours is better)" if speaks_of_options() else ""
    rows = np.arange(len(X))
    if isinstance(missing, str) and missing == "refuse":
        raise MissingValuesError(
            message(
                f"{source.name} has {counted(count, 'missing value')} (",
                where,
                f"). Try {parameter('missing', 'drop')}, which leaves out such rows, or "
                f"{parameter('missing', 'mean')}, which fills them in{better}.",
            )
        )
    incomplete = absent.any(axis=1)
    if isinstance(missing, str) and missing == "drop":
        if incomplete.all():
            raise ValueError(
                message(
                    f"In {source.name} every row has a missing value (",
                    where,
                    f"): nothing is left. Try {parameter('missing', 'mean')}, or name the columns "
                    f"to use in {parameter('columns')}.",
                )
            )
        notes.append(
            f"{np.count_nonzero(incomplete):,} of {len(X):,} rows with missing values were left "
            f"out ({in_columns})."
        )
        return X[~incomplete], rows[~incomplete]
    values, what = missing, GIVEN_VALUES
    if isinstance(values, str):
        values, what = np.nanmean(X, axis=0), "the mean of the column"
    X = np.where(absent, values, X)
    notes.append(
        f"{counted(count, 'missing value')} {'was' if count == 1 else 'were'} replaced by {what} "
        f"({in_columns})."
    )
    return X, rows


def _is_constant(column: NDArray[np.float64]) -> bool:
    return bool(column[0] == column[-1] and np.all(column == column[0]))


def _labels(cells: Any, source: Source) -> NDArray[Any]:
    """Labels, as numbers if all of them are written as numbers."""
    if isinstance(cells, np.ndarray):
        return cells
    try:
        integers = [int(cell) for cell in cells]
        if all(str(number) == cell for number, cell in zip(integers, cells, strict=True)):
            return np.array(integers, np.int64)
    except (ValueError, OverflowError):
        pass
    numbers = [read_number(cell) for cell in cells]
    if all(number is not None for number in numbers) and any("." in cell for cell in cells):
        return np.array(numbers, np.float64)
    return text_array(cells, source)
