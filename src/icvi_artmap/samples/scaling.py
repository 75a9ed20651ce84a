"""Two views of the data: min-max scaled and complement coded for ARTa, standardised for the index.

Both are affine images of the data, so one copy serves both. It holds the min-max scaled values
(their complement code must be bit-equal from run to run, since choice values tie); the standardised
row is table * scale + shift. That costs accuracy only through span / deviation, which is at most
sqrt(2 N).

Of many float32 rows there is no such copy, which would be twice as large as they are: they stay
where they are, and a row is scaled whenever it is looked at, by the same operations, so to the same
bits. That takes time, as the rows are not in the order of presentation.

Only an index that asks for it has a second copy: the standardised data along their principal axes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._compile.jit import inline
from icvi_artmap._support.threads import one_thread

#: A deviation is at least the span divided by the square root of twice the number of samples. With
#: a span from here on it is a normal number, for as many samples as can be clustered.
LEAST_SPAN = float(np.finfo(np.float64).tiny) * 2.0**20
#: Rows converted at a time, so that no temporary is as large as the data.
BLOCK_ROWS = 4096
#: Rows of fewer numbers than this are seen side by side: NumPy takes long for many short ones.
LINE = 1024
#: float32 rows stay where they are from this number of bytes on: a float64 copy of fewer is made,
#: as it is faster to look at.
IN_PLACE = 2**25


class Scaling(NamedTuple):
    """Scaling parameters of the training data, one entry per feature (rule 1)."""

    minimum: NDArray[np.float64]
    span: NDArray[np.float64]
    mean: NDArray[np.float64]
    deviation: NDArray[np.float64]
    #: What the index's features are divided by: the deviation, or more where values are coarse.
    unit: NDArray[np.float64]

    def min_max(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Data units to [0, 1]; values outside the training range leave the interval."""
        return (X - self.minimum) / self.span

    def min_max_inverse(self, scaled: NDArray[np.float64]) -> NDArray[np.float64]:
        return scaled * self.span + self.minimum

    def standardise(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Data units to features as the index sees them."""
        return (X - self.mean) / self.unit

    def standardise_inverse(self, standard: NDArray[np.float64]) -> NDArray[np.float64]:
        return standard * self.unit + self.mean

    def in_deviations(self) -> Scaling:
        """The same with features that are divided by their deviations, and by no more."""
        return self._replace(unit=self.deviation)


class Data(NamedTuple):
    """What kernels see of the data: rows to be scaled when they are looked at."""

    table: NDArray[np.float64]  #: (N, d) min-max scaled; (0, d) if rows are ``given``
    scale: NDArray[np.float64]  #: (d,) standardised = table * scale + shift
    shift: NDArray[np.float64]  #: (d,)
    turned: NDArray[np.float64]  #: (N, d) standardised, along ``axes``; (0, d) if not turned
    axes: NDArray[np.float64]  #: (d, d) principal axes, one per row; (0, d) if not turned
    given: NDArray[np.float32]  #: the user's rows, which are only read; (0, d) if there is a table
    place: NDArray[np.int64]  #: (N,) row of ``given`` of every sample
    minimum: NDArray[np.float64]  #: (d,) table = (given - minimum) / span
    span: NDArray[np.float64]  #: (d,)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of samples and of features."""
        return len(self.place) or len(self.table), len(self.scale)

    def coded(self, rows: Any) -> NDArray[np.float64]:
        """These samples, min-max scaled: rows of the table."""
        if len(self.place) == 0:
            return self.table[rows]
        return (self.given[self.place[rows]] - self.minimum) / self.span

    def turned_back(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Points as the index sees them, in standardised features."""
        return points @ self.axes if len(self.axes) else points

    def min_max(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Points as the index sees them, scaled as the table is."""
        return (self.turned_back(points) - self.shift) / self.scale

    def not_turned(self) -> Data:
        """The same samples, seen in standardised features."""
        nothing = np.empty((0, self.shape[1]))
        return self._replace(turned=nothing, axes=nothing)

    def scaled(self, scaling: Scaling) -> Data:
        """The same samples, not turned, for an index that sees its features in these units."""
        scale = scaling.span / scaling.unit
        shift = (scaling.minimum - scaling.mean) / scaling.unit
        return self.not_turned()._replace(scale=scale, shift=shift)

    def take(self, rows: NDArray[np.int64]) -> Data:
        """Only these samples, in a table."""
        part = plain_data(self.coded(rows), self.scale, self.shift)
        return part._replace(turned=self.turned[rows], axes=self.axes) if len(self.axes) else part

    def along_first_axes(self, count: int) -> Data:
        """What there is of turned samples along the axes of largest variance, as features."""
        return plain_data(self.turned[:, :count].copy(), np.ones(count), np.zeros(count))

    def standardised(self, rows: Any) -> NDArray[np.float64]:
        """x^b of these samples, as the index sees them."""
        return self.turned[rows] if len(self.axes) else self.coded(rows) * self.scale + self.shift


def plain_data(
    table: NDArray[np.float64], scale: NDArray[np.float64], shift: NDArray[np.float64]
) -> Data:
    """Data in a table, not turned."""
    d = table.shape[1]
    nothing, given = np.empty((0, d)), np.empty((0, d), np.float32)
    place, minimum, span = np.empty(0, np.int64), np.zeros(d), np.ones(d)
    return Data(table, scale, shift, nothing, nothing, given, place, minimum, span)


def blocks(n_rows: int) -> list[slice]:
    """Slices of ``BLOCK_ROWS`` rows that cover ``n_rows``."""
    return [slice(a, min(a + BLOCK_ROWS, n_rows)) for a in range(0, n_rows, BLOCK_ROWS)]


def _side_by_side(X: NDArray[np.floating]) -> int:
    """How many rows of X to see as one line."""
    n_samples, d = X.shape
    return max(1, min(LINE // d, n_samples)) if X.flags.c_contiguous else 1


def _extremes(X: NDArray[np.floating]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Minimum and maximum of every column."""
    n_samples, d = X.shape
    together = _side_by_side(X)
    whole = n_samples // together * together
    lines = X[:whole].reshape(-1, together * d)
    least = np.vstack([lines.min(axis=0).reshape(-1, d), X[whole:]])
    most = np.vstack([lines.max(axis=0).reshape(-1, d), X[whole:]])
    return least.min(axis=0).astype(np.float64), most.max(axis=0).astype(np.float64)


class _Scaler:
    """x -> (x - offset) / unit, one of each for a feature."""

    def __init__(self, offset: NDArray[np.float64], unit: NDArray[np.float64]) -> None:
        times = max(1, LINE // len(offset))
        self._offset, self._unit = np.tile(offset, times), np.tile(unit, times)

    def scale(self, X: NDArray[np.floating], out: NDArray[np.float64]) -> None:
        """Of rows; ``out`` is laid out as X, or in C order."""
        n_samples, d = X.shape
        together = _side_by_side(X)
        whole = n_samples // together * together
        for rows, width in ((slice(whole), together * d), (slice(whole, n_samples), d)):
            lines = out[rows].reshape(-1, width)
            np.subtract(X[rows].reshape(-1, width), self._offset[:width], out=lines)
            lines /= self._unit[:width]


def _span(minimum: NDArray[np.float64], maximum: NDArray[np.float64]) -> NDArray[np.float64]:
    """What min-max scaling divides by: 1 for a constant feature."""
    with np.errstate(over="ignore"):
        span: NDArray[np.float64] = np.where(minimum == maximum, 1.0, maximum - minimum)
    if not np.isfinite(span).all():
        raise ValueError(
            f"The range of feature {int(np.argmin(np.isfinite(span)))} is larger than float64 can "
            "hold. Divide the data by a constant first."
        )
    if (span < LEAST_SPAN).any():
        f = int(np.argmax(span < LEAST_SPAN))
        raise ValueError(
            f"The range of feature {f} is {span[f]:g}, too small for float64 to divide by. "
            "Multiply the data by a constant first."
        )
    return span


def check_ranges(minimum: NDArray[np.float64], maximum: NDArray[np.float64]) -> None:
    """Refuse ranges that are larger than float64 can hold."""
    with np.errstate(over="ignore"):
        too_large = not np.isfinite(maximum - minimum).all()
    if too_large:
        _span(minimum, maximum)


def scaling_of(
    minimum: NDArray[np.float64],
    maximum: NDArray[np.float64],
    mean: NDArray[np.float64],
    deviation: NDArray[np.float64],
) -> Scaling:
    """Scaling parameters from what is known of all rows (rule 1)."""
    constant, span = minimum == maximum, _span(minimum, maximum)
    deviation = np.where(constant, 1.0, deviation)
    return Scaling(minimum, span, np.where(constant, minimum, mean), deviation, deviation)


def range_scaling(minimum: NDArray[np.float64], maximum: NDArray[np.float64]) -> Scaling:
    """Min-max scaling from given ranges; standardised is the same, as nobody asks for it."""
    span = _span(minimum, maximum)
    return Scaling(minimum, span, minimum, span, span)


def learn_scaling(X: NDArray[np.floating]) -> Scaling:
    """Scaling parameters of ``X``, with two passes for the deviation.

    A constant feature has span 1, deviation 1 and its value as mean: it becomes exactly 0.
    """
    n_samples, n_features = X.shape
    minimum, maximum = _extremes(X)
    constant, span = minimum == maximum, _span(minimum, maximum)
    # Sums about the minimum and in units of the span: an offset costs no digits, and neither very
    # large nor very small units overflow or vanish when squared.
    total, scaler = np.zeros(n_features), _Scaler(minimum, span)
    scaled = np.empty_like(X[:BLOCK_ROWS], np.float64)  # laid out as X: so are the sums
    for rows in blocks(n_samples):
        part = scaled[: rows.stop - rows.start]
        scaler.scale(X[rows], part)
        total += part.sum(axis=0)
    mean: NDArray[np.float64] = np.where(constant, minimum, minimum + total / n_samples * span)
    squares, scaler = np.zeros(n_features), _Scaler(mean, span)
    for rows in blocks(n_samples):
        part = scaled[: rows.stop - rows.start]
        scaler.scale(X[rows], part)
        np.square(part, out=part)
        squares += part.sum(axis=0)
    deviation = np.where(constant, 1.0, np.sqrt(squares / n_samples) * span)
    return Scaling(minimum, span, mean, deviation, deviation)


def standardised_table(X: NDArray[np.floating], scaling: Scaling) -> NDArray[np.float64]:
    """A new C-ordered float64 array: the standardised data."""
    table, scaler = np.empty(X.shape), _Scaler(scaling.mean, scaling.unit)
    for rows in blocks(len(X)):
        scaler.scale(X[rows], table[rows])
    return table


def coded_data(X: NDArray[np.floating], scaling: Scaling, order: NDArray[np.int64]) -> Data:
    """The kernel's view of ``X``, its rows in the order of presentation.

    All values must lie within the minimum and the maximum that the scaling is made of.
    """
    n_features = X.shape[1]
    in_place = X.dtype == np.float32 and X.nbytes >= IN_PLACE
    table = np.empty((0, n_features) if in_place else X.shape)
    scaler = _Scaler(scaling.minimum, scaling.span)
    for rows in blocks(len(table)):
        scaler.scale(X[order[rows]], table[rows])
    nothing = np.empty(n_features)
    data = plain_data(table, nothing, nothing).scaled(scaling)
    if in_place:
        kept = {"minimum": scaling.minimum, "span": scaling.span}
        data = data._replace(given=_as_kernels_take_it(X), place=order, **kept)
    return data


def _as_kernels_take_it(X: NDArray[np.float32]) -> NDArray[np.float32]:
    """The same rows, and not a copy if they are in C order already.

    To numba an array that must not be written to has a type of its own, for which all kernels would
    be compiled anew. No kernel writes to the user's rows, so they are shown as if one could.
    """
    X = np.require(X, np.float32, ["C_CONTIGUOUS", "ALIGNED"])
    return X if X.flags.writeable else np.asarray(_Shown(X))


class _Shown:
    """An array as one that may be written to, which it need not be."""

    def __init__(self, array: NDArray[np.float32]) -> None:
        self._array = array  # as long as anybody looks at it, its memory stays

    @property
    def __array_interface__(self) -> dict[str, Any]:
        address = self._array.__array_interface__["data"][0]
        return {**self._array.__array_interface__, "data": (address, False)}


def turn(data: Data) -> Data:
    """With the standardised data along their principal axes, those of largest variance first.

    One thread, so that the last bits do not depend on how many there are.
    """
    n_features = data.shape[1]
    turned, scatter = np.empty(data.shape), np.zeros((n_features, n_features))
    with one_thread():
        for rows in blocks(len(turned)):
            part = turned[rows]
            np.multiply(data.coded(rows), data.scale, out=part)
            part += data.shift
            scatter += part.T @ part
        axes = np.ascontiguousarray(np.linalg.eigh(scatter)[1][:, ::-1].T)
        for rows in blocks(len(turned)):
            turned[rows] = turned[rows] @ axes.T
    return data._replace(turned=turned, axes=axes)


def standardised_data(X: NDArray[np.floating], scaling: Scaling) -> Data:
    """A view for index values alone, in the given order."""
    n_features = X.shape[1]
    return plain_data(standardised_table(X, scaling), np.ones(n_features), np.zeros(n_features))


@inline
def _within(value):
    """A scaled value. It is in [0, 1] even if a user's rows change while they are looked at."""
    value = value if value > 0.0 else 0.0
    return value if value < 1.0 else 1.0


@inline
def row_of(data, s):
    """The row of the table, or of what is given, that sample s lies in."""
    return np.int64(s) if data.place.shape[0] == 0 else data.place[s]


@inline
def coded_value(data, row, f):
    """One min-max scaled value of a sample whose row is known."""
    if data.place.shape[0] == 0:
        return data.table[row, f]
    return _within((data.given[row, f] - data.minimum[f]) / data.span[f])


@inline
def _scale_given(data, s, out):
    """out[f] = the min-max scaled values of sample s, which is not in the table."""
    row = data.given[data.place[s]]
    for f in range(row.shape[0]):
        out[f] = _within((row[f] - data.minimum[f]) / data.span[f])


@inline
def standardised_row(data, s, out):
    """x^b of sample s."""
    if data.axes.shape[0] > 0:
        for f in range(data.axes.shape[1]):
            out[f] = data.turned[s, f]
    elif data.place.shape[0] == 0:
        for f in range(data.table.shape[1]):
            out[f] = data.table[s, f] * data.scale[f] + data.shift[f]
    else:
        _scale_given(data, s, out)
        for f in range(data.scale.shape[0]):
            out[f] = out[f] * data.scale[f] + data.shift[f]


@inline
def coded_row(data, s, out):
    """x^a of sample s, and its L1 norm, summed in the order of the components."""
    d = data.scale.shape[0]
    if data.place.shape[0] == 0:
        for f in range(d):
            out[f] = data.table[s, f]
    else:
        _scale_given(data, s, out)
    norm = 0.0
    for f in range(d):
        norm += out[f]
    for f in range(d):
        out[d + f] = 1.0 - out[f]
        norm += out[d + f]
    return norm
