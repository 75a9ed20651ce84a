"""Dask arrays and dataframes as blocks of rows, and what a block must be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._support.wording import counted, quoted, shown
from icvi_artmap.distributed.computing import computed, imported_dask, task


class Table(NamedTuple):
    """A Dask array or dataframe, cut into blocks of whole rows."""

    given: Any  #: the collection itself, with one chunk of columns
    blocks: list[Any]  #: lazy: a NumPy array or a pandas DataFrame each
    names: list[str] | None  #: of the columns of a dataframe, in their order
    n_features: int

    @property
    def is_frame(self) -> bool:
        return self.names is not None


def table_of(X: Any, columns: Any = None) -> Table:
    """The blocks of a Dask array or dataframe; refused if it is neither.

    ``columns``: names in the order in which a dataframe shall have them.
    """
    dask = imported_dask()
    if isinstance(X, dask.array.Array):
        if X.ndim != 2:
            raise ValueError(f"X must have two dimensions, rows and columns, got shape {X.shape}.")
        if X.shape[1] == 0:
            raise ValueError("X has no columns; at least one is needed.")
        whole = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
        return Table(whole, list(whole.to_delayed().ravel()), None, int(X.shape[1]))
    if isinstance(X, dask.dataframe.DataFrame):
        names = list(X.columns)
        _check_names(names, columns)
        if columns is not None and list(columns) != names:
            X, names = X[list(columns)], list(columns)
        return Table(X, partitions_of(X), [str(name) for name in names], len(names))
    raise TypeError(
        f"X must be a Dask array or a Dask dataframe, got {type(X).__name__}. Make one with "
        "dask.array.from_array(X, chunks=...) or dask.dataframe.read_parquet(...); what fits into "
        "memory is for ICVIARTMAP and index_value."
    )


def partitions_of(collection: Any) -> list[Any]:
    """The partitions of a dataframe or series, lazily.

    They are not optimised: Dask would read several files as one partition where few of their
    columns are used, and another number of them than of a dataframe with all columns.
    """
    return list(collection.to_delayed(optimize_graph=False))


def _check_names(names: list[Any], columns: Any) -> None:
    """Every name is there once, and those asked for are those there are."""
    if not names:
        raise ValueError("X has no columns; at least one is needed.")
    repeated = [name for name in names if names.count(name) > 1]
    if repeated:
        raise ValueError(
            f"X has more than one column {shown(repeated[0])}. Give each column a name of its own."
        )
    if columns is None:
        return
    absent = [str(name) for name in columns if name not in names]
    more = [str(name) for name in names if name not in list(columns)]
    if absent or more:
        told = [f"without {quoted(absent)}"] if absent else []
        told += [f"with {quoted(more)} besides"] if more else []
        raise ValueError(
            f"X comes {' and '.join(told)}; the columns of the fit are wanted, in any order. "
            "Choose them by name: X[[...]]."
        )


def check_numbers(table: Table) -> None:
    """Refuse columns that are no numbers, before anything is read."""
    if table.is_frame:
        kinds = {str(name): dtype for name, dtype in table.given.dtypes.items()}
        wrong = [name for name, dtype in kinds.items() if not _is_number(dtype)]
        if wrong:
            raise ValueError(
                f"Columns of X that have no numbers: {quoted(wrong)}. Leave them out, or turn them "
                "into numbers first."
            )
    elif table.given.dtype.kind not in "biuf":
        raise ValueError(f"X has type {table.given.dtype}; numbers are wanted.")


def _is_number(dtype: Any) -> bool:
    kind = getattr(dtype, "kind", "O")
    return kind in "biuf"


# --- inside of tasks -----------------------------------------------------------------------------


def numbers_of(block: Any, number: int) -> NDArray[np.float64]:
    """The rows of a block as floats, all of them finite. ``number``: of the block, from 0."""
    if hasattr(block, "columns"):
        rows = block.to_numpy(dtype=np.float64, na_value=np.nan)
    else:
        rows = np.asarray(block, np.float64)
    rows = np.ascontiguousarray(rows)
    finite = np.isfinite(rows)
    if not finite.all():
        s, f = (int(at[0]) for at in np.nonzero(~finite))
        name = shown(str(block.columns[f])) if hasattr(block, "columns") else str(f)
        raise ValueError(
            f"X contains {'NaN' if np.isnan(rows[s, f]) else 'infinity'}: chunk {number}, row {s} "
            f"of it, column {name}. Leave out such rows, or fill them in."
        )
    return rows


def in_block(number: int, function: Callable[[Any], Any], block: Any) -> Any:
    """A call about a block, whose errors say which block it was."""
    try:
        return function(block)
    except (ValueError, TypeError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"Chunk {number} of X: {error}") from None


def _taken(block: Any, rows: NDArray[np.int64]) -> Any:
    return block.iloc[rows] if hasattr(block, "iloc") else np.asarray(block)[rows]


# --- rows by their numbers -----------------------------------------------------------------------


def lengths_of(table: Table) -> NDArray[np.int64]:
    """Rows of every block; where Dask does not know them, all are read for that."""
    if not table.is_frame:
        sizes = table.given.chunks[0]
        if not np.isnan(np.asarray(sizes, np.float64)).any():
            return np.array(sizes, np.int64)
    return np.array(computed([task(len, block) for block in table.blocks]), np.int64)


def taken(table: Table, lengths: NDArray[np.int64], rows: NDArray[np.int64]) -> Any:
    """These rows in memory, in rising order: an array, or a DataFrame with the row numbers."""
    ends = np.cumsum(lengths)
    block_of = np.searchsorted(ends, rows, side="right")
    parts = [
        task(_taken, table.blocks[b], rows[block_of == b] - (ends[b] - lengths[b]))
        for b in np.unique(block_of)
    ]
    found = computed(parts)
    if not table.is_frame:
        return np.concatenate(found)
    import pandas as pd

    return pd.concat(found, ignore_index=True)


def take_rows(X: Any, rows: Any) -> Any:
    """Rows of a Dask array or dataframe by their numbers, in memory.

    Parameters
    ----------
    X : Dask array of shape (n_samples, n_features) or Dask dataframe
    rows : array-like of int
        Numbers of rows, from 0, as ``sample_rows_`` of :class:`DistributedICVIARTMAP` has them.

    Returns
    -------
    ndarray or pandas DataFrame
        The rows in the order of their numbers.

    Examples
    --------
    >>> import dask.array as da
    >>> from icvi_artmap.distributed import take_rows
    >>> X = da.arange(12, chunks=4).reshape(6, 2)
    >>> take_rows(X, [0, 4])
    array([[0, 1],
           [8, 9]])
    """
    table = table_of(X)
    lengths = lengths_of(table)
    numbers = np.unique(np.asarray(rows, np.int64))
    n = int(lengths.sum())
    if len(numbers) == 0 or numbers[0] < 0 or numbers[-1] >= n:
        raise ValueError(
            f"rows must be numbers from 0 to {n - 1:,} of the {counted(n, 'row')} of X, got "
            f"{shown(rows)}."
        )
    return taken(table, lengths, numbers)
