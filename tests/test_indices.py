"""Every index equals its batch value, whatever has happened to the partition before."""

from __future__ import annotations

import math
from itertools import combinations, islice
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

import oracle
from helpers.moments import merge, plain, split
from helpers.partitions import KINDS, make_data
from icvi_artmap import index_value
from icvi_artmap._compile.jit import jit
from icvi_artmap.indices import base
from icvi_artmap.indices.registry import INDICES
from icvi_artmap.indices.shared import centres as cen
from icvi_artmap.indices.shared import gaussians, spreads
from icvi_artmap.indices.shared.rows import FEW
from icvi_artmap.network import map_field as field
from icvi_artmap.samples import moments as mom
from icvi_artmap.samples.scaling import Data, coded_data, learn_scaling
from icvi_artmap.training import merge_split, sample_loop
from oracle.map_field import eq_artb_yf2

NAMES = list(INDICES)
RTOL = 1e-9
#: Scores nearer than this to each other, but not within rounding, may be told apart or not.
TOO_CLOSE = 1e-9
CLUSTERS = 6
INF = math.inf
#: Indices that try only what may win by a bound, where there are many clusters.
BOUNDED = ["DB", "SIL", "PS", "GD43", "GD53", "rCIP", "rH"]


@jit
def move(state, x, src, dst):
    base.move(state, x, src, dst)


@jit
def trial_moves(state, s, x, src, out):
    """Trial values, and the cluster that is taught."""
    resolution = base.trial_moves(state, s, x, src, out)
    return sample_loop.teaching_cluster(out, state.moments.size[0], src, resolution)


def assert_score(name: str, actual: float, expected: float) -> None:
    """Within 1e-9 relative; NI is a logarithm, so an absolute 1e-9 is a relative one of its
    argument."""
    if math.isinf(expected):
        assert actual == expected
    else:
        atol = RTOL if name == "NI" else 1e-3 * RTOL
        np.testing.assert_allclose(actual, expected, rtol=RTOL, atol=atol)


def distinguishable(scores: list[float]) -> bool:
    """Whether any two scores are equal but for rounding, or clearly apart."""
    for a, b in combinations(scores, 2):
        if a != b and math.isfinite(a) and math.isfinite(b):
            relative = abs(a - b) / max(1.0, abs(a), abs(b))
            if 1e-14 < relative < TOO_CLOSE:
                return False
    return True


class Walk:
    """A partition, its state in the library, and the steps that a fit can take."""

    def __init__(
        self, name: str, X: np.ndarray, labels: np.ndarray, capacity: int = CLUSTERS
    ) -> None:
        self.name, self.index = name, INDICES[name]
        self.data: Data = coded_data(X, learn_scaling(X), np.arange(len(X)))
        self.X = self.data.table * self.data.scale + self.data.shift
        self.labels = np.unique(labels, return_inverse=True)[1].astype(np.int64)
        k = int(self.labels.max()) + 1
        self.state: Any = self.index.state(self.data, self.labels, k, capacity)
        self.map_field = np.ones((1, capacity))

    @property
    def k(self) -> int:
        return int(self.state.moments.size[0])

    def expected(self, labels: np.ndarray | None = None) -> float:
        """Batch score of a partition, the present one by default."""
        return oracle.score(self.name.lower(), self.X, self.labels if labels is None else labels)

    # Steps

    def move(self, s: int, dst: int) -> None:
        """As the sample loop does, and as fitting tidies up after it."""
        src = int(self.labels[s])
        if src == dst:
            return
        self.labels[s] = dst
        move(self.state, self.X[s], src, dst)
        for i in mom.worn(self.state.moments):
            self.index.recompute(self.state, self.data, self.labels, i)
        merge_split.drop_empty(self.index, self.state, self.labels, self.map_field)

    def merge(self, i: int, j: int) -> None:
        """Clusters i < j become the last one."""
        m, k = self.state.moments, self.k
        by_recursion = row_of(m, i)
        merge(by_recursion, 0, m, j, np.empty(self.X.shape[1]))
        merged = (self.labels == i) | (self.labels == j)
        self.labels -= (self.labels > i).astype(np.int64) + (self.labels > j)
        self.labels[merged] = k - 2
        mom.drop(m, j)
        mom.drop(m, i)
        m.size[0] = k - 1
        mom.from_labels(m, self.data, self.labels, k - 2)
        self.index.update_all(self.state)
        assert_rows(by_recursion, 0, self.X[self.labels == k - 2])

    def split(self, i: int, leaves: np.ndarray) -> None:
        """The samples ``leaves`` (a mask) of cluster i become the last cluster."""
        m, k = self.state.moments, self.k
        by_recursion = row_of(m, i)
        self.labels[leaves] = k
        m.size[0] = k + 1
        mom.from_labels(m, self.data, self.labels, i)
        mom.from_labels(m, self.data, self.labels, k)
        self.index.update_all(self.state)
        split(by_recursion, 0, m, k, np.empty(self.X.shape[1]))
        assert_rows(by_recursion, 0, self.X[self.labels == i])

    # Questions

    def check(self) -> None:
        assert_score(self.name, self.index.score(self.state), self.expected())
        assert self.labels.max() == self.k - 1
        for i in range(self.k):
            assert_rows(self.state.moments, i, self.X[self.labels == i])

    def check_trial_moves(self, s: int) -> None:
        src, T = int(self.labels[s]), []
        for i in range(self.k):
            moved = self.labels.copy()
            moved[s] = i
            T.append(self.expected(moved))
        if not distinguishable(T):
            return
        before, out = copies(self.state.moments), np.full(self.k, np.nan)
        taught = trial_moves(self.state, s, self.X[s], src, out)
        y = eq_artb_yf2(np.array(T), src)
        assert taught == (field.ALL if y.all() else y.argmax())
        assert not np.isnan(out).any()
        for a, b in zip(before, self.state.moments, strict=True):
            np.testing.assert_array_equal(a, b)

    def check_trial_merges(self, every: int = 1) -> None:
        """All pairs of clusters, or ``every`` so many of them."""
        present = self.index.score(self.state)
        exact = self.index.trial_merges(self.state, -np.inf)
        scores = self.index.trial_merges(self.state, present)
        now = self.expected()
        for i, j in islice(combinations(range(self.k), 2), 0, None, every):
            expected = self.expected(np.where(self.labels == j, i, self.labels))
            assert_score(self.name, exact[i, j], expected)
            if expected > now and distinguishable([expected, now]):
                assert_score(self.name, scores[i, j], expected)
            elif distinguishable([expected, now]):
                assert not base.better(scores[i, j], now)

    def check_trial_split(self, i: int, leaves: np.ndarray) -> None:
        parts = mom.empty_moments(1, self.X.shape[1], self.index.needs_scatter)
        parts.size[0] = 1
        mom.from_labels(parts, self.data, np.where(leaves, 0, -1))
        scores, row = np.empty(1), np.zeros(1, np.int64)
        cluster = np.array([i], np.int64)
        self.index.trial_splits(self.state, parts, row, row, cluster, scores)
        assert_score(self.name, scores[0], self.expected(np.where(leaves, self.k, self.labels)))


