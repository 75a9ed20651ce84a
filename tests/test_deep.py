"""The dynamic autoencoder: its losses, its stages, its checkpoints, its place in a file."""

import json
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits, make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from icvi_artmap import ICVIARTMAP, ModelFileError, load, save
from icvi_artmap._support.callbacks import Watch, watching
from icvi_artmap.deep import DynamicAutoencoder, checkpoints, grouping
from icvi_artmap.deep import computation as compute
from icvi_artmap.deep import training as stages
from icvi_artmap.deep.layers import first_weights, shapes_of, through
from icvi_artmap.deep.training import (
    BETWEEN_LOOKS,
    CLUSTERING,
    PRETRAINING,
    Plan,
    Training,
    begun,
    by_dense_samples,
    n_conflicted,
    tensors,
    widen,
    within,
)

torch = pytest.importorskip(
    "torch", reason="PyTorch is not installed: pip install icvi-artmap[deep]"
)

DIGITS = load_digits(n_class=3)["data"][:200]
SIZES = (6, 5, 3)


def tiny(**parameters) -> DynamicAutoencoder:
    """Seconds of training at most."""
    chosen = {
        "n_clusters": 3,
        "n_components": 2,
        "hidden": (40,),
        "learning_rate": 1e-2,
        "image_shape": (8, 8),
        "pretraining_iterations": 300,
        "clustering_iterations": 300,
        "batch_size": 32,
        "n_jobs": 1,
        "random_state": 0,
    }
    return DynamicAutoencoder(**(chosen | parameters))


def table_model(**parameters) -> DynamicAutoencoder:
    return tiny(image_shape=None, pretraining_iterations=4, clustering_iterations=4, **parameters)


@pytest.fixture(scope="module")
def trained() -> DynamicAutoencoder:
    return tiny().fit(DIGITS)


# --- the estimator -------------------------------------------------------------------------------


@parametrize_with_checks([table_model(n_clusters=2)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_shapes_names_and_attributes(trained):
    latents = trained.transform(DIGITS)
    assert latents.shape == (200, 2)
    assert trained.inverse_transform(latents).shape == DIGITS.shape
    names = trained.get_feature_names_out()
    assert list(names) == ["dynamicautoencoder0", "dynamicautoencoder1"]
    assert trained.n_iter_ == trained.history_["iteration"][[2, -1]].sum()
    assert list(np.unique(trained.history_["stage"])) == [CLUSTERING, PRETRAINING]
    assert (trained.history_["conflicted"][:3] == -1).all()
    assert trained.cluster_centers_.shape == (3, 2)


def test_the_reconstruction_is_better_than_the_mean_image(trained):
    rebuilt = trained.inverse_transform(trained.transform(DIGITS))
    assert ((rebuilt - DIGITS) ** 2).mean() < 0.8 * DIGITS.var(axis=0).mean()


def test_confident_samples_are_drawn_to_their_centres():
    X, y = make_blobs(300, 6, centers=3, cluster_std=1.0, random_state=3)
    early = tiny(image_shape=None, clustering_iterations=0).fit(X)
    late = tiny(image_shape=None, clustering_iterations=1400).fit(X)

    def spread(model):
        latents = model.transform(X)
        means = np.array([latents[y == i].mean(axis=0) for i in range(3)])
        return ((latents - means[y]) ** 2).sum() / ((latents - latents.mean(axis=0)) ** 2).sum()

    assert spread(late) < 0.5 * spread(early)
    assert late.converged_
    assert early.cluster_centers_.shape == (3, 2)


def test_equal_seeds_give_equal_weights_and_others_do_not(trained):
    again, other = tiny().fit(DIGITS), tiny(random_state=1).fit(DIGITS)
    for one, two, three in zip(trained.encoder_, again.encoder_, other.encoder_, strict=True):
        np.testing.assert_array_equal(one, two)
        assert (one != three).any()


def test_pixels_have_one_scale_and_columns_their_own():
    image = tiny(pretraining_iterations=1, clustering_iterations=0).fit(DIGITS)
    assert set(image.span_) == {16.0}
    table = table_model().fit(DIGITS)
    np.testing.assert_array_equal(table.lower_, DIGITS.min(axis=0))
    assert (table.span_ > 0.0).all()


def test_images_with_channels():
    coloured = np.repeat(DIGITS, 3, axis=1)
    model = tiny(image_shape=(8, 8, 3), pretraining_iterations=2, clustering_iterations=2)
    assert model.fit_transform(coloured).shape == (200, 2)


def test_the_trained_critic_changes_the_weights(trained):
    with_critic = tiny(critic="trained").fit(DIGITS)
    assert (with_critic.encoder_[0] != trained.encoder_[0]).any()
    assert np.isfinite(with_critic.transform(DIGITS)).all()


def test_a_line_for_every_look(capsys):
    tiny(verbose=1).fit(DIGITS)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("DynamicAutoencoder: pretraining, 140 of 300 iterations, loss ")
    assert any("conflicted" in line for line in lines)


class _Counting(Watch):
    def __init__(self, stop_after=None):
        self.begun, self.looks, self.stop_after = [], 0, stop_after

    def begin(self, task, n_subtasks=0):
        self.begun.append((task, n_subtasks))

    def end(self, subject=None):
        self.looks += 1
        return self.stop_after is not None and self.looks >= self.stop_after


def test_tasks_are_told_and_can_be_left_out():
    watch = _Counting()
    with watching(watch):
        whole = tiny().fit(DIGITS)
    assert watch.begun[:2] == [("fit", 2), (PRETRAINING, 3)]
    assert (CLUSTERING, 3) in watch.begun
    with watching(_Counting(stop_after=1)):
        less = tiny().fit(DIGITS)
    assert less.n_iter_ == 2 * BETWEEN_LOOKS < whole.n_iter_


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"n_clusters": 0}, "n_clusters must be at least 1"),
        ({"n_clusters": 201}, "more than the number of samples"),
        ({"image_shape": (8, 9)}, "must be height and width"),
        ({"image_shape": (64,)}, "must be height and width"),
        ({"hidden": ()}, "1 to 8 numbers"),
        ({"hidden": (0,)}, "A number of hidden must be at least 1"),
        ({"critic": "some"}, 'critic must be "none" or "trained"'),
        ({"first_centres": "NI"}, 'first_centres must be "index", "kmeans" or'),
        ({"batch_size": 0}, "batch_size must be at least 1"),
        ({"rotation": 200.0}, "rotation must be in"),
        ({"learning_rate": 0.0}, "learning_rate must be in"),
        ({"random_state": -1}, "cannot be used to seed"),
    ],
)
def test_parameters_are_refused(parameters, text):
    with pytest.raises(ValueError, match=text):
        tiny(**parameters).fit(DIGITS)


