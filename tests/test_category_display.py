"""Pictures of categories."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.patches import Rectangle

from icvi_artmap import (
    ICVIARTMAP,
    CategoryDisplay,
    DualVigilanceFuzzyART,
    FuzzyART,
    FuzzyARTMAP,
)
from icvi_artmap.category_display import COLOURS

mpl.use("Agg")


@pytest.fixture(name="X")
def samples() -> np.ndarray:
    rng = np.random.default_rng(0)
    return np.repeat([[0.0, 0.0, 0.0], [9.0, 9.0, 9.0]], 30, axis=0) + rng.normal(size=(60, 3))


@pytest.mark.parametrize(
    "model",
    [
        FuzzyART(0.7),
        DualVigilanceFuzzyART(0.9, 0.7),
        FuzzyARTMAP(0.7),
        ICVIARTMAP(2, rho_a=0.7, random_state=0),
    ],
)
def test_every_estimator_can_be_drawn(model: Any, X: np.ndarray) -> None:
    model.fit(X, np.where(X[:, 0] > 4.5, "far", "near"))
    display = CategoryDisplay.from_estimator(model, X, features=(2, 0)).plot()
    np.testing.assert_array_equal(display.boxes, model.categories_[:, :, [2, 0]])
    outlines = [p for p in display.ax_.patches if isinstance(p, Rectangle) and not p.get_fill()]
    wide = (display.boxes[:, 1] > display.boxes[:, 0] + 1e-6).any(axis=1)
    assert len(outlines) == wide.sum()
    assert display.ax_.get_xlabel() == "feature 2"
    assert display.figure_ is display.ax_.figure
    assert sum(len(c.get_offsets()) for c in display.ax_.collections) == len(X)


def test_colours_follow_the_clusters(X: np.ndarray) -> None:
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = FuzzyART(0.7).fit(frame)
    display = CategoryDisplay.from_estimator(model)
    assert display.points is None
    ax = mpl.figure.Figure().subplots()
    assert display.plot(ax).ax_ is ax
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("a", "b")
    corners = {tuple(p.get_xy()): mpl.colors.to_hex(p.get_edgecolor()) for p in ax.patches[1::2]}
    for box, label in zip(display.boxes, display.labels, strict=True):
        if (box[1] > box[0] + 1e-6).any():
            assert corners[tuple(box[0])] == COLOURS[label].lower()


def test_a_box_without_extent_is_a_point() -> None:
    display = CategoryDisplay.from_estimator(FuzzyART(1.0).fit([[0.0, 0.0], [1.0, 2.0]])).plot()
    assert not display.ax_.patches
    assert len(display.ax_.lines) == 2


def test_two_features_are_needed(X: np.ndarray) -> None:
    with pytest.raises(ValueError, match="one feature; a box needs two"):
        CategoryDisplay.from_estimator(FuzzyART().fit(X[:, :1]))
    with pytest.raises(ValueError, match=r"features=\(0, 3\) must be two numbers.*0 to 2"):
        CategoryDisplay.from_estimator(FuzzyART().fit(X), features=(0, 3))
    with pytest.raises(ValueError, match="not fitted"):
        CategoryDisplay.from_estimator(FuzzyART())
