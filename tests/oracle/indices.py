"""The indices, each computed in batch from (X, labels): first the six of Table CVI_summary.

A function returns the value in the index's own sign. Where a partition is the worst
possible, the value is -inf for a max-optimal index and +inf for a min-optimal one, so that the
score is -inf in both cases. A cluster without samples does not exist: labels are compressed first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .moments import eq_sigma

Array = NDArray[np.float64]
Labels = NDArray[np.int64]

# Below this share of the total a sum of squares is rounding error, and counts as 0.
NEGLIGIBLE = 1e-12
# Two scores this near (relative, absolute below 1) differ by rounding error only.
SAME = 1e-12

WORST_MAX = -np.inf
WORST_MIN = np.inf


@dataclass(frozen=True)
class Partition:
    """The sums of squares and centre distances the five sum-of-squares indices are made of."""

    N: int
    k: int
    n: Array
    CP: Array
    SSW: float
    SSB: float
    TSS: float
    centre_distances: Array
    """Squared distances of all pairs i < j."""
    pairs: tuple[Labels, Labels]
    """i and j of those pairs."""


def compress(labels: Labels) -> Labels:
    """Labels 0..k'-1 in the old order, without the numbers nobody uses."""
    return np.unique(labels, return_inverse=True)[1]


def describe(X: Array, labels: Labels) -> Partition:
    """SSW = sum CP_i, TSS = sum ||x - mu_data||^2, SSB = TSS - SSW, and ||mu_i - mu_j||^2."""
    labels = compress(labels)
    N, k = len(X), int(labels.max()) + 1
    member = (labels == np.arange(k)[:, None]).astype(float)
    n = member.sum(axis=1)
    mu = member @ X / n[:, None]
    CP = member @ ((X - mu[labels]) ** 2).sum(axis=1)
    TSS = float(((X - X.mean(axis=0)) ** 2).sum())
    SSW = zero_if_below(float(CP.sum()), NEGLIGIBLE * TSS)
    SSB = zero_if_below(TSS - SSW, NEGLIGIBLE * TSS)
    i, j = np.triu_indices(k, 1)
    distances = ((mu[i] - mu[j]) ** 2).sum(axis=1)
    distances = np.where(distances <= NEGLIGIBLE * TSS / N, 0.0, distances)
    return Partition(N, k, n, CP, SSW, SSB, TSS, distances, (i, j))


def zero_if_below(value: float, limit: float) -> float:
    """value, or 0 where it is at most limit."""
    return 0.0 if value <= limit else value


def ch(X: Array, labels: Labels) -> float:
    """CH = SSB (N - k) / (SSW (k - 1)), max-optimal."""
    p = describe(X, labels)
    if p.k == 1:
        return WORST_MAX
    numerator = p.SSB * (p.N - p.k)
    denominator = p.SSW * (p.k - 1)
    if denominator == 0:
        return np.inf if numerator > 0 else WORST_MAX
    return numerator / denominator


def wb(X: Array, labels: Labels) -> float:
    """WB = k SSW / SSB, min-optimal."""
    p = describe(X, labels)
    if p.k == 1 or p.SSB == 0:
        return WORST_MIN
    return p.k * p.SSW / p.SSB


def xb(X: Array, labels: Labels) -> float:
    """XB = SSW / (N min_{i != j} ||mu_i - mu_j||^2), min-optimal."""
    p = describe(X, labels)
    if p.k == 1 or p.centre_distances.min() == 0:
        return WORST_MIN
    return p.SSW / (p.N * float(p.centre_distances.min()))


def db(X: Array, labels: Labels) -> float:
    """DB = (1/k) sum_i max_{j != i} (CP_i/n_i + CP_j/n_j) / ||mu_i - mu_j||^2, min-optimal."""
    p = describe(X, labels)
    if p.k == 1 or p.centre_distances.min() == 0:
        return WORST_MIN
    i, j = p.pairs
    variance = p.CP / p.n
    numerator = variance[i] + variance[j]
    numerator = np.where(numerator <= NEGLIGIBLE * p.TSS / p.N, 0.0, numerator)
    ratio = np.zeros((p.k, p.k))
    ratio[i, j] = ratio[j, i] = numerator / p.centre_distances
    # Ratios are never negative, so the zero diagonal cannot win against j != i.
    return float(ratio.max(axis=1).sum()) / p.k


def pbm(X: Array, labels: Labels) -> float:
    """PBM = (TSS / SSW max_{i != j} ||mu_i - mu_j||^2 / k)^2, max-optimal."""
    p = describe(X, labels)
    if p.k == 1:
        return WORST_MAX
    numerator = p.TSS * float(p.centre_distances.max())
    if p.SSW == 0:
        return np.inf if numerator > 0 else WORST_MAX
    return (numerator / (p.SSW * p.k)) ** 2


