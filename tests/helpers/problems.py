"""Random corners of what users may do, and whole runs in them, ours and the oracle's."""

from __future__ import annotations

import numpy as np

import oracle
from icvi_artmap.indices.registry import INDICES
from icvi_artmap.network.driver import Parameters
from icvi_artmap.samples.scaling import learn_scaling
from icvi_artmap.training.run import FitResult, Run, Settings
from icvi_artmap.training.start import make_samples, start_at


def random_problem(
    rng: np.random.Generator, dimensions: tuple[int, int] = (1, 12)
) -> tuple[np.ndarray, np.ndarray, dict[str, float]]:
    """Data, centres and parameters: a random corner of what users may do."""
    d, k = int(rng.integers(dimensions[0], dimensions[1] + 1)), int(rng.integers(2, 9))
    n = int(rng.integers(k + 1, 60))
    kind = rng.choice(["blobs", "grid", "duplicates", "few values", "noise", "offset"])
    X = rng.normal(size=(n, d))
    if kind == "blobs":
        X += 4.0 * rng.normal(size=(k, d))[rng.integers(0, k, n)]
    elif kind == "grid":
        X = np.round(X)
    elif kind == "duplicates":
        X = X[rng.integers(0, max(2, n // 3), n)]
    elif kind == "few values":
        X = rng.integers(0, 3, size=(n, d)).astype(float)
    elif kind == "offset":
        X += 1e6
    if d > 1 and rng.random() < 0.2:
        X[:, rng.integers(d)] = 7.3  # a constant feature
    if kind == "grid" and rng.random() < 0.3:
        X[0] += 50.0  # an outlier: a singleton that may vanish
    if rng.random() < 0.5:
        centres = X[rng.choice(n, k, replace=False)]
    else:
        centres = X.mean(axis=0) + X.std(axis=0) * rng.normal(size=(k, d))
    parameters = {
        "rho_a": float(rng.choice([0.0, 0.3, 0.7, 0.9])),
        "rho_ab": float(rng.choice([1.0, 0.99, 0.9, 0.5])),
        "beta_a": float(rng.choice([1.0, 1.0, 0.6])),
        "alpha": 1e-3,
        "epsilon": float(rng.choice([0.01, 0.0])),
        "beta_ab": float(rng.choice([1e-3, 0.1, 1.0])),
    }
    return X, centres, parameters


def run_both(
    name: str, X: np.ndarray, centres: np.ndarray, parameters: dict[str, float], epochs: int = 6
) -> tuple[FitResult, oracle.algorithm.Result]:
    rng = np.random.default_rng(len(X))
    order = rng.permutation(len(X))
    scaling = learn_scaling(X)
    index = INDICES[name]
    settings = Settings(index, Parameters(**parameters), tol=1e-6, max_epochs=epochs, trace=True)
    samples = make_samples(X, scaling, order, index)
    ours = Run(samples, start_at(centres, scaling), settings).train().result()
    reference = oracle.algorithm.fit(
        X,
        centres,
        index=name.lower(),
        n_clusters=len(centres),
        order=order,
        tol=1e-6,
        max_epochs=epochs,
        **parameters,
    )
    return ours, reference


def assert_equal_runs(name: str, ours: FitResult, reference: oracle.algorithm.Result) -> None:
    np.testing.assert_array_equal(ours.labels, reference.labels)
    np.testing.assert_array_equal(ours.sample_categories, reference.sample_categories)
    np.testing.assert_array_equal(ours.boxes, reference.boxes)
    np.testing.assert_array_equal(ours.map_field, reference.map_field)
    assert len(ours.epochs) == reference.n_iter
    assert ours.epochs == reference.epochs
    assert ours.converged == reference.converged
    direction = INDICES[name].direction
    for own, expected in ((ours.history, reference.index_history), (ours.trace, reference.trace)):
        np.testing.assert_allclose(direction * np.array(own), expected, rtol=1e-9, atol=1e-9)
