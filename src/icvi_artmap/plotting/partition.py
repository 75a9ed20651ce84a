"""A picture of a partition: samples in a plane, in the colours of their clusters."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from icvi_artmap._support.wording import counted, short_percent
from icvi_artmap.plotting import drawing, samples

if TYPE_CHECKING:
    from icvi_artmap.estimators.components import Components

PROJECTIONS = ("auto", "pca", "tsne")
#: The largest number of samples drawn by default with t-SNE, which is slow.
MOST_POINTS_TSNE = 2_000
#: t-SNE gets at most this number of principal components: the rest is noise and takes time.
TSNE_COMPONENTS = 30


class Plane(NamedTuple):
    """Where the samples lie in the picture."""

    points: NDArray[np.float64]
    names: tuple[str, str]
    features: list[int] | None  #: if the axes are features
    scaled: bool  #: whether both axes have the same unit
    #: axes, of shape (2, d), and origin: a sample x lies at axes @ x - origin, if it is so simple
    linear: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None


class PartitionDisplay:
    """Samples in a plane, in the colours of their clusters.

    Made by :meth:`from_estimator` or :meth:`from_labels`; :meth:`plot` draws it.

    Parameters
    ----------
    points : ndarray of shape (n_drawn, 2)
        Where the samples lie.
    labels : ndarray of shape (n_drawn,)
        Their clusters.
    clusters : ndarray of shape (k,), optional
        Labels of all clusters; by default those that occur.
    sizes : ndarray of shape (k,), optional
        Number of samples of each cluster, those that are not drawn included; by default those
        drawn.
    names : pair of str, default=("feature 0", "feature 1")
        What the axes are.
    same_unit : bool, default=False
        Whether the axes have the same unit, and so get the same scale.
    boxes : ndarray of shape (n_categories, 2, 2), optional
        Lower and upper corners of categories.
    box_labels : ndarray of shape (n_categories,), optional
        Their clusters.
    components : Components, optional
        What the clusters were joined of, in the plane: with means of shape (n_components, 2) and
        covariances of shape (n_components, 2, 2).
    kind : str, default="cluster"
        What the labels are: "cluster" or "class".

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of the axes.

    Examples
    --------
    >>> from icvi_artmap import ICVIARTMAP, PartitionDisplay
    >>> from icvi_artmap.datasets import make_gaussian_clusters
    >>> X, y = make_gaussian_clusters(4, 10, random_state=0)
    >>> model = ICVIARTMAP(n_clusters=4, random_state=0).fit(X)
    >>> display = PartitionDisplay.from_estimator(model, X)
    >>> display.names[0]
    'principal component 1 (...% of the variance)'
    >>> display.plot().figure_.savefig("partition.png")  # doctest: +SKIP
    """

    def __init__(
        self,
        points: NDArray[np.float64],
        labels: NDArray[Any],
        *,
        clusters: NDArray[Any] | None = None,
        sizes: NDArray[np.int64] | None = None,
        names: tuple[str, str] = ("feature 0", "feature 1"),
        same_unit: bool = False,
        boxes: NDArray[np.float64] | None = None,
        box_labels: NDArray[Any] | None = None,
        components: Components | None = None,
        kind: str = "cluster",
    ) -> None:
        self.points = points
        self.labels = labels
        self.clusters = drawing.together(labels) if clusters is None else clusters
        position = drawing.positions(labels, self.clusters)
        drawn = np.bincount(position, minlength=len(self.clusters))
        self.sizes = drawn if sizes is None else sizes
        self.names = names
        self.same_unit = same_unit
        self.boxes = boxes
        self.box_labels = box_labels
        self.components = components
        self.kind = kind

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        *,
        projection: str | tuple[int, int] = "auto",
        boxes: bool = False,
        max_points: int | None = None,
    ) -> Self:
        """Take the clusters of an estimator, and the components they were joined of.

        Parameters
        ----------
        estimator : fitted estimator
            Of this package, or any that has ``predict``; or a fitted search.
        X : array-like of shape (n_samples, n_features)
            The samples. Training data get the clusters found for them (``labels_``), other data
            those that are predicted.
        projection : {"auto", "pca", "tsne"} or pair of int, default="auto"
            "auto" takes two features as they are, and more by "pca": the first two principal
            components of the standardised features. "tsne" keeps neighbours together, but neither
            distances nor sizes. A pair are the numbers of two features.
        boxes : bool, default=False
            Also draw the boxes of the categories; the axes must be features.
        max_points : int, optional
            Draw no more samples than this, chosen at random, but some of every cluster. By default
            10,000, or 2,000 with "tsne". The projection is computed from the samples drawn.

        Returns
        -------
        PartitionDisplay
        """
        model = samples.fitted(estimator)
        table = samples.checked_table(X, model)
        labels = samples.labels_of(model, X, table)
        clusters = drawing.together(samples.clusters_of(model), labels)
        names = samples.feature_names(X, table.shape[1], model)
        rows, plane = _plane(table, labels, names, projection, max_points)
        corners, box_labels = None, None
        if boxes:
            samples.fitted(model, "categories_", "category_labels_")
            if plane.features is None:
                raise ValueError(
                    f"boxes=True needs features as axes, but projection={projection!r} of "
                    f"{table.shape[1]} features mixes them. Use projection=(0, 1), or any two "
                    "others."
                )
            corners = model.categories_[:, :, plane.features]
            box_labels = np.asarray(model.category_labels_)
        return cls(
            plane.points,
            labels[rows],
            clusters=clusters,
            sizes=np.bincount(drawing.positions(labels, clusters), minlength=len(clusters)),
            names=plane.names,
            same_unit=plane.scaled,
            boxes=corners,
            box_labels=box_labels,
            components=_in_plane(getattr(model, "components_", None), plane),
            kind=samples.kind_of(model),
        )

    @classmethod
    def from_labels(
        cls,
        X: ArrayLike,
        labels: ArrayLike,
        *,
        projection: str | tuple[int, int] = "auto",
        max_points: int | None = None,
    ) -> Self:
        """Take the given labels.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples.
        labels : array-like of shape (n_samples,)
            Their clusters. Integers keep their colours whichever of them occur; -1 is no cluster.
        projection, max_points
            As for :meth:`from_estimator`.

        Returns
        -------
        PartitionDisplay
        """
        table = samples.checked_table(X)
        every = samples.checked_labels(labels, len(table))
        names = samples.feature_names(X, table.shape[1])
        rows, plane = _plane(table, every, names, projection, max_points)
        clusters, sizes = np.unique(every, return_counts=True)
        return cls(
            plane.points,
            every[rows],
            clusters=clusters,
            sizes=sizes,
            names=plane.names,
            same_unit=plane.scaled,
        )

    def plot(self, ax: Any = None, **options: Any) -> Self:
        """Draw the samples.

        Up to ten clusters are named in a legend, more in the picture. The title says how many
        samples there are, and how many are drawn if that is not all. The components that clusters
        were joined of are drawn faintly, as ellipses of one deviation.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        **options
            For matplotlib's ``scatter``.

        Returns
        -------
        PartitionDisplay
            This display, with ``ax_`` and ``figure_``.
        """
        ax = drawing.axes(ax, (6.4 + drawing.key_width(self.clusters), 5.0))
        drawing.draw_points(ax, self.points, self.labels, self.clusters, options)
        if self.boxes is not None and self.box_labels is not None:
            drawing.draw_boxes(ax, self.boxes, self.box_labels, self.clusters, fill=0.06)
        if (found := self.components) is not None:
            outlines = drawing.ellipses(found.means, found.covariances)
            drawing.draw_ellipses(ax, outlines, found.clusters, self.clusters)
        if self.same_unit:
            ax.set_aspect("equal", adjustable="datalim")
        for side, name in zip("xy", self.names, strict=True):
            ax.set(**{f"{side}label": drawing.written(name, drawing.AXIS_LETTERS)})
        n, m = int(self.sizes.sum()), len(self.points)
        noise = [cluster == -1 for cluster in self.clusters.tolist()]  # no cluster, but drawn
        what = counted(int(np.count_nonzero(self.sizes[~np.array(noise)])), self.kind)
        shown = counted(n, "sample") if m == n else f"{m:,} of {n:,} samples drawn"
        drawing.set_title(ax, f"{what}, {shown}")
        occurring = np.isin(self.clusters, self.labels)
        drawing.draw_key(
            ax,
            self.clusters[occurring],
            self.sizes[occurring],
            self._centres()[occurring],
            self.kind,
        )
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _centres(self) -> NDArray[np.float64]:
        """Medians of the clusters drawn: a mean may lie far from all samples."""
        centres = np.zeros((len(self.clusters), 2))
        for i, cluster in enumerate(self.clusters):
            if len(own := self.points[self.labels == cluster]) > 0:
                centres[i] = np.median(own, axis=0)
        return centres


def _plane(
    table: NDArray[np.float64],
    labels: NDArray[Any],
    names: list[str],
    projection: str | tuple[int, int],
    max_points: int | None,
) -> tuple[NDArray[np.int64], Plane]:
    """The rows to draw, and their places."""
    d = table.shape[1]
    if isinstance(projection, str):
        if projection not in PROJECTIONS:
            raise ValueError(
                f'projection={projection!r} is unknown. Use "auto", "pca", "tsne" or a pair of '
                "numbers of features."
            )
        if d == 1:
            raise ValueError(
                "The data have one feature; a picture of the partition needs two. Draw a "
                "histogram of each cluster instead."
            )
        how = ("features" if d == 2 else "pca") if projection == "auto" else projection
        pair = [0, 1]
    else:
        how, pair = "features", samples.checked_pair(projection, d, "projection")
    most = _most(max_points, MOST_POINTS_TSNE if how == "tsne" else samples.MOST_POINTS)
    rows = samples.chosen_rows(labels, most)
    part = table[rows]
    if how == "features":
        axes = np.eye(d)[pair]
        places = part[:, pair]
        return rows, Plane(
            places, (names[pair[0]], names[pair[1]]), pair, False, (axes, np.zeros(2))
        )
    return rows, _principal(part) if how == "pca" else _neighbours(part)


def _in_plane(components: Components | None, plane: Plane) -> Components | None:
    """Components as the plane has them, if it shows them as they are."""
    if components is None or plane.linear is None:
        return None
    axes, origin = plane.linear
    return replace(
        components,
        means=components.means @ axes.T - origin,
        covariances=axes @ components.covariances @ axes.T,
    )


def _most(max_points: Any, otherwise: int) -> int:
    if max_points is None:
        return otherwise
    from icvi_artmap._support.validation import check_integer

    check_integer("max_points", max_points, 1)
    return int(max_points)


def _standardised(table: NDArray[np.float64]) -> NDArray[np.float64]:
    return (table - table.mean(axis=0)) / _deviation(table)


def _deviation(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Deviation of every feature, 1 for one that is constant."""
    deviation = table.std(axis=0)
    return np.where(deviation > 0.0, deviation, 1.0)


