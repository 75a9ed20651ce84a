"""Algorithm 1, with every index value computed anew from the data and the labels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .art import eq_fa_learn, eq_fa_m, eq_fa_t, eq_fa_vig, eq_shrinkage, search_order
from .indices import DIRECTION, compress, same, score, strictly_better
from .map_field import (
    certainty,
    eq_artb_yf2,
    eq_mf_pred,
    eq_mf_vig,
    map_field_learn,
    map_field_match,
    merge_columns,
    split_column,
)
from .scaling import Scaling, complement_code, fit_scaling, min_max, standardise

Array = NDArray[np.float64]
Labels = NDArray[np.int64]


@dataclass(frozen=True)
class Parameters:
    """What the user chooses, under the paper's names."""

    index: str
    n_clusters: int
    rho_a: float
    rho_ab: float
    beta_a: float
    alpha: float
    epsilon: float
    beta_ab: float


@dataclass
class State:
    """What Algorithm 1 changes while it runs."""

    W: Array
    """ARTa boxes, C x 2d."""
    M: Array
    """Map field, C x k'."""
    categories: Labels
    """J: the ARTa category of each sample."""
    omega: Labels
    """Omega: the cluster of each sample."""
    score: float
    """Score of the partition omega."""

    @property
    def k(self) -> int:
        """k', the number of clusters now."""
        return self.M.shape[1]


@dataclass(frozen=True)
class Result:
    """A finished run. Labels and categories are in the order of the rows of X."""

    labels: Labels
    boxes: Array
    map_field: Array
    sample_categories: Labels
    index_value: float
    index_history: list[float]
    n_iter: int
    epochs: list[tuple[int, int, int, int]]  # clusters and categories at the end; merges, splits
    converged: bool
    trace: list[float]
    scaling: Scaling
    alpha: float


def fit(
    X: ArrayLike,
    centres: ArrayLike,
    *,
    index: str,
    n_clusters: int,
    rho_a: float = 0.0,
    rho_ab: float = 1.0,
    beta_a: float = 1.0,
    alpha: float = 1e-3,
    epsilon: float = 0.01,
    beta_ab: float = 1e-3,
    tol: float = 1e-6,
    max_epochs: int = 20,
    order: ArrayLike | None = None,
) -> Result:
    """Run Algorithm 1 on X from the given centres (k x d, in the units of X)."""
    X = np.asarray(X, dtype=float)
    centres = np.asarray(centres, dtype=float)
    if len(centres) != n_clusters:
        raise ValueError(f"got {len(centres)} centres for n_clusters={n_clusters}")
    order = np.arange(len(X)) if order is None else np.asarray(order)
    par = Parameters(index, n_clusters, rho_a, rho_ab, beta_a, alpha, epsilon, beta_ab)

    scaling = fit_scaling(X)
    Xa = complement_code(min_max(scaling, X))
    Xb = standardise(scaling, X)

    state = first_partition(Xa, Xb, initial_boxes(scaling, centres), par)
    history, trace, epochs = [state.score], [], []
    n_iter, converged = 0, False
    while n_iter < max_epochs and not converged:
        W_before = state.W.copy()
        for s in order:
            present_sample(state, int(s), Xa, Xb, par)
            trace.append(state.score)
        k = state.k
        merge_clusters(state, Xb, par)
        merged = state.k
        split_clusters(state, Xb, par)
        epochs.append((state.k, len(state.W), k - merged, state.k - merged))
        n_iter += 1
        history.append(state.score)
        converged = np.array_equal(state.W, W_before) or (
            n_iter >= 2 and within_tolerance(history[-1], history[-2], tol)
        )

    direction = DIRECTION[index]
    return Result(
        labels=state.omega,
        boxes=state.W,
        map_field=state.M,
        sample_categories=state.categories,
        index_value=direction * state.score,
        index_history=[direction * value for value in history],
        n_iter=n_iter,
        epochs=epochs,
        converged=converged,
        trace=[direction * value for value in trace],
        scaling=scaling,
        alpha=alpha,
    )


def predict(result: Result, X_new: ArrayLike) -> Labels:
    """Rule 13: the box with the largest choice value, then the first argmax of its row."""
    Xa = complement_code(min_max(result.scaling, np.asarray(X_new, dtype=float)))
    categories = best_boxes(Xa, result.boxes, result.alpha)
    return np.array([eq_mf_pred(result.map_field[J]) for J in categories], dtype=np.int64)


# --- start ---------------------------------------------------------------------------------------


def initial_boxes(scaling: Scaling, centres: Array) -> Array:
    """Rule 2: the centres min-max scaled, clipped to [0, 1] and complement coded."""
    return complement_code(np.clip(min_max(scaling, centres), 0.0, 1.0))


def best_boxes(Xa: Array, W: Array, alpha: float) -> Labels:
    """The box with the largest choice value for each sample; ties: the lowest index."""
    return np.array([np.argmax(eq_fa_t(x, W, alpha)) for x in Xa], dtype=np.int64)


def first_partition(Xa: Array, Xb: Array, W: Array, par: Parameters) -> State:
    """Rule 3: every sample in the cluster of its best box; boxes without samples are removed."""
    J = best_boxes(Xa, W, par.alpha)
    W = W[np.unique(J)]
    J = compress(J)
    M = np.ones((len(W), len(W)))
    return State(W, M, J, J.copy(), score(par.index, Xb, J))


