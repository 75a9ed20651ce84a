"""Columns recorded in steps, rows that were copied, and what that does to clusters."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.datasets import load_iris, make_moons
from sklearn.metrics import adjusted_rand_score

from icvi_artmap import ICVIARTMAP, index_value, load, save
from icvi_artmap.datasets import make_gaussian_clusters
from icvi_artmap.inspection.profiles import profiles
from icvi_artmap.samples import resolution
from icvi_artmap.samples.resolution import steps, thinned

RNG = np.random.default_rng(0)
INTEGERS = RNG.integers(-40, 60, 500).astype(float)


def answers(seed: int = 0) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Answers from 1 to 5 to three questions, of three groups of people."""
    rng = np.random.default_rng(seed)
    middle = np.array([[1.5, 4.5, 3.0], [4.5, 1.8, 1.5], [3.0, 3.0, 4.7]])
    group = np.repeat([0, 1, 2], 200)
    return np.clip(np.rint(middle[group] + rng.normal(0.0, 0.7, (600, 3))), 1.0, 5.0), group


def silently(model: ICVIARTMAP, X: NDArray[np.float64]) -> ICVIARTMAP:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return model.fit(X)


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (INTEGERS, 1.0),
        (INTEGERS * 0.01 + 7.0, 0.01),
        ((INTEGERS - INTEGERS.mean()) / INTEGERS.std(), 1.0 / INTEGERS.std()),
        (np.round(RNG.normal(size=300), 3), 0.001),
        (np.array([0.0, 1.0] * 50), 1.0),
        (np.array([0.0, 20.0, 50.0]), 10.0),  # by Euclid: every gap is a multiple
        (np.repeat([0.13, 0.57, 0.9, 2.0], 30), 0.33),  # levels as they like, each often
        (RNG.normal(size=300), 0.0),
        (RNG.uniform(size=5), 0.0),
        (np.where(RNG.random(300) < 0.5, 0.0, RNG.normal(size=300)), 0.0),
        (np.full(20, 3.7), 0.0),
        (np.array([5.0, 6.0]), 1.0),
        (INTEGERS * 1e-9 + 1.0, 1e-9),
        (INTEGERS * 1e300, 1e300),
    ],
)
def test_the_step_of_a_column(column: NDArray[np.float64], expected: float) -> None:
    assert steps(column[:, np.newaxis]) == pytest.approx([expected], rel=1e-3)


def test_a_step_is_that_of_all_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resolution, "LOOKED_AT", 100)
    X = np.tile(np.arange(10.0), 50)[:, np.newaxis]
    assert steps(X) == [1.0]
    X[7] += 0.25  # a row that is not looked at first
    assert steps(X) == [0.25]
    X[8] += RNG.random()
    X[9] += RNG.random()
    monkeypatch.setattr(resolution, "OFTEN", 1000)
    assert steps(X) == [0.0]


def test_float32_columns_have_steps() -> None:
    X = (np.arange(50, dtype=np.float32) % 7)[:, np.newaxis]
    assert steps(X) == [1.0]


def test_no_cluster_is_flatter_than_its_steps() -> None:
    """NI of the clusters found, with δ + h²/12 added to every variance of the standardised data."""
    X, _ = answers()
    model = silently(ICVIARTMAP(3, random_state=0), X)
    np.testing.assert_array_equal(model.resolution_, [1.0, 1.0, 1.0])
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    floor = np.diag(10.0 ** (-12.0 / 3) + (1.0 / X.std(axis=0)) ** 2 / 12.0)

    def log_volume(rows: NDArray[np.float64]) -> float:
        return float(np.linalg.slogdet(np.cov(rows.T) + floor)[1])

    expected = -0.5 * log_volume(Z)
    for i in range(3):
        part = (model.labels_ == i).mean()
        expected += part * (0.5 * log_volume(Z[model.labels_ == i]) - np.log(part))
    assert model.index_value_ == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("shape", ["gaussian", "any"])
def test_data_without_a_grid_are_treated_as_before(shape: str) -> None:
    X, _ = make_gaussian_clusters(5, 3, random_state=0)
    one, other = (
        silently(ICVIARTMAP(5, shape=shape, resolution=told, random_state=0), X)
        for told in ("none", "learn")
    )
    assert not other.resolution_.any()
    np.testing.assert_array_equal(one.labels_, other.labels_)
    np.testing.assert_array_equal(one.categories_, other.categories_)
    assert one.index_value_ == other.index_value_


