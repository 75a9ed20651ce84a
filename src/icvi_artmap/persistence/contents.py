"""The arrays of a file, and checks that all of them have to pass."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi_artmap.persistence.file_format import Arrays, ContentError, shortened
from icvi_artmap.samples.moments import symmetric

#: Standardised data are of the order of 1: the squares of their moments must not overflow.
LARGEST_MOMENT = 1e100
#: Rounding of a scatter matrix, as a part of its trace and of 1.
SCATTER_ROUNDING = 1e-9
#: Samples, counted as integers but used as floats.
MOST_SAMPLES = 1 << 53
#: A cluster has a category, or lost it to another: k is of the order of the categories. Without
#: a bound a small file could ask for a huge k, and predicting needs memory with its square.
ANY_CLUSTERS, CLUSTERS_PER_CATEGORY = 1000, 8


class Contents:
    """The arrays of a file. Each is taken once, and must be what it is taken for."""

    def __init__(self, arrays: Arrays) -> None:
        self._left = dict(arrays)

    def __contains__(self, name: str) -> bool:
        return name in self._left

    def take(
        self,
        name: str,
        dtype: type[np.generic] | None,
        *shape: int | None,
        infinite: bool = False,
    ) -> NDArray[Any]:
        """An array without NaN; None in the shape: any number but 0. ``dtype`` None: any."""
        if name not in self._left:
            raise ContentError(f"the array {name!r} is missing")
        array = self._left.pop(name)
        if dtype is not None and array.dtype != dtype:
            raise ContentError(f"{name!r} has type {array.dtype}, expected {np.dtype(dtype)}")
        if array.ndim != len(shape) or not all(
            side == wanted if wanted is not None else side > 0
            for side, wanted in zip(array.shape, shape, strict=True)
        ):
            expected = ", ".join("any" if side is None else str(side) for side in shape)
            raise ContentError(f"{name!r} has shape {array.shape}, expected ({expected})")
        if array.dtype.kind == "f":
            wrong = np.isnan(array).any() if infinite else not np.isfinite(array).all()
            if wrong:
                raise ContentError(f"{name!r} has NaN{'' if infinite else ' or infinity'}")
        return array

    def take_any(self, name: str, dtype: type[np.generic], width: int) -> NDArray[Any]:
        """Any number of rows, also none, of this width."""
        if name in self._left and self._left[name].shape == (0, width):
            array = self._left.pop(name)
            if array.dtype != dtype:
                raise ContentError(f"{name!r} has type {array.dtype}, expected {np.dtype(dtype)}")
            return array
        return self.take(name, dtype, None, width)

    def positions(self, name: str, n: int | None, below: int) -> NDArray[np.int64]:
        """Integers from 0 to ``below`` - 1."""
        array = self.take(name, np.int64, n)
        check_between(name, array, 0, below - 1)
        return array

    def check_empty(self) -> None:
        if self._left:
            raise ContentError(
                f"the array {shortened(min(self._left))} does not belong to its class"
            )


def check_between(name: str, array: NDArray[Any], low: float, high: float) -> None:
    if array.size and not (array.min() >= low and array.max() <= high):
        raise ContentError(
            f"{name!r} has values from {array.min():g} to {array.max():g}, expected {low:g} to "
            f"{high:g}"
        )


def check_scatter(name: str, upper: NDArray[np.float64], i: int) -> None:
    """No variance is negative, in whatever direction."""
    diagonal = np.arange(len(upper))
    whole = symmetric(upper)
    whole[diagonal, diagonal] += SCATTER_ROUNDING * (1.0 + abs(np.trace(whole)))
    try:
        np.linalg.cholesky(whole)
    except np.linalg.LinAlgError:
        raise ContentError(f"{name!r} of cluster {i} has a negative variance") from None
