"""Write small models of the installed version to a folder named by it: python tests/saved/write.py

The folders of former versions stay. tests/test_saved_models.py loads them all with the present one.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_iris

from icvi_artmap import (
    ICVIARTMAP,
    DualVigilanceFuzzyART,
    FuzzyART,
    FuzzyARTMAP,
    __version__,
    custom_index,
    save,
)


@custom_index(better="smaller")
def spread(n, mean, compactness):
    return (compactness / n).sum()


def rows() -> np.ndarray:
    """Every fifth row of iris: enough to have clusters, and small files."""
    return load_iris().data[::5]


def new_rows() -> np.ndarray:
    """Rows that were not learned."""
    return load_iris().data[2::7] + 0.05


def models() -> dict[str, Any]:
    """Fitted models of all kinds that can be saved."""
    X, kinds = rows(), np.array(["setosa", "versicolor", "virginica"])[load_iris().target[::5]]
    return {
        "ni": ICVIARTMAP(3, random_state=0).fit(X),
        "ch-traced": ICVIARTMAP(3, index="CH", rho_a=0.6, random_state=0).fit(X, trace=True),
        "db": ICVIARTMAP(3, index="DB", init=X[[0, 12, 25]], random_state=0).fit(X),
        "chosen": ICVIARTMAP(range(2, 6), random_state=0).fit(X),
        "own": ICVIARTMAP(3, index=spread, max_epochs=2, random_state=0).fit(X),
        "fuzzy-art": FuzzyART(0.8).fit(X),
        "dual": DualVigilanceFuzzyART(0.9, 0.7, feature_range=(0, 9)).fit(X),
        "artmap": FuzzyARTMAP(0.3).fit(X, kinds),
    }


def write(folder: Path) -> None:
    """Models as ``*.icvi``, and what each predicts as ``predictions.npz``."""
    folder.mkdir(parents=True, exist_ok=True)
    found = models()
    for name, model in found.items():
        save(model, folder / f"{name}.icvi")
    predictions = {name: model.predict(new_rows()).astype(str) for name, model in found.items()}
    np.savez(folder / "predictions.npz", allow_pickle=False, **predictions)


if __name__ == "__main__":
    write(Path(__file__).parent / __version__)
