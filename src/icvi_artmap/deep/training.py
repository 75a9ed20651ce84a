"""The training of an autoencoder: first as such, then towards the centres of clusters.

A :class:`Training` is a network on its way: all that its next iteration depends on are its fields,
the data and the number of the iteration, which seeds all that is random in it. So a training that
is written down and taken up again goes on as if nothing had happened.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from math import cos, pi
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from icvi_artmap._support.callbacks import Watch
from icvi_artmap._support.threads import one_thread
from icvi_artmap.deep import computation as compute
from icvi_artmap.deep.grouping import NOBODY, grouped
from icvi_artmap.deep.layers import Weights, first_weights
from icvi_artmap.deep.needs_torch import imported_torch
from icvi_artmap.estimators.icvi_artmap import ICVIARTMAP
from icvi_artmap.samples.mixture import log_density

#: The stages of a training, in their order.
STAGES = PRETRAINING, CLUSTERING = "pretraining", "clustering"
#: What finds the centres that the clustering begins with: the index NI, k-means, or a network that
#: gives neighbours the same label.
FIRST_CENTRES = BY_INDEX, BY_KMEANS, BY_NEIGHBOURS = "index", "kmeans", "neighbours"
#: Iterations between two looks at the whole: conflicts are counted, and whoever watches is told.
BETWEEN_LOOKS = 140
#: The share of the pretraining in which the learning rate rises; then it falls along a cosine.
WARM_UP = 0.02
#: How much of the last step goes into the next one, in the clustering.
MOMENTUM = 0.9
#: Gradients of the clustering that are longer than this are shortened to it: latents that say
#: little of the data become very wide when they are given a variance of 1.
LONGEST_SLOPE = 5.0
#: The least similarity of a confident sample and its lead before the second, step by step.
THRESHOLDS = ((0.30, 0.15), (0.21, 0.06), (0.12, -0.03))
#: Clustering ends when a smaller share of the samples is conflicted.
FEW_CONFLICTS = 0.01
#: How much the critic's judgement of mixtures counts beside the error of the reconstruction.
CRITIC_WEIGHT = 0.5
#: Starts of k-means.
KMEANS_STARTS = 10
#: Starts of the clustering by the index, and the samples at most that one has.
INDEX_STARTS, INDEX_ROWS = 5, 20_000
#: The part of them whose density is largest, on which clusters are found, and how often.
DENSE_PART, TRIMMINGS = 0.9, 3
#: The least variance that latents are widened by, as a part of the largest: what a direction has
#: less is taken for noise of the arithmetic.
LEAST_VARIANCE = 1e-4
#: Rows whose latents are computed at a time.
ROWS = 4096
#: What random numbers are for: in every stage each purpose has a stream of its own.
_PURPOSES = ("weights", "order", "iteration", "centres")

Labels = NDArray[np.int64]


class Plan(NamedTuple):
    """What a training is to do; with the data, it determines the result."""

    n_samples: int
    sizes: tuple[int, ...]  #: widths of the encoder
    image_shape: tuple[int, int, int] | None  #: height, width, channels; None: rows of a table
    n_clusters: int
    pretraining_iterations: int
    clustering_iterations: int
    batch_size: int
    learning_rate: float
    clustering_rate: float
    rotation: float  #: degrees at most
    shift: float  #: share of the side at most
    critic: bool  #: whether one is trained
    first_centres: str  #: what finds them, one of FIRST_CENTRES
    seed: int


class Look(NamedTuple):
    """What was seen at the end of some iterations."""

    stage: str
    iteration: int  #: iterations of the stage so far
    loss: float  #: mean since the last look
    conflicted: int  #: samples that are near to no centre; -1 in the pretraining


@dataclass
class Training:
    """A network on its way, with the fields that a checkpoint keeps."""

    plan: Plan
    weights: list[Any]  #: of the encoder, of the decoder, and in the pretraining perhaps a head
    critic: list[Any]  #: tensors of the critic, or none
    momenta: dict[str, list[Any]] = field(default_factory=dict)  #: what optimisers remember
    stage: str = PRETRAINING
    iteration: int = 0  #: of the stage
    level: int = 0  #: of the thresholds
    conflicted: int = -1  #: at the last look
    centres: Any = None  #: (k, latent)
    images: Any = None  #: (k, features), what the centres are decoded to
    looks: list[Look] = field(default_factory=list)

    @property
    def n_layers(self) -> int:
        """Layers of the encoder, and of the decoder."""
        return len(self.plan.sizes) - 1

    @property
    def encoder(self) -> list[Any]:
        """The first half of the weights but the head."""
        return self.weights[: 2 * self.n_layers]

    @property
    def decoder(self) -> list[Any]:
        """The other half."""
        return self.weights[2 * self.n_layers : 4 * self.n_layers]

    @property
    def head(self) -> list[Any]:
        """The layer that tells labels by latents, while there is one."""
        return self.weights[4 * self.n_layers :]

    def has_converged(self) -> bool:
        """Whether nearly all samples are near to a centre."""
        return 0 <= self.conflicted < FEW_CONFLICTS * self.plan.n_samples

    def is_at_end(self) -> bool:
        """Whether these are the last weights of a stage."""
        if self.stage == PRETRAINING:
            return self.iteration >= self.plan.pretraining_iterations
        return self.iteration >= self.plan.clustering_iterations or self.has_converged()

    def n_iterations(self) -> int:
        """Iterations of all stages so far."""
        before = [look.iteration for look in self.looks if look.stage != self.stage]
        return self.iteration + max(before, default=0)

    def arrays(self) -> tuple[Weights, Weights]:
        """Copies of the weights of encoder and decoder."""
        return arrays_of(self.encoder), arrays_of(self.decoder)


def begun(plan: Plan) -> Training:
    """A training before its first iteration."""
    generator = _generator(plan, PRETRAINING, "weights", 0)
    weights = first_weights(plan.sizes, generator) + first_weights(plan.sizes[::-1], generator)
    critic = first_weights(plan.sizes, generator) if plan.critic else []
    if plan.first_centres == BY_NEIGHBOURS:
        weights += first_weights(head_sizes(plan), generator)
    return Training(plan, tensors(weights), tensors(critic))


def head_sizes(plan: Plan) -> tuple[int, int]:
    """Widths of the layer that tells labels by latents."""
    return plan.sizes[-1], plan.n_clusters


def tensors(weights: list[NDArray[np.float32]]) -> list[Any]:
    """Weights that gradients are taken of."""
    torch = imported_torch()
    return [torch.from_numpy(array.copy()).requires_grad_() for array in weights]


def arrays_of(held: list[Any]) -> list[NDArray[Any]]:
    """Copies of tensors as arrays."""
    return [tensor.detach().numpy().copy() for tensor in held]


def _generator(plan: Plan, stage: str, purpose: str, number: int) -> np.random.Generator:
    """Random numbers that depend on nothing but the seed, what they are for, and a number."""
    stream = STAGES.index(stage) * len(_PURPOSES) + _PURPOSES.index(purpose)
    bits = np.random.Philox(key=[plan.seed, stream], counter=[0, 0, 0, number])
    return np.random.Generator(bits)


# --- iterations ----------------------------------------------------------------------------------


def train(
    training: Training,
    X: NDArray[np.float32],
    watch: Watch,
    after_look: Callable[[Training], None],
) -> None:
    """Do all iterations that are left; ``after_look`` is called at every look."""
    rows, groups = imported_torch().from_numpy(X), None
    if training.plan.first_centres == BY_NEIGHBOURS and training.centres is None:
        groups = grouped(rows, training.plan, watch)
    if training.stage == PRETRAINING:
        _Pretraining(training, rows, groups).run(watch, after_look)
        training.weights = training.encoder + training.decoder
        training.stage, training.iteration, training.momenta = CLUSTERING, 0, {}
    _Clustering(training, rows, groups).run(watch, after_look)


class _Stage(ABC):
    """The iterations of one stage, from look to look."""

    name: str
    name_of_rate: str  #: the parameter of the estimator
    iterations: int  #: at most

    def __init__(self, training: Training, rows: Any, groups: Labels | None = None) -> None:
        self.training, self.plan, self.rows = training, training.plan, rows
        self.groups = groups  #: labels of rows, which are found again with the same plan and data
        self.batch_size = min(self.plan.batch_size, len(rows))
        self._epoch, self._order = -1, np.empty(0, np.int64)

    @abstractmethod
    def step(self, generator: np.random.Generator) -> float:
        """One iteration; returns its loss."""

    @abstractmethod
    def look(self) -> None:
        """Look at the whole, and keep in the training what the optimisers remember."""

    def run(self, watch: Watch, after_look: Callable[[Training], None]) -> None:
        """Go on until the stage is over, or whoever watches wants no more of it."""
        training = self.training
        watch.begin(self.name, -(-self.iterations // BETWEEN_LOOKS))
        enough = False
        while not training.is_at_end() and not enough:
            watch.begin("iterations")
            loss = self._until(min(training.iteration + BETWEEN_LOOKS, self.iterations))
            self.look()
            training.looks.append(Look(self.name, training.iteration, loss, training.conflicted))
            after_look(training)
            enough = watch.end(training)
        watch.end(training)

    def _until(self, iteration: int) -> float:
        """The mean loss of the iterations before this one."""
        training, losses = self.training, []
        while training.iteration < iteration:
            drawn = _generator(self.plan, self.name, "iteration", training.iteration)
            losses.append(self.step(drawn))
            training.iteration += 1
        loss = float(np.mean(losses))
        if not np.isfinite(loss):
            raise FloatingPointError(
                f"The loss of the {self.name} became {loss} before iteration {iteration}. Use a "
                f"smaller {self.name_of_rate}."
            )
        return loss

    def chosen(self) -> Any:
        """The numbers of the rows of this iteration. Every epoch has an order of its own."""
        epoch, at = divmod(self.training.iteration, len(self.rows) // self.batch_size)
        if epoch != self._epoch:
            drawn = _generator(self.plan, self.name, "order", epoch)
            self._epoch, self._order = epoch, drawn.permutation(len(self.rows))
        chosen = self._order[at * self.batch_size : (at + 1) * self.batch_size]
        return imported_torch().from_numpy(chosen)

    def distorted(self, rows: Any, generator: np.random.Generator) -> Any:
        """The rows, turned and shifted at random if they are images."""
        plan = self.plan
        return compute.distorted_at_random(
            rows, plan.image_shape, plan.rotation, plan.shift, generator
        )


def _uniform(
    generator: np.random.Generator, low: float, high: float, shape: Any
) -> NDArray[np.float32]:
    return generator.uniform(low, high, shape).astype(np.float32)


class _Pretraining(_Stage):
    """An autoencoder of distorted images, with a critic of its mixtures or without."""

    name, name_of_rate = PRETRAINING, "learning_rate"

    def __init__(self, training: Training, rows: Any, groups: Labels | None = None) -> None:
        super().__init__(training, rows, groups)
        self.iterations = self.plan.pretraining_iterations
        self.optimiser = _adam(training, "weights")
        self.critics = _adam(training, "critic") if training.critic else None

    def rate(self) -> float:
        """The learning rate of this iteration."""
        done = (self.training.iteration + 1) / self.iterations
        if done < WARM_UP:
            return self.plan.learning_rate * done / WARM_UP
        return self.plan.learning_rate * 0.5 * (1.0 + cos(pi * (done - WARM_UP) / (1.0 - WARM_UP)))

    def step(self, generator: np.random.Generator) -> float:
        training, chosen = self.training, self.chosen()
        rows = self.distorted(self.rows[chosen], generator)
        latents = compute.through(rows, training.encoder)
        rebuilt = compute.through(latents, training.decoder)
        loss = compute.squared_error(rebuilt, rows)
        if self.groups is not None:
            labels = imported_torch().from_numpy(self.groups[chosen])
            loss = loss + compute.label_loss(compute.through(latents, training.head), labels)
        if self.critics is None:
            _descend(self.optimiser, loss, self.rate())
            return float(loss.detach())
        drawn = imported_torch().from_numpy(_uniform(generator, 0.0, 1.0, (2, len(rows))))
        share, b = drawn
        latents = share[:, None] * latents + (1.0 - share[:, None]) * latents.flip(0)
        mixed = compute.through(latents, training.decoder)
        blame = compute.interpolation_loss(training.critic, mixed)
        _descend(self.optimiser, loss + CRITIC_WEIGHT * blame, self.rate())
        mistaken = compute.critic_loss(
            training.critic, mixed.detach(), share, rows, rebuilt.detach(), b
        )
        _descend(self.critics, mistaken, self.rate())
        return float(loss.detach())

    def look(self) -> None:
        _keep_adam(self.training, "weights", self.optimiser)
        if self.critics is not None:
            _keep_adam(self.training, "critic", self.critics)


class _Clustering(_Stage):
    """Confident samples are drawn to their centres, the others stay where they are."""

    name, name_of_rate = CLUSTERING, "clustering_rate"

    def __init__(self, training: Training, rows: Any, groups: Labels | None = None) -> None:
        super().__init__(training, rows, groups)
        self.iterations = self.plan.clustering_iterations
        self.optimiser = _momentum(training)
        if training.centres is None:
            self._first_centres()
        self._aim(self._latents())

    def step(self, generator: np.random.Generator) -> float:
        training = self.training
        chosen = self.chosen()
        clean, nearest = self.rows[chosen], self.nearest[chosen]
        images = imported_torch().where((nearest >= 0)[:, None], training.images[nearest], clean)
        latents = compute.through(self.distorted(clean, generator), training.encoder)
        rebuilt = compute.through(latents, training.decoder)
        loss = compute.squared_error(latents, self.targets[chosen])
        loss = loss + compute.squared_error(rebuilt, images)
        _descend(self.optimiser, loss, self.plan.clustering_rate, LONGEST_SLOPE)
        return float(loss.detach())

    def look(self) -> None:
        training = self.training
        _keep_momentum(training, self.optimiser)
        latents = self._latents()
        before, training.conflicted = training.conflicted, int((~self._sure(latents)).sum())
        if 0 <= before <= training.conflicted:
            training.level = min(training.level + 1, len(THRESHOLDS) - 1)
            self._new_centres(latents)
        self._aim(latents)

    def _sure(self, latents: Any) -> Any:
        """Which samples are near to one centre."""
        similar = compute.similarities(latents, self.training.centres)
        return compute.confident(similar, *THRESHOLDS[self.training.level])

    def _aim(self, latents: Any) -> None:
        """Set the targets until the next look: centres of confident samples, else where they are.

        Latents that aim at themselves must be those of one moment. If they moved with the weights,
        nothing would hold the network: distorted images are smoother than the others, and it would
        forever make up for that.
        """
        training, torch = self.training, imported_torch()
        sure = self._sure(latents)
        nearest = torch.cdist(latents, training.centres).argmin(dim=1)
        self.targets = torch.where(sure[:, None], training.centres[nearest], latents)
        self.nearest = torch.where(sure, nearest, -1)

    def _latents(self) -> Any:
        torch = imported_torch()
        with torch.no_grad():
            return torch.cat(
                [compute.through(part, self.training.encoder) for part in self.rows.split(ROWS)]
            )

    def _number(self) -> int:
        """A seed for centres that are looked for now."""
        drawn = _generator(self.plan, self.name, "centres", self.training.iteration)
        return int(drawn.integers(2**31))

    def _kmeans(self, latents: NDArray[np.float32]) -> NDArray[np.intp]:
        """The clusters of k-means."""
        model = KMeans(self.plan.n_clusters, n_init=KMEANS_STARTS, random_state=self._number())
        with one_thread():
            return model.fit_predict(latents)

    def _by_index(self, latents: NDArray[np.float32]) -> NDArray[np.intp] | None:
        """Of several partitions by iNI, the one with the fewest conflicted samples.

        None, if all have fewer clusters than are wanted.
        """
        n_clusters, first = self.plan.n_clusters, self._number()
        best, fewest = None, len(latents) + 1
        for start in range(INDEX_STARTS if n_clusters > 1 else 0):
            part = np.random.default_rng([first, start]).permutation(len(latents))[:INDEX_ROWS]
            model = by_dense_samples(latents[part], n_clusters, (first + start) % 2**31)
            labels = model.predict(latents)
            if len(np.unique(labels)) == n_clusters:
                conflicted = n_conflicted(latents, labels)
                if conflicted < fewest:
                    best, fewest = labels, conflicted
        return best

    def _first_centres(self) -> None:
        """Find clusters, give the latents of a cluster a variance of 1, and take its centres.

        The similarities have a unit of length, and what an autoencoder makes of it depends on how
        long it was trained. By k-means, as in the article, the unit is one for all directions.
        What autoencoders make of clusters is long and flat, and NI sees that: then latents are
        turned and stretched until a cluster is as wide in all directions, by mean over the
        clusters. The decoder takes that back.
        """
        latents = self._latents().numpy()
        labels, kept = None, np.arange(len(latents))
        if self.plan.first_centres == BY_INDEX:
            labels = self._by_index(latents)
        elif self.groups is not None:
            sure = np.flatnonzero(self.groups != NOBODY)
            if len(np.unique(self.groups[sure])) == self.plan.n_clusters:
                labels, kept = self.groups[sure], sure
        in_all_directions = labels is not None
        if labels is None:
            labels = self._kmeans(latents)
        widen(self.training, within(latents[kept], labels), in_all_directions)
        self._set_centres(self._latents()[kept], labels)

    def _new_centres(self, latents: Any) -> None:
        """Those of k-means; from where they are now, if it has not found the first ones."""
        array = latents.numpy()
        if self.plan.first_centres != BY_KMEANS:
            centres = self.training.centres.numpy()
            with one_thread():
                labels = KMeans(len(centres), init=centres, n_init=1).fit_predict(array)
        else:
            labels = self._kmeans(array)
        self._set_centres(latents, labels)

    def _set_centres(self, latents: Any, labels: NDArray[np.intp]) -> None:
        """Centres are the samples that are nearest to the means of clusters; they are decoded."""
        training, torch = self.training, imported_torch()
        means = torch.from_numpy(_means(latents.numpy(), labels, self.plan.n_clusters))
        with torch.no_grad():
            training.centres = latents[torch.cdist(means, latents).argmin(dim=1)].clone()
            training.images = compute.through(training.centres, training.decoder)


def _means(
    rows: NDArray[np.float32], labels: NDArray[np.intp], n_clusters: int
) -> NDArray[np.float32]:
    """The means of clusters; of a cluster without rows, the mean of all."""
    sums = np.zeros((n_clusters, rows.shape[1]))
    np.add.at(sums, labels, rows)
    sizes = np.bincount(labels, minlength=n_clusters)[:, None]
    means = np.where(sizes > 0, sums / np.maximum(sizes, 1), rows.mean(axis=0, dtype=np.float64))
    return means.astype(np.float32)


def within(rows: NDArray[np.float32], labels: NDArray[np.intp]) -> NDArray[np.float64]:
    """The covariance of rows within their clusters, by mean over all rows."""
    from_mean = rows.astype(np.float64)
    from_mean -= _means(rows, labels, int(labels.max()) + 1)[labels]
    return from_mean.T @ from_mean / len(rows)


def by_dense_samples(latents: NDArray[np.float32], n_clusters: int, seed: int) -> ICVIARTMAP:
    """Clusters of iNI, found on the samples where their density is large.

    What lies between clusters and far from all is a cluster to NI, a wide and thin one, and then
    two others are one. Without these samples it has no advantage. Which they are is seen better
    every time, as in other trimmed clusterings.
    """
    model = ICVIARTMAP(n_clusters, random_state=seed).fit(latents)
    n_dense = max(n_clusters, int(DENSE_PART * len(latents)))
    for _ in range(TRIMMINGS):
        density = log_density(model.fitted_.mixture()[0], model.fitted_.standardised(latents))
        dense = np.sort(np.argsort(-density, kind="stable")[:n_dense])
        model.fit(latents[dense])
    return model


def n_conflicted(latents: NDArray[np.float32], labels: NDArray[np.intp]) -> int:
    """How many samples would be conflicted, if the clustering began with these clusters."""
    there, _ = widening(within(latents, labels), in_all_directions=True)
    wide = latents @ there
    torch = imported_torch()
    means = torch.from_numpy(_means(wide, labels, int(labels.max()) + 1))
    similar = compute.similarities(torch.from_numpy(wide), means)
    return int((~compute.confident(similar, *THRESHOLDS[0])).sum())


def widening(
    covariance: NDArray[np.float64], in_all_directions: bool
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The matrix that makes this a covariance of mean variance 1, or of variance 1 everywhere.

    And its inverse. Both are symmetric.
    """
    variances, axes = np.linalg.eigh(covariance)
    if variances[-1] <= 0.0:
        variances = np.ones_like(variances)
    if not in_all_directions:
        variances = np.full_like(variances, variances.mean())
    deviations = np.sqrt(np.maximum(variances, LEAST_VARIANCE * variances[-1]))
    there, back = (axes / deviations) @ axes.T, (axes * deviations) @ axes.T
    return there.astype(np.float32), back.astype(np.float32)


