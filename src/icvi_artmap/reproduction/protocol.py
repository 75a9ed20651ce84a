"""The paper's protocol (Sections param_set and protocol): what is run on a data set.

Every set is shuffled once, and all methods get the samples in that order. ART networks scale them
themselves; for the others they are standardised. A job is what is run in one go and stored; it has
values for one or several columns.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.manifold import spectral_embedding
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.mixture import GaussianMixture

from icvi_artmap._support.threads import one_thread
from icvi_artmap.datasets import load_paper_set
from icvi_artmap.estimators.art_family import DualVigilanceFuzzyART, FuzzyART
from icvi_artmap.estimators.icvi_artmap import ICVIARTMAP
from icvi_artmap.indices.registry import get_index
from icvi_artmap.indices.shared.ridge import ridge
from icvi_artmap.reproduction import latents, paper
from icvi_artmap.reproduction.kmeans import kmeans
from icvi_artmap.samples.scaling import learn_scaling, standardised_table
from icvi_artmap.tendency.vat import vat
from icvi_artmap.training.run import Vigilances

#: k-means runs for one start.
KMEANS_TRIALS = 10
#: Starts of every variant, where the paper has one, in columns of our own; and of the refined iNI.
STARTS = {"NI": 10, "CH": 5, "WB": 5, "XB": 5, "DB": 5, "PBM": 5}
REFINED_STARTS = 10
#: Against a cycle of fuzzy ART; the paper names no limit.
MOST_EPOCHS = 100
#: Section param_set, for k-means and GMM.
MAX_ITER, TOL = 300, 1e-6
#: From this number of samples on, a table of all distances is not made, and grids are thinned.
MANY, TOO_MANY = 5_000, 20_000
#: Linkages by the names of their columns.
LINKAGES = {"Ward": "ward", "complete": "complete", "average": "average", "single": "single"}


class Problem(NamedTuple):
    """A data set, shuffled."""

    name: str
    X: NDArray[np.float64]
    y: NDArray[np.int64]
    seed: int
    quick: bool

    @property
    def k(self) -> int:
        return len(np.unique(self.y))

    @property
    def standardised(self) -> NDArray[np.float64]:
        return standardised_table(self.X, learn_scaling(self.X))

    def kmeans(self, seed: int) -> KMeans:
        """k-means on the standardised data, whose centres are the start of GMM and the variants."""
        return kmeans(self.standardised, self.k, KMEANS_TRIALS, RandomState(seed), TOL)

    def centres(self, seed: int) -> NDArray[np.float64]:
        """Its centres in the units of the data."""
        scaling = learn_scaling(self.X)
        return scaling.standardise_inverse(self.kmeans(seed).cluster_centers_)

    def ari(self, labels: NDArray[np.integer]) -> float:
        return float(adjusted_rand_score(self.y, labels))

    def thinned(self, values: tuple[float, ...], few: int, many: int = 1) -> tuple[float, ...]:
        """All values of a grid; if quick or with many samples, a part of them with the last one."""
        step = few if self.quick else many if len(self.X) >= MANY else 1
        return values[::-step][::-1]


Outcome = dict[str, Any]  #: JSON: "values" by column, and what is worth keeping besides
Job = Callable[[Problem], Outcome]


class Space(NamedTuple):
    """The space in which the sets of images are clustered, except Olivetti: that of the paper."""

    kind: str = latents.PCA
    folder: Path = Path("latents")  #: where the files of latents are
    seeds: int = 1  #: of trainings, from 0 on


def projection(name: str, kind: str = latents.PCA) -> str:
    """The features to which a set is reduced before anything is run on it."""
    if name in paper.SYNTHETIC.values:
        return ""
    return "PCA (20-D)" if name == "olivetti" else f"{latents.NAMES[kind]} ({latents.SIZE}-D)"


def load(
    name: str, folder: str | None, seed: int, quick: bool, space: Space | None = None
) -> Problem:
    """Load the set in the form in which all methods get it. No ``space``: PCA for images."""
    if space is not None and space.kind != latents.PCA and name in latents.SCHEDULES:
        found = latents.chosen(space.folder, space.kind, name, space.seeds)
        X, y = found.X, found.y
    else:
        bunch = load_paper_set(name, folder)
        X, y = bunch.data, bunch.target
        if projection(name):
            X = _principal(X, 20 if name == "olivetti" else latents.SIZE)
    order = RandomState(seed).permutation(len(X))
    return Problem(name, np.ascontiguousarray(X[order], np.float64), y[order], seed, quick)


def _principal(X: NDArray[Any], n_components: int) -> NDArray[np.float64]:
    """Principal components, exactly; signs as scikit-learn's full solver gives them."""
    from sklearn.decomposition import PCA

    solver = "full" if len(X) < TOO_MANY else "covariance_eigh"
    return np.asarray(PCA(n_components, svd_solver=solver).fit_transform(X), np.float64)


