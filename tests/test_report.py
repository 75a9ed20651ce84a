"""The report: what it says is what was computed, and nothing in the data can break the page."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs, make_circles
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score

import icvi_artmap
from icvi_artmap import (
    ICVIARTMAP,
    ICVIARTMAPSearch,
    custom_index,
    explain,
    index_value,
    write_report,
)
from icvi_artmap._support.colours import style
from icvi_artmap._support.wording import number, percent
from icvi_artmap.estimators.components import Joins
from icvi_artmap.indices.registry import INDICES
from icvi_artmap.inspection import uncertain
from icvi_artmap.report import charts, directions, distributions, points, quality, reading
from icvi_artmap.report.page import head, shade, signed

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(2)>',
    "</script><script>alert(3)</script>",
    "<!--<script>",
    "a\u2028b\u2029c & {{ 7 * 7 }} {% raw %}",
    "'; alert(4); '\ud800",
]


class Page(HTMLParser):
    """Elements with their attributes, texts, and tables as rows of (text, data-value)."""

    VOID = frozenset({"meta", "link", "br", "img", "input", "wbr"})

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.html = html
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[tuple[str, dict[str, str | None]]] = []
        self.text: dict[str, str] = {}  # of every element with an id
        self.tables: dict[str, list[list[tuple[str, str | None]]]] = {}
        self.feed(html)
        assert not self.open, f"not closed: {self.open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        self.elements.append((tag, named))
        if tag == "tr":
            self._table().append([])
        if tag in ("td", "th"):
            self._table()[-1].append(("", named.get("data-value")))
        if tag not in self.VOID:
            self.open.append((tag, named))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        for tag, named in self.open:
            if named.get("id"):
                self.text[str(named["id"])] = self.text.get(str(named["id"]), "") + data
            if tag in ("td", "th"):
                text, value = self._table()[-1][-1]
                self._table()[-1][-1] = (text + data, value)

    def _table(self) -> list[list[tuple[str, str | None]]]:
        name = next(str(a["id"]) for tag, a in reversed(self.open) if tag == "table")
        return self.tables.setdefault(name, [])

    def numbers(self, table: str) -> np.ndarray:
        """data-value of the cells of the body but the first of every row."""
        rows = self.tables[table][1:]
        return np.array([[float(value) for _, value in row[1:] if value] for row in rows])

    def points(self) -> Any:
        return json.loads(self.text["points-data"])


def report(tmp_path: Path, model: ICVIARTMAP, X: Any, **options: Any) -> Page:
    path = write_report(tmp_path / "report.html", model, X, **options)
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]  # nothing temporary is left
    return Page(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module", name="blobs")
def blobs_and_classes() -> tuple[np.ndarray, np.ndarray]:
    return make_blobs(240, centers=4, n_features=3, cluster_std=1.2, random_state=3)


@pytest.fixture(scope="module", name="fitted")
def fitted_model(blobs: tuple[np.ndarray, np.ndarray]) -> ICVIARTMAP:
    return ICVIARTMAP(4, random_state=0).fit(blobs[0])


# --- numbers -------------------------------------------------------------------------------------


def test_the_numbers_are_those_of_the_library(
    tmp_path: Path, fitted: ICVIARTMAP, blobs: tuple[np.ndarray, np.ndarray]
) -> None:
    X, y = blobs
    page = report(tmp_path, fitted, X, truth=y)
    table = page.numbers("index-table")
    expected = [index_value(X, fitted.labels_, name) for name in INDICES]
    np.testing.assert_array_equal(table[:, 0], expected)
    assert table[list(INDICES).index("NI"), 0] == pytest.approx(fitted.index_value_, rel=1e-12)
    agreement = page.numbers("agreement-table")
    np.testing.assert_allclose(agreement[:3], agreement[:3].T)
    assert (np.diag(agreement[:3]) == 1.0).all()
    assert agreement[3, 0] == adjusted_rand_score(y, fitted.labels_)
    assert f"{adjusted_rand_score(y, fitted.labels_):.4f}" in page.text["classes"]
    counts = page.numbers("class-table")
    for i, row in enumerate(counts):
        np.testing.assert_array_equal(row, np.bincount(y[fitted.labels_ == i], minlength=4))
    sizes = page.numbers("cluster-table")
    np.testing.assert_array_equal(sizes[:, 0], np.bincount(fitted.labels_))
    standardised = (X - X.mean(axis=0)) / X.std(axis=0)
    means = [standardised[fitted.labels_ == i].mean(axis=0) for i in range(4)]
    np.testing.assert_allclose(page.numbers("profile-table"), means, atol=1e-12)


def test_other_methods_are_what_scikit_learn_finds(
    tmp_path: Path, fitted: ICVIARTMAP, blobs: tuple[np.ndarray, np.ndarray]
) -> None:
    X, _ = blobs
    page = report(tmp_path, fitted, X)
    heads = [text for text, _ in page.tables["index-table"][0]]
    assert heads == ["index", "this partition", "k-means", "Gaussian mixture"]
    # Four clear groups: k-means finds the same from any start.
    labels = KMeans(4, n_init=10, random_state=5).fit_predict((X - X.mean(0)) / X.std(0))
    ch = list(INDICES).index("CH")
    assert page.numbers("index-table")[ch, 1] == pytest.approx(index_value(X, labels, "CH"))


def test_the_points_are_the_rows(
    tmp_path: Path, fitted: ICVIARTMAP, blobs: tuple[np.ndarray, np.ndarray]
) -> None:
    X, _ = blobs
    ids = [f"s{i}" for i in range(len(X))]
    found = report(tmp_path, fitted, X, feature_names=["a", "b", "c"], ids=ids).points()
    assert found["ids"] == ids
    assert found["clusters"] == fitted.labels_.tolist()
    assert [axis["name"] for axis in found["axes"][4:]] == ["a", "b", "c"]
    for axis, column in zip(found["axes"][4:], X.T, strict=True):
        np.testing.assert_allclose(axis["values"], column, rtol=1e-5)
    first, second = (np.array(axis["values"]) for axis in found["axes"][:2])
    assert first.var() >= second.var()
    assert abs(np.corrcoef(first, second)[0, 1]) < 1e-4
    standardised = (X - X.mean(axis=0)) / X.std(axis=0)
    largest = np.linalg.eigvalsh(np.cov(standardised.T, ddof=0))[-1]
    assert first.var() == pytest.approx(largest, rel=1e-4)
    assert f"({largest / 3:.0%})" in found["axes"][0]["name"]


@pytest.mark.parametrize("name", ["NI", "CH", "XB"])
def test_uncertain_rows_have_the_margins_that_explain_gives(name: str) -> None:
    X, _ = make_blobs(150, centers=3, n_features=2, cluster_std=2.0, random_state=1)
    model = ICVIARTMAP(3, index=name, random_state=0).fit(X)
    found = uncertain.least_certain(model, X, 25, np.random.RandomState(0))
    assert found is not None
    assert found.n_exact == found.n_searched == 150
    why = explain(model, X, samples=np.arange(150))
    values = model.fitted_.index.direction * why.index_values
    own = values[np.arange(150), model.labels_]
    others = np.array([np.delete(v, c).max() for v, c in zip(values, model.labels_, strict=True)])
    np.testing.assert_array_equal(found.margin, np.sort(own - others)[:25])
    settled = why.best == model.labels_
    assert settled.sum() > 140
    np.testing.assert_allclose((own - others)[settled], why.margin[settled], atol=1e-12)
    for row, other in zip(found.rows, found.runner_up, strict=True):
        assert other != model.labels_[row]
        assert values[row, other] == np.delete(values[row], model.labels_[row]).max()


@pytest.mark.parametrize("name", ["NI", "CH"])
def test_the_shortlist_finds_the_smallest_margins(name: str) -> None:
    X, _ = make_blobs(800, centers=4, n_features=2, cluster_std=1.8, random_state=1)
    model = ICVIARTMAP(4, index=name, random_state=0).fit(X)
    found = uncertain.least_certain(model, X, 25, np.random.RandomState(0))
    assert found is not None
    assert (found.n_exact, found.n_searched) == (200, 800)
    every = uncertain._margins(model, X, np.arange(800))[1]
    np.testing.assert_array_equal(found.margin, np.sort(every)[:25])


def test_the_table_of_uncertain_rows_points_into_the_map(
    tmp_path: Path, fitted: ICVIARTMAP, blobs: tuple[np.ndarray, np.ndarray]
) -> None:
    X, _ = blobs
    names = [f"s{i}" for i in range(len(X))]
    page = report(tmp_path, fitted, X, ids=names, max_points=100)
    ids = page.points()["ids"]
    shown = [text for (text, _), *_ in page.tables["uncertain-table"][1:]]
    buttons = [int(a["data-point"] or -1) for _, a in page.elements if "data-point" in a]
    assert len(shown) == 25
    assert [ids[i] for i in buttons] == shown
    page = report(tmp_path, fitted, X, ids=names, max_points=3)  # no room for them all
    assert len(page.points()["ids"]) == 3
    assert [text for (text, _), *_ in page.tables["uncertain-table"][1:]] == shown


# --- directions of the map ------------------------------------------------------------------------


def test_separating_directions_are_those_of_fisher() -> None:
    X, y = make_blobs(400, centers=4, n_features=5, cluster_std=2.0, random_state=2)
    X = X @ np.random.default_rng(0).normal(size=(5, 5))  # clusters that are long, and aslant
    found = directions.separating(X, y)
    known = LinearDiscriminantAnalysis(solver="eigen").fit(X, y)
    for i in range(2):
        ours, theirs = X @ found.vectors[:, i], X @ known.scalings_[:, i]
        assert abs(np.corrcoef(ours, theirs)[0, 1]) > 0.99
        within = sum(((ours[y == c] - ours[y == c].mean()) ** 2).sum() for c in range(4))
        assert within / 396 == pytest.approx(1.0, abs=0.1)
    np.testing.assert_allclose(found.parts, known.explained_variance_ratio_[:2], atol=0.02)
    noisy = directions.separating(np.vstack([X, X[:9] + 99.0]), np.append(y, [-1] * 9))
    np.testing.assert_array_equal(noisy.vectors, found.vectors)


def test_two_clusters_have_one_separating_direction() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3)) * [1.0, 1.0, 9.0]
    y = np.repeat([0, 1], 100)
    X[:, 0] += 8.0 * y
    found = directions.separating(X, y)
    strongest = np.abs(found.vectors).argmax(axis=0)
    assert strongest.tolist() == [0, 2]  # where they differ, and where the rest varies most
    assert found.parts.tolist() == [1.0, 0.0]
    assert directions.separating(X, np.zeros(200, np.int64)).vectors.shape == (3, 0)
    assert directions.separating(X[:, :1], y).vectors.shape == (1, 0)


def test_more_columns_than_rows_have_directions_too() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 10)
    X = rng.normal(size=(30, 200)) + 3.0 * y[:, None]
    found = directions.separating(X, y)
    assert np.isfinite(found.vectors).all()
    assert (np.diff([(X @ found.vectors[:, 0])[y == c].mean() for c in range(3)]) > 0).all()
    same = directions.separating(np.repeat(X[::10], 10, axis=0), y)  # no spread within clusters
    assert np.isfinite(same.vectors).all()


# --- columns by cluster ---------------------------------------------------------------------------


def heights(outline: str, base: int) -> list[float]:
    """How high the bars of an outline are."""
    return [base - float(top) for top in re.findall(r"V([\d.]+)H", outline)]


def test_bars_count_the_rows_of_every_cluster(
    fitted: ICVIARTMAP, blobs: tuple[np.ndarray, np.ndarray]
) -> None:
    X, _ = blobs
    found = distributions.distributions(fitted, X, ["a", "b", "c"], np.array([2, 1, 0]))
    assert [panel.name for panel in found.panels] == ["a", "b", "c"]
    assert found.n_clusters == 4
    for panel, column in zip(found.panels, X.T, strict=True):
        low, high = np.quantile(column, [0.005, 0.995])
        assert (panel.low, panel.high) == (number(low), number(high))
        for i, lane in enumerate(panel.lanes):
            own = np.clip(column[fitted.labels_ == i], low, high)
            bars = np.array(heights(lane.outline, lane.base))
            counts, _ = np.histogram(own, len(bars), (low, high))
            np.testing.assert_allclose(bars, panel.bar * counts / counts.max(), atol=0.06)
            part = (np.median(own) - low) / (high - low)
            across = panel.left + part * (panel.width - panel.left - 2)
            assert lane.median == pytest.approx(across, abs=0.06)
        assert f"0: {number(np.median(column[fitted.labels_ == 0]))}" in panel.text


def test_whole_numbers_that_are_few_have_a_bar_each() -> None:
    column = np.array([0.0, 1.0, 1.0, 3.0, 3.0, 3.0])
    edges = distributions._edges(column, 8)
    np.testing.assert_array_equal(edges, [-0.5, 0.5, 1.5, 2.5, 3.5])
    assert len(distributions._edges(np.full(9, 7.0), 8)) == 9  # a constant column
    assert len(distributions._edges(np.append(np.zeros(999), 5.5), 8)) == 9  # nearly constant


def test_hundreds_of_columns_have_few_charts(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 300))
    X[:30] += 2.0
    X[:30, 277] += 30.0
    model = ICVIARTMAP(2, index="CH", init=[X[:30].mean(0), X[30:].mean(0)], refine=False).fit(X)
    page = report(tmp_path, model, X)
    panels = [a for _, a in page.elements if a.get("class") == "panel"]
    assert len(panels) == distributions.MOST_PANELS
    assert "60 of 300 columns" in page.text["columns"]
    heads = [a["title"] for tag, a in page.elements if tag == "figcaption"]
    assert heads[0] == "feature 277"  # the most telling one
    assert len(page.html) < 3_000_000


def test_many_clusters_have_lanes_for_the_largest() -> None:
    k = 30
    X = np.repeat(np.arange(k) * 10.0, np.arange(k) + 3)[:, None] + [[0.0, 1.0]]
    centres = np.column_stack([np.arange(k) * 10.0, np.arange(k) * 10.0 + 1.0])
    model = ICVIARTMAP(k, index="CH", init=centres, refine=False).fit(X)
    assert model.n_clusters_ == k
    found = distributions.distributions(model, X, ["a", "b"], np.arange(2))
    n = np.bincount(model.labels_)
    shown = [lane.cluster for lane in found.panels[0].lanes]
    assert shown == sorted(np.argsort(-n, kind="stable")[: distributions.MOST_LANES].tolist())


# --- the page ------------------------------------------------------------------------------------


def test_the_contents_lead_to_all_sections(
    tmp_path: Path, fitted: ICVIARTMAP, blobs: tuple[np.ndarray, np.ndarray]
) -> None:
    for truth in (None, blobs[1]):
        page = report(tmp_path, fitted, blobs[0], truth=truth)
        links = [str(a["href"]) for tag, a in page.elements if tag == "a"]
        sections = [f"#{a['id']}" for tag, a in page.elements if tag == "section"]
        assert links == sections
        assert ("#classes" in links) == (truth is not None)


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("ash", ["ash"]),
        ("od280/od315_of_diluted_wines", ["od280/", "od315_", "of_", "diluted_", "wines"]),
        ("averageTemperatureHTTP", ["average", "Temperature", "HTTP"]),
        ("mean  height_of (cm)", ["mean height_", "of (cm)"]),
        ("<b>&", ["&lt;b&gt;&amp;"]),
        ("x" * 30, ["x" * 11 + "…" + "x" * 10]),
        ("", [""]),
    ],
)
def test_heads_break_between_words_only(name: str, parts: list[str]) -> None:
    assert head(name).split("<wbr>") == parts


# --- stability and what is said of it ------------------------------------------------------------


def test_clear_clusters_are_found_again(
    fitted: ICVIARTMAP, blobs: tuple[np.ndarray, np.ndarray]
) -> None:
    X, _ = blobs
    found = quality.refit_on_halves(fitted, X, np.arange(len(X)), np.random.RandomState(0))
    assert found is not None
    assert found.agreement.shape == (quality.REFITS,)
    assert found.agreement.min() > 0.95
    assert found.overlap.min() > 0.9
    assert reading.mixed_pairs(found) == []


def test_two_halves_of_one_cluster_are_named(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(c, 1.0, (150, 2)) for c in (0.0, 30.0)])
    model = ICVIARTMAP(3, index="CH", random_state=0).fit(X)  # one of the two must be cut
    n = np.bincount(model.labels_)
    cut = sorted(np.argsort(n)[:2].tolist())
    page = report(tmp_path, model, X)
    said = page.text["short"]
    (row,) = page.tables["pair-table"][1:]
    assert row[0][0].split() == [str(i) for i in cut]
    assert f"Clusters {cut[0]} and {cut[1]} are hard to tell apart" in said


def test_every_cluster_that_is_not_found_again_is_named() -> None:
    """Also those of a pair that is hard to tell apart, and however many there are."""
    k = 9
    mixing = np.zeros((k, k))
    mixing[0, 1] = mixing[1, 0] = 0.4
    overlap = np.full(k, 0.5)
    overlap[[1, 4]] = [0.7, 1.0]
    stability = quality.Stability(100, np.full(5, 0.95), overlap, mixing)
    said = [s.text for s in reading._stability(stability) if s.tone == "beware"]
    assert [text.split(":")[0] for text in said] == [
        "Clusters 0 and 1 are hard to tell apart",
        "Clusters 0, 2, 3, 5, 6, 7 and 8 were mostly not found again",
    ]
    overlap[1:] = 0.7
    said = [s.text for s in reading._stability(stability) if s.tone == "beware"]
    assert said[1].startswith("Cluster 0 was mostly not found again")


def test_overlap_and_mixing_by_hand() -> None:
    """A refit that gives the labels we choose: what it is compared with is known."""

    class Fixed(ICVIARTMAP):
        def fit(self, X: Any, y: Any = None, *, trace: bool = False) -> Any:
            self.labels_ = (np.asarray(X)[:, 0] >= 6).astype(np.int64)
            self.n_clusters_ = 2
            return self

    X = np.arange(10.0)[:, None]
    model = Fixed(2, random_state=0)
    model.labels_, model.n_clusters_ = (X[:, 0] >= 5).astype(np.int64), 2

    class All(np.random.RandomState):  # a "half" with the rows that we choose
        def permutation(self, x: Any) -> Any:
            return np.array([1, 3, 5, 7, 9, 0, 2, 4, 6, 8])

    found = quality.refit_on_halves(model, X, np.arange(10), All(0))
    assert found is not None
    # Rows 1 3 | 5 7 9 became 1 3 5 | 7 9.
    np.testing.assert_allclose(found.overlap, [2 / 3, 2 / 3])
    np.testing.assert_allclose(found.mixing, [[0.0, 1 / 3], [1 / 3, 0.0]])
    expected = adjusted_rand_score([0, 0, 1, 1, 1], [0, 0, 0, 1, 1])
    np.testing.assert_allclose(found.agreement, expected)


def test_too_few_rows_for_halves(tmp_path: Path) -> None:
    X = np.array([[0.0], [1.0], [10.0], [11.0], [20.0], [21.0]])
    page = report(tmp_path, ICVIARTMAP(3, index="CH", random_state=0).fit(X), X)
    assert "half of the rows are too few for 3 clusters" in page.text["stability"]
    assert "figure-stability" not in page.text


def test_readings_of_a_search_for_the_number(tmp_path: Path) -> None:
    X, _ = make_blobs(900, centers=[[0, 0], [20, 0], [0, 20]], random_state=0)
    model = ICVIARTMAP("auto", random_state=0).fit(X)
    page = report(tmp_path, model, X)
    selection = model.selection_
    assert selection.clear
    assert (
        f"3 is clearly the best number of clusters from 2 to {selection.k[-1]}"
        in (page.text["short"])
    )
    table = page.numbers("selection-table")
    np.testing.assert_array_equal(table[:, 0], selection.criterion)
    np.testing.assert_array_equal(table[:, 1], selection.index_values)
    assert sum(tag == "polyline" for tag, _ in page.elements) == 2  # over k, and over time
    marked = [a for tag, a in page.elements if a.get("class") == "marked"]
    assert len(marked) == 1


def test_readings_of_the_doubtful() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    with pytest.warns(RuntimeWarning, match="single cluster"):
        model = ICVIARTMAP("auto", random_state=0).fit(X)
    said = " ".join(s.text for s in reading.readings(model, None, None, None))
    assert "the data look like a single cluster" in said
    model = ICVIARTMAP(3, max_epochs=1, refine=False, random_state=0).fit(X)
    sentences = reading.readings(model, None, None, 0.5)
    assert any(s.tone == "beware" and "max_epochs" in s.text for s in sentences)
    assert sentences[-1].text.startswith(
        "The clusters differ from the known classes (agreement 0.5"
    )
    model = ICVIARTMAP(5, index="CH", random_state=0).fit([[0.0], [0.0], [1.0], [1.0], [1.0]])
    assert any(
        f"5 clusters were asked for, but only {model.n_clusters_}" in s.text
        for s in reading.readings(model, None, None, None)
    )


def test_readings_of_outliers() -> None:
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(0, 1, (300, 2)), rng.normal(9, 1, (300, 2)), [[90.0, 90.0]]])
    model = ICVIARTMAP(3, index="CH", random_state=0).fit(X)
    alone = int(np.bincount(model.labels_).argmin())
    said = [s.text for s in reading.readings(model, None, None, None) if s.tone == "beware"]
    assert said == [f"Cluster {alone} has fewer than 5 rows: perhaps outliers rather than a group."]


@pytest.mark.parametrize(
    ("ours", "others", "direction", "n_rows", "expected"),
    [
        (-2.0, [-1.0, -1.5], -1, 240, ("good", "it is better (−2) than k-means (−1) and a Gauss")),
        (-1.0, [-1.0, -1.005], -1, 240, ("plain", "no other method is better")),
        (100.0, [120.0, 90.0], 1, 240, ("beware", "k-means is better (120 against 100): a larger")),
        (100.0, [120.0, 90.0], 1, 99, ("plain", "100 on the 99 rows compared), to which alone")),
    ],
)
def test_readings_of_a_comparison(
    fitted: ICVIARTMAP,
    ours: float,
    others: list[float],
    direction: int,
    n_rows: int,
    expected: tuple[str, str],
) -> None:
    index = INDICES["NI" if direction < 0 else "CH"]
    model = ICVIARTMAP(4)
    vars(model).update(vars(fitted), fitted_=replace(fitted.fitted_, index=index))
    comparison = quality.Comparison(
        indices=[index],
        whole=np.array([ours]),
        rows=np.arange(n_rows),
        names=[quality.OURS, quality.KMEANS, quality.MIXTURE],
        partitions=[],
        values=np.array([[ours, *others]]),
        best=np.zeros((1, 3), bool),
        agreement=np.array([[1.0, 1.0, 0.3]] * 3),
        remarks=[],
    )
    value, likeness = reading.readings(model, comparison, None, None)[-2:]
    assert value.tone == expected[0]
    assert expected[1] in value.text
    assert likeness.text == (
        "The clusters are the same as those of k-means (agreement 1.00) and other than those of a "
        "Gaussian mixture (agreement 0.30)."
    )


def test_readings_of_equal_sizes() -> None:
    X = np.array([[0.0], [1.0], [10.0], [11.0]])
    model = ICVIARTMAP(2, index="CH", random_state=0).fit(X)
    said = [s.text for s in reading.readings(model, None, None, None)]
    assert said == ["The 4 rows fall into 2 clusters, with 2 rows each."]


def test_what_sets_a_cluster_apart() -> None:
    X = np.array([[0.0, 1, 5], [1, 2, 5], [2, 1, 5], [50, 1, 5], [51, 2, 5], [52, 1, 5]])
    model = ICVIARTMAP(2, index="CH", init=X[[1, 4]], refine=False).fit(X)
    np.testing.assert_array_equal(model.labels_, [0, 0, 0, 1, 1, 1])
    profiles = explain(model, X[:1]).profiles
    text = reading.telling(profiles, 0, ["income", "b", "c"])
    assert text.startswith("income is far lower (mean 1, elsewhere 51)")
    assert text.endswith("51).")  # nothing is said of the others
    still = profiles.__class__(**{**vars(profiles), "effect": profiles.effect * 0.0})
    assert reading.telling(still, 0, ["a", "b", "c"]) == "No single column sets it apart."


# --- escaping ------------------------------------------------------------------------------------


def test_nothing_in_the_data_becomes_markup(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(c, 1.0, (30, len(HOSTILE))) for c in (0.0, 8.0)])
    X[:, 3] = 1.0  # its name is also in the list of constant columns
    model = ICVIARTMAP(2, random_state=0).fit(X)
    page = report(
        tmp_path,
        model,
        X,
        feature_names=HOSTILE,
        ids=[HOSTILE[i % len(HOSTILE)] for i in range(60)],
        truth=[HOSTILE[i // 10] for i in range(60)],
        title=HOSTILE[0] + HOSTILE[2],
        notes=HOSTILE,
        command="\n".join(HOSTILE),
    )
    tags = [tag for tag, _ in page.elements]
    assert tags.count("script") == 2
    assert "img" not in tags
    assert not any(name.startswith("on") for _, attrs in page.elements for name in attrs)
    assert "<script>alert" not in page.html
    assert "7 * 7" in page.text["notes"]  # not 49: names are no template
    assert HOSTILE[0] + HOSTILE[2] in page.html.split("<h1>")[1].replace("&lt;", "<").replace(
        "&gt;", ">"
    )
    assert page.text["command"].startswith("<script>alert(1)</script>\n")
    raw = re.search(r'id="points-data">(.*?)</script>', page.html, re.DOTALL)
    assert raw is not None
    assert not set(raw[1]) & set("<>&\u2028\u2029")
    found = page.points()
    clean = [name.replace("\ud800", "?") for name in HOSTILE]
    assert [axis["name"] for axis in found["axes"][4:]] == clean
    assert found["ids"][:6] == clean


def test_the_page_forbids_the_network_and_foreign_scripts(
    tmp_path: Path, fitted: ICVIARTMAP, blobs: tuple[np.ndarray, np.ndarray]
) -> None:
    page = report(tmp_path, fitted, blobs[0])
    policies = [a["content"] for tag, a in page.elements if "http-equiv" in a]
    assert len(policies) == 1
    policy = str(policies[0])
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    assert not re.search(r"""(src|href|action)=["'](?!data:,|#)""", page.html)
    assert not any("style" in a for _, a in page.elements)  # the policy would refuse it