@pytest.mark.parametrize(("name", "value"), [("hidden", 5), ("checkpoint", 5), ("n_jobs", 1.5)])
def test_parameters_of_another_type_are_refused(name, value):
    with pytest.raises(TypeError, match=name):
        tiny(**{name: value}).fit(DIGITS)


def test_nan_is_refused(trained):
    holed = DIGITS.copy()
    holed[3, 4] = np.nan
    with pytest.raises(ValueError, match="Input X contains NaN"):
        tiny().fit(holed)
    with pytest.raises(ValueError, match="Input X contains NaN"):
        trained.transform(holed)


def test_latents_of_another_width_are_refused(trained):
    with pytest.raises(ValueError, match="latents have 3 features"):
        trained.inverse_transform(np.zeros((2, 3)))


@pytest.mark.parametrize(
    ("beyond", "rate"), [(0, "learning_rate"), (299, "learning_rate"), (300, "clustering_rate")]
)
def test_a_loss_that_is_no_number_is_told(monkeypatch, beyond, rate):
    made, called = compute.squared_error, 0

    def lost(found, wanted):
        nonlocal called
        called += 1
        return made(found, wanted) * (np.nan if called > beyond else 1.0)

    monkeypatch.setattr(compute, "squared_error", lost)
    with pytest.raises(FloatingPointError, match=f"Use a smaller {rate}"):
        tiny().fit(DIGITS)


def test_noise_does_not_blow_the_network_up():
    noise = np.random.default_rng(0).random((400, 64))
    model = tiny(hidden=(100, 100), clustering_rate=0.05, n_components=5).fit(noise)
    assert np.isfinite(model.transform(noise)).all()
    assert np.isfinite(model.history_["loss"]).all()


def test_without_torch_the_message_says_what_to_install(monkeypatch, trained):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=r"pip install 'icvi-artmap\[deep\]'"):
        tiny().fit(DIGITS)
    assert trained.transform(DIGITS).shape == (200, 2)


def test_the_number_of_threads_is_put_back():
    before = torch.get_num_threads()
    tiny(pretraining_iterations=1, clustering_iterations=0, n_jobs=before + 1).fit(DIGITS)
    assert torch.get_num_threads() == before


