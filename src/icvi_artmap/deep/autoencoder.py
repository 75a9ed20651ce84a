"""DynamicAutoencoder, the scikit-learn transformer: validate, train, set attributes."""

from __future__ import annotations

import math
import numbers
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from icvi_artmap._support.callbacks import CallbackSupportMixin, watched, with_callbacks
from icvi_artmap._support.validation import (
    check_choice,
    check_integer,
    check_real,
    check_verbose,
    checked_data,
    checked_generator,
    short_messages,
)
from icvi_artmap._support.wording import number, shown
from icvi_artmap.deep import checkpoints
from icvi_artmap.deep.layers import sizes_of, through
from icvi_artmap.deep.needs_torch import imported_torch
from icvi_artmap.deep.training import (
    BY_NEIGHBOURS,
    CLUSTERING,
    FIRST_CENTRES,
    PRETRAINING,
    Look,
    Plan,
    Training,
    begun,
    train,
)

#: Bounds of parameters, far beyond what is sensible.
MOST_ITERATIONS, MOST_ROWS, MOST_WIDTH, MOST_LAYERS = 100_000_000, 1_000_000, 100_000, 8
_SEEDS = 2**32
CRITICS = ("none", "trained")


class DynamicAutoencoder(
    CallbackSupportMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator
):
    """A few features in which images or rows of a table form clusters (DynAE).

    An autoencoder learns to rebuild the rows, images turned and shifted a little at random. Then
    k-means finds centres among its latents, and the network learns to move samples that are near
    to one centre onto it, and to rebuild the image of the centre of them; the other samples stay.
    The bounds of "near" are lowered step by step. What comes out, ``transform(X)``, is for a
    clustering, as ``make_pipeline(DynamicAutoencoder(10), ICVIARTMAP(10))``.

    Training needs PyTorch (``pip install 'icvi-artmap[deep]'``); a trained model needs it no more.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of centres that samples are drawn to.
    n_components : int, default=10
        Number of latent features.
    hidden : sequence of int, default=(500, 500, 2000)
        Widths of the layers between the data and the latents; the decoder has them in reverse.
    image_shape : tuple of int or None, default=None
        Height and width of the images that the rows are, or height, width and channels if pixels
        have more than one number, these side by side. None: rows of a table, which are not
        distorted.
    rotation : float, default=10.0
        How far images are turned at the most, in degrees, one way or the other.
    shift : float, default=0.1
        How far they are moved at the most, as a part of their height and width.
    pretraining_iterations : int, default=10000
        Batches that the autoencoder as such is trained with.
    clustering_iterations : int, default=3500
        Batches at most of the second stage, which ends when less than 1 % of the samples are near
        to no centre.
    batch_size : int, default=64
        Rows of a batch; all, if there are fewer.
    learning_rate : float, default=1e-3
        The largest of the pretraining (Adam): it rises to that in the first 2 % of the iterations,
        and falls to 0 along a cosine.
    clustering_rate : float, default=1e-2
        Learning rate of the second stage (gradient descent with momentum 0.9).
    critic : {"none", "trained"}, default="none"
        "trained": a second network learns to tell images decoded from mixed latents from others,
        and the autoencoder to mislead it (ACAI). An iteration then takes about three times as
        long.
    first_centres : {"index", "kmeans", "neighbours"}, default="index"
        How the clusters are found that the second stage begins with. "index": by
        :class:`~icvi_artmap.ICVIARTMAP` with the index NI, for which clusters may be long and
        flat, and latents are turned and stretched so that clusters are as wide in all directions.
        "kmeans": by k-means, as in the article. "neighbours": by a network of its own, which
        learns before all else to give rows and their nearest neighbours the same label, and to use
        all labels about equally often; the autoencoder then learns these labels, too, where they
        are sure. For few images, and clusters of about equal size.
    checkpoint : str, path or None, default=None
        A file to which the training is written from time to time. If it is there, :meth:`fit` goes
        on with what is in it, and finds what an unbroken training would have found, to the last
        bit on the same machine with the same number of threads. A file of other data or
        parameters is refused.
    checkpoint_every : int, default=1400
        Iterations after which it is written, and always at the end of a stage.
    n_jobs : int or None, default=None
        Threads of the training. None: as many as PyTorch takes by itself.
    random_state : int, RandomState instance or None, default=None
        Seed of the first weights, of the batches, of distortions and of k-means.
    verbose : int or bool, default=0
        1 prints a line after every 140 iterations. From scikit-learn 1.9 on, ``set_callbacks``
        takes its callbacks as well: tasks are the two stages, and in these 140 iterations each;
        before them, with neighbours, the networks that tell labels.

    Attributes
    ----------
    encoder_, decoder_ : list of ndarray
        Weights (outputs, inputs) and biases of one layer after the other.
    lower_, span_ : ndarray of shape (n_features,)
        ``(X - lower_) / span_`` is what the network sees: from 0 to 1, all pixels of images by the
        same scale, each column of a table by its own.
    cluster_centers_ : ndarray of shape (n_clusters, n_components)
        The last centres, among the latents. They need not be those of the clusters in the end.
    history_ : dict of str to ndarray
        After every 140 iterations: "stage", "iteration" in the stage, mean "loss" since the last
        time, and how many samples were "conflicted", near to no centre (-1 in the pretraining).
    n_iter_ : int
        Iterations of both stages.
    converged_ : bool
        Whether the second stage ended before its last iteration.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if all are strings.

    References
    ----------
    N. Mrabah, N. M. Khan, R. Ksantini, Z. Lachiri, Deep clustering with a dynamic autoencoder: from
    reconstruction towards centroids construction, Neural Networks, 2020.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from icvi_artmap.deep import DynamicAutoencoder
    >>> X, _ = load_digits(return_X_y=True)
    >>> deep = DynamicAutoencoder(10, image_shape=(8, 8), random_state=0)
    >>> deep.fit_transform(X).shape  # doctest: +SKIP
    (1797, 10)
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_components: int = 10,
        hidden: Sequence[int] = (500, 500, 2000),
        image_shape: tuple[int, ...] | None = None,
        rotation: float = 10.0,
        shift: float = 0.1,
        pretraining_iterations: int = 10_000,
        clustering_iterations: int = 3_500,
        batch_size: int = 64,
        learning_rate: float = 1e-3,
        clustering_rate: float = 1e-2,
        critic: Literal["none", "trained"] = "none",
        first_centres: Literal["index", "kmeans", "neighbours"] = "index",
        checkpoint: str | os.PathLike[str] | None = None,
        checkpoint_every: int = 1_400,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int | bool = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_components = n_components
        self.hidden = hidden
        self.image_shape = image_shape
        self.rotation = rotation
        self.shift = shift
        self.pretraining_iterations = pretraining_iterations
        self.clustering_iterations = clustering_iterations
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.clustering_rate = clustering_rate
        self.critic = critic
        self.first_centres = first_centres
        self.checkpoint = checkpoint
        self.checkpoint_every = checkpoint_every
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @with_callbacks
    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Train the network, or go on with the training in ``checkpoint``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers without missing values, dense; an image a row, if they are images.
        y : ignored
            But passed on to scikit-learn's callbacks, if there are any.

        Returns
        -------
        self : DynamicAutoencoder
        """
        self._check_parameters()
        imported_torch()  # whoever has none is told before anything else
        table = checked_data(self, X, ensure_min_samples=2)
        if len(table) < self.n_clusters:
            raise ValueError(
                f"n_clusters={shown(self.n_clusters)} is more than the number of samples, "
                f"n_samples={len(table)}. Ask for at most as many clusters as there are samples."
            )
        self.lower_, self.span_ = _ranges(table, self._image(table.shape[1]) is not None)
        rows = self._scaled(table).astype(np.float32)
        plan = self._plan(*table.shape)
        watch = watched(self, X, y, self._attributes_of)
        watch.begin("fit", 3 if self.first_centres == BY_NEIGHBOURS else 2)
        with _threads(self.n_jobs):
            training = self._trained(plan, rows, watch)
        self._set_attributes(training)
        watch.end(self)
        return self

    def transform(self, X: ArrayLike) -> NDArray[np.float64]:
        """The latents of rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        latents : ndarray of shape (n_samples, n_components)
        """
        check_is_fitted(self)
        table = checked_data(self, X, reset=False)
        return through(self._scaled(table), self.encoder_)

    def inverse_transform(self, latents: ArrayLike) -> NDArray[np.float64]:
        """What the decoder makes of latents, in the units of the data.

        Parameters
        ----------
        latents : array-like of shape (n_samples, n_components)

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        with short_messages():
            given = check_array(latents, dtype=np.float64, input_name="latents")
        if given.shape[1] != self._n_features_out:
            raise ValueError(
                f"latents have {given.shape[1]} features, but this DynamicAutoencoder makes "
                f"{self._n_features_out}."
            )
        return through(given, self.decoder_) * self.span_ + self.lower_

    @property
    def _n_features_out(self) -> int:
        """For get_feature_names_out."""
        return len(self.encoder_[-1])

    # --- parameters ------------------------------------------------------------------------------

    def _check_parameters(self) -> None:
        """Check what does not depend on the data; the message says what came and what is wanted."""
        check_integer("n_clusters", self.n_clusters, 1)
        check_integer("n_components", self.n_components, 1, MOST_WIDTH)
        _check_widths("hidden", self.hidden)
        check_real("rotation", self.rotation, 0.0, 180.0)
        check_real("shift", self.shift, 0.0, 1.0)
        check_integer("pretraining_iterations", self.pretraining_iterations, 1, MOST_ITERATIONS)
        check_integer("clustering_iterations", self.clustering_iterations, 0, MOST_ITERATIONS)
        check_integer("batch_size", self.batch_size, 1, MOST_ROWS)
        check_real("learning_rate", self.learning_rate, 0.0, 1.0, open_low=True)
        check_real("clustering_rate", self.clustering_rate, 0.0, 1.0, open_low=True)
        check_choice("critic", self.critic, CRITICS)
        check_choice("first_centres", self.first_centres, FIRST_CENTRES)
        check_integer("checkpoint_every", self.checkpoint_every, 1, MOST_ITERATIONS)
        if self.checkpoint is not None and not isinstance(self.checkpoint, (str, os.PathLike)):
            raise TypeError(
                f"checkpoint must be the path of a file or None, got {shown(self.checkpoint)}."
            )
        if self.n_jobs is not None:
            check_integer("n_jobs", self.n_jobs, 1, 10_000)
        check_verbose(self.verbose)

    def _image(self, n_features: int) -> tuple[int, int, int] | None:
        """Height, width and channels of the rows."""
        if self.image_shape is None:
            return None
        _check_widths("image_shape", self.image_shape)
        sides = [int(side) for side in self.image_shape]
        if len(sides) not in (2, 3) or math.prod(sides) != n_features:
            raise ValueError(
                f"image_shape={shown(self.image_shape)} must be height and width, or height, width "
                f"and channels, of images with as many numbers as a row has: {n_features}."
            )
        return sides[0], sides[1], math.prod(sides[2:])

    def _plan(self, n_samples: int, n_features: int) -> Plan:
        given, generator = self.random_state, checked_generator(self.random_state)
        drawn = int(generator.randint(_SEEDS, dtype=np.uint32))
        seed = int(given) if isinstance(given, numbers.Integral) else drawn
        return Plan(
            n_samples,
            tuple(int(n) for n in sizes_of(n_features, self.hidden, self.n_components)),
            self._image(n_features),
            int(self.n_clusters),
            int(self.pretraining_iterations),
            int(self.clustering_iterations),
            int(self.batch_size),
            float(self.learning_rate),
            float(self.clustering_rate),
            float(self.rotation),
            float(self.shift),
            self.critic == "trained",
            self.first_centres,
            seed,
        )

    # --- training --------------------------------------------------------------------------------

    def _scaled(self, X: NDArray[np.floating]) -> NDArray[np.float64]:
        return (X - self.lower_) / self.span_

    def _trained(self, plan: Plan, rows: NDArray[np.float32], watch: Any) -> Training:
        """A training that has come to its end, begun here or in a checkpoint."""
        training, checksum = None, ""
        if self.checkpoint is not None:
            checksum = checkpoints.data_checksum(rows)
            training = checkpoints.read(self.checkpoint, plan, checksum)
        training = begun(plan) if training is None else training
        train(training, rows, watch, self._after_look(training, checksum))
        return training

    def _after_look(self, training: Training, checksum: str) -> Callable[[Training], None]:
        """What is done after some iterations: a line is printed, a checkpoint written."""
        told, written = time.perf_counter(), training.n_iterations()

        def after_look(training: Training) -> None:
            nonlocal told, written
            if self.verbose:
                seconds, told = time.perf_counter() - told, time.perf_counter()
                print(f"DynamicAutoencoder: {_line(training, seconds)}", flush=True)
            due = training.n_iterations() - written >= self.checkpoint_every
            if self.checkpoint is not None and (due or training.is_at_end()):
                checkpoints.write(self.checkpoint, training, checksum)
                written = training.n_iterations()

        return after_look

    def _set_attributes(self, training: Training) -> None:
        for name, value in self._attributes_of(training).items():
            setattr(self, name, value)

    def _attributes_of(self, subject: Any) -> dict[str, Any]:
        """The attributes as if the fit ended with this training."""
        if subject is self:
            return {}
        encoder, decoder = subject.arrays()
        looks = subject.looks
        return {
            "encoder_": encoder,
            "decoder_": decoder,
            "cluster_centers_": _centres(subject),
            "history_": {
                name: np.array([getattr(look, name) for look in looks]) for name in Look._fields
            },
            "n_iter_": subject.n_iterations(),
            "converged_": subject.has_converged(),
        }


def check_restored(model: DynamicAutoencoder) -> None:
    """Check the parameters of a restored model as another fit on such data would."""
    model._check_parameters()
    model._image(model.n_features_in_)


def _centres(training: Training) -> NDArray[np.float64]:
    """The centres of the last time; none in the pretraining."""
    if training.centres is None:
        return np.empty((0, training.plan.sizes[-1]))
    return np.asarray(training.centres.numpy(), np.float64)


def _check_widths(name: str, widths: Any) -> None:
    if isinstance(widths, str) or not isinstance(widths, (Sequence, np.ndarray)):
        raise TypeError(f"{name} must be a sequence of integers, got {shown(widths)}.")
    if not 1 <= len(widths) <= MOST_LAYERS:
        raise ValueError(f"{name} must have 1 to {MOST_LAYERS} numbers, got {len(widths)}.")
    for width in widths:
        check_integer(f"A number of {name}", width, 1, MOST_WIDTH)


def _ranges(
    X: NDArray[np.floating], images: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Least value and width, of all pixels together or of each column; a width is never 0."""
    lower, upper = X.min(axis=0).astype(np.float64), X.max(axis=0).astype(np.float64)
    if images:
        lower, upper = np.full_like(lower, lower.min()), np.full_like(upper, upper.max())
    span = upper - lower
    if not np.isfinite(span).all():
        raise ValueError("The values of X are too far apart for float64. Scale them first.")
    return lower, np.where(span > 0.0, span, 1.0)


def _line(training: Training, seconds: float) -> str:
    look, before = training.looks[-1], training.looks[-2:-1]
    of = {
        PRETRAINING: training.plan.pretraining_iterations,
        CLUSTERING: training.plan.clustering_iterations,
    }[look.stage]
    done = look.iteration
    if before and before[0].stage == look.stage:
        done -= before[0].iteration
    words = [
        f"{look.stage}, {look.iteration:,} of {of:,} iterations",
        f"loss {number(look.loss)}",
        f"{number(done / max(seconds, 1e-9), 3)} iterations a second",
    ]
    if look.conflicted >= 0:
        words.insert(2, f"{look.conflicted:,} conflicted")
    return ", ".join(words)


@contextmanager
def _threads(n: int | None) -> Iterator[None]:
    """Inside, PyTorch has this number of threads."""
    torch = imported_torch()
    before = torch.get_num_threads()
    torch.set_num_threads(before if n is None else int(n))
    try:
        yield
    finally:
        torch.set_num_threads(before)
