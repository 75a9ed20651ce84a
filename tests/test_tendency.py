"""VAT and iVAT equal their plain twins, keep no matrix, and draw what they say."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Iterator

import matplotlib
import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

import oracle

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from icvi_artmap import VATDisplay, ivat, vat
from icvi_artmap.tendency import distances
from icvi_artmap.tendency import vat as ordering

nojit = pytest.mark.nojit


def make_data(kind: str, n: int, d: int, seed: int) -> np.ndarray:
    """Random points; points with many equal distances; the same points several times; a point."""
    rng = np.random.default_rng(seed)
    if kind == "grid":
        return rng.integers(0, 4, size=(n, d)).astype(float)
    if kind == "line":
        return np.repeat(rng.permutation(n).astype(float)[:, None], d, axis=1)
    if kind == "duplicates":
        return rng.normal(size=(max(1, n // 3), d))[rng.integers(0, max(1, n // 3), n)]
    if kind == "constant":
        return np.full((n, d), 0.1)
    return rng.normal(size=(n, d))


KINDS = ("random", "grid", "line", "duplicates", "constant")


@pytest.fixture
def closed_figures() -> Iterator[None]:
    yield
    plt.close("all")


@nojit
def test_values_by_hand() -> None:
    X = [[0.0], [10.0], [1.0], [11.0]]
    order, ordered = vat(X, return_distances=True)
    np.testing.assert_array_equal(order, [0, 2, 1, 3])
    np.testing.assert_array_equal(ordered[0], [0.0, 1.0, 10.0, 11.0])
    np.testing.assert_array_equal(ivat(X), [[0, 1, 9, 9], [1, 0, 9, 9], [9, 9, 0, 1], [9, 9, 1, 0]])


@nojit
def test_ties_go_to_the_first_row() -> None:
    # Corners of a square, the diagonals are 0-2 and 1-3: row 0, then of its neighbours 1.
    X = [[0.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 0.0]]
    np.testing.assert_array_equal(vat(X), [0, 1, 2, 3])
    # The same with the middle in front: the largest distance is 1-3 now.
    np.testing.assert_array_equal(vat([[0.5, 0.5], *X]), [1, 0, 2, 3, 4])


@nojit
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n", "d"), [(1, 1), (2, 3), (3, 1), (17, 2), (40, 5)])
def test_order_and_paths_equal_the_oracle(kind: str, n: int, d: int) -> None:
    check_against_oracle(make_data(kind, n, d, n + d))


@given(
    kind=st.sampled_from(KINDS),
    n=st.integers(1, 60),
    d=st.integers(1, 30),
    seed=st.integers(0, 2**32 - 1),
)
def test_order_and_paths_equal_the_oracle_on_any_data(kind: str, n: int, d: int, seed: int) -> None:
    check_against_oracle(make_data(kind, n, d, seed))


def check_against_oracle(X: np.ndarray) -> None:
    squared = oracle.squared_euclidean(X)
    expected = oracle.vat(squared)
    order, ordered = vat(X, return_distances=True)
    np.testing.assert_array_equal(order, expected)
    np.testing.assert_array_equal(vat(X), expected)
    D = np.sqrt(squared)[np.ix_(expected, expected)]
    np.testing.assert_array_equal(ordered, D)
    np.testing.assert_array_equal(ivat(X), oracle.path_distances(D))
    # Squared distances are as good as distances to give, and make the same ties.
    np.testing.assert_array_equal(vat(squared, metric="precomputed"), expected)
    given_order, given_ordered = vat(squared, metric="precomputed", return_distances=True)
    np.testing.assert_array_equal(given_order, expected)
    np.testing.assert_array_equal(given_ordered, squared[np.ix_(expected, expected)])
    paths = oracle.path_distances(squared)[np.ix_(expected, expected)]
    np.testing.assert_array_equal(ivat(squared, metric="precomputed"), paths)


@pytest.mark.parametrize("kind", KINDS)
def test_blocks_tiles_and_chunks_change_nothing(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    n = 2 * distances.BLOCK + 37
    X = make_data(kind, n, 3, 0)
    whole = vat(X)
    squared = oracle.squared_euclidean(X)
    np.testing.assert_array_equal(whole, vat(squared, metric="precomputed"))
    monkeypatch.setattr(distances, "WORK", 7 * n * 3)  # not a multiple of the tile
    np.testing.assert_array_equal(vat(X), whole)
    ordered = vat(X, return_distances=True)[1]
    np.testing.assert_array_equal(ordered, np.sqrt(squared)[np.ix_(whole, whole)])


@pytest.mark.parametrize("seed", range(3))
def test_the_next_one_is_the_nearest(seed: int) -> None:
    X = make_data("random", distances.BLOCK + 88, 4, seed)
    D = oracle.squared_euclidean(X)
    order = vat(X)
    np.testing.assert_array_equal(np.sort(order), np.arange(len(X)))
    assert D[order[0]].max() == D.max()
    for at in range(1, len(X)):
        to_ordered = D[np.ix_(order[at:], order[:at])].min(axis=1)
        assert to_ordered[0] == to_ordered.min()


@nojit
def test_order_does_not_depend_on_units_or_offset() -> None:
    X = make_data("random", 30, 3, 0)
    for factor in (2.0**-1000, 2.0**-500, 2.0**500, 2.0**1000):
        np.testing.assert_array_equal(vat(X * factor), vat(X))
        np.testing.assert_array_equal(ivat(X * factor), ivat(X) * factor)
    whole = np.round(1000 * X)
    np.testing.assert_array_equal(vat(whole + 2.0**40), vat(whole))


@nojit
@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
def test_other_arrays(metric: str) -> None:
    X = make_data("grid", 25, 3, 0)
    data = X if metric == "euclidean" else oracle.squared_euclidean(X)
    expected = vat(data, metric=metric)
    frozen = data.copy()
    frozen.flags.writeable = False
    untouched = data.copy()
    for other in (data.astype(np.float32), data.astype(int), frozen, np.asfortranarray(data)):
        np.testing.assert_array_equal(vat(other, metric=metric), expected)
    np.testing.assert_array_equal(vat(data.tolist(), metric=metric), expected)
    np.testing.assert_array_equal(data, untouched)


def test_no_matrix_is_made() -> None:
    X = make_data("random", 4000, 10, 0)  # 0.3 MB; a matrix would have 128 MB
    vat(X[:20])
    vat(X[:20], return_distances=True)
    tracemalloc.start()
    try:
        vat(X)
        after_order = tracemalloc.get_traced_memory()[1]
        ivat(X, size=200)
        distances.image(distances.Euclidean(X).in_order(np.arange(len(X))), 200)
        after_picture = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert after_order < 2e6
    assert after_picture < 4e6


@nojit
@pytest.mark.parametrize("size", [1, 2, 7, 13, 40])
def test_small_pictures_are_means_over_blocks(size: int) -> None:
    X = make_data("random", 40, 3, 1)
    D = np.sqrt(oracle.squared_euclidean(X))
    order = oracle.vat(D)
    ordered = D[np.ix_(order, order)]
    expected = oracle.block_means(oracle.path_distances(ordered), size)
    np.testing.assert_allclose(ivat(X, size=size), expected, rtol=1e-13)
    for data in (distances.Euclidean(X), distances.Given(D)):
        picture = distances.image(data.in_order(np.array(order)), size)
        np.testing.assert_allclose(picture, oracle.block_means(ordered, size), rtol=1e-13)


def test_too_large_a_matrix_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ordering, "_memory", lambda: 8 * 50**2)
    X = np.zeros((51, 2))
    with pytest.raises(MemoryError, match=r"51 samples .* Use ivat\(X, size=2000\)"):
        ivat(X)
    with pytest.raises(MemoryError, match="without return_distances"):
        vat(X, return_distances=True)
    assert ivat(X, size=5).shape == (5, 5)
    assert ivat(X[:50]).shape == (50, 50)


def test_memory_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ordering._memory() > 2**26
    monkeypatch.delattr(os, "sysconf", raising=False)
    assert ordering._memory() == ordering.UNKNOWN_MEMORY


@nojit
@pytest.mark.parametrize("function", [vat, ivat, VATDisplay.from_data])
@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        ([[0.0], [np.nan]], ValueError, "NaN"),
        ([[0.0], [np.inf]], ValueError, "infinity"),
        (np.empty((0, 3)), ValueError, "0 sample"),
        (np.empty((3, 0)), ValueError, "0 feature"),
        ([1.0, 2.0], ValueError, "2D array"),
        ([["a"], ["b"]], ValueError, "could not convert"),
        (scipy.sparse.csr_matrix(np.eye(3)), TypeError, "dense"),
    ],
)
def test_bad_data(function: object, X: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        function(X)  # type: ignore[operator]


@nojit
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda D: D[:, :3], r"shape \(5, 3\), but a square"),
        (lambda D: D - 1.0, "must not be negative, but the least is -1"),
        (lambda D: D + 0.5, "itself must be 0, but that of sample 0 is 0.5"),
        (lambda D: np.triu(D), "symmetric, but that of samples 0 and 4 is 4 and 0"),
        (lambda D: D * np.nan, "distances contains NaN"),
    ],
)
def test_bad_distances(change: object, message: str) -> None:
    D = np.abs(np.subtract.outer(np.arange(5.0), np.arange(5.0)))
    for function in (
        lambda: vat(change(D), metric="precomputed"),  # type: ignore[operator]
        lambda: ivat(change(D), metric="precomputed"),  # type: ignore[operator]
        lambda: VATDisplay.from_distances(change(D)),  # type: ignore[operator]
    ):
        with pytest.raises(ValueError, match=message):
            function()


@nojit
def test_asymmetry_far_from_the_diagonal_is_seen() -> None:
    n = ordering.SIDE + 20
    D = np.ones((n, n)) - np.eye(n)
    D[n - 1, 3] = 0.9
    with pytest.raises(ValueError, match=f"samples 3 and {n - 1} is 1 and 0.9"):
        vat(D, metric="precomputed")


@nojit
def test_rounded_distances_are_taken() -> None:
    X = make_data("random", 30, 3, 0)
    D = np.sqrt(oracle.squared_euclidean(X))
    noise = 1e-9 * np.random.default_rng(0).normal(size=D.shape)
    np.testing.assert_array_equal(vat(D + noise, metric="precomputed"), vat(X))
    # A duplicate, just below 0: its link counts as 0.
    D = np.array([[0.0, -1e-9, 1.0], [-1e-9, 0.0, 1.0], [1.0, 1.0, 0.0]])
    assert ivat(D, metric="precomputed").min() == 0.0


@nojit
@pytest.mark.parametrize("function", [vat, ivat])
def test_unknown_metric(function: object) -> None:
    with pytest.raises(ValueError, match="'cosine'"):
        function([[0.0], [1.0]], metric="cosine")  # type: ignore[operator]


@nojit
@pytest.mark.parametrize(
    ("size", "error"), [(0, ValueError), (-1, ValueError), (2.5, TypeError), (True, TypeError)]
)
def test_bad_size(size: object, error: type[Exception]) -> None:
    X = [[0.0], [1.0]]
    with pytest.raises(error, match=r"^size must be"):
        ivat(X, size=size)  # type: ignore[arg-type]
    with pytest.raises(error, match=r"^max_pixels must be"):
        VATDisplay.from_data(X, max_pixels=size)  # type: ignore[arg-type]


@pytest.mark.usefixtures("closed_figures")
@pytest.mark.parametrize("improved", [False, True])
def test_display(improved: bool) -> None:
    X = make_data("random", 50, 2, 0)
    order, D = vat(X, return_distances=True)
    wanted = ivat(X) if improved else D
    ax = plt.subplots()[1]
    display = VATDisplay.from_data(X, improved=improved, scale=False).plot(ax, vmax=3.0)
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    np.testing.assert_array_equal(display.order, order)
    np.testing.assert_array_equal(display.im_.get_array(), wanted)
    assert display.im_.get_clim()[1] == 3.0
    assert display.im_.get_extent() == [0, 50, 50, 0]
    given = VATDisplay.from_distances(np.sqrt(oracle.squared_euclidean(X)), improved=improved)
    np.testing.assert_array_equal(given.image, wanted)
    assert given.plot() is given
    assert given.figure_ is not ax.figure


@pytest.mark.usefixtures("closed_figures")
@pytest.mark.parametrize("improved", [False, True])
def test_display_of_many_samples(improved: bool) -> None:
    X = make_data("random", 120, 2, 0)
    D = np.sqrt(oracle.squared_euclidean(X))
    display = VATDisplay.from_data(X, improved=improved, max_pixels=50, scale=False).plot()
    ordered = D[np.ix_(display.order, display.order)]
    wanted = oracle.path_distances(ordered) if improved else ordered
    np.testing.assert_allclose(display.image, oracle.block_means(wanted, 50), rtol=1e-13)
    assert display.im_.get_extent() == [0, 120, 120, 0]
    given = VATDisplay.from_distances(D, improved=improved, max_pixels=50)
    np.testing.assert_allclose(given.image, display.image, rtol=1e-13)


PROGRAM = """
import signal
import numpy as np
from icvi_artmap import ivat, vat