def test_script_json_is_json() -> None:
    text = points.script_json({"a": HOSTILE[:5], "n": [1, 2.5]})
    assert not set(text) & set("<>&\u2028")
    assert json.loads(text) == {"a": HOSTILE[:5], "n": [1, 2.5]}


# --- sizes and shapes ----------------------------------------------------------------------------


def test_large_data_are_sampled_and_the_page_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quality, "EVALUATED", 200)
    monkeypatch.setattr(uncertain, "FEWEST_ROWS", 300)
    monkeypatch.setattr(uncertain, "BORDER_WORK", 1.0)
    X, y = make_blobs(2000, centers=3, n_features=2, random_state=0)
    model = ICVIARTMAP(3, random_state=0).fit(X)
    page = report(tmp_path, model, X, truth=y, max_points=100)
    assert len(page.points()["ids"]) == 100
    assert "100 of 2,000 rows are drawn" in page.text["map"]
    assert "compared on 200 of 2,000 rows, drawn at random" in page.text["quality"]
    assert "a random half of 200 rows drawn from 2,000" in page.text["stability"]
    assert "200 rows nearest to a border among 300 rows drawn at random" in page.text["uncertain"]
    heads = [text for text, _ in page.tables["index-table"][0]]
    assert heads[1:3] == ["this partition, all rows", "this partition, sample"]
    whole = [index_value(X, model.labels_, name) for name in INDICES]
    np.testing.assert_array_equal(page.numbers("index-table")[:, 0], whole)
    assert page.points()["sizes"] == np.bincount(model.labels_).tolist()