def row_of(m: mom.Moments, i: int) -> mom.Moments:
    """A copy of one cluster."""
    return mom.Moments(np.ones(1, np.int64), *(array[i : i + 1].copy() for array in m[1:]))


def copies(m: mom.Moments) -> list[np.ndarray]:
    return [array.copy() for array in m]


def assert_rows(m: mom.Moments, i: int, X: np.ndarray) -> None:
    """Cluster i has the moments of the samples X, to what the total of the data leaves of 1e-9."""
    expected = oracle.batch_moments(X)
    upper = np.triu_indices(m.scatter.shape[1])
    scatter = (expected.n - 1) * expected.covariance
    assert m.n[i] == expected.n
    np.testing.assert_allclose(m.mean[i], expected.mean, rtol=RTOL, atol=1e-12)
    np.testing.assert_allclose(m.compactness[i], expected.compactness, rtol=RTOL, atol=1e-12)
    np.testing.assert_allclose(m.scatter[i][upper], scatter[upper], rtol=RTOL, atol=1e-12)


class IndexMachine(RuleBasedStateMachine):
    """Any sequence of moves, merges and splits."""

    name: ClassVar[str]
    walk: Walk

    @initialize(
        kind=st.sampled_from(KINDS),
        n=st.integers(5, 24),
        d=st.integers(1, 5),
        k=st.integers(1, CLUSTERS),
        seed=st.integers(0, 2**32 - 1),
    )
    def start(self, kind: str, n: int, d: int, k: int, seed: int) -> None:
        labels = np.random.default_rng(seed).integers(0, k, n)
        self.walk = Walk(self.name, make_data(kind, n, d, seed), labels)

    def sample(self, data: st.DataObject) -> int:
        return data.draw(st.integers(0, len(self.walk.X) - 1), label="sample")

    def cluster(self, data: st.DataObject) -> int:
        return data.draw(st.integers(0, self.walk.k - 1), label="cluster")

    def part(self, data: st.DataObject) -> tuple[int, np.ndarray] | None:
        """A cluster and a part of it, neither nothing nor all, if it has two samples."""
        i = self.cluster(data)
        members = np.flatnonzero(self.walk.labels == i)
        if len(members) < 2:
            return None
        n = data.draw(st.integers(1, len(members) - 1), label="size")
        order = data.draw(st.permutations(members.tolist()), label="members")
        return i, np.isin(np.arange(len(self.walk.X)), order[:n])

    @rule(data=st.data())
    def move(self, data: st.DataObject) -> None:
        self.walk.move(self.sample(data), self.cluster(data))

    @precondition(lambda self: self.walk.k > 1)
    @rule(data=st.data())
    def merge(self, data: st.DataObject) -> None:
        j = data.draw(st.integers(1, self.walk.k - 1), label="j")
        self.walk.merge(data.draw(st.integers(0, j - 1), label="i"), j)

    @precondition(lambda self: self.walk.k < CLUSTERS)
    @rule(data=st.data())
    def split(self, data: st.DataObject) -> None:
        part = self.part(data)
        if part is not None:
            self.walk.split(*part)

    @precondition(lambda self: self.walk.k > 1)
    @rule(data=st.data())
    def trial_moves(self, data: st.DataObject) -> None:
        self.walk.check_trial_moves(self.sample(data))

    @rule()
    def trial_merges(self) -> None:
        self.walk.check_trial_merges()

    @rule(data=st.data())
    def trial_split(self, data: st.DataObject) -> None:
        part = self.part(data)
        if part is not None:
            self.walk.check_trial_split(*part)

    @invariant()
    def equals_the_batch_value(self) -> None:
        if hasattr(self, "walk"):
            self.walk.check()