# A shell that starts the tests in the background has them ignore the signal.
signal.signal(signal.SIGINT, signal.default_int_handler)

small, large = np.random.default_rng(0).normal(size=(50, 10)), np.zeros(({n}, 10))
before = vat(small)
ivat(small)
print("started", flush=True)
try:
    vat(large)
    print("finished", flush=True)
except KeyboardInterrupt:
    print("interrupted", flush=True)
np.testing.assert_array_equal(vat(small), before)
print("unharmed", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT cannot be sent to a child there")
def test_can_be_interrupted() -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", PROGRAM.format(n=300_000)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    try:
        line = child.stdout.readline()
        assert line == "started\n", child.communicate()[1]
        time.sleep(0.5)
        child.send_signal(signal.SIGINT)
        rest, errors = child.communicate(timeout=30)
    finally:
        child.kill()
    assert rest == "interrupted\nunharmed\n", errors


def test_display_scales_as_a_fit_does() -> None:
    """A feature with large numbers decides no more than the others."""
    X = make_data("random", 40, 3, 0)
    large = X * [1.0, 1000.0, 1.0] + [5.0, 0.0, 0.0]
    plain, scaled = VATDisplay.from_data(X), VATDisplay.from_data(large)
    np.testing.assert_array_equal(plain.order, scaled.order)
    np.testing.assert_allclose(plain.image, scaled.image, atol=1e-12)
    unscaled = VATDisplay.from_data(large, scale=False)
    assert unscaled.image.max() > 100.0
    with pytest.raises(TypeError, match="scale must be True or False"):
        VATDisplay.from_data(X, scale="yes")  # type: ignore[arg-type]
