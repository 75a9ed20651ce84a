"""ICVIARTMAP as scikit-learn and its users see it."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numba import config
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from threadpoolctl import threadpool_limits

import oracle
from helpers.kernels import OF_BATCHES
from helpers.problems import assert_equal_runs, random_problem, run_both
from icvi_artmap import ICVIARTMAP, ICVIARTMAPSearch, index_value, vat
from icvi_artmap._support.wording import MINUS
from icvi_artmap.indices.registry import INDICES
from icvi_artmap.samples.scaling import learn_scaling, standardised_table
from icvi_artmap.training.run import Run

NAMES = list(INDICES)
#: Vigilances under which all parts of the algorithm have work to do.
BUSY = {"rho_a": 0.8, "rho_ab": 0.9}


@parametrize_with_checks(
    [
        ICVIARTMAP(n_clusters=3),
        ICVIARTMAP(n_clusters=2, index="CH", rho_a=0.7, rho_ab=0.9, n_init=2),
        ICVIARTMAP(n_clusters=3, index="XB", shuffle=False, evaluation="batch", max_epochs=2),
        ICVIARTMAP(n_clusters=3, prediction="category"),
        ICVIARTMAP(n_clusters=3, index="CH", noise=True),
    ]
)
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def blobs(seed: int = 0, n: int = 150, d: int = 3, k: int = 4) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) + 3.0 * rng.normal(size=(k, d))[rng.integers(0, k, n)]


@pytest.fixture(scope="module", name="X")
def blobs_once() -> np.ndarray:
    return blobs()


def model(**options: Any) -> ICVIARTMAP:
    """The paper's algorithm, unless ``options`` say otherwise."""
    paper = {"n_clusters": 4, "index": "CH", "refine": False, "random_state": 0}
    return ICVIARTMAP(**{**paper, **options})


# --- what a fit leaves behind --------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_fitted_attributes(name: str, X: np.ndarray) -> None:
    fitted = model(index=name, **BUSY).fit(X)
    n, d = X.shape
    k, c = fitted.n_clusters_, len(fitted.categories_)
    assert isinstance(k, int)
    assert 1 <= k <= 4
    assert fitted.labels_.shape == (n,)
    assert fitted.labels_.dtype == np.int64
    assert np.unique(fitted.labels_).tolist() == list(range(k))
    assert fitted.cluster_centers_.shape == (k, d)
    assert fitted.cluster_centers_.dtype == np.float64
    for i in range(k):
        centre = X[fitted.labels_ == i].mean(axis=0)
        np.testing.assert_allclose(fitted.cluster_centers_[i], centre, rtol=1e-9, atol=1e-9)
    assert isinstance(fitted.index_value_, float)
    assert fitted.index_value_ == pytest.approx(index_value(X, fitted.labels_, name), rel=1e-9)
    assert fitted.index_history_.shape == (fitted.n_iter_ + 1,)
    assert fitted.index_history_[-1] == fitted.index_value_
    assert list(fitted.history_) == ["n_clusters", "n_categories", "merges", "splits"]
    assert {values.shape for values in fitted.history_.values()} == {(fitted.n_iter_,)}
    assert {values.dtype for values in fitted.history_.values()} == {np.dtype(np.int64)}
    assert fitted.history_["n_clusters"][-1] == k
    assert fitted.history_["n_categories"][-1] == c
    assert isinstance(fitted.n_iter_, int)
    assert 1 <= fitted.n_iter_ <= fitted.max_epochs
    assert isinstance(fitted.converged_, bool)
    assert fitted.categories_.shape == (c, 2, d)
    assert fitted.category_labels_.shape == (c,)
    assert set(fitted.category_labels_) <= set(range(k))
    assert fitted.map_field_.shape == (c, k)
    assert ((fitted.map_field_ >= 0.0) & (fitted.map_field_ <= 1.0)).all()
    np.testing.assert_array_equal(fitted.category_labels_, fitted.map_field_.argmax(axis=1))
    assert fitted.sample_categories_.shape == (n,)
    assert np.unique(fitted.sample_categories_).tolist() == list(range(c))
    assert fitted.n_features_in_ == d
    assert not hasattr(fitted, "feature_names_in_")
    assert not hasattr(fitted, "index_trace_")


