"""Samples climb the density to its peaks, and peaks are joined where no valley parts them.

The density is known at samples and half-way between neighbours. The *saddle* of two neighbouring
samples is the least of the density at both and between them, lowered where the step between them is
longer than steps are around there: a smooth density blurs a narrow gap that single samples show.

Samples whose density rises to the same peak form a *hill*. The prominence of two hills is the
lower of their peaks less the highest saddle between them, all in logarithms. By chance a valley
between n samples comes out about 1/√n deep, so what counts is the *evidence*: prominence × √n with
the n of the smaller hill. Hills are joined in the order of their evidence, until one is left.

J. E. Chacón, "Mixture model modal clustering", Adv. Data Anal. Classif. 13, 2019; F. Chazal,
L. J. Guibas, S. Y. Oudot, P. Skraba, "Persistence-based clustering in Riemannian manifolds",
J. ACM 60, 2013.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from icvi_artmap._compile.jit import inline, jit

#: Neighbours of every sample that it may climb to.
NEIGHBOURS = 12
#: The distance of this neighbour is the length of the steps around a sample.
NEAR = 3
#: A longer step lowers the density as if it fell with this power of the length, or with the number
#: of features if that is less.
POWER = 3
#: Shallower valleys part no hills.
SHALLOW = 0.1
#: No distance is less, so that logarithms stay finite.
LEAST_DISTANCE = 1e-150

Labels = NDArray[np.int64]


class Neighbours(NamedTuple):
    """Pairs of neighbouring samples, each once."""

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    gap: NDArray[np.float64]  #: by how much the logarithm of the density falls for a long step


class Hills(NamedTuple):
    """Samples around every peak of a density, and what parts them."""

    of_sample: Labels
    n: NDArray[np.float64]  #: samples of every hill
    peak: NDArray[np.float64]  #: largest logarithm of the density
    saddle: NDArray[np.float64]  #: (hills, hills) highest between two; the lowest if there is none


class Tree(NamedTuple):
    """In what order hills are joined; ``second`` becomes part of ``first``, the lower number."""

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    prominence: NDArray[np.float64]
    evidence: NDArray[np.float64]

    @property
    def n_hills(self) -> int:
        return len(self.first) + 1

    def cut(self, n_groups: int) -> Labels:
        """The group of every hill when so many are left, numbered in the order of hills."""
        group = np.arange(self.n_hills)
        for a, b in zip(self.first, self.second, strict=True):
            if n_groups >= self.n_hills:
                break
            group[group == b] = a
            n_groups += 1
        return np.unique(group, return_inverse=True)[1].astype(np.int64)

    def evidences(self) -> NDArray[np.float64]:
        """At place j how clearly j + 2 groups are more than j + 1; never rising with j."""
        return np.maximum.accumulate(np.maximum(self.evidence, 0.0))[::-1]


def neighbours(x: NDArray[np.float64]) -> Neighbours:
    """The nearest samples of every sample.

    Equal samples are one in this, and each is a neighbour of the first of them. Otherwise the
    nearest samples of a value that is there often would all be of that value, and values without
    neighbours would be hills of their own.
    """
    _, first, value = np.unique(x, axis=0, return_index=True, return_inverse=True)
    equal, every = first[value.ravel()], np.arange(len(x))
    distinct, repeated = np.flatnonzero(equal == every), np.flatnonzero(equal != every)
    pairs = _neighbours_of_distinct(x[distinct])
    return Neighbours(
        np.append(distinct[pairs.first], equal[repeated]),
        np.append(distinct[pairs.second], repeated),
        np.append(pairs.gap, np.zeros(len(repeated))),
    )


def _neighbours_of_distinct(x: NDArray[np.float64]) -> Neighbours:
    n, d = x.shape
    if n == 1:
        return Neighbours(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
    many = min(NEIGHBOURS, n - 1)
    # Alike on every machine: the tree sorts, and one worker searches.
    distance, other = cKDTree(x).query(x, k=many + 1, workers=1)
    own, other, distance = _without_self(distance, other, many)
    around = distance[:, min(NEAR, many) - 1]
    pairs = np.minimum(own, other) * n + np.maximum(own, other)
    _, once = np.unique(pairs.ravel(), return_index=True)
    first, second, step = own.ravel()[once], other.ravel()[once], distance.ravel()[once]
    usual = np.maximum(around[first], around[second])
    longer = np.maximum(step, LEAST_DISTANCE) / np.maximum(usual, LEAST_DISTANCE)
    return Neighbours(first, second, min(d, POWER) * np.log(np.maximum(longer, 1.0)))


def _without_self(
    distance: NDArray[np.float64], other: NDArray[np.int64], many: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Of many + 1 nearest samples the ``many`` that are not the sample itself.

    Where a distance is too small for its square, it need not be the first, nor even among them.
    """
    own = np.broadcast_to(np.arange(len(other))[:, None], other.shape)
    itself = other == own
    last = ~itself.any(axis=1)
    itself[last, -1] = True
    kept = (len(other), many)
    return (
        own[~itself].reshape(kept),
        other[~itself].reshape(kept),
        distance[~itself].reshape(kept),
    )


