"""Clusters of any shape (beyond the paper): many Gaussian components, joined to clusters.

A ring is no Gaussian, but a chain of Gaussians. So the data are cut into many components, which NI
does well; their mixture is a smooth density, and what no valley of it parts is one cluster
(:mod:`icvi_artmap.training.joining`). One number of components is never right for all data: each
of several gives a *landscape*, and each landscape a partition into k clusters. Taken is the one
that agrees best with all the others, the plain partition into k Gaussian clusters among them.

How many clusters there are is told by the evidence for each join. Between the joins of pieces of
one shape and those of different shapes it rises steeply: the number of clusters is where the rise
is largest, and pieces that samples make by chance do not count.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

from icvi_artmap._support.threads import in_threads, one_thread
from icvi_artmap._support.wording import number
from icvi_artmap.indices.base import Index
from icvi_artmap.samples import moments as mom
from icvi_artmap.samples.mixture import log_density, make_mixture
from icvi_artmap.samples.scaling import Data, blocks, plain_data
from icvi_artmap.training import refinement
from icvi_artmap.training.joining import Hills, Labels, Neighbours, Tree, hills, join, neighbours
from icvi_artmap.training.number_of_clusters import SEED, Selection
from icvi_artmap.training.refinement import Outlook, Partition
from icvi_artmap.training.run import FitResult, Joined, Run, Settings
from icvi_artmap.training.start import Samples, kmeans_labels, start_from

#: Numbers of components, each about twice the one before.
LADDER = (8, 15, 30, 60, 120)
#: Steps that improve a partition into K components: this many divided by K, or none where that is
#: too few to be worth finding out what they would bring; and how many of each kind are tried.
STEPS, FEWEST_STEPS, TRIES = 400, 10, 4
#: Of more samples a part of this size tells the shapes.
MANY = 10_000
#: Evidence that valleys between samples of one cluster reach by chance.
CHANCE = 5.0
#: The choice of a number is clear if this part of the landscapes would choose it alone, and if the
#: evidence rises by this factor there: that of a single flat shape does not.
AGREED, RISE = 0.75, 2.0
#: What is compared, the least of it: by how much the evidence falls, turned.
RULE = "-rise of ln evidence"
#: So many more samples than can be helped may lie in components of other clusters.
IMPURE = 0.01
#: More clusters are not looked for.
MOST_CLUSTERS = 60


@dataclass(frozen=True, eq=False)
class Landscape:
    """The density of one partition into components, and what it says about clusters."""

    components: Labels  #: component of every sample looked at
    hills: Hills
    tree: Tree
    criterion: float  #: that of the components, by which a number of clusters is chosen

    def clusters(self, k: int) -> Labels:
        """The samples looked at in k clusters."""
        return self.tree.cut(k)[self.hills.of_sample]


class Shapes(NamedTuple):
    """Clusters as they were joined from components; samples as presented."""

    labels: Labels  #: cluster of every sample
    components: Labels  #: component of every sample
    cluster_of: NDArray[np.int64]  #: cluster of every component
    tree: Tree  #: in what order the components are joined


class Recorded(NamedTuple):
    """In what steps the samples were recorded."""

    steps: NDArray[np.float64]  #: (d,) of the table
    coarseness: NDArray[np.float64]  #: (d,) units of the index, in deviations

    def blurred(self, data: Data) -> Data:
        """The samples, each moved at random within half a step, in deviations."""
        moved = np.random.RandomState(SEED).uniform(-0.5, 0.5, data.shape) * self.steps
        scale, shift = data.scale * self.coarseness, data.shift * self.coarseness
        return plain_data(data.coded(slice(None)) + moved, scale, shift)


class Survey:
    """Landscapes of the data, or of a part of them that is large enough to tell.

    Where values were recorded in steps (``recorded``), samples are moved at random within half a
    step and seen in deviations: a density has no stripes that rounding alone has made.
    """

    def __init__(
        self,
        index: Index,
        data: Data,
        least: int,
        rng: np.random.RandomState,
        report: Callable[[str], None] | None = None,
        recorded: Recorded | None = None,
    ) -> None:
        self.index, self.data, self.report = index, data, report
        n = data.shape[0]
        self.rows = np.arange(n) if n <= MANY else np.sort(rng.permutation(n)[:MANY])
        self.part = data if n <= MANY else data.take(self.rows)
        self.seen = self.part if recorded is None else index.view(recorded.blurred(self.part))
        self.landscapes: list[Landscape] = []
        numbers = numbers_of_components(len(self.rows), data.shape[1], least)
        with one_thread():
            if numbers:
                self._look(numbers, rng)

    def _look(self, numbers: list[int], rng: np.random.RandomState) -> None:
        x = self.seen.standardised(slice(None))
        self.pairs: Neighbours = neighbours(x)

        def landscape(labels: Labels) -> Landscape:
            return _landscape(self.index, self.seen, x, labels, self.pairs)

        # One number after the other, by the same random numbers; who else is there does the rest.
        parts = (_components(self.index, self.seen, x, count, rng) for count in numbers)
        for count, found in zip(numbers, in_threads(landscape, parts), strict=True):
            self.landscapes.append(found)
            if self.report is not None:
                self.report(f"{count} components: {len(found.hills.n)} hills")

    def candidates(self, k: int) -> list[Landscape]:
        """Those that have k clusters to show."""
        return [found for found in self.landscapes if found.tree.n_hills >= k]

    def describes_better(self, plain: Labels) -> bool:
        """Whether some number of components describes the data better than a plain partition.

        That is told by the criterion that chooses a number of Gaussian clusters.
        """
        labels = np.unique(plain[self.rows], return_inverse=True)[1].astype(np.int64)
        k = int(labels.max()) + 1
        state = self.index.state(self.seen, labels, k, k)
        criterion = self.index.criterion.rater()(state, self.index.score(state))
        return any(found.criterion < criterion for found in self.landscapes)

    def select(self, least: int, most: int | None) -> Selection | None:
        """The number of clusters at which the evidence rises most; None if no landscape has any."""
        shown = self.candidates(least)
        if not shown:
            return None
        most = min(most or MOST_CLUSTERS, max(found.tree.n_hills for found in shown))
        each = [_rises(found.tree, least, most) for found in shown]
        numbers, rises = np.arange(least, most + 1), np.mean(each, axis=0)
        k = int(numbers[rises.argmax()])
        votes = np.mean([numbers[alone.argmax()] == k for alone in each])
        evidence = np.mean([_evidences(found.tree, 1)[0] for found in shown])
        middle = shown[len(shown) // 2]
        others = np.delete(rises, rises.argmax())
        return Selection(
            n_clusters=k,
            k=numbers,
            criterion=-rises,
            index_values=np.array([self._value(middle.clusters(int(j))) for j in numbers]),
            margin=float(rises.max() - others.max(initial=-np.inf)),
            clear=bool(votes >= AGREED and rises.max() >= np.log(RISE)),
            rule=RULE,
            single=bool(evidence <= np.log(CHANCE)),
            joins=True,
        )

    def _value(self, labels: Labels) -> float:
        k = int(labels.max()) + 1
        return self.index.value(Partition(self.index, self.seen, labels, k, k).score())

    def best(self, plain: Labels, k: int) -> Shapes | None:
        """The partition into k clusters that agrees best with all others; None: the plain one."""
        shown = self.candidates(k)
        partitions = [plain[self.rows], *(found.clusters(k) for found in shown)]
        agreement = np.ones((len(partitions), len(partitions)))
        for i, one in enumerate(partitions):
            for j in range(i):
                agreement[i, j] = agreement[j, i] = adjusted_rand_score(one, partitions[j])
        winner = int(agreement.sum(axis=1).argmax())
        if self.report is not None:
            what = f"{len(shown[winner - 1].hills.n)} hills" if winner else "the Gaussian clusters"
            self.report(f"joined from {what}, agreement {number(agreement[winner].mean(), 3)}")
        return None if winner == 0 else self._shapes(partitions[winner])

    def _shapes(self, clusters: Labels) -> Shapes:
        """Components that lie in one cluster each, and what all samples are in.

        They are those of the fewest components that hardly reach into other clusters.
        """
        pure = np.array([purity(found.components, clusters) for found in self.landscapes])
        found = self.landscapes[int(np.argmax(pure >= pure.max() - IMPURE))]
        x = self.seen.standardised(slice(None))
        part, cluster_of = nested(found.components, clusters, x)
        components = part
        if self.part is not self.data:
            k = len(cluster_of)
            whole = Partition(self.index, self.part, part, k, k)
            components = refinement.joined(whole, self.data)
            components[self.rows] = part
        with one_thread():
            return shapes_of(self.index, self.seen, components, part, cluster_of, self.pairs)


def numbers_of_components(n: int, d: int, k: int) -> list[int]:
    """Numbers above k with as many samples for a component as a Gaussian has parameters."""
    most = n // ((d + 1) * (d + 2) // 2)
    return sorted({min(count, most) for count in LADDER if min(count, most) > k})


def _components(
    index: Index, data: Data, x: NDArray[np.float64], count: int, rng: np.random.RandomState
) -> Labels:
    """A partition into so many components: k-means, sweeps, and some steps that improve it."""
    labels = kmeans_labels(x, count, int(rng.randint(np.iinfo(np.int32).max)))
    partition = Partition(index, data, labels, int(labels.max()) + 1, count)
    partition.sweep()
    if (steps := STEPS // count) >= FEWEST_STEPS:
        outlook = Outlook(partition, rng, TRIES)
        outlook.renew_stale()
        refinement.improve(outlook, most=steps)
    return labels


def _landscape(
    index: Index, data: Data, x: NDArray[np.float64], labels: Labels, pairs: Neighbours
) -> Landscape:
    k = int(labels.max()) + 1
    state = index.state(data, labels, k, k)
    found = hills(pairs, *_density(state.moments, x, pairs))
    criterion = index.criterion.rater()(state, index.score(state))
    return Landscape(labels, found, join(found), criterion)


def _density(
    moments: mom.Moments, x: NDArray[np.float64], pairs: Neighbours
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Logarithm of the density at samples, and half-way between neighbours."""
    mixture = make_mixture(moments)
    between = np.empty(len(pairs.first))
    for part in blocks(len(between)):
        middle = 0.5 * (x[pairs.first[part]] + x[pairs.second[part]])
        between[part] = log_density(mixture, middle)
    return log_density(mixture, x), between


