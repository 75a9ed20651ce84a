"""What an index is to the rest of the library.

An index is a NamedTuple of arrays (its state, ``moments`` first) and a few compiled functions. The
functions below dispatch by the state's type, in compiled code and in plain Python alike, so the
sample loop is written once. An index file ends with ``implement(State, update=..., ...)``.

Everything works with the *score*: the index with its sign turned so that greater is better.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba.extending import overload
from numpy.typing import NDArray

from icvi_artmap._compile.jit import PART, inline, jit, nothing_kept
from icvi_artmap._support.wording import better as better_values
from icvi_artmap.indices.shared.additive_cost import AdditiveCost, SumOfSquares
from icvi_artmap.indices.shared.criterion import OWN_VALUE, Criterion
from icvi_artmap.indices.shared.ridge import ridge
from icvi_artmap.samples import moments as mom
from icvi_artmap.samples.scaling import Data, Scaling, turn

#: Two scores are equal if they differ by no more than this, relative to the larger or to 1.
RESOLUTION = 1e-12
#: A sum of squares is zero if it is no more than this part of the data's.
NEGLIGIBLE = 1e-12

#: Nothing, where an array is expected.
NONE, NO_SCORES, NO_PAIRS = np.empty(0, np.int64), np.empty(0), np.empty((0, 0))
#: No score is as great; not infinite, so that scores can be compared with it.
UNREACHED = 1e300
#: Pairs of clusters tried in one call, times the squared number of features: some milliseconds.
PAIRS_SIZE = 1 << 20

#: What every index implements.
CONTRACT = (
    "update",
    "score",
    "trial_moves",
    "trial_additions",
    "move",
    "trial_merge",
    "trial_split",
    "cluster_cost",
)

_IMPLEMENTATIONS: dict[str, dict[type, Any]] = {}


def dispatched(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function choose its implementation by the type of its first argument, ``state``."""
    name = function.__name__
    table = _IMPLEMENTATIONS.setdefault(name, {})
    parameters = function.__code__.co_varnames[: function.__code__.co_argcount]
    signature = ", ".join(parameters)
    # numba wants the implementation to have the very parameter names of what it overloads.
    source = (
        f"def dispatch({signature}):\n    return table[type(state)]({signature})\n"
        f"def choose({signature}):\n"
        f"    chosen = table.get(getattr(state, 'instance_class', None))\n"
        f"    if chosen is None:\n        return None\n"
        f"    return getattr(chosen, 'py_func', chosen)\n"
    )
    namespace: dict[str, Any] = {"table": table}
    exec(source, namespace)
    dispatch = namespace["dispatch"]
    dispatch.__name__ = dispatch.__qualname__ = name
    dispatch.__doc__ = function.__doc__
    overload(dispatch, jit_options=PART)(namespace["choose"])
    return dispatch


@dispatched
def update(state, i, j):
    """The moments of clusters i and j (perhaps the same one) have changed: renew what is cached."""


@dispatched
def score(state):
    """Score of the present partition; -inf for a single cluster."""


@dispatched
def trial_moves(state, s, x, src, out):
    """Score, for every target i, the partition with sample s (row ``x``) moved from src to i.

    ``out[i]`` may be any increasing function of the score, the same for all i; for a target that
    certainly is not the best it may be any number below the best. Pure: nothing is changed but
    ``out`` and scratch. Returns the difference below which two entries count as equal.
    """


@dispatched
def trial_additions(state, s, x, out):
    """Score, for every cluster i but the last, the partition with a new sample ``x`` in i.

    The last cluster stands in for the sample: it has one sample, somewhere, and counts in N.
    ``out`` and what is returned are as in :func:`trial_moves`; ``s`` is any number.
    """


@dispatched
def move(state, x, src, dst):
    """Sample ``x`` goes from cluster src to dst. An emptied src stays as a row of frequency 0."""


@dispatched
def trial_merge(state, i, j, least):
    """Score of the partition with clusters i < j merged; any lower number if below ``least``."""


@dispatched
def trial_split(state, i, parts, p, q, least):
    """Score of the partition in which the samples of category q leave cluster i and are a new one.

    Row p of ``parts`` has their moments. Any lower number if the score is below ``least`` by more
    than rounding.
    """


