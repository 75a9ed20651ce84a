"""Ours and the peers, each as a function from data to labels, and what comparing them leaves."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import fmean
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import HDBSCAN, AgglomerativeClustering, KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture

from benchmarks.common import Problem
from icvi_artmap import ICVIARTMAP, index_value
from icvi_artmap.indices.registry import get_index
from icvi_artmap.indices.shared.ridge import ridge
from icvi_artmap.samples.scaling import coded_data, learn_scaling
from icvi_artmap.training.refinement import Partition

Labels = NDArray[np.int64]

OURS, UNREFINED, CH = "iNI", "iNI, refine=False", "iCH"
#: An ARI that is larger by no more than this is not a win.
TIE = 0.01
#: Rounding in values of the index.
EPS = 1e-9


def ours(problem: Problem, seed: int, starts: int) -> Labels:
    return ICVIARTMAP(problem.k, random_state=seed).fit(problem.X).labels_


def unrefined(problem: Problem, seed: int, starts: int) -> Labels:
    return ICVIARTMAP(problem.k, refine=False, random_state=seed).fit(problem.X).labels_


def ch(problem: Problem, seed: int, starts: int) -> Labels:
    return ICVIARTMAP(problem.k, index="CH", random_state=seed).fit(problem.X).labels_


def mixture(problem: Problem, seed: int, starts: int) -> Labels:
    """With the ridge of NI."""
    model = GaussianMixture(
        problem.k,
        n_init=starts,
        reg_covar=ridge(problem.X.shape[1]),
        max_iter=300,
        random_state=seed,
    )
    return model.fit_predict(problem.standardised)


def kmeans(problem: Problem, seed: int, starts: int) -> Labels:
    model = KMeans(problem.k, n_init=10, random_state=seed)
    return model.fit_predict(problem.standardised).astype(np.int64)


def ward(problem: Problem, seed: int, starts: int) -> Labels:
    return AgglomerativeClustering(problem.k, linkage="ward").fit_predict(problem.standardised)


def hdbscan(problem: Problem, seed: int, starts: int) -> Labels:
    """Noise keeps its label -1, so that it counts as a cluster."""
    return HDBSCAN(copy=True).fit_predict(problem.standardised)


def cross_entropy(problem: Problem, seed: int, starts: int) -> Labels:
    """From k-means, single samples move while that makes NI better: the same moves, no ART."""
    labels, index = kmeans(problem, seed, starts), get_index("NI")
    X = problem.X
    data = index.view(coded_data(X, learn_scaling(X), np.arange(len(X))))
    Partition(index, data, labels, problem.k, problem.k).sweep()
    return labels


Method = Callable[[Problem, int, int], Labels]
PEERS: dict[str, Method] = {
    "GMM": mixture,
    "k-means": kmeans,
    "Ward": ward,
    "HDBSCAN": hdbscan,
    "CEC": cross_entropy,
}
METHODS: dict[str, Method] = {OURS: ours, UNREFINED: unrefined, **PEERS}
#: Run once whatever the number of seeds: GMM for its time, the others have no seed.
ONCE = ("GMM", "Ward", "HDBSCAN")


class Fits(NamedTuple):
    """Means over the seeds of a method."""

    ari: float
    seconds: float
    value: float  #: NI
    values: list[float]
    largest: float  #: samples in the largest cluster


@dataclass
class Comparison:
    """All methods on one data set."""

    problem: Problem
    fits: dict[str, Fits]
    truth: float  #: NI of the true partition

    @property
    def ours(self) -> Fits:
        return self.fits[OURS]

    def aris(self) -> list[float]:
        return [fits.ari for fits in self.fits.values()]

    def worsened(self) -> int:
        """How often the refined NI is worse than the unrefined one of the same seed."""
        both = zip(self.ours.values, self.fits[UNREFINED].values, strict=True)
        return sum(refined > plain + EPS for refined, plain in both)

    def ahead(self) -> dict[str, Fits]:
        """Methods with a larger ARI than ours, the largest first."""
        found = {name: fits for name, fits in self.fits.items() if fits.ari > self.ours.ari + TIE}
        return dict(sorted(found.items(), key=lambda item: -item[1].ari))


def largest_cluster(labels: Labels) -> int:
    return int(np.unique(labels, return_counts=True)[1].max())


def measure(problem: Problem, method: Method, seeds: int, starts: int) -> Fits:
    aris, seconds, values, largest = [], [], [], []
    for seed in range(seeds):
        begin = time.perf_counter()
        labels = method(problem, seed, starts)
        seconds.append(time.perf_counter() - begin)
        aris.append(float(adjusted_rand_score(problem.y, labels)))
        values.append(index_value(problem.X, labels, "NI"))
        largest.append(largest_cluster(labels))
    return Fits(fmean(aris), fmean(seconds), fmean(values), values, fmean(largest))


def compare(
    problem: Problem, seeds: int, starts: int, methods: dict[str, Method] = METHODS
) -> Comparison:
    fits = {
        name: measure(problem, method, 1 if name in ONCE else seeds, starts)
        for name, method in methods.items()
    }
    return Comparison(problem, fits, index_value(problem.X, problem.y, "NI"))


def mean_aris(comparisons: list[Comparison]) -> list[float]:
    return [fmean(column) for column in zip(*(one.aris() for one in comparisons), strict=True)]


def digits(values: list[float]) -> list[str]:
    return [f"{value:.4f}" for value in values]


def best_bold(values: list[float]) -> list[str]:
    """The largest value in bold, with those equal to it as printed."""
    texts = digits(values)
    largest = max(texts, key=float)
    return [f"**{text}**" if text == largest else text for text in texts]
