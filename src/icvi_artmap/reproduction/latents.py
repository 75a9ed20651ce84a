"""The spaces in which the sets of images are clustered, and the files that keep them.

The paper has the latents of DynAE, which are not published: ours are trained here. A file holds
the latents of one set and one seed, and how the training went, so that tables can be made again
without training. Labels are used for the curve of a training only; among seeds the one is chosen
whose k-means partition has the largest CH index.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, calinski_harabasz_score

from icvi_artmap._support.callbacks import Watch, watching
from icvi_artmap._support.files import replaced
from icvi_artmap.datasets import load_paper_set
from icvi_artmap.deep.autoencoder import DynamicAutoencoder
from icvi_artmap.deep.layers import through
from icvi_artmap.deep.training import BETWEEN_LOOKS, PRETRAINING

#: What the sets of images are reduced to, with what tables call it.
PCA, DYNAE, UMAP = "pca", "dynae", "umap"
NAMES = {PCA: "PCA", DYNAE: "DynAE", UMAP: "UMAP"}
#: Numbers of latents, as in the paper.
SIZE = 10
#: The sets that the paper has in latent spaces: iterations of the two stages, and the side.
SCHEDULES = {
    "usps": (28_000, 5_600, 16),
    "mnist-test": (42_000, 5_600, 28),
    "mnist": (28_000, 7_000, 28),
    "fashion-mnist": (14_000, 5_600, 28),
}
QUICK_SCHEDULE = (140, 140)
#: Looks between two points of the curve, in each stage.
PRETRAINING_LOOKS, CLUSTERING_LOOKS = 10, 2
#: UMAP as N2D has it.
NEIGHBOURS, MIN_DISTANCE = 20, 0.0
#: Starts of k-means, and of those whose ARI is on the curve.
KMEANS_STARTS, CURVE_STARTS = 10, 3


class Point(NamedTuple):
    """A point of the curve of a training."""

    stage: str
    iteration: int  #: of the stage
    ari: float  #: of k-means on the latents


class Latents(NamedTuple):
    """The latents of a set, by one seed."""

    seed: int
    X: NDArray[np.float64]
    y: NDArray[np.int64]
    curve: list[Point]
    ari: float  #: of k-means
    ch: float  #: of its partition; does not know the labels


Say = Callable[[str], None]


def path_of(folder: Path, kind: str, name: str, seed: int) -> Path:
    """Where the latents of a set and a seed are."""
    return folder / f"{kind}-{name}-{seed}.npz"


def chosen(folder: Path, kind: str, name: str, seeds: int) -> Latents:
    """Of the seeds from 0 on, the latents with the largest CH index."""
    return max(
        (read(path_of(folder, kind, name, seed)) for seed in range(seeds)), key=lambda one: one.ch
    )


def make_missing(
    folder: Path, kind: str, name: str, seeds: int, data: str | None, quick: bool, say: Say
) -> list[Latents]:
    """Those of all seeds; what there is no file of is trained and written."""
    folder.mkdir(parents=True, exist_ok=True)
    found = []
    for seed in range(seeds):
        path = path_of(folder, kind, name, seed)
        if not path.exists():
            say(f"making the {NAMES[kind]} latents of {name}, seed {seed}")
            write(path, _made(kind, name, seed, data, quick, path, say))
        found.append(read(path))
    return found


def read(path: Path) -> Latents:
    """The latents in a file."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            told = json.loads(archive["told"].tobytes())
            X, y = archive["X"], archive["y"]
        curve = [Point(*point) for point in told["curve"]]
        whole = X.ndim == 2 and X.dtype == np.float64 and bool(np.isfinite(X).all())
        if not whole or y.shape != X.shape[:1]:
            raise ValueError("its arrays are not latents")
        return Latents(told["seed"], X, y, curve, told["ari"], told["ch"])
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(
            f"{str(path)!r} does not hold latents of this command ({error}). Delete it, or give "
            "another folder."
        ) from None


