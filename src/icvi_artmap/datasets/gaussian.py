"""Gaussian clusters that may touch but do not interleave."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import KDTree
from sklearn.utils import check_random_state

from icvi_artmap.datasets._sizes import MANY_CLUSTERS, check_count, cluster_sizes

# A cluster with a single point has no neighbour of its own to compare with.
SMALLEST_CLUSTER = 2

# Means are drawn from a cube that never grows: past some number of clusters there is no room left.
# Ten wide clusters in 2-D, the hardest of the usual settings, took up to 4,000 draws in all.
MAX_DRAWS = 20_000

# Most clusters that do not fit show it in their first points already: look at these, then at
# twice as many, and so on.
FIRST_LOOK = 64


def make_gaussian_clusters(
    n_clusters: int = 10,
    n_features: int = 2,
    *,
    n_samples: int | ArrayLike | None = None,
    shuffle: bool = True,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Make Gaussian clusters of different shapes, sizes and orientations.

    Means are uniform in a cube of side 20. A covariance matrix has off-diagonal entries of random
    sign and squared-uniform magnitude, and a diagonal that dominates them. A cluster is
    drawn again as a whole while any of its points is nearer to a point of an earlier cluster than
    to its nearest neighbour in its own.

    With fewer than 20 clusters a cluster has 51 to 550 samples and is wide; with 20 or more it has
    11 to 110 samples and is narrow.

    Parameters
    ----------
    n_clusters : int, default=10
        Number of clusters.

    n_features : int, default=2
        Number of features.

    n_samples : int or array-like of shape (n_clusters,), default=None
        If None, sizes are drawn as described above. If an integer, the total number of samples,
        shared out in proportion to such sizes. If an array, the size of each cluster. Each
        cluster needs at least 2 samples. Large clusters find room less easily: 20,000 samples
        take seconds, 100,000 up to a minute.

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
    make_ellipsoid_clusters : Elongated clusters in many dimensions.

    References
    ----------
    J. Handl and J. Knowles, "Cluster generators for large high-dimensional data sets with large
    numbers of clusters", 2005.

    Examples
    --------
    >>> from icvi_artmap.datasets import make_gaussian_clusters
    >>> X, y = make_gaussian_clusters(4, 2, n_samples=[50, 100, 150, 200], random_state=0)
    >>> X.shape
    (500, 2)
    >>> [int((y == cluster).sum()) for cluster in range(4)]
    [50, 100, 150, 200]
    """
    n_clusters = check_count(n_clusters, "n_clusters")
    n_features = check_count(n_features, "n_features")
    rng = check_random_state(random_state)
    many = n_clusters >= MANY_CLUSTERS
    spread = (1.0 if many else 20.0) * np.sqrt(n_features)

    def draw_size() -> int:
        low, extent = (10, 100) if many else (50, 500)
        return low + int(np.ceil(rng.uniform() * extent))

    # A given size is kept; a drawn one belongs to the cluster and is drawn again with it.
    given = None
    if n_samples is not None:
        given = cluster_sizes(n_samples, n_clusters, SMALLEST_CLUSTER, draw_size)

    clusters: list[NDArray[np.float64]] = []
    for cluster in range(n_clusters):
        earlier = KDTree(np.vstack(clusters)) if clusters else None
        for _ in range(MAX_DRAWS):
            size = draw_size() if given is None else int(given[cluster])
            points = _draw_cluster(rng, size, n_features, spread)
            if earlier is None or _keeps_apart(points, earlier):
                clusters.append(points)
                break
        else:
            raise ValueError(
                f"Found no room for cluster {cluster + 1} of {n_clusters} in {n_features} "
                f"dimension(s) after {MAX_DRAWS} draws: ask for fewer clusters, fewer samples "
                "or more features."
            )

    X = np.vstack(clusters)
    y = np.repeat(np.arange(n_clusters), [len(points) for points in clusters])
    if shuffle:
        order = rng.permutation(len(X))
        X, y = X[order], y[order]
    return X, y


def _draw_cluster(
    rng: np.random.RandomState, size: int, n_features: int, spread: float
) -> NDArray[np.float64]:
    """Draw a mean, a covariance matrix and `size` points."""
    mean = rng.uniform(-10.0, 10.0, n_features)

    upper = np.triu_indices(n_features, k=1)
    covariance = np.zeros((n_features, n_features))
    signs = rng.choice([-1.0, 1.0], len(upper[0]))
    covariance[upper] = signs * rng.uniform(size=len(upper[0])) ** 2
    covariance += covariance.T
    # Each diagonal entry exceeds its row's sum: the matrix is positive definite.
    diagonal = np.abs(covariance).sum(axis=1) + rng.uniform(size=n_features) ** 2 * spread
    np.fill_diagonal(covariance, diagonal)

    return mean + rng.standard_normal((size, n_features)) @ np.linalg.cholesky(covariance).T


def _keeps_apart(points: NDArray[np.float64], earlier: KDTree) -> bool:
    """Whether no point is nearer to an earlier cluster than to its nearest neighbour."""
    own = KDTree(points)
    start, stop = 0, FIRST_LOOK
    while start < len(points):
        part = points[start:stop]
        to_own = own.query(part, k=2)[0][:, 1]  # the first is the point itself
        # Beyond the bound the answer cannot matter, and the tree need not look (it says infinity).
        to_earlier = earlier.query(part, distance_upper_bound=to_own.max())[0]
        if np.any(to_earlier < to_own):
            return False
        start, stop = stop, 2 * stop
    return True