def test_categories_are_boxes_around_their_samples(X: np.ndarray) -> None:
    fitted = model(**BUSY).fit(X)
    lower, upper = fitted.categories_[:, 0], fitted.categories_[:, 1]
    slack = 1e-9 * np.ptp(X, axis=0)
    assert (lower <= upper + slack).all()
    assert (lower >= X.min(axis=0) - slack).all()
    assert (upper <= X.max(axis=0) + slack).all()
    assert (lower[fitted.sample_categories_] - slack <= X).all()
    assert (upper[fitted.sample_categories_] + slack >= X).all()


def test_convergence_is_reported(X: np.ndarray) -> None:
    short = model(index="NI", max_epochs=1, **BUSY).fit(X)
    assert short.n_iter_ == 1
    assert not short.converged_
    enough = model(index="NI", max_epochs=50, **BUSY).fit(X)
    assert enough.converged_
    assert enough.n_iter_ < 50
    loose = model(index="NI", tol=1e9, **BUSY).fit(X)
    assert loose.n_iter_ == 2  # from the second epoch on


def test_vat_order(X: np.ndarray) -> None:
    """The samples sorted by hand, and presented as they are, give the same."""
    order = vat(learn_scaling(X).min_max(X))
    fitted = model(index="NI", init=X[:4], shuffle=False, order="vat", **BUSY).fit(X)
    sorted_ = model(index="NI", init=X[:4], shuffle=False, **BUSY).fit(X[order])
    np.testing.assert_array_equal(fitted.labels_[order], sorted_.labels_)
    np.testing.assert_array_equal(fitted.sample_categories_[order], sorted_.sample_categories_)
    plain = model(index="NI", init=X[:4], shuffle=False, **BUSY).fit(X)
    assert (fitted.sample_categories_ != plain.sample_categories_).any()


@pytest.mark.parametrize("name", NAMES)
def test_trace(name: str, X: np.ndarray) -> None:
    """A value after every presentation; without merge or split the last one is the epoch's."""
    fitted = model(index=name, max_epochs=3).fit(X, trace=True)
    assert fitted.index_trace_.shape == (fitted.n_iter_ * len(X),)
    ends = fitted.index_trace_[len(X) - 1 :: len(X)]
    left = fitted.history_["merges"] + fitted.history_["splits"] == 0
    np.testing.assert_allclose(ends[left], fitted.index_history_[1:][left], rtol=1e-9)
    if left[-1]:
        assert fitted.index_trace_[-1] == pytest.approx(fitted.index_value_, rel=1e-9)
    plain = model(index=name, max_epochs=3).fit(X)
    np.testing.assert_array_equal(plain.labels_, fitted.labels_)
    np.testing.assert_array_equal(fitted.fit(X).labels_, plain.labels_)
    assert not hasattr(fitted, "index_trace_")


def test_fit_predict_returns_the_labels(X: np.ndarray) -> None:
    fitted = model(**BUSY)
    np.testing.assert_array_equal(fitted.fit_predict(X), fitted.labels_)
    np.testing.assert_array_equal(fitted.labels_, model(**BUSY).fit(X).labels_)
    traced = model(**BUSY)
    traced.fit_predict(X, trace=True)
    assert len(traced.index_trace_) == traced.n_iter_ * len(X)


def test_it_finds_clusters() -> None:
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], 50)
    X = rng.normal(size=(150, 2)) + np.array([[0, 0], [20, 0], [0, 20]])[truth]
    for name in NAMES:
        labels = ICVIARTMAP(3, index=name, random_state=0).fit_predict(X)
        assert adjusted_rand_score(truth, labels) == 1.0


# --- the same labels as the oracle ---------------------------------------------------------------


def oracle_of(X: np.ndarray, fitted: ICVIARTMAP, centres: np.ndarray) -> oracle.Result:
    """The oracle's run from the same centres, samples in the given order."""
    names = ("n_clusters", "rho_a", "rho_ab", "beta_a", "alpha", "epsilon", "beta_ab", "tol")
    options = {name: getattr(fitted, name) for name in names}
    index = fitted.index.lower()
    return oracle.fit(X, centres, index=index, max_epochs=fitted.max_epochs, **options)


