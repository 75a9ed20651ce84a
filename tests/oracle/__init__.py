"""A brute-force twin of iCVI-ARTMAP: plain NumPy, in batch, one function per equation.

It is what the compiled library is compared with, so it shares no code with it.
"""

from .adding import best_cluster, moving_values, values_with_sample
from .algorithm import Result, fit, predict
from .indices import DIRECTION, INDICES, ch, db, ni, pbm, same, score, strictly_better, wb, xb
from .moments import Moments, add, batch_moments, merge, remove, split
from .scaling import Scaling, complement_code, fit_scaling, min_max, standardise
from .vat import block_means, path_distances, squared_euclidean, vat

__all__ = [
    "DIRECTION",
    "INDICES",
    "Moments",
    "Result",
    "Scaling",
    "add",
    "batch_moments",
    "best_cluster",
    "block_means",
    "ch",
    "complement_code",
    "db",
    "fit",
    "fit_scaling",
    "merge",
    "min_max",
    "moving_values",
    "ni",
    "path_distances",
    "pbm",
    "predict",
    "remove",
    "same",
    "score",
    "split",
    "squared_euclidean",
    "standardise",
    "strictly_better",
    "values_with_sample",
    "vat",
    "wb",
    "xb",
]