@dispatched
def cluster_cost(state, i):
    """The part of cluster i in the additive cost that the index brings (``Index.cost``)."""


def implement(state_type: type, **functions: Any) -> None:
    """Register the functions of an index.

    Without its own ``move``, ``trial_additions`` and ``cluster_cost`` it gets :func:`plain_move`,
    :func:`plain_additions` and :func:`plain_cost`.
    """
    functions.setdefault("move", plain_move)
    functions.setdefault("trial_additions", plain_additions)
    functions.setdefault("cluster_cost", plain_cost)
    missing = set(CONTRACT) - set(functions)
    if missing:
        raise TypeError(f"{state_type.__name__} lacks {', '.join(sorted(missing))}")
    for name, function in functions.items():
        _IMPLEMENTATIONS[name][state_type] = function


@inline
def renew_cluster(state, i):
    """The moments of cluster i have changed.

    Kernels that call :func:`update` themselves would have it compiled once more: numba keeps what
    kernels call apart from what parts of them call.
    """
    update(state, i, i)


@jit
def evaluate(
    state, clusters, merging, least, rising, merged, parts, rows, categories, cluster_of, split
):
    """All that Python asks of an index, in one kernel: what its parts share is compiled once.

    The moments of ``clusters`` have changed. merged[i, j] = score with clusters i < j merged, for
    the clusters i in ``merging``, exact if it is at least ``least``, which rises to the best of
    them, if ``rising``. split[q] = score with category q = categories[p] split off cluster_of[q],
    for the rows p of the moments ``parts``, exact in the same sense. Returns the score, if nothing
    is tried.
    """
    for c in clusters:
        renew_cluster(state, c)
    for i in merging:
        for j in range(i + 1, state.moments.size[0]):
            merged[i, j] = trial_merge(state, i, j, least)
            if rising and merged[i, j] > least:
                least = merged[i, j]
    for p in rows:
        q = categories[p]
        split[q] = trial_split(state, cluster_of[q], parts, p, q, least)
        if rising and split[q] > least:
            least = split[q]
    return score(state) if merging.shape[0] + rows.shape[0] == 0 else 0.0


@inline
def plain_move(state, x, src, dst):
    """Move by the recursions of the moments, then renew what the index caches."""
    mom.remove(state.moments, src, x, state.scratch)
    mom.add(state.moments, dst, x, state.scratch)
    update(state, src, dst)


@inline
def plain_additions(state, s, x, out):
    """A move out of the last cluster, which that empties: it is scored as if it had not been."""
    return trial_moves(state, s, x, state.moments.size[0] - 1, out)


@inline
def plain_cost(state, i):
    """The sum of squares within the cluster."""
    return state.moments.compactness[i]


@inline
def first_best(trial, k, resolution):
    """The first of k trials that is the best, as far as they can be told apart."""
    best, winner = trial[0], 0
    for i in range(1, k):
        best = max(best, trial[i])
    # An infinity equals itself, though the difference is not a number.
    while winner < k - 1 and trial[winner] != best and not trial[winner] >= best - resolution:
        winner += 1
    return winner


def same(a: float, b: float) -> bool:
    """Whether two scores are equal as far as they can be told apart; an infinity equals itself."""
    if a == b or abs(a) == np.inf or abs(b) == np.inf:
        return a == b
    return abs(a - b) <= RESOLUTION * max(1.0, abs(a), abs(b))


def better(a: float, b: float) -> bool:
    """Whether score a is greater than b, and not the same."""
    return a > b and not same(a, b)