# --- the stages ----------------------------------------------------------------------------------


def identity(n_samples: int, n_clusters: int, first_centres: str) -> Training:
    """A network of two features whose latents are its rows, before the second stage."""
    model = tiny(n_clusters=n_clusters, hidden=(4,), image_shape=None, first_centres=first_centres)
    training = begun(model._plan(n_samples, 2))
    parts = np.float32([[1, 0], [-1, 0], [0, 1], [0, -1]])
    encoder = [parts, np.zeros(4, np.float32), parts.T.copy(), np.zeros(2, np.float32)]
    training.weights = tensors(encoder + encoder)
    training.stage = CLUSTERING
    return training


def two_long_clusters() -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(0)
    y = np.repeat([0, 1], 200)
    X = generator.normal(size=(400, 2)) * [10.0, 0.5]
    X[:, 1] += 5.0 * y
    return X.astype(np.float32), y


def agreement_with_centres(first_centres: str) -> float:
    X, y = two_long_clusters()
    training = identity(len(X), 2, first_centres)
    rows = torch.from_numpy(X)
    stages._Clustering(training, rows)
    latents = compute.through(rows, training.encoder)
    near = torch.cdist(latents, training.centres).argmin(dim=1).numpy()
    return adjusted_rand_score(y, near)


def test_the_index_finds_long_clusters_that_kmeans_cuts():
    assert agreement_with_centres("index") == 1.0
    assert agreement_with_centres("kmeans") < 0.1


def test_thin_samples_between_clusters_are_no_cluster():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(1300, 2))
    y = np.repeat([0, 1, 2, -1], [400, 400, 400, 100])
    X[y == 1] += [6.0, 0.0]
    X[y == 2] += [20.0, 0.0]
    X[y == -1] = generator.uniform([-40.0, -40.0], [60.0, 40.0], size=(100, 2))
    X = X.astype(np.float32)
    dense = y >= 0
    plain = ICVIARTMAP(3, random_state=0).fit(X).labels_
    assert adjusted_rand_score(y[dense], plain[dense]) < 0.7
    found = by_dense_samples(X, 3, 0).predict(X)
    assert adjusted_rand_score(y[dense], found[dense]) > 0.9


