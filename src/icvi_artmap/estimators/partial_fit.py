"""What ``ICVIARTMAP.partial_fit`` does: a start is found, then every row goes through a stream."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._support.validation import check_forgetting, check_integer, checked_generator
from icvi_artmap._support.wording import shown
from icvi_artmap.estimators.fitted import FittedModel
from icvi_artmap.estimators.preparing import prepares
from icvi_artmap.indices.base import Index
from icvi_artmap.network.driver import Parameters
from icvi_artmap.network.members import MOST_SAMPLES
from icvi_artmap.training.run import FitResult
from icvi_artmap.training.stream import BATCH, StreamSettings, begin, renumber

if TYPE_CHECKING:
    from icvi_artmap.estimators.icvi_artmap import ICVIARTMAP

_SEEDS = np.iinfo(np.int32).max
#: Attributes that a fit of all data at once does not have.
OF_STREAMS = ("stream_", "n_samples_seen_", "drift_", "_collected")


class Call:
    """One call of ``partial_fit``, with everything checked.

    ``labels`` and ``categories`` are of its rows, -1 where nothing is known yet.
    """

    def __init__(
        self, model: ICVIARTMAP, X: NDArray[np.floating], index: Index, parameters: Parameters
    ) -> None:
        self.model, self.X, self.index, self.parameters = model, X, index, parameters
        self.labels, self.categories = np.full((2, len(X)), -1, np.int64)

    def learn(self) -> None:
        """Learn all rows, and set the attributes."""
        model, at = self.model, 0
        if not hasattr(model, "stream_") and not hasattr(model, "_collected"):
            model._collected, model.n_samples_seen_ = [], 0
        while at < len(self.X):
            at = self._go_on(at) if hasattr(model, "stream_") else self._collect(at)
        model.n_samples_seen_ += len(self.X)
        if hasattr(model, "stream_"):
            self._show()

    def _collect(self, at: int) -> int:
        """Keep rows until a start can be made. Returns the first row that is left."""
        model, X = self.model, self.X
        missing = model.warm_up - sum(map(len, model._collected))
        part = X[at : at + missing]
        model._collected.append(part.copy())
        if len(part) < missing:
            return len(X)
        rows, at = np.concatenate(model._collected), at + len(part)
        given = model._given_centres(X.shape[1])
        result = model._fit(rows, None, given, self.index, self.parameters, False)
        seed = int(checked_generator(model.random_state).randint(_SEEDS))
        self._begin(rows, result, seed, len(rows))
        del model._collected
        self.labels[:at], self.categories[:at] = result.labels[-at:], result.sample_categories[-at:]
        return at

    def _begin(self, rows: NDArray[np.floating], result: FitResult, seed: int, n_seen: int) -> None:
        """A stream that goes on from a fit."""
        model = self.model
        least, most = model._wanted()
        settings = StreamSettings(
            index=self.index,
            parameters=self.parameters,
            n_clusters=least if least == most else len(result.centres),
            forgetting=float(model.forgetting),
            seed=seed,
        )
        scaling = model.fitted_.scaling
        model.stream_ = begin(settings, scaling, result, rows, model.memory, n_seen)

    def _go_on(self, at: int) -> int:
        """Learn a batch; after a break, make another start when there are rows enough."""
        model, stream, most = self.model, self.model.stream_, BATCH
        if stream.waiting is not None:
            most = min(BATCH, model.warm_up - stream.n_waiting)
        at += stream.learn(self.X[at : at + most], self.labels, self.categories, at)
        if stream.changed:
            stream.levels_at = 0
        if stream.waiting is not None and stream.n_waiting >= model.warm_up:
            self._begin_anew()
            self.labels[:at] = self.categories[:at] = -1
        return at

    def _begin_anew(self) -> None:
        """The clusters have changed: find them from the rows since then."""
        former = self.model.stream_
        assert former.waiting is not None
        rows, seed = np.concatenate(former.waiting), former.settings.seed
        random_state = np.random.RandomState([seed, former.n_seen % 2**32])
        result = self.model._fit(
            rows, None, None, self.index, self.parameters, False, random_state=random_state
        )
        self._begin(rows, result, seed, former.n_seen)
        self.model.stream_.follow(former)

    def _show(self) -> None:
        """The attributes of a fit, for the stream as it is now and the rows of the call."""
        model, stream, former = self.model, self.model.stream_, self.model.fitted_
        labels, categories = self.labels, self.categories
        renumber(categories, stream.alive_numbers())
        model._set_result(stream.result(labels, categories), stream.scaling, self.index)
        model.fitted_ = self._with_density(former)
        # Rows before another start, and rows whose category has gone since.
        nowhere, gone = labels < 0, categories < 0
        if nowhere.any():
            labels[nowhere] = model._predict(self.X[nowhere])
        if gone.any():
            categories[gone] = model.fitted_.nearest_categories(self.X[gone], model.alpha)
        if model.noise:
            model.labels_ = np.where(model.fitted_.noise(self.X), -1, model.sample_clusters_)
        model.drift_ = stream.drift

    def _with_density(self, former: FittedModel) -> FittedModel:
        """What is known of the density of clusters: learned anew, if much is new."""
        stream, model = self.model.stream_, self.model.fitted_
        if stream.n_seen - stream.levels_at > stream.much(stream.levels_at):
            stream.levels_at = stream.n_seen
            return model.with_levels(*stream.remembered())
        gaussians = model.groups
        if gaussians.scatter.shape[1] == 0 and former.gaussians is not None:
            scale = (gaussians.n / former.gaussians.n)[:, None, None]
            gaussians = gaussians._replace(scatter=former.gaussians.scatter * scale)
        return replace(model, gaussians=gaussians, levels=former.levels)


def is_begun(model: ICVIARTMAP) -> bool:
    """Whether the model has seen rows, in pieces or all at once."""
    return any(hasattr(model, name) for name in ("fitted_", *OF_STREAMS))


def forget_stream(model: ICVIARTMAP) -> None:
    """A fit of all data at once begins."""
    for name in OF_STREAMS:
        if hasattr(model, name):
            delattr(model, name)


def takes_rows_as_they_are(model: ICVIARTMAP) -> bool:
    """Whether the model can learn from pieces; if not, the error that there is no such method."""
    if prepares(model):
        raise AttributeError(
            'partial_fit needs missing="error", transform_columns="none", categories=None and '
            "n_axes=None: what is done to rows is learned when all data are at hand. Prepare the "
            "rows before."
        )
    return True


def check_stream(model: ICVIARTMAP, index: Index, parameters: Parameters) -> None:
    """What partial_fit needs beside parameters that are right for fit."""
    if model.shape != "gaussian":
        raise ValueError(
            f'partial_fit needs shape="gaussian", got {shown(model.shape)}: components are joined '
            "when all data are at hand."
        )
    if model.warm_up < model._wanted()[0]:
        raise ValueError(
            f"warm_up={model.warm_up} rows are too few for n_clusters={shown(model.n_clusters)}. "
            "Collect at least as many rows as clusters."
        )
    if hasattr(model, "stream_"):
        now, before = (index, parameters, float(model.forgetting)), model.stream_.settings
        if now != (before.index, before.parameters, before.forgetting):
            raise ValueError(
                "Parameters were changed while a stream is learned. Set them back, or begin with "
                "a new estimator (sklearn.base.clone)."
            )


def check_stream_parameters(model: ICVIARTMAP, index: Index) -> None:
    """Parameters that only partial_fit looks at."""
    check_integer("warm_up", model.warm_up, 2, MOST_SAMPLES)
    check_integer("memory", model.memory, 2, MOST_SAMPLES)
    check_forgetting(model.forgetting, index.name, index.forgets)
    if model.memory > model.warm_up:
        raise ValueError(
            f"memory={model.memory} is more than warm_up={model.warm_up}: rows to remember come "
            "from the first ones. Set warm_up to at least as many."
        )