def write(path: Path, made: Latents) -> None:
    """Keep latents in a file, whole or not at all."""
    told = {
        "seed": made.seed,
        "curve": made.curve,
        "ari": made.ari,
        "ch": made.ch,
    }
    text = np.frombuffer(json.dumps(told).encode(), np.uint8)
    with replaced(path) as temporary, open(temporary, "wb") as file:
        np.savez(file, X=made.X, y=made.y, told=text)


def _made(
    kind: str, name: str, seed: int, data: str | None, quick: bool, path: Path, say: Say
) -> Latents:
    bunch = load_paper_set(name, data)
    curve: list[Point] = []
    if kind == UMAP:
        X = _umap(bunch.data, seed)
    else:
        X, curve = _dynae(name, bunch.data, bunch.target, seed, quick, path, say)
    k = len(np.unique(bunch.target))
    labels = KMeans(k, n_init=KMEANS_STARTS, random_state=0).fit_predict(X)
    return Latents(
        seed,
        X,
        bunch.target,
        curve,
        float(adjusted_rand_score(bunch.target, labels)),
        float(calinski_harabasz_score(X, labels)),
    )


def _umap(X: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    try:
        import umap
    except ImportError as error:
        raise ImportError(
            "UMAP latents need umap-learn: pip install 'icvi-artmap[umap]'."
        ) from error
    reducer = umap.UMAP(
        n_components=SIZE, n_neighbors=NEIGHBOURS, min_dist=MIN_DISTANCE, random_state=seed
    )
    return np.ascontiguousarray(reducer.fit_transform(X), np.float64)


def _dynae(
    name: str,
    X: NDArray[np.float64],
    y: NDArray[np.int64],
    seed: int,
    quick: bool,
    path: Path,
    say: Say,
) -> tuple[NDArray[np.float64], list[Point]]:
    *iterations, side = SCHEDULES[name]
    pretraining, clustering = QUICK_SCHEDULE if quick else iterations
    model = DynamicAutoencoder(
        len(np.unique(y)),
        n_components=SIZE,
        image_shape=(side, side),
        pretraining_iterations=pretraining,
        clustering_iterations=clustering,
        checkpoint=path.with_suffix(".checkpoint.npz"),
        n_jobs=1,  # sums then do not depend on the number of cores
        random_state=seed,
    )
    curve = Curve((X - X.min()) / (X.max() - X.min()), y, path.with_suffix(".curve.jsonl"), say)
    with watching(curve):
        model.fit(X)
    return model.transform(X), curve.points()


class Curve(Watch):
    """Keeps the ARI of k-means on the latents as a training goes on, in a file beside it."""

    def __init__(self, X: NDArray[np.float64], y: NDArray[np.int64], path: Path, say: Say) -> None:
        self._X, self._y, self._path, self._say = X, y, path, say
        self._last: tuple[str, int] | None = None

    def end(self, subject: Any = None) -> bool:
        looks = getattr(subject, "looks", None)
        if not looks or looks[-1][:2] == self._last:
            return False
        self._last = looks[-1][:2]
        stage, iteration = self._last
        every = PRETRAINING_LOOKS if stage == PRETRAINING else CLUSTERING_LOOKS
        if iteration % (every * BETWEEN_LOOKS) == 0 or subject.is_at_end():
            latents = through(self._X, subject.arrays()[0])
            k = subject.plan.n_clusters
            found = KMeans(k, n_init=CURVE_STARTS, random_state=0).fit_predict(latents)
            point = Point(stage, iteration, float(adjusted_rand_score(self._y, found)))
            with open(self._path, "a", encoding="ascii") as file:
                file.write(json.dumps(point) + "\n")
            self._say(f"{stage} {iteration:,}: ARI {point.ari:.4f}")
        return False

    def points(self) -> list[Point]:
        """All points so far, each once: a training that was taken up again may repeat some."""
        if not self._path.exists():
            return []
        lines = self._path.read_text(encoding="ascii").splitlines()
        found = {tuple(point[:2]): Point(*point) for point in map(json.loads, lines)}
        return sorted(found.values(), key=lambda point: (point.stage != PRETRAINING, point[1]))