# --- one presentation ----------------------------------------------------------------------------


def present_sample(state: State, s: int, Xa: Array, Xb: Array, par: Parameters) -> None:
    """One pass of Algorithm 1's inner loop."""
    r, j = int(state.categories[s]), int(state.omega[s])
    y = eq_artb_yf2(trial_values(state, s, Xb, par), j)
    J = search(state, Xa[s], y, par)
    if J is None:
        J = new_category(state, Xa[s])
    else:
        state.W[J] = eq_fa_learn(Xa[s], state.W[J], par.beta_a)
    state.M[J] = map_field_learn(y, state.M[J], par.beta_ab)

    state.categories[s] = J
    state.omega[s] = eq_mf_pred(state.M[J])
    if r != J:
        shrink_or_prune(state, r, Xa)
    if not np.any(state.omega == j):
        remove_cluster(state, j)
    state.score = score(par.index, Xb, state.omega)


def trial_values(state: State, s: int, Xb: Array, par: Parameters) -> Array:
    """Rule 4: T_i = score with sample s moved to cluster i; T_j = present score."""
    T = np.empty(state.k)
    for i in range(state.k):
        if i == state.omega[s]:
            T[i] = state.score
        else:
            moved = state.omega.copy()
            moved[s] = i
            T[i] = score(par.index, Xb, moved)
    return T


def search(state: State, x: Array, y: Array, par: Parameters) -> int | None:
    """Rule 6: the first box by choice value that passes both vigilance tests, if any."""
    rho = par.rho_a
    for J in search_order(eq_fa_t(x, state.W, par.alpha)):
        match = eq_fa_m(x, state.W[J])
        if not eq_fa_vig(match, rho):
            continue
        if eq_mf_vig(map_field_match(y, state.M[J]), par.rho_ab):
            return J
        rho = match + par.epsilon
    return None


def new_category(state: State, x: Array) -> int:
    """Rule 7: a new last box equal to x, with a map field row of ones."""
    state.W = np.vstack([state.W, x])
    state.M = np.vstack([state.M, np.ones(state.k)])
    return len(state.W) - 1


def shrink_or_prune(state: State, r: int, Xa: Array) -> None:
    """Rule 9: category r becomes the box of its samples; without any it is deleted."""
    mine = state.categories == r
    if mine.any():
        state.W[r] = eq_shrinkage(Xa[mine])
    else:
        state.W = np.delete(state.W, r, axis=0)
        state.M = np.delete(state.M, r, axis=0)
        state.categories[state.categories > r] -= 1


def remove_cluster(state: State, j: int) -> None:
    """Rule 9: the map field column of the empty cluster j goes, higher labels move down."""
    state.M = np.delete(state.M, j, axis=1)
    state.omega[state.omega > j] -= 1


# --- end of an epoch -----------------------------------------------------------------------------


def merge_clusters(state: State, Xb: Array, par: Parameters) -> None:
    """Rule 10: while it improves the score, merge the best pair."""
    while state.k > 2:
        best: tuple[float, int, int, Labels] | None = None
        for i in range(state.k):
            for j in range(i + 1, state.k):
                merged = merge_labels(state.omega, i, j)
                value = score(par.index, Xb, merged)
                if best is None or strictly_better(value, best[0]):
                    best = value, i, j, merged
        value, i, j, merged = best
        if not strictly_better(value, state.score):
            return
        state.M = merge_columns(state.M, i, j)
        state.omega, state.score = merged, value


def merge_labels(omega: Labels, i: int, j: int) -> Labels:
    """Clusters i and j become the last label, the others keep their order."""
    merged = omega.copy()
    merged[(omega == i) | (omega == j)] = omega.max() + 1
    return compress(merged)


def split_clusters(state: State, Xb: Array, par: Parameters) -> None:
    """Rule 11: while clusters are missing, make the best category a cluster of its own."""
    while state.k < par.n_clusters:
        best: tuple[float, int, int, Labels] | None = None
        for i, q in split_candidates(state):
            divided = split_labels(state, i, q)
            value = score(par.index, Xb, divided)
            if best is not None and not strictly_better(value, best[0]):
                tied = same(value, best[0]) and i == best[1]
                if not (tied and certainty(state.M[q]) < certainty(state.M[best[2]])):
                    continue
            best = value, i, q, divided
        if best is None:
            return
        value, i, q, divided = best
        state.M = split_column(state.M, q)
        state.omega, state.score = divided, value


def split_candidates(state: State) -> Iterator[tuple[int, int]]:
    """(cluster i, category q): q predicts i, with another category, and holds a part of it."""
    predicted = np.array([eq_mf_pred(row) for row in state.M])
    for i in range(state.k):
        categories = np.flatnonzero(predicted == i)
        # A category that holds some but not all samples of i implies that i lies in two or more.
        if len(categories) < 2:
            continue
        in_i = state.omega == i
        for q in categories:
            held = np.count_nonzero(in_i & (state.categories == q))
            if 0 < held < np.count_nonzero(in_i):
                yield i, int(q)


def split_labels(state: State, i: int, q: int) -> Labels:
    """The samples of category q in cluster i get the new last label."""
    divided = state.omega.copy()
    divided[(state.omega == i) & (state.categories == q)] = state.k
    return divided


def within_tolerance(a: float, b: float, tol: float) -> bool:
    """|a - b| <= tol; two equal infinities count as no change."""
    return a == b or abs(a - b) <= tol
