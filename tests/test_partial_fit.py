"""Learning from data in pieces: every sample goes where the index is best, in constant memory."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score

import oracle
from helpers.own_indices import widest
from icvi_artmap import ICVIARTMAP, ModelFileError, explain, load, save
from icvi_artmap.persistence import file_format

CENTRES = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0], [6.0, 6.0]])
#: Where clusters are after a break.
MOVED = np.array([[3.0, 3.0], [9.0, 3.0], [3.0, 9.0], [-4.0, -4.0]])


def rows(n: int, seed: int, centres: np.ndarray = CENTRES) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, len(centres), n)
    return centres[y] + rng.normal(size=(n, centres.shape[1])), y


def model_of(index: str = "CH", **parameters) -> ICVIARTMAP:
    defaults = {"warm_up": 300, "memory": 200, "random_state": 0}
    return ICVIARTMAP(4, index=index, **{**defaults, **parameters})


def learned(model: ICVIARTMAP, X: np.ndarray, size: int = 500) -> ICVIARTMAP:
    for first in range(0, len(X), size):
        model.partial_fit(X[first : first + size])
    return model


# --- what is learned -----------------------------------------------------------------------------


@pytest.mark.parametrize("forgetting", [1.0, 0.999])
@pytest.mark.parametrize("index", ["CH", "NI"])
def test_as_good_as_a_full_fit_on_stationary_clusters(index, forgetting) -> None:
    X, _ = rows(10_000, 1)
    new, y = rows(5000, 2)
    model = learned(model_of(index, forgetting=forgetting), X)
    full = model_of(index).fit(X)
    found, expected = (adjusted_rand_score(y, m.predict(new)) for m in (model, full))
    assert found > expected - 0.01
    assert model.n_clusters_ == 4
    assert model.n_samples_seen_ == 10_000
    assert len(model.labels_) == len(model.sample_categories_) == 500
    assert model.drift_.breaks.size == 0


@pytest.mark.parametrize("name", ["CH", "NI", "XB"])
def test_a_sample_goes_where_the_index_of_all_samples_is_best(name) -> None:
    X, _ = rows(160, 3)
    model = model_of(name, warm_up=60, memory=60, refine=False)
    model.partial_fit(X[:60])
    scaling = model.fitted_.scaling
    x, labels, compared = scaling.standardise(X), model.labels_.tolist(), 0
    for s in range(60, 160):
        k = model.n_clusters_
        model.partial_fit(X[s : s + 1])
        if model.stream_.changed:  # what was in the clusters is not known any more
            break
        scores = [oracle.score(name.lower(), x[: s + 1], np.array([*labels, i])) for i in range(k)]
        chosen = int(model.labels_[0])
        assert scores[chosen] >= max(scores) - 1e-9 * max(1.0, abs(max(scores)))
        labels.append(chosen)
        compared += 1
    assert compared >= 5
    if compared == 100:
        expected = oracle.INDICES[name.lower()](x, np.array(labels))
        assert model.index_value_ == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("forgetting", [1.0, 0.99])
@pytest.mark.parametrize("index", ["CH", "NI"])
def test_moments_are_those_of_weighted_samples(index, forgetting) -> None:
    X, y = rows(3000, 4, 3 * CENTRES)
    model = learned(model_of(index, forgetting=forgetting), X[:300])
    start = model.stream_.moments.n[:4].sum()
    labels = []
    for first in range(300, 3000, 270):
        model.partial_fit(X[first : first + 270])
        labels.append(model.labels_)
    cluster = np.concatenate(labels)
    assert adjusted_rand_score(y[300:], cluster) == 1.0
    w = forgetting ** np.arange(2699, -1, -1.0)
    m, x = model.stream_.moments, model.fitted_.standardised(X)[300:]
    assert m.n[:4].sum() == pytest.approx(w.sum() + start * forgetting**2700)
    if forgetting == 1.0:
        return
    for i in range(4):  # what came before is forgotten
        own = cluster == i
        mean = w[own] @ x[own] / w[own].sum()
        np.testing.assert_allclose(m.n[i], w[own].sum(), rtol=1e-9)
        np.testing.assert_allclose(m.mean[i], mean, rtol=1e-9)
        spread = w[own] @ np.square(x[own] - mean)
        np.testing.assert_allclose(m.compactness[i], spread.sum(), rtol=1e-6)
        if index == "NI":
            np.testing.assert_allclose(np.diag(m.scatter[i]), spread, rtol=1e-6)


def test_rows_outside_the_first_range_are_learned() -> None:
    X, _ = rows(600, 5)
    model = learned(model_of(), X)
    model.partial_fit([[1e6, -1e6], [30.0, 0.0]])
    assert (model.fitted_.boxes >= 0.0).all()
    assert (model.fitted_.boxes <= 1.0).all()
    assert len(model.predict(X)) == 600


def test_one_row_at_a_time_and_all_at_once() -> None:
    X, y = rows(1200, 6)
    model = learned(model_of(), X[:400])
    for x in X[400:500]:
        model.partial_fit([x])
    assert model.n_samples_seen_ == 500
    assert len(model.labels_) == 1
    whole = model_of().partial_fit(X)
    assert len(whole.labels_) == 1200
    assert adjusted_rand_score(y, whole.labels_) > 0.9


def test_more_rows_than_a_batch() -> None:
    X, y = rows(25_000, 7)
    model = model_of().partial_fit(X)
    assert adjusted_rand_score(y, model.labels_) > 0.98
    assert len(model.stream_.history) == 3


# --- what is remembered --------------------------------------------------------------------------


def test_all_samples_are_remembered_with_the_same_probability() -> None:
    age = np.arange(20_000.0)
    X = np.column_stack([age, np.random.default_rng(0).normal(size=20_000)])
    seen = []
    for seed in range(5):
        model = learned(model_of(random_state=seed), X, 2000)
        remembered, _ = model.stream_.remembered()
        seen.append(remembered[:200, 0])
    counts = np.histogram(np.concatenate(seen), bins=10, range=(0, 20_000))[0]
    assert counts.sum() == 1000
    # Every count is binomial, of 1000 and a tenth: a deviation of 9.5.
    assert (np.abs(counts - 100) < 40).all()


def test_older_samples_are_remembered_less_with_forgetting() -> None:
    age = np.arange(20_000.0)
    X = np.column_stack([age, np.random.default_rng(0).normal(size=20_000)])
    model = model_of(forgetting=0.998, warm_up=1000, memory=1000)
    model.partial_fit(X[:1000])
    model.stream_.detector.quiet[0] = 10**9  # this is a drift, and a new start would forget
    learned(model.partial_fit(X[1000:2000]), X[2000:], 1000)
    remembered, _ = model.stream_.remembered()
    assert len(model.stream_.labels) == 500  # 1 / (1 - forgetting)
    old = 20_000 - remembered[:500, 0]
    assert 400 < old.mean() < 600


@pytest.mark.parametrize("forgetting", [1.0, 0.99])
@pytest.mark.parametrize("rho_a", [0.0, 0.9])
def test_categories_are_those_of_what_is_remembered(forgetting, rho_a) -> None:
    X, _ = rows(6000, 8, 0.4 * CENTRES)  # they overlap
    model = learned(model_of(forgetting=forgetting, rho_a=rho_a), X, 700)
    stream = model.stream_
    size = 200 if forgetting == 1.0 else 100
    held = np.bincount(stream.members.category, minlength=len(stream.members.held))
    used = stream.network.boxes.used[0]
    np.testing.assert_array_equal(held[:used], stream.members.held[:used])
    assert held.sum() == size
    assert len(model.categories_) == (held > 0).sum() <= size
    weight = stream.network.boxes.weight[stream.members.category]
    code = np.hstack([stream.data.table, 1.0 - stream.data.table])
    assert (weight <= code).all()  # every sample is in its box
    assert (weight >= 0.0).all()
    assert model.sample_categories_.min() >= 0
    assert model.sample_categories_.max() < len(model.categories_)


def test_memory_does_not_grow(tmp_path) -> None:
    model, sizes = model_of("NI"), []
    for seed in range(4):
        learned(model, rows(5000, seed)[0])
        save(model, tmp_path / "model.icvi")
        sizes.append((tmp_path / "model.icvi").stat().st_size)
    assert max(sizes[1:]) < sizes[0] + 2000


# --- clusters that change ------------------------------------------------------------------------


@pytest.mark.parametrize("index", ["CH", "NI"])
def test_a_break_is_told_and_learned(index) -> None:
    before, after = rows(6000, 9)[0], rows(4000, 10, MOVED)[0]
    new, y = rows(2000, 11, MOVED)
    model = learned(model_of(index, forgetting=0.999), before)
    assert model.drift_.breaks.size == 0
    former = adjusted_rand_score(rows(2000, 12)[1], model.predict(rows(2000, 12)[0]))
    learned(model, after)
    (where,), (told,) = model.drift_.breaks, model.drift_.told
    assert 5990 <= where <= 6300
    assert 6000 < told < 8000
    assert adjusted_rand_score(y, model.predict(new)) > 0.9 * former
    assert model.n_samples_seen_ == 10_000


def test_without_forgetting_a_break_is_told_and_nothing_else() -> None:
    model = learned(model_of(), np.vstack([rows(6000, 9)[0], rows(4000, 10, MOVED)[0]]))
    assert 5990 <= model.drift_.breaks[0] <= 6300
    assert model.stream_.waiting is None
    assert model.stream_.moments.n[:4].sum() == 10_000


@pytest.mark.parametrize("shape", [1, 2, 10])
def test_no_break_is_told_of_stationary_rows(shape) -> None:
    rng = np.random.default_rng(shape)
    centres = 4.0 * rng.normal(size=(4, shape))
    model = model_of("CH")
    for seed in range(20):
        model.partial_fit(rows(5000, seed, centres)[0])
    assert model.drift_.breaks.size == 0
    assert 0.0 <= model.drift_.level < 1.0


def test_clusters_that_get_no_more_samples_fade() -> None:
    model = learned(model_of("CH", forgetting=0.99), rows(2000, 13)[0])
    learned(model, rows(4000, 14, CENTRES[:3])[0])
    assert (model.stream_.moments.n[: model.n_clusters_] >= 0.5).all()
    X, y = rows(1000, 15, CENTRES[:3])
    assert adjusted_rand_score(y, model.predict(X)) > 0.8
    # The fourth cluster is a part of another now.
    assert model.cluster_centers_.max() < 8.0
    assert not (np.abs(model.cluster_centers_ - CENTRES[3]).max(axis=1) < 1.0).any()


def test_the_number_of_clusters_may_be_chosen() -> None:
    X, y = rows(3000, 16)
    model = ICVIARTMAP("auto", warm_up=400, memory=200, random_state=0)
    learned(model, X)
    assert model.n_clusters_ == 4
    assert model.selection_.n_clusters == 4
    assert adjusted_rand_score(y, model.predict(X)) > 0.9


# --- as after fit --------------------------------------------------------------------------------


def test_nothing_is_fitted_before_the_start() -> None:
    X, _ = rows(600, 17)
    model = model_of().partial_fit(X[:299])
    assert model.n_samples_seen_ == 299
    with pytest.raises(NotFittedError):
        model.predict(X)
    with pytest.raises(NotFittedError):
        save(model, "nowhere.icvi")
    model.partial_fit(X[299:302])
    assert len(model.labels_) == 3
    assert model.n_samples_seen_ == 302
    assert len(model.predict(X)) == 600


@pytest.mark.parametrize("noise", [False, True])
@pytest.mark.parametrize("index", ["CH", "NI", "XB", widest])
def test_everything_works_as_after_fit(index, noise) -> None:
    X, _ = rows(2500, 18)
    model = learned(model_of(index, noise=noise), X)
    assert model.transform(X).shape == (2500, model.n_clusters_)
    np.testing.assert_allclose(model.membership(X).sum(axis=1), 1.0)
    assert (model.outlier_score(X) < 0.5).mean() > 0.9
    assert np.isfinite(model.score(X))
    assert model.outlier_score([[100.0, 100.0]])[0] > 0.5
    assert (model.predict([[100.0, 100.0]])[0] == -1) == noise
    explanation = explain(model, X[:5])
    np.testing.assert_array_equal(explanation.predicted, model.predict(X[:5]))
    assert len(model.index_history_) > len(model.stream_.history)
    assert model.index_history_[-1] == model.index_value_
    assert "Clusters" in model._repr_html_()


def test_fit_begins_anew_and_so_does_a_stream_after_it() -> None:
    X, _ = rows(1000, 19)
    model = learned(model_of(), X).fit(X)
    assert not hasattr(model, "n_samples_seen_")
    assert not hasattr(model, "stream_")
    labels = model.predict(X)
    model.partial_fit(X[:100])
    assert model.n_samples_seen_ == 100
    np.testing.assert_array_equal(model.predict(X), labels)
    model.partial_fit(X[100:700])
    assert model.n_samples_seen_ == 700
    assert clone(model).get_params()["warm_up"] == 300


@pytest.mark.nojit
@pytest.mark.parametrize("forgetting", [1.0, 0.95])
def test_a_few_rows(forgetting) -> None:
    """Small enough for plain Python, where an index out of bounds is an error."""
    X = np.vstack([rows(150, 20)[0], rows(60, 21, MOVED)[0]])
    model = model_of(warm_up=50, memory=30, forgetting=forgetting, max_epochs=2, refine=False)
    learned(model, X, 40)
    assert model.n_samples_seen_ == 210
    assert len(model.stream_.labels) == (30 if forgetting == 1.0 else 20)


def test_given_centres() -> None:
    X, y = rows(1500, 20)
    model = learned(model_of(init=CENTRES), X)
    assert adjusted_rand_score(y, model.predict(X)) > 0.9


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"warm_up": 1, "memory": 1}, "warm_up must be"),
        ({"memory": 301}, "memory=301 is more than warm_up=300"),
        ({"forgetting": 0.0}, "forgetting must be"),
        ({"forgetting": 1.1}, "forgetting must be"),
        ({"warm_up": 3, "memory": 3}, "too few for n_clusters=4"),
        ({"index": widest, "forgetting": 0.9}, "widest cannot forget"),
        ({"index": "NI", "shape": "any"}, 'shape="gaussian"'),
    ],
)
def test_wrong_parameters(parameters, message) -> None:
    with pytest.raises(ValueError, match=message):
        model_of(**parameters).partial_fit(rows(10, 0)[0])


def test_wrong_rows_change_nothing() -> None:
    X, _ = rows(1000, 21)
    model, twin = learned(model_of(), X), learned(model_of(), X)
    for bad in ([[np.nan, 0.0]], [[1.0]], [[1.0, 2.0, 3.0]], [], [["a", "b"]]):
        with pytest.raises(ValueError):
            model.partial_fit(bad)
    same(model.partial_fit(X), twin.partial_fit(X))


def test_parameters_must_stay() -> None:
    X, _ = rows(1000, 22)
    model = learned(model_of(), X)
    model.set_params(rho_a=0.5)
    with pytest.raises(ValueError, match="Parameters were changed"):
        model.partial_fit(X)


# --- saved and loaded ----------------------------------------------------------------------------


def same(model: ICVIARTMAP, twin: ICVIARTMAP) -> None:
    """All that the two have is equal, to the last bit."""
    for name in ("labels_", "sample_categories_", "categories_", "map_field_", "index_history_"):
        np.testing.assert_array_equal(getattr(model, name), getattr(twin, name), err_msg=name)
    np.testing.assert_array_equal(model.cluster_centers_, twin.cluster_centers_)
    for mine, its in zip(model.stream_.moments, twin.stream_.moments, strict=True):
        k = model.n_clusters_
        np.testing.assert_array_equal(mine[:k], its[:k])
    for mine, its in zip(model.drift_, twin.drift_, strict=True):
        np.testing.assert_array_equal(mine, its)
    for mine, its in zip(model.fitted_.levels, twin.fitted_.levels, strict=True):
        np.testing.assert_array_equal(mine, its)
    assert model.n_samples_seen_ == twin.n_samples_seen_
    assert model.vigilances_ == twin.vigilances_


@pytest.mark.parametrize("rho_a", [0.0, 0.9])
@pytest.mark.parametrize("forgetting", [1.0, 0.998])
@pytest.mark.parametrize("index", ["CH", "NI"])
def test_a_loaded_model_goes_on_as_without_the_break(index, forgetting, rho_a, tmp_path) -> None:
    """Also while rows are collected after the clusters have changed."""
    X = np.vstack([rows(2000, 23, 0.6 * CENTRES)[0], rows(1500, 24, 0.6 * MOVED)[0]])
    model = twin = model_of(index, forgetting=forgetting, rho_a=rho_a)
    twin = clone(model)
    waited = False
    for first in range(0, len(X), 170):
        part = X[first : first + 170]
        model.partial_fit(part)
        twin.partial_fit(part)
        if hasattr(twin, "stream_"):
            waited = waited or twin.stream_.waiting is not None
            save(twin, tmp_path / "model.icvi")
            twin = load(tmp_path / "model.icvi")
            same(model, twin)
            np.testing.assert_array_equal(model.predict(part), twin.predict(part))
    assert waited == (forgetting < 1.0)
    assert model.drift_.breaks.size == 1


def test_a_copied_and_a_pickled_model_go_on() -> None:
    X, _ = rows(1500, 26)
    model = learned(model_of("NI", forgetting=0.999), X)
    twins = [copy.deepcopy(model), pickle.loads(pickle.dumps(model))]
    model.partial_fit(X[:500])
    for twin in twins:
        same(model, twin.partial_fit(X[:500]))


def test_data_frames_and_single_precision() -> None:
    pd = pytest.importorskip("pandas")
    X, y = rows(900, 27)
    named = learned(model_of(), pd.DataFrame(X, columns=["width", "height"]))
    assert list(named.feature_names_in_) == ["width", "height"]
    single = learned(model_of(), X.astype(np.float32))
    for model, table in ((named, pd.DataFrame(X, columns=["width", "height"])), (single, X)):
        assert adjusted_rand_score(y, model.predict(table)) > 0.95


def test_an_index_of_ones_own(tmp_path) -> None:
    X, _ = rows(1500, 25)
    model = learned(model_of(widest), X)
    save(model, tmp_path / "model.icvi")
    twin = load(tmp_path / "model.icvi", index=widest)
    same(model.partial_fit(X[:500]), twin.partial_fit(X[:500]))


def replaced(numbers: np.ndarray, at: int, number: int) -> np.ndarray:
    return np.where(np.arange(len(numbers)) == at, number, numbers)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("stream.categories", lambda a: a + 1000),
        ("stream.categories", lambda a: a * 0),
        ("stream.labels", lambda a: a - 1),
        ("stream.labels", lambda a: a[1:]),
        ("stream.table", lambda a: a + 2.0),
        ("stream.table", lambda a: a[:, :1]),
        ("stream.standardised", lambda a: a * np.nan),
        ("stream.weights", lambda a: -a),
        ("stream.weights", lambda a: a * 0.0),
        ("stream.compactness", lambda a: a - 1e9),
        ("stream.scatter", lambda a: -a),
        ("stream.levels", lambda a: -1.0 - a),
        ("stream.breaks", lambda a: a - 10**7),
        ("stream.waiting", lambda a: a[:, :1]),
        *[
            ("stream.numbers", lambda a, at=at: np.where(np.arange(11) == at, -1, a))
            for at in range(11)
        ],
        ("stream.numbers", lambda a: replaced(a, 3, 10**12)),
        ("stream.numbers", lambda a: replaced(a, 6, 10**6)),
        ("stream.numbers", lambda a: replaced(a, 10, 0)),
    ],
)
def test_a_stream_that_was_tampered_with_is_refused(name, change, tmp_path) -> None:
    header, arrays = _waiting_model(tmp_path)
    arrays[name] = np.ascontiguousarray(change(arrays[name]))
    file_format.write(tmp_path / "bad.icvi", header, arrays)
    with pytest.raises(ModelFileError):
        load(tmp_path / "bad.icvi")


def _waiting_model(tmp_path):
    X = np.vstack([rows(1000, 23)[0], rows(100, 24, MOVED)[0]])
    model = learned(model_of("NI", forgetting=0.998), X, 100)
    assert model.stream_.n_waiting > 0
    save(model, tmp_path / "model.icvi")
    return file_format.read(tmp_path / "model.icvi")
