"""Boxes of the ART family over the same data: python examples/categories.py [picture.png]

Two moons, to fuzzy ART, dual vigilance fuzzy ART and fuzzy ARTMAP.
"""

import sys

import matplotlib as mpl
import numpy as np
from sklearn.datasets import make_moons

from icvi_artmap import CategoryDisplay, DualVigilanceFuzzyART, FuzzyART, FuzzyARTMAP


def main(path: str) -> None:
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    X, y = make_moons(600, noise=0.05, random_state=0)
    order = np.argsort(X[:, 0])  # neighbours after each other, which suits dual vigilance
    X, y = X[order], y[order]
    models = {
        "FuzzyART(0.7)": FuzzyART(0.7).fit(X),
        "DualVigilanceFuzzyART(0.96, 0.9)": DualVigilanceFuzzyART(0.96, 0.9).fit(X),
        "FuzzyARTMAP()": FuzzyARTMAP().fit(X, y),
    }
    figure, axes = plt.subplots(1, 3, figsize=(13, 3.8), layout="constrained", sharey=True)
    for ax, (name, model) in zip(axes, models.items(), strict=True):
        CategoryDisplay.from_estimator(model, X).plot(ax)
        found = len(np.unique(model.category_labels_))
        what = "classes" if isinstance(model, FuzzyARTMAP) else "clusters"
        ax.set_title(f"{name}: {len(model.categories_)} categories, {found} {what}", fontsize=10)
    figure.savefig(path, dpi=110)
    print(f"wrote {path}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "categories.png")