def hills(
    pairs: Neighbours,
    density: NDArray[np.float64],
    between: NDArray[np.float64],
    of_sample: Labels | None = None,
) -> Hills:
    """The hills of a density with these logarithms at samples and half-way of every pair.

    ``of_sample``: the hills, if they are given; then only their peaks and saddles are looked for.
    """
    low = np.minimum(density[pairs.first], density[pairs.second])
    saddle = np.minimum(low, between) - pairs.gap
    if of_sample is None:
        order = np.argsort(-saddle, kind="stable")
        root = np.arange(len(density))
        climb(density, pairs.first, pairs.second, saddle, order, SHALLOW, root)
        of_sample = np.unique(root, return_inverse=True)[1].astype(np.int64)
    count = int(of_sample.max()) + 1
    peak = np.full(count, -np.inf)
    np.maximum.at(peak, of_sample, density)
    a, b = of_sample[pairs.first], of_sample[pairs.second]
    apart = a != b
    highest = np.full((count, count), saddle.min(initial=density.min()))
    np.maximum.at(highest, (a[apart], b[apart]), saddle[apart])
    highest = np.maximum(highest, highest.T)
    return Hills(of_sample, np.bincount(of_sample).astype(np.float64), peak, highest)


def join(found: Hills, cluster: Labels | None = None) -> Tree:
    """The order in which hills are joined. ``cluster``: hills of one cluster before all others."""
    count = len(found.n)
    together = np.zeros(count, np.int64) if cluster is None else cluster.copy()
    joins = count - 1
    tree = Tree(
        np.empty(joins, np.int64), np.empty(joins, np.int64), np.empty(joins), np.empty(joins)
    )
    groups = Groups(
        found.n.copy(),
        found.peak.copy(),
        found.saddle.copy(),
        together,
        alive=np.ones(count, np.bool_),
        partner=np.empty(count, np.int64),
        least=np.empty(count),
    )
    agglomerate(groups, tree)
    return tree


class Groups(NamedTuple):
    """Hills while they are joined. A group has the number of its first hill."""

    n: NDArray[np.float64]
    peak: NDArray[np.float64]
    saddle: NDArray[np.float64]  #: (hills, hills)
    together: Labels  #: groups of equal numbers are joined before others
    alive: NDArray[np.bool_]  #: not yet part of another one
    partner: NDArray[np.int64]  #: the group below that is parted least, or -1
    least: NDArray[np.float64]  #: how clearly it is parted from the partner


@inline
def top_of(parent, s):
    """The sample that stands for the hill of s."""
    while parent[s] != s:
        parent[s] = parent[parent[s]]
        s = parent[s]
    return s


@jit
def climb(density, first, second, saddle, order, shallow, parent):
    """The peak that every sample belongs to; pairs come with the highest saddle first.

    ``parent``: first every sample itself, in the end its peak.
    """
    for pair in order:
        a, b = top_of(parent, first[pair]), top_of(parent, second[pair])
        if a != b:
            if density[a] < density[b]:
                a, b = b, a
            if density[b] - saddle[pair] <= shallow:
                parent[b] = a
    for s in range(len(parent)):
        parent[s] = top_of(parent, s)


@inline
def prominence_of(groups, i, j):
    """The lower peak of groups i and j less the highest saddle between them."""
    return min(groups.peak[i], groups.peak[j]) - groups.saddle[i, j]


@inline
def evidence_of(groups, i, j):
    """How clearly groups i and j are two; not above 0 where there is no valley."""
    prominence = prominence_of(groups, i, j)
    if prominence > 0.0:
        prominence *= math.sqrt(min(groups.n[i], groups.n[j]))
    return prominence


@inline
def find_partner(groups, i):
    """Find the group below i that is parted from i least, and how clearly."""
    groups.least[i], groups.partner[i] = math.inf, -1
    for j in range(i):
        if groups.alive[j] and groups.together[i] == groups.together[j]:
            evidence = evidence_of(groups, i, j)
            if evidence < groups.least[i]:
                groups.least[i], groups.partner[i] = evidence, j


@inline
def find_partners(groups):
    for i in range(len(groups.n)):
        if groups.alive[i]:
            find_partner(groups, i)


@inline
def least_parted(groups):
    """The group that is parted least from its partner; -1 if none has one."""
    found = -1
    for i in range(len(groups.n)):
        some = groups.alive[i] and groups.partner[i] >= 0
        if some and (found < 0 or groups.least[i] < groups.least[found]):
            found = i
    return found


@inline
def unite(groups, a, b):
    """Group b becomes part of group a, and partners are looked for anew where that matters."""
    groups.alive[b] = False
    groups.peak[a] = max(groups.peak[a], groups.peak[b])
    groups.n[a] += groups.n[b]
    for i in range(len(groups.n)):
        if groups.alive[i] and i != a:
            higher = max(groups.saddle[a, i], groups.saddle[b, i])
            groups.saddle[a, i] = groups.saddle[i, a] = higher
    for i in range(len(groups.n)):
        if not groups.alive[i]:
            continue
        if i == a or groups.partner[i] == a or groups.partner[i] == b:
            find_partner(groups, i)
        elif i > a and groups.together[i] == groups.together[a]:
            new = evidence_of(groups, i, a)
            least = groups.least[i]
            if new < least or (new == least and a < groups.partner[i]):
                groups.least[i], groups.partner[i] = new, a


@jit
def agglomerate(groups, tree):
    """Join the two groups that are parted least, again and again.

    Groups that are not ``together`` are joined when no others are left.
    """
    find_partners(groups)
    for step in range(len(tree.first)):
        b = least_parted(groups)
        if b < 0:  # only groups that are not together are left
            groups.together[:] = 0
            find_partners(groups)
            b = least_parted(groups)
        a = groups.partner[b]
        tree.first[step], tree.second[step] = a, b
        tree.prominence[step], tree.evidence[step] = prominence_of(groups, a, b), groups.least[b]
        unite(groups, a, b)