def test_rounding_makes_no_stripes() -> None:
    """Two moons, one column in 16 steps: without knowing of steps, stripes are found."""
    X, y = make_moons(800, noise=0.05, random_state=0)
    X[:, 1] = np.round(X[:, 1], 1)
    model = silently(ICVIARTMAP(2, shape="any", random_state=0), X)
    assert model.resolution_ == pytest.approx([0.0, 0.1])
    assert adjusted_rand_score(y, model.labels_) > 0.99


def test_the_papers_algorithm_knows_no_steps() -> None:
    X, _ = answers()
    runs = [
        silently(ICVIARTMAP(3, refine=False, resolution=told, random_state=0), X)
        for told in ("none", "auto", "learn")
    ]
    assert runs[0].index_value_ == runs[1].index_value_ != runs[2].index_value_
    np.testing.assert_array_equal(runs[0].labels_, runs[1].labels_)
    assert [bool(run.resolution_.any()) for run in runs] == [False, False, True]


def test_an_index_without_covariances_has_no_use_for_steps() -> None:
    X, _ = answers()
    runs = [
        silently(ICVIARTMAP(3, index="CH", resolution=told, random_state=0), X)
        for told in ("none", "learn")
    ]
    assert runs[0].index_value_ == runs[1].index_value_


@pytest.mark.parametrize("seed", range(4))
def test_groups_of_answers_are_not_taken_apart(seed: int) -> None:
    X, group = answers(seed)
    model = silently(ICVIARTMAP("auto", random_state=0), X)
    assert model.n_clusters_ == 3
    assert adjusted_rand_score(group, model.labels_) > 0.8
    fine = silently(ICVIARTMAP("auto", resolution="none", random_state=0), X)
    assert fine.n_clusters_ > 10  # what steps keep from happening


def test_copied_rows_are_no_evidence() -> None:
    X = load_iris().data
    once = silently(ICVIARTMAP("auto", random_state=0), X)
    with pytest.warns(RuntimeWarning, match="chosen without 600 rows: exact copies of others"):
        model = ICVIARTMAP("auto", random_state=0).fit(np.repeat(X, 5, axis=0))
    assert model.n_clusters_ == once.n_clusters_
    assert adjusted_rand_score(model.labels_, np.repeat(once.labels_, 5)) == 1.0
    assert model.selection_.margin == pytest.approx(once.selection_.margin, rel=1e-6)
    assert model.selection_.copies == 600
    assert not model.selection_.clear


def test_copies_are_left_out_in_proportion() -> None:
    rng = np.random.RandomState(0)
    X = rng.normal(size=(90, 2))
    often = np.array([1] * 30 + [4] * 30 + [10] * 30)
    table = np.repeat(X, often, axis=0)[rng.permutation(often.sum())]
    kept = table[thinned(table, np.zeros(2), rng)]
    different, count = np.unique(kept, axis=0, return_counts=True)
    np.testing.assert_array_equal(different, np.unique(X, axis=0))
    back = {row.tobytes(): n for row, n in zip(different, count, strict=True)}
    share = 90 / often.sum()
    expected = np.maximum(1, np.rint(often * share))
    assert [back[row.tobytes()] for row in X] == expected.tolist()


def test_what_steps_explain_is_kept() -> None:
    rng = np.random.RandomState(0)
    rounded = np.round(rng.normal(size=(2000, 2)), 1)
    assert len(np.unique(rounded, axis=0)) < 1500
    assert len(thinned(rounded, np.full(2, 0.1), rng)) == 2000
    bits = rng.randint(0, 2, (1000, 6)).astype(float)
    assert len(thinned(bits, np.ones(6), rng)) == 1000
    few = rng.normal(size=(1000, 2))
    few[:5] = few[5:10]  # less than a hundredth
    assert len(thinned(few, np.zeros(2), rng)) == 1000


def test_saved_with_the_model(tmp_path: Path) -> None:
    X, _ = answers()
    model = silently(ICVIARTMAP("auto", random_state=0), X)
    save(model, tmp_path / "answers.icvi")
    again = load(tmp_path / "answers.icvi")
    np.testing.assert_array_equal(again.resolution_, model.resolution_)
    np.testing.assert_array_equal(again.fitted_.scaling.unit, model.fitted_.scaling.unit)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_array_equal(again.membership(X), model.membership(X))
    assert (again.selection_.halves, again.selection_.copies) == (
        model.selection_.halves,
        model.selection_.copies,
    )
    assert again.selection_.clear == model.selection_.clear