def widen(training: Training, covariance: NDArray[np.float64], in_all_directions: bool) -> None:
    """Change latents by :func:`widening`.

    The last layer of the encoder takes the change, and the first one of the decoder takes it back.
    """
    torch = imported_torch()
    there, back = map(torch.from_numpy, widening(covariance, in_all_directions))
    *_, weights, biases = training.encoder
    with torch.no_grad():
        weights.copy_(there @ weights)
        biases.copy_(there @ biases)
        training.decoder[0].copy_(training.decoder[0] @ back)


# --- optimisers, and what they remember ----------------------------------------------------------


def _descend(optimiser: Any, loss: Any, rate: float, longest: float | None = None) -> None:
    """One step down the slope of a loss, which is at most so long."""
    for group in optimiser.param_groups:
        group["lr"] = rate
    parameters = [one for group in optimiser.param_groups for one in group["params"]]
    slopes = imported_torch().autograd.grad(loss, parameters)
    for one, slope in zip(parameters, slopes, strict=True):
        one.grad = slope
    if longest is not None:
        imported_torch().nn.utils.clip_grad_norm_(parameters, longest)
    optimiser.step()


def _adam(training: Training, of: str) -> Any:
    torch = imported_torch()
    parameters = training.weights if of == "weights" else training.critic
    optimiser = torch.optim.Adam(parameters, lr=training.plan.learning_rate, fused=True)
    if f"{of}.first" in training.momenta:
        for one, first, second in zip(
            parameters,
            training.momenta[f"{of}.first"],
            training.momenta[f"{of}.second"],
            strict=True,
        ):
            optimiser.state[one] = {
                "step": torch.tensor(float(training.iteration)),
                "exp_avg": first,
                "exp_avg_sq": second,
            }
    return optimiser


def _keep_adam(training: Training, of: str, optimiser: Any) -> None:
    parameters = training.weights if of == "weights" else training.critic
    for name, key in (("first", "exp_avg"), ("second", "exp_avg_sq")):
        training.momenta[f"{of}.{name}"] = [optimiser.state[one][key] for one in parameters]


def _momentum(training: Training) -> Any:
    torch = imported_torch()
    optimiser = torch.optim.SGD(
        training.weights, lr=training.plan.clustering_rate, momentum=MOMENTUM, fused=True
    )
    kept = training.momenta.get("weights.velocity")
    if kept is not None:
        for one, velocity in zip(training.weights, kept, strict=True):
            optimiser.state[one] = {"momentum_buffer": velocity}
    return optimiser


def _keep_momentum(training: Training, optimiser: Any) -> None:
    training.momenta["weights.velocity"] = [
        optimiser.state[one]["momentum_buffer"] for one in training.weights
    ]