@pytest.mark.parametrize("in_all_directions", [True, False])
def test_latents_are_widened_and_the_decoder_takes_it_back(in_all_directions):
    X, y = two_long_clusters()
    training, rows = identity(len(X), 2, "index"), torch.from_numpy(X)
    widen(training, within(X, y), in_all_directions)
    latents = compute.through(rows, training.encoder)
    found = within(latents.detach().numpy(), y)
    if in_all_directions:
        np.testing.assert_allclose(found, np.eye(2), atol=1e-4)
    else:
        assert found[0, 0] > 100.0 * found[1, 1]
        assert np.trace(found) == pytest.approx(2.0, rel=1e-4)
    # The decoder's first layer sees what it saw before.
    seen = latents @ training.decoder[0].T
    parts = torch.tensor([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    torch.testing.assert_close(seen, rows @ parts.T, atol=1e-4, rtol=1e-4)


def test_a_direction_without_variance_is_not_blown_up():
    training, covariance = identity(10, 2, "index"), np.diag([4.0, 0.0])
    widen(training, covariance, in_all_directions=True)
    latents = compute.through(torch.tensor([[2.0, 1e-3]]), training.encoder)
    torch.testing.assert_close(latents.detach(), torch.tensor([[1.0, 0.05]]))
    before, _ = training.arrays()
    widen(training, np.zeros((2, 2)), in_all_directions=True)
    for one, two in zip(before, training.arrays()[0], strict=True):
        np.testing.assert_array_equal(one, two)


def test_conflicts_are_counted_where_clusters_are_as_wide_in_all_directions():
    X, y = two_long_clusters()
    assert n_conflicted(X, y) < 5
    assert n_conflicted(X, (X[:, 0] > 0.0).astype(np.intp)) > 20


@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
def test_fewer_different_rows_than_clusters():
    X = np.repeat([[0.0, 1.0], [1.0, 0.0]], 10, axis=0)
    model = tiny(image_shape=None).fit(X)
    assert np.isfinite(model.transform(X)).all()
    assert model.cluster_centers_.shape == (3, 2)


def test_the_rate_of_the_pretraining_rises_and_falls():
    training = begun(tiny(pretraining_iterations=1000)._plan(*DIGITS.shape))
    stage = stages._Pretraining(training, torch.from_numpy(DIGITS.astype(np.float32)))
    rates = []
    for iteration in (0, 9, 19, 509, 999):
        training.iteration = iteration
        rates.append(stage.rate() / training.plan.learning_rate)
    np.testing.assert_allclose(rates, [0.05, 0.5, 1.0, 0.5, 0.0], atol=1e-12)


# --- what is computed ----------------------------------------------------------------------------


def _double(weights):
    return [torch.from_numpy(array.astype(np.float64)).requires_grad_() for array in weights]


def _network(seed):
    generator = np.random.default_rng(seed)
    pair = first_weights(SIZES, generator), first_weights(SIZES[::-1], generator)
    # Biases at zero would leave units exactly at the bend of max(0, .).
    for weights in pair:
        for bias in weights[1::2]:
            bias += generator.uniform(0.1, 0.3, len(bias)).astype(np.float32)
    return pair


def _check_gradients(loss, weights):
    """Central differences of every weight against the gradient."""
    slopes = torch.autograd.grad(loss(), weights)
    step = 1e-6
    for tensor, slope in zip(weights, slopes, strict=True):
        flat = tensor.detach().view(-1)
        for i in range(len(flat)):
            value = flat[i].item()
            flat[i] = value + step
            above = loss().item()
            flat[i] = value - step
            below = loss().item()
            flat[i] = value
            assert slope.view(-1)[i].item() == pytest.approx((above - below) / (2 * step), abs=1e-7)


def test_gradients_of_the_reconstruction():
    encoder, decoder = map(_double, _network(0))
    rows = torch.from_numpy(np.random.default_rng(1).random((7, 6)))

    def loss():
        rebuilt = compute.through(compute.through(rows, encoder), decoder)
        return compute.squared_error(rebuilt, rows)

    _check_gradients(loss, encoder + decoder)


def test_gradients_of_the_clustering():
    encoder, decoder = map(_double, _network(2))
    generator = np.random.default_rng(3)
    rows, images = (torch.from_numpy(generator.random((7, 6))) for _ in range(2))
    targets = torch.from_numpy(generator.random((7, 3)))

    def loss():
        latents = compute.through(rows, encoder)
        rebuilt = compute.through(latents, decoder)
        return compute.squared_error(latents, targets) + compute.squared_error(rebuilt, images)

    _check_gradients(loss, encoder + decoder)


def test_gradients_of_labels_and_of_neighbours():
    encoder, head = map(_double, _network(6))
    generator = np.random.default_rng(7)
    rows, others = (torch.from_numpy(generator.random((7, 6))) for _ in range(2))
    labels = torch.tensor([0, 2, -1, 5, 1, -1, 0])

    def loss():
        latents = compute.through(rows, encoder)
        near = compute.through(compute.through(others, encoder), head).softmax(dim=1)
        given = compute.through(latents, head)
        agreed = compute.neighbour_loss(given.softmax(dim=1), near, 2.0)
        return compute.label_loss(given, labels) + agreed

    _check_gradients(loss, encoder + head)


def test_neighbour_loss_by_hand():
    first = torch.tensor([[0.9, 0.1], [0.2, 0.8]])
    second = torch.tensor([[0.7, 0.3], [0.4, 0.6]])
    used = np.array([0.55, 0.45])
    agreed = -np.log([0.9 * 0.7 + 0.1 * 0.3, 0.2 * 0.4 + 0.8 * 0.6]).mean()
    expected = agreed + 2.0 * (used * np.log(used)).sum()
    assert float(compute.neighbour_loss(first, second, 2.0)) == pytest.approx(expected, rel=1e-6)


def test_rows_without_a_label_do_not_count():
    given = torch.tensor([[2.0, 0.0], [5.0, 1.0]])
    expected = np.log1p(np.exp(-2.0))
    assert float(compute.label_loss(given, torch.tensor([0, -1]))) == pytest.approx(expected)
    assert float(compute.label_loss(given, torch.tensor([-1, -1]))) == 0.0


def _plan(**changes) -> Plan:
    plan = Plan(200, (64, 20, 2), (8, 8, 1), 3, 1, 1, 32, 1e-2, 1e-2, 10.0, 0.1, False, "index", 0)
    return plan._replace(**changes)


def test_a_neighbour_may_be_turned_and_shifted(monkeypatch):
    """The nearest image of a row is its shifted copy; without shifts it is another one."""
    rows = torch.from_numpy((DIGITS / 16.0).astype(np.float32))
    zero, ones = torch.zeros(1), torch.ones(1)
    copy = compute.distorted(rows[:1], (8, 8, 1), compute.Distortion(zero, 0.1 * ones, zero))
    others = rows[torch.cdist(rows, rows[:1])[:, 0] > 0]
    with_copy = torch.cat([rows[:1], others, copy])
    near = grouping.neighbours(with_copy, _plan())
    assert near.shape == (len(with_copy), grouping.NEIGHBOURS)
    assert near[0, 0] == len(with_copy) - 1
    assert not (near == torch.arange(len(near))[:, None]).any()
    distances = torch.cdist(with_copy, with_copy).fill_diagonal_(torch.inf)
    plain = grouping.neighbours(with_copy, _plan(image_shape=None))
    np.testing.assert_array_equal(plain[:, 0], distances.argmin(dim=1))
    monkeypatch.setattr(grouping, "MOST_PRODUCTS", 0.0)  # too many images to look at all turns
    np.testing.assert_array_equal(grouping.neighbours(with_copy, _plan()), plain)


@pytest.fixture
def quick_groups(monkeypatch):
    monkeypatch.setattr(grouping, "ITERATIONS", 300)
    monkeypatch.setattr(grouping, "NETWORKS", 2)


@pytest.mark.usefixtures("quick_groups")
def test_neighbours_find_the_first_clusters():
    X, y = make_blobs(240, n_features=6, centers=3, cluster_std=1.0, random_state=2)
    rows = ((X - X.min(axis=0)) / np.ptp(X, axis=0)).astype(np.float32)
    plan = _plan(n_samples=240, sizes=(6, 40, 2), image_shape=None)
    groups = grouping.grouped(torch.from_numpy(rows), plan)
    sure = groups != grouping.NOBODY
    assert sure.mean() > 0.6
    assert adjusted_rand_score(y[sure], groups[sure]) > 0.9
    model, watch = tiny(image_shape=None, first_centres="neighbours"), _Counting()
    with watching(watch):
        model.fit(X)
    assert watch.begun[:3] == [("fit", 3), ("grouping", 2), ("network", 0)]
    nearest = np.square(model.transform(X)[:, None] - model.cluster_centers_).sum(axis=2)
    assert adjusted_rand_score(y, nearest.argmin(axis=1)) > 0.9


@pytest.mark.usefixtures("quick_groups")
def test_more_labels_than_neighbours_can_tell():
    """Where no network is sure of all labels, k-means finds the centres."""
    model = table_model(n_clusters=5, first_centres="neighbours")
    assert model.fit(np.eye(6)).cluster_centers_.shape == (5, 2)


def test_gradients_of_the_critic_and_of_its_blame():
    critic, decoder = map(_double, _network(4))
    generator = np.random.default_rng(5)
    rows, rebuilt = (torch.from_numpy(generator.random((7, 6))) for _ in range(2))
    latents = torch.from_numpy(generator.random((7, 3)))
    share, b = (torch.from_numpy(generator.random(7)) for _ in range(2))

    def blame():
        return compute.interpolation_loss(critic, compute.through(latents, decoder))

    def mistaken():
        mixed = compute.through(latents, decoder).detach()
        return compute.critic_loss(critic, mixed, share, rows, rebuilt, b)

    _check_gradients(blame, decoder)
    _check_gradients(mistaken, critic)


def test_critic_loss_by_hand():
    # One layer that gives each of two outputs the sum of the row: the criticism is that sum.
    critic = [torch.ones(2, 2, dtype=torch.float64), torch.zeros(2, dtype=torch.float64)]
    mixed = torch.tensor([[0.5, 0.25]], dtype=torch.float64)
    rows, rebuilt = torch.tensor([[1.0, 0.0]]).double(), torch.tensor([[0.0, 0.5]]).double()
    share, b = torch.tensor([0.25]).double(), torch.tensor([0.5]).double()
    found = compute.critic_loss(critic, mixed, share, rows, rebuilt, b)
    assert found.item() == pytest.approx((0.75 - 0.25) ** 2 + 0.75**2)
    assert compute.interpolation_loss(critic, mixed).item() == pytest.approx(0.75**2)


def test_similarities_and_confidence_by_hand():
    latents = torch.tensor([[0.0, 0.0], [1.0, 0.0]], dtype=torch.float64)
    centres = torch.tensor([[0.0, 0.0], [2.0, 0.0]], dtype=torch.float64)
    similar = compute.similarities(latents, centres)
    np.testing.assert_allclose(similar, [[1 / 1.2, 0.2 / 1.2], [0.5, 0.5]])
    assert compute.confident(similar, 0.3, 0.15).tolist() == [True, False]
    assert compute.confident(similar, 0.3, -0.03).tolist() == [True, True]
    assert compute.confident(similar, 0.9, -0.03).tolist() == [False, False]


def _by(*values):
    return compute.Distortion(*(torch.tensor([value], dtype=torch.float64) for value in values))


def _moved(image, angle=0.0, across=0.0, down=0.0):
    rows = torch.tensor(image, dtype=torch.float64).reshape(1, -1)
    height, width = np.shape(image)
    by = compute.Distortion(
        *(torch.tensor([value], dtype=torch.float64) for value in (angle, across, down))
    )
    return compute.distorted(rows, (height, width, 1), by).reshape(height, width).numpy()


def test_a_shift_by_one_pixel_repeats_the_border():
    image = np.arange(12.0).reshape(3, 4)
    np.testing.assert_allclose(_moved(image, across=0.25), image[:, [1, 2, 3, 3]], atol=1e-12)
    np.testing.assert_allclose(_moved(image, down=-1 / 3), image[[0, 0, 1]], atol=1e-12)
    np.testing.assert_allclose(_moved(image), image, atol=1e-12)


def test_a_quarter_turn():
    image = np.arange(9.0).reshape(3, 3)
    turned = _moved(image, angle=np.pi / 2)
    matches = [np.allclose(turned, np.rot90(image, k), atol=1e-9) for k in (1, 3)]
    assert sum(matches) == 1


def test_a_turn_keeps_lengths_in_pixels():
    # A bright pixel two to the right of the centre of a wide image goes two up or down.
    image = np.zeros((5, 9))
    image[2, 6] = 1.0
    turned = _moved(image, angle=np.pi / 2)
    assert np.argwhere(turned > 0.9).tolist() in ([[0, 4]], [[4, 4]])
    assert turned.sum() == pytest.approx(1.0)


def test_channels_move_together():
    image = np.random.default_rng(0).random((4, 4))
    rows = torch.from_numpy(np.stack([image, 2 * image], axis=2).reshape(1, -1))
    by = compute.Distortion(
        *(torch.tensor([value], dtype=torch.float64) for value in (0.3, 0.1, -0.1))
    )
    moved = compute.distorted(rows, (4, 4, 2), by).reshape(4, 4, 2)
    np.testing.assert_allclose(moved[:, :, 1], 2 * moved[:, :, 0])


def test_layers_are_the_same_on_numpy_and_torch():
    weights, _ = _network(6)
    rows = np.random.default_rng(7).random((9, 6))
    np.testing.assert_allclose(
        through(rows, weights), compute.through(torch.from_numpy(rows), _double(weights)).detach()
    )


def test_first_weights_have_their_bounds():
    weights = first_weights((100, 400, 10), np.random.default_rng(0))
    assert [array.shape for array in weights] == shapes_of((100, 400, 10))
    assert 0.09 < np.abs(weights[0]).max() <= 0.1
    assert 0.045 < np.abs(weights[2]).max() <= 0.05
    assert not weights[1].any()


# --- checkpoints ---------------------------------------------------------------------------------


class _StopError(Exception):
    pass


class _Stopping(Watch):
    """Ends a training at a look, as if the process was killed."""

    def __init__(self, after):
        self.left = after

    def end(self, subject=None):
        self.left -= 1
        if self.left == 0:
            raise _StopError
        return False


def _broken_off(path, after, **parameters):
    with pytest.raises(_StopError), watching(_Stopping(after)):
        tiny(checkpoint=path, checkpoint_every=1, **parameters).fit(DIGITS)


@pytest.mark.usefixtures("quick_groups")
@pytest.mark.parametrize(
    ("parameters", "after"),
    [
        *(({}, after) for after in (1, 3, 5, 6)),
        *(({"critic": "trained"}, after) for after in (3, 6)),
        *(({"first_centres": "neighbours"}, after) for after in (1, 5)),
    ],
)
def test_resumed_training_is_equal_to_the_unbroken(tmp_path, parameters, after):
    whole = tiny(**parameters).fit(DIGITS)
    path = tmp_path / "training.npz"
    before = 3 if "first_centres" in parameters else 0  # two networks, and all of them
    _broken_off(path, before + after, **parameters)
    resumed = tiny(**parameters, checkpoint=path).fit(DIGITS)
    for name in ("encoder_", "decoder_"):
        for one, two in zip(getattr(whole, name), getattr(resumed, name), strict=True):
            np.testing.assert_array_equal(one, two)
    for name, values in whole.history_.items():
        np.testing.assert_array_equal(values, resumed.history_[name])
    np.testing.assert_array_equal(whole.cluster_centers_, resumed.cluster_centers_)


def test_a_finished_training_is_not_made_again(tmp_path):
    path = tmp_path / "training.npz"
    first = tiny(checkpoint=path).fit(DIGITS)
    watch = _Counting()
    with watching(watch):
        second = tiny(checkpoint=str(path)).fit(DIGITS)
    assert ("iterations", 0) not in watch.begun
    np.testing.assert_array_equal(first.transform(DIGITS), second.transform(DIGITS))


def test_a_finished_training_may_go_on(tmp_path):
    path = tmp_path / "training.npz"
    less = tiny(checkpoint=path, clustering_iterations=BETWEEN_LOOKS).fit(DIGITS)
    more = tiny(checkpoint=path).fit(DIGITS)
    assert more.n_iter_ > less.n_iter_
    np.testing.assert_array_equal(more.encoder_[0], tiny().fit(DIGITS).encoder_[0])


def test_nothing_in_a_checkpoint_is_pickled(tmp_path):
    path = tmp_path / "training.npz"
    tiny(checkpoint=path).fit(DIGITS)
    with np.load(path, allow_pickle=False) as archive:
        assert all(archive[name].dtype.kind in "fu" for name in archive.files)
        header = json.loads(archive["header"].tobytes())
    assert header["format"] == checkpoints.FORMAT


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"random_state": 5}, "made with seed=0, and here it is 5"),
        ({"batch_size": 16}, "made with batch_size=32"),
        ({"n_clusters": 4}, "made with n_clusters=3"),
    ],
)
def test_a_checkpoint_of_other_parameters_is_refused(tmp_path, changed, text):
    path = tmp_path / "training.npz"
    _broken_off(path, 1)
    with pytest.raises(ValueError, match=text):
        tiny(checkpoint=path, **changed).fit(DIGITS)