def test_profiles_are_in_the_units_of_the_data() -> None:
    X, _ = answers()
    model = silently(ICVIARTMAP(3, random_state=0), X)
    found = profiles(model)
    for i in range(3):
        inside, outside = X[model.labels_ == i], X[model.labels_ != i]
        np.testing.assert_allclose(found.mean[i], inside.mean(axis=0))
        np.testing.assert_allclose(found.rest_mean[i], outside.mean(axis=0))
        within = (len(inside) * inside.var(axis=0) + len(outside) * outside.var(axis=0)) / 598
        effect = (inside.mean(axis=0) - outside.mean(axis=0)) / np.sqrt(within)
        np.testing.assert_allclose(found.effect[i], effect)


def test_steps_of_prepared_columns() -> None:
    """The steps of answers, drawn in and raised to a power; hardly changed in the middle."""
    X, _ = answers()
    plain, clip, power = (
        silently(ICVIARTMAP(3, transform_columns=how, random_state=0), X)
        for how in ("none", "clip", "power")
    )
    np.testing.assert_array_equal(plain.resolution_, clip.resolution_)
    T = power.preparation_.prepared(
        np.array([[1.0] * 3, [2.0] * 3, [3.0] * 3, [4.0] * 3, [5.0] * 3])
    )
    gaps = np.diff(T, axis=0)
    assert (power.resolution_ > gaps.min(axis=0)).all()
    assert (power.resolution_ < gaps.max(axis=0)).all()


def test_steps_of_categories() -> None:
    """Along one axis of a number without a grid and a category of two values, a half each."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=400), np.arange(400) % 2]).astype(object)
    model = silently(ICVIARTMAP(2, categories=[1], random_state=0), X)
    space = model.preparation_.mixed
    expected = np.sqrt((np.square(space.axes[:, 1:]) / 0.5).sum(axis=1))
    np.testing.assert_allclose(model.resolution_, expected)


def test_an_unknown_resolution_is_refused() -> None:
    with pytest.raises(ValueError, match="resolution"):
        ICVIARTMAP(3, resolution="fine").fit(answers()[0])


def test_a_choice_is_clear_only_if_halves_agree() -> None:
    rng = np.random.default_rng(1)
    middle = np.array([[0.0, 0.0], [30.0, 0.0], [0.0, 30.0]])
    X = middle[np.arange(300) % 3] + rng.normal(size=(300, 2))
    clear = ICVIARTMAP("auto", random_state=0).fit(X).selection_
    assert clear.clear
    assert clear.halves == (3, 3)
    doubted = replace(clear, halves=(3, 4), clear=False).doubt()
    assert doubted is not None
    assert "on a half of the rows 4 is chosen" in doubted


@pytest.mark.parametrize("given", [[1.0], [1.0, 1.0, -1.0], [1.0, np.nan, 1.0], "fine"])
def test_steps_that_cannot_be_are_refused(given: object) -> None:
    X, group = answers()
    with pytest.raises(ValueError, match="resolution must have a number"):
        index_value(X, group, resolution=given)  # type: ignore[arg-type]


def test_the_value_of_any_partition_with_steps() -> None:
    X, group = answers()
    model = silently(ICVIARTMAP(3, random_state=0), X)
    for given in (model.resolution_, "learn"):
        value = index_value(X, model.labels_, resolution=given)  # type: ignore[arg-type]
        assert value == pytest.approx(model.index_value_, rel=1e-9)
    assert index_value(X, group, "CH") == index_value(X, group, "CH", resolution="learn")


def test_a_choice_with_a_caution_is_not_clear(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(400, 2)), np.arange(400) % 2])
    model = silently(ICVIARTMAP("auto", resolution="none", random_state=0), X)
    (caution,) = model.cautions_
    assert caution.startswith("The clusters are just the values of 'feature 2'.")
    assert model.selection_.halves == (2, 2)
    assert not model.selection_.clear
    assert "see cautions_" in str(model.selection_.doubt())
    save(model, tmp_path / "model.icvi")
    again = load(tmp_path / "model.icvi").selection_
    assert (again.clear, again.cautioned) == (False, True)
    fine = silently(ICVIARTMAP("auto", random_state=0), X)
    assert fine.cautions_ == ()  # with steps, a column of two values is no finding