def test_small_clusters_are_drawn_too() -> None:
    labels = np.array([0] * 5000 + [1] * 12 + [2] * 3)
    rng = np.random.RandomState(0)
    rows = points.chosen_rows(labels, 3, 200, np.array([17, 4999]), rng)
    assert len(rows) == len(set(rows.tolist())) == 200
    assert (np.diff(rows) > 0).all()
    counts = np.bincount(labels[rows])
    assert counts[1] >= points.FROM_EVERY_CLUSTER
    assert counts[2] == 3
    assert {17, 4999} <= set(rows.tolist())
    np.testing.assert_array_equal(points.chosen_rows(labels, 3, 9000, rows, rng), np.arange(5015))
    assert len(points.chosen_rows(labels, 3, 1, rows, rng)) == 1


@pytest.mark.parametrize("k", [2, 9, 40])
def test_any_number_of_clusters(tmp_path: Path, k: int) -> None:
    grid = np.array([[i % 7 * 30.0, i // 7 * 30.0] for i in range(k)])
    X = np.repeat(grid, 12, axis=0) + np.random.default_rng(0).normal(size=(12 * k, 2))
    model = ICVIARTMAP(k, index="CH", init=grid).fit(X)
    page = report(tmp_path, model, X)
    assert len(page.tables["cluster-table"]) == k + 1
    assert page.text["figure-clusters"] == str(k)
    looks = [style(i) for i in range(k)]  # as in pictures
    assert page.points()["colours"] == [look.colour for look in looks]
    assert page.points()["marks"] == [look.marker for look in looks]


def test_one_cluster(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(20, 2))
    model = ICVIARTMAP(2, index="CH", random_state=0)
    model.n_clusters = 1
    with pytest.warns(RuntimeWarning, match="not a clustering"):
        model.fit(X)
    page = report(tmp_path, model, X, truth=np.arange(20) % 2)
    assert "All 20 rows are in one cluster" in page.text["short"]
    assert not {"quality", "stability", "uncertain"} & set(page.text)


def test_one_feature_and_a_constant_one(tmp_path: Path) -> None:
    x = np.concatenate([np.arange(20.0), 100 + np.arange(20.0)])[:, None]
    found = report(tmp_path, ICVIARTMAP(2, random_state=0).fit(x), x).points()
    assert found["start"] == [0, -1]
    assert [axis["name"] for axis in found["axes"]] == ["feature 0"]
    assert found["axes"][0]["values"] == x[:, 0].tolist()
    both = np.hstack([x, np.full((40, 1), 7.0)])
    page = report(tmp_path, ICVIARTMAP(2, random_state=0).fit(both), both)
    assert "The same in all rows, so without effect: feature 1." in page.text["notes"]
    assert page.points()["start"] == [4, 5]


def test_equal_rows_only(tmp_path: Path) -> None:
    X = np.ones((12, 2))
    model = ICVIARTMAP(2, index="CH", random_state=0).fit(X)
    page = report(tmp_path, model, X)
    assert page.text["figure-clusters"] == str(model.n_clusters_)


def test_many_features_are_cut_to_the_telling_ones(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 60))
    X[:60] += 1.5
    X[:60, 41] += 20.0
    model = ICVIARTMAP(2, index="CH", init=[X[:60].mean(0), X[60:].mean(0)]).fit(X)
    page = report(tmp_path, model, X)
    assert "50 of 60 columns can be chosen" in page.text["map"]
    names = [axis["name"] for axis in page.points()["axes"]]
    assert len(names) == 54
    assert "feature 41" in names
    assert [text for text, _ in page.tables["profile-table"][0]][1] == "feature 41"
    assert all(len(each) == points.IN_TOOLTIP for each in page.points()["telling"])
    assert "with diagonal covariances" in page.text["quality"]


@pytest.fixture(scope="module", name="rings")
def joined_rings() -> tuple[np.ndarray, ICVIARTMAP]:
    X = make_circles(300, factor=0.4, noise=0.03, random_state=0)[0] * [1.0, 50.0]
    return X, ICVIARTMAP(2, shape="any", random_state=0).fit(X)


def test_components_and_their_tree(tmp_path: Path, rings: tuple[np.ndarray, ICVIARTMAP]) -> None:
    X, model = rings
    page = report(tmp_path, model, X)
    found, joins = model.components_, model.joins_
    pieces, axes = page.points()["pieces"], page.points()["axes"]
    assert pieces["clusters"] == found.clusters.tolist()
    features = np.array(pieces["centres"])[:, 4:]  # four directions come first
    np.testing.assert_allclose(features, found.means, rtol=1e-5)
    places = np.array([axis["values"] for axis in axes]).T
    for i, centre in enumerate(pieces["centres"]):
        own = places[found.labels == i]
        np.testing.assert_allclose(own.mean(axis=0), centre, rtol=1e-4, atol=1e-4)
    spreads = np.zeros((len(found.clusters), 6, 6))
    spreads[:, *np.tril_indices(6)] = pieces["spreads"]
    np.testing.assert_allclose(spreads[:, 5, 4], found.covariances[:, 1, 0], rtol=1e-5)
    np.testing.assert_allclose(spreads[:, 5, 5], found.covariances[:, 1, 1], rtol=1e-5)
    assert f"joined of {len(found.clusters)} components" in page.text["short"]
    assert "n_init" not in page.text["short"]
    np.testing.assert_array_equal(page.numbers("join-table")[:, 2], joins.prominence)
    lines = [a["class"] for tag, a in page.elements if tag == "polyline"]
    made = [f"made c{found.clusters[a]}" for a in joins.first[joins.made]]
    assert sorted(lines) == sorted(["line", "apart", *made])
    leaves = [a["class"] for tag, a in page.elements if tag == "rect"]
    assert sorted(leaves) == sorted(f"leaf c{c}" for c in found.clusters)


def test_clusters_that_were_not_joined_have_no_tree(
    tmp_path: Path, blobs: tuple[np.ndarray, np.ndarray], fitted: ICVIARTMAP
) -> None:
    page = report(tmp_path, fitted, blobs[0])
    assert page.points()["pieces"] is None
    assert "components" not in page.text
    assert "joined" not in page.text["short"] + page.text["map"] + page.text["quality"]


def test_rows_of_noise_count_nowhere(tmp_path: Path, blobs: tuple[np.ndarray, np.ndarray]) -> None:
    far = blobs[0][:12] + np.random.default_rng(0).choice([-9.0, 9.0], (12, 3))
    X = np.concatenate([blobs[0], far])
    classes = np.append(blobs[1], np.arange(12) % 4)
    model = ICVIARTMAP(4, index="CH", noise=True, random_state=0).fit(X)
    placed = model.labels_ >= 0
    assert 2 < (noise := np.count_nonzero(~placed)) < 20
    page = report(tmp_path, model, X, truth=classes)
    ari = adjusted_rand_score(classes[placed], model.labels_[placed])
    assert float(dict_of(page, "figure-truth")["data-value"]) == pytest.approx(ari)
    assert page.numbers("agreement-table")[-1, 0] == pytest.approx(ari)
    assert f"{noise} rows ({percent(noise / 252)}) lie far from all clusters" in page.text["short"]
    assert f"The {252 - noise} rows fall into 4 clusters" in page.text["short"]
    assert "Grey rows are noise." in page.text["map"]
    assert page.points()["clusters"] == model.labels_.tolist()
    assert sum(page.points()["sizes"]) == 252 - noise
    assert page.numbers("class-table").sum() == 252 - noise
    assert page.numbers("cluster-table")[:, 0].sum() == 252 - noise
    values = {row[0][0].split()[0]: float(row[1][1]) for row in page.tables["index-table"][1:]}
    assert values["CH"] == pytest.approx(index_value(X[placed], model.labels_[placed], "CH"))
    rows = [int(row[0][0]) for row in page.tables["uncertain-table"][1:]]
    assert placed[rows].all()


def test_of_noise_some_rows_are_drawn_too() -> None:
    labels = np.repeat([-1, 0, 1], [15, 5000, 3000])
    drawn = points.chosen_rows(labels, 2, 200, np.array([17]), np.random.RandomState(0))
    assert np.count_nonzero(labels[drawn] == -1) >= 10


def dict_of(page: Page, name: str) -> dict[str, str | None]:
    return next(named for _, named in page.elements if named.get("id") == name)


def test_tree_by_hand() -> None:
    joins = Joins(
        first=np.array([1, 0]),
        second=np.array([2, 1]),
        prominence=np.array([1.0, 2.0]),
        evidence=np.array([4.0, 9.0]),
        made=np.array([True, False]),
        clusters=np.array([1, 0, 0]),
    )
    tree = charts.tree_chart(joins)
    each = (tree.right - tree.left) / 3
    high = tree.bottom - tree.top

    def corner(x: float, y: float) -> str:
        across = round(tree.left + (x + 0.5) * each, 1)
        return f"{across:g},{round(tree.bottom - y / 2.1 * high, 1):g}"

    assert tree.joins == [
        (" ".join(corner(*at) for at in ((1, 0), (1, 1), (2, 1), (2, 0))), 0),
        (" ".join(corner(*at) for at in ((0, 0), (0, 2), (1.5, 2), (1.5, 1))), None),
    ]
    assert [cluster for _, cluster in tree.leaves] == [1, 0, 0]
    assert [name for _, name in tree.names] == [0, 1, 2]
    assert tree.text == "Tree of 3 components joined to 2 clusters."


def test_an_index_of_ones_own_comes_first(
    fitted: ICVIARTMAP, blobs: tuple[np.ndarray, np.ndarray]
) -> None:
    @custom_index(better="greater")
    def tightness(n, mean, compactness):
        return -compactness.sum()

    X, _ = blobs
    model = ICVIARTMAP(4)
    vars(model).update(vars(fitted), fitted_=replace(fitted.fitted_, index=tightness))
    found = quality.compare(model, X, np.arange(len(X)), np.random.RandomState(0))
    assert [index.name for index in found.indices] == ["tightness", *INDICES]
    standardised = (X - X.mean(axis=0)) / X.std(axis=0)
    within = sum(
        np.square(part - part.mean(axis=0)).sum()
        for part in (standardised[fitted.labels_ == i] for i in range(4))
    )
    assert found.values[0, 0] == pytest.approx(-within)


def test_trace_and_history(tmp_path: Path, blobs: tuple[np.ndarray, np.ndarray]) -> None:
    X, _ = blobs
    model = ICVIARTMAP(4, refine=False, random_state=0).fit(X, trace=True)
    page = report(tmp_path, model, X)
    assert "presentations" in page.text["course"]
    assert ".fit(X, trace=True)" in page.text["command"]
    assert "presentations" not in report(tmp_path, model.fit(X), X).text["course"]


def test_the_same_arguments_give_the_same_file(
    tmp_path: Path, fitted: ICVIARTMAP, blobs: tuple[np.ndarray, np.ndarray]
) -> None:
    first = report(tmp_path, fitted, blobs[0], max_points=50).html
    assert report(tmp_path, fitted, blobs[0], max_points=50).html == first
    assert report(tmp_path, fitted, blobs[0], max_points=50, random_state=1).html != first


def test_the_default_command_makes_the_model_again(
    tmp_path: Path, fitted: ICVIARTMAP, blobs: tuple[np.ndarray, np.ndarray]
) -> None:
    code = report(tmp_path, fitted, blobs[0]).text["command"].splitlines()
    names: dict[str, Any] = {"X": blobs[0]}
    exec("\n".join(code[:-1]), names)
    np.testing.assert_array_equal(names["model"].labels_, fitted.labels_)
    parameters = {
        name: text
        for (name, _), (text, _) in Page((tmp_path / "report.html").read_text()).tables[
            "parameter-table"
        ][1:]
    }
    assert parameters["random_state"] == "0 (not the default)"
    assert parameters["rho_a"] == "0.0"


def test_a_data_frame_brings_its_names(tmp_path: Path) -> None:
    X, _ = make_blobs(40, centers=2, n_features=2, random_state=0)
    frame = pd.DataFrame(X, columns=["height", "weight"], index=[f"p{i}" for i in range(40)])
    found = report(tmp_path, ICVIARTMAP(2, random_state=0).fit(frame), frame).points()
    assert found["ids"][:2] == ["p0", "p1"]
    assert [axis["name"] for axis in found["axes"][4:]] == ["height", "weight"]


def test_unknown_classes_do_not_count(tmp_path: Path) -> None:
    X, y = make_blobs(40, centers=2, n_features=2, random_state=0)
    truth = [None if i == 3 else float("nan") if i == 5 else f"class {c}" for i, c in enumerate(y)]
    model = ICVIARTMAP(2, random_state=0).fit(X)
    page = report(tmp_path, model, X, truth=truth)
    assert "The class of 2 rows is not known" in page.text["classes"]
    kept = np.delete(np.arange(40), [3, 5])
    assert page.numbers("class-table").sum() == 38
    expected = adjusted_rand_score(y[kept], model.labels_[kept])
    assert f"(adjusted Rand index): {expected:.4f}" in page.text["classes"]


# --- wrong input ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"feature_names": ["a"]}, ValueError, "feature_names has 1 names, but X has 3 features"),
        ({"ids": [1, 2]}, ValueError, "ids has 2 entries, but X has 240 samples"),
        ({"truth": [1, 2]}, ValueError, r"truth has shape \(2,\), but X has 240 samples"),
        ({"truth": [None] * 240}, ValueError, "no class that is known"),
        ({"notes": "text"}, TypeError, r"notes must be a sequence.*use \['text'\]"),
        ({"max_points": 0}, ValueError, "max_points must be at least 1"),
        ({"max_points": 2.5}, TypeError, "max_points must be an integer"),
    ],
)
def test_wrong_options(
    tmp_path: Path,
    fitted: ICVIARTMAP,
    blobs: tuple[np.ndarray, np.ndarray],
    options: dict[str, Any],
    error: type[Exception],
    message: str,
) -> None:
    with pytest.raises(error, match=message):
        write_report(tmp_path / "r.html", fitted, blobs[0], **options)
    assert not list(tmp_path.iterdir())


