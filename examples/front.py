"""The picture of the front page: python examples/front.py [file, by default build/front.png]

First row: one generated set of long clusters, by three methods that are told how many there are.
Second row: clusters of other shapes, found with shape="any".
"""

import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import make_circles, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import StandardScaler

from icvi_artmap import ICVIARTMAP
from icvi_artmap.datasets import make_ellipsoid_clusters

CLUSTERS = 9


def spirals(n: int, seed: int) -> tuple[Any, Any]:
    """Two spirals around one another."""
    rng = np.random.RandomState(seed)
    turn = np.sqrt(rng.uniform(0.05, 1.0, n)) * 3.0 * np.pi
    arm = np.arange(n) % 2
    angle = turn + np.pi * arm
    points = np.column_stack([turn * np.cos(angle), turn * np.sin(angle)])
    return points + rng.normal(0.0, 0.25, (n, 2)), arm


def main(path: Path) -> None:
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    X, y = make_ellipsoid_clusters(CLUSTERS, 2, n_samples=1500, random_state=4)
    Z = StandardScaler().fit_transform(X)
    methods = {
        "k-means": KMeans(CLUSTERS, n_init=10, random_state=0),
        "Gaussian mixture": GaussianMixture(CLUSTERS, n_init=10, random_state=0),
        "icvi-artmap": ICVIARTMAP(CLUSTERS, random_state=0),
    }
    rings = make_circles(1000, factor=0.45, noise=0.05, random_state=0)
    shapes = {"moons": make_moons(1000, noise=0.06, random_state=0), "rings": rings}
    shapes["spirals"] = spirals(1000, 0)
    figure, axes = plt.subplots(2, 3, figsize=(10.5, 7.0), layout="constrained")
    for ax, (name, method) in zip(axes[0], methods.items(), strict=True):
        draw(ax, X, y, method.fit_predict(Z), name)
    for ax, (name, (points, truth)) in zip(axes[1], shapes.items(), strict=True):
        model = ICVIARTMAP("auto", shape="any", random_state=0).fit(points)
        draw(ax, points, truth, model.labels_, f"icvi-artmap, {name}")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=80)
    print(path)


def draw(ax: Any, X: Any, y: Any, labels: Any, name: str) -> None:
    """Samples in the colours of their clusters, and how well these agree with the true ones."""
    agreement = adjusted_rand_score(y, labels)
    ax.scatter(*X.T, s=5, c=labels, cmap="tab10", vmin=0, vmax=9, linewidths=0)
    ax.set(xticks=[], yticks=[])
    ax.set_title(f"{name}: {agreement:.2f}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "build/front.png"))
