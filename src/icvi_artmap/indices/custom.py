"""An index of your own: a function of the moments is enough to drive a fit.

The function is compiled and called for every trial on a copy of the moments in which the sample has
moved. That costs one evaluation per cluster and sample; whoever wants more speed implements the
contract (:mod:`icvi_artmap.indices.base`) as the built-in indices do. Kernels call the function by
its address, so they are the same for all such indices.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._compile.by_address import Addressed, call
from icvi_artmap._compile.jit import inline
from icvi_artmap.indices import base
from icvi_artmap.indices.base import Index
from icvi_artmap.indices.shared.centres import scores_resolution
from icvi_artmap.samples import moments as mom
from icvi_artmap.samples.moments import Moments


class CustomState(NamedTuple):
    """State of a custom index."""

    moments: Moments
    trial: Moments  #: scratch: the moments of a trial
    full: NDArray[np.float64]  #: (k, d, d) scratch: scatter matrices, both triangles
    direction: float
    function: Any  #: address of the user's function
    scratch: NDArray[np.float64]


@inline
def _evaluate(state, m):
    """Score of the partition with moments m."""
    k = m.size[0]
    if k == 1:
        return -np.inf
    full = state.full
    for i in range(k):
        for f in range(m.scatter.shape[1]):
            for g in range(f, m.scatter.shape[1]):
                full[i, f, g] = m.scatter[i, f, g]
                full[i, g, f] = m.scatter[i, f, g]
    value = call(state.function, m.n[:k], m.mean[:k], m.compactness[:k], full[:k])
    # A formula that breaks down (0/0) counts as the worst value, as for the built-in indices.
    return -np.inf if np.isnan(value) else state.direction * value


@inline
def _copy_without(state, gone):
    """Copy the moments to ``trial``, but for cluster ``gone`` (-1: all of them)."""
    m, trial, row = state.moments, state.trial, 0
    for i in range(m.size[0]):
        if i != gone:
            mom.copy_row(m, i, trial, row)
            row += 1
    trial.size[0] = row


@inline
def update(state, i, j):
    pass


@inline
def score(state):
    return _evaluate(state, state.moments)


@inline
def trial_moves(state, s, x, src, out):
    trial, k = state.trial, state.moments.size[0]
    empties = state.moments.n[src] == 1
    for i in range(k):
        if i == src:
            continue
        _copy_without(state, src if empties else -1)
        at = i - 1 if empties and i > src else i
        if not empties:
            mom.remove(trial, src, x, state.scratch)
        mom.add(trial, at, x, state.scratch)
        out[i] = _evaluate(state, trial)
    out[src] = score(state)
    return scores_resolution(out, k)


@inline
def trial_merge(state, i, j, least):
    _copy_without(state, j)  # i < j keeps its row
    mom.merge(state.trial, i, state.moments, j, state.scratch)
    return _evaluate(state, state.trial)


@inline
def trial_split(state, i, parts, p, q, least):
    _copy_without(state, -1)
    k = state.moments.size[0]
    mom.split(state.trial, i, parts, p, state.scratch)
    state.trial.size[0] = k + 1
    mom.copy_row(parts, p, state.trial, k)
    return _evaluate(state, state.trial)


base.implement(
    CustomState,
    update=update,
    score=score,
    trial_moves=trial_moves,
    trial_merge=trial_merge,
    trial_split=trial_split,
)


@dataclass(frozen=True)
class CustomIndex(Index):
    """An index made by :func:`custom_index`; it can be called like the function it decorates."""

    function: Callable[..., Any] | None = None

    def __call__(self, *moments: Any) -> Any:
        assert self.function is not None
        return self.function(*moments)

    def kernel(self, function: Any) -> Any:
        """``function`` itself: it calls the user's code and does not contain it."""
        return function

    def __reduce__(self) -> Any:
        function = self.function
        home = sys.modules.get(getattr(function, "__module__", ""))
        if getattr(home, getattr(function, "__name__", ""), None) is self:
            # The function itself cannot be found by name: its name is this object's.
            return _by_name, (function.__module__, function.__name__)  # type: ignore[union-attr]
        return _make, (function, self.name, self.direction)


def _by_name(module: str, name: str) -> Any:
    import importlib

    return getattr(importlib.import_module(module), name)


def custom_index(
    function: Callable[..., float] | None = None, *, better: str, name: str | None = None
) -> Any:
    """Decorator: turn a function of the moments into an index for :class:`ICVIARTMAP`.

    Parameters
    ----------
    function : callable
        ``function(n, mean, compactness)`` or ``function(n, mean, compactness, scatter)`` returning
        a float. ``n`` (k,) holds the cluster sizes, ``mean`` (k, d) the centres, ``compactness``
        (k,) the summed squared distances to the centre, ``scatter`` (k, d, d) the scatter matrices,
        (n - 1) times the covariances; all of the standardised data, k >= 2. It is compiled by
        numba, so it must be written in what numba's nopython mode understands. A NaN counts as the
        worst value.
    better : {"greater", "smaller"}
        Which values mean a better partition.
    name : str, optional
        The index's name in messages; the function's name by default.

    Returns
    -------
    Index
        To be passed as ``ICVIARTMAP(index=...)``.

    Examples
    --------
    The Ball-Hall index, the mean over clusters of the mean squared distance to the centre:

    >>> from icvi_artmap import ICVIARTMAP, custom_index
    >>> from icvi_artmap.datasets import make_gaussian_clusters
    >>> @custom_index(better="smaller")
    ... def ball_hall(n, mean, compactness):
    ...     return (compactness / n).mean()
    >>> X, y = make_gaussian_clusters(4, 2, random_state=0)
    >>> model = ICVIARTMAP(n_clusters=4, index=ball_hall, random_state=0).fit(X)
    >>> model.n_clusters_
    4
    """
    if better not in ("greater", "smaller"):
        raise ValueError(f'better must be "greater" or "smaller", got {better!r}.')
    direction = 1 if better == "greater" else -1
    if function is None:
        return lambda decorated: _make(decorated, name or decorated.__name__, direction)
    return _make(function, name or function.__name__, direction)


def _make(function: Callable[..., float], name: str, direction: int) -> CustomIndex:
    n_parameters = len(inspect.signature(function).parameters)
    if n_parameters not in (3, 4):
        raise TypeError(
            f"{name} has {n_parameters} parameters; an index is a function of "
            "(n, mean, compactness) or of (n, mean, compactness, scatter)."
        )
    addressed = Addressed(function, n_parameters)

    def make_state(moments: Moments, total: Moments) -> Any:
        k, d = moments.mean.shape
        side = d if n_parameters == 4 else 0
        trial = mom.empty_moments(k, d, n_parameters == 4)
        full, address = np.zeros((k, side, side)), addressed.address()
        return CustomState(moments, trial, full, float(direction), address, np.empty(d))

    return CustomIndex(
        name,
        direction,
        n_parameters == 4,
        make_state,
        built_in=False,
        forgets=False,
        function=function,
    )
