"""An index from the literature that is not built in, written in a few lines, drives whole fits.

The criterion of Banfield and Raftery for round clusters of different size,

    BR = sum over i of n_i ln(CP_i / n_i),    smaller is better,

is a function of the cluster sizes n and the compactnesses CP. J. D. Banfield, A. E. Raftery,
"Model-based Gaussian and non-Gaussian clustering", Biometrics 49, 1993.
"""

import math

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

from icvi_artmap import ICVIARTMAP, custom_index
from icvi_artmap.datasets import make_gaussian_clusters
from icvi_artmap.indices.contract import Index

#: A cluster of one sample, or of copies of one, has CP = 0 and would win with ln 0 = -inf.
LEAST_VARIANCE = 1e-6
#: (clusters, features) of the data sets, and how many of each.
FAMILIES = ((4, 2), (10, 2), (10, 10))
N_DATA_SETS = 5
N_SAMPLES = 500

DataSet = tuple[NDArray[np.float64], NDArray[np.int64]]


@custom_index(better="smaller", name="BR")
def banfield_raftery(
    n: NDArray[np.int64], mean: NDArray[np.float64], compactness: NDArray[np.float64]
) -> float:
    total = 0.0
    for i in range(len(n)):
        total += n[i] * math.log(max(compactness[i] / n[i], LEAST_VARIANCE))
    return total


def mean_ari(index: str | Index, data_sets: list[DataSet]) -> float:
    """Mean ARI of the partitions that an index finds."""
    values = []
    for X, y in data_sets:
        model = ICVIARTMAP(len(np.unique(y)), index=index, n_init=5, random_state=0).fit(X)
        values.append(adjusted_rand_score(y, model.labels_))
    return float(np.mean(values))


def main() -> None:
    families = {
        f"{k} clusters, {d}-D": [
            make_gaussian_clusters(k, d, n_samples=N_SAMPLES, random_state=seed)
            for seed in range(N_DATA_SETS)
        ]
        for k, d in FAMILIES
    }
    indices: dict[str, str | Index] = {
        "NI ↓": "NI",
        "BR ↓": banfield_raftery,
        "CH ↑": "CH",
        "XB ↓": "XB",
    }
    print(f"mean ARI over {N_DATA_SETS} data sets of {N_SAMPLES} samples each\n")
    print(f"{'index':<10}" + "".join(f"{title:>20}" for title in families))
    for name, index in indices.items():
        cells = [f"{mean_ari(index, data_sets):>20.3f}" for data_sets in families.values()]
        print(f"{name:<10}" + "".join(cells), flush=True)


if __name__ == "__main__":
    main()
