"""The methods that ``icvi-artmap compare`` sets side by side."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from icvi_artmap.cli.warmup import ANY_SHAPE
from icvi_artmap.indices.registry import NAMES, PAPER
from icvi_artmap.indices.shared.ridge import ridge

#: The most rows for methods whose time and memory grow with the square of the rows.
SQUARE_ROWS = 5_000
#: The most rows for HDBSCAN, whose time and memory grow so in the worst case only.
NEARLY_SQUARE_ROWS = 20_000
#: Steps in which the vigilance of fuzzy ART rises until there are k clusters.
RHO_STEPS = 40


class Method(NamedTuple):
    """A way to cluster standardised rows."""

    name: str
    labels: Callable[[Any, int, int], Any]  #: a function of rows, number of clusters and seed
    draws: bool = True  #: whether the seed makes a difference
    most_rows: int | None = None
    by_default: bool = True  #: whether it is run if no methods are named


def all_methods() -> list[Method]:
    """All methods: iCVI-ARTMAP with every index and for any shape, then the others."""
    ours = [Method(name, _ours(name), by_default=name in PAPER) for name in NAMES]
    return [
        *ours,
        Method(ANY_SHAPE, _any_shape),
        Method("fuzzy-art", _fuzzy_art),
        Method("k-means", _kmeans),
        Method("gmm", _mixture),
        Method("spectral", _spectral, most_rows=SQUARE_ROWS),
        Method("ward", _linkage("ward"), draws=False, most_rows=SQUARE_ROWS),
        Method("average", _linkage("average"), draws=False, most_rows=SQUARE_ROWS),
        Method("hdbscan", _hdbscan, draws=False, most_rows=NEARLY_SQUARE_ROWS),
    ]


def is_ours(method: str) -> bool:
    """Whether a method is iCVI-ARTMAP; its name is that of the index, or says any shape."""
    return method in (*NAMES, ANY_SHAPE)


_WARMED: set[str] = set()


def warm(name: str) -> None:
    """Load compiled code, once in a process, so that it does not count as the method's time."""
    if name in _WARMED or not is_ours(name):
        return
    from icvi_artmap.cli.warmup import use, use_any_shape

    if name == ANY_SHAPE:
        use_any_shape()
    else:
        use(name)
    _WARMED.add(name)


def _ours(index: str) -> Callable[[Any, int, int], Any]:
    def labels(Z: Any, k: int, seed: int) -> Any:
        from icvi_artmap.estimators.icvi_artmap import ICVIARTMAP

        return ICVIARTMAP(k, index=index, random_state=seed).fit(Z).labels_

    return labels


def _any_shape(Z: Any, k: int, seed: int) -> Any:
    from icvi_artmap.estimators.icvi_artmap import ICVIARTMAP

    return ICVIARTMAP(k, shape="any", random_state=seed).fit(Z).labels_


def _fuzzy_art(Z: Any, k: int, seed: int) -> Any:
    """Raise the vigilance, which fuzzy ART has instead of k, until there are k clusters."""
    from icvi_artmap.estimators.art_family import FuzzyART

    best, labels = float("inf"), None
    for step in range(RHO_STEPS):
        model = FuzzyART(step / RHO_STEPS, shuffle=True, random_state=seed).fit(Z)
        if abs(model.n_clusters_ - k) < best:
            best, labels = abs(model.n_clusters_ - k), model.labels_
        if model.n_clusters_ >= k:
            break
    return labels


def _kmeans(Z: Any, k: int, seed: int) -> Any:
    from sklearn.cluster import KMeans

    return KMeans(k, n_init=10, random_state=seed).fit(Z).labels_


def _mixture(Z: Any, k: int, seed: int) -> Any:
    from sklearn.mixture import GaussianMixture

    return GaussianMixture(k, reg_covar=ridge(Z.shape[1]), random_state=seed).fit_predict(Z)


def _spectral(Z: Any, k: int, seed: int) -> Any:
    from sklearn.cluster import SpectralClustering

    neighbours = min(10, len(Z))
    return (
        SpectralClustering(
            k, affinity="nearest_neighbors", n_neighbors=neighbours, random_state=seed
        )
        .fit(Z)
        .labels_
    )


def _linkage(kind: str) -> Callable[[Any, int, int], Any]:
    def labels(Z: Any, k: int, seed: int) -> Any:
        from sklearn.cluster import AgglomerativeClustering

        return AgglomerativeClustering(k, linkage=kind).fit(Z).labels_

    return labels


def _hdbscan(Z: Any, k: int, seed: int) -> Any:
    from sklearn.cluster import HDBSCAN

    return HDBSCAN(copy=True).fit(Z).labels_
