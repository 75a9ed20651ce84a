"""Random options of the ART family, and data as its oracle takes them."""

from __future__ import annotations

import numpy as np

from oracle.scaling import complement_code, fit_scaling, min_max


def coded(X: np.ndarray) -> np.ndarray:
    return complement_code(min_max(fit_scaling(X), X))


def random_options(rng: np.random.Generator) -> dict[str, float]:
    return {
        "rho": float(rng.choice([0.0, 0.3, 0.6, 0.8, 0.9, 1.0])),
        "alpha": float(rng.choice([1e-3, 1e-9, 0.5, 10.0])),
        "beta": float(rng.choice([1.0, 1.0, 0.6, 0.01])),
    }
