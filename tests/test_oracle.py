"""The oracle itself, checked against values worked out by hand."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import oracle
from oracle import algorithm, art, map_field, moments

INDEX_NAMES = sorted(oracle.INDICES)


# --- indices -------------------------------------------------------------------------------------

# Two clusters on a plane: A = {(0,0), (2,0)}, B = {(6,0), (6,2), (6,4)}.
#   mu_A = (1, 0), mu_B = (6, 2), mean of all = (4, 1.2), ||mu_A - mu_B||^2 = 25 + 4 = 29
#   CP_A = 1 + 1 = 2, CP_B = 4 + 0 + 4 = 8, SSW = 10
#   SSB = 2 (3^2 + 1.2^2) + 3 (2^2 + 0.8^2) = 20.88 + 13.92 = 34.8, TSS = 44.8
PLANE = np.array([[0.0, 0.0], [2.0, 0.0], [6.0, 0.0], [6.0, 2.0], [6.0, 4.0]])
PLANE_LABELS = np.array([0, 0, 1, 1, 1])

# Three clusters on a line: A = {0, 2}, B = {10}, C = {20, 24}.
#   mu = 1, 10, 22, mean of all = 11.2; squared distances AB = 81, AC = 441, BC = 144
#   CP = 2, 0, 8, SSW = 10; CP/n = 1, 0, 4
#   TSS = 11.2^2 + 9.2^2 + 1.2^2 + 8.8^2 + 12.8^2 = 452.8, SSB = 442.8
LINE = np.array([[0.0], [2.0], [10.0], [20.0], [24.0]])
LINE_LABELS = np.array([0, 0, 1, 2, 2])


def plane_ni() -> float:
    # delta = 10^(-12/2) = 1e-6. Sigma_A = diag(2, 0), Sigma_B = diag(0, 8/2), and for the data
    # sums of squares 32 and 12.8 and of products 12, over 4: [[8, 3], [3, 3.2]].
    delta = 1e-6
    inside = 0.4 * np.log((2 + delta) * delta) + 0.6 * np.log(delta * (4 + delta))
    entropy = -0.4 * np.log(0.4) - 0.6 * np.log(0.6)
    return 0.5 * inside + entropy - 0.5 * np.log((8 + delta) * (3.2 + delta) - 9)


def line_ni() -> float:
    # delta = 1e-12. Variances 2 and 8, the singleton's is delta alone; the data's 452.8 / 4.
    delta = 1e-12
    inside = 0.4 * np.log(2 + delta) + 0.2 * np.log(delta) + 0.4 * np.log(8 + delta)
    entropy = -0.8 * np.log(0.4) - 0.2 * np.log(0.2)
    return 0.5 * inside + entropy - 0.5 * np.log(113.2 + delta)


def plane_rh() -> float:
    # Sigma_A + Sigma_B + 2 delta I = diag(2, 4) + 2 delta I; centres (5, 2) apart.
    x, y = 2 + 2e-6, 4 + 2e-6
    return 0.5 * (25 / x + 4 / y + np.log(x * y) + 2 * np.log(2 * np.pi))


def line_cross_entropies() -> list[float]:
    # Variances 2, 0 and 8, with delta each; squared distances AB 81, AC 441, BC 144.
    pairs = [(2 + 2e-12, 81), (10 + 2e-12, 441), (8 + 2e-12, 144)]
    return [0.5 * (m / v + np.log(2 * np.pi * v)) for v, m in pairs]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ch", 10.44),  # 34.8 / 10 * (5 - 2) / (2 - 1)
        ("wb", 20 / 34.8),  # 2 * 10 / 34.8
        ("xb", 2 / 29),  # 10 / (5 * 29)
        ("db", 11 / 87),  # both clusters: (2/2 + 8/3) / 29
        ("pbm", 64.96**2),  # (44.8 / 10 * 29 / 2)^2
        ("ni", plane_ni()),
        ("sil", (92 / 95 + 41 / 45) / 2),  # a = 1, 8/3; b = 8/3 + 29, 1 + 29
        ("ps", 5 / 3 - 2 * np.exp(-4)),  # beta = 29/4
        ("gd43", 87 / 16),  # 29 / (2 * 8/3)
        ("gd53", 93 / 16),  # (10/5 + 29) / (2 * 8/3)
        ("rh", plane_rh()),
        ("rcip", -plane_rh()),
    ],
)
def test_index_of_two_clusters_on_a_plane(name: str, expected: float) -> None:
    assert oracle.INDICES[name](PLANE, PLANE_LABELS) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ch", 44.28),  # 442.8 / 10 * (5 - 3) / (3 - 1)
        ("wb", 30 / 442.8),  # 3 * 10 / 442.8
        ("xb", 2 / 81),  # 10 / (5 * 81)
        # AB 1/81, AC 5/441, BC 4/144: A takes 1/81, B and C take 1/36; (1/81 + 2/36) / 3
        ("db", 11 / 486),
        ("pbm", (45.28 * 147) ** 2),  # (452.8 / 10 * 441 / 3)^2
        ("ni", line_ni()),
        ("sil", (80 / 81 + 1 + 35 / 36) / 3),  # b = 0 + 81, 1 + 81, 0 + 144
        # beta = (81 + 441 + 144) / 9 = 74; nearest 81, 81, 144
        ("ps", 2.5 - 2 * np.exp(-81 / 74) - np.exp(-144 / 74)),
        ("gd43", 81 / 8),
        ("gd53", 245 / 24),  # AB: (2/3 + 81) / 8
        ("rh", sum(line_cross_entropies())),
        ("rcip", np.log(np.exp(-np.array(line_cross_entropies())).sum())),
    ],
)
def test_index_of_three_clusters_on_a_line(name: str, expected: float) -> None:
    assert oracle.INDICES[name](LINE, LINE_LABELS) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", INDEX_NAMES)
def test_score_turns_the_sign_and_ignores_label_names(name: str) -> None:
    value = oracle.INDICES[name](LINE, LINE_LABELS)
    assert oracle.score(name, LINE, LINE_LABELS) == oracle.DIRECTION[name] * value
    # Label 3 is unused: an emptied cluster does not count.
    assert oracle.INDICES[name](LINE, np.array([1, 1, 2, 4, 4])) == value
    renamed = oracle.INDICES[name](LINE, np.array([2, 2, 0, 1, 1]))
    assert renamed == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("name", INDEX_NAMES)
def test_one_cluster_is_the_worst(name: str) -> None:
    assert oracle.score(name, LINE, np.zeros(5, dtype=int)) == -np.inf


# Each cluster is a single place: SSW = 0.
PERFECT = np.array([[0.0], [0.0], [1.0], [1.0]])
# Both clusters have the mean 0.5: SSB = 0, centre distance 0.
CONCENTRIC = np.array([[0.0], [1.0], [0.0], [1.0]])
PAIRS = np.array([0, 0, 1, 1])


@pytest.mark.parametrize(
    ("name", "perfect", "concentric", "all_equal", "all_single"),
    [
        # k = N: CH is 0/0; PBM keeps a distance over 0.
        ("ch", np.inf, 0.0, -np.inf, -np.inf),
        ("wb", 0.0, np.inf, np.inf, 0.0),
        ("xb", 0.0, np.inf, np.inf, 0.0),
        ("db", 0.0, np.inf, np.inf, 0.0),
        ("pbm", np.inf, 0.0, -np.inf, np.inf),
        ("sil", 1.0, 0.0, 0.0, 1.0),
        ("ps", 2 - 2 * np.exp(-4), 0.0, 0.0, 4 - 4 * np.exp(-1 / 1.25)),
        ("gd43", np.inf, 0.0, -np.inf, np.inf),
        ("gd53", np.inf, 0.5, -np.inf, np.inf),
    ],
)
def test_where_the_formulas_break(
    name: str, perfect: float, concentric: float, all_equal: float, all_single: float
) -> None:
    index = oracle.INDICES[name]
    assert index(PERFECT, PAIRS) == pytest.approx(perfect)
    assert index(CONCENTRIC, PAIRS) == concentric
    assert index(np.full((4, 1), 0.1), PAIRS) == all_equal
    assert index(np.arange(4.0)[:, None], np.arange(4)) == pytest.approx(all_single)


def test_ni_of_equal_samples_is_the_entropy() -> None:
    # Every covariance is delta I, so the logarithms of the determinants cancel.
    assert oracle.ni(np.full((4, 1), 0.1), PAIRS) == pytest.approx(np.log(2), rel=1e-12)


def test_same_and_strictly_better() -> None:
    assert oracle.same(1e3, 1e3 + 1e-10)
    assert oracle.same(1e-13, 0.0)
    assert not oracle.same(1.0, 1.0 + 1e-11)
    assert oracle.same(-np.inf, -np.inf)
    assert not oracle.same(np.inf, -np.inf)
    assert not oracle.same(np.inf, 1e300)
    assert oracle.strictly_better(1.0, -np.inf)
    assert not oracle.strictly_better(1.0 + 1e-13, 1.0)
    assert not oracle.strictly_better(-np.inf, -np.inf)


# --- moments -------------------------------------------------------------------------------------


def assert_equal_moments(a: oracle.Moments, b: oracle.Moments) -> None:
    assert a.n == b.n
    np.testing.assert_allclose(a.mean, b.mean, rtol=1e-10, atol=1e-10)
    assert a.compactness == pytest.approx(b.compactness, rel=1e-10, abs=1e-10)
    np.testing.assert_allclose(a.covariance, b.covariance, rtol=1e-10, atol=1e-10)


def test_batch_moments_by_hand() -> None:
    m = oracle.batch_moments(np.array([[6.0, 0.0], [9.0, 2.0], [6.0, 4.0]]))
    # mean (7, 2); deviations (-1, -2), (2, 0), (-1, 2)
    assert m.n == 3
    np.testing.assert_allclose(m.mean, [7, 2])
    assert m.compactness == pytest.approx(14)
    np.testing.assert_allclose(m.covariance, [[3, 0], [0, 4]], atol=1e-15)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 10])
def test_add_and_remove_agree_with_batch(n: int) -> None:
    X = np.random.default_rng(n).normal(size=(n + 1, 3))
    fewer, more = oracle.batch_moments(X[:-1]), oracle.batch_moments(X)
    assert_equal_moments(oracle.add(fewer, X[-1]), more)
    assert_equal_moments(oracle.remove(more, X[-1]), fewer)


@pytest.mark.parametrize("n_i", [1, 2, 3, 10])
@pytest.mark.parametrize("n_j", [1, 2, 7])
def test_merge_and_split_agree_with_batch(n_i: int, n_j: int) -> None:
    X = np.random.default_rng(10 * n_i + n_j).normal(size=(n_i + n_j, 3))
    i, j, both = (oracle.batch_moments(part) for part in (X[:n_i], X[n_i:], X))
    assert_equal_moments(oracle.merge(i, j), both)
    assert_equal_moments(oracle.split(both, j), i)
    assert_equal_moments(oracle.split(both, both), oracle.batch_moments(X[:0]))


def test_moments_left_by_one_or_no_sample_are_exactly_zero() -> None:
    X = np.random.default_rng(0).normal(size=(5, 3)) + 1e6
    pair = oracle.batch_moments(X[:2])
    for left in (
        oracle.remove(pair, X[1]),
        oracle.split(oracle.batch_moments(X), oracle.batch_moments(X[1:])),
        oracle.remove(oracle.batch_moments(X[:1]), X[0]),
    ):
        assert left.compactness == 0
        assert not left.covariance.any()


def test_moments_never_go_below_zero() -> None:
    # Taking away a sample slightly further out stands for rounding error of the wrong sign.
    X = np.array([[0.0], [0.0], [0.0], [3.0]])
    left = oracle.remove(oracle.batch_moments(X), X[-1] + 1e-6)
    assert left.compactness == 0
    assert left.covariance[0, 0] == 0
    assert moments.clip_diagonal(np.array([[-1.0, -2.0], [-2.0, 3.0]])).tolist() == [
        [0.0, -2.0],
        [-2.0, 3.0],
    ]


# --- scaling -------------------------------------------------------------------------------------


def test_scaling_by_hand() -> None:
    X = np.array([[0.0, 0.1], [2.0, 0.1], [4.0, 0.1]])
    scaling = oracle.fit_scaling(X)
    np.testing.assert_array_equal(oracle.min_max(scaling, X), [[0, 0], [0.5, 0], [1, 0]])
    # Population deviation: sqrt((4 + 0 + 4) / 3); the constant feature is exactly 0.
    expected = np.sqrt(1.5) * np.array([[-1, 0], [0, 0], [1, 0]])
    np.testing.assert_allclose(oracle.standardise(scaling, X), expected, rtol=1e-15)
    assert not oracle.standardise(scaling, X)[:, 1].any()
    np.testing.assert_array_equal(oracle.complement_code(np.array([0.25, 1])), [0.25, 1, 0.75, 0])


# --- ARTa and map field --------------------------------------------------------------------------


def loop_sum(values: np.ndarray) -> float:
    total = 0.0
    for value in values.tolist():
        total += value
    return total


@pytest.mark.parametrize("d", [1, 3, 8, 50, 200])
@pytest.mark.parametrize("C", [1, 2, 17])
def test_sums_are_bit_equal_to_a_loop(d: int, C: int) -> None:
    rng = np.random.default_rng(d + C)
    x = oracle.complement_code(rng.random(d))
    W = np.minimum(x, oracle.complement_code(rng.random((C, d)) ** 3))
    for layout in (np.ascontiguousarray(W), np.asfortranarray(W)):
        T = art.eq_fa_t(x, layout, 1e-3)
        for j in range(C):
            s, norm = loop_sum(np.minimum(x, W[j])), loop_sum(W[j])
            assert T[j] == s / (1e-3 + norm)
            assert art.eq_fa_m(x, layout[j]) == s / loop_sum(x)


def test_fuzzy_art_by_hand() -> None:
    x = np.array([0.5, 0.25, 0.5, 0.75])
    W = np.array([[0.25, 0.5, 0.5, 0.5], [0.5, 0.25, 0.5, 0.75]])
    # |x ^ w| = 1.5 and 2, |w| = 1.75 and 2, |x| = 2
    np.testing.assert_allclose(art.eq_fa_t(x, W, 0.25), [1.5 / 2, 2 / 2.25])
    assert art.eq_fa_m(x, W[0]) == 0.75
    assert art.eq_fa_learn(x, W[0], 1.0).tolist() == [0.25, 0.25, 0.5, 0.5]
    assert art.eq_fa_learn(x, W[0], 0.5).tolist() == [0.25, 0.375, 0.5, 0.5]
    assert art.eq_shrinkage(W).tolist() == [0.25, 0.25, 0.5, 0.5]
    assert art.search_order(np.array([0.5, 0.7, 0.5, 0.7])) == [1, 3, 0, 2]


@pytest.mark.parametrize(
    ("T", "present", "expected"),
    [
        ([1.0, 3.0, 2.0], 0, [0, 1, 0]),
        ([3.0, 1.0, 3.0], 2, [0, 0, 1]),
        ([3.0, 1.0, 3.0], 1, [1, 0, 0]),
        ([3.0, 1.0, 3.0 + 1e-13], 0, [1, 0, 0]),
        ([2.0, 2.0 + 1e-13, 2.0], 0, [1, 1, 1]),
        ([-np.inf, -np.inf], 0, [1, 1]),
        ([np.inf, 5.0], 1, [1, 0]),
        ([-np.inf], 0, [1]),
    ],
)
def test_teaching_vector(T: list[float], present: int, expected: list[int]) -> None:
    assert map_field.eq_artb_yf2(np.array(T), present).tolist() == expected


def test_map_field_match_and_learning_by_hand() -> None:
    row, y = np.array([1.0, 0.5]), np.array([0.0, 1.0])
    assert map_field.map_field_match(y, row) == 0.5
    assert map_field.map_field_match(np.ones(2), row) == 0.75
    assert map_field.map_field_learn(y, row, 0.25).tolist() == [0.75, 0.5]
    assert map_field.eq_mf_pred(np.array([0.5, 1.0, 1.0])) == 1


def test_map_field_merge_by_hand() -> None:
    M = np.array([[0.9, 0.2, 0.4], [0.1, 0.8, 0.3], [0.5, 0.6, 0.5]])
    # Clusters 0 and 2: the first row predicts 0, so the larger; the others predict 1, the smaller.
    assert map_field.eq_merge_1(M, 0, 2).tolist() == [0.9, 0.1, 0.5]
    assert map_field.merge_columns(M, 0, 2).tolist() == [[0.2, 0.9], [0.8, 0.1], [0.6, 0.5]]


def test_map_field_split_by_hand() -> None:
    M = np.array([[0.9, 0.2, 0.4], [0.7, 0.7, 0.7]])
    assert map_field.split_column(M, 0).tolist() == [[0.2, 0.2, 0.4, 0.9], [0.7, 0.7, 0.7, 0.0]]
    equal = 0.7 - 1e-6
    assert map_field.split_column(M, 1).tolist() == [
        [0.9, 0.2, 0.4, 0.0],
        [equal, equal, equal, 0.7],
    ]
    assert map_field.certainty(np.array([0.2, 0.8, 0.6])) == pytest.approx(0.25)
    assert map_field.certainty(np.array([0.7])) == 0
    assert map_field.certainty(np.zeros(3)) == 0


# --- Algorithm 1 ---------------------------------------------------------------------------------


DEFAULTS = algorithm.Parameters(
    index="ch",
    n_clusters=4,
    rho_a=0.0,
    rho_ab=1.0,
    beta_a=1.0,
    alpha=1e-3,
    epsilon=0.01,
    beta_ab=1e-3,
)


def search_state(M: list[list[float]], boxes: list[float]) -> algorithm.State:
    W = oracle.complement_code(np.array(boxes)[:, None])
    return algorithm.State(W, np.array(M), np.zeros(1, int), np.zeros(1, int), 0.0)


def test_search_raises_vigilance_only_on_a_map_field_mismatch() -> None:
    # Points on a line: the match with a box at distance t is 1 - t, and all norms are 1.
    x, y = np.array([0.5, 0.5]), np.array([0.0, 1.0])
    wrong, right = [1.0, 0.0], [0.0, 1.0]
    # The nearest box (match 0.9) has the wrong cluster: rho = 0.91, so the next (0.8) fails.
    state = search_state([wrong, right], [0.6, 0.7])
    assert algorithm.search(state, x, y, DEFAULTS) is None
    # With epsilon = -0.2 (match tracking downwards) rho = 0.7 and the second box resonates.
    assert algorithm.search(state, x, y, replace(DEFAULTS, epsilon=-0.2)) == 1
    # Too low a match is passed over and leaves rho as it is.
    assert algorithm.search(state, x, y, replace(DEFAULTS, rho_a=0.95)) is None
    state = search_state([right, right], [0.7, 0.7])
    assert algorithm.search(state, x, y, replace(DEFAULTS, rho_a=0.75)) == 0


def test_two_pairs_on_a_line_by_hand() -> None:
    # Min-max scaled 0, 0.1, 0.9, 1; one centre per pair, at 0.1 and 0.9.
    X = np.array([[0.0], [1.0], [9.0], [10.0]])
    result = oracle.fit(X, [[1.0], [9.0]], index="ch", n_clusters=2)
    # The pairs are optimal from the start, so every sample stays. Its box grows to cover it in
    # the first epoch; in the second no box changes, which ends the run.
    assert result.labels.tolist() == [0, 0, 1, 1]
    assert result.sample_categories.tolist() == [0, 0, 1, 1]
    np.testing.assert_allclose(result.boxes, [[0.0, 0.9], [0.9, 0.0]], atol=1e-15)
    # Each box learned its one-hot vector four times: (1 - beta_ab)^4 in the other cluster.
    np.testing.assert_allclose(result.map_field, [[1, 0.999**4], [0.999**4, 1]], rtol=1e-14)
    assert (result.n_iter, result.converged) == (2, True)
    # Standardising cancels in CH: SSW = 1, SSB = 4 * 4.5^2 = 81; 81 / 1 * (4 - 2) / (2 - 1).
    assert result.index_value == pytest.approx(162, rel=1e-12)
    assert result.index_history == pytest.approx([162] * 3, rel=1e-12)
    assert result.trace == pytest.approx([162] * 8, rel=1e-12)
    # 4 is nearer to the first box [0, 1] than to [9, 10]; -5 and 30 lie outside the training range.
    assert oracle.predict(result, [[4.0], [-5.0], [30.0]]).tolist() == [0, 0, 1]


def test_removing_a_category_and_a_cluster_keeps_the_order_of_the_rest() -> None:
    X = np.array([[0.0], [0.2], [1.0]])
    Xa = oracle.complement_code(X)
    M = np.arange(9.0).reshape(3, 3)
    state = algorithm.State(Xa.copy(), M, np.array([0, 2, 2]), np.array([0, 2, 2]), 0.0)
    algorithm.shrink_or_prune(state, 1, Xa)
    algorithm.remove_cluster(state, 1)
    assert state.categories.tolist() == state.omega.tolist() == [0, 1, 1]
    assert state.M.tolist() == [[0, 2], [6, 8]]
    algorithm.shrink_or_prune(state, 1, Xa)
    np.testing.assert_array_equal(state.W, [[0, 1], [0.2, 0]])


def test_merge_takes_the_best_pair_and_makes_it_the_last_cluster() -> None:
    X = np.array([[0.0], [1.0], [20.0], [21.0], [2.0], [3.0]])
    omega = np.array([0, 0, 1, 1, 2, 2])
    state = algorithm.State(np.ones((3, 2)), np.eye(3), omega.copy(), omega, 0.0)
    state.score = oracle.score("ch", X, omega)
    # Three clusters: SSW = 1.5; 0 and 2 together: SSW = 5 + 0.5 = 5.5, TSS = 486.83 in both.
    # CH = 485.33 / 1.5 * 3 / 2 = 485.33 against 481.33 / 5.5 * 4 = 350.06: no merge.
    algorithm.merge_clusters(state, X, DEFAULTS)
    assert state.k == 3
    # DB: the neighbours 0 and 2 have 0.5 / 4; together 1.25 + 0.25 over 19^2.
    state.score = oracle.score("db", X, omega)
    algorithm.merge_clusters(state, X, replace(DEFAULTS, index="db"))
    assert state.omega.tolist() == [1, 1, 0, 0, 1, 1]
    assert state.M.tolist() == [[0, 1], [1, 0], [0, 1]]
    assert -state.score == pytest.approx(1.5 / 19**2, rel=1e-12)


def test_split_of_two_categories_takes_the_less_certain_one() -> None:
    X = np.array([[0.0], [1.0], [5.0], [6.0], [20.0], [21.0]])
    J, omega = np.array([0, 0, 1, 1, 2, 2]), np.array([0, 0, 0, 0, 1, 1])
    # Categories 0 and 1 hold the halves of cluster 0, so either makes the same partition; the
    # ratios are (1 - 0.5) / 1 and (1 - 0.6) / 1. Category 2 is alone in its cluster.
    M = np.array([[1.0, 0.5], [1.0, 0.6], [0.0, 1.0]])
    state = algorithm.State(np.ones((3, 2)), M, J, omega, oracle.score("ch", X, omega))
    assert list(algorithm.split_candidates(state)) == [(0, 0), (0, 1)]
    algorithm.split_clusters(state, X, DEFAULTS)
    # Four clusters are asked for, but after one split every cluster has a single category.
    assert state.omega.tolist() == [0, 0, 2, 2, 1, 1]
    assert state.M.tolist() == [[1, 0.5, 0], [0.6, 0.6, 1], [0, 1, 0]]
    assert state.score == oracle.score("ch", X, state.omega)


def random_blobs(seed: int, n: int = 40, d: int = 3, k: int = 4) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 4 * rng.normal(size=(k, d))[rng.integers(k, size=n)]
    return X, X[rng.choice(n, k, replace=False)]


@pytest.mark.parametrize("index", INDEX_NAMES)
@pytest.mark.parametrize("seed", range(4))
def test_a_run_keeps_its_books(index: str, seed: int) -> None:
    X, centres = random_blobs(seed)
    X[:5] = X[5]
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(X))
    result = oracle.fit(
        X,
        centres,
        index=index,
        n_clusters=4,
        rho_a=rng.choice([0.0, 0.5, 0.8]),
        rho_ab=rng.choice([0.5, 1.0]),
        max_epochs=4,
        order=order,
    )
    C, k = result.map_field.shape
    assert k <= 4
    assert sorted(set(result.labels)) == list(range(k))
    assert sorted(set(result.sample_categories)) == list(range(C))
    assert result.boxes.shape == (C, 6)
    assert len(result.trace) == len(X) * result.n_iter
    assert len(result.index_history) == result.n_iter + 1
    assert result.index_value == result.index_history[-1]
    Xb = oracle.standardise(result.scaling, X)
    assert result.index_value == oracle.INDICES[index](Xb, result.labels)
    # With fast learning a box holds the samples of its category.
    Xa = oracle.complement_code(oracle.min_max(result.scaling, X))
    assert np.all(result.boxes[result.sample_categories] <= Xa)


@pytest.mark.parametrize("index", INDEX_NAMES)
@pytest.mark.parametrize("seed", range(4))
def test_presenting_in_an_order_is_sorting_the_rows_first(index: str, seed: int) -> None:
    X, centres = random_blobs(seed)
    order = np.random.default_rng(seed).permutation(len(X))
    again = oracle.fit(X[order], centres, index=index, n_clusters=4, max_epochs=2)
    ordered = oracle.fit(X, centres, index=index, n_clusters=4, max_epochs=2, order=order)
    np.testing.assert_array_equal(ordered.labels[order], again.labels)
    np.testing.assert_array_equal(ordered.boxes, again.boxes)


@pytest.mark.parametrize("index", INDEX_NAMES)
def test_degenerate_data(index: str) -> None:
    # A single cluster: y is all ones, nothing can move, and the score stays -inf.
    X, centres = random_blobs(0)
    single = oracle.fit(X, centres[:1], index=index, n_clusters=1)
    assert set(single.labels) == {0}
    assert oracle.DIRECTION[index] * single.index_value == -np.inf
    # Equal samples all choose the first box; the other boxes and their clusters are removed.
    equal = oracle.fit(np.full((6, 2), 0.1), np.full((3, 2), 0.1), index=index, n_clusters=3)
    assert equal.map_field.shape == (1, 1)
    assert (equal.n_iter, equal.converged) == (1, True)


def data_file(name: str) -> Path:
    """A benchmark file, which is not part of the repository; without it the test is skipped."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    path = Path(os.environ.get("ICVI_ARTMAP_DATA", beside)) / "synthetic" / f"{name}.npz"
    if not path.exists():
        pytest.skip(f"no benchmark data at {path}; set ICVI_ARTMAP_DATA to its folder")
    return path


@pytest.mark.parametrize(("index", "ari"), [("ni", 0.9941), ("pbm", 0.8851)])
def test_the_papers_value_on_2d_4c_no0(index: str, ari: float) -> None:
    cluster = pytest.importorskip("sklearn.cluster")
    metrics = pytest.importorskip("sklearn.metrics")
    with np.load(data_file("2d-4c-no0")) as data:
        X, y = data["X"], data["y"]
    scaling = oracle.fit_scaling(X)
    kmeans = cluster.KMeans(4, n_init=10, random_state=0).fit(oracle.standardise(scaling, X))
    centres = kmeans.cluster_centers_ * scaling.deviation + scaling.mean
    order = np.random.default_rng(0).permutation(len(X))
    result = oracle.fit(X, centres, index=index, n_clusters=4, order=order)
    # Table iCVI_opt prints four decimals.
    assert metrics.adjusted_rand_score(y, result.labels) == pytest.approx(ari, abs=5e-5)