def _principal(table: NDArray[np.float64]) -> Plane:
    """The first two principal components of the standardised features."""
    from sklearn.decomposition import PCA

    if len(table) < 2:
        return Plane(
            np.zeros((1, 2)), ("principal component 1", "principal component 2"), None, True
        )
    pca = PCA(2, random_state=samples.SEED)
    standardised = _standardised(table)
    points = pca.fit_transform(standardised)
    total = standardised.var(axis=0, ddof=1).sum()
    share = pca.explained_variance_ / total if total > 0.0 else np.zeros(2)
    first, second = (
        f"principal component {i + 1} ({short_percent(share[i])} of the variance)" for i in range(2)
    )
    axes = pca.components_ / _deviation(table)
    return Plane(points, (first, second), None, True, (axes, axes @ table.mean(axis=0)))


def _neighbours(table: NDArray[np.float64]) -> Plane:
    from sklearn.decomposition import PCA
    from sklearn.manifold import TSNE

    from icvi_artmap._support.threads import one_thread

    n, d = table.shape
    if n < 4:
        raise ValueError(f't-SNE needs at least 4 samples, got {n}. Use projection="pca".')
    standardised = _standardised(table)
    if d > TSNE_COMPONENTS and n > TSNE_COMPONENTS:
        standardised = PCA(TSNE_COMPONENTS, random_state=samples.SEED).fit_transform(standardised)
    # scikit-learn requires a perplexity below the number of samples.
    tsne = TSNE(2, init="pca", perplexity=min(30.0, (n - 1) / 3.0), random_state=samples.SEED)
    with one_thread():  # for so few samples faster than several, and the same on every run
        points = tsne.fit_transform(standardised)
    return Plane(points.astype(np.float64), ("t-SNE 1", "t-SNE 2"), None, True)
