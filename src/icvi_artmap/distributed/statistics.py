"""Index values and the scaling of rows that no machine has all of, in one pass over them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._support.wording import counted, plural, shown
from icvi_artmap.distributed import sums as exact
from icvi_artmap.distributed.computing import computed, imported_dask, reduced, task
from icvi_artmap.distributed.row_blocks import (
    Table,
    check_numbers,
    lengths_of,
    numbers_of,
    partitions_of,
    table_of,
)
from icvi_artmap.indices.base import Index
from icvi_artmap.indices.registry import PAPER, get_index
from icvi_artmap.prediction.index_value import score_of_moments
from icvi_artmap.samples.scaling import Scaling


def index_values(
    X: Any, labels: Any, indices: str | Index | Sequence[str | Index] = PAPER
) -> dict[str, float]:
    """Values of validity indices for any partition of a Dask array or dataframe.

    Every block is read once: its moments by cluster are all that an index needs, and they merge
    exactly. The values are those of :func:`icvi_artmap.index_value` on all rows in memory, up to
    rounding.

    Parameters
    ----------
    X : Dask array of shape (n_samples, n_features) or Dask dataframe
        Numbers without missing values.
    labels : Dask array or series, or array-like, of shape (n_samples,)
        Cluster of every row: integers or strings.
    indices : str, Index or sequence of them, default=("NI", "CH", "WB", "XB", "DB", "PBM")
        As in :class:`icvi_artmap.ICVIARTMAP`.

    Returns
    -------
    dict of str to float
        The value of every index by its name, in its own sign.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from icvi_artmap.distributed import index_values
    >>> X = da.from_array(np.array([[0.0], [1.0], [10.0], [11.0]]), chunks=(3, 1))
    >>> {name: round(value, 6) for name, value in index_values(X, [0, 0, 1, 1], "CH").items()}
    {'CH': 200.0}
    """
    wanted = [indices] if isinstance(indices, (str, Index)) else list(indices)
    found = [get_index(index) for index in wanted]
    if not found:
        raise ValueError("indices is empty; name at least one index.")
    table = table_of(X)
    check_numbers(table)
    with_scatter = any(index.needs_scatter for index in found)
    parts = [
        task(_sums, block, own, number, with_scatter)
        for number, (block, own) in enumerate(
            zip(table.blocks, _labels(table, labels), strict=True)
        )
    ]
    whole = computed(reduced(parts, exact.merged))
    if whole is None:
        raise ValueError("X has no rows; at least one is needed.")
    exact.scaling(whole)  # refuses ranges that are too large or too small
    moments = exact.standardised(whole)
    return {index.name: index.value(score_of_moments(moments, index)) for index in found}


def learn_scaling(X: Any) -> Scaling:
    """How the columns of a Dask array or dataframe are scaled: ranges, means and deviations.

    Every block is read once; the parts merge exactly.

    Parameters
    ----------
    X : Dask array of shape (n_samples, n_features) or Dask dataframe
        Numbers without missing values.

    Returns
    -------
    Scaling
        ``minimum``, ``span``, ``mean``, ``deviation`` and ``unit``, an entry for every column;
        ``standardise`` and ``min_max`` scale rows by them.

    Examples
    --------
    >>> import dask.array as da
    >>> from icvi_artmap.distributed import learn_scaling
    >>> scaling = learn_scaling(da.arange(12, chunks=4).reshape(6, 2))
    >>> scaling.mean, scaling.span
    (array([5., 6.]), array([10., 10.]))
    """
    table = table_of(X)
    check_numbers(table)
    parts = [task(_sums, block, None, i, False) for i, block in enumerate(table.blocks)]
    whole = computed(reduced(parts, exact.merged))
    if whole is None:
        raise ValueError("X has no rows; at least one is needed.")
    return exact.scaling(whole)


def _labels(table: Table, labels: Any) -> list[Any]:
    """The labels of every block, as lazy as they are."""
    dask = imported_dask()
    if isinstance(labels, dask.dataframe.Series):
        parts = partitions_of(labels)
        if len(parts) != len(table.blocks):
            raise ValueError(
                f"labels have {counted(len(parts), 'partition')} and X has {len(table.blocks)}. "
                "Cut both alike, for example by labels.repartition."
            )
        return parts
    if isinstance(labels, dask.array.Array):
        if labels.ndim != 1:
            raise ValueError(f"labels must have one dimension, got shape {labels.shape}.")
        same = len(labels.chunks[0]) == len(table.blocks)
        if same and np.isnan(labels.shape[0]):
            return list(labels.to_delayed())  # each block is compared with its labels
        sizes = lengths_of(table)
        if np.isnan(labels.shape[0]):
            raise ValueError(
                f"labels have {counted(len(labels.chunks[0]), 'chunk')} of unknown sizes and X has "
                f"{len(table.blocks)}. Use labels.compute_chunk_sizes() first."
            )
        _check_length(int(labels.shape[0]), int(sizes.sum()))
        return list(labels.rechunk((tuple(sizes.tolist()),)).to_delayed())
    known = np.asarray(labels)
    if known.ndim != 1:
        raise ValueError(
            f"labels must have one dimension, got {shown(labels)} of shape {known.shape}."
        )
    sizes = lengths_of(table)
    _check_length(len(known), int(sizes.sum()))
    return np.split(known, np.cumsum(sizes)[:-1])


def _check_length(labels: int, rows: int) -> None:
    if labels != rows:
        raise ValueError(
            f"labels have {counted(labels, 'entry')} and X has {counted(rows, 'row')}; give every "
            "row a cluster."
        )


def _sums(block: Any, labels: Any, number: int, with_scatter: bool) -> Any:
    """What is summed of one block."""
    rows = numbers_of(block, number)
    if labels is None:
        return exact.sums_of(rows, None, with_scatter)
    own: NDArray[Any] = np.asarray(labels)
    if len(own) != len(rows):
        raise ValueError(
            f"Chunk {number} of X has {counted(len(rows), 'row')} and {len(own)} "
            f"{plural(len(own), 'label')}. Cut both alike, or give labels that are no Dask array."
        )
    if own.dtype.kind == "f" and not np.isfinite(own).all():
        raise ValueError(f"labels of chunk {number} contain NaN or infinity.")
    if own.dtype.kind == "O":
        own = own.astype(str)
    return exact.sums_of(rows, own, with_scatter)
