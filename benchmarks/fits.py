"""Whole fits against scikit-learn's GaussianMixture and KMeans, from the same k-means start."""

from __future__ import annotations

import statistics
import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture

from benchmarks.common import Problem, duration, ellipsoids, gaussians, in_turns, paper_set, table
from icvi_artmap import ICVIARTMAP
from icvi_artmap.indices.shared.ridge import ridge
from icvi_artmap.samples.scaling import learn_scaling

TEXT = """## Whole fits

Everyone starts from the same k-means partition (best of 10 starts on the standardised data, not
timed) and runs to its own end. GaussianMixture: `weights_init`, `means_init` and `precisions_init`
from that partition, so that it makes no start of its own; `reg_covar = 10^(-12/d)`, the ridge of
NI; `tol = 1e-6`, `max_iter = 300`. iNI and iCH: `ICVIARTMAP(k, index=..., init=centres,
refine=False)`, the paper's algorithm. KMeans: `n_init=10`. Gaussians: as in "Whole calls". One
thread each. Ratio: the peer's time over ours, median over the starts (least to greatest). ARI: of
the last start, ours and the peer's.
"""


class Sizes(NamedTuple):
    medium: int
    large: int
    starts: int
    repeats: int


FULL = Sizes(70_000, 1_000_000, starts=5, repeats=3)
QUICK = Sizes(70_000, 200_000, starts=1, repeats=1)
SMOKE = Sizes(600, 800, starts=1, repeats=1)


def start(Z: NDArray[np.float64], k: int, seed: int) -> KMeans:
    return KMeans(k, n_init=10, max_iter=300, tol=1e-6, random_state=seed).fit(Z)


def mixture(Z: NDArray[np.float64], k: int, labels: NDArray[np.int64]) -> GaussianMixture:
    """A GaussianMixture that starts from a partition."""
    n, d = Z.shape
    delta = ridge(d)
    clusters = [Z[labels == i] for i in range(k)]
    covariances = [np.cov(cluster.T, ddof=0) + delta * np.eye(d) for cluster in clusters]
    return GaussianMixture(
        k,
        weights_init=[len(cluster) / n for cluster in clusters],
        means_init=[cluster.mean(axis=0) for cluster in clusters],
        precisions_init=np.linalg.inv(covariances),
        reg_covar=delta,
        tol=1e-6,
        max_iter=300,
    )


def compare(problem: Problem, index: str, starts: int, repeats: int) -> list[str]:
    """A row of the table."""
    X, Z, k = problem.X, problem.standardised, problem.k
    scaling = learn_scaling(X)
    ratios, ours, theirs = [], [], []
    for seed in range(starts):
        given = start(Z, k, seed)
        centres = scaling.standardise_inverse(given.cluster_centers_)
        model = ICVIARTMAP(k, index=index, init=centres, refine=False, random_state=seed)
        peer: Any
        if index == "NI":
            peer = mixture(Z, k, given.labels_)
        else:
            peer = KMeans(k, n_init=10, max_iter=300, tol=1e-6, random_state=seed)

        def fit_ours(model: ICVIARTMAP = model) -> Any:
            return model.fit(X)

        def fit_peer(peer: Any = peer) -> Any:
            return peer.fit(Z)

        times = in_turns({"ours": fit_ours, "peer": fit_peer}, repeats)
        ratios.append(times["peer"].median / times["ours"].median)
        ours.append(times["ours"].median)
        theirs.append(times["peer"].median)
    ari = adjusted_rand_score(problem.y, model.labels_)
    peer_ari = adjusted_rand_score(problem.y, peer.predict(Z))
    return [
        f"{type(peer).__name__} / i{index}, {problem.name}",
        duration(statistics.median(theirs)),
        duration(statistics.median(ours)),
        f"**{statistics.median(ratios):.3g}** ({min(ratios):.3g} to {max(ratios):.3g})",
        f"{model.n_iter_}, {peer.n_iter_}",
        f"{ari:.3f}, {peer_ari:.3f}",
    ]


def run(sizes: Sizes) -> str:
    starts, repeats = sizes.starts, sizes.repeats
    smoke = sizes is SMOKE
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        rows = []
        if not smoke:
            rows.append(compare(paper_set(100, 40), "NI", starts, repeats))
        rows.append(compare(paper_set(50, 10), "NI", starts, repeats))
        rows.append(compare(ellipsoids(sizes.medium), "NI", starts, repeats))
        rows.append(compare(ellipsoids(sizes.large), "NI", 1, 1))
        for overlap, distance in (("mild", 2.0), ("strong", 1.0)):
            problem = gaussians(sizes.medium, distance=distance)
            problem = problem._replace(name=f"{problem.name}, {overlap} overlap")
            rows.append(compare(problem, "NI", 1, repeats))
        rows.append(compare(ellipsoids(sizes.medium), "CH", starts, repeats))
    header = ["", "peer", "ours", "ratio", "our epochs, its iterations", "ARI, its ARI"]
    return f"{TEXT}\n{table(header, rows)}\n"