@pytest.mark.parametrize("name", NAMES)
def test_any_sequence_of_changes(name: str) -> None:
    machine = type(f"{name}Machine", (IndexMachine,), {"name": name})
    run_state_machine_as_test(
        machine,
        settings=settings(max_examples=settings.default.max_examples // 4, stateful_step_count=30),
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_split_that_leaves_equal_samples(name: str) -> None:
    """What rounding leaves of their variance is no variance, however small the ridge is."""
    rng = np.random.default_rng(3)
    walk = Walk(name, np.array([[0.0], [1.0], [1.0], [1.0], [0.0]]), rng.integers(0, 2, 5))
    walk.merge(0, 1)
    walk.check_trial_split(0, np.array([True, True, False, False, True]))


@pytest.mark.nojit
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", NAMES)
def test_a_short_walk(name: str, kind: str) -> None:
    """The same without hypothesis, for plain Python too."""
    rng = np.random.default_rng(3)
    walk = Walk(name, make_data(kind, 16, 3, 3), rng.integers(0, 4, 16))
    for step in range(40):
        s = int(rng.integers(16))
        i = int(walk.labels[s])
        leaves = (walk.labels == i) & (rng.random(16) < 0.5)
        if walk.k > 1:
            walk.check_trial_moves(s)
            walk.check_trial_merges()
        if 0 < leaves.sum() < (walk.labels == i).sum():
            walk.check_trial_split(i, leaves)
            if walk.k < CLUSTERS and step % 5 == 0:
                walk.split(i, leaves)
        if walk.k > 3 and step % 7 == 0:
            walk.merge(0, walk.k - 1)
        walk.move(s, int(rng.integers(walk.k)))
        walk.check()


@pytest.mark.nojit
@pytest.mark.parametrize("name", ["rCIP", "rH"])
def test_trials_without_kept_factors(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many clusters in many dimensions no factors of pairs are kept: trials are the same."""
    rng = np.random.default_rng(5)
    X, labels = make_data("blobs", 30, 3, 5), np.arange(30) % 5
    kept = Walk(name, X, labels)
    monkeypatch.setattr(gaussians, "MOST_KEPT", 0)
    walk = Walk(name, X, labels)
    assert walk.state.pairs.factor.shape[0] == 0 < kept.state.pairs.factor.shape[0]
    for s in rng.permutation(30)[:10]:
        values, expected = np.empty(5), np.empty(5)
        for one, out in ((walk, values), (kept, expected)):
            one.check_trial_moves(s)
            trial_moves(one.state, s, one.X[s], int(one.labels[s]), out)
            one.move(s, 0)
        np.testing.assert_allclose(values, expected, rtol=1e-10)


@pytest.mark.parametrize("overlap", [0.2, 2.0])
@pytest.mark.parametrize("name", BOUNDED)
def test_moves_and_merges_of_many_clusters(name: str, overlap: float) -> None:
    """Where only what may win is tried, the winner is the same, and the rest has a bound."""
    rng = np.random.default_rng(8)
    labels = np.repeat(np.arange(FEW + 4), 4)
    centres = rng.uniform(0.0, 10.0, (FEW + 4, 3))
    walk = Walk(
        name, centres[labels] + overlap * rng.normal(size=(len(labels), 3)), labels, FEW + 4
    )
    bounds = 0
    for s in rng.permutation(len(labels))[:7]:
        src, out = int(walk.labels[s]), np.empty(walk.k)
        walk.check_trial_moves(s)
        trial_moves(walk.state, s, walk.X[s], src, out)
        for i in rng.permutation(walk.k)[:4]:
            exact = walk.expected(np.where(np.arange(len(labels)) == s, i, walk.labels))
            assert out[i] >= exact - 1e-9 * max(1.0, abs(exact))
            known = hasattr(walk.state, "rows") and walk.state.rows.known[i]
            if known:
                assert_score(name, out[i], exact)
            bounds += bool(known or out[i] > exact + 1e-6)
        walk.move(s, int(np.argmax(out)) if rng.random() < 0.5 else int(rng.integers(walk.k)))
        walk.check()
    assert walk.k > FEW
    assert bounds > 0
    walk.check_trial_merges(every=11)


@jit
def bounds_of_spreads(state, x, src, out):
    """As the trials do before they try."""
    m, k, distance = state.moments, state.moments.size[0], state.centres.to_sample
    cen.squared_distances(state.centres.coordinates, x, k, distance)
    back = -1.0 / (m.n[src] - 1)
    for row in range(k):
        apart = state.centres.squared[src, row]
        state.second[row] = cen.between(back, apart, distance[row], distance[src])
    left = max(m.compactness[src] - cen.removal_gain(m, distance, src), 0.0) / (m.n[src] - 1)
    rest = spreads.New(m.n[src] - 1.0, left, state.second)
    return spreads.bound_moves(state, src, rest, out)


@jit
def bounds_of_gaussians(state, x, src, out, nearer, merged):
    """As the trials do before they try, the bounds that take more work, and those of merges."""
    gaussians.renew_sums(state)
    gaussians.leave_many(state, x, src)
    usable = gaussians.bound_moves(state, x, src, out)
    for i in range(state.moments.size[0]):
        if i != src:
            for stage in range(gaussians.FINER):
                nearer[stage, i] = gaussians.bound_move(state, x, src, i, stage)
        for j in range(i + 1, state.moments.size[0]):
            merged[i, j] = gaussians.bound_merge(state, i, j)
    return usable


def crowd(name: str, seed: int) -> Walk:
    """Many clusters of different sizes, near or far, in few dimensions or more, or rounded."""
    rng = np.random.default_rng(seed)
    k, d = FEW + 2, (1, 2, 3, 6, 18)[seed % 5]
    labels = np.concatenate([np.arange(k), np.arange(k), rng.integers(0, k, 4 * k)])
    X = rng.uniform(0.0, 10.0, (k, d))[labels]
    X += (0.1, 1.0, 4.0)[seed % 3] * rng.normal(size=X.shape)
    return Walk(name, np.round(X) if seed % 7 == 0 else X, labels, k)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("name", ["PS", "rCIP", "rH"])
def test_no_bound_is_below_what_it_bounds(name: str, seed: int) -> None:
    """All moves of some samples, before and after changes; scores are by the batch formula."""
    rng, walk = np.random.default_rng(seed), crowd(name, seed)
    for s in rng.permutation(len(walk.labels))[:6]:
        src = int(walk.labels[s])
        if walk.state.moments.n[src] == 1:
            continue
        out, nearer = np.full(walk.k, INF), np.full((gaussians.FINER, walk.k), INF)
        if name == "PS":
            usable = bounds_of_spreads(walk.state, walk.X[s], src, out)
        else:
            merged = np.full((walk.k, walk.k), -INF)
            exact_merged = walk.index.trial_merges(walk.state, -INF)
            usable = bounds_of_gaussians(walk.state, walk.X[s], src, out, nearer, merged)
            slack = 1e-8 * np.abs(exact_merged[merged > -INF]).max()
            assert (merged >= exact_merged - slack).all()
        assert usable or name == "PS"
        for i in rng.permutation(walk.k)[: 12 if usable else 0]:
            if i != src:
                exact = walk.expected(np.where(np.arange(len(walk.labels)) == s, i, walk.labels))
                slack = 1e-8 * max(1.0, abs(exact))
                assert out[i] >= exact - slack
                assert (nearer[:, i] >= exact - slack).all()
        for t in rng.integers(0, len(walk.labels), 8):
            if walk.state.moments.n[walk.labels[t]] > 1:
                walk.move(int(t), int(rng.integers(walk.k)))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("name", ["PS", "rCIP", "rH"])
def test_no_bound_of_a_merge_or_split_is_below_its_score(name: str, seed: int) -> None:
    """Whatever the least score is that counts, and however far a trial goes for it."""
    rng, walk = np.random.default_rng(seed), crowd(name, seed)
    exact = walk.index.trial_merges(walk.state, -INF)
    pairs = np.triu_indices(walk.k, 1)
    ranks = np.sort(exact[pairs])[[0, 20, -40, -9, -1]]
    for least in (*ranks, ranks[-1] + 1.0, ranks[-1] + 1e3):
        scores = walk.index.trial_merges(walk.state, least)
        slack = 1e-8 * np.maximum(1.0, np.abs(exact[pairs]))
        assert (scores[pairs] >= exact[pairs] - slack).all()
        counts = exact[pairs] >= least
        np.testing.assert_allclose(scores[pairs][counts], exact[pairs][counts], rtol=1e-9)
    best = walk.index.trial_merges(walk.state, -INF, rising=True)
    assert best.argmax() == exact.argmax()
    for _ in range(12):
        i = int(walk.labels[rng.integers(len(walk.labels))])
        leaves = np.flatnonzero(walk.labels == i)
        leaves = rng.permutation(leaves)[: int(rng.integers(1, len(leaves)))]
        whole = np.zeros(len(walk.labels), np.int64)
        whole[leaves] = 1
        parts = mom.empty_moments(1, walk.X.shape[1], walk.index.needs_scatter)
        parts.size[0] = 1
        mom.from_labels(parts, walk.data, whole - 1)
        row, out = np.zeros(1, np.int64), np.empty(1)

        def score(least: float, parts: Any = parts, row: Any = row, i: int = i, out: Any = out):
            walk.index.trial_splits(walk.state, parts, row, row, np.array([i]), out, least)
            return float(out[0])

        known = score(-INF)
        slack = 1e-8 * max(1.0, abs(known))
        for less in (-1e3, -1.0, -1e-2, -1e-6, 1e-6, 1e-2, 1.0, 1e3):
            bound = score(known - less)
            assert bound >= known - slack
            assert less < 0.0 or bound == pytest.approx(known, rel=1e-9)
            assert bound < known - less or less >= 0.0 or bound == pytest.approx(known, rel=1e-9)


@jit
def bound_of_the_rest(state, i, parts):
    gaussians.renew_sums(state)
    return gaussians.bound_rest(state, i, parts, 0), state.sums.reference[0]


@pytest.mark.nojit
def test_what_a_split_leaves_is_asked_anew_after_a_change() -> None:
    """After moves, and after all are summed again, it is what a new state says."""
    walk, rng = crowd("rCIP", 6), np.random.default_rng(6)
    parts = mom.empty_moments(1, walk.X.shape[1], True)
    parts.size[0] = 1
    i = int(np.bincount(walk.labels).argmax())
    for step in range(4):
        leaf = np.flatnonzero(walk.labels == i)[0]
        mom.from_labels(parts, walk.data, np.where(np.arange(len(walk.labels)) == leaf, 0, -1))
        new = Walk("rCIP", walk.X, walk.labels, walk.k)
        found = [bound_of_the_rest(one.state, i, parts) for one in (walk, new)]
        logarithms = [np.log(bound) - reference for bound, reference in found]
        assert logarithms[0] == pytest.approx(logarithms[1], rel=1e-6)
        for s in rng.permutation(np.flatnonzero(walk.labels != i))[:3]:
            walk.move(int(s), i)
        if step == 1:
            walk.state.sums.changes[0] = 0


@pytest.mark.nojit
@pytest.mark.parametrize("spread", [0.3, 2.0, 6.0])
def test_what_a_small_part_leaves_is_worth_about_the_whole(spread: float) -> None:
    """By the batch formula: the bound is never more, and not much less for a part of one sample."""
    rng, k = np.random.default_rng(3), FEW + 2
    labels = np.repeat(np.arange(k), [400] + [5] * (k - 1))
    X = rng.uniform(0.0, 10.0, (k, 3))[labels] + spread * rng.normal(size=(len(labels), 3))
    walk = Walk("rCIP", X, labels, k)
    for i, size in ((0, 1), (0, 2), (0, 20), (0, 150), (0, 398), (3, 1), (3, 3), (3, 4)):
        leaves = rng.permutation(np.flatnonzero(labels == i))[:size]
        part = np.full(len(labels), -1)
        part[leaves] = 0
        parts = mom.empty_moments(1, 3, True)
        parts.size[0] = 1
        mom.from_labels(parts, walk.data, part)
        bound, reference = bound_of_the_rest(walk.state, i, parts)
        h = oracle.indices.cross_entropies(walk.X[part < 0], labels[part < 0])
        worth = np.exp(reference - h[(np.transpose(np.triu_indices(k, 1)) == i).any(axis=1)]).sum()
        assert 0.0 <= bound <= worth * (1.0 + 1e-9)
        assert i > 0 or size > 1 or bound > 0.75 * worth


@pytest.mark.parametrize("name", ["rCIP", "rH"])
def test_terms_that_are_carried_along(name: str) -> None:
    """Through merges, splits and dropped clusters they are what they would be if computed anew."""
    walk = crowd(name, 6)
    index, state, rng = walk.index, walk.state, np.random.default_rng(6)
    for step in range(9):
        k = walk.k
        if step % 3 == 0:
            i, j = sorted(rng.permutation(k)[:2].tolist())
            merged = (walk.labels == i) | (walk.labels == j)
            walk.labels -= (walk.labels > i).astype(np.int64) + (walk.labels > j)
            walk.labels[merged] = k - 2
            mom.drop(state.moments, j)
            mom.drop(state.moments, i)
            state.moments.size[0] = k - 1
            mom.from_labels(state.moments, walk.data, walk.labels, k - 2)
            index.update_changed(state, np.delete(np.arange(k), [i, j]), np.array([k - 2]))
        elif step % 3 == 1:
            i = int(np.bincount(walk.labels).argmax())
            walk.labels[rng.permutation(np.flatnonzero(walk.labels == i))[:3]] = k
            state.moments.size[0] = k + 1
            for c in (i, k):
                mom.from_labels(state.moments, walk.data, walk.labels, c)
            index.update_changed(state, np.arange(k), np.array([i, k]))
        else:
            i = int(rng.integers(k))
            for s in np.flatnonzero(walk.labels == i):
                walk.labels[s] = (i + 1) % k
                move(state, walk.X[s], i, (i + 1) % k)
            merge_split.drop_empty(index, state, walk.labels)
        walk.check()
        for s in rng.permutation(len(walk.labels))[:2]:
            walk.check_trial_moves(int(s))


@pytest.mark.nojit
@pytest.mark.parametrize("name", NAMES)
def test_a_cluster_that_vanishes(name: str) -> None:
    """A singleton moves away: the partition has a cluster less, and in the end one alone."""
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [9.0, 9.0], [8.0, 9.0], [30.0, 0.0]])
    walk = Walk(name, X, np.array([0, 0, 0, 2, 2, 1]))
    walk.check_trial_moves(5)
    walk.move(5, 2)
    assert walk.labels.tolist() == [0, 0, 0, 1, 1, 1]
    walk.check()
    for s in (3, 4):
        walk.check_trial_moves(s)
        walk.move(s, 0)
        walk.check()
    walk.check_trial_moves(5)
    walk.move(5, 0)
    assert walk.k == 1
    assert walk.index.score(walk.state) == -INF


@pytest.mark.nojit
@pytest.mark.parametrize("name", NAMES)
def test_many_clusters(name: str) -> None:
    """More clusters than extremes are kept of each: what enters and leaves the short lists."""
    rng = np.random.default_rng(6)
    walk = Walk(name, rng.normal(size=(60, 2)), np.arange(60) % 12, capacity=12)
    for _ in range(30):
        s = int(rng.integers(60))
        walk.check_trial_moves(s)
        walk.move(s, int(rng.integers(walk.k)))
        walk.check()
    walk.check_trial_merges()


@pytest.mark.nojit
@pytest.mark.parametrize("name", NAMES)
def test_two_clusters_are_never_better_as_one(name: str) -> None:
    """One cluster has the worst value, though the formula (NI) might give a good one."""
    walk = Walk(name, make_data("normal", 20, 2, 0), np.arange(20) % 2)
    scores = walk.index.trial_merges(walk.state, -np.inf)
    assert scores[0, 1] < walk.index.score(walk.state)


@jit
def teaching_cluster(trial, src, resolution):
    return sample_loop.teaching_cluster(trial, len(trial), src, resolution)


@pytest.mark.nojit
@pytest.mark.parametrize(
    ("trial", "src", "taught"),
    [
        ([1.0, 2.0, 3.0], 0, 2),
        ([3.0, 2.0, 3.0], 1, 0),  # the lowest of the best
        ([3.0, 2.0, 3.0], 2, 2),  # the present one wins ties
        ([3.0, 2.0, 3.0 + 1e-13], 0, 0),  # equal but for rounding
        ([3.0, 2.0, 3.0 + 1e-10], 0, 2),
        ([2.0, 2.0, 2.0], 1, field.ALL),
        ([2.0, 2.0 + 1e-13, 2.0], 0, field.ALL),
        ([-INF, -INF], 0, field.ALL),
        ([INF, INF], 1, field.ALL),
        ([-INF, 0.0], 0, 1),
        ([0.0, INF, INF], 0, 1),
        ([0.0, INF, INF], 2, 2),
        ([-INF, INF], 0, 1),
    ],
)
def test_teaching_cluster(trial: list[float], src: int, taught: int) -> None:
    assert teaching_cluster(np.array(trial), src, 1e-12) == taught
    expected = eq_artb_yf2(np.array(trial), src)
    assert taught == (field.ALL if expected.all() else expected.argmax())


# --- a long run ----------------------------------------------------------------------------------


@jit
def many_moves(state, X, labels, samples, targets, start):
    """Moves, until digits are lost; returns the first move not made."""
    m = state.moments
    for t in range(start, len(samples)):
        s, dst = samples[t], targets[t]
        src = labels[s]
        if dst != src and m.n[src] > 1:
            labels[s] = dst
            base.move(state, X[s], src, dst)
            if not (mom.trusted(m, src) and mom.trusted(m, dst)):
                return t + 1
    return len(samples)


def long_run(name: str, X: np.ndarray, k: int, n_moves: int) -> tuple[Any, np.ndarray]:
    """State and labels after that many random moves."""
    rng, index, data = np.random.default_rng(1), INDICES[name], plain(X)
    labels = rng.integers(0, k, len(X))
    samples, targets = rng.integers(0, len(X), n_moves), rng.integers(0, k, n_moves)
    state, at = index.state(data, labels, k, k), 0
    while at < n_moves:
        at = many_moves(state, X, labels, samples, targets, at)
        for i in mom.worn(state.moments):
            index.recompute(state, data, labels, i)
    return state, labels


@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("name", NAMES)
def test_a_million_moves(name: str, offset: float) -> None:
    rng = np.random.default_rng(2)
    X = offset + rng.normal(size=(200, 3)) + 3.0 * rng.normal(size=(5, 3))[rng.integers(0, 5, 200)]
    X = learn_scaling(X).standardise(X)
    state, labels = long_run(name, X, 5, 1_000_000)
    expected = oracle.score(name.lower(), X, labels)
    assert INDICES[name].score(state) == pytest.approx(expected, rel=RTOL)


def test_digits_lost_to_an_outlier_come_back() -> None:
    """Of cluster 0 1e-12 is left when the outlier has gone: only computing anew finds it."""
    rng = np.random.default_rng(4)
    X = np.vstack([1e-6 * rng.normal(size=(40, 2)), [[40.0, 40.0], [-40.0, -40.0]]])
    X = learn_scaling(X).standardise(X)
    labels = np.repeat([0, 1, 0, 1], [20, 20, 1, 1])
    index, data = INDICES["DB"], plain(X)
    state = index.state(data, labels, 2, 2)
    labels[40] = 1
    move(state, X[40], 0, 1)
    expected = oracle.batch_moments(X[labels == 0]).compactness
    assert state.moments.compactness[0] != pytest.approx(expected, rel=RTOL, abs=0.0)
    assert 0 in mom.worn(state.moments)
    index.recompute(state, data, labels, 0)
    assert state.moments.compactness[0] == pytest.approx(expected, rel=RTOL, abs=0.0)
    assert index.score(state) == pytest.approx(oracle.score("db", X, labels), rel=RTOL)


# --- by hand -------------------------------------------------------------------------------------

#: Two pairs on a line: SSW 1, TSS 101, centres 10 apart, variance 101/4, all before standardising.
PAIRS = [[0.0], [1.0], [10.0], [11.0]]
#: Two points at x = 0 and three at x = 4. Variances 3.84 and 2.24; standardised TSS 10, SSW 125/28,
#: squared distance of the centres 775/168; CP/n 25/56 and 25/21; cov(x, y)^2 75/448.
CORNER = [[0.0, 0.0], [0.0, 2.0], [4.0, 0.0], [4.0, 2.0], [4.0, 4.0]]
RIDGE = 1e-6
#: Two clusters have one cross-entropy. Standardised, the pairs have variances 2/101 and squared
#: distance 400/101 of the centres.
PAIRS_RH = 0.5 * (100.0 + math.log(4 / 101) + math.log(2 * math.pi))
#: Sums of variances: none along x, where the centres are 4 / sqrt(3.84) apart, so the ridge is all;
#: along y 25/28 + 25/14, with centres 1 / sqrt(2.24) apart.
CORNER_RH = 0.5 * (
    (16 / 3.84) / (2 * RIDGE)
    + (1 / 2.24) / (75 / 28 + 2 * RIDGE)
    + math.log(2 * RIDGE * (75 / 28 + 2 * RIDGE))
    + 2 * math.log(2 * math.pi)
)
CORNER_NI = (
    0.5 * (0.4 * math.log(RIDGE * (25 / 28 + RIDGE)) + 0.6 * math.log(RIDGE * (25 / 14 + RIDGE)))
    - (0.4 * math.log(0.4) + 0.6 * math.log(0.6))
    - 0.5 * math.log((1.25 + RIDGE) ** 2 - 75 / 448)
)


@pytest.mark.nojit
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CH", 200.0),
        ("WB", 0.02),
        ("XB", 0.0025),
        ("DB", 0.005),
        ("PBM", 40000.0),
        ("NI", 0.5 * math.log(2 / 101) + math.log(2) - 0.5 * math.log(4 / 3)),
        ("SIL", 400 / 401),  # 1/4 to the own centre, 1/4 + 100 to the other
        ("PS", 2 - 2 * math.exp(-4)),  # both centres are 5 from their mean
        ("GD43", 200.0),
        ("GD53", 200.5),
        ("rCIP", -PAIRS_RH),
        ("rH", PAIRS_RH),
    ],
)
def test_two_pairs_by_hand(name: str, value: float) -> None:
    assert index_value(PAIRS, [0, 0, 1, 1], name) == pytest.approx(value, rel=1e-10)
    assert index_value(PAIRS, ["b", "b", "a", "a"], name.lower()) == pytest.approx(value, rel=1e-10)
    moved = 1e3 + 7.0 * np.array(PAIRS)
    assert index_value(moved, [5, 5, -1, -1], name) == pytest.approx(value, rel=1e-10)


@pytest.mark.nojit
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CH", 3.72),
        ("WB", 50 / 31),
        ("XB", 6 / 31),
        ("DB", 11 / 31),
        ("PBM", (31 / 6) ** 2),
        ("NI", CORNER_NI),
        ("SIL", (12 / 13 + 13 / 17) / 2),
        ("PS", 5 / 3 - 2 * math.exp(-4)),
        ("GD43", 31 / 16),
        ("GD53", 37 / 16),
        ("rCIP", -CORNER_RH),
        ("rH", CORNER_RH),
    ],
)
def test_five_points_by_hand(name: str, value: float) -> None:
    assert index_value(CORNER, [0, 0, 1, 1, 1], name) == pytest.approx(value, rel=1e-12)


@pytest.mark.nojit
@pytest.mark.parametrize(
    ("name", "perfect", "coincident", "single", "nothing"),
    [
        ("CH", INF, 0.0, -INF, -INF),
        ("WB", 0.0, INF, INF, INF),
        ("XB", 0.0, INF, INF, INF),
        ("DB", 0.0, INF, INF, INF),
        ("PBM", INF, 0.0, -INF, -INF),
        ("SIL", 1.0, 0.0, -INF, 0.0),
        ("PS", 2 - 2 * math.exp(-4), 0.0, -INF, 0.0),
        ("GD43", INF, 0.0, -INF, -INF),
        ("GD53", INF, 0.5, -INF, -INF),  # samples are as far from the one centre as the other
    ],
)
def test_where_the_formulas_break(
    name: str, perfect: float, coincident: float, single: float, nothing: float
) -> None:
    """SSW = 0; all centres equal; k = 1; all samples equal."""
    assert index_value([[1.0], [1.0], [2.0], [2.0]], [0, 0, 1, 1], name) == pytest.approx(perfect)
    assert index_value([[1.0], [2.0], [1.0], [2.0]], [0, 0, 1, 1], name) == coincident
    assert index_value(PAIRS, [0, 0, 0, 0], name) == single
    assert index_value([[3.0]] * 4, [0, 0, 1, 1], name) == nothing


@pytest.mark.nojit
def test_where_the_cross_entropies_break() -> None:
    """Coincident centres and singletons have finite values; a single cluster has the worst."""
    delta = 1e-12
    coincident = 0.5 * math.log(2 * math.pi * (4 + 2 * delta))  # standardised variances of 2
    singletons = [0.5 * (m / (2 * delta) + math.log(4 * math.pi * delta)) for m in (1.5, 6.0, 1.5)]
    for name, direction in (("rH", 1), ("rCIP", -1)):
        value = index_value([[1.0], [2.0], [1.0], [2.0]], [0, 0, 1, 1], name)
        assert value == pytest.approx(direction * coincident, rel=1e-12)
        assert index_value(PAIRS, [0, 0, 0, 0], name) == -direction * INF
    three = [[0.0], [2.0], [4.0]]  # 1.5 is 2², standardised
    assert index_value(three, [0, 1, 2], "rH") == pytest.approx(sum(singletons), rel=1e-12)
    nearest = math.log(2.0) - singletons[0]  # of two pairs; the third is nothing against them
    assert index_value(three, [0, 1, 2], "rCIP") == pytest.approx(nearest, rel=1e-12)
    equal = index_value([[3.0]] * 4, [0, 0, 1, 1], "rH")
    assert equal == pytest.approx(0.5 * math.log(4 * math.pi * delta), rel=1e-12)


@pytest.mark.nojit
def test_singletons_of_ni_by_hand() -> None:
    """A singleton's covariance is the ridge alone."""
    delta = 1e-12
    value = index_value([[0.0], [2.0], [4.0]], [0, 1, 2], "NI")
    assert value == pytest.approx(
        0.5 * math.log(delta) + math.log(3) - 0.5 * math.log(1.5 + delta), rel=1e-12
    )
    assert index_value(PAIRS, [0, 0, 0, 0], "NI") == INF


@pytest.mark.parametrize(
    ("labels", "problem"),
    [([[0, 1, 0, 1]], "one dimension"), ([0, 1, 0], "inconsistent numbers of samples")],
)
def test_index_value_refuses_labels_that_do_not_fit(labels: list[Any], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        index_value(PAIRS, labels)
