"""Skew and long tails: monotone functions of single columns, learned from the training data.

Every one can be turned back, and has a derivative that is nowhere 0. So explanations can be given
in the units of the data, and densities before and after be compared.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

#: From so many robust deviations from the median on, "clip" draws values in.
CLIP = 3.0
#: A deviation of a Gaussian, as a multiple of the median distance from the median, and as a part
#: of the distance between quartiles.
OF_MEDIAN, OF_QUARTILES = 1.4826, 1.0 / 1.349
#: Powers are kept in these bounds, and deviations as well: their powers are finite numbers.
MOST_POWER, MOST_DEVIATIONS = 5.0, 1e6
#: Columns with larger numbers are left alone.
LARGEST = 1e290
#: Powers are learned from no more rows.
MOST_ROWS = 50_000
#: A column in which more rows than this part share one value has no density to compare.
PILE = 0.1

NONE, DRAWN_IN, POWER = 0, 1, 2
TRANSFORMS = ("none", "clip", "power")


class Transform(NamedTuple):
    """What is done to every column."""

    kind: NDArray[np.int64]  #: (d,) NONE, DRAWN_IN or POWER
    centre: NDArray[np.float64]  #: (d,) median
    width: NDArray[np.float64]  #: (d,) robust deviation, by median or quartiles, above 0
    power: NDArray[np.float64]  #: (d,) of Yeo and Johnson; 1 changes nothing


def learn_transform(X: NDArray[np.float64], how: str, left_alone: NDArray[np.bool_]) -> Transform:
    """What to do, by one of `TRANSFORMS`. ``left_alone``: columns to which nothing is done.

    Columns with at most two values are left alone too, and columns of which more than half of the
    rows share a value are not drawn in: they have no robust deviation.
    """
    d = X.shape[1]
    with np.errstate(over="ignore", invalid="ignore"):
        centre = np.median(X, axis=0)
        spread = OF_MEDIAN * np.median(np.abs(X - centre), axis=0)
        low, high = np.percentile(X, [25, 75], axis=0)
        # Quartiles see a cluster that the median distance does not: one of a quarter of the rows.
        width = np.maximum(spread, OF_QUARTILES * (high - low))
        width = np.where(width > 0.0, width, X.std(axis=0))
    kind, power = np.zeros(d, np.int64), np.ones(d)
    usable = (width > 1.0 / LARGEST) & (width < LARGEST) & (np.abs(centre) < LARGEST)
    usable &= ~left_alone & (how != "none")
    width = np.where(usable, width, 1.0)
    for f in np.flatnonzero(usable):
        if len(np.unique(X[:, f])) <= 2:
            continue
        if how == "clip" and spread[f] > 0.0:
            kind[f] = DRAWN_IN
        elif how == "power":
            found = _learn_power(_deviations(X[:, f], centre[f], width[f]))
            if found is not None:
                kind[f], power[f] = POWER, found
    return Transform(kind, np.where(kind == NONE, 0.0, centre), width, power)


def _learn_power(z: NDArray[np.float64]) -> float | None:
    """The power that scikit-learn's PowerTransformer finds; None if it finds none."""
    from sklearn.preprocessing import PowerTransformer

    rows = np.linspace(0, len(z) - 1, min(len(z), MOST_ROWS)).round().astype(np.int64)
    try:
        with np.errstate(all="ignore"):
            found = PowerTransformer(standardize=False).fit(z[rows, None]).lambdas_[0]
    except (ValueError, RuntimeError, FloatingPointError):
        return None
    return float(np.clip(found, -MOST_POWER, MOST_POWER)) if np.isfinite(found) else None


def transformed(X: NDArray[np.float64], transform: Transform) -> NDArray[np.float64]:
    """The rows as they are clustered: where drawn in, in the units of the data."""
    result = np.array(X, np.float64)
    for f in np.flatnonzero(transform.kind).tolist():
        centre, width = transform.centre[f], transform.width[f]
        z = _deviations(X[:, f], centre, width)
        if transform.kind[f] == DRAWN_IN:
            far = np.abs(z) > CLIP
            result[far, f] = centre + width * np.sign(z[far]) * CLIP * (
                1.0 + np.log(np.abs(z[far]) / CLIP)
            )
        else:
            result[:, f] = _yeo_johnson(z, transform.power[f])
    return result


def turned_back(T: NDArray[np.float64], transform: Transform) -> NDArray[np.float64]:
    """Points of the transformed space in the units of the data."""
    result = np.array(T, np.float64)
    for f in np.flatnonzero(transform.kind).tolist():
        centre, width = transform.centre[f], transform.width[f]
        if transform.kind[f] == DRAWN_IN:
            z = (T[:, f] - centre) / width
            far = np.abs(z) > CLIP
            with np.errstate(over="ignore"):
                result[far, f] = centre + width * np.sign(z[far]) * CLIP * np.exp(
                    np.abs(z[far]) / CLIP - 1.0
                )
        else:
            z = np.clip(
                _yeo_johnson_back(T[:, f], transform.power[f]), -MOST_DEVIATIONS, MOST_DEVIATIONS
            )
            result[:, f] = centre + width * z
    return result


def log_slopes(X: NDArray[np.float64], transform: Transform) -> NDArray[np.float64]:
    """Sum of the logarithms of all derivatives at every row: what a density changes by."""
    result = np.zeros(len(X))
    for f in np.flatnonzero(transform.kind).tolist():
        z = _deviations(X[:, f], transform.centre[f], transform.width[f])
        if transform.kind[f] == DRAWN_IN:
            result -= np.log(np.maximum(np.abs(z) / CLIP, 1.0))
        else:
            slope = transform.power[f] - 1.0
            result += np.where(z >= 0.0, slope, -slope) * np.log1p(np.abs(z))
            result -= np.log(transform.width[f])
    return result


def piles(X: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Columns in which many rows share one value."""
    most = [np.unique(column, return_counts=True)[1].max() for column in X.T]
    return np.array(most) > max(PILE * len(X), 1.0)


def _deviations(column: NDArray[np.float64], centre: float, width: float) -> NDArray[np.float64]:
    """How far values are from the centre; beyond a million deviations all are the same."""
    with np.errstate(over="ignore"):
        return np.clip((column - centre) / width, -MOST_DEVIATIONS, MOST_DEVIATIONS)


def _yeo_johnson(z: NDArray[np.float64], power: float) -> NDArray[np.float64]:
    return np.where(
        z >= 0.0, _box_cox(np.maximum(z, 0.0), power), -_box_cox(np.maximum(-z, 0.0), 2.0 - power)
    )


def _box_cox(z: NDArray[np.float64], power: float) -> NDArray[np.float64]:
    """((1 + z)^power - 1) / power, whatever the power, for z from 0 on."""
    return np.log1p(z) if power == 0.0 else np.expm1(power * np.log1p(z)) / power


def _yeo_johnson_back(t: NDArray[np.float64], power: float) -> NDArray[np.float64]:
    return np.where(
        t >= 0.0,
        _box_cox_back(np.maximum(t, 0.0), power),
        -_box_cox_back(np.maximum(-t, 0.0), 2.0 - power),
    )


def _box_cox_back(t: NDArray[np.float64], power: float) -> NDArray[np.float64]:
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        if power == 0.0:
            return np.expm1(t)
        # With a power below 0 values end at -1 / power: beyond lies nothing.
        inside = np.maximum(power * t, -1.0)
        return np.expm1(np.log1p(inside) / power)
