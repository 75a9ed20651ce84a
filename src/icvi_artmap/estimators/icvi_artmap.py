"""ICVIARTMAP, the scikit-learn estimator: validate, fit, set attributes; nothing else."""

from __future__ import annotations

import copy
import numbers
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal, Self

import joblib
import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils import check_array
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from icvi_artmap._support.callbacks import (
    UNWATCHED,
    CallbackSupportMixin,
    Watch,
    watched,
    with_callbacks,
)
from icvi_artmap._support.threads import are_shared, in_threads, sharing
from icvi_artmap._support.validation import (
    MOST_EPOCHS,
    MOST_RUNS,
    check_choice,
    check_integer,
    check_jobs,
    check_real,
    check_truth,
    check_verbose,
    checked_data,
    checked_generator,
    short_messages,
)
from icvi_artmap._support.wording import number, parameter, shown
from icvi_artmap.estimators import notebook, preparing
from icvi_artmap.estimators.components import Components, Joins
from icvi_artmap.estimators.fitted import FittedModel, groups_of
from icvi_artmap.estimators.numbering import keeps_numbers, number_by_size, renumbered_result
from icvi_artmap.estimators.partial_fit import (
    Call,
    check_stream,
    check_stream_parameters,
    forget_stream,
    is_begun,
    takes_rows_as_they_are,
)
from icvi_artmap.indices.base import Index
from icvi_artmap.indices.registry import get_index
from icvi_artmap.network.driver import Parameters
from icvi_artmap.prediction.index_value import score
from icvi_artmap.preparation.preparation import Preparation
from icvi_artmap.samples import moments as mom
from icvi_artmap.samples.mixture import make_mixture
from icvi_artmap.samples.resolution import steps
from icvi_artmap.samples.scaling import Scaling, learn_scaling
from icvi_artmap.training.first_run import compile_by_two
from icvi_artmap.training.number_of_clusters import Selection, select
from icvi_artmap.training.part import extended, part_rows, start_rows
from icvi_artmap.training.run import Epoch, FitResult, Run, Settings
from icvi_artmap.training.shapes import Recorded, Shapes, Survey, joined_result
from icvi_artmap.training.start import (
    Samples,
    Start,
    kmeans_centres,
    make_samples,
    presentation_order,
    start_at,
    start_from,
)
from icvi_artmap.training.stream import Drift, Stream

_SEEDS = np.iinfo(np.int32).max
PREDICTIONS = ("auto", "index", "category")
SHAPES = ("gaussian", "any", "auto")
ONE_CLUSTER = (
    "n_clusters=1 is not a clustering: every index compares at least two clusters. "
    "Use n_clusters >= 2."
)