@dataclass(frozen=True)
class Index:
    """A cluster validity index that can drive a fit.

    Attributes
    ----------
    name : str
    direction : int
        +1 if greater values are better, -1 if smaller ones are.
    needs_scatter : bool
        Whether its moments include the scatter matrices.
    make_state : callable
        ``make_state(moments, total)`` where ``total`` holds the moments of all samples as one
        cluster; returns the state with its caches not yet filled.
    purpose : str
        What it looks at, in a few words.
    built_in : bool
        Whether its compiled kernels may be kept across processes.
    turns_above : int or None
        Its value does not depend on the axes, and with more features than this its trials are
        cheaper along the principal ones.
    prediction : str
        "index" or "category": the rule for new samples (rule 13) that gives the better ARI.
    refined : bool
        Whether ``refine="auto"`` refines: whether that raised the mean ARI (docs/quality.md).
    gaussian : bool
        Whether it describes every cluster as a Gaussian of its own, so that many of them can be
        joined to clusters of any shape.
    compared : bool
        Whether tables that have room for a few indices show it.
    forgets : bool
        Whether it is defined for samples with weights, as those of a stream that forgets:
        frequencies are sums of weights then, and floats.
    cost : callable
        ``cost(index, state)`` makes the :class:`AdditiveCost` that tells refinement which steps to
        try.
    bounds_above : float
        With more clusters than this, trials of merges below ``least`` return bounds that cost
        little, so that the best one is looked for in their order.
    carry : callable or None
        ``carry(state, kept)``: row r of the moments is what row kept[r] was before, or a cluster
        that is renewed next. Takes what is cached along, and says whether it could.
    additive : bool
        Whether its score depends on that cost alone while the number of clusters stays. Sweeps over
        the samples then gain less and less, so that one can tell early what they will lead to.
    criterion : Criterion
        How the number of clusters is chosen.
    """

    name: str
    direction: int
    needs_scatter: bool
    make_state: Callable[[mom.Moments, mom.Moments], Any]
    purpose: str = ""
    built_in: bool = True
    turns_above: int | None = None
    prediction: str = "index"
    refined: bool = False
    gaussian: bool = False
    compared: bool = False
    forgets: bool = True
    cost: Callable[[Index, Any], AdditiveCost] = SumOfSquares
    bounds_above: float = np.inf
    carry: Callable[[Any, NDArray[np.int64]], bool] | None = None
    additive: bool = False
    criterion: Criterion = OWN_VALUE

    @property
    def better(self) -> str:
        """Which values are better: "greater" or "smaller"."""
        return better_values(self.direction)

    def value(self, score: float) -> float:
        """The index in its own sign."""
        return self.direction * score

    def rule_for_k(self) -> str:
        """What is compared when the number of clusters is chosen, in a few words."""
        return self.criterion.rule_of(self.name, self.direction)

    def view(self, data: Data) -> Data:
        """The samples as the index looks at them: along their principal axes, if it wants that.

        Runs do not change them and may share them.
        """
        n_features = data.shape[1]
        wanted = self.turns_above is not None and n_features > self.turns_above
        return turn(data) if wanted else data

    def resolved(self, scaling: Scaling, steps: NDArray[np.float64]) -> Scaling:
        """A scaling in which no cluster is flatter than values recorded in these steps can tell.

        A step h leaves a variance of h²/12 open. The index adds δ to every variance; in units that
        are greater by sqrt(1 + h²/12/δ), with h in deviations, δ stands for δ + h²/12. An index
        that does not describe clusters as Gaussians has no use for it.
        """
        if not self.gaussian:
            return scaling
        open_part = np.square(steps / scaling.deviation) / 12.0
        return scaling._replace(
            unit=scaling.deviation * np.sqrt(1.0 + open_part / ridge(len(steps)))
        )

    def update_all(self, state: Any) -> None:
        """Renew everything the state caches."""
        self.renew(state, np.arange(state.moments.size[0]))

    def update_changed(
        self, state: Any, kept: NDArray[np.int64], changed: NDArray[np.int64]
    ) -> None:
        """Row r of the moments is what row kept[r] was before; those ``changed`` are others."""
        if self.carry is not None and self.carry(state, kept):
            self.renew(state, changed)
        else:
            self.update_all(state)

    def recompute(self, state: Any, data: Data, labels: NDArray[np.int64], i: int) -> None:
        """Compute cluster i from its samples, without the rounding of the recursions."""
        mom.from_labels(state.moments, data, labels, i)
        self.renew(state, np.array([i], np.int64))

    def score(self, state: Any) -> float:
        """Score of the partition that ``state`` describes."""
        return self._evaluate(state)

    def renew(self, state: Any, clusters: NDArray[np.int64]) -> float:
        """The moments of these clusters have changed: renew what is cached. Returns the score."""
        return self._evaluate(state, clusters=clusters)

    def trial_merges(self, state: Any, least: float, rising: bool = False) -> NDArray[np.float64]:
        """Element (i, j) = score with clusters i < j merged; any lower number if below ``least``.

        The others are -inf. ``rising``: ``least`` rises to the best of the rows before, which is
        enough to find the best pair. An interrupt is seen every few milliseconds.
        """
        k, d = int(state.moments.size[0]), state.moments.mean.shape[1]
        scores = np.full((k, k), -np.inf)
        at_once, order = max(1, PAIRS_SIZE // (k * d * d)), np.arange(k - 1)
        if rising and k > self.bounds_above:  # what promises more is looked at earlier
            self._evaluate(state, merging=order, least=UNREACHED, merged=scores)
            order = np.argsort(-scores.max(axis=1)[: k - 1], kind="stable")
        for first in range(0, k - 1, at_once):
            rows = order[first : first + at_once]
            self._evaluate(state, merging=rows, least=least, rising=rising, merged=scores)
            if rising:
                least = max(least, float(scores[rows].max()))
        return scores

    def trial_splits(
        self,
        state: Any,
        parts: mom.Moments,
        rows: NDArray[np.int64],
        categories: NDArray[np.int64],
        cluster_of: NDArray[np.int64],
        out: NDArray[np.float64],
        least: float = -np.inf,
    ) -> None:
        """out[q] = score with category q = categories[p] split off cluster_of[q], p in ``rows``.

        Row p of ``parts`` has the moments of the samples of the category in that cluster. Any lower
        number if the score is below ``least`` by more than rounding; ``least`` rises to the best.
        """
        self._evaluate(
            state,
            least=least,
            rising=True,
            parts=parts,
            rows=rows,
            categories=categories,
            cluster_of=cluster_of,
            split=out,
        )

    def _evaluate(
        self,
        state: Any,
        clusters: NDArray[np.int64] = NONE,
        merging: NDArray[np.int64] = NONE,
        least: float = 0.0,
        rising: bool = False,
        merged: NDArray[np.float64] = NO_PAIRS,
        parts: mom.Moments | None = None,
        rows: NDArray[np.int64] = NONE,
        categories: NDArray[np.int64] = NONE,
        cluster_of: NDArray[np.int64] = NONE,
        split: NDArray[np.float64] = NO_SCORES,
    ) -> float:
        parts = state.moments if parts is None else parts
        merges = (merging, float(least), rising, merged)
        splits = (parts, rows, categories, cluster_of, split)
        return float(self.kernel(evaluate)(state, clusters, *merges, *splits))

    def state(self, data: Data, labels: NDArray[np.int64], n_clusters: int, capacity: int) -> Any:
        """State of the partition ``labels`` (0 to n_clusters - 1), with room for ``capacity``."""
        moments = mom.empty_moments(capacity, data.shape[1], self.needs_scatter)
        moments.size[0] = n_clusters
        mom.from_labels(moments, data, labels)
        state = self.make_state(moments, mom.together(moments))
        self.update_all(state)
        return state

    def state_for_additions(self, moments: mom.Moments) -> Any:
        """State of the partition and, as its last cluster, a single sample that stands in.

        It lies one deviation from the mean in all features: TSS then grows by what a sample adds on
        average, and is not 0 even if all training samples are equal.
        """
        k, n_features = int(moments.size[0]), moments.mean.shape[1]
        enlarged = mom.empty_moments(k + 1, n_features, self.needs_scatter, moments.n.dtype)
        for target, source in zip(enlarged[1:], moments[1:], strict=True):
            target[:k] = source[:k]
        enlarged.size[0] = k + 1
        enlarged.n[k] = 1
        enlarged.mean[k] = 1.0
        state = self.make_state(enlarged, mom.together(enlarged))
        self.update_all(state)
        return state

    def kernel(self, function: Any) -> Any:
        """``function``, compiled so that a user's own code in it is never kept across processes."""
        if self.built_in:
            return function

        def call(*arguments: Any) -> Any:
            with nothing_kept():
                return function(*arguments)

        return call

    def __deepcopy__(self, memo: dict[int, Any]) -> Index:
        return self
