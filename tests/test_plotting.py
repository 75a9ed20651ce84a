"""Pictures: what is drawn, where and in which colour."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import LineCollection, PathCollection, PolyCollection
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.datasets import make_moons
from sklearn.exceptions import NotFittedError

import icvi_artmap
from icvi_artmap import (
    ICVIARTMAP,
    CategoryDisplay,
    FuzzyART,
    FuzzyARTMAP,
    ICVIARTMAPSearch,
    IndexTraceDisplay,
    JoinsDisplay,
    MapFieldDisplay,
    PartitionDisplay,
    ProfileDisplay,
    SearchDisplay,
    SelectionDisplay,
    index_value,
)
from icvi_artmap._support.colours import COLOURS, GREY, style
from icvi_artmap._support.wording import counted, shortened
from icvi_artmap.estimators.components import Joins
from icvi_artmap.plotting import drawing, samples
from icvi_artmap.plotting.index_trace import thinned

mpl.use("Agg")
import matplotlib.pyplot as plt

NASTY = "<script>$x_1$</script> a_name of more than sixty letters that costs 5$ or 6$"


@pytest.fixture(autouse=True)
def closed_figures() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # missing glyphs, ignored labels, no room in the layout
        yield
    plt.close("all")


@pytest.fixture(scope="module", name="X")
def four_groups() -> NDArray[np.float64]:
    rng = np.random.default_rng(0)
    centres = np.array([[0.0, 0, 0, 5], [9, 0, 0, 5], [0, 9, 0, 5], [0, 0, 9, 5]])
    noise = rng.normal(size=(200, 4)) * [1, 1, 1, 0]  # the last feature is constant
    return np.repeat(centres, 50, axis=0) + noise


@pytest.fixture(scope="module", name="model")
def fitted_model(X: NDArray[np.float64]) -> ICVIARTMAP:
    return ICVIARTMAP(4, index="CH", rho_a=0.8, random_state=0).fit(X, trace=True)


def drawn_points(ax: Any) -> tuple[NDArray[np.float64], list[str], list[int]]:
    """Place, colour and number of corners of the mark of every sample, sorted by place."""
    places, shades, marks = [], [], []
    for part in ax.collections:
        if isinstance(part, PathCollection):
            offsets = np.asarray(part.get_offsets())
            places.append(offsets)
            rgba = np.broadcast_to(part.get_facecolor(), (len(offsets), 4))
            shades += [mpl.colors.to_hex(colour).upper() for colour in rgba]
            marks += [len(part.get_paths()[0].vertices)] * len(offsets)
    points = np.concatenate(places)
    order = np.lexsort(points.T)
    return points[order], [shades[i] for i in order], [marks[i] for i in order]


def texts(ax: Any) -> list[str]:
    return [text.get_text() for text in ax.texts]


def legend(ax: Any) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]


def rendered(figure: Any) -> None:
    """Draw, which is when formulas would be looked for and glyphs missed."""
    figure.canvas.draw()


def clipped(figure: Any) -> bool:
    """Whether anything drawn does not fit into the figure."""
    figure.canvas.draw()
    box = figure.get_tightbbox(figure.canvas.get_renderer())  # in inches
    width, height = figure.get_size_inches()
    return bool(min(box.x0, box.y0) < -0.01 or box.x1 > width + 0.01 or box.y1 > height + 0.01)


# --- names and places ----------------------------------------------------------------------------


def test_names_are_shortened_in_the_middle() -> None:
    assert shortened("short", 5) == "short"
    assert shortened("abcdefghij", 7) == "abc…hij"
    assert shortened("abcdefghij", 6) == "abc…ij"
    assert shortened(" a\n b\tc ", 10) == "a b c"
    assert len(shortened("x" * 100, 28)) == 28


@pytest.mark.parametrize("name", ["$x$", r"\$x$", "a$b", r"$$\frac{1}{0$", "_hidden", "<script>"])
def test_names_are_never_formulas(name: str) -> None:
    text = mpl.figure.Figure().subplots().text(0, 0, drawing.plain(name))
    assert text._preprocess_math(text.get_text()) == (name, False)


def test_counted() -> None:
    assert counted(1, "class") == "1 class"
    assert counted(2, "class") == "2 classes"
    assert counted(1200, "category") == "1,200 categories"
    assert counted(0, "sample") == "0 samples"


def test_labels_that_overlap_are_moved_apart() -> None:
    places = np.array([[50.0, 50.0], [50.0, 50.0], [52.0, 51.0], [99.0, 99.0], [10.0, 80.0]])
    width, height = np.array([10.0, 12.0, 8.0, 10.0, 10.0]), 6.0
    found = drawing.apart(places, width, height, (0.0, 0.0, 100.0, 100.0))
    for i in range(len(found)):
        assert width[i] / 2 <= found[i, 0] <= 100 - width[i] / 2
        for j in range(i):
            beside = abs(found[i, 0] - found[j, 0]) >= (width[i] + width[j]) / 2 - 1e-6
            assert beside or abs(found[i, 1] - found[j, 1]) >= height - 1e-6
    np.testing.assert_array_equal(found[4], places[4])
    assert np.abs(found[:3] - places[:3]).max() < 15.0


def test_a_choice_of_rows_leaves_out_no_cluster() -> None:
    labels = np.array(["large"] * 5000 + ["small"] * 12 + ["single"])
    rows = samples.chosen_rows(labels, 300)
    assert len(rows) == 300
    assert len(np.unique(rows)) == 300
    names, counts = np.unique(labels[rows], return_counts=True)
    found = dict(zip(names.tolist(), counts.tolist(), strict=True))
    assert found["single"] == 1
    assert found["small"] >= samples.FEWEST
    np.testing.assert_array_equal(rows, samples.chosen_rows(labels, 300))
    assert labels[samples.chosen_rows(labels, 3)].tolist() == ["large", "small", "single"]
    np.testing.assert_array_equal(samples.chosen_rows(labels[:5], 5), np.arange(5))


# --- partition -----------------------------------------------------------------------------------


def test_two_features_are_drawn_as_they_are(X: NDArray[np.float64]) -> None:
    labels = np.repeat([3, 0, 12, -1], 50)
    display = PartitionDisplay.from_labels(X[:, 1:3], labels).plot()
    points, shades, marks = drawn_points(display.ax_)
    order = np.lexsort(X[:, 1:3].T)
    np.testing.assert_array_equal(points, X[order, 1:3])
    expected = {3: COLOURS[3], 0: COLOURS[0], 12: COLOURS[12], -1: GREY}
    assert shades == [expected[label] for label in labels[order]]
    round_, square = marks[labels[order].tolist().index(0)], marks[labels[order].tolist().index(12)]
    assert round_ > square
    assert legend(display.ax_) == ["none (50)", "0 (50)", "3 (50)", "12 (50)"]
    assert display.ax_.get_legend().get_title().get_text() == "cluster (samples)"
    assert display.ax_.get_title() == "3 clusters, 200 samples"
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("feature 0", "feature 1")
    assert not clipped(display.figure_)


def test_more_features_by_principal_components(X: NDArray[np.float64], model: ICVIARTMAP) -> None:
    display = PartitionDisplay.from_estimator(model, X)
    standardised = np.zeros_like(X)
    standardised[:, :3] = (X[:, :3] - X[:, :3].mean(axis=0)) / X[:, :3].std(axis=0)
    u, s, _ = np.linalg.svd(standardised, full_matrices=False)
    np.testing.assert_allclose(np.abs(display.points), np.abs(u[:, :2] * s[:2]), atol=1e-9)
    share = s[:2] ** 2 / np.sum(s**2)
    assert display.names == (
        f"principal component 1 ({share[0]:.0%} of the variance)",
        f"principal component 2 ({share[1]:.0%} of the variance)",
    )
    np.testing.assert_array_equal(display.labels, model.labels_)
    np.testing.assert_array_equal(display.sizes, np.bincount(model.labels_))
    ax = display.plot().ax_
    assert ax.get_aspect() == 1.0
    assert ax.get_xlabel() == display.names[0]


def test_projection_by_neighbours(X: NDArray[np.float64]) -> None:
    labels = np.repeat(np.arange(4), 50)
    display = PartitionDisplay.from_labels(X, labels, projection="tsne", max_points=80)
    assert display.points.shape == (80, 2)
    assert display.names == ("t-SNE 1", "t-SNE 2")
    centres = np.array([display.points[display.labels == i].mean(axis=0) for i in range(4)])
    nearest = np.linalg.norm(display.points[:, None] - centres, axis=2).argmin(axis=1)
    assert (nearest == display.labels).mean() > 0.95
    with pytest.raises(ValueError, match=r"at least 4 samples, got 3. Use projection=\"pca\""):
        PartitionDisplay.from_labels(X[:3], [0, 0, 1], projection="tsne")


def test_two_chosen_features_with_boxes(X: NDArray[np.float64], model: ICVIARTMAP) -> None:
    frame = pd.DataFrame(X, columns=["a", "b", NASTY, "d"])
    named = ICVIARTMAP(4, index="CH", rho_a=0.8, random_state=0).fit(frame)
    display = PartitionDisplay.from_estimator(named, frame, projection=(2, 0), boxes=True)
    np.testing.assert_array_equal(display.points, X[:, [2, 0]])
    np.testing.assert_array_equal(display.boxes, named.categories_[:, :, [2, 0]])
    ax = display.plot().ax_
    assert ax.get_xlabel() == drawing.plain(shortened(NASTY, drawing.AXIS_LETTERS))
    assert "…" in ax.get_xlabel()
    assert ax.get_ylabel() == "a"
    assert not clipped(display.figure_)
    drawn = [part for part in ax.collections if isinstance(part, PolyCollection)]
    sides = np.ptp(display.boxes, axis=1)
    assert sum(len(part.get_paths()) for part in drawn) == 2 * (sides > 1e-6).any(axis=1).sum()
    with pytest.raises(ValueError, match=r"boxes=True needs features as axes.*projection=\(0, 1\)"):
        PartitionDisplay.from_estimator(model, X, boxes=True)


def test_training_data_get_the_labels_found_and_others_are_predicted() -> None:
    rng = np.random.default_rng(1)
    X = np.concatenate([rng.normal(size=(150, 2)), rng.normal(size=(150, 2)) + 1.5])
    model = ICVIARTMAP(3, index="CH", rho_ab=0.3, refine=False, random_state=0).fit(X)
    predicted = model.predict(X)
    assert (predicted != model.labels_).any()
    for table in (X, pd.DataFrame(X).to_numpy(np.float64), X.tolist()):
        display = PartitionDisplay.from_estimator(model, table)
        np.testing.assert_array_equal(display.labels, model.labels_)
    turned = PartitionDisplay.from_estimator(model, X[::-1])
    np.testing.assert_array_equal(turned.labels, predicted[::-1])
    part = PartitionDisplay.from_estimator(model, X[:100])
    np.testing.assert_array_equal(part.labels, predicted[:100])
    boxes = CategoryDisplay.from_estimator(model, X)
    np.testing.assert_array_equal(boxes.point_labels, model.labels_)


def test_training_data_of_single_precision_and_far_from_zero() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 3)) * [1e-3, 1.0, 1e3] + [1e4, -1e6, 1e9]
    for table in (X, X.astype(np.float32)):
        model = ICVIARTMAP(3, index="CH", rho_ab=0.3, refine=False, random_state=0).fit(table)
        assert (model.predict(table) != model.labels_).any()
        display = PartitionDisplay.from_estimator(model, table, projection=(0, 1))
        np.testing.assert_array_equal(display.labels, model.labels_)


def test_a_part_of_many_samples_is_drawn_and_the_title_says_so() -> None:
    X = np.random.default_rng(0).normal(size=(100_000, 3))
    labels = (X[:, 0] > 0).astype(int)
    labels[:5] = 2
    display = PartitionDisplay.from_labels(X, labels).plot()
    points, shades, _ = drawn_points(display.ax_)
    assert len(points) == samples.MOST_POINTS
    assert shades.count(COLOURS[2]) == 5
    assert display.ax_.get_title() == "3 clusters, 10,000 of 100,000 samples drawn"
    assert legend(display.ax_)[2] == "2 (5)"
    assert sum(display.sizes) == 100_000


def test_samples_that_are_drawn_keep_their_clusters(
    X: NDArray[np.float64], model: ICVIARTMAP
) -> None:
    cluster = {tuple(x): label for x, label in zip(X[:, :2], model.labels_, strict=True)}
    options: dict[str, Any] = {"projection": (0, 1), "max_points": 60}
    boxes = CategoryDisplay.from_estimator(model, X, max_points=60)
    for points, labels in (
        *(
            (display.points, display.labels)
            for display in (
                PartitionDisplay.from_estimator(model, X, **options),
                PartitionDisplay.from_labels(X, model.labels_, **options),
            )
        ),
        (boxes.points, boxes.point_labels),
    ):
        assert len(points) == 60
        assert [cluster[tuple(point)] for point in points] == labels.tolist()


def test_many_clusters_are_named_in_the_picture() -> None:
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(40), 20)
    X = rng.uniform(-20, 20, size=(40, 2))[labels] + rng.normal(size=(800, 2))
    display = PartitionDisplay.from_labels(X, labels).plot()
    assert display.ax_.get_legend() is None
    assert texts(display.ax_) == [str(i) for i in range(40)]
    for i, text in enumerate(display.ax_.texts):
        np.testing.assert_allclose(text.xy, np.median(X[labels == i], axis=0))
        edge = mpl.colors.to_hex(text.get_bbox_patch().get_edgecolor()).upper()
        assert edge == style(i).colour
    assert not clipped(display.figure_)


def test_many_clusters_with_long_names() -> None:
    names = np.array([f"_{i:02d} {NASTY}" for i in range(40)])
    X = np.random.default_rng(0).normal(size=(400, 2))
    display = PartitionDisplay.from_labels(X, np.tile(names, 10)).plot()
    assert texts(display.ax_) == [str(i) for i in range(40)]
    short = drawing.plain(shortened(names[7], drawing.LEGEND_LETTERS))
    assert legend(display.ax_)[7] == f"7: {short} (10)"
    assert not clipped(display.figure_)


def test_of_very_many_long_names_some_are_left_out() -> None:
    names = np.array([f"name {i:03d}" for i in range(100)])
    X = np.random.default_rng(0).normal(size=(100, 2))
    ax = PartitionDisplay.from_labels(X, names).plot().ax_
    assert len(legend(ax)) == 66
    title = ax.get_legend().get_title().get_text()
    assert title == "cluster (samples), the first 66; 34 more"


def test_names_that_begin_with_an_underscore_are_in_the_legend() -> None:
    X = np.random.default_rng(0).normal(size=(4, 2))
    display = PartitionDisplay.from_labels(X, ["_a", "_a", "$b$", "c"]).plot()
    assert legend(display.ax_) == [r"\$b\$ (1)", "_a (2)", "c (1)"]
    rendered(display.figure_)


def test_axes_and_options_of_the_user(X: NDArray[np.float64]) -> None:
    figure, axes = plt.subplots(1, 2)
    display = PartitionDisplay.from_labels(X, np.zeros(200, int)).plot(axes[1], s=50)
    assert display.ax_ is axes[1]
    assert display.figure_ is figure
    assert not axes[0].collections
    assert axes[1].collections[0].get_sizes().tolist() == [50]
    # Without a layout that makes room for it the legend is inside.
    rendered(figure)
    frame = display.ax_.get_window_extent()
    box = display.ax_.get_legend().get_window_extent()
    assert frame.x0 <= box.x0
    assert box.x1 <= frame.x1


def test_a_search_and_an_estimator_of_others(X: NDArray[np.float64]) -> None:
    search = ICVIARTMAPSearch(ICVIARTMAP(4, index="CH"), rho_a=[0.5], rho_ab=[1], random_state=0)
    display = PartitionDisplay.from_estimator(search.fit(X), X)
    np.testing.assert_array_equal(display.labels, search.labels_)
    kmeans = KMeans(4, n_init=1, random_state=0).fit(X)
    np.testing.assert_array_equal(PartitionDisplay.from_estimator(kmeans, X).labels, kmeans.labels_)


@pytest.mark.parametrize(
    ("labels", "options", "message"),
    [
        ([0, 1], {}, r"labels have shape \(2,\), but X has 3 samples: \(3,\) is expected"),
        ([[0], [1], [1]], {}, r"labels have shape \(3, 1\)"),
        ([0.0, np.nan, 1.0], {}, "labels contain NaN or infinity"),
        ([0, 1, 1], {"projection": "umap"}, "projection='umap' is unknown"),
        ([0, 1, 1], {"projection": (0, 3)}, r"projection=\(0, 3\) must be two.*0 to 2"),
        ([0, 1, 1], {"projection": (0, 0)}, r"must be two different numbers"),
        ([0, 1, 1], {"projection": (0, 1, 2)}, r"must be two different numbers"),
        ([0, 1, 1], {"projection": (0.0, 1.5)}, r"must be two different numbers"),
        ([0, 1, 1], {"projection": 1}, r"must be two different numbers"),
        ([0, 1, 1], {"max_points": 0}, "max_points must be at least 1, got 0"),
    ],
)
def test_wrong_labels_and_options(labels: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        PartitionDisplay.from_labels(np.eye(3), labels, **options)


def test_wrong_data(X: NDArray[np.float64], model: ICVIARTMAP) -> None:
    with pytest.raises(ValueError, match="one feature; a picture of the partition needs two"):
        PartitionDisplay.from_labels(X[:, :1], np.zeros(200))
    with pytest.raises(ValueError, match="Expected 2D array, got 1D array"):
        PartitionDisplay.from_labels(X[:, 0], np.zeros(200))
    with pytest.raises(ValueError, match=r"3 features.*expecting 4"):
        PartitionDisplay.from_estimator(model, X[:, :3])
    with pytest.raises(ValueError, match="contains NaN"):
        PartitionDisplay.from_estimator(model, np.full((3, 4), np.nan))
    with pytest.raises(ValueError, match=r"Label 5 is not among the clusters"):
        PartitionDisplay(X[:2, :2], np.array([0, 5]), clusters=np.arange(3))


@pytest.mark.parametrize(
    "make",
    [
        lambda m: PartitionDisplay.from_estimator(m, [[0.0, 1.0]]),
        lambda m: CategoryDisplay.from_estimator(m),
        lambda m: IndexTraceDisplay.from_estimator(m),
        lambda m: JoinsDisplay.from_estimator(m),
        lambda m: MapFieldDisplay.from_estimator(m),
        lambda m: SelectionDisplay.from_estimator(m),
        lambda m: ProfileDisplay.from_estimator(m),
        lambda m: SearchDisplay.from_estimator(m),
    ],
)
@pytest.mark.parametrize("estimator", [ICVIARTMAP(), ICVIARTMAPSearch()])
def test_estimators_must_be_fitted(make: Any, estimator: Any) -> None:
    with pytest.raises(NotFittedError, match="not fitted"):
        make(estimator)


# --- the same colours everywhere -----------------------------------------------------------------


def test_a_cluster_has_the_same_colour_in_all_pictures() -> None:
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(12), 20)
    X = 20.0 * rng.normal(size=(12, 2))[labels] + rng.normal(size=(240, 2))
    model = ICVIARTMAP(12, index="CH", rho_a=0.7, random_state=0).fit(X)
    k = model.n_clusters_
    expected = [style(i).colour for i in range(k)]
    place = {tuple(x): expected[label] for x, label in zip(X, model.labels_, strict=True)}
    # Also where the samples of some clusters are missing.
    some = np.isin(model.labels_, [1, 5, 11])
    for display in (
        PartitionDisplay.from_estimator(model, X),
        PartitionDisplay.from_estimator(model, X[some]),
        PartitionDisplay.from_labels(X[some], model.labels_[some]),
        CategoryDisplay.from_estimator(model, X),
    ):
        points, shades, _ = drawn_points(display.plot().ax_)
        assert shades == [place[tuple(point)] for point in points]
    profile = ProfileDisplay.from_estimator(model).plot()
    field = MapFieldDisplay.from_estimator(model).plot()
    for display in (profile, field):
        strip = display.ax_.collections[-1]
        assert [mpl.colors.to_hex(c).upper() for c in strip.get_facecolor()] == expected
    blocks = field.ax_.collections[0]
    assert [mpl.colors.to_hex(c).upper() for c in blocks.get_facecolor()] == expected


def test_classes_have_the_same_colour_where_some_are_missing(X: NDArray[np.float64]) -> None:
    names = np.repeat(["ant", "bee", "cat", "dog"], 50)
    model = FuzzyARTMAP(0.7).fit(X, names)
    display = PartitionDisplay.from_estimator(model, X[100:], projection=(0, 1)).plot()
    _, shades, _ = drawn_points(display.ax_)
    assert set(shades) == {COLOURS[2], COLOURS[3]}
    assert legend(display.ax_) == ["cat (50)", "dog (50)"]
    assert display.ax_.get_legend().get_title().get_text() == "class (samples)"
    assert display.ax_.get_title() == "2 classes, 100 samples"


# --- index trace ---------------------------------------------------------------------------------


def test_trace_by_hand() -> None:
    """Two epochs of three samples; merges and splits make the value at their ends another one."""
    trace = np.array([2.0, 3.0, 4.0, 6.0, 7.0, np.inf])
    history = np.array([1.0, 5.0, 8.0])
    display = IndexTraceDisplay(
        trace,
        history,
        np.array([2, 0]),
        np.array([1, 1]),
        index_name="$a_b$",
        direction=1,
        refined=9.0,
        reference=8.5,
    ).plot()
    ax = display.ax_
    curve = next(line for line in ax.lines if len(line.get_xdata()) == 9)
    assert curve.get_xdata().tolist() == [0, 1, 2, 3, 3, 4, 5, 6, 6]
    np.testing.assert_array_equal(curve.get_ydata(), [1, 2, 3, 4, 5, 6, 7, np.nan, 8])
    found = {tuple(map(tuple, line.get_xydata())) for line in ax.lines}
    assert ((3.0, 0.0), (3.0, 1.0)) in found  # ends of epochs
    assert ((6.0, 0.0), (6.0, 1.0)) in found
    assert ((3.0, 5.0),) in found  # merges
    assert ((3.0, 5.0), (6.0, 8.0)) in found  # splits
    assert ((6.0, 9.0),) in found  # refined
    (dashed,) = (line for line in ax.lines if line.get_linestyle() == "--")
    assert dashed.get_ydata() == [8.5, 8.5]
    assert legend(ax) == ["2 merges", "2 splits", "refined: 9", "reference: 8.5"]
    assert ax.get_ylabel() == r"\$a_b\$ (greater is better)"
    assert ax.get_title() == "2 epochs: from 1 to 8"
    assert not clipped(display.figure_)


def test_trace_of_a_fit(X: NDArray[np.float64], model: ICVIARTMAP) -> None:
    labels = np.repeat(["a", "b", "c", "d"], 50)
    display = IndexTraceDisplay.from_estimator(model, X, reference=labels)
    np.testing.assert_array_equal(display.trace, model.index_trace_)
    np.testing.assert_array_equal(display.history, model.index_history_[: model.n_iter_ + 1])
    np.testing.assert_array_equal(display.merges, model.history_["merges"])
    np.testing.assert_array_equal(display.splits, model.history_["splits"])
    assert display.refined == model.index_value_
    assert display.reference == index_value(X, labels, "CH")
    assert (display.index_name, display.direction) == ("CH", 1)
    plain = ICVIARTMAP(4, index="CH", refine=False, random_state=0).fit(X, trace=True)
    again = IndexTraceDisplay.from_estimator(plain, reference=3)
    assert again.refined is None
    assert again.reference == 3.0
    assert IndexTraceDisplay.from_estimator(plain).plot().ax_.get_legend() is None


def test_a_trace_needs_what_it_draws(X: NDArray[np.float64], model: ICVIARTMAP) -> None:
    silent = ICVIARTMAP(4, index="CH", random_state=0).fit(X)
    with pytest.raises(ValueError, match=r"kept no index values.*model.fit\(X, trace=True\)"):
        IndexTraceDisplay.from_estimator(silent)
    with pytest.raises(ValueError, match=r"computed from the data. Pass them"):
        IndexTraceDisplay.from_estimator(model, reference=model.labels_)
    with pytest.raises(ValueError, match=r"X has shape \(10, 4\).*fitted to data of shape"):
        IndexTraceDisplay.from_estimator(model, X[:10], reference=model.labels_[:10])
    with pytest.raises(ValueError, match=r"labels have shape \(3,\)"):
        IndexTraceDisplay.from_estimator(model, X, reference=[0, 1, 2])
    with pytest.raises(TypeError, match="reference must be a number or labels, got 'best'"):
        IndexTraceDisplay.from_estimator(model, X, reference="best")


def test_a_long_line_keeps_its_extremes() -> None:
    y = np.sin(np.linspace(0, 50, 1_000_000))
    y[[123_456, 765_432]] = -9.0, 9.0
    y[500_000] = -np.inf
    x, shown = thinned(np.arange(1e6), y, 4000)
    assert len(x) <= 4000
    assert (np.diff(x) > 0).all()
    assert (x[0], x[-1]) == (0.0, 999_999.0)
    np.testing.assert_array_equal(shown[np.isin(x, [123_456, 765_432])], [-9.0, 9.0])
    assert not np.isinf(shown).any()
    short = thinned(np.arange(3.0), np.array([1.0, np.inf, 2.0]), 4000)
    np.testing.assert_array_equal(short[1], [1.0, np.nan, 2.0])


def test_a_fit_of_many_epochs_has_no_forest_of_lines() -> None:
    n = 1000
    zeros = np.zeros(n, int)
    display = IndexTraceDisplay(
        np.ones(5 * n), np.ones(n + 1), zeros, zeros, index_name="CH", direction=1
    ).plot()
    assert len(display.ax_.lines) <= 41


# --- map field -----------------------------------------------------------------------------------


def test_map_field_by_hand() -> None:
    """Sorted by cluster, then by size; the cells of the clusters predicted in their colours."""
    weights = np.array([[0.2, 1.0], [1.0, 0.3], [0.4, 0.9], [0.8, 0.1]])
    display = MapFieldDisplay(weights, np.array([1, 0, 1, 0]), sizes=np.array([5, 3, 6, 9])).plot()
    assert display.order.tolist() == [3, 1, 2, 0]
    np.testing.assert_array_equal(display.im_.get_array(), weights[[3, 1, 2, 0]])
    assert [t.get_text() for t in display.ax_.get_yticklabels()] == ["3", "1", "2", "0"]
    assert [t.get_text() for t in display.ax_.get_xticklabels()] == ["0", "1"]
    blocks = display.ax_.collections[0].get_paths()
    corners = [(p.vertices.min(axis=0).tolist(), p.vertices.max(axis=0).tolist()) for p in blocks]
    assert corners == [([-0.5, -0.5], [0.5, 1.5]), ([0.5, 1.5], [1.5, 3.5])]
    assert display.ax_.get_title() == "4 categories, 2 clusters"


def test_map_field_of_estimators(X: NDArray[np.float64], model: ICVIARTMAP) -> None:
    display = MapFieldDisplay.from_estimator(model)
    np.testing.assert_array_equal(display.map_field, model.map_field_)
    np.testing.assert_array_equal(display.sizes, np.bincount(model.sample_categories_))
    labels = model.category_labels_[display.order]
    assert (np.diff(labels) >= 0).all()
    with pytest.raises(TypeError, match="FuzzyART has no map field"):
        MapFieldDisplay.from_estimator(FuzzyART().fit(X))


def test_map_field_of_hundreds_of_categories_and_long_names() -> None:
    rng = np.random.default_rng(0)
    names = np.array([f"{i:02d} {NASTY}" for i in range(40)])
    y = np.repeat(names, 15)
    model = FuzzyARTMAP(0.95).fit(rng.normal(size=(600, 3)), y)
    display = MapFieldDisplay.from_estimator(model).plot()
    assert len(display.order) > 300
    assert display.ax_.get_yticklabels() == []
    ticks = display.ax_.get_xticklabels()
    assert len(ticks) == 40
    assert ticks[3].get_text() == drawing.plain(shortened(names[3], 28))
    assert ticks[3].get_rotation() == 90
    assert display.ax_.get_xlabel() == "class"
    assert not clipped(display.figure_)


# --- selection and search ------------------------------------------------------------------------


def test_selection() -> None:
    k, criterion = np.arange(2, 7), np.array([np.inf, 5.0, 1.0, 3.5, 2.25])
    selection: Any = SimpleNamespace(
        k=k, criterion=criterion, n_clusters=4, rule="-CH", clear=False, single=False
    )
    display = SelectionDisplay.from_selection(selection).plot()
    line, won, second = display.ax_.lines
    np.testing.assert_array_equal(line.get_xdata(), k)
    np.testing.assert_array_equal(line.get_ydata(), [np.nan, 5.0, 1.0, 3.5, 2.25])
    assert won.get_xydata().tolist() == [[4.0, 1.0]]
    assert second.get_xydata().tolist() == [[6.0, 2.25]]
    assert legend(display.ax_) == [
        "chosen: k = 4 (not a clear choice)",
        "runner-up: k = 6, worse by 1.25",
    ]
    assert display.ax_.get_ylabel() == "-CH (least wins)"
    assert not clipped(display.figure_)
    alone = SelectionDisplay(np.array([3]), np.array([1.0]), 3, "-CH").plot()
    assert legend(alone.ax_) == ["chosen: k = 3"]


def test_selection_of_an_estimator(X: NDArray[np.float64], model: ICVIARTMAP) -> None:
    chosen = ICVIARTMAP(range(3, 6), index="CH", refine=False, random_state=0).fit(X)
    display = SelectionDisplay.from_estimator(chosen)
    assert display.k.tolist() == [3, 4, 5]
    assert display.n_clusters == chosen.n_clusters_
    with pytest.raises(ValueError, match="no number of clusters to choose"):
        SelectionDisplay.from_estimator(model)


def test_search(X: NDArray[np.float64]) -> None:
    template = ICVIARTMAP(4, index="CH", refine=False)
    search = ICVIARTMAPSearch(template, rho_a=[0.6, 0.0], rho_ab=[0.7, 1], random_state=0).fit(X)
    display = SearchDisplay.from_estimator(search).plot()
    table = search.results_.to_pandas().pivot(index="rho_ab", columns="rho_a", values="index_value")
    np.testing.assert_array_equal(display.values, table.to_numpy())
    np.testing.assert_array_equal(display.im_.get_array(), table.to_numpy())
    assert display.values[display.best] == display.values.max()
    assert display.rho_a.tolist() == [0.0, 0.6]
    assert display.rho_ab.tolist() == [0.7, 1.0]
    (star,) = display.ax_.lines
    assert star.get_xydata().tolist() == [list(display.best[::-1])]
    assert not clipped(display.figure_)
    with pytest.raises(ValueError, match="no runs with index 'NI'"):
        SearchDisplay.from_estimator(search, index="NI")


# --- profiles ------------------------------------------------------------------------------------


def test_profiles_by_hand() -> None:
    """Feature 1 is telling, 0 less so, 2 is constant: means in deviations."""
    X = np.array([[0.0, 0.0, 7.0], [2.0, 0.0, 7.0], [2.0, 4.0, 7.0], [4.0, 4.0, 7.0]])
    display = ProfileDisplay.from_labels(X, ["a", "a", "b", "b"])
    np.testing.assert_allclose(
        display.means, [[-1 / np.sqrt(2), -1.0, 0.0], [1 / np.sqrt(2), 1.0, 0.0]]
    )
    np.testing.assert_allclose(display.variance_share, [0.5, 1.0, 0.0])
    assert display.order.tolist() == [1, 0, 2]
    ax = display.plot().ax_
    np.testing.assert_array_equal(display.im_.get_array(), display.means[:, [1, 0, 2]].T)
    assert [t.get_text() for t in ax.get_yticklabels()] == ["feature 1", "feature 0", "feature 2"]
    assert [t.get_text() for t in ax.get_xticklabels()] == ["a", "b"]
    assert texts(ax) == ["\N{MINUS SIGN}1.0", "1.0", "\N{MINUS SIGN}0.7", "0.7", "0.0", "0.0"]
    assert ax.get_title() == "3 features"
    few = display.plot(max_features=1)
    assert few.im_.get_array().shape == (1, 2)
    assert few.ax_.get_title() == (
        "1 of 3 features shown\nothers: at most 50% of the variance between clusters"
    )


def test_profiles_of_an_estimator(X: NDArray[np.float64], model: ICVIARTMAP) -> None:
    ours = ProfileDisplay.from_estimator(model)
    same = ProfileDisplay.from_labels(X, model.labels_)
    np.testing.assert_allclose(ours.means, same.means, atol=1e-9)
    np.testing.assert_array_equal(ours.sizes, same.sizes)
    np.testing.assert_allclose(ours.variance_share, same.variance_share, atol=1e-9)
    assert ours.means.base is None  # nothing of the model can be changed through the display
    with pytest.raises(TypeError, match=r"keeps no means.*from_labels\(X, model.predict\(X\)\)"):
        ProfileDisplay.from_estimator(FuzzyART().fit(X))
    with pytest.raises(ValueError, match="max_features must be at least 1"):
        ours.plot(max_features=0)


def test_profiles_of_many_clusters_and_features() -> None:
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(40), 10)
    X = rng.normal(size=(40, 50))[labels] + rng.normal(size=(400, 50))
    X[:, 20] += 100.0 * (labels == 3)
    frame = pd.DataFrame(X, columns=[f"{i:02d} {NASTY}" for i in range(50)])
    display = ProfileDisplay.from_labels(frame, labels).plot()
    assert display.im_.get_array().shape == (30, 40)
    assert len(texts(display.ax_)) == 1200
    first = display.ax_.get_yticklabels()[0].get_text()
    assert first == drawing.plain(shortened(f"20 {NASTY}", 28))
    assert display.im_.get_clim() == (-3.0, 3.0)
    assert not clipped(display.figure_)
    # A picture that is too small for them has no values.
    small = plt.figure(figsize=(3, 3)).subplots()
    assert texts(display.plot(small).ax_) == []


# --- components and joins ------------------------------------------------------------------------


@pytest.fixture(scope="module", name="joined")
def joined_model() -> tuple[NDArray[np.float64], ICVIARTMAP]:
    X = make_moons(300, noise=0.05, random_state=0)[0]
    return X, ICVIARTMAP(2, shape="any", random_state=0).fit(X)


def lines_by_colour(ax: Any) -> dict[tuple[str, bool], list[list[list[float]]]]:
    """The corners of all lines drawn, by their colour and whether they are dashed."""
    found = {}
    for part in ax.collections:
        if isinstance(part, LineCollection) and part.get_segments():
            (dashes,) = {style[1] is not None for style in part.get_linestyle()}
            colour = mpl.colors.to_hex(part.get_colors()[0]).upper()
            found[colour, dashes] = [line.tolist() for line in part.get_segments()]
    return found


def test_joins_by_hand() -> None:
    joins = Joins(
        first=np.array([0, 1, 1, 0]),
        second=np.array([3, 2, 4, 1]),
        prominence=np.array([-0.5, 1.0, 0.4, 3.0]),
        evidence=np.array([-0.5, 2.0, 2.5, 9.0]),
        made=np.array([True, True, True, False]),
        clusters=np.array([1, 0, 0, 1, 0]),
    )
    ax = joins.plot()
    assert lines_by_colour(ax) == {
        # 1 and 2, then 4: its valley is the shallower one, but the line does not go down.
        (COLOURS[0], False): [
            [[2, 0], [2, 1], [3, 1], [3, 0]],
            [[2.5, 1], [2.5, 1], [4, 1], [4, 0]],
        ],
        # Components 0 and 3: no valley at all.
        (COLOURS[1], False): [[[0, 0], [0, 0], [1, 0], [1, 0]]],
        (GREY, True): [[[0.5, 0], [0.5, 3], [3.25, 3], [3.25, 1]]],
    }
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["0", "3", "1", "2", "4"]
    strip = next(part for part in ax.collections if isinstance(part, PolyCollection))
    shades = [mpl.colors.to_hex(colour).upper() for colour in strip.get_facecolor()]
    assert shades == [COLOURS[i] for i in (1, 1, 0, 0, 0)]
    assert ax.get_title() == "5 components joined to 2 clusters"
    assert legend(ax) == ["0", "1"]
    assert not clipped(ax.figure)


def test_joins_of_an_estimator(
    joined: tuple[NDArray[np.float64], ICVIARTMAP], model: ICVIARTMAP
) -> None:
    display = JoinsDisplay.from_estimator(joined[1])
    assert display.clusters is joined[1].components_.clusters
    assert np.count_nonzero(~display.made) == 1
    ax = plt.figure().subplots()
    assert display.plot(ax).ax_ is ax
    with pytest.raises(ValueError, match="not joined of components"):
        JoinsDisplay.from_estimator(model)


def test_joins_of_many_components_have_no_numbers() -> None:
    n = 100
    first, second = np.zeros(n - 1, np.int64), np.arange(1, n)
    made = second < 60  # the others are clusters of their own
    clusters = np.append(np.zeros(60, np.int64), np.arange(1, 41))
    display = JoinsDisplay(first, second, np.linspace(0.0, 5.0, n - 1), made, clusters).plot()
    assert display.ax_.get_xticklabels() == []
    assert sorted(texts(display.ax_), key=int) == [str(i) for i in range(41)]
    assert not clipped(display.figure_)


def outlines(ax: Any) -> dict[str, NDArray[np.float64]]:
    """Corners of the shapes drawn, by the colour of their outline."""
    return {
        mpl.colors.to_hex(part.get_edgecolor()[0]).upper(): np.stack(
            [path.vertices[:-1] for path in part.get_paths()]
        )
        for part in ax.collections
        if isinstance(part, PolyCollection) and part.get_paths()
    }


def deviations_from(
    corners: NDArray[np.float64], mean: NDArray[np.float64], covariance: NDArray[np.float64]
) -> NDArray[np.float64]:
    from_mean = corners - mean
    return np.sqrt((from_mean * np.linalg.solve(covariance, from_mean.T).T).sum(axis=1))


def test_components_are_drawn_at_one_deviation(
    joined: tuple[NDArray[np.float64], ICVIARTMAP], model: ICVIARTMAP, X: NDArray[np.float64]
) -> None:
    moons, fitted = joined
    found = outlines(PartitionDisplay.from_estimator(fitted, moons).plot().ax_)
    components = fitted.components_
    assert set(found) == set(COLOURS[:2])
    for cluster in range(2):
        own = np.flatnonzero(components.clusters == cluster)
        shapes = found[COLOURS[cluster]]
        assert len(shapes) == len(own)
        for corners, i in zip(shapes, own, strict=True):
            far = deviations_from(corners, components.means[i], components.covariances[i])
            np.testing.assert_allclose(far, 1.0)
    assert outlines(PartitionDisplay.from_estimator(model, X).plot().ax_) == {}


def test_components_in_other_planes(joined: tuple[NDArray[np.float64], ICVIARTMAP]) -> None:
    moons, _ = joined
    rng = np.random.default_rng(0)
    X = np.column_stack([moons, moons @ [1.0, -2.0] + rng.normal(0.0, 0.1, 300)]) * [1.0, 9.0, 3.0]
    fitted = ICVIARTMAP(2, shape="any", random_state=0).fit(X)
    chosen = PartitionDisplay.from_estimator(fitted, X, projection=(2, 0)).components
    np.testing.assert_array_equal(chosen.means, fitted.components_.means[:, [2, 0]])
    np.testing.assert_allclose(
        chosen.covariances, fitted.components_.covariances[:, [2, 0]][:, :, [2, 0]]
    )
    display = PartitionDisplay.from_estimator(fitted, X)
    assert display.components is not None
    for i, place in enumerate(display.components.means):
        own = display.points[fitted.components_.labels == i]
        np.testing.assert_allclose(own.mean(axis=0), place, atol=1e-9)
    neighbours = PartitionDisplay.from_estimator(fitted, X, projection="tsne", max_points=50)
    assert neighbours.components is None


# --- the package ---------------------------------------------------------------------------------


def test_all_displays_are_public_and_work_alike() -> None:
    displays = [name for name in icvi_artmap.__all__ if name.endswith("Display")]
    assert len(displays) == 9
    for name in displays:
        display = getattr(icvi_artmap, name)
        assert display.__module__.startswith("icvi_artmap.plotting.")
        assert callable(display.plot)
        assert any(method.startswith("from_") for method in dir(display))


def test_matplotlib_is_imported_when_something_is_drawn() -> None:
    program = (
        "import sys, numpy as np, icvi_artmap\n"
        "for name in icvi_artmap.__all__: getattr(icvi_artmap, name)\n"
        "icvi_artmap.PartitionDisplay.from_labels(np.eye(3), [0, 1, 1])\n"
        "print('matplotlib' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "False\n", done.stderr