@pytest.mark.nojit
@pytest.mark.parametrize(
    ("name", "evaluation"),
    [(name, "incremental") for name in NAMES]
    + [(name, "batch") for name in (NAMES if config.DISABLE_JIT else OF_BATCHES)],
)
def test_both_evaluations_equal_the_oracle(name: str, evaluation: str) -> None:
    for seed in range(3):
        X = blobs(seed, n=40, d=2)
        centres = X[:4]
        fitted = model(
            index=name, init=centres, shuffle=False, max_epochs=3, evaluation=evaluation, **BUSY
        ).fit(X, trace=True)
        reference = oracle_of(X, fitted, centres)
        np.testing.assert_array_equal(fitted.labels_, reference.labels)
        np.testing.assert_array_equal(fitted.sample_categories_, reference.sample_categories)
        np.testing.assert_array_equal(fitted.map_field_, reference.map_field)
        np.testing.assert_allclose(fitted.index_trace_, reference.trace, rtol=1e-9, atol=1e-9)
        assert fitted.index_value_ == pytest.approx(reference.index_value, rel=1e-9)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("name", OF_BATCHES)
def test_batch_evaluation_in_random_corners(name: str, seed: int) -> None:
    X, centres, parameters = random_problem(np.random.default_rng(1000 + seed))
    fitted = ICVIARTMAP(
        len(centres),
        index=name,
        init=centres,
        shuffle=False,
        evaluation="batch",
        max_epochs=4,
        refine=False,
        **parameters,
    ).fit(X)
    reference = oracle_of(X, fitted, centres)
    np.testing.assert_array_equal(fitted.labels_, reference.labels)
    np.testing.assert_array_equal(fitted.sample_categories_, reference.sample_categories)
    np.testing.assert_array_equal(fitted.map_field_, reference.map_field)


@pytest.mark.nojit
@pytest.mark.parametrize("seed", [3, 5])
@pytest.mark.parametrize("name", NAMES)
def test_some_random_corners_in_plain_python(name: str, seed: int) -> None:
    X, centres, parameters = random_problem(np.random.default_rng(seed))
    assert_equal_runs(name, *run_both(name, X, centres, parameters))


@pytest.mark.nojit
@pytest.mark.parametrize("name", ["CH", "NI"])
def test_predict_by_category_equals_the_oracle(name: str) -> None:
    """Also outside the range of the training data."""
    X = blobs(1, n=50, d=2)
    fitted = model(index=name, init=X[:4], shuffle=False, max_epochs=3, **BUSY).fit(X)
    reference = oracle_of(X, fitted, X[:4])
    rng = np.random.default_rng(0)
    new = np.vstack([X, X.mean(axis=0) + 3.0 * X.std(axis=0) * rng.normal(size=(100, 2))])
    predicted = fitted.set_params(prediction="category").predict(new)
    assert predicted.dtype == np.int64
    np.testing.assert_array_equal(predicted, oracle.predict(reference, new))


@pytest.mark.nojit
def test_transform_is_the_best_choice_of_every_cluster() -> None:
    X = blobs(2, n=50, d=2)
    fitted = model(**BUSY).fit(X)
    scaling = oracle.fit_scaling(X)
    codes = oracle.complement_code(oracle.min_max(scaling, X))
    expected = np.zeros((len(X), fitted.n_clusters_))
    for s, code in enumerate(codes):
        choice = oracle.art.eq_fa_t(code, fitted.fitted_.boxes, fitted.alpha)
        for i in range(fitted.n_clusters_):
            expected[s, i] = choice[fitted.category_labels_ == i].max(initial=0.0)
    values = fitted.transform(X)
    np.testing.assert_array_equal(values, expected)
    np.testing.assert_array_equal(model(**BUSY).fit_transform(X), values)


