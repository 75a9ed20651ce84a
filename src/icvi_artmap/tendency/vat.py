"""VAT and iVAT: an order in which the clusters of the data lie side by side."""

from __future__ import annotations

import os
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from icvi_artmap.tendency.distances import Distances, Euclidean, Given, PathRows, image

METRICS = ("euclidean", "precomputed")
#: How far given distances may miss symmetry, or 0 on the diagonal, in parts of the largest one.
TOLERANCE = 1e-6
#: A picture has no use for more pixels than a screen shows.
MOST_PIXELS = 2000
#: Rows and columns compared at a time: such a square fits into the cache, turned or not.
SIDE = 256
#: Memory of a machine that does not tell, in bytes.
UNKNOWN_MEMORY = 16 * 2**30


@overload
def vat(
    X: ArrayLike, *, metric: str = ..., return_distances: Literal[False] = ...
) -> NDArray[np.int64]: ...
@overload
def vat(
    X: ArrayLike, *, metric: str = ..., return_distances: Literal[True]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]: ...
@overload
def vat(
    X: ArrayLike, *, metric: str = ..., return_distances: bool
) -> NDArray[np.int64] | tuple[NDArray[np.int64], NDArray[np.float64]]: ...
def vat(
    X: ArrayLike, *, metric: str = "euclidean", return_distances: bool = False
) -> NDArray[np.int64] | tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Order the samples so that those of a cluster follow each other (VAT).

    The first sample is one end of the largest distance. Next comes, again and again, the sample
    nearest to any of those that have come already.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features), or (n_samples, n_samples)
        The samples, taken as they are: scale them first if their features have different units.
        With ``metric="precomputed"`` their distances.
    metric : {"euclidean", "precomputed"}, default="euclidean"
        Euclidean distances of the samples, or distances that are given.
    return_distances : bool, default=False
        Whether to return the distances in the new order, too: n_samples² numbers.

    Returns
    -------
    order : ndarray of shape (n_samples,)
        Row of ``X`` that comes first, second, and so on.
    distances : ndarray of shape (n_samples, n_samples)
        ``distances[i, j]`` is the distance of samples ``order[i]`` and ``order[j]``. Only with
        ``return_distances=True``.

    See Also
    --------
    ivat : Path distances in this order, for a picture with more contrast.
    VATDisplay : The picture.

    Notes
    -----
    Of several pairs at the largest distance, the first in the order of rows counts, and its row
    comes first; of equally near samples, that with the smallest row number comes next. Squared
    distances are compared, as the root can make two of them equal. Time is of the order of
    n_samples² · n_features, memory that of a copy of the data.

    References
    ----------
    J. C. Bezdek and R. J. Hathaway, "VAT: a tool for visual assessment of (cluster) tendency",
    IJCNN 2002.

    Examples
    --------
    >>> from icvi_artmap import vat
    >>> vat([[0.0], [10.0], [1.0], [11.0]])
    array([0, 2, 1, 3])
    >>> order, distances = vat([[0.0], [10.0], [1.0], [11.0]], return_distances=True)
    >>> distances
    array([[ 0.,  1., 10., 11.],
           [ 1.,  0.,  9., 10.],
           [10.,  9.,  0.,  1.],
           [11., 10.,  1.,  0.]])
    """
    distances = checked_distances(X, metric)
    if not return_distances:
        return distances.traverse().order
    _refuse_too_large(distances.n, "vat(X) without return_distances, or VATDisplay.from_data(X)")
    order = distances.traverse().order
    return order, image(distances.in_order(order), distances.n)


def ivat(
    X: ArrayLike, *, metric: str = "euclidean", size: int | None = None
) -> NDArray[np.float64]:
    """Path distances in the order of :func:`vat` (iVAT).

    A path from one sample to another leads over any others; it is as long as its longest step. The
    path distance is that of the shortest path: small inside a cluster of any shape, and as large as
    the gap between two clusters.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features), or (n_samples, n_samples)
        As for :func:`vat`.
    metric : {"euclidean", "precomputed"}, default="euclidean"
        As for :func:`vat`.
    size : int, optional
        Return the means of ``size`` × ``size`` blocks, without ever holding a larger array. By
        default every path distance.

    Returns
    -------
    ndarray of shape (n_samples, n_samples) or (size, size)
        Element (i, j) belongs to samples ``order[i]`` and ``order[j]``, with ``order = vat(X)``.

    References
    ----------
    T. C. Havens and J. C. Bezdek, "An efficient formulation of the improved visual assessment of
    cluster tendency (iVAT) algorithm", IEEE Transactions on Knowledge and Data Engineering 24(5),
    2012.

    Examples
    --------
    >>> from icvi_artmap import ivat
    >>> ivat([[0.0], [10.0], [1.0], [11.0]])
    array([[0., 1., 9., 9.],
           [1., 0., 9., 9.],
           [9., 9., 0., 1.],
           [9., 9., 1., 0.]])
    """
    distances = checked_distances(X, metric)
    if size is None:
        _refuse_too_large(distances.n, f"ivat(X, size={MOST_PIXELS})")
    pixels = distances.n if size is None else checked_size(size, distances.n)
    return image(PathRows(distances.traverse().links), pixels)


def checked_distances(X: ArrayLike, metric: str) -> Distances:
    if metric not in METRICS:
        raise ValueError(f'metric must be "euclidean" or "precomputed", got {metric!r}.')
    name = "X" if metric == "euclidean" else "distances"
    array = check_array(X, dtype=[np.float64, np.float32], input_name=name)
    if metric == "euclidean":
        return Euclidean(array)
    _check_distances(array)
    return Given(array)


def _check_distances(distances: NDArray[np.floating]) -> None:
    n = len(distances)
    if distances.shape != (n, n):
        raise ValueError(
            f"Distances have shape {distances.shape}, but a square matrix is expected: a row and "
            'a column for every sample. For samples with features use metric="euclidean".'
        )
    tolerance = TOLERANCE * max(float(distances.max()), 0.0)
    if (least := float(distances.min())) < -tolerance:
        raise ValueError(
            f"Distances must not be negative, but the least is {least:g}. If these are "
            "similarities s, try s.max() - s."
        )
    diagonal = distances.diagonal()
    if (largest := float(diagonal.max())) > tolerance:
        i = int(diagonal.argmax())
        raise ValueError(
            f"The distance of a sample to itself must be 0, but that of sample {i} is "
            f"{largest:g}. If these are similarities s, try s.max() - s."
        )
    sides = [slice(at, min(at + SIDE, n)) for at in range(0, n, SIDE)]
    for number, rows in enumerate(sides):
        for columns in sides[number:]:
            difference = np.abs(distances[rows, columns] - distances[columns, rows].T)
            if float(difference.max()) > tolerance:
                place = np.unravel_index(difference.argmax(), difference.shape)
                i, j = rows.start + int(place[0]), columns.start + int(place[1])
                raise ValueError(
                    f"Distances must be symmetric, but that of samples {i} and {j} is "
                    f"{distances[i, j]:g} and {distances[j, i]:g}. Try (D + D.T) / 2."
                )


def checked_size(size: Any, n: int, name: str = "size") -> int:
    """So many pixels, but no more than objects."""
    if isinstance(size, (bool, np.bool_)) or not isinstance(size, (int, np.integer)):
        raise TypeError(f"{name} must be an integer, got {size!r} of type {type(size).__name__}.")
    if size < 1:
        raise ValueError(f"{name} must be at least 1, got {size}.")
    return min(int(size), n)


def _memory() -> int:
    """Bytes of memory of this machine."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return UNKNOWN_MEMORY


def _refuse_too_large(n: int, instead: str) -> None:
    need, there = 8 * n * n, _memory()
    if need > there:
        raise MemoryError(
            f"The distances of {n:,} samples are a matrix of {need / 2**30:,.1f} GiB; this machine "
            f"has {there / 2**30:,.1f} GiB. Use {instead}."
        )
