"""Pictures of categories."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import PathCollection, PolyCollection

from icvi_artmap import (
    ICVIARTMAP,
    CategoryDisplay,
    DualVigilanceFuzzyART,
    FuzzyART,
    FuzzyARTMAP,
)
from icvi_artmap._support.colours import COLOURS

mpl.use("Agg")


@pytest.fixture(autouse=True)
def closed_figures() -> Iterator[None]:
    yield
    mpl.pyplot.close("all")


def outlines(ax: Any) -> dict[tuple[float, float], str]:
    """Lower left corner of every box that is drawn as one, and its colour."""
    found = {}
    for part in ax.collections:
        if isinstance(part, PolyCollection) and len(part.get_facecolor()) == 0:
            (colour,) = part.get_edgecolor()
            for path in part.get_paths():
                found[tuple(path.vertices.min(axis=0))] = mpl.colors.to_hex(colour).upper()
    return found


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
    wide = (display.boxes[:, 1] > display.boxes[:, 0] + 1e-6).any(axis=1)
    assert set(outlines(display.ax_)) == set(map(tuple, display.boxes[wide, 0]))
    assert display.ax_.get_xlabel() == "feature 2"
    assert display.figure_ is display.ax_.figure
    points = [part for part in display.ax_.collections if isinstance(part, PathCollection)]
    drawn = np.concatenate([part.get_offsets() for part in points])
    np.testing.assert_array_equal(np.sort(drawn, axis=0), np.sort(X[:, [2, 0]], axis=0))


def test_colours_follow_the_clusters(X: np.ndarray) -> None:
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = FuzzyART(0.7).fit(frame)
    display = CategoryDisplay.from_estimator(model, features=(0, 1))
    assert display.points is None
    ax = mpl.figure.Figure().subplots()
    assert display.plot(ax).ax_ is ax
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("a", "b")
    corners = outlines(ax)
    for box, label in zip(display.boxes, display.labels, strict=True):
        if (box[1] > box[0] + 1e-6).any():
            assert corners[tuple(box[0])] == COLOURS[label]


def test_a_box_without_extent_is_a_point() -> None:
    display = CategoryDisplay.from_estimator(FuzzyART(1.0).fit([[0.0, 0.0], [1.0, 2.0]])).plot()
    assert not outlines(display.ax_)
    drawn = [line.get_xydata().tolist() for line in display.ax_.lines]
    assert drawn == [[[0.0, 0.0]], [[1.0, 2.0]]]


def test_two_features_are_needed(X: np.ndarray) -> None:
    with pytest.raises(ValueError, match="one feature; a picture needs two"):
        CategoryDisplay.from_estimator(FuzzyART().fit(X[:, :1]))
    with pytest.raises(
        ValueError, match=r"features=\(0, 3\) must be two different numbers.*0 to 2"
    ):
        CategoryDisplay.from_estimator(FuzzyART().fit(X), features=(0, 3))
    with pytest.raises(ValueError, match="not fitted"):
        CategoryDisplay.from_estimator(FuzzyART())
    with pytest.raises(ValueError, match="must be at least 1, got 0"):
        CategoryDisplay.from_estimator(FuzzyART().fit(X), X, max_points=0)


def test_samples_without_labels_and_a_part_of_many(X: np.ndarray) -> None:
    model = FuzzyART(0.7).fit(X)
    display = CategoryDisplay(model.categories_[:, :, :2], model.category_labels_, X[:, :2]).plot()
    (points,) = (part for part in display.ax_.collections if isinstance(part, PathCollection))
    assert mpl.colors.to_hex(points.get_facecolor()[0]) == "#000000"
    few = CategoryDisplay.from_estimator(model, X, max_points=30).plot()
    assert len(few.points) == 30
    assert few.ax_.get_title() == (f"{len(model.categories_)} categories, 30 of 60 samples drawn")


def test_the_two_most_telling_features_are_drawn() -> None:
    rng = np.random.RandomState(0)
    far = np.repeat([[0.0], [9.0]], 40, axis=0)
    noise = rng.normal(size=(80, 3))
    X = np.column_stack([noise[:, 0], far + noise[:, [1]] * 0.1, noise[:, 1], far * 2, noise[:, 2]])
    model = ICVIARTMAP(2, random_state=0).fit(X)
    assert CategoryDisplay.from_estimator(model, X).names == ("feature 1", "feature 3")
