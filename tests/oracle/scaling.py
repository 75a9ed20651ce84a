"""The two scalings of the data (section 4.5, rule 1): X^a for ARTa and X^b for the index."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Scaling:
    """Parameters of both scalings, one entry per feature."""

    minimum: Array
    span: Array
    mean: Array
    deviation: Array


def fit_scaling(X: Array) -> Scaling:
    """min, max - min, mean and sqrt(sum (x - mean)^2 / N) of each feature."""
    minimum = X.min(axis=0)
    span = X.max(axis=0) - minimum
    constant = span == 0
    # The rounded mean of a constant feature can miss its value; the value itself gives exact zeros.
    mean = np.where(constant, minimum, X.mean(axis=0))
    deviation = np.sqrt(((X - mean) ** 2).mean(axis=0))
    return Scaling(
        minimum=minimum,
        span=np.where(constant, 1.0, span),
        mean=mean,
        deviation=np.where(constant, 1.0, deviation),
    )


def min_max(scaling: Scaling, X: Array) -> Array:
    """(x - min) / span."""
    return (X - scaling.minimum) / scaling.span


def standardise(scaling: Scaling, X: Array) -> Array:
    """X^b = (x - mean) / deviation."""
    return (X - scaling.mean) / scaling.deviation


def complement_code(m: Array) -> Array:
    """X_cc = [m, 1 - m]."""
    return np.concatenate([m, 1.0 - m], axis=-1)
