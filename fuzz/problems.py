"""Random tables in all sorts of corners, and the forms in which users pass them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Table = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int, int], Table]

MOST_SAMPLES, MOST_FEATURES = 200, 12


def _blobs(rng: np.random.Generator, n: int, d: int) -> Table:
    k = int(rng.integers(1, 9))
    centres = 10.0 ** rng.uniform(-1, 2) * rng.normal(size=(k, d))
    return rng.normal(size=(n, d)) + centres[rng.integers(0, k, n)]


def _uniform(rng: np.random.Generator, n: int, d: int) -> Table:
    return rng.random((n, d))


def _repeated(rng: np.random.Generator, n: int, d: int) -> Table:
    distinct = _blobs(rng, int(rng.integers(1, 8)), d)
    return distinct[rng.integers(0, len(distinct), n)]


def _grid(rng: np.random.Generator, n: int, d: int) -> Table:
    return rng.integers(0, int(rng.integers(2, 6)), (n, d)).astype(np.float64)


def _bits(rng: np.random.Generator, n: int, d: int) -> Table:
    return (rng.random((n, d)) < rng.choice([0.02, 0.5, 0.98])).astype(np.float64)


def _one_hot(rng: np.random.Generator, n: int, d: int) -> Table:
    return np.eye(d)[rng.integers(0, d, n)]


def _cauchy(rng: np.random.Generator, n: int, d: int) -> Table:
    return rng.standard_cauchy((n, d))


def _line(rng: np.random.Generator, n: int, d: int) -> Table:
    """All features are multiples of one."""
    return np.outer(np.arange(n, dtype=np.float64), rng.normal(size=d))


def _outlier(rng: np.random.Generator, n: int, d: int) -> Table:
    X = rng.normal(size=(n, d))
    X[rng.integers(0, n)] = 10.0 ** rng.uniform(1, 150)
    return X


def _powers(rng: np.random.Generator, n: int, d: int) -> Table:
    """Values of all magnitudes in one feature."""
    return 10.0 ** rng.uniform(-300, 300, (n, d)) * rng.choice([-1.0, 1.0], (n, d))


SHAPES: tuple[Draw, ...] = (
    *(_blobs,) * 4,
    _uniform,
    _repeated,
    _grid,
    _bits,
    _one_hot,
    _cauchy,
    _line,
    _outlier,
    _powers,
)


def random_table(rng: np.random.Generator, most: int = MOST_SAMPLES) -> Table:
    """A table of numbers, now and then with NaN or infinity."""
    n = int(rng.integers(2, rng.choice([5, 20, 60, most]) + 1))
    d = int(rng.integers(1, rng.choice([3, 5, MOST_FEATURES]) + 1))
    X = SHAPES[rng.integers(len(SHAPES))](rng, min(n, most), d)
    if rng.random() < 0.3:
        _spoil(rng, X)
    return X


def _spoil(rng: np.random.Generator, X: Table) -> None:
    """One of the things that real tables have."""
    n, d = X.shape
    f, kind = int(rng.integers(d)), int(rng.integers(8))
    with np.errstate(all="ignore"):
        if kind == 0:
            X[:, f] = X[0, f]
        elif kind == 1:
            X *= 10.0 ** rng.choice([-320.0, -308.0, -300.0, -160.0, -20.0, 20.0, 160.0, 300.0])
        elif kind == 2:
            X[:, f] += 10.0 ** rng.uniform(0, 18)
        elif kind == 3:
            X[:, f] = np.round(X[:, f])
        elif kind == 4:
            X[: n // 2] = X[n - n // 2 :]
        elif kind == 5:
            X[:, f] = rng.choice([0.0, 5e-324, -0.0, 1e-310], n)
        elif kind == 6:
            X[:, f] = rng.choice([-1.7e308, 0.0, 1.7e308], n)
        elif rng.random() < 0.2:
            X[rng.integers(n), f] = rng.choice([np.nan, np.inf, -np.inf])


def random_form(rng: np.random.Generator, X: Table) -> Any:
    """The table as somebody might pass it: another type, order or container."""
    kind = int(rng.integers(12))
    if kind == 0:
        with np.errstate(over="ignore"):
            return X.astype(np.float32)
    if kind == 1:
        return np.asfortranarray(X)
    if kind == 2:
        X.flags.writeable = False
        return X
    if kind == 3:
        return np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3]
    if kind == 4:
        return X.tolist()
    if kind == 5 and (np.abs(X) < 2**31).all():
        return X.astype(np.int64)
    if kind == 6:
        import pandas as pd

        return pd.DataFrame(X, columns=[f"column {f}" for f in range(X.shape[1])])
    if kind == 7:
        return X.astype(">f8")
    return X


def fingerprint(table: Any) -> bytes:
    """The numbers of a table, to see whether somebody has changed them."""
    return np.ascontiguousarray(np.asarray(table, np.float64)).tobytes()