class ICVIARTMAP(
    CallbackSupportMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    ClusterMixin,
    notebook.SummarisedEstimator,
):
    """Clustering in which a cluster validity index decides every step (iCVI-ARTMAP).

    A fuzzy ARTMAP network is taught, sample by sample, the cluster that makes the index of the
    whole partition best; clusters are merged and split at the end of every epoch. Data are scaled
    inside: standardised for the index, min-max scaled and complement coded for the network.

    Parameters
    ----------
    n_clusters : int, range or "auto", default=8
        Number of clusters to find, at least 2; or a range of numbers to choose from, as
        ``range(2, 21)``; or "auto" to choose from 2 on, as far as it gets better and to 256 at
        the most. The choice is meant for NI (see ``selection_``); with another index its own value
        chooses.
    index : str or Index, default="NI"
        "NI" (negentropy increment ↓: Gaussian clusters of any covariance), "CH" (Calinski-Harabasz
        ↑), "WB" (WB-index ↓), "XB" (Xie-Beni ↓), "DB" (Davies-Bouldin ↓), "PBM"
        (Pakhira-Bandyopadhyay-Maulik ↑), capitals or not; or what :func:`custom_index` returns.
        Beyond the paper's: "SIL" (centroid-based silhouette ↑), "PS" (partition separation ↑),
        "GD43" and "GD53" (generalised Dunn ↑), "rCIP" (cross information potential ↓), "rH"
        (cross-entropy ↑); docs/indices.md says what they are good for.
    shape : {"gaussian", "any", "auto"}, default="gaussian"
        What a cluster is. "gaussian": what the index describes by a centre and a spread. "any":
        what no valley of the density parts, as rings, moons and spirals; many Gaussian components
        are found and joined to clusters (see ``components_`` and ``joins_``). "auto": as "any"
        where components describe the data better than as many Gaussians as there are clusters,
        and else as "gaussian". Needs NI and refinement, which are the defaults.
    rho_a : float, default=0.0
        Vigilance of the categories, in [0, 1]: the greater, the smaller the boxes.
    rho_ab : float, default=1.0
        Vigilance of the map field, in [0, 1]. At 1 a sample gets the cluster that the index
        prefers, if it prefers one; below, categories may overrule it.
    beta_a : float, default=1.0
        Learning rate of the categories, in (0, 1].
    alpha : float, default=1e-3
        Choice parameter, greater than 0.
    epsilon : float, default=0.01
        Match tracking: by how much the vigilance rises above the match of a refused category.
    beta_ab : float, default=1e-3
        Learning rate of the map field, in (0, 1].
    tol : float, default=1e-6
        Training ends when the index changes by no more than this from one epoch to the next.
    max_epochs : int, default=20
        Training ends after this many epochs at the latest; at most 1,000,000.
    init : {"k-means++"} or array-like of shape (n_clusters, n_features), default="k-means++"
        Start from the centres of k-means, or from these centres (in the units of the data).
    n_init : int, default=1
        Number of whole runs from different starts, at most 10,000; the one with the best index
        value is kept. If ``joblib.parallel_config`` names more than one worker, as of a Dask
        cluster, and ``n_jobs`` is None, the runs are made there.
    kmeans_trials : int, default=10
        Number of k-means runs for one start, at most 10,000, of which the best is taken.
    shuffle : bool, default=True
        Present the samples in a random order (drawn once), or in the given one.
    order : {"vat"} or None, default=None
        "vat": sort them by visual assessment of cluster tendency (:func:`vat`, on min-max scaled
        data) before they are presented. That takes time with the square of their number.
    refine : {"auto"} or bool, default="auto"
        Whether to go on after the last epoch, with steps that split one cluster and merge or
        dissolve others while that makes the index better; the network is then taught the partition
        found. "auto": yes for the indices it was measured to help. False: the paper's algorithm.
    resolution : {"auto", "learn", "none"}, default="auto"
        "learn": in what steps the values of a column were recorded is learned from them, and no
        cluster counts as flatter than rounding alone makes it. "auto": where clusters are refined;
        the paper's algorithm knows no steps. It makes no difference to columns without a grid, or
        to an index that does not describe clusters as Gaussians.
    evaluation : {"incremental", "batch"}, default="incremental"
        "batch" computes every trial anew from the data (the paper's bCVI-ARTMAP): the same labels,
        much slower.
    prediction : {"auto", "index", "category"}, default="auto"
        How :meth:`predict` chooses: "index" takes the cluster with which the index of training
        data and sample together is best, "category" that of the category with the largest choice
        value. "auto" is "index", but "category" for DB: what labelled held-out halves of the
        paper's synthetic sets better. It can be changed after the fit.
    noise : bool, default=False
        Whether samples that lie far out of all clusters get the label -1, in :meth:`fit` and
        :meth:`predict`: those with an :meth:`outlier_score` above 0.5. Clusters are found as
        without it. For :meth:`predict` it can be changed after the fit.
    missing : {"error", "drop", "mean", "median", "neighbours"}, default="error"
        What is done about missing values (NaN). "error": they are refused. "drop": rows with gaps
        are left out; their label is -3, as in scikit-learn's HDBSCAN, in :meth:`predict` too.
        "mean", "median", "neighbours": gaps are filled with what the training data have in the
        column, or the five nearest of 1,000 rows of them. Clusters are found on the rows without
        gaps if these are half of all, or 20 for every column and one more, as filled cells would
        make clusters of their own; the others then get the cluster they are predicted to be in.
    transform_columns : {"none", "clip", "power", "auto"}, default="none"
        What is done about skew and long tails before columns are standardised. "clip": values
        beyond 3 robust deviations from the median are drawn in logarithmically. "power": Yeo and
        Johnson's power of every column. "auto": the one of the three under which clusters describe
        the data best, by a likelihood in the units of the data; three fits on up to 2,000 rows
        find it.
    categories : {"auto"}, sequence or None, default=None
        Columns that hold categories, by name or position; "auto": text, and columns of two
        values. They and the numbers are then turned to the principal axes of both (factor analysis
        of mixed data). None: all columns are numbers.
    n_axes : int or None, default=None
        Turn the columns, standardised, to their principal axes and use the first of them, at most
        this many. What is found is told in the units of the columns.
    warm_up : int, default=1000
        For :meth:`partial_fit`: rows that are collected before a start is made.
    memory : int, default=1000
        For :meth:`partial_fit`: rows that are remembered, at most ``warm_up``. All rows so far are
        remembered with the same probability or, with ``forgetting``, the newer with a greater one.
    forgetting : float, default=1.0
        For :meth:`partial_fit`: what the weight of every earlier row is multiplied by when a new
        one comes, above 0 and at most 1. The weights of all add up to 1 / (1 - forgetting).
    n_jobs : int or None, default=None
        Threads for the starts and runs of ``n_init``, for halves of the rows that a chosen number
        of clusters is checked on, and for landscapes of other shapes; -1: one for every processor.
        None: one. The result is the same for any number. Callbacks are not told of the epochs of
        runs that several threads make.
    random_state : int, RandomState instance or None, default=None
        Seed of the starts and of the order of presentation.
    verbose : int or bool, default=0
        1 prints a line for every epoch. From scikit-learn 1.9 on, ``set_callbacks`` takes its
        callbacks as well, as ``ProgressBar()``: tasks are runs, and in these epochs.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of every training sample, 0 to ``n_clusters_ - 1``; -1 for noise, -3 for rows with
        gaps if ``missing="drop"``. After :meth:`partial_fit`: of the rows of its last call.
        Clusters are numbered by size, the largest is 0; of equals, the one that comes first in the
        data. With ``refine=False`` they have the numbers that the paper's algorithm gives them.
        :meth:`partial_fit` numbers them when it makes a start, and they keep their numbers then
        until clusters are merged, split or forgotten.
    sample_clusters_ : ndarray of shape (n_samples,)
        The same with every sample in the cluster that it was trained in, also if it is noise. All
        that is known of clusters (centres, index, categories) is of these.
    n_clusters_ : int
        Number of clusters found; it can be less than ``n_clusters``.
    cluster_centers_ : ndarray of shape (n_clusters_, n_features)
        Cluster means, in the units of the data; of a category, the position of its commonest value
        in ``preparation_.values``.
    index_value_ : float
        The index of the partition, in its own sign. It compares partitions into the same number of
        clusters, and does not choose that number: NI is better the more clusters there are. What
        chooses it is ``n_clusters="auto"``.
    index_history_ : ndarray of shape (n_iter_ + 1,), longer if refined
        Its value at the start and at the end of every epoch; then, if the partition is refined,
        before the first step of that and after every step. After :meth:`partial_fit`: these of the
        start, then the value after every call; of many the last ones.
    history_ : dict of str to ndarray of shape (n_iter_,)
        For every epoch: "n_clusters" and "n_categories" at its end, and how many "merges" and
        "splits" of clusters were made there. Refining comes after all that.
    index_trace_ : ndarray of shape (n_iter_ * n_samples,)
        Its value after every presentation; only after ``fit(X, trace=True)``.
    n_iter_ : int
        Number of epochs.
    converged_ : bool
        Whether training ended before ``max_epochs`` forced it to, and the search for a number of
        clusters before its limit did.
    categories_ : ndarray of shape (n_categories, 2, n_features)
        Lower and upper corners of the boxes, in the units of the data.
    category_labels_ : ndarray of shape (n_categories,)
        Cluster that every category predicts.
    map_field_ : ndarray of shape (n_categories, n_clusters_)
        How strongly every category is tied to every cluster.
    sample_categories_ : ndarray of shape (n_samples,)
        Category of every training sample.
    vigilances_ : Vigilances
        Intervals of ``rho_a`` and ``rho_ab`` within which the fit is the same; a search over
        vigilances need not make it again.
    resolution_ : ndarray of shape (n_features,)
        The steps in which the values of the features were recorded, in their units; 0: none. If
        rows are prepared (``preparation_``), what that makes of the steps.
    selection_ : Selection
        How the number of clusters was chosen; only if there was a choice.
    components_ : Components
        What the clusters were joined of: labels, clusters, means, covariances and weights; only if
        they were joined of components.
    joins_ : Joins
        In what order components were joined, and how deep the valleys between them are; only if
        they were joined.
    preparation_ : Preparation or None
        What is done to rows before they are clustered; None if nothing is.
    cautions_ : tuple of str
        What casts a doubt on the clusters, in sentences: filled cells that make a cluster, one
        column whose values are the clusters.
    fitted_ : FittedModel
        What predicting needs: the index, the scaling, the moments of the clusters and the boxes.
    n_samples_seen_ : int
        Rows that :meth:`partial_fit` was given.
    drift_ : Drift
        After :meth:`partial_fit`: ``level``, how near to a break the stream is, from 0 to 1;
        ``breaks``, after how many rows clusters have changed; and ``told``, after how many that was
        noticed.
    stream_ : Stream
        What :meth:`partial_fit` goes on with.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if all are strings.

    Examples
    --------
    >>> from icvi_artmap import ICVIARTMAP
    >>> from icvi_artmap.datasets import make_gaussian_clusters
    >>> X, y = make_gaussian_clusters(4, 2, random_state=0)
    >>> model = ICVIARTMAP(n_clusters=4, random_state=0).fit(X)
    >>> model.n_clusters_
    4
    >>> bool((model.predict(X) == model.labels_).mean() > 0.9)
    True
    """

    fitted_: FittedModel
    selection_: Selection
    preparation_: Preparation | None
    stream_: Stream
    drift_: Drift
    n_samples_seen_: int
    _collected: list[NDArray[np.floating]]  #: rows before the start of a stream

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
    ) -> None:
        _refuse_one_cluster(n_clusters)
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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing != "error"
        tags.input_tags.string = tags.input_tags.categorical = self.categories is not None
        return tags

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name, as in scikit-learn."""
        _refuse_one_cluster(params.get("n_clusters"))
        return super().set_params(**params)

    def fit(self, X: ArrayLike, y: Any = None, *, trace: bool = False) -> Self:
        """Find the clusters of ``X``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers, dense; with missing values and text only if ``missing`` and ``categories``
            say what is done about them.
        y : ignored
            But passed on to scikit-learn's callbacks, if there are any.
        trace : bool, default=False
            Also keep the index value after every presentation, as ``index_trace_``.

        Returns
        -------
        self : ICVIARTMAP
        """
        index, parameters = self._check_parameters()
        X = self._check_data(X, reset=True)
        if len(X) < self._wanted()[0]:
            raise ValueError(
                f"{parameter('n_clusters', self.n_clusters)} is more than the number of samples, "
                f"n_samples={len(X)}. Ask for at most as many clusters as there are samples."
            )
        forget_stream(self)
        given = self._given_centres(X.shape[1])
        with sharing(self.n_jobs):
            if preparing.prepares(self):
                preparing.fit(self, X, y, given, (index, parameters, trace))
            else:
                self.preparation_ = None
                self._fit(X, y, given, index, parameters, trace)
        self.cautions_ = tuple(preparing.cautions(self, X))
        for caution in self.cautions_:
            warnings.warn(caution, RuntimeWarning, stacklevel=2)
        if self.cautions_ and hasattr(self, "selection_") and self.selection_.clear:
            self.selection_ = replace(self.selection_, clear=False, cautioned=True)
        if hasattr(self, "selection_") and (doubt := self.selection_.doubt()) is not None:
            warnings.warn(doubt, RuntimeWarning, stacklevel=2)
        return self

    @available_if(takes_rows_as_they_are)
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
        check_stream(self, index, parameters)
        rows = checked_data(self, X, reset=not is_begun(self), ensure_min_samples=1)
        self.preparation_, self.cautions_ = None, ()
        with sharing(self.n_jobs):
            Call(self, rows, index, parameters).learn()
        return self

    @with_callbacks
    def _fit(
        self,
        X: NDArray[np.floating],
        y: Any,
        given: NDArray[np.float64] | None,
        index: Index,
        parameters: Parameters,
        trace: bool,
        of: preparing.Prepared | None = None,
        random_state: np.random.RandomState | None = None,
    ) -> FitResult:
        """What is left of a fit when everything is checked. ``of``: what ``X`` was made of."""
        watch = watched(self, X if of is None else of.given, y, self._attributes_of)
        watch.begin("fit", self._n_tasks(given))
        if self.evaluation != "batch":
            compile_by_two(index)
        random_state = random_state or checked_generator(self.random_state)
        scaling = learn_scaling(X)  # refuses ranges that are too large to look for steps in
        self.resolution_ = self._steps(X, index, of)
        scaling = index.resolved(scaling, self.resolution_)
        order = presentation_order(X, scaling, self.shuffle, self.order, random_state)
        seeds = [int(random_state.randint(_SEEDS)) for _ in range(self.n_init)]
        if hasattr(self, "selection_"):
            del self.selection_
        survey, k, early = None, None, self._surveys() or (given is None and self._chooses())
        if early:
            samples = make_samples(X, scaling, order, index)
        if self._surveys():
            survey = self._survey(samples, index, seeds[0], watch)
            k = self._number_of_shapes(survey)
        if given is None and k is None and self._chooses():
            start = self._select(samples, index, watch, X if of is None else of.filled)
            rows = self._training_rows(X.shape, start.n_clusters, index, seeds[0])
            starts = [start if rows is None else start.take(rows)]
        else:
            k = k or self._wanted()[0]
            rows = self._training_rows(X.shape, k, index, seeds[0])
            # k-means first, all starts of it: it needs memory that the samples would take.
            seen = X
            if rows is not None and len(rows) < len(X):
                seen = X[order[start_rows(rows, index, k, seeds[0])]]
            starts = self._starts(seen, given, scaling, seeds, k)
        if not early:
            samples = make_samples(X, scaling, order, index)
        part = samples if rows is None else samples.take(rows)

        def settings(number_of_run: int) -> Settings:
            return self._settings(index, parameters, seeds[0], trace, number_of_run)

        best = self._best_run(part, starts, settings, watch)
        best = best if rows is None else extended(best, rows, samples)
        result = best.result()
        if survey is not None and (shapes := self._shapes(survey, best)) is not None:
            result = joined_result(samples, shapes, result, best.settings)
        del samples, part, best, survey  # as large as all that is left behind
        self._set_result(result, scaling, index)
        self.fitted_ = self.fitted_.with_levels(X, groups_of(self))
        if self.noise:
            self.labels_ = np.where(self.fitted_.noise(X), -1, self.sample_clusters_)
        if hasattr(self, "selection_") and self.selection_.limited:
            self.converged_ = False
        if of is not None:
            preparing.finish(self, of)
        if not keeps_numbers(self):
            result = renumbered_result(result, number_by_size(self))
        watch.end(self)
        return result

    def __sklearn_is_fitted__(self) -> bool:
        """Not so while :meth:`partial_fit` collects its first rows."""
        return hasattr(self, "fitted_")

    def _steps(
        self, X: NDArray[np.floating], index: Index, of: preparing.Prepared | None = None
    ) -> NDArray[np.float64]:
        """The steps of the rows to cluster, if they are to be learned; else 0.

        ``of``: what the rows were made of, which was recorded in steps.
        """
        learns = self.resolution == "learn" or (self.resolution == "auto" and self._refines(index))
        if not learns or not index.gaussian:
            return np.zeros(X.shape[1])
        return steps(X) if of is None else of.made.steps(of.given, steps(of.given))

    def _surveys(self) -> bool:
        """Whether clusters may be joined of components."""
        return self.shape != "gaussian" and self._wanted() != (1, 1)

    def _survey(self, samples: Samples, index: Index, seed: int, watch: Watch) -> Survey:
        """Landscapes of the data, for clusters of any shape."""
        rng, report = np.random.RandomState(seed), self._reporter(0)
        watch.begin("survey")
        scaling, recorded = samples.scaling, None
        if self.resolution_.any():
            coarseness = scaling.unit / scaling.deviation
            recorded = Recorded(self.resolution_ / scaling.span, coarseness)
        survey = Survey(index, samples.data, self._wanted()[0], rng, report, recorded)
        watch.end()
        return survey

    def _number_of_shapes(self, survey: Survey) -> int | None:
        """The number of clusters that landscapes show, if they are asked."""
        if self.shape != "any" or not self._chooses():
            return None
        chosen = survey.select(*self._wanted())
        if chosen is None:
            return None
        self.selection_ = chosen
        return chosen.n_clusters

    def _shapes(self, survey: Survey, run: Run) -> Shapes | None:
        """The clusters as they are joined of components; None if they are better left as they are.

        Asked for "auto" shapes, they are joined only where components describe the data better; and
        asked for the number of clusters as well, only where it is clear.
        """
        k = run.k
        if self.shape == "auto" and not self._chooses():
            if not survey.describes_better(run.labels):
                return None
        elif self.shape == "auto":
            chosen = survey.select(*self._wanted())
            if chosen is None or not chosen.clear or chosen.n_clusters == k:
                return None
            shapes = survey.best(run.labels, chosen.n_clusters)
            if shapes is not None:  # else the clusters, and how many they are, stay as they were
                self.selection_ = chosen
            return shapes
        elif self._chooses() and self.selection_.joins:
            k = self.selection_.n_clusters
        return survey.best(run.labels, k)

    def _attributes_of(self, subject: Any) -> dict[str, Any]:
        """The attributes of a fit as if it ended now, for whoever looks at a run."""
        if subject is self:
            return {}
        model, mine = copy.copy(self), vars(self)
        model._set_result(subject.result(), subject.samples.scaling, subject.index)
        preparing.turn_back(model)
        return {name: a for name, a in vars(model).items() if a is not mine.get(name)}

    def fit_predict(self, X: ArrayLike, y: Any = None, **kwargs: Any) -> NDArray[np.int64]:
        """Find the clusters of ``X`` and return the cluster of every sample."""
        return self.fit(X, **kwargs).labels_

    def predict(self, X: ArrayLike) -> NDArray[np.int64]:
        """Cluster of every row, each by itself; nothing is learned from it.

        With ``prediction="index"`` a row gets the cluster that leaves the index best when the row
        is added to the training data there. With ``prediction="category"`` it gets the cluster of
        the category with the largest choice value. Of equals the lowest number wins. With
        ``noise=True`` a row whose :meth:`outlier_score` is above 0.5 gets -1. With
        ``missing="drop"`` a row with gaps gets -3.

        Training samples need not get the cluster they have in ``labels_``: there they were taken
        out of their own cluster first, and with ``rho_ab`` below 1 categories had a say.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Any rows, in the units of the training data.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        self._check_prediction()
        X = self._check_data(X, reset=False)
        labels = self._predict(X)
        labels = np.where(self.fitted_.noise(X), -1, labels) if self.noise else labels
        return preparing.without_dropped(self, X, labels)

    def membership(self, X: ArrayLike) -> NDArray[np.float64]:
        """How probable every cluster is for every row, of shape (n_samples, n_clusters_).

        It is the part of the cluster in the density at the row, if every cluster is a Gaussian
        with the mean and, nearly, the covariance of its training samples. Rows sum to 1, also far
        away from all clusters: how far a row is away says :meth:`outlier_score`. The most probable
        cluster need not be the one that :meth:`predict` gives, which asks the index.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Any rows, in the units of the training data.

        Returns
        -------
        membership : ndarray of shape (n_samples, n_clusters_)

        Examples
        --------
        >>> from icvi_artmap import ICVIARTMAP
        >>> from icvi_artmap.datasets import make_gaussian_clusters
        >>> X, y = make_gaussian_clusters(4, 2, random_state=0)
        >>> model = ICVIARTMAP(n_clusters=4, random_state=0).fit(X)
        >>> model.membership([[4.5, 2.0], [2.0, -8.0]]).round(2)
        array([[0.  , 1.  , 0.  , 0.  ],
               [0.73, 0.04, 0.23, 0.  ]])
        """
        check_is_fitted(self)
        return self.fitted_.memberships(self._check_data(X, reset=False))

    def outlier_score(self, X: ArrayLike) -> NDArray[np.float64]:
        """How strange every row is to all clusters: 0 is usual, above 0.5 is noise, 1 is far away.

        With r = (usual - density) / (usual - density where noise begins), in logarithms, the score
        is r / (1 + r) for the cluster where r is least, and 0 where the density is higher than
        usual, which is that at the middle sample of a cluster. Noise begins where the cluster, if
        it were a Gaussian with as much spread, would have less than half a sample.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Any rows, in the units of the training data.

        Returns
        -------
        score : ndarray of shape (n_samples,)

        Examples
        --------
        >>> from icvi_artmap import ICVIARTMAP
        >>> from icvi_artmap.datasets import make_gaussian_clusters
        >>> X, y = make_gaussian_clusters(4, 2, random_state=0)
        >>> model = ICVIARTMAP(n_clusters=4, noise=True, random_state=0).fit(X)
        >>> rows = [[4.5, 2.0], [12.0, 2.0], [20.0, 2.0], [1e6, 2.0]]
        >>> model.outlier_score(rows).round(2)
        array([0.  , 0.19, 0.56, 1.  ])
        >>> model.predict(rows)
        array([ 1,  1, -1, -1])
        """
        check_is_fitted(self)
        return self.fitted_.outlier_scores(self._check_data(X, reset=False))

    def transform(self, X: ArrayLike) -> NDArray[np.float64]:
        """Choice value of every cluster's best category, of shape (n_samples, n_clusters_).

        The greater, the nearer; 0 for a cluster that no category predicts.
        """
        check_is_fitted(self)
        X = self._check_data(X, reset=False)
        return self.fitted_.choices(X, self.alpha, self.category_labels_)

    def score(self, X: ArrayLike, y: Any = None) -> float:
        """Index of the predicted partition of ``X``; its sign is turned so that greater is better.

        ``X`` is standardised as the training data were. A single predicted cluster scores -inf.
        Rows that are noise are left out.
        """
        labels = self.predict(X)
        X, kept = self._check_data(X, reset=False), labels >= 0
        if not kept.any():
            return -np.inf
        seen = self.fitted_.prepared(X[kept])
        return score(seen, labels[kept], self.fitted_.scaling, get_index(self.index))

    def _predict(self, X: NDArray[np.floating]) -> NDArray[np.int64]:
        by = self.fitted_.index.prediction if self.prediction == "auto" else self.prediction
        if by == "category":
            return self.category_labels_[self.fitted_.nearest_categories(X, self.alpha)]
        return self.fitted_.best_clusters(X)

    def _training_rows(
        self, shape: tuple[int, ...], k: int, index: Index, seed: int
    ) -> NDArray[np.int64] | None:
        """The samples to train with; None: all, without refinement, as the paper has it."""
        n, d = shape
        return part_rows(n, d, k, seed) if self._refines(index) else None

    def _starts(
        self,
        X: NDArray[np.floating],
        given: NDArray[np.float64] | None,
        scaling: Scaling,
        seeds: list[int],
        k: int,
    ) -> list[Start]:
        """Where the runs begin: at the given centres, or at those of k-means on these rows."""
        if given is not None:
            return [start_at(given, scaling)]

        def start(seed: int) -> Start:
            return start_at(kmeans_centres(X, scaling, k, self.kmeans_trials, seed), scaling)

        return list(in_threads(start, seeds))

    def _select(
        self, samples: Samples, index: Index, watch: Watch, given: NDArray[np.floating]
    ) -> Start:
        """Choose the number of clusters; the run begins with the partition found for it.

        ``given``: the rows as they were recorded.
        """
        least, most = self._wanted()
        report = self._reporter(0)
        watch.begin("choose", most)
        self.selection_, labels = select(
            index,
            samples.data,
            least,
            most,
            report,
            watch,
            lambda rows: given[samples.order[rows]],
            (lambda found: watch.tried(samples.in_original_order(found)))
            if watch.wants_partitions
            else None,
        )
        watch.end()
        moments = mom.of_clusters(samples.data, labels, self.selection_.n_clusters, False)
        return start_from(labels, moments.mean, samples.data)

    def _wanted(self) -> tuple[int, int | None]:
        """The least and the largest number of clusters to choose from; None: no limit."""
        if isinstance(self.n_clusters, str):
            return 2, None
        if isinstance(self.n_clusters, range):
            return self.n_clusters[0], self.n_clusters[-1]
        return int(self.n_clusters), int(self.n_clusters)

    def _chooses(self) -> bool:
        """Whether there is a number of clusters to choose."""
        least, most = self._wanted()
        return least != most

    def _settings(
        self,
        index: Index,
        parameters: Parameters,
        seed: int,
        trace: bool,
        number_of_run: int,
    ) -> Settings:
        """What a run is told."""
        return Settings(
            index,
            parameters,
            tol=self.tol,
            max_epochs=self.max_epochs,
            batch=self.evaluation == "batch",
            trace=trace,
            refine=seed if self._refines(index) else None,
            report=self._reporter(number_of_run),
        )

    def _best_run(
        self,
        samples: Samples,
        starts: list[Start],
        settings: Callable[[int], Settings],
        watch: Watch,
    ) -> Run:
        """Of the runs from all starts the one that ends best, the first of equals.

        ``settings``: those of a run, by its number.
        """
        if len(starts) > 1 and self.n_jobs is None and joblib.effective_n_jobs(None) > 1:
            starts = [_best_start(samples, starts, replace(settings(0), report=None, trace=False))]
        # Callbacks are told of runs in this thread alone.
        each, told = (in_threads, UNWATCHED) if len(starts) > 1 and are_shared() else (map, watch)

        def trained(number_of_run: int, start: Start) -> tuple[Run, bool]:
            now = settings(number_of_run)
            told.begin("run", self.max_epochs + self._refines(now.index))
            return Run(samples, start, now, told).train(), told.end()

        best: Run | None = None
        for run, enough in each(trained, range(len(starts)), starts):
            if best is None or run.score > best.score:
                best = run
            if enough:
                break
        assert best is not None
        return best

    def _n_tasks(self, given: NDArray[np.float64] | None) -> int:
        """Of a fit, as callbacks see it: runs, and what is found out before; at most."""
        survey = int(self._surveys())
        if self._chooses():
            return survey + max(2, self.n_init * survey)
        return survey + (self.n_init if given is None else 1)

    @property
    def _n_features_out(self) -> int:
        return self.n_clusters_

    def _set_result(self, result: FitResult, scaling: Scaling, index: Index) -> None:
        """All that a fit leaves behind, from what cannot be computed from the rest."""
        d = len(scaling.minimum)
        self.labels_ = self.sample_clusters_ = result.labels
        self.n_clusters_ = len(result.centres)
        self.cluster_centers_ = scaling.standardise_inverse(result.centres)
        self.index_value_ = index.value(result.history[-1])
        self.index_history_ = index.direction * np.array(result.history)
        self.history_ = {
            name: np.array([getattr(epoch, name) for epoch in result.epochs], np.int64)
            for name in Epoch._fields
        }
        self.n_iter_ = len(result.epochs)
        self.converged_ = result.converged
        self.categories_ = np.stack(
            [
                scaling.min_max_inverse(result.boxes[:, :d]),
                scaling.min_max_inverse(1.0 - result.boxes[:, d:]),
            ],
            axis=1,
        )
        self.category_labels_ = result.map_field.argmax(axis=1)
        self.map_field_ = result.map_field
        self.sample_categories_ = result.sample_categories
        self.vigilances_ = result.vigilances
        if result.trace is not None:
            self.index_trace_ = index.direction * result.trace
        elif hasattr(self, "index_trace_"):
            del self.index_trace_
        self._set_components(result, scaling)
        groups, clusters = result.moments, np.arange(self.n_clusters_)
        if result.joined is not None:
            groups, clusters = result.joined.moments, result.joined.clusters
        self.fitted_ = FittedModel(index, scaling, result.moments, result.boxes, groups, clusters)

    def _set_components(self, result: FitResult, scaling: Scaling) -> None:
        """What the clusters were joined of, if they were."""
        for name in ("components_", "joins_"):
            if hasattr(self, name):
                delattr(self, name)
        if (joined := result.joined) is None:
            return
        mixture = make_mixture(joined.moments)
        self.components_ = Components(
            labels=joined.labels,
            clusters=joined.clusters,
            means=scaling.standardise_inverse(mixture.mean),
            covariances=mixture.covariance * np.outer(scaling.unit, scaling.unit),
            weights=joined.moments.n / joined.moments.n.sum(),
        )
        made = np.arange(len(joined.clusters) - 1) < len(joined.clusters) - self.n_clusters_
        self.joins_ = Joins(*joined.tree, made, joined.clusters)

    def _summary(self) -> notebook.Summary | None:
        if not hasattr(self, "fitted_"):
            return None
        index = self.fitted_.index
        facts = {
            "Clusters": f"{self.n_clusters_} (n_clusters={self.n_clusters!r})",
            f"Index {index.name}": f"{number(self.index_value_, 6)} ({index.better} is better)",
            "Epochs": f"{self.n_iter_} ({'converged' if self.converged_ else 'not converged'})",
            "Categories": f"{len(self.categories_):,}",
            "Samples, features": f"{len(self.labels_):,}, {self.n_features_in_:,}",
        }
        if noise := int((self.labels_ == -1).sum()):
            facts["Noise"] = f"{noise:,} samples"
        if dropped := int((self.labels_ < -1).sum()):
            facts["Left out"] = f"{dropped:,} samples with missing values"
        if hasattr(self, "selection_"):
            chosen = self.selection_
            facts["Chosen"] = (
                f"k = {chosen.n_clusters} of {chosen.k[0]} to {chosen.k[-1]} by {chosen.rule}, "
                f"{'a clear choice' if chosen.clear else 'not a clear choice'} "
                f"(margin {number(chosen.margin, 3)})"
            )
        names = getattr(self, "feature_names_in_", None)
        means, left_out = notebook.centres(self.cluster_centers_, names)
        predicted = np.bincount(self.category_labels_, minlength=self.n_clusters_)
        columns = {
            **notebook.sizes(self.labels_[self.labels_ >= 0], self.n_clusters_),
            "categories": [f"{n:,}" for n in predicted],
            **means,
        }
        return notebook.Summary(facts, "cluster", range(self.n_clusters_), columns, left_out)

    def _refines(self, index: Index) -> bool:
        if self._wanted() == (1, 1):
            return False
        return index.refined if isinstance(self.refine, str) else bool(self.refine)

    def _reporter(self, run: int) -> Any:
        if not self.verbose:
            return None
        head = f"run {run + 1} of {self.n_init}, " if self.n_init > 1 else ""
        return lambda line: print(f"ICVIARTMAP: {head}{line}", flush=True)

    def _check_data(self, X: ArrayLike, reset: bool) -> NDArray[np.floating]:
        if preparing.prepares(self) if reset else self.preparation_ is not None:
            return preparing.checked_rows(self, X, reset)
        return checked_data(self, X, reset=reset, ensure_min_samples=2 if reset else 1)

    def _given_centres(self, n_features: int) -> NDArray[np.float64] | None:
        """The centres passed as ``init``, or None for k-means."""
        if isinstance(self.init, str):
            if self.init != "k-means++":
                raise ValueError(
                    f'init={shown(self.init)} is unknown. Use "k-means++" or an array of shape '
                    "(n_clusters, n_features) with centres in the units of the data."
                )
            return None
        with short_messages():
            centres = check_array(self.init, dtype=np.float64, input_name="init")
        if self._chooses():
            raise ValueError(
                f"init has centres, so their number is known: n_clusters={shown(self.n_clusters)} "
                f'has nothing to choose. Use n_clusters={len(centres)}, or init="k-means++".'
            )
        expected = (self._wanted()[0], n_features)
        if centres.shape != expected:
            raise ValueError(
                f"init has shape {centres.shape}, but n_clusters={self.n_clusters} and "
                f"{n_features} features need {expected}."
            )
        if self.n_init > 1:
            warnings.warn(
                f"n_init={self.n_init} makes no difference with given centres: one run is made.",
                RuntimeWarning,
                stacklevel=3,
            )
        return centres

    def _check_parameters(self) -> tuple[Index, Parameters]:
        """Check what does not depend on the data; the message says what came and what is wanted."""
        self._check_wanted()
        if self.n_clusters == 1:
            warnings.warn(ONE_CLUSTER, RuntimeWarning, stacklevel=3)
        check_integer("max_epochs", self.max_epochs, 1, MOST_EPOCHS)
        check_integer("n_init", self.n_init, 1, MOST_RUNS)
        check_integer("kmeans_trials", self.kmeans_trials, 1, MOST_RUNS)
        check_jobs(self.n_jobs)
        check_real("rho_a", self.rho_a, 0.0, 1.0)
        check_real("rho_ab", self.rho_ab, 0.0, 1.0)
        check_real("beta_a", self.beta_a, 0.0, 1.0, open_low=True)
        check_real("beta_ab", self.beta_ab, 0.0, 1.0, open_low=True)
        check_real("alpha", self.alpha, 0.0, np.inf, open_low=True)
        check_real("epsilon", self.epsilon, 0.0, 1.0)
        check_real("tol", self.tol, 0.0, np.inf)
        check_verbose(self.verbose)
        check_truth("shuffle", self.shuffle)
        check_truth("noise", self.noise)
        check_choice("order", self.order, (None, "vat"))
        check_choice("shape", self.shape, SHAPES)
        if not isinstance(self.refine, (bool, np.bool_)) and str(self.refine) != "auto":
            raise ValueError(f'refine must be "auto", True or False, got {shown(self.refine)}.')
        check_choice("resolution", self.resolution, ("auto", "learn", "none"))
        check_choice("evaluation", self.evaluation, ("incremental", "batch"))
        self._check_prediction()
        preparing.check_preparation(self)
        index = get_index(self.index)
        check_stream_parameters(self, index)
        if self.shape != "gaussian":
            self._check_shape(index)
        return index, self._network_parameters()

    def _network_parameters(self) -> Parameters:
        return Parameters(
            float(self.rho_a),
            float(self.rho_ab),
            float(self.beta_a),
            float(self.alpha),
            float(self.epsilon),
            float(self.beta_ab),
        )

    def _check_shape(self, index: Index) -> None:
        """What joining components needs."""
        wrong = None
        if not index.gaussian:
            wrong = f"an index of Gaussian clusters, got {shown(index.name)}"
        elif not self._refines(index):
            wrong = f"{parameter('refine')} to be left alone or True, got {shown(self.refine)}"
        elif not isinstance(self.init, str):
            wrong = 'init="k-means++", got centres'
        if wrong is not None:
            raise ValueError(
                f"{parameter('shape', self.shape)} joins Gaussian components, which needs {wrong}. "
                f"Leave it at its default, or use {parameter('shape', 'gaussian')}."
            )

    def _check_wanted(self) -> None:
        wanted = self.n_clusters
        if isinstance(wanted, str):
            if wanted != "auto":
                raise ValueError(
                    f'n_clusters={shown(wanted)} is unknown. Use a number, a range or "auto".'
                )
        elif isinstance(wanted, range):
            if not wanted or wanted[0] < 2 or wanted.step != 1:
                raise ValueError(
                    f"n_clusters={shown(wanted)} must have at least one number, begin at 2 or "
                    "above and leave none out, as range(2, 21) does."
                )
        else:
            one = isinstance(wanted, numbers.Integral) and wanted == 1
            check_integer("n_clusters", wanted, 1 if one else 2)

    def _check_prediction(self) -> None:
        check_choice("prediction", self.prediction, PREDICTIONS)


def _best_start(samples: Samples, starts: list[Start], settings: Settings) -> Start:
    """The start whose run ends best, the first of equals.

    Runs are made wherever joblib's active backend makes them. Only scores come back: the best run
    is made once more, here.
    """
    scores = joblib.Parallel()(joblib.delayed(_score)(samples, start, settings) for start in starts)
    return starts[int(np.argmax(scores))]


def _score(samples: Samples, start: Start, settings: Settings) -> float:
    return Run(samples, start, settings).train().score


def _refuse_one_cluster(n_clusters: Any) -> None:
    """Asked for in the constructor or by set_params, one cluster is an error.

    Not in fit: five of scikit-learn's estimator checks assign n_clusters = 1 to the attribute and
    want the fit to succeed, so there it is a warning and a single cluster.
    """
    if isinstance(n_clusters, numbers.Integral) and n_clusters == 1 and n_clusters is not True:
        raise ValueError(ONE_CLUSTER)