def test_a_checkpoint_of_other_data_is_refused(tmp_path):
    path = tmp_path / "training.npz"
    _broken_off(path, 1)
    with pytest.raises(ValueError, match="made with other data"):
        tiny(checkpoint=path).fit(DIGITS[::-1])


def test_a_corrupted_checkpoint_is_refused(tmp_path, trained):
    path = tmp_path / "training.npz"
    _broken_off(path, 4)
    whole = path.read_bytes()
    generator = np.random.default_rng(0)
    for at in [*generator.integers(0, len(whole), 30).tolist(), 0]:
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        _refused_or_the_same(path, trained)
    for content in (whole[: len(whole) // 2], b"", b"no archive"):
        path.write_bytes(content)
        with pytest.raises(ValueError, match="checkpoint"):
            tiny(checkpoint=path).fit(DIGITS)


def _refused_or_the_same(path, trained):
    """A bit in the dates or rights of a member harms nothing; all others are seen."""
    told, found = "", None
    try:
        found = tiny(checkpoint=path).fit(DIGITS)
    except ValueError as error:
        told = str(error)
    assert "checkpoint" in told or np.array_equal(found.encoder_[0], trained.encoder_[0])


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"version": 9}, "has version 9"),
        ({"format": "other"}, "is no checkpoint"),
        ({"stage": "none"}, "contradicts itself"),
        ({"level": 7}, "contradicts itself"),
        ({"iteration": -1}, "contradicts itself"),
        ({"plan": None}, "has no parameters"),
    ],
)
def test_a_checkpoint_with_another_header_is_refused(tmp_path, changes, text):
    path = tmp_path / "training.npz"
    _broken_off(path, 1)
    with np.load(path) as archive:
        arrays = dict(archive)
    header = json.loads(arrays["header"].tobytes()) | changes
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    np.savez(path, **arrays)
    with pytest.raises(ValueError, match=text):
        tiny(checkpoint=path).fit(DIGITS)