def sil(X: Array, labels: Labels) -> float:
    """SIL = (1/k) sum_i (b_i - a_i) / max(a_i, b_i), max-optimal.

    S_ij = mean over the samples x of j of ||x - mu_i||^2; a_i = S_ii, b_i = min_{j != i} S_ij.
    """
    labels = compress(labels)
    k, scale = int(labels.max()) + 1, ((X - X.mean(axis=0)) ** 2).sum() / len(X)
    if k == 1:
        return WORST_MAX
    mu = centres(X, labels)
    S = np.array([[((X[labels == j] - m) ** 2).sum(axis=1).mean() for j in range(k)] for m in mu])
    a = S.diagonal()
    b = np.where(np.eye(k, dtype=bool), np.inf, S).min(axis=1)
    larger = np.maximum(a, b)
    zero = larger <= NEGLIGIBLE * scale
    return float(np.where(zero, 0.0, (b - a) / np.where(zero, 1.0, larger)).mean())


def centres(X: Array, labels: Labels) -> Array:
    """The means of the clusters 0..k-1."""
    return np.array([X[labels == i].mean(axis=0) for i in range(labels.max() + 1)])


def nearest_centres(p: Partition) -> Array:
    """min_{j != i} ||mu_i - mu_j||^2 for every i."""
    squared = np.full((p.k, p.k), np.inf)
    i, j = p.pairs
    squared[i, j] = squared[j, i] = p.centre_distances
    return squared.min(axis=1)


def ps(X: Array, labels: Labels) -> float:
    """PS = sum_i n_i / max n - exp(-min_{j != i} ||mu_i - mu_j||^2 / beta), max-optimal.

    beta = (1/k) sum_i ||mu_i - v||^2, v the mean of the centres.
    """
    p = describe(X, labels)
    if p.k == 1:
        return WORST_MAX
    mu = centres(X, compress(labels))
    beta = ((mu - mu.mean(axis=0)) ** 2).sum() / p.k
    if beta <= NEGLIGIBLE * p.TSS / p.N:
        return float((p.n / p.n.max()).sum()) - p.k
    return float((p.n / p.n.max() - np.exp(-nearest_centres(p) / beta)).sum())


def gd43(X: Array, labels: Labels) -> float:
    """GD43 = min_{i != j} ||mu_i - mu_j||^2 / (2 max_i CP_i / n_i), max-optimal."""
    p = describe(X, labels)
    return dunn(p, p.centre_distances)


def gd53(X: Array, labels: Labels) -> float:
    """GD53 = min_{i != j} delta_ij / (2 max_i CP_i / n_i), max-optimal.

    delta_ij = mean squared distance of the samples of i and j to the other centre of the two.
    """
    p, mu, labels = describe(X, labels), centres(X, compress(labels)), compress(labels)
    delta = [
        np.r_[
            ((X[labels == i] - mu[j]) ** 2).sum(axis=1), ((X[labels == j] - mu[i]) ** 2).sum(axis=1)
        ].mean()
        for i, j in zip(*p.pairs, strict=True)
    ]
    return dunn(p, np.array(delta))


def dunn(p: Partition, separation: Array) -> float:
    """Least separation of a pair over the largest diameter, 2 CP / n."""
    if p.k == 1:
        return WORST_MAX
    scale = NEGLIGIBLE * p.TSS / p.N
    least = zero_if_below(float(separation.min()), scale)
    widest = zero_if_below(float((p.CP / p.n).max()), scale)
    if widest == 0:
        return np.inf if least > 0 else WORST_MAX
    return least / (2 * widest)


def ni(X: Array, labels: Labels) -> float:
    """NI = 1/2 sum p_i ln|Sigma_i| - sum p_i ln p_i - 1/2 ln|Sigma_data|, min-optimal."""
    labels = compress(labels)
    N, k = len(X), int(labels.max()) + 1
    if k == 1:
        return WORST_MIN
    p = np.bincount(labels) / N
    log_det = log_determinants([X[labels == i] for i in range(k)] + [X])
    return float(0.5 * (p @ log_det[:-1]) - p @ np.log(p) - 0.5 * log_det[-1])


def log_determinants(groups: list[Array]) -> Array:
    """ln|Sigma + delta I| of each group of samples, delta = 10^(-12/d)."""
    d = groups[0].shape[1]
    delta = 10.0 ** (-12.0 / d)
    sigma = np.stack([eq_sigma(group) for group in groups])
    return np.linalg.slogdet(sigma + delta * np.eye(d))[1]


