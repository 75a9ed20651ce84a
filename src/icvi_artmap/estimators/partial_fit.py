"""``partial_fit`` of ICVIARTMAP: a start is found, then every row goes through the stream."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from icvi_artmap._support.validation import (
    check_integer,
    check_real,
    checked_data,
    checked_generator,
)
from icvi_artmap._support.wording import shown
from icvi_artmap.estimators.fitted import FittedModel
from icvi_artmap.indices.base import Index
from icvi_artmap.network.driver import Parameters
from icvi_artmap.samples.scaling import Scaling
from icvi_artmap.training.run import FitResult
from icvi_artmap.training.stream import BATCH, Drift, Stream, StreamSettings, begin, renumber

_SEEDS = np.iinfo(np.int32).max
#: Attributes that a fit of all data at once does not have.
OF_STREAMS = ("stream_", "n_samples_seen_", "drift_", "_collected")


class LearnsFromStreams:
    """The part of :class:`ICVIARTMAP` that learns from data in pieces."""

    warm_up: int
    memory: int
    forgetting: float
    alpha: float
    noise: bool
    random_state: Any
    shape: str
    fitted_: FittedModel
    labels_: NDArray[np.int64]
    sample_clusters_: NDArray[np.int64]
    stream_: Stream
    n_samples_seen_: int
    drift_: Drift

    def partial_fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Learn from some rows more, with memory that does not grow.

        The first rows are collected until there are ``warm_up`` of them; then a start is made, as
        :meth:`fit` would with these rows. From then on every row goes to the cluster with which the
        index of all rows so far is best, and the network learns it. At the end of a call (in long
        ones after every 10,000 rows) clusters are merged and split as in :meth:`fit`, by what is
        remembered. Rows are scaled as the first ones were.

        With ``forgetting`` below 1 earlier rows fade; and if the clusters have changed (see
        ``drift_``), another start is made from the next ``warm_up`` rows.

        A model that :meth:`fit` has made keeps no rows, so a stream begins anew after it; until it
        has its start, the clusters of before predict.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers without missing values, dense; any number of rows.
        y : ignored

        Returns
        -------
        self : ICVIARTMAP
        """
        index, parameters = self._check_parameters()
        self._check_stream(index, parameters)
        known = any(hasattr(self, name) for name in ("fitted_", *OF_STREAMS))
        rows = checked_data(self, X, reset=not known, ensure_min_samples=1)
        if not hasattr(self, "stream_") and not hasattr(self, "_collected"):
            self._collected: list[NDArray[np.floating]] = []
            self.n_samples_seen_ = 0
        self._learn(rows, index, parameters)
        return self

    def _learn(self, X: NDArray[np.floating], index: Index, parameters: Parameters) -> None:
        """What is left when everything is checked."""
        labels, categories = np.full((2, len(X)), -1, np.int64)
        at = 0
        while at < len(X):
            if not hasattr(self, "stream_"):
                at = self._collect(X, at, labels, categories, index, parameters)
            else:
                at = self._go_on(X, at, labels, categories, index, parameters)
        self.n_samples_seen_ += len(X)
        if hasattr(self, "stream_"):
            self._set_stream(X, labels, categories)

    def _collect(
        self,
        X: NDArray[np.floating],
        at: int,
        labels: NDArray[np.int64],
        categories: NDArray[np.int64],
        index: Index,
        parameters: Parameters,
    ) -> int:
        """Keep rows until a start can be made. Returns the first row that is left."""
        missing = self.warm_up - sum(map(len, self._collected))
        part = X[at : at + missing]
        self._collected.append(part.copy())
        if len(part) < missing:
            return len(X)
        rows, at = np.concatenate(self._collected), at + len(part)
        result = self._fit(rows, None, self._given_centres(X.shape[1]), index, parameters, False)
        seed = int(checked_generator(self.random_state).randint(_SEEDS))
        self._begin(rows, result, index, parameters, seed, len(rows))
        del self._collected
        labels[:at], categories[:at] = result.labels[-at:], result.sample_categories[-at:]
        return at

    def _begin(
        self,
        rows: NDArray[np.floating],
        result: FitResult,
        index: Index,
        parameters: Parameters,
        seed: int,
        n_seen: int,
    ) -> None:
        """A stream that goes on from a fit."""
        least, most = self._wanted()
        wanted = least if least == most else len(result.centres)
        settings = StreamSettings(index, parameters, wanted, float(self.forgetting), seed)
        self.stream_ = begin(settings, self.fitted_.scaling, result, rows, self.memory, n_seen)

    def _go_on(
        self,
        X: NDArray[np.floating],
        at: int,
        labels: NDArray[np.int64],
        categories: NDArray[np.int64],
        index: Index,
        parameters: Parameters,
    ) -> int:
        """Learn a batch; after a break, make another start when there are rows enough."""
        stream, most = self.stream_, BATCH
        if stream.waiting is not None:
            most = min(BATCH, self.warm_up - stream.n_waiting)
        at += stream.learn(X[at : at + most], labels, categories, at)
        if stream.changed:
            stream.levels_at = 0
        if stream.waiting is not None and stream.n_waiting >= self.warm_up:
            self._begin_anew(index, parameters)
            labels[:at] = categories[:at] = -1
        return at

    def _begin_anew(self, index: Index, parameters: Parameters) -> None:
        """The clusters have changed: find them from the rows since then."""
        former = self.stream_
        assert former.waiting is not None
        rows, seed = np.concatenate(former.waiting), former.settings.seed
        random_state = np.random.RandomState([seed, former.n_seen % 2**32])
        result = self._fit(rows, None, None, index, parameters, False, random_state)
        self._begin(rows, result, index, parameters, seed, former.n_seen)
        self.stream_.follow(former)

    def _set_stream(
        self, X: NDArray[np.floating], labels: NDArray[np.int64], categories: NDArray[np.int64]
    ) -> None:
        """The attributes of a fit, for the stream as it is now and the rows of the last call."""
        stream, former = self.stream_, self.fitted_
        renumber(categories, stream.alive_numbers())
        self._set_result(stream.result(labels, categories), stream.scaling, stream.settings.index)
        self.fitted_ = self._with_density(former)
        # Rows before another start, and rows whose category has gone since.
        nowhere, gone = labels < 0, categories < 0
        if nowhere.any():
            labels[nowhere] = self._predict(X[nowhere])
        if gone.any():
            categories[gone] = self.fitted_.nearest_categories(X[gone], self.alpha)
        if self.noise:
            self.labels_ = np.where(self.fitted_.noise(X), -1, self.sample_clusters_)
        self.drift_ = stream.drift

    def _with_density(self, former: FittedModel) -> FittedModel:
        """What is known of the density of clusters: learned anew, if much is new."""
        stream, model, now = self.stream_, self.fitted_, self.stream_.n_seen
        if now - stream.levels_at > stream.much(stream.levels_at):
            stream.levels_at = now
            return model.with_levels(*stream.remembered())
        gaussians = model.groups
        if gaussians.scatter.shape[1] == 0 and former.gaussians is not None:
            scale = (gaussians.n / former.gaussians.n)[:, None, None]
            gaussians = gaussians._replace(scatter=former.gaussians.scatter * scale)
        return replace(model, gaussians=gaussians, levels=former.levels)

    def _forget_stream(self) -> None:
        """A fit of all data at once begins."""
        for name in OF_STREAMS:
            if hasattr(self, name):
                delattr(self, name)

    def _check_stream(self, index: Index, parameters: Parameters) -> None:
        self._check_stream_parameters(index)
        if self.shape != "gaussian":
            raise ValueError(
                f'partial_fit needs shape="gaussian", got {shown(self.shape)}: components are '
                "joined when all data are at hand."
            )
        if self.warm_up < self._wanted()[0]:
            raise ValueError(
                f"warm_up={self.warm_up} rows are too few for n_clusters="
                f"{shown(self.n_clusters)}. Collect at least as many rows as clusters."
            )
        if hasattr(self, "stream_"):
            now = (index, parameters, float(self.forgetting))
            before = self.stream_.settings
            if now != (before.index, before.parameters, before.forgetting):
                raise ValueError(
                    "Parameters were changed while a stream is learned. Set them back, or begin "
                    "with a new estimator (sklearn.base.clone)."
                )

    def _check_stream_parameters(self, index: Index) -> None:
        check_integer("warm_up", self.warm_up, 2)
        check_integer("memory", self.memory, 2)
        check_real("forgetting", self.forgetting, 0.0, 1.0, open_low=True)
        if self.memory > self.warm_up:
            raise ValueError(
                f"memory={self.memory} is more than warm_up={self.warm_up}: rows to remember come "
                "from the first ones. Set warm_up to at least as many."
            )
        if self.forgetting < 1.0 and not index.forgets:
            raise ValueError(
                f"{index.name} cannot forget: it is not defined for samples with weights. Use "
                "forgetting=1.0, or another index."
            )

    # --- what the estimator has --------------------------------------------------------------

    n_clusters: Any

    def _check_parameters(self) -> tuple[Index, Parameters]:
        raise NotImplementedError

    def _given_centres(self, n_features: int) -> NDArray[np.float64] | None:
        raise NotImplementedError

    def _wanted(self) -> tuple[int, int | None]:
        raise NotImplementedError

    def _fit(
        self,
        X: NDArray[np.floating],
        y: Any,
        given: NDArray[np.float64] | None,
        index: Index,
        parameters: Parameters,
        trace: bool,
        random_state: np.random.RandomState | None = None,
    ) -> FitResult:
        raise NotImplementedError

    def _predict(self, X: NDArray[np.floating]) -> NDArray[np.int64]:
        raise NotImplementedError

    def _set_result(self, result: FitResult, scaling: Scaling, index: Index) -> None:
        raise NotImplementedError
