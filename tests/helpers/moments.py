"""Recursions of the moments as functions that Python can call, and data for them."""

from __future__ import annotations

import numpy as np

from icvi_artmap._compile.jit import jit
from icvi_artmap.samples import moments as mom
from icvi_artmap.samples.scaling import Data, plain_data

# The recursions are parts of kernels: they can be called from compiled code only.


@jit
def merge(m, i, other, j, u):
    mom.merge(m, i, other, j, u)


@jit
def split(m, i, other, j, u):
    mom.split(m, i, other, j, u)


def plain(X: np.ndarray) -> Data:
    """A view of X whose standardised rows are those of X."""
    return plain_data(X, np.ones(X.shape[1]), np.zeros(X.shape[1]))
