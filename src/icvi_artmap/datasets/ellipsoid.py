"""Elongated ellipsoidal clusters, packed closely in many dimensions."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist
from sklearn.utils import check_random_state

from icvi_artmap.datasets._sizes import MANY_CLUSTERS, check_count, cluster_sizes

# The arrangement search: size of the population, number of offspring, weight of overlap.
POPULATION = 50
STEPS = 500
OVERLAP_WEIGHT = 50.0

# The search looks at no more points of a cluster than the family's largest cluster has.
# Points are independent draws, so the first ones are a fair sample of a larger cluster.
SEARCH_POINTS = 500


class Ellipsoid(NamedTuple):
    """Points in an ellipsoid with one focus at the origin, before it is shifted."""

    points: NDArray[np.float64]  # (size, n_features)
    focus: NDArray[np.float64]  # (n_features,), the other focus
    reach: float  # a point inside has a summed distance to both foci below this


def make_ellipsoid_clusters(
    n_clusters: int = 10,
    n_features: int = 50,
    *,
    n_samples: int | ArrayLike | None = None,
    shuffle: bool = True,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Make elongated ellipsoidal clusters that are packed closely.

    Each cluster fills an ellipsoid of random direction, length and thickness. The clusters meet
    near one centre. An evolutionary search over their shifts packs them as closely as it can
    while it keeps points out of other clusters' ellipsoids. Distances to centres say little about
    such clusters; their covariances tell them apart.

    With fewer than 20 clusters a cluster has 50 to 499 samples, with 20 or more it has 10 to 99.

    Parameters
    ----------
    n_clusters : int, default=10
        Number of clusters.

    n_features : int, default=50
        Number of features. In few dimensions there is no room to keep the clusters apart.

    n_samples : int or array-like of shape (n_clusters,), default=None
        If None, sizes are drawn as described above. If an integer, the total number of samples,
        shared out in proportion to such sizes. If an array, the size of each cluster.

    shuffle : bool, default=True
        Shuffle the samples. Otherwise they come cluster by cluster.

    random_state : int, RandomState instance or None, default=None
        Determines the clusters. Pass an int for the same data at each call.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        The samples.

    y : ndarray of shape (n_samples,)
        The cluster of each sample, 0 to n_clusters - 1.

    See Also
    --------
    make_gaussian_clusters : Gaussian clusters in few dimensions.

    Notes
    -----
    The search minimises D·(1 + 50·v), where D is the summed distance of all points to their mean
    and v the fraction of (point, other ellipsoid) pairs in which the point lies inside. Of a
    cluster with more than 500 points it sees 500, weighted to stand for all of them.

    References
    ----------
    J. Handl and J. Knowles, "Cluster generators for large high-dimensional data sets with large
    numbers of clusters", 2005.

    Examples
    --------
    >>> from icvi_artmap.datasets import make_ellipsoid_clusters
    >>> X, y = make_ellipsoid_clusters(4, 20, n_samples=400, random_state=0)
    >>> X.shape
    (400, 20)
    >>> sorted({int(cluster) for cluster in y})
    [0, 1, 2, 3]
    """
    n_clusters = check_count(n_clusters, "n_clusters")
    n_features = check_count(n_features, "n_features")
    rng = check_random_state(random_state)

    def draw_size() -> int:
        low, extent = (10, 90) if n_clusters >= MANY_CLUSTERS else (50, 450)
        return low + int(extent * rng.uniform())

    sizes = cluster_sizes(n_samples, n_clusters, 1, draw_size)
    ellipsoids, longest = [], 0.0
    for size in sizes:
        length = 1.0 + 2.0 * rng.uniform()
        ellipsoids.append(_draw_ellipsoid(rng, int(size), n_features, length))
        longest = max(longest, length)

    shifts = np.zeros((n_clusters, n_features))
    if n_clusters > 1:
        deviation = 0.15 / np.sqrt(n_features) * 0.67 * longest
        shifts = _arrange(rng, ellipsoids, deviation)

    X = np.vstack([ell.points + shift for ell, shift in zip(ellipsoids, shifts, strict=True)])
    y = np.repeat(np.arange(n_clusters), sizes)
    if shuffle:
        order = rng.permutation(len(X))
        X, y = X[order], y[order]
    return X, y


def _draw_ellipsoid(
    rng: np.random.RandomState, size: int, n_features: int, length: float
) -> Ellipsoid:
    """Draw an ellipsoid with foci `length` apart, and `size` points in it.

    A point is a place between the foci plus a normal step in a direction of its own. Place and
    step are drawn again while the point lies outside.
    """
    eccentricity = 0.05 + 0.1 * rng.uniform()
    reach = (1.0 + eccentricity) * length
    focus = length * _unit_vectors(rng, 1, n_features)[0]
    directions = _unit_vectors(rng, size, n_features)

    points = np.empty((size, n_features))
    missing = np.arange(size)
    while len(missing):
        place = rng.uniform(size=(len(missing), 1))
        step = 2.0 * eccentricity * length * rng.standard_normal((len(missing), 1))
        drawn = place * focus + step * directions[missing]
        inside = np.linalg.norm(drawn, axis=1) + np.linalg.norm(drawn - focus, axis=1) < reach
        points[missing[inside]] = drawn[inside]
        missing = missing[~inside]
    return Ellipsoid(points, focus, reach)