# --- iCVI-ARTMAP ---------------------------------------------------------------------------------


class _Best:
    """The fit of a grid with the largest ARI, and the one with the best index value."""

    def __init__(self, direction: int) -> None:
        self.direction = direction
        self.ari, self.index_value = -np.inf, -direction * np.inf
        self.outcome: Outcome = {"values": {}, "at": {}}

    def see(self, ari: float, index_value: float, rho_a: float, rho_ab: float) -> None:
        if ari > self.ari:
            self.ari = ari
            self._keep("best", ari, rho_a, rho_ab)
        if self.direction * index_value > self.direction * self.index_value:
            self.index_value = index_value
            self._keep("tuned", ari, rho_a, rho_ab)

    def _keep(self, which: str, ari: float, rho_a: float, rho_ab: float) -> None:
        self.outcome["values"][which] = ari
        self.outcome["at"][which] = {"rho_a": rho_a, "rho_ab": rho_ab}


def variant(index: str, start: int) -> Job:
    """All vigilances of the paper's grid from one start; what is known to be the same, once."""

    def job(problem: Problem) -> Outcome:
        best = _Best(get_index(index).direction)
        made: list[Vigilances] = []
        centres = problem.centres(problem.seed + start)
        for rho_a in problem.thinned(paper.rho_a(problem.name), 5):
            for rho_ab in problem.thinned(paper.RHO_AB, 3):
                if any(vigilances.contain(rho_a, rho_ab) for vigilances in made):
                    continue
                model = ICVIARTMAP(
                    problem.k,
                    index=index,
                    rho_a=rho_a,
                    rho_ab=rho_ab,
                    init=centres,
                    shuffle=False,
                    refine=False,
                    random_state=problem.seed,
                ).fit(problem.X)
                made.append(model.vigilances_)
                best.see(problem.ari(model.labels_), model.index_value_, rho_a, rho_ab)
        return best.outcome | {"index_value": best.index_value, "fits": len(made)}

    return job


def refined(problem: Problem) -> Outcome:
    """Beyond the paper: iNI with its defaults, the best index value of several starts."""
    model = ICVIARTMAP(
        problem.k, n_init=2 if problem.quick else REFINED_STARTS, random_state=problem.seed
    )
    model.fit(problem.X)
    return {
        "values": {"iNI refined": problem.ari(model.labels_)},
        "index_value": model.index_value_,
    }


def any_shape(problem: Problem) -> Outcome:
    """Beyond the paper: clusters of any shape, joined of Gaussian components."""
    model = ICVIARTMAP(problem.k, shape="any", random_state=problem.seed).fit(problem.X)
    return {"values": {"iNI any shape": problem.ari(model.labels_)}}


# --- the other methods ---------------------------------------------------------------------------


def art(problem: Problem) -> Outcome:
    """VAT+FA and VAT+DVFA: the largest ARI over their vigilances, for both ends of VAT.

    VAT begins at one of the two samples that are farthest apart. The paper's values are those of
    the one that comes later in the order of the samples; ours begins at the earlier one, so it gets
    them backwards.
    """
    rho_ub = problem.thinned(paper.RHO_ART, 5, 5)
    if len(problem.X) >= TOO_MANY:
        rho_ub = tuple(rho for rho in rho_ub if rho <= 0.8)
    below = problem.thinned(paper.BELOW, 5, 5)
    outcome: Outcome = {}
    for end, step in (("values", -1), ("other end", 1)):
        order = np.arange(len(problem.X))[::step]
        order = order[_vat_order(problem.X[order])]
        X, y = problem.X[order], problem.y[order]
        best = {"VAT+FA": -np.inf, "VAT+DVFA": -np.inf}
        for upper, lower in _dual_vigilances(rho_ub, below):
            model = DualVigilanceFuzzyART(upper, lower) if upper != lower else FuzzyART(upper)
            ari = float(adjusted_rand_score(y, _epochs_until_no_new_category(model, X)))
            # Equal vigilances are part of dual vigilance's grid, and make it fuzzy ART.
            for column in ("VAT+FA", "VAT+DVFA") if upper == lower else ("VAT+DVFA",):
                best[column] = max(best[column], ari)
        outcome[end] = best
    return outcome


