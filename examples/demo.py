"""Cluster a hard data set in three ways: one table, and one picture in build/demo.png.

Ten elongated clusters in 50 dimensions meet near one centre. Distances to centres say little about
them; a validity index that looks at covariances tells them apart.
"""

import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from icvi_artmap import ICVIARTMAP, IndexTraceDisplay, PartitionDisplay, index_value
from icvi_artmap.datasets import make_ellipsoid_clusters

N_CLUSTERS = 10
N_FEATURES = 50
N_STARTS = 10  # for the peers: the best of ten starts, by the method's own objective
PICTURE = Path(__file__).resolve().parents[1] / "build" / "demo.png"


def timed_fit(model: Any, X: NDArray[np.float64], **options: Any) -> float:
    start = time.perf_counter()
    model.fit(X, **options)
    return time.perf_counter() - start


def draw(X: NDArray[np.float64], model: Any, path: Path) -> None:
    """Draw the partition that was found, and the index on the way to it."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(14, 5), layout="constrained")
    PartitionDisplay.from_estimator(model, X).plot(left)
    IndexTraceDisplay.from_estimator(model).plot(right)
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def main() -> None:
    X, y = make_ellipsoid_clusters(N_CLUSTERS, N_FEATURES, random_state=0)
    Z = StandardScaler().fit_transform(X)
    print(f"{len(X)} samples, {N_FEATURES} features, {N_CLUSTERS} ellipsoidal clusters;", end=" ")
    print(f"one start for iNI-ARTMAP, {N_STARTS} for the others, one thread for each")

    # A small fit first, so that the table does not count compiling.
    warm_up = ICVIARTMAP(n_clusters=N_CLUSTERS, index="NI", random_state=0)
    print(f"warm-up: {timed_fit(warm_up, Z[::10], trace=True):.1f} s\n", flush=True)

    ours = ICVIARTMAP(n_clusters=N_CLUSTERS, index="NI", random_state=0)
    kmeans = KMeans(N_CLUSTERS, n_init=N_STARTS, random_state=0)
    # The ridge that the index NI has, too.
    mixture = GaussianMixture(
        N_CLUSTERS, reg_covar=10 ** (-12 / N_FEATURES), n_init=N_STARTS, random_state=0
    )

    print(f"{'method':<18}{'ARI ↑':>8}{'NI ↓':>10}{'seconds':>10}")
    for name, model in (
        ("iNI-ARTMAP", ours),
        ("k-means", kmeans),
        ("Gaussian mixture", mixture),
    ):
        # Small matrix products on many threads can take far longer than on one.
        with threadpool_limits(1):
            seconds = timed_fit(model, Z, **({"trace": True} if model is ours else {}))
        labels = model.predict(Z) if model is mixture else model.labels_
        ari = adjusted_rand_score(y, labels)
        value = index_value(Z, labels, index="NI")
        print(f"{name:<18}{ari:>8.3f}{value:>10.3f}{seconds:>10.2f}", flush=True)

    draw(Z, ours, PICTURE)
    print(f"\npicture: {PICTURE.relative_to(PICTURE.parents[1])}")


if __name__ == "__main__":
    main()
