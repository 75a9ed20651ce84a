"""Notebooks and tables: the summary below the diagram, DataFrames in and out."""

from __future__ import annotations

import warnings
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import config_context
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_html_repr

from icvi_artmap import ICVIARTMAP, DualVigilanceFuzzyART, FuzzyART, FuzzyARTMAP
from icvi_artmap._support.wording import number
from icvi_artmap.estimators import notebook

rng = np.random.default_rng(0)
X = rng.normal(size=(90, 2)) + 9.0 * np.array([[0, 0], [3, 0], [0, 3]])[np.arange(90) % 3]
CLASSES = np.array(["<i>a", "b", "c"])[np.arange(90) % 3]
ESTIMATORS = (
    ICVIARTMAP(3, index="CH", random_state=0),
    FuzzyART(0.9),
    DualVigilanceFuzzyART(0.9, 0.7),
    FuzzyARTMAP(),
)
TRANSFORMERS = ESTIMATORS[:3]


class Cells(HTMLParser):
    """The text of all cells of the summary, row by row, and the tags that are open at the end."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.tags: list[str] = []
        self.seen: set[str] = set()
        self.inside = False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.inside = tag in ("td", "th")
        self.seen.add(tag)
        self.tags.append(tag)
        if tag == "tr":
            self.rows.append([])

    def handle_endtag(self, tag: str) -> None:
        assert self.tags.pop() == tag
        self.inside = False

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.rows[-1].append(data)


def summary_of(model: Any) -> str:
    html = model._repr_html_()
    assert model._repr_mimebundle_()["text/html"].count("icvi-artmap-summary") == html.count(
        "icvi-artmap-summary"
    )
    _, found, after = html.partition('<div class="icvi-artmap-summary"')
    return found + after


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_only_a_fitted_estimator_has_a_summary(estimator: Any) -> None:
    assert summary_of(estimator) == ""
    model = type(estimator)(**estimator.get_params()).fit(X, CLASSES)
    html = summary_of(model)
    assert html.count("icvi-artmap-summary") == 1
    assert Cells(html).tags == []  # all are closed
    assert "sk-container-id" in model._repr_html_()  # scikit-learn's diagram is still there
    with config_context(display="text"):
        assert not hasattr(model, "_repr_html_")
        assert model._repr_mimebundle_() == {"text/plain": repr(model)}


def test_what_the_summary_says() -> None:
    model = ICVIARTMAP(range(2, 5), random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X)
    rows = Cells(summary_of(model)).rows
    facts = dict(row for row in rows if len(row) == 2)
    assert facts["Clusters"] == f"{model.n_clusters_} (n_clusters=range(2, 5))"
    assert facts["Index NI"] == f"{number(model.index_value_, 6)} (smaller is better)"
    assert facts["Epochs"].startswith(f"{model.n_iter_} (")
    assert facts["Samples, features"] == "90, 2"
    assert facts["Chosen"].startswith(
        f"k = {model.selection_.n_clusters} of 2 to 4 by penalised NI"
    )
    head, *clusters = [row for row in rows if len(row) > 2]
    assert head[:4] == ["cluster", "samples", "share", "categories"]
    assert head[4:] == ["mean of feature 0", "mean of feature 1"]
    assert len(clusters) == model.n_clusters_
    for i, row in enumerate(clusters):
        n = int((model.labels_ == i).sum())
        assert row[:3] == [str(i), str(n), f"{n / 90:.0%}"]
        assert row[3] == str(int((model.category_labels_ == i).sum()))
        assert row[4:] == [number(mean) for mean in model.cluster_centers_[i]]


def test_classes_of_a_classifier() -> None:
    model = FuzzyARTMAP().fit(X, CLASSES)
    rows = Cells(summary_of(model)).rows
    assert ["Classes", "3"] in rows
    assert [row[0] for row in rows[-3:]] == ["<i>a", "b", "c"]
    assert [row[1] for row in rows[-3:]] == ["30", "30", "30"]


def test_names_are_escaped_and_cut() -> None:
    names = ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>']
    model = ICVIARTMAP(3, index="CH", random_state=0).fit(pd.DataFrame(X, columns=names))
    html = summary_of(model)
    assert Cells(html).seen == {"div", "table", "thead", "tbody", "tr", "th", "td"}
    assert "mean of <script>aler…1)</script>" in {cell for row in Cells(html).rows for cell in row}


def test_equal_names_and_many_rows() -> None:
    many = np.tile(X, (1, 4))
    names = ["x" * 30 + str(f) for f in range(8)]
    model = ICVIARTMAP(3, index="CH", random_state=0).fit(pd.DataFrame(many, columns=names))
    html = summary_of(model)
    headings = next(row for row in Cells(html).rows if row[0] == "cluster")
    assert len(set(headings)) == len(headings) == 4 + notebook.FEATURES
    assert "… and 3 more features" in html
    html = summary_of(FuzzyART(0.99).fit(X))
    n = len(FuzzyART(0.99).fit(X).categories_)
    assert f"… and {n - notebook.ROWS} more clusters" in html
    assert len([row for row in Cells(html).rows if len(row) > 2]) == notebook.ROWS + 1


def test_in_the_diagram_of_a_pipeline() -> None:
    pipeline = make_pipeline(ICVIARTMAP(3, index="CH", random_state=0)).fit(X)
    assert "ICVIARTMAP" in estimator_html_repr(pipeline)


# --- DataFrames ----------------------------------------------------------------------------------

FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame}


def frame_of(library: str, values: np.ndarray, names: list[str]) -> Any:
    return FRAMES[library](dict(zip(names, values.T, strict=True)))


@pytest.mark.parametrize("library", FRAMES)
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_frames_in(estimator: Any, library: str) -> None:
    plain = type(estimator)(**estimator.get_params()).fit(X, CLASSES)
    frame = frame_of(library, X, ["width", "height"])
    model = type(estimator)(**estimator.get_params()).fit(frame, CLASSES)
    assert model.feature_names_in_.tolist() == ["width", "height"]
    np.testing.assert_array_equal(model.predict(frame), plain.predict(X))
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame_of(library, X, ["height", "width"]))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(X)


@pytest.mark.parametrize("library", FRAMES)
@pytest.mark.parametrize("estimator", TRANSFORMERS, ids=lambda e: type(e).__name__)
def test_frames_out(estimator: Any, library: str) -> None:
    model = type(estimator)(**estimator.get_params()).fit(X)
    expected = model.transform(X)
    table = model.set_output(transform=library).transform(X)
    assert isinstance(table, FRAMES[library])
    names = [f"{type(model).__name__.lower()}{i}" for i in range(model.n_clusters_)]
    assert list(table.columns) == list(model.get_feature_names_out()) == names
    np.testing.assert_array_equal(table.to_numpy(), expected)