def _vat_order(X: NDArray[np.float64]) -> NDArray[np.int64]:
    """VAT on min-max scaled data."""
    return vat(learn_scaling(X).min_max(X))


def _dual_vigilances(
    rho_ub: tuple[float, ...], below: tuple[float, ...]
) -> Iterator[tuple[float, float]]:
    for upper in rho_ub:
        for difference in below:
            if difference <= upper:
                yield upper, round(upper - difference, 2)


def _epochs_until_no_new_category(
    model: FuzzyART | DualVigilanceFuzzyART, X: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Labels after the first epoch that adds no category."""
    before = 0
    for _ in range(MOST_EPOCHS):
        model.partial_fit(X)
        if len(model.categories_) == before:
            break
        before = len(model.categories_)
    return model.labels_


def centroids(problem: Problem) -> Outcome:
    """k-means, the best of ten runs, and a Gaussian mixture that begins at its means."""
    found = problem.kmeans(problem.seed)
    table, regular = problem.standardised, ridge(problem.X.shape[1])
    # The mixture takes its first weights and covariances from another run of k-means.
    own = kmeans(table, problem.k, 1, RandomState(problem.seed)).labels_
    parts = [table[own == i] for i in range(problem.k)]
    covariances = [np.cov(part.T, bias=True) + regular * np.eye(table.shape[1]) for part in parts]
    mixture = GaussianMixture(
        problem.k,
        weights_init=[len(part) / len(table) for part in parts],
        means_init=found.cluster_centers_,
        precisions_init=np.linalg.inv(covariances),
        reg_covar=regular,
        tol=TOL,
        max_iter=MAX_ITER,
    )
    return {
        "values": {
            "kmeans": problem.ari(found.labels_),
            "GMM": problem.ari(mixture.fit_predict(table)),
        }
    }


def spectral(problem: Problem) -> Outcome:
    """The largest ARI over the widths of the kernel."""
    table, best = problem.standardised, {"SC": -np.inf}
    outcome: Outcome = {"values": best, "at": {}}
    for gamma in problem.thinned(paper.GAMMA, 25, 25):
        random_state = RandomState(problem.seed)
        embedded = spectral_embedding(
            rbf_kernel(table, gamma=gamma),
            n_components=problem.k,
            random_state=random_state,
            drop_first=False,
        )
        ari = problem.ari(kmeans(embedded, problem.k, KMEANS_TRIALS, random_state).labels_)
        if ari > best["SC"]:
            best["SC"], outcome["at"]["SC"] = ari, {"gamma": gamma}
    return outcome


def linkages(problem: Problem) -> Outcome:
    """Hierarchical clustering, cut at the number of clusters."""
    table, values = problem.standardised, {}
    for column, linkage in LINKAGES.items():
        if linkage == "single" or len(table) < TOO_MANY:  # the others need all distances at once
            model = AgglomerativeClustering(problem.k, linkage=linkage)
            values[column] = problem.ari(model.fit_predict(table))
    return {"values": values}


def jobs(
    name: str, columns: tuple[str, ...], quick: bool, kind: str = latents.PCA
) -> dict[str, Job]:
    """What has to be run on a set, the longest first. ``kind``: of the space of images."""
    found: dict[str, Job] = {"ART": art}
    large = name in ("mnist", "fashion-mnist")
    learned = kind != latents.PCA and name in latents.SCHEDULES
    if learned:
        found["any shape"] = any_shape
        if large:  # the paper has no values either
            del found["ART"]
    if not large:  # the kernel of 70,000 samples would take 39 GB
        found["SC"] = spectral
    for index in paper.INDICES:
        if f"i{index}" in columns:
            more = name in paper.SYNTHETIC.values and not quick
            for start in range(STARTS[index] if more else 1):
                found[f"{index} {start}"] = variant(index, start)
    return found | {"refined": refined, "HAC": linkages, "k-means, GMM": centroids}


def run(job: Job, problem: Problem) -> Outcome:
    """One job, on one thread; with the seconds it took."""
    began = time.perf_counter()
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outcome = job(problem)
    return outcome | {"seconds": time.perf_counter() - began}