def cross_entropies(X: Array, labels: Labels) -> Array:
    """-ln of the integral of p_i p_j, p Gaussians with the means and covariances of the clusters.

    1/2 (m^T M^-1 m + ln|M| + d ln 2 pi), m = mu_i - mu_j, M = Sigma_i + Sigma_j + 2 delta I.
    """
    labels, d = compress(labels), X.shape[1]
    mu = centres(X, labels)
    sigma = [eq_sigma(X[labels == i]) + 10.0 ** (-12.0 / d) * np.eye(d) for i in range(len(mu))]
    found = []
    for i, j in zip(*np.triu_indices(len(mu), 1), strict=True):
        m, M = mu[i] - mu[j], sigma[i] + sigma[j]
        quadratic = m @ np.linalg.solve(M, m)
        found.append(0.5 * (quadratic + np.linalg.slogdet(M)[1] + d * np.log(2 * np.pi)))
    return np.array(found)


def rcip(X: Array, labels: Labels) -> float:
    """rCIP = ln sum_{i < j} exp(-h_ij), h the cross-entropies, min-optimal."""
    h = cross_entropies(X, labels)
    if len(h) == 0:
        return WORST_MIN
    return float(np.log(np.exp(h.min() - h).sum()) - h.min())


def rh(X: Array, labels: Labels) -> float:
    """rH = sum_{i < j} h_ij, max-optimal."""
    h = cross_entropies(X, labels)
    return float(h.sum()) if len(h) > 0 else WORST_MAX


INDICES: dict[str, Callable[[Array, Labels], float]] = {
    "ch": ch,
    "wb": wb,
    "xb": xb,
    "db": db,
    "pbm": pbm,
    "ni": ni,
    "sil": sil,
    "ps": ps,
    "gd43": gd43,
    "gd53": gd53,
    "rcip": rcip,
    "rh": rh,
}

MIN_OPTIMAL = {"wb", "xb", "db", "ni", "rcip"}
DIRECTION: dict[str, int] = {name: -1 if name in MIN_OPTIMAL else +1 for name in INDICES}


def score(name: str, X: Array, labels: Labels) -> float:
    """The index with its sign turned so that greater is better; -inf where it is undefined."""
    return DIRECTION[name] * INDICES[name](X, labels)


def same(a: float, b: float) -> bool:
    """a = b up to rounding: |a - b| <= 1e-12 max(1, |a|, |b|)."""
    if a == b:
        return True
    if not (np.isfinite(a) and np.isfinite(b)):
        return False
    return abs(a - b) <= SAME * max(1.0, abs(a), abs(b))


def strictly_better(a: float, b: float) -> bool:
    """a > b, and by more than rounding."""
    return a > b and not same(a, b)


# --- indices that are no functions of the moments: they drive no fit -----------------------------


def pcaes(X: Array, U: Array) -> float:
    """PCAES = sum_i sum u_i^2 / max_j sum u_j^2 - exp(-min_{j != i} ||a_i - a_j||^2 / beta).

    a_i = sum u_i^2 x / sum u_i^2; beta = (1/k) sum_i ||a_i - mean of the data||^2. U: (N, k).
    """
    k = U.shape[1]
    if k < 2:
        return WORST_MAX
    weight = (U**2).sum(axis=0)
    a = np.array([(U[:, [i]] ** 2 * X).sum(axis=0) / weight[i] for i in range(k)])
    beta = ((a - X.mean(axis=0)) ** 2).sum() / k
    scale = NEGLIGIBLE * ((X - X.mean(axis=0)) ** 2).sum() / len(X)
    total = 0.0
    for i in range(k):
        least = min(((a[i] - a[j]) ** 2).sum() for j in range(k) if j != i)
        nearness = 1.0 if beta <= scale else np.exp(-zero_if_below(least, scale) / beta)
        total += weight[i] / weight.max() - nearness
    return float(total)


def conn_index(samples: list[tuple[object, object]], cluster: dict[object, object]) -> float:
    """conn_index = mean Intra (1 - mean max Inter) of samples (best, second best category)."""

    def cadj(p: object, q: object) -> int:
        return sum(sample == (p, q) for sample in samples)

    def conn(p: object, q: object) -> int:
        return cadj(p, q) + cadj(q, p)

    best = {p for p, _ in samples}
    groups = {c: [p for p in best if cluster[p] == c] for c in {cluster[p] for p in best}}
    if len(groups) < 2:
        return WORST_MAX
    intra, inter = [], []
    for own in groups.values():
        held = sum(p in own for p, _ in samples)
        intra.append(sum(p in own and q in own for p, q in samples) / held)
        ratios = []
        for other in groups.values():
            if other is not own:
                border = [p for p in own if any(conn(p, q) for q in other)]
                between = sum(conn(p, q) for p in border for q in other)
                inside = {frozenset((p, q)) for p in border for q in own if p != q}
                total = between + sum(conn(*pair) for pair in inside)
                ratios.append(between / total if border else 0.0)
        inter.append(max(ratios))
    return float(np.mean(intra) * (1 - np.mean(inter)))
