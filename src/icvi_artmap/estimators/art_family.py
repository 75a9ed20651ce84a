"""The ART family as scikit-learn estimators."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import (
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
)
from sklearn.utils.multiclass import check_classification_targets, unique_labels
from sklearn.utils.validation import check_is_fitted

from icvi_artmap._support.validation import (
    MOST_EPOCHS,
    check_choice,
    check_integer,
    check_real,
    check_truth,
    checked_data,
    checked_generator,
)
from icvi_artmap._support.wording import shown
from icvi_artmap.estimators import notebook
from icvi_artmap.estimators.fitted import FittedNetwork
from icvi_artmap.network.driver import Pace, Parameters
from icvi_artmap.network.fuzzy_art import UNTAUGHT
from icvi_artmap.network.members import NONE
from icvi_artmap.samples.scaling import coded_data, range_scaling
from icvi_artmap.training import art_family as training
from icvi_artmap.training.art_family import ClusterNetwork
from icvi_artmap.training.start import presentation_order

FeatureRange = tuple[ArrayLike, ArrayLike] | None
#: A map field that says nothing.
ONE_COLUMN = np.zeros(1, np.int64)


class Ranges(NamedTuple):
    """Of the features, one entry each."""

    lower: NDArray[np.float64]
    upper: NDArray[np.float64]


class FuzzyNetwork(notebook.SummarisedEstimator):
    """What the estimators of the family share: data in, boxes out."""

    alpha: float
    beta: float
    max_epochs: int | None
    shuffle: bool
    order: Literal["vat"] | None
    feature_range: FeatureRange
    outside: Literal["error", "clip"]
    random_state: int | np.random.RandomState | None

    fitted_: FittedNetwork

    def _check_parameters(self) -> Parameters:
        """Check what does not depend on the data."""
        check_real("alpha", self.alpha, 0.0, np.inf, open_low=True)
        check_real("beta", self.beta, 0.0, 1.0, open_low=True)
        if self.max_epochs is not None:
            check_integer("max_epochs", self.max_epochs, 1)
        check_truth("shuffle", self.shuffle)
        check_choice("order", self.order, (None, "vat"))
        check_choice("outside", self.outside, ("error", "clip"))
        return Parameters(rho_a=0.0, alpha=float(self.alpha), beta_a=float(self.beta))

    def _check_data(self, X: ArrayLike, reset: bool) -> NDArray[np.floating]:
        return checked_data(self, X, reset=reset)

    def _find_ranges(self, X: NDArray[np.floating]) -> Ranges:
        """As given, or those of X."""
        if self.feature_range is not None:
            return _given_range(self.feature_range, X.shape[1])
        return Ranges(X.min(axis=0).astype(np.float64), X.max(axis=0).astype(np.float64))

    def _inside(self, X: NDArray[np.floating], ranges: Ranges) -> NDArray[np.floating]:
        """X, with what is outside the ranges refused or moved to their ends."""
        lower, upper = ranges
        wrong = (lower > X) | (upper < X)
        if not wrong.any():
            return X
        if self.outside == "clip":
            return np.clip(X, lower, upper)
        row, f = np.argwhere(wrong)[0]
        raise ValueError(
            f"X[{row}, {f}] = {X[row, f]:g} is outside the range of feature {f}, "
            f"[{lower[f]:g}, {upper[f]:g}]. Pass ranges that hold for all "
            'data as feature_range=(lower, upper), or use outside="clip".'
        )

    def _train(
        self, X: NDArray[np.floating], classes: NDArray[np.int64], n_columns: int, p: Parameters
    ) -> NDArray[np.int64]:
        """Learn X from nothing; returns the category of every sample."""
        ranges = self._find_ranges(X)
        X, scaling = self._inside(X, ranges), range_scaling(*ranges)
        random_state = checked_generator(self.random_state)
        order = presentation_order(X, scaling, self.shuffle, self.order, random_state)
        data = coded_data(X, scaling, order)
        network = training.empty_network(data, n_columns)
        taught = classes[order] if len(classes) else UNTAUGHT
        trained = training.without_idle(training.train(data, network, p, taught, self.max_epochs))
        categories = np.empty(len(X), np.int64)
        categories[order] = trained.categories
        self._set_network(trained.network, ranges, categories)
        self.n_iter_, self.converged_ = trained.n_epochs, trained.converged
        return categories

    def _train_further(
        self,
        X: NDArray[np.floating],
        classes: NDArray[np.int64],
        columns: NDArray[np.int64],
        p: Parameters,
    ) -> NDArray[np.int64]:
        """Learn X, every sample once, in its order; returns the category of every sample.

        ``columns``: of the map field so far, as many as it shall have, in the order it shall have.
        """
        first = not hasattr(self, "fitted_")
        ranges = self._find_ranges(X) if first else Ranges(self.feature_min_, self.feature_max_)
        X = self._inside(X, ranges)
        data = coded_data(X, range_scaling(*ranges), np.arange(len(X)))
        if first:
            network = training.empty_network(data, len(columns))
        else:
            network = self.fitted_.network.with_columns(columns)
        categories = np.full(len(X), NONE, np.int64)
        network = training.present_all(data, network, p, classes, categories, Pace())
        self._set_network(network, ranges, categories)
        self.n_iter_, self.converged_ = 1 if first else self.n_iter_ + 1, False
        return categories

    def _set_network(
        self, network: ClusterNetwork, ranges: Ranges, categories: NDArray[np.int64]
    ) -> None:
        d = len(ranges.lower)
        scaling, boxes = range_scaling(*ranges), network.rows.copy()
        self.fitted_ = FittedNetwork(network, scaling, boxes)
        self.feature_min_, self.feature_max_ = ranges
        self.categories_ = np.stack(
            [scaling.min_max_inverse(boxes[:, :d]), scaling.min_max_inverse(1.0 - boxes[:, d:])],
            axis=1,
        )
        self.sample_categories_ = categories

    def _summary_facts(self) -> dict[str, str]:
        return {
            "Categories": f"{len(self.fitted_.boxes):,}",
            "Epochs": f"{self.n_iter_} ({'converged' if self.converged_ else 'not converged'})",
            "Samples, features": f"{len(self.sample_categories_):,}, {self.n_features_in_:,}",
        }

    def _best_categories(self, X: ArrayLike) -> NDArray[np.int64]:
        check_is_fitted(self)
        X = self._check_data(X, reset=False)
        return self.fitted_.nearest_categories(X, self.alpha)


class FuzzyClusterer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, FuzzyNetwork):
    """What the two clusterers of the family share."""

    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Find the clusters of ``X``, from nothing.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers without missing values, dense.
        y : ignored

        Returns
        -------
        self
        """
        parameters = self._check_parameters()
        X = self._check_data(X, reset=True)
        self._set_clusters(self._train(X, UNTAUGHT, 1, parameters))
        return self

    def partial_fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Learn more samples, once each and in their order.

        The ranges of the features are ``feature_range`` or those of the first batch; ``outside``
        says what becomes of values outside. ``labels_`` and ``sample_categories_`` then are those
        of this batch. Clusters keep their numbers.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        parameters = self._check_parameters()
        X = self._check_data(X, reset=not hasattr(self, "fitted_"))
        self._set_clusters(self._train_further(X, UNTAUGHT, ONE_COLUMN, parameters))
        return self

    def predict(self, X: ArrayLike) -> NDArray[np.int64]:
        """Cluster of every row: that of the category with the largest choice value.

        There is no vigilance here, so every row gets a cluster. With ``beta=1`` and after a fit
        that has converged (``converged_``) training samples get their ``labels_``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Any rows, in the units of the training data; they may be outside its ranges.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        best = self._best_categories(X)
        return self.category_labels_[best]

    def transform(self, X: ArrayLike) -> NDArray[np.float64]:
        """Choice value of every cluster's best category, of shape (n_samples, n_clusters_).

        The greater, the nearer.
        """
        check_is_fitted(self)
        X = self._check_data(X, reset=False)
        return self.fitted_.choices(X, self.alpha, self.category_labels_, self.n_clusters_)

    def _set_clusters(self, categories: NDArray[np.int64]) -> None:
        self.category_labels_ = self.fitted_.network.category_clusters.copy()
        self.n_clusters_ = int(self.fitted_.network.clusters.size[0])
        self.labels_ = self.category_labels_[categories]

    def _summary(self) -> notebook.Summary | None:
        if not hasattr(self, "labels_"):
            return None
        held = np.bincount(self.category_labels_, minlength=self.n_clusters_)
        columns = {
            **notebook.sizes(self.labels_, self.n_clusters_),
            "categories": [f"{n:,}" for n in held],
        }
        facts = {"Clusters": f"{self.n_clusters_:,}", **self._summary_facts()}
        return notebook.Summary(facts, "cluster", range(self.n_clusters_), columns)

    @property
    def _n_features_out(self) -> int:
        return self.n_clusters_


class FuzzyART(FuzzyClusterer):
    """Fuzzy ART: clusters are boxes of a limited size, made as they are needed.

    Samples come one by one. The category (box) of largest choice value whose match reaches the
    vigilance learns the sample; if there is none, the sample becomes a category. With complement
    coding and ``beta=1`` a category is the box around its samples, and the sum of its sides, each
    as a share of the feature's range, is at most (1 - rho) times the number of features.

    Data are min-max scaled inside. The result depends on the order of the samples.

    Parameters
    ----------
    rho : float, default=0.5
        Vigilance, in [0, 1]: the greater, the smaller and the more boxes.
    alpha : float, default=1e-3
        Choice parameter, greater than 0: the smaller, the more a small box is preferred.
    beta : float, default=1.0
        Learning rate, in (0, 1]: how far a box moves towards a sample. New boxes are always equal
        to their first sample.
    max_epochs : int or None, default=1
        :meth:`fit` ends after this many passes, or earlier if one changes nothing. None: only
        then; with ``beta`` below 1, when no side of a box moves by more than a millionth of the
        range.
    shuffle : bool, default=False
        Present the samples in a random order (drawn once), or in the given one.
    order : {"vat"} or None, default=None
        "vat": sort them by visual assessment of cluster tendency before they are presented (after
        the shuffling). That takes time with the square of their number.
    feature_range : pair (lower, upper) or None, default=None
        Ranges of the features: numbers, or arrays of one number per feature. None: those of the
        data of :meth:`fit` or of the first :meth:`partial_fit`.
    outside : {"error", "clip"}, default="error"
        What to do in training with values outside of the ranges.
    random_state : int, RandomState instance or None, default=None
        Seed of the shuffling.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of every training sample at its last presentation; after :meth:`fit` 0 to
        ``n_clusters_ - 1`` without gaps.
    n_clusters_ : int
        Number of clusters, here the number of categories. Those that no sample is in after the
        last epoch of :meth:`fit` are removed; :meth:`partial_fit` removes none.
    categories_ : ndarray of shape (n_categories, 2, n_features)
        Lower and upper corners of the boxes, in the units of the data, the oldest first.
    category_labels_ : ndarray of shape (n_categories,)
        Cluster of every category, here its number.
    sample_categories_ : ndarray of shape (n_samples,)
        Category of every training sample.
    n_iter_ : int
        Number of epochs; :meth:`partial_fit` adds one.
    converged_ : bool
        Whether the last epoch has changed nothing.
    feature_min_, feature_max_ : ndarray of shape (n_features,)
        Ranges of the features.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if all are strings.

    References
    ----------
    G. A. Carpenter, S. Grossberg, D. B. Rosen, Fuzzy ART: Fast stable learning and categorization
    of analog patterns by an adaptive resonance system, Neural Networks 4 (1991) 759-771.

    Examples
    --------
    >>> from icvi_artmap import FuzzyART
    >>> X = [[0.0, 1.0], [1.0, 0.0], [9.0, 10.0], [10.0, 9.0]]
    >>> model = FuzzyART(rho=0.8).fit(X)
    >>> model.labels_
    array([0, 0, 1, 1])
    >>> model.categories_[0]
    array([[0., 0.],
           [1., 1.]])
    >>> model.predict([[2.0, 2.0], [8.0, 12.0]])
    array([0, 1])
    """

    def __init__(
        self,
        rho: float = 0.5,
        *,
        alpha: float = 1e-3,
        beta: float = 1.0,
        max_epochs: int | None = 1,
        shuffle: bool = False,
        order: Literal["vat"] | None = None,
        feature_range: FeatureRange = None,
        outside: Literal["error", "clip"] = "error",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.rho = rho
        self.alpha = alpha
        self.beta = beta
        self.max_epochs = max_epochs
        self.shuffle = shuffle
        self.order = order
        self.feature_range = feature_range
        self.outside = outside
        self.random_state = random_state

    def _check_parameters(self) -> Parameters:
        check_real("rho", self.rho, 0.0, 1.0)
        return super()._check_parameters()._replace(rho_a=float(self.rho))


class DualVigilanceFuzzyART(FuzzyClusterer):
    """Dual vigilance fuzzy ART: clusters of any shape, made of many small boxes.

    As :class:`FuzzyART`, with two vigilances. Categories are looked at in the order of their choice
    values. The first one whose match reaches ``rho_lb`` ends the search: if its match also reaches
    ``rho_ub``, it learns the sample; if not, the sample becomes a new category of the same cluster.
    If there is none, the sample becomes a category and a cluster of its own. So ``rho_ub`` limits
    the size of the boxes, and ``rho_lb`` how near they must be to belong together. With
    ``rho_lb = rho_ub`` this is fuzzy ART.

    Parameters
    ----------
    rho_ub : float, default=0.8
        Upper vigilance, in [0, 1]: the greater, the smaller the boxes.
    rho_lb : float, default=0.6
        Lower vigilance, in [0, ``rho_ub``]: the greater, the more clusters.
    alpha, beta, max_epochs, shuffle, order, feature_range, outside, random_state
        As in :class:`FuzzyART`.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of every training sample at its last presentation; after :meth:`fit` 0 to
        ``n_clusters_ - 1`` without gaps.
    n_clusters_ : int
        Number of clusters.
    category_labels_ : ndarray of shape (n_categories,)
        Cluster of every category.
    categories_, sample_categories_, n_iter_, converged_, feature_min_, feature_max_
        As in :class:`FuzzyART`.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if all are strings.

    References
    ----------
    L. E. Brito da Silva, I. Elnabarawy, D. C. Wunsch II, Dual vigilance fuzzy adaptive resonance
    theory, Neural Networks 109 (2019) 1-5.

    Examples
    --------
    A bar of five samples, wider than a box may be, and a sample far from it:

    >>> from icvi_artmap import DualVigilanceFuzzyART
    >>> X = [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 0.0], [4.0, 0.0], [0.0, 4.0]]
    >>> model = DualVigilanceFuzzyART(rho_ub=0.9, rho_lb=0.7).fit(X)
    >>> model.labels_
    array([0, 0, 0, 0, 0, 1])
    >>> len(model.categories_)
    6
    """

    def __init__(
        self,
        rho_ub: float = 0.8,
        rho_lb: float = 0.6,
        *,
        alpha: float = 1e-3,
        beta: float = 1.0,
        max_epochs: int | None = 1,
        shuffle: bool = False,
        order: Literal["vat"] | None = None,
        feature_range: FeatureRange = None,
        outside: Literal["error", "clip"] = "error",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.rho_ub = rho_ub
        self.rho_lb = rho_lb
        self.alpha = alpha
        self.beta = beta
        self.max_epochs = max_epochs
        self.shuffle = shuffle
        self.order = order
        self.feature_range = feature_range
        self.outside = outside
        self.random_state = random_state

    def _check_parameters(self) -> Parameters:
        check_real("rho_ub", self.rho_ub, 0.0, 1.0)
        check_real("rho_lb", self.rho_lb, 0.0, 1.0)
        if self.rho_lb > self.rho_ub:
            raise ValueError(
                f"rho_lb={self.rho_lb} is above rho_ub={self.rho_ub}; the lower vigilance must not "
                "exceed the upper one. With equal ones this is FuzzyART."
            )
        return (
            super()
            ._check_parameters()
            ._replace(rho_a=float(self.rho_lb), rho_ub=float(self.rho_ub))
        )


class FuzzyARTMAP(ClassifierMixin, FuzzyNetwork):
    """Fuzzy ARTMAP: a classifier that learns boxes of samples of one class, one sample at a time.

    Categories are looked at in the order of their choice values, as in :class:`FuzzyART`. One that
    reaches the vigilance, but whose map field row does not agree with the class of the sample,
    raises the vigilance to its match plus ``epsilon`` for this sample (match tracking), and the
    search goes on. If no category is left, the sample becomes one.

    Parameters
    ----------
    rho_a : float, default=0.0
        Vigilance of the categories, in [0, 1]: the greater, the smaller the boxes.
    rho_ab : float, default=1.0
        Vigilance of the map field, in [0, 1]. At 1 a category never learns a second class.
    alpha : float, default=1e-3
        Choice parameter, greater than 0.
    beta : float, default=1.0
        Learning rate of the categories, in (0, 1].
    epsilon : float, default=1e-3
        Match tracking, in [-1, 1]. Not negative (MT+): the next category must match better.
        Negative (MT-): it may match a little worse, so fewer categories are made. The vigilance
        never falls below ``rho_a``.
    beta_ab : float, default=1.0
        Learning rate of the map field, in (0, 1]. With both this and ``rho_ab`` below 1 a category
        remembers how often it has learned which class.
    max_epochs : int, default=10
        :meth:`fit` ends after this many passes (at most 1,000,000), or earlier if one changes
        nothing.
    shuffle : bool, default=False
        Present the samples in a random order (drawn once), or in the given one.
    order : {"vat"} or None, default=None
        As in :class:`FuzzyART`.
    feature_range : pair (lower, upper) or None, default=None
        As in :class:`FuzzyART`.
    outside : {"error", "clip"}, default="error"
        What to do in training with values outside of the ranges.
    random_state : int, RandomState instance or None, default=None
        Seed of the shuffling.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    categories_ : ndarray of shape (n_categories, 2, n_features)
        Lower and upper corners of the boxes, in the units of the data, the oldest first.
    category_labels_ : ndarray of shape (n_categories,)
        Class that every category predicts.
    map_field_ : ndarray of shape (n_categories, n_classes)
        How strongly every category is tied to every class.
    sample_categories_ : ndarray of shape (n_samples,)
        Category of every training sample at its last presentation.
    n_iter_ : int
        Number of epochs; :meth:`partial_fit` adds one.
    converged_ : bool
        Whether the last epoch has changed nothing.
    feature_min_, feature_max_ : ndarray of shape (n_features,)
        Ranges of the features.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if all are strings.

    Notes
    -----
    With ``rho_ab=1``, ``beta=1`` and ``epsilon > 0`` a fit that has converged predicts all its
    training samples right. It never converges if equal samples have different classes: every epoch
    then adds a category for them.

    References
    ----------
    G. A. Carpenter, S. Grossberg, N. Markuzon, J. H. Reynolds, D. B. Rosen, Fuzzy ARTMAP: A neural
    network architecture for incremental supervised learning of analog multidimensional maps, IEEE
    Transactions on Neural Networks 3 (1992) 698-713.

    Examples
    --------
    >>> from icvi_artmap import FuzzyARTMAP
    >>> X = [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]
    >>> model = FuzzyARTMAP().fit(X, ["even", "even", "odd", "odd"])
    >>> model.predict([[0.1, 0.1], [0.9, 0.2]]).tolist()
    ['even', 'odd']
    >>> model.predict_proba([[0.1, 0.1]])
    array([[1., 0.]])
    """

    def __init__(
        self,
        rho_a: float = 0.0,
        rho_ab: float = 1.0,
        *,
        alpha: float = 1e-3,
        beta: float = 1.0,
        epsilon: float = 1e-3,
        beta_ab: float = 1.0,
        max_epochs: int = 10,
        shuffle: bool = False,
        order: Literal["vat"] | None = None,
        feature_range: FeatureRange = None,
        outside: Literal["error", "clip"] = "error",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.rho_a = rho_a
        self.rho_ab = rho_ab
        self.alpha = alpha
        self.beta = beta
        self.epsilon = epsilon
        self.beta_ab = beta_ab
        self.max_epochs = max_epochs
        self.shuffle = shuffle
        self.order = order
        self.feature_range = feature_range
        self.outside = outside
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn the classes of ``X``, from nothing.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers without missing values, dense.
        y : array-like of shape (n_samples,)
            Class of every sample.

        Returns
        -------
        self : FuzzyARTMAP
        """
        parameters = self._check_parameters()
        X, y = self._check_labelled(X, y, reset=True)
        classes, numbers = np.unique(y, return_inverse=True)
        # One column more, for a class that has not come yet: see _columns.
        self._train(X, numbers.astype(np.int64), len(classes) + 1, parameters)
        self._set_map(classes)
        return self

    def partial_fit(self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Learn more samples, once each and in their order.

        The ranges of the features are ``feature_range`` or those of the first batch; ``outside``
        says what becomes of values outside.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Class of every sample. New classes may come at any time: the result is the same as if
            they had been known from the start.
        classes : array-like of shape (n_classes,) or None, default=None
            Classes to know of, whether they come or not. If given, ``y`` may have only these and
            those known before.

        Returns
        -------
        self : FuzzyARTMAP
        """
        parameters = self._check_parameters()
        first = not hasattr(self, "fitted_")
        X, y = self._check_labelled(X, y, reset=first)
        known = [] if first else [self.classes_]
        if classes is not None:
            known.append(np.unique(np.asarray(classes)))
            unknown = np.setdiff1d(y, unique_labels(*known))
            if len(unknown):
                raise ValueError(
                    f"y has {shown(unknown[0])}, which is not among the classes passed. Add it to "
                    "classes, or leave classes out: new ones are then learned as they come."
                )
        every = unique_labels(*known, y)
        columns = self._columns(every) if not first else np.arange(len(every) + 1)
        self._train_further(X, np.searchsorted(every, y).astype(np.int64), columns, parameters)
        self._set_map(every)
        return self

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Class of every row: that of the category with the largest choice value.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Any rows, in the units of the training data; they may be outside its ranges.

        Returns
        -------
        classes : ndarray of shape (n_samples,)
        """
        best = self._best_categories(X)
        return self.category_labels_[best]

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Map field row of the category with the largest choice value, divided by its sum.

        A row of zeros, which has learned contradictory classes, gives equal shares.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        shares : ndarray of shape (n_samples, n_classes)
        """
        best = self._best_categories(X)
        total = self.map_field_.sum(axis=1, keepdims=True)
        shares = np.full(self.map_field_.shape, 1.0 / len(self.classes_))
        np.divide(self.map_field_, total, out=shares, where=total > 0.0)
        return shares[best]

    def _check_parameters(self) -> Parameters:
        check_real("rho_a", self.rho_a, 0.0, 1.0)
        check_real("rho_ab", self.rho_ab, 0.0, 1.0)
        check_real("epsilon", self.epsilon, -1.0, 1.0)
        check_real("beta_ab", self.beta_ab, 0.0, 1.0, open_low=True)
        check_integer("max_epochs", self.max_epochs, 1, MOST_EPOCHS)
        return (
            super()
            ._check_parameters()
            ._replace(
                rho_a=float(self.rho_a),
                rho_ab=float(self.rho_ab),
                epsilon=float(self.epsilon),
                beta_ab=float(self.beta_ab),
            )
        )

    def _summary(self) -> notebook.Summary | None:
        if not hasattr(self, "map_field_"):
            return None
        k, predicted = len(self.classes_), self.map_field_.argmax(axis=1)
        columns = {
            **notebook.sizes(predicted[self.sample_categories_], k),
            "categories": [f"{n:,}" for n in np.bincount(predicted, minlength=k)],
        }
        facts = {"Classes": f"{k:,}", **self._summary_facts()}
        return notebook.Summary(facts, "class", self.classes_.tolist(), columns)

    def _check_labelled(
        self, X: ArrayLike, y: ArrayLike, reset: bool
    ) -> tuple[NDArray[np.floating], NDArray[Any]]:
        table, classes = checked_data(self, X, y, reset=reset)
        check_classification_targets(classes)
        return table, classes

    def _columns(self, every: NDArray[Any]) -> NDArray[np.int64]:
        """Column of the present map field for every class, and for one that has not come yet.

        A class that has not come has lost weight whenever a category has learned. The last column
        is that of such a class, so it is what a new one begins with.
        """
        columns = np.full(len(every) + 1, len(self.classes_))
        columns[np.searchsorted(every, self.classes_)] = np.arange(len(self.classes_))
        return columns

    def _set_map(self, classes: NDArray[Any]) -> None:
        self.classes_ = classes
        self.map_field_ = self.fitted_.network.map_field[:, : len(self.classes_)].copy()
        self.category_labels_ = self.classes_[self.map_field_.argmax(axis=1)]


def _given_range(feature_range: Any, n_features: int) -> Ranges:
    try:
        lower, upper = (
            np.broadcast_to(np.asarray(end, np.float64), n_features).copy() for end in feature_range
        )
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"feature_range must be a pair (lower, upper) of numbers or of arrays of shape "
            f"({n_features},), got {shown(feature_range)}."
        ) from error
    wrong = ~(np.isfinite(lower) & np.isfinite(upper) & (lower <= upper))
    if wrong.any():
        f = int(np.argmax(wrong))
        raise ValueError(
            f"feature_range of feature {f} is [{lower[f]:g}, {upper[f]:g}]; its ends must be "
            "finite and the lower one not above the upper one."
        )
    return Ranges(lower, upper)
