"""The ridge that keeps covariances of few samples from being singular (SPEC: δ = 10^(-12/d))."""

from __future__ import annotations


def ridge(n_features: int) -> float:
    """What is added to every variance of standardised data before a determinant is taken.

    It grows with the number of features, so that a cluster without any extent has the same
    determinant, 1e-12, in every dimension.
    """
    return float(10.0 ** (-12.0 / n_features))
