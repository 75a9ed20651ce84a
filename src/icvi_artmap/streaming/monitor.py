"""A monitor: the validity indices of any clustering, kept while samples come, leave and move."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from icvi_artmap._support.validation import check_forgetting
from icvi_artmap._support.wording import counted, shown
from icvi_artmap.indices.base import Index
from icvi_artmap.indices.registry import get_index
from icvi_artmap.samples.moments import Moments
from icvi_artmap.streaming import sums as exact
from icvi_artmap.streaming.labels import readable_label, written_label

#: Clusters and features that there is room for at the beginning.
ROOM = 8
#: A cluster whose samples together weigh less than this part of a new one is left out.
FADED = 0.5
#: One that weighs less than this is gone.
GONE = 1e-9
#: When a new sample would weigh more than this, all weights are divided by it.
HEAVIEST = 2.0**100
#: What a state was written by.
VERSION = 1


class IncrementalIndex:
    """Cluster validity indices of a clustering that changes, by whatever makes it.

    Samples enter clusters, leave them and move; clusters merge and split. The monitor keeps sums
    over the samples of every cluster, not the samples, so an operation takes the same time however
    many there are. Several indices share the sums. Features are taken as they come: nothing is
    standardised.

    Parameters
    ----------
    *indices : str or Index
        Names of indices, as "CH", or what :func:`custom_index` returns.
    forgetting : float, default=1.0
        What the weight of every earlier sample is multiplied by when a new one is added, above 0
        and at most 1. Below 1 a sample that is n samples old counts as ``forgetting ** n`` of a
        sample, in all sums; a cluster that has less than half a sample left is left out until it
        gets another.

    Attributes
    ----------
    value : float or None
        The first index, in its own sign. None where it is not defined: for fewer than two
        clusters, and with forgetting while all samples weigh no more than there are clusters. It
        is never NaN. An infinity is the worst value, as where two centres coincide, or a perfect
        one, where no cluster has any extent.
    labels : tuple
        The clusters, in no particular order.
    n_samples : int
        Samples added and not removed.

    Examples
    --------
    >>> from icvi_artmap.streaming import IncrementalIndex
    >>> watched = IncrementalIndex("CH", "XB")
    >>> for x, label in [(0.0, "a"), (1.0, "a"), (10.0, "b")]:
    ...     watched.add([x], label)
    >>> watched.value
    120.333...
    >>> watched.add([12.0], "b")
    >>> {name: round(value, 3) for name, value in watched.values().items()}
    {'CH': 88.2, 'XB': 0.006}
    >>> {label: round(value, 3) for label, value in watched.trial_moves([12.0], "b").items()}
    {'a': 0.543, 'b': 88.2}
    >>> watched.remove([12.0], "b")
    >>> watched.value
    120.333...
    """

    def __init__(self, *indices: str | Index, forgetting: float = 1.0) -> None:
        if not indices:
            raise TypeError('IncrementalIndex needs at least one index, as "CH".')
        self._indices = tuple(get_index(index) for index in indices)
        names = [index.name for index in self._indices]
        if len(set(names)) < len(names):
            raise ValueError(f"An index was given twice: {', '.join(names)}.")
        for index in self._indices:
            check_forgetting(forgetting, index.name, index.forgets)
        self.forgetting = float(forgetting)
        self._with_scatter = any(index.needs_scatter for index in self._indices)
        self._growth = 1.0 / self.forgetting  # of the weight of a sample to that of the next
        self._weight = 1.0  # of the sample that was added last
        self._n_features = 0  # known when the first sample comes
        self._columns: dict[Hashable, int] | None = None  # of features that come with names
        self._rows: dict[Hashable, int] = {}  # of the clusters in the sums
        self._labels: list[Hashable] = []  # of the rows
        self._sums = exact.empty_sums(ROOM, 0, self._with_scatter)
        self._x = np.empty(0)
        self._values: dict[str, float | None] | None = None  # as long as nothing changes
        self.n_samples = 0
        self._n_added = 0

    # --- what can be asked -----------------------------------------------------------------------

    @property
    def value(self) -> float | None:
        """The first index, or None where it is not defined."""
        return self.values()[self._indices[0].name]

    def values(self) -> dict[str, float | None]:
        """Every index by its name, or None where it is not defined."""
        if self._values is None:
            self._values = self._computed()
        return dict(self._values)

    def _computed(self) -> dict[str, float | None]:
        rows = self._present_rows(self._sums)
        if not self._is_defined(self._sums, rows):
            return {index.name: None for index in self._indices}
        total, middle = self._total(self._sums, rows)
        scale = 1.0 / self._weight
        moments = exact.moments_about(middle, self._sums, rows, scale, self._with_scatter)
        return {
            index.name: index.value(index.kernel(exact.score)(_state(index, moments, total)))
            for index in self._indices
        }

    @property
    def labels(self) -> tuple[Hashable, ...]:
        """The clusters."""
        return tuple(self._labels[row] for row in self._present_rows(self._sums))

    def sizes(self) -> dict[Hashable, float]:
        """How many samples every cluster has; with forgetting, what they weigh."""
        rows, scale = self._present_rows(self._sums), 1.0 / self._weight
        return {self._labels[row]: float(scale * _weight_of(self._sums, row)) for row in rows}

    def __len__(self) -> int:
        """The number of clusters."""
        return len(self._present_rows(self._sums))

    def __repr__(self) -> str:
        values = ", ".join(f"{name}: {value}" for name, value in self.values().items())
        return f"IncrementalIndex({values})"

    # --- samples ---------------------------------------------------------------------------------

    def add(self, x: ArrayLike | Mapping[Hashable, float], label: Hashable) -> None:
        """A new sample enters a cluster, which need not be there yet.

        Parameters
        ----------
        x : array-like of shape (n_features,) or dict
            Finite numbers. A dict has the names of features as keys; one that is left out is 0,
            and new ones may appear at any time.
        label : hashable
            The cluster.
        """
        self._read(x)
        row = self._rows.get(label)
        if row is None:
            row = self._room_for(label)
        weight = self._weight
        if self._growth != 1.0 and self._n_added:
            weight = self._next_weight()
        if not exact.add(self._sums, row, self._x, weight):
            raise _unusable(self._x)
        if row == len(self._labels):
            self._name(row, label)
        self._weight = weight
        self._values = None
        self.n_samples += 1
        self._n_added += 1

    def remove(
        self, x: ArrayLike | Mapping[Hashable, float], label: Hashable, *, age: int = 0
    ) -> None:
        """A sample leaves its cluster; a cluster that loses its last one is gone.

        Parameters
        ----------
        x : array-like of shape (n_features,) or dict
            A sample that was added to the cluster. The monitor cannot know whether it was.
        label : hashable
            The cluster.
        age : int, default=0
            How many samples have been added after it; only with forgetting it matters.
        """
        row, weight = self._leaving(x, label, age)
        exact.add(self._sums, row, self._x, -weight)
        self.n_samples -= 1
        self._drop_if_empty(row)
        self._values = None

    def move(
        self,
        x: ArrayLike | Mapping[Hashable, float],
        source: Hashable,
        target: Hashable,
        *,
        age: int = 0,
    ) -> None:
        """A sample goes from one cluster to another, which need not be there yet.

        ``x`` and ``age`` are as in :meth:`remove`.
        """
        row, weight = self._leaving(x, source, age)
        if source == target:
            return
        to = self._rows.get(target)
        if to is None:
            to = self._room_for(target)
            self._name(to, target)
        exact.add(self._sums, row, self._x, -weight)
        exact.add(self._sums, to, self._x, weight)
        self._drop_if_empty(row)
        self._values = None

    def add_many(self, X: ArrayLike, labels: Iterable[Hashable]) -> None:
        """New samples enter clusters, one after the other; all of them or, on an error, none.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Finite numbers.
        labels : iterable of hashables
            The cluster of every sample.
        """
        table = self._table(X)
        names = labels.tolist() if isinstance(labels, np.ndarray) else list(labels)
        if len(names) != len(table):
            raise ValueError(
                f"X has {counted(len(table), 'row')}, but there are {len(names)} labels."
            )
        if not exact.all_usable(table):
            raise _unusable(table)
        for label in dict.fromkeys(names):
            if label not in self._rows:
                self._name(self._room_for(label), label)
        rows = np.fromiter(map(self._rows.__getitem__, names), np.int64, len(names))
        self._add_rows(table, rows)
        self.n_samples += len(table)
        self._values = None

    def trial_moves(
        self, x: ArrayLike | Mapping[Hashable, float], label: Hashable, *, age: int = 0
    ) -> dict[Hashable, float | None]:
        """What the first index would be with a sample of a cluster in each of the clusters.

        Nothing is changed. ``x``, ``label`` and ``age`` are as in :meth:`remove`. The value for
        ``label`` itself is the present one. A sample that is alone in its cluster would leave one
        cluster fewer.
        """
        row, weight = self._leaving(x, label, age)
        index, sums = self._indices[0], self._sums.copy()
        values: dict[Hashable, float | None] = dict.fromkeys(self.labels)
        values[label] = self.value
        exact.add(sums, row, self._x, -weight)
        targets = self._present_rows(sums)
        if _weight_of(sums, row) <= GONE * self._weight:
            targets = targets[targets != row]
        if len(targets) == 0:
            return values
        # The total includes the sample, in whatever cluster it is.
        exact.add(sums, targets[0], self._x, weight)
        if not self._is_defined(sums, targets):
            return values
        total, middle = self._total(sums, targets)
        exact.add(sums, targets[0], self._x, -weight)
        scale = 1.0 / self._weight
        moments = exact.moments_about(middle, sums, targets, scale, self._with_scatter)
        scores = np.empty(len(targets))
        state = _state(index, moments, total)
        kernel = index.kernel(exact.scores_of_adding)
        kernel(state, sums, targets, scale, middle, self._x, weight, scores)
        for target, score in zip(targets.tolist(), scores.tolist(), strict=True):
            if target != row:
                values[self._labels[target]] = index.value(score)
        return values

    # --- clusters --------------------------------------------------------------------------------

    def merge(self, into: Hashable, label: Hashable) -> None:
        """All samples of the second cluster go to the first; the second is gone."""
        row, other = self._row_of(into), self._row_of(label)
        if row == other:
            raise ValueError(f"A cluster cannot be merged with itself: {shown(label)}.")
        exact.join(self._sums, row, self._sums, other, 1.0)
        self._drop(other)
        self._values = None

    def split(
        self,
        label: Hashable,
        X_part: ArrayLike,
        new_label: Hashable,
        *,
        ages: ArrayLike | None = None,
    ) -> None:
        """Some samples of a cluster become a new one.

        Parameters
        ----------
        label : hashable
            The cluster.
        X_part : array-like of shape (n_part, n_features)
            The samples that leave it.
        new_label : hashable
            A label that no cluster has.
        ages : array-like of shape (n_part,), optional
            How many samples have been added after each of them; needed with forgetting.
        """
        row, part = self._row_of(label), self._table(X_part)
        if new_label in self._rows:
            raise ValueError(f"There is a cluster {shown(new_label)} already.")
        if ages is None and self.forgetting < 1.0:
            raise ValueError("With forgetting, split needs the ages of the samples.")
        if len(part) == 0:
            raise ValueError("X_part has no samples; a cluster needs at least one.")
        if not exact.all_usable(part):
            raise _unusable(part)
        old = np.zeros(len(part)) if ages is None else np.asarray(ages, np.float64)
        if old.shape != (len(part),) or not (old >= 0).all():
            raise ValueError(f"ages must be {len(part)} numbers from 0 on.")
        weights = self._weight * self.forgetting**old
        self._check_left(row, float(weights.sum()), f"{counted(len(part), 'sample')}")
        to = self._room_for(new_label)
        self._name(to, new_label)
        for x, weight in zip(part, weights.tolist(), strict=True):
            exact.add(self._sums, to, x, weight)
        exact.join(self._sums, row, self._sums, to, -1.0)
        self._drop_if_empty(row)
        self._values = None

    def __add__(self, other: Self) -> Self:
        """The monitor of two parts of a stream; with forgetting, ``other`` is the later one."""
        if not isinstance(other, IncrementalIndex):
            return NotImplemented
        mine, its = [[index.name for index in m._indices] for m in (self, other)]
        if mine != its or self.forgetting != other.forgetting:
            raise ValueError(
                "Monitors of different indices or of another forgetting cannot be added: "
                f"{', '.join(mine)} with {self.forgetting:g} and {', '.join(its)} with "
                f"{other.forgetting:g}."
            )
        both = self._copy()
        both._match_features(other)
        its_sums = _arranged(other, both)
        # In units of the other's last sample: what came before has faded as it has come.
        before = self.forgetting ** float(other._n_added) / both._weight
        both._sums *= before * other._weight
        both._weight = other._weight
        for row, label in enumerate(other._labels):
            to = both._rows.get(label)
            if to is None:
                to = both._room_for(label)
                both._name(to, label)
            exact.join(both._sums, to, its_sums, row, 1.0)
        both.n_samples += other.n_samples
        both._n_added += other._n_added
        both._values = None
        return both

    # --- as plain numbers ------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """All that the monitor knows, as a dict of plain numbers, strings and lists.

        It can be written as JSON, and :meth:`from_state` makes an equal monitor of it. Labels and
        names of features must be strings, numbers, truth values, None or tuples of these.
        """
        k = len(self._labels)
        columns = self._columns
        return {
            "version": VERSION,
            "indices": [index.name for index in self._indices],
            "forgetting": self.forgetting,
            "weight": self._weight,
            "n_samples": self.n_samples,
            "n_added": self._n_added,
            "n_features": self._n_features,
            "features": None if columns is None else [written_label(name) for name in columns],
            "labels": [written_label(label) for label in self._labels],
            "sums": self._sums[:k].tolist(),
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any], *own: Index) -> Self:
        """The monitor that :meth:`state` has described.

        Parameters
        ----------
        state : mapping
            What :meth:`state` has returned, perhaps from JSON.
        *own : Index
            Indices of your own among those of the monitor; they are found by their names.
        """
        if state.get("version") != VERSION:
            raise ValueError(
                f"The state of a monitor has version {VERSION}, got {shown(state.get('version'))}."
            )
        by_name = {index.name: index for index in own}
        indices = [by_name.get(name, name) for name in state["indices"]]
        monitor = cls(*indices, forgetting=state["forgetting"])
        names, d = state["features"], int(state["n_features"])
        labels = [readable_label(label) for label in state["labels"]]
        rows = np.asarray(state["sums"], np.float64)
        expected = (len(labels), 2, exact.width(d, monitor._with_scatter))
        if labels and (rows.shape != expected or not np.isfinite(rows).all()):
            raise ValueError(f"The sums of a monitor have shape {expected}, got {rows.shape}.")
        if len(set(labels)) < len(labels):
            raise ValueError("The state of a monitor has a label twice.")
        monitor._set_features(d)
        if names is not None:
            monitor._columns = {readable_label(name): at for at, name in enumerate(names)}
        for row, label in enumerate(labels):
            monitor._name(monitor._room_for(label), label)
            monitor._sums[row] = rows[row]
        monitor._weight = float(state["weight"])
        monitor.n_samples, monitor._n_added = int(state["n_samples"]), int(state["n_added"])
        return monitor

    # --- as a metric of river --------------------------------------------------------------------

    def update(self, x: Any, y_pred: Hashable, centers: Any = None, w: float = 1.0) -> None:
        """As :meth:`add`, by the name that river gives it; ``centers`` are not needed."""
        _refuse_weight(w)
        self.add(x, y_pred)

    def revert(self, x: Any, y_pred: Hashable, centers: Any = None, w: float = 1.0) -> None:
        """As :meth:`remove`, by the name that river gives it: the last sample was a mistake."""
        _refuse_weight(w)
        self.remove(x, y_pred)

    def get(self) -> float | None:
        """As ``value``, by the name that river gives it."""
        return self.value

    @property
    def bigger_is_better(self) -> bool:
        """Whether greater values of the first index are better."""
        return self._indices[0].direction > 0

    def works_with(self, model: Any) -> bool:
        """Whether the metric can be used with a model: whether that predicts clusters."""
        return hasattr(model, "predict_one")

    # --- features --------------------------------------------------------------------------------

    def _read(self, x: ArrayLike | Mapping[Hashable, float]) -> None:
        """Copy a sample to where the kernels look for it."""
        if type(x) is np.ndarray and x.shape == self._x.shape and self._columns is None:
            self._x[:] = x
        elif isinstance(x, Mapping):
            self._read_names(x)
        else:
            row = np.asarray(x, np.float64)
            self._check_shape(row, 1)
            self._x[:] = row

    def _read_names(self, x: Mapping[Hashable, float]) -> None:
        if self._columns is None:
            if self._n_features:
                raise ValueError(
                    "The first sample was an array, so features have no names; got a dict."
                )
            self._columns = {}
        if not x:
            raise ValueError("A sample needs at least one feature.")
        for name in x:
            self._columns.setdefault(name, len(self._columns))
        self._set_features(len(self._columns))
        self._x[:] = 0.0
        for name, number in x.items():
            self._x[self._columns[name]] = number

    def _table(self, X: ArrayLike) -> NDArray[np.float64]:
        """Samples as a C-ordered array that can be written, as the kernels know it."""
        table = np.require(np.asarray(X, np.float64), requirements=["C", "W"])
        self._check_shape(table, 2)
        return table

    def _check_shape(self, array: NDArray[np.float64], dimensions: int) -> None:
        if array.ndim != dimensions or array.shape[-1] == 0:
            wanted = "one number for every feature" if dimensions == 1 else "rows of samples"
            raise ValueError(f"Expected {wanted}, got an array of shape {array.shape}.")
        if self._columns is not None:
            raise ValueError("The first sample was a dict, so features have names; got an array.")
        if self._n_features == 0:
            self._set_features(array.shape[-1])
        if array.shape[-1] != self._n_features:
            raise ValueError(
                f"Samples have {counted(self._n_features, 'feature')}, got {array.shape[-1]}."
            )

    def _set_features(self, n_features: int) -> None:
        """Make room for features that were 0 so far."""
        if n_features == self._n_features:
            return
        old = self._n_features
        self._sums = _widened(self._sums, old, n_features, self._with_scatter)
        self._n_features, self._x = n_features, np.zeros(n_features)

    def _match_features(self, other: Self) -> None:
        """Have all features that another monitor has."""
        if other._n_features == 0:
            return
        if self._n_features and (self._columns is None) != (other._columns is None):
            raise ValueError("The features of one monitor have names, those of the other have not.")
        if other._columns is None:
            if self._n_features not in (0, other._n_features):
                raise ValueError(
                    f"Monitors of {self._n_features} and of {other._n_features} features cannot "
                    "be added."
                )
            self._set_features(other._n_features)
            return
        self._columns = {} if self._columns is None else self._columns
        for name in other._columns:
            self._columns.setdefault(name, len(self._columns))
        self._set_features(len(self._columns))

    # --- clusters and weights --------------------------------------------------------------------

    def _room_for(self, label: Hashable) -> int:
        """The row of a new cluster, of which it is not certain yet that it will be there."""
        if label != label:
            raise ValueError("NaN is no label: it differs from itself.")
        k = len(self._labels)
        if k == exact.capacity_of(self._sums):
            if self.forgetting < 1.0:
                self._drop_gone()
                k = len(self._labels)
            larger = exact.empty_sums(2 * k + ROOM, self._n_features, self._with_scatter)
            larger[:k] = self._sums[:k]
            self._sums = larger
        return k

    def _name(self, row: int, label: Hashable) -> None:
        self._rows[label] = row
        self._labels.append(label)

    def _drop(self, row: int) -> None:
        """A cluster is gone; the last row takes its place."""
        last = len(self._labels) - 1
        del self._rows[self._labels[row]]
        if row < last:
            self._labels[row] = self._labels[last]
            self._rows[self._labels[row]] = row
            self._sums[row] = self._sums[last]
        self._sums[last] = 0.0
        self._labels.pop()

    def _drop_if_empty(self, row: int) -> None:
        if _weight_of(self._sums, row) <= GONE * self._weight:
            self._drop(row)

    def _drop_gone(self) -> None:
        for row in range(len(self._labels) - 1, -1, -1):
            self._drop_if_empty(row)

    def _row_of(self, label: Hashable) -> int:
        row = self._rows.get(label)
        if row is None:
            raise ValueError(f"There is no cluster {shown(label)}.")
        return row

    def _leaving(
        self, x: ArrayLike | Mapping[Hashable, float], label: Hashable, age: int
    ) -> tuple[int, float]:
        """The row and the weight of a sample that leaves its cluster."""
        row = self._row_of(label)
        self._read(x)
        if not exact.all_usable(self._x[None]):
            raise _unusable(self._x)
        if not age >= 0:
            raise ValueError(f"age must be at least 0, got {shown(age)}.")
        weight = self._weight * self.forgetting**age
        self._check_left(row, weight, "such a sample")
        return row, weight

    def _check_left(self, row: int, weight: float, what: str) -> None:
        held = _weight_of(self._sums, row)
        if weight > held * (1.0 + GONE):
            raise ValueError(
                f"{what} cannot leave cluster {shown(self._labels[row])}, whose samples weigh "
                f"{held / self._weight:g} altogether."
            )

    def _next_weight(self) -> float:
        """The weight of the next sample, after all were scaled down if it would be too heavy."""
        if self._weight * self._growth > HEAVIEST:
            self._sums /= HEAVIEST
            self._weight /= HEAVIEST
            self._drop_gone()
        return self._weight * self._growth

    def _add_rows(self, table: NDArray[np.float64], rows: NDArray[np.int64]) -> None:
        if self._growth == 1.0:
            exact.add_many(self._sums, rows, table, 1.0, 1.0)
            self._n_added += len(table)
            return
        # As many at a time as do not get too heavy. No row is dropped here: it might be in rows.
        at_once = max(1, int(np.log(HEAVIEST) / np.log(self._growth)) // 2)
        for first in range(0, len(table), at_once):
            part = slice(first, first + at_once)
            weight = self._weight * (self._growth if self._n_added else 1.0)
            count = len(rows[part])
            exact.add_many(self._sums, rows[part], table[part], weight, self._growth)
            self._n_added += count
            self._weight = weight * self._growth ** (count - 1)
            if self._weight > 1.0:
                scale = 2.0 ** -np.floor(np.log2(self._weight))  # loses no digits
                self._sums *= scale
                self._weight *= scale

    def _present_rows(self, sums: NDArray[np.float64]) -> NDArray[np.int64]:
        """Clusters that have not faded."""
        k = len(self._labels)
        if self.forgetting == 1.0:
            return np.arange(k)
        return np.flatnonzero(sums[:k, :, 0].sum(axis=1) >= FADED * self._weight)

    def _is_defined(self, sums: NDArray[np.float64], rows: NDArray[np.int64]) -> bool:
        if len(rows) < 2:
            return False
        return self.forgetting == 1.0 or sums[rows, :, 0].sum() > len(rows) * self._weight

    def _total(
        self, sums: NDArray[np.float64], rows: NDArray[np.int64]
    ) -> tuple[Moments, NDArray[np.float64]]:
        """Moments of all samples together, and their mean, about which they are."""
        middle = exact.common_mean(sums, rows, self._n_features)
        last, scale = np.array([len(sums) - 1]), 1.0 / self._weight
        return exact.moments_about(middle, sums, last, scale, self._with_scatter), middle

    def _copy(self) -> Self:
        twin = type(self)(*self._indices, forgetting=self.forgetting)
        twin._columns = None if self._columns is None else dict(self._columns)
        twin._set_features(self._n_features)
        twin._rows, twin._labels = dict(self._rows), list(self._labels)
        twin._sums, twin._weight = self._sums.copy(), self._weight
        twin.n_samples, twin._n_added = self.n_samples, self._n_added
        return twin


def _state(index: Index, moments: Moments, total: Moments) -> Any:
    """A state of the index, from moments that several indices share."""
    own = moments
    if not index.forgets:  # it counts samples
        own = own._replace(n=own.n.astype(np.int64))
    if not index.needs_scatter:
        own = own._replace(scatter=np.empty((len(own.n), 0, 0)))
    return index.make_state(own, total)


def _weight_of(sums: NDArray[np.float64], row: int) -> float:
    return float(sums[row, exact.HIGH, 0] + sums[row, exact.LOW, 0])


def _unusable(x: NDArray[np.float64]) -> ValueError:
    if np.isfinite(x).all():
        return ValueError(f"Samples have numbers up to {exact.LARGEST:g} at most.")
    return ValueError("A sample has NaN or infinity; give finite numbers.")


def _refuse_weight(w: float) -> None:
    if w != 1.0:
        raise ValueError(f"Samples have weight 1, got w={shown(w)}.")


def _positions(
    columns: NDArray[np.int64], n_features: int, with_scatter: bool
) -> NDArray[np.int64]:
    """Where the numbers of a row with these features stand in a row with ``n_features``."""
    first = np.concatenate([[0], 1 + columns])
    if not with_scatter:
        return np.append(first, 1 + n_features)
    f, g = np.triu_indices(len(columns))
    low, high = np.minimum(columns[f], columns[g]), np.maximum(columns[f], columns[g])
    before = low * n_features - low * (low - 1) // 2
    return np.concatenate([first, 1 + n_features + before + high - low])


def _placed(
    sums: NDArray[np.float64], columns: NDArray[np.int64], n_features: int, with_scatter: bool
) -> NDArray[np.float64]:
    """The sums with their features in these columns of ``n_features``; the others are 0."""
    wider = exact.empty_sums(exact.capacity_of(sums), n_features, with_scatter)
    wider[:, :, _positions(columns, n_features, with_scatter)] = sums
    return wider


def _widened(
    sums: NDArray[np.float64], old: int, new: int, with_scatter: bool
) -> NDArray[np.float64]:
    if old == 0:
        return exact.empty_sums(exact.capacity_of(sums), new, with_scatter)
    return _placed(sums, np.arange(old), new, with_scatter)


def _arranged(monitor: IncrementalIndex, like: IncrementalIndex) -> NDArray[np.float64]:
    """The sums of a monitor, with the features in the order of another."""
    if monitor._columns is None or monitor._n_features == 0 or like._columns is None:
        return monitor._sums
    columns = np.array([like._columns[name] for name in monitor._columns], np.int64)
    return _placed(monitor._sums, columns, like._n_features, monitor._with_scatter)