def test_an_altered_weight_is_refused(tmp_path):
    path = tmp_path / "training.npz"
    _broken_off(path, 1)
    with np.load(path) as archive:
        arrays = dict(archive)
    arrays["weights.0"] = arrays["weights.0"] + np.float32(1.0)
    np.savez(path, **arrays)
    with pytest.raises(ValueError, match="checksum"):
        tiny(checkpoint=path).fit(DIGITS)


def test_the_plan_has_all_that_matters():
    # A parameter of the estimator that is not in the plan would not be seen to have changed.
    elsewhere = {"checkpoint", "checkpoint_every", "n_jobs", "verbose", "random_state"}
    names = {"n_components": "sizes", "hidden": "sizes"}
    expected = {names.get(name, name) for name in tiny().get_params() if name not in elsewhere}
    assert expected | {"n_samples", "seed"} == set(Plan._fields)


# --- files ---------------------------------------------------------------------------------------


def test_saved_and_loaded(tmp_path, trained):
    path = tmp_path / "deep.icvi"
    save(trained, path)
    twin = load(path)
    np.testing.assert_array_equal(twin.transform(DIGITS), trained.transform(DIGITS))
    latents = trained.transform(DIGITS)
    np.testing.assert_array_equal(
        twin.inverse_transform(latents), trained.inverse_transform(latents)
    )
    for name, values in trained.history_.items():
        np.testing.assert_array_equal(values, twin.history_[name])
    assert twin.get_params() == trained.get_params()
    assert clone(twin).get_params() == trained.get_params()