def _evidences(tree: Tree, most: int) -> NDArray[np.float64]:
    """Logarithms of the evidence for 2 to most + 1 clusters, none below that of chance."""
    known = tree.evidences()[:most]
    evidence = np.full(most, CHANCE)
    evidence[: len(known)] = np.maximum(known, CHANCE)
    return np.log(evidence)


def _rises(tree: Tree, least: int, most: int) -> NDArray[np.float64]:
    """By how much the evidence for k clusters is greater than for k + 1, for every k."""
    evidence = _evidences(tree, most)
    return (evidence[:-1] - evidence[1:])[least - 2 :]


def purity(components: Labels, clusters: Labels) -> float:
    """The part of the samples that are in the cluster which most of their component is in."""
    common = np.zeros((int(components.max()) + 1, int(clusters.max()) + 1))
    np.add.at(common, (components, clusters), 1.0)
    return float(common.max(axis=1).sum() / len(clusters))


def nested(
    components: Labels, clusters: Labels, x: NDArray[np.float64]
) -> tuple[Labels, NDArray[np.int64]]:
    """Components that lie in one cluster each: (of every sample, cluster of every component).

    A component that reaches into several clusters is parted. A part of too few samples for a
    Gaussian goes to the nearest part of its cluster that is large enough, if there is one.
    """
    k = int(clusters.max()) + 1
    pairs, part, size = np.unique(
        components * k + clusters, return_inverse=True, return_counts=True
    )
    cluster_of, target = pairs % k, np.arange(len(pairs))
    mean = np.zeros((len(pairs), x.shape[1]))
    np.add.at(mean, part, x)
    mean /= size[:, None]
    small = size <= x.shape[1]
    for i in np.flatnonzero(small):
        near = np.flatnonzero(~small & (cluster_of == cluster_of[i]))
        if len(near):
            target[i] = near[np.square(mean[near] - mean[i]).sum(axis=1).argmin()]
    kept, part = np.unique(target[part], return_inverse=True)
    return part.astype(np.int64), cluster_of[kept]