def test_transform_of_a_cluster_that_no_category_predicts(X: np.ndarray) -> None:
    fitted = model(**BUSY).fit(X)
    assert (fitted.transform(X) > 0.0).all()
    fitted.category_labels_ = np.zeros_like(fitted.category_labels_)
    values = fitted.transform(X)
    assert (values[:, 0] > 0.0).all()
    assert not values[:, 1:].any()


def test_largest_transformed_value_is_the_prediction(X: np.ndarray) -> None:
    fitted = model(prediction="category", **BUSY).fit(X)
    new = blobs(9)
    values, predicted = fitted.transform(new), fitted.predict(new)
    np.testing.assert_array_equal(values.max(axis=1), values[np.arange(len(new)), predicted])


@pytest.mark.parametrize("name", NAMES)
def test_score_is_greater_for_better(name: str, X: np.ndarray) -> None:
    """The index of the predicted partition, scaled as the training data were, sign turned."""
    fitted = model(index=name, **BUSY).fit(X)
    new = blobs(9)
    for table in (X, new):
        standardised = standardised_table(table, learn_scaling(X))
        expected = oracle.score(name.lower(), standardised, fitted.predict(table))
        assert fitted.score(table) == pytest.approx(expected, rel=1e-9)
    assert fitted.score(X[:1]) == -np.inf


# --- starts and seeds ----------------------------------------------------------------------------


def test_a_seed_determines_everything(X: np.ndarray) -> None:
    a, b = model(random_state=3, **BUSY).fit(X), model(random_state=3, **BUSY).fit(X)
    np.testing.assert_array_equal(a.labels_, b.labels_)
    np.testing.assert_array_equal(a.categories_, b.categories_)
    np.testing.assert_array_equal(a.map_field_, b.map_field_)
    assert a.index_value_ == b.index_value_
    c = clone(a).fit(X)
    np.testing.assert_array_equal(a.labels_, c.labels_)


def test_forms_of_random_state(X: np.ndarray) -> None:
    expected = model(random_state=7, **BUSY).fit(X)
    generator = np.random.RandomState(7)
    first = model(random_state=generator, **BUSY).fit(X)
    np.testing.assert_array_equal(first.sample_categories_, expected.sample_categories_)
    second = model(random_state=generator, **BUSY).fit(X)  # it has moved on
    assert not np.array_equal(second.sample_categories_, expected.sample_categories_)
    np.random.seed(7)
    unseeded = model(random_state=None, **BUSY).fit(X)
    np.testing.assert_array_equal(unseeded.sample_categories_, expected.sample_categories_)
    with pytest.raises(ValueError, match="cannot be used to seed"):
        model(random_state="seed").fit(X)


