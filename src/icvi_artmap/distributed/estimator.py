"""DistributedICVIARTMAP: the estimator for rows that do not fit into one machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.random import sample_without_replacement
from sklearn.utils.validation import check_is_fitted

from icvi_artmap._support.validation import check_integer, checked_generator
from icvi_artmap._support.wording import counted, number, shown
from icvi_artmap.distributed import passes
from icvi_artmap.distributed import sums as exact
from icvi_artmap.distributed.computing import (
    computed,
    held,
    imported_dask,
    memory_of_workers,
    reduced,
    shared,
    task,
)
from icvi_artmap.distributed.predicting import labels_of, like_block, predict
from icvi_artmap.distributed.row_blocks import Table, lengths_of, table_of, taken
from icvi_artmap.estimators.all_rows import (
    AllRows,
    Sample,
    check_before_fit,
    recorded_steps,
    resolution_by,
    sample_of,
    tell_of_all,
    without_samples,
)
from icvi_artmap.estimators.fitted import rows_of
from icvi_artmap.estimators.icvi_artmap import ICVIARTMAP
from icvi_artmap.indices.base import Index
from icvi_artmap.samples import moments as mom
from icvi_artmap.samples.scaling import Scaling, standardised_data
from icvi_artmap.training.part import part_size

#: Numbers in a sample, unless more rows than that are needed, and rows at the least.
SAMPLE_NUMBERS, SAMPLE_ROWS = 2_000_000, 20_000
#: Passes over all rows, at most.
MOST_PASSES = 10_000
#: Blocks are kept in the memory of the workers if they take no more than this part of it.
KEPT_PART = 0.25
#: Parameters that are not those of the model.
OWN = ("sample_size", "max_passes", "keep")

Report = Callable[[str], None]


class DistributedICVIARTMAP(ClusterMixin, BaseEstimator):
    """Clustering of Dask arrays and dataframes by a validity index.

    A sample of the rows is fitted and refined in memory by :class:`icvi_artmap.ICVIARTMAP`. Then
    all rows join the clusters by the index, and passes over all of them follow, in which every row
    goes to the cluster that the index prefers, while the exact index of all rows gets better. Only
    sums over blocks travel; they are merged in the order of the blocks, so that a fit that is
    repeated gives the same. Dask schedules the tasks, and repeats those of a worker that dies.

    Parameters
    ----------
    n_clusters : int, range or "auto", default=8
        As in :class:`icvi_artmap.ICVIARTMAP`, and so are all parameters but the last three. A
        number that is to be chosen is chosen on the sample.
    index, shape, rho_a, rho_ab, beta_a, alpha, epsilon, beta_ab, tol, max_epochs, init, n_init, \