def test_wrong_data(
    tmp_path: Path, fitted: ICVIARTMAP, blobs: tuple[np.ndarray, np.ndarray]
) -> None:
    path, (X, _) = tmp_path / "r.html", blobs
    with pytest.raises(ValueError, match=r"shape \(100, 3\), but .* fitted on .* \(240, 3\)"):
        write_report(path, fitted, X[:100])
    with pytest.raises(ValueError, match="not in the same order"):
        write_report(path, fitted, X[::-1])
    with pytest.raises(ValueError, match="contains NaN"):
        write_report(path, fitted, np.where(np.arange(3) == 1, np.nan, X))
    with pytest.raises(TypeError, match="must be a fitted ICVIARTMAP, got KMeans"):
        write_report(path, KMeans(2), X)  # type: ignore[arg-type]
    with pytest.raises(NotFittedError):
        write_report(path, ICVIARTMAP(3), X)
    search = ICVIARTMAPSearch(ICVIARTMAP(4, index="CH"), rho_a=[0], rho_ab=[1], random_state=0)
    with pytest.raises(TypeError, match="Pass its best_estimator_"):
        write_report(path, search.fit(X), X)  # type: ignore[arg-type]
    write_report(path, search.best_estimator_, X)


def test_wrong_paths(
    tmp_path: Path, fitted: ICVIARTMAP, blobs: tuple[np.ndarray, np.ndarray]
) -> None:
    with pytest.raises(IsADirectoryError, match="give the path of a file"):
        write_report(tmp_path, fitted, blobs[0])
    with pytest.raises(FileNotFoundError, match="does not exist"):
        write_report(tmp_path / "no" / "r.html", fitted, blobs[0])