def shapes_of(
    index: Index,
    seen: Data,
    components: Labels,
    part: Labels,
    cluster_of: NDArray[np.int64],
    pairs: Neighbours,
) -> Shapes:
    """The tree over components. ``part``: of the samples seen, whose neighbours are known."""
    x, count = seen.standardised(slice(None)), len(cluster_of)
    moments = mom.of_clusters(seen, part, count, with_scatter=True)
    found = hills(pairs, *_density(moments, x, pairs), of_sample=part)
    return Shapes(cluster_of[components], components, cluster_of, join(found, cluster_of))


def joined_result(
    samples: Samples, shapes: Shapes, plain: FitResult, settings: Settings
) -> FitResult:
    """The result of a fit whose clusters are joined of components.

    A network learns the components, so that categories lie in them, and its map field ties the
    categories to clusters. The epochs are those of the plain run.
    """
    index, data, count = settings.index, samples.data, len(shapes.cluster_of)
    means = mom.of_clusters(data, shapes.components, count, False).mean
    run = Run(samples, start_from(shapes.components, means, data), settings).teach()
    taught, k = run.result(), int(shapes.cluster_of.max()) + 1
    moments = mom.of_clusters(data.not_turned(), shapes.labels, k, index.needs_scatter)
    state = index.state(data, shapes.labels, k, k)
    by_cluster = [taught.map_field[:, shapes.cluster_of == i].max(axis=1) for i in range(k)]
    return replace(
        plain,
        labels=samples.in_original_order(shapes.labels),
        sample_categories=taught.sample_categories,
        boxes=taught.boxes,
        map_field=np.column_stack(by_cluster),
        centres=moments.mean.copy(),
        moments=moments,
        history=[*plain.history, index.score(state)],
        vigilances=plain.vigilances.within(taught.vigilances),
        joined=Joined(taught.labels, shapes.cluster_of, taught.moments, shapes.tree),
    )