kmeans_trials, shuffle, order, refine, resolution, evaluation, prediction, noise, missing, \
transform_columns, categories, n_axes, warm_up, memory, forgetting, n_jobs, random_state, \
verbose
        As in :class:`icvi_artmap.ICVIARTMAP`. Passes end as well when the index gets better by no
        more than ``tol``. What is done to rows before they are clustered is learned from the
        sample. A ``random_state`` that is an integer gives the same result again.
    sample_size : int or "auto", default="auto"
        Rows that are fitted in memory. "auto": two million numbers, at least 20,000 rows, and more
        where many clusters or features need them. If it is all rows, the result is that of
        ICVIARTMAP.
    max_passes : int, default=20
        Passes over all rows after they have joined, at most.
    keep : bool or "auto", default="auto"
        Whether blocks stay in the memory of the workers once they are read. "auto": if they take
        no more than a quarter of it. Otherwise they are read in every pass.

    Attributes
    ----------
    model_ : ICVIARTMAP
        A model like any other: it predicts, can be saved, explained and reported. Its labels are
        those of the sample; scaling, moments, centres and index value are those of all rows.
    labels_ : Dask array or series
        Cluster of every row, lazy: it is found when it is asked for, and the rows are read again
        for that. A dataframe gives a series with its index. -1 is noise, -3 are rows with gaps, as
        in ICVIARTMAP.
    n_clusters_ : int
        Number of clusters found.
    cluster_centers_ : ndarray of shape (n_clusters_, n_features)
        Means over all rows, in the units of the data. Of rows that are prepared first: over those
        of the sample.
    index_value_ : float
        The exact index of all rows, each in its cluster.
    pass_values_ : ndarray of shape (n_passes_ + 1,)
        Its value when all rows have joined, and after every pass that was kept.
    n_passes_ : int
        Passes that were kept.
    converged_ : bool
        Whether passes ended before ``max_passes`` forced them to.
    n_samples_ : int
        Number of rows.
    sample_rows_ : ndarray
        Numbers of the rows of the sample; :func:`take_rows` fetches them.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if all are strings.

    Examples
    --------
    >>> import dask.array as da
    >>> from icvi_artmap.datasets import make_gaussian_clusters
    >>> from icvi_artmap.distributed import DistributedICVIARTMAP
    >>> X, y = make_gaussian_clusters(4, 2, n_samples=2000, random_state=0)
    >>> rows = da.from_array(X, chunks=(300, 2))
    >>> model = DistributedICVIARTMAP(4, sample_size=500, random_state=0).fit(rows)
    >>> model.labels_.compute().shape, model.n_clusters_
    ((2000,), 4)
    """

    model_: ICVIARTMAP

    def __init__(
        self,
        n_clusters: int | range | Literal["auto"] = 8,
        *,
        index: str | Index = "NI",
        shape: Literal["gaussian", "any", "auto"] = "gaussian",
        rho_a: float = 0.0,
        rho_ab: float = 1.0,
        beta_a: float = 1.0,
        alpha: float = 1e-3,
        epsilon: float = 0.01,
        beta_ab: float = 1e-3,
        tol: float = 1e-6,
        max_epochs: int = 20,
        init: Literal["k-means++"] | ArrayLike = "k-means++",
        n_init: int = 1,
        kmeans_trials: int = 10,
        shuffle: bool = True,
        order: Literal["vat"] | None = None,
        refine: Literal["auto"] | bool = "auto",
        resolution: Literal["auto", "learn", "none"] = "auto",
        evaluation: Literal["incremental", "batch"] = "incremental",
        prediction: Literal["auto", "index", "category"] = "auto",
        noise: bool = False,
        missing: Literal["error", "drop", "mean", "median", "neighbours"] = "error",
        transform_columns: Literal["none", "clip", "power", "auto"] = "none",
        categories: Literal["auto"] | Sequence[str | int] | None = None,
        n_axes: int | None = None,
        warm_up: int = 1000,
        memory: int = 1000,
        forgetting: float = 1.0,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int | bool = 0,
        sample_size: int | Literal["auto"] = "auto",
        max_passes: int = 20,
        keep: Literal["auto"] | bool = "auto",
    ) -> None:
        self.n_clusters = n_clusters
        self.index = index
        self.shape = shape
        self.rho_a = rho_a
        self.rho_ab = rho_ab
        self.beta_a = beta_a
        self.alpha = alpha
        self.epsilon = epsilon
        self.beta_ab = beta_ab
        self.tol = tol
        self.max_epochs = max_epochs
        self.init = init
        self.n_init = n_init
        self.kmeans_trials = kmeans_trials
        self.shuffle = shuffle
        self.order = order
        self.refine = refine
        self.resolution = resolution
        self.evaluation = evaluation
        self.prediction = prediction
        self.noise = noise
        self.missing = missing
        self.transform_columns = transform_columns
        self.categories = categories
        self.n_axes = n_axes
        self.warm_up = warm_up
        self.memory = memory
        self.forgetting = forgetting
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.sample_size = sample_size
        self.max_passes = max_passes
        self.keep = keep

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def fit(self, X: Any, y: Any = None, *, report: Report | None = None) -> Self:
        """Find the clusters of ``X``.

        Parameters
        ----------
        X : Dask array of shape (n_samples, n_features) or Dask dataframe
            Numbers; with missing values and text only if ``missing`` and ``categories`` say what
            is done about them.
        y : ignored
        report : callable, optional
            Gets a line of text for every stage and every pass.

        Returns
        -------
        self : DistributedICVIARTMAP
        """
        model = self._model()
        say = self._reporter(report)
        table = table_of(X)
        say("counting rows")
        lengths = lengths_of(table)
        n = int(lengths.sum())
        if n < 2:
            raise ValueError(f"X has {counted(n, 'row')}; at least 2 are needed.")
        numbers = self._sample_rows(n, table.n_features)
        say(f"fetching a sample of {len(numbers):,} of {counted(n, 'row')}")
        given = taken(table, lengths, numbers)
        say(f"fitting {counted(len(numbers), 'row')} in memory")
        model.fit(given)
        sample = sample_of(model, rows_of(model, given))
        self._fit_all(table, lengths, numbers, model, sample, say)
        self.n_samples_, self.sample_rows_ = n, numbers
        return self

    def fit_predict(self, X: Any, y: Any = None, **kwargs: Any) -> Any:
        """Find the clusters of ``X`` and return the cluster of every row, lazily."""
        return self.fit(X, y, **kwargs).labels_

    def predict(self, X: Any) -> Any:
        """Cluster of every row; nothing is learned from it.

        Parameters
        ----------
        X : Dask array or dataframe, or array-like of shape (n_samples, n_features)
            Any rows, in the units of the training data.

        Returns
        -------
        Dask array or series
            Lazy, as from :func:`predict`; of rows in memory an ndarray.
        """
        check_is_fitted(self)
        dask = imported_dask()
        lazy = isinstance(X, (dask.array.Array, dask.dataframe.DataFrame))
        return predict(self.model_, X) if lazy else self.model_.predict(X)

    # --- the stages ------------------------------------------------------------------------------

    def _fit_all(
        self,
        table: Table,
        lengths: NDArray[np.int64],
        numbers: NDArray[np.int64],
        model: ICVIARTMAP,
        sample: Sample,
        say: Report,
    ) -> None:
        """All rows join the clusters of the sample, and passes over them follow."""
        recorded = recorded_steps(model, sample)
        reading = passes.Reading(
            without_samples(model),
            sample.only_complete,
            recorded,
            np.asarray(sample.rows[sample.trained][0], np.float64),
        )
        how = shared(reading)
        blocks = [task(passes.read, block, how, i) for i, block in enumerate(table.blocks)]
        if self._keeps(int(lengths.sum()), sample.seen.shape[1]):
            blocks = held(blocks)
        say("scaling by all rows")
        parts = [task(passes.sums_and_grid, block) for block in blocks]
        sums, on_grid = computed(reduced([*parts], passes.merged_with_grid))
        resolution = resolution_by(model, sample, np.where(on_grid, recorded, 0.0))
        fitted, index = model.fitted_, model.fitted_.index
        scaling = index.resolved(exact.scaling(sums), resolution)
        data, count = standardised_data(sample.seen, scaling), len(fitted.group_clusters)
        moments = mom.of_clusters(data, sample.group, count, index.needs_scatter)
        say("all rows join")
        known = _known(lengths, numbers[sample.trained], sample.group)
        first = passes.partition_of(blocks, passes.Rule(index, scaling, moments), known)
        say(f"joined: {index.name} = {number(index.value(first.score), 6)}")
        everybody = bool(len(numbers) == lengths.sum())
        found = passes.improve(
            blocks,
            first,
            fitted.group_clusters,
            sample.seen,
            0 if everybody else self.max_passes,
            self.tol,
            say,
        )
        found = found._replace(converged=found.converged or everybody)
        say("categories of all rows")
        net = passes.Net(
            _rescaled(fitted.boxes, fitted.scaling, scaling),
            model.category_labels_,
            fitted.group_clusters,
            model.alpha,
        )
        boxes = passes.grown_boxes(blocks, found.partition, net, float(model.rho_a))
        self._finish(table, model, sample, found, boxes, resolution, reading, known)

    def _finish(
        self,
        table: Table,
        model: ICVIARTMAP,
        sample: Sample,
        found: passes.Progress,
        boxes: NDArray[np.float64],
        resolution: NDArray[np.float64],
        reading: passes.Reading,
        known: list[passes.Known | None],
    ) -> None:
        """Set what is left of a fit."""
        partition = found.partition
        rule, clusters = partition.rule, model.fitted_.group_clusters
        group = sample.group if partition.known is known else rule.groups(sample.seen)
        told = AllRows(rule.scaling, resolution, partition.moments, boxes, found.scores, group)
        order = tell_of_all(model, sample, told)
        labelling = passes.Labelling(
            reading,
            rule,
            np.argsort(order)[clusters],
            without_samples(model).fitted_ if model.noise else None,
        )
        if model.noise and labelling.noise is not None:  # it is asked about prepared rows
            labelling = labelling._replace(noise=replace(labelling.noise, preparation=None))
        how = shared(labelling)
        given = zip(table.blocks, partition.known, strict=True)
        tasks = [task(_labels, block, how, own, i) for i, (block, own) in enumerate(given)]
        self.labels_ = labels_of(table, tasks)
        self.model_ = model
        self.n_clusters_ = model.n_clusters_
        self.cluster_centers_ = model.cluster_centers_
        self.index_value_ = model.index_value_
        self.pass_values_ = model.fitted_.index.direction * np.array(found.scores)
        self.n_passes_ = len(found.scores) - 1
        self.converged_ = found.converged
        self.n_features_in_ = model.n_features_in_
        if hasattr(model, "feature_names_in_"):
            self.feature_names_in_ = model.feature_names_in_

    # --- parameters ------------------------------------------------------------------------------

    def _model(self) -> ICVIARTMAP:
        """A model with these parameters, all of them checked."""
        given = self.get_params(deep=False)
        model = ICVIARTMAP(**{name: given[name] for name in given if name not in OWN})
        check_before_fit(model)
        if not isinstance(self.sample_size, str):
            check_integer("sample_size", self.sample_size, 2)
        elif self.sample_size != "auto":
            raise ValueError(
                f'sample_size must be "auto" or a number of rows, got {shown(self.sample_size)}.'
            )
        check_integer("max_passes", self.max_passes, 0, MOST_PASSES)
        if not isinstance(self.keep, (bool, np.bool_)) and str(self.keep) != "auto":
            raise ValueError(f'keep must be "auto", True or False, got {shown(self.keep)}.')
        return model

    def _reporter(self, report: Report | None) -> Report:
        def say(line: str) -> None:
            if report is not None:
                report(line)
            if self.verbose:
                print(f"DistributedICVIARTMAP: {line}", flush=True)

        return say

    def _sample_rows(self, n: int, d: int) -> NDArray[np.int64]:
        """Numbers of the rows of the sample, rising; they do not depend on the blocks."""
        if isinstance(self.sample_size, str):
            wanted = self.n_clusters
            k = max(wanted) if isinstance(wanted, range) else 0 if wanted == "auto" else wanted
            size = max(SAMPLE_NUMBERS // d, SAMPLE_ROWS, part_size(n, d, int(k)))
        else:
            size = int(self.sample_size)
        if size >= n:
            return np.arange(n)
        rng = checked_generator(self.random_state)
        seed = int(rng.randint(np.iinfo(np.int32).max))
        return np.sort(sample_without_replacement(n, size, random_state=seed)).astype(np.int64)

    def _keeps(self, n: int, d: int) -> bool:
        """Whether blocks stay with the workers."""
        if isinstance(self.keep, (bool, np.bool_)):
            return bool(self.keep)
        return 8 * n * d <= KEPT_PART * memory_of_workers()


def _known(
    lengths: NDArray[np.int64], rows: NDArray[np.int64], groups: NDArray[np.int64]
) -> list[passes.Known | None]:
    """The rows of every block whose group the sample has told."""
    ends = np.cumsum(lengths)
    cuts = np.searchsorted(rows, ends)
    found: list[passes.Known | None] = []
    for begin, stop, first in zip([0, *cuts[:-1]], cuts, ends - lengths, strict=True):
        mine = slice(int(begin), int(stop))
        found.append(passes.Known(rows[mine] - first, groups[mine]) if stop > begin else None)
    return found


def _rescaled(boxes: NDArray[np.float64], old: Scaling, new: Scaling) -> NDArray[np.float64]:
    """Boxes in the ranges of other rows, which include those of the old ones."""
    d = len(old.minimum)
    lower = new.min_max(old.min_max_inverse(boxes[:, :d]))
    upper = new.min_max(old.min_max_inverse(1.0 - boxes[:, d:]))
    return np.hstack([np.clip(lower, 0.0, 1.0), 1.0 - np.clip(upper, 0.0, 1.0)])


def _labels(block: Any, how: passes.Labelling, known: Any, number_of_block: int) -> Any:
    return like_block(block, passes.labels_of_block(block, how, known, number_of_block))
