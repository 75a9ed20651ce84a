"""What a fitted model says of rows that no machine has all of: block by block, and lazily."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from icvi_artmap._support.wording import counted, plural
from icvi_artmap.distributed.computing import imported_dask, shared, task
from icvi_artmap.distributed.row_blocks import Table, in_block, partitions_of, table_of
from icvi_artmap.estimators.all_rows import without_samples
from icvi_artmap.estimators.icvi_artmap import ICVIARTMAP

#: The name of a series of labels.
NAME = "cluster"


def predict(model: Any, X: Any) -> Any:
    """Cluster of every row of a Dask array or dataframe, found block by block when it is asked for.

    Parameters
    ----------
    model : fitted estimator with a method ``predict``
        As :class:`icvi_artmap.ICVIARTMAP`, or what :func:`icvi_artmap.load` returns.
    X : Dask array of shape (n_samples, n_features) or Dask dataframe
        Any rows, in the units of the training data. The columns of a dataframe may have any order
        if the model was fitted on columns with names.

    Returns
    -------
    Dask array or series
        Lazy, cut as ``X`` is. A dataframe gives a series with its index.

    Examples
    --------
    >>> import dask.array as da
    >>> from icvi_artmap import ICVIARTMAP
    >>> from icvi_artmap.datasets import make_gaussian_clusters
    >>> from icvi_artmap.distributed import predict
    >>> X, y = make_gaussian_clusters(4, 2, random_state=0)
    >>> model = ICVIARTMAP(n_clusters=4, random_state=0).fit(X)
    >>> labels = predict(model, da.from_array(X, chunks=(100, 2)))
    >>> bool((labels.compute() == model.predict(X)).all())
    True
    """
    model = getattr(model, "model_", model)
    check_is_fitted(model)
    table = table_of(X, getattr(model, "feature_names_in_", None) if _has_names(X) else None)
    expected = getattr(model, "n_features_in_", table.n_features)
    if table.n_features != expected:
        raise ValueError(
            f"X has {table.n_features} columns, but the model was fitted on {expected}. Give the "
            "columns of the fit."
        )
    told = shared(without_samples(model) if isinstance(model, ICVIARTMAP) else model)
    tasks = [task(_predicted, block, told, i) for i, block in enumerate(table.blocks)]
    return labels_of(table, tasks)


def _has_names(X: Any) -> bool:
    return hasattr(X, "columns")


def _predicted(block: Any, model: Any, number: int) -> Any:
    labels = np.empty(0, np.int64)
    if len(block) > 0:
        labels = in_block(number, model.predict, block)
    return like_block(block, labels)


def like_block(block: Any, labels: NDArray[np.int64]) -> Any:
    """The labels of a block: a series with its index, if it has one."""
    if not hasattr(block, "columns"):
        return labels
    import pandas as pd

    return pd.Series(labels, index=block.index, name=NAME, dtype=labels.dtype)


def labels_of(table: Table, tasks: list[Any]) -> Any:
    """The labels of all blocks as one lazy array or series."""
    dask = imported_dask()
    if table.is_frame:
        divisions = tuple(table.given.divisions)
        return dask.dataframe.from_delayed(
            tasks, meta=(NAME, np.int64), divisions=divisions, verify_meta=False
        )
    parts = [
        dask.array.from_delayed(one, shape=(size,), dtype=np.int64)
        for one, size in zip(tasks, table.given.chunks[0], strict=True)
    ]
    return dask.array.concatenate(parts)


def with_labels(X: Any, labels: Any, name: str = NAME) -> Any:
    """A Dask dataframe with labels as its last column, block by block and lazily.

    ``X.assign`` would align rows by their index, which moves all of them where the divisions of the
    index are not known, as of Parquet files.

    Parameters
    ----------
    X : Dask dataframe
    labels : Dask series
        Cut as ``X`` is, as :func:`predict` and ``labels_`` of :class:`DistributedICVIARTMAP` are.
    name : str, default="cluster"
        The name of the column; a column of that name is replaced.

    Returns
    -------
    Dask dataframe

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> import pandas as pd
    >>> from icvi_artmap.distributed import with_labels
    >>> X = dd.from_pandas(pd.DataFrame({"a": [1.0, 2.0, 9.0]}), npartitions=2)
    >>> labels = dd.from_pandas(pd.Series([0, 0, 1]), npartitions=2)
    >>> with_labels(X, labels).compute()["cluster"].tolist()
    [0, 0, 1]
    """
    dask = imported_dask()
    table = table_of(X)
    if not table.is_frame or not isinstance(labels, dask.dataframe.Series):
        raise TypeError(
            "A Dask dataframe and a Dask series of labels are wanted, got "
            f"{type(X).__name__} and {type(labels).__name__}."
        )
    parts = partitions_of(labels)
    if len(parts) != len(table.blocks):
        raise ValueError(
            f"labels have {counted(len(parts), 'partition')} and X has {len(table.blocks)}. Give "
            "the labels of this dataframe."
        )
    both = zip(table.blocks, parts, strict=True)
    tasks = [task(_labelled, block, own, name, i) for i, (block, own) in enumerate(both)]
    meta = X._meta.assign(**{name: np.empty(0, np.int64)})
    divisions = tuple(X.divisions)
    return dask.dataframe.from_delayed(tasks, meta=meta, divisions=divisions, verify_meta=False)


def _labelled(block: Any, labels: Any, name: str, number: int) -> Any:
    if len(block) != len(labels):
        raise ValueError(
            f"Chunk {number} of X has {counted(len(block), 'row')} and {len(labels)} "
            f"{plural(len(labels), 'label')}. Give the labels of this dataframe."
        )
    return block.assign(**{name: np.asarray(labels)})