def test_only_the_best_run_is_taught(X: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    taught, teach = [], Run._teach

    def counted(self: Run, *arguments: Any) -> None:
        taught.append(self.score)
        teach(self, *arguments)

    monkeypatch.setattr(Run, "_teach", counted)
    fitted = model(n_clusters=6, n_init=4, kmeans_trials=1, refine=True).fit(X)
    assert taught == [fitted.index_value_]
    np.testing.assert_array_equal(
        fitted.category_labels_[fitted.sample_categories_], fitted.labels_
    )


@pytest.mark.parametrize("name", ["NI", "CH"])
def test_n_init_keeps_the_best(name: str, X: np.ndarray, capsys: pytest.CaptureFixture) -> None:
    """All ends are printed; the best of them is kept, and it is not the first or the last."""
    best_runs = set()
    for seed in range(8):
        fitted = model(
            n_clusters=6, index=name, n_init=4, kmeans_trials=1, random_state=seed, verbose=1
        ).fit(X)
        ends: dict[int, float] = {}
        for line in capsys.readouterr().out.splitlines():
            words = line.replace(",", "").replace(":", "").split()
            ends[int(words[2])] = float(words[words.index("=") + 1].replace(MINUS, "-"))
        assert sorted(ends) == [1, 2, 3, 4]
        pick = max if name == "CH" else min
        best_runs.add(pick(ends, key=lambda run: ends[run]))
        assert fitted.index_value_ == pytest.approx(pick(ends.values()), rel=1e-5)
    assert len(best_runs) > 1


def test_given_centres(X: np.ndarray) -> None:
    """In data units, as a list too; nothing random but the order is left."""
    fitted = model(init=X[:4], shuffle=False, random_state=0).fit(X)
    for other in (X[:4].tolist(), X[:4].astype(object), pd.DataFrame(X[:4])):
        again = model(init=other, shuffle=False, random_state=1).fit(X)
        np.testing.assert_array_equal(again.labels_, fitted.labels_)
    ordered = model(init=X[:4], shuffle=True, random_state=1, **BUSY).fit(X)
    different = model(init=X[:4], shuffle=True, random_state=2, **BUSY).fit(X)
    assert not np.array_equal(ordered.sample_categories_, different.sample_categories_)


def test_given_centres_make_one_run(X: np.ndarray) -> None:
    with pytest.warns(RuntimeWarning, match="n_init=3 makes no difference with given centres"):
        model(init=X[:4], n_init=3).fit(X)


def test_given_centres_are_not_changed(X: np.ndarray) -> None:
    centres = X[:4].copy()
    model(init=centres).fit(X)
    np.testing.assert_array_equal(centres, X[:4])


def test_without_shuffling_the_order_counts(X: np.ndarray) -> None:
    """The given order is the one presented: the oracle, which presents it so, agrees."""
    fitted = model(init=X[:4], shuffle=False, max_epochs=2, **BUSY).fit(X[:60])
    reference = oracle_of(X[:60], fitted, X[:4])
    np.testing.assert_array_equal(fitted.sample_categories_, reference.sample_categories)
    shuffled = model(init=X[:4], shuffle=True, max_epochs=2, **BUSY).fit(X[:60])
    assert not np.array_equal(shuffled.sample_categories_, fitted.sample_categories_)


# --- forms of data -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "form", ["fortran", "list", "frame", "float32", "memmap", "strided", "int"]
)
def test_forms_of_the_same_data(form: str, X: np.ndarray, tmp_path: Path) -> None:
    """Numbers that float32 holds exactly, so that all forms hold the same ones."""
    X = np.round(X * 8.0)
    if form == "fortran":
        other: Any = np.asfortranarray(X)
    elif form == "list":
        other = X.tolist()
    elif form == "frame":
        other = pd.DataFrame(X)
    elif form == "float32":
        other = X.astype(np.float32)
    elif form == "memmap":
        path = tmp_path / "x.npy"
        np.save(path, X)
        other = np.load(path, mmap_mode="r")
        assert not other.flags.writeable
    elif form == "strided":
        other = np.repeat(X, 2, axis=0)[::2]
    else:
        other = X.astype(np.int64)
    expected = model(index="NI", **BUSY).fit(X)
    fitted = model(index="NI", **BUSY).fit(other)
    np.testing.assert_array_equal(fitted.labels_, expected.labels_)
    np.testing.assert_array_equal(fitted.sample_categories_, expected.sample_categories_)
    np.testing.assert_array_equal(fitted.predict(other), expected.predict(X))
    np.testing.assert_array_equal(fitted.transform(other), expected.transform(X))


def test_data_are_not_changed(X: np.ndarray) -> None:
    before = X.copy()
    fitted = model(index="NI").fit(X)
    fitted.predict(X)
    fitted.transform(X)
    np.testing.assert_array_equal(X, before)


def test_units_do_not_matter(X: np.ndarray) -> None:
    """Powers of two and no offset: every scaled number is the same to the last bit."""
    expected = model(index="NI", **BUSY).fit(X)
    fitted = model(index="NI", **BUSY).fit(X * [2.0**40, 2.0**-40, 4.0])
    np.testing.assert_array_equal(fitted.labels_, expected.labels_)


def test_threads_do_not_matter() -> None:
    X = blobs(3, n=3000, d=6, k=5)
    labels = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            labels.append(model(n_clusters=5, index="NI", max_epochs=2).fit_predict(X))
    np.testing.assert_array_equal(*labels)