def test_a_failure_leaves_the_old_file(
    tmp_path: Path,
    fitted: ICVIARTMAP,
    blobs: tuple[np.ndarray, np.ndarray],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = tmp_path / "r.html"
    path.write_text("old")
    monkeypatch.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        write_report(path, fitted, blobs[0])
    assert [p.name for p in tmp_path.iterdir()] == ["r.html"]
    assert path.read_text() == "old"


def test_without_jinja2_the_message_says_so(
    tmp_path: Path,
    fitted: ICVIARTMAP,
    blobs: tuple[np.ndarray, np.ndarray],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match="A report needs jinja2: pip install"):
        write_report(tmp_path / "r.html", fitted, blobs[0])


def test_public_name() -> None:
    assert icvi_artmap.write_report is write_report
    assert "write_report" in dir(icvi_artmap)


# --- parts ---------------------------------------------------------------------------------------


def test_line_chart_by_hand() -> None:
    chart = charts.line_chart(
        np.array([2, 3, 4]),
        np.array([10.0, 0.0, 5.0]),
        x_label="k",
        y_label="v",
        text="t",
        marked=3.0,
        borders=np.array([3.5, 9.0]),
    )
    assert chart is not None
    xs, ys = zip(*(map(float, point.split(",")) for point in chart.line.split()), strict=True)
    assert (xs[0], xs[2]) == (chart.left, chart.right)
    assert xs[1] == (chart.left + chart.right) / 2
    assert ys[0] < ys[2] < ys[1]  # upwards is smaller in SVG
    assert chart.marked == (xs[1], ys[1])
    assert len(chart.borders) == 1
    assert [label for _, label in chart.x_ticks] == ["2", "3", "4"]
    infinite = np.array([np.inf, np.nan, 1.0])
    assert charts.line_chart(infinite, infinite, x_label="", y_label="", text="") is None


def test_a_long_line_keeps_its_extremes() -> None:
    y = np.sin(np.arange(100_000) / 900.0)
    y[54_321] = 9.0
    kept = charts._thinned(y)
    assert len(kept) <= 2 * charts.STRETCHES + 2
    assert 54_321 in kept
    assert {0, 99_999} <= set(kept.tolist())


@pytest.mark.parametrize(
    ("low", "high", "labels"),
    [
        (0.0, 6.0, ["0", "1", "2", "3", "4", "5", "6"]),
        (-1.0, 0.5, ["−1.00", "−0.75", "−0.50", "−0.25", "0.00", "0.25", "0.50"]),
        (0.0, 12_000.0, ["0", "2,000", "4,000", "6,000", "8,000", "10,000", "12,000"]),
        (0.0, 6e-7, ["0", "1e−07", "2e−07", "3e−07", "4e−07", "5e−07", "6e−07"]),
    ],
)
def test_ticks(low: float, high: float, labels: list[str]) -> None:
    assert [label for _, label in charts.ticks(low, high)] == labels


@pytest.mark.parametrize("scale", [1e-9, 0.03, 1.0, 777.0, 1e12])
def test_ticks_can_be_told_apart(scale: float) -> None:
    for width in np.linspace(1.0, 10.0, 50):
        found = charts.ticks(-0.3 * width * scale, 0.7 * width * scale)
        assert 3 <= len(found) <= 8
        labels = [label for _, label in found]
        assert len(set(labels)) == len(labels)
        values = [float(label.replace(",", "").replace("−", "-")) for label in labels]
        np.testing.assert_allclose(values, [value for value, _ in found], rtol=1e-2, atol=1e-15)
        assert all(a < b for a, b in pairwise(values))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (-1.23456, "−1.235"),
        (12345.678, "12,345.7"),
        (1e-7, "1e−07"),
        (1500.0, "1,500"),
        (np.inf, "∞"),
        (-np.inf, "−∞"),
        (np.nan, "–"),
    ],
)
def test_numbers_in_words(value: float, text: str) -> None:
    assert number(value) == text


def test_percents_never_claim_nothing_or_all() -> None:
    parts = [0.0, 0.001, 0.5, 0.999, 1.0]
    assert [percent(p) for p in parts] == [
        "0%",
        "less than 1%",
        "50%",
        "more than 99%",
        "100%",
    ]
    assert [signed(v) for v in (-0.001, 0.004, -1.5, 2.0)] == ["0.00", "0.00", "−1.50", "+2.00"]
    assert [shade(v) for v in (0.0, 0.4, -1.0, 99.0)] == ["", "above-1", "below-3", "above-6"]
