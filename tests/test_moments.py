"""Moments by recursion equal those of the samples, also where a recursion divides by zero."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import oracle
from helpers.moments import merge, plain, split
from icvi_artmap._compile.jit import jit
from icvi_artmap.samples import moments as mom
from icvi_artmap.samples.moments import Moments
from icvi_artmap.samples.scaling import plain_data

pytestmark = pytest.mark.nojit

D = 3
#: What the lower triangle of a scatter matrix holds here: nothing may read or change it.
UNTOUCHED = np.nan


# The recursions are parts of kernels: they can be called from compiled code only.


@jit
def trusted(m, i):
    return mom.trusted(m, i)


@jit
def add(m, i, x, u):
    mom.add(m, i, x, u)


@jit
def remove(m, i, x, u):
    mom.remove(m, i, x, u)


@jit
def clear(m, i):
    mom.clear(m, i)


def moments_of(*groups: np.ndarray, with_scatter: bool = True) -> Moments:
    """Moments of the groups, one cluster each, computed from their samples."""
    X = np.vstack(groups)
    m = mom.empty_moments(len(groups), X.shape[1], with_scatter)
    if with_scatter:
        m.scatter[:, *np.tril_indices(X.shape[1], -1)] = UNTOUCHED
    m.size[0] = len(groups)
    mom.from_labels(m, plain(X), np.repeat(np.arange(len(groups)), [len(g) for g in groups]))
    return m


def assert_moments(m: Moments, i: int, X: np.ndarray, rtol: float = 1e-12) -> None:
    """Row i of m holds the moments of the samples X."""
    expected = oracle.batch_moments(X)
    scatter = (expected.n - 1) * expected.covariance
    size = np.abs(X).max(initial=1.0)
    assert m.n[i] == expected.n
    np.testing.assert_allclose(m.mean[i], expected.mean, rtol=rtol, atol=1e-15 * size)
    np.testing.assert_allclose(m.compactness[i], expected.compactness, rtol=rtol, atol=1e-15)
    if m.scatter.shape[1] > 0:
        upper = np.triu_indices(X.shape[1])
        atol = rtol * expected.compactness + 1e-15
        np.testing.assert_allclose(m.scatter[i][upper], scatter[upper], rtol=rtol, atol=atol)
        assert np.isnan(m.scatter[i][np.tril_indices(X.shape[1], -1)]).all()


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(5)


@pytest.mark.parametrize("with_scatter", [True, False])
@pytest.mark.parametrize("n", [0, 1, 2, 3, 10])
def test_adding_a_sample(n: int, with_scatter: bool, rng: np.random.Generator) -> None:
    X, other, x = rng.normal(size=(n, D)), rng.normal(size=(4, D)), rng.normal(size=D)
    m = moments_of(other, X, with_scatter=with_scatter)
    add(m, 1, x, np.empty(D))
    assert_moments(m, 1, np.vstack([X, x]))
    assert_moments(m, 0, other)


@pytest.mark.parametrize("with_scatter", [True, False])
@pytest.mark.parametrize("n", [1, 2, 3, 10])
def test_removing_a_sample(n: int, with_scatter: bool, rng: np.random.Generator) -> None:
    X, other = rng.normal(size=(n, D)), rng.normal(size=(4, D))
    m = moments_of(X, other, with_scatter=with_scatter)
    remove(m, 0, X[-1], np.empty(D))
    assert_moments(m, 0, X[:-1])
    assert_moments(m, 1, other)


@pytest.mark.parametrize("n", [1, 2])
def test_what_does_not_scatter_has_exact_zeros(n: int, rng: np.random.Generator) -> None:
    """Removing from n = 1 and from n = 2: zero, not rounding."""
    X = 1e6 + rng.normal(size=(n, D))
    m = moments_of(X)
    m.drift[0] = 1.0
    remove(m, 0, X[0], np.empty(D))
    assert m.n[0] == n - 1
    assert m.compactness[0] == 0.0
    assert m.drift[0] == 0.0
    assert not m.scatter[0][np.triu_indices(D)].any()
    if n == 1:
        assert not m.mean[0].any()


@pytest.mark.parametrize("n_j", [0, 1, 2, 7])
@pytest.mark.parametrize("n_i", [0, 1, 2, 7])
def test_merging(n_i: int, n_j: int, rng: np.random.Generator) -> None:
    X, Y = rng.normal(size=(n_i, D)), 3.0 + rng.normal(size=(n_j, D))
    m, other = moments_of(X, X + 1.0), moments_of(Y + 1.0, Y)
    merge(m, 0, other, 1, np.empty(D))
    assert_moments(m, 0, np.vstack([X, Y]))
    assert_moments(m, 1, X + 1.0)
    assert_moments(other, 1, Y)


@pytest.mark.parametrize(
    ("n_i", "n_j"),
    [
        (0, 0),
        (1, 0),
        (1, 1),
        (2, 0),
        (2, 1),
        (2, 2),
        (3, 2),
        (3, 1),
        (9, 1),
        (9, 8),
        (9, 7),
        (9, 4),
    ],
)
def test_splitting(n_i: int, n_j: int, rng: np.random.Generator) -> None:
    X = rng.normal(size=(n_i, D))
    m, part = moments_of(X), moments_of(X[:n_j])
    split(m, 0, part, 0, np.empty(D))
    assert_moments(m, 0, X[n_j:])
    assert_moments(part, 0, X[:n_j])


@pytest.mark.parametrize("left", [0, 1])
def test_splitting_down_to_nothing_that_scatters(left: int, rng: np.random.Generator) -> None:
    """n_i - n_j = 0 and 1: zero, not rounding."""
    X = 1e6 + rng.normal(size=(6, D))
    m, part = moments_of(X), moments_of(X[left:])
    split(m, 0, part, 0, np.empty(D))
    assert m.n[0] == left
    assert m.compactness[0] == 0.0
    assert not m.scatter[0][np.triu_indices(D)].any()


def test_merge_of_a_cluster_in_the_same_moments(rng: np.random.Generator) -> None:
    X, Y = rng.normal(size=(4, D)), rng.normal(size=(3, D))
    m = moments_of(X, Y)
    merge(m, 0, m, 1, np.empty(D))
    assert_moments(m, 0, np.vstack([X, Y]))
    assert_moments(m, 1, Y)


def test_split_undoes_merge(rng: np.random.Generator) -> None:
    X, Y = rng.normal(size=(5, D)), 2.0 + rng.normal(size=(8, D))
    m, other = moments_of(X), moments_of(Y)
    merge(m, 0, other, 0, np.empty(D))
    split(m, 0, other, 0, np.empty(D))
    assert_moments(m, 0, X)


def test_a_whole_cluster_sample_by_sample(rng: np.random.Generator) -> None:
    X = rng.normal(size=(30, D))
    m, u = moments_of(X[:0]), np.empty(D)
    for s in range(30):
        add(m, 0, X[s], u)
        assert_moments(m, 0, X[: s + 1])
    for s in range(29, -1, -1):
        remove(m, 0, X[s], u)
        assert_moments(m, 0, X[:s], rtol=1e-11)


def test_nearly_equal_numbers() -> None:
    """The sum of squares less n mean^2 has no digit right here; the recursions have all."""
    X = 1e9 + np.array([[4.0], [7.0], [13.0], [16.0]])
    naive = (X**2).sum() - len(X) * X.mean() ** 2
    assert abs(naive - 90.0) > 30.0
    m, u = moments_of(X[:0]), np.empty(1)
    for x in X:
        add(m, 0, x, u)
    assert m.compactness[0] == pytest.approx(90.0, rel=1e-12)
    assert m.scatter[0, 0, 0] == pytest.approx(90.0, rel=1e-12)
    remove(m, 0, X[3], u)
    assert m.compactness[0] == pytest.approx(42.0, rel=1e-12)
    whole, part = moments_of(X), moments_of(X[:2])
    assert whole.compactness[0] == pytest.approx(90.0, rel=1e-12)
    split(whole, 0, part, 0, u)
    assert whole.compactness[0] == pytest.approx(4.5, rel=1e-12)
    merge(whole, 0, part, 0, u)
    assert whole.compactness[0] == pytest.approx(90.0, rel=1e-12)


def test_offset_costs_no_digits(rng: np.random.Generator) -> None:
    """Exact rational arithmetic says what the compactness of data around 1e6 is."""
    X = 1e6 + rng.normal(size=(200, 1))
    exact = [Fraction(float(x)) for x in X[:, 0]]
    mean = sum(exact) / len(exact)
    expected = float(sum((x - mean) ** 2 for x in exact))
    m, u = moments_of(X[:0]), np.empty(1)
    for x in X:
        add(m, 0, x, u)
    assert m.compactness[0] == pytest.approx(expected, rel=1e-9)
    assert moments_of(X).compactness[0] == pytest.approx(expected, rel=1e-13)


def test_compactness_and_scatter_never_fall_below_zero() -> None:
    """Equal samples and one far away: what is left after its removal is rounding of either sign."""
    negative = 0
    for seed in range(50):
        far = np.random.default_rng(seed).normal(size=D) * 1e3
        X = np.tile([0.1, 0.2, 0.3], (3, 1))
        m, u = moments_of(np.vstack([X, far])), np.empty(D)
        u_squared = ((far - m.mean[0]) ** 2).sum()
        negative += m.compactness[0] - 4 / 3 * u_squared < 0.0
        remove(m, 0, far, u)
        assert m.compactness[0] >= 0.0
        assert (np.diag(m.scatter[0]) >= 0.0).all()
    assert negative > 0  # otherwise nothing was tested


def test_sums_from_the_samples_are_trusted(rng: np.random.Generator) -> None:
    m = moments_of(rng.normal(size=(5, D)), rng.normal(size=(1, D)), np.empty((0, D)))
    assert not m.drift.any()
    assert mom.worn(m).size == 0


def test_a_removed_outlier_takes_trust_away(rng: np.random.Generator) -> None:
    """What is left of the compactness is rounding of a number 1e16 times as large."""
    X = rng.normal(size=(6, D))
    far = np.full(D, 1e8)
    m, u = moments_of(X), np.empty(D)
    add(m, 0, far, u)
    assert 0 not in mom.worn(m)
    remove(m, 0, far, u)
    assert abs(m.compactness[0] / oracle.batch_moments(X).compactness - 1.0) > 1e-9
    assert 0 in mom.worn(m)
    mom.from_labels(m, plain(X), np.zeros(6, np.int64), 0)
    assert 0 not in mom.worn(m)
    assert_moments(m, 0, X)


def test_drift_grows_and_follows_merges(rng: np.random.Generator) -> None:
    X = rng.normal(size=(20, D))
    m, u, before = moments_of(X[:10], X[10:]), np.empty(D), 0.0
    for _ in range(5):
        remove(m, 0, X[0], u)
        add(m, 0, X[0], u)
        assert m.drift[0] > before
        before = m.drift[0]
    assert 0 not in mom.worn(m)
    merge(m, 1, m, 0, u)
    assert m.drift[1] > before


def test_trust_ends_at_the_limit() -> None:
    m = mom.empty_moments(2, D, False)
    m.size[0] = 2
    m.compactness[:] = 2.0, 0.0
    m.drift[:] = (0.99 * 2.0 * mom.DRIFT_LIMIT) ** 2, 1e-300
    assert mom.worn(m).tolist() == [1]
    m.drift[0] *= 1.03
    assert mom.worn(m).tolist() == [0, 1]
    assert [trusted(m, i) for i in range(2)] == [False, False]


def test_from_labels_standardises_rows(rng: np.random.Generator) -> None:
    table, scale, shift = rng.random((12, D)), np.array([2.0, 0.5, 3.0]), np.array([-1.0, 4.0, 0.1])
    labels = np.arange(12) % 3
    m = mom.empty_moments(3, D, True)
    m.scatter[:, *np.tril_indices(D, -1)] = UNTOUCHED
    m.size[0] = 3
    mom.from_labels(m, plain_data(table, scale, shift), labels)
    for i in range(3):
        assert_moments(m, i, (table * scale + shift)[labels == i])


def test_from_labels_leaves_out_negative_labels_and_other_clusters(
    rng: np.random.Generator,
) -> None:
    X, labels = rng.normal(size=(10, D)), np.array([0, 1, -1, 0, 1, -1, 0, 1, 2, 2])
    m = mom.empty_moments(4, D, True)
    m.scatter[:, *np.tril_indices(D, -1)] = UNTOUCHED
    m.size[0] = 3
    m.n[:] = 99
    m.drift[:] = 1.0
    mom.from_labels(m, plain(X), labels, 1)
    assert_moments(m, 1, X[labels == 1])
    assert m.n.tolist() == [99, 3, 99, 99]
    assert m.drift.tolist() == [1.0, 0.0, 1.0, 1.0]
    mom.from_labels(m, plain(X), labels)
    for i in range(3):
        assert_moments(m, i, X[labels == i])
    assert m.n[3] == 99  # not in use


def test_clear_makes_an_empty_cluster(rng: np.random.Generator) -> None:
    m = moments_of(rng.normal(size=(5, D)), rng.normal(size=(3, D)))
    m.drift[:] = 1.0
    clear(m, 0)
    assert_moments(m, 0, np.empty((0, D)))
    assert m.drift.tolist() == [0.0, 1.0]
    assert m.n[1] == 3


@pytest.mark.parametrize("i", [0, 1, 3])
def test_drop_moves_the_rows_behind_up(i: int, rng: np.random.Generator) -> None:
    groups = [rng.normal(size=(n, D)) for n in (1, 2, 3, 4)]
    m = moments_of(*groups)
    m.drift[:] = range(4)
    mom.drop(m, i)
    del groups[i]
    assert m.size[0] == 3
    for row, X in enumerate(groups):
        assert_moments(m, row, X)
    assert m.drift[:3].tolist() == [r for r in range(4) if r != i]


@pytest.mark.parametrize("with_scatter", [True, False])
def test_clusters_of_several_partitions(with_scatter: bool, rng: np.random.Generator) -> None:
    X, partitions = rng.normal(size=(40, D)), rng.integers(0, 3, (4, 40))
    m = mom.empty_moments(12, D, with_scatter)
    m.size[0] = 12
    mom.from_labels(m, plain(X), partitions + 3 * np.arange(4)[:, np.newaxis])
    for p, labels in enumerate(partitions):
        alone = mom.of_clusters(plain(X), labels, 3, with_scatter)
        for mine, other in zip(m[1:], alone[1:], strict=True):
            np.testing.assert_array_equal(mine[3 * p : 3 * p + 3], other)


def test_clusters_that_others_join(rng: np.random.Generator) -> None:
    groups = [rng.normal(size=(n, D)) + 5.0 for n in (1, 2, 9, 4)]
    others = [rng.normal(size=(n, D)) for n in (3, 1)]
    m = moments_of(*groups)
    m.drift[:] = range(4)
    joining = moments_of(*others)
    joining.drift[:] = 10.0
    mom.join(m, np.array([3, 0]), joining)
    groups[3] = np.vstack([groups[3], others[0]])
    groups[0] = np.vstack([groups[0], others[1]])
    for row, X in enumerate(groups):
        assert_moments(m, row, X)
    assert m.drift.tolist() == [10.0, 1.0, 2.0, 13.0]


@pytest.mark.parametrize("d", [1, 4, 16, 17, 35])
def test_from_labels_of_many_samples(d: int, rng: np.random.Generator) -> None:
    """More samples than are sorted together, clusters of all sizes."""
    n, sizes = mom.SORTED + 100, [1, 2, mom.TOGETHER, mom.TOGETHER + 1, mom.SORTED]
    labels = rng.permutation(np.append(np.repeat(np.arange(5), sizes), np.full(n - sum(sizes), -1)))
    X = rng.normal(size=(n, d)) + 7.0 * labels[:, None]
    m = mom.empty_moments(5, d, True)
    m.size[0] = 5
    mom.from_labels(m, plain(X), labels)
    for i in range(5):
        part = X[labels == i] - X[labels == i].mean(axis=0)
        np.testing.assert_allclose(m.scatter[i], np.triu(part.T @ part), rtol=1e-11, atol=1e-9)
        assert m.compactness[i] == pytest.approx(np.square(part).sum(), rel=1e-12)
