"""The paper's columns VAT+FA and VAT+DVFA: python benchmarks/paper_art.py [--sets SET ...]

The protocol of the paper (section param_set and table synthetic_results): the samples are sorted by
VAT, then presented until an epoch adds no category; the best ARI over rho in [0.1, 0.95] by steps
of 0.01 is reported and, for dual vigilance, over rho_lb in [rho_ub - 0.1, rho_ub] as well. The
labels of the last epoch count. VAT begins at one of the two samples that are farthest apart; which
one is up to the order of the samples, so they are taken forwards and backwards.

The data folder is ../shared/data beside the checkout, or ICVI_ARTMAP_DATA.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

from icvi_artmap import DualVigilanceFuzzyART, FuzzyART, vat

#: Columns VAT+FA and VAT+DVFA of table synthetic_results.
PAPER: dict[str, tuple[float, float]] = {
    "2d-4c-no0": (0.8478, 0.8478),
    "2d-10c-no0": (0.8044, 0.8044),
    "2d-20c-no0": (0.9209, 0.9209),
    "2d-40c-no0": (0.7986, 0.7986),
    "10d-4c-no0": (0.9530, 0.9638),
    "10d-10c-no0": (0.6392, 0.6392),
    "10d-20c-no0": (0.9374, 0.9374),
    "10d-40c-no0": (0.9436, 0.9436),
    "ellipsoid.50d4c.1": (0.6621, 0.6621),
    "ellipsoid.50d10c.1": (0.5363, 0.5363),
    "ellipsoid.50d20c.1": (0.6935, 0.6935),
    "ellipsoid.50d40c.1": (0.6948, 0.6948),
    "ellipsoid.100d4c.1": (0.7055, 0.7055),
    "ellipsoid.100d10c.1": (0.7397, 0.7397),
    "ellipsoid.100d20c.1": (0.6931, 0.6931),
    "ellipsoid.100d40c.1": (0.6525, 0.6525),
}
#: Against a cycle; the paper names no limit.
MOST_EPOCHS = 100


class Best(NamedTuple):
    """The fit of largest ARI of a grid."""

    ari: float
    rho_ub: float
    rho_lb: float
    n_clusters: int


def epochs_until_no_new_category(
    model: FuzzyART | DualVigilanceFuzzyART, X: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Labels after the first epoch that adds no category."""
    before = 0
    for _ in range(MOST_EPOCHS):
        model.partial_fit(X)
        if len(model.categories_) == before:
            break
        before = len(model.categories_)
    return model.labels_


def vigilances(dual: bool) -> Iterator[tuple[float, float]]:
    """(rho_ub, rho_lb) of the paper's grid, equal ones for fuzzy ART."""
    for step in range(10, 96):
        for below in range(min(step, 10) + 1 if dual else 1):
            yield step / 100, (step - below) / 100


def best(X: NDArray[np.float64], y: NDArray[np.int64], dual: bool) -> Best:
    """``X`` in the order of presentation."""
    found = Best(-np.inf, np.nan, np.nan, 0)
    for rho_ub, rho_lb in vigilances(dual):
        model = DualVigilanceFuzzyART(rho_ub, rho_lb) if dual else FuzzyART(rho_ub)
        ari = adjusted_rand_score(y, epochs_until_no_new_category(model, X))
        if ari > found.ari:
            found = Best(ari, rho_ub, rho_lb, model.n_clusters_)
    return found


def vat_order(X: NDArray[np.float64]) -> NDArray[np.int64]:
    """VAT on min-max scaled data."""
    span = np.ptp(X, axis=0)
    scaled = (X - X.min(axis=0)) / np.where(span > 0.0, span, 1.0)
    return vat(scaled)


def data_folder() -> Path:
    given = os.environ.get("ICVI_ARTMAP_DATA")
    return Path(given) if given else Path(__file__).resolve().parents[2] / "shared" / "data"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", choices=PAPER, default=list(PAPER), metavar="SET")
    parser.add_argument("--only", choices=("FA", "DVFA"))
    arguments = parser.parse_args()
    print(f"{'set':20} {'model':8} {'ARI':>7} {'paper':>7} rho_ub rho_lb {'k':>4} {'s':>6}")
    for name in arguments.sets:
        with np.load(data_folder() / "synthetic" / f"{name}.npz") as file:
            X, y = file["X"].astype(np.float64), file["y"]
        for column, model in enumerate(("FA", "DVFA")):
            if arguments.only not in (None, model):
                continue
            for step in (1, -1):
                order = np.arange(len(X))[::step]
                order = order[vat_order(X[order])]
                start = time.perf_counter()
                found = best(X[order], y[order], model == "DVFA")
                print(
                    f"{name:20} {model:5} {step:+2} {found.ari:7.4f} {PAPER[name][column]:7.4f} "
                    f"{found.rho_ub:6.2f} {found.rho_lb:6.2f} {found.n_clusters:4} "
                    f"{time.perf_counter() - start:6.1f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
