"""The layers of encoder and decoder: their sizes, their first weights, what they compute.

A network is a flat list of arrays, two for every layer: weights (outputs, inputs) and biases. Here
it runs on NumPy in double precision, so that a trained model needs nothing else;
``computation.py`` has the same for training.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

Weights = list[NDArray[np.float32]]

#: Rows that pass through the layers at a time.
ROWS = 4096


def sizes_of(n_features: int, hidden: Sequence[int], n_latent: int) -> tuple[int, ...]:
    """Widths of the encoder from input to latent space; the decoder has them in reverse."""
    return (n_features, *hidden, n_latent)


def shapes_of(sizes: Sequence[int]) -> list[tuple[int, ...]]:
    """The shapes of the weights and biases of layers with these widths."""
    shapes: list[tuple[int, ...]] = []
    for inputs, outputs in pairwise(sizes):
        shapes += [(outputs, inputs), (outputs,)]
    return shapes


def first_weights(sizes: Sequence[int], generator: np.random.Generator) -> Weights:
    """Weights uniform within 1 / sqrt(inputs) of zero; biases zero."""
    weights: Weights = []
    for shape in shapes_of(sizes):
        if len(shape) == 1:
            weights.append(np.zeros(shape, np.float32))
        else:
            bound = 1.0 / np.sqrt(shape[1])
            weights.append(generator.uniform(-bound, bound, shape).astype(np.float32))
    return weights


def through(X: NDArray[Any], weights: Weights) -> NDArray[np.float64]:
    """What the layers make of rows: all but the last followed by max(0, .)."""
    exact = [array.astype(np.float64) for array in weights]
    out = np.empty((len(X), len(exact[-1])))
    for start in range(0, len(X), ROWS):
        rows = X[start : start + ROWS].astype(np.float64)
        for at in range(0, len(exact), 2):
            rows = rows @ exact[at].T + exact[at + 1]
            if at + 2 < len(exact):
                np.maximum(rows, 0.0, out=rows)
        out[start : start + ROWS] = rows
    return out