def test_names_of_features(X: np.ndarray) -> None:
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    fitted = model().fit(frame)
    assert fitted.feature_names_in_.tolist() == ["a", "b", "c"]
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.predict(frame[["b", "a", "c"]])
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        fitted.predict(X)


def test_set_output(X: np.ndarray) -> None:
    fitted = model().set_output(transform="pandas").fit(X)
    frame = fitted.transform(X)
    k = fitted.n_clusters_
    assert isinstance(frame, pd.DataFrame)
    assert frame.columns.tolist() == [f"icviartmap{i}" for i in range(k)]
    assert fitted.get_feature_names_out().tolist() == frame.columns.tolist()
    np.testing.assert_array_equal(frame, fitted.set_output(transform="default").transform(X))


# --- as part of scikit-learn ---------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_names_in_any_case(name: str, X: np.ndarray) -> None:
    expected = model(index=name).fit(X)
    for index in (name.lower(), name.capitalize(), INDICES[name]):
        fitted = model(index=index).fit(X)
        assert fitted.index is index  # parameters stay as given
        np.testing.assert_array_equal(fitted.labels_, expected.labels_)


def test_numpy_numbers_as_parameters(X: np.ndarray) -> None:
    fitted = model(n_clusters=np.int32(4), rho_a=np.float32(0.5), rho_ab=1, max_epochs=np.int64(3))
    assert fitted.fit(X).n_clusters_ <= 4


def test_pipeline_and_grid_search(X: np.ndarray) -> None:
    pipeline = make_pipeline(StandardScaler(), model())
    labels = pipeline.fit_predict(X)
    np.testing.assert_array_equal(labels, pipeline[-1].labels_)
    search = GridSearchCV(model(), {"rho_a": [0.0, 0.7]}, cv=2, error_score="raise").fit(X)
    assert search.best_params_["rho_a"] in (0.0, 0.7)


def test_pickle(X: np.ndarray) -> None:
    fitted = model(index="NI", **BUSY).fit(X)
    twin = pickle.loads(pickle.dumps(fitted))
    new = blobs(9)
    np.testing.assert_array_equal(twin.predict(new), fitted.predict(new))
    np.testing.assert_array_equal(twin.transform(new), fitted.transform(new))
    assert twin.score(new) == fitted.score(new)


def test_a_second_fit_forgets_the_first(X: np.ndarray) -> None:
    fitted = model(**BUSY).fit(blobs(5, n=30, d=2)).fit(X)
    np.testing.assert_array_equal(fitted.labels_, model(**BUSY).fit(X).labels_)
    assert fitted.n_features_in_ == X.shape[1]


def test_verbose(X: np.ndarray, capsys: pytest.CaptureFixture) -> None:
    fitted = model(verbose=True, **BUSY).fit(X)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == fitted.n_iter_
    assert lines[0].startswith("ICVIARTMAP: epoch 1: CH = ")
    assert lines[-1].startswith(f"ICVIARTMAP: epoch {fitted.n_iter_}: CH = ")
    assert f"{fitted.index_value_:.6g}, {fitted.n_clusters_} clusters" in lines[-1]
    assert f"{len(fitted.categories_)} categories" in lines[-1]
    model(verbose=False).fit(X)
    assert capsys.readouterr().out == ""


def test_no_clusters_is_a_clear_error() -> None:
    for number in (0, -3):
        with pytest.raises(ValueError, match=f"^n_clusters must be at least 2, got {number}"):
            ICVIARTMAP(number).fit([[0.0], [1.0], [2.0]])
        with pytest.raises(ValueError, match=f"^n_clusters must be at least 2, got {number}"):
            ICVIARTMAPSearch(ICVIARTMAP(number)).fit([[0.0], [1.0], [2.0]])
    with pytest.raises(ValueError, match=r"^n_clusters=1 is not a clustering"):
        ICVIARTMAP(1)


def test_dir_shows_public_names_alone() -> None:
    import icvi_artmap

    names = dir(icvi_artmap)
    assert set(icvi_artmap.__all__) <= set(names)
    assert [name for name in names if name.startswith("_")] == ["__version__"]
    assert not {"Any", "import_module", "annotations", "TYPE_CHECKING"} & set(names)
