"""Clusters before clustering: draws docs/images/vat.png.

Two half circles around a round cluster, in a random order. VAT shows three dark squares; iVAT shows
them without the grey between the ends of a half circle.
"""

from pathlib import Path

import matplotlib
import numpy as np
from numpy.typing import NDArray

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from icvi_artmap import VATDisplay

PICTURE = Path(__file__).resolve().parents[1] / "docs" / "images" / "vat.png"
N_SAMPLES = 1000


def make_arcs(n_samples: int, seed: int) -> NDArray[np.float64]:
    """A round cluster and two half circles around it, one further out."""
    rng = np.random.default_rng(seed)
    cluster = rng.integers(0, 3, n_samples)
    angle = np.pi * (rng.random(n_samples) + (cluster == 2))
    radius = np.array([0.0, 1.0, 1.8])[cluster]
    on_arc = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return on_arc + rng.normal(scale=0.07, size=(n_samples, 2))


def main() -> None:
    X = make_arcs(N_SAMPLES, seed=0)
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(13, 3.8), layout="constrained")
    left.scatter(*X.T, s=3, color="black")
    left.set(title="data", aspect="equal")
    VATDisplay.from_data(X).plot(middle)
    middle.set_title("VAT")
    VATDisplay.from_data(X, improved=True).plot(right)
    right.set_title("iVAT")
    figure.savefig(PICTURE, dpi=80)
    print(f"picture: {PICTURE.relative_to(PICTURE.parents[2])}")


if __name__ == "__main__":
    main()