def _unit_vectors(rng: np.random.RandomState, n: int, n_features: int) -> NDArray[np.float64]:
    """Draw `n` directions, uniform on the sphere."""
    vectors = rng.standard_normal((n, n_features))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _arrange(
    rng: np.random.RandomState, ellipsoids: list[Ellipsoid], deviation: float
) -> NDArray[np.float64]:
    """Search for shifts, one per ellipsoid, that pack the clusters with little overlap.

    A steady-state evolutionary search: at each step the better of two random members has one
    child, a copy with on average one coordinate changed; it takes the place of the worst
    member if it is better.
    """
    scene = _Scene(ellipsoids)
    shape = (len(ellipsoids), len(ellipsoids[0].focus))

    population = deviation * rng.standard_normal((POPULATION, *shape))
    overlaps = np.array([scene.overlaps(shifts) for shifts in population])
    costs = np.array([scene.cost(*pair) for pair in zip(population, overlaps, strict=True)])

    for _ in range(STEPS):
        rivals = rng.randint(POPULATION, size=2)
        parent = rivals[np.argmin(costs[rivals])]
        mutated = rng.uniform(size=shape) < 1.0 / (shape[0] * shape[1])
        child = population[parent].copy()
        child[mutated] += deviation * rng.standard_normal(np.count_nonzero(mutated))

        overlap = overlaps[parent].copy()
        for cluster in np.flatnonzero(mutated.any(axis=1)):
            scene.update_overlaps(overlap, child, int(cluster))
        cost = scene.cost(child, overlap)

        worst = np.argmax(costs)
        if cost < costs[worst]:
            population[worst], overlaps[worst], costs[worst] = child, overlap, cost

    return population[np.argmin(costs)]


class _Scene:
    """The objective of the arrangement search.

    The overlap of two clusters depends on their own shifts alone. So a child's overlaps are its
    parent's, except in the rows and columns of the clusters that moved.
    """

    def __init__(self, ellipsoids: list[Ellipsoid]) -> None:
        parts = [ell.points[:SEARCH_POINTS] for ell in ellipsoids]
        seen = np.array([len(part) for part in parts])
        sizes = np.array([len(ell.points) for ell in ellipsoids])

        self.points = np.vstack(parts)
        self.cluster = np.repeat(np.arange(len(parts)), seen)
        self.starts = np.concatenate([[0], np.cumsum(seen)[:-1]])
        self.rows = [np.s_[a : a + n] for a, n in zip(self.starts, seen, strict=True)]
        # Each point seen stands for this many points of its cluster.
        self.weights = sizes / seen
        self.n_points = sizes.sum()
        self.focus = np.array([ell.focus for ell in ellipsoids])
        self.reach = np.array([ell.reach for ell in ellipsoids])

    def overlaps(self, shifts: NDArray[np.float64]) -> NDArray[np.float64]:
        """Count the points of cluster i (row) that lie in ellipsoid j (column), 0 if i = j."""
        inside = self._inside(self.points + shifts[self.cluster], shifts, np.s_[:])
        counts = np.add.reduceat(inside, self.starts, axis=0, dtype=np.float64)
        np.fill_diagonal(counts, 0.0)
        return counts * self.weights[:, np.newaxis]

    def update_overlaps(
        self, overlaps: NDArray[np.float64], shifts: NDArray[np.float64], cluster: int
    ) -> None:
        """Recompute in place the row and the column of a cluster that has moved."""
        placed = self.points + shifts[self.cluster]
        row = self._inside(placed[self.rows[cluster]], shifts, np.s_[:]).sum(axis=0)
        column = self._inside(placed, shifts, np.s_[cluster : cluster + 1])[:, 0]
        overlaps[cluster] = row * self.weights[cluster]
        overlaps[:, cluster] = np.add.reduceat(column, self.starts, dtype=np.float64) * self.weights
        overlaps[cluster, cluster] = 0.0

    def cost(self, shifts: NDArray[np.float64], overlaps: NDArray[np.float64]) -> float:
        """Return D·(1 + 50·v)."""
        placed = self.points + shifts[self.cluster]
        weights = self.weights[self.cluster]
        mean = weights @ placed / self.n_points
        distance = weights @ cdist(placed, mean[np.newaxis])[:, 0]
        n_pairs = self.n_points * (len(self.reach) - 1)
        return float(distance * (1.0 + OVERLAP_WEIGHT * overlaps.sum() / n_pairs))

    def _inside(
        self, placed: NDArray[np.float64], shifts: NDArray[np.float64], which: slice
    ) -> NDArray[np.bool_]:
        """Whether each point lies in each of the ellipsoids `which`."""
        near = cdist(placed, shifts[which])
        far = cdist(placed, shifts[which] + self.focus[which])
        return near + far < self.reach[which]
