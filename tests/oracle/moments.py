"""Frequency, mean, compactness and covariance of a cluster: in batch, and by recursion.

The algorithm of this package only uses the batch forms. The recursions (Eq:freq_update to
Eq:cov_update) stand beside them, one function per equation and case, to be compared with them.
A covariance here is the unbiased one without the regularising term of the NI index; that of an
empty cluster or a singleton is 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Moments:
    """n, mu, CP and Sigma of one cluster."""

    n: int
    mean: Array
    compactness: float
    covariance: Array


# --- batch ---------------------------------------------------------------------------------------


def batch_frequency(X: Array) -> int:
    """n_i = number of samples."""
    return len(X)


def batch_mean(X: Array) -> Array:
    """mu_i = (1 / n_i) sum_j x_j."""
    return X.mean(axis=0) if len(X) else np.zeros(X.shape[1])


def eq_icp_2(X: Array) -> float:
    """CP_i = sum_j ||x_j - mu_i||^2."""
    return float(((X - batch_mean(X)) ** 2).sum())


def eq_sigma(X: Array) -> Array:
    """Sigma_i = (1 / (n_i - 1)) sum_j (x_j - mu_i)(x_j - mu_i)^T; 0 for n_i < 2."""
    # The centred form: the printed sum x x^T - n mu mu^T is equal but cancels.
    u = X - batch_mean(X)
    return u.T @ u / max(len(X) - 1, 1)


def batch_moments(X: Array) -> Moments:
    """n, mu, CP and Sigma of the samples X of one cluster."""
    return Moments(batch_frequency(X), batch_mean(X), eq_icp_2(X), eq_sigma(X))


# --- Eq:freq_update ------------------------------------------------------------------------------


def eq_freq_update_add(n_i: int) -> int:
    """n_i + 1."""
    return n_i + 1


def eq_freq_update_remove(n_i: int) -> int:
    """n_i - 1."""
    return n_i - 1


def eq_freq_update_merge(n_i: int, n_j: int) -> int:
    """n_i + n_j."""
    return n_i + n_j


def eq_freq_update_split(n_i: int, n_j: int) -> int:
    """n_i - n_j."""
    return n_i - n_j


# --- Eq:mean_update ------------------------------------------------------------------------------


def eq_mean_update_add(n_i: int, mu_i: Array, x: Array) -> Array:
    """n_i / (n_i + 1) mu_i + 1 / (n_i + 1) x."""
    return n_i / (n_i + 1) * mu_i + 1 / (n_i + 1) * x


def eq_mean_update_remove(n_i: int, mu_i: Array, x: Array) -> Array:
    """n_i / (n_i - 1) mu_i - 1 / (n_i - 1) x; 0 once the cluster is empty."""
    if n_i == 1:
        return np.zeros_like(mu_i)
    return n_i / (n_i - 1) * mu_i - 1 / (n_i - 1) * x


def eq_mean_update_merge(n_i: int, mu_i: Array, n_j: int, mu_j: Array) -> Array:
    """n_i / (n_i + n_j) mu_i + n_j / (n_i + n_j) mu_j."""
    return n_i / (n_i + n_j) * mu_i + n_j / (n_i + n_j) * mu_j


def eq_mean_update_split(n_i: int, mu_i: Array, n_j: int, mu_j: Array) -> Array:
    """n_i / (n_i - n_j) mu_i - n_j / (n_i - n_j) mu_j; 0 once the cluster is empty."""
    if n_i == n_j:
        return np.zeros_like(mu_i)
    return n_i / (n_i - n_j) * mu_i - n_j / (n_i - n_j) * mu_j


# --- Eq:comp_update ------------------------------------------------------------------------------


def eq_comp_update_add(n_i: int, mu_i: Array, cp_i: float, x: Array) -> float:
    """CP_i + n_i / (n_i + 1) ||x - mu_i||^2."""
    return cp_i + n_i / (n_i + 1) * squared_norm(x - mu_i)


def eq_comp_update_remove(n_i: int, mu_i: Array, cp_i: float, x: Array) -> float:
    """CP_i - n_i / (n_i - 1) ||x - mu_i||^2, at least 0; 0 for one sample left or none."""
    if n_i <= 2:
        return 0.0
    return max(0.0, cp_i - n_i / (n_i - 1) * squared_norm(x - mu_i))


def eq_comp_update_merge(
    n_i: int, mu_i: Array, cp_i: float, n_j: int, mu_j: Array, cp_j: float
) -> float:
    """CP_i + CP_j + n_i n_j / (n_i + n_j) ||mu_j - mu_i||^2."""
    return cp_i + cp_j + n_i * n_j / (n_i + n_j) * squared_norm(mu_j - mu_i)


def eq_comp_update_split(
    n_i: int, mu_i: Array, cp_i: float, n_j: int, mu_j: Array, cp_j: float
) -> float:
    """CP_i - CP_j - n_i n_j / (n_i - n_j) ||mu_j - mu_i||^2, at least 0; 0 for n_i - n_j <= 1."""
    if n_i - n_j <= 1:
        return 0.0
    return max(0.0, cp_i - cp_j - n_i * n_j / (n_i - n_j) * squared_norm(mu_j - mu_i))


# --- Eq:cov_update -------------------------------------------------------------------------------


def eq_cov_update_add(n_i: int, mu_i: Array, sigma_i: Array, x: Array) -> Array:
    """(n_i - 1) / n_i Sigma_i + 1 / (n_i + 1) (x - mu_i)(x - mu_i)^T; 0 for the first sample."""
    if n_i == 0:
        return np.zeros_like(sigma_i)
    u = x - mu_i
    return (n_i - 1) / n_i * sigma_i + 1 / (n_i + 1) * np.outer(u, u)


def eq_cov_update_remove(n_i: int, mu_i: Array, sigma_i: Array, x: Array) -> Array:
    """(n_i-1) / (n_i-2) Sigma_i - n_i / ((n_i-1)(n_i-2)) (x - mu_i)(x - mu_i)^T; 0 for n_i <= 2."""
    if n_i <= 2:
        return np.zeros_like(sigma_i)
    u = x - mu_i
    sigma = (n_i - 1) / (n_i - 2) * sigma_i - n_i / ((n_i - 1) * (n_i - 2)) * np.outer(u, u)
    return clip_diagonal(sigma)


def eq_cov_update_merge(
    n_i: int, mu_i: Array, sigma_i: Array, n_j: int, mu_j: Array, sigma_j: Array
) -> Array:
    """((n_i-1) Sigma_i + (n_j-1) Sigma_j + n_i n_j / (n_i+n_j) u u^T) / (n_i+n_j-1), u = mu_j-mu_i.

    Both clusters hold at least one sample.
    """
    u = mu_j - mu_i
    n = n_i + n_j
    return (
        (n_i - 1) / (n - 1) * sigma_i
        + (n_j - 1) / (n - 1) * sigma_j
        + n_i * n_j / (n * (n - 1)) * np.outer(u, u)
    )


def eq_cov_update_split(
    n_i: int, mu_i: Array, sigma_i: Array, n_j: int, mu_j: Array, sigma_j: Array
) -> Array:
    """((n_i-1) Sigma_i - (n_j-1) Sigma_j - n_i n_j / (n_i-n_j) u u^T) / (n_i-n_j-1), u = mu_j-mu_i.

    0 where one sample is left or none.
    """
    n = n_i - n_j
    if n <= 1:
        return np.zeros_like(sigma_i)
    u = mu_j - mu_i
    sigma = (
        (n_i - 1) / (n - 1) * sigma_i
        - (n_j - 1) / (n - 1) * sigma_j
        - n_i * n_j / (n * (n - 1)) * np.outer(u, u)
    )
    return clip_diagonal(sigma)


# --- the four operations on all moments at once --------------------------------------------------


def add(i: Moments, x: Array) -> Moments:
    """Cluster i with sample x added."""
    return Moments(
        eq_freq_update_add(i.n),
        eq_mean_update_add(i.n, i.mean, x),
        eq_comp_update_add(i.n, i.mean, i.compactness, x),
        eq_cov_update_add(i.n, i.mean, i.covariance, x),
    )


def remove(i: Moments, x: Array) -> Moments:
    """Cluster i without its sample x."""
    return Moments(
        eq_freq_update_remove(i.n),
        eq_mean_update_remove(i.n, i.mean, x),
        eq_comp_update_remove(i.n, i.mean, i.compactness, x),
        eq_cov_update_remove(i.n, i.mean, i.covariance, x),
    )


def merge(i: Moments, j: Moments) -> Moments:
    """Clusters i and j together."""
    return Moments(
        eq_freq_update_merge(i.n, j.n),
        eq_mean_update_merge(i.n, i.mean, j.n, j.mean),
        eq_comp_update_merge(i.n, i.mean, i.compactness, j.n, j.mean, j.compactness),
        eq_cov_update_merge(i.n, i.mean, i.covariance, j.n, j.mean, j.covariance),
    )


def split(i: Moments, j: Moments) -> Moments:
    """Cluster i without its part j."""
    return Moments(
        eq_freq_update_split(i.n, j.n),
        eq_mean_update_split(i.n, i.mean, j.n, j.mean),
        eq_comp_update_split(i.n, i.mean, i.compactness, j.n, j.mean, j.compactness),
        eq_cov_update_split(i.n, i.mean, i.covariance, j.n, j.mean, j.covariance),
    )


def squared_norm(u: Array) -> float:
    """||u||_2^2."""
    return float(u @ u)


def clip_diagonal(sigma: Array) -> Array:
    """Sigma with its diagonal at least 0, where rounding could take it below."""
    sigma = sigma.copy()
    np.fill_diagonal(sigma, np.maximum(np.diag(sigma), 0.0))
    return sigma