def test_a_path_of_a_checkpoint_is_not_stored(tmp_path):
    model = tiny(checkpoint=tmp_path / "training.npz").fit(DIGITS)
    save(model, tmp_path / "deep.icvi")
    assert load(tmp_path / "deep.icvi").checkpoint is None


@pytest.fixture(scope="module")
def pipeline():
    steps = tiny(), ICVIARTMAP(3, index="CH", random_state=0)
    return make_pipeline(*steps).fit(DIGITS)


def test_a_pipeline_is_one_file_that_predicts_without_torch(tmp_path, pipeline, monkeypatch):
    path = tmp_path / "both.icvi"
    save(pipeline, path)
    monkeypatch.setitem(sys.modules, "torch", None)
    twin = load(path)
    assert list(twin.named_steps) == ["dynamicautoencoder", "icviartmap"]
    np.testing.assert_array_equal(twin.predict(DIGITS), pipeline.predict(DIGITS))
    with zipfile.ZipFile(path) as archive:
        assert "0.encoder.0.npy" in archive.namelist()


def _altered(path: Path, change) -> None:
    """The file with another header."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    header = json.loads(members["header.json"])
    change(header)
    members["header.json"] = json.dumps(header).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda header: header["steps"].pop(), "steps"),
        (lambda header: header["steps"].reverse(), "belong|missing|no DynamicAutoencoder"),
        (lambda header: header["steps"][0].update(name="icviartmap"), "names of its steps"),
        (lambda header: header["steps"][0]["fitted"].update(n_layers=1), "belong|shape"),
        (lambda header: header["steps"][0]["fitted"].update(n_layers=99), "n_layers"),
        (lambda header: header["steps"][0]["parameters"].update(critic="x"), "critic"),
    ],
)
def test_altered_pipelines_are_refused(tmp_path, pipeline, change, text):
    path = tmp_path / "both.icvi"
    save(pipeline, path)
    _altered(path, change)
    with pytest.raises(ModelFileError, match=text):
        load(path)


def test_other_pipelines_are_not_stored(tmp_path):
    lone = make_pipeline(ICVIARTMAP(3, index="CH", random_state=0)).fit(DIGITS)
    with pytest.raises(TypeError, match=r"joblib\.dump for anything else"):
        save(lone, tmp_path / "lone.icvi")


# --- scikit-learn's callbacks --------------------------------------------------------------------


class _Recorder:
    """Keeps the shapes that estimators of unfinished fits transform to."""

    def __init__(self):
        self.seen = []

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context, *, fitted_estimator):
        if fitted_estimator is not None:
            latents = fitted_estimator.transform(DIGITS)
            self.seen.append((context.task_name, latents.shape, fitted_estimator.n_iter_))


def test_callbacks_see_the_network_on_its_way():
    pytest.importorskip("sklearn.callback", reason="scikit-learn has them from 1.9 on")
    recorder = _Recorder()
    tiny(clustering_iterations=140).set_callbacks(recorder).fit(DIGITS)
    assert recorder.seen == [
        ("iterations", (200, 2), 140),
        ("iterations", (200, 2), 280),
        ("iterations", (200, 2), 300),
        (PRETRAINING, (200, 2), 300),
        ("iterations", (200, 2), 440),
        (CLUSTERING, (200, 2), 440),
        ("fit", (200, 2), 440),
    ]
